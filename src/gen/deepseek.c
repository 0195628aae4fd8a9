/* DeepSeek-V3 (DeepSeek-AI 2024, arXiv:2412.19437, section 2.1): latent attention, and layers of which all but the
 * first few have a shared expert beside the routed ones.
 *
 *   q  = norm(x wq_a) wq_b             [b,s,h,nope + rope], the rope part turned
 *   c  = x wkv_a                       [b,s,kv_rank + rope]; the rest, turned, is one key for all heads
 *   k  = norm(c) wk_b beside that key  [b,s,h,nope + rope]        v = norm(c) wv_b  [b,s,h,v]
 *
 * The matrix that gives keys and values of a head stands here as wk_b and wv_b: the same elements. The multi-token
 * prediction module and the choice of few nodes are left out.
 */
#include <math.h>

#include "gen/moe.h"
#include "gen/transformer.h"

typedef struct latent {
  int64_t hidden, heads, q_rank, kv_rank, nope, rope, value;
  swg_attention scores; /* only what it adds to them, and the angles */
} latent;

static sw_id query_of(swg_builder *b, const latent *a, sw_id x) {
  sw_id down = swg_linear(b, "q_a", "bsd,dr->bsr", x, "wq_a", SWG_SHAPE(a->hidden, a->q_rank));
  sw_id q = swg_linear(b, "q", "bsr,rhk->bshk", swg_rms_norm(b, "q_norm", down), "wq_b",
                       SWG_SHAPE(a->q_rank, a->heads, a->nope + a->rope));
  sw_id plain = swg_slice(b, "q_nope", q, 3, 0, a->nope);
  sw_id turned = swg_rotate(b, "q_rot", swg_slice(b, "q_rope", q, 3, a->nope, a->nope + a->rope), &a->scores);
  return swg_concatenate(b, "q_all", 3, SWG_IDS(plain, turned));
}

/* The key of every head: its own part, and the part that all share. */
static sw_id latent_key(swg_builder *b, const latent *a, sw_id normed, sw_id shared) {
  sw_id own = swg_linear(b, "k", "bsr,rhk->bshk", normed, "wk_b", SWG_SHAPE(a->kv_rank, a->heads, a->nope));
  swg_shape wide = swg_shape_of(b, own);
  if (wide.n == 4) wide.at[3] = a->rope;
  sw_id turned = swg_rotate(b, "k_rot", shared, &a->scores);
  return swg_concatenate(b, "k_all", 3, SWG_IDS(own, swg_broadcast(b, "k_rot_wide", turned, wide, SWG_SHAPE(0, 1, 3))));
}

static sw_id attend_latent(swg_builder *b, const latent *a, sw_id x) {
  sw_id q = query_of(b, a, x);
  sw_id down = swg_linear(b, "kv_a", "bsd,dr->bsr", x, "wkv_a", SWG_SHAPE(a->hidden, a->kv_rank + a->rope));
  sw_id normed = swg_rms_norm(b, "kv_norm", swg_slice(b, "kv_latent", down, 2, 0, a->kv_rank));
  sw_id k = latent_key(b, a, normed, swg_slice(b, "k_rope", down, 2, a->kv_rank, a->kv_rank + a->rope));
  sw_id v = swg_linear(b, "v", "bsr,rhk->bshk", normed, "wv_b", SWG_SHAPE(a->kv_rank, a->heads, a->value));
  sw_id scaled = swg_scale(b, "scaled", q, 1 / sqrt((double)(a->nope + a->rope)));
  sw_id scores = swg_einsum(b, "scores", "bqhk,bshk->bhqs", SWG_IDS(scaled, k));
  sw_id mask = swg_broadcast(b, "mask", a->scores.mask, swg_shape_of(b, scores), SWG_SHAPE(2, 3));
  sw_id weights =
      swg_op(b, SW_OP_SOFTMAX, "weights", SWG_IDS(swg_binary(b, SW_OP_ADD, "masked", scores, mask)), SWG_NONE);
  sw_id mix = swg_einsum(b, "mix", "bhqs,bshk->bhqk", SWG_IDS(weights, v));
  return swg_linear(b, "o", "bhqk,hkd->bqd", mix, "wo", SWG_SHAPE(a->heads, a->value, a->hidden));
}

static sw_id feed(swg_builder *b, const swg_config *c, const swg_moe *moe, bool dense, sw_id x) {
  swg_enter(b, dense ? "ffn" : "moe");
  sw_id y = dense ? swg_gated_block(b, x, moe->hidden, swg_get(c, SW_GEN_FFN)) : swg_moe_block(b, moe, x);
  swg_leave(b);
  if (dense) return y;
  swg_enter(b, "shared");
  sw_id shared = swg_gated_block(b, x, moe->hidden, moe->ffn);
  swg_leave(b);
  return swg_binary(b, SW_OP_ADD, "fed", y, shared);
}

static sw_id deepseek_block(swg_builder *b, const swg_config *c, const latent *a, const swg_moe *moe, bool dense,
                            sw_id x) {
  sw_id normed = swg_rms_norm(b, "attn_norm", x);
  swg_enter(b, "attn");
  sw_id attended = attend_latent(b, a, normed);
  swg_leave(b);
  x = swg_binary(b, SW_OP_ADD, "sum_1", x, attended);
  return swg_binary(b, SW_OP_ADD, "sum_2", x, feed(b, c, moe, dense, swg_rms_norm(b, "ffn_norm", x)));
}

static sw_rc set_latent_sizes(const swg_config *c, latent *a, swg_moe *moe, sw_diag *d) {
  *a = (latent){.hidden = swg_get(c, SW_GEN_HIDDEN),
                .heads = swg_get(c, SW_GEN_HEADS),
                .q_rank = swg_get(c, SW_GEN_Q_RANK),
                .kv_rank = swg_get(c, SW_GEN_KV_RANK),
                .nope = swg_get(c, SW_GEN_HEAD_DIM),
                .rope = swg_get(c, SW_GEN_ROPE_DIM),
                .value = swg_get(c, SW_GEN_HEAD_DIM)};
  if (a->nope < 1) return SW_FAIL_INPUT(d, SW_NOWHERE, "head-dim is 0; expected the width of a head");
  if (a->rope % 2) return SW_FAIL_INPUT(d, SW_NOWHERE, "rope-dim is %lld; expected an even number", (long long)a->rope);
  SW_TRY(swg_moe_init(c, moe, d));
  moe->ffn = swg_get(c, SW_GEN_EXPERT_FFN);
  moe->sigmoid = true;
  moe->scale = 2.5;
  return SW_OK;
}

sw_rc swg_build_deepseek(const swg_config *c, sw_graph **out, sw_diag *d) {
  latent a;
  swg_moe moe;
  swg_builder b;
  SW_TRY(set_latent_sizes(c, &a, &moe, d));
  SW_TRY(swg_begin_model(&b, c, d));
  int64_t seq = swg_get(c, SW_GEN_SEQ), vocab = swg_get(c, SW_GEN_VOCAB);
  sw_id tokens = swg_tokens(&b, "tokens", SWG_SHAPE(swg_get(c, SW_GEN_BATCH), seq));
  sw_id x = swg_take(&b, "embed", swg_param(&b, "embed_table", SWG_SHAPE(vocab, a.hidden)), tokens);
  a.scores = (swg_attention){.head_dim = a.rope, .position = -1};
  swg_rotary(&b, seq, -1, 10000, &a.scores);
  swg_causal(&b, seq, &a.scores);
  for (int i = 0; i < swg_get(c, SW_GEN_LAYERS) && !b.rc; i++) {
    swg_enter(&b, "layers.%d", i);
    x = deepseek_block(&b, c, &a, &moe, i < swg_get(c, SW_GEN_DENSE_LAYERS), x);
    swg_leave(&b);
  }
  x = swg_rms_norm(&b, "norm", x);
  sw_id head = swg_param(&b, "lm_head", SWG_SHAPE(a.hidden, vocab));
  swg_finish_logits(&b, c, swg_einsum(&b, "logits", "bsd,dv->bsv", SWG_IDS(x, head)));
  return swg_finish(&b, out);
}
