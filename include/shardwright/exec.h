/* Execution: one op on buffers, a whole graph on one device, and a device program on one thread per device.
 *
 * Kernels follow StableHLO and are total: whatever lies in a buffer (padding holds garbage), they neither trap nor read
 * outside it. f16, bf16 and f8 compute in f32 and round once per op. Integer arithmetic wraps; x / 0 is all ones,
 * x % 0 is x, the least integer / -1 is itself; shifting by the width or more gives 0 (arithmetic: the sign). Orders of
 * summation depend on shapes only, so results are the same bits on every run.
 *
 * Products are OpenBLAS's, on as many threads of its own as the program has told it (one is best where devices are
 * threads): that is a setting of the process, and no run touches it.
 */
#ifndef SHARDWRIGHT_EXEC_H_
#define SHARDWRIGHT_EXEC_H_

#include "shardwright/comm.h"
#include "shardwright/graph.h"
#include "shardwright/tensor.h"
#include "shardwright/timeline.h"

/* Who executes. mesh NULL: one device alone. `scratch`: what the op needs meanwhile comes from there and stays until
 * the caller resets it; NULL: memory of its own. */
typedef struct sw_exec_ctx {
  const sw_mesh *mesh;
  int64_t device;
  sw_arena *scratch;
} sw_exec_ctx;

/* One op: in[0..n_operands) to out[0..n_results), whose dtype, dims and data the caller has set. Inputs and outputs
 * must not overlap. SW_E_INPUT for an op or dtype without a kernel and for a bad body of `generic`. Thread-safe. */
SW_API SW_CHECKED sw_rc sw_exec_eval(const sw_op *op, const sw_buffer *const *in, sw_buffer *const *out,
                                     const sw_exec_ctx *ctx, sw_diag *d);

/* Called after each op with its results, on the thread that executed it; results are valid during the call only. A
 * failure ends the run. */
typedef sw_rc (*sw_exec_observer)(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results,
                                  sw_diag *d);
/* The extents of a value that mean something on a device; the others are padding. */
typedef void (*sw_exec_valid)(void *user, sw_id value, int64_t device, int64_t *valid);

/* When one op ran, in seconds since the run started; start == end == 0 when it did not. */
typedef struct sw_exec_time {
  double start_s, end_s;
} sw_exec_time;

/* What has run on a device: an op, or (of a run with delays) what a stream does at a time. Seconds of sw_now_s. */
typedef struct sw_exec_event {
  int64_t device;
  const sw_op *op;                    /* NULL: an item */
  const struct sw_delayed_item *item; /* NULL: an op */
  int stream;                         /* of an item */
  double start_s, end_s;
  sw_rc rc;
} sw_exec_event;
/* Told of each op, or item, after it, on the thread that executed it; of an op also when it failed. */
typedef void (*sw_exec_on_op)(void *user, const sw_exec_event *event);

/* How a collective is done wrong, on every device alike; the last two: an op that is none. */
typedef enum sw_coll_fault {
  SW_COLL_FAULT_LEFT_OUT,        /* each device fills the result with its own input, over and over */
  SW_COLL_FAULT_SHIFTED,         /* done, and the result moved by one element (a single element: to 0, or 1) */
  SW_COLL_FAULT_OTHER_REDUCTION, /* of those that reduce: by the greatest, or the least where that may be the same */
  SW_COLL_FAULT_OTHER_VALUE,     /* it makes another value: each result is moved by one element */
  SW_COLL_FAULT_STALE,           /* an argument that it reads is as its update has left it */
  SW_COLL_FAULT_COUNT
} sw_coll_fault;

/* A fault that is put in, to check what is supposed to notice. */
typedef struct sw_injected_fault {
  const sw_op *op; /* of the program; NULL: none */
  sw_coll_fault fault;
  int operand;              /* of STALE: which is read, */
  const sw_tensor *instead; /* and what is, by device */
} sw_injected_fault;

/* What one stream of a device does at a time: ops, from its start to its end for so many seconds at least. */
typedef struct sw_delayed_item {
  const char *what, *of; /* for listeners: what it is, of which op or value; NULL: they are not told */
  double seconds;
  double launch_s; /* of the work: the host takes so long to launch it, one after the other from the start of the run */
  int32_t n_ops;
  const sw_id *ops; /* of the program, in order; those of a branch that is not chosen do not run */
  int32_t n_waits;
  const int32_t *waits; /* items of its list that end before it starts */
  int32_t loop;         /* the list that is then done once for each trip; 0: none */
} sw_delayed_item;

/* What streams do, each in order, and beside each other: all that is in no loop, or a trip of one. */
typedef struct sw_delayed_list {
  sw_id frame; /* of the program; -1: all that is in no loop */
  int32_t n_at[SW_MAX_STREAMS];
  const int32_t *at[SW_MAX_STREAMS]; /* by stream: items */
} sw_delayed_list;

/* A run in which ops take as long as a timeline says, and collectives are issued beside others' work as it says
 * (timeline.h). No op of the program is in two items, and ENTER and END of a loop are in none. */
typedef struct sw_exec_delays {
  double step_s; /* what the timeline says of the step, in which everything takes `times` as long as it says */
  double times;
  const sw_delayed_item *items;
  int32_t n_items, n_lists;
  const sw_delayed_list *lists;
  bool has[SW_MAX_STREAMS]; /* items, in some list */
} sw_exec_delays;

typedef struct sw_exec_options {
  bool poison; /* fill results before kernels write them and padding afterwards, so that a read of either shows */
  /* != 0: a seed. Float arguments (copies of them) and what is computed are moved by up to a unit in the last place
   * before any op reads them; perturb_least (NULL: none), by id of a result (NULL: none) and element: what is smaller
   * is moved as much as a number of this size. */
  uint64_t perturb;
  const double *const *perturb_least;
  sw_exec_observer observe; /* NULL: none */
  void *observe_user;
  sw_exec_on_op on_op; /* NULL: nobody */
  void *on_op_user;
  sw_cancel *cancel; /* NULL allowed; polled between ops */
  /* NULL, or room for graph->n_ops entries (sw_exec_run), or devices * graph->n_ops, device-major (sw_exec_run_spmd),
   * indexed by op id. */
  sw_exec_time *times;
  sw_injected_fault inject_fault;
  int64_t *peak_bytes; /* NULL, or one entry per device: most bytes of values (arguments included) held at once */
  const sw_exec_delays *delays; /* NULL, or how long ops take; not with perturb, times, peak_bytes */
} sw_exec_options;

/* Run the main function: args[i] is argument i (dtype and dims as declared); outputs[i] is made here and owned by the
 * caller, n_outputs of the function. Values are freed after their last use. On failure no output is left allocated. */
SW_API SW_CHECKED sw_rc sw_exec_run(const sw_graph *g, const sw_buffer *const *args, const sw_exec_options *o,
                                    sw_tensor *outputs, sw_diag *d);

/* A device program: a graph with local (padded) shapes whose COLLECTIVE, SHARD_START and MASK ops speak of `mesh`. */
typedef struct sw_exec_program {
  const sw_graph *graph;
  const sw_mesh *mesh;
  sw_comm *comm; /* one per run: devices leave it when they are done */
  sw_exec_valid valid;
  void *valid_user;
  sw_comm *beside[SW_MAX_STREAMS]; /* with delays: a communicator of each stream of communication that has items */
} sw_exec_program;

/* How the devices of a run are carried out. */
typedef struct sw_parallel_options {
  bool mpi;             /* they are the processes of an MPI run */
  double timeout_s;     /* of a collective; <= 0: 30 */
  uint64_t jitter_seed; /* random delays before communication; 0: none */
  bool quiet;           /* where devices stood when a run failed is not logged */
  sw_cancel *cancel;    /* NULL allowed */
  /* Listeners, as of sw_exec_options and comm.h; NULL: nobody. */
  sw_exec_on_op on_op;
  void (*on_call)(void *user, const sw_comm_event *event);
  void *listener; /* user of both */
} sw_parallel_options;

/* Run it on one thread per device. args[device * n_args + i] and outputs[device * n_outputs + i]. A device that fails
 * leaves the communicator, which ends the others; the failure that came first is returned, with a note that names the
 * device and the op. On failure no output is left allocated. */
SW_API SW_CHECKED sw_rc sw_exec_run_spmd(const sw_exec_program *p, const sw_buffer *const *args,
                                         const sw_exec_options *o, sw_tensor *outputs, sw_diag *d);
/* One device's part, on this thread; args[i] and outputs[i] are its own, and so are o->times. Does not leave the
 * communicator: the caller does. */
SW_API SW_CHECKED sw_rc sw_exec_run_device(const sw_exec_program *p, int64_t device, const sw_buffer *const *args,
                                           const sw_exec_options *o, sw_tensor *outputs, sw_diag *d);

#endif
