/* Regions written out on tensors (lift.h): the walk of the importer goes through the region's block once per
 * application, its arguments bound to the tensors; an op of it that meets a scalar (a constant) gets that in the
 * tensors' shape. */
#include "io/mlir/regions/lift.h"

#include "shardwright/scalar.h"

enum { MOST_DEEP_CALLS = 16 };

/* --- which regions ----------------------------------------------------------------------------------------------- */

/* A scalar of the region that its op only reshapes. */
static bool keeps_scalar(const sw_ir_row *row) {
  return row->import == sw_im_simple && (row->code == SW_OP_BROADCAST || row->code == SW_OP_RESHAPE);
}

static bool is_elementwise(const sw_ir_row *row) {
  static const sw_opcode kOthers[] = {SW_OP_SELECT, SW_OP_CLAMP, SW_OP_CONVERT, SW_OP_BITCAST, SW_OP_COMPLEX};
  if (row->import == sw_im_compare || row->import == sw_im_constant || row->import == sw_im_square) return true;
  if (row->import == sw_im_reduce_precision || row->import == sw_im_mhlo_bitcast) return true;
  if (row->import != sw_im_simple) return false;
  for (size_t i = 0; i < sizeof kOthers / sizeof *kOthers; i++) {
    if (row->code == kOthers[i]) return true;
  }
  return row->most_operands > 0 && row->code < SW_OP_COMPARE; /* unary and binary ops come first */
}

static uint32_t callee_block(const sw_importer *m, uint32_t op) {
  const sw_ir_op *o = &m->t->ops.at[op];
  sw_ir_span callee = sw_ir_unquoted(m->t, sw_ir_attr(m->t, o, "callee", NULL));
  uint32_t f = sw_ir_function_named(m->t, m->names, sw_ir_present(callee) ? callee : o->symbol);
  return f == SW_IR_NONE ? SW_IR_NONE : sw_im_block(m->t, &m->t->ops.at[f], 0);
}

static bool op_lifts(const sw_importer *m, uint32_t op, uint32_t n_results, int depth) {
  const sw_ir_op *o = &m->t->ops.at[op];
  const sw_ir_row *row = sw_ir_row_of(m->t, o->name);
  if (!row) return false;
  if (o->first_region != SW_IR_NONE) return depth <= MOST_DEEP_CALLS && sw_im_control_lifts(m, row, op, depth);
  if (row->import == sw_im_return) return o->next == SW_IR_NONE && o->n_uses == n_results;
  if (row->import == sw_im_call)
    return sw_im_block_lifts(m, callee_block(m, op), sw_ir_result_count(m->t, o), depth + 1);
  return is_elementwise(row) || keeps_scalar(row);
}

bool sw_im_block_lifts(const sw_importer *m, uint32_t block, uint32_t n_results, int depth) {
  if (block == SW_IR_NONE || depth > MOST_DEEP_CALLS) return false;
  uint32_t last = SW_IR_NONE;
  for (uint32_t i = m->t->blocks.at[block].first_op; i != SW_IR_NONE; i = m->t->ops.at[i].next) {
    if (!op_lifts(m, i, n_results, depth)) return false;
    last = i;
  }
  return last != SW_IR_NONE && sw_ir_row_of(m->t, m->t->ops.at[last].name)->import == sw_im_return;
}

/* Slots are numbered in the order of the text: what is from around the block stands before it. */
static bool reads_outside(const sw_importer *m, uint32_t block) {
  const sw_ir_block *b = &m->t->blocks.at[block];
  uint32_t first = m->names->block[block], end = m->t->regions.at[b->region].text.end;
  for (uint32_t i = b->first_op; i < m->t->ops.n && m->t->ops.at[i].text.at < end; i++) {
    const sw_ir_op *o = &m->t->ops.at[i];
    for (uint32_t k = 0; k < o->n_uses; k++) {
      if (m->names->use[o->first_use + k] < first) return true;
    }
  }
  return false;
}

sw_rc sw_im_open_body(sw_importer *m, uint32_t op, uint32_t region, uint32_t n_args, uint32_t n_results,
                      sw_im_body *out, bool *lifts) {
  uint32_t block = region == SW_IR_NONE ? SW_IR_NONE : m->t->regions.at[region].first_block;
  sw_ir_span name;
  const sw_ir_row *applied = region == SW_IR_NONE ? sw_im_applied(m, sw_im_op(m, op), &name) : NULL;
  *out = (sw_im_body){.op = op, .block = block, .applied = applied};
  *lifts = applied && n_args == 2 && n_results == 1 && applied->import == sw_im_simple && applied->most_operands == 2;
  if (applied || block == SW_IR_NONE) return SW_OK;
  if (m->t->blocks.at[block].n_args != n_args || n_results > SW_MAX_RESULTS) return SW_OK;
  out->captures = reads_outside(m, block);
  *lifts = sw_im_block_lifts(m, block, n_results, 0);
  if (*lifts) return SW_OK;
  SW_TRY(sw_im_open_inside(m, op, block, n_args, n_results, &out->inside));
  *lifts = out->inside != NULL;
  return SW_OK;
}

sw_rc sw_im_enter_read_by(sw_importer *m, const sw_im_body *b, sw_im_captured *out) {
  *out = (sw_im_captured){0};
  if (!b->captures) return SW_OK;
  sw_ir_span text = m->t->regions.at[m->t->blocks.at[b->block].region].text;
  return sw_im_enter_captured(m, b->op, text, m->names->block[b->block], out);
}

/* --- applying one ------------------------------------------------------------------------------------------------ */

static sw_rc import_lifted(sw_importer *m, uint32_t op) {
  const sw_ir_row *row = sw_ir_row_of(m->t, sw_im_op(m, op)->name);
  if (sw_im_op(m, op)->first_region != SW_IR_NONE) return sw_im_lifted_control(m, row, op);
  return keeps_scalar(row) ? sw_im_identity(m, row, op) : row->import(m, row, op);
}

sw_rc sw_im_run_block(sw_importer *m, uint32_t op, uint32_t block, const sw_id *args) {
  const sw_ir_block *b = &m->t->blocks.at[block];
  size_t depth = m->walks.n;
  sw_ir_walk w = {
      .kind = SW_IR_IN_BODY, .op = op, .cursor = b->first_op, .region = b->region, .instance = sw_im_top(m)->instance};
  for (uint32_t i = 0; i < b->n_args; i++) w.instance->slots[m->names->block[block] + i] = args[i];
  SW_TRY(sw_array_push(&m->walks, w, m->d));
  while (m->walks.n > depth) {
    sw_ir_walk *top = sw_im_top(m);
    uint32_t next = top->cursor;
    top->cursor = sw_im_op(m, next)->next;
    SW_TRY(import_lifted(m, next));
  }
  return SW_OK;
}

sw_rc sw_im_apply(sw_importer *m, const sw_im_body *b, const sw_id *args, const sw_type *shape, sw_id *out) {
  if (b->applied && sw_im_is_complex_extreme(m, b->applied, args)) {
    return sw_im_complex_extreme(m, b->op, b->applied->code == SW_OP_MAXIMUM, args, out);
  }
  if (b->applied) return sw_im_two(m, b->op, b->applied->code, args[0], args[1], out);
  if (b->inside) return sw_im_apply_inside(m, b->inside, args, shape, out);
  const sw_type *outer = m->lifted;
  sw_id active = m->active;
  sw_type own = *shape; /* types of the graph move as it grows; their sizes stay */
  m->lifted = &own;
  m->active = -1;
  SW_TRY(sw_im_run_block(m, b->op, b->block, args));
  for (uint32_t i = 0; i < m->n_returned; i++) {
    out[i] = m->returned[i];
    if (sw_im_type(m, out[i])->rank < own.rank) SW_TRY(sw_im_spread(m, b->op, out[i], own.rank, own.dims, -1, &out[i]));
  }
  m->lifted = outer;
  m->active = active;
  return SW_OK;
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
    SW_TRY(sw_im_spread(m, op, x[i], m->lifted->rank, m->lifted->dims, -1, &x[i]));
  }
  add->operands = x;
  return SW_OK;
}

/* --- helpers ----------------------------------------------------------------------------------------------------- */

sw_rc sw_im_help(sw_importer *m, uint32_t op, sw_opcode code, int n, const sw_id *x, const sw_im_attrs *a, sw_id *out) {
  sw_im_add add = {.code = code, .n_operands = n, .operands = x, .attrs = a, .part = sw_opcode_text(code)};
  return sw_im_emit_one(m, op, &add, 0, out);
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
  sw_im_numbers(&a, SW_ATTR_SHAPE, dims, rank);
  sw_im_int(&a, SW_ATTR_DTYPE, t);
  a.at[a.n].key = SW_ATTR_VALUE;
  a.at[a.n++].u.data = (sw_data){.bytes = element, .splat = true};
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
  sw_im_attrs a = {.n = 0};
  sw_im_shape(&a, sw_im_type_fits(&said, is) ? is : &said);
  sw_im_add add = {.code = SW_OP_RESHAPE, .n_operands = 1, .operands = &value, .attrs = &a};
  return sw_im_emit_one(m, op, &add, i, NULL);
}

/* --- complex numbers --------------------------------------------------------------------------------------------- */

static sw_rc parts_of(sw_importer *m, uint32_t op, sw_id x, sw_id *parts) {
  SW_TRY(sw_im_help(m, op, SW_OP_REAL, 1, &x, NULL, &parts[0]));
  return sw_im_help(m, op, SW_OP_IMAG, 1, &x, NULL, &parts[1]);
}

/* (a + bi)(c + di) = (ac - bd) + (ad + bc)i */
sw_rc sw_im_by_parts(sw_importer *m, uint32_t op, const sw_im_add *add) {
  sw_id x[2], w[2], y[2], other[2];
  sw_im_attrs a = *add->attrs;
  SW_TRY(parts_of(m, op, add->operands[0], x));
  for (int i = 0; i < a.n; i++) {
    if (a.at[i].key == SW_ATTR_DTYPE) a.at[i].u.i = sw_im_type(m, x[0])->dtype;
  }
  if (add->n_operands == 1) {
    for (int i = 0; i < 2; i++) SW_TRY(sw_im_help(m, op, add->code, 1, &x[i], &a, &y[i]));
  } else {
    SW_TRY(parts_of(m, op, add->operands[1], w));
    for (int i = 0; i < 2; i++) {
      SW_TRY(sw_im_help(m, op, add->code, 2, (sw_id[]){x[0], w[i]}, &a, &y[i]));
      SW_TRY(sw_im_help(m, op, add->code, 2, (sw_id[]){x[1], w[1 - i]}, &a, &other[i]));
      SW_TRY(sw_im_two(m, op, i ? SW_OP_ADD : SW_OP_SUBTRACT, y[i], other[i], &y[i]));
    }
  }
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_COMPLEX, .n_operands = 2, .operands = y, .part = add->part},
                    NULL);
}
