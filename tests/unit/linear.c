/* Linear layers in eight bits: scales against their definition, products and gradients against those without, and on
 * devices against one. */
#include <math.h>

#include "check.h"

#include "shardwright/exec.h"
#include "shardwright/validate.h"
#include "gen/linear.h"
#include "gen/train.h"
#include "support/meshes.h"
#include "support/program.h"
#include "support/random_plan.h"
#include "support/job.h"

enum { MAX_VALUES = 64 };

static sw_graph *finished(swg_builder *b) {
  sw_graph *g;
  sw_rc rc = swg_finish(b, &g);
  assert_int_equal(rc, SW_OK);
  return g;
}

static void run(const sw_graph *g, sw_tensor *args, sw_tensor *outputs) {
  const sw_buffer *in[MAX_VALUES];
  assert_in_range(g->n_args, 1, MAX_VALUES);
  assert_in_range(g->n_outputs, 1, MAX_VALUES);
  for (int i = 0; i < g->n_args; i++) in[i] = &args[i];
  assert_ok(sw_exec_run(g, in, &(sw_exec_options){.poison = true}, outputs, &diag));
}

static double at(const sw_tensor *t, int64_t i) {
  return sw_element_load(t->dtype, (const char *)t->data + i * sw_dtype_bytes(t->dtype));
}

static void put(sw_tensor *t, int64_t i, double v) {
  sw_element_store(t->dtype, v, (char *)t->data + i * sw_dtype_bytes(t->dtype));
}

/* --- scales ------------------------------------------------------------------------------------------------------- */

static const struct {
  sw_dtype narrow;
  double largest, least_normal;
  int digits; /* behind the first */
} kNarrow[] = {{SW_F8E4M3FN, 448, 0x1p-6, 3}, {SW_F8E5M2, 57344, 0x1p-14, 2}};

/* All from 2^-30 to 2^30 in size, at times beside a power of two or a multiple of the largest. */
static void draw(sw_rng *rng, sw_tensor *x, double largest) {
  const int64_t n = sw_buffer_elements(x);
  const double size = ldexp(1, (int)sw_rng_below(rng, 60) - 30);
  static const double kNear[] = {1, 1 + 0x1p-7, 1 - 0x1p-8, 1.5, 2 - 0x1p-7};
  for (int64_t i = 0; i < n; i++) put(x, i, (2 * sw_rng_unit(rng) - 1) * size);
  const int64_t kind = sw_rng_below(rng, 4);
  if (kind == 0) put(x, sw_rng_below(rng, n), size * kNear[sw_rng_below(rng, 5)]);
  if (kind == 1) put(x, sw_rng_below(rng, n), -largest * size * kNear[sw_rng_below(rng, 5)]);
}

static void check_scaled(const sw_tensor *x, const sw_tensor *outputs, int kind, uint64_t seed) {
  const double scale = at(&outputs[1], 0), inverse = at(&outputs[2], 0);
  double amax = 1e-12;
  int exponent;
  for (int64_t i = 0; i < sw_buffer_elements(x); i++) amax = fmax(amax, fabs(at(x, i)));
  const double share = amax / kNarrow[kind].largest, slack = 1 + 0x1p-6;
  if (frexp(scale, &exponent) != 0.5 || scale * inverse != 1 || scale * slack < share || scale > 4 * share * slack)
    fail_msg("seed %llu: scale %g for values up to %g", (unsigned long long)seed, scale, amax);
  for (int64_t i = 0; i < sw_buffer_elements(x); i++) {
    const double v = at(x, i) / scale, got = at(&outputs[0], i);
    const double step = fmax(fabs(v), kNarrow[kind].least_normal) * ldexp(1, -kNarrow[kind].digits);
    if (!(fabs(got - v) <= step / 2)) fail_msg("seed %llu: %g became %g", (unsigned long long)seed, v, got);
  }
}

static void test_scales(void **state) {
  (void)state;
  static const sw_dtype kTypes[] = {SW_BF16, SW_F16, SW_F32, SW_F64};
  const uint64_t seed = check_seed(71);
  sw_rng rng;
  sw_rng_seed(&rng, seed);
  for (int k = 0; k < check_scale(200); k++) {
    const int kind = k % 2;
    swg_builder b;
    sw_tensor x, outputs[3];
    const sw_dtype t = kTypes[sw_rng_below(&rng, 4)];
    assert_ok(swg_begin(&b, "scaled", t, &diag));
    sw_id in = swg_arg(&b, "x", SW_VALUE_INPUT, t, SWG_SHAPE(3, 5));
    const swg_narrow made = swg_narrow_down(&b, "x.f8", in, kNarrow[kind].narrow);
    swg_output(&b, "values", made.values, -1);
    swg_output(&b, "scale", made.scale, -1);
    swg_output(&b, "inverse", made.inverse, -1);
    sw_graph *g = finished(&b);
    assert_ok(sw_tensor_init(&x, t, 2, (int64_t[]){3, 5}, &diag));
    draw(&rng, &x, kNarrow[kind].largest);
    if (t == SW_F16) /* its range is narrow */
      for (int64_t i = 0; i < 15; i++) put(&x, i, (2 * sw_rng_unit(&rng) - 1) * 1000);
    if (k % 20 == 0) memset(x.data, 0, (size_t)sw_buffer_elements(&x) * (size_t)sw_dtype_bytes(t));
    run(g, &x, outputs);
    check_scaled(&x, outputs, kind, seed);
    for (int i = 0; i < 3; i++) sw_tensor_deinit(&outputs[i]);
    sw_tensor_deinit(&x);
    sw_graph_destroy(g);
  }
}

/* --- products ----------------------------------------------------------------------------------------------------- */

enum { ROWS = 6, IN = 5, MIDDLE = 4, OUT = 7 };

/* loss = sum of ((x w1) w2) c; each layer in eight bits or not. */
static sw_graph *two_layers(sw_dtype t, swg_products *p, const swg_how *how) {
  swg_builder b;
  sw_graph *g, *step;
  assert_ok(swg_begin(&b, "layers", t, &diag));
  b.products = p;
  sw_id x = swg_arg(&b, "x", SW_VALUE_PARAMETER, t, SWG_SHAPE(2, ROWS / 2, IN));
  sw_id c = swg_arg(&b, "c", SW_VALUE_INPUT, t, SWG_SHAPE(2, ROWS / 2, OUT));
  sw_id h = swg_linear(&b, "h", "bsd,de->bse", x, "w1", SWG_SHAPE(IN, MIDDLE));
  sw_id y = swg_linear(&b, "y", "bse,ef->bsf", h, "w2", SWG_SHAPE(MIDDLE, OUT));
  sw_id weighted = swg_binary(&b, SW_OP_MULTIPLY, "weighted", y, c);
  swg_output(&b, "loss", swg_reduce(&b, "total", "sum", weighted, SWG_SHAPE(0, 1, 2)), -1);
  g = finished(&b);
  assert_ok(swg_train_step(g, how, &step, &diag));
  sw_graph_destroy(g);
  return step;
}

/* Integers of few digits; of a weight, one in every row or in every column. */
static void draw_args(sw_rng *rng, const sw_graph *g, sw_tensor *args) {
  for (int i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    sw_tensor *t = &args[i];
    assert_ok(sw_tensor_init(t, v->type.dtype, v->type.rank, v->type.dims, &diag));
    const int64_t n = sw_buffer_elements(t), row = v->type.dims[v->type.rank - 1];
    memset(t->data, 0, (size_t)n * (size_t)sw_dtype_bytes(t->dtype));
    const double sign = sw_rng_below(rng, 2) ? 2 : -1;
    if (strcmp(v->name, "w1") == 0)
      for (int64_t k = 0; k < row; k++) put(t, sw_rng_below(rng, n / row) * row + k, sign);
    else if (strcmp(v->name, "w2") == 0)
      for (int64_t k = 0; k < n / row; k++) put(t, k * row + sw_rng_below(rng, row), sign);
    else
      for (int64_t k = 0; k < n; k++) put(t, k, (double)sw_rng_below(rng, 7) - 3);
  }
}

/* What eight bits hold exactly is worked out exactly: a step in them is the step without, bit for bit. */
static void test_exact(void **state) {
  (void)state;
  static const sw_dtype kTypes[] = {SW_BF16, SW_F16, SW_F32, SW_F64};
  const uint64_t seed = check_seed(83);
  sw_rng rng;
  sw_rng_seed(&rng, seed);
  for (int k = 0; k < check_scale(48); k++) {
    const sw_dtype t = kTypes[k % 4];
    sw_tensor args[MAX_VALUES], outputs[2][MAX_VALUES];
    swg_products p = {.forward = SW_F8E4M3FN, .gradient = k / 4 % 2 ? SW_F8E5M2 : SW_F8E4M3FN, .multiply = true};
    swg_how how = {.converts_again = k / 8 % 2, .wide_gradients = k / 16 % 2};
    sw_graph *plain = two_layers(t, NULL, &how);
    how.products = &p;
    sw_graph *narrow = two_layers(t, &p, &how);
    assert_int_equal(p.done.n, 2);
    assert_int_equal(plain->n_args, narrow->n_args);
    draw_args(&rng, plain, args);
    run(plain, args, outputs[0]);
    run(narrow, args, outputs[1]);
    for (int i = 0; i < plain->n_outputs; i++) {
      for (int64_t j = 0; j < sw_buffer_elements(&outputs[0][i]); j++)
        if (at(&outputs[0][i], j) != at(&outputs[1][i], j))
          fail_msg("seed %llu, case %d: '%s' is %g, with eight bits %g", (unsigned long long)seed, k,
                   plain->output_names[i], at(&outputs[0][i], j), at(&outputs[1][i], j));
      sw_tensor_deinit(&outputs[0][i]);
      sw_tensor_deinit(&outputs[1][i]);
    }
    for (int i = 0; i < plain->n_args; i++) sw_tensor_deinit(&args[i]);
    sw_array_free(&p.done);
    sw_graph_destroy(plain);
    sw_graph_destroy(narrow);
  }
}

/* A plan by rule, or at random; false: the random one is not legal. */
static bool draw_plan(sw_rng *rng, int k, const sw_graph *g, const sw_machine *machine, sw_arena *arena,
                      sw_plan *plan) {
  if (k % 4 == 0) {
    assert_ok(sw_baseline_build(JOB(g, machine), (sw_baseline)(k / 4 % SW_BASELINE_COUNT), arena, plan, &diag));
    return true;
  }
  return random_plan(JOB(g, machine), rng, arena, plan, &diag) == SW_OK;
}

/* The same on several devices, however it is cut: a scale is that of the whole tensor. */
static void test_devices(void **state) {
  (void)state;
  static const char *const kMeshes[] = {"x=2,y=2", "x=3", "x=2,y=3"};
  const uint64_t seed = check_seed(97);
  sw_rng rng;
  int runs = 0;
  sw_rng_seed(&rng, seed);
  for (int k = 0; k < check_scale(80); k++) {
    sw_arena arena = {0};
    sw_plan plan;
    sw_validation v;
    sw_tensor args[MAX_VALUES], one[MAX_VALUES], many[MAX_VALUES];
    swg_products p = {.forward = SW_F8E4M3FN, .gradient = k % 2 ? SW_F8E5M2 : SW_F8E4M3FN, .multiply = true};
    const swg_how how = {.converts_again = k / 2 % 2, .wide_gradients = k / 4 % 2, .products = &p};
    sw_graph *g = two_layers(k % 3 ? SW_F32 : SW_BF16, &p, &how);
    if (draw_plan(&rng, k, g, machine_of("local", kMeshes[k % 3], &arena), &arena, &plan)) {
      draw_args(&rng, g, args);
      run(g, args, one);
      const sw_validate_options o = {
          .seed = seed, .timeout_s = 60, .inputs = args, .outputs = many, .intermediates = true};
      assert_ok(sw_validate(&plan, &o, &arena, &v, &diag));
      assert_true(v.matches);
      for (int i = 0; i < g->n_outputs; i++) {
        for (int64_t j = 0; j < sw_buffer_elements(&one[i]); j++)
          if (at(&one[i], j) != at(&many[i], j))
            fail_msg("seed %llu, case %d: '%s' is %g, on devices %g", (unsigned long long)seed, k, g->output_names[i],
                     at(&one[i], j), at(&many[i], j));
        sw_tensor_deinit(&one[i]);
        sw_tensor_deinit(&many[i]);
      }
      for (int i = 0; i < g->n_args; i++) sw_tensor_deinit(&args[i]);
      runs++;
    }
    sw_array_free(&p.done);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  assert_true(2 * runs > check_scale(80));
}

/* y is x rounded, bit for bit, and z the product of that. */
static void check_rounded(const sw_plan *plan, sw_rng *rng, uint64_t seed, sw_arena *arena) {
  const sw_graph *g = plan->job.graph;
  sw_validation v;
  sw_tensor args[2], outputs[2];
  for (int i = 0; i < 2; i++) {
    const sw_type *t = &g->values[g->args[i]].type;
    assert_ok(sw_tensor_init(&args[i], t->dtype, t->rank, t->dims, &diag));
    for (int64_t j = 0; j < sw_buffer_elements(&args[i]); j++) put(&args[i], j, 2 * sw_rng_unit(rng) - 1);
  }
  const sw_validate_options o = {.seed = seed, .timeout_s = 60, .inputs = args, .outputs = outputs};
  assert_ok(sw_validate(plan, &o, arena, &v, &diag));
  assert_true(v.matches);
  for (int64_t j = 0; j < sw_buffer_elements(&args[0]); j++) {
    char byte[8];
    sw_element_store(SW_F8E5M2, at(&args[0], j), byte);
    if (at(&outputs[0], j) != sw_element_load(SW_F8E5M2, byte))
      fail_msg("seed %llu: %g became %g", (unsigned long long)seed, at(&args[0], j), at(&outputs[0], j));
  }
  for (int i = 0; i < 2; i++) {
    sw_tensor_deinit(&args[i]);
    sw_tensor_deinit(&outputs[i]);
  }
}

/* Narrow values stay rounded, and factors of products alike, when a plan has them partial. */
static void test_partial(void **state) {
  (void)state;
  const uint64_t seed = check_seed(101);
  sw_rng rng;
  int runs = 0;
  sw_rng_seed(&rng, seed);
  for (int k = 0; k < check_scale(200); k++) {
    sw_arena arena = {0};
    sw_graph *g;
    sw_plan plan;
    assert_ok(program_of("x f32 6,4; w f8e4m3fn 4,8", NULL,
                         "n = convert(x) 'dtype':'f8e5m2'; y = convert(n) 'dtype':'f32'; z = dot_general(n, w) "
                         "'lhs_contract':[1],'rhs_contract':[0],'dtype':'f32'",
                         "y, z", &g, &diag));
    if (random_plan(JOB(g, machine_of("local", "x=2,y=2", &arena)), &rng, &arena, &plan, &diag) == SW_OK) {
      check_rounded(&plan, &rng, seed, &arena);
      runs++;
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  assert_true(4 * runs > check_scale(200));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_scales), cmocka_unit_test(test_exact),
                                     cmocka_unit_test(test_devices), cmocka_unit_test(test_partial)};
  return cmocka_run_group_tests_name("linear", tests, NULL, NULL);
}
