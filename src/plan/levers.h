/* Ways to run a program in less memory (plan.h). */
#ifndef PLAN_LEVERS_H_
#define PLAN_LEVERS_H_

#include "shardwright/plan.h"

/* Of a lever, the fastest plan made by rule that fits and breaks nothing, else that which holds least; NULL: none. */
SW_API const sw_comparison *sw_lever_best(const sw_ruled_lever *l, int64_t capacity);
/* The lever that has the best; NULL: there is none. */
SW_API const sw_ruled_lever *sw_levers_best(const sw_ruled_levers *l, int64_t capacity);
/* The job on a mesh whose first axis is longer, as it would be read with it. SW_E_INPUT: its annotations do not allow
 * that. In the arena. */
SW_API SW_CHECKED sw_rc sw_job_on_mesh(const sw_job *j, const sw_mesh *mesh, sw_arena *arena, sw_job *out, sw_diag *d);

#endif
