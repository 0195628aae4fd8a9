/* What one move costs: the machine's prices at the sizes of a state. */
#ifndef SRC_RESHARD_PRICE_H_
#define SRC_RESHARD_PRICE_H_

#include "reshard/search.h"

/* Padded bytes of one device's buffer. */
double rs_local_bytes(const rs_query *q, const int64_t *shards);
/* A collective over the given atoms, in order, of a buffer of `bytes`. */
double rs_collective_s(const rs_query *q, sw_coll_op op, const uint8_t *atoms, int n, double bytes);
/* The same over a bit set of atoms, in mesh order. */
double rs_collective_over_s(const rs_query *q, sw_coll_op op, unsigned atoms, double bytes);
/* The direct exchange from a state to a state; NULL: the opaque end. */
double rs_exchange_s(const rs_query *q, const rs_state *from, const rs_state *to);
/* May the exchange do what one collective does at the given price? Not where blocks are even: then it is the collective
 * that networks are built for, and prices a little lower are errors of the model. Padding may make it dearer by more.
 */
bool rs_exchange_beats(const rs_query *q, const int64_t *shards_from, const int64_t *shards_to, double exchange_s,
                       double collective_s);
/* The tiling of a state, or of the opaque end. */
void rs_tiling_of(const rs_query *q, const rs_state *state, const sw_sharding *opaque, sw_tiling *out);

/* Atoms in order as axis refs, digits that follow each other joined; returns how many. */
int rs_refs_of(const rs_space *s, const uint8_t *atoms, int n, sw_axis_ref *refs);
int rs_refs_of_set(const rs_space *s, unsigned atoms, sw_axis_ref *refs);

#endif
