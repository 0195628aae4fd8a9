/* The communicator on threads: random programs against the oracle, faults of every kind, point to point, overlap. */
#include "check.h"

#include <stdatomic.h>
#include <pthread.h>
#include <unistd.h>

#include "shardwright/arena.h"
#include "shardwright/comm.h"
#include "comm/comm_suite.h"

enum { MAX_DEVICES = 1024 };

typedef sw_rc (*device_main)(sw_comm *comm, int64_t device, void *user, sw_diag *d);

typedef struct device_thread {
  pthread_t thread;
  sw_comm *comm;
  int64_t device;
  device_main main;
  void *user;
  sw_rc rc;
  sw_diag diag;
} device_thread;

static void *run_device(void *arg) {
  device_thread *t = arg;
  t->rc = t->main(t->comm, t->device, t->user, &t->diag);
  t->rc = sw_comm_leave(t->comm, t->device, t->rc, t->diag.text, &t->diag);
  return NULL;
}

static device_thread threads[MAX_DEVICES];

/* Tests run twice: a thread per device, and devices that share two threads. */
static bool shared_threads;

static sw_rc keep_result(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  device_thread *t = &((device_thread *)user)[device];
  t->rc = t->main(comm, device, t->user, &t->diag);
  t->rc = sw_comm_leave(comm, device, t->rc, t->diag.text, &t->diag);
  *d = t->diag;
  return t->rc;
}

static void launch_all(sw_comm *comm, int64_t n, device_main main_of_device, void *user) {
  for (int64_t i = 0; i < n; i++)
    threads[i] = (device_thread){.comm = comm, .device = i, .main = main_of_device, .user = user};
  sw_rc rc = sw_comm_launch(comm, keep_result, threads, &(sw_launch_options){.threads = 2}, &diag);
  bool any = false;
  for (int64_t i = 0; i < n; i++) any = any || threads[i].rc;
  if (any) assert_int_not_equal(rc, SW_OK);
  for (int64_t i = 0; rc && !any && i < n; i++) threads[i].rc = rc; /* it could not start */
}

/* Every device on a thread of its own; results stay in `threads`. */
static void run_all(sw_comm *comm, int64_t n, device_main main_of_device, void *user) {
  if (shared_threads) {
    launch_all(comm, n, main_of_device, user);
    return;
  }
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 256 * 1024);
  for (int64_t i = 0; i < n; i++) {
    threads[i] = (device_thread){.comm = comm, .device = i, .main = main_of_device, .user = user};
    assert_int_equal(pthread_create(&threads[i].thread, &attr, run_device, &threads[i]), 0);
  }
  for (int64_t i = 0; i < n; i++) assert_int_equal(pthread_join(threads[i].thread, NULL), 0);
  pthread_attr_destroy(&attr);
}

static void all_fine(int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (threads[i].rc) {
      sw_diag_print(&threads[i].diag, stderr, true);
      fail_msg("device %d returned %d", (int)i, (int)threads[i].rc);
    }
}

static void parse_mesh(const char *text, sw_mesh *mesh) {
  sw_arena arena = {0};
  assert_ok(sw_mesh_parse(text, &arena, mesh, &diag));
  sw_arena_deinit(&arena);
}

/* --- random programs --- */

static sw_rc run_suite(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  return sw_comm_suite_run(user, comm, device, NULL, d);
}

static void one_program(const char *mesh_text, uint64_t seed, int calls, uint64_t jitter) {
  sw_arena arena = {0};
  sw_mesh mesh;
  sw_comm *comm;
  sw_comm_suite *suite;
  parse_mesh(mesh_text, &mesh);
  assert_ok(sw_comm_suite_build(&mesh, seed, calls, &arena, &suite, &diag));
  assert_ok(sw_comm_create_threads(&mesh, &(sw_comm_options){.jitter_seed = jitter}, &comm, &diag));
  run_all(comm, sw_mesh_devices(&mesh), run_suite, suite);
  all_fine(sw_mesh_devices(&mesh));
  sw_comm_destroy(comm);
  sw_arena_deinit(&arena);
}

static void random_programs_agree_with_the_oracle(void **state) {
  (void)state;
  static const char *const kMeshes[] = {"1", "2", "3", "4", "2x2", "2x3", "4x2", "2x2x2", "5", "4x4", "1x3x2"};
  uint64_t seed = check_seed(20260101);
  int programs = check_scale(60);
  for (int i = 0; i < programs; i++)
    one_program(kMeshes[i % (int)(sizeof kMeshes / sizeof kMeshes[0])], seed + (uint64_t)i, 40, i % 3 ? 0 : seed + 1);
}

/* --- faults --- */

/* What one device does differently at call FAULT_AT of a program of all_reduces and all_gathers. */
typedef enum fault {
  NO_FAULT,
  OTHER_OP,
  OTHER_REDUCTION,
  OTHER_DTYPE,
  OTHER_SHAPE,
  OTHER_ROOT,
  OTHER_AXES,
  SKIPS_A_CALL,
  LEAVES,
  FAILS,
  SLEEPS,
  RECEIVES,
  FAULTS
} fault;

enum { FAULT_AT = 3, PROGRAM = 8 };

typedef struct fault_run {
  fault kind;
  int64_t device;
  const sw_mesh *mesh;
} fault_run;

static sw_collective program_call(const sw_mesh *m, int i) {
  sw_collective c = {.op = i % 2 ? SW_COLL_ALL_REDUCE : SW_COLL_BROADCAST, .n_axes = 1, .n_root = i % 2 ? 0 : 1};
  c.axes[0] = sw_axis_whole(m, i % 3 == 0 ? 1 : 0);
  c.root[0] = 0;
  return c;
}

static void apply_fault(const fault_run *f, sw_collective *c, sw_buffer *in, sw_buffer *out) {
  if (f->kind == OTHER_OP) c->op = c->op == SW_COLL_ALL_REDUCE ? SW_COLL_SHIFT : SW_COLL_ALL_REDUCE;
  if (f->kind == OTHER_REDUCTION) c->reduction = SW_REDUCE_MAX;
  if (f->kind == OTHER_DTYPE) in->dtype = out->dtype = SW_I32;
  if (f->kind == OTHER_SHAPE) in->dims[0] = out->dims[0] = in->valid[0] = 3;
  if (f->kind == OTHER_ROOT) c->n_root = 1, c->root[0] = 1;
  if (f->kind == OTHER_AXES) c->axes[0] = sw_axis_whole(f->mesh, 1 - c->axes[0].axis);
  if (f->kind == RECEIVES) c->op = SW_COLL_RECV, c->n_root = 0;
}

static sw_rc faulty_program(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  const fault_run *f = user;
  for (int i = 0; i < PROGRAM; i++) {
    float x[4] = {1, 2, 3, 4}, y[4];
    sw_buffer in = {x, SW_F32, 1, {4}, {4}}, out = {y, SW_F32, 1, {4}, {4}};
    sw_collective c = program_call(f->mesh, i);
    if (i == FAULT_AT + (f->kind == OTHER_ROOT) && device == f->device) { /* OTHER_ROOT: at a broadcast */
      if (f->kind == LEAVES) return SW_OK;
      if (f->kind == FAILS) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "the kernel broke");
      if (f->kind == SKIPS_A_CALL) continue;
      if (f->kind == SLEEPS) usleep(300000);
      apply_fault(f, &c, &in, &out);
    }
    SW_TRY(sw_comm_run(comm, device, &(sw_comm_call){.coll = &c, .in = &in, .out = &out, .where = 100 + i}, d));
  }
  return SW_OK;
}

static const struct {
  fault kind;
  const char *says;
} kFaults[] = {
    {NO_FAULT, NULL},
    {OTHER_OP, "they differ in the op"},
    {OTHER_REDUCTION, "they differ in the reduction"},
    {OTHER_DTYPE, "they differ in the dtype"},
    {OTHER_SHAPE, "they differ in the dims"},
    {OTHER_ROOT, "they differ in the root"},
    {OTHER_AXES, "device 1"},
    {SKIPS_A_CALL, "device 1"},
    {LEAVES, "device 1, which has ended its program"},
    {FAILS, "the kernel broke"},
    {SLEEPS, "timeout after 0.1 s"},
    {RECEIVES, "device 1"},
};

static void every_fault_is_told(void **state) {
  (void)state;
  sw_mesh mesh;
  parse_mesh("x=2,y=3", &mesh);
  for (size_t k = 0; k < sizeof kFaults / sizeof kFaults[0]; k++) {
    sw_comm *comm;
    fault_run f = {kFaults[k].kind, 1, &mesh};
    double timeout = f.kind == SLEEPS ? 0.1 : 60;
    assert_ok(sw_comm_create_threads(&mesh, &(sw_comm_options){.timeout_s = timeout}, &comm, &diag));
    double start = sw_now_s();
    run_all(comm, 6, faulty_program, &f);
    assert_true(sw_now_s() - start < 10);
    int failed = 0;
    for (int i = 0; i < 6; i++) {
      if (!threads[i].rc) continue;
      failed++;
      if (getenv("SW_TEST_VERBOSE") && i == 0) print_message("%s\n", threads[i].diag.text);
      if (!strstr(threads[i].diag.text, kFaults[k].says ? kFaults[k].says : "?"))
        fail_msg("fault %d, device %d: %s", (int)kFaults[k].kind, i, threads[i].diag.text);
      if (f.kind >= OTHER_OP && f.kind <= OTHER_ROOT) assert_non_null(strstr(threads[i].diag.text, "position 10"));
    }
    if (kFaults[k].says)
      assert_true(failed >= 5); /* all but, perhaps, one that has left */
    else
      assert_int_equal(failed, 0);
    sw_text report = {0};
    sw_comm_report(comm, &report);
    assert_non_null(strstr(sw_text_str(&report), "device 5: "));
    sw_text_free(&report);
    sw_comm_destroy(comm);
  }
}

/* A clock that runs by itself: every look is a second later. */
static double fast_clock(void *user) {
  atomic_int *ticks = user;
  return atomic_fetch_add(ticks, 1);
}

static void timeouts_follow_the_given_clock(void **state) {
  (void)state;
  sw_mesh mesh;
  atomic_int ticks = 0;
  parse_mesh("2x3", &mesh);
  sw_comm *comm;
  fault_run f = {SLEEPS, 2, &mesh};
  assert_ok(sw_comm_create_threads(&mesh, &(sw_comm_options){.timeout_s = 3, .now_s = fast_clock, .now_user = &ticks},
                                   &comm, &diag));
  run_all(comm, 6, faulty_program, &f);
  assert_non_null(strstr(threads[0].diag.text, "timeout after 3 s"));
  sw_comm_destroy(comm);
}

static void *cancel_later(void *user) {
  usleep(30000);
  sw_cancel_set(user);
  return NULL;
}

static void cancelling_ends_the_run(void **state) {
  (void)state;
  sw_mesh mesh;
  sw_cancel cancel = {0};
  parse_mesh("2x3", &mesh);
  sw_comm *comm;
  fault_run f = {SLEEPS, 2, &mesh};
  assert_ok(sw_comm_create_threads(&mesh, &(sw_comm_options){.cancel = &cancel}, &comm, &diag));
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, cancel_later, &cancel), 0);
  run_all(comm, 6, faulty_program, &f);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(threads[0].rc, SW_E_CANCELLED);
  sw_comm_destroy(comm);
}

static void a_failed_allocation_ends_the_run_everywhere(void **state) {
  (void)state;
  sw_mesh mesh;
  parse_mesh("2x3", &mesh);
  int failures = 0;
  for (long n = 1; n < 60; n++) {
    sw_comm *comm = NULL;
    fault_run f = {NO_FAULT, 0, &mesh};
    sw_mem_fail_after(n);
    sw_rc rc = sw_comm_create_threads(&mesh, NULL, &comm, &diag);
    if (rc) {
      assert_int_equal(rc, SW_E_RESOURCE);
      failures++;
      sw_mem_fail_after(0);
      continue;
    }
    run_all(comm, 6, faulty_program, &f);
    sw_mem_fail_after(0);
    int failed = 0;
    for (int i = 0; i < 6; i++) failed += threads[i].rc == SW_E_RESOURCE;
    assert_true(failed == 0 || failed == 6);
    failures += failed == 6;
    sw_comm_destroy(comm);
  }
  assert_true(failures >= 10);
}

/* --- point to point --- */

static sw_collective on_ring(const sw_mesh *m, sw_coll_op op, int64_t peer) {
  sw_collective c = {.op = op, .n_axes = 1, .n_root = peer >= 0, .root = {peer}};
  c.axes[0] = sw_axis_whole(m, 0);
  return c;
}

static sw_rc ring_program(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  const sw_mesh *m = user;
  int64_t n = sw_mesh_devices(m);
  for (int32_t round = 0; round < 50; round++) {
    int32_t x = (int32_t)device * 1000 + round, y = -1;
    sw_buffer in = {&x, SW_I32, 1, {1}, {1}}, out = {&y, SW_I32, 1, {1}, {1}};
    sw_collective send = on_ring(m, SW_COLL_SEND, (device + 1) % n);
    sw_collective recv = on_ring(m, SW_COLL_RECV, round % 2 ? -1 : (device + n - 1) % n);
    SW_TRY(sw_comm_run(comm, device, &(sw_comm_call){.coll = &send, .in = &in, .where = round}, d));
    SW_TRY(sw_comm_run(comm, device, &(sw_comm_call){.coll = &recv, .out = &out, .where = round}, d));
    if (y != (int32_t)((device + n - 1) % n) * 1000 + round) return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "got %d", y);
  }
  return SW_OK;
}

static void messages_match_in_program_order(void **state) {
  (void)state;
  sw_mesh mesh;
  parse_mesh("5", &mesh);
  sw_comm *comm;
  assert_ok(sw_comm_create_threads(&mesh, NULL, &comm, &diag));
  run_all(comm, 5, ring_program, &mesh);
  all_fine(5);
  sw_comm_stats stats;
  sw_comm_get_stats(comm, 3, &stats);
  assert_int_equal(stats.calls[SW_COLL_SEND], 50);
  assert_int_equal(stats.bytes_received[SW_COLL_RECV], 200);
  sw_comm_destroy(comm);
}

/* --- overlap --- */

/* An all_reduce of one number along an axis, with the buffers that a started call needs. */
typedef struct one_number {
  float x, y;
  sw_buffer in, out;
  sw_comm_call call;
} one_number;

static void sum_along(one_number *n, int axis, float x) {
  static const sw_collective kSum[2] = {{.op = SW_COLL_ALL_REDUCE, .n_axes = 1, .axes = {{0, 1, 2}}},
                                        {.op = SW_COLL_ALL_REDUCE, .n_axes = 1, .axes = {{1, 1, 2}}}};
  n->x = x;
  n->in = (sw_buffer){&n->x, SW_F32, 1, {1}, {1}};
  n->out = (sw_buffer){&n->y, SW_F32, 1, {1}, {1}};
  n->call = (sw_comm_call){.coll = &kSum[axis], .in = &n->in, .out = &n->out, .where = axis};
}

/* Device 0 starts A, does B, then waits for A; the others do A, then B, every second time in that way too. */
static sw_rc overlap_program(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  (void)user;
  for (int i = 0; i < 100; i++) {
    one_number a, b;
    sw_comm_request *started = NULL;
    sum_along(&a, 0, (float)(device + 1));
    sum_along(&b, 1, 10.0f * (float)(device + 1));
    if (device == 0 || i % 2)
      SW_TRY(sw_comm_start(comm, device, &a.call, &started, d));
    else
      SW_TRY(sw_comm_run(comm, device, &a.call, d));
    SW_TRY(sw_comm_run(comm, device, &b.call, d));
    if (started) SW_TRY(sw_comm_wait(comm, started, d));
    int64_t pair = device / 2;
    float want_a = (float)(device % 2) * 2 + 4, want_b = 10 * (float)(pair * 4 + 3);
    if (a.y != want_a || b.y != want_b)
      return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "got %g %g, expected %g %g", (double)a.y, (double)b.y,
                     (double)want_a, (double)want_b);
  }
  return SW_OK;
}

static void started_calls_progress_while_others_wait(void **state) {
  (void)state;
  sw_mesh mesh;
  parse_mesh("2x2", &mesh);
  sw_comm *comm;
  assert_ok(sw_comm_create_threads(&mesh, &(sw_comm_options){.jitter_seed = 5}, &comm, &diag));
  run_all(comm, 4, overlap_program, &mesh);
  all_fine(4);
  sw_comm_destroy(comm);
}

/* --- generic reduction, many devices --- */

static void keep_last(void *user, void *acc, const void *x, size_t n) {
  (void)user;
  for (size_t i = 0; i < n; i++) ((float *)acc)[i] = ((float *)acc)[i] * 0.5f + ((const float *)x)[i];
}

static sw_rc generic_program(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  const sw_mesh *m = user;
  int64_t n = sw_mesh_devices(m);
  sw_collective c = {.op = SW_COLL_ALL_REDUCE, .n_axes = 1, .reduction = SW_REDUCE_GENERIC};
  c.axes[0] = sw_axis_whole(m, 0);
  sw_combiner own = {keep_last, NULL};
  float x = (float)device, y = -1, want = 0;
  for (int64_t i = 0; i < n; i++) want = i ? want * 0.5f + (float)i : 0;
  sw_buffer in = {&x, SW_F32, 0, {0}, {0}}, out = {&y, SW_F32, 0, {0}, {0}};
  SW_TRY(sw_comm_run(comm, device, &(sw_comm_call){.coll = &c, .in = &in, .out = &out, .generic = &own}, d));
  return y == want ? SW_OK : SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "got %g, expected %g", (double)y, (double)want);
}

static void many_devices(void **state) {
  (void)state;
  static const char *const kMeshes[] = {"7", "64", "512"};
  for (int i = 0; i < 3; i++) {
    sw_mesh mesh;
    sw_comm *comm;
    parse_mesh(kMeshes[i], &mesh);
    assert_ok(sw_comm_create_threads(&mesh, NULL, &comm, &diag));
    run_all(comm, sw_mesh_devices(&mesh), generic_program, &mesh);
    all_fine(sw_mesh_devices(&mesh));
    sw_comm_destroy(comm);
  }
}

static int share_threads(void **state) {
  (void)state;
  shared_threads = true;
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_programs_agree_with_the_oracle),
      cmocka_unit_test(every_fault_is_told),
      cmocka_unit_test(timeouts_follow_the_given_clock),
      cmocka_unit_test(cancelling_ends_the_run),
      cmocka_unit_test(a_failed_allocation_ends_the_run_everywhere),
      cmocka_unit_test(messages_match_in_program_order),
      cmocka_unit_test(started_calls_progress_while_others_wait),
      cmocka_unit_test(many_devices),
  };
  int failed = cmocka_run_group_tests_name("comm, a thread per device", tests, NULL, NULL);
  return failed + cmocka_run_group_tests_name("comm, shared threads", tests, share_threads, NULL);
}
