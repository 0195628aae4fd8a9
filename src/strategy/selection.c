/* The selection problem of a graph.
 *
 *   nodes   arguments, ops, outputs in this order; then copy nodes
 *   edges   producer - consumer, producer - copy, copy - consumer
 *
 * A value v with two or more consumers gets a copy node for every sharding q that at least two of them can want. Its
 * choices are "not made" and "made"; made costs the route from whatever the producer gives to q, and a consumer that
 * wants q cannot choose so while the copy is not made. Wants that only one consumer can have are priced on the edge
 * from the producer.
 */
#include "shardwright/selection.h"

#include <string.h>

#include "strategy/choices.h"
#include "strategy/pins.h"

typedef struct consumer {
  int32_t node;
  int32_t n_ports, first_port; /* into use_ports */
} consumer;

struct sw_selection {
  const sw_graph *g;
  const sw_machine *machine;
  const sw_selection_options *o;
  sw_arena *arena;
  sw_prices prices;
  sw_problem problem;
  int32_t n_args, n_ops, n_outputs; /* nodes of each sort, in this order */
  const sw_choices **choices;       /* per argument, op, output node */
  int64_t pruned_inexact;
  int32_t n_classes;
  const sw_choices *copy_choices;
};

/* Work space of a build. */
typedef struct build {
  sw_selection *s;
  sw_dict op_classes;
  SW_ARRAY(sw_choices *) class_at;
  SW_ARRAY(sw_node) nodes;
  SW_ARRAY(sw_edge) edges;
  sw_dict tables; /* key of an edge table -> index in table_at */
  SW_ARRAY(const int64_t *) table_at;
  SW_ARRAY(consumer) consumers; /* of the value at hand */
  SW_ARRAY(int32_t) use_ports;
  SW_ARRAY(uint8_t) wanted_by; /* per sharding id: how many consumers can want it, at most 2 counted */
  SW_ARRAY(int32_t) shared;    /* sharding ids that get a copy node */
  int32_t *node_of_op;         /* op id -> node */
  sw_text key;
} build;

static const sw_block *block_of(const sw_selection *s) { return sw_graph_main_block(s->g); }
static const sw_function *function_of(const sw_selection *s) { return &s->g->functions[s->g->main]; }

/* --- choices of every node --------------------------------------------------------------------------------------- */

static sw_rc choices_of_op(build *b, const sw_op *op, const sw_choices **out, sw_diag *d) {
  sw_selection *s = b->s;
  int64_t *slot;
  bool fresh;
  b->key.n = 0;
  sw_op_class_key(s->g, op, &b->key);
  if (b->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  SW_TRY(sw_dict_put(&b->op_classes, b->key.at, b->key.n, (int64_t)b->class_at.n, &slot, &fresh, d));
  if (fresh) {
    sw_choices *c;
    sw_enumeration e;
    SW_ARENA_NEW(c, s->arena, 1, d);
    SW_TRY(sw_strategies_enumerate(s->g, op, s->machine, &s->o->enumerate, s->arena, &e, d));
    SW_TRY(sw_choices_of_op(s->g, op, &e, &s->prices, s->arena, c, d));
    SW_TRY(sw_array_push(&b->class_at, c, d));
    s->pruned_inexact += e.pruned_inexact;
  }
  *out = b->class_at.at[*slot];
  return SW_OK;
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
    int32_t n;
    const sw_sharding *shardings;
    SW_ARENA_NEW(c, s->arena, 1, d);
    SW_TRY(
        sw_shardings_enumerate(sw_machine_mesh(s->machine), v->type.rank, v->type.dims, s->arena, &n, &shardings, d));
    SW_TRY(sw_choices_of_value(&v->type, shardings, n, held, &s->prices, s->arena, c, d));
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
    b->node_of_op[block->ops[i]] = s->n_args + i;
    SW_TRY_NOTE(d, choices_of_op(b, op, &s->choices[s->n_args + i], d), "while enumerating the strategies of '%s'",
                op->name);
  }
  for (int32_t i = 0; i < s->n_outputs; i++) {
    SW_TRY(choices_of_value(b, &s->g->values[f->outputs[i]], false, &s->choices[s->n_args + s->n_ops + i], d));
  }
  s->n_classes = (int32_t)b->class_at.n;
  sw_pin_target target = {s->g, s->machine, &s->prices, s->arena, s->choices, b->node_of_op, s->n_args, s->n_ops};
  return sw_pins_apply(&target, d);
}

/* --- nodes: costs and memory ------------------------------------------------------------------------------------- */

/* The step after the last use of a value; outputs are held to the end. */
static int64_t end_of_life(const build *b, const sw_value *v, int64_t def) {
  int64_t end = def + 1;
  for (int32_t u = 0; u < v->n_uses; u++) {
    int64_t at = v->uses[u].op < 0 ? b->s->n_ops : b->node_of_op[v->uses[u].op] - b->s->n_args + 1;
    end = sw_max_i64(end, at);
  }
  return end;
}

static sw_rc arg_uses(build *b, int32_t i, sw_node *node, sw_diag *d) {
  sw_selection *s = b->s;
  const sw_value *v = &s->g->values[function_of(s)->args[i]];
  const sw_choices *c = s->choices[i];
  sw_use *use;
  SW_ARENA_NEW(use, s->arena, 1, d);
  *use = (sw_use){0, v->kind == SW_VALUE_INPUT ? end_of_life(b, v, 0) : sw_max_i64(1, s->n_ops), c->ports[0].amount};
  if (s->o->args_whole) {
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
    SW_TRY(sw_array_push(&b->nodes, node, d));
  }
  return SW_OK;
}

/* --- edges ------------------------------------------------------------------------------------------------------- */

static void producer_of(const build *b, const sw_value *v, int32_t *node, int32_t *port) {
  if (v->def < 0) {
    *node = v->def_index;
    *port = 0;
  } else {
    *node = b->node_of_op[v->def];
    *port = b->s->g->ops[v->def].n_operands + v->def_index;
  }
}

/* The consumers of a value: one per node, with every port of that node that reads the value. An output that becomes a
 * state is read by the state's own node: it comes back as the state is held. */
static sw_rc list_consumers(build *b, const sw_value *v, int32_t producer, sw_diag *d) {
  sw_selection *s = b->s;
  const sw_function *f = function_of(s);
  b->consumers.n = b->use_ports.n = 0;
  for (int32_t u = 0; u < v->n_uses; u++) {
    int32_t index = v->uses[u].index, node, port = 0;
    if (v->uses[u].op >= 0) {
      node = b->node_of_op[v->uses[u].op];
      port = index;
    } else {
      node = s->n_args + s->n_ops + index;
      if (f->alias[index] >= 0) node = s->g->values[f->alias[index]].def_index;
    }
    if (node == producer) continue; /* a state returned as it came in */
    consumer *last = b->consumers.n ? &b->consumers.at[b->consumers.n - 1] : NULL;
    SW_TRY(sw_array_push(&b->use_ports, port, d));
    if (last && last->node == node) {
      last->n_ports++;
    } else {
      SW_TRY(sw_array_push(&b->consumers, ((consumer){node, 1, (int32_t)b->use_ports.n - 1}), d));
    }
  }
  return SW_OK;
}

static const sw_choices *choices_at(const build *b, int32_t node) { return b->s->choices[node]; }

/* Does the consumer want sharding `id` under `choice`? */
static bool wants(const build *b, const consumer *c, int32_t choice, int32_t id) {
  for (int32_t k = 0; k < c->n_ports; k++) {
    if (choices_at(b, c->node)->ports[b->use_ports.at[c->first_port + k]].id[choice] == id) return true;
  }
  return false;
}

/* Shardings that at least two consumers can want. */
static sw_rc find_shared(build *b, int32_t shape_class, sw_diag *d) {
  size_t n = b->s->prices.classes.at[shape_class].shardings.n;
  b->shared.n = 0;
  if (b->consumers.n < 2 || b->s->o->count_each_copy) return SW_OK;
  b->wanted_by.n = 0;
  SW_TRY(sw_array_reserve(&b->wanted_by, n, d));
  memset(b->wanted_by.at, 0, n);
  for (size_t i = 0; i < b->consumers.n; i++) {
    const consumer *c = &b->consumers.at[i];
    const sw_choices *ch = choices_at(b, c->node);
    for (int32_t k = 0; k < c->n_ports; k++) {
      const int32_t *id = ch->ports[b->use_ports.at[c->first_port + k]].id;
      for (int32_t x = 0; x < ch->n; x++) { /* bit 0x80: seen in this consumer */
        if (!(b->wanted_by.at[id[x]] & 0x80)) b->wanted_by.at[id[x]] = (uint8_t)(b->wanted_by.at[id[x]] | 0x80);
      }
    }
    for (size_t q = 0; q < n; q++) {
      uint8_t w = b->wanted_by.at[q];
      b->wanted_by.at[q] = (uint8_t)((w & 0x7f) + ((w & 0x80) && (w & 0x7f) < 2 ? 1 : 0));
    }
  }
  for (size_t q = 0; q < n; q++) {
    if (b->wanted_by.at[q] >= 2) SW_TRY(sw_array_push(&b->shared, (int32_t)q, d));
  }
  return SW_OK;
}

static bool is_shared(const build *b, int32_t id) { return b->shared.n && b->wanted_by.at[id] >= 2; }

static void key_add(build *b, const void *bytes, size_t n) { sw_text_append(&b->key, bytes, n); }

/* The table under the key in b->key: *table is set when it exists already; otherwise a fresh one of `cells`, to fill.
 */
static sw_rc table_for_key(build *b, size_t cells, int64_t **fresh_table, const int64_t **table, sw_diag *d) {
  if (b->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  int64_t *slot;
  bool fresh;
  SW_TRY(sw_dict_put(&b->tables, b->key.at, b->key.n, (int64_t)b->table_at.n, &slot, &fresh, d));
  *fresh_table = NULL;
  if (fresh) {
    SW_ARENA_NEW(*fresh_table, b->s->arena, cells, d);
    SW_TRY(sw_array_push(&b->table_at, *fresh_table, d));
  }
  *table = b->table_at.at[*slot];
  return SW_OK;
}

/* Price of what the consumer wants and no copy node covers, under each pair of choices. */
static sw_rc producer_consumer_table(build *b, int32_t producer, int32_t port, const consumer *c, int64_t *table,
                                     sw_diag *d) {
  const sw_choices *pc = choices_at(b, producer), *cc = choices_at(b, c->node);
  const sw_port *from = &pc->ports[port];
  for (int32_t x = 0; x < pc->n; x++) {
    for (int32_t y = 0; y < cc->n; y++) {
      int64_t sum = 0;
      for (int32_t k = 0; k < c->n_ports; k++) {
        int32_t id = cc->ports[b->use_ports.at[c->first_port + k]].id[y];
        bool again = false;
        for (int32_t j = 0; j < k; j++) again = again || cc->ports[b->use_ports.at[c->first_port + j]].id[y] == id;
        if (again || is_shared(b, id)) continue;
        int64_t u;
        SW_TRY(sw_prices_get(&b->s->prices, from->shape_class, from->id[x], id, &u, d));
        sum = sw_cost_add(sum, u);
      }
      table[(size_t)x * (size_t)cc->n + (size_t)y] = sum;
    }
  }
  return SW_OK;
}

static bool all_zero(const int64_t *table, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (table[i]) return false;
  }
  return true;
}

static sw_rc edge_to_consumer(build *b, int32_t producer, int32_t port, const consumer *c, sw_diag *d) {
  const sw_choices *pc = choices_at(b, producer), *cc = choices_at(b, c->node);
  size_t cells = (size_t)pc->n * (size_t)cc->n;
  b->key.n = 0;
  key_add(b, "e", 1);
  key_add(b, &pc, sizeof pc);
  key_add(b, &port, sizeof port);
  key_add(b, &cc, sizeof cc);
  key_add(b, &b->use_ports.at[c->first_port], (size_t)c->n_ports * sizeof(int32_t));
  key_add(b, "|", 1);
  key_add(b, b->shared.at, b->shared.n * sizeof(int32_t));
  int64_t *fresh;
  const int64_t *table;
  SW_TRY(table_for_key(b, cells, &fresh, &table, d));
  if (fresh) SW_TRY(producer_consumer_table(b, producer, port, c, fresh, d));
  if (all_zero(table, cells)) return SW_OK;
  return sw_array_push(&b->edges, ((sw_edge){producer, c->node, table}), d);
}

/* Edges of one copy node: from the producer (made: the route's price), and to each consumer that can want it. */
static sw_rc copy_edges(build *b, int32_t producer, int32_t port, int32_t q, int32_t copy, sw_diag *d) {
  const sw_choices *pc = choices_at(b, producer);
  const sw_port *from = &pc->ports[port];
  int64_t *fresh;
  const int64_t *table;
  b->key.n = 0;
  key_add(b, "p", 1);
  key_add(b, &pc, sizeof pc);
  key_add(b, &port, sizeof port);
  key_add(b, &q, sizeof q);
  SW_TRY(table_for_key(b, 2 * (size_t)pc->n, &fresh, &table, d));
  for (int32_t x = 0; fresh && x < pc->n; x++) {
    SW_TRY(sw_prices_get(&b->s->prices, from->shape_class, from->id[x], q, &fresh[2 * x + 1], d));
  }
  SW_TRY(sw_array_push(&b->edges, ((sw_edge){producer, copy, table}), d));
  for (size_t i = 0; i < b->consumers.n; i++) {
    const consumer *c = &b->consumers.at[i];
    const sw_choices *cc = choices_at(b, c->node);
    b->key.n = 0;
    key_add(b, "c", 1);
    key_add(b, &cc, sizeof cc);
    key_add(b, &b->use_ports.at[c->first_port], (size_t)c->n_ports * sizeof(int32_t));
    key_add(b, &q, sizeof q);
    SW_TRY(table_for_key(b, 2 * (size_t)cc->n, &fresh, &table, d));
    for (int32_t y = 0; fresh && y < cc->n; y++) fresh[y] = wants(b, c, y, q) ? SW_FORBIDDEN : 0;
    if (!all_zero(table, 2 * (size_t)cc->n)) {
      SW_TRY(sw_array_push(&b->edges, ((sw_edge){copy, c->node, table}), d));
    }
  }
  return SW_OK;
}

static sw_rc edges_of_value(build *b, sw_id id, sw_diag *d) {
  const sw_value *v = &b->s->g->values[id];
  int32_t producer, port;
  producer_of(b, v, &producer, &port);
  SW_TRY(list_consumers(b, v, producer, d));
  SW_TRY(find_shared(b, choices_at(b, producer)->ports[port].shape_class, d));
  for (size_t i = 0; i < b->consumers.n; i++) SW_TRY(edge_to_consumer(b, producer, port, &b->consumers.at[i], d));
  for (size_t k = 0; k < b->shared.n; k++) {
    int32_t copy = (int32_t)b->nodes.n;
    SW_TRY(sw_array_push(&b->nodes, ((sw_node){.n_choices = 2, .cost = b->s->copy_choices->cost}), d));
    SW_TRY(copy_edges(b, producer, port, b->shared.at[k], copy, d));
  }
  return SW_OK;
}

static sw_rc make_edges(build *b, sw_diag *d) {
  const sw_function *f = function_of(b->s);
  const sw_block *block = block_of(b->s);
  for (int32_t i = 0; i < f->n_args; i++) SW_TRY(edges_of_value(b, f->args[i], d));
  for (int32_t i = 0; i < block->n_ops; i++) {
    const sw_op *op = &b->s->g->ops[block->ops[i]];
    for (int r = 0; r < op->n_results; r++) SW_TRY(edges_of_value(b, op->results[r], d));
  }
  return SW_OK;
}

/* --- building and reading ---------------------------------------------------------------------------------------- */

static sw_rc build_all(build *b, sw_diag *d) {
  sw_selection *s = b->s;
  sw_choices *copy;
  SW_ARENA_NEW(copy, s->arena, 1, d);
  copy->n = 2;
  SW_ARENA_NEW(copy->cost, s->arena, 2, d);
  s->copy_choices = copy;
  SW_ARENA_NEW(s->choices, s->arena, s->n_args + s->n_ops + s->n_outputs, d);
  SW_ARENA_NEW(b->node_of_op, s->arena, s->g->n_ops, d);
  SW_TRY(make_choices(b, d));
  SW_TRY(make_nodes(b, d));
  SW_TRY(make_edges(b, d));
  const sw_node *nodes = sw_arena_copy(s->arena, b->nodes.at, b->nodes.n, sizeof *b->nodes.at, d);
  const sw_edge *edges = sw_arena_copy(s->arena, b->edges.at, b->edges.n, sizeof *b->edges.at, d);
  if (!nodes || !edges) return SW_E_RESOURCE;
  s->problem = (sw_problem){s->g->name, (int32_t)b->nodes.n, (int32_t)b->edges.n, nodes, edges, s->o->capacity_bytes};
  return SW_OK;
}

sw_rc sw_selection_build(const sw_graph *g, const sw_machine *machine, const sw_selection_options *o, sw_arena *arena,
                         sw_selection **out, sw_diag *d) {
  sw_selection *s;
  SW_ARENA_NEW(s, arena, 1, d);
  *s = (sw_selection){.g = g, .machine = machine, .o = o, .arena = arena, .prices = {.machine = machine}};
  s->n_args = function_of(s)->n_args;
  s->n_outputs = function_of(s)->n_outputs;
  s->n_ops = block_of(s)->n_ops;
  build b = {.s = s};
  sw_rc rc = build_all(&b, d);
  sw_dict_deinit(&b.op_classes);
  sw_dict_deinit(&b.tables);
  sw_array_free(&b.class_at);
  sw_array_free(&b.nodes);
  sw_array_free(&b.edges);
  sw_array_free(&b.table_at);
  sw_array_free(&b.consumers);
  sw_array_free(&b.use_ports);
  sw_array_free(&b.wanted_by);
  sw_array_free(&b.shared);
  sw_text_free(&b.key);
  if (rc) sw_prices_deinit(&s->prices);
  if (!rc) *out = s;
  return rc;
}

void sw_selection_deinit(sw_selection *s) {
  if (s) sw_prices_deinit(&s->prices);
}

const sw_problem *sw_selection_problem(const sw_selection *s) { return &s->problem; }
int64_t sw_selection_pruned_inexact(const sw_selection *s) { return s->pruned_inexact; }
int32_t sw_selection_classes(const sw_selection *s) { return s->n_classes; }

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
