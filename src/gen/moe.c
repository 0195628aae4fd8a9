/* Top-k routing as einsums, as GShard does it; a sequence is a group. b batch, s token, k choice, e expert, c slot:
 *
 *   weight [b,s,k] = the top k of softmax(x router), divided by their sum
 *   chosen [b,s,k,e] = one_hot of the experts picked
 *   slot   [b,s,k] = how many earlier choices of the sequence picked the same expert (all first choices come first)
 *   place  [b,s,k,c] = one_hot(slot, capacity): zero when the expert is full
 *   dispatch [b,s,e,c] = sum_k chosen * place         combine = sum_k weight * chosen * place
 *   in  = "bsec,bsd->becd"        this and the next are where experts on other devices need an all_to_all
 *   mid = "becd,edf->ebcf"        y = "bsec,ebcd->bsd"(combine, "ebcf,efd->ebcd")
 */
#include "gen/moe.h"
#include "gen/transformer.h"

sw_rc swg_moe_init(const swg_config *c, swg_moe *m, sw_diag *d) {
  int64_t tokens = swg_get(c, SW_GEN_MODE) == SWG_DECODE ? swg_get(c, SW_GEN_BATCH) : swg_get(c, SW_GEN_SEQ);
  *m = (swg_moe){.hidden = swg_get(c, SW_GEN_HIDDEN),
                 .experts = swg_get(c, SW_GEN_EXPERTS),
                 .top_k = swg_get(c, SW_GEN_TOP_K),
                 .capacity = swg_get(c, SW_GEN_CAPACITY)};
  if (m->top_k > m->experts) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "top-k %lld is more than experts %lld", (long long)m->top_k,
                         (long long)m->experts);
  }
  if (m->capacity == 0) m->capacity = (5 * tokens * m->top_k + 4 * m->experts - 1) / (4 * m->experts);
  return SW_OK;
}

/* Sums of `x` (i32) over the entries before each along `dim`. */
static sw_id count_before(swg_builder *b, const char *name, sw_id x, int dim) {
  return swg_op(b, SW_OP_CUMSUM, name, SWG_IDS(x), SWG_ATTRS(SWG_INT(DIM, dim), SWG_INT(EXCLUSIVE, true)));
}

static sw_id one_hot(swg_builder *b, const char *name, sw_id x, int64_t k, sw_dtype t) {
  return swg_op(b, SW_OP_ONE_HOT, name, SWG_IDS(x), SWG_ATTRS(SWG_INT(K, k), SWG_INT(DTYPE, t)));
}

/* The slot of each choice in its expert, [b,s,k]. */
static sw_id slots(swg_builder *b, sw_id chosen) {
  swg_shape shape = swg_shape_of(b, chosen);
  sw_id earlier_tokens = count_before(b, "earlier_tokens", chosen, 1);
  sw_id totals = swg_reduce(b, "totals", "sum", chosen, SWG_SHAPE(1));
  sw_id earlier_choices = count_before(b, "earlier_choices", totals, 1);
  sw_id before = swg_binary(b, SW_OP_ADD, "before", earlier_tokens,
                            swg_broadcast(b, "earlier_choices_wide", earlier_choices, shape, SWG_SHAPE(0, 2, 3)));
  return swg_reduce(b, "slot", "sum", swg_binary(b, SW_OP_MULTIPLY, "before_chosen", before, chosen), SWG_SHAPE(3));
}

typedef struct routing {
  sw_id dispatch, combine; /* [b,s,e,c] */
} routing;

/* The expert of each choice, and what its result weighs before all weights of a token are divided by their sum. */
typedef struct choice {
  sw_id expert, weight; /* [b,s,k], i32 and float */
} choice;

static choice choose_by_softmax(swg_builder *b, const swg_moe *m, sw_id logits) {
  sw_id shares = swg_op(b, SW_OP_SOFTMAX, "shares", SWG_IDS(logits), SWG_NONE);
  sw_id top = swg_op(b, SW_OP_TOP_K, "top", SWG_IDS(shares), SWG_ATTRS(SWG_INT(K, m->top_k)));
  return (choice){b->rc ? -1 : top + 1, top};
}

/* DeepSeek-AI 2024, arXiv:2412.19437, section 2.1.2, without the limit to few nodes: the correction takes part in the
 * choice alone, so it has no gradient. */
static choice choose_by_sigmoid(swg_builder *b, const swg_moe *m, sw_id logits) {
  sw_id scores = swg_unary(b, SW_OP_LOGISTIC, "shares", logits);
  sw_id corrected = swg_add_rows(b, "corrected", scores, swg_param(b, "correction", SWG_SHAPE(m->experts)));
  sw_id top = swg_op(b, SW_OP_TOP_K, "top", SWG_IDS(corrected), SWG_ATTRS(SWG_INT(K, m->top_k)));
  sw_id expert = b->rc ? -1 : top + 1;
  sw_id hot = one_hot(b, "top_hot", expert, m->experts, b->dtype);
  return (choice){expert, swg_einsum(b, "top_scores", "bske,bse->bsk", SWG_IDS(hot, scores))};
}

static routing route(swg_builder *b, const swg_moe *m, sw_id x) {
  sw_id router = swg_param(b, "router", SWG_SHAPE(m->hidden, m->experts));
  sw_id logits = swg_einsum(b, "router_logits", "bsd,de->bse", SWG_IDS(x, router));
  if (m->bias) logits = swg_add_rows(b, "router_biased", logits, swg_param(b, "router_bias", SWG_SHAPE(m->experts)));
  choice c = m->sigmoid ? choose_by_sigmoid(b, m, logits) : choose_by_softmax(b, m, logits);
  swg_shape shape = swg_shape_of(b, c.weight);
  sw_id sum = swg_reduce(b, "top_sum", "sum", c.weight, SWG_SHAPE(2));
  sw_id weight =
      swg_binary(b, SW_OP_DIVIDE, "weight", c.weight, swg_broadcast(b, "top_sum_wide", sum, shape, SWG_SHAPE(0, 1)));
  if (m->sigmoid) weight = swg_scale(b, "weight_scaled", weight, m->scale);
  sw_id chosen = one_hot(b, "chosen", c.expert, m->experts, SW_I32);
  sw_id place = one_hot(b, "place", slots(b, chosen), m->capacity, b->dtype);
  chosen = swg_convert(b, "chosen_float", chosen, b->dtype);
  sw_id wide = swg_broadcast(b, "weight_wide", weight, swg_shape_of(b, chosen), SWG_SHAPE(0, 1, 2));
  sw_id weighted = swg_binary(b, SW_OP_MULTIPLY, "weighted", chosen, wide);
  return (routing){swg_einsum(b, "dispatch", "bske,bskc->bsec", SWG_IDS(chosen, place)),
                   swg_einsum(b, "combine", "bske,bskc->bsec", SWG_IDS(weighted, place))};
}

/* x [e,b,c,f] plus a bias [e,f] of each expert, when experts have biases. */
static sw_id add_expert_bias(swg_builder *b, const swg_moe *m, const char *name, sw_id x) {
  swg_shape shape = swg_shape_of(b, x);
  if (!m->bias || shape.n != 4) return x;
  swg_enter(b, "%s", name);
  sw_id bias = swg_param(b, "b", SWG_SHAPE(shape.at[0], shape.at[3]));
  sw_id wide = swg_broadcast(b, "b_wide", bias, shape, SWG_SHAPE(0, 3));
  sw_id sum = swg_binary(b, SW_OP_ADD, "biased", x, wide);
  swg_leave(b);
  return sum;
}

static const double kClamp = 7, kSlope = 1.702;

/* OpenAI 2025, arXiv:2508.10925, section 2.1; the constants from its reference implementation. */
static sw_id clamped_gate(swg_builder *b, sw_id gate, sw_id up) {
  gate = swg_binary(b, SW_OP_MINIMUM, "gate_low", gate, swg_splat_like(b, "gate_most", kClamp, gate));
  up = swg_binary(b, SW_OP_MINIMUM, "up_low", up, swg_splat_like(b, "up_most", kClamp, up));
  up = swg_binary(b, SW_OP_MAXIMUM, "up_within", up, swg_splat_like(b, "up_least", -kClamp, up));
  sw_id open = swg_unary(b, SW_OP_LOGISTIC, "open", swg_scale(b, "gate_slope", gate, kSlope));
  sw_id act = swg_binary(b, SW_OP_MULTIPLY, "act", gate, open);
  return swg_binary(b, SW_OP_MULTIPLY, "product", act, swg_shift(b, "up_one", up, 1));
}

sw_id swg_moe_block(swg_builder *b, const swg_moe *m, sw_id x) {
  static const char kIn[] = "becd,edf->ebcf";
  routing r = route(b, m, x);
  int64_t e = m->experts, d = m->hidden, f = m->ffn;
  sw_id in = swg_einsum(b, "in", "bsec,bsd->becd", SWG_IDS(r.dispatch, x));
  const swg_weight w_gate = swg_weight_of(b, "w_gate", SWG_SHAPE(e, d, f));
  const swg_weight w_up = swg_weight_of(b, "w_up", SWG_SHAPE(e, d, f));
  const swg_weight w_down = swg_weight_of(b, "w_down", SWG_SHAPE(e, f, d));
  sw_id gate = add_expert_bias(b, m, "gate", swg_linear_by(b, "gate", kIn, in, &w_gate));
  sw_id up = add_expert_bias(b, m, "up", swg_linear_by(b, "up", kIn, in, &w_up));
  sw_id product;
  if (m->clamped) {
    product = clamped_gate(b, gate, up);
  } else {
    product = swg_binary(b, SW_OP_MULTIPLY, "product", swg_op(b, SW_OP_SILU, "act", SWG_IDS(gate), SWG_NONE), up);
  }
  sw_id down = add_expert_bias(b, m, "down", swg_linear_by(b, "down", "ebcf,efd->ebcd", product, &w_down));
  return swg_einsum(b, "out", "bsec,ebcd->bsd", SWG_IDS(r.combine, down));
}
