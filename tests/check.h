/* What every unit test includes: cmocka, which wants these headers first, and a few helpers. */
#ifndef TESTS_CHECK_H_
#define TESTS_CHECK_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "shardwright/clock.h"
#include "shardwright/status.h"

/* What the calls of a test tell; of each thread its own. A test that reads it empties it first. */
__attribute__((unused)) static _Thread_local sw_diag diag;

/* Fails with the diagnostic's own text. */
#define assert_ok(expr)                                  \
  do {                                                   \
    sw_rc check_rc_ = (expr);                            \
    if (check_rc_) {                                     \
      sw_diag_print(&diag, stderr, true);                \
      fail_msg("%s returned %d", #expr, (int)check_rc_); \
    }                                                    \
  } while (0)

/* Seed of a random test: SW_TEST_SEED, or the given default; printed so that a failure can be repeated. */
static inline uint64_t check_seed(uint64_t by_default) {
  const char *s = getenv("SW_TEST_SEED");
  uint64_t seed = s ? strtoull(s, NULL, 0) : by_default;
  print_message("SW_TEST_SEED=%llu\n", (unsigned long long)seed);
  return seed;
}

/* The share of its random cases that a test tries in this build: N or 1/N (tests/stages.txt); by hand all. */
static inline double check_share(void) {
  const char *s = getenv("SW_TEST_SHARE");
  char *end;
  if (!s) return 1;
  double share = strtod(s, &end);
  return *end == '/' ? share / strtod(end + 1, NULL) : share;
}

/* How many random cases: `n` scaled by SW_TEST_SCALE (a number; 1 by default) and by that share. */
static inline double check_factor(void) {
  const char *s = getenv("SW_TEST_SCALE");
  return (s ? atof(s) : 1.0) * check_share();
}
static inline int check_scale(int n) {
  double k = check_factor() * n;
  return k < 1 ? 1 : (int)k;
}

/* Whether the k-th of several subjects is tried: all of them, or that part of them that check_factor() < 1 says, evenly
 * spread, another part for another seed. */
static inline bool check_turn(uint64_t seed, int k) {
  double f = check_factor(), at = (double)(seed % 64) / 64 + k * f;
  return f >= 1 || (int64_t)(at + f) != (int64_t)at;
}

/* Seconds of the processor that this program has used. */
static inline double check_cpu_s(void) { return (double)clock() / CLOCKS_PER_SEC; }
/* Of one job and of one four times as large: a quadratic pass would make it sixteen times as long. */
static inline void check_grows_linearly(double small_s, double large_s) {
  if (large_s > 0.2 + 10 * small_s) fail_msg("%.3f s for a job, %.3f s for one four times as large", small_s, large_s);
}

#endif
