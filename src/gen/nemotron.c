/* Nemotron-4 (Parmar et al. 2024, arXiv:2402.16819, section 2): Llama's blocks with layer norms, the first half of each
 * head turned by its position, a feed-forward block that squares its relu, and no biases but those of the norms.
 *
 * The norm's weight is kept less one in the released checkpoints: the same elements.
 */
#include "gen/transformer.h"
#include "gen/vision.h"

static sw_id feed_squared_relu(swg_builder *b, sw_id x, int64_t hidden, int64_t ffn) {
  sw_id up = swg_linear(b, "in", "bsd,df->bsf", x, "w_in", SWG_SHAPE(hidden, ffn));
  sw_id relu = swg_relu(b, "relu", up);
  sw_id square = swg_binary(b, SW_OP_MULTIPLY, "act", relu, relu);
  return swg_linear(b, "out", "bsf,fd->bsd", square, "w_out", SWG_SHAPE(ffn, hidden));
}

static sw_id nemotron_block(swg_builder *b, const swg_attention *a, int64_t ffn, sw_id x) {
  sw_id normed = swg_layer_norm(b, "attn_norm", x, true);
  swg_enter(b, "attn");
  sw_id attended = swg_self_attention(b, a, normed);
  swg_leave(b);
  x = swg_binary(b, SW_OP_ADD, "sum_1", x, attended);
  normed = swg_layer_norm(b, "ffn_norm", x, true);
  swg_enter(b, "ffn");
  sw_id fed = feed_squared_relu(b, normed, a->hidden, ffn);
  swg_leave(b);
  return swg_binary(b, SW_OP_ADD, "sum_2", x, fed);
}

sw_rc swg_build_nemotron(const swg_config *c, sw_graph **out, sw_diag *d) {
  swg_attention a;
  SW_TRY(swg_attention_init(c, &a, d));
  if (a.head_dim % 4)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "width of a head is %lld; expected a multiple of 4", (long long)a.head_dim);
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  int64_t seq = swg_get(c, SW_GEN_SEQ), vocab = swg_get(c, SW_GEN_VOCAB), whole = a.head_dim;
  sw_id tokens = swg_tokens(&b, "tokens", SWG_SHAPE(swg_get(c, SW_GEN_BATCH), seq));
  sw_id x = swg_take(&b, "embed", swg_param(&b, "embed_table", SWG_SHAPE(vocab, a.hidden)), tokens);
  a.head_dim = whole / 2; /* of the angles */
  swg_rotary(&b, seq, -1, 10000, &a);
  a.head_dim = whole;
  swg_causal(&b, seq, &a);
  for (int i = 0; i < swg_get(c, SW_GEN_LAYERS) && !b.rc; i++) {
    swg_enter(&b, "layers.%d", i);
    x = nemotron_block(&b, &a, swg_ffn(c), x);
    swg_leave(&b);
  }
  x = swg_layer_norm(&b, "norm", x, true);
  sw_id head = swg_param(&b, "lm_head", SWG_SHAPE(a.hidden, vocab));
  swg_finish_logits(&b, c, swg_einsum(&b, "logits", "bsd,dv->bsv", SWG_IDS(x, head)));
  return swg_finish(&b, out);
}
