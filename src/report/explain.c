/* Why a plan is as it is (explain.h): its traffic by role, and for what is asked about the alternatives with their
 * prices. */
#include "shardwright/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/beside.h"
#include "graph/find.h"
#include "report/folded_rows.h"
#include "report/made_again.h"

enum {
  MOST_OPTIONS = 5, /* of a value */
  MOST_ASKED = 2,   /* of these: by a search */
  MOST_PINS_SAID = 6,
  MOST_LARGE = 24, /* values at the peak that are looked at */
  MOST_LOWER = 8,
};

/* One copy, or what one op exchanges. */
typedef struct sent {
  const sw_plan_reshard *reshard;
  sw_id op;
  double seconds, hidden_s, break_s, bytes;
} sent;

typedef struct explaining {
  const sw_plan *p;
  const sw_breakdown *a;
  const sw_explain_options *o;
  sw_arena *arena;
  const char **names; /* of values */
  SW_ARRAY(sent) all;
  sw_traffic *traffic;
  sw_explanation *out;
} explaining;

/* --- what is sent ------------------------------------------------------------------------------------------------- */

static sw_rc list_reshards(explaining *e, sw_diag *d) {
  double *hidden_s;
  SW_ARENA_NEW(hidden_s, e->arena, e->a->n_reshards + 1, d);
  if (e->a->timeline) sw_reshards_hidden(e->a->timeline, hidden_s);
  for (int32_t i = 0; i < e->a->n_reshards; i++) {
    const sw_plan_reshard *r = &e->a->reshards[i];
    const double repeats = (double)sw_value_repeats(e->p->job.graph, r->value);
    const sent x = {.reshard = r,
                    .op = -1,
                    .seconds = r->route->cost_s * repeats,
                    .hidden_s = e->a->timeline ? hidden_s[i] : 0,
                    .break_s = r->break_s * repeats,
                    .bytes = r->route->max_bytes * repeats};
    SW_TRY(sw_array_push(&e->all, x, d));
  }
  return SW_OK;
}

static sw_rc list_moves(explaining *e, sw_diag *d) {
  const sw_graph *g = e->p->job.graph;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const double repeats = (double)g->ops[i].repeats;
    const sw_op_moves *t = &e->a->moves[i];
    if (t->seconds <= 0) continue;
    const sent x = {
        .op = i, .seconds = t->seconds * repeats, .hidden_s = t->hidden_s * repeats, .bytes = t->bytes * repeats};
    SW_TRY(sw_array_push(&e->all, x, d));
  }
  return SW_OK;
}

/* What an op makes, by which people know it. */
static const char *name_of_op(const explaining *e, sw_id id) {
  const sw_op *op = &e->p->job.graph->ops[id];
  return op->n_results ? e->names[op->results[0]] : op->name;
}

/* Alike are those of one kind of op in one strategy. */
static sw_rc name_moves(const explaining *e, const sent *x, sw_named *out, sw_diag *d) {
  const sw_op *op = &e->p->job.graph->ops[x->op];
  sw_text t = {0};
  sw_text_printf(&t, "inside %s ", sw_opcode_text(op->code));
  sw_strategy_print(sw_machine_mesh(e->p->job.machine), op->nest, &e->p->ops[x->op], &t);
  *out =
      (sw_named){name_of_op(e, x->op), sw_text_keep(&t, e->arena, d), sw_arena_printf(e->arena, d, "%.0f", x->bytes)};
  return out->like && out->variant ? SW_OK : SW_E_RESOURCE;
}

static int by_traffic_seconds(const void *a, const void *b) {
  const sw_traffic *x = a, *y = b;
  const double u = x->seconds + x->break_s, v = y->seconds + y->break_s;
  if (u < v || u > v) return u > v ? -1 : 1;
  return strcmp(x->name, y->name);
}

static sw_rc gather_group(explaining *e, const sw_folded_name *g, sw_traffic *out, sw_diag *d) {
  const sw_plan_reshard **reshards;
  sw_id *ops;
  SW_ARENA_NEW_EACH(e->arena, g->n, d, reshards, ops);
  *out = (sw_traffic){.name = g->name, .n = g->n};
  for (int32_t k = 0; k < g->n; k++) {
    const sent *x = &e->all.at[g->items[k]];
    reshards[k] = x->reshard;
    ops[k] = x->op;
    out->seconds += x->seconds;
    out->hidden_s += x->hidden_s;
    out->break_s += x->break_s;
    out->bytes += x->bytes;
  }
  if (reshards[0])
    out->reshards = reshards;
  else
    out->ops = ops;
  return SW_OK;
}

static sw_rc list_traffic(explaining *e, sw_diag *d) {
  const sw_folded_name *groups;
  sw_named *named;
  int32_t n;
  SW_TRY(list_reshards(e, d));
  SW_TRY(list_moves(e, d));
  SW_ARENA_NEW(named, e->arena, e->all.n, d);
  SW_TRY(sw_name_reshards(e->p, e->a, e->names, e->arena, named, d)); /* they come first */
  for (size_t i = (size_t)e->a->n_reshards; i < e->all.n; i++) SW_TRY(name_moves(e, &e->all.at[i], &named[i], d));
  SW_TRY(sw_fold_names((int32_t)e->all.n, named, e->arena, &n, &groups, d));
  SW_ARENA_NEW(e->traffic, e->arena, n, d);
  for (int32_t i = 0; i < n; i++) SW_TRY(gather_group(e, &groups[i], &e->traffic[i], d));
  if (n) qsort(e->traffic, (size_t)n, sizeof *e->traffic, by_traffic_seconds);
  e->out->n_traffic = n;
  e->out->traffic = e->traffic;
  return SW_OK;
}

/* --- questions to the search -------------------------------------------------------------------------------------- */

/* Pins as a person would write them. */
static sw_rc say_pins(const explaining *e, int32_t n, const sw_pin *pins, const char **out, sw_diag *d) {
  const sw_graph *g = e->p->job.graph;
  sw_text t = {0};
  *out = NULL;
  if (n > MOST_PINS_SAID) return SW_OK;
  for (int32_t i = 0; i < n; i++) {
    sw_text_printf(&t, "%s%s", i ? "; " : "", g->values[pins[i].value].name);
    if (pins[i].of_use) sw_text_printf(&t, "@%s", sw_use_name(g, pins[i].use));
    sw_text_puts(&t, "=");
    sw_sharding_print(sw_machine_mesh(e->p->job.machine), &pins[i].sharding, &t);
  }
  *out = sw_text_keep(&t, e->arena, d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

/* That there is no such plan, or none was found, is an answer. */
static sw_rc plan_anew(const explaining *e, int32_t n, const sw_pin *pins, sw_anew *out, sw_diag *d) {
  sw_arena mem = {0};
  sw_diag why = {0};
  sw_breakdown b;
  sw_plan plan;
  *out = (sw_anew){0};
  if (!e->o->planner || sw_cancelled(e->o->cancel)) return SW_OK;
  out->asked = true;
  SW_TRY(say_pins(e, n, pins, &out->pins, d));
  sw_rc rc = sw_planner_ask(e->o->planner, n, pins, &mem, &plan, &why);
  if (!rc) rc = sw_plan_breakdown(&plan, &mem, &b, &why);
  out->made = !rc;
  if (!rc) {
    out->total_s = b.total_s;
    out->gap = sw_plan_gap(&plan);
    out->peak_bytes = b.peak_bytes;
  }
  sw_arena_deinit(&mem);
  if (rc == SW_E_INFEASIBLE || rc == SW_E_RESOURCE) {
    out->why = sw_arena_printf(e->arena, d, "%s", why.text);
    return out->why ? SW_OK : SW_E_RESOURCE;
  }
  if (rc && d) *d = why;
  return rc;
}

static sw_rc ask_made(const explaining *e, int32_t n, const sw_id *values, const sw_sharding *s, sw_anew *out,
                      sw_diag *d) {
  sw_pin *pins;
  SW_ARENA_NEW(pins, e->arena, n, d);
  for (int32_t i = 0; i < n; i++) pins[i] = (sw_pin){.value = values[i], .sharding = *s};
  return plan_anew(e, n, pins, out, d);
}

static sw_rc ask_taken(const explaining *e, const sw_traffic *t, sw_anew *out, sw_diag *d) {
  int32_t n = 0, k = 0;
  sw_pin *pins;
  for (int32_t i = 0; i < t->n; i++) n += t->reshards[i]->n_uses;
  SW_ARENA_NEW(pins, e->arena, n, d);
  for (int32_t i = 0; i < t->n; i++) {
    const sw_plan_reshard *r = t->reshards[i];
    for (int32_t u = 0; u < r->n_uses; u++)
      pins[k++] = (sw_pin){.value = r->value, .sharding = r->from, .of_use = true, .use = r->uses[u]};
  }
  return plan_anew(e, n, pins, out, d);
}

/* --- what keeps the plan from it ---------------------------------------------------------------------------------- */

static const sw_annotation *required_of(const sw_request *r, sw_id value, bool for_users) {
  for (int32_t i = 0; i < r->n_annotations; i++) {
    const sw_annotation *a = &r->annotations[i];
    if (a->required && a->value == value && a->for_users == for_users) return a;
  }
  return NULL;
}

static void say_required(const explaining *e, const sw_annotation *a, sw_text *out) {
  sw_text_puts(out, a->for_users ? "its uses are required in " : "it is required in ");
  sw_sharding_print(sw_machine_mesh(e->p->job.machine), &sw_annotation_said(a)->sharding, out);
  if (a->open_dims) sw_text_puts(out, " or cut further");
  if (a->span.line > 0)
    sw_text_printf(out, " (%s:%d:%d)", a->span.file ? a->span.file : "?", a->span.line, a->span.col);
}

/* The part of the difference that costs most. */
static void say_dearest(const explaining *e, const sw_alternative *x, sw_text *out) {
  const sw_graph *g = e->p->job.graph;
  const sw_mesh *m = sw_machine_mesh(e->p->job.machine);
  sw_text_puts(out, "as ");
  sw_sharding_print(m, &x->sharding, out);
  if (x->op_s >= x->value_s && x->op_s >= x->others_s && x->n_ops)
    sw_text_printf(out, " '%s' would work ", g->ops[x->ops[0]].name);
  else if (x->value_s >= x->others_s || x->dearest < 0)
    sw_text_printf(out, " it would be resharded for ");
  else
    sw_text_printf(out, " '%s' would be resharded for ", g->values[x->dearest].name);
  sw_text_seconds(out, fmax(x->op_s, fmax(x->value_s, x->others_s)));
  sw_text_puts(out, " longer");
}

/* The cheapest that is legal, beside the capacity. */
static void say_cheapest(const explaining *e, int32_t n, const sw_explained_option *options, sw_text *out) {
  const sw_alternative *best = NULL;
  for (int32_t i = 0; i < n; i++) {
    const sw_alternative *x = &options[i].alone;
    if (x->legal && (!best || x->total_s < best->total_s)) best = x;
  }
  if (!best) return;
  if (out->n) sw_text_puts(out, "; ");
  if (best->peak_bytes > e->p->capacity_bytes && e->a->peak_bytes <= e->p->capacity_bytes) {
    sw_text_puts(out, "memory: as ");
    sw_sharding_print(sw_machine_mesh(e->p->job.machine), &best->sharding, out);
    sw_text_puts(out, " a device would hold ");
    sw_text_bytes(out, (double)best->peak_bytes);
    sw_text_puts(out, " of ");
    sw_text_bytes(out, (double)e->p->capacity_bytes);
  } else if (best->total_s > e->a->total_s) {
    say_dearest(e, best, out);
  } else {
    sw_text_puts(out, "nothing: as ");
    sw_sharding_print(sw_machine_mesh(e->p->job.machine), &best->sharding, out);
    sw_text_puts(out, best->total_s < e->a->total_s ? " alone it would be cheaper" : " alone it would be as cheap");
  }
}

/* Without a limit on memory it would be otherwise. */
static void say_free(const explaining *e, sw_id value, sw_text *out) {
  sw_sharding is, would_be;
  if (!e->o->free_plan) return;
  sw_plan_value_sharding(e->p, value, &is);
  sw_plan_value_sharding(e->o->free_plan, value, &would_be);
  if (sw_sharding_equal(&is, &would_be)) return;
  if (out->n) sw_text_puts(out, "; ");
  sw_text_puts(out, "memory: without a limit it would be ");
  sw_sharding_print(sw_machine_mesh(e->p->job.machine), &would_be, out);
  sw_text_puts(out, ", and all of it take ");
  sw_text_seconds(out, e->out->free_total_s);
}

static sw_rc because(const explaining *e, sw_id value, int32_t n, const sw_explained_option *options, bool users,
                     const char **out, sw_diag *d) {
  sw_text t = {0};
  for (int i = 0; i < 2; i++) {
    const sw_annotation *a = i && !users ? NULL : required_of(e->p->job.request, value, i == 1);
    if (a && t.n) sw_text_puts(&t, "; ");
    if (a) say_required(e, a, &t);
  }
  say_free(e, value, &t);
  say_cheapest(e, n, options, &t);
  *out = NULL;
  if (!t.n && !t.rc) return SW_OK;
  *out = sw_text_keep(&t, e->arena, d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

/* --- traffic ------------------------------------------------------------------------------------------------------ */

static sw_rc explain_reshard(const explaining *e, bool asks, sw_traffic *t, sw_diag *d) {
  const sw_plan_reshard *r = t->reshards[0];
  sw_explained_option *options;
  sw_id *values;
  SW_ARENA_NEW(options, e->arena, 2, d);
  SW_ARENA_NEW(values, e->arena, t->n, d);
  for (int32_t i = 0; i < t->n; i++) values[i] = t->reshards[i]->value;
  options[0].way = SW_WAY_MADE;
  options[1].way = SW_WAY_TAKEN;
  SW_TRY(sw_alternative_made_as(e->p, e->a, r->value, &r->to, e->arena, &options[0].alone, d));
  SW_TRY(sw_alternative_taken_as(e->p, e->a, r->n_uses, r->uses, &r->from, e->arena, &options[1].alone, d));
  if (asks) {
    SW_TRY(ask_made(e, t->n, values, &r->to, &options[0].anew, d));
    SW_TRY(ask_taken(e, t, &options[1].anew, d));
  }
  t->n_options = 2;
  t->options = options;
  return because(e, r->value, 2, options, true, &t->because, d);
}

/* Other strategies of the op, as its first result shows them. */
static sw_rc explain_inside(const explaining *e, sw_traffic *t, sw_diag *d) {
  const sw_op *op = &e->p->job.graph->ops[t->ops[0]];
  const sw_alternative *found;
  sw_explained_option *options;
  int32_t n;
  if (!op->n_results) return SW_OK;
  SW_TRY(sw_alternatives_made(e->p, e->a, op->results[0], 2, e->arena, &n, &found, d));
  SW_ARENA_NEW(options, e->arena, n, d);
  for (int32_t i = 0; i < n; i++) options[i] = (sw_explained_option){SW_WAY_MADE, found[i], {0}};
  t->n_options = n;
  t->options = options;
  return because(e, op->results[0], n, options, false, &t->because, d);
}

static sw_rc explain_traffic(const explaining *e, bool asks, sw_traffic *t, sw_diag *d) {
  if (t->explained) return SW_OK;
  t->explained = true;
  return t->reshards ? explain_reshard(e, asks, t, d) : explain_inside(e, t, d);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static bool concerns(const explaining *e, const sw_traffic *t, sw_id value) {
  const sw_id def = e->p->job.graph->values[value].def;
  bool found = false;
  for (int32_t i = 0; i < t->n && !found; i++) {
    if (!t->reshards) found = t->ops[i] == def;
    if (!t->reshards) continue;
    const sw_plan_reshard *r = t->reshards[i];
    found = r->value == value;
    for (int32_t u = 0; u < r->n_uses && !found; u++) found = def >= 0 && r->uses[u].op == def;
  }
  return found;
}

static bool is_of(const sw_traffic *t, sw_id value) {
  bool found = false;
  for (int32_t i = 0; t->reshards && i < t->n; i++) found = found || t->reshards[i]->value == value;
  return found;
}

static sw_rc find_traffic(explaining *e, sw_id value, sw_explained_value *out, sw_diag *d) {
  int32_t *found;
  SW_ARENA_NEW(found, e->arena, e->out->n_traffic, d);
  for (int32_t i = 0; i < e->out->n_traffic; i++) {
    sw_traffic *t = &e->traffic[i];
    if (!concerns(e, t, value)) continue;
    found[out->n_traffic++] = i;
    if (is_of(t, value)) SW_TRY(explain_traffic(e, true, t, d));
  }
  out->traffic = found;
  return SW_OK;
}

static sw_rc explain_value(explaining *e, sw_explained_value *out, sw_diag *d) {
  const sw_alternative *found;
  sw_explained_option *options;
  const sw_id value = out->values[0];
  int32_t asked = 0;
  SW_TRY(sw_alternatives_made(e->p, e->a, value, MOST_OPTIONS, e->arena, &out->n_options, &found, d));
  SW_ARENA_NEW(options, e->arena, out->n_options, d);
  for (int32_t i = 0; i < out->n_options; i++) {
    options[i] = (sw_explained_option){SW_WAY_MADE, found[i], {0}};
    if (found[i].legal && asked++ < MOST_ASKED)
      SW_TRY(ask_made(e, out->n, out->values, &found[i].sharding, &options[i].anew, d));
  }
  out->options = options;
  SW_TRY(because(e, value, out->n_options, options, false, &out->because, d));
  SW_TRY(sw_again_of(e->p, e->a, value, e->arena, &out->again, d));
  return find_traffic(e, value, out, d);
}

/* Values that are made by ops of one kind, or arguments of one kind, and in one sharding. */
static sw_rc like_of(const explaining *e, sw_id value, const char **like, const char **variant, sw_diag *d) {
  const sw_value *v = &e->p->job.graph->values[value];
  sw_text t = {0}, type = {0};
  sw_sharding s;
  sw_plan_value_sharding(e->p, value, &s);
  sw_text_printf(&t, "%d %s %d ", (int)v->kind, v->def >= 0 ? sw_opcode_text(e->p->job.graph->ops[v->def].code) : "",
                 (int)v->type.rank);
  sw_sharding_print(sw_machine_mesh(e->p->job.machine), &s, &t);
  sw_type_print(&v->type, &type);
  *like = sw_text_keep(&t, e->arena, d);
  *variant = sw_text_keep(&type, e->arena, d);
  return *like && *variant ? SW_OK : SW_E_RESOURCE;
}

static sw_rc group_values(const explaining *e, int32_t n, const sw_id *values, int32_t *n_groups,
                          const sw_folded_name **groups, sw_diag *d) {
  sw_named *named;
  SW_ARENA_NEW(named, e->arena, n, d);
  for (int32_t i = 0; i < n; i++) {
    named[i].name = e->names[values[i]];
    SW_TRY(like_of(e, values[i], &named[i].like, &named[i].variant, d));
  }
  return sw_fold_names(n, named, e->arena, n_groups, groups, d);
}

static sw_rc explain_values(explaining *e, sw_diag *d) {
  const sw_folded_name *groups;
  sw_explained_value *all;
  sw_found found;
  SW_TRY(sw_find_values(e->p->job.graph, e->o->name, strlen(e->o->name), e->arena, &found, d));
  SW_TRY(group_values(e, found.n, found.values, &e->out->n_values, &groups, d));
  SW_ARENA_NEW(all, e->arena, e->out->n_values, d);
  for (int32_t i = 0; i < e->out->n_values; i++) {
    sw_id *values;
    SW_ARENA_NEW(values, e->arena, groups[i].n, d);
    for (int32_t k = 0; k < groups[i].n; k++) values[k] = found.values[groups[i].items[k]];
    all[i] = (sw_explained_value){.name = groups[i].name, .n = groups[i].n, .values = values};
    sw_plan_value_sharding(e->p, values[0], &all[i].sharding);
    SW_TRY(explain_value(e, &all[i], d));
  }
  e->out->values = all;
  return SW_OK;
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static int by_worth(const void *a, const void *b) {
  const sw_lower *x = a, *y = b;
  if (x->s_per_byte < y->s_per_byte || x->s_per_byte > y->s_per_byte) return x->s_per_byte < y->s_per_byte ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

/* The cheapest per byte of the ways to cut it that leave less at the peak. */
static sw_rc find_lower(const explaining *e, sw_id value, sw_lower *out, bool *any, sw_diag *d) {
  const sw_alternative *found;
  int32_t n;
  *any = false;
  out->s_per_byte = HUGE_VAL;
  SW_TRY(sw_alternatives_made(e->p, e->a, value, MOST_OPTIONS, e->arena, &n, &found, d));
  for (int32_t i = 0; i < n; i++) {
    const double bytes = (double)(e->a->peak_bytes - found[i].peak_bytes);
    if (!found[i].legal || bytes <= 0) continue;
    const double per_byte = (found[i].total_s - e->a->total_s) / bytes;
    if (per_byte >= out->s_per_byte) continue;
    out->s_per_byte = per_byte;
    out->alone = found[i];
    *any = true;
  }
  return SW_OK;
}

/* Values that are held as they are made, the largest first, those alike as one. */
static sw_rc list_large(const explaining *e, sw_id *values, int32_t *n, sw_diag *d) {
  const sw_live **largest;
  const int32_t room = MOST_LARGE * 64 < e->a->n_live ? MOST_LARGE * 64 : e->a->n_live;
  SW_ARENA_NEW(largest, e->arena, room, d);
  const int32_t found = sw_breakdown_largest(e->a, e->a->peak_step, room, largest);
  *n = 0;
  for (int32_t i = 0; i < found; i++)
    if (largest[i]->kind == SW_LIVE_VALUE) values[(*n)++] = largest[i]->value;
  return SW_OK;
}

static sw_rc lower_memory(explaining *e, sw_diag *d) {
  const sw_folded_name *groups;
  sw_id *values;
  sw_lower *all;
  int32_t n, n_groups;
  SW_ARENA_NEW(values, e->arena, e->a->n_live, d);
  SW_TRY(list_large(e, values, &n, d));
  SW_TRY(group_values(e, n, values, &n_groups, &groups, d));
  SW_ARENA_NEW(all, e->arena, MOST_LARGE, d);
  n = 0;
  for (int32_t i = 0; i < n_groups && i < MOST_LARGE && !sw_cancelled(e->o->cancel); i++) {
    bool any;
    all[n] = (sw_lower){.name = groups[i].name, .n = groups[i].n, .value = values[groups[i].items[0]]};
    SW_TRY(find_lower(e, all[n].value, &all[n], &any, d));
    n += any;
  }
  if (n) qsort(all, (size_t)n, sizeof *all, by_worth);
  e->out->n_lower = n > MOST_LOWER ? MOST_LOWER : n;
  e->out->lower = all;
  return SW_OK;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static sw_rc explain_all(explaining *e, sw_diag *d) {
  SW_TRY(sw_name_values(e->p->job.graph, e->arena, &e->names, d));
  if (e->o->free_plan) {
    sw_breakdown b;
    SW_TRY(sw_plan_breakdown(e->o->free_plan, e->arena, &b, d));
    e->out->free_total_s = b.total_s;
  }
  SW_TRY(list_traffic(e, d));
  if (e->o->name) SW_TRY(explain_values(e, d));
  for (int32_t i = 0; i < e->o->top && i < e->out->n_traffic && !sw_cancelled(e->o->cancel); i++)
    SW_TRY(explain_traffic(e, false, &e->traffic[i], d));
  return e->o->peak ? lower_memory(e, d) : SW_OK;
}

sw_rc sw_explain_build(const sw_plan *p, const sw_breakdown *a, const sw_explain_options *o, sw_arena *arena,
                       sw_explanation *out, sw_diag *d) {
  *out = (sw_explanation){.plan = p, .breakdown = a, .options = *o};
  explaining e = {.p = p, .a = a, .o = o, .arena = arena, .out = out};
  sw_rc rc = explain_all(&e, d);
  sw_array_free(&e.all);
  return rc;
}
