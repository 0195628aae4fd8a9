/* Partial sums and infinities. */
#ifndef GRAPH_INFINITE_H_
#define GRAPH_INFINITE_H_

#include "shardwright/graph.h"

/* Takes from ops the linearities that infinities or divisors of zero would make wrong. The graph is about to be
 * sealed: frames and use lists are there. */
SW_CHECKED sw_rc sw_graph_mind_infinities(sw_graph *g, sw_diag *d);

#endif
