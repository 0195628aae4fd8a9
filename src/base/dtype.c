/* Element types: names, sizes, and the spellings of other tools.
 *
 *   sw_dtype_parse("bf16") = sw_dtype_parse("bfloat16") = SW_BF16;  sw_dtype_mlir(SW_BOOL) = "i1"
 */
#include "shardwright/dtype.h"

#include <string.h>

typedef struct dtype_row {
  const char *text;
  int bits;
  sw_dtype_class cls;
} dtype_row;

static const dtype_row kRows[SW_DTYPE_COUNT] = {
#define SW_X(id, name, bits_, c) [SW_##id] = {.text = name, .bits = bits_, .cls = SW_CLASS_##c},
    SW_DTYPES(SW_X)
#undef SW_X
};

typedef struct spelling {
  const char *text;
  sw_dtype type;
} spelling;

/* Where MLIR writes a type in another way than we do. */
static const spelling kMlir[] = {
    {"f8E4M3FN", SW_F8E4M3FN},
    {"f8E5M2", SW_F8E5M2},
    {"f8E3M4", SW_F8E3M4},
    {"f8E4M3", SW_F8E4M3},
    {"f8E4M3FNUZ", SW_F8E4M3FNUZ},
    {"f8E4M3B11FNUZ", SW_F8E4M3B11FNUZ},
    {"f8E5M2FNUZ", SW_F8E5M2FNUZ},
    {"f8E8M0FNU", SW_F8E8M0FNU},
    {"f6E2M3FN", SW_F6E2M3FN},
    {"f6E3M2FN", SW_F6E3M2FN},
    {"f4E2M1FN", SW_F4E2M1FN},
    {"ui2", SW_U2},
    {"ui4", SW_U4},
    {"ui8", SW_U8},
    {"ui16", SW_U16},
    {"ui32", SW_U32},
    {"ui64", SW_U64},
    {"i1", SW_BOOL},
    {"complex<f32>", SW_C64},
    {"complex<f64>", SW_C128},
    {"!stablehlo.token", SW_TOKEN},
};

/* What NumPy, JAX and ONNX exporters write; read, never printed. */
static const spelling kAliases[] = {
    {"float64", SW_F64},
    {"float32", SW_F32},
    {"float16", SW_F16},
    {"bfloat16", SW_BF16},
    {"float8_e4m3fn", SW_F8E4M3FN},
    {"float8_e5m2", SW_F8E5M2},
    {"float8_e3m4", SW_F8E3M4},
    {"float8_e4m3", SW_F8E4M3},
    {"float8_e4m3fnuz", SW_F8E4M3FNUZ},
    {"float8_e4m3b11fnuz", SW_F8E4M3B11FNUZ},
    {"float8_e5m2fnuz", SW_F8E5M2FNUZ},
    {"float8_e8m0fnu", SW_F8E8M0FNU},
    {"float6_e2m3fn", SW_F6E2M3FN},
    {"float6_e3m2fn", SW_F6E3M2FN},
    {"float4_e2m1fn", SW_F4E2M1FN},
    {"int2", SW_I2},
    {"int4", SW_I4},
    {"int8", SW_I8},
    {"int16", SW_I16},
    {"int32", SW_I32},
    {"int64", SW_I64},
    {"uint2", SW_U2},
    {"uint4", SW_U4},
    {"uint8", SW_U8},
    {"uint16", SW_U16},
    {"uint32", SW_U32},
    {"uint64", SW_U64},
    {"complex64", SW_C64},
    {"complex128", SW_C128},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

const char *sw_dtype_text(sw_dtype t) { return kRows[t].text; }

const char *sw_dtype_mlir(sw_dtype t) {
  for (size_t i = 0; i < COUNT(kMlir); i++)
    if (kMlir[i].type == t) return kMlir[i].text;
  return kRows[t].text;
}

int sw_dtype_bytes(sw_dtype t) { return (kRows[t].bits + 7) / 8; }
int sw_dtype_bits(sw_dtype t) { return kRows[t].bits; }
sw_dtype_class sw_dtype_class_of(sw_dtype t) { return kRows[t].cls; }

sw_dtype sw_dtype_container(sw_dtype t) {
  if (kRows[t].bits >= 8) return t;
  return kRows[t].cls == SW_CLASS_SIGNED ? SW_I8 : kRows[t].cls == SW_CLASS_UNSIGNED ? SW_U8 : t;
}

uint64_t sw_dtype_wrap(sw_dtype t, uint64_t bits) {
  int unused = 64 - kRows[t].bits;
  if (kRows[t].cls == SW_CLASS_SIGNED) return (uint64_t)((int64_t)(bits << unused) >> unused);
  return kRows[t].cls == SW_CLASS_UNSIGNED ? bits << unused >> unused : bits;
}

static bool find_spelling(const spelling *table, size_t n, const char *text, sw_dtype *out) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(text, table[i].text) == 0) return *out = table[i].type, true;
  return false;
}

bool sw_dtype_parse(const char *text, sw_dtype *out) {
  for (int t = 0; t < SW_DTYPE_COUNT; t++)
    if (strcmp(text, kRows[t].text) == 0) return *out = (sw_dtype)t, true;
  return find_spelling(kMlir, COUNT(kMlir), text, out) || find_spelling(kAliases, COUNT(kAliases), text, out);
}

static const struct {
  const char *text, *mlir;
} kReductions[SW_REDUCTION_COUNT] = {
#define SW_X(id, text, mlir) [SW_REDUCE_##id] = {text, mlir},
    SW_REDUCTIONS(SW_X)
#undef SW_X
};

const char *sw_reduction_text(sw_reduction r) { return kReductions[r].text; }
const char *sw_reduction_mlir(sw_reduction r) { return kReductions[r].mlir; }

bool sw_reduction_parse(const char *text, sw_reduction *out) {
  for (int r = 0; r < SW_REDUCTION_COUNT; r++)
    if (strcmp(text, kReductions[r].text) == 0) return *out = (sw_reduction)r, true;
  return false;
}
