/* Inside the solver: a full choice of a core that moves change and judge.
 *
 * local[offset[i] + s] is what variable i pays with value s while the others stay: its cost and its edges. Forbidden
 * entries count `bad`, which is more than any allowed solution costs. Memory may be broken while a repair works on it;
 * moves start from and end in choices that keep it.
 */
#ifndef SELECT_STATE_H_
#define SELECT_STATE_H_

#include "select/search/search_profile.h"

typedef struct sel_near {
  int32_t other;
  int32_t n_other;       /* values of it */
  int32_t pair;          /* of the core */
  const int64_t *v;      /* [s of this][t of other] */
  const int64_t *turned; /* [t of other][s of this]: lines to read where t is given */
} sel_near;

/* What all states of a core share; read-only once built. */
typedef struct sel_field {
  const sel_core *c;
  int32_t *first_near; /* n + 1 */
  sel_near *near;
  int32_t *offset; /* n + 1, values of the variables before */
  int64_t bad;
  int64_t **cost; /* per variable, forbidden clipped to bad */
} sel_field;

typedef struct sel_state {
  const sel_field *f;
  int32_t *x;
  int64_t *local;
  sw_i128 cost;
  sel_profile profile;
} sel_state;

/* Entries of `bad` and more are clipped to it; 0: the largest that sums of local costs can hold. */
sw_rc sel_field_init(sel_field *f, const sel_core *c, int64_t bad, sw_arena *mem, sw_diag *d);
sw_rc sel_state_init(sel_state *s, const sel_field *f, sw_arena *mem, sw_diag *d);
void sel_state_set(sel_state *s, const int32_t *x); /* everything anew */
void sel_state_change(sel_state *s, int32_t i, int32_t value);
/* Whether i could take the value and every step it touches keep its cap. */
bool sel_state_fits(sel_state *s, int32_t i, int32_t value);
bool sel_state_feasible(const sel_state *s); /* memory kept and nothing forbidden */
static inline int64_t sel_state_delta(const sel_state *s, int32_t i, int32_t value) {
  const int64_t *q = s->local + s->f->offset[i];
  return q[value] - q[s->x[i]];
}

/* Bring a choice under its caps: while a step is broken, the change that costs least per byte it frees there. `price`
 * (per value, by the field's offsets) counts with the costs. Returns whether it ended feasible. */
bool sel_repair(sel_state *s, const double *price, sel_budget *b);

#endif
