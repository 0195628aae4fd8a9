/* From one sharding to another by the collectives of Shardy's dialect.
 *
 *   [{"x"}, {}] -> [{}, {"x", "y"}]     all_slice [{"y"}, {}], all_to_all [{"x", "y"}: 0->1]
 *
 * No machine is asked: each collective names a change of the sharding, and dimensions that axes do not divide are
 * padded when they are made local. Routes under a machine's prices, with exchanges that the dialect does not have, are
 * those of shardwright/reshard.h.
 */
#ifndef IO_MLIR_COLLECTIVE_ROUTE_H_
#define IO_MLIR_COLLECTIVE_ROUTE_H_

#include "base/array.h"
#include "shardwright/collective.h"

typedef struct sw_route_part {
  sw_coll_op op;
  bool there;       /* `after` speaks of the mesh with the other device order */
  int from, to;     /* of an all_to_all: dimensions */
  sw_sharding axes; /* moved: by dimension; of all_reduce and to_partial all in dimension 0 */
  sw_sharding after;
} sw_route_part;

typedef SW_ARRAY(sw_route_part) sw_route_parts;

/* What is wanted. Shardings without offsets and halos, both on meshes with the axes of `mesh`. */
typedef struct sw_collective_ends {
  const sw_mesh *mesh;
  int rank;
  const int64_t *dims; /* -1 where not known */
  const sw_sharding *from, *to;
  bool reordered; /* `to` speaks of other device ids: some permute carries the value over */
} sw_collective_ends;

/* Appends the parts; none where both shardings are one. */
SW_CHECKED sw_rc sw_collective_route(const sw_collective_ends *ends, sw_route_parts *out, sw_diag *d);

/* Elements that a device receives over the route; HUGE_VAL where there is none. */
double sw_collective_route_elements(const sw_collective_ends *ends);

#endif
