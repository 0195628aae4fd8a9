/* Work of convolutions: the products of which both numbers are there, neither padding nor what dilation puts between
 * elements, counted one by one; and programs without the products that nobody reads. */
#include "check.h"

#include "shardwright/clock.h"
#include "shardwright/graph.h"
#include "shardwright/program.h"

/* Batch, groups of features or of the batch, features and outputs of each, and two spatial dims. */
typedef struct windows {
  int64_t batch, feature_groups, batch_groups, features, outputs;
  int64_t size[2], window[2], stride[2], low[2], high[2], lhs_dilation[2], rhs_dilation[2];
} windows;

static windows draw(sw_rng *rng) {
  windows w = {.batch = 1 + sw_rng_below(rng, 2), .feature_groups = 1, .batch_groups = 1};
  *(sw_rng_below(rng, 2) ? &w.feature_groups : &w.batch_groups) = 1 + sw_rng_below(rng, 3);
  w.features = 1 + sw_rng_below(rng, 3);
  w.outputs = 1 + sw_rng_below(rng, 3);
  for (int i = 0; i < 2; i++) {
    w.size[i] = 1 + sw_rng_below(rng, 7);
    w.window[i] = 1 + sw_rng_below(rng, 7);
    w.stride[i] = 1 + sw_rng_below(rng, 4);
    w.low[i] = sw_rng_below(rng, 9) - 2;
    w.high[i] = sw_rng_below(rng, 12);
    w.lhs_dilation[i] = 1 + sw_rng_below(rng, 6);
    w.rhs_dilation[i] = 1 + sw_rng_below(rng, 6);
  }
  return w;
}

static sw_graph *graph_of(const windows *w) {
  const int64_t groups = w->feature_groups * w->batch_groups;
  const int64_t x[] = {w->batch * w->batch_groups, w->size[0], w->size[1], w->features * w->feature_groups},
                k[] = {w->window[0], w->window[1], w->features, w->outputs * groups};
  const sw_attr attrs[] = {{.key = SW_ATTR_LHS_LAYOUT, .u.text = "b01f"},
                           {.key = SW_ATTR_RHS_LAYOUT, .u.text = "01io"},
                           {.key = SW_ATTR_OUT_LAYOUT, .u.text = "b01f"},
                           {.key = SW_ATTR_STRIDES, .u.ints = {w->stride, 2}},
                           {.key = SW_ATTR_PAD_LOW, .u.ints = {w->low, 2}},
                           {.key = SW_ATTR_PAD_HIGH, .u.ints = {w->high, 2}},
                           {.key = SW_ATTR_LHS_DILATION, .u.ints = {w->lhs_dilation, 2}},
                           {.key = SW_ATTR_RHS_DILATION, .u.ints = {w->rhs_dilation, 2}},
                           {.key = SW_ATTR_FEATURE_GROUPS, .u.i = w->feature_groups},
                           {.key = SW_ATTR_BATCH_GROUPS, .u.i = w->batch_groups}};
  sw_graph *g;
  sw_id in[2], out;
  assert_ok(sw_graph_create("windows", &g, &diag));
  assert_ok(sw_graph_add_arg(g, "x", SW_F32, 4, x, SW_VALUE_INPUT, SW_NOWHERE, &in[0], &diag));
  assert_ok(sw_graph_add_arg(g, "w", SW_F32, 4, k, SW_VALUE_PARAMETER, SW_NOWHERE, &in[1], &diag));
  const sw_op_spec spec = {.code = SW_OP_CONVOLUTION,
                           .name = "r",
                           .n_operands = 2,
                           .operands = in,
                           .n_attrs = sizeof attrs / sizeof *attrs,
                           .attrs = attrs};
  assert_ok(sw_graph_add_op(g, &spec, &out, &diag));
  assert_ok(sw_graph_add_output(g, NULL, out, -1, SW_NOWHERE, &diag));
  assert_ok(sw_graph_seal(g, &diag));
  return g;
}

/* Is there an element of x where element `q` of the window stands for element `p` of the result? */
static bool is_element(const windows *w, int dim, int64_t p, int64_t q) {
  const int64_t at = p * w->stride[dim] + q * w->rhs_dilation[dim] - w->low[dim];
  for (int64_t i = 0; i < w->size[dim]; i++)
    if (i * w->lhs_dilation[dim] == at) return true;
  return false;
}

static double count_products(const windows *w, const int64_t *result) {
  double n = 0;
  for (int64_t p0 = 0; p0 < result[1]; p0++)
    for (int64_t p1 = 0; p1 < result[2]; p1++)
      for (int64_t q0 = 0; q0 < w->window[0]; q0++)
        for (int64_t q1 = 0; q1 < w->window[1]; q1++) n += is_element(w, 0, p0, q0) && is_element(w, 1, p1, q1);
  return n * (double)(result[0] * result[3] * w->features);
}

static void products_of_elements_count(void **state) {
  (void)state;
  sw_rng rng;
  int some = 0, fewer = 0;
  sw_rng_seed(&rng, check_seed(11));
  for (int i = 0; i < check_scale(4000); i++) {
    const windows w = draw(&rng);
    sw_graph *g = graph_of(&w);
    const int64_t *result = sw_result_type(g, &g->ops[0], 0)->dims;
    double flops, bytes;
    sw_op_work(g, &g->ops[0], NULL, &flops, &bytes);
    const double want = 2 * count_products(&w, result),
                 all = 2 *
                       (double)(result[0] * result[1] * result[2] * result[3] * w.features * w.window[0] * w.window[1]);
    if (flops > want + 1e-6 * all || flops < want - 1e-6 * all)
      fail_msg("case %d: %g flops; counted one by one %g, of %g with all zeros", i, flops, want, all);
    some += want > 0;
    fewer += want > 0 && want < all;
    sw_graph_destroy(g);
  }
  assert_true(some > 0 && fewer > some / 2);
}

/* The gradient of a product, as JAX writes it: the product itself is there, and nobody reads it. */
static const char kUnread[] =
    "func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<8x16xf32> {\n"
    "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {mhlo.sharding = \"{replicated}\"}"
    " : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>\n"
    "  %t:2 = call @twice(%y) : (tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>)\n"
    "  %s = stablehlo.reduce(%t#1 init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32xf32>, "
    "tensor<f32>) -> tensor<f32>\n"
    "  %o = stablehlo.constant dense<1.0> : tensor<8x32xf32>\n"
    "  %g = stablehlo.dot_general %o, %w, contracting_dims = [1] x [1]"
    " : (tensor<8x32xf32>, tensor<16x32xf32>) -> tensor<8x16xf32>\n"
    "  return %g : tensor<8x16xf32>\n}\n"
    "func.func private @twice(%x: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {\n"
    "  %y = stablehlo.add %x, %x : tensor<8x32xf32>\n"
    "  return %x, %y : tensor<8x32xf32>, tensor<8x32xf32>\n}\n";

static void what_nobody_reads_goes(void **state) {
  (void)state;
  sw_program *p;
  assert_ok(sw_program_parse("t.mlir", kUnread, sizeof kUnread - 1, NULL, &p, &diag));
  const sw_graph *g = sw_program_graph(p);
  assert_ok(sw_graph_verify(g, &diag));
  int n = 0;
  for (sw_id i = 0; i < g->n_ops; i++) n += g->ops[i].n_operands > 0;
  assert_int_equal(n, 1);
  assert_string_equal(g->values[g->outputs[0]].name, "g");
  assert_int_equal(g->n_args, 2);
  sw_program_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(products_of_elements_count),
                                     cmocka_unit_test(what_nobody_reads_goes)};
  return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
