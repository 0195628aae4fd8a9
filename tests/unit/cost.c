/* Properties of the cost model, over every shipped profile and every axis subset of the meshes that it offers. */
#include "check.h"

#include <dirent.h>
#include <math.h>

#include "shardwright/profile_json.h"

enum { MAX_PROFILES = 32 };
static struct {
  char name[64];
  const sw_profile *p;
} profiles[MAX_PROFILES];
static int n_profiles;
static sw_arena arena;

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static int load(void **state) {
  (void)state;
  DIR *dir = opendir(SW_SOURCE_DIR "/hwprofiles");
  assert_non_null(dir);
  struct dirent *e;
  while ((e = readdir(dir))) {
    size_t n = strlen(e->d_name);
    if (n < 6 || n > 60 || strcmp(e->d_name + n - 5, ".json")) continue;
    assert_in_range(n_profiles, 0, MAX_PROFILES - 1);
    snprintf(profiles[n_profiles++].name, 64, "%.*s", (int)n - 5, e->d_name);
  }
  closedir(dir);
  qsort(profiles, (size_t)n_profiles, sizeof profiles[0], by_name);
  for (int i = 0; i < n_profiles; i++) {
    char path[512];
    snprintf(path, sizeof path, SW_SOURCE_DIR "/hwprofiles/%s.json", profiles[i].name);
    assert_ok(sw_profile_read(path, &arena, &profiles[i].p, &diag));
    assert_string_equal(sw_profile_name(profiles[i].p), profiles[i].name);
  }
  return 0;
}

static int unload(void **state) {
  (void)state;
  sw_arena_deinit(&arena);
  return 0;
}

/* A group: some axes of a machine. */
typedef struct group {
  const sw_machine *m;
  const char *profile;
  sw_axis_ref refs[SW_MAX_AXES];
  int n;
  int64_t size;
} group;

static double price(const group *g, sw_coll_op op, double bytes) {
  return sw_machine_collective_s(g->m, op, g->refs, g->n, bytes);
}

static void each_group(void (*check)(const group *g)) {
  for (int i = 0; i < n_profiles; i++)
    for (int k = 0; k < sw_profile_mesh_count(profiles[i].p); k++) {
      const sw_mesh *mesh = sw_profile_mesh(profiles[i].p, k);
      sw_arena scratch = {0};
      sw_machine *m;
      assert_ok(sw_machine_build(&scratch, profiles[i].p, mesh, &m, &diag));
      for (unsigned mask = 1; mask < 1u << mesh->n_axes; mask++) {
        group g = {.m = m, .profile = profiles[i].name, .size = 1};
        for (int a = 0; a < mesh->n_axes; a++)
          if (mask >> a & 1) {
            g.refs[g.n++] = sw_axis_whole(mesh, a);
            g.size *= mesh->axis[a].size;
          }
        check(&g);
      }
      sw_arena_deinit(&scratch);
    }
}

static const sw_coll_op kOps[] = {SW_COLL_ALL_GATHER, SW_COLL_ALL_REDUCE, SW_COLL_REDUCE_SCATTER, SW_COLL_ALL_TO_ALL,
                                  SW_COLL_BROADCAST,  SW_COLL_REDUCE,     SW_COLL_GATHER,         SW_COLL_SCATTER,
                                  SW_COLL_SHIFT,      SW_COLL_PERMUTE,    SW_COLL_ALL_SLICE};
enum { N_OPS = sizeof kOps / sizeof kOps[0] };

static void check_monotone(const group *g) {
  for (int i = 0; i < N_OPS; i++) {
    double before = price(g, kOps[i], 0);
    assert_true(isfinite(before) && before >= 0);
    for (double bytes = 1; bytes < 1e12; bytes *= 1.37) {
      double now = price(g, kOps[i], bytes);
      if (!(now >= before))
        fail_msg("%s %s: %g bytes cost %g s, fewer cost %g s", g->profile, sw_coll_text(kOps[i]), bytes, now, before);
      before = now;
    }
    if (g->size > 1 && before <= 0) fail_msg("%s %s is free", g->profile, sw_coll_text(kOps[i]));
  }
}

/* No jumps: a hundredth of a per cent more bytes may cost at most that much more. */
static void check_continuous(const group *g) {
  for (int i = 0; i < N_OPS; i++)
    for (double bytes = 1; bytes < 1e12; bytes *= 1.9) {
      double a = price(g, kOps[i], bytes), b = price(g, kOps[i], bytes * 1.0001);
      if (b > a * 1.00011 + 1e-15) fail_msg("%s %s jumps at %g bytes", g->profile, sw_coll_text(kOps[i]), bytes);
    }
}

static void check_composition(const group *g) {
  for (double bytes = 1; bytes < 1e12; bytes *= 2.3) {
    double ag = price(g, SW_COLL_ALL_GATHER, bytes), rs = price(g, SW_COLL_REDUCE_SCATTER, bytes);
    double ar = price(g, SW_COLL_ALL_REDUCE, bytes);
    double slack = 1e-12 * (ag + rs);
    if (ar < rs - slack) fail_msg("%s: all_reduce of %g below reduce_scatter", g->profile, bytes);
    if (ar > rs + ag + slack) fail_msg("%s: all_reduce of %g above its two halves", g->profile, bytes);
    assert_true(price(g, SW_COLL_REDUCE, bytes) >= rs - slack);
    assert_true(price(g, SW_COLL_BROADCAST, bytes) >= ag - slack);
  }
}

/* With the same bytes given by each device, more devices are never cheaper to gather from. */
static void check_growth(const group *g) {
  if (g->n < 2) return;
  for (int left_out = 0; left_out < g->n; left_out++) {
    group small = {.m = g->m, .profile = g->profile, .size = g->size / g->refs[left_out].size};
    for (int i = 0; i < g->n; i++)
      if (i != left_out) small.refs[small.n++] = g->refs[i];
    for (double bytes = 1; bytes < 1e10; bytes *= 7) {
      double few = price(&small, SW_COLL_ALL_GATHER, bytes * (double)small.size);
      double many = price(g, SW_COLL_ALL_GATHER, bytes * (double)g->size);
      if (many < few * (1 - 1e-12))
        fail_msg("%s: gathering %g bytes from each of %lld is cheaper than from %lld", g->profile, bytes,
                 (long long)g->size, (long long)small.size);
    }
  }
}

static void monotone_in_bytes(void **state) { (void)state, each_group(check_monotone); }
static void continuous_in_bytes(void **state) { (void)state, each_group(check_continuous); }
static void all_reduce_lies_between_its_parts(void **state) { (void)state, each_group(check_composition); }
static void more_devices_are_not_cheaper(void **state) { (void)state, each_group(check_growth); }

static const sw_profile *named(const char *name) {
  for (int i = 0; i < n_profiles; i++)
    if (!strcmp(profiles[i].name, name)) return profiles[i].p;
  fail_msg("no profile %s", name);
  return NULL;
}

static sw_machine *machine_of(sw_arena *a, const sw_profile *p, const char *mesh_text, sw_mesh *mesh) {
  sw_machine *m;
  assert_ok(sw_mesh_parse(mesh_text, a, mesh, &diag));
  assert_ok(sw_machine_build(a, p, mesh, &m, &diag));
  return m;
}

static void a_node_is_faster_than_the_network(void **state) {
  (void)state;
  sw_arena a = {0};
  sw_mesh mesh;
  const sw_machine *m = machine_of(&a, named("h100x64"), "x=8,y=8", &mesh);
  sw_axis_ref x = sw_axis_whole(&mesh, 0), y = sw_axis_whole(&mesh, 1);
  for (int i = 0; i < N_OPS; i++)
    for (double bytes = 1; bytes < 1e11; bytes *= 3)
      assert_true(sw_machine_collective_s(m, kOps[i], &y, 1, bytes) <=
                  sw_machine_collective_s(m, kOps[i], &x, 1, bytes));
  sw_arena_deinit(&a);
}

/* Seconds into microseconds: every time of the profile times 10^6, every rate divided by it. */
static sw_profile in_microseconds(const sw_profile *p) {
  const double k = 1e6;
  sw_profile q = *p;
  q.memory_bytes_per_s /= k;
  q.launch_s *= k;
  q.exchange_peer_s *= k;
  for (int t = 0; t < SW_DTYPE_COUNT; t++) q.flop_per_s[t] /= k;
  for (int l = 0; l < q.n_levels; l++)
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
      sw_cost_line *line = &q.level[l].line[c];
      double *values[] = {&line->base_s,     &line->peer_s,          &line->ramp_s_per_sqrt_byte,
                          &line->s_per_byte, &line->pair_s_per_byte, &line->in_network_s_per_byte};
      for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) *values[i] *= k;
    }
  return q;
}

static void close_to(double want, double got) {
  if (fabs(want - got) > 1e-9 * fabs(want)) fail_msg("%.17g is not %.17g", got, want);
}

static void the_unit_of_time_does_not_matter(void **state) {
  (void)state;
  for (int i = 0; i < n_profiles; i++) {
    sw_arena a = {0};
    sw_profile micro = in_microseconds(profiles[i].p);
    const sw_mesh *mesh = sw_profile_mesh(profiles[i].p, 0);
    sw_machine *m, *n;
    assert_ok(sw_machine_build(&a, profiles[i].p, mesh, &m, &diag));
    assert_ok(sw_machine_build(&a, &micro, mesh, &n, &diag));
    sw_axis_ref x = sw_axis_whole(mesh, 0);
    for (int k = 0; k < N_OPS; k++)
      for (double bytes = 1; bytes < 1e11; bytes *= 11)
        close_to(1e6 * sw_machine_collective_s(m, kOps[k], &x, 1, bytes),
                 sw_machine_collective_s(n, kOps[k], &x, 1, bytes));
    close_to(1e6 * sw_machine_local_s(m, SW_BF16, 1e12, 1e6), sw_machine_local_s(n, SW_BF16, 1e12, 1e6));
    sw_arena_deinit(&a);
  }
}

/* Roofline by hand: 100 flop/s of which half, 10 B/s of which a fifth, 3 s to launch. */
static void local_ops_follow_the_roofline(void **state) {
  (void)state;
  sw_arena a = {0};
  sw_mesh mesh;
  sw_profile p = *named("dgx-h100");
  for (int t = 0; t < SW_DTYPE_COUNT; t++) p.flop_per_s[t] = 100;
  p.flop_fraction = 0.5;
  p.flop_fraction_8bit = 0.25;
  p.memory_bytes_per_s = 10;
  p.memory_fraction = 0.2;
  p.launch_s = 3;
  const sw_machine *m = machine_of(&a, &p, "x=2", &mesh);
  close_to(3 + 4, sw_machine_local_s(m, SW_F32, 200, 6));
  close_to(3 + 8, sw_machine_local_s(m, SW_F8E4M3FN, 200, 6));
  close_to(3 + 5, sw_machine_local_s(m, SW_F32, 200, 10));
  close_to(3 + 2 * 10 / 2.0, sw_machine_collective_s(m, SW_COLL_ALL_SLICE, NULL, 0, 10));
  p.shared_cores = 4; /* eight devices on four cores: everything takes twice as long */
  m = machine_of(&a, &p, "x=8", &mesh);
  close_to(2 * (3 + 4), sw_machine_local_s(m, SW_F32, 200, 6));
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(monotone_in_bytes),
      cmocka_unit_test(continuous_in_bytes),
      cmocka_unit_test(all_reduce_lies_between_its_parts),
      cmocka_unit_test(more_devices_are_not_cheaper),
      cmocka_unit_test(a_node_is_faster_than_the_network),
      cmocka_unit_test(the_unit_of_time_does_not_matter),
      cmocka_unit_test(local_ops_follow_the_roofline),
  };
  return cmocka_run_group_tests_name("cost", tests, load, unload);
}
