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
#include "io/gen/moe.h"

sw_rc swg_moe_init(const swg_config *c, swg_moe *m, sw_diag *d) {
  int64_t seq = swg_get(c, SW_GEN_SEQ);
  *m = (swg_moe){.hidden = swg_get(c, SW_GEN_HIDDEN),
                 .experts = swg_get(c, SW_GEN_EXPERTS),
                 .top_k = swg_get(c, SW_GEN_TOP_K),
                 .capacity = swg_get(c, SW_GEN_CAPACITY)};
  if (m->top_k > m->experts) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "top-k %lld is more than experts %lld", (long long)m->top_k,
                         (long long)m->experts);
  }
  if (m->capacity == 0) m->capacity = (5 * seq * m->top_k + 4 * m->experts - 1) / (4 * m->experts);
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

static routing route(swg_builder *b, const swg_moe *m, sw_id x) {
  sw_id router = swg_param(b, "router", SWG_SHAPE(m->hidden, m->experts));
  sw_id logits = swg_einsum(b, "router_logits", "bsd,de->bse", SWG_IDS(x, router));
  sw_id shares = swg_op(b, SW_OP_SOFTMAX, "shares", SWG_IDS(logits), SWG_NONE);
  sw_id top = swg_op(b, SW_OP_TOP_K, "top", SWG_IDS(shares), SWG_ATTRS(SWG_INT(K, m->top_k)));
  sw_id expert = b->rc ? -1 : top + 1;
  swg_shape shape = swg_shape_of(b, top);
  sw_id sum = swg_reduce(b, "top_sum", "sum", top, SWG_SHAPE(2));
  sw_id weight =
      swg_binary(b, SW_OP_DIVIDE, "weight", top, swg_broadcast(b, "top_sum_wide", sum, shape, SWG_SHAPE(0, 1)));
  sw_id chosen = one_hot(b, "chosen", expert, m->experts, SW_I32);
  sw_id place = one_hot(b, "place", slots(b, chosen), m->capacity, b->dtype);
  chosen = swg_convert(b, "chosen_float", chosen, b->dtype);
  sw_id wide = swg_broadcast(b, "weight_wide", weight, swg_shape_of(b, chosen), SWG_SHAPE(0, 1, 2));
  sw_id weighted = swg_binary(b, SW_OP_MULTIPLY, "weighted", chosen, wide);
  return (routing){swg_einsum(b, "dispatch", "bske,bskc->bsec", SWG_IDS(chosen, place)),
                   swg_einsum(b, "combine", "bske,bskc->bsec", SWG_IDS(weighted, place))};
}

sw_id swg_moe_block(swg_builder *b, const swg_moe *m, sw_id x) {
  routing r = route(b, m, x);
  int64_t e = m->experts, d = m->hidden, f = m->ffn;
  sw_id in = swg_einsum(b, "in", "bsec,bsd->becd", SWG_IDS(r.dispatch, x));
  sw_id w_gate = swg_param(b, "w_gate", SWG_SHAPE(e, d, f)), w_up = swg_param(b, "w_up", SWG_SHAPE(e, d, f));
  sw_id w_down = swg_param(b, "w_down", SWG_SHAPE(e, f, d));
  sw_id gate = swg_einsum(b, "gate", "becd,edf->ebcf", SWG_IDS(in, w_gate));
  sw_id up = swg_einsum(b, "up", "becd,edf->ebcf", SWG_IDS(in, w_up));
  sw_id act = swg_op(b, SW_OP_SILU, "act", SWG_IDS(gate), SWG_NONE);
  sw_id product = swg_binary(b, SW_OP_MULTIPLY, "product", act, up);
  sw_id down = swg_einsum(b, "down", "ebcf,efd->ebcd", SWG_IDS(product, w_down));
  return swg_einsum(b, "out", "bsec,ebcd->bsd", SWG_IDS(r.combine, down));
}
