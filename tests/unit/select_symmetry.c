/* Alike nodes and links: known graphs, and on random ones what being alike must mean. */
#include "check.h"

#include "select/symmetry.h"
#include "shardwright/clock.h"

static int kinds(const int32_t *like, int n) {
  int found = 0;
  for (int i = 0; i < n; i++) found += like[i] == i;
  return found;
}

/* a - b - b - b - b - b - a */
static void rounds_tell_ends_from_the_middle(void **state) {
  (void)state;
  static const int kKinds[] = {0, 5, 7};
  for (int rounds = 1; rounds < 3; rounds++) {
    uint64_t colour[] = {1, 2, 2, 2, 2, 2, 1};
    sel_symmetry_link links[6];
    int32_t like[7], rep_link[6];
    for (int32_t k = 0; k < 6; k++) links[k] = (sel_symmetry_link){{k, k + 1}, 7};
    assert_ok(sel_symmetry_refine(7, colour, 6, links, rounds, like, rep_link, &diag));
    assert_int_equal(kinds(like, 7), kKinds[rounds]);
  }
}

/* Layers in a ring are alike whatever the number of rounds. */
static void repeated_layers_are_alike(void **state) {
  (void)state;
  enum { LAYERS = 20, NODES = 6, LINKS = 7, N = LAYERS * NODES };
  static const int kFrom[LINKS] = {0, 1, 1, 2, 3, 4, 5}, kTo[LINKS] = {1, 2, 3, 4, 4, 5, 6};
  sel_symmetry_link links[LAYERS * LINKS];
  uint64_t colour[N];
  int32_t like[N], rep_link[LAYERS * LINKS];
  for (int k = 0; k < LAYERS * LINKS; k++)
    links[k] =
        (sel_symmetry_link){{(k / LINKS * NODES + kFrom[k % LINKS]) % N, (k / LINKS * NODES + kTo[k % LINKS]) % N},
                            (uint64_t)(k % LINKS == 2)};
  for (int i = 0; i < N; i++) colour[i] = i % NODES == 4;
  assert_ok(sel_symmetry_refine(N, colour, LAYERS * LINKS, links, 9, like, rep_link, &diag));
  for (int i = 0; i < N; i++) assert_int_equal(like[i], i % NODES);
  for (int k = 0; k < LAYERS * LINKS; k++) assert_int_equal(rep_link[k], k % LINKS);
}

/* How many links of node i are like link `of`, on the side given. */
static int count_like(int i, int side, int of, int n, const sel_symmetry_link *links, const int32_t *rep_link) {
  int found = 0;
  for (int k = 0; k < n; k++) found += links[k].node[side] == i && rep_link[k] == of;
  return found;
}

static void alike_nodes_have_alike_links(void **state) {
  (void)state;
  enum { N = 12, LINKS = 14 };
  sw_rng g;
  sw_rng_seed(&g, check_seed(3));
  int merged = 0;
  for (int k = 0; k < check_scale(300); k++) {
    uint64_t colour[N], first_colour[N];
    sel_symmetry_link links[LINKS];
    int32_t like[N], rep_link[LINKS];
    for (int i = 0; i < N; i++) colour[i] = first_colour[i] = (uint64_t)sw_rng_below(&g, 2);
    for (int e = 0; e < LINKS; e++)
      links[e] = (sel_symmetry_link){{(int32_t)sw_rng_below(&g, N), (int32_t)sw_rng_below(&g, N)},
                                     (uint64_t)sw_rng_below(&g, 2)};
    assert_ok(sel_symmetry_refine(N, colour, LINKS, links, 1 + (int)sw_rng_below(&g, 3), like, rep_link, &diag));
    for (int i = 0; i < N; i++) {
      assert_true(like[i] <= i && like[like[i]] == like[i] && first_colour[i] == first_colour[like[i]]);
      merged += like[i] != i;
      for (int e = 0; e < LINKS; e++)
        for (int side = 0; side < 2; side++)
          assert_int_equal(count_like(i, side, e, LINKS, links, rep_link),
                           count_like(like[i], side, e, LINKS, links, rep_link));
    }
    for (int e = 0; e < LINKS; e++) assert_true(rep_link[e] <= e && links[rep_link[e]].kind == links[e].kind);
  }
  assert_true(merged > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounds_tell_ends_from_the_middle),
      cmocka_unit_test(repeated_layers_are_alike),
      cmocka_unit_test(alike_nodes_have_alike_links),
  };
  return cmocka_run_group_tests_name("alike", tests, NULL, NULL);
}
