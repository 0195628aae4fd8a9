#include "check.h"

#include "shardwright/select.h"

/* A random problem in an arena. Everything small, so that exhaustive search is quick and ties are common. */
typedef struct shape {
  int nodes, choices, edges, uses, steps;
  int64_t most_cost;
  int forbidden; /* per cent of the entries */
} shape;

static void *take(sw_arena *a, size_t n, size_t size) {
  sw_diag diag = {0};
  void *p = sw_arena_alloc(a, n, size, &diag);
  assert_non_null(p);
  return p;
}

static int64_t *random_costs(sw_rng *g, sw_arena *a, int64_t n, const shape *s) {
  int64_t *c = take(a, (size_t)n, sizeof *c);
  for (int64_t k = 0; k < n; k++)
    c[k] = sw_rng_below(g, 100) < s->forbidden ? SW_FORBIDDEN : sw_rng_below(g, s->most_cost + 1);
  return c;
}

static void random_uses(sw_rng *g, sw_arena *a, sw_node *v, const shape *s) {
  v->n_uses = (int32_t)sw_rng_below(g, s->uses + 1);
  sw_use *u = take(a, (size_t)v->n_uses, sizeof *u);
  for (int k = 0; k < v->n_uses; k++) {
    int64_t b = sw_rng_below(g, s->steps), e = sw_rng_below(g, s->steps);
    int64_t *amount = take(a, (size_t)v->n_choices, sizeof *amount);
    for (int c = 0; c < v->n_choices; c++) amount[c] = sw_rng_below(g, 10);
    u[k] = (sw_use){b < e ? b : e, b < e ? e : b, amount};
  }
  v->uses = u;
}

static sw_problem random_problem(sw_rng *g, sw_arena *a, const shape *s) {
  sw_problem p = {.name = "random", .limit = INT64_MAX};
  p.n_nodes = 1 + (int32_t)sw_rng_below(g, s->nodes);
  sw_node *nodes = take(a, (size_t)p.n_nodes, sizeof *nodes);
  int64_t peak_guess = 0;
  for (int i = 0; i < p.n_nodes; i++) {
    nodes[i].n_choices = 1 + (int32_t)sw_rng_below(g, s->choices);
    nodes[i].cost = random_costs(g, a, nodes[i].n_choices, s);
    random_uses(g, a, &nodes[i], s);
    peak_guess += 3 * nodes[i].n_uses;
  }
  p.nodes = nodes;
  p.n_edges = p.n_nodes > 1 ? (int32_t)sw_rng_below(g, s->edges + 1) : 0;
  sw_edge *edges = take(a, (size_t)p.n_edges, sizeof *edges);
  for (int e = 0; e < p.n_edges; e++) {
    int32_t i = (int32_t)sw_rng_below(g, p.n_nodes), j = (int32_t)sw_rng_below(g, p.n_nodes - 1);
    if (j >= i) j++;
    edges[e] = (sw_edge){i, j, random_costs(g, a, (int64_t)nodes[i].n_choices * nodes[j].n_choices, s)};
  }
  p.edges = edges;
  if (sw_rng_below(g, 4)) p.limit = sw_rng_below(g, peak_guess + 2);
  return p;
}

static sw_solution solve_with(const sw_problem *p, sw_solver solver, sw_arena *a) {
  sw_diag diag = {0};
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

static void same_as_exhaustive(const shape *shapes, size_t n_shapes, sw_solver solver, int rounds, uint64_t seed) {
  sw_rng g;
  sw_rng_seed(&g, check_seed(seed));
  int infeasible = 0, optimal = 0;
  for (int k = 0; k < rounds; k++) {
    sw_arena a = {0};
    sw_problem p = random_problem(&g, &a, &shapes[k % (int)n_shapes]);
    sw_solution want = solve_with(&p, SW_SOLVER_EXHAUSTIVE, &a), got = solve_with(&p, solver, &a);
    if (want.status != got.status || want.cost != got.cost)
      fail_msg("round %d: exhaustive %s %lld, %s %s %lld (bound %lld)", k, sw_solve_status_text(want.status),
               (long long)want.cost, sw_solver_text(solver), sw_solve_status_text(got.status), (long long)got.cost,
               (long long)got.bound);
    if (want.status == SW_SOLVE_INFEASIBLE && want.least_peak > 0) assert_true(got.least_peak <= want.least_peak);
    infeasible += want.status == SW_SOLVE_INFEASIBLE;
    optimal += want.status == SW_SOLVE_OPTIMAL;
    sw_arena_deinit(&a);
  }
  print_message("%d optimal, %d infeasible\n", optimal, infeasible);
  assert_true(optimal > rounds / 10 && infeasible > rounds / 100);
}

static const shape kSmall[] = {
    {5, 3, 6, 2, 6, 9, 10},
    {7, 3, 10, 1, 8, 100, 0},
    {6, 4, 9, 3, 4, 5, 30},
    {8, 2, 16, 2, 10, 1000, 5},
};
#define N_SMALL (sizeof kSmall / sizeof kSmall[0])

static void native_equals_exhaustive(void **state) {
  (void)state;
  same_as_exhaustive(kSmall, N_SMALL, SW_SOLVER_NATIVE, check_scale(12000), 1);
}

static void glpk_equals_exhaustive(void **state) {
  (void)state;
  same_as_exhaustive(kSmall, N_SMALL, SW_SOLVER_GLPK, check_scale(300), 2);
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
  sw_diag diag = {0};
  assert_int_equal(sw_solve(&p, &o, &a, &s, &diag), SW_E_USAGE);
  assert_non_null(strstr(diag.text, "at most 16777216"));
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(native_equals_exhaustive),
      cmocka_unit_test(glpk_equals_exhaustive),
      cmocka_unit_test(exhaustive_refuses_what_is_too_much),
  };
  return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
