/* Model generators: graphs of well-known architectures, at their published sizes or at any other.
 *
 *   sw_gen_arg args[] = {{"layers", "2"}, {"hidden", "64"}, {"heads", "4"}};
 *   SW_TRY(sw_gen_model("gpt2", args, 3, &graph, d));    a sealed graph; the rest as in GPT-2 small
 *
 * An architecture has parameters with defaults; a preset is an architecture with other defaults ("llama3-70b"). Weights
 * are values without data. Everything about both stands in tables that can be read here, so that the command line, the
 * documents and the tests need no list of their own.
 */
#ifndef GEN_GEN_H_
#define GEN_GEN_H_

#include "shardwright/graph.h"

/* What ops of the norm that gradients are clipped by are parts of (sw_op). */
#define SW_GEN_CLIP "clip.norm"

/* X(id, text, value, choices, help). `choices` NULL: a whole number, of clip-norm any, or text for mesh. Not every
 * architecture has every parameter. 0 for head-dim, kv-heads, ffn and capacity means "derived", as the help says. */
#define SW_GEN_PARAMS(X)                                                                                               \
  X(MODE, "mode", "MODE", "forward|train|decode", "what the program computes: outputs, a training step, or one token") \
  X(LAYERS, "layers", "N", NULL, "number of layers (of mlp: of weight matrices)")                                      \
  X(HIDDEN, "hidden", "N", NULL, "width of the model (of conv: channels)")                                             \
  X(HEADS, "heads", "N", NULL, "attention heads")                                                                      \
  X(KV_HEADS, "kv-heads", "N", NULL, "heads of keys and values; 0: as many as heads")                                  \
  X(HEAD_DIM, "head-dim", "N", NULL, "width of one head; 0: hidden / heads")                                           \
  X(FFN, "ffn", "N", NULL, "width inside the feed-forward block; 0: 4 * hidden")                                       \
  X(VOCAB, "vocab", "N", NULL, "vocabulary size")                                                                      \
  X(SEQ, "seq", "N", NULL, "tokens of a sequence; in decode mode the length of the cache")                             \
  X(BATCH, "batch", "N", NULL, "sequences or images at a time")                                                        \
  X(EXPERTS, "experts", "N", NULL, "experts of a mixture-of-experts layer")                                            \
  X(TOP_K, "top-k", "N", NULL, "experts that see a token")                                                             \
  X(CAPACITY, "capacity", "N", NULL,                                                                                   \
    "tokens of a sequence, when decoding of the batch, that an expert takes; 0: 1.25 * them * top-k / experts")        \
  X(EXPERT_FFN, "expert-ffn", "N", NULL, "width inside an expert")                                                     \
  X(DENSE_LAYERS, "dense-layers", "N", NULL, "first layers without experts")                                           \
  X(WINDOW, "window", "N", NULL, "keys that a query of every other layer sees, its own included")                      \
  X(Q_RANK, "q-rank", "N", NULL, "width of what queries are made from")                                                \
  X(KV_RANK, "kv-rank", "N", NULL, "width of what keys and values are made from")                                      \
  X(ROPE_DIM, "rope-dim", "N", NULL, "further width of a query and key head, turned by its position")                  \
  X(STATE, "state", "N", NULL, "width of the state that a head keeps")                                                 \
  X(CHUNK, "chunk", "N", NULL, "tokens that are worked on together")                                                   \
  X(ROWS, "rows", "N", NULL, "most rows of a table")                                                                   \
  X(HOT, "hot", "N", NULL, "most rows that a table is asked for at a time")                                            \
  X(GROUPS, "groups", "N", NULL, "groups of channels that a norm goes over")                                           \
  X(BATCH_GROUPS, "batch-groups", "N", NULL,                                                                           \
    "parts of the batch that a batch norm takes statistics of, as where each device does alone")                       \
  X(IMAGE, "image", "N", NULL, "height and width of an image")                                                         \
  X(PATCH, "patch", "N", NULL, "height and width of a patch")                                                          \
  X(CHANNELS, "channels", "N", NULL, "channels of an image")                                                           \
  X(CLASSES, "classes", "N", NULL, "classes to tell apart")                                                            \
  X(LAYOUT, "layout", "LAYOUT", "nchw|nhwc", "order of the dimensions of images")                                      \
  X(OPTIMIZER, "optimizer", "NAME", "sgd|adam", "how a training step changes the parameters")                          \
  X(BIAS, "bias", "YES", "no|yes", "add a bias after each matrix")                                                     \
  X(DROPOUT, "dropout", "PERCENT", NULL,                                                                               \
    "elements that training leaves out of an embedding's sum, of what a block adds and of plain attention's weights")  \
  X(ATTENTION, "attention", "HOW", "plain|fused", "as products and a softmax, or as one op")                           \
  X(LOSS, "loss", "HOW", "fused|called",                                                                               \
    "cross entropy as one function, or in calls that each give a tensor, as where no compiler sees it")                \
  X(DTYPE, "dtype", "TYPE", "f32|bf16|f16|f64", "element type of parameters and activations")                          \
  X(MATMUL_DTYPE, "matmul-dtype", "TYPE", "same|f8|f8-mixed",                                                          \
    "of what linear layers multiply: f8 with a scale for each tensor; mixed: gradients with more range")               \
  X(PARAM_DTYPE, "param-dtype", "TYPE", "same|f32|f8",                                                                 \
    "of parameters as they are stored; ops use them converted to dtype. f8: weights of linear layers, with a scale")   \
  X(GRAD_DTYPE, "grad-dtype", "TYPE", "same|f32", "of gradients of parameters; same: as ops use the parameter")        \
  X(STATE_DTYPE, "state-dtype", "TYPE", "f32|bf16|f8",                                                                 \
    "of what adam keeps of past gradients; f8 with a scale for each block of up to 256")                               \
  X(CLIP_NORM, "clip-norm", "NORM", NULL,                                                                              \
    "gradients are scaled down so that the norm of all of them together is no larger; 0: they are not")                \
  X(CONVERT, "convert", "WHEN", "once|again", "stored parameters: once a step, or again for ops of the backward part") \
  X(VARIANT, "variant", "NAME", "1d-tensors|1d-operations|2d|plain", "which sharding annotations the model carries")   \
  X(MESH, "mesh", "MESH", NULL, "mesh of the annotations, as x=2; without it that of the variant")

typedef enum sw_gen_param {
#define SW_X(id, text, value, choices, help) SW_GEN_##id,
  SW_GEN_PARAMS(SW_X) SW_GEN_PARAM_COUNT
#undef SW_X
} sw_gen_param;

SW_API const char *sw_gen_param_text(sw_gen_param p);
SW_API const char *sw_gen_param_help(sw_gen_param p);
SW_API const char *sw_gen_param_words(sw_gen_param p); /* NULL: a number (of MESH: text) */

/* An architecture or a preset. */
typedef struct sw_gen_arch {
  const char *name;
  const char *help;    /* one line */
  const char *source;  /* where its sizes come from; of a preset may be NULL: that of its architecture */
  const char *params;  /* of an architecture: "mode=forward|train layers=12", with defaults */
  const char *base;    /* of a preset: its architecture; NULL: it is one */
  const char *presets; /* what a preset sets otherwise, likewise; NULL: nothing */
} sw_gen_arch;
/* A preset's architecture; an architecture itself. */
SW_API const sw_gen_arch *sw_gen_base_of(const sw_gen_arch *a);
/* The next of such a list (NULL: an empty one) and its value, of *n characters; *list moves on. False: there is
 * none. */
SW_API bool sw_gen_next_param(const char **list, sw_gen_param *p, const char **value, int *n);

/* Architectures first, then presets; NULL beyond the last. */
SW_API const sw_gen_arch *sw_gen_arch_at(int i);
/* Unknown: SW_E_INPUT, naming the nearest. */
SW_API SW_CHECKED sw_rc sw_gen_arch_find(const char *name, const sw_gen_arch **out, sw_diag *d);
/* Default of a parameter, *n characters; of a choice, what is allowed, the default first ("forward|train"). NULL when
 * the architecture has no such parameter. */
SW_API const char *sw_gen_default_of(const sw_gen_arch *a, sw_gen_param p, int *n);

typedef struct sw_gen_arg {
  const char *name;  /* "layers" */
  const char *value; /* "12" */
} sw_gen_arg;

/* Build and seal the graph of an architecture or preset. The graph is the caller's (sw_graph_destroy). SW_E_INPUT: no
 * such architecture or parameter, or a value that is out of range or does not fit the others. */
SW_API SW_CHECKED sw_rc sw_gen_model(const char *arch, const sw_gen_arg *args, int n_args, sw_graph **out, sw_diag *d);

#endif
