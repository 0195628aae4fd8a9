/* Planning again: where the plan to start from has no choice any more (a pin, another op), what lies around is chosen
 * anew, all else stays. So few nodes are solved to the end, and refined until what they cost is what is counted.
 *
 *   start: a b c d e f g, and d is pinned    free: c d e and copy nodes beside them; then b .. f, and so on up to some
 * hundred
 */
#include "plan/search.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"

enum { MOST_ROUNDS = 12 };

typedef struct repairer {
  const sw_searcher *s;
  sw_problem p;    /* as it is now */
  sw_arena mem;    /* of one round */
  int32_t n, most; /* of the problem; free ones, about */
  int32_t *x, *first, *next, *queue;
  bool *is_free;
} repairer;

static sw_rc list_neighbours(repairer *m, sw_diag *d) {
  const sw_problem *p = &m->p;
  SW_ARENA_NEW(m->first, &m->mem, (size_t)p->n_nodes + 2, d);
  SW_ARENA_NEW(m->next, &m->mem, 2 * (size_t)p->n_edges, d);
  for (int32_t e = 0; e < p->n_edges; e++) {
    m->first[p->edges[e].i + 2]++;
    m->first[p->edges[e].j + 2]++;
  }
  for (int32_t i = 2; i <= p->n_nodes + 1; i++) m->first[i] += m->first[i - 1];
  for (int32_t e = 0; e < p->n_edges; e++) {
    m->next[m->first[p->edges[e].i + 1]++] = p->edges[e].j;
    m->next[m->first[p->edges[e].j + 1]++] = p->edges[e].i;
  }
  return SW_OK;
}

static void free_node(repairer *m, int32_t i, int32_t *n) {
  if (m->is_free[i]) return;
  m->is_free[i] = true;
  m->queue[(*n)++] = i;
}

/* Nodes around those without a choice, nearest first. A copy node beside a free node is free: it must follow its maker.
 */
static sw_rc choose_free(repairer *m, sw_diag *d) {
  int32_t n = 0;
  SW_TRY(list_neighbours(m, d));
  SW_ARENA_NEW(m->is_free, &m->mem, m->p.n_nodes, d);
  SW_ARENA_NEW(m->queue, &m->mem, m->p.n_nodes, d);
  for (int32_t i = 0; i < m->n; i++)
    if (m->s->missing[i]) free_node(m, i, &n);
  for (int32_t k = 0; k < n; k++) {
    for (int32_t a = m->first[m->queue[k]]; a < m->first[m->queue[k] + 1]; a++)
      if (n < m->most || (m->next[a] >= m->n && m->queue[k] < m->n)) free_node(m, m->next[a], &n);
  }
  return SW_OK;
}

/* Choose among the free nodes; whether anything is left of them. */
static sw_rc solve_free(repairer *m, double slack, bool *any, sw_diag *d) {
  const double kOfTime = 0.1; /* that is left */
  sw_problem some;
  sw_solution sol;
  int32_t *warm, k = 0;
  const sw_plan_options *po = m->s->o;
  sw_solve_options o = {.solver = po->solve.solver, .threads = 1, .seed = po->solve.seed, .cancel = po->solve.cancel};
  SW_TRY(sw_problem_of_some(&m->p, m->x, m->is_free, &m->mem, &some, d));
  SW_ARENA_NEW(warm, &m->mem, some.n_nodes, d);
  for (int32_t i = 0; i < m->p.n_nodes; i++)
    if (m->is_free[i]) warm[k++] = m->x[i];
  sw_score score;
  SW_TRY(sw_problem_score(&some, warm, &score, d));
  const sw_solve_state from = {.n_nodes = some.n_nodes, .choice = warm};
  o.from = &from;
  o.gap = score.cost > 0 && score.cost < SW_FORBIDDEN ? fmin(0.5, slack / (double)score.cost) : 1e-4;
  SW_TRY(sw_search_call(m->s, &some, kOfTime, &o, &m->mem, &sol, d));
  *any = sol.choice != NULL;
  k = 0;
  for (int32_t i = 0; *any && i < m->p.n_nodes; i++)
    if (m->is_free[i]) m->x[i] = sol.choice[k++];
  return SW_OK;
}

/* One choice of what is free, under the prices of copies as they are; refined where it costs more than they say. */
static sw_rc repair_once(repairer *m, int64_t before, double gap, int32_t *choice, bool *refined, sw_diag *d) {
  const double kOfGap = 0.2;
  bool any;
  SW_ARENA_NEW(m->x, &m->mem, m->p.n_nodes, d);
  SW_TRY(sw_relaxation_complete(m->s->relaxed, choice, m->x, d));
  SW_TRY(choose_free(m, d));
  SW_TRY(solve_free(m, before < SW_FORBIDDEN ? kOfGap * gap * (double)before : 0, &any, d));
  *refined = false;
  if (!any) return SW_OK;
  memcpy(choice, m->x, (size_t)m->n * sizeof *choice);
  return sw_search_refine(m->s, choice, refined, d);
}

sw_rc sw_search_repair(const sw_searcher *s, int64_t limit, int32_t most, int32_t *choice, sw_diag *d) {
  const size_t n = (size_t)s->problem->n_nodes;
  bool refined = true;
  int32_t *best;
  int64_t least = INT64_MAX;
  SW_ARENA_NEW(best, s->arena, n, d);
  for (int round = 0; refined && round < MOST_ROUNDS && !sw_search_is_over(s); round++) {
    int64_t cost;
    SW_TRY(sw_search_cost(s, choice, &cost, NULL, d));
    repairer m = {.s = s, .p = *sw_relaxation_problem(s->relaxed), .n = s->problem->n_nodes, .most = most};
    m.p.limit = limit;
    sw_rc rc = repair_once(&m, cost, s->o->solve.gap, choice, &refined, d);
    sw_arena_deinit(&m.mem);
    if (rc) return rc;
    SW_TRY(sw_search_cost(s, choice, &cost, NULL, d));
    if (cost >= least) continue;
    least = cost;
    memcpy(best, choice, n * sizeof *choice);
  }
  if (least < INT64_MAX) memcpy(choice, best, n * sizeof *choice);
  return SW_OK;
}
