/* What no plan holds less than. */
#ifndef STRATEGY_LEAST_HELD_H_
#define STRATEGY_LEAST_HELD_H_

#include "shardwright/selection.h"

/* The choices of a selection problem, with routes that are free and memory that every plan of these choices holds at
 * each step. A value counts in full up to its first use, and from then on as the smallest copy that could stand for it
 * where it is needed last; the problem itself, whose limit steers a search, counts it in full to the end. Without a
 * limit. In the arena; borrows the problem's tables. */
SW_CHECKED sw_rc sw_selection_least_held(const sw_selection *s, sw_arena *arena, sw_problem *out, sw_diag *d);

#endif
