/* Meshes of many axes: which ways to cut are looked at, that axes which are alike may change places in every price, and
 * that a search which cannot begin in time still gives a plan. */
#include "check.h"
#include "support/meshes.h"

#include "shardwright/model_json.h"
#include "shardwright/plan.h"
#include "shardwright/strategy.h"
#include "support/job.h"

typedef struct placed {
  sw_arena arena;
  sw_machine *machine;
  const sw_mesh *mesh;
} placed;

static void place(placed *p, const char *profile, const char *mesh) {
  *p = (placed){0};
  p->machine = machine_of(profile, mesh, &p->arena);
  p->mesh = sw_machine_mesh(p->machine);
}

/* --- which ways to cut ------------------------------------------------------------------------------------------- */

/* Where an axis stands: its dimension and its place there; -1: nowhere. */
typedef struct stand {
  int dim, place;
} stand;

static stand stand_of(const sw_sharding *s, int axis) {
  for (int i = 0, place = 0; i < s->n_refs; i++) {
    place = i && s->dim_of[i] == s->dim_of[i - 1] ? place + 1 : 0;
    if (s->refs[i].axis == axis) return (stand){s->dim_of[i], place};
  }
  return (stand){-1, 0};
}

/* Are neighbours that no cut parts (bit a: behind axis a) side by side, in the order of the mesh? */
static bool holds_together(const sw_sharding *s, int n_axes, unsigned cuts) {
  for (int a = 0; a + 1 < n_axes; a++) {
    const stand x = stand_of(s, a), y = stand_of(s, a + 1);
    if (cuts >> a & 1U) continue;
    if (x.dim != y.dim || (x.dim >= 0 && y.place != x.place + 1)) return false;
  }
  return true;
}

static bool is_in_runs(const sw_sharding *s, int n_axes, int runs) {
  for (unsigned cuts = 0; cuts < 1U << (n_axes - 1); cuts++)
    if (__builtin_popcount(cuts) < runs && holds_together(s, n_axes, cuts)) return true;
  return false;
}

static bool is_in(const sw_sharding *all, int32_t n, const sw_sharding *s) {
  int32_t times = 0;
  for (int32_t i = 0; i < n; i++) times += sw_sharding_equal(&all[i], s);
  assert_true(times <= 1);
  return times == 1;
}

/* Of all shardings, those that a mesh with neighbours merged has, each once; the others are counted. */
static void check_shardings(const char *mesh, int rank, int runs) {
  static const int64_t kDims[] = {4096, 4096, 4096, 4096};
  placed p;
  int32_t wanted = 0;
  sw_listed_shardings some, all;
  place(&p, "h100x64", mesh);
  assert_ok(sw_shardings_enumerate(NULL, p.mesh, rank, kDims, SW_MAX_REFS, &p.arena, &all, &diag));
  assert_ok(sw_shardings_enumerate(NULL, p.mesh, rank, kDims, runs, &p.arena, &some, &diag));
  for (int32_t i = 0; i < all.n; i++) {
    const bool in_runs = is_in_runs(&all.at[i], p.mesh->n_axes, runs);
    wanted += in_runs;
    assert_true(is_in(some.at, some.n, &all.at[i]) == in_runs);
  }
  assert_int_equal(some.n, wanted);
  assert_true(all.left_out == 0 && some.left_out == all.n - some.n);
  sw_arena_deinit(&p.arena);
}

static void shardings_lie_in_runs(void **state) {
  (void)state;
  check_shardings("x=2,y=2,z=2", 1, 2);
  check_shardings("x=2,y=2,z=2", 3, 2);
  check_shardings("x=2,y=4,z=2", 2, 1);
  check_shardings("x=2,y=2,z=2,w=2", 1, 3);
  check_shardings("x=2,y=4,z=2,w=4", 2, 3);
  check_shardings("x=2,y=4,z=2,w=4", 2, 2);
  check_shardings("a=2,b=2,c=2,d=2,e=2", 1, 2);
}

/* --- axes that are alike ----------------------------------------------------------------------------------------- */

/* The axis, or one of two parts. */
static sw_axis_ref random_part(const placed *p, int axis, sw_rng *r) {
  sw_axis_ref ref = sw_axis_whole(p->mesh, axis);
  if (ref.size % 4 || sw_rng_below(r, 4)) return ref;
  ref.size /= 2;
  if (sw_rng_below(r, 2)) ref.pre = 2;
  return ref;
}

static sw_sharding random_ends(const placed *p, int rank, sw_rng *r) {
  sw_sharding s = sw_sharding_replicated(rank);
  int dim[SW_MAX_AXES], order[SW_MAX_AXES], n = p->mesh->n_axes;
  for (int a = 0; a < n; a++) {
    const int at = (int)sw_rng_below(r, a + 1);
    order[a] = order[at];
    order[at] = a;
    dim[a] = (int)sw_rng_below(r, rank + 2) - 1; /* rank: partial, -1: unused */
  }
  for (int d = 0; d < rank; d++) {
    for (int i = 0; i < n; i++) {
      if (dim[order[i]] == d) (void)sw_sharding_push(&s, d, random_part(p, order[i], r));
    }
  }
  for (int a = 0; a < n; a++) {
    if (dim[a] == rank) (void)sw_sharding_push_partial(&s, SW_REDUCE_SUM, random_part(p, a, r));
  }
  return s;
}

static sw_sharding renamed(const sw_sharding *s, const int *name) {
  sw_sharding out = *s;
  out.n_partial = 0;
  for (int i = 0; i < s->n_refs; i++) out.refs[i].axis = name[s->refs[i].axis];
  for (int i = 0; i < s->n_partial; i++) {
    sw_axis_ref ref = sw_sharding_partial(s)[i];
    ref.axis = name[ref.axis];
    (void)sw_sharding_push_partial(&out, SW_REDUCE_SUM, ref);
  }
  return out;
}

static double route_s(const placed *p, int rank, const int64_t *dims, const sw_sharding *from, const sw_sharding *to) {
  return sw_route_cost_s(&(sw_reshard){p->machine, from, to, rank, dims, SW_F32, {0}});
}

static void check_alike(const char *profile, const char *mesh, int a, int b, sw_rng *r) {
  placed p;
  int name[SW_MAX_AXES], differs = 0;
  place(&p, profile, mesh);
  assert_true(sw_machine_axes_symmetric(p.machine, a, b));
  for (int i = 0; i < SW_MAX_AXES; i++) name[i] = i == a ? b : i == b ? a : i;
  for (int k = 0; k < check_scale(1000); k++) {
    const int rank = 1 + (int)sw_rng_below(r, 3);
    const int64_t even[] = {64, 192, 128}, uneven[] = {60, 6, 7};
    const int64_t *dims = k % 4 ? even : uneven;
    sw_sharding from = random_ends(&p, rank, r), to = random_ends(&p, rank, r);
    if (k % 3) to.n_partial = 0;
    sw_sharding from2 = renamed(&from, name), to2 = renamed(&to, name);
    const double s = route_s(&p, rank, dims, &from, &to), s2 = route_s(&p, rank, dims, &from2, &to2);
    differs += s2 > s * (1 + 1e-9) || s > s2 * (1 + 1e-9);
  }
  assert_int_equal(differs, 0);
  sw_arena_deinit(&p.arena);
}

static void alike_axes_may_change_places(void **state) {
  (void)state;
  sw_rng r;
  sw_rng_seed(&r, check_seed(77));
  check_alike("dgx-h100", "x=2,y=2,z=2", 0, 2, &r);
  check_alike("mi300x-8", "x=2,y=2,z=2", 0, 1, &r);
  check_alike("tpu-v5p-4x4x4", "x=4,y=4,z=4", 1, 2, &r);
  check_alike("tpu-v5p-4x4x4", "x=4,y=4,z=4", 0, 2, &r);
  check_alike("p4de-x2", "x=2,y=2,z=4", 1, 1, &r);
  check_alike("h100x64", "x=4,y=2,z=2", 1, 2, &r);
}

static void others_are_not_alike(void **state) {
  (void)state;
  static const struct {
    const char *profile, *mesh;
    int a, b;
  } kRows[] = {
      {"h100x64", "x=8,y=8", 0, 1},            /* between nodes, inside one */
      {"dgx-h100", "x=2,y=4", 0, 1},           /* of two sizes */
      {"tpu-v5p-4x4x4", "x=2,y=2,z=16", 0, 1}, /* two halves of one dimension of a torus */
      {"p4de-x2", "x=4,y=4", 0, 1},            /* the first goes over both levels */
  };
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; i++) {
    placed p;
    place(&p, kRows[i].profile, kRows[i].mesh);
    assert_false(sw_machine_axes_symmetric(p.machine, kRows[i].a, kRows[i].b));
    sw_arena_deinit(&p.arena);
  }
}

/* --- plans ------------------------------------------------------------------------------------------------------- */

static sw_rc plan(placed *p, sw_graph *g, double limit_s, int64_t capacity, sw_plan *out, sw_diag *d) {
  const sw_plan_options o = {.solve = {.time_limit_s = limit_s, .gap = 0.01, .threads = 1},
                             .selection = {.capacity_bytes = capacity}};
  return sw_plan_search(JOB(g, p->machine), &o, &p->arena, out, d);
}

/* A mesh of which another one is a coarser view gives no worse plans than that. */
static void finer_meshes_plan_no_worse(void **state) {
  (void)state;
  static const char *const kMeshes[] = {"x=4,y=4", "x=2,y=2,z=2,w=2"};
  double cost[2];
  sw_graph *g = small_model("mlp-train");
  for (int i = 0; i < 2; i++) {
    placed p;
    sw_plan best;
    place(&p, "h100x64", kMeshes[i]);
    assert_ok(plan(&p, g, 60, 0, &best, &diag));
    assert_ok(sw_plan_verify(&best, &diag));
    cost[i] = (double)best.cost_units;
    sw_arena_deinit(&p.arena);
  }
  assert_true(cost[1] <= cost[0] * 1.01); /* the gap asked for */
  sw_graph_destroy(g);
}

/* What is required is found, however scattered its axes are and in whatever order. */
static void scattered_pins_are_met(void **state) {
  (void)state;
  static const char *const kPins[][3] = {/* what the product gives, how its first factor is read, the mesh */
                                         {"[[x,z],[y,w]]", "[[x,z],[]]", "x=2,y=2,z=2,w=2"},
                                         {"[[w,y],[x,z]]", "[[w,y],[]]", "x=2,y=2,z=2,w=2"},
                                         {"[[z,x],[]] partial sum[y,w]", "[[z,x],[y,w]]", "x=2,y=2,z=2,w=2"},
                                         {"[[e,a],[c,f,b]] partial sum[d]", "[[e,a],[d]]", "a=2,b=2,c=2,d=2,e=2,f=2"},
                                         {"[[z,y,x],[]]", "[[z,y,x],[]]", "x=2,y=2,z=2"}};
  static const char kModel[] =
      "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"pins\", \"mesh\": \"%s\", \"values\": ["
      "{\"name\": \"a\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [64, 64], \"annotations\": "
      "[{\"sharding\": \"%s\", \"required\": true, \"for_users\": true}]},"
      "{\"name\": \"b\", \"kind\": \"parameter\", \"dtype\": \"f32\", \"shape\": [64, 64]},"
      "{\"name\": \"c\", \"annotations\": [{\"sharding\": \"%s\", \"required\": true}]}], \"ops\": ["
      "{\"op\": \"dot_general\", \"inputs\": [\"a\", \"b\"], \"outputs\": [\"c\"], \"attrs\": "
      "{\"lhs_contract\": [1], \"rhs_contract\": [0]}}], \"outputs\": [\"c\"]}";
  for (size_t i = 0; i < sizeof kPins / sizeof kPins[0]; i++) {
    char text[2048];
    sw_graph *g;
    placed p;
    sw_plan best;
    snprintf(text, sizeof text, kModel, kPins[i][2], kPins[i][1], kPins[i][0]);
    assert_ok(sw_model_parse("pins", text, strlen(text), &g, &diag));
    place(&p, "h100x64", kPins[i][2]);
    assert_ok(plan(&p, g, 60, 0, &best, &diag));
    assert_ok(sw_plan_verify(&best, &diag)); /* required annotations among others */
    sw_graph_destroy(g);
    sw_arena_deinit(&p.arena);
  }
}

static void no_time_gives_a_plan_made_by_rule(void **state) {
  (void)state;
  diag = (sw_diag){0};
  sw_graph *g = small_model("gpt2");
  placed p;
  sw_plan best, rule, found;
  sw_breakdown a, b;
  place(&p, "dgx-h100", "x=2,y=4");
  assert_ok(plan(&p, g, 1e-9, 0, &best, &diag));
  assert_ok(sw_plan_verify(&best, &diag));
  assert_ok(sw_plan_breakdown(&best, &p.arena, &a, &diag));
  assert_string_not_equal(best.origin, "search");
  assert_ok(plan(&p, g, 60, 0, &found, &diag));
  assert_true(best.status == SW_SOLVE_FEASIBLE && best.bound_units <= found.cost_units);
  for (int k = 0; k < SW_BASELINE_COUNT; k++) {
    assert_ok(sw_baseline_build(JOB(g, p.machine), (sw_baseline)k, &p.arena, &rule, &diag));
    assert_ok(sw_plan_breakdown(&rule, &p.arena, &b, &diag));
    assert_true(a.total_s <= b.total_s);
  }
  assert_int_equal(plan(&p, g, 1e-9, 1000, &best, &diag), SW_E_RESOURCE);
  assert_non_null(strstr(diag.text, "time was up"));
  sw_graph_destroy(g);
  sw_arena_deinit(&p.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shardings_lie_in_runs),  cmocka_unit_test(alike_axes_may_change_places),
      cmocka_unit_test(others_are_not_alike),   cmocka_unit_test(finer_meshes_plan_no_worse),
      cmocka_unit_test(scattered_pins_are_met), cmocka_unit_test(no_time_gives_a_plan_made_by_rule),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
