/* The selection problem as data: is it well formed, and what does a choice cost?
 *
 * This file stands alone: no solver is called here, so what it says about a solution is an independent check.
 * Example: two nodes of memory 3 in steps [0, 4) and 5 in [2, 6) peak at 8, at step 2.
 */
#include "shardwright/select.h"

#include <stdlib.h>
#include <string.h>

static sw_rc verify_costs(const int64_t *cost, int64_t n, const char *what, int64_t at, sw_diag *d) {
  if (!cost) return SW_FAIL_INPUT(d, SW_NOWHERE, "%s %lld has no costs", what, (long long)at);
  for (int64_t k = 0; k < n; k++)
    if (cost[k] < 0 || cost[k] > SW_FORBIDDEN)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "cost %lld of %s %lld is %lld; expected 0 to 10^18", (long long)k, what,
                           (long long)at, (long long)cost[k]);
  return SW_OK;
}

static sw_rc verify_use(const sw_use *u, int32_t n_choices, int32_t node, int32_t at, sw_diag *d) {
  if (u->begin > u->end)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "use %d of node %d begins at %lld and ends before, at %lld", at, node,
                         (long long)u->begin, (long long)u->end);
  if (!u->amount) return SW_FAIL_INPUT(d, SW_NOWHERE, "use %d of node %d has no amounts", at, node);
  for (int32_t s = 0; s < n_choices; s++)
    if (u->amount[s] < 0)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "amount %d of use %d of node %d is %lld; expected 0 or more", s, at, node,
                           (long long)u->amount[s]);
  return SW_OK;
}

static sw_rc verify_node(const sw_problem *p, int32_t i, sw_diag *d) {
  const sw_node *v = &p->nodes[i];
  if (v->n_choices < 1)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "node %d has %d choices; expected 1 or more", i, v->n_choices);
  if (v->n_uses < 0 || (v->n_uses > 0 && !v->uses))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "node %d has %d uses; expected 0 or more", i, v->n_uses);
  SW_TRY(verify_costs(v->cost, v->n_choices, "node", i, d));
  for (int32_t k = 0; k < v->n_uses; k++) SW_TRY(verify_use(&v->uses[k], v->n_choices, i, k, d));
  return SW_OK;
}

sw_rc sw_problem_verify(const sw_problem *p, sw_diag *d) {
  if (p->n_nodes < 0 || p->n_edges < 0)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a problem of %d nodes and %d edges; expected 0 or more", p->n_nodes,
                         p->n_edges);
  if (p->limit < 0) return SW_FAIL_INPUT(d, SW_NOWHERE, "memory limit %lld; expected 0 or more", (long long)p->limit);
  for (int32_t i = 0; i < p->n_nodes; i++) SW_TRY(verify_node(p, i, d));
  for (int32_t e = 0; e < p->n_edges; e++) {
    const sw_edge *g = &p->edges[e];
    if (g->i < 0 || g->i >= p->n_nodes || g->j < 0 || g->j >= p->n_nodes)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "edge %d joins nodes %d and %d; expected 0 to %d", e, g->i, g->j,
                           p->n_nodes - 1);
    if (g->i == g->j) return SW_FAIL_INPUT(d, SW_NOWHERE, "edge %d joins node %d with itself", e, g->i);
    SW_TRY(verify_costs(g->cost, (int64_t)p->nodes[g->i].n_choices * p->nodes[g->j].n_choices, "edge", e, d));
  }
  return SW_OK;
}

typedef struct peak_event {
  int64_t time;
  sw_i128 change;
} peak_event;

static int by_time(const void *a, const void *b) {
  const peak_event *x = a, *y = b;
  return (x->time > y->time) - (x->time < y->time);
}

/* Largest running sum of the uses; 0 at time 0 when nothing is used. */
static sw_rc find_peak(const sw_problem *p, const int32_t *choice, sw_score *out, sw_diag *d) {
  size_t n = 0;
  for (int32_t i = 0; i < p->n_nodes; i++) n += (size_t)p->nodes[i].n_uses;
  peak_event *ev = sw_mem_alloc(2 * n, sizeof *ev, d);
  if (!ev) return SW_E_RESOURCE;
  n = 0;
  for (int32_t i = 0; i < p->n_nodes; i++)
    for (int32_t k = 0; k < p->nodes[i].n_uses; k++) {
      const sw_use *u = &p->nodes[i].uses[k];
      int64_t amount = u->amount[choice[i]];
      if (u->begin == u->end || amount == 0) continue;
      ev[n++] = (peak_event){u->begin, amount};
      ev[n++] = (peak_event){u->end, -(sw_i128)amount};
    }
  qsort(ev, n, sizeof *ev, by_time);
  out->peak = 0;
  out->peak_time = 0;
  sw_i128 now = 0;
  for (size_t k = 0; k < n;) {
    int64_t t = ev[k].time;
    for (; k < n && ev[k].time == t; k++) now += ev[k].change;
    if (now > out->peak) {
      out->peak = now;
      out->peak_time = t;
    }
  }
  sw_mem_free(ev);
  return SW_OK;
}

sw_rc sw_problem_score(const sw_problem *p, const int32_t *choice, sw_score *out, sw_diag *d) {
  out->cost = 0;
  bool forbidden = false;
  for (int32_t i = 0; i < p->n_nodes; i++) {
    if (choice[i] < 0 || choice[i] >= p->nodes[i].n_choices)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "choice of node %d is %d; expected 0 to %d", i, choice[i],
                           p->nodes[i].n_choices - 1);
    int64_t c = p->nodes[i].cost[choice[i]];
    forbidden |= c >= SW_FORBIDDEN;
    out->cost += c;
  }
  for (int32_t e = 0; e < p->n_edges; e++) {
    const sw_edge *g = &p->edges[e];
    int64_t c = g->cost[(int64_t)choice[g->i] * p->nodes[g->j].n_choices + choice[g->j]];
    forbidden |= c >= SW_FORBIDDEN;
    out->cost += c;
  }
  SW_TRY(find_peak(p, choice, out, d));
  out->feasible = !forbidden && out->cost < SW_FORBIDDEN && out->peak <= p->limit;
  return SW_OK;
}

static const char *const kSolvers[] = {
    [SW_SOLVER_AUTO] = "auto",
    [SW_SOLVER_NATIVE] = "native",
    [SW_SOLVER_GLPK] = "glpk",
    [SW_SOLVER_EXHAUSTIVE] = "exhaustive",
};
static const char *const kStatuses[] = {
    [SW_SOLVE_OPTIMAL] = "optimal",
    [SW_SOLVE_FEASIBLE] = "feasible",
    [SW_SOLVE_INFEASIBLE] = "infeasible",
    [SW_SOLVE_UNKNOWN] = "unknown",
};

static const char *const kRules[SW_SELECT_RULES] = {"separable", "functional", "dominated", "degree",
                                                    "steps",     "heavy",      "identical", "parts"};
const char *sw_select_rule_text(int k) { return k >= 0 && k < SW_SELECT_RULES ? kRules[k] : NULL; }

bool sw_solver_parse(const char *text, sw_solver *out) {
  for (size_t k = 0; k < sizeof kSolvers / sizeof kSolvers[0]; k++)
    if (strcmp(text, kSolvers[k]) == 0) {
      *out = (sw_solver)k;
      return true;
    }
  return false;
}

const char *sw_solver_text(sw_solver s) { return kSolvers[s]; }
const char *sw_solve_status_text(sw_solve_status s) { return kStatuses[s]; }
