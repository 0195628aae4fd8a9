/* Waiting of a device that shares its thread with others. */
#ifndef SRC_COMM_TURNS_H_
#define SRC_COMM_TURNS_H_

#include <stdint.h>

#include "comm/threads/gate.h"

/* Does the caller run as such a device? */
bool sw_turns_here(void);
/* And the device on the same thread? */
bool sw_turns_run(int64_t device);
/* And has the caller the thread for itself? */
bool sw_turns_alone(void);
/* Lets others run until the gate's word is not `old` or `ready(of)` (NULL: never), or `seconds` have passed, and then
 * is false. */
bool sw_turns_wait(sw_gate *g, unsigned old, sw_gate_ready ready, const void *of, double seconds);
/* After a change that devices may wait for, and sw_gate_light: wakes threads that have no device left to run. */
extern sw_gate sw_turns_gate;
void sw_turns_ring(void);
static inline void sw_turns_bell(void) {
  if (atomic_load(&sw_turns_gate.sleepers)) sw_turns_ring();
}

#endif
