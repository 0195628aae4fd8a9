/* How a dimension that is cut is cut along the factors of a rule. */
#ifndef IO_MLIR_OPT_FACTOR_AXES_H_
#define IO_MLIR_OPT_FACTOR_AXES_H_

#include "io/mlir/shardy/shardy.h"

/* The axes of a dimension to its factors, major first; an axis that is larger than what is left of one goes on in the
 * next. Added to out[] by factor. False: they are not products of them. */
bool sw_axes_along_factors(const sw_flow_rule *rule, const sw_flow_dim *dim, const sw_axis_ref *refs, int n,
                           sw_axes *out);

#endif
