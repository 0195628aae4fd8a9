/* The work of one call in shared memory, cut into one share per member; shares may run at once and in any order, on
 * any thread. */
#ifndef SRC_COMM_SHARE_H_
#define SRC_COMM_SHARE_H_

#include <stdatomic.h>

#include "comm/comm_moves.h"

typedef struct sw_shared_call {
  sw_view view;
  const void *const *src; /* data of every member's input (of its staged copy), by member */
  void *const *dst;       /* data of every member's result; NULL where it brings none */
  atomic_llong *model;    /* 1 + a member whose whole result is there, when all get the same; 0: none yet */
  int64_t base;           /* src[0] and dst[0] are those of this member (0, but for an op without communication) */
} sw_shared_call;

/* Share `i` of view.n. *bytes = those that cross between devices and end at member `i`. */
SW_CHECKED sw_rc sw_portion_run(const sw_shared_call *job, int64_t i, int64_t *bytes, sw_diag *d);
/* All of member `i`'s result, and nothing of others': no other share may be run. Reads src of all, writes dst[i]. */
SW_CHECKED sw_rc sw_portion_run_own(const sw_shared_call *job, int64_t i, int64_t *bytes, sw_diag *d);
/* Share `i` of an op without communication: every member of the view is the device itself. */
SW_CHECKED sw_rc sw_portion_run_local(const sw_view *view, int64_t i, sw_diag *d);
/* Part i of n of `total` elements, [*lo, *hi): how all_reduce and reduce are cut into shares. */
void sw_portion_range(int64_t total, int64_t i, int64_t n, int64_t *lo, int64_t *hi);
/* What comes before the boxes of member i's result are copied into it: the rest of an update_halo, the fill or poison
 * of an exchange. */
void sw_portion_prepare(const sw_view *view, int64_t i, const void *src, void *dst);
/* Bytes that all shares together read and write, roughly: decides who works. */
int64_t sw_portions_cost(const sw_comm_call *call, int64_t n);
/* May `out` of member `index` be where `in` is, without a copy of `in` made before? */
bool sw_portion_in_place(const sw_comm_call *call, int64_t index);

#endif
