/* Routes: what an engineer expects in the common cases, and every route carried out by the oracle. */
#include <math.h>

#include "../reshard_case.h"

static sw_diag diag;
static sw_profile profile;

enum { MAX_DEVICES = 512 };

static const sw_machine *machine_of(sw_arena *arena, const sw_mesh *m) {
  sw_machine *machine;
  assert_ok(sw_machine_build(arena, &profile, m, &machine, &diag));
  return machine;
}

typedef struct expect_row {
  const char *mesh, *dims, *from, *to;
  const char *route; /* op[axes]dim ... */
} expect_row;

static const expect_row kExpected[] = {
    {"x=2,y=4", "64,64", "[[x],[y]]", "[[x],[y]]", ""},
    {"x=2,y=4", "64,64", "[[],[]]", "[[x],[]]", "all_slice[x]0"},
    {"x=2,y=4", "64,64", "[[x],[]]", "[[],[]]", "all_gather[x]0"},
    {"x=2,y=4", "64,64", "[[x,y],[]]", "[[x],[]]", "all_gather[y]0"},
    {"x=2,y=4,z=2", "64,64", "[[x,y,z]]", "[[x]]", "all_gather[y,z]0"},
    {"x=2,y=4,z=2", "64,64", "[[],[x,y,z]]", "[[],[]]", "all_gather[x,y,z]1"},
    {"x=2,y=4", "64,64", "[[y],[]]", "[[],[y]]", "all_to_all[y]0>1"},
    {"x=2,y=4", "64,64", "[[x,y],[]]", "[[x],[y]]", "all_to_all[y]0>1"},
    {"x=2,y=4", "64,64", "[[],[]] partial sum[x]", "[[],[]]", "all_reduce[x]"},
    {"x=2,y=4", "64,64", "[[],[]] partial sum[x,y]", "[[],[]]", "all_reduce[x,y]"},
    {"x=2,y=4", "64,64", "[[],[]] partial sum[x]", "[[x],[]]", "reduce_scatter[x]0"},
    {"x=2,y=4", "64,64", "[[x],[]] partial sum[y]", "[[x,y],[]]", "reduce_scatter[y]0"},
    {"x=2,y=4,z=2", "64,64", "[[],[x]] partial sum[y,z]", "[[],[x,y,z]]", "reduce_scatter[y,z]1"},
    {"x=2,y=4", "64,64", "[[],[]] partial max[x]", "[[],[]]", "all_reduce[x]"},
    {"x=2,y=4", "64,64", "[[],[]] partial sum[x,y]", "[[],[]] partial sum[y]", "all_reduce[x]"},
    {"x=2,y=4", "64,64", "[[],[]]", "[[],[]] partial sum[y]", "to_partial[y]"},
    {"x=2,y=4", "64,64", "[[],[]] partial sum[x]", "[[],[]] partial max[y]", "all_reduce[x] to_partial[y]"},
    {"x=2,y=2", "64,64", "[[x,y],[]]", "[[y,x],[]]", "permute[]"},
    {"x=4,y=4", "64,64", "[[x],[]]", "[[y],[]]", "permute[]"},
    {"x=2,y=2", "64,64", "[[x],[y]]", "[[y],[x]]", "permute[]"},
    {"x=2,y=4", "1002,100", "[[x,y],[]]", "[[x],[]]", "exchange[]"}, /* nested ceil */
    {"x=2,y=4", "10,10", "[[x,y],[]]", "[[],[]]", "all_gather[x,y]0"},
    {"x=2,y=3", "64,64", "[[x],[]] offsets=[0,60,64]", "[[x],[]]", "exchange[]"},
    {"x=2,y=3", "64,64", "[[x],[]] halos=[1,1]", "[[x],[]]", "exchange[]"},
    {"x=2,y=3", "64,64", "[[x],[]] partial sum[y] offsets=[0,60,64]", "[[x],[]]", "all_reduce[y] exchange[]"},
    {"x=2,y=1", "64,64", "[[x,y],[]]", "[[x],[]]", ""},
};

static int read_dims(const char *text, int64_t *dims) {
  int n = 0;
  for (char *end; *text; text = *end ? end + 1 : end) dims[n++] = strtoll(text, &end, 10);
  return n;
}

static void say_route(const sw_mesh *m, const sw_route *r, sw_text *out) {
  for (int i = 0; i < r->n_steps; i++) {
    const sw_collective *c = &r->step[i].coll;
    sw_text_printf(out, "%s%s[", i ? " " : "", sw_coll_text(c->op));
    for (int k = 0; k < c->n_axes; k++) {
      if (k) sw_text_puts(out, ",");
      sw_axis_ref_print(m, c->axes[k], out);
    }
    sw_text_puts(out, "]");
    if (c->op == SW_COLL_ALL_TO_ALL) sw_text_printf(out, "%d>", c->concat_dim);
    if (sw_coll_flags(c->op) & SW_COLL_USES_DIM) sw_text_printf(out, "%d", c->dim);
  }
}

static sw_sharding sharding_of(const sw_mesh *m, int rank, const char *text, sw_arena *arena) {
  sw_sharding s;
  assert_ok(sw_sharding_parse(m, rank, text, strlen(text), SW_NOWHERE, arena, &s, &diag));
  return s;
}

/* Finds the route, carries it out, checks what holds for every route; what is wrong goes to `why`, empty if nothing. */
static void try_case(const reshard_case *c, sw_arena *arena, sw_route *route, char *why, size_t n_why) {
  const sw_machine *machine = machine_of(arena, &c->mesh);
  sw_rc rc = case_route(c, machine, arena, route, &diag);
  why[0] = '\0';
  if (rc) {
    snprintf(why, n_why, "%s", diag.text);
    return;
  }
  if (case_run(c, route, arena, why, n_why)) return;
  why[0] = '\0';
  double sum = 0;
  for (int i = 0; i < route->n_steps; i++) sum += route->step[i].cost_s;
  if (fabs(sum - route->cost_s) > 1e-12 * sum)
    snprintf(why, n_why, "the steps cost %g, the route %g", sum, route->cost_s);
  const sw_reshard wanted = case_wanted(c, machine);
  double price = sw_route_cost_s(&wanted);
  bool plain = !c->options.max_temp_bytes && !c->options.no_exchange;
  if (plain && fabs(price - route->cost_s) > 1e-9 * price) {
    snprintf(why, n_why, "the price is %g, the route costs %g", price, route->cost_s);
  }
  if (route->max_bytes < route->bound_max_bytes * (1 - 1e-12) ||
      route->total_bytes < route->bound_total_bytes * (1 - 1e-12)) {
    snprintf(why, n_why, "max %g below %g, or total %g below %g", route->max_bytes, route->bound_max_bytes,
             route->total_bytes, route->bound_total_bytes);
  }
}

static bool fails(const reshard_case *c) {
  sw_arena arena = {0};
  sw_route route;
  char why[SW_DIAG_TEXT_BYTES + 32];
  try_case(c, &arena, &route, why, sizeof why);
  sw_arena_deinit(&arena);
  return why[0] != '\0';
}

static void check_case(const reshard_case *c, sw_arena *arena, sw_route *route) {
  char why[SW_DIAG_TEXT_BYTES + 32];
  try_case(c, arena, route, why, sizeof why);
  if (!why[0]) return;
  reshard_case least = *c;
  sw_text t = {0};
  case_shrink(&least, fails);
  try_case(&least, arena, route, why, sizeof why);
  sw_text_printf(&t, "%s\n  found with ", why);
  case_print(c, &t);
  sw_text_puts(&t, "\n  least case ");
  case_print(&least, &t);
  route_print(&c->mesh, route, &t);
  fail_msg("%s", sw_text_str(&t));
}

static void route_is_expected(void **state) {
  const expect_row *row = *state;
  sw_arena arena = {0};
  sw_route route;
  sw_text said = {0};
  reshard_case c = {.dtype = SW_I32};
  assert_ok(sw_mesh_parse(row->mesh, &arena, &c.mesh, &diag));
  c.rank = read_dims(row->dims, c.dims);
  c.from = sharding_of(&c.mesh, c.rank, row->from, &arena);
  c.to = sharding_of(&c.mesh, c.rank, row->to, &arena);
  check_case(&c, &arena, &route);
  say_route(&c.mesh, &route, &said);
  assert_string_equal(sw_text_str(&said), row->route);
  if (route.n_steps) assert_true(sw_sharding_equal(&route.step[route.n_steps - 1].after, &c.to));
  sw_text_free(&said);
  sw_arena_deinit(&arena);
}

static void random_case(rng *r, sw_arena *arena, reshard_case *c) {
  static const sw_reduction kKinds[] = {SW_REDUCE_SUM, SW_REDUCE_SUM, SW_REDUCE_MAX, SW_REDUCE_MIN, SW_REDUCE_AVERAGE};
  *c = (reshard_case){.mesh = random_mesh(r, 4, 48), .rank = (int)rng_below(r, 5), .dtype = SW_I32};
  int64_t left = 600;
  for (int d = 0; d < c->rank; d++) {
    c->dims[d] = rng_below(r, 12) == 0 ? rng_below(r, 2) : 1 + rng_below(r, left > 16 ? 16 : left);
    left /= c->dims[d] ? c->dims[d] : 1;
    if (left < 1) left = 1;
  }
  bool partial = rng_below(r, 2) == 0;
  c->from = random_sharding(r, &c->mesh, c->rank, partial);
  c->to = random_sharding(r, &c->mesh, c->rank, partial && rng_below(r, 2) == 0);
  if (rng_below(r, 6) == 0) random_lists(r, arena, c->dims, &c->from);
  if (rng_below(r, 6) == 0) random_lists(r, arena, c->dims, &c->to);
  c->from.partial_kind = (uint8_t)kKinds[rng_below(r, 5)];
  c->to.partial_kind = rng_below(r, 3) ? c->from.partial_kind : (uint8_t)kKinds[rng_below(r, 4)];
  if (c->to.partial_kind == SW_REDUCE_AVERAGE) c->to.n_partial = 0;
  c->options.no_exchange = rng_below(r, 4) == 0;
  c->options.refresh_halos = true;
}

static void random_routes_place_every_element(void **state) {
  (void)state;
  rng r = {check_seed(31)};
  for (int round = 0; round < check_scale(1500); round++) {
    sw_arena arena = {0};
    sw_route route;
    reshard_case c;
    random_case(&r, &arena, &c);
    check_case(&c, &arena, &route);
    sw_arena_deinit(&arena);
  }
}

static bool has_sub_axes(const sw_mesh *m, const sw_sharding *s) {
  bool has = false;
  for (int i = 0; i < s->n_refs + s->n_partial; i++) has = has || s->refs[i].size != m->axis[s->refs[i].axis].size;
  return has;
}

static void fail_pair(const sw_mesh *m, const sw_sharding *a, const sw_sharding *b, double table, double route) {
  sw_text t = {0};
  sw_mesh_print(m, &t);
  sw_text_puts(&t, ": ");
  sw_sharding_print(m, a, &t);
  sw_text_puts(&t, " -> ");
  sw_sharding_print(m, b, &t);
  fail_msg("%s costs %g s in the table, %g s as a route", sw_text_str(&t), table, route);
}

/* The table holds what a route costs, or less where a chain over other shardings does (or a little more: a route may
 * split axes into digits that the table's shardings do not name), and obeys the triangle
 * inequality. */
static void tables_agree_with_routes(void **state) {
  (void)state;
  enum { N = 60 };
  static const char *const kMeshes[] = {"x=2,y=4", "x=2,y=2,z=2", "x=4,y=2,z=3", "x=2,y=2,z=2,w=2"};
  static const int64_t kDims[] = {48, 96, 36};
  rng r = {check_seed(32)};
  for (size_t k = 0; k < sizeof kMeshes / sizeof kMeshes[0]; k++) {
    sw_arena arena = {0};
    sw_mesh m;
    sw_sharding s[N];
    const double *cost;
    assert_ok(sw_mesh_parse(kMeshes[k], &arena, &m, &diag));
    const sw_machine *machine = machine_of(&arena, &m);
    for (int i = 0; i < N; i++) {
      do {
        s[i] = random_sharding(&r, &m, 3, true);
      } while (k >= 2 && has_sub_axes(&m, &s[i]));
    }
    assert_ok(sw_route_table(machine, s, N, 3, kDims, SW_BF16, &arena, &cost, &diag));
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {
        double route = sw_route_cost_s(&(sw_reshard){machine, &s[i], &s[j], 3, kDims, SW_BF16, {0}});
        bool agree = cost[i * N + j] <= route * 1.05 && cost[i * N + j] >= route * 0.75;
        if (!agree) fail_pair(&m, &s[i], &s[j], cost[i * N + j], route);
        for (int via = 0; via < N && k < 3; via++) {
          assert_true(cost[i * N + j] <= (cost[i * N + via] + cost[via * N + j]) * (1 + 1e-12));
        }
      }
    }
    sw_arena_deinit(&arena);
  }
}

static void impossible_kinds_are_refused(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_mesh m;
  sw_route route;
  int64_t dims[] = {8};
  assert_ok(sw_mesh_parse("x=2", &arena, &m, &diag));
  const sw_machine *machine = machine_of(&arena, &m);
  sw_sharding whole = sharding_of(&m, 1, "[[]]", &arena),
              average = sharding_of(&m, 1, "[[]] partial average[x]", &arena);
  const sw_reshard wanted = {machine, &whole, &average, 1, dims, SW_F32, {0}};
  sw_rc rc = sw_route_find(&wanted, &arena, &route, &diag);
  assert_int_equal(rc, SW_E_INPUT);
  assert_string_equal(diag.text, "a value cannot be made partial by 'average', which has no neutral element");
  assert_true(isinf(sw_route_cost_s(&wanted)));
  sw_arena_deinit(&arena);
}

enum { N_EXPECTED = sizeof kExpected / sizeof kExpected[0] };

int main(void) {
  flat_profile(&profile, MAX_DEVICES, 1e-6, 1e-9);
  struct CMUnitTest tests[N_EXPECTED + 3] = {
      cmocka_unit_test(random_routes_place_every_element),
      cmocka_unit_test(impossible_kinds_are_refused),
      cmocka_unit_test(tables_agree_with_routes),
  };
  for (size_t i = 0; i < N_EXPECTED; i++) {
    tests[3 + i] = (struct CMUnitTest){
        .name = kExpected[i].from, .test_func = route_is_expected, .initial_state = (void *)(uintptr_t)&kExpected[i]};
  }
  return _cmocka_run_group_tests("reshard", tests, N_EXPECTED + 3, NULL, NULL);
}
