/* Attention of cuDNN's custom calls, as JAX prints them: the ops that they are, and their numbers beside the same
 * written in plain ops. */
#include "check.h"

#include "base/file.h"
#include "shardwright/emit.h"
#include "shardwright/exec.h"
#include "shardwright/plan.h"
#include "shardwright/program.h"
#include "support/meshes.h"
#include "support/program.h"
#include "support/job.h"

enum { MOST = 8 };

static sw_program *read_text(const char *name, bool fuse) {
  char path[512];
  sw_program *p;
  snprintf(path, sizeof path, "%s/tests/data/%s.mlir", SW_SOURCE_DIR, name);
  assert_ok(sw_program_read(path, &(sw_program_options){.fuse_attention = fuse}, &p, &diag));
  return p;
}

static void run(const sw_graph *g, const sw_tensor *args, sw_tensor *out) {
  const sw_buffer *in[MOST];
  for (int i = 0; i < g->n_args; i++) in[i] = &args[i];
  assert_ok(sw_exec_run(g, in, &(sw_exec_options){.poison = true}, out, &diag));
}

/* Outputs of both on the same arguments; lengths are 2 and 5, the start is 2. */
static void expect_same(const sw_graph *got, const sw_graph *want) {
  sw_tensor args[MOST], a[MOST], b[MOST];
  assert_int_equal(got->n_args, want->n_args);
  assert_int_equal(got->n_outputs, want->n_outputs);
  for (int i = 0; i < got->n_args; i++) {
    const sw_type *t = &got->values[got->args[i]].type;
    assert_ok(sw_tensor_init(&args[i], t->dtype, t->rank, t->dims, &diag));
    assert_ok(sw_tensor_fill(&args[i], &(sw_fill){.kind = SW_FILL_RANDOM, .seed = (uint64_t)i + 1, .limit = 1}, &diag));
    if (t->dtype == SW_I32) memcpy(args[i].data, (int32_t[]){2, 5}, (t->rank ? 2 : 1) * sizeof(int32_t));
  }
  run(got, args, a);
  run(want, args, b);
  for (int i = 0; i < got->n_outputs; i++) {
    sw_difference off;
    assert_ok(sw_tensor_compare(&a[i], &b[i], (sw_tolerance){1e-4, 1e-5}, &off, &diag));
    if (off.differing) fail_msg("output %d differs by %g", i, off.worst_absolute);
    sw_tensor_deinit(&a[i]);
    sw_tensor_deinit(&b[i]);
  }
  for (int i = 0; i < got->n_args; i++) sw_tensor_deinit(&args[i]);
}

static int count(const sw_graph *g, sw_opcode code) {
  int n = 0;
  for (int32_t i = 0; i < g->n_ops; i++) n += g->ops[i].code == code;
  return n;
}

#define HEADS "'lhs_batch':[0,1],'rhs_batch':[0,1]"
/* The first text: positions first, 4 heads on 2, causal, scale 0.35. */
static const char kCausal[] =
    "q = transpose(a) 'permutation':[0,2,1,3]; k0 = broadcast_in_dim(b) 'shape':[2,6,2,2,8],'dims':[0,1,2,4]; "
    "k1 = reshape(k0) 'shape':[2,6,4,8]; k = transpose(k1) 'permutation':[0,2,1,3]; "
    "v0 = broadcast_in_dim(c) 'shape':[2,6,2,2,8],'dims':[0,1,2,4]; v1 = reshape(v0) 'shape':[2,6,4,8]; "
    "v = transpose(v1) 'permutation':[0,2,1,3]; g = transpose(d) 'permutation':[0,2,1,3]; "
    "s = dot_general(q, k) " HEADS
    ",'lhs_contract':[3],'rhs_contract':[3]; "
    "c0 = constant() 'value':0.35,'dtype':'f32','shape':[2,4,6,6]; t = multiply(s, c0); "
    "i = iota() 'dtype':'i32','shape':[2,4,6,6],'dim':2; j = iota() 'dtype':'i32','shape':[2,4,6,6],'dim':3; "
    "m = compare(j, i) 'direction':'le'; n = constant() 'value':-1e30,'dtype':'f32','shape':[2,4,6,6]; "
    "u = select(m, t, n); p = softmax(u); o0 = dot_general(p, v) " HEADS
    ",'lhs_contract':[3],'rhs_contract':[2]; "
    "o = transpose(o0) 'permutation':[0,2,1,3]; "
    "w = dot_general(g, v) " HEADS
    ",'lhs_contract':[3],'rhs_contract':[3]; e = multiply(p, w); "
    "r = reduce(e) 'kind':'sum','dims':[3]; r1 = broadcast_in_dim(r) 'shape':[2,4,6,6],'dims':[0,1,2]; "
    "x = subtract(w, r1); y = multiply(p, x); z = multiply(y, c0); "
    "q0 = dot_general(z, k) " HEADS
    ",'lhs_contract':[3],'rhs_contract':[2]; dq = transpose(q0) 'permutation':[0,2,1,3]; "
    "l0 = dot_general(z, q) " HEADS
    ",'lhs_contract':[2],'rhs_contract':[2]; l1 = reshape(l0) 'shape':[2,2,2,6,8]; "
    "l2 = reduce(l1) 'kind':'sum','dims':[2]; dk = transpose(l2) 'permutation':[0,2,1,3]; "
    "h0 = dot_general(p, g) " HEADS
    ",'lhs_contract':[2],'rhs_contract':[2]; h1 = reshape(h0) 'shape':[2,2,2,6,8]; "
    "h2 = reduce(h1) 'kind':'sum','dims':[2]; dv = transpose(h2) 'permutation':[0,2,1,3]";

static void calls_are_attention(void **state) {
  (void)state;
  sw_graph *plain;
  assert_ok(program_of("a f32 2,6,4,8; b f32 2,6,2,8; c f32 2,6,2,8; d f32 2,6,4,8", NULL, kCausal, "o, dq, dk, dv",
                       &plain, &diag));
  for (int fuse = 0; fuse < 2; fuse++) {
    sw_program *p = read_text("cudnn_attention", fuse != 0);
    const sw_graph *g = sw_program_graph(p);
    assert_int_equal(count(g, SW_OP_ATTENTION), 1);
    assert_int_equal(count(g, SW_OP_ATTENTION_GRAD), 1);
    assert_int_equal(count(g, SW_OP_TRANSPOSE), fuse ? 0 : 8);
    expect_same(g, plain);
    sw_program_destroy(p);
  }
  sw_graph_destroy(plain);
}

/* The second: heads first, a bias of all batches, lengths of keys. */
static const char kPadded[] =
    "s = dot_general(a, b) " HEADS
    ",'lhs_contract':[3],'rhs_contract':[3]; "
    "c0 = constant() 'value':0.35,'dtype':'f32','shape':[2,4,6,6]; t = multiply(s, c0); "
    "e0 = broadcast_in_dim(e) 'shape':[2,4,6,6],'dims':[0,1,2,3]; t1 = add(t, e0); "
    "j = iota() 'dtype':'i32','shape':[2,4,6,6],'dim':3; n0 = broadcast_in_dim(n) 'shape':[2,4,6,6],'dims':[0]; "
    "m = compare(j, n0) 'direction':'lt'; n1 = constant() 'value':-1e30,'dtype':'f32','shape':[2,4,6,6]; "
    "u = select(m, t1, n1); p = softmax(u); o = dot_general(p, c) " HEADS
    ",'lhs_contract':[3],'rhs_contract':[2]; "
    "w = dot_general(d, c) " HEADS
    ",'lhs_contract':[3],'rhs_contract':[3]; e1 = multiply(p, w); "
    "r = reduce(e1) 'kind':'sum','dims':[3]; r1 = broadcast_in_dim(r) 'shape':[2,4,6,6],'dims':[0,1,2]; "
    "x = subtract(w, r1); y = multiply(p, x); z = multiply(y, c0); "
    "dq = dot_general(z, b) " HEADS
    ",'lhs_contract':[3],'rhs_contract':[2]; "
    "dk = dot_general(z, a) " HEADS
    ",'lhs_contract':[2],'rhs_contract':[2]; "
    "dv = dot_general(p, d) " HEADS
    ",'lhs_contract':[2],'rhs_contract':[2]; "
    "f = reduce(y) 'kind':'sum','dims':[0]; de = reshape(f) 'shape':[1,4,6,6]";

static void biases_and_lengths_are_read(void **state) {
  (void)state;
  sw_graph *plain;
  assert_ok(program_of("a f32 2,4,6,8; b f32 2,4,6,8; c f32 2,4,6,8; d f32 2,4,6,8; e f32 1,4,6,6; k i32 2; n i32 2",
                       NULL, kPadded, "o, dq, dk, dv, de", &plain, &diag));
  sw_program *p = read_text("cudnn_attention_padded", false);
  expect_same(sw_program_graph(p), plain);
  sw_program_destroy(p);
  sw_graph_destroy(plain);
}

/* --- written again ------------------------------------------------------------------------------------------------ */

/* The program with every op uncut, as text. */
static void emit(const sw_graph *g, sw_text *out) {
  sw_arena arena = {0};
  sw_plan plan;
  assert_ok(sw_plan_build(JOB(g, machine_of("local", "x=2", &arena)), &arena, &plan, &diag));
  assert_ok(sw_emit_plan(&plan, "spmd-sdy", out, &diag));
  sw_arena_deinit(&arena);
}

static sw_program *read_again(const sw_text *t) {
  sw_program *p;
  assert_ok(sw_program_parse("again.mlir", t->at, t->n, &(sw_program_options){.fuse_attention = true}, &p, &diag));
  return p;
}

static const sw_op *nth(const sw_graph *g, sw_opcode code, int n) {
  for (int32_t i = 0; i < g->n_ops; i++) {
    if (g->ops[i].code == code && n-- == 0) return &g->ops[i];
  }
  return NULL;
}

/* Attributes and types of operands and results. */
static void describe(const sw_graph *g, const sw_op *op, sw_text *out) {
  for (int i = 0; i < op->n_operands; i++) sw_type_print(sw_operand_type(g, op, i), out);
  for (int i = 0; i < op->n_results; i++) sw_type_print(sw_result_type(g, op, i), out);
  sw_text_printf(out, " %.17g %d %s %s", sw_op_float(op, SW_ATTR_SCALE, -1), (int)sw_op_int(op, SW_ATTR_CAUSAL, -1),
                 sw_op_text(op, SW_ATTR_LAYOUT, "?"), sw_op_text(op, SW_ATTR_TARGET, "?"));
  int n;
  const int64_t *window = sw_op_ints(op, SW_ATTR_WINDOW, &n);
  for (int i = 0; i < n; i++) sw_text_printf(out, " %d", (int)window[i]);
  sw_text_printf(out, " %d", (int)sw_op_int(op, SW_ATTR_BIAS_GRAD, 0));
}

static void expect_same_ops(const char *name, const sw_graph *a, const sw_graph *b) {
  static const sw_opcode kCodes[] = {SW_OP_ATTENTION, SW_OP_ATTENTION_GRAD};
  for (int k = 0; k < 2; k++) {
    sw_text x = {0}, y = {0};
    if (count(a, kCodes[k]) != 1 || count(b, kCodes[k]) != 1) fail_msg("%s: no attention", name);
    describe(a, nth(a, kCodes[k], 0), &x);
    describe(b, nth(b, kCodes[k], 0), &y);
    if (strcmp(sw_text_str(&x), sw_text_str(&y)) != 0) fail_msg("%s: '%s' comes back as '%s'", name, x.at, y.at);
    sw_text_free(&x);
    sw_text_free(&y);
  }
}

static int times(const char *text, const char *what) {
  int n = 0;
  for (; (text = strstr(text, what)); text += strlen(what)) n++;
  return n;
}

/* `forward` and `backward`: which calls stand in the text. */
static const struct {
  const char *name, *forward, *backward;
} kCalls[] = {
    {"attention/cudnn", "__cudnn$fmhaSoftmax\"", "__cudnn$fmhaSoftmaxBackward\""},
    {"attention/cudnn_causal_grouped", "__cudnn$fmhaSoftmax\"", "__cudnn$fmhaSoftmaxBackward\""},
    {"attention/cudnn_window", "__cudnn$fmhaSoftmax\"", "__cudnn$fmhaSoftmaxBackward\""},
    {"attention/cudnn_bias_lengths", "__cudnn$fmhaScaleBiasSoftmax\"", "__cudnn$fmhaScaleBiasSoftmaxBackward\""},
    {"cudnn_attention", "__cudnn$fmhaSoftmax\"", "__cudnn$fmhaSoftmaxBackward\""},
    {"cudnn_attention_padded", "__cudnn$fmhaScaleBiasSoftmax\"", "__cudnn$fmhaScaleBiasSoftmaxBackward\""},
};

static void calls_come_back_as_calls(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; i++) {
    sw_text once = {0}, twice = {0};
    sw_program *p = read_text(kCalls[i].name, true);
    emit(sw_program_graph(p), &once);
    assert_int_equal(times(sw_text_str(&once), kCalls[i].forward), 1);
    assert_int_equal(times(sw_text_str(&once), kCalls[i].backward), 1);
    assert_int_equal(times(sw_text_str(&once), "stablehlo.composite"), 0);
    sw_program *q = read_again(&once);
    expect_same_ops(kCalls[i].name, sw_program_graph(p), sw_program_graph(q));
    expect_same(sw_program_graph(q), sw_program_graph(p));
    emit(sw_program_graph(q), &twice);
    assert_int_equal(times(sw_text_str(&twice), "__cudnn"), 2);
    sw_text_free(&once);
    sw_text_free(&twice);
    sw_program_destroy(q);
    sw_program_destroy(p);
  }
}

/* What the call has no word for is a composite. */
static void what_calls_cannot_say_is_a_composite(void **state) {
  (void)state;
  static const struct {
    const char *more, *operands, *attrs;
    bool call;
  } kOps[] = {{"", "", ",'causal':true", true},
              {"", "", ",'causal':true,'window':[3,-1]", true},
              {"", "", ",'window':[3,-1]", false},
              {"", "", ",'window':[-1,1]", false},
              {"", "", ",'causal':true,'base':2", false},
              {"", "", ",'softcap':2", false},
              {"; m bool 2,4,6,6", ", m", "", false},
              {"; m f32 2,4,6,6", ", m", "", true},
              {"; m f32 2,4,1,6", ", m", "", false},
              {"; m i64 2", ", m", "", true},
              {"; m i32 ", ", m", ",'causal':true", false}};
  for (size_t i = 0; i < sizeof kOps / sizeof *kOps; i++) {
    char args[128], ops[256];
    sw_graph *g;
    sw_text t = {0};
    snprintf(args, sizeof args, "q f32 2,4,6,8; k f32 2,2,6,8%s", kOps[i].more);
    snprintf(ops, sizeof ops, "o, l = attention(q, k, k%s) 'target':'cudnn'%s", kOps[i].operands, kOps[i].attrs);
    assert_ok(program_of(args, NULL, ops, "o", &g, &diag));
    emit(g, &t);
    if (times(sw_text_str(&t), "__cudnn") != kOps[i].call) fail_msg("'%s' is written as\n%s", ops, t.at);
    sw_program *p = read_again(&t);
    expect_same(sw_program_graph(p), g);
    sw_program_destroy(p);
    sw_text_free(&t);
    sw_graph_destroy(g);
  }
}

/* Sequences packed into one, keys in pages. */
static void other_calls_are_opaque(void **state) {
  (void)state;
  static const char *const kChanges[][2] = {{"max_seg_per_batch\\22: 1", "max_seg_per_batch\\22: 2"},
                                            {"is_paged_attention\\22: false", "is_paged_attention\\22: true "}};
  char path[512];
  snprintf(path, sizeof path, "%s/tests/data/attention/cudnn.mlir", SW_SOURCE_DIR);
  for (size_t i = 0; i < 2; i++) {
    char *text;
    size_t n;
    sw_program *p;
    assert_ok(sw_file_read_text(path, &text, &n, &diag));
    for (char *at = text; (at = strstr(at, kChanges[i][0]));) memcpy(at, kChanges[i][1], strlen(kChanges[i][1]));
    assert_ok(sw_program_parse("a.mlir", text, n, NULL, &p, &diag));
    assert_int_equal(count(sw_program_graph(p), SW_OP_ATTENTION), 0);
    assert_int_equal(count(sw_program_graph(p), SW_OP_OPAQUE), 2);
    sw_program_destroy(p);
    sw_mem_free(text);
  }
}

static void settings_that_are_not_there_are_an_error(void **state) {
  (void)state;
  static const char kText[] =
      "func.func @main(%q: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {\n"
      "  %0:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %q, %q) {backend_config = \"{}\"} : "
      "(tensor<1x2x3x4xf32>, "
      "tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<0xui8>)\n"
      "  return %0#0 : tensor<1x2x3x4xf32>\n}\n";
  sw_program *p;
  assert_int_equal(sw_program_parse("a.mlir", kText, strlen(kText), NULL, &p, &diag), SW_E_INPUT);
  assert_non_null(strstr(diag.text, "lacks 'fmha_scale'"));
  assert_int_equal(diag.line, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_are_attention),      cmocka_unit_test(biases_and_lengths_are_read),
      cmocka_unit_test(calls_come_back_as_calls), cmocka_unit_test(what_calls_cannot_say_is_a_composite),
      cmocka_unit_test(other_calls_are_opaque),   cmocka_unit_test(settings_that_are_not_there_are_an_error)};
  return cmocka_run_group_tests_name("cudnn", tests, NULL, NULL);
}
