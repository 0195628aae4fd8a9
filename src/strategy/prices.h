/* Prices of resharding by shape class: every distinct (dims, dtype) has one list of shardings and one table of prices,
 * so that a repeated layer pays once. A price is at first what no route costs less than, which takes no search; one
 * that a plan uses is then searched for. Pairs that differ by which of several symmetric axes stands where are searched
 * for once, too. */
#ifndef STRATEGY_PRICES_H_
#define STRATEGY_PRICES_H_

#include "base/array.h"
#include "shardwright/clock.h"
#include "shardwright/graph.h"
#include "base/hash.h"
#include "reshard/least.h"

/* From one sharding to another, in cost units. */
typedef struct sw_price {
  int64_t units; /* -1: not asked yet */
  bool exact;    /* else no route costs less */
} sw_price;

typedef struct sw_shape_class {
  sw_type type;
  bool combines;                   /* collectives are parts of calls */
  SW_ARRAY(sw_sharding) shardings; /* index = sharding id within the class */
  sw_dict ids;
  sw_dict relabelled; /* pairs -> cost units, where the machine has symmetric axes; -1: not known */
  sw_price *price;    /* side x side */
  size_t side;
  sw_route_end *end; /* by sharding */
  int32_t routes;    /* its number in all routes + 1; 0: it has none yet */
} sw_shape_class;

typedef struct sw_prices {
  const sw_machine *machine;
  double deadline_s; /* of sw_now_s, for sw_prices_in_time; 0: none */
  sw_cancel *cancel;
  bool any_symmetric;
  int8_t first_symmetric[SW_MAX_AXES]; /* the least axis that it is symmetric to, by axis */
  SW_ARRAY(sw_shape_class) classes;
  sw_route_prices *routes, *own_routes; /* own: NULL where they were given */
  sw_dict by_shape;
} sw_prices;

/* `routes`: prices of routes found before, borrowed and added to; NULL: none. */
sw_rc sw_prices_init(sw_prices *p, const sw_machine *machine, sw_route_prices *routes, sw_diag *d);
void sw_prices_deinit(sw_prices *p);
/* The shape class of a type, and of whether its values' collectives are parts of calls: its index. `type->dims` must
 * outlive the prices. */
sw_rc sw_prices_class(sw_prices *p, const sw_type *type, bool combines, int32_t *out, sw_diag *d);
/* The id of a sharding in its shape class. */
sw_rc sw_prices_id(sw_prices *p, int32_t shape_class, const sw_sharding *s, int32_t *out, sw_diag *d);
/* Is the deadline past? SW_E_CANCELLED then. */
sw_rc sw_prices_in_time(const sw_prices *p, sw_diag *d);
/* The price of going from one sharding id to another as it is known, or what it is at least; SW_FORBIDDEN when there is
 * known to be no way. */
sw_rc sw_prices_get(sw_prices *p, int32_t shape_class, int32_t from, int32_t to, int64_t *out, sw_diag *d);
/* Make sure that it is exact; *raised is set when it was less before. */
sw_rc sw_prices_settle(sw_prices *p, int32_t shape_class, int32_t from, int32_t to, bool *raised, sw_diag *d);

#endif
