/* Meshes by their text, and machines by the name of a shipped profile, for tests. */
#ifndef TESTS_MESHES_H_
#define TESTS_MESHES_H_

#include "check.h"

#include "shardwright/mesh.h"
#include "shardwright/profile_json.h"

static inline sw_mesh mesh_of(const char *text) {
  sw_diag diag = {0};
  sw_mesh mesh;
  assert_ok(sw_mesh_parse(text, NULL, &mesh, &diag));
  return mesh;
}

/* In the arena, as its profile and mesh. */
static inline sw_machine *machine_of(const char *profile, const char *mesh, sw_arena *arena) {
  sw_diag diag = {0};
  char path[512];
  const sw_profile *hw;
  sw_mesh m;
  sw_machine *machine;
  snprintf(path, sizeof path, "%s/hwprofiles/%s.json", SW_SOURCE_DIR, profile);
  assert_ok(sw_profile_read(path, arena, &hw, &diag));
  assert_ok(sw_mesh_parse(mesh, arena, &m, &diag));
  assert_ok(sw_machine_build(arena, hw, &m, &machine, &diag));
  return machine;
}

#endif
