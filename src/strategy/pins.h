/* Annotations of people as restrictions of options: required ones remove what they do not admit, hints make it cost one
 * unit more. */
#ifndef STRATEGY_PINS_H_
#define STRATEGY_PINS_H_

#include "strategy/demands.h"
#include "strategy/options.h"

#include "shardwright/selection.h"

typedef struct sw_pin_target {
  const sw_graph *g;
  const sw_units *units;
  const sw_machine *machine;
  sw_prices *prices;
  sw_arena *arena;
  const sw_option_set **options; /* by unit; replaced where an annotation says so */
  const sw_enumerate_options *enumerate;
  sw_stated_list *stated; /* of ports whose strategies give or want something else than is required */
} sw_pin_target;

sw_rc sw_pins_apply(const sw_pin_target *t, sw_diag *d);

#endif
