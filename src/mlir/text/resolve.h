/* Which definition every % name means. Values of a function (results of ops, arguments of blocks) are numbered densely,
 * so that a function called many times is looked through once: an instance of it is an array of that many values. */
#ifndef MLIR_RESOLVE_H_
#define MLIR_RESOLVE_H_

#include "mlir/text/tree.h"

typedef struct sw_ir_names {
  uint32_t *use;     /* by use: its slot in the function */
  uint32_t *result;  /* by result (of sw_ir_tree): first slot of it */
  uint32_t *block;   /* by block: slot of its first argument */
  uint32_t *n_slots; /* by op: of a function */
  sw_dict functions; /* symbol to op */
} sw_ir_names;

/* SW_E_INPUT at the first name that is not defined, is defined twice, or whose index is out of range. */
SW_CHECKED sw_rc sw_ir_resolve(const sw_ir_tree *t, sw_ir_names *out, sw_diag *d);
void sw_ir_names_free(sw_ir_names *n);
/* Op of the function of that name; SW_IR_NONE: there is none. */
uint32_t sw_ir_function_named(const sw_ir_tree *t, const sw_ir_names *n, sw_ir_span symbol);
/* The results of an op, over all its names. */
uint32_t sw_ir_result_count(const sw_ir_tree *t, const sw_ir_op *op);
bool sw_ir_is_function(const sw_ir_tree *t, const sw_ir_op *op);
/* Of func.func, in either form. */
sw_ir_span sw_ir_function_name(const sw_ir_tree *t, const sw_ir_op *op);

#endif
