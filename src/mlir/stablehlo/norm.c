/* Ops written out in others (vectorize.h): batch norms, random numbers between values, the next number.
 *
 *   batch_norm_inference(x, scale, offset, mean, variance)
 *   = scale * (x - mean) / sqrt(variance + epsilon) + offset        vectors along the feature dim
 */
#include "mlir/stablehlo/vectorize.h"
#include "mlir/stablehlo/stablehlo.h"

/* --- batch norm -------------------------------------------------------------------------------------------------- */

typedef struct norming {
  sw_importer *m;
  uint32_t op;
  sw_type shape;   /* of x */
  int64_t feature; /* its dim */
  double epsilon;
  sw_id x;
} norming;

static sw_rc open_norm(sw_importer *m, uint32_t op, uint32_t n_operands, norming *b) {
  const sw_ir_op *o = sw_im_op(m, op);
  SW_TRY(sw_im_operand_count(m, op, n_operands, n_operands));
  *b = (norming){.m = m, .op = op, .x = sw_im_operand(m, op, 0)};
  b->shape = *sw_im_type(m, b->x);
  sw_ir_span feature = sw_ir_attr(m->t, o, "feature_index", NULL), epsilon = sw_ir_attr(m->t, o, "epsilon", NULL);
  if (!sw_ir_present(feature) || !sw_ir_read_int(m->t, feature, &b->feature) || b->feature < 0 ||
      b->feature >= b->shape.rank) {
    return SW_IM_FAIL(m, op, "expected a dim of operand 0 as 'feature_index'");
  }
  if (sw_ir_present(epsilon) && !sw_ir_read_float(m->t, epsilon, &b->epsilon)) {
    return SW_IM_FAIL(m, op, "found '%.*s' as 'epsilon'; expected a number", SW_IR_TEXT(m->t, epsilon));
  }
  b->epsilon = (double)(float)b->epsilon; /* whatever the tensors are, it is an f32 */
  return SW_OK;
}

static sw_rc emit_norm_binary(const norming *b, sw_opcode code, sw_id x, sw_id y, sw_id *out) {
  return sw_im_two(b->m, b->op, code, x, y, out);
}

/* A vector of features in the shape of x. */
static sw_rc spread_features(const norming *b, sw_id v, sw_id *out) {
  return sw_im_spread(b->m, b->op, v, b->shape.rank, b->shape.dims, b->feature, out);
}

/* Sum over everything but the features, divided by their number when `mean`. */
static sw_rc sum_but_features(const norming *b, sw_id x, bool mean, sw_id *out) {
  int64_t dims[SW_MAX_RANK], count = 1;
  int n = 0;
  for (int k = 0; k < b->shape.rank; k++) {
    if (k == b->feature) continue;
    dims[n++] = k;
    count *= b->shape.dims[k];
  }
  sw_im_attrs a = {.n = 0};
  sw_im_text(&a, SW_ATTR_KIND, sw_reduction_text(SW_REDUCE_SUM));
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, n);
  SW_TRY(sw_im_help(b->m, b->op, SW_OP_REDUCE, 1, &x, &a, out));
  if (!mean) return SW_OK;
  sw_id by;
  SW_TRY(sw_im_number(b->m, b->op, b->shape.dtype, (double)count, 1, &b->shape.dims[b->feature], &by));
  return emit_norm_binary(b, SW_OP_DIVIDE, *out, by, out);
}

/* 1 / sqrt(variance + epsilon), a vector. */
static sw_rc inverse_deviation(const norming *b, sw_id variance, sw_id *out) {
  sw_id e;
  SW_TRY(sw_im_number(b->m, b->op, b->shape.dtype, b->epsilon, 1, &b->shape.dims[b->feature], &e));
  SW_TRY(emit_norm_binary(b, SW_OP_ADD, variance, e, out));
  return sw_im_help(b->m, b->op, SW_OP_RSQRT, 1, out, NULL, out);
}

static sw_rc centred(const norming *b, sw_id mean, sw_id *out) {
  SW_TRY(spread_features(b, mean, out));
  return emit_norm_binary(b, SW_OP_SUBTRACT, b->x, *out, out);
}

static sw_rc emit_normalised(const norming *b, sw_id scale, sw_id offset, sw_id mean, sw_id variance, sw_id *out) {
  sw_id factor, added;
  SW_TRY(centred(b, mean, out));
  SW_TRY(inverse_deviation(b, variance, &factor));
  SW_TRY(spread_features(b, factor, &factor));
  SW_TRY(emit_norm_binary(b, SW_OP_MULTIPLY, *out, factor, out));
  SW_TRY(spread_features(b, scale, &factor));
  SW_TRY(emit_norm_binary(b, SW_OP_MULTIPLY, *out, factor, out));
  SW_TRY(spread_features(b, offset, &added));
  return emit_norm_binary(b, SW_OP_ADD, *out, added, out);
}

sw_rc sw_im_batch_norm_inference(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  norming b;
  sw_id in[4], y;
  SW_TRY(open_norm(m, op, 5, &b));
  for (uint32_t i = 0; i < 4; i++) in[i] = sw_im_operand(m, op, i + 1);
  SW_TRY(emit_normalised(&b, in[0], in[1], in[2], in[3], &y));
  return sw_im_results_are(m, op, &y, 1);
}

sw_rc sw_im_batch_norm_training(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  norming b;
  sw_id y[3], d;
  SW_TRY(open_norm(m, op, 3, &b));
  SW_TRY(sum_but_features(&b, b.x, true, &y[1]));
  SW_TRY(centred(&b, y[1], &d));
  SW_TRY(emit_norm_binary(&b, SW_OP_MULTIPLY, d, d, &d));
  SW_TRY(sum_but_features(&b, d, true, &y[2]));
  SW_TRY(emit_normalised(&b, sw_im_operand(m, op, 1), sw_im_operand(m, op, 2), y[1], y[2], &y[0]));
  return sw_im_results_are(m, op, y, 3);
}

/* With c = x - mean, s = 1 / sqrt(variance + epsilon), g the gradient of the output, means over all but features:
 * offset gets sum(g), scale gets sum(g c) s, and x gets scale s (g - mean(g) - c s^2 mean(g c)). */
sw_rc sw_im_batch_norm_grad(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  norming b;
  sw_id c, s, y[3], mean_g, mean_gc, gc, part;
  SW_TRY(open_norm(m, op, 5, &b));
  sw_id scale = sw_im_operand(m, op, 1), g = sw_im_operand(m, op, 4);
  SW_TRY(centred(&b, sw_im_operand(m, op, 2), &c));
  SW_TRY(inverse_deviation(&b, sw_im_operand(m, op, 3), &s));
  SW_TRY(emit_norm_binary(&b, SW_OP_MULTIPLY, g, c, &gc));
  SW_TRY(sum_but_features(&b, gc, false, &y[1]));
  SW_TRY(emit_norm_binary(&b, SW_OP_MULTIPLY, y[1], s, &y[1]));
  SW_TRY(sum_but_features(&b, g, false, &y[2]));
  SW_TRY(sum_but_features(&b, g, true, &mean_g));
  SW_TRY(sum_but_features(&b, gc, true, &mean_gc));
  SW_TRY(emit_norm_binary(&b, SW_OP_MULTIPLY, mean_gc, s, &mean_gc));
  SW_TRY(emit_norm_binary(&b, SW_OP_MULTIPLY, mean_gc, s, &mean_gc));
  SW_TRY(spread_features(&b, mean_gc, &mean_gc));
  SW_TRY(emit_norm_binary(&b, SW_OP_MULTIPLY, c, mean_gc, &part));
  SW_TRY(spread_features(&b, mean_g, &mean_g));
  SW_TRY(emit_norm_binary(&b, SW_OP_SUBTRACT, g, mean_g, &y[0]));
  SW_TRY(emit_norm_binary(&b, SW_OP_SUBTRACT, y[0], part, &y[0]));
  SW_TRY(emit_norm_binary(&b, SW_OP_MULTIPLY, scale, s, &s));
  SW_TRY(spread_features(&b, s, &s));
  SW_TRY(emit_norm_binary(&b, SW_OP_MULTIPLY, y[0], s, &y[0]));
  return sw_im_results_are(m, op, y, 3);
}

/* --- random numbers ---------------------------------------------------------------------------------------------- */

static bool says_normal(const sw_importer *m, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span how = sw_ir_attr(m->t, o, "rng_distribution", "distribution");
  return sw_ir_present(how) && sw_ir_is(m->t, sw_ir_last_word(m->t, how), "NORMAL");
}

/* rng(a, b, shape): a + (b - a) * u, or a + b * n, from numbers that only the op's place in the program decides. */
sw_rc sw_im_rng(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  sw_type said;
  sw_id a, b, u;
  SW_TRY(sw_im_operand_count(m, op, 2, 3));
  SW_TRY(sw_im_shape_of_result(m, op, 2, &said));
  bool real = sw_dtype_class_of(said.dtype) == SW_CLASS_FLOAT, normal = says_normal(m, op);
  sw_im_attrs attrs = {.n = 0};
  sw_im_shape(&attrs, &said);
  sw_im_int(&attrs, SW_ATTR_DTYPE, real ? said.dtype : SW_F64);
  sw_im_int(&attrs, SW_ATTR_SEED, (int64_t)op);
  sw_im_text(&attrs, SW_ATTR_DISTRIBUTION, normal ? "normal" : "uniform");
  SW_TRY(sw_im_help(m, op, SW_OP_RNG, 0, NULL, &attrs, &u));
  SW_TRY(sw_im_spread(m, op, sw_im_operand(m, op, 0), said.rank, said.dims, -1, &a));
  SW_TRY(sw_im_spread(m, op, sw_im_operand(m, op, 1), said.rank, said.dims, -1, &b));
  if (!real) SW_TRY(sw_im_converted(m, op, a, SW_F64, &a));
  if (!real) SW_TRY(sw_im_converted(m, op, b, SW_F64, &b));
  if (!normal) SW_TRY(sw_im_two(m, op, SW_OP_SUBTRACT, b, a, &b));
  SW_TRY(sw_im_two(m, op, SW_OP_MULTIPLY, u, b, &u));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, u, a, &u));
  if (!real) SW_TRY(sw_im_help(m, op, SW_OP_FLOOR, 1, &u, NULL, &u));
  if (!real) SW_TRY(sw_im_converted(m, op, u, said.dtype, &u));
  return sw_im_results_are(m, op, &u, 1);
}
