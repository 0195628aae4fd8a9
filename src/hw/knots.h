/* Knots over the formula of a class (profile.h): what they say, and that prices do not fall under them. */
#ifndef HW_KNOTS_H_
#define HW_KNOTS_H_

#include "hw/group.h"

/* The logarithm of the factor at a place among the numbers of members (1.25: a quarter of the way, in logarithms, from
 * the second to the third) and a size. */
SW_API double sw_knots_ln_factor(const sw_cost_knots *k, double position, double ln_bytes);
/* No price is below so much of the formula (NULL: no knots). */
SW_API double sw_knots_least_factor(const sw_cost_knots *k);
/* Does no price of up to so many members fall when bytes grow? */
SW_API bool sw_knots_rise(const sw_cost_line *l, sw_cost_class c, int64_t max_members);
/* Adds the latency of a part to the curve, and its knots, if there are any. `busy`: bytes over its busiest link of a
 * size of one. */
void sw_curve_add_knots(sw_curve *c, int i, const sw_cost_knots *k, double members, double busy, double latency_s);
/* One without knots that is nowhere below. */
sw_curve sw_curve_above_knots(const sw_curve *c);

#endif
