/* A search that answers further questions (plan.h): graph -> problem -> plan, and plans with further pins of the same
 * problem.
 */
#include "plan/search.h"

#include <assert.h>
#include <math.h>

#include "base/checked.h"

struct sw_planner {
  sw_searcher s; /* without a selection: time was up before the problem stood */
  sw_plan_options o;
  sw_plan base;  /* the plan without further pins */
  int64_t bound; /* proven of it, and so of all with pins */
  sw_solve_state state;
  sw_route_prices *routes; /* of all its problems */
};

/* --- from a problem that stands to a plan ------------------------------------------------------------------------- */

sw_rc sw_search_take(const sw_searcher *s, const sw_solution *sol, const sw_fit *fit, sw_plan *out, int64_t *peak,
                     sw_diag *d) {
  const sw_problem *p = sw_relaxation_problem(s->relaxed);
  sw_arena scratch = {0};
  sw_breakdown a;
  sw_selection_decode(s->selection, sol->choice, out->ops, out->args, out->outputs);
  SW_TRY(sw_selection_stated(s->selection, sol->choice, s->arena, &out->n_stated, &out->stated, d));
  out->origin = "search";
  out->solver = sol->solver;
  out->cost_units = sol->cost;
  out->bound_units = sw_min_i64(fit->bound, sol->cost);
  out->n_nodes = p->n_nodes;
  out->n_edges = p->n_edges;
  out->n_classes = sw_selection_classes(s->selection);
  out->pruned_inexact = sw_selection_pruned_inexact(s->selection);
  out->args_whole = s->o->selection.args_whole;
  const sw_copy_of *exact;
  SW_TRY(sw_relaxation_exact(s->relaxed, s->arena, &out->n_shared, &exact, d));
  SW_TRY(sw_selection_name_copies(s->selection, out->n_shared, exact, s->arena, &out->shared, d));
  bool proven = out->bound_units == out->cost_units && !out->pruned_inexact;
  out->status = proven ? SW_SOLVE_OPTIMAL : SW_SOLVE_FEASIBLE;
  sw_rc rc = sw_plan_breakdown(out, &scratch, &a, d);
  if (!rc) *peak = a.peak_bytes;
  /* The problem counts no less than the account, but for what is stated of ports (units are rounded up, and break
   * ties). */
  const double counted_s = sw_cost_seconds(s->job.machine, sol->cost);
  assert(rc || out->n_stated || sol->cost >= SW_FORBIDDEN || counted_s >= a.total_s * (1 - 1e-9));
  (void)counted_s;
  assert(rc || out->bound_units <= out->cost_units);
  sw_arena_deinit(&scratch);
  return rc;
}

/* What is found under a capacity. */
typedef struct fitting {
  sw_solution sol; /* of the cheapest plan that fits; no choice: none */
  sw_fit *fit;
  sw_plan *out;
} fitting;

/* Does the plan of a solution fit? *excess: what it holds too much. */
static sw_rc keep_fitting(const sw_searcher *s, const sw_solution *sol, fitting *f, int64_t *excess, sw_diag *d) {
  int64_t peak;
  SW_TRY(sw_search_take(s, sol, f->fit, f->out, &peak, d));
  *excess = peak - f->fit->capacity;
  if (!f->fit->nearest.choice || peak < f->fit->nearest_peak) {
    f->fit->nearest = *sol;
    f->fit->nearest_peak = peak;
  }
  if (*excess <= 0 && (!f->sol.choice || sol->cost < f->sol.cost)) f->sol = *sol;
  return SW_OK;
}

/* Solve; while the plan found holds too much, lower the limit by what is too much. Each round has half of what is left,
 * so that there is time for another one. What is proven is so under the capacity alone. */
static sw_rc lower_until_it_fits(const sw_searcher *s, int32_t most_rounds, fitting *f, sw_diag *d) {
  const double kOfTime = 0.5;
  int64_t limit = f->fit->capacity, excess;
  sw_solution before, sol = f->sol;
  for (int round = 0; round < most_rounds; round++) {
    const sw_searcher some = sw_search_within(s, round + 1 < most_rounds ? kOfTime : 1);
    before = sol;
    before.bound = f->fit->bound;
    SW_TRY(sw_search_solve(&some, limit, before.choice ? &before : NULL, &sol, d));
    if (limit == f->fit->capacity) f->fit->bound = sw_max_i64(f->fit->bound, sw_max_i64(sol.bound, s->least));
    if (!sol.choice) break;
    const int64_t known = f->sol.choice ? f->sol.cost : INT64_MAX;
    SW_TRY(keep_fitting(s, &sol, f, &excess, d));
    const bool idle = excess <= 0 && sol.cost >= known && sol.bound <= before.bound;
    if (excess <= 0 && (idle || sw_search_is_close(s, &sol) || sw_search_is_over(s))) break;
    if (excess >= limit) break;
    if (excess > 0) limit -= excess;
  }
  return SW_OK;
}

/* What is known is near: to what is proven of all plans that fit. */
static bool is_fit_closed(const sw_searcher *s, const fitting *f) {
  sw_solution known = f->sol;
  known.bound = f->fit->bound;
  return sw_search_is_close(s, &known);
}

/* The choices of the plan to start from, and a problem that counts its copies right. */
static sw_rc take_start(sw_searcher *s, sw_diag *d) {
  const sw_plan *from = s->o->start;
  bool refined, any = false;
  if (!from) return SW_OK;
  const int32_t n = s->problem->n_nodes;
  const sw_copy_of *exact;
  int32_t n_exact;
  SW_ARENA_NEW(s->start, s->arena, n, d);
  SW_ARENA_NEW(s->missing, s->arena, n, d);
  SW_TRY(sw_selection_find_copies(s->selection, from->n_shared, from->shared, s->arena, &n_exact, &exact, d));
  SW_TRY(sw_relaxation_count(s->relaxed, n_exact, exact, d));
  sw_selection_encode(s->selection, sw_plan_selected(from), s->start, s->missing);
  for (int32_t i = 0; i < n; i++) any = any || s->missing[i];
  if (!any) s->missing = NULL;
  if (any) SW_TRY(sw_search_repair(s, s->o->selection.capacity_bytes, SW_REPAIR_FEW, s->start, d));
  return sw_search_refine(s, s->start, &refined, d);
}

/* Lives counted exactly: from the plan that fits; where none was found, from the cheapest that is known without a
 * search. */
static sw_rc find_exactly(const sw_searcher *s, int32_t most_rounds, fitting *f, sw_diag *d) {
  sw_searcher exact = *s;
  sw_plan_options o = *s->o;
  sw_plan known;
  bool any = false;
  exact.lives = SW_LIVES_EXACT;
  if (!f->sol.choice && !s->start) SW_TRY(sw_search_find_known(s, &known, &any, d));
  if (any) {
    o.start = &known;
    exact.o = &o;
    SW_TRY(take_start(&exact, d));
  }
  return lower_until_it_fits(&exact, most_rounds, f, d);
}

static sw_rc find_by_price(const sw_searcher *s, fitting *f, sw_diag *d) {
  const double kOfTime = 0.5;
  const sw_searcher some = sw_search_within(s, kOfTime);
  const sw_solution *from = f->sol.choice ? &f->sol : &f->fit->nearest;
  sw_solution sol;
  int64_t excess, bound;
  SW_TRY(sw_search_by_price(&some, f->fit, from->choice, f->out, &sol, &bound, d));
  f->fit->bound = sw_max_i64(f->fit->bound, bound);
  return sol.choice ? keep_fitting(s, &sol, f, &excess, d) : SW_OK;
}

/* At first lives are counted by the least, which takes no longer than without a limit, and is all where the plan fits;
 * then memory has a price, which soon leads to a plan that fits; and from there exactly. */
static sw_rc find_fitting(const sw_searcher *s, int64_t capacity, sw_plan *out, sw_fit *fit, sw_diag *d) {
  enum { MOST_ROUNDS = 8 }; /* of a plan that holds ever too much; twice as many find one in few cases more */
  const double kOfTime = 0.5;
  fitting f = {.fit = fit, .out = out};
  int64_t peak;
  *fit = (sw_fit){.capacity = capacity};
  sw_searcher some = sw_search_within(s, kOfTime);
  SW_TRY(lower_until_it_fits(&some, 1, &f, d));
  if (s->spent->over && !is_fit_closed(s, &f) && !sw_search_is_over(s)) SW_TRY(find_by_price(s, &f, d));
  if (!is_fit_closed(s, &f) && !sw_search_is_over(s)) SW_TRY(find_exactly(s, MOST_ROUNDS, &f, d));
  fit->found = f.sol.choice != NULL;
  return fit->found ? sw_search_take(s, &f.sol, fit, out, &peak, d) : SW_OK;
}

static sw_rc find_fitting_plan(sw_searcher *s, sw_plan *out, sw_fit *fit, sw_diag *d) {
  out->capacity_bytes = s->o->selection.capacity_bytes;
  SW_TRY(take_start(s, d));
  SW_TRY(find_fitting(s, s->o->selection.capacity_bytes, out, fit, d));
  return fit->found ? SW_OK : sw_search_least_memory(s, fit, out, d);
}

/* --- the problem, and what is known without it ------------------------------------------------------------------- */

/* So few copies that all routes are searched for at once: rounds over exact small problems take longer. */
static bool has_few_copies(const sw_problem *p) {
  const int64_t kFew = 8192;
  int64_t n = 0;
  for (int32_t k = 0; k < p->n_copies && n <= kFew; k++)
    n += (int64_t)p->copies[k].table->n_classes * p->copies[k].table->n_layouts;
  return n <= kFew;
}

static sw_rc build_search_problem(sw_planner *p, sw_diag *d) {
  p->o.selection.deadline_s = p->s.deadline_s;
  p->o.selection.cancel = p->o.solve.cancel;
  SW_TRY(sw_selection_build(&p->s.job, &p->o.selection, p->s.arena, &p->s.selection, &p->s.least, d));
  p->s.problem = sw_selection_problem(p->s.selection);
  if (has_few_copies(p->s.problem)) SW_TRY(sw_selection_settle_all(p->s.selection, p->s.deadline_s, d));
  return sw_relaxation_make(p->s.problem, p->s.arena, &p->s.relaxed, d);
}

/* Halos, unequal blocks and parts lead rules to shardings that no choice has. */
static bool asks_for_special(const sw_request *r) {
  for (int32_t i = 0; i < r->n_annotations; i++) {
    const sw_annotation *a = &r->annotations[i];
    if (a->value >= 0 && (sw_sharding_is_special(&a->sharding) || a->sharding.n_partial)) return true;
  }
  return false;
}

/* Strategies were left out, or the search ended before its bound came near: what is known otherwise may be cheaper. */
static bool may_be_beaten(const sw_planner *p, const sw_plan *found) {
  return !sw_plan_bound_is_proven(found) || sw_plan_gap(found) > p->o.solve.gap || asks_for_special(p->s.job.request);
}

/* The search found nothing that fits: does something that is known? */
static sw_rc fit_known(sw_planner *p, sw_plan *out, sw_diag *d) {
  sw_plan known = *out;
  if (p->o.selection.cut_heavy_ops || p->o.selection.args_whole) return SW_E_RESOURCE;
  if (sw_search_fall_back(&p->s, &known, NULL)) return SW_E_RESOURCE; /* d says why the search found nothing */
  if (d) *d = (sw_diag){0};
  *out = known;
  return SW_OK;
}

/* --- meshes of many axes ------------------------------------------------------------------------------------------ */

/* There an op has hundreds of strategies, most of them of no use. First those are searched that the mesh has with all
 * its axes merged into one, then those of meshes with neighbouring axes merged into two, then further ones that go well
 * with what was found, each from where the last ended. Where all together are few, all at once. */
enum { MOST_AT_ONCE = 16384, FURTHER = 24 };

typedef struct stage {
  int runs;     /* of axes that go together (strategy.h) */
  bool further; /* besides, strategies near the plan so far */
  double part;  /* of the time that is left */
  double gap;   /* no less is asked for */
} stage;

static const stage kStages[] = {{1, false, 0.1, 0.01}, {2, false, 0.6, 0.005}, {2, true, 1, 0}};
enum { N_STAGES = sizeof kStages / sizeof kStages[0] };

static void take_down(sw_planner *p) {
  sw_relaxation_deinit(p->s.relaxed);
  sw_selection_deinit(p->s.selection);
  p->s.relaxed = NULL;
  p->s.selection = NULL;
  p->state = (sw_solve_state){0};
}

static sw_rc list_further(sw_planner *p, const sw_plan *plan, sw_diag *d) {
  const int32_t n = p->s.problem->n_nodes;
  int32_t *choice;
  bool *missing;
  SW_ARENA_NEW(choice, p->s.arena, n, d);
  SW_ARENA_NEW(missing, p->s.arena, n, d);
  sw_selection_encode(p->s.selection, sw_plan_selected(plan), choice, missing);
  return sw_selection_further(p->s.selection, choice, FURTHER, p->s.arena, &p->o.selection.further, d);
}

/* The problem of a stage, in place of the one before. */
static sw_rc build_stage(sw_planner *p, const stage *at, const sw_plan *plan, sw_diag *d) {
  if (at->further && plan) SW_TRY(list_further(p, plan, d));
  take_down(p);
  p->o.selection.enumerate.runs = at->runs;
  return build_search_problem(p, d);
}

/* The first problem; *staged: others are to follow. */
static sw_rc build_first(sw_planner *p, bool *staged, sw_diag *d) {
  const int asked = p->o.selection.enumerate.runs;
  sw_atoms atoms;
  sw_atoms_of(p->s.job.request, sw_machine_mesh(p->s.job.machine), &atoms);
  *staged = asked == 0 && atoms.n > kStages[N_STAGES - 1].runs;
  p->o.selection.enumerate.runs = *staged ? kStages[0].runs : asked ? asked : SW_MAX_REFS;
  SW_TRY(build_search_problem(p, d));
  if (!*staged || sw_selection_pruned_inexact(p->s.selection) > MOST_AT_ONCE) return SW_OK;
  *staged = false;
  take_down(p);
  p->o.selection.enumerate.runs = SW_MAX_REFS;
  return build_search_problem(p, d);
}

/* Of what is left. Further strategies seldom lead to a better plan: they get no more than what led to the one so far.
 */
static double part_for(const sw_planner *p, const stage *at) {
  const sw_searcher *s = &p->s;
  const double now_s = sw_now_s();
  if (!at->further || s->limit <= 0) return at->part;
  const double used = s->deadline_s > 0 ? now_s - s->spent->started_s : sw_search_used(s),
               left = s->deadline_s > 0 ? s->deadline_s - now_s : sw_search_left(s);
  return used < at->part * left ? used / left : at->part;
}

/* What is found in a stage, if it is better than the plan so far, or the same and as near to its bound; *any: there is
 * one. */
static sw_rc search_stage(sw_planner *p, const stage *at, sw_plan *out, sw_fit *fit, bool *any, sw_diag *d) {
  const sw_plan before = *out;
  sw_plan_options o = p->o;
  sw_searcher s = sw_search_within(&p->s, part_for(p, at));
  sw_plan plan;
  sw_fit found;
  if (*any) o.start = &before;
  o.solve.gap = fmax(o.solve.gap, at->gap);
  s.o = &o;
  SW_TRY(sw_plan_build(&s.job, s.arena, &plan, d));
  plan.capacity_bytes = o.selection.capacity_bytes;
  SW_TRY(take_start(&s, d));
  SW_TRY(find_fitting(&s, o.selection.capacity_bytes, &plan, &found, d));
  p->bound = found.bound;
  if (!found.found || (*any && plan.cost_units > before.cost_units)) return SW_OK;
  if (*any && plan.cost_units == before.cost_units && sw_plan_gap(&plan) > fmax(s.o->solve.gap, sw_plan_gap(&before)))
    return SW_OK;
  *out = plan;
  *fit = found;
  *any = true;
  return SW_OK;
}

/* All of them, the first problem standing. SW_OK without a plan in the end is no answer: that of the last problem is.
 */
static sw_rc find_in_stages(sw_planner *p, sw_plan *out, sw_fit *fit, sw_diag *d) {
  bool any = false;
  for (int k = 0; k < N_STAGES; k++) {
    sw_rc rc = k ? build_stage(p, &kStages[k], any ? out : NULL, d) : SW_OK;
    if (rc == SW_E_CANCELLED && any) return SW_OK;
    if (rc) return rc;
    SW_TRY(search_stage(p, &kStages[k], out, fit, &any, d));
    if (any && sw_search_is_over(&p->s)) return SW_OK;
  }
  return any ? SW_OK : find_fitting_plan(&p->s, out, fit, d);
}

/* --- the first plan, and questions ------------------------------------------------------------------------------- */

/* The first search. */
static sw_rc find_base(sw_planner *p, sw_plan *out, sw_diag *d) {
  sw_fit fit;
  bool staged;
  sw_rc rc = build_first(p, &staged, d);
  if (!rc) rc = staged ? find_in_stages(p, out, &fit, d) : find_fitting_plan(&p->s, out, &fit, d);
  if (!rc && !staged) p->bound = fit.bound;
  if (rc == SW_E_CANCELLED) return sw_search_fall_back(&p->s, out, d);
  if (rc == SW_E_RESOURCE) rc = fit_known(p, out, d);
  if (!rc && may_be_beaten(p, out)) rc = sw_search_prefer_known(&p->s, out, d);
  if (!rc) p->bound = sw_min_i64(p->bound, out->cost_units);
  if (!rc) rc = sw_search_simplify(&p->s, out, d);
  return rc;
}

sw_rc sw_planner_open(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_planner **out, sw_plan *plan,
                      sw_diag *d) {
  const sw_machine *machine = j->machine;
  sw_planner *p;
  sw_search_budget spent;
  SW_ARENA_NEW(p, arena, 1, d);
  p->o = *o;
  if (p->o.selection.capacity_bytes == 0)
    p->o.selection.capacity_bytes = sw_profile_memory_bytes(sw_machine_profile(machine));
  p->s = (sw_searcher){.job = *j, .o = &p->o, .arena = arena, .state = &p->state};
  sw_search_begin(&p->s, &spent);
  SW_TRY(sw_plan_build(j, arena, plan, d));
  SW_TRY(sw_route_prices_make(machine, &p->routes, d));
  p->o.selection.routes = p->routes;
  sw_rc rc = find_base(p, plan, d);
  p->o.solve.deadline_s = 0; /* every question has the whole limit */
  p->o.notes_mesh = false;
  p->o.none_fits = NULL;
  plan->time_s = sw_now_s() - spent.started_s;
  p->base = *plan;
  if (rc) sw_planner_close(p);
  if (!rc) *out = p;
  return rc;
}

void sw_planner_close(sw_planner *p) {
  if (!p) return;
  sw_relaxation_deinit(p->s.relaxed);
  sw_selection_deinit(p->s.selection);
  sw_route_prices_destroy(p->routes);
}

/* A pin among the requirements of a model's definitions; one that contradicts another is SW_E_INFEASIBLE. */
static sw_rc require(const sw_request *r, const sw_pin *pin, sw_annotation *all, int32_t *n, sw_diag *d) {
  const sw_value *v = &r->graph->values[pin->value];
  const sw_annotation a = sw_pin_required(pin, v->span);
  for (int32_t i = 0; i < *n; i++) {
    const sw_annotation *other = &all[i];
    if (!other->required || other->for_users || other->op >= 0 || other->value != pin->value) continue;
    if (sw_annotation_admits(&a, &other->sharding) || sw_annotation_admits(other, &a.sharding)) continue;
    return SW_FAIL(d, SW_E_INFEASIBLE, other->span, "'%s' is required in another sharding already", v->name);
  }
  all[(*n)++] = a;
  return SW_OK;
}

/* Pins that no choice of the problem meets (unequal blocks, halos, parts of a value), or that are met behind an op: a
 * problem of its own, with the pins as requirements of the model. */
static sw_rc ask_anew(const sw_planner *p, int64_t capacity, int32_t n, const sw_pin *pins, sw_arena *arena,
                      sw_plan *out, sw_diag *d) {
  const sw_request *r = p->s.job.request;
  sw_request pinned = *r;
  sw_job job = p->s.job;
  sw_plan_options o = p->o;
  o.selection.capacity_bytes = capacity;
  sw_annotation *all;
  SW_ARENA_NEW(all, arena, r->n_annotations + n, d);
  for (int32_t i = 0; i < r->n_annotations; i++) all[i] = r->annotations[i];
  for (int32_t i = 0; i < n; i++) SW_TRY(require(r, &pins[i], all, &pinned.n_annotations, d));
  pinned.annotations = all;
  job.request = &pinned;
  o.start = &p->base;
  SW_TRY(sw_plan_search(&job, &o, arena, out, d));
  out->job.request = r;
  return SW_OK;
}

static bool any_of_use(int32_t n, const sw_pin *pins) {
  bool any = false;
  for (int32_t i = 0; i < n; i++) any = any || pins[i].of_use;
  return any;
}

sw_rc sw_planner_ask_within(sw_planner *p, int64_t capacity_bytes, int32_t n, const sw_pin *pins, sw_arena *arena,
                            sw_plan *out, sw_diag *d) {
  const int64_t capacity = sw_min_i64(capacity_bytes, p->o.selection.capacity_bytes);
  sw_plan_options o = p->o;
  sw_solve_state state = p->state; /* a question leaves nothing that the next one would have to forget */
  sw_searcher s = {.job = p->s.job, .o = &o, .arena = arena, .state = &state};
  sw_search_budget spent;
  sw_fit fit;
  if (!p->s.selection)
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                   "time was up before the problem stood; more time (--time-limit) is needed");
  o.start = &p->base;
  o.selection.capacity_bytes = capacity;
  s.selection = p->s.selection;
  s.problem = p->s.problem;
  s.relaxed = p->s.relaxed;
  s.bound = p->bound;
  s.least = p->s.least;
  sw_search_begin(&s, &spent);
  SW_TRY(sw_plan_build(&s.job, arena, out, d));
  if (sw_selection_brings(s.selection, n, pins) && !any_of_use(n, pins))
    return ask_anew(p, capacity, n, pins, arena, out, d);
  sw_rc rc = sw_selection_pin(s.selection, n, pins, d);
  if (rc == SW_E_INFEASIBLE && !any_of_use(n, pins)) return ask_anew(p, capacity, n, pins, arena, out, d);
  if (rc) return rc;
  rc = find_fitting_plan(&s, out, &fit, d);
  if (!rc) rc = sw_search_simplify(&s, out, d);
  out->time_s = sw_now_s() - spent.started_s;
  sw_rc freed = sw_selection_pin(s.selection, 0, NULL, d);
  return rc ? rc : freed;
}

sw_rc sw_planner_ask(sw_planner *p, int32_t n, const sw_pin *pins, sw_arena *arena, sw_plan *out, sw_diag *d) {
  return sw_planner_ask_within(p, p->o.selection.capacity_bytes, n, pins, arena, out, d);
}

sw_rc sw_plan_search(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_plan *out, sw_diag *d) {
  sw_planner *p;
  SW_TRY(sw_planner_open(j, o, arena, &p, out, d));
  sw_planner_close(p);
  return SW_OK;
}
