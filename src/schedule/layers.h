/* The layers of a program: runs of ops that are repeated, one after the other. */
#ifndef SCHEDULE_LAYERS_H_
#define SCHEDULE_LAYERS_H_

#include "graph/attention.h"

static inline bool sw_op_is_heavy(const sw_op *op) {
  return sw_op_class_of(op->code) == SW_OPS_CONTRACTION || sw_is_attention(op->code);
}

typedef struct sw_layers {
  int32_t n;
  const sw_id *first, *end; /* by layer, in order: its ops are [first, end) */
} sw_layers;

/* Of the first n_ops ops. Alike are ops of one code, and operands and results of one type; each layer has a
 * contraction, and at least one neighbour that is like it. Between ways to cut a run into as many layers, the one with
 * the fewest bytes from one to the next. In the arena. */
sw_rc sw_layers_find(const sw_graph *g, sw_id n_ops, sw_arena *arena, sw_layers *out, sw_diag *d);
/* Of what a schedule may make again of the program: none in one with loops or choices. In the arena. */
SW_API sw_rc sw_layers_of_early(const sw_graph *g, sw_arena *arena, sw_layers *out, sw_diag *d);
/* "layers.{0..79}", by what the names, or else the scopes, of a layer's contractions have in common; NULL: layers have
 * no names that differ. In the arena. */
SW_API sw_rc sw_layers_name(const sw_graph *g, const sw_layers *l, sw_arena *arena, const char **out, sw_diag *d);

#endif
