/* The search: graph -> selection problem -> solver -> plan, and the recount that the plan is judged by.
 *
 * The problem is a relaxation in how it counts copies that several uses share (selection.h): it is solved, refined
 * where its solution was too cheap, and solved again, until the best true cost meets the bound or time is up.
 *
 * The problem sees the values as they are made and the temporaries of ops, not the resharded copies. When the exact
 * peak of the plan found passes the capacity all the same, the limit is lowered by the excess and solved again; such a
 * plan is never called optimal.
 */
#include "plan/uses.h"
#include "shardwright/checked.h"

enum { MOST_ROUNDS = 8, MOST_REFINEMENTS = 40, HOLDINGS_SHOWN = 5 };

typedef struct searcher {
  const sw_graph *g;
  const sw_machine *machine;
  const sw_plan_options *o;
  sw_arena *arena;
  sw_selection *selection;
  double started_s;
} searcher;

static bool out_of_time(const searcher *s) {
  double limit = s->o->solve.time_limit_s;
  return (limit > 0 && sw_now_s() - s->started_s >= limit) || sw_cancelled(s->o->solve.cancel);
}

static sw_rc solve_once(const searcher *s, int64_t limit, sw_solution *out, sw_diag *d) {
  sw_problem problem = *sw_selection_problem(s->selection);
  problem.limit = limit;
  sw_solve_options o = s->o->solve;
  int32_t *uncut; /* first choices: nothing cut, no copies; a start that always exists */
  SW_ARENA_NEW(uncut, s->arena, problem.n_nodes, d);
  o.warm = uncut;
  if (o.time_limit_s > 0) { /* what is left of it; never nothing, so that a quick solution is still found */
    double left = o.time_limit_s - (sw_now_s() - s->started_s);
    o.time_limit_s = left > 0.05 ? left : 0.05;
  }
  return sw_solve(&problem, &o, s->arena, out, d);
}

/* Solve and refine. In *out: the solution of least true cost (its `cost`), the best bound over all rounds. */
static sw_rc solve(const searcher *s, int64_t limit, sw_solution *out, sw_diag *d) {
  *out = (sw_solution){.status = SW_SOLVE_UNKNOWN};
  for (int round = 0; round < MOST_REFINEMENTS; round++) {
    sw_solution now;
    bool refined;
    int64_t cost;
    SW_TRY(solve_once(s, limit, &now, d));
    if (now.status == SW_SOLVE_INFEASIBLE && !out->choice) {
      *out = now;
      return SW_OK;
    }
    out->bound = sw_max_i64(out->bound, now.bound);
    if (!now.choice) break;
    SW_TRY(sw_selection_cost(s->selection, now.choice, &cost, d));
    if (!out->choice || cost < out->cost) {
      out->choice = now.choice;
      out->cost = cost;
      out->solver = now.solver;
    }
    SW_TRY(sw_selection_refine(s->selection, now.choice, &refined, d));
    if (!refined || out->bound >= out->cost || out_of_time(s)) break;
  }
  out->bound = out->choice ? sw_min_i64(out->bound, out->cost) : out->bound;
  if (out->choice) out->status = out->bound == out->cost ? SW_SOLVE_OPTIMAL : SW_SOLVE_FEASIBLE;
  return SW_OK;
}

static void take(const searcher *s, const sw_solution *sol, sw_plan *out) {
  const sw_problem *p = sw_selection_problem(s->selection);
  sw_selection_decode(s->selection, sol->choice, out->ops, out->args, out->outputs);
  out->origin = "search";
  out->status = sol->status;
  out->solver = sol->solver;
  out->cost_units = sol->cost;
  out->bound_units = sol->bound;
  out->n_nodes = p->n_nodes;
  out->n_edges = p->n_edges;
  out->n_classes = sw_selection_classes(s->selection);
  out->pruned_inexact = sw_selection_pruned_inexact(s->selection);
  out->args_whole = s->o->selection.args_whole;
  if (out->pruned_inexact && out->status == SW_SOLVE_OPTIMAL) out->status = SW_SOLVE_FEASIBLE;
}

/* "no plan fits": the smallest capacity, and what fills the peak of the plan that needs least. */
static sw_rc explain_infeasible(const searcher *s, int64_t capacity, int64_t least, sw_plan *scratch, sw_diag *d) {
  sw_text t = {0};
  sw_text_puts(&t, "no plan fits into ");
  sw_text_bytes(&t, (double)capacity);
  sw_text_puts(&t, " per device");
  sw_solution sol = {0};
  sw_account a;
  if (least > 0 && solve(s, least, &sol, NULL) == SW_OK && sol.choice) {
    take(s, &sol, scratch);
    if (sw_plan_account(scratch, s->arena, &a, NULL) == SW_OK) {
      sw_holding top[HOLDINGS_SHOWN];
      int32_t n = 0;
      sw_text_puts(&t, "; the smallest capacity that would do is ");
      sw_text_bytes(&t, (double)sw_max_i64(least, a.peak_bytes));
      if (sw_plan_holdings(scratch, &a, a.peak_step, HOLDINGS_SHOWN, top, &n, NULL)) n = 0;
      if (n) sw_text_puts(&t, "; its peak is filled by");
      for (int32_t i = 0; i < n; i++) {
        sw_text_printf(&t, "%s %s%s (", i ? "," : "", s->g->values[top[i].value].name, top[i].copy ? ", a copy" : "");
        sw_text_bytes(&t, (double)top[i].bytes);
        sw_text_puts(&t, ")");
      }
    }
  } else if (least > 0) {
    sw_text_puts(&t, "; at least ");
    sw_text_bytes(&t, (double)least);
    sw_text_puts(&t, " is needed");
  }
  sw_rc rc = SW_FAIL(d, SW_E_INFEASIBLE, SW_NOWHERE, "%s", sw_text_str(&t));
  sw_text_free(&t);
  return rc;
}

static sw_rc search(const searcher *s, int64_t capacity, sw_plan *out, sw_diag *d) {
  int64_t limit = capacity;
  for (int round = 0; round < MOST_ROUNDS; round++) {
    sw_solution sol = {0};
    SW_TRY(solve(s, limit, &sol, d));
    if (sol.status == SW_SOLVE_INFEASIBLE && limit == capacity) {
      if (capacity == INT64_MAX) {
        return SW_FAIL(d, SW_E_INFEASIBLE, SW_NOWHERE,
                       "the required shardings exclude each other: no plan meets them all");
      }
      return explain_infeasible(s, capacity, sol.least_peak, out, d);
    }
    if (!sol.choice) break;
    take(s, &sol, out);
    sw_account a;
    sw_arena scratch = {0};
    sw_rc rc = sw_plan_account(out, &scratch, &a, d);
    int64_t excess = rc || capacity == INT64_MAX ? 0 : a.peak_bytes - capacity;
    sw_arena_deinit(&scratch);
    if (rc) return rc;
    if (limit != capacity && out->status == SW_SOLVE_OPTIMAL) out->status = SW_SOLVE_FEASIBLE;
    if (excess <= 0) return SW_OK;
    if (excess >= limit) break;
    limit -= excess;
  }
  return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                 "no plan was found that stays within %lld bytes per device in the time given", (long long)capacity);
}

sw_rc sw_plan_search(const sw_graph *g, const sw_machine *machine, const sw_plan_options *o, sw_arena *arena,
                     sw_plan *out, sw_diag *d) {
  sw_plan_options options = *o;
  if (options.selection.capacity_bytes == 0) {
    options.selection.capacity_bytes = sw_profile_memory_bytes(sw_machine_profile(machine));
  }
  searcher s = {.g = g, .machine = machine, .o = &options, .arena = arena, .started_s = sw_now_s()};
  SW_TRY(sw_plan_build(g, machine, arena, out, d));
  SW_TRY(sw_selection_build(g, machine, &options.selection, arena, &s.selection, d));
  out->capacity_bytes = options.selection.capacity_bytes;
  sw_rc rc = search(&s, options.selection.capacity_bytes, out, d);
  out->time_s = sw_now_s() - s.started_s;
  sw_selection_deinit(s.selection);
  return rc;
}
