/* The dual of repeated layers, by_class: near to what passes over everything find, and never more than the truth. */
#include "check.h"

#include <math.h>

#include "select_case.h"

#include "select/bound/by_class.h"
#include "select/presolve/presolve_model.h"
#include "shardwright/certificate.h"
#include "base/checked.h"

/* Layers of a few nodes with random tables, the same in every layer; memory of each while its layer runs and the next.
 */
static sw_problem layers(sw_rng *g, sw_arena *a, int n_layers, int each, int choices) {
  sw_problem p = {.name = "layers", .n_nodes = n_layers * each};
  sw_node *nodes = take(a, (size_t)p.n_nodes, sizeof *nodes);
  sw_edge *edges = take(a, 2 * (size_t)p.n_nodes, sizeof *edges);
  for (int k = 0; k < p.n_nodes; k++) {
    const int64_t *cost = k < each ? random_costs(g, a, choices, &(shape){.most_cost = 1000}) : nodes[k - each].cost;
    sw_usage *use = take(a, 1, sizeof *use);
    int64_t *amount = take(a, (size_t)choices, sizeof *amount);
    for (int s = 0; s < choices; s++) amount[s] = 10 * (choices - s);
    *use = (sw_usage){k / each, k / each + 2, amount};
    nodes[k] = (sw_node){choices, 1, cost, use};
  }
  for (int k = 0; k + 1 < p.n_nodes; k++) {
    const int64_t *cost =
        k < each ? random_costs(g, a, (int64_t)choices * choices, &(shape){.most_cost = 500}) : edges[k - each].cost;
    edges[p.n_edges++] = (sw_edge){k, k + 1, cost};
  }
  p.nodes = nodes;
  p.edges = edges;
  p.limit = (int64_t)each * 2 * 10 * 4 / 3; /* least amounts fill three quarters */
  return p;
}

/* How many problems: what part of them has a near bound is asked of no fewer than six. */
static int rounds_of(void) { return (int)sw_max_i64(6, check_scale(12)); }

static void bounds_by_class_are_near_and_true(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(41));
  int near = 0, merged_any = 0, rounds = rounds_of();
  for (int k = 0; k < rounds; k++) {
    sw_arena a = {0};
    sw_problem p = layers(&g, &a, 60, 2 + k % 3, 3);
    sw_solution s;
    sw_solve_options o = {.threads = 1, .work_limit = 20000000};
    assert_ok(sw_solve(&p, &o, &a, &s, &diag));
    assert_non_null(s.choice);
    sel_core whole, c;
    sel_dual by_class, plain;
    sel_model m = {0};
    sel_budget b = {0};
    const sel_settled end = {.quiet = 40, .gain = 2e-4, .most = INT64_MAX, .enough = INFINITY};
    int64_t passes, bound;
    assert_ok(sel_core_of_problem(&p, &a, &whole, &diag));
    assert_ok(sel_model_init(&m, &whole, (sel_model_given){0}, &diag));
    assert_ok(sel_model_freeze(&m, &c, &diag)); /* equal tables are one */
    assert_ok(sel_dual_init(&by_class, &c, NULL, k % 2, &diag));
    assert_ok(sel_dual_init(&plain, &c, NULL, k % 2, &diag));
    assert_ok(sel_dual_ascend_by_class(&by_class, (double)(s.cost - c.offset), end, &b, &passes, &diag));
    merged_any += passes > 1;
    for (int n = 0; n < 2; n++) sel_dual_pass(&by_class, (double)(s.cost - c.offset));
    for (int n = 0; n < 2; n++) sel_dual_pass(&plain, (double)(s.cost - c.offset));
    near += by_class.best.bound > plain.best.bound;
    assert_ok(sel_dual_certify(&by_class, &m, NULL, &bound, &diag));
    bound += c.offset;
    assert_true(bound <= s.cost);
    sel_dual_deinit(&by_class);
    sel_dual_deinit(&plain);
    sel_model_deinit(&m);
    sw_arena_deinit(&a);
  }
  print_message("nearer than without in %d of %d\n", near, rounds);
  assert_true(merged_any > rounds / 2 && near > rounds / 2);
}

/* The bound of a whole problem is a bound, and near to what the search finds. */
static void whole_bounds_are_near_and_true(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(43));
  int tried = 0, near = 0, rounds = rounds_of();
  for (int k = 0; k < rounds; k++) {
    sw_arena a = {0};
    sw_problem p = layers(&g, &a, 60, 2 + k % 3, 3);
    if (k % 2) p.limit = INT64_MAX;
    sw_solution s;
    sw_solve_options o = {.threads = 1, .work_limit = 20000000};
    assert_ok(sw_solve(&p, &o, &a, &s, &diag));
    assert_non_null(s.choice);
    sw_bound found = {.choice = take(&a, (size_t)p.n_nodes, sizeof *found.choice)};
    sw_bound_options b = {.cost = k % 3 ? s.cost : INT64_MAX, .gap = 1e-3};
    sw_score score;
    assert_ok(sw_problem_bound(&p, &b, &found, &diag));
    assert_true(found.bound >= 0 && found.bound <= s.cost);
    tried += found.any;
    near += (double)found.bound > 0.97 * (double)s.cost;
    if (found.any) assert_ok(sw_problem_score(&p, found.choice, &score, &diag));
    assert_true(!found.any || !score.feasible || score.cost >= s.bound);
    sw_arena_deinit(&a);
  }
  print_message("tried %d, near %d of %d\n", tried, near, rounds);
  assert_true(tried > rounds / 2 && near > rounds / 2);
}

static void certificates_of_repeated_layers_hold(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(42));
  for (int k = 0; k < check_scale(6); k++) {
    sw_arena a = {0};
    sw_text proof = {0};
    sw_problem p = layers(&g, &a, 40, 2 + k % 3, 4);
    sw_solution s;
    int64_t bound;
    sw_solve_options o = {.threads = 1, .work_limit = 30000000, .certificate = &proof};
    assert_ok(sw_solve(&p, &o, &a, &s, &diag));
    assert_ok(sw_certificate_check(&p, sw_text_str(&proof), proof.n, "proof", &bound, &diag));
    assert_int_equal(bound, s.bound);
    assert_true(!s.choice || s.bound <= s.cost);
    sw_text_free(&proof);
    sw_arena_deinit(&a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_by_class_are_near_and_true),
      cmocka_unit_test(whole_bounds_are_near_and_true),
      cmocka_unit_test(certificates_of_repeated_layers_hold),
  };
  return cmocka_run_group_tests_name("select_by_class", tests, NULL, NULL);
}
