/* Our propagation beside MLIR's: the two-layer perceptron of the RFC, as our model and on linalg and tosa, with the
 * same annotations on its arguments. Both must cut the hidden layer, its activation and the result alike. Skipped where
 * there is no mlir-opt-22. (MLIR cannot say that a result is partial; only split_axes are compared.) */
#include <ctype.h>
#include <unistd.h>

#include "check.h"
#include "mlir_opt.h"

#include "shardwright/emit.h"
#include "base/file.h"
#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"
#include "shardwright/propagate.h"
#include "support/job.h"

typedef struct row {
  const char *name;
  const char *ours[3], *theirs[3]; /* x, w1, w2 */
} row;

static const row kRows[] = {
    {"weights stationary, 2-D", {"[[x],[]]", "[[],[y]]", "[[y],[]]"}, {"[[0]]", "[[], [1]]", "[[1]]"}},
    {"data parallel", {"[[x,y],[]]", "[[],[]]", "[[],[]]"}, {"[[0, 1]]", "[[]]", "[[]]"}},
    {"hidden over both axes", {"[[],[]]", "[[],[x,y]]", "[[x,y],[]]"}, {"[[]]", "[[], [0, 1]]", "[[0, 1]]"}},
    {"axes against mesh order", {"[[],[]]", "[[],[y,x]]", "[[y,x],[]]"}, {"[[]]", "[[], [1, 0]]", "[[1, 0]]"}},
    {"one axis only", {"[[y],[]]", "[[],[]]", "[[],[]]"}, {"[[1]]", "[[]]", "[[]]"}},
};

static const char kModel[] =
    "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"mlp\", \"mesh\": \"x=2,y=4\", \"values\": ["
    "{\"name\": \"x\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [8, 32],"
    " \"annotations\": [{\"sharding\": \"%s\"}]},"
    "{\"name\": \"w1\", \"kind\": \"parameter\", \"dtype\": \"f32\", \"shape\": [32, 64],"
    " \"annotations\": [{\"sharding\": \"%s\"}]},"
    "{\"name\": \"w2\", \"kind\": \"parameter\", \"dtype\": \"f32\", \"shape\": [64, 32],"
    " \"annotations\": [{\"sharding\": \"%s\"}]}], \"ops\": ["
    "{\"op\": \"dot_general\", \"inputs\": [\"x\", \"w1\"], \"outputs\": [\"h\"],"
    " \"attrs\": {\"lhs_contract\": [1], \"rhs_contract\": [0]}},"
    "{\"op\": \"logistic\", \"inputs\": [\"h\"], \"outputs\": [\"a\"]},"
    "{\"op\": \"dot_general\", \"inputs\": [\"a\", \"w2\"], \"outputs\": [\"y\"],"
    " \"attrs\": {\"lhs_contract\": [1], \"rhs_contract\": [0]}}], \"outputs\": [\"y\"]}";

static const char kMlir[] =
    "shard.grid @mesh(shape = 2x4)\n"
    "func.func @mlp(%%x: tensor<8x32xf32>, %%w1: tensor<32x64xf32>, %%w2: tensor<64x32xf32>) -> tensor<8x32xf32> {\n"
    "  %%sx = shard.sharding @mesh split_axes = %s : !shard.sharding\n"
    "  %%s1 = shard.sharding @mesh split_axes = %s : !shard.sharding\n"
    "  %%s2 = shard.sharding @mesh split_axes = %s : !shard.sharding\n"
    "  %%xa = shard.shard %%x to %%sx : tensor<8x32xf32>\n"
    "  %%w1a = shard.shard %%w1 to %%s1 : tensor<32x64xf32>\n"
    "  %%w2a = shard.shard %%w2 to %%s2 : tensor<64x32xf32>\n"
    "  %%zero = arith.constant 0.0 : f32\n"
    "  %%e1 = tensor.empty() : tensor<8x64xf32>\n"
    "  %%z1 = linalg.fill ins(%%zero : f32) outs(%%e1 : tensor<8x64xf32>) -> tensor<8x64xf32>\n"
    "  %%h = linalg.matmul ins(%%xa, %%w1a : tensor<8x32xf32>, tensor<32x64xf32>)"
    " outs(%%z1 : tensor<8x64xf32>) -> tensor<8x64xf32>\n"
    "  %%a = tosa.sigmoid %%h : (tensor<8x64xf32>) -> tensor<8x64xf32>\n"
    "  %%e2 = tensor.empty() : tensor<8x32xf32>\n"
    "  %%z2 = linalg.fill ins(%%zero : f32) outs(%%e2 : tensor<8x32xf32>) -> tensor<8x32xf32>\n"
    "  %%y = linalg.matmul ins(%%a, %%w2a : tensor<8x64xf32>, tensor<64x32xf32>)"
    " outs(%%z2 : tensor<8x32xf32>) -> tensor<8x32xf32>\n"
    "  return %%y : tensor<8x32xf32>\n"
    "}\n";

/* The split_axes that a text annotates the definition of `value` with; whole trailing dimensions left out. */
static void split_axes_of(const char *text, const char *value, char *out, size_t room) {
  char key[256], sharding[128] = "";
  snprintf(key, sizeof key, " = shard.shard %s to ", value);
  const char *at = strstr(text, key);
  if (!at) fail_msg("%s has no annotation in\n%s", value, text);
  assert_int_equal(sscanf(at + strlen(key), "%100s", sharding), 1);
  snprintf(key, sizeof key, "%s = shard.sharding @mesh split_axes = ", sharding);
  at = strstr(text, key);
  if (!at) fail_msg("%s is not defined in\n%s", sharding, text);
  at += strlen(key);
  snprintf(out, room, "%.*s", (int)(strstr(at, "]]") + 2 - at), at);
  for (size_t n = strlen(out); n > 6 && strcmp(out + n - 5, ", []]") == 0; n -= 4) strcpy(out + n - 5, "]");
}

/* Name of the result of the `nth` op of a kind, as mlir-opt calls it. */
static void result_of(const char *text, const char *op, int nth, char *out) {
  char key[64];
  snprintf(key, sizeof key, " = %s ", op);
  const char *at = strstr(text, key);
  for (; at && nth > 0; nth--) at = strstr(at + 1, key);
  if (!at) fail_msg("no %s in\n%s", op, text);
  const char *from = at;
  while (from > text && !isspace((unsigned char)from[-1])) from--;
  snprintf(out, 64, "%.*s", (int)(at - from), from);
}

static void run_ours(const row *r, sw_text *out) {
  sw_arena arena = {0};
  sw_graph *g;
  const sw_profile *profile;
  sw_machine *machine;
  sw_plan plan;
  char model[sizeof kModel + 64];
  int n = snprintf(model, sizeof model, kModel, r->ours[0], r->ours[1], r->ours[2]);
  assert_ok(sw_model_parse("mlp.json", model, (size_t)n, &g, &diag));
  assert_ok(sw_profile_read("dgx-h100", &arena, &profile, &diag));
  assert_ok(sw_machine_build(&arena, profile, &g->written->mesh, &machine, &diag));
  assert_ok(sw_propagate(JOB(g, machine), SW_TRAVERSE_FORWARD_BACKWARD, &arena, &plan, &diag));
  assert_ok(sw_emit_shard(&plan, out, &diag));
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

static void run_theirs(const row *r, sw_text *out) {
  sw_text text = {0};
  char path[64], command[256], line[4096];
  snprintf(path, sizeof path, "interop_propagation_%ld.mlir", (long)getpid());
  sw_text_printf(&text, kMlir, r->theirs[0], r->theirs[1], r->theirs[2]);
  assert_ok(sw_file_write(path, text.at, text.n, &diag));
  snprintf(command, sizeof command,
           "mlir-opt-22 --pass-pipeline='builtin.module(func.func("
           "sharding-propagation{traversal=forward-backward},cse))' %s",
           path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  while (fgets(line, sizeof line, pipe)) sw_text_puts(out, line);
  assert_int_equal(pclose(pipe), 0);
  (void)remove(path);
  sw_text_free(&text);
}

static void compare(void **user) {
  const row *r = *user;
  static const struct {
    const char *ours, *op;
    int nth;
  } kValues[] = {{"%h", "linalg.matmul", 0}, {"%a", "tosa.sigmoid", 0}, {"%y", "linalg.matmul", 1}};
  sw_text ours = {0}, theirs = {0};
  run_ours(r, &ours);
  run_theirs(r, &theirs);
  for (size_t i = 0; i < sizeof kValues / sizeof kValues[0]; i++) {
    char value[64], a[128], b[128];
    result_of(sw_text_str(&theirs), kValues[i].op, kValues[i].nth, value);
    split_axes_of(sw_text_str(&ours), kValues[i].ours, a, sizeof a);
    split_axes_of(sw_text_str(&theirs), value, b, sizeof b);
    if (strcmp(a, b) != 0) fail_msg("%s: we cut %s as %s, MLIR as %s", r->name, kValues[i].ours, a, b);
  }
  sw_text_free(&ours);
  sw_text_free(&theirs);
}

int main(void) {
  enum { N = sizeof kRows / sizeof kRows[0] };
  struct CMUnitTest tests[N];
  if (!has_mlir_opt()) return MLIR_OPT_SKIPPED;
  for (int i = 0; i < N; i++) {
    tests[i] =
        (struct CMUnitTest){.name = kRows[i].name, .test_func = compare, .initial_state = (void *)(uintptr_t)&kRows[i]};
  }
  return cmocka_run_group_tests_name("interop_propagation", tests, NULL, NULL);
}
