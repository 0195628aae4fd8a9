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
SW_API SW_CHECKED sw_rc sw_propagate(const sw_graph *g, const sw_machine *machine, sw_traversal t, sw_arena *arena,
                                     sw_plan *out, sw_diag *d);

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
