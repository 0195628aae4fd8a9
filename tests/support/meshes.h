/* Meshes by their text, machines and small models by the names of shipped files, for tests. */
#ifndef TESTS_MESHES_H_
#define TESTS_MESHES_H_

#include "check.h"

#include "shardwright/mesh.h"
#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"

static inline sw_mesh mesh_of(const char *text) {
  sw_mesh mesh;
  assert_ok(sw_mesh_parse(text, NULL, &mesh, &diag));
  return mesh;
}

/* In the arena, as its profile and mesh. */
static inline sw_machine *machine_of(const char *profile, const char *mesh, sw_arena *arena) {
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

/* Of a folder under models/; the caller destroys it. */
static inline sw_graph *model_in(const char *folder, const char *name) {
  char path[512];
  sw_graph *g;
  snprintf(path, sizeof path, "%s/models/%s/%s.json", SW_SOURCE_DIR, folder, name);
  assert_ok(sw_model_read(path, &g, &diag));
  return g;
}

static inline sw_graph *small_model(const char *name) { return model_in("small", name); }

#endif
