/* The resharded copies that a plan makes. */
#ifndef PLAN_USES_H_
#define PLAN_USES_H_

#include "shardwright/plan.h"

/* In the order in which the program makes them: by step of the first use, then by operand. */
sw_rc sw_plan_reshards(const sw_plan *p, sw_arena *arena, int32_t *n, const sw_plan_reshard **out, sw_diag *d);
/* Position of every op in the main block, by op id; from the arena. */
sw_rc sw_plan_steps(const sw_graph *g, sw_arena *arena, const int32_t **out, sw_diag *d);

#endif
