/* Waiting of a device that shares its thread with others. */
#ifndef SRC_COMM_SCHEDULER_H_
#define SRC_COMM_SCHEDULER_H_

#include <stdint.h>

#include "comm/threads/futex.h"

/* Does the caller run as such a device? */
bool sw_scheduler_runs_caller(void);
/* And the device on the same thread? */
bool sw_scheduler_runs_here(int64_t device);
/* And has the caller the thread for itself? */
bool sw_scheduler_runs_alone(void);
/* Lets others run until the futex's word is not `old` or `ready(of)` (NULL: never), or `seconds` have passed, and then
 * is false. */
bool sw_scheduler_wait(sw_futex *g, unsigned old, sw_futex_ready ready, const void *of, double seconds);
/* After a change that devices may wait for, and sw_fence_light: wakes threads that have no device left to run. */
extern sw_futex sw_scheduler_futex;
void sw_scheduler_wake_threads(void);
static inline void sw_scheduler_notify(void) {
  if (atomic_load(&sw_scheduler_futex.sleepers)) sw_scheduler_wake_threads();
}

#endif
