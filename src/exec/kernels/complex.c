/* Elementwise loops of complex numbers, computed in f64 and rounded once; complex, and conversions from and to them.
 *
 *   sign(3+4i) = 0.6+0.8i   abs(3+4i) = 5
 */
#include <math.h>
#include <string.h>

#include "exec/kernels/complex.h"
#include "exec/kernels/elementwise.h"
#include "collective/scalar.h"

typedef double complex number;

static number of_expm1(number a) {
  double half = sin(cimag(a) / 2), im = cimag(a);
  return sw_complex_of(expm1(creal(a)) * cos(im) - 2 * half * half, im == 0 ? im : exp(creal(a)) * sin(im));
}
/* |1 + a|^2 - 1 is exact enough only where it is small. */
static number of_log1p(number a) {
  double re = creal(a), im = cimag(a), over = re * (2 + re) + im * im;
  bool small = over > -0.5 && over < 1;
  return sw_complex_of(small ? log1p(over) / 2 : log(hypot(1 + re, im)), atan2(im, 1 + re));
}
/* -i log((x + iy) / sqrt(x^2 + y^2)) */
static number of_atan2(number y, number x) {
  number z = clog((x + sw_complex_of(-cimag(y), creal(y))) / csqrt(x * x + y * y));
  return sw_complex_of(cimag(z), -creal(z));
}
static number of_sign(number a) { return a == 0 ? 0 : a / cabs(a); }

/* X(op, expression in `a`) */
#define UNARY_OPS(X)              \
  X(NEGATE, -a)                   \
  X(EXP, cexp(a))                 \
  X(EXPM1, of_expm1(a))           \
  X(LOG, clog(a))                 \
  X(LOG1P, of_log1p(a))           \
  X(SQRT, csqrt(a))               \
  X(RSQRT, 1 / csqrt(a))          \
  X(CBRT, cpow(a, 1.0 / 3))       \
  X(TANH, ctanh(a))               \
  X(LOGISTIC, 1 / (1 + cexp(-a))) \
  X(SIN, csin(a))                 \
  X(COS, ccos(a))                 \
  X(TAN, ctan(a))                 \
  X(ASIN, casin(a))               \
  X(ACOS, cacos(a))               \
  X(ATAN, catan(a))               \
  X(SINH, csinh(a))               \
  X(COSH, ccosh(a))               \
  X(ASINH, casinh(a))             \
  X(ACOSH, cacosh(a))             \
  X(ATANH, catanh(a))             \
  X(SIGN, of_sign(a))
#define REAL_OPS(X) \
  X(ABS, cabs(a))   \
  X(REAL, creal(a)) \
  X(IMAG, cimag(a))
#define BINARY_OPS(X)  \
  X(ADD, a + b)        \
  X(SUBTRACT, a - b)   \
  X(MULTIPLY, a *b)    \
  X(DIVIDE, a / b)     \
  X(POWER, cpow(a, b)) \
  X(ATAN2, of_atan2(a, b))

#define UNARY_LOOP(op, id, T, R, expr)                         \
  static void op##_##id(const void *xs, void *ys, int64_t n) { \
    const T complex *x = xs;                                   \
    R *y = ys;                                                 \
    for (int64_t i = 0; i < n; i++) {                          \
      number a = x[i];                                         \
      y[i] = (R)(expr);                                        \
    }                                                          \
  }
#define BINARY_LOOP(op, id, T, expr)                                           \
  static void op##_##id(const void *as, const void *bs, void *ys, int64_t n) { \
    const T complex *x = as, *z = bs;                                          \
    T complex *y = ys;                                                         \
    for (int64_t i = 0; i < n; i++) {                                          \
      number a = x[i], b = z[i];                                               \
      y[i] = (T complex)(expr);                                                \
    }                                                                          \
  }
#define UNARY_BOTH(op, expr) \
  UNARY_LOOP(op, C64, float, float complex, expr) UNARY_LOOP(op, C128, double, double complex, expr)
#define REAL_BOTH(op, expr) UNARY_LOOP(op, C64, float, float, expr) UNARY_LOOP(op, C128, double, double, expr)
#define BINARY_BOTH(op, expr) BINARY_LOOP(op, C64, float, expr) BINARY_LOOP(op, C128, double, expr)
UNARY_OPS(UNARY_BOTH)
REAL_OPS(REAL_BOTH)
BINARY_OPS(BINARY_BOTH)

#define ROW(op, expr) [SW_OP_##op] = {op##_C64, op##_C128},
static const sw_unary_function kUnary[SW_OP_COUNT][2] = {UNARY_OPS(ROW) REAL_OPS(ROW)};
static const sw_binary_function kBinary[SW_OP_COUNT][2] = {BINARY_OPS(ROW)};

sw_unary_function sw_complex_unary_of(sw_opcode code, sw_dtype t) { return kUnary[code][t == SW_C128]; }
sw_binary_function sw_complex_binary_of(sw_opcode code, sw_dtype t) { return kBinary[code][t == SW_C128]; }

static void equal(const void *as, const void *bs, uint8_t *y, int64_t n, int64_t bytes, sw_dtype t, bool want) {
  for (int64_t i = 0; i < n; i++) {
    sw_scalar a = sw_scalar_load(t, (const char *)as + i * bytes), b = sw_scalar_load(t, (const char *)bs + i * bytes);
    y[i] = (a.re == b.re && a.im == b.im) == want;
  }
}
static void eq_C64(const void *a, const void *b, uint8_t *y, int64_t n) { equal(a, b, y, n, 8, SW_C64, true); }
static void ne_C64(const void *a, const void *b, uint8_t *y, int64_t n) { equal(a, b, y, n, 8, SW_C64, false); }
static void eq_C128(const void *a, const void *b, uint8_t *y, int64_t n) { equal(a, b, y, n, 16, SW_C128, true); }
static void ne_C128(const void *a, const void *b, uint8_t *y, int64_t n) { equal(a, b, y, n, 16, SW_C128, false); }

sw_compare_function sw_complex_compare_of(const char *direction, sw_dtype t) {
  if (strcmp(direction, "eq") == 0) return t == SW_C64 ? eq_C64 : eq_C128;
  if (strcmp(direction, "ne") == 0) return t == SW_C64 ? ne_C64 : ne_C128;
  return NULL; /* complex numbers have no order */
}

sw_rc sw_kernel_make_complex(const sw_kernel_call *c, sw_diag *d) {
  (void)d;
  int64_t n = sw_buffer_elements(c->out[0]), bytes = sw_dtype_bytes(c->in[0]->dtype);
  char *to = c->out[0]->data;
  for (int64_t i = 0; i < 2 * n; i++, to += bytes) {
    memcpy(to, (const char *)c->in[i % 2]->data + i / 2 * bytes, (size_t)bytes);
  }
  return SW_OK;
}
