/* Inside the solver, and of the search of plans: the numbers that they go by (parameters.def). */
#ifndef SELECT_PARAMETERS_H_
#define SELECT_PARAMETERS_H_

#include "shardwright/select.h"

struct sw_parameters {
#define PARAMETER(name, unit, by_default, least, most, trades) double name;
#include "select/parameters.def"
#undef PARAMETER
};

extern const sw_parameters sel_by_default;

/* Those given, else the defaults. */
static inline const sw_parameters *sel_parameters(const sw_parameters *given) {
  return given ? given : &sel_by_default;
}

#endif
