/* Kernels of random graphs and of small models: every op is in one; they can run one after the other; what is kept
 * inside is read nowhere else; and softmax, an epilogue, an update in place by hand. */
#include "check.h"

#include "shardwright/kernel.h"
#include "gen/gen.h"
#include "support/program.h"
#include "support/meshes.h"

static const char *const kCompilers[] = {"none", "eager", "xla", "xla-cpu", "inductor", "ideal"};
enum { N_COMPILERS = sizeof kCompilers / sizeof *kCompilers };

static bool is_again(const sw_kernels *k, sw_id op) { return k->why[op] == SW_APART_AGAIN; }

/* Kernels that an op reads from are earlier ones, those made again being dissolved in it. */
static void reads_earlier(const sw_graph *g, const sw_kernels *k, sw_id op, int32_t kernel) {
  for (int i = 0; i < g->ops[op].n_operands; i++) {
    const sw_id def = g->values[g->ops[op].operands[i]].def;
    if (def < 0) continue;
    if (is_again(k, def))
      reads_earlier(g, k, def, kernel);
    else
      assert_true(k->of[def] <= kernel);
  }
}

static void frames_are_kept(const sw_graph *g, const sw_kernels *k, sw_id *first) {
  for (int32_t i = 0; i < k->n; i++) first[i] = -1;
  for (sw_id i = 0; i < g->n_ops; i++) {
    assert_true(k->of[i] >= 0 && k->of[i] < k->n);
    if (first[k->of[i]] < 0) first[k->of[i]] = i;
    assert_int_equal(g->ops[first[k->of[i]]].frame, g->ops[i].frame);
  }
  for (int32_t i = 0; i < k->n; i++) assert_true(first[i] >= 0);
}

/* Is the value read by another kernel, or delivered? */
static bool leaves(const sw_graph *g, const sw_kernels *k, sw_id value) {
  const sw_value *v = &g->values[value];
  for (int32_t u = 0; u < v->n_uses; u++)
    if (v->uses[u].op < 0 || k->of[v->uses[u].op] != k->of[v->def]) return true;
  return v->n_uses == 0;
}

static void values_are_kept(const sw_graph *g, const sw_kernels *k) {
  for (sw_id v = 0; v < g->n_values; v++) {
    const sw_id def = g->values[v].def;
    const sw_keeping keeping = (sw_keeping)k->keeping[v];
    if (def < 0) assert_int_equal(keeping, SW_KEPT_STORED);
    if (keeping == SW_KEPT_INSIDE) assert_false(leaves(g, k, v));
    if (keeping == SW_KEPT_AGAIN) assert_true(is_again(k, def));
    if (keeping == SW_KEPT_IN_PLACE) assert_true(k->updates[v] >= 0);
  }
}

/* Ports inside cost nothing, and nobody reads more under a compiler than alone. */
static void traffic_is_of_borders(const sw_graph *g, const sw_kernels *k, double *sum) {
  *sum = 0;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    const double *width = &k->width[k->port[i]];
    double read, written;
    sw_kernels_traffic(g, k, op, NULL, &read, &written);
    assert_true(read >= 0 && written >= 0);
    if (is_again(k, i)) assert_true(read + written <= 0 && !k->launches[i]);
    for (int r = 0; r < op->n_results; r++)
      if (k->keeping[op->results[r]] == SW_KEPT_INSIDE) assert_true(width[op->n_operands + r] <= 0);
    *sum += read + written;
  }
}

static void check_kernels(sw_graph *g, uint64_t seed) {
  double alone = 0, sum;
  for (int c = 0; c < N_COMPILERS; c++) {
    sw_arena a = {0};
    const sw_kernels *k;
    assert_ok(sw_kernels_find(g, kCompilers[c], &a, &k, &diag));
    sw_id *first = calloc((size_t)g->n_ops + 1, sizeof *first);
    frames_are_kept(g, k, first);
    free(first);
    for (sw_id i = 0; i < g->n_ops; i++)
      if (!is_again(k, i)) reads_earlier(g, k, i, k->of[i]);
    values_are_kept(g, k);
    traffic_is_of_borders(g, k, &sum);
    if (c == 0) assert_int_equal(k->n, g->n_ops);
    if (c == 0) alone = sum;
    if (sum > alone && strcmp(k->compiler, "xla-cpu") != 0) {
      print_message("seed %llu, %s: %g bytes, %g alone\n", (unsigned long long)seed, k->compiler, sum, alone);
      fail();
    }
    sw_arena_deinit(&a);
  }
}

static sw_graph *model_of(const char *args, const char *ops, const char *outputs) {
  sw_graph *g;
  assert_ok(program_of(args, NULL, ops, outputs, &g, &diag));
  return g;
}

/* Matrices of 8 x 8, and rows of them spread out again. */
static void random_model(sw_rng *rng, sw_text *ops, int n) {
  static const char *const kUnary[] = {"exponential", "negate", "tanh", "sqrt"};
  static const char *const kBinary[] = {"add", "multiply", "divide", "maximum"};
  for (int i = 0; i < n; i++) {
    const int a = (int)sw_rng_below(rng, (int64_t)i + 2), b = (int)sw_rng_below(rng, (int64_t)i + 2);
    sw_text_printf(ops, i ? "; v%d = " : "v%d = ", i + 2);
    switch (sw_rng_below(rng, 6)) {
      case 0:
        sw_text_printf(ops, "%s(v%d)", kUnary[sw_rng_below(rng, 4)], a);
        break;
      case 1:
      case 2:
        sw_text_printf(ops, "%s(v%d, v%d)", kBinary[sw_rng_below(rng, 4)], a, b);
        break;
      case 3:
        sw_text_printf(ops, "transpose(v%d) 'permutation':[1,0]", a);
        break;
      case 4:
        sw_text_printf(ops, "dot_general(v%d, v%d) 'lhs_contract':[1], 'rhs_contract':[0]", a, b);
        break;
      default:
        sw_text_printf(ops, "broadcast_in_dim(r%d) 'shape':[8,8], 'dims':[%d]", i, (int)sw_rng_below(rng, 2));
        break;
    }
    sw_text_printf(ops, "; r%d = reduce(v%d) 'kind':'sum', 'dims':[%d]", i + 1, i + 2, (int)sw_rng_below(rng, 2));
  }
}

static void random_graphs(void **state) {
  (void)state;
  uint64_t seed = check_seed(1);
  for (int round = 0; round < check_scale(60); round++, seed++) {
    sw_rng rng;
    sw_text ops = {0};
    char out[32];
    sw_rng_seed(&rng, seed);
    const int n = 4 + (int)sw_rng_below(&rng, 60);
    sw_text_puts(&ops, "r0 = reduce(v0) 'kind':'sum', 'dims':[1]; ");
    random_model(&rng, &ops, n);
    snprintf(out, sizeof out, "v%d, v%d", n + 1, n / 2 + 2);
    sw_graph *g = model_of("v0 f32 8,8; v1 f32 8,8", sw_text_str(&ops), out);
    check_kernels(g, seed);
    sw_graph_destroy(g);
    sw_text_free(&ops);
  }
}

static void small_models(void **state) {
  (void)state;
  static const char *const kModels[] = {"mlp-train",        "gpt2-train", "llama3-decode", "mixtral",
                                        "moe-layers-train", "conv-train", "bert-train"};
  for (size_t i = 0; i < sizeof kModels / sizeof *kModels; i++) {
    sw_graph *g = small_model(kModels[i]);
    check_kernels(g, i);
    sw_graph_destroy(g);
  }
}

/* How many kernels launch, and what all read and write, of programs whose answer is known. */
typedef struct known {
  const char *compiler, *args, *ops, *outputs;
  int launches;
  double bytes;
} known;

#define SOFTMAX                                                                                    \
  "m = reduce(x) 'kind':'max', 'dims':[1]; mm = broadcast_in_dim(m) 'shape':[16,32], 'dims':[0]; " \
  "d = subtract(x, mm); e = exponential(d); s = reduce(e) 'kind':'sum', 'dims':[1]; "              \
  "ss = broadcast_in_dim(s) 'shape':[16,32], 'dims':[0]; y = divide(e, ss)"
#define BIASED                                                                                               \
  "h = dot_general(x, w) 'lhs_contract':[1], 'rhs_contract':[0]; bb = broadcast_in_dim(b) 'shape':[16,16], " \
  "'dims':[1]; "                                                                                             \
  "y = add(h, bb)"

/* Eight heads of 16 positions and 8 numbers; one head of keys for all, values in f32. */
#define ATTENDED_ARGS "q bf16 1,8,16,8; k bf16 16,8; v f32 1,8,16,8"
#define ATTENDED                                                                                                    \
  "kk = broadcast_in_dim(k) 'shape':[1,8,16,8], 'dims':[2,3]; vv = convert(v) 'dtype':'bf16'; y, l = attention(q, " \
  "kk, vv)"
#define ATTENDED_BYTES (2 * 128 + 2 * 1024 + 4 * 1024 + 2 * 1024 + 2 * 4 * 1024 + 4 * 128)

static const known kKnown[] = {
    {"xla", "x f32 16,32", SOFTMAX, "y", 1, 2 * 16 * 32 * 4},
    {"eager", "x f32 16,32", SOFTMAX, "y", 1, 2 * 16 * 32 * 4},
    {"ideal", "x f32 16,32", SOFTMAX, "y", 1, 2 * 16 * 32 * 4},
    {"xla", "x f32 16,8; w f32 8,16; b f32 16", BIASED, "y", 1, 4 * (16 * 8 + 8 * 16 + 16 + 16 * 16)},
    {"eager", "x f32 16,8; w f32 8,16; b f32 16", BIASED, "y", 2, 4 * (16 * 8 + 8 * 16 + 16 * 16) + 4 * (2 * 256 + 16)},
    {"xla", "x f32 8,8", "a = negate(x); b = negate(a); c = negate(b)", "c", 1, 2 * 256},
    {"eager", "x f32 8,8; z f32 8,8", "a = add(x, z); c = multiply(a, z)", "c", 2, 6 * 256},
    /* a library call reads what lies in memory: heads that are spread and values that are cast are written first */
    {"eager", ATTENDED_ARGS, ATTENDED, "y", 3, ATTENDED_BYTES},
    {"inductor", ATTENDED_ARGS, ATTENDED, "y", 3, ATTENDED_BYTES},
    {"xla", ATTENDED_ARGS, ATTENDED, "y", 3, ATTENDED_BYTES},
    {"ideal", ATTENDED_ARGS, ATTENDED, "y", 1, 2 * 1024 + 2 * 128 + 4 * 1024 + 2 * 1024 + 4 * 128},
    /* what nobody reads of constants is not made */
    {"xla", "x f32 8,8", "t = iota() 'shape':[8],'dtype':'f32','dim':0; c = negate(x)", "c", 1, 2 * 256},
    {"none", "x f32 8,8", "t = iota() 'shape':[8],'dtype':'f32','dim':0; c = negate(x)", "c", 2, 32 + 2 * 256},
    /* the cast is made again: both read the narrow values */
    {"xla", "x bf16 8,8; z f32 8,8",
     "a = convert(x) 'dtype':'f32'; b = dot_general(a, z) 'lhs_contract':[1], "
     "'rhs_contract':[0]; c = negate(a)",
     "b, c", 2, 128 + 2 * 256 + 128 + 256},
};

static void known_programs(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kKnown / sizeof *kKnown; i++) {
    sw_arena a = {0};
    const sw_kernels *k;
    double sum;
    int launches = 0;
    sw_graph *g = model_of(kKnown[i].args, kKnown[i].ops, kKnown[i].outputs);
    assert_ok(sw_kernels_find(g, kKnown[i].compiler, &a, &k, &diag));
    traffic_is_of_borders(g, k, &sum);
    for (sw_id op = 0; op < g->n_ops; op++) launches += k->launches[op];
    if (launches != kKnown[i].launches || sum < kKnown[i].bytes - 1e-6 || sum > kKnown[i].bytes + 1e-6) {
      print_message("%s of %s: %d launches, %g bytes; expected %d, %g\n", kKnown[i].compiler, kKnown[i].ops, launches,
                    sum, kKnown[i].launches, kKnown[i].bytes);
      fail();
    }
    sw_arena_deinit(&a);
    sw_graph_destroy(g);
  }
}

/* A linear layer of 4096 x 2048 activations and 2048 x 2048 weights in bf16, in MiB: 16, 8 and a result of 16. */
static const struct {
  const char *matmul, *param, *compiler;
  int launches, mib;
} kLinear[] = {
    /* the largest of each factor, each factor made narrow, the product with its scales */
    {"f8", "same", "eager", 5, 16 + (16 + 8) + 8 + (8 + 4) + (8 + 4 + 16)},
    {"f8", "same", "inductor", 5, 16 + (16 + 8) + 8 + (8 + 4) + (8 + 4 + 16)},
    {"f8", "same", "xla", 5, 16 + (16 + 8) + 8 + (8 + 4) + (8 + 4 + 16)},
    {"f8", "same", "ideal", 3, (16 + 8) + (8 + 4) + (8 + 4 + 16)},
    {"f8", "f8", "inductor", 3, 16 + (16 + 8) + (8 + 4 + 16)},
    /* one call that widens the weight */
    {"same", "f8", "eager", 1, 16 + 4 + 16},
    {"same", "f8", "inductor", 1, 16 + 4 + 16},
    {"same", "f8", "xla", 1, 16 + 4 + 16},
    {"same", "same", "inductor", 1, 16 + 8 + 16},
};

static void layers_in_eight_bits(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kLinear / sizeof *kLinear; i++) {
    const sw_gen_arg args[] = {{"layers", "1"},
                               {"batch", "4096"},
                               {"hidden", "2048"},
                               {"dtype", "bf16"},
                               {"matmul-dtype", kLinear[i].matmul},
                               {"param-dtype", kLinear[i].param}};
    sw_arena a = {0};
    const sw_kernels *k;
    double sum;
    int launches = 0;
    sw_graph *g;
    assert_ok(sw_gen_model("mlp", args, sizeof args / sizeof *args, &g, &diag));
    assert_ok(sw_kernels_find(g, kLinear[i].compiler, &a, &k, &diag));
    traffic_is_of_borders(g, k, &sum);
    for (sw_id op = 0; op < g->n_ops; op++) launches += k->launches[op];
    const double mib = 1 << 20, scalars = 100;
    if (launches != kLinear[i].launches || sum < kLinear[i].mib * mib || sum > kLinear[i].mib * mib + scalars)
      fail_msg("%s, weights in %s, %s: %d launches, %g MiB", kLinear[i].matmul, kLinear[i].param, kLinear[i].compiler,
               launches, sum / mib);
    sw_arena_deinit(&a);
    sw_graph_destroy(g);
  }
}

static void unknown_compiler(void **state) {
  (void)state;
  diag = (sw_diag){0};
  sw_arena a = {0};
  const sw_kernels *k;
  sw_graph *g = model_of("x f32 8", "y = negate(x)", "y");
  assert_int_equal(sw_kernels_find(g, "gcc", &a, &k, &diag), SW_E_INPUT);
  assert_non_null(strstr(diag.text, "'gcc' is no compiler"));
  sw_graph_destroy(g);
  sw_arena_deinit(&a);
}

/* Optimizers of libraries give all states of a parameter at once: no more traffic than where a compiler fuses them. */
static void eager_updates_are_fused(void **state) {
  (void)state;
  static const char *const kUnder[] = {"eager", "inductor"};
  static const sw_gen_arg kArgs[] = {
      {"mode", "train"}, {"optimizer", "adam"}, {"layers", "1"}, {"batch", "8"}, {"hidden", "1024"}};
  double moved[2];
  for (int i = 0; i < 2; i++) {
    sw_arena a = {0};
    const sw_kernels *k;
    sw_graph *g;
    assert_ok(sw_gen_model("mlp", kArgs, sizeof kArgs / sizeof *kArgs, &g, &diag));
    assert_ok(sw_kernels_find(g, kUnder[i], &a, &k, &diag));
    traffic_is_of_borders(g, k, &moved[i]);
    sw_arena_deinit(&a);
    sw_graph_destroy(g);
  }
  assert_true(moved[0] <= 1.1 * moved[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(eager_updates_are_fused),
                                     cmocka_unit_test(random_graphs),
                                     cmocka_unit_test(small_models),
                                     cmocka_unit_test(known_programs),
                                     cmocka_unit_test(layers_in_eight_bits),
                                     cmocka_unit_test(unknown_compiler)};
  return cmocka_run_group_tests_name("kernel_partition", tests, NULL, NULL);
}
