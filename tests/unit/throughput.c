/* Throughput and model flops utilisation, by hand: what counts as a sample, as a token, and which flops are the
 * model's.
 */
#include <math.h>

#include "check.h"

#include "shardwright/report.h"
#include "support/building.h"
#include "support/meshes.h"
#include "support/job.h"

enum { BATCH = 64, SEQ = 16, WIDTH = 32, ROWS = 100 };

static sw_id dot(sw_graph *g, sw_id x, sw_id w, int contracted) {
  const sw_attr a[] = {INTS(LHS_CONTRACT, 1), INTS(RHS_CONTRACT, contracted)};
  return add(g, SW_OP_DOT, 2, (sw_id[]){x, w}, 2, a);
}

/* Two products, of which the second takes what was made again from the same values, so it is a copy; and one of another
 * weight. */
static sw_graph *model(void) {
  sw_graph *g = new_graph();
  (void)arg(g, "tokens", SW_I32, 2, (int64_t[]){BATCH, SEQ});
  (void)arg(g, "key", SW_U32, 1, (int64_t[]){2});
  const sw_id x = arg(g, "x", SW_F32, 2, (int64_t[]){BATCH, WIDTH});
  const sw_id w = arg(g, "w", SW_F32, 2, (int64_t[]){WIDTH, ROWS}),
              v = arg(g, "v", SW_F32, 2, (int64_t[]){WIDTH, ROWS});
  sw_id h[2];
  for (int i = 0; i < 2; i++) {
    const sw_id made = add(g, SW_OP_EXP, 1, &x, 0, NULL);
    h[i] = dot(g, made, w, 0);
  }
  output(g, "first", h[0]);
  output(g, "again", h[1]);
  output(g, "other", dot(g, x, v, 0));
  return seal(g);
}

static void is_near(double is, double expected) { assert_true(fabs(is - expected) <= 1e-12 * expected); }

static void by_hand(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_plan plan;
  sw_breakdown a;
  sw_throughput t;
  sw_batch_dim of;
  sw_graph *g = model();
  sw_machine *m = machine_of("dgx-h100", "x=2,y=2", &arena);
  const double peak = sw_machine_profile(m)->flop_per_s[SW_F32], flops = 2 * 2.0 * BATCH * WIDTH * ROWS;
  assert_ok(sw_plan_build(JOB(g, m), &arena, &plan, &diag));
  assert_ok(sw_plan_breakdown(&plan, &arena, &a, &diag));
  /* nothing is cut: most first dims */
  assert_ok(sw_throughput_measure(&plan, &a, NULL, &arena, &t, &diag));
  assert_int_equal(t.batch, BATCH);
  assert_int_equal(t.tokens, BATCH * SEQ);
  is_near(t.samples_per_s, BATCH / a.total_s / 4);
  is_near(t.tokens_per_s, BATCH * SEQ / a.total_s / 4);
  is_near(t.model_flops, flops);
  is_near(t.utilisation, flops / (a.total_s * 4 * peak));
  /* along which most inputs are cut */
  assert_true(sw_sharding_push(&plan.args[3], 1, sw_axis_whole(sw_machine_mesh(m), 0)));
  assert_true(sw_sharding_push(&plan.args[4], 1, sw_axis_whole(sw_machine_mesh(m), 0)));
  assert_ok(sw_throughput_measure(&plan, &a, NULL, &arena, &t, &diag));
  assert_int_equal(t.batch, ROWS);
  assert_int_equal(t.tokens, 0);
  /* as it is said */
  assert_ok(sw_batch_dim_parse(g, "tokens:1", &of, &diag));
  assert_ok(sw_throughput_measure(&plan, &a, &of, &arena, &t, &diag));
  assert_int_equal(t.batch, SEQ);
  static const char *const kWrong[] = {"tokens", "tokens:2", "tokens:-1", "tokens:x", ":0", "nobody:0", "first:0"};
  for (size_t i = 0; i < sizeof kWrong / sizeof *kWrong; i++)
    assert_int_equal(sw_batch_dim_parse(g, kWrong[i], &of, NULL), SW_E_USAGE);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
