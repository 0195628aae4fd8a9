/* A mesh can do what it can with neighbouring axes merged into one. So its plan costs no more than that of the merged
 * mesh, but for the gap that its search leaves, and no bound that holds for it is above a plan of the merged one.
 *
 * Random meshes of three and four axes, random models: stacks of matrices of random sizes, and small ones of every
 * architecture.
 */
#include <inttypes.h>
#include <math.h>

#include "check.h"
#include "support/random_plan.h"

#include "gen/gen.h"
#include "shardwright/profile_json.h"
#include "support/meshes.h"
#include "support/job.h"

enum { MODELS = 10 };
static const int64_t kWork = 500000000; /* steps of a search */
static const double kRounding = 1e-9, kTies_s = 1e-9;

typedef struct subject {
  sw_graph *g;
  const sw_profile *profile;
  char name[128];
} subject;

/* --- what is planned --------------------------------------------------------------------------------------------- */

static void random_mesh(sw_rng *r, sw_mesh *out) {
  const int most = 64;
  int64_t devices = 1;
  *out = (sw_mesh){.n_axes = 3 + (int)sw_rng_below(r, 2)};
  for (int a = 0; a < out->n_axes; a++) {
    snprintf(out->axis[a].name, sizeof out->axis[a].name, "a%d", a);
    out->axis[a].size = 2 << sw_rng_below(r, 2);
    if (devices * out->axis[a].size << (out->n_axes - 1 - a) > most) out->axis[a].size = 2;
    devices *= out->axis[a].size;
  }
}

/* One axis in place of two neighbours, or of three. */
static void merge(const sw_mesh *m, int at, int n, sw_mesh *out) {
  *out = (sw_mesh){0};
  for (int a = 0; a < m->n_axes; a++) {
    if (a > at && a < at + n)
      out->axis[out->n_axes - 1].size *= m->axis[a].size;
    else
      out->axis[out->n_axes++] = m->axis[a];
  }
}

static void random_model(sw_rng *r, subject *out) {
  static const int kSizes[] = {16, 48, 128, 1000, 4096};
  char text[3][16];
  const sw_gen_arg args[] = {{"layers", text[0]}, {"batch", text[1]}, {"hidden", text[2]}};
  if (sw_rng_below(r, 2)) {
    snprintf(text[0], sizeof text[0], "%d", 1 + (int)sw_rng_below(r, 3));
    for (int i = 1; i < 3; i++) snprintf(text[i], sizeof text[i], "%d", kSizes[sw_rng_below(r, 5)]);
    assert_ok(sw_gen_model("mlp-train", args, 3, &out->g, &diag));
    snprintf(out->name, sizeof out->name, "mlp-train layers=%s batch=%s hidden=%s", text[0], text[1], text[2]);
    return;
  }
  const char *name = random_models[sw_rng_below(r, RANDOM_MODELS)];
  snprintf(out->name, sizeof out->name, "%s", name);
  out->g = small_model(name);
}

/* --- the two properties ------------------------------------------------------------------------------------------ */

static void plan_on(const subject *s, const sw_mesh *mesh, sw_arena *arena, sw_plan *out) {
  sw_machine *machine;
  const sw_plan_options o = {.solve = {.work_limit = kWork, .gap = 1e-3, .threads = 1}};
  assert_ok(sw_machine_build(arena, s->profile, mesh, &machine, &diag));
  assert_ok(sw_plan_search(JOB(s->g, machine), &o, arena, out, &diag));
}

static void compare(const subject *s, const sw_mesh *mesh, const sw_mesh *merged, uint64_t seed) {
  sw_arena arena = {0};
  sw_text of = {0}, beside = {0};
  sw_plan fine, coarse;
  plan_on(s, mesh, &arena, &fine);
  plan_on(s, merged, &arena, &coarse);
  const double ties = kTies_s * sw_cost_units_per_s(fine.job.machine) + kRounding * (double)coarse.cost_units,
               most = (double)coarse.cost_units / (1 - sw_plan_gap(&fine)) + ties;
  sw_mesh_print(mesh, &of);
  sw_mesh_print(merged, &beside);
  if ((double)fine.cost_units > most)
    fail_msg("%s (seed %" PRIu64 "): %" PRId64 " units on %s, %" PRId64 " on %s", s->name, seed, fine.cost_units,
             sw_text_str(&of), coarse.cost_units, sw_text_str(&beside));
  if (sw_plan_bound_is_proven(&fine) && (double)fine.bound_units > (double)coarse.cost_units + ties)
    fail_msg("%s (seed %" PRIu64 "): no plan on %s costs less than %" PRId64 " units, it says; %" PRId64 " on %s",
             s->name, seed, sw_text_str(&of), fine.bound_units, coarse.cost_units, sw_text_str(&beside));
  sw_text_free(&of);
  sw_text_free(&beside);
  sw_arena_deinit(&arena);
}

static void merged_axes_are_no_better(void **state) {
  static const char *const kProfiles[] = {"h100", "tpu-v5e", "a100"};
  (void)state;
  sw_arena arena = {0};
  const uint64_t seed = check_seed(2101);
  for (int k = 0; k < check_scale(MODELS); k++) {
    sw_rng r;
    sw_rng_seed(&r, seed + (uint64_t)k);
    subject s;
    sw_mesh mesh, merged;
    char path[256];
    snprintf(path, sizeof path, "%s/hwprofiles/%s.json", SW_SOURCE_DIR, kProfiles[sw_rng_below(&r, 3)]);
    assert_ok(sw_profile_read(path, &arena, &s.profile, &diag));
    random_mesh(&r, &mesh);
    const int n = 2 + (int)sw_rng_below(&r, 2), at = (int)sw_rng_below(&r, mesh.n_axes - n + 1);
    merge(&mesh, at, n, &merged);
    random_model(&r, &s);
    compare(&s, &mesh, &merged, seed + (uint64_t)k);
    sw_graph_destroy(s.g);
  }
  sw_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(merged_axes_are_no_better)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
