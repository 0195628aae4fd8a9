/* The search beside the plainest one: Dijkstra's method over all states that the atoms of a small mesh can write, by
 * the same steps, every exchange counted. No price is below that, few are far above, and bounds hold. That every step
 * is a right one is for tests of values (reshard.c).
 */
#include <math.h>

#include "../reshard_case.h"

#include "reshard/route_search.h"
#include "shardwright/profile_json.h"

typedef struct oracle_row {
  const char *profile, *mesh;
} oracle_row;

/* Devices on a switch, all joined with all, a torus, nodes, and a torus of boards. */
static const oracle_row kRows[] = {{"uniform", "x=2,y=3"},      {"uniform", "x=4,y=2"},     {"mi300x-8", "x=2,y=4"},
                                   {"mi300x-8", "x=2,y=2,z=2"}, {"tpu-v5e-4x4", "x=4,y=4"}, {"h100x64", "x=2,y=8"},
                                   {"h100x64", "x=4,y=4"},      {"p4de-x2", "x=2,y=8"},     {"p4de-x2", "x=2,y=2,z=4"},
                                   {"boards", "x=2,y=2,z=4"}};

typedef struct tally {
  int n, beyond; /* a quarter above the cheapest */
  double sum_log, worst;
} tally;

/* All states of a graph's atoms are its vertices. */
static void add_all(rs_graph *g, rs_state *s, int d, uint32_t used) {
  const rs_space *space = &g->r->space;
  const uint32_t all = (1u << space->n) - 1;
  if (d == space->rank) {
    const uint32_t spare = (g->r->source.partial | g->r->target.partial) & ~used;
    for (uint32_t some = spare;; some = (some - 1) & spare) {
      s->partial = some;
      assert_true(rs_graph_add(g, s) >= 0);
      if (!some) return;
    }
  }
  add_all(g, s, d + 1, used);
  const rs_list list = s->list[d];
  for (uint32_t rest = all & ~used; rest; rest &= rest - 1) {
    const uint32_t atom = rest & -rest;
    s->list[d] = rs_list_join(list, rs_list_of_set(atom));
    add_all(g, s, d, used | atom);
  }
  s->list[d] = list;
}

/* Checks each step against its bound on the way. */
enum { OF_EXCHANGES = 8 }; /* one of so many is counted, which takes long */

/* The price of an exchange by what is kept of each dimension, beside that of what devices are counted to receive. */
static void count_exchange(const rs_graph *g, int from, int to, double cost_s, tally *t) {
  const double ratio = cost_s / rs_graph_counted_exchange_s(g, &g->vertex[from], &g->vertex[to]);
  t->n++;
  t->beyond += ratio > 1.25 || ratio < 0.8;
  t->sum_log += log(ratio);
  t->worst = fmax(t->worst, fmax(ratio, 1 / ratio));
}

static double dijkstra(rs_graph *g, tally *counted) {
  static double cost_s[RS_MAX_VERTICES];
  static bool done[RS_MAX_VERTICES];
  for (int v = 0; v < g->n; v++) cost_s[v] = v == g->source ? 0 : HUGE_VAL;
  memset(done, 0, sizeof done);
  for (;;) {
    int at = -1;
    for (int v = 0; v < g->n; v++) {
      if (!done[v] && cost_s[v] < HUGE_VAL && (at < 0 || cost_s[v] < cost_s[at])) at = v;
    }
    if (at < 0 || at == g->target) return cost_s[g->target];
    done[at] = true;
    for (int v = 0; v < g->n; v++) {
      rs_leg step;
      if (done[v] || !rs_graph_leg(g, at, v, &step)) continue;
      if (step.move.op == SW_COLL_EXCHANGE && v % OF_EXCHANGES == 0) count_exchange(g, at, v, step.cost_s, counted);
      assert_true(rs_graph_bound_s(g, at, v) <= step.cost_s * (1 + 1e-9));
      cost_s[v] = fmin(cost_s[v], cost_s[at] + step.cost_s);
    }
  }
}

static const sw_machine *machine_of(const oracle_row *row, sw_arena *arena) {
  static sw_profile boards;
  sw_mesh mesh;
  sw_machine *machine;
  const sw_profile *profile = &boards;
  two_level_profile(&boards, 16, 4, 1e-6, 1e-10);
  boards.level[1].kind = SW_TOPOLOGY_TORUS;
  boards.level[1].n_dims = 2;
  boards.level[1].dims[0] = boards.level[1].dims[1] = 2;
  if (strcmp(row->profile, "boards") != 0) {
    char path[256];
    snprintf(path, sizeof path, "%s/hwprofiles/%s.json", SW_SOURCE_DIR, row->profile);
    assert_ok(sw_profile_read(path, arena, &profile, &diag));
  }
  assert_ok(sw_mesh_parse(row->mesh, arena, &mesh, &diag));
  assert_ok(sw_machine_build(arena, profile, &mesh, &machine, &diag));
  return machine;
}

static void compare(const sw_machine *machine, rng *r, rs_graph *g, tally *t, tally *counted) {
  const sw_mesh *m = sw_machine_mesh(machine);
  const int rank = 1 + (int)rng_below(r, 2);
  const bool even = rng_below(r, 2) == 0, partial = rng_below(r, 3) == 0;
  const int64_t most = INT64_C(1) << (4 + rng_below(r, 10));
  int64_t dims[2];
  for (int d = 0; d < rank; d++) dims[d] = even ? most * sw_mesh_devices(m) : 1 + rng_below(r, most);
  const sw_sharding from = random_sharding(r, m, rank, partial), to = random_sharding(r, m, rank, partial);
  const sw_reshard wanted = {machine, &from, &to, rank, dims, SW_F32, {0}};
  rs_request request;
  rs_state none = {0};
  assert_ok(rs_request_init(&request, &wanted, &diag));
  if (request.nothing_to_do) return;
  rs_graph_init(g, &request);
  add_all(g, &none, 0, 0);
  const double bound_s = rs_graph_bound_s(g, g->source, g->target);
  const double least_s = dijkstra(g, counted), found_s = sw_route_cost_s(&wanted), ratio = found_s / least_s;
  if (ratio < 1 - 1e-9 || bound_s > least_s * (1 + 1e-9)) {
    sw_text text = {0};
    pair_print(m, &from, &to, &text);
    fail_msg("%s: bound %g s, cheapest %g s, found %g s", sw_text_str(&text), bound_s, least_s, found_s);
  }
  t->n++;
  t->beyond += ratio > 1.25;
  t->sum_log += log(ratio);
  t->worst = fmax(t->worst, ratio);
}

static void search_is_near_the_cheapest(void **state) {
  const oracle_row *row = *state;
  sw_arena arena = {0};
  rng r = {check_seed(71)};
  tally t = {0}, counted = {0};
  rs_graph *g = sw_mem_alloc(1, sizeof *g, &diag);
  assert_non_null(g);
  const sw_machine *machine = machine_of(row, &arena);
  const int pairs = check_scale(100);
  for (int i = 0; i < pairs; i++) compare(machine, &r, g, &t, &counted);
  const double mean = exp(t.sum_log / t.n);
  print_message("%s %s: %d pairs cost %.4f times the cheapest, %d more than 1.25, the worst %.2f\n", row->profile,
                row->mesh, t.n, mean, t.beyond, t.worst);
  print_message("  %d exchanges %.4f times what is counted, %d beyond 1.25, the worst %.2f\n", counted.n,
                exp(counted.sum_log / counted.n), counted.beyond, counted.worst);
  assert_true(counted.sum_log < 0.03 * counted.n && counted.beyond * 50 <= counted.n + 50);
  assert_true(mean < 1.03 && t.beyond * 20 <= t.n + 20 && t.worst < 4);
  sw_mem_free(g);
  sw_arena_deinit(&arena);
}

enum { N_ROWS = sizeof kRows / sizeof kRows[0] };

int main(void) {
  struct CMUnitTest tests[N_ROWS];
  for (size_t i = 0; i < N_ROWS; i++) {
    tests[i] = (struct CMUnitTest){
        .name = kRows[i].mesh, .test_func = search_is_near_the_cheapest, .initial_state = (void *)(uintptr_t)&kRows[i]};
  }
  return cmocka_run_group_tests_name("reshard_oracle", tests, NULL, NULL);
}
