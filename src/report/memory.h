/* What a device holds at a step, by what it is for: classes, and in each rows of the program's names over layers. */
#ifndef REPORT_MEMORY_H_
#define REPORT_MEMORY_H_

#include "shardwright/plan.h"

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
const char *sw_memory_class_text(sw_memory_class c); /* "optimizer state" */

/* The class of each value as it is made, by what depends on what: the backward part of a training step is what outputs
 * need that are not the next version of a state. In the arena. */
sw_rc sw_classify_values(const sw_graph *g, sw_arena *arena, const uint8_t **of_value, sw_diag *d);

typedef struct sw_memory_row {
  sw_memory_class class_of;
  const char *name; /* of a group: base/name_groups.h; of an op's buffer: the op's */
  int32_t count;
  int64_t bytes; /* of all */
} sw_memory_row;

typedef struct sw_memory {
  int64_t bytes[SW_MEMORY_CLASSES]; /* sums of the rows; their sum is all that is held */
  int32_t n;
  const sw_memory_row *rows; /* by class, then size */
} sw_memory;
sw_rc sw_memory_at(const sw_plan *p, const sw_breakdown *a, int32_t step, sw_arena *arena, sw_memory *out, sw_diag *d);

#endif
