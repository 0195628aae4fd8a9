/* Ops whose operands and attributes go over one by one, as their rows say; constants. */
#include <stdio.h>

#include "mlir/import/import_emit.h"

enum { MOST_OPERANDS = 1024 };

sw_rc sw_im_all_operands(sw_importer *m, uint32_t op, const sw_id **out) {
  const uint32_t n = sw_im_op(m, op)->n_uses;
  sw_id *at;
  SW_ARENA_NEW(at, &m->scratch, n, m->d);
  for (uint32_t i = 0; i < n; i++) at[i] = sw_im_operand(m, op, i);
  *out = at;
  return SW_OK;
}

sw_rc sw_im_operands(sw_importer *m, uint32_t op, int most, const sw_id **out, int *n) {
  *n = most < 0 ? 0 : most > 0 ? most : (int)sw_im_op(m, op)->n_uses;
  if (most > 0) SW_TRY(sw_im_operand_count(m, op, (uint32_t)most, UINT32_MAX));
  SW_TRY(sw_im_operand_count(m, op, 0, MOST_OPERANDS));
  return sw_im_all_operands(m, op, out);
}

/* What is left over for the only open dim of a reshape. */
static void close_reshape(const sw_importer *m, uint32_t op, int64_t *dims, int rank) {
  int64_t others = 1;
  int open = -1, n = 0;
  if (!sw_ir_ends(m->t, sw_im_op(m, op)->name, "reshape")) return;
  for (int k = 0; k < rank; k++) {
    if (dims[k] < 0) open = k, n++;
    others *= dims[k] < 0 ? 1 : dims[k];
  }
  const int64_t all = sw_type_elements(sw_im_type(m, sw_im_operand(m, op, 0)));
  if (n == 1 && others > 0 && all % others == 0) dims[open] = all / others;
}

sw_rc sw_im_close_dims(sw_importer *m, uint32_t op, uint32_t i, sw_type *t) {
  const sw_ir_op *o = sw_im_op(m, op);
  int64_t *dims;
  bool open = false;
  for (int k = 0; k < t->rank; k++) open = open || t->dims[k] < 0;
  if (!open || !o->n_results) return SW_OK;
  SW_ARENA_NEW(dims, &m->scratch, t->rank, m->d);
  for (int k = 0; k < t->rank; k++) {
    char name[SW_SIZE_NAME_BYTES];
    sw_ir_span of = m->t->results.at[o->first_result].name;
    dims[k] = t->dims[k];
    if (dims[k] >= 0) continue;
    if (i) snprintf(name, sizeof name, "%.*s.%u:%d", SW_IR_TEXT(m->t, of), i, k);
    if (!i) snprintf(name, sizeof name, "%.*s:%d", SW_IR_TEXT(m->t, of), k);
    SW_TRY(sw_sizes_meet(m->o->sizes, name, sw_im_place(m, op), &dims[k], m->d));
  }
  t->dims = dims;
  return SW_OK;
}

sw_rc sw_im_shape_of_result(sw_importer *m, uint32_t op, uint32_t given, sw_type *t) {
  int64_t sizes[SW_MAX_RANK], *dims;
  SW_TRY(sw_im_result_type(m, op, 0, t));
  int open = -1;
  for (int i = t->rank - 1; i >= 0; i--) open = t->dims[i] < 0 ? i : open;
  bool known =
      given < sw_im_op(m, op)->n_uses && sw_im_constant_numbers(m, sw_im_operand(m, op, given), t->rank, sizes);
  for (int i = 0; known && i < t->rank; i++) {
    if (t->dims[i] < 0 || t->dims[i] == sizes[i]) continue;
    return SW_IM_FAIL(m, op, "dim %d of the result has size %lld by its type; expected %lld, as operand %u says", i,
                      (long long)t->dims[i], (long long)sizes[i], given);
  }
  if (open < 0) return SW_OK;
  SW_ARENA_NEW(dims, &m->scratch, t->rank, m->d);
  for (int i = 0; i < t->rank; i++) dims[i] = t->dims[i] < 0 && known ? sizes[i] : t->dims[i];
  t->dims = dims;
  if (known) return SW_OK;
  close_reshape(m, op, dims, t->rank);
  SW_TRY(sw_im_close_dims(m, op, 0, t));
  if (t->dims[open] >= 0) return SW_OK;
  return SW_IM_FAIL(m, op, "dim %d of the result has a size that is not known ('?'); planning needs all sizes%s", open,
                    sw_im_bound_hint(m));
}

static sw_rc add_attr(sw_importer *m, uint32_t op, const sw_ir_row *of, const sw_ir_attr_row *row, sw_im_attrs *a) {
  if (!row->generic) {
    sw_type t;
    uint32_t given = of->most_operands > 0 ? (uint32_t)of->most_operands : 0; /* behind the operands that are tensors */
    if (row->key == SW_ATTR_DTYPE) {
      SW_TRY(sw_im_result_type(m, op, 0, &t));
      sw_im_int(a, SW_ATTR_DTYPE, t.dtype);
    } else {
      SW_TRY(sw_im_shape_of_result(m, op, given, &t));
      sw_im_shape(a, &t);
    }
    return SW_OK;
  }
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), row->generic, row->custom);
  if (!sw_ir_present(v) && row->absent == SW_IR_REQUIRED) {
    return SW_IM_FAIL(m, op, "attribute '%s' is missing", row->generic);
  }
  if (sw_attr_kind_of(row->key) == SW_ATTR_KIND_TEXT) {
    sw_im_text(a, row->key, sw_im_small_word(m, v));
    return SW_OK;
  }
  if (sw_attr_kind_of(row->key) == SW_ATTR_KIND_INTS) return sw_im_ints(m, a, row->key, v);
  int64_t i = 0;
  bool truth = sw_attr_kind_of(row->key) == SW_ATTR_KIND_BOOL;
  SW_TRY(sw_im_whole(m, v, truth ? "true or false" : "a whole number", row->generic, &i));
  if (sw_ir_present(v) || row->absent == SW_IR_ELSE_ZERO) sw_im_int(a, row->key, i);
  return SW_OK;
}

sw_rc sw_im_simple(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_im_attrs a = {.n = 0};
  sw_im_add add = {.code = row->code, .attrs = &a};
  SW_TRY(sw_im_operands(m, op, row->most_operands, &add.operands, &add.n_operands));
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

/* What the printer left out is planned as a parameter: its size counts, its elements do not. */
static sw_rc elided_constant(sw_importer *m, uint32_t op, const sw_type *t) {
  const sw_ir_op *o = sw_im_op(m, op);
  const char *name = NULL;
  sw_id id;
  if (!o->n_results) return SW_OK;
  sw_ir_span text = m->t->results.at[o->first_result].name;
  const char *base = sw_arena_printf(&m->scratch, m->d, "%s%.*s", sw_im_here(m)->prefix, SW_IR_TEXT(m->t, text));
  if (!base) return SW_E_RESOURCE;
  SW_TRY(sw_im_fresh_name(m, base, &name));
  SW_TRY(sw_im_warn_once(m, op, "dense_resource",
                         "constants without elements (dense_resource) are taken as parameters of the program"));
  SW_TRY(sw_graph_add_arg(m->g, name, t->dtype, t->rank, t->dims, SW_VALUE_PARAMETER, sw_im_place(m, op), &id, m->d));
  return sw_im_bind(m, op, 0, id, true);
}

sw_rc sw_im_constant(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_type t;
  sw_data data;
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  sw_ir_span literal = sw_ir_constant_literal(m->t, sw_im_op(m, op));
  if (sw_ir_is_elided(m->t, literal)) return elided_constant(m, op, &t);
  SW_TRY(sw_ir_read_dense(m->t, literal, &t, &m->scratch, &data, m->d));
  sw_im_value(&a, &t, data.bytes, data.splat);
  return sw_im_emit_op(m, op, row->code, 0, NULL, &a);
}
