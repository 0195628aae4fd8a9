/* Routes of collectives and permutes alone beside the shortest paths over all states there are: every way to place the
 * prime digits of the mesh's axes in the dimensions' lists is a node, every single collective between two of them an
 * edge with the bytes that its busiest device receives, all pairs by Floyd and Warshall. Nothing here asks the search.
 *
 * All pairs of shardings by whole axes; of the larger sets a part, all of it with SW_TEST_SCALE=10000.
 */
#include <math.h>

#include <stdlib.h>

#include "../reshard_case.h"

static sw_diag diag;
static sw_profile profile;

enum { MAX_DIGITS = 5, MAX_RANK = 3, MAX_STATES = 700 };

typedef struct state {
  int len[MAX_RANK], digit[MAX_RANK][MAX_DIGITS];
} state;

typedef struct oracle {
  int rank, n_digits, n;
  sw_axis_ref digit[MAX_DIGITS];
  state at[MAX_STATES];
  double *bytes; /* n x n, of a tensor of one byte */
} oracle;

static void enumerate(oracle *o, state s, int dim, unsigned used) {
  if (dim == o->rank || dim == MAX_RANK) {
    assert_true(o->n < MAX_STATES);
    o->at[o->n++] = s;
    return;
  }
  enumerate(o, s, dim + 1, used);
  for (int a = 0; a < o->n_digits; a++) {
    if (used >> a & 1u) continue;
    state cut = s;
    cut.digit[dim][cut.len[dim]++] = a;
    enumerate(o, cut, dim, used | 1u << a);
  }
}

static double shards(const oracle *o, const state *s, int dim) {
  double n = 1;
  for (int i = 0; i < s->len[dim]; i++) n *= o->digit[s->digit[dim][i]].size;
  return n;
}

static double block(const oracle *o, const state *s) {
  double b = 1;
  for (int d = 0; d < o->rank; d++) b /= shards(o, s, d);
  return b;
}

/* What the busiest device receives when one collective leads from a state to another; HUGE_VAL when none does. */
static double edge(const oracle *o, const state *a, const state *b) {
  bool equal = true, apart = true; /* blocks alike; every list only loses or only gains at its end */
  unsigned lost = 0, gained = 0;
  double moved = 1;
  for (int d = 0; d < o->rank; d++) {
    int same = 0;
    while (same < a->len[d] && same < b->len[d] && a->digit[d][same] == b->digit[d][same]) same++;
    equal = equal && shards(o, a, d) == shards(o, b, d);
    apart = apart && (same == a->len[d] || same == b->len[d]);
    for (int i = same; i < b->len[d]; i++) gained |= 1u << b->digit[d][i];
    for (int i = same; i < a->len[d]; i++) {
      lost |= 1u << a->digit[d][i];
      moved *= o->digit[a->digit[d][i]].size;
    }
  }
  if (apart && !lost) return 0;                                      /* all_slice */
  if (apart && !gained) return block(o, b) - block(o, a);            /* all_gather */
  if (apart && lost == gained) return block(o, a) * (1 - 1 / moved); /* all_to_all */
  return equal ? block(o, a) : HUGE_VAL;                             /* permute */
}

static void close_paths(oracle *o) {
  for (int k = 0; k < o->n; k++) {
    for (int i = 0; i < o->n; i++) {
      double first = o->bytes[i * o->n + k];
      if (isinf(first)) continue;
      for (int j = 0; j < o->n; j++)
        o->bytes[i * o->n + j] = fmin(o->bytes[i * o->n + j], first + o->bytes[k * o->n + j]);
    }
  }
}

static void all_pairs(oracle *o) {
  o->bytes = malloc((size_t)o->n * (size_t)o->n * sizeof *o->bytes);
  for (int i = 0; i < o->n; i++) {
    for (int j = 0; j < o->n; j++) o->bytes[i * o->n + j] = edge(o, &o->at[i], &o->at[j]);
  }
  close_paths(o);
}

/* The state as a sharding; false when it has an axis in parts that do not follow each other. */
static bool by_whole_axes(const oracle *o, const sw_mesh *m, const state *s, sw_sharding *out) {
  *out = sw_sharding_replicated(o->rank);
  for (int d = 0; d < o->rank; d++) {
    for (int i = 0; i < s->len[d]; i++) assert_true(sw_sharding_push(out, d, o->digit[s->digit[d][i]]));
  }
  sw_sharding_normalise(m, out);
  for (int i = 0; i < out->n_refs; i++) {
    if (out->refs[i].size != m->axis[out->refs[i].axis].size) return false;
  }
  return true;
}

static void read_digits(oracle *o, const sw_mesh *m) {
  for (int a = 0; a < m->n_axes; a++) {
    int pre = 1;
    for (int p = 2; pre < m->axis[a].size;) {
      if (m->axis[a].size / pre % p != 0) {
        p++;
        continue;
      }
      assert_true(o->n_digits < MAX_DIGITS);
      o->digit[o->n_digits++] = (sw_axis_ref){a, pre, p};
      pre *= p;
    }
  }
}

/* --- uneven blocks ----------------------------------------------------------------------------------------------- */

/* Is a list cut further, or back, one that keeps blocks nested? By counting blocks, not by the library's rule. */
static bool nests(int64_t k, int64_t few, int64_t many) {
  const int64_t wide = sw_ceil_div(k, few), narrow = sw_ceil_div(k, many), each = many / few;
  for (int64_t i = 0; i < many; i++) {
    const int64_t lo = sw_min_i64(k, i * narrow), hi = sw_min_i64(k, lo + narrow), of = i / each;
    if (lo < hi && (lo < of * wide || hi > (of + 1) * wide)) return false;
  }
  return true;
}

static double moved(const sw_mesh *m, int rank, const int64_t *dims, const sw_sharding *a, const sw_sharding *b) {
  sw_tiling src, dst;
  double max, total;
  sw_tiling_of(a, rank, dims, &src);
  sw_tiling_of(b, rank, dims, &dst);
  sw_tiling_traffic(m, &src, &dst, &max, &total);
  return max;
}

/* As edge, of any extents. */
static double uneven_edge(const oracle *o, const sw_mesh *m, const int64_t *dims, int i, int j,
                          const sw_sharding *sharding) {
  const state *a = &o->at[i], *b = &o->at[j];
  bool equal = true, nest = true;
  for (int d = 0; d < o->rank; d++) {
    const int64_t was = (int64_t)shards(o, a, d), is = (int64_t)shards(o, b, d);
    equal = equal && was == is;
    nest = nest && nests(dims[d], sw_min_i64(was, is), sw_max_i64(was, is));
  }
  if (isinf(edge(o, a, b)) || (!nest && !equal)) return HUGE_VAL;
  return moved(m, o->rank, dims, &sharding[i], &sharding[j]);
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double ratio_of(double bytes, double bound) { return bound > 0 ? bytes / bound : bytes > 0 ? HUGE_VAL : 1; }

/* What collectives and permutes alone can do where blocks do not nest: the median of the shortest paths' ratios to the
 * bound, beside that of the planner's routes. */
static void no_shorter_uneven_path(void **user) {
  (void)user;
  enum { MOST = 2500 };
  static oracle o;
  static sw_sharding all[MAX_STATES], end[MAX_STATES];
  static double shortest[MOST], found[MOST];
  sw_arena arena = {0};
  sw_machine *machine;
  reshard_case c = {.rank = 2, .dtype = SW_I8, .dims = {10, 7}, .options = {.no_exchange = true}};
  assert_ok(sw_mesh_parse("x=4,y=2,z=3", &arena, &c.mesh, &diag));
  assert_ok(sw_machine_build(&arena, &profile, &c.mesh, &machine, &diag));
  o = (oracle){.rank = c.rank};
  read_digits(&o, &c.mesh);
  enumerate(&o, (state){0}, 0, 0);
  bool is_end[MAX_STATES];
  for (int i = 0; i < o.n; i++) {
    is_end[i] = by_whole_axes(&o, &c.mesh, &o.at[i], &end[i]);
    all[i] = end[i];
  }
  o.bytes = malloc((size_t)o.n * (size_t)o.n * sizeof *o.bytes);
  for (int i = 0; i < o.n * o.n; i++) o.bytes[i] = uneven_edge(&o, &c.mesh, c.dims, i / o.n, i % o.n, all);
  close_paths(&o);
  int n = 0, longer = 0;
  for (int i = 0; i < o.n; i++) {
    for (int j = 0; j < o.n; j++) {
      if (!is_end[i] || !is_end[j]) continue;
      sw_arena scratch = {0};
      sw_route route;
      c.from = end[i];
      c.to = end[j];
      assert_ok(case_route(&c, machine, &scratch, &route, &diag));
      assert_true(n < MOST && route.max_bytes >= o.bytes[i * o.n + j] * (1 - 1e-9));
      shortest[n] = ratio_of(o.bytes[i * o.n + j], route.bound_max_bytes);
      found[n++] = ratio_of(route.max_bytes, route.bound_max_bytes);
      longer += route.max_bytes > o.bytes[i * o.n + j] * (1 + 1e-9);
      sw_arena_deinit(&scratch);
    }
  }
  qsort(shortest, (size_t)n, sizeof shortest[0], by_value);
  qsort(found, (size_t)n, sizeof found[0], by_value);
  print_message(
      "10x7 on 4x2x3: %d states, of %d routes %d longer than the shortest; median ratio %.3f, of the shortest "
      "%.3f\n",
      o.n, n, longer, found[n / 2], shortest[n / 2]);
  assert_true(found[n / 2] <= shortest[n / 2] * 1.06); /* which move several dimensions' uneven blocks at once, too */
  free(o.bytes);
  sw_arena_deinit(&arena);
}

/* --- even ones --------------------------------------------------------------------------------------------------- */

typedef struct shortest_row {
  const char *mesh;
  int rank, most_longer; /* of a thousand routes */
} shortest_row;

static const shortest_row kRows[] = {
    {"x=2,y=4", 1, 0},     {"x=2,y=4", 2, 0},     {"x=2,y=4", 3, 0},     {"x=2,y=2,z=2", 1, 0},
    {"x=2,y=2,z=2", 2, 0}, {"x=2,y=2,z=2", 3, 0}, {"x=2,y=3", 1, 0},     {"x=2,y=3", 2, 0},
    {"x=2,y=3", 3, 0},     {"x=4,y=2,z=3", 1, 0}, {"x=4,y=2,z=3", 2, 0}, {"x=4,y=2,z=3", 3, 75},
};

static void no_shorter_path(void **user) {
  const shortest_row *row = *user;
  static oracle o;
  static sw_sharding end[MAX_STATES];
  sw_arena arena = {0};
  sw_machine *machine;
  reshard_case c = {.rank = row->rank, .dtype = SW_I8, .dims = {48, 48, 48}, .options = {.no_exchange = true}};
  assert_ok(sw_mesh_parse(row->mesh, &arena, &c.mesh, &diag));
  assert_ok(sw_machine_build(&arena, &profile, &c.mesh, &machine, &diag));
  o = (oracle){.rank = row->rank};
  read_digits(&o, &c.mesh);
  enumerate(&o, (state){0}, 0, 0);
  all_pairs(&o);
  bool is_end[MAX_STATES];
  for (int i = 0; i < o.n; i++) is_end[i] = by_whole_axes(&o, &c.mesh, &o.at[i], &end[i]);
  double whole = pow(48, row->rank), worst = 1;
  int64_t step = 1 + (int64_t)o.n * o.n / (check_scale(1000) * 25), at = 0;
  int n = 0, longer = 0;
  for (int i = 0; i < o.n; i++) {
    for (int j = 0; j < o.n; j++, at++) {
      if (!is_end[i] || !is_end[j] || at % step != 0) continue;
      sw_arena scratch = {0};
      sw_route route;
      c.from = end[i];
      c.to = end[j];
      assert_ok(case_route(&c, machine, &scratch, &route, &diag));
      double least = o.bytes[i * o.n + j] * whole;
      assert_true(route.max_bytes >= least * (1 - 1e-9));
      n++;
      longer += route.max_bytes > least * (1 + 1e-9);
      if (least > 0) worst = fmax(worst, route.max_bytes / least);
      sw_arena_deinit(&scratch);
    }
  }
  print_message("%-12s rank %d: %d states, of %d routes %d longer than the shortest, at most %.3f times\n", row->mesh,
                row->rank, o.n, n, longer, worst);
  assert_true(longer * 1000 <= row->most_longer * n);
  free(o.bytes);
  sw_arena_deinit(&arena);
}

enum { N_ROWS = sizeof kRows / sizeof kRows[0] };

int main(void) {
  flat_profile(&profile, 512, 1e-9, 1); /* bytes alone count */
  struct CMUnitTest tests[N_ROWS + 1];
  for (size_t i = 0; i < N_ROWS; i++) {
    tests[i] = (struct CMUnitTest){
        .name = kRows[i].mesh, .test_func = no_shorter_path, .initial_state = (void *)(uintptr_t)&kRows[i]};
  }
  tests[N_ROWS] = (struct CMUnitTest)cmocka_unit_test(no_shorter_uneven_path);
  return cmocka_run_group_tests_name("reshard_shortest", tests, NULL, NULL);
}
