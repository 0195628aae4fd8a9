/* What a plan's timeline says of a reshard, for people. */
#ifndef REPORT_BESIDE_H_
#define REPORT_BESIDE_H_

#include "shardwright/plan.h"

/* Of an entry that is a step of a reshard: its collective; NULL: an op, or what breaks a kernel. */
const char *sw_timed_collective(const sw_breakdown *a, const sw_timed *e);
bool sw_timed_is_exchange(const sw_timed *e);
/* By reshard, how much of it runs beside kernels, over all its runs; added to what is there. */
void sw_reshards_hidden(const sw_timeline *t, double *hidden_s);
/* Of the reshard at this place of the breakdown, or (-1) of the op, which copies to the host or back: beside which
 * kernels it runs, and why not all of it does. `runs`: the words for it. */
void sw_beside_print(const sw_plan *p, const sw_breakdown *a, int32_t reshard, sw_id op, const char *runs,
                     sw_text *out);

#endif
