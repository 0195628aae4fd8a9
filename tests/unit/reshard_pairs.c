/* Every pair of shardings by whole axes: the routes' bytes against the bound, and the routes carried out on threads. Of
 * the larger sets a part is found and carried out, all of it with SW_TEST_SCALE=10000 (reports/reshard-pairs.txt).
 */
#include <math.h>

#include "../reshard_case.h"

#include "shardwright/validate.h"

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
  int peak;        /* routes that hold more on the way than the larger of both ends */
  int single, ran; /* pairs that one collective does; routes carried out */
  double worst, sum_saved;
  double ratio[MAX_RATIOS];
} tally;

static double ratio_of(const sw_route *r) {
  if (r->bound_max_bytes == 0) return r->max_bytes == 0 ? 1 : HUGE_VAL;
  return r->max_bytes / r->bound_max_bytes;
}

/* Does a block on the way outgrow both ends? */
static bool has_peak(const reshard_case *c, const sw_route *r) {
  int64_t from = sw_sharding_local_bytes(&c->from, c->dims, c->dtype);
  int64_t to = sw_sharding_local_bytes(&c->to, c->dims, c->dtype);
  for (int i = 0; i + 1 < r->n_steps; i++) {
    int64_t between = sw_sharding_local_bytes(&r->step[i].after, c->dims, c->dtype);
    if (between > from && between > to) return true;
  }
  return false;
}

static void count(tally *t, const reshard_case *c, const sw_route *r) {
  double ratio = ratio_of(r);
  bool exchange = false;
  for (int i = 0; i < r->n_steps; i++) exchange = exchange || r->step[i].coll.op == SW_COLL_EXCHANGE;
  t->without_exchange += !exchange;
  t->without_exchange_at_bound += !exchange && ratio < 1 + 1e-9;
  t->ratio[t->n++] = ratio;
  t->at_bound += ratio < 1 + 1e-9;
  t->worst = fmax(t->worst, ratio);
  t->full += r->full_replication;
  t->peak += has_peak(c, r);
}

static void carry_out(const reshard_case *c, const sw_machine *machine, const sw_route *r) {
  const sw_reshard wanted = case_wanted(c, machine);
  sw_route_run ran;
  assert_ok(sw_run_route(&wanted, r, NULL, &ran, &diag));
  if (ran.wrong == 0 && ran.bytes_received == (int64_t)r->total_bytes) return;
  sw_text t = {0};
  case_print(c, &t);
  route_print(&c->mesh, r, &t);
  fail_msg("%lld wrong elements, %lld bytes received\n%s", (long long)ran.wrong, (long long)ran.bytes_received,
           sw_text_str(&t));
}

/* Axes that dimension d has more in `b` than in `a`, at the end; -1 when the lists differ otherwise. */
static int appended(const sw_sharding *a, const sw_sharding *b, int d) {
  int n, m;
  const sw_axis_ref *x = sw_sharding_dim(a, d, &n), *y = sw_sharding_dim(b, d, &m);
  if (m < n || memcmp(x, y, (size_t)n * sizeof *x) != 0) return -1;
  return m - n;
}

/* Does one all_slice, all_gather or all_to_all lead from one even sharding to the other? Lists differ at the end of one
 * dimension, or one loses at the end what another one gains there. */
static bool is_single(const sw_sharding *a, const sw_sharding *b) {
  int gains = -1, loses = -1, n, m;
  for (int d = 0; d < a->rank; d++) {
    int more = appended(a, b, d), less = appended(b, a, d);
    if (more == 0) continue;
    if (more < 0 && less < 0) return false;
    int *side = more > 0 ? &gains : &loses;
    if (*side >= 0) return false;
    *side = d;
  }
  if (gains < 0 && loses < 0) return false;
  if (gains < 0) return true;
  const sw_axis_ref *in = sw_sharding_dim(b, gains, &n);
  int k = appended(a, b, gains);
  in += n - k;
  if (loses < 0) {
    for (int i = 0; i < a->n_refs; i++) {
      for (int j = 0; j < k; j++) {
        if (sw_axis_ref_overlaps(a->refs[i], in[j])) return false;
      }
    }
    return true;
  }
  const sw_axis_ref *out = sw_sharding_dim(a, loses, &m);
  return appended(b, a, loses) == k && memcmp(out + m - k, in, (size_t)k * sizeof *in) == 0;
}

/* One route by collectives and permutes alone, one with exchanges too: both counted, every `step`-th carried out. */
static void check_pair(const sw_machine *machine, reshard_case *c, bool even, bool run, tally *plain, tally *any) {
  sw_arena arena = {0};
  sw_route route, direct;
  c->options.no_exchange = true;
  assert_ok(case_route(c, machine, &arena, &route, &diag));
  count(plain, c, &route);
  c->options.no_exchange = false;
  assert_ok(case_route(c, machine, &arena, &direct, &diag));
  count(any, c, &direct);
  if (direct.cost_s < route.cost_s * (1 - 1e-9)) {
    any->wins++;
    any->sum_saved += 1 - direct.cost_s / route.cost_s;
  }
  if (even && is_single(&c->from, &c->to)) {
    any->single++;
    assert_int_equal(route.n_steps, 1);
    assert_int_equal(direct.n_steps, 1);
    assert_true(direct.step[0].coll.op != SW_COLL_EXCHANGE);
  }
  if (run) {
    carry_out(c, machine, &route);
    carry_out(c, machine, &direct);
    any->ran += 2;
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

static void print_heading(void) {
  print_message("%-12s %-9s %6s %6s %6s | collectives and permutes       | exchanges too\n", "", "", "", "", "single");
  print_message("%-12s %-9s %6s %6s %6s | %6s %6s %6s %4s %4s | %6s %6s %4s %6s %5s\n", "mesh", "shape", "pairs", "run",
                "op", "bound", "median", "worst", "full", "peak", "bound", "worst", "peak", "wins", "save");
}

static void print_row(const pairs_row *row, tally *plain, const tally *any) {
  char shape[32] = "";
  for (int d = 0; d < row->rank; d++) {
    snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%lld", d ? "x" : "", (long long)row->dims[d]);
  }
  qsort(plain->ratio, (size_t)plain->n, sizeof plain->ratio[0], by_value);
  print_message("%-12s %-9s %6d %6d %6d | %6d %6.3f %6.3f %4d %4d | %6d %6.3f %4d %6d %3.0f %%\n", row->mesh, shape,
                plain->n, any->ran, any->single, plain->at_bound, plain->ratio[plain->n / 2], plain->worst, plain->full,
                plain->peak, any->at_bound, any->worst, any->peak, any->wins,
                any->wins ? 100 * any->sum_saved / any->wins : 0.0);
}

/* Over all even sets: ratios of collectives and permutes alone, and of the routes that turned out to have no exchange.
 */
static struct {
  int n, chosen, chosen_at_bound;
  double ratio[MAX_RATIOS];
} even_sets;

static void pool(const tally *plain, const tally *any) {
  even_sets.chosen += any->without_exchange;
  even_sets.chosen_at_bound += any->without_exchange_at_bound;
  for (int i = 0; i < plain->n && even_sets.n < MAX_RATIOS; i++) even_sets.ratio[even_sets.n++] = plain->ratio[i];
}

static void ratios_of_even_sets(void **state) {
  (void)state;
  qsort(even_sets.ratio, (size_t)even_sets.n, sizeof even_sets.ratio[0], by_value);
  print_message(
      "even sets together: %d pairs, median ratio of collectives and permutes alone %.3f; routes chosen without an "
      "exchange: %d, of them at the bound %d\n",
      even_sets.n, even_sets.ratio[even_sets.n / 2], even_sets.chosen, even_sets.chosen_at_bound);
  assert_int_equal(even_sets.chosen, even_sets.chosen_at_bound);
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
  const int part = all.n <= 40 ? 1 : (row->rank == 3 ? 5 : 1) * (1000 + check_scale(1000) - 1) / check_scale(1000);
  for (int i = 0; i < all.n; i++) {
    for (int j = 0; j < all.n; j++, at++) {
      if (part > 1 && at % part != 0 && step > 1) continue;
      c.from = all.at[i];
      c.to = all.at[j];
      check_pair(machine, &c, row->even, at % step == 0, &plain, &any);
    }
  }
  print_row(row, &plain, &any);
  if (row->even) {
    pool(&plain, &any);
    assert_int_equal(any.at_bound, any.n);
    assert_int_equal(any.full, 0);
    assert_int_equal(any.peak, 0);
  }
  sw_arena_deinit(&arena);
}

enum { N_ROWS = sizeof kRows / sizeof kRows[0] };

int main(void) {
  flat_profile(&profile, 512, 1e-9, 1); /* bytes alone count */
  struct CMUnitTest tests[N_ROWS + 1];
  print_heading();
  for (size_t i = 0; i < N_ROWS; i++) {
    tests[i] = (struct CMUnitTest){
        .name = kRows[i].mesh, .test_func = all_pairs, .initial_state = (void *)(uintptr_t)&kRows[i]};
  }
  tests[N_ROWS] = (struct CMUnitTest)cmocka_unit_test(ratios_of_even_sets);
  return cmocka_run_group_tests_name("reshard_pairs", tests, NULL, NULL);
}
