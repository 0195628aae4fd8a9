/* Parts of a problem that nothing joins to the rest: "part N TIME.. NODE..", a certificate of the part, "done".
 *
 * Why it is right: the rest's tables do not touch the part's nodes, and at the steps that matter to the part the rest
 * occupies the same whatever it chooses. So the least cost of all is that of the part and that of the rest together.
 */
#include <stdlib.h>

#include "select/check/check.h"

typedef struct builder {
  chk_state *s;
  chk_part *q;
  sw_arena *mem;
  int32_t *place; /* of a node in the part, or -1 */
  int32_t *rank;  /* of a step in the part, or -1 */
} builder;

static chk_verdict number_part(builder *b) {
  const chk_part *q = b->q;
  for (int32_t i = 0; i < b->s->n; i++) b->place[i] = -1;
  for (int32_t t = 0; t < b->s->n_steps; t++) b->rank[t] = -1;
  for (int32_t k = 0; k < q->n; k++) {
    if (b->place[q->node[k]] >= 0) return "a node is named twice";
    b->place[q->node[k]] = k;
  }
  for (int32_t k = 0; k < q->n_steps; k++) {
    if (k > 0 && q->step[k] <= q->step[k - 1]) return "the steps are not in order";
    b->rank[q->step[k]] = k;
  }
  return NULL;
}

/* Ranks [*begin, *end) of the steps of a stretch that count; false when one is not the part's or one between is not. */
static bool ranks_of(const builder *b, int32_t from, int32_t to, int32_t *begin, int32_t *end) {
  *begin = *end = -1;
  for (int32_t t = from; t < to; t++) {
    if (!b->s->kept[t]) continue;
    if (b->rank[t] < 0 || (*end >= 0 && b->rank[t] != *end)) return false;
    if (*begin < 0) *begin = b->rank[t];
    *end = b->rank[t] + 1;
  }
  return true;
}

static chk_verdict add_uses(builder *b, const chk_node *x, sw_node *to, sw_rc *rc) {
  chk_profile u;
  if ((*rc = chk_profile_of(b->s, x, &u))) return NULL;
  sw_usage *uses = sw_arena_alloc(b->mem, (size_t)u.n, sizeof *uses, NULL);
  if (!uses) return *rc = SW_E_RESOURCE, NULL;
  for (int32_t k = 0; k < u.n; k++) {
    int32_t begin, end, n = 0;
    if (!chk_varies(x, &u, k)) continue;
    if (!ranks_of(b, u.begin[k], u.end[k], &begin, &end))
      return "a node of the part occupies steps that it does not name";
    int64_t *amount = sw_arena_alloc(b->mem, (size_t)to->n_choices, sizeof *amount, NULL);
    if (!amount) return *rc = SW_E_RESOURCE, NULL;
    sw_i128 least = chk_least_use(x, &u, k);
    for (int32_t a = 0; a < x->n; a++) {
      sw_i128 more = x->alive[a] ? u.use[(int64_t)k * x->n + a] - least : 0;
      if (more > INT64_MAX) return "the numbers are too large";
      if (x->alive[a]) amount[n++] = (int64_t)more;
    }
    uses[to->n_uses++] = (sw_usage){begin, end, amount};
  }
  to->uses = uses;
  return NULL;
}

static chk_verdict add_part_node(builder *b, const chk_node *x, sw_node *to, sw_rc *rc) {
  int64_t *cost = sw_arena_alloc(b->mem, (size_t)x->n, sizeof *cost, NULL);
  if (!cost) return *rc = SW_E_RESOURCE, NULL;
  for (int32_t a = 0; a < x->n; a++)
    if (x->alive[a]) cost[to->n_choices++] = x->cost[a];
  to->cost = cost;
  return to->n_choices ? add_uses(b, x, to, rc) : "the node has no choice left";
}

/* One more than the room is short of the largest, so that a use begins at every step of the part. */
static chk_verdict add_rest_node(builder *b, sw_node *to, sw_rc *rc) {
  static const int64_t kNothing[1];
  const chk_part *q = b->q;
  sw_usage *uses = sw_arena_alloc(b->mem, (size_t)q->n_steps, sizeof *uses, NULL);
  int64_t *amount = sw_arena_alloc(b->mem, (size_t)q->n_steps, sizeof *amount, NULL);
  if (!uses || !amount) return *rc = SW_E_RESOURCE, NULL;
  if (q->n_steps && (*rc = chk_find_base(b->s))) return NULL;
  sw_i128 most = 0;
  for (int32_t k = 0; k < q->n_steps; k++) {
    sw_i128 room = b->s->limit - b->s->base[q->step[k]];
    if (room < -INT64_MAX / 4 || room > INT64_MAX / 4) return "the numbers are too large";
    if (room > most) most = room;
  }
  b->q->p.limit = q->n_steps ? (int64_t)most + 1 : INT64_MAX;
  for (int32_t k = 0; k < q->n_steps; k++) {
    amount[k] = (int64_t)(most + 1 - (b->s->limit - b->s->base[q->step[k]]));
    uses[k] = (sw_usage){k, k + 1, &amount[k]};
  }
  *to = (sw_node){1, q->n_steps, kNothing, uses};
  return NULL;
}

static const int64_t *left_of_table(builder *b, const chk_edge *g) {
  const chk_node *x = &b->s->nodes[g->i], *y = &b->s->nodes[g->j];
  int64_t *v = sw_arena_alloc(b->mem, (size_t)x->n * (size_t)y->n, sizeof *v, NULL);
  int64_t n = 0;
  for (int32_t i = 0; v && i < x->n; i++)
    for (int32_t j = 0; x->alive[i] && j < y->n; j++)
      if (y->alive[j]) v[n++] = g->v[(int64_t)i * y->n + j];
  return v;
}

static chk_verdict add_edges(builder *b, sw_rc *rc) {
  chk_part *q = b->q;
  const chk_state *s = b->s;
  int32_t n = 0;
  for (int32_t k = 0; k < q->n; k++) n += s->nodes[q->node[k]].n_edges;
  sw_edge *edges = sw_arena_alloc(b->mem, (size_t)n, sizeof *edges, NULL);
  if (!edges) return *rc = SW_E_RESOURCE, NULL;
  for (int32_t k = 0; k < q->n; k++) {
    const chk_node *x = &s->nodes[q->node[k]];
    for (int32_t a = 0; a < x->n_edges; a++) {
      const chk_edge *g = &s->edges[x->edges[a]];
      int32_t o = b->place[chk_other(g, q->node[k])];
      if (g->gone || (o >= 0 && o < k) || chk_all_zero(s, g)) continue;
      if (o < 0) return "a table joins the part to the rest";
      sw_edge *to = &edges[q->p.n_edges++];
      *to = (sw_edge){b->place[g->i], b->place[g->j], left_of_table(b, g)};
      if (!to->cost) return *rc = SW_E_RESOURCE, NULL;
    }
  }
  q->p.edges = edges;
  return NULL;
}

/* What the rest occupies at the part's steps does not depend on its choices. */
static chk_verdict check_rest(builder *b, sw_rc *rc) {
  for (int32_t i = 0; b->q->n_steps && i < b->s->n; i++) {
    const chk_node *x = &b->s->nodes[i];
    chk_profile u;
    if (x->gone || b->place[i] >= 0 || x->n_spans == 0) continue;
    if ((*rc = chk_profile_of(b->s, x, &u))) return NULL;
    for (int32_t k = 0; k < u.n; k++) {
      if (!chk_varies(x, &u, k)) continue;
      for (int32_t t = u.begin[k]; t < u.end[k]; t++)
        if (b->s->kept[t] && b->rank[t] >= 0) return "a node of the rest uses a step of the part";
    }
  }
  return NULL;
}

chk_verdict chk_part_build(chk_state *s, chk_part *q, sw_arena *mem, sw_rc *rc) {
  builder b = {s, q, mem, NULL, NULL};
  b.place = sw_arena_alloc(mem, (size_t)s->n, sizeof *b.place, NULL);
  b.rank = sw_arena_alloc(mem, (size_t)s->n_steps, sizeof *b.rank, NULL);
  sw_node *nodes = sw_arena_alloc(mem, (size_t)q->n + 1, sizeof *nodes, NULL);
  if (!b.place || !b.rank || !nodes) return *rc = SW_E_RESOURCE, NULL;
  chk_verdict wrong = number_part(&b);
  for (int32_t k = 0; k < q->n && !wrong && !*rc; k++) wrong = add_part_node(&b, &s->nodes[q->node[k]], &nodes[k], rc);
  if (!wrong && !*rc) wrong = add_rest_node(&b, &nodes[q->n], rc);
  q->p.name = "part";
  q->p.n_nodes = q->n + 1;
  q->p.nodes = nodes;
  if (!wrong && !*rc) wrong = add_edges(&b, rc);
  if (!wrong && !*rc) wrong = check_rest(&b, rc);
  return wrong;
}

chk_verdict chk_part_close(chk_state *s, const chk_part *q, int64_t bound, sw_rc *rc) {
  for (int32_t k = 0; k < q->n; k++) {
    chk_node *x = &s->nodes[q->node[k]];
    chk_profile u;
    if ((*rc = chk_profile_of(s, x, &u))) return NULL;
    for (int32_t a = 0; a < u.n; a++) {
      sw_i128 least = chk_least_use(x, &u, a);
      s->fixed[u.begin[a]] += least;
      s->fixed[u.end[a]] -= least;
    }
    for (int32_t a = 0; a < x->n_edges; a++) s->edges[x->edges[a]].gone = true;
    x->gone = true;
  }
  s->offset += bound;
  return NULL;
}
