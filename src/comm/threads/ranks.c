/* Ranks: a member's place in the rendezvous of its group, call after call.
 *
 *   ring of 8: call 11 uses the slots of call 3, so it waits until every member has ended call 3; when all have said in
 *   call 6 that they have ended all calls below 6, nobody needs to ask before call 14
 */
#include "comm/threads/threads.h"

/* Looks at the others' slots before a device that has its thread for itself gives it back. */
enum { ALONE_LOOKS = 2000 };

unsigned sw_rank_ended_by_all(const sw_thread_group *g) {
  unsigned least = atomic_load(&g->ended[0].number);
  for (int64_t j = 1; j < g->n; j++) {
    unsigned number = atomic_load(&g->ended[j].number);
    if (sw_number_is_below(number, least)) least = number;
  }
  return least;
}

bool sw_rank_has_ended(const sw_thread_group *g, int64_t i, unsigned number) {
  return sw_number_is_below(number, sw_rank_ended_by(g, i));
}

bool sw_rank_all_ended(sw_rank *rank, unsigned number) {
  sw_thread_group *g = rank->group;
  if (!g->ended) {
    long long left = atomic_load(&sw_rendezvous_at(g, number)->left), rounds = left / g->n;
    return left % g->n == 0 && ((unsigned)rounds - number / sw_ring_of(g) - 1) * sw_ring_of(g) == 0;
  }
  if (sw_number_is_below(number, rank->all_ended)) return true;
  rank->all_ended = sw_rank_ended_by_all(g);
  return sw_number_is_below(number, rank->all_ended);
}

/* Looks before waiting: many while the others run on cores of their own, none when they take turns on this one. */
static int looks_of(const sw_threads *t) {
  return !sw_scheduler_runs_caller() ? t->spin : sw_scheduler_runs_alone() ? ALONE_LOOKS : 0;
}

static sw_rc sleep_until_ended(sw_threads *t, int64_t device, const sw_waiting *w, sw_rank *rank, sw_diag *d) {
  sw_thread_group *g = rank->group;
  sw_waiting now = *w;
  for (;;) {
    now.old = atomic_load(&g->slot_futex.word);
    if (sw_rank_all_ended(rank, w->number)) return SW_OK;
    SW_TRY(sw_wait(t, device, &now, d));
  }
}

static bool is_ready(const void *of) { return sw_waiting_missing(of) < 0; }

static sw_rc wait_until_ended(sw_threads *t, int64_t device, sw_rank *rank, unsigned number, const sw_comm_call *call,
                              sw_diag *d) {
  sw_thread_group *g = rank->group;
  sw_waiting w = {.kind = SW_WAIT_SLOT, .futex = &g->slot_futex, .group = g, .number = number, .call = call};
  if (g->ended) w.ready = is_ready;
  SW_TRY(sw_rank_tell(t, device, d));
  for (int i = looks_of(t); i > 0; i--) {
    if (sw_rank_all_ended(rank, number)) return SW_OK;
    sw_spin_pause();
  }
  bool sleeps = !g->ended || !sw_scheduler_runs_caller(); /* else it looks itself, when it has its turn */
  if (sleeps) atomic_fetch_add(&g->slot_waiters, 1);
  if (sleeps) sw_fence_heavy();
  sw_rc rc = sleep_until_ended(t, device, &w, rank, d);
  if (sleeps) atomic_fetch_sub(&g->slot_waiters, 1);
  return rc;
}

sw_rc sw_rank_wait(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  sw_rank *rank = r->rank;
  unsigned ring = sw_ring_of(rank->group), before = r->number - ring;
  if (sw_rank_all_ended(rank, before)) return SW_OK;
  if (r->number - rank->ended >= ring)
    return SW_FAIL_INPUT(d, SW_NOWHERE,
                         "device %lld at position %lld makes the %uth call since one of its group that it "
                         "has started and not waited for; expected it to wait",
                         (long long)r->device, (long long)r->call.where, ring);
  return wait_until_ended(t, r->device, rank, before, &r->call, d);
}

static void wake(sw_thread_group *g) {
  if (atomic_load(&g->slot_waiters)) {
    atomic_fetch_add(&g->slot_futex.word, 1);
    sw_futex_wake(&g->slot_futex);
  }
  sw_scheduler_notify();
}

static void publish(sw_rank *rank) {
  atomic_store_explicit(&rank->group->ended[rank->index].number, rank->ended, memory_order_release);
  rank->told = rank->ended;
}

static sw_look look_beside(const sw_comm_request *r);

static bool has_unseen(const sw_rank *rank) { return rank->early && sw_number_is_below(rank->seen, rank->early); }

/* Compares with member j in the last call that both have come to of those that this one has not told: the same history
 * means the same calls up to there. *seen is the number after it, if that is less. */
static bool has_same_history(const sw_rank *rank, int64_t j, unsigned *seen) {
  const sw_thread_group *g = rank->group;
  unsigned both = atomic_load_explicit(&g->came[j].number, memory_order_acquire);
  if (sw_number_is_below(rank->next, both)) both = rank->next;
  if (sw_number_is_below(both, rank->told)) both = rank->told;
  if (sw_number_is_below(both, *seen)) *seen = both;
  if (both == rank->told) return true;
  return sw_arrival_at(g, both - 1, j)->history == sw_arrival_at(g, both - 1, rank->index)->history;
}

/* Of the calls that this member has not told of, the first in which one beside it differs: that fails the run. When it
 * is an earlier one, the other has not told of it, and finds it. */
static sw_rc find_difference(sw_threads *t, int64_t device, sw_rank *rank, sw_diag *d) {
  for (unsigned number = rank->told; number != rank->next; number++) {
    sw_comm_request r = {.device = device, .rank = rank, .number = number};
    if (look_beside(&r) != SW_LOOK_DIFFER) continue;
    r.open = sw_threads_open_word(sw_rendezvous_of(&r), number);
    return sw_threads_differ(t, &r, d);
  }
  return SW_OK;
}

static sw_rc compare_beside(sw_threads *t, int64_t device, sw_rank *rank, sw_diag *d) {
  int64_t i = rank->index, n = rank->group->n;
  unsigned seen = rank->next;
  bool same = (i == 0 || has_same_history(rank, i - 1, &seen)) && (i + 1 == n || has_same_history(rank, i + 1, &seen));
  rank->seen = seen;
  return same ? SW_OK : find_difference(t, device, rank, d);
}

/* At the calls that were left early. Who comes to such a call later does so, too, and after the barrier either that one
 * sees this member or it is seen. */
static sw_rc look_back(sw_threads *t, int64_t device, sw_rank *rank, sw_diag *d) {
  SW_TRY(compare_beside(t, device, rank, d));
  if (!has_unseen(rank)) return SW_OK;
  atomic_fetch_add(&rank->barrier, 1);
  SW_TRY(compare_beside(t, device, rank, d));
  rank->seen = rank->next;
  return SW_OK;
}

sw_rc sw_rank_tell(sw_threads *t, int64_t device, sw_diag *d) {
  sw_thread_device *dev = &t->device[device];
  sw_rank *rank = dev->silent;
  if (!rank) return SW_OK;
  dev->silent = NULL;
  sw_rank_say_came(rank, rank->next);
  if (has_unseen(rank)) SW_TRY(look_back(t, device, rank, d));
  publish(rank);
  rank->rung = rank->ended;
  sw_fence_light();
  wake(rank->group);
  return SW_OK;
}

sw_rc sw_rank_leave(sw_threads *t, int64_t device, sw_rank *rank, unsigned number, bool early, sw_diag *d) {
  sw_thread_group *g = rank->group;
  sw_thread_device *dev = &t->device[device];
  rank->started--;
  rank->ended_more |= UINT64_C(1) << (number - rank->ended);
  for (; rank->ended_more & 1; rank->ended_more >>= 1) rank->ended++;
  if (!g->ended) {
    atomic_fetch_add(&sw_rendezvous_at(g, number)->left, 1);
    wake(g);
    return SW_OK;
  }
  if (early && !(rank->early && sw_number_is_below(number, rank->early))) rank->early = number + 1;
  if (dev->silent != rank) SW_TRY(sw_rank_tell(t, device, d));
  dev->silent = rank;
  return rank->ended - rank->rung >= SW_TELL_EACH ? sw_rank_tell(t, device, d) : SW_OK;
}

/* *ended: no member looked at has ended less. */
static sw_look look_at(const sw_comm_request *r, sw_members span, unsigned *ended) {
  const sw_thread_group *g = r->rank->group;
  uint64_t own = sw_arrival_at(g, r->number, r->rank->index)->history;
  bool missing = false, differ = false;
  *ended = r->number;
  for (int64_t j = span.first; j < span.end; j++) {
    const sw_arrival *f = sw_arrival_at(g, r->number, j);
    unsigned came = atomic_load_explicit(&f->came, memory_order_acquire);
    if (came != r->number + 1) {
      missing = missing || sw_number_is_below(came, r->number + 1); /* else it has gone on: that it looks back at */
      continue;
    }
    differ = differ || f->history != own;
    if (sw_number_is_below(r->number - f->behind, *ended)) *ended = r->number - f->behind;
  }
  return differ ? SW_LOOK_DIFFER : missing ? SW_LOOK_MISSING : SW_LOOK_AGREE;
}

sw_look sw_rank_look(const sw_comm_request *r) {
  unsigned ended;
  sw_look look = look_at(r, (sw_members){0, r->rank->group->n}, &ended);
  if (look == SW_LOOK_AGREE && sw_number_is_below(r->rank->all_ended, ended)) r->rank->all_ended = ended;
  return look;
}

/* When every member looks at those beside it, any difference is seen. */
static sw_look look_beside(const sw_comm_request *r) {
  unsigned ended;
  int64_t i = r->rank->index, end = r->rank->group->n;
  return look_at(r, (sw_members){i > 0 ? i - 1 : 0, i + 2 < end ? i + 2 : end}, &ended);
}

sw_look sw_rank_look_needed(const sw_comm_request *r) {
  unsigned ended;
  bool all = r->needs.end - r->needs.first == r->rank->group->n;
  return all ? sw_rank_look(r) : look_at(r, r->needs, &ended);
}

bool sw_rank_all_needed(const sw_comm_request *r) {
  const sw_thread_group *g = r->rank->group;
  for (int64_t j = r->needs.first; j < r->needs.end; j++) {
    unsigned came = atomic_load_explicit(&sw_arrival_at(g, r->number, j)->came, memory_order_acquire);
    if (sw_number_is_below(came, r->number + 1)) return false;
  }
  return true;
}

sw_look sw_rank_look_long(const sw_threads *t, const sw_comm_request *r) {
  sw_look look = sw_rank_look_needed(r);
  if (look != SW_LOOK_MISSING) return look;
  if (!has_unseen(r->rank)) publish(r->rank);
  for (int i = looks_of(t); i > 0 && !sw_rank_all_needed(r); i--) sw_spin_pause();
  return sw_rank_look_needed(r);
}
