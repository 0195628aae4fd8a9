/* Sharding texts in all spellings: two digits for the form and the rank, then the text. What parses fits the mesh, and
 * its native text parses to the same sharding. */
#include "shardwright/sharding.h"

#include "fuzz/fuzz.h"

static void check_one(const sw_mesh *m, int rank, const sw_sharding *s, sw_arena *arena) {
  sw_diag d = {0};
  sw_sharding again;
  sw_text first = {0};
  sw_sharding_print(m, s, &first);
  sw_rc rc = sw_sharding_parse(m, rank, sw_text_str(&first), first.n, SW_NOWHERE, arena, &again, &d);
  if (rc) fprintf(stderr, "'%s': %s\n", sw_text_str(&first), d.text);
  FUZZ_CHECK(rc == SW_OK);
  FUZZ_CHECK(sw_sharding_equal(s, &again) && sw_sharding_hash(s) == sw_sharding_hash(&again));
  sw_text_free(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  if (n < 2) return 0;
  sw_arena arena = {0};
  sw_diag d = {0};
  sw_mesh m;
  sw_sharding s;
  sw_sharding_form form = (sw_sharding_form)(bytes[0] % (SW_FORM_DTENSOR + 1));
  int rank = bytes[1] % (SW_MAX_RANK + 1);
  FUZZ_CHECK(sw_mesh_parse("x=2,y=4,z=8", &arena, &m, &d) == SW_OK);
  sw_rc rc = sw_sharding_parse_as(&m, rank, form, (const char *)bytes + 2, n - 2, SW_NOWHERE, &arena, &s, &d);
  if (rc) {
    FUZZ_CHECK_FAILURE(rc, &d);
  } else {
    check_one(&m, rank, &s, &arena);
  }
  sw_arena_deinit(&arena);
  return 0;
}
