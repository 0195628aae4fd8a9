/* Dtypes, scalars and reductions: names, exact conversions against brute force, identities. */
#include "check.h"

#include <math.h>

#include "shardwright/dtype.h"
#include "collective/scalar.h"

static void every_name_parses_back(void **state) {
  (void)state;
  for (int t = 0; t < SW_DTYPE_COUNT; t++) {
    sw_dtype back;
    assert_true(sw_dtype_parse(sw_dtype_text((sw_dtype)t), &back));
    assert_int_equal(back, t);
    assert_true(sw_dtype_parse(sw_dtype_mlir((sw_dtype)t), &back));
    assert_int_equal(back, t);
  }
  for (int r = 0; r < SW_REDUCTION_COUNT; r++) {
    sw_reduction back;
    assert_true(sw_reduction_parse(sw_reduction_text((sw_reduction)r), &back));
    assert_int_equal(back, r);
  }
  sw_dtype t;
  assert_true(sw_dtype_parse("bfloat16", &t));
  assert_int_equal(t, SW_BF16);
  assert_true(sw_dtype_parse("uint8", &t));
  assert_int_equal(t, SW_U8);
  assert_string_equal(sw_dtype_mlir(SW_BOOL), "i1");
  assert_string_equal(sw_dtype_mlir(SW_U8), "ui8");
  assert_string_equal(sw_dtype_mlir(SW_C64), "complex<f32>");
  assert_int_equal(sw_dtype_bytes(SW_BOOL), 1);
  assert_int_equal(sw_dtype_bytes(SW_C128), 16);
  assert_int_equal(sw_dtype_bytes(SW_TOKEN), 0);
  assert_string_equal(sw_dtype_mlir(SW_U4), "ui4");
  assert_string_equal(sw_dtype_mlir(SW_F4E2M1FN), "f4E2M1FN");
  assert_true(sw_dtype_bytes(SW_I4) == 1 && sw_dtype_bits(SW_I4) == 4 && sw_dtype_bits(SW_BOOL) == 1);
  assert_false(sw_dtype_parse("f33", &t));
}

static uint32_t code_at(sw_dtype t, const void *p) {
  uint16_t h = 0;
  memcpy(&h, p, (size_t)sw_dtype_bytes(t));
  return h;
}

static double decoded(sw_dtype t, uint32_t code) {
  uint16_t cell = (uint16_t)code;
  return sw_element_load(t, &cell);
}

static uint32_t encoded(sw_dtype t, double v) {
  uint16_t cell = 0;
  sw_element_store(t, v, &cell);
  return code_at(t, &cell);
}

/* Every code decodes and encodes to itself, and everything between two neighbours goes to the nearer one. */
static void check_minifloat(sw_dtype t) {
  uint32_t sign = 1u << (sw_dtype_bits(t) - 1), before_code = 0;
  bool no_minus_zero = isnan(decoded(t, sign));
  double before = 0;
  for (uint32_t c = 0; c < sign; c++) {
    double v = decoded(t, c);
    if (isnan(v)) continue;
    assert_int_equal(encoded(t, v), c);
    assert_int_equal(encoded(t, -v), c == 0 && no_minus_zero ? 0 : c | sign);
    if (c > 0 && !isinf(v)) {
      double middle = (before + v) / 2;
      assert_int_equal(encoded(t, middle), before_code & 1 ? c : before_code);
      assert_int_equal(encoded(t, nextafter(middle, INFINITY)), c);
      assert_int_equal(encoded(t, nextafter(middle, 0)), before_code);
    }
    before = v;
    before_code = c;
  }
  bool finite = sw_dtype_bits(t) < 8;
  assert_true(finite ? encoded(t, NAN) == sign : isnan(decoded(t, encoded(t, NAN))));
}

static void small_floats_round_to_nearest_even(void **state) {
  (void)state;
  for (int t = 0; t < SW_DTYPE_COUNT; t++) {
    bool is_float = sw_dtype_class_of((sw_dtype)t) == SW_CLASS_FLOAT;
    if (is_float && sw_dtype_bits((sw_dtype)t) <= 16 && t != SW_F8E8M0FNU) check_minifloat((sw_dtype)t);
  }
}

/* Codes as ml_dtypes 0.5 has them. */
static void known_small_floats(void **state) {
  (void)state;
  static const struct {
    sw_dtype t;
    double v;
    uint32_t code;
  } kRows[] = {
      {SW_F16, 1, 0x3c00},
      {SW_F16, 65504, 0x7bff},
      {SW_F16, 65520, 0x7c00},
      {SW_F16, 0x1p-24, 0x0001},
      {SW_F16, 0x1p-25, 0},
      {SW_BF16, 1, 0x3f80},
      {SW_BF16, -2, 0xc000},
      {SW_F8E4M3FN, 448, 0x7e},
      {SW_F8E4M3FN, 464, 0x7e},
      {SW_F8E4M3FN, 465, 0x7f},
      {SW_F8E4M3FN, 0x1p-9, 1},
      {SW_F8E5M2, 57344, 0x7b},
      {SW_F8E5M2, 61440, 0x7c},
      {SW_F8E5M2, 0x1p-16, 1},
      {SW_F8E4M3FN, 1e300, 0x7f},
      {SW_F8E5M2, 1, 0x3c},
      {SW_F8E4M3, 1.5, 0x3c},
      {SW_F8E4M3, 240, 0x77},
      {SW_F8E4M3, 1e30, 0x78},
      {SW_F8E4M3, -9, 0xd1},
      {SW_F8E4M3, 0x1p-9, 1},
      {SW_F8E3M4, 15.5, 0x6f},
      {SW_F8E3M4, -9, 0xe2},
      {SW_F8E3M4, 0.75, 0x28},
      {SW_F8E3M4, 1e30, 0x70},
      {SW_F8E4M3FNUZ, 240, 0x7f},
      {SW_F8E4M3FNUZ, -9, 0xd9},
      {SW_F8E4M3FNUZ, -0.0, 0},
      {SW_F8E4M3FNUZ, -1e-30, 0},
      {SW_F8E4M3FNUZ, 1e30, 0x80},
      {SW_F8E4M3FNUZ, -INFINITY, 0x80},
      {SW_F8E4M3B11FNUZ, 30, 0x7f},
      {SW_F8E4M3B11FNUZ, 2.5, 0x62},
      {SW_F8E4M3B11FNUZ, 0x1p-13, 1},
      {SW_F8E5M2FNUZ, 57344, 0x7f},
      {SW_F8E5M2FNUZ, 0.75, 0x3e},
      {SW_F8E5M2FNUZ, -NAN, 0x80},
      {SW_F8E8M0FNU, 1, 0x7f},
      {SW_F8E8M0FNU, 1.5, 0x80},
      {SW_F8E8M0FNU, 3, 0x81},
      {SW_F8E8M0FNU, 2.5, 0x80},
      {SW_F8E8M0FNU, 5, 0x81},
      {SW_F8E8M0FNU, 0.75, 0x7f},
      {SW_F8E8M0FNU, 1e30, 0xe3},
      {SW_F8E8M0FNU, 1e-30, 0x1b},
      {SW_F8E8M0FNU, 0, 0xff},
      {SW_F8E8M0FNU, -9, 0xff},
      {SW_F8E8M0FNU, INFINITY, 0xff},
      {SW_F8E8M0FNU, 0x1p-127, 0},
      {SW_F8E8M0FNU, 0x1.8p-127, 1},
      {SW_F6E2M3FN, 7.5, 0x1f},
      {SW_F6E2M3FN, -9, 0x3f},
      {SW_F6E2M3FN, 0.125, 1},
      {SW_F6E2M3FN, 2.5, 0x12},
      {SW_F6E3M2FN, 28, 0x1f},
      {SW_F6E3M2FN, 0.0625, 1},
      {SW_F6E3M2FN, -9, 0x38},
      {SW_F6E3M2FN, INFINITY, 0x1f},
      {SW_F4E2M1FN, 6, 7},
      {SW_F4E2M1FN, 5, 6},
      {SW_F4E2M1FN, 2.5, 4},
      {SW_F4E2M1FN, 0.25, 0},
      {SW_F4E2M1FN, 0.75, 2},
      {SW_F4E2M1FN, -9, 0xf},
      {SW_F4E2M1FN, -1e-30, 8},
  };
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; i++)
    assert_int_equal(encoded(kRows[i].t, kRows[i].v), kRows[i].code);
  for (uint32_t c = 0; c < 255; c++) assert_true(decoded(SW_F8E8M0FNU, c) == ldexp(1, (int)c - 127));
  assert_true(isnan(decoded(SW_F8E8M0FNU, 255)));
}

static void fast_f16_agrees_with_the_plain_one(void **state) {
  (void)state;
  for (uint32_t c = 0; c < 0x10000; c++) {
    uint16_t h = (uint16_t)c;
    double plain = sw_element_load(SW_F16, &h);
    float fast = sw_f16_to_f32(h);
    assert_true(isnan(plain) ? isnan(fast) : (double)fast == plain && !signbit(fast) == !signbit(plain));
  }
  sw_rng r;
  sw_rng_seed(&r, check_seed(1));
  for (int i = 0; i < 200000; i++) {
    uint32_t bits = (uint32_t)sw_rng_next(&r);
    float f;
    memcpy(&f, &bits, sizeof f);
    uint16_t want = 0, bwant = 0;
    sw_element_store(SW_F16, (double)f, &want);
    sw_element_store(SW_BF16, (double)f, &bwant);
    if (isnan(f)) continue;
    assert_int_equal(sw_f32_to_f16(f), want);
    assert_int_equal(sw_f32_to_bf16(f), bwant);
  }
}

static uint64_t as_bits(sw_dtype from, sw_dtype to, sw_scalar v) {
  uint64_t cell[2] = {0};
  sw_scalar_store(to, sw_scalar_convert(from, to, v), cell);
  return cell[0];
}

static void integers_of_few_bits(void **state) {
  (void)state;
  for (int v = -300; v <= 300; v++) {
    sw_scalar whole = {.bits = (uint64_t)(int64_t)v}, real = {.re = v};
    int low = v & 15, as_signed = low > 7 ? low - 16 : low;
    assert_int_equal((int8_t)as_bits(SW_I32, SW_I4, whole), as_signed);
    assert_int_equal(as_bits(SW_I32, SW_U4, whole), low);
    assert_int_equal((int8_t)as_bits(SW_I32, SW_I2, whole), (v & 3) > 1 ? (v & 3) - 4 : v & 3);
    assert_int_equal((int8_t)as_bits(SW_F32, SW_I4, real), v < -8 ? -8 : v > 7 ? 7 : v);
    assert_int_equal(as_bits(SW_F32, SW_U2, real), v < 0 ? 0 : v > 3 ? 3 : v);
  }
}

static void conversions(void **state) {
  (void)state;
  sw_scalar nan = {.re = NAN}, big = {.re = 1e30}, minus = {.re = -1.9};
  assert_int_equal(as_bits(SW_F64, SW_I32, nan), 0);
  assert_int_equal(as_bits(SW_F32, SW_I8, big), 127);
  assert_int_equal(as_bits(SW_F32, SW_U64, big), UINT64_MAX);
  assert_int_equal(as_bits(SW_F32, SW_I64, big), INT64_MAX);
  assert_int_equal((int8_t)as_bits(SW_F64, SW_I8, minus), -1);
  assert_int_equal(as_bits(SW_F64, SW_U8, minus), 0);
  assert_int_equal(as_bits(SW_I32, SW_I8, (sw_scalar){.bits = 300}), 300 & 0xff);
  assert_int_equal(as_bits(SW_I8, SW_U16, (sw_scalar){.bits = (uint64_t)-1}), 0xffff);
  assert_int_equal(as_bits(SW_F64, SW_BOOL, nan), 1);
  assert_int_equal(as_bits(SW_I64, SW_BOOL, (sw_scalar){.bits = 256}), 1);
  /* 2^62 + 2^38 + 1 lies just above the middle of two f32: a detour over double would round it down. */
  uint64_t tie = (UINT64_C(1) << 62) + (UINT64_C(1) << 38) + 1;
  float f = (float)(int64_t)tie;
  uint32_t want;
  memcpy(&want, &f, sizeof want);
  assert_int_equal(as_bits(SW_I64, SW_F32, (sw_scalar){.bits = tie}), want);
  assert_int_equal(as_bits(SW_U64, SW_F32, (sw_scalar){.bits = tie}), want);
}

static void identities_leave_every_value(void **state) {
  (void)state;
  for (int t = 0; t < SW_DTYPE_COUNT; t++)
    for (int r = 0; r < SW_REDUCTION_COUNT; r++) {
      bool logical = r == SW_REDUCE_AND || r == SW_REDUCE_OR;
      if (r == SW_REDUCE_AVERAGE || r == SW_REDUCE_GENERIC || !sw_reduction_applies((sw_reduction)r, (sw_dtype)t))
        continue;
      for (int v = t == SW_F8E8M0FNU ? 1 : -3; v <= 3; v++) {
        uint64_t neutral[2] = {0}, cell[2] = {0}, got[2] = {0};
        sw_element_store((sw_dtype)t, v == 3 ? -0.0 : v, cell);
        sw_reduction_identity_bytes((sw_reduction)r, (sw_dtype)t, neutral);
        sw_scalar s = sw_reduction_combine((sw_reduction)r, (sw_dtype)t, sw_scalar_load((sw_dtype)t, cell),
                                           sw_scalar_load((sw_dtype)t, neutral));
        sw_scalar_store((sw_dtype)t, s, got);
        bool imaginary_zero = sw_dtype_class_of((sw_dtype)t) == SW_CLASS_COMPLEX; /* -0 + 0i: signs of zero vary */
        if (logical || imaginary_zero)
          assert_true((sw_element_load((sw_dtype)t, got) != 0) == (sw_element_load((sw_dtype)t, cell) != 0));
        else
          assert_memory_equal(got, cell, sizeof got);
      }
    }
}

static double reduce2(sw_reduction r, sw_dtype t, double a, double b) {
  sw_scalar v = sw_reduction_combine(r, t, (sw_scalar){.re = a}, (sw_scalar){.re = b});
  return sw_reduction_finish(r, t, v, 2).re;
}

static void reductions_keep_ieee_rules(void **state) {
  (void)state;
  assert_true(isnan(reduce2(SW_REDUCE_MIN, SW_F32, NAN, 1)));
  assert_true(isnan(reduce2(SW_REDUCE_MAX, SW_F32, 1, NAN)));
  assert_true(signbit(reduce2(SW_REDUCE_MIN, SW_F64, 0.0, -0.0)));
  assert_false(signbit(reduce2(SW_REDUCE_MAX, SW_F64, -0.0, 0.0)));
  assert_true(reduce2(SW_REDUCE_AVERAGE, SW_F32, 1, 2) == 1.5);
  sw_scalar v = {.bits = 100};
  v = sw_reduction_combine(SW_REDUCE_AVERAGE, SW_I8, v, v);
  assert_int_equal(sw_reduction_finish(SW_REDUCE_AVERAGE, SW_I8, v, 2).bits, 100);
  v = sw_reduction_combine(SW_REDUCE_AVERAGE, SW_I8, (sw_scalar){.bits = (uint64_t)-4}, (sw_scalar){.bits = 1});
  assert_int_equal((int64_t)sw_reduction_finish(SW_REDUCE_AVERAGE, SW_I8, v, 2).bits, -1);
  v = sw_reduction_combine(SW_REDUCE_SUM, SW_U8, (sw_scalar){.bits = 200}, (sw_scalar){.bits = 100});
  assert_int_equal(v.bits, 44);
  v = sw_reduction_combine(SW_REDUCE_SUM, SW_BOOL, (sw_scalar){.bits = 1}, (sw_scalar){.bits = 1});
  assert_int_equal(v.bits, 1);
  assert_false(sw_reduction_applies(SW_REDUCE_BIT_AND, SW_F32));
  assert_false(sw_reduction_applies(SW_REDUCE_MAX, SW_C64));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_name_parses_back),
      cmocka_unit_test(small_floats_round_to_nearest_even),
      cmocka_unit_test(known_small_floats),
      cmocka_unit_test(fast_f16_agrees_with_the_plain_one),
      cmocka_unit_test(conversions),
      cmocka_unit_test(integers_of_few_bits),
      cmocka_unit_test(identities_leave_every_value),
      cmocka_unit_test(reductions_keep_ieee_rules),
  };
  return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}
