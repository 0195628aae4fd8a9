/* Hardware profiles: what is read is sound, and its first mesh fits the machine. */
#include "fuzz/fuzz.h"
#include "shardwright/profile_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  sw_arena arena = {0};
  sw_diag d = {0};
  const sw_profile *p;
  sw_rc rc = sw_profile_parse("fuzz.json", (const char *)bytes, n, &arena, &p, &d);
  if (rc) {
    FUZZ_CHECK_FAILURE(rc, &d);
  } else {
    FUZZ_CHECK(sw_profile_verify(p, &d) == SW_OK);
    sw_machine *machine;
    for (int i = 0; i < sw_profile_mesh_count(p); i++) {
      rc = sw_machine_build(&arena, p, sw_profile_mesh(p, i), &machine, &d);
      if (rc) fprintf(stderr, "mesh %d: %s\n", i, d.text);
      FUZZ_CHECK(rc == SW_OK);
    }
  }
  sw_arena_deinit(&arena);
  return 0;
}
