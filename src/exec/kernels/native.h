/* The element types that loops are written for, and how the others reach them.
 *
 * f16, bf16 and smaller floats are widened to f32; integers of fewer than 8 bits lie in memory as those of 8. Kernels
 * that accumulate do so in four types only (sw_wide_of): f32, f64, i64 and u64; narrowing integers back wraps, so
 * integer results are exact modulo 2^width. Bool is 0 or 1 in u64.
 */
#ifndef EXEC_NATIVE_H_
#define EXEC_NATIVE_H_

#include "shardwright/dtype.h"

/* X(id, C type, unsigned type of the same width, unsigned type that arithmetic cannot promote to int) */
#define SW_NATIVE_SIGNED(X)           \
  X(I8, int8_t, uint8_t, uint32_t)    \
  X(I16, int16_t, uint16_t, uint32_t) \
  X(I32, int32_t, uint32_t, uint32_t) \
  X(I64, int64_t, uint64_t, uint64_t)
#define SW_NATIVE_UNSIGNED(X)          \
  X(U8, uint8_t, uint8_t, uint32_t)    \
  X(U16, uint16_t, uint16_t, uint32_t) \
  X(U32, uint32_t, uint32_t, uint32_t) \
  X(U64, uint64_t, uint64_t, uint64_t)
#define SW_NATIVE_INTS(X) SW_NATIVE_SIGNED(X) SW_NATIVE_UNSIGNED(X)
#define SW_NATIVE_FLOATS(X)         \
  X(F32, float, uint32_t, uint32_t) \
  X(F64, double, uint64_t, uint64_t)
#define SW_NATIVES(X) SW_NATIVE_FLOATS(X) SW_NATIVE_INTS(X)

/* Elements handled at a time when they must be widened on the way: fits the first-level cache. */
enum { SW_CHUNK = 512 };
/* A chunk of any native type. */
typedef union sw_chunk {
  double f64[SW_CHUNK];
  float f32[SW_CHUNK];
  int64_t i64[SW_CHUNK];
  uint64_t u64[SW_CHUNK];
  char bytes[8 * SW_CHUNK];
} sw_chunk;

/* f16, bf16 and smaller: no loops of their own. */
static inline bool sw_is_narrow_float(sw_dtype t) {
  return sw_dtype_class_of(t) == SW_CLASS_FLOAT && t != SW_F32 && t != SW_F64;
}
/* Integers of 2 and 4 bits: loops of i8 and u8, whose results are then wrapped. */
static inline bool sw_is_narrow_int(sw_dtype t) { return sw_dtype_container(t) != t; }
/* n elements that a loop of the container has left at `at`. */
void sw_wrap_elements(sw_dtype t, void *at, int64_t n);
/* The type that a kernel accumulates this one in: F32, F64, I64 or U64. */
sw_dtype sw_wide_of(sw_dtype t);

/* n elements from one dtype to another: floats round to nearest even, floats to integers saturate and NaN gives 0,
 * integers wrap, anything but 0 is true. All pairs but complex and token. */
void sw_convert(sw_dtype from, const void *src, sw_dtype to, void *dst, int64_t n);
/* Half the distance from 1 to the next number: 2^-24 for f32. Float types only. */
double sw_unit_roundoff(sw_dtype t);
/* The largest power of two. */
double sw_top_binade(sw_dtype t);
/* Are there conversions between the two? */
bool sw_convertible(sw_dtype t);

#endif
