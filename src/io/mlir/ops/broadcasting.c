/* Ops of CHLO that others replace: those that spread their operands to one shape first, and small predicates.
 *
 *   chlo.broadcast_add %a, %b : (tensor<4x1xf32>, tensor<6xf32>) -> tensor<4x6xf32>
 *
 *   a' = broadcast_in_dim(a) {dims=[0,1]}; b' = broadcast_in_dim(b) {dims=[1]}; add(a', b')
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "io/mlir/regions/lift.h"

/* The operand in the shape: its dims are the last ones, or (of a lower rank) those that the op lists. */
sw_rc sw_im_broadcast_to(sw_importer *m, uint32_t op, sw_id x, const sw_type *shape, sw_id *out) {
  const sw_type t = *sw_im_type(m, x);
  int64_t dims[SW_MAX_RANK];
  const int64_t *listed = NULL;
  int n;
  *out = x;
  if (t.rank == shape->rank && !memcmp(t.dims, shape->dims, (size_t)t.rank * sizeof *t.dims)) return SW_OK;
  SW_TRY(sw_im_list(m, sw_ir_attr(m->t, sw_im_op(m, op), "broadcast_dimensions", NULL), &listed, &n));
  bool given = t.rank < shape->rank && n == t.rank;
  if (t.rank > shape->rank) return SW_IM_FAIL(m, op, "an operand has more dims than the result");
  for (int k = 0; k < t.rank; k++) dims[k] = given ? listed[k] : shape->rank - t.rank + k;
  sw_im_attrs a = {.n = 0};
  sw_im_shape(&a, shape);
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, t.rank);
  return sw_im_help(m, op, SW_OP_BROADCAST, 1, &x, &a, out);
}

sw_rc sw_im_broadcasting(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_type shape;
  sw_id x[3];
  sw_im_attrs a = {.n = 0};
  char direction[3] = {0};
  SW_TRY(sw_im_operand_count(m, op, (uint32_t)row->most_operands, (uint32_t)row->most_operands));
  SW_TRY(sw_im_result_type(m, op, 0, &shape));
  for (int k = 0; k < shape.rank; k++) {
    if (shape.dims[k] < 0) return SW_IM_FAIL(m, op, "dim %d of the result has a size that is not known ('?')", k);
  }
  for (int i = 0; i < row->most_operands; i++) {
    x[i] = sw_im_operand(m, op, (uint32_t)i);
    bool scalar_choice = row->code == SW_OP_SELECT && i == 0 && sw_im_type(m, x[0])->rank == 0;
    if (!scalar_choice) SW_TRY(sw_im_broadcast_to(m, op, x[i], &shape, &x[i]));
  }
  if (row->code == SW_OP_COMPARE) {
    sw_ir_span word = sw_ir_last_word(m->t, sw_ir_attr(m->t, o, "comparison_direction", NULL));
    for (uint32_t i = 0; i < 2 && i < sw_ir_len(word); i++) {
      direction[i] = (char)tolower((unsigned char)m->t->s[word.at + i]);
    }
    sw_im_text(&a, SW_ATTR_DIRECTION, direction);
  }
  sw_im_add add = {.code = row->code, .n_operands = row->most_operands, .operands = x, .attrs = &a};
  return sw_im_emit(m, op, &add, NULL);
}

/* (re, im) as (re, -im) */
sw_rc sw_im_conj(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x = sw_im_operand(m, op, 0), parts[2];
  if (!sw_im_is_complex(m, x)) return sw_im_identity(m, row, op);
  SW_TRY(sw_im_one(m, op, SW_OP_REAL, x, &parts[0]));
  SW_TRY(sw_im_one(m, op, SW_OP_IMAG, x, &parts[1]));
  SW_TRY(sw_im_one(m, op, SW_OP_NEGATE, parts[1], &parts[1]));
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_COMPLEX, .n_operands = 2, .operands = parts}, NULL);
}

/* is_inf, is_pos_inf, is_neg_inf: |x|, x or -x is infinity. */
sw_rc sw_im_is_inf(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x[2] = {sw_im_operand(m, op, 0)};
  sw_im_attrs a = {.n = 0};
  if (row->code != SW_OP_COMPARE) SW_TRY(sw_im_one(m, op, row->code, x[0], &x[0]));
  const sw_type t = *sw_im_type(m, x[0]);
  SW_TRY(sw_im_number(m, op, t.dtype, INFINITY, t.rank, t.dims, &x[1]));
  sw_im_text(&a, SW_ATTR_DIRECTION, "eq");
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_COMPARE, .n_operands = 2, .operands = x, .attrs = &a}, NULL);
}

/* chlo.constant_like(%x) <{value = 1.0 : f32}>: that number in the shape of x. */
sw_rc sw_im_constant_like(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  sw_type t, scalar = {.rank = 0};
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  scalar.dtype = t.dtype;
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "value", NULL);
  if (!sw_ir_present(v)) return SW_IM_FAIL(m, op, "attribute 'value' is missing");
  for (uint32_t i = v.at; i < v.end; i++) {
    if (m->t->s[i] == ':') v.end = i;
  }
  sw_im_shape(&a, &t);
  sw_im_int(&a, SW_ATTR_DTYPE, t.dtype);
  a.at[a.n].key = SW_ATTR_VALUE;
  SW_TRY(sw_ir_read_dense(m->t, sw_ir_trimmed(m->t, v), &scalar, &m->scratch, &a.at[a.n++].u.data, m->d));
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_CONSTANT, .attrs = &a}, NULL);
}
