/* reduce, reduce_window, cumulative and cumulative_logsumexp.
 *
 * reduce streams the operand once, in order: rows that lie along a reduced dim are folded to one element, other rows
 * are combined with a row of accumulators.
 *
 *   f32[2,3] over dim 0: acc[3] = row 0, then acc[3] += row 1
 *            over dim 1: acc[0] = fold(row 0), acc[1] = fold(row 1)
 */
#include <math.h>

#include "exec/kernels/native.h"
#include "exec/walk.h"
#include "exec/kernels/wide.h"
#include "base/checked.h"

typedef struct reduce_row {
  const sw_fold *fold;
  sw_dtype dtype; /* of the operand */
} reduce_row;

static void combine_row(void *user, char *const *at, const int64_t *stride, int64_t n) {
  const reduce_row *r = user;
  const sw_fold *f = r->fold;
  if (stride[0] == 0) {
    sw_fold_row(f, at[0], r->dtype, at[1], n);
    return;
  }
  if (r->dtype == f->wide) {
    f->loop(at[0], at[1], at[0], n);
    return;
  }
  sw_chunk x;
  int64_t bytes = sw_dtype_bytes(r->dtype), wide_bytes = sw_dtype_bytes(f->wide);
  for (int64_t i = 0; i < n; i += SW_CHUNK) {
    int64_t m = sw_min_i64(SW_CHUNK, n - i);
    char *acc = at[0] + i * wide_bytes;
    sw_convert(r->dtype, at[1] + i * bytes, f->wide, x.bytes, m);
    f->loop(acc, x.bytes, acc, m);
  }
}

sw_rc sw_kernel_reduce(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[0];
  sw_buffer *y = c->out[0];
  sw_fold f;
  SW_TRY(sw_fold_of_op(c, x->dtype, &f, d));
  void *acc;
  SW_TRY(sw_wide_begin(c, y, f.wide, &acc, d));
  int wide_bytes = sw_dtype_bytes(f.wide), n;
  sw_fill_elements(acc, f.identity, wide_bytes, sw_buffer_elements(y));

  const int64_t *dims = sw_op_ints(c->op, SW_ATTR_DIMS, &n);
  bool reduced[SW_MAX_RANK] = {false};
  for (int i = 0; i < n; i++) reduced[dims[i]] = true;
  sw_walk w = {.rank = x->rank, .n_arrays = 2};
  sw_dense_strides(x->rank, x->dims, sw_dtype_bytes(x->dtype), w.stride[1]);
  int64_t step = wide_bytes;
  for (int i = x->rank - 1; i >= 0; i--) {
    w.dims[i] = x->dims[i];
    w.stride[0][i] = reduced[i] ? 0 : step;
    if (!reduced[i]) step *= x->dims[i];
  }
  sw_walk_simplify(&w);
  reduce_row r = {&f, x->dtype};
  sw_walk_run(&w, (char *[]){acc, x->data}, combine_row, &r);
  sw_wide_finish(y, f.wide, acc);
  return SW_OK;
}

/* --- reduce_window ------------------------------------------------------------------------------------------------ */

/* Along one dim, result positions first, first+step, ... (count of them) read operand positions from, from+by, ... when
 * the window stands at one of its offsets. */
typedef struct run {
  int64_t first, step, count, from, by;
} run;

typedef struct window_dim {
  int64_t results, extent, stride, dilation, window, window_dilation, low;
} window_dim;

/* Result o reads position p = o*stride + offset*window_dilation - low of the dilated operand, which exists where
 * 0 <= p <= (extent-1)*dilation and p % dilation == 0. */
static run window_run(const window_dim *w, int64_t offset) {
  run r = {0};
  if (w->extent == 0 || w->results == 0) return r;
  r.step = w->dilation / sw_gcd_i64(w->stride, w->dilation);
  int64_t shift = offset * w->window_dilation - w->low, last = (w->extent - 1) * w->dilation;
  int64_t lo = sw_max_i64(0, -sw_floor_div(shift, w->stride)); /* first o with p >= 0 */
  int64_t hi = sw_min_i64(w->results - 1, sw_floor_div(last - shift, w->stride));
  int64_t tries = r.step;
  while (tries > 0 && lo <= hi && (lo * w->stride + shift) % w->dilation != 0) lo++, tries--;
  if (tries == 0 || lo > hi) return r;
  r.first = lo;
  r.count = (hi - lo) / r.step + 1;
  r.from = (lo * w->stride + shift) / w->dilation;
  r.by = w->stride * r.step / w->dilation;
  return r;
}

static void read_window_dims(const sw_kernel_call *c, window_dim *out) {
  const sw_buffer *x = c->in[0], *y = c->out[0];
  int64_t store[6][SW_MAX_RANK];
  int rank = x->rank;
  const int64_t *window = sw_kernel_ints(c->op, SW_ATTR_WINDOW, rank, 1, store[0]);
  const int64_t *stride = sw_kernel_ints(c->op, SW_ATTR_STRIDES, rank, 1, store[1]);
  const int64_t *low = sw_kernel_ints(c->op, SW_ATTR_PAD_LOW, rank, 0, store[2]);
  const int64_t *dilation = sw_kernel_ints(c->op, SW_ATTR_LHS_DILATION, rank, 1, store[3]);
  const int64_t *window_dilation = sw_kernel_ints(c->op, SW_ATTR_RHS_DILATION, rank, 1, store[4]);
  for (int i = 0; i < rank; i++) {
    out[i] = (window_dim){y->dims[i], x->dims[i], stride[i], dilation[i], window[i], window_dilation[i], low[i]};
  }
}

/* Combine acc with what the window's element at `offset` sees, for all results at once. */
static void apply_offset(const window_dim *dim, int rank, const int64_t *offset, const sw_fold *f, char *acc,
                         const char *x, const int64_t *acc_stride, const int64_t *x_stride) {
  sw_walk w = {.rank = rank, .n_arrays = 2};
  for (int i = 0; i < rank; i++) {
    run r = window_run(&dim[i], offset[i]);
    if (r.count == 0) return;
    w.dims[i] = r.count;
    w.stride[0][i] = acc_stride[i] * r.step;
    w.stride[1][i] = x_stride[i] * r.by;
    acc += acc_stride[i] * r.first;
    x += x_stride[i] * r.from;
  }
  sw_walk_simplify(&w);
  sw_fold_walk(&w, f, acc, x);
}

/* Window offsets in row-major order; within one, results in row-major order. */
sw_rc sw_kernel_reduce_window(const sw_kernel_call *c, sw_diag *d) {
  sw_buffer *y = c->out[0];
  sw_fold f;
  SW_TRY(sw_fold_of_op(c, y->dtype, &f, d));
  const void *x;
  void *acc;
  SW_TRY(sw_wide_load(c, c->in[0], f.wide, &x, d));
  SW_TRY(sw_wide_begin(c, y, f.wide, &acc, d));
  int64_t bytes = sw_dtype_bytes(f.wide), acc_stride[SW_MAX_RANK], x_stride[SW_MAX_RANK], offset[SW_MAX_RANK] = {0};
  sw_fill_elements(acc, f.identity, (int)bytes, sw_buffer_elements(y));
  sw_dense_strides(y->rank, y->dims, bytes, acc_stride);
  sw_dense_strides(y->rank, c->in[0]->dims, bytes, x_stride);
  window_dim dim[SW_MAX_RANK] = {{0}};
  read_window_dims(c, dim);
  for (int i = y->rank; i >= 0;) {
    apply_offset(dim, y->rank, offset, &f, acc, x, acc_stride, x_stride);
    for (i = y->rank - 1; i >= 0; i--) {
      if (++offset[i] < dim[i].window) break;
      offset[i] = 0;
    }
  }
  sw_wide_finish(y, f.wide, acc);
  return SW_OK;
}

/* --- cumulative --------------------------------------------------------------------------------------------------- */

typedef struct scan {
  const sw_fold *fold;
  int64_t steps, inner; /* rows of `inner` elements */
  bool reversed, exclusive;
} scan;

/* One run of `steps` rows. Exclusive: row i gets what was folded before it. */
static void scan_run(const scan *s, const char *x, char *y) {
  int64_t bytes = sw_dtype_bytes(s->fold->wide), row = s->inner * bytes;
  int64_t by = s->reversed ? -row : row, at = s->reversed ? (s->steps - 1) * row : 0;
  for (int64_t i = 0; i < s->steps; i++, at += by) {
    if (i == 0) sw_fill_elements(y + at, s->fold->identity, (int)bytes, s->inner);
    const char *before = i == 0 ? y + at : y + at - by;
    if (i > 0 || !s->exclusive) s->fold->loop(before, x + (s->exclusive ? at - by : at), y + at, s->inner);
  }
}

static sw_rc scan_lines(const sw_kernel_call *c, const sw_fold *f, sw_diag *d) {
  sw_buffer *y = c->out[0];
  int64_t dim = sw_op_int(c->op, SW_ATTR_DIM, 0), n = sw_buffer_elements(y);
  const void *x;
  void *out;
  SW_TRY(sw_wide_load(c, c->in[0], f->wide, &x, d));
  SW_TRY(sw_wide_begin(c, y, f->wide, &out, d));
  scan s = {f, y->dims[dim], 1, sw_op_int(c->op, SW_ATTR_REVERSED, 0) != 0,
            sw_op_int(c->op, SW_ATTR_EXCLUSIVE, 0) != 0};
  for (int64_t i = dim + 1; i < y->rank; i++) s.inner *= y->dims[i];
  int64_t size = s.steps * s.inner, bytes = sw_dtype_bytes(f->wide);
  for (int64_t at = 0; at < n; at += size) scan_run(&s, (const char *)x + at * bytes, (char *)out + at * bytes);
  sw_wide_finish(y, f->wide, out);
  return SW_OK;
}

sw_rc sw_kernel_cumulative(const sw_kernel_call *c, sw_diag *d) {
  sw_fold f;
  SW_TRY(sw_fold_of_op(c, c->out[0]->dtype, &f, d));
  return scan_lines(c, &f, d);
}

/* log(e^a + e^b): the greater one and what the other adds; NaN, and two of one infinity, stay what they are. */
#define LOG_ADD_EXP(T, exp, log1p)                                                   \
  static void log_add_exp_##T(const void *as, const void *bs, void *ys, int64_t n) { \
    for (int64_t i = 0; i < n; i++) {                                                \
      T a = ((const T *)as)[i], b = ((const T *)bs)[i], gap = a > b ? b - a : a - b; \
      ((T *)ys)[i] = a == b && isinf(a) ? a : (a > b ? a : b) + log1p(exp(gap));     \
    }                                                                                \
  }
LOG_ADD_EXP(float, expf, log1pf)
LOG_ADD_EXP(double, exp, log1p)

sw_rc sw_kernel_cumulative_logsumexp(const sw_kernel_call *c, sw_diag *d) {
  sw_fold f;
  SW_TRY(sw_fold_init(c, SW_REDUCE_MAX, c->out[0]->dtype, &f, d));
  f.loop = f.wide == SW_F64 ? log_add_exp_double : log_add_exp_float;
  return scan_lines(c, &f, d);
}
