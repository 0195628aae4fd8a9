/* Ops that do what an earlier one does: copies that a program has of its own, as checkpoints leave them. */
#ifndef SCHEDULE_SAME_OPS_H_
#define SCHEDULE_SAME_OPS_H_

#include "shardwright/graph.h"

typedef struct sw_same_ops {
  sw_id *of_value; /* by value: that which is taken in its place; itself where its op runs */
  bool *runs;      /* by op */
  bool heavy;      /* a contraction is among those that do not */
} sw_same_ops;

/* Does it give the same whenever its operands are the same, and do nothing else? */
SW_API bool sw_op_is_of_operands(const sw_op *op);
/* A key that ops share which do the same to operands that are the same by of_value. */
SW_API void sw_op_likeness(const sw_graph *g, const sw_op *op, const sw_id *of_value, sw_text *key);
/* present: by op; each other one is taken as an earlier one of its code and attributes, and its operands. NULL: each
 * that there is one of. In the arena. SW_E_INPUT: of one there is none. */
sw_rc sw_same_ops_find(const sw_graph *g, const bool *present, sw_arena *arena, sw_same_ops *out, sw_diag *d);

#endif
