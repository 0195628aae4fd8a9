/* One device whose streams do things beside each other: the work on the device's own thread, each level's communication
 * on a thread and a communicator of its own. What an item computes or moves is done at its start; then it sleeps until
 * its time is over. That counts from when the last thing ended that it had to wait for, not from when the machine woke
 * its thread: devices are alike, so they would all have started then. Only what takes longer than its time ends later.
 *
 *   work      x=dot | y=dot       | z=add        z waits for g
 *   level 0         | g=all_gather |             g waits for x
 */
#include <string.h>
#include <time.h>

#include "exec/execution.h"
#include "exec/parallel.h"

typedef struct delayed {
  sw_execution *e;
  const sw_exec_delays *how;
  pthread_mutex_t lock; /* guards the values' counts of uses, and: */
  pthread_cond_t changed;
  double *ended_s; /* by item, on sw_now_s's clock; 0: not yet */
  sw_rc rc;        /* the first failure: nothing starts any more */
  sw_diag diag;
} delayed;

typedef struct stream {
  delayed *of;
  int at;
  sw_execution e;
  double launched_s; /* when the host has launched what it has so far, */
  double ended_s;    /* and the last item ended */
  pthread_t thread;
  bool runs;
} stream;

static sw_rc failure(delayed *r, sw_diag *d) {
  pthread_mutex_lock(&r->lock);
  const sw_rc rc = r->rc;
  if (rc && d) *d = r->diag;
  pthread_mutex_unlock(&r->lock);
  return rc;
}

/* Others end with the first failure. */
static void fail_with(delayed *r, sw_rc rc, const sw_diag *d) {
  pthread_mutex_lock(&r->lock);
  if (rc && !r->rc) {
    r->rc = rc;
    r->diag = *d;
  }
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
}

/* *start_s: when all of them have ended, if later. */
static sw_rc wait_for_items(delayed *r, const sw_delayed_item *it, double *start_s, sw_diag *d) {
  pthread_mutex_lock(&r->lock);
  for (int32_t i = 0; i < it->n_waits && !r->rc; i++) {
    const double *ended_s = &r->ended_s[it->waits[i]];
    while (*ended_s <= 0 && !r->rc) pthread_cond_wait(&r->changed, &r->lock);
    if (*ended_s > *start_s) *start_s = *ended_s;
  }
  pthread_mutex_unlock(&r->lock);
  return failure(r, d);
}

static sw_rc sleep_until(delayed *r, double at_s, sw_diag *d) {
  const double kLook = 0.05; /* for others' failures */
  for (double left_s; (left_s = at_s - sw_now_s()) > 0;) {
    const double s = left_s < kLook ? left_s : kLook;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * s)}, NULL);
    SW_TRY(failure(r, d));
    if (sw_cancelled(r->e->v->options->cancel))
      return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "execution was interrupted");
  }
  return SW_OK;
}

static sw_rc run_item(stream *s, int32_t id, sw_diag *d) {
  delayed *r = s->of;
  const sw_delayed_item *it = &r->how->items[id];
  double start_s = s->ended_s;
  s->launched_s += it->launch_s;
  if (s->launched_s > start_s) start_s = s->launched_s;
  SW_TRY(wait_for_items(r, it, &start_s, d));
  SW_TRY(sleep_until(r, start_s, d));
  for (int32_t i = 0; i < it->n_ops; i++) {
    sw_id next;
    SW_TRY(sw_execution_run_op(&s->e, it->ops[i], &next, d));
  }
  const double done_s = sw_now_s();
  s->ended_s = start_s + it->seconds > done_s ? start_s + it->seconds : done_s;
  SW_TRY(sleep_until(r, s->ended_s, d));
  pthread_mutex_lock(&r->lock);
  r->ended_s[id] = s->ended_s;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
  return SW_OK;
}

static sw_rc run_stream(stream *s, sw_diag *d) {
  sw_rc rc = SW_OK;
  for (int32_t i = 0; i < s->of->how->n_at[s->at] && !rc; i++) rc = run_item(s, s->of->how->at[s->at][i], d);
  fail_with(s->of, rc, d);
  return rc;
}

static void leave_stream(stream *s, sw_rc rc, sw_diag *d) {
  sw_diag why = *d;
  fail_with(s->of, sw_comm_leave(s->e.comm, s->e.v->device, rc, why.text, d), d);
}

static void *stream_main(void *arg) {
  stream *s = arg;
  sw_diag diag = {0};
  leave_stream(s, run_stream(s, &diag), &diag);
  return NULL;
}

static void open_stream(delayed *r, int at, double began_s, stream *s) {
  *s = (stream){.of = r, .at = at, .launched_s = began_s, .ended_s = began_s};
  s->e = (sw_execution){.v = r->e->v,
                        .comm = at == SW_STREAM_WORK ? r->e->comm : r->e->v->program->beside[at],
                        .values = r->e->values,
                        .shared = &r->lock};
}

/* A stream without a thread has failed, so that nobody waits for it. */
static void start_stream(stream *s, const pthread_attr_t *how) {
  sw_diag diag = {0};
  const int error = pthread_create(&s->thread, how, stream_main, s);
  s->runs = !error;
  if (!error) return;
  sw_rc rc = SW_FAIL(&diag, SW_E_RESOURCE, SW_NOWHERE, "no thread for a stream: %s", strerror(error));
  fail_with(s->of, rc, &diag);
  leave_stream(s, rc, &diag);
}

static void run_streams(delayed *r) {
  stream all[SW_MAX_STREAMS];
  sw_diag diag = {0};
  const double began_s = sw_now_s();
  pthread_attr_t how;
  pthread_attr_init(&how);
  (void)pthread_attr_setstacksize(&how, SW_DEVICE_STACK_BYTES);
  for (int s = SW_STREAM_WORK; s < SW_MAX_STREAMS; s++) open_stream(r, s, began_s, &all[s]);
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++)
    if (r->how->n_at[s]) start_stream(&all[s], &how);
  pthread_attr_destroy(&how);
  (void)run_stream(&all[SW_STREAM_WORK], &diag);
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++)
    if (all[s].runs) (void)pthread_join(all[s].thread, NULL);
  for (int s = SW_STREAM_WORK; s < SW_MAX_STREAMS; s++) sw_execution_deinit(&all[s].e);
}

sw_rc sw_execution_run_delayed(sw_execution *e, sw_diag *d) {
  delayed r = {.e = e, .how = e->v->options->delays};
  SW_MEM_NEW(r.ended_s, (size_t)r.how->n_items + 1, d);
  pthread_mutex_init(&r.lock, NULL);
  pthread_cond_init(&r.changed, NULL);
  run_streams(&r);
  e->v->has_streamed = true;
  if (r.rc && d) *d = r.diag;
  pthread_cond_destroy(&r.changed);
  pthread_mutex_destroy(&r.lock);
  sw_mem_free(r.ended_s);
  return r.rc;
}
