/* All states and steps of a machine's axes at one rank, whatever the tensor: what routes between even blocks have in
 * common, worked out once and kept with the machine.
 *
 * Prices of steps are curves over the tensor's size. There are few of them, as most steps are alike: of the 37056
 * between the 193 states of three axes at rank 4 some hundred.
 */
#ifndef SRC_RESHARD_ATLAS_H_
#define SRC_RESHARD_ATLAS_H_

#include <math.h>

#include "reshard/net.h"

typedef struct rs_atlas rs_atlas;
enum { RS_ATLAS_PRICES = 4096, RS_NO_STEP = 0, RS_UNKNOWN = 1 };

/* Steps from a state, or to it, by the numbers of their prices. */
typedef struct rs_steps {
  int n; /* different numbers, RS_NO_STEP not among them */
  const uint16_t *number;
  const uint16_t *end;   /* by place of a number, behind its last state */
  const uint16_t *state; /* those of the first number in order, then of the next */
} rs_steps;

/* By state, the number of the price of the step to it, or from it; RS_NO_STEP where there is none, RS_UNKNOWN where it
 * has not been asked for. */
typedef struct rs_row {
  uint16_t most;   /* of the numbers */
  uint16_t n_cuts; /* states with number 0, ... */
  uint16_t *cut;   /* ... where several dimensions are cut at once: no step between even blocks, but maybe one
                      between uneven ones */
  rs_steps steps;  /* as they were when the row was made */
  uint16_t number[];
} rs_row;

/* That of a query's machine and atoms, values being partial or not. */
SW_CHECKED sw_rc rs_atlas_of(const rs_query *q, bool partial, rs_atlas **out, sw_diag *d);
/* One of the states that are made of the query's ends alone, which are borrowed. Given back, it is the machine's. */
SW_CHECKED sw_rc rs_atlas_make(const rs_query *q, const rs_net_ends *ends, bool partial, rs_atlas **out, sw_diag *d);
void rs_atlas_give_back(rs_atlas *a);
/* Its states, of a tensor of some size. */
const rs_net *rs_atlas_net(const rs_atlas *a);
/* Do all states cut all of the query's dimensions evenly? */
bool rs_atlas_cuts_evenly(const rs_atlas *a, const rs_query *q);
/* The steps from a state, or (`to_it`) to it. Where the states are of one query alone they are not known yet. */
SW_CHECKED sw_rc rs_atlas_row(rs_atlas *a, int state, bool to_it, const rs_row **out, sw_diag *d);
/* Makes the number of one such step known; so only the query's own thread may. */
SW_CHECKED sw_rc rs_atlas_ask(rs_atlas *a, int state, bool to_it, int other, sw_diag *d);
/* What bounds on paths from every state to one, or (not `to_it`) from one to every state, follow from. */
typedef struct rs_gaps {
  int n;        /* different ones */
  uint16_t *of; /* by state, which */
  rs_net_gap gap[];
} rs_gaps;
SW_CHECKED sw_rc rs_atlas_gaps(rs_atlas *a, int state, bool to_it, const rs_gaps **out, sw_diag *d);
/* States alike but for the order of some dimensions have one number, below n. */
typedef struct rs_alike {
  int n;
  uint16_t of[RS_NET_STATES];
} rs_alike;
/* `dims`: a set; the order of dimensions beyond the first eight always tells states apart. */
SW_CHECKED sw_rc rs_atlas_alike(rs_atlas *a, unsigned dims, const rs_alike **out, sw_diag *d);
/* The price of a number at a scale of the atlas' tensor, whose square root is given. */
double rs_atlas_price_s(const rs_atlas *a, int number, double scale, double root);

/* Prices of one tensor, worked out as they are asked for. */
typedef struct rs_sized {
  const rs_atlas *atlas;
  double scale, root;
  int n;
  double price_s[RS_ATLAS_PRICES]; /* of the first n numbers; negative: not yet known */
} rs_sized;

void rs_sized_init(rs_sized *s, const rs_atlas *a, const rs_query *q);
/* Before the numbers of a row are looked up. */
static inline void rs_sized_hold(rs_sized *s, const rs_row *row) {
  while (s->n <= row->most) s->price_s[s->n++] = -1;
}
static inline double rs_sized_s(rs_sized *s, int number) {
  if (s->price_s[number] < 0) s->price_s[number] = rs_atlas_price_s(s->atlas, number, s->scale, s->root);
  return s->price_s[number];
}
/* Of so many times the bytes. */
static inline double rs_sized_padded_s(const rs_sized *s, int number, double times) {
  return rs_atlas_price_s(s->atlas, number, s->scale * times, s->root * sqrt(times));
}

#endif
