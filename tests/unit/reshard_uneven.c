/* The search between uneven blocks beside the plainest there is: every step between every two states counted, then
 * Dijkstra's method from the source over all of them, without bounds or any step left out. The search prices steps at
 * the least that they may cost first, looks at few states, and counts few steps; what it finds must cost the same, and
 * be one step where one costs no more.
 *
 *   flat x=2,y=4, 5x1x3, [[x],[],[]] -> [[],[y],[]]: 61 states, 3660 steps counted, one route
 */
#include <math.h>

#include "../reshard_machines.h"

#include "reshard/atlas.h"
#include "reshard/uneven.h"

static sw_diag diag;

enum { MOST_STATES = 300, SOURCES = 6, LIMITED = 20 };

typedef struct reference {
  const char *where;
  const rs_net *net;
  rs_uneven uneven;
  rs_query q;
  double scale;
  double step_s[MOST_STATES][MOST_STATES]; /* from, to */
  double cost_s[MOST_STATES];              /* from one source */
  int searched;
} reference;

static reference ref;

/* A step that is counted no farther than it takes `enough` says so, and no more than it costs. */
static void check_enough(const reference *f, int from, int to, double counted) {
  rs_step step;
  const double enough = counted * (0.4 + 0.3 * ((from + to) % 3)),
               least = rs_uneven_step(&f->uneven, from, to, enough, &step);
  if (counted < enough ? least != counted : least < enough || least > counted * (1 + 1e-12))
    fail_msg("a step of %g s is counted as %g s where %g s are enough", counted, least, enough);
}

/* What the rules say (docs/resharding.md): what is counted, and no less than between even blocks. */
static double price_step(const reference *f, int from, int to) {
  sw_curve curve[SW_MAX_CURVES];
  rs_step step;
  const double counted = rs_uneven_step(&f->uneven, from, to, HUGE_VAL, &step);
  if (!isinf(counted)) check_enough(f, from, to, counted);
  if (!rs_net_step(f->net, from, to, &step)) {
    return f->net->state[from].partial == f->net->state[to].partial ? counted : HUGE_VAL;
  }
  return fmax(counted, sw_curves_s(curve, rs_step_curves(f->net, &step, curve), f->scale, sqrt(f->scale)));
}

/* Does a step keep to the limit on what is held beside both ends? */
static bool fits(const reference *f, int source, int target, int from, int to) {
  if (f->q.max_temp_bytes == 0) return true;
  const double held =
      (from == source ? 0 : rs_uneven_bytes(&f->uneven, from)) + (to == target ? 0 : rs_uneven_bytes(&f->uneven, to));
  return held <= (double)f->q.max_temp_bytes;
}

/* Without a limit the target decides nothing: costs to all states. */
static void dijkstra(reference *f, int source, int target) {
  const int n = f->net->n_states;
  bool done[MOST_STATES] = {false};
  for (int i = 0; i < n; i++) f->cost_s[i] = i == source ? 0 : HUGE_VAL;
  for (;;) {
    int at = -1;
    for (int i = 0; i < n; i++) {
      if (!done[i] && !isinf(f->cost_s[i]) && (at < 0 || f->cost_s[i] < f->cost_s[at])) at = i;
    }
    if (at < 0) return;
    done[at] = true;
    for (int to = 0; to < n; to++) {
      if (to != at && fits(f, source, target, at, to))
        f->cost_s[to] = fmin(f->cost_s[to], f->cost_s[at] + f->step_s[at][to]);
    }
  }
}

/* --- comparing --------------------------------------------------------------------------------------------------- */

static void fail_search(const reference *f, int from, int to, const char *what, double found, double right) {
  const rs_space *s = &f->q.space;
  const rs_state a = rs_net_state_of(f->net, from), b = rs_net_state_of(f->net, to);
  const sw_sharding x = rs_sharding_of(s, &a, SW_REDUCE_SUM), y = rs_sharding_of(s, &b, SW_REDUCE_SUM);
  sw_text t = {0};
  for (int d = 0; d < s->rank; d++) sw_text_printf(&t, "%s%lld", d ? "x" : " ", (long long)s->dims[d]);
  sw_text_puts(&t, " ");
  pair_print(s->mesh, &x, &y, &t);
  fail_msg("%s%s, at most %lld bytes: %s %.12g s, right is %.12g s", f->where, sw_text_str(&t),
           (long long)f->q.max_temp_bytes, what, found, right);
}

/* For a path that costs so much. */
static bool differ(double a, double b, double path_s) { return a != b && !(fabs(a - b) <= 1e-8 * path_s); }

/* The path found is one, and costs what its steps do. */
static void check_path(const reference *f, int from, int to, const rs_path *path) {
  double sum = 0;
  int at = from;
  for (int i = 0; i < path->n; i++) {
    const int next = rs_net_find(f->net, &path->hop[i].after);
    assert_true(fits(f, from, to, at, next));
    const double price = f->step_s[at][next];
    if (differ(path->hop[i].cost_s, price, path->cost_s))
      fail_search(f, at, next, "a step costs", path->hop[i].cost_s, price);
    sum += price;
    at = next;
  }
  assert_int_equal(at, to);
  if (differ(path->cost_s, sum, sum)) fail_search(f, from, to, "the steps cost", path->cost_s, sum);
}

static void check_search(reference *f, int from, int to) {
  rs_path path;
  f->q.source = rs_net_state_of(f->net, from);
  f->q.target = rs_net_state_of(f->net, to);
  assert_ok(rs_net_search(&f->q, &path, &diag));
  if (differ(path.cost_s, f->cost_s[to], f->cost_s[to]))
    fail_search(f, from, to, "the search finds", path.cost_s, f->cost_s[to]);
  f->searched++;
  if (isinf(path.cost_s)) return;
  check_path(f, from, to, &path);
  if (path.n > 1 && f->step_s[from][to] <= path.cost_s * (1 + 1e-12))
    fail_search(f, from, to, "several steps take", path.cost_s, f->step_s[from][to]);
}

/* Pairs of whole values are searched among states of whole values alone. */
static bool is_asked(const reference *f, bool partial, int from, int to) {
  const rs_net_state *s = f->net->state;
  return from != to && partial == (s[from].partial || s[to].partial);
}

static void check_from(reference *f, int from, bool partial) {
  f->q.max_temp_bytes = 0;
  dijkstra(f, from, -1);
  for (int to = 0; to < f->net->n_states; to++) {
    if (is_asked(f, partial, from, to)) check_search(f, from, to);
  }
}

static void check_with_limit(reference *f, rng *r, bool partial) {
  const int n = f->net->n_states, from = (int)rng_below(r, n), to = (int)rng_below(r, n);
  const int held = (int)rng_below(r, n);
  if (!is_asked(f, partial, from, to)) return;
  f->q.max_temp_bytes = 1 + (int64_t)(rs_uneven_bytes(&f->uneven, held) * (double)(1 + rng_below(r, 2)));
  dijkstra(f, from, to);
  check_search(f, from, to);
}

/* --- cases ------------------------------------------------------------------------------------------------------- */

/* From single elements to large extents, some of them cut evenly by most lists. */
static void draw_dims(rng *r, int rank, int64_t *dims) {
  static const int64_t kMost[] = {8, 50, 800, 6000};
  for (int d = 0; d < rank; d++) {
    dims[d] = 1 + rng_below(r, kMost[rng_below(r, 4)]);
    if (rng_below(r, 4) == 0) dims[d] *= 24;
  }
}

static void compare_case(const sw_machine *machine, rng *r) {
  int64_t dims[SW_MAX_RANK];
  const int rank = rng_below(r, 8) ? 1 + (int)rng_below(r, 3) : 4;
  const bool partial = rng_below(r, 2) == 0;
  const sw_sharding none = sw_sharding_replicated(rank);
  rs_atlas *atlas;
  draw_dims(r, rank, dims);
  ref.q = (rs_query){.machine = machine, .dtype = SW_BF16, .kind = SW_REDUCE_SUM};
  if (!rs_net_space(&ref.q.space, machine, rank, dims, &none, 1)) return;
  if (rs_net_count(ref.q.space.n, rank, partial) > MOST_STATES) return;
  assert_ok(rs_atlas_of(&ref.q, partial, &atlas, &diag));
  if (rs_atlas_cuts_evenly(atlas, &ref.q)) return;
  ref.net = rs_atlas_net(atlas);
  const int n = ref.net->n_states;
  ref.scale = sw_dtype_bytes(ref.q.dtype) / ref.net->whole_bytes;
  for (int d = 0; d < rank; d++) ref.scale *= (double)dims[d];
  rs_uneven_init(&ref.uneven, ref.net, &ref.q);
  for (int from = 0; from < n; from++) {
    for (int to = 0; to < n; to++) ref.step_s[from][to] = price_step(&ref, from, to);
  }
  for (int i = 0; i < SOURCES; i++) check_from(&ref, (int)rng_below(r, n), partial);
  for (int i = 0; i < LIMITED; i++) check_with_limit(&ref, r, partial);
}

/* More than once where more is asked for than all machines. */
static void compare(const sw_machine *machine, rng *r, const char *where) {
  ref.where = where;
  for (int left = check_scale(1); left > 0; left -= 3) compare_case(machine, r);
}

static void searches_find_the_cheapest_of_all_paths(void **state) {
  (void)state;
  on_all_machines(compare, check_seed(3));
  print_message("%d pairs\n", ref.searched);
  assert_true(ref.searched > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(searches_find_the_cheapest_of_all_paths)};
  return cmocka_run_group_tests_name("reshard_uneven", tests, NULL, NULL);
}
