/* Element types: names, sizes, and the spellings of other tools.
 *
 *   sw_dtype_parse("bf16") = sw_dtype_parse("bfloat16") = SW_BF16;  sw_dtype_mlir(SW_BOOL) = "i1"
 */
#include "shardwright/dtype.h"

#include <string.h>

static const struct {
  const char *text, *mlir, *alias;
  int bits;
  sw_dtype_class cls;
} kRows[SW_DTYPE_COUNT] = {
#define SW_X(id, text, bits, class, mlir, alias, like, times) [SW_##id] = {text, mlir, alias, bits, SW_CLASS_##class},
    SW_DTYPES(SW_X)
#undef SW_X
};

const char *sw_dtype_text(sw_dtype t) { return kRows[t].text; }
const char *sw_dtype_mlir(sw_dtype t) { return kRows[t].mlir; }
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

bool sw_dtype_parse(const char *text, sw_dtype *out) {
  for (int t = 0; t < SW_DTYPE_COUNT; t++) {
    if (strcmp(text, kRows[t].text) && strcmp(text, kRows[t].mlir) && strcmp(text, kRows[t].alias)) continue;
    return *out = (sw_dtype)t, true;
  }
  return false;
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
