/* Quotients by symmetry against the problems they stand for; copy nodes, whose place in the order must change nothing
 * that is true. */
#include "check.h"

#include "copies_case.h"

#include "shardwright/certificate.h"

/* Copies of a random problem, a table from the last node of each to the first of the next, and one between their first
 * nodes, which may become alike. */
static sw_problem copies_of(const sw_problem *layer, int n, sw_rng *g, sw_arena *a) {
  int32_t each = layer->n_nodes, last = each - 1;
  sw_problem p = {.name = "copies", .n_nodes = n * each, .limit = layer->limit};
  sw_node *nodes = take(a, (size_t)p.n_nodes, sizeof *nodes);
  sw_edge *edges = take(a, (size_t)n * (size_t)(layer->n_edges + 2), sizeof *edges);
  const shape costs = {.most_cost = 20, .forbidden = 5};
  int64_t first_n = layer->nodes[0].n_choices, last_n = layer->nodes[last].n_choices;
  const int64_t *next = random_costs(g, a, last_n * first_n, &costs);
  const int64_t *skip = random_costs(g, a, first_n * first_n, &costs);
  for (int32_t k = 0; k < p.n_nodes; k++) nodes[k] = layer->nodes[k % each];
  for (int32_t l = 0; l < n; l++) {
    for (int32_t e = 0; e < layer->n_edges; e++) {
      const sw_edge *from = &layer->edges[e];
      edges[p.n_edges++] = (sw_edge){from->i + l * each, from->j + l * each, from->cost};
    }
    if (l + 1 == n) break;
    if (each > 1) edges[p.n_edges++] = (sw_edge){l * each + last, (l + 1) * each, next};
    edges[p.n_edges++] = (sw_edge){l * each, (l + 1) * each, skip};
  }
  p.nodes = nodes;
  p.edges = edges;
  return p;
}

/* What the first node of a layer makes is read by its last and by the first of the next, which may be alike. */
static sw_problem with_layer_copies(const sw_problem *layer, int n, sw_rng *g, sw_arena *a, sw_problem p) {
  const int32_t each = layer->n_nodes, n_readers = each > 1 ? 3 : 1;
  const int32_t first[] = {each, each - 1, each};
  const shape s = {.most_cost = 30, .forbidden = 5};
  const sw_copy_table *t = random_copy_table(g, a, p.nodes, 0, first, n_readers, &s);
  sw_copies *copies = take(a, (size_t)n, sizeof *copies);
  for (int32_t l = 0; l + 1 < n; l++) {
    int32_t *reader = take(a, 3, sizeof *reader);
    for (int32_t i = 0; i < 3; i++) reader[i] = first[i] + l * each;
    copies[p.n_copies++] = (sw_copies){l * each, reader, t, NULL};
  }
  p.copies = copies;
  return p;
}

static void quotients_cost_what_they_stand_for(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(71));
  const shape s = {.nodes = 4, .choices = 3, .edges = 5, .uses = 2, .steps = 6, .most_cost = 30, .forbidden = 5};
  int fewer = 0, rounds = check_scale(300);
  for (int k = 0; k < rounds; k++) {
    sw_arena a = {0};
    sw_problem layer = random_problem(&g, &a, &s), quotient, p = copies_of(&layer, 6 + k % 5, &g, &a);
    if (k % 2) p = with_layer_copies(&layer, 6 + k % 5, &g, &a, p);
    int32_t *class_of = take(&a, (size_t)p.n_nodes, sizeof *class_of),
            *full = take(&a, (size_t)p.n_nodes, sizeof *full);
    assert_ok(sw_problem_quotient(&p, &a, &quotient, class_of, &diag));
    assert_ok(sw_problem_verify(&quotient, &diag));
    fewer += quotient.n_nodes < p.n_nodes;
    int32_t *x = take(&a, (size_t)quotient.n_nodes, sizeof *x);
    for (int n = 0; n < 5; n++) {
      sw_score of_classes, of_all;
      for (int32_t i = 0; i < quotient.n_nodes; i++) x[i] = (int32_t)sw_rng_below(&g, quotient.nodes[i].n_choices);
      for (int32_t i = 0; i < p.n_nodes; i++) full[i] = x[class_of[i]];
      assert_ok(sw_problem_score(&quotient, x, &of_classes, &diag));
      assert_ok(sw_problem_score(&p, full, &of_all, &diag));
      assert_int_equal(of_classes.feasible, of_all.feasible);
      assert_true(of_classes.peak == of_all.peak);
      assert_true(of_all.cost >= SW_FORBIDDEN ? of_classes.cost >= SW_FORBIDDEN : of_classes.cost == of_all.cost);
    }
    sw_arena_deinit(&a);
  }
  assert_true(fewer > rounds * 9 / 10);
}

/* The order of passes decides nothing: optima, bounds and certificates hold wherever copy nodes are said to begin. */
static void hubs_change_no_optimum(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(72));
  const shape s = {.nodes = 7, .choices = 3, .edges = 12, .uses = 2, .steps = 5, .most_cost = 30, .forbidden = 10};
  for (int k = 0; k < check_scale(300); k++) {
    sw_arena a = {0};
    sw_text proof = {0};
    int64_t bound;
    sw_problem p = random_problem(&g, &a, &s);
    sw_solution truth, plain, proven;
    sw_solve_options o = {.threads = 1, .solver = SW_SOLVER_EXHAUSTIVE};
    assert_ok(sw_solve(&p, &o, &a, &truth, &diag));
    p.copy_nodes_at = (int32_t)sw_rng_below(&g, p.n_nodes);
    o.solver = SW_SOLVER_NATIVE;
    o.rules_off = k % 2 ? SW_RULES_ALL : 0;
    assert_ok(sw_solve(&p, &o, &a, &plain, &diag));
    o.certificate = &proof;
    assert_ok(sw_solve(&p, &o, &a, &proven, &diag));
    assert_ok(sw_certificate_check(&p, sw_text_str(&proof), proof.n, "proof", &bound, &diag));
    assert_int_equal(bound, proven.status == SW_SOLVE_INFEASIBLE ? SW_FORBIDDEN : proven.bound);
    assert_int_equal(plain.status, truth.status);
    assert_int_equal(proven.status, truth.status);
    if (truth.choice) assert_int_equal(plain.cost, truth.cost);
    sw_text_free(&proof);
    sw_arena_deinit(&a);
  }
}

/* The whole problem's bound, in the order that copy nodes ask for, and the choice that goes with it. */
static void bounds_with_hubs_are_true(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(73));
  const shape s = {.nodes = 3, .choices = 3, .edges = 4, .uses = 1, .steps = 4, .most_cost = 30};
  int any = 0, rounds = check_scale(30);
  for (int k = 0; k < rounds; k++) {
    sw_arena a = {0};
    sw_problem layer = random_problem(&g, &a, &s), p = copies_of(&layer, 120, &g, &a);
    sw_solution best;
    sw_score score;
    sw_solve_options o = {.threads = 1, .work_limit = 5000000};
    sw_bound_options b = {.cost = INT64_MAX, .gap = 1e-3};
    p.limit = INT64_MAX;
    p.copy_nodes_at = p.n_nodes - (int32_t)sw_rng_below(&g, p.n_nodes / 2 + 1);
    sw_bound found = {.choice = take(&a, (size_t)p.n_nodes, sizeof *found.choice)};
    assert_ok(sw_solve(&p, &o, &a, &best, &diag));
    assert_ok(sw_problem_bound(&p, &b, &found, &diag));
    any += found.any;
    if (best.choice) assert_true(found.bound <= best.cost);
    for (int32_t i = 0; found.any && i < p.n_nodes; i++) assert_in_range(found.choice[i], 0, p.nodes[i].n_choices - 1);
    if (found.any) assert_ok(sw_problem_score(&p, found.choice, &score, &diag));
    if (found.any && score.feasible) assert_true(score.cost >= best.bound);
    sw_arena_deinit(&a);
  }
  assert_true(any > rounds / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quotients_cost_what_they_stand_for),
      cmocka_unit_test(hubs_change_no_optimum),
      cmocka_unit_test(bounds_with_hubs_are_true),
  };
  return cmocka_run_group_tests_name("select_quotient", tests, NULL, NULL);
}
