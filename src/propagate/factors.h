/* Factors of one op, being collected. */
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

typedef struct sw_factors {
  const sw_graph *g;
  const sw_op *op;
  int n_implied; /* scalar operands after ours that only StableHLO has */
  int n;
  int64_t size[SW_MOST_FACTORS];
  sw_factor_kind kind[SW_MOST_FACTORS];
  bool blocked[SW_MOST_FACTORS];
  bool full; /* too many: there is no rule */
  struct {
    int n;
    uint8_t at[SW_MOST_OF_DIM];
  } dim[SW_MOST_TENSORS][SW_MAX_RANK]; /* operands, then results */
} sw_factors;

/* A new factor; returns its number. */
int sw_factor(sw_factors *f, int64_t size, sw_factor_kind kind);
int sw_factor_blocked(sw_factors *f, int64_t size, sw_factor_kind kind);
/* It is the next one of a dimension of a tensor (operands, then results). */
void sw_factor_in(sw_factors *f, int factor, int tensor, int dim);
static inline int sw_factor_result(const sw_factors *f, int r) { return f->op->n_operands + r; }
static inline const sw_type *sw_factor_type(const sw_factors *f, int tensor) {
  int operands = f->op->n_operands;
  return tensor < operands ? sw_operand_type(f->g, f->op, tensor) : sw_result_type(f->g, f->op, tensor - operands);
}

/* By op (factors_of.c); false: no rule. */
bool sw_factors_of(sw_factors *f);

#endif
