/* Kernels that move elements and compute nothing: broadcast, transpose, reshape, reverse, slice, pad, concatenate and
 * the dynamic slices. Each is one or two strided copies of boxes.
 *
 *   reverse of f32[4]: src starts at element 3 and steps -4 bytes
 *   slice {start=[1], limit=[8], strides=[3]}: src starts at element 1 and steps 12 bytes
 */
#include <string.h>

#include "exec/kernels/op_kernel.h"
#include "exec/walk.h"
#include "base/checked.h"

/* A box of a buffer: where it starts and how its dims step. */
typedef struct view {
  char *at;
  int64_t stride[SW_MAX_RANK];
} view;

static view view_of_buffer(const sw_buffer *b) {
  view v = {.at = b->data};
  sw_dense_strides(b->rank, b->dims, sw_dtype_bytes(b->dtype), v.stride);
  return v;
}

static void copy(const sw_buffer *type, int rank, const int64_t *dims, const view *dst, const view *src) {
  sw_copy_box(rank, dims, sw_dtype_bytes(type->dtype), dst->at, dst->stride, src->at, src->stride);
}

sw_rc sw_kernel_broadcast(const sw_kernel_call *c, sw_diag *d) {
  (void)d;
  const sw_buffer *x = c->in[0];
  sw_buffer *y = c->out[0];
  view dst = view_of_buffer(y), from = view_of_buffer(x), src = {.at = from.at};
  int n;
  const int64_t *to = sw_op_ints(c->op, SW_ATTR_DIMS, &n);
  for (int i = 0; i < n; i++) src.stride[to[i]] = x->dims[i] == 1 ? 0 : from.stride[i];
  copy(y, y->rank, y->dims, &dst, &src);
  return SW_OK;
}

sw_rc sw_kernel_transpose(const sw_kernel_call *c, sw_diag *d) {
  (void)d;
  sw_buffer *y = c->out[0];
  view dst = view_of_buffer(y), from = view_of_buffer(c->in[0]), src = {.at = from.at};
  int n;
  const int64_t *permutation = sw_op_ints(c->op, SW_ATTR_PERMUTATION, &n);
  for (int i = 0; i < n; i++) src.stride[i] = from.stride[permutation[i]];
  copy(y, y->rank, y->dims, &dst, &src);
  return SW_OK;
}

sw_rc sw_kernel_reshape(const sw_kernel_call *c, sw_diag *d) {
  (void)d;
  int64_t bytes = sw_buffer_elements(c->out[0]) * sw_dtype_bytes(c->out[0]->dtype);
  if (bytes > 0) memcpy(c->out[0]->data, c->in[0]->data, (size_t)bytes);
  return SW_OK;
}

/* n elements of fewer than 8 bits, which lie one to a byte, from or to elements of `bits` that hold `parts` of them,
 * the first in the lowest bits. */
static void unpack_elements(const char *wide, int64_t wide_bytes, sw_dtype t, int64_t parts, char *out, int64_t n) {
  int bits = sw_dtype_bits(t);
  for (int64_t i = 0; i < n; i++) {
    int64_t low = i % parts * bits;
    unsigned char byte = (unsigned char)wide[i / parts * wide_bytes + low / 8];
    out[i] = (char)sw_dtype_wrap(t, (uint64_t)(byte >> low % 8 & ((1 << bits) - 1)));
  }
}

static void put_together(const char *in, sw_dtype t, int64_t parts, char *wide, sw_dtype wide_type, int64_t n) {
  int64_t bits = sw_dtype_bits(t), bytes = sw_dtype_bytes(wide_type);
  if (n > 0) memset(wide, 0, (size_t)(n / parts * bytes));
  for (int64_t i = 0; i < n; i++) {
    int64_t low = i % parts * bits;
    wide[i / parts * bytes + low / 8] |= (char)((in[i] & ((1 << bits) - 1)) << low % 8);
  }
  for (int64_t i = 0; sw_dtype_bits(wide_type) < 8 && i < n / parts; i++)
    wide[i] = (char)sw_dtype_wrap(wide_type, (unsigned char)wide[i]);
}

sw_rc sw_kernel_bitcast(const sw_kernel_call *c, sw_diag *d) {
  sw_dtype from = c->in[0]->dtype, to = c->out[0]->dtype;
  int from_bits = sw_dtype_bits(from), to_bits = sw_dtype_bits(to);
  if (from_bits >= 8 && to_bits >= 8) return sw_kernel_reshape(c, d);
  if (to_bits <= from_bits) {
    unpack_elements(c->in[0]->data, sw_dtype_bytes(from), to, from_bits / to_bits, c->out[0]->data,
                    sw_buffer_elements(c->out[0]));
  } else {
    put_together(c->in[0]->data, from, to_bits / from_bits, c->out[0]->data, to, sw_buffer_elements(c->in[0]));
  }
  return SW_OK;
}

sw_rc sw_kernel_shuffle(const sw_kernel_call *c, sw_diag *d) {
  (void)d;
  const sw_buffer *x = c->in[0];
  int n;
  const int64_t *sources = sw_op_ints(c->op, SW_ATTR_SOURCES, &n);
  size_t bytes = (size_t)(sw_buffer_elements(x) / (n ? n : 1) * sw_dtype_bytes(x->dtype));
  for (int i = 0; bytes && i < n; i++) {
    memcpy((char *)c->out[0]->data + (size_t)i * bytes, (const char *)x->data + (size_t)sources[i] * bytes, bytes);
  }
  return SW_OK;
}

sw_rc sw_kernel_reverse(const sw_kernel_call *c, sw_diag *d) {
  (void)d;
  sw_buffer *y = c->out[0];
  view dst = view_of_buffer(y), src = view_of_buffer(c->in[0]);
  int n;
  const int64_t *dims = sw_op_ints(c->op, SW_ATTR_DIMS, &n);
  if (sw_buffer_elements(y) == 0) return SW_OK;
  for (int i = 0; i < n; i++) {
    src.at += src.stride[dims[i]] * (y->dims[dims[i]] - 1);
    src.stride[dims[i]] = -src.stride[dims[i]];
  }
  copy(y, y->rank, y->dims, &dst, &src);
  return SW_OK;
}

sw_rc sw_kernel_slice(const sw_kernel_call *c, sw_diag *d) {
  (void)d;
  sw_buffer *y = c->out[0];
  view dst = view_of_buffer(y), src = view_of_buffer(c->in[0]);
  int64_t ones[SW_MAX_RANK];
  int n;
  const int64_t *start = sw_op_ints(c->op, SW_ATTR_START, &n);
  const int64_t *strides = sw_kernel_ints(c->op, SW_ATTR_STRIDES, y->rank, 1, ones);
  if (sw_buffer_elements(y) == 0) return SW_OK;
  for (int i = 0; i < n; i++) {
    src.at += src.stride[i] * start[i];
    src.stride[i] *= strides[i];
  }
  copy(y, y->rank, y->dims, &dst, &src);
  return SW_OK;
}

/* Bytes from the first element of `whole` to a window of `dims` whose start indices are the scalars in[first..),
 * clamped so that the window fits. */
static int64_t window_offset(const sw_kernel_call *c, int first, const sw_buffer *whole, const view *v,
                             const int64_t *dims) {
  int64_t offset = 0;
  for (int i = 0; i < whole->rank; i++) {
    int64_t at = sw_buffer_int(c->in[first + i], 0);
    offset += v->stride[i] * sw_max_i64(0, sw_min_i64(at, whole->dims[i] - dims[i]));
  }
  return offset;
}

sw_rc sw_kernel_dynamic_slice(const sw_kernel_call *c, sw_diag *d) {
  (void)d;
  sw_buffer *y = c->out[0];
  view dst = view_of_buffer(y), src = view_of_buffer(c->in[0]);
  if (sw_buffer_elements(y) == 0) return SW_OK;
  src.at += window_offset(c, 1, c->in[0], &src, y->dims);
  copy(y, y->rank, y->dims, &dst, &src);
  return SW_OK;
}

sw_rc sw_kernel_dynamic_update_slice(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *update = c->in[1];
  sw_buffer *y = c->out[0];
  SW_TRY(sw_kernel_reshape(c, d));
  if (sw_buffer_elements(update) == 0) return SW_OK;
  view dst = view_of_buffer(y), src = view_of_buffer(update);
  dst.at += window_offset(c, 2, y, &dst, update->dims);
  copy(y, y->rank, update->dims, &dst, &src);
  return SW_OK;
}

/* Indices [*lo, *hi) of an extent whose image low + i*step lies in [0, size). */
static void pad_range(int64_t extent, int64_t low, int64_t step, int64_t size, int64_t *lo, int64_t *hi) {
  *lo = low >= 0 ? 0 : sw_ceil_div(-low, step);
  *hi = sw_min_i64(extent, size - low <= 0 ? 0 : sw_ceil_div(size - low, step));
}

sw_rc sw_kernel_pad(const sw_kernel_call *c, sw_diag *d) {
  (void)d;
  const sw_buffer *x = c->in[0];
  sw_buffer *y = c->out[0];
  view dst = view_of_buffer(y), src = view_of_buffer(x);
  int64_t zeros[SW_MAX_RANK], dims[SW_MAX_RANK];
  int n;
  const int64_t *low = sw_op_ints(c->op, SW_ATTR_LOW, &n);
  const int64_t *interior = sw_kernel_ints(c->op, SW_ATTR_INTERIOR, y->rank, 0, zeros);
  sw_fill_elements(y->data, c->in[1]->data, sw_dtype_bytes(y->dtype), sw_buffer_elements(y));
  for (int i = 0; i < y->rank; i++) {
    int64_t lo, hi, step = interior[i] + 1;
    pad_range(x->dims[i], low[i], step, y->dims[i], &lo, &hi);
    if (hi <= lo) return SW_OK;
    dims[i] = hi - lo;
    src.at += src.stride[i] * lo;
    dst.at += dst.stride[i] * (low[i] + lo * step);
    dst.stride[i] *= step;
  }
  copy(y, y->rank, dims, &dst, &src);
  return SW_OK;
}

sw_rc sw_kernel_concatenate(const sw_kernel_call *c, sw_diag *d) {
  (void)d;
  sw_buffer *y = c->out[0];
  view dst = view_of_buffer(y);
  int64_t dim = sw_op_int(c->op, SW_ATTR_DIM, 0);
  for (int i = 0; i < c->op->n_operands; i++) {
    view src = view_of_buffer(c->in[i]);
    copy(y, y->rank, c->in[i]->dims, &dst, &src);
    dst.at += dst.stride[dim] * c->in[i]->dims[dim];
  }
  return SW_OK;
}
