/* mlir-opt 22 reads and verifies the text of routes: all pairs of shardings on 2x4, and random reshards with uneven
 * extents, sub-axes, offsets, halos and partial values; with direct exchanges and without. Skipped where there is no
 * mlir-opt-22. */
#include "mlir_opt.h"
#include "reshard_case.h"

#include "shardwright/emit.h"

static sw_profile profile;

static void write_route(const reshard_case *c, sw_arena *arena, sw_text *out, int *steps) {
  sw_machine *machine;
  sw_route route;
  sw_graph *model;
  sw_spmd spmd;
  assert_ok(sw_machine_build(arena, &profile, &c->mesh, &machine, &diag));
  const sw_reshard wanted = case_wanted(c, machine);
  assert_ok(sw_route_find(&wanted, arena, &route, &diag));
  assert_ok(sw_reshard_model(&wanted, &model, &diag));
  assert_ok(sw_partition_route(model, &wanted, &route, &spmd, &diag));
  assert_ok(sw_spmd_verify(&spmd, &diag));
  assert_ok(sw_emit_spmd(&spmd, SW_SPMD_SHARD, out, &diag));
  sw_text_puts(out, "// -----\n");
  *steps += route.n_steps;
  sw_spmd_deinit(&spmd);
  sw_graph_destroy(model);
}

static void pairs_of_2x4(void **state) {
  (void)state;
  static const char *const kShardings[] = {"[[],[]]",    "[[0],[]]",   "[[1],[]]",  "[[],[0]]",
                                           "[[],[1]]",   "[[0],[1]]",  "[[1],[0]]", "[[0,1],[]]",
                                           "[[1,0],[]]", "[[],[0,1]]", "[[],[1,0]]"};
  enum { N = sizeof kShardings / sizeof kShardings[0] };
  sw_arena arena = {0};
  sw_text text = {0};
  int steps = 0;
  reshard_case c = {.rank = 2, .dtype = SW_F32};
  assert_ok(sw_mesh_parse("x=2,y=4", &arena, &c.mesh, &diag));
  for (int k = 0; k < 4 * N * N; k++) {
    const char *from = kShardings[k / 4 / N], *to = kShardings[k / 4 % N];
    c.dims[0] = k % 2 ? 13 : 16;
    c.dims[1] = k % 2 ? 9 : 16;
    c.options.no_exchange = k % 4 > 1;
    assert_ok(sw_sharding_parse(&c.mesh, 2, from, strlen(from), SW_NOWHERE, &arena, &c.from, &diag));
    assert_ok(sw_sharding_parse(&c.mesh, 2, to, strlen(to), SW_NOWHERE, &arena, &c.to, &diag));
    write_route(&c, &arena, &text, &steps);
  }
  assert_true(steps > 4 * (N * N - N));
  assert_mlir_opt_takes(&text, "reshard_pairs");
  sw_text_free(&text);
  sw_arena_deinit(&arena);
}

/* Nothing of the other mesh can be said by axes of the program's: the last exchange names its grid and who is where. */
static void pairs_to_another_mesh(void **state) {
  (void)state;
  static const char *const kShardings[] = {"[[],[]]",   "[[0],[]]",   "[[],[1]]",
                                           "[[1],[0]]", "[[0,1],[]]", "[[0],[]] partial max[1]"};
  enum { N = sizeof kShardings / sizeof kShardings[0] };
  sw_arena arena = {0};
  sw_text text = {0};
  sw_mesh other;
  int steps = 0;
  reshard_case c = {.rank = 2, .dims = {13, 8}, .dtype = SW_F32};
  assert_ok(sw_mesh_parse("x=2,y=4", &arena, &c.mesh, &diag));
  assert_ok(sw_mesh_parse("a=4,b=2 ids=0,3,1,2,7,4,6,5", &arena, &other, &diag));
  assert_ok(sw_other_mesh_make(&c.mesh, &other, &arena, &c.options.to_mesh, &diag));
  for (int k = 0; k < N * N; k++) {
    const char *from = kShardings[k / N], *to = kShardings[k % N];
    assert_ok(sw_sharding_parse(&c.mesh, 2, from, strlen(from), SW_NOWHERE, &arena, &c.from, &diag));
    assert_ok(sw_sharding_parse(&other, 2, to, strlen(to), SW_NOWHERE, &arena, &c.to, &diag));
    write_route(&c, &arena, &text, &steps);
  }
  assert_true(steps >= N * N - N);
  assert_non_null(strstr(sw_text_str(&text), "grid = array<i64: 4, 2>, place = array<i64: 0, 2, 3, 1, 5, 7, 6, 4>"));
  assert_mlir_opt_takes(&text, "reshard_to_mesh");
  sw_text_free(&text);
  sw_arena_deinit(&arena);
}

/* Axes cut into parts that do not fit each other have no grid; random digits of one axis often are such. */
static bool has_grid(const reshard_case *c) {
  const sw_sharding *ends[2] = {&c->from, &c->to};
  for (int e = 0; e < 2; e++) {
    for (int i = 0; i < ends[e]->n_refs + ends[e]->n_partial; i++) {
      sw_axis_ref r = ends[e]->refs[i];
      if (r.size != c->mesh.axis[r.axis].size && c->mesh.axis[r.axis].size % 3 == 0) return false;
    }
  }
  return true;
}

static void random_routes(void **state) {
  (void)state;
  rng r = {check_seed(61)};
  sw_text text = {0};
  int steps = 0;
  for (int i = 0; i < check_scale(400); i++) {
    sw_arena arena = {0};
    reshard_case c = {.mesh = random_mesh(&r, 4, 48), .rank = 1 + (int)rng_below(&r, 3), .dtype = SW_F32};
    for (int d = 0; d < c.rank; d++) c.dims[d] = 1 + rng_below(&r, 20);
    c.from = random_sharding(&r, &c.mesh, c.rank, true);
    c.to = random_sharding(&r, &c.mesh, c.rank, rng_below(&r, 2) == 0);
    if (rng_below(&r, 6) == 0) random_lists(&r, &arena, c.dims, &c.from);
    if (rng_below(&r, 6) == 0) random_lists(&r, &arena, c.dims, &c.to);
    c.options.no_exchange = rng_below(&r, 3) == 0;
    if (has_grid(&c)) write_route(&c, &arena, &text, &steps);
    sw_arena_deinit(&arena);
  }
  assert_true(steps > 100);
  assert_mlir_opt_takes(&text, "reshard_random");
  sw_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_of_2x4), cmocka_unit_test(pairs_to_another_mesh),
                                     cmocka_unit_test(random_routes)};
  if (!has_mlir_opt()) return MLIR_OPT_SKIPPED;
  flat_profile(&profile, 512, 1e-6, 1e-9);
  return cmocka_run_group_tests_name("interop_reshard", tests, NULL, NULL);
}
