/* The factors of one op, while they are being read off its loops and maps.
 *
 * In general a factor is a loop, and a dim of a tensor has the factors of the loops that its map names, major first.
 * The column `factors` of ops.def says what Shardy has beyond that: words below, and hooks (factors_of.c) that make
 * factors in another order or some that no loop stands for. What a hook leaves open follows from the maps.
 */
#ifndef PROPAGATE_FACTORS_H_
#define PROPAGATE_FACTORS_H_

#include "propagate/factor_rule.h"

enum { SW_MOST_FACTORS = 64, SW_MOST_TENSORS = 40, SW_MOST_OF_DIM = 8 };

typedef enum sw_factor_kind {
  SW_FACTOR_PASS,
  SW_FACTOR_REDUCTION,
  SW_FACTOR_REPLICATE,
  SW_FACTOR_PERMUTATION,
} sw_factor_kind;

/* Words of the column. */
enum {
  SW_FACTORS_DIMS = 1,       /* operands of the rank of the first result share its factors, dim by dim */
  SW_FACTORS_IN_ORDER = 2,   /* named in the order of the loops, not in that in which tensors have them */
  SW_FACTORS_OF_OPERAND = 4, /* sizes are those of operand 0, where that differs */
  SW_FACTORS_BY_SIZE = 8,    /* passed through where sizes agree, whatever the loops say */
  SW_FACTORS_PERMUTING = 16, /* a permutation where it would need replication */
  SW_FACTORS_BLOCKED = 32,   /* blocked where sizes differ */
  SW_FACTORS_INITIAL = 64,   /* StableHLO has an initial value as a scalar operand, our op says it by its kind */
};

typedef struct sw_factors {
  const sw_graph *g;
  const sw_op *op;
  unsigned words;
  int n;
  int64_t size[SW_MOST_FACTORS];
  sw_factor_kind kind[SW_MOST_FACTORS];
  bool blocked[SW_MOST_FACTORS];
  bool full;                    /* too many: there is no rule */
  int of_loop[SW_MOST_FACTORS]; /* factor + 1; 0: none yet */
  struct {
    int n; /* 0: what the map says */
    uint8_t at[SW_MOST_OF_DIM];
  } dim[SW_MOST_TENSORS][SW_MAX_RANK]; /* operands, then results */
} sw_factors;

static inline int sw_factor_result(const sw_factors *f, int r) { return f->op->n_operands + r; }
static inline const sw_type *sw_factor_type(const sw_factors *f, int tensor) {
  int operands = f->op->n_operands;
  return tensor < operands ? sw_operand_type(f->g, f->op, tensor) : sw_result_type(f->g, f->op, tensor - operands);
}
/* Is this dim indexed by loops? */
static inline bool sw_factor_is_reached(const sw_factors *f, int tensor, int dim) {
  return f->op->nest->maps[tensor].dims[dim].n_terms > 0;
}

/* All factors of an op, with those of every dim; false: it has no rule, or one beyond the limits above. */
SW_API bool sw_factors_build(const sw_graph *g, const sw_op *op, sw_factors *out);

/* The letters of the factors of one dim; then " {i=8, j=4} reduction={i} ..." behind a rule's tensors. */
SW_API void sw_factors_put_dim(const uint8_t *at, int n, sw_text *out);
SW_API void sw_factors_put_kinds(int n, const int64_t *size, const sw_factor_kind *kind, const bool *blocked,
                                 sw_text *out);

/* --- for hooks ---------------------------------------------------------------------------------------------------- */

/* A new factor; returns its number. */
int sw_factor(sw_factors *f, int64_t size, sw_factor_kind kind);
/* It is the next one of this dim, of which the map counts no longer. */
void sw_factor_in(sw_factors *f, int factor, int tensor, int dim);
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
