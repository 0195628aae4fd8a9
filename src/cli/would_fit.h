/* What would fit, where no plan of a model does. */
#ifndef CLI_WOULD_FIT_H_
#define CLI_WOULD_FIT_H_

#include "shardwright/plan.h"

/* Notes of the failure to plan the job, which runs as it is written: what is made again in plans made by rule that fit,
 * and what that costs over the fastest by rule without a limit; where none does, on how many devices one would. */
void sw_note_levers(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_diag *d);

#endif
