/* Definitions and uses of all values of a text. Values are numbered over all functions. */
#ifndef MLIR_VALUES_H_
#define MLIR_VALUES_H_

#include "mlir/text/resolve.h"

typedef struct sw_ir_values {
  uint32_t n;
  uint32_t *first_value;    /* by op: of a function, its first value */
  uint32_t *of_use;         /* by use of the tree */
  uint32_t *of_result;      /* by result of the tree: the first value under that name */
  uint32_t *of_block;       /* by block: its first argument */
  uint32_t *op_of_use;      /* by use */
  uint32_t *function_of;    /* by op: the function around it, which may be itself; SW_IR_NONE: none */
  uint32_t *first_use;      /* by value; SW_IR_NONE: it has none */
  uint32_t *next_use;       /* by use: the next one of the same value, in the order of the text */
  uint32_t *block_of_value; /* by value: the block that it is an argument of; SW_IR_NONE: the result of an op */
  uint32_t *maker;          /* by value: the op that it is a result of; SW_IR_NONE: an argument */
  uint32_t *index_of;       /* by value: the result of the tree that names it, or its argument of the tree */
} sw_ir_values;

/* In the arena. */
SW_CHECKED sw_rc sw_ir_values_find(const sw_ir_tree *t, const sw_ir_names *names, sw_arena *arena, sw_ir_values *out,
                                   sw_diag *d);
/* Result `i` of an op, over all its names; SW_IR_NONE: it has no name. */
uint32_t sw_ir_result_value(const sw_ir_values *v, const sw_ir_tree *t, const sw_ir_op *o, uint32_t i);
/* Operand `i` of an op. */
static inline uint32_t sw_ir_operand_value(const sw_ir_values *v, const sw_ir_op *o, uint32_t i) {
  return v->of_use[o->first_use + i];
}

/* Is a function called from within alone? */
bool sw_opt_is_private(const sw_ir_tree *t, const sw_ir_op *f);
/* Is it @main, or (where there is none) one that is not private: what it takes and gives is the program's? */
bool sw_opt_is_entry(const sw_ir_tree *t, const sw_ir_names *names, uint32_t op);
bool sw_opt_is_main(const sw_ir_tree *t, const sw_ir_op *f);
/* Is it a call, and of which function of the text? SW_IR_NONE: of none. */
bool sw_opt_is_call(const sw_ir_tree *t, const sw_ir_op *o);
uint32_t sw_opt_callee(const sw_ir_tree *t, const sw_ir_names *names, const sw_ir_op *o);
/* The symbol in a call, without the @. */
sw_ir_span sw_opt_called_symbol(const sw_ir_tree *t, const sw_ir_op *call);
/* Has it values that are cut alike by construction: loops, choices and barriers of StableHLO? */
bool sw_opt_is_data_flow(const sw_ir_tree *t, const sw_ir_op *o);

#endif
