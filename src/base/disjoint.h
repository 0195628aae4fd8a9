/* Disjoint sets of numbers 0 .. n - 1, each with a member that stands for all: parent[x] == x of that one. */
#ifndef BASE_DISJOINT_H_
#define BASE_DISJOINT_H_

#include <stdint.h>

/* The member that stands for the set of x; halves the way to it. */
static inline int32_t sw_disjoint_find(int32_t *parent, int32_t x) {
  while (parent[x] != x) x = parent[x] = parent[parent[x]];
  return x;
}

/* Their sets become one; that of a stands for both. */
static inline void sw_disjoint_join(int32_t *parent, int32_t a, int32_t b) {
  parent[sw_disjoint_find(parent, b)] = sw_disjoint_find(parent, a);
}

#endif
