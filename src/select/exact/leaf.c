/* Small cores by depth-first enumeration: cost so far and caps cut branches. */
#include "select/exact/leaf.h"

#include <string.h>

#include "select/search/state.h"

typedef struct enumeration {
  const sel_field *f;
  sel_profile profile;
  int32_t *x, *best;
  int64_t best_cost;
  int64_t nodes;
} enumeration;

bool sel_leaf_small(const sel_core *c) {
  enum { MOST = 4096 };
  int64_t n = 1;
  for (int32_t i = 0; i < c->n; i++) {
    n *= c->dom[i];
    if (n > MOST || i > 64) return false;
  }
  return true;
}

static int64_t cost_beside_earlier(const enumeration *w, int32_t i) {
  const sel_field *f = w->f;
  int64_t sum = f->c->cost[i][w->x[i]];
  for (int32_t k = f->first_near[i]; k < f->first_near[i + 1]; k++) {
    const sel_near *g = &f->near[k];
    if (g->other >= i) continue;
    sum = sw_cost_add(sum, g->v[(int64_t)w->x[i] * g->n_other + w->x[g->other]]);
  }
  return sum;
}

/* Add (sign 1) or take off the uses of i; whether the steps touched keep their caps. */
static bool place_uses(enumeration *w, int32_t i, int64_t sign) {
  const sel_core *c = w->f->c;
  for (int32_t k = c->first_use[i]; k < c->first_use[i + 1]; k++)
    sel_profile_add(&w->profile, c->uses[k].begin, c->uses[k].end, sign * c->uses[k].amount[w->x[i]]);
  bool fits = true;
  for (int32_t k = c->first_use[i]; k < c->first_use[i + 1] && fits; k++)
    fits = sel_profile_most(&w->profile, c->uses[k].begin, c->uses[k].end) <= 0;
  return fits;
}

static void enumerate_leaf(enumeration *w, int32_t i, int64_t cost) {
  if (i == w->f->c->n) {
    w->best_cost = cost;
    memcpy(w->best, w->x, (size_t)i * sizeof *w->x);
    return;
  }
  for (int32_t s = 0; s < w->f->c->dom[i]; s++) {
    w->nodes++;
    w->x[i] = s;
    int64_t c = sw_cost_add(cost, cost_beside_earlier(w, i));
    if (c >= w->best_cost) continue;
    if (place_uses(w, i, 1)) enumerate_leaf(w, i + 1, c);
    w->x[i] = s;
    (void)place_uses(w, i, -1);
  }
}

sw_rc sel_leaf_solve(const sel_core *c, int64_t below, sel_budget *b, int32_t *best, int64_t *cost, sw_diag *d) {
  sw_arena mem = {0};
  sel_field f;
  enumeration w = {.f = &f, .best = best, .best_cost = sw_min_i64(below, SW_FORBIDDEN)};
  sw_rc rc = sel_field_init(&f, c, SW_FORBIDDEN, &mem, d);
  if (!rc) rc = sel_profile_init(&w.profile, c, &mem, d);
  if (!rc && !(w.x = sw_arena_alloc(&mem, (size_t)c->n, sizeof *w.x, d))) rc = SW_E_RESOURCE;
  if (!rc) {
    enumerate_leaf(&w, 0, 0);
    sel_spend(b, w.nodes);
    *cost = w.best_cost;
  }
  sw_arena_deinit(&mem);
  return rc;
}
