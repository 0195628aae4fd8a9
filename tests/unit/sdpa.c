/* Composites and calls of scaled dot-product attention (tests/data/attention/composite_*, by
 * scripts/make-attention-texts): which of them are the op, and that the op computes what their decomposition does. */
#include "check.h"

#include "base/file.h"
#include "graph/attention.h"
#include "shardwright/exec.h"
#include "shardwright/program.h"

enum { MOST = 8 };

static const sw_op *the_attention(const sw_program *p) {
  const sw_graph *g = sw_program_graph(p);
  const sw_op *found = NULL;
  for (sw_id i = 0; i < g->n_ops; i++) {
    if (g->ops[i].code != SW_OP_ATTENTION) continue;
    if (found) fail_msg("two attentions");
    found = &g->ops[i];
  }
  return found;
}

static sw_program *parse(const char *name, const char *text, size_t n) {
  sw_program *p;
  if (sw_program_parse(name, text, n, NULL, &p, &diag)) fail_msg("%s: %s", name, diag.text);
  return p;
}

/* The text with each `from` as `to`, which is as long. */
static void rename_all(char *text, const char *from, const char *to) {
  assert_int_equal(strlen(from), strlen(to));
  for (char *at = strstr(text, from); at; at = strstr(at, from)) {
    for (size_t i = 0; to[i]; i++) at[i] = to[i];
  }
}

static void run(const sw_graph *g, const sw_tensor *args, sw_tensor *out) {
  const sw_buffer *in[MOST];
  for (int i = 0; i < g->n_args; i++) in[i] = &args[i];
  assert_ok(sw_exec_run(g, in, &(sw_exec_options){.poison = true}, out, &diag));
}

static void expect_same(const char *name, const sw_graph *got, const sw_graph *want) {
  sw_tensor args[MOST], a, b;
  sw_difference off;
  assert_int_equal(got->n_outputs, 1);
  for (int i = 0; i < got->n_args; i++) {
    const sw_type *t = &got->values[got->args[i]].type;
    assert_ok(sw_tensor_init(&args[i], t->dtype, t->rank, t->dims, &diag));
    assert_ok(sw_tensor_fill(&args[i], &(sw_fill){.kind = SW_FILL_RANDOM, .seed = (uint64_t)i + 1, .limit = 1}, &diag));
    for (int64_t k = 0; t->dtype == SW_BOOL && k < sw_buffer_elements(&args[i]); k++)
      ((bool *)args[i].data)[k] = k % 3 == 0 || k % 8 == 0;
  }
  run(got, args, &a);
  run(want, args, &b);
  assert_ok(sw_tensor_compare(&a, &b, (sw_tolerance){1e-5, 1e-5}, &off, &diag));
  if (off.differing) fail_msg("%s: differs by %g from its decomposition", name, off.worst_absolute);
  for (int i = 0; i < got->n_args; i++) sw_tensor_deinit(&args[i]);
  sw_tensor_deinit(&a);
  sw_tensor_deinit(&b);
}

static const struct {
  const char *name;
  bool is_op, causal, bias, mask;
  int64_t group, queries;
  double scale, softcap;
} kTexts[] = {
    {"composite_causal", true, .causal = true, .group = 2, .queries = 8},
    {"composite_mask", true, .bias = true, .group = 1, .queries = 8, .scale = 0.3},
    {"composite_bool_mask", true, .mask = true, .group = 1, .queries = 8},
    {"composite_no_heads", true, .bias = true, .group = 1, .queries = 8, .scale = 1},
    {"composite_litert", true, .bias = true, .group = 2, .queries = 8, .scale = 0.25, .softcap = 20},
    {"composite_litert_no_mask", false},
    {"composite_dropout", false},
};

static void composites_are_the_op(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kTexts / sizeof *kTexts; i++) {
    char path[512], *text;
    size_t n;
    snprintf(path, sizeof path, "%s/tests/data/attention/%s.mlir", SW_SOURCE_DIR, kTexts[i].name);
    assert_ok(sw_file_read(path, &text, &n, &diag));
    sw_program *p = parse(path, text, n);
    rename_all(text, "scaled_dot_product_attention", "scaled_dot_product_of_others");
    sw_program *plain = parse(path, text, n);
    const sw_op *op = the_attention(p);
    assert_null(the_attention(plain));
    if (!op != !kTexts[i].is_op) fail_msg("%s: the composite is %san attention", kTexts[i].name, op ? "" : "not ");
    if (op) {
      sw_attention a;
      sw_attention_of(sw_program_graph(p), op, &a);
      const sw_loop *loops = op->nest->loops;
      const bool same = a.right_bound == kTexts[i].causal && (a.bias >= 0) == kTexts[i].bias &&
                        (a.mask >= 0) == kTexts[i].mask && a.scale == kTexts[i].scale &&
                        a.softcap == kTexts[i].softcap && loops[SW_ATTENTION_GROUP].size == kTexts[i].group &&
                        loops[SW_ATTENTION_QUERY].size == kTexts[i].queries;
      if (!same) fail_msg("%s: an attention with other operands or attributes is made", kTexts[i].name);
    }
    expect_same(kTexts[i].name, sw_program_graph(p), sw_program_graph(plain));
    sw_program_destroy(p);
    sw_program_destroy(plain);
    sw_mem_free(text);
  }
}

/* Calls without a decomposition. */
#define CALL(target, attributes, type)                                                                           \
  "func.func @main(%q: tensor<" type ">, %k: tensor<" type ">, %v: tensor<" type ">) -> tensor<" type            \
  "> {\n"                                                                                                        \
  "  %0 = stablehlo.custom_call @" target "(%q, %k, %v) {api_version = 0 : i32, " attributes "} : (tensor<" type \
  ">, tensor<" type ">, tensor<" type ">) -> tensor<" type ">\n  return %0 : tensor<" type ">\n}\n"
static const struct {
  const char *text;
  bool is_op, causal;
  double scale;
} kCalls[] = {
    {CALL("tt.scaled_dot_product_attention", "mhlo.frontend_attributes = {is_causal = \"True\"}", "1x2x4x8xf32"), true,
     true, 0},
    {CALL("tenstorrent.scaled_dot_product_attention",
          "tt.composite_attributes = {is_causal = false, scale = 2 : i64}, tt.has_custom_sharding", "1x2x4x8xbf16"),
     true, false, 2},
    {CALL("tt.scaled_dot_product_attention", "mhlo.frontend_attributes = {is_causal = \"perhaps\"}", "1x2x4x8xf32"),
     false},
    {CALL("tt.scaled_dot_product_attention", "mhlo.frontend_attributes = {scale = \"wide\"}", "1x2x4x8xf32"), false},
    {CALL("tt.scaled_dot_product_attention", "mhlo.frontend_attributes = {scale = \"0.0\"}", "1x2x4x8xf32"), false},
    {CALL("tt.scaled_dot_product_attention", "mhlo.frontend_attributes = {}", "4x8xf32"), false},
    {CALL("tt.scaled_dot_product_attention", "mhlo.frontend_attributes = {}", "1x2x4x8xi32"), false},
};

static void calls_are_the_op_where_they_say_enough(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; i++) {
    sw_program *p = parse("call.mlir", kCalls[i].text, strlen(kCalls[i].text));
    const sw_op *op = the_attention(p);
    sw_attention a;
    if (!op != !kCalls[i].is_op) fail_msg("%s\nis %san attention", kCalls[i].text, op ? "" : "not ");
    if (op) sw_attention_of(sw_program_graph(p), op, &a);
    if (op && (a.right_bound != kCalls[i].causal || a.scale != kCalls[i].scale))
      fail_msg("%s\nis an attention of other attributes", kCalls[i].text);
    if (!op) assert_int_equal(sw_program_graph(p)->ops[0].code, SW_OP_OPAQUE);
    sw_program_destroy(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(composites_are_the_op),
                                     cmocka_unit_test(calls_are_the_op_where_they_say_enough)};
  return cmocka_run_group_tests_name("sdpa", tests, NULL, NULL);
}
