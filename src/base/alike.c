/* Colour refinement: a node's next colour is that of its own and of the multiset of what its links lead to. Hashes of a
 * multiset's members are added up, so that no order matters.
 */
#include "shardwright/alike.h"

#include <string.h>

#include "shardwright/hash.h"

static void refine(int32_t n, uint64_t *colour, uint64_t *next, int32_t n_links, const sw_alike_link *links) {
  for (int32_t i = 0; i < n; i++) next[i] = sw_hash_u64(colour[i], 1);
  for (int32_t k = 0; k < n_links; k++) {
    const sw_alike_link *l = &links[k];
    for (int side = 0; side < 2; side++)
      next[l->node[side]] += sw_hash_u64(colour[l->node[!side]], sw_hash_u64(l->kind, (uint64_t)side + 2));
  }
  memcpy(colour, next, (size_t)n * sizeof *colour);
}

/* first[i] = the first with the same bytes. */
static sw_rc find_first(const void *keys, size_t size, int32_t n, int32_t *first, sw_diag *d) {
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

static sw_rc find_links(int32_t n_links, const sw_alike_link *links, const int32_t *like, int32_t *like_link,
                        sw_arena *mem, sw_diag *d) {
  link_key *keys;
  SW_ARENA_NEW(keys, mem, n_links, d);
  for (int32_t k = 0; k < n_links; k++)
    keys[k] = (link_key){links[k].kind, {like[links[k].node[0]], like[links[k].node[1]]}};
  return find_first(keys, sizeof *keys, n_links, like_link, d);
}

sw_rc sw_alike(int32_t n, uint64_t *colour, int32_t n_links, const sw_alike_link *links, int rounds, int32_t *like,
               int32_t *like_link, sw_diag *d) {
  sw_arena mem = {0};
  uint64_t *next = sw_arena_alloc(&mem, (size_t)n, sizeof *next, d);
  sw_rc rc = next ? SW_OK : SW_E_RESOURCE;
  for (int k = 0; k + 1 < rounds && !rc; k++) refine(n, colour, next, n_links, links);
  if (!rc) rc = find_first(colour, sizeof *colour, n, like, d);
  if (!rc) rc = find_links(n_links, links, like, like_link, &mem, d);
  if (!rc) refine(n, colour, next, n_links, links);
  if (!rc) rc = find_first(colour, sizeof *colour, n, like, d);
  sw_arena_deinit(&mem);
  return rc;
}
