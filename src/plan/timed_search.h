/* The search where communication runs beside kernels: what a collective is counted at is the share of it that the
 * timeline of the best plan so far exposes, in some rounds.
 *
 * What such a search proves is of the timeline, too. A step takes no less than its kernels W with k of what it
 * exchanges on a level C, as those beside a collective are slower (k = 1 - 1 / contention), no less than C, and no less
 * than its launches H, nor than what goes to the host D or comes from there E. So where W + s C + h H + d D + e E is at
 * least B for all plans, s of several levels being added up, a step takes at least
 *
 *   B / (1 + h + d + e + max(0, s - k))
 */
#ifndef PLAN_TIMED_SEARCH_H_
#define PLAN_TIMED_SEARCH_H_

#include "shardwright/plan.h"

/* Of a second of communication that a kernel hides, what the kernel is longer for. */
double sw_timed_least_share(const sw_machine *m);
/* Bits of the links that plans may use: levels that the mesh reaches, and the host's where the program has copies. */
unsigned sw_timed_links(const sw_job *j);
/* Units that decide between equals are no time: at most so many. */
int64_t sw_units_beside_time(const sw_job *j);

/* Weights as multiples of 1 / SW_WEIGHT_UNIT, so that what is proven by them adds up exactly. */
sw_price_weights sw_weights_rounded(const sw_price_weights *w);
/* What the costs of a problem under such prices prove. */
sw_bound_weights sw_weights_of_bound(const sw_machine *m, const sw_price_weights *by, unsigned links);

/* By what shares a plan was searched for, under which its search's units are. */
typedef struct sw_timed_prices {
  const sw_job *job; /* by whose overlap plans are timed; NULL: none was */
  sw_price_weights weights;
} sw_timed_prices;

/* The record of a search by shares becomes that of the timeline: the time and bound in units of cost, the part by which
 * it is dearer than the cheapest one as it was by shares. The plan becomes one of the prices' job. */
SW_CHECKED sw_rc sw_timed_record(const sw_timed_prices *by, sw_plan *plan, sw_arena *arena, sw_breakdown *out,
                                 sw_diag *d);

/* planner.c: a planner by the prices of the job's machine, of a job without overlap. */
SW_CHECKED sw_rc sw_planner_open_priced(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_planner **out,
                                        sw_plan *plan, sw_diag *d);
/* Steps that its search has taken. */
int64_t sw_planner_work(const sw_planner *p);
/* Its answers become those of the timeline. */
void sw_planner_answer_by(sw_planner *p, const sw_timed_prices *by);

/* As sw_planner_open, of a job with overlap. */
SW_CHECKED sw_rc sw_timed_search(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_planner **out,
                                 sw_plan *plan, sw_diag *d);

#endif
