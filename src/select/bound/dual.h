/* Inside the solver: a lower bound of a core with memory, by prices on steps and messages on edges.
 *
 * Every step t has a price lambda[t] >= 0 per unit of memory. With prices the limit goes into the variables' costs, and
 * the rest is bounded by sequential tree-reweighted message passing (TRW-S, Kolmogorov 2006): each variable hands its
 * costs in equal shares to its neighbours, in order and back. Messages stay valid whatever the prices do, so the prices
 * move after every pass, along an averaged supergradient and towards a level between the bound and the best cost known.
 */
#ifndef SELECT_DUAL_H_
#define SELECT_DUAL_H_

#include "select/symmetry.h"
#include "shardwright/text.h"

enum { SEL_PAD = 4 }; /* lines of tables and messages are multiples of it */
static inline int32_t sel_padded(int32_t n) { return (n + SEL_PAD - 1) / SEL_PAD * SEL_PAD; }

#define SEL_DUAL_FORBIDDEN 1e15 /* finite, so that differences stay numbers; a lower price is still a bound */
static inline double sel_cell(int64_t v) { return v >= SW_FORBIDDEN ? SEL_DUAL_FORBIDDEN : (double)v; }

/* Some passes are worth the next as long as they close this part of what is missing. */
#define SEL_LEAST_GAIN 0.05

struct sel_shares;

typedef struct sel_arc {
  int32_t edge, other; /* in sel_dual's own numbering of edges */
} sel_arc;

/* An edge with its earlier end first. Tables are padded: row s of `down` (sender: the later end) starts at s * ld_i.
 * Where values of an end have equal lines in the table, as in problems of plans, it may be compressed: then it has a
 * line per class of values, and the messages of a class are equal. */
typedef struct sel_link {
  int32_t i, j; /* i < j */
  int32_t ld_i, ld_j;
  const int32_t *class_i, *class_j; /* of the values; NULL: not compressed, each is its own class */
  int32_t n_i, n_j;                 /* classes */
  const double *up;                 /* [class of i][class of j], ld_j per row */
  const double *down;               /* [class of j][class of i], ld_i per row */
  double *to_j, *to_i;              /* messages */
} sel_link;

/* By the step behind a pass: prices of memory by step, and where they go. */
typedef struct sel_dual_memory {
  double *lambda, *direction, *usage, *prefix;
} sel_dual_memory;

/* By the step, too: how long it is, and when it shrinks. */
typedef struct sel_dual_stride {
  double factor; /* of the step */
  double mix;    /* weight of the newest supergradient */
  int patience;  /* passes without progress before the steps shrink: many lead further, few are sooner there */
  int stale;     /* passes without progress */
} sel_dual_stride;

/* By a pass, wherever its bound is the best so far. */
typedef struct sel_dual_best {
  double bound; /* without the core's offset */
  double *lambda, *messages;
} sel_dual_best;

/* By by_class.c: which variables passes see, those of one class being one. */
typedef struct sel_dual_classes {
  bool on;           /* passes see one variable of those that are alike (by_class.h) */
  sel_symmetry same; /* once by class; links as pairs */
  int32_t *seen, n;  /* the variables that passes see, ascending */
  int32_t *rep_use;  /* the use of the first variable of its class */
  double *rate;      /* of each use of the first variables */
} sel_dual_classes;

/* By a pass. */
typedef struct sel_dual_pass_state {
  double *unary; /* cost + price of uses */
  double *hat;   /* unary + messages, as the last backward pass saw them */
  double *share; /* marginals of the supergradient */
  double *mean;  /* ... averaged as the direction is: nearly a solution of the relaxation */
  double *part;  /* per variable: what it and its tables to earlier ones gave to the bound in the last backward pass */
  double *least; /* scratch: 2 x most_dom */
  double bound;  /* without the core's offset */
  int64_t n;     /* passes so far */
} sel_dual_pass_state;

typedef struct sel_dual {
  /* Once. */
  const sel_core *c;
  const sw_parameters *by;
  sw_arena mem;
  sel_link *links;
  int32_t *first_arc; /* of variable i: arcs to earlier ones, then (from mid_arc[i]) to later ones */
  int32_t *mid_arc;
  sel_arc *arcs;
  int64_t cells;
  int32_t most_dom;          /* padded */
  double unit;               /* memory is counted in this many bytes, so that prices and costs have like sizes */
  struct sel_shares *shares; /* NULL, or shared costs whose shares move with the prices (shares.h) */
  /* Where things lie: anew when classes are merged or parted. */
  int32_t *offset; /* of variable i in the flat arrays of a pass; dom padded to 4 */
  int32_t n_flat;
  int64_t n_messages;
  double *messages;
  sel_dual_pass_state pass;
  sel_dual_memory memory;
  sel_dual_stride stride;
  sel_dual_best best;
  sel_dual_classes classes;
} sel_dual;

/* `by` NULL: the default parameters. `compress`: look for equal lines in the tables; worth it where there will be many
 * passes. */
sw_rc sel_dual_init(sel_dual *u, const sel_core *c, const sw_parameters *by, bool compress, sw_diag *d);
/* Of a part of a core whose links there are, in their order of variables: pair e has the tables of links[which[e]],
 * which stay theirs; `which` NULL: of links[e]. No table of `c` is looked at. */
sw_rc sel_dual_init_part(sel_dual *u, const sel_core *c, const sw_parameters *by, const sel_link *links,
                         const int32_t *which, sw_diag *d);
void sel_dual_deinit(sel_dual *u);
/* Between two passes: no price is below 0, and what passes see lies where they write. */
bool sel_dual_is_sound(const sel_dual *u);
/* Each link with messages of its own, as after sel_dual_init. */
void sel_dual_place_messages(sel_dual *u);
/* One forward and one backward pass, then a step of the prices towards `target` (a cost, without offset). */
void sel_dual_pass(sel_dual *u, double target);
/* Passes towards `target` until the budget is spent, the bound is `enough`, or steps have become too small to matter.
 */
void sel_dual_ascend(sel_dual *u, double target, double enough, sel_budget *b);
/* Take as long as `passes` until the steps are too small to matter, about. */
void sel_dual_pace(sel_dual *u, double passes);
/* Whether nothing much can be hoped for: steps too small to matter, or nothing gained since `before`. */
bool sel_dual_settled(const sel_dual *u, double before);
/* Begin again without messages, at the best prices. */
void sel_dual_forget(sel_dual *u);
/* Return to the best prices and messages. */
void sel_dual_rewind(sel_dual *u);
/* Rewind and leave the costs, messages and parts of one backward pass; its bound, without the core's offset. Then for
 * any choice of the first variables, what it costs with prices, plus the messages of later ones to them, plus the parts
 * of the later ones, less what the prices pay for the caps, is no more than the cost of any completion. */
double sel_dual_freeze(sel_dual *u);
/* Choose greedily along the order, by messages and what is chosen already. */
void sel_dual_decode(sel_dual *u, int32_t *x);
/* lambda-weighted use of every value, at the current prices: price[offset[i] + s]. */
void sel_dual_prices(const sel_dual *u, double *price);
/* The bound in exact integers, from the best prices and messages rounded; without the offset. `proof` (NULL: none) gets
 * them as lines of a certificate, in the words of the problem above `names`, whose rest the core is. */
struct sel_model;
sw_rc sel_dual_certify(const sel_dual *u, const struct sel_model *names, sw_text *proof, int64_t *bound, sw_diag *d);

#endif
