/* Inside the solver: small cores, exactly. */
#ifndef SELECT_LEAF_H_
#define SELECT_LEAF_H_

#include "select/core.h"

bool sel_leaf_small(const sel_core *c);
/* The cheapest choice that costs less than `below` and keeps every cap; *cost is min(below, SW_FORBIDDEN) when there is
 * none. */
sw_rc sel_leaf_solve(const sel_core *c, int64_t below, sel_budget *b, int32_t *best, int64_t *cost, sw_diag *d);

#endif
