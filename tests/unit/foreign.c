/* Files given as models that are something else are named; models are not. */
#include "check.h"

#include <glob.h>

#include "base/file.h"
#include "io/foreign.h"

#define BYTES(text) text, sizeof(text) - 1

static const struct {
  const char *bytes;
  size_t n;
  const char *what, *how; /* in the message, and in its first note */
} kForeign[] = {
    {BYTES("HloModule jit_f, entry_computation_layout={(f32[4]{0})->f32[4]{0}}\n"), "HLO", "as_text()"},
    {BYTES("\n\nHloModule m\n"), "HLO", "as_text()"},
    {BYTES("ML\xefR\x0d\x00\x01"), "MLIR bytecode", "stablehlo-translate --deserialize"},
    {BYTES("PK\x03\x04\x14\x00"), "a zip archive", "torch.export.export"},
    {BYTES("\x08\x03\x12\x04jit_f"), "a protobuf", "as_text()"},
    {BYTES("\x0a\x06jit_f\x01"), "a protobuf", "as_text()"},
    {BYTES("\x40\x00\x00\x00\x00\x00\x00\x00{\"w\":{}}"), "safetensors", "as_text()"},
    {BYTES("{ lambda ; a:f32[4]. let b:f32[4] = sin a in (b,) }"), "a jaxpr", "as_text()"},
    {BYTES("ExportedProgram:\n    class GraphModule(torch.nn.Module):"), "torch.export", "torch.export.export"},
    {BYTES("graph():\n    %x : [num_users=1] = placeholder[target=x]\n"), "torch.fx", "torch.export.export"},
    {BYTES("import jax\n"), "Python", "as_text()"},
    {BYTES("\x93NUMPY\x01\x00"), "a NumPy array", "as_text()"},
};

static void other_files_are_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kForeign / sizeof *kForeign; i++) {
    diag = (sw_diag){0};
    assert_int_equal(sw_refuse_foreign("f", kForeign[i].bytes, kForeign[i].n, &diag), SW_E_INPUT);
    if (!strstr(diag.text, kForeign[i].what)) fail_msg("'%s' lacks '%s'", diag.text, kForeign[i].what);
    assert_non_null(strstr(diag.notes[0], kForeign[i].how));
    assert_int_equal(diag.line, 1);
    for (size_t n = 1; n < kForeign[i].n; n++) { /* nothing is read beyond the end */
      char *part = malloc(n);
      assert_non_null(part);
      (void)!sw_refuse_foreign("f", memcpy(part, kForeign[i].bytes, n), n, &diag);
      free(part);
    }
  }
}

static void models_are_not_refused(void **state) {
  (void)state;
  static const char *const kPatterns[] = {"models/*.json",     "models/small/*.json", "docs/examples/*.json",
                                          "tests/data/*.mlir", "tests/data/*/*.mlir", "tests/corpus/program/*"};
  int n = 0;
  for (size_t i = 0; i < sizeof kPatterns / sizeof *kPatterns; i++) {
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/%s", SW_SOURCE_DIR, kPatterns[i]);
    if (glob(pattern, 0, NULL, &found)) continue;
    for (size_t k = 0; k < found.gl_pathc; k++, n++) {
      char *bytes;
      size_t n_bytes;
      assert_ok(sw_read_model_text(found.gl_pathv[k], &bytes, &n_bytes, &diag));
      sw_mem_free(bytes);
    }
    globfree(&found);
  }
  assert_true(n > 50);
  static const char *const kModels[] = {"",
                                        "{",
                                        "module {\n}\n",
                                        "#map = affine_map<(d0) -> (d0)>\n",
                                        "\"builtin.module\"() ({",
                                        "// importing\nfunc.func @main() {",
                                        "func.func @from() { return }"};
  for (size_t i = 0; i < sizeof kModels / sizeof *kModels; i++)
    assert_int_equal(sw_refuse_foreign("f", kModels[i], strlen(kModels[i]), NULL), SW_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(other_files_are_named), cmocka_unit_test(models_are_not_refused)};
  return cmocka_run_group_tests_name("foreign", tests, NULL, NULL);
}
