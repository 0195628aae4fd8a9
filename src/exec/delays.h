/* A plan's timeline as what the streams of its devices do. */
#ifndef EXEC_DELAYS_H_
#define EXEC_DELAYS_H_

#include "shardwright/exec.h"
#include "shardwright/spmd.h"

/* Of the plan's program, which no passes have changed; the step takes so many seconds. In the arena. SW_E_INPUT where
 * the plan has no timeline, or passes. */
SW_CHECKED sw_rc sw_delays_of_plan(const sw_plan *p, const sw_spmd *s, double step_s, sw_arena *arena,
                                   sw_exec_delays *out, sw_diag *d);

#endif
