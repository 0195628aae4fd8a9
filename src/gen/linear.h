/* Linear layers: products of activations and a weight, in the type of activations or in eight bits.
 *
 *   swg_linear(b, "q", "bsd,dhk->bshk", x, "wq", SWG_SHAPE(hidden, heads, width))
 *
 *     as activations are:   q = einsum(x, wq)
 *     in eight bits:        x.f8 = x / x's scale    wq.f8 = wq / wq's scale    q = dot(x.f8, wq.f8) * both scales
 *
 * In a training step the gradient dq is narrowed likewise, dx = dot(dq.f8, wq.f8) and dwq = dot(x.f8, dq.f8), times
 * scales: that of the product of what the narrow operands stand for, as if narrowing had a slope of 1
 * (straight-through).
 */
#ifndef GEN_LINEAR_H_
#define GEN_LINEAR_H_

#include "gen/contract.h"
#include "gen/scaled.h"
#include "base/array.h"

/* One in eight bits, as it stands in a forward program. */
typedef struct swg_product {
  sw_id y, x, w; /* what is given, and what is narrowed */
  swg_narrow x8, w8;
  swg_letters dims[3]; /* of x, w and y */
} swg_product;

/* How linear layers are worked out, and those that were. */
typedef struct swg_products {
  sw_dtype forward, gradient; /* types of narrow operands, and of narrow gradients */
  bool multiply;              /* products in these types */
  bool stored;                /* weights come in them */
  SW_ARRAY(swg_product) done;
} swg_products;

/* A parameter, in the type that ops use, or as it is multiplied in eight bits. */
typedef struct swg_weight {
  sw_id wide; /* -1: it comes narrow */
  swg_narrow narrow;
} swg_weight;
swg_weight swg_weight_of(swg_builder *b, const char *name, swg_shape shape);
/* Op NAME. The equation has two terms, x's first. */
sw_id swg_linear_by(swg_builder *b, const char *name, const char *equation, sw_id x, const swg_weight *w);
/* Op NAME; `weight` is the name of the parameter of that shape. */
sw_id swg_linear(swg_builder *b, const char *name, const char *equation, sw_id x, const char *weight, swg_shape shape);
typedef struct swg_narrow_side {
  const swg_letters *dims;
  const swg_narrow *value;
} swg_narrow_side;
/* The product of narrow values times their scales, as op NAME of type t, summed in `summed`. */
sw_id swg_narrow_product(swg_builder *b, const char *name, sw_dtype summed, sw_dtype t, swg_narrow_side x,
                         swg_narrow_side y, const swg_letters *result);

#endif
