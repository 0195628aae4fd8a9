/* Inside the solver: choices in the time of a few sweeps. */
#ifndef SELECT_FIRST_H_
#define SELECT_FIRST_H_

#include "select/run.h"

/* Offers what sweeps over the variables of the problem's core find, before any reduction: an interrupt that comes early
 * then leaves more than nothing. *crowded: what they take without regard to the limit passes it. */
SW_CHECKED sw_rc sel_first_choices(sel_run *r, const sel_core *whole, bool *crowded, sw_diag *d);

#endif
