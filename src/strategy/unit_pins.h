/* Annotations of people as restrictions of options: required ones remove what they do not admit, hints make it cost
 * some units more. Those of the last priority cost one; a hint of an earlier one outweighs many of a later one. */
#ifndef STRATEGY_UNIT_PINS_H_
#define STRATEGY_UNIT_PINS_H_

#include "strategy/demands.h"
#include "strategy/unit_options.h"

#include "shardwright/selection.h"

typedef struct sw_pin_target {
  sw_job job;
  const sw_units *units;
  sw_prices *prices;
  sw_arena *arena;
  const sw_option_set **options; /* by unit; replaced where an annotation says so */
  const sw_enumerate_options *enumerate;
  sw_even even;
  sw_stated_list *stated;  /* of ports whose strategies give or want something else than is required */
  sw_demand_index demands; /* from sw_pins_apply on, as the next */
  int32_t n_priorities;    /* of hints; the numbers that there are, ascending */
  const int32_t *priorities;
} sw_pin_target;

sw_rc sw_pins_apply(sw_pin_target *t, sw_diag *d);

#endif
