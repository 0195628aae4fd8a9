/* Running a model as it is, on one device. */
#ifndef CLI_RUN_WHOLE_H_
#define CLI_RUN_WHOLE_H_

#include "shardwright/clock.h"
#include "shardwright/graph.h"

typedef struct sw_whole_run {
  const char *inputs, *outputs; /* folders of arrays; NULL: made up, and thrown away */
  uint64_t seed;
  bool random_floats, json;
  sw_cancel *cancel;
} sw_whole_run;

SW_CHECKED sw_rc sw_run_whole(const sw_whole_run *r, const sw_graph *g, sw_arena *arena, sw_diag *d);

#endif
