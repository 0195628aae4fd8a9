/* The problem of some nodes, the others staying as they are.
 *
 *   a - b - c with c fixed: nodes a, b; what b pays beside c goes to b's costs; one more node occupies what c does
 */
#include <string.h>

#include "base/checked.h"
#include "shardwright/select.h"

typedef struct chosen {
  const sw_problem *p;
  const int32_t *choice;
  int32_t *at; /* node -> node of the part, -1: fixed */
  sw_node *nodes;
  int64_t **cost; /* own costs of the part's nodes */
  sw_edge *edges;
  sw_arena *arena;
} chosen;

static sw_rc take_nodes(chosen *k, const bool *is_free, int32_t *n, sw_diag *d) {
  const sw_problem *p = k->p;
  SW_ARENA_NEW(k->at, k->arena, p->n_nodes, d);
  *n = 0;
  for (int32_t i = 0; i < p->n_nodes; i++) k->at[i] = is_free[i] ? (*n)++ : -1;
  SW_ARENA_NEW_EACH(k->arena, (size_t)*n + 1, d, k->nodes, k->cost);
  for (int32_t i = 0; i < p->n_nodes; i++) {
    if (!is_free[i]) continue;
    int64_t *cost = sw_arena_copy(k->arena, p->nodes[i].cost, (size_t)p->nodes[i].n_choices, sizeof *cost, d);
    if (!cost) return SW_E_RESOURCE;
    k->cost[k->at[i]] = cost;
    k->nodes[k->at[i]] = p->nodes[i];
    k->nodes[k->at[i]].cost = cost;
  }
  return SW_OK;
}

/* What the free end of an edge pays beside the fixed one. */
static void fold_fixed_end(chosen *k, const sw_edge *e) {
  bool first = k->at[e->i] >= 0; /* is the free one */
  int32_t n_j = k->p->nodes[e->j].n_choices, mine = first ? e->i : e->j;
  int64_t *to = k->cost[k->at[mine]];
  const int64_t *from = first ? e->cost + k->choice[e->j] : e->cost + (int64_t)k->choice[e->i] * n_j;
  for (int32_t s = 0; s < k->p->nodes[mine].n_choices; s++)
    to[s] = sw_min_i64(SW_FORBIDDEN, sw_cost_add(to[s], from[first ? (int64_t)s * n_j : s]));
}

static sw_rc take_edges(chosen *k, int32_t *n, sw_diag *d) {
  SW_ARENA_NEW(k->edges, k->arena, k->p->n_edges, d);
  *n = 0;
  for (int32_t a = 0; a < k->p->n_edges; a++) {
    const sw_edge *e = &k->p->edges[a];
    int32_t i = k->at[e->i], j = k->at[e->j];
    if (i >= 0 && j >= 0) k->edges[(*n)++] = (sw_edge){i, j, e->cost};
    if ((i >= 0) != (j >= 0)) fold_fixed_end(k, e);
  }
  return SW_OK;
}

/* One node for what the fixed ones occupy. */
static sw_rc add_fixed_node(chosen *k, sw_node *rest, sw_diag *d) {
  static const int64_t kNothing = 0;
  const sw_problem *p = k->p;
  sw_usage *uses;
  size_t n = 0;
  for (int32_t i = 0; i < p->n_nodes; i++) n += (size_t)p->nodes[i].n_uses;
  SW_ARENA_NEW(uses, k->arena, n, d);
  *rest = (sw_node){.n_choices = 1, .cost = &kNothing, .uses = uses};
  for (int32_t i = 0; i < p->n_nodes; i++) {
    for (int32_t a = 0; k->at[i] < 0 && a < p->nodes[i].n_uses; a++) {
      const sw_usage *u = &p->nodes[i].uses[a];
      uses[rest->n_uses++] = (sw_usage){u->begin, u->end, u->amount + k->choice[i]};
    }
  }
  return SW_OK;
}

sw_rc sw_problem_of_some(const sw_problem *p, const int32_t *choice, const bool *is_free, sw_arena *arena,
                         sw_problem *out, sw_diag *d) {
  chosen k = {.p = p, .choice = choice, .arena = arena};
  int32_t n, n_edges;
  if (p->n_copies)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "a part of a problem with copies; expected its relaxation");
  SW_TRY(take_nodes(&k, is_free, &n, d));
  SW_TRY(take_edges(&k, &n_edges, d));
  SW_TRY(add_fixed_node(&k, &k.nodes[n], d));
  *out = (sw_problem){p->name, n + 1, n_edges, k.nodes, k.edges, p->limit};
  for (int32_t i = 0; i < p->copy_nodes_at; i++) out->copy_nodes_at += is_free[i];
  return SW_OK;
}
