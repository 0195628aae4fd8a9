/* An SPMD program that was read from text: what one device runs, with collectives among devices that the text lists.
 *
 *   sw_program *p;                          // read with options.by_device (program.h)
 *   const sw_local_program *local = sw_program_local(p);
 *   SW_TRY(sw_local_run(local, args, &options, outputs, &stats, d));    // on one thread per device
 *
 * Its graph is one on a device's shapes, like that of sw_partition; groups that the text lists are lists of devices.
 * Arguments and outputs of a run are whole tensors: each device gets its block of the former and gives its block of the
 * latter.
 */
#ifndef SHARDWRIGHT_LOCAL_H_
#define SHARDWRIGHT_LOCAL_H_

#include "shardwright/exec.h"
#include "shardwright/spmd.h"

typedef struct sw_local_stats {
  sw_comm_stats comm; /* summed over devices */
  double seconds;
  int64_t device; /* with `mpi`: this process's; else 0 */
} sw_local_stats;

/* Run it; `o` may be NULL. `args`: whole tensors, one per argument; `blocks`: devices * n_outputs, device-major, made
 * here and owned by the caller. What a block has beyond its tensor's end is garbage, on the way in as well. Over MPI
 * every process gets all blocks. */
SW_API SW_CHECKED sw_rc sw_local_run(const sw_local_program *p, const sw_tensor *args, const sw_parallel_options *o,
                                     sw_tensor *blocks, sw_local_stats *stats, sw_diag *d);

/* The whole outputs of such blocks, made here; *torn (may be NULL): elements in which two devices that hold the same
 * one differ. */
SW_API SW_CHECKED sw_rc sw_local_join(const sw_local_program *p, const sw_tensor *blocks, sw_tensor *outputs,
                                      int64_t *torn, sw_diag *d);

#endif
