/* The generators: sizes and counts against published ones, names, aliases, bad and random parameters. */
#include <math.h>

#include "check.h"

#include "gen/gen.h"
#include "shardwright/exec.h"
#include "shardwright/request.h"

enum { MAX_ARGS = 32 };

typedef struct arg_list {
  sw_gen_arg at[MAX_ARGS];
  int n;
  char text[512];
} arg_list;

/* "layers=2 hidden=32" as arguments. */
static void parse_args(const char *text, arg_list *list) {
  list->n = 0;
  snprintf(list->text, sizeof list->text, "%s", text);
  char *rest = NULL;
  for (char *word = strtok_r(list->text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    char *equals = strchr(word, '=');
    assert_non_null(equals);
    *equals = '\0';
    list->at[list->n++] = (sw_gen_arg){word, equals + 1};
  }
}

static sw_rc generate(const char *arch, const char *text, sw_graph **out, sw_diag *d) {
  arg_list list;
  parse_args(text, &list);
  return sw_gen_model(arch, list.at, list.n, out, d);
}

static int64_t elements_of_kind(const sw_graph *g, sw_value_kind kind) {
  int64_t sum = 0;
  for (int32_t i = 0; i < g->n_values; i++) {
    if (g->values[i].kind == kind) sum += sw_type_elements(&g->values[i].type);
  }
  return sum;
}

static double total_flops(const sw_graph *g) {
  double sum = 0;
  for (int32_t i = 0; i < g->n_ops; i++) {
    double flops, bytes;
    sw_op_work(g, &g->ops[i], NULL, &flops, &bytes);
    sum += flops;
  }
  return sum;
}

/* Every state comes back once, in its own type, and nothing is computed in vain. */
static void check_program(const sw_graph *g) {
  for (int32_t i = 0; i < g->n_ops; i++) {
    int uses = 0;
    for (int k = 0; k < g->ops[i].n_results; k++) uses += g->values[g->ops[i].results[k]].n_uses;
    if (uses == 0) fail_msg("op '%s' has no use", g->ops[i].name);
  }
  int states = 0, returned = 0;
  for (int i = 0; i < g->n_args; i++) states += g->values[g->args[i]].kind == SW_VALUE_STATE;
  for (int i = 0; i < g->n_outputs; i++) {
    if (g->alias[i] < 0) continue;
    returned++;
    for (int j = 0; j < i; j++) assert_true(g->alias[j] != g->alias[i]);
    assert_true(sw_type_equal(&g->values[g->alias[i]].type, &g->values[g->outputs[i]].type));
  }
  assert_int_equal(states, returned);
}

/* Published numbers of weights; ResNet's count each scale and shift and no running statistics. */
static const struct {
  const char *arch, *args;
  int64_t weights;
} kCounts[] = {
    {"rfc-mlp", "", 2 * 8 * 32},
    {"gpt2", "", 124439808},
    {"gpt2-medium", "", 354823168},
    {"gpt2-large", "", 774030080},
    {"gpt2-xl", "", 1557611200},
    {"gpt2", "mode=decode", 124439808},
    /* The released MPT-7B and MPT-30B, which have no table of positions. */
    {"mpt-7b", "vocab=50432", 6649286656 + 2048 * 4096},
    {"mpt-30b", "vocab=50432", 29957200896 + 2048 * 7168},
    {"bert", "", 109514298},
    {"llama3-8b", "", 8030261248},
    {"llama3-8b", "mode=decode batch=16", 8030261248},
    {"llama3-70b", "", 70553706496},
    {"llama3-405b", "seq=16", 405853388800},
    {"qwen3-30b-a3b", "seq=16", 30532122624},
    {"qwen3-235b-a22b", "seq=16", 235093634560},
    {"gpt-oss-20b", "seq=16", 20914757184},
    {"gpt-oss-120b", "seq=16", 116829156672},
    {"deepseek-v3", "seq=16", 671026419200}, /* the main model, corrections of the router included */
    {"mixtral-8x7b", "", 46702792704},
    /* The papers' 12.5 and 3.1 billion, 331.6 and 9.4 billion, to the last weight of the sizes in their tables. */
    {"nemotron-4-15b", "seq=16", 12482248704 + 2 * 6144 * (2 * 32 + 1) + 3145728000},
    {"nemotron-4-340b", "seq=16", 331584897024 + 2 * 18432 * (2 * 96 + 1) + 9437184000},
    {"mamba2", "seq=256", 128989632},
    {"mamba2-2.7b", "seq=256", 2702599680},
    {"dit", "batch=1", 675129632 - 256 * 1152}, /* the released one counts its fixed table of places */
    {"unet", "batch=1", 35746307},
    {"dlrm", "batch=2", 26137996161}, /* 204,184,588 rows of 128, and two networks */
    {"vit-l16", "", 304326632},
    {"vit-l16", "layout=nhwc", 304326632},
    {"vit", "layers=12 hidden=768 heads=12", 86567656},
    {"resnet50", "", 25557032},
    {"resnet50", "layout=nhwc", 25557032},
    {"resnet101", "", 44549160},
    {"resnet152", "", 60192808},
};

static void test_counts(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kCounts / sizeof *kCounts; i++) {
    sw_graph *g;
    assert_ok(generate(kCounts[i].arch, kCounts[i].args, &g, &diag));
    assert_ok(sw_graph_verify(g, &diag));
    check_program(g);
    int64_t weights = elements_of_kind(g, SW_VALUE_PARAMETER);
    if (weights != kCounts[i].weights) {
      fail_msg("%s %s has %lld weights; expected %lld", kCounts[i].arch, kCounts[i].args, (long long)weights,
               (long long)kCounts[i].weights);
    }
    sw_graph_destroy(g);
  }
}

/* Dense transformers: 2 (weights in matrices) + 4 layers * seq * heads * head-dim per token (Chowdhery et al. 2022,
 * appendix B, without the backward pass); images: multiply-adds that torchvision states, twice,
 * of which up to 4 % are with padding, that is not counted here. */
static const struct {
  const char *arch, *args;
  double flops;
} kFlops[] = {
    {"gpt2", "batch=1", 1024 * (2 * (85054464.0 + 50257 * 768) + 4.0 * 12 * 1024 * 768)},
    {"llama3-8b", "seq=2048", 2048 * (2 * (8030261248.0 - 128256 * 4096.0) + 4.0 * 32 * 2048 * 4096)},
    {"vit-l16", "batch=1", 2 * 61.55e9},
    {"resnet50", "batch=1", 2 * 4.09e9},
    {"resnet152", "batch=1 layout=nhwc", 2 * 11.51e9},
};

static void test_flops(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kFlops / sizeof *kFlops; i++) {
    sw_graph *g;
    assert_ok(generate(kFlops[i].arch, kFlops[i].args, &g, &diag));
    double flops = total_flops(g);
    print_message("%s %s: %.4g flops, published %.4g\n", kFlops[i].arch, kFlops[i].args, flops, kFlops[i].flops);
    assert_true(fabs(flops / kFlops[i].flops - 1) < 0.04);
    sw_graph_destroy(g);
  }
}

/* A training step does the contractions of the forward pass three times, less those by data. */
static void test_train_flops(void **state) {
  (void)state;
  sw_graph *g;
  assert_ok(generate("mlp", "layers=6 batch=256 hidden=32", &g, &diag));
  double forward = total_flops(g);
  sw_graph_destroy(g);
  assert_ok(generate("mlp", "layers=6 batch=256 hidden=32 mode=train", &g, &diag));
  double ratio = total_flops(g) / forward;
  assert_true(ratio > 17.0 / 6 && ratio < 3.2);
  sw_graph_destroy(g);
}

static const struct {
  const char *arch, *args, *value, *type;
} kNames[] = {
    {"gpt2", "layers=4", "h.3.attn.wq", "f32[768,12,64]"},
    {"gpt2", "layers=1", "h.0.mlp.w_in", "f32[768,3072]"},
    {"gpt2", "layers=1", "h.0.ln_1.weight", "f32[768]"},
    {"gpt2", "layers=1 batch=2", "logits", "f32[2,1024,50257]"},
    {"llama3", "layers=2", "layers.1.attn.wq", "bf16[4096,8,4,128]"},
    {"llama3", "layers=2", "layers.1.attn.wk", "bf16[4096,8,128]"},
    {"llama3", "layers=1 mode=decode seq=64 batch=3", "layers.0.attn.k_cache", "bf16[3,64,8,128]"},
    {"mixtral", "layers=1", "layers.0.moe.w_gate", "bf16[8,4096,14336]"},
    {"mixtral", "layers=1", "layers.0.moe.in", "bf16[8,8,640,4096]"},
    {"vit", "layers=1 batch=2", "embed.tokens", "f32[2,197,1024]"},
    {"resnet50", "batch=2", "stage.3.2.relu_3", "f32[2,2048,7,7]"},
    {"mlp-train", "", "layers.0.w", "f32[4096,4096]"},
    {"mlp-train", "", "layers.0.w.new", "f32[4096,4096]"},
};

static void test_names(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    sw_graph *g;
    assert_ok(generate(kNames[i].arch, kNames[i].args, &g, &diag));
    sw_id v = sw_graph_value_named(g, kNames[i].value);
    if (v < 0) fail_msg("%s has no value '%s'", kNames[i].arch, kNames[i].value);
    sw_text text = {0};
    sw_type_print(&g->values[v].type, &text);
    assert_string_equal(sw_text_str(&text), kNames[i].type);
    sw_text_free(&text);
    sw_graph_destroy(g);
  }
}

static const struct {
  const char *arch, *args;
  int states;
} kStates[] = {
    {"llama3", "mode=decode layers=3 hidden=16 heads=4 kv-heads=2 ffn=8 vocab=9 seq=5", 6},
    {"mixtral", "mode=decode layers=2 hidden=16 heads=4 kv-heads=2 ffn=8 vocab=9 seq=5 experts=3", 4},
    {"qwen3-moe", "mode=decode layers=2 hidden=16 heads=4 kv-heads=2 head-dim=4 ffn=8 vocab=9 seq=5 experts=3 top-k=2",
     4},
    {"gpt-oss",
     "mode=decode layers=2 hidden=16 heads=4 kv-heads=2 head-dim=4 ffn=8 vocab=9 seq=5 experts=3 top-k=2 window=3", 4},
    {"mlp", "mode=train layers=3 hidden=4 batch=2", 3},
    {"mlp", "mode=train layers=3 hidden=4 batch=2 bias=yes optimizer=adam", 19},
    {"gpt2", "mode=train layers=1 hidden=8 heads=2 vocab=7 seq=3 batch=2 optimizer=sgd", 20},
    {"bert", "mode=train layers=1 hidden=8 heads=2 vocab=7 seq=3 batch=2 optimizer=sgd", 26},
    {"llama3", "mode=train layers=1 hidden=8 heads=2 kv-heads=1 ffn=6 vocab=7 seq=3 batch=2 dtype=bf16", 37},
    {"mixtral", "mode=train layers=1 hidden=8 heads=2 kv-heads=1 ffn=6 vocab=7 seq=3 batch=2 experts=3 dtype=f32", 40},
    {"vit", "mode=train layers=1 hidden=8 heads=2 image=8 patch=4 classes=3 batch=2 optimizer=sgd", 24},
    {"resnet", "mode=train layers=14 hidden=2 image=32 classes=3 batch=2 layout=nhwc", 53},
    {"conv-train", "layers=2 hidden=2 image=6 classes=3 batch=2", 4},
};

static void test_state(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kStates / sizeof *kStates; i++) {
    sw_graph *g;
    assert_ok(generate(kStates[i].arch, kStates[i].args, &g, &diag));
    int states = 0;
    for (int k = 0; k < g->n_args; k++) states += g->values[g->args[k]].kind == SW_VALUE_STATE;
    if (states != kStates[i].states) {
      fail_msg("%s %s has %d states; expected %d", kStates[i].arch, kStates[i].args, states, kStates[i].states);
    }
    check_program(g);
    sw_graph_destroy(g);
  }
}

/* Bytes of state per parameter of a training step, beside the count of steps (Rajbhandari et al. 2019, section 3.1,
 * less the gradients and the copy that ops use, which are no arguments). */
static const struct {
  const char *args;
  int64_t bytes;
} kPrecisions[] = {
    {"dtype=f32 param-dtype=same", 4 + 4 + 4},      {"dtype=bf16 param-dtype=f32", 4 + 4 + 4},
    {"dtype=bf16 param-dtype=same", 2 + 4 + 4},     {"dtype=bf16 param-dtype=f32 state-dtype=bf16", 4 + 2 + 2},
    {"dtype=f16 param-dtype=f32 optimizer=sgd", 4},
};

/* Bytes of Adam's two moments in eight bits and of the scales of their blocks, by the sizes of mpt: rows of `hidden`
 * and of four times that in blocks of 256, heads in blocks of their own. */
static int64_t eight_bit_moments(int64_t layers, int64_t hidden, int64_t heads, int64_t vocab, int64_t seq) {
  const int64_t in_rows = (vocab + seq) * hidden + layers * (8 * hidden * hidden + 2 * hidden) + hidden;
  const int64_t of_heads = layers * 4 * hidden * hidden, head = hidden / heads;
  const int64_t out_rows = layers * hidden * hidden; /* the output matrix of attention ends in a row */
  return 2 * (in_rows + of_heads) + 2 * 4 * ((in_rows + out_rows) / 256 + (of_heads - out_rows) / head);
}

static int64_t state_bytes(const sw_graph *g);
static void test_eight_bit_state_bytes(void **state) {
  (void)state;
  sw_graph *g;
  static const char kSizes[] = "layers=2 hidden=512 heads=4 vocab=64 seq=16 batch=2";
  char args[256];
  assert_ok(generate("mpt", kSizes, &g, &diag));
  const int64_t parameters = elements_of_kind(g, SW_VALUE_PARAMETER);
  sw_graph_destroy(g);
  snprintf(args, sizeof args, "mode=train state-dtype=f8 %s", kSizes);
  assert_ok(generate("mpt", args, &g, &diag));
  assert_int_equal(state_bytes(g), 4 * parameters + eight_bit_moments(2, 512, 4, 64, 16) + 4);
  sw_graph_destroy(g);
}

static int64_t state_bytes(const sw_graph *g) {
  int64_t sum = 0;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    if (v->kind == SW_VALUE_STATE) sum += sw_type_elements(&v->type) * sw_dtype_bytes(v->type.dtype);
  }
  return sum;
}

static void test_state_bytes(void **state) {
  (void)state;
  sw_graph *g;
  for (size_t i = 0; i < sizeof kPrecisions / sizeof *kPrecisions; i++) {
    char args[256];
    snprintf(args, sizeof args, "layers=2 hidden=32 heads=4 vocab=61 seq=8 batch=2 %s", kPrecisions[i].args);
    assert_ok(generate("mpt", args, &g, &diag));
    int64_t parameters = elements_of_kind(g, SW_VALUE_PARAMETER);
    sw_graph_destroy(g);
    snprintf(args, sizeof args, "mode=train layers=2 hidden=32 heads=4 vocab=61 seq=8 batch=2 %s", kPrecisions[i].args);
    assert_ok(generate("mpt", args, &g, &diag));
    int64_t step = strstr(args, "sgd") ? 0 : 4;
    assert_int_equal(state_bytes(g), parameters * kPrecisions[i].bytes + step);
    sw_graph_destroy(g);
  }
}

static int conversions_of(const sw_graph *g, const sw_value *v) {
  int n = 0;
  for (int32_t i = 0; i < v->n_uses; i++) n += v->uses[i].op >= 0 && g->ops[v->uses[i].op].code == SW_OP_CONVERT;
  return n;
}

/* A parameter that is stored in another type is converted once, or once more for the backward part. */
static void test_conversions(void **state) {
  (void)state;
  static const char *const kWhen[] = {"once", "again"};
  for (int again = 0; again < 2; again++) {
    sw_graph *g;
    char args[128];
    snprintf(args, sizeof args, "mode=train layers=2 hidden=16 heads=4 vocab=61 seq=8 batch=2 convert=%s",
             kWhen[again]);
    assert_ok(generate("mpt", args, &g, &diag));
    for (int32_t i = 0; i < g->n_args; i++) {
      const sw_value *v = &g->values[g->args[i]];
      size_t n = strlen(v->name);
      bool matrix = strstr(v->name, ".w") && v->type.rank >= 2 && strchr("qkvotn", v->name[n - 1]);
      if (matrix && strcmp(v->name + n - 2, ".v") != 0) assert_int_equal(conversions_of(g, v), 1 + again);
    }
    sw_graph_destroy(g);
  }
}

/* Nothing of a loss has the shape of the logits but what is made of them. */
static void test_labels(void **state) {
  (void)state;
  sw_graph *g;
  assert_ok(generate("gpt2", "mode=train layers=1 hidden=8 heads=2 vocab=61 seq=3 batch=2", &g, &diag));
  int classes = 0;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    if (strncmp(op->name, "loss.", 5) != 0) continue;
    const sw_type *t = &g->values[op->results[0]].type;
    if (t->rank == 3 && t->dims[2] == 61) {
      classes++;
      assert_true(sw_dtype_class_of(t->dtype) == SW_CLASS_FLOAT && op->code != SW_OP_CONVERT && op->code != SW_OP_IOTA);
    }
  }
  print_message("%d values of the loss have classes\n", classes);
  assert_true(classes <= 8);
  sw_graph_destroy(g);
}

static const struct {
  const char *arch, *args, *message;
} kErrors[] = {
    {"gpt3", "", "no architecture is called 'gpt3'; did you mean 'gpt2'?"},
    {"gpt2", "depth=3", "no parameter is called 'depth'"},
    {"gpt2", "experts=3", "architecture 'gpt2' has no parameter 'experts'"},
    {"gpt2", "hidden=100 heads=12", "hidden 100 is not a multiple of heads 12"},
    {"llama3", "heads=30 head-dim=128", "heads 30 is not a multiple of kv-heads 8"},
    {"llama3", "head-dim=5", "width of a head is 5; expected an even number"},
    {"gpt2", "layers=0", "layers"},
    {"gpt2", "layers=two", "layers"},
    {"gpt2", "hidden=-768", "hidden"},
    {"bert", "mode=decode", "mode is 'decode'; 'bert' has forward|train"},
    {"gpt2", "mode=forward|train|decode", "mode is 'forward|train|decode'"},
    {"gpt2", "dtype=i32", "dtype is 'i32'"},
    {"mixtral", "top-k=9", "top-k 9 is more than experts 8"},
    {"vit", "patch=15", "image 224 is not a multiple of patch 15"},
    {"resnet", "layers=51", "layers is 51; expected 14, 26, 50, 101 or 152"},
    {"rfc-mlp", "mesh=x=2,y=2", "has 2 axes; this variant needs 1"},
    {"rfc-mlp", "mesh=x=", "the text ends too early; expected the size of an axis"},
};

static void test_errors(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kErrors / sizeof *kErrors; i++) {
    diag = (sw_diag){0};
    sw_graph *g = NULL;
    assert_int_equal(generate(kErrors[i].arch, kErrors[i].args, &g, &diag), SW_E_INPUT);
    if (!strstr(diag.text, kErrors[i].message)) {
      fail_msg("%s %s says '%s'; expected '%s'", kErrors[i].arch, kErrors[i].args, diag.text, kErrors[i].message);
    }
  }
}

/* A value for a parameter: mostly small, sometimes absurd. */
static void random_value(sw_gen_param p, sw_rng *rng, char *out, size_t size) {
  const char *choices = sw_gen_param_words(p);
  if (choices) {
    size_t at = (size_t)(sw_rng_next(rng) % strlen(choices));
    while (at > 0 && choices[at - 1] != '|') at--;
    snprintf(out, size, "%.*s", (int)strcspn(choices + at, "|"), choices + at);
  } else if (p == SW_GEN_MESH) {
    snprintf(out, size, "%s", sw_rng_next(rng) % 2 ? "x=2" : "a=2,b=3,c=1");
  } else if (sw_rng_next(rng) % 40 == 0) {
    snprintf(out, size, "%d", INT32_MAX);
  } else {
    snprintf(out, size, "%d", (int)(sw_rng_next(rng) % (p == SW_GEN_LAYERS ? 3 : 17)));
  }
}

static void test_random(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(20));
  int good = 0, n = check_scale(400);
  for (int i = 0; i < n; i++) {
    int count = 0;
    while (sw_gen_arch_at(count)) count++;
    const sw_gen_arch *a = sw_gen_arch_at((int)(sw_rng_next(&rng) % (uint64_t)count));
    const sw_gen_arch *base = sw_gen_base_of(a);
    sw_gen_arg args[MAX_ARGS];
    char text[MAX_ARGS][32];
    const char *list = base->params, *value;
    int n_params = 0, length;
    for (sw_gen_param p = SW_GEN_PARAM_COUNT; sw_gen_next_param(&list, &p, &value, &length); n_params++) {
      assert_true(p < SW_GEN_PARAM_COUNT);
      random_value(p, &rng, text[n_params], sizeof text[n_params]);
      args[n_params] = (sw_gen_arg){sw_gen_param_text(p), text[n_params]};
    }
    sw_graph *g = NULL;
    sw_rc rc = sw_gen_model(a->name, args, n_params, &g, &diag);
    if (rc && rc != SW_E_INPUT) {
      sw_diag_print(&diag, stderr, true);
      fail_msg("%s returned %d", a->name, (int)rc);
    }
    if (rc) continue;
    good++;
    assert_ok(sw_graph_verify(g, &diag));
    check_program(g);
    sw_graph_destroy(g);
  }
  print_message("%d of %d built\n", good, n);
  assert_true(good > n / 10);
}

/* Allocation failures end in a message, not in a crash or a leak. */
static void test_out_of_memory(void **state) {
  (void)state;
  for (long k = 1; k < 2000; k += 7) {
    sw_graph *g = NULL;
    sw_mem_fail_after(k);
    sw_rc rc = generate("mlp", "mode=train layers=2 hidden=4 batch=2 optimizer=adam", &g, &diag);
    sw_mem_fail_after(0);
    if (!rc) {
      sw_graph_destroy(g);
      break;
    }
    assert_int_equal(rc, SW_E_RESOURCE);
  }
}

/* Annotations of the RFC's variants, as text. */
static void annotation_text(const sw_graph *g, sw_text *out) {
  for (int32_t i = 0; i < g->written->n_annotations; i++) {
    const sw_annotation *a = &g->written->annotations[i];
    if (a->value >= 0) {
      sw_text_printf(out, "%s%s ", g->values[a->value].name, a->for_users ? "'" : "");
      sw_sharding_print(&g->written->mesh, &a->sharding, out);
    } else {
      sw_text_printf(out, "op %s loop %d ", g->ops[a->op].name, a->loop_of[0]);
      sw_axis_ref_print(&g->written->mesh, a->loop_refs[0], out);
    }
    sw_text_puts(out, "; ");
    assert_true(a->required);
  }
}

static const struct {
  const char *args, *annotations;
} kRfc[] = {
    {"", "x [[],[],[x]]; y [[],[],[]] partial sum[x]; y' [[],[],[x]]; "},
    {"variant=1d-operations", "x [[],[],[x]]; y' [[],[],[x]]; op y loop 3 x; "},
    {"variant=2d",
     "x [[],[],[x,y,z]]; x' [[],[],[x]]; h [[],[],[y,z]] partial sum[x]; h' [[],[],[y,z,x]]; relu [[],[],[y,z,x]]; "
     "relu' [[],[],[y,z]]; y [[],[],[x]] partial sum[y,z]; y' [[],[],[x,y,z]]; "},
    {"variant=plain", ""},
};

static void test_rfc(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kRfc / sizeof *kRfc; i++) {
    sw_graph *g;
    assert_ok(generate("rfc-mlp", kRfc[i].args, &g, &diag));
    sw_text text = {0};
    annotation_text(g, &text);
    assert_string_equal(sw_text_str(&text), kRfc[i].annotations);
    sw_text_free(&text);
    sw_graph_destroy(g);
  }
}

/* --- clipped gradients -------------------------------------------------------------------------------------------- */

enum { MOST_VALUES = 256 };

/* A step with random numbers: how far each state moves, behind each other; how many numbers. */
static int64_t moves_of_step(const char *arch, const char *most, double *moves, int64_t room) {
  sw_gen_arg args[] = {{"mode", "train"}, {"dtype", "f64"}, {"optimizer", "sgd"}, {"clip-norm", most}, {"layers", "2"},
                       {"hidden", "8"},   {"batch", "4"},   {"heads", "2"},       {"vocab", "11"},     {"seq", "5"}};
  sw_graph *g;
  sw_tensor in[MOST_VALUES], out[MOST_VALUES];
  const sw_buffer *at[MOST_VALUES];
  int64_t n = 0;
  assert_ok(sw_gen_model(arch, args, strcmp(arch, "mlp") == 0 ? 7 : 10, &g, &diag));
  assert_true(g->n_args <= MOST_VALUES && g->n_outputs <= MOST_VALUES);
  for (int i = 0; i < g->n_args; i++) {
    const sw_type *t = &g->values[g->args[i]].type;
    const sw_fill fill = {.kind = t->dtype == SW_I32 ? SW_FILL_INDEX : SW_FILL_RANDOM, .seed = (uint64_t)i, .limit = 2};
    assert_ok(sw_tensor_init(&in[i], t->dtype, t->rank, t->dims, &diag));
    assert_ok(sw_tensor_fill(&in[i], &fill, &diag));
    at[i] = &in[i];
  }
  assert_ok(sw_exec_run(g, at, &(sw_exec_options){.poison = true}, out, &diag));
  for (int i = 1; i < g->n_outputs; i++) {
    const sw_tensor *was = &in[g->values[g->alias[i]].def_index];
    for (int64_t k = 0; k < sw_buffer_elements(was) && n < room; k++)
      moves[n++] = ((const double *)out[i].data)[k] - ((const double *)was->data)[k];
  }
  for (int i = 0; i < g->n_args; i++) sw_tensor_deinit(&in[i]);
  for (int i = 0; i < g->n_outputs; i++) sw_tensor_deinit(&out[i]);
  sw_graph_destroy(g);
  return n;
}

/* It moves as one that does not clip, times min(1, most / norm of all gradients); sgd moves by 0.01 of these. */
static void clipped_steps_are_shorter(void **state) {
  (void)state;
  enum { ROOM = 1 << 14 };
  static const char *const kArchs[] = {"mlp", "gpt2", "bert"}, *const kMost[] = {"1e-3", "0.5", "1e9"};
  static double plain[ROOM], clipped[ROOM];
  for (int a = 0; a < 3; a++) {
    const int64_t n = moves_of_step(kArchs[a], "0", plain, ROOM);
    double squares = 0;
    for (int64_t k = 0; k < n; k++) squares += plain[k] * plain[k] * 1e4;
    for (int m = 0; m < 3; m++) {
      const double times = fmin(1, strtod(kMost[m], NULL) / (sqrt(squares) + 1e-6));
      assert_true(m == 0 ? times < 0.9 : m == 1 || times == 1);
      assert_int_equal(moves_of_step(kArchs[a], kMost[m], clipped, ROOM), n);
      for (int64_t k = 0; k < n; k++) assert_true(fabs(clipped[k] - times * plain[k]) <= 1e-12 + 1e-9 * fabs(plain[k]));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_flops),
      cmocka_unit_test(test_train_flops),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_state),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_rfc),
      cmocka_unit_test(test_state_bytes),
      cmocka_unit_test(test_eight_bit_state_bytes),
      cmocka_unit_test(test_conversions),
      cmocka_unit_test(test_labels),
      cmocka_unit_test(clipped_steps_are_shorter),
  };
  return cmocka_run_group_tests_name("gen", tests, NULL, NULL);
}
