/* Calls: functions and composites written out, custom calls seen through or known by their target. */
#include <stdlib.h>
#include <string.h>

#include "mlir/import/dialect.h"
#include "mlir/import/tuple.h"

static sw_rc call_symbol(sw_importer *m, uint32_t op, const char *key) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span callee = sw_ir_unquoted(m->t, sw_ir_attr(m->t, o, key, NULL));
  if (!sw_ir_present(callee)) callee = o->symbol;
  if (!sw_ir_len(callee)) return SW_IM_FAIL(m, op, "the op does not say which function it calls");
  bool done;
  SW_TRY(sw_im_take_callee(m, op, callee, &done));
  if (done) return SW_OK;
  return sw_im_inline(m, op, callee);
}

sw_rc sw_im_call(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  return call_symbol(m, op, "callee");
}

sw_rc sw_im_decompose(sw_importer *m, uint32_t op) { return call_symbol(m, op, "decomposition"); }

/* name = "..", or in front: stablehlo.composite "..". */
static sw_ir_span composite_name(const sw_ir_tree *t, const sw_ir_op *o) {
  sw_ir_span name = sw_ir_unquoted(t, sw_ir_attr(t, o, "name", NULL)), body = sw_ir_trimmed(t, o->body);
  if (sw_ir_present(name) || body.at >= body.end || t->s[body.at] != '"') return name;
  return (sw_ir_span){body.at + 1, sw_ir_behind_string(t->s, body.at, body.end) - 1};
}

/* One whose name is known is that; any other its decomposition. */
static sw_rc composite(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  const sw_ir_span name = composite_name(m->t, o);
  const sw_ir_row *known = NULL;
  if (sw_ir_len(name)) known = sw_ir_call_row(m->t, name);
  (void)row;
  if (known) return known->import(m, known, op);
  return sw_im_decompose(m, op);
}

/* --- custom calls ------------------------------------------------------------------------------------------------ */

/* mhlo.erf and the like: an op that its own dialect would write by name. */
static const sw_ir_row *elementwise_target(const sw_ir_tree *t, sw_ir_span target) {
  const sw_ir_row *row = sw_ir_row_of(t, target);
  bool known = row && row->import == sw_im_simple && (row->most_operands == 1 || row->most_operands == 2);
  return known && !row->attrs[0].key ? row : NULL;
}

bool sw_im_sees_through(const sw_ir_tree *t, const sw_ir_op *o) {
  const sw_ir_row *row = sw_ir_row_of(t, o->name);
  if (row && row->import == sw_im_custom_call) row = sw_ir_call_row(t, sw_ir_call_target(t, o));
  return o->n_uses == 1 && row && row->flags & SW_IR_PASSES;
}

sw_rc sw_im_custom_call(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_ir_span target = sw_ir_call_target(m->t, sw_im_op(m, op));
  const sw_ir_row *known = sw_ir_call_row(m->t, target), *elementwise = elementwise_target(m->t, target);
  bool done;
  (void)row;
  if (known) return known->import(m, known, op);
  SW_TRY(sw_im_with_tuple_split(m, op, sw_im_take_call, target, &done));
  if (done) return SW_OK;
  return elementwise ? sw_im_simple(m, elementwise, op) : sw_im_opaque(m, op, sw_im_string(m, target));
}

/* --- the rows of what the walk itself does ------------------------------------------------------------------------ */

/* clang-format off */
static const sw_ir_row kRows[] = {
    {"constant", sw_im_constant, SW_OP_CONSTANT, 0, SW_IR_STORAGE | SW_IR_SCALARS},
    {"sdy.constant", sw_im_constant, SW_OP_CONSTANT, 0, SW_IR_STORAGE | SW_IR_SCALARS},
    {"arith.constant", sw_im_constant, SW_OP_CONSTANT, 0, SW_IR_STORAGE | SW_IR_SCALARS},
    {"custom_call", sw_im_custom_call, .flags = SW_IR_HANDS_ON},
    {"composite", composite, .flags = SW_IR_HANDS_ON},
    {"tuple", sw_im_tuple, .flags = SW_IR_HANDS_ON},
    {"get_tuple_element", sw_im_get_tuple_element, .flags = SW_IR_HANDS_ON},
    {"call", sw_im_call, .flags = SW_IR_HANDS_ON},
    {"func.call", sw_im_call, .flags = SW_IR_HANDS_ON},
    {"return", sw_im_return, .flags = SW_IR_HANDS_ON},
    {"func.return", sw_im_return, .flags = SW_IR_HANDS_ON},
    {"sdy.return", sw_im_return, .flags = SW_IR_HANDS_ON},
};
/* clang-format on */

static const sw_ir_row kCalls[] = {
    {"tt.mark_argument", sw_im_identity, .flags = SW_IR_PASSES},
    {"mark_tensor", sw_im_identity, .flags = SW_IR_PASSES},
    {"annotate_device_placement", sw_im_identity, .flags = SW_IR_PASSES},
    {"MoveToHost", sw_im_identity, .flags = SW_IR_PASSES},
    {"MoveToDevice", sw_im_identity, .flags = SW_IR_PASSES},
    {"PinToDevice", sw_im_identity, .flags = SW_IR_PASSES},
    {"LayoutConstraint", sw_im_identity, .flags = SW_IR_PASSES},
};

const sw_dialect sw_dialect_func = {"func", SW_IR_ROWS(kRows), SW_IR_ROWS(kCalls), NULL};
