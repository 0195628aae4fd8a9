/* send and recv: a send copies its input into the receiver's mailbox and goes on; a recv takes the oldest message of
 * its sender. So messages match per (sender, receiver) in program order, and sends never block.
 */
#include <string.h>

#include "comm/threads/threads.h"

static sw_rc pack(const sw_comm_call *call, int64_t from, sw_message **out, sw_diag *d) {
  int64_t bytes = 0;
  (void)sw_buffer_bytes(call->in, &bytes); /* checked before */
  sw_message *m = sw_mem_alloc(1, sizeof *m + (size_t)bytes, d);
  if (!m) return SW_E_RESOURCE;
  m->sent = (sw_sent){from, call->where, *call->in};
  m->sent.buffer.data = m + 1;
  if (bytes) memcpy(m + 1, call->in->data, (size_t)bytes);
  *out = m;
  return SW_OK;
}

/* False: the device has left, and will receive nothing. */
static bool post(sw_thread_device *dev, sw_message *m) {
  pthread_mutex_lock(&dev->lock);
  bool stays = !dev->left;
  if (stays) {
    *dev->mail_end = m;
    dev->mail_end = &m->next;
    sw_futex_set(&dev->mail_futex, atomic_load(&dev->mail_futex.word) + 1);
  }
  pthread_mutex_unlock(&dev->lock);
  return stays;
}

sw_rc sw_mail_send(sw_threads *t, int64_t device, const sw_comm_call *call, sw_diag *d) {
  const sw_collective *c = call->coll;
  int64_t to = sw_collective_peer(&t->base.mesh, c, device, sw_collective_root(c));
  sw_message *m;
  SW_TRY(pack(call, device, &m, d));
  if (post(&t->device[to], m)) return SW_OK;
  sw_mem_free(m);
  return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                 "send mismatch: device %lld sends at position %lld to device %lld, which has ended its program",
                 (long long)device, (long long)call->where, (long long)to);
}

sw_rc sw_mail_check_read(sw_threads *t, int64_t device, sw_diag *d) {
  const sw_message *m = t->device[device].mail;
  if (!m) return SW_OK;
  sw_diag why = {0};
  sw_rc rc = sw_call_fail_unread(device, m->sent.from, m->sent.where, &why);
  return rc ? sw_threads_fail(t, &why, d) : SW_OK;
}

static bool in_group(const sw_thread_group *g, int64_t device) {
  for (int64_t i = 0; i < g->n; i++)
    if (g->devices[i] == device) return true;
  return false;
}

/* Unlinks the oldest message that matches. *rival: another sender whose message would match as well, or -1. The
 * device's lock is held. */
static sw_message *take_message(sw_thread_device *dev, const sw_thread_group *g, int64_t source, int64_t *rival) {
  sw_message **found = NULL;
  *rival = -1;
  for (sw_message **p = &dev->mail; *p; p = &(*p)->next) {
    bool matches = source >= 0 ? (*p)->sent.from == source : in_group(g, (*p)->sent.from);
    if (matches && !found) found = p;
    if (matches && (*p)->sent.from != (*found)->sent.from) *rival = (*p)->sent.from;
  }
  if (!found) return NULL;
  sw_message *m = *found;
  *found = m->next;
  if (dev->mail_end == &m->next) dev->mail_end = found;
  return m;
}

static sw_rc take_or_wait(sw_threads *t, int64_t device, const sw_waiting *w, sw_message **out, sw_diag *d) {
  sw_thread_device *dev = &t->device[device];
  for (;;) {
    sw_waiting now = *w;
    int64_t rival;
    pthread_mutex_lock(&dev->lock);
    now.old = atomic_load(&dev->mail_futex.word);
    *out = take_message(dev, w->group, w->source, &rival);
    pthread_mutex_unlock(&dev->lock);
    if (*out && rival < 0) return SW_OK;
    if (*out) {
      int64_t first = (*out)->sent.from;
      sw_mem_free(*out);
      return sw_call_fail_rivals(device, w->call, first, rival, d);
    }
    SW_TRY(sw_wait(t, device, &now, d));
  }
}

sw_rc sw_mail_receive(sw_threads *t, int64_t device, const sw_comm_call *call, sw_diag *d) {
  const sw_collective *c = call->coll;
  sw_rank *rank;
  sw_message *m;
  SW_TRY(sw_rank_find(t, device, c, &rank, d));
  int64_t source = c->n_root ? sw_collective_peer(&t->base.mesh, c, device, sw_collective_root(c)) : -1;
  sw_waiting w = {.kind = SW_WAIT_MESSAGE,
                  .futex = &t->device[device].mail_futex,
                  .group = rank->group,
                  .source = source,
                  .call = call};
  SW_TRY(take_or_wait(t, device, &w, &m, d));
  int64_t bytes;
  sw_rc rc = sw_call_receive(device, call, &m->sent, &bytes, d);
  if (!rc) sw_count(&t->device[device].stat_bytes[c->op], bytes);
  sw_mem_free(m);
  return rc;
}

void sw_mail_free(sw_thread_device *dev) {
  while (dev->mail) {
    sw_message *next = dev->mail->next;
    sw_mem_free(dev->mail);
    dev->mail = next;
  }
}
