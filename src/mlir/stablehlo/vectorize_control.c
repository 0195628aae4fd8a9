/* Loops and choices in regions that are written out on tensors (vectorize.h). Every element goes its own way: a choice
 * is all of its branches and a select, a loop goes on while any element does, and those that are done keep what they
 * have.
 *
 *   while (x < 9) x = x * 2          on the scalars of a region
 *
 *   going = x < 9
 *   while (any(going)) { x = select(going, x * 2, x); going = going and x < 9 }
 */
#include "mlir/stablehlo/vectorize.h"

/* --- which can be written out ------------------------------------------------------------------------------------ */

static bool region_vectorizes(const sw_importer *m, uint32_t op, uint32_t index, uint32_t n_args, uint32_t n_results,
                              int depth) {
  uint32_t block = sw_ir_block_at(m->t, sw_im_op(m, op), index);
  return block != SW_IR_NONE && m->t->blocks.at[block].n_args == n_args &&
         sw_im_block_vectorizes(m, block, n_results, depth + 1);
}

bool sw_im_control_vectorizes(const sw_importer *m, const sw_ir_row *row, uint32_t op, int depth) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t n = row->import == sw_im_while ? o->n_uses : sw_ir_result_count(m->t, o),
           regions = sw_ir_region_count(m->t, o);
  if (n > SW_MAX_RESULTS || n != sw_ir_result_count(m->t, o)) return false;
  if (row->import == sw_im_while)
    return regions == 2 && region_vectorizes(m, op, 0, n, 1, depth) && region_vectorizes(m, op, 1, n, n, depth);
  for (uint32_t i = 0; i < regions; i++) {
    if (!region_vectorizes(m, op, i, 0, n, depth)) return false;
  }
  return row->import == sw_im_case && regions > 0 && o->n_uses == 1;
}

/* --- helpers ----------------------------------------------------------------------------------------------------- */

typedef struct vectorizing {
  sw_importer *m;
  uint32_t op;
} vectorizing;

static sw_rc fit_to_vectorized(const vectorizing *l, sw_id *x) {
  const sw_type *shape = &l->m->vectorized->shape;
  if (sw_im_type(l->m, *x)->rank == shape->rank) return SW_OK;
  return sw_im_spread(l->m, l->op, *x, shape->rank, shape->dims, -1, x);
}

static sw_rc and (const vectorizing *l, sw_id a, sw_id b, sw_id *out) {
  SW_TRY(fit_to_vectorized(l, &a));
  SW_TRY(fit_to_vectorized(l, &b));
  return sw_im_two(l->m, l->op, SW_OP_AND, a, b, out);
}

/* Results of a region in the shape of what is written out. */
static sw_rc run_vectorized_region(const vectorizing *l, uint32_t index, const sw_id *args, uint32_t n, sw_id *out) {
  SW_TRY(sw_im_run_vectorized(l->m, l->op, sw_ir_block_at(l->m->t, sw_im_op(l->m, l->op), index), args, out, &n));
  for (uint32_t i = 0; i < n; i++) SW_TRY(fit_to_vectorized(l, &out[i]));
  return SW_OK;
}

/* --- loops ------------------------------------------------------------------------------------------------------- */

static sw_rc test_any(const vectorizing *l, sw_id going) {
  int64_t dims[SW_MAX_RANK];
  sw_im_attrs a = {.n = 0};
  int rank = l->m->vectorized->shape.rank;
  for (int i = 0; i < rank; i++) dims[i] = i;
  sw_im_text(&a, SW_ATTR_KIND, sw_reduction_text(SW_REDUCE_OR));
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, rank);
  if (rank) SW_TRY(sw_im_help(l->m, l->op, SW_OP_REDUCE, 1, &going, &a, &going));
  return sw_im_mark(l->m, l->op, SW_OP_TEST, going, NULL);
}

/* The body where the loop goes on, and whether it still does. */
static sw_rc one_turn(const vectorizing *l, uint32_t n, const sw_id *x, sw_id going, sw_id *next, sw_id *again) {
  sw_importer *m = l->m;
  sw_id *active = &m->vectorized->active, outer = *active;
  *active = going;
  SW_TRY(run_vectorized_region(l, 1, x, n, next));
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_choose(m, l->op, going, next[i], x[i], &next[i]));
  SW_TRY(run_vectorized_region(l, 0, next, 1, again));
  *active = outer;
  return and(l, *again, going, again);
}

static sw_rc vectorized_loop(const vectorizing *l) {
  sw_importer *m = l->m;
  const sw_ir_op *o = sw_im_op(m, l->op);
  uint32_t n = o->n_uses, first = m->names->block[sw_ir_block_at(m->t, o, 0)];
  sw_id x[SW_MAX_RESULTS], in[SW_MAX_RESULTS], next[SW_MAX_RESULTS], going, inside, again, y;
  sw_im_captured captured;
  sw_ir_span both = {m->t->regions.at[sw_ir_region_at(m->t, o, 0)].text.at,
                     m->t->regions.at[sw_ir_region_at(m->t, o, 1)].text.end};
  for (uint32_t i = 0; i < n; i++) x[i] = sw_im_operand(m, l->op, i);
  for (uint32_t i = 0; i < n; i++) SW_TRY(fit_to_vectorized(l, &x[i]));
  SW_TRY(run_vectorized_region(l, 0, x, 1, &going));
  if (m->vectorized->active >= 0) SW_TRY(and(l, going, m->vectorized->active, &going));
  SW_TRY(sw_im_mark(m, l->op, SW_OP_WHILE, -1, NULL));
  SW_TRY(sw_im_one(m, l->op, SW_OP_ENTER, going, &inside));
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_one(m, l->op, SW_OP_ENTER, x[i], &in[i]));
  SW_TRY(sw_im_enter_captured(m, l->op, both, first, &captured));
  SW_TRY(test_any(l, inside));
  SW_TRY(one_turn(l, n, in, inside, next, &again));
  SW_TRY(sw_im_one(m, l->op, SW_OP_YIELD, again, &again));
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_one(m, l->op, SW_OP_YIELD, next[i], &next[i]));
  SW_TRY(sw_im_mark(m, l->op, SW_OP_END, -1, NULL));
  sw_im_leave_captured(m, &captured);
  SW_TRY(sw_im_two(m, l->op, SW_OP_JOIN, inside, again, &y));
  for (uint32_t i = 0; i < n; i++) {
    SW_TRY(sw_im_two(m, l->op, SW_OP_JOIN, in[i], next[i], &y));
    SW_TRY(sw_im_bind(m, l->op, i, y, false));
  }
  return SW_OK;
}

/* --- choices ----------------------------------------------------------------------------------------------------- */

/* Where branch k is chosen; the last one by none of the others. */
static sw_rc chosen(const vectorizing *l, sw_id index, uint32_t k, sw_id *out) {
  sw_dtype t = sw_im_type(l->m, index)->dtype;
  const sw_type *shape = &l->m->vectorized->shape;
  sw_id number;
  *out = index;
  if (t == SW_BOOL) return SW_OK; /* of two */
  SW_TRY(sw_im_number(l->m, l->op, t, k, shape->rank, shape->dims, &number));
  return sw_im_compared(l->m, l->op, "eq", index, number, out);
}

static sw_rc vectorized_choice(const vectorizing *l) {
  sw_importer *m = l->m;
  uint32_t n = sw_ir_result_count(m->t, sw_im_op(m, l->op)), branches = sw_ir_region_count(m->t, sw_im_op(m, l->op));
  sw_id *active = &m->vectorized->active, index = sw_im_operand(m, l->op, 0), outer = *active, rest = -1, none, *here,
        *y;
  SW_ARENA_NEW(here, &m->scratch, branches, m->d);
  SW_ARENA_NEW(y, &m->scratch, (size_t)branches * n, m->d);
  SW_TRY(fit_to_vectorized(l, &index));
  for (uint32_t k = 0; k < branches; k++) {
    bool last = k + 1 == branches;
    here[k] = rest; /* the last one: where no other is */
    if (!last) {
      SW_TRY(chosen(l, index, k, &here[k]));
      SW_TRY(sw_im_one(m, l->op, SW_OP_NOT, here[k], &none));
      if (rest >= 0) SW_TRY(and(l, rest, none, &none));
      rest = none;
    }
    *active = here[k];
    if (outer >= 0 && here[k] >= 0) SW_TRY(and(l, here[k], outer, active));
    if (here[k] < 0) *active = outer;
    SW_TRY(run_vectorized_region(l, k, NULL, n, y + (size_t)k * n));
  }
  *active = outer;
  for (uint32_t i = 0; i < n; i++) {
    sw_id r = y[(size_t)(branches - 1) * n + i];
    for (uint32_t k = branches - 1; k-- > 0;) SW_TRY(sw_im_choose(m, l->op, here[k], y[(size_t)k * n + i], r, &r));
    SW_TRY(sw_im_bind(m, l->op, i, r, false));
  }
  return SW_OK;
}

sw_rc sw_im_vectorized_control(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  vectorizing l = {m, op};
  return row->import == sw_im_while ? vectorized_loop(&l) : vectorized_choice(&l);
}
