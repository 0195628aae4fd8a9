/* Plans of schedules that leave something to the plan. */
#ifndef PLAN_CHOICES_H_
#define PLAN_CHOICES_H_

#include "shardwright/plan.h"

/* Of a plan made by rule: nothing is made again that need not be. */
void sw_plan_keep_all(sw_plan *p);
/* What a strategy of a keep takes for the way (sw_strategy.takes). */
int8_t sw_plan_takes_of(const sw_job *j, sw_id keep, sw_keep_way way);
/* A keep gives what it takes (sw_strategy.takes), cut as it is made. */
void sw_plan_keep_as_made(sw_plan *p, sw_id keep, int8_t takes);
/* Cuts all on the host that goes with what the op offloads, and what is fetched of it, as that is cut. on_host.c. */
SW_CHECKED sw_rc sw_plan_cut_on_host(sw_plan *p, sw_id offload, sw_arena *mem, sw_diag *d);

/* same_layers.c. Where the same is made again in layers: in all, if in any; as in most; in the first so many. */
typedef enum sw_unite { SW_UNITE_ALL, SW_UNITE_MOST, SW_UNITE_FIRST, SW_UNITE_COUNT } sw_unite;
/* A plan of a schedule with choices, with one decision for what has the same place in layers; it may be no plan any
 * more. Its ops are in the arena. */
SW_CHECKED sw_rc sw_plan_unite_layers(const sw_plan *p, sw_unite how, sw_arena *arena, sw_plan *out, bool *changed,
                                      sw_diag *d);

#endif
