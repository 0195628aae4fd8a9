/* The shipped models: each file is what its line of models/models.txt generates, reads back, and the small ones run. */
#include <math.h>

#include "check.h"

#include "shardwright/exec.h"
#include "base/file.h"
#include "gen/gen.h"
#include "shardwright/model_json.h"
#include "shardwright/request.h"

enum { MAX_ARGS = 32, MAX_VALUES = 512, LINE_BYTES = 512 };

typedef struct shipped {
  char line[LINE_BYTES];
  char path[LINE_BYTES];
  const char *file, *arch;
  sw_gen_arg args[MAX_ARGS];
  int n_args;
} shipped;

/* "FILE ARCH --NAME VALUE ..."; false for a line without a model. */
static bool parse_line(const char *line, size_t n, shipped *s) {
  assert_true(n < LINE_BYTES);
  *s = (shipped){0};
  memcpy(s->line, line, n);
  char *rest = NULL;
  s->file = strtok_r(s->line, " ", &rest);
  if (!s->file || s->file[0] == '#') return false;
  s->arch = strtok_r(NULL, " ", &rest);
  assert_non_null(s->arch);
  for (char *name; (name = strtok_r(NULL, " ", &rest));) {
    char *value = strtok_r(NULL, " ", &rest);
    assert_true(strncmp(name, "--", 2) == 0 && value && s->n_args < MAX_ARGS);
    s->args[s->n_args++] = (sw_gen_arg){name + 2, value};
  }
  snprintf(s->path, sizeof s->path, "%s/models/%s", SW_SOURCE_DIR, s->file);
  return true;
}

static int each_model(void (*check)(const shipped *s)) {
  char *bytes;
  size_t n;
  int count = 0;
  assert_ok(sw_file_read(SW_SOURCE_DIR "/models/models.txt", &bytes, &n, &diag));
  for (char *at = bytes; *at;) {
    size_t len = strcspn(at, "\n");
    shipped s;
    if (parse_line(at, len, &s)) {
      check(&s);
      count++;
    }
    at += len + (at[len] == '\n');
  }
  sw_mem_free(bytes);
  return count;
}

static void check_file(const shipped *s) {
  sw_graph *g, *back;
  char *bytes;
  size_t n;
  sw_text text = {0};
  assert_ok(sw_gen_model(s->arch, s->args, s->n_args, &g, &diag));
  assert_ok(sw_model_write(g, &text, &diag));
  assert_ok(sw_file_read(s->path, &bytes, &n, &diag));
  if (n != text.n || memcmp(bytes, text.at, n) != 0) {
    fail_msg("models/%s is not what the generator writes: run scripts/make-models", s->file);
  }
  assert_true(n < 4 << 20);
  assert_ok(sw_model_read(s->path, &back, &diag));
  if (sw_request_hash(g->written) != sw_request_hash(back->written))
    fail_msg("models/%s reads back as another graph", s->file);
  sw_mem_free(bytes);
  sw_text_free(&text);
  sw_graph_destroy(g);
  sw_graph_destroy(back);
}

static void test_files(void **state) {
  (void)state;
  assert_true(each_model(check_file) >= 25);
}

static bool is_small(const shipped *s) { return strncmp(s->file, "small/", 6) == 0; }

/* Elements of `t` as doubles; the caller frees. */
static double *as_doubles(const sw_tensor *t) {
  int64_t n = sw_buffer_elements(t);
  double *x = calloc((size_t)n + 1, sizeof *x);
  assert_non_null(x);
  for (int64_t i = 0; i < n; i++) {
    x[i] = sw_element_load(t->dtype, (const char *)t->data + i * sw_dtype_bytes(t->dtype));
  }
  return x;
}

/* The same numbers for f32 and f64: those of f32. */
static void fill_argument(sw_tensor *t, const sw_value *v, int i) {
  sw_tensor narrow;
  bool index = v->type.dtype == SW_I32;
  const sw_fill fill = {
      .kind = index ? SW_FILL_INDEX : SW_FILL_RANDOM, .seed = (uint64_t)i + 1, .limit = index ? 5 : 0.5};
  assert_ok(sw_tensor_init(&narrow, index ? SW_I32 : SW_F32, v->type.rank, v->type.dims, &diag));
  assert_ok(sw_tensor_fill(&narrow, &fill, &diag));
  assert_ok(sw_tensor_init(t, v->type.dtype, v->type.rank, v->type.dims, &diag));
  double *x = as_doubles(&narrow);
  for (int64_t k = 0; k < sw_buffer_elements(t); k++) {
    sw_element_store(t->dtype, x[k], (char *)t->data + k * sw_dtype_bytes(t->dtype));
  }
  free(x);
  sw_tensor_deinit(&narrow);
}

static void run_model(const sw_graph *g, sw_tensor *outputs) {
  sw_tensor args[MAX_VALUES];
  const sw_buffer *in[MAX_VALUES];
  assert_true(g->n_args < MAX_VALUES && g->n_outputs < MAX_VALUES);
  for (int i = 0; i < g->n_args; i++) {
    fill_argument(&args[i], &g->values[g->args[i]], i);
    in[i] = &args[i];
  }
  const sw_exec_options options = {.poison = true};
  assert_ok(sw_exec_run(g, in, &options, outputs, &diag));
  for (int i = 0; i < g->n_args; i++) sw_tensor_deinit(&args[i]);
}

/* Largest difference of two outputs, as a part of the largest element. */
static double distance(const sw_tensor *a, const sw_tensor *b) {
  double *x = as_doubles(a), *y = as_doubles(b), most = 1e-30, worst = 0;
  for (int64_t i = 0; i < sw_buffer_elements(a); i++) {
    assert_true(isfinite(x[i]) && isfinite(y[i]));
    most = fmax(most, fabs(y[i]));
    worst = fmax(worst, fabs(x[i] - y[i]));
  }
  free(x);
  free(y);
  return worst / most;
}

/* Small models in f32 give the numbers of f64 within rounding: what a plan changes in the order of sums stays small. */
static void check_run(const shipped *s) {
  if (!is_small(s)) return;
  sw_graph *g, *wide;
  shipped as_f64 = *s;
  as_f64.args[as_f64.n_args++] = (sw_gen_arg){"dtype", "f64"};
  assert_ok(sw_model_read(s->path, &g, &diag));
  assert_ok(sw_gen_model(s->arch, as_f64.args, as_f64.n_args, &wide, &diag));
  sw_tensor got[MAX_VALUES], want[MAX_VALUES];
  double start = sw_now_s(), worst = 0;
  run_model(g, got);
  double seconds = sw_now_s() - start;
  run_model(wide, want);
  for (int i = 0; i < g->n_outputs; i++) {
    double d = distance(&got[i], &want[i]);
    if (d > 1e-4) fail_msg("%s: output '%s' is off by %.2g", s->file, g->output_names[i], d);
    worst = fmax(worst, d);
    sw_tensor_deinit(&got[i]);
    sw_tensor_deinit(&want[i]);
  }
  print_message("%s: %.1f ms, f32 off by %.1e\n", s->file, 1e3 * seconds, worst);
  sw_graph_destroy(g);
  sw_graph_destroy(wide);
}

static void test_small_run(void **state) {
  (void)state;
  each_model(check_run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_small_run)};
  return cmocka_run_group_tests_name("models", tests, NULL, NULL);
}
