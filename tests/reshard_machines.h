/* Every network that routes are tested on: the shipped profiles, and a flat one, under meshes of two and three axes. */
#ifndef TESTS_RESHARD_MACHINES_H_
#define TESTS_RESHARD_MACHINES_H_

#include "knots_case.h"
#include "reshard_case.h"

#include "shardwright/profile_json.h"

static const char *const kMeshes[] = {"x=2,y=4",     "x=2,y=2,z=2", "x=2,y=3",     "x=4,y=2,z=3",
                                      "x=3,y=4,z=2", "x=8,y=8",     "x=8,y=2,z=4", "x=4,y=4,z=4"};
enum { N_MESHES = sizeof kMeshes / sizeof kMeshes[0] };

/* `where`: in words, for messages. */
typedef void (*machine_check)(const sw_machine *machine, rng *r, const char *where);

/* A third of them, all of them at three times the scale; half of these with random knots. */
static inline void check_machine(const sw_profile *p, const sw_mesh *mesh, machine_check check, rng *r) {
  sw_arena arena = {0};
  sw_text where = {0};
  sw_machine *machine;
  sw_profile own = *p;
  sw_cost_knots knots[SW_MAX_LEVELS][SW_COST_CLASS_COUNT];
  if (rng_below(r, 2)) {
    add_random_knots(r, &own, knots);
    p = &own;
  }
  if (rng_below(r, 3) < check_scale(1) && !sw_machine_build(&arena, p, mesh, &machine, &diag)) {
    sw_text_printf(&where, "%s ", sw_profile_name(p));
    sw_mesh_print(mesh, &where);
    check(machine, r, sw_text_str(&where));
    if (rng_below(r, 4) == 0) {
      assert_ok(sw_machine_combine(machine, INT64_C(1) << (10 + rng_below(r, 20)), &arena, &diag));
      sw_text_puts(&where, ", parts of calls");
      check(sw_machine_combining(machine), r, sw_text_str(&where));
    }
    if (rng_below(r, 4) == 0) {
      const sw_lowering how = {rng_below(r, 2), rng_below(r, 2), rng_below(r, 2), rng_below(r, 2)};
      assert_ok(sw_machine_lower(machine, how, &arena, &diag));
      sw_text_puts(&where, ", lowered");
      check(machine, r, sw_text_str(&where));
    }
  }
  sw_text_free(&where);
  sw_arena_deinit(&arena);
}

/* All shipped profiles with their meshes and those above that fit, and a flat network. */
static inline void on_all_machines(machine_check check, uint64_t seed) {
  sw_arena arena = {0};
  sw_profile flat;
  const char *const *names;
  rng r = {seed};
  int n;
  flat_profile(&flat, 64, 1e-6, 1e-9);
  assert_ok(sw_profile_names(&arena, &names, &n, &diag));
  for (int i = -1; i < n; i++) {
    const sw_profile *p = &flat;
    if (i >= 0) assert_ok(sw_profile_read(names[i], &arena, &p, &diag));
    for (int k = 0; i >= 0 && k < sw_profile_mesh_count(p); k++) check_machine(p, sw_profile_mesh(p, k), check, &r);
    for (int k = 0; k < N_MESHES; k++) {
      sw_mesh mesh;
      assert_ok(sw_mesh_parse(kMeshes[k], &arena, &mesh, &diag));
      check_machine(p, &mesh, check, &r);
    }
  }
  sw_arena_deinit(&arena);
}

#endif
