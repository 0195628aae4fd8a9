/* Derivatives of elementwise ops and of ops that move elements, one function per op and a table.
 *
 * The gradient of operand i of op "y" is op "y.dI"; further steps have longer names.
 */
#include <math.h>
#include <string.h>

#include "gen/train.h"

/* Names of the gradients of operands 0 and 1 and 2. */
static const char *const kD[] = {"d0", "d1", "d2"};

static sw_id mul(swg_reverse *r, const char *name, sw_id x, sw_id y) {
  return swg_binary(&r->b, SW_OP_MULTIPLY, name, x, y);
}

static swg_shape ints_of(const sw_op *op, sw_attr_key k) {
  swg_shape s = {0};
  const int64_t *at = sw_op_ints(op, k, &s.n);
  if (s.n) memcpy(s.at, at, (size_t)s.n * sizeof *at);
  return s;
}

/* 0 .. rank-1 without those of `gone`. */
static swg_shape dims_without(int rank, swg_shape gone) {
  swg_shape rest = {0};
  for (int i = 0; i < rank; i++) {
    bool is_gone = false;
    for (int j = 0; j < gone.n; j++) is_gone = is_gone || gone.at[j] == i;
    if (!is_gone) rest.at[rest.n++] = i;
  }
  return rest;
}

void swg_derive_add(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_give(r, op, 0, g);
  swg_give(r, op, 1, g);
}

void swg_derive_subtract(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_give(r, op, 0, g);
  if (swg_wanted(r, op, 1)) swg_give(r, op, 1, swg_unary(&r->b, SW_OP_NEGATE, "d1", g));
}

void swg_derive_multiply(swg_reverse *r, const sw_op *op, sw_id g) {
  if (op->operands[0] == op->operands[1]) {
    sw_id part = mul(r, "d0", g, swg_operand(r, op, 0));
    swg_give(r, op, 0, part);
    swg_give(r, op, 1, part);
    return;
  }
  for (int i = 0; i < 2; i++) {
    if (swg_wanted(r, op, i)) swg_give(r, op, i, mul(r, kD[i], g, swg_operand(r, op, 1 - i)));
  }
}

static const sw_op *maker_with_code(const swg_reverse *r, sw_id old, sw_opcode code) {
  const sw_id def = r->forward->values[old].def;
  return def >= 0 && r->forward->ops[def].code == code ? &r->forward->ops[def] : NULL;
}

/* Is it exp(x) / sum(exp(x)), and are exponential and sum nobody else's? *exp is then the op that takes it. */
static bool is_softmax(const swg_reverse *r, const sw_op *op, const sw_op **exp, const sw_op **sum) {
  const sw_op *wide = maker_with_code(r, op->operands[1], SW_OP_BROADCAST);
  *exp = maker_with_code(r, op->operands[0], SW_OP_EXP);
  *sum = wide ? maker_with_code(r, wide->operands[0], SW_OP_REDUCE) : NULL;
  return *exp && *sum && (*sum)->operands[0] == op->operands[0] &&
         strcmp(sw_op_text(*sum, SW_ATTR_KIND, ""), "sum") == 0 && r->forward->values[op->operands[0]].n_uses == 2 &&
         r->forward->values[op->operands[1]].n_uses == 1 && r->forward->values[wide->operands[0]].n_uses == 1;
}

/* y = softmax(x) has x' = y (g - sum(g y)). Of y it takes what is delivered, so that nothing else is kept for it. */
static void derive_softmax(swg_reverse *r, const sw_op *op, const sw_op *exp, const sw_op *sum, sw_id g) {
  const sw_value *made = &r->forward->values[op->results[0]];
  const sw_op *narrow = made->n_uses == 1 && made->uses[0].op >= 0 ? &r->forward->ops[made->uses[0].op] : NULL;
  sw_id y = swg_result(r, op);
  if (narrow && narrow->code == SW_OP_CONVERT) y = swg_convert(&r->b, "d_y", swg_result(r, narrow), made->type.dtype);
  swg_shape gone = ints_of(sum, SW_ATTR_DIMS), shape = swg_shape_of(&r->b, g);
  sw_id shares = swg_reduce(&r->b, "d_share", "sum", mul(r, "d_part", g, y), gone);
  sw_id wide = swg_broadcast(&r->b, "d_wide", shares, shape, dims_without(shape.n, gone));
  swg_give(r, exp, 0, mul(r, "d", y, swg_binary(&r->b, SW_OP_SUBTRACT, "d_rest", g, wide)));
}

/* (x/y)' = g/y, -(g/y)(x/y) */
void swg_derive_divide(swg_reverse *r, const sw_op *op, sw_id g) {
  const sw_op *exp, *sum;
  if (is_softmax(r, op, &exp, &sum)) {
    derive_softmax(r, op, exp, sum, g);
    return;
  }
  sw_id part = swg_binary(&r->b, SW_OP_DIVIDE, "d0", g, swg_operand(r, op, 1));
  swg_give(r, op, 0, part);
  if (!swg_wanted(r, op, 1)) return;
  swg_give(r, op, 1, swg_unary(&r->b, SW_OP_NEGATE, "d1", mul(r, "d1_up", part, swg_result(r, op))));
}

void swg_derive_negate(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_give(r, op, 0, swg_unary(&r->b, SW_OP_NEGATE, "d0", g));
}

void swg_derive_exp(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_give(r, op, 0, mul(r, "d0", g, swg_result(r, op)));
}

void swg_derive_log(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_give(r, op, 0, swg_binary(&r->b, SW_OP_DIVIDE, "d0", g, swg_operand(r, op, 0)));
}

/* sqrt' = 1 / (2 sqrt) */
void swg_derive_sqrt(swg_reverse *r, const sw_op *op, sw_id g) {
  sw_id half = swg_scale(&r->b, "d0_half", g, 0.5);
  swg_give(r, op, 0, swg_binary(&r->b, SW_OP_DIVIDE, "d0", half, swg_result(r, op)));
}

/* rsqrt' = -rsqrt / (2 x) */
void swg_derive_rsqrt(swg_reverse *r, const sw_op *op, sw_id g) {
  sw_id ratio = swg_binary(&r->b, SW_OP_DIVIDE, "d0_ratio", swg_result(r, op), swg_operand(r, op, 0));
  swg_give(r, op, 0, mul(r, "d0", g, swg_scale(&r->b, "d0_slope", ratio, -0.5)));
}

/* 1 - y^2, the slope of tanh; y (1 - y), that of logistic. */
static sw_id one_minus(swg_reverse *r, sw_id x) {
  return swg_binary(&r->b, SW_OP_SUBTRACT, "d0_rest", swg_splat_like(&r->b, "d0_one", 1, x), x);
}

void swg_derive_tanh(swg_reverse *r, const sw_op *op, sw_id g) {
  sw_id y = swg_result(r, op);
  swg_give(r, op, 0, mul(r, "d0", g, one_minus(r, mul(r, "d0_square", y, y))));
}

void swg_derive_logistic(swg_reverse *r, const sw_op *op, sw_id g) {
  sw_id y = swg_result(r, op);
  swg_give(r, op, 0, mul(r, "d0", g, mul(r, "d0_slope", y, one_minus(r, y))));
}

/* erf' = 2/sqrt(pi) exp(-x^2) */
void swg_derive_erf(swg_reverse *r, const sw_op *op, sw_id g) {
  sw_id x = swg_operand(r, op, 0);
  sw_id minus = swg_unary(&r->b, SW_OP_NEGATE, "d0_minus", mul(r, "d0_square", x, x));
  sw_id slope = swg_scale(&r->b, "d0_slope", swg_unary(&r->b, SW_OP_EXP, "d0_exp", minus), 2 / sqrt(acos(-1)));
  swg_give(r, op, 0, mul(r, "d0", g, slope));
}

/* hypot' = x/hypot, y/hypot */
void swg_derive_hypot(swg_reverse *r, const sw_op *op, sw_id g) {
  sw_id part = swg_binary(&r->b, SW_OP_DIVIDE, "d_part", g, swg_result(r, op));
  for (int i = 0; i < 2; i++) {
    if (swg_wanted(r, op, i)) swg_give(r, op, i, mul(r, kD[i], part, swg_operand(r, op, i)));
  }
}

/* x[j] has a share of e^(x[j] - y[i]) in y[i], i from j on. Added up as logarithms, so that nothing overflows on the
 * way, what makes x[j] greater and what makes it smaller by themselves:
 *
 *   e^(x + log of the sum, from the other end, of e^(log max(g, 0) - y)), less the same of -g */
void swg_derive_cumulative_logsumexp(swg_reverse *r, const sw_op *op, sw_id g) {
  static const char *const kNames[2][6] = {
      {"d0_up", "d0_up_log", "d0_up_share", "d0_up_sum", "d0_up_at_x", "d0_up_exp"},
      {"d0_down", "d0_down_log", "d0_down_share", "d0_down_sum", "d0_down_at_x", "d0_down_exp"}};
  sw_id zero = swg_splat_like(&r->b, "d0_zero", 0, g), sides[2];
  for (int i = 0; i < 2; i++) {
    sw_id side = i ? swg_unary(&r->b, SW_OP_NEGATE, "d0_minus", g) : g;
    sw_id log = swg_unary(&r->b, SW_OP_LOG, kNames[i][1], swg_binary(&r->b, SW_OP_MAXIMUM, kNames[i][0], side, zero));
    sw_id share = swg_binary(&r->b, SW_OP_SUBTRACT, kNames[i][2], log, swg_result(r, op));
    sw_id sum = swg_op(
        &r->b, SW_OP_CUMULATIVE_LOGSUMEXP, kNames[i][3], SWG_IDS(share),
        SWG_ATTRS(SWG_INT(DIM, sw_op_int(op, SW_ATTR_DIM, 0)), SWG_INT(REVERSED, !sw_op_int(op, SW_ATTR_REVERSED, 0))));
    sw_id at_x = swg_binary(&r->b, SW_OP_ADD, kNames[i][4], sum, swg_operand(r, op, 0));
    sides[i] = swg_unary(&r->b, SW_OP_EXP, kNames[i][5], at_x);
  }
  swg_give(r, op, 0, swg_binary(&r->b, SW_OP_SUBTRACT, "d0", sides[0], sides[1]));
}

/* g where pred holds for operand `first`, and where it does not for operand first + 1. */
static void give_by(swg_reverse *r, const sw_op *op, sw_id pred, int first, sw_id g) {
  sw_id zero = swg_splat_like(&r->b, "d_zero", 0, g);
  if (swg_wanted(r, op, first)) swg_give(r, op, first, swg_select(&r->b, kD[first], pred, g, zero));
  if (swg_wanted(r, op, first + 1)) swg_give(r, op, first + 1, swg_select(&r->b, kD[first + 1], pred, zero, g));
}

/* Between equals, the second operand gets all: so relu, maximum(x, 0), has slope 0 at 0. */
void swg_derive_maximum(swg_reverse *r, const sw_op *op, sw_id g) {
  give_by(r, op, swg_compare(&r->b, "gt", "d_first", swg_operand(r, op, 0), swg_operand(r, op, 1)), 0, g);
}

void swg_derive_minimum(swg_reverse *r, const sw_op *op, sw_id g) {
  give_by(r, op, swg_compare(&r->b, "lt", "d_first", swg_operand(r, op, 0), swg_operand(r, op, 1)), 0, g);
}

void swg_derive_select(swg_reverse *r, const sw_op *op, sw_id g) { give_by(r, op, swg_operand(r, op, 0), 1, g); }

void swg_derive_convert(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_give(r, op, 0, swg_convert(&r->b, "d0", g, swg_operand_type(r, op, 0)->dtype));
}

/* --- ops that move elements -------------------------------------------------------------------------------------- */

/* Sum over the dims that were made; those made of an extent of 1 come back by a reshape. */
void swg_derive_broadcast(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_shape x = swg_operand_shape(r, op, 0), y = swg_shape_of(&r->b, g);
  swg_shape dims = ints_of(op, SW_ATTR_DIMS), summed = {0};
  bool kept[SW_MAX_RANK] = {false};
  for (int i = 0; i < dims.n; i++) {
    if (i > 0 && dims.at[i] < dims.at[i - 1]) {
      swg_fail(&r->b, SW_FAIL_INPUT(r->b.diag, op->span, "broadcast_in_dim '%s' also transposes: no derivative here",
                                    op->name));
    }
    kept[dims.at[i]] = x.at[i] == y.at[dims.at[i]];
  }
  for (int i = 0; i < y.n; i++) {
    if (!kept[i]) summed.at[summed.n++] = i;
  }
  if (summed.n) g = swg_reduce(&r->b, summed.n == y.n - x.n ? "d0" : "d0_sum", "sum", g, summed);
  swg_give(r, op, 0, swg_reshape(&r->b, "d0", g, x));
}

void swg_derive_transpose(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_shape p = ints_of(op, SW_ATTR_PERMUTATION), back = p;
  for (int i = 0; i < p.n; i++) back.at[p.at[i]] = i;
  swg_give(r, op, 0,
           swg_op(&r->b, SW_OP_TRANSPOSE, "d0", SWG_IDS(g), SWG_ATTRS(SWG_INTS_N(PERMUTATION, back.at, back.n))));
}

void swg_derive_reshape(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_give(r, op, 0, swg_reshape(&r->b, "d0", g, swg_operand_shape(r, op, 0)));
}

void swg_derive_reverse(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_shape dims = ints_of(op, SW_ATTR_DIMS);
  swg_give(r, op, 0, swg_op(&r->b, SW_OP_REVERSE, "d0", SWG_IDS(g), SWG_ATTRS(SWG_INTS_N(DIMS, dims.at, dims.n))));
}

void swg_derive_reduce(swg_reverse *r, const sw_op *op, sw_id g) {
  const char *kind = sw_op_text(op, SW_ATTR_KIND, "");
  if (strcmp(kind, "sum") != 0) {
    swg_fail(&r->b,
             SW_FAIL_INPUT(r->b.diag, op->span, "reduce '%s' of kind %s has no derivative here", op->name, kind));
    return;
  }
  swg_shape x = swg_operand_shape(r, op, 0), gone = ints_of(op, SW_ATTR_DIMS);
  if (sw_op_int(op, SW_ATTR_KEEP_DIMS, 0)) gone.n = 0; /* those stay, of extent 1 */
  swg_give(r, op, 0, swg_broadcast(&r->b, "d0", g, x, dims_without(x.n, gone)));
}

/* Zeros around and between the elements taken. */
void swg_derive_slice(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_shape x = swg_operand_shape(r, op, 0), y = swg_shape_of(&r->b, g);
  swg_shape low = ints_of(op, SW_ATTR_START), strides = ints_of(op, SW_ATTR_STRIDES), high = x, gaps = {.n = x.n};
  for (int i = 0; i < x.n; i++) {
    int64_t stride = strides.n ? strides.at[i] : 1;
    gaps.at[i] = stride - 1;
    high.at[i] = x.at[i] - low.at[i] - (y.at[i] ? (y.at[i] - 1) * stride + 1 : 0);
  }
  sw_id zero = swg_splat(&r->b, "d0_zero", 0, swg_type(&r->b, g)->dtype, SWG_SCALAR);
  swg_give(r, op, 0,
           swg_op(&r->b, SW_OP_PAD, "d0", SWG_IDS(g, zero),
                  SWG_ATTRS(SWG_INTS_N(LOW, low.at, x.n), SWG_INTS_N(HIGH, high.at, x.n),
                            SWG_INTS_N(INTERIOR, gaps.at, x.n))));
}

/* Padding of 0 and more, by a constant. */
void swg_derive_pad(swg_reverse *r, const sw_op *op, sw_id g) {
  swg_shape x = swg_operand_shape(r, op, 0), low = ints_of(op, SW_ATTR_LOW), limit = x, strides = x;
  swg_shape high = ints_of(op, SW_ATTR_HIGH), gaps = ints_of(op, SW_ATTR_INTERIOR);
  bool plain = !swg_wanted(r, op, 1);
  for (int i = 0; i < x.n; i++) {
    int64_t gap = gaps.n ? gaps.at[i] : 0;
    strides.at[i] = gap + 1;
    limit.at[i] = low.at[i] + (x.at[i] ? (x.at[i] - 1) * (gap + 1) + 1 : 0);
    plain = plain && low.at[i] >= 0 && high.at[i] >= 0;
  }
  if (!plain) {
    swg_fail(&r->b, SW_FAIL_INPUT(r->b.diag, op->span,
                                  "pad '%s' removes elements or pads by a variable: no derivative "
                                  "here",
                                  op->name));
    return;
  }
  swg_give(r, op, 0,
           swg_op(&r->b, SW_OP_SLICE, "d0", SWG_IDS(g),
                  SWG_ATTRS(SWG_INTS_N(START, low.at, x.n), SWG_INTS_N(LIMIT, limit.at, x.n),
                            SWG_INTS_N(STRIDES, strides.at, x.n))));
}

void swg_derive_concatenate(swg_reverse *r, const sw_op *op, sw_id g) {
  int dim = (int)sw_op_int(op, SW_ATTR_DIM, 0);
  int64_t at = 0;
  for (int i = 0; i < op->n_operands; i++) {
    swg_shape x = swg_operand_shape(r, op, i);
    char name[32];
    snprintf(name, sizeof name, "d%d", i);
    if (swg_wanted(r, op, i)) swg_give(r, op, i, swg_slice(&r->b, name, g, dim, at, at + x.at[dim]));
    at += x.at[dim];
  }
}

/* One op gives the gradients of all its operands. */
void swg_derive_attention(swg_reverse *r, const sw_op *op, sw_id g) {
  enum { MOST_OPERANDS = 11, MOST_ATTRS = 12 };
  sw_attr attrs[MOST_ATTRS];
  sw_id in[MOST_OPERANDS] = {swg_operand(r, op, 0), swg_operand(r, op, 1),  swg_operand(r, op, 2),
                             swg_result(r, op),     r->now[op->results[1]], g};
  const int n = op->n_operands + 3, n_attrs = op->n_attrs;
  int bias = -1;
  if (r->gradient[op->results[1]] >= 0) {
    swg_fail(&r->b,
             SW_FAIL_INPUT(r->b.diag, op->span, "attention '%s': its log-sum-exp has no derivative here", op->name));
    return;
  }
  for (int i = 3; i < op->n_operands; i++) {
    in[i + 3] = swg_operand(r, op, i);
    if (swg_wanted(r, op, i)) bias = i;
  }
  for (int i = 0; i < n_attrs; i++) attrs[i] = op->attrs[i];
  attrs[n_attrs] = (sw_attr)SWG_INT(BIAS_GRAD, bias >= 0);
  sw_id first = swg_op(&r->b, SW_OP_ATTENTION_GRAD, "d", n, in, n_attrs + 1, attrs);
  for (int i = 0; i < 3 && !r->b.rc; i++) swg_give(r, op, i, first + i);
  if (bias >= 0 && !r->b.rc) swg_give(r, op, bias, first + 3);
}

#define swg_derive_none NULL
static const swg_derivative kDerivatives[SW_OP_COUNT] = {
#define SW_COLUMN_GRADIENT(id, gradient) swg_derive_##gradient,
#include "shardwright/ops.def"
};

swg_derivative swg_derivative_of(sw_opcode c) { return kDerivatives[c]; }
