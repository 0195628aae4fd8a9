/* Parts of partial values.
 *
 *   sum of 5 over three devices: 0 5 0, and of the next element perhaps 7 0 0
 *   average of 5 over three:     0 15 0, or 5 5 5 where 15 is not a number of the type
 */
#include "exec/validate/parts.h"

#include <string.h>

#include "base/hash.h"
#include "collective/scalar.h"

/* An element of value `at` as the part of one of `n` devices. */
static void store_device_part(sw_reduction kind, sw_dtype t, int64_t n, bool holds, char *at) {
  if (kind != SW_REDUCE_AVERAGE) {
    if (!holds) sw_reduction_identity_bytes(kind, t, at);
    if (holds && (kind == SW_REDUCE_AND || kind == SW_REDUCE_OR)) sw_element_store(t, sw_element_load(t, at) != 0, at);
    return;
  }
  _Alignas(16) char times[16] = {0}, back[16] = {0};
  sw_scalar v = sw_scalar_load(t, at);
  sw_scalar_store(t, (sw_scalar){v.re * (double)n, v.im * (double)n, v.bits * (uint64_t)n}, times);
  sw_scalar_store(t, sw_reduction_finish(kind, t, sw_scalar_load(t, times), n), back);
  if (t == SW_BOOL || memcmp(back, at, (size_t)sw_dtype_bytes(t)) != 0) return; /* all hold it */
  if (holds) memcpy(at, times, (size_t)sw_dtype_bytes(t));
  if (!holds) sw_element_store(t, 0, at);
}

sw_rc sw_parts_split(const sw_mesh *m, const sw_sharding *s, const sw_buffer *whole, int64_t position, sw_tensor *block,
                     sw_diag *d) {
  const sw_reduction kind = (sw_reduction)s->partial_kind;
  const int64_t parts = sw_sharding_parts(s), part = sw_sharding_part(m, s, position);
  int64_t lo[SW_MAX_RANK], n[SW_MAX_RANK], first[SW_MAX_RANK], index[SW_MAX_RANK] = {0}, bytes;
  if (!s->n_partial) return SW_OK;
  if (kind == SW_REDUCE_GENERIC || !sw_reduction_applies(kind, whole->dtype)) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "no parts of %s can be made whose '%s' is known", sw_dtype_text(whole->dtype),
                         sw_reduction_text(kind));
  }
  sw_block_extent(m, s, whole, position, lo, n, first);
  if (sw_has_no_position(whole->rank, n)) return SW_OK;
  bytes = sw_dtype_bytes(whole->dtype);
  do {
    int64_t from[SW_MAX_RANK], at[SW_MAX_RANK];
    for (int k = 0; k < whole->rank; k++) {
      from[k] = lo[k] + index[k];
      at[k] = first[k] + index[k];
    }
    const uint64_t element = (uint64_t)sw_box_offset(whole, from);
    const bool holds = (int64_t)(sw_hash_u64(element, 1) % (uint64_t)parts) == part;
    store_device_part(kind, whole->dtype, parts, holds, (char *)block->data + sw_box_offset(block, at) * bytes);
  } while (sw_next_position(whole->rank, n, index));
  return SW_OK;
}

/* The combination of one element over the devices of a group, stored for all of them. */
static void combine_element(const sw_cut *c, const int64_t *members, int64_t parts, sw_tensor *blocks, int64_t offset) {
  const sw_reduction kind = (sw_reduction)c->sharding->partial_kind;
  const sw_dtype t = blocks[members[0] * c->stride].dtype;
  sw_scalar sum = {0};
  for (int64_t p = 0; p < parts; p++) {
    sw_scalar v = sw_scalar_load(t, (const char *)blocks[members[p] * c->stride].data + offset);
    sum = p ? sw_reduction_combine(kind, t, sum, v) : v;
  }
  sum = sw_reduction_finish(kind, t, sum, parts);
  for (int64_t p = 0; p < parts; p++) sw_scalar_store(t, sum, (char *)blocks[members[p] * c->stride].data + offset);
}

sw_rc sw_parts_combine(const sw_cut *c, sw_tensor *blocks, sw_sharding *whole_sharding, sw_diag *d) {
  const int64_t parts = sw_sharding_parts(c->sharding), devices = c->end;
  const sw_axis_ref *refs = sw_sharding_partial(c->sharding);
  int64_t *at, *members;
  *whole_sharding = *c->sharding;
  whole_sharding->n_partial = 0;
  if (!c->sharding->n_partial) return SW_OK;
  sw_arena scratch = {0};
  at = sw_arena_alloc(&scratch, (size_t)devices, sizeof *at, d); /* device by position in the mesh */
  members = sw_arena_alloc(&scratch, (size_t)parts, sizeof *members, d);
  for (int64_t i = 0; members && i < devices; i++) at[sw_cut_position(c, i)] = i;
  for (int64_t i = 0; members && i < devices; i++) {
    const int64_t position = sw_cut_position(c, i);
    const sw_tensor *block = &blocks[i * c->stride];
    if (sw_sharding_part(c->mesh, c->sharding, position) != 0) continue;
    for (int64_t p = 0; p < parts; p++)
      members[p] = at[sw_mesh_group_peer(c->mesh, position, refs, c->sharding->n_partial, p)];
    const int64_t bytes = sw_dtype_bytes(block->dtype), all = sw_buffer_elements(block) * bytes;
    for (int64_t offset = 0; offset < all; offset += bytes) combine_element(c, members, parts, blocks, offset);
  }
  sw_arena_deinit(&scratch);
  return members ? SW_OK : SW_E_RESOURCE;
}
