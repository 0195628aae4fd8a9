/* The options of a unit: what it can be chosen to do. Units that are equal share them.
 *
 * An option says what it costs, what it wants of each value that the unit reads, as what it gives each that it makes,
 * and what a device holds for it: those of the latter for as long as they live (unit.h), buffers while the unit runs.
 */
#ifndef STRATEGY_UNIT_OPTIONS_H_
#define STRATEGY_UNIT_OPTIONS_H_

#include "strategy/prices.h"

#include "shardwright/strategy.h"

/* What the options want or give at a port (unit.h). */
typedef struct sw_option_port {
  int32_t shape_class;
  bool tied;      /* the value arrives as it is made: no copy in another sharding */
  int32_t *id;    /* per option: its sharding, by number in the shape class; -1: nothing is read or made there */
  int64_t *bytes; /* per option: of one device's block */
  /* Of a result that is brought to another sharding behind the op (NULL: none is), per option: as it is made, and
   * while it is brought there. */
  int64_t *made, *both;
} sw_option_port;

typedef struct sw_option_set {
  int32_t n;
  int32_t n_ports;
  sw_option_port *ports;
  int64_t *price;                /* per option, in cost units */
  int64_t *temp;                 /* per option: bytes of buffers; NULL when always 0 */
  const sw_strategy *strategies; /* ops: per option; NULL for arguments and outputs */
} sw_option_set;

/* Every strategy of an op. */
sw_rc sw_options_of_op(const sw_job *j, const sw_op *op, const sw_enumeration *e, sw_prices *prices, sw_arena *arena,
                       sw_option_set *out, sw_diag *d);
/* Given shardings of one value. `held`: the value stays on the devices (ties fall to fewer bytes). */
sw_rc sw_options_of_value(const sw_job *j, sw_id value, const sw_sharding *shardings, int32_t n, bool held,
                          sw_prices *prices, sw_arena *arena, sw_option_set *out, sw_diag *d);
/* Those of these numbers, a number perhaps several times. */
sw_rc sw_options_pick(const sw_option_set *c, const int32_t *which, int32_t n, sw_arena *arena, sw_option_set *out,
                      sw_diag *d);
/* Those options i with keep[i], with penalty[i] more cost (NULL: none). */
sw_rc sw_options_filter(const sw_option_set *c, const bool *keep, const int64_t *penalty, sw_arena *arena,
                        sw_option_set *out, sw_diag *d);
const sw_sharding *sw_options_sharding(const sw_option_set *c, const sw_prices *prices, int port, int32_t option);

#endif
