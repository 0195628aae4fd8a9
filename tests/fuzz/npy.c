/* Arrays in NumPy's format, read as any of our dtypes. The first byte picks it. */
#include "fuzz/fuzz.h"
#include "io/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  if (n < 1) return 0;
  sw_diag d = {0};
  sw_tensor t = {0};
  sw_dtype want = (sw_dtype)(bytes[0] % (SW_DTYPE_COUNT + 1));
  sw_rc rc = sw_npy_parse(bytes + 1, n - 1, "fuzz.npy", want, &t, &d);
  if (rc) {
    FUZZ_CHECK_FAILURE(rc, &d);
  } else {
    FUZZ_CHECK(want == SW_DTYPE_COUNT || t.dtype == want);
    sw_tensor_deinit(&t);
  }
  return 0;
}
