/* Jobs of a graph with what is written beside it. */
#ifndef SUPPORT_JOB_H_
#define SUPPORT_JOB_H_

#include "check.h"
#include "shardwright/plan.h"

/* Each op launched by itself; lives as long as the block that it stands in. */
#define JOB(g, m) (&(sw_job){.graph = (g), .request = (g)->written, .machine = (m)})

/* With the kernels of a compiler; "none": each op by itself. The machine's calls stay as they are. */
static inline sw_job job_under(const sw_graph *g, const sw_machine *m, const char *compiler, sw_arena *arena) {
  sw_job job = {g, g->written, NULL, m};
  if (strcmp(compiler, "none") != 0) assert_ok(sw_kernels_find(g, compiler, arena, &job.kernels, &diag));
  return job;
}

#endif
