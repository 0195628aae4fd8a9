/* Lists of numbers: in order, in a set, and as a position in a box. */
#ifndef BASE_LISTS_H_
#define BASE_LISTS_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* For qsort and bsearch: ascending. */
static inline int sw_compare_i32(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}
static inline int sw_compare_i64(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}
static inline int sw_compare_u64(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}
static inline int sw_compare_f64(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* In ascending order, each once; how many are left. */
static inline int32_t sw_sort_unique(int64_t *at, int32_t n) {
  int32_t kept = 0;
  qsort(at, (size_t)n, sizeof *at, sw_compare_i64);
  for (int32_t k = 0; k < n; k++)
    if (kept == 0 || at[k] != at[kept - 1]) at[kept++] = at[k];
  return kept;
}

static inline bool sw_list_has(const int64_t *at, int n, int64_t v) {
  for (int i = 0; i < n; i++) {
    if (at[i] == v) return true;
  }
  return false;
}

static inline bool sw_list_has_i32(const int32_t *at, int32_t n, int32_t v) {
  for (int32_t i = 0; i < n; i++) {
    if (at[i] == v) return true;
  }
  return false;
}

/* Is there no position below `limit`? */
static inline bool sw_has_no_position(int rank, const int64_t *limit) {
  for (int i = 0; i < rank; i++) {
    if (limit[i] <= 0) return true;
  }
  return false;
}

/* The next of the positions below `limit`, the last dimension fastest; false after the last. */
static inline bool sw_next_position(int rank, const int64_t *limit, int64_t *at) {
  for (int i = rank - 1; i >= 0; i--) {
    if (++at[i] < limit[i]) return true;
    at[i] = 0;
  }
  return false;
}

#endif
