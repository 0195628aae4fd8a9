/* Element types and reduction kinds, each in one table. */
#ifndef SHARDWRIGHT_DTYPE_H_
#define SHARDWRIGHT_DTYPE_H_

#include "shardwright/status.h"

/* X(id, text, bits, class, mlir, alias, like, times). `mlir` is MLIR's and StableHLO's name, `alias` that of NumPy, JAX
 * and ONNX; both are read. Elements of fewer than 8 bits take a byte each: integers with their sign (or zeros) in
 * front, floats in the low bits. A device of which nothing else is known computes at `times` the rate of `like`. */
#define SW_DTYPES(X)                                                                              \
  X(F64, "f64", 64, FLOAT, "f64", "float64", F32, 0.5)                                            \
  X(F32, "f32", 32, FLOAT, "f32", "float32", F32, 1)                                              \
  X(F16, "f16", 16, FLOAT, "f16", "float16", F32, 1)                                              \
  X(BF16, "bf16", 16, FLOAT, "bf16", "bfloat16", F16, 1)                                          \
  X(F8E4M3FN, "f8e4m3fn", 8, FLOAT, "f8E4M3FN", "float8_e4m3fn", BF16, 1)                         \
  X(F8E5M2, "f8e5m2", 8, FLOAT, "f8E5M2", "float8_e5m2", F8E4M3FN, 1)                             \
  X(F8E3M4, "f8e3m4", 8, FLOAT, "f8E3M4", "float8_e3m4", F8E4M3FN, 1)                             \
  X(F8E4M3, "f8e4m3", 8, FLOAT, "f8E4M3", "float8_e4m3", F8E4M3FN, 1)                             \
  X(F8E4M3FNUZ, "f8e4m3fnuz", 8, FLOAT, "f8E4M3FNUZ", "float8_e4m3fnuz", F8E4M3FN, 1)             \
  X(F8E4M3B11FNUZ, "f8e4m3b11fnuz", 8, FLOAT, "f8E4M3B11FNUZ", "float8_e4m3b11fnuz", F8E4M3FN, 1) \
  X(F8E5M2FNUZ, "f8e5m2fnuz", 8, FLOAT, "f8E5M2FNUZ", "float8_e5m2fnuz", F8E5M2, 1)               \
  X(F8E8M0FNU, "f8e8m0fnu", 8, FLOAT, "f8E8M0FNU", "float8_e8m0fnu", F8E4M3FN, 1)                 \
  X(F6E2M3FN, "f6e2m3fn", 6, FLOAT, "f6E2M3FN", "float6_e2m3fn", F8E4M3FN, 1)                     \
  X(F6E3M2FN, "f6e3m2fn", 6, FLOAT, "f6E3M2FN", "float6_e3m2fn", F8E4M3FN, 1)                     \
  X(F4E2M1FN, "f4e2m1fn", 4, FLOAT, "f4E2M1FN", "float4_e2m1fn", F8E4M3FN, 1)                     \
  X(I2, "i2", 2, SIGNED, "i2", "int2", I4, 1)                                                     \
  X(I4, "i4", 4, SIGNED, "i4", "int4", I8, 1)                                                     \
  X(I8, "i8", 8, SIGNED, "i8", "int8", I32, 1)                                                    \
  X(I16, "i16", 16, SIGNED, "i16", "int16", I32, 1)                                               \
  X(I32, "i32", 32, SIGNED, "i32", "int32", F32, 1)                                               \
  X(I64, "i64", 64, SIGNED, "i64", "int64", I32, 0.5)                                             \
  X(U2, "u2", 2, UNSIGNED, "ui2", "uint2", U4, 1)                                                 \
  X(U4, "u4", 4, UNSIGNED, "ui4", "uint4", U8, 1)                                                 \
  X(U8, "u8", 8, UNSIGNED, "ui8", "uint8", I8, 1)                                                 \
  X(U16, "u16", 16, UNSIGNED, "ui16", "uint16", I16, 1)                                           \
  X(U32, "u32", 32, UNSIGNED, "ui32", "uint32", I32, 1)                                           \
  X(U64, "u64", 64, UNSIGNED, "ui64", "uint64", I64, 1)                                           \
  X(BOOL, "bool", 1, BOOL, "i1", "bool", I8, 1)                                                   \
  X(C64, "c64", 64, COMPLEX, "complex<f32>", "complex64", F32, 0.25)                              \
  X(C128, "c128", 128, COMPLEX, "complex<f64>", "complex128", F64, 0.25)                          \
  X(TOKEN, "token", 0, TOKEN, "!stablehlo.token", "token", F32, 1)

typedef enum sw_dtype_class {
  SW_CLASS_FLOAT,
  SW_CLASS_SIGNED,
  SW_CLASS_UNSIGNED,
  SW_CLASS_BOOL,
  SW_CLASS_COMPLEX,
  SW_CLASS_TOKEN
} sw_dtype_class;

typedef enum sw_dtype {
#define SW_X(id, ...) SW_##id,
  SW_DTYPES(SW_X) SW_DTYPE_COUNT
#undef SW_X
} sw_dtype;

SW_API const char *sw_dtype_text(sw_dtype t); /* "bf16" */
SW_API const char *sw_dtype_mlir(sw_dtype t); /* "i1" for bool, "ui8" for u8, "f8E4M3FN", "complex<f32>" */
SW_API int sw_dtype_bytes(sw_dtype t);        /* bytes of one element in our buffers, at least 1 but for token */
SW_API int sw_dtype_bits(sw_dtype t);         /* bits that mean something: 4 of i4, 1 of bool */
SW_API sw_dtype_class sw_dtype_class_of(sw_dtype t);
/* The type whose elements look the same in memory: i8 for i2 and i4, u8 for u2 and u4, else the type itself. */
SW_API sw_dtype sw_dtype_container(sw_dtype t);
SW_API bool sw_dtype_parse(const char *text, sw_dtype *out); /* our texts, MLIR's, and float32/int8/... */

/* X(id, text, mlir): `mlir` is the word in `reduction = ...` of the shard dialect. */
#define SW_REDUCTIONS(X)                   \
  X(SUM, "sum", "sum")                     \
  X(PRODUCT, "product", "product")         \
  X(MIN, "min", "min")                     \
  X(MAX, "max", "max")                     \
  X(AVERAGE, "average", "average")         \
  X(BIT_AND, "bitwise_and", "bitwise_and") \
  X(BIT_OR, "bitwise_or", "bitwise_or")    \
  X(BIT_XOR, "bitwise_xor", "bitwise_xor") \
  X(AND, "and", "bitwise_and")             \
  X(OR, "or", "bitwise_or")                \
  X(GENERIC, "generic", "generic")

typedef enum sw_reduction {
#define SW_X(id, text, mlir) SW_REDUCE_##id,
  SW_REDUCTIONS(SW_X) SW_REDUCTION_COUNT
#undef SW_X
} sw_reduction;

SW_API const char *sw_reduction_text(sw_reduction r);
SW_API const char *sw_reduction_mlir(sw_reduction r);
SW_API bool sw_reduction_parse(const char *text, sw_reduction *out);

/* An integer's bits as elements of `t` hold them: those above its width are copies of the sign, or zeros. */
SW_API uint64_t sw_dtype_wrap(sw_dtype t, uint64_t bits);

/* The neutral element of the reduction as a double (-0 for sum, -inf for max of floats, the least integer for max of
 * ints, ...). Exact for every dtype but 64-bit integers, for which use sw_reduction_identity_bytes. */
SW_API double sw_reduction_identity(sw_reduction r, sw_dtype t);
/* The same, stored as one element at `out` (sw_dtype_bytes(t) bytes). */
SW_API void sw_reduction_identity_bytes(sw_reduction r, sw_dtype t, void *out);

/* One element to and from double: floats round to nearest, ties to even; integers drop the fraction, saturate and take
 * NaN to 0. 64-bit integers beyond 2^53 are rounded: use the typed paths where that matters. */
SW_API double sw_element_load(sw_dtype t, const void *at);
SW_API void sw_element_store(sw_dtype t, double v, void *at);

/* f16/bf16/f8 to and from f32, one element; used by kernels and collectives. */
SW_API float sw_f16_to_f32(uint16_t h);
SW_API uint16_t sw_f32_to_f16(float f);
static inline float sw_bf16_to_f32(uint16_t h) {
  union {
    uint32_t u;
    float f;
  } v = {(uint32_t)h << 16};
  return v.f;
}
static inline uint16_t sw_f32_to_bf16(float f) {
  union {
    float f;
    uint32_t u;
  } v = {f};
  if ((v.u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((v.u >> 16) | 0x40u); /* quiet NaN */
  return (uint16_t)((v.u + 0x7fffu + ((v.u >> 16) & 1u)) >> 16);
}

#endif
