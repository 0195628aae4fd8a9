/* Nodes that pay the same: without memory, with equal costs and equal tables to the same neighbours.
 *
 * Whatever the neighbours choose, the choice that is best for one is best for the other, so both may take the same:
 * one goes, the costs and tables of the other count for two. With memory that does not hold: there one may have to be
 * frugal and leave the room to the other.
 *
 * Example: x and y, both beside a and b, cost 5 or 2 each; y goes, and x costs 10 or 4.
 */
#include "select/proof.h"

/* Sums of the costs of so many stay below what is forbidden, so that no choice is lost on the way. */
enum { MOST_IDENTICAL = 1024 };
static const int64_t kMostCost = SW_FORBIDDEN / (MOST_IDENTICAL + 1);

/* No memory, a choice to make, and neighbours. */
static bool can_be_identical(sel_model *m, int32_t v) {
  const sel_var *x = &m->vars[v];
  if (x->gone || x->n_spans > 0 || x->n < 2) return false;
  sel_tidy_edges(m, v);
  return x->edges.n > 0;
}

/* Equal for nodes that may be identical. */
static uint64_t look_of(const sel_model *m, int32_t v) {
  const sel_var *x = &m->vars[v];
  uint64_t near = 0;
  for (int32_t k = 0; k < x->edges.n; k++) near += sw_hash_u64((uint64_t)sel_other(&m->edges[x->edges.at[k]], v), 1);
  return sw_hash_u64(near + (uint64_t)x->edges.n, sw_hash_quick(x->cost, (size_t)x->n * sizeof *x->cost));
}

static bool same_table(const sel_model *m, const sel_edge *g, int32_t u, const sel_edge *h, int32_t v) {
  int32_t n = m->vars[u].n, others = m->vars[sel_other(g, u)].n;
  if (g->v == h->v && (g->i == u) == (h->i == v) && g->shared) return true;
  for (int32_t s = 0; s < n; s++)
    for (int32_t t = 0; t < others; t++)
      if (sel_edge_at(m, g, u, s, t) != sel_edge_at(m, h, v, s, t)) return false;
  return true;
}

static bool identical(const sel_model *m, int32_t u, int32_t v, int64_t *work) {
  const sel_var *x = &m->vars[u], *y = &m->vars[v];
  if (x->n != y->n || x->edges.n != y->edges.n) return false;
  for (int32_t s = 0; s < x->n; s++)
    if (x->cost[s] != y->cost[s] || x->cost[s] > kMostCost) return false;
  for (int32_t k = 0; k < x->edges.n; k++) {
    const sel_edge *g = &m->edges[x->edges.at[k]];
    int32_t h = sel_find_edge(m, v, sel_other(g, u));
    if (h < 0) return false;
    *work += (int64_t)x->n * m->vars[sel_other(g, u)].n;
    if (!same_table(m, g, u, &m->edges[h], v)) return false;
  }
  return true;
}

typedef struct identicals {
  int32_t *of;    /* per variable: the first that it is identical with, or -1 */
  int32_t *alike; /* per first: how many there are */
  int32_t n;
} identicals;

static sw_rc find_identical(sel_model *m, identicals *w, sel_budget *b, sw_diag *d) {
  sw_dict seen = {0};
  sw_rc rc = SW_OK;
  int64_t work = 0;
  for (int32_t v = 0; v < m->n && !rc; v++) {
    w->of[v] = -1;
    if (!can_be_identical(m, v)) continue;
    uint64_t key = look_of(m, v);
    int64_t *slot;
    bool fresh;
    rc = sw_dict_put(&seen, &key, sizeof key, v, &slot, &fresh, d);
    if (rc || fresh) continue;
    int32_t first = (int32_t)*slot;
    if (w->alike[first] + 1 >= MOST_IDENTICAL || !identical(m, first, v, &work)) continue;
    w->of[v] = first;
    w->alike[first]++;
    w->n++;
  }
  sw_dict_deinit(&seen);
  sel_spend(b, work);
  return rc;
}

sw_rc sel_rule_identical(sel_model *m, sel_budget *b, sw_diag *d) {
  identicals w = {0};
  int32_t most = 1, *same, *times;
  SW_ARENA_NEW(w.of, &m->mem, m->n, d);
  SW_ARENA_NEW(w.alike, &m->mem, m->n, d);
  SW_TRY(find_identical(m, &w, b, d));
  if (w.n == 0) return SW_OK;
  for (int32_t v = 0; v < m->n; v++) most = m->vars[v].n > most ? m->vars[v].n : most;
  SW_ARENA_NEW(same, &m->mem, most, d);
  SW_ARENA_NEW(times, &m->mem, m->n, d);
  for (int32_t s = 0; s < most; s++) same[s] = s;
  for (int32_t v = 0; v < m->n && !m->infeasible; v++) {
    if (w.of[v] < 0) continue;
    sel_log_tie(m, v, w.of[v], ++times[w.of[v]]);
    sel_count(m, SW_RULE_IDENTICAL, 1);
    SW_TRY(sel_merge(m, -1, v, w.of[v], same, d));
  }
  return SW_OK;
}
