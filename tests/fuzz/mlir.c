/* MLIR text: what is read prints as it was; what is not has messages, at most twenty, with places in the text. Reading
 * that forgets what it has read has the same ones. */
#include "fuzz/fuzz.h"
#include "mlir/text/tree.h"

static void same_errors_when_forgetting(const char *text, size_t n, const sw_ir_tree *t) {
  sw_ir_tree checked;
  sw_diag d = {0};
  FUZZ_CHECK((sw_ir_check("fuzz.mlir", text, n, &checked, &d) == SW_OK) == (t->errors.n == 0));
  FUZZ_CHECK(checked.errors.n == t->errors.n);
  for (size_t i = 0; i < t->errors.n; i++) {
    const sw_diag *a = &t->errors.at[i], *b = &checked.errors.at[i];
    FUZZ_CHECK(a->line == b->line && a->col == b->col && strcmp(a->text, b->text) == 0);
  }
  sw_ir_free(&checked);
}

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
  same_errors_when_forgetting(text, n, &t);
  sw_ir_print(&t, &printed);
  FUZZ_CHECK(printed.n == n && (n == 0 || memcmp(printed.at, text, n) == 0));
  sw_text_free(&printed);
  sw_ir_free(&t);
  free(text);
  return 0;
}
