/* fft: one dimension after another, each line by splitting off its smallest prime factor, in complex f64.
 *
 *   n = p * m: p transforms of length m over every p-th element, then m butterflies of p terms
 */
#include <math.h>
#include <string.h>

#include "exec/kernels/complex.h"
#include "exec/kernels/op_kernel.h"
#include "collective/scalar.h"

typedef double complex number;

static int64_t smallest_prime_factor(int64_t n) {
  for (int64_t p = 2; p * p <= n; p++) {
    if (n % p == 0) return p;
  }
  return n;
}

static number root(int64_t k, int64_t n, int sign) {
  double angle = sign * 2 * acos(-1.0) * (double)k / (double)n;
  return sw_complex_of(cos(angle), sin(angle));
}

/* y[k] = sum of x[j * step] * root(j * k); `spare` has room for n and is used up. Depth: the number of prime
 * factors. */
static void transform(const number *x, int64_t step, int64_t n, int sign, number *y, number *spare) {
  if (n == 1) {
    y[0] = x[0];
    return;
  }
  int64_t p = smallest_prime_factor(n), m = n / p;
  for (int64_t i = 0; i < p; i++) transform(x + i * step, step * p, m, sign, spare + i * m, y + i * m);
  for (int64_t k = 0; k < n; k++) {
    number sum = 0;
    for (int64_t i = 0; i < p; i++) sum += spare[i * m + k % m] * root(i * k % n, n, sign);
    y[k] = sum;
  }
}

typedef struct field {
  number *at;
  int rank;
  int64_t dims[SW_MAX_RANK];
} field;

/* All lines along a dim, in place. `line` has room for three of them. */
static void transform_dim(field *f, int dim, int sign, number *line) {
  int64_t n = f->dims[dim], inner = 1, outer = 1;
  for (int i = dim + 1; i < f->rank; i++) inner *= f->dims[i];
  for (int i = 0; i < dim; i++) outer *= f->dims[i];
  number *y = line + n, *spare = line + 2 * n;
  for (int64_t l = 0; n > 0 && l < outer * inner; l++) {
    number *x = f->at + l / inner * n * inner + l % inner;
    for (int64_t i = 0; i < n; i++) line[i] = x[i * inner];
    transform(line, 1, n, sign, y, spare);
    for (int64_t i = 0; i < n; i++) x[i * inner] = sign > 0 ? y[i] / (double)n : y[i];
  }
}

static void load_field(field *f, const sw_buffer *x) {
  int64_t bytes = sw_dtype_bytes(x->dtype);
  for (int64_t i = 0; i < sw_buffer_elements(x); i++) {
    sw_scalar v = sw_scalar_load(x->dtype, (const char *)x->data + i * bytes);
    f->at[i] = sw_complex_of(v.re, v.im);
  }
}

/* Of every row its first elements. */
static void store(const field *f, sw_buffer *y) {
  int64_t n = f->dims[f->rank - 1], want = y->dims[y->rank - 1], rows = want ? sw_buffer_elements(y) / want : 0;
  for (int64_t i = 0; i < rows * want; i++) {
    number v = f->at[i / want * n + i % want];
    sw_scalar_store(y->dtype, (sw_scalar){.re = creal(v), .im = cimag(v)},
                    (char *)y->data + i * sw_dtype_bytes(y->dtype));
  }
}

/* The half spectrum of a real result is completed only when the other dims are done: it is symmetric in all of them. */
static void inverse_of_half(field *f, field *half, int first, number *line) {
  for (int i = first; i < half->rank - 1; i++) transform_dim(half, i, 1, line);
  int last = f->rank - 1;
  int64_t n = f->dims[last], have = half->dims[last], rows = 1;
  for (int i = 0; i < last; i++) rows *= f->dims[i];
  for (int64_t r = 0; r < rows; r++) {
    number *to = f->at + r * n;
    for (int64_t i = 0; i < n; i++) to[i] = i < have ? half->at[r * have + i] : conj(to[n - i]);
    if (n > 0) to[0] = creal(to[0]);
    if (n > 0 && n % 2 == 0) to[n / 2] = creal(to[n / 2]);
  }
  transform_dim(f, last, 1, line);
}

static sw_rc field_init(field *f, const sw_buffer *b, sw_arena *arena, sw_diag *d) {
  f->rank = b->rank;
  memcpy(f->dims, b->dims, sizeof f->dims);
  SW_ARENA_NEW(f->at, arena, sw_buffer_elements(b), d);
  return SW_OK;
}

sw_rc sw_kernel_fft(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[0];
  sw_buffer *y = c->out[0];
  const char *kind = sw_op_text(c->op, SW_ATTR_FFT_TYPE, "fft");
  int n_dims, sign = strcmp(kind, "fft") == 0 || strcmp(kind, "rfft") == 0 ? -1 : 1;
  bool half = strcmp(kind, "irfft") == 0;
  (void)sw_op_ints(c->op, SW_ATTR_FFT_LENGTH, &n_dims);
  int64_t longest = 1;
  for (int i = 0; i < x->rank; i++) longest = x->dims[i] > longest ? x->dims[i] : longest;
  for (int i = 0; i < y->rank; i++) longest = y->dims[i] > longest ? y->dims[i] : longest;
  number *line;
  field f, result;
  SW_ARENA_NEW(line, c->scratch, 3 * longest, d);
  SW_TRY(field_init(&f, x, c->scratch, d));
  load_field(&f, x);
  if (half) {
    SW_TRY(field_init(&result, y, c->scratch, d));
    inverse_of_half(&result, &f, x->rank - n_dims, line);
    store(&result, y);
    return SW_OK;
  }
  for (int i = x->rank - n_dims; i < x->rank; i++) transform_dim(&f, i, sign, line);
  store(&f, y);
  return SW_OK;
}
