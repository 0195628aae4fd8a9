/* What an exchange costs. What the busiest device receives follows from what it keeps of each dimension (dims.c): of
 * several that change, no device lacks more than one with the least part of each would. Ends that lists of atoms do not
 * write are counted device by device.
 */
#include <math.h>

#include "reshard/route_graph.h"

double rs_graph_exchange_s(rs_graph *g, const rs_vertex *from, const rs_vertex *to, uint32_t changed) {
  const double bytes = to->bytes;
  double kept[SW_MAX_LEVELS], blocks = 1;
  for (int l = 0; l < g->n_levels; l++) kept[l] = 1;
  for (int d = 0; d < g->r->space.rank; d++) {
    if (from->dim[d] == to->dim[d]) continue;
    const rs_dim_leg *s = rs_graph_dim_leg(g, d, from->dim[d], to->dim[d]);
    for (int l = 0; l < g->n_levels; l++) kept[l] *= s->kept[l];
    blocks *= s->touched;
  }
  sw_exchange_load load = {.bytes = bytes * (1 - kept[0]), .buffer_bytes = bytes};
  if (load.bytes <= 0) /* a copy */
    return sw_group_collective_s(g->r->machine, rs_graph_group(g, 0), SW_COLL_ALL_SLICE, bytes);
  const sw_group *group = rs_graph_group(g, changed);
  load.peers = fmax(1, fmin(blocks > 1 ? blocks - 1 : 1, (double)(group->shape.size - 1)));
  for (int l = 1; l < g->n_levels; l++) load.outside_bytes[l] = fmin(bytes * (1 - kept[l]), load.bytes);
  return sw_group_exchange_s(g->r->machine, group, &load);
}

double rs_graph_counted_exchange_s(const rs_graph *g, const rs_vertex *from, const rs_vertex *to) {
  sw_tiling src, dst;
  rs_request_tiling(g->r, &from->state, &src);
  rs_request_tiling(g->r, &to->state, &dst);
  return sw_machine_exchange_s(g->r->machine, &src, &dst, sw_machine_moved_bytes(g->r->machine, g->r->dtype));
}
