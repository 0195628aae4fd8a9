/* The steps of a certificate, each checked and done.
 *
 * Why each is right: "lower" moves costs between a table and a node, which no choice can tell; a dropped choice is not
 * allowed, cannot fit, or has another that does as well; a merged node has no choice of its own; a folded node always
 * takes what is best beside its neighbours; so do two nodes that cost the same, or one a multiple; forgetting a step
 * only allows more.
 */
#include <string.h>

#include "select/check/check.h"

chk_verdict chk_lower(chk_state *s, int32_t i, int32_t j) {
  int32_t e = chk_find(s, i, j);
  if (e < 0) return "there is no table between the two nodes";
  chk_node *x = &s->nodes[i], *y = &s->nodes[j];
  for (int32_t a = 0; a < x->n; a++) {
    int64_t least = SW_FORBIDDEN;
    for (int32_t b = 0; x->alive[a] && b < y->n; b++)
      if (y->alive[b]) least = sw_min_i64(least, *chk_cell(s, &s->edges[e], i, a, b));
    if (!x->alive[a] || chk_forbidden(least)) continue;
    x->cost[a] = sw_cost_add(x->cost[a], least);
    for (int32_t b = 0; b < y->n; b++) {
      int64_t *c = chk_cell(s, &s->edges[e], i, a, b);
      if (y->alive[b] && !chk_forbidden(*c)) *c -= least;
    }
  }
  return NULL;
}

chk_verdict chk_drop_forbidden(chk_state *s, int32_t v, int32_t a) {
  if (!chk_forbidden(s->nodes[v].cost[a])) return "the choice is not forbidden";
  s->nodes[v].alive[a] = false;
  return NULL;
}

chk_verdict chk_drop_alone(chk_state *s, int32_t v, int32_t a, int32_t beside) {
  int32_t e = chk_find(s, v, beside);
  if (e < 0) return "there is no table between the two nodes";
  const chk_node *y = &s->nodes[beside];
  for (int32_t b = 0; b < y->n; b++)
    if (y->alive[b] && !chk_forbidden(*chk_cell(s, &s->edges[e], v, a, b)))
      return "the choice is allowed beside another";
  s->nodes[v].alive[a] = false;
  return NULL;
}

chk_verdict chk_drop_beaten(chk_state *s, int32_t v, int32_t a, int32_t by, sw_rc *rc) {
  chk_node *x = &s->nodes[v];
  chk_profile u;
  if (by < 0 || by >= x->n || by == a || !x->alive[by]) return "the better choice is not one that is left";
  if ((*rc = chk_profile_of(s, x, &u))) return NULL;
  for (int32_t k = 0; k < u.n; k++)
    if (u.use[(int64_t)k * x->n + by] > u.use[(int64_t)k * x->n + a]) return "the other choice occupies more";
  sw_i128 worse = (sw_i128)x->cost[by] - x->cost[a];
  for (int32_t k = 0; k < x->n_edges; k++) {
    const chk_edge *g = &s->edges[x->edges[k]];
    if (g->gone) continue;
    const chk_node *y = &s->nodes[chk_other(g, v)];
    int64_t most = -SW_FORBIDDEN;
    for (int32_t b = 0; b < y->n; b++) {
      int64_t mine = *chk_cell(s, g, v, a, b), theirs = *chk_cell(s, g, v, by, b);
      if (!y->alive[b] || chk_forbidden(mine)) continue;
      if (chk_forbidden(theirs)) return "the other choice is forbidden where this one is not";
      most = sw_max_i64(most, theirs - mine);
    }
    worse += most;
  }
  if (worse > 0) return "the other choice can cost more";
  x->alive[a] = false;
  return NULL;
}

/* Of the choices left, in stretch k. */
static sw_i128 least_use(const chk_node *x, const chk_profile *u, int32_t k) {
  sw_i128 least = -1;
  for (int32_t a = 0; a < x->n; a++) {
    sw_i128 use = u->use[(int64_t)k * x->n + a];
    if (x->alive[a] && (least < 0 || use < least)) least = use;
  }
  return least < 0 ? 0 : least;
}

/* Of the same: does it vary with the choice? */
static bool varies(const chk_node *x, const chk_profile *u, int32_t k) {
  sw_i128 least = least_use(x, u, k);
  for (int32_t a = 0; a < x->n; a++)
    if (x->alive[a] && u->use[(int64_t)k * x->n + a] != least) return true;
  return false;
}

/* Fill `base`. */
static sw_rc find_base(chk_state *s) {
  if (!s->base) SW_ARENA_NEW(s->base, &s->mem, (size_t)s->n_steps + 1, NULL);
  memcpy(s->base, s->fixed, ((size_t)s->n_steps + 1) * sizeof *s->base);
  for (int32_t i = 0; i < s->n; i++) {
    const chk_node *x = &s->nodes[i];
    chk_profile u;
    if (x->gone || x->n_spans == 0) continue;
    SW_TRY(chk_profile_of(s, x, &u));
    for (int32_t k = 0; k < u.n; k++) {
      sw_i128 least = least_use(x, &u, k);
      s->base[u.begin[k]] += least;
      s->base[u.end[k]] -= least;
    }
  }
  for (int32_t t = 1; t < s->n_steps; t++) s->base[t] += s->base[t - 1];
  return SW_OK;
}

/* What choice a of v adds at step t beyond the least that v occupies there. */
static sw_rc beyond_base(chk_state *s, const chk_node *x, int32_t a, int32_t t, sw_i128 *more) {
  chk_profile u;
  *more = 0;
  SW_TRY(chk_profile_of(s, x, &u));
  for (int32_t k = 0; k < u.n; k++)
    if (u.begin[k] <= t && t < u.end[k]) *more = u.use[(int64_t)k * x->n + a] - least_use(x, &u, k);
  return SW_OK;
}

chk_verdict chk_drop_heavy(chk_state *s, int32_t v, int32_t a, int64_t time, sw_rc *rc) {
  int32_t t = chk_step(s, time);
  if (t < 0) return "no step that counts begins at this time";
  sw_i128 more;
  *rc = beyond_base(s, &s->nodes[v], a, t, &more);
  if (!*rc && (!s->base || s->base[t] + more <= s->limit)) *rc = find_base(s);
  if (*rc) return NULL;
  if (s->base[t] + more <= s->limit) return "the choice fits";
  s->nodes[v].alive[a] = false;
  return NULL;
}

chk_verdict chk_overfull(chk_state *s, int64_t time, sw_rc *rc) {
  int32_t t = chk_step(s, time);
  if (t < 0) return "no step that counts begins at this time";
  *rc = find_base(s);
  if (*rc) return NULL;
  return s->base[t] > s->limit ? NULL : "the smallest amounts fit";
}

chk_verdict chk_forget(chk_state *s, int64_t time) {
  int32_t t = chk_step(s, time);
  if (t < 0) return "no step that counts begins at this time";
  s->kept[t] = s->ranked = false;
  return NULL;
}

void chk_forget_memory(chk_state *s) {
  s->ranked = false;
  memset(s->kept, 0, (size_t)s->n_steps * sizeof *s->kept);
  for (int32_t i = 0; i < s->n; i++) s->nodes[i].n_spans = 0;
}

/* Add v[a][b] (choices of i x choices of j) to the table between the two. */
static sw_rc add_table(chk_state *s, int32_t i, int32_t j, int64_t *v) {
  int32_t e = chk_find(s, i, j), cols = s->nodes[j].n;
  if (e >= 0) {
    for (int32_t a = 0; a < s->nodes[i].n; a++)
      for (int32_t b = 0; b < cols; b++) {
        int64_t *c = chk_cell(s, &s->edges[e], i, a, b);
        *c = sw_cost_add(*c, v[(int64_t)a * cols + b]);
      }
    return SW_OK;
  }
  SW_ARENA_ROOM(s->edges, s->n_edges, s->cap_edges, &s->mem, NULL);
  e = s->n_edges++;
  s->edges[e] = (chk_edge){i, j, v, false};
  int32_t ends[2] = {i, j};
  for (int k = 0; k < 2; k++) {
    chk_node *x = &s->nodes[ends[k]];
    if (x->n_edges == x->cap_edges) {
      int32_t cap = 2 * x->cap_edges + 4, *more, kept = 0;
      SW_ARENA_NEW(more, &s->mem, cap, NULL);
      for (int32_t a = 0; a < x->n_edges; a++)
        if (!s->edges[x->edges[a]].gone) more[kept++] = x->edges[a];
      x->edges = more;
      x->n_edges = kept;
      x->cap_edges = cap;
    }
    x->edges[x->n_edges++] = e;
  }
  return SW_OK;
}

/* What `gone` occupies follows the choice of `into`. */
static sw_rc move_spans(chk_state *s, int32_t gone, int32_t into, const int32_t *f) {
  chk_node *x = &s->nodes[into], *y = &s->nodes[gone];
  SW_TRY(sw_arena_grow(&s->mem, (void **)&x->spans, &x->cap_spans, x->n_spans, y->n_spans, sizeof *x->spans, NULL));
  for (int32_t k = 0; k < y->n_spans; k++) {
    int64_t *amount;
    SW_ARENA_NEW(amount, &s->mem, x->n, NULL);
    for (int32_t a = 0; a < x->n; a++) amount[a] = f[a] < 0 ? 0 : y->spans[k].amount[f[a]];
    x->spans[x->n_spans++] = (chk_span){y->spans[k].begin, y->spans[k].end, amount};
  }
  return SW_OK;
}

/* f[a] = the one choice of `gone` that choice a of `into` allows; -1 for choices that are gone themselves. */
static chk_verdict find_map(const chk_state *s, const chk_edge *g, int32_t gone, int32_t into, int32_t *f) {
  const chk_node *x = &s->nodes[into], *y = &s->nodes[gone];
  for (int32_t a = 0; a < x->n; a++) {
    f[a] = -1;
    for (int32_t b = 0; x->alive[a] && b < y->n; b++) {
      if (!y->alive[b] || chk_forbidden(*chk_cell(s, g, into, a, b))) continue;
      if (f[a] >= 0) return "a choice allows several of the node that goes";
      f[a] = b;
    }
    if (x->alive[a] && f[a] < 0) return "a choice allows none of the node that goes";
  }
  return NULL;
}

/* The tables and uses of `gone` become those of `into`. */
static sw_rc absorb(chk_state *s, int32_t gone, int32_t into, const int32_t *f) {
  const chk_node *x = &s->nodes[into];
  chk_node *y = &s->nodes[gone];
  y->gone = true;
  for (int32_t k = 0; k < y->n_edges; k++) {
    chk_edge *g = &s->edges[y->edges[k]];
    if (g->gone) continue;
    int32_t o = chk_other(g, gone), cols = s->nodes[o].n;
    int64_t *v;
    SW_ARENA_NEW(v, &s->mem, (size_t)x->n * (size_t)cols, NULL);
    for (int32_t a = 0; a < x->n; a++)
      for (int32_t b = 0; b < cols; b++) v[(int64_t)a * cols + b] = f[a] < 0 ? 0 : *chk_cell(s, g, gone, f[a], b);
    s->edges[y->edges[k]].gone = true;
    SW_TRY(add_table(s, into, o, v));
  }
  return move_spans(s, gone, into, f);
}

chk_verdict chk_merge(chk_state *s, int32_t gone, int32_t into, sw_rc *rc) {
  int32_t e = chk_find(s, gone, into), *f = sw_arena_alloc(&s->mem, (size_t)s->nodes[into].n, sizeof *f, NULL);
  if (e < 0) return "there is no table between the two nodes";
  if (!f) return *rc = SW_E_RESOURCE, NULL;
  chk_node *x = &s->nodes[into], *y = &s->nodes[gone];
  chk_verdict wrong = find_map(s, &s->edges[e], gone, into, f);
  if (wrong) return wrong;
  for (int32_t a = 0; a < x->n; a++)
    if (x->alive[a])
      x->cost[a] = sw_cost_add(x->cost[a], sw_cost_add(y->cost[f[a]], *chk_cell(s, &s->edges[e], into, a, f[a])));
  s->edges[e].gone = true;
  *rc = absorb(s, gone, into, f);
  return NULL;
}

/* A node that goes occupies the same whatever it chooses, as far as steps count. */
static chk_verdict settle_node_uses(chk_state *s, const chk_node *x, sw_rc *rc) {
  chk_profile u;
  if ((*rc = chk_profile_of(s, x, &u))) return NULL;
  for (int32_t k = 0; k < u.n; k++) {
    sw_i128 least = least_use(x, &u, k);
    if (varies(x, &u, k)) return "what the node occupies depends on its choice";
    s->fixed[u.begin[k]] += least;
    s->fixed[u.end[k]] -= least;
  }
  return NULL;
}

/* The only choice left: its costs beside the neighbours become theirs. */
static void fix(chk_state *s, int32_t v, int32_t a) {
  chk_node *x = &s->nodes[v];
  s->offset += x->cost[a];
  for (int32_t k = 0; k < x->n_edges; k++) {
    chk_edge *g = &s->edges[x->edges[k]];
    if (g->gone) continue;
    chk_node *y = &s->nodes[chk_other(g, v)];
    for (int32_t b = 0; b < y->n; b++)
      if (y->alive[b]) y->cost[b] = sw_cost_add(y->cost[b], *chk_cell(s, g, v, a, b));
    g->gone = true;
  }
}

static int64_t best_beside(const chk_state *s, int32_t v, chk_edge *const *g, int32_t n, int32_t a, int32_t b) {
  const chk_node *x = &s->nodes[v];
  int64_t best = SW_FORBIDDEN;
  for (int32_t k = 0; k < x->n; k++) {
    if (!x->alive[k]) continue;
    int64_t c = x->cost[k];
    if (n > 0) c = sw_cost_add(c, *chk_cell(s, g[0], v, k, a));
    if (n > 1) c = sw_cost_add(c, *chk_cell(s, g[1], v, k, b));
    best = sw_min_i64(best, c);
  }
  return best;
}

/* Such a table says nothing. */
static bool is_all_zero(const chk_state *s, const chk_edge *g) {
  const chk_node *x = &s->nodes[g->i], *y = &s->nodes[g->j];
  for (int32_t a = 0; a < x->n; a++)
    for (int32_t b = 0; x->alive[a] && b < y->n; b++)
      if (y->alive[b] && g->v[(int64_t)a * y->n + b]) return false;
  return true;
}

chk_verdict chk_fold(chk_state *s, int32_t v, sw_rc *rc) {
  chk_node *x = &s->nodes[v];
  chk_edge *g[2] = {NULL, NULL};
  int32_t n = 0, alive = chk_alive(x), first = 0;
  if (alive == 0) return "the node has no choice left";
  chk_verdict wrong = settle_node_uses(s, x, rc);
  if (wrong || *rc) return wrong;
  while (first < x->n && !x->alive[first]) first++;
  x->gone = true;
  if (alive == 1) return fix(s, v, first), NULL;
  for (int32_t k = 0; k < x->n_edges; k++) {
    chk_edge *e = &s->edges[x->edges[k]];
    e->gone = e->gone || is_all_zero(s, e);
    if (e->gone) continue;
    if (n == 2) return "the node has several choices and more than two neighbours";
    g[n++] = e;
  }
  for (int32_t k = 0; k < n; k++) g[k]->gone = true;
  if (n == 0) return s->offset += best_beside(s, v, g, 0, 0, 0), NULL;
  int32_t i = chk_other(g[0], v), j = n == 2 ? chk_other(g[1], v) : -1;
  chk_node *y = &s->nodes[i];
  if (n == 1) {
    for (int32_t a = 0; a < y->n; a++)
      if (y->alive[a]) y->cost[a] = sw_cost_add(y->cost[a], best_beside(s, v, g, 1, a, 0));
    return NULL;
  }
  int32_t cols = s->nodes[j].n;
  int64_t *table = sw_arena_alloc(&s->mem, (size_t)y->n * (size_t)cols, sizeof *table, NULL);
  if (!table) return *rc = SW_E_RESOURCE, NULL;
  for (int32_t a = 0; a < y->n; a++)
    for (int32_t b = 0; b < cols; b++)
      if (y->alive[a] && s->nodes[j].alive[b]) table[(int64_t)a * cols + b] = best_beside(s, v, g, 2, a, b);
  *rc = add_table(s, i, j, table);
  return NULL;
}
