/* cancel: an all_slice takes apart what an all_gather has put together, or the other way round.
 *
 *   before  y = all_gather [x] dim=0 a    z = all_slice [x] dim=0 y      after  z stands for a
 *           y = all_gather [x,y] dim=0 a  z = all_slice [x] dim=0 y             z = all_gather [y] dim=0 a
 *           y = all_gather [x] dim=0 a    z = all_slice [x] dim=1 y             z = all_to_all [x] dim=1 concat=0 a
 *           y = all_slice [x] dim=0 a     z = all_gather [x] dim=0 y            z stands for a */
#include "spmd/passes/spmd_passes.h"

/* What the slice leaves of the gather: nothing to do (n_axes 0), fewer axes to gather, an all_to_all; false: it stays.
 */
static bool remaining(const sw_rewrite *r, const sw_op *gather, const sw_op *slice, sw_collective *out) {
  const sw_collective *g = gather->collective, *s = slice->collective;
  const bool equal = sw_axis_refs_equal(g->axes, g->n_axes, s->axes, s->n_axes);
  *out = *g;
  if (g->dim != s->dim) {
    out->op = SW_COLL_ALL_TO_ALL;
    out->dim = s->dim;
    out->concat_dim = g->dim;
    return equal && sw_rewrite_read_by_one(r, slice, slice->operands[0]);
  }
  out->n_axes = 0;
  if (s->n_axes > g->n_axes || !sw_axis_refs_equal(g->axes, s->n_axes, s->axes, s->n_axes)) return false;
  for (int i = s->n_axes; i < g->n_axes; i++) out->axes[out->n_axes++] = g->axes[i];
  const sw_id ends[2] = {gather->operands[0], slice->results[0]};
  int64_t extent[2];
  for (int i = 0; i < 2; i++) extent[i] = sw_rewrite_extent(r, ends[i], sw_rewrite_layout(r, ends[i]), g->dim);
  return extent[1] == extent[0] * sw_axis_refs_size(out->axes, out->n_axes);
}

static sw_rc slice_of_gather(sw_rewrite *r, sw_id old, sw_id id, const sw_op *gather, const sw_op *slice, sw_diag *d) {
  sw_collective c;
  sw_id out = gather->operands[0];
  double seconds = 0, instead = sw_rewrite_seconds(r, slice);
  if (!remaining(r, gather, slice, &c)) return SW_OK;
  if (c.n_axes) {
    const sw_rewrite_as as = {id, *sw_rewrite_layout(r, slice->results[0])};
    SW_TRY(sw_rewrite_add_collective(r, out, &c, NULL, &as, &out, d));
    seconds = sw_rewrite_seconds_of(r, out);
  }
  if (sw_rewrite_read_by_one(r, slice, slice->operands[0])) instead += sw_rewrite_seconds(r, gather);
  if (seconds <= instead && sw_rewrite_lie_alike(r, out, slice->results[0])) {
    sw_rewrite_replace(r, r->from->program->ops[old].results[0], out);
  }
  return SW_OK;
}

static sw_rc cancel_pair(sw_rewrite *r, sw_id old, sw_id id, void *user, sw_diag *d) {
  (void)user;
  const sw_op op = *sw_rewrite_op(r, id);
  const sw_op *gather = NULL, *slice = NULL;
  if (sw_rewrite_is(r, &op, SW_COLL_ALL_SLICE)) gather = sw_rewrite_def_as(r, op.operands[0], SW_COLL_ALL_GATHER);
  if (sw_rewrite_is(r, &op, SW_COLL_ALL_GATHER)) slice = sw_rewrite_def_as(r, op.operands[0], SW_COLL_ALL_SLICE);
  if (gather) {
    const sw_op before = *gather;
    return slice_of_gather(r, old, id, &before, &op, d);
  }
  if (!slice || slice->collective->dim != op.collective->dim ||
      !sw_rewrite_lie_alike(r, slice->operands[0], op.results[0]) ||
      !sw_axis_refs_equal(slice->collective->axes, slice->collective->n_axes, op.collective->axes,
                          op.collective->n_axes)) {
    return SW_OK;
  }
  sw_rewrite_replace(r, r->from->program->ops[old].results[0], slice->operands[0]);
  return SW_OK;
}

const sw_pass sw_pass_cancel = {.name = "cancel", .visit = cancel_pair};
