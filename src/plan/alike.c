/* Solving a problem of repeated layers with nodes that are alike choosing alike: the work of a few layers. */
#include "plan/search.h"

typedef struct kinds {
  sw_problem p;   /* a node of each kind */
  int32_t *kind;  /* of a node */
  int32_t *first; /* node of a kind */
} kinds;

static sw_rc find_kinds(kinds *k, const sw_problem *p, sw_arena *mem, sw_diag *d) {
  SW_ARENA_NEW(k->kind, mem, p->n_nodes, d);
  SW_ARENA_NEW(k->first, mem, p->n_nodes, d);
  SW_TRY(sw_problem_of_kinds(p, mem, &k->p, k->kind, d));
  for (int32_t i = p->n_nodes - 1; i >= 0; i--) k->first[k->kind[i]] = i;
  return SW_OK;
}

/* Links between the first nodes of their kinds, as links of the kinds. */
static sw_rc take_prior(const kinds *k, const sw_learned *from, sw_arena *mem, sw_learned *to, sw_diag *d) {
  *to = *from;
  to->n_links = 0;
  SW_ARENA_NEW(to->links, mem, from->n_links, d);
  for (int32_t e = 0; e < from->n_links; e++) {
    sw_learned_link l = from->links[e];
    int32_t a = k->kind[l.node[0]], b = k->kind[l.node[1]];
    if (k->first[a] != l.node[0] || k->first[b] != l.node[1]) continue;
    l.node[0] = a;
    l.node[1] = b;
    to->links[to->n_links++] = l;
  }
  return SW_OK;
}

static void give_learned(const kinds *k, sw_learned *learned) {
  for (int32_t e = 0; e < learned->n_links; e++)
    for (int side = 0; side < 2; side++) learned->links[e].node[side] = k->first[learned->links[e].node[side]];
}

static sw_rc solve_kinds(const sw_searcher *s, const sw_problem *p, double part, const sw_solve_options *given,
                         sw_arena *mem, sw_solution *out, sw_diag *d) {
  kinds k;
  sw_learned prior;
  int32_t *warm, *choice;
  sw_solve_options o = *given;
  SW_TRY(find_kinds(&k, p, mem, d));
  SW_ARENA_NEW(warm, mem, k.p.n_nodes, d);
  for (int32_t a = 0; a < k.p.n_nodes; a++) warm[a] = o.warm[k.first[a]];
  o.warm = warm;
  if (o.prior) {
    SW_TRY(take_prior(&k, o.prior, mem, &prior, d));
    o.prior = &prior;
  }
  SW_TRY(sw_search_call(s, &k.p, part, &o, s->arena, out, d));
  if (o.learned) give_learned(&k, o.learned);
  if (!out->choice) return SW_OK;
  SW_ARENA_NEW(choice, s->arena, p->n_nodes, d);
  for (int32_t i = 0; i < p->n_nodes; i++) choice[i] = out->choice[k.kind[i]];
  out->choice = choice;
  return SW_OK;
}

sw_rc sw_search_solve_alike(const sw_searcher *s, const sw_problem *p, double part, sw_solve_options *o,
                            sw_solution *out, sw_diag *d) {
  sw_arena mem = {0};
  sw_rc rc = solve_kinds(s, p, part, o, &mem, out, d);
  sw_arena_deinit(&mem);
  return rc;
}

sw_rc sw_search_repeats(const sw_searcher *s, int32_t *out, sw_diag *d) {
  enum { FEWEST = 6, LEAST = 2000 }; /* of a kind; few nodes are soon searched as they are */
  const sw_problem *p = sw_selection_problem(s->selection);
  sw_arena mem = {0};
  kinds k;
  *out = 0;
  if (p->n_nodes < LEAST) return SW_OK;
  sw_rc rc = find_kinds(&k, p, &mem, d);
  if (!rc && k.p.n_nodes <= p->n_nodes / FEWEST) *out = p->n_nodes / k.p.n_nodes;
  sw_arena_deinit(&mem);
  return rc;
}
