/* What a value's consumers pay for its resharded copies.
 *
 * A copy that several consumers want is made once and paid once. Exactly that takes a copy node per wanted sharding,
 * which ties all consumers together and is dear to solve; yet almost all of them would never be used. So each wanted
 * sharding q starts out shared by halves: with m consumers that can want q, each that does pays 1/m of the route. That
 * never counts more than the truth, and exactly the truth when none or all of them want q. Only where a solution shows
 * that it counted too little does q get its copy node (refine), for every value of the same pattern at once.
 */
#ifndef STRATEGY_SHARING_H_
#define STRATEGY_SHARING_H_

#include "shardwright/select.h"
#include "strategy/choices.h"

/* A node that reads a value, and through which of its ports. */
typedef struct sw_consumer {
  const sw_choices *choices;
  int32_t node; /* of the value at hand; the rest is the same for all values of a pattern */
  int32_t n_ports;
  const int32_t *ports;
} sw_consumer;

/* Values whose producer and consumers are of the same kinds share prices. */
typedef struct sw_pattern {
  const sw_choices *producer;
  int32_t port, shape_class;
  int64_t repeats; /* how often the values are made, and with them their copies */
  int32_t n_consumers;
  const sw_consumer *consumers; /* `node` unused */
  int32_t n_ids;
  int32_t *wanting;       /* by sharding id: how many consumers can want it */
  bool *exact;            /* by sharding id: has a copy node */
  const int64_t **tables; /* by consumer: producer x consumer; NULL: all zero */
  bool ready;             /* tables are as `exact` says */
} sw_pattern;

/* Count who can want what. */
sw_rc sw_pattern_init(sw_pattern *p, const sw_prices *prices, sw_arena *arena, sw_diag *d);
/* Fill the tables. */
sw_rc sw_pattern_tables(sw_pattern *p, sw_prices *prices, sw_arena *arena, sw_diag *d);
/* Under choices x of the producer and y[i] of consumer i: what the copies truly cost; with `refine`, mark as exact each
 * sharding for which the tables count less (*marked is set then). */
sw_rc sw_pattern_true_cost(sw_pattern *p, sw_prices *prices, int32_t x, const int32_t *y, bool refine, int64_t *cost,
                           bool *marked, sw_diag *d);
/* Tables of the copy node of sharding q: producer x 2 and 2 x consumer i (NULL when it can never want q). */
sw_rc sw_pattern_copy_tables(const sw_pattern *p, sw_prices *prices, int32_t q, sw_arena *arena,
                             const int64_t **from_producer, const int64_t **to_consumer, sw_diag *d);

#endif
