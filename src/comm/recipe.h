/* How a small call's result is made from its inputs, found out once: a few runs to copy or to reduce. */
#ifndef SRC_COMM_RECIPE_H_
#define SRC_COMM_RECIPE_H_

#include <string.h>

#include "comm/moves.h"

enum { SW_RECIPE_STEPS = 16 };

/* In bytes; a reduction (`from` SW_MOVE_ALL) in elements. */
typedef struct sw_step {
  int32_t from, src, dst, len;
} sw_step;

typedef struct sw_recipe {
  enum { SW_RECIPE_UNKNOWN, SW_RECIPE_KNOWN, SW_RECIPE_TOO_LONG } state;
  bool defined; /* the result */
  int n;
  int64_t bytes; /* received from others */
  int64_t valid[SW_MAX_RANK];
  sw_step step[SW_RECIPE_STEPS];
} sw_recipe;

/* Of member `i`'s result, which is made of `bytes` from others. All inputs are like member 0's. */
void sw_recipe_make(const sw_view *v, int64_t i, int64_t bytes, sw_recipe *r);
/* A call with n inputs that are like those of the recipe's; those that it does not read may be anything. */
void sw_recipe_run(const sw_recipe *r, const sw_comm_call *call, int64_t n, const void *const *src);

/* Few bytes without a call: the first and the last of them, which may overlap. */
static inline void sw_copy_run(void *to_at, const void *from_at, size_t n) {
  char *to = to_at;
  const char *from = from_at;
  if (n > 16 || n < 4) {
    memcpy(to, from, n);
  } else if (n >= 8) {
    uint64_t first, last;
    memcpy(&first, from, 8);
    memcpy(&last, from + n - 8, 8);
    memcpy(to, &first, 8);
    memcpy(to + n - 8, &last, 8);
  } else {
    uint32_t first, last;
    memcpy(&first, from, 4);
    memcpy(&last, from + n - 4, 4);
    memcpy(to, &first, 4);
    memcpy(to + n - 4, &last, 4);
  }
}

#endif
