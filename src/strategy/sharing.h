/* What a value's consumers pay for its resharded copies.
 *
 * A copy that several consumers want is made once and paid once. Counting exactly that for every sharding that may be
 * wanted takes a node with very many choices; yet almost all copies would never be made. So each wanted sharding q
 * starts out shared by parts: with m consumers that can want q, each that does pays 1/m of the route. That never counts
 * more than the truth, and exactly the truth when none or all of them want q. Only where a solution shows that it
 * counted too little does q become one of the pattern's shared copies (refine), for every value of the same pattern at
 * once.
 *
 * A value with shared copies has a hub node between its producer and its consumers: its choices are what the producer
 * gives, together with a set of shared copies that are made and paid there; a consumer that wants one of them has it
 * for nothing, one that wants a shared copy that is not made pays the whole route. (A copy that only one consumer takes
 * need not be in the set, so sets have at most half as many copies as the value has consumers.)
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

enum { SW_MOST_SHARED = 63 }; /* and no more sets of them than MOST_SETS; further copies stay shared by parts */

/* What a consumer's table has a row for: a sharding that the producer gives, and the shared copies that are made. */
typedef struct sw_source {
  int32_t from;
  uint64_t made; /* bit k: copy shared[k] */
} sw_source;

/* Values whose producer and consumers are of the same kinds share prices. */
typedef struct sw_pattern {
  const sw_choices *producer;
  int32_t port, shape_class;
  int64_t repeats; /* how often the values are made, and with them their copies */
  int32_t n_consumers;
  const sw_consumer *consumers; /* `node` unused */
  int32_t n_ids;
  int32_t *wanting;   /* by sharding id: how many consumers can want it */
  int32_t *shared_at; /* by sharding id: which shared copy it is; -1: none */
  int32_t n_shared, shared[SW_MOST_SHARED];
  bool ready; /* what follows is as `shared` says */
  int32_t n_rows;
  sw_source *rows;        /* the hub's choices; without shared copies the producer's */
  int64_t *row_cost;      /* with shared copies: of the hub's choices */
  const int64_t *link;    /* with shared copies: producer x hub */
  bool whole;             /* copies that are not shared ones are charged to every consumer, not by parts */
  const int64_t **tables; /* by consumer: rows x consumer; NULL: all zero */
} sw_pattern;

/* Count who can want what. */
sw_rc sw_pattern_init(sw_pattern *p, const sw_prices *prices, sw_arena *arena, sw_diag *d);
/* Fill the tables. */
sw_rc sw_pattern_tables(sw_pattern *p, sw_prices *prices, sw_arena *arena, sw_diag *d);
/* Make `id` a shared copy, when there is room; whether it became one now. */
bool sw_pattern_share(sw_pattern *p, int32_t id);
/* Under choices x of the producer and y[i] of consumer i: what the copies truly cost; with `refine`, make each sharding
 * for which the tables count less a shared copy (*marked is set then). */
sw_rc sw_pattern_true_cost(sw_pattern *p, sw_prices *prices, int32_t x, const int32_t *y, bool refine, int64_t *cost,
                           bool *marked, sw_diag *d);
/* The hub's choice that goes with x and y[]: the copies that two want are made. */
int32_t sw_pattern_row(const sw_pattern *p, int32_t x, const int32_t *y);

#endif
