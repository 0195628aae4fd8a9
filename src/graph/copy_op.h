/* Arguments and ops of a graph again, in one that is being built. `now` says of each old value which new one it is. */
#ifndef GRAPH_COPY_OP_H_
#define GRAPH_COPY_OP_H_

#include "shardwright/graph.h"

/* The arguments, in order; now[v] is set for each. */
SW_API SW_CHECKED sw_rc sw_graph_copy_args(sw_graph *to, const sw_graph *from, sw_id *now, sw_diag *d);
/* All that is said of an op, so that an equal one can be built, or one that differs in what the caller changes. Its
 * operands are now[v] of the op's; `now` NULL: they are the caller's to say. In the arena; borrows from `from`. */
SW_API SW_CHECKED sw_rc sw_op_spec_of(const sw_graph *from, const sw_op *op, const sw_id *now, sw_arena *arena,
                                      sw_op_spec *out, sw_diag *d);
/* The op, now[v] is set for its results. Tilings of a collective are borrowed. */
SW_API SW_CHECKED sw_rc sw_graph_copy_op(sw_graph *to, const sw_graph *from, const sw_op *op, sw_id *now,
                                         sw_arena *arena, sw_diag *d);

#endif
