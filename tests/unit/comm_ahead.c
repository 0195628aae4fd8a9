/* Calls that a device leaves before the others come to them: how far it may be ahead, and that nothing that goes wrong
 * in them stays unsaid. Also calls that are made again and again, whose results follow a schedule. */
#include "check.h"
#include "support/meshes.h"

#include <stdatomic.h>
#include <unistd.h>

#include "shardwright/comm.h"
#include "comm/comm_suite.h"

enum { AHEAD = 64 }; /* calls, as comm.h says */

typedef struct vector {
  int32_t at[4];
} vector;

/* One call along the mesh's first axis: of an n-th of the vector where the op takes or gives a piece. */
static sw_rc call(sw_comm *comm, const sw_mesh *m, int64_t device, sw_coll_op op, int64_t root, const vector *x,
                  vector *y, int64_t where, sw_diag *d) {
  int64_t n = m->axis[0].size, whole = n * 2, piece = 2;
  sw_collective c = {.op = op, .n_axes = 1, .n_root = 1, .root = {root}, .offset = 1};
  c.axes[0] = sw_axis_whole(m, 0);
  bool joins = op == SW_COLL_GATHER || op == SW_COLL_ALL_GATHER, cuts = op == SW_COLL_SCATTER;
  if (op == SW_COLL_SHIFT || op == SW_COLL_ALL_GATHER || op == SW_COLL_ALL_REDUCE) c.n_root = 0;
  int64_t in = joins ? piece : whole, out = cuts ? piece : whole;
  sw_buffer from = {(void *)(uintptr_t)x, SW_I32, 1, {in}, {in}}, to = {y, SW_I32, 1, {out}, {out}};
  return sw_comm_run(comm, device, &(sw_comm_call){.coll = &c, .in = &from, .out = &to, .where = where}, d);
}

static sw_rc message(sw_comm *comm, const sw_mesh *m, int64_t device, sw_coll_op op, int64_t peer, sw_diag *d) {
  vector x = {{0}};
  sw_collective c = {.op = op, .n_axes = 1, .n_root = 1, .root = {peer}};
  c.axes[0] = sw_axis_whole(m, 0);
  sw_buffer b = {&x, SW_I32, 1, {1}, {1}};
  sw_comm_call one = {.coll = &c, .in = op == SW_COLL_SEND ? &b : NULL, .out = op == SW_COLL_RECV ? &b : NULL};
  one.where = 90;
  return sw_comm_run(comm, device, &one, d);
}

/* --- how far --- */

typedef struct leads {
  const sw_mesh *mesh;
  sw_coll_op op;
  int64_t first; /* makes all its calls, then sends a message that the other waits for before its calls */
  int calls;
} leads;

static sw_rc one_leads(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  const leads *l = user;
  vector x, y;
  if (device != l->first) SW_TRY(message(comm, l->mesh, device, SW_COLL_RECV, l->first, d));
  for (int i = 0; i < l->calls; i++) {
    x = (vector){{i, i + 1, i + 2, i + 3}};
    y = (vector){{-1, -1, -1, -1}};
    SW_TRY(call(comm, l->mesh, device, l->op, 0, &x, &y, i, d));
    bool gets = l->op == SW_COLL_GATHER ? device == 0 : true;
    int32_t want = l->op == SW_COLL_SCATTER ? i + 2 * (int32_t)device : l->op == SW_COLL_REDUCE ? 2 * i : i;
    if (l->op == SW_COLL_REDUCE) gets = device == 0;
    if (l->op == SW_COLL_SHIFT) gets = device == 1;
    if (gets && y.at[0] != want) return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "call %d: got %d", i, y.at[0]);
  }
  return device == l->first ? message(comm, l->mesh, device, SW_COLL_SEND, 1 - l->first, d) : SW_OK;
}

static const struct {
  sw_coll_op op;
  int64_t first;
} kLeaders[] = {
    {SW_COLL_BROADCAST, 0}, {SW_COLL_SCATTER, 0}, {SW_COLL_GATHER, 1}, {SW_COLL_REDUCE, 1}, {SW_COLL_SHIFT, 0},
};

static void who_needs_nobody_goes_ahead(void **state) {
  (void)state;
  sw_mesh mesh = mesh_of("2");
  for (size_t k = 0; k < sizeof kLeaders / sizeof kLeaders[0]; k++)
    for (int threads = 1; threads <= 2; threads++) {
      sw_comm *comm;
      leads l = {&mesh, kLeaders[k].op, kLeaders[k].first, AHEAD};
      assert_ok(sw_comm_create_threads(&mesh, NULL, &comm, &diag));
      assert_ok(sw_comm_launch(comm, one_leads, &l, &(sw_launch_options){.threads = threads}, &diag));
      sw_comm_destroy(comm);
    }
}

/* One call more, and it waits for the other, which waits for its message. */
static void nobody_goes_further_ahead(void **state) {
  (void)state;
  sw_mesh mesh = mesh_of("2");
  for (size_t k = 0; k < sizeof kLeaders / sizeof kLeaders[0]; k++) {
    diag = (sw_diag){0};
    sw_comm *comm;
    leads l = {&mesh, kLeaders[k].op, kLeaders[k].first, AHEAD + 1};
    assert_ok(sw_comm_create_threads(&mesh, NULL, &comm, &diag));
    double start = sw_now_s();
    assert_int_equal(sw_comm_launch(comm, one_leads, &l, NULL, &diag), SW_E_RESOURCE);
    assert_true(sw_now_s() - start < 10);
    if (!strstr(diag.text, "deadlock") || !strstr(diag.text, "until all have ended call 1 of its group"))
      fail_msg("%s", diag.text);
    sw_comm_destroy(comm);
  }
}

/* --- differences --- */

/* A call of each device, in which it needs nobody, or one other. */
typedef struct differing {
  sw_coll_op op[3];
  int64_t root[3];
  int before, after; /* calls alike */
  const char *says;
} differing;

static const differing kDiffering[] = {
    {{SW_COLL_BROADCAST, SW_COLL_GATHER}, {0, 0}, 0, 0, "they differ in the op"},
    {{SW_COLL_BROADCAST, SW_COLL_GATHER}, {0, 0}, 3, 0, "they differ in the op"},
    {{SW_COLL_BROADCAST, SW_COLL_GATHER}, {0, 0}, 5, 20, "they differ in the op"},
    {{SW_COLL_BROADCAST, SW_COLL_BROADCAST}, {0, 1}, 2, 0, "they differ in the root"},
    {{SW_COLL_SCATTER, SW_COLL_BROADCAST}, {0, 1}, 7, 1, "they differ in the op"},
    {{SW_COLL_GATHER, SW_COLL_GATHER}, {1, 0}, 1, 0, "they differ in the root"},
    {{SW_COLL_SHIFT, SW_COLL_REDUCE}, {0, 0}, 1, 2, "they differ in the op"},
    {{SW_COLL_SHIFT, SW_COLL_BROADCAST}, {0, 1}, 9, 0, "they differ in the op"},
    {{SW_COLL_REDUCE, SW_COLL_ALL_REDUCE}, {1, 0}, 1, 0, "they differ in the op"},
    {{SW_COLL_BROADCAST, SW_COLL_GATHER}, {0, 0}, 57, 90, "they differ in the op"},
    {{SW_COLL_BROADCAST, SW_COLL_BROADCAST}, {0, 1}, 38, 40, "they differ in the root"},
    {{SW_COLL_GATHER, SW_COLL_SCATTER}, {1, 0}, 66, 11, "they differ in the op"},
};

typedef struct differing_run {
  const sw_mesh *mesh;
  const differing *row;
  int64_t first; /* comes a little earlier; -1: nobody */
} differing_run;

static sw_rc differ_once(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  const differing_run *r = user;
  const differing *row = r->row;
  vector x = {{1, 2, 3, 4}}, y;
  for (int i = 0; i < row->before; i++) /* the same some times, then another */
    SW_TRY(call(comm, r->mesh, device, SW_COLL_BROADCAST, i / 7 % 2, &x, &y, 100 + i, d));
  if (r->first >= 0 && r->first != device) (void)usleep(3000);
  SW_TRY(call(comm, r->mesh, device, row->op[device], row->root[device], &x, &y, 50 + device, d));
  for (int i = 0; i < row->after; i++)
    SW_TRY(call(comm, r->mesh, device, SW_COLL_BROADCAST, i / 9 % 2, &x, &y, 200 + i, d));
  return SW_OK;
}

static void check_difference(const sw_mesh *mesh, const differing *row, int64_t first, int threads) {
  diag = (sw_diag){0};
  sw_comm *comm;
  differing_run r = {mesh, row, first};
  assert_ok(sw_comm_create_threads(mesh, NULL, &comm, &diag));
  assert_int_equal(sw_comm_launch(comm, differ_once, &r, &(sw_launch_options){.threads = threads}, &diag),
                   SW_E_RESOURCE);
  static const char *const kAll[] = {"device 0", "device 1", "position 50", "position 51"};
  for (size_t i = 0; i < sizeof kAll / sizeof kAll[0]; i++)
    if (!strstr(diag.text, kAll[i]) || !strstr(diag.text, row->says)) fail_msg("%s", diag.text);
  sw_comm_destroy(comm);
}

static void every_difference_is_told(void **state) {
  (void)state;
  sw_mesh mesh = mesh_of("2");
  for (size_t k = 0; k < sizeof kDiffering / sizeof kDiffering[0]; k++)
    for (int64_t first = -1; first < 2; first++)
      for (int threads = 1; threads <= 2; threads++) check_difference(&mesh, &kDiffering[k], first, threads);
}

/* --- calls that others never come to --- */

typedef struct skipping {
  const sw_mesh *mesh;
  int64_t who;
  bool sleeps; /* instead of skipping the last call */
} skipping;

static sw_rc skip_last(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  const skipping *s = user;
  vector x = {{1}}, y;
  for (int i = 0; i < 6; i++) {
    if (i == 5 && device == s->who) {
      if (!s->sleeps) return SW_OK;
      (void)usleep(300000);
    }
    SW_TRY(call(comm, s->mesh, device, SW_COLL_BROADCAST, 0, &x, &y, i, d));
  }
  return SW_OK;
}

static void a_call_that_nobody_comes_to_is_told_at_the_end(void **state) {
  (void)state;
  sw_mesh mesh = mesh_of("2");
  for (int threads = 1; threads <= 2; threads++) {
    diag = (sw_diag){0};
    sw_comm *comm;
    assert_ok(sw_comm_create_threads(&mesh, NULL, &comm, &diag));
    skipping s = {&mesh, 1, false};
    assert_int_equal(sw_comm_launch(comm, skip_last, &s, &(sw_launch_options){.threads = threads}, &diag),
                     SW_E_RESOURCE);
    if (!strstr(diag.text, "position 5") || !strstr(diag.text, "device 1, which has ended its program"))
      fail_msg("%s", diag.text);
    sw_comm_destroy(comm);
  }
}

/* A clock that runs by itself: every look is a second later. */
static double fast_clock(void *user) { return atomic_fetch_add((atomic_int *)user, 1); }

static void the_end_waits_no_longer_than_the_timeout(void **state) {
  (void)state;
  sw_mesh mesh = mesh_of("2");
  diag = (sw_diag){0};
  sw_comm *comm;
  atomic_int ticks = 0;
  sw_comm_options o = {.timeout_s = 3, .now_s = fast_clock, .now_user = &ticks};
  assert_ok(sw_comm_create_threads(&mesh, &o, &comm, &diag));
  skipping s = {&mesh, 1, true};
  assert_int_equal(sw_comm_launch(comm, skip_last, &s, &(sw_launch_options){.threads = 2}, &diag), SW_E_RESOURCE);
  if (!strstr(diag.text, "timeout after 3 s") || !strstr(diag.text, "it misses device 1")) fail_msg("%s", diag.text);
  sw_comm_destroy(comm);
}

/* Ended calls need not be told of: a device that computes long after its last call holds nobody up. */
static sw_rc compute_after(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  vector x = {{7}}, y = {{0}};
  SW_TRY(call(comm, user, device, SW_COLL_BROADCAST, 0, &x, &y, 0, d));
  if (device == 0) return SW_OK; /* and leaves */
  (void)usleep(300000);
  return y.at[0] == 7 ? SW_OK : SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "got %d", y.at[0]);
}

static void leaving_waits_for_coming_only(void **state) {
  (void)state;
  sw_mesh mesh = mesh_of("2");
  sw_comm *comm;
  assert_ok(sw_comm_create_threads(&mesh, &(sw_comm_options){.timeout_s = 0.2}, &comm, &diag));
  assert_ok(sw_comm_launch(comm, compute_after, &mesh, &(sw_launch_options){.threads = 2}, &diag));
  sw_comm_destroy(comm);
}

/* --- again and again --- */

typedef struct rounds {
  sw_comm_suite *suite;
  int n;
} rounds;

static sw_rc play_rounds(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  const rounds *r = user;
  for (int i = 0; i < r->n; i++) SW_TRY(sw_comm_suite_run(r->suite, comm, device, NULL, d));
  return SW_OK;
}

static void calls_made_again_give_the_same(void **state) {
  (void)state;
  static const char *const kMeshes[] = {"2", "3", "2x2", "4x2", "5", "1"};
  uint64_t seed = check_seed(20260401);
  for (int i = 0; i < check_scale(150); i++) {
    diag = (sw_diag){0};
    sw_arena arena = {0};
    sw_mesh mesh = mesh_of(kMeshes[i % (int)(sizeof kMeshes / sizeof kMeshes[0])]);
    rounds r = {.n = 4};
    sw_comm *comm;
    assert_ok(sw_comm_suite_build(&mesh, seed + (uint64_t)i, 5, &arena, &r.suite, &diag));
    assert_ok(sw_comm_create_threads(&mesh, &(sw_comm_options){.jitter_seed = i % 5 ? 0 : seed}, &comm, &diag));
    if (sw_comm_launch(comm, play_rounds, &r, &(sw_launch_options){.threads = i % 3}, &diag))
      fail_msg("program %d: %s", i, diag.text);
    sw_comm_destroy(comm);
    sw_arena_deinit(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_needs_nobody_goes_ahead),
      cmocka_unit_test(nobody_goes_further_ahead),
      cmocka_unit_test(every_difference_is_told),
      cmocka_unit_test(a_call_that_nobody_comes_to_is_told_at_the_end),
      cmocka_unit_test(the_end_waits_no_longer_than_the_timeout),
      cmocka_unit_test(leaving_waits_for_coming_only),
      cmocka_unit_test(calls_made_again_give_the_same),
  };
  return cmocka_run_group_tests_name("comm, ahead of others", tests, NULL, NULL);
}
