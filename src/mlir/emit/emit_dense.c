/* Elements of constants as MLIR writes them: dense<1.5> for one that stands for all, dense<[[1, 2], [3, 4]]> for few,
 * and the bytes in hexadecimal, dense<"0x0000803F...">, for many. Bool and integers of fewer bits than a byte are
 * always spelled: their packing in hexadecimal differs between MLIR's versions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/emit/mlir.h"

enum { SPELLED = 64 };

static void put_bits(sw_dtype t, const void *at, sw_text *out) {
  uint64_t bits = 0; /* little-endian, as buffers are */
  memcpy(&bits, at, (size_t)sw_dtype_bytes(t));
  sw_text_printf(out, "0x%0*llX", 2 * sw_dtype_bytes(t), (unsigned long long)bits);
}

/* The shortest decimal with a point that reads back as the same element. */
static void put_float(sw_dtype t, const void *at, sw_text *out) {
  double v = sw_element_load(t, at);
  char text[40];
  if (!isfinite(v)) {
    put_bits(t, at, out);
    return;
  }
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*e", digits, v);
    _Alignas(16) unsigned char back[16];
    sw_element_store(t, strtod(text, NULL), back);
    if (sw_element_load(t, back) == v) break;
  }
  sw_text_puts(out, text);
}

static void put_element(sw_dtype t, const char *at, sw_text *out) {
  int64_t i = 0;
  switch (sw_dtype_class_of(t)) {
    case SW_CLASS_FLOAT:
      put_float(t, at, out);
      break;
    case SW_CLASS_BOOL:
      sw_text_puts(out, *at ? "true" : "false");
      break;
    case SW_CLASS_COMPLEX: {
      sw_dtype part = t == SW_C64 ? SW_F32 : SW_F64;
      sw_text_puts(out, "(");
      put_float(part, at, out);
      sw_text_puts(out, ", ");
      put_float(part, at + sw_dtype_bytes(part), out);
      sw_text_puts(out, ")");
      break;
    }
    case SW_CLASS_SIGNED: /* of 64 bits too: no way over double */
      memcpy(&i, at, (size_t)sw_dtype_bytes(t));
      sw_text_printf(out, "%lld", (long long)(int64_t)sw_dtype_wrap(t, (uint64_t)i));
      break;
    case SW_CLASS_UNSIGNED:
      memcpy(&i, at, (size_t)sw_dtype_bytes(t));
      sw_text_printf(out, "%llu", (unsigned long long)i);
      break;
    case SW_CLASS_TOKEN:
      break;
  }
}

static const char *put_nested(const sw_type *t, int dim, const char *at, sw_text *out) {
  if (dim == t->rank) {
    put_element(t->dtype, at, out);
    return at + sw_dtype_bytes(t->dtype);
  }
  sw_text_puts(out, "[");
  for (int64_t i = 0; i < t->dims[dim]; i++) {
    if (i) sw_text_puts(out, ", ");
    at = put_nested(t, dim + 1, at, out);
  }
  sw_text_puts(out, "]");
  return at;
}

static void put_hex(const unsigned char *at, int64_t n, sw_text *out) {
  static const char kDigits[] = "0123456789ABCDEF";
  char chunk[256];
  size_t used = 0;
  sw_text_puts(out, "\"0x");
  for (int64_t i = 0; i < n; i++) {
    chunk[used++] = kDigits[at[i] >> 4];
    chunk[used++] = kDigits[at[i] & 15];
    if (used == sizeof chunk || i == n - 1) {
      sw_text_append(out, chunk, used);
      used = 0;
    }
  }
  sw_text_puts(out, "\"");
}

void sw_mlir_dense(const sw_type *t, const void *bytes, bool splat, sw_text *out) {
  int64_t n = sw_type_elements(t);
  sw_text_puts(out, "dense<");
  if (n != 0 && splat) {
    put_element(t->dtype, bytes, out);
  } else if (n > SPELLED && t->dtype != SW_BOOL && sw_dtype_container(t->dtype) == t->dtype) {
    put_hex(bytes, sw_type_bytes(t), out);
  } else if (n != 0) {
    (void)put_nested(t, 0, bytes, out);
  }
  sw_text_puts(out, ">");
}
