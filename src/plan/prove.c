/* Why no plan takes less than a bound, as others can check it (plan.h): the selection problem whose costs are a
 * weighted sum of what a step takes no less than, and the solver's certificate of a bound on it.
 *
 * Of memory the problem says what nodes hold in their first use, as a file can have it, so no plan is left out that
 * fits.
 */
#include <math.h>

#include "base/checked.h"
#include "plan/timed_search.h"

/* --- weights ------------------------------------------------------------------------------------------------------ */

sw_bound_weights sw_weights_of_bound(const sw_machine *m, const sw_price_weights *by, unsigned links) {
  int64_t left = (int64_t)(sw_timed_least_share(m) * SW_WEIGHT_UNIT);
  sw_bound_weights w = {.kernels = SW_WEIGHT_UNIT, .launches = llround(by->launch * SW_WEIGHT_UNIT)};
  for (int l = 0; l < SW_MAX_LINKS; l++) {
    if (!(links >> l & 1)) continue;
    w.link[l] = llround(by->link[l] * SW_WEIGHT_UNIT);
    if (l < SW_MAX_LEVELS) {
      w.beside[l] = sw_min_i64(w.link[l], left);
      w.link[l] -= w.beside[l];
      left -= w.beside[l];
    }
    w.of += w.link[l];
  }
  w.of += w.kernels + w.launches;
  return w;
}

sw_price_weights sw_weights_rounded(const sw_price_weights *w) {
  sw_price_weights out = {.launch = (double)llround(w->launch * SW_WEIGHT_UNIT) / SW_WEIGHT_UNIT};
  for (int l = 0; l < SW_MAX_LINKS; l++) out.link[l] = (double)llround(w->link[l] * SW_WEIGHT_UNIT) / SW_WEIGHT_UNIT;
  return out;
}

/* --- the problem -------------------------------------------------------------------------------------------------- */

/* As a file can say it: what a node holds in further uses, and what copies hold, is left out. */
static sw_rc simplify_memory(const sw_problem *p, sw_arena *arena, sw_problem *out, sw_diag *d) {
  sw_node *nodes;
  sw_copies *copies;
  *out = *p;
  if (!(nodes = sw_arena_copy(arena, p->nodes, (size_t)p->n_nodes, sizeof *nodes, d))) return SW_E_RESOURCE;
  SW_ARENA_NEW(copies, arena, p->n_copies + 1, d);
  for (int32_t i = 0; i < p->n_nodes; i++) nodes[i].n_uses = sw_min_i32(1, nodes[i].n_uses);
  for (int32_t k = 0; k < p->n_copies; k++) copies[k] = p->copies[k], copies[k].lives = NULL;
  out->nodes = nodes;
  out->copies = copies;
  return SW_OK;
}

/* What each choice of the problem's first nodes is, as a plan has it. */
static sw_rc name_choices(const sw_job *j, const sw_selection *s, sw_arena *arena, sw_plan_proof *out, sw_diag *d) {
  const sw_problem *p = &out->problem;
  int32_t most = 0, *choice;
  for (int32_t i = 0; i < p->n_nodes; i++) most = sw_max_i32(most, p->nodes[i].n_choices);
  SW_ARENA_NEW(choice, arena, p->n_nodes + 1, d);
  SW_ARENA_NEW(out->choices, arena, most + 1, d);
  out->n_choices = most;
  for (int32_t c = 0; c < most; c++) {
    for (int32_t i = 0; i < p->n_nodes; i++) choice[i] = sw_min_i32(c, p->nodes[i].n_choices - 1);
    SW_TRY(sw_plan_build(j, arena, &out->choices[c], d));
    sw_selection_decode(s, choice, out->choices[c].ops, out->choices[c].args, out->choices[c].outputs);
  }
  return SW_OK;
}

static sw_rc prove(const sw_job *j, const sw_plan *p, const sw_plan_options *o, sw_selection *s, sw_arena *arena,
                   sw_plan_proof *out, sw_diag *d) {
  sw_solution solution;
  sw_text certificate = {0};
  int32_t *choice;
  bool *missing, any = false;
  const int32_t n = sw_selection_problem(s)->n_nodes;
  SW_ARENA_NEW_EACH(arena, n + 1, d, choice, missing);
  sw_selection_encode(s, sw_plan_selected(p), choice, missing);
  for (int32_t i = 0; i < n; i++) any = any || missing[i];
  if (any) return SW_FAIL_INPUT(d, SW_NOWHERE, "the plan has strategies that no search of its problem meets");
  SW_TRY(sw_selection_settle(s, choice, 0, d));
  SW_TRY(simplify_memory(sw_selection_problem(s), arena, &out->problem, d));
  out->choice = choice;
  SW_TRY(name_choices(j, s, arena, out, d));
  const sw_solve_state from = {.n_nodes = n, .choice = choice};
  sw_solve_options how = o->solve;
  how.deadline_s = 0;
  how.solver = SW_SOLVER_NATIVE;
  how.from = &from;
  how.certificate = &certificate;
  sw_rc rc = sw_solve(&out->problem, &how, arena, &solution, d);
  if (!rc) rc = sw_arena_keep(arena, sw_text_str(&certificate), &out->certificate, d);
  sw_text_free(&certificate);
  out->bound_units = solution.bound;
  out->pruned_inexact = sw_selection_pruned_inexact(s);
  return rc;
}

sw_rc sw_plan_prove(const sw_job *j, const sw_plan *p, const sw_plan_options *o, sw_arena *arena, sw_plan_proof *out,
                    sw_diag *d) {
  sw_job job = *j;
  sw_machine *machine;
  sw_selection *s = NULL;
  sw_selection_options selected = o->selection;
  int64_t least;
  *out = (sw_plan_proof){.beside_units = sw_units_beside_time(j), .timed = j->overlap != SW_OVERLAP_NONE};
  out->links = sw_timed_links(j);
  out->weights = out->timed ? sw_weights_of_bound(j->machine, &p->bound_by, out->links)
                            : (sw_bound_weights){.of = SW_WEIGHT_UNIT, .kernels = SW_WEIGHT_UNIT};
  if (out->timed) {
    SW_TRY(sw_machine_weigh(j->machine, &p->bound_by, arena, &machine, d));
    job.machine = machine;
    job.overlap = SW_OVERLAP_NONE;
  }
  selected.capacity_bytes = sw_plan_capacity(j, o);
  selected.enumerate.runs = SW_MAX_REFS;
  SW_TRY(sw_route_prices_make(job.machine, &selected.routes, d));
  sw_rc rc = sw_selection_build(&job, &selected, arena, &s, &least, d);
  if (!rc) rc = prove(&job, p, o, s, arena, out, d);
  sw_selection_deinit(s);
  sw_route_prices_destroy(selected.routes);
  const double units = fmax(0, (double)(out->bound_units - out->beside_units));
  out->bound_s = units / sw_cost_units_per_s(j->machine) * SW_WEIGHT_UNIT / (double)out->weights.of;
  return rc;
}
