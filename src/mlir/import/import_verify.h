/* What every program must hold, whatever its ops compute: types of operands are those of the values, ops with regions
 * have as many as they need, with such arguments and returned values as they need, functions are called with what they
 * take and return what they declare. Also of what no call reaches. */
#ifndef MLIR_VERIFY_H_
#define MLIR_VERIFY_H_

#include "mlir/text/resolve.h"

/* SW_E_INPUT with *d the first of t->errors, of which there are up to SW_IR_MOST_ERRORS. */
SW_CHECKED sw_rc sw_ir_verify(sw_ir_tree *t, const sw_ir_names *names, sw_diag *d);

/* May a value of one type stand where the other is said? Sizes that one of them leaves open, and encodings, are not
 * compared, nor are tensors of types that are not known. */
bool sw_ir_types_fit(const sw_ir_tree *t, sw_ir_span a, sw_ir_span b, sw_arena *scratch);

/* Regions of one op that gives so many results (verify_regions.c): SW_E_INPUT with *error what is wrong. */
SW_CHECKED sw_rc sw_ir_verify_regions(const sw_ir_tree *t, const sw_ir_op *op, uint32_t results, sw_arena *scratch,
                                      sw_diag *error);

#endif
