/* Ops of the graph, one each, for what an op of the text is written out in (emit.h). */
#include "mlir/import/import_emit.h"

#include "collective/scalar.h"

sw_rc sw_im_help(sw_importer *m, uint32_t op, sw_opcode code, int n, const sw_id *x, const sw_im_attrs *a, sw_id *out) {
  sw_im_add add = {.code = code, .n_operands = n, .operands = x, .attrs = a, .part = sw_opcode_text(code)};
  return sw_im_emit_one(m, op, &add, 0, out);
}

sw_rc sw_im_emit_op(sw_importer *m, uint32_t op, sw_opcode code, int n, const sw_id *x, const sw_im_attrs *a) {
  return sw_im_emit(m, op, &(sw_im_add){.code = code, .n_operands = n, .operands = x, .attrs = a}, NULL);
}

sw_rc sw_im_one(sw_importer *m, uint32_t op, sw_opcode code, sw_id x, sw_id *out) {
  return sw_im_help(m, op, code, 1, &x, NULL, out);
}

sw_rc sw_im_mark(sw_importer *m, uint32_t op, sw_opcode code, sw_id operand, const sw_im_attrs *a) {
  sw_im_add add = {
      .code = code, .n_operands = operand >= 0, .operands = &operand, .attrs = a, .part = sw_opcode_text(code)};
  return sw_im_emit_one(m, op, &add, 0, NULL);
}

sw_rc sw_im_two(sw_importer *m, uint32_t op, sw_opcode code, sw_id x, sw_id y, sw_id *out) {
  return sw_im_help(m, op, code, 2, (sw_id[]){x, y}, NULL, out);
}

sw_rc sw_im_choose(sw_importer *m, uint32_t op, sw_id pred, sw_id x, sw_id y, sw_id *out) {
  return sw_im_help(m, op, SW_OP_SELECT, 3, (sw_id[]){pred, x, y}, NULL, out);
}

sw_rc sw_im_compared(sw_importer *m, uint32_t op, const char *direction, sw_id x, sw_id y, sw_id *out) {
  sw_im_attrs a = {.n = 0};
  sw_im_text(&a, SW_ATTR_DIRECTION, direction);
  return sw_im_help(m, op, SW_OP_COMPARE, 2, (sw_id[]){x, y}, &a, out);
}

sw_rc sw_im_converted(sw_importer *m, uint32_t op, sw_id x, sw_dtype t, sw_id *out) {
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DTYPE, t);
  return sw_im_help(m, op, SW_OP_CONVERT, 1, &x, &a, out);
}

sw_rc sw_im_number(sw_importer *m, uint32_t op, sw_dtype t, double v, int rank, const int64_t *dims, sw_id *out) {
  _Alignas(16) unsigned char element[16] = {0};
  sw_im_attrs a = {.n = 0};
  sw_scalar_store(t, sw_scalar_convert(SW_F64, t, sw_scalar_load(SW_F64, &v)), element);
  sw_im_value(&a, &(sw_type){t, rank, dims}, element, true);
  return sw_im_help(m, op, SW_OP_CONSTANT, 0, NULL, &a, out);
}

sw_rc sw_im_positions(sw_importer *m, uint32_t op, sw_dtype t, int rank, const int64_t *dims, int64_t dim, sw_id *out) {
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_SHAPE, dims, rank);
  sw_im_int(&a, SW_ATTR_DTYPE, t);
  sw_im_int(&a, SW_ATTR_DIM, dim);
  return sw_im_help(m, op, SW_OP_IOTA, 0, NULL, &a, out);
}

sw_rc sw_im_spread(sw_importer *m, uint32_t op, sw_id x, int rank, const int64_t *dims, int64_t dim, sw_id *out) {
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_SHAPE, dims, rank);
  sw_im_numbers(&a, SW_ATTR_DIMS, &dim, dim >= 0);
  return sw_im_help(m, op, SW_OP_BROADCAST, 1, &x, &a, out);
}

sw_rc sw_im_reshaped(sw_importer *m, uint32_t op, sw_id x, int rank, const int64_t *dims, sw_id *out) {
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_SHAPE, dims, rank);
  return sw_im_help(m, op, SW_OP_RESHAPE, 1, &x, &a, out);
}

bool sw_im_is_in_order(int rank, const int64_t *permutation) {
  int i = 0;
  while (i < rank && permutation[i] == i) i++;
  return i == rank;
}

sw_rc sw_im_permuted(sw_importer *m, uint32_t op, sw_id x, const int64_t *permutation, sw_id *out) {
  int rank = sw_im_type(m, x)->rank;
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_PERMUTATION, permutation, rank);
  *out = x;
  return sw_im_is_in_order(rank, permutation) ? SW_OK : sw_im_help(m, op, SW_OP_TRANSPOSE, 1, &x, &a, out);
}

sw_rc sw_im_cut(sw_importer *m, uint32_t op, sw_id x, const sw_im_range *r, sw_id *out) {
  const sw_type *t = sw_im_type(m, x);
  int64_t start[SW_MAX_RANK], limit[SW_MAX_RANK], stride[SW_MAX_RANK];
  if (r->start == 0 && r->limit == t->dims[r->dim] && r->stride == 1) {
    *out = x;
    return SW_OK;
  }
  for (int i = 0; i < t->rank; i++) {
    start[i] = i == r->dim ? r->start : 0;
    limit[i] = i == r->dim ? r->limit : t->dims[i];
    stride[i] = i == r->dim ? r->stride : 1;
  }
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_START, start, t->rank);
  sw_im_numbers(&a, SW_ATTR_LIMIT, limit, t->rank);
  sw_im_numbers(&a, SW_ATTR_STRIDES, stride, t->rank);
  return sw_im_help(m, op, SW_OP_SLICE, 1, &x, &a, out);
}

sw_rc sw_im_result_is(sw_importer *m, uint32_t op, uint32_t i, sw_id value) {
  sw_type said;
  SW_TRY(sw_im_result_type(m, op, (int)i, &said));
  const sw_type *is = sw_im_type(m, value);
  if (said.dtype != is->dtype) {
    return SW_IM_FAIL(m, op, "result %u is of %s by the operands, but of %s by its type", i, sw_dtype_text(is->dtype),
                      sw_dtype_text(said.dtype));
  }
  const bool alike = said.rank == is->rank;
  int64_t dims[SW_MAX_RANK];
  for (int k = 0; alike && k < said.rank; k++) {
    dims[k] = said.dims[k] < 0 ? is->dims[k] : said.dims[k];
    sw_sizes_equate(m->o->sizes, dims[k], is->dims[k]);
  }
  if (alike) said.dims = dims;
  sw_im_attrs a = {.n = 0};
  sw_im_shape(&a, &said);
  sw_im_add add = {.code = SW_OP_RESHAPE, .n_operands = 1, .operands = &value, .attrs = &a};
  return sw_im_emit_one(m, op, &add, i, NULL);
}

sw_rc sw_im_results_are(sw_importer *m, uint32_t op, const sw_id *values, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_result_is(m, op, i, values[i]));
  return sw_im_annotate_results(m, op);
}

/* --- loops -------------------------------------------------------------------------------------------------------- */

sw_rc sw_im_open_repeat(sw_im_repeat *l, int64_t trips, sw_id first, int64_t limit, sw_id *values, int n,
                        const sw_ir_span *region, uint32_t slot) {
  sw_importer *m = l->m;
  sw_id most, test;
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_TRIPS, trips);
  SW_TRY(sw_im_mark(m, l->op, SW_OP_WHILE, -1, &a));
  SW_TRY(sw_im_one(m, l->op, SW_OP_ENTER, first, &l->counter));
  for (int i = 0; i < n; i++) SW_TRY(sw_im_one(m, l->op, SW_OP_ENTER, values[i], &values[i]));
  l->read = (sw_im_captured){0};
  if (region) SW_TRY(sw_im_enter_captured(m, l->op, *region, slot, &l->read));
  SW_TRY(sw_im_number(m, l->op, sw_im_type(m, l->counter)->dtype, (double)limit, 0, NULL, &most));
  SW_TRY(sw_im_compared(m, l->op, "lt", l->counter, most, &test));
  return sw_im_mark(m, l->op, SW_OP_TEST, test, NULL);
}

sw_rc sw_im_close_repeat(const sw_im_repeat *l, sw_id next, const sw_id *entered, sw_id *values, int n) {
  SW_TRY(sw_im_one(l->m, l->op, SW_OP_YIELD, next, &next));
  for (int i = 0; i < n; i++) SW_TRY(sw_im_one(l->m, l->op, SW_OP_YIELD, values[i], &values[i]));
  SW_TRY(sw_im_mark(l->m, l->op, SW_OP_END, -1, NULL));
  sw_im_leave_captured(l->m, &l->read);
  SW_TRY(sw_im_two(l->m, l->op, SW_OP_JOIN, l->counter, next, &next));
  for (int i = 0; i < n; i++) SW_TRY(sw_im_two(l->m, l->op, SW_OP_JOIN, entered[i], values[i], &values[i]));
  return SW_OK;
}

/* --- complex numbers --------------------------------------------------------------------------------------------- */

sw_rc sw_im_parts_of(sw_importer *m, uint32_t op, sw_id x, sw_id parts[2]) {
  SW_TRY(sw_im_one(m, op, SW_OP_REAL, x, &parts[0]));
  return sw_im_one(m, op, SW_OP_IMAG, x, &parts[1]);
}

sw_rc sw_im_conjugate_parts(sw_importer *m, uint32_t op, sw_id x, sw_id parts[2]) {
  SW_TRY(sw_im_parts_of(m, op, x, parts));
  return sw_im_one(m, op, SW_OP_NEGATE, parts[1], &parts[1]);
}

sw_rc sw_im_conjugate(sw_importer *m, uint32_t op, sw_id x, sw_id *out) {
  sw_id parts[2];
  *out = x;
  if (!sw_im_is_complex(m, x)) return SW_OK;
  SW_TRY(sw_im_conjugate_parts(m, op, x, parts));
  return sw_im_two(m, op, SW_OP_COMPLEX, parts[0], parts[1], out);
}

/* (a + bi)(c + di) = (ac - bd) + (ad + bc)i */
sw_rc sw_im_by_parts(sw_importer *m, uint32_t op, const sw_im_add *add) {
  sw_id x[2], w[2], y[2], other[2];
  sw_im_attrs a = *add->attrs;
  SW_TRY(sw_im_parts_of(m, op, add->operands[0], x));
  for (int i = 0; i < a.n; i++) {
    if (a.at[i].key == SW_ATTR_DTYPE) a.at[i].u.i = sw_im_type(m, x[0])->dtype;
  }
  if (add->n_operands == 1) {
    for (int i = 0; i < 2; i++) SW_TRY(sw_im_help(m, op, add->code, 1, &x[i], &a, &y[i]));
  } else {
    SW_TRY(sw_im_parts_of(m, op, add->operands[1], w));
    for (int i = 0; i < 2; i++) {
      SW_TRY(sw_im_help(m, op, add->code, 2, (sw_id[]){x[0], w[i]}, &a, &y[i]));
      SW_TRY(sw_im_help(m, op, add->code, 2, (sw_id[]){x[1], w[1 - i]}, &a, &other[i]));
      SW_TRY(sw_im_two(m, op, i ? SW_OP_ADD : SW_OP_SUBTRACT, y[i], other[i], &y[i]));
    }
  }
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_COMPLEX, .n_operands = 2, .operands = y, .part = add->part},
                    NULL);
}

sw_rc sw_im_complex_extreme(sw_importer *m, uint32_t op, bool greatest, const sw_id *x, sw_id *out) {
  sw_id a[2], b[2], beyond, equal, tie;
  const char *direction = greatest ? "gt" : "lt";
  SW_TRY(sw_im_parts_of(m, op, x[0], a));
  SW_TRY(sw_im_parts_of(m, op, x[1], b));
  SW_TRY(sw_im_compared(m, op, direction, a[0], b[0], &beyond));
  SW_TRY(sw_im_compared(m, op, "eq", a[0], b[0], &equal));
  SW_TRY(sw_im_compared(m, op, direction, a[1], b[1], &tie));
  SW_TRY(sw_im_two(m, op, SW_OP_AND, equal, tie, &tie));
  SW_TRY(sw_im_two(m, op, SW_OP_OR, beyond, tie, &beyond));
  return sw_im_choose(m, op, beyond, x[0], x[1], out);
}

bool sw_im_is_complex_extreme(const sw_importer *m, const sw_ir_row *row, const sw_id *x) {
  bool extreme = row->code == SW_OP_MAXIMUM || row->code == SW_OP_MINIMUM;
  return extreme && sw_im_is_complex(m, x[0]) && sw_im_is_complex(m, x[1]);
}

sw_rc sw_im_reduced_as(sw_importer *m, uint32_t op, uint32_t i, sw_id *x) {
  sw_type t;
  SW_TRY(sw_im_result_type(m, op, (int)i, &t));
  return sw_im_type(m, *x)->dtype == t.dtype ? SW_OK : sw_im_converted(m, op, *x, t.dtype, x);
}

sw_rc sw_im_spread_operands(sw_importer *m, uint32_t op, sw_im_add *add) {
  sw_id *x;
  bool tensors = false;
  for (int i = 0; i < add->n_operands; i++) tensors = tensors || sw_im_type(m, add->operands[i])->rank > 0;
  if (!tensors) return SW_OK;
  SW_ARENA_NEW(x, &m->scratch, add->n_operands, m->d);
  for (int i = 0; i < add->n_operands; i++) {
    x[i] = add->operands[i];
    if (sw_im_type(m, x[i])->rank) continue;
    SW_TRY(sw_im_spread(m, op, x[i], m->vectorized->shape.rank, m->vectorized->shape.dims, -1, &x[i]));
  }
  add->operands = x;
  return SW_OK;
}
