/* Dividing what copies cost among their takers, so that the relaxed problem's bound is high.
 *
 * Each consumer that can want a copy pays its part of the route when it does (sharing.h). The bound is a concave
 * function of the parts: it is raised by supergradient steps, together with prices on memory, on messages along the
 * uses of values (TRW-S, as in the solver, but in classes of choices that give or want the same). A consumer whose
 * marginals want the copy more than others' gets a larger part. Values of one pattern have the same parts.
 *
 * Example: x is wanted whole by a and b, or cut by b alone at a little more. In equal parts b pays half of the gather
 * and a the other half; with all of it charged to a, who has no choice, b need not pay: the bound is the truth.
 */
#ifndef STRATEGY_DIVIDE_DIVIDE_H_
#define STRATEGY_DIVIDE_DIVIDE_H_

#include "strategy/selection_data.h"

/* Leaves the parts in the patterns, which are no longer ready; *taken is false when they promised too little. Floats
 * guide; any parts that add up are right. *work: steps counted. */
sw_rc sw_divide_parts(sw_selection *s, const sw_divide_options *o, bool *taken, int64_t *work, sw_diag *d);

#endif
