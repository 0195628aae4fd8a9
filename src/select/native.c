/* The native solver: reductions, then exact elimination where the rest is narrow, then bounds and search.
 *
 * 1. Without memory: reduce, eliminate. If what comes out keeps the limit it is the optimum.
 * 2. With memory: reduce; prices and messages give a bound; decoded choices are repaired and improved by tree moves.
 * 3. Branch and bound closes what gap it can in the time left.
 */
#include <math.h>
#include <string.h>

#include "select/branch.h"
#include "select/moves.h"

/* The problem without its limit: its optimum is a bound, and the optimum itself when it keeps the limit. */
static sw_rc without_memory(sel_run *r, const sel_core *whole, sw_arena *mem, sw_diag *d) {
  int32_t *zeros;
  SW_ARENA_NEW(zeros, mem, (size_t)whole->n + 1, d);
  sel_core bare = sel_core_without_uses(whole, zeros), rest;
  sel_model m = {.log = r->proof ? &r->proof->bare : NULL};
  sel_base k = {.r = r, .model = &m, .core = &rest};
  bool done = false;
  int64_t value;
  sw_rc rc;
  SW_TRY_TO(end, sel_model_init(&m, &bare, r->rules, d));
  SW_TRY_TO(end, sel_model_reduce(&m, &r->budget, d));
  SW_TRY_TO(end, sel_model_freeze(&m, &rest, d));
  k.full = sw_arena_alloc(mem, (size_t)whole->n, sizeof *k.full, d);
  rc = k.full ? SW_OK : SW_E_RESOURCE;
  if (!rc && !m.infeasible) rc = sel_base_narrow(&k, &r->budget, m.log, &value, &done, d);
  if (rc) goto end;
  if (m.infeasible)
    r->infeasible = true;
  else if (done)
    r->infeasible = (value = sw_cost_add(value, sw_min_i64(rest.offset, SW_FORBIDDEN))) >= SW_FORBIDDEN;
  if (done && !r->infeasible) sel_raise(r, value);
  if (r->proof && (done || r->infeasible)) r->proof->bare_bound = r->infeasible ? SW_FORBIDDEN : value;
end:
  sel_model_deinit(&m);
  return rc;
}

/* The search of step 2, on the rest of the reductions. */
typedef struct searcher {
  const sel_base *k;
  sel_budget *b;
  sw_arena mem;
  sel_dual dual;
  sel_field field;
  sel_state state; /* of the walk */
  sel_mover mover;
  double *price;  /* by the dual's offsets */
  double *packed; /* by the field's offsets */
  int32_t *x, *best;
  int64_t best_cost; /* of `best`; INT64_MAX: none */
  sw_diag *d;
} searcher;

static sw_rc searcher_init(searcher *q) {
  const sel_core *c = q->k->core;
  SW_TRY(sel_dual_init(&q->dual, c, q->d));
  SW_TRY(sel_field_init(&q->field, c, 0, &q->mem, q->d));
  SW_TRY(sel_state_init(&q->state, &q->field, &q->mem, q->d));
  SW_TRY(sel_mover_init(&q->mover, &q->field, q->k->r->o->seed, &q->mem, q->d));
  SW_ARENA_NEW(q->price, &q->mem, q->dual.n_flat, q->d);
  SW_ARENA_NEW(q->packed, &q->mem, q->field.offset[c->n], q->d);
  SW_ARENA_NEW(q->x, &q->mem, c->n, q->d);
  SW_ARENA_NEW(q->best, &q->mem, c->n, q->d);
  q->best_cost = INT64_MAX;
  q->mover.price = q->packed;
  return SW_OK;
}

static void take_prices(searcher *q) {
  sel_dual_prices(&q->dual, q->price);
  for (int32_t i = 0; i < q->k->core->n; i++)
    memcpy(q->packed + q->field.offset[i], q->price + q->dual.offset[i],
           (size_t)q->k->core->dom[i] * sizeof *q->packed);
}

/* Work of one pass over all tables, the measure of effort: small cores get little time, large ones more. */
static int64_t sweep_cells(const searcher *q) { return q->dual.cells + q->dual.n_flat + q->k->core->n_uses; }

static sw_rc take_best(searcher *q, const int32_t *x, int64_t cost) {
  if (cost >= q->best_cost) return SW_OK;
  memcpy(q->best, x, (size_t)q->k->core->n * sizeof *x);
  q->best_cost = cost;
  return sel_base_offer(q->k, x, "native", NULL, q->d);
}

/* Walk from the state by tree moves. */
static sw_rc walk(searcher *q, double seconds, int64_t sweeps) {
  int64_t cost = INT64_MAX;
  double heat = 1e-5 * (double)(q->best_cost < INT64_MAX ? q->best_cost : (int64_t)q->state.cost);
  sel_budget part = sel_budget_part(q->b, seconds, sweeps * sweep_cells(q));
  sel_anneal(&q->mover, &q->state, heat, &part, q->x, &cost);
  sel_budget_join(q->b, &part);
  return cost < INT64_MAX ? take_best(q, q->x, cost) : SW_OK;
}

/* Decode the best prices and messages, repair, and polish what comes out before it is compared. */
static sw_rc decode(searcher *q, double polish_s) {
  take_prices(q);
  sel_dual_decode(&q->dual, q->x);
  sel_state_set(&q->state, q->x);
  sel_spend(q->b, q->dual.cells);
  if (!sel_repair(&q->state, q->packed, q->b)) return SW_OK;
  if (q->best_cost == INT64_MAX && q->state.cost < SW_FORBIDDEN)
    SW_TRY(take_best(q, q->state.x, (int64_t)q->state.cost));
  return walk(q, polish_s, 30);
}

/* The best prices so far prove `bound`, without the core's offset. */
static sw_rc keep_proof(searcher *q, int64_t bound) {
  sel_proof *to = q->k->r->proof;
  int64_t whole;
  if (!to || !sw_add_i64(bound, q->k->core->offset, &whole) || whole <= to->root_bound) return SW_OK;
  sw_text_free(&to->root_end);
  to->root_bound = whole;
  return sel_dual_certify(&q->dual, q->k->model, &to->root_end, &bound, q->d);
}

/* Passes of the dual for a while, then its bound made safe. */
static sw_rc ascend(searcher *q, double seconds, int64_t sweeps) {
  sel_dual *u = &q->dual;
  int64_t target = sel_base_target(q->k), bound;
  double first = 1.3 * fmax(u->best_bound, 1.0) + 1;
  sel_budget part = sel_budget_part(q->b, seconds, sweeps * sweep_cells(q));
  sel_dual_ascend(u, target == INT64_MAX ? first : (double)target, &part);
  sel_budget_join(q->b, &part);
  SW_TRY(sel_dual_certify(u, q->k->model, NULL, &bound, q->d));
  SW_TRY(keep_proof(q, bound));
  sel_base_raise(q->k, bound);
  return SW_OK;
}

/* Dual and walk in turns, each turn longer than the last, until the dual has settled. */
static sw_rc take_turns(searcher *q) {
  const double kLongestTurn_s = 2.0;
  double turn_s = 0.15;
  int64_t sweeps = 60;
  while (!sel_stop(q->b) && !sel_closed(q->k->r)) {
    double before = q->dual.best_bound;
    SW_TRY(ascend(q, turn_s, sweeps));
    if (sel_closed(q->k->r) || sel_stop(q->b)) return SW_OK;
    SW_TRY(decode(q, 0.5 * turn_s));
    if (sel_dual_settled(&q->dual, before)) return SW_OK;
    turn_s = fmin(kLongestTurn_s, 1.4 * turn_s);
    sweeps += sweeps / 2;
  }
  return SW_OK;
}

/* What remains of the time: branch and bound where nodes are cheap, walks from the best choice elsewhere. */
static sw_rc finish(searcher *q) {
  enum { BRANCH_CELLS = 400000 };
  const double kFreshFactor = 0.05; /* steps that have become too small start again from here */
  double *lambda;
  const sel_core *c = q->k->core;
  if (q->best_cost < INT64_MAX) {
    take_prices(q);
    sel_state_set(&q->state, q->best);
    SW_TRY(walk(q, 0.1 * fmin(sel_left(q->b), 40), 300));
    while (sweep_cells(q) > BRANCH_CELLS && !sel_stop(q->b) && !sel_closed(q->k->r)) {
      q->dual.factor = fmax(q->dual.factor, kFreshFactor);
      SW_TRY(ascend(q, 2.0, 300));
      SW_TRY(decode(q, 0.3));
      sel_state_set(&q->state, q->best);
      SW_TRY(walk(q, 2.0, 300));
    }
  }
  if (sel_stop(q->b) || sel_closed(q->k->r)) return SW_OK;
  SW_ARENA_NEW(lambda, &q->mem, c->n_steps, q->d);
  for (int32_t t = 0; t < c->n_steps; t++) lambda[t] = q->dual.best_lambda[t] / q->dual.unit;
  return sel_branch(q->k, lambda, q->b, q->d);
}

static sw_rc search(const sel_base *k, sel_budget *b, sw_diag *d) {
  searcher q = {.k = k, .b = b, .d = d};
  sw_rc rc = searcher_init(&q);
  if (!rc) rc = take_turns(&q);
  if (!rc && !sel_closed(k->r)) rc = finish(&q);
  sel_dual_deinit(&q.dual);
  sw_arena_deinit(&q.mem);
  return rc;
}

static void note_presolve(sel_run *r, const sel_core *rest) {
  r->presolve = (sw_presolve){
      .nodes = rest->n, .edges = rest->n_pairs, .steps = rest->n_steps, .time_s = sel_elapsed(&r->budget)};
  for (int32_t i = 0; i < rest->n; i++) r->presolve.choices += rest->dom[i];
}

static sw_rc with_memory(sel_run *r, const sel_core *whole, sw_arena *mem, sw_diag *d) {
  sel_model m = {.log = r->proof ? &r->proof->root : NULL};
  sel_core rest;
  sel_base k = {.r = r, .model = &m, .core = &rest};
  bool done = false;
  int64_t value;
  sw_rc rc;
  SW_TRY_TO(end, sel_model_init(&m, whole, r->rules, d));
  SW_TRY_TO(end, sel_model_reduce(&m, &r->budget, d));
  SW_TRY_TO(end, sel_model_freeze(&m, &rest, d));
  note_presolve(r, &rest);
  k.full = sw_arena_alloc(mem, (size_t)whole->n, sizeof *k.full, d);
  rc = k.full ? SW_OK : SW_E_RESOURCE;
  if (rc) goto end;
  if (m.infeasible) {
    r->infeasible = true;
    if (r->proof) r->proof->root_bound = SW_FORBIDDEN;
    goto end;
  }
  if (rest.n_uses == 0)
    SW_TRY_TO(end, sel_base_narrow(&k, &r->budget, r->proof ? &r->proof->root_end : NULL, &value, &done, d));
  if (!done) {
    rc = search(&k, &r->budget, d);
  } else {
    value = sw_cost_add(value, sw_min_i64(rest.offset, SW_FORBIDDEN));
    if (value >= SW_FORBIDDEN) r->infeasible = true;
    if (value < SW_FORBIDDEN) sel_raise(r, value);
    if (r->proof) r->proof->root_bound = value;
  }
end:
  sel_model_deinit(&m);
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
  sw_rc rc = sel_model_init(&m, &roomy, SW_RULE_SEPARABLE | SW_RULE_FUNCTIONAL, d);
  if (!rc) rc = sel_model_reduce(&m, &r->budget, d);
  r->least_peak = r->p->limit < INT64_MAX ? r->p->limit + 1 : 0;
  for (int32_t t = 0; !rc && t < m.n_steps; t++) r->least_peak = sw_max_i64(r->least_peak, base += m.base_diff[t]);
  if (m.infeasible) r->least_peak = 0; /* memory has nothing to do with it */
  sel_model_deinit(&m);
  return rc;
}

sw_rc sel_solve_native(sel_run *r, sw_diag *d) {
  sw_arena mem = {0};
  sel_core whole;
  sw_rc rc = sel_core_of_problem(r->p, &mem, &whole, d);
  if (!rc) rc = without_memory(r, &whole, &mem, d);
  if (!rc && !sel_closed(r) && !sel_stop(&r->budget)) {
    rc = with_memory(r, &whole, &mem, d);
    if (!rc && r->infeasible) rc = find_least_peak(r, &whole, &mem, d);
  }
  sw_arena_deinit(&mem);
  return rc;
}
