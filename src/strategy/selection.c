/* The selection problem of a graph.
 *
 *   nodes    units (unit.h)
 *   copies   borders: a value, the unit that makes it, those that read it (border_table.h)
 *   edges    ports that have one sharding
 */
#include "shardwright/selection.h"

#include <string.h>

#include "base/checked.h"
#include "graph/attention.h"

#include "strategy/lives.h"
#include "strategy/unit_pins.h"

/* Work space of a build. */
typedef struct build {
  sw_selection *s;
  sw_dict classes;
  SW_ARRAY(sw_option_set *) class_at;
  sw_dict tables;
  SW_ARRAY(sw_border_reader) readers; /* of the value at hand */
  SW_ARRAY(int32_t) use_ports;
  sw_text key;
} build;

/* --- options of every unit --------------------------------------------------------------------------------------- */

/* Devices that share the op's work: the product of the axes on its loops, those of a ring once. */
static int64_t work_shards(const sw_op *op, const sw_strategy *s) {
  const bool ring = sw_strategy_is_ring(op, s);
  int64_t n = 1;
  for (int i = 0; i < s->n_refs; i++) {
    const bool again = ring && s->loop_of[i] == SW_ATTENTION_KEY;
    n *= s->loop_of[i] < op->nest->n_loops && !again ? s->refs[i].size : 1;
  }
  return n;
}

/* Only the options that spread the work furthest. */
static sw_rc keep_spread(const sw_op *op, sw_arena *arena, sw_option_set *c, sw_diag *d) {
  bool *keep;
  int64_t most = 1;
  sw_option_set all = *c;
  SW_ARENA_NEW(keep, arena, c->n, d);
  for (int32_t i = 0; i < c->n; i++) most = sw_max_i64(most, work_shards(op, &c->strategies[i]));
  for (int32_t i = 0; i < c->n; i++)
    keep[i] = !sw_strategy_runs(&c->strategies[i]) || work_shards(op, &c->strategies[i]) == most;
  return sw_options_filter(&all, keep, NULL, arena, c, d);
}

/* Every strategy of the op. */
static sw_rc all_of_op(sw_selection *s, const sw_op *op, const sw_further *further, sw_option_set *out, sw_diag *d) {
  sw_enumeration e;
  SW_TRY(sw_prices_in_time(&s->prices, d));
  sw_enumerate_options o = s->o.enumerate;
  if (further) o.n_further = further->n, o.further = further->strategies;
  SW_TRY(sw_strategies_enumerate(&s->job, op, &o, s->arena, &e, d));
  SW_TRY(sw_options_of_op(&s->job, op, &e, &s->prices, s->arena, out, d));
  bool heavy = sw_op_class_of(op->code) == SW_OPS_CONTRACTION;
  if (heavy && s->o.cut_heavy_ops) SW_TRY(keep_spread(op, s->arena, out, d));
  s->pruned_inexact += e.pruned_inexact;
  return SW_OK;
}

/* The even ones come first in *all; returns how many these are. */
static int32_t keep_even(const int64_t *dims, sw_sharding *all, int32_t n) {
  int32_t kept = 0;
  for (int32_t i = 0; i < n; i++)
    if (sw_sharding_is_even(NULL, &all[i], dims)) all[kept++] = all[i];
  return kept;
}

/* Every sharding of the value, also with the unequal blocks that someone asks for. */
static sw_rc all_of_value(sw_selection *s, const sw_value *v, bool held, const sw_further *further, sw_option_set *out,
                          sw_diag *d) {
  int32_t n_unequal, n_further = further ? further->n : 0;
  const sw_sharding *unequal;
  sw_listed_shardings equal;
  sw_sharding *all;
  SW_TRY(sw_shardings_enumerate(s->job.request, sw_machine_mesh(s->job.machine), v->type.rank, v->type.dims,
                                s->o.enumerate.runs, s->arena, &equal, d));
  s->pruned_inexact += equal.left_out;
  int32_t n = equal.n;
  SW_TRY(sw_shardings_unequal(&s->o.enumerate, v->type.dims, n, equal.at, s->arena, &n_unequal, &unequal, d));
  SW_ARENA_NEW(all, s->arena, n + n_unequal + n_further, d);
  if (n) memcpy(all, equal.at, (size_t)n * sizeof *all);
  if (n_unequal) memcpy(all + n, unequal, (size_t)n_unequal * sizeof *all);
  n += n_unequal;
  for (int32_t i = 0; i < n_further; i++) {
    bool known = false;
    for (int32_t k = 0; k < n && !known; k++) known = sw_sharding_equal(&all[k], &further->shardings[i]);
    if (!known) all[n++] = further->shardings[i];
  }
  if (s->o.even != SW_EVEN_NEVER) n = keep_even(v->type.dims, all, n);
  return sw_options_of_value(&s->job, (sw_id)(v - s->job.graph->values), all, n, held, &s->prices, s->arena, out, d);
}

static const sw_value *value_of(const sw_graph *g, const sw_unit *unit) {
  return &g->values[unit->kind == SW_UNIT_OUTPUT ? unit->reads[0] : unit->makes[0]];
}

/* Units of one key have the same options. */
static void put_class(const sw_job *j, const sw_unit *unit, sw_text *key) {
  const sw_graph *g = j->graph;
  if (unit->kind == SW_UNIT_OP) {
    sw_op_class_key(j, &g->ops[unit->id], key);
    sw_text_append(key, (const char *)&g->ops[unit->id].repeats, sizeof g->ops[unit->id].repeats);
    return;
  }
  const sw_value *v = value_of(g, unit);
  const sw_type *type = &v->type;
  if (sw_value_combines(j->kernels, (sw_id)(v - g->values))) sw_text_puts(key, "combined ");
  sw_text_puts(key, unit->kind == SW_UNIT_ARGUMENT ? "held" : "out");
  sw_text_append(key, (const char *)&type->dtype, sizeof type->dtype);
  sw_text_append(key, (const char *)type->dims, (size_t)type->rank * sizeof(int64_t));
}

static sw_rc options_of_unit(build *b, int32_t at, const sw_option_set **out, sw_diag *d) {
  sw_selection *s = b->s;
  const sw_unit here = sw_unit_at(&s->units, at), *unit = &here;
  const sw_further *further = s->o.further ? &s->o.further[at] : NULL;
  int64_t *slot;
  bool fresh;
  b->key.n = 0;
  put_class(&s->job, unit, &b->key);
  if (b->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  SW_TRY(sw_dict_put(&b->classes, b->key.at, b->key.n, (int64_t)b->class_at.n, &slot, &fresh, d));
  if (fresh) {
    sw_option_set *c;
    SW_ARENA_NEW(c, s->arena, 1, d);
    SW_TRY(unit->kind == SW_UNIT_OP
               ? all_of_op(s, &s->job.graph->ops[unit->id], further, c, d)
               : all_of_value(s, value_of(s->job.graph, unit), unit->kind == SW_UNIT_ARGUMENT, further, c, d));
    SW_TRY(sw_array_push(&b->class_at, c, d));
  }
  *out = b->class_at.at[*slot];
  return SW_OK;
}

static sw_rc make_options(build *b, sw_diag *d) {
  sw_selection *s = b->s;
  for (int32_t i = 0; i < s->units.n; i++) {
    const sw_unit unit = sw_unit_at(&s->units, i);
    const char *name = unit.kind == SW_UNIT_OP ? s->job.graph->ops[unit.id].name : value_of(s->job.graph, &unit)->name;
    SW_TRY_NOTE(d, options_of_unit(b, i, &s->options[i], d), "while enumerating the strategies of '%s'", name);
  }
  s->n_classes = (int32_t)b->class_at.n;
  sw_stated_list stated;
  SW_TRY(sw_stated_begin(&s->job, -1, s->arena, &stated, d));
  sw_pin_target target = {.job = s->job,
                          .units = &s->units,
                          .prices = &s->prices,
                          .arena = s->arena,
                          .options = s->options,
                          .enumerate = &s->o.enumerate,
                          .even = s->o.even,
                          .stated = &stated};
  SW_TRY(sw_pins_apply(&target, d));
  sw_stated_end(&stated);
  s->n_stated = stated.n;
  s->stated = stated.at;
  return SW_OK;
}

/* --- nodes: costs and memory ------------------------------------------------------------------------------------- */

static sw_rc make_node(sw_selection *s, int32_t i, sw_diag *d) {
  sw_node node = {.n_choices = s->options[i]->n, .cost = s->options[i]->price};
  SW_TRY(sw_hold_unit(s, i, &node, d));
  return sw_array_push(&s->nodes, node, d);
}

/* --- borders: values and the units that read them ---------------------------------------------------------------- */

/* A join takes what entered as it was made; where something else is stated inside, add_ties says so. */
static bool joins_stated(const sw_selection *s, sw_id value, const sw_value_use *use) {
  const sw_id def = s->job.graph->values[value].def;
  if (use->op < 0 || def < 0 || s->job.graph->ops[use->op].code != SW_OP_JOIN) return false;
  return sw_stated_at(s->stated, s->n_stated, def, sw_value_made_at(&s->units, value).port) != NULL;
}

/* The readers of a value: one per unit, with every port of that unit that reads the value. */
static sw_rc list_readers(build *b, sw_id value, int32_t maker, sw_diag *d) {
  const sw_selection *s = b->s;
  const sw_value *v = &s->job.graph->values[value];
  b->readers.n = b->use_ports.n = 0;
  SW_TRY(sw_array_reserve(&b->use_ports, (size_t)v->n_uses, d)); /* its place must not change below */
  for (int32_t u = 0; u < v->n_uses; u++) {
    const sw_port at = sw_use_taken_at(&s->units, v->uses[u]);
    if (at.unit == maker) continue; /* a state returned as it came in */
    if (joins_stated(s, value, &v->uses[u])) continue;
    sw_border_reader *last = b->readers.n ? &b->readers.at[b->readers.n - 1] : NULL;
    b->use_ports.at[b->use_ports.n++] = at.port;
    if (last && last->unit == at.unit) {
      last->n_ports++;
      continue;
    }
    sw_border_reader r = {s->options[at.unit], at.unit, 1, &b->use_ports.at[b->use_ports.n - 1]};
    SW_TRY(sw_array_push(&b->readers, r, d));
  }
  return SW_OK;
}

/* The table of a border, perhaps a new one. */
static sw_rc find_border_table(build *b, const sw_border_key *key, int32_t *out, sw_diag *d) {
  sw_selection *s = b->s;
  int64_t *slot;
  bool fresh;
  b->key.n = 0;
  sw_text_append(&b->key, (const char *)&key->maker, sizeof key->maker);
  sw_text_append(&b->key, (const char *)&key->port, sizeof key->port);
  sw_text_append(&b->key, (const char *)&key->repeats, sizeof key->repeats);
  for (int32_t i = 0; i < key->n_readers; i++) {
    const sw_border_reader *r = &key->readers[i];
    sw_text_append(&b->key, (const char *)&r->options, sizeof r->options);
    sw_text_append(&b->key, (const char *)&r->n_ports, sizeof r->n_ports);
    sw_text_append(&b->key, (const char *)r->ports, (size_t)r->n_ports * sizeof *r->ports);
  }
  if (b->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  SW_TRY(sw_dict_put(&b->tables, b->key.at, b->key.n, (int64_t)s->tables.n, &slot, &fresh, d));
  *out = (int32_t)*slot;
  if (!fresh) return SW_OK;
  sw_border_table *t;
  SW_ARENA_NEW(t, s->arena, 1, d);
  SW_TRY(sw_border_table_make(key, &s->prices, s->arena, t, d));
  return sw_array_push(&s->tables, t, d);
}

static sw_rc add_value_border(build *b, sw_id id, sw_diag *d) {
  sw_selection *s = b->s;
  const sw_port made = sw_value_made_at(&s->units, id);
  SW_TRY(list_readers(b, id, made.unit, d));
  const int32_t n = (int32_t)b->readers.n;
  if (n == 0) return SW_OK;
  const sw_border_key key = {s->options[made.unit], made.port, &s->job, id, sw_value_repeats(s->job.graph, id), n,
                             b->readers.at};
  int32_t table, *reader;
  SW_TRY(find_border_table(b, &key, &table, d));
  SW_ARENA_NEW(reader, s->arena, n, d);
  for (int32_t i = 0; i < n; i++) reader[i] = b->readers.at[i].unit;
  const sw_lives *lives;
  SW_TRY(sw_lives_make(s, id, s->tables.at[table], reader, &lives, d));
  s->copies_at[id] = (int32_t)s->copies.n;
  SW_TRY(sw_array_push(&s->copies, ((sw_copies){made.unit, reader, &s->tables.at[table]->copies, lives}), d));
  return sw_array_push(&s->values, ((sw_read_value){id, table}), d);
}

/* --- edges ------------------------------------------------------------------------------------------------------- */

/* Two ports that have one sharding: all else is forbidden. `made`: the first as its strategy makes it, whatever is
 * stated of it. */
static sw_rc tie_ports(sw_selection *s, sw_port a, sw_port b, bool made, sw_diag *d) {
  const sw_option_set *ca = s->options[a.unit], *cb = s->options[b.unit];
  const sw_unit unit = sw_unit_at(&s->units, a.unit);
  int64_t *cost;
  SW_ARENA_NEW(cost, s->arena, (size_t)ca->n * (size_t)cb->n, d);
  for (int32_t x = 0; x < ca->n; x++) {
    sw_sharding given = *sw_options_sharding(ca, &s->prices, a.port, x);
    if (made) sw_strategy_result(&s->job.graph->ops[unit.id], &ca->strategies[x], a.port - unit.n_reads, &given);
    for (int32_t y = 0; y < cb->n; y++) {
      bool alike = sw_sharding_equal(&given, sw_options_sharding(cb, &s->prices, b.port, y));
      cost[(int64_t)x * cb->n + y] = alike ? 0 : SW_FORBIDDEN;
    }
  }
  return sw_array_push(&s->edges, ((sw_edge){a.unit, b.unit, cost}), d);
}

/* Two results of one op are tied by its options (pins.c). */
static sw_rc tie_sharding_group(sw_selection *s, const sw_sharding_group *sharding_groups, sw_diag *d) {
  const sw_port a = sw_value_made_at(&s->units, sharding_groups->a),
                b = sw_value_made_at(&s->units, sharding_groups->b);
  return a.unit == b.unit ? SW_OK : tie_ports(s, a, b, false, d);
}

/* What enters and what leaves is cut alike, by the strategies themselves. */
static sw_rc add_ties(sw_selection *s, sw_diag *d) {
  for (int32_t i = 0; i < s->n_stated; i++) {
    const sw_op *op = &s->job.graph->ops[s->stated[i].op];
    if (s->stated[i].port < op->n_operands) continue;
    const sw_id value = sw_port_value(op, s->stated[i].port);
    const sw_value *v = &s->job.graph->values[value];
    for (int32_t u = 0; u < v->n_uses; u++) {
      if (!joins_stated(s, value, &v->uses[u])) continue;
      SW_TRY(tie_ports(s, sw_value_made_at(&s->units, value), sw_use_taken_at(&s->units, v->uses[u]), true, d));
    }
  }
  return SW_OK;
}

static sw_rc make_problem(sw_selection *s, sw_diag *d) {
  for (int32_t i = 0; i < s->job.request->n_sharding_groups; i++)
    SW_TRY(tie_sharding_group(s, &s->job.request->sharding_groups[i], d));
  SW_TRY(add_ties(s, d));
  s->problem = (sw_problem){.name = s->job.graph->name,
                            .n_nodes = (int32_t)s->nodes.n,
                            .n_edges = (int32_t)s->edges.n,
                            .nodes = s->nodes.at,
                            .edges = s->edges.at,
                            .limit = s->o.capacity_bytes,
                            .n_copies = (int32_t)s->copies.n,
                            .copies = s->copies.at};
  return SW_OK;
}

/* --- exact prices ------------------------------------------------------------------------------------------------ */

static bool is_past(double deadline_s) { return deadline_s > 0 && sw_now_s() >= deadline_s; }

/* The tables of a shape class of which prices have risen, as the next version of the problem. */
static sw_rc reprice(sw_selection *s, const bool *risen, sw_diag *d) {
  const int64_t next = s->problem.version + 1;
  for (size_t k = 0; k < s->tables.n; k++) {
    sw_border_table *t = s->tables.at[k];
    if (risen[t->shape_class]) SW_TRY(sw_border_table_reprice(t, &s->prices, next, d));
    if (t->copies.version == next) s->problem.version = next;
  }
  return SW_OK;
}

/* Of the copies that are made; with `near`, of those that would be with one other choice of the maker or of a reader,
 * too. */
static sw_rc settle_value(sw_selection *s, const sw_copies *c, const sw_border_table *t, const int32_t *choice,
                          bool near, bool *raised, sw_diag *d) {
  const int32_t from = c->table->class_of[choice[c->maker]], n = c->table->n_layouts;
  for (int32_t i = 0; i < c->table->n_readers; i++) {
    const sw_wants *w = &c->table->wants[i];
    const int32_t of = w->class_of[choice[c->reader[i]]];
    for (int32_t k = w->first[of]; k < w->first[of + 1]; k++) {
      if (!near) SW_TRY(sw_border_table_settle(t, from, w->layout[k], &s->prices, raised, d));
      for (int32_t f = 0; f < c->table->n_classes && near; f++)
        SW_TRY(sw_border_table_settle(t, f, w->layout[k], &s->prices, raised, d));
    }
  }
  for (int32_t k = 0; k < n && near; k++) SW_TRY(sw_border_table_settle(t, from, k, &s->prices, raised, d));
  return SW_OK;
}

static sw_rc settle_routes(sw_selection *s, const int32_t *choice, bool near, double deadline_s, sw_diag *d) {
  bool *risen = NULL;
  SW_MEM_NEW(risen, s->prices.classes.n, d);
  sw_rc rc = SW_OK;
  for (size_t k = 0; k < s->copies.n && !rc; k++) {
    const sw_border_table *t = s->tables.at[s->values.at[k].table];
    if (near && is_past(deadline_s)) break;
    rc = settle_value(s, &s->copies.at[k], t, choice, near, &risen[t->shape_class], d);
  }
  if (!rc) rc = reprice(s, risen, d);
  sw_mem_free(risen);
  return rc;
}

/* A solver that knew those near the choice by their bounds alone would go on to them, one after the other. */
sw_rc sw_selection_settle(sw_selection *s, const int32_t *choice, double deadline_s, sw_diag *d) {
  SW_TRY(settle_routes(s, choice, false, deadline_s, d));
  return settle_routes(s, choice, true, deadline_s, d);
}

/* --- copies, by value and sharding ------------------------------------------------------------------------------- */

/* The sharding that a layout is; NULL: the value as it is made. */
static const sw_sharding *sharding_of(const sw_selection *s, const sw_border_table *t, int32_t layout) {
  return t->sharding[layout] < 0 ? NULL : &s->prices.classes.at[t->shape_class].shardings.at[t->sharding[layout]];
}

sw_rc sw_selection_name_copies(const sw_selection *s, int32_t n, const sw_copy_of *of, sw_arena *arena,
                               const sw_shared_copy **out, sw_diag *d) {
  sw_shared_copy *list;
  SW_ARENA_NEW(list, arena, n, d);
  *out = list;
  for (int32_t k = 0; k < n; k++) {
    const sw_read_value *v = &s->values.at[of[k].copies];
    list[k] = (sw_shared_copy){v->id, *sharding_of(s, s->tables.at[v->table], of[k].layout)};
  }
  return SW_OK;
}

sw_rc sw_selection_find_copies(const sw_selection *s, int32_t n, const sw_shared_copy *copies, sw_arena *arena,
                               int32_t *n_found, const sw_copy_of **out, sw_diag *d) {
  sw_copy_of *list;
  SW_ARENA_NEW(list, arena, n, d);
  *out = list;
  *n_found = 0;
  for (int32_t a = 0; a < n; a++) {
    const int32_t k = s->copies_at[copies[a].value];
    const sw_border_table *t = k < 0 ? NULL : s->tables.at[s->values.at[k].table];
    for (int32_t layout = 0; t && layout < t->copies.n_layouts; layout++) {
      const sw_sharding *sharding = sharding_of(s, t, layout);
      if (sharding && sw_sharding_equal(sharding, &copies[a].sharding)) list[(*n_found)++] = (sw_copy_of){k, layout};
    }
  }
  return SW_OK;
}

/* --- building and reading ---------------------------------------------------------------------------------------- */

static sw_rc build_all(build *b, sw_diag *d) {
  sw_selection *s = b->s;
  SW_ARENA_NEW(s->options, s->arena, s->units.n, d);
  SW_ARENA_NEW(s->copies_at, s->arena, s->job.graph->n_values, d);
  for (sw_id v = 0; v < s->job.graph->n_values; v++) s->copies_at[v] = -1;
  SW_TRY(make_options(b, d));
  for (int32_t i = 0; i < s->units.n; i++) {
    const sw_unit unit = sw_unit_at(&s->units, i);
    for (int32_t k = 0; k < unit.n_makes; k++) SW_TRY(add_value_border(b, unit.makes[k], d));
  }
  for (int32_t i = 0; i < s->units.n; i++) SW_TRY(make_node(s, i, d));
  return make_problem(s, d);
}

/* A unit by itself; an op whose options are not known, or not all, by its work alone. */
static int64_t least_of_unit(const sw_selection *s, int32_t i) {
  const sw_unit unit = sw_unit_at(&s->units, i);
  const sw_option_set *c = s->options && !s->pruned_inexact ? s->options[i] : NULL;
  int64_t least = SW_FORBIDDEN;
  if (!c && unit.kind != SW_UNIT_OP) return 0;
  if (!c) {
    const sw_op *op = &s->job.graph->ops[unit.id];
    const sw_entry *e = sw_job_entry(&s->job, unit.id);
    if (e && (e->optional || e->source)) return 0;
    return sw_cost_times(sw_cost_units(s->job.machine, sw_op_least_s(&s->job, op)), op->repeats);
  }
  for (int32_t k = 0; k < c->n; k++) least = sw_min_i64(least, c->price[k]);
  return least;
}

static int64_t least_of_units(const sw_selection *s) {
  int64_t sum = 0;
  for (int32_t i = 0; i < s->units.n; i++) sum = sw_cost_add(sum, least_of_unit(s, i));
  return sum;
}

sw_rc sw_selection_build(const sw_job *j, const sw_selection_options *o, sw_arena *arena, sw_selection **out,
                         int64_t *least, sw_diag *d) {
  sw_selection *s;
  SW_ARENA_NEW(s, arena, 1, d);
  *s = (sw_selection){.job = *j, .o = *o, .arena = arena, .units = sw_units_of(j)};
  build b = {.s = s};
  sw_rc rc = sw_prices_init(&s->prices, j->machine, o->routes, d);
  s->prices.deadline_s = o->deadline_s;
  s->prices.cancel = o->cancel;
  if (!rc) rc = sw_unequal_blocks(j->request, arena, &s->o.enumerate.n_unequal, &s->o.enumerate.unequal, d);
  if (!rc) rc = sw_even_rule_of(j->request, arena, &s->even, d);
  if (o->even == SW_EVEN_ALWAYS) s->o.enumerate.even = &s->even;
  if (!rc) rc = build_all(&b, d);
  sw_dict_deinit(&b.classes);
  sw_dict_deinit(&b.tables);
  sw_array_free(&b.class_at);
  sw_array_free(&b.readers);
  sw_array_free(&b.use_ports);
  sw_text_free(&b.key);
  s->prices.deadline_s = 0; /* what is asked for from now on is little, and needed */
  s->prices.cancel = NULL;
  *least = least_of_units(s);
  if (rc) sw_selection_deinit(s);
  if (!rc) *out = s;
  return rc;
}

void sw_selection_deinit(sw_selection *s) {
  if (!s) return;
  sw_prices_deinit(&s->prices);
  sw_array_free(&s->tables);
  sw_array_free(&s->values);
  sw_array_free(&s->copies);
  sw_array_free(&s->pinned);
  sw_array_free(&s->nodes);
  sw_array_free(&s->edges);
}

const sw_problem *sw_selection_problem(const sw_selection *s) { return &s->problem; }
/* What an option has at a port of which something is stated. */
static void stated_of_option(const sw_selection *s, const sw_stated *at, int32_t option, sw_sharding *out) {
  *out = *sw_options_sharding(s->options[sw_unit_of_op(&s->units, at->op)], &s->prices, at->port, option);
}

sw_rc sw_selection_stated(const sw_selection *s, const int32_t *choice, sw_arena *arena, int32_t *n, sw_stated **out,
                          sw_diag *d) {
  SW_ARENA_NEW(*out, arena, s->n_stated, d);
  *n = 0;
  for (int32_t i = 0; i < s->n_stated; i++) {
    const sw_stated *at = &s->stated[i];
    const int32_t unit = sw_unit_of_op(&s->units, at->op);
    sw_stated *one = &(*out)[*n];
    sw_sharding by_strategy;
    *one = *at;
    stated_of_option(s, at, choice[unit], &one->sharding);
    sw_strategy_port(&s->job.graph->ops[at->op], &s->options[unit]->strategies[choice[unit]], at->port, &by_strategy);
    *n += !sw_sharding_equal(&one->sharding, &by_strategy);
  }
  return SW_OK;
}

int64_t sw_selection_pruned_inexact(const sw_selection *s) { return s->pruned_inexact; }
int32_t sw_selection_classes(const sw_selection *s) { return s->n_classes; }

const sw_sharding *sw_selection_sharding(const sw_selection *s, int32_t argument, int32_t choice) {
  return sw_options_sharding(s->options[argument], &s->prices, 0, choice);
}

/* Is what the option has at ports of which something is stated what the plan has there? */
static bool states_alike(const sw_selection *s, sw_id op, const sw_strategy *strategy, int32_t option, int32_t n,
                         const sw_stated *stated) {
  for (int32_t p = 0; p < s->job.graph->ops[op].n_operands + s->job.graph->ops[op].n_results && s->n_stated; p++) {
    if (!sw_stated_at(s->stated, s->n_stated, op, p)) continue;
    const sw_sharding *said = sw_stated_at(stated, n, op, p);
    sw_sharding here, there;
    stated_of_option(s, &(sw_stated){.op = op, .port = p}, option, &here);
    sw_strategy_port(&s->job.graph->ops[op], strategy, p, &there);
    if (!sw_sharding_equal(&here, said ? said : &there)) return false;
  }
  return true;
}

/* The option of a unit whose first port has this sharding; -1: there is none. */
static int32_t option_of_value(const sw_selection *s, int32_t unit, const sw_sharding *sharding) {
  for (int32_t k = 0; k < s->options[unit]->n; k++)
    if (sw_sharding_equal(sw_options_sharding(s->options[unit], &s->prices, 0, k), sharding)) return k;
  return -1;
}

void sw_selection_encode(const sw_selection *s, sw_selected from, int32_t *choice, bool *missing) {
  for (int32_t i = 0; i < s->units.n; i++) {
    const sw_unit unit = sw_unit_at(&s->units, i);
    const sw_option_set *c = s->options[i];
    choice[i] = -1;
    if (unit.kind != SW_UNIT_OP)
      choice[i] = option_of_value(s, i, &(unit.kind == SW_UNIT_ARGUMENT ? from.args : from.outputs)[unit.id]);
    for (int32_t k = 0; unit.kind == SW_UNIT_OP && k < c->n && choice[i] < 0; k++) {
      const sw_strategy *strategy = &from.ops[unit.id];
      if (sw_strategy_equal(&c->strategies[k], strategy) &&
          states_alike(s, unit.id, strategy, k, from.n_stated, from.stated))
        choice[i] = k;
    }
    missing[i] = choice[i] < 0 || s->nodes.at[i].cost[choice[i]] >= SW_FORBIDDEN;
    if (choice[i] < 0) choice[i] = 0;
  }
}

void sw_selection_decode(const sw_selection *s, const int32_t *choice, sw_strategy *ops, sw_sharding *args,
                         sw_sharding *outputs) {
  for (int32_t i = 0; i < s->units.n; i++) {
    const sw_unit unit = sw_unit_at(&s->units, i);
    if (unit.kind == SW_UNIT_OP) {
      ops[unit.id] = s->options[i]->strategies[choice[i]];
      continue;
    }
    const int32_t held = unit.kind == SW_UNIT_OUTPUT ? sw_unit_of_output(&s->units, unit.id) : i;
    *(unit.kind == SW_UNIT_OUTPUT ? &outputs[unit.id] : &args[unit.id]) =
        *sw_options_sharding(s->options[held], &s->prices, 0, choice[held]);
  }
}
