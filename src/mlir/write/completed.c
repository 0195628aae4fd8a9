/* In which shardings values are said by constraints, which have no word for partial ones: these are said as they are
 * completed.
 *
 *   %1 = dot ...          [{}, {}] partial over x       as it is cut, [{}, {}]: completed here; then as it is asked for
 *   %2 = negate %1        [{}, {}] partial over x       as it is asked for, [{"x"}, {}]
 *   %3 = tanh %2          [{"x"}, {}]                   asks for [{"x"}, {}]
 */
#include "mlir/write/write.h"

/* Is each dim cut as `a` has it, and perhaps further? */
static bool refines(const sw_sharding *b, const sw_sharding *a) {
  for (int d = 0; d < a->rank; d++) {
    int n, m;
    const sw_axis_ref *x = sw_sharding_dim(a, d, &n), *y = sw_sharding_dim(b, d, &m);
    if (n > m || !sw_axis_refs_equal(x, n, y, n)) return false;
  }
  return true;
}

/* The indices of a scatter, cut unevenly for it: XLA (JAX 0.10) gathers such blocks again. Whole ones it slices by
 * itself. */
static bool is_uneven_index(const sw_graph *g, sw_value_use use, const sw_sharding *to) {
  if (use.op < 0 || g->ops[use.op].code != SW_OP_SCATTER || use.index != 1) return false;
  const sw_type *type = &g->values[g->ops[use.op].operands[1]].type;
  for (int k = 0; k < type->rank; k++) {
    if (type->dims[k] % sw_sharding_shards(to, k)) return true;
  }
  return false;
}

sw_rc sw_ir_way_to(sw_ir_writer *w, sw_value_use use, sw_id id, sw_sharding *way, int *n) {
  const sw_type *type = &w->p->graph->values[id].type;
  const sw_machine *machine = w->plan->job.machine;
  sw_sharding from, to;
  const sw_route *route;
  *n = 0;
  sw_plan_value_sharding(w->plan, id, &from);
  sw_plan_use_sharding(w->plan, use, &to);
  if (sw_sharding_equal(&from, &to) || (from.n_partial && to.n_partial)) return SW_OK;
  if (!from.n_partial && refines(&to, &from) && is_uneven_index(w->p->graph, use, &to)) return SW_OK;
  const sw_dtype moved = sw_sharding_moved_as(&from, &to, type->dtype);
  const sw_reshard wanted = {machine, &from, &to, type->rank, type->dims, moved, {0}};
  SW_TRY(sw_route_cached(w->routes, &wanted, &route, w->d));
  for (int k = 0; k + 1 < route->n_steps; k++) {
    const sw_hop *step = &route->step[k];
    if (!step->after.n_partial && step->mesh == w->mesh) way[(*n)++] = step->after;
  }
  if (!to.n_partial) way[(*n)++] = to;
  return SW_OK;
}

sw_sharding sw_ir_without_partial(sw_sharding s) {
  s.n_partial = 0;
  return s;
}

static bool is_same_map(const sw_map *a, const sw_map *b) {
  if (a->rank != b->rank) return false;
  for (int k = 0; k < a->rank; k++) {
    const sw_affine *x = &a->dims[k], *y = &b->dims[k];
    if (x->n_terms != y->n_terms || x->n_terms > 1 || x->constant != y->constant) return false;
    if (x->n_terms && (x->terms->loop != y->terms->loop || x->terms->coef != y->terms->coef)) return false;
  }
  return true;
}

/* Does the op give an element for each one of the operand, and neither enter nor leave a loop or choice? */
static bool is_by_element(const sw_graph *g, const sw_op *op, int operand) {
  bool passes = op->code == SW_OP_ENTER || op->code == SW_OP_YIELD || op->code == SW_OP_JOIN;
  if (!op->nest || passes || op->n_results != 1) return false;
  const sw_type *x = &g->values[op->operands[operand]].type, *y = &g->values[op->results[0]].type;
  return sw_type_same_shape(x, y) && is_same_map(&op->nest->maps[operand], &op->nest->maps[op->n_operands]);
}

/* In which sharding a use of a partial value asks for its sum, perhaps by way of ops on its elements. */
static sw_rc find_asked(sw_ir_writer *w, sw_id id, sw_value_use use, sw_sharding *s) {
  const sw_graph *g = w->p->graph;
  sw_sharding way[SW_MAX_ROUTE_STEPS], from, to;
  int n;
  SW_TRY(sw_ir_way_to(w, use, id, way, &n));
  sw_plan_value_sharding(w->plan, id, &from);
  sw_plan_use_sharding(w->plan, use, &to);
  *s = n ? way[0] : sw_ir_without_partial(to);
  bool stays = use.op >= 0 && to.n_partial && sw_sharding_equal(&from, &to);
  if (!stays || !is_by_element(g, &g->ops[use.op], use.index)) return SW_OK;
  const sw_sharding *next = w->completed[g->ops[use.op].results[0]];
  if (next) *s = *next;
  return SW_OK;
}

/* A value of a function that is read outside of the call: other calls may ask for it otherwise. */
static bool goes_out(const sw_ir_writer *w, const sw_value *v) {
  const sw_ir_call *c = w->call_of[v->def];
  for (int32_t i = 0; c && i < v->n_uses; i++) {
    if (v->uses[i].op < 0 || v->uses[i].op >= c->end_op) return true;
  }
  return false;
}

/* In which sharding a partial value is said: in the one in which all uses ask for its sum, when that cuts it as it is
 * cut or further; else as it is cut. */
static sw_rc find_completed(sw_ir_writer *w, sw_id id) {
  const sw_value *v = &w->p->graph->values[id];
  const sw_opcode code = w->p->graph->ops[v->def].code;
  sw_sharding s, asked;
  sw_plan_value_sharding(w->plan, id, &s);
  if (!s.n_partial) return SW_OK;
  const sw_sharding as_cut = sw_ir_without_partial(s);
  bool one = v->n_uses > 0 && code != SW_OP_ENTER && code != SW_OP_JOIN && !goes_out(w, v);
  for (int32_t i = 0; i < v->n_uses && one; i++) {
    SW_TRY(find_asked(w, id, v->uses[i], i ? &asked : &s));
    one = refines(&s, &as_cut) && (!i || sw_sharding_equal(&s, &asked));
  }
  w->completed[id] = sw_arena_copy(&w->arena, one ? &s : &as_cut, 1, sizeof s, w->d);
  return w->completed[id] ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_ir_find_completed(sw_ir_writer *w) {
  const sw_graph *g = w->p->graph;
  SW_ARENA_NEW(w->completed, &w->arena, g->n_values, w->d);
  SW_ARENA_NEW(w->call_of, &w->arena, g->n_ops, w->d);
  for (size_t i = 0; i < w->p->trace.calls.n; i++) {
    const sw_ir_call *c = &w->p->trace.calls.at[i];
    for (sw_id id = c->first_op; id < c->end_op; id++) w->call_of[id] = c;
  }
  for (sw_id op = g->n_ops; op-- > 0;) {
    for (int i = 0; i < g->ops[op].n_results; i++) SW_TRY(find_completed(w, g->ops[op].results[i]));
  }
  return SW_OK;
}

bool sw_ir_is_made_so(const sw_ir_writer *w, const sw_value *v) {
  const sw_graph *g = w->p->graph;
  const sw_op *op = &g->ops[v->def];
  const sw_sharding *said = w->completed[op->results[v->def_index]];
  for (int i = 0; said && i < op->n_operands; i++) {
    const sw_sharding *operand = w->completed[op->operands[i]];
    if (operand && is_by_element(g, op, i) && sw_sharding_equal(operand, said)) return true;
  }
  return false;
}

void sw_ir_sharding_said(const sw_ir_writer *w, sw_id id, sw_sharding *s) {
  if (w->completed[id]) {
    *s = *w->completed[id];
  } else {
    sw_plan_value_sharding(w->plan, id, s);
  }
}
