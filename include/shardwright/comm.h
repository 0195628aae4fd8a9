/* The communicator: collectives over the devices of a mesh, on threads of this process or on MPI. Knows nothing of
 * graphs.
 *
 *   sw_comm *comm;
 *   sw_comm_create_threads(&mesh, &options, &comm, d);
 *   // on the thread of device i:
 *   sw_comm_run(comm, i, &(sw_comm_call){.coll = &all_reduce, .in = &x, .out = &y, .where = 17}, d);
 *
 * Members of a group must make the same calls in the same order; a member that arrives with another op, axes, dtype,
 * shape, root or sequence number makes every member return SW_E_MISMATCH-free SW_E_RESOURCE with a message that names
 * both devices, both ops and both program positions. A member that never comes makes the others return within the
 * timeout. The order of every reduction is that of the group, so results do not depend on timing.
 */
#ifndef SHARDWRIGHT_COMM_H_
#define SHARDWRIGHT_COMM_H_

#include "shardwright/clock.h"
#include "shardwright/collective.h"

typedef struct sw_comm sw_comm;

typedef struct sw_comm_options {
  double timeout_s;     /* <= 0: 30 s */
  uint64_t jitter_seed; /* tests: random delays before each operation; 0 = none */
  sw_cancel *cancel;    /* NULL allowed */
} sw_comm_options;

typedef struct sw_comm_call {
  const sw_collective *coll;
  const sw_buffer *in; /* NULL for recv and barrier */
  sw_buffer *out;      /* dims set by the caller, valid filled by the call; may share data with `in` where shapes agree;
                          NULL for send and barrier */
  int64_t where;       /* position in the program, for messages */
} sw_comm_call;

SW_API SW_CHECKED sw_rc sw_comm_create_threads(const sw_mesh *mesh, const sw_comm_options *o, sw_comm **out,
                                               sw_diag *d);
SW_API void sw_comm_destroy(sw_comm *c); /* NULL allowed; no call may be in flight */
/* Blocking; called by one thread per device. */
SW_API SW_CHECKED sw_rc sw_comm_run(sw_comm *c, int64_t device, const sw_comm_call *call, sw_diag *d);
/* The device will make no more calls: with SW_OK it is done, else it failed and everybody waiting for it returns an
 * error that carries `why`. */
SW_API void sw_comm_leave(sw_comm *c, int64_t device, sw_rc rc, const char *why);
/* Bytes this device has received from others so far, and calls made, by collective; for reports. */
typedef struct sw_comm_stats {
  int64_t calls[SW_COLL_COUNT];
  int64_t bytes_received[SW_COLL_COUNT];
} sw_comm_stats;
SW_API void sw_comm_get_stats(const sw_comm *c, int64_t device, sw_comm_stats *out);

#endif
