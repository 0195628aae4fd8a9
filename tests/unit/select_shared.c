/* Shared costs by their definition: whatever the shares are, no choice pays more in shares than it does with each cost
 * paid once; shares are whole, not negative, and add up to their cost. */
#include "select_case.h"
#include "select/bound/shares.h"

enum { NODES = 5, CHOICES = 3, ALL = 243, TABLES = 6, COSTS = 8, CELLS = CHOICES * CHOICES };

typedef struct shared_case {
  sel_shared_problem p;
  sw_node nodes[NODES];
  sel_shared_table tables[TABLES];
  sel_shared_edge edges[2 * TABLES];
  sel_shared_cost costs[COSTS];
  int32_t class_of[TABLES][2][CHOICES], first[TABLES][CELLS + 1], share[TABLES][CELLS * COSTS];
  int32_t share_at[TABLES][COSTS]; /* -1: the table has none of the cost */
} shared_case;

/* Some of the costs are in some of the cells. */
static void random_table(sw_rng *g, sw_arena *a, const shape *s, shared_case *k, int32_t t) {
  sel_shared_table *to = &k->tables[t];
  int32_t n = 0;
  for (int side = 0; side < 2; side++) {
    to->n[side] = 1 + (int32_t)sw_rng_below(g, CHOICES);
    to->class_of[side] = k->class_of[t][side];
    for (int32_t c = 0; c < CHOICES; c++)
      k->class_of[t][side][c] = c < to->n[side] ? c : (int32_t)sw_rng_below(g, to->n[side]);
  }
  const int32_t cells = to->n[0] * to->n[1];
  to->cost = random_costs(g, a, cells, s);
  for (int32_t c = 0; c < cells; c++) {
    for (int32_t o = 0; o < k->p.n_costs; o++)
      if (k->share_at[t][o] >= 0 && sw_rng_below(g, 3) == 0) k->share[t][n++] = k->share_at[t][o];
    k->first[t][c + 1] = n;
  }
  if (n || sw_rng_below(g, 2)) to->first = k->first[t];
  to->share = k->share[t];
}

static void random_shared(sw_rng *g, sw_arena *a, shared_case *k) {
  const shape s = {.choices = CHOICES, .uses = 1, .steps = 4, .most_cost = 20, .forbidden = 5};
  *k = (shared_case){.p = {.base = {.name = "shared", .n_nodes = NODES, .limit = 5 + sw_rng_below(g, 40)},
                           .n_edges = TABLES + (int32_t)sw_rng_below(g, TABLES),
                           .n_tables = TABLES,
                           .n_costs = (int32_t)sw_rng_below(g, COSTS)}};
  k->p.base.nodes = k->nodes;
  k->p.edges = k->edges;
  k->p.tables = k->tables;
  k->p.costs = k->costs;
  for (int i = 0; i < NODES; i++) {
    k->nodes[i] = (sw_node){.n_choices = CHOICES, .cost = random_costs(g, a, CHOICES, &s)};
    random_uses(g, a, &k->nodes[i], &s);
  }
  for (int32_t o = 0; o < k->p.n_costs; o++) {
    k->costs[o] = (sel_shared_cost){sw_rng_below(g, 30), k->p.n_shares, 0};
    for (int32_t t = 0; t < TABLES; t++) {
      const bool takes = t == o % TABLES || sw_rng_below(g, 2);
      k->share_at[t][o] = takes ? k->p.n_shares + k->costs[o].n++ : -1;
    }
    k->p.n_shares += k->costs[o].n;
  }
  for (int32_t t = 0; t < TABLES; t++) random_table(g, a, &s, k, t);
  for (int32_t e = 0; e < k->p.n_edges; e++) { /* a table serves two nodes at most */
    int32_t i = (e / TABLES + e) % NODES;
    k->edges[e] = (sel_shared_edge){i, (i + 1 + (int32_t)sw_rng_below(g, NODES - 1)) % NODES, e % TABLES};
  }
}

static int64_t min_cost(int64_t c) { return c < SW_FORBIDDEN ? c : SW_FORBIDDEN; }

/* What a choice pays: each shared cost once for each node, or (share not NULL) all shares in the cells. */
static int64_t cost_of(const shared_case *k, const int32_t *x, const int64_t *share) {
  bool paid[NODES][COSTS] = {{false}};
  int64_t sum = 0;
  for (int i = 0; i < NODES; i++) sum = min_cost(sum + k->nodes[i].cost[x[i]]);
  for (int32_t e = 0; e < k->p.n_edges; e++) {
    const sel_shared_edge *g = &k->edges[e];
    const sel_shared_table *t = &k->tables[g->table];
    const int32_t cell = t->class_of[0][x[g->i]] * t->n[1] + t->class_of[1][x[g->j]];
    sum = min_cost(sum + t->cost[cell]);
    for (int32_t a = t->first ? t->first[cell] : 0; t->first && a < t->first[cell + 1]; a++) {
      int32_t o = 0;
      while (t->share[a] >= k->costs[o].first + k->costs[o].n) o++;
      if (share) sum = min_cost(sum + share[t->share[a]]);
      if (!share && !paid[g->i][o]) sum = min_cost(sum + k->costs[o].cost);
      paid[g->i][o] = true;
    }
  }
  return sum;
}

static void check_shares(const shared_case *k, const sel_split *found) {
  for (int32_t o = 0; o < k->p.n_costs; o++) {
    int64_t sum = 0;
    for (int32_t a = 0; a < k->costs[o].n; a++) {
      assert_true(found->share[k->costs[o].first + a] >= 0);
      sum += found->share[k->costs[o].first + a];
    }
    assert_true(sum == k->costs[o].cost);
  }
  for (int32_t n = 0; n < ALL; n++) {
    int32_t x[NODES];
    for (int32_t i = 0, rest = n; i < NODES; i++, rest /= CHOICES) x[i] = rest % CHOICES;
    assert_true(cost_of(k, x, found->share) <= cost_of(k, x, NULL));
  }
}

static void shares_never_cost_more(void **state) {
  (void)state;
  int moved = 0;
  sw_rng g;
  sw_rng_seed(&g, check_seed(3));
  for (int n = check_scale(1000); n > 0; n--) {
    sw_arena arena = {0};
    shared_case k;
    random_shared(&g, &arena, &k);
    int64_t *share = take(&arena, (size_t)k.p.n_shares, sizeof *share);
    bool *is_moved = take(&arena, COSTS, sizeof *is_moved);
    const sw_split_options o = {.passes = (int)sw_rng_below(&g, 40), .target = 100};
    sel_split found = {.share = share, .moved = is_moved};
    assert_ok(sel_split_shares(&k.p, &o, &found, &diag));
    if (k.p.n_shares) check_shares(&k, &found);
    for (int32_t c = 0; c < k.p.n_costs; c++) moved += is_moved[c];
    sw_arena_deinit(&arena);
  }
  assert_true(moved > 0);
}

/* A copy of 10 that a always wants, and b wants unless it pays 4 by itself: in equal shares 9, in truth 10. */
static void shares_go_to_who_must_pay(void **state) {
  (void)state;
  static const int64_t kNone[2] = {0}, kOwn[2] = {0, 4};
  static const int32_t kOne[2] = {0}, kTwo[2] = {0, 1}, kFirst[] = {0, 1, 1}, kShareA[] = {0}, kShareB[] = {1};
  const sw_node nodes[] = {{1, 0, kNone, NULL}, {1, 0, kNone, NULL}, {2, 0, kNone, NULL}};
  const sel_shared_table tables[] = {{{1, 1}, {kOne, kOne}, kNone, kFirst, kShareA},
                                     {{1, 2}, {kOne, kTwo}, kOwn, kFirst, kShareB}};
  const sel_shared_edge edges[] = {{0, 1, 0}, {0, 2, 1}};
  const sel_shared_cost costs[] = {{10, 0, 2}};
  const sel_shared_problem p = {.base = {.n_nodes = 3, .nodes = nodes, .limit = INT64_MAX},
                                .n_edges = 2,
                                .n_tables = 2,
                                .n_costs = 1,
                                .n_shares = 2,
                                .edges = edges,
                                .tables = tables,
                                .costs = costs};
  const sw_split_options o = {.passes = 100, .target = 10};
  int64_t share[2];
  bool moved[1];
  sel_split found = {.share = share, .moved = moved};
  assert_ok(sel_split_shares(&p, &o, &found, &diag));
  assert_true(found.taken && moved[0] && share[0] + share[1] == 10);
  assert_true(share[0] + (share[1] < 4 ? share[1] : 4) == 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shares_never_cost_more),
                                     cmocka_unit_test(shares_go_to_who_must_pay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
