/* GPT-2, MPT and BERT: embeddings, then blocks of attention and a gelu feed-forward, then the output tied to the
 * embedding.
 *
 *   GPT-2   x + attn(ln_1(x)), x + mlp(ln_2(x)), logits = ln_f(x) wte^T
 *   MPT     the same without biases
 *   BERT    ln_1(x + attn(x)), ln_2(x + mlp(x)), logits = ln(gelu(x w + b)) word^T + bias
 *
 * GPT-2's fused query-key-value matrix stands here as wq, wk and wv: the same elements.
 */
#include "gen/transformer.h"

/* Rows of the table of positions: all, or in decode mode the one at the position. */
static sw_id position_rows(swg_builder *b, const swg_attention *a, sw_id table) {
  if (a->position < 0) return table;
  sw_id zero = swg_splat(b, "embed.zero", 0, SW_I32, SWG_SCALAR);
  return swg_op(b, SW_OP_DYNAMIC_SLICE, "embed.position", SWG_IDS(table, a->position, zero),
                SWG_ATTRS(SWG_INTS(SIZES, 1, a->hidden)));
}

static sw_rc build_decoder(const swg_config *c, bool bias, bool approximate, sw_graph **out, sw_diag *d) {
  swg_attention a;
  SW_TRY(swg_attention_init(c, &a, d));
  a.bias = bias;
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  bool decode = swg_get(c, SW_GEN_MODE) == SWG_DECODE;
  int64_t seq = swg_get(c, SW_GEN_SEQ);
  sw_id tokens = swg_tokens(&b, "tokens", SWG_SHAPE(swg_get(c, SW_GEN_BATCH), decode ? 1 : seq));
  if (decode) a.position = swg_tokens(&b, "position", SWG_SCALAR);
  a.cache = seq;
  sw_id wte = swg_param(&b, "wte", SWG_SHAPE(swg_get(c, SW_GEN_VOCAB), a.hidden));
  sw_id wpe = swg_param(&b, "wpe", SWG_SHAPE(seq, a.hidden));
  sw_id taken = swg_take(&b, "embed.token", wte, tokens);
  sw_id random = -1;
  if (swg_training(c) && swg_get(c, SW_GEN_DROPOUT)) {
    b.dropped = (double)swg_get(c, SW_GEN_DROPOUT) / 100;
    b.random = random = swg_arg(&b, "random", SW_VALUE_STATE, SW_U64, SWG_SHAPE(2));
  }
  sw_id x = swg_add_rows(&b, "embed", taken, position_rows(&b, &a, wpe));
  x = swg_dropout(&b, "embed.kept", x);
  swg_causal(&b, seq, &a);
  for (int i = 0; i < swg_get(c, SW_GEN_LAYERS) && !b.rc; i++) {
    swg_enter(&b, "h.%d", i);
    x = swg_pre_norm_block(&b, &a, x, swg_ffn(c), approximate);
    swg_leave(&b);
  }
  x = swg_layer_norm(&b, "ln_f", x, bias);
  swg_finish_logits(&b, c, swg_einsum(&b, "logits", "bsd,vd->bsv", SWG_IDS(x, wte)));
  if (random >= 0) swg_output(&b, "random.new", b.random, random);
  return swg_finish(&b, out);
}

sw_rc swg_build_gpt2(const swg_config *c, sw_graph **out, sw_diag *d) { return build_decoder(c, true, true, out, d); }

sw_rc swg_build_mpt(const swg_config *c, sw_graph **out, sw_diag *d) { return build_decoder(c, false, false, out, d); }

static sw_id bert_block(swg_builder *b, const swg_config *c, const swg_attention *a, sw_id x) {
  swg_enter(b, "attn");
  sw_id attended = swg_self_attention(b, a, x);
  swg_leave(b);
  x = swg_layer_norm(b, "ln_1", swg_binary(b, SW_OP_ADD, "sum_1", x, attended), true);
  swg_enter(b, "mlp");
  sw_id fed = swg_gelu_block(b, x, &(swg_gelu){a->hidden, swg_ffn(c), .bias = true});
  swg_leave(b);
  return swg_layer_norm(b, "ln_2", swg_binary(b, SW_OP_ADD, "sum_2", x, fed), true);
}

static sw_id bert_blocks(swg_builder *b, const swg_config *c, const swg_attention *a, sw_id x) {
  for (int i = 0; i < swg_get(c, SW_GEN_LAYERS) && !b->rc; i++) {
    swg_enter(b, "layer.%d", i);
    x = bert_block(b, c, a, x);
    swg_leave(b);
  }
  return x;
}

static sw_id bert_embed(swg_builder *b, const swg_config *c, sw_id word) {
  int64_t batch = swg_get(c, SW_GEN_BATCH), seq = swg_get(c, SW_GEN_SEQ), hidden = swg_get(c, SW_GEN_HIDDEN);
  sw_id tokens = swg_tokens(b, "tokens", SWG_SHAPE(batch, seq));
  sw_id segments = swg_tokens(b, "segments", SWG_SHAPE(batch, seq));
  swg_enter(b, "embed");
  sw_id kind = swg_param(b, "segment_table", SWG_SHAPE(2, hidden));
  sw_id position = swg_param(b, "position", SWG_SHAPE(seq, hidden));
  sw_id token = swg_take(b, "token", word, tokens), segment = swg_take(b, "segment", kind, segments);
  sw_id x = swg_binary(b, SW_OP_ADD, "sum", token, segment);
  x = swg_layer_norm(b, "ln", swg_add_rows(b, "positioned", x, position), true);
  swg_leave(b);
  return x;
}

sw_rc swg_build_bert(const swg_config *c, sw_graph **out, sw_diag *d) {
  swg_attention a;
  SW_TRY(swg_attention_init(c, &a, d));
  a.bias = true;
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  int64_t vocab = swg_get(c, SW_GEN_VOCAB);
  sw_id word = swg_param(&b, "word", SWG_SHAPE(vocab, a.hidden));
  sw_id x = bert_blocks(&b, c, &a, bert_embed(&b, c, word));
  b.products = NULL; /* the head, as that of others */
  swg_enter(&b, "head");
  x = swg_op(&b, SW_OP_GELU, "act", SWG_IDS(swg_dense(&b, "dense", x, a.hidden, true)),
             SWG_ATTRS(SWG_INT(APPROXIMATE, false)));
  sw_id dot = swg_einsum(&b, "dot", "bsd,vd->bsv", SWG_IDS(swg_layer_norm(&b, "ln", x, true), word));
  sw_id logits = swg_add_rows(&b, "logits", dot, swg_param(&b, "bias", SWG_SHAPE(vocab)));
  swg_leave(&b);
  swg_finish_logits(&b, c, logits);
  return swg_finish(&b, out);
}

sw_rc swg_build_bert_layers(const swg_config *c, sw_graph **out, sw_diag *d) {
  swg_attention a;
  SW_TRY(swg_attention_init(c, &a, d));
  a.bias = true;
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  const swg_shape shape = SWG_SHAPE(swg_get(c, SW_GEN_BATCH), swg_get(c, SW_GEN_SEQ), a.hidden);
  sw_id x = swg_arg(&b, "x", SW_VALUE_INPUT, b.dtype, shape);
  swg_finish_values(&b, c, bert_blocks(&b, c, &a, x));
  return swg_finish(&b, out);
}
