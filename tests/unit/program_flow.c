/* Propagation on the text of programs: all that the tests have are gone through, and what was propagated once stays as
 * it is when it is propagated again. */
#include "check.h"

#include <glob.h>

#include "base/file.h"
#include "shardwright/program.h"

/* Twice through a layer; false: the file is refused. */
static bool is_final(const char *path, sw_layer layer) {
  char *text;
  size_t n;
  sw_text once = {0}, twice = {0};
  diag = (sw_diag){0};
  assert_ok(sw_file_read_text(path, &text, &n, &diag));
  sw_rc rc = sw_program_propagate(path, text, n, &(sw_propagation){.layer = layer}, &once, &diag);
  if (rc == SW_E_INPUT) assert_true(diag.text[0]);
  if (!rc) {
    assert_ok(sw_program_propagate(path, sw_text_str(&once), once.n, &(sw_propagation){.layer = layer}, &twice, &diag));
    if (layer < SW_LAYER_USER_PRIORITY) assert_string_equal(sw_text_str(&once), sw_text_str(&twice));
  }
  assert_true(!rc || rc == SW_E_INPUT);
  sw_text_free(&once);
  sw_text_free(&twice);
  sw_mem_free(text);
  return !rc;
}

/* Where each axis was annotated is known of every program: "unknown" is no answer, and the text is one still. */
static void check_origins(const char *path) {
  char *text;
  size_t n;
  sw_text out = {0};
  assert_ok(sw_file_read_text(path, &text, &n, &diag));
  if (!strstr(text, "sharding_origin") &&
      !sw_program_propagate(path, text, n, &(sw_propagation){.layer = SW_LAYER_WHOLE, .origins = true}, &out, &diag)) {
    assert_null(strstr(sw_text_str(&out), "\"unknown\""));
    assert_ok(sw_program_check_syntax(path, out.at, out.n, NULL, &diag));
  }
  sw_text_free(&out);
  sw_mem_free(text);
}

static void programs_are_propagated_to_their_end(void **state) {
  (void)state;
  static const char *const kFolders[] = {"data/*.mlir", "corpus/program/*.mlir", "golden/*/*.mlir"};
  int read = 0;
  for (size_t i = 0; i < sizeof kFolders / sizeof *kFolders; i++) {
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/tests/%s", SW_SOURCE_DIR, kFolders[i]);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t k = 0; k < found.gl_pathc; k++) {
      print_message("%s\n", found.gl_pathv[k]);
      check_origins(found.gl_pathv[k]);
      for (int layer = SW_LAYER_BASIC; layer <= SW_LAYER_WHOLE; layer++)
        read += is_final(found.gl_pathv[k], (sw_layer)layer);
    }
    globfree(&found);
  }
  assert_true(read > 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(programs_are_propagated_to_their_end)};
  return cmocka_run_group_tests_name("program_flow", tests, NULL, NULL);
}
