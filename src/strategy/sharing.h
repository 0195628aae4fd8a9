/* What a value's consumers pay for its resharded copies.
 *
 * A copy that several consumers want is made once and paid once. Counting exactly that for every sharding that may be
 * wanted takes nodes with very many choices; yet almost all copies would never be made. So each wanted sharding q
 * starts out split: every consumer that can want q has a share of the route, and pays it when it does. The shares add
 * up to the whole route, so that never more is counted than the truth, and exactly the truth when all want q whose
 * share is not zero. At first the m consumers have 1/m each; split.h finds shares under which the bound is high. Only
 * where a solution shows that it counted too little does q become one of the pattern's shared copies (refine), for
 * every value of the same pattern at once.
 *
 * A value with shared copies has hub nodes between its producer and its consumers: the choices of a hub are what the
 * producer gives, together with a set of the hub's copies that are made and paid there; a consumer that wants one of
 * them has it for nothing, one that wants a copy of the hub that is not made pays the whole route. (A copy that only
 * one consumer takes need not be in the set, so sets have at most half as many copies as the value has consumers.) A
 * hub takes so many copies that its choices stay few; the next copy begins another hub.
 */
#ifndef STRATEGY_SHARING_H_
#define STRATEGY_SHARING_H_

#include "shardwright/select.h"
#include "strategy/options.h"

/* A node that reads a value, and through which of its ports. */
typedef struct sw_consumer {
  const sw_option_set *options;
  int32_t node; /* of the value at hand; the rest is the same for all values of a pattern */
  int32_t n_ports;
  const int32_t *ports;
} sw_consumer;

/* What a consumer wants: choices that want the same are of one class. */
typedef struct sw_wants {
  int32_t n_classes;
  int32_t *class_of; /* by choice */
  int32_t *first;    /* n_classes + 1, into id */
  int32_t *id;       /* shardings wanted, each once; ~id: the value must arrive so, uncopied */
} sw_wants;

/* What a consumer's table has a row for: what the producer gives, and the copies of the hub that are made. */
typedef struct sw_source {
  int32_t from;  /* class of the producer's choices */
  uint32_t made; /* bit k: the hub's copy k */
} sw_source;

typedef struct sw_hub {
  int32_t first, n; /* its copies: shared[first] .. */
  int32_t n_rows;
  sw_source *rows;        /* its choices */
  int64_t *row_cost;      /* of the choices */
  const int64_t *link;    /* producer x hub */
  const int64_t **tables; /* by consumer: rows x consumer; NULL: all zero */
} sw_hub;

/* Values whose producer and consumers are of the same kinds share prices. */
typedef struct sw_pattern {
  const sw_option_set *producer;
  int32_t port, shape_class;
  int64_t repeats; /* how often the values are made, and with them their copies */
  int32_t n_consumers;
  const sw_consumer *consumers; /* `node` unused */
  int32_t n_ids;
  int32_t n_from, *from_id, *from_of; /* classes of the producer's choices: the sharding given; the class of a choice */
  sw_wants *wants;                    /* by consumer */
  int32_t *wanting;                   /* by sharding id: how many consumers can want it */
  int32_t *wanting_first;             /* by sharding id: the first of them */
  int64_t **share;                    /* by consumer: [class of the producer][sharding id]; NULL: equal */
  int32_t *shared_at;                 /* by sharding id: which shared copy it is; -1: none */
  int32_t n_shared, *shared;
  bool whole; /* copies that are not shared ones are charged to every consumer, not by shares */
  bool ready; /* what the hubs' tables say is as all above says */
  /* In the order of `shared`. The first has the copies that are not shared in its tables too; without any shared copy
   * it stands for the producer, whose choices are its rows, and is no node. */
  SW_ARRAY(sw_hub) hubs;
} sw_pattern;

/* Find out who can want what. */
sw_rc sw_pattern_init(sw_pattern *p, const sw_prices *prices, sw_arena *arena, sw_diag *d);
void sw_pattern_deinit(sw_pattern *p);
/* Fill the tables. */
sw_rc sw_pattern_tables(sw_pattern *p, sw_prices *prices, sw_arena *arena, sw_diag *d);
/* Is there a choice of consumer i that wants a copy in sharding `id`? */
bool sw_pattern_can_want(const sw_pattern *p, int32_t i, int32_t id);
/* What the whole route to a copy costs, from class `from` of the producer's choices. */
sw_rc sw_pattern_route(const sw_pattern *p, sw_prices *prices, int32_t from, int32_t id, int64_t *out, sw_diag *d);
/* Make `id` a shared copy; *marked is set when it was none. */
sw_rc sw_pattern_share(sw_pattern *p, int32_t id, bool *marked, sw_diag *d);
void sw_pattern_unshare(sw_pattern *p); /* no shared copies, as at first */
/* Under choices x of the producer and y[i] of consumer i: what the copies truly cost; with `refine`, make each sharding
 * for which the tables count less a shared copy (*marked is set then). */
sw_rc sw_pattern_true_cost(sw_pattern *p, sw_prices *prices, int32_t x, const int32_t *y, bool refine, int64_t *cost,
                           bool *marked, sw_diag *d);
/* A hub's choice that goes with x and y[]: the copies that two want are made. */
int32_t sw_pattern_row(const sw_pattern *p, const sw_hub *h, int32_t x, const int32_t *y);

#endif
