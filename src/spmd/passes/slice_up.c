/* slice-up: an op whose result is sliced runs on slices of its operands.
 *
 *   before  y = convert a : bf16          z = all_slice [x] dim=0 y
 *   after   b = all_slice [x] dim=0 a     z = convert b : bf16
 *
 * The mirror of gather-down: it brings slices to the all_reduce or all_gather that they can be one with (scatter,
 * cancel). Judged by what the op and the slices copy. Does not: run an op twice, whole and in part. */
#include "spmd/passes/spmd_passes.h"

enum { MOST_OPS = 64 }; /* that one slice moves above */

static sw_rc slice(sw_rewrite *r, sw_id v, const sw_collective *c, const sw_rewrite_as *as, int depth, sw_id *out,
                   sw_diag *d);

/* The slice of the op's result, made of slices of its operands; *out -1: it is no better. */
static sw_rc raise_slice(sw_rewrite *r, sw_id id, const sw_collective *c, const sw_rewrite_as *as, double instead,
                         sw_id *out, sw_id *in, sw_diag *d) {
  const sw_op op = *sw_rewrite_op(r, id);
  sw_followed along;
  int64_t dims[SW_MAX_RANK];
  double seconds = 0;
  *out = -1;
  if (!sw_follow(r, &op, op.n_operands, c->dim, &along) || !sw_rewrite_block_dims(r, &as->layout, dims)) return SW_OK;
  const int64_t extent = sw_rewrite_extent(r, op.results[0], &as->layout, c->dim);
  for (int k = 0; k < op.n_operands; k++) {
    SW_TRY(sw_rewrite_take(r, op.operands[k], along.operand_dim[k], c, id, extent, &in[k], d));
    if (in[k] < 0) return SW_OK;
    if (in[k] != op.operands[k]) seconds += sw_rewrite_seconds_of(r, in[k]);
  }
  sw_rewrite_as own = {id, as->layout};
  SW_TRY(sw_rewrite_add_like(r, in, dims, &own, out, d));
  if (seconds + sw_rewrite_seconds_of(r, *out) >= instead + sw_rewrite_seconds(r, &op)) *out = -1;
  return SW_OK;
}

/* Do the new slices of its operands (values from `first` on) go further up? Then the op is written once more, on what
 * that gives. */
static sw_rc raise_further(sw_rewrite *r, sw_id *made, const sw_id *in, sw_id first, int depth, sw_diag *d) {
  const sw_op op = *sw_rewrite_op(r, r->to.program->values[*made].def);
  sw_id again[SW_MOST_FOLLOWED];
  bool changed = false;
  for (int k = 0; k < op.n_operands; k++) {
    const sw_op *def = in[k] >= first ? sw_rewrite_def_as(r, in[k], SW_COLL_ALL_SLICE) : NULL;
    again[k] = -1;
    if (def) {
      const sw_op own = *def;
      const sw_rewrite_as as = {r->to.program->values[in[k]].def, *sw_rewrite_layout(r, in[k])};
      SW_TRY(slice(r, own.operands[0], own.collective, &as, depth + 1, &again[k], d));
    }
    changed = changed || again[k] >= 0;
    if (again[k] < 0) again[k] = in[k];
  }
  if (!changed) return SW_OK;
  const sw_rewrite_as as = {r->to.program->values[*made].def, *sw_rewrite_layout(r, *made)};
  return sw_rewrite_add_like(r, again, sw_rewrite_type(r, *made)->dims, &as, made, d);
}

/* The slice of a value, by way of what makes it; *out -1: it is better made of the value. */
static sw_rc slice(sw_rewrite *r, sw_id v, const sw_collective *c, const sw_rewrite_as *as, int depth, sw_id *out,
                   sw_diag *d) {
  const sw_id def = r->to.program->values[v].def;
  const sw_op reader = *sw_rewrite_op(r, as->like);
  const sw_id first = r->to.program->n_values;
  sw_id in[SW_MOST_FOLLOWED];
  *out = -1;
  if (def < 0 || depth == MOST_OPS || !sw_rewrite_read_by_one(r, &reader, v)) return SW_OK;
  SW_TRY(raise_slice(r, def, c, as, sw_rewrite_seconds(r, &reader), out, in, d));
  return *out < 0 ? SW_OK : raise_further(r, out, in, first, depth, d);
}

static sw_rc move_slice_up(sw_rewrite *r, sw_id old, sw_id id, void *user, sw_diag *d) {
  const sw_op op = *sw_rewrite_op(r, id);
  sw_id out;
  (void)user;
  if (!sw_rewrite_is(r, &op, SW_COLL_ALL_SLICE)) return SW_OK;
  const sw_rewrite_as as = {id, *sw_rewrite_layout(r, op.results[0])};
  SW_TRY(slice(r, op.operands[0], op.collective, &as, 0, &out, d));
  if (out >= 0) sw_rewrite_replace(r, r->from->program->ops[old].results[0], out);
  return SW_OK;
}

const sw_pass sw_pass_slice_up = {.name = "slice-up", .visit = move_slice_up};
