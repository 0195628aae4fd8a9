/* Nothing is resharded in memory of the host: what is offloaded decides how its stack is cut, where that begins, is
 * written, handed on and read. A stack has further dims in front, which are not cut.
 */
#include "plan/choices.h"

/* The strategy that makes, or takes, the value cut so; *out is whole where none does. */
static void take_cut(const sw_op *op, int port, const sw_sharding *of, int rank_of, int rank, sw_strategy *out) {
  *out = (sw_strategy){0};
  for (int i = 0; i < of->n_refs; i++) {
    const int dim = of->dim_of[i] + rank - rank_of;
    const sw_affine *at = dim < 0 ? NULL : &op->nest->maps[port].dims[dim];
    if (!at || at->n_terms < 1 || !sw_strategy_push(out, at->terms[0].loop, of->refs[i])) *out = (sw_strategy){0};
  }
}

/* A port of what is known to be of the stack; -1: the op has none. */
static int port_of_stack(const sw_op *op, const bool *of_stack) {
  int port = -1;
  for (int k = op->n_operands + op->n_results; k-- > 0;)
    if (of_stack[sw_port_value(op, k)]) port = k;
  return port;
}

sw_rc sw_plan_cut_on_host(sw_plan *p, sw_id offload, sw_arena *mem, sw_diag *d) {
  const sw_graph *g = p->job.graph;
  const sw_id away = g->ops[offload].results[0];
  const int rank = g->values[away].type.rank;
  bool *of_stack, changed = true;
  sw_sharding cut;
  SW_ARENA_NEW(of_stack, mem, g->n_values + 1, d);
  sw_plan_made_sharding(p, away, &cut);
  of_stack[away] = true;
  while (changed) {
    changed = false;
    for (sw_id i = 0; i < g->n_ops; i++) {
      const sw_op *op = &g->ops[i];
      const int port = i == offload ? -1 : port_of_stack(op, of_stack);
      if (port < 0 || (port >= op->n_operands && !sw_op_is_on_host(g, op))) continue;
      const int at = op->n_results == 1 ? op->n_operands : port;
      take_cut(op, at, &cut, rank, sw_port_type(g, op, at)->rank, &p->ops[i]);
      for (int k = 0; k < op->n_operands + op->n_results; k++) {
        const sw_id v = sw_port_value(op, k);
        changed = changed || (sw_value_is_on_host(g, v) && !of_stack[v]);
        of_stack[v] = of_stack[v] || sw_value_is_on_host(g, v);
      }
    }
  }
  return SW_OK;
}
