/* The launcher: threads, each with a row of devices that take turns.
 *
 *   2 threads, 5 devices: thread 0 runs devices 0 1 2, thread 1 runs devices 3 4
 *
 * A thread goes round its devices and resumes those whose futex has changed, or what they wait for has come (or whose
 * time is up). When none has for a while it sleeps on a futex of the scheduler, which whoever makes a change wakes if a
 * thread sleeps there. Sleeper and waker each write before they read, so no change is missed.
 */
#include "shardwright/comm.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "comm/engine.h"
#include "comm/threads/fiber.h"
#include "comm/threads/scheduler.h"
#include "base/limits.h"

/* Rounds without work before sleeping; rounds with work between looks at time limits. */
enum { IDLE_ROUNDS = 400, BUSY_ROUNDS = 1024 };
static const double kNoticeS = 0.002; /* how late a device's own time limit may be noticed */

typedef struct worker worker;

typedef struct task {
  sw_fiber fiber;
  worker *worker;
  int64_t device;
  sw_futex *futex; /* NULL: ready to run */
  unsigned old;
  sw_futex_ready ready; /* NULL: the futex's word tells */
  const void *of;
  double seconds, until_s; /* the limit, and when it is reached; until_s 0: not looked at the clock yet */
} task;

typedef struct launch {
  sw_comm *comm;
  sw_device_main main;
  void *user;
  pthread_mutex_t lock;
  sw_diag first; /* failure */
} launch;

struct worker {
  pthread_t thread;
  launch *l;
  task *tasks;
  int64_t n;
  int core; /* to bind to, or -1 */
};

/* Of the process: futexes do not know who waits on them. */
sw_futex sw_scheduler_futex;
static _Thread_local task *running;

bool sw_scheduler_runs_caller(void) { return running != NULL; }

bool sw_scheduler_runs_here(int64_t device) {
  if (!running) return false;
  const worker *w = running->worker;
  return device >= w->tasks[0].device && device < w->tasks[0].device + w->n;
}

bool sw_scheduler_runs_alone(void) { return running && running->worker->n == 1; }

static bool has_futex_changed(const task *t) {
  return !t->futex || atomic_load(&t->futex->word) != t->old || (t->ready && t->ready(t->of));
}

void sw_scheduler_wake_threads(void) {
  atomic_fetch_add(&sw_scheduler_futex.word, 1);
  sw_futex_wake(&sw_scheduler_futex);
}

bool sw_scheduler_wait(sw_futex *g, unsigned old, sw_futex_ready ready, const void *of, double seconds) {
  task *t = running;
  t->futex = g;
  t->old = old;
  t->ready = ready;
  t->of = of;
  t->seconds = seconds;
  t->until_s = 0;
  sw_fiber_yield();
  bool changed = has_futex_changed(t);
  t->futex = NULL;
  return changed;
}

static void record_failure(launch *l, const sw_diag *d, sw_rc rc) {
  pthread_mutex_lock(&l->lock);
  if (!l->first.rc) {
    l->first = *d;
    l->first.rc = rc;
  }
  pthread_mutex_unlock(&l->lock);
}

/* A failure is noted before the others hear of it and fail, too. */
static void end_device(launch *l, int64_t device, sw_rc rc, sw_diag *d) {
  if (rc) record_failure(l, d, rc);
  sw_rc left = sw_comm_leave(l->comm, device, rc, d->text, d);
  if (left) record_failure(l, d, left);
}

static void run_device_task(void *user) {
  task *t = user;
  launch *l = t->worker->l;
  sw_diag diag = {0};
  sw_rc rc = l->main(l->comm, t->device, l->user, &diag);
  end_device(l, t->device, rc, &diag);
}

/* The clock is read only for those that wait long enough to be looked at with `now`. */
static bool is_task_time_up(task *t, double now) {
  if (t->until_s == 0) t->until_s = now + t->seconds;
  return now >= t->until_s;
}

/* Resumes who can go on; `late`: also those whose time is up. Returns how many ran. */
static int64_t go_round(worker *w, bool late, int64_t *alive) {
  int64_t ran = 0;
  double now = late ? sw_now_s() : 0;
  for (int64_t i = 0; i < w->n; i++) {
    task *t = &w->tasks[i];
    if (t->fiber.ended || !(has_futex_changed(t) || (late && is_task_time_up(t, now)))) continue;
    running = t;
    sw_fiber_resume(&t->fiber);
    running = NULL;
    ran++;
    if (t->fiber.ended) --*alive;
  }
  return ran;
}

static bool any_changed(const worker *w) {
  for (int64_t i = 0; i < w->n; i++)
    if (!w->tasks[i].fiber.ended && has_futex_changed(&w->tasks[i])) return true;
  return false;
}

/* Asleep until somebody notifies the scheduler. Being counted as a sleeper comes first, the last look at the futexes
 * after. */
static void sleep_until_notified(const worker *w) {
  unsigned old = atomic_load(&sw_scheduler_futex.word);
  atomic_fetch_add(&sw_scheduler_futex.sleepers, 1);
  sw_fence_heavy();
  if (!any_changed(w)) (void)sw_futex_sleep_thread(&sw_scheduler_futex, old, kNoticeS);
  atomic_fetch_sub(&sw_scheduler_futex.sleepers, 1);
}

static void *run_worker(void *user) {
  worker *w = user;
  if (w->core >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)w->core, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  }
  int idle = 0;
  unsigned rounds = 0;
  for (int64_t alive = w->n; alive > 0;) {
    bool tired = idle >= IDLE_ROUNDS;
    if (go_round(w, tired || ++rounds % BUSY_ROUNDS == 0, &alive)) {
      idle = 0;
      continue;
    }
    if (tired)
      sleep_until_notified(w);
    else
      sw_spin_pause();
    idle++;
  }
  return NULL;
}

static sw_rc make_tasks(worker *w, int64_t first, size_t stack_bytes, sw_diag *d) {
  for (int64_t i = 0; i < w->n; i++) {
    w->tasks[i] = (task){.worker = w, .device = first + i};
    SW_TRY(sw_fiber_init(&w->tasks[i].fiber, stack_bytes, run_device_task, &w->tasks[i], d));
  }
  return SW_OK;
}

/* Devices i*n/threads .. (i+1)*n/threads on thread i. */
static sw_rc make_workers(launch *l, worker *workers, task *tasks, int threads, const sw_launch_options *o,
                          sw_diag *d) {
  int64_t n = l->comm->devices;
  bool pin = o->pin && threads <= sysconf(_SC_NPROCESSORS_ONLN);
  for (int i = 0; i < threads; i++) {
    int64_t first = n * i / threads, end = n * (i + 1) / threads;
    workers[i] = (worker){.l = l, .tasks = tasks + first, .n = end - first, .core = pin ? i : -1};
    SW_TRY(make_tasks(&workers[i], first, o->stack_bytes, d));
  }
  return SW_OK;
}

/* A thread that cannot be had fails its devices, so that the others do not wait for them. */
static void start_workers(launch *l, worker *workers, bool *started, int threads) {
  for (int i = 0; i < threads; i++) {
    int error = pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]);
    started[i] = error == 0;
    if (!error) continue;
    sw_diag diag = {0};
    sw_rc rc = SW_FAIL(&diag, SW_E_RESOURCE, SW_NOWHERE, "no thread to be had for device %lld",
                       (long long)workers[i].tasks[0].device);
    for (int64_t k = 0; k < workers[i].n; k++) end_device(l, workers[i].tasks[k].device, rc, &diag);
  }
}

static sw_rc run_all(launch *l, worker *workers, task *tasks, int threads, const sw_launch_options *o, sw_diag *d) {
  bool *started;
  SW_MEM_NEW(started, threads, d);
  sw_rc rc = make_workers(l, workers, tasks, threads, o, d);
  if (!rc) {
    start_workers(l, workers, started, threads);
    for (int i = 0; i < threads; i++)
      if (started[i]) (void)pthread_join(workers[i].thread, NULL);
    rc = l->first.rc;
    if (rc && d) *d = l->first;
  }
  for (int64_t i = 0; i < l->comm->devices; i++) sw_fiber_deinit(&tasks[i].fiber);
  sw_mem_free(started);
  return rc;
}

/* A device touches a few pages of its stack. */
static sw_rc admit_devices(const sw_comm *c, size_t stack_bytes, sw_diag *d) {
  enum { TOUCHED_BYTES = 16 << 10 };
  char what[64];
  sw_needs n = {.mappings = 2 * c->devices, .bytes = TOUCHED_BYTES * c->devices};
  if (__builtin_mul_overflow((int64_t)stack_bytes, c->devices, &n.address_bytes)) n.address_bytes = INT64_MAX;
  snprintf(what, sizeof what, "%lld devices in one process", (long long)c->devices);
  return sw_limits_check(&n, what, d);
}

sw_rc sw_comm_launch(sw_comm *c, sw_device_main main, void *user, const sw_launch_options *options, sw_diag *d) {
  sw_launch_options o = options ? *options : (sw_launch_options){0};
  int64_t threads = o.threads > 0 ? o.threads : sysconf(_SC_NPROCESSORS_ONLN);
  if (threads > c->devices) threads = c->devices;
  if (!o.stack_bytes) o.stack_bytes = (size_t)1 << 20;
  SW_TRY(admit_devices(c, o.stack_bytes, d));
  launch l = {.comm = c, .main = main, .user = user};
  pthread_mutex_init(&l.lock, NULL);
  task *tasks = sw_mem_alloc((size_t)c->devices, sizeof *tasks, d);
  worker *workers = sw_mem_alloc((size_t)threads, sizeof *workers, d);
  sw_rc rc = tasks && workers ? run_all(&l, workers, tasks, (int)threads, &o, d) : SW_E_RESOURCE;
  sw_mem_free(workers);
  sw_mem_free(tasks);
  pthread_mutex_destroy(&l.lock);
  return rc;
}
