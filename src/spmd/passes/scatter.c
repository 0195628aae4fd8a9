/* scatter: a reduced value of which each device takes a slice is reduced slice by slice.
 *
 *   before  y = all_reduce [x] a    z = all_slice [x] dim=0 y      after  z = reduce_scatter [x] dim=0 a
 *
 * Axes that are reduced and not sliced along are reduced afterwards, on the slice. Does not: see slices behind other
 * ops (slice-up brings them here). */
#include "spmd/passes/spmd_passes.h"

/* Which of the reduced axes the slice does not run along; false when it runs along others, too. */
static bool split_axes(const sw_collective *reduce, const sw_collective *slice, sw_collective *rest) {
  int along = 0;
  *rest = *reduce;
  rest->n_axes = 0;
  for (int i = 0; i < reduce->n_axes; i++) {
    bool sliced = false;
    for (int k = 0; k < slice->n_axes; k++) sliced = sliced || sw_axis_ref_equal(reduce->axes[i], slice->axes[k]);
    along += sliced;
    if (!sliced) rest->axes[rest->n_axes++] = reduce->axes[i];
  }
  return along == slice->n_axes;
}

static sw_rc make_scatter(sw_rewrite *r, sw_id old, sw_id id, void *user, sw_diag *d) {
  (void)user;
  const sw_op op = *sw_rewrite_op(r, id);
  sw_collective rest;
  sw_id out;
  if (!sw_rewrite_is(r, &op, SW_COLL_ALL_SLICE)) return SW_OK;
  const sw_op *before = sw_rewrite_def_as(r, op.operands[0], SW_COLL_ALL_REDUCE);
  if (!before || !sw_rewrite_read_by_one(r, &op, op.operands[0])) return SW_OK;
  const sw_op reduce = *before;
  if (!split_axes(reduce.collective, op.collective, &rest)) return SW_OK;
  sw_collective c = *op.collective;
  c.op = SW_COLL_REDUCE_SCATTER;
  c.reduction = reduce.collective->reduction;
  sw_rewrite_as as = {id, *sw_rewrite_layout(r, op.results[0])}, parts = as;
  if (rest.n_axes && !sw_layout_make_partial(&parts.layout, rest.reduction, rest.axes, rest.n_axes)) return SW_OK;
  SW_TRY(sw_rewrite_add_collective(r, reduce.operands[0], &c, NULL, &parts, &out, d));
  double seconds = sw_rewrite_seconds_of(r, out);
  if (rest.n_axes) {
    SW_TRY(sw_rewrite_add_collective(r, out, &rest, NULL, &as, &out, d));
    seconds += sw_rewrite_seconds_of(r, out);
  }
  if (seconds <= sw_rewrite_seconds(r, &reduce) + sw_rewrite_seconds(r, &op)) {
    sw_rewrite_replace(r, r->from->program->ops[old].results[0], out);
  }
  return SW_OK;
}

const sw_pass sw_pass_scatter = {.name = "scatter", .visit = make_scatter};
