/* Random selection problems for tests. */
#ifndef TESTS_SELECT_CASE_H_
#define TESTS_SELECT_CASE_H_

#include "check.h"
#include "shardwright/select.h"

/* A random problem in an arena. Everything small, so that exhaustive search is quick and ties are common. */
typedef struct shape {
  int nodes, choices, edges, uses, steps;
  int64_t most_cost;
  int forbidden; /* per cent of the entries */
} shape;

static inline void *take(sw_arena *a, size_t n, size_t size) {
  void *p = sw_arena_alloc(a, n, size, &diag);
  assert_non_null(p);
  return p;
}

static inline int64_t *random_costs(sw_rng *g, sw_arena *a, int64_t n, const shape *s) {
  int64_t *c = take(a, (size_t)n, sizeof *c);
  for (int64_t k = 0; k < n; k++)
    c[k] = sw_rng_below(g, 100) < s->forbidden ? SW_FORBIDDEN : sw_rng_below(g, s->most_cost + 1);
  return c;
}

static inline void random_uses(sw_rng *g, sw_arena *a, sw_node *v, const shape *s) {
  v->n_uses = (int32_t)sw_rng_below(g, s->uses + 1);
  sw_usage *u = take(a, (size_t)v->n_uses, sizeof *u);
  for (int k = 0; k < v->n_uses; k++) {
    int64_t b = sw_rng_below(g, s->steps), e = sw_rng_below(g, s->steps);
    int64_t *amount = take(a, (size_t)v->n_choices, sizeof *amount);
    for (int c = 0; c < v->n_choices; c++) amount[c] = sw_rng_below(g, 10);
    u[k] = (sw_usage){b < e ? b : e, b < e ? e : b, amount};
  }
  v->uses = u;
}

static inline sw_problem random_problem(sw_rng *g, sw_arena *a, const shape *s) {
  sw_problem p = {.name = "random", .limit = INT64_MAX};
  p.n_nodes = 1 + (int32_t)sw_rng_below(g, s->nodes);
  sw_node *nodes = take(a, (size_t)p.n_nodes, sizeof *nodes);
  int64_t peak_guess = 0;
  for (int i = 0; i < p.n_nodes; i++) {
    nodes[i].n_choices = 1 + (int32_t)sw_rng_below(g, s->choices);
    nodes[i].cost = random_costs(g, a, nodes[i].n_choices, s);
    random_uses(g, a, &nodes[i], s);
    peak_guess += 3 * nodes[i].n_uses;
  }
  p.nodes = nodes;
  p.n_edges = p.n_nodes > 1 ? (int32_t)sw_rng_below(g, s->edges + 1) : 0;
  sw_edge *edges = take(a, (size_t)p.n_edges, sizeof *edges);
  for (int e = 0; e < p.n_edges; e++) {
    int32_t i = (int32_t)sw_rng_below(g, p.n_nodes), j = (int32_t)sw_rng_below(g, p.n_nodes - 1);
    if (j >= i) j++;
    edges[e] = (sw_edge){i, j, random_costs(g, a, (int64_t)nodes[i].n_choices * nodes[j].n_choices, s)};
  }
  p.edges = edges;
  if (sw_rng_below(g, 4)) p.limit = sw_rng_below(g, peak_guess + 2);
  return p;
}

/* The same with copies of some nodes: without memory, with equal costs and tables to the same neighbours. */
static inline sw_problem with_twins(sw_rng *g, sw_arena *a, sw_problem p, int copies) {
  int32_t n = p.n_nodes, n_edges = p.n_edges;
  sw_node *nodes = take(a, (size_t)n + (size_t)copies, sizeof *nodes);
  sw_edge *edges = take(a, (size_t)n_edges * (size_t)(copies + 1), sizeof *edges);
  memcpy(nodes, p.nodes, (size_t)n * sizeof *nodes);
  if (n_edges) memcpy(edges, p.edges, (size_t)n_edges * sizeof *edges);
  int32_t of = (int32_t)sw_rng_below(g, n);
  for (int c = 0; c < copies; c++) {
    if (sw_rng_below(g, 3) == 0) of = (int32_t)sw_rng_below(g, n);
    nodes[of].n_uses = 0;
    nodes[n + c] = nodes[of];
    for (int32_t e = 0; e < p.n_edges; e++) {
      if (edges[e].i == of) edges[n_edges++] = (sw_edge){n + c, edges[e].j, edges[e].cost};
      if (edges[e].j == of) edges[n_edges++] = (sw_edge){edges[e].i, n + c, edges[e].cost};
    }
  }
  p.n_nodes = n + copies;
  p.n_edges = n_edges;
  p.nodes = nodes;
  p.edges = edges;
  return p;
}

/* Two problems side by side, one after the other in time; the limit is the first's. */
static inline sw_problem side_by_side(sw_arena *a, const sw_problem *p, const sw_problem *q, int64_t later) {
  sw_problem both = *p;
  sw_node *nodes = take(a, (size_t)p->n_nodes + (size_t)q->n_nodes, sizeof *nodes);
  sw_edge *edges = take(a, (size_t)p->n_edges + (size_t)q->n_edges, sizeof *edges);
  memcpy(nodes, p->nodes, (size_t)p->n_nodes * sizeof *nodes);
  if (p->n_edges) memcpy(edges, p->edges, (size_t)p->n_edges * sizeof *edges);
  for (int32_t i = 0; i < q->n_nodes; i++) {
    sw_node *v = &nodes[both.n_nodes++];
    *v = q->nodes[i];
    sw_usage *uses = take(a, (size_t)v->n_uses, sizeof *uses);
    for (int32_t k = 0; k < v->n_uses; k++)
      uses[k] = (sw_usage){v->uses[k].begin + later, v->uses[k].end + later, v->uses[k].amount};
    v->uses = uses;
  }
  for (int32_t e = 0; e < q->n_edges; e++)
    edges[both.n_edges++] = (sw_edge){q->edges[e].i + p->n_nodes, q->edges[e].j + p->n_nodes, q->edges[e].cost};
  both.nodes = nodes;
  both.edges = edges;
  return both;
}

static const shape kSmall[] = {
    {5, 3, 6, 2, 6, 9, 10},
    {7, 3, 10, 1, 8, 100, 0},
    {6, 4, 9, 3, 4, 5, 30},
    {8, 2, 16, 2, 10, 1000, 5},
};
#define N_SMALL (sizeof kSmall / sizeof kSmall[0])

/* A small problem: as it comes, with identical nodes, or of several parts. */
static inline sw_problem small_problem(sw_rng *g, sw_arena *a, int k) {
  static const shape kDense = {6, 3, 24, 1, 4, 20, 0}, kTiny = {4, 3, 9, 2, 4, 20, 3};
  const shape *s = &kSmall[k % (int)N_SMALL];
  switch (k / (int)N_SMALL % 4) {
    case 1:
      return with_twins(g, a, random_problem(g, a, &kDense), 3);
    case 2: {
      sw_problem p = random_problem(g, a, &kTiny), q = random_problem(g, a, &kTiny);
      p.limit = 4 + sw_rng_below(g, 20);
      return side_by_side(a, &p, &q, kTiny.steps);
    }
    default:
      return random_problem(g, a, s);
  }
}

#endif
