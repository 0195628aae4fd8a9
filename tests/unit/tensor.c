/* Tensors: fills, padding, comparison, and the conversions against the element-wise definition. */
#include <math.h>

#include "check.h"

#include "exec/kernels/native.h"
#include "collective/scalar.h"
#include "shardwright/tensor.h"

static sw_tensor floats(int n, const float *values) {
  sw_tensor t;
  assert_ok(sw_tensor_init(&t, SW_F32, 1, (int64_t[]){n}, &diag));
  memcpy(t.data, values, (size_t)n * sizeof *values);
  return t;
}

static void shapes_are_checked(void **state) {
  (void)state;
  sw_tensor t;
  assert_int_equal(sw_tensor_init(&t, SW_F32, 13, NULL, &diag), SW_E_INPUT);
  assert_int_equal(sw_tensor_init(&t, SW_F32, 1, (int64_t[]){-1}, &diag), SW_E_INPUT);
  assert_int_equal(sw_tensor_init(&t, SW_F32, 2, (int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40}, &diag), SW_E_INPUT);
  sw_mem_fail_after(1);
  assert_int_equal(sw_tensor_init(&t, SW_F32, 1, (int64_t[]){9}, &diag), SW_E_RESOURCE);
  sw_mem_fail_after(0);
  assert_null(t.data);
  sw_tensor_deinit(&t);
  assert_ok(sw_tensor_init(&t, SW_F32, 0, NULL, &diag));
  assert_int_equal(sw_buffer_elements(&t), 1);
  sw_tensor_deinit(&t);
}

static void small_fills_are_small_signed_and_distinct(void **state) {
  (void)state;
  for (int t = 0; t < SW_DTYPE_COUNT; t++) {
    sw_dtype_class class = sw_dtype_class_of((sw_dtype)t);
    if (class == SW_CLASS_COMPLEX || class == SW_CLASS_TOKEN || class == SW_CLASS_BOOL) continue;
    sw_tensor x;
    int64_t below = 0, above = 0, n = 1001;
    double before = 1e9;
    assert_ok(sw_tensor_init(&x, (sw_dtype)t, 1, &n, &diag));
    assert_ok(sw_tensor_fill(&x, &(sw_fill){.kind = SW_FILL_SMALL, .seed = 3, .limit = 6}, &diag));
    for (int64_t i = 0; i < n; i++) {
      double v = sw_element_load((sw_dtype)t, (const char *)x.data + i * sw_dtype_bytes((sw_dtype)t));
      if (t == SW_F8E8M0FNU) { /* powers of two */
        assert_true(v == 1 || v == 2 || v == 4 || v == 8);
        continue;
      }
      assert_true(v == floor(v) && fabs(v) <= 6);
      if (i % 2 && t != SW_I2) assert_true(v != before); /* three numbers are drawn each for itself */
      before = v;
      below += v<0, above += v> 0;
    }
    if (t != SW_F8E8M0FNU) assert_true(above > 300 && (below > 300) == (class != SW_CLASS_UNSIGNED));
    sw_tensor_deinit(&x);
  }
}

static void index_fills_stay_below_the_limit(void **state) {
  (void)state;
  sw_tensor x;
  int seen[5] = {0};
  assert_ok(sw_tensor_init(&x, SW_I32, 1, (int64_t[]){500}, &diag));
  assert_ok(sw_tensor_fill(&x, &(sw_fill){.kind = SW_FILL_INDEX, .seed = 9, .limit = 5}, &diag));
  for (int i = 0; i < 500; i++) {
    int32_t v = ((const int32_t *)x.data)[i];
    assert_true(v >= 0 && v < 5);
    seen[v]++;
  }
  for (int i = 0; i < 5; i++) assert_true(seen[i] > 50);
  sw_tensor_deinit(&x);
}

static void padding_alone_is_poisoned(void **state) {
  (void)state;
  sw_tensor x;
  assert_ok(sw_tensor_init(&x, SW_F32, 3, (int64_t[]){3, 4, 5}, &diag));
  x.valid[0] = 2, x.valid[1] = 4, x.valid[2] = 3;
  sw_buffer_poison_padding(&x);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 4; j++) {
      for (int k = 0; k < 5; k++) {
        float v = ((const float *)x.data)[(i * 4 + j) * 5 + k];
        assert_true(i < 2 && k < 3 ? v == 0 : isnan(v));
      }
    }
  }
  sw_tensor_deinit(&x);
}

static void comparison_finds_first_and_worst(void **state) {
  (void)state;
  sw_tensor got = floats(6, (float[]){1, NAN, -0.0F, 4.5F, 5, INFINITY});
  sw_tensor want = floats(6, (float[]){1, NAN, 0.0F, 4, 10, INFINITY});
  sw_difference x;
  sw_text text = {0};
  assert_ok(sw_tensor_compare(&got, &want, (sw_tolerance){0}, &x, &diag));
  assert_int_equal(x.compared, 6);
  assert_int_equal(x.differing, 2);
  sw_difference_print(&x, 1, &text);
  assert_string_equal(sw_text_str(&text),
                      "2 of 6 elements differ; first at [3]: got 4.5, expected 4; worst at [4]: got 5, expected 10 "
                      "(relative 0.5, 5.24e+06 ulp)");
  sw_text_free(&text);
  assert_ok(sw_tensor_compare(&got, &want, (sw_tolerance){.relative = 0.2}, &x, &diag));
  assert_int_equal(x.differing, 1);
  assert_int_equal(x.first[0], 4);
  assert_ok(sw_tensor_compare(&got, &want, (sw_tolerance){.absolute = 5}, &x, &diag));
  assert_int_equal(x.differing, 0);
  sw_tensor_deinit(&got);
  sw_tensor_deinit(&want);
}

static void no_tolerance_lets_nan_or_infinity_pass(void **state) {
  (void)state;
  sw_tensor got = floats(4, (float[]){NAN, INFINITY, 1, INFINITY}), want = floats(4, (float[]){1, 1, NAN, -INFINITY});
  sw_difference x;
  assert_ok(sw_tensor_compare(&got, &want, (sw_tolerance){1e9, 1e9}, &x, &diag));
  assert_int_equal(x.differing, 4);
  assert_true(isinf(x.worst_relative));
  sw_tensor_deinit(&got);
  sw_tensor_deinit(&want);
}

static void integers_compare_exactly(void **state) {
  (void)state;
  sw_tensor got, want;
  sw_difference x;
  assert_ok(sw_tensor_init(&got, SW_U64, 2, (int64_t[]){1, 2}, &diag));
  assert_ok(sw_tensor_copy(&want, &got, &diag));
  ((uint64_t *)got.data)[1] = UINT64_MAX;
  ((uint64_t *)want.data)[1] = UINT64_MAX - 1; /* the same double */
  assert_ok(sw_tensor_compare(&got, &want, sw_tolerance_for(SW_U64, 100, 1), &x, &diag));
  assert_int_equal(x.differing, 1);
  assert_int_equal(x.first[1], 1);
  assert_true(x.worst_absolute == 1);
  want.dims[1] = 1;
  assert_int_equal(sw_tensor_compare(&got, &want, (sw_tolerance){0}, &x, &diag), SW_E_INPUT);
  sw_tensor_deinit(&got);
  sw_tensor_deinit(&want);
}

/* Sums of n numbers in f32, in several orders, stay within the tolerance of the exact sum; a wrong term does not. */
static void the_tolerance_fits_sums(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(17));
  for (int n = 2; n <= 20000; n *= 10) {
    for (int round = 0; round < 20; round++) {
      float up = 0;
      double exact = 0;
      for (int i = 0; i < n; i++) {
        float v = (float)(2 * sw_rng_unit(&rng) - (round % 2 ? 1 : 0));
        up += v, exact += v;
      }
      sw_tolerance t = sw_tolerance_for(SW_F32, n, 1);
      double allowed = t.absolute + t.relative * fabs(exact);
      assert_true(fabs(up - exact) <= allowed);
      assert_true(allowed < 1); /* a term too few shows */
    }
  }
}

/* Every pair of dtypes: special values, random bits, and numbers near the ends of integer ranges. */
static void conversions_agree_with_the_definition(void **state) {
  (void)state;
  enum { N = 1500 };
  static const double kSpecial[] = {
      0,      -0.0,  0.5,     -0.5,  1.5,   2.5,        127,          128,           -128,     -129,
      255,    256,   32767.5, 65504, 65520, 2147483647, 2147483648.0, -2147483649.0, 9.3e18,   -9.3e18,
      1.9e19, 1e300, -1e300,  3e38,  1e-40, 1e-310,     NAN,          INFINITY,      -INFINITY};
  enum { N_SPECIAL = sizeof kSpecial / sizeof kSpecial[0] };
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(23));
  static uint64_t source[N], got[N], want[N];
  for (int from = 0; from < SW_DTYPE_COUNT; from++) {
    if (!sw_convertible((sw_dtype)from)) continue;
    size_t from_bytes = (size_t)sw_dtype_bytes((sw_dtype)from);
    for (int i = 0; i < N; i++) {
      char *at = (char *)source + (size_t)i * from_bytes;
      uint64_t bits = sw_rng_next(&rng), thin = sw_rng_next(&rng);
      bits &= thin; /* small numbers too */
      if (i < N_SPECIAL) {
        sw_element_store((sw_dtype)from, kSpecial[i], at);
      } else {
        memcpy(at, &bits, from_bytes);
      }
      if (sw_dtype_bits((sw_dtype)from) < 8) *at = (char)(*at & ((1 << sw_dtype_bits((sw_dtype)from)) - 1));
      if (sw_dtype_container((sw_dtype)from) != (sw_dtype)from)
        *at = (char)sw_dtype_wrap((sw_dtype)from, (uint64_t)*at);
    }
    for (int to = 0; to < SW_DTYPE_COUNT; to++) {
      if (!sw_convertible((sw_dtype)to)) continue;
      memset(got, 0x77, sizeof got);
      sw_convert((sw_dtype)from, source, (sw_dtype)to, got, N);
      sw_convert_elements((sw_dtype)to, want, (sw_dtype)from, source, N);
      size_t bytes = (size_t)sw_dtype_bytes((sw_dtype)to);
      for (int i = 0; i < N; i++) {
        const char *g = (const char *)got + (size_t)i * bytes, *w = (const char *)want + (size_t)i * bytes;
        bool nan = isnan(sw_element_load((sw_dtype)to, g)) && isnan(sw_element_load((sw_dtype)to, w));
        if (nan || memcmp(g, w, bytes) == 0) continue;
        fail_msg("%s to %s: %.17g gives %.17g, expected %.17g", sw_dtype_text((sw_dtype)from),
                 sw_dtype_text((sw_dtype)to), sw_element_load((sw_dtype)from, (char *)source + (size_t)i * from_bytes),
                 sw_element_load((sw_dtype)to, g), sw_element_load((sw_dtype)to, w));
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_are_checked),
                                     cmocka_unit_test(small_fills_are_small_signed_and_distinct),
                                     cmocka_unit_test(index_fills_stay_below_the_limit),
                                     cmocka_unit_test(padding_alone_is_poisoned),
                                     cmocka_unit_test(comparison_finds_first_and_worst),
                                     cmocka_unit_test(no_tolerance_lets_nan_or_infinity_pass),
                                     cmocka_unit_test(integers_compare_exactly),
                                     cmocka_unit_test(the_tolerance_fits_sums),
                                     cmocka_unit_test(conversions_agree_with_the_definition)};
  return cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
}
