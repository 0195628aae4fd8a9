/* The order in which the ops of a model are partitioned.
 *
 * That of the model, but where collectives are done together (kernel.h): there what waits for a reduction that others
 * join comes behind all that does not, so that the reductions of many gradients can be one call.
 *
 *   dw2 = dot ..  w2 -= dw2  dw1 = dot ..  w1 -= dw1      ->      dw2  dw1  w2 -= dw2  w1 -= dw1
 *
 * Loops and choices move as a whole.
 */
#include "spmd/order.h"

/* Behind the last op that belongs to the one at `id`: a loop or choice with the joins behind it, or the op alone. */
static sw_id end_of_unit(const sw_graph *g, sw_id id) {
  int depth = 0;
  do {
    const sw_opcode code = g->ops[id++].code;
    depth += (code == SW_OP_WHILE || code == SW_OP_CASE) - (code == SW_OP_END);
  } while (depth > 0 && id < g->n_ops);
  while (id < g->n_ops && g->ops[id].code == SW_OP_JOIN) id++;
  return id;
}

/* Does the use wait for a reduction that others join? */
static bool waits(const sw_plan *p, sw_value_use use) {
  const sw_id value = p->job.graph->ops[use.op].operands[use.index];
  sw_sharding made, taken;
  if (!sw_value_combines(p->job.kernels, value)) return false;
  sw_plan_made_sharding(p, value, &made);
  sw_plan_taken_sharding(p, use, &taken);
  return made.n_partial > taken.n_partial;
}

static bool op_waits(const sw_plan *p, sw_id id, const bool *late) {
  const sw_op *op = &p->job.graph->ops[id];
  for (int i = 0; i < op->n_operands; i++) {
    const sw_id def = p->job.graph->values[op->operands[i]].def;
    if ((def >= 0 && late[def]) || waits(p, (sw_value_use){id, i})) return true;
  }
  return false;
}

sw_rc sw_spmd_order(const sw_plan *p, sw_arena *arena, sw_id **out, sw_diag *d) {
  const sw_graph *g = p->job.graph;
  bool *late;
  sw_id *order;
  int32_t n = 0;
  SW_ARENA_NEW_EACH(arena, g->n_ops, d, order, late);
  *out = order;
  for (sw_id first = 0, end; p->job.kernels && first < g->n_ops; first = end) {
    bool any = false;
    end = end_of_unit(g, first);
    for (sw_id i = first; i < end && !any; i++) any = op_waits(p, i, late);
    for (sw_id i = first; i < end; i++) late[i] = any;
  }
  for (int pass = 0; pass < 2; pass++)
    for (sw_id i = 0; i < g->n_ops; i++)
      if (late[i] == (pass == 1)) order[n++] = i;
  return SW_OK;
}
