/* A partitioned program on all of its devices: threads of this process, or the processes of an MPI run, of which this
 * is one. */
#ifndef EXEC_PARALLEL_H_
#define EXEC_PARALLEL_H_

#include "shardwright/exec.h"

/* Of a device's thread; taken as it is touched. */
enum { SW_DEVICE_STACK_BYTES = 2 << 20 };

/* Is there room on this machine for a program on as many threads? `args`: how its arguments are cut, NULL: not at all.
 * SW_E_RESOURCE with what is wanted and what is there. */
SW_CHECKED sw_rc sw_parallel_admit(const sw_graph *program, const sw_sharding *const *args, int64_t devices,
                                   sw_diag *d);

/* The same for a run on one device, its arguments included: of other types, or the program's own (NULL). */
SW_CHECKED sw_rc sw_single_admit(const sw_graph *g, const sw_type *const *types, sw_diag *d);

/* Good for one run: its devices leave at the end. */
typedef struct sw_parallel {
  const sw_parallel_options *o;
  const sw_mesh *grid; /* of the collectives */
  sw_comm *comm;
  sw_comm *beside[SW_MAX_STREAMS]; /* of a run with delays, by stream */
  int64_t devices, first, end;     /* those that run in this process: all, or one of an MPI run */
  double seconds;                  /* of the run */
} sw_parallel;

SW_CHECKED sw_rc sw_parallel_open(const sw_mesh *grid, const sw_parallel_options *o, sw_parallel *out, sw_diag *d);
/* NULL comm allowed. `rc` and `d`: how the run ended, for the other processes; the result is how it ended for all. */
SW_CHECKED sw_rc sw_parallel_close(sw_parallel *p, sw_rc rc, sw_diag *d);

/* blocks[device * n_args ..] of the devices that run here to outputs[device * n_outputs ..]. `p`: all but the
 * communicator; `o`: all but listeners. Logs the flight record when it fails. */
SW_CHECKED sw_rc sw_parallel_run(sw_parallel *run, const sw_exec_program *p, const sw_exec_options *o,
                                 const sw_tensor *blocks, sw_tensor *outputs, sw_diag *d);
/* Of the devices that ran here, added up. */
void sw_parallel_add_stats(const sw_parallel *p, sw_comm_stats *sum);

#endif
