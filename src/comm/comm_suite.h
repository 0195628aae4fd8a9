/* The conformance suite of communicators: random programs of collectives whose results are known from the oracle. The
 * same program is made from the same seed on every device and in every process.
 *
 *   sw_comm_suite_build(&mesh, seed, 100, &arena, &suite, d);
 *   // on the thread (or in the process) of each device:
 *   sw_comm_suite_run(suite, comm, device, NULL, d);      SW_E_MISMATCH: the message tells the call and the element
 */
#ifndef COMM_COMM_SUITE_H_
#define COMM_COMM_SUITE_H_

#include "shardwright/comm.h"

typedef struct sw_comm_suite sw_comm_suite;

/* `n_calls` collectives over random axes, dtypes, shapes (also empty and of rank 0), uneven blocks, roots, offsets,
 * windows, halos; in place or not, started or run, with combiners of the caller's, as messages. All in the arena. */
SW_API SW_CHECKED sw_rc sw_comm_suite_build(const sw_mesh *mesh, uint64_t seed, int n_calls, sw_arena *arena,
                                            sw_comm_suite **out, sw_diag *d);
/* What one device does wrong at one call of the program. */
#define SW_COMM_FAULTS(X)                             \
  X(NONE, "none")                                     \
  X(SKIP, "skips the call")                           \
  X(REPEAT, "makes the call twice")                   \
  X(OTHER, "calls another collective instead")        \
  X(ROOT, "names another root")                       \
  X(RECEIVE, "waits for a message that nobody sends") \
  X(LEAVE, "ends its program")                        \
  X(FAIL, "fails")                                    \
  X(MEMORY, "gets no memory")                         \
  X(DELAY, "comes late")

typedef enum sw_comm_fault_kind {
#define SW_X(id, text) SW_FAULT_##id,
  SW_COMM_FAULTS(SW_X) SW_FAULT_COUNT
#undef SW_X
} sw_comm_fault_kind;

typedef struct sw_comm_fault {
  sw_comm_fault_kind kind;
  int64_t device;
  int call;
  uint64_t amount; /* MEMORY: how many allocations come before the one that fails; DELAY: nanoseconds; modulo some */
} sw_comm_fault;

SW_API const char *sw_comm_fault_text(sw_comm_fault_kind kind);
/* What must become of the program: an error; no error; either, as where an allocation fails that nobody makes, or a
 * device that nobody needs any more leaves, perhaps with a call started. */
typedef enum sw_comm_fault_end { SW_FAULT_ENDS_ANYHOW, SW_FAULT_ENDS_BADLY, SW_FAULT_ENDS_WELL } sw_comm_fault_end;
SW_API sw_comm_fault_end sw_comm_suite_fault_end(const sw_comm_suite *suite, const sw_comm_fault *f);
/* This device's part: run every call and compare its result. Does not leave the communicator. With a fault (else NULL)
 * it is promised that every device returns. */
SW_API SW_CHECKED sw_rc sw_comm_suite_run(const sw_comm_suite *suite, sw_comm *comm, int64_t device,
                                          const sw_comm_fault *f, sw_diag *d);

#endif
