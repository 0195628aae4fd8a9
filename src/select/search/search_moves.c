/* Tree moves: the best re-choice of many variables at once, where dynamic programming can find it.
 *
 * A set of variables is grown from a random one; a variable joins when exactly one of its neighbours is in. The set
 * then induces a tree, and the least cost of its variables given all others comes from one sweep to the root. Going
 * back down every variable takes its best value that memory allows; when none of the first few does, the move is
 * undone.
 *
 *   a - b - c      b grown first, then a and c; d joins neither when both a and c are its neighbours
 *    \ d /
 */
#include "select/search/search_moves.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"

enum { LOG_TREE = 7, MOST_TREE = 1 << LOG_TREE, MOST_TRIES = 6, MOST_VALUES = 1 << 14 };

sw_rc sel_mover_init(sel_mover *m, const sel_field *f, uint64_t seed, sw_arena *mem, sw_diag *d) {
  *m = (sel_mover){.f = f};
  sw_rng_seed(&m->rng, seed);
  int32_t n = f->c->n, most = 1;
  for (int32_t i = 0; i < n; i++) most = f->c->dom[i] > most ? f->c->dom[i] : most;
  SW_ARENA_NEW_EACH(mem, n, d, m->mark, m->place);
  SW_ARENA_NEW_EACH(mem, MOST_TREE, d, m->tree, m->parent, m->via, m->undo);
  SW_ARENA_NEW(m->up_first, mem, MOST_TREE + 1, d);
  SW_ARENA_NEW(m->up, mem, MOST_VALUES + (size_t)most, d);
  SW_ARENA_NEW(m->least, mem, most, d);
  SW_ARENA_NEW(m->rim, mem, 2 * (size_t)f->c->n_pairs + 1, d);
  return SW_OK;
}

static void join_tree(sel_mover *m, int32_t v, int32_t via, int32_t *n_rim) {
  const sel_field *f = m->f;
  int32_t at = m->n_tree++;
  m->tree[at] = v;
  m->place[v] = at;
  m->via[at] = via;
  m->parent[at] = via < 0 ? -1 : m->place[f->near[via].other];
  m->up_first[at + 1] = m->up_first[at] + f->c->dom[v];
  for (int32_t k = f->first_near[v]; k < f->first_near[v + 1]; k++) {
    int32_t o = f->near[k].other;
    if (m->mark[o] == m->stamp) {
      m->mark[o] = -m->stamp; /* a second neighbour is in: never joins */
    } else if (m->mark[o] != -m->stamp) {
      m->mark[o] = m->stamp;
      m->rim[(*n_rim)++] = o;
    }
  }
  m->mark[v] = -m->stamp;
}

/* The near entry of v that leads into the tree. */
static int32_t link_in(const sel_mover *m, int32_t v) {
  const sel_field *f = m->f;
  for (int32_t k = f->first_near[v]; k < f->first_near[v + 1]; k++) {
    int32_t o = f->near[k].other, at = m->place[o];
    if (at < m->n_tree && m->tree[at] == o) return k;
  }
  return -1;
}

static void grow_tree(sel_mover *m, int32_t size) {
  const sel_field *f = m->f;
  m->stamp++;
  m->n_tree = 0;
  m->up_first[0] = 0;
  int32_t n_rim = 0, root = (int32_t)sw_rng_below(&m->rng, f->c->n);
  m->mark[root] = -m->stamp;
  join_tree(m, root, -1, &n_rim);
  while (m->n_tree < size && n_rim > 0) {
    int32_t k = (int32_t)sw_rng_below(&m->rng, n_rim), v = m->rim[k];
    m->rim[k] = m->rim[--n_rim];
    if (m->mark[v] != m->stamp) continue;
    if (m->up_first[m->n_tree] + f->c->dom[v] > MOST_VALUES) break;
    join_tree(m, v, link_in(m, v), &n_rim);
  }
}

/* least[t] = min over a of up[a] + table[a][t]. */
SW_SIMD_CLONES static void fold(const double *up, int32_t n, const int64_t *table, int32_t n_other,
                                double *restrict least) {
  for (int32_t t = 0; t < n_other; t++) least[t] = INFINITY;
  for (int32_t a = 0; a < n; a++) {
    const int64_t *line = table + (int64_t)a * n_other;
    for (int32_t t = 0; t < n_other; t++) {
      const double c = up[a] + (double)line[t];
      least[t] = c < least[t] ? c : least[t];
    }
  }
}

/* up[place][v] = local cost + price, without the edges to tree neighbours; then children are folded into parents. */
static int64_t sweep_up(sel_mover *m, const sel_state *s) {
  const sel_field *f = m->f;
  int64_t cells = 0;
  for (int32_t at = 0; at < m->n_tree; at++) {
    int32_t v = m->tree[at], n = f->c->dom[v];
    const int64_t *q = s->local + f->offset[v];
    double *up = m->up + m->up_first[at];
    for (int32_t a = 0; a < n; a++) up[a] = (double)q[a];
    if (m->weight > 0)
      for (int32_t a = 0; a < n; a++) up[a] += m->weight * m->price[f->offset[v] + a];
  }
  for (int32_t at = 1; at < m->n_tree; at++) { /* take each tree edge out of both ends */
    const sel_near *g = &f->near[m->via[at]];
    int32_t v = m->tree[at], n = f->c->dom[v];
    double *up = m->up + m->up_first[at], *over = m->up + m->up_first[m->parent[at]];
    const int64_t *mine = g->turned + (int64_t)s->x[g->other] * n, *its = g->v + (int64_t)s->x[v] * g->n_other;
    for (int32_t a = 0; a < n; a++) up[a] -= (double)mine[a];
    for (int32_t t = 0; t < g->n_other; t++) over[t] -= (double)its[t];
  }
  for (int32_t at = m->n_tree - 1; at > 0; at--) {
    const sel_near *g = &f->near[m->via[at]];
    int32_t n = f->c->dom[m->tree[at]];
    const double *up = m->up + m->up_first[at];
    double *over = m->up + m->up_first[m->parent[at]];
    fold(up, n, g->v, g->n_other, m->least);
    for (int32_t t = 0; t < g->n_other; t++) over[t] += m->least[t];
    cells += (int64_t)n * g->n_other;
  }
  return cells;
}

/* Give the variable at a place its best value that fits, given its parent's; false when the first few do not. */
static bool settle_variable(sel_mover *m, sel_state *s, int32_t at) {
  const sel_field *f = m->f;
  int32_t v = m->tree[at], n = f->c->dom[v];
  double *up = m->up + m->up_first[at];
  if (at > 0) {
    const sel_near *g = &f->near[m->via[at]];
    const int64_t *line = g->turned + (int64_t)s->x[g->other] * n;
    for (int32_t a = 0; a < n; a++) up[a] += (double)line[a];
  }
  for (int tries = 0; tries < MOST_TRIES && tries < n; tries++) {
    int32_t best = s->x[v]; /* ties stay */
    for (int32_t a = 0; a < n; a++)
      if (up[a] < up[best]) best = a;
    if (up[best] >= INFINITY) return false;
    if (sel_state_fits(s, v, best)) {
      sel_state_change(s, v, best);
      return true;
    }
    up[best] = INFINITY;
  }
  return false;
}

static double priced(const sel_mover *m, const sel_state *s) {
  double sum = 0;
  if (m->weight > 0)
    for (int32_t at = 0; at < m->n_tree; at++) sum += m->price[m->f->offset[m->tree[at]] + s->x[m->tree[at]]];
  return m->weight * sum;
}

/* Grow a random induced forest of at most `size` variables, re-solve it given the rest, and keep the result when it is
 * allowed and passes the Metropolis test at `heat`. Returns whether the state changed. */
static bool tree_move(sel_mover *m, sel_state *s, int32_t size, double heat, sel_budget *b) {
  grow_tree(m, size < MOST_TREE ? size : MOST_TREE);
  sel_spend(b, 16 + sweep_up(m, s));
  sw_i128 cost = s->cost;
  double before = priced(m, s);
  for (int32_t at = 0; at < m->n_tree; at++) m->undo[at] = s->x[m->tree[at]];
  bool ok = true, changed = false;
  int32_t done = 0;
  for (; done < m->n_tree && ok; done++) {
    ok = settle_variable(m, s, done);
    changed |= s->x[m->tree[done]] != m->undo[done];
  }
  if (!changed) return false;
  if (ok) {
    double worse = (double)(s->cost - cost) + priced(m, s) - before;
    ok = worse <= 0 || (heat > 0 && sw_rng_unit(&m->rng) < exp(-worse / heat));
  }
  if (ok) return true;
  for (int32_t at = done - 1; at >= 0; at--) sel_state_change(s, m->tree[at], m->undo[at]);
  return false;
}

static void keep_if_better(const sel_state *s, int32_t *best, int64_t *best_cost) {
  if (s->cost >= *best_cost || s->cost >= s->f->bad) return;
  *best_cost = (int64_t)s->cost;
  memcpy(best, s->x, (size_t)s->f->c->n * sizeof *best);
}

void sel_anneal(sel_mover *m, sel_state *s, double heat, sel_budget *b, int32_t *best, int64_t *best_cost) {
  enum { PHASE = 256 };
  if (s->f->c->n == 0) return;
  keep_if_better(s, best, best_cost);
  while (!sel_stop(b)) {
    static const double kWeights[] = {1.0, 0.0, 0.5, 1.0};
    m->weight = m->price ? kWeights[sw_rng_below(&m->rng, sizeof kWeights / sizeof *kWeights)] : 0;
    int32_t size = 1 << sw_rng_below(&m->rng, LOG_TREE + 1);
    for (int k = 0; k < PHASE / size + 8; k++)
      if (tree_move(m, s, size, heat, b)) keep_if_better(s, best, best_cost);
  }
}
