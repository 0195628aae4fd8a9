/* Annotations of people as restrictions of options: required ones remove what they do not admit, hints make it cost one
 * unit more. */
#ifndef STRATEGY_PINS_H_
#define STRATEGY_PINS_H_

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
  int32_t *n_stated; /* of ports whose strategies give or want something else than is required */
  sw_stated *stated;
} sw_pin_target;

sw_rc sw_pins_apply(const sw_pin_target *t, sw_diag *d);

#endif
