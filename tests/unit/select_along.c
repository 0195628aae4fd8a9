/* Labels along an order of elimination against exhaustive search, whatever the prices on memory are: the optimum where
 * they end, and a bound below it where they are given up. */
#include "check.h"
#include "select_case.h"

#include "select/exact/along.h"

/* The least cost below `below`, SW_FORBIDDEN where there is none, and what is known of it. */
static void compare(const sw_problem *p, const sel_core *c, const double *lambda, int64_t below, int32_t most_labels,
                    int64_t least, sw_arena *arena) {
  const sel_along_options o = {lambda, below, most_labels};
  sel_budget b = {.start_s = sw_now_s()};
  sel_along_result found;
  sw_score score;
  int32_t *x = take(arena, (size_t)c->n, sizeof *x);
  assert_ok(sel_along_solve(c, &o, &b, x, &found, &diag));
  assert_true(found.bound <= (least < below ? least : below));
  if (most_labels > 100000) assert_true(found.done); /* small ones are never given up */
  if (!found.done) return;
  assert_true(found.found == (least < below));
  if (!found.found) return;
  assert_ok(sw_problem_score(p, x, &score, &diag));
  assert_true(score.feasible);
  assert_true(score.cost == least && found.cost == least && found.bound == least);
}

static void finds_the_optimum(void **state) {
  (void)state;
  const uint64_t seed = check_seed(7);
  const int n = check_scale(2000);
  int closed = 0;
  sw_rng r;
  sw_rng_seed(&r, seed);
  for (int k = 0; k < n; k++) {
    sw_arena arena = {0};
    const sw_problem p = small_problem(&r, &arena, k);
    const sw_solve_options o = {.solver = SW_SOLVER_EXHAUSTIVE, .threads = 1};
    sw_solution s;
    sel_core c;
    assert_ok(sw_solve(&p, &o, &arena, &s, &diag));
    assert_ok(sel_core_of_problem(&p, &arena, &c, &diag));
    const int64_t least = s.status == SW_SOLVE_OPTIMAL ? s.cost : SW_FORBIDDEN;
    double *lambda = take(&arena, (size_t)c.n_steps + 1, sizeof *lambda);
    for (int32_t t = 0; t < c.n_steps; t++) lambda[t] = sw_rng_below(&r, 2) ? 3 * sw_rng_unit(&r) : 0;
    compare(&p, &c, lambda, SW_FORBIDDEN, 1 << 20, least, &arena);
    compare(&p, &c, lambda, least, 1 << 20, least, &arena);
    compare(&p, &c, lambda, least < SW_FORBIDDEN ? least + 1 : least, 1 << 20, least, &arena);
    compare(&p, &c, lambda, SW_FORBIDDEN, 1 + (int32_t)sw_rng_below(&r, 20), least, &arena);
    closed += least < SW_FORBIDDEN;
    sw_arena_deinit(&arena);
  }
  print_message("%d problems, %d of them with a solution\n", n, closed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_optimum)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
