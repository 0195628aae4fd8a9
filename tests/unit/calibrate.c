/* Calibration on the machine at hand: a short one gives a profile that can be used and says how well it fits. */
#include "check.h"

#include <math.h>

#include "bench/calibrate.h"
#include "shardwright/profile_json.h"

static void a_short_calibration_gives_a_usable_profile(void **state) {
  (void)state;
  sw_arena a = {0};
  sw_calibration c;
  sw_calibrate_options o = {.name = "here", .cores = 2, .max_devices = 8, .largest_bytes = 65536, .min_s = 0.0005};
  assert_ok(sw_calibrate(&o, &a, &c, &diag));
  assert_string_equal(sw_profile_name(c.profile), "here");
  assert_int_equal(sw_profile_devices(c.profile), 8);
  assert_int_equal(c.profile->shared_cores, 2);
  assert_int_equal(c.n_collectives, 5 * 3 * 2); /* ops, device counts, sizes 4096 and 32768 */
  assert_true(c.n_ops > 5 && isfinite(c.collectives_per_cent) && isfinite(c.ops_per_cent));
  assert_true(c.profile->flop_per_s[SW_F32] > 1e6 && c.profile->memory_bytes_per_s > 1e6);
  sw_text text = {0};
  const sw_profile *again;
  assert_ok(sw_profile_write(c.profile, "a test", &text, &diag));
  assert_ok(sw_profile_parse("here.json", sw_text_str(&text), text.n, &a, &again, &diag));
  sw_text_free(&text);
  sw_arena_deinit(&a);
}

static void an_interrupted_calibration_says_so(void **state) {
  (void)state;
  sw_arena a = {0};
  sw_calibration c;
  sw_cancel cancel = {1};
  sw_calibrate_options o = {.name = "here", .min_s = 0.0005, .cancel = &cancel};
  assert_int_equal(sw_calibrate(&o, &a, &c, &diag), SW_E_CANCELLED);
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_short_calibration_gives_a_usable_profile),
      cmocka_unit_test(an_interrupted_calibration_says_so),
  };
  return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
