/* The search of a plan: one loop over forms of one problem (docs/selection.md).
 *
 * A form is what of the problem is solved in a round: the nodes around a pin, all nodes with those alike choosing
 * alike, the whole, the whole at prices of memory, the whole with points for what is not simple. Each round makes its
 * form of the problem as it stands, bounds and solves it, prices the choice truly, keeps it where it is better, and
 * adds to the problem what it counted too little. A form is over where nothing was added; the next one goes on from
 * there.
 */
#ifndef PLAN_SEARCH_H_
#define PLAN_SEARCH_H_

#include "select/parameters.h"
#include "select/relaxation.h"
#include "shardwright/plan.h"

typedef struct sw_search sw_search;
typedef struct sw_round sw_round;
typedef struct sw_form sw_form;

/* What a part of a search may take. */
typedef struct sw_search_budget {
  double limit;      /* steps, of sw_search.work; <= 0: none */
  double deadline_s; /* of sw_now_s; 0: none */
  bool counted;      /* the limit ends it, else only the deadline does */
} sw_search_budget;

/* How lives are counted (sw_lives): the least at first; exactly, where a choice holds more than the limit. */
typedef enum sw_search_lives { SW_LIVES_LEAST, SW_LIVES_EXACT } sw_search_lives;

struct sw_search {
  sw_job job;
  const sw_plan_options *asked;
  sw_arena *arena;
  bool is_question; /* one more about a problem that stands: what is known otherwise is no answer */
  double gap;       /* that is wanted now */

  /* The problem as it stands, and what has been added to it. */
  sw_selection_options selected; /* what it is of; runs and further grow */
  sw_selection *selection;       /* its prices of copies become exact where choices need them; NULL: time was up */
  const sw_problem *problem;     /* of the selection */
  sw_relaxation *relaxed;
  int64_t limit; /* on memory: the capacity, less what plans held beyond what is counted */
  sw_search_lives lives;
  bool shares_split; /* those of copies have been, for the bound */
  bool repeats;      /* layers repeat: nodes are alike */
  int column;        /* of the strategies so far, where they come in stages; -1: all are there */

  /* What is known. */
  int64_t bound;          /* proven: no plan that fits costs less */
  int64_t least;          /* what any plan costs at least, nodes being at their cheapest */
  sw_solution best;       /* the cheapest whose plan fits; no choice: none */
  sw_solution nearest;    /* of those that do not fit, that of the plan that holds least */
  int64_t nearest_peak;   /* what it holds */
  int64_t found_units;    /* what the cheapest costs, of which `best` is a simpler one */
  bool over;              /* a choice was found that holds more than the limit, copies as they are held */
  sw_solve_state state;   /* prices and messages of the last problem; n_links 0: none */
  int64_t least_held;     /* proven: every plan holds as much, as the problem counts; INT64_MAX: there is none */
  const sw_plan *from;    /* NULL, or the plan that the problem as it stands begins with */
  int32_t *start;         /* its choices; NULL: none */
  bool *missing;          /* where it has none; NULL: it has all */
  const sw_plan *earlier; /* NULL, or the plan that fewer strategies led to, with what was proven of those */
  const sw_plan *answer;  /* NULL, or a plan to be given instead of that of `best` */

  /* Time. */
  double started_s;
  int64_t work; /* spent so far */
  int rounds;
  sw_search_budget all, stage, form; /* each a part of the one before */

  void *own;           /* of the form at work; in the arena */
  const sw_form *next; /* NULL, or that which the form at work wants to be the next */
  sw_arena mem;        /* of the round */
};

/* What a round has added to the problem. */
enum {
  SW_ADDED_PRICES = 1 << 0,     /* of routes, made exact */
  SW_ADDED_COPIES = 1 << 1,     /* copies that are counted exactly */
  SW_ADDED_LIVES = 1 << 2,      /* lives likewise */
  SW_ADDED_SHARES = 1 << 3,     /* other shares of copies */
  SW_ADDED_CUT = 1 << 4,        /* a lower limit on memory, or a higher one to be tried */
  SW_ADDED_RATES = 1 << 5,      /* other prices of memory, or of points */
  SW_ADDED_STRATEGIES = 1 << 6, /* further strategies */
};

struct sw_round {
  /* What is solved, and how. */
  const char *name;   /* NULL: that of the form */
  sw_problem problem; /* its first nodes are those of the search's problem, or `read` makes the choice one of them */
  sw_solve_options o; /* o.from, o.to: NULL or the next two */
  sw_solve_state from, to; /* what is known of it before and after */
  bool by_messages;        /* bounded, and the choice read off the messages, without a search */
  bool given;              /* there is nothing to solve: `now` is given, or nothing is chosen */
  bool proves;             /* its bound holds of all plans that keep the limit */
  double part;             /* of what the form may take */
  double most;             /* steps; 0: that part is all */
  /* What it came to. */
  sw_solution now; /* its choice in the arena of the search; its cost is what the round's problem says */
  double took;     /* steps */
  int64_t cost;    /* what the choice truly costs */
  bool exceeds;    /* it holds more than the limit, by what is counted */
  int64_t excess;  /* what it holds beyond the limit; of its plan beyond the capacity, where the plan was made */
  bool kept;       /* it is the best now */
  unsigned added;  /* of those above */
  bool again;      /* another round of this form */
};

struct sw_form {
  const char *name;
  double part;  /* of what is left, for all its rounds */
  bool closing; /* takes its turn although the gap is closed, or time is up */
  bool insists; /* takes a round as long as there is no plan, although time is up */
  /* *due: there is something for it to do. */
  sw_rc (*begin)(sw_search *k, bool *due, sw_diag *d);
  sw_rc (*make)(sw_search *k, sw_round *r, sw_diag *d);
  sw_rc (*read)(sw_search *k, sw_round *r, sw_diag *d);                /* NULL: as it is */
  sw_rc (*judge)(sw_search *k, sw_round *r, bool *better, sw_diag *d); /* NULL: by cost */
  sw_rc (*add)(sw_search *k, sw_round *r, sw_diag *d);
};

/* Forms, in the order in which they take their turns. */
extern const sw_form sw_form_start, sw_form_messages, sw_form_around, sw_form_alike, sw_form_rule, sw_form_sources,
    sw_form_proof, sw_form_whole, sw_form_prices, sw_form_exact, sw_form_columns, sw_form_least, sw_form_known,
    sw_form_simple;

/* budget.c. All amounts are steps of the solver, so that what a search decides, and a plan that it ends with before its
 * time is up, do not depend on a clock. Where the limit is one of seconds, so many steps are foreseen as they are taken
 * to have time for, and the search ends when they are over. */
void sw_search_begin(sw_search *k);                                   /* the time of a search */
double sw_search_left(const sw_search *k, const sw_search_budget *b); /* infinite without a limit */
bool sw_search_is_over(const sw_search *k, const sw_search_budget *b);
/* Of what is left, as a limit on steps; 0: none. */
int64_t sw_search_steps(const sw_search *k, const sw_search_budget *b, double part);
/* A part of the steps, and of the time, that are left. */
sw_search_budget sw_search_part(const sw_search *k, const sw_search_budget *of, double part);

/* judged.c. What a choice truly costs: prices that it needs are made exact, which is a change of the problem where some
 * were less before. */
SW_CHECKED sw_rc sw_search_cost(const sw_search *k, const int32_t *choice, int64_t *cost, sw_diag *d);
/* The relaxation counts it as it costs, and its copies as they are held where that is more than the limit and lives are
 * counted exactly; *added gets what was added. */
SW_CHECKED sw_rc sw_search_refine(const sw_search *k, const int32_t *choice, unsigned *added, sw_diag *d);
/* A solution as a plan with its record, and the most that the plan holds. */
SW_CHECKED sw_rc sw_search_take(const sw_search *k, const sw_solution *x, sw_plan *out, int64_t *peak, sw_diag *d);
/* Its choices as the problem has them, in the arena; *missing: where it has none (sw_selection_encode). *all: it has
 * every one. */
SW_CHECKED sw_rc sw_search_encode(const sw_search *k, const sw_plan *plan, int32_t **choice, bool **missing, bool *all,
                                  sw_diag *d);
/* What a round came to: what it proves and its choice, kept where they are better. */
SW_CHECKED sw_rc sw_search_judge(sw_search *k, const sw_form *form, sw_round *r, sw_diag *d);
/* Is what is proven as near as is wanted? */
bool sw_search_is_closed(const sw_search *k);
double sw_search_missing(const sw_search *k); /* part of the cost that is not proven; 1 without a plan */

/* fall_back.c. The cheapest plan that is known without a search (those that the caller
 * knows, and those made by rule) which fits and meets the annotations; *any: there is one. */
SW_CHECKED sw_rc sw_search_find_known(const sw_search *k, sw_plan *out, bool *any, sw_diag *d);
/* That plan, as time was up before the problem stood; SW_E_RESOURCE when there is none. */
SW_CHECKED sw_rc sw_search_fall_back(const sw_search *k, sw_plan *out, sw_diag *d);

/* least_memory.c. Nothing fits: SW_E_INFEASIBLE when that is proven, else SW_E_RESOURCE; the message has the smallest
 * capacity that would do, as far as found, and the tensors that fill that plan's peak. */
SW_CHECKED sw_rc sw_search_fail(sw_search *k, sw_plan *out, sw_diag *d);

/* stages.c. The problem to begin with; SW_E_CANCELLED: time was up before it stood. */
SW_CHECKED sw_rc sw_search_build(sw_search *k, sw_diag *d);
void sw_search_close(sw_search *k); /* what the arena does not hold */

/* search.c. Build the problem and search; `k` has job, asked, arena and state. */
SW_CHECKED sw_rc sw_search_open(sw_search *k, sw_plan *out, sw_diag *d);
/* Search the problem that stands, from the plan `from`. */
SW_CHECKED sw_rc sw_search_run(sw_search *k, sw_plan *out, sw_diag *d);

/* simplify.c. The name with every number of a layer (a part of it that is a number, behind which another follows) left
 * out; false: it has none. */
bool sw_put_role(const char *name, sw_text *out);

#endif
