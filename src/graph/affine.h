/* Questions about one expression of a map, given the sizes of the loops. */
#ifndef GRAPH_AFFINE_H_
#define GRAPH_AFFINE_H_

#include "shardwright/graph.h"

/* The least and greatest index reached when every loop runs over [0, size); sizes are at least 1. False on overflow. */
bool sw_affine_bounds(const sw_affine *e, const sw_loop *loops, int64_t *least, int64_t *most);
/* Are the terms digits: sorted major first, each coef the product of the sizes of the terms after it, no constant? */
bool sw_affine_is_digits(const sw_affine *e, const sw_loop *loops);
/* How many distinct indices of a dimension of `size` elements are reached when loop l runs over extents[l] steps. */
int64_t sw_affine_reach(const sw_affine *e, int64_t size, const int64_t *extents);

#endif
