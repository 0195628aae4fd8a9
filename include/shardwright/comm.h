/* The communicator: collectives over the devices of a mesh, on threads of this process or on MPI. Knows nothing of
 * graphs.
 *
 *   sw_comm *comm;
 *   sw_comm_create_threads(&mesh, &options, &comm, d);
 *   // on the thread of device i:
 *   sw_comm_run(comm, i, &(sw_comm_call){.coll = &all_reduce, .in = &x, .out = &y, .where = 17}, d);
 *
 * Members of a group must make the same calls in the same order. A member that arrives with another op, axes, dtype,
 * shape, root or position in the program, that waits elsewhere for ever, that leaves, or that does not come within the
 * timeout ends the run: every call in flight and every later one returns SW_E_RESOURCE with one message that names both
 * devices, their ops and their positions in the program. A device that needs nothing of the others, such as the root of
 * a broadcast, may be up to 64 calls ahead of them; of two members whose calls differ, the one that looks last gets the
 * error, from a later call or at the latest when it leaves, and so does the other unless it has left before. The order
 * of every reduction is that of the group, so results do not depend on timing. The program must keep a call's buffers
 * until the call returns, and that is long enough: no device reads them afterwards.
 */
#ifndef SHARDWRIGHT_COMM_H_
#define SHARDWRIGHT_COMM_H_

#include "shardwright/clock.h"
#include "shardwright/collective.h"

typedef struct sw_comm sw_comm;

typedef struct sw_comm_call sw_comm_call;

/* A call that a device has made, for listeners. */
typedef struct sw_comm_event {
  const sw_mesh *mesh;
  int64_t device;
  const sw_comm_call *call;
  double start_s, end_s; /* of sw_now_s */
  sw_rc rc;
} sw_comm_event;

typedef struct sw_comm_options {
  double timeout_s;            /* <= 0: 30 s */
  uint64_t jitter_seed;        /* tests: random delays and idle wake-ups before each operation; 0 = none */
  sw_cancel *cancel;           /* NULL allowed */
  double (*now_s)(void *user); /* the clock of timeouts; NULL: sw_now_s */
  void *now_user;
  /* Told of every call after it, on the thread that made it (of sw_comm_start: when it has started). NULL: nobody. */
  void (*on_call)(void *user, const sw_comm_event *event);
  void *on_call_user;
  /* Leave results that the dialect calls undefined (valid extents 0) as they are, instead of filling them with poison;
   * for benches. */
  bool keep_undefined;
} sw_comm_options;

/* acc[i] = acc[i] combined with x[i], `n` elements of the result's dtype. For the reduction `generic`: must be
 * associative enough for the caller; it is applied in group order. */
typedef struct sw_combiner {
  void (*combine)(void *user, void *acc, const void *x, size_t n);
  void *user;
} sw_combiner;

struct sw_comm_call {
  const sw_collective *coll;
  const sw_buffer *in; /* NULL for recv and barrier; may be NULL on non-roots of broadcast and scatter */
  sw_buffer *out;      /* dims set by the caller, valid filled by the call; may share data with `in`; NULL for send and
                          barrier; may be NULL on non-roots of gather and reduce */
  int64_t where;       /* position in the program: the same for all members of the group */
  const sw_combiner *generic; /* for the reduction `generic` only */
};

SW_API SW_CHECKED sw_rc sw_comm_create_threads(const sw_mesh *mesh, const sw_comm_options *o, sw_comm **out,
                                               sw_diag *d);

/* A communicator over the processes of an MPI run: rank i is device i, *device is this process's. sw_comm_run is called
 * for that device only; sw_comm_start completes the call at once. Works in programs that an MPI engine is linked into
 * (shardwright-openmpi, shardwright-mpich), else fails. Initialises MPI when nobody has. Collective. */
SW_API SW_CHECKED sw_rc sw_comm_create_mpi(const sw_mesh *mesh, const sw_comm_options *o, sw_comm **out,
                                           int64_t *device, sw_diag *d);
/* For an MPI engine: how the above is done. */
typedef sw_rc (*sw_comm_mpi_create)(const sw_mesh *mesh, const sw_comm_options *o, sw_comm **out, int64_t *device,
                                    sw_diag *d);
SW_API void sw_comm_provide_mpi(sw_comm_mpi_create create);

SW_API void sw_comm_destroy(sw_comm *c); /* NULL allowed; no call may be in flight */
/* Blocking; called by one thread per device. */
SW_API SW_CHECKED sw_rc sw_comm_run(sw_comm *c, int64_t device, const sw_comm_call *call, sw_diag *d);

/* The two halves of sw_comm_run: between them the device may compute, or start other calls (at most
 * SW_COMM_MAX_STARTED in one group). Requests may be waited for in any order; everything that `call` points to, but
 * not `call` itself, stays unchanged until then. sw_comm_wait frees the request, also when it fails. */
enum { SW_COMM_MAX_STARTED = 3 };
typedef struct sw_comm_request sw_comm_request;
SW_API SW_CHECKED sw_rc sw_comm_start(sw_comm *c, int64_t device, const sw_comm_call *call, sw_comm_request **out,
                                      sw_diag *d);
SW_API SW_CHECKED sw_rc sw_comm_wait(sw_comm *c, sw_comm_request *request, sw_diag *d);

/* The device will make no more calls. A call may return to a device that needs nothing of the others (the root of a
 * broadcast) before they have come to it: with SW_OK this waits until they have come to all such calls, and fails as a
 * call does, or when the device has started a call and not waited for it, or was sent what it has not received. Else it
 * failed, everybody who waits for it returns an error that carries `why`, and this returns `rc`. Every device ends with
 * this. */
SW_API SW_CHECKED sw_rc sw_comm_leave(sw_comm *c, int64_t device, sw_rc rc, const char *why, sw_diag *d);

/* Bytes this device has received from others so far, and calls made, by collective; for reports. */
typedef struct sw_comm_stats {
  int64_t calls[SW_COLL_COUNT];
  int64_t bytes_received[SW_COLL_COUNT];
} sw_comm_stats;
SW_API void sw_comm_get_stats(const sw_comm *c, int64_t device, sw_comm_stats *out);

/* The flight record: per device its state (running, waiting for whom, left) and its last calls, one line each. To be
 * printed after a failure; the devices have returned from their calls. */
SW_API void sw_comm_report(const sw_comm *c, sw_text *out);

/* Running every device of a communicator, many of them on few threads.
 *
 * A device is a function with a stack of its own. Devices that share a thread take turns: a device that waits in a
 * call of the communicator lets another one run. So 512 devices on 2 cores cost 2 threads, and a call costs no kernel
 * switch. A device that blocks elsewhere (in a sleep, on a lock) blocks those that share its thread.
 */

/* What a device runs. Its failure ends the run for all. */
typedef sw_rc (*sw_device_main)(sw_comm *c, int64_t device, void *user, sw_diag *d);

typedef struct sw_launch_options {
  int threads;        /* <= 0: as many as there are cores; never more than devices */
  size_t stack_bytes; /* of a device; 0: 1 MiB, taken as it is touched */
  bool pin;           /* bind thread i to core i, when there are as many cores */
} sw_launch_options;

/* Runs `main` once per device, leaves the communicator on its behalf, and returns when all have ended: SW_OK, or the
 * first failure of the run. `o` may be NULL. */
SW_API SW_CHECKED sw_rc sw_comm_launch(sw_comm *c, sw_device_main main, void *user, const sw_launch_options *o,
                                       sw_diag *d);

#endif
