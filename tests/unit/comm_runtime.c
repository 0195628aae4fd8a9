/* What the runtime promises beside right results: that allocations may fail anywhere, that groups do not wait for each
 * other, pinning, a thousand devices, the flight record, rows of the bench. */
#include "check.h"
#include "support/meshes.h"

#include <sched.h>

#include "base/checked.h"
#include "comm/comm_bench.h"
#include "shardwright/comm.h"
#include "comm/comm_suite.h"

static sw_collective along(const sw_mesh *m, sw_coll_op op, int axis) {
  sw_collective c = {.op = op, .n_axes = 1};
  c.axes[0] = sw_axis_whole(m, axis);
  return c;
}

/* --- every allocation of a program fails once ------------------------------------------------------------------- */

static sw_rc play(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  return sw_comm_suite_run(user, comm, device, NULL, d);
}

/* The n-th allocation from now on fails. */
static sw_rc run_suite(const sw_mesh *mesh, sw_comm_suite *suite, long n, sw_diag *d) {
  sw_comm *comm = NULL;
  sw_mem_fail_after(n);
  sw_rc rc = sw_comm_create_threads(mesh, NULL, &comm, d);
  if (!rc) rc = sw_comm_launch(comm, play, suite, NULL, d);
  sw_mem_fail_after(0);
  sw_comm_destroy(comm);
  return rc;
}

static void any_allocation_may_fail(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_mesh mesh = mesh_of("2x2");
  sw_comm_suite *suite;
  assert_ok(sw_comm_suite_build(&mesh, check_seed(20260301), 25, &arena, &suite, &diag));
  long n = 1;
  for (sw_rc rc = SW_E_RESOURCE; rc; n++) {
    sw_diag end = {0};
    rc = run_suite(&mesh, suite, n, &end);
    if (rc && (rc != SW_E_RESOURCE || strncmp(end.text, "timeout", 7) == 0))
      fail_msg("allocation %ld failed, and the run ended with %d: %s", n, (int)rc, end.text);
    assert_true(n < 5000);
  }
  assert_true(n > 50);
  sw_arena_deinit(&arena);
}

/* --- groups ------------------------------------------------------------------------------------------------------ */

/* The devices of row 1 wait for a message that row 0 sends after a hundred sums of its own. */
static sw_rc rows_do_not_wait(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  const sw_mesh *m = user;
  float x = 1, y = 0;
  sw_buffer in = {&x, SW_F32, 1, {1}, {1}}, out = {&y, SW_F32, 1, {1}, {1}};
  sw_collective sum = along(m, SW_COLL_ALL_REDUCE, 1), send = along(m, SW_COLL_SEND, 0),
                recv = along(m, SW_COLL_RECV, 0);
  send.n_root = recv.n_root = 1;
  send.root[0] = 1;
  if (device >= 2) SW_TRY(sw_comm_run(comm, device, &(sw_comm_call){.coll = &recv, .out = &out}, d));
  for (int i = 0; i < 100; i++)
    SW_TRY(sw_comm_run(comm, device, &(sw_comm_call){.coll = &sum, .in = &in, .out = &out}, d));
  if (device < 2) SW_TRY(sw_comm_run(comm, device, &(sw_comm_call){.coll = &send, .in = &in}, d));
  return y == 2 ? SW_OK : SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "got %g", (double)y);
}

static void disjoint_groups_do_not_wait_for_each_other(void **state) {
  (void)state;
  for (int threads = 1; threads <= 4; threads++) {
    sw_mesh mesh = mesh_of("2x2");
    sw_comm *comm;
    assert_ok(sw_comm_create_threads(&mesh, NULL, &comm, &diag));
    assert_ok(sw_comm_launch(comm, rows_do_not_wait, &mesh, &(sw_launch_options){.threads = threads}, &diag));
    sw_comm_destroy(comm);
  }
}

/* --- threads ----------------------------------------------------------------------------------------------------- */

static sw_rc look_at_core(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  cpu_set_t set;
  (void)comm, (void)d;
  if (sched_getaffinity(0, sizeof set, &set) == 0) ((int *)user)[device] = CPU_COUNT(&set);
  return SW_OK;
}

static void a_device_with_a_core_is_pinned(void **state) {
  (void)state;
  sw_mesh mesh = mesh_of("1");
  sw_comm *comm;
  int cores[2] = {0};
  for (int pin = 0; pin < 2; pin++) {
    assert_ok(sw_comm_create_threads(&mesh, NULL, &comm, &diag));
    assert_ok(sw_comm_launch(comm, look_at_core, &cores[pin], &(sw_launch_options){.pin = pin != 0}, &diag));
    sw_comm_destroy(comm);
  }
  assert_int_equal(cores[1], 1);
  assert_true(cores[0] >= cores[1]);
}

static sw_rc sum_of_all(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  const sw_mesh *m = user;
  int64_t n = sw_mesh_devices(m), sum = n * (n - 1) / 2;
  int32_t x = (int32_t)device, y = 0, all[1024] = {0};
  sw_buffer in = {&x, SW_I32, 1, {1}, {1}}, out = {&y, SW_I32, 1, {1}, {1}}, joined = {all, SW_I32, 1, {n}, {n}};
  sw_collective reduce = along(m, SW_COLL_ALL_REDUCE, 0), gather = along(m, SW_COLL_ALL_GATHER, 0);
  for (int i = 0; i < 3; i++)
    SW_TRY(sw_comm_run(comm, device, &(sw_comm_call){.coll = &reduce, .in = &in, .out = &out}, d));
  SW_TRY(sw_comm_run(comm, device, &(sw_comm_call){.coll = &gather, .in = &in, .out = &joined}, d));
  for (int64_t i = 0; i < n; i++) sum -= all[i] == i ? 0 : 1;
  return y == sum ? SW_OK : SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "got %d", y);
}

static void a_thousand_devices(void **state) {
  (void)state;
  const int most = (int)sw_min_i64(1024, check_scale(1024)), devices[] = {1, most / 2, most};
  for (int i = 0; i < 3; i++) {
    char text[12];
    snprintf(text, sizeof text, "%d", devices[i]);
    sw_mesh mesh = mesh_of(text);
    sw_comm *comm;
    assert_ok(sw_comm_create_threads(&mesh, NULL, &comm, &diag));
    assert_ok(sw_comm_launch(comm, sum_of_all, &mesh, NULL, &diag));
    sw_comm_destroy(comm);
  }
}

/* --- the flight record ------------------------------------------------------------------------------------------- */

static sw_rc three_sums_but_one(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  sw_collective sum = along(user, SW_COLL_ALL_REDUCE, 0);
  float x = 1, y;
  sw_buffer in = {&x, SW_F32, 0, {0}, {0}}, out = {&y, SW_F32, 0, {0}, {0}};
  for (int i = 0; i < (device == 2 ? 2 : 3); i++)
    SW_TRY(sw_comm_run(comm, device, &(sw_comm_call){.coll = &sum, .in = &in, .out = &out, .where = 40 + i}, d));
  return SW_OK;
}

static void the_report_tells_where_each_device_stands(void **state) {
  (void)state;
  diag = (sw_diag){0};
  sw_mesh mesh = mesh_of("3");
  sw_comm *comm;
  sw_text report = {0};
  assert_ok(sw_comm_create_threads(&mesh, NULL, &comm, &diag));
  assert_int_equal(sw_comm_launch(comm, three_sums_but_one, &mesh, NULL, &diag), SW_E_RESOURCE);
  assert_non_null(strstr(diag.text, "device 2, which has ended its program"));
  sw_comm_report(comm, &report);
  /* whoever waits for device 2 ends the run; the other may not have come to its third call */
  int waiting = 0;
  for (int device = 0; device < 2; device++) {
    char before[80], within[120];
    snprintf(before, sizeof before, "device %d: failed, 2 calls: all_reduce@40, all_reduce@41\n", device);
    snprintf(within, sizeof within,
             "device %d: failed, 3 calls: all_reduce@40, all_reduce@41, all_reduce@42 (not ended)\n", device);
    bool waits = strstr(sw_text_str(&report), within) != NULL;
    assert_true(waits || strstr(sw_text_str(&report), before));
    waiting += waits;
  }
  assert_true(waiting > 0);
  assert_non_null(strstr(sw_text_str(&report), "device 2: ended, 2 calls: all_reduce@40, all_reduce@41\n"));
  sw_text_free(&report);
  sw_comm_destroy(comm);
}

/* --- the bench --------------------------------------------------------------------------------------------------- */

static const struct {
  const char *mesh, *axes;
  sw_dtype dtype;
  sw_reduction reduction;
  int64_t bytes, group;
} kBenches[] = {
    {"2", "[0]", SW_F32, SW_REDUCE_SUM, 8, 2},
    {"3", "[0]", SW_F64, SW_REDUCE_PRODUCT, 999, 3},
    {"x=2,y=4", "[y]", SW_BF16, SW_REDUCE_MAX, 4096, 4},
    {"x=2,y=4", "[y,x]", SW_I8, SW_REDUCE_AVERAGE, 70000, 8},
    {"x=4", "[x:(1)2]", SW_F8E4M3FN, SW_REDUCE_SUM, 64, 2},
};

static void bench_one(size_t k, sw_coll_op op) {
  sw_mesh mesh = mesh_of(kBenches[k].mesh);
  sw_comm_bench b = {.op = op, .mesh = &mesh, .bytes = kBenches[k].bytes, .dtype = kBenches[k].dtype, .min_s = 1e-5};
  const char *at = kBenches[k].axes + 1, *end = kBenches[k].axes + strlen(kBenches[k].axes);
  b.reduction = kBenches[k].reduction;
  for (; *at != ']'; at += *at == ',') assert_ok(sw_axis_ref_parse(&mesh, &at, end, &b.axes[b.n_axes++], &diag));
  sw_comm_bench_row row;
  assert_ok(sw_comm_bench_run(&b, &row, &diag));
  assert_int_equal(row.wrong, 0);
  assert_int_equal(row.wrong_in_place, 0);
  assert_true(row.time_s > 0);
  if (op == SW_COLL_BARRIER || op == SW_COLL_SHIFT) return;
  assert_int_equal(row.group, kBenches[k].group);
  assert_true(row.in_place_s > 0);
  assert_true(row.bytes <= sw_max_i64(kBenches[k].bytes, row.group * sw_dtype_bytes(b.dtype)));
}

static void benches_give_no_wrong_element(void **state) {
  (void)state;
  int turn = 0;
  for (size_t k = 0; k < sizeof kBenches / sizeof kBenches[0]; k++)
    for (int op = 0; op < SW_COLL_COUNT; op++)
      if (sw_comm_bench_knows((sw_coll_op)op) && check_turn(0, turn++)) bench_one(k, (sw_coll_op)op);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_allocation_may_fail),
      cmocka_unit_test(disjoint_groups_do_not_wait_for_each_other),
      cmocka_unit_test(a_device_with_a_core_is_pinned),
      cmocka_unit_test(a_thousand_devices),
      cmocka_unit_test(the_report_tells_where_each_device_stands),
      cmocka_unit_test(benches_give_no_wrong_element),
  };
  return cmocka_run_group_tests_name("comm runtime", tests, NULL, NULL);
}
