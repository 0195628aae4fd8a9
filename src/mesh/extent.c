/* Which elements a device holds: shard indices, extents, buffers.
 *
 * 10 rows over 4 shards: blocks of ceil(10/4) = 3, shards [0,3) [3,6) [6,9) [9,10); every buffer has 3 rows.
 */
#include "mesh/extent.h"

#include <string.h>

#include "base/checked.h"

int64_t sw_sharding_shards(const sw_sharding *s, int dim) {
  int n;
  const sw_axis_ref *refs = sw_sharding_dim(s, dim, &n);
  return sw_axis_refs_size(refs, n);
}

const int64_t *sw_sharding_dim_offsets(const sw_sharding *s, int dim) {
  int n;
  if (!s->offsets) return NULL;
  const int64_t *at = s->offsets;
  for (int d = 0; d < dim; d++) {
    const sw_axis_ref *refs = sw_sharding_dim(s, d, &n);
    if (n > 0) at += sw_axis_refs_size(refs, n) + 1;
  }
  (void)sw_sharding_dim(s, dim, &n);
  return n > 0 ? at : NULL;
}

const int64_t *sw_sharding_dim_halos(const sw_sharding *s, int dim) {
  int n, cut = 0;
  if (!s->halos) return NULL;
  for (int i = 0; i < s->n_refs && s->dim_of[i] < dim; i++) cut += i == 0 || s->dim_of[i] != s->dim_of[i - 1];
  (void)sw_sharding_dim(s, dim, &n);
  return n > 0 ? s->halos + (ptrdiff_t)2 * cut : NULL;
}

int64_t sw_sharding_block(const sw_sharding *s, int dim, int64_t k) {
  int64_t shards = sw_sharding_shards(s, dim);
  const int64_t *starts = sw_sharding_dim_offsets(s, dim);
  if (starts) {
    int64_t longest = 0;
    for (int64_t i = 0; i < shards; i++) longest = sw_max_i64(longest, starts[i + 1] - starts[i]);
    return longest;
  }
  const int64_t *halo = sw_sharding_dim_halos(s, dim);
  return sw_ceil_div(k, shards) + (halo ? halo[0] + halo[1] : 0);
}

bool sw_sharding_local_dims(const sw_sharding *s, const int64_t *dims, int64_t *local) {
  int64_t product = 1;
  bool fits = true;
  for (int d = 0; d < s->rank; d++) {
    local[d] = sw_sharding_block(s, d, dims[d]);
    fits = fits && sw_mul_i64(product, local[d], &product);
  }
  return fits;
}

sw_dtype sw_sharding_held_as(const sw_sharding *s, sw_dtype t) {
  bool narrow = sw_dtype_class_of(t) == SW_CLASS_FLOAT && (t == SW_F16 || sw_dtype_bits(t) < 16);
  return s->n_partial && narrow ? SW_F32 : t;
}

sw_dtype sw_sharding_moved_as(const sw_sharding *from, const sw_sharding *to, sw_dtype t) {
  return sw_sharding_held_as(from->n_partial ? from : to, t);
}

int64_t sw_sharding_local_bytes(const sw_sharding *s, const int64_t *dims, sw_dtype t) {
  int64_t bytes = sw_dtype_bytes(t);
  bool fits = true, empty = false;
  for (int d = 0; d < s->rank; d++) {
    int64_t block = sw_sharding_block(s, d, dims[d]);
    empty = empty || block == 0;
    fits = fits && sw_mul_i64(bytes, block, &bytes);
  }
  return empty ? 0 : fits ? bytes : INT64_MAX;
}

int64_t sw_sharding_index(const sw_mesh *m, const sw_sharding *s, int dim, int64_t device) {
  int n;
  const sw_axis_ref *refs = sw_sharding_dim(s, dim, &n);
  return sw_mesh_group_index(m, device, refs, n);
}

void sw_sharding_extents(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, int64_t device, sw_extent *out) {
  for (int d = 0; d < s->rank; d++) {
    sw_extent *e = &out[d];
    const int64_t *halo = sw_sharding_dim_halos(s, d);
    int64_t from, to, low = halo ? halo[0] : 0;
    sw_sharding_extent(m, s, d, dims[d], device, &from, &to);
    e->len = sw_sharding_block(s, d, dims[d]);
    /* An empty shard behind the end: where its block would begin, as its halo counts from there. */
    e->start = (halo ? sw_sharding_index(m, s, d, device) * (e->len - halo[0] - halo[1]) : from) - low;
    e->core_lo = sw_clamp_i64(from - e->start, 0, e->len);
    e->core_hi = e->core_lo + (to - from);
    e->lo = sw_clamp_i64(-e->start, 0, e->len);
    e->hi = halo ? sw_max_i64(e->lo, sw_clamp_i64(dims[d] - e->start, 0, e->len)) : e->core_hi;
  }
}

int64_t sw_sharding_parts(const sw_sharding *s) { return sw_axis_refs_size(sw_sharding_partial(s), s->n_partial); }

int64_t sw_sharding_part(const sw_mesh *m, const sw_sharding *s, int64_t device) {
  return s->n_partial ? sw_mesh_group_index(m, device, sw_sharding_partial(s), s->n_partial) : 0;
}

void sw_sharding_extent(const sw_mesh *m, const sw_sharding *s, int dim, int64_t k, int64_t device, int64_t *lo,
                        int64_t *hi) {
  int64_t index = sw_sharding_index(m, s, dim, device);
  const int64_t *starts = sw_sharding_dim_offsets(s, dim);
  if (starts) {
    *lo = starts[index];
    *hi = starts[index + 1];
    return;
  }
  int64_t block = sw_ceil_div(k, sw_sharding_shards(s, dim));
  *lo = sw_min_i64(k, index * block);
  *hi = sw_min_i64(k, *lo + block);
}
