/* Inside the solver: bounds and choices of what the reductions leave, in turns and side by side. */
#ifndef SELECT_SEARCH_H_
#define SELECT_SEARCH_H_

#include "select/exact/branch.h"

/* Until the run is closed or the budget is spent. Uses as many threads as the run's options say. */
sw_rc sel_search(const sel_base *k, sel_budget *b, sw_diag *d);

#endif
