/* Passes over the programs of random plans: what they compute behind each pass that changes something, and behind all
 * of them, is what one device computes, value by value; and no pass makes a program dearer.
 *
 *   SW_TEST_SCALE=20 SW_TEST_SEED=7 ./unit_passes_random [model [mesh]]
 */
#include "check.h"

#include "shardwright/validate.h"
#include "support/meshes.h"
#include "support/random_plan.h"
#include "support/job.h"

static const char *g_model, *g_mesh;

/* Starting an op costs next to nothing on one, and as much as a call on the other. */
static const char *const kProfiles[] = {"local", "dgx-h100"};

typedef struct tally {
  int plans, runs, failed;
  int64_t rewrites[SW_MOST_PASSES];
} tally;

/* The plan's program behind these passes, validated. */
static void check_run(tally *t, const sw_plan *plan, const char *passes, uint64_t seed, const char *what) {
  diag = (sw_diag){0};
  sw_arena arena = {0};
  sw_passes list;
  sw_validation v;
  sw_plan with = *plan;
  sw_validate_options o = {.seed = seed, .timeout_s = 60, .intermediates = true};
  assert_ok(sw_passes_parse(passes, &list, &diag));
  with.passes = &list;
  sw_rc rc = sw_validate(&with, &o, &arena, &v, &diag);
  t->runs++;
  if (rc || !v.matches) {
    t->failed++;
    print_message("%s, seed %llu, passes %s: %s\n", what, (unsigned long long)seed, passes,
                  rc               ? diag.text
                  : v.first_bad_op ? v.first_bad_op
                                   : "outputs differ");
  }
  sw_arena_deinit(&arena);
}

/* Each pass alone, then all; all of them are executed, and one of those that change something. */
static void check_plan(tally *t, const sw_plan *plan, uint64_t seed, const char *what) {
  diag = (sw_diag){0};
  int64_t any = 0;
  int changing = 0, alone = (int)(seed % (uint64_t)sw_pass_count());
  for (int i = 0; i <= sw_pass_count(); i++) {
    static sw_pass_report reports[SW_MOST_REPORTS];
    sw_passes list;
    sw_spmd s;
    int n;
    const char *name = i < sw_pass_count() ? sw_pass_name(i) : "all";
    assert_ok(sw_passes_parse(name, &list, &diag));
    assert_ok(sw_partition(plan, &s, &diag));
    sw_rc rc = sw_spmd_run_passes(&s, plan->job.machine, &list, reports, &n, &diag);
    if (!rc) rc = sw_spmd_verify(&s, &diag);
    if (rc) {
      t->failed++;
      print_message("%s, seed %llu, pass %s: %s\n", what, (unsigned long long)seed, name, diag.text);
    }
    int64_t rewrites = 0;
    for (int k = 0; !rc && k < n; k++) {
      rewrites += reports[k].rewrites;
      t->rewrites[reports[k].pass] += i < sw_pass_count() ? 0 : reports[k].rewrites;
      assert_true(reports[k].after.comm_s + reports[k].after.local_s <=
                  (reports[k].before.comm_s + reports[k].before.local_s) * (1 + 1e-8));
    }
    any += rewrites;
    if (!rc) sw_spmd_deinit(&s);
    const bool run = i == sw_pass_count() || (i >= alone && changing == 0);
    changing += rewrites && i >= alone;
    if (!rc && rewrites && run) check_run(t, plan, name, seed, what);
  }
  t->plans += any > 0;
}

static void try_model(tally *t, const char *model, const char *mesh, const char *profile, uint64_t seed, int plans) {
  char what[600];
  sw_arena arena = {0};
  sw_rng rng;
  int done = 0;
  snprintf(what, sizeof what, "%s on %s of %s", model, mesh, profile);
  sw_graph *g = small_model(model);
  const sw_machine *machine = machine_of(profile, mesh, &arena);
  for (int drawn = 0; done < plans && drawn < 200 * plans && t->failed < 5; drawn++) {
    sw_plan p;
    sw_arena scratch = {0};
    sw_rng_seed(&rng, seed + (uint64_t)drawn);
    sw_rc rc = random_plan(JOB(g, machine), &rng, &scratch, &p, &diag);
    if (!rc && sw_plan_verify(&p, &diag) == SW_OK) {
      check_plan(t, &p, seed + (uint64_t)drawn, what);
      done++;
    }
    sw_arena_deinit(&scratch);
  }
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

static void random_programs_stay_what_they_are(void **state) {
  (void)state;
  const uint64_t seed = check_seed(1);
  tally t = {0};
  int turn = 0;
  for (size_t i = 0; i < RANDOM_MODELS; i++) {
    for (size_t j = 0; j < RANDOM_MESHES; j++) {
      const bool asked =
          (!g_model || strcmp(g_model, random_models[i]) == 0) && (!g_mesh || strcmp(g_mesh, random_meshes[j]) == 0);
      if (!asked || (!g_model && !check_turn(seed, turn++))) continue;
      try_model(&t, random_models[i], random_meshes[j], kProfiles[(i + j) % 2], seed + 1000000 * i + 100000 * j,
                check_scale(1));
    }
  }
  print_message("%d plans changed, %d programs executed;", t.plans, t.runs);
  for (int i = 0; i < sw_pass_count(); i++) {
    print_message(" %s %lld", sw_pass_name(i), (long long)t.rewrites[i]);
  }
  print_message("\n");
  assert_int_equal(t.failed, 0);
  assert_true(t.plans > 0);
}

int main(int argc, char **argv) {
  g_model = argc > 1 ? argv[1] : NULL;
  g_mesh = argc > 2 ? argv[2] : NULL;
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_stay_what_they_are)};
  return cmocka_run_group_tests_name("passes_random", tests, NULL, NULL);
}
