/* The k greatest elements: chlo.top_k, and custom calls that do the same. */
#include <string.h>

#include "mlir/chlo/chlo.h"
#include "mlir/import/import_emit.h"
#include "mlir/import/tuple.h"

/* top_k of the last dim; `k` in mhlo.attributes, in the op's own, or (chlo) written with the operand. */
sw_rc sw_im_top_k(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x = sw_im_operand(m, op, 0);
  sw_type t;
  sw_ir_span said = sw_ir_result_type(m->t, o, 0), *both;
  uint32_t n;
  SW_TRY(sw_im_leaf_types(m, &said, 1, &both, &n));
  if (!n) return SW_IM_FAIL(m, op, "expected two results with a dim");
  bool tuple = n == 2;
  SW_TRY(sw_ir_read_type(m->t, both[0], &m->scratch, &t, m->d));
  sw_ir_span largest = sw_ir_entry(m->t, sw_ir_entry(m->t, o->attrs, "mhlo.attributes"), "largest");
  int64_t is_largest = 1;
  if (sw_ir_present(largest) && sw_ir_read_int(m->t, largest, &is_largest) && !is_largest) {
    return sw_im_opaque(m, op, "topk of the smallest");
  }
  if (!t.rank || sw_ir_result_count(m->t, o) != (tuple ? 1 : 2))
    return SW_IM_FAIL(m, op, "expected two results with a dim");
  sw_im_attrs a = {.n = 0};
  int64_t k = t.dims[t.rank - 1];
  sw_ir_span count = sw_ir_attr(m->t, o, "k", "k");
  if (k < 0 && (!sw_ir_present(count) || !sw_ir_read_int(m->t, count, &k)))
    return SW_IM_FAIL(m, op, "nothing says how many are picked; expected 'k'");
  sw_im_int(&a, SW_ATTR_K, k);
  const sw_im_add add = {.code = SW_OP_TOP_K, .n_operands = 1, .operands = &x, .attrs = &a};
  return tuple ? sw_im_give(m, op, &add, 2) : sw_im_emit(m, op, &add, NULL);
}

/* Does the comparator that an ApproxTopK names ask for the greatest? */
static bool wants_greatest(const sw_importer *m, uint32_t op) {
  sw_ir_span list = sw_ir_attr(m->t, sw_im_op(m, op), "called_computations", NULL), item;
  uint32_t cursor = 0;
  if (!sw_ir_present(list) || !sw_ir_next_item(m->t, list, &cursor, &item)) return true;
  uint32_t f = sw_ir_function_named(m->t, m->names, sw_ir_unquoted(m->t, item));
  uint32_t block = f == SW_IR_NONE ? SW_IR_NONE : sw_ir_block_at(m->t, sw_im_op(m, f), 0);
  if (block == SW_IR_NONE) return true;
  const sw_ir_op *first = sw_im_op(m, m->t->blocks.at[block].first_op);
  for (uint32_t i = first->body.at; i + 2 < first->text.end; i++) {
    if (memcmp(m->t->s + i, "LT", 2) == 0) return false;
  }
  return true;
}

/* ApproxTopK(values, positions, ...): as exact as may be, the first k of both sorted by the values. */
sw_rc sw_im_approx_top_k(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  sw_type said;
  int64_t dim;
  SW_TRY(sw_im_operand_count(m, op, 2, UINT32_MAX));
  SW_TRY(sw_im_result_type(m, op, 0, &said));
  sw_ir_span config = sw_ir_entry(m->t, o->attrs, "mhlo.backend_config");
  sw_ir_span v = sw_ir_present(config) ? sw_ir_entry(m->t, config, "reduction_dim") : config;
  if (sw_ir_result_count(m->t, o) != 2 || !sw_ir_present(v) || !sw_ir_read_int(m->t, v, &dim)) {
    return sw_im_opaque(m, op, "ApproxTopK (of more than one operand, or without a dim)");
  }
  if (dim < 0 || dim >= said.rank) return SW_IM_FAIL(m, op, "there is no dim %lld", (long long)dim);
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)}, sorted[SW_MAX_RESULTS];
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DIM, dim);
  sw_im_int(&a, SW_ATTR_DESCENDING, wants_greatest(m, op));
  SW_TRY(
      sw_im_help_all(m, op, &(sw_im_add){.code = SW_OP_SORT, .n_operands = 2, .operands = x, .attrs = &a}, 2, sorted));
  for (uint32_t i = 0; i < 2; i++) {
    SW_TRY(sw_im_cut(m, op, sorted[i], &(sw_im_range){(int)dim, 0, said.dims[dim], 1}, &x[i]));
    SW_TRY(sw_im_result_is(m, op, i, x[i]));
  }
  return sw_im_annotate_results(m, op);
}
