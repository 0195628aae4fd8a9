/* Mamba-2 (Dao and Gu 2024, arXiv:2405.21060): blocks x + mixer(norm(x)), a state space whose positions are worked on
 * in chunks. b batch, s position, c chunk, l and m positions of a chunk, h head, p width of a head, n state:
 *
 *   z, x, B, C, dt = x wz, x wx, x wB, x wC, x wdt    x, B and C then by a causal convolution of a few positions, silu
 *   dt = softplus(dt + bias)       a = -exp(A_log) dt       cum = running sum of a within a chunk
 *   within   y[l] = sum over m <= l of exp(cum[l] - cum[m]) (C[l] B[m]) dt[m] x[m]
 *   between  S[c] = sum over m of exp(cum[last] - cum[m]) B[m] dt[m] x[m];
 *            y[l] += exp(cum[l]) C[l] (decayed S before c)
 *   out      norm((y + D x) silu(z)) wo
 *
 * The matrix that gives z, x, B, C and dt stands here as five, with heads as a dimension: the same elements. Decays are
 * computed in f32 or wider, as in the reference (section 6 and its listing).
 */
#include "gen/transformer.h"

typedef struct mamba {
  int64_t batch, seq, hidden, heads, width, state, chunk, taps;
} mamba;

static sw_id causal(swg_builder *b, int64_t n, const char *direction) {
  sw_id later = swg_iota(b, "later", SW_I32, SWG_SHAPE(n, n), 0);
  sw_id earlier = swg_iota(b, "earlier", SW_I32, SWG_SHAPE(n, n), 1);
  return swg_compare(b, direction, "causal", later, earlier);
}

/* silu of the sum over the last few positions of x times a row of weights each, plus a bias. */
static sw_id convolve_causally(swg_builder *b, const mamba *m, const char *name, sw_id x) {
  swg_shape shape = swg_shape_of(b, x), row = {.n = shape.n - 2}, low = {.n = shape.n}, none = {.n = shape.n};
  for (int i = 0; i < row.n; i++) row.at[i] = shape.at[i + 2];
  low.at[1] = m->taps - 1;
  swg_enter(b, "%s", name);
  sw_id zero = swg_splat(b, "zero", 0, swg_type(b, x)->dtype, SWG_SCALAR);
  sw_id padded = swg_op(b, SW_OP_PAD, "padded", SWG_IDS(x, zero),
                        SWG_ATTRS(SWG_INTS_N(LOW, low.at, low.n), SWG_INTS_N(HIGH, none.at, none.n)));
  sw_id sum = swg_trailing(b, "bias_wide", swg_param(b, "bias", row), x);
  for (int64_t k = 0; k < m->taps && !b->rc; k++) {
    swg_enter(b, "tap_%lld", (long long)k);
    sw_id w = swg_trailing(b, "w_wide", swg_param(b, "w", row), x);
    sw_id part = swg_binary(b, SW_OP_MULTIPLY, "part", swg_slice(b, "x", padded, 1, k, k + m->seq), w);
    sum = swg_binary(b, SW_OP_ADD, "sum", sum, part);
    swg_leave(b);
  }
  swg_leave(b);
  return swg_op(b, SW_OP_SILU, name, SWG_IDS(sum), SWG_NONE);
}

/* log(1 + e^x) as max(x, 0) + log(1 + e^-|x|). */
static sw_id softplus(swg_builder *b, const char *name, sw_id x) {
  swg_enter(b, "%s", name);
  sw_id top = swg_binary(b, SW_OP_MAXIMUM, "top", x, swg_splat_like(b, "zero", 0, x));
  sw_id minus = swg_binary(b, SW_OP_MINIMUM, "minus", x, swg_unary(b, SW_OP_NEGATE, "negative", x));
  sw_id tail = swg_unary(b, SW_OP_LOG, "tail", swg_shift(b, "one_more", swg_unary(b, SW_OP_EXP, "exp", minus), 1));
  swg_leave(b);
  return swg_binary(b, SW_OP_ADD, name, top, tail);
}

/* [b,s,...] as [b,c,l,...]. */
static sw_id in_chunks(swg_builder *b, const mamba *m, const char *name, sw_id x) {
  swg_shape in = swg_shape_of(b, x), out = {.n = in.n + 1};
  out.at[0] = in.at[0];
  out.at[1] = m->seq / m->chunk;
  out.at[2] = m->chunk;
  for (int i = 2; i < in.n; i++) out.at[i + 1] = in.at[i];
  return swg_reshape(b, name, x, out);
}

/* Running sums over dim `letter` of x, by a matrix of zeros and ones. */
static sw_id running_sum(swg_builder *b, const char *name, const char *equation, sw_id x, sw_id seen) {
  swg_enter(b, "%s", name);
  sw_id ones = swg_convert(b, "ones", seen, swg_type(b, x)->dtype);
  swg_leave(b);
  return swg_einsum(b, name, equation, SWG_IDS(x, ones));
}

/* e^(to[.., i] - from[.., j]) where pred[i, j], else 0; both [x,y,i], result [x,y,i,j]. */
static sw_id decay(swg_builder *b, const char *name, sw_id to, sw_id from, sw_id pred) {
  swg_shape shape = swg_shape_of(b, to);
  if (shape.n < 1 || b->rc) return -1;
  int last = shape.n;
  swg_shape rows = {.n = last}, columns = {.n = last};
  for (int i = 0; i < last; i++) rows.at[i] = columns.at[i] = i;
  columns.at[last - 1] = last;
  shape.at[shape.n++] = swg_shape_of(b, from).at[last - 1];
  swg_enter(b, "%s", name);
  sw_id upto = swg_broadcast(b, "to", to, shape, rows), since = swg_broadcast(b, "from", from, shape, columns);
  sw_id difference = swg_binary(b, SW_OP_SUBTRACT, "difference", upto, since);
  sw_id never = swg_splat_like(b, "never", -30000, difference);
  sw_id wide = swg_broadcast(b, "seen", pred, shape, SWG_SHAPE(last - 1, last));
  sw_id kept = swg_select(b, "kept", wide, difference, never);
  swg_leave(b);
  return swg_unary(b, SW_OP_EXP, name, kept);
}

typedef struct stream {
  sw_id x, in, out; /* dt x [b,c,l,h,p]; B and C [b,c,l,n] */
  sw_id cum;        /* [b,h,c,l], wide */
} stream;

static sw_id within_chunks(swg_builder *b, const stream *s, sw_id seen) {
  sw_id passed = swg_convert(b, "decay_narrow", decay(b, "decay", s->cum, s->cum, seen), b->dtype);
  sw_id scores = swg_einsum(b, "scores", "bcln,bcmn->bclm", SWG_IDS(s->out, s->in));
  sw_id wide = swg_broadcast(b, "scores_wide", scores, swg_shape_of(b, passed), SWG_SHAPE(0, 2, 3, 4));
  sw_id weights = swg_binary(b, SW_OP_MULTIPLY, "weights", passed, wide);
  return swg_einsum(b, "within", "bhclm,bcmhp->bclhp", SWG_IDS(weights, s->x));
}

static sw_id between_chunks(swg_builder *b, const mamba *m, const stream *s) {
  int64_t chunks = m->seq / m->chunk;
  sw_id last = swg_slice(b, "last", s->cum, 3, m->chunk - 1, m->chunk);
  sw_id left = swg_binary(b, SW_OP_SUBTRACT, "left",
                          swg_broadcast(b, "last_wide", last, swg_shape_of(b, s->cum), SWG_SHAPE(0, 1, 2, 3)), s->cum);
  sw_id fade = swg_convert(b, "fade_narrow", swg_unary(b, SW_OP_EXP, "fade", left), b->dtype);
  sw_id faded = swg_einsum(b, "faded", "bhcm,bcmhp->bcmhp", SWG_IDS(fade, s->x));
  sw_id states = swg_einsum(b, "states", "bcmn,bcmhp->bchpn", SWG_IDS(s->in, faded));
  swg_enter(b, "chunks");
  sw_id sums = swg_reshape(b, "sums", last, SWG_SHAPE(m->batch, m->heads, chunks));
  sw_id upto = running_sum(b, "upto", "bhz,cz->bhc", sums, causal(b, chunks, "ge"));
  sw_id before = swg_binary(b, SW_OP_SUBTRACT, "before", upto, sums);
  swg_enter(b, "strict");
  sw_id strictly = causal(b, chunks, "gt");
  swg_leave(b);
  sw_id passed = swg_convert(b, "decay_narrow", decay(b, "decay", before, upto, strictly), b->dtype);
  swg_leave(b);
  sw_id earlier = swg_einsum(b, "earlier", "bhcz,bzhpn->bchpn", SWG_IDS(passed, states));
  sw_id seen = swg_einsum(b, "seen", "bcln,bchpn->bclhp", SWG_IDS(s->out, earlier));
  sw_id grown = swg_convert(b, "grown_narrow", swg_unary(b, SW_OP_EXP, "grown", s->cum), b->dtype);
  return swg_einsum(b, "between", "bhcl,bclhp->bclhp", SWG_IDS(grown, seen));
}

/* [b,s,h,p] from x after its convolution. */
static sw_id state_space(swg_builder *b, const mamba *m, sw_id x, sw_id in, sw_id out, sw_id raw) {
  sw_dtype wide = b->dtype == SW_F64 ? SW_F64 : SW_F32;
  sw_id dt = softplus(
      b, "dt",
      swg_convert(b, "dt_wide", swg_add_rows(b, "dt_biased", raw, swg_param(b, "dt_bias", SWG_SHAPE(m->heads))), wide));
  sw_id rate =
      swg_unary(b, SW_OP_EXP, "rate", swg_convert(b, "A_wide", swg_param(b, "A_log", SWG_SHAPE(m->heads)), wide));
  sw_id a = swg_unary(b, SW_OP_NEGATE, "a",
                      swg_binary(b, SW_OP_MULTIPLY, "a_up", dt, swg_trailing(b, "rate_wide", rate, dt)));
  sw_id moved = swg_einsum(b, "x_dt", "bshp,bsh->bshp", SWG_IDS(x, swg_convert(b, "dt_narrow", dt, b->dtype)));
  swg_enter(b, "chunk");
  sw_id seen = causal(b, m->chunk, "ge");
  swg_leave(b);
  stream s;
  s.x = in_chunks(b, m, "x_chunks", moved);
  s.in = in_chunks(b, m, "B_chunks", in);
  s.out = in_chunks(b, m, "C_chunks", out);
  s.cum = running_sum(b, "cum", "bcmh,lm->bhcl", in_chunks(b, m, "a_chunks", a), seen);
  sw_id within = within_chunks(b, &s, seen), between = between_chunks(b, m, &s);
  sw_id y = swg_binary(b, SW_OP_ADD, "y_chunks", within, between);
  y = swg_reshape(b, "y", y, swg_shape_of(b, x));
  sw_id skip = swg_einsum(b, "skip", "bshp,h->bshp", SWG_IDS(x, swg_param(b, "D", SWG_SHAPE(m->heads))));
  return swg_binary(b, SW_OP_ADD, "y_skip", y, skip);
}

static sw_id mixer(swg_builder *b, const mamba *m, sw_id x) {
  const swg_shape to_heads = SWG_SHAPE(m->hidden, m->heads, m->width), to_state = SWG_SHAPE(m->hidden, m->state);
  sw_id z = swg_linear(b, "z", "bsd,dhp->bshp", x, "wz", to_heads);
  sw_id heads = swg_linear(b, "x_in", "bsd,dhp->bshp", x, "wx", to_heads);
  sw_id in = swg_linear(b, "B_in", "bsd,dn->bsn", x, "wB", to_state);
  sw_id out = swg_linear(b, "C_in", "bsd,dn->bsn", x, "wC", to_state);
  sw_id raw = swg_linear(b, "dt_in", "bsd,dh->bsh", x, "wdt", SWG_SHAPE(m->hidden, m->heads));
  heads = convolve_causally(b, m, "x", heads);
  in = convolve_causally(b, m, "B", in);
  out = convolve_causally(b, m, "C", out);
  sw_id y = state_space(b, m, heads, in, out, raw);
  sw_id gated = swg_binary(b, SW_OP_MULTIPLY, "gated", y, swg_op(b, SW_OP_SILU, "gate", SWG_IDS(z), SWG_NONE));
  sw_id flat = swg_reshape(b, "flat", gated, SWG_SHAPE(m->batch, m->seq, m->heads * m->width));
  sw_id normed = swg_reshape(b, "normed", swg_rms_norm(b, "norm", flat), swg_shape_of(b, gated));
  return swg_linear(b, "o", "bshp,hpd->bsd", normed, "wo", SWG_SHAPE(m->heads, m->width, m->hidden));
}

sw_rc swg_build_mamba2(const swg_config *c, sw_graph **out, sw_diag *d) {
  enum { EXPAND = 2, TAPS = 4 }; /* of every published model */
  SW_TRY(swg_check_divides(c, SW_GEN_SEQ, SW_GEN_CHUNK, d));
  mamba m = {.batch = swg_get(c, SW_GEN_BATCH),
             .seq = swg_get(c, SW_GEN_SEQ),
             .hidden = swg_get(c, SW_GEN_HIDDEN),
             .width = swg_get(c, SW_GEN_HEAD_DIM),
             .state = swg_get(c, SW_GEN_STATE),
             .chunk = swg_get(c, SW_GEN_CHUNK),
             .taps = TAPS};
  if (m.width < 1 || EXPAND * m.hidden % m.width) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "twice hidden, %lld, is not a multiple of head-dim %lld",
                         (long long)(EXPAND * m.hidden), (long long)m.width);
  }
  m.heads = EXPAND * m.hidden / m.width;
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  sw_id tokens = swg_tokens(&b, "tokens", SWG_SHAPE(m.batch, m.seq));
  sw_id table = swg_param(&b, "embed_table", SWG_SHAPE(swg_get(c, SW_GEN_VOCAB), m.hidden));
  sw_id x = swg_take(&b, "embed", table, tokens);
  for (int i = 0; i < swg_get(c, SW_GEN_LAYERS) && !b.rc; i++) {
    swg_enter(&b, "layers.%d", i);
    sw_id normed = swg_rms_norm(&b, "norm_in", x);
    swg_enter(&b, "mixer");
    sw_id mixed = mixer(&b, &m, normed);
    swg_leave(&b);
    x = swg_binary(&b, SW_OP_ADD, "sum", x, mixed);
    swg_leave(&b);
  }
  x = swg_rms_norm(&b, "norm_f", x);
  swg_finish_logits(&b, c, swg_einsum(&b, "logits", "bsd,vd->bsv", SWG_IDS(x, table)));
  return swg_finish(&b, out);
}
