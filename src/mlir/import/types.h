/* Types of MLIR as types of the graph. */
#ifndef MLIR_TYPES_H_
#define MLIR_TYPES_H_

#include "mlir/text/attr.h"
#include "shardwright/graph.h"

/* tensor<2x?xf32>, f32, !stablehlo.token or an alias of one. Dims are in the arena. SW_E_INPUT with what is not
 * supported; at most SW_MAX_RANK dims. */
SW_CHECKED sw_rc sw_ir_read_type(const sw_ir_tree *t, sw_ir_span type, sw_arena *arena, sw_type *out, sw_diag *d);

/* Lists: `(T, T) -> (T, T)`, `T, T`, `T`. Result types are those behind the arrow, else the last of the list. */
typedef struct sw_ir_types_cursor {
  sw_ir_span list;
  uint32_t cursor;
} sw_ir_types_cursor;
sw_ir_types_cursor sw_ir_result_types(const sw_ir_tree *t, sw_ir_span types);
sw_ir_types_cursor sw_ir_operand_types(const sw_ir_tree *t, sw_ir_span types);
bool sw_ir_next_type(const sw_ir_tree *t, sw_ir_types_cursor *c, sw_ir_span *out);
/* The operand that type `i` of the list belongs to: `reduce(%x init: %i), (%y init: %j)` has those of inputs first. */
uint32_t sw_ir_operand_of_type(const sw_ir_tree *t, const sw_ir_op *op, uint32_t i);
/* Of a list without arrow the last one counts as the result's. */
sw_ir_span sw_ir_result_type(const sw_ir_tree *t, sw_ir_span types, int index);
/* The type of `T {...}`, which a function declares as its result. */
sw_ir_span sw_ir_type_alone(const sw_ir_tree *t, sw_ir_span declared);

#endif
