/* Ops that take positions and sizes as values; where those are constants, or follow from the types, other ops do it.
 *
 *   real_dynamic_slice(x, start, limit, strides)      slice, or dynamic_slice of what the result's size says
 *   dynamic_gather(x, indices, sizes)                 gather of what the result's size says
 *   dynamic_pad(x, v, low, high, interior)            pad
 *   torch_index_select(x, indices)                    gather
 *   set_dimension_size(x, n)                          x, when n is what it has
 *   shape_of(x)                                       a constant
 */
#include <string.h>

#include "mlir/stablehlo/vectorize.h"
#include "mlir/stablehlo/stablehlo.h"

static sw_rc not_known(sw_importer *m, uint32_t op, const char *what) {
  return SW_IM_FAIL(m, op, "%s are no constants; planning needs them", what);
}

/* Element k of a vector, a scalar. */
static sw_rc cut_vector_element(sw_importer *m, uint32_t op, sw_id x, int k, sw_id *out) {
  SW_TRY(sw_im_cut(m, op, x, &(sw_im_range){0, k, k + 1, 1}, out));
  return sw_im_reshaped(m, op, *out, 0, NULL, out);
}

/* From a start that is computed: as long a piece as the strides step over, then every so many. */
static sw_rc slice_from(sw_importer *m, uint32_t op, const sw_type *said, const int64_t *strides) {
  sw_id x[SW_MAX_RANK + 1] = {sw_im_operand(m, op, 0)};
  int64_t sizes[SW_MAX_RANK], zero[SW_MAX_RANK] = {0};
  for (int k = 0; k < said->rank; k++) {
    sizes[k] = said->dims[k] ? (said->dims[k] - 1) * strides[k] + 1 : 0;
    SW_TRY(cut_vector_element(m, op, sw_im_operand(m, op, 1), k, &x[k + 1]));
  }
  sw_im_attrs a = {.n = 0}, b = {.n = 0};
  sw_id piece;
  sw_im_numbers(&a, SW_ATTR_SIZES, sizes, said->rank);
  SW_TRY(sw_im_help(m, op, SW_OP_DYNAMIC_SLICE, said->rank + 1, x, &a, &piece));
  sw_im_numbers(&b, SW_ATTR_START, zero, said->rank);
  sw_im_numbers(&b, SW_ATTR_LIMIT, sizes, said->rank);
  sw_im_numbers(&b, SW_ATTR_STRIDES, strides, said->rank);
  return sw_im_emit_op(m, op, SW_OP_SLICE, 1, &piece, &b);
}

sw_rc sw_im_real_dynamic_slice(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  int64_t start[SW_MAX_RANK], limit[SW_MAX_RANK], strides[SW_MAX_RANK];
  sw_type said;
  SW_TRY(sw_im_operand_count(m, op, 4, 4));
  SW_TRY(sw_im_result_type(m, op, 0, &said));
  if (!sw_im_constant_numbers(m, sw_im_operand(m, op, 3), said.rank, strides)) return not_known(m, op, "strides");
  bool placed = sw_im_constant_numbers(m, sw_im_operand(m, op, 1), said.rank, start);
  if (!placed || !sw_im_constant_numbers(m, sw_im_operand(m, op, 2), said.rank, limit)) {
    for (int k = 0; k < said.rank; k++) {
      if (said.dims[k] < 0) return not_known(m, op, "start and limit");
    }
    return slice_from(m, op, &said, strides);
  }
  sw_id x = sw_im_operand(m, op, 0);
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_START, start, said.rank);
  sw_im_numbers(&a, SW_ATTR_LIMIT, limit, said.rank);
  sw_im_numbers(&a, SW_ATTR_STRIDES, strides, said.rank);
  return sw_im_emit_op(m, op, SW_OP_SLICE, 1, &x, &a);
}

sw_rc sw_im_dynamic_pad(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  static const sw_attr_key kKeys[] = {SW_ATTR_LOW, SW_ATTR_HIGH, SW_ATTR_INTERIOR};
  int64_t by[3][SW_MAX_RANK];
  SW_TRY(sw_im_operand_count(m, op, 5, 5));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)};
  int rank = sw_im_type(m, x[0])->rank;
  sw_im_attrs a = {.n = 0};
  for (uint32_t i = 0; i < 3; i++) {
    if (!sw_im_constant_numbers(m, sw_im_operand(m, op, 2 + i), rank, by[i]))
      return not_known(m, op, "amounts of padding");
    sw_im_numbers(&a, kKeys[i], by[i], rank);
  }
  return sw_im_emit_op(m, op, SW_OP_PAD, 2, x, &a);
}

sw_rc sw_im_set_dimension_size(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  int64_t dim = -1, size;
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  const sw_type *t = sw_im_type(m, sw_im_operand(m, op, 0));
  sw_ir_span at = sw_ir_attr(m->t, sw_im_op(m, op), "dimension", "dim");
  bool known = sw_ir_present(at) && sw_ir_read_int(m->t, at, &dim) && dim >= 0 && dim < t->rank &&
               sw_im_constant_numbers(m, sw_im_operand(m, op, 1), 1, &size) && size == t->dims[dim];
  if (!known) {
    return SW_IM_FAIL(m, op, "the size is not known to be the operand's own; planning needs sizes that stay%s",
                      sw_im_bound_hint(m));
  }
  (void)row;
  return sw_im_bind(m, op, 0, sw_im_operand(m, op, 0), false);
}

/* Result dims: those that the two share, of x before the dim, of the indices, of x behind the dim. */
sw_rc sw_im_torch_index_select(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  int64_t dim = 0, shared = 0, offsets[SW_MAX_RANK], sizes[SW_MAX_RANK], first[SW_MAX_RANK], n_offsets = 0;
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)};
  const sw_type *t = sw_im_type(m, x[0]), *at = sw_im_type(m, x[1]);
  if (!sw_ir_read_int(m->t, sw_ir_attr(m->t, o, "dim", "dim"), &dim) ||
      !sw_ir_read_int(m->t, sw_ir_attr(m->t, o, "batch_dims", "batch_dims"), &shared) || dim < 0 || dim >= t->rank ||
      shared < 0 || shared > dim || shared > at->rank || t->rank + at->rank - shared - 1 > SW_MAX_RANK) {
    return SW_IM_FAIL(m, op, "expected 'dim' to be a dim of the operand, and 'batch_dims' not to be behind it");
  }
  for (int64_t k = 0; k < t->rank; k++) {
    first[k] = k;
    sizes[k] = k < shared || k == dim ? 1 : t->dims[k];
    if (k >= shared && k != dim) offsets[n_offsets++] = k < dim ? k : k - 1 + at->rank - shared;
  }
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_OFFSET_DIMS, offsets, (int)n_offsets);
  sw_im_numbers(&a, SW_ATTR_COLLAPSED_DIMS, &dim, 1);
  sw_im_numbers(&a, SW_ATTR_OPERAND_BATCH, first, (int)shared);
  sw_im_numbers(&a, SW_ATTR_INDICES_BATCH, first, (int)shared);
  sw_im_numbers(&a, SW_ATTR_START_INDEX_MAP, &dim, 1);
  sw_im_int(&a, SW_ATTR_INDEX_VECTOR_DIM, at->rank);
  sw_im_numbers(&a, SW_ATTR_SIZES, sizes, t->rank);
  return sw_im_emit_op(m, op, SW_OP_GATHER, 2, x, &a);
}
