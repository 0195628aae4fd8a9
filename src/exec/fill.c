/* Tensors filled by a counter-based hash, and the padding of buffers.
 *
 *   fill {SMALL, limit 2}: -1 2 0 -2 1 ...   neighbours differ, both signs occur, sums of products are exact
 */
#include "shardwright/tensor.h"

#include <math.h>
#include <string.h>

#include "exec/kernels/native.h"
#include "exec/walk.h"
#include "base/checked.h"
#include "base/hash.h"

int64_t sw_buffer_int(const sw_buffer *b, int64_t element) {
  const char *at = (const char *)b->data + element * sw_dtype_bytes(b->dtype);
  uint64_t u;
  int64_t v;
  if (b->dtype == SW_U64) {
    memcpy(&u, at, sizeof u);
    return u > INT64_MAX ? INT64_MAX : (int64_t)u;
  }
  sw_convert(b->dtype, at, SW_I64, &v, 1);
  return v;
}

/* Poison the slab of positions [from, dims[dim]) along one dim. */
static void poison_slab(sw_buffer *b, int dim, int64_t from) {
  char cell[16];
  int bytes = sw_dtype_bytes(b->dtype);
  int64_t inner = 1, outer = 1;
  sw_element_poison(b->dtype, cell);
  for (int i = 0; i < dim; i++) outer *= b->dims[i];
  for (int i = dim + 1; i < b->rank; i++) inner *= b->dims[i];
  for (int64_t o = 0; o < outer; o++) {
    char *at = (char *)b->data + (o * b->dims[dim] + from) * inner * bytes;
    sw_fill_elements(at, cell, bytes, (b->dims[dim] - from) * inner);
  }
}

void sw_buffer_poison_padding(sw_buffer *b) {
  for (int i = 0; i < b->rank; i++) {
    if (b->valid[i] < b->dims[i]) poison_slab(b, i, sw_max_i64(b->valid[i], 0));
  }
}

static double value_within(const sw_fill *f, sw_dtype_class class, int64_t i) {
  uint64_t h = sw_hash_u64((uint64_t)i, f->seed);
  if (class == SW_CLASS_FLOAT && !f->whole) return f->low + (f->limit - f->low) * (double)(h >> 11) * 0x1p-53;
  double low = ceil(f->low), places = floor(f->limit) - low + 1;
  return places < 1 ? low : low + (double)(h % (uint64_t)fmin(places, 0x1p62));
}

/* Element number i of a fill. SMALL draws once per pair of elements and moves the second on, so that they differ. */
static double fill_value(const sw_fill *f, sw_dtype_class class, double limit, int64_t i) {
  if (f->kind == SW_FILL_WITHIN) return value_within(f, class, i);
  int64_t low = f->kind == SW_FILL_INDEX || class != SW_CLASS_SIGNED ? 0 : -(int64_t)limit, high = (int64_t)limit;
  if (class == SW_CLASS_FLOAT && f->kind != SW_FILL_INDEX) low = -(int64_t)limit;
  if (class == SW_CLASS_BOOL) high = 1;
  if (f->kind == SW_FILL_INDEX) high = sw_max_i64(high - 1, 0);
  uint64_t h = sw_hash_u64((uint64_t)i, f->seed);
  if (f->kind == SW_FILL_RANDOM && class == SW_CLASS_FLOAT) return limit * (2.0 * (double)(h >> 11) * 0x1p-53 - 1.0);
  const bool skips = low < 0 && high > 1; /* 0, which hides what it is multiplied with, and has no other sign */
  const int64_t range = high - low + !skips;
  if (f->kind == SW_FILL_INDEX || class == SW_CLASS_BOOL || range < 4)
    return (double)(low + (int64_t)(h % (uint64_t)range));
  uint64_t half = sw_hash_u64((uint64_t)i / 2, f->seed) % (uint64_t)range; /* one draw per pair, the second moved on */
  uint64_t move = i % 2 ? 1 + h % (uint64_t)(range - 1) : 0;
  const int64_t v = low + (int64_t)((half + move) % (uint64_t)range);
  return (double)(v + (skips && v >= 0));
}

/* Whole numbers up to here are held exactly by a type of fewer than 8 bits. */
static double exact_limit(sw_dtype t, double limit) {
  int bits = sw_dtype_bits(t);
  if (bits >= 8 || t == SW_BOOL) return limit;
  if (sw_dtype_class_of(t) == SW_CLASS_FLOAT) return fmin(limit, 4);
  return fmin(limit, ldexp(1, bits - (sw_dtype_class_of(t) == SW_CLASS_SIGNED)) - 1);
}

sw_rc sw_tensor_fill(sw_tensor *t, const sw_fill *f, sw_diag *d) {
  sw_dtype_class class = sw_dtype_class_of(t->dtype);
  if (class == SW_CLASS_COMPLEX) { /* part after part */
    sw_tensor parts = {.dtype = t->dtype == SW_C64 ? SW_F32 : SW_F64, .rank = 1, .data = t->data};
    parts.dims[0] = 2 * sw_buffer_elements(t);
    return sw_tensor_fill(&parts, f, d);
  }
  if (t->dtype == SW_TOKEN) return SW_OK;
  if (!sw_convertible(t->dtype)) return SW_FAIL_INPUT(d, SW_NOWHERE, "%s cannot be filled", sw_dtype_text(t->dtype));
  int64_t n = sw_buffer_elements(t), bytes = sw_dtype_bytes(t->dtype);
  double limit = exact_limit(t->dtype, f->limit > 0 ? f->limit : 8);
  sw_chunk values;
  for (int64_t i = 0; i < n; i += SW_CHUNK) {
    int64_t m = sw_min_i64(SW_CHUNK, n - i);
    for (int64_t j = 0; j < m; j++) values.f64[j] = fill_value(f, class, limit, i + j);
    for (int64_t j = 0; t->dtype == SW_F8E8M0FNU && j < m; j++) values.f64[j] = 1 + fabs(values.f64[j]); /* no 0 */
    sw_convert(SW_F64, values.f64, t->dtype, (char *)t->data + i * bytes, m);
  }
  return SW_OK;
}
