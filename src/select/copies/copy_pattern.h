/* Inside the solver: what a table of copies (sw_copy_table) becomes in a problem of nodes and edges alone.
 *
 * A copy that several readers want is made once and paid once. Counting exactly that for every layout that may be
 * wanted takes nodes with very many choices; yet almost all copies would never be made. So each layout starts out
 * split: every reader that can want it has a share of its cost, and pays that when it does. The shares add up to the
 * whole cost, so that never more is counted than the truth, and exactly the truth when all want it whose share is not
 * zero. At first the m readers have 1/m each; split.c finds shares under which the bound is high. Only where a solution
 * shows that it counted too little does the layout get a copy node (sel_pattern_share), in every group of the table at
 * once.
 *
 * A copy node stands between the maker and the readers: its choices are a class of the maker's choices, together with a
 * set of the node's layouts that are made and paid there; a reader that wants one of them has it for nothing, one that
 * wants a layout of the node that is not made pays its whole cost. (A copy that only one reader takes need not be in
 * the set: it has at most half as many copies as there are readers, or as they can want together.) A node takes so many
 * layouts that its choices stay few; the next layout begins another node.
 */
#ifndef SELECT_COPIES_COPY_PATTERN_H_
#define SELECT_COPIES_COPY_PATTERN_H_

#include "base/array.h"
#include "shardwright/select.h"

/* A choice of a copy node. */
typedef struct sel_copy_row {
  int32_t from;  /* class of the maker's choices */
  uint32_t made; /* bit k: the node's layout k */
} sel_copy_row;

typedef struct sel_copy_node {
  int32_t first, n; /* its layouts: shared[first] .. */
  int32_t n_rows;
  sel_copy_row *rows;
  int64_t *row_cost;
  const int64_t *link;    /* maker x rows */
  const int64_t **tables; /* by reader: rows x reader; NULL: all zero */
} sel_copy_node;

/* All groups of copies that have one table. */
typedef struct sel_pattern {
  const sw_copy_table *t;
  int64_t *version;       /* of the relaxation that it belongs to; rises with every change here */
  int64_t priced;         /* the table's version that shares add up to */
  int64_t changed, made;  /* the relaxation's version at the last change, and that of the nodes' tables */
  int32_t most_wanted;    /* layouts that all readers together want at most, one counted for each who does */
  int32_t *wanting;       /* by layout: how many readers can want it */
  int32_t *wanting_first; /* by layout: the first of them */
  int64_t **share;        /* by reader: [class of the maker][layout]; NULL: equal */
  int32_t *shared_at;     /* by layout: its place in `shared`; -1: it has no copy node */
  int32_t n_shared, *shared;
  bool whole; /* layouts without a copy node are paid in full by every reader, not by shares */
  /* In the order of `shared`. The first has the layouts that are not shared in its tables too; without any shared one
   * it stands for the maker, whose choices are its rows, and is no node. */
  SW_ARRAY(sel_copy_node) nodes;
} sel_pattern;

/* Find out who can want what. `version` is borrowed. */
sw_rc sel_pattern_init(sel_pattern *p, const sw_copy_table *t, int64_t *version, sw_arena *arena, sw_diag *d);
void sel_pattern_deinit(sel_pattern *p);
/* A change of how its copies are counted. */
static inline void sel_pattern_change(sel_pattern *p) { p->changed = ++*p->version; }
/* Where the table's costs have changed, shares rise in proportion. */
void sel_pattern_reprice(sel_pattern *p);
/* Fill the tables, where they have been overtaken. */
sw_rc sel_pattern_tables(sel_pattern *p, sw_arena *arena, sw_diag *d);
/* Does a reader want the layout when its choice is of class c? And is there a choice with which it does? */
bool sel_class_wants(const sw_wants *w, int32_t c, int32_t layout);
bool sel_wants(const sw_wants *w, int32_t layout);
static inline int64_t sel_copy_cost(const sw_copy_table *t, int32_t from, int32_t layout) {
  return t->cost[(int64_t)from * t->n_layouts + layout];
}
/* Give the layout a copy node, unless it has one. */
sw_rc sel_pattern_share(sel_pattern *p, int32_t layout, sw_diag *d);
void sel_pattern_unshare(sel_pattern *p); /* no copy nodes, as at first */
/* Under choices x of the maker and y[i] of reader i: give each layout for which too little is counted a copy node. */
sw_rc sel_pattern_refine(sel_pattern *p, int32_t x, const int32_t *y, sw_diag *d);
/* A copy node's choice that goes with x and y[]: what two want is made. */
int32_t sel_pattern_row(const sel_pattern *p, const sel_copy_node *h, int32_t x, const int32_t *y);

#endif
