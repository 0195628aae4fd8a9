/* reduce, reduce_window and map with any region, written out on tensors (vectorize.h).
 *
 *   reduce(x[8]) { f }            x[8] -> f(even, odd)[4] -> f(even, odd)[2] -> [1], then f(init, that)
 *   reduce_window(x) of 5         f(f of 4 from here on, the one behind), by doubling: f(x, x+1), f(that, that+2)
 *
 * A region must be associative (StableHLO asks for it), so that trees are what it means; the order is kept.
 */
#include "mlir/stablehlo/vectorize.h"
#include "mlir/stablehlo/stablehlo.h"

#include <string.h>

/* Several tensors of one shape that go through a region together. */
typedef struct rows {
  sw_importer *m;
  const sw_im_body *body;
  int n;
  bool selects; /* the region says of two elements of the first tensor whether the left one is taken; so are all others,
                   and the last one says whether there is anything */
} rows;

static sw_rc select_of_two(const rows *r, const sw_id *left, const sw_id *right, sw_id *out) {
  sw_id keeps, alone, any;
  const sw_id is_left = left[r->n - 1], is_right = right[r->n - 1];
  uint32_t op = r->body->op;
  SW_TRY(sw_im_apply(r->m, r->body, (sw_id[]){left[0], right[0]}, sw_im_type(r->m, left[0]), &keeps));
  SW_TRY(sw_im_two(r->m, op, SW_OP_AND, keeps, is_left, &keeps));
  SW_TRY(sw_im_one(r->m, op, SW_OP_NOT, is_right, &alone));
  SW_TRY(sw_im_two(r->m, op, SW_OP_OR, keeps, alone, &keeps));
  SW_TRY(sw_im_two(r->m, op, SW_OP_OR, is_left, is_right, &any));
  for (int i = 0; i < r->n - 1; i++) SW_TRY(sw_im_choose(r->m, op, keeps, left[i], right[i], &out[i]));
  out[r->n - 1] = any;
  return SW_OK;
}

/* `out` may be `left` or `right`. */
static sw_rc combine_rows(const rows *r, const sw_id *left, const sw_id *right, sw_id *out) {
  sw_id args[2 * SW_MAX_RESULTS];
  if (r->selects) return select_of_two(r, left, right, out);
  /* The custom form of reduce writes (a, b) (ai, bi), everything else a, ai, b, bi. */
  const sw_ir_op *o = sw_im_op(r->m, r->body->op);
  const sw_ir_row *row = sw_ir_row_of(r->m->t, o->name);
  bool paired = !o->generic && row->import == sw_im_reduce;
  for (int i = 0; i < r->n; i++) {
    args[paired ? 2 * i : i] = left[i];
    args[paired ? 2 * i + 1 : r->n + i] = right[i];
  }
  return sw_im_apply(r->m, r->body, args, sw_im_type(r->m, left[0]), out);
}

static sw_rc cut_all_rows(const rows *r, const sw_id *x, const sw_im_range *range, sw_id *out) {
  for (int i = 0; i < r->n; i++) SW_TRY(sw_im_cut(r->m, r->body->op, x[i], range, &out[i]));
  return SW_OK;
}

static sw_rc concatenate_rows(const rows *r, int dim, sw_id *x, const sw_id *rest) {
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DIM, dim);
  for (int i = 0; i < r->n; i++) {
    SW_TRY(sw_im_help(r->m, r->body->op, SW_OP_CONCATENATE, 2, (sw_id[]){x[i], rest[i]}, &a, &x[i]));
  }
  return SW_OK;
}

/* Neighbours with each other until the dim has size 1. */
static sw_rc fold_dim(const rows *r, int dim, sw_id *x) {
  int64_t size;
  while ((size = sw_im_type(r->m, x[0])->dims[dim]) > 1) {
    sw_id left[SW_MAX_RESULTS], right[SW_MAX_RESULTS], rest[SW_MAX_RESULTS];
    int64_t pairs = size / 2 * 2;
    SW_TRY(cut_all_rows(r, x, &(sw_im_range){dim, 0, pairs, 2}, left));
    SW_TRY(cut_all_rows(r, x, &(sw_im_range){dim, 1, pairs, 2}, right));
    SW_TRY(cut_all_rows(r, x, &(sw_im_range){dim, size - 1, size, 1}, rest));
    SW_TRY(combine_rows(r, left, right, x));
    if (size % 2) SW_TRY(concatenate_rows(r, dim, x, rest));
  }
  return SW_OK;
}

/* Initial values in a shape; x may be the same array. */
static sw_rc spread_init(const rows *r, const sw_id *init, const sw_type *shape, sw_id *out) {
  sw_type t = *shape;
  for (int i = 0; i < r->n; i++) SW_TRY(sw_im_spread(r->m, r->body->op, init[i], t.rank, t.dims, -1, &out[i]));
  return SW_OK;
}

static sw_rc give_reduced_rows(const rows *r, const sw_id *x) {
  return sw_im_results_are(r->m, r->body->op, x, (uint32_t)r->n);
}

/* f(init, x) is what the op gives; of nothing, init itself. */
static sw_rc finish_reduced_rows(const rows *r, const sw_id *init, sw_id *x, bool empty, const sw_type *shape) {
  sw_id spread[SW_MAX_RESULTS];
  SW_TRY(spread_init(r, init, shape, spread));
  if (empty) return give_reduced_rows(r, spread);
  SW_TRY(combine_rows(r, spread, x, x));
  return give_reduced_rows(r, x);
}

static sw_rc open_rows(sw_importer *m, uint32_t op, sw_im_body *b, rows *r, bool *vectorizes) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t n = o->n_uses / 2;
  *vectorizes = o->n_uses == 2 * n && n >= 1 && n <= SW_MAX_RESULTS && sw_ir_result_count(m->t, o) == n;
  *r = (rows){.m = m, .body = b, .n = (int)n};
  return *vectorizes ? sw_im_open_body(m, op, o->first_region, 2 * n, n, b, vectorizes) : SW_OK;
}

static sw_rc take_inputs(const rows *r, sw_id *x, sw_id *init) {
  for (int i = 0; i < r->n; i++) {
    SW_TRY(sw_im_reduced_as(r->m, r->body->op, (uint32_t)i, &x[i]));
    SW_TRY(sw_im_reduced_as(r->m, r->body->op, (uint32_t)i, &init[i]));
    const bool same = sw_type_same_shape(sw_im_type(r->m, x[i]), sw_im_type(r->m, x[0]));
    if (!same || sw_im_type(r->m, init[i])->rank) {
      return SW_IM_FAIL(r->m, r->body->op,
                        "input %d or its initial value has a wrong shape; expected inputs of one shape "
                        "and scalars as initial values",
                        i);
    }
  }
  return SW_OK;
}

sw_rc sw_im_reduce_by_region(sw_importer *m, uint32_t op, const int64_t *dims, int n_dims, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_im_body b;
  rows r;
  sw_id x[SW_MAX_RESULTS], init[SW_MAX_RESULTS];
  *done = n_dims >= 0;
  if (*done) SW_TRY(open_rows(m, op, &b, &r, done));
  if (!*done) return SW_OK;
  for (int i = 0; i < r.n; i++) { /* x, init, y, init in the custom form; x, y, init, init in the generic one */
    x[i] = sw_im_operand(m, op, (uint32_t)(o->generic ? i : 2 * i));
    init[i] = sw_im_operand(m, op, (uint32_t)(o->generic ? r.n + i : 2 * i + 1));
  }
  SW_TRY(take_inputs(&r, x, init));
  sw_type t = *sw_im_type(m, x[0]);
  int64_t kept[SW_MAX_RANK];
  bool empty = false;
  for (int k = 0; k < t.rank; k++) kept[k] = t.dims[k];
  for (int i = 0; i < n_dims; i++) {
    if (dims[i] < 0 || dims[i] >= t.rank) return SW_IM_FAIL(m, op, "there is no dim %lld", (long long)dims[i]);
    empty = empty || t.dims[dims[i]] == 0;
    kept[dims[i]] = 1;
  }
  for (int k = t.rank - 1; k >= 0 && !empty; k--) {
    if (kept[k] == 1 && t.dims[k] != 1) SW_TRY(fold_dim(&r, k, x));
  }
  return finish_reduced_rows(&r, init, x, empty, &(sw_type){.dtype = t.dtype, .rank = t.rank, .dims = kept});
}

/* --- windows ----------------------------------------------------------------------------------------------------- */

static sw_rc pad_all(const rows *r, const sw_im_window *w, const sw_id *init, sw_id *x) {
  int64_t low[SW_MAX_RANK], high[SW_MAX_RANK], interior[SW_MAX_RANK];
  const int64_t *padding = w->padding;
  for (int k = 0; k < w->n; k++) {
    low[k] = *padding++;
    high[k] = *padding++;
    interior[k] = w->base[k] - 1;
  }
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_LOW, low, w->n);
  sw_im_numbers(&a, SW_ATTR_HIGH, high, w->n);
  sw_im_numbers(&a, SW_ATTR_INTERIOR, interior, w->n);
  for (int i = 0; i < r->n; i++) {
    SW_TRY(sw_im_help(r->m, r->body->op, SW_OP_PAD, 2, (sw_id[]){x[i], init[i]}, &a, &x[i]));
  }
  return SW_OK;
}

/* `left` and what stands `shift` places behind it, where both are there. */
static sw_rc combine_shifted(const rows *r, int dim, const sw_id *left, const sw_id *right, int64_t shift, sw_id *out) {
  sw_id a[SW_MAX_RESULTS], b[SW_MAX_RESULTS];
  int64_t n = sw_im_type(r->m, left[0])->dims[dim], end = sw_im_type(r->m, right[0])->dims[dim];
  if (end - shift < n) n = end - shift;
  SW_TRY(cut_all_rows(r, left, &(sw_im_range){dim, 0, n, 1}, a));
  SW_TRY(cut_all_rows(r, right, &(sw_im_range){dim, shift, shift + n, 1}, b));
  return combine_rows(r, a, b, out);
}

/* Windows of `size` positions `hole` apart, by doubling; then every `stride`-th of them. */
static sw_rc window_dim(const rows *r, int dim, int64_t size, int64_t hole, int64_t stride, sw_id *x) {
  sw_id power[SW_MAX_RESULTS], sum[SW_MAX_RESULTS];
  int64_t covered = 0;
  memcpy(power, x, (size_t)r->n * sizeof *x);
  for (int64_t width = 1; width <= size; width *= 2) {
    if (size & width) {
      if (!covered) memcpy(sum, power, (size_t)r->n * sizeof *x);
      if (covered) SW_TRY(combine_shifted(r, dim, sum, power, covered * hole, sum));
      covered += width;
    }
    if (2 * width <= size) SW_TRY(combine_shifted(r, dim, power, power, width * hole, power));
  }
  int64_t places = sw_im_type(r->m, x[0])->dims[dim] - (size - 1) * hole;
  return cut_all_rows(r, sum, &(sw_im_range){dim, 0, (places - 1) / stride * stride + 1, stride}, x);
}

/* How many windows fit along each dim of padded inputs; they must be as many as `said`. */
static sw_rc count_windows(const rows *r, const sw_im_window *w, const sw_id *x, const sw_type *said, bool *empty) {
  *empty = false;
  for (int k = 0; k < w->n; k++) {
    int64_t size = sw_im_type(r->m, x[0])->dims[k], places = size - (w->sizes[k] - 1) * w->holes[k];
    int64_t want = places > 0 ? (places - 1) / w->strides[k] + 1 : 0;
    if (k >= said->rank || said->dims[k] != want)
      return SW_IM_FAIL(r->m, r->body->op, "dim %d has %lld windows", k, (long long)want);
    *empty = *empty || want == 0;
  }
  return SW_OK;
}

/* The windows of x, each folded into one element, unless there are none; `init` is the padding. */
static sw_rc fold_windows(const rows *r, const sw_im_window *w, const sw_type *said, const sw_id *init, sw_id *x,
                          bool *empty) {
  if (w->n != sw_im_type(r->m, x[0])->rank) return SW_IM_FAIL(r->m, r->body->op, "the window has %d dims", w->n);
  SW_TRY(pad_all(r, w, init, x));
  SW_TRY(count_windows(r, w, x, said, empty));
  for (int k = w->n - 1; k >= 0 && !*empty; k--) {
    SW_TRY(window_dim(r, k, w->sizes[k], w->holes[k], w->strides[k], x));
  }
  return SW_OK;
}

sw_rc sw_im_window_by_region(sw_importer *m, uint32_t op, const sw_im_window *w, bool *done) {
  sw_im_body b;
  rows r;
  sw_id x[SW_MAX_RESULTS], init[SW_MAX_RESULTS];
  sw_type said;
  bool empty;
  SW_TRY(open_rows(m, op, &b, &r, done));
  if (!*done) return SW_OK;
  for (int i = 0; i < r.n; i++) {
    x[i] = sw_im_operand(m, op, (uint32_t)i);
    init[i] = sw_im_operand(m, op, (uint32_t)(r.n + i));
  }
  SW_TRY(take_inputs(&r, x, init));
  SW_TRY(sw_im_result_type(m, op, 0, &said));
  SW_TRY(fold_windows(&r, w, &said, init, x, &empty));
  return finish_reduced_rows(&r, init, x, empty, &said);
}

sw_rc sw_im_select_in_windows(sw_importer *m, const sw_im_body *select, const sw_im_window *w, const sw_type *said,
                              int n, sw_id *x, bool *empty) {
  rows r = {.m = m, .body = select, .n = n, .selects = true};
  sw_id padding[SW_MAX_RESULTS];
  for (int i = 0; i < n; i++) {
    SW_TRY(sw_im_number(m, select->op, sw_im_type(m, x[i])->dtype, 0, 0, NULL, &padding[i]));
  }
  return fold_windows(&r, w, said, padding, x, empty);
}

/* --- map --------------------------------------------------------------------------------------------------------- */

sw_rc sw_im_map(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  sw_im_body b;
  sw_id x[SW_MAX_RESULTS], y[SW_MAX_RESULTS];
  const int64_t *dims = NULL;
  int n_dims;
  bool vectorizes = o->n_uses >= 1 && o->n_uses <= SW_MAX_RESULTS;
  SW_TRY(sw_im_operand_count(m, op, 1, UINT32_MAX));
  SW_TRY(sw_im_list(m, sw_ir_attr(m->t, o, "dimensions", NULL), &dims, &n_dims));
  int rank = sw_im_type(m, sw_im_operand(m, op, 0))->rank;
  if (n_dims >= 0 && (n_dims != rank || !sw_im_is_in_order(rank, dims)))
    return SW_IM_FAIL(m, op, "'dimensions' are not all dims of the operands in their order; expected 0 .. %d",
                      rank - 1);
  if (vectorizes) SW_TRY(sw_im_open_body(m, op, o->first_region, o->n_uses, 1, &b, &vectorizes));
  if (!vectorizes) {
    return sw_im_opaque(m, op, "stablehlo.map (a region that cannot be written out)");
  }
  for (uint32_t i = 0; i < o->n_uses; i++) x[i] = sw_im_operand(m, op, i);
  SW_TRY(sw_im_apply(m, &b, x, sw_im_type(m, x[0]), y));
  return sw_im_results_are(m, op, y, 1);
}
