/* Propagation (RFC): complete partial annotations to a plan, without search.
 *
 * Each op derives its strategy from what is annotated on its results and operands, and annotates those that have
 * nothing yet. One sweep goes against program order and one along it (or as the traversal says). For result annotations
 * count the definition's own, and else what all annotated uses agree on. An operand annotation on the definition gives
 * way where its axes are taken; one made for this use that disagrees is a conflict. Rows of a table that is looked into
 * come last: what is looked up keeps its batch, and rows are cut by the axes that are left.
 */
#ifndef SHARDWRIGHT_PROPAGATE_H_
#define SHARDWRIGHT_PROPAGATE_H_

#include "shardwright/plan.h"

typedef enum sw_traversal {
  SW_TRAVERSE_BACKWARD_FORWARD, /* as the RFC; the default */
  SW_TRAVERSE_FORWARD_BACKWARD,
  SW_TRAVERSE_FORWARD,
  SW_TRAVERSE_BACKWARD,
} sw_traversal;
SW_API bool sw_traversal_parse(const char *text, sw_traversal *out); /* "backward-forward", ... */

/* A plan that meets every required annotation, and hints as far as these and the rules allow: a hint that excludes
 * another annotation is left (sw_plan_keeps tells). Where the rules do not find shardings that meet the requirements a
 * search does. SW_E_INFEASIBLE names two requirements that exclude each other. */
SW_API SW_CHECKED sw_rc sw_propagate(const sw_job *j, sw_traversal t, sw_arena *arena, sw_plan *out, sw_diag *d);

/* The plan of sw_propagate among those that a search knows (o->known; there were none), where there are annotations and
 * it makes one of them: the search ends with nothing dearer. In the arena. */
SW_API SW_CHECKED sw_rc sw_propagate_known(const sw_job *j, sw_arena *arena, sw_plan_options *o, sw_diag *d);

/* --- the RFC's mutation loop ---------------------------------------------------------------------------------------
 *
 * Propagation starts from the annotations; then ops are given other sharding options at random, or lose them again,
 * propagation is repeated, and what judges better stays (mutate.c). */

typedef struct sw_mutate_options {
  sw_traversal traversal;
  int64_t iterations;  /* changes that are tried; 0: until time is up */
  double time_limit_s; /* 0: none */
  uint64_t seed;       /* one seed, one sequence of changes: more iterations only go on with it */
  int64_t capacity_bytes;
  sw_cancel *cancel; /* NULL allowed: when it is set the best plan so far is the answer */
} sw_mutate_options;

/* What a plan is judged by. Less is better; one that fits is better than one that does not. */
typedef struct sw_mutate_measures {
  double moved_bytes;     /* received by all devices together */
  double redundant_flops; /* of all devices beyond those of one that runs the model alone */
  int64_t peak_bytes;     /* of one device */
  bool fits;
  /* What the machine needs for these three: bytes as an all_gather over the mesh moves them, flops as its devices do
   * them, the peak read once. */
  double score_s;
} sw_mutate_measures;

typedef struct sw_mutated {
  sw_plan plan; /* the best one met: never worse than the start */
  sw_mutate_measures start, best;
  int64_t tried, better; /* changes, and how often one was better than all before */
} sw_mutated;

/* Fails as sw_propagate, with which it starts. */
SW_API SW_CHECKED sw_rc sw_propagate_mutated(const sw_job *j, const sw_mutate_options *o, sw_arena *arena,
                                             sw_mutated *out, sw_diag *d);

/* Layers of Shardy's propagation, each with all before it: shardings that nothing contradicts; conflicts resolved; ops
 * that only hand shardings on first; shardings by their priorities; and what of its import changes where shardings go,
 * for programs as people write them. */
typedef enum sw_layer {
  SW_LAYER_BASIC,
  SW_LAYER_AGGRESSIVE,
  SW_LAYER_OP_PRIORITY,
  SW_LAYER_USER_PRIORITY,
  SW_LAYER_WHOLE
} sw_layer;

#endif
