/* The native solver: reductions, then exact elimination where the rest is narrow, then bounds and search.
 *
 * 1. Without memory: reduce, eliminate. If what comes out keeps the limit it is the optimum.
 * 2. With memory: reduce; if nothing is left, done.
 */
#include "select/elim.h"
#include "select/model.h"
#include "select/run.h"

/* Offer a solution of the model's rest. */
static sw_rc offer_rest(sel_run *r, const sel_model *m, const int32_t *x, sw_arena *mem, sw_diag *d) {
  int32_t *full;
  SW_ARENA_NEW(full, mem, m->n, d);
  sel_model_expand(m, x, full);
  return sel_offer(r, full, "native", NULL, d);
}

/* Exact minimum of a rest without uses. */
static sw_rc solve_narrow(sel_run *r, const sel_model *m, const sel_core *rest, bool *done, sw_diag *d) {
  sw_arena mem = {0};
  sel_elim_plan plan;
  int32_t *x;
  int64_t value;
  *done = false;
  sw_rc rc;
  SW_TRY_TO(end, sel_elim_plan_build(rest, SEL_ELIM_CELLS, SEL_ELIM_ALL_CELLS, &mem, &plan, d));
  if (!plan.fits) goto end;
  x = sw_arena_alloc(&mem, (size_t)rest->n, sizeof *x, d);
  rc = x ? SW_OK : SW_E_RESOURCE;
  if (rc) goto end;
  SW_TRY_TO(end, sel_elim_run(rest, &plan, rest->cost, &r->budget, x, &value, done, d));
  if (!*done) goto end;
  value = sw_cost_add(value, sw_min_i64(SW_FORBIDDEN, rest->offset));
  if (value >= SW_FORBIDDEN) {
    r->infeasible = true;
    goto end;
  }
  sel_raise(r, value);
  rc = offer_rest(r, m, x, &mem, d);
end:
  sw_arena_deinit(&mem);
  return rc;
}

/* The problem without its limit: its optimum is a bound, and the optimum itself when it keeps the limit. */
static sw_rc without_memory(sel_run *r, const sel_core *whole, sw_arena *mem, sw_diag *d) {
  int32_t *zeros;
  SW_ARENA_NEW(zeros, mem, (size_t)whole->n + 1, d);
  sel_core bare = sel_core_without_uses(whole, zeros), rest;
  sel_model m = {0};
  bool done;
  sw_rc rc;
  SW_TRY_TO(end, sel_model_init(&m, &bare, SEL_RULES_ALL, d));
  SW_TRY_TO(end, sel_model_reduce(&m, &r->budget, d));
  SW_TRY_TO(end, sel_model_freeze(&m, &rest, d));
  if (m.infeasible)
    r->infeasible = true;
  else
    rc = solve_narrow(r, &m, &rest, &done, d);
end:
  sel_model_deinit(&m);
  return rc;
}

static sw_rc with_memory(sel_run *r, const sel_core *whole, sw_diag *d) {
  sel_model m = {0};
  sel_core rest;
  bool done;
  sw_rc rc;
  SW_TRY_TO(end, sel_model_init(&m, whole, SEL_RULES_ALL, d));
  SW_TRY_TO(end, sel_model_reduce(&m, &r->budget, d));
  SW_TRY_TO(end, sel_model_freeze(&m, &rest, d));
  if (m.infeasible) {
    r->infeasible = true;
    goto end;
  }
  if (rest.n_uses == 0)
    rc = solve_narrow(r, &m, &rest, &done, d);
  else
    rc = sel_solve_glpk(r, d);
end:
  sel_model_deinit(&m);
  return rc;
}

sw_rc sel_solve_native(sel_run *r, sw_diag *d) {
  sw_arena mem = {0};
  sel_core whole;
  sw_rc rc = sel_core_of_problem(r->p, &mem, &whole, d);
  if (!rc) rc = without_memory(r, &whole, &mem, d);
  if (!rc && !sel_closed(r) && !sel_stop(&r->budget)) rc = with_memory(r, &whole, d);
  sw_arena_deinit(&mem);
  return rc;
}
