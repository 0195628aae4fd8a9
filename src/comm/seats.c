/* Seats: a member's place in the meetings of its group, call after call.
 *
 *   ring of 4: call 7 uses the slots of call 3, so it waits until every member has ended call 3; a member that comes to
 *   call 6 having ended all calls below 6 says so, and then nobody needs to ask before call 9
 */
#include "comm/threads.h"
#include "comm/turns.h"

/* Looks at the others' slots before a device that has its thread for itself gives it back. */
enum { ALONE_LOOKS = 2000 };

/* Numbers wrap. */
static bool is_below(unsigned a, unsigned b) { return (int)(a - b) < 0; }

/* What everybody in a group of few has said. */
static unsigned ended_by_all(const sw_group *g) {
  unsigned least = atomic_load(&g->ended[0].number);
  for (int64_t j = 1; j < g->n; j++) {
    unsigned number = atomic_load(&g->ended[j].number);
    if (is_below(number, least)) least = number;
  }
  return least;
}

/* Has everybody ended the call that used the meeting before? */
static bool is_free(const sw_comm_request *r) {
  sw_seat *seat = r->seat;
  const sw_group *g = seat->group;
  unsigned before = r->number - SW_RING;
  if (!g->ended) {
    long long left = atomic_load(&sw_meeting_of(r)->left);
    return left % g->n == 0 && ((unsigned)(left / g->n) - r->number / SW_RING) << 2 == 0;
  }
  if (is_below(before, seat->all_ended)) return true;
  seat->all_ended = ended_by_all(g);
  return is_below(before, seat->all_ended);
}

static sw_rc wait_until_free(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  sw_group *g = r->seat->group;
  for (;;) {
    unsigned word = atomic_load(&g->seat_gate.word);
    if (is_free(r)) return SW_OK;
    sw_waiting w = {.kind = SW_WAIT_SEAT, .gate = &g->seat_gate, .old = word, .call = &r->call};
    SW_TRY(sw_wait(t, r->device, &w, d));
  }
}

sw_rc sw_seat_wait(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  if (is_free(r)) return SW_OK;
  sw_seat *seat = r->seat;
  if (r->number - seat->ended >= SW_RING)
    return SW_FAIL_INPUT(d, SW_NOWHERE,
                         "device %lld at position %lld makes the %dth call since one of its group that it "
                         "has started and not waited for; expected it to wait",
                         (long long)r->device, (long long)r->call.where, SW_RING);
  atomic_fetch_add(&seat->group->seat_waiters, 1);
  sw_rc rc = wait_until_free(t, r, d);
  atomic_fetch_sub(&seat->group->seat_waiters, 1);
  return rc;
}

void sw_seat_leave(const sw_comm_request *r) {
  sw_seat *seat = r->seat;
  sw_group *g = seat->group;
  seat->started--;
  seat->ended_more |= 1u << (r->number - seat->ended);
  for (; seat->ended_more & 1; seat->ended_more >>= 1) seat->ended++;
  if (g->ended)
    atomic_store(&g->ended[seat->index].number, seat->ended);
  else
    atomic_fetch_add(&sw_meeting_of(r)->left, 1);
  if (!atomic_load(&g->seat_waiters)) return;
  atomic_fetch_add(&g->seat_gate.word, 1);
  sw_gate_wake(&g->seat_gate);
  sw_turns_bell();
}

sw_look sw_seat_look(const sw_comm_request *r) {
  const sw_slot *slots = sw_meeting_of(r)->slots;
  unsigned ended = r->number;
  bool missing = false, differ = false;
  for (int64_t j = 0; j < r->seat->group->n; j++) {
    if (atomic_load(&slots[j].came) != r->number + 1) {
      missing = true;
      continue;
    }
    differ = differ || slots[j].signature != r->signature;
    if (is_below(slots[j].ended, ended)) ended = slots[j].ended;
  }
  if (differ) return SW_LOOK_DIFFER;
  if (missing) return SW_LOOK_MISSING;
  if (is_below(r->seat->all_ended, ended)) r->seat->all_ended = ended;
  return SW_LOOK_ALIKE;
}

sw_look sw_seat_look_long(const sw_threads *t, const sw_comm_request *r) {
  int looks = !sw_turns_here() ? t->spin : sw_turns_alone() ? ALONE_LOOKS : 0;
  for (int i = 0; i < looks; i++) {
    sw_look look = sw_seat_look(r);
    if (look != SW_LOOK_MISSING) return look;
    sw_gate_relax();
  }
  return sw_seat_look(r);
}
