/* Tensor types: sizes in elements and bytes, comparison, text. */
#include "base/checked.h"
#include "shardwright/graph.h"

int64_t sw_type_elements(const sw_type *t) {
  bool empty = false;
  for (int i = 0; i < t->rank; i++) {
    if (t->dims[i] < 0) return -1;
    if (t->dims[i] == 0) empty = true;
  }
  if (empty) return 0;
  int64_t n = 1;
  for (int i = 0; i < t->rank; i++) {
    if (!sw_mul_i64(n, t->dims[i], &n)) return -1;
  }
  return n;
}

int64_t sw_type_bytes(const sw_type *t) {
  int64_t n = sw_type_elements(t), bytes;
  return n >= 0 && sw_mul_i64(n, sw_dtype_bytes(t->dtype), &bytes) ? bytes : -1;
}

bool sw_type_same_shape(const sw_type *a, const sw_type *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++) {
    if (a->dims[i] != b->dims[i]) return false;
  }
  return true;
}

bool sw_type_equal(const sw_type *a, const sw_type *b) { return a->dtype == b->dtype && sw_type_same_shape(a, b); }

void sw_type_print(const sw_type *t, sw_text *out) {
  sw_text_puts(out, sw_dtype_text(t->dtype));
  sw_text_puts(out, "[");
  for (int i = 0; i < t->rank; i++) {
    if (i) sw_text_puts(out, ",");
    if (t->dims[i] < 0) {
      sw_text_puts(out, "?");
    } else {
      sw_text_printf(out, "%lld", (long long)t->dims[i]);
    }
  }
  sw_text_puts(out, "]");
}
