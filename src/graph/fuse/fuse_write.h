/* Writing the ops of a region into the new graph: operands brought into the order [batch, head, position, width] (or
 * position before head), and results out of it. */
#ifndef GRAPH_FUSE_FUSE_WRITE_H_
#define GRAPH_FUSE_FUSE_WRITE_H_

#include "graph/fuse/region.h"

typedef struct sw_fuse_writer {
  const sw_graph *from;
  sw_graph *to;
  sw_id *now; /* by old value; -1: gone, or not there yet */
  sw_arena *arena;
  sw_diag *d;
} sw_fuse_writer;

/* Bias and mask are what is spread over heads or batches, before it is. */
void sw_fuse_narrow(sw_fuse_region *r);

/* attention, with o, where the region has it (or with lse alone for a gradient); then attention_grad. lse: of the
 * first, for the second. */
SW_CHECKED sw_rc sw_fuse_write_forward(sw_fuse_writer *w, const sw_fuse_region *r, sw_id o_lse[2]);
SW_CHECKED sw_rc sw_fuse_write_gradient(sw_fuse_writer *w, const sw_fuse_region *r, const sw_id o_lse[2]);

#endif
