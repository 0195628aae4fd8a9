/* Buffers: sizes, poison, and the rules that a collective's buffers must keep.
 *
 *   all_gather dim=1 over 4: in 4x8 (any rank), out 4x32 or less along dim 1, same dtype
 */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "shardwright/collective.h"
#include "collective/scalar.h"

bool sw_buffer_bytes(const sw_buffer *b, int64_t *bytes) {
  int64_t n = sw_dtype_bytes(b->dtype);
  for (int i = 0; i < b->rank; i++)
    if (b->dims[i] == 0) return *bytes = 0, true;
  for (int i = 0; i < b->rank; i++)
    if (!sw_mul_i64(n, b->dims[i], &n)) return false;
  return *bytes = n, true;
}

void sw_element_poison(sw_dtype t, void *at) {
  sw_dtype_class c = sw_dtype_class_of(t);
  if (c == SW_CLASS_FLOAT || c == SW_CLASS_COMPLEX)
    sw_scalar_store(t, (sw_scalar){.re = NAN, .im = NAN}, at);
  else
    memset(at, 0xA5, (size_t)sw_dtype_bytes(t));
}

void sw_buffer_poison(sw_buffer *b) {
  int64_t bytes;
  size_t size = (size_t)sw_dtype_bytes(b->dtype);
  if (!b->data || !sw_buffer_bytes(b, &bytes) || bytes == 0) return;
  char *at = b->data;
  sw_element_poison(b->dtype, at);
  /* Doubling copies: one element becomes two, four, ... */
  for (size_t have = size, all = (size_t)bytes; have < all;) {
    size_t step = have < all - have ? have : all - have;
    memcpy(at + have, at, step);
    have += step;
  }
}

static sw_rc check_buffer(const sw_collective *c, const sw_buffer *b, const char *what, sw_diag *d) {
  int64_t bytes;
  const char *op = sw_coll_text(c->op);
  if (b->rank < 0 || b->rank > SW_MAX_RANK || (unsigned)b->dtype >= SW_DTYPE_COUNT)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: its %s is no tensor (rank %d, dtype %d)", op, what, b->rank,
                         (int)b->dtype);
  for (int i = 0; i < b->rank; i++)
    if (b->dims[i] < 0) return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: its %s has a negative extent", op, what);
  if (!sw_buffer_bytes(b, &bytes)) return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: its %s is too large", op, what);
  if (bytes && !b->data) return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: its %s has no data", op, what);
  return SW_OK;
}

static sw_rc check_valid(const sw_collective *c, const sw_buffer *in, sw_diag *d) {
  for (int i = 0; i < in->rank; i++)
    if (in->valid[i] < 0 || in->valid[i] > in->dims[i])
      return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: %lld valid positions along dimension %d of extent %lld",
                           sw_coll_text(c->op), (long long)in->valid[i], i, (long long)in->dims[i]);
  return SW_OK;
}

static sw_rc check_pair(const sw_collective *c, const sw_buffer *in, const sw_buffer *out, sw_diag *d) {
  const char *op = sw_coll_text(c->op);
  if (in->rank != out->rank)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: input of rank %d, result of rank %d", op, in->rank, out->rank);
  if (!sw_coll_combines(c->op) && in->dtype != out->dtype)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: input of %s, result of %s; expected the same", op,
                         sw_dtype_text(in->dtype), sw_dtype_text(out->dtype));
  if (sw_coll_flags(c->op) & SW_COLL_USES_TILES) return SW_OK;
  for (int i = 0; i < in->rank; i++)
    if (i != sw_collective_cut_dim(c) && i != sw_collective_joined_dim(c) && in->dims[i] != out->dims[i])
      return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: dimension %d has extent %lld in the input and %lld in the result", op, i,
                           (long long)in->dims[i], (long long)out->dims[i]);
  return SW_OK;
}

static sw_rc check_tile_dims(const sw_mesh *m, const sw_collective *c, const sw_tiling *t, const sw_buffer *b,
                             const char *what, sw_diag *d) {
  sw_collective as_result = *c;
  as_result.src = as_result.dst = t;
  int64_t dims[SW_MAX_RANK];
  SW_TRY(sw_collective_result_dims(m, &as_result, b->rank, NULL, dims, d));
  for (int i = 0; i < b->rank; i++)
    if (b->dims[i] != dims[i])
      return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: dimension %d of the %s has extent %lld; its tiling says %lld",
                           sw_coll_text(c->op), i, what, (long long)b->dims[i], (long long)dims[i]);
  return SW_OK;
}

/* The result's block must be able to hold every piece that is cut. */
static sw_rc check_split(const sw_collective *c, const sw_buffer *in, const sw_buffer *out, sw_diag *d) {
  const int cut = sw_collective_cut_dim(c);
  int64_t n = sw_collective_members(c, 0);
  if (cut < 0 || cut == sw_collective_joined_dim(c) || out->dims[cut] >= sw_ceil_div(in->valid[cut], n)) return SW_OK;
  return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: %lld positions cut into %lld blocks do not fit blocks of %lld",
                       sw_coll_text(c->op), (long long)in->valid[cut], (long long)n, (long long)out->dims[cut]);
}

sw_rc sw_collective_check_buffers(const sw_mesh *m, const sw_collective *c, bool is_root, const sw_buffer *in,
                                  const sw_buffer *out, sw_diag *d) {
  const char *op = sw_coll_text(c->op);
  const unsigned flags = sw_coll_flags(c->op);
  bool in_optional = flags & (is_root ? SW_COLL_NO_INPUT : SW_COLL_NO_INPUT | SW_COLL_FROM_ROOT);
  bool out_optional = flags & (is_root ? SW_COLL_NO_RESULT : SW_COLL_NO_RESULT | SW_COLL_TO_ROOT);
  if (!in && !in_optional) return SW_FAIL_INPUT(d, SW_NOWHERE, "%s without an input", op);
  if (!out && !out_optional) return SW_FAIL_INPUT(d, SW_NOWHERE, "%s without a result", op);
  SW_TRY(sw_collective_verify(m, c, in ? in->rank : out ? out->rank : 0, d));
  if (in && !in_optional) {
    SW_TRY(check_buffer(c, in, "input", d));
    SW_TRY(check_valid(c, in, d));
  }
  if (out && !out_optional) SW_TRY(check_buffer(c, out, "result", d));
  const sw_buffer *typed = out ? out : in;
  if (typed && (flags & SW_COLL_USES_REDUCTION) && !sw_reduction_applies(c->reduction, typed->dtype))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: reduction '%s' is not defined on %s", op, sw_reduction_text(c->reduction),
                         sw_dtype_text(typed->dtype));
  if (flags & SW_COLL_USES_TILES) SW_TRY(check_tile_dims(m, c, c->src, in, "input", d));
  if (flags & SW_COLL_TILED) SW_TRY(check_tile_dims(m, c, c->dst, out, "result", d));
  if (!in || !out || in_optional || out_optional) return SW_OK;
  SW_TRY(check_pair(c, in, out, d));
  return check_split(c, in, out, d);
}
