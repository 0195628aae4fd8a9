/* Inside the solver: symmetry classes, as in graphs of repeated layers, for work on one variable of a class instead of
 * on all. Found by colour refinement: variables are alike when they have equal costs and amounts, and after each round
 * also equal tables to variables that were alike before.
 *
 *   a - b - b - b - b - b - a    after one round the three in the middle are alike, after two none
 */
#ifndef SELECT_SYMMETRY_H_
#define SELECT_SYMMETRY_H_

#include "select/core.h"

typedef struct sel_symmetry_link {
  int32_t node[2];
  uint64_t kind;
} sel_symmetry_link;

/* Nodes are alike when they have equal colours, and after each round (at least one) also the same kinds of links, to
 * nodes that were alike before. Links are alike when they have one kind and join nodes that were alike before the last
 * round: so alike nodes have alike links. rep[i] (n) and rep_link[k] (n_links) get the first node or link that i or k
 * is like. Equal hashes count as equal: ask again where it must be certain. `colour` (n) is overwritten. */
sw_rc sel_symmetry_refine(int32_t n, uint64_t *colour, int32_t n_links, const sel_symmetry_link *links, int rounds,
                          int32_t *rep, int32_t *rep_link, sw_diag *d);

/* Of a core. Those who are alike have as many values and uses; their pairs have one table, its rows at the same end,
 * and the earlier variable at the same end. */
typedef struct sel_symmetry {
  int32_t n_classes;
  int32_t *rep, *rep_pair; /* the first variable, and pair, of the same class */
  int32_t *count;          /* how many have this variable for their first */
} sel_symmetry;
/* Tables are compared by their numbers (sel_core_pool_tables). In `mem`. */
sw_rc sel_symmetry_find(const sel_core *c, int rounds, sw_arena *mem, sel_symmetry *out, sw_diag *d);

#endif
