/* Certificates: what the solver writes is accepted, and nothing that is accepted is false. */
#include "check.h"
#include "select_case.h"
#include "shardwright/certificate.h"

static int64_t optimum(const sw_problem *p, sw_arena *a) {
  sw_solution s;
  sw_solve_options o = {.solver = SW_SOLVER_EXHAUSTIVE, .threads = 1};
  assert_ok(sw_solve(p, &o, a, &s, &diag));
  return s.choice ? s.cost : SW_FORBIDDEN;
}

static sw_rc verdict(const sw_problem *p, const char *text, size_t n, int64_t *bound, sw_diag *d) {
  *d = (sw_diag){0};
  return sw_certificate_check(p, text, n, "proof", bound, d);
}

/* Solve with a certificate; it must prove the bound that the solver reports, and not one more. */
static sw_text proof_of(const sw_problem *p, unsigned rules_off, int64_t work, sw_arena *a, int64_t *reported) {
  diag = (sw_diag){0};
  sw_text proof = {0};
  sw_solution s;
  sw_solve_options o = {.threads = 1, .seed = 1, .work_limit = work, .rules_off = rules_off, .certificate = &proof};
  assert_ok(sw_solve(p, &o, a, &s, &diag));
  *reported = s.status == SW_SOLVE_INFEASIBLE ? SW_FORBIDDEN : s.bound;
  int64_t bound;
  if (verdict(p, sw_text_str(&proof), proof.n, &bound, &diag))
    fail_msg("line %d: %s\n%.3000s", diag.line, diag.text, sw_text_str(&proof));
  assert_true(bound == *reported);
  return proof;
}

static void every_certificate_is_accepted(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(31));
  int strong = 0, rounds = check_scale(3000);
  for (int k = 0; k < rounds; k++) {
    sw_arena a = {0};
    sw_problem p = small_problem(&g, &a, k);
    const unsigned off = k % 2 ? (unsigned)sw_rng_below(&g, SW_RULES_ALL + 1) : 0;
    int64_t bound;
    sw_text proof = proof_of(&p, off, k % 5 ? 0 : 1 + sw_rng_below(&g, 20000), &a, &bound);
    int64_t want = optimum(&p, &a);
    assert_true(bound <= want);
    strong += bound == want;
    sw_text_free(&proof);
    sw_arena_deinit(&a);
  }
  print_message("%d of %d prove the optimum\n", strong, rounds);
  assert_true(strong > rounds / 2);
}

static void medium_certificates_are_accepted(void **state) {
  (void)state;
  static const shape kMedium[] = {{40, 4, 80, 2, 20, 50, 0}, {40, 5, 60, 2, 20, 20, 0}, {16, 6, 30, 1, 8, 200, 10}};
  sw_rng g;
  sw_rng_seed(&g, check_seed(32));
  int branched = 0;
  for (int k = 0; k < check_scale(40); k++) {
    sw_arena a = {0};
    sw_problem p = random_problem(&g, &a, &kMedium[k % 3]);
    int64_t bound;
    sw_text proof = proof_of(&p, 0, 20000000, &a, &bound);
    branched += strstr(sw_text_str(&proof), "\nsplit ") != NULL;
    sw_text_free(&proof);
    sw_arena_deinit(&a);
  }
  print_message("%d with branching\n", branched);
  assert_true(branched > 0);
}

/* Sums of these do not fit into 64 bits with room for fractions. */
static void certificates_of_huge_costs_are_accepted(void **state) {
  (void)state;
  static const shape kHuge = {16, 6, 30, 1, 8, INT64_C(10000000000000000), 10};
  sw_rng g;
  sw_rng_seed(&g, check_seed(34));
  int closed = 0, rounds = check_scale(40);
  for (int k = 0; k < rounds; k++) {
    sw_arena a = {0};
    sw_problem p = random_problem(&g, &a, &kHuge);
    int64_t bound;
    sw_text proof = proof_of(&p, k % 2 ? SW_RULES_ALL : 0, 20000000, &a, &bound);
    closed += bound > (INT64_C(1) << 52);
    sw_text_free(&proof);
    sw_arena_deinit(&a);
  }
  assert_true(closed > rounds / 2);
}

/* Change a digit, drop a line, double a line, or swap two words. */
static size_t corrupt(sw_rng *g, const char *text, size_t n, char *out) {
  size_t at = (size_t)sw_rng_below(g, (int64_t)n);
  memcpy(out, text, n);
  if (sw_rng_below(g, 3)) {
    while (at < n && (text[at] < '0' || text[at] > '9')) at++;
    if (at < n) out[at] = (char)('0' + sw_rng_below(g, 10));
    return n;
  }
  while (at > 0 && text[at - 1] != '\n') at--;
  const char *end = memchr(text + at, '\n', n - at);
  size_t line = end ? (size_t)(end + 1 - (text + at)) : n - at;
  if (sw_rng_below(g, 2)) {
    memmove(out + at, text + at + line, n - at - line);
    return n - line;
  }
  memcpy(out + at + line, text + at, n - at);
  return n + line;
}

static void what_is_accepted_is_true(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(33));
  int refused = 0, rounds = check_scale(1500);
  for (int k = 0; k < rounds; k++) {
    sw_arena a = {0};
    sw_problem p = small_problem(&g, &a, k);
    int64_t bound, want = optimum(&p, &a);
    sw_text proof = proof_of(&p, k % 2 ? 0 : SW_RULES_ALL, 0, &a, &bound);
    char *wrong = take(&a, 2 * proof.n + 64, 1);
    for (int c = 0; c < 12; c++) {
      size_t n = corrupt(&g, sw_text_str(&proof), proof.n, wrong);
      sw_rc rc = verdict(&p, wrong, n, &bound, &diag);
      assert_true(rc == SW_OK || rc == SW_E_INPUT || rc == SW_E_MISMATCH);
      if (rc == SW_OK && bound > want)
        fail_msg("proves %lld, the optimum is %lld:\n%.*s", (long long)bound, (long long)want, (int)n, wrong);
      refused += rc != SW_OK;
    }
    sw_text_free(&proof);
    sw_arena_deinit(&a);
  }
  print_message("%d of %d corrupted certificates refused\n", refused, 12 * rounds);
  assert_true(refused > rounds);
}

/* Two nodes of two choices without memory; the first choices cost 1 + 3 + 0, the least. */
static const int64_t kCosts[2][2] = {{1, 2}, {3, 5}}, kTable[4] = {0, 4, 4, 0};
static const sw_node kNodes[] = {{2, 0, kCosts[0], NULL}, {2, 0, kCosts[1], NULL}};
static const sw_edge kEdges[] = {{0, 1, kTable}};
static const sw_problem kTwo = {"two", 2, 1, kNodes, kEdges, INT64_MAX};

static const struct {
  const char *name, *text;
  sw_rc rc;
  const char *says;
} kRows[] = {
    {"enumeration", "shardwright-certificate 1\nbound 4\nenumerate\n", SW_OK, NULL},
    {"folds", "shardwright-certificate 1\nbound 4\nfold 1\nfold 0\nenumerate\n", SW_OK, NULL},
    {"elimination", "shardwright-certificate 1\nbound 4\neliminate 0 1\n", SW_OK, NULL},
    {"split", "shardwright-certificate 1\nbound 4\nbranch\nsplit 0 0\nnode\nenumerate\nend\nnode\nenumerate\nend\n",
     SW_OK, NULL},
    {"prices", "shardwright-certificate 1\nbound 4\nprices 0 0\nmove 0 1 0 0 0 0\nsum\n", SW_OK, NULL},
    {"moves that lose", "shardwright-certificate 1\nbound 4\nprices 0 0\nmove 0 1 9 9 0 0\nsum\n", SW_OK, NULL},
    {"too high", "shardwright-certificate 1\nbound 5\nenumerate\n", SW_E_MISMATCH, "costs less"},
    {"one child", "shardwright-certificate 1\nbound 4\nbranch\nsplit 0 0\nnode\nenumerate\nend\nnode\nend\n",
     SW_E_MISMATCH, "do not prove"},
    {"nothing", "shardwright-certificate 1\nbound 4\n", SW_E_MISMATCH, "do not prove"},
    {"no head", "bound 4\n", SW_E_INPUT, "shardwright-certificate"},
    {"version", "shardwright-certificate 2\nbound 4\n", SW_E_INPUT, "version 1"},
    {"wrong order", "shardwright-certificate 1\nbound 4\neliminate 0\n", SW_E_MISMATCH, "every node"},
    {"not beaten", "shardwright-certificate 1\nbound 4\ndrop 0 0 beaten 1\n", SW_E_MISMATCH, "can cost more"},
    {"not forbidden", "shardwright-certificate 1\nbound 4\ndrop 0 0 forbidden 0\n", SW_E_MISMATCH, "not forbidden"},
    {"not functional", "shardwright-certificate 1\nbound 4\nmerge 0 1\n", SW_E_MISMATCH, "several"},
    {"node beyond", "shardwright-certificate 1\nbound 4\nfold 2\n", SW_E_INPUT, "number of a node"},
    {"node twice", "shardwright-certificate 1\nbound 4\nfold 1\nfold 1\n", SW_E_MISMATCH, "went before"},
    {"table twice", "shardwright-certificate 1\nbound 4\nprices 0 0\nmove 0 1 0 0 0 0\nmove 0 1 0 0 0 0\nsum\n",
     SW_E_MISMATCH, "moved before"},
    {"prices missing", "shardwright-certificate 1\nbound 4\nsum\n", SW_E_MISMATCH, "comes first"},
    {"unknown step", "shardwright-certificate 1\nbound 4\ntrust me\n", SW_E_INPUT, "end of the text"},
    {"truncated tree", "shardwright-certificate 1\nbound 4\nbranch\nsplit 0 0\nnode\nenumerate\n", SW_E_INPUT, "end"},
    {"number too large", "shardwright-certificate 1\nbound 99999999999999999999\n", SW_E_INPUT, "64 bits"},
};

/* Nodes that the first one determines, each with a use of its own: half of them merged before the tree, half in it. */
static void merges_go_on_in_the_tree(void **state) {
  (void)state;
  enum { N = 7 };
  static const int64_t kNone[2], kOne[2] = {1, 1}, kSame[4] = {0, SW_FORBIDDEN, SW_FORBIDDEN, 0}, kHeld[2] = {1, 2};
  static const sw_usage kUse = {0, 1, kHeld};
  sw_node nodes[N] = {{2, 0, kNone, NULL}};
  sw_edge edges[N - 1];
  for (int32_t i = 1; i < N; i++) {
    nodes[i] = (sw_node){2, 1, kOne, &kUse};
    edges[i - 1] = (sw_edge){0, i, kSame};
  }
  const sw_problem p = {"star", N, N - 1, nodes, edges, 100};
  int64_t bound;
  const char *text =
      "shardwright-certificate 1\nbound 6\nmerge 1 0\nmerge 2 0\nmerge 3 0\nbranch\n"
      "merge 6 0\nmerge 5 0\nmerge 4 0\nenumerate\n";
  if (verdict(&p, text, strlen(text), &bound, &diag)) fail_msg("line %d: %s", diag.line, diag.text);
  assert_int_equal(bound, 6);
}

static void check_row(void **state) {
  size_t k = (size_t)(uintptr_t)*state;
  int64_t bound;
  assert_int_equal(verdict(&kTwo, kRows[k].text, strlen(kRows[k].text), &bound, &diag), kRows[k].rc);
  if (kRows[k].says && !strstr(diag.text, kRows[k].says)) fail_msg("%s", diag.text);
}

int main(void) {
  enum { ROWS = sizeof kRows / sizeof kRows[0] };
  const struct CMUnitTest kOthers[] = {
      cmocka_unit_test(every_certificate_is_accepted),
      cmocka_unit_test(medium_certificates_are_accepted),
      cmocka_unit_test(certificates_of_huge_costs_are_accepted),
      cmocka_unit_test(what_is_accepted_is_true),
      cmocka_unit_test(merges_go_on_in_the_tree),
  };
  enum { OTHERS = sizeof kOthers / sizeof kOthers[0] };
  struct CMUnitTest tests[OTHERS + ROWS];
  memcpy(tests, kOthers, sizeof kOthers);
  for (size_t k = 0; k < ROWS; k++)
    tests[OTHERS + k] =
        (struct CMUnitTest){.name = kRows[k].name, .test_func = check_row, .initial_state = (void *)(uintptr_t)k};
  return cmocka_run_group_tests_name("select_certificate", tests, NULL, NULL);
}
