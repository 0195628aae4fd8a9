/* Meshes by their text, for tests. */
#ifndef TESTS_MESHES_H_
#define TESTS_MESHES_H_

#include "check.h"

#include "shardwright/mesh.h"

static inline sw_mesh mesh_of(const char *text) {
  sw_diag diag = {0};
  sw_mesh mesh;
  assert_ok(sw_mesh_parse(text, NULL, &mesh, &diag));
  return mesh;
}

#endif
