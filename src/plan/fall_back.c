/* A search that has not closed, or that has not begun as time was up before the problem stood. What is known without
 * one are the plan to start from, those that the caller knows, and the ones that people make by rule (baselines); the
 * cheapest of those that fit and meet the annotations is the answer, unless the search has found a cheaper one.
 */
#include "plan/search.h"
#include "base/checked.h"

#include <inttypes.h>

typedef struct best_known {
  const sw_searcher *s;
  sw_even_rule even;
  sw_plan *out;
  double cost_s;
  int64_t least_bytes; /* of those that do not fit, too; -1: none was looked at */
} best_known;

/* Is everything cut into equal blocks that must be? */
static bool is_plan_even(const best_known *b, const sw_plan *p) {
  const sw_graph *g = b->s->job.graph;
  const sw_even even = b->s->o->selection.even;
  if (even == SW_EVEN_NEVER) return true;
  bool all = sw_plan_check_even(p, &b->even, NULL) == SW_OK;
  for (sw_id i = 0; i < g->n_ops && all && even == SW_EVEN_ALWAYS; i++)
    all = sw_strategy_is_even(&b->even, g, &g->ops[i], &p->ops[i]);
  return all;
}

/* The plan may have been made before the graph had all of its annotations: it is asked to keep these. */
static void consider(best_known *b, const sw_plan *plan, const sw_breakdown *a) {
  sw_plan here = *plan;
  here.job = b->s->job;
  const bool fits = a->peak_bytes <= b->s->o->selection.capacity_bytes;
  if (b->cost_s >= 0 && a->total_s >= b->cost_s && b->least_bytes <= a->peak_bytes) return;
  if (plan->job.graph->n_ops != here.job.graph->n_ops || sw_plan_verify(&here, NULL) || !is_plan_even(b, plan)) return;
  if (b->least_bytes < 0 || a->peak_bytes < b->least_bytes) b->least_bytes = a->peak_bytes;
  if (!fits || (b->cost_s >= 0 && a->total_s >= b->cost_s)) return;
  *b->out = here;
  b->cost_s = a->total_s;
}

/* The least is that of a plan which keeps all that is asked for; to be rid of it takes more than rounding. */
static sw_rc begin_with(best_known *b, const sw_plan *plan, sw_diag *d) {
  const double kRounding = 1e-9;
  sw_arena scratch = {0};
  sw_breakdown a = {0};
  sw_rc rc = sw_plan_breakdown(plan, &scratch, &a, d);
  b->cost_s = a.total_s * (1 - kRounding);
  b->least_bytes = 0;
  sw_arena_deinit(&scratch);
  return rc;
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
  for (int32_t i = 0; i < b->s->o->n_known; i++) SW_TRY(consider_plan(b, &b->s->o->known[i], d));
  const sw_comparison *all = b->s->o->baselines;
  if (!all) SW_TRY(sw_baselines_build(&b->s->job, b->s->arena, &all, d));
  for (int i = 0; i < SW_BASELINE_COUNT; i++)
    if (all[i].made) consider(b, &all[i].plan, &all[i].breakdown);
  return SW_OK;
}

sw_rc sw_search_find_known(const sw_searcher *s, sw_plan *out, bool *any, sw_diag *d) {
  best_known b = {.s = s, .out = out, .cost_s = -1, .least_bytes = -1};
  *any = false;
  if (s->o->selection.cut_heavy_ops || s->o->selection.args_whole) return SW_OK; /* plans by rule heed neither */
  SW_TRY(sw_even_rule_of(s->job.request, s->arena, &b.even, d));
  SW_TRY(consider_known(&b, d));
  *any = b.cost_s >= 0;
  return SW_OK;
}

/* What the search counts a plan at, where it is one of those that its problem is of: with what decides between equals,
 * as its bound has it. */
static sw_rc count_in_units(const sw_searcher *s, const sw_plan *plan, double cost_s, int64_t *units, sw_diag *d) {
  int32_t *choice;
  bool *missing, any = false;
  *units = sw_cost_units(s->job.machine, cost_s);
  SW_ARENA_NEW(choice, s->arena, s->problem->n_nodes, d);
  SW_ARENA_NEW(missing, s->arena, s->problem->n_nodes, d);
  sw_selection_encode(s->selection, sw_plan_selected(plan), choice, missing);
  for (int32_t i = 0; i < s->problem->n_nodes; i++) any = any || missing[i];
  return any ? SW_OK : sw_search_cost(s, choice, units, NULL, d);
}

sw_rc sw_search_prefer_known(const sw_searcher *s, sw_plan *out, sw_diag *d) {
  const sw_plan found = *out;
  if (s->o->selection.cut_heavy_ops || s->o->selection.args_whole) return SW_OK; /* plans by rule heed neither */
  best_known b = {.s = s, .out = out};
  SW_TRY(sw_even_rule_of(s->job.request, s->arena, &b.even, d));
  SW_TRY(begin_with(&b, &found, d));
  SW_TRY(consider_known(&b, d));
  const sw_plan known = *out;
  *out = found;
  if (known.ops == found.ops) return SW_OK;
  int64_t units;
  SW_TRY(count_in_units(s, &known, b.cost_s, &units, d));
  if (units >= found.cost_units) return SW_OK;
  out->ops = known.ops;
  out->args = known.args;
  out->outputs = known.outputs;
  out->n_stated = known.n_stated;
  out->stated = known.stated;
  out->origin = known.origin;
  out->cost_units = units;
  if (out->cost_units < out->bound_units) out->pruned_inexact++; /* it is none of the plans that the bound is of */
  out->bound_units = sw_min_i64(out->bound_units, out->cost_units);
  const bool proven = out->bound_units == out->cost_units && !out->pruned_inexact;
  out->status = proven ? SW_SOLVE_OPTIMAL : SW_SOLVE_FEASIBLE;
  return SW_OK;
}

sw_rc sw_search_fall_back(const sw_searcher *s, sw_plan *out, sw_diag *d) {
  best_known b = {.s = s, .out = out, .cost_s = -1, .least_bytes = -1};
  SW_TRY(sw_even_rule_of(s->job.request, s->arena, &b.even, d));
  if (s->o->start) SW_TRY(consider_plan(&b, s->o->start, d));
  SW_TRY(consider_known(&b, d));
  if (b.cost_s < 0) {
    if (b.least_bytes < 0) SW_TRY(sw_requirements_check(&s->job, d)); /* no time would help */
    const char *why = b.least_bytes < 0 ? "none of the plans known without a search meets the annotations"
                                        : "no plan known without a search fits";
    return SW_FAIL(
        d, SW_E_RESOURCE, SW_NOWHERE,
        "time was up while the ways to cut ops were being priced, and %s; more time (--time-limit) or a mesh "
        "of fewer axes would help",
        why);
  }
  out->status = SW_SOLVE_FEASIBLE;
  out->cost_units = sw_cost_units(s->job.machine, b.cost_s);
  out->bound_units = sw_min_i64(s->least, out->cost_units);
  out->capacity_bytes = s->o->selection.capacity_bytes;
  return SW_OK;
}
