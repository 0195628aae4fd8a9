/* Passes over the text of programs. tests/data/passes/ has cases: `// pass LIST`, a program, `// gives` and the program
 * that comes out, or `// refused TEXT` with a part of the message. And whatever a pass makes of the programs of all
 * tests can be read again. */
#include "check.h"

#include <glob.h>

#include "base/file.h"
#include "shardwright/program.h"

static char *text_of(const char *path, size_t *n) {
  char *text;
  assert_ok(sw_file_read_text(path, &text, n, &diag));
  return text;
}

/* --- cases -------------------------------------------------------------------------------------------------------- */

/* The line [at, end) without its mark, as a string of its own. */
static char *rest_of_line(const char *at, size_t mark) {
  const size_t n = strcspn(at, "\n");
  char *out = calloc(n - mark + 1, 1);
  memcpy(out, at + mark, n - mark);
  return out;
}

static const char *next_line(const char *at) {
  at += strcspn(at, "\n");
  return at + (*at == '\n');
}

/* The next line that begins with a mark of a case; the end: there is none. */
static const char *next_mark(const char *at) {
  while (*at && strncmp(at, "// pass ", 8) != 0 && strncmp(at, "// gives", 8) != 0 &&
         strncmp(at, "// refused ", 11) != 0)
    at = next_line(at);
  return at;
}

static const char *run_case(const char *path, const char *at) {
  char *passes = rest_of_line(at, 8);
  const char *input = next_line(at), *mark = next_mark(input), *want = next_line(mark), *end = next_mark(want);
  const bool gives = strncmp(mark, "// gives", 8) == 0;
  sw_text out = {0};
  diag = (sw_diag){0};
  print_message("%s: %s\n", path, passes);
  const sw_rc rc = sw_program_run_passes(path, input, (size_t)(mark - input), passes, NULL, &out, &diag);
  if (gives) {
    char *text = calloc((size_t)(end - want) + 1, 1);
    memcpy(text, want, (size_t)(end - want));
    assert_ok(rc);
    assert_string_equal(sw_text_str(&out), text);
    free(text);
  } else {
    char *words = rest_of_line(mark, 11);
    assert_int_not_equal(rc, SW_OK);
    if (!strstr(diag.text, words)) fail_msg("found '%s'; expected '%s'", diag.text, words);
    free(words);
  }
  sw_text_free(&out);
  free(passes);
  return end;
}

static int each(const char *pattern, int (*run)(const char *path)) {
  char whole[512];
  glob_t found;
  int n = 0;
  snprintf(whole, sizeof whole, "%s/tests/%s", SW_SOURCE_DIR, pattern);
  assert_int_equal(glob(whole, 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++) n += run(found.gl_pathv[i]);
  globfree(&found);
  return n;
}

static int run_cases(const char *path) {
  size_t n;
  int cases = 0;
  char *text = text_of(path, &n);
  for (const char *at = next_mark(text); *at; cases++) at = run_case(path, at);
  sw_mem_free(text);
  return cases;
}

static void passes_give_what_is_expected(void **state) {
  (void)state;
  assert_true(each("data/passes/*.mlir", run_cases) >= 8);
}

/* --- all programs ------------------------------------------------------------------------------------------------- */

/* Propagation has a test of its own; functions that do not call one another change places each time; what one device
 * has is not cut again. */
static bool is_settled(const sw_pass_info *pass) {
  static const char *const kOthers[] = {"pre-order-funcs", "convert-global-to-local"};
  bool settled = !pass->passes && !strstr(pass->name, "-propagate");
  for (size_t i = 0; i < sizeof kOthers / sizeof *kOthers; i++) settled &= strcmp(pass->name, kOthers[i]) != 0;
  return settled;
}

static void assert_read_again(const char *path, const sw_text *text, const sw_pass_info *pass) {
  const char *again = is_settled(pass) ? pass->name : "remove-propagation-debug-info";
  sw_text twice = {0};
  assert_ok(sw_program_run_passes(path, sw_text_str(text), text->n, again, NULL, &twice, &diag));
  if (is_settled(pass) && strcmp(sw_text_str(text), sw_text_str(&twice)) != 0)
    fail_msg("%s: %s changes what it has made", path, pass->name);
  sw_text_free(&twice);
}

/* Through a pass; false: it is refused. */
static bool is_read_again(const char *path, const char *text, size_t n, const sw_pass_info *pass) {
  sw_text once = {0};
  diag = (sw_diag){0};
  const sw_rc rc = sw_program_run_passes(path, text, n, pass->name, NULL, &once, &diag);
  if (rc)
    assert_true(diag.text[0]);
  else
    assert_read_again(path, &once, pass);
  sw_text_free(&once);
  return !rc;
}

static int run_all(const char *path) {
  size_t n;
  int read = 0;
  char *text = text_of(path, &n);
  for (int i = 0; i < sw_program_pass_count(); i++) {
    const sw_pass_info pass = sw_program_pass_at(i);
    read += is_read_again(path, text, n, &pass);
  }
  sw_mem_free(text);
  return read;
}

static void passes_make_programs_that_stay(void **state) {
  (void)state;
  assert_true(each("data/*.mlir", run_all) > 100);
  assert_true(each("golden/*/*.mlir", run_all) > 0);
  assert_true(each("corpus/program/*.mlir", run_all) > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(passes_give_what_is_expected),
                                     cmocka_unit_test(passes_make_programs_that_stay)};
  return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
