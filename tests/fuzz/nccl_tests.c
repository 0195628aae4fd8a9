/* Output of nccl-tests, as text and as JSON: what is read is of known ranks, and every row has a size and a time. */
#include <math.h>

#include "fuzz/fuzz.h"
#include "bench/nccl_tests.h"

static void check(sw_rc rc, const sw_nccl_tables *t, const sw_diag *d) {
  if (rc) {
    FUZZ_CHECK_FAILURE(rc, d);
    return;
  }
  FUZZ_CHECK(t->n > 0);
  for (int64_t i = 0; i < t->n; i++) {
    FUZZ_CHECK(t->at[i].ranks >= t->at[i].nodes && t->at[i].nodes >= 1 && t->at[i].program);
    for (int64_t k = 0; k < t->at[i].n; k++) {
      const sw_nccl_row *row = &t->at[i].rows[k];
      FUZZ_CHECK(row->bytes > 0 && row->time_s > 0 && isfinite(row->bytes) && isfinite(row->time_s));
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  const char *text = (const char *)bytes;
  sw_arena arena = {0};
  sw_diag d = {0};
  sw_nccl_tables t;
  const sw_json *v;
  (void)sw_nccl_is_text(text, n);
  check(sw_nccl_text("fuzz.txt", text, n, &arena, &t, &d), &t, &d);
  d = (sw_diag){0};
  if (!sw_json_parse("fuzz.json", text, n, &arena, &v, &d) && sw_nccl_is_json(v)) {
    sw_rc rc = sw_nccl_json("fuzz.json", v, &arena, &t, &d);
    check(rc, &t, &d);
  }
  sw_arena_deinit(&arena);
  return 0;
}
