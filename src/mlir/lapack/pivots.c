/* Pivots, which say what row each row was exchanged with in turn, as a permutation: a loop that exchanges numbers of
 * rows.
 *
 *   cu_lu_pivots_to_permutation([1, 2, 2])   of 4 rows: [1, 2, 0, 3]
 */
#include "mlir/lapack/lapack.h"
#include "mlir/import/import_emit.h"

/* In each row of x (i32, none negative) the element for which `here` is true, in a row of n. */
static sw_rc pick_row_element(sw_importer *m, uint32_t op, sw_id x, sw_id here, int64_t n, sw_id *out) {
  sw_type t = *sw_im_type(m, x);
  int64_t dims[SW_MAX_RANK], kept[SW_MAX_RANK], last = t.rank - 1;
  sw_id zero;
  sw_im_attrs r = {.n = 0}, b = {.n = 0};
  for (int k = 0; k < t.rank; k++) {
    dims[k] = k < last ? t.dims[k] : n;
    kept[k] = k;
  }
  SW_TRY(sw_im_number(m, op, SW_I32, 0, t.rank, t.dims, &zero));
  SW_TRY(sw_im_choose(m, op, here, x, zero, out));
  sw_im_text(&r, SW_ATTR_KIND, sw_reduction_text(SW_REDUCE_MAX));
  sw_im_numbers(&r, SW_ATTR_DIMS, &last, 1);
  SW_TRY(sw_im_help(m, op, SW_OP_REDUCE, 1, out, &r, out));
  sw_im_numbers(&b, SW_ATTR_SHAPE, dims, t.rank);
  sw_im_numbers(&b, SW_ATTR_DIMS, kept, (int)last);
  return sw_im_help(m, op, SW_OP_BROADCAST, 1, out, &b, out);
}

/* Is it position `i` (a scalar) of the row? */
static sw_rc is_position(sw_importer *m, uint32_t op, const sw_type *t, sw_id i, sw_id *out) {
  sw_id at;
  SW_TRY(sw_im_positions(m, op, SW_I32, t->rank, t->dims, t->rank - 1, &at));
  SW_TRY(sw_im_spread(m, op, i, t->rank, t->dims, -1, &i));
  return sw_im_compared(m, op, "eq", at, i, out);
}

/* One step: element i of each row and the one that pivot i names change places. */
static sw_rc exchange(sw_importer *m, uint32_t op, sw_id pivots, sw_id i, sw_id *rows) {
  sw_type t = *sw_im_type(m, *rows), p = *sw_im_type(m, pivots);
  int64_t n = t.dims[t.rank - 1];
  sw_id first, second, at, here, there, mine, its;
  SW_TRY(is_position(m, op, &p, i, &here));
  SW_TRY(pick_row_element(m, op, pivots, here, n, &second));
  SW_TRY(sw_im_positions(m, op, SW_I32, t.rank, t.dims, t.rank - 1, &at));
  SW_TRY(is_position(m, op, &t, i, &first));
  SW_TRY(sw_im_compared(m, op, "eq", at, second, &there));
  SW_TRY(pick_row_element(m, op, *rows, first, n, &mine));
  SW_TRY(pick_row_element(m, op, *rows, there, n, &its));
  SW_TRY(sw_im_choose(m, op, there, mine, *rows, rows));
  return sw_im_choose(m, op, first, its, *rows, rows);
}

/* Rows 0, 1, 2, ... of `n` after all exchanges, one after the other in a loop. */
static sw_rc permute_rows_by_pivots(sw_importer *m, uint32_t op, sw_id pivots, int64_t n, sw_id *out) {
  sw_type t = *sw_im_type(m, pivots);
  int64_t dims[SW_MAX_RANK], steps = t.dims[t.rank - 1];
  sw_im_repeat l = {.m = m, .op = op};
  sw_id first, rows, in[2], one, next;
  for (int k = 0; k < t.rank; k++) dims[k] = k < t.rank - 1 ? t.dims[k] : n;
  SW_TRY(sw_im_number(m, op, SW_I32, 0, 0, NULL, &first));
  SW_TRY(sw_im_positions(m, op, SW_I32, t.rank, dims, t.rank - 1, &in[0]));
  in[1] = pivots;
  SW_TRY(sw_im_open_repeat(&l, steps, first, steps, in, 2, NULL, 0));
  rows = in[0];
  SW_TRY(exchange(m, op, in[1], l.counter, &rows));
  SW_TRY(sw_im_number(m, op, SW_I32, 1, 0, NULL, &one));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, l.counter, one, &next));
  SW_TRY(sw_im_close_repeat(&l, next, in, &rows, 1));
  *out = rows;
  return SW_OK;
}

sw_rc sw_im_pivots_to_permutation(sw_importer *m, uint32_t op, const char *how, bool *done) {
  (void)how;
  sw_type t;
  sw_id pivots = sw_im_operand(m, op, 0), out;
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  int rank = sw_im_type(m, pivots)->rank;
  if (rank < 1 || t.rank != rank) return SW_OK;
  *done = true;
  SW_TRY(permute_rows_by_pivots(m, op, pivots, t.dims[rank - 1], &out));
  return sw_im_results_are(m, op, &out, 1);
}

/* XLA's: pivots count from 0, and what rows they make. */
sw_rc sw_im_lu_with_permutation(sw_importer *m, uint32_t op, const char *how, bool *done) {
  sw_id x = sw_im_operand(m, op, 0), r[SW_MAX_RESULTS], one, rows;
  sw_im_attrs a = {.n = 0};
  const sw_type *t = sw_im_type(m, x);
  int64_t m_rows = t->rank < 2 ? 0 : t->dims[t->rank - 2];
  if (t->rank < 2) return SW_OK;
  sw_im_text(&a, SW_ATTR_HOW, how);
  SW_TRY(sw_im_help_all(m, op, &(sw_im_add){.code = SW_OP_FACTOR, .n_operands = 1, .operands = &x, .attrs = &a}, 3, r));
  sw_type pivots = *sw_im_type(m, r[1]);
  SW_TRY(sw_im_number(m, op, SW_I32, 1, pivots.rank, pivots.dims, &one));
  SW_TRY(sw_im_two(m, op, SW_OP_SUBTRACT, r[1], one, &r[1]));
  SW_TRY(permute_rows_by_pivots(m, op, r[1], m_rows, &rows));
  *done = true;
  return sw_im_results_are(m, op, (sw_id[]){r[0], r[1], rows}, 3);
}
