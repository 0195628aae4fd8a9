/* fold: a collective that feeds the like of it becomes one over the axes of both.
 *
 *   before  y = all_reduce [x] a    z = all_reduce [y] y      after  z = all_reduce [x,y] a
 *
 * Also all_gathers of one dimension, where blocks of blocks are blocks of the whole, and reduce_scatters of one. Does
 * not: fold what something else reads, too. */
#include "spmd/passes/spmd_passes.h"

static void append_axes(sw_collective *c, const sw_collective *from) {
  for (int i = 0; i < from->n_axes; i++) c->axes[c->n_axes++] = from->axes[i];
}

/* The list of an all_reduce is a set: in the order of the mesh it is shared and combined with others. */
static void sort_axes(sw_collective *c) {
  for (int i = 1; i < c->n_axes; i++) {
    for (int j = i; j > 0 && (c->axes[j - 1].axis > c->axes[j].axis ||
                              (c->axes[j - 1].axis == c->axes[j].axis && c->axes[j - 1].pre > c->axes[j].pre));
         j--) {
      sw_axis_ref t = c->axes[j];
      c->axes[j] = c->axes[j - 1];
      c->axes[j - 1] = t;
    }
  }
}

/* Of two one after the other, the one that does both; false where there is none. `extent`: of the dimension before,
 * between and after. */
static bool unite_collectives(const sw_collective *first, const sw_collective *second, const int64_t *extent,
                              sw_collective *out) {
  *out = *second;
  out->n_axes = 0;
  if (first->n_axes + second->n_axes > SW_MAX_REFS) return false;
  if (sw_refs_overlap(first->axes, first->n_axes, second->axes, second->n_axes)) return false;
  const int64_t n = sw_axis_refs_size(first->axes, first->n_axes), m = sw_axis_refs_size(second->axes, second->n_axes);
  const bool minor_first = second->op == SW_COLL_ALL_GATHER; /* a gather joins the minor axes, then the major ones */
  append_axes(out, minor_first ? second : first);
  append_axes(out, minor_first ? first : second);
  if (second->op == SW_COLL_ALL_REDUCE) {
    sort_axes(out);
    return first->reduction == second->reduction;
  }
  if (first->dim != second->dim) return false;
  if (second->op == SW_COLL_ALL_GATHER) return extent[0] * n == extent[1];
  return second->op == SW_COLL_REDUCE_SCATTER && first->reduction == second->reduction && extent[2] * m == extent[1];
}

static sw_rc fold_pair(sw_rewrite *r, sw_id old, sw_id id, void *user, sw_diag *d) {
  (void)user;
  const sw_op op = *sw_rewrite_op(r, id);
  sw_collective both;
  sw_id out;
  if (!op.collective || !sw_rewrite_is(r, &op, op.collective->op)) return SW_OK;
  const sw_op *before = sw_rewrite_def_as(r, op.operands[0], op.collective->op);
  if (!before || !sw_rewrite_read_by_one(r, &op, op.operands[0])) return SW_OK;
  const sw_op first = *before;
  const int dim = sw_coll_flags(op.collective->op) & SW_COLL_USES_DIM ? op.collective->dim : 0;
  const sw_id at[3] = {first.operands[0], op.operands[0], op.results[0]};
  int64_t extent[3];
  for (int i = 0; i < 3; i++) extent[i] = sw_rewrite_extent(r, at[i], sw_rewrite_layout(r, at[i]), dim);
  if (!unite_collectives(first.collective, op.collective, extent, &both)) return SW_OK;
  const sw_rewrite_as as = {id, *sw_rewrite_layout(r, op.results[0])};
  SW_TRY(sw_rewrite_add_collective(r, first.operands[0], &both, NULL, &as, &out, d));
  if (sw_rewrite_seconds_of(r, out) <= sw_rewrite_seconds(r, &first) + sw_rewrite_seconds(r, &op)) {
    sw_rewrite_replace(r, r->from->program->ops[old].results[0], out);
  }
  return SW_OK;
}

const sw_pass sw_pass_fold = {.name = "fold", .visit = fold_pair};
