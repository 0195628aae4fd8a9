/* A word that devices wait to see changed. */
#ifndef SRC_COMM_GATE_H_
#define SRC_COMM_GATE_H_

#include <stdatomic.h>
#include <stdbool.h>

typedef struct sw_gate {
  _Alignas(64) atomic_uint word;
  atomic_uint sleepers; /* threads asleep on it */
} sw_gate;

/* Looks at the word some times; true when it is not `old`. */
bool sw_gate_spin(sw_gate *g, unsigned old, int looks);
/* What else a device may wait for; NULL: nothing. */
typedef bool (*sw_gate_ready)(const void *of);
/* True when the word changed, or of a device that shares its thread, when `ready(of)`; false after `seconds`, or when
 * woken for another reason. */
bool sw_gate_sleep(sw_gate *g, unsigned old, sw_gate_ready ready, const void *of, double seconds);
/* Sleeps although the caller may be a device that shares its thread. */
bool sw_gate_sleep_thread(sw_gate *g, unsigned old, double seconds);
void sw_gate_set(sw_gate *g, unsigned word);
void sw_gate_wake(sw_gate *g);
void sw_gate_relax(void); /* a short pause between two looks */

/* Between writing what others may sleep for, and looking for sleepers: costs nothing. The sleeper, between saying that
 * it sleeps and looking once more, does the heavy half, a system call. Then the one has seen the other. */
extern atomic_bool sw_gate_kernel_helps; /* it puts a barrier into every running thread for the heavy half */
void sw_gate_fence(void);
static inline void sw_gate_light(void) {
  atomic_signal_fence(memory_order_seq_cst);
  if (!atomic_load_explicit(&sw_gate_kernel_helps, memory_order_relaxed)) sw_gate_fence();
}
void sw_gate_heavy(void);
void sw_gate_init(void); /* before both; any number of times */

#endif
