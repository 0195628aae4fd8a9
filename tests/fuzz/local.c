/* Programs that are partitioned already: what is read is right in itself, or the text is refused with a place. */
#include "fuzz/fuzz.h"
#include "shardwright/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  sw_diag d = {0};
  sw_program *p;
  sw_rc rc = sw_program_parse("fuzz.mlir", (const char *)bytes, n, &(sw_program_options){.by_device = true}, &p, &d);
  if (rc) {
    FUZZ_CHECK_FAILURE(rc, &d);
    return 0;
  }
  const sw_local_program *local = sw_program_local(p);
  FUZZ_CHECK(!local || sw_local_verify(local, &d) == SW_OK);
  sw_program_destroy(p);
  return 0;
}
