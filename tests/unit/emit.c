/* MLIR that is written: whole texts of a small program, and the pieces that have corners (names, grids of split axes,
 * elements, padding). What MLIR thinks of it is interop.mlir's. */
#include <math.h>
#include <zlib.h>

#include "check.h"

#include "mlir/emit/mlir.h"
#include "shardwright/emit.h"
#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"
#include "shardwright/report.h"
#include "support/job.h"

/* --- a program of two ops ----------------------------------------------------------------------------------------- */

static const char kModel[] =
    "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"two </script>\", \"values\": ["
    "{\"name\": \"x\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [10, 8]},"
    "{\"name\": \"w/1\", \"kind\": \"parameter\", \"dtype\": \"f32\", \"shape\": [8, 6]}],"
    "\"ops\": [{\"op\": \"dot_general\", \"name\": \"dot\", \"inputs\": [\"x\", \"w/1\"], \"outputs\": [\"h\"],"
    " \"attrs\": {\"lhs_contract\": [1], \"rhs_contract\": [0]}, \"location\": \"net.py:3:7\"},"
    "{\"op\": \"tanh\", \"name\": \"act\", \"inputs\": [\"h\"], \"outputs\": [\"y\"]}], \"outputs\": [\"y\"]}";

typedef struct program {
  sw_arena arena;
  sw_graph *g;
  sw_machine *machine;
  sw_plan plan;
} program;

/* The model on mesh x=4,y=2 with the strategies and the output sharding given as text. */
static void open_program(program *p, const char *dot, const char *act, const char *x, const char *w, const char *y) {
  const sw_profile *profile;
  sw_mesh mesh;
  *p = (program){0};
  assert_ok(sw_model_parse("two.json", kModel, sizeof kModel - 1, &p->g, &diag));
  assert_ok(sw_profile_read("dgx-h100", &p->arena, &profile, &diag));
  assert_ok(sw_mesh_parse("x=4,y=2", &p->arena, &mesh, &diag));
  assert_ok(sw_machine_build(&p->arena, profile, &mesh, &p->machine, &diag));
  assert_ok(sw_plan_build(JOB(p->g, p->machine), &p->arena, &p->plan, &diag));
  const sw_mesh *m = sw_machine_mesh(p->machine);
  const char *strategies[2] = {dot, act}, *args[2] = {x, w};
  for (int i = 0; i < 2; i++) {
    assert_ok(sw_strategy_parse(p->g, &p->g->ops[i], m, strategies[i], SW_NOWHERE, &p->arena, &p->plan.ops[i], &diag));
    assert_ok(sw_sharding_parse(m, 2, args[i], strlen(args[i]), SW_NOWHERE, &p->arena, &p->plan.args[i], &diag));
  }
  assert_ok(sw_sharding_parse(m, 2, y, strlen(y), SW_NOWHERE, &p->arena, &p->plan.outputs[0], &diag));
  assert_ok(sw_plan_verify(&p->plan, &diag));
}

static void close_program(program *p) {
  sw_graph_destroy(p->g);
  sw_arena_deinit(&p->arena);
}

static const char kShard[] =
    "module attributes {shardwright.form = \"shard\", shardwright.model = \"two </script>\"} {\n"
    "  shard.grid @mesh(shape = 4x2) {shardwright.axes = [\"x\", \"y\"]}\n"
    "  func.func @main(%x: tensor<10x8xf32> {shardwright.name = \"x\", shardwright.kind = \"input\"},\n"
    "      %_w_1$1: tensor<8x6xf32> {shardwright.name = \"w/1\", shardwright.kind = \"parameter\"})\n"
    "      -> (tensor<10x6xf32> {shardwright.name = \"y\"}) {\n"
    "    %s$0 = shard.sharding @mesh split_axes = [[0], [1]] : !shard.sharding\n"
    "    %s$1 = shard.sharding @mesh split_axes = [[1], []] : !shard.sharding\n"
    "    %s$2 = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding\n"
    "    %x$d = shard.shard %x to %s$0 : tensor<10x8xf32>\n"
    "    %_w_1$1$d = shard.shard %_w_1$1 to %s$1 : tensor<8x6xf32>\n"
    "    %x$u0 = shard.shard %x$d to %s$0 annotate_for_users : tensor<10x8xf32> loc(\"net.py\":3:7)\n"
    "    %_w_1$1$u1 = shard.shard %_w_1$1$d to %s$1 annotate_for_users : tensor<8x6xf32> loc(\"net.py\":3:7)\n"
    "    %h = \"stablehlo.dot_general\"(%x$u0, %_w_1$1$u1) <{dot_dimension_numbers = "
    "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<10x8xf32>, "
    "tensor<8x6xf32>) -> tensor<10x6xf32> loc(\"net.py\":3:7)\n"
    "    %h$d = shard.shard %h to %s$2 {shardwright.partial = \"sum[y]\"} : tensor<10x6xf32> loc(\"net.py\":3:7)\n"
    "    %h$u2 = shard.shard %h$d to %s$2 annotate_for_users : tensor<10x6xf32>\n"
    "    %y = \"stablehlo.tanh\"(%h$u2) : (tensor<10x6xf32>) -> tensor<10x6xf32>\n"
    "    %y$d = shard.shard %y to %s$2 : tensor<10x6xf32>\n"
    "    %y$u3 = shard.shard %y$d to %s$2 annotate_for_users : tensor<10x6xf32>\n"
    "    return %y$u3 : tensor<10x6xf32>\n"
    "  }\n"
    "}\n";

static void shard_form(void **user) {
  (void)user;
  program p;
  sw_text t = {0};
  open_program(&p, "d0:[x] d2:[y]", "d0:[x]", "[[x],[y]]", "[[y],[]]", "[[x],[]]");
  assert_ok(sw_emit_plan(&p.plan, "shard", &t, &diag));
  assert_string_equal(sw_text_str(&t), kShard);
  sw_text_free(&t);
  close_program(&p);
}

/* Text that must stand in the SPMD form of a plan, in this order. */
static void expect_spmd(program *p, const char *const *lines) {
  sw_text t = {0};
  assert_ok(sw_emit_plan(&p->plan, "spmd", &t, &diag));
  const char *at = sw_text_str(&t);
  for (int i = 0; lines[i]; i++) {
    const char *found = strstr(at, lines[i]);
    if (!found) fail_msg("not there, or too early: %s\n%s", lines[i], sw_text_str(&t));
    at = found + strlen(lines[i]);
  }
  sw_text_free(&t);
  close_program(p);
}

static void spmd_form(void **user) {
  (void)user;
  program p;
  open_program(&p, "d0:[x] d2:[y]", "d0:[x]", "[[x],[y]]", "[[y],[]]", "[[x],[]]");
  expect_spmd(&p, (const char *[]){
                      "func.func @main(%x: tensor<3x4xf32> {shardwright.name = \"x\", shardwright.kind = \"input\", "
                      "shardwright.sharding = \"[[x],[y]]\", shardwright.tensor = tensor<10x8xf32>}",
                      "\"stablehlo.dot_general\"(%x, %_w_1$1)", "-> tensor<3x6xf32> loc(\"net.py\":3:7)",
                      " = shard.all_reduce %dot.dot_general.0 on @mesh grid_axes = [1] : tensor<3x6xf32> -> "
                      "tensor<3x6xf32>",
                      "\"stablehlo.tanh\"", "return ", NULL});
}

/* 10 rows over 4 devices are blocks of 3: gathered they are 12, of which 10 are kept. */
static void uneven_is_trimmed(void **user) {
  (void)user;
  program p;
  open_program(&p, "d0:[x]", "-", "[[x],[]]", "[[],[]]", "[[],[]]");
  expect_spmd(&p, (const char *[]){" = shard.all_gather ",
                                   (" on @mesh grid_axes = [0] gather_axis = 0 : tensor<3x6xf32> "
                                    "-> tensor<12x6xf32>"),
                                   "\"stablehlo.slice\"", "limit_indices = array<i64: 10, 6>", "-> tensor<10x6xf32>",
                                   "\"stablehlo.tanh\"", NULL});
}

static void uneven_is_padded(void **user) {
  (void)user;
  program p;
  open_program(&p, "-", "d0:[x]", "[[],[]]", "[[],[]]", "[[x],[]]");
  expect_spmd(&p,
              (const char *[]){"\"stablehlo.pad\"", "edge_padding_high = array<i64: 2, 0>", "-> tensor<12x6xf32>",
                               " = shard.all_slice ", " slice_axis = 0 : tensor<12x6xf32> -> tensor<3x6xf32>", NULL});
}

/* --- pieces ------------------------------------------------------------------------------------------------------ */

static void names(void **user) {
  (void)user;
  static const struct {
    const char *name, *text;
  } kRows[] = {{"h.0.attn", "%h.0.attn"}, {"_x-1", "%_x-1"}, {"0", "%_0$7"}, {"a b", "%_a_b$7"},
               {"a$1", "%_a_1$7"},        {"", "%_$7"},      {"\"", "%__$7"}};
  sw_text out = {0};
  sw_mlir w = {.out = &out};
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; i++) {
    assert_string_equal(sw_mlir_name(&w, kRows[i].name, 7), kRows[i].text);
  }
  assert_int_equal(out.rc, SW_OK);
  sw_mlir_deinit(&w);
}

static void elements(void **user) {
  (void)user;
  static const struct {
    sw_dtype t;
    double v;
    const char *text;
  } kRows[] = {{SW_F32, 0.1, "dense<1.0e-01>"},
               {SW_F32, -0.0, "dense<-0.0e+00>"},
               {SW_F32, INFINITY, "dense<0x7F800000>"},
               {SW_BF16, -INFINITY, "dense<0xFF80>"},
               {SW_F64, -INFINITY, "dense<0xFFF0000000000000>"},
               {SW_F16, 65504, "dense<6.55e+04>"},
               {SW_I8, -128, "dense<-128>"},
               {SW_I32, -7, "dense<-7>"},
               {SW_U8, 255, "dense<255>"},
               {SW_BOOL, 1, "dense<true>"}};
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; i++) {
    _Alignas(16) unsigned char element[16] = {0};
    sw_text out = {0};
    sw_element_store(kRows[i].t, kRows[i].v, element);
    sw_mlir_dense(&(sw_type){kRows[i].t, 0, NULL}, element, true, &out);
    assert_string_equal(sw_text_str(&out), kRows[i].text);
    sw_text_free(&out);
  }
}

static void element_lists(void **user) {
  (void)user;
  const int64_t shape[2] = {2, 2}, none[2] = {0, 3}, long_shape[1] = {65};
  const int32_t few[4] = {1, -2, 3, 4};
  int8_t many[65] = {0};
  sw_text out = {0};
  sw_mlir_dense(&(sw_type){SW_I32, 2, shape}, few, false, &out);
  sw_text_puts(&out, " ");
  sw_mlir_dense(&(sw_type){SW_I32, 2, none}, few, false, &out);
  assert_string_equal(sw_text_str(&out), "dense<[[1, -2], [3, 4]]> dense<>");
  sw_text_free(&out);
  many[0] = -1;
  sw_mlir_dense(&(sw_type){SW_I8, 1, long_shape}, many, false, &out);
  assert_int_equal(out.n, strlen("dense<\"0x\">") + 130);
  assert_int_equal(strncmp(out.at, "dense<\"0xFF00", 13), 0);
  sw_text_free(&out);
  sw_mlir_dense(&(sw_type){SW_BOOL, 1, long_shape}, many, false, &out);
  assert_int_equal(strncmp(out.at, "dense<[true, false", 18), 0);
  sw_text_free(&out);
}

/* Axes used in parts become several grid axes. */
static void split_grids(void **user) {
  (void)user;
  static const struct {
    const char *mesh, *refs, *grid, *first; /* first: grid axes of the first ref */
  } kRows[] = {{"x=8,y=4", "[[x],[y]]", "8 4", "0"},        {"x=8,y=4", "[[x:(1)2],[y]]", "2 4 4", "0"},
               {"x=8,y=4", "[[x:(2)4],[y]]", "2 4 4", "1"}, {"x=8,y=4", "[[x:(2)2],[y:(1)2]]", "2 2 2 2 2", "1"},
               {"x=8,y=4", "[[y],[x:(1)4]]", "4 2 4", "2"}, {"x=1,y=4", "[[y],[]]", "1 4", "1"}};
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; i++) {
    sw_arena arena = {0};
    sw_mesh mesh;
    sw_sharding s;
    sw_grid grid;
    sw_text sizes = {0}, axes = {0};
    int found[SW_GRID_AXES];
    assert_ok(sw_mesh_parse(kRows[i].mesh, &arena, &mesh, &diag));
    assert_ok(sw_sharding_parse(&mesh, 2, kRows[i].refs, strlen(kRows[i].refs), SW_NOWHERE, &arena, &s, &diag));
    sw_grid_init(&mesh, &grid);
    assert_ok(sw_grid_use(&grid, s.refs, s.n_refs, &diag));
    for (int k = 0; k < grid.n; k++) sw_text_printf(&sizes, "%s%d", k ? " " : "", grid.axis[k].size);
    int n = sw_grid_axes(&grid, s.refs, 1, found);
    for (int k = 0; k < n; k++) sw_text_printf(&axes, "%s%d", k ? " " : "", found[k]);
    assert_string_equal(sw_text_str(&sizes), kRows[i].grid);
    assert_string_equal(sw_text_str(&axes), kRows[i].first);
    sw_text_free(&sizes);
    sw_text_free(&axes);
    sw_arena_deinit(&arena);
  }
}

/* 12 as 2 x 6 and as 3 x 4 has no common refinement in that order. */
static void grids_that_cannot_be(void **user) {
  (void)user;
  diag = (sw_diag){0};
  sw_arena arena = {0};
  sw_mesh mesh;
  sw_grid grid;
  assert_ok(sw_mesh_parse("x=12", &arena, &mesh, &diag));
  sw_axis_ref two = {0, 1, 2}, three = {0, 1, 3};
  sw_grid_init(&mesh, &grid);
  assert_ok(sw_grid_use(&grid, &two, 1, &diag));
  assert_int_equal(sw_grid_use(&grid, &three, 1, &diag), SW_E_INPUT);
  assert_non_null(strstr(diag.text, "axis 'x' is used in parts"));
  sw_arena_deinit(&arena);
}

/* --- the report as a page ---------------------------------------------------------------------------------------- */

/* The page's report is this text, unpacked as a browser would. */
static void check_inside(const char *page, const char *json) {
  static const char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = strstr(page, "id=\"report\">") + 12, *end = strchr(at, '<');
  const size_t most = strlen(json) + 1;
  unsigned char *packed = malloc((size_t)(end - at)), *out = malloc(most);
  uLongf n = (uLongf)most;
  unsigned bits = 0;
  size_t size = 0;
  for (int k = 0; at < end && *at != '='; at++) {
    bits = bits << 6 | (unsigned)(strchr(kDigits, *at) - kDigits);
    k += 6;
    if (k >= 8) packed[size++] = (unsigned char)(bits >> (k -= 8) & 255);
  }
  assert_int_equal(uncompress(out, &n, packed, (uLong)size), Z_OK);
  assert_int_equal(n, strlen(json));
  assert_memory_equal(out, json, n);
  free(packed);
  free(out);
}

static void report_page(void **user) {
  (void)user;
  program p;
  sw_breakdown breakdown;
  sw_report report;
  sw_text page = {0}, json = {0};
  open_program(&p, "d0:[x]", "-", "[[x],[]]", "[[],[]]", "[[],[]]");
  assert_ok(sw_plan_breakdown(&p.plan, &p.arena, &breakdown, &diag));
  assert_ok(sw_report_build(&p.plan, &breakdown, NULL, &p.arena, &report, &diag));
  sw_report_html(&report, &page);
  assert_int_equal(page.rc, SW_OK);
  assert_null(strstr(page.at, "@REPORT@"));
  assert_null(strstr(page.at, "@SCRIPT@"));
  assert_null(strstr(page.at, "https://")); /* nothing is fetched */
  sw_report_json(&report, &json);
  check_inside(page.at, sw_text_str(&json));
  sw_text_free(&json);
  sw_text_free(&page);
  close_program(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shard_form),       cmocka_unit_test(spmd_form),   cmocka_unit_test(uneven_is_trimmed),
      cmocka_unit_test(uneven_is_padded), cmocka_unit_test(names),       cmocka_unit_test(elements),
      cmocka_unit_test(element_lists),    cmocka_unit_test(split_grids), cmocka_unit_test(grids_that_cannot_be),
      cmocka_unit_test(report_page),
  };
  return cmocka_run_group_tests_name("emit", tests, NULL, NULL);
}
