/* The cheapest path between the ends of a request. */
#ifndef SRC_RESHARD_SEARCH_H_
#define SRC_RESHARD_SEARCH_H_

#include "reshard/route_graph.h"

typedef struct rs_path {
  double cost_s; /* HUGE_VAL when there is none */
  int n;
  struct rs_hop {
    rs_move move;
    rs_state after;
    double cost_s;
  } hop[SW_MAX_ROUTE_STEPS];
} rs_path;

SW_CHECKED sw_rc rs_search(const rs_request *r, rs_path *out, sw_diag *d);

#endif
