/* Inside the solver: a selection problem that reductions may change, and the way back.
 *
 * A model starts as a copy of a core. Rules remove values, edges and variables while they keep at least one optimum;
 * each variable that goes leaves a record that tells its value from those that remain. sel_model_freeze gives the core
 * of what is left; sel_model_expand turns a solution of that core into one of the first core.
 *
 *   sel_model m = {0};
 *   sel_model_init(&m, &core, (sel_model_given){SW_RULES_ALL}, d);  sel_model_reduce(&m, budget, d);
 *   if (!m.infeasible) { sel_model_freeze(&m, &rest, d);  ... solve ...  sel_model_expand(&m, x, full, d); }
 *   sel_model_deinit(&m);
 */
#ifndef SELECT_MODEL_H_
#define SELECT_MODEL_H_

#include "select/core.h"
#include "base/array.h"
#include "base/hash.h"
#include "shardwright/text.h"

typedef struct sel_ids {
  int32_t *at;
  int32_t n, cap;
} sel_ids;

typedef struct sel_span {
  int32_t begin, end;
  int64_t *amount; /* one per value, the smallest is 0: the rest is in the model's base */
} sel_span;

typedef struct sel_var {
  int32_t n, n0;   /* values now, values at first */
  int32_t *id;     /* value now -> value at first */
  int64_t *cost;   /* all < SW_FORBIDDEN */
  sel_ids edges;   /* may name edges that are gone */
  sel_span *spans; /* what it occupies beyond the base */
  int32_t n_spans, cap_spans;
  bool gone, queued, stale; /* stale: worth looking for dominated values */
} sel_var;

typedef struct sel_edge {
  int32_t i, j;
  const int64_t *v; /* values of i x values of j */
  bool shared;      /* v is the core's, or of all edges that have come to the same; changed in a copy (sel_own_table) */
  bool gone, queued;
} sel_edge;

/* How a variable that went follows from others: value = table[value of a * stride + value of b] by first values. */
typedef struct sel_record {
  struct sel_record *before;
  int32_t var, a, b; /* -1: unused */
  int32_t stride;
  int32_t *table;
} sel_record;

/* By the caller, once. */
typedef struct sel_model_given {
  unsigned rules;                /* sw_select_rule, or-ed */
  sw_text *log;                  /* NULL: none */
  const struct sel_model *above; /* whose rest the core is; NULL: the core is a problem's */
} sel_model_given;

/* By what occupies memory: sel_settle_spans and rule_memory.c. */
typedef struct sel_model_steps {
  int32_t n;
  int64_t *cap;       /* before the base is taken off */
  int32_t *of;        /* step now -> step at first */
  int64_t *base_diff; /* base use of step t = sum of base_diff[0 .. t] */
} sel_model_steps;

/* By sel_queue_var and sel_queue_edge, until presolve_reduce.c takes them off: each is there once, and marked. */
typedef struct sel_model_queue {
  sel_ids vars, edges;
} sel_model_queue;

/* By freezing: variable of the rest -> variable. */
typedef struct sel_model_alive {
  int32_t n, *of;
} sel_model_alive;

/* By a rule each, for itself: what it has made of tables that come again. */
typedef struct sel_model_kept {
  sw_dict folds; /* of rule_degree.c: hash of a fold -> struct sel_fold */
  size_t fold_bytes;
  sw_dict lowered; /* of rule_edge.c: address and size of a shared table -> struct sel_lowered */
  sw_dict pool;    /* of presolve_model.c: hash of a table that the rules made -> the table, which stays as it is */
} sel_model_kept;

/* Tables and amounts come and go while variables merge: what is given back is taken again. By size, four to a power of
 * two. */
enum { SEL_CELL_SIZES = 4 * 63 };
typedef struct sel_model_cells {
  struct sel_cells *given[SEL_CELL_SIZES];
} sel_model_cells;

typedef struct sel_model {
  sw_arena mem;
  sel_model_cells cells;
  sel_model_given given;
  const int64_t *time;  /* of the core's steps, when it is a problem's */
  const int32_t *place; /* of the core's variables */
  /* By the rules, through the calls below. */
  int32_t n, n_edges, cap_edges;
  sel_var *vars;
  sel_edge *edges;
  sel_model_steps steps;
  int64_t offset;
  sel_record *records;
  int64_t removed[SW_SELECT_RULES]; /* as in sw_presolve */
  bool infeasible;                  /* proven */
  sel_model_queue queue;
  sel_model_alive alive;
  sel_model_kept kept;
} sel_model;

sw_rc sel_model_init(sel_model *m, const sel_core *c, sel_model_given given, sw_diag *d);
void sel_model_deinit(sel_model *m);
/* Between two rules: costs and amounts are numbers, tables join what is there, queues are marked. */
bool sel_model_is_sound(const sel_model *m);
/* Apply the rules until none has anything to do, or the budget is spent. */
sw_rc sel_model_reduce(sel_model *m, sel_budget *b, sw_diag *d);
/* What is left, in `m->mem`. Equal tables become one. */
sw_rc sel_model_freeze(sel_model *m, sel_core *out, sw_diag *d);
/* `x` of the frozen rest; `full` gets a value per variable of the first core. */
void sel_model_expand(const sel_model *m, const int32_t *x, int32_t *full);

/* For rules; what each changes is logged (proof.h). */
sw_rc sel_queue_var(sel_model *m, int32_t v, sw_diag *d);
static inline int32_t sel_other(const sel_edge *g, int32_t v) { return g->i == v ? g->j : g->i; }
/* Cost of the edge for value s of v and value t of the other end. */
static inline int64_t sel_edge_at(const sel_model *m, const sel_edge *g, int32_t v, int32_t s, int32_t t) {
  return g->i == v ? g->v[(int64_t)s * m->vars[g->j].n + t] : g->v[(int64_t)t * m->vars[g->j].n + s];
}
static inline bool sel_bad(int64_t cost) { return cost >= SW_FORBIDDEN; }
/* Forget edges that are gone. */
void sel_tidy_edges(sel_model *m, int32_t v);
/* Room for so many numbers, which are anything at first; NULL: out of memory. */
int64_t *sel_cells_take(sel_model *m, int64_t n, sw_diag *d);
void sel_cells_give(sel_model *m, int64_t *cells); /* NULL allowed */
/* Where layers repeat, so do the tables of what goes and merges in them: the edge's own table, of n
 * numbers, becomes one of all edges that have come to the same. */
sw_rc sel_pool_table(sel_model *m, sel_edge *g, int64_t n, sw_diag *d);
/* The edge is gone, and so is its table, which nobody reads after. */
void sel_end_edge(sel_model *m, sel_edge *g);
sw_rc sel_drop_edge(sel_model *m, int32_t e, sw_diag *d);
/* Add costs[a][b] (values of a x values of b) between a and b; the table, of sel_cells_take, is taken over. */
sw_rc sel_add_edge(sel_model *m, int32_t a, int32_t b, int64_t *costs, sw_diag *d);
/* The edge's table for writing; NULL: out of memory. */
int64_t *sel_own_table(sel_model *m, sel_edge *g, sw_diag *d);
/* Keep the values with keep[s]; edges and uses follow. */
sw_rc sel_keep_values(sel_model *m, int32_t v, const bool *keep, sw_diag *d);
/* Move the smallest amounts of v to the base; spans that never differ go. */
void sel_settle_spans(sel_model *m, int32_t v);
/* Takes over the amounts, which are of sel_cells_take. */
sw_rc sel_add_span(sel_model *m, int32_t v, sel_span s, sw_diag *d);
sw_rc sel_record_new(sel_model *m, int32_t var, int32_t a, int32_t b, int32_t **table, sw_diag *d);
/* Count what a rule takes away. */
static inline void sel_count(sel_model *m, sw_select_rule rule, int64_t n) { m->removed[__builtin_ctz(rule)] += n; }

/* The rules, one file each. */
sw_rc sel_rule_edge(sel_model *m, int32_t e, sw_diag *d); /* arc consistency, separable, functional */
/* One value, or memory-free of degree 0, 1, 2. */
sw_rc sel_rule_degree(sel_model *m, int32_t v, sel_budget *b, sw_diag *d);
/* What the rule has found before: graphs of repeated layers ask the same again and again. Zero to start. */
typedef struct sel_beaten {
  sw_dict seen;         /* from a variable and its edges, byte by byte, to a place in `by` */
  SW_ARRAY(int32_t) by; /* per value the one that beats it, or -1 */
  sw_text key;
} sel_beaten;
void sel_beaten_deinit(sel_beaten *cache);
sw_rc sel_rule_dominated(sel_model *m, int32_t v, sel_beaten *cache, sel_budget *b, sw_diag *d);
sw_rc sel_rule_steps(sel_model *m, sw_diag *d);
sw_rc sel_rule_heavy(sel_model *m, bool *changed, sw_diag *d);

#endif
