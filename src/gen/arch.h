/* What an architecture file is given, and the functions that build each architecture. */
#ifndef GEN_ARCH_H_
#define GEN_ARCH_H_

#include "gen/linear.h"

/* Parameters after reading: numbers as they are, choices as their index in sw_gen_param_words. */
typedef struct swg_config {
  const char *name; /* of the architecture or preset */
  int64_t v[SW_GEN_PARAM_COUNT];
  double clip_norm;       /* 0: gradients are not clipped */
  const char *mesh;       /* "" when not given */
  swg_products *products; /* NULL: linear layers are worked out as activations are */
} swg_config;

/* In the order of the choices. */
enum { SWG_FORWARD, SWG_TRAIN, SWG_DECODE };
enum { SWG_NCHW, SWG_NHWC };
enum { SWG_SGD, SWG_ADAM };
enum { SWG_PLAIN_ATTENTION, SWG_FUSED_ATTENTION };
enum { SWG_FUSED_LOSS, SWG_CALLED_LOSS };
enum { SWG_PARAMS_SAME, SWG_PARAMS_F32, SWG_PARAMS_F8 };
enum { SWG_MATMUL_SAME, SWG_MATMUL_F8, SWG_MATMUL_MIXED };
enum { SWG_1D_TENSORS, SWG_1D_OPERATIONS, SWG_2D, SWG_PLAIN };

static inline int64_t swg_get(const swg_config *c, sw_gen_param p) { return c->v[p]; }
static inline bool swg_training(const swg_config *c) { return c->v[SW_GEN_MODE] == SWG_TRAIN; }
sw_dtype swg_dtype(const swg_config *c);
/* A builder with the model's name and types. */
SW_CHECKED sw_rc swg_begin_model(swg_builder *b, const swg_config *c, sw_diag *d);

/* Build the forward program; in train mode its first output is the loss, a scalar of float type, and what is to be
 * trained are the values of kind parameter. */
typedef sw_rc (*swg_build)(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_rfc_mlp(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_mlp(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_gpt2(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_mpt(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_bert(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_bert_layers(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_llama(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_mixtral(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_qwen3_moe(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_gpt_oss(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_deepseek(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_nemotron(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_moe_layers(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_mamba2(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_dlrm(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_dit(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_unet(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_vit(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_resnet(const swg_config *c, sw_graph **out, sw_diag *d);
sw_rc swg_build_conv(const swg_config *c, sw_graph **out, sw_diag *d);

/* Parameter `whole` is a multiple of `part`, or a message that names both. */
SW_CHECKED sw_rc swg_check_divides(const swg_config *c, sw_gen_param whole, sw_gen_param part, sw_diag *d);

#endif
