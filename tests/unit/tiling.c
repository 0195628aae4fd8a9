/* Tilings: moves and traffic against enumeration of elements. */
#include "../random_sharding.h"

#include "shardwright/arena.h"

enum { MAX_ELEMENTS = 4096 };

/* Elements that device `to` was sent, and from whom. */
typedef struct delivery {
  const sw_mesh *m;
  const int64_t *dims;
  int rank;
  int64_t to;
  int count[MAX_ELEMENTS];
  int64_t from[MAX_ELEMENTS];
  int64_t received; /* from others */
} delivery;

static sw_rc deliver(void *user, const sw_tile_move *move, sw_diag *d) {
  (void)d;
  delivery *v = user;
  int64_t index[SW_MAX_RANK];
  assert_int_equal(move->to, v->to);
  for (int64_t e = 0; e < elements_of(v->rank, v->dims); e++) {
    index_of(v->rank, v->dims, e, index);
    bool inside = true;
    for (int i = 0; i < v->rank; i++) inside = inside && index[i] >= move->lo[i] && index[i] < move->hi[i];
    if (!inside) continue;
    v->count[e]++;
    v->from[e] = move->from;
    v->received += move->from != move->to;
  }
  return SW_OK;
}

static void random_dims(rng *r, int rank, int64_t *dims) {
  for (int d = 0; d < rank; d++) dims[d] = rng_below(r, 9) == 0 ? rng_below(r, 2) : rng_below(r, 13);
}

/* Some dimensions so that both cut them evenly. */
static void even_dims(rng *r, const sw_sharding *a, const sw_sharding *b, int64_t *dims) {
  int64_t elements = elements_of(a->rank, dims);
  for (int d = 0; d < a->rank; d++) {
    int64_t unit = sw_sharding_shards(a, d), other = sw_sharding_shards(b, d), k = unit;
    while (k % other) k += unit;
    if (elements == 0 || elements / dims[d] * k * 2 > MAX_ELEMENTS) continue;
    elements = elements / dims[d] * k;
    dims[d] = k * (1 + rng_below(r, 2));
    elements = elements_of(a->rank, dims);
  }
}

/* Each element that a device must show comes once, from a device that holds it (not from a halo), and from itself
 * whenever it holds it; the traffic is the count of the others. */
static void check_moves(const sw_mesh *m, const int64_t *dims, const sw_sharding *a, const sw_sharding *b) {
  static delivery v;
  const int rank = a->rank;
  int64_t index[SW_MAX_RANK];
  sw_tiling src, dst;
  double max = 0, total = 0, got_max, got_total;
  sw_tiling_of(a, rank, dims, &src);
  sw_tiling_of(b, rank, dims, &dst);
  for (int64_t to = 0; to < sw_mesh_devices(m); to++) {
    v = (delivery){.m = m, .dims = dims, .rank = rank, .to = to};
    assert_ok(sw_tiling_moves_to(m, &src, &dst, to, deliver, &v, &diag));
    for (int64_t e = 0; e < elements_of(rank, dims); e++) {
      index_of(rank, dims, e, index);
      assert_int_equal(v.count[e], brute_shows(m, b, dims, to, index));
      if (!v.count[e]) continue;
      assert_true(brute_holds(m, a, dims, v.from[e], index));
      if (brute_holds(m, a, dims, to, index)) assert_int_equal(v.from[e], to);
    }
    total += (double)v.received;
    if ((double)v.received > max) max = (double)v.received;
  }
  sw_tiling_traffic(m, &src, &dst, &got_max, &got_total);
  assert_true(got_max == max);
  assert_true(got_total == total);
}

static void moves_cover_each_element_once(void **state) {
  (void)state;
  rng r = {check_seed(21)};
  sw_arena arena = {0};
  for (int round = 0; round < check_scale(1500); round++) {
    sw_mesh m = random_mesh(&r, 4, 48);
    int rank = (int)rng_below(&r, 4);
    int64_t dims[SW_MAX_RANK];
    random_dims(&r, rank, dims);
    sw_sharding a = random_sharding(&r, &m, rank, false), b = random_sharding(&r, &m, rank, false);
    if (rng_below(&r, 2) == 0) even_dims(&r, &a, &b, dims);
    if (rng_below(&r, 3) == 0) random_lists(&r, &arena, dims, &a);
    if (rng_below(&r, 3) == 0) random_lists(&r, &arena, dims, &b);
    check_moves(&m, dims, &a, &b);
    sw_arena_reset(&arena);
  }
  sw_arena_deinit(&arena);
}

/* Between any two parts of an axis, of which many cut into each other: x -> x:(3)2 of 6. */
static void any_parts_of_an_axis(void **state) {
  (void)state;
  static const int64_t kDims[] = {12};
  sw_axis_ref part[18];
  int n = 0;
  sw_mesh m;
  assert_ok(sw_mesh_parse("x=12", NULL, &m, &diag));
  for (int32_t pre = 1; pre <= 12; pre++) {
    for (int32_t size = 1; 12 % pre == 0 && size <= 12 / pre; size++)
      if (12 / pre % size == 0) part[n++] = (sw_axis_ref){0, pre, size};
  }
  assert_int_equal(n, 18);
  for (int i = 0; i < n * n; i++) {
    sw_sharding a = sw_sharding_replicated(1), b = a;
    (void)sw_sharding_push(&a, 0, part[i / n]);
    (void)sw_sharding_push(&b, 0, part[i % n]);
    check_moves(&m, kDims, &a, &b);
  }
}

/* Windows show base + i*step + [0, len) cut to the tensor, whatever the numbers. */
static void windows_of_any_step(void **state) {
  (void)state;
  rng r = {check_seed(22)};
  sw_mesh m;
  static delivery v;
  assert_ok(sw_mesh_parse("x=3,y=2", NULL, &m, &diag));
  for (int round = 0; round < check_scale(4000); round++) {
    int64_t size = rng_below(&r, 14);
    sw_tiling src, dst = {.rank = 1};
    sw_sharding s = sw_sharding_replicated(1);
    (void)sw_sharding_push(&s, 0, sw_axis_whole(&m, 0));
    sw_tiling_of(&s, 1, &size, &src);
    dst.dim[0] = (sw_tile_dim){0, 1, size, rng_below(&r, 9) - 4, rng_below(&r, 11) - 5, rng_below(&r, 8), NULL};
    dst.refs[0] = sw_axis_whole(&m, (int)rng_below(&r, 2));
    for (int64_t to = 0; to < 6; to++) {
      int64_t start, lo, hi, i = sw_mesh_coord(&m, to, dst.refs[0]);
      sw_tiling_window(&m, &dst, 0, to, &start, &lo, &hi);
      assert_int_equal(start, dst.dim[0].base + i * dst.dim[0].step);
      assert_true(0 <= lo && lo <= hi && hi <= dst.dim[0].len);
      v = (delivery){.m = &m, .dims = &size, .rank = 1, .to = to};
      assert_ok(sw_tiling_moves_to(&m, &src, &dst, to, deliver, &v, &diag));
      for (int64_t p = 0; p < dst.dim[0].len; p++) {
        bool exists = start + p >= 0 && start + p < size;
        assert_int_equal(p >= lo && p < hi, exists);
      }
      for (int64_t g = 0; g < size; g++) {
        assert_int_equal(v.count[g], g >= start && g < start + dst.dim[0].len);
        if (v.count[g]) assert_true(brute_holds(&m, &s, &size, v.from[g], &g));
      }
    }
  }
}

/* A tiling of any step as a source: what some window shows is delivered once, else the gap is named. */
static void any_tiling_can_be_a_source(void **state) {
  (void)state;
  rng r = {check_seed(23)};
  sw_mesh m;
  static delivery v;
  int gaps = 0, covered = 0;
  assert_ok(sw_mesh_parse("x=4", NULL, &m, &diag));
  for (int round = 0; round < check_scale(4000); round++) {
    int64_t size = 1 + rng_below(&r, 12), step = rng_below(&r, 11) - 5;
    sw_tiling src = {.rank = 1}, dst;
    src.refs[0] = sw_axis_whole(&m, 0);
    src.dim[0] = (sw_tile_dim){0, 1, size, rng_below(&r, 17) - 4, step, rng_below(&r, 8), NULL};
    sw_sharding s = sw_sharding_replicated(1);
    sw_tiling_of(&s, 1, &size, &dst);
    bool all = true;
    for (int64_t g = 0; g < size; g++) {
      bool shown = false;
      for (int64_t i = 0; i < 4; i++) {
        int64_t start = src.dim[0].base + i * step;
        shown = shown || (g >= start && g < start + src.dim[0].len);
      }
      all = all && shown;
    }
    v = (delivery){.m = &m, .dims = &size, .rank = 1, .to = 2};
    sw_rc rc = sw_tiling_moves_to(&m, &src, &dst, 2, deliver, &v, &diag);
    assert_int_equal(rc, all ? SW_OK : SW_E_INPUT);
    gaps += !all;
    covered += all;
    for (int64_t g = 0; all && g < size; g++) {
      assert_int_equal(v.count[g], 1);
      int64_t start = src.dim[0].base + v.from[g] * step;
      assert_true(g >= start && g < start + src.dim[0].len);
    }
  }
  assert_true(gaps > 100 && covered > 100);
}

/* The period of cuts: pieces in a dimension are C(K/S) + C(K/T) - C(K/lcm(S,T)). */
static void pieces_follow_the_period(void **state) {
  (void)state;
  for (int64_t k = 1; k <= 24; k++) {
    for (int64_t a = 1; a <= 6; a++) {
      for (int64_t b = 1; b <= 6; b++) {
        int64_t s = sw_ceil_div(k, a), t = sw_ceil_div(k, b), lcm = s, cuts = 0;
        while (lcm % t) lcm += s;
        for (int64_t i = 0; i < k; i++) cuts += i % s == 0 || i % t == 0;
        assert_int_equal(cuts, sw_ceil_div(k, s) + sw_ceil_div(k, t) - sw_ceil_div(k, lcm));
      }
    }
  }
}

typedef struct load {
  int64_t sent[64];
} load;

static sw_rc count_sent(void *user, const sw_tile_move *move, sw_diag *d) {
  (void)d;
  load *l = user;
  if (move->from != move->to) l->sent[move->from] += (move->hi[0] - move->lo[0]) * (move->hi[1] - move->lo[1]);
  return SW_OK;
}

/* On 4x2, [[x],[]] -> [[],[x]]: both replicas of a row serve their own column of the mesh. */
static void replicas_share_the_load(void **state) {
  (void)state;
  sw_mesh m;
  int64_t dims[] = {16, 16};
  assert_ok(sw_mesh_parse("x=4,y=2", NULL, &m, &diag));
  sw_sharding a = sw_sharding_replicated(2), b = a;
  (void)sw_sharding_push(&a, 0, sw_axis_whole(&m, 0));
  (void)sw_sharding_push(&b, 1, sw_axis_whole(&m, 0));
  sw_tiling src, dst;
  sw_tiling_of(&a, 2, dims, &src);
  sw_tiling_of(&b, 2, dims, &dst);
  load l = {{0}};
  for (int64_t to = 0; to < 8; to++) assert_ok(sw_tiling_moves_to(&m, &src, &dst, to, count_sent, &l, &diag));
  for (int64_t i = 0; i < 8; i++) assert_int_equal(l.sent[i], 3 * 16);
}

static void equality_compares_contents(void **state) {
  (void)state;
  sw_mesh m;
  int64_t dims[] = {8, 8}, starts[] = {0, 3, 8}, same[] = {0, 3, 8}, other[] = {0, 4, 8};
  assert_ok(sw_mesh_parse("x=2,y=4", NULL, &m, &diag));
  sw_sharding a = sw_sharding_replicated(2);
  (void)sw_sharding_push(&a, 0, sw_axis_whole(&m, 0));
  sw_sharding b = a;
  sw_tiling s, t;
  a.offsets = starts;
  b.offsets = same;
  sw_tiling_of(&a, 2, dims, &s);
  sw_tiling_of(&b, 2, dims, &t);
  assert_true(sw_tiling_equal(&s, &t));
  b.offsets = other;
  sw_tiling_of(&b, 2, dims, &t);
  assert_false(sw_tiling_equal(&s, &t));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moves_cover_each_element_once), cmocka_unit_test(windows_of_any_step),
      cmocka_unit_test(any_tiling_can_be_a_source),    cmocka_unit_test(pieces_follow_the_period),
      cmocka_unit_test(replicas_share_the_load),       cmocka_unit_test(equality_compares_contents),
      cmocka_unit_test(any_parts_of_an_axis),
  };
  return cmocka_run_group_tests_name("tiling", tests, NULL, NULL);
}
