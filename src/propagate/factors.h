/* The sharding rule of an op, while it is made of factors.
 *
 * In general a factor is a loop, and a dim of a tensor has the factors of the loops that its map names, major first.
 * The column `factors` of ops.def says what Shardy has beyond that: words, and hooks (factors_of.c) that make
 * factors in another order or some that no loop stands for. What a hook leaves open follows from the maps.
 */
#ifndef PROPAGATE_FACTORS_H_
#define PROPAGATE_FACTORS_H_

#include "propagate/factor_rule.h"

/* A rule while it is made, with its dimensions. `full`: it is beyond the limits, and no rule. */
typedef struct sw_factors {
  sw_factor_rule rule;
  sw_factor_dim dim[SW_MOST_TENSORS * SW_MAX_RANK];
  const sw_type *type[SW_MOST_TENSORS]; /* operands, then results; NULL: unknown, as a scalar */
  bool full;
  const sw_graph *g; /* of an op of a graph: what its hooks ask */
  const sw_op *op;
  unsigned words;               /* of its row */
  bool initial;                 /* StableHLO has its initial value as a scalar operand behind the others */
  int of_loop[SW_MOST_FACTORS]; /* factor + 1; 0: none yet */
} sw_factors;

/* Of tensors of these types, without factors; false: of more than a rule may have. */
SW_API bool sw_factors_begin(sw_factors *f, int n_operands, int n_results, const sw_type *const *types);
/* Every dimension is one factor of all tensors of the rank of the first. */
SW_API void sw_factors_alike(sw_factors *f);
/* All factors of an op of a graph, with those of every dim; false: it has no rule. */
SW_API bool sw_factors_build(const sw_graph *g, const sw_op *op, sw_factors *out);

/* A new factor; returns its number. */
SW_API int sw_factor(sw_factors *f, int64_t size, sw_factor_kind kind);
/* It is the next one of this dim, of which the map counts no longer. */
SW_API void sw_factor_in(sw_factors *f, int factor, int tensor, int dim);
static inline sw_factor_dim *sw_factor_dim_of(sw_factors *f, int tensor, int dim) {
  return &f->dim[tensor * SW_MAX_RANK + dim];
}

/* --- for hooks ---------------------------------------------------------------------------------------------------- */

/* Is this dim indexed by loops? */
static inline bool sw_factor_is_reached(const sw_factors *f, int tensor, int dim) {
  return f->op->nest->maps[tensor].dims[dim].n_terms > 0;
}
/* A new factor of this dim alone. */
int sw_factor_alone(sw_factors *f, int tensor, int dim, sw_factor_kind kind);
/* The factors of this dim are made now, those that there are not yet; returns the major one. */
int sw_factor_of_dim(sw_factors *f, int tensor, int dim);
/* Those of all dims, of operands first. */
void sw_factors_of_dims(sw_factors *f);

/* The hooks that rows of ops.def name; false: no rule. */
#define HOOK_none
#define HOOK_LOOPS(words, hook) bool sw_factors_hook_##hook(sw_factors *f);
#define HOOK_DIMS(words, hook) HOOK_LOOPS(words, hook)
#define SW_COLUMN_FACTORS(id, factors) HOOK_##factors
#include "shardwright/ops.def"
#undef HOOK_none
#undef HOOK_LOOPS
#undef HOOK_DIMS

#endif
