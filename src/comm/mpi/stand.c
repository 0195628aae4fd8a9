/* Where devices stand: who waits long tells all others in what, and so does who ends; from what all have told a
 * deadlock is found, and what was sent and not received.
 *
 *   device 0: waits in call 3 of [x]; has come to 4 calls of [x]      device 1: waits in call 1 of [y,x]; 3 calls of
 * [x]
 *
 * Nothing has to be taken back: calls that a device has come to and messages that it has sent only become more, and it
 * does neither while it waits. So when each of some devices waits for what the others of them had not done when they
 * waited, none of them has gone on since: the first to do so would have needed another to do so before.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "comm/mpi/mpi.h"
#include "comm/signature.h"

static const double kLongS = 0.05; /* a wait that is told */

/* --- what a record holds --- */

static int64_t sent_to(const sw_stand *s, int64_t device) { return s->more[device]; }

static int64_t received_from(const sw_mpi *m, const sw_stand *s, int64_t device) {
  return s->more[m->base.devices + device];
}

static int64_t member(const sw_mpi *m, const sw_stand *s, int64_t i) { return s->more[2 * m->base.devices + i]; }

/* Calls of the group that the device has come to. */
static int64_t came_to(const sw_mpi *m, const sw_stand *s, int64_t key) {
  const int64_t *pair = s->more + 2 * m->base.devices + s->members;
  for (int64_t i = 0; i < s->groups; i++, pair += 2)
    if (pair[0] == key) return pair[1];
  return 0;
}

static size_t stand_bytes(const sw_mpi *m, int64_t members, int64_t groups) {
  return sizeof(sw_stand) + (size_t)(2 * m->base.devices + members + 2 * groups) * sizeof(int64_t);
}

static int64_t waited_member(const sw_mpi *m, int64_t i) {
  const sw_mpi_waiting *w = &m->wait;
  return w->group ? w->group->devices[i] : sw_collective_peer(&m->base.mesh, w->call->coll, m->device, i);
}

static int64_t waited_members(const sw_mpi *m) {
  const sw_mpi_waiting *w = &m->wait;
  return w->group ? w->group->n : w->call ? sw_collective_members(w->call->coll, m->device) : 0;
}

static void fill_more(const sw_mpi *m, sw_stand *s) {
  int64_t n = m->base.devices, *at = s->more + 2 * n;
  memcpy(s->more, m->sent, (size_t)n * sizeof *s->more);
  memcpy(s->more + n, m->received, (size_t)n * sizeof *s->more);
  for (int64_t i = 0; i < s->members; i++) *at++ = waited_member(m, i);
  for (size_t i = 0; i < m->groups.n; i++) {
    *at++ = m->groups.at[i]->key;
    *at++ = m->groups.at[i]->came;
  }
}

/* --- telling and hearing --- */

static void keep_stand(sw_mpi *m, int64_t device, sw_stand *s) {
  sw_mem_free(m->stand[device]);
  m->stand[device] = s;
}

static sw_rc make_stand(const sw_mpi *m, sw_stand **out, size_t *bytes, sw_diag *d) {
  const sw_mpi_waiting *w = &m->wait;
  int64_t members = waited_members(m), groups = (int64_t)m->groups.n;
  *bytes = stand_bytes(m, members, groups);
  sw_stand *s = sw_mem_alloc(*bytes, 1, d);
  if (!s) return SW_E_RESOURCE;
  *s = (sw_stand){.kind = w->kind, .source = w->source, .members = members, .groups = groups};
  if (w->group) s->key = w->group->key;
  if (w->group) s->number = w->group->number;
  if (w->call) {
    sw_text text = {0};
    sw_call_print(&m->base.mesh, w->call, &text);
    snprintf(s->text, sizeof s->text, "%s", sw_text_str(&text));
    sw_text_free(&text);
    s->where = w->call->where;
  }
  fill_more(m, s);
  *out = s;
  return SW_OK;
}

static sw_rc tell_stand(sw_mpi *m, sw_diag *d) {
  sw_stand *s;
  size_t bytes;
  SW_TRY(make_stand(m, &s, &bytes, d));
  keep_stand(m, m->device, s);
  m->wait.told = true;
  for (int64_t to = 0; to < m->base.devices; to++) {
    if (to == m->device) continue;
    void *copy = sw_mem_alloc(bytes, 1, d);
    if (!copy) return SW_E_RESOURCE;
    memcpy(copy, s, bytes);
    SW_TRY(sw_mpi_post(m, to, SW_MPI_TAG_STAND, copy, bytes, d));
  }
  return SW_OK;
}

static sw_rc hear(sw_mpi *m, bool *news, sw_diag *d) {
  for (;;) {
    int there, bytes;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, SW_MPI_TAG_STAND, m->world, &there, &status);
    if (!there) return SW_OK;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    sw_stand *s = sw_mem_alloc((size_t)bytes, 1, d);
    if (!s) return SW_E_RESOURCE;
    MPI_Recv(s, bytes, MPI_BYTE, status.MPI_SOURCE, SW_MPI_TAG_STAND, m->world, MPI_STATUS_IGNORE);
    keep_stand(m, status.MPI_SOURCE, s);
    *news = true;
  }
}

/* --- deadlocks --- */

static bool has_left(const sw_mpi *m, int64_t device) {
  return m->stand[device] && m->stand[device]->kind == SW_STAND_LEFT;
}

/* Has `peer` done what device i waits for: come to the call, or sent a message? */
static bool has_done(const sw_mpi *m, int64_t i, int64_t peer) {
  const sw_stand *s = m->stand[i], *p = m->stand[peer];
  if (!p) return false;
  if (s->kind == SW_STAND_MESSAGE) return sent_to(p, i) > received_from(m, s, peer);
  return peer == i || came_to(m, p, s->key) > s->number;
}

static bool can_go_on(const sw_mpi *m, const bool *live, int64_t i) {
  const sw_stand *s = m->stand[i];
  bool any = false, all = true;
  for (int64_t k = 0; k < s->members; k++) {
    int64_t peer = member(m, s, k);
    if (s->kind == SW_STAND_MESSAGE && s->source >= 0 && peer != s->source) continue;
    bool comes = live[peer] || has_done(m, i, peer);
    any = any || comes;
    all = all && comes;
  }
  return s->kind == SW_STAND_MESSAGE ? any : all;
}

static void spread_life(const sw_mpi *m, bool *live) {
  for (int64_t i = 0; i < m->base.devices; i++) live[i] = !m->stand[i];
  for (bool changed = true; changed;) {
    changed = false;
    for (int64_t i = 0; i < m->base.devices; i++)
      if (!live[i] && !has_left(m, i) && can_go_on(m, live, i)) live[i] = changed = true;
  }
}

/* "device 3, which waits at position 17 in 'all_reduce axes=[x] ...'": as it has told last. */
static void print_stand(const sw_mpi *m, int64_t device, sw_text *out) {
  const sw_stand *s = m->stand[device];
  sw_text_printf(out, "device %lld, which ", (long long)device);
  if (!s)
    sw_text_puts(out, "is running");
  else if (s->kind == SW_STAND_LEFT)
    sw_text_puts(out, "has ended its program");
  else
    sw_text_printf(out, "waits at position %lld in '%s'", (long long)s->where, s->text);
  if (s && s->kind == SW_STAND_MEMBERS) sw_text_printf(out, " (call %lld of its group)", (long long)s->number + 1);
}

/* The first that device i waits for and that has not come; live: NULL, or such as will are left out. */
static int64_t missing(const sw_mpi *m, int64_t i, const bool *live) {
  const sw_stand *s = m->stand[i];
  if (s->kind == SW_STAND_MESSAGE) return s->source;
  for (int64_t k = 0; k < s->members; k++) {
    int64_t peer = member(m, s, k);
    if (!has_done(m, i, peer) && !(live && live[peer])) return peer;
  }
  return -1;
}

static sw_rc report_dead(sw_mpi *m, const bool *live, int64_t device, sw_diag *d) {
  sw_text text = {0};
  sw_diag why = {0};
  int64_t peer = missing(m, device, live);
  print_stand(m, device, &text);
  sw_text_puts(&text, "; it waits for ");
  if (peer >= 0)
    print_stand(m, peer, &text);
  else
    sw_text_puts(&text, "any member of its group");
  (void)SW_FAIL(&why, SW_E_RESOURCE, SW_NOWHERE, "deadlock: %s", sw_text_str(&text));
  sw_text_free(&text);
  return sw_mpi_fail(m, &why, d);
}

static sw_rc search_dead(sw_mpi *m, sw_diag *d) {
  bool *live;
  SW_MEM_NEW(live, m->base.devices, d);
  spread_life(m, live);
  int64_t dead = 0;
  while (dead < m->base.devices && (live[dead] || has_left(m, dead))) dead++;
  sw_rc rc = dead < m->base.devices ? report_dead(m, live, dead, d) : SW_OK;
  sw_mem_free(live);
  return rc;
}

/* --- for waits --- */

sw_rc sw_stand_look(sw_mpi *m, double waited_s, sw_diag *d) {
  bool news = false;
  SW_TRY(hear(m, &news, d));
  if (m->wait.kind != SW_STAND_NONE && !m->wait.told && waited_s > kLongS) {
    SW_TRY(tell_stand(m, d));
    news = true;
  }
  return news ? search_dead(m, d) : SW_OK;
}

void sw_stand_wait(sw_mpi *m, sw_stand_kind kind, const sw_mpi_group *g, int64_t source, const sw_comm_call *call) {
  m->wait = (sw_mpi_waiting){.kind = kind, .group = g, .source = source, .call = call};
  if (kind == SW_STAND_NONE) keep_stand(m, m->device, NULL);
}

void sw_stand_print_waiting(sw_mpi *m, sw_text *out) {
  sw_stand *s;
  size_t bytes;
  if (m->wait.kind == SW_STAND_NONE || make_stand(m, &s, &bytes, NULL)) {
    sw_text_printf(out, "device %lld, which exchanges data at position %lld in '%s'", (long long)m->device,
                   (long long)m->last_where, sw_coll_text(m->last_op));
    return;
  }
  keep_stand(m, m->device, s);
  print_stand(m, m->device, out);
  int64_t peer = missing(m, m->device, NULL);
  if (peer < 0) return;
  sw_text_puts(out, "; it misses ");
  print_stand(m, peer, out);
}

void sw_stand_print_others(const sw_mpi *m, sw_text *out) {
  for (int64_t i = 0; i < m->base.devices; i++) {
    if (i == m->device) continue;
    if (m->stand[i])
      print_stand(m, i, out);
    else
      sw_text_printf(out, "device %lld, which has told of no long wait", (long long)i);
    sw_text_puts(out, "\n");
  }
}

/* Everybody's last record says what it has sent, and nothing is on its way any more. There is no limit: who is not
 * waited for in a call may compute as long as it likes. */
sw_rc sw_stand_leave(sw_mpi *m, sw_diag *d) {
  sw_stand_wait(m, SW_STAND_LEFT, NULL, -1, NULL);
  SW_TRY(tell_stand(m, d));
  for (int64_t i = 0; i < m->base.devices; i++)
    while (!has_left(m, i)) {
      SW_TRY(sw_mpi_look(m, NULL, d));
      (void)sched_yield();
    }
  return SW_OK;
}

int64_t sw_stand_unread(const sw_mpi *m) {
  for (int64_t i = 0; i < m->base.devices; i++)
    if (sent_to(m->stand[i], m->device) > m->received[i]) return i;
  return -1;
}

sw_rc sw_stand_init(sw_mpi *m, sw_diag *d) {
  SW_MEM_NEW(m->stand, m->base.devices, d);
  SW_MEM_NEW(m->sent, m->base.devices, d);
  SW_MEM_NEW(m->received, m->base.devices, d);
  return SW_OK;
}

void sw_stand_free(sw_mpi *m) {
  for (int64_t i = 0; m->stand && i < m->base.devices; i++) sw_mem_free(m->stand[i]);
  sw_mem_free(m->stand);
  sw_mem_free(m->sent);
  sw_mem_free(m->received);
}
