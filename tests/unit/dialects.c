/* Annotations in MLIR's shard dialect, in the mesh dialect before it and as the RFC of both has them: what a text says
 * is what the graph has, and what it must not say is refused at its place. */
#include "check.h"

#include "random_sharding.h"
#include "shardwright/local.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "shardwright/propagate.h"
#include "support/job.h"

#define A "tensor<4x8xf32>"
#define GRID "shard.grid @g(shape = 2x4)\n"
#define CLUSTER "mesh.cluster @g(rank = 2, dim_sizes = [2, 4])\n"
#define SHARDING(lists) "%s = shard.sharding @g split_axes = " lists " : !shard.sharding\n"
#define ANNOTATE(lists, more) "%r = mesh.annotate %a {sharding = " lists more "} : " A " -> " A "\n"
#define SHARD "%r = shard.shard %a to %s : " A "\n"
#define FOR_USERS "%r = shard.shard %a to %s annotate_for_users : " A "\n"

typedef struct row {
  const char *name, *grid, *body; /* from %a and the scalar %h to %r */
  const char *mesh;               /* given; NULL: none is */
  const char *want;               /* all annotations; or "LINE:COL: " and words of the message */
} row;

static const row kRows[] = {
    {"a value", GRID, SHARDING("[[0], [1]]") SHARD, NULL, "a [[a0],[a1]]; "},
    {"of a type that is none", GRID, "%s = shard.sharding @g split_axes = [[0]] : index\n" SHARD, NULL,
     "3:45: the type of a sharding is 'index'; expected !shard.sharding"},
    {"not cut at all", GRID, SHARDING("[[]]") SHARD, NULL, "a [[],[]]; "},
    {"uses", GRID, SHARDING("[[], [1]]") FOR_USERS, NULL, "r [[],[a1]]; r [[],[a1]] for users; "},
    {"in generic form", "\"shard.grid\"() <{sym_name = \"g\", shape = array<i64: 2, 4>}> : () -> ()\n",
     "%s = \"shard.sharding\"() <{grid = @g, split_axes = #shard.axisarray<[[1, 0], []]>, static_halo_sizes = "
     "array<i64>, "
     "static_sharded_dims_offsets = array<i64>}> : () -> !shard.sharding\n"
     "%r = \"shard.shard\"(%a, %s) <{annotate_for_users}> : (" A ", !shard.sharding) -> " A "\n",
     NULL, "r [[a1,a0],[]]; r [[a1,a0],[]] for users; "},
    {"halos", GRID, SHARDING("[[0], [1]] halo_sizes = [1, 0, 2, 1]") SHARD, NULL, "a [[a0],[a1]] halos=[1, 0, 2, 1]; "},
    {"offsets", GRID, SHARDING("[[], [1]] sharded_dims_offsets = [0, 2, 2, 7, 8]") SHARD, NULL,
     "a [[],[a1]] offsets=[0, 2, 2, 7, 8]; "},
    {"numbers of the program that are constants", GRID,
     "%c = arith.constant 2 : i64\n%d = arith.addi %c, %c : i64\n" SHARDING(
         "[[0], []] sharded_dims_offsets = [0, %c, %d]") SHARD,
     NULL, "a [[a0],[]] offsets=[0, 2, 4]; "},
    {"the same in generic form", GRID,
     "%c = arith.constant 2 : i64\n"
     "%s = \"shard.sharding\"(%c) <{grid = @g, split_axes = #shard.axisarray<[[0]]>, static_halo_sizes = array<i64: 1, "
     "-9223372036854775808>, static_sharded_dims_offsets = array<i64>, operandSegmentSizes = array<i32: 0, 1>}> : "
     "(i64) "
     "-> !shard.sharding\n" SHARD,
     NULL, "a [[a0],[]] halos=[1, 2]; "},
    {"numbers that are not known", GRID, SHARDING("[[0], []] halo_sizes = [%h, 1]") SHARD, NULL,
     "3:37: halo 0 of the sharding is not known before the program runs"},
    {"a number that nobody gives", GRID, SHARDING("[[0], []] sharded_dims_offsets = [0, ?, 4]") SHARD, NULL,
     "3:37: offset 1 of the sharding is not known"},
    {"the sharding of another value", GRID,
     SHARDING("[[0]]") "%b = shard.shard %a to %s : " A "\n%c = stablehlo.abs %b : " A
                       "\n%t = shard.get_sharding %b : " A " -> !shard.sharding\n%r = shard.shard %c to %t : " A "\n",
     NULL, "a [[a0],[]]; c [[a0],[]]; "},
    {"whatever another value gets", GRID,
     "%c = stablehlo.abs %a : " A "\n%t = shard.get_sharding %a : " A " -> !shard.sharding\n%r = shard.shard %c to %t "
     ": " A "\n",
     NULL, "a like c; "},

    /* Grids and meshes. */
    {"sizes that are given", "shard.grid @g(shape = 2x?)\n", SHARDING("[[0], [1]]") SHARD, "2x4", "a [[a0],[a1]]; "},
    {"sizes and names that are given", "shard.grid @g(shape = ?x?)\n", SHARDING("[[0], [1]]") SHARD, "x=4,y=2",
     "a [[x],[y]]; "},
    {"other sizes than its own", GRID, SHARDING("[[0], [1]]") SHARD, "x=8,y=1", "a [[x],[y]]; "},
    {"sizes of named axes", "shard.grid @g(shape = 2x?) {shardwright.axes = [\"u\", \"v\"]}\n",
     SHARDING("[[0], [1]]") SHARD, "2x4", "a [[u],[v]]; "},
    {"named axes in another order", "shard.grid @g(shape = 2x4) {shardwright.axes = [\"u\", \"v\"]}\n",
     SHARDING("[[0], [1]]") SHARD, "v=4,u=2", "a [[u],[v]]; "},
    {"parts of axes", "shard.grid @g(shape = 2x4) {shardwright.axes = [\"x:(1)2\", \"x:(2)4\"]}\n",
     SHARDING("[[1], [0]]") SHARD, NULL, "a [[x:(2)4],[x:(1)2]]; "},
    {"sizes that nobody knows", "shard.grid @g(shape = 2x?)\n", SHARDING("[[0], [1]]") SHARD, NULL,
     "1:1: the size of axis 1 ('a1') of grid '@g' is unknown"},
    {"fewer axes than are used", GRID, SHARDING("[[0], [1]]") SHARD, "x=8", "3:37: axis 1 of grid '@g' is none of the"},
    {"a size of none", "shard.grid @g(shape = 2x0)\n", SHARDING("[[0], [1]]") SHARD, NULL,
     "1:25: axis 1 of the grid '2x0' has size 0"},
    {"a size of none first, which is not a number with base 16", "shard.grid @g(shape = 0x5)\n",
     SHARDING("[[0], [1]]") SHARD, NULL, "1:23: axis 0 of the grid '0x5' has size 0"},
    {"another grid", "shard.grid @h(shape = 2x4)\n", SHARDING("[[0]]") SHARD, NULL,
     "2:94: there is no shard.grid '@g'"},
    {"a grid twice", GRID "shard.grid @g(shape = 4x2)\n", SHARDING("[[0]]") SHARD, NULL,
     "2:1: grid '@g' is declared twice"},
    {"two grids", GRID "shard.grid @h(shape = 2x4)\n",
     SHARDING("[[0]]") "%t = shard.sharding @h split_axes = [[1]] : !shard.sharding\n" SHARD, NULL,
     "5:1: the program works on several grids"},
    {"a cluster of known sizes", CLUSTER, SHARDING("[[0], [1]]") SHARD, NULL, "a [[a0],[a1]]; "},
    {"a cluster whose last size is left out", "mesh.cluster @g(rank = 2, dim_sizes = [2])\n",
     SHARDING("[[0], [1]]") SHARD, "2x4", "a [[a0],[a1]]; "},
    {"a cluster of a size of none", "mesh.cluster @g(rank = 2, dim_sizes = [-1, 4])\n", SHARDING("[[0], [1]]") SHARD,
     NULL, "1:1: the size of axis 0 ('a0') of grid '@g' is unknown"},
    {"a cluster of its rank alone", "mesh.cluster @g(rank = 3)\n", SHARDING("[[0], [2]]") SHARD, "2x2x2",
     "a [[a0],[a2]]; "},
    {"a cluster in generic form",
     "\"mesh.cluster\"() {sym_name = \"g\", rank = 2 : i64, dim_sizes = [2, 4]} : () -> ()\n",
     SHARDING("[[0], [1]]") SHARD, NULL, "a [[a0],[a1]]; "},
    {"a cluster of more sizes than axes", "mesh.cluster @g(rank = 1, dim_sizes = [2, 4])\n", SHARDING("[[0]]") SHARD,
     NULL, "1:1: the cluster has 2 sizes"},

    /* The mesh dialect. */
    {"a value, as the mesh dialect says it", "mesh.mesh @g(shape = 2x4)\n",
     "%s = mesh.sharding @g split_axes = [[0], [1]] : !mesh.sharding\n%r = mesh.shard %a to %s : " A "\n", NULL,
     "a [[a0],[a1]]; "},
    {"a value that is partial", "mesh.mesh @g(shape = 2x4)\n",
     "%s = mesh.sharding @g split_axes = [[0], []] partial = sum[1] : !mesh.sharding\n%r = mesh.shard %a to %s : " A
     "\n",
     NULL, "a [[a0],[]] partial sum[a1]; "},
    {"partial, with a blank", "mesh.mesh @g(shape = 2x4)\n",
     "%s = mesh.sharding @g split_axes = [[]] partial = max [1, 0] : !mesh.sharding\n%r = mesh.shard %a to %s : " A
     "\n",
     NULL, "a [[],[]] partial max[a0,a1]; "},
    {"partial, in generic form", "mesh.mesh @g(shape = 2x4)\n",
     "%s = \"mesh.sharding\"() <{mesh = @g, split_axes = #mesh.axisarray<[[0]]>, partial_axes = array<i16: 1>, "
     "partial_type = #mesh.partial<min>}> : () -> !mesh.sharding\n%r = \"mesh.shard\"(%a, %s) : (" A
     ", !mesh.sharding) -> " A "\n",
     NULL, "a [[a0],[]] partial min[a1]; "},
    {"in line", "mesh.mesh @g(shape = 2x4)\n",
     "%r = mesh.shard %a to <@g, [[0], []], partial = sum[1]> annotate_for_users : " A "\n", NULL,
     "r [[a0],[]] partial sum[a1]; r [[a0],[]] partial sum[a1] for users; "},
    {"in line, on no grid", "mesh.mesh @g(shape = 2x4)\n", "%r = mesh.shard %a to <@h, [[0]]> : " A "\n", NULL,
     "3:25: there is no shard.grid '@h'"},

    /* The RFC. */
    {"a hint for a result", CLUSTER, ANNOTATE("[[0], [1]]", ""), NULL, "a [[a0],[a1]] hint; "},
    {"what is required of a result", CLUSTER, ANNOTATE("[[0]]", ", required = true, as_result = true"), NULL,
     "a [[a0],[]]; "},
    {"sums to be done", CLUSTER, ANNOTATE("[[0], [], [1]]", ", required = true"), NULL,
     "a [[a0],[]] partial sum[a1]; "},
    {"no lists", CLUSTER, ANNOTATE("[]", ", required = false"), NULL, "a [[],[]] hint; "},
    {"of uses", CLUSTER, ANNOTATE("[[], [1, 0]]", ", required = true, as_result = false"), NULL,
     "r [[],[a1,a0]]; r [[],[a1,a0]] for users; "},
    {"more lists than dims and one", CLUSTER, ANNOTATE("[[0], [], [], [1]]", ""), NULL, "3:49: more than 3 lists"},
    {"loops of an op", CLUSTER, "%r = mhlo.add %a, %a {sharding = [[1], [0]]} : " A "\n", NULL,
     "loops of r 0:a1 1:a0; "},
    {"more loops than an op has", CLUSTER, "%r = mhlo.add %a, %a {sharding = [[1], [], [0]]} : " A "\n", NULL,
     "3:34: the op has 2 loops"},
    {"types", CLUSTER, "%r = mhlo.abs %a : tensor<4x8xf32, #mesh.shard<[[0], [1]]>>\n", NULL, "r [[a0],[a1]]; "},
    {"types that name their grid", CLUSTER,
     "%r = mhlo.abs %a : tensor<4x8xf32, #mesh.shard<@g, [[0]], partial = max[1]>>\n", NULL,
     "r [[a0],[]] partial max[a1]; "},
    {"a type with an axis that is not", CLUSTER, "%r = mhlo.abs %a : tensor<4x8xf32, #mesh.shard<[[2]]>>\n", NULL,
     "3:49: there is no axis 2"},
    {"gathered", CLUSTER,
     "%b = mhlo.abs %a : tensor<4x8xf32, #mesh.shard<[[0], [1]]>>\n"
     "%r = mesh.all_gather %b {mesh_axis = [[0], [1]]} : tensor<4x8xf32, #mesh.shard<[[0], [1]]>> -> tensor<4x8xf32>\n",
     NULL, "b [[a0],[a1]]; r [[],[]]; "},
    {"reduced along one of two axes", CLUSTER,
     "%b = mhlo.abs %a : tensor<4x8xf32, #mesh.shard<[[], [], [0, 1]]>>\n"
     "%r = mesh.all_reduce %b {reduction = \"sum\", mesh_axis = [0]} : tensor<4x8xf32, #mesh.shard<[[], [], [0, 1]]>> "
     "-> "
     "tensor<4x8xf32, #mesh.shard<[[], [], [1]]>>\n",
     NULL, "b [[],[]] partial sum[a0,a1]; r [[],[]] partial sum[a1]; "},
    {"reduced in parts", CLUSTER,
     "%b = mhlo.abs %a : tensor<4x8xf32, #mesh.shard<[[1], [], [0]]>>\n"
     "%r = mesh.reduce_scatter %b {mesh_axis = [0], reduction = \"sum\", tensor_axis = 1 : i64} : tensor<4x8xf32, "
     "#mesh.shard<[[1], [], [0]]>> -> tensor<4x8xf32, #mesh.shard<[[1], [0]]>>\n",
     NULL, "b [[a1],[]] partial sum[a0]; r [[a1],[a0]]; "},
    {"split", CLUSTER,
     "%b = mhlo.abs %a : tensor<4x8xf32, #mesh.shard<[[], [1]]>>\n"
     "%r = mesh.local_split %b {sharding = [[0], []]} : tensor<4x8xf32, #mesh.shard<[[], [1]]>> -> tensor<4x8xf32, "
     "#mesh.shard<[[0], [1]]>>\n",
     NULL, "b [[],[a1]]; r [[a0],[a1]]; "},
    {"split along an axis that is taken", CLUSTER,
     "%r = mesh.local_split %a {sharding = [[1], []]} : tensor<4x8xf32, #mesh.shard<[[], [1]]>> -> tensor<4x8xf32>\n",
     NULL, "3:38: cut along one of these axes already"},
    {"gathered along an axis that does not cut", CLUSTER,
     "%r = mesh.all_gather %a {mesh_axis = [[0]]} : tensor<4x8xf32, #mesh.shard<[[], [1]]>> -> tensor<4x8xf32>\n", NULL,
     "3:38: not cut along all of these axes"},
    {"a result of another type than the op gives", CLUSTER,
     "%r = mesh.all_gather %a {mesh_axis = [[0]]} : tensor<4x8xf32, #mesh.shard<[[0], [1]]>> -> tensor<4x8xf32>\n",
     NULL, "3:1: not cut as the op leaves"},

    /* What is wrong with a sharding. */
    {"an axis twice", GRID, SHARDING("[[0], [0]]") SHARD, NULL, "3:43: uses axis 0 twice"},
    {"an axis that is not", GRID, SHARDING("[[0], [2]]") SHARD, NULL, "3:43: there is no axis 2 in the grid '@g'"},
    {"a rank too many", GRID, SHARDING("[[0], [], []]") SHARD, NULL, "3:37: has 3 lists of axes; expected at most 2"},
    {"no lists at all", GRID, SHARDING("[]") SHARD, NULL, "3:37: has no list of axes"},
    {"no lists of lists", GRID, SHARDING("[0, 1]") SHARD, NULL, "3:38: expected a list of axes for each dim"},
    {"a halo too few", GRID, SHARDING("[[0]] halo_sizes = [1]") SHARD, NULL, "3:37: has 1 numbers; expected 2"},
    {"offsets of another size", GRID, SHARDING("[[0]] sharded_dims_offsets = [0, 1, 5]") SHARD, NULL,
     "3:37: go from 0 to 5; expected 0 to 4"},
    {"halos and offsets", GRID, SHARDING("[[0]] halo_sizes = [1, 0] sharded_dims_offsets = [0, 1, 4]") SHARD, NULL,
     "3:56: both offsets and halos"},

    {"an axis that is a word", GRID, SHARDING("[[x], [1]]") SHARD, NULL,
     "3:39: found 'x'; expected the number of an axis"},
    {"an axis twice", GRID, SHARDING("[[0], [0]]") SHARD, NULL, "3:43: the sharding uses axis 0 twice"},
    {"sizes that end in x", "shard.grid @g(shape = 2x)\n", SHARDING("[[0]]") SHARD, NULL,
     "1:24: the sizes of a grid end in 'x'"},
    {"a function that nobody calls",
     GRID "func.func private @f(%b: " A ") -> " A " {\n%s = shard.sharding @g split_axes = [[1], [1]] : "
          "!shard.sharding\nreturn %b : " A "\n}\n",
     "%r = stablehlo.abs %a : " A "\n", NULL, "3:43: the sharding uses axis 1 twice"},
    /* Steps, and what stays undefined. */
    {"a step", GRID,
     SHARDING("[[0]]") "%t = shard.sharding @g split_axes = [[1]] : !shard.sharding\n"
                       "%b = shard.shard %a to %s : " A "\n%r = shard.shard %b to %t : " A "\n",
     NULL, "a [[a0],[]]; r [[a1],[]]; "},
    {"a value twice", GRID,
     SHARDING("[[0]]") "%t = shard.sharding @g split_axes = [[1]] : !shard.sharding\n"
                       "%b = shard.shard %a to %s : " A "\n%r = shard.shard %a to %t : " A "\n",
     NULL, "6:1: a value is annotated twice <5:1>"},
    {"a step behind a use", GRID,
     SHARDING("[[0]]") "%t = shard.sharding @g split_axes = [[1]] : !shard.sharding\n"
                       "%b = shard.shard %a to %s annotate_for_users : " A
                       "\n%r = shard.shard %b to %t annotate_for_users : " A "\n",
     NULL, "b [[a0],[]]; b [[a0],[]] for users; r [[a1],[]]; r [[a1],[]] for users; "},
    {"a result behind a use", GRID,
     SHARDING("[[0]]") "%b = shard.shard %a to %s annotate_for_users : " A "\n%r = shard.shard %b to %s : " A "\n",
     NULL, "b [[a0],[]]; b [[a0],[]] for users; r [[a0],[]]; "},
    {"a step behind a use, in the RFC's form", CLUSTER,
     "%b = mesh.annotate %a {sharding = [[0]], as_result = false} : " A " -> " A
     "\n%r = mesh.annotate %b {sharding = [[1]], as_result = false} : " A " -> " A "\n",
     NULL, "b [[a0],[]] hint; b [[a0],[]] for users hint; r [[a1],[]] hint; r [[a1],[]] for users hint; "},
    {"twice alike", GRID,
     SHARDING("[[0]]") "%b = shard.shard %a to %s : " A "\n%c = shard.shard %b to %s : " A
                       "\n%r = stablehlo.abs %c : " A "\n",
     NULL, "a [[a0],[]]; a [[a0],[]]; "},
};

static void describe(const sw_graph *g, sw_text *out) {
  for (int32_t i = 0; i < g->written->n_annotations; i++) {
    const sw_annotation *a = &g->written->annotations[i];
    sw_text_printf(out, "%s%s ", a->op >= 0 ? "loops of " : "",
                   a->op >= 0 ? g->ops[a->op].name : g->values[a->value].name);
    if (a->op < 0) sw_sharding_print(&g->written->mesh, &sw_annotation_said(a)->sharding, out);
    for (int32_t k = 0; k < a->n_loop_refs; k++) {
      sw_text_printf(out, "%s%d:", k ? " " : "", a->loop_of[k]);
      sw_axis_ref_print(&g->written->mesh, a->loop_refs[k], out);
    }
    sw_text_printf(out, "%s%s; ", a->for_users ? " for users" : "", a->required ? "" : " hint");
  }
  for (int32_t i = 0; i < g->written->n_sharding_groups; i++) {
    sw_text_printf(out, "%s like %s; ", g->values[g->written->sharding_groups[i].a].name,
                   g->values[g->written->sharding_groups[i].b].name);
  }
}

/* "LINE:COL: words", and "<LINE:COL>" where a note names it. */
static void expect_message(const char *name, const char *want, const sw_diag *d) {
  char place[40];
  const char *words = strchr(want, ' ') + 1, *note = strchr(words, '<');
  size_t n = note ? (size_t)(note - words) - 1 : strlen(words);
  char found[SW_DIAG_TEXT_BYTES];
  snprintf(place, sizeof place, "%d:%d: ", d->line, d->col);
  snprintf(found, sizeof found, "%.*s", (int)n, words);
  if (strncmp(place, want, strlen(place)) != 0 || !strstr(d->text, found)) {
    fail_msg("%s: %s%s; expected %s", name, place, d->text, want);
  }
  if (!note) return;
  snprintf(found, sizeof found, "t.mlir:%.*s", (int)strlen(note) - 2, note + 1);
  assert_int_equal(d->n_notes, 1);
  if (!strstr(d->notes[0], found)) fail_msg("%s: %s", name, d->notes[0]);
}

/* Frees the text. */
static void expect_read(const char *name, sw_text *t, const char *given, const char *want) {
  sw_text found = {0};
  diag = (sw_diag){0};
  sw_arena arena = {0};
  sw_mesh mesh;
  sw_program *p;
  if (given) assert_ok(sw_mesh_parse(given, &arena, &mesh, &diag));
  sw_rc rc = sw_program_parse("t.mlir", t->at, t->n, &(sw_program_options){.mesh = given ? &mesh : NULL}, &p, &diag);
  if (want[0] >= '0' && want[0] <= '9') {
    if (rc != SW_E_INPUT) fail_msg("%s: was read; expected %s", name, want);
    expect_message(name, want, &diag);
  } else {
    if (rc) fail_msg("%s: %d:%d: %s", name, diag.line, diag.col, diag.text);
    describe(sw_program_graph(p), &found);
    if (strcmp(sw_text_str(&found), want) != 0) fail_msg("%s: %s; expected %s", name, sw_text_str(&found), want);
    sw_program_destroy(p);
  }
  sw_text_free(&found);
  sw_text_free(t);
  sw_arena_deinit(&arena);
}

static void one_row(void **state) {
  const row *r = *state;
  sw_text t = {0};
  sw_text_printf(&t,
                 "%sfunc.func @main(%%a: " A ", %%h: i64) -> " A " attributes {mesh_cluster = @g} {\n%sreturn %%r : " A
                 "\n}\n",
                 r->grid, r->body);
  expect_read(r->name, &t, r->mesh, r->want);
}

/* --- Shardy's meshes ------------------------------------------------------------------------------------------- */

typedef struct shardy {
  const char *name, *meshes, *sharding, *mesh, *want;
} shardy;

static const shardy kShardy[] = {
    {"written out", "", "mesh<[\"x\"=2, \"y\"=4]>, [{\"x\"}, {\"y\"}]", NULL, "a [[x],[y]]; "},
    {"written out, and given in other sizes", "", "mesh<[\"x\"=2, \"y\"=4]>, [{\"x\"}, {}]", "4x2", "a [[x],[]]; "},
    {"behind a comment", "// mesh<[\"z\"=2]>\n", "mesh<[\"x\"=2]>, [{\"x\"}, {}]", NULL, "a [[x],[]]; "},
    {"an alias", "#m = #sdy.mesh<[\"x\"=4]>\nsdy.mesh @m = #m\n", "@m, [{}, {\"x\"}]", NULL, "a [[],[x]]; "},
    {"other sizes alone", "sdy.mesh @m = <[\"x\"=2, \"y\"=4]>\n", "@m, [{\"y\"}, {}]", "4x2", "a [[y],[]]; "},
    {"of a mesh that is not", "sdy.mesh @m = <[\"x\"=4]>\n", "@n, [{}, {\"x\"}]", NULL, "2:67: there is no mesh '@n'"},
    {"an unknown axis", "sdy.mesh @m = <[\"x\"=4]>\n", "@m, [{}, {\"y\"}]", NULL,
     "2:77: axis \"y\" is not in the mesh"},
    {"an axis twice", "sdy.mesh @m = <[\"x\"=4]>\n", "@m, [{\"x\"}, {\"x\"}]", NULL, "2:66: axis \"x\" is used twice"},
    {"a rank too few", "sdy.mesh @m = <[\"x\"=4]>\n", "@m, [{\"x\"}]", NULL, "2:53: has 1 dimensions; expected 2"},
};

static void one_mesh(void **state) {
  const shardy *s = *state;
  sw_text t = {0};
  sw_text_printf(&t,
                 "%sfunc.func @main(%%a: " A " {sdy.sharding = #sdy.sharding<%s>}) -> " A " {\nreturn %%a : " A "\n}\n",
                 s->meshes, s->sharding);
  expect_read(s->name, &t, s->mesh, s->want);
}

/* --- completed annotations ---------------------------------------------------------------------------------------- */

/* What the RFC lists behind propagation, by values and their uses (op, operand) in the original program. */
typedef struct completed {
  const char *op; /* NULL: a value is meant */
  int operand;
  const char *value, *sharding;
} completed;

static const completed kCompleted[] = {{NULL, 0, "arg0", "[[],[],[a0]]"}, {"1", 0, NULL, "[[],[],[]]"},
                                       {"1", 1, NULL, "[[],[a0]]"},       {NULL, 0, "1", "[[],[],[a0]]"},
                                       {"3", 0, NULL, "[[],[],[a0]]"},    {"3", 1, NULL, "[[],[],[a0]]"},
                                       {NULL, 0, "3", "[[],[],[a0]]"},    {"4", 0, NULL, "[[],[],[a0]]"},
                                       {"4", 1, NULL, "[[a0],[]]"},       {NULL, 0, "4", "[[],[],[]] partial sum[a0]"},
                                       {NULL, 0, "6", "[[],[],[a0]]"},    {NULL, 0, "arg1", "[[],[a0]]"},
                                       {NULL, 0, "arg2", "[[a0],[]]"}};

static void sharding_in(const sw_plan *p, const completed *c, sw_sharding *out) {
  const sw_graph *g = p->job.graph;
  for (sw_id i = 0; c->op && i < g->n_ops; i++) {
    if (strcmp(g->ops[i].name, c->op) == 0) sw_plan_use_sharding(p, (sw_value_use){i, c->operand}, out);
  }
  for (sw_id i = 0; !c->op && i < g->n_values; i++) {
    if (strcmp(g->values[i].name, c->value) == 0) sw_plan_value_sharding(p, i, out);
  }
}

static void completes_as_listed(void **state) {
  (void)state;
  static const char *const kFiles[] = {"original", "original8"};
  for (size_t f = 0; f < sizeof kFiles / sizeof *kFiles; f++) {
    char path[512];
    sw_arena arena = {0};
    sw_program *p;
    const sw_profile *hw;
    sw_machine *machine;
    sw_plan plan;
    snprintf(path, sizeof path, SW_SOURCE_DIR "/tests/data/rfc/mlp_%s.mlir", kFiles[f]);
    assert_ok(sw_program_read(path, NULL, &p, &diag));
    assert_ok(sw_profile_read("dgx-h100", &arena, &hw, &diag));
    assert_ok(sw_machine_build(&arena, hw, &sw_program_graph(p)->written->mesh, &machine, &diag));
    assert_ok(sw_propagate(JOB(sw_program_graph(p), machine), SW_TRAVERSE_BACKWARD_FORWARD, &arena, &plan, &diag));
    for (size_t i = 0; i < sizeof kCompleted / sizeof *kCompleted; i++) {
      sw_text text = {0};
      sw_sharding s;
      sharding_in(&plan, &kCompleted[i], &s);
      sw_sharding_print(sw_machine_mesh(machine), &s, &text);
      assert_string_equal(sw_text_str(&text), kCompleted[i].sharding);
      sw_text_free(&text);
    }
    sw_program_destroy(p);
    sw_arena_deinit(&arena);
  }
}

/* --- at random ---------------------------------------------------------------------------------------------------- */

/* A grid with an axis for each of the mesh, whole ones alone. */
static sw_mesh random_grid(rng *r, int64_t most) {
  sw_mesh m = {.n_axes = 0};
  while (!m.n_axes) m = random_mesh(r, 3, most);
  for (int a = 0; a < m.n_axes; a++) snprintf(m.axis[a].name, SW_AXIS_NAME_BYTES, "a%d", a);
  return m;
}

static sw_sharding random_cuts(rng *r, const sw_mesh *m, int rank, const int64_t *dims, bool partial, sw_arena *arena) {
  static const sw_reduction kKinds[] = {SW_REDUCE_SUM, SW_REDUCE_MAX, SW_REDUCE_MIN};
  sw_sharding s = sw_sharding_replicated(rank);
  sw_reduction kind = kKinds[rng_below(r, 3)];
  int order[SW_MAX_AXES];
  for (int a = 0; a < m->n_axes; a++) order[a] = a;
  for (int a = m->n_axes - 1; a > 0; a--) {
    int64_t to = rng_below(r, a + 1);
    int was = order[a];
    order[a] = order[to];
    order[to] = was;
  }
  for (int a = 0; a < m->n_axes; a++) {
    int64_t where = rng_below(r, 4);
    sw_axis_ref ref = sw_axis_whole(m, order[a]);
    if (where == 0 && partial) (void)sw_sharding_push_partial(&s, kind, ref);
    if (where > 1) (void)sw_sharding_push(&s, (int)rng_below(r, rank), ref);
  }
  if (rng_below(r, 3) > 0) random_lists(r, arena, dims, &s);
  return s;
}

static void put_shape(const sw_mesh *m, sw_text *t) {
  for (int a = 0; a < m->n_axes; a++) sw_text_printf(t, "%s%lld", a ? "x" : "", (long long)m->axis[a].size);
}

/* The text of a random sharding is read as that sharding, in either spelling, with some numbers as constants. */
static void reads_what_is_written(void **state) {
  (void)state;
  rng r = {check_seed(71)};
  for (int i = 0; i < check_scale(400); i++) {
    sw_arena arena = {0};
    diag = (sw_diag){0};
    sw_text t = {0}, cut = {0};
    sw_program *p;
    const int64_t dims[3] = {1 + rng_below(&r, 12), 1 + rng_below(&r, 12), 1 + rng_below(&r, 12)};
    sw_mesh m = random_grid(&r, 32);
    sw_sharding s = random_cuts(&r, &m, 3, dims, true, &arena);
    const char *dialect = rng_below(&r, 2) ? "shard" : "mesh";
    bool partial = s.n_partial > 0 && !s.offsets && !s.halos;
    if (s.n_partial && !partial) s.n_partial = 0;
    sw_sharding without = s;
    without.n_partial = 0;
    assert_ok(sw_sharding_print_as(&m, &without, SW_FORM_SHARD, &cut, &diag));
    sw_text_printf(&t, "%s @g(shape = ", strcmp(dialect, "mesh") == 0 ? "mesh.mesh" : "shard.grid");
    put_shape(&m, &t);
    sw_text_printf(&t, ")\nfunc.func @main(%%a: tensor<%lldx%lldx%lldxf32>) -> tensor<%lldx%lldx%lldxf32> {\n",
                   (long long)dims[0], (long long)dims[1], (long long)dims[2], (long long)dims[0], (long long)dims[1],
                   (long long)dims[2]);
    sw_text_printf(&t, "%%s = %s.sharding @g split_axes = %s", dialect, sw_text_str(&cut));
    for (int k = 0; k < s.n_partial; k++) {
      if (k == 0) sw_text_printf(&t, " partial = %s [", sw_reduction_mlir((sw_reduction)s.partial_kind));
      sw_text_printf(&t, "%s%d", k ? ", " : "", sw_sharding_partial(&s)[k].axis);
    }
    sw_text_printf(&t, "%s : !%s.sharding\n%%r = %s.shard %%a to %%s : tensor<%lldx%lldx%lldxf32>\n",
                   partial ? "]" : "", dialect, dialect, (long long)dims[0], (long long)dims[1], (long long)dims[2]);
    sw_text_printf(&t, "return %%r : tensor<%lldx%lldx%lldxf32>\n}\n", (long long)dims[0], (long long)dims[1],
                   (long long)dims[2]);
    sw_rc rc = sw_program_parse("t.mlir", t.at, t.n, NULL, &p, &diag);
    if (rc) fail_msg("%s: %s", sw_text_str(&t), diag.text);
    const sw_graph *g = sw_program_graph(p);
    assert_int_equal(g->written->n_annotations, 1);
    if (!sw_sharding_equal(&sw_annotation_said(&g->written->annotations[0])->sharding, &s))
      fail_msg("%s: read as another sharding", sw_text_str(&t));
    sw_program_destroy(p);
    sw_text_free(&t);
    sw_text_free(&cut);
    sw_arena_deinit(&arena);
  }
}

/* By the definition, one element after the other. */
static int64_t brute_extent(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, int dim, int64_t device) {
  sw_sharding alone = sw_sharding_replicated(1);
  int n, first = 0, lists = 0;
  int64_t extent = 0, offset = 0;
  const sw_axis_ref *refs = sw_sharding_dim(s, dim, &n);
  for (int d = 0; d < dim; d++) {
    (void)sw_sharding_dim(s, d, &first);
    if (first) lists++;
    if (first) offset += sw_sharding_shards(s, d) + 1;
  }
  for (int i = 0; i < n; i++) (void)sw_sharding_push(&alone, 0, refs[i]);
  if (n && s->offsets) alone.offsets = s->offsets + offset;
  for (int64_t i = 0; i < dims[dim]; i++) extent += brute_holds(m, &alone, &dims[dim], device, &i);
  return extent + (n && s->halos ? s->halos[2 * lists] + s->halos[2 * lists + 1] : 0);
}

/* What shard.shard_shape gives on each device is what the device holds, some numbers being those of the program. */
static void shapes_are_what_devices_hold(void **state) {
  (void)state;
  rng r = {check_seed(72)};
  for (int i = 0; i < check_scale(60); i++) {
    sw_arena arena = {0};
    diag = (sw_diag){0};
    sw_text t = {0}, cut = {0};
    sw_program *p;
    sw_local_stats stats;
    sw_tensor x, blocks[16];
    const int64_t dims[2] = {1 + rng_below(&r, 14), 1 + rng_below(&r, 14)};
    sw_mesh m = random_grid(&r, 16);
    sw_sharding s = random_cuts(&r, &m, 2, dims, false, &arena);
    assert_ok(sw_sharding_print_as(&m, &s, SW_FORM_SHARD, &cut, &diag));
    sw_text_puts(&t, "shard.grid @g(shape = ");
    put_shape(&m, &t);
    sw_text_puts(&t,
                 ")\nfunc.func @main(%x: tensor<i64>) -> tensor<2xindex> {\n%n = tensor.extract %x[] : tensor<i64>\n");
    for (int a = 0; a < m.n_axes; a++) sw_text_printf(&t, "%s%%i%d", a ? ", " : "", a);
    sw_text_puts(&t, " = shard.process_multi_index on @g : ");
    for (int a = 0; a < m.n_axes; a++) sw_text_printf(&t, "%sindex", a ? ", " : "");
    sw_text_puts(&t, "\n%s = shard.sharding @g split_axes = ");
    for (const char *c = sw_text_str(&cut); *c; c++) { /* the argument, which is 1, in place of some numbers */
      bool one = *c == '1' && (c[1] == ',' || c[1] == ']') && c[-1] == ' ' && strchr(c, '=') == NULL && c[-2] == ',';
      sw_text_printf(&t, one && (s.offsets || s.halos) && !strstr(c, "]]") ? "%%n" : "%c", *c);
    }
    sw_text_printf(&t, " : !shard.sharding\n%%p, %%q = shard.shard_shape dims = [%lld, %lld] sharding = %%s device = [",
                   (long long)dims[0], (long long)dims[1]);
    for (int a = 0; a < m.n_axes; a++) sw_text_printf(&t, "%s%%i%d", a ? ", " : "", a);
    sw_text_puts(&t,
                 "] : index, index\n%r = tensor.from_elements %p, %q : tensor<2xindex>\nreturn %r : "
                 "tensor<2xindex>\n}\n");
    sw_rc rc = sw_program_parse("t.mlir", t.at, t.n, &(sw_program_options){.by_device = true}, &p, &diag);
    if (rc) fail_msg("%s: %d:%d: %s", sw_text_str(&t), diag.line, diag.col, diag.text);
    assert_ok(sw_tensor_init(&x, SW_I64, 0, NULL, &diag));
    *(int64_t *)x.data = 1;
    assert_ok(sw_local_run(sw_program_local(p), &x, &(sw_parallel_options){.timeout_s = 30}, blocks, &stats, &diag));
    for (int64_t device = 0; device < sw_mesh_devices(&m); device++) {
      for (int d = 0; d < 2; d++) {
        int64_t want = brute_extent(&m, &s, dims, d, device), have = sw_buffer_int(&blocks[device], d);
        if (have != want) {
          fail_msg("%s: %lld in dim %d of device %lld; expected %lld", sw_text_str(&t), (long long)have, d,
                   (long long)device, (long long)want);
        }
      }
      sw_tensor_deinit(&blocks[device]);
    }
    sw_tensor_deinit(&x);
    sw_program_destroy(p);
    sw_text_free(&t);
    sw_text_free(&cut);
    sw_arena_deinit(&arena);
  }
}

int main(void) {
  enum { N = sizeof kRows / sizeof *kRows, M = sizeof kShardy / sizeof *kShardy };
  struct CMUnitTest tests[N + M + 3] = {[N + M] = cmocka_unit_test(completes_as_listed),
                                        [N + M + 1] = cmocka_unit_test(reads_what_is_written),
                                        [N + M + 2] = cmocka_unit_test(shapes_are_what_devices_hold)};
  for (int i = 0; i < N; i++) {
    tests[i] = (struct CMUnitTest){kRows[i].name, one_row, NULL, NULL, (void *)(uintptr_t)&kRows[i]};
  }
  for (int i = 0; i < M; i++) {
    tests[N + i] = (struct CMUnitTest){kShardy[i].name, one_mesh, NULL, NULL, (void *)(uintptr_t)&kShardy[i]};
  }
  return cmocka_run_group_tests_name("dialects", tests, NULL, NULL);
}
