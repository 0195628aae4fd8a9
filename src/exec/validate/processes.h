/* A validation whose devices are processes: what each has made is brought to all, so that all judge alike. */
#ifndef EXEC_PROCESSES_H_
#define EXEC_PROCESSES_H_

#include "shardwright/validate.h"

typedef struct sw_processes {
  sw_comm *comm;
  const sw_mesh *mesh;
  int64_t device; /* this process's */
} sw_processes;

/* all[device * n ..] of every device, from this process's own. Tensors of the others are made here. */
SW_CHECKED sw_rc sw_processes_share_tensors(const sw_processes *p, int32_t n, sw_tensor *all, sw_diag *d);
/* Statistics become sums over all, and the first op that differs on any device is the first. Names live in the arena.
 * `first_bad_step`: position of the op in the program. */
SW_CHECKED sw_rc sw_processes_share_findings(const sw_processes *p, int32_t first_bad_step, sw_validation *v,
                                             sw_arena *arena, sw_diag *d);

#endif
