/* An SPMD program that was read from text: what one device runs, with collectives among devices that the text lists.
 *
 *   sw_program *p;                          // read with options.by_device (program.h)
 *   const sw_local_program *local = sw_program_local(p);
 *   SW_TRY(sw_local_run(local, args, &options, outputs, &stats, d));    // on one thread per device
 *
 * Its graph is one on a device's shapes, in which collectives are opaque ops; the calls say what those do. Arguments
 * and outputs of a run are whole tensors: each device gets its block of the former and gives its block of the latter.
 */
#ifndef SHARDWRIGHT_LOCAL_H_
#define SHARDWRIGHT_LOCAL_H_

#include "shardwright/exec.h"

typedef enum sw_local_kind {
  SW_LOCAL_GROUPS, /* a collective of the groups */
  SW_LOCAL_PAIRS,  /* every device gets the operand of another one, or zeros */
  SW_LOCAL_NUMBER  /* a number of each device's own */
} sw_local_kind;

/* What an opaque op of the graph does. With several operands: with each of them. */
typedef struct sw_local_call {
  sw_id op;
  sw_local_kind kind;
  sw_collective coll; /* GROUPS; its axes are left out: they are the group */
  int32_t n_groups;   /* GROUPS; broadcast gives zeros to devices in none */
  const int64_t *sizes;
  const int64_t *members;   /* of all groups, one group behind the other, in the order of each */
  const int64_t *by_device; /* PAIRS: whose operand, -1 nobody's; NUMBER: the number */
} sw_local_call;

/* Of which tensor an argument or output is a device's block. */
typedef struct sw_local_border {
  sw_type whole;
  sw_sharding sharding; /* over the program's mesh; nothing partial */
  bool said;            /* the text says it; else it is the same on all devices */
} sw_local_border;

typedef struct sw_local_program {
  sw_graph *graph;
  int64_t devices;
  sw_mesh mesh;            /* of the shardings; as many devices */
  const int64_t *position; /* by device: where in the mesh it sits; NULL: device i at position i */
  int32_t n_calls;
  const sw_local_call *calls; /* in ascending order of ops */
  sw_local_border *args, *outputs;
} sw_local_program;

/* Blocks are those of the shardings, and groups and numbers those of devices. */
SW_API SW_CHECKED sw_rc sw_local_verify(const sw_local_program *p, sw_diag *d);

typedef struct sw_local_options {
  double timeout_s;     /* of a collective; <= 0: 30 */
  uint64_t jitter_seed; /* random delays before communication; 0: none */
  sw_cancel *cancel;    /* NULL allowed */
  sw_exec_on_op on_op;  /* NULL: nobody */
  void *on_op_user;
} sw_local_options;

typedef struct sw_local_stats {
  sw_comm_stats comm; /* summed over devices */
  double seconds;
} sw_local_stats;

/* Run it. `args`: whole tensors, one per argument; `blocks`: devices * n_outputs, device-major, made here and owned by
 * the caller. What a block has beyond its tensor's end is garbage, on the way in as well. */
SW_API SW_CHECKED sw_rc sw_local_run(const sw_local_program *p, const sw_tensor *args, const sw_local_options *o,
                                     sw_tensor *blocks, sw_local_stats *stats, sw_diag *d);

/* The whole outputs of such blocks, made here; *torn (may be NULL): elements in which two devices that hold the same
 * one differ. */
SW_API SW_CHECKED sw_rc sw_local_join(const sw_local_program *p, const sw_tensor *blocks, sw_tensor *outputs,
                                      int64_t *torn, sw_diag *d);

#endif
