/* Dominated values: s beats t when it costs no more whatever the neighbours do, and occupies no more at any time.
 *
 * Of two values that beat each other the first stays. Cost: values^2 x neighbours, times the neighbours' values for
 * pairs that pass a first look; what has been found for a variable with the same costs, amounts and edges is known
 * already.
 */
#include "select/proof.h"

static bool fits_inside(const sel_var *x, int32_t s, int32_t t) {
  for (int32_t k = 0; k < x->n_spans; k++)
    if (x->spans[k].amount[s] > x->spans[k].amount[t]) return false;
  return true;
}

/* The most by which s can cost more than t over this edge, or anything above `enough`; SW_FORBIDDEN: t may be allowed
 * where s is not. */
static int64_t worst_difference(const sel_model *m, const sel_edge *g, int32_t v, int32_t s, int32_t t,
                                sw_i128 enough) {
  int32_t o = sel_other(g, v), n = m->vars[o].n;
  int64_t worst = -SW_FORBIDDEN;
  for (int32_t k = 0; k < n && worst <= enough; k++) {
    int64_t cs = sel_edge_at(m, g, v, s, k), ct = sel_edge_at(m, g, v, t, k);
    if (sel_bad(ct)) continue;
    if (sel_bad(cs)) return SW_FORBIDDEN;
    worst = sw_max_i64(worst, cs - ct);
  }
  return worst;
}

/* Differences may be negative where rows are not lowered, so only the final sum decides; it is cut short once it is
 * positive and rows are known to have a zero entry (then no later term is negative). */
static bool beats(const sel_model *m, int32_t v, int32_t s, int32_t t, int64_t *work) {
  const sel_var *x = &m->vars[v];
  bool lowered = m->given.rules & SW_RULE_SEPARABLE;
  sw_i128 sum = (sw_i128)x->cost[s] - x->cost[t];
  if (lowered && sum > 0) return false;
  if (!fits_inside(x, s, t)) return false;
  for (int32_t k = 0; k < x->edges.n; k++) {
    const sel_edge *g = &m->edges[x->edges.at[k]];
    *work += m->vars[sel_other(g, v)].n;
    int64_t w = worst_difference(m, g, v, s, t, lowered ? -sum : SW_FORBIDDEN);
    if (w >= SW_FORBIDDEN) return false;
    sum += w;
    if (lowered && sum > 0) return false;
  }
  return sum <= 0;
}

/* more[s] = how much more s costs than t when each neighbour chooses what is cheapest beside t: who costs more there
 * does not beat t. */
static void compare_at_best(const sel_model *m, int32_t v, int32_t t, double *more, int64_t *work) {
  const sel_var *x = &m->vars[v];
  for (int32_t s = 0; s < x->n; s++) more[s] = (double)(x->cost[s] - x->cost[t]);
  for (int32_t k = 0; k < x->edges.n; k++) {
    const sel_edge *g = &m->edges[x->edges.at[k]];
    int32_t n = m->vars[sel_other(g, v)].n, best = 0;
    for (int32_t o = 1; o < n; o++)
      if (sel_edge_at(m, g, v, t, o) < sel_edge_at(m, g, v, t, best)) best = o;
    const int64_t *at = g->i == v ? g->v + best : g->v + (int64_t)best * x->n;
    int64_t stride = g->i == v ? n : 1, least = at[t * stride];
    for (int32_t s = 0; s < x->n; s++) more[s] += (double)(at[s * stride] - least);
    *work += n + x->n;
  }
}

/* by[t] = the value that beats t, -1: none. `more` [values]: scratch. */
static void find_beaten(const sel_model *m, int32_t v, int32_t *by, double *more, int64_t *work) {
  int32_t n = m->vars[v].n;
  const double rounding = 512.0 * (m->vars[v].edges.n + 2); /* sums of numbers up to 10^18, in units of 128 */
  for (int32_t t = 0; t < n; t++) by[t] = -1;
  for (int32_t t = 0; t < n; t++) {
    compare_at_best(m, v, t, more, work);
    for (int32_t s = 0; s < n && by[t] < 0; s++) {
      if (s == t || by[s] >= 0 || more[s] > rounding || !beats(m, v, s, t, work)) continue;
      if (s > t && beats(m, v, t, s, work)) continue;
      by[t] = s;
    }
  }
}

/* All that decides who beats whom: costs, amounts, and the tables of the edges with which end is whose. */
static void describe(const sel_model *m, int32_t v, sw_text *key, int64_t *work) {
  const sel_var *x = &m->vars[v];
  key->n = 0;
  sw_text_append(key, (const char *)&x->n, sizeof x->n);
  sw_text_append(key, (const char *)&x->n_spans, sizeof x->n_spans);
  sw_text_append(key, (const char *)x->cost, (size_t)x->n * sizeof *x->cost);
  for (int32_t k = 0; k < x->n_spans; k++) {
    sw_text_append(key, (const char *)x->spans[k].amount, (size_t)x->n * sizeof *x->spans[k].amount);
  }
  for (int32_t k = 0; k < x->edges.n; k++) {
    const sel_edge *g = &m->edges[x->edges.at[k]];
    int32_t mine = g->i == v, other = m->vars[sel_other(g, v)].n;
    int64_t cells = (int64_t)x->n * other;
    sw_text_append(key, (const char *)&mine, sizeof mine);
    sw_text_append(key, (const char *)&other, sizeof other);
    sw_text_append(key, (const char *)&g->shared, sizeof g->shared);
    if (g->shared) { /* tables that are shared are known by their address */
      sw_text_append(key, (const char *)&g->v, sizeof g->v);
      continue;
    }
    sw_text_append(key, (const char *)g->v, (size_t)cells * sizeof *g->v);
    *work += cells;
  }
}

static sw_rc recall(const sel_model *m, int32_t v, sel_beaten *cache, int64_t *work, const int32_t **by, sw_diag *d) {
  int32_t n = m->vars[v].n;
  int64_t *slot;
  bool fresh;
  describe(m, v, &cache->key, work);
  if (cache->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  SW_TRY(sw_dict_put(&cache->seen, cache->key.at, cache->key.n, (int64_t)cache->by.n, &slot, &fresh, d));
  for (int32_t t = 0; fresh && t < n; t++) SW_TRY(sw_array_push(&cache->by, -1, d));
  *by = &cache->by.at[*slot];
  if (!fresh) return SW_OK;
  double *more = sw_mem_alloc((size_t)n, sizeof *more, d);
  if (!more) return SW_E_RESOURCE;
  find_beaten(m, v, &cache->by.at[*slot], more, work);
  sw_mem_free(more);
  return SW_OK;
}

void sel_beaten_deinit(sel_beaten *cache) {
  sw_dict_deinit(&cache->seen);
  sw_array_free(&cache->by);
  sw_text_free(&cache->key);
}

sw_rc sel_rule_dominated(sel_model *m, int32_t v, sel_beaten *cache, sel_budget *b, sw_diag *d) {
  sel_var *x = &m->vars[v];
  x->stale = false;
  if (x->n < 2) return SW_OK;
  sel_tidy_edges(m, v);
  const int32_t *by;
  int64_t work = 0;
  bool *keep, lost = false;
  SW_ARENA_NEW(keep, &m->mem, x->n, d);
  SW_TRY(recall(m, v, cache, &work, &by, d));
  for (int32_t t = 0; t < x->n; t++) {
    keep[t] = by[t] < 0;
    lost = lost || !keep[t];
    if (!keep[t]) sel_count(m, SW_RULE_DOMINATED, 1);
    if (!keep[t]) sel_log_drop(m, v, t, "beaten", sel_name_value(m, v, by[t]));
  }
  sel_spend(b, work);
  return lost ? sel_keep_values(m, v, keep, d) : SW_OK;
}
