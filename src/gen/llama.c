/* Llama 3, Mixtral, Qwen3 and gpt-oss: x + attn(norm(x)), x + ffn(norm(x)), with the feed-forward gated or a mixture of
 * experts.
 *
 * Decode mode is one step: a token per sequence, its position, and a cache of keys and values per layer, which is
 * state: it comes in, gets one row, and goes out again.
 */
#include "gen/moe.h"
#include "gen/transformer.h"

typedef struct llama {
  const swg_config *config;
  swg_attention attention;
  bool mixture;
  swg_moe moe;
  double rotary_base;
  bool windowed;
  sw_id window; /* mask of every other layer, from the first on; -1: none */
} llama;

/* In decode mode the one token of every sequence makes a group with the others. */
static sw_id mixture(swg_builder *b, const llama *m, sw_id x) {
  const swg_shape shape = swg_shape_of(b, x), group = SWG_SHAPE(1, shape.at[0], m->attention.hidden);
  if (m->attention.position < 0) return swg_moe_block(b, &m->moe, x);
  return swg_reshape(b, "ungrouped", swg_moe_block(b, &m->moe, swg_reshape(b, "grouped", x, group)), shape);
}

static sw_id llama_block(swg_builder *b, const llama *m, sw_id x) {
  sw_id normed = swg_rms_norm(b, "attn_norm", x);
  swg_enter(b, "attn");
  sw_id attended = swg_self_attention(b, &m->attention, normed);
  swg_leave(b);
  x = swg_binary(b, SW_OP_ADD, "sum_1", x, attended);
  normed = swg_rms_norm(b, "ffn_norm", x);
  swg_enter(b, m->mixture ? "moe" : "ffn");
  sw_id fed = m->mixture ? mixture(b, m, normed) : swg_gated_block(b, normed, m->attention.hidden, swg_ffn(m->config));
  swg_leave(b);
  return swg_binary(b, SW_OP_ADD, "sum_2", x, fed);
}

static sw_id blocks(swg_builder *b, const llama *m, sw_id x) {
  for (int i = 0; i < swg_get(m->config, SW_GEN_LAYERS) && !b->rc; i++) {
    llama here = *m;
    if (m->window >= 0 && i % 2 == 0) here.attention.mask = m->window;
    swg_enter(b, "layers.%d", i);
    x = llama_block(b, &here, x);
    swg_leave(b);
  }
  return x;
}

static sw_rc build_llama(llama *m, sw_graph **out, sw_diag *d) {
  const swg_config *c = m->config;
  swg_attention *a = &m->attention;
  bool decode = swg_get(c, SW_GEN_MODE) == SWG_DECODE;
  int64_t seq = swg_get(c, SW_GEN_SEQ), queries = decode ? 1 : seq;
  if (a->head_dim % 2)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "width of a head is %lld; expected an even number", (long long)a->head_dim);
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  sw_id tokens = swg_tokens(&b, "tokens", SWG_SHAPE(swg_get(c, SW_GEN_BATCH), queries));
  if (decode) a->position = swg_tokens(&b, "position", SWG_SCALAR);
  a->cache = seq;
  sw_id table = swg_param(&b, "embed_table", SWG_SHAPE(swg_get(c, SW_GEN_VOCAB), a->hidden));
  sw_id x = swg_take(&b, "embed", table, tokens);
  swg_rotary(&b, queries, a->position, m->rotary_base, a);
  bool windows_only = m->windowed && swg_get(c, SW_GEN_LAYERS) == 1;
  if (!windows_only) swg_causal(&b, seq, a);
  if (m->windowed) m->window = swg_window_mask(&b, seq, swg_get(c, SW_GEN_WINDOW), a->position);
  x = swg_rms_norm(&b, "norm", blocks(&b, m, x));
  sw_id head = swg_param(&b, "lm_head", SWG_SHAPE(a->hidden, swg_get(c, SW_GEN_VOCAB)));
  swg_finish_logits(&b, c, swg_einsum(&b, "logits", "bsd,dv->bsv", SWG_IDS(x, head)));
  return swg_finish(&b, out);
}

sw_rc swg_build_llama(const swg_config *c, sw_graph **out, sw_diag *d) {
  llama m = {.config = c, .rotary_base = 500000, .window = -1};
  SW_TRY(swg_attention_init(c, &m.attention, d));
  return build_llama(&m, out, d);
}

static sw_rc mixture_init(const swg_config *c, llama *m, sw_diag *d) {
  *m = (llama){.config = c, .rotary_base = 1e6, .mixture = true, .window = -1};
  SW_TRY(swg_attention_init(c, &m->attention, d));
  SW_TRY(swg_moe_init(c, &m->moe, d));
  m->moe.ffn = swg_ffn(c);
  return SW_OK;
}

sw_rc swg_build_mixtral(const swg_config *c, sw_graph **out, sw_diag *d) {
  llama m;
  SW_TRY(mixture_init(c, &m, d));
  return build_llama(&m, out, d);
}

sw_rc swg_build_qwen3_moe(const swg_config *c, sw_graph **out, sw_diag *d) {
  llama m;
  SW_TRY(mixture_init(c, &m, d));
  m.attention.qk_norm = true;
  return build_llama(&m, out, d);
}

sw_rc swg_build_gpt_oss(const swg_config *c, sw_graph **out, sw_diag *d) {
  llama m;
  SW_TRY(mixture_init(c, &m, d));
  m.rotary_base = 150000;
  m.attention.bias = m.attention.sinks = m.windowed = true;
  m.moe.bias = m.moe.clamped = true;
  return build_llama(&m, out, d);
}

sw_rc swg_build_moe_layers(const swg_config *c, sw_graph **out, sw_diag *d) {
  llama m;
  SW_TRY(mixture_init(c, &m, d));
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  const swg_shape shape = SWG_SHAPE(swg_get(c, SW_GEN_BATCH), swg_get(c, SW_GEN_SEQ), m.attention.hidden);
  sw_id x = swg_arg(&b, "x", SW_VALUE_INPUT, b.dtype, shape);
  swg_finish_values(&b, c, blocks(&b, &m, x));
  return swg_finish(&b, out);
}
