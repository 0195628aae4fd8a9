/* Inside the solver: a relaxation (relaxation.h) as its parts see it. */
#ifndef SELECT_COPIES_COPIES_H_
#define SELECT_COPIES_COPIES_H_

#include "select/copies/pattern.h"
#include "select/relaxation.h"

struct sw_relaxation {
  const sw_problem *p;
  sw_arena *arena;
  SW_ARRAY(sel_pattern) patterns;
  int32_t *pattern_of; /* by group of copies */
  int32_t *node_at;    /* by group: its first copy node, the others follow; -1: none */
  sw_problem relaxed;
  SW_ARRAY(sw_node) nodes; /* of the problem, then copy nodes */
  SW_ARRAY(sw_edge) edges;
};

/* split.c. Leaves the shares in the patterns, which are no longer ready; *taken is false when they promised too little.
 * *work: steps counted. */
sw_rc sel_split_copies(sw_relaxation *r, const sw_split_options *o, bool *taken, int64_t *work, sw_diag *d);

#endif
