/* Inside the solver: a relaxation (relaxation.h) as its parts see it. */
#ifndef SELECT_COPIES_COPIES_H_
#define SELECT_COPIES_COPIES_H_

#include "base/hash.h"
#include "select/copies/copy_pattern.h"
#include "select/relaxation.h"

/* The lives of a group (lives.c), once they are counted. */
typedef struct sel_life sel_life;

struct sw_relaxation {
  const sw_problem *p; /* its owner's */
  int64_t followed;    /* the version of it that is counted here */
  int64_t made;        /* the version of `relaxed` that nodes and edges are of */
  int64_t named;       /* that at which copy nodes were last named anew, by a split */
  sw_arena *arena;
  SW_ARRAY(sel_pattern) patterns;
  int32_t *pattern_of;   /* by group of copies */
  int32_t *node_at;      /* by group: its first copy node, the others follow; -1: none */
  sel_life **life;       /* by group; NULL: not counted but for the least (sw_lives) */
  int32_t *life_at;      /* by group: its first life node, the others follow; -1: none */
  int32_t *least_at;     /* by group: the use of its maker that holds the least; -1: none */
  int32_t most_together; /* rows of a life node that knows what is made and wanted (lives.c) */
  sw_usage **uses;       /* by node: with those; NULL: as the problem has them */
  int32_t *n_uses;       /* of these */
  sw_dict life_shapes;
  SW_ARRAY(struct sel_life_shape *) life_shape;
  sw_problem relaxed;      /* its version rises with every change of the problem, and of how it is counted */
  SW_ARRAY(sw_node) nodes; /* of the problem, then copy nodes, then life nodes */
  SW_ARRAY(sw_edge) edges;
};

/* lives.c. Room for them, nothing counted yet. */
sw_rc sel_lives_init(sw_relaxation *r, sw_diag *d);
void sel_lives_deinit(sw_relaxation *r);
/* Count those that hold something while this choice holds more than the limit. */
sw_rc sel_lives_count(sw_relaxation *r, const int32_t *choice, int64_t limit, sw_diag *d);
/* The nodes of the problem as they are counted now. */
void sel_lives_hold(sw_relaxation *r);
/* Nodes and edges of what is counted, behind those that there are. */
sw_rc sel_lives_add(sw_relaxation *r, sw_diag *d);
/* Their choices, behind those of the problem's nodes that they go with. */
void sel_lives_complete(const sw_relaxation *r, int32_t *out);
int32_t sel_life_nodes(const sw_relaxation *r, int32_t group);
/* Do its life nodes pay for the copies, instead of copy nodes and edges? */
bool sel_life_pays(const sw_relaxation *r, int32_t group);

/* split.c. Leaves the shares in the patterns; *taken is false when they promised too little.
 * *work: steps counted. */
sw_rc sel_split_copies(sw_relaxation *r, const sw_split_options *o, bool *taken, int64_t *work, sw_diag *d);

#endif
