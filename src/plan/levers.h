/* Ways to run a program in less memory (plan.h). */
#ifndef PLAN_LEVERS_H_
#define PLAN_LEVERS_H_

#include "shardwright/plan.h"

/* Of a lever, the fastest plan made by rule that fits and breaks nothing, else that which holds least; NULL: none. */
SW_API const sw_comparison *sw_lever_best(const sw_ruled_lever *l, int64_t capacity);
/* The lever that has the best; NULL: there is none. */
SW_API const sw_ruled_lever *sw_levers_best(const sw_ruled_levers *l, int64_t capacity);

#endif
