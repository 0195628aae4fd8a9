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
  sel_model m = {0};
  sel_base k = {.r = r, .model = &m, .core = &rest};
  bool done = false;
  int64_t value;
  sw_rc rc;
  SW_TRY_TO(end, sel_model_init(&m, &bare, SEL_RULES_ALL, d));
  SW_TRY_TO(end, sel_model_reduce(&m, &r->budget, d));
  SW_TRY_TO(end, sel_model_freeze(&m, &rest, d));
  k.full = sw_arena_alloc(mem, (size_t)whole->n, sizeof *k.full, d);
  rc = k.full ? SW_OK : SW_E_RESOURCE;
  if (!rc && !m.infeasible) rc = sel_base_narrow(&k, &r->budget, &value, &done, d);
  if (rc) goto end;
  if (m.infeasible || (done && sw_cost_add(value, sw_min_i64(rest.offset, SW_FORBIDDEN)) >= SW_FORBIDDEN))
    r->infeasible = true;
  else if (done)
    sel_base_raise(&k, value);
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
  sel_state state;
  sel_mover mover;
  double *price;  /* by the dual's offsets */
  double *packed; /* by the field's offsets */
  int32_t *x;
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
  q->mover.price = q->packed;
  return SW_OK;
}

static void take_prices(searcher *q) {
  sel_dual_prices(&q->dual, q->price);
  for (int32_t i = 0; i < q->k->core->n; i++)
    memcpy(q->packed + q->field.offset[i], q->price + q->dual.offset[i],
           (size_t)q->k->core->dom[i] * sizeof *q->packed);
}

static sw_rc certify(searcher *q) {
  int64_t bound;
  SW_TRY(sel_dual_certify(&q->dual, &bound, q->d));
  sel_base_raise(q->k, bound);
  return SW_OK;
}

/* Decode the best prices and messages, repair, offer. */
static sw_rc decode_and_repair(searcher *q) {
  take_prices(q);
  sel_dual_decode(&q->dual, q->x);
  sel_state_set(&q->state, q->x);
  sel_spend(q->b, q->dual.cells);
  if (!sel_repair(&q->state, q->packed, q->b)) return SW_OK;
  return sel_base_offer(q->k, q->state.x, "native", NULL, q->d);
}

static double goal_of(const searcher *q) {
  int64_t target = sel_base_target(q->k);
  double bound = fmax(q->dual.best_bound, 1.0);
  return target == INT64_MAX ? 1.3 * bound + 1 : (double)target;
}

/* Ascend in slices; after each, a choice is decoded so that the next has a better target. */
static sw_rc ascend(searcher *q, sel_budget *b) {
  enum { FIRST_SLICE = 40 };
  int64_t slice = FIRST_SLICE;
  sel_dual *u = &q->dual;
  while (!sel_stop(b) && !sel_closed(q->k->r) && u->factor > 1e-3) {
    int64_t until = u->passes + slice;
    double before = u->best_bound, goal = goal_of(q);
    while (u->passes < until && !sel_stop(b) && u->best_bound < goal) {
      sel_dual_pass(u, goal);
      sel_spend(b, 2 * u->cells + u->n_flat);
    }
    sel_dual_rewind(u);
    SW_TRY(decode_and_repair(q));
    SW_TRY(certify(q));
    if (u->best_bound >= goal) break;
    if (u->best_bound - before < 1e-7 * fabs(u->best_bound) && slice > 400) break;
    slice += slice;
  }
  return SW_OK;
}

static sw_rc anneal(searcher *q, double seconds) {
  const int64_t kSweeps = 300; /* in work of one pass over all tables */
  if (!q->k->r->has) return SW_OK;
  take_prices(q);
  int64_t best = INT64_MAX;
  double heat = 1e-5 * (double)sel_base_target(q->k);
  sel_budget part = sel_budget_part(q->b, seconds, kSweeps * (q->dual.cells + q->dual.n_flat));
  if (!sel_state_feasible(&q->state)) return SW_OK;
  sel_anneal(&q->mover, &q->state, heat, &part, q->x, &best);
  sel_budget_join(q->b, &part);
  return best < INT64_MAX ? sel_base_offer(q->k, q->x, "native", NULL, q->d) : SW_OK;
}

static sw_rc search(const sel_base *k, sel_budget *b, sw_diag *d) {
  searcher q = {.k = k, .b = b, .d = d};
  double *lambda;
  sw_rc rc = searcher_init(&q);
  sel_budget part = sel_budget_part(b, 0.3 * fmin(sel_left(b), 40), INT64_C(1) << 33);
  if (!rc) rc = ascend(&q, &part);
  sel_budget_join(b, &part);
  if (!rc && !sel_closed(k->r)) rc = anneal(&q, 0.2 * fmin(sel_left(b), 20));
  lambda = sw_arena_alloc(&q.mem, (size_t)k->core->n_steps, sizeof *lambda, d);
  if (!rc && !lambda) rc = SW_E_RESOURCE;
  for (int32_t t = 0; !rc && t < k->core->n_steps; t++) lambda[t] = q.dual.best_lambda[t] / q.dual.unit;
  if (!rc && !sel_closed(k->r)) rc = sel_branch(k, lambda, b, d);
  sel_dual_deinit(&q.dual);
  sw_arena_deinit(&q.mem);
  return rc;
}

static sw_rc with_memory(sel_run *r, const sel_core *whole, sw_arena *mem, sw_diag *d) {
  sel_model m = {0};
  sel_core rest;
  sel_base k = {.r = r, .model = &m, .core = &rest};
  bool done = false;
  int64_t value;
  sw_rc rc;
  SW_TRY_TO(end, sel_model_init(&m, whole, SEL_RULES_ALL, d));
  SW_TRY_TO(end, sel_model_reduce(&m, &r->budget, d));
  SW_TRY_TO(end, sel_model_freeze(&m, &rest, d));
  k.full = sw_arena_alloc(mem, (size_t)whole->n, sizeof *k.full, d);
  rc = k.full ? SW_OK : SW_E_RESOURCE;
  if (rc) goto end;
  if (m.infeasible) {
    r->infeasible = true;
    goto end;
  }
  if (rest.n_uses == 0) SW_TRY_TO(end, sel_base_narrow(&k, &r->budget, &value, &done, d));
  if (done)
    sel_base_raise(&k, value);
  else
    rc = search(&k, &r->budget, d);
end:
  sel_model_deinit(&m);
  return rc;
}

sw_rc sel_solve_native(sel_run *r, sw_diag *d) {
  sw_arena mem = {0};
  sel_core whole;
  sw_rc rc = sel_core_of_problem(r->p, &mem, &whole, d);
  if (!rc) rc = without_memory(r, &whole, &mem, d);
  if (!rc && !sel_closed(r) && !sel_stop(&r->budget)) rc = with_memory(r, &whole, &mem, d);
  sw_arena_deinit(&mem);
  return rc;
}
