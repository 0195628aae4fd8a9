/* Regions that compare: the comparator of a sort, and reductions that pick an index.
 *
 *   sort      { return compare LT, %a, %b }                                  ascending by operand 0
 *   reduce    (%x, %iota) { c = compare GT, %a, %b; ... select c ... }       max, and argmax
 */
#include <string.h>

#include "mlir/stablehlo/cases.h"
#include "mlir/stablehlo/vectorize.h"
#include "mlir/stablehlo/stablehlo.h"

/* --- sort -------------------------------------------------------------------------------------------------------- */

sw_rc sw_im_sort(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_im_order by;
  int64_t dim = -1;
  bool known;
  SW_TRY(sw_im_operand_count(m, op, 1, SW_MAX_RESULTS));
  sw_id x[SW_MAX_RESULTS];
  for (uint32_t i = 0; i < o->n_uses; i++) x[i] = sw_im_operand(m, op, i);
  sw_ir_span v = sw_ir_attr(m->t, o, "dimension", NULL);
  if (sw_ir_present(v) && !sw_ir_read_int(m->t, v, &dim))
    return SW_IM_FAIL(m, op, "expected a whole number as 'dimension'");
  if (dim < 0) dim += m->g->values[x[0]].type.rank;
  SW_TRY(sw_im_order_of(m, o->first_region, o->n_uses, &by, &known));
  if (!known) {
    SW_TRY(sw_im_sort_by_region(m, op, dim, &known));
    return known ? SW_OK : sw_im_opaque(m, op, "stablehlo.sort (a comparator that cannot be written out)");
  }
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DIM, dim);
  sw_im_numbers(&a, SW_ATTR_KEYS, by.keys, by.n_keys);
  sw_im_int(&a, SW_ATTR_DESCENDING, by.descending);
  sw_im_int(&a, SW_ATTR_TOTAL_ORDER, by.total);
  return sw_im_emit_op(m, op, row->code, (int)o->n_uses, x, &a);
}

/* --- argmax ------------------------------------------------------------------------------------------------------ */

/* Positions along `dim`, of any shape. */
static bool counts_along(const sw_graph *g, sw_id value, int64_t dim) {
  for (int hops = 0; hops < 4 && g->values[value].def >= 0; hops++) {
    const sw_op *op = &g->ops[g->values[value].def];
    if (op->code == SW_OP_IOTA) return sw_op_int(op, SW_ATTR_DIM, -1) == dim;
    if (op->code != SW_OP_BROADCAST) return false;
    int n, at = -1;
    const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n);
    for (int i = 0; i < n; i++) {
      if (dims[i] == dim) at = i;
    }
    if (at < 0) return false;
    dim = at;
    value = op->operands[0];
  }
  return false;
}

sw_rc sw_im_arg_reduce(sw_importer *m, uint32_t op, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  const int64_t *dims;
  int n, which;
  *done = false;
  if (o->n_uses != 4 || sw_ir_result_count(m->t, o) != 2) return SW_OK;
  SW_TRY(sw_im_keeps_extreme(m, o->first_region, !o->generic, &which)); /* the custom form writes (a, b) (ai, bi) */
  if (!which) return SW_OK;
  SW_TRY(sw_im_list(m, sw_ir_attr(m->t, o, "dimensions", "dimensions"), &dims, &n));
  sw_id x = sw_im_operand(m, op, 0), positions = sw_im_operand(m, op, o->generic ? 1 : 2);
  sw_id init = sw_im_operand(m, op, o->generic ? 2 : 1); /* (x, positions, inits...), or (x init: i), (positions ...) */
  sw_reduction kind = which > 0 ? SW_REDUCE_MAX : SW_REDUCE_MIN;
  if (n != 1 || !counts_along(m->g, positions, dims[0])) return SW_OK;
  if (!sw_ir_is_neutral(m->g, init, kind)) return SW_OK;
  *done = true;
  sw_im_attrs a = {.n = 0}, p = {.n = 0};
  sw_im_text(&a, SW_ATTR_KIND, sw_reduction_text(kind));
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, n);
  sw_im_int(&p, SW_ATTR_DIM, dims[0]);
  sw_im_int(&p, SW_ATTR_DTYPE, m->g->values[positions].type.dtype);
  sw_im_add best = {.code = SW_OP_REDUCE, .n_operands = 1, .operands = &x, .attrs = &a};
  sw_im_add index = {.code = which > 0 ? SW_OP_ARGMAX : SW_OP_ARGMIN, .n_operands = 1, .operands = &x, .attrs = &p};
  SW_TRY(sw_im_emit_one(m, op, &best, 0, NULL));
  return sw_im_emit_one(m, op, &index, 1, NULL);
}
