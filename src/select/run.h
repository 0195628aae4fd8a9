/* Inside the solver: one call of sw_solve. Every solver offers choices of the whole problem and raises the bound here;
 * what comes out is therefore scored by the same independent code whoever found it. */
#ifndef SELECT_RUN_H_
#define SELECT_RUN_H_

#include <pthread.h>

#include "select/proof.h"

typedef struct sel_run {
  unsigned rules; /* of the reductions */
  const sw_problem *p;
  const sw_solve_options *o;
  sel_budget budget; /* of the calling thread; others copy it */
  pthread_mutex_t lock;
  bool has;
  int64_t cost, bound;
  int32_t *best;       /* a choice per node, when `has` */
  const int32_t *warm; /* NULL, or that of the state to begin with, for every node */
  bool infeasible;
  int64_t least_peak;
  sel_proof *proof; /* NULL: no certificate is wanted */
  sw_presolve presolve;
  const char *solver; /* who found `best`, or the proof */
  sw_arena *arena;    /* of what is reported */
} sel_run;

/* Until when, and what work is foreseen until then. */
sel_budget sel_budget_of(const sw_solve_options *o);

/* sw_solve of a problem with copies, by relaxations. */
sw_rc sel_solve_copies(const sw_problem *p, const sw_solve_options *o, sw_arena *arena, sw_solution *out, sw_diag *d);
/* The choice to begin with, for every node; nodes that `from` does not know take what is cheapest by itself. NULL where
 * it has none. */
sw_rc sel_known_choice(const sw_problem *p, const sw_solve_state *from, sw_arena *arena, const int32_t **out,
                       sw_diag *d);

/* sw_solve of a problem without copies. */
sw_rc sel_solve_plain(const sw_problem *p, const sw_solve_options *o, sw_arena *arena, sw_solution *out, sw_diag *d);

/* sw_solve with nodes of one symmetry class choosing alike. */
sw_rc sel_solve_quotient(const sw_problem *p, const sw_solve_options *o, sw_arena *arena, sw_solution *out, sw_diag *d);

/* Keep the choice when it is feasible and better; *taken (NULL allowed) says so. */
sw_rc sel_offer(sel_run *r, const int32_t *choice, const char *solver, bool *taken, sw_diag *d);
/* A proven lower bound of the whole problem. */
void sel_raise(sel_run *r, int64_t bound);
/* Cost to beat; INT64_MAX when there is none. */
int64_t sel_best_cost(sel_run *r);
bool sel_closed(sel_run *r); /* bound meets cost within the gap asked for, or infeasible: nothing left to do */

sw_rc sel_solve_exhaustive(sel_run *r, sw_diag *d);
sw_rc sel_solve_native(sel_run *r, sw_diag *d);
sw_rc sel_solve_glpk(sel_run *r, sw_diag *d);

#endif
