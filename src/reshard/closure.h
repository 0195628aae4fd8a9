/* All cheapest paths of a net, source by source. */
#ifndef SRC_RESHARD_CLOSURE_H_
#define SRC_RESHARD_CLOSURE_H_

#include "reshard/atlas.h"

enum { RS_CLOSURE_KEEPS = 460 }; /* states between which steps are kept */

typedef struct rs_closure {
  rs_query q; /* of any pair of states */
  rs_atlas *atlas;
  const rs_net *net; /* the machine's */
  rs_sized *sized;   /* prices of even blocks */
  double *step_s;    /* net->n_states squared; NULL: too many to be kept, they are looked up */
  double **row;      /* by source, those that have been asked for */
} rs_closure;

/* Of the query's machine, dtype and space; `partial`: of states of partial values, too. */
SW_CHECKED sw_rc rs_closure_init(rs_closure *c, const rs_query *q, bool partial, sw_diag *d);
void rs_closure_deinit(rs_closure *c);
/* What leads from a state to each. */
SW_CHECKED sw_rc rs_closure_row(rs_closure *c, int from, const double **out, sw_diag *d);
SW_CHECKED sw_rc rs_closure_s(rs_closure *c, const rs_state *from, const rs_state *to, double *out, sw_diag *d);

#endif
