/* Device orders of any kind: prices against a brute force that looks at every group, on the profiles that are shipped;
 * an order that changes nothing changes no price; routes under such orders. */
#include "knots_case.h"

#include <math.h>

#include "hw/group.h"
#include "shardwright/profile.h"
#include "shardwright/profile_json.h"
#include "shardwright/reshard.h"
#include "shardwright/strategy.h"

enum { MAX_DEVICES = 256 };

/* --- brute force ------------------------------------------------------------------------------------------------- */

/* What the levels of switches cost a group, as docs/cost-model.md has it: of its devices in one unit of the level
 * above, those of each member. */
typedef struct level_use {
  double members, fewest, all, lacked, apart;
} level_use;

static level_use use_of(const int64_t *ids, int64_t n, int64_t unit, int64_t above) {
  level_use use = {0};
  for (int64_t i = 0; i < n; i++) {
    double here = 0, together = 0, members = 0;
    for (int64_t k = 0; k < n; k++) {
      if (ids[k] / above != ids[i] / above) continue;
      together++;
      here += ids[k] / unit == ids[i] / unit;
      bool first = true;
      for (int64_t j = 0; j < k; j++) first = first && ids[j] / unit != ids[k] / unit;
      members += first;
    }
    use.members = fmax(use.members, members);
    use.lacked = fmax(use.lacked, (together - here) / together / here);
    use.apart = fmax(use.apart, together - here);
  }
  return use;
}

static double slope_s(const sw_cost_line *line, double n) {
  if (line->in_network_min && n >= (double)line->in_network_min) return line->in_network_s_per_byte;
  return line->s_per_byte + line->pair_s_per_byte / (n - 1);
}

static double one_group_s(const sw_profile *p, const int64_t *ids, int64_t n, sw_cost_class c, double bytes) {
  double latency = 0, work = 0;
  int64_t unit = 1;
  for (int l = 0; l < p->n_levels; l++) {
    const int64_t above = unit * p->level[l].dims[0];
    const level_use use = use_of(ids, n, unit, above);
    unit = above;
    if (use.members < 2) continue;
    const sw_cost_line *line = &p->level[l].line[c];
    double volume = use.lacked * bytes;
    if (c == SW_COST_ALL_REDUCE) volume *= 2;
    if (c == SW_COST_ALL_TO_ALL) volume = use.apart / (double)n * bytes;
    if (c == SW_COST_PERMUTE) volume = bytes;
    if (p->level[l].kind == SW_TOPOLOGY_FULL_MESH && c != SW_COST_PERMUTE) volume /= use.members - 1;
    if (c == SW_COST_PERMUTE) latency = work = 0; /* the outermost level alone */
    const double begin = line->base_s + line->peer_s * (c == SW_COST_PERMUTE ? 1 : use.members - 1),
                 move = line->ramp_s_per_sqrt_byte * sqrt(volume) + slope_s(line, use.members) * volume,
                 first = begin * knot_factor(line->knots, use.members, 0),
                 here = (begin + move) * knot_factor(line->knots, use.members, volume) - first;
    latency += first;
    work = fmax(work, here) + p->level[l].serial_fraction * fmin(work, here);
  }
  return latency + work;
}

static double group_s(const sw_profile *p, const int64_t *ids, int64_t n, sw_cost_class c, double bytes) {
  const double s = one_group_s(p, ids, n, c, bytes);
  if (c != SW_COST_ALL_REDUCE) return s;
  const double scatter = one_group_s(p, ids, n, SW_COST_REDUCE_SCATTER, bytes),
               gather = one_group_s(p, ids, n, SW_COST_ALL_GATHER, bytes);
  return fmin(fmax(s, scatter), scatter + gather);
}

static double worst_group_s(const sw_profile *p, const sw_mesh *m, const sw_axis_ref *refs, int n, sw_cost_class c,
                            double bytes) {
  const int64_t size = sw_axis_refs_size(refs, n);
  double worst = 0;
  int64_t ids[MAX_DEVICES];
  for (int64_t at = 0; at < sw_mesh_devices(m); at++) {
    if (sw_mesh_group_index(m, at, refs, n) != 0) continue;
    for (int64_t k = 0; k < size; k++) ids[k] = m->device_ids[sw_mesh_group_peer(m, at, refs, n, k)];
    worst = fmax(worst, group_s(p, ids, size, c, bytes));
  }
  return worst;
}

/* --- random orders ----------------------------------------------------------------------------------------------- */

static void shuffle(rng *r, const sw_mesh *m, int32_t *ids, int64_t swaps) {
  const int64_t devices = sw_mesh_devices(m);
  for (int64_t p = 0; p < devices; p++) ids[p] = (int32_t)p;
  for (int64_t i = 0; i < swaps; i++) {
    const int64_t a = rng_below(r, devices), b = rng_below(r, devices);
    const int32_t swap = ids[a];
    ids[a] = ids[b];
    ids[b] = swap;
  }
}

static const struct {
  sw_coll_op op;
  sw_cost_class cls;
} kOps[] = {{SW_COLL_ALL_GATHER, SW_COST_ALL_GATHER},
            {SW_COLL_ALL_REDUCE, SW_COST_ALL_REDUCE},
            {SW_COLL_REDUCE_SCATTER, SW_COST_REDUCE_SCATTER},
            {SW_COLL_ALL_TO_ALL, SW_COST_ALL_TO_ALL},
            {SW_COLL_SHIFT, SW_COST_PERMUTE}};
enum { OPS = sizeof kOps / sizeof kOps[0] };

static const char *const kProfiles[] = {"p4de-x2", "h100x64", "dgx-h100", "mi300x-8", "dgx-a100"};

/* Of a mesh of the profile, or one that does not fit without an order. */
static void random_machine(rng *r, sw_arena *a, const sw_profile **p, sw_mesh *mesh, int32_t *ids) {
  static const char *const kMeshes[] = {"x=2,y=4", "x=3,y=2", "x=8", "x=2,y=2,z=2", "x=6"};
  static const char *const kLarge[] = {"x=4,y=4", "x=2,y=8", "x=3,y=4", "x=16", "x=2,y=2,z=4", "x=12"};
  assert_ok(sw_profile_read(kProfiles[rng_below(r, 5)], a, p, &diag));
  const bool large = sw_profile_devices(*p) > 8;
  assert_ok(sw_mesh_parse(large ? kLarge[rng_below(r, 6)] : kMeshes[rng_below(r, 5)], a, mesh, &diag));
  shuffle(r, mesh, ids, rng_below(r, 2) ? 1 + rng_below(r, 3) : 4 * sw_mesh_devices(mesh));
  mesh->device_ids = ids;
}

static int some_refs(rng *r, const sw_mesh *m, sw_axis_ref *refs) {
  int n = 0;
  for (int a = 0; a < m->n_axes; a++) {
    if (rng_below(r, 3) == 0) continue;
    refs[n] = sw_axis_whole(m, a);
    const bool part = refs[n].size % 2 == 0 && refs[n].size > 2 && rng_below(r, 3) == 0;
    if (part && rng_below(r, 2)) refs[n].pre = refs[n].size / 2;
    if (part) refs[n].size = refs[n].pre == 1 ? refs[n].size / 2 : 2;
    n++;
  }
  return n;
}

static const sw_profile *with_knots(rng *r, sw_arena *a, const sw_profile *p,
                                    sw_cost_knots room[SW_MAX_LEVELS][SW_COST_CLASS_COUNT]) {
  sw_profile *q = sw_arena_copy(a, p, 1, sizeof *p, &diag);
  assert_non_null(q);
  add_random_knots(r, q, room);
  return q;
}

static void the_worst_group_counts(void **state) {
  (void)state;
  rng r = {check_seed(21)};
  int exact = 0, checked = 0;
  for (int round = 0; round < check_scale(1500); round++) {
    sw_arena a = {0};
    const sw_profile *p;
    sw_mesh mesh;
    int32_t ids[MAX_DEVICES];
    sw_machine *m;
    sw_axis_ref refs[SW_MAX_AXES];
    sw_cost_knots knots[SW_MAX_LEVELS][SW_COST_CLASS_COUNT];
    random_machine(&r, &a, &p, &mesh, ids);
    if (rng_below(&r, 2)) p = with_knots(&r, &a, p, knots);
    assert_ok(sw_machine_build(&a, p, &mesh, &m, &diag));
    const int n = some_refs(&r, &mesh, refs);
    for (int i = 0; i < OPS; i++) {
      const double bytes = pow(10, (double)rng_below(&r, 10));
      const double got = sw_machine_collective_s(m, kOps[i].op, refs, n, bytes),
                   want = worst_group_s(p, &mesh, refs, n, kOps[i].cls, bytes);
      sw_text text = {0};
      sw_mesh_print(&mesh, &text);
      if (got < want * (1 - 1e-9) || got > want * 1.5)
        fail_msg("%s, %d axes of %s, class %d, %g bytes: %g s, looked at one by one %g s", p->name, n,
                 sw_text_str(&text), kOps[i].cls, bytes, got, want);
      sw_text_free(&text);
      exact += got <= want * (1 + 1e-9);
      checked++;
    }
    sw_arena_deinit(&a);
  }
  print_message("%d of %d prices are those of the worst group; the others are above it\n", exact, checked);
  assert_in_range(exact, checked * 99 / 100, checked);
}

/* --- orders that change nothing ---------------------------------------------------------------------------------- */

static void same_prices(const sw_machine *x, const sw_machine *y) {
  const sw_mesh *m = sw_machine_mesh(x);
  for (unsigned mask = 0; mask < 1u << m->n_axes; mask++) {
    sw_axis_ref refs[SW_MAX_AXES];
    int n = 0;
    for (int a = 0; a < m->n_axes; a++) {
      if (mask >> a & 1) refs[n++] = sw_axis_whole(m, a);
    }
    for (double bytes = 1; bytes < 1e10; bytes *= 100) {
      for (int i = 0; i < OPS; i++)
        assert_true(sw_machine_collective_s(x, kOps[i].op, refs, n, bytes) ==
                    sw_machine_collective_s(y, kOps[i].op, refs, n, bytes));
    }
  }
}

/* The identity on all profiles; on switches also devices of a node, and nodes, that change places. */
static void orders_that_move_nothing_change_no_price(void **state) {
  (void)state;
  sw_arena a = {0};
  const char *const *names;
  int n;
  assert_ok(sw_profile_names(&a, &names, &n, &diag));
  for (int i = 0; i < n; i++) {
    const sw_profile *p;
    assert_ok(sw_profile_read(names[i], &a, &p, &diag));
    for (int k = 0; k < sw_profile_mesh_count(p); k++) {
      sw_mesh mesh = *sw_profile_mesh(p, k);
      const int64_t devices = sw_mesh_devices(&mesh);
      if (devices > MAX_DEVICES) continue;
      int32_t ids[MAX_DEVICES];
      sw_machine *plain, *ordered;
      assert_ok(sw_machine_build(&a, p, &mesh, &plain, &diag));
      for (int64_t at = 0; at < devices; at++) ids[at] = (int32_t)at;
      mesh.device_ids = ids;
      assert_ok(sw_machine_build(&a, p, &mesh, &ordered, &diag));
      same_prices(plain, ordered);
      const int64_t node = p->level[0].dims[0];
      if (p->level[0].kind == SW_TOPOLOGY_TORUS || devices % node) continue;
      for (int64_t at = 0; at < devices; at++)
        ids[at] = (int32_t)((devices / node - 1 - at / node) * node + (at % node + at / node) % node);
      assert_ok(sw_machine_build(&a, p, &mesh, &ordered, &diag));
      same_prices(plain, ordered);
    }
  }
  sw_arena_deinit(&a);
}

/* The example of Shardy's dialect: on one switch it is no matter which device is which. */
static void the_order_of_the_dialect_is_taken(void **state) {
  (void)state;
  sw_arena a = {0};
  const sw_profile *p;
  sw_mesh plain, ordered;
  sw_machine *x, *y;
  assert_ok(sw_profile_read("dgx-h100", &a, &p, &diag));
  assert_ok(sw_mesh_parse("a=3,b=2", &a, &plain, &diag));
  assert_ok(sw_mesh_parse("a=3,b=2 ids=0,2,4,1,3,5", &a, &ordered, &diag));
  assert_ok(sw_machine_build(&a, p, &plain, &x, &diag));
  assert_ok(sw_machine_build(&a, p, &ordered, &y, &diag));
  same_prices(x, y);
  sw_arena_deinit(&a);
}

/* --- routes ------------------------------------------------------------------------------------------------------ */

static void fail_routes(const sw_machine *m, const int64_t *dims, const sw_sharding *from, const sw_sharding *to,
                        const sw_sharding *by, double route, double two) {
  const sw_mesh *mesh = sw_machine_mesh(m);
  sw_text t = {0};
  sw_mesh_print(mesh, &t);
  sw_text_puts(&t, " ");
  sw_sharding_print(mesh, from, &t);
  sw_text_puts(&t, " -> ");
  sw_sharding_print(mesh, by, &t);
  sw_text_puts(&t, " -> ");
  sw_sharding_print(mesh, to, &t);
  fail_msg("%s %lldx%lld, %s: straight %g s, in two %g s", sw_profile_name(sw_machine_profile(m)), (long long)dims[0],
           (long long)dims[1], sw_text_str(&t), route, two);
}

/* Between all shardings of a value by whole axes: no dearer than two routes one after the other, so that nothing
 * cheaper is overlooked on the way. */
static void routes_are_the_cheapest(void **state) {
  (void)state;
  rng r = {check_seed(22)};
  int found = 0;
  for (int round = 0; round < check_scale(60); round++) {
    enum { MOST = 64 };
    static double cost[MOST][MOST];
    sw_arena a = {0};
    const sw_profile *p;
    sw_listed_shardings all;
    sw_mesh mesh;
    int32_t ids[MAX_DEVICES];
    sw_machine *m;
    random_machine(&r, &a, &p, &mesh, ids);
    assert_ok(sw_machine_build(&a, p, &mesh, &m, &diag));
    const int64_t dims[] = {48 * (1 + rng_below(&r, 300)), 48 * (1 + rng_below(&r, 300))};
    assert_ok(sw_shardings_enumerate(NULL, &mesh, 2, dims, 0, &a, &all, &diag));
    const sw_sharding *at = all.at;
    const int32_t n = all.n < MOST ? all.n : MOST;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        const sw_reshard q = {.machine = m, .from = &at[i], .to = &at[j], .rank = 2, .dims = dims, .dtype = SW_F32};
        cost[i][j] = sw_route_cost_s(&q);
      }
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        for (int k = 0; k < n; k++) {
          const double two = cost[i][k] + cost[k][j];
          if (cost[i][j] > two * (1 + 1e-9)) fail_routes(m, dims, &at[i], &at[j], &at[k], cost[i][j], two);
        }
      }
    }
    found += n * n;
    sw_arena_deinit(&a);
  }
  print_message("%d routes\n", found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_worst_group_counts),
      cmocka_unit_test(orders_that_move_nothing_change_no_price),
      cmocka_unit_test(the_order_of_the_dialect_is_taken),
      cmocka_unit_test(routes_are_the_cheapest),
  };
  return cmocka_run_group_tests_name("device_order", tests, NULL, NULL);
}
