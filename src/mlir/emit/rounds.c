/* Edges of a bipartite graph, of senders and receivers, in as few colours as its greatest degree. A message whose
 * sender is free in round a and whose receiver is free in round b, and not the other way round, gets a: along the path
 * of messages that leaves the receiver in round a, goes on in b, then a, .. the two rounds are exchanged first. The
 * path never comes to the sender, as it would come there by a.
 */
#include "mlir/emit/rounds.h"

typedef struct sharing {
  sw_round_message *all;
  int64_t devices;
  int32_t *sent, *received; /* by round and device: 1 + the message; 0: none */
} sharing;

static int32_t *sent_at(const sharing *s, int32_t round, int64_t device) {
  return &s->sent[round * s->devices + device];
}
static int32_t *received_at(const sharing *s, int32_t round, int64_t device) {
  return &s->received[round * s->devices + device];
}

static int32_t most_of_one(const sharing *s, int64_t n, int32_t *count) {
  int32_t most = 0;
  for (int64_t i = 0; i < n; i++) {
    const int32_t sends = ++count[s->all[i].from], receives = ++count[s->devices + s->all[i].to];
    most = sends > most ? sends : most;
    most = receives > most ? receives : most;
  }
  return most;
}

static int32_t first_free(const int32_t *at, int64_t devices, int64_t device) {
  int32_t round = 0;
  while (at[round * devices + device]) round++;
  return round;
}

static void put_message_in_round(const sharing *s, int32_t message, int32_t round) {
  sw_round_message *m = &s->all[message];
  m->round = round;
  *sent_at(s, round, m->from) = *received_at(s, round, m->to) = message + 1;
}

/* Exchanges rounds a and b along the path that leaves the receiver in a; it is free in a then. */
static void flip(const sharing *s, int64_t receiver, int32_t a, int32_t b) {
  int32_t next = *received_at(s, a, receiver);
  for (bool in_a = true; next; in_a = !in_a) {
    const int32_t from = in_a ? a : b, to = in_a ? b : a;
    const int32_t message = next - 1;
    const sw_round_message *m = &s->all[message];
    /* In round a it is left by its sender, in b by its receiver: what is there in the other round comes next. */
    next = in_a ? *sent_at(s, to, m->from) : *received_at(s, to, m->to);
    if (*sent_at(s, from, m->from) == message + 1) *sent_at(s, from, m->from) = 0;
    if (*received_at(s, from, m->to) == message + 1) *received_at(s, from, m->to) = 0;
    put_message_in_round(s, message, to);
  }
}

static void assign_rounds(const sharing *s, int64_t n) {
  for (int32_t i = 0; i < n; i++) {
    const sw_round_message *m = &s->all[i];
    const int32_t a = first_free(s->sent, s->devices, m->from), b = first_free(s->received, s->devices, m->to);
    if (*received_at(s, a, m->to)) flip(s, m->to, a, b);
    put_message_in_round(s, i, a);
  }
}

sw_rc sw_share_out(sw_round_message *all, int64_t n, int64_t devices, sw_arena *arena, int32_t *n_rounds, sw_diag *d) {
  sharing s = {.all = all, .devices = devices};
  int32_t *count;
  SW_ARENA_NEW(count, arena, 2 * devices, d);
  *n_rounds = most_of_one(&s, n, count);
  SW_ARENA_NEW_EACH(arena, *n_rounds * devices, d, s.sent, s.received);
  assign_rounds(&s, n);
  return SW_OK;
}
