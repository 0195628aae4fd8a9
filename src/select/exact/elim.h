/* Inside the solver: exact minimum of a core without memory, by variable elimination. */
#ifndef SELECT_ELIM_H_
#define SELECT_ELIM_H_

#include "select/core.h"

typedef struct sel_elim_plan {
  bool fits;            /* every table stays within the cap, and all of them within the total */
  int32_t *order;       /* variables, first to go first */
  int32_t *place;       /* variable -> position in order */
  int32_t *scope_first; /* n + 1: what the variable at a position still touches when it goes */
  int32_t *scope;
  int64_t cells; /* of all tables together, the variable itself included */
} sel_elim_plan;

enum { SEL_ELIM_ALL_CELLS = 1 << 26 };

/* Greedy order, smallest table first, ties by number. The caps are in cells; the plan lives in `mem`. */
sw_rc sel_elim_plan_build(const sel_core *c, int64_t cap, int64_t all_cap, sw_arena *mem, sel_elim_plan *out,
                          sw_diag *d);
/* Minimum over all choices of cost[i][x[i]] + pairs; x gets one that reaches it. SW_FORBIDDEN: no choice is allowed.
 * Costs in [0, SW_FORBIDDEN]. *done is false when the budget ended it. */
sw_rc sel_elim_run(const sel_core *c, const sel_elim_plan *plan, const int64_t *const *cost, sel_budget *b, int32_t *x,
                   int64_t *value, bool *done, sw_diag *d);

#endif
