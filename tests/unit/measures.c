/* What a plan moves and does twice, in all: against what devices receive when it runs, and against loops counted. */
#include "check.h"

#include <math.h>

#include "shardwright/model_json.h"
#include "shardwright/plan.h"
#include "shardwright/profile_json.h"
#include "shardwright/validate.h"
#include "support/meshes.h"
#include "support/job.h"

static void check_account(const sw_comparison *c, const sw_machine *machine) {
  sw_arena scratch = {0};
  sw_validation v;
  const sw_validate_options o = {.seed = 1, .timeout_s = 60};
  assert_ok(sw_validate(&c->plan, &o, &scratch, &v, &diag));
  int64_t received = 0;
  for (int i = 0; i < SW_COLL_COUNT; i++) received += v.comm.bytes_received[i];
  if (fabs((double)received - c->breakdown.moved_bytes) > 1e-9 * (double)received)
    fail_msg("%s of %s: %g bytes counted, %lld received", c->name, c->plan.job.graph->name, c->breakdown.moved_bytes,
             (long long)received);
  const double devices = (double)sw_mesh_devices(sw_machine_mesh(machine));
  const double twice = sw_breakdown_redundant_flops(&c->breakdown, machine);
  assert_true(twice >= 0 && twice <= (devices - 1) * c->breakdown.whole_flops * (1 + 1e-12));
  if (strcmp(c->name, "replicated") == 0) {
    assert_true(fabs(twice - (devices - 1) * c->breakdown.whole_flops) <= 1e-9 * twice);
    assert_true(received == 0);
  }
  sw_arena_deinit(&scratch);
}

static void moved_bytes_are_those_received(void **state) {
  (void)state;
  static const char *const kModels[] = {"mlp", "gpt2", "llama3", "mlp-train", "vit"};
  sw_arena a = {0};
  const sw_profile *p;
  int compared = 0;
  assert_ok(sw_profile_read("dgx-h100", &a, &p, &diag));
  for (size_t i = 0; i < sizeof kModels / sizeof *kModels; i++) {
    sw_graph *g = small_model(kModels[i]);
    sw_mesh mesh;
    sw_machine *machine;
    const sw_comparison *all;
    assert_ok(sw_mesh_parse("x=2,y=2", &a, &mesh, &diag));
    assert_ok(sw_machine_build(&a, p, &mesh, &machine, &diag));
    assert_ok(sw_baselines_build(JOB(g, machine), &a, &all, &diag));
    for (int b = 0; b < SW_BASELINE_COUNT; b++) {
      if (all[b].made) check_account(&all[b], machine);
      compared += all[b].made;
    }
    sw_graph_destroy(g);
  }
  print_message("%d plans\n", compared);
  assert_in_range(compared, 10, 1000);
  sw_arena_deinit(&a);
}

/* x[8,16] * w[16,4] over x=2,y=2, rows and columns cut, or rows alone: then the devices along y do the same. */
static void what_is_not_cut_is_done_twice(void **state) {
  (void)state;
  static const char kText[] =
      "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"m\", \"mesh\": \"x=2,y=2\", \"values\": ["
      "{\"name\": \"a\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [8, 16]},"
      "{\"name\": \"w\", \"kind\": \"parameter\", \"dtype\": \"f32\", \"shape\": [16, 4]}], \"ops\": [{\"op\": "
      "\"dot_general\", \"inputs\": [\"a\", \"w\"], \"outputs\": [\"c\"], \"attrs\": {\"lhs_contract\": [1], "
      "\"rhs_contract\": [0]}, \"sharding\": \"%s\", \"required\": true}], \"outputs\": [\"c\"]}";
  static const struct {
    const char *option;
    double times; /* of 2*8*16*4 flops, done beyond the first time */
  } kRows[] = {{"[[x],[y],[]]", 0}, {"[[x],[],[]]", 1}, {"[[],[],[]]", 3}, {"[[x,y],[],[]]", 0}};
  sw_arena a = {0};
  const sw_profile *p;
  assert_ok(sw_profile_read("dgx-h100", &a, &p, &diag));
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    char text[1024];
    sw_graph *g;
    sw_machine *m;
    sw_plan plan;
    sw_breakdown breakdown;
    const sw_plan_options o = {.solve.work_limit = 1000000};
    snprintf(text, sizeof text, kText, kRows[i].option);
    assert_ok(sw_model_parse("m.json", text, strlen(text), &g, &diag));
    assert_ok(sw_machine_build(&a, p, &g->written->mesh, &m, &diag));
    assert_ok(sw_plan_search(JOB(g, m), &o, &a, &plan, &diag));
    assert_ok(sw_plan_breakdown(&plan, &a, &breakdown, &diag));
    assert_true(sw_breakdown_redundant_flops(&breakdown, m) == kRows[i].times * 2 * 8 * 16 * 4);
    sw_graph_destroy(g);
  }
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moved_bytes_are_those_received),
      cmocka_unit_test(what_is_not_cut_is_done_twice),
  };
  return cmocka_run_group_tests_name("measures", tests, NULL, NULL);
}
