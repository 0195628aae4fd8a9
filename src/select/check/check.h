/* Inside the check of certificates: a problem that steps change. Nothing here knows a solver.
 *
 * Nodes, choices and times keep the numbers they have in the problem; what goes is marked.
 */
#ifndef SELECT_CHECK_CHECK_H_
#define SELECT_CHECK_CHECK_H_

#include "shardwright/certificate.h"
#include "base/checked.h"

/* Occupies steps [begin, end); a step is a stretch of time over which no use begins or ends. */
typedef struct chk_span {
  int32_t begin, end;
  const int64_t *amount; /* one per choice */
} chk_span;

typedef struct chk_edge {
  int32_t i, j;
  int64_t *v; /* choices(i) x choices(j) */
  bool gone;
} chk_edge;

typedef struct chk_node {
  int32_t n;
  bool gone;
  bool *alive; /* per choice */
  int64_t *cost;
  int32_t *edges;
  int32_t n_edges, cap_edges;
  chk_span *spans;
  int32_t n_spans, cap_spans;
} chk_node;

typedef struct chk_state {
  sw_arena mem, scratch;
  int32_t n, n_edges, cap_edges, n_steps;
  chk_node *nodes;
  chk_edge *edges;
  const int64_t *time; /* when each step begins */
  bool *kept;          /* per step: still counts */
  int32_t *rank;       /* steps that count before each step, when `ranked` */
  bool ranked;
  sw_i128 *fixed; /* per step: what nodes that went occupy; used[t] = sum of fixed[0 .. t] */
  sw_i128 *base;  /* per step: least use, or NULL; may be out of date, which only makes it smaller */
  int64_t limit;
  sw_i128 offset;
} chk_state;

/* Start, and a copy to work on. */
sw_rc chk_init(chk_state *s, const sw_problem *p, sw_diag *d);
sw_rc chk_copy(chk_state *to, const chk_state *from, sw_diag *d);
void chk_deinit(chk_state *s);

static inline bool chk_forbidden(int64_t cost) { return cost >= SW_FORBIDDEN; }
static inline int32_t chk_other(const chk_edge *e, int32_t v) { return e->i == v ? e->j : e->i; }
static inline int64_t *chk_cell(const chk_state *s, const chk_edge *e, int32_t v, int32_t a, int32_t b) {
  int64_t cols = s->nodes[e->j].n;
  return e->i == v ? &e->v[a * cols + b] : &e->v[b * cols + a];
}
int32_t chk_find(const chk_state *s, int32_t a, int32_t b); /* -1: no edge */
int32_t chk_alive(const chk_node *v);                       /* how many choices are left */
int32_t chk_step(const chk_state *s, int64_t time);         /* of a step that begins then and counts; -1: none */

/* What the choices of a node occupy: stretches that hold a step that counts, in order, none overlapping. */
typedef struct chk_profile {
  int32_t n;
  const int32_t *begin, *end;
  const sw_i128 *use; /* [stretch][choice] */
} chk_profile;
/* Valid until the next call with this state. */
sw_rc chk_profile_of(chk_state *s, const chk_node *x, chk_profile *out);

/* Steps of a certificate. Each returns NULL when it is right, or says what is wrong with it; memory running out shows
 * in *rc. */
typedef const char *chk_verdict;
chk_verdict chk_lower(chk_state *s, int32_t i, int32_t j);
chk_verdict chk_drop_forbidden(chk_state *s, int32_t v, int32_t a);
chk_verdict chk_drop_alone(chk_state *s, int32_t v, int32_t a, int32_t beside);
chk_verdict chk_drop_beaten(chk_state *s, int32_t v, int32_t a, int32_t by, sw_rc *rc);
chk_verdict chk_drop_heavy(chk_state *s, int32_t v, int32_t a, int64_t time, sw_rc *rc);
chk_verdict chk_merge(chk_state *s, int32_t gone, int32_t into, sw_rc *rc);
chk_verdict chk_fold(chk_state *s, int32_t v, sw_rc *rc);
chk_verdict chk_forget(chk_state *s, int64_t time);
void chk_forget_memory(chk_state *s);

/* Ends: does no solution of the state cost less than `bound`? */
chk_verdict chk_overfull(chk_state *s, int64_t time, sw_rc *rc);
bool chk_has_empty_node(const chk_state *s);
chk_verdict chk_enumerate(chk_state *s, int64_t bound, sw_rc *rc);
chk_verdict chk_eliminate(chk_state *s, const int32_t *order, int32_t n, int64_t bound, sw_rc *rc);

/* Prices on steps and costs moved between tables and nodes, in 2^-price_bits and 2^-move_bits. */
typedef struct chk_prices {
  int move_bits, price_bits;
  int64_t *price;  /* per step */
  sw_i128 **moved; /* per node and choice: what tables gave to it */
  sw_i128 tables;  /* sum of the least entries of the tables that gave, in 2^-price_bits */
  bool *done;      /* per edge */
  bool broken;     /* numbers too large to add up */
} chk_prices;
chk_verdict chk_prices_init(const chk_state *s, chk_prices *p, int64_t move_bits, int64_t price_bits, sw_arena *mem,
                            sw_rc *rc);
chk_verdict chk_price(const chk_state *s, chk_prices *p, int64_t time, int64_t price);
/* `from` holds a number per choice left of i, then one per choice left of j. */
chk_verdict chk_move(const chk_state *s, chk_prices *p, int32_t i, int32_t j, const int64_t *from, size_t n);
chk_verdict chk_sum(const chk_state *s, chk_prices *p, sw_arena *mem, sw_i128 *bound, sw_rc *rc);

#endif
