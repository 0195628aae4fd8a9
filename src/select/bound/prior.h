/* Inside the solver: prices and messages that go from one problem to the next one like it. */
#ifndef SELECT_PRIOR_H_
#define SELECT_PRIOR_H_

#include "select/bound/dual.h"
#include "select/presolve/model.h"

/* Begin with what was learned about another problem, as far as links and values are the same; *any: there are some. */
sw_rc sel_prior_take(sel_dual *u, const sel_model *m, const sw_learned *from, bool *any, sw_diag *d);
/* The best prices and messages, in the arena. */
sw_rc sel_prior_give(const sel_dual *u, const sel_model *m, sw_arena *arena, sw_learned *to, sw_diag *d);

#endif
