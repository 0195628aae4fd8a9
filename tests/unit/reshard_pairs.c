/* Every pair of shardings by whole axes: the routes' bytes against the bound, and the routes carried out. The routes of
 * all pairs are found; of the larger sets a part is carried out, all of it with SW_TEST_SCALE=100.
 */
#include <math.h>

#include "../reshard_case.h"

static sw_diag diag;
static sw_profile profile;

enum { MAX_SHARDINGS = 400, MAX_RATIOS = MAX_SHARDINGS * MAX_SHARDINGS };

typedef struct all_shardings {
  const sw_mesh *m;
  int rank, n;
  sw_sharding at[MAX_SHARDINGS];
} all_shardings;

static void enumerate(all_shardings *all, sw_sharding s, int dim, unsigned used) {
  if (dim == all->rank) {
    assert_true(all->n < MAX_SHARDINGS);
    all->at[all->n++] = s;
    return;
  }
  enumerate(all, s, dim + 1, used);
  for (int a = 0; a < all->m->n_axes; a++) {
    if (used >> a & 1u) continue;
    sw_sharding cut = s;
    assert_true(sw_sharding_push(&cut, dim, sw_axis_whole(all->m, a)));
    enumerate(all, cut, dim, used | 1u << a);
  }
}

static bool seen_before(const all_shardings *all, int i) {
  for (int j = 0; j < i; j++) {
    if (sw_sharding_equal(&all->at[i], &all->at[j])) return true;
  }
  return false;
}

static void list_shardings(all_shardings *all, const sw_mesh *m, int rank) {
  all->m = m;
  all->rank = rank;
  all->n = 0;
  enumerate(all, sw_sharding_replicated(rank), 0, 0);
  int kept = 0;
  for (int i = 0; i < all->n; i++) {
    if (!seen_before(all, i)) all->at[kept++] = all->at[i];
  }
  all->n = kept;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct tally {
  int n, at_bound, wins, full;
  int without_exchange; /* routes that turned out so, and of them those at the bound */
  int without_exchange_at_bound;
  double worst, sum_saved;
  double ratio[MAX_RATIOS];
} tally;

static double ratio_of(const sw_route *r) {
  if (r->bound_max_bytes == 0) return r->max_bytes == 0 ? 1 : HUGE_VAL;
  return r->max_bytes / r->bound_max_bytes;
}

static void count(tally *t, const sw_route *r) {
  double ratio = ratio_of(r);
  bool exchange = false;
  for (int i = 0; i < r->n_steps; i++) exchange = exchange || r->step[i].coll.op == SW_COLL_EXCHANGE;
  t->without_exchange += !exchange;
  t->without_exchange_at_bound += !exchange && ratio < 1 + 1e-9;
  t->ratio[t->n++] = ratio;
  t->at_bound += ratio < 1 + 1e-9;
  t->worst = fmax(t->worst, ratio);
  t->full += r->full_replication;
}

static void carry_out(const reshard_case *c, const sw_route *r, sw_arena *arena) {
  char why[256];
  if (case_run(c, r, arena, why, sizeof why) == 0) return;
  sw_text t = {0};
  case_print(c, &t);
  route_print(&c->mesh, r, &t);
  fail_msg("%s\n%s", why, sw_text_str(&t));
}

/* One route by collectives and permutes alone, one with exchanges too: both counted, every `step`-th carried out. */
static void check_pair(const sw_machine *machine, reshard_case *c, bool run, tally *plain, tally *any) {
  sw_arena arena = {0};
  sw_route route, direct;
  c->options.no_exchange = true;
  assert_ok(case_route(c, machine, &arena, &route, &diag));
  count(plain, &route);
  c->options.no_exchange = false;
  assert_ok(case_route(c, machine, &arena, &direct, &diag));
  count(any, &direct);
  if (direct.cost_s < route.cost_s * (1 - 1e-9)) {
    any->wins++;
    any->sum_saved += 1 - direct.cost_s / route.cost_s;
  }
  if (run) {
    carry_out(c, &route, &arena);
    carry_out(c, &direct, &arena);
  }
  sw_arena_deinit(&arena);
}

typedef struct pairs_row {
  const char *mesh;
  int rank;
  int64_t dims[3];
  bool even;
} pairs_row;

static const pairs_row kRows[] = {
    {"x=2,y=4", 1, {16}, true},          {"x=2,y=4", 2, {16, 16}, true},     {"x=2,y=4", 2, {13, 9}, false},
    {"x=2,y=4", 3, {8, 8, 8}, true},     {"x=2,y=2,z=2", 1, {16}, true},     {"x=2,y=2,z=2", 2, {8, 8}, true},
    {"x=2,y=2,z=2", 3, {8, 8, 8}, true}, {"x=2,y=3", 1, {12}, true},         {"x=2,y=3", 2, {6, 6}, true},
    {"x=2,y=3", 2, {5, 7}, false},       {"x=2,y=3", 3, {6, 6, 6}, true},    {"x=4,y=2,z=3", 1, {24}, true},
    {"x=4,y=2,z=3", 2, {24, 24}, true},  {"x=4,y=2,z=3", 2, {10, 7}, false}, {"x=4,y=2,z=3", 3, {24, 24, 24}, true},
};

static void print_row(const pairs_row *row, tally *plain, const tally *any) {
  qsort(plain->ratio, (size_t)plain->n, sizeof plain->ratio[0], by_value);
  print_message(
      "%s rank %d: %d pairs; collectives: %d at the bound, median %.3f, worst %.3f, %d through full replication; "
      "exchange too: %d at the bound (%d of %d without one), worst %.3f, wins %d times and saves %.0f %% there\n",
      row->mesh, row->rank, plain->n, plain->at_bound, plain->ratio[plain->n / 2], plain->worst, plain->full,
      any->at_bound, any->without_exchange_at_bound, any->without_exchange, any->worst, any->wins,
      any->wins ? 100 * any->sum_saved / any->wins : 0.0);
}

static void all_pairs(void **state) {
  const pairs_row *row = *state;
  static tally plain, any;
  static all_shardings all;
  sw_arena arena = {0};
  sw_machine *machine;
  reshard_case c = {.rank = row->rank, .dtype = SW_I32};
  memcpy(c.dims, row->dims, sizeof row->dims);
  assert_ok(sw_mesh_parse(row->mesh, &arena, &c.mesh, &diag));
  assert_ok(sw_machine_build(&arena, &profile, &c.mesh, &machine, &diag));
  list_shardings(&all, &c.mesh, row->rank);
  plain = any = (tally){0};
  int64_t work = (int64_t)all.n * all.n * elements_of(row->rank, row->dims) * sw_mesh_devices(&c.mesh);
  int64_t step = 1 + work / ((int64_t)check_scale(1000) * 1000), at = 0;
  for (int i = 0; i < all.n; i++) {
    for (int j = 0; j < all.n; j++, at++) {
      if (row->rank == 3 && all.n > 50 && at % 5 != 0 && step > 1) continue;
      c.from = all.at[i];
      c.to = all.at[j];
      check_pair(machine, &c, at % step == 0, &plain, &any);
    }
  }
  print_row(row, &plain, &any);
  if (row->even) {
    assert_int_equal(any.at_bound, any.n);
    assert_int_equal(any.full, 0);
  }
  sw_arena_deinit(&arena);
}

enum { N_ROWS = sizeof kRows / sizeof kRows[0] };

int main(void) {
  flat_profile(&profile, 512, 1e-9, 1); /* bytes alone count */
  struct CMUnitTest tests[N_ROWS];
  for (size_t i = 0; i < N_ROWS; i++) {
    tests[i] = (struct CMUnitTest){
        .name = kRows[i].mesh, .test_func = all_pairs, .initial_state = (void *)(uintptr_t)&kRows[i]};
  }
  return cmocka_run_group_tests_name("reshard_pairs", tests, NULL, NULL);
}
