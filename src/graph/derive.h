/* A graph that differs from another in some of its arrays, and shares everything else with it. */
#ifndef GRAPH_DERIVE_H_
#define GRAPH_DERIVE_H_

#include "shardwright/request.h"

/* NULL: as the other has it. Of the same length, but for args. */
typedef struct sw_graph_parts {
  const sw_op *ops;
  const sw_value *values;
  const sw_frame *frames;
  int32_t n_args;
  const sw_id *args;
} sw_graph_parts;

/* In the arena; borrows both, and is not destroyed. What is written beside the graph is so beside the new one. */
SW_API SW_CHECKED sw_rc sw_graph_derive(const sw_graph *g, const sw_graph_parts *other, sw_arena *arena, sw_graph **out,
                                        sw_diag *d);

#endif
