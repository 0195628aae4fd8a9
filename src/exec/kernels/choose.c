/* compare, select, clamp and mask: kernels that choose between elements.
 *
 *   compare(NaN, 1) {direction=ne} = true, every other direction false
 *   mask(x, 0) {dim=0, base=0, step=4, start=0, limit=10}: on shard 2 rows 0 and 1 (global 8, 9) stay, the others are 0
 */
#include <complex.h>
#include <string.h>

#include "exec/kernels/elementwise.h"
#include "exec/kernels/native.h"
#include "exec/walk.h"
#include "base/checked.h"

/* X(word, operator) */
#define DIRECTIONS(X, id, T) \
  X(eq, ==, id, T) X(ne, !=, id, T) X(lt, <, id, T) X(le, <=, id, T) X(gt, >, id, T) X(ge, >=, id, T)
enum { DIR_eq, DIR_ne, DIR_lt, DIR_le, DIR_gt, DIR_ge, DIR_COUNT };

#define COMPARE_LOOP(word, sign, id, T)                                            \
  static void word##_##id(const void *as, const void *bs, uint8_t *y, int64_t n) { \
    const T *a = as, *b = bs;                                                      \
    for (int64_t i = 0; i < n; i++) y[i] = (uint8_t)(a[i] sign b[i]);              \
  }
#define BOOL_LOOP(word, sign, id, T)                                               \
  static void word##_##id(const void *as, const void *bs, uint8_t *y, int64_t n) { \
    const T *a = as, *b = bs;                                                      \
    for (int64_t i = 0; i < n; i++) y[i] = (uint8_t)((a[i] != 0) sign(b[i] != 0)); \
  }
#define NATIVE_LOOPS(id, T, U, W) DIRECTIONS(COMPARE_LOOP, id, T)
SW_NATIVES(NATIVE_LOOPS)
DIRECTIONS(BOOL_LOOP, BOOL, uint8_t)

#define ROW(word, sign, id, T) [DIR_##word][SW_##id] = word##_##id,
#define NATIVE_ROWS(id, T, U, W) DIRECTIONS(ROW, id, T)
static const sw_compare_function kCompare[DIR_COUNT][SW_DTYPE_COUNT] = {SW_NATIVES(NATIVE_ROWS)
                                                                            DIRECTIONS(ROW, BOOL, uint8_t)};

sw_compare_function sw_compare_function_of(const char *direction, sw_dtype t) {
  static const char *const kWords[DIR_COUNT] = {"eq", "ne", "lt", "le", "gt", "ge"};
  if (sw_dtype_class_of(t) == SW_CLASS_COMPLEX) return sw_complex_compare_of(direction, t);
  for (int i = 0; i < DIR_COUNT; i++) {
    if (strcmp(kWords[i], direction) == 0) return kCompare[i][t];
  }
  return NULL;
}

sw_rc sw_kernel_compare(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *a = c->in[0], *b = c->in[1];
  const char *word = sw_op_text(c->op, SW_ATTR_DIRECTION, "");
  bool narrow = sw_is_narrow_float(a->dtype);
  if (!sw_compare_function_of(word, SW_F32)) {
    return SW_FAIL_INPUT(d, c->op->span, "op '%s': direction '%s'; expected eq, ne, lt, le, gt or ge", c->op->name,
                         word);
  }
  sw_compare_function loop = sw_compare_function_of(word, narrow ? SW_F32 : sw_dtype_container(a->dtype));
  if (!loop) return sw_kernel_no_dtype(c, a->dtype, d);
  int64_t n = sw_buffer_elements(c->out[0]), bytes = sw_dtype_bytes(a->dtype);
  uint8_t *y = c->out[0]->data;
  if (!narrow) {
    loop(a->data, b->data, y, n);
    return SW_OK;
  }
  for (int64_t i = 0; i < n; i += SW_CHUNK) {
    int64_t m = sw_min_i64(SW_CHUNK, n - i);
    float x[SW_CHUNK], z[SW_CHUNK];
    sw_convert(a->dtype, (const char *)a->data + i * bytes, SW_F32, x, m);
    sw_convert(b->dtype, (const char *)b->data + i * bytes, SW_F32, z, m);
    loop(x, z, y + i, m);
  }
  return SW_OK;
}

/* Both sides are read, so that the loop needs no branch. */
#define SELECT_LOOP(bytes, T)                                                                         \
  static void select_##bytes(const uint8_t *p, const void *as, const void *bs, void *ys, int64_t n) { \
    const T *a = as, *b = bs;                                                                         \
    T *y = ys;                                                                                        \
    for (int64_t i = 0; i < n; i++) {                                                                 \
      T from_a = a[i], from_b = b[i];                                                                 \
      y[i] = p[i] ? from_a : from_b;                                                                  \
    }                                                                                                 \
  }
SELECT_LOOP(1, uint8_t)
SELECT_LOOP(2, uint16_t)
SELECT_LOOP(4, uint32_t)
SELECT_LOOP(8, uint64_t)
SELECT_LOOP(16, double complex)

sw_rc sw_kernel_select(const sw_kernel_call *c, sw_diag *d) {
  static void (*const kSelect[17])(const uint8_t *, const void *, const void *, void *, int64_t) = {
      [1] = select_1, [2] = select_2, [4] = select_4, [8] = select_8, [16] = select_16};
  sw_buffer *y = c->out[0];
  int bytes = sw_dtype_bytes(y->dtype);
  if (!kSelect[bytes]) return sw_kernel_no_dtype(c, y->dtype, d);
  const uint8_t *p = c->in[0]->data;
  int64_t n = sw_buffer_elements(y);
  if (n > 0 && c->in[0]->rank < y->rank) {
    memcpy(y->data, c->in[p[0] ? 1 : 2]->data, (size_t)(n * bytes));
  } else {
    kSelect[bytes](p, c->in[1]->data, c->in[2]->data, y->data, n);
  }
  return SW_OK;
}

/* m elements of x from element i on, as `wide`; a scalar is repeated. Returns where they are. */
static const void *clamp_part(const sw_buffer *x, bool scalar, int64_t i, int64_t m, sw_dtype wide, sw_chunk *store) {
  int bytes = sw_dtype_bytes(wide);
  if (!scalar && wide == x->dtype) return (const char *)x->data + i * bytes;
  if (!scalar) {
    sw_convert(x->dtype, (const char *)x->data + i * sw_dtype_bytes(x->dtype), wide, store->bytes, m);
  } else if (i == 0) {
    uint64_t one;
    sw_convert(x->dtype, x->data, wide, &one, 1);
    sw_fill_elements(store->bytes, &one, bytes, SW_CHUNK);
  }
  return store->bytes;
}

sw_rc sw_kernel_clamp(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[1];
  sw_buffer *y = c->out[0];
  sw_dtype wide = sw_is_narrow_float(x->dtype) ? SW_F32 : sw_dtype_container(x->dtype);
  sw_binary_function max = sw_binary_function_of(SW_OP_MAXIMUM, wide), min = sw_binary_function_of(SW_OP_MINIMUM, wide);
  if (!max || !min) return sw_kernel_no_dtype(c, x->dtype, d);
  int64_t n = sw_buffer_elements(y);
  sw_chunk lo, mid, hi; /* mid: what lies between, at first x */
  for (int64_t i = 0; i < n; i += SW_CHUNK) {
    int64_t m = sw_min_i64(SW_CHUNK, n - i);
    const void *l = clamp_part(c->in[0], c->in[0]->rank < y->rank, i, m, wide, &lo);
    const void *v = clamp_part(x, false, i, m, wide, &mid);
    const void *h = clamp_part(c->in[2], c->in[2]->rank < y->rank, i, m, wide, &hi);
    max(l, v, mid.bytes, m);
    min(mid.bytes, h, mid.bytes, m);
    sw_convert(wide, mid.bytes, y->dtype, (char *)y->data + i * sw_dtype_bytes(y->dtype), m);
  }
  return SW_OK;
}

/* The one number of an INTS attribute. */
static int64_t one_of(const sw_op *op, sw_attr_key k, int64_t absent) {
  int n;
  const int64_t *v = sw_op_ints(op, k, &n);
  return n > 0 ? v[0] : absent;
}

sw_rc sw_kernel_mask(const sw_kernel_call *c, sw_diag *d) {
  const sw_op *op = c->op;
  const sw_buffer *x = c->in[0], *other = c->in[1];
  sw_buffer *y = c->out[0];
  int bytes = sw_dtype_bytes(y->dtype), dim = (int)sw_op_int(op, SW_ATTR_DIM, 0);
  if (op->n_refs > 0 && !c->mesh) return SW_BUG(d, "mask over mesh axes is executed without a mesh");
  int64_t shard = op->n_refs ? sw_mesh_group_index(c->mesh, c->device, op->refs, op->n_refs) : 0;
  int64_t first = sw_op_int(op, SW_ATTR_BASE, 0) + sw_op_int(op, SW_ATTR_STEP, 0) * shard; /* global index of row 0 */
  int64_t rows = y->dims[dim];
  int64_t lo = sw_max_i64(0, sw_min_i64(rows, one_of(op, SW_ATTR_START, INT64_MIN / 2) - first));
  int64_t hi = sw_max_i64(lo, sw_min_i64(rows, one_of(op, SW_ATTR_LIMIT, INT64_MAX / 2) - first));
  bool scalar = other->rank < y->rank;
  int64_t n = sw_buffer_elements(y), inner = 1;
  if (n == 0) return SW_OK;
  for (int i = dim + 1; i < y->rank; i++) inner *= y->dims[i];
  if (scalar) {
    sw_fill_elements(y->data, other->data, bytes, n);
  } else {
    memcpy(y->data, other->data, (size_t)(n * bytes));
  }
  for (int64_t at = 0; at < n; at += rows * inner) { /* one slab per index of the dims before `dim` */
    int64_t offset = (at + lo * inner) * bytes;
    memcpy((char *)y->data + offset, (const char *)x->data + offset, (size_t)((hi - lo) * inner * bytes));
  }
  return SW_OK;
}
