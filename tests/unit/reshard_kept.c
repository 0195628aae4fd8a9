/* Threads that share a machine find what each finds alone, and routes are found, or refused, where memory runs short.
 */
#include <pthread.h>

#include "../reshard_case.h"

enum { N_DIMS = 2 };
static const int64_t kDims[N_DIMS][3] = {{192, 192, 384}, {3072, 6144, 1536}};

enum { THREADS = 4, ASKED = 60 };

typedef struct asking {
  const sw_machine *machine;
  uint64_t seed;
  double sum_s; /* of all prices */
} asking;

static void *ask(void *user) {
  asking *a = user;
  const sw_mesh *m = sw_machine_mesh(a->machine);
  rng r = {a->seed};
  for (int i = 0; i < ASKED; i++) {
    const int rank = 1 + (int)rng_below(&r, 3);
    const bool partial = rng_below(&r, 2) == 0;
    const sw_sharding from = random_sharding(&r, m, rank, partial), to = random_sharding(&r, m, rank, false);
    a->sum_s += sw_route_cost_s(&(sw_reshard){a->machine, &from, &to, rank, kDims[i % N_DIMS], SW_BF16, {0}});
  }
  return NULL;
}

static const sw_machine *flat_machine(sw_arena *arena, const char *mesh_text) {
  sw_profile *p;
  sw_mesh mesh;
  sw_machine *machine;
  p = sw_arena_alloc(arena, 1, sizeof *p, &diag);
  assert_non_null(p);
  flat_profile(p, 64, 1e-6, 1e-9);
  assert_ok(sw_mesh_parse(mesh_text, arena, &mesh, &diag));
  assert_ok(sw_machine_build(arena, p, &mesh, &machine, &diag));
  return machine;
}

static void threads_share_a_machine(void **state) {
  const char *mesh = *state;
  sw_arena arena = {0};
  const uint64_t seed = check_seed(64);
  asking shared[THREADS];
  pthread_t thread[THREADS];
  const sw_machine *machine = flat_machine(&arena, mesh);
  for (int i = 0; i < THREADS; i++) {
    shared[i] = (asking){machine, seed + (uint64_t)i, 0};
    assert_int_equal(pthread_create(&thread[i], NULL, ask, &shared[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
  for (int i = 0; i < THREADS; i++) {
    asking alone = {flat_machine(&arena, mesh), seed + (uint64_t)i, 0};
    (void)ask(&alone);
    assert_true(alone.sum_s > 0 && alone.sum_s == shared[i].sum_s);
  }
  sw_arena_deinit(&arena);
}

typedef struct short_row {
  const char *mesh, *from, *to;
} short_row;

static sw_sharding parsed(const sw_machine *machine, const char *text, sw_arena *arena) {
  sw_sharding s;
  assert_ok(sw_sharding_parse(sw_machine_mesh(machine), 2, text, strlen(text), SW_NOWHERE, arena, &s, &diag));
  return s;
}

/* A route that a machine finds while memory lasts for so many pieces: a new one, or one that has found the way back. */
static sw_rc find_with_pieces(const short_row *row, int pieces, bool anew, sw_route *route) {
  sw_arena arena = {0}, scratch = {0};
  const sw_machine *machine = flat_machine(&arena, row->mesh);
  const sw_sharding from = parsed(machine, row->from, &arena), to = parsed(machine, row->to, &arena);
  const sw_reshard wanted = {machine, &from, &to, 2, kDims[0], SW_BF16, {0}};
  const sw_reshard back = {machine, &to, &from, 2, kDims[0], SW_BF16, {0}};
  if (!anew) assert_true(sw_route_cost_s(&back) > 0);
  sw_mem_fail_after(pieces);
  const sw_rc rc = sw_route_find(&wanted, &scratch, route, &diag);
  sw_mem_fail_after(0);
  assert_true(rc || route->cost_s == sw_route_cost_s(&wanted));
  sw_arena_deinit(&scratch);
  sw_arena_deinit(&arena);
  return rc;
}

/* Wherever memory runs short the route is refused, or found all the same. */
static void memory_runs_short(void **state) {
  enum { ENOUGH = 60 };
  static const short_row kRows[] = {{"x=2,y=2,z=2", "[[x],[]] partial sum[y]", "[[],[x]]"},
                                    {"x=8,y=2,z=4", "[[x:(1)2,y],[z:(2)2]]", "[[z],[x:(2)4]]"}};
  (void)state;
  for (int i = 0; i < 4; i++) {
    const bool anew = i % 2 == 0;
    int refused = 0;
    sw_route route;
    for (int pieces = 1; pieces < ENOUGH; pieces++) {
      const sw_rc rc = find_with_pieces(&kRows[i / 2], pieces, anew, &route);
      assert_true(rc == SW_OK || rc == SW_E_RESOURCE);
      refused += rc != SW_OK;
    }
    assert_true(refused > (anew ? 3 : 0) && refused < ENOUGH / 2);
    assert_ok(find_with_pieces(&kRows[i / 2], ENOUGH, anew, &route));
    assert_true(route.cost_s > 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(threads_share_a_machine, "x=4,y=2,z=3"),
      cmocka_unit_test_prestate(threads_share_a_machine, "x=8,y=2,z=4"),
      cmocka_unit_test(memory_runs_short),
  };
  return cmocka_run_group_tests_name("reshard_kept", tests, NULL, NULL);
}
