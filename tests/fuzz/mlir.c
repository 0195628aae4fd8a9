/* MLIR text: what is read prints as it was; what is not has messages, at most twenty, with places in the text. */
#include "fuzz/fuzz.h"
#include "io/mlir/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  sw_diag d = {0};
  sw_ir_tree t;
  char *text = malloc(n + 1);
  sw_text printed = {0};
  FUZZ_CHECK(text != NULL);
  if (n) memcpy(text, bytes, n);
  text[n] = 0;
  sw_rc rc = sw_ir_parse("fuzz.mlir", text, n, &t, &d);
  FUZZ_CHECK((rc == SW_OK) == (t.errors.n == 0));
  FUZZ_CHECK(t.errors.n <= SW_IR_MOST_ERRORS);
  for (size_t i = 0; i < t.errors.n; i++) FUZZ_CHECK(t.errors.at[i].line >= 1 && t.errors.at[i].col >= 1);
  if (rc) FUZZ_CHECK_FAILURE(rc, &d);
  sw_ir_print(&t, &printed);
  FUZZ_CHECK(printed.n == n && (n == 0 || memcmp(printed.at, text, n) == 0));
  sw_text_free(&printed);
  sw_ir_free(&t);
  free(text);
  return 0;
}
