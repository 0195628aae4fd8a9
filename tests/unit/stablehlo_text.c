/* MLIR text to a syntax tree: what is found, where mistakes are, and that nothing is lost on the way. */
#include "check.h"

#include "mlir/text/attr.h"
#include "mlir/import/import.h"
#include "mlir/text/tree.h"

/* --- what is read ------------------------------------------------------------------------------------------------ */

typedef struct good {
  const char *name, *text;
  size_t ops;          /* in all */
  const char *listing; /* of the ops: name, results, operands, regions */
} good;

static const good kGood[] = {
    {"nothing", "", 0, ""},
    {"comment", "// only this", 0, ""},
    {"generic", "\"a.b\"() : () -> ()", 1, "a.b 0 0 0;"},
    {"results and uses", "%0:2, %x = \"a.b\"() : () -> (i1, i1, i1)\n\"c\"(%0#1, %x) : (i1, i1) -> ()", 2,
     "a.b 3 0 0;c 0 2 0;"},
    {"properties and regions",
     "\"a\"() <{k = {b = 1}}> ({\n^bb0(%i: i32):\n \"r\"(%i) : (i32) -> ()\n}, {}) : () -> ()", 2, "a 0 0 2;r 0 1 0;"},
    {"custom forms end at the next op", "%0 = a.b %1, %2 : f32\n%3 = a.c %0 : f32\na.d %3\nreturn", 4,
     "a.b 1 2 0;a.c 1 1 0;a.d 0 1 0;return 0 0 0;"},
    {"several ops in a line", "%0 = a.b : f32 %1 = a.c : f32", 2, "a.b 1 0 0;a.c 1 0 0;"},
    {"operands over several lines", "%0 = a.b\n  %1,\n  %2 : f32", 1, "a.b 1 2 0;"},
    {"dictionary or region", "a.b {k = 1}\na.c { a.d }\na.e { %0 = a.f }\na.g {k, l}", 5,
     "a.b 0 0 0;a.c 0 0 0;a.e 0 0 1;a.f 1 0 0;a.g 0 0 0;"},
    {"arguments of a region", "a.b (%x: i1) { a.c %x : i1 }", 2, "a.b 0 0 1;a.c 0 1 0;"},
    {"bindings",
     "%2:2 = stablehlo.while(%i = %0, %j = %1) : i1, i1\n cond {\n stablehlo.return %i : i1\n } do {\n"
     " stablehlo.return %i, %j : i1, i1\n }",
     3, "stablehlo.while 2 2 2;stablehlo.return 0 1 0;stablehlo.return 0 2 0;"},
    {"region behind types",
     "%1 = stablehlo.reduce(%0 init: %c) across dimensions = [1] : (t, t) -> t\n reducer(%a: i1, %b: i1)  {\n"
     " %2 = stablehlo.or %a, %b : i1\n stablehlo.return %2 : i1\n }",
     3, "stablehlo.reduce 1 2 1;stablehlo.or 1 2 0;stablehlo.return 0 1 0;"},
    {"arrows that are no types", "%0 = a.conv(%1, %2) dim_numbers = [b, f]x[o, i]->[b, f], w = {s = [1]} {g = 1} : t",
     1, "a.conv 1 2 0;"},
    {"comparisons are no brackets", "a.b affine_set<(d0) : (d0 - 1 >= 0, d0 <= 3)>", 1, "a.b 0 0 0;"},
    {"strings hide brackets", "a.b \"}\\\"{\" {k = \"]\"}", 1, "a.b 0 0 0;"},
    {"locations", "a.b loc(fused<\"x\">[\"a\", callsite(\"f\"(\"g.py\":1:2) at #loc1)])\n#loc1 = loc(unknown)", 1,
     "a.b 0 0 0;"},
    {"function",
     "func.func private @f(%a: t {k = 1} loc(\"x\"), %b: t) -> (t {r = 2}, t) attributes {s = 3} {\n return %a, %b : "
     "t, t\n}",
     2, "func.func 0 0 1;return 0 2 0;"},
    {"aliases and resources", "#a = dense<1> : t\n!t = tensor<?x4x!q.u<i8:f32, 0.1>>\n{-# x: {y: \"0x\"} #-}", 0, ""},
    {"modules side by side", "module {\n}\n// -----\nmodule @b {\n}", 2, "module 0 0 1;module 0 0 1;"},
    {"old spellings", "%0 = \"mhlo.dot\"(%a, %b) {precision_config = [#mhlo<precision DEFAULT>]} : (t, t) -> t", 1,
     "mhlo.dot 1 2 0;"},
};

static void list_ops(const sw_ir_tree *t, sw_text *out) {
  for (size_t i = 0; i < t->ops.n; i++) {
    const sw_ir_op *o = &t->ops.at[i];
    uint32_t results = 0, regions = 0;
    for (uint32_t k = 0; k < o->n_results; k++) results += t->results.at[o->first_result + k].count;
    for (uint32_t r = o->first_region; r != SW_IR_NONE; r = t->regions.at[r].next) regions++;
    sw_text_printf(out, "%.*s %u %u %u;", (int)sw_ir_len(o->name), t->s + o->name.at, results, o->n_uses, regions);
  }
}

static void check_good(void **state) {
  const good *g = *state;
  sw_ir_tree t;
  sw_text listing = {0}, printed = {0};
  assert_ok(sw_ir_parse("t", g->text, strlen(g->text), &t, &diag));
  list_ops(&t, &listing);
  sw_ir_print(&t, &printed);
  assert_int_equal(t.ops.n, g->ops);
  assert_string_equal(sw_text_str(&listing), g->listing);
  assert_string_equal(sw_text_str(&printed), g->text);
  sw_text_free(&listing);
  sw_text_free(&printed);
  sw_ir_free(&t);
}

/* --- what is wrong ----------------------------------------------------------------------------------------------- */

typedef struct bad {
  const char *name, *text;
  size_t errors;
  int line, col; /* of the first */
  const char *message;
} bad;

static const bad kBad[] = {
    {"no op", "%0 = ", 1, 1, 6, "found the end of the text; expected the name of an op"},
    {"closing brace", "a.b\n}\n", 1, 2, 1, "found '}'; expected an op"},
    {"missing colon", "\"a.b\"()\nx.y", 1, 2, 1, "found 'x.y'; expected ':'"},
    {"a function with a colon", "func.func @f: () -> () {\n}", 1, 1, 13,
     "found ':'; expected '(' and the function's arguments"},
    {"missing arrow", "\"a.b\"() : ()", 1, 1, 13, "found the end of the text; expected '->'"},
    {"operand without %", "\"a.b\"(x) : () -> ()", 1, 1, 7, "found 'x'; expected a value"},
    {"unbalanced", "a.b [1, 2)\na.c", 1, 1, 10, "found ')'; expected ']'"},
    {"unclosed", "a.b {k = [1,\n2}", 1, 2, 2, "found '}'; expected ']'"},
    {"string without end", "a.b \"x\na.c", 1, 1, 5, "a string does not end in its line; expected '\"'"},
    {"region without end", "a.b { %0 = a.c\n", 1, 2, 1,
     "found the end of the text; expected '}' for the region that begins in line 1"},
    {"no type", "%0 = a.b(%a: 4) {\n}", 1, 1, 14, "found '4'; expected a type"},
    {"key without value", "a.b k = : f32", 1, 1, 9, "found ':'; expected a value"},
    {"strange byte", "a.b \001", 1, 1, 5, "found the byte 0x01; expected MLIR"},
    {"alias without value", "#a =", 1, 1, 5, "found the end of the text; expected a value"},
    {"resources without end", "{-# a: 1", 1, 1, 9, "found the end of the text; expected '#-}'"},
    {"two mistakes", "module {\n \"a\"(\n %0 = = x.y\n a.b\n \"c\"() () -> ()\n}", 2, 3, 5, "found '='; expected ')'"},
    {"goes on behind a mistake", "module {\n  %0 = \"a.b\"( { x.y\n }\n a.c )\n a.d\n}", 2, 2, 15,
     "found '{'; expected a value"},
};

static void check_bad(void **state) {
  const bad *b = *state;
  diag = (sw_diag){0};
  sw_ir_tree t;
  sw_text printed = {0};
  assert_int_equal(sw_ir_parse("t", b->text, strlen(b->text), &t, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, b->message);
  assert_int_equal(t.errors.n, b->errors);
  assert_int_equal(diag.line, b->line);
  assert_int_equal(diag.col, b->col);
  sw_ir_print(&t, &printed);
  assert_string_equal(sw_text_str(&printed), b->text);
  sw_text_free(&printed);
  sw_ir_free(&t);
}

/* --- sizes ------------------------------------------------------------------------------------------------------- */

static void stops_after_twenty_errors(void **state) {
  (void)state;
  sw_ir_tree t;
  sw_text text = {0};
  for (int i = 0; i < 50; i++) sw_text_puts(&text, "a.b )\n");
  assert_int_equal(sw_ir_parse("t", text.at, text.n, &t, &diag), SW_E_INPUT);
  assert_int_equal(t.errors.n, SW_IR_MOST_ERRORS);
  assert_int_equal(t.errors.at[19].line, 20);
  sw_text_free(&text);
  sw_ir_free(&t);
}

/* A million regions and brackets inside each other need no stack of the machine. */
static void nests_deeply(void **state) {
  (void)state;
  enum { DEPTH = 200000 };
  sw_ir_tree t;
  sw_text text = {0};
  for (int i = 0; i < DEPTH; i++) sw_text_puts(&text, "a.b {\n");
  sw_text_puts(&text, "a.c ");
  for (int i = 0; i < DEPTH; i++) sw_text_puts(&text, "[");
  for (int i = 0; i < DEPTH; i++) sw_text_puts(&text, "]");
  for (int i = 0; i < DEPTH; i++) sw_text_puts(&text, "\n}");
  assert_ok(sw_ir_parse("t", text.at, text.n, &t, &diag));
  assert_int_equal(t.ops.n, DEPTH + 1);
  sw_text_free(&text);
  sw_ir_free(&t);
}

/* --- attributes -------------------------------------------------------------------------------------------------- */

static const struct {
  const char *text;
  int n;
  int64_t v[4];
} kInts[] = {
    {"[1, -2, 3]", 3, {1, -2, 3}},
    {"array<i64: 4, 5>", 2, {4, 5}},
    {"array<i64>", 0, {0}},
    {"array<i1: true, false>", 2, {1, 0}},
    {"dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>", 4, {1, 2, 3, 4}},
    {"dense<7> : tensor<3xi64>", 3, {7, 7, 7}},
    {"dense<\"0x01000000000000000200000000000000\"> : tensor<2xi64>", 2, {1, 2}},
    {"3 : i64", 1, {3}},
};

static void reads_lists_of_numbers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kInts / sizeof *kInts; i++) {
    char text[160];
    sw_ir_tree t;
    snprintf(text, sizeof text, "a.b {x = \",\", \"k\" = %s, l = 1}", kInts[i].text);
    assert_ok(sw_ir_parse("t", text, strlen(text), &t, &diag));
    sw_ir_ints ints = {0};
    assert_ok(sw_ir_read_ints(&t, sw_ir_attr(&t, &t.ops.at[0], "k", NULL), &ints, &diag));
    assert_int_equal(ints.n, kInts[i].n);
    for (int k = 0; k < kInts[i].n; k++) assert_int_equal(ints.at[k], kInts[i].v[k]);
    sw_array_free(&ints);
    sw_ir_free(&t);
  }
}

enum { N_GOOD = sizeof kGood / sizeof *kGood, N_BAD = sizeof kBad / sizeof *kBad };

/* The tree that keeps no ops has the same errors. */
static void expect_same_errors(const char *text) {
  sw_diag a = {0}, b = {0};
  sw_ir_tree keeps, forgets;
  sw_rc rc = sw_ir_parse("t", text, strlen(text), &keeps, &a);
  assert_int_equal(sw_ir_check("t", text, strlen(text), &forgets, &b), rc);
  assert_int_equal(forgets.errors.n, keeps.errors.n);
  for (size_t i = 0; i < keeps.errors.n; i++) {
    const sw_diag *x = &keeps.errors.at[i], *y = &forgets.errors.at[i];
    if (x->line != y->line || x->col != y->col || strcmp(x->text, y->text) != 0) {
      fail_msg("%d:%d: %s; kept: %d:%d: %s\n%s", y->line, y->col, y->text, x->line, x->col, x->text, text);
    }
  }
  if (!rc) assert_true(forgets.ops.n == 0 && forgets.uses.n == 0 && forgets.regions.n == 0 && forgets.blocks.n <= 1);
  sw_ir_free(&keeps);
  sw_ir_free(&forgets);
}

static void forgetting_changes_no_error(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(3));
  sw_text all = {0};
  for (size_t i = 0; i < sizeof kGood / sizeof *kGood; i++) {
    expect_same_errors(kGood[i].text);
    sw_text_printf(&all, "%s\n", kGood[i].text);
  }
  for (size_t i = 0; i < sizeof kBad / sizeof *kBad; i++) expect_same_errors(kBad[i].text);
  for (int round = 0; round < 300 * (int)check_scale(1); round++) { /* a piece is taken out, or one character changed */
    sw_text t = {0};
    size_t at = (size_t)sw_rng_below(&rng, (int64_t)all.n), n = (size_t)sw_rng_below(&rng, 12);
    if (n > all.n - at) n = all.n - at;
    sw_text_append(&t, all.at, at);
    if (round % 2) sw_text_append(&t, &"{}()<>\"%^=:,@"[sw_rng_below(&rng, 13)], 1);
    sw_text_append(&t, all.at + at + n, all.n - at - n);
    expect_same_errors(sw_text_str(&t));
    sw_text_free(&t);
  }
  sw_text_free(&all);
}

/* No op of the specification, of today or before, is unknown. */
static void every_op_has_a_row(void **state) {
  (void)state;
  static const char kOps[] =
      "abs add after_all all_gather all_reduce all_to_all and async_done async_start atan2 batch_norm_grad "
      "batch_norm_inference batch_norm_training bitcast_convert broadcast broadcast_in_dim case cbrt ceil "
      "cholesky clamp collective_broadcast collective_permute compare complex composite concatenate "
      "constant convert convolution cosine count_leading_zeros create_token cross-replica-sum custom_call "
      "divide dot dot_general dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota "
      "dynamic_pad dynamic_reshape dynamic_slice dynamic_update_slice einsum exponential "
      "exponential_minus_one fft floor gather get_dimension_size get_tuple_element if imag infeed iota "
      "is_finite log log_plus_one logistic map maximum minimum multiply negate not optimization_barrier or "
      "outfeed pad partition_id popcnt power real real_dynamic_slice recv reduce reduce_precision "
      "reduce_scatter reduce_window remainder replica_id reshape return reverse rng rng_bit_generator "
      "round_nearest_afz round_nearest_even rsqrt scatter select select_and_scatter send "
      "set_dimension_size shift_left shift_right_arithmetic shift_right_logical sign sine slice sort sqrt "
      "subtract tan tanh torch_index_select trace transpose triangular_solve tuple unary_einsum "
      "uniform_dequantize uniform_quantize while xor";
  const sw_ir_tree t = {.s = kOps, .n = sizeof kOps - 1};
  for (uint32_t at = 0, end; at < t.n; at = end + 1) {
    end = at + (uint32_t)strcspn(kOps + at, " ");
    if (!sw_ir_row_of(&t, (sw_ir_span){at, end})) fail_msg("no row for '%.*s'", (int)(end - at), kOps + at);
  }
  assert_null(sw_ir_row_of(&t, (sw_ir_span){0, 2}));
}

int main(void) {
  enum { N_OTHERS = 5 };
  struct CMUnitTest tests[N_OTHERS + N_GOOD + N_BAD] = {
      cmocka_unit_test(stops_after_twenty_errors),
      cmocka_unit_test(forgetting_changes_no_error),
      cmocka_unit_test(nests_deeply),
      cmocka_unit_test(reads_lists_of_numbers),
      cmocka_unit_test(every_op_has_a_row),
  };
  for (size_t i = 0; i < N_GOOD; i++) {
    tests[N_OTHERS + i] =
        (struct CMUnitTest){.name = kGood[i].name, .test_func = check_good, .initial_state = (void *)&kGood[i]};
  }
  for (size_t i = 0; i < N_BAD; i++) {
    tests[N_OTHERS + N_GOOD + i] =
        (struct CMUnitTest){.name = kBad[i].name, .test_func = check_bad, .initial_state = (void *)&kBad[i]};
  }
  return cmocka_run_group_tests_name("stablehlo_text", tests, NULL, NULL);
}
