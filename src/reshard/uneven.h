/* Steps between states on a tensor that some of them cut unevenly. What devices receive there depends on every extent,
 * so prices are counted where they are asked for.
 */
#ifndef SRC_RESHARD_UNEVEN_H_
#define SRC_RESHARD_UNEVEN_H_

#include "reshard/net.h"

typedef struct rs_uneven {
  const rs_net *net;
  const rs_query *q;                        /* its space is the net's, on the dims of the tensor */
  int64_t block[SW_MAX_RANK][RS_NET_LISTS]; /* elements of a list's first shard */
  bool even[SW_MAX_RANK][RS_NET_LISTS];     /* are all its shards of so many? */
} rs_uneven;

void rs_uneven_init(rs_uneven *u, const rs_net *n, const rs_query *q);
double rs_uneven_bytes(const rs_uneven *u, int state); /* padded, of one device */
/* The step from a state to another and its price, which is HUGE_VAL where there is none. */
double rs_uneven_step(const rs_uneven *u, int from, int to, rs_step *out);
/* As sw_machine_exchange_s. */
double rs_uneven_exchange_s(const rs_uneven *u, int from, int to);

#endif
