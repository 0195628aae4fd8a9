/* The solver against exhaustive search and against GLPK, and what every answer must keep.
 *
 * The default is a tenth of the full comparison: SW_TEST_SCALE=10 build/tests/unit_select takes 100,000 small problems
 * and 1,000 medium ones; its log is reports/select-random.txt. */
#include "check.h"
#include "select_case.h"
#include "shardwright/certificate.h"

static sw_solution solve_with(const sw_problem *p, sw_solver solver, sw_arena *a) {
  sw_solution s;
  sw_solve_options o = {.solver = solver, .threads = 1, .seed = 1};
  assert_ok(sw_solve(p, &o, a, &s, &diag));
  assert_true(s.bound >= 0);
  if (s.choice) {
    sw_score score;
    assert_ok(sw_problem_score(p, s.choice, &score, &diag));
    assert_true(score.feasible);
    assert_true(score.cost == s.cost);
    assert_true(s.bound <= s.cost);
    assert_int_equal(s.status, s.bound == s.cost ? SW_SOLVE_OPTIMAL : SW_SOLVE_FEASIBLE);
  } else {
    assert_true(s.status == SW_SOLVE_INFEASIBLE || s.status == SW_SOLVE_UNKNOWN);
  }
  return s;
}

static void same_as_exhaustive(sw_solver solver, int rounds, uint64_t seed) {
  sw_rng g;
  sw_rng_seed(&g, check_seed(seed));
  int infeasible = 0, optimal = 0;
  for (int k = 0; k < rounds; k++) {
    sw_arena a = {0};
    sw_problem p = small_problem(&g, &a, k);
    sw_solution want = solve_with(&p, SW_SOLVER_EXHAUSTIVE, &a), got = solve_with(&p, solver, &a);
    if (want.status != got.status || want.cost != got.cost)
      fail_msg("round %d: exhaustive %s %lld, %s %s %lld (bound %lld)", k, sw_solve_status_text(want.status),
               (long long)want.cost, sw_solver_text(solver), sw_solve_status_text(got.status), (long long)got.cost,
               (long long)got.bound);
    if (want.status == SW_SOLVE_INFEASIBLE && want.least_peak > 0) {
      assert_true(got.least_peak <= want.least_peak);
      if (solver == SW_SOLVER_NATIVE) assert_true(got.least_peak > p.limit);
    }
    infeasible += want.status == SW_SOLVE_INFEASIBLE;
    optimal += want.status == SW_SOLVE_OPTIMAL;
    sw_arena_deinit(&a);
  }
  print_message("%d optimal, %d infeasible\n", optimal, infeasible);
  assert_true(optimal > rounds / 10 && infeasible > rounds / 100);
}

static void native_equals_exhaustive(void **state) {
  (void)state;
  same_as_exhaustive(SW_SOLVER_NATIVE, check_scale(10000), 1);
}

static void glpk_equals_exhaustive(void **state) {
  (void)state;
  same_as_exhaustive(SW_SOLVER_GLPK, check_scale(300), 2);
}

/* Larger than exhaustive search can take. Both sides prove what they say, so neither may pass the other. */
static void native_agrees_with_glpk_on_medium_problems(void **state) {
  (void)state;
  static const shape kMedium[] = {{24, 4, 40, 1, 12, 50, 5}, {30, 3, 45, 2, 20, 20, 0}, {16, 6, 30, 1, 8, 200, 10}};
  sw_rng g;
  sw_rng_seed(&g, check_seed(5));
  int proven = 0, rounds = check_scale(100);
  for (int k = 0; k < rounds; k++) {
    sw_arena a = {0};
    sw_problem p = random_problem(&g, &a, &kMedium[k % 3]);
    sw_solution s[2];
    for (int side = 0; side < 2; side++) {
      sw_solve_options o = {.solver = side ? SW_SOLVER_GLPK : SW_SOLVER_NATIVE,
                            .threads = 1,
                            .time_limit_s = side ? 1.0 : 0,
                            .work_limit = side ? 0 : 100000000};
      assert_ok(sw_solve(&p, &o, &a, &s[side], &diag));
    }
    if (s[0].choice && s[1].choice) assert_true(s[0].bound <= s[1].cost && s[1].bound <= s[0].cost);
    if (s[0].status == SW_SOLVE_INFEASIBLE) assert_null(s[1].choice);
    if (s[1].status == SW_SOLVE_INFEASIBLE) assert_null(s[0].choice);
    bool both = s[0].status == s[1].status && s[0].status != SW_SOLVE_UNKNOWN && s[0].status != SW_SOLVE_FEASIBLE;
    if (both && s[0].choice) assert_int_equal(s[0].cost, s[1].cost);
    proven += both;
    sw_arena_deinit(&a);
  }
  print_message("%d of %d proven by both\n", proven, rounds);
  assert_true(proven > rounds / 2);
}

/* The same work gives the same answer, whatever the clock does. */
static void a_work_limit_makes_results_repeatable(void **state) {
  (void)state;
  static const shape kWide = {60, 6, 150, 2, 30, 1000, 5};
  sw_rng g;
  sw_rng_seed(&g, check_seed(6));
  for (int k = 0; k < check_scale(6); k++) {
    sw_arena a = {0};
    sw_problem p = random_problem(&g, &a, &kWide);
    sw_solution s[2];
    sw_solve_options o = {.threads = 1 + k % 3, .seed = 3, .work_limit = 10000000};
    for (int run = 0; run < 2; run++) assert_ok(sw_solve(&p, &o, &a, &s[run], &diag));
    assert_int_equal(s[0].status, s[1].status);
    assert_int_equal(s[0].bound, s[1].bound);
    if (s[0].choice) assert_memory_equal(s[0].choice, s[1].choice, (size_t)p.n_nodes * sizeof *s[0].choice);
    sw_arena_deinit(&a);
  }
}

/* Threads, and an end by the clock: whatever comes out is a solution with a proven bound. */
static void threads_and_clocks_keep_the_contract(void **state) {
  (void)state;
  static const shape kWide = {200, 6, 500, 2, 60, 100000, 2};
  sw_rng g;
  sw_rng_seed(&g, check_seed(7));
  for (int k = 0; k < check_scale(4); k++) {
    sw_arena a = {0};
    sw_text proof = {0};
    sw_problem p = random_problem(&g, &a, &kWide);
    sw_solution s;
    sw_score score;
    int64_t bound;
    sw_solve_options o = {.threads = 1 + k % 3, .seed = 3, .time_limit_s = 0.3, .certificate = &proof};
    double start = sw_now_s();
    assert_ok(sw_solve(&p, &o, &a, &s, &diag));
    assert_true(sw_now_s() - start < 5.0); /* how well a limit is kept depends on who else uses the machine */
    if (s.choice) {
      assert_ok(sw_problem_score(&p, s.choice, &score, &diag));
      assert_true(score.feasible && score.cost == s.cost && s.bound <= s.cost);
    }
    assert_ok(sw_certificate_check(&p, sw_text_str(&proof), proof.n, "proof", &bound, &diag));
    assert_true(bound == (s.status == SW_SOLVE_INFEASIBLE ? SW_FORBIDDEN : s.bound));
    sw_text_free(&proof);
    sw_arena_deinit(&a);
  }
}

static void exhaustive_refuses_what_is_too_much(void **state) {
  (void)state;
  enum { NODES = 30 };
  static const int64_t zeros[2] = {0, 0};
  sw_node nodes[NODES];
  for (int i = 0; i < NODES; i++) nodes[i] = (sw_node){2, 0, zeros, NULL};
  sw_problem p = {.n_nodes = NODES, .nodes = nodes, .limit = INT64_MAX};
  sw_solve_options o = {.solver = SW_SOLVER_EXHAUSTIVE, .threads = 1};
  sw_arena a = {0};
  sw_solution s;
  diag = (sw_diag){0};
  assert_int_equal(sw_solve(&p, &o, &a, &s, &diag), SW_E_USAGE);
  assert_non_null(strstr(diag.text, "at most 16777216"));
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(native_equals_exhaustive),
      cmocka_unit_test(glpk_equals_exhaustive),
      cmocka_unit_test(native_agrees_with_glpk_on_medium_problems),
      cmocka_unit_test(a_work_limit_makes_results_repeatable),
      cmocka_unit_test(threads_and_clocks_keep_the_contract),
      cmocka_unit_test(exhaustive_refuses_what_is_too_much),
  };
  return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
