/* The short way of a small call that its device has made before, and makes again: nothing to find out, only to put the
 * input down, look at the inputs that are needed, and follow the recipe.
 *
 *   gather, not the root:  put 4 bytes, show the number, go on
 *   gather, the root:      the same, then copy 4 bytes from each, if all are there; else wait in the ordinary way
 */
#include "comm/threads.h"

/* The call can go the short way: the last memo tells all, nothing else is under way, and the slot is free. */
static sw_memo *memo_of(const sw_threads *t, const sw_device *dev, const sw_comm_call *call) {
  sw_seat *seat = dev->last_seat;
  if (!seat || dev->silent != seat || !seat->last || !seat->last->quick) return NULL;
  if (seat->started > 0 || seat->ended != seat->next) return NULL;
  if (!sw_seat_all_ended(seat, seat->next - sw_ring_of(seat->group))) return NULL;
  if (atomic_load_explicit(&t->failed, memory_order_relaxed)) return NULL;
  return sw_memo_holds(seat->last, call) ? seat->last : NULL;
}

static char *place(const sw_memo *m, sw_front *f) {
  return m->small_bytes <= SW_INLINE_BYTES ? f->small : f->small + SW_INLINE_BYTES;
}

/* As sw_small_put and what follows it do. */
static void come(sw_memo *memo, sw_meeting *m, const sw_comm_call *call) {
  sw_seat *seat = memo->seat;
  sw_front *f = sw_front_at(seat->group, m, seat->index);
  sw_memo_tell(memo, call->where, &m->slots[seat->index].member.call);
  if (memo->put_bytes) sw_copy_run(place(memo, f), call->in->data, memo->put_bytes);
  f->whole = true;
  f->signature = memo->signature;
  f->history = seat->history = sw_history_more(seat->history, memo->signature);
  f->ended = seat->told;
  atomic_store_explicit(&f->came, seat->next + 1, memory_order_release);
}

/* Have those who are needed come, alike, and with whole inputs? */
static bool look(const sw_memo *memo, const sw_meeting *m, unsigned number, unsigned *ended) {
  const sw_group *g = memo->seat->group;
  *ended = number;
  for (int64_t j = memo->needs.first; j < memo->needs.end; j++) {
    const sw_front *f = sw_front_at(g, m, j);
    if (atomic_load_explicit(&f->came, memory_order_acquire) != number + 1) return false;
    if (f->signature != memo->signature || !f->whole) return false;
    if (sw_number_is_below(f->ended, *ended)) *ended = f->ended;
  }
  return true;
}

static void make(const sw_memo *memo, const sw_meeting *m, const sw_comm_call *call) {
  const sw_group *g = memo->seat->group;
  const void *src[SW_SMALL_MEMBERS];
  int64_t own = memo->seat->index;
  for (int64_t j = memo->needs.first; j < memo->needs.end; j++) src[j] = place(memo, sw_front_at(g, m, j));
  src[own] = place(memo, sw_front_at(g, m, own));
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

/* Whom it will need in the next call, which others may be in already. */
static void look_ahead(const sw_memo *memo, unsigned number) {
  sw_group *g = memo->seat->group;
  const sw_meeting *m = sw_meeting_at(g, number);
  for (int64_t j = memo->needs.first; j < memo->needs.end; j++) __builtin_prefetch(sw_front_at(g, m, j));
}

sw_quick sw_quick_run(sw_threads *t, int64_t device, const sw_comm_call *call, sw_diag *d, sw_rc *rc) {
  sw_device *dev = &t->device[device];
  sw_memo *memo = memo_of(t, dev, call);
  if (!memo) return SW_QUICK_NOT;
  sw_seat *seat = memo->seat;
  unsigned number = seat->next, ended;
  sw_meeting *m = sw_meeting_at(seat->group, number);
  sw_threads_note_call(dev, call);
  memo->used = number;
  come(memo, m, call);
  seat->next++;
  seat->started++;
  if (sw_threads_somebody_waits(m)) wake_waiting(t, device);
  if (!look(memo, m, number, &ended)) return SW_QUICK_CAME;
  look_ahead(memo, number + 1);
  bool all = sw_members_are_all(memo->needs, seat->group);
  if (all && sw_number_is_below(seat->all_ended, ended)) seat->all_ended = ended;
  make(memo, m, call);
  sw_count(&dev->stat_bytes[call->coll->op], memo->recipe.bytes);
  *rc = sw_seat_leave(t, device, seat, number, !all, d);
  return SW_QUICK_ENDED;
}
