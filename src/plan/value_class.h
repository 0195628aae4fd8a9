/* What values of a program are for, as people sort the memory of a training step. */
#ifndef PLAN_VALUE_CLASS_H_
#define PLAN_VALUE_CLASS_H_

#include "shardwright/graph.h"

typedef enum sw_memory_class {
  SW_MEMORY_INPUTS,
  SW_MEMORY_PARAMETERS, /* also their next versions, until these take their place; as the next two */
  SW_MEMORY_OPTIMIZER,  /* state that only the update of parameters reads */
  SW_MEMORY_STATE,      /* other state that comes back: caches */
  SW_MEMORY_GRADIENTS,  /* of parameters: what their updates are made of, scaled and summed ones included */
  SW_MEMORY_KEPT,       /* activations that the backward part reads */
  SW_MEMORY_OUTPUTS,
  SW_MEMORY_TEMPORARIES, /* other values, and buffers of ops at work */
  SW_MEMORY_COPIES,      /* by resharding, with the buffers of their routes */
  SW_MEMORY_CLASSES
} sw_memory_class;
SW_API const char *sw_memory_class_text(sw_memory_class c); /* "optimizer state" */

/* The class of each value as it is made, by what depends on what: the backward part of a training step is what outputs
 * need that are not the next version of a state. In the arena. */
SW_API SW_CHECKED sw_rc sw_classify_values(const sw_graph *g, sw_arena *arena, const uint8_t **of_value, sw_diag *d);

/* Does the op, of a loop, take a slice of one off its first operand, along the first dimension? */
SW_API bool sw_takes_apart(const sw_graph *g, const sw_op *op);
/* Does a loop take the value apart along its first dimension, a slice each time round? */
SW_API bool sw_is_walked(const sw_graph *g, sw_id value);
/* Where an input has its batch: the first dimension, or the next where the first counts steps, or parts of the batch.
 */
SW_API int sw_input_batch_dim(const sw_graph *g, sw_id input);

/* What inputs have in common: the extent of the batch of the first, and of the dimension behind it of the first that
 * has tokens there, or rows of what stands for them; 0: there is none. */
typedef struct sw_input_extents {
  int64_t batch, sequence;
} sw_input_extents;
/* `is_weight`: by value, inputs that are none (no roles are said); NULL: none of them. */
SW_API sw_input_extents sw_find_input_extents(const sw_graph *g, const bool *is_weight);
/* Has the value tokens, or rows of what stands for them, along the dimension behind the batch? */
SW_API bool sw_has_sequence(const sw_value *v, int batch);

#endif
