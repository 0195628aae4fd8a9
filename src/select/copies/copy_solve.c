/* A problem with copies: solve a relaxation, refine it where its solution was too cheap, and again, until the best cost
 * meets the best bound.
 *
 * The certificate is that of the relaxation with the best bound, behind lines that say how copies are counted there.
 */
#include <math.h>
#include <string.h>

#include "select/copies/copies.h"
#include "select/run.h"

typedef struct copy_solver {
  const sw_problem *p;
  const sw_solve_options *o;
  const sw_parameters *by;
  sw_arena *arena, mem;
  sw_relaxation *r;
  sel_budget budget;
  sw_solve_state known; /* in the names of sw_relaxation_keep */
  sw_solution best;
  sw_text proof; /* of best.bound */
  bool split;
} copy_solver;

static bool is_closed(const copy_solver *k) {
  return k->best.choice && sw_is_within(k->best.cost, k->best.bound, k->o->gap);
}

/* "shardwright-certificate 1", "bound B", how copies are counted, and the steps. */
static void keep_proof(copy_solver *k, const sw_text *steps) {
  const char *text = sw_text_str(steps), *end = strchr(text, '\n');
  const size_t head = end && strchr(end + 1, '\n') ? (size_t)(strchr(end + 1, '\n') + 1 - text) : steps->n;
  k->proof.n = 0;
  sw_text_append(&k->proof, text, head);
  sw_relaxation_print(k->r, &k->proof);
  sw_text_append(&k->proof, text + head, steps->n - head);
}

static void tell_copy_progress(const copy_solver *k) {
  const sw_solve_progress p = {sel_elapsed(&k->budget), k->best.choice != NULL, k->best.cost, k->best.bound};
  if (k->o->on_progress) k->o->on_progress(k->o->user, &p);
}

/* What a relaxation came to. */
static sw_rc take_relaxation(copy_solver *k, const sw_solution *now, const sw_text *steps, sw_diag *d) {
  const bool first = k->proof.n == 0, none = now->status == SW_SOLVE_INFEASIBLE;
  if (k->o->certificate && (first || none || now->bound > k->best.bound)) keep_proof(k, steps);
  k->best.bound = sw_max_i64(k->best.bound, now->bound);
  k->best.presolve = now->presolve;
  if (none) k->best.least_peak = now->least_peak;
  if (none) k->best.status = SW_SOLVE_INFEASIBLE;
  if (now->choice) {
    sw_score score;
    SW_TRY(sw_problem_score(k->p, now->choice, &score, d));
    const int64_t cost = score.feasible ? (int64_t)score.cost : SW_FORBIDDEN;
    if (cost < SW_FORBIDDEN && (!k->best.choice || cost < k->best.cost)) {
      k->best.choice = now->choice;
      k->best.cost = cost;
      k->best.solver = now->solver;
    }
  }
  tell_copy_progress(k);
  return SW_OK;
}

static sw_rc solve_relaxation(copy_solver *k, double part, sw_solution *now, sw_diag *d) {
  sw_solve_options o = *k->o;
  sw_solve_state from, to = {0};
  sw_text steps = {0};
  sw_problem p;
  SW_TRY(sw_relaxation_problem(k->r, &p, d));
  if (k->best.choice) k->known.choice = k->best.choice;
  k->known.bound = k->best.bound;
  SW_TRY(sw_relaxation_recall(k->r, &k->known, k->arena, &from, d));
  if (!k->known.choice) from.choice = NULL;
  o.from = &from;
  o.to = &to;
  o.on_progress = NULL;
  o.gap = k->by->unsure_gap * k->o->gap;
  o.certificate = k->o->certificate ? &steps : NULL;
  o.deadline_s = k->budget.deadline_s;
  o.work_limit = (int64_t)fmax(1, part * sel_left(&k->budget));
  o.time_limit_s = k->o->time_limit_s > 0 ? (double)o.work_limit / SW_STEPS_PER_S : 0;
  sw_rc rc = o.symmetric ? sel_solve_quotient(&p, &o, k->arena, now, d) : sel_solve_plain(&p, &o, k->arena, now, d);
  if (!rc) rc = take_relaxation(k, now, &steps, d);
  sw_text_free(&steps);
  if (rc) return rc;
  sel_spend(&k->budget, now->work);
  return to.n_links ? sw_relaxation_keep(k->r, &to, k->arena, &k->known, d) : SW_OK;
}

/* Once it is known that copies matter. */
static sw_rc split_copies(copy_solver *k, bool *refined, sw_diag *d) {
  const double missing = (double)(k->best.cost - k->best.bound);
  const sw_split_options o = {.passes = (int)k->by->split_passes,
                              .target = k->best.cost,
                              .bound = k->best.bound,
                              .gap = k->o->gap,
                              .work_limit = (int64_t)(k->by->unsure_part * sel_left(&k->budget)),
                              .deadline_s = k->budget.deadline_s,
                              .cancel = k->o->cancel,
                              .parameters = k->o->parameters};
  int64_t work;
  if (k->split || !k->best.choice || missing <= k->by->split_missing * (double)k->best.cost) return SW_OK;
  k->split = *refined = true;
  SW_TRY(sw_relaxation_split(k->r, &o, &work, d));
  sel_spend(&k->budget, work);
  return SW_OK;
}

/* The choice that it begins with is the first solution: a relaxation may lead to one that costs more. */
static sw_rc take_known(copy_solver *k, sw_diag *d) {
  sw_score score;
  if (!k->known.choice) return SW_OK;
  SW_TRY(sw_problem_score(k->p, k->known.choice, &score, d));
  if (!score.feasible) return SW_OK;
  k->best.choice = sw_arena_copy(k->arena, k->known.choice, (size_t)k->p->n_nodes, sizeof *k->best.choice, d);
  if (!k->best.choice) return SW_E_RESOURCE;
  k->best.cost = (int64_t)score.cost;
  k->best.status = SW_SOLVE_FEASIBLE;
  return SW_OK;
}

static sw_rc search(copy_solver *k, sw_diag *d) {
  bool refined = true, whole = false;
  while (!is_closed(k)) {
    sw_solution now;
    SW_TRY(solve_relaxation(k, whole ? 1 : k->by->unsure_part, &now, d));
    if (!now.choice || is_closed(k) || sel_stop(&k->budget)) return SW_OK;
    bool held;
    SW_TRY(sw_relaxation_refine(k->r, now.choice, &refined, d));
    SW_TRY(sw_relaxation_refine_lives(k->r, now.choice, k->p->limit, &held, d));
    refined = refined || held;
    if (refined) SW_TRY(split_copies(k, &refined, d));
    if (!refined && whole) return SW_OK;
    whole = !refined;
  }
  return SW_OK;
}

static void conclude(copy_solver *k) {
  sw_solution *s = &k->best;
  if (s->choice) s->bound = sw_min_i64(s->bound, s->cost);
  if (s->choice) s->status = s->bound == s->cost ? SW_SOLVE_OPTIMAL : SW_SOLVE_FEASIBLE;
  s->time_s = sel_elapsed(&k->budget);
  s->work = k->budget.work;
}

static sw_rc run_copy_solver(copy_solver *k, sw_diag *d) {
  SW_TRY(sw_problem_verify(k->p, d));
  for (int32_t c = 0; c < k->p->n_copies && k->o->certificate; c++)
    if (k->p->copies[c].lives)
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "copies %d have lives, of which a certificate can say nothing", c);
  SW_TRY(sw_relaxation_make(k->p, &k->mem, &k->r, d));
  if (k->o->from) k->known = *k->o->from;
  SW_TRY(sel_known_choice(k->p, k->o->from, k->arena, &k->known.choice, d));
  k->best.bound = k->o->from && !k->o->certificate ? k->o->from->bound : 0;
  SW_TRY(take_known(k, d));
  SW_TRY(search(k, d));
  conclude(k);
  if (k->o->to) {
    *k->o->to = k->known;
    k->o->to->n_nodes = k->p->n_nodes;
    k->o->to->choice = k->best.choice;
    k->o->to->bound = k->best.bound;
  }
  if (k->o->certificate) sw_text_append(k->o->certificate, sw_text_str(&k->proof), k->proof.n);
  if (k->proof.rc || (k->o->certificate && k->o->certificate->rc))
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory for the certificate");
  return SW_OK;
}

sw_rc sel_solve_copies(const sw_problem *p, const sw_solve_options *o, sw_arena *arena, sw_solution *out, sw_diag *d) {
  copy_solver k = {.p = p,
                   .o = o,
                   .by = sel_parameters(o->parameters),
                   .arena = arena,
                   .budget = sel_budget_of(o),
                   .best = {.status = SW_SOLVE_UNKNOWN, .solver = sw_solver_text(o->solver)}};
  sw_rc rc = run_copy_solver(&k, d);
  if (!rc) *out = k.best;
  sw_relaxation_deinit(k.r);
  sw_text_free(&k.proof);
  sw_arena_deinit(&k.mem);
  return rc;
}
