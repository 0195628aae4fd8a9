/* Small cores given to GLPK: what comes back is the optimum, or nothing; values ruled out never take it away. */
#include "check.h"

#include "select_case.h"

#include "select/milp.h"
#include "select/exact/leaf.h"

static bool has_glpk(void) {
  static const int64_t cost[] = {1, 0};
  sw_node node = {.n_choices = 2, .cost = cost};
  sw_problem p = {.n_nodes = 1, .nodes = &node, .limit = INT64_MAX};
  sw_solve_options o = {.solver = SW_SOLVER_GLPK, .threads = 1};
  sw_arena a = {0};
  sw_solution s;
  sw_diag diag = {0};
  bool has = sw_solve(&p, &o, &a, &s, &diag) == SW_OK;
  sw_arena_deinit(&a);
  return has;
}

/* One call of the solver as far as a hand-over needs it. */
typedef struct bench {
  sw_arena a;
  sw_problem p;
  sw_solve_options o;
  sel_run run;
  sel_core whole, core;
  sel_model m;
  sel_budget b;
} bench;

/* A problem with as little reduced as leaves a core; whether anything is left. */
static bool set_up(bench *w, sw_rng *g, int k) {
  sw_diag diag = {0};
  w->p = small_problem(g, &w->a, k);
  w->o.threads = 1;
  w->run = (sel_run){.p = &w->p, .o = &w->o};
  pthread_mutex_init(&w->run.lock, NULL);
  w->run.best = take(&w->a, (size_t)w->p.n_nodes, sizeof *w->run.best);
  assert_ok(sel_core_of_problem(&w->p, &w->a, &w->whole, &diag));
  w->m.run = &w->run;
  assert_ok(sel_model_init(&w->m, &w->whole, SW_RULE_SEPARABLE, &diag));
  assert_ok(sel_model_reduce(&w->m, &w->b, &diag));
  if (w->m.infeasible) return false;
  assert_ok(sel_model_freeze(&w->m, &w->core, &diag));
  return w->core.n > 0;
}

static void tear_down(bench *w) {
  pthread_mutex_destroy(&w->run.lock);
  sel_model_deinit(&w->m);
  sw_arena_deinit(&w->a);
}

/* A random choice of the core that keeps its caps, offered; NULL when some tries find none. */
static int32_t *some_choice(bench *w, const sel_base *k, sw_rng *g) {
  sw_diag diag = {0};
  int32_t *x = take(&w->a, (size_t)w->core.n, sizeof *x);
  int64_t *used = take(&w->a, (size_t)w->core.n_steps + 1, sizeof *used);
  for (int tries = 0; tries < 20; tries++) {
    for (int32_t i = 0; i < w->core.n; i++) x[i] = (int32_t)sw_rng_below(g, w->core.dom[i]);
    if (sel_core_cost(&w->core, x) >= SW_FORBIDDEN || !sel_core_usage(&w->core, x, used)) continue;
    assert_ok(sel_base_offer(k, x, "random", NULL, &diag));
    return x;
  }
  return NULL;
}

/* Passes of the dual, then GLPK; its answer against enumeration of the core. */
static bool milp_once(bench *w, sw_rng *g, bool glpk, int64_t work) {
  sw_diag diag = {0};
  sel_dual u;
  sel_base k = {.r = &w->run, .model = &w->m, .core = &w->core};
  k.full = take(&w->a, (size_t)w->whole.n, sizeof *k.full);
  int32_t *best = take(&w->a, (size_t)w->core.n, sizeof *best), *known = some_choice(w, &k, g);
  int64_t optimum, before = sel_best_cost(&w->run);
  assert_ok(sel_leaf_solve(&w->core, SW_FORBIDDEN, &w->b, best, &optimum, &diag));
  assert_ok(sel_dual_init(&u, &w->core, sw_rng_below(g, 2), &diag));
  double target = known ? (double)before - (double)w->core.offset : 100.0;
  for (int n = 1 + (int)sw_rng_below(g, 60); n > 0; n--) sel_dual_pass(&u, target);
  sel_budget part = {.work_limit = work};
  assert_ok(sel_milp_improve(&k, &u, known, &part, &diag));
  if (optimum >= SW_FORBIDDEN) {
    assert_false(w->run.has);
  } else if (glpk && work == 0) {
    assert_true(w->run.has && w->run.cost == sw_cost_add(optimum, w->core.offset));
  } else {
    assert_true(!w->run.has || (w->run.cost >= sw_cost_add(optimum, w->core.offset) && w->run.cost <= before));
  }
  assert_int_equal(w->run.bound, 0); /* GLPK's word is no proof */
  sel_dual_deinit(&u);
  return optimum < SW_FORBIDDEN && w->run.cost < before;
}

static void milp_finds_the_optimum(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(31));
  bool glpk = has_glpk();
  int rounds = check_scale(400), better = 0;
  for (int k = 0; k < rounds; k++) {
    bench w = {0};
    if (set_up(&w, &g, k)) better += milp_once(&w, &g, glpk, k % 4 ? 0 : 1 + sw_rng_below(&g, 20000));
    tear_down(&w);
  }
  print_message("%d of %d made better\n", better, rounds);
  assert_true(!glpk || better > rounds / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(milp_finds_the_optimum)};
  return cmocka_run_group_tests_name("select_milp", tests, NULL, NULL);
}
