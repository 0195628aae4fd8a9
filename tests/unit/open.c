/* Opening a job: which mesh, compiler, sizes and trips it gets; that it is what one would bind by hand; what is told.
 */
#include "check.h"

#include "shardwright/model_json.h"
#include "shardwright/open.h"
#include "shardwright/profile_json.h"

#define JSON(more, rows)                                                                        \
  "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"m\"" more                    \
  ", \"values\": [{\"name\": \"x\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [" rows \
  ", 8]}], "                                                                                    \
  "\"ops\": [{\"op\": \"exponential\", \"inputs\": [\"x\"], \"outputs\": [\"y\"]}], \"outputs\": [\"y\"]}"
#define MLIR(rows)                                         \
  "func.func @main(%x: tensor<" rows                       \
  "x8xf32>, %k: tensor<16x8xf32>) -> tensor<16x8xf32> {\n" \
  "  %0 = stablehlo.add %x, %k : (tensor<" rows            \
  "x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>\n"       \
  "  return %0 : tensor<16x8xf32>\n}\n"
static const char kLoop[] =
    "func.func @main(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {\n"
    "  %c0 = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %0:2 = stablehlo.while(%i = %c0, %y = %x) : tensor<i32>, tensor<8xf32>\n"
    "  cond {\n"
    "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %p : tensor<i1>\n"
    "  } do {\n"
    "    %c1 = stablehlo.constant dense<1> : tensor<i32>\n"
    "    %j = stablehlo.add %i, %c1 : tensor<i32>\n"
    "    %z = stablehlo.exponential %y : tensor<8xf32>\n"
    "    stablehlo.return %j, %z : tensor<i32>, tensor<8xf32>\n"
    "  }\n"
    "  return %0#1 : tensor<8xf32>\n}\n";

/* What is told, a line each. */
static void hear(void *user, const sw_diag *d) { sw_text_printf(user, "%d %s\n", d->line, d->text); }

static sw_open_options of_text(const char *text) {
  return (sw_open_options){
      .model = text[0] == '{' ? "m.json" : "m.mlir", .text = text, .text_bytes = strlen(text), .hw = "dgx-h100"};
}

/* Fails, and the message has this. */
static void check_refused(const sw_open_options *o, sw_rc rc, const char *says) {
  sw_arena arena = {0};
  sw_opened out;
  assert_int_equal(sw_open_job(o, &arena, &out, &diag), rc);
  if (!strstr(diag.text, says)) fail_msg("'%s' lacks '%s'", diag.text, says);
  sw_arena_deinit(&arena);
}

/* --- which mesh and whose kernels --------------------------------------------------------------------------------- */

typedef struct binding {
  const char *text, *hw, *mesh, *compiler, *of_plan; /* the last two: names of compilers */
  const char *gets_mesh, *gets_compiler;
} binding;

static void meshes_and_compilers_have_an_order(void **state) {
  (void)state;
  static const char kPlain[] = JSON("", "16"), kMeshed[] = JSON(", \"mesh\": \"a=4\"", "16"), kProgram[] = MLIR("16");
  static const binding kAll[] = {
      {kPlain, "dgx-h100", NULL, NULL, NULL, "x=8", "inductor"},
      {kPlain, "dgx-h100", "u=2,v=2", NULL, NULL, "u=2,v=2", "inductor"},
      {kMeshed, "dgx-h100", NULL, NULL, NULL, "a=4", "inductor"},
      {kMeshed, "dgx-h100", "u=2", NULL, NULL, "u=2", "inductor"},
      {kProgram, "dgx-h100", NULL, NULL, NULL, "x=8", "xla"},
      {kProgram, "local", "x=2", NULL, NULL, "x=2", "none"},
      {kProgram, "local", "x=2", NULL, "xla", "x=2", "xla"},
      {kProgram, "local", "x=2", "inductor", "xla", "x=2", "inductor"},
  };
  for (size_t i = 0; i < sizeof kAll / sizeof *kAll; i++) {
    const binding *b = &kAll[i];
    sw_arena arena = {0};
    sw_mesh mesh;
    sw_opened out;
    sw_text is = {0};
    const sw_plan_head head = {.compiler = b->of_plan, .profile = "a100"};
    sw_open_options o = of_text(b->text);
    o.hw = b->hw;
    o.compiler = b->compiler;
    if (b->of_plan) o.of_plan = &head;
    if (b->mesh) assert_ok(sw_mesh_parse(b->mesh, &arena, &mesh, &diag));
    if (b->mesh) o.mesh = &mesh;
    assert_ok(sw_open_job(&o, &arena, &out, &diag));
    sw_mesh_print(sw_machine_mesh(out.job.machine), &is);
    assert_string_equal(sw_text_str(&is), b->gets_mesh);
    assert_string_equal(sw_compiled_as(&out.job), b->gets_compiler);
    sw_text_free(&is);
    sw_close_job(&out);
    sw_arena_deinit(&arena);
  }
}

static void the_profile_is_the_plans(void **state) {
  (void)state;
  static const char *const kNames[][2] = {
      {"a100", "a100"}, {"a100 with device.memory.bytes_per_s*=2", "a100"}, {"nobody's", "uniform"}};
  static const char kText[] = JSON(", \"mesh\": \"a=4\"", "16");
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    sw_arena arena = {0};
    sw_opened out;
    const sw_plan_head head = {.profile = kNames[i][0]};
    sw_open_options o = of_text(kText);
    o.hw = NULL;
    o.of_plan = &head;
    assert_ok(sw_open_job(&o, &arena, &out, &diag));
    assert_string_equal(sw_profile_name(out.profile), kNames[i][1]);
    sw_close_job(&out);
    sw_arena_deinit(&arena);
  }
}

/* The same model, read from its file and bound step by step. */
static void a_file_is_opened_as_by_hand(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_graph *g;
  sw_mesh mesh;
  const sw_profile *profile;
  sw_machine *machine;
  sw_job job;
  sw_plan plans[2];
  sw_opened out;
  const sw_open_options o = {.model = SW_SOURCE_DIR "/models/small/gpt2.json", .hw = "dgx-h100", .mesh = &mesh};
  assert_ok(sw_mesh_parse("x=2,y=2", &arena, &mesh, &diag));
  assert_ok(sw_model_read(o.model, &g, &diag));
  assert_ok(sw_profile_read(o.hw, &arena, &profile, &diag));
  assert_ok(sw_machine_build(&arena, profile, &mesh, &machine, &diag));
  assert_ok(sw_job_make(NULL, g->written, machine, &arena, &job, &diag));
  assert_ok(sw_open_job(&o, &arena, &out, &diag));
  assert_true(sw_request_hash(out.job.request) == sw_request_hash(job.request));
  assert_ok(sw_baseline_build(&job, SW_BASELINE_REPLICATED, &arena, &plans[0], &diag));
  assert_ok(sw_baseline_build(&out.job, SW_BASELINE_REPLICATED, &arena, &plans[1], &diag));
  sw_breakdown costs[2];
  for (int i = 0; i < 2; i++) assert_ok(sw_plan_breakdown(&plans[i], &arena, &costs[i], &diag));
  assert_true(costs[0].total_s > 0 && costs[0].total_s == costs[1].total_s);
  assert_true(costs[0].peak_bytes == costs[1].peak_bytes);
  sw_close_job(&out);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

/* --- sizes and trips ---------------------------------------------------------------------------------------------- */

static int64_t first_dim(const sw_open_options *o) {
  sw_arena arena = {0};
  sw_opened out;
  assert_ok(sw_open_job(o, &arena, &out, &diag));
  const int64_t dim = out.job.graph->values[out.job.graph->args[0]].type.dims[0];
  sw_close_job(&out);
  sw_arena_deinit(&arena);
  return dim;
}

static void open_sizes_are_given_or_found(void **state) {
  (void)state;
  static const char kOpen[] = JSON("", "\"N\""), kFound[] = MLIR("?");
  sw_sizes sizes = {0};
  sw_open_options o = of_text(kOpen);
  check_refused(&o, SW_E_INPUT, "--size N=");
  assert_ok(sw_sizes_give(&sizes, "N", "24", &diag));
  o.sizes = &sizes;
  assert_int_equal(first_dim(&o), 24);
  assert_ok(sw_sizes_give(&sizes, "M", "24", &diag));
  check_refused(&o, SW_E_USAGE, "'m.json' has no size of this name");
  o.spare_sizes = true;
  assert_int_equal(first_dim(&o), 24);
  o = of_text(kFound);
  assert_int_equal(first_dim(&o), 16); /* as what it is added to */
  o = of_text(kOpen);
  o.open_sizes = true;
  const int64_t dim = first_dim(&o); /* a number that the eight devices of the mesh cut evenly */
  assert_true(dim > 8 && dim % 8 == 0);
}

/* What opening tells, without what is said of roles. */
static void check_told(sw_open_options o, int64_t repeats, const char *told) {
  sw_arena arena = {0};
  sw_opened out;
  sw_text heard = {0};
  sw_said_role roles[2] = {{"x", "input", NULL}, {"n", "input", NULL}};
  o.said_roles = roles;
  o.n_said_roles = 2;
  o.report = hear;
  o.user = &heard;
  assert_ok(sw_open_job(&o, &arena, &out, &diag));
  assert_string_equal(sw_text_str(&heard), told);
  assert_int_equal(out.job.graph->frames[0].trips < 0 ? 1 : out.job.graph->frames[0].trips, repeats);
  sw_text_free(&heard);
  sw_close_job(&out);
  sw_arena_deinit(&arena);
}

static void trips_are_said_or_missed(void **state) {
  (void)state;
  static const sw_said_trips kSaid[] = {{"0.0.while", 7}, {"*", 5}}, kOther = {"other", 3};
  sw_plan_head head = {.profile = "dgx-h100", .n_trips = 1, .trips = kSaid};
  sw_open_options o = of_text(kLoop);
  o.trips_option = "with";
  o.trips_form = "(N)";
  check_told(o, 1,
             "0 nobody says how many trips these loops make, and they are priced as one: 0.0.while; with(N) says "
             "it\n");
  o.of_plan = &head;
  check_told(o, 7, "");
  o.trips = &kSaid[1];
  o.n_trips = 1;
  check_told(o, 5, "");
  o.trips = &kOther;
  check_refused(&o, SW_E_INPUT, "called 'other'");
  assert_string_equal(diag.notes[0], "in with other=3");
  o.n_trips = 0;
  head.trips = &kOther;
  check_refused(&o, SW_E_INPUT, "called 'other'");
  assert_string_equal(diag.notes[0], "in \"trips\" of the plan");
  o.adapt = true;
  check_told(
      o, 1,
      "0 of \"trips\" of the plan is left out: no loop whose trips are not known is called 'other'; expected one "
      "of: 0.0.while\n0 nobody says how many trips these loops make, and they are priced as one: 0.0.while; "
      "with(N) says it\n");
}

/* --- the rest ----------------------------------------------------------------------------------------------------- */

static void words_are_checked(void **state) {
  (void)state;
  static const char kText[] = MLIR("16");
  sw_open_options o = of_text(kText);
  o.keep = "some";
  check_refused(&o, SW_E_USAGE, "keep is 'some'; expected one of all|io|none");
  o.keep = "io";
  o.attention = "fuse";
  check_refused(&o, SW_E_USAGE, "attention is 'fuse'; expected one of as-written|fused");
}

static void attention_of_a_file_is_fused(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_opened out;
  const sw_open_options o = {
      .model = SW_SOURCE_DIR "/models/small/gpt2-train.json", .hw = "dgx-h100", .attention = "fused"};
  int n = 0;
  assert_ok(sw_open_job(&o, &arena, &out, &diag));
  for (sw_id k = 0; k < out.job.graph->n_ops; k++) n += out.job.graph->ops[k].code == SW_OP_ATTENTION;
  assert_true(n > 0);
  sw_close_job(&out);
  sw_arena_deinit(&arena);
}

static void every_failing_allocation_is_reported(void **state) {
  (void)state;
  static const char kOpen[] = MLIR("?");
  for (long k = 1;; k++) {
    sw_arena arena = {0};
    sw_opened out;
    sw_open_options o = of_text(kOpen);
    sw_text heard = {0};
    o.report = hear;
    o.user = &heard;
    sw_mem_fail_after(k);
    const sw_rc rc = sw_open_job(&o, &arena, &out, &diag);
    sw_mem_fail_after(0);
    if (!rc) sw_close_job(&out);
    sw_text_free(&heard);
    sw_arena_deinit(&arena);
    if (!rc) {
      assert_true(k > 50);
      break;
    }
    if (rc != SW_E_RESOURCE) fail_msg("%d at %ld: %s", (int)rc, k, diag.text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(meshes_and_compilers_have_an_order), cmocka_unit_test(the_profile_is_the_plans),
      cmocka_unit_test(a_file_is_opened_as_by_hand),        cmocka_unit_test(open_sizes_are_given_or_found),
      cmocka_unit_test(trips_are_said_or_missed),           cmocka_unit_test(words_are_checked),
      cmocka_unit_test(attention_of_a_file_is_fused),       cmocka_unit_test(every_failing_allocation_is_reported)};
  return cmocka_run_group_tests_name("opening a job", tests, NULL, NULL);
}
