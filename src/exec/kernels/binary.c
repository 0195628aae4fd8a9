/* Binary elementwise kernels: a loop per op and native dtype, looked up in one table; smaller floats by way of f32,
 * smaller integers as those of 8 bits.
 *
 *   7 / 0 = -1 (all ones)   7 % 0 = 7   i8 -128 / -1 = -128   1 << 40 = 0 (i32)   max(NaN, 1) = NaN   max(-0, 0) = 0
 */
#include <math.h>
#include <string.h>
#include <tgmath.h>

#include "exec/kernels/elementwise.h"
#include "exec/kernels/native.h"
#include "exec/kernels/special.h"
#include "base/checked.h"

#define LOOP(op, id, T, expr)                                                  \
  static void op##_##id(const void *as, const void *bs, void *ys, int64_t n) { \
    const T *as_ = as, *bs_ = bs;                                              \
    T *y = ys;                                                                 \
    for (int64_t i = 0; i < n; i++) {                                          \
      T a = as_[i], b = bs_[i];                                                \
      y[i] = (T)(expr);                                                        \
    }                                                                          \
  }

/* maximum and minimum of IEEE 754-2019: NaN wins, and -0 is below 0. Equal numbers have equal bits but for the sign of
 * zero, so and-ing or or-ing the bits picks the right zero. */
#define EXTREMES(id, T, U)                                                                                  \
  static inline T either_##id(T a, T b, bool both_bits) {                                                   \
    union {                                                                                                 \
      T f;                                                                                                  \
      U u;                                                                                                  \
    } x = {a}, y = {b};                                                                                     \
    x.u = both_bits ? (U)(x.u & y.u) : (U)(x.u | y.u);                                                      \
    return x.f;                                                                                             \
  }                                                                                                         \
  static inline T max_##id(T a, T b) { return a > b || a != a ? a : a == b ? either_##id(a, b, true) : b; } \
  static inline T min_##id(T a, T b) { return a < b || a != a ? a : a == b ? either_##id(a, b, false) : b; }
EXTREMES(F32, float, uint32_t)
EXTREMES(F64, double, uint64_t)

#define FLOAT_OPS(X, id, T)                     \
  X(ADD, id, T, a + b)                          \
  X(SUBTRACT, id, T, a - b)                     \
  X(MULTIPLY, id, T, a *b)                      \
  X(DIVIDE, id, T, a / b)                       \
  X(REMAINDER, id, T, fmod(a, b))               \
  X(MAXIMUM, id, T, max_##id(a, b))             \
  X(MINIMUM, id, T, min_##id(a, b))             \
  X(POWER, id, T, pow(a, b))                    \
  X(ATAN2, id, T, atan2(a, b))                  \
  X(HYPOT, id, T, hypot(a, b))                  \
  X(ZETA, id, T, sw_zeta((double)a, (double)b)) \
  X(POLYGAMMA, id, T, sw_polygamma((double)a, (double)b))
FLOAT_OPS(LOOP, F32, float)
FLOAT_OPS(LOOP, F64, double)

/* Integer division without traps. */
#define SIGNED_DIVISION(id, T, U, W)                                                                                \
  static inline T quotient_##id(T a, T b) { return (T)(b == 0 ? (T)-1 : b == -1 ? (T)((W)0 - (W)a) : (T)(a / b)); } \
  static inline T rest_##id(T a, T b) { return (T)(b == 0 ? a : b == -1 ? 0 : a % b); }
#define UNSIGNED_DIVISION(id, T, U, W)                                                \
  static inline T quotient_##id(T a, T b) { return (T)(b == 0 ? (T) ~(W)0 : a / b); } \
  static inline T rest_##id(T a, T b) { return (T)(b == 0 ? a : a % b); }
SW_NATIVE_SIGNED(SIGNED_DIVISION)
SW_NATIVE_UNSIGNED(UNSIGNED_DIVISION)

/* base^exponent modulo 2^64, by squaring. */
static uint64_t power_of(uint64_t base, uint64_t exponent) {
  uint64_t r = 1;
  for (; exponent; exponent >>= 1, base *= base) {
    if (exponent & 1) r *= base;
  }
  return r;
}
/* 1/base^n rounded towards zero when the exponent is negative: only 1 and -1 are not 0. */
static int64_t signed_power(int64_t base, int64_t exponent) {
  if (exponent >= 0) return (int64_t)power_of((uint64_t)base, (uint64_t)exponent);
  return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
}

#define BITS(T) (sizeof(T) * 8)
#define INT_OPS(X, id, T, U, W)                                                    \
  X(ADD, id, T, (W)a + (W)b)                                                       \
  X(SUBTRACT, id, T, (W)a - (W)b)                                                  \
  X(MULTIPLY, id, T, (W)a *(W)b)                                                   \
  X(DIVIDE, id, T, quotient_##id(a, b))                                            \
  X(REMAINDER, id, T, rest_##id(a, b))                                             \
  X(MAXIMUM, id, T, a > b ? a : b)                                                 \
  X(MINIMUM, id, T, a < b ? a : b)                                                 \
  X(AND, id, T, a &b)                                                              \
  X(OR, id, T, a | b)                                                              \
  X(XOR, id, T, a ^ b)                                                             \
  X(SHIFT_LEFT, id, T, (U)b >= BITS(T) ? (W)0 : (W)(U)a << ((U)b & (BITS(T) - 1))) \
  X(SHIFT_RIGHT_LOGICAL, id, T, (U)b >= BITS(T) ? (U)0 : (U)((U)a >> ((U)b & (BITS(T) - 1))))
#define SIGNED_OPS(X, id, T, U, W)    \
  X(POWER, id, T, signed_power(a, b)) \
  X(SHIFT_RIGHT_ARITHMETIC, id, T, a >> ((U)b >= BITS(T) ? BITS(T) - 1 : (U)b))
/* The arithmetic shift of an unsigned type copies its top bit too. */
#define UNSIGNED_OPS(X, id, T, S) \
  X(POWER, id, T, power_of(a, b)) \
  X(SHIFT_RIGHT_ARITHMETIC, id, T, (S)a >> (b >= BITS(T) ? BITS(T) - 1 : b))
#define INT_LOOPS(id, T, U, W) INT_OPS(LOOP, id, T, U, W)
#define SIGNED_LOOPS(id, T, U, W) SIGNED_OPS(LOOP, id, T, U, W)
SW_NATIVE_INTS(INT_LOOPS)
SW_NATIVE_SIGNED(SIGNED_LOOPS)
UNSIGNED_OPS(LOOP, U8, uint8_t, int8_t)
UNSIGNED_OPS(LOOP, U16, uint16_t, int16_t)
UNSIGNED_OPS(LOOP, U32, uint32_t, int32_t)
UNSIGNED_OPS(LOOP, U64, uint64_t, int64_t)

/* On bool a sum is `or` and a product `and`. */
#define BOOL_OPS(X)                            \
  X(ADD, BOOL, uint8_t, a != 0 || b != 0)      \
  X(MULTIPLY, BOOL, uint8_t, a != 0 && b != 0) \
  X(MAXIMUM, BOOL, uint8_t, a != 0 || b != 0)  \
  X(MINIMUM, BOOL, uint8_t, a != 0 && b != 0)  \
  X(AND, BOOL, uint8_t, a != 0 && b != 0)      \
  X(OR, BOOL, uint8_t, a != 0 || b != 0)       \
  X(XOR, BOOL, uint8_t, (a != 0) != (b != 0))
BOOL_OPS(LOOP)

#define ROW(op, id, T, expr) [SW_OP_##op][SW_##id] = op##_##id,
#define INT_ROWS(id, T, U, W) INT_OPS(ROW, id, T, U, W)
#define SIGNED_ROWS(id, T, U, W) SIGNED_OPS(ROW, id, T, U, W)
#define UNSIGNED_ROWS(id, T, U, W) UNSIGNED_OPS(ROW, id, T, U)
static const sw_binary_function kLoops[SW_OP_COUNT][SW_DTYPE_COUNT] = {
    FLOAT_OPS(ROW, F32, float) FLOAT_OPS(ROW, F64, double) SW_NATIVE_INTS(INT_ROWS) SW_NATIVE_SIGNED(SIGNED_ROWS)
        SW_NATIVE_UNSIGNED(UNSIGNED_ROWS) BOOL_OPS(ROW)};

sw_binary_function sw_binary_function_of(sw_opcode code, sw_dtype t) {
  return sw_dtype_class_of(t) == SW_CLASS_COMPLEX ? sw_complex_binary_of(code, t) : kLoops[code][t];
}

/* The logical kinds ask of numbers too whether they are 0. */
#define LOGICAL_OPS(X, id, T)                       \
  X(LOGICAL_AND, id, T, (a != 0 && b != 0) ? 1 : 0) \
  X(LOGICAL_OR, id, T, (a != 0 || b != 0) ? 1 : 0)
LOGICAL_OPS(LOOP, F32, float)
LOGICAL_OPS(LOOP, F64, double)
LOGICAL_OPS(LOOP, I64, int64_t)
LOGICAL_OPS(LOOP, U64, uint64_t)

#define WIDE_ROW(op) \
  { [SW_F32] = op##_F32, [SW_F64] = op##_F64, [SW_I64] = op##_I64, [SW_U64] = op##_U64 }
#define BIT_ROW(op) \
  { [SW_I64] = op##_I64, [SW_U64] = op##_U64 }
static const sw_binary_function kReductions[SW_REDUCTION_COUNT][SW_DTYPE_COUNT] = {
    [SW_REDUCE_SUM] = WIDE_ROW(ADD),         [SW_REDUCE_PRODUCT] = WIDE_ROW(MULTIPLY),
    [SW_REDUCE_MIN] = WIDE_ROW(MINIMUM),     [SW_REDUCE_MAX] = WIDE_ROW(MAXIMUM),
    [SW_REDUCE_AND] = WIDE_ROW(LOGICAL_AND), [SW_REDUCE_OR] = WIDE_ROW(LOGICAL_OR),
    [SW_REDUCE_BIT_AND] = BIT_ROW(AND),      [SW_REDUCE_BIT_OR] = BIT_ROW(OR),
    [SW_REDUCE_BIT_XOR] = BIT_ROW(XOR)};

sw_binary_function sw_reduction_loop_of(sw_reduction r, sw_dtype wide) { return kReductions[r][wide]; }

static void run_narrow(sw_binary_function loop, const sw_kernel_call *c, int64_t n) {
  const sw_buffer *a = c->in[0], *b = c->in[1];
  int64_t bytes = sw_dtype_bytes(a->dtype);
  for (int64_t i = 0; i < n; i += SW_CHUNK) {
    int64_t m = sw_min_i64(SW_CHUNK, n - i);
    float x[SW_CHUNK], y[SW_CHUNK];
    sw_convert(a->dtype, (const char *)a->data + i * bytes, SW_F32, x, m);
    sw_convert(b->dtype, (const char *)b->data + i * bytes, SW_F32, y, m);
    loop(x, y, x, m);
    sw_convert(SW_F32, x, a->dtype, (char *)c->out[0]->data + i * bytes, m);
  }
}

/* Integers of fewer than 8 bits: a shift to the right reads the bits in front, so they are zeros or the sign as it
 * asks, whatever the type. */
static sw_rc run_narrow_int(const sw_kernel_call *c, sw_diag *d) {
  sw_dtype t = c->in[0]->dtype, as = sw_dtype_container(t);
  if (c->op->code == SW_OP_SHIFT_RIGHT_LOGICAL) as = SW_U8;
  if (c->op->code == SW_OP_SHIFT_RIGHT_ARITHMETIC) as = SW_I8;
  sw_dtype seen = sw_dtype_bits(t) == 2 ? (as == SW_U8 ? SW_U2 : SW_I2) : as == SW_U8 ? SW_U4 : SW_I4;
  sw_binary_function loop = sw_binary_function_of(c->op->code, as);
  if (!loop) return sw_kernel_no_dtype(c, t, d);
  const char *a = c->in[0]->data, *b = c->in[1]->data;
  char *y = c->out[0]->data;
  for (int64_t i = 0, m, n = sw_buffer_elements(c->out[0]); i < n; i += m) {
    uint8_t left[SW_CHUNK], right[SW_CHUNK];
    m = sw_min_i64(SW_CHUNK, n - i);
    memcpy(left, a + i, (size_t)m);
    memcpy(right, b + i, (size_t)m);
    sw_wrap_elements(seen, left, m);
    sw_wrap_elements(seen, right, m);
    loop(left, right, y + i, m);
    sw_wrap_elements(t, y + i, m);
  }
  return SW_OK;
}

sw_rc sw_kernel_binary(const sw_kernel_call *c, sw_diag *d) {
  sw_dtype t = c->in[0]->dtype;
  if (sw_is_narrow_int(t)) return run_narrow_int(c, d);
  bool narrow = sw_is_narrow_float(t);
  sw_binary_function loop = sw_binary_function_of(c->op->code, narrow ? SW_F32 : t);
  if (!loop) return sw_kernel_no_dtype(c, t, d);
  int64_t n = sw_buffer_elements(c->out[0]);
  if (narrow) {
    run_narrow(loop, c, n);
  } else {
    loop(c->in[0]->data, c->in[1]->data, c->out[0]->data, n);
  }
  return SW_OK;
}
