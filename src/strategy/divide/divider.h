/* What dividing is made of: tables of classes, links with messages, slots of parts; and the steps of the method, by
 * file. */
#ifndef STRATEGY_DIVIDE_DIVIDER_H_
#define STRATEGY_DIVIDE_DIVIDER_H_

#include "shardwright/checked.h"
#include "strategy/selection_data.h"

enum { DV_PAD = 4 }; /* rows of tables and messages are multiples of it */

/* What choices of two nodes cost together, by classes: of a producer and one of its consumers. */
typedef struct dv_table {
  int32_t n[2], wide[2]; /* classes; padded for whole vectors */
  const int32_t *class_of[2];
  double *fixed;          /* [n[0]][wide[1]]: without parts */
  double *cost[2];        /* with them: [n[0]][wide[1]], [n[1]][wide[0]] */
  const sw_wants *wants;  /* of the consumer */
  const int32_t *part_at; /* [n[0]][n_ids]: into the parts, see dv_part_in; NULL: none */
  int32_t n_ids;
  bool divided; /* there are parts in it */
  bool *moved;  /* by class of the producer: parts there may have changed; NULL: none do */
  int32_t pattern;
} dv_table;

typedef struct dv_link {
  int32_t node[2], table; /* producer, consumer */
  double *msg[2];         /* messages to them, by class */
  double *mine;           /* of the last pass: what the sender's classes hand over */
  int32_t *member;        /* ... and the choice behind it */
} dv_link;

typedef struct dv_arc {
  int32_t link, side; /* of the node in the link */
} dv_arc;

/* One route of a pattern, paid in parts [first, first + n). */
typedef struct dv_slot {
  int32_t pattern, from, id, first, n;
  int64_t units;
} dv_slot;

typedef struct dv_divider {
  sw_selection *s;
  const sw_problem *p;
  sw_arena mem;
  int32_t n; /* nodes but hubs */
  SW_ARRAY(dv_table) tables;
  SW_ARRAY(dv_link) links;
  SW_ARRAY(dv_slot) slots;
  int32_t *first_table; /* of a pattern: tables of its consumers */
  int32_t *slot_of;     /* of a part */
  int32_t *live;        /* slots on which a marginal had mass: all others keep the parts they began with */
  bool *is_live;
  int32_t n_live;
  int32_t n_parts, n_messages;
  double *part, *best_part, *toward, *mass; /* toward: averaged direction; mass: supergradient */
  int32_t *first_arc, *mid_arc;             /* arcs of a node to earlier ones, then to later ones */
  dv_arc *arcs;
  int32_t *offset, *least; /* of a node in the flat arrays; its cheapest choice in the last backward pass */
  double *unary, *hat, *share, *messages, *best_messages;
  int64_t n_steps; /* of time; 0: memory is not in the way */
  double *price, *best_price, *use, *ahead, *prefix;
  double room; /* unit of memory */
  double bound, best_bound, factor;
  int stale;
  int64_t work;              /* steps counted */
  bool lifted;               /* passes see one node of those that are alike */
  int32_t *like, *like_link; /* the first node and link of the same kind; NULL: there are too few */
  int32_t *like_part, *n_like_part;
  int32_t *alike; /* how many nodes have this one for their first */
} dv_divider;

static inline int32_t dv_choices(const dv_divider *v, int32_t i) { return v->p->nodes[i].n_choices; }

static inline double dv_cell(int64_t units) { return (double)sw_min_i64(units, SW_FORBIDDEN); }

/* The part in what a class of the producer and a want of the consumer cost; -1: it is charged as it is. */
static inline int32_t dv_part_in(const dv_table *t, int32_t from, int32_t want) {
  return t->part_at && want >= 0 ? t->part_at[(int64_t)from * t->n_ids + want] : -1;
}

/* The node that stands for i in a pass. */
static inline int32_t dv_stands_for(const dv_divider *v, int32_t i) { return v->lifted ? v->like[i] : i; }

/* How many nodes it stands for. */
static inline double dv_count(const dv_divider *v, int32_t i) { return v->lifted ? v->alike[i] : 1; }

/* What a node hands over each arc of its fuller side, as TRW-S has it. */
static inline double dv_share_of(const dv_divider *v, int32_t i) {
  int32_t back = v->mid_arc[i] - v->first_arc[i], ahead = v->first_arc[i + 1] - v->mid_arc[i];
  int32_t most = back > ahead ? back : ahead;
  return most ? 1.0 / most : 1.0;
}

/* build.c: everything from the selection; equal parts, no messages, no prices. */
SW_CHECKED sw_rc dv_build(dv_divider *v, sw_diag *d);
/* Gives every link messages of its own (what is in them stays). */
void dv_place_messages(dv_divider *v);

/* pass.c: one pass over the nodes in both directions. */
void dv_set_tables(const dv_divider *v, bool all); /* costs from parts; everywhere, or where parts may have moved */
void dv_set_unaries(dv_divider *v);                /* costs of choices, with prices on memory */
void dv_forward(dv_divider *v);
double dv_backward(dv_divider *v); /* the bound, prices not yet paid */

/* gradient.c: where parts and prices go after a pass. */
void dv_spread(dv_divider *v);       /* marginals, and the mass on each part */
void dv_share_mass(dv_divider *v);   /* ... of takers that are alike */
void dv_weigh_memory(dv_divider *v); /* use beyond the limit */
void dv_step(dv_divider *v, double target);

/* alike.c: passes over one node of each kind. `like` is NULL where nodes are too different. */
SW_CHECKED sw_rc dv_find_alike(dv_divider *v, sw_diag *d);
SW_CHECKED sw_rc dv_find_like_parts(dv_divider *v, sw_diag *d);
void dv_lift(dv_divider *v);
void dv_lower(dv_divider *v);

#endif
