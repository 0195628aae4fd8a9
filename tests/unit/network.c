/* Where groups lie on the network and what their traffic does to its links, against brute force: every pair of devices
 * of every group sends its message along shortest paths and the busiest link is counted. */
#include "check.h"

#include <math.h>

#include "shardwright/profile.h"

enum { MAX_DEVICES = 256 };

/* A profile without latencies in which a byte over a link of level l takes slope[l] seconds. */
static sw_profile bare_profile(int n_levels, const double *slope) {
  sw_profile p = {.name = "bare",
                  .description = "",
                  .device_name = "bare",
                  .memory_bytes = 1000,
                  .memory_bytes_per_s = 1,
                  .flop_fraction = 1,
                  .flop_fraction_8bit = 1,
                  .memory_fraction = 1,
                  .n_levels = n_levels};
  for (int t = 0; t < SW_DTYPE_COUNT; t++) p.flop_per_s[t] = 1;
  for (int l = 0; l < n_levels; l++) {
    p.level[l].name = "level";
    p.level[l].n_dims = 1;
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) p.level[l].line[c].s_per_byte = slope[l];
  }
  return p;
}

/* A random factorisation of `devices` into at most `max` axes. */
static void random_mesh(sw_rng *rng, int64_t devices, int max, sw_mesh *out) {
  *out = (sw_mesh){0};
  while (out->n_axes < max) {
    int64_t f = 1 + sw_rng_below(rng, devices);
    while (devices % f) f--;
    if (out->n_axes == max - 1) f = devices;
    snprintf(out->axis[out->n_axes].name, SW_AXIS_NAME_BYTES, "a%d", out->n_axes);
    out->axis[out->n_axes++].size = f;
    devices /= f;
  }
}

static int random_axes(sw_rng *rng, const sw_mesh *m, sw_axis_ref *refs) {
  int n = 0;
  for (int a = 0; a < m->n_axes; a++)
    if (sw_rng_below(rng, 2)) refs[n++] = sw_axis_whole(m, a);
  return n;
}

static int64_t id_of(const sw_mesh *m, int64_t position) { return m->device_ids ? m->device_ids[position] : position; }

/* --- torus --------------------------------------------------------------------------------------------------- */

typedef struct torus {
  int n_dims;
  int64_t size[3], stride[3];
  bool wrap[3];
  double load[3][2][MAX_DEVICES]; /* dimension, direction, device that the link leaves */
} torus;

static void walk(torus *t, int dim, int64_t from, int64_t steps, int direction, double bytes) {
  int64_t at = from;
  for (int64_t i = 0; i < steps; i++) {
    t->load[dim][direction][at] += bytes;
    int64_t c = at / t->stride[dim] % t->size[dim];
    int64_t next = direction ? (c + t->size[dim] - 1) % t->size[dim] : (c + 1) % t->size[dim];
    at += (next - c) * t->stride[dim];
  }
}

/* Dimension by dimension, the shorter way; both ways in halves when they are equally long. */
static void route(torus *t, int64_t from, int64_t to, double bytes) {
  for (int d = t->n_dims - 1; d >= 0; d--) {
    int64_t n = t->size[d], a = from / t->stride[d] % n, b = to / t->stride[d] % n;
    int64_t up = (b - a + n) % n, down = n - up;
    if (!t->wrap[d]) {
      walk(t, d, from, b > a ? b - a : a - b, b < a, bytes);
    } else if (up != 0 && up == down) {
      walk(t, d, from, up, 0, bytes / 2);
      walk(t, d, from, down, 1, bytes / 2);
    } else {
      walk(t, d, from, up < down ? up : down % n, up > down, bytes);
    }
    from += (b - a) * t->stride[d];
  }
}

static double busiest(const torus *t, int64_t devices) {
  double worst = 0;
  for (int d = 0; d < t->n_dims; d++)
    for (int k = 0; k < 2; k++)
      for (int64_t i = 0; i < devices; i++) worst = fmax(worst, t->load[d][k][i]);
  return worst;
}

static void random_torus(sw_rng *rng, sw_profile *p, torus *t) {
  static const int64_t kSizes[] = {2, 3, 4, 5, 6, 8, 16};
  *t = (torus){.n_dims = 1 + (int)sw_rng_below(rng, 3)};
  int64_t stride = 1;
  for (int d = t->n_dims - 1; d >= 0; d--) {
    do t->size[d] = kSizes[sw_rng_below(rng, 7)];
    while (stride * t->size[d] > MAX_DEVICES / (d ? 4 : 1));
    t->wrap[d] = t->size[d] > 2 && sw_rng_below(rng, 2);
    t->stride[d] = stride;
    stride *= t->size[d];
  }
  p->level[0].kind = SW_TOPOLOGY_TORUS;
  p->level[0].n_dims = t->n_dims;
  for (int d = 0; d < t->n_dims; d++) {
    p->level[0].dims[d] = t->size[d];
    p->level[0].wrap[d] = t->wrap[d];
  }
}

static void all_to_all_loads_links_as_simulated(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(3));
  int checked = 0;
  for (int round = 0; round < check_scale(400); round++) {
    sw_arena a = {0};
    sw_profile p = bare_profile(1, (double[]){1});
    static torus t;
    random_torus(&rng, &p, &t);
    int64_t devices = sw_profile_devices(&p);
    sw_mesh mesh;
    random_mesh(&rng, devices, 1 + (int)sw_rng_below(&rng, 4), &mesh);
    sw_machine *m;
    if (!sw_machine_build(&a, &p, &mesh, &m, &diag)) {
      sw_axis_ref refs[SW_MAX_AXES];
      int n = random_axes(&rng, &mesh, refs);
      int64_t group = sw_axis_refs_size(refs, n);
      for (int64_t from = 0; from < devices; from++)
        for (int64_t k = 0; k < group; k++)
          route(&t, from, sw_mesh_group_peer(&mesh, from, refs, n, k), 1.0 / (double)group);
      double want = busiest(&t, devices), got = sw_machine_collective_s(m, SW_COLL_ALL_TO_ALL, refs, n, 1);
      if (fabs(want - got) > 1e-9 * want) {
        sw_text text = {0};
        sw_mesh_print(&mesh, &text);
        fail_msg("%s, %d axes of it, on a torus of %lld devices: %g predicted, %g simulated", sw_text_str(&text), n,
                 (long long)devices, got, want);
      }
      checked++;
    }
    sw_arena_deinit(&a);
  }
  assert_in_range(checked, check_scale(400) / 3, 1 << 30);
}

/* --- two levels ---------------------------------------------------------------------------------------------- */

/* A device order made of a permutation of the digits and of each digit's values: regular, but not the identity. */
static void random_order(sw_rng *rng, sw_mesh *m, int32_t *ids) {
  int64_t devices = sw_mesh_devices(m), stride[SW_MAX_AXES], next = 1;
  int order[SW_MAX_AXES];
  for (int i = 0; i < m->n_axes; i++) order[i] = i;
  for (int i = m->n_axes - 1; i > 0; i--) {
    int j = (int)sw_rng_below(rng, i + 1), swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  bool reverse[SW_MAX_AXES];
  for (int i = 0; i < m->n_axes; i++) {
    stride[order[i]] = next;
    next *= m->axis[order[i]].size;
    reverse[order[i]] = sw_rng_below(rng, 2);
  }
  for (int64_t p = 0; p < devices; p++) {
    ids[p] = 0;
    for (int a = 0; a < m->n_axes; a++) {
      int64_t c = sw_mesh_coord(m, p, sw_axis_whole(m, a));
      if (reverse[a]) c = m->axis[a].size - 1 - c;
      ids[p] += (int32_t)(c * stride[a]);
    }
  }
  m->device_ids = ids;
}

/* Any order at all. */
static void shuffled_order(sw_rng *rng, sw_mesh *m, int32_t *ids) {
  int64_t devices = sw_mesh_devices(m);
  for (int64_t p = 0; p < devices; p++) ids[p] = (int32_t)p;
  for (int64_t p = devices - 1; p > 0; p--) {
    int64_t k = sw_rng_below(rng, p + 1);
    int32_t swap = ids[p];
    ids[p] = ids[k];
    ids[k] = swap;
  }
  m->device_ids = ids;
}

/* Of the byte that a group gathers, what its busiest device gets from its node and from other nodes, in the group that
 * fares worst: a node with g of the group's n devices has g/n of the byte, and gets the rest in g parts. */
static void volumes_of_worst(const sw_mesh *m, const sw_axis_ref *refs, int n, int64_t per_node, double *inner,
                             double *outer) {
  *inner = *outer = 0;
  for (int64_t p = 0; p < sw_mesh_devices(m); p++) {
    double in_node[MAX_DEVICES] = {0}, size = (double)sw_axis_refs_size(refs, n);
    for (int64_t k = 0; k < (int64_t)size; k++) in_node[id_of(m, sw_mesh_group_peer(m, p, refs, n, k)) / per_node]++;
    for (int node = 0; node < MAX_DEVICES; node++) {
      double g = in_node[node];
      if (g > 0) *inner = fmax(*inner, (g - 1) / g);
      if (g > 0) *outer = fmax(*outer, (size - g) / size / g);
    }
  }
}

static double gather_s(int64_t per_node, int64_t nodes, const double *slope, const sw_mesh *mesh,
                       const sw_axis_ref *refs, int n) {
  sw_arena a = {0};
  sw_profile p = bare_profile(2, slope);
  p.level[0].dims[0] = per_node;
  p.level[1].dims[0] = nodes;
  sw_machine *m;
  assert_ok(sw_machine_build(&a, &p, mesh, &m, &diag));
  double s = sw_machine_collective_s(m, SW_COLL_ALL_GATHER, refs, n, 1);
  sw_arena_deinit(&a);
  return s;
}

static void groups_split_over_nodes_as_counted(void **state) {
  (void)state;
  static const int64_t kSizes[] = {2, 3, 4, 6, 8};
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(4));
  int checked = 0;
  for (int round = 0; round < check_scale(500); round++) {
    int64_t per_node = kSizes[sw_rng_below(&rng, 5)], nodes = kSizes[sw_rng_below(&rng, 5)];
    sw_mesh mesh;
    int32_t ids[MAX_DEVICES];
    random_mesh(&rng, per_node * nodes, 1 + (int)sw_rng_below(&rng, 4), &mesh);
    int64_t order = sw_rng_below(&rng, 3);
    if (order == 1) random_order(&rng, &mesh, ids);
    if (order == 2) shuffled_order(&rng, &mesh, ids);
    sw_arena a = {0};
    sw_profile p = bare_profile(2, (double[]){1, 1});
    p.level[0].dims[0] = per_node;
    p.level[1].dims[0] = nodes;
    sw_machine *m;
    sw_rc rc = sw_machine_build(&a, &p, &mesh, &m, &diag);
    sw_arena_deinit(&a);
    if (rc) continue;
    sw_axis_ref refs[SW_MAX_AXES];
    int n = random_axes(&rng, &mesh, refs);
    double want_inner, want_outer;
    volumes_of_worst(&mesh, refs, n, per_node, &want_inner, &want_outer);
    double inner = gather_s(per_node, nodes, (double[]){1, 0}, &mesh, refs, n);
    double outer = gather_s(per_node, nodes, (double[]){0, 1}, &mesh, refs, n);
    if (fabs(inner - want_inner) > 1e-12 || fabs(outer - want_outer) > 1e-12) {
      sw_text text = {0};
      sw_mesh_print(&mesh, &text);
      fail_msg("%d axes of %s, nodes of %lld: %g and %g predicted, %g and %g counted", n, sw_text_str(&text),
               (long long)per_node, inner, outer, want_inner, want_outer);
    }
    checked++;
  }
  assert_in_range(checked, check_scale(500) / 3, 1 << 30);
}

/* --- rows ----------------------------------------------------------------------------------------------------- */

/* One level of 8 per row unless `outer`; prices with a slope of 1 (inner) and 1 (outer), no overlap (serial 1). */
typedef struct price_row {
  const char *name;
  sw_topology kind;
  int n_dims;
  int64_t dims[3];
  bool wrap[3];
  int64_t outer; /* switch above; 1: none */
  const char *mesh;
  const char *axes; /* names, one letter each */
  sw_coll_op op;
  double want; /* seconds of one byte */
} price_row;

static const price_row kRows[] = {
    {"switch all_gather", SW_TOPOLOGY_SWITCH, 1, {8}, {0}, 1, "x=8", "x", SW_COLL_ALL_GATHER, 7.0 / 8},
    {"switch all_reduce", SW_TOPOLOGY_SWITCH, 1, {8}, {0}, 1, "x=8", "x", SW_COLL_ALL_REDUCE, 14.0 / 8},
    {"switch, half of it", SW_TOPOLOGY_SWITCH, 1, {8}, {0}, 1, "x=2,y=4", "x", SW_COLL_ALL_GATHER, 1.0 / 2},
    {"switch broadcast", SW_TOPOLOGY_SWITCH, 1, {8}, {0}, 1, "x=8", "x", SW_COLL_BROADCAST, 1},
    {"switch shift", SW_TOPOLOGY_SWITCH, 1, {8}, {0}, 1, "x=8", "x", SW_COLL_SHIFT, 1},
    {"mesh of links, all", SW_TOPOLOGY_FULL_MESH, 1, {8}, {0}, 1, "x=8", "x", SW_COLL_ALL_GATHER, 1.0 / 8},
    {"mesh of links, a pair has one", SW_TOPOLOGY_FULL_MESH, 1, {8}, {0}, 1, "x=2,y=4", "x", SW_COLL_ALL_GATHER, 0.5},
    {"mesh of links, all_to_all", SW_TOPOLOGY_FULL_MESH, 1, {8}, {0}, 1, "x=8", "x", SW_COLL_ALL_TO_ALL, 1.0 / 8},
    {"ring", SW_TOPOLOGY_TORUS, 1, {8}, {true}, 1, "x=8", "x", SW_COLL_ALL_GATHER, 7.0 / 16},
    {"line", SW_TOPOLOGY_TORUS, 1, {8}, {false}, 1, "x=8", "x", SW_COLL_ALL_GATHER, 7.0 / 8},
    {"ring, groups interleaved", SW_TOPOLOGY_TORUS, 1, {8}, {true}, 1, "x=4,y=2", "x", SW_COLL_ALL_GATHER, 3.0 / 4},
    {"ring, a segment is a line", SW_TOPOLOGY_TORUS, 1, {8}, {true}, 1, "x=4,y=2", "y", SW_COLL_ALL_GATHER, 1.0 / 2},
    {"torus, both dimensions",
     SW_TOPOLOGY_TORUS,
     2,
     {4, 4},
     {true, true},
     1,
     "x=4,y=4",
     "xy",
     SW_COLL_ALL_GATHER,
     15.0 / 64},
    {"torus, one dimension",
     SW_TOPOLOGY_TORUS,
     2,
     {4, 4},
     {true, true},
     1,
     "x=4,y=4",
     "x",
     SW_COLL_ALL_GATHER,
     3.0 / 8},
    {"torus without wrap, both", SW_TOPOLOGY_TORUS, 2, {4, 4}, {0}, 1, "x=4,y=4", "xy", SW_COLL_ALL_GATHER, 15.0 / 32},
    {"ring all_to_all is a quarter of all_gather",
     SW_TOPOLOGY_TORUS,
     1,
     {16},
     {true},
     1,
     "x=16",
     "x",
     SW_COLL_ALL_TO_ALL,
     2},
    {"two levels all_gather",
     SW_TOPOLOGY_SWITCH,
     1,
     {8},
     {0},
     4,
     "x=4,y=8",
     "xy",
     SW_COLL_ALL_GATHER,
     7.0 / 8 + 3.0 / 4 / 8},
    {"two levels, across only", SW_TOPOLOGY_SWITCH, 1, {8}, {0}, 4, "x=4,y=8", "x", SW_COLL_ALL_GATHER, 3.0 / 4},
    {"two levels all_to_all",
     SW_TOPOLOGY_SWITCH,
     1,
     {8},
     {0},
     4,
     "x=4,y=8",
     "xy",
     SW_COLL_ALL_TO_ALL,
     7.0 / 32 + 24.0 / 32},
    {"two levels shift", SW_TOPOLOGY_SWITCH, 1, {8}, {0}, 4, "x=4,y=8", "xy", SW_COLL_SHIFT, 1},
    {"one axis over both levels",
     SW_TOPOLOGY_SWITCH,
     1,
     {8},
     {0},
     4,
     "x=32",
     "x",
     SW_COLL_ALL_GATHER,
     7.0 / 8 + 3.0 / 4 / 8},
    {"a group of one", SW_TOPOLOGY_SWITCH, 1, {8}, {0}, 1, "x=8,y=1", "y", SW_COLL_ALL_REDUCE, 0},
};

static void price_is_as_computed_by_hand(void **state) {
  const price_row *row = *state;
  sw_arena a = {0};
  sw_profile p = bare_profile(row->outer > 1 ? 2 : 1, (double[]){1, 1});
  p.level[0].kind = row->kind;
  p.level[0].n_dims = row->n_dims;
  memcpy(p.level[0].dims, row->dims, sizeof row->dims);
  memcpy(p.level[0].wrap, row->wrap, sizeof row->wrap);
  p.level[1].dims[0] = row->outer;
  p.level[1].serial_fraction = 1;
  sw_mesh mesh;
  sw_machine *m;
  assert_ok(sw_mesh_parse(row->mesh, &a, &mesh, &diag));
  assert_ok(sw_machine_build(&a, &p, &mesh, &m, &diag));
  sw_axis_ref refs[SW_MAX_AXES];
  int n = 0;
  for (const char *c = row->axes; *c; c++) refs[n++] = sw_axis_whole(&mesh, sw_mesh_axis_named(&mesh, c, 1));
  assert_true(fabs(sw_machine_collective_s(m, row->op, refs, n, 1) - row->want) < 1e-12);
  sw_arena_deinit(&a);
}

/* Refs that are parts of axes cost what the same devices cost as whole axes of a finer mesh. */
static void parts_of_axes_cost_like_axes(void **state) {
  (void)state;
  sw_arena a = {0};
  sw_profile p = bare_profile(2, (double[]){1, 3});
  p.level[0].dims[0] = 8;
  p.level[1].dims[0] = 4;
  sw_mesh coarse, fine;
  sw_machine *mc, *mf;
  assert_ok(sw_mesh_parse("x=32", &a, &coarse, &diag));
  assert_ok(sw_mesh_parse("a=2,b=2,c=2,d=4", &a, &fine, &diag));
  assert_ok(sw_machine_build(&a, &p, &coarse, &mc, &diag));
  assert_ok(sw_machine_build(&a, &p, &fine, &mf, &diag));
  static const sw_axis_ref kParts[] = {{0, 1, 2}, {0, 2, 2}, {0, 4, 2}, {0, 8, 4}};
  for (unsigned mask = 1; mask < 16; mask++) {
    sw_axis_ref x[4], y[4];
    int n = 0;
    for (int i = 0; i < 4; i++)
      if (mask >> i & 1) {
        x[n] = kParts[i];
        y[n++] = sw_axis_whole(&fine, i);
      }
    for (int op = 0; op < SW_COLL_COUNT; op++)
      assert_true(sw_machine_collective_s(mc, (sw_coll_op)op, x, n, 1e6) ==
                  sw_machine_collective_s(mf, (sw_coll_op)op, y, n, 1e6));
  }
  sw_arena_deinit(&a);
}

typedef struct refusal_row {
  const char *mesh, *message;
} refusal_row;

static const refusal_row kRefused[] = {
    {"x=128", "the mesh has 128 devices; profile 'bare' has 32"},
    {"x=3,y=4", "mesh axis 'x' of size 3 would lie across level 'level' (8 wide) of profile 'bare' in unequal parts"},
    {"x=12", "mesh axis 'x' of size 12 would lie across level 'level' (8 wide) of profile 'bare' in unequal parts"},
    {"x=2,y=2 ids=0,1,3,2", NULL},
    {"x=3,y=4 ids=0,1,2,3,4,5,6,7,8,9,10,11", NULL},
    {"x=4 ids=0,1,3,2", NULL},
    {"x=4,y=4", NULL},
    {"x=3,y=2", NULL},
    {"x=5", NULL},
};

static void meshes_that_do_not_fit_are_refused(void **state) {
  const refusal_row *row = *state;
  diag = (sw_diag){0};
  sw_arena a = {0};
  sw_profile p = bare_profile(2, (double[]){1, 1});
  p.level[0].dims[0] = 8;
  p.level[1].dims[0] = 4;
  sw_mesh mesh;
  sw_machine *m;
  assert_ok(sw_mesh_parse(row->mesh, &a, &mesh, &diag));
  sw_rc rc = sw_machine_build(&a, &p, &mesh, &m, &diag);
  assert_int_equal(rc, row->message ? SW_E_INPUT : SW_OK);
  if (row->message && !strstr(diag.text, row->message)) fail_msg("%s", diag.text);
  sw_arena_deinit(&a);
}

#define ROWS(table) ((int)(sizeof(table) / sizeof(table)[0]))

int main(void) {
  enum { FIXED = 3 };
  struct CMUnitTest tests[FIXED + ROWS(kRows) + ROWS(kRefused)] = {
      cmocka_unit_test(all_to_all_loads_links_as_simulated),
      cmocka_unit_test(groups_split_over_nodes_as_counted),
      cmocka_unit_test(parts_of_axes_cost_like_axes),
  };
  int n = FIXED;
  for (int i = 0; i < ROWS(kRows); i++)
    tests[n++] =
        (struct CMUnitTest){kRows[i].name, price_is_as_computed_by_hand, NULL, NULL, (void *)(uintptr_t)&kRows[i]};
  for (int i = 0; i < ROWS(kRefused); i++)
    tests[n++] = (struct CMUnitTest){kRefused[i].mesh, meshes_that_do_not_fit_are_refused, NULL, NULL,
                                     (void *)(uintptr_t)&kRefused[i]};
  return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
