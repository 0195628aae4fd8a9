/* The problem that a certificate changes: built, copied, looked up. */
#include <stdlib.h>
#include <string.h>

#include "select/check/check.h"
#include "base/lists.h"

static bool occupies(const sw_usage *u, int32_t n) {
  bool any = false;
  for (int32_t s = 0; s < n; s++) any |= u->amount[s] > 0;
  return any && u->begin < u->end;
}

static int32_t place_of_time(const int64_t *time, int32_t n, int64_t t) {
  const int64_t *at = n ? bsearch(&t, time, (size_t)n, sizeof t, sw_compare_i64) : NULL;
  return at ? (int32_t)(at - time) : -1;
}

/* Steps begin where uses begin or end; nothing is used after the last end. */
static sw_rc find_steps(chk_state *s, const sw_problem *p, sw_diag *d) {
  size_t n = 0, k = 0;
  for (int32_t i = 0; i < p->n_nodes; i++) n += 2 * (size_t)p->nodes[i].n_uses;
  int64_t *t;
  SW_ARENA_NEW(t, &s->mem, n, d);
  for (int32_t i = 0; i < p->n_nodes; i++)
    for (int32_t a = 0; a < p->nodes[i].n_uses; a++) {
      const sw_usage *u = &p->nodes[i].uses[a];
      if (!occupies(u, p->nodes[i].n_choices)) continue;
      t[k++] = u->begin;
      t[k++] = u->end;
    }
  s->n_steps = sw_sort_unique(t, (int32_t)k);
  s->time = t;
  SW_ARENA_NEW(s->kept, &s->mem, s->n_steps, d);
  SW_ARENA_NEW(s->fixed, &s->mem, (size_t)s->n_steps + 1, d);
  for (int32_t a = 0; a + 1 < s->n_steps; a++) s->kept[a] = true;
  return SW_OK;
}

static sw_rc init_node(chk_state *s, const sw_node *from, chk_node *to, sw_diag *d) {
  to->n = from->n_choices;
  SW_ARENA_NEW_EACH(&s->mem, to->n, d, to->alive, to->cost);
  SW_ARENA_NEW(to->spans, &s->mem, from->n_uses, d);
  for (int32_t a = 0; a < to->n; a++) {
    to->alive[a] = true;
    to->cost[a] = from->cost[a];
  }
  for (int32_t k = 0; k < from->n_uses; k++)
    if (occupies(&from->uses[k], to->n))
      to->spans[to->n_spans++] =
          (chk_span){place_of_time(s->time, s->n_steps, from->uses[k].begin),
                     place_of_time(s->time, s->n_steps, from->uses[k].end), from->uses[k].amount};
  return SW_OK;
}

static sw_rc attach(chk_state *s, int32_t v, int32_t e, sw_diag *d) {
  chk_node *x = &s->nodes[v];
  SW_ARENA_ROOM(x->edges, x->n_edges, x->cap_edges, &s->mem, d);
  x->edges[x->n_edges++] = e;
  return SW_OK;
}

/* An edge of the problem; one that joins the same pair as an earlier one is added to it. */
static sw_rc init_edge(chk_state *s, const sw_edge *g, sw_diag *d) {
  int32_t e = chk_find(s, g->i, g->j), rows = s->nodes[g->i].n, cols = s->nodes[g->j].n;
  if (e < 0) {
    e = s->n_edges++;
    s->edges[e] =
        (chk_edge){g->i, g->j, sw_arena_copy(&s->mem, g->cost, (size_t)rows * (size_t)cols, sizeof *g->cost, d), false};
    if (!s->edges[e].v) return SW_E_RESOURCE;
    SW_TRY(attach(s, g->i, e, d));
    return attach(s, g->j, e, d);
  }
  for (int32_t a = 0; a < rows; a++)
    for (int32_t b = 0; b < cols; b++) {
      int64_t *c = chk_cell(s, &s->edges[e], g->i, a, b);
      *c = sw_cost_add(*c, g->cost[(int64_t)a * cols + b]);
    }
  return SW_OK;
}

sw_rc chk_init(chk_state *s, const sw_problem *p, sw_diag *d) {
  *s = (chk_state){.n = p->n_nodes, .limit = p->limit};
  SW_TRY(find_steps(s, p, d));
  SW_ARENA_NEW(s->nodes, &s->mem, s->n, d);
  SW_ARENA_NEW(s->edges, &s->mem, p->n_edges, d);
  s->cap_edges = p->n_edges;
  for (int32_t i = 0; i < s->n; i++) SW_TRY(init_node(s, &p->nodes[i], &s->nodes[i], d));
  for (int32_t e = 0; e < p->n_edges; e++) SW_TRY(init_edge(s, &p->edges[e], d));
  return SW_OK;
}

static sw_rc copy_node(chk_state *to, chk_node *x, sw_diag *d) {
  x->alive = sw_arena_copy(&to->mem, x->alive, (size_t)x->n, sizeof *x->alive, d);
  x->cost = sw_arena_copy(&to->mem, x->cost, (size_t)x->n, sizeof *x->cost, d);
  x->edges = sw_arena_copy(&to->mem, x->edges, (size_t)x->n_edges, sizeof *x->edges, d);
  x->spans = sw_arena_copy(&to->mem, x->spans, (size_t)x->n_spans, sizeof *x->spans, d);
  x->cap_edges = x->n_edges;
  x->cap_spans = x->n_spans;
  return x->alive && x->cost && x->edges && x->spans ? SW_OK : SW_E_RESOURCE;
}

sw_rc chk_copy(chk_state *to, const chk_state *from, sw_diag *d) {
  size_t steps = (size_t)from->n_steps;
  *to = *from;
  to->mem = to->scratch = (sw_arena){0};
  to->base = NULL;
  to->rank = NULL;
  to->ranked = false;
  to->nodes = sw_arena_copy(&to->mem, from->nodes, (size_t)from->n, sizeof *to->nodes, d);
  to->edges = sw_arena_copy(&to->mem, from->edges, (size_t)from->n_edges, sizeof *to->edges, d);
  to->kept = sw_arena_copy(&to->mem, from->kept, steps, sizeof *to->kept, d);
  to->fixed = sw_arena_copy(&to->mem, from->fixed, steps + 1, sizeof *to->fixed, d);
  to->cap_edges = from->n_edges;
  if (!to->nodes || !to->edges || !to->kept || !to->fixed) return SW_E_RESOURCE;
  for (int32_t i = 0; i < to->n; i++)
    if (!to->nodes[i].gone) SW_TRY(copy_node(to, &to->nodes[i], d));
  for (int32_t e = 0; e < to->n_edges; e++) {
    chk_edge *g = &to->edges[e];
    if (g->gone) continue;
    g->v = sw_arena_copy(&to->mem, g->v, (size_t)to->nodes[g->i].n * (size_t)to->nodes[g->j].n, sizeof *g->v, d);
    if (!g->v) return SW_E_RESOURCE;
  }
  return SW_OK;
}

void chk_deinit(chk_state *s) {
  sw_arena_deinit(&s->mem);
  sw_arena_deinit(&s->scratch);
}

/* rank[t] = how many steps before t count. */
static sw_rc find_ranks(chk_state *s) {
  if (s->ranked) return SW_OK;
  if (!s->rank) SW_ARENA_NEW(s->rank, &s->mem, (size_t)s->n_steps + 1, NULL);
  for (int32_t t = 0; t < s->n_steps; t++) s->rank[t + 1] = s->rank[t] + s->kept[t];
  s->ranked = true;
  return SW_OK;
}

static int32_t place_of_step(const int32_t *cut, int32_t n, int32_t t) {
  return (int32_t)((const int32_t *)bsearch(&t, cut, (size_t)n, sizeof t, sw_compare_i32) - cut);
}

/* Uses begin and end at the cuts; between two of them every choice occupies the same all the time. */
sw_rc chk_profile_of(chk_state *s, const chk_node *x, chk_profile *out) {
  int32_t *cut, *end, n = 0, kept = 0;
  sw_i128 *use;
  sw_arena_reset(&s->scratch);
  SW_TRY(find_ranks(s));
  SW_ARENA_NEW_EACH(&s->scratch, 2 * (size_t)x->n_spans, NULL, cut, end);
  for (int32_t k = 0; k < x->n_spans; k++) {
    cut[2 * (size_t)k] = x->spans[k].begin;
    cut[2 * (size_t)k + 1] = x->spans[k].end;
  }
  qsort(cut, 2 * (size_t)x->n_spans, sizeof *cut, sw_compare_i32);
  for (int32_t k = 0; k < 2 * x->n_spans; k++)
    if (k == 0 || cut[k] != cut[n - 1]) cut[n++] = cut[k];
  SW_ARENA_NEW(use, &s->scratch, (size_t)n * (size_t)x->n, NULL);
  for (int32_t k = 0; k < x->n_spans; k++) {
    sw_i128 *from = use + (int64_t)place_of_step(cut, n, x->spans[k].begin) * x->n;
    sw_i128 *to = use + (int64_t)place_of_step(cut, n, x->spans[k].end) * x->n;
    for (int32_t a = 0; a < x->n; a++) {
      from[a] += x->spans[k].amount[a];
      to[a] -= x->spans[k].amount[a];
    }
  }
  for (int64_t c = x->n; c < (int64_t)n * x->n; c++) use[c] += use[c - x->n];
  for (int32_t k = 0; k + 1 < n; k++) {
    if (s->rank[cut[k]] == s->rank[cut[k + 1]]) continue;
    memmove(use + (int64_t)kept * x->n, use + (int64_t)k * x->n, (size_t)x->n * sizeof *use);
    end[kept] = cut[k + 1];
    cut[kept++] = cut[k];
  }
  *out = (chk_profile){kept, cut, end, use};
  return SW_OK;
}

int32_t chk_find(const chk_state *s, int32_t a, int32_t b) {
  const chk_node *x = &s->nodes[a];
  if (a == b) return -1;
  if (s->nodes[b].n_edges < x->n_edges) {
    x = &s->nodes[b];
    b = a;
  }
  for (int32_t k = 0; k < x->n_edges; k++) {
    const chk_edge *g = &s->edges[x->edges[k]];
    if (!g->gone && (g->i == b || g->j == b)) return x->edges[k];
  }
  return -1;
}

int32_t chk_alive(const chk_node *v) {
  int32_t n = 0;
  for (int32_t a = 0; a < v->n; a++) n += v->alive[a];
  return n;
}

int32_t chk_step(const chk_state *s, int64_t time) {
  int32_t t = place_of_time(s->time, s->n_steps, time);
  return t >= 0 && s->kept[t] ? t : -1;
}

bool chk_has_empty_node(const chk_state *s) {
  for (int32_t i = 0; i < s->n; i++)
    if (!s->nodes[i].gone && chk_alive(&s->nodes[i]) == 0) return true;
  return false;
}
