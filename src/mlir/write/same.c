/* Ops that give a value as it was: simplifiers leave them out, and what is annotated at them ends up at the op that
 * makes the value.
 *
 *   %1 = reshape %0 : f32[8,6] -> f32[48]; %2 = reshape %1 : f32[48] -> f32[8,6]      %2 is %0
 *   %3 = add %2, 0; %4 = slice %3 [0:8, 0:6]                                          %4 is %0, too
 */
#include "mlir/write/write.h"

static const sw_type *graph_type_of(const sw_graph *g, sw_id v) { return &g->values[v].type; }

/* Behind ops of one kind that only say the shape anew, the first value that has the type already. */
static bool is_reshaped_back(const sw_graph *g, const sw_op *op) {
  const sw_type *t = graph_type_of(g, op->results[0]);
  for (sw_id x = op->operands[0];; x = g->ops[g->values[x].def].operands[0]) {
    if (sw_type_equal(graph_type_of(g, x), t)) return true;
    if (g->values[x].def < 0 || g->ops[g->values[x].def].code != SW_OP_RESHAPE) return false;
  }
}

/* The dim of its operand that dim k of a transpose is. */
static int64_t operand_dim_of(const sw_op *op, int64_t k) {
  int n;
  const int64_t *permutation = sw_op_ints(op, SW_ATTR_PERMUTATION, &n);
  return k < n ? permutation[k] : k;
}

static bool is_transposed_back(const sw_graph *g, const sw_op *op) {
  const sw_value *x = &g->values[op->operands[0]];
  const sw_op *before = x->def >= 0 && g->ops[x->def].code == SW_OP_TRANSPOSE ? &g->ops[x->def] : NULL;
  bool same = true, back = before != NULL;
  for (int64_t k = 0; k < x->type.rank; k++) {
    same = same && operand_dim_of(op, k) == k;
    back = back && operand_dim_of(before, operand_dim_of(op, k)) == k;
  }
  return same || back;
}

static bool is_all_of_it(const sw_graph *g, const sw_op *op, int operand) {
  return sw_type_equal(graph_type_of(g, op->operands[operand]), graph_type_of(g, op->results[0]));
}

static bool is_spread_in_order(const sw_graph *g, const sw_op *op) {
  int n;
  const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n);
  for (int k = 0; k < n; k++) {
    if (dims[k] != k) return false;
  }
  return is_all_of_it(g, op, 0);
}

static bool has_neutral(const sw_graph *g, const sw_op *op, sw_reduction kind) {
  return sw_ir_is_neutral(g, op->operands[0], kind) || sw_ir_is_neutral(g, op->operands[1], kind);
}

bool sw_ir_changes_nothing(const sw_graph *g, const sw_op *op) {
  if (op->n_results != 1) return false;
  if (op->code == SW_OP_RESHAPE) return is_reshaped_back(g, op);
  if (op->code == SW_OP_TRANSPOSE) return is_transposed_back(g, op);
  if (op->code == SW_OP_BROADCAST) return is_spread_in_order(g, op);
  if (op->code == SW_OP_SLICE || op->code == SW_OP_CONVERT) return is_all_of_it(g, op, 0);
  if (op->code == SW_OP_DYNAMIC_UPDATE_SLICE) return is_all_of_it(g, op, 1);
  if (op->code == SW_OP_ADD || op->code == SW_OP_OR) return has_neutral(g, op, SW_REDUCE_SUM);
  return op->code == SW_OP_MULTIPLY && has_neutral(g, op, SW_REDUCE_PRODUCT);
}
