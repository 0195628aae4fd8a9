/* Types of MLIR as types of the graph. */
#ifndef MLIR_TYPES_H_
#define MLIR_TYPES_H_

#include "mlir/text/attr.h"
#include "shardwright/graph.h"

/* tensor<2x?xf32>, f32, !stablehlo.token or an alias of one. Dims are in the arena. SW_E_INPUT with what is not
 * supported; at most SW_MAX_RANK dims. */
SW_CHECKED sw_rc sw_ir_read_type(const sw_ir_tree *t, sw_ir_span type, sw_arena *arena, sw_type *out, sw_diag *d);

/* The type at the beginning of `text`; *known false: it is no tensor or scalar of known sizes. Fails when memory is
 * out. */
SW_CHECKED sw_rc sw_ir_read_sized_type(const sw_ir_tree *t, sw_ir_span text, sw_arena *arena, sw_type *out,
                                       bool *known);

/* Lists: `(T, T) -> (T, T)`, `T, T`, `T`. */
typedef struct sw_ir_types_cursor {
  sw_ir_span list;
  uint32_t cursor;
  uint32_t again; /* how often the list is gone through once more */
} sw_ir_types_cursor;
/* (T, ...) -> ... */
bool sw_ir_has_function_type(const sw_ir_tree *t, const sw_ir_op *op);
/* Are the types of the op those of its operands, one for each, without an arrow? Other such lists have that of the
 * result, or of some operands. */
bool sw_ir_lists_operands(const sw_ir_tree *t, const sw_ir_op *op);
/* Those behind the arrow. A list without one has a type for each of several results, or for each operand of ops that
 * give what they take; of any other list all results have the last type. */
sw_ir_types_cursor sw_ir_result_types(const sw_ir_tree *t, const sw_ir_op *op);
/* What a function declares to give, with its attributes: `T {...}`. */
sw_ir_types_cursor sw_ir_declared_results(const sw_ir_tree *t, const sw_ir_op *f);
sw_ir_types_cursor sw_ir_operand_types(const sw_ir_tree *t, sw_ir_span types);
bool sw_ir_next_type(const sw_ir_tree *t, sw_ir_types_cursor *c, sw_ir_span *out);
/* The operand that type `i` of the list belongs to: `reduce(%x init: %i), (%y init: %j)` has those of inputs first. */
uint32_t sw_ir_operand_of_type(const sw_ir_tree *t, const sw_ir_op *op, uint32_t i);
/* One of the result types; empty: there are not as many. */
sw_ir_span sw_ir_result_type(const sw_ir_tree *t, const sw_ir_op *op, int index);
/* The type of `T {...}`, which a function declares as its result. */
sw_ir_span sw_ir_type_alone(const sw_ir_tree *t, sw_ir_span declared);

#endif
