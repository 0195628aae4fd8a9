/* From a forward program with a loss to a training step with explicit backward ops. */
#ifndef GEN_TRAIN_H_
#define GEN_TRAIN_H_

#include "gen/linear.h"

typedef struct swg_how {
  bool adam;           /* else sgd */
  bool converts_again; /* backward ops use a conversion of their own of a parameter that is stored in another type */
  bool wide_gradients; /* of parameters, in f32 from where they are summed; else in the type that ops use */
  double clip_norm;    /* of all gradients together, at most; 0: any */
  sw_dtype moments;    /* in which Adam keeps them: bf16; f8e4m3fn, with scales; f32: in that or wider */
  const swg_products *products; /* linear layers of the forward program in eight bits; NULL: none */
} swg_how;

/* `forward`: sealed, one function, one block; its first output is the loss, a float scalar. In the step each of its
 * parameters is state of the same name and comes back as NAME.new; Adam adds state NAME.m, NAME.v and adam.step.
 * Outputs: loss, the new values of `forward`'s own state, then the rest of the new state in order of the arguments.
 * SW_E_INPUT when an op on the way has no derivative here. */
SW_CHECKED sw_rc swg_train_step(const sw_graph *forward, const swg_how *how, sw_graph **out, sw_diag *d);

/* One step of differentiation, from the last op to the first. Ids of `forward` are "old", those of the step "new". */
typedef struct swg_reverse {
  swg_builder b;
  const swg_how *how;
  const sw_graph *forward;
  sw_id *now;      /* new id of an old value */
  sw_id *gradient; /* new id of the loss's derivative by an old value; -1: none (yet) */
  const char **by; /* by old value: the function from whose gradient all of that came; NULL: of several, or none */
  bool *active;    /* old value depends on a parameter through float ops */
  const swg_product **product; /* of which an old value is the result; NULL: of none */
  sw_id *again;                /* new id of the conversion of a parameter that backward ops use; -1: none (yet) */
  const char *function, *grad_function; /* the last function that was derived, and its gradient's name */
  sw_arena *arena;
} swg_reverse;

/* What rules use. `i`: operand number. */
sw_id swg_operand(swg_reverse *r, const sw_op *op, int i); /* for its elements */
static inline const sw_type *swg_operand_type(const swg_reverse *r, const sw_op *op, int i) {
  return swg_type(&r->b, r->now[op->operands[i]]);
}
static inline swg_shape swg_operand_shape(const swg_reverse *r, const sw_op *op, int i) {
  return swg_shape_of(&r->b, r->now[op->operands[i]]);
}
/* Type of the gradient that an old value is to have. */
sw_dtype swg_gradient_type(const swg_reverse *r, sw_id old);
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
