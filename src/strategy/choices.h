/* What a node of the selection problem can choose from, shared by all equal nodes.
 *
 * A port is a place where a value enters or leaves the node: operands then results of an op, the one value of an
 * argument or an output. Under each choice a port has one sharding, named by its id in the port's shape class.
 */
#ifndef STRATEGY_CHOICES_H_
#define STRATEGY_CHOICES_H_

#include "strategy/prices.h"

#include "shardwright/strategy.h"

typedef struct sw_port {
  int32_t shape_class;
  bool tied;       /* the value arrives as it is made: no copy in another sharding */
  int32_t *id;     /* per choice */
  int64_t *amount; /* per choice: bytes of one device's block */
} sw_port;

typedef struct sw_choices {
  int32_t n;
  int32_t n_ports;
  sw_port *ports;
  int64_t *cost;                 /* per choice, in cost units */
  int64_t *temp;                 /* per choice: bytes held while the op runs; NULL when always 0 */
  const sw_strategy *strategies; /* ops: per choice; NULL for arguments and outputs */
} sw_choices;

/* Every strategy of an op. */
sw_rc sw_choices_of_op(const sw_graph *g, const sw_op *op, const sw_enumeration *e, sw_prices *prices, sw_arena *arena,
                       sw_choices *out, sw_diag *d);
/* Given shardings of one value. `held`: the value stays on the devices (ties fall to fewer bytes). */
sw_rc sw_choices_of_value(const sw_type *type, const sw_sharding *shardings, int32_t n, bool held, sw_prices *prices,
                          sw_arena *arena, sw_choices *out, sw_diag *d);
/* Those choices i with keep[i], with penalty[i] more cost (NULL: none). */
sw_rc sw_choices_filter(const sw_choices *c, const bool *keep, const int64_t *penalty, sw_arena *arena, sw_choices *out,
                        sw_diag *d);
const sw_sharding *sw_choices_sharding(const sw_choices *c, const sw_prices *prices, int port, int32_t choice);

#endif
