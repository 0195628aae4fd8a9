/* Unary elementwise kernels: a loop per op and native dtype, looked up in one table; smaller floats by way of f32,
 * smaller integers as those of 8 bits.
 *
 *   sign(-0.0) = -0.0   sign(NaN) = NaN   abs(i8 -128) = -128   count_leading_zeros(u16 1) = 15
 */
#include <math.h>
#include <tgmath.h>

#include "exec/kernels/elementwise.h"
#include "exec/kernels/native.h"
#include "exec/kernels/special.h"
#include "base/checked.h"
#include "collective/scalar.h"

#define LOOP(op, id, T, R, expr)                               \
  static void op##_##id(const void *xs, void *ys, int64_t n) { \
    const T *x = xs;                                           \
    R *y = ys;                                                 \
    for (int64_t i = 0; i < n; i++) {                          \
      T a = x[i];                                              \
      y[i] = (R)(expr);                                        \
    }                                                          \
  }

/* tanh in f32 by way of exp in f64, which is faster than the library's and rounds as well: (e-1)/(e+1) with e = exp(2x)
 * loses at most log2(1/x) of f64's extra 29 bits, and below 2^-12 x itself is the nearest f32. */
static inline float tanh_f32(float a) {
  double e = exp(2.0 * (double)(a > 10 ? 10 : a < -10 ? -10 : a));
  return fabs(a) < 0x1p-12F || a != a ? a : (float)((e - 1) / (e + 1));
}
static inline double tanh_f64(double a) { return tanh(a); }
#define tanh_of(a) _Generic((a), float : tanh_f32, double : tanh_f64)(a)

/* X(op, expression in `a` of type T) */
#define FLOAT_OPS(X, T)                        \
  X(ABS, T, fabs(a))                           \
  X(REAL, T, a)                                \
  X(IMAG, T, (T)((void)a, 0))                  \
  X(NEGATE, T, -a)                             \
  X(EXP, T, exp(a))                            \
  X(EXPM1, T, expm1(a))                        \
  X(LOG, T, log(a))                            \
  X(LOG1P, T, log1p(a))                        \
  X(SQRT, T, sqrt(a))                          \
  X(RSQRT, T, (T)1 / sqrt(a))                  \
  X(CBRT, T, cbrt(a))                          \
  X(TANH, T, tanh_of(a))                       \
  X(LOGISTIC, T, (T)1 / ((T)1 + exp(-a)))      \
  X(SIN, T, sin(a))                            \
  X(COS, T, cos(a))                            \
  X(TAN, T, tan(a))                            \
  X(ASIN, T, asin(a))                          \
  X(ACOS, T, acos(a))                          \
  X(ATAN, T, atan(a))                          \
  X(SINH, T, sinh(a))                          \
  X(COSH, T, cosh(a))                          \
  X(ASINH, T, asinh(a))                        \
  X(ACOSH, T, acosh(a))                        \
  X(ATANH, T, atanh(a))                        \
  X(ERF, T, erf(a))                            \
  X(ERFC, T, erfc(a))                          \
  X(ERF_INV, T, sw_erf_inv((double)a))         \
  X(LGAMMA, T, sw_lgamma((double)a))           \
  X(DIGAMMA, T, sw_digamma((double)a))         \
  X(BESSEL_I1E, T, sw_bessel_i1e((double)a))   \
  X(SIGN, T, a > 0 ? (T)1 : a < 0 ? (T)-1 : a) \
  X(FLOOR, T, floor(a))                        \
  X(CEIL, T, ceil(a))                          \
  X(ROUND_EVEN, T, rint(a))                    \
  X(ROUND_AFZ, T, round(a))
#define FLOAT_F32(op, T, expr) LOOP(op, F32, T, T, expr)
#define FLOAT_F64(op, T, expr) LOOP(op, F64, T, T, expr)
FLOAT_OPS(FLOAT_F32, float)
FLOAT_OPS(FLOAT_F64, double)
LOOP(IS_FINITE, F32, float, uint8_t, isfinite(a))
LOOP(IS_FINITE, F64, double, uint8_t, isfinite(a))

/* Negation and complement in an unsigned type: wraps without being undefined. */
#define ANY_INT(id, T, U, W)                                   \
  LOOP(NEGATE, id, T, T, (W)0 - (W)a)                          \
  LOOP(NOT, id, T, T, ~(W)a)                                   \
  LOOP(POPCNT, id, T, T, __builtin_popcountll((uint64_t)(U)a)) \
  LOOP(CLZ, id, T, T, a == 0 ? (int)sizeof(T) * 8 : __builtin_clzll((uint64_t)(U)a) - 64 + (int)sizeof(T) * 8)
#define SIGNED_INT(id, T, U, W)                     \
  LOOP(ABS, id, T, T, a < 0 ? (T)((W)0 - (W)a) : a) \
  LOOP(SIGN, id, T, T, (a > 0) - (a < 0))
#define UNSIGNED_INT(id, T, U, W) \
  LOOP(ABS, id, T, T, a)          \
  LOOP(SIGN, id, T, T, a != 0)
SW_NATIVE_INTS(ANY_INT)
SW_NATIVE_SIGNED(SIGNED_INT)
SW_NATIVE_UNSIGNED(UNSIGNED_INT)
LOOP(NOT, BOOL, uint8_t, uint8_t, a == 0)

#define ROW_F32(op, T, expr) [SW_OP_##op][SW_F32] = op##_F32,
#define ROW_F64(op, T, expr) [SW_OP_##op][SW_F64] = op##_F64,
#define ROW_INT(id, T, U, W)                                                                               \
  [SW_OP_NEGATE][SW_##id] = NEGATE_##id, [SW_OP_NOT][SW_##id] = NOT_##id, [SW_OP_ABS][SW_##id] = ABS_##id, \
  [SW_OP_SIGN][SW_##id] = SIGN_##id, [SW_OP_POPCNT][SW_##id] = POPCNT_##id, [SW_OP_CLZ][SW_##id] = CLZ_##id,
static const sw_unary_function kLoops[SW_OP_COUNT][SW_DTYPE_COUNT] = {
    FLOAT_OPS(ROW_F32, float) FLOAT_OPS(ROW_F64, double) SW_NATIVE_INTS(ROW_INT)[SW_OP_IS_FINITE][SW_F32] =
        IS_FINITE_F32,
    [SW_OP_IS_FINITE][SW_F64] = IS_FINITE_F64, [SW_OP_NOT][SW_BOOL] = NOT_BOOL};

sw_unary_function sw_unary_function_of(sw_opcode code, sw_dtype t) {
  return sw_dtype_class_of(t) == SW_CLASS_COMPLEX ? sw_complex_unary_of(code, t) : kLoops[code][t];
}

/* x is a narrow float: widen, compute in f32, narrow again unless the result is bool. */
static void run_narrow_unary(sw_unary_function loop, const sw_buffer *x, sw_buffer *y, int64_t n) {
  int64_t x_bytes = sw_dtype_bytes(x->dtype), y_bytes = sw_dtype_bytes(y->dtype);
  for (int64_t i = 0; i < n; i += SW_CHUNK) {
    int64_t m = sw_min_i64(SW_CHUNK, n - i);
    float wide[SW_CHUNK];
    char *to = (char *)y->data + i * y_bytes;
    sw_convert(x->dtype, (const char *)x->data + i * x_bytes, SW_F32, wide, m);
    if (y->dtype == SW_BOOL) {
      loop(wide, to, m);
    } else {
      loop(wide, wide, m);
      sw_convert(SW_F32, wide, y->dtype, to, m);
    }
  }
}

/* x is an integer of fewer than 8 bits: as one of 8. What asks of bits sees zeros in front. */
static sw_rc run_narrow_int_unary(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[0];
  sw_opcode code = c->op->code;
  int bits = sw_dtype_bits(x->dtype);
  bool by_bits = code == SW_OP_POPCNT || code == SW_OP_CLZ;
  sw_unary_function loop = sw_unary_function_of(code, by_bits ? SW_U8 : sw_dtype_container(x->dtype));
  if (!loop) return sw_kernel_no_dtype(c, x->dtype, d);
  uint8_t *y = c->out[0]->data;
  const uint8_t *at = x->data;
  int64_t n = sw_buffer_elements(c->out[0]);
  for (int64_t i = 0; i < n; i++) y[i] = (uint8_t)(by_bits ? at[i] & ((1 << bits) - 1) : at[i]);
  loop(y, y, n);
  for (int64_t i = 0; code == SW_OP_CLZ && i < n; i++) y[i] = (uint8_t)(y[i] - (8 - bits));
  sw_wrap_elements(c->out[0]->dtype, y, n);
  return SW_OK;
}

sw_rc sw_kernel_unary(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[0];
  if (sw_is_narrow_int(x->dtype)) return run_narrow_int_unary(c, d);
  bool narrow = sw_is_narrow_float(x->dtype);
  sw_unary_function loop = sw_unary_function_of(c->op->code, narrow ? SW_F32 : x->dtype);
  if (!loop) return sw_kernel_no_dtype(c, x->dtype, d);
  int64_t n = sw_buffer_elements(c->out[0]);
  if (narrow) {
    run_narrow_unary(loop, x, c->out[0], n);
  } else {
    loop(x->data, c->out[0]->data, n);
  }
  return SW_OK;
}

sw_rc sw_kernel_convert(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[0];
  sw_buffer *y = c->out[0];
  if (sw_dtype_class_of(x->dtype) == SW_CLASS_COMPLEX || sw_dtype_class_of(y->dtype) == SW_CLASS_COMPLEX) {
    sw_convert_elements(y->dtype, y->data, x->dtype, x->data, (size_t)sw_buffer_elements(y));
    return SW_OK;
  }
  if (!sw_convertible(x->dtype)) return sw_kernel_no_dtype(c, x->dtype, d);
  if (!sw_convertible(y->dtype)) return sw_kernel_no_dtype(c, y->dtype, d);
  sw_convert(x->dtype, x->data, y->dtype, y->data, sw_buffer_elements(y));
  return SW_OK;
}

/* --- reduce_precision --------------------------------------------------------------------------------------------- */

/* The nearest number with so many bits (ties to even); beyond the largest it is infinite, below the least normal one
 * 0. NaN without a bit of its own is infinite, too. */
static double with_precision(double v, int exponent_bits, int mantissa_bits) {
  if (isnan(v) && !mantissa_bits) return copysign(INFINITY, v);
  if (v != v || isinf(v) || v == 0) return v;
  int exponent, most = exponent_bits > 11 ? 1023 : (1 << (exponent_bits - 1)) - 1;
  double digits = frexp(v, &exponent);
  if (mantissa_bits < 52) digits = ldexp(rint(ldexp(digits, mantissa_bits + 1)), -mantissa_bits - 1);
  if (fabs(digits) == 1) digits /= 2, exponent++;
  if (exponent - 1 > most) return copysign(INFINITY, v);
  return exponent - 1 < 1 - most ? copysign(0.0, v) : ldexp(digits, exponent);
}

sw_rc sw_kernel_reduce_precision(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[0];
  sw_buffer *y = c->out[0];
  if (!sw_convertible(x->dtype)) return sw_kernel_no_dtype(c, x->dtype, d);
  int exponent = (int)sw_min_i64(sw_op_int(c->op, SW_ATTR_EXPONENT_BITS, 11), 11);
  int mantissa = (int)sw_min_i64(sw_op_int(c->op, SW_ATTR_MANTISSA_BITS, 52), 52);
  int64_t n = sw_buffer_elements(y), bytes = sw_dtype_bytes(x->dtype);
  for (int64_t i = 0; i < n; i += SW_CHUNK) {
    int64_t m = sw_min_i64(SW_CHUNK, n - i);
    double v[SW_CHUNK];
    sw_convert(x->dtype, (const char *)x->data + i * bytes, SW_F64, v, m);
    for (int64_t k = 0; k < m; k++) v[k] = with_precision(v[k], exponent, mantissa);
    sw_convert(SW_F64, v, y->dtype, (char *)y->data + i * bytes, m);
  }
  return SW_OK;
}
