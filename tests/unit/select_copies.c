/* Problems with copies: all solvers find what trying every choice finds, with each copy paid once by its definition;
 * certificates prove the bound, and nothing that is accepted is false. */
#include "copies_case.h"

#include <stdlib.h>

#include "select/relaxation.h"
#include "shardwright/certificate.h"
#include "shardwright/iopddl.h"

/* By the definition: every layout that is wanted, once. */
static int64_t cost_by_definition(const sw_problem *p, const int32_t *x) {
  sw_i128 sum = 0;
  for (int32_t i = 0; i < p->n_nodes; i++) sum += p->nodes[i].cost[x[i]];
  for (int32_t e = 0; e < p->n_edges; e++)
    sum += p->edges[e].cost[x[p->edges[e].i] * p->nodes[p->edges[e].j].n_choices + x[p->edges[e].j]];
  for (int32_t k = 0; k < p->n_copies; k++) {
    const sw_copies *c = &p->copies[k];
    for (int32_t a = 0; a < c->table->n_layouts; a++) {
      bool wanted = false;
      for (int32_t i = 0; i < c->table->n_readers; i++) {
        const sw_wants *w = &c->table->wants[i];
        const int32_t of = w->class_of[x[c->reader[i]]];
        for (int32_t n = w->first[of]; n < w->first[of + 1]; n++) wanted |= w->layout[n] == a;
      }
      if (wanted) sum += c->table->cost[c->table->class_of[x[c->maker]] * c->table->n_layouts + a];
    }
  }
  return sum >= SW_FORBIDDEN ? SW_FORBIDDEN : (int64_t)sum;
}

/* The least over all choices that keep the limit, SW_FORBIDDEN: none does; the evaluation must agree everywhere. */
static int64_t least_by_definition(const sw_problem *p) {
  int32_t *x = calloc((size_t)p->n_nodes, sizeof *x), k = 0;
  int64_t least = SW_FORBIDDEN;
  assert_non_null(x);
  while (k < p->n_nodes) {
    sw_score s;
    const int64_t cost = cost_by_definition(p, x);
    assert_ok(sw_problem_score(p, x, &s, &diag));
    assert_true(sw_problem_cost(p, x) == cost);
    assert_true(s.feasible == (cost < SW_FORBIDDEN && s.peak <= p->limit));
    assert_true(!s.feasible || s.cost == cost);
    if (s.feasible && cost < least) least = cost;
    for (k = 0; k < p->n_nodes && ++x[k] == p->nodes[k].n_choices; k++) x[k] = 0;
  }
  free(x);
  return least;
}

static void check_solver(const sw_problem *p, sw_solver solver, int64_t want, sw_arena *a) {
  sw_solution s;
  const sw_solve_options o = {.solver = solver, .threads = 1};
  assert_ok(sw_solve(p, &o, a, &s, &diag));
  assert_true(s.bound <= want || s.status == SW_SOLVE_INFEASIBLE);
  if (s.choice) assert_true(s.cost == cost_by_definition(p, s.choice));
  if (want == SW_FORBIDDEN) assert_true(!s.choice && s.status == SW_SOLVE_INFEASIBLE);
  if (want < SW_FORBIDDEN && (!s.choice || s.cost != want || (solver != SW_SOLVER_GLPK && s.bound != want)))
    fail_msg("%s: cost %lld, bound %lld; the least is %lld", sw_solver_text(solver),
             s.choice ? (long long)s.cost : -1LL, (long long)s.bound, (long long)want);
}

static bool has_glpk(void) {
  sw_arena a = {0};
  sw_solution s;
  const sw_problem none = {.limit = INT64_MAX};
  const sw_solve_options o = {.solver = SW_SOLVER_GLPK, .threads = 1};
  const sw_rc rc = sw_solve(&none, &o, &a, &s, &diag);
  sw_arena_deinit(&a);
  return rc == SW_OK;
}

static void solvers_agree(void **state) {
  (void)state;
  const bool glpk = has_glpk();
  sw_rng g;
  int none = 0;
  sw_rng_seed(&g, check_seed(41));
  for (int k = 0; k < check_scale(600); k++) {
    sw_arena a = {0};
    const sw_problem p = small_copies(&g, &a, k);
    const int64_t want = least_by_definition(&p);
    check_solver(&p, SW_SOLVER_EXHAUSTIVE, want, &a);
    check_solver(&p, SW_SOLVER_NATIVE, want, &a);
    if (glpk) check_solver(&p, SW_SOLVER_GLPK, want, &a);
    none += want == SW_FORBIDDEN;
    sw_arena_deinit(&a);
  }
  if (!glpk) print_message("SKIP: built without GLPK\n");
  assert_true(none > 0);
}

/* However it is refined and split, a relaxation never counts more than the truth, and in full never less. */
static void relaxations_enclose_the_truth(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(42));
  int exact = 0, rounds = 0;
  for (int k = 0; k < check_scale(600); k++) {
    sw_arena a = {0};
    sw_relaxation *r;
    sw_problem now;
    int64_t work;
    bool refined;
    const sw_problem p = small_copies(&g, &a, k);
    int32_t *x = take(&a, (size_t)p.n_nodes, sizeof *x);
    assert_ok(sw_relaxation_make(&p, &a, &r, &diag));
    for (int n = 0; n < 12; n++, rounds++) {
      sw_score s;
      for (int32_t i = 0; i < p.n_nodes; i++) x[i] = (int32_t)sw_rng_below(&g, p.nodes[i].n_choices);
      const sw_split_options o = {.passes = (int)sw_rng_below(&g, 20), .target = 100};
      if (n == 6) assert_ok(sw_relaxation_split(r, &o, &work, &diag));
      if (n % 3 == 0) assert_ok(sw_relaxation_refine(r, x, &refined, &diag));
      sw_relaxation_price_whole(r, n % 4 == 3);
      assert_ok(sw_relaxation_problem(r, &now, &diag));
      int32_t *all = take(&a, (size_t)now.n_nodes, sizeof *all);
      assert_ok(sw_relaxation_complete(r, x, all, &diag));
      assert_ok(sw_relaxation_problem(r, &now, &diag));
      assert_ok(sw_problem_score(&now, all, &s, &diag));
      const int64_t truth = cost_by_definition(&p, x), counted = s.cost < SW_FORBIDDEN ? (int64_t)s.cost : SW_FORBIDDEN;
      assert_true(n % 4 == 3 ? counted >= truth : counted <= truth);
      if (n % 4 != 3 && n % 3 == 0) assert_true(counted == truth);
      exact += counted == truth;
    }
    sw_relaxation_deinit(r);
    sw_arena_deinit(&a);
  }
  print_message("%d of %d counted exactly\n", exact, rounds);
  assert_true(exact < rounds);
}

/* Solve with a certificate; it must prove the bound that the solver reports. */
static sw_text proof_of(const sw_problem *p, sw_arena *a, int64_t *bound) {
  diag = (sw_diag){0};
  sw_text proof = {0};
  sw_solution s;
  const sw_solve_options o = {.threads = 1, .certificate = &proof};
  assert_ok(sw_solve(p, &o, a, &s, &diag));
  if (sw_certificate_check(p, sw_text_str(&proof), proof.n, "proof", bound, &diag))
    fail_msg("line %d: %s\n%.3000s", diag.line, diag.text, sw_text_str(&proof));
  assert_true(*bound == (s.status == SW_SOLVE_INFEASIBLE ? SW_FORBIDDEN : s.bound));
  return proof;
}

/* Another digit somewhere, or a line less; often one of those about copies. */
static size_t corrupt(sw_rng *g, const char *text, size_t n, char *out) {
  size_t at = (size_t)sw_rng_below(g, sw_rng_below(g, 2) && n > 120 ? 120 : (int64_t)n);
  memcpy(out, text, n);
  if (sw_rng_below(g, 3)) {
    while (at < n && (text[at] < '0' || text[at] > '9')) at++;
    if (at < n) out[at] = (char)('0' + sw_rng_below(g, 10));
    return n;
  }
  while (at > 0 && text[at - 1] != '\n') at--;
  const char *end = memchr(text + at, '\n', n - at);
  const size_t line = end ? (size_t)(end + 1 - (text + at)) : n - at;
  memmove(out + at, text + at + line, n - at - line);
  return n - line;
}

static void certificates_cover_copies(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(43));
  int nodes = 0, shares = 0, strong = 0, refused = 0, rounds = check_scale(600);
  for (int k = 0; k < rounds; k++) {
    sw_arena a = {0};
    const sw_problem p = small_copies(&g, &a, k);
    const int64_t want = least_by_definition(&p);
    int64_t bound;
    sw_text proof = proof_of(&p, &a, &bound);
    char *wrong = take(&a, proof.n + 1, 1);
    assert_true(bound <= want);
    strong += bound == want;
    nodes += strstr(sw_text_str(&proof), "\ncopies ") != NULL;
    shares += strstr(sw_text_str(&proof), "\nshare ") != NULL;
    for (int c = 0; c < 12; c++) {
      const size_t n = corrupt(&g, sw_text_str(&proof), proof.n, wrong);
      const sw_rc rc = sw_certificate_check(&p, wrong, n, "proof", &bound, &diag);
      assert_true(rc == SW_OK || rc == SW_E_INPUT || rc == SW_E_MISMATCH);
      if (rc == SW_OK && bound > want)
        fail_msg("proves %lld, the optimum is %lld:\n%.*s", (long long)bound, (long long)want, (int)n, wrong);
      refused += rc != SW_OK;
    }
    sw_text_free(&proof);
    sw_arena_deinit(&a);
  }
  print_message("%d of %d prove the optimum, %d with copy nodes, %d with shares; %d of %d corrupted ones refused\n",
                strong, rounds, nodes, shares, refused, 12 * rounds);
  assert_true(strong > rounds / 2 && nodes > rounds / 60 && shares > rounds / 60 && refused > rounds);
}

/* What is printed is read as the same problem, and printed so again. */
static void text_says_all(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(44));
  for (int k = 0; k < check_scale(300); k++) {
    sw_arena a = {0};
    diag = (sw_diag){0};
    sw_text text = {0}, again = {0};
    sw_problem p = small_copies(&g, &a, k), q;
    sw_node *nodes = sw_arena_copy(&a, p.nodes, (size_t)p.n_nodes, sizeof *nodes, &diag);
    assert_non_null(nodes);
    for (int32_t i = 0; i < p.n_nodes; i++) nodes[i].n_uses = nodes[i].n_uses > 1 ? 1 : nodes[i].n_uses;
    p.nodes = nodes;
    assert_ok(sw_iopddl_print(&p, &text, &diag));
    assert_ok(sw_iopddl_parse(text.at, text.n, "copies.json", &a, &q, &diag));
    assert_ok(sw_iopddl_print(&q, &again, &diag));
    assert_int_equal(q.n_copies, p.n_copies);
    const char *copies = strstr(sw_text_str(&text), "\"copies\"");
    if (copies) assert_string_equal(copies, strstr(sw_text_str(&again), "\"copies\""));
    int32_t *x = take(&a, (size_t)p.n_nodes, sizeof *x);
    for (int n = 0; n < 20; n++) {
      for (int32_t i = 0; i < p.n_nodes; i++) x[i] = (int32_t)sw_rng_below(&g, p.nodes[i].n_choices);
      assert_true(sw_problem_cost(&q, x) == cost_by_definition(&p, x));
    }
    for (int n = 0; n < 20; n++) { /* whatever the text says, it is read or refused */
      diag = (sw_diag){0};
      char *wrong = take(&a, text.n + 1, 1);
      const size_t left = corrupt(&g, text.at, text.n, wrong);
      const sw_rc rc = sw_iopddl_parse(wrong, left, "copies.json", &a, &q, &diag);
      assert_true(rc == SW_OK || rc == SW_E_INPUT);
      if (!rc) assert_ok(sw_problem_verify(&q, &diag));
    }
    sw_text_free(&text);
    sw_text_free(&again);
    sw_arena_deinit(&a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(solvers_agree), cmocka_unit_test(relaxations_enclose_the_truth),
                                     cmocka_unit_test(certificates_cover_copies), cmocka_unit_test(text_says_all)};
  return cmocka_run_group_tests_name("select_copies", tests, NULL, NULL);
}
