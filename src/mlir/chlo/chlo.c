/* Ops of CHLO that others replace: those that spread their operands to one shape first, and small predicates.
 *
 *   chlo.broadcast_add %a, %b : (tensor<4x1xf32>, tensor<6xf32>) -> tensor<4x6xf32>
 *
 *   a' = broadcast_in_dim(a) {dims=[0,1]}; b' = broadcast_in_dim(b) {dims=[1]}; add(a', b')
 */
#include <math.h>

#include "mlir/chlo/chlo.h"
#include "mlir/import/dense.h"
#include "mlir/import/dialect.h"
#include "mlir/import/import_emit.h"

/* The operand in the shape: its dims are the last ones, or (of a lower rank) those that the op lists. */
static sw_rc broadcast_to(sw_importer *m, uint32_t op, sw_id x, const sw_type *shape, sw_id *out) {
  const sw_type t = *sw_im_type(m, x);
  int64_t dims[SW_MAX_RANK];
  const int64_t *listed = NULL;
  int n;
  *out = x;
  if (sw_type_same_shape(&t, shape)) return SW_OK;
  SW_TRY(sw_im_list(m, sw_ir_attr(m->t, sw_im_op(m, op), "broadcast_dimensions", NULL), &listed, &n));
  bool given = t.rank < shape->rank && n == t.rank;
  if (t.rank > shape->rank) return SW_IM_FAIL(m, op, "an operand has more dims than the result");
  for (int k = 0; k < t.rank; k++) dims[k] = given ? listed[k] : shape->rank - t.rank + k;
  sw_im_attrs a = {.n = 0};
  sw_im_shape(&a, shape);
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, t.rank);
  return sw_im_help(m, op, SW_OP_BROADCAST, 1, &x, &a, out);
}

/* A dim of the result that its type leaves open is that of an operand, which spreads where it is 1; two that do not are
 * equal. */
static sw_rc spread_dims(sw_importer *m, uint32_t op, int n, sw_type *shape) {
  int64_t *dims;
  SW_ARENA_NEW(dims, &m->scratch, shape->rank, m->d);
  for (int k = 0; k < shape->rank; k++) {
    dims[k] = shape->dims[k];
    for (int i = 0; i < n && shape->dims[k] < 0; i++) {
      const sw_type *t = sw_im_type(m, sw_im_operand(m, op, (uint32_t)i));
      const int at = k - (shape->rank - t->rank);
      if (at < 0 || t->dims[at] < 0) continue;
      if (dims[k] > 1 && t->dims[at] != 1) sw_sizes_equate(m->o->sizes, dims[k], t->dims[at]);
      if (dims[k] < 0 || dims[k] == 1) dims[k] = t->dims[at];
    }
    if (dims[k] < 0) return SW_IM_FAIL(m, op, "dim %d of the result has a size that is not known ('?')", k);
  }
  shape->dims = dims;
  return SW_OK;
}

static sw_rc broadcasting(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_type shape;
  sw_id x[3];
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_operand_count(m, op, (uint32_t)row->most_operands, (uint32_t)row->most_operands));
  SW_TRY(sw_im_result_type(m, op, 0, &shape));
  SW_TRY(spread_dims(m, op, row->most_operands, &shape));
  for (int i = 0; i < row->most_operands; i++) {
    x[i] = sw_im_operand(m, op, (uint32_t)i);
    bool scalar_choice = row->code == SW_OP_SELECT && i == 0 && sw_im_type(m, x[0])->rank == 0;
    if (!scalar_choice) SW_TRY(broadcast_to(m, op, x[i], &shape, &x[i]));
  }
  if (row->code == SW_OP_COMPARE) {
    sw_ir_span word = sw_ir_attr(m->t, sw_im_op(m, op), "comparison_direction", NULL);
    sw_im_text(&a, SW_ATTR_DIRECTION, sw_im_small_word(m, word));
  }
  return sw_im_emit_op(m, op, row->code, row->most_operands, x, &a);
}

/* (re, im) as (re, -im) */
static sw_rc conjugate(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x = sw_im_operand(m, op, 0), parts[2];
  if (!sw_im_is_complex(m, x)) return sw_im_identity(m, row, op);
  SW_TRY(sw_im_conjugate_parts(m, op, x, parts));
  return sw_im_emit_op(m, op, SW_OP_COMPLEX, 2, parts, NULL);
}

/* is_inf, is_pos_inf, is_neg_inf: |x|, x or -x is infinity. */
static sw_rc is_inf(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x[2] = {sw_im_operand(m, op, 0)};
  sw_im_attrs a = {.n = 0};
  if (row->code != SW_OP_COMPARE) SW_TRY(sw_im_one(m, op, row->code, x[0], &x[0]));
  const sw_type t = *sw_im_type(m, x[0]);
  SW_TRY(sw_im_number(m, op, t.dtype, INFINITY, t.rank, t.dims, &x[1]));
  sw_im_text(&a, SW_ATTR_DIRECTION, "eq");
  return sw_im_emit_op(m, op, SW_OP_COMPARE, 2, x, &a);
}

/* chlo.constant_like(%x) <{value = 1.0 : f32}>: that number in the shape of x. */
static sw_rc constant_like(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  sw_type t, scalar = {.rank = 0};
  sw_data data;
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  scalar.dtype = t.dtype;
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "value", NULL);
  if (!sw_ir_present(v)) return SW_IM_FAIL(m, op, "attribute 'value' is missing");
  for (uint32_t i = v.at; i < v.end; i++) {
    if (m->t->s[i] == ':') v.end = i;
  }
  SW_TRY(sw_ir_read_dense(m->t, sw_ir_trimmed(m->t, v), &scalar, &m->scratch, &data, m->d));
  sw_im_value(&a, &t, data.bytes, data.splat);
  return sw_im_emit_op(m, op, SW_OP_CONSTANT, 0, NULL, &a);
}

static sw_rc bits_as(sw_importer *m, uint32_t op, sw_id x, sw_dtype t, sw_id *out) {
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DTYPE, t);
  return sw_im_help(m, op, SW_OP_BITCAST, 1, &x, &a, out);
}

/* Of numbers of 64 bits, by their halves of 32, as if there were no signs; a negative one then counts 2^64 too much:
 *
 *   s = ah bl + (al bl >> 32), t = al bh + low(s), ah bh + (s >> 32) + (t >> 32) - (a < 0 ? b : 0) - (b < 0 ? a : 0)
 */
static sw_rc mulhi_of_halves(sw_importer *m, uint32_t op, const sw_id said[2], sw_type t) {
  sw_id x[2], low[2], high[2], extra[2], by, mask, sign, s, u, y;
  SW_TRY(sw_im_number(m, op, SW_U64, 32, t.rank, t.dims, &by));
  SW_TRY(sw_im_number(m, op, SW_U64, UINT32_MAX, t.rank, t.dims, &mask));
  SW_TRY(sw_im_number(m, op, t.dtype, 63, t.rank, t.dims, &sign));
  for (int i = 0; i < 2; i++) {
    SW_TRY(bits_as(m, op, said[i], SW_U64, &x[i]));
    SW_TRY(sw_im_two(m, op, SW_OP_AND, x[i], mask, &low[i]));
    SW_TRY(sw_im_two(m, op, SW_OP_SHIFT_RIGHT_LOGICAL, x[i], by, &high[i]));
  }
  SW_TRY(sw_im_two(m, op, SW_OP_MULTIPLY, low[0], low[1], &y));
  SW_TRY(sw_im_two(m, op, SW_OP_SHIFT_RIGHT_LOGICAL, y, by, &y));
  SW_TRY(sw_im_two(m, op, SW_OP_MULTIPLY, high[0], low[1], &s));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, s, y, &s));
  SW_TRY(sw_im_two(m, op, SW_OP_AND, s, mask, &y));
  SW_TRY(sw_im_two(m, op, SW_OP_MULTIPLY, low[0], high[1], &u));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, u, y, &u));
  SW_TRY(sw_im_two(m, op, SW_OP_MULTIPLY, high[0], high[1], &y));
  SW_TRY(sw_im_two(m, op, SW_OP_SHIFT_RIGHT_LOGICAL, s, by, &s));
  SW_TRY(sw_im_two(m, op, SW_OP_SHIFT_RIGHT_LOGICAL, u, by, &u));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, y, s, &y));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, y, u, &y));
  SW_TRY(bits_as(m, op, y, t.dtype, &y));
  for (int i = 0; i < 2 && t.dtype == SW_I64; i++) {
    SW_TRY(sw_im_two(m, op, SW_OP_SHIFT_RIGHT_ARITHMETIC, said[i], sign, &extra[i]));
    SW_TRY(sw_im_two(m, op, SW_OP_AND, extra[i], said[1 - i], &extra[i]));
    SW_TRY(sw_im_two(m, op, SW_OP_SUBTRACT, y, extra[i], &y));
  }
  return sw_im_results_are(m, op, &y, 1);
}

/* The upper half of a product. */
static sw_rc mulhi(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)}, by, y;
  sw_type t = *sw_im_type(m, x[0]);
  bool is_signed = sw_dtype_class_of(t.dtype) == SW_CLASS_SIGNED;
  bool whole = is_signed || sw_dtype_class_of(t.dtype) == SW_CLASS_UNSIGNED;
  if (!whole) return SW_IM_FAIL(m, op, "operands are %s; expected integers", sw_dtype_text(t.dtype));
  if (!sw_type_equal(&t, sw_im_type(m, x[1]))) return SW_IM_FAIL(m, op, "operands are of two types; expected one");
  if (sw_dtype_bits(t.dtype) > 32) return mulhi_of_halves(m, op, x, t);
  sw_dtype wide = is_signed ? SW_I64 : SW_U64;
  for (int i = 0; i < 2; i++) SW_TRY(sw_im_converted(m, op, x[i], wide, &x[i]));
  SW_TRY(sw_im_two(m, op, SW_OP_MULTIPLY, x[0], x[1], &y));
  SW_TRY(sw_im_number(m, op, wide, sw_dtype_bits(t.dtype), t.rank, t.dims, &by));
  SW_TRY(sw_im_two(m, op, is_signed ? SW_OP_SHIFT_RIGHT_ARITHMETIC : SW_OP_SHIFT_RIGHT_LOGICAL, y, by, &y));
  SW_TRY(sw_im_converted(m, op, y, t.dtype, &y));
  return sw_im_results_are(m, op, &y, 1);
}

static sw_rc square(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 0)};
  return sw_im_emit_op(m, op, row->code, 2, x, NULL);
}

/* --- next_after -------------------------------------------------------------------------------------------------- */

/* One more or one less in the bits of a magnitude: away from 0 when y lies there. From 0 it is the least number with
 * y's sign. y itself where x is y, NaN where one is. */
static sw_rc next_after(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  static const sw_dtype kBits[9] = {[1] = SW_I8, [2] = SW_I16, [4] = SW_I32, [8] = SW_I64};
  (void)row;
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  sw_id x = sw_im_operand(m, op, 0), y = sw_im_operand(m, op, 1), zero, up, positive, out, step, back, bits, least, nan;
  sw_id is_zero, same, known;
  sw_type t;
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  SW_TRY(broadcast_to(m, op, x, &t, &x));
  SW_TRY(broadcast_to(m, op, y, &t, &y));
  if (sw_dtype_class_of(t.dtype) != SW_CLASS_FLOAT || sw_dtype_bits(t.dtype) < 8)
    return SW_IM_FAIL(m, op, "expected floats of 8 bits or more");
  sw_dtype whole = kBits[sw_dtype_bytes(t.dtype)];
  SW_TRY(sw_im_number(m, op, t.dtype, 0, t.rank, t.dims, &zero));
  SW_TRY(sw_im_compared(m, op, "gt", y, x, &up));
  SW_TRY(sw_im_compared(m, op, "gt", x, zero, &positive));
  SW_TRY(sw_im_compared(m, op, "eq", up, positive, &out));
  SW_TRY(sw_im_number(m, op, whole, 1, t.rank, t.dims, &step));
  SW_TRY(sw_im_number(m, op, whole, -1, t.rank, t.dims, &back));
  SW_TRY(bits_as(m, op, step, t.dtype, &least));
  SW_TRY(sw_im_choose(m, op, out, step, back, &step));
  SW_TRY(bits_as(m, op, x, whole, &bits));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, bits, step, &bits));
  SW_TRY(bits_as(m, op, bits, t.dtype, &bits));
  SW_TRY(sw_im_help(m, op, SW_OP_NEGATE, 1, &least, NULL, &back));
  SW_TRY(sw_im_choose(m, op, up, least, back, &least));
  SW_TRY(sw_im_compared(m, op, "eq", x, zero, &is_zero));
  SW_TRY(sw_im_choose(m, op, is_zero, least, bits, &bits));
  SW_TRY(sw_im_compared(m, op, "eq", x, y, &same));
  SW_TRY(sw_im_choose(m, op, same, y, bits, &bits));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, x, y, &nan));
  SW_TRY(sw_im_compared(m, op, "eq", x, x, &known));
  SW_TRY(sw_im_compared(m, op, "eq", y, y, &same));
  SW_TRY(sw_im_two(m, op, SW_OP_AND, known, same, &known));
  SW_TRY(sw_im_choose(m, op, known, bits, nan, &bits));
  return sw_im_results_are(m, op, &bits, 1);
}

/* clang-format off */
static const sw_ir_row kRows[] = {
#define ROWS_none(id, text, most)
#define ROWS_ROWS(id, text, most)
#define ROWS_SAME(id, text, most)
#define ROWS_BROADCASTING(id, text, most) {"broadcast_" text, broadcasting, SW_OP_##id, most},
#define SW_COLUMN_IN(id, text, most, in) ROWS_##in(id, text, most)
#include "shardwright/ops.def"
    {"broadcast_compare", broadcasting, SW_OP_COMPARE, 2},
    {"conj", conjugate},
    {"is_inf", is_inf, SW_OP_ABS},
    {"is_pos_inf", is_inf, SW_OP_COMPARE},
    {"is_neg_inf", is_inf, SW_OP_NEGATE},
    {"constant_like", constant_like, SW_OP_CONSTANT},
    {"next_after", next_after},
    {"broadcast_next_after", next_after},
    {"mulhi", mulhi},
    {"scan", sw_im_scan},
    {"top_k", sw_im_top_k, SW_OP_TOP_K, 1, SW_IR_STORAGE},
    {"topk", sw_im_top_k, SW_OP_TOP_K, 1, SW_IR_STORAGE},
    {"ragged_dot", sw_im_ragged_dot, SW_OP_DOT},
    {"square", square, SW_OP_MULTIPLY, 1, SW_IR_SCALARS},
};
/* clang-format on */

static const sw_ir_row kCalls[] = {
    {"mhlo.topk", sw_im_top_k},
    {"TopK", sw_im_top_k},
    {"chlo.top_k", sw_im_top_k},
    {"ApproxTopK", sw_im_approx_top_k},
};

const sw_dialect sw_dialect_chlo = {"chlo", SW_IR_ROWS(kRows), SW_IR_ROWS(kCalls), NULL};
