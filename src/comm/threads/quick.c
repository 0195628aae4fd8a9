/* The short way of a small call that its device has made before, and makes again: nothing to find out, only to put the
 * input down, look at the inputs that are needed, and follow the recipe.
 *
 *   gather, not the root:  put 4 bytes, show the number, go on
 *   gather, the root:      the same, then copy 4 bytes from each, if all are there; else wait in the ordinary way
 */
#include "comm/threads/threads.h"

/* AHEAD: how many calls early lines are asked for in calls that some members are ahead in. */
enum { LINE = 64, AHEAD = 8 };

/* The call can go the short way: the last memo tells all, nothing else is under way, and the slot is free. */
static sw_memo *memo_of(const sw_threads *t, const sw_device *dev, const sw_comm_call *call) {
  sw_seat *seat = dev->last_seat;
  if (!seat || dev->silent != seat || !seat->last || !seat->last->quick) return NULL;
  if (seat->started > 0 || seat->ended != seat->next) return NULL;
  if (!sw_seat_all_ended(seat, seat->next - sw_ring_of(seat->group))) return NULL;
  if (atomic_load_explicit(&t->failed, memory_order_relaxed)) return NULL;
  return sw_memo_holds(seat->last, call) ? seat->last : NULL;
}

static char *place(const sw_memo *m, unsigned number, int64_t member) {
  return sw_small_at(m->seat->group, number, member, m->small_bytes);
}

/* As sw_small_put and what follows it do. */
static void come(sw_memo *memo, const sw_comm_call *call) {
  sw_seat *seat = memo->seat;
  sw_group *g = seat->group;
  unsigned number = seat->next;
  g->told[sw_place_of(g, number, seat->index)] = (sw_told){memo, call->where};
  if (memo->put_bytes) sw_copy_run(place(memo, number, seat->index), call->in->data, memo->put_bytes);
  sw_front_at(g, number, seat->index)->whole = true;
  sw_seat_show(seat, memo, call->where, number);
}

/* Have those who are needed come, alike, and with whole inputs? */
static bool look(const sw_memo *memo, unsigned number, unsigned *ended) {
  const sw_group *g = memo->seat->group;
  uint64_t own = sw_front_at(g, number, memo->seat->index)->signature;
  *ended = number;
  for (int64_t j = memo->needs.first; j < memo->needs.end; j++) {
    const sw_front *f = sw_front_at(g, number, j);
    if (atomic_load_explicit(&f->came, memory_order_acquire) != number + 1) return false;
    if (f->signature != own || !f->whole) return false;
    if (sw_number_is_below(f->ended, *ended)) *ended = f->ended;
  }
  return true;
}

static void make(const sw_memo *memo, unsigned number, const sw_comm_call *call) {
  const sw_group *g = memo->seat->group;
  const void *src[SW_SMALL_MEMBERS];
  int64_t own = memo->seat->index;
  for (int64_t j = memo->needs.first; j < memo->needs.end; j++) src[j] = place(memo, number, j);
  src[own] = place(memo, number, own);
  sw_recipe_run(&memo->recipe, call, g->n, src);
}

void sw_quick_request(sw_threads *t, sw_comm_request *r) {
  r->seat = t->device[r->device].last_seat;
  r->memo = r->seat->last;
  r->number = r->seat->next - 1;
  r->needs = r->memo->needs;
  r->open = sw_threads_open_word(sw_meeting_of(r), r->number);
}

static void wake_waiting(sw_threads *t, int64_t device) {
  sw_comm_request r = {.device = device};
  sw_quick_request(t, &r);
  sw_threads_wake_waiting(&r);
}

/* Where the device will put down its input in a later call: takes the lines from those who have read them last. By
 * storing, as a prefetch for a store leaves a line alone that is here, too; and several in a row, as stores wait for
 * their lines together. */
static void take_lines(const sw_memo *memo, unsigned number) {
  const sw_seat *seat = memo->seat;
  if (!sw_number_is_below(number - sw_ring_of(seat->group), seat->all_ended)) return; /* somebody may still read */
  sw_front_at(seat->group, number, seat->index)->whole = true;
  char *at = place(memo, number, seat->index);
  for (size_t i = 0; i < memo->put_bytes; i += LINE) at[i] = 0;
}

/* Asks for inputs of a later call that are there: asking for others would hold those up who fill them. */
static void ask_for_lines(const sw_memo *memo, unsigned number) {
  const sw_group *g = memo->seat->group;
  for (int64_t j = memo->needs.first; j < memo->needs.end; j++) {
    if (!sw_seat_has_ended(g, j, number)) continue;
    __builtin_prefetch(sw_front_at(g, number, j));
    __builtin_prefetch(place(memo, number, j));
  }
}

/* Where all wait for all, a pair has nothing else to do meanwhile. */
static void prepare_later(const sw_memo *memo, unsigned number, bool all) {
  if (all) {
    if (memo->seat->group->n == 2) take_lines(memo, number + 1);
    return;
  }
  ask_for_lines(memo, number + AHEAD);
  for (unsigned i = 1; number % AHEAD == 0 && i <= AHEAD; i++) take_lines(memo, number + i);
}

sw_quick sw_quick_run(sw_threads *t, int64_t device, const sw_comm_call *call, sw_diag *d, sw_rc *rc) {
  sw_device *dev = &t->device[device];
  sw_memo *memo = memo_of(t, dev, call);
  if (!memo) return SW_QUICK_NOT;
  sw_seat *seat = memo->seat;
  unsigned number = seat->next, ended;
  sw_threads_note_call(dev, call);
  memo->used = number;
  come(memo, call);
  seat->next++;
  seat->started++;
  if (sw_threads_somebody_waits(seat->group, number)) wake_waiting(t, device);
  bool all = sw_members_are_all(memo->needs, seat->group);
  prepare_later(memo, number, all);
  if (!look(memo, number, &ended)) return SW_QUICK_CAME;
  if (all && sw_number_is_below(seat->all_ended, ended)) seat->all_ended = ended;
  make(memo, number, call);
  sw_count(&dev->stat_bytes[call->coll->op], memo->recipe.bytes);
  *rc = sw_seat_leave(t, device, seat, number, !all, d);
  return SW_QUICK_ENDED;
}
