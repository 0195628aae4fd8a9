/* Futexes: a word that threads wait to see changed; first by looking, then asleep in the kernel.
 *
 *   waiter: sleepers++; if (word == old) sleep while word == old;      setter: word = new; if (sleepers) wake all
 *
 * Both sides go through sequentially consistent accesses, so that either the waiter sees the new word or the setter
 * sees the sleeper.
 */
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "comm/threads/futex.h"
#include "comm/threads/scheduler.h"

void sw_spin_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* The kernel can make every running thread pass a barrier: then only who is about to sleep pays for one. */
atomic_bool sw_fence_by_kernel;
static _Alignas(64) atomic_uint barrier; /* an access that orders what is before and after it, where it does not */

static void ask_kernel(void) {
  atomic_store(&sw_fence_by_kernel, syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0);
}

void sw_fence_init(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, ask_kernel);
}

void sw_fence_full(void) { atomic_fetch_add(&barrier, 1); }

void sw_fence_heavy(void) {
  sw_fence_full();
  if (atomic_load_explicit(&sw_fence_by_kernel, memory_order_relaxed))
    (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

bool sw_futex_spin(sw_futex *g, unsigned old, int looks) {
  for (int i = 0; i < looks; i++) {
    if (atomic_load_explicit(&g->word, memory_order_acquire) != old) return true;
    sw_spin_pause();
  }
  return atomic_load_explicit(&g->word, memory_order_acquire) != old;
}

bool sw_futex_sleep(sw_futex *g, unsigned old, sw_futex_ready ready, const void *of, double seconds) {
  return sw_scheduler_runs_caller() ? sw_scheduler_wait(g, old, ready, of, seconds)
                                    : sw_futex_sleep_thread(g, old, seconds);
}

bool sw_futex_sleep_thread(sw_futex *g, unsigned old, double seconds) {
  struct timespec limit = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  atomic_fetch_add(&g->sleepers, 1);
  if (atomic_load(&g->word) == old) (void)syscall(SYS_futex, &g->word, FUTEX_WAIT_PRIVATE, old, &limit, NULL, 0);
  atomic_fetch_sub(&g->sleepers, 1);
  return atomic_load(&g->word) != old;
}

void sw_futex_wake(sw_futex *g) {
  if (atomic_load(&g->sleepers)) (void)syscall(SYS_futex, &g->word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void sw_futex_set(sw_futex *g, unsigned word) {
  atomic_store(&g->word, word);
  sw_futex_wake(g);
  sw_scheduler_notify();
}
