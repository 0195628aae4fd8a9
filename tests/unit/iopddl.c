#include "check.h"

#include "shardwright/iopddl.h"

static const char kTiny[] =
    "{\"problem\": {\"edges\": {\"costs\": [[30, 40]], \"nodes\": [[0, 1]]}, \"name\": \"tiny\", \"more\": [{\"a\": [1,"
    " -2.5e3, null]}, \"x\\\"y\"], \"nodes\": {\"intervals\": [[30, 70], [40, 40]], \"costs\": [[15], [55,"
    " 2000000000000000000]], \"usages\": [[10], [25, 26]]}, \"usage_limit\": 50}}";

static void reads_every_part(void **state) {
  (void)state;
  sw_arena a = {0};
  sw_problem p;
  assert_ok(sw_iopddl_parse(kTiny, sizeof kTiny - 1, "t", &a, &p, &diag));
  assert_string_equal(p.name, "tiny");
  assert_int_equal(p.n_nodes, 2);
  assert_int_equal(p.n_edges, 1);
  assert_int_equal(p.limit, 50);
  assert_int_equal(p.nodes[0].uses[0].end, 70);
  assert_int_equal(p.nodes[1].n_uses, 0); /* empty */
  assert_true(p.nodes[1].cost[1] == SW_FORBIDDEN);
  assert_int_equal(p.edges[0].cost[1], 40);
  assert_ok(sw_problem_verify(&p, &diag));
  sw_arena_deinit(&a);
}

/* Cut or changed anywhere, the text is refused or read, never worse; sanitizers watch. */
static void survives_any_damage(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(3));
  static const char kBytes[] = "[]{},:\"0-9.e x\\\n";
  for (int k = 0; k < check_scale(20000); k++) {
    char text[sizeof kTiny];
    memcpy(text, kTiny, sizeof kTiny);
    size_t n = sizeof kTiny - 1;
    if (k < (int)n) text[n = (size_t)k] = 0;
    for (int64_t c = sw_rng_below(&g, 4); c > 0 && n > 0 && k >= (int)sizeof kTiny; c--)
      text[sw_rng_below(&g, (int64_t)n)] = kBytes[sw_rng_below(&g, sizeof kBytes - 1)];
    diag = (sw_diag){0};
    sw_arena a = {0};
    sw_problem p;
    sw_rc rc = sw_iopddl_parse(text, n, "t", &a, &p, &diag);
    if (rc) {
      assert_int_equal(rc, SW_E_INPUT);
      assert_true(diag.text[0] != 0);
    } else {
      assert_ok(sw_problem_verify(&p, &diag));
    }
    if (k < (int)sizeof kTiny - 1) assert_int_equal(rc, SW_E_INPUT); /* cut */
    sw_arena_deinit(&a);
  }
}

#define NODES "\"nodes\":{\"costs\":[[1],[2,3]]}"
static const struct {
  const char *text, *message;
} kRefused[] = {
    {"{\"problem\":{\"nodes\":{\"costs\":[[1],[-2]]}}}", "offset 35: found '-'; expected a whole number, 0 or more"},
    {"{\"problem\":{\"nodes\":{\"costs\":[[1.5]]}}}", "offset 32: found '.'; expected a whole number"},
    {"{\"problem\":{\"nodes\":{\"costs\":[[9223372036854775808]]}}}",
     "expected a number of at most 9223372036854775807"},
    {"{\"problem\":{\"nodes\":{\"costs\":[[1]", "offset 33: the text ends; expected ',' or ']'"},
    {"{\"problem\":{\"nodes\":{\"costs\":[[]]}}}", "node 0 has 0 costs; expected 1 or more"},
    {"{\"problem\":{\"name\":\"x\"}}", "expected problem.nodes.costs"},
    {"{\"problem\":{" NODES ",\"edges\":{\"nodes\":[[0,2]],\"costs\":[[1]]}}}", "edge 0 joins nodes 0 and 2"},
    {"{\"problem\":{" NODES ",\"edges\":{\"nodes\":[[1,1]],\"costs\":[[1]]}}}", "edge 0 joins nodes 1 and 1"},
    {"{\"problem\":{" NODES ",\"edges\":{\"nodes\":[[0,1]],\"costs\":[[1]]}}}", "edge 0 has 1 costs; expected 1 x 2"},
    {"{\"problem\":{" NODES ",\"edges\":{\"nodes\":[[0,1]],\"costs\":[]}}}", "0 tables of costs for 1 edges"},
    {"{\"problem\":{" NODES ",\"edges\":{\"nodes\":[[0]],\"costs\":[]}}}", "expected two numbers in the list before"},
    {"{\"problem\":{\"nodes\":{\"costs\":[[1]],\"usages\":[[1]]}}}", "only one of 'intervals' and 'usages'"},
    {"{\"problem\":{\"nodes\":{\"costs\":[[1]],\"usages\":[[1,2]],\"intervals\":[[0,1]]}}}", "2 usages and 1 costs"},
    {"{\"problem\":{\"nodes\":{\"costs\":[[1]],\"costs\":[[1]]}}}", "expected every key once"},
    {"{\"problem\":{" NODES "}} x", "expected the end of the text"},
};

static void refuses_with_place_and_reason(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof kRefused / sizeof kRefused[0]; k++) {
    diag = (sw_diag){0};
    sw_arena a = {0};
    sw_problem p;
    const char *t = kRefused[k].text;
    assert_int_equal(sw_iopddl_parse(t, strlen(t), "t", &a, &p, &diag), SW_E_INPUT);
    if (!strstr(diag.text, kRefused[k].message)) fail_msg("row %zu: '%s'", k, diag.text);
    sw_arena_deinit(&a);
  }
}

static void print_and_parse_agree(void **state) {
  (void)state;
  sw_arena a = {0};
  sw_problem p, q;
  sw_text t = {0}, u = {0};
  assert_ok(sw_iopddl_parse(kTiny, sizeof kTiny - 1, "t", &a, &p, &diag));
  assert_ok(sw_iopddl_print(&p, &t, &diag));
  assert_ok(sw_iopddl_parse(t.at, t.n, "u", &a, &q, &diag));
  assert_ok(sw_iopddl_print(&q, &u, &diag));
  assert_string_equal(sw_text_str(&t), sw_text_str(&u));
  assert_int_equal(q.nodes[0].uses[0].amount[0], 10);
  sw_text_free(&t);
  sw_text_free(&u);
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_every_part),
      cmocka_unit_test(survives_any_damage),
      cmocka_unit_test(refuses_with_place_and_reason),
      cmocka_unit_test(print_and_parse_agree),
  };
  return cmocka_run_group_tests_name("iopddl", tests, NULL, NULL);
}
