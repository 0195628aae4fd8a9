/* The price of direct exchanges: against the collective that does the same, and against elements counted one by one. */
#include "random_sharding.h"

#include <math.h>

#include "shardwright/profile_json.h"

/* --- shipped profiles ------------------------------------------------------------------------------------------ */

/* Two shardings of an exchange along x in which a device of n gets (n-1)/n of a buffer, from all others: what it costs
 * is an all_to_all of such buffers, and a little per sender. */
typedef struct same_row {
  const char *name, *from, *to;
  bool whole; /* the buffer is all of the tensor, else a device's block of it */
} same_row;

static const same_row kSame[] = {
    {"all_to_all", "[[x],[]]", "[[],[x]]", false},
    {"all_gather", "[[x],[]]", "[[],[]]", true},
};

static void check_same(const sw_machine *m, const same_row *row, int64_t about) {
  const sw_mesh *mesh = sw_machine_mesh(m);
  const int64_t rows = about - about % mesh->axis[0].size; /* even blocks: what differs else is no property of prices */
  const int64_t dims[] = {rows, rows};
  const sw_profile *p = sw_machine_profile(m);
  const sw_axis_ref x = sw_axis_whole(mesh, 0);
  sw_sharding from, to;
  sw_tiling src, dst;
  assert_ok(sw_sharding_parse(mesh, 2, row->from, strlen(row->from), SW_NOWHERE, NULL, &from, &diag));
  assert_ok(sw_sharding_parse(mesh, 2, row->to, strlen(row->to), SW_NOWHERE, NULL, &to, &diag));
  sw_tiling_of(&from, 2, dims, &src);
  sw_tiling_of(&to, 2, dims, &dst);
  double bytes = (double)(rows * rows) * 4 / (double)(row->whole ? 1 : x.size);
  double slower = p->shared_cores ? fmax(1, (double)sw_mesh_devices(mesh) / (double)p->shared_cores) : 1;
  double want =
      sw_machine_collective_s(m, SW_COLL_ALL_TO_ALL, &x, 1, bytes) + p->exchange_peer_s * (double)(x.size - 1) * slower;
  double exchange = sw_machine_exchange_s(m, &src, &dst, 4);
  if (fabs(exchange - want) > 1e-12 * want)
    fail_msg("%s: an exchange that is an %s of %lld rows costs %.15g s; expected %.15g", p->name, row->name,
             (long long)rows, exchange, want);
}

static void an_exchange_costs_an_all_to_all_and_its_senders(void **state) {
  const same_row *row = *state;
  sw_arena a = {0};
  const char *const *names;
  int n;
  assert_ok(sw_profile_names(&a, &names, &n, &diag));
  assert_in_range(n, 8, 1000);
  for (int i = 0; i < n; i++) {
    const sw_profile *p;
    assert_ok(sw_profile_read(names[i], &a, &p, &diag));
    for (int k = 0; k < sw_profile_mesh_count(p); k++) {
      sw_machine *m;
      assert_ok(sw_machine_build(&a, p, sw_profile_mesh(p, k), &m, &diag));
      for (int64_t rows = 1024; rows <= 65536; rows *= 4) check_same(m, row, rows);
    }
  }
  sw_arena_deinit(&a);
}

/* --- a bare network of two levels -------------------------------------------------------------------------------- */

static void bare_profile(sw_profile *p, int64_t per_node, int64_t nodes, double inner, double outer) {
  *p = (sw_profile){.name = "bare",
                    .description = "",
                    .device_name = "bare",
                    .memory_bytes = 1000,
                    .memory_bytes_per_s = 1e30,
                    .flop_fraction = 1,
                    .flop_fraction_8bit = 1,
                    .memory_fraction = 1,
                    .n_levels = 2};
  for (int t = 0; t < SW_DTYPE_COUNT; t++) p->flop_per_s[t] = 1;
  const double slope[] = {inner, outer};
  for (int l = 0; l < 2; l++) {
    p->level[l].name = "level";
    p->level[l].n_dims = 1;
    p->level[l].dims[0] = l ? nodes : per_node;
    p->level[l].serial_fraction = 1;
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) p->level[l].line[c].s_per_byte = slope[l];
  }
}

/* Elements that a device is to have and that nobody in its node (per_node devices; 1: itself) has: the most of any. */
static double count_missing(const sw_mesh *m, const sw_sharding *from, const sw_sharding *to, const int64_t *dims,
                            int64_t per_node) {
  double worst = 0;
  int64_t devices = sw_mesh_devices(m);
  for (int64_t dev = 0; dev < devices; dev++) {
    double missing = 0;
    for (int64_t e = 0; e < elements_of(2, dims); e++) {
      int64_t index[2];
      index_of(2, dims, e, index);
      if (!brute_holds(m, to, dims, dev, index)) continue;
      bool here = false;
      for (int64_t k = dev / per_node * per_node; k < (dev / per_node + 1) * per_node && !here; k++)
        here = brute_holds(m, from, dims, k, index);
      missing += !here;
    }
    worst = fmax(worst, missing);
  }
  return worst;
}

static double bare_exchange(const sw_mesh *mesh, const sw_tiling *src, const sw_tiling *dst, double inner,
                            double outer) {
  sw_arena a = {0};
  sw_profile p;
  sw_machine *m;
  bare_profile(&p, 4, sw_mesh_devices(mesh) / 4, inner, outer);
  assert_ok(sw_machine_build(&a, &p, mesh, &m, &diag));
  double s = sw_machine_exchange_s(m, src, dst, 1);
  sw_arena_deinit(&a);
  return s;
}

static void bytes_across_nodes_are_those_that_no_neighbour_has(void **state) {
  (void)state;
  rng r = {check_seed(11)};
  int crossing = 0, exact = 0;
  for (int round = 0; round < check_scale(400); round++) {
    static const char *const kMeshes[] = {"x=2,y=4", "x=4,y=4", "x=2,y=2,z=2", "x=8", "x=4,y=2,z=2", "x=16"};
    sw_arena a = {0};
    sw_mesh mesh;
    assert_ok(sw_mesh_parse(kMeshes[rng_below(&r, 6)], &a, &mesh, &diag));
    const int64_t dims[] = {1 + rng_below(&r, 12), 1 + rng_below(&r, 12)};
    sw_sharding from = random_sharding(&r, &mesh, 2, false), to = random_sharding(&r, &mesh, 2, false);
    sw_tiling src, dst;
    sw_tiling_of(&from, 2, dims, &src);
    sw_tiling_of(&to, 2, dims, &dst);
    double all = count_missing(&mesh, &from, &to, dims, 1), across = count_missing(&mesh, &from, &to, dims, 4);
    double outer = bare_exchange(&mesh, &src, &dst, 0, 1), both = bare_exchange(&mesh, &src, &dst, 1, 1);
    /* The local copy of an exchange that moves nothing is next to free here. */
    assert_true(fabs(both - all) < 1e-6);
    if (!(outer >= across - 1e-6 && outer <= all + 1e-6)) {
      sw_text t = {0};
      sw_mesh_print(&mesh, &t);
      sw_text_puts(&t, " ");
      sw_sharding_print(&mesh, &from, &t);
      sw_text_puts(&t, " -> ");
      sw_sharding_print(&mesh, &to, &t);
      fail_msg("%lldx%lld %s: %g of %g elements across, %g counted", (long long)dims[0], (long long)dims[1],
               sw_text_str(&t), outer, all, across);
    }
    crossing += across > 0 && across < all;
    exact += across > 0 && across < all && fabs(outer - across) < 1e-6;
    sw_arena_deinit(&a);
  }
  /* Where inner axes cut a dimension as the major ones the units' blocks are not contiguous, and the price errs high.
   */
  print_message("%d exchanges with both kinds of traffic, %d priced exactly\n", crossing, exact);
  assert_in_range(exact, crossing / 2 + 1, crossing);
}

/* 8x8 bytes, rows over two nodes of four, made whole. Of 56 bytes a device gets 32 from the other node, from one device
 * or more of it, and 24 from the three of its own; seven senders. */
static void its_price_by_hand(void **state) {
  (void)state;
  sw_arena a = {0};
  sw_profile p;
  sw_machine *m;
  sw_mesh mesh;
  const int64_t dims[] = {8, 8};
  bare_profile(&p, 4, 2, 2, 3);
  p.exchange_peer_s = 0.0625;
  p.level[0].line[SW_COST_ALL_TO_ALL] =
      (sw_cost_line){.base_s = 3, .peer_s = 0.25, .ramp_s_per_sqrt_byte = 0.5, .s_per_byte = 2, .pair_s_per_byte = 6};
  p.level[1].line[SW_COST_ALL_TO_ALL] =
      (sw_cost_line){.base_s = 5, .peer_s = 0.125, .ramp_s_per_sqrt_byte = 0.25, .s_per_byte = 3, .pair_s_per_byte = 1};
  p.level[0].serial_fraction = 0;
  p.level[1].serial_fraction = 0.5;
  assert_ok(sw_mesh_parse("x=8", &a, &mesh, &diag));
  assert_ok(sw_machine_build(&a, &p, &mesh, &m, &diag));
  sw_sharding whole = sw_sharding_replicated(2), cut = whole;
  assert_true(sw_sharding_push(&cut, 0, sw_axis_whole(&mesh, 0)));
  sw_tiling src, dst;
  sw_tiling_of(&cut, 2, dims, &src);
  sw_tiling_of(&whole, 2, dims, &dst);
  double latency = 7 * 0.0625 + (3 + 3 * 0.25) + (5 + 1 * 0.125);
  double inside = 0.5 * sqrt(24) + (2 + 6 / 3.) * 24, across = 0.25 * sqrt(32) + (3 + 1) * 32;
  assert_true(fabs(sw_machine_exchange_s(m, &src, &dst, 1) - (latency + across + 0.5 * inside)) < 1e-9);
  sw_arena_deinit(&a);
}

static void what_moves_nothing_costs_a_copy_or_nothing(void **state) {
  (void)state;
  sw_arena a = {0};
  const sw_profile *p;
  sw_machine *m;
  sw_mesh mesh;
  assert_ok(sw_profile_read("dgx-h100", &a, &p, &diag));
  assert_ok(sw_mesh_parse("x=2,y=4", &a, &mesh, &diag));
  assert_ok(sw_machine_build(&a, p, &mesh, &m, &diag));
  const int64_t dims[] = {1024, 1024};
  sw_sharding whole = sw_sharding_replicated(2), cut = whole;
  assert_true(sw_sharding_push(&cut, 0, sw_axis_whole(&mesh, 1)));
  sw_tiling src, dst;
  sw_tiling_of(&whole, 2, dims, &src);
  sw_tiling_of(&cut, 2, dims, &dst);
  assert_true(sw_machine_exchange_s(m, &dst, &dst, 4) == 0);
  double slice = sw_machine_exchange_s(m, &src, &dst, 4);
  assert_true(slice == sw_machine_collective_s(m, SW_COLL_ALL_SLICE, NULL, 0, 1024 * 1024));
  assert_true(slice < sw_machine_exchange_s(m, &dst, &src, 4));
  sw_arena_deinit(&a);
}

int main(void) {
  enum { N = sizeof kSame / sizeof kSame[0] };
  struct CMUnitTest tests[N + 3] = {
      cmocka_unit_test(bytes_across_nodes_are_those_that_no_neighbour_has),
      cmocka_unit_test(what_moves_nothing_costs_a_copy_or_nothing),
      cmocka_unit_test(its_price_by_hand),
  };
  for (int i = 0; i < N; i++)
    tests[3 + i] = (struct CMUnitTest){kSame[i].name, an_exchange_costs_an_all_to_all_and_its_senders, NULL, NULL,
                                       (void *)(uintptr_t)&kSame[i]};
  return cmocka_run_group_tests_name("exchange_cost", tests, NULL, NULL);
}
