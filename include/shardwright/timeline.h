/* A timeline: when each kernel and each collective of one device runs.
 *
 * A device has streams, each of which does one thing at a time: the host, which launches kernels, the work, a stream of
 * communication for each level of the network, and one each way for the link to the host's memory. Entries stand in the
 * order in which the program needs them. A weight that is gathered (g) before it is used, and a gradient (r) that is
 * reduced until the update (u) wants it:
 *
 *   list       k1 g2 k2 k3 r3 u
 *   one by one | k1 | g2 | k2 | k3 | r3 | u |
 *   work       | k1 | k2 | k3 |    | u |          g2 beside k1, r3 when k3 has ended
 *   level 0    | g2 |         | r3 |
 *
 * Kernels, which take the stream of work, run in the order of the list. One starts when the one before has ended, so
 * has what it waits for, the host has launched it, and all streams that it takes are free; where these alone are
 * missing, nothing else starts on them. The host launches kernels in the same order, as fast as it can; it waits only
 * for those that take its stream, too.
 *
 * Collectives, and copies to the host and back, which are meant where it says collectives, take the stream of one link.
 * One starts when that is free, what it waits for has ended, and the kernel `from` runs or is the next; of several the
 * one that is needed first, then the first in the list. The kernel `need` waits for it. What kernels can do at a time
 * they do before collectives start.
 *
 * A kernel beside which a collective runs on a level's stream that it does not take is slower by a factor.
 */
#ifndef SHARDWRIGHT_TIMELINE_H_
#define SHARDWRIGHT_TIMELINE_H_

#include "shardwright/arena.h"

/* LEVEL + l: of link l, so of levels first. */
enum { SW_STREAM_HOST, SW_STREAM_WORK, SW_STREAM_LEVEL, SW_STREAM_TO_HOST = 6, SW_STREAM_FROM_HOST, SW_MAX_STREAMS };

typedef struct sw_timeline_entry {
  uint8_t streams; /* bits of those that it takes; a collective that of one link */
  double seconds;  /* by itself, without its launch */
  double launch_s; /* of a kernel */
  int32_t step;    /* at which the memory is that it needs; does not fall along the list */
  int32_t n_waits; /* entries that end before it starts: kernels before it, and collectives needed by it or earlier */
  int32_t *waits;
  /* Of a collective. */
  int32_t need; /* the kernel that does not start before it has ended; n: none waits */
  int32_t from; /* the entry from which on it may start; <= need */
  /* Of one that is issued (sw_timeline_issue). */
  bool early;          /* as late as hides it; else as soon as it can */
  double rest_s;       /* of one that is early: what comes between it and `need` */
  int64_t early_bytes; /* likewise: what is held more from `from` to its own step, which holds it anyway */
  int64_t late_bytes;  /* what is held more from behind the step `held` until it has ended: what it works on */
  int32_t held;        /* becomes the step from which the one, or to which the other is held */
  /* Of a kernel: the collective behind it that waits for it, where it waits for nothing but such, and kernels that feed
   * others, which it has among its waits; or one with late_bytes before it, where it waits for nothing but that, such,
   * and kernels before that; else -1. */
  int32_t feeds, follows;
} sw_timeline_entry;

typedef struct sw_timeline_slot {
  double start_s, end_s;
  double exposed_s; /* of a collective: while no kernel runs, and nothing that is needed earlier is being exchanged */
} sw_timeline_slot;

/* Where the time goes: total_s is the sum of the others. */
typedef struct sw_timeline_sums {
  double total_s;
  double work_s;    /* kernels, each by itself */
  double slowed_s;  /* what they take longer beside collectives */
  double exposed_s; /* communication while no kernel runs */
  double waited_s;  /* for launches, while nothing runs */
} sw_timeline_sums;

/* When entries run. slots: by entry, filled in. slowed: the factor, >= 1. SW_E_BUG where something waits for what comes
 * behind it. Some n log n. */
SW_API SW_CHECKED sw_rc sw_timeline_lay(const sw_timeline_entry *entries, int32_t n, double slowed,
                                        sw_timeline_slot *slots, sw_timeline_sums *out, sw_diag *d);

/* When collectives are issued: sets `from`, and `need` of those with late_bytes. Times are as if kernels ran one after
 * the other. What is not `early` may start as soon as what it waits for has run; what is, twice as long before `need`
 * as it takes to be there then, were streams to do nothing else. What has late_bytes has as long as it takes behind
 * what is before it on its stream, twice, before the kernel that is then the next waits for it: `need` at the latest.
 * Both are given less time where `room`, by step, does not hold their bytes. room: what is left, less what is taken; a
 * step may have less than nothing. A kernel that feeds a collective goes where that is issued, and one that follows it
 * to before its `need`: entries get another order, which is order[i]: where entry i was. */
SW_API SW_CHECKED sw_rc sw_timeline_issue(sw_timeline_entry *entries, int32_t n, int64_t *room, int32_t *order,
                                          sw_diag *d);

#endif
