/* Plans within ever smaller capacities, asked of one search: each holds no more than it is asked to, none costs less
 * than what is proven of all, and what it says of its values, pinned, is met again at its memory and price.
 */
#include "check.h"

#include "support/meshes.h"

#include "shardwright/plan.h"
#include "support/job.h"

static const double kGap = 0.001;

typedef struct asked {
  const sw_graph *g;
  sw_planner *planner;
  sw_plan plan;
  int64_t peak;
} asked;

static int64_t peak_of(const sw_plan *p, sw_arena *a) {
  sw_breakdown b;
  assert_ok(sw_plan_verify(p, &diag));
  assert_ok(sw_plan_breakdown(p, a, &b, &diag));
  return b.peak_bytes;
}

/* Every argument and every value that an op makes. */
static int32_t pin_all(const sw_plan *p, sw_pin *pins) {
  const sw_graph *g = p->job.graph;
  for (sw_id v = 0; v < g->n_values; v++) {
    pins[v] = (sw_pin){.value = v};
    sw_plan_value_sharding(p, v, &pins[v].sharding);
  }
  return g->n_values;
}

/* The same again from its shardings; what is asked of one question is forgotten by the next. */
static void check_pinned(const asked *k, const sw_plan *lower, int64_t capacity, sw_arena *a) {
  sw_plan again;
  sw_pin *pins = sw_arena_alloc(a, (size_t)k->g->n_values, sizeof *pins, &diag);
  assert_non_null(pins);
  assert_ok(sw_planner_ask_within(k->planner, capacity, pin_all(lower, pins), pins, a, &again, &diag));
  assert_true(peak_of(&again, a) <= capacity);
  assert_true((double)again.cost_units <= (1 + kGap) * (double)lower->cost_units);
  for (int32_t i = 0; i < k->g->n_args; i++) assert_true(sw_sharding_equal(&again.args[i], &lower->args[i]));
  assert_ok(sw_planner_ask(k->planner, 0, NULL, a, &again, &diag));
  assert_true(again.cost_units <= k->plan.cost_units);
}

static int ask_lower(const asked *k) {
  static const double kOfPeak[] = {0.9, 0.75, 0.5};
  int found = 0;
  for (int i = 0; i < 3; i++) {
    sw_arena a = {0};
    sw_plan lower;
    const int64_t capacity = (int64_t)(kOfPeak[i] * (double)k->peak);
    const sw_rc rc = sw_planner_ask_within(k->planner, capacity, 0, NULL, &a, &lower, &diag);
    assert_true(rc == SW_OK || rc == SW_E_INFEASIBLE || rc == SW_E_RESOURCE);
    if (rc == SW_OK) {
      assert_int_equal(lower.capacity_bytes, capacity);
      assert_true(peak_of(&lower, &a) <= capacity);
      assert_true(lower.cost_units >= k->plan.bound_units);
      check_pinned(k, &lower, capacity, &a);
      found++;
    }
    sw_arena_deinit(&a);
  }
  return found;
}

static void each_way_is_as_it_says(void **state) {
  (void)state;
  static const char *const kModels[] = {"mlp", "gpt2", "mixtral", "mlp-train"};
  const uint64_t seed = check_seed(1);
  int found = 0, models = 0;
  for (size_t m = 0; m < sizeof kModels / sizeof *kModels; m++) {
    if (!check_turn(seed, (int)m)) continue;
    models++;
    sw_arena a = {0};
    sw_graph *g = small_model(kModels[m]);
    asked k = {.g = g};
    const sw_plan_options o = {.solve = {.work_limit = 300000000, .gap = kGap, .threads = 1}};
    assert_ok(sw_planner_open(JOB(g, machine_of("local", "x=2,y=2", &a)), &o, &a, &k.planner, &k.plan, &diag));
    k.peak = peak_of(&k.plan, &a);
    found += ask_lower(&k);
    sw_planner_close(k.planner);
    sw_graph_destroy(g);
    sw_arena_deinit(&a);
  }
  assert_in_range(models, 1, found);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_way_is_as_it_says)};
  return cmocka_run_group_tests_name("lower_memory", tests, NULL, NULL);
}
