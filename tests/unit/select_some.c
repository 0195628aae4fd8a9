/* A problem of some nodes costs what the whole does, less what the fixed ones cost, and occupies as much. */
#include "check.h"

#include "select_case.h"

static int32_t any_choice(sw_rng *g, const sw_problem *p, int32_t i) {
  return (int32_t)sw_rng_below(g, p->nodes[i].n_choices);
}

/* Choices of the part that belong to x. */
static void take_part(const sw_problem *p, const int32_t *x, const bool *is_free, int32_t *part) {
  int32_t n = 0;
  for (int32_t i = 0; i < p->n_nodes; i++)
    if (is_free[i]) part[n++] = x[i];
  part[n] = 0;
}

static void compare(sw_rng *g, const sw_problem *p, sw_arena *a) {
  sw_problem some;
  sw_score whole, part, first_whole, first_part;
  int32_t *x = take(a, (size_t)p->n_nodes, sizeof *x), *y = take(a, (size_t)p->n_nodes + 1, sizeof *y);
  bool *is_free = take(a, (size_t)p->n_nodes, sizeof *is_free);
  for (int32_t i = 0; i < p->n_nodes; i++) {
    x[i] = any_choice(g, p, i);
    is_free[i] = sw_rng_below(g, 2) == 0;
  }
  assert_ok(sw_problem_of_some(p, x, is_free, a, &some, &diag));
  assert_ok(sw_problem_verify(&some, &diag));
  assert_int_equal(some.limit, p->limit);
  take_part(p, x, is_free, y);
  assert_ok(sw_problem_score(p, x, &first_whole, &diag));
  assert_ok(sw_problem_score(&some, y, &first_part, &diag));
  for (int k = 0; k < 5; k++) {
    for (int32_t i = 0; i < p->n_nodes; i++)
      if (is_free[i]) x[i] = any_choice(g, p, i);
    take_part(p, x, is_free, y);
    assert_ok(sw_problem_score(p, x, &whole, &diag));
    assert_ok(sw_problem_score(&some, y, &part, &diag));
    assert_true(whole.peak == part.peak);
    if (whole.cost >= SW_FORBIDDEN || first_whole.cost >= SW_FORBIDDEN) continue;
    assert_true(whole.cost - part.cost == first_whole.cost - first_part.cost);
    assert_true(whole.feasible == part.feasible);
  }
}

static void parts_cost_what_the_whole_does(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(51));
  for (int k = 0; k < check_scale(2000); k++) {
    sw_arena a = {0};
    sw_problem p = random_problem(
        &g, &a,
        &(shape){.nodes = 9, .choices = 4, .edges = 16, .most_cost = 50, .steps = 7, .uses = 2, .forbidden = 5});
    compare(&g, &p, &a);
    sw_arena_deinit(&a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_cost_what_the_whole_does)};
  return cmocka_run_group_tests_name("select_some", tests, NULL, NULL);
}
