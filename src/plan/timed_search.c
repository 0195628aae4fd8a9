#include "plan/timed_search.h"

#include <assert.h>
#include <math.h>

#include "base/checked.h"
#include "shardwright/log.h"
#include "shardwright/profile.h"

/* The last rounds gain little. */
enum { MOST_ROUNDS = 8, UNITS_OF_ITEM = 4 };
/* Of what is left, what a round may take; shares that differ by less are the same. */
static const double kOfLeft = 0.5, kSame = 0.02;

typedef struct rounds {
  const sw_job *j;
  const sw_plan_options *o;
  sw_arena *arena;
  unsigned links;
  int n;
  sw_price_weights tried[MOST_ROUNDS];
  sw_planner *planner; /* of the best plan; NULL: none yet */
  sw_plan plan;
  sw_timed_prices by;
  sw_breakdown timed; /* of it */
  int64_t bound_units, pruned_inexact;
  sw_price_weights bound_by;
  int64_t work;
  double since_s;
} rounds;

double sw_timed_least_share(const sw_machine *m) { return 1 - 1 / sw_machine_contention(m); }

/* --- what is proven ------------------------------------------------------------------------------------------------
 */

unsigned sw_timed_links(const sw_job *j) {
  const sw_machine *m = j->machine;
  const sw_mesh *mesh = sw_machine_mesh(m);
  int most = -1;
  for (int a = 0; a < mesh->n_axes; a++) {
    const sw_axis_ref axis = sw_axis_whole(mesh, a);
    const int level = sw_machine_level(m, &axis, 1);
    most = level > most ? level : most;
  }
  unsigned links = (1u << (most + 1)) - 1;
  for (sw_id i = 0; i < j->graph->n_ops; i++) {
    if (j->graph->ops[i].code == SW_OP_OFFLOAD) links |= 1u << SW_LINK_TO_HOST;
    if (j->graph->ops[i].code == SW_OP_FETCH) links |= 1u << SW_LINK_FROM_HOST;
  }
  return links;
}

int64_t sw_units_beside_time(const sw_job *j) {
  int64_t items = j->graph->n_args + j->graph->n_outputs;
  for (sw_id i = 0; i < j->graph->n_ops; i++) items += j->graph->ops[i].repeats * (1 + j->graph->ops[i].n_operands);
  return UNITS_OF_ITEM * items;
}

static double bound_by_shares(const sw_timed_prices *by, int64_t bound_units) {
  const sw_bound_weights w = sw_weights_of_bound(by->job->machine, &by->weights, sw_timed_links(by->job));
  return fmax(0, (double)(bound_units - sw_units_beside_time(by->job))) * SW_WEIGHT_UNIT / (double)w.of;
}

sw_rc sw_timed_record(const sw_timed_prices *by, sw_plan *plan, sw_arena *arena, sw_breakdown *out, sw_diag *d) {
  const double found = plan->cost_units > 0 ? (double)plan->found_units / (double)plan->cost_units : 1;
  plan->job.machine = by->job->machine;
  plan->job.overlap = by->job->overlap;
  SW_TRY(sw_plan_breakdown(plan, arena, out, d));
  plan->bound_units = (int64_t)bound_by_shares(by, plan->bound_units);
  plan->cost_units = sw_cost_units(plan->job.machine, out->total_s);
  plan->found_units = (int64_t)(found * (double)plan->cost_units);
  plan->bound_units = sw_min_i64(plan->bound_units, plan->found_units);
  plan->status = plan->bound_units == plan->cost_units && !plan->pruned_inexact ? SW_SOLVE_OPTIMAL : SW_SOLVE_FEASIBLE;
  return SW_OK;
}

/* --- a round -------------------------------------------------------------------------------------------------------
 */

static double within_one(double share) { return fmin(1, fmax(0, share)); }

/* As the best plan's timeline exposes it; where it has none, in full. */
static sw_price_weights shares_of(const rounds *r) {
  const sw_timeline *t = r->timed.timeline;
  const double least = sw_timed_least_share(r->j->machine);
  sw_price_weights w = {.launch = t->launches_s > 0 ? within_one(t->sums.waited_s / t->launches_s) : 1};
  for (int l = 0; l < SW_MAX_LINKS; l++) {
    const double busy_s = t->busy_s[SW_STREAM_LEVEL + l];
    const double exposed = busy_s > 0 ? within_one(t->exposed_s[SW_STREAM_LEVEL + l] / busy_s) : 1;
    w.link[l] = exposed + (1 - exposed) * (l < SW_MAX_LEVELS ? least : 0);
  }
  return w;
}

/* Of what a step cannot take less than, the most: its launches, what it moves on a link, or its kernels with what they
 * are longer for beside a level. The others count next to nothing. */
static sw_price_weights most_alone(const rounds *r) {
  const double kFar = 1e3, least = sw_timed_least_share(r->j->machine);
  const sw_timeline *t = r->timed.timeline;
  assert(t);
  const double *busy_s = &t->busy_s[SW_STREAM_LEVEL];
  sw_price_weights w = {0};
  int most = 0;
  for (int l = 1; l < SW_MAX_LEVELS; l++) most = busy_s[l] > busy_s[most] ? l : most;
  w.link[most] = least;
  if (busy_s[most] > t->sums.work_s + least * busy_s[most]) w.link[most] = kFar;
  double most_s = fmax(t->sums.work_s + least * busy_s[most], busy_s[most]);
  for (int l = SW_LINK_TO_HOST; l < SW_MAX_LINKS; l++) {
    if (busy_s[l] <= most_s) continue;
    w = (sw_price_weights){0};
    w.link[l] = kFar;
    most_s = busy_s[l];
  }
  return t->launches_s > most_s ? (sw_price_weights){.launch = kFar} : w;
}

static bool was_tried(const rounds *r, const sw_price_weights *w) {
  for (int i = 0; i < r->n; i++) {
    double most = fabs(w->launch - r->tried[i].launch);
    for (int l = 0; l < SW_MAX_LINKS; l++)
      if (r->links >> l & 1) most = fmax(most, fabs(w->link[l] - r->tried[i].link[l]));
    if (most < kSame) return true;
  }
  return false;
}

/* What is known of the job is priced as the round prices it. */
static sw_rc price_known(const rounds *r, const sw_job *by_shares, sw_plan_options *o, sw_diag *d) {
  sw_comparison *all;
  sw_plan *known;
  for (int i = 0; o->baselines && i < SW_BASELINE_COUNT; i++) {
    if (!i) SW_ARENA_NEW(all, r->arena, SW_BASELINE_COUNT, d);
    all[i] = o->baselines[i];
    all[i].plan.job.machine = by_shares->machine;
    all[i].plan.job.overlap = SW_OVERLAP_NONE;
    if (all[i].made) SW_TRY(sw_plan_breakdown(&all[i].plan, r->arena, &all[i].breakdown, d));
    if (i + 1 == SW_BASELINE_COUNT) o->baselines = all;
  }
  SW_ARENA_NEW(known, r->arena, o->n_known + 1, d);
  for (int32_t i = 0; i < o->n_known; i++) {
    known[i] = o->known[i];
    known[i].job.machine = by_shares->machine;
    known[i].job.overlap = SW_OVERLAP_NONE;
  }
  o->known = known;
  return SW_OK;
}

/* A part of the limits that are left; false: nothing is. */
static bool limit_round(const rounds *r, sw_plan_options *o) {
  const double now_s = sw_now_s();
  if (o->solve.work_limit > 0) {
    o->solve.work_limit = (int64_t)(kOfLeft * (double)(o->solve.work_limit - r->work));
    return o->solve.work_limit > 0;
  }
  if (o->solve.time_limit_s <= 0) return true;
  const double left_s = (o->solve.deadline_s > 0 ? o->solve.deadline_s : r->since_s + o->solve.time_limit_s) - now_s;
  o->solve.time_limit_s = kOfLeft * left_s;
  o->solve.deadline_s = now_s + kOfLeft * left_s;
  return left_s > 0;
}

static void keep_round(rounds *r, sw_planner *planner, const sw_plan *plan, const sw_breakdown *timed,
                       const sw_timed_prices *by) {
  sw_planner_close(r->planner);
  r->planner = planner;
  r->plan = *plan;
  r->timed = *timed;
  r->by = *by;
}

/* What the round proves of the timeline at most: its problem has the best plan so far. */
static double provable_s(const rounds *r, const sw_price_weights *w) {
  const sw_timeline *t = r->timed.timeline;
  const sw_bound_weights of = sw_weights_of_bound(r->j->machine, w, r->links);
  double sum = t->sums.work_s + w->launch * t->launches_s;
  for (int l = 0; l < SW_MAX_LINKS; l++) sum += w->link[l] * t->busy_s[SW_STREAM_LEVEL + l];
  return sum * SW_WEIGHT_UNIT / (double)of.of;
}

/* How near to solve it: as the gap that is asked for needs, where this round can prove that; else to a part of what is
 * missing in any case. The first proves next to nothing of the timeline. */
static double gap_of_round(const rounds *r, const sw_price_weights *w) {
  const double kMost = 0.005, kOfMissing = 0.2, asked = r->o->solve.gap;
  if (asked <= 0) return asked;
  if (!r->n) return fmax(asked, kMost);
  const double provable = provable_s(r, w), needed = 1 - (1 - asked) * r->timed.total_s / provable;
  if (needed > kMost) return needed;
  const double most_s = fmax(provable, sw_cost_seconds(r->j->machine, r->bound_units));
  return fmax(asked, fmin(kMost, kOfMissing * (1 - most_s / r->timed.total_s)));
}

/* *more: the plan is another one's, or what is proven has grown. */
static sw_rc search_round(rounds *r, const sw_price_weights *w, bool *more, sw_diag *d) {
  const double kBetter = 1e-4;
  sw_timed_prices by = {r->j, *w};
  sw_job job = *r->j;
  sw_plan_options o = *r->o;
  sw_machine *machine;
  sw_planner *planner;
  sw_plan plan;
  sw_breakdown timed;
  *more = limit_round(r, &o);
  if (!*more && r->n) return SW_OK;
  o.solve.gap = gap_of_round(r, w);
  SW_TRY(sw_machine_weigh(r->j->machine, w, r->arena, &machine, d));
  job.machine = machine;
  job.overlap = SW_OVERLAP_NONE;
  SW_TRY(price_known(r, &job, &o, d));
  if (r->n) o.start = &r->plan;
  r->tried[r->n++] = *w;
  SW_TRY(sw_planner_open_priced(&job, &o, r->arena, &planner, &plan, d));
  r->work += sw_planner_work(planner);
  SW_TRY(sw_timed_record(&by, &plan, r->arena, &timed, d));
  const double before_s = r->planner ? r->timed.total_s : INFINITY;
  const int64_t proven = r->bound_units;
  if (plan.bound_units > r->bound_units || !r->planner) {
    r->bound_units = plan.bound_units;
    r->pruned_inexact = plan.pruned_inexact;
    r->bound_by = *w;
  }
  sw_log(SW_LOG_INFO, "overlap, round %d: %.6g s, %.6g s one by one, bound %.6g s", r->n, timed.total_s, timed.sum_s,
         sw_cost_seconds(r->j->machine, plan.bound_units));
  *more = timed.total_s < before_s * (1 - kBetter) || (double)r->bound_units > (double)proven * (1 + kBetter);
  if (timed.total_s < before_s)
    keep_round(r, planner, &plan, &timed, &by);
  else
    sw_planner_close(planner);
  return SW_OK;
}

/* --- rounds --------------------------------------------------------------------------------------------------------
 */

/* The plan instead of what was found, with the record of the search. */
static sw_rc put_known(rounds *r, const sw_plan *known, sw_diag *d) {
  sw_plan plan = *known;
  plan.capacity_bytes = sw_plan_capacity(r->j, r->o);
  plan.found_units = 0;
  plan.pruned_inexact = r->plan.pruned_inexact;
  plan.solver = r->plan.solver;
  plan.n_nodes = r->plan.n_nodes, plan.n_edges = r->plan.n_edges, plan.n_classes = r->plan.n_classes;
  r->plan = plan;
  return sw_plan_breakdown(&plan, r->arena, &r->timed, d);
}

/* Of the plans made by rule one may be faster. */
static sw_rc compare_ruled(rounds *r, sw_diag *d) {
  const int64_t capacity = sw_plan_capacity(r->j, r->o);
  for (int i = 0; r->o->baselines && i < SW_BASELINE_COUNT; i++) {
    const sw_comparison *c = &r->o->baselines[i];
    if (!c->made || c->breaks || c->breakdown.peak_bytes > capacity || c->breakdown.total_s >= r->timed.total_s)
      continue;
    if (r->o->selection.even != SW_EVEN_NEVER || r->o->selection.args_whole) continue;
    SW_TRY(put_known(r, &c->plan, d));
  }
  return SW_OK;
}

/* So may the plan to start from: what the first round finds is cheaper by its own prices. */
static sw_rc compare_start(rounds *r, sw_diag *d) {
  const sw_plan *start = r->o->start;
  const sw_selection_options *of = &r->o->selection;
  sw_breakdown a;
  if (!start || start->job.graph->n_ops != r->j->graph->n_ops || start->args_whole != of->args_whole ||
      of->even != SW_EVEN_NEVER || of->cut_heavy_ops)
    return SW_OK;
  sw_plan here = *start;
  here.job = *r->j;
  here.capacity_bytes = sw_plan_capacity(r->j, r->o);
  if (sw_plan_verify(&here, NULL) || sw_plan_check_host(&here, NULL)) return SW_OK;
  SW_TRY(sw_plan_breakdown(&here, r->arena, &a, d));
  const bool faster = a.total_s * (1 + r->o->simplicity) < r->timed.total_s;
  return faster && a.peak_bytes <= here.capacity_bytes ? put_known(r, &here, d) : SW_OK;
}

static void end_rounds(const rounds *r, sw_plan *out) {
  const sw_plan *p = &r->plan;
  *out = *p;
  out->job = *r->j;
  out->cost_units = sw_cost_units(r->j->machine, r->timed.total_s);
  out->found_units = sw_min_i64(p->found_units > 0 ? p->found_units : out->cost_units, out->cost_units);
  out->bound_units = sw_min_i64(r->bound_units, out->found_units);
  out->pruned_inexact = r->pruned_inexact;
  out->bound_by = r->bound_by;
  out->status = out->bound_units == out->cost_units && !out->pruned_inexact ? SW_SOLVE_OPTIMAL : SW_SOLVE_FEASIBLE;
}

static bool is_within_gap(const rounds *r) {
  return sw_is_within(sw_cost_units(r->j->machine, r->timed.total_s), r->bound_units, r->o->solve.gap);
}

sw_rc sw_timed_search(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_planner **out, sw_plan *plan,
                      sw_diag *d) {
  rounds r = {.j = j, .o = o, .arena = arena, .links = sw_timed_links(j), .since_s = sw_now_s()};
  sw_price_weights w = sw_weights_rounded(sw_machine_weights(j->machine));
  bool more = true;
  sw_rc rc = search_round(&r, &w, &more, d);
  if (!rc) rc = compare_ruled(&r, d);
  if (!rc) rc = compare_start(&r, d);
  while (!rc && more && r.n < MOST_ROUNDS && !is_within_gap(&r) && !sw_cancelled(o->solve.cancel)) {
    sw_diag none = {0};
    w = r.n == 1 ? most_alone(&r) : shares_of(&r);
    w = sw_weights_rounded(&w);
    if (was_tried(&r, &w)) break;
    if (search_round(&r, &w, &more, &none)) break; /* what is found stands */
  }
  if (!rc) end_rounds(&r, plan);
  if (rc) {
    sw_planner_close(r.planner);
    return rc;
  }
  plan->time_s = sw_now_s() - r.since_s;
  sw_planner_answer_by(r.planner, &r.by);
  *out = r.planner;
  return SW_OK;
}
