/* Weights that ops use in eight bits (narrowing.h). */
#include "plan/narrowing.h"

enum { LEAST_UNSCALED = 16, STEPS = 4 }; /* bits; converted, widened, scaled, converted */

static bool scales_or_converts(const sw_op *op) {
  return sw_op_is_pointwise(op->code) || op->code == SW_OP_CONVERT || op->code == SW_OP_REDUCE_PRECISION;
}

/* Is it a conversion of what has `from`'s extents to so few bits, or an op whose readers all go on to that, or reduce
 * it to a scale? */
static bool narrows(const sw_graph *g, const sw_op *op, const sw_type *from, int steps) {
  if (!steps || !scales_or_converts(op) || !sw_type_same_shape(sw_result_type(g, op, 0), from)) return false;
  if (op->code == SW_OP_CONVERT && sw_dtype_bits(sw_result_type(g, op, 0)->dtype) < LEAST_UNSCALED) return true;
  const sw_value *v = &g->values[op->results[0]];
  for (int32_t i = 0; i < v->n_uses; i++) {
    const sw_op *user = v->uses[i].op < 0 ? NULL : &g->ops[v->uses[i].op];
    if (!user || (user->code != SW_OP_REDUCE && !narrows(g, user, from, steps - 1))) return false;
  }
  return v->n_uses > 0;
}

static bool is_narrowed(const sw_graph *g, const sw_value *v) {
  if (v->kind == SW_VALUE_INPUT || sw_dtype_class_of(v->type.dtype) != SW_CLASS_FLOAT ||
      sw_dtype_bits(v->type.dtype) < LEAST_UNSCALED)
    return false;
  for (int32_t i = 0; i < v->n_uses; i++)
    if (v->uses[i].op >= 0 && narrows(g, &g->ops[v->uses[i].op], &v->type, STEPS)) return true;
  return false;
}

/* The root of all operands but constants. */
static sw_id root_of(const sw_graph *g, const sw_op *op, const sw_id *root) {
  sw_id found = -1;
  if (!scales_or_converts(op) && op->code != SW_OP_REDUCE && op->code != SW_OP_BROADCAST) return -1;
  for (int i = 0; i < op->n_operands; i++) {
    const sw_id r = root[op->operands[i]], def = g->values[op->operands[i]].def;
    const bool constant = def >= 0 && g->ops[def].n_operands == 0;
    if ((r < 0 && !constant) || (r >= 0 && found >= 0 && r != found)) return -1;
    if (r >= 0) found = r;
  }
  if (found < 0 || op->n_results != 1 || sw_op_tied_to(g, (sw_id)(op - g->ops)) >= 0) return -1;
  const sw_type *made = sw_result_type(g, op, 0);
  return made->rank == 0 || sw_type_same_shape(made, &g->values[found].type) ? found : -1;
}

sw_rc sw_narrowed_weights(const sw_graph *g, sw_arena *arena, const sw_id **out, sw_diag *d) {
  sw_id *root;
  SW_ARENA_NEW(root, arena, g->n_values + 1, d);
  for (sw_id v = 0; v < g->n_values; v++) root[v] = -1;
  for (int32_t i = 0; i < g->n_args; i++)
    if (is_narrowed(g, &g->values[g->args[i]])) root[g->args[i]] = g->args[i];
  for (int32_t i = 0; i < g->n_ops; i++)
    if (g->ops[i].n_results) root[g->ops[i].results[0]] = root_of(g, &g->ops[i], root);
  *out = root;
  return SW_OK;
}
