/* Inside the solver: a selection problem in frozen form, and what every long loop must watch.
 *
 * Steps are the maximal stretches of time over which no use begins or ends; cap[t] is what the uses may occupy in
 * step t. A solution of a core is a choice per variable; its price in the problem above adds `offset`.
 */
#ifndef SELECT_CORE_H_
#define SELECT_CORE_H_

#include <stdatomic.h>

#include "select/parameters.h"
#include "base/checked.h"

/* One per thread. Work is counted in table cells touched, so that a work limit means the same on every machine. How
 * long parts of a search take hangs on counted work alone; the clock only ends the whole. */
typedef struct sel_budget {
  double start_s, deadline_s; /* of sw_now_s; deadline 0: none */
  sw_cancel *cancel;
  const atomic_int *halt;          /* NULL, or not zero when another thread wants an end */
  int64_t work, work_limit;        /* limit 0: none */
  int64_t foreseen;                /* work at which the end is expected */
  const sw_parameters *parameters; /* NULL: the defaults */
} sel_budget;

static inline void sel_spend(sel_budget *b, int64_t cells) { b->work += cells; }
bool sel_stop(const sel_budget *b); /* time, work or patience is over */
/* A part of `b`: ends after so many steps more (the fewer of both numbers), and never after `b`. Give the work done
 * back with sel_budget_join. */
sel_budget sel_budget_part(const sel_budget *b, double steps, int64_t cells);
/* Those of the call. */
static inline const sw_parameters *sel_by(const sel_budget *b) { return sel_parameters(b->parameters); }
void sel_budget_join(sel_budget *b, const sel_budget *part);
double sel_elapsed(const sel_budget *b);
/* The steps that are left: at least a small part of what was foreseen. */
double sel_left(const sel_budget *b);
double sel_left_on_clock(const sel_budget *b); /* until the deadline; large when there is none */

typedef struct sel_usage {
  int32_t var, begin, end; /* steps, half-open */
  const int64_t *amount;   /* one per choice */
} sel_usage;

typedef struct sel_mat {
  int32_t rows, cols;
  const int64_t *v; /* row-major; SW_FORBIDDEN and above: not allowed */
} sel_mat;

typedef struct sel_pair {
  int32_t i, j, mat;
} sel_pair;

typedef struct sel_core {
  int32_t n;
  const int32_t *dom;
  const int64_t *const *cost;
  int32_t n_uses;
  const sel_usage *uses; /* grouped by variable: those of i are first_use[i] .. first_use[i + 1] */
  const int32_t *first_use;
  int32_t n_pairs, n_mats;
  const sel_pair *pairs;
  const sel_mat *mats;
  int32_t n_steps;
  const int64_t *cap;
  const int64_t *time;  /* of a problem's core: when each step begins; else NULL */
  const int32_t *place; /* in the order in which passes should see the variables; NULL: they stand so */
  int64_t offset;
} sel_core;

/* View of a verified problem; borrows its tables, and has `place` where the problem has copy nodes. Without a limit, or
 * with one that nothing can reach, no uses remain.
 */
sw_rc sel_core_of_problem(const sw_problem *p, sw_arena *mem, sel_core *out, sw_diag *d);
/* The same core with its variables in the order of their places: variable k is `order[k]` of c. */
sw_rc sel_core_in_order(const sel_core *c, sw_arena *mem, sel_core *out, int32_t **order, sw_diag *d);
/* Pairs of equal tables name one of them, so that these are laid out once. `c` borrows what it gets from `mem`. */
sw_rc sel_core_pool_tables(sel_core *c, sw_arena *mem, sw_diag *d);
/* The same core without its memory. */
sel_core sel_core_without_uses(const sel_core *c, const int32_t *zeros);

/* Exact price of a choice in the core, without `offset`; SW_FORBIDDEN when a forbidden entry is chosen. */
int64_t sel_core_cost(const sel_core *c, const int32_t *x);
/* Fill used[n_steps]; returns whether every step keeps its cap. */
bool sel_core_usage(const sel_core *c, const int32_t *x, int64_t *used);

#endif
