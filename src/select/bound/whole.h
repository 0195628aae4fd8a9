/* Inside the solver: the dual of a whole problem, without reductions.
 *
 * Reductions cost about as much as a hundred passes over one node of each kind. Where most nodes are alike, as in
 * graphs of repeated layers, the bound is therefore sooner there without them.
 */
#ifndef SELECT_WHOLE_H_
#define SELECT_WHOLE_H_

#include "select/core.h"

/* Edges of equal tables name one of them, so that these are laid out once. `c` borrows what it gets from `mem`. */
sw_rc sel_core_share_tables(sel_core *c, sw_arena *mem, sw_diag *d);

#endif
