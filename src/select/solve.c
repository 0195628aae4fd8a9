/* sw_solve: checks its input, runs the solver that was asked for, and reports what was found and what was proven. */
#include "shardwright/select.h"

#include <math.h>
#include <string.h>

#include "select/run.h"

sel_budget sel_budget_of(const sw_solve_options *o) {
  const int64_t by_default = (int64_t)sel_parameters(o->parameters)->steps_by_default;
  const double kMost = 1e18;
  sel_budget b = {.start_s = sw_now_s(), .cancel = o->cancel, .work_limit = o->work_limit, .parameters = o->parameters};
  b.deadline_s = o->deadline_s > 0 ? o->deadline_s : o->time_limit_s > 0 ? b.start_s + o->time_limit_s : 0;
  if (b.deadline_s <= 0 && b.work_limit <= 0) b.work_limit = by_default;
  b.foreseen = by_default;
  if (o->time_limit_s > 0) b.foreseen = (int64_t)fmin(kMost, SW_STEPS_PER_S * o->time_limit_s);
  if (b.work_limit > 0) b.foreseen = b.work_limit;
  return b;
}

static void tell_progress(sel_run *r) {
  if (!r->o->on_progress) return;
  sw_solve_progress p = {sel_elapsed(&r->budget), r->has, r->cost, r->bound};
  r->o->on_progress(r->o->user, &p);
}

sw_rc sel_offer(sel_run *r, const int32_t *choice, const char *solver, bool *taken, sw_diag *d) {
  sw_score score;
  if (taken) *taken = false;
  SW_TRY(sw_problem_score(r->p, choice, &score, d));
  if (!score.feasible) return SW_OK;
  pthread_mutex_lock(&r->lock);
  if (!r->has || score.cost < r->cost) {
    memcpy(r->best, choice, (size_t)r->p->n_nodes * sizeof *choice);
    r->has = true;
    r->cost = (int64_t)score.cost;
    r->solver = solver;
    if (taken) *taken = true;
    tell_progress(r);
  }
  pthread_mutex_unlock(&r->lock);
  return SW_OK;
}

void sel_raise(sel_run *r, int64_t bound) {
  pthread_mutex_lock(&r->lock);
  if (r->has) bound = sw_min_i64(bound, r->cost);
  if (bound > r->bound) {
    r->bound = bound;
    tell_progress(r);
  }
  pthread_mutex_unlock(&r->lock);
}

int64_t sel_best_cost(sel_run *r) {
  pthread_mutex_lock(&r->lock);
  int64_t cost = r->has ? r->cost : INT64_MAX;
  pthread_mutex_unlock(&r->lock);
  return cost;
}

bool sel_closed(sel_run *r) {
  pthread_mutex_lock(&r->lock);
  bool closed = r->infeasible || (r->has && sw_is_within(r->cost, r->bound, r->o->gap));
  pthread_mutex_unlock(&r->lock);
  return closed;
}

static sw_solve_status status_of(const sel_run *r) {
  if (r->has) return r->bound == r->cost ? SW_SOLVE_OPTIMAL : SW_SOLVE_FEASIBLE;
  return r->infeasible ? SW_SOLVE_INFEASIBLE : SW_SOLVE_UNKNOWN;
}

#ifndef SW_WITH_GLPK
sw_rc sel_solve_glpk(sel_run *r, sw_diag *d) {
  (void)r;
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "solver 'glpk' was left out of this build; expected native or exhaustive");
}
#endif

static sw_rc dispatch(sel_run *r, sw_diag *d) {
  static sw_rc (*const kSolve[])(sel_run *, sw_diag *) = {
      [SW_SOLVER_AUTO] = sel_solve_native,
      [SW_SOLVER_NATIVE] = sel_solve_native,
      [SW_SOLVER_GLPK] = sel_solve_glpk,
      [SW_SOLVER_EXHAUSTIVE] = sel_solve_exhaustive,
  };
  if (r->warm) SW_TRY(sel_offer(r, r->warm, "warm", NULL, d));
  return kSolve[r->o->solver](r, d);
}

sw_rc sel_known_choice(const sw_problem *p, const sw_solve_state *from, sw_arena *arena, const int32_t **out,
                       sw_diag *d) {
  int32_t *x;
  *out = NULL;
  if (!from || !from->choice) return SW_OK;
  SW_ARENA_NEW(x, arena, p->n_nodes, d);
  for (int32_t i = 0; i < p->n_nodes; i++) {
    const sw_node *v = &p->nodes[i];
    if (i < from->n_nodes && from->choice[i] >= 0 && from->choice[i] < v->n_choices) x[i] = from->choice[i];
    for (int32_t s = 1; i >= from->n_nodes && s < v->n_choices; s++)
      if (v->cost[s] < v->cost[x[i]]) x[i] = s;
  }
  *out = x;
  return SW_OK;
}

static void give_state(const sel_run *r, const sw_solution *found) {
  sw_solve_state *to = r->o->to;
  if (!to) return;
  to->n_nodes = r->p->n_nodes;
  to->choice = found->choice;
  to->bound = found->bound;
}

static sw_rc report(sel_run *r, sw_arena *arena, sw_solution *out, sw_diag *d) {
  *out = (sw_solution){.status = status_of(r), .bound = r->bound, .solver = r->solver, .presolve = r->presolve};
  if (r->infeasible) out->least_peak = r->least_peak;
  if (r->has) {
    out->cost = r->cost;
    out->choice = sw_arena_copy(arena, r->best, (size_t)r->p->n_nodes, sizeof *r->best, d);
    if (!out->choice) return SW_E_RESOURCE;
  }
  out->time_s = sel_elapsed(&r->budget);
  out->work = r->budget.work;
  return SW_OK;
}

static sw_rc certify(const sel_run *r, sw_diag *d) {
  sw_solver s = r->o->solver;
  bool silent = s == SW_SOLVER_GLPK || s == SW_SOLVER_EXHAUSTIVE;
  sel_proof_print(r->proof, silent ? 0 : r->infeasible && !r->has ? SW_FORBIDDEN : r->bound, r->o->certificate);
  if (r->o->certificate->rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory for the certificate");
  return SW_OK;
}

sw_rc sw_solve(const sw_problem *p, const sw_solve_options *o, sw_arena *arena, sw_solution *out, sw_diag *d) {
  const bool native = o->solver == SW_SOLVER_AUTO || o->solver == SW_SOLVER_NATIVE;
  if (p->n_copies && native) return sel_solve_copies(p, o, arena, out, d);
  for (int32_t k = 0; k < p->n_copies; k++)
    if (p->copies[k].lives && o->solver == SW_SOLVER_GLPK)
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "copies %d have lives, which GLPK does not know", k);
  return o->symmetric ? sel_solve_quotient(p, o, arena, out, d) : sel_solve_plain(p, o, arena, out, d);
}

sw_rc sel_solve_plain(const sw_problem *p, const sw_solve_options *o, sw_arena *arena, sw_solution *out, sw_diag *d) {
  sel_budget budget = sel_budget_of(o);
  SW_TRY(sw_problem_verify(p, d));
  sel_proof proof = {0};
  sel_run r = {.p = p,
               .o = o,
               .rules = SW_RULES_ALL & ~o->rules_off,
               .bound = o->certificate || !o->from ? 0 : o->from->bound,
               .proof = o->certificate ? &proof : NULL,
               .solver = sw_solver_text(o->solver),
               .arena = arena,
               .budget = budget};
  SW_ARENA_NEW(r.best, arena, p->n_nodes, d);
  pthread_mutex_init(&r.lock, NULL);
  sw_rc rc = sel_known_choice(p, o->from, arena, &r.warm, d);
  if (!rc) rc = dispatch(&r, d);
  pthread_mutex_destroy(&r.lock);
  if (!rc) rc = report(&r, arena, out, d);
  if (!rc) give_state(&r, out);
  if (!rc && o->certificate) rc = certify(&r, d);
  sel_proof_deinit(&proof);
  return rc;
}
