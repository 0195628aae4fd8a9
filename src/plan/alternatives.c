/* One value in another sharding, all else as it is (alternatives.h).
 *
 * Every strategy of the op is priced by what it touches: the op's own cost, and the reshards of the values that it
 * takes and makes. The cheapest for each sharding of the value are then counted in full.
 */
#include "shardwright/alternatives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/borders.h"

typedef struct changer {
  const sw_plan *p; /* as it is */
  const sw_breakdown *a;
  sw_plan q; /* as it would be: its ops, arguments and outputs are its own */
  sw_arena *arena, scratch;
  sw_border_prices *borders;
  SW_ARRAY(sw_id) ops;    /* that are cut alike, the first of them that whose strategies are tried */
  SW_ARRAY(sw_id) values; /* that they take and make, each once */
} changer;

/* A strategy of the op, or a sharding of the argument. */
typedef struct candidate {
  sw_sharding sharding; /* of the value */
  int32_t choice;
  double seconds; /* of what it touches */
} candidate;

typedef struct choices {
  sw_enumeration strategies;
  sw_listed_shardings shardings;
} choices;

static sw_rc open_changer(changer *c, sw_diag *d) {
  const sw_graph *g = c->p->job.graph;
  c->q = *c->p;
  c->q.ops = sw_arena_copy(&c->scratch, c->p->ops, (size_t)g->n_ops, sizeof *c->q.ops, d);
  c->q.args = sw_arena_copy(&c->scratch, c->p->args, (size_t)g->n_args, sizeof *c->q.args, d);
  c->q.outputs = sw_arena_copy(&c->scratch, c->p->outputs, (size_t)g->n_outputs, sizeof *c->q.outputs, d);
  if (!c->q.ops || !c->q.args || !c->q.outputs) return SW_E_RESOURCE;
  return sw_border_prices_make(c->p, &c->scratch, &c->borders, d);
}

static sw_rc close_changer(changer *c, sw_rc rc) {
  sw_border_prices_free(c->borders);
  sw_array_free(&c->ops);
  sw_array_free(&c->values);
  sw_arena_deinit(&c->scratch);
  return rc;
}

static sw_rc touch_value(changer *c, sw_id value, sw_diag *d) {
  for (size_t i = 0; i < c->values.n; i++)
    if (c->values.at[i] == value) return SW_OK;
  return sw_array_push(&c->values, value, d);
}

/* The op, or that which it must share its strategy with, and all others that must. */
static sw_rc touch_op(changer *c, sw_id id, sw_diag *d) {
  const sw_graph *g = c->p->job.graph;
  const sw_id tied = sw_op_tied_to(g, id), leader = tied >= 0 ? tied : id;
  c->ops.n = c->values.n = 0;
  SW_TRY(sw_array_push(&c->ops, leader, d));
  for (sw_id i = leader + 1; i < g->n_ops; i++)
    if (sw_op_tied_to(g, i) == leader) SW_TRY(sw_array_push(&c->ops, i, d));
  for (size_t i = 0; i < c->ops.n; i++) {
    const sw_op *op = &g->ops[c->ops.at[i]];
    for (int32_t k = 0; k < op->n_operands; k++) SW_TRY(touch_value(c, op->operands[k], d));
    for (int32_t k = 0; k < op->n_results; k++) SW_TRY(touch_value(c, op->results[k], d));
  }
  return SW_OK;
}

/* An argument, and the outputs that come back as it. */
static sw_rc touch_argument(changer *c, sw_id value, sw_diag *d) {
  const sw_graph *g = c->p->job.graph;
  c->ops.n = c->values.n = 0;
  SW_TRY(touch_value(c, value, d));
  for (int32_t i = 0; i < g->n_outputs; i++)
    if (g->alias[i] == value) SW_TRY(touch_value(c, g->outputs[i], d));
  return SW_OK;
}

static void cut_ops(changer *c, const sw_strategy *s) {
  for (size_t i = 0; i < c->ops.n; i++) c->q.ops[c->ops.at[i]] = *s;
}

static void hold_argument(changer *c, sw_id value, const sw_sharding *s) {
  const sw_graph *g = c->p->job.graph;
  c->q.args[g->values[value].def_index] = *s;
  for (int32_t i = 0; i < g->n_outputs; i++)
    if (g->alias[i] == value) c->q.outputs[i] = *s;
}

/* What is touched takes so long now, by the account; HUGE_VAL: some reshard is impossible. */
static sw_rc touched_s(changer *c, double *out, sw_diag *d) {
  *out = 0;
  for (size_t i = 0; i < c->ops.n; i++) {
    sw_op_cost cost;
    sw_plan_op_cost(&c->q, c->ops.at[i], &cost);
    *out += (cost.local_s + cost.move_s) * (double)c->q.job.graph->ops[c->ops.at[i]].repeats;
  }
  for (size_t i = 0; i < c->values.n; i++) {
    double seconds;
    SW_TRY(sw_border_prices_ask(c->borders, &c->q, c->values.at[i], &seconds, d));
    *out += seconds;
  }
  return SW_OK;
}

/* --- the cheapest for each sharding ------------------------------------------------------------------------------- */

/* What a use takes, or (use NULL) what the value is made in, before what is required of it is done behind its op. */
static void sharding_now(const changer *c, sw_id value, const sw_value_use *use, sw_sharding *out) {
  if (use)
    sw_plan_use_sharding(&c->q, *use, out);
  else
    sw_plan_made_sharding(&c->q, value, out);
}

static sw_rc list_value_choices(changer *c, sw_id value, sw_id op, choices *out, sw_diag *d) {
  const sw_value *v = &c->p->job.graph->values[value];
  *out = (choices){0};
  if (op >= 0)
    return sw_strategies_enumerate(&c->p->job, &c->p->job.graph->ops[op], &(sw_enumerate_options){0}, c->arena,
                                   &out->strategies, d);
  return sw_shardings_enumerate(c->p->job.request, sw_machine_mesh(c->p->job.machine), v->type.rank, v->type.dims, 0,
                                c->arena, &out->shardings, d);
}

static int32_t choice_count(const choices *x) { return x->strategies.n ? x->strategies.n : x->shardings.n; }

static void take_choice(changer *c, sw_id value, const choices *x, int32_t choice) {
  if (x->strategies.n)
    cut_ops(c, &x->strategies.at[choice]);
  else
    hold_argument(c, value, &x->shardings.at[choice]);
}

/* As it was. */
static void take_back(changer *c, const sw_plan *from) {
  for (size_t i = 0; i < c->ops.n; i++) c->q.ops[c->ops.at[i]] = from->ops[c->ops.at[i]];
  for (int32_t i = 0; !c->ops.n && i < c->p->job.graph->n_args; i++) c->q.args[i] = from->args[i];
  for (int32_t i = 0; !c->ops.n && i < c->p->job.graph->n_outputs; i++) c->q.outputs[i] = from->outputs[i];
}

static int by_seconds(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->seconds < y->seconds || x->seconds > y->seconds) return x->seconds < y->seconds ? -1 : 1;
  return x->choice < y->choice ? -1 : x->choice > y->choice;
}

/* Each sharding of the value, or of the use, with the choice that is cheapest: in the arena, the cheapest first. */
static sw_rc list_candidates(changer *c, sw_id value, const sw_value_use *use, const choices *x, int32_t *n,
                             candidate **out, sw_diag *d) {
  candidate *all;
  *n = 0;
  SW_ARENA_NEW(all, &c->scratch, choice_count(x), d);
  for (int32_t i = 0; i < choice_count(x); i++) {
    candidate k = {.choice = i};
    int32_t at = 0;
    take_choice(c, value, x, i);
    sharding_now(c, value, use, &k.sharding);
    SW_TRY(touched_s(c, &k.seconds, d));
    while (at < *n && !sw_sharding_equal(&all[at].sharding, &k.sharding)) at++;
    if (at == *n) all[(*n)++] = k;
    if (k.seconds < all[at].seconds) all[at] = k;
  }
  qsort(all, (size_t)*n, sizeof *all, by_seconds);
  *out = all;
  return SW_OK;
}

/* --- counted in full ---------------------------------------------------------------------------------------------- */

/* Seconds of reshards by value, `sign` times. */
static void add_reshards(const sw_plan *p, const sw_breakdown *a, double sign, double *by_value) {
  for (int32_t i = 0; i < a->n_reshards; i++)
    by_value[a->reshards[i].value] += sign * sw_plan_reshard_s(p, &a->reshards[i]);
}

/* Where the difference between the two plans comes from. */
static sw_rc take_apart(changer *c, sw_id value, const sw_breakdown *b, sw_arena *mem, sw_alternative *out,
                        sw_diag *d) {
  double *longer_s, most_s = 0;
  SW_ARENA_NEW(longer_s, mem, c->p->job.graph->n_values, d);
  add_reshards(c->p, c->a, -1, longer_s);
  add_reshards(&c->q, b, 1, longer_s);
  out->total_s = b->total_s;
  out->peak_bytes = b->peak_bytes;
  out->op_s = (b->local_s + b->move_s) - (c->a->local_s + c->a->move_s);
  out->value_s = longer_s[value];
  out->others_s = (b->reshard_s - c->a->reshard_s) - out->value_s;
  out->dearest = -1;
  for (sw_id v = 0; v < c->p->job.graph->n_values; v++) {
    if (v == value || longer_s[v] <= most_s) continue;
    most_s = longer_s[v];
    out->dearest = v;
  }
  return SW_OK;
}

/* Of the plan as it would be, `ops` being cut otherwise. */
static sw_rc count_in_full(changer *c, sw_id value, sw_alternative *out, sw_diag *d) {
  sw_arena mem = {0};
  sw_diag why = {0};
  sw_breakdown b;
  sw_rc rc = sw_plan_verify(&c->q, &why);
  if (!rc) rc = sw_plan_breakdown(&c->q, &mem, &b, &why);
  out->legal = !rc;
  if (!rc) rc = take_apart(c, value, &b, &mem, out, &why);
  sw_arena_deinit(&mem);
  if (rc == SW_E_INPUT || rc == SW_E_INFEASIBLE) {
    out->why = why.line ? sw_arena_printf(c->arena, d, "%s:%d:%d: %s", why.file, why.line, why.col, why.text)
                        : sw_arena_printf(c->arena, d, "%s", why.text);
    return out->why ? SW_OK : SW_E_RESOURCE;
  }
  if (rc && d) *d = why;
  return rc;
}

/* The ops that are cut otherwise than in the plan, and how. */
static sw_rc note_ops(changer *c, sw_alternative *out, sw_diag *d) {
  const int32_t n_ops = c->p->job.graph->n_ops;
  sw_id *ops;
  sw_strategy *strategies;
  for (sw_id i = 0; i < n_ops; i++) out->n_ops += !sw_strategy_equal(&c->p->ops[i], &c->q.ops[i]);
  SW_ARENA_NEW_EACH(c->arena, out->n_ops, d, ops, strategies);
  for (sw_id i = 0, k = 0; i < n_ops; i++) {
    if (sw_strategy_equal(&c->p->ops[i], &c->q.ops[i])) continue;
    ops[k] = i;
    strategies[k++] = c->q.ops[i];
  }
  out->ops = ops;
  out->strategies = strategies;
  return SW_OK;
}

static sw_rc finish_alternative(changer *c, sw_id value, const sw_sharding *sharding, sw_alternative *out, sw_diag *d) {
  *out = (sw_alternative){.sharding = *sharding};
  SW_TRY(note_ops(c, out, d));
  return count_in_full(c, value, out, d);
}

static int by_total(const void *a, const void *b) {
  const sw_alternative *x = a, *y = b;
  if (x->legal != y->legal) return x->legal ? -1 : 1;
  return x->total_s < y->total_s ? -1 : x->total_s > y->total_s;
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

static sw_rc list_made_candidates(changer *c, sw_id value, choices *x, int32_t *n, candidate **all, sw_diag *d) {
  const sw_id def = c->p->job.graph->values[value].def;
  SW_TRY(open_changer(c, d));
  SW_TRY(def >= 0 ? touch_op(c, def, d) : touch_argument(c, value, d));
  SW_TRY(list_value_choices(c, value, def >= 0 ? c->ops.at[0] : -1, x, d));
  SW_TRY(list_candidates(c, value, NULL, x, n, all, d));
  take_back(c, c->p);
  return SW_OK;
}

/* `only`: made just so; NULL: otherwise than now. */
static sw_rc list_made(changer *c, sw_id value, const sw_sharding *only, int32_t most, int32_t *n,
                       const sw_alternative **out, sw_diag *d) {
  choices x;
  candidate *all;
  sw_alternative *kept;
  sw_sharding now;
  int32_t n_all, n_legal = 0;
  *n = 0;
  SW_TRY(list_made_candidates(c, value, &x, &n_all, &all, d));
  SW_ARENA_NEW(kept, c->arena, 2 * most, d);
  sharding_now(c, value, NULL, &now);
  for (int32_t i = 0; i < n_all && n_legal < most && *n < 2 * most; i++) {
    if (all[i].seconds >= HUGE_VAL || sw_sharding_equal(&all[i].sharding, only ? only : &now) != (only != NULL))
      continue;
    take_choice(c, value, &x, all[i].choice);
    SW_TRY(finish_alternative(c, value, &all[i].sharding, &kept[*n], d));
    n_legal += kept[(*n)++].legal;
  }
  if (*n) qsort(kept, (size_t)*n, sizeof *kept, by_total);
  *n = *n > most ? most : *n;
  *out = kept;
  return SW_OK;
}

sw_rc sw_alternatives_made(const sw_plan *p, const sw_breakdown *a, sw_id value, int32_t most, sw_arena *arena,
                           int32_t *n, const sw_alternative **out, sw_diag *d) {
  changer c = {.p = p, .a = a, .arena = arena};
  return close_changer(&c, list_made(&c, value, NULL, most, n, out, d));
}

/* Nothing does it. */
static void refuse(const sw_sharding *sharding, const char *why, sw_alternative *out) {
  *out = (sw_alternative){.sharding = *sharding, .why = why};
}

sw_rc sw_alternative_made_as(const sw_plan *p, const sw_breakdown *a, sw_id value, const sw_sharding *sharding,
                             sw_arena *arena, sw_alternative *out, sw_diag *d) {
  changer c = {.p = p, .a = a, .arena = arena};
  const sw_alternative *found;
  int32_t n;
  SW_TRY(close_changer(&c, list_made(&c, value, sharding, 1, &n, &found, d)));
  refuse(sharding, "what makes it cannot make it so", out);
  if (n) *out = found[0];
  return SW_OK;
}

static const candidate *find_candidate(int32_t n, const candidate *all, const sw_sharding *sharding) {
  for (int32_t i = 0; i < n; i++)
    if (all[i].seconds < HUGE_VAL && sw_sharding_equal(&all[i].sharding, sharding)) return &all[i];
  return NULL;
}

static sw_id value_of_use(const sw_graph *g, sw_value_use use) {
  return use.op < 0 ? g->outputs[use.index] : g->ops[use.op].operands[use.index];
}

/* One use after another; *found false: one cannot. */
static sw_rc take_use(changer *c, sw_value_use use, const sw_sharding *sharding, bool *found, sw_diag *d) {
  const sw_id value = value_of_use(c->p->job.graph, use);
  choices x;
  candidate *all;
  int32_t n;
  if (use.op < 0) {
    *found = c->p->job.graph->alias[use.index] < 0 && !sharding->n_partial;
    if (*found) c->q.outputs[use.index] = *sharding;
    return SW_OK;
  }
  SW_TRY(touch_op(c, use.op, d));
  SW_TRY(list_value_choices(c, value, c->ops.at[0], &x, d));
  SW_TRY(list_candidates(c, value, &use, &x, &n, &all, d));
  const candidate *k = find_candidate(n, all, sharding);
  *found = k != NULL;
  if (k) take_choice(c, value, &x, k->choice);
  return SW_OK;
}

static sw_rc take_as(changer *c, int32_t n, const sw_value_use *uses, const sw_sharding *sharding, sw_alternative *out,
                     sw_diag *d) {
  SW_TRY(open_changer(c, d));
  for (int32_t i = 0; i < n; i++) {
    bool found;
    sw_sharding now;
    sw_plan_use_sharding(&c->q, uses[i], &now);
    if (sw_sharding_equal(&now, sharding)) continue;
    SW_TRY(take_use(c, uses[i], sharding, &found, d));
    if (found) continue;
    refuse(sharding, "what uses it cannot take it so", out);
    return SW_OK;
  }
  return finish_alternative(c, value_of_use(c->p->job.graph, uses[0]), sharding, out, d);
}

sw_rc sw_alternative_taken_as(const sw_plan *p, const sw_breakdown *a, int32_t n, const sw_value_use *uses,
                              const sw_sharding *sharding, sw_arena *arena, sw_alternative *out, sw_diag *d) {
  changer c = {.p = p, .a = a, .arena = arena};
  return close_changer(&c, take_as(&c, n, uses, sharding, out, d));
}
