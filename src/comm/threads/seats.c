/* Seats: a member's place in the meetings of its group, call after call.
 *
 *   ring of 8: call 11 uses the slots of call 3, so it waits until every member has ended call 3; when all have said in
 *   call 6 that they have ended all calls below 6, nobody needs to ask before call 14
 */
#include "comm/threads/threads.h"

/* Looks at the others' slots before a device that has its thread for itself gives it back. */
enum { ALONE_LOOKS = 2000 };

unsigned sw_seat_ended_by_all(const sw_group *g) {
  unsigned least = atomic_load(&g->ended[0].number);
  for (int64_t j = 1; j < g->n; j++) {
    unsigned number = atomic_load(&g->ended[j].number);
    if (sw_number_is_below(number, least)) least = number;
  }
  return least;
}

bool sw_seat_has_ended(const sw_group *g, int64_t i, unsigned number) {
  return sw_number_is_below(number, sw_seat_ended_by(g, i));
}

bool sw_seat_all_ended(sw_seat *seat, unsigned number) {
  sw_group *g = seat->group;
  if (!g->ended) {
    long long left = atomic_load(&sw_meeting_at(g, number)->left), rounds = left / g->n;
    return left % g->n == 0 && ((unsigned)rounds - number / sw_ring_of(g) - 1) * sw_ring_of(g) == 0;
  }
  if (sw_number_is_below(number, seat->all_ended)) return true;
  seat->all_ended = sw_seat_ended_by_all(g);
  return sw_number_is_below(number, seat->all_ended);
}

/* Looks before waiting: many while the others run on cores of their own, none when they take turns on this one. */
static int looks_of(const sw_threads *t) {
  return !sw_scheduler_runs_caller() ? t->spin : sw_scheduler_runs_alone() ? ALONE_LOOKS : 0;
}

static sw_rc sleep_until_ended(sw_threads *t, int64_t device, const sw_waiting *w, sw_seat *seat, sw_diag *d) {
  sw_group *g = seat->group;
  sw_waiting now = *w;
  for (;;) {
    now.old = atomic_load(&g->seat_futex.word);
    if (sw_seat_all_ended(seat, w->number)) return SW_OK;
    SW_TRY(sw_wait(t, device, &now, d));
  }
}

static bool is_ready(const void *of) { return sw_waiting_missing(of) < 0; }

static sw_rc wait_until_ended(sw_threads *t, int64_t device, sw_seat *seat, unsigned number, const sw_comm_call *call,
                              sw_diag *d) {
  sw_group *g = seat->group;
  sw_waiting w = {.kind = SW_WAIT_SEAT, .futex = &g->seat_futex, .group = g, .number = number, .call = call};
  if (g->ended) w.ready = is_ready;
  SW_TRY(sw_seat_tell(t, device, d));
  for (int i = looks_of(t); i > 0; i--) {
    if (sw_seat_all_ended(seat, number)) return SW_OK;
    sw_spin_pause();
  }
  bool sleeps = !g->ended || !sw_scheduler_runs_caller(); /* else it looks itself, when it has its turn */
  if (sleeps) atomic_fetch_add(&g->seat_waiters, 1);
  if (sleeps) sw_fence_heavy();
  sw_rc rc = sleep_until_ended(t, device, &w, seat, d);
  if (sleeps) atomic_fetch_sub(&g->seat_waiters, 1);
  return rc;
}

sw_rc sw_seat_wait(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  sw_seat *seat = r->seat;
  unsigned ring = sw_ring_of(seat->group), before = r->number - ring;
  if (sw_seat_all_ended(seat, before)) return SW_OK;
  if (r->number - seat->ended >= ring)
    return SW_FAIL_INPUT(d, SW_NOWHERE,
                         "device %lld at position %lld makes the %uth call since one of its group that it "
                         "has started and not waited for; expected it to wait",
                         (long long)r->device, (long long)r->call.where, ring);
  return wait_until_ended(t, r->device, seat, before, &r->call, d);
}

static void wake(sw_group *g) {
  if (atomic_load(&g->seat_waiters)) {
    atomic_fetch_add(&g->seat_futex.word, 1);
    sw_futex_wake(&g->seat_futex);
  }
  sw_scheduler_notify();
}

static void publish(sw_seat *seat) {
  atomic_store_explicit(&seat->group->ended[seat->index].number, seat->ended, memory_order_release);
  seat->told = seat->ended;
}

static sw_look look_beside(const sw_comm_request *r);

static bool has_unseen(const sw_seat *seat) { return seat->early && sw_number_is_below(seat->seen, seat->early); }

/* Compares with member j in the last call that both have come to of those that this one has not told: the same history
 * means the same calls up to there. *seen is the number after it, if that is less. */
static bool has_same_history(const sw_seat *seat, int64_t j, unsigned *seen) {
  const sw_group *g = seat->group;
  unsigned both = atomic_load_explicit(&g->came[j].number, memory_order_acquire);
  if (sw_number_is_below(seat->next, both)) both = seat->next;
  if (sw_number_is_below(both, seat->told)) both = seat->told;
  if (sw_number_is_below(both, *seen)) *seen = both;
  if (both == seat->told) return true;
  return sw_front_at(g, both - 1, j)->history == sw_front_at(g, both - 1, seat->index)->history;
}

/* Of the calls that this member has not told of, the first in which one beside it differs: that fails the run. When it
 * is an earlier one, the other has not told of it, and finds it. */
static sw_rc find_difference(sw_threads *t, int64_t device, sw_seat *seat, sw_diag *d) {
  for (unsigned number = seat->told; number != seat->next; number++) {
    sw_comm_request r = {.device = device, .seat = seat, .number = number};
    if (look_beside(&r) != SW_LOOK_DIFFER) continue;
    r.open = sw_threads_open_word(sw_meeting_of(&r), number);
    return sw_threads_differ(t, &r, d);
  }
  return SW_OK;
}

static sw_rc compare_beside(sw_threads *t, int64_t device, sw_seat *seat, sw_diag *d) {
  int64_t i = seat->index, n = seat->group->n;
  unsigned seen = seat->next;
  bool same = (i == 0 || has_same_history(seat, i - 1, &seen)) && (i + 1 == n || has_same_history(seat, i + 1, &seen));
  seat->seen = seen;
  return same ? SW_OK : find_difference(t, device, seat, d);
}

/* At the calls that were left early. Who comes to such a call later does so, too, and after the barrier either that one
 * sees this member or it is seen. */
static sw_rc look_back(sw_threads *t, int64_t device, sw_seat *seat, sw_diag *d) {
  SW_TRY(compare_beside(t, device, seat, d));
  if (!has_unseen(seat)) return SW_OK;
  atomic_fetch_add(&seat->barrier, 1);
  SW_TRY(compare_beside(t, device, seat, d));
  seat->seen = seat->next;
  return SW_OK;
}

sw_rc sw_seat_tell(sw_threads *t, int64_t device, sw_diag *d) {
  sw_device *dev = &t->device[device];
  sw_seat *seat = dev->silent;
  if (!seat) return SW_OK;
  dev->silent = NULL;
  sw_seat_say_came(seat, seat->next);
  if (has_unseen(seat)) SW_TRY(look_back(t, device, seat, d));
  publish(seat);
  seat->rung = seat->ended;
  sw_fence_light();
  wake(seat->group);
  return SW_OK;
}

sw_rc sw_seat_leave(sw_threads *t, int64_t device, sw_seat *seat, unsigned number, bool early, sw_diag *d) {
  sw_group *g = seat->group;
  sw_device *dev = &t->device[device];
  seat->started--;
  seat->ended_more |= UINT64_C(1) << (number - seat->ended);
  for (; seat->ended_more & 1; seat->ended_more >>= 1) seat->ended++;
  if (!g->ended) {
    atomic_fetch_add(&sw_meeting_at(g, number)->left, 1);
    wake(g);
    return SW_OK;
  }
  if (early && !(seat->early && sw_number_is_below(number, seat->early))) seat->early = number + 1;
  if (dev->silent != seat) SW_TRY(sw_seat_tell(t, device, d));
  dev->silent = seat;
  return seat->ended - seat->rung >= SW_TELL_EACH ? sw_seat_tell(t, device, d) : SW_OK;
}

/* *ended: no member looked at has ended less. */
static sw_look look_at(const sw_comm_request *r, sw_members span, unsigned *ended) {
  const sw_group *g = r->seat->group;
  uint64_t own = sw_front_at(g, r->number, r->seat->index)->history;
  bool missing = false, differ = false;
  *ended = r->number;
  for (int64_t j = span.first; j < span.end; j++) {
    const sw_front *f = sw_front_at(g, r->number, j);
    unsigned came = atomic_load_explicit(&f->came, memory_order_acquire);
    if (came != r->number + 1) {
      missing = missing || sw_number_is_below(came, r->number + 1); /* else it has gone on: that it looks back at */
      continue;
    }
    differ = differ || f->history != own;
    if (sw_number_is_below(r->number - f->behind, *ended)) *ended = r->number - f->behind;
  }
  return differ ? SW_LOOK_DIFFER : missing ? SW_LOOK_MISSING : SW_LOOK_ALIKE;
}

sw_look sw_seat_look(const sw_comm_request *r) {
  unsigned ended;
  sw_look look = look_at(r, (sw_members){0, r->seat->group->n}, &ended);
  if (look == SW_LOOK_ALIKE && sw_number_is_below(r->seat->all_ended, ended)) r->seat->all_ended = ended;
  return look;
}

/* When every member looks at those beside it, any difference is seen. */
static sw_look look_beside(const sw_comm_request *r) {
  unsigned ended;
  int64_t i = r->seat->index, end = r->seat->group->n;
  return look_at(r, (sw_members){i > 0 ? i - 1 : 0, i + 2 < end ? i + 2 : end}, &ended);
}

sw_look sw_seat_look_needed(const sw_comm_request *r) {
  unsigned ended;
  bool all = r->needs.end - r->needs.first == r->seat->group->n;
  return all ? sw_seat_look(r) : look_at(r, r->needs, &ended);
}

bool sw_seat_all_needed(const sw_comm_request *r) {
  const sw_group *g = r->seat->group;
  for (int64_t j = r->needs.first; j < r->needs.end; j++) {
    unsigned came = atomic_load_explicit(&sw_front_at(g, r->number, j)->came, memory_order_acquire);
    if (sw_number_is_below(came, r->number + 1)) return false;
  }
  return true;
}

sw_look sw_seat_look_long(const sw_threads *t, const sw_comm_request *r) {
  sw_look look = sw_seat_look_needed(r);
  if (look != SW_LOOK_MISSING) return look;
  if (!has_unseen(r->seat)) publish(r->seat);
  for (int i = looks_of(t); i > 0 && !sw_seat_all_needed(r); i--) sw_spin_pause();
  return sw_seat_look_needed(r);
}
