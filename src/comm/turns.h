/* Waiting of a device that shares its thread with others. */
#ifndef SRC_COMM_TURNS_H_
#define SRC_COMM_TURNS_H_

#include "comm/gate.h"

/* Does the caller run as such a device? */
bool sw_turns_here(void);
/* And has it the thread for itself? */
bool sw_turns_alone(void);
/* Lets others run until the gate's word is not `old`, or `seconds` have passed. True when the word changed. */
bool sw_turns_wait(sw_gate *g, unsigned old, double seconds);
/* After a gate's word was changed: wakes threads that have no device left to run. */
void sw_turns_bell(void);

#endif
