/* cholesky and triangular_solve by what they must satisfy, element by element; select_and_scatter from the result's
 * point of view. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collective/scalar.h"

static double load(const sw_buffer *b, int64_t i) {
  return sw_element_load(b->dtype, (const char *)b->data + i * sw_dtype_bytes(b->dtype));
}
static void store(sw_buffer *b, int64_t i, double v) {
  sw_element_store(b->dtype, v, (char *)b->data + i * sw_dtype_bytes(b->dtype));
}

/* l[i][j] by the recursion of its definition: a[i][j] = sum over k <= j of l[i][k] l[j][k]. */
static double factor_at(const sw_buffer *a, int64_t first, int64_t n, bool lower, int64_t i, int64_t j) {
  double sum = load(a, first + (lower ? i * n + j : j * n + i));
  for (int64_t k = 0; k < j; k++) sum -= factor_at(a, first, n, lower, i, k) * factor_at(a, first, n, lower, j, k);
  if (i == j) return sum > 0 ? sqrt(sum) : NAN;
  return sum / factor_at(a, first, n, lower, j, j);
}

static void cholesky(const sw_op *op, const sw_buffer *a, sw_buffer *y) {
  bool lower = sw_op_int(op, SW_ATTR_LOWER, 1) != 0;
  int64_t n = a->dims[a->rank - 1];
  for (int64_t e = 0; e < sw_buffer_elements(y); e++) {
    int64_t first = e / (n * n) * n * n, r = e % (n * n) / n, c = e % n, i = lower ? r : c, j = lower ? c : r;
    store(y, e, j > i ? 0 : factor_at(a, first, n, lower, i, j));
  }
}

/* The matrix as an operator from the left on columns: op(a), or its transpose when it stands at the right. */
typedef struct acting {
  const sw_buffer *a;
  int64_t first, n;
  bool transposed, lower, unit;
} acting;

static double entry(const acting *m, int64_t i, int64_t j) {
  int64_t r = m->transposed ? j : i, c = m->transposed ? i : j;
  if (r == c && m->unit) return 1;
  if (m->lower ? c > r : r > c) return 0;
  return load(m->a, m->first + r * m->n + c);
}

/* Unknown i of a triangular system, from those on which it depends. */
static double unknown(const acting *m, const double *b, int64_t i) {
  double sum = b[i];
  for (int64_t j = 0; j < m->n; j++) {
    if (j != i && entry(m, i, j) != 0) sum -= entry(m, i, j) * unknown(m, b, j);
  }
  return sum / entry(m, i, i);
}

static void triangular_solve(const sw_op *op, const sw_buffer *a, const sw_buffer *x, sw_buffer *y) {
  bool left = sw_op_int(op, SW_ATTR_LEFT_SIDE, 1) != 0, turned = *sw_op_text(op, SW_ATTR_TRANSPOSE_A, "none") != 'n';
  int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1], n = left ? rows : columns;
  acting m = {a,
              0,
              n,
              left ? turned : !turned,
              sw_op_int(op, SW_ATTR_LOWER, 1) != 0,
              sw_op_int(op, SW_ATTR_UNIT_DIAGONAL, 0) != 0};
  for (int64_t e = 0; e < sw_buffer_elements(y); e++) {
    double b[16];
    int64_t matrix = e / (rows * columns), r = e % (rows * columns) / columns, c = e % columns;
    m.first = matrix * n * n;
    for (int64_t k = 0; k < n; k++)
      b[k] = load(x, matrix * rows * columns + (left ? k * columns + c : r * columns + k));
    store(y, e, unknown(&m, b, left ? r : c));
  }
}

static bool next(int rank, const int64_t *dims, int64_t *at) {
  for (int i = rank - 1; i >= 0; i--) {
    if (++at[i] < dims[i]) return true;
    at[i] = 0;
  }
  return false;
}

static bool selects(const char *word, double kept, double other) {
  if (strcmp(word, "ge") == 0) return kept >= other;
  if (strcmp(word, "gt") == 0) return kept > other;
  return strcmp(word, "le") == 0 ? kept <= other : kept < other;
}

/* Element of x that the window chooses; -1: none. */
static int64_t chosen(const sw_op *op, const sw_buffer *x, const int64_t *window_at) {
  int n;
  const int64_t *window = sw_op_ints(op, SW_ATTR_WINDOW, &n), *stride = sw_op_ints(op, SW_ATTR_STRIDES, &n),
                *low = sw_op_ints(op, SW_ATTR_PAD_LOW, &n);
  int64_t at[SW_MAX_RANK] = {0}, kept = -1;
  do {
    int64_t e = 0;
    bool inside = true;
    for (int i = 0; i < x->rank; i++) {
      int64_t k = window_at[i] * stride[i] - low[i] + at[i];
      inside = inside && k >= 0 && k < x->dims[i];
      e = e * x->dims[i] + k;
    }
    if (!inside) continue;
    if (kept < 0 || !selects(sw_op_text(op, SW_ATTR_SELECT_BY, ""), load(x, kept), load(x, e))) kept = e;
  } while (next(x->rank, window, at));
  return kept;
}

static void select_and_scatter(const sw_op *op, const sw_buffer *const *in, sw_buffer *y) {
  sw_reduction kind = SW_REDUCE_SUM;
  (void)sw_reduction_parse(sw_op_text(op, SW_ATTR_KIND, "sum"), &kind);
  sw_dtype wide = sw_dtype_class_of(y->dtype) == SW_CLASS_FLOAT ? SW_F64 : y->dtype;
  for (int64_t e = 0; e < sw_buffer_elements(y); e++) {
    sw_scalar v = sw_scalar_load(y->dtype, in[2]->data);
    int64_t at[SW_MAX_RANK] = {0};
    for (int64_t s = 0; s < sw_buffer_elements(in[1]); s++, next(in[1]->rank, in[1]->dims, at)) {
      if (chosen(op, in[0], at) != e) continue;
      const char *from = (const char *)in[1]->data + s * sw_dtype_bytes(y->dtype);
      v = sw_reduction_combine(kind, wide, v, sw_scalar_load(y->dtype, from));
    }
    sw_scalar_store(y->dtype, v, (char *)y->data + e * sw_dtype_bytes(y->dtype));
  }
}

/* --- fft ---------------------------------------------------------------------------------------------------------- */

typedef struct spectrum {
  const sw_buffer *x;
  bool half; /* of the last dim only the first elements are there, the others are conjugates */
  int rank, first;
  const int64_t *length;
} spectrum;

/* The input at an index of the full shape. */
static sw_scalar input_at(const spectrum *s, const int64_t *index) {
  int64_t at[SW_MAX_RANK], e = 0, last = s->rank - 1;
  memcpy(at, index, sizeof at);
  bool mirrored = s->half && at[last] >= s->x->dims[last];
  for (int i = s->first; mirrored && i < s->rank; i++) {
    int64_t n = s->length[i - s->first];
    at[i] = (n - at[i]) % n;
  }
  for (int i = 0; i < s->rank; i++) e = e * s->x->dims[i] + at[i];
  sw_scalar v = sw_scalar_load(s->x->dtype, (const char *)s->x->data + e * sw_dtype_bytes(s->x->dtype));
  if (mirrored) v.im = -v.im;
  /* what must be real for a real result is taken as real */
  if (s->half && s->rank - s->first == 1 && (at[last] == 0 || 2 * at[last] == s->length[0])) v.im = 0;
  return v;
}

static sw_scalar transformed_at(const spectrum *s, const int64_t *to, double sign) {
  int64_t from[SW_MAX_RANK] = {0}, dims[SW_MAX_RANK], n = s->rank - s->first;
  sw_scalar sum = {0};
  memcpy(from, to, sizeof from);
  for (int i = s->first; i < s->rank; i++) from[i] = 0;
  memcpy(dims + s->first, s->length, (size_t)n * sizeof *dims);
  do {
    double turn = 0;
    for (int i = s->first; i < s->rank; i++) turn += (double)(to[i] * from[i] % dims[i]) / (double)dims[i];
    sw_scalar v = input_at(s, from);
    double c = cos(2 * acos(-1.0) * turn), si = sign * sin(2 * acos(-1.0) * turn);
    sum.re += v.re * c - v.im * si;
    sum.im += v.re * si + v.im * c;
  } while (next((int)n, dims + s->first, from + s->first));
  for (int i = s->first; sign > 0 && i < s->rank; i++) {
    sum.re /= (double)dims[i];
    sum.im /= (double)dims[i];
  }
  return sum;
}

static void fft(const sw_op *op, const sw_buffer *x, sw_buffer *y) {
  const char *kind = sw_op_text(op, SW_ATTR_FFT_TYPE, "");
  int n;
  spectrum s = {.x = x, .half = strcmp(kind, "irfft") == 0, .rank = x->rank};
  s.length = sw_op_ints(op, SW_ATTR_FFT_LENGTH, &n);
  s.first = x->rank - n;
  int64_t at[SW_MAX_RANK] = {0};
  for (int64_t e = 0; e < sw_buffer_elements(y); e++, next(y->rank, y->dims, at)) {
    sw_scalar v = transformed_at(&s, at, strchr(kind, 'i') ? 1 : -1);
    sw_scalar_store(y->dtype, v, (char *)y->data + e * sw_dtype_bytes(y->dtype));
  }
}

bool reference_more(const sw_op *op, const sw_buffer *const *in, sw_buffer *const *out) {
  if (op->code == SW_OP_FFT) return fft(op, in[0], out[0]), true;
  if (op->code == SW_OP_CHOLESKY) return cholesky(op, in[0], out[0]), true;
  if (op->code == SW_OP_TRIANGULAR_SOLVE) return triangular_solve(op, in[0], in[1], out[0]), true;
  if (op->code == SW_OP_SELECT_AND_SCATTER) return select_and_scatter(op, in, out[0]), true;
  return false;
}
