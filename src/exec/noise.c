/* Where large terms cancel, what remains is their rounding: 1e8 + 1 - 1e8 in f32 may be 0 or 8. A comparison of two
 * runs that add in different orders has to know this of every value, not only of the last.
 *
 *   the gradient of a bias that softmax ignores: terms of 1e-3 cancel to noise of 1e-10; noise[] says 1e-3, and for
 *   0.1 times it, 1e-4
 */
#include "exec/noise.h"

#include <math.h>

/* What a result's noise is of: the noisiest operand in relation to its size (the rule of every op not named), the
 * noise of each term, that of every factor, or that of the products that a contraction adds up. */
typedef enum noise_rule { CARRIES, ADDS, MULTIPLIES, CONTRACTS } noise_rule;

static const noise_rule kRules[SW_OP_COUNT] = {
    [SW_OP_ADD] = ADDS,
    [SW_OP_SUBTRACT] = ADDS,
    [SW_OP_REDUCE] = ADDS,
    [SW_OP_REDUCE_WINDOW] = ADDS,
    [SW_OP_CUMULATIVE] = ADDS,
    [SW_OP_SCATTER] = ADDS,
    [SW_OP_CONCATENATE] = ADDS,
    [SW_OP_SELECT] = ADDS,
    [SW_OP_PAD] = ADDS,
    [SW_OP_DYNAMIC_UPDATE_SLICE] = ADDS,
    [SW_OP_DOT] = CONTRACTS,
    [SW_OP_CONVOLUTION] = CONTRACTS,
    [SW_OP_MULTIPLY] = MULTIPLIES,
};

static double noise_of(const sw_op *op, double own, const double *magnitude, const double *noise) {
  double sum = 0, most = 1, all = 1, product = 1;
  for (int i = 0; i < op->n_operands; i++) {
    double m = magnitude[op->operands[i]], n = noise[op->operands[i]];
    sum = fmax(sum, n);
    product *= m;
    if (m == 0) continue;
    most = fmax(most, n / m);
    all *= fmax(1, n / m);
  }
  switch (kRules[op->code]) {
    case ADDS:
      return fmax(own, sum);
    case MULTIPLIES:
      return own * all;
    case CONTRACTS:
      return fmax(own, product * most);
    case CARRIES:
      return own * most;
  }
  return own;
}

void sw_noise_scales(const sw_graph *g, const double *magnitude, double *noise) {
  const sw_block *b = sw_graph_main_block(g);
  for (int32_t i = 0; i < g->n_values; i++) noise[i] = magnitude[i];
  for (int32_t i = 0; i < b->n_ops; i++) {
    const sw_op *op = &g->ops[b->ops[i]];
    for (int r = 0; r < op->n_results; r++) {
      sw_id id = op->results[r];
      if (magnitude[id] > 0) noise[id] = noise_of(op, magnitude[id], magnitude, noise);
    }
  }
}
