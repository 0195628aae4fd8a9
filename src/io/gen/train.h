/* From a forward program with a loss to a training step with explicit backward ops. */
#ifndef IO_GEN_TRAIN_H_
#define IO_GEN_TRAIN_H_

#include "io/gen/build.h"

/* `forward`: sealed, one function, one block; its first output is the loss, a float scalar. In the step each of its
 * parameters is state of the same name and comes back as NAME.new; Adam adds state NAME.m, NAME.v and adam.step.
 * Outputs: loss, then the new state in order of the arguments. SW_E_INPUT when an op on the way has no derivative
 * here. */
SW_CHECKED sw_rc swg_train_step(const sw_graph *forward, bool adam, sw_graph **out, sw_diag *d);

/* One step of differentiation, from the last op to the first. Ids of `forward` are "old", those of the step "new". */
typedef struct swg_reverse {
  swg_builder b;
  const sw_graph *forward;
  sw_id *now;      /* new id of an old value */
  sw_id *gradient; /* new id of the loss's derivative by an old value; -1: none (yet) */
  bool *active;    /* old value depends on a parameter through float ops */
} swg_reverse;

/* What rules use. `i`: operand number. */
static inline sw_id swg_operand(const swg_reverse *r, const sw_op *op, int i) { return r->now[op->operands[i]]; }
static inline sw_id swg_result(const swg_reverse *r, const sw_op *op) { return r->now[op->results[0]]; }
static inline bool swg_wanted(const swg_reverse *r, const sw_op *op, int i) { return r->active[op->operands[i]]; }
/* Add g to the gradient of operand i; nothing when it is not wanted. */
void swg_give(swg_reverse *r, const sw_op *op, int i, sw_id g);

/* Add the gradients of the op's operands, given that of its first result. New ops go into the scope of the op's
 * name. */
typedef void (*swg_derivative)(swg_reverse *r, const sw_op *op, sw_id g);
swg_derivative swg_derivative_of(sw_opcode c); /* NULL: none */

#define SW_COLUMN_GRADIENT(id, gradient) void swg_derive_##gradient(swg_reverse *r, const sw_op *op, sw_id g);
#include "shardwright/ops.def"

#endif
