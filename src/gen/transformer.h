/* The parts that transformers share. Shapes: activations [batch, seq, hidden].
 *
 * Weights keep the head as a dimension of its own ([hidden, heads, head_dim]), so that cutting heads needs no reshape.
 * With grouped queries there are two: [hidden, kv_heads, queries per kv head, head_dim].
 */
#ifndef GEN_TRANSFORMER_H_
#define GEN_TRANSFORMER_H_

#include "gen/arch.h"

typedef struct swg_attention {
  int64_t hidden, head_dim;
  int64_t kv_heads; /* as many as heads when per_kv is 1 */
  int64_t per_kv;   /* query heads per key and value head */
  bool bias;
  bool qk_norm;   /* an rms norm of each query and key head */
  bool sinks;     /* a learned score for each query head, of a key that has no value */
  bool fused;     /* as one op */
  bool causal;    /* of that: instead of a mask */
  sw_id mask;     /* [queries, keys], added to the scores; -1: none */
  sw_id cos, sin; /* rotary positions, [queries, head_dim / 2]; -1: none */
  sw_id position; /* i32 scalar: row of the cache that the one query fills; -1: no cache */
  int64_t cache;  /* rows of the cache */
} swg_attention;

/* Heads from hidden, heads, kv-heads and head-dim; no mask, positions or cache. */
SW_CHECKED sw_rc swg_attention_init(const swg_config *c, swg_attention *a, sw_diag *d);
/* Parameters wq wk wv wo (and bq bk bv bo) in the scope; with a cache also state k_cache and v_cache, which are
 * output. */
sw_id swg_self_attention(swg_builder *b, const swg_attention *a, sw_id x);

/* Queries see the keys up to their own: query i of n key i, with a cache of n rows the one query the key at its
 * position. Of plain attention a mask, [n, n] or [1, n], of 0 and of numbers so low that softmax gives 0. */
void swg_causal(swg_builder *b, int64_t n, swg_attention *a);
/* [n, n]: 0 where query i - key j is in 0 .. window - 1, else so low that softmax gives 0. */
sw_id swg_window_mask(swg_builder *b, int64_t n, int64_t window, sw_id position);
/* cos and sin of position * base^(-2i/head_dim) for i < head_dim/2; position: an i32 scalar, or -1 for 0 .. n-1. */
void swg_rotary(swg_builder *b, int64_t n, sw_id position, double base, swg_attention *a);

/* Feed-forward width: ffn, or 4 * hidden. */
int64_t swg_ffn(const swg_config *c);
typedef struct swg_gelu {
  int64_t hidden, ffn;
  bool approximate; /* with tanh */
  bool bias;
} swg_gelu;
/* gelu(x w_in + b_in) w_out + b_out */
sw_id swg_gelu_block(swg_builder *b, sw_id x, const swg_gelu *g);
/* x + attn(ln_1(x)), then x + mlp(ln_2(x)); biases everywhere or nowhere, as the attention says */
sw_id swg_pre_norm_block(swg_builder *b, const swg_attention *a, sw_id x, int64_t ffn, bool approximate);
/* (silu(x w_gate) * (x w_up)) w_down */
sw_id swg_gated_block(swg_builder *b, sw_id x, int64_t hidden, int64_t ffn);

/* x w + b over the last dim: parameters NAME.w [from, to] and NAME.b [to]. */
/* x with a share b->dropped of its elements 0 and the others larger for that; x itself when that is none. */
sw_id swg_dropout(swg_builder *b, const char *name, sw_id x);
sw_id swg_dense(swg_builder *b, const char *name, sw_id x, int64_t to, bool bias);
/* Parameters NAME.weight and, with a bias, NAME.bias. */
sw_id swg_layer_norm(swg_builder *b, const char *name, sw_id x, bool bias);
sw_id swg_rms_norm(swg_builder *b, const char *name, sw_id x); /* parameter NAME.weight */
/* Rows of a table by tokens. */
sw_id swg_take(swg_builder *b, const char *name, sw_id table, sw_id tokens);
sw_id swg_add_rows(swg_builder *b, const char *name, sw_id x, sw_id rows); /* rows broadcast over x's leading dims */
/* The first elements of the last dim, twice as many as the attention has angles, turned by them, one half with the
 * other; the others as they are. Positions are dim 1. */
sw_id swg_rotate(swg_builder *b, const char *name, sw_id x, const swg_attention *a);

/* The logits as output, or in training the loss. */
void swg_finish_logits(swg_builder *b, const swg_config *c, sw_id logits);
/* y as output, or in training the mean of its squared differences to input "target" as output "loss". */
void swg_finish_values(swg_builder *b, const swg_config *c, sw_id y);

#endif
