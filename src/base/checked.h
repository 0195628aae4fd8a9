/* Arithmetic that cannot wrap. */
#ifndef BASE_CHECKED_H_
#define BASE_CHECKED_H_

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 sw_i128;
__extension__ typedef unsigned __int128 sw_u128;

/* True and *out set when the result fits; false otherwise. */
static inline bool sw_add_i64(int64_t a, int64_t b, int64_t *out) { return !__builtin_add_overflow(a, b, out); }
static inline bool sw_sub_i64(int64_t a, int64_t b, int64_t *out) { return !__builtin_sub_overflow(a, b, out); }
static inline bool sw_mul_i64(int64_t a, int64_t b, int64_t *out) { return !__builtin_mul_overflow(a, b, out); }

/* ceil(a / b) for a >= 0, b > 0. */
static inline int64_t sw_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
static inline int64_t sw_floor_div(int64_t a, int64_t b) { /* b > 0, any a */
  int64_t q = a / b;
  return q - (a % b < 0);
}
static inline int64_t sw_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t sw_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int32_t sw_min_i32(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int32_t sw_max_i32(int32_t a, int32_t b) { return a > b ? a : b; }
static inline int64_t sw_gcd_i64(int64_t a, int64_t b) { return b ? sw_gcd_i64(b, a % b) : a; } /* neither negative */
/* x, or the end of [lo, hi] that is nearer. */
static inline int64_t sw_clamp_i64(int64_t x, int64_t lo, int64_t hi) { return sw_min_i64(sw_max_i64(x, lo), hi); }

#endif
