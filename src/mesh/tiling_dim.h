/* One dimension of a tiling as intervals: what a shard's buffer stands for, and which elements it owns. */
#ifndef SRC_MESH_TILING_H_
#define SRC_MESH_TILING_H_

#include "shardwright/tiling.h"

static inline int64_t sw_tile_shards(const sw_tiling *t, int dim) {
  return sw_axis_refs_size(t->refs + t->dim[dim].first_ref, t->dim[dim].n_refs);
}

/* Global start of shard i's buffer. */
static inline int64_t sw_tile_start(const sw_tile_dim *t, int64_t i) {
  return t->starts ? t->starts[i] : t->base + i * t->step;
}

/* Elements that shard i's buffer shows, cut to the tensor; lo <= hi. */
void sw_tile_shown(const sw_tile_dim *t, int64_t i, int64_t *lo, int64_t *hi);

/* Elements that others take from shard i of `n`: disjoint over the shards. Where windows overlap these are the core
 * [i*step, (i+1)*step) of a shard with halos (whose halos are copies, perhaps stale), else the first window that shows
 * an element. */
void sw_tile_owned(const sw_tile_dim *t, int64_t n, int64_t i, int64_t *lo, int64_t *hi);

/* The shards that own elements of [lo, hi), ascending by position: first <= j < end, shard(j) = j, or n-1-j for
 * descending tilings (*flipped). Cost: O(1), O(log n) with starts. */
void sw_tile_owners(const sw_tile_dim *t, int64_t n, int64_t lo, int64_t hi, int64_t *first, int64_t *end,
                    bool *flipped);

/* sw_tiling_traffic in closed form; false where blocks are uneven or the digits of both ends do not fit. One mesh. */
bool sw_tiling_traffic_even(const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, double *max, double *total);

#endif
