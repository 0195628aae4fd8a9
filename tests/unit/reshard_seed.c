/* The resharding examples of the shard dialect's notes, corrected where they err (docs/resharding.md lists how): the
 * pictures, the index formulas, the tiles, and each reshard carried out.
 */
#include "../reshard_case.h"

static sw_profile profile;

/* Elements are drawn as row*10 + column, from 1; devices in order, rows of a device's block apart by '/'. */
typedef struct seed_row {
  const char *name, *mesh;
  int rank;
  int64_t dims[3];
  const char *from, *to;
  const char *before, *after; /* NULL: not drawn */
} seed_row;

static const seed_row kRows[] = {
    {"nothing to do", "2x3", 1, {6}, "[[0,1]]", "[[0,1]]", "1, 2, 3, 4, 5, 6", "1, 2, 3, 4, 5, 6"},
    {"axis order", "2x3", 1, {6}, "[[0,1]]", "[[1,0]]", "1, 2, 3, 4, 5, 6", "1, 3, 5, 2, 4, 6"},
    {"gather rows",
     "2x3",
     2,
     {2, 3},
     "[[0],[1]]",
     "[[],[1]]",
     "11, 12, 13, 21, 22, 23",
     "11/21, 12/22, 13/23, 11/21, 12/22, 13/23"},
    {"gather a minor axis",
     "2x3",
     2,
     {2, 6},
     "[[],[0,1]]",
     "[[],[0]]",
     "11/21, 12/22, 13/23, 14/24, 15/25, 16/26",
     "11 12 13/21 22 23, 11 12 13/21 22 23, 11 12 13/21 22 23, 14 15 16/24 25 26, 14 15 16/24 25 26, "
     "14 15 16/24 25 26"},
    {"drop a major axis",
     "2x2x2",
     2,
     {4, 8},
     "[[0],[1,2]]",
     "[[0],[2]]",
     "11 12/21 22, 13 14/23 24, 15 16/25 26, 17 18/27 28, 31 32/41 42, 33 34/43 44, 35 36/45 46, 37 38/47 48",
     "11 12 13 14/21 22 23 24, 15 16 17 18/25 26 27 28, 11 12 13 14/21 22 23 24, 15 16 17 18/25 26 27 28, "
     "31 32 33 34/41 42 43 44, 35 36 37 38/45 46 47 48, 31 32 33 34/41 42 43 44, 35 36 37 38/45 46 47 48"},
    {"swap on 2x3",
     "2x3",
     2,
     {6, 6},
     "[[0],[1]]",
     "[[1],[0]]",
     "11 12/21 22/31 32, 13 14/23 24/33 34, 15 16/25 26/35 36, 41 42/51 52/61 62, 43 44/53 54/63 64, "
     "45 46/55 56/65 66",
     "11 12 13/21 22 23, 31 32 33/41 42 43, 51 52 53/61 62 63, 14 15 16/24 25 26, 34 35 36/44 45 46, "
     "54 55 56/64 65 66"},
    {"swap on 2x6",
     "2x6",
     2,
     {6, 6},
     "[[0],[1]]",
     "[[1],[0]]",
     "11/21/31, 12/22/32, 13/23/33, 14/24/34, 15/25/35, 16/26/36, 41/51/61, 42/52/62, 43/53/63, 44/54/64, 45/55/65, "
     "46/56/66",
     "11 12 13, 21 22 23, 31 32 33, 41 42 43, 51 52 53, 61 62 63, 14 15 16, 24 25 26, 34 35 36, 44 45 46, 54 55 56, "
     "64 65 66"},
    {"move an axis",
     "3",
     2,
     {6, 6},
     "[[0],[]]",
     "[[],[0]]",
     "11 12 13 14 15 16/21 22 23 24 25 26, 31 32 33 34 35 36/41 42 43 44 45 46, 51 52 53 54 55 56/61 62 63 64 65 66",
     "11 12/21 22/31 32/41 42/51 52/61 62, 13 14/23 24/33 34/43 44/53 54/63 64, 15 16/25 26/35 36/45 46/55 56/65 66"},
    {"move a major axis",
     "2x2x2",
     2,
     {4, 4},
     "[[0],[1,2]]",
     "[[0,1],[2]]",
     "11/21, 12/22, 13/23, 14/24, 31/41, 32/42, 33/43, 34/44",
     "11 12, 13 14, 21 22, 23 24, 31 32, 33 34, 41 42, 43 44"},
    {"four axes", "2x2x2x2", 3, {8, 8, 8}, "[[3,2],[],[0,1]]", "[[0],[1,2],[]]", NULL, NULL},
    {"uneven swap", "3x4", 2, {16, 23}, "[[0],[1]]", "[[1],[0]]", NULL, NULL},
    {"uneven swap", "5x2", 2, {27, 14}, "[[0],[1]]", "[[1],[0]]", NULL, NULL},
};

static void draw_device(const reshard_case *c, const sw_sharding *s, int64_t device, sw_text *out) {
  int64_t lo[2] = {0, 0}, hi[2] = {1, 1};
  int first = 2 - c->rank; /* a vector is one row */
  for (int d = 0; d < c->rank; d++) {
    sw_sharding_extent(&c->mesh, s, d, c->dims[d], device, &lo[first + d], &hi[first + d]);
  }
  for (int64_t r = lo[0]; r < hi[0]; r++) {
    for (int64_t k = lo[1]; k < hi[1]; k++) {
      long long number = (c->rank == 2 ? 10 * (r + 1) : 0) + k + 1;
      sw_text_printf(out, "%s%lld", k > lo[1] ? " " : r > lo[0] ? "/" : "", number);
    }
  }
}

static void check_picture(const reshard_case *c, const sw_sharding *s, const char *drawn) {
  sw_text t = {0};
  for (int64_t i = 0; i < sw_mesh_devices(&c->mesh); i++) {
    if (i) sw_text_puts(&t, ", ");
    draw_device(c, s, i, &t);
  }
  assert_string_equal(sw_text_str(&t), drawn);
  sw_text_free(&t);
}

static void example_holds(void **state) {
  const seed_row *row = *state;
  sw_arena arena = {0};
  sw_machine *machine;
  sw_route route;
  char why[256];
  reshard_case c = {.rank = row->rank, .dtype = SW_I8};
  memcpy(c.dims, row->dims, sizeof row->dims);
  if (elements_of(c.rank, c.dims) > 100) c.dtype = SW_I32;
  assert_ok(sw_mesh_parse(row->mesh, &arena, &c.mesh, &diag));
  assert_ok(sw_sharding_parse(&c.mesh, c.rank, row->from, strlen(row->from), SW_NOWHERE, &arena, &c.from, &diag));
  assert_ok(sw_sharding_parse(&c.mesh, c.rank, row->to, strlen(row->to), SW_NOWHERE, &arena, &c.to, &diag));
  if (row->before) check_picture(&c, &c.from, row->before);
  if (row->after) check_picture(&c, &c.to, row->after);
  assert_ok(sw_machine_build(&arena, &profile, &c.mesh, &machine, &diag));
  for (int only_collectives = 0; only_collectives < 2; only_collectives++) {
    c.options.no_exchange = only_collectives;
    assert_ok(case_route(&c, machine, &arena, &route, &diag));
    if (case_run(&c, &route, &arena, why, sizeof why)) fail_msg("%s", why);
  }
  sw_arena_deinit(&arena);
}

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* t[i,j] of a KxL tensor under [[0],[1]] on MxN is d(i/C(K/M), j/C(L/N)) [i%.., j%..]; the notes' first check, and
 * their second one with an index inside the tensor. */
static void index_formulas(void **state) {
  (void)state;
  int64_t i = 13, j = 17, b0 = ceil_div(16, 3), b1 = ceil_div(23, 4);
  assert_int_equal(i / b0, 2);
  assert_int_equal(j / b1, 2);
  assert_int_equal(i % b0, 1);
  assert_int_equal(j % b1, 5);
  i = 9, j = 13, b0 = ceil_div(27, 2), b1 = ceil_div(14, 5); /* [[1],[0]] on 5x2 */
  sw_mesh m;
  assert_ok(sw_mesh_parse("5x2", NULL, &m, &diag));
  sw_sharding s = sw_sharding_replicated(2);
  assert_true(sw_sharding_push(&s, 0, sw_axis_whole(&m, 1)));
  assert_true(sw_sharding_push(&s, 1, sw_axis_whole(&m, 0)));
  int64_t device = (j / b1) * 2 + i / b0, lo, hi;
  assert_int_equal(device, 4 * 2 + 0);
  sw_sharding_extent(&m, &s, 0, 27, device, &lo, &hi);
  assert_int_equal(lo + i % b0, i);
  sw_sharding_extent(&m, &s, 1, 14, device, &lo, &hi);
  assert_int_equal(lo + j % b1, j);
}

typedef struct tiles {
  int64_t k, s, t;        /* extent, source block, target block */
  int64_t source, target; /* shards */
  int64_t count;
} tiles;

static sw_rc check_tile(void *user, const sw_tile_move *move, sw_diag *d) {
  (void)d;
  tiles *v = user;
  int64_t i = move->lo[0] / v->s, j = v->target;
  int64_t lo = i * v->s > j * v->t ? i * v->s : j * v->t;
  int64_t hi = (i + 1) * v->s < (j + 1) * v->t ? (i + 1) * v->s : (j + 1) * v->t;
  if (hi > v->k) hi = v->k;
  assert_int_equal(move->lo[0], lo);
  assert_int_equal(move->hi[0], hi);
  v->count++;
  return SW_OK;
}

/* The tiles that the notes leave open: for source shard i of block S and target shard j of block T they are
 * [max(iS,jT), min((i+1)S,(j+1)T,K)); pieces in all are C(K/S) + C(K/T) - C(K/lcm(S,T)); a source shard meets at most
 * C((S-g)/T)+1 targets, g = gcd(S,T). */
static void check_tiles(int64_t a, int64_t b, int64_t k) {
  char text[32];
  sw_mesh m;
  snprintf(text, sizeof text, "%lldx%lld", (long long)a, (long long)b);
  assert_ok(sw_mesh_parse(text, NULL, &m, &diag));
  sw_sharding from = sw_sharding_replicated(1), to = from;
  assert_true(sw_sharding_push(&from, 0, sw_axis_whole(&m, 0)));
  assert_true(sw_sharding_push(&to, 0, sw_axis_whole(&m, 1)));
  sw_tiling src, dst;
  sw_tiling_of(&from, 1, &k, &src);
  sw_tiling_of(&to, 1, &k, &dst);
  tiles v = {.k = k, .s = ceil_div(k, a), .t = ceil_div(k, b)};
  for (v.target = 0; v.target < b; v.target++) {
    assert_ok(sw_tiling_moves_to(&m, &src, &dst, v.target, check_tile, &v, &diag));
  }
  int64_t lcm = v.s;
  while (lcm % v.t) lcm += v.s;
  assert_int_equal(v.count, ceil_div(k, v.s) + ceil_div(k, v.t) - ceil_div(k, lcm));
}

static void tiles_are_as_derived(void **state) {
  (void)state;
  for (int64_t a = 1; a <= 6; a++)
    for (int64_t b = 1; b <= 6; b++)
      for (int64_t k = 1; k <= 40; k++) check_tiles(a, b, k);
}

enum { N_ROWS = sizeof kRows / sizeof kRows[0] };

int main(void) {
  flat_profile(&profile, 512, 1e-6, 1e-9);
  struct CMUnitTest tests[N_ROWS + 2] = {cmocka_unit_test(index_formulas), cmocka_unit_test(tiles_are_as_derived)};
  for (size_t i = 0; i < N_ROWS; i++) {
    tests[2 + i] = (struct CMUnitTest){
        .name = kRows[i].name, .test_func = example_holds, .initial_state = (void *)(uintptr_t)&kRows[i]};
  }
  return _cmocka_run_group_tests("reshard_seed", tests, N_ROWS + 2, NULL, NULL);
}
