/* The plan to start from, and planning again: where it has no choice any more (a pin, another op), what lies around is
 * chosen anew, all else stays. So few nodes are solved to the end, and refined until what they cost is what is counted.
 *
 *   start: a b c d e f g, and d is pinned    free: c d e and copy nodes beside them; then b .. f, and so on up to some
 * hundred
 */
#include "plan/search.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"

enum { MOST_ROUNDS = 12, FEW = 100, MORE = 300 }; /* nodes: at first, and where that leaves a gap */

typedef struct repairer {
  int32_t most; /* free nodes, about */
  int round;
  int64_t least;   /* of the choices so far */
  int32_t *choice; /* that the last round led to, and the cheapest of them */
  int32_t *best;
  /* Of one round, of the relaxation as it is. */
  int32_t n, *x, *first, *next, *queue;
  bool *is_free;
} repairer;

static sw_rc list_neighbours(repairer *m, const sw_problem *p, sw_arena *mem, sw_diag *d) {
  SW_ARENA_NEW(m->first, mem, (size_t)p->n_nodes + 2, d);
  SW_ARENA_NEW(m->next, mem, 2 * (size_t)p->n_edges, d);
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
static sw_rc choose_free(sw_search *k, repairer *m, const sw_problem *p, sw_diag *d) {
  const int32_t n_own = k->problem->n_nodes;
  int32_t n = 0;
  SW_TRY(list_neighbours(m, p, &k->mem, d));
  SW_ARENA_NEW_EACH(&k->mem, p->n_nodes, d, m->is_free, m->queue);
  for (int32_t i = 0; i < n_own; i++)
    if (k->missing[i]) free_node(m, i, &n);
  for (int32_t at = 0; at < n; at++) {
    for (int32_t a = m->first[m->queue[at]]; a < m->first[m->queue[at] + 1]; a++)
      if (n < m->most || (m->next[a] >= n_own && m->queue[at] < n_own)) free_node(m, m->next[a], &n);
  }
  return SW_OK;
}

/* The problem of the free nodes, to a part of the gap of the whole. */
static sw_rc make_around(sw_search *k, sw_round *r, sw_diag *d) {
  const double kOfTime = 0.1, kOfGap = 0.2;
  repairer *m = k->own;
  const sw_solve_options *o = &k->asked->solve;
  sw_problem here;
  sw_score score;
  int32_t *warm, n = 0;
  int64_t before;
  SW_TRY(sw_search_cost(k, m->choice, &before, d));
  SW_TRY(sw_relaxation_problem(k->relaxed, &here, d));
  here.limit = k->limit;
  m->n = here.n_nodes;
  SW_ARENA_NEW(m->x, &k->mem, m->n, d);
  SW_TRY(sw_relaxation_complete(k->relaxed, m->choice, m->x, d));
  SW_TRY(choose_free(k, m, &here, d));
  SW_TRY(sw_problem_of_some(&here, m->x, m->is_free, &k->mem, &r->problem, d));
  SW_ARENA_NEW(warm, &k->mem, r->problem.n_nodes, d);
  for (int32_t i = 0; i < m->n; i++)
    if (m->is_free[i]) warm[n++] = m->x[i];
  SW_TRY(sw_problem_score(&r->problem, warm, &score, d));
  const double slack = before < SW_FORBIDDEN ? kOfGap * k->gap * (double)before : 0;
  r->from = (sw_solve_state){.n_nodes = r->problem.n_nodes, .choice = warm};
  r->o = (sw_solve_options){.solver = o->solver, .threads = 1, .seed = o->seed, .cancel = o->cancel, .from = &r->from};
  r->o.gap = score.cost > 0 && score.cost < SW_FORBIDDEN ? fmin(1.0 / 2, slack / (double)score.cost) : 1e-4;
  r->part = kOfTime;
  return SW_OK;
}

static sw_rc read_around(sw_search *k, sw_round *r, sw_diag *d) {
  const repairer *m = k->own;
  int32_t at = 0;
  if (!r->now.choice) return SW_OK;
  for (int32_t i = 0; i < m->n; i++)
    if (m->is_free[i]) m->x[i] = r->now.choice[at++];
  r->now.choice = sw_arena_copy(k->arena, m->x, (size_t)m->n, sizeof *m->x, d);
  return r->now.choice ? SW_OK : SW_E_RESOURCE;
}

/* What the choice costs is counted; while that was less before, once more. */
static sw_rc refine_around(sw_search *k, sw_round *r, sw_diag *d) {
  repairer *m = k->own;
  const size_t n = (size_t)k->problem->n_nodes;
  if (!r->now.choice) return SW_OK;
  SW_TRY(sw_search_refine(k, r->now.choice, &r->added, d));
  memcpy(m->choice, r->now.choice, n * sizeof *m->choice);
  if (r->cost < m->least) memcpy(m->best, m->choice, n * sizeof *m->best);
  m->least = sw_min_i64(m->least, r->cost);
  k->start = m->best;
  r->again = r->added && ++m->round < MOST_ROUNDS;
  return SW_OK;
}

static sw_rc begin_around(sw_search *k, int32_t most, const int32_t *from, sw_diag *d) {
  const size_t n = (size_t)k->problem->n_nodes;
  repairer *m;
  SW_ARENA_NEW(m, k->arena, 1, d);
  *m = (repairer){.most = most, .least = INT64_MAX};
  m->choice = sw_arena_copy(k->arena, from, n, sizeof *from, d);
  m->best = sw_arena_copy(k->arena, from, n, sizeof *from, d);
  k->own = m;
  return m->choice && m->best ? SW_OK : SW_E_RESOURCE;
}

/* --- the start ---------------------------------------------------------------------------------------------------- */

/* The choices of the plan, and a problem that counts its copies right. */
static sw_rc begin_start(sw_search *k, bool *due, sw_diag *d) {
  const sw_plan *from = k->from;
  const sw_copy_of *exact;
  int32_t n_exact;
  bool all;
  *due = from != NULL;
  if (!from) return SW_OK;
  SW_TRY(sw_selection_find_copies(k->selection, from->n_shared, from->shared, k->arena, &n_exact, &exact, d));
  SW_TRY(sw_relaxation_count(k->relaxed, n_exact, exact, d));
  SW_TRY(sw_search_encode(k, from, &k->start, &k->missing, &all, d));
  if (all) k->missing = NULL;
  return begin_around(k, FEW, k->start, d);
}

static sw_rc make_start(sw_search *k, sw_round *r, sw_diag *d) {
  const repairer *m = k->own;
  if (k->missing) return make_around(k, r, d);
  r->given = true;
  r->now = (sw_solution){.choice = m->choice, .solver = "warm"};
  return SW_OK;
}

static sw_rc add_start(sw_search *k, sw_round *r, sw_diag *d) {
  if (k->missing) return refine_around(k, r, d);
  return sw_search_refine(k, r->now.choice, &r->added, d);
}

const sw_form sw_form_start = {.name = "start",
                               .part = 1,
                               .insists = true,
                               .begin = begin_start,
                               .make = make_start,
                               .read = read_around,
                               .add = add_start};

/* Where what was found holds too much, the cheapest of the plans made by rule that fits. */
static sw_rc begin_rule(sw_search *k, bool *due, sw_diag *d) {
  sw_plan *rule;
  *due = false;
  if (k->best.choice || k->from || k->is_question || !k->over) return SW_OK;
  SW_ARENA_NEW(rule, k->arena, 1, d);
  SW_TRY(sw_search_find_known(k, rule, due, d));
  if (!*due) return SW_OK;
  k->from = rule;
  return begin_start(k, due, d);
}

const sw_form sw_form_rule = {
    .name = "rule", .part = 1, .begin = begin_rule, .make = make_start, .read = read_around, .add = add_start};

/* When what was repaired at first leaves a gap, more is. */
static sw_rc begin_more(sw_search *k, bool *due, sw_diag *d) {
  *due = k->missing && k->best.choice;
  return *due ? begin_around(k, MORE, k->best.choice, d) : SW_OK;
}

const sw_form sw_form_around = {
    .name = "around", .part = 1, .begin = begin_more, .make = make_around, .read = read_around, .add = refine_around};
