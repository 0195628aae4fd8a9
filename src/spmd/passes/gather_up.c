/* gather-up: what an op makes of more bytes than it reads is gathered before the op, which then runs on all of it.
 *
 *   before  b = broadcast a : [64,8] of [8]   z = all_gather [x] dim=1 b
 *   after   y = all_gather [x] dim=0 a        z = broadcast y
 *
 *   before  b = convert a : f32 of bf16       z = all_gather [x] dim=0 b
 *   after   y = all_gather [x] dim=0 a        z = convert y
 *
 * The other way round from gather-down, and as strictly judged, so that the two do not undo each other. Does not: run
 * an op twice, in part and whole. */
#include "spmd/passes/spmd_passes.h"

static sw_rc move_gather_up(sw_rewrite *r, sw_id old, sw_id id, void *user, sw_diag *d) {
  (void)user;
  const sw_op gather = *sw_rewrite_op(r, id);
  sw_id in[SW_MOST_FOLLOWED], out;
  sw_followed along;
  double seconds = 0;
  int64_t dims[SW_MAX_RANK];
  if (!sw_rewrite_is(r, &gather, SW_COLL_ALL_GATHER)) return SW_OK;
  const sw_id def = r->to.program->values[gather.operands[0]].def;
  if (def < 0 || !sw_rewrite_read_by_one(r, &gather, gather.operands[0])) return SW_OK;
  const sw_op op = *sw_rewrite_op(r, def);
  const sw_rewrite_as as = {def, *sw_rewrite_layout(r, gather.results[0])};
  if (!sw_follow(r, &op, op.n_operands, gather.collective->dim, &along)) return SW_OK;
  if (!sw_rewrite_block_dims(r, &as.layout, dims)) return SW_OK;
  const int64_t extent = sw_rewrite_extent(r, gather.results[0], &as.layout, gather.collective->dim);
  for (int k = 0; k < op.n_operands; k++) {
    SW_TRY(sw_rewrite_take(r, op.operands[k], along.operand_dim[k], gather.collective, def, extent, &in[k], d));
    if (in[k] < 0) return SW_OK;
    if (in[k] != op.operands[k]) seconds += sw_rewrite_seconds_of(r, in[k]);
  }
  SW_TRY(sw_rewrite_add_like(r, in, dims, &as, &out, d));
  seconds += sw_rewrite_seconds_of(r, out);
  if (seconds < sw_rewrite_seconds(r, &op) + sw_rewrite_seconds(r, &gather)) {
    sw_rewrite_replace(r, r->from->program->ops[old].results[0], out);
  }
  return SW_OK;
}

const sw_pass sw_pass_gather_up = {.name = "gather-up", .visit = move_gather_up, .repeats = true};
