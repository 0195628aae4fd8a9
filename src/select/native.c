/* The native solver: reductions, then exact elimination where the rest is narrow, then bounds and search.
 *
 * 1. Without memory: reduce, eliminate. If what comes out keeps the limit it is the optimum.
 * 2. With memory: reduce, then search (search.h).
 */
#include "select/first.h"
#include "select/search.h"

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
  if (m.log && whole->n_uses == 0) sw_text_puts(m.log, "without-memory\n"); /* no choice reaches the limit */
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
    rc = sel_search(&k, &r->budget, d);
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
  if (!rc) rc = sel_first_choices(r, &whole, d);
  if (!rc && !sel_closed(r)) rc = without_memory(r, &whole, &mem, d);
  if (!rc && !sel_closed(r) && !sel_stop(&r->budget)) {
    rc = with_memory(r, &whole, &mem, d);
    if (!rc && r->infeasible) rc = find_least_peak(r, &whole, &mem, d);
  }
  sw_arena_deinit(&mem);
  return rc;
}
