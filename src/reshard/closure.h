/* All cheapest paths of a net at once. */
#ifndef SRC_RESHARD_CLOSURE_H_
#define SRC_RESHARD_CLOSURE_H_

#include "reshard/atlas.h"

typedef struct rs_closure {
  rs_query q; /* of any pair of states */
  bool partial;
  const rs_net *net;
  rs_net *own;    /* where blocks are uneven, else the net is the atlas' */
  double *cost_s; /* net->n_states squared */
} rs_closure;

/* Of the query's machine, dtype, kind and space. */
SW_CHECKED sw_rc rs_closure_init(rs_closure *c, const rs_query *q, rs_net_scope scope, sw_diag *d);
void rs_closure_deinit(rs_closure *c);
double rs_closure_s(const rs_closure *c, const rs_state *from, const rs_state *to);

#endif
