/* Inside the solver: small cores that branch and bound has not closed go to GLPK for a while. */
#ifndef SELECT_MILP_H_
#define SELECT_MILP_H_

#include "select/exact/branch.h"

/* Offer what GLPK finds below the best cost, until `b` is spent. GLPK's floats decide nothing: choices are scored
 * exactly like all others. Costs are those that the messages of `u` leave, and values that its bound rules out are left
 * out. `known`: a choice of the core that keeps its caps. Does nothing when the core is too large, or in a build
 * without GLPK. */
sw_rc sel_milp_improve(const sel_base *k, sel_dual *u, const int32_t *known, sel_budget *b, sw_diag *d);

#endif
