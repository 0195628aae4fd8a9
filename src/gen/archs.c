/* The table of architectures and presets, the reading of their parameters, and sw_gen_model.
 *
 *   sw_gen_model("llama3-70b", {{"seq", "4096"}}, 1, ...)
 *     llama3's defaults  ->  layers=80 hidden=8192 ... (the preset)  ->  seq=4096  ->  swg_build_llama
 */
#include <stdio.h>
#include <string.h>

#include "gen/arch.h"
#include "gen/train.h"
#include "base/nearest.h"

typedef struct param_info {
  const char *text, *choices, *help;
} param_info;

static const param_info kParams[SW_GEN_PARAM_COUNT] = {
#define SW_X(id, text, value, choices, help) {text, choices, help},
    SW_GEN_PARAMS(SW_X)
#undef SW_X
};

/* Ranges other than 1 .. 2^31-1. */
static const struct {
  sw_gen_param param;
  int64_t min, max;
} kRanges[] = {
    {SW_GEN_LAYERS, 1, 4096},
    {SW_GEN_KV_HEADS, 0, INT32_MAX},
    {SW_GEN_HEAD_DIM, 0, INT32_MAX},
    {SW_GEN_DROPOUT, 0, 99},
    {SW_GEN_FFN, 0, INT32_MAX},
    {SW_GEN_CAPACITY, 0, INT32_MAX},
    {SW_GEN_DENSE_LAYERS, 0, INT32_MAX},
};

typedef struct arch_row {
  sw_gen_arch arch;
  swg_build build;
} arch_row;

/* What every model that can be trained has; the same but for precision of its own. */
#define TRAINED_ALSO "grad-dtype=same|f32 state-dtype=f32|bf16|f8 convert=once|again clip-norm=0"
#define TRAINED_IN "param-dtype=same|f32 " TRAINED_ALSO
#define IN_EIGHT_BITS "matmul-dtype=same|f8|f8-mixed "
#define LINEAR_IN IN_EIGHT_BITS "param-dtype=same|f32|f8 " TRAINED_ALSO
#define ATTENTION " attention=plain|fused loss=fused|called"
#define MIXED_IN IN_EIGHT_BITS "param-dtype=f32|same|f8 " TRAINED_ALSO

static const arch_row kArchs[] = {
    {{.name = "rfc-mlp",
      .help = "two matrices with maximum(x, 0) between, annotated",
      .source = "the sharding framework RFC's end-to-end examples",
      .params = "variant=1d-tensors|1d-operations|2d|plain mesh= batch=2 seq=4 hidden=8 ffn=32 dtype=f32|bf16|f16|f64"},
     swg_build_rfc_mlp},
    {{.name = "mlp",
      .help = "a stack of square matrices with relu",
      .source = "any size",
      .params = "mode=forward|train layers=4 batch=4096 hidden=4096 bias=no|yes dtype=f32|bf16|f16|f64 "
                "optimizer=sgd|adam " LINEAR_IN},
     swg_build_mlp},
    {{.name = "gpt2",
      .help = "GPT-2 (small): learned positions, layer norm before each block, gelu, tied output",
      .source = "Radford et al. 2019; the openai-community/gpt2 configuration",
      .params = "mode=forward|train|decode layers=12 hidden=768 heads=12 head-dim=0 ffn=0 vocab=50257 seq=1024 batch=8 "
                "dropout=0 dtype=f32|bf16|f16|f64 optimizer=adam|sgd " LINEAR_IN ATTENTION},
     swg_build_gpt2},
    {{.name = "mpt",
      .help =
          "MPT (125M): learned positions, layer norm before each block, gelu, tied output, no biases; f32 parameters",
      .source = "mosaicml/llm-foundry, scripts/train/yamls/pretrain/mpt-*.yaml; benchmarking/README.md",
      .params = "mode=forward|train|decode layers=12 hidden=768 heads=12 head-dim=0 ffn=0 vocab=50368 seq=2048 batch=8 "
                "dropout=0 dtype=bf16|f32|f16|f64 optimizer=adam|sgd " MIXED_IN ATTENTION},
     swg_build_mpt},
    {{.name = "bert",
      .help = "BERT (base): layer norm after each block, masked-language-model head, tied output",
      .source = "Devlin et al. 2018, arXiv:1810.04805",
      .params = "mode=forward|train layers=12 hidden=768 heads=12 head-dim=0 ffn=0 vocab=30522 seq=512 batch=8 "
                "dtype=f32|bf16|f16|f64 optimizer=adam|sgd " LINEAR_IN ATTENTION},
     swg_build_bert},
    {{.name = "bert-layers",
      .help = "the layers of bert alone, from activations to activations",
      .source = "as bert",
      .params = "mode=forward|train layers=12 hidden=768 heads=12 head-dim=0 ffn=0 seq=512 batch=8 "
                "dtype=f32|bf16|f16|f64 optimizer=adam|sgd " LINEAR_IN ATTENTION},
     swg_build_bert_layers},
    {{.name = "llama3",
      .help = "Llama 3 (8B): rms norm, rotary positions, grouped-query attention, gated silu",
      .source = "Grattafiori et al. 2024, arXiv:2407.21783, table 3",
      .params = "mode=forward|decode|train layers=32 hidden=4096 heads=32 kv-heads=8 head-dim=0 ffn=14336 vocab=128256 "
                "seq=8192 batch=1 dtype=bf16|f32|f16|f64 optimizer=adam|sgd " LINEAR_IN ATTENTION},
     swg_build_llama},
    {{.name = "mixtral",
      .help = "Mixtral (8x7B): Llama's attention, top-k mixture of experts with dispatch and combine einsums",
      .source = "Jiang et al. 2024, arXiv:2401.04088, table 1; dispatch as in GShard, arXiv:2006.16668",
      .params = "mode=forward|train|decode layers=32 hidden=4096 heads=32 kv-heads=8 head-dim=0 ffn=14336 vocab=32000 "
                "seq=2048 batch=8 experts=8 top-k=2 capacity=0 dtype=bf16|f32|f16|f64 optimizer=adam|sgd " LINEAR_IN
                    ATTENTION},
     swg_build_mixtral},
    {{.name = "qwen3-moe",
      .help = "Qwen3 (30B-A3B): mixtral with an rms norm of each query and key head",
      .source = "Yang et al. 2025, arXiv:2505.09388, table 2; the Qwen/Qwen3-30B-A3B configuration",
      .params = "mode=forward|train|decode layers=48 hidden=2048 heads=32 kv-heads=4 head-dim=128 ffn=768 vocab=151936 "
                "seq=4096 batch=8 experts=128 top-k=8 capacity=0 dtype=bf16|f32|f16|f64 optimizer=adam|sgd " LINEAR_IN
                    ATTENTION},
     swg_build_qwen3_moe},
    {{.name = "gpt-oss",
      .help = "gpt-oss (20B): mixtral with biases, attention sinks, a window in every other layer, a clamped gate",
      .source = "OpenAI 2025, arXiv:2508.10925; the openai/gpt-oss-20b configuration",
      .params = "mode=forward|train|decode layers=24 hidden=2880 heads=64 kv-heads=8 head-dim=64 ffn=2880 vocab=201088 "
                "seq=4096 batch=8 experts=32 top-k=4 capacity=0 window=128 dtype=bf16|f32|f16|f64 "
                "optimizer=adam|sgd " LINEAR_IN},
     swg_build_gpt_oss},
    {{.name = "deepseek-v3",
      .help = "DeepSeek-V3 (671B): latent attention, sigmoid router, a shared expert; no multi-token prediction",
      .source = "DeepSeek-AI 2024, arXiv:2412.19437, section 4.2; the deepseek-ai/DeepSeek-V3 configuration",
      .params = "mode=forward|train layers=61 hidden=7168 heads=128 head-dim=128 rope-dim=64 q-rank=1536 kv-rank=512 "
                "ffn=18432 dense-layers=3 expert-ffn=2048 experts=256 top-k=8 capacity=0 vocab=129280 seq=4096 batch=8 "
                "dtype=bf16|f32|f16|f64 optimizer=adam|sgd " LINEAR_IN},
     swg_build_deepseek},
    {{.name = "nemotron-4",
      .help = "Nemotron-4 (15B): layer norms, half of each head turned, squared relu, grouped-query attention",
      .source = "Parmar et al. 2024, arXiv:2402.16819, table 1; Adler et al. 2024, arXiv:2406.11704, table 1",
      .params = "mode=forward|train layers=32 hidden=6144 heads=48 kv-heads=8 head-dim=0 ffn=0 vocab=256000 seq=4096 "
                "batch=1 dtype=bf16|f32|f16|f64 optimizer=adam|sgd " LINEAR_IN},
     swg_build_nemotron},
    {{.name = "moe-layers",
      .help = "the layers of mixtral alone, from activations to activations",
      .source = "as mixtral",
      .params = "mode=forward|train layers=1 hidden=4096 heads=32 kv-heads=0 head-dim=0 ffn=0 seq=2048 batch=8 "
                "experts=8 top-k=2 capacity=0 dtype=f32|bf16|f16|f64 optimizer=adam|sgd " LINEAR_IN ATTENTION},
     swg_build_moe_layers},
    {{.name = "mamba2",
      .help = "Mamba-2 (130M): state spaces worked on in chunks, gated rms norm, tied output",
      .source = "Dao and Gu 2024, arXiv:2405.21060; the state-spaces/mamba2-130m configuration",
      .params = "mode=forward|train layers=24 hidden=768 head-dim=64 state=128 chunk=256 vocab=50288 seq=2048 batch=8 "
                "dtype=bf16|f32|f16|f64 optimizer=adam|sgd " LINEAR_IN},
     swg_build_mamba2},
    {{.name = "vit",
      .help = "Vision Transformer (ViT-L/16): patches by a convolution, class token, learned positions",
      .source = "Dosovitskiy et al. 2020, arXiv:2010.11929, table 1",
      .params =
          "mode=forward|train layers=24 hidden=1024 heads=16 head-dim=0 ffn=0 image=224 patch=16 channels=3 "
          "classes=1000 batch=64 layout=nchw|nhwc dtype=f32|bf16|f16|f64 optimizer=adam|sgd " LINEAR_IN ATTENTION},
     swg_build_vit},
    {{.name = "dit",
      .help = "diffusion transformer (DiT-XL/2): norms shifted, scaled and gated by time and class",
      .source = "Peebles and Xie 2023, arXiv:2212.09748, table 1; facebookresearch/DiT",
      .params = "mode=forward|train layers=28 hidden=1152 heads=16 head-dim=0 ffn=0 image=32 patch=2 channels=4 "
                "classes=1000 batch=256 layout=nchw|nhwc dtype=f32|bf16|f16|f64 optimizer=adam|sgd " LINEAR_IN},
     swg_build_dit},
    {{.name = "unet",
      .help = "diffusion U-Net (DDPM, 32 pixels): residual blocks at four sizes, attention at half the size",
      .source = "Ho et al. 2020, arXiv:2006.11239, appendix B; hojonathanho/diffusion",
      .params = "mode=forward|train hidden=128 groups=32 image=32 channels=3 batch=128 dtype=f32|bf16|f16|f64 "
                "optimizer=adam|sgd " TRAINED_IN},
     swg_build_unet},
    {{.name = "dlrm",
      .help = "recommendation by tables (DLRM at MLPerf's sizes): sums of rows, products of pairs, two networks",
      .source = "Naumov et al. 2019, arXiv:1906.00091; mlcommons/training, recommendation_v2/torchrec_dlrm",
      .params = "mode=forward|train hidden=128 ffn=1024 rows=40000000 hot=100 batch=65536 dtype=f32|bf16|f16|f64 "
                "optimizer=sgd|adam " TRAINED_IN},
     swg_build_dlrm},
    {{.name = "resnet",
      .help =
          "ResNet (50), stride on the 3x3 convolution; scale and shift for batch norm, batch statistics in training",
      .source = "He et al. 2015, arXiv:1512.03385, table 1; torchvision's resnet50",
      .params = "mode=forward|train layers=50 hidden=64 image=224 channels=3 classes=1000 batch=64 batch-groups=1 "
                "layout=nchw|nhwc dtype=f32|bf16|f16|f64 optimizer=sgd|adam " TRAINED_IN},
     swg_build_resnet},
    {{.name = "conv",
      .help = "a stack of 3x3 convolutions and a classifier",
      .source = "any size",
      .params = "mode=forward|train layers=4 hidden=64 image=32 channels=3 classes=10 batch=256 layout=nchw|nhwc "
                "dtype=f32|bf16|f16|f64 optimizer=sgd|adam " TRAINED_IN},
     swg_build_conv},
};
enum { N_ARCHS = sizeof kArchs / sizeof *kArchs };

static const sw_gen_arch kPresets[] = {
    {.name = "mlp-train", .help = "a training step of mlp", .base = "mlp", .presets = "mode=train"},
    {.name = "alpa-mlp-data",
     .help = "the MLP step that is best split by batch",
     .source = "Alpa, tests/shard_parallel/test_mlp.py",
     .base = "mlp",
     .presets = "mode=train layers=6 batch=256 hidden=32 bias=yes"},
    {.name = "alpa-mlp-tensor",
     .help = "the MLP step that is best split by columns and rows",
     .source = "Alpa, tests/shard_parallel/test_mlp.py",
     .base = "mlp",
     .presets = "mode=train layers=6 batch=32 hidden=256 bias=yes"},
    {.name = "gpt2-medium", .help = "GPT-2 medium", .base = "gpt2", .presets = "layers=24 hidden=1024 heads=16"},
    {.name = "gpt2-large", .help = "GPT-2 large", .base = "gpt2", .presets = "layers=36 hidden=1280 heads=20"},
    {.name = "gpt2-xl", .help = "GPT-2 XL", .base = "gpt2", .presets = "layers=48 hidden=1600 heads=25"},
    {.name = "mpt-125m", .help = "MPT 125M", .base = "mpt"},
    {.name = "mpt-350m", .help = "MPT 350M", .base = "mpt", .presets = "layers=24 hidden=1024 heads=16"},
    {.name = "mpt-760m", .help = "MPT 760M", .base = "mpt", .presets = "layers=24 hidden=1536 heads=12"},
    {.name = "mpt-1b", .help = "MPT 1B", .base = "mpt", .presets = "layers=24 hidden=2048 heads=16"},
    {.name = "mpt-3b", .help = "MPT 3B", .base = "mpt", .presets = "layers=32 hidden=2560 heads=20"},
    {.name = "mpt-7b", .help = "MPT 7B", .base = "mpt", .presets = "layers=32 hidden=4096 heads=32"},
    {.name = "mpt-13b", .help = "MPT 13B", .base = "mpt", .presets = "layers=40 hidden=5120 heads=40"},
    {.name = "mpt-30b", .help = "MPT 30B", .base = "mpt", .presets = "layers=48 hidden=7168 heads=56"},
    {.name = "mpt-70b", .help = "MPT 70B", .base = "mpt", .presets = "layers=80 hidden=8192 heads=64"},
    {.name = "alpa-bert-data",
     .help = "a step of BERT's layers that is best split by batch",
     .source = "Alpa, tests/shard_parallel/test_bert.py",
     .base = "bert-layers",
     .presets = "mode=train layers=2 hidden=32 heads=8 seq=64 batch=64"},
    {.name = "alpa-bert-tensor",
     .help = "a step of BERT's layers that is best split by heads, columns and rows",
     .source = "Alpa, tests/shard_parallel/test_bert.py",
     .base = "bert-layers",
     .presets = "mode=train layers=2 hidden=128 heads=8 seq=8 batch=8"},
    {.name = "alpa-moe",
     .help = "a mixture-of-experts step that is best split by experts and batch",
     .source = "Alpa, tests/shard_parallel/test_moe.py",
     .base = "moe-layers",
     .presets = "mode=train hidden=64 heads=16 seq=16 batch=64 experts=16 capacity=2"},
    {.name = "llama3-8b", .help = "Llama 3 8B", .base = "llama3"},
    {.name = "llama3-70b",
     .help = "Llama 3 70B",
     .base = "llama3",
     .presets = "layers=80 hidden=8192 heads=64 ffn=28672"},
    {.name = "llama3-405b",
     .help = "Llama 3 405B",
     .base = "llama3",
     .presets = "layers=126 hidden=16384 heads=128 ffn=53248"},
    {.name = "mixtral-8x7b", .help = "Mixtral 8x7B", .base = "mixtral"},
    {.name = "qwen3-30b-a3b", .help = "Qwen3 30B-A3B", .base = "qwen3-moe"},
    {.name = "qwen3-235b-a22b",
     .help = "Qwen3 235B-A22B",
     .base = "qwen3-moe",
     .presets = "layers=94 hidden=4096 heads=64 ffn=1536"},
    {.name = "gpt-oss-20b", .help = "gpt-oss-20b", .base = "gpt-oss"},
    {.name = "gpt-oss-120b", .help = "gpt-oss-120b", .base = "gpt-oss", .presets = "layers=36 experts=128"},
    {.name = "mamba2-370m", .help = "Mamba-2 370M", .base = "mamba2", .presets = "layers=48 hidden=1024"},
    {.name = "mamba2-780m", .help = "Mamba-2 780M", .base = "mamba2", .presets = "layers=48 hidden=1536"},
    {.name = "mamba2-1.3b", .help = "Mamba-2 1.3B", .base = "mamba2", .presets = "layers=48 hidden=2048"},
    {.name = "mamba2-2.7b", .help = "Mamba-2 2.7B", .base = "mamba2", .presets = "layers=64 hidden=2560"},
    {.name = "nemotron-4-15b", .help = "Nemotron-4 15B", .base = "nemotron-4"},
    {.name = "nemotron-4-340b",
     .help = "Nemotron-4 340B",
     .base = "nemotron-4",
     .presets = "layers=96 hidden=18432 heads=96"},
    {.name = "vit-l16", .help = "ViT-L/16 at 224 pixels", .base = "vit"},
    {.name = "dit-xl-2", .help = "DiT-XL/2 on latents of 256 pixels", .base = "dit"},
    {.name = "dit-b-4", .help = "DiT-B/4", .base = "dit", .presets = "layers=12 hidden=768 heads=12 patch=4"},
    {.name = "resnet50", .help = "ResNet-50", .base = "resnet"},
    {.name = "resnet101", .help = "ResNet-101", .base = "resnet", .presets = "layers=101"},
    {.name = "resnet152", .help = "ResNet-152", .base = "resnet", .presets = "layers=152"},
    {.name = "conv-train", .help = "a training step of conv", .base = "conv", .presets = "mode=train"},
};
enum { N_PRESETS = sizeof kPresets / sizeof *kPresets };

const char *sw_gen_param_text(sw_gen_param p) { return kParams[p].text; }
const char *sw_gen_param_help(sw_gen_param p) { return kParams[p].help; }
const char *sw_gen_param_words(sw_gen_param p) { return kParams[p].choices; }

const sw_gen_arch *sw_gen_arch_at(int i) {
  if (i < 0 || i >= N_ARCHS + N_PRESETS) return NULL;
  return i < N_ARCHS ? &kArchs[i].arch : &kPresets[i - N_ARCHS];
}

sw_rc sw_gen_arch_find(const char *name, const sw_gen_arch **out, sw_diag *d) {
  sw_nearest near = {.wanted = name};
  for (int i = 0; (*out = sw_gen_arch_at(i)); i++) {
    if (strcmp((*out)->name, name) == 0) return SW_OK;
    sw_nearest_offer(&near, (*out)->name);
  }
  return SW_FAIL_INPUT(d, SW_NOWHERE, "no architecture is called '%s'%s", name, sw_nearest_hint(&near));
}

bool sw_gen_next_param(const char **list, sw_gen_param *p, const char **value, int *n) {
  const char *name = *list;
  if (!name || !*name) return false;
  *value = strchr(name, '=') + 1;
  *n = (int)strcspn(*value, " ");
  *list = *value + *n + (*(*value + *n) == ' ');
  for (int i = 0; i < SW_GEN_PARAM_COUNT; i++) {
    size_t len = strlen(kParams[i].text);
    if (strncmp(kParams[i].text, name, len) == 0 && name[len] == '=') *p = (sw_gen_param)i;
  }
  return true;
}

static const char *value_in(const char *list, sw_gen_param p, int *n) {
  const char *value;
  sw_gen_param at = SW_GEN_PARAM_COUNT;
  while (sw_gen_next_param(&list, &at, &value, n)) {
    if (at == p) return value;
  }
  return NULL;
}

const sw_gen_arch *sw_gen_base_of(const sw_gen_arch *a) {
  for (int i = 0; a->base && i < N_ARCHS; i++) {
    if (strcmp(kArchs[i].arch.name, a->base) == 0) return &kArchs[i].arch;
  }
  return a;
}

const char *sw_gen_default_of(const sw_gen_arch *a, sw_gen_param p, int *n) {
  const char *preset = value_in(a->presets, p, n);
  return preset ? preset : value_in(sw_gen_base_of(a)->params, p, n);
}

static swg_build build_of(const sw_gen_arch *a) {
  for (int i = 0; i < N_ARCHS; i++) {
    if (&kArchs[i].arch == sw_gen_base_of(a)) return kArchs[i].build;
  }
  return NULL;
}

/* Index of `word` in "a|b|c", which a blank may end; -1: none. */
static int choice_index(const char *choices, const char *word) {
  for (int i = 0; choices; i++) {
    size_t len = strcspn(choices, "| ");
    if (len == strlen(word) && memcmp(choices, word, len) == 0) return i;
    choices = choices[len] == '|' ? choices + len + 1 : NULL;
  }
  return -1;
}

static sw_rc read_param_number(sw_gen_param p, const char *text, int64_t *out, sw_diag *d) {
  int64_t min = 1, max = INT32_MAX;
  for (size_t i = 0; i < sizeof kRanges / sizeof *kRanges; i++) {
    if (kRanges[i].param != p) continue;
    min = kRanges[i].min;
    max = kRanges[i].max;
  }
  return sw_parse_i64(text, min, max, kParams[p].text, out, d);
}

static sw_rc read_param(const sw_gen_arch *a, sw_gen_param p, const char *text, swg_config *c, sw_diag *d) {
  int n;
  const char *allowed = value_in(sw_gen_base_of(a)->params, p, &n);
  if (!allowed) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "architecture '%s' has no parameter '%s'", a->name, kParams[p].text);
  }
  if (p == SW_GEN_MESH) {
    c->mesh = text;
    return SW_OK;
  }
  if (p == SW_GEN_CLIP_NORM) return sw_parse_f64(text, 0, 1e300, kParams[p].text, &c->clip_norm, d);
  if (!kParams[p].choices) return read_param_number(p, text, &c->v[p], d);
  if (choice_index(allowed, text) < 0) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s is '%s'; '%s' has %.*s", kParams[p].text, text, a->name, n, allowed);
  }
  c->v[p] = choice_index(kParams[p].choices, text);
  return SW_OK;
}

static sw_rc read_arg(const sw_gen_arch *a, const sw_gen_arg *arg, swg_config *c, sw_diag *d) {
  for (int p = 0; p < SW_GEN_PARAM_COUNT; p++) {
    if (strcmp(kParams[p].text, arg->name) == 0) return read_param(a, (sw_gen_param)p, arg->value, c, d);
  }
  return SW_FAIL_INPUT(d, SW_NOWHERE, "no parameter is called '%s'", arg->name);
}

static sw_rc read_config(const sw_gen_arch *a, const sw_gen_arg *args, int n_args, swg_config *c, sw_diag *d) {
  *c = (swg_config){.name = a->name, .mesh = ""};
  for (int p = 0; p < SW_GEN_PARAM_COUNT; p++) {
    int n;
    char word[32];
    const char *value = sw_gen_default_of(a, (sw_gen_param)p, &n);
    if (!value || p == SW_GEN_MESH) continue;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(value, "| "), value);
    SW_TRY(read_param(a, (sw_gen_param)p, word, c, d));
  }
  for (int i = 0; i < n_args; i++) SW_TRY(read_arg(a, &args[i], c, d));
  return SW_OK;
}

sw_dtype swg_dtype(const swg_config *c) {
  static const sw_dtype kDtypes[] = {SW_F32, SW_BF16, SW_F16, SW_F64};
  return kDtypes[c->v[SW_GEN_DTYPE]];
}

sw_rc swg_begin_model(swg_builder *b, const swg_config *c, sw_diag *d) {
  SW_TRY(swg_begin(b, c->name, swg_dtype(c), d));
  b->products = c->products;
  b->stored = c->v[SW_GEN_PARAM_DTYPE] == SWG_PARAMS_F32 ? SW_F32 : b->dtype;
  return SW_OK;
}

sw_rc swg_check_divides(const swg_config *c, sw_gen_param whole, sw_gen_param part, sw_diag *d) {
  if (c->v[whole] % c->v[part] == 0) return SW_OK;
  return SW_FAIL_INPUT(d, SW_NOWHERE, "%s %lld is not a multiple of %s %lld", kParams[whole].text,
                       (long long)c->v[whole], kParams[part].text, (long long)c->v[part]);
}

static sw_rc train(const sw_graph *forward, const swg_config *c, sw_graph **out, sw_diag *d) {
  static const sw_dtype kMoments[] = {SW_F32, SW_BF16, SW_F8E4M3FN};
  const swg_how how = {.adam = c->v[SW_GEN_OPTIMIZER] == SWG_ADAM,
                       .converts_again = c->v[SW_GEN_CONVERT],
                       .wide_gradients = c->v[SW_GEN_GRAD_DTYPE],
                       .clip_norm = c->clip_norm,
                       .moments = kMoments[c->v[SW_GEN_STATE_DTYPE]],
                       .products = c->products};
  return swg_train_step(forward, &how, out, d);
}

/* Linear layers in eight bits, when the parameters say so. */
static sw_rc products_of(swg_config *c, swg_products *p, sw_diag *d) {
  const int64_t multiply = c->v[SW_GEN_MATMUL_DTYPE];
  *p = (swg_products){.forward = SW_F8E4M3FN,
                      .gradient = multiply == SWG_MATMUL_MIXED ? SW_F8E5M2 : SW_F8E4M3FN,
                      .multiply = multiply != SWG_MATMUL_SAME,
                      .stored = c->v[SW_GEN_PARAM_DTYPE] == SWG_PARAMS_F8};
  if (p->stored && swg_training(c))
    return SW_FAIL_INPUT(d, SW_NOWHERE,
                         "%s is f8; expected same or f32 in a training step, which moves parameters by little",
                         kParams[SW_GEN_PARAM_DTYPE].text);
  if (p->multiply || p->stored) c->products = p;
  return SW_OK;
}

sw_rc sw_gen_model(const char *arch, const sw_gen_arg *args, int n_args, sw_graph **out, sw_diag *d) {
  const sw_gen_arch *a;
  swg_config c;
  swg_products products = {0};
  sw_graph *forward;
  sw_rc rc;
  SW_TRY(sw_gen_arch_find(arch, &a, d));
  SW_TRY_TO(failed, read_config(a, args, n_args, &c, d));
  SW_TRY_TO(failed, products_of(&c, &products, d));
  SW_TRY_TO(failed, build_of(a)(&c, &forward, d));
  if (swg_training(&c)) {
    rc = train(forward, &c, out, d);
    sw_graph_destroy(forward);
    if (rc) goto failed;
  } else {
    *out = forward;
  }
  sw_array_free(&products.done);
  return SW_OK;
failed:
  sw_array_free(&products.done);
  sw_diag_note(d, "while generating '%s'", arch);
  return rc;
}
