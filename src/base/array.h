/* Growable arrays of any type: SW_ARRAY(int64_t) xs = {0}; ... sw_array_push(&xs, 3, d) ... sw_array_free(&xs).
 * Elements are at xs.at[0 .. xs.n). Heap-owned. */
#ifndef BASE_ARRAY_H_
#define BASE_ARRAY_H_

#include "shardwright/arena.h"

#define SW_ARRAY(T) \
  struct {          \
    T *at;          \
    size_t n, cap;  \
  }

/* Room for `want` elements in all; returns sw_rc. */
#define sw_array_reserve(a, want, d) \
  sw_array_reserve_((void **)&(a)->at, &(a)->cap, (a)->n, (want), sizeof *(a)->at, (d))
/* Append; returns sw_rc. `item` is evaluated once. */
#define sw_array_push(a, item, d) \
  (sw_array_reserve(a, (a)->n + 1, d) ? SW_E_RESOURCE : ((a)->at[(a)->n++] = (item), SW_OK))
#define sw_array_free(a) (sw_mem_free((a)->at), (a)->at = NULL, (a)->n = (a)->cap = 0)

SW_API SW_CHECKED sw_rc sw_array_reserve_(void **at, size_t *cap, size_t n, size_t want, size_t size, sw_diag *d);

#endif
