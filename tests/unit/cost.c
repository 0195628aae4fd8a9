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
  sw_diag diag = {0};
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
  sw_diag diag = {0};
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

static void monotone_in_bytes(void **state) { (void)state, each_group(check_monotone); }
static void continuous_in_bytes(void **state) { (void)state, each_group(check_continuous); }
static void all_reduce_lies_between_its_parts(void **state) { (void)state, each_group(check_composition); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(monotone_in_bytes),
      cmocka_unit_test(continuous_in_bytes),
      cmocka_unit_test(all_reduce_lies_between_its_parts),
  };
  return cmocka_run_group_tests_name("cost", tests, load, unload);
}
