/* The conformance suite of communicators: random programs of collectives whose results are known from the oracle. The
 * same program is made from the same seed on every device and in every process.
 *
 *   sw_comm_suite_build(&mesh, seed, 100, &arena, &suite, d);
 *   // on the thread (or in the process) of each device:
 *   sw_comm_suite_run(suite, comm, device, d);      SW_E_MISMATCH: the message tells the call and the element
 */
#ifndef SHARDWRIGHT_COMM_SUITE_H_
#define SHARDWRIGHT_COMM_SUITE_H_

#include "shardwright/comm.h"

typedef struct sw_comm_suite sw_comm_suite;

/* `n_calls` collectives over random axes, dtypes, shapes (also empty and of rank 0), uneven blocks, roots, offsets,
 * windows, halos; in place or not. Everything lives in the arena. */
SW_API SW_CHECKED sw_rc sw_comm_suite_build(const sw_mesh *mesh, uint64_t seed, int n_calls, sw_arena *arena,
                                            sw_comm_suite **out, sw_diag *d);
/* This device's part: run every call and compare its result. Does not leave the communicator. */
SW_API SW_CHECKED sw_rc sw_comm_suite_run(const sw_comm_suite *suite, sw_comm *comm, int64_t device, sw_diag *d);

#endif
