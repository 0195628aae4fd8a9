/* Blocks by global index: a copy between a device's own block, [at, at + n) of its buffer, and the part [lo, lo + n) of
 * the whole. */
#include "exec/validate/block.h"

#include <string.h>

#include "exec/validate/parts.h"

#include "base/hash.h"

int64_t sw_box_offset(const sw_buffer *b, const int64_t *index) {
  int64_t at = 0;
  for (int k = 0; k < b->rank; k++) at = at * b->dims[k] + index[k];
  return at;
}

void sw_block_extent(const sw_mesh *m, const sw_sharding *s, const sw_buffer *whole, int64_t device, int64_t *lo,
                     int64_t *n, int64_t *at) {
  sw_extent e[SW_MAX_RANK];
  sw_sharding_extents(m, s, whole->dims, device, e);
  for (int k = 0; k < whole->rank; k++) {
    lo[k] = e[k].start + e[k].core_lo;
    n[k] = e[k].core_hi - e[k].core_lo;
    at[k] = e[k].core_lo;
  }
}

/* Copies between two boxes of extents n, a row along the last dimension at a time. */
static void box_copy(sw_box dst, sw_box src, const int64_t *n) {
  int rank = dst.b->rank, outer = rank ? rank - 1 : 0;
  int64_t index[SW_MAX_RANK] = {0}, to[SW_MAX_RANK], from[SW_MAX_RANK], bytes = sw_dtype_bytes(dst.b->dtype);
  if (sw_has_no_position(rank, n)) return;
  do {
    for (int k = 0; k < rank; k++) {
      to[k] = dst.lo[k] + index[k];
      from[k] = src.lo[k] + index[k];
    }
    memcpy((char *)dst.b->data + sw_box_offset(dst.b, to) * bytes,
           (const char *)src.b->data + sw_box_offset(src.b, from) * bytes, (size_t)(bytes * (rank ? n[outer] : 1)));
  } while (sw_next_position(outer, n, index));
}

const int64_t sw_box_origin[SW_MAX_RANK];

void sw_block_copy(const sw_mesh *m, const sw_sharding *s, const sw_buffer *whole, const sw_buffer *block,
                   int64_t device, bool to_whole) {
  int64_t lo[SW_MAX_RANK], n[SW_MAX_RANK], at[SW_MAX_RANK];
  sw_block_extent(m, s, whole, device, lo, n, at);
  sw_box w = {whole, lo}, b = {block, at};
  box_copy(to_whole ? w : b, to_whole ? b : w, n);
}

/* What roundings were seen to turn is nobody's mistake: wanted as it is. */
static sw_rc excuse_turned(const sw_box *turned, const int64_t *n, sw_buffer *want, const sw_buffer *got, sw_diag *d) {
  sw_tensor mask = {0};
  SW_TRY(sw_tensor_init(&mask, SW_BOOL, want->rank, n, d));
  box_copy((sw_box){&mask, sw_box_origin}, *turned, n);
  size_t bytes = (size_t)sw_dtype_bytes(want->dtype);
  for (int64_t i = 0; i < sw_buffer_elements(want); i++) {
    size_t at = (size_t)i * bytes;
    if (((const unsigned char *)mask.data)[i]) memcpy((char *)want->data + at, (const char *)got->data + at, bytes);
  }
  sw_tensor_deinit(&mask);
  return SW_OK;
}

sw_rc sw_block_compare(const sw_block_pair *c, sw_tolerance tol, sw_difference *out, sw_diag *d) {
  const sw_buffer *whole = c->whole;
  int64_t lo[SW_MAX_RANK], n[SW_MAX_RANK], at[SW_MAX_RANK];
  sw_block_extent(c->mesh, c->sharding, whole, c->device, lo, n, at);
  *out = (sw_difference){0};
  if (sw_has_no_position(whole->rank, n)) return SW_OK;
  sw_tensor want = {0}, got = {0};
  sw_rc rc = sw_tensor_init(&want, whole->dtype, whole->rank, n, d);
  if (!rc) rc = sw_tensor_init(&got, whole->dtype, whole->rank, n, d);
  if (!rc) {
    box_copy((sw_box){&want, sw_box_origin}, (sw_box){whole, lo}, n);
    box_copy((sw_box){&got, sw_box_origin}, (sw_box){c->block, at}, n);
    if (c->turned) rc = excuse_turned(&(sw_box){c->turned, lo}, n, &want, &got, d);
    if (!rc) rc = sw_tensor_compare(&got, &want, tol, out, d);
  }
  for (int k = 0; !rc && k < whole->rank; k++) { /* report global indices */
    out->first[k] += lo[k];
    out->worst[k] += lo[k];
  }
  sw_tensor_deinit(&want);
  sw_tensor_deinit(&got);
  return rc;
}

/* --- blocks of all devices ---------------------------------------------------------------------------------------- */

/* What a device holds of a whole. */
typedef struct block_key {
  sw_extent extent[SW_MAX_RANK];
  int64_t part;
} block_key;

/* The first device that holds the same block. */
static sw_rc holder(const sw_cut *c, sw_dict *first, int64_t device, int64_t *out, sw_diag *d) {
  const int64_t position = sw_cut_position(c, device);
  block_key key;
  int64_t *found;
  bool fresh;
  memset(&key, 0, sizeof key);
  sw_sharding_extents(c->mesh, c->sharding, c->whole->dims, position, key.extent);
  key.part = sw_sharding_part(c->mesh, c->sharding, position);
  SW_TRY(sw_dict_put(first, &key, sizeof key, device, &found, &fresh, d));
  *out = *found;
  return SW_OK;
}

static sw_rc cut_one(const sw_cut *c, int64_t device, sw_tensor *out, sw_diag *d) {
  const int64_t position = sw_cut_position(c, device);
  int64_t dims[SW_MAX_RANK];
  for (int k = 0; k < c->whole->rank; k++) dims[k] = sw_sharding_block(c->sharding, k, c->whole->dims[k]);
  SW_TRY(sw_tensor_init(out, c->whole->dtype, c->whole->rank, dims, d));
  if (c->poison) sw_buffer_poison(out);
  sw_block_copy(c->mesh, c->sharding, c->whole, out, position, false);
  return sw_parts_split(c->mesh, c->sharding, c->whole, position, out, d);
}

static sw_rc cut_all_blocks(const sw_cut *c, sw_dict *first, sw_tensor *blocks, bool *own, sw_diag *d) {
  for (int64_t device = c->first; device < c->end; device++) {
    int64_t at = device * c->stride, from;
    SW_TRY(holder(c, first, device, &from, d));
    own[at] = from == device;
    if (own[at]) SW_TRY(cut_one(c, device, &blocks[at], d));
    if (!own[at]) blocks[at] = blocks[from * c->stride];
  }
  return SW_OK;
}

sw_rc sw_cut_blocks(const sw_cut *c, sw_tensor *blocks, bool *own, bool *borrows, sw_diag *d) {
  sw_dict first = {0};
  *borrows = !c->sharding || (!c->sharding->n_refs && !c->sharding->n_partial);
  for (int64_t device = c->first; device < c->end && *borrows; device++) {
    own[device * c->stride] = false;
    blocks[device * c->stride] = *c->whole;
  }
  sw_rc rc = *borrows ? SW_OK : cut_all_blocks(c, &first, blocks, own, d);
  sw_dict_deinit(&first);
  return rc;
}
