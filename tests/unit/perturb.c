/* The perturbation that finds out what rounding may do: no element moves further than a unit in its last place, some do
 * move, and what a cancellation leaves shows up as far as its terms' last places. */
#include "check.h"

#include <math.h>

#include "exec/kernels/native.h"
#include "exec/validate/perturb.h"
#include "exec/validate/single.h"
#include "shardwright/program.h"

enum { ELEMENTS = 700 };

static void make(sw_tensor *t, sw_dtype dtype, const double *v) {
  int64_t dims[1] = {ELEMENTS};
  assert_ok(sw_tensor_init(t, dtype, 1, dims, &diag));
  sw_convert(SW_F64, v, dtype, t->data, ELEMENTS);
}

static void random_row(sw_rng *rng, double least, double most, double *v) {
  for (int i = 0; i < ELEMENTS; i++) {
    v[i] = (least + (most - least) * sw_rng_unit(rng)) * (sw_rng_below(rng, 2) ? 1 : -1);
  }
}

static const double *all_of(double v) {
  static double row[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++) row[i] = v;
  return row;
}

/* Distance between neighbours around v. */
static double last_place(sw_dtype dtype, double v) { return 2 * sw_unit_roundoff(dtype) * exp2(floor(log2(fabs(v)))); }

static void perturbation_moves_by_a_last_place(void **state) {
  (void)state;
  static const sw_dtype kTypes[] = {SW_F64, SW_F32, SW_F16, SW_BF16, SW_F8E4M3FN, SW_F8E5M2};
  double v[ELEMENTS], was[ELEMENTS], is[ELEMENTS];
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(3));
  for (size_t k = 0; k < sizeof kTypes / sizeof kTypes[0]; k++) {
    sw_tensor t;
    int moved = 0;
    random_row(&rng, 0.3, 6, v);
    make(&t, kTypes[k], v);
    sw_convert(kTypes[k], t.data, SW_F64, was, ELEMENTS);
    sw_perturb(&t, NULL, &rng);
    sw_convert(kTypes[k], t.data, SW_F64, is, ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++) {
      /* a unit of relative size, rounded to a neighbour: two places where these are close to a power of two */
      assert_true(fabs(is[i] - was[i]) <= 2 * last_place(kTypes[k], was[i]));
      moved += is[i] != was[i];
    }
    assert_in_range(moved, ELEMENTS / 3, ELEMENTS);
    sw_tensor_deinit(&t);
  }
}

/* Masks of -inf or the lowest number: one step further and differences of them are NaN. */
static void the_largest_stay(void **state) {
  (void)state;
  static const sw_dtype kTypes[] = {SW_F64, SW_F32, SW_F16, SW_BF16, SW_F8E4M3FN, SW_F8E5M2};
  static const double kLargest[] = {0x1.fffffffffffffp1023, 0x1.fffffep127, 65504, 0x1.fep127, 448, 57344};
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(7));
  for (size_t k = 0; k < sizeof kTypes / sizeof kTypes[0]; k++) {
    double v[ELEMENTS], was[ELEMENTS], is[ELEMENTS];
    sw_tensor t;
    for (int i = 0; i < ELEMENTS; i++) v[i] = i % 3 ? i % 3 == 1 ? -kLargest[k] : kLargest[k] : -INFINITY;
    make(&t, kTypes[k], v);
    sw_convert(kTypes[k], t.data, SW_F64, was, ELEMENTS);
    assert_true(was[1] == -kLargest[k]);
    sw_perturb(&t, all_of(1), &rng);
    sw_convert(kTypes[k], t.data, SW_F64, is, ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++) assert_true(is[i] == was[i] || (isnan(is[i]) && isnan(was[i])));
    sw_tensor_deinit(&t);
  }
}

static void exact_numbers_stay(void **state) {
  (void)state;
  double v[ELEMENTS], is[ELEMENTS];
  sw_tensor t;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(4));
  for (int i = 0; i < ELEMENTS; i++) v[i] = i - 300;
  make(&t, SW_F32, v);
  sw_perturb(&t, all_of(1e6), &rng);
  sw_convert(SW_F32, t.data, SW_F64, is, ELEMENTS);
  assert_memory_equal(v, is, sizeof v);
  sw_tensor_deinit(&t);
}

/* (a + big) - big in f32: perturbed sums differ by last places of big, whatever is left of a. */
static void a_least_size_shows_cancelled_terms(void **state) {
  (void)state;
  double v[ELEMENTS];
  sw_tensor sharp, perturbed;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(5));
  random_row(&rng, 1e-6, 1e-5, v);
  make(&sharp, SW_F32, v);
  make(&perturbed, SW_F32, v);
  sw_perturb(&perturbed, all_of(1e4), &rng);
  double noise = sw_farthest(&sharp, &perturbed);
  assert_true(noise > 0.5 * 1e4 * ldexp(1, -23) && noise < 2 * 1e4 * ldexp(1, -23));
  ((float *)perturbed.data)[7] = INFINITY; /* not a distance */
  assert_true(sw_farthest(&sharp, &perturbed) <= noise && sw_farthest(&sharp, &perturbed) > noise / 2);
  assert_true(sw_magnitude(&perturbed) < 2 * noise);
  sw_tensor_deinit(&sharp);
  sw_tensor_deinit(&perturbed);
}

static void complex_numbers_have_parts(void **state) {
  (void)state;
  int64_t dims[1] = {2};
  sw_tensor a, b;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(6));
  assert_ok(sw_tensor_init(&a, SW_C64, 1, dims, &diag));
  float parts[4] = {0.1F, -0.2F, 0.3F, -7.7F};
  memcpy(a.data, parts, sizeof parts);
  assert_true(sw_magnitude(&a) == 7.7F);
  assert_ok(sw_tensor_copy(&b, &a, &diag));
  for (int i = 0; i < 8; i++) sw_perturb(&b, NULL, &rng);
  assert_true(sw_farthest(&a, &b) > 0 && sw_farthest(&a, &b) < 1e-5);
  sw_tensor_deinit(&a);
  sw_tensor_deinit(&b);
}

/* What is read narrow is no rounding, what is computed narrow is, whatever it becomes; also around a loop. */
static void coarse_roundings_are_followed(void **state) {
  (void)state;
  static const char kText[] =
      "func.func @main(%w: tensor<8xbf16>, %x: tensor<8xf32>, %n: tensor<i32>) -> (tensor<8xf32>, tensor<8xf16>, "
      "tensor<8xf32>) {\n"
      "  %read = stablehlo.convert %w : (tensor<8xbf16>) -> tensor<8xf32>\n"
      "  %fine = stablehlo.add %read, %x : tensor<8xf32>\n"
      "  %square = stablehlo.multiply %w, %w : tensor<8xbf16>\n"
      "  %moved = stablehlo.reverse %square, dims = [0] : tensor<8xbf16>\n"
      "  %wide = stablehlo.convert %moved : (tensor<8xbf16>) -> tensor<8xf32>\n"
      "  %narrowed = stablehlo.convert %fine : (tensor<8xf32>) -> tensor<8xf16>\n"
      "  %sum = stablehlo.add %wide, %fine : tensor<8xf32>\n"
      "  %loop:2 = stablehlo.while(%i = %n, %s = %x) : tensor<i32>, tensor<8xf32>\n"
      "  cond {\n"
      "    %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "    %more = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %more : tensor<i1>\n"
      "  } do {\n"
      "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "    %less = stablehlo.subtract %i, %one : tensor<i32>\n"
      "    %inside = stablehlo.negate %s : tensor<8xf32>\n"
      "    %half = stablehlo.convert %inside : (tensor<8xf32>) -> tensor<8xf16>\n"
      "    %back = stablehlo.convert %half : (tensor<8xf16>) -> tensor<8xf32>\n"
      "    stablehlo.return %less, %back : tensor<i32>, tensor<8xf32>\n"
      "  }\n"
      "  %last = stablehlo.add %loop#1, %fine : tensor<8xf32>\n"
      "  return %last, %narrowed, %sum : tensor<8xf32>, tensor<8xf16>, tensor<8xf32>\n"
      "}\n";
  static const struct {
    const char *name;
    sw_dtype coarsest;
  } kWant[] = {{"w", SW_F64},     {"read", SW_F64},     {"fine", SW_F32}, {"square", SW_BF16}, {"moved", SW_BF16},
               {"wide", SW_BF16}, {"narrowed", SW_F16}, {"sum", SW_BF16}, {"inside", SW_F16},  {"last", SW_F16}};
  sw_arena arena = {0};
  sw_program *p;
  sw_dtype *coarsest;
  assert_ok(sw_program_parse("t", kText, sizeof kText - 1, &(sw_program_options){.keep = SW_KEEP_ALL}, &p, &diag));
  const sw_graph *g = sw_program_graph(p);
  assert_ok(sw_single_find_coarsest(g, &arena, &coarsest, &diag));
  for (size_t i = 0; i < sizeof kWant / sizeof *kWant; i++) {
    sw_id id = 0;
    while (id < g->n_values && strcmp(g->values[id].name, kWant[i].name) != 0) id++;
    assert_true(id < g->n_values);
    if (coarsest[id] != kWant[i].coarsest) {
      fail_msg("%s: %s; expected %s", kWant[i].name, sw_dtype_text(coarsest[id]), sw_dtype_text(kWant[i].coarsest));
    }
  }
  sw_program_destroy(p);
  sw_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(perturbation_moves_by_a_last_place),
      cmocka_unit_test(the_largest_stay),
      cmocka_unit_test(exact_numbers_stay),
      cmocka_unit_test(a_least_size_shows_cancelled_terms),
      cmocka_unit_test(complex_numbers_have_parts),
      cmocka_unit_test(coarse_roundings_are_followed),
  };
  return cmocka_run_group_tests_name("perturb", tests, NULL, NULL);
}
