/* A word that devices wait to see changed. */
#ifndef SRC_COMM_FUTEX_H_
#define SRC_COMM_FUTEX_H_

#include <stdatomic.h>
#include <stdbool.h>

typedef struct sw_futex {
  _Alignas(64) atomic_uint word;
  atomic_uint sleepers; /* threads asleep on it */
} sw_futex;

/* Looks at the word some times; true when it is not `old`. */
bool sw_futex_spin(sw_futex *g, unsigned old, int looks);
/* What else a device may wait for; NULL: nothing. */
typedef bool (*sw_futex_ready)(const void *of);
/* True when the word changed, or of a device that shares its thread, when `ready(of)`; false after `seconds`, or when
 * woken for another reason. */
bool sw_futex_sleep(sw_futex *g, unsigned old, sw_futex_ready ready, const void *of, double seconds);
/* Sleeps although the caller may be a device that shares its thread. */
bool sw_futex_sleep_thread(sw_futex *g, unsigned old, double seconds);
void sw_futex_set(sw_futex *g, unsigned word);
void sw_futex_wake(sw_futex *g);
void sw_spin_pause(void); /* a short pause between two looks */

/* Between writing what others may sleep for, and looking for sleepers: costs nothing. The sleeper, between saying that
 * it sleeps and looking once more, does the heavy half, a system call. Then the one has seen the other. */
extern atomic_bool sw_fence_by_kernel; /* it puts a barrier into every running thread for the heavy half */
void sw_fence_full(void);
static inline void sw_fence_light(void) {
  atomic_signal_fence(memory_order_seq_cst);
  if (!atomic_load_explicit(&sw_fence_by_kernel, memory_order_relaxed)) sw_fence_full();
}
void sw_fence_heavy(void);
void sw_fence_init(void); /* before both; any number of times */

#endif
