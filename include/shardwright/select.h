/* The selection problem as data, its evaluation, and its solvers (docs/selection.md).
 *
 * Node i picks one of its choices s and pays cost[s]; while one of its uses lasts it occupies amount[s] of memory; an
 * edge (i, j) pays cost[si * choices(j) + sj]; copies of what a node makes are paid once, however many nodes want them;
 * at no time step may the occupied memory pass `limit`. Costs are integers in [0, SW_FORBIDDEN]; a solution of cost >=
 * SW_FORBIDDEN is no solution. Minimise the total.
 */
#ifndef SHARDWRIGHT_SELECT_H_
#define SHARDWRIGHT_SELECT_H_

#include "shardwright/arena.h"
#include "shardwright/clock.h"
#include "shardwright/text.h"

__extension__ typedef __int128 sw_i128;

/* Costs of the selection problem: integers in [0, SW_FORBIDDEN]; SW_FORBIDDEN and above mean "not allowed". */
#define SW_FORBIDDEN INT64_C(1000000000000000000)
static inline int64_t sw_cost_add(int64_t a, int64_t b) {
  return a >= SW_FORBIDDEN - b ? SW_FORBIDDEN : a + b; /* both in [0, SW_FORBIDDEN] */
}
/* The same for a cost that is met `n` times, n >= 0. */
static inline int64_t sw_cost_times(int64_t cost, int64_t n) {
  int64_t all;
  if (cost >= SW_FORBIDDEN) return SW_FORBIDDEN;
  return !__builtin_mul_overflow(cost, n, &all) && all < SW_FORBIDDEN ? all : SW_FORBIDDEN - 1;
}

/* Is no more than this part of a cost left to prove? */
static inline bool sw_is_within(int64_t cost, int64_t bound, double gap) {
  return (double)(cost - bound) <= gap * (double)cost;
}

/* Occupies [begin, end) in time steps; an empty interval occupies nothing. */
typedef struct sw_usage {
  int64_t begin, end;
  const int64_t *amount; /* one per choice, each >= 0; borrowed, may be shared between nodes */
} sw_usage;

typedef struct sw_node {
  int32_t n_choices;   /* >= 1 */
  int32_t n_uses;      /* the contest's format has at most one */
  const int64_t *cost; /* one per choice; borrowed, may be shared */
  const sw_usage *uses;
} sw_node;

typedef struct sw_edge {
  int32_t i, j;        /* i != j; several edges may join one pair */
  const int64_t *cost; /* choices(i) x choices(j), row-major; borrowed, often shared between edges */
} sw_edge;

/* Copies of what a node makes, in layouts that other nodes want: a value that is resharded once for all who read it so.
 *
 *   for every layout k that the choice of any reader wants, once: cost[class of the maker's choice][k]
 *
 * Choices that make or want the same are of one class. A table is borrowed, and shared by all groups of copies that are
 * alike. */
typedef struct sw_wants {
  int32_t n_choices, n_classes;  /* of the reader */
  const int32_t *class_of;       /* by choice */
  const int32_t *first, *layout; /* class c wants layout[first[c]] .. layout[first[c + 1] - 1], each once */
} sw_wants;

typedef struct sw_copy_table {
  int32_t n_choices, n_classes; /* of the maker */
  const int32_t *class_of;      /* by choice */
  int32_t n_layouts, n_readers;
  const int64_t *cost;   /* n_classes x n_layouts, row-major; 0: it is made so, nothing is copied */
  const sw_wants *wants; /* by reader */
  int64_t version;       /* of the problem, when its costs last changed */
} sw_copy_table;

/* When a group holds memory beyond what its maker's uses say. A copy that is made is held from the first reader that
 * takes it to the last; what is made, as long as a reader takes it as it is or a copy is made of it. Ends are behind
 * the last step. */
typedef struct sw_lives {
  int64_t begin,
      held; /* from when on what is made is held, and up to when a use of its maker says so, at least begin */
  const int64_t *taken;      /* by reader: when it takes what it wants, and has it made where it is the first */
  const int64_t *until;      /* by reader: until when it holds a copy that it takes */
  const int64_t *until_made; /* by reader: until when it holds what is made, where it takes that */
  const int64_t *made;       /* by class of the maker's choices: amount of what is made */
  const int64_t *amount;     /* by layout: amount of a copy */
  const int32_t *made_as;    /* by layout: the class that makes it so, and is taken as it is; -1: none */
  /* By choice of the maker: what is held from `held` on at least, whatever readers want. */
  sw_usage least;
} sw_lives;

typedef struct sw_copies {
  int32_t maker;
  const int32_t *reader; /* n_readers nodes, none of them the maker */
  const sw_copy_table *table;
  const sw_lives *lives; /* NULL: copies hold no memory */
} sw_copies;

/* What a group holds under a choice; at most sw_copies_most_held of these. */
typedef struct sw_occupied {
  int64_t begin, end, amount;
} sw_occupied;
SW_API int32_t sw_copies_most_held(const sw_copies *c);
SW_API int32_t sw_copies_held(const sw_copies *c, const int32_t *choice, sw_occupied *out);

/* A layout of a problem's group of copies. */
typedef struct sw_copy_of {
  int32_t copies, layout;
} sw_copy_of;

typedef struct sw_problem {
  const char *name;
  int32_t n_nodes, n_edges;
  const sw_node *nodes;
  const sw_edge *edges;
  int64_t limit;         /* INT64_MAX: none */
  int32_t copy_nodes_at; /* nodes from this on stand between the first of their neighbours and the others, which says
                           only in what order to look at them; 0: none do */
  int32_t n_copies;
  const sw_copies *copies;
  /* Its owner alone changes a problem that stands, and raises the version with every change; all others see it as it is
   * at a version. What is made of a problem, or of a table, remembers the version that it was made at. */
  int64_t version;
} sw_problem;

/* Has what was made at version *made been overtaken by a change? Who asks makes it anew. */
static inline bool sw_overtaken(int64_t *made, int64_t version) {
  const bool old = *made != version;
  *made = version;
  return old;
}

/* Indices in range, costs in [0, SW_FORBIDDEN], amounts >= 0, intervals begin <= end. */
SW_API SW_CHECKED sw_rc sw_problem_verify(const sw_problem *p, sw_diag *d);

typedef struct sw_score {
  sw_i128 cost; /* exact; >= SW_FORBIDDEN when a forbidden entry is chosen */
  sw_i128 peak; /* largest use at any time step */
  int64_t peak_time;
  bool feasible; /* not forbidden, and peak <= limit */
} sw_score;
/* Recompute from the problem alone. choice[i] in [0, n_choices(i)). */
SW_API SW_CHECKED sw_rc sw_problem_score(const sw_problem *p, const int32_t *choice, sw_score *out, sw_diag *d);
/* When a choice holds more than the limit, in order (without amounts); in the arena. */
SW_API SW_CHECKED sw_rc sw_problem_over(const sw_problem *p, const int32_t *choice, sw_arena *arena, int32_t *n,
                                        const sw_occupied **out, sw_diag *d);
/* Its cost alone: SW_FORBIDDEN when a forbidden entry is chosen, or with more to pay. choice[i] in range. */
SW_API int64_t sw_problem_cost(const sw_problem *p, const int32_t *choice);

typedef enum sw_solver { SW_SOLVER_AUTO, SW_SOLVER_NATIVE, SW_SOLVER_GLPK, SW_SOLVER_EXHAUSTIVE } sw_solver;
SW_API bool sw_solver_parse(const char *text, sw_solver *out);
SW_API const char *sw_solver_text(sw_solver s);

typedef enum sw_solve_status {
  SW_SOLVE_OPTIMAL,    /* cost == bound, proven */
  SW_SOLVE_FEASIBLE,   /* a solution and a bound, gap open */
  SW_SOLVE_INFEASIBLE, /* proven that none exists */
  SW_SOLVE_UNKNOWN,    /* stopped with no solution and no proof */
} sw_solve_status;
SW_API const char *sw_solve_status_text(sw_solve_status s);

typedef struct sw_solve_progress {
  double time_s;
  bool has_cost;
  int64_t cost, bound;
} sw_solve_progress;

/* Reductions of the native solver; each keeps at least one optimum, and any may be left out. */
typedef enum sw_select_rule {
  SW_RULE_SEPARABLE = 1 << 0,  /* row and column minima go to the nodes; tables that are then zero go */
  SW_RULE_FUNCTIONAL = 1 << 1, /* a node that another one determines is merged into it */
  SW_RULE_DOMINATED = 1 << 2,  /* a choice that another one beats everywhere goes */
  SW_RULE_DEGREE = 1 << 3,     /* nodes without memory and with at most two neighbours go */
  SW_RULE_STEPS = 1 << 4,      /* only time steps that can be the tightest stay */
  SW_RULE_HEAVY = 1 << 5,      /* choices that cannot fit even if all others are at their smallest go */
  SW_RULES_ALL = (1 << 6) - 1,
} sw_select_rule;
enum { SW_SELECT_RULES = 6 };
/* "separable" and so on, by number; NULL past the end. */
SW_API const char *sw_select_rule_text(int k);

/* What is known of a problem that is being solved: its best choice, a bound, and the dual warm start (prices on memory
 * and messages along edges that a search ended with). For another search to begin with, of the same problem, of one
 * like it, or of the problem after it has grown: new choices of a node have the numbers behind the old ones, new nodes
 * those behind the old nodes, and prices may change anywhere. Of choice and duals nothing has to be true: they say
 * where to look, and what is proven from there is. The bound is the caller's word; a problem in which something has
 * become cheaper, or possible, has none.
 *
 * Messages are what a node's choices are told by a neighbour, in cost. Nodes, choices and times that the problem does
 * not have are passed over. */
typedef struct sw_dual_link {
  int64_t node[2]; /* ascending */
  int32_t n[2];
  int64_t *choice[2]; /* n of them */
  double *message[2]; /* to each */
} sw_dual_link;
typedef struct sw_solve_state {
  int64_t names;         /* the version at which its nodes were last named anew; 0: they never were */
  int32_t n_nodes;       /* of the problem that `choice` is of */
  const int32_t *choice; /* NULL, or one per node, feasible or nearly so */
  int64_t bound;         /* 0: none is known; not used where a certificate is wanted */
  int32_t n_links, n_prices;
  sw_dual_link *links;
  int64_t *time; /* ascending */
  double *price; /* of a unit of memory at that time, > 0 */
} sw_solve_state;

/* Steps (sw_solve_options.work_limit) that a second is taken to have time for. What a search decides never hangs on a
 * clock: a limit in seconds foresees so many steps, which its parts share, and only its end is that of a clock. */
#define SW_STEPS_PER_S 8e8

/* The numbers that the native solver and the search of plans go by: what is never wrong, but leads on sooner or later.
 * For experiments; the defaults are what all is measured with. */
typedef struct sw_parameters sw_parameters; /* a value of each */
typedef struct sw_parameter {
  const char *name, *unit; /* "turn_steps", "steps"; the unit "" where it is a plain number */
  double by_default, least, most;
  const char *trades; /* one sentence: what more of it gives, and takes */
} sw_parameter;
/* In order; NULL past the end. */
SW_API const sw_parameter *sw_parameter_at(int k);
/* Set one by "NAME=VALUE". *p NULL: the defaults, made in the arena. An unknown name, or a value out of range, is
 * SW_E_USAGE. */
SW_API SW_CHECKED sw_rc sw_parameters_set(sw_parameters **p, const char *text, sw_arena *arena, sw_diag *d);

typedef struct sw_solve_options {
  sw_solver solver;
  double time_limit_s; /* from the call; <= 0: none, and without a work limit either the search ends after a fixed,
                          large amount of work (some ten seconds) */
  double deadline_s;   /* of sw_now_s, instead of the end of time_limit_s; 0: none */
  double gap;          /* end when cost - bound <= gap * cost; 0: only when they are equal */
  int threads;         /* 0: one */
  uint64_t seed;
  int64_t work_limit;              /* 0: none; counted steps, for results that do not depend on time */
  unsigned rules_off;              /* sw_select_rule, or-ed: reductions to leave out */
  const sw_parameters *parameters; /* NULL: the defaults */
  const sw_solve_state *from;      /* NULL, or what to begin with */
  sw_solve_state *to;              /* NULL, or where what is known at the end goes, in the arena; may be `from` */
  bool symmetric; /* nodes of one symmetry class choose alike (sw_problem_quotient): the work of a few layers where
                     layers repeat, but bounds and statuses are of such choices alone */
  sw_text *certificate; /* NULL, or where the proof of the bound is appended (certificate.h); native solver only, others
                           prove the bound 0 */
  sw_cancel *cancel;    /* NULL allowed */
  void (*on_progress)(void *user, const sw_solve_progress *p); /* NULL allowed; from any thread, one at a time */
  void *user;
} sw_solve_options;

/* What the reductions left. */
typedef struct sw_presolve {
  int32_t nodes, edges, steps;
  int64_t choices; /* over all nodes */
  int64_t
      removed[SW_SELECT_RULES]; /* by each rule: tables (separable), choices (dominated, heavy), steps, else nodes */
  double time_s;                /* that they took, with memory and without */
} sw_presolve;

typedef struct sw_solution {
  sw_solve_status status;
  int32_t *choice;    /* one per node (arena), NULL when there is none */
  int64_t cost;       /* of `choice`, as sw_problem_score finds it */
  int64_t bound;      /* proven lower bound, >= 0, <= any solution's cost */
  int64_t least_peak; /* when infeasible for memory: no solution stays below this limit (0: not known) */
  const char *solver; /* name of what produced it */
  double time_s;
  int64_t work;         /* steps counted, as work_limit has them */
  sw_presolve presolve; /* of the native solver, else zero */
} sw_solution;

/* INFEASIBLE and UNKNOWN are statuses, not failures. The result lives in the arena. */
SW_API SW_CHECKED sw_rc sw_solve(const sw_problem *p, const sw_solve_options *o, sw_arena *arena, sw_solution *out,
                                 sw_diag *d);

/* The problem in which only nodes with is_free[i] choose and the others stay at choice[i]: its nodes are the free ones
 * in their order, then one that occupies what the others do. Less than the whole by what the fixed ones cost among
 * themselves. In the arena, but borrows p's tables.
 * Of a problem without copies, as relaxations are (SW_E_USAGE). */
SW_API SW_CHECKED sw_rc sw_problem_of_some(const sw_problem *p, const int32_t *choice, const bool *is_free,
                                           sw_arena *arena, sw_problem *out, sw_diag *d);

/* The problem in which nodes of one symmetry class (equal costs and amounts, and equal tables to nodes that are alike,
 * two steps far) choose alike: its nodes are the classes and pay and occupy what all their nodes do. Node i of p is of
 * class class_of[i] (classes are numbered by their first nodes), and a choice of the classes is one of p at the same
 * cost; bounds are not. In the arena, but borrows p's amounts and some of its tables. */
SW_API SW_CHECKED sw_rc sw_problem_quotient(const sw_problem *p, sw_arena *arena, sw_problem *out, int32_t *class_of,
                                            sw_diag *d);

/* A proven bound without a search, where most nodes are alike (repeated layers): by prices and messages that nodes of
 * one symmetry class share, on the problem as it is. Of one without copies, as relaxations are (SW_E_USAGE). */
typedef struct sw_bound_options {
  int64_t cost;                    /* the least that is known */
  double gap;                      /* a bound of cost * (1 - gap) is near enough */
  int64_t work_limit;              /* 0: none; steps, as sw_solve_options has them */
  double deadline_s;               /* of sw_now_s; 0: none */
  sw_cancel *cancel;               /* NULL allowed */
  const sw_parameters *parameters; /* NULL: the defaults */
} sw_bound_options;
typedef struct sw_bound {
  bool any;        /* false: too few are alike, it was not tried */
  bool settled;    /* more passes would gain next to nothing */
  int64_t bound;   /* >= 0 */
  int64_t work;    /* steps counted */
  int32_t *choice; /* NULL, or the caller's: gets a choice per node that the messages lead to; it may be forbidden */
} sw_bound;
SW_API SW_CHECKED sw_rc sw_problem_bound(const sw_problem *p, const sw_bound_options *o, sw_bound *out, sw_diag *d);

#endif
