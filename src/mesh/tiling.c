/* Tilings: windows, owners.
 *
 *   10 elements, base -1, step 4, len 6 (a halo of one):   shard 0 shows [0,5), owns [0,4)
 *                                                          shard 1 shows [3,9), owns [4,8)
 *                                                          shard 2 shows [7,10), owns [8,10)
 */
#include "mesh/tiling_dim.h"

#include <string.h>

#include "mesh/extent.h"
#include "base/checked.h"

void sw_tiling_of(const sw_sharding *s, int rank, const int64_t *dims, sw_tiling *out) {
  out->rank = rank;
  out->other = NULL;
  out->first_apart = s->n_refs;
  out->n_apart = s->n_partial;
  memcpy(out->refs, s->refs, (size_t)(s->n_refs + s->n_partial) * sizeof s->refs[0]);
  uint8_t at = 0;
  for (int d = 0; d < rank; d++) {
    uint8_t first = at;
    int64_t shards = 1;
    while (at < s->n_refs && s->dim_of[at] == d) shards *= s->refs[at++].size;
    int64_t block = sw_ceil_div(dims[d], shards);
    sw_tile_dim *t = &out->dim[d];
    *t = (sw_tile_dim){first, (uint8_t)(at - first), dims[d], 0, block, block, NULL};
    if (s->halos && t->n_refs) {
      const int64_t *halo = sw_sharding_dim_halos(s, d);
      t->base = -halo[0];
      t->len = block + halo[0] + halo[1];
    }
    if (s->offsets && t->n_refs) {
      t->starts = sw_sharding_dim_offsets(s, d);
      t->step = t->len = sw_sharding_block(s, d, dims[d]);
    }
  }
}

static bool dim_equal(const sw_tiling *a, const sw_tiling *b, int d) {
  const sw_tile_dim *x = &a->dim[d], *y = &b->dim[d];
  if (x->size != y->size || x->base != y->base || x->step != y->step || x->len != y->len) return false;
  if (!sw_axis_refs_equal(a->refs + x->first_ref, x->n_refs, b->refs + y->first_ref, y->n_refs)) return false;
  if (!x->starts || !y->starts) return x->starts == y->starts;
  return memcmp(x->starts, y->starts, (size_t)(sw_tile_shards(a, d) + 1) * sizeof(int64_t)) == 0;
}

bool sw_tiling_equal(const sw_tiling *a, const sw_tiling *b) {
  if (a->rank != b->rank || a->other != b->other) return false;
  if (!sw_axis_refs_equal(a->refs + a->first_apart, a->n_apart, b->refs + b->first_apart, b->n_apart)) return false;
  for (int d = 0; d < a->rank; d++) {
    if (!dim_equal(a, b, d)) return false;
  }
  return true;
}

void sw_tile_shown(const sw_tile_dim *t, int64_t i, int64_t *lo, int64_t *hi) {
  int64_t start = sw_tile_start(t, i), end = t->starts ? t->starts[i + 1] : start + t->len;
  *lo = sw_clamp_i64(start, 0, t->size);
  *hi = sw_max_i64(*lo, sw_clamp_i64(end, 0, t->size));
}

void sw_tiling_window(const sw_mesh *m, const sw_tiling *t, int dim, int64_t device, int64_t *start, int64_t *lo,
                      int64_t *hi) {
  const sw_tile_dim *td = &t->dim[dim];
  int64_t i = sw_tiling_shard(m, t, dim, device);
  *start = sw_tile_start(td, i);
  sw_tile_shown(td, i, lo, hi);
  *lo -= *start;
  *hi -= *start;
  if (*lo == *hi) *lo = *hi = sw_clamp_i64(*lo, 0, td->len);
}

/* Is every core [i*step, (i+1)*step) inside its window? */
static bool has_cores(const sw_tile_dim *t) {
  return !t->starts && t->step > 0 && t->len > t->step && t->base <= 0 && t->base + t->len >= t->step;
}

void sw_tile_owned(const sw_tile_dim *t, int64_t n, int64_t i, int64_t *lo, int64_t *hi) {
  sw_tile_shown(t, i, lo, hi);
  if (t->starts || t->len <= (t->step < 0 ? -t->step : t->step)) return;
  if (has_cores(t)) {
    *lo = sw_clamp_i64(i * t->step, 0, t->size);
    if (i + 1 < n) *hi = sw_clamp_i64((i + 1) * t->step, 0, t->size);
    return;
  }
  if (i == 0) return;
  int64_t other_lo, other_hi;
  sw_tile_shown(t, i - 1, &other_lo, &other_hi);
  if (t->step >= 0) *lo = sw_clamp_i64(other_hi, *lo, *hi);
  if (t->step < 0) *hi = sw_clamp_i64(other_lo, *lo, *hi);
}

/* The first j in [0, n) whose owned interval ends after lo. */
static int64_t first_after(const sw_tile_dim *t, int64_t n, int64_t lo, bool flipped) {
  int64_t a = 0, b = n;
  while (a < b) {
    int64_t mid = a + (b - a) / 2, from, to;
    sw_tile_owned(t, n, flipped ? n - 1 - mid : mid, &from, &to);
    if (to > lo) {
      b = mid;
    } else {
      a = mid + 1;
    }
  }
  return a;
}

void sw_tile_owners(const sw_tile_dim *t, int64_t n, int64_t lo, int64_t hi, int64_t *first, int64_t *end,
                    bool *flipped) {
  *flipped = !t->starts && t->step < 0;
  *first = *end = 0;
  if (lo >= hi) return;
  if (!t->starts && t->base == 0 && t->step > 0 && t->len == t->step) {
    *first = lo / t->step;
    *end = sw_min_i64(n, (hi - 1) / t->step + 1);
    return;
  }
  *first = first_after(t, n, lo, *flipped);
  *end = *first;
  for (; *end < n; (*end)++) {
    int64_t from, to;
    sw_tile_owned(t, n, *flipped ? n - 1 - *end : *end, &from, &to);
    if (from >= hi) break;
  }
}
