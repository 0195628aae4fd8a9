/* Ops whose operands and attributes go over one by one, and small special forms of the text. */
#include <ctype.h>
#include <string.h>

#include "mlir/stablehlo/vectorize.h"
#include "mlir/stablehlo/stablehlo.h"

/* stablehlo.compare  GT, %a, %b,  FLOAT : ... */
void sw_im_direction_of(const sw_importer *m, const sw_ir_op *o, char direction[3]) {
  sw_ir_span word = sw_ir_attr(m->t, o, "comparison_direction", NULL);
  if (sw_ir_present(word)) {
    word = sw_ir_last_word(m->t, word);
  } else {
    word.at = sw_ir_blanks(m->t->s, o->body.at);
    word.end = sw_ir_name(m->t->s, word.at);
  }
  memset(direction, 0, 3);
  for (uint32_t i = 0; i < 2 && i < sw_ir_len(word); i++) {
    direction[i] = (char)tolower((unsigned char)m->t->s[word.at + i]);
  }
}

bool sw_im_is_total_order(const sw_importer *m, const sw_ir_op *o) {
  sw_ir_span v = sw_ir_attr(m->t, o, "compare_type", NULL);
  uint32_t end = sw_ir_present(o->attrs) ? o->attrs.at : o->body.end;
  if (!sw_ir_present(v) && o->generic) return false;
  if (!sw_ir_present(v)) v = (sw_ir_span){o->body.at, end};
  return sw_ir_is(m->t, sw_ir_last_word(m->t, v), "TOTALORDER");
}

/* A float as an integer in the total order: the bits, or where the sign is set, all of them but the sign turned. Types
 * whose byte does not begin with a sign are f32 for that. */
static sw_rc emit_total_order_key(sw_importer *m, uint32_t op, sw_id x, sw_id *out) {
  static const sw_dtype kOfBytes[] = {[1] = SW_I8, [2] = SW_I16, [4] = SW_I32, [8] = SW_I64};
  sw_dtype said = sw_im_type(m, x)->dtype;
  bool no_sign_above = sw_dtype_bits(said) < 8 || said == SW_F8E8M0FNU;
  if (no_sign_above) SW_TRY(sw_im_converted(m, op, x, SW_F32, &x));
  sw_type t = *sw_im_type(m, x);
  int bits = sw_dtype_bits(t.dtype);
  sw_im_attrs a = {.n = 0};
  sw_id sign, width, rest;
  sw_dtype whole = kOfBytes[sw_dtype_bytes(t.dtype)];
  sw_im_int(&a, SW_ATTR_DTYPE, whole);
  SW_TRY(sw_im_help(m, op, SW_OP_BITCAST, 1, &x, &a, &x));
  SW_TRY(sw_im_number(m, op, whole, bits - 1, t.rank, t.dims, &width));
  SW_TRY(sw_im_number(m, op, whole, 1, t.rank, t.dims, &rest));
  SW_TRY(sw_im_two(m, op, SW_OP_SHIFT_RIGHT_ARITHMETIC, x, width, &sign));
  SW_TRY(sw_im_two(m, op, SW_OP_SHIFT_RIGHT_LOGICAL, sign, rest, &sign));
  return sw_im_two(m, op, SW_OP_XOR, x, sign, out);
}

sw_rc sw_im_compare(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_im_attrs a = {.n = 0};
  sw_im_add add = {.code = row->code, .attrs = &a};
  char direction[3];
  SW_TRY(sw_im_operands(m, op, row->most_operands, &add.operands, &add.n_operands));
  sw_im_direction_of(m, sw_im_op(m, op), direction);
  sw_im_text(&a, SW_ATTR_DIRECTION, direction);
  sw_id keys[2];
  bool total = add.n_operands == 2 && sw_im_is_total_order(m, sw_im_op(m, op));
  for (int i = 0; i < 2 && total; i++) {
    total = sw_dtype_class_of(sw_im_type(m, add.operands[i])->dtype) == SW_CLASS_FLOAT;
    if (total) SW_TRY(emit_total_order_key(m, op, add.operands[i], &keys[i]));
  }
  if (total) add.operands = keys;
  return sw_im_emit(m, op, &add, NULL);
}

/* stablehlo.slice %0 [0:1, 0:8:2] : start:limit:stride per dim */
static sw_rc slice_clause(sw_importer *m, uint32_t op, sw_im_attrs *a) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t at = o->body.at, n = 0;
  while (at < o->body.end && m->t->s[at] != '[') at++;
  sw_ir_span list = {at, o->body.end}, item;
  uint32_t cursor = 0;
  int64_t *v;
  SW_ARENA_NEW(v, &m->scratch, 3 * SW_MAX_RANK, m->d);
  list = sw_ir_inside(m->t, list);
  while (n < SW_MAX_RANK && sw_ir_next_item(m->t, list, &cursor, &item)) {
    int64_t *of[3] = {&v[n], &v[SW_MAX_RANK + n], &v[2 * SW_MAX_RANK + n]};
    *of[2] = 1;
    for (int k = 0; k < 3 && item.at < item.end; k++) {
      sw_ir_span part = item;
      while (item.at < item.end && m->t->s[item.at] != ':') item.at++;
      part.end = item.at++;
      if (!sw_ir_read_int(m->t, part, of[k])) {
        return SW_IM_FAIL_AT(m, part.at, "expected start:limit or start:limit:stride");
      }
    }
    n++;
  }
  sw_im_numbers(a, SW_ATTR_START, v, (int)n);
  sw_im_numbers(a, SW_ATTR_LIMIT, v + SW_MAX_RANK, (int)n);
  sw_im_numbers(a, SW_ATTR_STRIDES, v + (ptrdiff_t)(2 * SW_MAX_RANK), (int)n);
  return SW_OK;
}

sw_rc sw_im_slice(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_im_attrs a = {.n = 0};
  sw_im_add add = {.code = row->code, .attrs = &a};
  SW_TRY(sw_im_operands(m, op, row->most_operands, &add.operands, &add.n_operands));
  sw_ir_span start = sw_ir_attr(m->t, o, "start_indices", NULL);
  if (sw_ir_present(start)) {
    SW_TRY(sw_im_ints(m, &a, SW_ATTR_START, start));
    SW_TRY(sw_im_ints(m, &a, SW_ATTR_LIMIT, sw_ir_attr(m->t, o, "limit_indices", NULL)));
    SW_TRY(sw_im_ints(m, &a, SW_ATTR_STRIDES, sw_ir_attr(m->t, o, "strides", NULL)));
  } else {
    SW_TRY(slice_clause(m, op, &a));
  }
  return sw_im_emit(m, op, &add, NULL);
}

/* stablehlo.reduce_precision %0, format = e5m10 : ... */
sw_rc sw_im_reduce_precision(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_im_attrs a = {.n = 0};
  sw_im_add add = {.code = row->code, .attrs = &a};
  int64_t exponent = 0, mantissa = 0;
  SW_TRY(sw_im_operands(m, op, row->most_operands, &add.operands, &add.n_operands));
  sw_ir_span e = sw_ir_attr(m->t, o, "exponent_bits", NULL), f = sw_ir_attr(m->t, o, "mantissa_bits", NULL);
  if (!sw_ir_present(e)) {
    sw_ir_span format = sw_ir_clause(m->t, o, "format");
    uint32_t middle = format.at;
    while (middle < format.end && m->t->s[middle] != 'm') middle++;
    e = (sw_ir_span){format.at + 1, middle};
    f = (sw_ir_span){middle + 1, format.end};
  }
  if (!sw_ir_read_int(m->t, e, &exponent) || !sw_ir_read_int(m->t, f, &mantissa)) {
    return SW_IM_FAIL(m, op, "the op does not say its format; expected one like e5m10");
  }
  sw_im_int(&a, SW_ATTR_EXPONENT_BITS, exponent);
  sw_im_int(&a, SW_ATTR_MANTISSA_BITS, mantissa);
  return sw_im_emit(m, op, &add, NULL);
}
