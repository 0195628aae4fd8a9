/* Blocks of transformers (transformer.h). Attention with 2 kv heads of 3 queries each, in einsums:
 *
 *   q "bsd,dgrk->bsgrk"   k, v "bsd,dgk->bsgk"   scores "bqgrk,bsgk->bgqrs"   mix "bgqrs,bsgk->bgqrk"
 *   out "bgqrk,grkd->bqd"
 *
 * The orders are those that dot_general gives, so no transpose is needed.
 */
#include "gen/transformer.h"

#include <math.h>

typedef struct attention_form {
  const char *q, *scores, *mix, *out;
  int mask_rows; /* dim of the scores that counts queries; keys are the last */
} attention_form;

static const attention_form kPlain = {"bsd,dhk->bshk", "bqhk,bshk->bhqs", "bhqs,bshk->bhqk", "bhqk,hkd->bqd", 2};
static const attention_form kGrouped = {"bsd,dgrk->bsgrk", "bqgrk,bsgk->bgqrs", "bgqrs,bsgk->bgqrk", "bgqrk,grkd->bqd",
                                        2};
static const char kKeyEquation[] = "bsd,dgk->bsgk";

sw_rc swg_attention_init(const swg_config *c, swg_attention *a, sw_diag *d) {
  int64_t heads = swg_get(c, SW_GEN_HEADS), kv = swg_get(c, SW_GEN_KV_HEADS), dim = swg_get(c, SW_GEN_HEAD_DIM);
  if (dim == 0) SW_TRY(swg_check_divides(c, SW_GEN_HIDDEN, SW_GEN_HEADS, d));
  if (kv != 0) SW_TRY(swg_check_divides(c, SW_GEN_HEADS, SW_GEN_KV_HEADS, d));
  *a = (swg_attention){.hidden = swg_get(c, SW_GEN_HIDDEN), .mask = -1, .cos = -1, .sin = -1, .position = -1};
  a->head_dim = dim ? dim : a->hidden / heads;
  a->kv_heads = kv ? kv : heads;
  a->per_kv = heads / a->kv_heads;
  a->fused = swg_get(c, SW_GEN_ATTENTION) == SWG_FUSED_ATTENTION;
  return SW_OK;
}

sw_id swg_add_rows(swg_builder *b, const char *name, sw_id x, sw_id rows) {
  swg_enter(b, "%s", name);
  sw_id wide = swg_trailing(b, "rows", rows, x);
  swg_leave(b);
  return swg_binary(b, SW_OP_ADD, name, x, wide);
}

/* Name of the weight or bias of op NAME: wq of q, w_in of in. */
static void weight_name(char kind, const char *name, char *out, size_t size) {
  snprintf(out, size, name[1] ? "%c_%s" : "%c%s", kind, name);
}

/* Op NAME = einsum of x and its weight, plus a bias of the result's last `bias_rank` dims. */
static sw_id project(swg_builder *b, const char *name, const char *equation, sw_id x, swg_shape weight, int bias_rank) {
  char text[32];
  weight_name('w', name, text, sizeof text);
  if (bias_rank == 0) return swg_linear(b, name, equation, x, text, weight);
  char dot[32], of_bias[32];
  snprintf(dot, sizeof dot, "%s.dot", name);
  weight_name('b', name, of_bias, sizeof of_bias);
  swg_shape tail = {.n = bias_rank};
  for (int i = 0; i < bias_rank; i++) tail.at[i] = weight.at[weight.n - bias_rank + i];
  sw_id y = swg_linear(b, dot, equation, x, text, weight);
  return swg_add_rows(b, name, y, swg_param(b, of_bias, tail));
}

sw_id swg_rotate(swg_builder *b, const char *name, sw_id x, const swg_attention *a) {
  int last = swg_type(b, x)->rank - 1;
  int64_t half = swg_shape_of(b, a->cos).at[1];
  swg_enter(b, "%s", name);
  sw_id lo = swg_slice(b, "lo", x, last, 0, half), hi = swg_slice(b, "hi", x, last, half, 2 * half);
  swg_shape shape = swg_shape_of(b, lo), dims = SWG_SHAPE(1, last);
  sw_id cos = swg_broadcast(b, "cos", a->cos, shape, dims), sin = swg_broadcast(b, "sin", a->sin, shape, dims);
  sw_id lo_cos = swg_binary(b, SW_OP_MULTIPLY, "lo_cos", lo, cos);
  sw_id hi_sin = swg_binary(b, SW_OP_MULTIPLY, "hi_sin", hi, sin);
  sw_id new_lo = swg_binary(b, SW_OP_SUBTRACT, "new_lo", lo_cos, hi_sin);
  sw_id hi_cos = swg_binary(b, SW_OP_MULTIPLY, "hi_cos", hi, cos);
  sw_id lo_sin = swg_binary(b, SW_OP_MULTIPLY, "lo_sin", lo, sin);
  sw_id new_hi = swg_binary(b, SW_OP_ADD, "new_hi", hi_cos, lo_sin);
  int64_t width = swg_shape_of(b, x).at[last];
  sw_id parts[] = {new_lo, new_hi, width > 2 * half ? swg_slice(b, "rest", x, last, 2 * half, width) : -1};
  swg_leave(b);
  return swg_concatenate(b, name, last, width > 2 * half ? 3 : 2, parts);
}

/* The cache with the new row at the position; also an output. */
static sw_id extend_cache(swg_builder *b, const char *name, const swg_attention *a, sw_id row) {
  char text[32];
  snprintf(text, sizeof text, "%s_cache", name);
  swg_shape shape = swg_shape_of(b, row);
  shape.at[1] = a->cache;
  sw_id cache = swg_arg(b, text, SW_VALUE_STATE, b->dtype, shape);
  snprintf(text, sizeof text, "%s_zero", name);
  sw_id zero = swg_splat(b, text, 0, SW_I32, SWG_SCALAR);
  snprintf(text, sizeof text, "new_%s_cache", name);
  sw_id full =
      swg_op(b, SW_OP_DYNAMIC_UPDATE_SLICE, text, SWG_IDS(cache, row, zero, a->position, zero, zero), SWG_NONE);
  if (!b->rc) swg_output(b, b->graph->values[full].name, full, cache);
  return full;
}

/* Softmax of the scores and, in one column more that is then left out, the heads' sinks. */
static sw_id weights_beside_sinks(swg_builder *b, const swg_attention *a, sw_id scores) {
  swg_shape shape = swg_shape_of(b, scores), column = shape;
  int last = shape.n - 1;
  column.at[last] = 1;
  bool plain = a->per_kv == 1;
  sw_id sinks = swg_param(b, "sinks", plain ? SWG_SHAPE(a->kv_heads) : SWG_SHAPE(a->kv_heads, a->per_kv));
  sw_id wide = swg_broadcast(b, "sinks_wide", sinks, column, plain ? SWG_SHAPE(1) : SWG_SHAPE(1, 3));
  sw_id all = swg_op(b, SW_OP_SOFTMAX, "weights_all",
                     SWG_IDS(swg_concatenate(b, "scores_all", last, SWG_IDS(scores, wide))), SWG_NONE);
  return swg_slice(b, "weights", all, last, 0, shape.at[last]);
}

static sw_id attention_weights(swg_builder *b, const swg_attention *a, const attention_form *f, sw_id q, sw_id k) {
  sw_id scaled = swg_scale(b, "scaled", q, 1 / sqrt((double)a->head_dim));
  sw_id scores = swg_einsum(b, "scores", f->scores, SWG_IDS(scaled, k));
  if (a->mask >= 0) {
    swg_shape shape = swg_shape_of(b, scores);
    sw_id mask = swg_broadcast(b, "mask", a->mask, shape, SWG_SHAPE(f->mask_rows, shape.n - 1));
    scores = swg_binary(b, SW_OP_ADD, "masked", scores, mask);
  }
  if (a->sinks) return weights_beside_sinks(b, a, scores);
  return swg_op(b, SW_OP_SOFTMAX, "weights", SWG_IDS(scores), SWG_NONE);
}

/* All in one op, [batch, position, head, width]; heads of one kv head lie together. */
static sw_id fused_mix(swg_builder *b, const swg_attention *a, sw_id query, sw_id key, sw_id value) {
  const swg_shape q = swg_shape_of(b, query);
  if (a->per_kv > 1)
    query = swg_reshape(b, "q_heads", query, SWG_SHAPE(q.at[0], q.at[1], a->kv_heads * a->per_kv, a->head_dim));
  const sw_id in[] = {query, key, value, a->position};
  const bool placed = a->causal && a->position >= 0;
  sw_id mix = swg_op(b, SW_OP_ATTENTION, a->per_kv > 1 ? "mix_heads" : "mix", 3 + placed, in,
                     SWG_ATTRS(SWG_INT(CAUSAL, a->causal), SWG_TEXT(LAYOUT, "bshd")));
  return a->per_kv > 1 ? swg_reshape(b, "mix", mix, q) : mix;
}

sw_id swg_self_attention(swg_builder *b, const swg_attention *a, sw_id x) {
  const attention_form *f = a->per_kv == 1 ? &kPlain : &kGrouped;
  int64_t d = a->hidden, g = a->kv_heads, r = a->per_kv, k = a->head_dim;
  bool plain = f == &kPlain;
  swg_shape wq = plain ? SWG_SHAPE(d, g, k) : SWG_SHAPE(d, g, r, k);
  swg_shape wo = plain ? SWG_SHAPE(g, k, d) : SWG_SHAPE(g, r, k, d);
  sw_id query = project(b, "q", f->q, x, wq, a->bias ? wq.n - 1 : 0);
  sw_id key = project(b, "k", kKeyEquation, x, SWG_SHAPE(d, g, k), a->bias ? 2 : 0);
  sw_id value = project(b, "v", kKeyEquation, x, SWG_SHAPE(d, g, k), a->bias ? 2 : 0);
  if (a->qk_norm) {
    query = swg_rms_norm(b, "q_norm", query);
    key = swg_rms_norm(b, "k_norm", key);
  }
  if (a->cos >= 0) {
    query = swg_rotate(b, "q_rot", query, a);
    key = swg_rotate(b, "k_rot", key, a);
  }
  if (a->position >= 0) {
    key = extend_cache(b, "k", a, key);
    value = extend_cache(b, "v", a, value);
  }
  if (a->fused) {
    sw_id mix = fused_mix(b, a, query, key, value);
    return project(b, "o", plain ? "bqhk,hkd->bqd" : "bqgrk,grkd->bqd", mix, wo, a->bias ? 1 : 0);
  }
  sw_id weights = swg_dropout(b, "weights_kept", attention_weights(b, a, f, query, key));
  sw_id mix = swg_einsum(b, "mix", f->mix, SWG_IDS(weights, value));
  return project(b, "o", f->out, mix, wo, a->bias ? 1 : 0);
}

/* What is added to a score that must not count: every float type has it, and softmax turns it into 0. */
static const double kNever = -30000;

static sw_id mask_of(swg_builder *b, sw_id allowed) {
  swg_shape shape = swg_shape_of(b, allowed);
  sw_id zero = swg_splat(b, "zero", 0, b->dtype, shape), never = swg_splat(b, "never", kNever, b->dtype, shape);
  return swg_select(b, "add", allowed, zero, never);
}

static sw_id causal_mask(swg_builder *b, int64_t n) {
  swg_enter(b, "mask");
  sw_id queries = swg_iota(b, "queries", SW_I32, SWG_SHAPE(n, n), 0);
  sw_id keys = swg_iota(b, "keys", SW_I32, SWG_SHAPE(n, n), 1);
  sw_id mask = mask_of(b, swg_compare(b, "ge", "causal", queries, keys));
  swg_leave(b);
  return mask;
}

sw_id swg_window_mask(swg_builder *b, int64_t n, int64_t window, sw_id position) {
  const swg_shape shape = SWG_SHAPE(position < 0 ? n : 1, n);
  swg_enter(b, "window");
  sw_id queries = position < 0 ? swg_iota(b, "queries", SW_I32, shape, 0)
                               : swg_broadcast(b, "queries", position, shape, SWG_SCALAR);
  sw_id keys = swg_iota(b, "keys", SW_I32, shape, 1);
  sw_id behind = swg_binary(b, SW_OP_SUBTRACT, "behind", queries, keys);
  sw_id near = swg_compare(b, "lt", "near", behind, swg_splat_like(b, "size", (double)window, behind));
  sw_id past = swg_compare(b, "ge", "causal", queries, keys);
  sw_id mask = mask_of(b, swg_binary(b, SW_OP_AND, "seen", near, past));
  swg_leave(b);
  return mask;
}

static sw_id filled_mask(swg_builder *b, int64_t n, sw_id position) {
  swg_shape shape = SWG_SHAPE(1, n);
  swg_enter(b, "mask");
  sw_id keys = swg_iota(b, "keys", SW_I32, shape, 1);
  sw_id last = swg_broadcast(b, "last", position, shape, SWG_SCALAR);
  sw_id mask = mask_of(b, swg_compare(b, "le", "filled", keys, last));
  swg_leave(b);
  return mask;
}

void swg_causal(swg_builder *b, int64_t n, swg_attention *a) {
  a->causal = true;
  if (!a->fused) a->mask = a->position < 0 ? causal_mask(b, n) : filled_mask(b, n, a->position);
}

void swg_rotary(swg_builder *b, int64_t n, sw_id position, double base, swg_attention *a) {
  swg_shape shape = SWG_SHAPE(n, a->head_dim / 2);
  swg_enter(b, "rotary");
  sw_id index = swg_iota(b, "index", SW_F32, shape, 1);
  sw_id frequency =
      swg_unary(b, SW_OP_EXP, "frequency", swg_scale(b, "exponent", index, -2 * log(base) / (double)a->head_dim));
  sw_id at = position < 0
                 ? swg_iota(b, "position", SW_F32, shape, 0)
                 : swg_broadcast(b, "position", swg_convert(b, "position_f32", position, SW_F32), shape, SWG_SCALAR);
  sw_id angle = swg_binary(b, SW_OP_MULTIPLY, "angle", at, frequency);
  a->cos = swg_convert(b, "cos_narrow", swg_unary(b, SW_OP_COS, "cos", angle), b->dtype);
  a->sin = swg_convert(b, "sin_narrow", swg_unary(b, SW_OP_SIN, "sin", angle), b->dtype);
  swg_leave(b);
}

int64_t swg_ffn(const swg_config *c) {
  int64_t ffn = swg_get(c, SW_GEN_FFN);
  return ffn ? ffn : 4 * swg_get(c, SW_GEN_HIDDEN);
}

sw_id swg_gelu_block(swg_builder *b, sw_id x, const swg_gelu *g) {
  sw_id up = project(b, "in", "bsd,df->bsf", x, SWG_SHAPE(g->hidden, g->ffn), g->bias);
  sw_id act = swg_op(b, SW_OP_GELU, "act", SWG_IDS(up), SWG_ATTRS(SWG_INT(APPROXIMATE, g->approximate)));
  return project(b, "out", "bsf,fd->bsd", act, SWG_SHAPE(g->ffn, g->hidden), g->bias);
}

sw_id swg_pre_norm_block(swg_builder *b, const swg_attention *a, sw_id x, int64_t ffn, bool approximate) {
  sw_id normed = swg_layer_norm(b, "ln_1", x, a->bias);
  swg_enter(b, "attn");
  sw_id attended = swg_self_attention(b, a, normed);
  swg_leave(b);
  x = swg_binary(b, SW_OP_ADD, "sum_1", x, swg_dropout(b, "drop_1", attended));
  normed = swg_layer_norm(b, "ln_2", x, a->bias);
  swg_enter(b, "mlp");
  sw_id fed = swg_gelu_block(b, normed, &(swg_gelu){a->hidden, ffn, approximate, a->bias});
  swg_leave(b);
  return swg_binary(b, SW_OP_ADD, "sum_2", x, swg_dropout(b, "drop_2", fed));
}

sw_id swg_gated_block(swg_builder *b, sw_id x, int64_t hidden, int64_t ffn) {
  sw_id gate = project(b, "gate", "bsd,df->bsf", x, SWG_SHAPE(hidden, ffn), 0);
  sw_id up = project(b, "up", "bsd,df->bsf", x, SWG_SHAPE(hidden, ffn), 0);
  sw_id act = swg_op(b, SW_OP_SILU, "act", SWG_IDS(gate), SWG_NONE);
  sw_id product = swg_binary(b, SW_OP_MULTIPLY, "product", act, up);
  return project(b, "down", "bsf,fd->bsd", product, SWG_SHAPE(ffn, hidden), 0);
}

/* Eight random bits decide an element. */
sw_id swg_dropout(swg_builder *b, const char *name, sw_id x) {
  const double kBytes = 256;
  const double least = ceil(b->dropped * kBytes);
  if (b->dropped <= 0) return x;
  swg_shape shape = swg_shape_of(b, x);
  swg_function(b, name);
  swg_enter(b, "%s", name);
  b->random = swg_op(b, SW_OP_RNG_BITS, "bits", SWG_IDS(b->random),
                     SWG_ATTRS(SWG_INTS_N(SHAPE, shape.at, shape.n), SWG_INT(DTYPE, SW_U8)));
  sw_id bits = b->rc ? -1 : b->random + 1; /* its second result */
  sw_id kept = swg_compare(b, "ge", "kept", bits, swg_splat_like(b, "least", least, bits));
  sw_id zero = swg_splat_like(b, "zero", 0, x), larger = swg_scale(b, "larger", x, kBytes / (kBytes - least));
  swg_leave(b);
  sw_id y = swg_select(b, name, kept, larger, zero);
  swg_function(b, NULL);
  return y;
}

sw_id swg_dense(swg_builder *b, const char *name, sw_id x, int64_t to, bool bias) {
  static const char *const kEquations[] = {"d,de->e", "bd,de->be", "bsd,de->bse", "bstd,de->bste"};
  swg_shape in = swg_shape_of(b, x);
  if (in.n < 1 || in.n > 4) {
    swg_fail(b, SW_BUG(b->diag, "a dense layer of %d dims", in.n));
    return -1;
  }
  swg_enter(b, "%s", name);
  sw_id dot = swg_linear(b, "dot", kEquations[in.n - 1], x, "w", SWG_SHAPE(in.at[in.n - 1], to));
  sw_id bias_row = bias ? swg_param(b, "b", SWG_SHAPE(to)) : -1;
  swg_leave(b);
  return bias ? swg_add_rows(b, name, dot, bias_row) : dot;
}

sw_id swg_layer_norm(swg_builder *b, const char *name, sw_id x, bool bias) {
  swg_shape shape = swg_shape_of(b, x), row = SWG_SHAPE(shape.at[shape.n - 1]);
  swg_enter(b, "%s", name);
  sw_id gamma = swg_param(b, "weight", row);
  sw_id beta = bias ? swg_param(b, "bias", row) : swg_splat(b, "zero", 0, b->dtype, row);
  swg_leave(b);
  return swg_op(b, SW_OP_LAYER_NORM, name, SWG_IDS(x, gamma, beta), SWG_NONE);
}

sw_id swg_rms_norm(swg_builder *b, const char *name, sw_id x) {
  swg_shape shape = swg_shape_of(b, x);
  swg_enter(b, "%s", name);
  sw_id gamma = swg_param(b, "weight", SWG_SHAPE(shape.at[shape.n - 1]));
  swg_leave(b);
  return swg_op(b, SW_OP_RMS_NORM, name, SWG_IDS(x, gamma), SWG_NONE);
}

sw_id swg_take(swg_builder *b, const char *name, sw_id table, sw_id tokens) {
  return swg_op(b, SW_OP_TAKE, name, SWG_IDS(table, tokens), SWG_NONE);
}

/* The element of each row that its label says: a gather with every row a batch of its own, so that no table of rows by
 * classes is made of the labels. */
static sw_id pick_labels(swg_builder *b, const char *name, sw_id x, sw_id labels) {
  swg_shape sizes = swg_shape_of(b, x), rows = {0};
  int last = sizes.n - 1;
  for (int i = 0; i < sizes.n; i++) sizes.at[i] = 1;
  for (int i = 0; i < last; i++) rows.at[rows.n++] = i;
  return swg_op(b, SW_OP_GATHER, name, SWG_IDS(x, labels),
                SWG_ATTRS(SWG_INTS_N(SIZES, sizes.at, sizes.n), SWG_INTS_N(OFFSET_DIMS, rows.at, 0),
                          SWG_INTS(COLLAPSED_DIMS, last), SWG_INTS_N(OPERAND_BATCH, rows.at, rows.n),
                          SWG_INTS_N(INDICES_BATCH, rows.at, rows.n), SWG_INTS(START_INDEX_MAP, last),
                          SWG_INT(INDEX_VECTOR_DIM, last)));
}

/* x with its last dim put behind the rows of it, for what is one number a row. */
static sw_id spread_rows(swg_builder *b, const char *name, sw_id rows, sw_id x) {
  swg_shape shape = swg_shape_of(b, x), dims = {0};
  for (int i = 0; i + 1 < shape.n; i++) dims.at[dims.n++] = i;
  return swg_broadcast(b, name, rows, shape, dims);
}

/* What is picked stands before the exponentials, so that backward adds it to their gradient where that lies. */
static sw_id fused_loss(swg_builder *b, sw_id logits, sw_id labels, sw_dtype wide, int last) {
  swg_function(b, "each");
  sw_id x = swg_convert(b, "logits", logits, wide);
  sw_id max = spread_rows(b, "max_wide", swg_reduce(b, "max", "max", x, SWG_SHAPE(last)), x);
  sw_id shifted = swg_binary(b, SW_OP_SUBTRACT, "shifted", x, max);
  sw_id picked = pick_labels(b, "picked", shifted, labels);
  sw_id sum = swg_reduce(b, "sum", "sum", swg_unary(b, SW_OP_EXP, "exp", shifted), SWG_SHAPE(last));
  sw_id each = swg_binary(b, SW_OP_SUBTRACT, "each", swg_unary(b, SW_OP_LOG, "log", sum), picked);
  swg_function(b, NULL);
  return each;
}

/* Wider logits, the logarithm of their softmax, and what is picked of that: each a call, whose result is a tensor. */
static sw_id called_loss(swg_builder *b, sw_id logits, sw_id labels, sw_dtype wide, int last) {
  swg_function(b, "wide()");
  sw_id x = swg_convert(b, "wide", logits, wide);
  swg_function(b, "log_softmax()");
  sw_id max = spread_rows(b, "max_wide", swg_reduce(b, "max", "max", x, SWG_SHAPE(last)), x);
  sw_id shifted = swg_binary(b, SW_OP_SUBTRACT, "shifted", x, max);
  sw_id sum = swg_reduce(b, "sum", "sum", swg_unary(b, SW_OP_EXP, "exp", shifted), SWG_SHAPE(last));
  sw_id log = spread_rows(b, "log_wide", swg_unary(b, SW_OP_LOG, "log", sum), x);
  sw_id y = swg_binary(b, SW_OP_SUBTRACT, "log_softmax", shifted, log);
  swg_function(b, "each()");
  sw_id each = swg_unary(b, SW_OP_NEGATE, "each", pick_labels(b, "picked", y, labels));
  swg_function(b, NULL);
  return each;
}

/* Mean over all rows of -log softmax(logits)[label]; labels: i32 input of the logits' leading dims. The sum is taken in
 * f32 or wider. Output "loss". */
static void cross_entropy(swg_builder *b, sw_id logits, bool called) {
  swg_enter(b, "loss");
  const sw_dtype wide = b->dtype == SW_F64 ? SW_F64 : SW_F32;
  swg_shape rows = swg_shape_of(b, logits), all = {0};
  int last = --rows.n;
  double count = 1;
  for (int i = 0; i < last; i++) {
    all.at[all.n++] = i;
    count *= (double)rows.at[i];
  }
  sw_id labels = swg_tokens(b, "labels", rows);
  sw_id each = (called ? called_loss : fused_loss)(b, logits, labels, wide, last);
  sw_id mean = swg_scale(b, "mean", swg_reduce(b, "total", "sum", each, all), 1 / count);
  swg_leave(b);
  swg_output(b, "loss", mean, -1);
}

void swg_finish_logits(swg_builder *b, const swg_config *c, sw_id logits) {
  if (swg_training(c)) {
    cross_entropy(b, logits, swg_get(c, SW_GEN_LOSS) == SWG_CALLED_LOSS);
  } else {
    swg_output(b, "logits", logits, -1);
  }
}

static void squared_loss(swg_builder *b, sw_id y) {
  swg_shape shape = swg_shape_of(b, y), all = {.n = shape.n};
  double count = 1;
  for (int i = 0; i < shape.n; i++) {
    all.at[i] = i;
    count *= (double)shape.at[i];
  }
  sw_id target = swg_arg(b, "target", SW_VALUE_INPUT, b->dtype, shape);
  swg_enter(b, "loss");
  sw_id difference = swg_binary(b, SW_OP_SUBTRACT, "difference", y, target);
  sw_id squares = swg_binary(b, SW_OP_MULTIPLY, "squares", difference, difference);
  sw_id mean = swg_scale(b, "mean", swg_reduce(b, "total", "sum", squares, all), 1 / count);
  swg_leave(b);
  swg_output(b, "loss", mean, -1);
}

void swg_finish_values(swg_builder *b, const swg_config *c, sw_id y) {
  if (swg_training(c)) {
    squared_loss(b, y);
  } else {
    swg_output(b, "y", y, -1);
  }
}
