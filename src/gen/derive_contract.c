/* Derivatives of contractions, gathers and top_k.
 *
 *   y = einsum("bsd,dhk->bshk", x, w)    dx = "bshk,dhk->bsd"    dw = "bsd,bshk->dhk"
 */
#include <string.h>

#include "gen/contract.h"
#include "gen/train.h"

/* The letters of a dot's operands and result. */
static void dot_letters(const swg_reverse *r, const sw_op *op, swg_letters *a, swg_letters *b, swg_letters *y) {
  int n_batch, n_contract;
  const int64_t *a_batch = sw_op_ints(op, SW_ATTR_LHS_BATCH, &n_batch);
  const int64_t *b_batch = sw_op_ints(op, SW_ATTR_RHS_BATCH, &n_batch);
  const int64_t *a_contract = sw_op_ints(op, SW_ATTR_LHS_CONTRACT, &n_contract);
  const int64_t *b_contract = sw_op_ints(op, SW_ATTR_RHS_CONTRACT, &n_contract);
  *a = *b = *y = (swg_letters){{0}, 0};
  a->n = swg_operand_type(r, op, 0)->rank;
  b->n = swg_operand_type(r, op, 1)->rank;
  for (int i = 0; i < a->n; i++) a->at[i] = (char)('a' + i);
  for (int i = 0; i < n_batch; i++) swg_letters_push(y, b->at[b_batch[i]] = a->at[a_batch[i]]);
  for (int i = 0; i < n_contract; i++) b->at[b_contract[i]] = a->at[a_contract[i]];
  for (int i = 0; i < a->n; i++) {
    if (!swg_letters_have(b, a->at[i])) swg_letters_push(y, a->at[i]);
  }
  for (int i = 0; i < b->n; i++) {
    if (!b->at[i]) swg_letters_push(y, b->at[i] = (char)('A' + i));
  }
}

void swg_derive_dot(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_letters a, b, y;
  dot_letters(r, op, &a, &b, &y);
  g = swg_convert(&r->b, "d_narrow", g, swg_operand_type(r, op, 0)->dtype);
  if (swg_wanted(r, op, 0)) {
    sw_dtype t = swg_gradient_type(r, op->operands[0]);
    swg_give(r, op, 0, swg_contract(&r->b, "d0", t, &(swg_side){&y, g}, &(swg_side){&b, swg_operand(r, op, 1)}, &a));
  }
  if (swg_wanted(r, op, 1)) {
    sw_dtype t = swg_gradient_type(r, op->operands[1]);
    swg_give(r, op, 1, swg_contract(&r->b, "d1", t, &(swg_side){&y, g}, &(swg_side){&a, swg_operand(r, op, 0)}, &b));
  }
}

/* --- convolution ------------------------------------------------------------------------------------------------- */

enum { SPATIAL = 3 };

typedef struct conv_dims {
  int n; /* spatial dims */
  const char *x_layout, *w_layout, *y_layout;
  const int64_t *strides, *low, *dilation;
  int64_t in[SPATIAL], size[SPATIAL], out[SPATIAL]; /* spatial extents of x, w and y, by digit of the layout */
  int w_dims[SPATIAL];
} conv_dims;

static bool conv_dims_of(const swg_reverse *r, const sw_op *op, conv_dims *c) {
  static const int64_t kOnes[SPATIAL] = {1, 1, 1}, kZeros[SPATIAL] = {0, 0, 0};
  int given;
  *c = (conv_dims){.n = swg_operand_type(r, op, 0)->rank - 2,
                   .x_layout = sw_op_text(op, SW_ATTR_LHS_LAYOUT, ""),
                   .w_layout = sw_op_text(op, SW_ATTR_RHS_LAYOUT, ""),
                   .y_layout = sw_op_text(op, SW_ATTR_OUT_LAYOUT, "")};
  const int64_t *at = sw_op_ints(op, SW_ATTR_STRIDES, &given);
  c->strides = given ? at : kOnes;
  at = sw_op_ints(op, SW_ATTR_PAD_LOW, &given);
  c->low = given ? at : kZeros;
  at = sw_op_ints(op, SW_ATTR_RHS_DILATION, &given);
  c->dilation = given ? at : kOnes;
  at = sw_op_ints(op, SW_ATTR_LHS_DILATION, &given);
  bool plain = c->n >= 1 && c->n <= SPATIAL && sw_op_int(op, SW_ATTR_FEATURE_GROUPS, 1) == 1 &&
               sw_op_int(op, SW_ATTR_BATCH_GROUPS, 1) == 1;
  for (int i = 0; i < given; i++) plain = plain && at[i] == 1;
  if (!plain) return false;
  swg_shape x = swg_operand_shape(r, op, 0), w = swg_operand_shape(r, op, 1);
  swg_shape y = swg_shape_of(&r->b, swg_result(r, op));
  for (int i = 0; i < c->n; i++) {
    c->w_dims[i] = (int)(strchr(c->w_layout, '0' + i) - c->w_layout);
    c->in[i] = x.at[strchr(c->x_layout, '0' + i) - c->x_layout];
    c->size[i] = w.at[c->w_dims[i]];
    c->out[i] = y.at[strchr(c->y_layout, '0' + i) - c->y_layout];
  }
  return true;
}

/* `layout` with letter from[i] replaced by to[i]. */
static void relabel_layout(const char *layout, const char *from, const char *to, char *out) {
  size_t n = strlen(layout);
  for (size_t i = 0; i <= n; i++) {
    const char *at = layout[i] ? strchr(from, layout[i]) : NULL;
    out[i] = layout[i];
    if (at) out[i] = to[at - from];
  }
}

/* dx: the gradient spread out by the strides, convolved with w turned around. */
static void give_input(swg_reverse *r, const sw_op *op, const conv_dims *c, sw_id g) {
  int64_t dims[SPATIAL], low[SPATIAL], high[SPATIAL];
  for (int i = 0; i < c->n; i++) {
    int64_t reach = (c->size[i] - 1) * c->dilation[i], spread = (c->out[i] - 1) * c->strides[i] + 1;
    dims[i] = c->w_dims[i];
    low[i] = reach - c->low[i];
    high[i] = c->in[i] + reach - spread - low[i];
  }
  char layout[SPATIAL + 3];
  relabel_layout(c->w_layout, "oi", "io", layout);
  sw_id turned = swg_op(&r->b, SW_OP_REVERSE, "d0_kernel", SWG_IDS(swg_operand(r, op, 1)),
                        SWG_ATTRS(SWG_INTS_N(DIMS, dims, c->n)));
  swg_give(r, op, 0,
           swg_op(&r->b, SW_OP_CONVOLUTION, "d0", SWG_IDS(g, turned),
                  SWG_ATTRS(SWG_TEXT(LHS_LAYOUT, c->y_layout), SWG_TEXT(RHS_LAYOUT, layout),
                            SWG_TEXT(OUT_LAYOUT, c->x_layout), SWG_INTS_N(PAD_LOW, low, c->n),
                            SWG_INTS_N(PAD_HIGH, high, c->n), SWG_INTS_N(LHS_DILATION, c->strides, c->n),
                            SWG_INTS_N(RHS_DILATION, c->dilation, c->n))));
}

/* dw: x convolved with the gradient; the batch is what is summed, x's features are the new batch. */
static void give_kernel(swg_reverse *r, const sw_op *op, const conv_dims *c, sw_id g) {
  int64_t high[SPATIAL];
  for (int i = 0; i < c->n; i++) {
    int64_t needed = (c->size[i] - 1) * c->dilation[i] + (c->out[i] - 1) * c->strides[i] + 1;
    high[i] = needed - c->in[i] - c->low[i];
  }
  char x[SPATIAL + 3], y[SPATIAL + 3], w[SPATIAL + 3];
  relabel_layout(c->x_layout, "bf", "fb", x);
  relabel_layout(c->y_layout, "bf", "io", y);
  relabel_layout(c->w_layout, "oi", "fb", w);
  swg_give(r, op, 1,
           swg_op(&r->b, SW_OP_CONVOLUTION, "d1", SWG_IDS(swg_operand(r, op, 0), g),
                  SWG_ATTRS(SWG_TEXT(LHS_LAYOUT, x), SWG_TEXT(RHS_LAYOUT, y), SWG_TEXT(OUT_LAYOUT, w),
                            SWG_INTS_N(STRIDES, c->dilation, c->n), SWG_INTS_N(PAD_LOW, c->low, c->n),
                            SWG_INTS_N(PAD_HIGH, high, c->n), SWG_INTS_N(RHS_DILATION, c->strides, c->n))));
}

void swg_derive_convolution(swg_reverse *r, const sw_op *op, sw_id g) {
  conv_dims c;
  if (!conv_dims_of(r, op, &c)) {
    swg_fail(&r->b, SW_FAIL_INPUT(r->b.diag, op->span,
                                  "convolution '%s' has groups or a dilated input: no derivative "
                                  "here",
                                  op->name));
    return;
  }
  if (swg_wanted(r, op, 0)) give_input(r, op, &c, g);
  if (swg_wanted(r, op, 1)) give_kernel(r, op, &c, g);
}

/* --- picking ----------------------------------------------------------------------------------------------------- */

static int count_attr_ints(const sw_op *op, sw_attr_key k) {
  int n;
  (void)sw_op_ints(op, k, &n);
  return n;
}

static sw_attr renamed_attr(const sw_op *op, sw_attr_key from, sw_attr_key to) {
  sw_attr a = {.key = to};
  int n;
  a.u.ints.at = sw_op_ints(op, from, &n);
  a.u.ints.n = n;
  return a;
}

/* Rows taken several times add up. With batch dims an index picks from its own part alone: what is there already of the
 * gradient is then updated where it lies. Otherwise it may still be a sum over devices, to be left so. */
void swg_derive_gather(swg_reverse *r, const sw_op *op, sw_id g) {
  sw_id *have = &r->gradient[op->operands[0]];
  bool into = *have >= 0 && count_attr_ints(op, SW_ATTR_OPERAND_BATCH) > 0;
  if (!swg_wanted(r, op, 0)) return;
  sw_id base = into ? *have : swg_splat(&r->b, "d0_zeros", 0, swg_type(&r->b, g)->dtype, swg_operand_shape(r, op, 0));
  sw_id sum = swg_op(&r->b, SW_OP_SCATTER, "d0", SWG_IDS(base, swg_operand(r, op, 1), g),
                     SWG_ATTRS(SWG_TEXT(KIND, "sum"), renamed_attr(op, SW_ATTR_OFFSET_DIMS, SW_ATTR_UPDATE_WINDOW_DIMS),
                               renamed_attr(op, SW_ATTR_COLLAPSED_DIMS, SW_ATTR_INSERTED_DIMS),
                               renamed_attr(op, SW_ATTR_OPERAND_BATCH, SW_ATTR_OPERAND_BATCH),
                               renamed_attr(op, SW_ATTR_INDICES_BATCH, SW_ATTR_INDICES_BATCH),
                               renamed_attr(op, SW_ATTR_START_INDEX_MAP, SW_ATTR_START_INDEX_MAP),
                               SWG_INT(INDEX_VECTOR_DIM, sw_op_int(op, SW_ATTR_INDEX_VECTOR_DIM, 0))));
  if (into) {
    *have = sum;
  } else {
    swg_give(r, op, 0, sum);
  }
}

/* Over the last dim: each picked value's gradient goes to where it was picked, by a one_hot of the indices. */
void swg_derive_top_k(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_shape x = swg_operand_shape(r, op, 0), picked = swg_shape_of(&r->b, g), dims = {.n = x.n};
  if (sw_op_int(op, SW_ATTR_DIM, x.n - 1) != x.n - 1) {
    swg_fail(&r->b,
             SW_FAIL_INPUT(r->b.diag, op->span, "top_k '%s' is not over the last dim: no derivative here", op->name));
    return;
  }
  for (int i = 0; i < x.n; i++) dims.at[i] = i;
  sw_dtype t = swg_type(&r->b, g)->dtype;
  sw_id hot = swg_op(&r->b, SW_OP_ONE_HOT, "d0_hot", SWG_IDS(r->now[op->results[1]]),
                     SWG_ATTRS(SWG_INT(K, x.at[x.n - 1]), SWG_INT(DTYPE, t)));
  picked.at[picked.n++] = x.at[x.n - 1];
  sw_id wide = swg_broadcast(&r->b, "d0_wide", g, picked, dims);
  sw_id spread = swg_binary(&r->b, SW_OP_MULTIPLY, "d0_spread", wide, hot);
  swg_give(r, op, 0, swg_reduce(&r->b, "d0", "sum", spread, SWG_SHAPE(x.n - 1)));
}
