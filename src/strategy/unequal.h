/* Unequal blocks, as the rest of the layer sees them (unequal.c). */
#ifndef STRATEGY_UNEQUAL_H_
#define STRATEGY_UNEQUAL_H_

#include "shardwright/strategy.h"

/* Can the op be cut at these offsets? The reason when not. */
sw_rc sw_strategy_check_offsets(const sw_graph *g, const sw_op *op, const sw_strategy *s, sw_diag *d);
/* The strategy with each combination of the unequal blocks that its loops can have, equal ones alone not among them. */
sw_rc sw_strategy_each_unequal(const sw_graph *g, const sw_op *op, const sw_enumerate_options *o, const sw_strategy *s,
                               sw_arena *arena, sw_rc (*visit)(void *user, const sw_strategy *s, sw_diag *d),
                               void *user, sw_diag *d);

#endif
