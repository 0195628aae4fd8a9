/* What every program must hold, whatever its ops compute: types of operands are those of the values, ops with regions
 * have as many as they need, with as many arguments and returned values, functions are called with what they take and
 * return what they declare. Also of what no call reaches. */
#ifndef IO_MLIR_VERIFY_H_
#define IO_MLIR_VERIFY_H_

#include "io/mlir/text/resolve.h"

/* SW_E_INPUT with *d the first of t->errors, of which there are up to SW_IR_MOST_ERRORS. */
SW_CHECKED sw_rc sw_ir_verify(sw_ir_tree *t, const sw_ir_names *names, sw_diag *d);

/* Regions of one op that gives so many results (verify_regions.c): SW_E_INPUT with *error what is wrong. */
SW_CHECKED sw_rc sw_ir_verify_regions(const sw_ir_tree *t, const sw_ir_op *op, uint32_t results, sw_diag *error);

#endif
