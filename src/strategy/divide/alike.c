/* Repeated layers: which nodes, links and parts are alike, and passes over one of each kind. */
#include "strategy/divide/divider.h"

#include <string.h>

#include "shardwright/alike.h"
#include "shardwright/hash.h"

static uint64_t colour_of(const dv_divider *v, int32_t i) {
  const sw_node *node = &v->p->nodes[i];
  size_t n = (size_t)node->n_choices;
  uint64_t h = sw_hash_u64(sw_hash_quick(node->cost, n * sizeof *node->cost), (uint64_t)n);
  for (int32_t k = 0; k < node->n_uses; k++)
    h = sw_hash_u64(h, sw_hash_quick(node->uses[k].amount, n * sizeof *node->uses[k].amount));
  return h;
}

static uint64_t hash_of(uint64_t h, const void *bytes, size_t n) { return sw_hash_u64(h, sw_hash_quick(bytes, n)); }

/* Tables of consumers that pay the same for the same, but for their parts. */
static uint64_t kind_of(const dv_table *t) {
  const sw_wants *w = t->wants;
  uint64_t h = hash_of(0, t->fixed, (size_t)t->n[0] * (size_t)t->wide[1] * sizeof *t->fixed);
  h = hash_of(h, w->first, ((size_t)w->n_classes + 1) * sizeof *w->first);
  h = hash_of(h, w->id, (size_t)w->first[w->n_classes] * sizeof *w->id);
  return sw_hash_u64(h, t->divided ? (uint64_t)t->pattern + 1 : 0);
}

/* A hash may err; what passes rely on is that those who are alike have as much of everything. */
static bool are_alike(const dv_divider *v, int32_t i, int32_t j) {
  return dv_choices(v, i) == dv_choices(v, j) && v->p->nodes[i].n_uses == v->p->nodes[j].n_uses;
}

static bool are_alike_links(const dv_divider *v, size_t k, int32_t j) {
  const dv_table *a = &v->tables.at[v->links.at[k].table], *b = &v->tables.at[v->links.at[j].table];
  return a->n[0] == b->n[0] && a->n[1] == b->n[1];
}

/* Look for nodes that are alike: where they are many, passes over one of each kind come near to those over all. */
sw_rc dv_find_alike(dv_divider *v, sw_diag *d) {
  enum { ROUNDS = 2, FEWEST = 4 }; /* parts need only be good: kinds that are few lead further in time */
  uint64_t *colour, *kind;
  sw_alike_link *links;
  int32_t kinds = 0;
  SW_ARENA_NEW(colour, &v->mem, v->n, d);
  SW_ARENA_NEW(links, &v->mem, v->links.n, d);
  SW_ARENA_NEW(v->like, &v->mem, v->n, d);
  SW_ARENA_NEW(v->alike, &v->mem, v->n, d);
  SW_ARENA_NEW(v->like_link, &v->mem, v->links.n, d);
  SW_ARENA_NEW(kind, &v->mem, v->tables.n, d);
  for (size_t k = 0; k < v->tables.n; k++) kind[k] = kind_of(&v->tables.at[k]);
  for (int32_t i = 0; i < v->n; i++) colour[i] = colour_of(v, i);
  for (size_t k = 0; k < v->links.n; k++) {
    const dv_link *l = &v->links.at[k];
    links[k] = (sw_alike_link){{l->node[0], l->node[1]}, kind[l->table]};
  }
  SW_TRY(sw_alike(v->n, colour, (int32_t)v->links.n, links, ROUNDS, v->like, v->like_link, d));
  for (int32_t i = 0; i < v->n; i++) {
    if (!are_alike(v, i, v->like[i])) v->like[i] = i;
    kinds += v->alike[v->like[i]]++ == 0;
  }
  for (size_t k = 0; k < v->links.n; k++)
    if (!are_alike_links(v, k, v->like_link[k])) v->like_link[k] = (int32_t)k;
  if (kinds > v->n / FEWEST) v->like = NULL;
  return SW_OK;
}

/* Parts of one route whose takers are alike: like_part[a] is the first of them, n_like_part how many. */
sw_rc dv_find_like_parts(dv_divider *v, sw_diag *d) {
  int32_t *like_table, *first, *slot_of, *taker;
  SW_ARENA_NEW(like_table, &v->mem, v->tables.n, d);
  SW_ARENA_NEW(first, &v->mem, v->tables.n, d);
  SW_ARENA_NEW(slot_of, &v->mem, v->tables.n, d);
  SW_ARENA_NEW(taker, &v->mem, v->n_parts, d);
  SW_ARENA_NEW(v->like_part, &v->mem, v->n_parts, d);
  SW_ARENA_NEW(v->n_like_part, &v->mem, v->n_parts, d);
  for (size_t k = 0; k < v->links.n; k++) like_table[v->links.at[k].table] = v->links.at[v->like_link[k]].table;
  for (size_t k = 0; k < v->tables.n; k++) {
    const dv_table *t = &v->tables.at[k];
    for (int32_t c = 0; t->part_at && c < t->n[0] * t->n_ids; c++)
      if (t->part_at[c] >= 0) taker[t->part_at[c]] = like_table[k];
  }
  for (size_t k = 0; k < v->slots.n; k++) {
    for (int32_t a = v->slots.at[k].first; a < v->slots.at[k].first + v->slots.at[k].n; a++) {
      int32_t t = taker[a];
      if (slot_of[t] != (int32_t)k + 1) first[t] = a;
      slot_of[t] = (int32_t)k + 1;
      v->like_part[a] = first[t];
      v->n_like_part[first[t]]++;
    }
  }
  return SW_OK;
}

/* Links that are alike have their messages in one place. */
void dv_lift(dv_divider *v) {
  v->lifted = true;
  for (size_t k = 0; k < v->links.n; k++)
    memcpy(v->links.at[k].msg, v->links.at[v->like_link[k]].msg, sizeof v->links.at[k].msg);
}

/* Each link has its own messages again: those of its kind. */
void dv_lower(dv_divider *v) {
  v->lifted = false;
  dv_place_messages(v);
  for (size_t k = 0; k < v->links.n; k++) {
    const dv_link *l = &v->links.at[k], *first = &v->links.at[v->like_link[k]];
    for (int side = 0; side < 2 && l != first; side++)
      memcpy(l->msg[side], first->msg[side], (size_t)v->tables.at[l->table].wide[side] * sizeof *l->msg[side]);
  }
}
