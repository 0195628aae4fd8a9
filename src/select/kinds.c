/* The problem in which nodes that are alike choose alike.
 *
 *   x - a - b - a - b - a - b - y    becomes    x - a - b - y, where a, b and the tables between them count three and
 *                                               two times, and the table from b to the next a is one between them, too
 */
#include <string.h>

#include "shardwright/alike.h"
#include "shardwright/checked.h"
#include "shardwright/hash.h"
#include "shardwright/select.h"

enum { ROUNDS = 2 }; /* few: what lies further away makes too many kinds */

typedef struct kinds {
  const sw_problem *p;
  sw_arena *arena;
  int32_t *kind; /* of a node */
  int32_t n;
  int64_t **cost; /* by kind */
  sw_use **uses;
  sw_node *nodes;
  sw_dict made; /* tables, by address and by how often they count */
} kinds;

/* Hash of each edge's table; tables that edges share are read once. */
static sw_rc hash_tables(const sw_problem *p, sw_alike_link *links, sw_diag *d) {
  sw_dict seen = {0};
  sw_rc rc = SW_OK;
  for (int32_t e = 0; e < p->n_edges && !rc; e++) {
    const sw_edge *g = &p->edges[e];
    size_t cells = (size_t)p->nodes[g->i].n_choices * (size_t)p->nodes[g->j].n_choices;
    struct {
      uint64_t at, cells;
    } key = {(uint64_t)(uintptr_t)g->cost, cells};
    int64_t *slot;
    bool fresh;
    rc = sw_dict_put(&seen, &key, sizeof key, 0, &slot, &fresh, d);
    if (!rc && fresh) *slot = (int64_t)sw_hash_quick(g->cost, cells * sizeof *g->cost);
    if (!rc) links[e] = (sw_alike_link){{g->i, g->j}, (uint64_t)*slot};
  }
  sw_dict_deinit(&seen);
  return rc;
}

static uint64_t colour_of(const sw_node *node) {
  size_t n = (size_t)node->n_choices;
  uint64_t h = sw_hash_u64(sw_hash_quick(node->cost, n * sizeof *node->cost), (uint64_t)n);
  for (int32_t k = 0; k < node->n_uses; k++)
    h = sw_hash_u64(h, sw_hash_quick(node->uses[k].amount, n * sizeof *node->uses[k].amount));
  return h;
}

/* Number the kinds by their first nodes. */
static sw_rc find_kinds(kinds *k, sw_diag *d) {
  const sw_problem *p = k->p;
  sw_arena mem = {0};
  uint64_t *colour = sw_arena_alloc(&mem, (size_t)p->n_nodes, sizeof *colour, d);
  int32_t *like = sw_arena_alloc(&mem, (size_t)p->n_nodes, sizeof *like, d);
  int32_t *like_link = sw_arena_alloc(&mem, (size_t)p->n_edges, sizeof *like_link, d);
  sw_alike_link *links = sw_arena_alloc(&mem, (size_t)p->n_edges, sizeof *links, d);
  sw_rc rc = colour && like && like_link && links ? SW_OK : SW_E_RESOURCE;
  for (int32_t i = 0; i < p->n_nodes && !rc; i++) colour[i] = colour_of(&p->nodes[i]);
  if (!rc) rc = hash_tables(p, links, d);
  if (!rc) rc = sw_alike(p->n_nodes, colour, p->n_edges, links, ROUNDS, like, like_link, d);
  for (int32_t i = 0; i < p->n_nodes && !rc; i++) {
    bool first = like[i] == i || p->nodes[like[i]].n_choices != p->nodes[i].n_choices; /* a hash may err */
    k->kind[i] = first ? k->n++ : k->kind[like[i]];
  }
  sw_arena_deinit(&mem);
  return rc;
}

/* What all nodes of a kind pay and occupy. */
static sw_rc add_nodes(kinds *k, sw_diag *d) {
  const sw_problem *p = k->p;
  SW_ARENA_NEW(k->cost, k->arena, k->n, d);
  SW_ARENA_NEW(k->uses, k->arena, k->n, d);
  SW_ARENA_NEW(k->nodes, k->arena, k->n, d);
  for (int32_t i = 0; i < p->n_nodes; i++) k->nodes[k->kind[i]].n_uses += p->nodes[i].n_uses;
  for (int32_t a = 0; a < k->n; a++) {
    SW_ARENA_NEW(k->uses[a], k->arena, k->nodes[a].n_uses, d);
    k->nodes[a].n_uses = 0;
  }
  for (int32_t i = 0; i < p->n_nodes; i++) {
    int32_t a = k->kind[i], n = p->nodes[i].n_choices;
    sw_node *to = &k->nodes[a];
    if (!k->cost[a]) SW_ARENA_NEW(k->cost[a], k->arena, n, d);
    for (int32_t s = 0; s < n; s++)
      k->cost[a][s] = sw_min_i64(SW_FORBIDDEN, sw_cost_add(k->cost[a][s], p->nodes[i].cost[s]));
    for (int32_t u = 0; u < p->nodes[i].n_uses; u++) k->uses[a][to->n_uses++] = p->nodes[i].uses[u];
    to->n_choices = n;
    to->cost = k->cost[a];
    to->uses = k->uses[a];
  }
  return SW_OK;
}

/* An edge between kinds, which stands for several. */
typedef struct bundle {
  int32_t i, j;
  const int64_t *cost;
} bundle;

/* The cells of a table n times. What was made before is used again, so that edges that shared a table do so again. */
static sw_rc times(kinds *k, const bundle *b, int64_t n, const int64_t **out, sw_diag *d) {
  struct {
    uint64_t at, n;
  } key = {(uint64_t)(uintptr_t)b->cost, (uint64_t)n};
  size_t cells = (size_t)k->nodes[b->i].n_choices * (size_t)k->nodes[b->j].n_choices;
  int64_t *to, *slot;
  bool fresh;
  *out = b->cost;
  if (n == 1) return SW_OK;
  SW_TRY(sw_dict_put(&k->made, &key, sizeof key, 0, &slot, &fresh, d));
  if (fresh) {
    SW_ARENA_NEW(to, k->arena, cells, d);
    for (size_t c = 0; c < cells; c++) to[c] = sw_cost_times(b->cost[c], n);
    *slot = (int64_t)(uintptr_t)to;
  }
  *out = (const int64_t *)(uintptr_t)*slot;
  return SW_OK;
}

/* Both ends choose the same. */
static void add_loop(const kinds *k, const bundle *b, int64_t n) {
  for (int32_t s = 0, all = k->nodes[b->i].n_choices; s < all; s++) {
    int64_t each = sw_cost_times(b->cost[(int64_t)s * all + s], n);
    k->cost[b->i][s] = sw_min_i64(SW_FORBIDDEN, sw_cost_add(k->cost[b->i][s], each));
  }
}

static sw_rc add_edges(kinds *k, sw_problem *out, sw_diag *d) {
  const sw_problem *p = k->p;
  sw_dict seen = {0};
  bundle *all = sw_arena_alloc(k->arena, (size_t)p->n_edges, sizeof *all, d);
  int64_t *count = sw_arena_alloc(k->arena, (size_t)p->n_edges, sizeof *count, d);
  sw_edge *edges = sw_arena_alloc(k->arena, (size_t)p->n_edges, sizeof *edges, d);
  sw_rc rc = all && count && edges ? SW_OK : SW_E_RESOURCE;
  int32_t n = 0;
  for (int32_t e = 0; e < p->n_edges && !rc; e++) {
    bundle b = {k->kind[p->edges[e].i], k->kind[p->edges[e].j], p->edges[e].cost};
    int64_t *at;
    bool fresh;
    rc = sw_dict_put(&seen, &b, sizeof b, n, &at, &fresh, d);
    if (!rc && fresh) all[n++] = b;
    if (!rc) count[*at]++;
  }
  out->n_edges = 0;
  out->edges = edges;
  for (int32_t a = 0; a < n && !rc; a++) {
    if (all[a].i == all[a].j) {
      add_loop(k, &all[a], count[a]);
      continue;
    }
    edges[out->n_edges] = (sw_edge){all[a].i, all[a].j, NULL};
    rc = times(k, &all[a], count[a], &edges[out->n_edges++].cost, d);
  }
  sw_dict_deinit(&seen);
  sw_dict_deinit(&k->made);
  return rc;
}

sw_rc sw_problem_of_kinds(const sw_problem *p, sw_arena *arena, sw_problem *out, int32_t *kind, sw_diag *d) {
  kinds k = {.p = p, .arena = arena, .kind = kind};
  *out = (sw_problem){.name = p->name, .limit = p->limit};
  SW_TRY(find_kinds(&k, d));
  SW_TRY(add_nodes(&k, d));
  SW_TRY(add_edges(&k, out, d));
  out->n_nodes = k.n;
  out->nodes = k.nodes;
  for (int32_t i = 0; i < p->hubs_at; i++) out->hubs_at = kind[i] + 1 > out->hubs_at ? kind[i] + 1 : out->hubs_at;
  return SW_OK;
}
