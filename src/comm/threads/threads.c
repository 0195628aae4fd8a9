/* The thread engine: a call is a rendezvous of its group (see threads.h for the phases).
 *
 *   all_reduce on two devices:  A arrives and waits; B arrives, is last, compares signatures, opens the work;
 *   A and B reduce a half each into both results; who ends last says DONE; both return
 */
#include "comm/threads/threads.h"

#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Below this many bytes read and written by all, waking others costs more than doing their share. */
enum { SOLO_BYTES = 16384 };

static unsigned phase_word_of(unsigned number, unsigned phase) { return number << SW_PHASE_BITS | phase; }
static unsigned phase_of(unsigned word) { return word & ((1u << SW_PHASE_BITS) - 1); }

static unsigned word_at(const sw_rendezvous *m) { return atomic_load_explicit(&m->futex.word, memory_order_acquire); }

/* An older one's, or its own. */
unsigned sw_threads_open_word(const sw_rendezvous *m, unsigned number) {
  unsigned word = word_at(m), own = phase_word_of(number, SW_OPEN);
  return word >> SW_PHASE_BITS == own >> SW_PHASE_BITS ? own : word;
}

/* An older number's word is as good as OPEN. */
static unsigned phase_now(const sw_comm_request *r) {
  unsigned word = word_at(sw_rendezvous_of(r));
  return word == r->open ? SW_OPEN : phase_of(word);
}

/* From OPEN to another phase; false when somebody else was faster. */
static bool end_open(const sw_comm_request *r, unsigned phase) {
  sw_rendezvous *m = sw_rendezvous_of(r);
  unsigned open = r->open;
  bool mine = atomic_compare_exchange_strong(&m->futex.word, &open, phase_word_of(r->number, phase));
  if (mine && phase != SW_SOLO) {
    sw_futex_wake(&m->futex);
    sw_scheduler_notify();
  }
  return mine;
}

static sw_shared_call job_of(const sw_threads *t, const sw_comm_request *r) {
  sw_rendezvous *m = sw_rendezvous_of(r);
  return (sw_shared_call){.view = {.mesh = &t->base.mesh,
                                   .coll = r->call.coll,
                                   .n = r->rank->group->n,
                                   .members = &m->slots[0].member,
                                   .stride = sizeof m->slots[0]},
                          .src = m->src,
                          .dst = m->dst,
                          .model = &m->model};
}

/* --- arriving --- */

/* The call that a member has come to. */
static sw_comm_call member_call(const sw_comm_request *r, int64_t member) {
  const sw_thread_group *g = r->rank->group;
  if (!sw_arrival_at(g, r->number, member)->is_small) return sw_rendezvous_of(r)->slots[member].member.call;
  const sw_posted *told = sw_posted_at(g, r->number, member);
  sw_comm_call call;
  sw_cached_call_give(told->cached, told->where, &call);
  return call;
}

/* Of those who have come to the request's call: the first, and the first that has made other calls; false: none has. */
static bool find_differing(const sw_comm_request *r, int64_t *first, int64_t *other) {
  const sw_thread_group *g = r->rank->group;
  *first = -1;
  for (*other = 0; *other < g->n; ++*other) {
    const sw_arrival *f = sw_arrival_at(g, r->number, *other);
    if (atomic_load_explicit(&f->came, memory_order_acquire) != r->number + 1) continue;
    if (*first < 0) *first = *other;
    if (f->history != sw_arrival_at(g, r->number, *first)->history) return true;
  }
  return false;
}

/* Histories differ from the first call on that does: it may be an earlier one, of which nobody has told. */
static sw_rc compare_members(sw_threads *t, const sw_comm_request *last, sw_diag *d) {
  const sw_thread_group *g = last->rank->group;
  int64_t first, other;
  if (!find_differing(last, &first, &other)) return SW_OK;
  sw_comm_request at = *last, *r = &at;
  if (g->ended) r->number = sw_rank_ended_by_all(g); /* from there on slots are as they were */
  while (r->number != last->number && !find_differing(r, &first, &other)) r->number++;
  if (r->number == last->number) (void)find_differing(r, &first, &other);
  sw_comm_call a = member_call(r, first), b = member_call(r, other);
  const char *what = sw_signature_difference(&a, &b);
  sw_text text = {0};
  sw_text_printf(&text, "device %lld calls at position %lld '", (long long)g->devices[first], (long long)a.where);
  sw_call_print(&t->base.mesh, &a, &text);
  sw_text_printf(&text, "', device %lld of its group at position %lld '", (long long)g->devices[other],
                 (long long)b.where);
  sw_call_print(&t->base.mesh, &b, &text);
  sw_diag why = {0};
  (void)SW_FAIL(&why, SW_E_RESOURCE, SW_NOWHERE, "collective mismatch: %s'; they differ in %s (call %u of the group)",
                sw_text_str(&text), what ? what : "nothing visible", r->number + 1);
  sw_text_free(&text);
  return sw_threads_fail(t, &why, d);
}

/* A share that nobody has begun. */
static void try_share(sw_threads *t, const sw_comm_request *r, const sw_shared_call *job, int64_t i) {
  sw_rendezvous *m = sw_rendezvous_of(r);
  sw_comm_slot *slot = &m->slots[i];
  if (atomic_load_explicit(&slot->claimed, memory_order_relaxed) || atomic_exchange(&slot->claimed, true)) return;
  sw_diag why = {0};
  if (sw_portion_run(job, i, &slot->bytes, &why)) {
    atomic_store(&m->bad, true);
    (void)sw_threads_fail(t, &why, NULL);
  }
  sw_moves_valid(&job->view, i, slot->valid);
  if (atomic_fetch_add(&m->worked, 1) + 1 == job->view.n) sw_futex_set(&m->futex, phase_word_of(r->number, SW_DONE));
}

/* First those of this thread's devices, whose memory its core knows. */
static void do_shares(sw_threads *t, const sw_comm_request *r) {
  sw_shared_call job = job_of(t, r);
  const int64_t *devices = r->rank->group->devices;
  int64_t n = job.view.n, own = r->rank->index;
  for (int64_t k = 0; k < n; k++)
    if (k == 0 || sw_scheduler_runs_here(devices[(own + k) % n])) try_share(t, r, &job, (own + k) % n);
  for (int64_t k = 1; k < n; k++) try_share(t, r, &job, (own + k) % n);
}

/* By the last to arrive. */
static sw_rc open_work(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  sw_rendezvous *m = sw_rendezvous_of(r);
  if (!end_open(r, SW_SOLO)) return SW_OK;                    /* it has failed */
  atomic_store_explicit(&m->worked, 0, memory_order_relaxed); /* shown by the futex's word */
  atomic_store_explicit(&m->model, 0, memory_order_relaxed);
  sw_rc rc = compare_members(t, r, d);
  bool solo = !rc && sw_portions_cost(&r->call, r->rank->group->n) <= SOLO_BYTES;
  if (solo)
    do_shares(t, r);
  else
    sw_futex_set(&m->futex, phase_word_of(r->number, rc ? SW_FAILED : SW_SHARED));
  return SW_OK;
}

/* Members differ: one of those who see it tells, while the others' calls still lie there to be told of. */
static void tell_difference(sw_threads *t, const sw_comm_request *r) {
  if (!end_open(r, SW_SOLO)) return;
  (void)compare_members(t, r, NULL);
  sw_futex_set(&sw_rendezvous_of(r)->futex, phase_word_of(r->number, SW_FAILED));
}

/* Told by this member, or just being told by another. */
sw_rc sw_threads_differ(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  sw_rendezvous *m = sw_rendezvous_of(r);
  tell_difference(t, r);
  for (unsigned word = word_at(m); phase_of(word) == SW_SOLO; word = word_at(m)) sw_wait_for_work(t, &m->futex, word);
  return sw_threads_failure(t, d);
}

static void wake_small(sw_rendezvous *m) {
  atomic_fetch_add(&m->small_futex.word, 1);
  sw_futex_wake(&m->small_futex);
}

static bool needs_all(const sw_comm_request *r) { return sw_members_are_all(r->needs, r->rank->group); }

void sw_threads_wake_waiting(const sw_comm_request *r) {
  atomic_fetch_add(&r->rank->barrier, 1); /* of the last two to come, one sees the other */
  if (r->cached->feeds || sw_rank_look(r) != SW_LOOK_MISSING) wake_small(sw_rendezvous_of(r));
}

/* After filling the slot. Who waits now looks round then; who has only started the call may wait elsewhere before. */
static sw_rc come_to_small(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  if (sw_threads_somebody_waits(r->rank->group, r->number)) sw_threads_wake_waiting(r);
  if (!r->started) return SW_OK;
  atomic_fetch_add(&r->rank->barrier, 1);
  if (sw_rank_look(r) != SW_LOOK_DIFFER) return SW_OK;
  r->rank->started--;
  return sw_threads_differ(t, r, d);
}

static sw_rc stage(sw_threads *t, const sw_comm_request *r, sw_comm_slot *slot, sw_diag *d) {
  slot->staged.data = NULL;
  if (sw_portion_in_place(&r->call, r->rank->index)) return SW_OK;
  sw_room *spare = &t->device[r->device].spare;
  slot->room = *spare;
  *spare = (sw_room){0};
  return sw_call_stage(&r->call, &slot->room, &slot->staged, d);
}

/* Its memory serves the device's next call of that kind. */
static void unstage(sw_threads *t, const sw_comm_request *r) {
  sw_comm_slot *slot = &sw_rendezvous_of(r)->slots[r->rank->index];
  if (!slot->staged.data) return;
  sw_room *spare = &t->device[r->device].spare, other = *spare;
  *spare = slot->room;
  sw_mem_free(other.data);
  slot->room = (sw_room){0};
  slot->staged.data = NULL;
}

static void fill_slot(const sw_comm_request *r, sw_comm_slot *slot) {
  sw_rendezvous *m = sw_rendezvous_of(r);
  int64_t index = r->rank->index;
  slot->member.call = r->call;
  if (slot->staged.data) slot->member.call.in = &slot->staged;
  atomic_store_explicit(&slot->claimed, false, memory_order_relaxed);
  m->src[index] = slot->member.call.in ? slot->member.call.in->data : NULL;
  m->dst[index] = r->call.out ? r->call.out->data : NULL;
}

static sw_rc arrive(sw_threads *t, sw_comm_request *r, sw_diag *d) {
  sw_rank *rank = r->rank;
  sw_thread_group *g = rank->group;
  if (rank->started >= SW_COMM_MAX_STARTED)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "device %lld at position %lld starts a call while %d of its group are started",
                         (long long)r->device, (long long)r->call.where, rank->started);
  r->number = rank->next;
  r->needs = r->cached->needs;
  SW_TRY(sw_rank_wait(t, r, d));
  sw_rendezvous *m = sw_rendezvous_of(r);
  sw_comm_slot *slot = &m->slots[rank->index];
  r->open = sw_threads_open_word(m, r->number);
  if (!r->cached->small) SW_TRY(stage(t, r, slot, d));
  rank->next++;
  rank->started++;
  if (r->cached->small)
    sw_small_put(r);
  else
    fill_slot(r, slot);
  sw_rank_show(rank, sw_arrival_at(g, r->number, rank->index), r->cached, r->call.where, r->number);
  if (g->came) sw_rank_say_came(rank, rank->next);
  if (r->cached->small) return come_to_small(t, r, d);
  atomic_fetch_add(&rank->barrier, 1);
  if (g->ended && sw_rank_look(r) == SW_LOOK_DIFFER) tell_difference(t, r);
  if ((atomic_fetch_add(&m->arrived, 1) + 1) % g->n == 0) return open_work(t, r, d);
  return SW_OK;
}

/* --- ending --- */

static sw_rc leave_rendezvous(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  unstage(t, r);
  return sw_rank_leave(t, r->device, r->rank, r->number, false, d);
}

void sw_threads_leave_undefined(const sw_threads *t, sw_buffer *out) {
  if (!t->base.options.keep_undefined) sw_buffer_poison(out);
}

/* Reads nothing of other members: they may have returned. */
static void give_result(sw_threads *t, const sw_comm_request *r) {
  sw_shared_call job = job_of(t, r);
  int64_t index = r->rank->index;
  sw_buffer *out = r->call.out;
  if (out && r->call.coll->op != SW_COLL_BARRIER) {
    memcpy(out->valid, sw_rendezvous_of(r)->slots[index].valid, sizeof out->valid);
    if (!sw_moves_defined(&job.view, index)) sw_threads_leave_undefined(t, out);
  }
  sw_count(&t->device[r->device].stat_bytes[r->call.coll->op], sw_rendezvous_of(r)->slots[index].bytes);
}

/* A failed run leaves an open rendezvous: nobody will touch this device's buffers any more. False: too late, the work
 * has begun. */
static bool withdraw(sw_threads *t, const sw_comm_request *r) {
  (void)end_open(r, SW_FAILED);
  if (phase_now(r) != SW_FAILED) return false;
  unstage(t, r);
  r->rank->started--;
  return true;
}

/* Until all members have come, and nobody works alone; fails when the call is off. */
static sw_rc wait_for_members(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  sw_rendezvous *m = sw_rendezvous_of(r);
  sw_waiting w = {.kind = SW_WAIT_MEMBERS,
                  .futex = &m->futex,
                  .old = r->open,
                  .group = r->rank->group,
                  .number = r->number,
                  .needs = {0, r->rank->group->n},
                  .call = &r->call};
  sw_rc rc = SW_OK;
  if (phase_now(r) == SW_OPEN) rc = sw_wait(t, r->device, &w, d);
  if (rc && withdraw(t, r)) return rc;
  for (unsigned word = word_at(m); phase_of(word) == SW_SOLO; word = word_at(m)) sw_wait_for_work(t, &m->futex, word);
  return phase_now(r) == SW_FAILED && withdraw(t, r) ? sw_threads_failure(t, d) : SW_OK;
}

static void wait_for_work(sw_threads *t, const sw_comm_request *r) {
  sw_rendezvous *m = sw_rendezvous_of(r);
  if (phase_now(r) == SW_SHARED) do_shares(t, r);
  for (;;) {
    unsigned word = word_at(m);
    if (phase_of(word) == SW_DONE || phase_of(word) == SW_FAILED) return;
    sw_wait_for_work(t, &m->futex, word);
  }
}

static bool slots_are_ready(const void *of) { return sw_rank_all_needed(((const sw_waiting *)of)->request); }

static sw_rc sleep_until_come(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  sw_rendezvous *m = sw_rendezvous_of(r);
  sw_waiting w = {.kind = SW_WAIT_MEMBERS,
                  .futex = &m->small_futex,
                  .group = r->rank->group,
                  .number = r->number,
                  .needs = r->needs,
                  .call = &r->call,
                  .request = r,
                  .ready = slots_are_ready};
  for (;;) {
    w.old = atomic_load(&m->small_futex.word);
    if (sw_rank_all_needed(r)) return SW_OK;
    SW_TRY(sw_wait(t, r->device, &w, d));
  }
}

/* Until the members that are needed have come, alike or not. */
static sw_rc wait_until_come(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  if (sw_scheduler_runs_caller()) return sleep_until_come(t, r, d); /* it looks itself, when it has its turn */
  sw_thread_group *g = r->rank->group;
  atomic_int *waiting = &g->waiting[sw_ring_index(g, r->number)];
  atomic_fetch_add(waiting, 1);
  sw_fence_heavy();
  sw_rc rc = sleep_until_come(t, r, d);
  atomic_fetch_sub(waiting, 1);
  return rc;
}

/* Until the slots that are needed are filled alike. Nobody uses this device's buffers, so it may go at any time. */
static sw_rc wait_for_slots(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  if (t->device[r->device].silent != r->rank) SW_TRY(sw_rank_tell(t, r->device, d)); /* somebody may wait there */
  sw_look look = sw_rank_look_long(t, r);
  if (look == SW_LOOK_MISSING) {
    SW_TRY(wait_until_come(t, r, d));
    look = sw_rank_look_needed(r);
  }
  return look == SW_LOOK_DIFFER ? sw_threads_differ(t, r, d) : SW_OK;
}

static sw_rc end_small_call(sw_threads *t, sw_comm_request *r, sw_diag *d) {
  sw_rc rc = wait_for_slots(t, r, d);
  if (!rc) rc = sw_small_make(t, r, d);
  if (rc) r->rank->started--;
  if (rc) return rc;
  return sw_rank_leave(t, r->device, r->rank, r->number, !needs_all(r), d);
}

static sw_rc end_call(sw_threads *t, sw_comm_request *r, sw_diag *d) {
  if (r->cached->small) return end_small_call(t, r, d);
  SW_TRY(wait_for_members(t, r, d));
  wait_for_work(t, r);
  bool bad = atomic_load(&sw_rendezvous_of(r)->bad);
  if (!bad) give_result(t, r);
  SW_TRY(leave_rendezvous(t, r, d));
  return bad ? sw_threads_failure(t, d) : SW_OK;
}

/* --- calls --- */

/* Wakes who sleeps in the last group, for nothing. */
static void wake_idly(sw_threads *t, int64_t device) {
  sw_rank *rank = t->device[device].last_rank;
  for (unsigned i = 0; rank && i < sw_ring_of(rank->group); i++) {
    sw_futex_wake(&rank->group->ring[i].futex);
    sw_futex_wake(&rank->group->ring[i].small_futex);
  }
  sw_wake_all(t);
}

static void jitter(sw_threads *t, int64_t device) {
  if (!t->base.options.jitter_seed) return;
  sw_rng *rng = &t->device[device].rng;
  int64_t kind = sw_rng_below(rng, 8);
  if (kind == 0) wake_idly(t, device);
  if (kind < 3) return;
  if (kind < 6) {
    (void)sched_yield();
    return;
  }
  struct timespec pause = {.tv_nsec = (long)sw_rng_below(rng, 100000)};
  (void)nanosleep(&pause, NULL);
}

/* The first half of any call. */
static sw_rc begin_call(sw_threads *t, sw_comm_request *r, sw_diag *d) {
  sw_thread_device *dev = &t->device[r->device];
  SW_TRY(sw_threads_failure(t, d));
  jitter(t, r->device);
  r->cached = sw_cached_call_find(dev, &r->call);
  if (r->cached) {
    r->rank = r->cached->rank;
    (void)sw_threads_record_call(dev, &r->call);
    return arrive(t, r, d);
  }
  SW_TRY(sw_call_check(&t->base.mesh, r->device, &r->call, d));
  (void)sw_threads_record_call(dev, &r->call);
  sw_coll_op op = r->call.coll->op;
  if (sw_coll_flags(op) & SW_COLL_LOCAL) return sw_call_run_local(&t->base.mesh, r->device, &r->call, d);
  if (op == SW_COLL_SEND) return sw_mail_send(t, r->device, &r->call, d);
  if (op == SW_COLL_RECV) return SW_OK;
  SW_TRY(sw_rank_find(t, r->device, r->call.coll, &r->rank, d));
  SW_TRY(sw_cached_call_make(r->rank, &r->call, &r->cached, d));
  return arrive(t, r, d);
}

static sw_rc finish_call(sw_threads *t, sw_comm_request *r, sw_diag *d) {
  sw_rc rc = SW_OK;
  if (r->rank)
    rc = end_call(t, r, d);
  else if (r->call.coll->op == SW_COLL_RECV)
    rc = sw_mail_receive(t, r->device, &r->call, d);
  return rc;
}

/* Whatever fails in a call fails the run: the others would wait for this device. */
static sw_rc fail_run(sw_threads *t, int64_t device, const sw_comm_call *call, sw_rc rc, sw_diag *local, sw_diag *d) {
  if (atomic_load(&t->failed)) return sw_threads_failure(t, d);
  if (!local->rc) (void)SW_FAIL(local, rc, SW_NOWHERE, "out of memory");
  sw_diag_note(local, "in a call of device %lld at position %lld", (long long)device, (long long)call->where);
  return sw_threads_fail(t, local, d);
}

/* Field by field: what arriving sets is not worth clearing. */
static void init_request(sw_comm_request *r, int64_t device, const sw_comm_call *call, bool started) {
  r->next = NULL;
  r->device = device;
  r->call = *call;
  r->rank = NULL;
  r->cached = NULL;
  r->started = started;
}

/* What the fast path has left to be done of a call, perhaps all. */
static sw_rc go_on(sw_threads *t, int64_t device, const sw_comm_call *call, sw_fast_path fast_path, sw_diag *d) {
  if (fast_path == SW_FAST_PATH_ENDED) return sw_rank_tell(t, device, d);
  sw_comm_request r;
  init_request(&r, device, call, false);
  if (fast_path == SW_FAST_PATH_CAME)
    sw_fast_path_request(t, &r);
  else
    SW_TRY(begin_call(t, &r, d));
  return finish_call(t, &r, d);
}

static sw_rc run_on(sw_threads *t, int64_t device, const sw_comm_call *call, sw_fast_path fast_path, sw_diag *d) {
  sw_diag local;
  local.rc = SW_OK;
  sw_rc rc = go_on(t, device, call, fast_path, &local);
  if (rc) return fail_run(t, device, call, rc, &local, d);
  t->device[device].flight[(t->device[device].calls - 1) % SW_FLIGHT_CALLS].ended = true;
  return SW_OK;
}

static sw_rc threads_run(sw_comm *c, int64_t device, const sw_comm_call *call, sw_diag *d) {
  sw_threads *t = sw_threads_of(c);
  sw_fast_path fast_path = sw_fast_path_run(t, device, call);
  return fast_path == SW_FAST_PATH_DONE ? SW_OK : run_on(t, device, call, fast_path, d);
}

static sw_rc threads_start(sw_comm *c, int64_t device, const sw_comm_call *call, sw_comm_request **out, sw_diag *d) {
  sw_threads *t = sw_threads_of(c);
  sw_diag local = {0};
  sw_comm_request *r = sw_mem_alloc(1, sizeof *r, &local);
  if (!r) return fail_run(t, device, call, SW_E_RESOURCE, &local, d);
  init_request(r, device, call, true);
  r->next = t->device[device].requests;
  sw_rc rc = begin_call(t, r, &local);
  if (rc) {
    sw_mem_free(r);
    return fail_run(t, device, call, rc, &local, d);
  }
  t->device[device].requests = r;
  *out = r;
  return SW_OK;
}

static void forget_request(sw_threads *t, sw_comm_request *r) {
  sw_comm_request **p = &t->device[r->device].requests;
  while (*p != r) p = &(*p)->next;
  *p = r->next;
  sw_mem_free(r);
}

static sw_rc threads_wait(sw_comm *c, sw_comm_request *r, sw_diag *d) {
  sw_threads *t = sw_threads_of(c);
  sw_diag local = {0};
  sw_rc rc = finish_call(t, r, &local);
  if (rc) rc = fail_run(t, r->device, &r->call, rc, &local, d);
  forget_request(t, r);
  return rc;
}

/* A call that its device started and will not wait for: off if it has not begun, else over when the others are done
 * with this device's buffers. */
static void abandon(sw_threads *t, sw_comm_request *r) {
  sw_diag why = {0};
  (void)SW_FAIL(&why, SW_E_RESOURCE, SW_NOWHERE, "device %lld has ended without waiting for its call at position %lld",
                (long long)r->device, (long long)r->call.where);
  (void)sw_threads_fail(t, &why, NULL);
  if (r->rank && r->cached->small) {
    r->rank->started--;
  } else if (r->rank && !withdraw(t, r)) {
    wait_for_work(t, r);
    (void)leave_rendezvous(t, r, NULL);
  }
  forget_request(t, r);
}

/* Until everybody has come to the calls that the member has left early. Whether they came alike, those who came later
 * look: their slots may be filled anew already. */
static sw_rc finish_rank(sw_threads *t, int64_t device, sw_rank *rank, sw_diag *d) {
  if (!rank->early) return SW_OK;
  sw_comm_request r = {.device = device, .rank = rank, .number = rank->early - 1, .needs = {0, rank->group->n}};
  r.call = member_call(&r, rank->index);
  SW_TRY(wait_until_come(t, &r, d));
  rank->early = 0;
  return sw_threads_failure(t, d);
}

static sw_rc finish_all_ranks(sw_threads *t, int64_t device, sw_diag *d) {
  sw_thread_device *dev = &t->device[device];
  SW_TRY(sw_threads_failure(t, d));
  SW_TRY(sw_rank_tell(t, device, d));
  for (size_t i = 0; i < dev->ranks.n; i++) SW_TRY(finish_rank(t, device, dev->ranks.at[i], d));
  return SW_OK;
}

/* Nothing is sent to it any more. False: it had left before. */
static bool say_that_it_leaves(sw_thread_device *dev, sw_rc rc) {
  pthread_mutex_lock(&dev->lock);
  bool first = !dev->left;
  dev->left = true;
  dev->left_rc = rc;
  dev->epoch++;
  pthread_mutex_unlock(&dev->lock);
  return first;
}

static sw_rc threads_leave(sw_comm *c, int64_t device, sw_rc rc, const char *why, sw_diag *d) {
  sw_threads *t = sw_threads_of(c);
  sw_thread_device *dev = &t->device[device];
  if (rc) {
    sw_diag diag = {0};
    (void)SW_FAIL(&diag, rc == SW_E_CANCELLED ? rc : SW_E_RESOURCE, SW_NOWHERE, "device %lld failed: %s",
                  (long long)device, why ? why : sw_rc_text(rc));
    (void)sw_threads_fail(t, &diag, NULL);
  }
  while (dev->requests) abandon(t, dev->requests);
  if (!rc) rc = finish_all_ranks(t, device, d);
  if (say_that_it_leaves(dev, rc)) atomic_fetch_add(&t->gone, 1);
  if (!rc) rc = sw_mail_check_read(t, device, d);
  if (!atomic_load(&t->failed)) sw_wake_all(t); /* a failure has woken them */
  return rc;
}

static void threads_get_stats(const sw_comm *c, int64_t device, sw_comm_stats *out) {
  const sw_thread_device *dev = &((const sw_threads *)(const void *)c)->device[device];
  for (int op = 0; op < SW_COLL_COUNT; op++) {
    out->calls[op] = atomic_load_explicit(&dev->stat_calls[op], memory_order_relaxed);
    out->bytes_received[op] = atomic_load_explicit(&dev->stat_bytes[op], memory_order_relaxed);
  }
}

static void report_device(const sw_thread_device *dev, int64_t device, sw_text *out) {
  const char *state = !dev->left ? "running" : dev->left_rc ? "failed" : "ended";
  sw_text_printf(out, "device %lld: %s, %llu calls", (long long)device, state, (unsigned long long)dev->calls);
  uint64_t shown = dev->calls < SW_FLIGHT_CALLS ? dev->calls : SW_FLIGHT_CALLS;
  for (uint64_t i = dev->calls - shown; i < dev->calls; i++) {
    const sw_flight *f = &dev->flight[i % SW_FLIGHT_CALLS];
    sw_text_printf(out, "%s %s@%lld%s", i == dev->calls - shown ? ":" : ",", sw_coll_text(f->op), (long long)f->where,
                   f->ended ? "" : " (not ended)");
  }
  sw_text_puts(out, "\n");
}

static void threads_report(const sw_comm *c, sw_text *out) {
  const sw_threads *t = (const sw_threads *)(const void *)c;
  for (int64_t i = 0; i < c->devices; i++) report_device(&t->device[i], i, out);
}

static void threads_destroy(sw_comm *c) {
  sw_threads *t = sw_threads_of(c);
  if (t->device) {
    sw_groups_free(t);
    for (int64_t i = 0; i < c->devices; i++) {
      while (t->device[i].requests) forget_request(t, t->device[i].requests);
      sw_mail_free(&t->device[i]);
      sw_mem_free(t->device[i].spare.data);
      pthread_mutex_destroy(&t->device[i].lock);
    }
  }
  pthread_mutex_destroy(&t->lock);
  pthread_mutex_destroy(&t->detector);
  sw_mem_free(t->seen_waiting);
  sw_mem_free(t->seen_epoch);
  sw_mem_free(t->seen_left);
  sw_mem_free(t->seen_live);
  sw_mem_free(t->ids);
  sw_mem_free(t->device);
  sw_mem_free(t);
}

static const sw_comm_engine kThreads = {
    .name = "threads",
    .destroy = threads_destroy,
    .run = threads_run,
    .start = threads_start,
    .wait = threads_wait,
    .leave = threads_leave,
    .get_stats = threads_get_stats,
    .report = threads_report,
};

static sw_rc allocate_seen(sw_threads *t, sw_diag *d) {
  int64_t n = t->base.devices;
  SW_MEM_NEW(t->seen_waiting, n, d);
  SW_MEM_NEW(t->seen_epoch, n, d);
  SW_MEM_NEW(t->seen_left, n, d);
  SW_MEM_NEW(t->seen_live, n, d);
  if (t->base.mesh.device_ids) {
    SW_MEM_NEW(t->ids, n, d);
    memcpy(t->ids, t->base.mesh.device_ids, (size_t)n * sizeof *t->ids);
    t->base.mesh.device_ids = t->ids;
  }
  SW_MEM_NEW(t->device, n, d);
  for (int64_t i = 0; i < n; i++) {
    sw_thread_device *dev = &t->device[i];
    pthread_mutex_init(&dev->lock, NULL);
    dev->mail_end = &dev->mail;
    sw_rng_seed(&dev->rng, sw_hash_u64((uint64_t)i, t->base.options.jitter_seed));
  }
  return SW_OK;
}

sw_rc sw_comm_create_threads(const sw_mesh *mesh, const sw_comm_options *o, sw_comm **out, sw_diag *d) {
  SW_TRY(sw_mesh_verify(mesh, true, d));
  sw_fence_init();
  sw_threads *t;
  SW_MEM_NEW(t, 1, d);
  t->base = (sw_comm){.engine = &kThreads, .mesh = *mesh, .devices = sw_mesh_devices(mesh)};
  if (o) t->base.options = *o;
  if (!(t->base.options.timeout_s > 0)) t->base.options.timeout_s = 30;
  t->spin = t->base.devices <= sysconf(_SC_NPROCESSORS_ONLN) ? 20000 : 0;
  pthread_mutex_init(&t->lock, NULL);
  pthread_mutex_init(&t->detector, NULL);
  sw_rc rc = allocate_seen(t, d);
  if (rc) {
    threads_destroy(&t->base);
    return rc;
  }
  *out = &t->base;
  return SW_OK;
}
