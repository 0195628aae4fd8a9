/* Dominated values: s beats t when it costs no more whatever the neighbours do, and occupies no more at any time.
 *
 * Of two values that beat each other the first stays. Cost: values^2 x values of the neighbours, cut short early.
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
  bool lowered = m->rules & SW_RULE_SEPARABLE;
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

sw_rc sel_rule_dominated(sel_model *m, int32_t v, sel_budget *b, sw_diag *d) {
  sel_var *x = &m->vars[v];
  x->stale = false;
  if (x->n < 2) return SW_OK;
  sel_tidy_edges(m, v);
  bool *keep, lost = false;
  SW_ARENA_NEW(keep, &m->mem, x->n, d);
  int64_t work = 0;
  for (int32_t t = 0; t < x->n; t++) keep[t] = true;
  for (int32_t t = 0; t < x->n; t++)
    for (int32_t s = 0; s < x->n && keep[t]; s++) {
      if (s == t || !keep[s] || !beats(m, v, s, t, &work)) continue;
      if (s > t && beats(m, v, t, s, &work)) continue;
      sel_log_drop(m, v, t, "beaten", sel_name_value(m, v, s));
      keep[t] = false;
      lost = true;
    }
  sel_spend(b, work);
  return lost ? sel_keep_values(m, v, keep, d) : SW_OK;
}
