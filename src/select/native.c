/* The native solver: reductions, then exact elimination where the rest is narrow, then bounds and search.
 *
 * 1. Without memory: reduce, then eliminate or search. Where memory is plentiful that is all. The search ends as soon
 *    as the best choice without a limit breaks it, and is left out where first choices pass the limit by far.
 * 2. With memory: reduce, then search (search.h).
 */
#include <string.h>

#include "select/search/first.h"
#include "select/search/primal_search.h"

typedef struct attempt {
  sel_run *r;
  sel_model model;
  sel_core rest;
  sel_base base;
  sel_proof_part *proof; /* NULL: none is wanted */
  bool relaxed;          /* the limit is left out */
} attempt;

/* Add to the time that reductions took; the sizes are those of the last rest. */
static void note_presolve(attempt *a, double since_s) {
  sw_presolve *to = &a->r->presolve;
  *to = (sw_presolve){.nodes = a->rest.n,
                      .edges = a->rest.n_pairs,
                      .steps = a->rest.n_steps,
                      .time_s = to->time_s + sw_now_s() - since_s};
  for (int32_t i = 0; i < a->rest.n; i++) to->choices += a->rest.dom[i];
  memcpy(to->removed, a->model.removed, sizeof to->removed);
}

static sw_rc reduce_core(attempt *a, const sel_core *c, sw_diag *d) {
  double since_s = sw_now_s();
  SW_TRY(sel_model_init(&a->model, c, (sel_model_given){a->r->rules, a->proof ? &a->proof->text : NULL, NULL}, d));
  SW_TRY(sel_model_reduce(&a->model, &a->r->budget, d));
  if (sel_stop(&a->r->budget)) return SW_OK;
  SW_TRY(sel_model_freeze(&a->model, &a->rest, d));
  note_presolve(a, since_s);
  return SW_OK;
}

/* What elimination found: the optimum, or that there is none. */
static void conclude_elimination(attempt *a, int64_t value) {
  value = sw_cost_add(value, sw_min_i64(a->rest.offset, SW_FORBIDDEN));
  if (value >= SW_FORBIDDEN) a->r->infeasible = true;
  if (value < SW_FORBIDDEN) sel_raise(a->r, value);
  if (a->proof) a->proof->bound = value;
}

/* Reduce `c`, the whole problem or that without its limit, and solve the rest as far as possible. */
static sw_rc try_core(attempt *a, const sel_core *c, sw_arena *mem, sw_diag *d) {
  sel_run *r = a->r;
  bool done = false;
  int64_t value;
  SW_TRY(reduce_core(a, c, d));
  if (a->model.infeasible) {
    r->infeasible = true;
    if (a->proof) a->proof->bound = SW_FORBIDDEN;
    return SW_OK;
  }
  if (sel_stop(&r->budget)) return SW_OK; /* in the middle of the reductions */
  a->base = (sel_base){.r = r, .model = &a->model, .core = &a->rest, .proof = a->proof, .relaxed = a->relaxed};
  SW_ARENA_NEW(a->base.full, mem, c->n, d);
  if (a->rest.n_uses == 0) SW_TRY(sel_base_narrow(&a->base, &r->budget, &value, &done, d));
  if (done)
    conclude_elimination(a, value);
  else
    SW_TRY(sel_search(&a->base, &r->budget, d));
  return SW_OK;
}

/* The problem without its limit: its bounds hold, and its solutions where they happen to keep the limit. */
static sw_rc without_memory(sel_run *r, const sel_core *whole, sw_arena *mem, sw_diag *d) {
  int32_t *zeros;
  SW_ARENA_NEW(zeros, mem, (size_t)whole->n + 1, d);
  sel_core bare = sel_core_without_uses(whole, zeros);
  attempt a = {.r = r, .proof = r->proof ? &r->proof->bare : NULL, .relaxed = true};
  sw_rc rc = try_core(&a, &bare, mem, d);
  sel_model_deinit(&a.model);
  return rc;
}

static sw_rc with_memory(sel_run *r, const sel_core *whole, sw_arena *mem, sw_diag *d) {
  attempt a = {.r = r, .proof = r->proof ? &r->proof->root : NULL};
  if (a.proof && whole->n_uses == 0) sw_text_puts(&a.proof->text, "without-memory\n"); /* no choice reaches the limit */
  sw_rc rc = try_core(&a, whole, mem, d);
  sel_model_deinit(&a.model);
  return rc;
}

/* A peak that every allowed choice reaches: what is occupied when each variable that arc consistency leaves takes its
 * smallest amounts. At least one more than the limit, which is proven too little. */
static sw_rc find_least_peak(sel_run *r, const sel_core *whole, sw_arena *mem, sw_diag *d) {
  sel_core roomy = *whole;
  sel_model m = {0};
  int64_t *cap, base = 0;
  SW_ARENA_NEW(cap, mem, whole->n_steps, d);
  for (int32_t t = 0; t < whole->n_steps; t++) cap[t] = INT64_MAX / 2;
  roomy.cap = cap;
  sw_rc rc = sel_model_init(&m, &roomy, (sel_model_given){SW_RULE_SEPARABLE | SW_RULE_FUNCTIONAL}, d);
  if (!rc) rc = sel_model_reduce(&m, &r->budget, d);
  r->least_peak = r->p->limit < INT64_MAX ? r->p->limit + 1 : 0;
  for (int32_t t = 0; !rc && t < m.steps.n; t++)
    r->least_peak = sw_max_i64(r->least_peak, base += m.steps.base_diff[t]);
  if (m.infeasible) r->least_peak = 0; /* memory has nothing to do with it */
  sel_model_deinit(&m);
  return rc;
}

/* Does the choice to start from do without the limit what can be done there? Then only the limit is left to ask about.
 */
static sw_rc is_known_without_memory(const sel_run *r, const sel_core *whole, sw_arena *mem, bool *known, sw_diag *d) {
  *known = false;
  if (!r->warm || r->o->from->bound <= 0) return SW_OK;
  int64_t *used, cost = sel_core_cost(whole, r->warm);
  SW_ARENA_NEW(used, mem, (size_t)whole->n_steps + 1, d);
  bool near = cost < SW_FORBIDDEN && sw_is_within(cost, r->o->from->bound, r->o->gap);
  *known = near && !sel_core_usage(whole, r->warm, used);
  return SW_OK;
}

sw_rc sel_solve_native(sel_run *r, sw_diag *d) {
  sw_arena mem = {0};
  bool known = false, crowded = false;
  sel_core whole;
  sw_rc rc = sel_core_of_problem(r->p, &mem, &whole, d);
  if (!rc) rc = sel_first_choices(r, &whole, &crowded, d);
  if (!rc) rc = is_known_without_memory(r, &whole, &mem, &known, d);
  if (!rc && !known && !crowded && whole.n_uses > 0 && !sel_closed(r)) rc = without_memory(r, &whole, &mem, d);
  if (!rc && !sel_closed(r) && !sel_stop(&r->budget)) {
    rc = with_memory(r, &whole, &mem, d);
    if (!rc && r->infeasible) rc = find_least_peak(r, &whole, &mem, d);
  }
  sw_arena_deinit(&mem);
  return rc;
}
