/* What another search knew, true or not: what is proven and found from there holds all the same; also when the problem
 * has grown since. */
#include "check.h"

#include "select_case.h"

#include "shardwright/certificate.h"

/* Messages between any nodes about any choices, some of which there are, and prices at any times. */
static sw_solve_state nonsense(sw_rng *g, sw_arena *a, const sw_problem *p) {
  sw_solve_state k = {.n_links = 2 * p->n_edges + 1, .n_prices = 3};
  k.links = take(a, (size_t)k.n_links, sizeof *k.links);
  k.time = take(a, 3, sizeof *k.time);
  k.price = take(a, 3, sizeof *k.price);
  int32_t *choice = take(a, (size_t)p->n_nodes, sizeof *choice);
  k.n_nodes = (int32_t)sw_rng_below(g, p->n_nodes + 1);
  for (int32_t i = 0; i < p->n_nodes; i++) choice[i] = (int32_t)sw_rng_below(g, 6) - 1;
  k.choice = choice;
  for (int t = 0; t < 3; t++) {
    k.time[t] = 3 * t + sw_rng_below(g, 3) - 1;
    k.price[t] = (double)(1 + sw_rng_below(g, 30)) / 7;
  }
  for (int32_t e = 0; e < k.n_links; e++) {
    sw_dual_link *l = &k.links[e];
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

static void is_true(const sw_solution *s, const sw_solution *truth) {
  if (truth->choice) assert_true(s->bound <= truth->cost);
  if (truth->choice && s->choice) assert_true(s->cost >= truth->cost);
  if (s->status == SW_SOLVE_OPTIMAL) assert_int_equal(s->cost, truth->cost);
  if (s->status == SW_SOLVE_INFEASIBLE) assert_null(truth->choice);
}

static void solve_from(const sw_problem *p, unsigned rules_off, const sw_solve_state *from, sw_solve_state *to,
                       const sw_solution *truth, sw_arena *a) {
  sw_text proof = {0};
  sw_solution s;
  int64_t bound;
  sw_solve_options o = {
      .threads = 1, .work_limit = 200000, .rules_off = rules_off, .certificate = &proof, .from = from, .to = to};
  assert_ok(sw_solve(p, &o, a, &s, &diag));
  assert_ok(sw_certificate_check(p, sw_text_str(&proof), proof.n, "proof", &bound, &diag));
  is_true(&s, truth);
  o.certificate = NULL; /* what no certificate has words for is tried, too */
  o.to = NULL;
  assert_ok(sw_solve(p, &o, a, &s, &diag));
  is_true(&s, truth);
  sw_text_free(&proof);
}

static void any_state_is_safe(void **state) {
  (void)state;
  const shape kDenser = {.nodes = 9, .choices = 4, .edges = 30, .uses = 2, .steps = 6, .most_cost = 60, .forbidden = 4};
  sw_rng g;
  int with_links = 0;
  sw_rng_seed(&g, check_seed(61));
  for (int k = 0; k < check_scale(300); k++) {
    sw_arena a = {0};
    sw_problem p = random_problem(&g, &a, &kDenser);
    sw_solution truth;
    sw_solve_state known = {0}, wrong = nonsense(&g, &a, &p);
    sw_solve_options o = {.solver = SW_SOLVER_EXHAUSTIVE, .threads = 1};
    assert_ok(sw_solve(&p, &o, &a, &truth, &diag));
    solve_from(&p, k % 2 ? SW_RULES_ALL : 0, NULL, &known, &truth, &a);
    with_links += known.n_links > 0;
    solve_from(&p, k % 2 ? SW_RULES_ALL : 0, &known, NULL, &truth, &a);
    solve_from(&p, k % 2 ? SW_RULES_ALL : 0, &wrong, &known, &truth, &a);
    sw_arena_deinit(&a);
  }
  print_message("%d searches left messages\n", with_links);
  assert_true(with_links > 0);
}

/* A table of n x m in one of more rows and columns; entries there were before now and then have another price. */
static const int64_t *grown_table(sw_rng *g, sw_arena *a, const int64_t *from, int32_t n, int32_t m, int32_t n_now,
                                  int32_t m_now, const shape *s) {
  int64_t *to = random_costs(g, a, (int64_t)n_now * m_now, s);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < m; j++)
      if (sw_rng_below(g, 8)) to[(int64_t)i * m_now + j] = from[(int64_t)i * m + j];
  return to;
}

/* More choices for some nodes, another node joined to two others, other prices for some entries. */
static sw_problem grown(sw_rng *g, sw_arena *a, const sw_problem *p, const shape *s) {
  sw_problem q = {.name = "grown", .n_nodes = p->n_nodes + 1, .n_edges = p->n_edges + 2, .limit = p->limit};
  sw_node *nodes = take(a, (size_t)q.n_nodes, sizeof *nodes);
  sw_edge *edges = take(a, (size_t)q.n_edges, sizeof *edges);
  for (int32_t i = 0; i < q.n_nodes; i++) {
    const sw_node none = {.n_choices = 0}, *v = i < p->n_nodes ? &p->nodes[i] : &none;
    sw_usage *uses = take(a, (size_t)v->n_uses, sizeof *uses);
    nodes[i] =
        (sw_node){.n_choices = v->n_choices + (int32_t)sw_rng_below(g, 3) + (i == p->n_nodes), .n_uses = v->n_uses};
    nodes[i].cost = grown_table(g, a, v->cost, 1, v->n_choices, 1, nodes[i].n_choices, s);
    nodes[i].uses = uses;
    for (int32_t k = 0; k < v->n_uses; k++) {
      uses[k] = v->uses[k];
      uses[k].amount =
          grown_table(g, a, v->uses[k].amount, 1, v->n_choices, 1, nodes[i].n_choices, &(shape){.most_cost = 9});
    }
  }
  for (int32_t e = 0; e < q.n_edges; e++) {
    if (e < p->n_edges) edges[e] = p->edges[e];
    if (e >= p->n_edges) edges[e] = (sw_edge){(int32_t)sw_rng_below(g, p->n_nodes), p->n_nodes, NULL};
    const int32_t i = edges[e].i, j = edges[e].j, n = e < p->n_edges ? p->nodes[i].n_choices : 0;
    const int32_t m = e < p->n_edges ? p->nodes[j].n_choices : 0;
    edges[e].cost = grown_table(g, a, edges[e].cost, n, m, nodes[i].n_choices, nodes[j].n_choices, s);
  }
  q.nodes = nodes;
  q.edges = edges;
  return q;
}

/* A problem that grows while it is being solved: from what was known each time, its optimum is that of the problem. */
static void grown_problems_are_solved_on(void **state) {
  (void)state;
  const shape kFew = {.nodes = 4, .choices = 2, .edges = 6, .uses = 2, .steps = 5, .most_cost = 40, .forbidden = 4};
  sw_rng g;
  int kept = 0;
  sw_rng_seed(&g, check_seed(62));
  for (int k = 0; k < check_scale(200); k++) {
    sw_arena a = {0};
    sw_problem p = random_problem(&g, &a, &kFew);
    sw_solve_state known = {0};
    for (int step = 0; step < 3; step++) {
      sw_solution truth, s;
      known.bound = 0; /* something may have become cheaper */
      const sw_solve_options anew = {.solver = SW_SOLVER_EXHAUSTIVE, .threads = 1};
      const sw_solve_options on = {.threads = 1, .rules_off = k % 2 ? SW_RULES_ALL : 0, .from = &known, .to = &known};
      assert_ok(sw_solve(&p, &anew, &a, &truth, &diag));
      assert_ok(sw_solve(&p, &on, &a, &s, &diag));
      assert_true(s.status == truth.status && s.cost == truth.cost);
      if (s.choice) assert_true(known.choice == s.choice && known.bound == s.cost && known.n_nodes == p.n_nodes);
      kept += known.n_links > 0;
      p = grown(&g, &a, &p, &kFew);
    }
    sw_arena_deinit(&a);
  }
  print_message("%d steps began with messages\n", kept);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_state_is_safe),
                                     cmocka_unit_test(grown_problems_are_solved_on)};
  return cmocka_run_group_tests_name("select_state", tests, NULL, NULL);
}
