/* How a small call's result is made from its inputs, found out once: a few runs to copy or to reduce. */
#ifndef SRC_COMM_SCHEDULE_H_
#define SRC_COMM_SCHEDULE_H_

#include <string.h>

#include "comm/comm_moves.h"

enum { SW_SCHEDULE_TRANSFERS = 16 };

/* In bytes; a reduction (`from` SW_FROM_ALL) in elements. */
typedef struct sw_short_transfer {
  int32_t from, src, dst, len;
} sw_short_transfer;

typedef struct sw_schedule {
  enum { SW_SCHEDULE_UNKNOWN, SW_SCHEDULE_KNOWN, SW_SCHEDULE_TOO_LONG } state;
  bool defined; /* the result */
  int n;
  int64_t bytes; /* received from others */
  int64_t valid[SW_MAX_RANK];
  sw_short_transfer step[SW_SCHEDULE_TRANSFERS];
} sw_schedule;

/* Of member `i`'s result, which is made of `bytes` from others. All inputs are like member 0's. */
void sw_schedule_make(const sw_view *v, int64_t i, int64_t bytes, sw_schedule *r);
/* A call with n inputs that are like those of the schedule's; those that it does not read may be anything. */
void sw_schedule_run(const sw_schedule *r, const sw_comm_call *call, int64_t n, const void *const *src);

static inline void sw_schedule_give_valid(const sw_schedule *r, sw_buffer *out) {
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
