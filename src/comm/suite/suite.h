/* The conformance suite's programs: suite.c draws them, suite_run.c runs them. */
#ifndef SRC_COMM_SUITE_H_
#define SRC_COMM_SUITE_H_

#include "comm/comm_suite.h"
#include "base/lists.h"

typedef struct sw_suite_case {
  sw_collective coll;
  sw_tiling src, dst;
  sw_buffer *in, *want; /* per device */
  bool in_place;
  bool by_messages;    /* a shift that is made of a send and a recv */
  bool by_user;        /* the reduction is a combiner of the caller's */
  uint64_t start_seed; /* which devices start the call and make the next one before they wait for it */
} sw_suite_case;

struct sw_comm_suite {
  sw_mesh mesh;
  int64_t devices;
  int n;
  sw_suite_case *cases;
};

/* A poisoned buffer in the arena. */
SW_CHECKED sw_rc sw_suite_buffer(sw_arena *arena, sw_dtype t, int rank, const int64_t *dims, sw_buffer *b, sw_diag *d);

#endif
