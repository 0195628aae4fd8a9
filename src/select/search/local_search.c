/* Local searches: tree moves to settle a choice, then large moves, with short warm searches in between. */
#include "select/search/local_search.h"

#include <string.h>

static sw_rc local_search_init(sel_local_searches *ws, sel_local_search *w, uint64_t seed, sw_diag *d) {
  const sel_field *f = ws->field;
  w->all = ws;
  SW_TRY(sel_state_init(&w->state, f, &w->mem, d));
  SW_TRY(sel_mover_init(&w->mover, f, seed, &w->mem, d));
  SW_TRY(sel_lns_init(&w->lns, f, ws->links, seed, &w->mem, d));
  SW_ARENA_NEW_EACH(&w->mem, f->c->n, d, w->x, w->tried);
  w->mover.price = ws->price;
  w->lns.prefix = ws->prefix;
  return SW_OK;
}

sw_rc sel_local_searches_init(sel_local_searches *ws, const sel_field *f, const sel_link *links, int threads,
                              uint64_t seed, int64_t sweep, sw_diag *d) {
  *ws = (sel_local_searches){.field = f, .links = links, .sweep = sweep};
  SW_ARENA_NEW(ws->at, &ws->mem, threads, d);
  SW_ARENA_NEW(ws->price, &ws->mem, f->offset[f->c->n], d);
  SW_ARENA_NEW(ws->prefix, &ws->mem, (size_t)f->c->n_steps + 1, d);
  SW_ARENA_NEW(ws->guide, &ws->mem, f->c->n, d);
  for (; ws->n < threads; ws->n++) {
    sw_rc rc = local_search_init(ws, &ws->at[ws->n], seed * 1000 + (uint64_t)ws->n, d);
    if (!rc) continue;
    ws->n++; /* what it has is freed with the others */
    return rc;
  }
  return SW_OK;
}

void sel_local_searches_deinit(sel_local_searches *ws) {
  for (int k = 0; k < ws->n; k++) {
    sel_lns_deinit(&ws->at[k].lns);
    sw_arena_deinit(&ws->at[k].mem);
  }
  sw_arena_deinit(&ws->mem);
}

void sel_local_searches_price(sel_local_searches *ws, const sel_dual *u, const double *packed) {
  const sel_field *f = ws->field;
  memcpy(ws->price, packed, (size_t)f->offset[f->c->n] * sizeof *packed);
  for (int32_t t = 0; t < f->c->n_steps; t++) ws->prefix[t + 1] = ws->prefix[t] + u->best.lambda[t] / u->unit;
}

void sel_local_searches_guide(sel_local_searches *ws, const int32_t *x) {
  memcpy(ws->guide, x, (size_t)ws->field->c->n * sizeof *x);
  ws->guided = true;
}

/* Tree moves from the best choice, slightly warm. */
static void stroll(sel_local_search *w, double steps, int64_t sweeps) {
  sel_budget part = sel_budget_part(&w->budget, steps, sweeps * w->all->sweep);
  sel_state_set(&w->state, w->x);
  int64_t cost = w->cost;
  sel_anneal(&w->mover, &w->state, sel_by(&part)->heat * (double)w->cost, &part, w->tried, &cost);
  sel_budget_join(&w->budget, &part);
  if (cost >= w->cost) return;
  w->cost = cost;
  memcpy(w->x, w->tried, (size_t)w->all->field->c->n * sizeof *w->x);
}

/* Large moves from the best choice. */
static sw_rc leap(sel_local_search *w, double steps, int64_t sweeps) {
  sel_budget part = sel_budget_part(&w->budget, steps, sweeps * w->all->sweep);
  sel_state_set(&w->state, w->x);
  w->lns.guide = w->all->guided ? w->all->guide : NULL;
  sw_rc rc = SW_OK;
  while (!rc && !sel_stop(&part)) {
    bool better;
    rc = sel_lns_move(&w->lns, &w->state, &part, &better, &w->diag);
  }
  sel_budget_join(&w->budget, &part);
  if (rc || w->state.cost >= w->cost) return rc;
  w->cost = (int64_t)w->state.cost;
  memcpy(w->x, w->state.x, (size_t)w->all->field->c->n * sizeof *w->x);
  return SW_OK;
}

static sw_rc wander(sel_local_search *w) {
  const sw_parameters *by = sel_by(&w->budget);
  while (!sel_stop(&w->budget)) {
    int64_t before = w->cost;
    stroll(w, by->walk_steps, (int64_t)by->walk_sweeps);
    if ((double)(before - w->cost) > by->gain * (double)before) continue; /* it gives way to leaps */
    SW_TRY(leap(w, by->leap_walks * by->walk_steps, (int64_t)(by->leap_walks * by->walk_sweeps)));
  }
  return SW_OK;
}

static void begin_local_search(sel_local_search *w, const int32_t *x, int64_t cost, const sel_budget *b) {
  memcpy(w->x, x, (size_t)w->all->field->c->n * sizeof *x);
  w->cost = cost;
  w->budget = *b;
}

static void *run_local_search(void *search) {
  sel_local_search *w = search;
  w->rc = wander(w);
  return NULL;
}

sw_rc sel_local_searches_start(sel_local_searches *ws, const int32_t *x, int64_t cost, const sel_budget *b,
                               sw_diag *d) {
  atomic_store(&ws->halt, 0);
  for (int k = 1; k < ws->n; k++) {
    sel_local_search *w = &ws->at[k];
    begin_local_search(w, x, cost, b);
    w->budget.halt = &ws->halt;
    if (pthread_create(&w->thread, NULL, run_local_search, w))
      return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "cannot start a thread of the search");
    w->started = true;
  }
  return SW_OK;
}

static void take_better(const sel_local_search *w, int32_t *x, int64_t *cost) {
  if (w->cost >= *cost) return;
  *cost = w->cost;
  memcpy(x, w->x, (size_t)w->all->field->c->n * sizeof *x);
}

sw_rc sel_local_searches_join(sel_local_searches *ws, int32_t *x, int64_t *cost, sw_diag *d) {
  sw_rc rc = SW_OK;
  for (int k = 1; k < ws->n; k++) {
    sel_local_search *w = &ws->at[k];
    if (!w->started) continue;
    (void)pthread_join(w->thread, NULL);
    w->started = false;
    if (w->rc && d) *d = w->diag;
    if (w->rc)
      rc = w->rc;
    else
      take_better(w, x, cost);
  }
  return rc;
}

void sel_local_searches_drop(sel_local_searches *ws) {
  atomic_store(&ws->halt, 1);
  for (int k = 1; k < ws->n; k++) {
    if (ws->at[k].started) (void)pthread_join(ws->at[k].thread, NULL);
    ws->at[k].started = false;
  }
}

sw_rc sel_local_searches_run(sel_local_searches *ws, int32_t *x, int64_t *cost, sel_budget *b, sw_diag *d) {
  sel_local_search *w = &ws->at[0];
  begin_local_search(w, x, *cost, b);
  sw_rc rc = wander(w);
  sel_budget_join(b, &w->budget);
  if (rc && d) *d = w->diag;
  if (!rc) take_better(w, x, cost);
  return rc;
}
