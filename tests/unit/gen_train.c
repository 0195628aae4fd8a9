/* Training steps against numbers: gradients against finite differences of the loss, Adam against its formulas. */
#include <math.h>

#include "check.h"

#include "shardwright/exec.h"
#include "gen/gen.h"
#include "gen/train.h"
#include "support/program.h"

enum { MAX_ARGS = 512, MAX_GEN = 20 };

/* A training step and its arguments, all f64 but for tokens. */
typedef struct step {
  sw_graph *g;
  sw_tensor args[MAX_ARGS];
} step;

/* Architectures so small that every weight's gradient is quick to check; sgd moves by 0.01 of it. */
static const struct {
  const char *arch;
  sw_gen_arg args[MAX_GEN];
} kSteps[] = {
    {"mlp", {{"layers", "3"}, {"hidden", "5"}, {"batch", "4"}, {"bias", "yes"}}},
    {"gpt2", {{"layers", "2"}, {"hidden", "8"}, {"heads", "2"}, {"vocab", "11"}, {"seq", "5"}, {"batch", "2"}}},
    {"bert", {{"layers", "1"}, {"hidden", "6"}, {"heads", "3"}, {"vocab", "7"}, {"seq", "4"}, {"batch", "2"}}},
    {"mpt",
     {{"layers", "2"},
      {"hidden", "8"},
      {"heads", "2"},
      {"vocab", "11"},
      {"seq", "5"},
      {"batch", "2"},
      {"param-dtype", "same"}}},
    {"llama3",
     {{"layers", "2"},
      {"hidden", "8"},
      {"heads", "4"},
      {"kv-heads", "2"},
      {"head-dim", "4"},
      {"ffn", "6"},
      {"vocab", "11"},
      {"seq", "5"},
      {"batch", "2"}}},
    {"mixtral",
     {{"layers", "1"},
      {"hidden", "8"},
      {"heads", "4"},
      {"kv-heads", "2"},
      {"ffn", "6"},
      {"vocab", "11"},
      {"seq", "5"},
      {"batch", "2"},
      {"experts", "3"}}},
    {"qwen3-moe",
     {{"layers", "1"},
      {"hidden", "8"},
      {"heads", "4"},
      {"kv-heads", "2"},
      {"head-dim", "4"},
      {"ffn", "6"},
      {"vocab", "11"},
      {"seq", "5"},
      {"batch", "2"},
      {"experts", "3"},
      {"top-k", "2"}}},
    {"gpt-oss",
     {{"layers", "2"},
      {"hidden", "8"},
      {"heads", "4"},
      {"kv-heads", "2"},
      {"head-dim", "4"},
      {"ffn", "6"},
      {"vocab", "11"},
      {"seq", "5"},
      {"batch", "2"},
      {"experts", "3"},
      {"top-k", "2"},
      {"window", "2"}}},
    {"deepseek-v3",
     {{"layers", "2"},
      {"hidden", "8"},
      {"heads", "2"},
      {"head-dim", "4"},
      {"rope-dim", "2"},
      {"q-rank", "6"},
      {"kv-rank", "4"},
      {"ffn", "6"},
      {"expert-ffn", "4"},
      {"dense-layers", "1"},
      {"vocab", "11"},
      {"seq", "5"},
      {"batch", "2"},
      {"experts", "3"},
      {"top-k", "2"}}},
    {"nemotron-4",
     {{"layers", "1"},
      {"hidden", "8"},
      {"heads", "2"},
      {"kv-heads", "1"},
      {"vocab", "11"},
      {"seq", "5"},
      {"batch", "2"}}},
    {"mamba2",
     {{"layers", "2"},
      {"hidden", "4"},
      {"head-dim", "2"},
      {"state", "3"},
      {"chunk", "2"},
      {"vocab", "11"},
      {"seq", "6"},
      {"batch", "2"}}},
    {"vit",
     {{"layers", "1"},
      {"hidden", "6"},
      {"heads", "2"},
      {"image", "8"},
      {"patch", "4"},
      {"classes", "5"},
      {"batch", "2"}}},
    {"vit",
     {{"layers", "1"},
      {"hidden", "6"},
      {"heads", "2"},
      {"image", "8"},
      {"patch", "4"},
      {"classes", "5"},
      {"batch", "2"},
      {"layout", "nhwc"}}},
    {"dit",
     {{"layers", "1"},
      {"hidden", "8"},
      {"heads", "2"},
      {"image", "4"},
      {"patch", "2"},
      {"channels", "2"},
      {"classes", "3"},
      {"batch", "2"}}},
    {"unet", {{"hidden", "4"}, {"groups", "2"}, {"image", "8"}, {"channels", "2"}, {"batch", "2"}}},
    {"dlrm", {{"hidden", "3"}, {"ffn", "8"}, {"rows", "7"}, {"hot", "2"}, {"batch", "3"}}},
    {"resnet", {{"layers", "14"}, {"hidden", "2"}, {"image", "33"}, {"classes", "3"}, {"batch", "3"}}},
    {"resnet",
     {{"layers", "14"}, {"hidden", "1"}, {"image", "32"}, {"classes", "3"}, {"batch", "4"}, {"layout", "nhwc"}}},
    {"resnet",
     {{"layers", "14"}, {"hidden", "1"}, {"image", "32"}, {"classes", "3"}, {"batch", "4"}, {"batch-groups", "2"}}},
    {"moe-layers",
     {{"layers", "1"},
      {"hidden", "4"},
      {"heads", "2"},
      {"seq", "5"},
      {"batch", "2"},
      {"experts", "3"},
      {"top-k", "2"},
      {"capacity", "2"}}},
    {"mpt",
     {{"layers", "1"},
      {"hidden", "6"},
      {"heads", "3"},
      {"vocab", "7"},
      {"seq", "4"},
      {"batch", "2"},
      {"dropout", "30"},
      {"param-dtype", "same"}}},
    {"bert-layers", {{"layers", "1"}, {"hidden", "6"}, {"heads", "3"}, {"seq", "4"}, {"batch", "2"}}},
    {"conv", {{"layers", "2"}, {"hidden", "3"}, {"image", "6"}, {"classes", "4"}, {"batch", "2"}}},
};
enum { N_STEPS = sizeof kSteps / sizeof *kSteps };

static int arg_count(int row) {
  int n = 0;
  while (n < MAX_GEN && kSteps[row].args[n].name) n++;
  return n;
}

static void fill_args(step *s, uint64_t seed) {
  assert_in_range(s->g->n_args, 1, MAX_ARGS);
  for (int i = 0; i < s->g->n_args; i++) {
    const sw_value *v = &s->g->values[s->g->args[i]];
    const sw_type *t = &v->type;
    sw_fill fill = {.kind = SW_FILL_RANDOM, .seed = seed + (uint64_t)i, .limit = 0.8};
    if (t->dtype == SW_I32) {
      fill.kind = SW_FILL_INDEX;
      fill.limit = strcmp(v->name, "segments") == 0 ? 2 : 3;
    }
    assert_ok(sw_tensor_init(&s->args[i], t->dtype, t->rank, t->dims, &diag));
    assert_ok(sw_tensor_fill(&s->args[i], &fill, &diag));
  }
}

/* `more`: further parameters, up to one without a name. */
static void step_init_as(step *s, int row, const char *optimizer, const sw_gen_arg *more, uint64_t seed) {
  sw_gen_arg args[MAX_GEN + 4];
  int n = arg_count(row);
  memcpy(args, kSteps[row].args, (size_t)n * sizeof *args);
  args[n++] = (sw_gen_arg){"mode", "train"};
  args[n++] = (sw_gen_arg){"dtype", "f64"};
  args[n++] = (sw_gen_arg){"optimizer", optimizer};
  while (more->name) args[n++] = *more++;
  *s = (step){0};
  assert_ok(sw_gen_model(kSteps[row].arch, args, n, &s->g, &diag));
  fill_args(s, seed);
}

static void step_init(step *s, int row, const char *optimizer, uint64_t seed) {
  step_init_as(s, row, optimizer, (sw_gen_arg[]){{0}}, seed);
}

static void step_deinit(step *s) {
  for (int i = 0; i < s->g->n_args; i++) sw_tensor_deinit(&s->args[i]);
  sw_graph_destroy(s->g);
}

static void step_run(const step *s, sw_tensor *outputs) {
  const sw_buffer *args[MAX_ARGS];
  for (int i = 0; i < s->g->n_args; i++) args[i] = &s->args[i];
  const sw_exec_options options = {.poison = true};
  assert_ok(sw_exec_run(s->g, args, &options, outputs, &diag));
}

static void free_outputs(const step *s, sw_tensor *outputs) {
  for (int i = 0; i < s->g->n_outputs; i++) sw_tensor_deinit(&outputs[i]);
}

static double *doubles(const sw_tensor *t) { return (double *)t->data; }

static double loss_of(const step *s) {
  sw_tensor outputs[MAX_ARGS];
  step_run(s, outputs);
  double loss = doubles(&outputs[0])[0];
  free_outputs(s, outputs);
  return loss;
}

/* Argument whose new value is output i. */
static int arg_of_output(const step *s, int i) {
  for (int k = 0; k < s->g->n_args; k++) {
    if (s->g->args[k] == s->g->alias[i]) return k;
  }
  return -1;
}

/* The loss's slope when argument `arg` moves along `way`. */
static double slope(step *s, int arg, const double *way) {
  const double h = 1e-6;
  double *w = doubles(&s->args[arg]), loss[2];
  int64_t n = sw_buffer_elements(&s->args[arg]);
  for (int side = 0; side < 2; side++) {
    for (int64_t i = 0; i < n; i++) w[i] += (side ? -2 : 1) * h * way[i];
    loss[side] = loss_of(s);
  }
  for (int64_t i = 0; i < n; i++) w[i] += h * way[i];
  return (loss[0] - loss[1]) / (2 * h);
}

static void check_gradient(step *s, const char *what, int output, const sw_tensor *fresh, sw_rng *rng) {
  int arg = arg_of_output(s, output);
  int64_t n = sw_buffer_elements(&s->args[arg]);
  double *way = calloc((size_t)n, sizeof *way), want = 0, size = 0;
  assert_non_null(way);
  for (int64_t i = 0; i < n; i++) {
    double g = (doubles(&s->args[arg])[i] - doubles(fresh)[i]) / 0.01;
    way[i] = sw_rng_unit(rng) - 0.5;
    want += g * way[i];
    size += fabs(g * way[i]);
  }
  double got = slope(s, arg, way);
  free(way);
  if (fabs(got - want) > 1e-6 * (1 + size)) {
    fail_msg("%s: the loss changes by %.9g along '%s', its gradient says %.9g", what, got, s->g->output_names[output],
             want);
  }
}

static void check_gradients(step *s, const char *what, uint64_t seed) {
  sw_rng rng;
  sw_rng_seed(&rng, seed);
  sw_tensor outputs[MAX_ARGS];
  step_run(s, outputs);
  assert_true(isfinite(doubles(&outputs[0])[0]));
  for (int i = 1; i < s->g->n_outputs; i++)
    if (outputs[i].dtype == SW_F64) check_gradient(s, what, i, &outputs[i], &rng); /* not the state of random bits */
  free_outputs(s, outputs);
}

static void test_gradients(void **state) {
  (void)state;
  uint64_t seed = check_seed(31);
  for (int row = 0; row < N_STEPS; row++) {
    step s;
    step_init(&s, row, "sgd", seed);
    check_gradients(&s, kSteps[row].arch, seed);
    step_deinit(&s);
  }
}

static void resnet_init(step *s, const char *batch, const char *groups) {
  const sw_gen_arg args[] = {{"layers", "14"}, {"hidden", "1"},      {"image", "32"},
                             {"classes", "3"}, {"batch", batch},     {"mode", "train"},
                             {"dtype", "f64"}, {"optimizer", "sgd"}, {"batch-groups", groups}};
  *s = (step){0};
  assert_ok(sw_gen_model("resnet", args, sizeof args / sizeof *args, &s->g, &diag));
  fill_args(s, check_seed(13));
}

/* A step of a batch whose halves have statistics of their own is the mean of the steps of its halves. */
static void parts_of_a_batch_are_normalised_alone(void **state) {
  (void)state;
  step whole, half[2];
  sw_tensor out[3][MAX_ARGS];
  double far = 0;
  resnet_init(&whole, "4", "2");
  for (int h = 0; h < 2; h++) {
    resnet_init(&half[h], "2", "1");
    for (int i = 0; i < whole.g->n_args; i++) {
      const int64_t size = sw_dtype_bytes(whole.args[i].dtype), bytes = size * sw_buffer_elements(&half[h].args[i]);
      const int64_t shift = bytes < size * sw_buffer_elements(&whole.args[i]) ? h * bytes : 0;
      memcpy(half[h].args[i].data, (const char *)whole.args[i].data + shift, (size_t)bytes);
    }
    step_run(&half[h], out[h]);
  }
  step_run(&whole, out[2]);
  for (int i = 0; i < whole.g->n_outputs; i++) {
    for (int64_t k = 0; k < sw_buffer_elements(&out[2][i]); k++) {
      const double a = doubles(&out[0][i])[k], b = doubles(&out[1][i])[k];
      assert_true(fabs(doubles(&out[2][i])[k] - (a + b) / 2) <= 1e-9);
      far = fmax(far, fabs(a - b));
    }
  }
  assert_true(far > 1e-4); /* halves do differ */
  free_outputs(&whole, out[2]);
  step_deinit(&whole);
  for (int h = 0; h < 2; h++) {
    free_outputs(&half[h], out[h]);
    step_deinit(&half[h]);
  }
}

/* Ops that no architecture has: y, of parameters v and w, counts as much as c says, of either sign. */
static const char *const kOps[] = {
    "y = hypot(v, w)",
    "y = hypot(v, v)",
    "y = cumulative_logsumexp(w) 'dim':1",
    "y = cumulative_logsumexp(w) 'dim':0,'reversed':true",
    "q = reshape(v) 'shape':[1,1,3,5]; k = reshape(w) 'shape':[1,1,3,5]; o, n = attention(q, k, k) 'causal':true; "
    "y = reshape(o) 'shape':[3,5]",
    "q = reshape(v) 'shape':[1,3,1,5]; k = reshape(w) 'shape':[1,1,3,5]; b = broadcast_in_dim(x) 'shape':[1,1,1,3],"
    "'dims':[3]; o, n = attention(q, k, k, b) 'softcap':2; y = reshape(o) 'shape':[3,5]",
};

static void test_gradients_of_ops(void **state) {
  (void)state;
  uint64_t seed = check_seed(47);
  static const char kParameters[] =
      "{\"name\": \"v\", \"kind\": \"parameter\", \"dtype\": \"f64\", \"shape\": [3, 5]}, "
      "{\"name\": \"w\", \"kind\": \"parameter\", \"dtype\": \"f64\", \"shape\": [3, 5]}, "
      "{\"name\": \"x\", \"kind\": \"parameter\", \"dtype\": \"f64\", \"shape\": [3]}";
  for (size_t row = 0; row < sizeof kOps / sizeof *kOps; row++) {
    char ops[512];
    sw_graph *forward;
    step s = {0};
    snprintf(ops, sizeof ops, "%s; z = multiply(y, c); loss = reduce(z) 'kind':'sum','dims':[0,1]", kOps[row]);
    assert_ok(program_of("c f64 3,5", kParameters, ops, "loss", &forward, &diag));
    assert_ok(swg_train_step(forward, &(swg_how){.adam = false}, &s.g, &diag));
    fill_args(&s, seed);
    check_gradients(&s, kOps[row], seed);
    step_deinit(&s);
    sw_graph_destroy(forward);
  }
}

static bool drops_out(int row) {
  for (int i = 0; i < arg_count(row); i++)
    if (strcmp(kSteps[row].args[i].name, "dropout") == 0) return true;
  return false;
}

/* Both forms give the same, and the same gradients. */
static void compare_forms(sw_gen_param p, const char *const forms[2], bool undropped, uint64_t seed) {
  for (int row = 0; row < N_STEPS; row++) {
    int n;
    const sw_gen_arch *arch;
    sw_tensor outputs[2][MAX_ARGS];
    step s[2];
    assert_ok(sw_gen_arch_find(kSteps[row].arch, &arch, &diag));
    if (!sw_gen_default_of(arch, p, &n) || (undropped && drops_out(row))) continue;
    for (int k = 0; k < 2; k++) {
      step_init_as(&s[k], row, "sgd", (sw_gen_arg[]){{sw_gen_param_text(p), forms[k]}, {0}}, seed);
      step_run(&s[k], outputs[k]);
    }
    assert_int_equal(s[0].g->n_outputs, s[1].g->n_outputs);
    for (int i = 0; i < s[0].g->n_outputs; i++) {
      sw_difference difference;
      assert_string_equal(s[0].g->output_names[i], s[1].g->output_names[i]);
      assert_ok(sw_tensor_compare(&outputs[1][i], &outputs[0][i], (sw_tolerance){1e-9, 1e-12}, &difference, &diag));
      if (difference.differing) fail_msg("%s: '%s' differs", kSteps[row].arch, s[0].g->output_names[i]);
    }
    for (int k = 0; k < 2; k++) {
      free_outputs(&s[k], outputs[k]);
      step_deinit(&s[k]);
    }
  }
}

static void test_fused_attention(void **state) {
  (void)state;
  compare_forms(SW_GEN_ATTENTION, (const char *const[]){"plain", "fused"}, true,
                check_seed(53)); /* drops plain weights */
}

static void test_called_loss(void **state) {
  (void)state;
  compare_forms(SW_GEN_LOSS, (const char *const[]){"fused", "called"}, false, check_seed(59));
}

/* How far two lists of numbers point in other directions: 1 less the cosine between them. */
static double turned(const double *a, const double *b, int64_t n) {
  double ab = 0, aa = 0, bb = 0;
  for (int64_t i = 0; i < n; i++) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa > 0 && bb > 0 ? 1 - ab / sqrt(aa * bb) : 0;
}

/* All weights' gradients, one after another; the caller frees. */
static double *gradients_of(const step *s, const sw_tensor *outputs, int64_t *n) {
  double *all = NULL;
  *n = 0;
  for (int i = 1; i < s->g->n_outputs; i++) {
    if (outputs[i].dtype != SW_F64) continue;
    const int64_t more = sw_buffer_elements(&outputs[i]);
    const double *old = doubles(&s->args[arg_of_output(s, i)]);
    all = realloc(all, (size_t)(*n + more) * sizeof *all);
    assert_non_null(all);
    for (int64_t k = 0; k < more; k++) all[*n + k] = (old[k] - doubles(&outputs[i])[k]) / 0.01;
    *n += more;
  }
  return all;
}

/* With linear layers in eight bits loss and gradients are near those without, of every architecture that has them. */
static void test_eight_bits(void **state) {
  (void)state;
  static const char *const kTypes[] = {"f8", "f8-mixed"};
  uint64_t seed = check_seed(59);
  int tried = 0;
  for (int row = 0; row < N_STEPS; row++) {
    int n;
    const sw_gen_arch *arch;
    assert_ok(sw_gen_arch_find(kSteps[row].arch, &arch, &diag));
    if (!sw_gen_default_of(arch, SW_GEN_MATMUL_DTYPE, &n)) continue;
    step s[2];
    sw_tensor outputs[2][MAX_ARGS];
    double *g[2];
    int64_t sizes[2];
    for (int k = 0; k < 2; k++) {
      const sw_gen_arg more[] = {
          {"matmul-dtype", k ? kTypes[row % 2] : "same"}, {"convert", row % 3 ? "once" : "again"}, {0}};
      step_init_as(&s[k], row, "sgd", more, seed);
      step_run(&s[k], outputs[k]);
      g[k] = gradients_of(&s[k], outputs[k], &sizes[k]);
    }
    assert_int_equal(sizes[0], sizes[1]);
    const double loss = doubles(&outputs[0][0])[0], narrow = doubles(&outputs[1][0])[0];
    const double way = turned(g[0], g[1], sizes[0]);
    if (fabs(narrow - loss) > 0.1 * fabs(loss) || way > 0.05 || (narrow == loss && way == 0))
      fail_msg("%s: loss %g and %g, gradients %g apart", kSteps[row].arch, loss, narrow, way);
    for (int k = 0; k < 2; k++) {
      free(g[k]);
      free_outputs(&s[k], outputs[k]);
      step_deinit(&s[k]);
    }
    tried++;
  }
  assert_true(tried > 10);
}

static int output_named(const step *s, const char *name) {
  for (int i = 0; i < s->g->n_outputs; i++) {
    if (strcmp(s->g->output_names[i], name) == 0) return i;
  }
  fail_msg("no output '%s'", name);
  return -1;
}

/* One weight's step by the formulas of Kingma and Ba 2014, algorithm 1, in the order of its last paragraph. */
static void check_adam(const step *s, const sw_tensor *outputs, const char *weight, const double *gradient) {
  char name[128];
  const sw_tensor *fresh[3], *old[3];
  static const char *const kParts[] = {"", ".m", ".v"};
  for (int k = 0; k < 3; k++) {
    snprintf(name, sizeof name, "%s%s.new", weight, kParts[k]);
    int output = output_named(s, name);
    fresh[k] = &outputs[output];
    old[k] = &s->args[arg_of_output(s, output)];
  }
  double t = doubles(&outputs[output_named(s, "adam.step.new")])[0];
  for (int64_t i = 0; i < sw_buffer_elements(old[0]); i++) {
    double g = gradient[i], m = 0.9 * doubles(old[1])[i] + 0.1 * g, v = 0.999 * doubles(old[2])[i] + 0.001 * g * g;
    double rate = 1e-3 * sqrt(1 - pow(0.999, t)) / (1 - pow(0.9, t));
    assert_true(fabs(doubles(fresh[1])[i] - m) < 1e-9 && fabs(doubles(fresh[2])[i] - v) < 1e-9);
    double w = doubles(old[0])[i] - rate * m / (sqrt(v) + 1e-8);
    assert_true(fabs(doubles(fresh[0])[i] - w) < 1e-8);
  }
}

static void test_adam(void **state) {
  (void)state;
  const int row = 0;
  step plain, s;
  step_init(&plain, row, "sgd", 5);
  step_init(&s, row, "adam", 5);
  for (int i = 0; i < s.g->n_args; i++) {
    const char *name = s.g->values[s.g->args[i]].name;
    size_t n = strlen(name);
    double *x = doubles(&s.args[i]);
    if (strcmp(name, "adam.step") == 0) x[0] = 6;
    for (int64_t k = 0; n > 2 && strcmp(name + n - 2, ".v") == 0 && k < sw_buffer_elements(&s.args[i]); k++) {
      x[k] = fabs(x[k]);
    }
    for (int k = 0; k < plain.g->n_args; k++) {
      if (strcmp(plain.g->values[plain.g->args[k]].name, name) != 0) continue;
      sw_tensor_deinit(&s.args[i]);
      assert_ok(sw_tensor_copy(&s.args[i], &plain.args[k], &diag));
    }
  }
  sw_tensor by_sgd[MAX_ARGS], by_adam[MAX_ARGS];
  step_run(&plain, by_sgd);
  step_run(&s, by_adam);
  assert_true(doubles(&by_adam[output_named(&s, "adam.step.new")])[0] == 7);
  for (int i = 1; i < plain.g->n_outputs; i++) {
    const sw_tensor *w = &plain.args[arg_of_output(&plain, i)];
    int64_t n = sw_buffer_elements(w);
    double *gradient = calloc((size_t)n, sizeof *gradient);
    for (int64_t k = 0; k < n; k++) gradient[k] = (doubles(w)[k] - doubles(&by_sgd[i])[k]) / 0.01;
    check_adam(&s, by_adam, plain.g->values[plain.g->alias[i]].name, gradient);
    free(gradient);
  }
  free_outputs(&plain, by_sgd);
  free_outputs(&s, by_adam);
  step_deinit(&plain);
  step_deinit(&s);
}

static double element(const sw_tensor *t, int64_t i) {
  return sw_element_load(t->dtype, (const char *)t->data + i * sw_dtype_bytes(t->dtype));
}

static bool ends_in(const char *name, const char *end) {
  const size_t n = strlen(name), m = strlen(end);
  return n >= m && strcmp(name + n - m, end) == 0;
}

/* Makes scales and second moments positive, as a run would have them. */
static void make_positive(step *s) {
  for (int i = 0; i < s->g->n_args; i++) {
    const char *name = s->g->values[s->g->args[i]].name;
    sw_tensor *t = &s->args[i];
    if (!ends_in(name, ".scale") && !ends_in(name, ".v") && strcmp(name, "adam.step") != 0) continue;
    for (int64_t k = 0; k < sw_buffer_elements(t); k++)
      sw_element_store(t->dtype, fabs(element(t, k)), (char *)t->data + k * sw_dtype_bytes(t->dtype));
  }
}

static const sw_tensor *arg_of(const step *s, int output) { return &s->args[arg_of_output(s, output)]; }

/* A moment in eight bits: what it becomes of what it was, by the definition; as it is before it is rounded, in *exact.
 */
static void check_moment(const step *s, const sw_tensor *outputs, const char *name, double keep, const double *x,
                         double *exact) {
  char text[128];
  snprintf(text, sizeof text, "%s.new", name);
  const int values = output_named(s, text);
  snprintf(text, sizeof text, "%s.new.scale", name);
  const int scales = output_named(s, text);
  const sw_tensor *was = arg_of(s, values), *scale = arg_of(s, scales);
  const int64_t n = sw_buffer_elements(was), width = n / sw_buffer_elements(scale);
  assert_int_equal(was->dtype, SW_F8E4M3FN);
  assert_int_equal(scale->dtype, SW_F32);
  assert_int_equal(width, 96); /* a row of the matrix, or the bias */
  for (int64_t i = 0; i < n; i++) exact[i] = keep * element(was, i) * element(scale, i / width) + (1 - keep) * x[i];
  for (int64_t block = 0; block < n / width; block++) {
    double largest = 1e-12;
    for (int64_t i = block * width; i < (block + 1) * width; i++) largest = fmax(largest, fabs(exact[i]));
    const double size = element(&outputs[scales], block);
    assert_true(fabs(size * 448 - largest) <= 1e-6 * largest);
    for (int64_t i = block * width; i < (block + 1) * width; i++) { /* three bits behind the first, or steps of 2^-9 */
      const double off = fabs(element(&outputs[values], i) * size - exact[i]);
      assert_true(off <= fmax(fabs(exact[i]) / 16, size / 1024) * (1 + 1e-6));
    }
  }
}

static void check_adam_f8(const step *s, const sw_tensor *outputs, const sw_tensor *w, const char *weight,
                          const double *gradient) {
  const int64_t n = sw_buffer_elements(w);
  char name[128];
  double *m = calloc((size_t)n, sizeof *m), *v = calloc((size_t)n, sizeof *v), *square = calloc((size_t)n, sizeof *v);
  assert_true(m && v && square);
  for (int64_t i = 0; i < n; i++) square[i] = gradient[i] * gradient[i];
  snprintf(name, sizeof name, "%s.m", weight);
  check_moment(s, outputs, name, 0.9, gradient, m);
  snprintf(name, sizeof name, "%s.v", weight);
  check_moment(s, outputs, name, 0.999, square, v);
  snprintf(name, sizeof name, "%s.new", weight);
  const double t = doubles(&outputs[output_named(s, "adam.step.new")])[0];
  const double rate = 1e-3 * sqrt(1 - pow(0.999, t)) / (1 - pow(0.9, t));
  for (int64_t i = 0; i < n; i++) {
    const double want = doubles(w)[i] - rate * m[i] / (sqrt(v[i]) + 1e-8);
    assert_true(fabs(element(&outputs[output_named(s, name)], i) - want) < 1e-6 * (1 + fabs(want)));
  }
  free(m);
  free(v);
  free(square);
}

/* Moments in eight bits with a scale per block, against the definition in plain C. */
static void test_adam_in_eight_bits(void **state) {
  (void)state;
  const uint64_t seed = check_seed(61);
  step plain, s;
  sw_tensor by_sgd[MAX_ARGS], by_adam[MAX_ARGS];
  step_init_as(&plain, 0, "sgd", (sw_gen_arg[]){{"hidden", "96"}, {0}}, seed);
  step_init_as(&s, 0, "adam", (sw_gen_arg[]){{"hidden", "96"}, {"state-dtype", "f8"}, {0}}, seed);
  make_positive(&s);
  for (int i = 0; i < s.g->n_args; i++) {
    for (int k = 0; k < plain.g->n_args; k++) {
      if (strcmp(plain.g->values[plain.g->args[k]].name, s.g->values[s.g->args[i]].name) != 0) continue;
      sw_tensor_deinit(&s.args[i]);
      assert_ok(sw_tensor_copy(&s.args[i], &plain.args[k], &diag));
    }
  }
  step_run(&plain, by_sgd);
  step_run(&s, by_adam);
  for (int i = 1; i < plain.g->n_outputs; i++) {
    const sw_tensor *w = arg_of(&plain, i);
    const int64_t n = sw_buffer_elements(w);
    double *gradient = calloc((size_t)n, sizeof *gradient);
    assert_non_null(gradient);
    for (int64_t k = 0; k < n; k++) gradient[k] = (doubles(w)[k] - doubles(&by_sgd[i])[k]) / 0.01;
    check_adam_f8(&s, by_adam, w, plain.g->values[plain.g->alias[i]].name, gradient);
    free(gradient);
  }
  free_outputs(&plain, by_sgd);
  free_outputs(&s, by_adam);
  step_deinit(&plain);
  step_deinit(&s);
}

/* Twenty steps on the same batch make the loss smaller. */
static void test_learns(void **state) {
  (void)state;
  for (int row = 0; row < N_STEPS; row++) {
    step s;
    step_init(&s, row, "sgd", 3);
    double first = 0, last = 0;
    for (int k = 0; k < 20; k++) {
      sw_tensor outputs[MAX_ARGS];
      step_run(&s, outputs);
      last = doubles(&outputs[0])[0];
      if (k == 0) first = last;
      for (int i = 1; i < s.g->n_outputs; i++) {
        sw_tensor *arg = &s.args[arg_of_output(&s, i)], swap = *arg;
        *arg = outputs[i];
        outputs[i] = swap;
      }
      free_outputs(&s, outputs);
    }
    if (!(last < first)) fail_msg("%s: the loss went from %g to %g", kSteps[row].arch, first, last);
    step_deinit(&s);
  }
}

/* --- precision --- */

enum { N_MIXED = 3 };
static const char kMixedSize[] = "layers 2 hidden 16 heads 2 vocab 29 seq 6 batch 4 mode train optimizer sgd";

/* A step of mpt of that size with further parameters, in f32 arguments that are the same for every call. */
static void mixed_step(const char *more, step *s, sw_tensor *outputs) {
  sw_gen_arg args[MAX_GEN];
  char text[512], *rest = NULL;
  int n = 0;
  snprintf(text, sizeof text, "%s %s", kMixedSize, more);
  for (char *name = strtok_r(text, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
    args[n++] = (sw_gen_arg){name, strtok_r(NULL, " ", &rest)};
  }
  *s = (step){0};
  assert_ok(sw_gen_model("mpt", args, n, &s->g, &diag));
  fill_args(s, 17);
  step_run(s, outputs);
}

/* What the parameters moved by, of all of them, and how far it is from another step's. */
static double distance_of(const step *a, const sw_tensor *x, const step *b, const sw_tensor *y) {
  double off = 0, size = 0;
  for (int i = 1; i < a->g->n_outputs; i++) {
    const float *was = a->args[arg_of_output(a, i)].data, *mine = x[i].data, *other = y[i].data;
    assert_int_equal(a->g->n_outputs, b->g->n_outputs);
    for (int64_t k = 0; k < sw_buffer_elements(&x[i]); k++) {
      double moved = (double)mine[k] - (double)was[k], differs = (double)mine[k] - (double)other[k];
      off += differs * differs;
      size += moved * moved;
    }
  }
  return sqrt(off / size);
}

/* bf16 arithmetic on f32 parameters moves them as f32 arithmetic does, but for bf16's rounding; converting again for
 * the backward part changes no bit; gradients summed up in f32 are no worse. */
static void test_mixed(void **state) {
  (void)state;
  static const char *const kHow[N_MIXED] = {"dtype bf16", "dtype bf16 convert again", "dtype bf16 grad-dtype f32"};
  step exact, s[N_MIXED];
  sw_tensor want[MAX_ARGS], got[N_MIXED][MAX_ARGS];
  double off[N_MIXED];
  mixed_step("dtype f32", &exact, want);
  for (int k = 0; k < N_MIXED; k++) {
    mixed_step(kHow[k], &s[k], got[k]);
    off[k] = distance_of(&exact, want, &s[k], got[k]);
    print_message("%s: steps differ by %.2g of their size from those in f32\n", kHow[k], off[k]);
  }
  assert_true(off[0] > 0 && off[0] < 0.02);
  assert_true(off[1] == off[0]);
  assert_true(off[2] < off[0]);
  for (int k = 0; k < N_MIXED; k++) {
    free_outputs(&s[k], got[k]);
    step_deinit(&s[k]);
  }
  free_outputs(&exact, want);
  step_deinit(&exact);
}

/* A state space gives the same numbers however its positions are cut into chunks: 1 is the recurrence, all of them the
 * product with one matrix. */
static void test_chunks(void **state) {
  (void)state;
  static const char *const kChunks[] = {"6", "1", "2", "3"};
  sw_tensor want[MAX_ARGS], got[MAX_ARGS];
  for (size_t i = 0; i < sizeof kChunks / sizeof *kChunks; i++) {
    step s = {0};
    const sw_gen_arg args[] = {{"layers", "2"}, {"hidden", "8"},       {"head-dim", "4"},
                               {"state", "3"},  {"vocab", "11"},       {"seq", "6"},
                               {"batch", "2"},  {"chunk", kChunks[i]}, {"dtype", "f64"}};
    assert_ok(sw_gen_model("mamba2", args, sizeof args / sizeof *args, &s.g, &diag));
    fill_args(&s, 9);
    step_run(&s, i ? got : want);
    for (int64_t k = 0; i && k < sw_buffer_elements(&want[0]); k++) {
      assert_true(fabs(doubles(&got[0])[k] - doubles(&want[0])[k]) < 1e-9);
    }
    if (i) free_outputs(&s, got);
    if (i + 1 == sizeof kChunks / sizeof *kChunks) free_outputs(&s, want);
    step_deinit(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_of_a_batch_are_normalised_alone),
                                     cmocka_unit_test(test_gradients),
                                     cmocka_unit_test(test_gradients_of_ops),
                                     cmocka_unit_test(test_eight_bits),
                                     cmocka_unit_test(test_fused_attention),
                                     cmocka_unit_test(test_called_loss),
                                     cmocka_unit_test(test_adam),
                                     cmocka_unit_test(test_adam_in_eight_bits),
                                     cmocka_unit_test(test_learns),
                                     cmocka_unit_test(test_mixed),
                                     cmocka_unit_test(test_chunks)};
  return cmocka_run_group_tests_name("gen_train", tests, NULL, NULL);
}
