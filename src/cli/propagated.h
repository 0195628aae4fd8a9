/* Plans of a StableHLO program by the shardings that Shardy's propagation gives it. */
#ifndef CLI_PROPAGATED_H_
#define CLI_PROPAGATED_H_

#include "cli/session.h"
#include "shardwright/propagate.h"

/* A plan of the session's program, by the annotations of `text`: the same program, propagated with `same_ops`. In the
 * arena, but for what is in *read: to be dropped (sw_close_job) behind the plan, also after a failure. */
SW_CHECKED sw_rc sw_plan_of_propagated(const sw_model_options *from, const sw_opened *session, const sw_text *text,
                                       sw_traversal t, sw_arena *arena, sw_opened *read, sw_plan *out, sw_diag *d);

/* What a compiler makes of the program when it is told the plan's shardings of arguments and results alone, as
 * in_shardings and out_shardings of jax.jit say them: said in the log beside what the plan costs and holds. Says
 * nothing of a model that is no program. */
SW_CHECKED sw_rc sw_tell_ends_alone(const sw_model_options *from, const sw_opened *session, const sw_plan *plan,
                                    const sw_breakdown *of_plan, sw_arena *arena, sw_diag *d);

#endif
