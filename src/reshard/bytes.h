/* Bytes that steps and routes move, and the least that any route must. */
#ifndef SRC_RESHARD_BYTES_H_
#define SRC_RESHARD_BYTES_H_

#include "reshard/wanted_reshard.h"

/* Of an element, in collectives. */
double rs_moved_bytes(const rs_request *r);
/* Of a block, as steps are priced. */
double rs_block_bytes(const rs_request *r, const sw_sharding *s);
/* Fills max_bytes and total_bytes of a step that starts from `before`. */
void rs_leg_bytes(const rs_request *r, const sw_sharding *before, sw_hop *step);
/* Fills the bounds of a route (docs/resharding.md, "Lower bounds"). */
void rs_route_bound(const rs_request *r, sw_route *route);
/* Does every device send at most one whole block and receive at most one? */
sw_rc rs_is_permute(const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, bool *out, sw_diag *d);

#endif
