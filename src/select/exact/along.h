/* Inside the solver: narrow cores with memory, exactly. */
#ifndef SELECT_ALONG_H_
#define SELECT_ALONG_H_

#include "select/core.h"

typedef struct sel_along_options {
  const double *lambda; /* per step: prices on memory that make a good bound */
  int64_t below;        /* only choices that cost less are of interest */
  int32_t most_labels;  /* at any time; what needs more is given up */
} sel_along_options;

typedef struct sel_along_result {
  bool done;     /* `best` is the cheapest choice, or there is none below what was asked */
  bool found;    /* there is one */
  int64_t cost;  /* of it */
  int64_t bound; /* proven of any choice below what was asked, done or not; at most that */
} sel_along_result;

/* best[n] gets the choice. Leaves *out without a bound where tables would be too large. */
sw_rc sel_along_solve(const sel_core *c, const sel_along_options *o, sel_budget *b, int32_t *best,
                      sel_along_result *out, sw_diag *d);

#endif
