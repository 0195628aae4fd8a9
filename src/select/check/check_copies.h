/* Inside the check of certificates: how copies are counted, until nodes and edges are left.
 *
 * "copies" lines name layouts that nodes of their own count exactly, "share" lines say how the cost of another layout
 * is split; where nothing is said, shares are equal. Whatever is said, no choice costs more than with each copy paid
 * once. */
#ifndef SELECT_CHECK_CHECK_COPIES_H_
#define SELECT_CHECK_CHECK_COPIES_H_

#include "select/check/check.h"

typedef struct chk_copy_node {
  int32_t group, n;
  const int32_t *layout;
} chk_copy_node;

typedef struct chk_copies {
  const sw_problem *p;
  sw_arena mem;
  bool **has_node;  /* by group, layout; NULL: none has */
  int64_t ***share; /* by group, layout: [class of the maker][reader]; NULL: equal */
  chk_copy_node *nodes;
  int32_t n_nodes, cap_nodes;
} chk_copies;

sw_rc chk_copies_init(chk_copies *c, const sw_problem *p, sw_diag *d);
/* row: group, layouts. */
chk_verdict chk_copies_node(chk_copies *c, const int64_t *row, size_t n, sw_rc *rc);
/* row: group, layout, class of the maker, a share for every reader that can want it. */
chk_verdict chk_copies_share(chk_copies *c, const int64_t *row, size_t n, sw_rc *rc);
/* The problem of nodes and edges, in c->mem. */
chk_verdict chk_copies_build(chk_copies *c, sw_problem *out, sw_rc *rc);

#endif
