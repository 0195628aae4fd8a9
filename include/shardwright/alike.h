/* Which nodes of a graph look alike, and which links: for work on one node of a kind instead of on all, as in graphs of
 * repeated layers.
 *
 *   a - b - b - b - b - b - a    after one round the three in the middle are alike, after two none
 */
#ifndef SHARDWRIGHT_ALIKE_H_
#define SHARDWRIGHT_ALIKE_H_

#include "shardwright/arena.h"

typedef struct sw_alike_link {
  int32_t node[2];
  uint64_t kind;
} sw_alike_link;

/* Nodes are alike when they have equal colours, and after each round (at least one) also the same kinds of links, to
 * nodes that were alike before. Links are alike when they have one kind and join nodes that were alike before the last
 * round: so alike nodes have alike links. like[i] (n) and like_link[k] (n_links) get the first node or link that i or k
 * is like. Equal hashes count as equal: ask again where it must be certain. `colour` (n) is overwritten. */
SW_API SW_CHECKED sw_rc sw_alike(int32_t n, uint64_t *colour, int32_t n_links, const sw_alike_link *links, int rounds,
                                 int32_t *like, int32_t *like_link, sw_diag *d);

#endif
