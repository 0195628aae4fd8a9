/* Waiting: look, then sleep in slices; between slices ask whether the run has failed, was cancelled, is deadlocked, or
 * the time is up. The first failure is recorded, and everybody returns it.
 */
#include <string.h>

#include "comm/threads/threads.h"
#include "comm/threads/scheduler.h"

static const double kFirstS = 0.002; /* before a wait is taken for a long one, and published */
static const double kSliceS = 0.02;  /* how late a lost wake-up or a cancellation may be noticed */

sw_rc sw_threads_failure(sw_threads *t, sw_diag *d) {
  int rc = atomic_load_explicit(&t->failed, memory_order_acquire);
  if (rc && d) *d = t->failure;
  return (sw_rc)rc;
}

/* Who begins to wait meanwhile looks round before it sleeps, and again after a slice. */
void sw_wake_all(sw_threads *t) {
  for (int64_t i = 0; i < t->base.devices && atomic_load(&t->blocked) > 0; i++) {
    pthread_mutex_lock(&t->device[i].lock);
    if (t->device[i].waiting.kind) sw_futex_wake(t->device[i].waiting.futex);
    pthread_mutex_unlock(&t->device[i].lock);
  }
  sw_scheduler_notify();
}

sw_rc sw_threads_fail(sw_threads *t, const sw_diag *why, sw_diag *d) {
  pthread_mutex_lock(&t->lock);
  bool first = !atomic_load(&t->failed);
  if (first) {
    t->failure = *why;
    atomic_store_explicit(&t->failed, why->rc, memory_order_release);
  }
  pthread_mutex_unlock(&t->lock);
  if (first) sw_wake_all(t);
  return sw_threads_failure(t, d);
}

static void publish_waiting(sw_threads *t, int64_t device, const sw_waiting *w) {
  sw_thread_device *dev = &t->device[device];
  pthread_mutex_lock(&dev->lock);
  dev->waiting = w ? *w : (sw_waiting){.kind = SW_WAIT_NONE};
  dev->epoch++;
  pthread_mutex_unlock(&dev->lock);
  atomic_fetch_add(&t->blocked, w ? 1 : -1);
}

static sw_rc report_time_up(sw_threads *t, int64_t device, const sw_waiting *w, sw_diag *d) {
  sw_text text = {0};
  sw_diag why = {0};
  sw_device_print(t, device, &text);
  int64_t missing = sw_waiting_missing(w);
  if (missing >= 0) {
    sw_text_puts(&text, "; it misses ");
    sw_device_print(t, missing, &text);
  }
  (void)SW_FAIL(&why, SW_E_RESOURCE, SW_NOWHERE, "timeout after %g s: %s", t->base.options.timeout_s,
                sw_text_str(&text));
  sw_text_free(&text);
  return sw_threads_fail(t, &why, d);
}

static sw_rc cancelled(sw_threads *t, sw_diag *d) {
  sw_diag why = {0};
  (void)SW_FAIL(&why, SW_E_CANCELLED, SW_NOWHERE, "cancelled");
  return sw_threads_fail(t, &why, d);
}

static bool nobody_runs(sw_threads *t) { return atomic_load(&t->blocked) + atomic_load(&t->gone) >= t->base.devices; }

static sw_rc sleep_until_changed(sw_threads *t, int64_t device, const sw_waiting *w, sw_diag *d) {
  sw_patience patience = sw_patience_begin(&t->base);
  bool slept = false;
  for (;;) {
    SW_TRY(sw_threads_failure(t, d));
    if (sw_cancelled(t->base.options.cancel)) return cancelled(t, d);
    if (slept || nobody_runs(t) || atomic_load(&t->gone)) SW_TRY(sw_deadlock_check(t, d));
    if (sw_futex_sleep(w->futex, w->old, w->ready, w, kSliceS)) return SW_OK;
    if (w->ready && w->ready(w)) return SW_OK; /* and nobody has told */
    if (sw_patience_is_over(&t->base, &patience)) return report_time_up(t, device, w, d);
    slept = true;
  }
}

sw_rc sw_wait(sw_threads *t, int64_t device, const sw_waiting *w, sw_diag *d) {
  SW_TRY(sw_rank_tell(t, device, d));
  if (!sw_scheduler_runs_caller() && sw_futex_spin(w->futex, w->old, t->spin)) return SW_OK;
  if (sw_futex_sleep(w->futex, w->old, w->ready, w, kFirstS)) return SW_OK;
  publish_waiting(t, device, w);
  sw_rc rc = sleep_until_changed(t, device, w, d);
  publish_waiting(t, device, NULL);
  return rc;
}

void sw_wait_for_work(sw_threads *t, sw_futex *g, unsigned old) {
  if (!sw_scheduler_runs_caller() && sw_futex_spin(g, old, t->spin)) return;
  while (!sw_futex_sleep(g, old, NULL, NULL, kSliceS)) continue;
}
