/* Reductions that keep one number of many, over rows that are cut: each collective left out, shifted or done with
 * another reduction must be noticed, whatever the dtype, the number of rows and of devices. And programs of one device
 * that are wrong in other ways must differ, under every seed.
 *
 *   SW_TEST_SCALE=100 ./unit_extremes    all of them
 */
#include "check.h"
#include "support/meshes.h"

#include "exec/audit.h"
#include "shardwright/program.h"
#include "shardwright/propagate.h"
#include "support/job.h"

typedef struct subject {
  sw_arena arena;
  sw_graph *graph;
  sw_plan plan;
} subject;

static bool open_subject(subject *s, const char *text, const char *mesh) {
  *s = (subject){0};
  if (sw_model_parse("t.json", text, strlen(text), &s->graph, &diag)) return false; /* not of this dtype */
  const sw_machine *machine = machine_of("uniform", mesh, &s->arena);
  return sw_propagate(JOB(s->graph, machine), SW_TRAVERSE_BACKWARD_FORWARD, &s->arena, &s->plan, &diag) == SW_OK;
}

static void close_subject(subject *s) {
  sw_graph_destroy(s->graph);
  sw_arena_deinit(&s->arena);
}

static void print_unnoticed(const char *what, const sw_audit *a) {
  for (int32_t i = 0; i < a->n_entries; i++) {
    const sw_audit_entry *e = &a->entries[i];
    if (e->verdict == SW_AUDIT_NOTICED) continue;
    print_message("%s: %s of %s: %s, %s\n", what, sw_coll_fault_text(e->fault), e->name,
                  sw_audit_verdict_text(e->verdict), sw_no_effect_text(e->why));
  }
}

/* Faults of one program; *unseen: those that are neither noticed nor shown to have no effect. */
static int32_t audit_all(const char *what, const char *text, const char *mesh, uint64_t seed, bool random_floats,
                         int64_t *unseen) {
  sw_audit a = {0};
  subject s;
  if (open_subject(&s, text, mesh)) {
    const sw_validate_options o = {
        .seed = seed, .random_floats = random_floats, .timeout_s = 60, .intermediates = true};
    assert_ok(sw_audit_plan(&s.plan, &o, &s.arena, &a, &diag));
    assert_true(a.right.matches);
    print_unnoticed(what, &a);
    *unseen += a.n_entries - a.count[SW_AUDIT_NOTICED] - a.count[SW_AUDIT_NO_EFFECT];
    assert_true(a.n_entries > 0);
  }
  const int32_t n = a.n_entries;
  close_subject(&s);
  return n;
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

static const char *const kKinds[] = {"sum",        "product",     "min", "max", "bitwise_and",
                                     "bitwise_or", "bitwise_xor", "and", "or"};

/* Rows cut, partial results complete again behind. */
static void write_reduction(char *out, size_t n, sw_dtype t, const char *kind, int rows, int devices) {
  snprintf(out, n,
           "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"t\", \"mesh\": \"x=%d\", \"values\": [\n"
           "{\"name\": \"b\", \"kind\": \"input\", \"dtype\": \"%s\", \"shape\": [%d, 6], \"annotations\": "
           "[{\"sharding\": \"[[x],[]]\", \"required\": true}]},\n"
           "{\"name\": \"r\", \"annotations\": [{\"sharding\": \"[[]] partial %s[x]\", \"required\": true}, "
           "{\"sharding\": \"[[]]\", \"required\": true, \"for_users\": true}]}],\n"
           "\"ops\": [{\"op\": \"reduce\", \"inputs\": [\"b\"], \"outputs\": [\"r\"], \"attrs\": {\"kind\": \"%s\", "
           "\"dims\": [0]}}], \"outputs\": [\"r\"]}",
           devices, sw_dtype_text(t), rows, kind, kind);
}

static void write_pick(char *out, size_t n, sw_dtype t, const char *op, int rows, int devices) {
  const bool top = strcmp(op, "top_k") == 0;
  char shape[32];
  snprintf(shape, sizeof shape, top ? "6, %d" : "%d, 6", rows);
  snprintf(out, n,
           "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"t\", \"mesh\": \"x=%d\", \"values\": [\n"
           "{\"name\": \"b\", \"kind\": \"input\", \"dtype\": \"%s\", \"shape\": [%s], \"annotations\": "
           "[{\"sharding\": \"%s\", \"required\": true}]}],\n"
           "\"ops\": [{\"op\": \"%s\", \"inputs\": [\"b\"], \"outputs\": [%s], \"attrs\": {%s}}], \"outputs\": [%s]}",
           devices, sw_dtype_text(t), shape, top ? "[[],[x]]" : "[[x],[]]", op, top ? "\"v\", \"i\"" : "\"v\"",
           top ? "\"k\": 2" : "\"dim\": 0", top ? "\"v\", \"i\"" : "\"v\"");
}

enum { N_KINDS = sizeof kKinds / sizeof kKinds[0], N_PICKS = 3 };

static void every_reduction_shows_who_is_missing(void **state) {
  (void)state;
  static const char *const kPicks[N_PICKS] = {"top_k", "argmax", "argmin"};
  static const int kRows[] = {8, 64, 4096};
  const uint64_t seed = check_seed(1);
  sw_rng rng;
  sw_rng_seed(&rng, seed);
  const int64_t one_of = 1 + 60 / (int64_t)check_scale(1);
  int64_t faults = 0, unseen = 0;
  for (int t = 0; t < SW_DTYPE_COUNT; t++) {
    if (sw_dtype_class_of((sw_dtype)t) == SW_CLASS_COMPLEX || t == SW_TOKEN) continue; /* not executed */
    for (int k = 0; k < N_KINDS + N_PICKS; k++) {
      for (int i = 0; i < 3 * 7; i++) {
        if (sw_rng_below(&rng, (int64_t)one_of)) continue;
        char text[2048], mesh[16], what[128];
        const int rows = kRows[i % 3], devices = 2 + i / 3;
        const char *kind = k < N_KINDS ? kKinds[k] : kPicks[k - N_KINDS];
        snprintf(mesh, sizeof mesh, "x=%d", devices);
        snprintf(what, sizeof what, "%s of %s[%d, 6] over %d", kind, sw_dtype_text((sw_dtype)t), rows, devices);
        (k < N_KINDS ? write_reduction : write_pick)(text, sizeof text, (sw_dtype)t, kind, rows, devices);
        faults +=
            audit_all(what, text, mesh, 1 + (uint64_t)sw_rng_below(&rng, 1000), sw_rng_below(&rng, 4) == 0, &unseen);
      }
    }
  }
  print_message("%lld faults, %lld unseen\n", (long long)faults, (long long)unseen);
  assert_int_equal(unseen, 0);
  assert_true(faults > 0);
}

/* --- other ops between, or none that is cut by itself ------------------------------------------------------------- */

#define MODEL(mesh, values, ops, outputs)                                                                             \
  "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"t\", \"mesh\": \"" mesh "\", \"values\": [" values \
  "], \"ops\": [" ops "], \"outputs\": [" outputs "]}"
#define ARG(name, dtype, shape, cut)                                                          \
  "{\"name\": \"" name "\", \"kind\": \"input\", \"dtype\": \"" dtype "\", \"shape\": " shape \
  ", \"annotations\": [{\"sharding\": \"" cut "\", \"required\": true}]}"
#define CONSTANT(name, dtype, shape, value)                                                                            \
  "{\"name\": \"" name "\", \"kind\": \"constant\", \"dtype\": \"" dtype "\", \"shape\": " shape ", \"value\": " value \
  "}"
#define PARTIAL(name, partial)                                           \
  "{\"name\": \"" name "\", \"annotations\": [{\"sharding\": \"" partial \
  "\", \"required\": true}, {\"sharding\": \"[]\", \"required\": true, \"for_users\": true}]}"
#define IS(name, sharding) \
  "{\"name\": \"" name "\", \"annotations\": [{\"sharding\": \"" sharding "\", \"required\": true}]}"
#define OP(op, inputs, output, attrs) \
  "{\"op\": \"" op "\", \"inputs\": [" inputs "], \"outputs\": [" output "], \"attrs\": {" attrs "}}"
#define Q(name) "\"" name "\""

/* any(b > 0), and the same of what is compared otherwise: with a number, or with another argument. */
#define COMPARED(dtype, with, by, kind)                                                                      \
  MODEL("x=2", ARG("b", dtype, "[64, 6]", "[[x],[]]") "," with "," PARTIAL("r", "[[]] partial " kind "[x]"), \
        OP("compare", Q("b") "," Q("z"), Q("c"), "\"direction\": \"" by "\"") "," OP(                        \
            "reduce", Q("c"), Q("r"), "\"kind\": \"" kind "\", \"dims\": [0]"),                              \
        Q("r"))
#define ANY_COMPARED(dtype, value, by, kind) COMPARED(dtype, CONSTANT("z", dtype, "[64, 6]", value), by, kind)
#define ANY_OF_TWO(dtype, by, kind) COMPARED(dtype, ARG("z", dtype, "[64, 6]", "[[x],[]]"), by, kind)
/* max(where(m, b, 0)), to a scalar */
#define MASKED(yes, no, kind)                                                                                     \
  MODEL("x=2",                                                                                                    \
        ARG("b", "f32", "[64, 6]", "[[x],[]]") "," ARG("m", "bool", "[64, 6]", "[[x],[]]") "," CONSTANT(          \
            "z", "f32", "[64, 6]", "0") "," PARTIAL("r", "[] partial " kind "[x]"),                               \
        OP("select", Q("m") "," Q(yes) "," Q(no), Q("d"), "") "," OP("reduce", Q("d"), Q("r"),                    \
                                                                     "\"kind\": \"" kind "\", \"dims\": [0, 1]"), \
        Q("r"))

typedef struct program_case {
  const char *what, *mesh, *text;
} program_case;

static const program_case kPrograms[] = {
    {"any(b > 0)", "x=2", ANY_COMPARED("f32", "0", "gt", "or")},
    {"all(b <= 3)", "x=2", ANY_COMPARED("f32", "3", "le", "and")},
    {"any(b < 100)", "x=2", ANY_COMPARED("i32", "100", "lt", "or")},
    {"all(b != 0)", "x=2", ANY_COMPARED("i32", "0", "ne", "and")},
    {"any(b == 0)", "x=2", ANY_COMPARED("u8", "0", "eq", "or")},
    {"any(b > c)", "x=2",
     MODEL("x=2",
           ARG("b", "f32", "[64, 6]", "[[x],[]]") "," ARG("c", "f32", "[64, 6]", "[[x],[]]") "," PARTIAL(
               "r", "[[]] partial or[x]"),
           OP("compare", Q("b") "," Q("c"), Q("d"), "\"direction\": \"gt\"") "," OP("reduce", Q("d"), Q("r"),
                                                                                    "\"kind\": \"or\", \"dims\": [0]"),
           Q("r"))},
    {"all(b < c)", "x=4",
     MODEL("x=4",
           ARG("b", "i32", "[64, 6]", "[[x],[]]") "," ARG("c", "i32", "[64, 6]", "[[x],[]]") "," PARTIAL(
               "r", "[[]] partial and[x]"),
           OP("compare", Q("b") "," Q("c"), Q("d"), "\"direction\": \"lt\"") "," OP("reduce", Q("d"), Q("r"),
                                                                                    "\"kind\": \"and\", \"dims\": [0]"),
           Q("r"))},
    {"any and all of one mask, to scalars", "x=4",
     MODEL("x=4",
           ARG("m", "bool", "[1024]", "[[x]]") "," PARTIAL("any", "[] partial or[x]") "," PARTIAL("all",
                                                                                                  "[] partial and[x]"),
           OP("reduce", Q("m"), Q("any"), "\"kind\": \"or\", \"dims\": [0]") "," OP("reduce", Q("m"), Q("all"),
                                                                                    "\"kind\": \"and\", \"dims\": [0]"),
           Q("any") "," Q("all"))},
    {"max |x|, to a scalar", "x=4",
     MODEL("x=4", ARG("m", "f32", "[1024, 64]", "[[x],[]]") "," PARTIAL("r", "[] partial max[x]"),
           OP("abs", Q("m"), Q("a"), "") "," OP("reduce", Q("a"), Q("r"), "\"kind\": \"max\", \"dims\": [0, 1]"),
           Q("r"))},
    {"max of a product", "x=2",
     MODEL("x=2",
           ARG("b", "f32", "[4096, 6]", "[[x],[]]") "," ARG("w", "f32", "[6, 6]", "[[],[]]") "," PARTIAL(
               "r", "[[]] partial max[x]"),
           OP("dot_general", Q("b") "," Q("w"), Q("d"), "\"lhs_contract\": [1], \"rhs_contract\": [0]") "," OP(
               "reduce", Q("d"), Q("r"), "\"kind\": \"max\", \"dims\": [0]"),
           Q("r"))},
    {"min of a sum of integers", "x=3",
     MODEL("x=3",
           ARG("b", "i32", "[4096, 6]", "[[x],[]]") "," ARG("w", "i32", "[6]", "[[]]") "," PARTIAL(
               "r", "[[]] partial min[x]"),
           OP("broadcast_in_dim", Q("w"), Q("v"), "\"shape\": [4096, 6], \"dims\": [1]") "," OP(
               "multiply", Q("b") "," Q("v"), Q("d"), "") "," OP("reduce", Q("d"), Q("r"),
                                                                 "\"kind\": \"min\", \"dims\": [0]"),
           Q("r"))},
    {"any(b != c)", "x=2", ANY_OF_TWO("f32", "ne", "or")},
    {"all(b == c)", "x=4", ANY_OF_TWO("i32", "eq", "and")},
    {"any(b == c)", "x=2", ANY_OF_TWO("u8", "eq", "or")},
    {"any(isnan(b))", "x=2",
     MODEL("x=2", ARG("b", "f32", "[64, 6]", "[[x],[]]") "," PARTIAL("r", "[[]] partial or[x]"),
           OP("compare", Q("b") "," Q("b"), Q("d"), "\"direction\": \"ne\"") "," OP("reduce", Q("d"), Q("r"),
                                                                                    "\"kind\": \"or\", \"dims\": [0]"),
           Q("r"))},
    {"all(isfinite(b))", "x=2",
     MODEL("x=2", ARG("b", "bf16", "[64, 6]", "[[x],[]]") "," PARTIAL("r", "[[]] partial and[x]"),
           OP("is_finite", Q("b"), Q("d"), "") "," OP("reduce", Q("d"), Q("r"), "\"kind\": \"and\", \"dims\": [0]"),
           Q("r"))},
    {"max of what a mask takes", "x=2", MASKED("b", "z", "max")},
    {"min of what a mask leaves", "x=4", MASKED("z", "b", "min")},
    {"max over windows", "x=2",
     MODEL("x=2", ARG("b", "f32", "[64, 6]", "[[x],[]]") "," IS("r", "[[x],[]]"),
           OP("reduce_window", Q("b"), Q("r"),
              "\"kind\": \"max\", \"window\": [17, 1], \"pad_low\": [8, 0], \"pad_high\": [8, 0]"),
           Q("r"))},
    {"max so far", "x=4",
     MODEL("x=4", ARG("b", "i16", "[64, 6]", "[[x],[]]") "," IS("r", "[[x],[]]"),
           OP("cumulative", Q("b"), Q("r"), "\"kind\": \"max\", \"dim\": 0"), Q("r"))},
};

static void ops_between_do_not_hide_it(void **state) {
  (void)state;
  int64_t unseen = 0;
  for (size_t i = 0; i < sizeof kPrograms / sizeof kPrograms[0]; i++) {
    for (uint64_t seed = 1; seed <= 3; seed++)
      assert_true(audit_all(kPrograms[i].what, kPrograms[i].text, kPrograms[i].mesh, seed, false, &unseen) > 0);
  }
  assert_int_equal(unseen, 0);
}

/* --- wrong texts -------------------------------------------------------------------------------------------------- */

/* The maximum of each of 6 columns, rows cut over two devices. */
#define MAX_OF(slice, rows, from, collective, result)                                                     \
  "module attributes {shardwright.form = \"spmd\", shardwright.model = \"t\"} {\n"                        \
  "shard.grid @mesh(shape = 2) {shardwright.axes = [\"x\"]}\n"                                            \
  "func.func @main(%b: tensor<32x6xf32> {shardwright.name = \"b\", shardwright.kind = \"input\", "        \
  "shardwright.sharding = \"[[x],[]]\", shardwright.tensor = tensor<64x6xf32>}) -> (tensor<6xf32> "       \
  "{shardwright.name = \"r\", shardwright.sharding = \"[[]]\", shardwright.tensor = tensor<6xf32>}) {\n"  \
  "%z = \"stablehlo.constant\"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>\n" slice \
  "%r = \"stablehlo.reduce\"(" from                                                                       \
  ", %z) <{dimensions = array<i64: 0>}> ({\n^bb0(%l: tensor<f32>, %m: "                                   \
  "tensor<f32>):\n%c = \"stablehlo.maximum\"(%l, %m) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"       \
  "\"stablehlo.return\"(%c) : (tensor<f32>) -> ()\n}) : (tensor<" rows                                    \
  "x6xf32>, tensor<f32>) -> tensor<6xf32>\n" collective "return " result " : tensor<6xf32>\n}\n}\n"
#define ALL_REDUCE(kind) \
  "%a = shard.all_reduce %r on @mesh grid_axes = [0] reduction = " kind " : tensor<6xf32> -> tensor<6xf32>\n"
#define FIRST_31                                                                                                   \
  "%s = \"stablehlo.slice\"(%b) <{limit_indices = array<i64: 31, 6>, start_indices = array<i64: 0, 0>, strides = " \
  "array<i64: 1, 1>}> : (tensor<32x6xf32>) -> tensor<31x6xf32>\n"

/* where(any(not b) and not b, a, -a); any is made of blocks of rows, and cut by columns. */
#define MASK_OF(collective)                                                                                        \
  "module attributes {shardwright.form = \"spmd\", shardwright.model = \"t\"} {\n"                                 \
  "shard.grid @mesh(shape = 2x2) {shardwright.axes = [\"x\", \"y\"]}\n"                                            \
  "func.func @main(%b: tensor<4x6xi1> {shardwright.name = \"b\", shardwright.kind = \"input\", "                   \
  "shardwright.sharding = \"[[x],[]]\", shardwright.tensor = tensor<8x6xi1>}, %a: tensor<4x6xf32> "                \
  "{shardwright.name = \"a\", shardwright.kind = \"input\", shardwright.sharding = \"[[y],[]]\", "                 \
  "shardwright.tensor = tensor<8x6xf32>}) -> (tensor<4x6xf32> {shardwright.name = \"o\", shardwright.sharding = "  \
  "\"[[y],[]]\", shardwright.tensor = tensor<8x6xf32>}) {\n"                                                       \
  "%n = \"stablehlo.not\"(%b) : (tensor<4x6xi1>) -> tensor<4x6xi1>\n"                                              \
  "%g = shard.all_gather %n on @mesh grid_axes = [0] gather_axis = 0 : tensor<4x6xi1> -> tensor<8x6xi1>\n"         \
  "%h = shard.all_slice %g on @mesh grid_axes = [0] slice_axis = 1 : tensor<8x6xi1> -> tensor<8x3xi1>\n"           \
  "%f = \"stablehlo.constant\"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>\n"                       \
  "%any = \"stablehlo.reduce\"(%n, %f) <{dimensions = array<i64: 0>}> ({\n^bb0(%l: tensor<i1>, %r: tensor<i1>):\n" \
  "%c = \"stablehlo.or\"(%l, %r) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n"                                       \
  "\"stablehlo.return\"(%c) : (tensor<i1>) -> ()\n}) : (tensor<4x6xi1>, tensor<i1>) -> tensor<6xi1>\n"             \
  "%o = shard." collective                                                                                         \
  " : tensor<6xi1> -> tensor<3xi1>\n"                                                                              \
  "%w = \"stablehlo.broadcast_in_dim\"(%o) <{broadcast_dimensions = array<i64: 1>}> : (tensor<3xi1>) -> "          \
  "tensor<4x3xi1>\n"                                                                                               \
  "%i = shard.all_slice %h on @mesh grid_axes = [1] slice_axis = 0 : tensor<8x3xi1> -> tensor<4x3xi1>\n"           \
  "%m = \"stablehlo.and\"(%w, %i) : (tensor<4x3xi1>, tensor<4x3xi1>) -> tensor<4x3xi1>\n"                          \
  "%p = shard.all_gather %m on @mesh grid_axes = [0] gather_axis = 1 : tensor<4x3xi1> -> tensor<4x6xi1>\n"         \
  "%e = \"stablehlo.negate\"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>\n"                                         \
  "%q = \"stablehlo.select\"(%p, %a, %e) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> "                 \
  "tensor<4x6xf32>\nreturn %q : tensor<4x6xf32>\n}\n}\n"

#define MAX_MODEL                                                                                \
  MODEL("x=2", "{\"name\": \"b\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [64, 6]}", \
        OP("reduce", Q("b"), Q("r"), "\"kind\": \"max\", \"dims\": [0]"), Q("r"))
#define MASK_MODEL                                                                                                     \
  MODEL("x=2,y=2",                                                                                                     \
        "{\"name\": \"b\", \"kind\": \"input\", \"dtype\": \"bool\", \"shape\": [8, 6]}, {\"name\": \"a\", \"kind\": " \
        "\"input\", \"dtype\": \"f32\", \"shape\": [8, 6]}",                                                           \
        OP("not", Q("b"), Q("n"), "") "," OP("reduce", Q("n"), Q("any"), "\"kind\": \"or\", \"dims\": [0]") "," OP(    \
            "broadcast_in_dim", Q("any"), Q("w"),                                                                      \
            "\"shape\": [8, 6], \"dims\": [1]") "," OP("and", Q("w") "," Q("n"), Q("m"),                               \
                                                       "") "," OP("negate", Q("a"), Q("e"),                            \
                                                                  "") "," OP("select", Q("m") "," Q("a") "," Q("e"),   \
                                                                             Q("o"), ""),                              \
        Q("o"))

typedef struct text_case {
  const char *what, *text, *whole;
  bool right;
} text_case;

static const text_case kTexts[] = {
    {"the maximum", MAX_OF("", "32", "%b", ALL_REDUCE("max"), "%a"), MAX_MODEL, true},
    {"no all_reduce", MAX_OF("", "32", "%b", "", "%r"), MAX_MODEL, false},
    {"the least of the maxima", MAX_OF("", "32", "%b", ALL_REDUCE("min"), "%a"), MAX_MODEL, false},
    {"without last rows", MAX_OF(FIRST_31, "31", "%s", ALL_REDUCE("max"), "%a"), MAX_MODEL, false},
    {"any", MASK_OF("reduce_scatter %any on @mesh grid_axes = [0] reduction = bitwise_or scatter_axis = 0"), MASK_MODEL,
     true},
    {"any of a block", MASK_OF("all_slice %any on @mesh grid_axes = [0] slice_axis = 0"), MASK_MODEL, false},
    {"any of all blocks",
     MASK_OF("reduce_scatter %any on @mesh grid_axes = [0] reduction = bitwise_and scatter_axis = 0"), MASK_MODEL,
     false},
    {"any along the other axis",
     MASK_OF("reduce_scatter %any on @mesh grid_axes = [1] reduction = bitwise_or scatter_axis = 0"), MASK_MODEL,
     false},
};

static bool is_right(const text_case *c, uint64_t seed) {
  sw_arena arena = {0};
  sw_program *p;
  sw_graph *whole;
  sw_validation v;
  const sw_program_options by_device = {.by_device = true};
  const sw_validate_options o = {.seed = seed, .timeout_s = 60, .intermediates = true};
  assert_ok(sw_program_parse("t.mlir", c->text, strlen(c->text), &by_device, &p, &diag));
  assert_ok(sw_model_parse("t.json", c->whole, strlen(c->whole), &whole, &diag));
  assert_ok(sw_local_validate(sw_program_local(p), whole, &o, &arena, &v, &diag));
  sw_graph_destroy(whole);
  sw_program_destroy(p);
  const bool matches = v.matches;
  sw_arena_deinit(&arena);
  return matches;
}

static void wrong_texts_differ_under_every_seed(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kTexts / sizeof kTexts[0]; i++) {
    for (uint64_t seed = 1; seed <= 10; seed++) {
      const bool right = is_right(&kTexts[i], seed);
      if (right != kTexts[i].right) print_message("%s, seed %d\n", kTexts[i].what, (int)seed);
      assert_int_equal(right, kTexts[i].right);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_reduction_shows_who_is_missing),
                                     cmocka_unit_test(ops_between_do_not_hide_it),
                                     cmocka_unit_test(wrong_texts_differ_under_every_seed)};
  return cmocka_run_group_tests_name("extremes", tests, NULL, NULL);
}
