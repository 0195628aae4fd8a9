/* The shardings of one step's tensors, by factor instead of by dimension.
 *
 *   reshape [8] -> [2,4], x=4 on the dimension of 8:   i=2 is cut by x:(1)2, j=4 by x:(2)2
 */
#ifndef PROPAGATE_PROJECTION_H_
#define PROPAGATE_PROJECTION_H_

#include "propagate/flow.h"

typedef struct sw_factor_cut {
  bool present; /* the tensor has the factor */
  bool fixed;   /* no further axes: the dimension is closed, or holds axes that are no factor's */
  bool minor;   /* the minor-most of its dimension: need not be divisible */
  sw_axes axes;
  sw_axes rest; /* axes of the dimension behind them that fit no factor: they cut no other dimension */
  bool grown;
} sw_factor_cut;

typedef struct sw_tensor_cut {
  bool absent;
  int n_taken, n_whole;
  sw_axis_ref taken[SW_MAX_REFS * 2]; /* n_whole replicated and unreduced; of dims that no factor is in */
  sw_factor_cut at[SW_MOST_FACTORS];
} sw_tensor_cut;

typedef struct sw_projection {
  const sw_flow *f;
  const sw_flow_op *step;
  bool careful; /* conservative; edges are not */
  const sw_mesh *mesh;
  int32_t mesh_id;
  int n, n_factors;
  int64_t size[SW_MOST_FACTORS];
  bool blocked[SW_MOST_FACTORS];
  sw_factor_kind kind[SW_MOST_FACTORS];
  sw_tensor_cut tensor[SW_MOST_TENSORS];
} sw_projection;

/* False: there is nothing to propagate (no sharding, or several meshes). Dims of a priority beyond `priority` are as if
 * they were closed and not cut. */
bool sw_project(const sw_flow *f, const sw_flow_op *step, int32_t priority, sw_projection *out);
/* Has any factor of tensor i? */
bool sw_has_grown(const sw_projection *p, int i);
/* Back: the tensors whose factors have grown; *changed[0 .. n). False where an axis list has no room. */
bool sw_unproject(sw_flow *f, const sw_projection *p, bool *changed);

/* The longest axes of a factor that all its tensors can go on from, conflicts with other factors aside. */
sw_axes sw_compatible_axes(const sw_projection *p, int factor, sw_direction direction);
/* As many of these axes, major first, as a tensor can have along the factor. */
sw_axes sw_axes_allowed(const sw_projection *p, int tensor, int factor, const sw_axes *axes);
/* Are they what the tensor has and more? */
bool sw_axes_extend(const sw_axes *have, const sw_axes *axes);
int64_t sw_axes_size(const sw_axes *axes);

/* What a step would give a factor, and what it weighs against other factors (aggressive.c). */
typedef struct sw_wish {
  int factor;
  sw_axes axes;
  double weight; /* more comes first */
  int source;    /* then the earlier tensor */
} sw_wish;
/* False: nothing. */
bool sw_wish_of(const sw_projection *p, int factor, sw_direction direction, bool elementwise, sw_wish *out);
int sw_wish_compare(const void *a, const void *b); /* of two sw_wish, for qsort: the order in which they are met */

/* The lower layers, on one step (basic.c, aggressive.c): grow factors of `p`. direction[factor]. */
void sw_propagate_basic(sw_projection *p, const sw_direction *direction);
void sw_propagate_aggressive(sw_projection *p, const sw_direction *direction, bool elementwise);

#endif
