/* Exhaustive search: every choice in turn. The reference that other solvers are tested against, so it shares nothing
 * with them but the problem itself.
 *
 * Node i is chosen after nodes 0 .. i-1; the cost so far includes the edges among them. Forbidden entries cut a branch.
 * Copies are counted when all nodes are chosen.
 */
#include <string.h>

#include "select/run.h"

static const int64_t kMostChoices = INT64_C(1) << 24;
enum { MOST_NODES = 10000 }; /* one level of recursion each */

typedef struct enumeration {
  sel_run *r;
  sw_diag *d;
  int32_t *x;
  const int32_t *edges, *first; /* edges whose later end is i: edges[first[i] .. first[i + 1]) */
  sw_i128 best;
  int64_t least_peak; /* of those not forbidden; INT64_MAX: none */
  bool stopped;
} enumeration;

static sw_rc leaf(enumeration *e) {
  sw_score s;
  SW_TRY(sw_problem_score(e->r->p, e->x, &s, e->d));
  if (e->r->p->n_copies && sw_problem_cost(e->r->p, e->x) >= SW_FORBIDDEN) return SW_OK;
  if (s.peak < e->least_peak) e->least_peak = (int64_t)s.peak; /* fits: it is smaller */
  if (!s.feasible || s.cost >= e->best) return SW_OK;
  e->best = s.cost;
  return sel_offer(e->r, e->x, "exhaustive", NULL, e->d);
}

static int64_t edges_to(const enumeration *e, int32_t i) {
  const sw_problem *p = e->r->p;
  int64_t sum = p->nodes[i].cost[e->x[i]];
  for (int32_t k = e->first[i]; k < e->first[i + 1]; k++) {
    const sw_edge *g = &p->edges[e->edges[k]];
    sum = sw_cost_add(sum, g->cost[(int64_t)e->x[g->i] * p->nodes[g->j].n_choices + e->x[g->j]]);
  }
  return sum;
}

static sw_rc descend(enumeration *e, int32_t i, sw_i128 cost) {
  if (i == e->r->p->n_nodes) return leaf(e);
  for (e->x[i] = 0; e->x[i] < e->r->p->nodes[i].n_choices && !e->stopped; e->x[i]++) {
    sw_i128 c = cost + edges_to(e, i);
    if (c >= SW_FORBIDDEN) continue;
    if (i == 0 || i % 8 == 7) e->stopped = sel_stop(&e->r->budget);
    SW_TRY(descend(e, i + 1, c));
  }
  return SW_OK;
}

static sw_rc check_problem_size(const sw_problem *p, sw_diag *d) {
  if (p->n_nodes > MOST_NODES)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "the exhaustive solver takes problems of at most %d nodes; found %d",
                   MOST_NODES, p->n_nodes);
  int64_t n = 1;
  for (int32_t i = 0; i < p->n_nodes; i++)
    if (!sw_mul_i64(n, p->nodes[i].n_choices, &n) || n > kMostChoices)
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                     "the exhaustive solver takes problems of at most %lld combinations; nodes 0 to %d alone have more",
                     (long long)kMostChoices, i);
  return SW_OK;
}

static sw_rc group_edges(const sw_problem *p, sw_arena *mem, enumeration *e, sw_diag *d) {
  int32_t *first, *edges;
  SW_ARENA_NEW(first, mem, (size_t)p->n_nodes + 2, d);
  SW_ARENA_NEW(edges, mem, p->n_edges, d);
  for (int32_t k = 0; k < p->n_edges; k++) first[(p->edges[k].i > p->edges[k].j ? p->edges[k].i : p->edges[k].j) + 2]++;
  for (int32_t i = 0; i < p->n_nodes; i++) first[i + 2] += first[i + 1];
  for (int32_t k = 0; k < p->n_edges; k++)
    edges[first[(p->edges[k].i > p->edges[k].j ? p->edges[k].i : p->edges[k].j) + 1]++] = k;
  e->first = first;
  e->edges = edges;
  return SW_OK;
}

static sw_rc enumerate_choices(sel_run *r, sw_arena *mem, sw_diag *d) {
  enumeration e = {.r = r, .d = d, .best = SW_FORBIDDEN, .least_peak = INT64_MAX};
  SW_ARENA_NEW(e.x, mem, (size_t)r->p->n_nodes + 1, d);
  SW_TRY(group_edges(r->p, mem, &e, d));
  SW_TRY(descend(&e, 0, 0));
  if (e.stopped) return SW_OK;
  if (r->has) {
    sel_raise(r, r->cost);
    return SW_OK;
  }
  r->infeasible = true;
  if (e.least_peak < INT64_MAX) r->least_peak = e.least_peak;
  return SW_OK;
}

sw_rc sel_solve_exhaustive(sel_run *r, sw_diag *d) {
  SW_TRY(check_problem_size(r->p, d));
  sw_arena mem = {0};
  sw_rc rc = enumerate_choices(r, &mem, d);
  sw_arena_deinit(&mem);
  return rc;
}
