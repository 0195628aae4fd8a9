/* The timeline of a plan: what its account has, laid out on the streams of a device. */
#ifndef PLAN_TIMED_H_
#define PLAN_TIMED_H_

#include "plan/borders.h"

/* Of a plan whose account stands, but for its timeline. held: by reshard, from when its copy is held, as it may be
 * issued then, and until when that of which it is made, where the account has this for no longer; then by op, when what
 * it copies to the host or back is held beyond the account (none: last < first). In the arena. */
SW_CHECKED sw_rc sw_plan_time(const sw_plan *p, const sw_breakdown *a, const sw_plan_borders *borders, sw_arena *arena,
                              sw_interval *held, sw_timeline *out, sw_diag *d);

#endif
