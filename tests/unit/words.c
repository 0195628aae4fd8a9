/* Plans in words: plans by rule have the names of their rules, whatever values are called. */
#include "check.h"

#include <string.h>

#include "report/words.h"
#include "shardwright/program.h"
#include "support/meshes.h"
#include "support/job.h"
#include "graph/derive.h"

static sw_graph *model(const char *name) { return model_in(".", name); }

/* The model from its text, after everything in it got a name that says nothing, in an order that is drawn. */
static sw_graph *renamed(const sw_graph *g, sw_rng *rng) {
  sw_text text = {0};
  sw_arena arena = {0};
  sw_graph *out, *named;
  const int32_t n = g->n_values + g->n_ops;
  int32_t *at = malloc((size_t)n * sizeof *at);
  for (int32_t i = 0; i < n; i++) {
    const int32_t k = (int32_t)sw_rng_below(rng, i + 1);
    at[i] = at[k];
    at[k] = i;
  }
  sw_value *values = sw_arena_copy(&arena, g->values, (size_t)g->n_values, sizeof *values, &diag);
  sw_op *ops = sw_arena_copy(&arena, g->ops, (size_t)g->n_ops, sizeof *ops, &diag);
  assert_true(values && ops);
  for (sw_id v = 0; v < g->n_values; v++) values[v].name = sw_arena_printf(&arena, &diag, "q%d", (int)at[v]);
  for (sw_id i = 0; i < g->n_ops; i++)
    ops[i].name = ops[i].n_results ? values[ops[i].results[0]].name
                                   : sw_arena_printf(&arena, &diag, "q%d", (int)at[g->n_values + i]);
  assert_ok(sw_graph_derive(g, &(sw_graph_parts){.ops = ops, .values = values}, &arena, &named, &diag));
  free(at);
  assert_ok(sw_model_write(named, &text, &diag));
  assert_ok(sw_model_parse("renamed", sw_text_str(&text), text.n, &out, &diag));
  sw_text_free(&text);
  sw_arena_deinit(&arena);
  return out;
}

static void expect(const sw_plan *plan, const char *what, const char *words) {
  sw_text said = {0};
  assert_ok(sw_plan_words(plan, &said, &diag));
  if (strcmp(sw_text_str(&said), words) != 0)
    fail_msg("%s as %s: '%s'; expected '%s'", plan->job.graph->name, what, sw_text_str(&said), words);
  sw_text_free(&said);
}

/* As the tool plans, with the kernels of its default compiler; but one by one, as beside the launches of so small
 * models no communication takes time. */
static void check_words(sw_graph *g, const char *mesh, sw_baseline rule, const char *words) {
  sw_arena arena = {0};
  sw_plan plan;
  sw_machine *machine = machine_of("dgx-h100", mesh, &arena);
  sw_job job;
  assert_ok(sw_job_make("inductor", g->written, machine, &arena, &job, &diag));
  job.overlap = SW_OVERLAP_NONE;
  assert_ok(sw_baseline_build(&job, rule, &arena, &plan, &diag));
  expect(&plan, sw_baseline_text(rule), words);
  sw_arena_deinit(&arena);
}

static const struct {
  const char *model, *mesh;
  const char *words[SW_BASELINE_COUNT]; /* NULL: the rule's own */
} kPlans[] = {
    {"gpt2-small-train", "x=2,y=4", {NULL}},
    {"mlp-train", "x=4,y=2", {NULL}},
    {"alpa-bert-tensor", "x=2,y=2", {NULL}},
    {"alpa-mlp-tensor", "x=2,y=2", {NULL}},
    {"small/bert-train", "x=2,y=2", {[SW_BASELINE_MEGATRON] = "data-parallel over x; columns of weights over y"}},
    {"small/moe-layers-train", "x=2,y=2", {NULL}},
    /* Megatron's weights in small models are gathered where they are used, or not cut at all. */
    {"small/conv-train", "x=2,y=2", {[SW_BASELINE_MEGATRON] = "data-parallel over x; replicated over y"}},
    {"small/llama3-fused-train", "x=2,y=2", {[SW_BASELINE_MEGATRON] = "FSDP (ZeRO-3) over y; data-parallel over x"}},
    {"alpa-mlp-data",
     "x=2,y=2",
     {[SW_BASELINE_MEGATRON] = "data-parallel over x; columns of weights over y; 6 layers alike"}},
};

static void plans_by_rule_have_its_name(void **state) {
  (void)state;
  static const char *const kNames[] = {
      [SW_BASELINE_REPLICATED] = "replicated",
      [SW_BASELINE_DATA_PARALLEL] = "data-parallel over x,y",
      [SW_BASELINE_MEGATRON] = "data-parallel over x; Megatron over y",
      [SW_BASELINE_FSDP] = "FSDP (ZeRO-3) over x,y",
      [SW_BASELINE_ZERO1] = "ZeRO-1 over x,y",
  };
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(1));
  for (size_t i = 0; i < sizeof kPlans / sizeof *kPlans; i++) {
    sw_graph *g = model(kPlans[i].model);
    for (int again = 0; again < 2; again++) {
      for (int b = 0; b < SW_BASELINE_COUNT; b++)
        check_words(g, kPlans[i].mesh, (sw_baseline)b, kPlans[i].words[b] ? kPlans[i].words[b] : kNames[b]);
      sw_graph *other = again ? NULL : renamed(g, &rng);
      sw_graph_destroy(g);
      g = other;
    }
  }
}

static sw_graph *without_roles(const sw_graph *g, sw_arena *arena) {
  sw_graph *out;
  sw_value *values = sw_arena_copy(arena, g->values, (size_t)g->n_values, sizeof *values, &diag);
  assert_non_null(values);
  for (int32_t a = 0; a < g->n_args; a++) values[g->args[a]].kind = SW_VALUE_INPUT;
  assert_ok(sw_graph_derive(g, &(sw_graph_parts){.values = values}, arena, &out, &diag));
  return out;
}

/* The same plans, after arguments have lost what they were said to be. */
static void roles_need_not_be_said(void **state) {
  (void)state;
  static const char *const kModels[] = {"mlp", "gpt2", "vit", "bert-train", "llama3-fused-train"};
  static const sw_baseline kRules[] = {SW_BASELINE_REPLICATED, SW_BASELINE_DATA_PARALLEL, SW_BASELINE_FSDP};
  static const char *const kWords[] = {"replicated", "data-parallel over x,y", "FSDP (ZeRO-3) over x,y"};
  for (size_t i = 0; i < sizeof kModels / sizeof *kModels; i++) {
    sw_arena arena = {0};
    sw_plan plans[3];
    sw_graph *g = small_model(kModels[i]);
    const sw_machine *machine = machine_of("dgx-h100", "x=2,y=2", &arena);
    for (int k = 0; k < 3; k++) assert_ok(sw_baseline_build(JOB(g, machine), kRules[k], &arena, &plans[k], &diag));
    sw_graph *unsaid = without_roles(g, &arena);
    for (int said = 1; said >= 0; said--) {
      for (int k = 0; k < 3; k++) expect(&plans[k], said ? "said" : "not said", kWords[k]);
      for (int k = 0; k < 3; k++) plans[k].job.graph = unsaid;
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

/* What no product and no feature is cut in is cut by positions over axis y. */
static void cut_positions_between(const sw_graph *g, sw_plan *p) {
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    sw_strategy *s = &p->ops[i];
    bool cut = op->code == SW_OP_DOT || !op->nest || !op->n_results || sw_result_type(g, op, 0)->rank != 3;
    for (int k = 0; k < s->n_refs; k++) cut = cut || s->refs[k].axis == 1;
    const sw_map *map = cut ? NULL : &op->nest->maps[op->n_operands];
    if (cut || map->dims[1].n_terms != 1) continue;
    sw_strategy with = *s;
    if (sw_strategy_push(&with, map->dims[1].terms[0].loop, (sw_axis_ref){1, 1, 2})) *s = with;
  }
}

static void sequences_between_are_said(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_plan plan;
  sw_graph *g = model("alpa-bert-tensor");
  sw_machine *machine = machine_of("dgx-h100", "x=2,y=2", &arena);
  sw_job job;
  assert_ok(sw_job_make("inductor", g->written, machine, &arena, &job, &diag));
  assert_ok(sw_baseline_build(&job, SW_BASELINE_MEGATRON, &arena, &plan, &diag));
  expect(&plan, "by rule", "data-parallel over x; Megatron over y");
  cut_positions_between(g, &plan);
  expect(&plan, "sequences cut",
         "data-parallel over x; heads and FFN columns over y; sequence over y between them; 2 layers alike");
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

/* Products of experts by whole ones, where other products are by samples. */
static void experts_are_said(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_plan plan;
  int cut = 0;
  sw_graph *g = small_model("moe-layers-train");
  assert_ok(sw_baseline_build(JOB(g, machine_of("dgx-h100", "x=2", &arena)), SW_BASELINE_DATA_PARALLEL, &arena, &plan,
                              &diag));
  expect(&plan, "by rule", "data-parallel over x");
  for (sw_id i = 0; i < g->n_ops; i++) { /* those that take [experts, rows, columns] */
    const sw_op *op = &g->ops[i];
    int n = 0;
    const int64_t *batch = op->code == SW_OP_DOT ? sw_op_ints(op, SW_ATTR_RHS_BATCH, &n) : NULL;
    const sw_value *right = n ? &g->values[op->operands[1]] : NULL;
    if (!right || right->def >= 0 || right->type.rank != 3) continue;
    assert_int_equal(batch[0], 0);
    plan.ops[i] = (sw_strategy){0};
    assert_true(sw_strategy_push(&plan.ops[i], op->nest->maps[1].dims[0].terms[0].loop, (sw_axis_ref){0, 1, 2}));
    cut++;
  }
  assert_true(cut > 0);
  expect(&plan, "experts cut", "data-parallel over x; experts over x");
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

/* A stack of products that are cut otherwise in one layer, and by nothing that has a name. */
static void parts_are_said_where_names_fail(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_plan plan;
  sw_graph *g = model("alpa-mlp-tensor");
  const sw_axis_ref x = {0, 1, 4}, kWays[] = {x, {0, 1, 2}, {0, 2, 2}};
  int layer = 0;
  assert_ok(sw_plan_build(JOB(g, machine_of("dgx-h100", "x=4", &arena)), &arena, &plan, &diag));
  plan.capacity_bytes = INT64_MAX;
  for (sw_id i = 0; i < g->n_ops && layer < 6; i++) { /* forward: of [rows, k] and [k, columns] */
    if (g->ops[i].code != SW_OP_DOT) continue;
    assert_true(sw_strategy_push(&plan.ops[i], layer++ < 5 ? 0 : 1, x));
  }
  expect(&plan, "five by rows, one by columns",
         "mixed: 65 % replicated and 29 % data-parallel over x; 5 of 6 layers alike");
  layer = 0;
  for (sw_id i = 0; i < g->n_ops && layer < 6; i++) { /* each another way */
    if (g->ops[i].code != SW_OP_DOT) continue;
    plan.ops[i] = (sw_strategy){0};
    assert_true(sw_strategy_push(&plan.ops[i], layer / 3, kWays[layer % 3]));
    layer++;
  }
  expect(&plan, "all otherwise", "mixed: 76 % replicated and 12 % features over x; none of 6 layers alike");
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

/* A step over stacks of layers, two of three of them, scanned with remat: a loop in a loop forward, the same and one
 * more backward. Products of activations [batch, positions, features] with slices of stacks are cut by columns;
 * `otherwise`: those of the second stack by rows. */
static void layers_of_loops_are_counted(void **state) {
  (void)state;
  static const char *const kWords[] = {"columns of weights over x; 6 layers alike", "Megatron over x"};
  sw_program *program;
  assert_ok(sw_program_read(SW_SOURCE_DIR "/tests/data/nested_layers.mlir", NULL, &program, &diag));
  const sw_graph *g = sw_program_graph(program);
  for (int otherwise = 0; otherwise < 2; otherwise++) {
    sw_arena arena = {0};
    sw_plan plan;
    int n = 0;
    assert_ok(sw_plan_build(JOB(g, machine_of("dgx-h100", "x=2", &arena)), &arena, &plan, &diag));
    plan.capacity_bytes = INT64_MAX;
    for (sw_id i = 0; i < g->n_ops; i++) {
      const sw_op *op = &g->ops[i];
      if (op->code != SW_OP_DOT || sw_operand_type(g, op, 0)->rank != 3 || sw_operand_type(g, op, 1)->rank != 2)
        continue;
      const int64_t *to = sw_result_type(g, op, 0)->dims;
      const bool rows = otherwise && to[2] == 16;
      const sw_affine *cut = rows ? &op->nest->maps[0].dims[2] : &op->nest->maps[2].dims[2];
      assert_true(sw_strategy_push(&plan.ops[i], cut->terms[0].loop, (sw_axis_ref){0, 1, 2}));
      n++;
    }
    assert_true(n > 2);
    expect(&plan, otherwise ? "columns, then rows" : "columns", kWords[otherwise]);
    sw_arena_deinit(&arena);
  }
  sw_program_destroy(program);
}

/* Axes of size one are no axes, and a mesh may have none. */
static void small_meshes(void **state) {
  (void)state;
  sw_graph *g = small_model("mlp-train");
  check_words(g, "x=1,y=2", SW_BASELINE_FSDP, "FSDP (ZeRO-3) over y");
  check_words(g, "x=1,y=2", SW_BASELINE_REPLICATED, "replicated");
  check_words(g, "x=1", SW_BASELINE_DATA_PARALLEL, "one device");
  sw_graph_destroy(g);
}

static void words_survive_failing_allocations(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_plan plan;
  sw_rc rc = SW_E_RESOURCE;
  sw_graph *g = small_model("gpt2-train");
  assert_ok(sw_baseline_build(JOB(g, machine_of("dgx-h100", "x=2", &arena)), SW_BASELINE_FSDP, &arena, &plan, &diag));
  for (long n = 1; rc; n++) {
    sw_text said = {0};
    sw_mem_fail_after(n);
    rc = sw_plan_words(&plan, &said, &diag);
    sw_mem_fail_after(0);
    rc = rc ? rc : said.rc;
    assert_true(rc == SW_OK || rc == SW_E_RESOURCE);
    if (!rc) assert_string_equal(sw_text_str(&said), "FSDP (ZeRO-3) over x");
    sw_text_free(&said);
  }
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans_by_rule_have_its_name),     cmocka_unit_test(roles_need_not_be_said),
      cmocka_unit_test(sequences_between_are_said),      cmocka_unit_test(experts_are_said),
      cmocka_unit_test(parts_are_said_where_names_fail), cmocka_unit_test(small_meshes),
      cmocka_unit_test(layers_of_loops_are_counted),     cmocka_unit_test(words_survive_failing_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
