/* The selection problem of a graph.
 *
 *   nodes   arguments, ops, outputs in this order; then the hubs of values with shared copies (sharing.h)
 *   edges   producer - consumer, or producer - hub and hub - consumer
 */
#include "shardwright/selection.h"

#include <string.h>

#include "shardwright/checked.h"

#include "strategy/divide/divide.h"
#include "strategy/pins.h"

/* Work space of a build. */
typedef struct build {
  sw_selection *s;
  sw_dict op_classes;
  SW_ARRAY(sw_choices *) class_at;
  sw_dict patterns;
  SW_ARRAY(sw_consumer) consumers; /* of the value at hand */
  SW_ARRAY(int32_t) use_ports;
  sw_text key;
} build;

static const sw_block *block_of(const sw_selection *s) { return sw_graph_main_block(s->g); }
static const sw_function *function_of(const sw_selection *s) { return &s->g->functions[s->g->main]; }

/* --- choices of every node --------------------------------------------------------------------------------------- */

/* Devices that share the op's work: the product of the axes on its loops. */
static int64_t work_shards(const sw_space *space, const sw_strategy *s) {
  int64_t n = 1;
  for (int i = 0; i < s->n_refs; i++) n *= s->loop_of[i] < space->n_loops ? s->refs[i].size : 1;
  return n;
}

/* Only the choices that spread the work furthest. */
static sw_rc keep_spread(const sw_op *op, sw_arena *arena, sw_choices *c, sw_diag *d) {
  bool *keep;
  int64_t most = 1;
  sw_choices all = *c;
  SW_ARENA_NEW(keep, arena, c->n, d);
  for (int32_t i = 0; i < c->n; i++) most = sw_max_i64(most, work_shards(op->space, &c->strategies[i]));
  for (int32_t i = 0; i < c->n; i++) keep[i] = work_shards(op->space, &c->strategies[i]) == most;
  return sw_choices_filter(&all, keep, NULL, arena, c, d);
}

static sw_rc choices_of_op(build *b, const sw_op *op, const sw_choices **out, sw_diag *d) {
  sw_selection *s = b->s;
  int64_t *slot;
  bool fresh;
  b->key.n = 0;
  sw_op_class_key(s->g, op, &b->key);
  sw_text_append(&b->key, (const char *)&op->repeats, sizeof op->repeats);
  if (b->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  SW_TRY(sw_dict_put(&b->op_classes, b->key.at, b->key.n, (int64_t)b->class_at.n, &slot, &fresh, d));
  if (fresh) {
    sw_choices *c;
    sw_enumeration e;
    SW_TRY(sw_prices_in_time(&s->prices, d));
    SW_ARENA_NEW(c, s->arena, 1, d);
    SW_TRY(sw_strategies_enumerate(s->g, op, s->machine, &s->o.enumerate, s->arena, &e, d));
    SW_TRY(sw_choices_of_op(s->g, op, &e, &s->prices, s->arena, c, d));
    bool heavy = sw_op_class_of(op->code) == SW_OPS_CONTRACTION;
    if (heavy && s->o.cut_heavy_ops) SW_TRY(keep_spread(op, s->arena, c, d));
    SW_TRY(sw_array_push(&b->class_at, c, d));
    s->pruned_inexact += e.pruned_inexact;
  }
  *out = b->class_at.at[*slot];
  return SW_OK;
}

/* Every sharding of the value, also with the unequal blocks that someone asks for. */
static sw_rc all_of_value(sw_selection *s, const sw_value *v, bool held, sw_choices *out, sw_diag *d) {
  int32_t n, n_unequal;
  const sw_sharding *equal, *unequal;
  sw_sharding *all;
  int64_t left_out;
  SW_TRY(sw_shardings_enumerate(s->g, sw_machine_mesh(s->machine), v->type.rank, v->type.dims, s->arena, &n, &equal,
                                &left_out, d));
  s->pruned_inexact += left_out;
  SW_TRY(sw_shardings_unequal(&s->o.enumerate, v->type.dims, n, equal, s->arena, &n_unequal, &unequal, d));
  if (!n_unequal) return sw_choices_of_value(&v->type, equal, n, held, &s->prices, s->arena, out, d);
  SW_ARENA_NEW(all, s->arena, n + n_unequal, d);
  memcpy(all, equal, (size_t)n * sizeof *all);
  memcpy(all + n, unequal, (size_t)n_unequal * sizeof *all);
  return sw_choices_of_value(&v->type, all, n + n_unequal, held, &s->prices, s->arena, out, d);
}

static sw_rc choices_of_value(build *b, const sw_value *v, bool held, const sw_choices **out, sw_diag *d) {
  sw_selection *s = b->s;
  int64_t *slot;
  bool fresh;
  b->key.n = 0;
  sw_text_puts(&b->key, held ? "held" : "out");
  sw_text_append(&b->key, (const char *)&v->type.dtype, sizeof v->type.dtype);
  sw_text_append(&b->key, (const char *)v->type.dims, (size_t)v->type.rank * sizeof(int64_t));
  if (b->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  SW_TRY(sw_dict_put(&b->op_classes, b->key.at, b->key.n, (int64_t)b->class_at.n, &slot, &fresh, d));
  if (fresh) {
    sw_choices *c;
    SW_ARENA_NEW(c, s->arena, 1, d);
    SW_TRY(all_of_value(s, v, held, c, d));
    SW_TRY(sw_array_push(&b->class_at, c, d));
  }
  *out = b->class_at.at[*slot];
  return SW_OK;
}

static sw_rc make_choices(build *b, sw_diag *d) {
  sw_selection *s = b->s;
  const sw_function *f = function_of(s);
  const sw_block *block = block_of(s);
  for (int32_t i = 0; i < s->n_args; i++) {
    SW_TRY(choices_of_value(b, &s->g->values[f->args[i]], true, &s->choices[i], d));
  }
  for (int32_t i = 0; i < s->n_ops; i++) {
    const sw_op *op = &s->g->ops[block->ops[i]];
    s->node_of_op[block->ops[i]] = s->n_args + i;
    SW_TRY_NOTE(d, choices_of_op(b, op, &s->choices[s->n_args + i], d), "while enumerating the strategies of '%s'",
                op->name);
  }
  for (int32_t i = 0; i < s->n_outputs; i++) {
    SW_TRY(choices_of_value(b, &s->g->values[f->outputs[i]], false, &s->choices[s->n_args + s->n_ops + i], d));
  }
  s->n_classes = (int32_t)b->class_at.n;
  sw_pin_target target = {.g = s->g,
                          .machine = s->machine,
                          .prices = &s->prices,
                          .arena = s->arena,
                          .choices = s->choices,
                          .node_of_op = s->node_of_op,
                          .n_args = s->n_args,
                          .n_ops = s->n_ops,
                          .enumerate = &s->o.enumerate,
                          .stated = &s->stated};
  return sw_pins_apply(&target, d);
}

/* --- nodes: costs and memory ------------------------------------------------------------------------------------- */

/* The step after the last use of a value; outputs are held to the end. */
static int64_t end_of_life(const build *b, const sw_value *v, int64_t def) {
  int64_t end = def + 1;
  for (int32_t u = 0; u < v->n_uses; u++) {
    int64_t at = v->uses[u].op < 0 ? b->s->n_ops : b->s->node_of_op[v->uses[u].op] - b->s->n_args + 1;
    end = sw_max_i64(end, at);
  }
  sw_id held_for = sw_value_held_for(b->s->g, (sw_id)(v - b->s->g->values));
  return held_for < 0 ? end : sw_max_i64(end, b->s->node_of_op[held_for] - b->s->n_args + 1);
}

static sw_rc arg_uses(build *b, int32_t i, sw_node *node, sw_diag *d) {
  sw_selection *s = b->s;
  const sw_value *v = &s->g->values[function_of(s)->args[i]];
  const sw_choices *c = s->choices[i];
  sw_use *use;
  SW_ARENA_NEW(use, s->arena, 1, d);
  *use = (sw_use){0, v->kind == SW_VALUE_INPUT ? end_of_life(b, v, 0) : sw_max_i64(1, s->n_ops), c->ports[0].amount};
  if (s->o.args_whole) {
    int64_t *whole;
    SW_ARENA_NEW(whole, s->arena, c->n, d);
    for (int32_t k = 0; k < c->n; k++) whole[k] = sw_type_bytes(&v->type);
    use->amount = whole;
  }
  node->uses = use;
  node->n_uses = 1;
  return SW_OK;
}

static sw_rc op_uses(build *b, const sw_op *op, int64_t t, const sw_choices *c, sw_node *node, sw_diag *d) {
  sw_selection *s = b->s;
  sw_use *uses;
  SW_ARENA_NEW(uses, s->arena, op->n_results + 1, d);
  node->uses = uses;
  for (int r = 0; r < op->n_results; r++) {
    const sw_value *v = &s->g->values[op->results[r]];
    uses[node->n_uses++] = (sw_use){t, end_of_life(b, v, t), c->ports[op->n_operands + r].amount};
  }
  if (c->temp) uses[node->n_uses++] = (sw_use){t, t + 1, c->temp};
  return SW_OK;
}

static sw_rc make_nodes(build *b, sw_diag *d) {
  sw_selection *s = b->s;
  const sw_block *block = block_of(s);
  int32_t n = s->n_args + s->n_ops + s->n_outputs;
  for (int32_t i = 0; i < n; i++) {
    sw_node node = {.n_choices = s->choices[i]->n, .cost = s->choices[i]->cost};
    int32_t t = i - s->n_args;
    if (t < 0) SW_TRY(arg_uses(b, i, &node, d));
    if (t >= 0 && t < s->n_ops) SW_TRY(op_uses(b, &s->g->ops[block->ops[t]], t, s->choices[i], &node, d));
    SW_TRY(sw_array_push(&s->nodes, node, d));
  }
  return SW_OK;
}

/* --- values and their consumers ---------------------------------------------------------------------------------- */

static void producer_of(const sw_selection *s, const sw_value *v, int32_t *node, int32_t *port) {
  if (v->def < 0) {
    *node = v->def_index;
    *port = 0;
  } else {
    *node = s->node_of_op[v->def];
    *port = s->g->ops[v->def].n_operands + v->def_index;
  }
}

/* A join takes what entered as it was made; where something else is stated inside, add_ties says so. */
static bool joins_stated(const sw_selection *s, const sw_value *v, const sw_value_use *use) {
  if (use->op < 0 || v->def < 0 || s->g->ops[use->op].code != SW_OP_JOIN) return false;
  const int32_t port = s->g->ops[v->def].n_operands + v->def_index;
  return sw_stated_at(s->stated.at, (int32_t)s->stated.n, v->def, port) != NULL;
}

/* The consumers of a value: one per node, with every port of that node that reads the value. An output that becomes a
 * state is read by the state's own node: it comes back as the state is held. */
static sw_rc list_consumers(build *b, const sw_value *v, int32_t producer, sw_diag *d) {
  sw_selection *s = b->s;
  const sw_function *f = function_of(s);
  b->consumers.n = b->use_ports.n = 0;
  SW_TRY(sw_array_reserve(&b->use_ports, (size_t)v->n_uses, d)); /* its place must not change below */
  for (int32_t u = 0; u < v->n_uses; u++) {
    int32_t index = v->uses[u].index, node, port = 0;
    if (v->uses[u].op >= 0) {
      node = s->node_of_op[v->uses[u].op];
      port = index;
    } else {
      node = s->n_args + s->n_ops + index;
      if (f->alias[index] >= 0) node = s->g->values[f->alias[index]].def_index;
    }
    if (node == producer) continue; /* a state returned as it came in */
    if (joins_stated(s, v, &v->uses[u])) continue;
    sw_consumer *last = b->consumers.n ? &b->consumers.at[b->consumers.n - 1] : NULL;
    b->use_ports.at[b->use_ports.n++] = port;
    if (last && last->node == node) {
      last->n_ports++;
      continue;
    }
    sw_consumer c = {s->choices[node], node, 1, &b->use_ports.at[b->use_ports.n - 1]};
    SW_TRY(sw_array_push(&b->consumers, c, d));
  }
  return SW_OK;
}

static sw_rc new_pattern(build *b, const sw_choices *producer, int32_t port, int64_t repeats, sw_diag *d) {
  sw_selection *s = b->s;
  sw_pattern p = {.producer = producer, .port = port, .repeats = repeats, .n_consumers = (int32_t)b->consumers.n};
  sw_consumer *copy = sw_arena_copy(s->arena, b->consumers.at, b->consumers.n, sizeof *copy, d);
  if (!copy) return SW_E_RESOURCE;
  for (int32_t i = 0; i < p.n_consumers; i++) {
    copy[i].ports = sw_arena_copy(s->arena, copy[i].ports, (size_t)copy[i].n_ports, sizeof(int32_t), d);
    if (!copy[i].ports) return SW_E_RESOURCE;
  }
  p.consumers = copy;
  SW_TRY(sw_pattern_init(&p, &s->prices, s->arena, d));
  return sw_array_push(&s->patterns, p, d);
}

static sw_rc find_pattern(build *b, const sw_choices *producer, int32_t port, int64_t repeats, int32_t *out,
                          sw_diag *d) {
  int64_t *slot;
  bool fresh;
  b->key.n = 0;
  sw_text_append(&b->key, (const char *)&producer, sizeof producer);
  sw_text_append(&b->key, (const char *)&port, sizeof port);
  sw_text_append(&b->key, (const char *)&repeats, sizeof repeats);
  for (size_t i = 0; i < b->consumers.n; i++) {
    const sw_consumer *c = &b->consumers.at[i];
    sw_text_append(&b->key, (const char *)&c->choices, sizeof c->choices);
    sw_text_append(&b->key, (const char *)&c->n_ports, sizeof c->n_ports);
    sw_text_append(&b->key, (const char *)c->ports, (size_t)c->n_ports * sizeof *c->ports);
  }
  if (b->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  SW_TRY(sw_dict_put(&b->patterns, b->key.at, b->key.n, (int64_t)b->s->patterns.n, &slot, &fresh, d));
  *out = (int32_t)*slot;
  return fresh ? new_pattern(b, producer, port, repeats, d) : SW_OK;
}

static sw_rc add_value(build *b, sw_id id, sw_diag *d) {
  sw_selection *s = b->s;
  sw_read_value v = {.id = id, .first_consumer = (int32_t)s->consumer_nodes.n};
  int32_t port;
  producer_of(s, &s->g->values[id], &v.producer, &port);
  SW_TRY(list_consumers(b, &s->g->values[id], v.producer, d));
  if (b->consumers.n == 0) return SW_OK;
  SW_TRY(find_pattern(b, s->choices[v.producer], port, sw_value_repeats(s->g, id), &v.pattern, d));
  for (size_t i = 0; i < b->consumers.n; i++) SW_TRY(sw_array_push(&s->consumer_nodes, b->consumers.at[i].node, d));
  return sw_array_push(&s->values, v, d);
}

static sw_rc list_values(build *b, sw_diag *d) {
  const sw_function *f = function_of(b->s);
  const sw_block *block = block_of(b->s);
  for (int32_t i = 0; i < f->n_args; i++) SW_TRY(add_value(b, f->args[i], d));
  for (int32_t i = 0; i < block->n_ops; i++) {
    const sw_op *op = &b->s->g->ops[block->ops[i]];
    for (int r = 0; r < op->n_results; r++) SW_TRY(add_value(b, op->results[r], d));
  }
  return SW_OK;
}

/* --- edges and hubs ---------------------------------------------------------------------------------------------- */

/* Nodes of the value's hubs, and the edges to them and from them. */
static sw_rc add_value_edges(sw_selection *s, sw_read_value *v, sw_diag *d) {
  const sw_pattern *p = &s->patterns.at[v->pattern];
  v->hub = p->n_shared ? (int32_t)s->nodes.n : -1;
  for (size_t k = 0; k < p->hubs.n; k++) {
    const sw_hub *h = &p->hubs.at[k];
    int32_t source = h->n ? (int32_t)s->nodes.n : v->producer;
    if (h->n) {
      SW_TRY(sw_array_push(&s->nodes, ((sw_node){.n_choices = h->n_rows, .cost = h->row_cost}), d));
      SW_TRY(sw_array_push(&s->edges, ((sw_edge){v->producer, source, h->link}), d));
    }
    for (int32_t i = 0; i < p->n_consumers; i++) {
      sw_edge edge = {source, s->consumer_nodes.at[v->first_consumer + i], h->tables[i]};
      if (edge.cost) SW_TRY(sw_array_push(&s->edges, edge, d));
    }
  }
  return SW_OK;
}

/* Values that have one sharding: all else is forbidden. Two results of one op are left to that op. */
static sw_rc add_twins(sw_selection *s, const sw_twins *twins, sw_diag *d) {
  int32_t a, b, port_a, port_b;
  int64_t *cost;
  producer_of(s, &s->g->values[twins->a], &a, &port_a);
  producer_of(s, &s->g->values[twins->b], &b, &port_b);
  if (a == b) return SW_OK;
  const sw_choices *ca = s->choices[a], *cb = s->choices[b];
  SW_ARENA_NEW(cost, s->arena, (size_t)ca->n * (size_t)cb->n, d);
  for (int32_t x = 0; x < ca->n; x++) {
    const sw_sharding *given = sw_choices_sharding(ca, &s->prices, port_a, x);
    for (int32_t y = 0; y < cb->n; y++) {
      bool alike = sw_sharding_equal(given, sw_choices_sharding(cb, &s->prices, port_b, y));
      cost[(int64_t)x * cb->n + y] = alike ? 0 : SW_FORBIDDEN;
    }
  }
  return sw_array_push(&s->edges, ((sw_edge){a, b, cost}), d);
}

/* What enters and what leaves is cut alike, by the strategies themselves. */
static sw_rc add_tie(sw_selection *s, const sw_value *v, const sw_value_use *use, sw_diag *d) {
  const int32_t a = s->node_of_op[v->def], b = s->node_of_op[use->op];
  const sw_choices *ca = s->choices[a], *cb = s->choices[b];
  int64_t *cost;
  SW_ARENA_NEW(cost, s->arena, (size_t)ca->n * (size_t)cb->n, d);
  for (int32_t x = 0; x < ca->n; x++) {
    sw_sharding given;
    sw_strategy_result(s->g, &s->g->ops[v->def], &ca->strategies[x], v->def_index, &given);
    for (int32_t y = 0; y < cb->n; y++) {
      bool alike = sw_sharding_equal(&given, sw_choices_sharding(cb, &s->prices, use->index, y));
      cost[(int64_t)x * cb->n + y] = alike ? 0 : SW_FORBIDDEN;
    }
  }
  return sw_array_push(&s->edges, ((sw_edge){a, b, cost}), d);
}

static sw_rc add_ties(sw_selection *s, sw_diag *d) {
  for (size_t i = 0; i < s->stated.n; i++) {
    const sw_op *op = &s->g->ops[s->stated.at[i].op];
    if (s->stated.at[i].port < op->n_operands) continue;
    const sw_value *v = &s->g->values[op->results[s->stated.at[i].port - op->n_operands]];
    for (int32_t u = 0; u < v->n_uses; u++) {
      if (joins_stated(s, v, &v->uses[u])) SW_TRY(add_tie(s, v, &v->uses[u], d));
    }
  }
  return SW_OK;
}

/* Edges of all values, from the patterns as they are now. */
static sw_rc make_edges(sw_selection *s, sw_diag *d) {
  s->edges.n = 0;
  s->nodes.n = (size_t)s->n_args + (size_t)s->n_ops + (size_t)s->n_outputs;
  for (size_t i = 0; i < s->patterns.n; i++) {
    SW_TRY(sw_pattern_tables(&s->patterns.at[i], &s->prices, s->arena, d));
  }
  for (size_t k = 0; k < s->values.n; k++) SW_TRY(add_value_edges(s, &s->values.at[k], d));
  for (int32_t i = 0; i < s->g->n_twins; i++) SW_TRY(add_twins(s, &s->g->twins[i], d));
  SW_TRY(add_ties(s, d));
  s->problem = (sw_problem){.name = s->g->name,
                            .n_nodes = (int32_t)s->nodes.n,
                            .n_edges = (int32_t)s->edges.n,
                            .nodes = s->nodes.at,
                            .edges = s->edges.at,
                            .limit = s->o.capacity_bytes,
                            .hubs_at = s->n_args + s->n_ops + s->n_outputs};
  return SW_OK;
}

/* --- true cost and refinement ------------------------------------------------------------------------------------ */

/* What the consumers of a value choose, in *y. */
static sw_rc consumers_choose(const sw_selection *s, const sw_read_value *v, const int32_t *choice, sw_int32_array *y,
                              sw_diag *d) {
  int32_t n = s->patterns.at[v->pattern].n_consumers;
  SW_TRY(sw_array_reserve(y, (size_t)n, d));
  for (int32_t i = 0; i < n; i++) y->at[i] = choice[s->consumer_nodes.at[v->first_consumer + i]];
  return SW_OK;
}

static sw_rc weigh(sw_selection *s, const int32_t *choice, bool refine, sw_i128 *cost, bool *marked, sw_diag *d) {
  sw_int32_array y = {0};
  sw_rc rc = SW_OK;
  *cost = 0;
  for (int32_t i = 0; i < s->n_args + s->n_ops + s->n_outputs; i++) *cost += s->nodes.at[i].cost[choice[i]];
  for (size_t k = 0; k < s->values.n && !rc; k++) {
    const sw_read_value *v = &s->values.at[k];
    int64_t units = 0;
    rc = consumers_choose(s, v, choice, &y, d);
    if (!rc)
      rc = sw_pattern_true_cost(&s->patterns.at[v->pattern], &s->prices, choice[v->producer], y.at, refine, &units,
                                marked, d);
    *cost += units;
  }
  sw_array_free(&y);
  return rc;
}

sw_rc sw_selection_cost(sw_selection *s, const int32_t *choice, int64_t *out, sw_diag *d) {
  sw_i128 cost;
  bool marked = false;
  SW_TRY(weigh(s, choice, false, &cost, &marked, d));
  *out = cost >= SW_FORBIDDEN ? SW_FORBIDDEN : (int64_t)cost;
  return SW_OK;
}

sw_rc sw_selection_refine(sw_selection *s, const int32_t *choice, bool *refined, sw_diag *d) {
  sw_i128 cost;
  *refined = false;
  SW_TRY(weigh(s, choice, true, &cost, refined, d));
  return *refined ? make_edges(s, d) : SW_OK;
}

sw_rc sw_selection_divide(sw_selection *s, const sw_divide_options *o, int64_t *work, sw_diag *d) {
  bool taken;
  SW_TRY(sw_divide_parts(s, o, &taken, work, d));
  if (!taken) return SW_OK;
  for (size_t i = 0; i < s->patterns.n; i++) sw_pattern_unshare(&s->patterns.at[i]);
  return make_edges(s, d);
}

sw_rc sw_selection_charge(sw_selection *s, bool whole, sw_diag *d) {
  for (size_t i = 0; i < s->patterns.n; i++) {
    sw_pattern *p = &s->patterns.at[i];
    bool differs = false;
    for (int32_t id = 0; id < p->n_ids && !differs; id++) differs = p->wanting[id] > 1 && p->shared_at[id] < 0;
    if (p->whole == whole || (whole && !differs)) continue;
    p->whole = whole;
    p->ready = false;
  }
  return make_edges(s, d);
}

sw_rc sw_selection_shared(const sw_selection *s, sw_arena *arena, int32_t *n, const sw_shared_copy **out, sw_diag *d) {
  sw_shared_copy *list;
  int32_t all = 0;
  for (size_t k = 0; k < s->values.n; k++) all += s->patterns.at[s->values.at[k].pattern].n_shared;
  SW_ARENA_NEW(list, arena, all, d);
  *out = list;
  *n = all;
  for (size_t k = 0; k < s->values.n; k++) {
    const sw_pattern *p = &s->patterns.at[s->values.at[k].pattern];
    for (int32_t a = 0; a < p->n_shared; a++) {
      *list++ = (sw_shared_copy){s->values.at[k].id, s->prices.classes.at[p->shape_class].shardings.at[p->shared[a]]};
    }
  }
  return SW_OK;
}

sw_rc sw_selection_share(sw_selection *s, int32_t n, const sw_shared_copy *copies, sw_diag *d) {
  int32_t *pattern_of; /* + 1 */
  sw_arena scratch = {0};
  SW_ARENA_NEW(pattern_of, &scratch, s->g->n_values, d);
  for (size_t k = 0; k < s->values.n; k++) pattern_of[s->values.at[k].id] = s->values.at[k].pattern + 1;
  bool any = false;
  sw_rc rc = SW_OK;
  for (int32_t a = 0; a < n; a++) {
    if (!pattern_of[copies[a].value]) continue;
    sw_pattern *p = &s->patterns.at[pattern_of[copies[a].value] - 1];
    const sw_shape_class *c = &s->prices.classes.at[p->shape_class];
    for (int32_t id = 0; id < p->n_ids; id++) {
      if (sw_sharding_equal(&c->shardings.at[id], &copies[a].sharding))
        SW_TRY_TO(end, sw_pattern_share(p, id, &any, d));
    }
  }
end:
  sw_arena_deinit(&scratch);
  return !rc && any ? make_edges(s, d) : rc;
}

sw_rc sw_selection_complete(const sw_selection *s, const int32_t *choice, int32_t *out, sw_diag *d) {
  sw_int32_array y = {0};
  sw_rc rc = SW_OK;
  int32_t n = s->n_args + s->n_ops + s->n_outputs;
  for (int32_t i = 0; i < n; i++) out[i] = choice ? choice[i] : 0;
  for (size_t k = 0; k < s->values.n && !rc; k++) {
    const sw_read_value *v = &s->values.at[k];
    if (v->hub < 0) continue;
    rc = consumers_choose(s, v, out, &y, d);
    const sw_pattern *p = &s->patterns.at[v->pattern];
    for (size_t h = 0; h < p->hubs.n && !rc; h++)
      out[v->hub + (int32_t)h] = sw_pattern_row(p, &p->hubs.at[h], out[v->producer], y.at);
  }
  sw_array_free(&y);
  return rc;
}

/* --- building and reading ---------------------------------------------------------------------------------------- */

static sw_rc build_all(build *b, sw_diag *d) {
  sw_selection *s = b->s;
  SW_ARENA_NEW(s->choices, s->arena, s->n_args + s->n_ops + s->n_outputs, d);
  SW_ARENA_NEW(s->node_of_op, s->arena, s->g->n_ops, d);
  SW_TRY(make_choices(b, d));
  SW_TRY(make_nodes(b, d));
  SW_TRY(list_values(b, d));
  return make_edges(s, d);
}

/* A node by itself; an op whose choices are not known, or not all, by its work alone. */
static int64_t least_of_node(const sw_selection *s, int32_t i) {
  const sw_choices *c = s->choices && !s->pruned_inexact ? s->choices[i] : NULL;
  int64_t least = SW_FORBIDDEN;
  if (!c && (i < s->n_args || i >= s->n_args + s->n_ops)) return 0;
  if (!c) {
    const sw_op *op = &s->g->ops[block_of(s)->ops[i - s->n_args]];
    return sw_cost_times(sw_cost_units(sw_op_least_s(s->g, op, s->machine)), op->repeats);
  }
  for (int32_t k = 0; k < c->n; k++) least = sw_min_i64(least, c->cost[k]);
  return least;
}

static int64_t least_of_nodes(const sw_selection *s) {
  int64_t sum = 0;
  for (int32_t i = 0; i < s->n_args + s->n_ops + s->n_outputs; i++) sum = sw_cost_add(sum, least_of_node(s, i));
  return sum;
}

sw_rc sw_selection_build(const sw_graph *g, const sw_machine *machine, const sw_selection_options *o, sw_arena *arena,
                         sw_selection **out, int64_t *least, sw_diag *d) {
  sw_selection *s;
  SW_ARENA_NEW(s, arena, 1, d);
  *s = (sw_selection){.g = g, .machine = machine, .o = *o, .arena = arena};
  sw_prices_init(&s->prices, machine);
  s->prices.deadline_s = o->deadline_s;
  s->prices.cancel = o->cancel;
  s->n_args = function_of(s)->n_args;
  s->n_outputs = function_of(s)->n_outputs;
  s->n_ops = block_of(s)->n_ops;
  build b = {.s = s};
  sw_rc rc = sw_unequal_blocks(g, arena, &s->o.enumerate.n_unequal, &s->o.enumerate.unequal, d);
  if (!rc) rc = build_all(&b, d);
  sw_dict_deinit(&b.op_classes);
  sw_dict_deinit(&b.patterns);
  sw_array_free(&b.class_at);
  sw_array_free(&b.consumers);
  sw_array_free(&b.use_ports);
  sw_text_free(&b.key);
  s->prices.deadline_s = 0; /* what is asked for from now on is little, and needed */
  s->prices.cancel = NULL;
  *least = least_of_nodes(s);
  if (rc) sw_selection_deinit(s);
  if (!rc) *out = s;
  return rc;
}

void sw_selection_deinit(sw_selection *s) {
  if (!s) return;
  sw_prices_deinit(&s->prices);
  for (size_t i = 0; i < s->patterns.n; i++) sw_pattern_deinit(&s->patterns.at[i]);
  sw_array_free(&s->patterns);
  sw_array_free(&s->values);
  sw_array_free(&s->consumer_nodes);
  sw_array_free(&s->pinned);
  sw_array_free(&s->stated);
  sw_array_free(&s->nodes);
  sw_array_free(&s->edges);
}

const sw_problem *sw_selection_problem(const sw_selection *s) { return &s->problem; }
const sw_stated *sw_selection_stated(const sw_selection *s, int32_t *n) {
  *n = (int32_t)s->stated.n;
  return s->stated.at;
}

const sw_sharding *sw_stated_at(const sw_stated *stated, int32_t n, sw_id op, int32_t port) {
  int32_t lo = 0, hi = n;
  while (lo < hi) { /* the first not before (op, port) */
    int32_t mid = lo + (hi - lo) / 2;
    bool before = stated[mid].op < op || (stated[mid].op == op && stated[mid].port < port);
    if (before) lo = mid + 1;
    if (!before) hi = mid;
  }
  return lo < n && stated[lo].op == op && stated[lo].port == port ? &stated[lo].sharding : NULL;
}

int64_t sw_selection_pruned_inexact(const sw_selection *s) { return s->pruned_inexact; }
int32_t sw_selection_classes(const sw_selection *s) { return s->n_classes; }

/* The choice of a node whose port has this sharding; -1: there is none. */
static int32_t choice_of_sharding(const sw_selection *s, int32_t node, const sw_sharding *wanted) {
  const sw_choices *c = s->choices[node];
  for (int32_t k = 0; k < c->n; k++) {
    if (sw_sharding_equal(sw_choices_sharding(c, &s->prices, 0, k), wanted)) return k;
  }
  return -1;
}

static int32_t choice_of_strategy(const sw_choices *c, const sw_strategy *wanted) {
  for (int32_t k = 0; k < c->n; k++) {
    if (sw_strategy_equal(&c->strategies[k], wanted)) return k;
  }
  return -1;
}

void sw_selection_encode(const sw_selection *s, const sw_strategy *ops, const sw_sharding *args,
                         const sw_sharding *outputs, int32_t *choice, bool *missing) {
  const sw_block *block = block_of(s);
  int32_t n = s->n_args + s->n_ops + s->n_outputs;
  for (int32_t i = 0; i < s->n_args; i++) choice[i] = choice_of_sharding(s, i, &args[i]);
  for (int32_t i = 0; i < s->n_ops; i++) {
    choice[s->n_args + i] = choice_of_strategy(s->choices[s->n_args + i], &ops[block->ops[i]]);
  }
  for (int32_t i = 0; i < s->n_outputs; i++) {
    int32_t node = s->n_args + s->n_ops + i;
    choice[node] = choice_of_sharding(s, node, &outputs[i]);
  }
  for (int32_t i = 0; i < n; i++) {
    missing[i] = choice[i] < 0 || s->nodes.at[i].cost[choice[i]] >= SW_FORBIDDEN;
    if (choice[i] < 0) choice[i] = 0;
  }
}

void sw_selection_decode(const sw_selection *s, const int32_t *choice, sw_strategy *ops, sw_sharding *args,
                         sw_sharding *outputs) {
  const sw_function *f = function_of(s);
  const sw_block *block = block_of(s);
  for (int32_t i = 0; i < s->n_args; i++) args[i] = *sw_choices_sharding(s->choices[i], &s->prices, 0, choice[i]);
  for (int32_t i = 0; i < s->n_ops; i++) {
    int32_t node = s->n_args + i;
    ops[block->ops[i]] = s->choices[node]->strategies[choice[node]];
  }
  for (int32_t i = 0; i < s->n_outputs; i++) {
    int32_t node = s->n_args + s->n_ops + i;
    outputs[i] = *sw_choices_sharding(s->choices[node], &s->prices, 0, choice[node]);
    if (f->alias[i] >= 0) outputs[i] = args[s->g->values[f->alias[i]].def_index];
  }
}
