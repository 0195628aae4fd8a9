/* Colour refinement: a node's next colour is that of its own and of the multiset of what its links lead to. Hashes of a
 * multiset's members are added up, so that no order matters.
 */
#include "select/symmetry.h"

#include <string.h>

#include "base/hash.h"

static void refine(int32_t n, uint64_t *colour, uint64_t *next, int32_t n_links, const sel_symmetry_link *links) {
  for (int32_t i = 0; i < n; i++) next[i] = sw_hash_u64(colour[i], 1);
  for (int32_t k = 0; k < n_links; k++) {
    const sel_symmetry_link *l = &links[k];
    for (int side = 0; side < 2; side++)
      next[l->node[side]] += sw_hash_u64(colour[l->node[!side]], sw_hash_u64(l->kind, (uint64_t)side + 2));
  }
  memcpy(colour, next, (size_t)n * sizeof *colour);
}

/* first[i] = the first with the same bytes. */
static sw_rc find_first_same(const void *keys, size_t size, int32_t n, int32_t *first, sw_diag *d) {
  sw_dict seen = {0};
  sw_rc rc = SW_OK;
  for (int32_t i = 0; i < n && !rc; i++) {
    int64_t *at;
    rc = sw_dict_put(&seen, (const char *)keys + (size_t)i * size, size, i, &at, NULL, d);
    if (!rc) first[i] = (int32_t)*at;
  }
  sw_dict_deinit(&seen);
  return rc;
}

typedef struct link_key {
  uint64_t kind;
  int32_t node[2];
} link_key;

static sw_rc find_link_reps(int32_t n_links, const sel_symmetry_link *links, const int32_t *rep, int32_t *rep_link,
                            sw_arena *mem, sw_diag *d) {
  link_key *keys;
  SW_ARENA_NEW(keys, mem, n_links, d);
  for (int32_t k = 0; k < n_links; k++)
    keys[k] = (link_key){links[k].kind, {rep[links[k].node[0]], rep[links[k].node[1]]}};
  return find_first_same(keys, sizeof *keys, n_links, rep_link, d);
}

sw_rc sel_symmetry_refine(int32_t n, uint64_t *colour, int32_t n_links, const sel_symmetry_link *links, int rounds,
                          int32_t *rep, int32_t *rep_link, sw_diag *d) {
  sw_arena mem = {0};
  uint64_t *next = sw_arena_alloc(&mem, (size_t)n, sizeof *next, d);
  sw_rc rc = next ? SW_OK : SW_E_RESOURCE;
  for (int k = 0; k + 1 < rounds && !rc; k++) refine(n, colour, next, n_links, links);
  if (!rc) rc = find_first_same(colour, sizeof *colour, n, rep, d);
  if (!rc) rc = find_link_reps(n_links, links, rep, rep_link, &mem, d);
  if (!rc) refine(n, colour, next, n_links, links);
  if (!rc) rc = find_first_same(colour, sizeof *colour, n, rep, d);
  sw_arena_deinit(&mem);
  return rc;
}

static uint64_t colour_of(const sel_core *c, int32_t i) {
  size_t n = (size_t)c->dom[i];
  uint64_t h = sw_hash_u64(sw_hash_quick(c->cost[i], n * sizeof **c->cost), (uint64_t)n);
  for (int32_t k = c->first_use[i]; k < c->first_use[i + 1]; k++)
    h = sw_hash_u64(h, sw_hash_quick(c->uses[k].amount, n * sizeof *c->uses[k].amount));
  return h;
}

static int32_t n_uses_of(const sel_core *c, int32_t i) { return c->first_use[i + 1] - c->first_use[i]; }

static bool is_forward(const sel_pair *g) { return g->i < g->j; }

sw_rc sel_symmetry_find(const sel_core *c, int rounds, sw_arena *mem, sel_symmetry *out, sw_diag *d) {
  uint64_t *colour;
  sel_symmetry_link *links;
  *out = (sel_symmetry){0};
  SW_ARENA_NEW(colour, mem, c->n, d);
  SW_ARENA_NEW(links, mem, c->n_pairs, d);
  SW_ARENA_NEW_EACH(mem, c->n, d, out->rep, out->count);
  SW_ARENA_NEW(out->rep_pair, mem, c->n_pairs, d);
  for (int32_t i = 0; i < c->n; i++) colour[i] = colour_of(c, i);
  for (int32_t e = 0; e < c->n_pairs; e++) {
    const sel_pair *g = &c->pairs[e];
    const bool forward = is_forward(g);
    links[e] = (sel_symmetry_link){{forward ? g->i : g->j, forward ? g->j : g->i}, 2 * (uint64_t)g->mat + forward};
  }
  SW_TRY(sel_symmetry_refine(c->n, colour, c->n_pairs, links, rounds, out->rep, out->rep_pair, d));
  for (int32_t i = 0; i < c->n; i++) { /* a hash may err */
    int32_t first = out->rep[i];
    if (c->dom[i] != c->dom[first] || n_uses_of(c, i) != n_uses_of(c, first)) out->rep[i] = first = i;
    out->n_classes += out->count[first]++ == 0;
  }
  for (int32_t e = 0; e < c->n_pairs; e++) {
    const sel_pair *g = &c->pairs[e], *first = &c->pairs[out->rep_pair[e]];
    if (g->mat != first->mat || is_forward(g) != is_forward(first)) out->rep_pair[e] = e;
  }
  return SW_OK;
}
