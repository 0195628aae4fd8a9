/* Inside the solver: the dual warm start: prices and messages that go from one problem to the next one like it. */
#ifndef SELECT_WARM_START_H_
#define SELECT_WARM_START_H_

#include "select/bound/dual.h"
#include "select/presolve/presolve_model.h"

/* Begin with what is known of another problem, as far as links and values are the same; *any: there are some. */
sw_rc sel_warm_start_take(sel_dual *u, const sel_model *m, const sw_solve_state *from, bool *any, sw_diag *d);
/* The best prices and messages, in the arena. */
sw_rc sel_warm_start_give(const sel_dual *u, const sel_model *m, sw_arena *arena, sw_solve_state *to, sw_diag *d);

#endif
