/* Plans that are known without a search: the plan to start from, those that the caller knows, and the ones that people
 * make by rule (baselines). The cheapest of those that fit and meet the annotations is the answer where a search has
 * not closed and found none that is cheaper, or where time is up before the problem stands.
 */
#include "plan/search.h"

#include <math.h>

#include "base/checked.h"

typedef struct best_known {
  const sw_search *k;
  sw_even_rule even;
  sw_plan *out;
  double cost_s;       /* of *out; at first what it must be below */
  int64_t least_bytes; /* of those that do not fit, too; -1: none was looked at */
  bool any;
} best_known;

/* Is everything cut into equal blocks that must be? */
static bool is_plan_even(const best_known *b, const sw_plan *p) {
  const sw_graph *g = b->k->job.graph;
  const sw_even even = b->k->selected.even;
  if (even == SW_EVEN_NEVER) return true;
  bool all = sw_plan_check_even(p, &b->even, NULL) == SW_OK;
  for (sw_id i = 0; i < g->n_ops && all && even == SW_EVEN_ALWAYS; i++)
    all = sw_strategy_is_even(&b->even, g, &g->ops[i], &p->ops[i]);
  return all;
}

/* The plan may have been made before the graph had all of its annotations: it is asked to keep these. */
static void consider(best_known *b, const sw_plan *plan, const sw_breakdown *a) {
  sw_plan here = *plan;
  here.job = b->k->job;
  const bool fits = a->peak_bytes <= b->k->selected.capacity_bytes, cheaper = a->total_s < b->cost_s;
  if (!cheaper && b->least_bytes >= 0 && b->least_bytes <= a->peak_bytes) return;
  if (plan->job.graph->n_ops != here.job.graph->n_ops || sw_plan_verify(&here, NULL) || !is_plan_even(b, plan)) return;
  if (b->least_bytes < 0 || a->peak_bytes < b->least_bytes) b->least_bytes = a->peak_bytes;
  if (!fits || !cheaper) return;
  *b->out = here;
  b->any = true;
  b->cost_s = a->total_s;
}

/* A plan that nobody has priced yet. */
static sw_rc consider_plan(best_known *b, const sw_plan *plan, sw_diag *d) {
  sw_arena scratch = {0};
  sw_breakdown a;
  sw_rc rc = sw_plan_breakdown(plan, &scratch, &a, d);
  if (!rc) consider(b, plan, &a);
  sw_arena_deinit(&scratch);
  return rc;
}

static sw_rc consider_known(best_known *b, sw_diag *d) {
  const sw_plan_options *o = b->k->asked;
  const sw_comparison *all = o->baselines;
  SW_TRY(sw_even_rule_of(b->k->job.request, b->k->arena, &b->even, d));
  for (int32_t i = 0; i < o->n_known; i++) SW_TRY(consider_plan(b, &o->known[i], d));
  if (!all) SW_TRY(sw_baselines_build(&b->k->job, b->k->arena, &all, d));
  for (int i = 0; i < SW_BASELINE_COUNT; i++)
    if (all[i].made) consider(b, &all[i].plan, &all[i].breakdown);
  return SW_OK;
}

sw_rc sw_search_find_known(const sw_search *k, sw_plan *out, bool *any, sw_diag *d) {
  best_known b = {.k = k, .out = out, .cost_s = INFINITY, .least_bytes = -1};
  *any = false;
  if (k->selected.cut_heavy_ops || k->selected.args_whole) return SW_OK; /* plans by rule heed neither */
  SW_TRY(consider_known(&b, d));
  *any = b.any;
  return SW_OK;
}

sw_rc sw_search_fall_back(const sw_search *k, sw_plan *out, sw_diag *d) {
  best_known b = {.k = k, .out = out, .cost_s = INFINITY, .least_bytes = -1};
  if (k->asked->start) SW_TRY(consider_plan(&b, k->asked->start, d));
  SW_TRY(consider_known(&b, d));
  if (!b.any) {
    if (b.least_bytes < 0) SW_TRY(sw_requirements_check(&k->job, d)); /* no time would help */
    const char *why = b.least_bytes < 0 ? "none of the plans known without a search meets the annotations"
                                        : "no plan known without a search fits";
    return SW_FAIL(
        d, SW_E_RESOURCE, SW_NOWHERE,
        "time was up while the ways to cut ops were being priced, and %s; more time (--time-limit) or a mesh "
        "of fewer axes would help",
        why);
  }
  out->status = SW_SOLVE_FEASIBLE;
  out->cost_units = out->found_units = sw_cost_units(k->job.machine, b.cost_s);
  out->bound_units = sw_min_i64(k->least, out->cost_units);
  out->capacity_bytes = k->selected.capacity_bytes;
  return SW_OK;
}

/* --- as a form: where the search has not closed, the last to say something -----------------------------------------
 */

/* Halos, unequal blocks and parts lead rules to shardings that no choice has. */
static bool asks_for_special(const sw_request *r) {
  for (int32_t i = 0; i < r->n_annotations; i++) {
    const sw_annotation *a = &r->annotations[i];
    if (a->value >= 0 && (sw_sharding_is_special(&a->sharding) || a->sharding.n_partial)) return true;
  }
  return false;
}

/* What the search counts a plan at, where it is one of those that its problem is of: with what decides between equals,
 * as its bound has it. */
static sw_rc count_in_units(const sw_search *k, const sw_plan *plan, double cost_s, int64_t *units, sw_diag *d) {
  int32_t *choice;
  bool *missing, all;
  *units = sw_cost_units(k->job.machine, cost_s);
  SW_TRY(sw_search_encode(k, plan, &choice, &missing, &all, d));
  return all ? sw_search_cost(k, choice, units, d) : SW_OK;
}

static sw_rc begin_known(sw_search *k, bool *due, sw_diag *d) {
  (void)d;
  if (k->earlier && (!k->best.choice || k->best.cost > k->earlier->cost_units)) k->answer = k->earlier;
  const bool beaten = sw_selection_pruned_inexact(k->selection) > 0 || !sw_search_is_closed(k);
  *due = !k->is_question && (k->answer || beaten || asks_for_special(k->job.request));
  return SW_OK;
}

/* What is found otherwise, as *found with its record. */
static void take_instead(sw_search *k, const sw_plan *known, int64_t units, sw_plan *found) {
  const sw_plan record = *found;
  const bool any = record.ops != NULL;
  *found = any ? record : *known;
  found->ops = known->ops;
  found->args = known->args;
  found->outputs = known->outputs;
  found->n_stated = known->n_stated;
  found->stated = known->stated;
  found->origin = known->origin;
  found->cost_units = found->found_units = units;
  found->capacity_bytes = k->selected.capacity_bytes;
  if (!any) found->bound_units = sw_max_i64(k->bound, k->least);
  if (any && units < found->bound_units) found->pruned_inexact++; /* it is none of the plans that the bound is of */
  found->bound_units = sw_min_i64(found->bound_units, units);
  const bool proven = any && found->bound_units == units && !found->pruned_inexact;
  found->status = proven ? SW_SOLVE_OPTIMAL : SW_SOLVE_FEASIBLE;
  k->answer = found;
}

static sw_rc make_known(sw_search *k, sw_round *r, sw_diag *d) {
  const double kRounding = 1e-9; /* to be rid of what was found takes more */
  best_known b = {.k = k, .cost_s = INFINITY, .least_bytes = -1};
  sw_plan *found, known;
  sw_breakdown a;
  int64_t peak, units;
  r->given = true;
  if (k->selected.cut_heavy_ops || k->selected.args_whole) return SW_OK; /* plans by rule heed neither */
  SW_ARENA_NEW(found, k->arena, 1, d);
  if (k->answer) *found = *k->answer;
  if (!k->answer && k->best.choice) SW_TRY(sw_search_take(k, &k->best, found, &peak, d));
  if (found->ops) SW_TRY(sw_plan_breakdown(found, &k->mem, &a, d));
  if (found->ops) b.cost_s = a.total_s * (1 - kRounding);
  if (found->ops) b.least_bytes = 0;
  b.out = &known;
  if (!found->ops && k->asked->start) SW_TRY(consider_plan(&b, k->asked->start, d));
  SW_TRY(consider_known(&b, d));
  if (!b.any) return SW_OK;
  SW_TRY(count_in_units(k, &known, b.cost_s, &units, d));
  if (!found->ops || units < found->cost_units) take_instead(k, &known, units, found);
  return SW_OK;
}

static sw_rc add_known(sw_search *k, sw_round *r, sw_diag *d) {
  (void)k, (void)r, (void)d;
  return SW_OK;
}

const sw_form sw_form_known = {
    .name = "known", .part = 1, .closing = true, .begin = begin_known, .make = make_known, .add = add_known};
