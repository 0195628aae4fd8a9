/* The prices of copies, split among the nodes that can want them (sharing.h), so that the relaxed problem's bound is
 * high: a shared problem of the solver (select.h), and its shares in the patterns. */
#ifndef STRATEGY_SPLIT_H_
#define STRATEGY_SPLIT_H_

#include "strategy/selection_data.h"

/* Leaves the shares in the patterns, which are no longer ready; *taken is false when they promised too little.
 * *work: steps counted. */
sw_rc sw_split_copies(sw_selection *s, const sw_split_options *o, bool *taken, int64_t *work, sw_diag *d);

#endif
