/* Prices of resharding by shape class: every distinct (dims, dtype) has one list of shardings and one lazily filled
 * table of route prices, so that a repeated layer pays once. Pairs that differ by which of several symmetric axes
 * stands where are priced once, too. */
#ifndef STRATEGY_PRICES_H_
#define STRATEGY_PRICES_H_

#include "base/array.h"
#include "shardwright/clock.h"
#include "shardwright/graph.h"
#include "base/hash.h"
#include "shardwright/reshard.h"

typedef struct sw_shape_class {
  sw_type type;
  SW_ARRAY(sw_sharding) shardings; /* index = sharding id within the class */
  sw_dict ids;
  sw_dict relabelled; /* pairs -> cost units, where the machine has symmetric axes; -1: not known */
  int64_t *units;     /* side x side prices in cost units; -1: not asked yet */
  size_t side;
  int32_t routes; /* its number in all routes + 1; 0: it has none yet */
} sw_shape_class;

typedef struct sw_prices {
  const sw_machine *machine;
  double deadline_s; /* of sw_now_s: from then on, or when cancelled, no route is priced; 0: none */
  sw_cancel *cancel;
  bool any_symmetric;
  int8_t first_symmetric[SW_MAX_AXES]; /* the least axis that it is symmetric to, by axis */
  SW_ARRAY(sw_shape_class) classes;
  sw_route_prices *routes; /* NULL: none was asked for */
  sw_dict by_shape;
} sw_prices;

void sw_prices_init(sw_prices *p, const sw_machine *machine);
void sw_prices_deinit(sw_prices *p);
/* The shape class of a type: its index. `type->dims` must outlive the prices. */
sw_rc sw_prices_class(sw_prices *p, const sw_type *type, int32_t *out, sw_diag *d);
/* The id of a sharding in its shape class. */
sw_rc sw_prices_id(sw_prices *p, int32_t shape_class, const sw_sharding *s, int32_t *out, sw_diag *d);
/* Is the deadline past? SW_E_CANCELLED then. */
sw_rc sw_prices_in_time(const sw_prices *p, sw_diag *d);
/* Cost units of going from one sharding id to another; SW_FORBIDDEN when there is no way. */
sw_rc sw_prices_get(sw_prices *p, int32_t shape_class, int32_t from, int32_t to, int64_t *out, sw_diag *d);

#endif
