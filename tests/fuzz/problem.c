/* Selection problems of the contest's format: what is read is sound, and written and read again it is the same. */
#include "fuzz/fuzz.h"
#include "shardwright/iopddl.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  sw_arena arena = {0};
  sw_diag d = {0};
  sw_problem p, again;
  sw_rc rc = sw_iopddl_parse((const char *)bytes, n, "fuzz.json", &arena, &p, &d);
  if (rc) {
    FUZZ_CHECK_FAILURE(rc, &d);
  } else {
    sw_text first = {0}, second = {0};
    FUZZ_CHECK(sw_problem_verify(&p, &d) == SW_OK);
    FUZZ_CHECK(sw_iopddl_print(&p, &first, &d) == SW_OK);
    rc = sw_iopddl_parse(sw_text_str(&first), first.n, "again.json", &arena, &again, &d);
    if (rc) fprintf(stderr, "%s\n%s\n", sw_text_str(&first), d.text);
    FUZZ_CHECK(rc == SW_OK);
    FUZZ_CHECK(sw_iopddl_print(&again, &second, &d) == SW_OK);
    fuzz_check_same_text(&first, &second);
    sw_text_free(&first);
    sw_text_free(&second);
  }
  sw_arena_deinit(&arena);
  return 0;
}
