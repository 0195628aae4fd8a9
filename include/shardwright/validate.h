/* Validation: execute a plan on device threads and compare with one device.
 *
 * Arguments are made by seed (distinct, sign-mixed) or given. The model runs on one device; the partitioned program
 * runs on one thread per device, buffers poisoned; then every element of every block of every output, on every device,
 * is looked up in the single-device result. When the inputs are small integers and every number of the single-device
 * run stays a small integer, results must agree bit for bit; otherwise within a tolerance that follows from the dtype,
 * the longest reduction and the number of ops, and is reported. With `intermediates` reruns that round at random tell
 * how far roundings move each value; integers and bools that they turn (the place of the greatest of two numbers that
 * are nearly equal) are not judged, nor is what then differs behind them.
 */
#ifndef SHARDWRIGHT_VALIDATE_H_
#define SHARDWRIGHT_VALIDATE_H_

#include "shardwright/exec.h"
#include "shardwright/local.h"
#include "shardwright/spmd.h"

typedef struct sw_validate_options {
  uint64_t seed;
  bool random_floats;      /* at once, instead of trying small integers first */
  bool intermediates;      /* compare every value that a device holds a block of; names the first op that differs */
  double timeout_s;        /* of a collective; <= 0: 30 */
  const sw_tensor *inputs; /* NULL, or one per argument of the model */
  sw_tensor *outputs;      /* NULL, or room for the model's outputs, reassembled from the devices; caller frees */
  int32_t inject_fault;    /* > 0: the n-th collective of the program is left out on every device, */
  bool fault_alters;       /* or done wrongly (sw_injected_fault): a check of the check */
  const sw_graph *against; /* of a plan: NULL, or another program that its own should be, with the same arguments */
  bool mpi;                /* the devices are the processes of an MPI run; every process gets the result */
  uint64_t jitter_seed;    /* random delays before communication; 0: none */
  /* > 0: of a plan with a timeline, not with mpi or intermediates: kernels and collectives are issued as the timeline
   * has them, and take as long, so many times as this is the timeline's step. */
  double delayed_step_s;
  sw_cancel *cancel;
  /* Listeners of the parallel run, as of exec.h and comm.h; NULL: nobody. */
  sw_exec_on_op on_op;
  void (*on_call)(void *user, const sw_comm_event *event);
  void *listener; /* user of both */
} sw_validate_options;

/* One compared value. */
typedef struct sw_validate_entry {
  const char *name; /* of the output or value */
  sw_dtype dtype;
  int32_t rank;
  bool exact;
  sw_tolerance tolerance;
  sw_difference worst; /* of the device that is off most */
  int64_t device;
  /* Where roundings were seen to move elements: how far (in the Euclidean norm) a device's block is off,
   * and may be; of the block where the two compare worst. Allowed 0: not judged. */
  double norm_off, norm_allowed;
  int64_t norm_device;
  int64_t not_finite; /* of an output: elements that are infinite or NaN on one device, and say little */
} sw_validate_entry;

/* A partial result that leaves the range of its type, where one device's result stays within, or the other way round:
 * another order of summation, no mistake in the program. */
typedef struct sw_validate_overflow {
  const char *value; /* of the model; NULL: none */
  sw_dtype dtype;
  int64_t device; /* -1: one device's own run */
} sw_validate_overflow;

typedef struct sw_validation {
  bool matches;
  bool exact; /* compared bit for bit */
  int32_t n_outputs;
  const sw_validate_entry *outputs;
  int64_t values_compared;  /* with `intermediates` */
  const char *first_bad_op; /* model op whose result differs first in program order; NULL: none or not asked */
  sw_validate_entry first_bad;
  sw_validate_overflow overflow; /* what the first difference comes from, with `intermediates` */
  sw_validate_entry nearest;     /* of them, the one that uses most of what it is allowed; name NULL: none */
  double single_s, parallel_s;   /* wall time of the runs, device threads included */
  double delayed_step_s;         /* of a run with delays: what the timeline says of it, */
  double delayed_times;          /* and how many times as long as it says everything was made */
  int64_t device;                /* with `mpi`: this process's; else 0 */
  int64_t elements;              /* compared over all devices and outputs */
  sw_comm_stats comm;            /* summed over devices */
  int32_t collectives;           /* of the program */
} sw_validation;

/* SW_E_MISMATCH is not returned: see `matches`. Failures of the run itself are. */
SW_API SW_CHECKED sw_rc sw_validate(const sw_plan *plan, const sw_validate_options *o, sw_arena *arena,
                                    sw_validation *out, sw_diag *d);

/* The same of a program that was partitioned elsewhere, against the whole one that it should be: arguments and outputs
 * of the two correspond in order. SW_E_INPUT when they are of other types. Values in between are compared where the
 * program says what they are (sw_local_program.layout). */
SW_API SW_CHECKED sw_rc sw_local_validate(const sw_local_program *p, const sw_graph *whole,
                                          const sw_validate_options *o, sw_arena *arena, sw_validation *out,
                                          sw_diag *d);

/* Arguments as validation makes them, for other users (one tensor per argument; the caller frees). */
SW_API SW_CHECKED sw_rc sw_make_arguments(const sw_graph *g, uint64_t seed, bool random_floats, sw_tensor *out,
                                          sw_diag *d);
/* The same for arguments of other types than the graph's (a program of one device): one for each. */
SW_API SW_CHECKED sw_rc sw_make_arguments_as(const sw_graph *g, const sw_type *const *types, uint64_t seed,
                                             bool random_floats, sw_tensor *out, sw_diag *d);

/* A route carried out on device threads, on a tensor made up for it; every element of every block is compared bit for
 * bit with the whole tensor, after the reduction where the target is partial. */
typedef struct sw_route_run {
  int64_t elements, wrong;
  int64_t bytes_received; /* by all devices from others, as the runtime counts them */
  double seconds;
} sw_route_run;
SW_API SW_CHECKED sw_rc sw_run_route(const sw_reshard *wanted, const sw_route *route, sw_cancel *cancel,
                                     sw_route_run *out, sw_diag *d);

#endif
