/* Single numbers as other dialects have them, beside tensors: what tells a device where it stands is computed with
 * them.
 *
 *   %1 = arith.index_cast %0 : i64 to index             convert
 *   %2 = tensor.from_elements %1 : tensor<i64>          the same number
 *   %3 = tensor.extract %t[%1, %2] : tensor<4x8xi64>    dynamic_slice of one element, as a scalar
 */
#include "io/mlir/import/dialect.h"
#include "io/mlir/import/emit.h"

/* What stands behind "to". */
static sw_rc cast_type(sw_importer *m, uint32_t op, sw_type *out) {
  const sw_ir_op *o = sw_im_op(m, op);
  if (o->generic) return sw_im_result_type(m, op, 0, out);
  uint32_t end = o->loc.end ? o->loc.at : o->text.end;
  for (uint32_t i = o->types.at; i + 4 < end; i++) {
    if (m->t->s[i] != ' ' || !sw_ir_word(m->t->s, i + 1, "to")) continue;
    uint32_t at = sw_ir_blanks(m->t->s, i + 3);
    return sw_ir_read_type(m->t, (sw_ir_span){at, sw_ir_name(m->t->s, at)}, &m->scratch, out, m->d);
  }
  return SW_IM_FAIL(m, op, "the op does not say the type that it casts to");
}

static sw_rc scalar_cast(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_type t;
  sw_id y;
  (void)row;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  SW_TRY(cast_type(m, op, &t));
  SW_TRY(sw_im_converted(m, op, sw_im_operand(m, op, 0), t.dtype, &y));
  return sw_im_bind(m, op, 0, y, true);
}

static sw_rc from_elements(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const uint32_t n = sw_im_op(m, op)->n_uses;
  const int64_t one = 1;
  sw_type t;
  sw_id *x, y;
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  if (!n || sw_type_elements(&t) != n) {
    return SW_IM_FAIL(m, op, "the op has %u elements; expected as many as its result", n);
  }
  SW_ARENA_NEW(x, &m->scratch, n, m->d);
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_reshaped(m, op, sw_im_operand(m, op, i), 1, &one, &x[i]));
  sw_im_int(&a, SW_ATTR_DIM, 0);
  SW_TRY(sw_im_help(m, op, row->code, (int)n, x, &a, &y));
  SW_TRY(sw_im_reshaped(m, op, y, t.rank, t.dims, &y));
  return sw_im_bind(m, op, 0, y, true);
}

static sw_rc extract(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  int64_t ones[SW_MAX_RANK];
  const sw_id *x;
  sw_id y;
  int n;
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_operand_count(m, op, 1, 1 + SW_MAX_RANK));
  SW_TRY(sw_im_operands(m, op, 0, &x, &n));
  int rank = m->g->values[x[0]].type.rank;
  if (rank != n - 1) return SW_IM_FAIL(m, op, "%d places are given for a tensor of rank %d", n - 1, rank);
  for (int i = 0; i < rank; i++) ones[i] = 1;
  sw_im_numbers(&a, SW_ATTR_SIZES, ones, rank);
  SW_TRY(sw_im_help(m, op, row->code, n, x, &a, &y));
  SW_TRY(sw_im_reshaped(m, op, y, 0, NULL, &y));
  return sw_im_bind(m, op, 0, y, true);
}

/* shape.shape_of: the sizes, which are known. */
static sw_rc shape_of(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  const sw_type *x = sw_im_type(m, sw_im_operand(m, op, 0));
  sw_im_attrs a = {.n = 0};
  int64_t rank = x->rank;
  for (int k = 0; k < x->rank; k++) {
    if (x->dims[k] < 0) return SW_IM_FAIL(m, op, "the size of dim %d is not known", k);
  }
  sw_im_value(&a, &(sw_type){SW_I64, 1, &rank}, x->dims, false);
  return sw_im_emit_op(m, op, row->code, 0, NULL, &a);
}

/* clang-format off */
static const sw_ir_row kRows[] = {
    {"shape.shape_of", shape_of, SW_OP_CONSTANT},
#define ARITH(text, op) {"arith." text, sw_im_simple, SW_OP_##op, 2, SW_IR_SCALARS}
    ARITH("addi", ADD), ARITH("subi", SUBTRACT), ARITH("muli", MULTIPLY), ARITH("divsi", DIVIDE),
    ARITH("remsi", REMAINDER), ARITH("minsi", MINIMUM), ARITH("maxsi", MAXIMUM),
#undef ARITH
    {"arith.index_cast", scalar_cast, SW_OP_CONVERT},
    {"tensor.from_elements", from_elements, SW_OP_CONCATENATE},
    {"tensor.extract", extract, SW_OP_DYNAMIC_SLICE},
};
/* clang-format on */

const sw_dialect sw_dialect_arith = {"arith", SW_IR_ROWS(kRows), NULL, 0, NULL};
