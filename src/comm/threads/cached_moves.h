/* How a small call's result is made from its inputs, found out once: a few runs to copy or to reduce. */
#ifndef COMM_THREADS_CACHED_MOVES_H_
#define COMM_THREADS_CACHED_MOVES_H_

#include <string.h>

#include "comm/comm_moves.h"

enum { SW_CACHED_MOVES_TRANSFERS = 16 };

/* In bytes; a reduction (`from` SW_FROM_ALL) in elements. */
typedef struct sw_short_transfer {
  int32_t from, src, dst, len;
} sw_short_transfer;

typedef struct sw_cached_moves {
  enum { SW_CACHED_MOVES_UNKNOWN, SW_CACHED_MOVES_KNOWN, SW_CACHED_MOVES_TOO_LONG } state;
  bool defined; /* the result */
  int n;
  int64_t bytes; /* received from others */
  int64_t valid[SW_MAX_RANK];
  sw_short_transfer step[SW_CACHED_MOVES_TRANSFERS];
} sw_cached_moves;

/* Of member `i`'s result, which is made of `bytes` from others. All inputs are like member 0's. */
void sw_cached_moves_make(const sw_view *v, int64_t i, int64_t bytes, sw_cached_moves *r);
/* A call with n inputs that are like those of the schedule's; those that it does not read may be anything. */
void sw_cached_moves_run(const sw_cached_moves *r, const sw_comm_call *call, int64_t n, const void *const *src);

static inline void sw_cached_moves_give_valid(const sw_cached_moves *r, sw_buffer *out) {
  for (int i = 0; i < out->rank; i++) out->valid[i] = r->valid[i];
}

/* Few bytes without a call: the first and the last of them, which may overlap. */
#define SW_COPY_ENDS(n, part)                 \
  {                                           \
    char first_[part], last_[part];           \
    memcpy(first_, from, part);               \
    memcpy(last_, from + (n) - (part), part); \
    memcpy(to, first_, part);                 \
    memcpy(to + (n) - (part), last_, part);   \
  }

static inline void sw_copy_run(void *to_at, const void *from_at, size_t n) {
  char *to = to_at;
  const char *from = from_at;
  if (n > 32 || n < 4)
    memcpy(to, from, n);
  else if (n >= 16)
    SW_COPY_ENDS(n, 16)
  else if (n >= 8)
    SW_COPY_ENDS(n, 8)
  else
    SW_COPY_ENDS(n, 4)
}

#endif
