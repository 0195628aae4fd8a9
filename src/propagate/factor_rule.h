/* The sharding rule of an op in Shardy's words: factors instead of loops and maps, for comparison with
 * `sdy.op_sharding_rule` and for people who read those.
 *
 *   dot_general of [8,32] and [32,16]:   ([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}
 *
 * A factor is a part of one or more dimensions; adjacent letters ("jk") are the factors of one dimension, major first.
 * Factors of the kind reduction, need_replication and permutation are listed, all others pass through; through blocked
 * ones no sharding is propagated. Factors are loops; what Shardy has beyond loops and maps is the column `factors` of
 * ops.def. Operands that StableHLO has and our op says by its kind (the initial value of a reduce) appear as scalars.
 */
#ifndef PROPAGATE_FACTOR_RULE_H_
#define PROPAGATE_FACTOR_RULE_H_

#include "shardwright/graph.h"

/* Append the rule; false (and nothing) when the op has none: constants and other sources, control flow, unknown ops
 * that are given without one, reshapes without elements. */
SW_API bool sw_factor_rule_print(const sw_graph *g, const sw_op *op, sw_text *out);
/* A line per op of main that has a rule: %h = dot_general : ([i, k], ... */
SW_API void sw_factor_rules_print(const sw_graph *g, sw_text *out);

#endif
