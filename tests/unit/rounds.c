/* Messages shared out to rounds: none twice on a side, and as few rounds as may be. */
#include "check.h"

#include "mlir/emit/rounds.h"
#include "shardwright/clock.h"

static void check(sw_round_message *all, int64_t n, int64_t devices) {
  sw_arena arena = {0};
  int32_t n_rounds, most = 0;
  assert_ok(sw_share_out(all, n, devices, &arena, &n_rounds, &diag));
  for (int64_t i = 0; i < n; i++) {
    int32_t sent = 0, received = 0;
    assert_true(all[i].round >= 0 && all[i].round < n_rounds);
    for (int64_t k = 0; k < n; k++) {
      sent += all[k].from == all[i].from;
      received += all[k].to == all[i].to;
      if (k == i || all[k].round != all[i].round) continue;
      assert_true(all[k].from != all[i].from && all[k].to != all[i].to);
    }
    if (sent > most) most = sent;
    if (received > most) most = received;
  }
  assert_int_equal(n_rounds, most);
  sw_arena_deinit(&arena);
}

static void random_messages_take_as_few_rounds_as_may_be(void **state) {
  (void)state;
  enum { MOST = 120 };
  sw_round_message all[MOST];
  sw_rng r;
  sw_rng_seed(&r, check_seed(1));
  for (int i = 0; i < 2000; i++) {
    const int64_t devices = 1 + sw_rng_below(&r, 12), n = sw_rng_below(&r, MOST);
    for (int64_t k = 0; k < n; k++)
      all[k] = (sw_round_message){sw_rng_below(&r, devices), sw_rng_below(&r, devices), 0};
    check(all, n, devices);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_messages_take_as_few_rounds_as_may_be)};
  return cmocka_run_group_tests_name("rounds", tests, NULL, NULL);
}
