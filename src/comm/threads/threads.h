/* The thread engine's data.
 *
 * A group (devices that call collectives together) has a ring of rendezvous; the k-th call of the group uses rendezvous
 * k modulo its length. Its `word` holds the call number and a phase, and everybody waits on it. An older number is as
 * good as OPEN:
 *
 *   OPEN    members arrive, each fills its slot
 *   SOLO    one member works alone: it compares signatures, and does all of the work if that is little
 *   SHARED  everybody takes shares of the work, its own first, then those that nobody has begun
 *   DONE    results are complete
 *   FAILED  a member gave up before all had come, or they differ: nobody has touched or will touch anybody's buffers
 *
 * The last to arrive opens the work.
 *
 * A call of few bytes in a group of few members is a small one (small.c). It has no phases: inputs lie in the slots,
 * and a member makes its own result as soon as those that it needs are filled like its own: all of them in an
 * all_reduce, the root's in a broadcast, none for the root of a broadcast, which goes on at once. Members fill their
 * slot first and look at the others' then, so of any two at least one sees the other: whoever sees a difference fails
 * the run, and who has gone on gets that failure from its next call, or when it leaves, which it does not before all
 * have come to its calls.
 *
 * A member may fill its slot again when all have ended the call of a ring before, so none is ever further
 * ahead than that. In a group of few members each says below which number all of its calls are over: in its slot, where
 * the others read it anyway, and in a line of its own; in larger groups those who leave are counted.
 *
 * Only OPEN can last: from SOLO and SHARED on everything is computation. A failure is the communicator's: the first one
 * is recorded, and whoever waits in OPEN turns it into FAILED and returns.
 */
#ifndef SRC_COMM_THREADS_H_
#define SRC_COMM_THREADS_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "comm/call.h"
#include "comm/engine.h"
#include "comm/threads/futex.h"
#include "comm/threads/cached_moves.h"
#include "comm/portion.h"
#include "comm/signature.h"
#include "comm/threads/scheduler.h"
#include "base/array.h"
#include "base/hash.h"

/* Rendezvous of a group are a power of two: many where members go ahead of each other, in small calls. */
enum { SW_RING = 64, SW_LARGE_RING = 8, SW_FLIGHT_CALLS = 8 };
_Static_assert(SW_LARGE_RING > (int)SW_COMM_MAX_STARTED, "a call more than are started");

/* SW_INLINE_BYTES: of an input that lies in its member's arrival. Larger ones of SW_BULK_STEP follow each other so that
 * they do not compete for the same lines of a cache. */
enum { SW_SMALL_BYTES = 4096, SW_SMALL_MEMBERS = 16, SW_INLINE_BYTES = 16, SW_MID_BYTES = 32 };
enum { SW_LINE = 64, SW_BULK_STEP = SW_SMALL_BYTES + 2 * SW_LINE };

enum { SW_OPEN, SW_SHARED, SW_SOLO, SW_DONE, SW_FAILED, SW_PHASE_BITS = 3 };

/* What the others look at while they wait: in cache lines of its own, a small input right behind, so that it comes
 * along. */
typedef struct sw_arrival {
  atomic_uint came;           /* 1 + number of the call the member has come to */
  uint16_t behind;            /* all its calls of numbers that are so much lower are over; in a group of few */
  bool is_small, whole;       /* a small call; the input's valid extents are its dims */
  uint64_t history;           /* of the signatures of all calls up to this one */
  char near[SW_INLINE_BYTES]; /* or more: up to the area's item */
} sw_arrival;
_Static_assert(2 * sizeof(sw_arrival) == SW_LINE, "two to a line");
_Static_assert(SW_RING <= UINT16_MAX, "nobody is further behind");

/* Items by member and call. Of two members, each one's lie together; of more, a call's do, two calls of a member
 * sharing a line where they fit: who goes ahead fills both before others look, and who needs one member's item often
 * needs all members'. */
typedef struct sw_area {
  void *store;
  size_t item_bytes, member_step;
  char *row[SW_RING]; /* by rendezvous: member 0's item */
} sw_area;

/* What a member tells of a small call, as it may have gone on. */
typedef struct sw_posted {
  struct sw_cached_call *cached;
  int64_t where;
} sw_posted;

/* A member's place in a rendezvous, besides. */
typedef struct sw_comm_slot {
  sw_buffer small_in;  /* its extents, if not whole; the data is elsewhere */
  sw_member member;    /* not in small calls */
  atomic_bool claimed; /* somebody does this share */
  sw_buffer staged;    /* copy, in `room`, of an input that its own result would overwrite; data NULL: none */
  sw_room room;
  int64_t valid[SW_MAX_RANK]; /* of the result */
  int64_t bytes;              /* received from others */
} sw_comm_slot;

typedef struct sw_rendezvous {
  sw_futex futex;
  sw_futex small_futex; /* changes as members come to a small call that somebody waits in */
  sw_comm_slot *slots;
  _Alignas(64) atomic_llong arrived, left; /* in all calls so far; small ones do not arrive */
  atomic_llong worked, model;              /* in this call */
  atomic_bool bad;
  const void **src;
  void **dst;
} sw_rendezvous;

/* A number that shares no cache line with another. */
typedef struct sw_padded_number {
  _Alignas(64) atomic_uint number;
} sw_padded_number;

typedef struct sw_thread_group {
  sw_circle circle;      /* whoever made it */
  sw_device_list listed; /* what it points to, when it is a list */
  int64_t n;
  int64_t *devices;    /* in group order */
  unsigned ring_calls; /* rendezvous in use: a power of two */
  sw_area arrivals;
  sw_area mid, bulk;       /* inputs that do not fit into the arrivals, in a group of few: as they fit */
  sw_posted *told;         /* by member and rendezvous (sw_posted_at), in a group of few */
  sw_padded_number *ended; /* by member, as in the arrivals; NULL in groups of more than SW_SMALL_MEMBERS, as is: */
  sw_padded_number *came;  /* by member: it has come at least to all calls of lower numbers */
  sw_comm_slot *slots;     /* of all rendezvous, as are: */
  const void **src;
  void **dst;
  atomic_int waiting[SW_RING]; /* by rendezvous: threads that wait in a small call */
  sw_futex slot_futex;         /* changes as members leave, while somebody waits for a free slot */
  atomic_int slot_waiters;
  sw_rendezvous ring[SW_RING];
} sw_thread_group;

/* Members first .. end-1. */
typedef struct sw_members {
  int64_t first, end;
} sw_members;

/* A call that was found to be in order: a later one is probably the same but for its data. Also what the others are
 * told of a small call. */
typedef struct sw_cached_call {
  struct sw_rank *rank;
  bool holds;     /* for a later call */
  bool again;     /* it has */
  bool small;     /* a small call, and */
  bool feeds;     /* somebody may need this member's input alone */
  bool meets;     /* everybody needs everybody, so that nobody goes ahead */
  bool fast_path; /* it goes that way (fast_path.c), which puts so many bytes of the input into the slot: */
  size_t put_bytes;
  bool reduces; /* and its schedule does not only copy */
  bool has_in, has_out;
  unsigned used;           /* number of the last call */
  sw_members needs;        /* whose inputs a small call waits for */
  int64_t small_bytes;     /* of each input, */
  const sw_area *small_in; /* which lies there, */
  size_t small_offset;     /* so far behind its item's begin */
  uint64_t signature;      /* wherever it is */
  sw_collective coll;
  sw_buffer in, out;
  sw_cached_moves schedule;
} sw_cached_call;

/* More than calls of a member that are not over for all: the one used longest ago is told of nowhere. */
enum { SW_CACHED_CALLS = SW_RING + 1 };

/* A device's place in a group. */
typedef struct sw_rank {
  sw_thread_group *group;
  int64_t index;
  unsigned next;         /* number of its next call */
  unsigned ended;        /* all its calls of lower numbers are over; */
  uint64_t ended_more;   /* bit i: so is that of number ended + i */
  unsigned all_ended;    /* all calls of lower numbers are over for everybody, and perhaps more */
  unsigned taken, asked; /* calls of lower numbers: lines to be filled, and others' inputs, were asked for early */
  unsigned told;         /* what the others know of `ended` */
  unsigned rung;         /* `ended`, when the others were last woken to see it */
  unsigned seen;         /* in calls of this number or more, if left early, it has not looked at those beside it */
  uint64_t history;      /* of the signatures of all its calls so far */
  unsigned early;        /* 1 + the greatest number of a call that was left before all had come; 0: none */
  int started;           /* calls not yet waited for */
  atomic_uint barrier;   /* an access that orders showing slots before looking at others' */
  sw_cached_call *last;  /* of cached_calls; NULL: none yet */
  sw_cached_call *cached_calls[SW_CACHED_CALLS]; /* NULL at the end: not made yet */
} sw_rank;

/* What a device waits for, when it waits long. */
typedef enum sw_wait_kind {
  SW_WAIT_NONE,
  SW_WAIT_MEMBERS, /* until those that are needed have come to a call */
  SW_WAIT_MESSAGE,
  SW_WAIT_SLOT /* until all have ended a call */
} sw_wait_kind;

typedef struct sw_waiting {
  sw_wait_kind kind;
  sw_futex *futex;
  unsigned old;         /* the word that it waits to see changed, */
  sw_futex_ready ready; /* or what else; told this record. NULL: nothing */
  const sw_thread_group *group;
  unsigned number;
  sw_members needs; /* members */
  int64_t source;   /* of a message; -1: any of the group */
  const sw_comm_call *call;
  const struct sw_comm_request *request; /* of a small call whose slots it looks at */
} sw_waiting;

typedef struct sw_message {
  struct sw_message *next;
  sw_sent sent; /* data follows the record */
} sw_message;

typedef struct sw_flight {
  sw_coll_op op;
  int64_t where;
  bool ended;
} sw_flight;

typedef struct sw_thread_device {
  _Alignas(64) pthread_mutex_t lock; /* of `waiting`, `epoch`, `left`, `why`, mail */
  sw_waiting waiting;
  uint64_t epoch; /* counts changes of `waiting` */
  bool left;
  sw_rc left_rc;
  sw_futex mail_futex;
  sw_message *mail, **mail_end;
  /* Touched by the device's own thread only: */
  SW_ARRAY(sw_rank *) ranks;
  sw_rank *last_rank;
  sw_rank *silent; /* a call was ended in it, and who waits for that has not been told; NULL: none */
  sw_comm_request *requests;
  sw_room spare; /* for the next input to be staged */
  sw_rng rng;
  sw_flight flight[SW_FLIGHT_CALLS];
  uint64_t calls;
  atomic_llong stat_calls[SW_COLL_COUNT], stat_bytes[SW_COLL_COUNT];
} sw_thread_device;

typedef struct sw_threads {
  sw_comm base;
  int32_t *ids;
  int spin; /* looks at a word before sleeping */
  sw_thread_device *device;
  pthread_mutex_t lock; /* of groups, failure */
  sw_dict index;        /* circle and first device -> number in groups */
  SW_ARRAY(sw_thread_group *) groups;
  atomic_int failed; /* sw_rc of the first failure */
  sw_diag failure;
  atomic_llong blocked, gone; /* devices that wait long; that have left */
  pthread_mutex_t detector;   /* one looks for deadlocks at a time, with this room for what it sees: */
  sw_waiting *seen_waiting;
  uint64_t *seen_epoch;
  bool *seen_left, *seen_live;
} sw_threads;

struct sw_comm_request {
  sw_comm_request *next;
  int64_t device;
  sw_comm_call call;
  sw_rank *rank; /* NULL: the call was complete at its start, but for a recv */
  sw_cached_call *cached;
  sw_members needs; /* whom a small call waits for */
  unsigned number;
  unsigned open; /* the rendezvous' word until the call's first change */
  bool started;  /* by sw_comm_start */
};

static inline bool sw_members_are_all(sw_members m, const sw_thread_group *g) { return m.end - m.first == g->n; }

/* Two ranks with the same have made the same calls. */
static inline uint64_t sw_history_more(uint64_t history, uint64_t signature) {
  history = (history ^ signature) * UINT64_C(0x9e3779b97f4a7c15);
  return history ^ history >> 32;
}

/* Numbers of calls wrap. */
static inline bool sw_number_is_below(unsigned a, unsigned b) { return (int)(a - b) < 0; }

/* A statistic: written by one thread, read by any. */
static inline void sw_count(atomic_llong *at, int64_t more) {
  atomic_store_explicit(at, atomic_load_explicit(at, memory_order_relaxed) + more, memory_order_relaxed);
}

static inline unsigned sw_ring_of(const sw_thread_group *g) { return g->ring_calls; }
static inline unsigned sw_ring_index(const sw_thread_group *g, unsigned number) { return number & (sw_ring_of(g) - 1); }

static inline sw_rendezvous *sw_rendezvous_at(sw_thread_group *g, unsigned number) {
  return &g->ring[sw_ring_index(g, number)];
}

/* What a member tells of a call. */
static inline sw_posted *sw_posted_at(const sw_thread_group *g, unsigned number, int64_t member) {
  return &g->told[(size_t)member * sw_ring_of(g) + sw_ring_index(g, number)];
}

/* A call's items, of member 0 first, member_step bytes apart. */
static inline char *sw_row_at(const sw_thread_group *g, const sw_area *a, unsigned number) {
  return a->row[sw_ring_index(g, number)];
}

static inline sw_arrival *sw_arrival_at(const sw_thread_group *g, unsigned number, int64_t member) {
  return (sw_arrival *)(void *)(sw_row_at(g, &g->arrivals, number) + (size_t)member * g->arrivals.member_step);
}

/* Where a member's input lies in a small call. */
static inline char *sw_small_at(const sw_thread_group *g, const sw_cached_call *m, unsigned number, int64_t member) {
  return sw_row_at(g, m->small_in, number) + (size_t)member * m->small_in->member_step + m->small_offset;
}

/* In a line of its own how far the member has come, in a group of few: before it waits or tells anything, else only
 * each SW_COME_EACH calls, as others may be reading there. */
enum { SW_COME_EACH = 8 };
static inline void sw_rank_say_came(const sw_rank *rank, unsigned number) {
  atomic_store_explicit(&rank->group->came[rank->index].number, number, memory_order_release);
}

/* The member has filled its slot of call `number`, its arrival there included. In a row: others may be looking at this
 * cache line all the time. */
static inline void sw_rank_show(sw_rank *rank, sw_arrival *f, const sw_cached_call *cached, int64_t where,
                                unsigned number) {
  f->history = rank->history = sw_history_more(rank->history, sw_signature_at(cached->signature, where));
  f->behind = (uint16_t)(number - rank->told);
  f->is_small = cached->small;
  atomic_store_explicit(&f->came, number + 1, memory_order_release);
}

static inline sw_rendezvous *sw_rendezvous_of(const sw_comm_request *r) {
  return sw_rendezvous_at(r->rank->group, r->number);
}

static inline sw_threads *sw_threads_of(sw_comm *c) { return (sw_threads *)(void *)c; }

/* threads.c: a result that the dialect leaves undefined. */
void sw_threads_leave_undefined(const sw_threads *t, sw_buffer *out);
/* The members of the request's call differ: the run fails. */
sw_rc sw_threads_differ(sw_threads *t, const sw_comm_request *r, sw_diag *d);
/* The rendezvous' word until a call's first change. */
unsigned sw_threads_open_word(const sw_rendezvous *m, unsigned number);
/* In the statistics and the flight record, from which it is taken. */
static inline sw_flight *sw_threads_record_call(sw_thread_device *dev, const sw_comm_call *call) {
  sw_flight *f = &dev->flight[dev->calls++ % SW_FLIGHT_CALLS];
  *f = (sw_flight){.op = call->coll->op, .where = call->where};
  sw_count(&dev->stat_calls[call->coll->op], 1);
  return f;
}
/* After the member has filled its slot of a small call: has somebody to be woken? Those who sleep have looked before. A
 * thread that sleeps while its devices wait looks itself when the scheduler is notified. */
static inline bool sw_threads_somebody_waits(const sw_thread_group *g, unsigned number) {
  sw_fence_light();
  bool waits = atomic_load_explicit(&g->waiting[sw_ring_index(g, number)], memory_order_relaxed);
  sw_scheduler_notify();
  return waits;
}
void sw_threads_wake_waiting(const sw_comm_request *r);

/* groups.c */
SW_CHECKED sw_rc sw_rank_find(sw_threads *t, int64_t device, const sw_collective *c, sw_rank **out, sw_diag *d);
void sw_groups_free(sw_threads *t);

/* small.c: is the call of a group of n a small one; put the input into the member's slot; make the device's result from
 * the slots. *bytes: of an input in its slot. */
bool sw_small_applies(const sw_comm_call *call, int64_t n, int64_t *bytes);
void sw_small_put(const sw_comm_request *r);
SW_CHECKED sw_rc sw_small_make(sw_threads *t, const sw_comm_request *r, sw_diag *d);

/* fast_path.c: the fast path of a call that its device, group and threads know well. Not taken; or the member has come
 * to the call, which is left to be ended; or it is ended, and the others should be told; or all is done. */
typedef enum sw_fast_path { SW_FAST_PATH_NOT, SW_FAST_PATH_CAME, SW_FAST_PATH_ENDED, SW_FAST_PATH_DONE } sw_fast_path;
sw_fast_path sw_fast_path_run(sw_threads *t, int64_t device, const sw_comm_call *call);
/* To end what the device has come to: all but the request's call. */
void sw_fast_path_request(sw_threads *t, sw_comm_request *r);

/* ranks.c: whether and when a rendezvous' slots are free, and who has come. */
SW_CHECKED sw_rc sw_rank_wait(sw_threads *t, const sw_comm_request *r, sw_diag *d);
/* The member has ended call `number`; `early`: without having seen all. The others are told not each time, but
 * before it waits itself; then it also looks whether those beside it made the same calls, or fails. */
SW_CHECKED sw_rc sw_rank_leave(sw_threads *t, int64_t device, sw_rank *rank, unsigned number, bool early, sw_diag *d);
SW_CHECKED sw_rc sw_rank_tell(sw_threads *t, int64_t device, sw_diag *d);
/* Calls after which a member looks whether somebody waits for a free slot: half of a round. */
enum { SW_TELL_EACH = SW_RING / 2 };
/* Has everybody ended call `number`, of which the rank's member has ended it? */
bool sw_rank_all_ended(sw_rank *rank, unsigned number);
/* In a group of few: all calls of lower numbers are over for member i (for all), as has been said; is call `number`? */
static inline unsigned sw_rank_ended_by(const sw_thread_group *g, int64_t i) {
  return atomic_load(&g->ended[i].number);
}
unsigned sw_rank_ended_by_all(const sw_thread_group *g);
bool sw_rank_has_ended(const sw_thread_group *g, int64_t i, unsigned number);
typedef enum sw_look { SW_LOOK_MISSING, SW_LOOK_AGREE, SW_LOOK_DIFFER } sw_look;
/* Of all members; of those that the call needs, for a while. */
sw_look sw_rank_look(const sw_comm_request *r);
sw_look sw_rank_look_needed(const sw_comm_request *r);
/* Have they come, alike or not? Leaves alone those after the first that has not, which may be filling their slots. */
bool sw_rank_all_needed(const sw_comm_request *r);
sw_look sw_rank_look_long(const sw_threads *t, const sw_comm_request *r);

/* call_cache.c: the entry of such a call by the device, with other data, or NULL. Ops with tilings have none. */
sw_cached_call *sw_cached_call_find(sw_thread_device *dev, const sw_comm_call *call);
bool sw_cached_call_holds(const sw_cached_call *m, const sw_comm_call *call);
SW_CHECKED sw_rc sw_cached_call_make(sw_rank *rank, const sw_comm_call *call, sw_cached_call **out, sw_diag *d);
/* What the others are told of a call. Lives until the rank has made SW_CACHED_CALLS calls more. */
void sw_cached_call_give(sw_cached_call *m, int64_t where, sw_comm_call *out);

/* waiting.c */
/* Until the futex's word is not w->old. Fails when the run has failed, at the timeout, in a deadlock, when who is
 * waited for has left, or when cancelled. */
SW_CHECKED sw_rc sw_wait(sw_threads *t, int64_t device, const sw_waiting *w, sw_diag *d);
/* The same while others only compute: always ends, never fails. */
void sw_wait_for_work(sw_threads *t, sw_futex *g, unsigned old);
/* Record the first failure of the run, wake everybody, and give the recorded failure to `d`. */
sw_rc sw_threads_fail(sw_threads *t, const sw_diag *why, sw_diag *d);
sw_rc sw_threads_failure(sw_threads *t, sw_diag *d); /* the recorded one, or SW_OK */
void sw_wake_all(sw_threads *t);

/* deadlock.c */
/* Fails the run when some device waits for one that will never come. */
SW_CHECKED sw_rc sw_deadlock_check(sw_threads *t, sw_diag *d);
/* The first device that `w` waits for and that has not come, or -1. */
int64_t sw_waiting_missing(const sw_waiting *w);
/* "device 3, which waits at position 17 in 'all_reduce axes=[x] ...'". */
void sw_device_print(sw_threads *t, int64_t device, sw_text *out);

/* mail.c */
SW_CHECKED sw_rc sw_mail_send(sw_threads *t, int64_t device, const sw_comm_call *call, sw_diag *d);
SW_CHECKED sw_rc sw_mail_receive(sw_threads *t, int64_t device, const sw_comm_call *call, sw_diag *d);
/* After the device has left: fails the run when it has not received all that was sent to it. */
SW_CHECKED sw_rc sw_mail_check_read(sw_threads *t, int64_t device, sw_diag *d);
void sw_mail_free(sw_thread_device *dev);

#endif
