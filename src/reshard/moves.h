/* The moves out of a state: one collective each. */
#ifndef SRC_RESHARD_MOVES_H_
#define SRC_RESHARD_MOVES_H_

#include "reshard/search.h"

/* Called once per move, with the state it leads to, its price, and the buffers before and after. */
typedef void (*rs_offer)(void *user, const rs_state *to, rs_move move, double price_s, double bytes_before,
                         double bytes_after);

/* All of them: slices, gathers, all_to_alls and reductions that can be part of a route to `target`. Returns whether
 * atoms stand in each other's way, or blocks do not nest, so that an exchange may beat what collectives can do. */
bool rs_moves(const rs_query *q, const rs_lists *from, const rs_lists *target, rs_offer offer, void *user);
enum { RS_MAX_NEAR = 1000 };
/* States that one all_gather of an atom or all_to_all turns into the target, or up to three where nothing but
 * collectives is wanted; returns how many. */
int rs_states_before(const rs_query *q, rs_state *out);
/* A state with so many shards per dimension from which gathers alone lead to the target; false when there is none, or
 * blocks are uneven. */
bool rs_state_to_gather(const rs_query *q, const int64_t *shards, rs_state *out);

/* Product of sizes; and atoms at the end of a dimension's list, put there or taken away. */
int64_t rs_size_of(const rs_query *q, const uint8_t *atoms, int n);
void rs_push(const rs_query *q, rs_lists *l, int dim, const uint8_t *atoms, int n);
void rs_pop(const rs_query *q, rs_lists *l, int dim, int n);

#endif
