/* The short way of a small call that its device has made before, and makes again: nothing to find out, only to put the
 * input down, look at the inputs that are needed, and follow the recipe.
 *
 *   gather, not the root:  put 4 bytes, show the number, go on
 *   gather, the root:      the same, then copy 4 bytes from each, if all are there; else wait in the ordinary way
 */
#include "comm/threads/threads.h"

/* Where some members go ahead of others, lines are asked for so many calls early, half of them at a time. */
enum { AHEAD = 8 };

/* Where a call's fronts and inputs lie: member 0's, and from each to the next one's. */
typedef struct row {
  char *fronts, *inputs;
  size_t front_step, input_step;
} row;

static row row_of(const sw_memo *m, unsigned number) {
  const sw_group *g = m->seat->group;
  return (row){sw_row_at(g, &g->fronts, number), sw_row_at(g, m->small_in, number) + m->small_offset,
               g->fronts.member_step, m->small_in->member_step};
}

static sw_front *front(row r, int64_t member) { return (sw_front *)(void *)(r.fronts + (size_t)member * r.front_step); }

static char *input(row r, int64_t member) { return r.inputs + (size_t)member * r.input_step; }

/* The call can go the short way: the last memo tells all, nothing else is under way, and the slot is free. */
static sw_memo *memo_of(const sw_threads *t, const sw_device *dev, const sw_comm_call *call) {
  sw_seat *seat = dev->last_seat;
  if (!seat || (dev->silent && dev->silent != seat)) return NULL;
  sw_memo *memo = seat->last;
  if (!memo || !memo->quick || seat->ended != seat->next) return NULL;
  unsigned before = seat->next - sw_ring_of(seat->group);
  if (!sw_number_is_below(before, seat->all_ended) && !sw_seat_all_ended(seat, before)) return NULL;
  if (atomic_load_explicit(&t->failed, memory_order_relaxed)) return NULL;
  return sw_memo_holds(memo, call) ? memo : NULL;
}

/* As sw_small_put and what follows it do. */
static void come(sw_memo *memo, row r, unsigned number, const sw_comm_call *call) {
  sw_seat *seat = memo->seat;
  sw_front *own = front(r, seat->index);
  *sw_told_at(seat->group, number, seat->index) = (sw_told){memo, call->where};
  if (memo->put_bytes) sw_copy_run(input(r, seat->index), call->in->data, memo->put_bytes);
  own->whole = true;
  sw_seat_show(seat, own, memo, call->where, number);
}

/* Have those who are needed come, alike, and with whole inputs? *behind: none has ended less. */
static bool look(const sw_memo *memo, row r, unsigned number, unsigned *behind) {
  uint64_t own = memo->seat->history;
  *behind = 0;
  for (int64_t j = memo->needs.first; j < memo->needs.end; j++) {
    const sw_front *f = front(r, j);
    if (atomic_load_explicit(&f->came, memory_order_acquire) != number + 1) return false;
    if (f->history != own || !f->whole) return false;
    if (f->behind > *behind) *behind = f->behind;
  }
  return true;
}

static void reduce(const sw_memo *memo, row r, const sw_comm_call *call) {
  const void *src[SW_SMALL_MEMBERS];
  int64_t n = memo->seat->group->n;
  for (int64_t j = 0; j < n; j++) src[j] = input(r, j);
  sw_recipe_run(&memo->recipe, call, n, src);
}

static void make(const sw_memo *memo, row r, const sw_comm_call *call) {
  sw_buffer *out = call->out;
  if (!out) return;
  if (memo->reduces) {
    reduce(memo, r, call);
    return;
  }
  for (const sw_step *s = memo->recipe.step, *end = s + memo->recipe.n; s < end; s++)
    sw_copy_run((char *)out->data + s->dst, input(r, s->from) + s->src, (size_t)s->len);
  sw_recipe_give_valid(&memo->recipe, out);
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

/* A line that will be written: taken from who has it, also when it may be read here. */
static void take(char *line) {
#if defined(__x86_64__)
  __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
  __builtin_prefetch(line, 1);
#endif
}

/* Takes the lines where the device will put down its inputs from those who have read them last: of all calls up to
 * `last` whose slots are free. */
static void take_lines(const sw_memo *memo, unsigned number, unsigned last) {
  sw_seat *seat = memo->seat;
  unsigned free = seat->all_ended + sw_ring_of(seat->group) - 1;
  if (sw_number_is_below(free, last)) last = free;
  if (sw_number_is_below(seat->taken, number)) seat->taken = number;
  while (sw_number_is_below(seat->taken, last)) {
    row r = row_of(memo, ++seat->taken);
    take((char *)front(r, seat->index));
    for (size_t k = memo->small_in == &seat->group->fronts ? SW_LINE : 0; k < memo->put_bytes; k += SW_LINE)
      take(input(r, seat->index) + k);
  }
}

/* The same of the next call, by storing: that waits for the lines, but a member of a pair has nothing else to do. */
static void take_next(const sw_memo *memo, unsigned number) {
  sw_seat *seat = memo->seat;
  if (!sw_number_is_below(number + 1 - sw_ring_of(seat->group), seat->all_ended)) return;
  row r = row_of(memo, number + 1);
  front(r, seat->index)->whole = true;
  char *at = input(r, seat->index);
  for (size_t k = 0; k < memo->put_bytes; k += SW_LINE) at[k] = 0;
}

/* Asks for the inputs of all calls up to `last` that are there: asking for others would hold those up who fill them. */
static void ask_for_lines(const sw_memo *memo, unsigned number, unsigned last) {
  sw_seat *seat = memo->seat;
  sw_members needs = memo->needs;
  for (int64_t j = needs.first; j < needs.end; j++) {
    unsigned came = atomic_load_explicit(&seat->group->came[j].number, memory_order_relaxed) - 1;
    if (j != seat->index && sw_number_is_below(came, last)) last = came;
  }
  if (sw_number_is_below(seat->asked, number)) seat->asked = number;
  while (sw_number_is_below(seat->asked, last)) {
    row r = row_of(memo, ++seat->asked);
    for (int64_t j = needs.first; j < needs.end; j++) {
      __builtin_prefetch(front(r, j));
      if (memo->small_in != &seat->group->fronts) __builtin_prefetch(input(r, j));
    }
  }
}

static void prepare_later(const sw_memo *memo, unsigned number) {
  sw_seat *seat = memo->seat;
  if (memo->meets) {
    if (seat->group->n == 2) take_next(memo, number);
  } else if (number % (AHEAD / 2) == 0) {
    unsigned last = number + AHEAD;
    (void)sw_seat_all_ended(seat, last - sw_ring_of(seat->group));
    take_lines(memo, number, last);
    ask_for_lines(memo, number, last);
  }
}

/* The call is over for the device. False: the others should be told. */
static bool end(sw_device *dev, sw_seat *seat, bool early) {
  seat->ended = seat->next;
  if (early) seat->early = seat->next;
  dev->silent = seat;
  return seat->ended - seat->rung < SW_TELL_EACH;
}

sw_quick sw_quick_run(sw_threads *t, int64_t device, const sw_comm_call *call) {
  sw_device *dev = &t->device[device];
  sw_memo *memo = memo_of(t, dev, call);
  if (!memo) return SW_QUICK_NOT;
  sw_seat *seat = memo->seat;
  unsigned number = seat->next, behind;
  row r = row_of(memo, number);
  sw_flight *flight = sw_threads_note_call(dev, call);
  memo->used = number;
  come(memo, r, number, call);
  seat->next++;
  if (seat->next % SW_COME_EACH == 0) sw_seat_say_came(seat, seat->next);
  if (sw_threads_somebody_waits(seat->group, number)) wake_waiting(t, device);
  prepare_later(memo, number);
  if (!look(memo, r, number, &behind)) {
    seat->started++;
    sw_seat_say_came(seat, seat->next);
    return SW_QUICK_CAME;
  }
  bool all = sw_members_are_all(memo->needs, seat->group);
  if (all && sw_number_is_below(seat->all_ended, number - behind)) seat->all_ended = number - behind;
  make(memo, r, call);
  sw_count(&dev->stat_bytes[call->coll->op], memo->recipe.bytes);
  flight->ended = true;
  return end(dev, seat, !all) ? SW_QUICK_DONE : SW_QUICK_ENDED;
}
