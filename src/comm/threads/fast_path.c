/* The fast path of a small call that its device has made before, and makes again: nothing to find out, only to put the
 * input down, look at the inputs that are needed, and follow the schedule.
 *
 *   gather, not the root:  put 4 bytes, show the number, go on
 *   gather, the root:      the same, then copy 4 bytes from each, if all are there; else wait in the ordinary way
 */
#include "comm/threads/threads.h"

/* Where some members go ahead of others, lines are asked for so many calls early, half of them at a time. */
enum { AHEAD = 8 };

/* Where a call's arrivals and inputs lie: member 0's, and from each to the next one's. */
typedef struct row {
  char *arrivals, *inputs;
  size_t arrival_step, input_step;
} row;

static row fast_row_of(const sw_cached_call *m, unsigned number) {
  const sw_thread_group *g = m->rank->group;
  return (row){sw_row_at(g, &g->arrivals, number), sw_row_at(g, m->small_in, number) + m->small_offset,
               g->arrivals.member_step, m->small_in->member_step};
}

static sw_arrival *arrival(row r, int64_t member) {
  return (sw_arrival *)(void *)(r.arrivals + (size_t)member * r.arrival_step);
}

static char *input_of_member(row r, int64_t member) { return r.inputs + (size_t)member * r.input_step; }

/* The call can take the fast path: the call cached last tells all, nothing else is under way, and the slot is free. */
static sw_cached_call *cached_call_of(const sw_threads *t, const sw_thread_device *dev, const sw_comm_call *call) {
  sw_rank *rank = dev->last_rank;
  if (!rank || (dev->silent && dev->silent != rank)) return NULL;
  sw_cached_call *cached = rank->last;
  if (!cached || !cached->fast_path || rank->ended != rank->next) return NULL;
  unsigned before = rank->next - sw_ring_of(rank->group);
  if (!sw_number_is_below(before, rank->all_ended) && !sw_rank_all_ended(rank, before)) return NULL;
  if (atomic_load_explicit(&t->failed, memory_order_relaxed)) return NULL;
  return sw_cached_call_holds(cached, call) ? cached : NULL;
}

/* As sw_small_put and what follows it do. */
static void come(sw_cached_call *cached, row r, unsigned number, const sw_comm_call *call) {
  sw_rank *rank = cached->rank;
  sw_arrival *own = arrival(r, rank->index);
  *sw_posted_at(rank->group, number, rank->index) = (sw_posted){cached, call->where};
  if (cached->put_bytes) sw_copy_run(input_of_member(r, rank->index), call->in->data, cached->put_bytes);
  own->whole = true;
  sw_rank_show(rank, own, cached, call->where, number);
}

/* Have those who are needed come, alike, and with whole inputs? *behind: none has ended less. */
static bool have_all_come(const sw_cached_call *cached, row r, unsigned number, unsigned *behind) {
  uint64_t own = cached->rank->history;
  *behind = 0;
  for (int64_t j = cached->needs.first; j < cached->needs.end; j++) {
    const sw_arrival *f = arrival(r, j);
    if (atomic_load_explicit(&f->came, memory_order_acquire) != number + 1) return false;
    if (f->history != own || !f->whole) return false;
    if (f->behind > *behind) *behind = f->behind;
  }
  return true;
}

static void reduce_inputs(const sw_cached_call *cached, row r, const sw_comm_call *call) {
  const void *src[SW_SMALL_MEMBERS];
  int64_t n = cached->rank->group->n;
  for (int64_t j = 0; j < n; j++) src[j] = input_of_member(r, j);
  sw_cached_moves_run(&cached->schedule, call, n, src);
}

static void make_output(const sw_cached_call *cached, row r, const sw_comm_call *call) {
  sw_buffer *out = call->out;
  if (!out) return;
  if (cached->reduces) {
    reduce_inputs(cached, r, call);
    return;
  }
  for (const sw_short_transfer *s = cached->schedule.step, *end = s + cached->schedule.n; s < end; s++)
    sw_copy_run((char *)out->data + s->dst, input_of_member(r, s->from) + s->src, (size_t)s->len);
  sw_cached_moves_give_valid(&cached->schedule, out);
}

void sw_fast_path_request(sw_threads *t, sw_comm_request *r) {
  r->rank = t->device[r->device].last_rank;
  r->cached = r->rank->last;
  r->number = r->rank->next - 1;
  r->needs = r->cached->needs;
  r->open = sw_threads_open_word(sw_rendezvous_of(r), r->number);
}

static void wake_waiting(sw_threads *t, int64_t device) {
  sw_comm_request r = {.device = device};
  sw_fast_path_request(t, &r);
  sw_threads_wake_waiting(&r);
}

/* A line that will be written: taken from who has it, also when it may be read here. */
static void prefetch_line(char *line) {
#if defined(__x86_64__)
  __asm__ volatile("prefetchw %0" : : "m"(*line));
#else
  __builtin_prefetch(line, 1);
#endif
}

/* Takes the lines where the device will put down its inputs from those who have read them last: of all calls up to
 * `last` whose slots are free. */
static void take_lines(const sw_cached_call *cached, unsigned number, unsigned last) {
  sw_rank *rank = cached->rank;
  unsigned free = rank->all_ended + sw_ring_of(rank->group) - 1;
  if (sw_number_is_below(free, last)) last = free;
  if (sw_number_is_below(rank->taken, number)) rank->taken = number;
  while (sw_number_is_below(rank->taken, last)) {
    row r = fast_row_of(cached, ++rank->taken);
    prefetch_line((char *)arrival(r, rank->index));
    for (size_t k = cached->small_in == &rank->group->arrivals ? SW_LINE : 0; k < cached->put_bytes; k += SW_LINE)
      prefetch_line(input_of_member(r, rank->index) + k);
  }
}

/* The same of the next call, by storing: that waits for the lines, but a member of a pair has nothing else to do. */
static void take_next_lines(const sw_cached_call *cached, unsigned number) {
  sw_rank *rank = cached->rank;
  if (!sw_number_is_below(number + 1 - sw_ring_of(rank->group), rank->all_ended)) return;
  row r = fast_row_of(cached, number + 1);
  arrival(r, rank->index)->whole = true;
  char *at = input_of_member(r, rank->index);
  for (size_t k = 0; k < cached->put_bytes; k += SW_LINE) at[k] = 0;
}

/* Asks for the inputs of all calls up to `last` that are there: asking for others would hold those up who fill them. */
static void ask_for_lines(const sw_cached_call *cached, unsigned number, unsigned last) {
  sw_rank *rank = cached->rank;
  sw_members needs = cached->needs;
  for (int64_t j = needs.first; j < needs.end; j++) {
    unsigned came = atomic_load_explicit(&rank->group->came[j].number, memory_order_relaxed) - 1;
    if (j != rank->index && sw_number_is_below(came, last)) last = came;
  }
  if (sw_number_is_below(rank->asked, number)) rank->asked = number;
  while (sw_number_is_below(rank->asked, last)) {
    row r = fast_row_of(cached, ++rank->asked);
    for (int64_t j = needs.first; j < needs.end; j++) {
      __builtin_prefetch(arrival(r, j));
      if (cached->small_in != &rank->group->arrivals) __builtin_prefetch(input_of_member(r, j));
    }
  }
}

static void prepare_later(const sw_cached_call *cached, unsigned number) {
  sw_rank *rank = cached->rank;
  if (cached->meets) {
    if (rank->group->n == 2) take_next_lines(cached, number);
  } else if (number % (AHEAD / 2) == 0) {
    unsigned last = number + AHEAD;
    (void)sw_rank_all_ended(rank, last - sw_ring_of(rank->group));
    take_lines(cached, number, last);
    ask_for_lines(cached, number, last);
  }
}

/* The call is over for the device. False: the others should be told. */
static bool end_fast_call(sw_thread_device *dev, sw_rank *rank, bool early) {
  rank->ended = rank->next;
  if (early) rank->early = rank->next;
  dev->silent = rank;
  return rank->ended - rank->rung < SW_TELL_EACH;
}

sw_fast_path sw_fast_path_run(sw_threads *t, int64_t device, const sw_comm_call *call) {
  sw_thread_device *dev = &t->device[device];
  sw_cached_call *cached = cached_call_of(t, dev, call);
  if (!cached) return SW_FAST_PATH_NOT;
  sw_rank *rank = cached->rank;
  unsigned number = rank->next, behind;
  row r = fast_row_of(cached, number);
  sw_flight *flight = sw_threads_record_call(dev, call);
  cached->used = number;
  come(cached, r, number, call);
  rank->next++;
  if (rank->next % SW_COME_EACH == 0) sw_rank_say_came(rank, rank->next);
  if (sw_threads_somebody_waits(rank->group, number)) wake_waiting(t, device);
  prepare_later(cached, number);
  if (!have_all_come(cached, r, number, &behind)) {
    rank->started++;
    sw_rank_say_came(rank, rank->next);
    return SW_FAST_PATH_CAME;
  }
  bool all = sw_members_are_all(cached->needs, rank->group);
  if (all && sw_number_is_below(rank->all_ended, number - behind)) rank->all_ended = number - behind;
  make_output(cached, r, call);
  sw_count(&dev->stat_bytes[call->coll->op], cached->schedule.bytes);
  flight->ended = true;
  return end_fast_call(dev, rank, !all) ? SW_FAST_PATH_DONE : SW_FAST_PATH_ENDED;
}
