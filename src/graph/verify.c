/* The executable definition of a right graph: ids in range, every value defined once and before its uses, names that
 * lead back, use lists that agree with the operands, outputs and aliases that fit, annotations that do not contradict
 * each other, and types, attributes and loops that the registry gives again. */
#include "graph/builder.h"

#define WRONG(d, span, ...) SW_FAIL(d, SW_E_BUG, span, "internal: " __VA_ARGS__)

static sw_rc check_value(const sw_graph *g, sw_id id, sw_diag *d) {
  const sw_value *v = &g->values[id];
  if (!v->name) return WRONG(d, v->span, "value %d has no name", (int)id);
  if (v->type.rank < 0 || v->type.rank > SW_MAX_RANK) {
    return WRONG(d, v->span, "value '%s' has rank %d", v->name, v->type.rank);
  }
  bool ok;
  if (v->def >= 0) {
    ok = v->def < g->n_ops && v->def_index >= 0 && v->def_index < g->ops[v->def].n_results &&
         g->ops[v->def].results[v->def_index] == id;
  } else {
    ok = v->def_index >= 0 && v->def_index < g->n_args && g->args[v->def_index] == id;
  }
  if (!ok) return WRONG(d, v->span, "value '%s' is not where it is defined", v->name);
  for (int i = 0; i < v->n_uses; i++) {
    sw_value_use u = v->uses[i];
    bool reads = u.op >= 0 && u.op < g->n_ops
                     ? u.index < g->ops[u.op].n_operands && g->ops[u.op].operands[u.index] == id
                     : u.op == -1;
    if (!reads) return WRONG(d, v->span, "use %d of value '%s' does not read it", i, v->name);
  }
  if (sw_graph_value_named(g, v->name) != id) {
    return WRONG(d, v->span, "the name '%s' leads to another value", v->name);
  }
  return SW_OK;
}

static bool same_loop(const sw_loop *a, const sw_loop *b) {
  return a->size == b->size && a->kind == b->kind && a->combiner == b->combiner &&
         a->partial_operands == b->partial_operands && a->whole_results == b->whole_results;
}

/* What the registry gives for the op now. */
static sw_rc infer_again(const sw_graph *g, const sw_op *op, sw_arena *scratch, sw_diag *d) {
  sw_rule_call c = {.rule = sw_op_rule_of(op->code),
                    .code = op->code,
                    .name = op->name,
                    .span = op->span,
                    .arena = scratch,
                    .n_operands = op->n_operands,
                    .given_nest = op->nest,
                    .n_given_types = op->n_results,
                    .d = d};
  sw_type *operands, *results;
  SW_ARENA_NEW(operands, scratch, op->n_operands, d);
  SW_ARENA_NEW(results, scratch, op->n_results, d);
  for (int i = 0; i < op->n_operands; i++) operands[i] = *sw_operand_type(g, op, i);
  for (int i = 0; i < op->n_results; i++) results[i] = *sw_result_type(g, op, i);
  c.operands = operands;
  c.given_types = results;
  sw_shape s;
  SW_TRY(sw_shape_build(&c, op->n_attrs, op->attrs, &s));
  bool same = s.n_results == op->n_results && s.n_attrs == op->n_attrs && !c.rule->expand;
  for (int i = 0; same && i < op->n_results; i++) same = sw_type_equal(&s.results[i], &results[i]);
  if (same && op->nest) same = op->nest->n_loops == s.nest->n_loops && op->nest->n_maps == s.nest->n_maps;
  for (int i = 0; same && op->nest && i < op->nest->n_loops; i++) {
    same = same_loop(&op->nest->loops[i], &s.nest->loops[i]);
  }
  return same ? SW_OK
              : WRONG(d, op->span, "%s '%s' is not what the registry gives", sw_opcode_text(op->code), op->name);
}

static sw_rc check_op(const sw_graph *g, sw_id id, sw_diag *d) {
  const sw_op *op = &g->ops[id];
  if ((unsigned)op->code >= SW_OP_COUNT || !op->name) {
    return WRONG(d, op->span, "op %d has no opcode or name", (int)id);
  }
  for (int i = 0; i < op->n_operands; i++) {
    sw_id v = op->operands[i];
    bool earlier = v >= 0 && v < g->n_values && g->values[v].def < id;
    if (!earlier) return WRONG(d, op->span, "operand %d of '%s' is no earlier value", i, op->name);
  }
  for (int i = 0; i < op->n_results; i++) {
    sw_id v = op->results[i];
    if (v < 0 || v >= g->n_values || g->values[v].def != id || g->values[v].def_index != i) {
      return WRONG(d, op->span, "result %d of '%s' is not defined by it", i, op->name);
    }
  }
  return SW_OK;
}

/* Equal ops share their parts: an op whose nest, attributes and operand types were checked is right. */
static sw_rc check_inference(const sw_graph *g, sw_diag *d) {
  sw_arena scratch = {0};
  sw_dict seen = {0};
  sw_rc rc = SW_OK;
  for (sw_id i = 0; !rc && i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    bool fresh = true;
    const void *key[2] = {op->nest, op->code == SW_OP_CONSTANT ? NULL : op->attrs};
    int64_t *first = NULL;
    if (op->nest) rc = sw_dict_put(&seen, key, sizeof key, i, &first, &fresh, d);
    if (rc) break;
    const sw_op *like = fresh ? op : &g->ops[*first];
    bool same = !fresh && like->code == op->code && like->n_operands == op->n_operands;
    for (int k = 0; same && k < op->n_operands; k++) {
      same = sw_type_equal(sw_operand_type(g, op, k), sw_operand_type(g, like, k));
    }
    for (int k = 0; same && k < op->n_results; k++) {
      same = sw_type_equal(sw_result_type(g, op, k), sw_result_type(g, like, k));
    }
    if (same) continue;
    sw_arena_reset(&scratch);
    rc = infer_again(g, op, &scratch, d);
  }
  sw_dict_deinit(&seen);
  sw_arena_deinit(&scratch);
  return rc;
}

static sw_rc verify_outputs(const sw_graph *g, sw_diag *d) {
  for (int i = 0; i < g->n_outputs; i++) {
    sw_id v = g->outputs[i], a = g->alias[i];
    if (v < 0 || v >= g->n_values || a >= g->n_values) return WRONG(d, g->output_spans[i], "output %d is no value", i);
    if (a >= 0 && (g->values[a].kind != SW_VALUE_STATE || !sw_type_equal(&g->values[a].type, &g->values[v].type))) {
      return WRONG(d, g->output_spans[i], "output %d becomes no state of its type", i);
    }
  }
  return SW_OK;
}

sw_rc sw_graph_verify(const sw_graph *g, sw_diag *d) {
  if (!g->sealed) return WRONG(d, SW_NOWHERE, "%s", "the graph is not sealed");
  int64_t uses = 0, slots = 0;
  for (sw_id i = 0; i < g->n_values; i++) {
    SW_TRY(check_value(g, i, d));
    uses += g->values[i].n_uses;
  }
  for (sw_id i = 0; i < g->n_ops; i++) {
    SW_TRY(check_op(g, i, d));
    slots += g->ops[i].n_operands;
  }
  SW_TRY(verify_outputs(g, d));
  slots += g->n_outputs;
  if (uses != slots) return WRONG(d, SW_NOWHERE, "use lists hold %lld of %lld uses", (long long)uses, (long long)slots);
  return check_inference(g, d);
}
