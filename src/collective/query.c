/* Queries: what a device can ask about the mesh and about its part of a tensor.
 *
 *   mesh 2x3, device 4 is (1,1); its neighbours along axis 1 are 3 and 5, along axis 0 1 and none
 */
#include "collective/query.h"

static int axis_at(const int *axes, int n, int i) { return n ? axes[i] : i; }

int sw_query_grid_shape(const sw_mesh *m, const int *axes, int n, int64_t *out) {
  int count = n ? n : m->n_axes;
  for (int i = 0; i < count; i++) out[i] = m->axis[axis_at(axes, n, i)].size;
  return count;
}

int sw_query_multi_index(const sw_mesh *m, int64_t device, const int *axes, int n, int64_t *out) {
  int count = n ? n : m->n_axes;
  for (int i = 0; i < count; i++) out[i] = sw_mesh_coord(m, device, sw_axis_whole(m, axis_at(axes, n, i)));
  return count;
}

int64_t sw_query_linear_index(const sw_mesh *m, const int64_t *multi_index) {
  int64_t index = 0;
  for (int i = 0; i < m->n_axes; i++) index = index * m->axis[i].size + multi_index[i];
  return index;
}

void sw_query_neighbors(const sw_mesh *m, int64_t device, const sw_axis_ref *split, int n, int64_t *down, int64_t *up) {
  int64_t index = sw_mesh_group_index(m, device, split, n), size = sw_axis_refs_size(split, n);
  *down = index > 0 ? sw_mesh_group_peer(m, device, split, n, index - 1) : -1;
  *up = index + 1 < size ? sw_mesh_group_peer(m, device, split, n, index + 1) : -1;
}

void sw_query_shard_shape(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, int64_t device, int64_t *out) {
  for (int d = 0; d < s->rank; d++) {
    int64_t lo, hi;
    sw_sharding_extent(m, s, d, dims[d], device, &lo, &hi);
    out[d] = hi - lo;
  }
}

sw_collective sw_collective_redistribute(const sw_sharding *from, const sw_sharding *to, int rank, const int64_t *dims,
                                         sw_tiling tiles[2]) {
  sw_tiling_of(from, rank, dims, &tiles[0]);
  sw_tiling_of(to, rank, dims, &tiles[1]);
  return (sw_collective){.op = SW_COLL_EXCHANGE, .src = &tiles[0], .dst = &tiles[1]};
}
