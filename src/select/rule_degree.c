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

/* Entries (t, v + v-b) of the values of v that are not forbidden, those of value k at [first[k], first[k + 1]). */
typedef struct middle {
  int32_t *first, *t;
  int64_t *cost;
} middle;

static sw_rc list_middle(const sel_model *m, int32_t v, const sel_edge *gb, int32_t n_b, middle *out, sw_diag *d) {
  const sel_var *x = &m->vars[v];
  size_t most = (size_t)x->n * (size_t)n_b;
  char *block; /* of all three */
  SW_MEM_NEW(block, most * (sizeof *out->cost + sizeof *out->t) + ((size_t)x->n + 1) * sizeof *out->first, d);
  out->cost = (int64_t *)(void *)block;
  out->t = (int32_t *)(void *)(block + most * sizeof *out->cost);
  out->first = out->t + most;
  int32_t n = 0;
  for (int32_t k = 0; k < x->n; k++) {
    for (int32_t t = 0; t < n_b; t++) {
      int64_t c = sel_edge_at(m, gb, v, k, t);
      if (sel_bad(c)) continue;
      out->t[n] = t;
      out->cost[n++] = x->cost[k] + c;
    }
    out->first[k + 1] = n;
  }
  return SW_OK;
}

/* costs[t] = the least sum over the values of v for value s of a, and arg[t] the first that gives it. */
static void cheapest_middle(const sel_model *m, int32_t v, const sel_edge *ga, int32_t s, const middle *list,
                            int64_t *costs, int32_t *arg) {
  for (int32_t k = 0; k < m->vars[v].n; k++) {
    int64_t in = sel_edge_at(m, ga, v, k, s);
    if (sel_bad(in)) continue;
    for (int32_t e = list->first[k]; e < list->first[k + 1]; e++) {
      int64_t c = in + list->cost[e]; /* <= 3 x 10^18 */
      int32_t t = list->t[e];
      if (c >= costs[t]) continue;
      costs[t] = c;
      arg[t] = k;
    }
  }
}

static sw_rc fold_middle(sel_model *m, int32_t v, sw_diag *d) {
  sel_log_fold(m, v);
  sel_var *x = &m->vars[v];
  sel_edge *ga = &m->edges[x->edges.at[0]], *gb = &m->edges[x->edges.at[1]];
  int32_t a = sel_other(ga, v), b = sel_other(gb, v), *table, *arg;
  sel_var *ya = &m->vars[a], *yb = &m->vars[b];
  middle list;
  int64_t *costs;
  SW_ARENA_NEW(costs, &m->mem, (size_t)ya->n * (size_t)yb->n, d);
  SW_ARENA_NEW(arg, &m->mem, yb->n, d);
  SW_TRY(sel_record_new(m, v, a, b, &table, d));
  SW_TRY(list_middle(m, v, gb, yb->n, &list, d));
  for (int32_t s = 0; s < ya->n; s++) {
    int64_t *row = costs + (int64_t)s * yb->n;
    for (int32_t t = 0; t < yb->n; t++) row[t] = SW_FORBIDDEN, arg[t] = 0;
    cheapest_middle(m, v, ga, s, &list, row, arg);
    for (int32_t t = 0; t < yb->n; t++) table[ya->id[s] * yb->n0 + yb->id[t]] = x->id[arg[t]];
  }
  sw_mem_free(list.cost);
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
