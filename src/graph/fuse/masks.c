/* What is added to scores or chosen in their place: numbers, and values that are spread or converted. */
#include <math.h>

#include "collective/scalar.h"
#include "graph/fuse/region.h"

bool sw_fuse_is_number(const sw_graph *g, sw_id value, double *out) {
  const sw_op *op = sw_value_maker(g, sw_behind_enters(g, value));
  while (op && (op->code == SW_OP_BROADCAST || op->code == SW_OP_CONVERT || op->code == SW_OP_RESHAPE))
    op = sw_value_maker(g, sw_behind_enters(g, op->operands[0]));
  if (!op || op->code != SW_OP_CONSTANT) return false;
  const sw_data *data = &sw_op_attr(op, SW_ATTR_VALUE)->u.data;
  const sw_type *t = sw_result_type(g, op, 0);
  if (sw_dtype_class_of(t->dtype) == SW_CLASS_COMPLEX || (!data->splat && sw_type_elements(t) != 1)) return false;
  *out = sw_scalar_convert(t->dtype, SW_F64, sw_scalar_load(t->dtype, data->bytes)).re;
  return true;
}

int sw_fuse_scaled(const sw_graph *g, const sw_op *op, double *by) {
  if (op->code != SW_OP_MULTIPLY && op->code != SW_OP_DIVIDE) return -1;
  int x = -1;
  if (op->code == SW_OP_MULTIPLY && sw_fuse_is_number(g, op->operands[0], by)) x = 1;
  if (x < 0 && sw_fuse_is_number(g, op->operands[1], by)) x = 0;
  if (x < 0 || *by == 0 || !isfinite(*by)) return -1;
  if (op->code == SW_OP_DIVIDE) *by = 1 / *by;
  return x;
}

sw_id sw_fuse_unwidened(const sw_graph *g, sw_id value) {
  for (const sw_op *op = sw_value_maker(g, value); op && op->code == SW_OP_CONVERT; op = sw_value_maker(g, value)) {
    const sw_dtype from = sw_operand_type(g, op, 0)->dtype, to = sw_result_type(g, op, 0)->dtype;
    const bool floats = sw_dtype_class_of(from) == SW_CLASS_FLOAT && sw_dtype_class_of(to) == SW_CLASS_FLOAT;
    if (!floats || sw_dtype_bytes(from) >= sw_dtype_bytes(to)) break;
    value = op->operands[0];
  }
  return value;
}

void sw_fuse_unspread(const sw_fuse_region *r, sw_fuse_operand *x) {
  sw_fuse_dims before;
  for (const sw_op *op = sw_value_maker(r->g, x->id); op && op->code == SW_OP_BROADCAST;
       op = sw_value_maker(r->g, x->id)) {
    (void)sw_fuse_dims_before(r, op, &x->dims, &before); /* of a broadcast they are known always */
    *x = (sw_fuse_operand){op->operands[0], before};
  }
}
