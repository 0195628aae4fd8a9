/* Which dimension of a weight becomes the heads of an attention. Private to the layer. */
#ifndef PLAN_HEADS_H_
#define PLAN_HEADS_H_

#include "shardwright/graph.h"

/* How many heads there are along a dim of operand `which` of a contraction: what its result reaches as the heads of an
 * attention op or as a further batch dim of a product, through ops that keep the dim or its major part. 0: none. */
SW_CHECKED sw_rc sw_heads_along(const sw_graph *g, const sw_op *op, int which, int dim, int64_t *out, sw_diag *d);

#endif
