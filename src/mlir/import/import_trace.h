/* What became of the text, for the writer of annotations. */
#ifndef MLIR_TRACE_H_
#define MLIR_TRACE_H_

#include "base/array.h"
#include "shardwright/graph.h"

/* Results of an op of the text as values of the graph, for the writer; a function called twice has two of each. */
typedef struct sw_ir_made {
  uint32_t op, result, call; /* call: 1 + that in which the op stands; 0: in main */
  sw_id value;
  bool own;      /* made by an op of its own: not what a call or an identity passes on */
  bool replaced; /* the op that made it went with an attention, and another one makes it now */
} sw_ir_made;

/* Value `index` that a loop of the text carries, for the writer: ENTER and YIELD of the graph; `ret` ends its body. */
typedef struct sw_ir_carried {
  uint32_t op, ret, index, call;
  sw_id enter, yield;
} sw_ir_carried;

/* A name from around that a loop or choice of the text reads, for the writer, and the ENTER of the graph that brings
 * its value in; of a choice in this branch. */
typedef struct sw_ir_captured {
  uint32_t op, branch, slot, call;
  sw_id enter;
} sw_ir_captured;

/* A call, or composite, that was written out: ops [first_op, end_op) of the graph. */
typedef struct sw_ir_call {
  uint32_t op, function, parent; /* ops of the text; the call in which this one stands, as above */
  uint32_t first_passed;         /* of `passed`: its arguments */
  sw_id first_op, end_op;
} sw_ir_call;

/* What became of the text, for the writer; in the order of the walk, calls in the order in which they begin. */
typedef struct sw_ir_trace {
  SW_ARRAY(sw_ir_made) made;
  SW_ARRAY(sw_ir_carried) carried;
  SW_ARRAY(sw_ir_captured) captured;
  SW_ARRAY(sw_ir_call) calls;
  SW_ARRAY(sw_id) passed; /* values that calls give to functions */
} sw_ir_trace;
void sw_ir_trace_free(sw_ir_trace *t);

#endif
