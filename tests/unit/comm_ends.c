/* How programs end: what went wrong in a program's last calls, or between its devices' programs, is heard by who runs
 * it, by whichever way the devices leave. And what is no fault: a process that was stopped. */
#include "check.h"
#include "support/meshes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "shardwright/comm.h"

typedef sw_rc (*program)(sw_comm *comm, const sw_mesh *m, int64_t device, sw_diag *d);

typedef struct one_call {
  int32_t x[2], y[4];
  sw_collective coll;
  sw_buffer in, out;
  sw_comm_call call;
} one_call;

/* Along the only axis of two devices, rooted at 0. */
static void make_call(one_call *c, const sw_mesh *m, sw_coll_op op, int64_t where) {
  bool joins = op == SW_COLL_GATHER, cuts = op == SW_COLL_SCATTER;
  *c = (one_call){.x = {1, 2}, .coll = {.op = op, .n_axes = 1, .n_root = op != SW_COLL_ALL_REDUCE}};
  c->coll.axes[0] = sw_axis_whole(m, 0);
  c->in = (sw_buffer){c->x, SW_I32, 1, {2}, {2}};
  c->out = (sw_buffer){c->y, SW_I32, 1, {joins ? 4 : cuts ? 1 : 2}, {0}};
  c->call = (sw_comm_call){&c->coll, &c->in, &c->out, where, NULL};
}

static sw_rc run(sw_comm *comm, const sw_mesh *m, int64_t device, sw_coll_op op, int64_t where, sw_diag *d) {
  one_call c;
  make_call(&c, m, op, where);
  return sw_comm_run(comm, device, &c.call, d);
}

static sw_rc message(sw_comm *comm, const sw_mesh *m, int64_t device, sw_coll_op op, int64_t where, sw_diag *d) {
  one_call c;
  make_call(&c, m, op, where);
  c.coll.root[0] = 1 - device;
  if (op == SW_COLL_SEND) c.call.out = NULL;
  if (op == SW_COLL_RECV) c.call.in = NULL;
  return sw_comm_run(comm, device, &c.call, d);
}

/* --- programs in which something is wrong ------------------------------------------------------------------------- */

/* Device 0 sends to 1 and device 1 to 0, and neither needs the other's. */
static sw_rc differs_in_the_last_call(sw_comm *comm, const sw_mesh *m, int64_t device, sw_diag *d) {
  SW_TRY(run(comm, m, device, SW_COLL_ALL_REDUCE, 3, d));
  return run(comm, m, device, device ? SW_COLL_GATHER : SW_COLL_BROADCAST, 4, d);
}

/* The scatter is waited for after a gather to which nobody comes. */
static sw_rc ends_while_a_gather_is_ahead(sw_comm *comm, const sw_mesh *m, int64_t device, sw_diag *d) {
  one_call c;
  sw_comm_request *started;
  if (device == 0) return run(comm, m, device, SW_COLL_SCATTER, 7, d);
  make_call(&c, m, SW_COLL_SCATTER, 7);
  SW_TRY(sw_comm_start(comm, device, &c.call, &started, d));
  sw_rc rc = run(comm, m, device, SW_COLL_GATHER, 8, d);
  return rc ? rc : sw_comm_wait(comm, started, d);
}

static sw_rc makes_one_call_for_another(sw_comm *comm, const sw_mesh *m, int64_t device, sw_diag *d) {
  for (int i = 0; i < 4; i++) SW_TRY(run(comm, m, device, SW_COLL_BROADCAST, device == 1 && i == 1 ? 2 : i, d));
  return SW_OK;
}

static sw_rc sends_what_nobody_receives(sw_comm *comm, const sw_mesh *m, int64_t device, sw_diag *d) {
  SW_TRY(run(comm, m, device, SW_COLL_ALL_REDUCE, 0, d));
  return device == 1 ? message(comm, m, device, SW_COLL_SEND, 6, d) : SW_OK;
}

static sw_rc receives_too_few(sw_comm *comm, const sw_mesh *m, int64_t device, sw_diag *d) {
  SW_TRY(message(comm, m, device, SW_COLL_SEND, 5, d));
  SW_TRY(message(comm, m, device, SW_COLL_SEND, 6, d));
  for (int i = 0; i < (device ? 1 : 2); i++) SW_TRY(message(comm, m, device, SW_COLL_RECV, 7 + i, d));
  return run(comm, m, device, SW_COLL_ALL_REDUCE, 9, d);
}

static sw_rc starts_and_ends(sw_comm *comm, const sw_mesh *m, int64_t device, sw_diag *d) {
  static one_call calls[2]; /* outlive the device's program */
  sw_comm_request *started;
  make_call(&calls[device], m, SW_COLL_BROADCAST, 2);
  if (device == 1) return sw_comm_start(comm, device, &calls[device].call, &started, d);
  return sw_comm_run(comm, device, &calls[device].call, d);
}

static const struct {
  program run;
  const char *says[3];
} kWrong[] = {
    {differs_in_the_last_call,
     {"device 0 calls at position 4 'broadcast", "device 1 of its group at position 4 'gather",
      "they differ in the op"}},
    {ends_while_a_gather_is_ahead, {"device 1, which waits at position 8 in 'gather", "device 0, which has ended", ""}},
    {makes_one_call_for_another,
     {"device 0 calls at position 1 'broadcast", "device 1 of its group at position 2", "they differ in the position"}},
    {sends_what_nobody_receives, {"device 0", "device 1 sen", "position 6"}}, /* sent, or sends */
    {receives_too_few, {"device 1 has ended its program", "device 0 sent at position 6", ""}},
    {starts_and_ends, {"device 1 has ended without waiting for its call at position 2", "", ""}},
};

typedef struct device_thread {
  pthread_t thread;
  sw_comm *comm;
  const sw_mesh *mesh;
  program run;
  int64_t device;
  sw_rc rc;
  sw_diag diag;
} device_thread;

/* The devices' own threads only leave. */
static void *run_and_leave(void *user) {
  device_thread *t = user;
  t->rc = t->run(t->comm, t->mesh, t->device, &t->diag);
  t->rc = sw_comm_leave(t->comm, t->device, t->rc, t->diag.text, &t->diag);
  return NULL;
}

static sw_rc run_own_threads(sw_comm *comm, const sw_mesh *m, program p, sw_diag *d) {
  device_thread threads[2];
  sw_rc rc = SW_OK;
  for (int i = 0; i < 2; i++) {
    threads[i] = (device_thread){.comm = comm, .mesh = m, .run = p, .device = i};
    assert_int_equal(pthread_create(&threads[i].thread, NULL, run_and_leave, &threads[i]), 0);
  }
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pthread_join(threads[i].thread, NULL), 0);
    if (!rc && threads[i].rc) *d = threads[i].diag;
    if (!rc) rc = threads[i].rc;
  }
  return rc;
}

typedef struct launched {
  const sw_mesh *mesh;
  program run;
} launched;

static sw_rc run_launched(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  const launched *l = user;
  return l->run(comm, l->mesh, device, d);
}

/* `threads` 0: the devices' own. */
static sw_rc run_program(program p, int threads, const sw_comm_options *o, sw_diag *d) {
  sw_mesh mesh = mesh_of("2");
  sw_comm *comm;
  launched l = {&mesh, p};
  assert_int_equal(sw_comm_create_threads(&mesh, o, &comm, d), SW_OK);
  sw_rc rc = threads ? sw_comm_launch(comm, run_launched, &l, &(sw_launch_options){.threads = threads}, d)
                     : run_own_threads(comm, &mesh, p, d);
  sw_comm_destroy(comm);
  return rc;
}

static void whatever_went_wrong_is_heard(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof kWrong / sizeof kWrong[0]; k++)
    for (int i = 0; i < check_scale(20) * 3; i++) {
      diag = (sw_diag){0};
      assert_int_equal(run_program(kWrong[k].run, i % 3, NULL, &diag), SW_E_RESOURCE);
      for (int w = 0; w < 3; w++)
        if (!strstr(diag.text, kWrong[k].says[w])) fail_msg("program %d: %s", (int)k, diag.text);
    }
}

/* --- what is no fault --------------------------------------------------------------------------------------------- */

/* As the clock of a process that is stopped for a thousand seconds between two looks. */
static double jumping_clock(void *user) {
  return sw_now_s() + (atomic_fetch_add((atomic_int *)user, 1) > 2 ? 1000 : 0);
}

static sw_rc comes_late(sw_comm *comm, const sw_mesh *m, int64_t device, sw_diag *d) {
  if (device == 1) (void)usleep(200000);
  return run(comm, m, device, SW_COLL_ALL_REDUCE, 0, d);
}

static void a_process_may_be_stopped(void **state) {
  (void)state;
  for (int threads = 0; threads < 3; threads++) {
    diag = (sw_diag){0};
    atomic_int looks = 0;
    sw_comm_options o = {.timeout_s = 10, .now_s = jumping_clock, .now_user = &looks};
    if (run_program(comes_late, threads, &o, &diag)) fail_msg("%s", diag.text);
    if (threads != 1) assert_true(atomic_load(&looks) > 3); /* else who waits looks but when the other has come */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whatever_went_wrong_is_heard),
      cmocka_unit_test(a_process_may_be_stopped),
  };
  return cmocka_run_group_tests_name("comm, ends of programs", tests, NULL, NULL);
}
