/* What MHLO has beside the ops that it shares with StableHLO. */
#include <math.h>

#include "mlir/import/dialect.h"
#include "mlir/import/import_emit.h"

/* Dims major to minor, by an attribute that lists them minor to major; in order, when there is none. */
static sw_rc dims_in_memory(sw_importer *m, uint32_t op, const char *key, int rank, int64_t *out) {
  sw_ir_span said = sw_ir_attr(m->t, sw_im_op(m, op), key, NULL);
  const int64_t *list = NULL;
  int n = rank;
  uint32_t seen = 0;
  if (sw_ir_present(said)) SW_TRY(sw_im_list(m, said, &list, &n));
  for (int i = 0; n == rank && i < rank; i++) {
    out[i] = list ? list[rank - 1 - i] : i;
    if (out[i] >= 0 && out[i] < rank) seen |= 1u << out[i];
  }
  if (n == rank && seen == (1u << rank) - 1) return SW_OK;
  return SW_IM_FAIL(m, op, "'%s' has no order of %d dims; expected each of them once, minor to major", key, rank);
}

/* mhlo.bitcast: elements in the order of the memory. That is the operand with its dims as they lie there, in the dims
 * of the result as they lie, those put in order. */
static sw_rc bitcast(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_type t;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  sw_id x = sw_im_operand(m, op, 0);
  int rank = sw_im_type(m, x)->rank;
  int64_t from[SW_MAX_RANK], to[SW_MAX_RANK], lying[SW_MAX_RANK], back[SW_MAX_RANK];
  bool cast = t.dtype != sw_im_type(m, x)->dtype;
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DTYPE, t.dtype);
  if (cast && sw_dtype_bits(t.dtype) != sw_dtype_bits(sw_im_type(m, x)->dtype)) return sw_im_opaque(m, op, row->name);
  if (m->vectorized && !cast) return sw_im_identity(m, row, op);
  if (m->vectorized) return sw_im_emit_op(m, op, SW_OP_BITCAST, 1, &x, &a);
  if (cast) SW_TRY(sw_im_help(m, op, SW_OP_BITCAST, 1, &x, &a, &x));
  SW_TRY(dims_in_memory(m, op, "source_layout", rank, from));
  SW_TRY(dims_in_memory(m, op, "result_layout", t.rank, to));
  for (int i = 0; i < t.rank; i++) {
    lying[i] = t.dims[to[i]];
    back[to[i]] = i;
  }
  SW_TRY(sw_im_permuted(m, op, x, from, &x));
  bool in_order = sw_im_is_in_order(t.rank, back);
  if (!in_order) SW_TRY(sw_im_reshaped(m, op, x, t.rank, lying, &x));
  a = (sw_im_attrs){.n = 0};
  sw_im_numbers(&a, in_order ? SW_ATTR_SHAPE : SW_ATTR_PERMUTATION, in_order ? lying : back, t.rank);
  sw_opcode last = in_order ? SW_OP_RESHAPE : SW_OP_TRANSPOSE;
  return sw_im_emit_op(m, op, last, 1, &x, &a);
}

/* --- stochastic_convert ------------------------------------------------------------------------------------------- */

/* |x| and the whole part of it. */
static sw_rc whole_part(sw_importer *m, uint32_t op, sw_id x, sw_id *size, sw_id *whole) {
  SW_TRY(sw_im_one(m, op, SW_OP_ABS, x, size));
  return sw_im_one(m, op, SW_OP_FLOOR, *size, whole);
}

/* Is what is left of |x|, in parts of 2^bits, more than the random number? */
static sw_rc rounds_away(sw_importer *m, uint32_t op, sw_id size, sw_id whole, sw_id random, sw_id *out) {
  const sw_type t = *sw_im_type(m, size), r = *sw_im_type(m, random);
  sw_id rest, scale, parts;
  SW_TRY(sw_im_two(m, op, SW_OP_SUBTRACT, size, whole, &rest));
  sw_dtype wide = t.dtype == SW_F64 ? SW_F64 : SW_F32;
  if (t.dtype != wide) SW_TRY(sw_im_converted(m, op, rest, wide, &rest));
  SW_TRY(sw_im_number(m, op, wide, ldexp(1, (int)sw_dtype_bits(r.dtype)), t.rank, t.dims, &scale));
  SW_TRY(sw_im_two(m, op, SW_OP_MULTIPLY, rest, scale, &parts));
  SW_TRY(sw_im_converted(m, op, parts, r.dtype, &parts));
  return sw_im_compared(m, op, "lt", random, parts, out);
}

/* A float as an integer: rounded away from zero with the probability that what is left of it says, as XLA does it.
 * stochastic_convert(2.25, random ui32) = 3 when random < 2^30, else 2 */
static sw_rc stochastic_convert(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_type t;
  sw_id x, size, whole, away, up, one, zero, negative, y, less;
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  x = sw_im_operand(m, op, 0);
  sw_dtype_class class = sw_dtype_class_of(t.dtype), from = sw_dtype_class_of(sw_im_type(m, x)->dtype);
  bool known = from == SW_CLASS_FLOAT && (class == SW_CLASS_SIGNED || class == SW_CLASS_UNSIGNED);
  if (!known) return sw_im_opaque(m, op, row->name);
  const sw_type f = *sw_im_type(m, x);
  SW_TRY(whole_part(m, op, x, &size, &whole));
  SW_TRY(rounds_away(m, op, size, whole, sw_im_operand(m, op, 1), &away));
  SW_TRY(sw_im_number(m, op, f.dtype, 1, f.rank, f.dims, &one));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, whole, one, &up));
  SW_TRY(sw_im_choose(m, op, away, up, whole, &y));
  SW_TRY(sw_im_number(m, op, f.dtype, 0, f.rank, f.dims, &zero));
  SW_TRY(sw_im_compared(m, op, "lt", x, zero, &negative));
  SW_TRY(sw_im_one(m, op, SW_OP_NEGATE, y, &less));
  SW_TRY(sw_im_choose(m, op, negative, less, y, &y));
  SW_TRY(sw_im_converted(m, op, y, t.dtype, &y)); /* what does not fit is the nearest that does */
  return sw_im_results_are(m, op, &y, 1);
}

/* --- meanwhile ---------------------------------------------------------------------------------------------------- */

static sw_rc async_start(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  if (o->first_region != SW_IR_NONE) return sw_im_named_computation(m, row, op);
  sw_ir_span callee = sw_ir_attr(m->t, o, "called_computation", NULL);
  if (!sw_ir_present(callee)) return SW_IM_FAIL(m, op, "expected a region or a 'called_computation'");
  return sw_im_inline(m, op, sw_ir_unquoted(m->t, callee));
}

/* clang-format off */
static const sw_ir_row kRows[] = {
    {"bitcast", bitcast, SW_OP_RESHAPE, 0, SW_IR_SCALARS},
    {"fusion", sw_im_named_computation, .flags = SW_IR_HANDS_ON},
    {"stochastic_convert", stochastic_convert},
    {"copy", sw_im_identity, .flags = SW_IR_HANDS_ON | SW_IR_PASSES},
    {"add_dependency", sw_im_identity, .flags = SW_IR_HANDS_ON | SW_IR_PASSES},
    {"domain", sw_im_identity, .flags = SW_IR_HANDS_ON | SW_IR_PASSES},
    {"async_start", async_start},
    {"async_update", sw_im_identity, .flags = SW_IR_HANDS_ON | SW_IR_PASSES},
    {"async_done", sw_im_identity, .flags = SW_IR_HANDS_ON | SW_IR_PASSES},
};
/* clang-format on */

const sw_dialect sw_dialect_mhlo = {"mhlo", SW_IR_ROWS(kRows), NULL, 0, NULL};
