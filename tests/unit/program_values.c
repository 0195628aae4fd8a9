/* Programs of one op with their numbers: examples of StableHLO's specification, and regions that no reduction has. They
 * stand in tests/data/program_values.mlir, each under its name and the elements of all its results:
 *
 *   // -----
 *   // abs
 *   // = 2 0 2
 *   func.func @main() -> (tensor<3xi32>) { ...
 *
 * or in tests/data/refused/programs.mlir under what is wrong with it, `// ! line:col: message` (line 1 is the first one
 * of the program).
 *
 * Every program runs on one device, then under random plans on several meshes, and must give the same numbers each
 * time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "support/random_plan.h"
#include "base/file.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "collective/scalar.h"
#include "shardwright/validate.h"
#include "support/job.h"

typedef struct row {
  sw_text name, want, wrong; /* the numbers stand apart by blanks */
  const char *program;
  size_t n;
} row;

enum { MOST_ROWS = 256 };

typedef struct rows {
  row at[MOST_ROWS];
  int n;
  char *bytes[2]; /* of the files */
} rows;

/* --- reading ----------------------------------------------------------------------------------------------------- */

static bool starts(const char *at, const char *word) { return strncmp(at, word, strlen(word)) == 0; }

/* One module: "// NAME", lines of "// = NUMBERS" or one of "// ! MESSAGE", then the program up to `end`. */
static row read_row(const char *at, const char *end) {
  row r = {0};
  for (; at < end && starts(at, "// "); at = strchr(at, '\n') + 1) {
    const char *eol = strchr(at, '\n');
    bool number = starts(at, "// = "), wrong = starts(at, "// ! ");
    sw_text *to = number ? &r.want : wrong ? &r.wrong : &r.name;
    if (to == &r.name && r.name.n) fail_msg("%s: a second name: %.*s", sw_text_str(&r.name), (int)(eol - at), at);
    if (number) sw_text_puts(&r.want, " ");
    int skip = to == &r.name ? 3 : 5;
    sw_text_append(to, at + skip, (size_t)(eol - at - skip));
  }
  if (!r.name.n || !r.want.n == !r.wrong.n) fail_msg("a program without name or numbers: %.60s", at);
  r.program = at;
  r.n = (size_t)(end - at);
  return r;
}

static void read_rows(rows *all, const char *path, char **bytes) {
  static const char kSplit[] = "// -----\n";
  size_t n;
  assert_ok(sw_file_read(path, bytes, &n, &diag));
  for (const char *at = *bytes, *end = at + n; at < end; all->n++) {
    const char *split = strstr(at, kSplit), *stop = split ? split : end;
    assert_true(all->n < MOST_ROWS);
    all->at[all->n] = read_row(at, stop);
    at = split ? split + strlen(kSplit) : end;
  }
}

static void free_rows(rows *all) {
  for (int i = 0; i < all->n; i++) {
    sw_text_free(&all->at[i].name);
    sw_text_free(&all->at[i].want);
    sw_text_free(&all->at[i].wrong);
  }
  for (int i = 0; i < 2; i++) sw_mem_free(all->bytes[i]);
}

/* --- checks ------------------------------------------------------------------------------------------------------ */

static sw_program *program_of_row(const row *r) {
  diag = (sw_diag){0};
  sw_program *p = NULL;
  sw_rc rc = sw_program_parse("t.mlir", r->program, r->n, NULL, &p, &diag);
  if (rc) fail_msg("%s: %d:%d: %s", sw_text_str(&r->name), diag.line, diag.col, diag.text);
  return p;
}

static bool agrees(double got, double want, sw_dtype t) {
  if (isinf(want)) return got == want;
  if (got != got || want != want) return got != got && want != want;
  double tolerance = sw_dtype_class_of(t) == SW_CLASS_FLOAT || sw_dtype_class_of(t) == SW_CLASS_COMPLEX ? 1e-6 : 0;
  return fabs(got - want) <= tolerance * (fabs(want) > 1 || want == 0 ? fmax(fabs(want), 1) : fabs(want));
}

/* Outputs against the row's numbers; frees them. */
static void check_outputs(const row *r, const sw_graph *g, sw_tensor *outputs, const char *how) {
  const char *at = sw_text_str(&r->want);
  for (int i = 0; i < g->n_outputs; i++) {
    const sw_buffer *b = &outputs[i];
    bool complex = sw_dtype_class_of(b->dtype) == SW_CLASS_COMPLEX;
    for (int64_t k = 0; k < sw_buffer_elements(b) * (complex ? 2 : 1); k++) {
      int64_t element = complex ? k / 2 : k;
      const char *from = (const char *)b->data + element * sw_dtype_bytes(b->dtype);
      sw_scalar s = sw_scalar_load(b->dtype, from);
      double got = complex && k % 2 ? s.im : sw_scalar_convert(b->dtype, complex ? b->dtype : SW_F64, s).re;
      char *end;
      double want = strtod(at, &end);
      if (end == at) fail_msg("%s: the row has too few numbers", sw_text_str(&r->name));
      if (!agrees(got, want, b->dtype)) {
        fail_msg("%s, %s: output %d has %.9g at %lld; expected %.9g", sw_text_str(&r->name), how, i, got, (long long)k,
                 want);
      }
      at = end;
    }
    sw_tensor_deinit(&outputs[i]);
  }
  if (*at) fail_msg("%s: the row has more numbers: %s", sw_text_str(&r->name), at);
}

static void check_single(void **state) {
  const row *r = *state;
  diag = (sw_diag){0};
  sw_tensor outputs[SW_MAX_RESULTS];
  sw_program *p = program_of_row(r);
  sw_rc rc = sw_exec_run(sw_program_graph(p), NULL, NULL, outputs, &diag);
  if (rc) fail_msg("%s: %s", sw_text_str(&r->name), diag.text);
  check_outputs(r, sw_program_graph(p), outputs, "one device");
  sw_program_destroy(p);
}

static void check_plans(void **state) {
  static const char *const kMeshes[] = {"x=2", "x=2,y=2", "x=3"};
  const row *r = *state;
  diag = (sw_diag){0};
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(5));
  sw_program *p = program_of_row(r);
  for (int i = 0; i < 3 * (int)check_scale(2); i++) {
    sw_arena arena = {0};
    sw_tensor outputs[SW_MAX_RESULTS];
    const sw_profile *hw;
    sw_machine *machine;
    sw_mesh mesh;
    sw_plan plan;
    sw_validation v;
    assert_ok(sw_profile_read(SW_SOURCE_DIR "/hwprofiles/dgx-h100.json", &arena, &hw, &diag));
    assert_ok(sw_mesh_parse(kMeshes[i % 3], &arena, &mesh, &diag));
    assert_ok(sw_machine_build(&arena, hw, &mesh, &machine, &diag));
    assert_ok(random_plan(JOB(sw_program_graph(p), machine), &rng, &arena, &plan, &diag));
    sw_rc rc = sw_validate(&plan, &(sw_validate_options){.outputs = outputs, .intermediates = true}, &arena, &v, &diag);
    if (rc) fail_msg("%s on %s: %s", sw_text_str(&r->name), kMeshes[i % 3], diag.text);
    if (!v.matches)
      fail_msg("%s on %s: differs from one device in %s", sw_text_str(&r->name), kMeshes[i % 3], v.first_bad_op);
    check_outputs(r, sw_program_graph(p), outputs, kMeshes[i % 3]);
    sw_arena_deinit(&arena);
  }
  sw_program_destroy(p);
}

static void check_wrong(void **state) {
  const row *r = *state;
  diag = (sw_diag){0};
  sw_program *p = NULL;
  sw_text said = {0};
  assert_int_equal(sw_program_parse("t.mlir", r->program, r->n, NULL, &p, &diag), SW_E_INPUT);
  sw_text_printf(&said, "%d:%d: %s", diag.line, diag.col, diag.text);
  assert_string_equal(sw_text_str(&said), sw_text_str(&r->wrong));
  sw_text_free(&said);
  sw_program_destroy(p);
}

int main(void) {
  static rows all;
  static struct CMUnitTest tests[2 * MOST_ROWS];
  size_t n = 0;
  read_rows(&all, SW_SOURCE_DIR "/tests/data/program_values.mlir", &all.bytes[0]);
  read_rows(&all, SW_SOURCE_DIR "/tests/data/refused/programs.mlir", &all.bytes[1]);
  assert_true(all.n > 100);
  for (int i = 0; i < all.n; i++) {
    const char *name = sw_text_str(&all.at[i].name);
    bool wrong = all.at[i].wrong.n > 0;
    tests[n++] = (struct CMUnitTest){name, wrong ? check_wrong : check_single, NULL, NULL, &all.at[i]};
    if (!wrong) tests[n++] = (struct CMUnitTest){name, check_plans, NULL, NULL, &all.at[i]};
  }
  int failed = _cmocka_run_group_tests("program_values", tests, n, NULL, NULL);
  free_rows(&all);
  return failed;
}
