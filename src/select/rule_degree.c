/* Variables that need no search: one value left, or no memory and at most two neighbours.
 *
 *   before  a - v - b, v without uses     after  a - b, cost[a][b] += min over v of (a-v + v + v-b)
 *
 * Cost: values(v) x values(a) x values(b).
 */
#include "select/proof.h"

static sw_rc fix(sel_model *m, int32_t v, sw_diag *d) {
  sel_log_fold(m, v);
  sel_var *x = &m->vars[v];
  int32_t *table;
  SW_TRY(sel_record_new(m, v, -1, -1, &table, d));
  table[0] = x->id[0];
  m->offset = sw_cost_add(m->offset, x->cost[0]);
  x->gone = true;
  for (int32_t k = 0; k < x->edges.n; k++) {
    sel_edge *g = &m->edges[x->edges.at[k]];
    int32_t o = sel_other(g, v);
    sel_var *y = &m->vars[o];
    bool lost = false, *keep;
    SW_ARENA_NEW(keep, &m->mem, y->n, d);
    for (int32_t t = 0; t < y->n; t++) {
      y->cost[t] = sw_cost_add(y->cost[t], sel_edge_at(m, g, v, 0, t));
      lost |= !(keep[t] = !sel_bad(y->cost[t]));
    }
    g->gone = true;
    if (lost) sel_log_forbidden(m, o, keep);
    SW_TRY(lost ? sel_keep_values(m, o, keep, d) : sel_queue_var(m, o, d));
  }
  return SW_OK;
}

static sw_rc take_cheapest(sel_model *m, int32_t v, sw_diag *d) {
  sel_log_fold(m, v);
  sel_var *x = &m->vars[v];
  int32_t best = 0, *table;
  for (int32_t s = 1; s < x->n; s++)
    if (x->cost[s] < x->cost[best]) best = s;
  SW_TRY(sel_record_new(m, v, -1, -1, &table, d));
  table[0] = x->id[best];
  m->offset = sw_cost_add(m->offset, x->cost[best]);
  x->gone = true;
  return SW_OK;
}

static sw_rc fold_leaf(sel_model *m, int32_t v, sw_diag *d) {
  sel_log_fold(m, v);
  sel_var *x = &m->vars[v];
  sel_edge *g = &m->edges[x->edges.at[0]];
  int32_t a = sel_other(g, v), *table;
  sel_var *y = &m->vars[a];
  bool *keep, lost = false;
  SW_ARENA_NEW(keep, &m->mem, y->n, d);
  SW_TRY(sel_record_new(m, v, a, -1, &table, d));
  for (int32_t t = 0; t < y->n; t++) {
    int64_t best = SW_FORBIDDEN;
    for (int32_t s = 0; s < x->n; s++) {
      int64_t c = sw_cost_add(x->cost[s], sel_edge_at(m, g, v, s, t));
      if (c >= best) continue;
      best = c;
      table[y->id[t]] = x->id[s];
    }
    y->cost[t] = sw_cost_add(y->cost[t], best);
    lost |= !(keep[t] = !sel_bad(y->cost[t]));
  }
  x->gone = g->gone = true;
  if (lost) sel_log_forbidden(m, a, keep);
  return lost ? sel_keep_values(m, a, keep, d) : sel_queue_var(m, a, d);
}

static sw_rc fold_middle(sel_model *m, int32_t v, sw_diag *d) {
  sel_log_fold(m, v);
  sel_var *x = &m->vars[v];
  sel_edge *ga = &m->edges[x->edges.at[0]], *gb = &m->edges[x->edges.at[1]];
  int32_t a = sel_other(ga, v), b = sel_other(gb, v), *table;
  sel_var *ya = &m->vars[a], *yb = &m->vars[b];
  int64_t *costs;
  SW_ARENA_NEW(costs, &m->mem, (size_t)ya->n * (size_t)yb->n, d);
  SW_TRY(sel_record_new(m, v, a, b, &table, d));
  for (int32_t s = 0; s < ya->n; s++)
    for (int32_t t = 0; t < yb->n; t++) {
      int64_t best = SW_FORBIDDEN;
      int32_t arg = 0;
      for (int32_t k = 0; k < x->n; k++) {
        int64_t c = x->cost[k] + sel_edge_at(m, ga, v, k, s) + sel_edge_at(m, gb, v, k, t); /* <= 3 x 10^18 */
        if (c >= best) continue;
        best = c;
        arg = k;
      }
      costs[(int64_t)s * yb->n + t] = best;
      table[ya->id[s] * yb->n0 + yb->id[t]] = x->id[arg];
    }
  x->gone = ga->gone = gb->gone = true;
  sel_tidy_edges(m, a);
  sel_tidy_edges(m, b);
  return sel_add_edge(m, a, b, costs, d);
}

sw_rc sel_rule_degree(sel_model *m, int32_t v, sw_diag *d) {
  sel_var *x = &m->vars[v];
  sel_tidy_edges(m, v);
  if (x->n == 1 && x->n_spans == 0) return fix(m, v, d);
  if (x->n_spans > 0) return SW_OK;
  if (x->edges.n == 0) return take_cheapest(m, v, d);
  if (!(m->rules & SW_RULE_DEGREE)) return SW_OK;
  if (x->edges.n == 1) return fold_leaf(m, v, d);
  return x->edges.n == 2 ? fold_middle(m, v, d) : SW_OK;
}
