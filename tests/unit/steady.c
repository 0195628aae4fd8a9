/* A search that ends before its time is up decides nothing by a clock: the same plan comes out of a machine on which
 * time flies.
 *
 * The clock of this program is its own: the library reads it as it does any other.
 */
#include "check.h"

#include <stdatomic.h>
#include <time.h>

#include "support/meshes.h"

#include "shardwright/clock.h"
#include "gen/gen_problem.h"
#include "shardwright/model_json.h"
#include "shardwright/plan_json.h"
#include "support/job.h"

static atomic_llong readings;
static atomic_llong step_ns; /* that every reading takes; 0: time is real */

/* Readings are 1 to 1000 steps apart. */
int clock_gettime(clockid_t clock, struct timespec *out) {
  static atomic_llong now_ns;
  const long long step = atomic_load(&step_ns);
  if (clock != CLOCK_MONOTONIC || step == 0) return timespec_get(out, TIME_UTC) == TIME_UTC ? 0 : -1;
  const uint64_t k = (uint64_t)atomic_fetch_add(&readings, 1);
  const long long by = step * (long long)(1 + k * k * 2654435761U % 1000);
  const long long all = atomic_fetch_add(&now_ns, by) + by;
  *out = (struct timespec){.tv_sec = (time_t)(1000000 + all / 1000000000), .tv_nsec = (long)(all % 1000000000)};
  return 0;
}

static const long long kSteps[] = {0, 1000, 300000}; /* real; up to 1 ms and to 0.3 s */
enum { CLOCKS = 3 };

/* The whole plan as text; near enough, unless work was limited. */
static void plan_by_clock(const char *path, const sw_solve_options *solve, long long step, sw_text *out) {
  sw_arena arena = {0};
  sw_graph *graph;
  sw_plan plan;
  sw_breakdown breakdown;
  const sw_plan_options o = {.solve = *solve};
  assert_ok(sw_model_read(path, &graph, &diag));
  sw_machine *machine = machine_of("h100x64", "x=8,y=8", &arena);
  atomic_store(&step_ns, step);
  assert_ok(sw_plan_search(JOB(graph, machine), &o, &arena, &plan, &diag));
  atomic_store(&step_ns, 0);
  if (!solve->work_limit) {
    assert_true(plan.time_s < solve->time_limit_s);
    assert_true((double)(plan.cost_units - plan.bound_units) <= solve->gap * (double)plan.cost_units);
  }
  plan.time_s = 0;
  assert_ok(sw_plan_breakdown(&plan, &arena, &breakdown, &diag));
  assert_ok(sw_plan_write(&plan, &breakdown, out, &diag));
  sw_graph_destroy(graph);
  sw_arena_deinit(&arena);
}

static void check_plans(const sw_solve_options *solve) {
  static const char *const kModels[] = {SW_SOURCE_DIR "/models/small/gpt2-train.json",
                                        SW_SOURCE_DIR "/models/small/moe-layers-train.json"};
  for (size_t m = 0; m < sizeof kModels / sizeof *kModels; m++) {
    sw_text text[CLOCKS] = {{0}};
    for (int k = 0; k < CLOCKS; k++) plan_by_clock(kModels[m], solve, kSteps[k], &text[k]);
    assert_true(atomic_load(&readings) > 0);
    for (int k = 1; k < CLOCKS; k++) assert_string_equal(sw_text_str(&text[0]), sw_text_str(&text[k]));
    for (int k = 0; k < CLOCKS; k++) sw_text_free(&text[k]);
  }
}

static void plans_hang_on_no_clock(void **state) {
  (void)state;
  check_plans(&(sw_solve_options){.threads = 1, .seed = 5, .gap = 0.005, .time_limit_s = 1e6});
}

/* Far from done, they end by their work alone. */
static void nor_do_those_limited_by_work(void **state) {
  (void)state;
  for (int threads = 1; threads <= 2; threads++)
    check_plans(&(sw_solve_options){.threads = threads, .seed = 5, .work_limit = 40000000});
}

/* Problems too hard to close in the work given: all parts of a search have had their turns, on several threads too. */
static void nor_do_solutions(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(1));
  for (int round = 0; round < check_scale(2); round++) {
    sw_arena a = {0};
    sw_problem p;
    sw_solution s[CLOCKS];
    const uint64_t seed = (uint64_t)sw_rng_below(&g, 1000);
    assert_ok(sw_problem_generate("small", seed, &a, &p, &diag));
    for (int k = 0; k < CLOCKS; k++) {
      const sw_solve_options o = {.threads = 1 + round % 2, .seed = seed, .time_limit_s = 1e6, .work_limit = 25000000};
      atomic_store(&step_ns, kSteps[k]);
      assert_ok(sw_solve(&p, &o, &a, &s[k], &diag));
      atomic_store(&step_ns, 0);
      assert_int_equal(s[0].status, s[k].status);
      assert_int_equal(s[0].cost, s[k].cost);
      assert_int_equal(s[0].bound, s[k].bound);
      assert_int_equal(s[0].work, s[k].work);
      if (s[0].choice) assert_memory_equal(s[0].choice, s[k].choice, (size_t)p.n_nodes * sizeof *s[0].choice);
    }
    sw_arena_deinit(&a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans_hang_on_no_clock),
      cmocka_unit_test(nor_do_those_limited_by_work),
      cmocka_unit_test(nor_do_solutions),
  };
  return cmocka_run_group_tests_name("steady", tests, NULL, NULL);
}
