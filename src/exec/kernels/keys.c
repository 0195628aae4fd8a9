#include "exec/kernels/keys.h"

#include "exec/kernels/native.h"
#include "exec/walk.h"

/* Keys grow with the value; NaN is above all. -0 and 0 have one key. */
static uint64_t key_of_double(double v) {
  union {
    double f;
    uint64_t u;
  } x = {v == 0 ? 0.0 : v};
  if (v != v) return UINT64_MAX;
  return x.u >> 63 ? ~x.u : x.u | UINT64_C(1) << 63;
}

void sw_load_keys(sw_dtype t, const char *x, int64_t stride, int64_t n, bool least, uint64_t *keys) {
  sw_chunk near, wide;
  int64_t bytes = sw_dtype_bytes(t);
  if (stride != bytes) {
    sw_copy_row((int)bytes, near.bytes, bytes, x, stride, n);
    x = near.bytes;
  }
  if (sw_dtype_class_of(t) == SW_CLASS_FLOAT) {
    sw_convert(t, x, SW_F64, wide.bytes, n);
    for (int64_t i = 0; i < n; i++) keys[i] = key_of_double(least ? -wide.f64[i] : wide.f64[i]);
    return;
  }
  bool is_signed = sw_dtype_class_of(t) == SW_CLASS_SIGNED;
  uint64_t flip = (is_signed ? UINT64_C(1) << 63 : 0) ^ (least ? UINT64_MAX : 0);
  sw_convert(t, x, is_signed ? SW_I64 : SW_U64, wide.bytes, n);
  for (int64_t i = 0; i < n; i++) keys[i] = wide.u64[i] ^ flip;
}

void sw_load_total_keys(sw_dtype t, const char *x, int64_t stride, int64_t n, uint64_t *keys) {
  sw_chunk near, wide;
  int64_t bytes = sw_dtype_bytes(t);
  if (sw_dtype_class_of(t) != SW_CLASS_FLOAT) {
    sw_load_keys(t, x, stride, n, false, keys);
    return;
  }
  sw_copy_row((int)bytes, near.bytes, bytes, x, stride, n);
  sw_convert(t, near.bytes, SW_F64, wide.bytes, n);
  for (int64_t i = 0; i < n; i++) keys[i] = wide.u64[i] >> 63 ? ~wide.u64[i] : wide.u64[i] | UINT64_C(1) << 63;
}

sw_lines sw_lines_of(const sw_buffer *b, int64_t dim) {
  sw_lines l = {1, b->dims[dim], 1};
  for (int64_t i = 0; i < dim; i++) l.outer *= b->dims[i];
  for (int64_t i = dim + 1; i < b->rank; i++) l.inner *= b->dims[i];
  return l;
}
