/* The queries of the shard dialect: grid_shape, process_multi_index, process_linear_index, neighbors_linear_indices and
 * shard_shape; and the collective that takes a tensor from any sharding to any other.
 */
#ifndef COLLECTIVE_QUERY_H_
#define COLLECTIVE_QUERY_H_

#include "shardwright/collective.h"

/* Sizes of the named axes of the mesh, in the given order; n = 0 means all axes. Returns how many were written
 * (at most SW_MAX_AXES). */
SW_API int sw_query_grid_shape(const sw_mesh *m, const int *axes, int n, int64_t *out);
/* The device's coordinates along them. */
SW_API int sw_query_multi_index(const sw_mesh *m, int64_t device, const int *axes, int n, int64_t *out);
/* Its linear index: on mesh 10x20x30 the device (1,2,3) has 3 + 30*2 + 30*20*1 = 663. */
SW_API int64_t sw_query_linear_index(const sw_mesh *m, const int64_t *multi_index);
/* The devices before and after it by shard index over `split` (on 10x20x30, split along axis 1: 633 and 693); -1 where
 * there is none. */
SW_API void sw_query_neighbors(const sw_mesh *m, int64_t device, const sw_axis_ref *split, int n, int64_t *down,
                               int64_t *up);
/* Elements of each dimension that the device holds (halos not included). */
SW_API void sw_query_shard_shape(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, int64_t device,
                                 int64_t *out);

/* The exchange from one sharding of a tensor to another; partial axes play no part. `tiles` is room for the two
 * tilings, which the collective borrows. */
SW_API sw_collective sw_collective_redistribute(const sw_sharding *from, const sw_sharding *to, int rank,
                                                const int64_t *dims, sw_tiling tiles[2]);

#endif
