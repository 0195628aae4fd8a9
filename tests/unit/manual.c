/* Manual computations: what devices compute by hand comes out as they say, with the collectives that they say and no
 * others, whatever the shardings of operands and results; and under random plans on other meshes, too. */
#include "random_sharding.h"

#include <math.h>

#include "support/random_plan.h"
#include "shardwright/plan.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "shardwright/propagate.h"
#include "shardwright/spmd.h"
#include "shardwright/strategy.h"
#include "shardwright/validate.h"
#include "support/job.h"

enum { MOST = 3 };

/* A tensor with a sharding that divides it. */
typedef struct part {
  int rank;
  int64_t dims[3], block[3];
  char sharding[128];
} part;

static void random_part(rng *r, part *p) {
  static const struct {
    const char *text;
    int by;
  } kAxes[] = {{"\"x\"", 2}, {"\"y\"", 4}, {"\"z\"", 3}};
  bool used[3] = {false};
  sw_text t = {0};
  p->rank = (int)rng_below(r, 4);
  for (int k = 0; k < p->rank; k++) {
    p->dims[k] = p->block[k] = 1 + rng_below(r, 4);
    sw_text_puts(&t, k ? ", {" : "{");
    for (int i = 0, n = 0; i < 3; i++) {
      int a = (int)rng_below(r, 3);
      if (used[a] || rng_below(r, 2)) continue;
      used[a] = true;
      p->dims[k] *= kAxes[a].by;
      sw_text_printf(&t, "%s%s", n++ ? ", " : "", kAxes[a].text);
    }
    sw_text_puts(&t, "}");
  }
  snprintf(p->sharding, sizeof p->sharding, "<@m, [%s]>", t.n ? sw_text_str(&t) : "");
  sw_text_free(&t);
}

static void put_type(const part *p, const int64_t *dims, sw_text *t) {
  sw_text_puts(t, "tensor<");
  for (int k = 0; k < p->rank; k++) sw_text_printf(t, "%lldx", (long long)dims[k]);
  sw_text_puts(t, "f32>");
}

static void put_list(const part *p, int n, const char *before, bool types, sw_text *t) {
  for (int i = 0; i < n; i++) {
    sw_text_printf(t, "%s%s", i ? ", " : "", before);
    if (*before) sw_text_printf(t, "%d: ", i);
    if (types) put_type(&p[i], *before == '%' && before[1] == 'l' ? p[i].block : p[i].dims, t);
    if (!types) sw_text_puts(t, p[i].sharding);
  }
}

/* --- one computation with known numbers -------------------------------------------------------------------------- */

typedef struct row {
  const char *name, *out, *local; /* sharding and type of the result's part */
  const char *type;               /* of the result */
  const char *body;               /* from %l to %r */
  const char *want;               /* the numbers */
  const char *collectives;        /* a line each */
  bool in_tiles;                  /* written in GSPMD's form, without a function of its own */
} row;

#define GROUPS(op, groups, shape, more)                                                          \
  "\"stablehlo." op                                                                              \
  "\"(%l) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = " \
  "dense<" groups "> : tensor<" shape "xi64>" more "}> "
#define REGION(by)                                                  \
  "({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n%s = stablehlo." by \
  " %p, %q : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) "
#define IN_OUT(to) ": (tensor<2xf32>) -> tensor<" to "xf32>\n"
#define PAIRS(pairs, n)                                                                            \
  "%r = \"stablehlo.collective_permute\"(%l) <{source_target_pairs = dense<" pairs "> : tensor<" n \
  "x2xi64>}> " IN_OUT("2")

/* 0 1 | 2 3 | 4 5 | 6 7 on the devices of x=2,y=2. */
static const row kRows[] = {
    {"sum over the minor axis", "{\"x\"}", "2", "4",
     "%r = " GROUPS("all_reduce", "[[0, 1], [2, 3]]", "2x2", "") REGION("add") IN_OUT("2"), "2 4 10 12",
     "all_reduce sum [y]\n"},
    {"greatest of all", "{}", "2", "2",
     "%r = " GROUPS("all_reduce", "[[0, 1, 2, 3]]", "1x4", "") REGION("maximum") IN_OUT("2"), "6 7",
     "all_reduce max [x,y]\n"},
    {"groups in another order", "{}", "8", "8",
     "%r = " GROUPS("all_gather", "[[0, 2, 1, 3]]", "1x4", ", all_gather_dim = 0 : i64") IN_OUT("8"), "0 1 4 5 2 3 6 7",
     "all_gather dim=0 [y,x]\n"},
    {"gathered over the minor axis", "{\"x\"}", "4", "8",
     "%r = " GROUPS("all_gather", "[[0, 1], [2, 3]]", "2x2", ", all_gather_dim = 0 : i64") IN_OUT("4"),
     "0 1 2 3 4 5 6 7", "all_gather dim=1 [y]\n"},
    {"gathered over the major axis", "{\"y\"}", "4", "8",
     "%r = " GROUPS("all_gather", "[[0, 2], [1, 3]]", "2x2", ", all_gather_dim = 0 : i64") IN_OUT("4"),
     "0 1 4 5 2 3 6 7", "all_gather dim=1 [x]\n"},
    {"sums in parts", "{\"y\", \"x\"}", "1", "4",
     "%r = " GROUPS("reduce_scatter", "[[0, 2], [1, 3]]", "2x2", ", scatter_dimension = 0 : i64") REGION("add")
         IN_OUT("1"),
     "4 6 8 10", "reduce_scatter dim=1 sum [x]\n"},
    {"parts for each other", "{\"x\", \"y\"}", "2", "8",
     "%r = " GROUPS("all_to_all", "[[0, 1], [2, 3]]", "2x2",
                    ", split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64") IN_OUT("2"),
     "0 2 1 3 4 6 5 7", "all_to_all dim=2 concat=0 [y]\n"},
#define WIDE(op, groups, more, to) \
  "%w = " GROUPS(op, groups, "2x2", more) "({\n^bb0(%p: tensor<f64>, %q: tensor<f64>):\n%s = stablehlo.add %p, %q : "  \
  "tensor<f64>\nstablehlo.return %s : tensor<f64>\n}) : (tensor<2xf32>) -> tensor<" to "xf64>\n"                      \
  "%r = stablehlo.convert %w : (tensor<" to "xf64>) -> tensor<" to "xf32>\n"
    {"sums in a wider type", "{\"x\"}", "2", "4", WIDE("all_reduce", "[[0, 1], [2, 3]]", "", "2"), "2 4 10 12",
     "all_reduce sum [y]\n"},
    {"sums in parts in a wider type", "{\"y\", \"x\"}", "1", "4",
     WIDE("reduce_scatter", "[[0, 2], [1, 3]]", ", scatter_dimension = 0 : i64", "1"), "4 6 8 10",
     "reduce_scatter dim=1 sum [x]\n"},
    {"in a ring", "{\"x\", \"y\"}", "2", "8", PAIRS("[[0, 1], [1, 2], [2, 3], [3, 0]]", "4"), "6 7 0 1 2 3 4 5",
     "permute\n"},
    {"along one axis", "{\"x\", \"y\"}", "2", "8", PAIRS("[[0, 2], [1, 3], [2, 0], [3, 1]]", "4"), "4 5 6 7 0 1 2 3",
     "permute\n"},
    {"to one alone", "{\"x\", \"y\"}", "2", "8", PAIRS("[[1, 3]]", "1"), "0 0 0 0 0 0 2 3", NULL},
    {"who am I", "{\"x\", \"y\"}", "2", "8",
     "%i = stablehlo.partition_id : tensor<ui32>\n%f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>\n"
     "%b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"
     "%r = stablehlo.add %l, %b : tensor<2xf32>\n",
     "0 1 3 4 6 7 9 10", NULL},
    {"twice in a loop", "{\"x\", \"y\"}", "2", "8",
     "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     "%w:2 = stablehlo.while(%k = %z, %v = %l) : tensor<i32>, tensor<2xf32>\n cond {\n"
     "%n = stablehlo.constant dense<2> : tensor<i32>\n"
     "%t = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %t : tensor<i1>\n"
     "} do {\n%o = stablehlo.constant dense<1> : tensor<i32>\n%k1 = stablehlo.add %k, %o : tensor<i32>\n"
     "%g = \"stablehlo.collective_permute\"(%v) <{source_target_pairs = dense<[[0, 1], [1, 0], [2, 3], [3, 2]]> : "
     "tensor<4x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>\n%h = stablehlo.add %g, %v : tensor<2xf32>\n"
     "stablehlo.return %k1, %h : tensor<i32>, tensor<2xf32>\n}\n"
     "%r = stablehlo.negate %w#1 : tensor<2xf32>\n",
     "-4 -8 -4 -8 -20 -24 -20 -24", "permute\n"},
};

static void put_manual(const row *r, sw_text *t) {
  sw_text_printf(t,
                 "module {\n  sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\n  func.func @main() -> tensor<%sxf32> {\n"
                 "%%a = stablehlo.iota dim = 0 : tensor<8xf32>\n"
                 "%%m = sdy.manual_computation(%%a) in_shardings=[<@m, [{\"x\", \"y\"}]>] out_shardings=[<@m, [%s]>] "
                 "manual_axes={\"x\", \"y\"} (%%l: tensor<2xf32>) {\n%ssdy.return %%r : tensor<%sxf32>\n"
                 "} : (tensor<8xf32>) -> tensor<%sxf32>\nreturn %%m : tensor<%sxf32>\n}\n}\n",
                 r->type, r->out, r->body, r->local, r->type, r->type);
}

static const char *tiles_of(const char *sharding) {
  static const struct {
    const char *sharding, *tiles;
  } kTiles[] = {{"{}", "{replicated}"},
                {"{\"x\"}", "{devices=[2,2]<=[4] last_tile_dim_replicate}"},
                {"{\"y\"}", "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}"},
                {"{\"x\", \"y\"}", "{devices=[4]<=[4]}"},
                {"{\"y\", \"x\"}", "{devices=[4]<=[2,2]T(1,0)}"}};
  for (size_t i = 0; i < sizeof kTiles / sizeof *kTiles; i++) {
    if (strcmp(kTiles[i].sharding, sharding) == 0) return kTiles[i].tiles;
  }
  fail_msg("no tiles for %s", sharding);
  return NULL;
}

static void put_tiles(const row *r, sw_text *t) {
  sw_text_printf(t,
                 "module attributes {mhlo.num_partitions = 4 : i32} {\n  func.func @main() -> tensor<%sxf32> {\n"
                 "%%a = stablehlo.iota dim = 0 : tensor<8xf32>\n"
                 "%%b0 = stablehlo.custom_call @Sharding(%%a) {mhlo.sharding = \"{devices=[4]<=[4]}\"} : "
                 "(tensor<8xf32>) -> tensor<8xf32>\n"
                 "%%l = stablehlo.custom_call @SPMDFullToShardShape(%%b0) {mhlo.sharding = \"{manual}\"} : "
                 "(tensor<8xf32>) -> tensor<2xf32>\n%s"
                 "%%b1 = stablehlo.custom_call @Sharding(%%r) {mhlo.sharding = \"{manual}\"} : "
                 "(tensor<%sxf32>) -> tensor<%sxf32>\n"
                 "%%m = stablehlo.custom_call @SPMDShardToFullShape(%%b1) {mhlo.sharding = \"%s\"} : "
                 "(tensor<%sxf32>) -> tensor<%sxf32>\nreturn %%m : tensor<%sxf32>\n}\n}\n",
                 r->type, r->body, r->local, r->local, tiles_of(r->out), r->local, r->type, r->type);
}

/* With a mesh whose axes the program does not know nothing is pinned. */
static sw_program *program_of(const row *r, const sw_mesh *mesh) {
  sw_text t = {0};
  diag = (sw_diag){0};
  sw_arena arena = {0};
  sw_program *p;
  sw_mesh square;
  assert_ok(sw_mesh_parse("x=2,y=2", &arena, &square, &diag));
  (r->in_tiles ? put_tiles : put_manual)(r, &t);
  sw_program_options o = {.mesh = mesh ? mesh : r->in_tiles ? &square : NULL};
  if (sw_program_parse("t.mlir", sw_text_str(&t), t.n, &o, &p, &diag)) {
    fail_msg("%s: %d:%d: %s\n%s", r->name, diag.line, diag.col, diag.text, sw_text_str(&t));
  }
  sw_text_free(&t);
  sw_arena_deinit(&arena);
  return p;
}

static void expect_numbers(const row *r, const sw_tensor *got, const char *how) {
  const char *at = r->want;
  for (int64_t i = 0; i < got->dims[0]; i++) {
    char *end;
    double want = strtod(at, &end), have = (double)((const float *)got->data)[i];
    if (end == at || fabs(want - have) > 0) fail_msg("%s %s: %g at %d of %s", r->name, how, have, (int)i, r->want);
    at = end;
  }
}

/* The words of each collective that is not in the row; of permutes the first one. */
static void expect_collectives(const row *r, const char *list) {
  bool permute = r->collectives && strcmp(r->collectives, "permute\n") == 0;
  const char *line = strchr(list, '\n');
  bool ok = permute ? strncmp(list, "permute", 7) == 0 && line && !line[1]
                    : !r->collectives || strcmp(list, r->collectives) == 0;
  if (!ok) fail_msg("%s: collectives\n%s, expected\n%s", r->name, list, r->collectives);
}

static const char kDgx[] = SW_SOURCE_DIR "/hwprofiles/dgx-h100.json";

static sw_machine *machine_of(const char *profile, const sw_mesh *mesh, sw_arena *arena) {
  const sw_profile *hw;
  sw_machine *machine;
  assert_ok(sw_profile_read(profile, arena, &hw, &diag));
  assert_ok(sw_machine_build(arena, hw, mesh, &machine, &diag));
  return machine;
}

/* The best plan on the graph's own mesh. */
static sw_plan best_plan(const char *profile, const sw_graph *g, sw_arena *arena) {
  sw_plan plan;
  sw_plan_options o = {.solve = {.threads = 1, .time_limit_s = 60}};
  assert_ok(sw_plan_search(JOB(g, machine_of(profile, &g->written->mesh, arena)), &o, arena, &plan, &diag));
  return plan;
}

/* Its collectives, a line each, and (NULL: not wanted) the outputs of a run that matches one device. */
static void carry_out(const sw_plan *plan, sw_arena *arena, sw_text *collectives, sw_tensor *outputs) {
  sw_spmd spmd;
  sw_validation v;
  assert_ok(sw_partition(plan, &spmd, &diag));
  sw_spmd_collectives(&spmd, collectives);
  sw_spmd_deinit(&spmd);
  assert_ok(sw_validate(plan, &(sw_validate_options){.outputs = outputs}, arena, &v, &diag));
  assert_true(v.matches);
}

static void one_row(void **state) {
  const row *r = *state;
  sw_arena arena = {0};
  sw_text collectives = {0};
  sw_tensor out;
  sw_program *p = program_of(r, NULL);
  const sw_graph *g = sw_program_graph(p);
  assert_ok(sw_exec_run(g, NULL, NULL, &out, &diag));
  expect_numbers(r, &out, "on one device");
  sw_tensor_deinit(&out);
  sw_plan plan = best_plan(kDgx, g, &arena);
  carry_out(&plan, &arena, &collectives, &out);
  expect_collectives(r, sw_text_str(&collectives));
  sw_text_free(&collectives);
  expect_numbers(r, &out, "as planned");
  sw_tensor_deinit(&out);
  sw_arena_deinit(&arena);
  sw_program_destroy(p);
}

/* Any plan gives the same (of tiles on meshes of other sizes: others pin them). */
static void one_row_any_plan(void **state) {
  static const char *const kOfAxes[] = {"a=2,b=2", "a=4", "a=3", "a=8"}, *const kOfTiles[] = {"a=2", "a=8", "a=3",
                                                                                              "a=2,b=3"};
  const row *r = *state;
  const char *const *meshes = r->in_tiles ? kOfTiles : kOfAxes;
  diag = (sw_diag){0};
  sw_rng draw;
  sw_rng_seed(&draw, check_seed(7));
  for (int i = 0; i < 4 * (int)check_scale(2); i++) {
    sw_arena arena = {0};
    sw_mesh mesh;
    sw_plan plan;
    sw_tensor out;
    sw_validation v;
    assert_ok(sw_mesh_parse(meshes[i % 4], &arena, &mesh, &diag));
    sw_program *p = program_of(r, &mesh);
    assert_ok(random_plan(JOB(sw_program_graph(p), machine_of(kDgx, &mesh, &arena)), &draw, &arena, &plan, &diag));
    sw_rc rc = sw_validate(&plan, &(sw_validate_options){.outputs = &out}, &arena, &v, &diag);
    if (rc || !v.matches) fail_msg("%s on %s: %s", r->name, meshes[i % 4], rc ? diag.text : v.first_bad_op);
    expect_numbers(r, &out, meshes[i % 4]);
    sw_tensor_deinit(&out);
    sw_arena_deinit(&arena);
    sw_program_destroy(p);
  }
}

/* --- what cannot be written out ---------------------------------------------------------------------------------- */

/* All warnings, one behind the other. */
static void keep_warning(void *user, const sw_diag *d) { sw_text_puts(user, d->text); }

static void groups_that_are_no_axes(void **state) {
  (void)state;
  row r = {"no axes",
           "{\"x\", \"y\"}",
           "2",
           "8",
           "%r = " GROUPS("all_reduce", "[[0, 3], [1, 2]]", "2x2", "") REGION("add") IN_OUT("2"),
           "",
           NULL};
  sw_text t = {0}, said = {0};
  sw_program *p;
  sw_text_printf(
      &t,
      "module {\nsdy.mesh @m = <[\"x\"=2, \"y\"=2]>\nfunc.func @main(%%a: tensor<8xf32>) -> tensor<8xf32> {\n"
      "%%m = sdy.manual_computation(%%a) in_shardings=[<@m, [{\"x\", \"y\"}]>] out_shardings=[<@m, [%s]>] "
      "manual_axes={\"x\", \"y\"} (%%l: tensor<2xf32>) {\n%ssdy.return %%r : tensor<2xf32>\n"
      "} : (tensor<8xf32>) -> tensor<8xf32>\nreturn %%m : tensor<8xf32>\n}\n}\n",
      r.out, r.body);
  sw_program_options o = {.report = keep_warning, .user = &said};
  assert_ok(sw_program_parse("t.mlir", sw_text_str(&t), t.n, &o, &p, &diag));
  assert_non_null(strstr(sw_text_str(&said), "not those along manual axes"));
  const sw_graph *g = sw_program_graph(p);
  assert_int_equal(g->n_ops, 1);
  assert_int_equal(g->ops[0].code, SW_OP_OPAQUE);
  assert_int_equal(g->ops[0].nest->loops[0].kind, SW_LOOP_MANUAL);
  sw_text_free(&t);
  sw_text_free(&said);
  sw_program_destroy(p);
}

/* --- places ------------------------------------------------------------------------------------------------------ */

/* Names of files live as long as the program, wherever an op was read. */
static void ops_inside_know_their_file(void **state) {
  (void)state;
  static const char kText[] =
      "module {\n  sdy.mesh @m = <[\"x\"=2]>\n  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
      "%m = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}]>] out_shardings=[<@m, [{\"x\"}]>] "
      "manual_axes={\"x\"} (%l: tensor<4xf32>) {\n"
      "%r = stablehlo.sine %l : tensor<4xf32> loc(\"inside/model.py\":12:7)\n"
      "sdy.return %r : tensor<4xf32>\n} : (tensor<8xf32>) -> tensor<8xf32>\nreturn %m : tensor<8xf32>\n}\n}\n";
  sw_program *p;
  int found = 0;
  assert_ok(sw_program_parse("t.mlir", kText, sizeof kText - 1, NULL, &p, &diag));
  const sw_graph *g = sw_program_graph(p);
  for (int32_t i = 0; i < g->n_ops; i++) {
    if (g->ops[i].code != SW_OP_SIN) continue;
    assert_string_equal(g->ops[i].location.at.file, "inside/model.py");
    assert_int_equal(g->ops[i].location.at.line, 12);
    found++;
  }
  assert_int_equal(found, 1);
  sw_program_destroy(p);
}

/* --- any shardings ----------------------------------------------------------------------------------------------- */

/* Operands come out negated, in the sharding in which they went in; further results are made from nothing. */
static void put_module(const part *in, int n_in, const part *out, int n_out, sw_text *t) {
  sw_text_puts(t, "module {\n  sdy.mesh @m = <[\"x\"=2, \"y\"=4, \"z\"=3]>\n  func.func @main(");
  put_list(in, n_in, "%a", true, t);
  sw_text_puts(t, ") -> (");
  put_list(out, n_out, "", true, t);
  sw_text_printf(t, ") {\n    %%r:%d = sdy.manual_computation(", n_out);
  for (int i = 0; i < n_in; i++) sw_text_printf(t, "%s%%a%d", i ? ", " : "", i);
  sw_text_puts(t, ") in_shardings=[");
  put_list(in, n_in, "", false, t);
  sw_text_puts(t, "] out_shardings=[");
  put_list(out, n_out, "", false, t);
  sw_text_puts(t, "] manual_axes={\"x\", \"y\", \"z\"} (");
  put_list(in, n_in, "%l", true, t);
  sw_text_puts(t, ") {\n");
  for (int i = 0; i < n_out; i++) {
    if (i < n_in) sw_text_printf(t, "      %%c%d = stablehlo.negate %%l%d : ", i, i);
    if (i >= n_in) sw_text_printf(t, "      %%c%d = stablehlo.constant dense<1.0> : ", i);
    put_type(&out[i], out[i].block, t);
    sw_text_puts(t, "\n");
  }
  sw_text_puts(t, "      sdy.return ");
  for (int i = 0; i < n_out; i++) sw_text_printf(t, "%s%%c%d", i ? ", " : "", i);
  sw_text_puts(t, " : ");
  for (int i = 0; i < n_out; i++) {
    if (i) sw_text_puts(t, ", ");
    put_type(&out[i], out[i].block, t);
  }
  sw_text_puts(t, "\n    } : (");
  put_list(in, n_in, "", true, t);
  sw_text_puts(t, ") -> (");
  put_list(out, n_out, "", true, t);
  sw_text_puts(t, ")\n    return ");
  for (int i = 0; i < n_out; i++) sw_text_printf(t, "%s%%r#%d", i ? ", " : "", i);
  sw_text_puts(t, " : ");
  put_list(out, n_out, "", true, t);
  sw_text_puts(t, "\n  }\n}\n");
}

static void expect_sharding(const sw_graph *g, const part *p, const sw_sharding *got) {
  sw_arena arena = {0};
  sw_sharding want;
  const char *list = strchr(p->sharding, '[');
  assert_ok(sw_sharding_parse_as(&g->written->mesh, p->rank, SW_FORM_SDY, list, strlen(list) - 1, SW_NOWHERE, &arena,
                                 &want, &diag));
  assert_true(sw_sharding_equal(&want, got));
  sw_arena_deinit(&arena);
}

static void expect_plan(const sw_graph *g, int n_in, const part *out, int n_out) {
  sw_arena arena = {0};
  sw_text collectives = {0};
  sw_plan known, plan;
  const sw_machine *machine = machine_of(SW_SOURCE_DIR "/hwprofiles/local.json", &g->written->mesh, &arena);
  assert_ok(sw_propagate(JOB(g, machine), SW_TRAVERSE_BACKWARD_FORWARD, &arena, &known, &diag)); /* as the tool does */
  sw_plan_options o = {.solve = {.threads = 1, .time_limit_s = 60}, .known = &known, .n_known = 1};
  assert_ok(sw_plan_search(JOB(g, machine), &o, &arena, &plan, &diag));
  for (int i = 0; i < n_out; i++) {
    sw_sharding s;
    sw_plan_value_sharding(&plan, g->outputs[i], &s);
    expect_sharding(g, &out[i], &s);
    if (i < n_in) expect_sharding(g, &out[i], &plan.args[i]);
  }
  carry_out(&plan, &arena, &collectives, NULL);
  assert_string_equal(sw_text_str(&collectives), "");
  sw_text_free(&collectives);
  sw_arena_deinit(&arena);
}

static void random_manual_computations(void **state) {
  (void)state;
  rng r = {check_seed(1)};
  for (int round = 0, n = check_scale(30); round < n; round++) {
    part in[MOST], out[2 * MOST];
    sw_text t = {0};
    diag = (sw_diag){0};
    sw_program *p;
    int n_in = 1 + (int)rng_below(&r, MOST), n_out = n_in + (int)rng_below(&r, MOST);
    for (int i = 0; i < n_in; i++) {
      random_part(&r, &in[i]);
      out[i] = in[i];
    }
    for (int i = n_in; i < n_out; i++) random_part(&r, &out[i]);
    put_module(in, n_in, out, n_out, &t);
    sw_rc rc = sw_program_parse("t.mlir", sw_text_str(&t), t.n, NULL, &p, &diag);
    if (rc) fail_msg("%d:%d: %s\n%s", diag.line, diag.col, diag.text, sw_text_str(&t));
    expect_plan(sw_program_graph(p), n_in, out, n_out);
    sw_program_destroy(p);
    sw_text_free(&t);
  }
}

/* A part that gives away what devices make of it in two places, reads a value from around it, and is followed by
 * another one; and what cannot be taken out: a part whose second value comes in behind what went out of it. */
static void parts_in_tiles(void **state) {
  (void)state;
#define IN(to, from)                                          \
  to " = stablehlo.custom_call @SPMDFullToShardShape(" from   \
     ") {mhlo.sharding = \"{manual}\"} : (tensor<8xf32>) -> " \
     "tensor<2xf32>\n"
#define CUT(to, from)                           \
  to " = stablehlo.custom_call @Sharding(" from \
     ") {mhlo.sharding = \"{devices=[4]<=[4]}\"} : (tensor<8xf32>) -> tensor<8xf32>\n"
#define OUT(to, from)                                       \
  to " = stablehlo.custom_call @SPMDShardToFullShape(" from \
     ") {mhlo.sharding = \"{devices=[4]<=[4]}\"} : "        \
     "(tensor<2xf32>) -> tensor<8xf32>\n"
  static const struct {
    const char *body, *want;
    bool fits;
  } kBodies[] = {
      {CUT("%0", "%a") IN("%1", "%0") "%2 = stablehlo.add %1, %s : tensor<2xf32>\n" OUT("%3", "%2") CUT("%4", "%3") IN(
           "%5",
           "%4") "%6 = stablehlo.multiply %5, %s : tensor<2xf32>\n%7 = stablehlo.negate %2 : tensor<2xf32>\n" OUT("%8",
                                                                                                                  "%7")
           OUT("%9", "%6") "%r = stablehlo.add %8, %9 : tensor<8xf32>\n",
       "0 0 -2 0 -4 0 -6 0", true},
      {CUT("%0", "%a") IN("%1", "%0") OUT("%2", "%1") CUT("%3", "%2")
           IN("%4", "%3") "%5 = stablehlo.add %1, %4 : tensor<2xf32>\n" OUT("%r", "%5"),
       "", false},
  };
#undef IN
#undef CUT
#undef OUT
  for (size_t i = 0; i < sizeof kBodies / sizeof *kBodies; i++) {
    sw_text t = {0};
    sw_arena arena = {0};
    sw_mesh mesh;
    sw_program *p;
    assert_ok(sw_mesh_parse("x=2,y=2", &arena, &mesh, &diag));
    sw_text_printf(&t,
                   "module attributes {mhlo.num_partitions = 4 : i32} {\n  func.func @main() -> tensor<8xf32> {\n"
                   "%%a = stablehlo.iota dim = 0 : tensor<8xf32>\n%%s = stablehlo.iota dim = 0 : tensor<2xf32>\n"
                   "%sreturn %%r : tensor<8xf32>\n}\n}\n",
                   kBodies[i].body);
    sw_program_options o = {.mesh = &mesh};
    assert_ok(sw_program_parse("t.mlir", sw_text_str(&t), t.n, &o, &p, &diag));
    const sw_graph *g = sw_program_graph(p);
    bool opaque = false;
    for (int32_t k = 0; k < g->n_ops; k++) opaque = opaque || g->ops[k].code == SW_OP_OPAQUE;
    assert_int_equal(opaque, !kBodies[i].fits);
    if (kBodies[i].fits) {
      sw_tensor out;
      row r = {.name = "parts", .want = kBodies[i].want};
      assert_ok(sw_exec_run(g, NULL, NULL, &out, &diag));
      expect_numbers(&r, &out, "in tiles");
      sw_tensor_deinit(&out);
    }
    sw_text_free(&t);
    sw_arena_deinit(&arena);
    sw_program_destroy(p);
  }
}

int main(void) {
  enum { N = sizeof kRows / sizeof *kRows };
  static row in_tiles[N];
  struct CMUnitTest tests[4 * N + 4];
  for (int i = 0; i < N; i++) {
    in_tiles[i] = kRows[i];
    in_tiles[i].in_tiles = true;
    for (int form = 0; form < 2; form++) {
      const row *r = form ? &in_tiles[i] : &kRows[i];
      tests[4 * i + 2 * form] = (struct CMUnitTest){r->name, one_row, NULL, NULL, (void *)(uintptr_t)r};
      tests[4 * i + 2 * form + 1] = (struct CMUnitTest){r->name, one_row_any_plan, NULL, NULL, (void *)(uintptr_t)r};
    }
  }
  tests[4 * N] = (struct CMUnitTest){"random_manual_computations", random_manual_computations, NULL, NULL, NULL};
  tests[4 * N + 1] = (struct CMUnitTest){"groups_that_are_no_axes", groups_that_are_no_axes, NULL, NULL, NULL};
  tests[4 * N + 2] = (struct CMUnitTest){"ops_inside_know_their_file", ops_inside_know_their_file, NULL, NULL, NULL};
  tests[4 * N + 3] = (struct CMUnitTest){"parts_in_tiles", parts_in_tiles, NULL, NULL, NULL};
  return cmocka_run_group_tests_name("manual", tests, NULL, NULL);
}
