/* The parts of the solver one by one: each reduction keeps an optimum, each bound is one. */
#include "check.h"

#include <math.h>

#include "select_case.h"

#include "select/bound/dual.h"
#include "select/exact/branch.h"
#include "select/exact/elim.h"
#include "select/exact/leaf.h"
#include "select/search/lns.h"
#include "select/presolve/presolve_model.h"
#include "select/run.h"

static int64_t optimum(const sw_problem *p, sw_arena *a) {
  sw_solution s;
  sw_solve_options o = {.solver = SW_SOLVER_EXHAUSTIVE, .threads = 1};
  assert_ok(sw_solve(p, &o, a, &s, &diag));
  return s.choice ? s.cost : SW_FORBIDDEN;
}

/* Reduce under the rules, solve the rest exactly, and bring the choice home. What each rule took away is added up. */
static void reduced_gives(const sw_problem *p, unsigned rules, int64_t want, int64_t *removed) {
  sw_arena a = {0};
  sel_core whole, rest;
  sel_model m;
  sel_budget b = {0};
  assert_ok(sel_core_of_problem(p, &a, &whole, &diag));
  assert_ok(sel_model_init(&m, &whole, (sel_model_given){.rules = rules}, &diag));
  assert_ok(sel_model_reduce(&m, &b, &diag));
  assert_true(sel_model_is_sound(&m));
  if (!m.infeasible) assert_ok(sel_model_freeze(&m, &rest, &diag));
  if (m.infeasible) {
    assert_true(want == SW_FORBIDDEN);
  } else {
    int32_t *x = take(&a, (size_t)rest.n, sizeof *x), *full = take(&a, (size_t)p->n_nodes, sizeof *full);
    int64_t cost;
    assert_ok(sel_leaf_solve(&rest, SW_FORBIDDEN, &b, x, &cost, &diag));
    assert_true(sw_cost_add(cost, m.offset) == want);
    if (want < SW_FORBIDDEN) {
      sw_score score;
      sel_model_expand(&m, x, full);
      assert_ok(sw_problem_score(p, full, &score, &diag));
      assert_true(score.feasible && score.cost == want);
    }
  }
  for (int k = 0; k < SW_SELECT_RULES; k++) {
    removed[k] += m.removed[k];
    if (!(rules >> k & 1)) assert_int_equal(m.removed[k], 0);
  }
  sel_model_deinit(&m);
  sw_arena_deinit(&a);
}

static void every_rule_keeps_an_optimum(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(11));
  int64_t removed[SW_SELECT_RULES] = {0};
  for (int k = 0; k < check_scale(1500); k++) {
    sw_arena a = {0};
    sw_problem p = small_problem(&g, &a, k);
    int64_t want = optimum(&p, &a);
    reduced_gives(&p, 0, want, removed);
    for (unsigned rule = 1; rule <= SW_RULES_ALL; rule <<= 1) reduced_gives(&p, rule, want, removed);
    reduced_gives(&p, (unsigned)sw_rng_below(&g, SW_RULES_ALL + 1), want, removed);
    reduced_gives(&p, SW_RULES_ALL, want, removed);
    reduced_gives(&p, SW_RULES_ALL & ~(unsigned)SW_RULE_DEGREE, want, removed);
    sw_arena_deinit(&a);
  }
  for (int k = 0; k < SW_SELECT_RULES; k++) {
    print_message("%s took %lld\n", sw_select_rule_text(k), (long long)removed[k]);
    assert_true(removed[k] > check_scale(50));
  }
}

/* How many tables the edges that reductions leave have between them. */
static int32_t tables_left(const sw_problem *p, int32_t *n_edges) {
  sw_arena a = {0};
  sel_core whole;
  sel_model m;
  sel_budget b = {0};
  int32_t n = 0;
  *n_edges = 0;
  assert_ok(sel_core_of_problem(p, &a, &whole, &diag));
  assert_ok(sel_model_init(&m, &whole, (sel_model_given){.rules = SW_RULES_ALL}, &diag));
  assert_ok(sel_model_reduce(&m, &b, &diag));
  for (int32_t e = 0; e < m.n_edges && !m.infeasible; e++) {
    bool known = m.edges[e].gone;
    for (int32_t i = 0; i < e && !known; i++) known = !m.edges[i].gone && m.edges[i].v == m.edges[e].v;
    n += !known;
    *n_edges += !m.edges[e].gone;
  }
  sel_model_deinit(&m);
  sw_arena_deinit(&a);
  return n;
}

static void what_repeats_has_its_tables_once(void **state) {
  (void)state;
  static const shape kDense = {9, 5, 40, 0, 4, 20, 10};
  sw_rng g;
  sw_rng_seed(&g, check_seed(24));
  int64_t edges = 0, tables = 0;
  for (int k = 0; k < check_scale(200); k++) {
    sw_arena a = {0};
    int32_t n, n_of_four;
    const sw_problem p = random_problem(&g, &a, &kDense), two = side_by_side(&a, &p, &p, kDense.steps),
                     four = side_by_side(&a, &two, &two, 2 * kDense.steps);
    assert_int_equal(tables_left(&four, &n_of_four), tables_left(&p, &n));
    assert_int_equal(n_of_four, 4 * n);
    edges += n;
    tables += tables_left(&p, &n);
    sw_arena_deinit(&a);
  }
  print_message("%lld edges left, %lld tables\n", (long long)edges, (long long)tables);
  assert_true(tables > check_scale(200));
}

/* Certified from any prices and messages, the bound stays below the optimum; where memory is no matter and the graph is
 * a tree it reaches it. */
static void every_certified_bound_holds(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(12));
  int tight = 0;
  for (int k = 0; k < check_scale(1500); k++) {
    sw_arena a = {0};
    sw_problem p = random_problem(&g, &a, &kSmall[k % (int)N_SMALL]);
    int64_t want = optimum(&p, &a), bound;
    sel_core c;
    sel_dual u;
    assert_ok(sel_core_of_problem(&p, &a, &c, &diag));
    assert_ok(sel_dual_init(&u, &c, NULL, k % 2, &diag));
    for (int pass = 0; pass < 40; pass++) {
      sel_dual_pass(&u, 1.2 * (double)sw_min_i64(want, 100000) + 1);
      if (pass % 13) continue;
      assert_ok(sel_dual_certify(&u, NULL, NULL, &bound, &diag));
      if (bound > want)
        fail_msg("round %d pass %d: bound %lld, optimum %lld", k, pass, (long long)bound, (long long)want);
    }
    tight += bound == want;
    for (int32_t t = 0; t < c.n_steps; t++) u.best.lambda[t] = 10 * sw_rng_unit(&g);
    for (int64_t n = 0; n < u.n_messages; n++) u.best.messages[n] = 50 * sw_rng_unit(&g) - 25;
    assert_ok(sel_dual_certify(&u, NULL, NULL, &bound, &diag));
    assert_true(bound <= want);
    sel_dual_deinit(&u);
    sw_arena_deinit(&a);
  }
  print_message("%d bounds tight\n", tight);
  assert_true(tight > check_scale(1500) / 10);
}

/* Two nodes that cost nothing by themselves, and together what no sum of 64 bits holds with room for fractions. */
static void bounds_of_huge_tables_are_tight(void **state) {
  (void)state;
  static const int64_t kFree[2],
      kHuge[4] = {INT64_C(30000000000000000), SW_FORBIDDEN - 1, SW_FORBIDDEN, INT64_C(40000000000000000)};
  static const sw_node kNodes[] = {{2, 0, kFree, NULL}, {2, 0, kFree, NULL}};
  static const sw_edge kEdge = {0, 1, kHuge};
  const sw_problem p = {"huge", 2, 1, kNodes, &kEdge, INT64_MAX};
  sw_arena a = {0};
  sel_core c;
  sel_dual u;
  int64_t bound;
  assert_ok(sel_core_of_problem(&p, &a, &c, &diag));
  assert_ok(sel_dual_init(&u, &c, NULL, false, &diag));
  sel_dual_pass(&u, 0);
  assert_ok(sel_dual_certify(&u, NULL, NULL, &bound, &diag));
  assert_true(bound == kHuge[0]);
  sel_dual_deinit(&u);
  sw_arena_deinit(&a);
}

static void elimination_equals_enumeration(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(13));
  for (int k = 0; k < check_scale(1500); k++) {
    sw_arena a = {0};
    sw_problem p = random_problem(&g, &a, &kSmall[k % (int)N_SMALL]);
    p.limit = INT64_MAX;
    int64_t want = optimum(&p, &a), value;
    sel_core c;
    sel_elim_plan plan;
    sel_budget b = {0};
    bool done;
    int32_t *x = take(&a, (size_t)p.n_nodes, sizeof *x);
    assert_ok(sel_core_of_problem(&p, &a, &c, &diag));
    assert_ok(sel_elim_plan_build(&c, 1 << 22, SEL_ELIM_ALL_CELLS, &a, &plan, &diag));
    assert_true(plan.fits);
    assert_ok(sel_elim_run(&c, &plan, c.cost, &b, x, &value, &done, &diag));
    assert_true(done && value == want);
    if (want < SW_FORBIDDEN) assert_true(sel_core_cost(&c, x) == want);
    sw_arena_deinit(&a);
  }
}

/* A large move never makes a choice worse, keeps the caps, and leaves the sums as a fresh count finds them. */
static void large_moves_only_improve(void **state) {
  (void)state;
  static const shape kWide = {40, 5, 90, 2, 20, 1000, 3};
  sw_rng g;
  sw_rng_seed(&g, check_seed(14));
  int won = 0;
  for (int k = 0; k < check_scale(60); k++) {
    sw_arena a = {0};
    sel_core c;
    sel_field f;
    sel_state s;
    sel_lns l;
    sel_dual u;
    sel_budget b = {0};
    sw_problem p = random_problem(&g, &a, &kWide);
    assert_ok(sel_core_of_problem(&p, &a, &c, &diag));
    assert_ok(sel_field_init(&f, &c, 0, &a, &diag));
    assert_ok(sel_state_init(&s, &f, &a, &diag));
    assert_ok(sel_dual_init(&u, &c, NULL, k % 2, &diag));
    assert_ok(sel_lns_init(&l, &f, u.links, (uint64_t)k, &a, &diag));
    int32_t *x = take(&a, (size_t)c.n, sizeof *x);
    for (int32_t i = 0; i < c.n; i++) x[i] = (int32_t)sw_rng_below(&g, c.dom[i]);
    sel_state_set(&s, x);
    bool start = sel_repair(&s, NULL, &b);
    for (int move = 0; start && move < 20; move++) {
      bool better;
      sw_i128 before = s.cost;
      assert_ok(sel_lns_move(&l, &s, &b, &better, &diag));
      assert_true(better ? s.cost < before : s.cost == before);
      assert_true(sel_state_feasible(&s));
      assert_true(s.cost == sel_core_cost(&c, s.x));
      won += better;
    }
    sel_lns_deinit(&l);
    sel_dual_deinit(&u);
    sw_arena_deinit(&a);
  }
  print_message("%d moves were better\n", won);
  assert_true(won > 0);
}

/* From one variable to all: with everybody free the search is exact. */
static void a_large_move_over_everything_is_exact(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(15));
  int tried = 0;
  for (int k = 0; k < check_scale(300); k++) {
    sw_arena a = {0};
    sel_core c;
    sel_field f;
    sel_state s;
    sel_lns l;
    sel_dual u;
    sel_budget b = {0};
    sw_problem p = random_problem(&g, &a, &kSmall[k % (int)N_SMALL]);
    int64_t want = optimum(&p, &a);
    assert_ok(sel_core_of_problem(&p, &a, &c, &diag));
    assert_ok(sel_field_init(&f, &c, 0, &a, &diag));
    assert_ok(sel_state_init(&s, &f, &a, &diag));
    assert_ok(sel_dual_init(&u, &c, NULL, k % 2, &diag));
    assert_ok(sel_lns_init(&l, &f, u.links, 1, &a, &diag));
    int32_t *x = take(&a, (size_t)c.n, sizeof *x);
    sel_state_set(&s, x);
    bool feasible = sel_repair(&s, NULL, &b);
    for (int move = 0; feasible && move < 60; move++) {
      bool better;
      l.size = 400;
      assert_ok(sel_lns_move(&l, &s, &b, &better, &diag));
    }
    assert_true(!feasible || s.cost >= want);
    tried += feasible && s.cost == want;
    sel_lns_deinit(&l);
    sel_dual_deinit(&u);
    sw_arena_deinit(&a);
  }
  print_message("%d reach the optimum\n", tried);
  assert_true(tried > 0);
}

/* A chain with a chord whose tables have few distinct lines. */
static sel_core repetitive_core(sw_rng *g, sw_arena *a) {
  enum { N = 7, DOM = 20, PAIRS = 9, KINDS = 4 };
  int32_t *dom = take(a, N, sizeof *dom), *first = take(a, N + 1, sizeof *first);
  const int64_t **cost = take(a, N, sizeof *cost);
  sel_pair *pairs = take(a, PAIRS, sizeof *pairs);
  sel_mat *mats = take(a, PAIRS, sizeof *mats);
  int kind[N][DOM];
  for (int i = 0; i < N; i++) {
    int64_t *c = take(a, DOM, sizeof *c);
    dom[i] = DOM;
    for (int s = 0; s < DOM; s++) c[s] = sw_rng_below(g, 60), kind[i][s] = (int)sw_rng_below(g, KINDS);
    cost[i] = c;
  }
  for (int e = 0; e < PAIRS; e++) {
    int32_t i = e < N - 1 ? e : e - N + 1, j = e < N - 1 ? e + 1 : i + 3;
    int64_t few[KINDS][KINDS], *v = take(a, DOM * DOM, sizeof *v);
    for (int s = 0; s < KINDS; s++)
      for (int t = 0; t < KINDS; t++) few[s][t] = sw_rng_below(g, 9) ? sw_rng_below(g, 90) : SW_FORBIDDEN;
    if (e % 2) pairs[e] = (sel_pair){i, j, e};
    if (e % 2 == 0) pairs[e] = (sel_pair){j, i, e};
    for (int s = 0; s < DOM; s++)
      for (int t = 0; t < DOM; t++) v[s * DOM + t] = few[kind[pairs[e].i][s]][kind[pairs[e].j][t]];
    mats[e] = (sel_mat){DOM, DOM, v};
  }
  return (sel_core){.n = N,
                    .dom = dom,
                    .cost = cost,
                    .first_use = first,
                    .n_pairs = PAIRS,
                    .n_mats = PAIRS,
                    .pairs = pairs,
                    .mats = mats};
}

/* Compressed tables lead to the same bounds and the same choice, pass by pass. */
static void compression_changes_nothing(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(16));
  for (int k = 0; k < check_scale(50); k++) {
    sw_arena a = {0};
    sel_core c = repetitive_core(&g, &a);
    sel_dual plain, compressed;
    int32_t x[2][8];
    assert_ok(sel_dual_init(&plain, &c, NULL, false, &diag));
    assert_ok(sel_dual_init(&compressed, &c, NULL, true, &diag));
    assert_true(compressed.cells < plain.cells / 10);
    for (int pass = 0; pass < 10; pass++) {
      sel_dual_pass(&plain, 1e3);
      sel_dual_pass(&compressed, 1e3);
      assert_true(sel_dual_is_sound(&plain) && sel_dual_is_sound(&compressed));
      assert_true(fabs(plain.pass.bound - compressed.pass.bound) < 1e-6);
    }
    for (int32_t s = 0; s < plain.n_flat; s++) assert_true(fabs(plain.pass.hat[s] - compressed.pass.hat[s]) < 1e-3);
    sel_dual_decode(&plain, x[0]);
    sel_dual_decode(&compressed, x[1]);
    assert_memory_equal(x[0], x[1], (size_t)c.n * sizeof x[0][0]);
    sel_dual_deinit(&plain);
    sel_dual_deinit(&compressed);
    sw_arena_deinit(&a);
  }
}

/* The cost that one large move over everything leads to from the smallest choice that is allowed. */
static int64_t cost_of_a_move(const sel_core *c, bool compress, sw_arena *a) {
  sel_dual u;
  sel_field f;
  sel_state s;
  sel_lns l;
  sel_budget b = {0};
  bool better;
  assert_ok(sel_dual_init(&u, c, NULL, compress, &diag));
  assert_ok(sel_field_init(&f, c, 0, a, &diag));
  assert_ok(sel_state_init(&s, &f, a, &diag));
  assert_ok(sel_lns_init(&l, &f, u.links, 1, a, &diag));
  sel_state_set(&s, take(a, (size_t)c->n, sizeof(int32_t)));
  l.size = 400;
  assert_ok(sel_lns_move(&l, &s, &b, &better, &diag));
  const int64_t cost = sel_core_cost(c, s.x);
  assert_true(cost >= SW_FORBIDDEN || s.cost == cost);
  sel_lns_deinit(&l);
  sel_dual_deinit(&u);
  return cost;
}

/* Nor does it in large moves, which borrow the tables. */
static void nor_in_large_moves(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(17));
  int allowed = 0;
  for (int k = 0; k < check_scale(50); k++) {
    sw_arena a = {0};
    const sel_core c = repetitive_core(&g, &a);
    const int64_t plain = cost_of_a_move(&c, false, &a);
    assert_int_equal(plain, cost_of_a_move(&c, true, &a));
    allowed += plain < SW_FORBIDDEN;
    sw_arena_deinit(&a);
  }
  print_message("%d with a choice\n", allowed);
  assert_true(allowed > 0);
}

/* A tree over the problem, or over what it is without its limit, to its end: in the latter the best choice may break
 * the limit, and proves nothing beyond what it costs. From a random solution, or none. */
static bool a_tree_proves(const sw_problem *p, sw_rng *g, bool relaxed, int64_t best) {
  sw_arena a = {0};
  sel_core whole, bare, rest;
  sw_solve_options o = {.threads = 1};
  sel_run run = {.p = p, .o = &o, .best = take(&a, (size_t)p->n_nodes, sizeof *run.best)};
  sel_model m;
  sel_brancher *tree;
  bool broken = false;
  int32_t *x = take(&a, (size_t)p->n_nodes, sizeof *x), *zeros;
  pthread_mutex_init(&run.lock, NULL);
  assert_ok(sel_core_of_problem(p, &a, &whole, &diag));
  zeros = take(&a, (size_t)whole.n + 1, sizeof *zeros);
  bare = sel_core_without_uses(&whole, zeros);
  for (int tries = (int)sw_rng_below(g, 20); tries > 0 && !run.has; tries--) {
    for (int32_t i = 0; i < p->n_nodes; i++) x[i] = (int32_t)sw_rng_below(g, p->nodes[i].n_choices);
    assert_ok(sel_offer(&run, x, "random", NULL, &diag));
  }
  assert_ok(sel_model_init(&m, relaxed ? &bare : &whole, (sel_model_given){.rules = SW_RULE_SEPARABLE}, &diag));
  assert_ok(sel_model_reduce(&m, &run.budget, &diag));
  if (!m.infeasible) {
    assert_ok(sel_model_freeze(&m, &rest, &diag));
    sel_base k = {.r = &run, .model = &m, .core = &rest, .relaxed = relaxed};
    k.full = take(&a, (size_t)whole.n, sizeof *k.full);
    double *lambda = take(&a, (size_t)rest.n_steps + 1, sizeof *lambda);
    assert_ok(sel_branch_open(&k, lambda, &run.budget, &tree, &diag));
    assert_ok(sel_branch_run(tree, &run.budget, &broken));
    sel_branch_close(tree);
    assert_true(relaxed || !broken);
    assert_true(run.bound <= best && (!run.infeasible || best == SW_FORBIDDEN));
    if (!broken) assert_true(best == (run.has ? run.cost : SW_FORBIDDEN));
  }
  pthread_mutex_destroy(&run.lock);
  sel_model_deinit(&m);
  sw_arena_deinit(&a);
  return broken;
}

static void trees_prove_what_is_so(void **state) {
  (void)state;
  sw_rng g;
  int broken = 0;
  sw_rng_seed(&g, check_seed(23));
  for (int k = 0; k < check_scale(1500); k++) {
    sw_arena a = {0};
    const sw_problem p = small_problem(&g, &a, k);
    const int64_t best = optimum(&p, &a);
    (void)a_tree_proves(&p, &g, false, best);
    broken += a_tree_proves(&p, &g, true, best);
    sw_arena_deinit(&a);
  }
  print_message("%d times the limit decided\n", broken);
  assert_true(broken > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_rule_keeps_an_optimum),     cmocka_unit_test(every_certified_bound_holds),
      cmocka_unit_test(bounds_of_huge_tables_are_tight), cmocka_unit_test(elimination_equals_enumeration),
      cmocka_unit_test(large_moves_only_improve),        cmocka_unit_test(a_large_move_over_everything_is_exact),
      cmocka_unit_test(compression_changes_nothing),     cmocka_unit_test(nor_in_large_moves),
      cmocka_unit_test(trees_prove_what_is_so),          cmocka_unit_test(what_repeats_has_its_tables_once),
  };
  return cmocka_run_group_tests_name("select_parts", tests, NULL, NULL);
}
