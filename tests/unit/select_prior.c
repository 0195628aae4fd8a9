/* Prices and messages of another search, true or not: what is proven and found from there holds all the same. */
#include "check.h"

#include "select_case.h"

#include "shardwright/certificate.h"

/* Messages between any nodes about any choices, some of which there are, and prices at any times. */
static sw_learned nonsense(sw_rng *g, sw_arena *a, const sw_problem *p) {
  sw_learned k = {.n_links = 2 * p->n_edges + 1, .n_prices = 3};
  k.links = take(a, (size_t)k.n_links, sizeof *k.links);
  k.time = take(a, 3, sizeof *k.time);
  k.price = take(a, 3, sizeof *k.price);
  for (int t = 0; t < 3; t++) {
    k.time[t] = 3 * t + sw_rng_below(g, 3) - 1;
    k.price[t] = (double)(1 + sw_rng_below(g, 30)) / 7;
  }
  for (int32_t e = 0; e < k.n_links; e++) {
    sw_learned_link *l = &k.links[e];
    const sw_edge *edge = p->n_edges && e % 3 ? &p->edges[sw_rng_below(g, p->n_edges)] : NULL;
    l->node[0] = edge ? (edge->i < edge->j ? edge->i : edge->j) : sw_rng_below(g, 2 * p->n_nodes);
    l->node[1] = edge ? (edge->i < edge->j ? edge->j : edge->i) : sw_rng_below(g, 2 * p->n_nodes);
    for (int side = 0; side < 2; side++) {
      l->n[side] = (int32_t)sw_rng_below(g, 6);
      l->choice[side] = take(a, (size_t)l->n[side], sizeof(int64_t));
      l->message[side] = take(a, (size_t)l->n[side], sizeof(double));
      for (int32_t s = 0; s < l->n[side]; s++) {
        l->choice[side][s] = sw_rng_below(g, 7) - 1;
        l->message[side][s] = (double)(sw_rng_below(g, 400) - 200) / 3;
      }
    }
  }
  return k;
}

static void solve_from(const sw_problem *p, unsigned rules_off, const sw_learned *prior, sw_learned *learned,
                       const sw_solution *truth, sw_arena *a) {
  sw_diag diag = {0};
  sw_text proof = {0};
  sw_solution s;
  int64_t bound;
  sw_solve_options o = {.threads = 1,
                        .work_limit = 200000,
                        .rules_off = rules_off,
                        .certificate = &proof,
                        .prior = prior,
                        .learned = learned};
  assert_ok(sw_solve(p, &o, a, &s, &diag));
  assert_ok(sw_certificate_check(p, sw_text_str(&proof), proof.n, "proof", &bound, &diag));
  if (truth->choice) assert_true(s.bound <= truth->cost);
  if (truth->choice && s.choice) assert_true(s.cost >= truth->cost);
  if (s.status == SW_SOLVE_OPTIMAL) assert_int_equal(s.cost, truth->cost);
  if (s.status == SW_SOLVE_INFEASIBLE) assert_null(truth->choice);
  sw_text_free(&proof);
}

static void any_prior_is_safe(void **state) {
  (void)state;
  const shape kDenser = {.nodes = 9, .choices = 4, .edges = 30, .uses = 2, .steps = 6, .most_cost = 60, .forbidden = 4};
  sw_rng g;
  int with_links = 0;
  sw_rng_seed(&g, check_seed(61));
  for (int k = 0; k < check_scale(300); k++) {
    sw_arena a = {0};
    sw_diag diag = {0};
    sw_problem p = random_problem(&g, &a, &kDenser);
    sw_solution truth;
    sw_learned learned = {0}, wrong = nonsense(&g, &a, &p);
    sw_solve_options o = {.solver = SW_SOLVER_EXHAUSTIVE, .threads = 1};
    assert_ok(sw_solve(&p, &o, &a, &truth, &diag));
    solve_from(&p, k % 2 ? SW_RULES_ALL : 0, NULL, &learned, &truth, &a);
    with_links += learned.n_links > 0;
    solve_from(&p, k % 2 ? SW_RULES_ALL : 0, &learned, NULL, &truth, &a);
    solve_from(&p, k % 2 ? SW_RULES_ALL : 0, &wrong, &learned, &truth, &a);
    sw_arena_deinit(&a);
  }
  print_message("%d searches learned something\n", with_links);
  assert_true(with_links > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_prior_is_safe)};
  return cmocka_run_group_tests_name("select_prior", tests, NULL, NULL);
}
