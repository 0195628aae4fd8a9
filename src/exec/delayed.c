/* One device whose streams do things beside each other: the work on the device's own thread, each level's communication
 * on a thread and a communicator of its own. What an item computes or moves is done at its start; then it sleeps until
 * its time is over. That counts from when the last thing ended that it had to wait for, not from when the machine woke
 * its thread: devices are alike, so they would all have started then. Only what takes longer than its time ends later.
 * Of a loop the stream of the work has each trip done, by all streams, before it goes on.
 *
 *   work      x=dot | y=dot       | z=add        z waits for g
 *   level 0         | g=all_gather |             g waits for x
 */
#include <string.h>
#include <time.h>

#include "exec/execution.h"
#include "exec/parallel.h"

typedef struct stream {
  struct delayed *of;
  int at;
  sw_execution e;
  double launched_s; /* when the host has launched what it has so far, */
  double ended_s;    /* and the last item ended */
} stream;

typedef struct delayed {
  sw_execution *e;
  const sw_exec_delays *how;
  pthread_mutex_t lock; /* guards the values' counts of uses, and: */
  pthread_cond_t changed;
  double *ended_s; /* by item of lists that run, on sw_now_s's clock; 0: not yet */
  bool *goes_on;   /* by frame of the program: its ops run, those of a loop that stand behind its test */
  sw_rc rc;        /* the first failure: nothing starts any more */
  sw_diag diag;
  stream all[SW_MAX_STREAMS];
} delayed;

/* A stream's part of a list. */
typedef struct part {
  stream *s;
  const sw_delayed_list *list;
  pthread_t thread;
  bool runs;
} part;

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

static sw_rc poll_cancel(const delayed *r, sw_diag *d) {
  if (!sw_cancelled(r->e->v->options->cancel)) return SW_OK;
  return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "execution was interrupted");
}

static sw_rc sleep_until(delayed *r, double at_s, sw_diag *d) {
  const double kLook = 0.05; /* for others' failures */
  for (double left_s; (left_s = at_s - sw_now_s()) > 0;) {
    const double s = left_s < kLook ? left_s : kLook;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * s)}, NULL);
    SW_TRY(failure(r, d));
    SW_TRY(poll_cancel(r, d));
  }
  return SW_OK;
}

/* --- ops ---------------------------------------------------------------------------------------------------------- */

/* Does it stand in branches that are chosen, and in a loop before its test, or in one that goes on? */
static bool is_live(const delayed *r, sw_id op) {
  const sw_graph *g = r->e->v->graph;
  for (sw_id f = g->ops[op].frame; f >= 0; f = g->frames[f].parent) {
    if (g->frames[f].kind == SW_OP_WHILE) return r->goes_on[f] || op < g->frames[f].test;
    if (!r->goes_on[f]) return false;
  }
  return true;
}

/* What a test says is known at once; the loop is left, or begins again, when the trip has ended. */
static sw_rc run_item_op(stream *s, sw_id id, sw_diag *d) {
  const delayed *r = s->of;
  const sw_graph *g = r->e->v->graph;
  const sw_op *op = &g->ops[id];
  sw_id next;
  if (op->code == SW_OP_TEST) {
    r->goes_on[op->frame] = sw_buffer_int(&s->e.values[op->operands[0]].t, 0) != 0;
    return SW_OK;
  }
  SW_TRY(sw_execution_run_op(&s->e, id, &next, d));
  if (op->code != SW_OP_CASE) return SW_OK;
  for (sw_id f = sw_frame_begun_by(g, id); f >= 0; f = sw_frame_begun_by(g, g->frames[f].end))
    r->goes_on[f] = g->frames[f].begin + 1 == next;
  return SW_OK;
}

/* Does any of its ops run? Without ops: has the loop that it is in not ended? */
static bool takes_time(const delayed *r, const sw_delayed_list *list, const sw_delayed_item *it) {
  bool any = !it->n_ops && (list->frame < 0 || r->goes_on[list->frame]);
  for (int32_t i = 0; i < it->n_ops; i++) any = any || is_live(r, it->ops[i]);
  return any;
}

static sw_rc run_live_ops(stream *s, const sw_delayed_item *it, sw_diag *d) {
  for (int32_t i = 0; i < it->n_ops; i++)
    if (is_live(s->of, it->ops[i])) SW_TRY(run_item_op(s, it->ops[i], d));
  return SW_OK;
}

static sw_rc run_loop(stream *s, int32_t list, sw_diag *d);

static sw_rc run_item(stream *s, const sw_delayed_list *list, int32_t id, sw_diag *d) {
  delayed *r = s->of;
  const sw_delayed_item *it = &r->how->items[id];
  const sw_exec_options *o = r->e->v->options;
  double start_s = 0;
  SW_TRY(wait_for_items(r, it, &start_s, d));
  const bool live = takes_time(r, list, it);
  if (live) s->launched_s += it->launch_s;
  if (s->launched_s > start_s) start_s = s->launched_s;
  if (s->ended_s > start_s) start_s = s->ended_s;
  SW_TRY(sleep_until(r, start_s, d));
  SW_TRY(run_live_ops(s, it, d));
  const double done_s = sw_now_s(), until_s = start_s + (live ? it->seconds : 0);
  s->ended_s = until_s > done_s ? until_s : done_s;
  SW_TRY(sleep_until(r, s->ended_s, d));
  if (o->on_op && live && it->what)
    o->on_op(o->on_op_user,
             &(sw_exec_event){
                 .device = r->e->v->device, .item = it, .stream = s->at, .start_s = start_s, .end_s = s->ended_s});
  if (it->loop && live) SW_TRY(run_loop(s, it->loop, d));
  pthread_mutex_lock(&r->lock);
  r->ended_s[id] = s->ended_s;
  pthread_cond_broadcast(&r->changed);
  pthread_mutex_unlock(&r->lock);
  return SW_OK;
}

/* --- lists -------------------------------------------------------------------------------------------------------- */

static sw_rc run_part(const part *p, sw_diag *d) {
  sw_rc rc = SW_OK;
  for (int32_t i = 0; i < p->list->n_at[p->s->at] && !rc; i++)
    rc = run_item(p->s, p->list, p->list->at[p->s->at][i], d);
  fail_with(p->s->of, rc, d);
  return rc;
}

/* One of a level that has failed leaves its communicator at once, so that nobody waits for it. */
static void leave_failed(stream *s, sw_rc rc, const sw_diag *d) {
  sw_diag left = *d;
  if (s->e.comm) fail_with(s->of, sw_comm_leave(s->e.comm, s->e.v->device, rc, d->text, &left), &left);
}

static void *part_main(void *arg) {
  const part *p = arg;
  sw_diag diag = {0};
  const sw_rc rc = run_part(p, &diag);
  if (rc) leave_failed(p->s, rc, &diag);
  return NULL;
}

static void start_part(part *p, const pthread_attr_t *how) {
  sw_diag diag = {0};
  const int error = pthread_create(&p->thread, how, part_main, p);
  p->runs = !error;
  if (!error) return;
  sw_rc rc = SW_FAIL(&diag, SW_E_RESOURCE, SW_NOWHERE, "no thread for a stream: %s", strerror(error));
  fail_with(p->s->of, rc, &diag);
  leave_failed(p->s, rc, &diag);
}

/* From a time on; *at_s becomes when all streams have ended. */
static sw_rc run_list(delayed *r, const sw_delayed_list *list, double *at_s, sw_diag *d) {
  part parts[SW_MAX_STREAMS];
  pthread_attr_t how;
  pthread_attr_init(&how);
  (void)pthread_attr_setstacksize(&how, SW_DEVICE_STACK_BYTES);
  pthread_mutex_lock(&r->lock);
  for (int s = SW_STREAM_WORK; s < SW_MAX_STREAMS; s++) {
    parts[s] = (part){.s = &r->all[s], .list = list};
    r->all[s].launched_s = r->all[s].ended_s = *at_s;
    for (int32_t i = 0; i < list->n_at[s]; i++) r->ended_s[list->at[s][i]] = 0;
  }
  pthread_mutex_unlock(&r->lock);
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++)
    if (list->n_at[s]) start_part(&parts[s], &how);
  pthread_attr_destroy(&how);
  (void)run_part(&parts[SW_STREAM_WORK], d);
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++)
    if (parts[s].runs) (void)pthread_join(parts[s].thread, NULL);
  for (int s = SW_STREAM_WORK; s < SW_MAX_STREAMS; s++)
    if (r->all[s].ended_s > *at_s) *at_s = r->all[s].ended_s;
  return failure(r, d);
}

static sw_rc run_loop(stream *s, int32_t list, sw_diag *d) {
  delayed *r = s->of;
  const sw_delayed_list *l = &r->how->lists[list];
  const sw_frame *f = &r->e->v->graph->frames[l->frame];
  double at_s = s->ended_s;
  sw_id next;
  for (sw_id id = f->begin + 1; r->e->v->graph->ops[id].code == SW_OP_ENTER; id = next)
    SW_TRY(sw_execution_run_op(&s->e, id, &next, d));
  for (bool more = true; more;) {
    SW_TRY(poll_cancel(r, d));
    r->goes_on[l->frame] = true;
    SW_TRY(run_list(r, l, &at_s, d));
    more = r->goes_on[l->frame];
    SW_TRY(sw_execution_run_op(&s->e, f->test, &next, d));
    if (more) SW_TRY(sw_execution_run_op(&s->e, f->end, &next, d));
  }
  s->launched_s = s->ended_s = at_s;
  return SW_OK;
}

static void open_streams(delayed *r) {
  for (int s = SW_STREAM_WORK; s < SW_MAX_STREAMS; s++) {
    r->all[s] = (stream){.of = r, .at = s};
    r->all[s].e = (sw_execution){.v = r->e->v,
                                 .comm = s == SW_STREAM_WORK ? r->e->comm : r->e->v->program->beside[s],
                                 .values = r->e->values,
                                 .shared = &r->lock};
  }
}

sw_rc sw_execution_run_delayed(sw_execution *e, sw_diag *d) {
  delayed r = {.e = e, .how = e->v->options->delays};
  const size_t n = (size_t)r.how->n_items + 1;
  double at_s = sw_now_s();
  SW_MEM_NEW(r.ended_s, n, d);
  r.goes_on = sw_mem_alloc((size_t)e->v->graph->n_frames + 1, sizeof *r.goes_on, d);
  if (!r.goes_on) {
    sw_mem_free(r.ended_s);
    return SW_E_RESOURCE;
  }
  pthread_mutex_init(&r.lock, NULL);
  pthread_cond_init(&r.changed, NULL);
  open_streams(&r);
  const sw_rc rc = run_list(&r, &r.how->lists[0], &at_s, d);
  for (int s = SW_STREAM_WORK; s < SW_MAX_STREAMS; s++) sw_execution_deinit(&r.all[s].e);
  pthread_cond_destroy(&r.changed);
  pthread_mutex_destroy(&r.lock);
  sw_mem_free(r.goes_on);
  sw_mem_free(r.ended_s);
  return rc;
}
