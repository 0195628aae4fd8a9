/* Elements of dense<...> and of dense_resource<...>, decoded when they are wanted. */
#ifndef MLIR_DENSE_H_
#define MLIR_DENSE_H_

#include "mlir/import/types.h"

/* The literal of a constant op, in its value attribute or (custom form) behind the name; empty when there is none. */
sw_ir_span sw_ir_constant_literal(const sw_ir_tree *t, const sw_ir_op *op);
/* Left out by the printer: dense_resource<__elided__>, or a resource that the text does not hold. */
bool sw_ir_is_elided(const sw_ir_tree *t, sw_ir_span literal);
/* Decode into the arena. SW_E_INPUT when the literal has not as many elements as the type, or others. */
SW_CHECKED sw_rc sw_ir_read_dense(const sw_ir_tree *t, sw_ir_span literal, const sw_type *type, sw_arena *arena,
                                  sw_data *out, sw_diag *d);

#endif
