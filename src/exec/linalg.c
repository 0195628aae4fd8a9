/* cholesky and triangular_solve, matrix by matrix, in f64.
 *
 *   cholesky of [[4,2],[2,5]] = [[2,0],[1,2]]      a matrix that is not positive definite gives NaN
 */
#include <math.h>
#include <string.h>

#include "exec/kernel.h"
#include "exec/native.h"

/* Matrix number `m` of n*k elements, as f64, and back. */
static void load_matrix(const sw_buffer *b, int64_t m, int64_t elements, double *to) {
  sw_convert(b->dtype, (const char *)b->data + m * elements * sw_dtype_bytes(b->dtype), SW_F64, to, elements);
}
static void store_matrix(sw_buffer *b, int64_t m, int64_t elements, const double *from) {
  sw_convert(SW_F64, from, b->dtype, (char *)b->data + m * elements * sw_dtype_bytes(b->dtype), elements);
}

/* l of l * transposed(l), row by row; reads the lower triangle of a. */
static void factor(int64_t n, const double *a, double *l) {
  memset(l, 0, (size_t)(n * n) * sizeof *l);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j <= i; j++) {
      double sum = a[i * n + j];
      for (int64_t k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
      if (i == j && !(sum > 0)) sum = NAN;
      l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
    }
  }
}

static void transpose(int64_t n, double *a) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) {
      double t = a[i * n + j];
      a[i * n + j] = a[j * n + i];
      a[j * n + i] = t;
    }
  }
}

sw_rc sw_kernel_cholesky(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[0];
  if (!sw_convertible(x->dtype)) return sw_kernel_no_dtype(c, x->dtype, d);
  bool lower = sw_op_int(c->op, SW_ATTR_LOWER, 1) != 0;
  int64_t n = x->dims[x->rank - 1], all = sw_buffer_elements(x);
  double *a, *l;
  SW_ARENA_NEW(a, c->scratch, n * n, d);
  SW_ARENA_NEW(l, c->scratch, n * n, d);
  for (int64_t m = 0; all > 0 && m < all / (n * n); m++) {
    load_matrix(x, m, n * n, a);
    if (!lower) transpose(n, a);
    factor(n, a, l);
    if (!lower) transpose(n, l);
    store_matrix(c->out[0], m, n * n, l);
  }
  return SW_OK;
}

typedef struct system {
  int64_t n, rhs;      /* unknowns, right-hand sides */
  int64_t row, column; /* steps in b between unknowns, and between right-hand sides */
  bool lower, transposed, unit;
} system_of;

/* Elements of the matrix as it acts on the unknowns. */
static double at(const system_of *s, const double *a, int64_t i, int64_t j) {
  if (i == j && s->unit) return 1;
  return s->transposed ? a[j * s->n + i] : a[i * s->n + j];
}

static void solve(const system_of *s, const double *a, double *b) {
  bool forward = s->lower != s->transposed;
  for (int64_t r = 0; r < s->rhs; r++, b += s->column) {
    for (int64_t step = 0; step < s->n; step++) {
      int64_t i = forward ? step : s->n - 1 - step, from = forward ? 0 : i + 1, to = forward ? i : s->n;
      double sum = b[i * s->row];
      for (int64_t j = from; j < to; j++) sum -= at(s, a, i, j) * b[j * s->row];
      b[i * s->row] = sum / at(s, a, i, i);
    }
  }
}

/* x a = b is transposed(a) transposed(x) = transposed(b). */
sw_rc sw_kernel_triangular_solve(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[1];
  if (!sw_convertible(x->dtype)) return sw_kernel_no_dtype(c, x->dtype, d);
  bool left = sw_op_int(c->op, SW_ATTR_LEFT_SIDE, 1) != 0,
       turned = strcmp(sw_op_text(c->op, SW_ATTR_TRANSPOSE_A, "none"), "none") != 0;
  int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1], all = sw_buffer_elements(x);
  system_of s = {.n = left ? rows : columns,
                 .rhs = left ? columns : rows,
                 .row = left ? columns : 1,
                 .column = left ? 1 : columns,
                 .lower = sw_op_int(c->op, SW_ATTR_LOWER, 1) != 0,
                 .transposed = turned == left,
                 .unit = sw_op_int(c->op, SW_ATTR_UNIT_DIAGONAL, 0) != 0};
  double *a, *b;
  SW_ARENA_NEW(a, c->scratch, s.n * s.n, d);
  SW_ARENA_NEW(b, c->scratch, rows * columns, d);
  for (int64_t m = 0; all > 0 && m < all / (rows * columns); m++) {
    load_matrix(c->in[0], m, s.n * s.n, a);
    load_matrix(x, m, rows * columns, b);
    solve(&s, a, b);
    store_matrix(c->out[0], m, rows * columns, b);
  }
  return SW_OK;
}
