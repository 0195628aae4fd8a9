/* mlir-opt 22 reads and verifies what is written: every small model, several plans, several meshes. Each collective of
 * the program stands in the text as well. Skipped where there is no mlir-opt-22. */
#include "check.h"
#include "mlir_opt.h"
#include "random_plan.h"

#include "shardwright/emit.h"
#include "shardwright/log.h"
#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"
#include "support/job.h"

/* every-op: each op, odd names, a location. */
static const char *const kModels[] = {"every-op",      "mlp",     "mlp-train",        "gpt2",   "gpt2-train", "llama3",
                                      "llama3-decode", "mixtral", "moe-layers-train", "resnet", "conv-train", "vit",
                                      "bert-train"};
static const char *const kMeshes[] = {"x=2", "x=2,y=4", "x=3", "x=2,y=2,z=2"};
enum { N_RANDOM = 2, N_PLANS = 1 + SW_BASELINE_COUNT + N_RANDOM };

/* Plan `which` of a model: uncut, each baseline, then random ones. False: that one cannot be made. */
static bool make_plan(const sw_graph *g, const sw_machine *machine, int which, sw_rng *rng, sw_arena *arena,
                      sw_plan *out) {
  if (which == 0) {
    assert_ok(sw_plan_build(JOB(g, machine), arena, out, &diag));
    return true;
  }
  if (which <= SW_BASELINE_COUNT) {
    return sw_baseline_build(JOB(g, machine), (sw_baseline)(which - 1), arena, out, &diag) == SW_OK;
  }
  assert_ok(random_plan(JOB(g, machine), rng, arena, out, &diag));
  return true;
}

static int count(const char *text, const char *what) {
  int n = 0;
  for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) n++;
  return n;
}

/* As many of each kind in the text as in the program. An exchange is a shift, an update_halo or a call. */
static void check_collectives(const sw_spmd *s, const char *text) {
  int want[SW_COLL_COUNT] = {0};
  const sw_graph *g = s->program;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    if (op->collective) want[op->collective->op]++;
  }
  static const sw_coll_op kPlain[] = {SW_COLL_ALL_GATHER, SW_COLL_ALL_REDUCE, SW_COLL_ALL_SLICE, SW_COLL_ALL_TO_ALL,
                                      SW_COLL_REDUCE_SCATTER};
  for (size_t i = 0; i < sizeof kPlain / sizeof kPlain[0]; i++) {
    char name[64];
    snprintf(name, sizeof name, " = shard.%s ", sw_coll_text(kPlain[i]));
    bool also = kPlain[i] == SW_COLL_ALL_TO_ALL; /* one of several dimensions is written as one of one */
    assert_int_equal(count(text, name), want[kPlain[i]] + (also ? want[SW_COLL_ALL_TO_ALL_DIMS] : 0));
  }
  assert_int_equal(count(text, " = shard.shift ") + count(text, " = shard.update_halo ") +
                       count(text, " = call @shardwright.exchange_"),
                   want[SW_COLL_EXCHANGE] + want[SW_COLL_PERMUTE]);
}

static void write_plan(const sw_plan *p, sw_text *out) {
  sw_spmd spmd;
  sw_text text = {0};
  assert_ok(sw_emit_shard(p, out, &diag));
  sw_text_puts(out, "// -----\n");
  assert_ok(sw_partition(p, &spmd, &diag));
  assert_ok(sw_emit_spmd(&spmd, SW_SPMD_SHARD, &text, &diag));
  check_collectives(&spmd, sw_text_str(&text));
  sw_text_append(out, text.at, text.n);
  sw_text_puts(out, "// -----\n");
  sw_text_free(&text);
  sw_spmd_deinit(&spmd);
}

static void check_model(void **user) {
  const char *model = *user;
  char path[256];
  sw_rng rng;
  sw_arena arena = {0};
  sw_graph *g;
  const sw_profile *profile;
  sw_text text = {0};
  sw_rng_seed(&rng, check_seed(20260721));
  const char *folder = strcmp(model, "every-op") == 0 ? "tests/interop" : "models/small";
  snprintf(path, sizeof path, "%s/%s/%s.json", SW_SOURCE_DIR, folder, model);
  assert_ok(sw_model_read(path, &g, &diag));
  assert_ok(sw_profile_read("dgx-h100", &arena, &profile, &diag));
  for (size_t m = 0; m < sizeof kMeshes / sizeof kMeshes[0]; m++) {
    sw_mesh mesh;
    sw_machine *machine;
    assert_ok(sw_mesh_parse(kMeshes[m], &arena, &mesh, &diag));
    assert_ok(sw_machine_build(&arena, profile, &mesh, &machine, &diag));
    for (int i = 0; i < N_PLANS; i++) {
      sw_plan plan;
      if (make_plan(g, machine, i, &rng, &arena, &plan)) write_plan(&plan, &text);
    }
  }
  assert_mlir_opt_takes(&text, model);
  sw_text_free(&text);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

int main(void) {
  sw_log_set_level(SW_LOG_QUIET); /* every-op has an op that nobody knows */
  enum { N = sizeof kModels / sizeof kModels[0] };
  struct CMUnitTest tests[N];
  if (!has_mlir_opt()) return MLIR_OPT_SKIPPED;
  for (int i = 0; i < N; i++) {
    tests[i] = (struct CMUnitTest){
        .name = kModels[i], .test_func = check_model, .initial_state = (void *)(uintptr_t)kModels[i]};
  }
  return cmocka_run_group_tests_name("interop_mlir", tests, NULL, NULL);
}
