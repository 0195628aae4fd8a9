/* Conversions between element types: one loop per pair of native types, smaller floats by way of f32, smaller integers
 * as those of 8 bits.
 *
 *   f32 -> i8   300.7 -> 127   NaN -> 0        i32 -> i8   300 -> 44        f64 -> bool   0.5 -> true
 *
 * What is rounded to a narrow float comes from f32 where that is exact (narrow floats, f32) and from f64 otherwise, so
 * that f64 and i32 are rounded once.
 */
#include "exec/kernels/native.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"

typedef void (*convert_loop)(const void *src, void *dst, int64_t n);

#define LOOP(from, F, to, T, expr)                                    \
  static void from##_to_##to(const void *src, void *dst, int64_t n) { \
    const F *x = src;                                                 \
    T *y = dst;                                                       \
    for (int64_t i = 0; i < n; i++) {                                 \
      F v = x[i];                                                     \
      y[i] = (T)(expr);                                               \
    }                                                                 \
  }
#define TO_INT(from, F, to, T, min, max) \
  LOOP(from, F, to, T, v != v ? (T)0 : v <= (F)min ? (T)min : v >= (F)max ? (T)max : (T)v)
#define FROM_FLOAT(from, F)                           \
  TO_INT(from, F, I8, int8_t, INT8_MIN, INT8_MAX)     \
  TO_INT(from, F, I16, int16_t, INT16_MIN, INT16_MAX) \
  TO_INT(from, F, I32, int32_t, INT32_MIN, INT32_MAX) \
  TO_INT(from, F, I64, int64_t, INT64_MIN, INT64_MAX) \
  TO_INT(from, F, U8, uint8_t, 0, UINT8_MAX)          \
  TO_INT(from, F, U16, uint16_t, 0, UINT16_MAX)       \
  TO_INT(from, F, U32, uint32_t, 0, UINT32_MAX)       \
  TO_INT(from, F, U64, uint64_t, 0, UINT64_MAX)       \
  LOOP(from, F, F32, float, v)                        \
  LOOP(from, F, F64, double, v)                       \
  LOOP(from, F, BOOL, uint8_t, v != 0)
#define FROM_OTHER(from, F, expr)    \
  LOOP(from, F, I8, int8_t, expr)    \
  LOOP(from, F, I16, int16_t, expr)  \
  LOOP(from, F, I32, int32_t, expr)  \
  LOOP(from, F, I64, int64_t, expr)  \
  LOOP(from, F, U8, uint8_t, expr)   \
  LOOP(from, F, U16, uint16_t, expr) \
  LOOP(from, F, U32, uint32_t, expr) \
  LOOP(from, F, U64, uint64_t, expr) \
  LOOP(from, F, F32, float, expr)    \
  LOOP(from, F, F64, double, expr)   \
  LOOP(from, F, BOOL, uint8_t, v != 0)
#define FROM_INT(id, T, U, W) FROM_OTHER(id, T, v)
#define FROM_FLOATS(id, T, U, W) FROM_FLOAT(id, T)
SW_NATIVE_INTS(FROM_INT)
SW_NATIVE_FLOATS(FROM_FLOATS)
FROM_OTHER(BOOL, uint8_t, v != 0)

#define ROW(from)                                                                                              \
  [SW_##from] = {                                                                                              \
      [SW_I8] = from##_to_I8,   [SW_I16] = from##_to_I16, [SW_I32] = from##_to_I32,  [SW_I64] = from##_to_I64, \
      [SW_U8] = from##_to_U8,   [SW_U16] = from##_to_U16, [SW_U32] = from##_to_U32,  [SW_U64] = from##_to_U64, \
      [SW_F32] = from##_to_F32, [SW_F64] = from##_to_F64, [SW_BOOL] = from##_to_BOOL},
#define NATIVE_ROW(id, T, U, W) ROW(id)
static const convert_loop kLoops[SW_DTYPE_COUNT][SW_DTYPE_COUNT] = {SW_NATIVES(NATIVE_ROW) ROW(BOOL)};

/* f16 by arithmetic on bits, without branches, so that the loops below are vectorised. A half's exponent and fraction
 * moved into a float's place are the number times 2^-112, subnormals included. */
static inline uint32_t bits_of(float f) {
  union {
    float f;
    uint32_t u;
  } v = {f};
  return v.u;
}
static inline float float_of(uint32_t u) {
  union {
    uint32_t u;
    float f;
  } v = {u};
  return v.f;
}
static inline float widen_f16(uint16_t h) {
  uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
  uint32_t beyond = magnitude >= 0x0f800000u ? 0x7f800000u : 0; /* infinity and NaN */
  return float_of(bits_of(float_of(magnitude) * 0x1p112F) | beyond | sign);
}
/* Normal results are rounded by adding just below half a unit of the last place (or half, if it is odd); subnormal ones
 * by adding 0.5, whose last place is the half's. */
static inline uint16_t narrow_f16(float f) {
  uint32_t u = bits_of(f), a = u & 0x7fffffffu;
  uint32_t normal = (a + 0xfffu + (a >> 13 & 1) - (112u << 23)) >> 13;
  uint32_t subnormal = bits_of(float_of(a) + 0.5F) - 0x3f000000u;
  uint32_t nan = 0x7e00u | (a >> 13 & 0x3ffu);
  uint32_t r = a < 0x38800000u ? subnormal : normal; /* 2^-14 */
  r = a >= 0x477ff000u ? 0x7c00u : r;                /* 65520 rounds to infinity */
  r = a > 0x7f800000u ? nan : r;
  return (uint16_t)(r | (u >> 16 & 0x8000u));
}

static void widen_to_f32(sw_dtype from, const void *src, float *dst, int64_t n) {
  const uint16_t *h = src;
  if (from == SW_BF16) {
    for (int64_t i = 0; i < n; i++) dst[i] = sw_bf16_to_f32(h[i]);
  } else if (from == SW_F16) {
    for (int64_t i = 0; i < n; i++) dst[i] = widen_f16(h[i]);
  } else {
    const char *at = src;
    for (int64_t i = 0; i < n; i++) dst[i] = (float)sw_element_load(from, at + i * sw_dtype_bytes(from));
  }
}

static void narrow_f32(const float *src, sw_dtype to, void *dst, int64_t n) {
  uint16_t *h = dst;
  if (to == SW_BF16) {
    for (int64_t i = 0; i < n; i++) h[i] = sw_f32_to_bf16(src[i]);
  } else if (to == SW_F16) {
    for (int64_t i = 0; i < n; i++) h[i] = narrow_f16(src[i]);
  } else {
    char *at = dst;
    for (int64_t i = 0; i < n; i++) sw_element_store(to, (double)src[i], at + i * sw_dtype_bytes(to));
  }
}

/* A float from which narrower types round as they would from the double: what is not exact is cut off, and its last bit
 * set (rounding to odd), so that it is neither a number of theirs nor in the middle of two. No branches:
 * nobody can foretell which numbers are rounded up. */
static inline float round_to_odd(double v) {
  float f = (float)v;
  double size = fabs(v), got = fabs((double)f);
  uint32_t above = got > size, below = got < size;
  return float_of((bits_of(f) - above) | above | below);
}

static void narrow_f64(const double *src, sw_dtype to, void *dst, int64_t n) {
  char *at = dst;
  if (to == SW_BF16 || to == SW_F16) {
    float f[SW_CHUNK];
    for (int64_t i = 0; i < n; i++) f[i] = round_to_odd(src[i]);
    narrow_f32(f, to, dst, n);
    return;
  }
  for (int64_t i = 0; i < n; i++) sw_element_store(to, src[i], at + i * sw_dtype_bytes(to));
}

/* At most SW_CHUNK elements, at least one side a narrow float. */
static void convert_chunk(sw_dtype from, const void *src, sw_dtype to, void *dst, int64_t n) {
  sw_chunk wide;
  if (sw_is_narrow_float(from)) {
    widen_to_f32(from, src, wide.f32, n);
    if (sw_is_narrow_float(to)) {
      narrow_f32(wide.f32, to, dst, n);
    } else {
      kLoops[SW_F32][to](wide.f32, dst, n);
    }
  } else if (from == SW_F32) {
    narrow_f32(src, to, dst, n);
  } else {
    kLoops[from][SW_F64](src, wide.f64, n);
    narrow_f64(wide.f64, to, dst, n);
  }
}

void sw_wrap_elements(sw_dtype t, void *at, int64_t n) {
  uint8_t *bytes = at;
  for (int64_t i = 0; i < n; i++) bytes[i] = (uint8_t)sw_dtype_wrap(t, bytes[i]);
}

/* Bytes with a number of 8 bits, to the nearest that `t` has. */
static void saturate(sw_dtype t, void *at, int64_t n) {
  int bits = sw_dtype_bits(t);
  bool is_signed = sw_dtype_class_of(t) == SW_CLASS_SIGNED;
  int min = is_signed ? -(1 << (bits - 1)) : 0, max = (1 << (bits - is_signed)) - 1;
  uint8_t *bytes = at;
  for (int64_t i = 0; i < n; i++) {
    int v = is_signed ? (int8_t)bytes[i] : bytes[i];
    bytes[i] = (uint8_t)(v < min ? min : v > max ? max : v);
  }
}

/* To an integer of fewer than 8 bits. */
static void convert_to_narrow_int(sw_dtype from, const void *src, sw_dtype to, void *dst, int64_t n) {
  sw_convert(from, src, sw_dtype_container(to), dst, n);
  if (sw_dtype_class_of(from) == SW_CLASS_FLOAT) {
    saturate(to, dst, n);
  } else {
    sw_wrap_elements(to, dst, n);
  }
}

void sw_convert(sw_dtype from, const void *src, sw_dtype to, void *dst, int64_t n) {
  if (n <= 0) return;
  if (from != to && sw_is_narrow_int(to)) {
    convert_to_narrow_int(from, src, to, dst, n);
    return;
  }
  if (from != to) from = sw_dtype_container(from);
  int64_t from_bytes = sw_dtype_bytes(from), to_bytes = sw_dtype_bytes(to);
  if (from == to && from != SW_BOOL) {
    memcpy(dst, src, (size_t)(n * to_bytes));
  } else if (!sw_is_narrow_float(from) && !sw_is_narrow_float(to)) {
    kLoops[from][to](src, dst, n);
  } else if (to == SW_F32) {
    widen_to_f32(from, src, dst, n);
  } else if (from == SW_F32) {
    narrow_f32(src, to, dst, n);
  } else {
    for (int64_t i = 0; i < n; i += SW_CHUNK) {
      int64_t m = sw_min_i64(SW_CHUNK, n - i);
      convert_chunk(from, (const char *)src + i * from_bytes, to, (char *)dst + i * to_bytes, m);
    }
  }
}

bool sw_convertible(sw_dtype t) { return sw_is_narrow_float(t) || sw_is_narrow_int(t) || kLoops[t][t] != NULL; }

sw_dtype sw_wide_of(sw_dtype t) {
  if (t == SW_F64) return SW_F64;
  switch (sw_dtype_class_of(t)) {
    case SW_CLASS_SIGNED:
      return SW_I64;
    case SW_CLASS_UNSIGNED:
    case SW_CLASS_BOOL:
      return SW_U64;
    case SW_CLASS_FLOAT:
    case SW_CLASS_COMPLEX:
    case SW_CLASS_TOKEN:
      break;
  }
  return SW_F32;
}
