/* Types of values as the text spells them: those that results of ops and arguments of blocks are defined with. */
#ifndef MLIR_VALUE_TYPES_H_
#define MLIR_VALUE_TYPES_H_

#include "mlir/import/types.h"
#include "mlir/text/resolve.h"

/* Is the op written in a form in which what is behind the colon is known to be types of operands and results? */
bool sw_ir_has_known_types(const sw_ir_tree *t, const sw_ir_op *op);

/* Into `types`, n_slots by slot of the function that they are in: those of the results of an op, of the arguments of a
 * block. Those that nobody can tell without knowing the op (custom forms of other dialects) stay as they are. */
void sw_ir_type_results(const sw_ir_tree *t, const sw_ir_names *names, const sw_ir_op *op, sw_ir_span *types,
                        uint32_t n_slots);
void sw_ir_type_args(const sw_ir_tree *t, const sw_ir_names *names, uint32_t block, sw_ir_span *types,
                     uint32_t n_slots);

#endif
