/* Time, cancellation and pseudo-random numbers. */
#ifndef SHARDWRIGHT_CLOCK_H_
#define SHARDWRIGHT_CLOCK_H_

#include <stdbool.h>
#include <stdint.h>

#include "shardwright/status.h"

SW_API double sw_now_s(void);    /* monotonic seconds */
SW_API double sw_thread_s(void); /* processor seconds of the calling thread: others on the machine do not count */

/* Set from a signal handler or another thread; long work polls it and returns the best it has. Zero-initialised: not
 * set. To be touched by these two alone. */
typedef struct sw_cancel {
  int flag;
} sw_cancel;
static inline void sw_cancel_set(sw_cancel *c) { __atomic_store_n(&c->flag, 1, __ATOMIC_RELAXED); }
static inline bool sw_cancelled(const sw_cancel *c) { return c && __atomic_load_n(&c->flag, __ATOMIC_RELAXED); }

/* xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64: same seed, same numbers, everywhere. */
typedef struct sw_rng {
  uint64_t s[4];
} sw_rng;
SW_API void sw_rng_seed(sw_rng *r, uint64_t seed);
SW_API uint64_t sw_rng_next(sw_rng *r);
SW_API int64_t sw_rng_below(sw_rng *r, int64_t n); /* uniform in [0, n), n > 0 */
SW_API double sw_rng_unit(sw_rng *r);              /* uniform in [0, 1) */

#endif
