/* Weights that ops use in eight bits: scaled by their largest element, and converted. */
#ifndef PLAN_NARROWING_H_
#define PLAN_NARROWING_H_

#include "shardwright/graph.h"

/* By value, the argument of which it is all, scaled, converted or reduced to a scale, when that argument is brought to
 * so few bits (8) that it is scaled before; -1: none. Such a value is a scalar or has the argument's extents. */
SW_CHECKED sw_rc sw_narrowed_weights(const sw_graph *g, sw_arena *arena, const sw_id **root, sw_diag *d);

#endif
