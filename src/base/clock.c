#include "shardwright/clock.h"

#include <time.h>

#include "base/checked.h"
#include "base/hash.h"

static double read_clock(clockid_t clock) {
  struct timespec ts;
  (void)clock_gettime(clock, &ts);
  return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

double sw_now_s(void) { return read_clock(CLOCK_MONOTONIC); }
double sw_thread_s(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

void sw_rng_seed(sw_rng *r, uint64_t seed) {
  for (uint64_t i = 0; i < 4; i++) r->s[i] = sw_hash_u64(i, seed);
}

static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

uint64_t sw_rng_next(sw_rng *r) {
  uint64_t *s = r->s, out = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotl(s[3], 45);
  return out;
}

int64_t sw_rng_below(sw_rng *r, int64_t n) { /* Lemire's multiply-shift; bias < n / 2^64 */
  return (int64_t)(((sw_u128)sw_rng_next(r) * (uint64_t)n) >> 64);
}

double sw_rng_unit(sw_rng *r) { return (double)(sw_rng_next(r) >> 11) * 0x1p-53; }
