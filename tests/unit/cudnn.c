/* Attention of cuDNN's custom calls, as JAX prints them: the ops that they are, and their numbers beside the same
 * written in plain ops. */
#include "check.h"

#include "graph/fuse.h"
#include "shardwright/exec.h"
#include "shardwright/program.h"
#include "support/program.h"

static sw_diag diag;

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

/* Outputs of both on the same arguments; lengths are 2 and 5. */
static void expect_same(const sw_graph *got, const sw_graph *want) {
  sw_tensor args[MOST], a[MOST], b[MOST];
  assert_int_equal(got->n_args, want->n_args);
  assert_int_equal(got->n_outputs, want->n_outputs);
  for (int i = 0; i < got->n_args; i++) {
    const sw_type *t = &got->values[got->args[i]].type;
    assert_ok(sw_tensor_init(&args[i], t->dtype, t->rank, t->dims, &diag));
    assert_ok(sw_tensor_fill(&args[i], &(sw_fill){.kind = SW_FILL_RANDOM, .seed = (uint64_t)i + 1, .limit = 1}, &diag));
    if (t->dtype == SW_I32) memcpy(args[i].data, (int32_t[]){2, 5}, 2 * sizeof(int32_t));
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(calls_are_attention),
                                     cmocka_unit_test(biases_and_lengths_are_read),
                                     cmocka_unit_test(settings_that_are_not_there_are_an_error)};
  return cmocka_run_group_tests_name("cudnn", tests, NULL, NULL);
}
