/* What lies in memory of the host: what is offloaded, and stacks of that which loops write there slice by slice, hand
 * on and read:
 *
 *   s = zeros   while { a = enter(s)  h = offload(r)  b = dynamic_update_slice(a, h, i)  y = yield(b) }  t = join(a, y)
 *   while { c = enter(t)  h' = dynamic_slice(c, j)  r' = fetch(h') }             s a h b y t c h' are on the host
 */
#include "graph/control.h"

static bool is_on(const sw_graph *g, sw_id value) { return g->builder->values.at[value].on_host; }

static bool put_on(sw_graph *g, sw_id value) {
  const bool was = is_on(g, value);
  g->builder->values.at[value].on_host = true;
  return !was;
}

/* Operands, from the first on, that lie where the result does; 0: it is of memory of the device. */
static int count_beside(const sw_graph *g, const sw_op *op) {
  const sw_opcode c = op->code;
  const bool view = c == SW_OP_RESHAPE || c == SW_OP_BROADCAST;
  if (view && sw_type_elements(sw_operand_type(g, op, 0)) != sw_type_elements(sw_result_type(g, op, 0))) return 0;
  if (c == SW_OP_DYNAMIC_UPDATE_SLICE) return 2;
  if (c == SW_OP_JOIN) return op->n_operands;
  return view || c == SW_OP_DYNAMIC_SLICE || c == SW_OP_ENTER || c == SW_OP_YIELD ? 1 : 0;
}

static bool spread_over(sw_graph *g, const sw_op *op) {
  const int n = count_beside(g, op);
  bool any = false, changed = false;
  if (op->code == SW_OP_OFFLOAD) return put_on(g, op->results[0]);
  for (int k = 0; k < n; k++) any = any || is_on(g, op->operands[k]) || is_on(g, op->results[0]);
  for (int k = 0; k < n && any; k++) changed = put_on(g, op->operands[k]) || changed;
  return any ? put_on(g, op->results[0]) || changed : false;
}

/* A splat, which can as well be made on the host. */
static bool is_fill(const sw_op *op) {
  const sw_attr *value = op->code == SW_OP_CONSTANT ? sw_op_attr(op, SW_ATTR_VALUE) : NULL;
  return value && value->u.data.splat;
}

static sw_rc check_on_host(const sw_graph *g, sw_id value, sw_diag *d) {
  const sw_value *v = &g->builder->values.at[value];
  const sw_op *maker = v->def < 0 ? NULL : &g->ops[v->def];
  if (!maker || (maker->code != SW_OP_OFFLOAD && !is_fill(maker) && !count_beside(g, maker)))
    return SW_FAIL_INPUT(d, v->span, "'%s' is put into memory of the host; expected an offload of it", v->name);
  for (int32_t u = 0; u < v->n_uses; u++) {
    const sw_op *op = v->uses[u].op < 0 ? NULL : &g->ops[v->uses[u].op];
    if (op && (op->code == SW_OP_FETCH || v->uses[u].index < count_beside(g, op))) continue;
    return SW_FAIL_INPUT(d, op ? op->span : v->span, "'%s' is read in memory of the host by %s; expected a fetch of it",
                         v->name, op ? op->name : "an output");
  }
  return SW_OK;
}

sw_rc sw_graph_find_on_host(sw_graph *g, sw_diag *d) {
  bool changed = false;
  for (sw_id i = 0; i < g->n_ops; i++)
    changed = changed || g->ops[i].code == SW_OP_OFFLOAD || g->ops[i].code == SW_OP_FETCH;
  while (changed) {
    changed = false;
    for (sw_id i = 0; i < g->n_ops; i++) changed = spread_over(g, &g->ops[i]) || changed;
  }
  for (sw_id v = 0; v < g->n_values; v++)
    if (is_on(g, v)) SW_TRY(check_on_host(g, v, d));
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    if (op->code == SW_OP_FETCH && !is_on(g, op->operands[0]))
      return SW_FAIL_INPUT(d, op->span, "'%s' fetches '%s', which the device has; expected what is offloaded", op->name,
                           g->values[op->operands[0]].name);
  }
  return SW_OK;
}
