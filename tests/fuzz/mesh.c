/* Mesh texts: what parses is well formed, and its text parses to the same mesh. */
#include "shardwright/mesh.h"

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  sw_arena arena = {0};
  sw_diag d = {0};
  sw_mesh m, again;
  char *text = sw_arena_strndup(&arena, (const char *)bytes, n, NULL);
  sw_rc rc = sw_mesh_parse(text, &arena, &m, &d);
  if (rc) {
    FUZZ_CHECK_FAILURE(rc, &d);
  } else {
    sw_text first = {0}, second = {0};
    FUZZ_CHECK(sw_mesh_verify(&m, false, &d) == SW_OK);
    sw_mesh_print(&m, &first);
    FUZZ_CHECK(sw_mesh_parse(sw_text_str(&first), &arena, &again, &d) == SW_OK);
    sw_mesh_print(&again, &second);
    fuzz_check_same_text(&first, &second);
    sw_text_free(&first);
    sw_text_free(&second);
  }
  sw_arena_deinit(&arena);
  return 0;
}
