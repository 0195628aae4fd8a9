/* Inside the solver: how shared costs are split among the edges that share them, as part of a dual.
 *
 * Any shares that are >= 0 and add up to the cost make a relaxation: the tables of edges with their shares in them. Its
 * bound is a concave function of the shares. After a pass, marginals on the cells say who would rather pay: the shares
 * of an edge whose marginals stand in a cell more than those of others grow, and the others' shrink. They move together
 * with the prices on memory, along one averaged direction and by one step.
 *
 * Example: x is wanted whole by a and b, or cut by b alone at a little more. In equal shares b pays half of the gather
 * and a the other half; with all of it on a, who has no choice, b need not pay: the bound is the truth.
 */
#ifndef SELECT_SHARES_H_
#define SELECT_SHARES_H_

#include "select/bound/dual.h"
#include "select/relaxation.h"

/* Edges (i, j) by classes of choices, and costs that a node i pays once when any of its edges stands in a cell that has
 * a share of the cost, however many do: a copy of a value that several readers want.
 *
 *   minimise  sum of nodes' costs + sum of edges' cells + sum of cost[k] over all i and k for which some edge (i, j)
 *             stands in a cell that has a share of k
 *
 * With the cost split into shares >= 0 that add up to it, each edge pays the shares in its cell by itself: a problem of
 * nodes and edges that costs no more, whatever the shares are, and whose optimum depends on them. */
typedef struct sel_shared_cost {
  int64_t cost;     /* in [0, SW_FORBIDDEN) */
  int32_t first, n; /* its shares: first .. first + n - 1 of all */
} sel_shared_cost;

typedef struct sel_shared_table {
  int32_t n[2];               /* classes of the edge's i and j; none is empty */
  const int32_t *class_of[2]; /* by choice */
  const int64_t *cost;        /* n[0] x n[1], row-major: beside what is shared */
  const int32_t *first;       /* cells + 1: cell k has the shares share[first[k]] ..; NULL: no cell has any */
  const int32_t *share;       /* a share is found in one table alone, and a table has at most one of a cost */
} sel_shared_table;

typedef struct sel_shared_edge {
  int32_t i, j, table; /* no other edge of i has this table */
} sel_shared_edge;

typedef struct sel_shared_problem {
  sw_problem base; /* nodes, their uses and the limit; no edges */
  int32_t n_edges, n_tables, n_costs, n_shares;
  const sel_shared_edge *edges;
  const sel_shared_table *tables;
  const sel_shared_cost *costs;
} sel_shared_problem;

/* The cells of a table with shares in them, in both orientations, padded as links have them. */
typedef struct sel_pool_table {
  double *rows, *cols;
  uint64_t kind; /* equal: the same costs, with shares of the same shared costs */
} sel_pool_table;

typedef struct sel_shares {
  const sel_shared_problem *p;
  sel_pool_table *tables;
  int32_t *cost_of, *table_of;        /* of a share */
  int32_t *first_cell, *cell;         /* of a share: the cells of its table that it is in */
  double *now, *best, *toward, *mass; /* toward: averaged direction; mass: supergradient */
  int32_t *live, n_live; /* shared costs on which a marginal had mass: all others keep the shares they began with */
  bool *is_live;
  int32_t *rep, *n_same; /* shares of one cost in tables of one symmetry class: the first of them, and how many */
} sel_shares;

/* Equal shares. Fills links[n_edges] and pairs[n_edges] of a core of the problem, whose pairs name kinds of tables. */
sw_rc sel_shares_init(sel_shares *s, const sel_shared_problem *p, sel_link *links, sel_pair *pairs, sw_arena *mem,
                      sw_diag *d);
/* Once it is known which edges are alike (rep_edge[e]: the first of its class). */
sw_rc sel_shares_find_classes(sel_shares *s, const int32_t *rep_edge, sw_arena *mem, sw_diag *d);

/* For a pass of the dual. */
void sel_shares_apply(const sel_shares *s); /* into the tables */
void sel_shares_clear(sel_shares *s);       /* masses */
/* A marginal of so much on the classes of the earlier and the later end of an edge. */
void sel_shares_weigh(sel_shares *s, int32_t edge, int32_t earlier, int32_t later, double mass);
void sel_shares_average(sel_shares *s); /* shares that are alike have equal parts in what one has gathered for all */
double sel_shares_turn(sel_shares *s, double mix); /* the direction; its length squared */
void sel_shares_move(sel_shares *s, double length);
void sel_shares_keep(sel_shares *s);
void sel_shares_rewind(sel_shares *s);

/* The best shares of one cost in whole units that add up to it. */
void sel_shares_round(const sel_shares *s, int32_t cost, int64_t *share);

typedef struct sel_split {
  bool taken;     /* false: nothing was found that promises more than is known */
  int64_t *share; /* the caller's, n_shares: in whole units */
  bool *moved;    /* the caller's, n_costs; false: the shares are equal, as at first */
  int64_t work;   /* steps counted */
} sel_split;
/* split.c. Shares under which the bound of messages and prices is high. Floats guide; any shares that add up are right.
 */
sw_rc sel_split_shares(const sel_shared_problem *p, const sw_split_options *o, sel_split *out, sw_diag *d);

#endif
