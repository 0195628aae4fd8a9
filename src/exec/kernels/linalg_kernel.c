/* cholesky and triangular_solve, matrix by matrix, in f64 and c128.
 *
 *   cholesky of [[4,2],[2,5]] = [[2,0],[1,2]]      a matrix that is not positive definite gives NaN
 */
#include <math.h>
#include <string.h>

#include "exec/kernels/complex.h"
#include "exec/kernels/op_kernel.h"
#include "exec/kernels/matrix.h"
#include "exec/kernels/native.h"

bool sw_is_complex(const sw_buffer *b) { return sw_dtype_class_of(b->dtype) == SW_CLASS_COMPLEX; }

void sw_load_piece(const sw_buffer *b, int64_t m, int64_t elements, void *to) {
  const char *at = (const char *)b->data + m * elements * sw_dtype_bytes(b->dtype);
  if (b->dtype == SW_C128) {
    memcpy(to, at, (size_t)elements * sizeof(double complex));
  } else if (b->dtype == SW_C64) {
    sw_convert(SW_F32, at, SW_F64, to, 2 * elements);
  } else {
    sw_convert(b->dtype, at, SW_F64, to, elements);
  }
}

void sw_store_piece(sw_buffer *b, int64_t m, int64_t elements, const void *from) {
  char *at = (char *)b->data + m * elements * sw_dtype_bytes(b->dtype);
  if (b->dtype == SW_C128) {
    memcpy(at, from, (size_t)elements * sizeof(double complex));
  } else if (b->dtype == SW_C64) {
    sw_convert(SW_F64, from, SW_F32, at, 2 * elements);
  } else {
    sw_convert(SW_F64, from, b->dtype, at, elements);
  }
}

void sw_turn_piece(bool is_complex, int64_t m, int64_t n, const void *from, void *to) {
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      if (is_complex)
        ((double complex *)to)[j * m + i] = ((const double complex *)from)[i * n + j];
      else
        ((double *)to)[j * m + i] = ((const double *)from)[i * n + j];
    }
  }
}

typedef struct system {
  int64_t n, rhs;      /* unknowns, right-hand sides */
  int64_t row, column; /* steps in b between unknowns, and between right-hand sides */
  bool lower, transposed, conjugated, unit;
} system_of;

static double identity_of(double x) { return x; }

/* For each type of numbers: l of l * adjoint(l), row by row (reads the lower triangle of a); the matrix turned over its
 * diagonal; elements of a matrix as it acts on the unknowns; the unknowns in place of the right-hand sides. */
#define OF_TYPE(id, T, CONJ, REAL)                                                                         \
  static void factor_##id(int64_t n, const T *a, T *l) {                                                   \
    memset(l, 0, (size_t)(n * n) * sizeof *l);                                                             \
    for (int64_t i = 0; i < n; i++) {                                                                      \
      for (int64_t j = 0; j <= i; j++) {                                                                   \
        T sum = a[i * n + j];                                                                              \
        for (int64_t k = 0; k < j; k++) sum -= l[i * n + k] * CONJ(l[j * n + k]);                          \
        double square = REAL(sum);                                                                         \
        l[i * n + j] = i > j ? sum / l[j * n + j] : square > 0 ? sqrt(square) : (double)NAN;               \
      }                                                                                                    \
    }                                                                                                      \
  }                                                                                                        \
  static void turn_##id(int64_t n, T *a) {                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                      \
      for (int64_t j = 0; j <= i; j++) {                                                                   \
        T t = CONJ(a[i * n + j]);                                                                          \
        a[i * n + j] = CONJ(a[j * n + i]);                                                                 \
        a[j * n + i] = t;                                                                                  \
      }                                                                                                    \
    }                                                                                                      \
  }                                                                                                        \
  static T at_##id(const system_of *s, const T *a, int64_t i, int64_t j) {                                 \
    if (i == j && s->unit) return 1;                                                                       \
    T x = s->transposed ? a[j * s->n + i] : a[i * s->n + j];                                               \
    return s->conjugated ? CONJ(x) : x;                                                                    \
  }                                                                                                        \
  static void solve_##id(const system_of *s, const T *a, T *b) {                                           \
    bool forward = s->lower != s->transposed;                                                              \
    for (int64_t r = 0; r < s->rhs; r++, b += s->column) {                                                 \
      for (int64_t step = 0; step < s->n; step++) {                                                        \
        int64_t i = forward ? step : s->n - 1 - step, from = forward ? 0 : i + 1, to = forward ? i : s->n; \
        T sum = b[i * s->row];                                                                             \
        for (int64_t j = from; j < to; j++) sum -= at_##id(s, a, i, j) * b[j * s->row];                    \
        b[i * s->row] = sum / at_##id(s, a, i, i);                                                         \
      }                                                                                                    \
    }                                                                                                      \
  }
OF_TYPE(real, double, identity_of, identity_of)
OF_TYPE(complex, double complex, conj, creal)

sw_rc sw_kernel_cholesky(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[0];
  if (!sw_is_complex(x) && !sw_convertible(x->dtype)) return sw_kernel_no_dtype(c, x->dtype, d);
  bool lower = sw_op_int(c->op, SW_ATTR_LOWER, 1) != 0;
  int64_t n = x->dims[x->rank - 1], all = sw_buffer_elements(x);
  double complex *a, *l;
  SW_ARENA_NEW_EACH(c->scratch, n * n, d, a, l);
  double *real_a = (double *)a, *real_l = (double *)l;
  for (int64_t m = 0; all > 0 && m < all / (n * n); m++) {
    sw_load_piece(x, m, n * n, a);
    if (sw_is_complex(x)) {
      if (!lower) turn_complex(n, a);
      factor_complex(n, a, l);
      if (!lower) turn_complex(n, l);
    } else {
      if (!lower) turn_real(n, real_a);
      factor_real(n, real_a, real_l);
      if (!lower) turn_real(n, real_l);
    }
    sw_store_piece(c->out[0], m, n * n, l);
  }
  return SW_OK;
}

/* x a = b is transposed(a) transposed(x) = transposed(b). */
sw_rc sw_kernel_triangular_solve(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[1];
  if (!sw_is_complex(x) && !sw_convertible(x->dtype)) return sw_kernel_no_dtype(c, x->dtype, d);
  const char *how = sw_op_text(c->op, SW_ATTR_TRANSPOSE_A, "none");
  bool left = sw_op_int(c->op, SW_ATTR_LEFT_SIDE, 1) != 0, turned = strcmp(how, "none") != 0;
  int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1], all = sw_buffer_elements(x);
  system_of s = {.n = left ? rows : columns,
                 .rhs = left ? columns : rows,
                 .row = left ? columns : 1,
                 .column = left ? 1 : columns,
                 .lower = sw_op_int(c->op, SW_ATTR_LOWER, 1) != 0,
                 .transposed = turned == left,
                 .conjugated = strcmp(how, "adjoint") == 0,
                 .unit = sw_op_int(c->op, SW_ATTR_UNIT_DIAGONAL, 0) != 0};
  double complex *a, *b;
  SW_ARENA_NEW(a, c->scratch, s.n * s.n, d);
  SW_ARENA_NEW(b, c->scratch, rows * columns, d);
  for (int64_t m = 0; all > 0 && m < all / (rows * columns); m++) {
    sw_load_piece(c->in[0], m, s.n * s.n, a);
    sw_load_piece(x, m, rows * columns, b);
    if (sw_is_complex(x))
      solve_complex(&s, a, b);
    else
      solve_real(&s, (double *)a, (double *)b);
    sw_store_piece(c->out[0], m, rows * columns, b);
  }
  return SW_OK;
}
