/* Ops whose operands and attributes go over one by one, and small special forms of the text. */
#include <ctype.h>
#include <string.h>

#include "io/mlir/partitioned/partitioned.h"
#include "io/mlir/regions/lift.h"

enum { MOST_OPERANDS = 1024 };

static sw_rc collect_operands(sw_importer *m, uint32_t op, int most, const sw_id **out, int *n) {
  const sw_ir_op *o = sw_im_op(m, op);
  *n = most < 0 ? 0 : (int)o->n_uses;
  if (most > 0) SW_TRY(sw_im_operand_count(m, op, (uint32_t)most, UINT32_MAX));
  if (most > 0) *n = most;
  SW_TRY(sw_im_operand_count(m, op, 0, MOST_OPERANDS));
  sw_id *at;
  SW_ARENA_NEW(at, &m->scratch, *n, m->d);
  for (int i = 0; i < *n; i++) at[i] = sw_im_operand(m, op, (uint32_t)i);
  *out = at;
  return SW_OK;
}

/* Sizes that the type of the result leaves open are taken from operand `given`, if it is there and known. */
static sw_rc shape_of_result(sw_importer *m, uint32_t op, int given, sw_type *t) {
  int64_t sizes[SW_MAX_RANK], *dims;
  SW_TRY(sw_im_result_type(m, op, 0, t));
  int open = -1;
  for (int i = t->rank - 1; i >= 0; i--) open = t->dims[i] < 0 ? i : open;
  if (open < 0) return SW_OK;
  bool known = given >= 0 && (uint32_t)given < sw_im_op(m, op)->n_uses &&
               sw_im_constant_numbers(m, sw_im_operand(m, op, (uint32_t)given), t->rank, sizes);
  if (!known) {
    return SW_IM_FAIL(m, op, "dim %d of the result has a size that is not known ('?'); planning needs all sizes%s",
                      open, sw_im_bound_hint(m));
  }
  SW_ARENA_NEW(dims, &m->scratch, t->rank, m->d);
  for (int i = 0; i < t->rank; i++) dims[i] = t->dims[i] < 0 ? sizes[i] : t->dims[i];
  t->dims = dims;
  return SW_OK;
}

static sw_rc add_attr(sw_importer *m, uint32_t op, const sw_ir_row *of, const sw_ir_attr_row *row, sw_im_attrs *a) {
  if (!row->generic) {
    sw_type t;
    int given = of->most_operands > 0 ? of->most_operands : 0; /* behind the operands that are tensors */
    if (row->key == SW_ATTR_DTYPE) {
      SW_TRY(sw_im_result_type(m, op, 0, &t));
      sw_im_int(a, SW_ATTR_DTYPE, t.dtype);
    } else {
      SW_TRY(shape_of_result(m, op, given, &t));
      sw_im_shape(a, &t);
    }
    return SW_OK;
  }
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), row->generic, row->custom);
  if (!sw_ir_present(v)) {
    return SW_IM_FAIL(m, op, "attribute '%s' is missing", row->generic);
  }
  if (sw_attr_kind_of(row->key) == SW_ATTR_KIND_INTS) return sw_im_ints(m, a, row->key, v);
  int64_t i;
  if (!sw_ir_read_int(m->t, v, &i)) {
    return SW_FAIL_INPUT(m->d, sw_ir_place(m->t, v.at), "expected a whole number as '%s'", row->generic);
  }
  sw_im_int(a, row->key, i);
  return SW_OK;
}

sw_rc sw_im_complex_extreme(sw_importer *m, uint32_t op, bool greatest, const sw_id *x, sw_id *out) {
  sw_id re[2], im[2], beyond, equal, tie;
  const char *direction = greatest ? "gt" : "lt";
  for (int i = 0; i < 2; i++) {
    SW_TRY(sw_im_one(m, op, SW_OP_REAL, x[i], &re[i]));
    SW_TRY(sw_im_one(m, op, SW_OP_IMAG, x[i], &im[i]));
  }
  SW_TRY(sw_im_compared(m, op, direction, re[0], re[1], &beyond));
  SW_TRY(sw_im_compared(m, op, "eq", re[0], re[1], &equal));
  SW_TRY(sw_im_compared(m, op, direction, im[0], im[1], &tie));
  SW_TRY(sw_im_two(m, op, SW_OP_AND, equal, tie, &tie));
  SW_TRY(sw_im_two(m, op, SW_OP_OR, beyond, tie, &beyond));
  return sw_im_choose(m, op, beyond, x[0], x[1], out);
}

bool sw_im_is_complex_extreme(const sw_importer *m, const sw_ir_row *row, const sw_id *x) {
  bool extreme = row->code == SW_OP_MAXIMUM || row->code == SW_OP_MINIMUM;
  return extreme && sw_im_is_complex(m, x[0]) && sw_im_is_complex(m, x[1]);
}

sw_rc sw_im_simple(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_im_attrs a = {.n = 0};
  sw_im_add add = {.code = row->code, .attrs = &a};
  SW_TRY(collect_operands(m, op, row->most_operands, &add.operands, &add.n_operands));
  if (add.n_operands == 2 && sw_im_is_complex_extreme(m, row, add.operands)) {
    sw_id out;
    SW_TRY(sw_im_complex_extreme(m, op, row->code == SW_OP_MAXIMUM, add.operands, &out));
    return sw_im_result_is(m, op, 0, out);
  }
  for (int i = 0; i < SW_IR_ROW_ATTRS && (row->attrs[i].key || row->attrs[i].generic); i++) {
    SW_TRY(add_attr(m, op, row, &row->attrs[i], &a));
  }
  return sw_im_emit(m, op, &add, NULL);
}

sw_rc sw_im_square(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 0)};
  return sw_im_emit(m, op, &(sw_im_add){.code = row->code, .n_operands = 2, .operands = x}, NULL);
}

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
static sw_rc total_key(sw_importer *m, uint32_t op, sw_id x, sw_id *out) {
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
  SW_TRY(collect_operands(m, op, row->most_operands, &add.operands, &add.n_operands));
  sw_im_direction_of(m, sw_im_op(m, op), direction);
  sw_im_text(&a, SW_ATTR_DIRECTION, direction);
  sw_id keys[2];
  bool total = add.n_operands == 2 && sw_im_is_total_order(m, sw_im_op(m, op));
  for (int i = 0; i < 2 && total; i++) {
    total = sw_dtype_class_of(sw_im_type(m, add.operands[i])->dtype) == SW_CLASS_FLOAT;
    if (total) SW_TRY(total_key(m, op, add.operands[i], &keys[i]));
  }
  if (total) add.operands = keys;
  return sw_im_emit(m, op, &add, NULL);
}

/* What the printer left out is planned as a parameter: its size counts, its elements do not. */
static sw_rc elided_constant(sw_importer *m, uint32_t op, const sw_type *t) {
  const sw_ir_op *o = sw_im_op(m, op);
  const char *name = NULL;
  sw_id id;
  if (!o->n_results) return SW_OK;
  sw_ir_span text = m->t->results.at[o->first_result].name;
  const char *base = sw_arena_printf(&m->scratch, m->d, "%s%.*s", sw_im_top(m)->instance->prefix, (int)sw_ir_len(text),
                                     m->t->s + text.at);
  if (!base) return SW_E_RESOURCE;
  SW_TRY(sw_im_fresh_name(m, base, &name));
  if (!m->n_elided++) {
    sw_im_warn(m, o->text.at, "constants without elements (dense_resource) are taken as parameters of the program");
  }
  SW_TRY(sw_graph_add_arg(m->g, name, t->dtype, t->rank, t->dims, SW_VALUE_PARAMETER, sw_im_place(m, op), &id, m->d));
  return sw_im_bind(m, op, 0, id, true);
}

sw_rc sw_im_constant(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_type t;
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  sw_ir_span literal = sw_ir_constant_literal(m->t, sw_im_op(m, op));
  if (sw_ir_is_elided(m->t, literal)) return elided_constant(m, op, &t);
  sw_im_shape(&a, &t);
  sw_im_int(&a, SW_ATTR_DTYPE, t.dtype);
  a.at[a.n].key = SW_ATTR_VALUE;
  SW_TRY(sw_ir_read_dense(m->t, literal, &t, &m->scratch, &a.at[a.n++].u.data, m->d));
  return sw_im_emit(m, op, &(sw_im_add){.code = row->code, .attrs = &a}, NULL);
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
        return SW_FAIL_INPUT(m->d, sw_ir_place(m->t, part.at), "expected start:limit or start:limit:stride");
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
  SW_TRY(collect_operands(m, op, row->most_operands, &add.operands, &add.n_operands));
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
  SW_TRY(collect_operands(m, op, row->most_operands, &add.operands, &add.n_operands));
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

/* What a device gets from the others. */
static sw_rc collective(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t n = sw_ir_result_count(m->t, o);
  sw_type types[SW_MAX_RESULTS];
  sw_id results[SW_MAX_RESULTS];
  sw_im_attrs a = {.n = 0};
  sw_im_add add = {.code = SW_OP_OPAQUE, .attrs = &a, .n_types = (int)n, .types = types};
  if (n < 1 || n > SW_MAX_RESULTS) {
    return SW_IM_FAIL(m, op, "the op has %u results; expected 1 to %d", n, SW_MAX_RESULTS);
  }
  SW_TRY(collect_operands(m, op, 0, &add.operands, &add.n_operands));
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_result_type(m, op, (int)i, &types[i]));
  sw_im_text(&a, SW_ATTR_TARGET, row->name);
  SW_TRY(sw_im_emit(m, op, &add, results));
  return sw_array_push(&m->collectives, ((sw_im_collective_at){m->g->values[results[0]].def, op}), m->d);
}

/* Collectives outside of manual computations say what each device does: the program is partitioned already. */
sw_rc sw_im_local(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  if (m->by_device) return collective(m, row, op);
  if (m->cut) return sw_im_listed(m, row, op);
  sw_ir_span name = sw_im_op(m, op)->name;
  bool done;
  SW_TRY(sw_im_alone(m, op, &done));
  if (done) return SW_OK;
  return SW_IM_FAIL(m, op, "'%.*s' is of a program that is partitioned already; expected the whole program",
                    (int)sw_ir_len(name), m->t->s + name.at);
}
