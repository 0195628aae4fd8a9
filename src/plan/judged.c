/* What the choice of a round truly costs and holds, what the problem counted too little for it, and its plan. */
#include "plan/search.h"

#include <assert.h>
#include <math.h>

#include "base/checked.h"

sw_rc sw_search_cost(const sw_search *k, const int32_t *choice, int64_t *cost, sw_diag *d) {
  const double kNearTime = 0.2, now_s = sw_now_s(), deadline_s = k->form.deadline_s; /* for routes near those taken */
  SW_TRY(sw_selection_settle(k->selection, choice, deadline_s > 0 ? now_s + kNearTime * fmax(0, deadline_s - now_s) : 0,
                             d));
  *cost = sw_problem_cost(k->problem, choice);
  return SW_OK;
}

sw_rc sw_search_refine(const sw_search *k, const int32_t *choice, unsigned *added, sw_diag *d) {
  bool copies, lives = false;
  SW_TRY(sw_relaxation_refine(k->relaxed, choice, &copies, d));
  if (k->lives == SW_LIVES_EXACT) SW_TRY(sw_relaxation_refine_lives(k->relaxed, choice, k->limit, &lives, d));
  if (copies) *added |= SW_ADDED_COPIES;
  if (lives) *added |= SW_ADDED_LIVES;
  return SW_OK;
}

/* --- its plan ----------------------------------------------------------------------------------------------------- */

static sw_rc put_record(const sw_search *k, const sw_solution *x, sw_plan *out, sw_diag *d) {
  const sw_copy_of *exact;
  sw_problem p;
  SW_TRY(sw_relaxation_problem(k->relaxed, &p, d));
  out->origin = "search";
  out->solver = x->solver;
  out->cost_units = x->cost;
  out->bound_units = sw_min_i64(sw_max_i64(k->bound, k->least), x->cost);
  out->found_units = k->found_units ? k->found_units : x->cost;
  out->capacity_bytes = k->selected.capacity_bytes;
  out->n_nodes = p.n_nodes;
  out->n_edges = p.n_edges;
  out->n_classes = sw_selection_classes(k->selection);
  out->pruned_inexact = sw_selection_pruned_inexact(k->selection);
  if (k->earlier && k->earlier->cost_units == out->found_units && sw_plan_gap(out) > sw_plan_gap(k->earlier)) {
    out->bound_units = k->earlier->bound_units; /* of the same plan, when it was one of fewer */
    out->pruned_inexact = k->earlier->pruned_inexact;
  }
  out->args_whole = k->selected.args_whole;
  out->status = out->bound_units == out->cost_units && !out->pruned_inexact ? SW_SOLVE_OPTIMAL : SW_SOLVE_FEASIBLE;
  SW_TRY(sw_relaxation_exact(k->relaxed, k->arena, &out->n_shared, &exact, d));
  return sw_selection_name_copies(k->selection, out->n_shared, exact, k->arena, &out->shared, d);
}

sw_rc sw_search_take(const sw_search *k, const sw_solution *x, sw_plan *out, int64_t *peak, sw_diag *d) {
  sw_arena scratch = {0};
  sw_breakdown a;
  SW_TRY(sw_plan_build(&k->job, k->arena, out, d));
  sw_selection_decode(k->selection, x->choice, out->ops, out->args, out->outputs);
  SW_TRY(sw_selection_stated(k->selection, x->choice, k->arena, &out->n_stated, &out->stated, d));
  SW_TRY(put_record(k, x, out, d));
  sw_rc rc = sw_plan_breakdown(out, &scratch, &a, d);
  if (!rc) *peak = a.peak_bytes;
  /* The problem counts no less than the account, but for what is stated of ports (units are rounded up, and break
   * ties). */
  const double counted_s = sw_cost_seconds(k->job.machine, x->cost);
  assert(rc || out->n_stated || x->cost >= SW_FORBIDDEN || counted_s >= a.total_s * (1 - 1e-9));
  (void)counted_s;
  assert(rc || out->bound_units <= out->cost_units);
  sw_arena_deinit(&scratch);
  return rc;
}

sw_rc sw_search_encode(const sw_search *k, const sw_plan *plan, int32_t **choice, bool **missing, bool *all,
                       sw_diag *d) {
  SW_ARENA_NEW_EACH(k->arena, k->problem->n_nodes, d, *choice, *missing);
  sw_selection_encode(k->selection, sw_plan_selected(plan), *choice, *missing);
  *all = true;
  for (int32_t i = 0; i < k->problem->n_nodes; i++) *all = *all && !(*missing)[i];
  return SW_OK;
}

/* --- what a round came to ----------------------------------------------------------------------------------------- */

double sw_search_missing(const sw_search *k) {
  const sw_solution *x = &k->best;
  return x->choice && x->cost > 0 ? fmax(0, (double)(x->cost - k->bound) / (double)x->cost) : x->choice ? 0 : 1;
}

bool sw_search_is_closed(const sw_search *k) { return k->best.choice && sw_is_within(k->best.cost, k->bound, k->gap); }

/* Its plan fits: it is the best. Else what is too much is taken from the limit: buffers of a route at work, of which
 * the problem knows nothing. */
static sw_rc keep_if_it_fits(sw_search *k, sw_round *r, sw_diag *d) {
  const sw_solution x = {.choice = r->now.choice, .cost = r->cost, .solver = r->now.solver};
  sw_plan plan;
  int64_t peak;
  SW_TRY(sw_search_take(k, &x, &plan, &peak, d));
  r->excess = peak - k->selected.capacity_bytes;
  if (r->excess <= 0) {
    r->kept = true;
    k->best = x;
    return SW_OK;
  }
  if (!r->exceeds) {
    k->limit = sw_max_i64(0, k->limit - r->excess);
    r->added |= SW_ADDED_CUT;
  }
  if (k->nearest.choice && peak >= k->nearest_peak) return SW_OK;
  k->nearest = x;
  k->nearest_peak = peak;
  return SW_OK;
}

sw_rc sw_search_judge(sw_search *k, const sw_form *form, sw_round *r, sw_diag *d) {
  sw_problem p = *k->problem;
  sw_score score;
  bool better;
  if (r->proves) k->bound = sw_max_i64(k->bound, r->now.bound);
  if (!r->now.choice) return SW_OK;
  SW_TRY(sw_search_cost(k, r->now.choice, &r->cost, d));
  if (sw_overtaken(&p.version, k->problem->version)) r->added |= SW_ADDED_PRICES;
  p.limit = k->limit;
  SW_TRY(sw_problem_score(&p, r->now.choice, &score, d));
  r->excess = (int64_t)score.peak - k->limit;
  r->exceeds = r->excess > 0;
  k->over = k->over || r->exceeds;
  better = r->cost < SW_FORBIDDEN && (!k->best.choice || r->cost < k->best.cost);
  if (k->best.choice && score.peak > k->selected.capacity_bytes) better = false;
  if (form->judge) SW_TRY(form->judge(k, r, &better, d));
  return better ? keep_if_it_fits(k, r, d) : SW_OK;
}
