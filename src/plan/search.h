/* One search under way: what its parts share. */
#ifndef PLAN_SEARCH_H_
#define PLAN_SEARCH_H_

#include "select/relaxation.h"
#include "shardwright/plan.h"

/* What has been spent on a search. */
typedef struct sw_search_budget {
  double started_s; /* of sw_now_s */
  int64_t work;
  bool over; /* a choice was found that holds more than the limit, copies as they are held */
} sw_search_budget;

/* How lives are counted (sw_lives): the least at first; exactly, where a choice holds more than the limit. */
typedef enum sw_search_lives { SW_LIVES_LEAST, SW_LIVES_EXACT } sw_search_lives;

typedef struct sw_searcher {
  sw_job job;
  const sw_plan_options *o;
  sw_arena *arena;
  sw_selection *selection;   /* its prices of copies become exact where choices need them */
  const sw_problem *problem; /* of the selection */
  sw_relaxation *relaxed;
  int32_t *start;          /* choices of the plan to start from; NULL: none */
  sw_solve_state *state;   /* of the last problem, as sw_relaxation_keep has it; NULL: each begins anew */
  bool *missing;           /* where that plan has none; NULL: it has all */
  int64_t bound;           /* proven before, of any plan that fits; 0: nothing is */
  int64_t least;           /* what any plan costs at least, nodes being at their cheapest */
  sw_search_lives lives;   /* how copies and what they are made of are held */
  bool symmetric;          /* nodes of one symmetry class choose alike: what is proven then is no bound */
  double limit;            /* steps that it may take, or that are foreseen; <= 0: none */
  double deadline_s;       /* of sw_now_s; 0: none */
  bool counted;            /* the limit ends it, else only a deadline does */
  sw_search_budget *spent; /* with all searches that are parts of one */
} sw_searcher;

/* budget.c. All amounts are steps of the solver, so that what a search decides, and a plan that it ends with before its
 * time is up, do not depend on a clock. Where the limit is one of seconds, so many steps are foreseen as they are taken
 * to have time for, and the search ends when they are over. */
void sw_search_begin(sw_searcher *s, sw_search_budget *spent);
double sw_search_used(const sw_searcher *s); /* since it began */
double sw_search_left(const sw_searcher *s); /* infinite without a limit */
bool sw_search_is_over(const sw_searcher *s);
/* Of what is left, as a limit; 0: none. */
int64_t sw_search_part(const sw_searcher *s, double part);
/* The same search for at most so many steps more. */
sw_searcher sw_search_for(const sw_searcher *s, double steps);
/* The same search in a part of the steps, or of the time, that are left. */
sw_searcher sw_search_within(const sw_searcher *s, double part);
/* sw_solve within a part of what is left. */
SW_CHECKED sw_rc sw_search_call(const sw_searcher *s, const sw_problem *p, double part, sw_solve_options *o,
                                sw_arena *arena, sw_solution *out, sw_diag *d);

/* What a choice truly costs: prices that it needs are made exact. *raised (NULL allowed): some were less before, which
 * the relaxation counts from now on. */
sw_rc sw_search_cost(const sw_searcher *s, const int32_t *choice, int64_t *cost, bool *raised, sw_diag *d);
/* The relaxation counts it as it costs; *refined says whether it did not before. */
sw_rc sw_search_refine(const sw_searcher *s, const int32_t *choice, bool *refined, sw_diag *d);

enum { SW_REPAIR_FEW = 100, SW_REPAIR_MORE = 300 }; /* nodes: at first, and where that leaves a gap */
/* Choose anew at most about `most` nodes around those that choice[] is missing, the rest staying as
 * it is; the problem is refined there. */
sw_rc sw_search_repair(const sw_searcher *s, int64_t limit, int32_t most, int32_t *choice, sw_diag *d);
/* Solve under a limit on what the problem counts, and refine. In *out: the solution of least true cost (its `cost`),
 * the best bound over all rounds; where none keeps the limit, one that does not. `before`: NULL, or what was found
 * under a higher limit, to start from. */
sw_rc sw_search_solve(const sw_searcher *s, int64_t limit, const sw_solution *before, sw_solution *out, sw_diag *d);
/* Is its bound as near as was asked for? */
bool sw_search_is_close(const sw_searcher *s, const sw_solution *x);
/* What is known of a capacity. */
typedef struct sw_fit {
  int64_t capacity;
  int64_t bound;       /* proven: no plan that fits costs less */
  bool found;          /* a plan that fits */
  sw_solution nearest; /* without one: that of the plan that holds least, of those found; no choice: none */
  int64_t nearest_peak;
} sw_fit;

/* A solution as a plan with its record, and the most that the plan holds. */
sw_rc sw_search_take(const sw_searcher *s, const sw_solution *sol, const sw_fit *fit, sw_plan *out, int64_t *peak,
                     sw_diag *d);

/* The cheapest solution whose plan fits, of those found by prices of memory; where none does, that which holds least.
 * No choice: time was up. *bound: no plan that fits costs less. `from`: choices to begin with; NULL: none. `out` has
 * the record of plans on the way. */
sw_rc sw_search_by_price(const sw_searcher *s, const sw_fit *fit, const int32_t *from, sw_plan *out, sw_solution *best,
                         int64_t *bound, sw_diag *d);

/* For a capacity that the search met with no plan: look for the plan that holds least. SW_OK: one fits, it is in *out.
 * Otherwise SW_E_INFEASIBLE when it is proven that none does, else SW_E_RESOURCE; the message has the smallest capacity
 * that would do, as far as found, and the tensors that fill that plan's peak. */
sw_rc sw_search_least_memory(const sw_searcher *s, const sw_fit *fit, sw_plan *out, sw_diag *d);

/* To the failure of a search that met with no plan that fits: the smallest mesh with a longer first axis on which one
 * fits, as far as is found in 10 s, or a tenth of the time limit; of steps, in half as many. */
void sw_search_note_wider_mesh(const sw_searcher *s, sw_diag *d);

/* The best plan that is known without a search, for when time is up before one can begin. SW_E_RESOURCE when none of
 * these fits and meets the annotations. */
sw_rc sw_search_fall_back(const sw_searcher *s, sw_plan *out, sw_diag *d);
/* The cheapest of those plans that fits; *any: there is one. */
sw_rc sw_search_find_known(const sw_searcher *s, sw_plan *out, bool *any, sw_diag *d);
/* Instead of *out, which a search found that did not close, the cheapest of those plans, if it is cheaper; the record
 * of the search stays. */
sw_rc sw_search_prefer_known(const sw_searcher *s, sw_plan *out, sw_diag *d);

/* Instead of *out, the simplest plan found among those that cost no more than (1 + simplicity) times as much; its
 * found_units say what *out cost. */
sw_rc sw_search_simplify(const sw_searcher *s, sw_plan *out, sw_diag *d);

#endif
