/* Inside the solver: branch and bound on what the reductions leave. */
#ifndef SELECT_BRANCH_H_
#define SELECT_BRANCH_H_

#include "select/bound/dual.h"
#include "select/presolve/presolve_model.h"
#include "select/run.h"

/* The core that the searches work on, and how to bring a choice of it home. */
typedef struct sel_base {
  sel_run *r;
  const sel_model *model; /* whose rest `core` is */
  const sel_core *core;
  int32_t *full;         /* a value per variable of the model; scratch */
  sel_proof_part *proof; /* of bounds of the core; NULL: none */
  bool relaxed;          /* the core knows nothing of the limit: what is optimal for it may break it */
} sel_base;

/* Offer a choice of the core. */
sw_rc sel_base_offer(const sel_base *k, const int32_t *x, const char *solver, bool *taken, sw_diag *d);
/* What a choice of the core must stay below; INT64_MAX without any. */
int64_t sel_base_target(const sel_base *k);
/* Raise the bound of the whole problem by one of the core, without its offset. */
void sel_base_raise(const sel_base *k, int64_t bound);
/* Exact when what is left has no uses and is narrow: *done. A choice is reported; the proof gets the order of
 * elimination. */
sw_rc sel_base_narrow(const sel_base *k, sel_budget *b, int64_t *value, bool *done, sw_diag *d);

/* Best bound first. `lambda` starts the root's prices; `whole` is the budget of all runs together. */
typedef struct sel_brancher sel_brancher;
sw_rc sel_branch_open(const sel_base *k, const double *lambda, sel_budget *whole, sel_brancher **out, sw_diag *d);
void sel_branch_close(sel_brancher *q);
/* Go on until nothing is open or `part` is spent, between nodes. When nothing is open the run is closed: the best
 * choice is optimal, or there is none; but *broken: what is best of the core, and better than what is known, breaks the
 * limit that the core leaves out, so that nothing more is to be proven here. */
sw_rc sel_branch_run(sel_brancher *q, const sel_budget *part, bool *broken);

#endif
