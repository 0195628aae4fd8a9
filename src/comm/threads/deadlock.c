/* Deadlocks: devices that wait for each other, or for one that has left, are found at once instead of at the timeout.
 *
 *   device 0 waits in all_reduce axes=[x] for device 1;  device 1 waits in all_gather axes=[y,x] for device 0
 *
 * A device that waits can go on when all that it waits for can; one that computes can. What remains when nothing more
 * can be added is dead. The waits are read one after the other; that each is still the same afterwards makes them one
 * moment.
 */
#include <string.h>

#include "comm/threads/threads.h"

typedef struct snapshot {
  sw_threads *t;
  sw_waiting *waiting;
  uint64_t *epoch;
  bool *left, *live;
} snapshot;

/* Larger groups have no calls that are left early, so nobody waits for a free slot in them that will not be free
 * soon. */
static bool is_waiting(const sw_waiting *w) {
  return w->kind == SW_WAIT_MEMBERS || w->kind == SW_WAIT_MESSAGE || (w->kind == SW_WAIT_SLOT && w->group->ended);
}

/* Has the member done what `w` waits for: come to the call, or ended it? */
static bool has_come(const sw_waiting *w, int64_t index) {
  if (w->kind == SW_WAIT_SLOT) return !w->group->ended || sw_rank_has_ended(w->group, index, w->number);
  return index < w->needs.first || index >= w->needs.end ||
         !sw_number_is_below(
             atomic_load_explicit(&sw_arrival_at(w->group, w->number, index)->came, memory_order_acquire),
             w->number + 1);
}

/* A device whose word has changed is about to go on: it is live. */
static void take_snapshot(snapshot *s) {
  for (int64_t i = 0; i < s->t->base.devices; i++) {
    sw_thread_device *dev = &s->t->device[i];
    pthread_mutex_lock(&dev->lock);
    s->waiting[i] = dev->waiting;
    s->epoch[i] = dev->epoch;
    s->left[i] = dev->left;
    pthread_mutex_unlock(&dev->lock);
    s->live[i] = !s->left[i] && !is_waiting(&s->waiting[i]);
    if (is_waiting(&s->waiting[i]) && atomic_load(&s->waiting[i].futex->word) != s->waiting[i].old) s->live[i] = true;
  }
}

static bool can_device_go_on(const snapshot *s, int64_t device) {
  const sw_waiting *w = &s->waiting[device];
  if (w->kind == SW_WAIT_MESSAGE && w->source >= 0) return s->live[w->source];
  bool any = false, all = true;
  for (int64_t i = 0; i < w->group->n; i++) {
    int64_t peer = w->group->devices[i];
    bool counts = w->kind == SW_WAIT_MESSAGE ? peer != device : !has_come(w, i);
    any = any || (counts && s->live[peer]);
    all = all && (!counts || s->live[peer]);
  }
  return w->kind == SW_WAIT_MESSAGE ? any : all;
}

static void spread_liveness(snapshot *s) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int64_t i = 0; i < s->t->base.devices; i++)
      if (!s->live[i] && !s->left[i] && can_device_go_on(s, i)) s->live[i] = changed = true;
  }
}

static bool unchanged(const snapshot *s, int64_t device) {
  sw_thread_device *dev = &s->t->device[device];
  pthread_mutex_lock(&dev->lock);
  bool same = dev->epoch == s->epoch[device] && dev->left == s->left[device];
  const sw_waiting *w = &s->waiting[device];
  same = same && (!is_waiting(w) || atomic_load(&w->futex->word) == w->old);
  pthread_mutex_unlock(&dev->lock);
  return same;
}

/* The first device that waits for ever, or -1. */
static int64_t first_dead(const snapshot *s) {
  int64_t dead = -1;
  for (int64_t i = s->t->base.devices - 1; i >= 0; i--) {
    if (s->live[i]) continue;
    if (!unchanged(s, i)) return -1;
    if (!s->left[i]) dead = i;
  }
  return dead;
}

int64_t sw_waiting_missing(const sw_waiting *w) {
  if (w->kind == SW_WAIT_MESSAGE) return w->source;
  if (w->kind == SW_WAIT_NONE) return -1;
  for (int64_t i = 0; i < w->group->n; i++)
    if (!has_come(w, i)) return w->group->devices[i];
  return -1;
}

/* The first that `device` misses and that will not come. */
static int64_t dead_peer(const snapshot *s, int64_t device) {
  const sw_waiting *w = &s->waiting[device];
  if (w->kind == SW_WAIT_MESSAGE) return w->source;
  for (int64_t i = 0; i < w->group->n; i++)
    if (!has_come(w, i) && !s->live[w->group->devices[i]]) return w->group->devices[i];
  return -1;
}

void sw_device_print(sw_threads *t, int64_t device, sw_text *out) {
  sw_thread_device *dev = &t->device[device];
  pthread_mutex_lock(&dev->lock);
  const sw_waiting *w = &dev->waiting;
  sw_text_printf(out, "device %lld, which ", (long long)device);
  if (dev->left) {
    sw_text_puts(out, dev->left_rc ? "has failed" : "has ended its program");
  } else if (!w->kind) {
    sw_text_puts(out, "is running");
  } else {
    sw_text_printf(out, "waits at position %lld in '", (long long)w->call->where);
    sw_call_print(&t->base.mesh, w->call, out);
    sw_text_puts(out, "'");
    if (w->kind == SW_WAIT_MEMBERS) sw_text_printf(out, " (call %u of its group)", w->number + 1);
    if (w->kind == SW_WAIT_SLOT) sw_text_printf(out, " until all have ended call %u of its group", w->number + 1);
  }
  pthread_mutex_unlock(&dev->lock);
}

static sw_rc report_dead_device(const snapshot *s, int64_t device, sw_diag *d) {
  sw_text text = {0};
  sw_diag why = {0};
  sw_device_print(s->t, device, &text);
  int64_t peer = dead_peer(s, device);
  sw_text_puts(&text, "; it waits for ");
  if (peer >= 0)
    sw_device_print(s->t, peer, &text);
  else
    sw_text_puts(&text, "any member of its group");
  (void)SW_FAIL(&why, SW_E_RESOURCE, SW_NOWHERE, "deadlock: %s", sw_text_str(&text));
  sw_text_free(&text);
  return sw_threads_fail(s->t, &why, d);
}

sw_rc sw_deadlock_check(sw_threads *t, sw_diag *d) {
  if (pthread_mutex_trylock(&t->detector)) return SW_OK;
  sw_rc rc = SW_OK;
  snapshot s = {.t = t, .waiting = t->seen_waiting, .epoch = t->seen_epoch, .left = t->seen_left, .live = t->seen_live};
  take_snapshot(&s);
  spread_liveness(&s);
  int64_t dead = first_dead(&s);
  if (dead >= 0) rc = report_dead_device(&s, dead, d);
  pthread_mutex_unlock(&t->detector);
  return rc;
}
