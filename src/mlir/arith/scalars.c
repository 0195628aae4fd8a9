/* Single numbers as other dialects have them, beside tensors: what tells a device where it stands is computed with
 * them.
 *
 *   %1 = arith.index_cast %0 : i64 to index             convert
 *   %2 = tensor.from_elements %1 : tensor<i64>          the same number
 *   %3 = tensor.extract %t[%1, %2] : tensor<4x8xi64>    dynamic_slice of one element, as a scalar
 */
#include <string.h>

#include "mlir/import/dialect.h"
#include "mlir/import/import_emit.h"

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

/* --- integers whose ops say whether they have a sign -------------------------------------------------------------- */

/* The same bits with a sign, or without. */
static sw_rc with_sign(sw_importer *m, uint32_t op, sw_id x, bool has, sw_id *out) {
  static const sw_dtype kOf[][2] = {[1] = {SW_U2, SW_I2},   [2] = {SW_U4, SW_I4},   [3] = {SW_U8, SW_I8},
                                    [4] = {SW_U16, SW_I16}, [5] = {SW_U32, SW_I32}, [6] = {SW_U64, SW_I64}};
  const sw_dtype was = sw_im_type(m, x)->dtype;
  sw_im_attrs a = {.n = 0};
  int k = 1;
  *out = x;
  if (was == SW_BOOL) return SW_OK;
  while (k < 6 && 1 << k < sw_dtype_bits(was)) k++;
  if (was == kOf[k][has]) return SW_OK;
  sw_im_int(&a, SW_ATTR_DTYPE, kOf[k][has]);
  return sw_im_help(m, op, SW_OP_BITCAST, 1, &x, &a, out);
}

static sw_rc unsigned_op(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_id x, y;
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  SW_TRY(with_sign(m, op, sw_im_operand(m, op, 0), false, &x));
  SW_TRY(with_sign(m, op, sw_im_operand(m, op, 1), false, &y));
  SW_TRY(sw_im_two(m, op, row->code, x, y, &x));
  SW_TRY(with_sign(m, op, x, true, &x));
  return sw_im_bind(m, op, 0, x, true);
}

/* Division goes towards zero; where something remains ceildiv* is one more for a quotient that is not negative, and
 * floordiv* one less for one that is. */
static sw_rc rounded_division(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const bool up = strstr(row->name, "ceil") != NULL, has_sign = strstr(row->name, "divui") == NULL;
  sw_id x[2], quotient, remains, zero, one, next, other_sign;
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  for (uint32_t i = 0; i < 2; i++) SW_TRY(with_sign(m, op, sw_im_operand(m, op, i), has_sign, &x[i]));
  const sw_dtype t = sw_im_type(m, x[0])->dtype;
  SW_TRY(sw_im_number(m, op, t, 0, 0, NULL, &zero));
  SW_TRY(sw_im_number(m, op, t, 1, 0, NULL, &one));
  SW_TRY(sw_im_two(m, op, SW_OP_DIVIDE, x[0], x[1], &quotient));
  SW_TRY(sw_im_two(m, op, up ? SW_OP_ADD : SW_OP_SUBTRACT, quotient, one, &next));
  SW_TRY(sw_im_two(m, op, SW_OP_REMAINDER, x[0], x[1], &remains));
  for (int i = 0; i < 2; i++) SW_TRY(sw_im_compared(m, op, "lt", x[i], zero, &x[i]));
  SW_TRY(sw_im_compared(m, op, "ne", remains, zero, &remains));
  SW_TRY(sw_im_compared(m, op, up ? "eq" : "ne", x[0], x[1], &other_sign));
  SW_TRY(sw_im_two(m, op, SW_OP_AND, remains, other_sign, &remains));
  SW_TRY(sw_im_choose(m, op, remains, next, quotient, &quotient));
  SW_TRY(with_sign(m, op, quotient, true, &quotient));
  return sw_im_bind(m, op, 0, quotient, true);
}

/* arith.cmpi slt, %a, %b : index; in the generic form predicate = 2 : i64 */
static sw_rc import_arith_compare(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  static const char *const kPredicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
  enum { PREDICATES = sizeof kPredicates / sizeof *kPredicates };
  const sw_ir_op *o = sw_im_op(m, op);
  const uint32_t at = sw_ir_blanks(m->t->s, o->body.at);
  int64_t said = -1;
  sw_id x[2], y;
  (void)row;
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  if (o->generic && !sw_ir_read_int(m->t, sw_ir_attr(m->t, o, "predicate", NULL), &said)) said = -1;
  for (int k = 0; !o->generic && k < PREDICATES; k++) {
    if (sw_ir_word(m->t->s, at, kPredicates[k])) said = k;
  }
  if (said < 0 || said >= PREDICATES) return SW_IM_FAIL(m, op, "the op does not say how it compares; expected eq, slt");
  const char *predicate = kPredicates[said];
  for (uint32_t i = 0; i < 2; i++) SW_TRY(with_sign(m, op, sw_im_operand(m, op, i), *predicate != 'u', &x[i]));
  SW_TRY(sw_im_compared(m, op, said < 2 ? predicate : predicate + 1, x[0], x[1], &y));
  return sw_im_bind(m, op, 0, y, true);
}

/* shape.shape_of: the sizes, which are known. */
static sw_rc import_shape_of(sw_importer *m, const sw_ir_row *row, uint32_t op) {
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
    {"shape.shape_of", import_shape_of, SW_OP_CONSTANT},
#define ARITH(text, op) {"arith." text, sw_im_simple, SW_OP_##op, 2, SW_IR_SCALARS}
    ARITH("addi", ADD), ARITH("subi", SUBTRACT), ARITH("muli", MULTIPLY), ARITH("divsi", DIVIDE),
    ARITH("remsi", REMAINDER), ARITH("minsi", MINIMUM), ARITH("maxsi", MAXIMUM), ARITH("andi", AND),
    ARITH("ori", OR), ARITH("xori", XOR), ARITH("shli", SHIFT_LEFT), ARITH("shrsi", SHIFT_RIGHT_ARITHMETIC),
    ARITH("shrui", SHIFT_RIGHT_LOGICAL),
#undef ARITH
    {"arith.select", sw_im_simple, SW_OP_SELECT, 3, SW_IR_SCALARS},
    {"arith.divui", unsigned_op, SW_OP_DIVIDE}, {"arith.remui", unsigned_op, SW_OP_REMAINDER},
    {"arith.minui", unsigned_op, SW_OP_MINIMUM}, {"arith.maxui", unsigned_op, SW_OP_MAXIMUM},
    {"arith.ceildivsi", rounded_division, SW_OP_DIVIDE}, {"arith.ceildivui", rounded_division, SW_OP_DIVIDE},
    {"arith.floordivsi", rounded_division, SW_OP_DIVIDE},
    {"arith.cmpi", import_arith_compare, SW_OP_COMPARE},
    {"arith.index_cast", scalar_cast, SW_OP_CONVERT},
    {"tensor.from_elements", from_elements, SW_OP_CONCATENATE},
    {"tensor.extract", extract, SW_OP_DYNAMIC_SLICE},
};
/* clang-format on */

const sw_dialect sw_dialect_arith = {"arith", SW_IR_ROWS(kRows), NULL, 0, NULL};
