/* Each pass on the smallest programs that have what it looks for, where it does something and where it must not: the
 * collectives before and behind it, and that the program behind it computes what one device does, value by value.
 * SW_TEST_PRINT=1 prints what every row gives. */
#include "check.h"

#include "shardwright/emit.h"
#include "shardwright/program.h"
#include "shardwright/validate.h"
#include "support/meshes.h"
#include "support/job.h"

typedef struct row {
  const char *what, *pass;
  const char *args, *results; /* of main: types and shardings */
  const char *body;           /* its ops; 'T' stands for tensor<8x8xf32>, [..] of an op for its sharding */
  const char *before, *after; /* collectives, separated by "; " */
  int64_t combine_bytes;
  const char *profile; /* NULL: dgx-h100 */
  const char *in_text; /* those behind it of the program as text, which has no to_partial; NULL: the same */
} row;

/* clang-format off */
#define T "tensor<8x8xf32>"
#define H "tensor<8x8xbf16>"
#define CUT(s) " {sdy.sharding = #sdy.sharding<@m, " s ">}"
#define LIES(s) " {sdy.sharding = #sdy.sharding_per_value<[<@m, " s ">]>} "
/* a and b are contracted along x, or x and y: their product is partial. */
#define FACTORS(axes) "%a: " T CUT("[{}, {" axes "}]") ", %b: " T CUT("[{" axes "}, {}]")
#define TWO_PRODUCTS "%a: " T CUT("[{}, {\"x\"}]") ", %b: " T CUT("[{\"x\"}, {}]") ", %c: " T CUT("[{}, {\"x\"}]") ", %d: " T CUT("[{\"x\"}, {}]")
#define PRODUCT(r, a, b, axes) r " = stablehlo.dot " a ", " b LIES("[{}, {}], unreduced={" axes "}") ": (" T ", " T ") -> " T "\n"
#define REDUCE(r, x) r " = sdy.all_reduce {\"x\"} " x " out_sharding=<@m, [{}, {}]> : " T "\n"
#define SCATTER(r, x) r " = sdy.reduce_scatter [{\"x\"}, {}] " x " out_sharding=<@m, [{\"x\"}, {}]> : " T "\n"
#define GATHER(r, x, t) r " = sdy.all_gather [{\"x\"}, {}] " x " out_sharding=<@m, [{}, {}]> : " t "\n"
#define SLICE(r, x, rows, columns, t) r " = sdy.all_slice [{" rows "}, {" columns "}] " x " out_sharding=<@m, [{" rows "}, {" columns "}]> : " t "\n"
#define ADD(r, a, b, s) r " = stablehlo.add " a ", " b LIES(s) ": " T "\n"
#define WHOLE CUT("[{}, {}]")
#define ROWS CUT("[{\"x\"}, {}]")
#define COLUMNS CUT("[{}, {\"x\"}]")
#define TRIPS "%c0 = stablehlo.constant dense<0> : tensor<i32>\n%c1 = stablehlo.constant dense<1> : tensor<i32>\n%c3 = stablehlo.constant dense<3> : tensor<i32>\n"
#define LOOP(inside) TRIPS \
  "%l:2 = stablehlo.while(%i = %c0, %y = %h) : tensor<i32>, " T "\n" \
  "cond {\n%p = stablehlo.compare LT, %i, %c3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %p : tensor<i1>\n} do {\n" \
  inside "%n = stablehlo.add %i, %c1 : tensor<i32>\nstablehlo.return %n, %z : tensor<i32>, " T "\n}\n"

static const row kRows[] = {
    {"two reductions in a row", "fold", FACTORS("\"x\", \"y\""), T WHOLE,
     PRODUCT("%0", "%a", "%b", "\"x\", \"y\"")
     "%1 = sdy.all_reduce {\"y\"} %0 out_sharding=<@m, [{}, {}], unreduced={\"x\"}> : " T "\n" REDUCE("%2", "%1")
     "return %2 : " T,
     "all_reduce sum [y]; all_reduce sum [x]", "all_reduce sum [x,y]", 0},
    {"two gathers of one dimension", "fold", "%a: " T CUT("[{\"x\", \"y\"}, {}]"), T WHOLE,
     "%0 = sdy.all_gather [{\"y\"}, {}] %a out_sharding=<@m, [{\"x\"}, {}]> : " T "\n" GATHER("%1", "%0", T)
     "return %1 : " T,
     "all_gather dim=0 [y]; all_gather dim=0 [x]", "all_gather dim=0 [x,y]", 0},
    {"two gathers of two dimensions stay", "fold", "%a: " T CUT("[{\"x\"}, {\"y\"}]"), T WHOLE,
     "%0 = sdy.all_gather [{}, {\"y\"}] %a out_sharding=<@m, [{\"x\"}, {}]> : " T "\n" GATHER("%1", "%0", T)
     "return %1 : " T,
     "all_gather dim=1 [y]; all_gather dim=0 [x]", "all_gather dim=1 [y]; all_gather dim=0 [x]", 0},
    {"a sum that is read in between stays", "fold", "%a: " T CUT("[{\"x\", \"y\"}, {}]"), T CUT("[{\"x\"}, {}]") ", " T WHOLE,
     "%0 = sdy.all_gather [{\"y\"}, {}] %a out_sharding=<@m, [{\"x\"}, {}]> : " T "\n" GATHER("%1", "%0", T)
     "return %0, %1 : " T ", " T,
     "all_gather dim=0 [y]; all_gather dim=0 [x]", "all_gather dim=0 [y]; all_gather dim=0 [x]", 0},

    {"a sum of reduced values", "reassociate", TWO_PRODUCTS, T WHOLE,
     PRODUCT("%0", "%a", "%b", "\"x\"") PRODUCT("%1", "%c", "%d", "\"x\"") REDUCE("%2", "%0") REDUCE("%3", "%1")
     ADD("%4", "%2", "%3", "[{}, {}]") "return %4 : " T,
     "all_reduce sum [x]; all_reduce sum [x]", "all_reduce sum [x]", 0},
    {"one that somebody else reads stays", "reassociate", TWO_PRODUCTS, T WHOLE ", " T WHOLE,
     PRODUCT("%0", "%a", "%b", "\"x\"") PRODUCT("%1", "%c", "%d", "\"x\"") REDUCE("%2", "%0") REDUCE("%3", "%1")
     ADD("%4", "%2", "%3", "[{}, {}]") "return %4, %2 : " T ", " T,
     "all_reduce sum [x]; all_reduce sum [x]", "all_reduce sum [x]; all_reduce sum [x]", 0},
    {"a product of reduced values is none of their parts", "reassociate", TWO_PRODUCTS, T WHOLE,
     PRODUCT("%0", "%a", "%b", "\"x\"") PRODUCT("%1", "%c", "%d", "\"x\"") REDUCE("%2", "%0") REDUCE("%3", "%1")
     "%4 = stablehlo.multiply %2, %3" LIES("[{}, {}]") ": " T "\nreturn %4 : " T,
     "all_reduce sum [x]; all_reduce sum [x]", "all_reduce sum [x]; all_reduce sum [x]", 0},
    {"scaled before they are added", "reassociate", TWO_PRODUCTS, T WHOLE,
     PRODUCT("%0", "%a", "%b", "\"x\"") PRODUCT("%1", "%c", "%d", "\"x\"") REDUCE("%2", "%0") REDUCE("%3", "%1")
     "%s = stablehlo.negate %3" LIES("[{}, {}]") ": " T "\n" ADD("%4", "%2", "%s", "[{}, {}]") "return %4 : " T,
     "all_reduce sum [x]; all_reduce sum [x]", "all_reduce sum [x]", 0},
    {"a sum of scattered values", "reassociate", TWO_PRODUCTS, T ROWS,
     PRODUCT("%0", "%a", "%b", "\"x\"") PRODUCT("%1", "%c", "%d", "\"x\"") SCATTER("%2", "%0") SCATTER("%3", "%1")
     ADD("%4", "%2", "%3", "[{\"x\"}, {}]") "return %4 : " T,
     "reduce_scatter dim=0 sum [x]; reduce_scatter dim=0 sum [x]", "reduce_scatter dim=0 sum [x]", 0},

    {"fewer bytes behind the conversion", "gather-down", "%a: " T ROWS, H WHOLE,
     GATHER("%0", "%a", T) "%1 = stablehlo.convert %0" LIES("[{}, {}]") ": (" T ") -> " H "\nreturn %1 : " H,
     "all_gather dim=0 [x]", "all_gather dim=0 [x]", 0},
    {"two operands that are gathered", "gather-down", "%a: " T ROWS ", %b: " T ROWS, T WHOLE,
     GATHER("%0", "%a", T) GATHER("%1", "%b", T) ADD("%2", "%0", "%1", "[{}, {}]") "return %2 : " T,
     "all_gather dim=0 [x]; all_gather dim=0 [x]", "all_gather dim=0 [x]", 0},
    {"transposed along", "gather-down", "%a: " T ROWS, T WHOLE,
     GATHER("%0", "%a", T) "%1 = stablehlo.transpose %0, dims = [1, 0]" LIES("[{}, {}]") ": (" T ") -> " T "\nreturn %1 : " T,
     "all_gather dim=0 [x]", "all_gather dim=1 [x]", 0},
    {"what is gathered for two stays", "gather-down", "%a: " T ROWS ", %b: " T ROWS, T WHOLE ", " T WHOLE,
     GATHER("%0", "%a", T) GATHER("%1", "%b", T) ADD("%2", "%0", "%1", "[{}, {}]")
     "%3 = stablehlo.subtract %0, %1" LIES("[{}, {}]") ": " T "\nreturn %2, %3 : " T ", " T,
     "all_gather dim=0 [x]; all_gather dim=0 [x]", "all_gather dim=0 [x]; all_gather dim=0 [x]", 0},

    {"a widened value", "gather-up", "%a: " H ROWS, T WHOLE,
     "%0 = stablehlo.convert %a" LIES("[{\"x\"}, {}]") ": (" H ") -> " T "\n" GATHER("%1", "%0", T) "return %1 : " T,
     "all_gather dim=0 [x]", "all_gather dim=0 [x]", 0},
    {"a vector that is spread", "gather-up", "%a: tensor<8xf32>" CUT("[{\"x\"}]"), T WHOLE,
     "%0 = stablehlo.broadcast_in_dim %a, dims = [1]" LIES("[{}, {\"x\"}]") ": (tensor<8xf32>) -> " T "\n"
     "%1 = sdy.all_gather [{}, {\"x\"}] %0 out_sharding=<@m, [{}, {}]> : " T "\nreturn %1 : " T,
     "all_gather dim=1 [x]", "all_gather dim=0 [x]", 0},
    {"what is as large before stays", "gather-up", "%a: " T ROWS, T WHOLE,
     "%0 = stablehlo.tanh %a" LIES("[{\"x\"}, {}]") ": " T "\n" GATHER("%1", "%0", T) "return %1 : " T,
     "all_gather dim=0 [x]", "all_gather dim=0 [x]", 0},

    {"undone", "cancel", "%a: " T ROWS, T ROWS,
     GATHER("%0", "%a", T) SLICE("%1", "%0", "\"x\"", "", T) "return %1 : " T,
     "all_gather dim=0 [x]; all_slice dim=0 [x]", "", 0},
    {"cut along another dimension", "cancel", "%a: " T ROWS, T COLUMNS,
     GATHER("%0", "%a", T) SLICE("%1", "%0", "", "\"x\"", T) "return %1 : " T,
     "all_gather dim=0 [x]; all_slice dim=1 [x]", "all_to_all dim=1 concat=0 [x]", 0},
    {"cut along another axis stays", "cancel", "%a: " T ROWS, T CUT("[{}, {\"y\"}]"),
     GATHER("%0", "%a", T) SLICE("%1", "%0", "", "\"y\"", T) "return %1 : " T,
     "all_gather dim=0 [x]; all_slice dim=1 [y]", "all_gather dim=0 [x]; all_slice dim=1 [y]", 0},

    {"reduced and sliced", "scatter", FACTORS("\"x\""), T ROWS,
     PRODUCT("%0", "%a", "%b", "\"x\"") REDUCE("%1", "%0") SLICE("%2", "%1", "\"x\"", "", T) "return %2 : " T,
     "all_reduce sum [x]; all_slice dim=0 [x]", "reduce_scatter dim=0 sum [x]", 0},
    {"read whole, too", "scatter", FACTORS("\"x\""), T ROWS ", " T WHOLE,
     PRODUCT("%0", "%a", "%b", "\"x\"") REDUCE("%1", "%0") SLICE("%2", "%1", "\"x\"", "", T) "return %2, %1 : " T ", " T,
     "all_reduce sum [x]; all_slice dim=0 [x]", "all_reduce sum [x]; all_slice dim=0 [x]", 0},

    {"sliced behind an op", "slice-up,scatter", FACTORS("\"x\""), T ROWS,
     PRODUCT("%0", "%a", "%b", "\"x\"") REDUCE("%1", "%0")
     "%2 = stablehlo.tanh %1" LIES("[{}, {}]") ": " T "\n" SLICE("%3", "%2", "\"x\"", "", T) "return %3 : " T,
     "all_reduce sum [x]; all_slice dim=0 [x]", "reduce_scatter dim=0 sum [x]", 0},
    {"sliced behind an op that is read whole", "slice-up,scatter", FACTORS("\"x\""), T ROWS ", " T WHOLE,
     PRODUCT("%0", "%a", "%b", "\"x\"") REDUCE("%1", "%0")
     "%2 = stablehlo.tanh %1" LIES("[{}, {}]") ": " T "\n" SLICE("%3", "%2", "\"x\"", "", T) "return %3, %2 : " T ", " T,
     "all_reduce sum [x]; all_slice dim=0 [x]", "all_reduce sum [x]; all_slice dim=0 [x]", 0},

    {"made partial and reduced", "drop", "%a: " T WHOLE, T WHOLE,
     "%0 = sdy.sharding_constraint %a <@m, [{}, {}], unreduced={\"x\"}> : " T "\n" REDUCE("%1", "%0") "return %1 : " T,
     "to_partial sum [x]; all_reduce sum [x]", "", 0, .in_text = "all_reduce sum [x]"},
    {"parts that differ are reduced", "drop", FACTORS("\"x\""), T WHOLE,
     PRODUCT("%0", "%a", "%b", "\"x\"") REDUCE("%1", "%0") "return %1 : " T, "all_reduce sum [x]", "all_reduce sum [x]", 0},

    {"what a loop only reads", "hoist", "%w: " T ROWS ", %h: " T ROWS, T ROWS,
     LOOP("%k = stablehlo.convert %w" LIES("[{\"x\"}, {}]") ": (" T ") -> " H "\n" GATHER("%g", "%k", H)
          "%f = stablehlo.convert %g" LIES("[{}, {}]") ": (" H ") -> " T "\n"
          "%z = stablehlo.dot %y, %f" LIES("[{\"x\"}, {}]") ": (" T ", " T ") -> " T "\n") "return %l#1 : " T,
     "all_gather dim=0 [x]", "all_gather dim=0 [x]", 0},
    {"what changes stays", "hoist", "%w: " T ROWS ", %h: " T ROWS, T ROWS,
     LOOP("%k = stablehlo.tanh %y" LIES("[{\"x\"}, {}]") ": " T "\n" GATHER("%g", "%k", T)
          "%z = stablehlo.dot %w, %g" LIES("[{\"x\"}, {}]") ": (" T ", " T ") -> " T "\n") "return %l#1 : " T,
     "all_gather dim=0 [x]", "all_gather dim=0 [x]", 0},

    {"two calls over the same groups", "combine", TWO_PRODUCTS, T WHOLE ", " T WHOLE,
     PRODUCT("%0", "%a", "%b", "\"x\"") PRODUCT("%1", "%c", "%d", "\"x\"") REDUCE("%2", "%0") REDUCE("%3", "%1")
     "return %2, %3 : " T ", " T,
     "all_reduce sum [x]; all_reduce sum [x]", "all_reduce sum [x]", 0, "local"},
    {"copies that cost more than a call", "combine", TWO_PRODUCTS, T WHOLE ", " T WHOLE,
     PRODUCT("%0", "%a", "%b", "\"x\"") PRODUCT("%1", "%c", "%d", "\"x\"") REDUCE("%2", "%0") REDUCE("%3", "%1")
     "return %2, %3 : " T ", " T,
     "all_reduce sum [x]; all_reduce sum [x]", "all_reduce sum [x]; all_reduce sum [x]", 0},
    {"too large for one", "combine", TWO_PRODUCTS, T WHOLE ", " T WHOLE,
     PRODUCT("%0", "%a", "%b", "\"x\"") PRODUCT("%1", "%c", "%d", "\"x\"") REDUCE("%2", "%0") REDUCE("%3", "%1")
     "return %2, %3 : " T ", " T,
     "all_reduce sum [x]; all_reduce sum [x]", "all_reduce sum [x]; all_reduce sum [x]", 300, "local"},
    {"gathers of rows and of columns", "combine", "%a: " T ROWS ", %b: " T COLUMNS, T WHOLE ", " T WHOLE,
     GATHER("%0", "%a", T) "%1 = sdy.all_gather [{}, {\"x\"}] %b out_sharding=<@m, [{}, {}]> : " T "\nreturn %0, %1 : " T ", " T,
     "all_gather dim=0 [x]; all_gather dim=1 [x]", "all_gather dim=0 [x]", 0, "local"},
    {"over other groups", "combine", "%a: " T ROWS ", %b: " T CUT("[{}, {\"y\"}]"), T WHOLE ", " T WHOLE,
     GATHER("%0", "%a", T) "%1 = sdy.all_gather [{}, {\"y\"}] %b out_sharding=<@m, [{}, {}]> : " T "\nreturn %0, %1 : " T ", " T,
     "all_gather dim=0 [x]; all_gather dim=1 [y]", "all_gather dim=0 [x]; all_gather dim=1 [y]",  0, "local"},
    {"scattered ones", "combine", TWO_PRODUCTS, T ROWS ", " T COLUMNS,
     PRODUCT("%0", "%a", "%b", "\"x\"") PRODUCT("%1", "%c", "%d", "\"x\"") SCATTER("%2", "%0")
     "%3 = sdy.reduce_scatter [{}, {\"x\"}] %1 out_sharding=<@m, [{}, {\"x\"}]> : " T "\nreturn %2, %3 : " T ", " T,
     "reduce_scatter dim=0 sum [x]; reduce_scatter dim=1 sum [x]", "reduce_scatter dim=0 sum [x]", 0, "local"},

    {"one value gathered twice", "share", "%a: " T ROWS, T WHOLE ", " T WHOLE,
     "%k = sdy.sharding_constraint %a <@m, [{\"x\"}, {}]> : " T "\n" GATHER("%0", "%a", T) GATHER("%1", "%k", T)
     "%2 = stablehlo.tanh %0" LIES("[{}, {}]") ": " T "\n%3 = stablehlo.sine %1" LIES("[{}, {}]") ": " T "\nreturn %2, %3 : " T ", " T,
     "all_gather dim=0 [x]; all_gather dim=0 [x]", "all_gather dim=0 [x]", 0},
    {"two values", "share", "%a: " T ROWS ", %b: " T ROWS, T WHOLE,
     GATHER("%0", "%a", T) GATHER("%1", "%b", T) ADD("%2", "%0", "%1", "[{}, {}]") "return %2 : " T,
     "all_gather dim=0 [x]; all_gather dim=0 [x]", "all_gather dim=0 [x]; all_gather dim=0 [x]", 0},
};
/* clang-format on */

typedef struct bench {
  sw_arena arena;
  sw_program *program;
  sw_plan plan;
  sw_passes passes;
} bench;

/* The plan that the text leaves no choice about. */
static void prepare(bench *b, const row *r) {
  sw_text t = {0};
  const bool has_results = strchr(r->results, ',') != NULL || strchr(r->results, '{') != NULL;
  *b = (bench){0};
  sw_text_printf(&t, "sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\nfunc.func @main(%s) -> %s%s%s {\n%s\n}\n", r->args,
                 has_results ? "(" : "", r->results, has_results ? ")" : "", r->body);
  sw_rc rc = sw_program_parse(r->what, t.at, t.n, NULL, &b->program, &diag);
  if (rc) print_message("%s\n", sw_text_str(&t));
  assert_ok(rc ? rc : SW_OK);
  sw_text_free(&t);
  const sw_machine *machine = machine_of(r->profile ? r->profile : "dgx-h100", "x=2,y=2", &b->arena);
  sw_plan_options o = {.solve = {.time_limit_s = 30, .threads = 1}};
  o.selection.capacity_bytes = INT64_MAX / 2;
  assert_ok(sw_plan_search(JOB(sw_program_graph(b->program), machine), &o, &b->arena, &b->plan, &diag));
  assert_ok(sw_passes_parse(r->pass, &b->passes, &diag));
  b->passes.combine_bytes = r->combine_bytes;
}

/* Collectives as "a; b". */
static void list(const sw_spmd *s, sw_text *out) {
  sw_text lines = {0};
  sw_spmd_collectives(s, &lines);
  for (size_t i = 0; i + 1 < lines.n; i++) sw_text_printf(out, lines.at[i] == '\n' ? "; " : "%c", lines.at[i]);
  sw_text_free(&lines);
}

static bool executes(const bench *b, bool floats) {
  sw_arena arena = {0};
  sw_validation v;
  sw_plan plan = b->plan;
  sw_validate_options o = {.seed = 5, .random_floats = floats, .intermediates = true, .timeout_s = 30};
  plan.passes = &b->passes;
  sw_rc rc = sw_validate(&plan, &o, &arena, &v, &diag);
  if (rc) sw_diag_print(&diag, stderr, true);
  const bool good = rc == SW_OK && v.matches && v.elements > 0;
  sw_arena_deinit(&arena);
  return good;
}

static bool check_row(const row *r) {
  static sw_pass_report reports[SW_MOST_REPORTS];
  bench b;
  sw_spmd s;
  sw_text before = {0}, after = {0};
  int n, rewrites = 0;
  prepare(&b, r);
  assert_ok(sw_partition(&b.plan, &s, &diag));
  list(&s, &before);
  assert_ok(sw_spmd_run_passes(&s, b.plan.job.machine, &b.passes, reports, &n, &diag));
  assert_ok(sw_spmd_verify(&s, &diag));
  list(&s, &after);
  for (int i = 0; i < n; i++) rewrites += reports[i].rewrites;
  const bool stays = strstr(r->what, "stay") || strcmp(r->before, r->after) == 0;
  const bool moves = strstr("gather-up gather-down hoist", r->pass) && !strstr(r->what, "stay");
  const bool listed = strcmp(sw_text_str(&before), r->before) == 0 && strcmp(sw_text_str(&after), r->after) == 0;
  const bool told = (rewrites > 0) == (moves || !stays);
  const bool ran = executes(&b, false) && executes(&b, true);
  if (!listed || !told || !ran || getenv("SW_TEST_PRINT")) {
    print_message("%s: %s  %d rewrites%s%s\n  '%s'%s%s\n  '%s'%s%s\n", r->pass, r->what, rewrites,
                  told ? "" : "  NOT EXPECTED", ran ? "" : "  DOES NOT MATCH", sw_text_str(&before),
                  listed ? "" : "  expected ", listed ? "" : r->before, sw_text_str(&after),
                  listed ? "" : "  expected ", listed ? "" : r->after);
  }
  sw_text_free(&before);
  sw_text_free(&after);
  sw_spmd_deinit(&s);
  sw_program_destroy(b.program);
  sw_arena_deinit(&b.arena);
  return listed && told && ran;
}

static void each_does_its_own(void **state) {
  (void)state;
  int failed = 0;
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; i++) failed += !check_row(&kRows[i]);
  assert_int_equal(failed, 0);
}

/* The program of the plan as text, as one that came partitioned: the same passes find the same in it, and what is
 * behind them computes what one device does. */
static bool check_text(const row *r, sw_spmd_dialect dialect) {
  bench b;
  sw_spmd s;
  sw_text text = {0}, after = {0};
  sw_program *read;
  sw_local_program behind;
  sw_validation v;
  const sw_program_options by_device = {.by_device = true};
  const char *expected = r->in_text ? r->in_text : r->after;
  prepare(&b, r);
  assert_ok(sw_partition(&b.plan, &s, &diag));
  assert_ok(sw_emit_spmd(&s, dialect, &text, &diag));
  sw_spmd_deinit(&s);
  assert_ok(sw_program_parse(r->what, text.at, text.n, &by_device, &read, &diag));
  const sw_local_program *local = sw_program_local(read);
  assert_non_null(local);
  assert_ok(sw_spmd_of_local(local, &b.arena, &s, &diag));
  assert_ok(sw_spmd_run_passes(&s, b.plan.job.machine, &b.passes, NULL, NULL, &diag));
  assert_ok(sw_spmd_verify(&s, &diag));
  list(&s, &after);
  sw_local_of_spmd(local, &s, &behind);
  const sw_validate_options o = {.seed = 5, .timeout_s = 30};
  assert_ok(sw_local_validate(&behind, b.plan.job.graph, &o, &b.arena, &v, &diag));
  const bool listed = dialect != SW_SPMD_SHARD || strcmp(sw_text_str(&after), expected) == 0;
  if (!listed || !v.matches || getenv("SW_TEST_PRINT"))
    print_message("%s: %s as text  '%s'%s%s%s\n", r->pass, r->what, sw_text_str(&after), listed ? "" : "  expected ",
                  listed ? "" : expected, v.matches ? "" : "  DOES NOT MATCH");
  sw_text_free(&text);
  sw_text_free(&after);
  sw_spmd_deinit(&s);
  sw_program_destroy(read);
  sw_program_destroy(b.program);
  sw_arena_deinit(&b.arena);
  return listed && v.matches;
}

static void so_in_what_came_partitioned(void **state) {
  (void)state;
  int failed = 0;
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; i++)
    failed += !check_text(&kRows[i], SW_SPMD_SHARD) + !check_text(&kRows[i], SW_SPMD_STABLEHLO);
  assert_int_equal(failed, 0);
}

/* A list of names, in order; all of them; what is none. */
static void lists_are_read(void **state) {
  (void)state;
  sw_passes p;
  assert_ok(sw_passes_parse("combine,fold", &p, &diag));
  assert_int_equal(p.n, 2);
  assert_string_equal(sw_pass_name(p.at[0]), "combine");
  assert_string_equal(sw_pass_name(p.at[1]), "fold");
  assert_false(p.again);
  assert_ok(sw_passes_parse("all", &p, &diag));
  assert_int_equal(p.n, sw_pass_count());
  assert_true(p.again);
  assert_int_equal(sw_passes_parse("fold,,fold", &p, &diag), SW_E_USAGE);
  assert_int_equal(sw_passes_parse("", &p, &diag), SW_E_USAGE);
  assert_int_equal(sw_passes_parse("folds", &p, &diag), SW_E_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_does_its_own), cmocka_unit_test(so_in_what_came_partitioned),
                                     cmocka_unit_test(lists_are_read)};
  return cmocka_run_group_tests_name("passes", tests, NULL, NULL);
}
