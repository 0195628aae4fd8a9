/* Numbers of eight bits with scales: x is about values * scale. */
#ifndef GEN_SCALED_H_
#define GEN_SCALED_H_

#include "gen/build.h"

typedef struct swg_scaled {
  sw_id values; /* of eight bits, of x's shape */
  sw_id scale;  /* f32; a number per block, a scalar when the block is all */
} swg_scaled;

/* Blocks of consecutive elements: trailing dims whole until a block has 64, of the next dim the largest divisor that
 * leaves it at most 256.
 *
 *   [512, 1024]      4 blocks of 256 in a row               split [512, 4, 256]           scales [512, 4]
 *   [512, 12, 64]    a block is 64 elements                 split [512, 12, 64]           scales [512, 12]
 *   [512, 512, 3, 3] 16 of dim 1 and their 3x3: 144         split [512, 32, 16, 3, 3]     scales [512, 32]
 */
typedef struct swg_blocks {
  swg_shape split; /* the tensor's shape, with the dim that blocks cut written as two */
  int outer;       /* so many dims of it count blocks */
} swg_blocks;
swg_blocks swg_blocks_of(swg_shape shape);
swg_shape swg_blocks_scales(const swg_blocks *k); /* shape of the scales */

/* Ops NAME, of f8e4m3fn, NAME.scale and further ones, by the largest element that a block has now. */
swg_scaled swg_scale_down(swg_builder *b, const char *name, sw_id x, const swg_blocks *k);
/* values * scale, of type t, as op NAME. */
sw_id swg_scale_up(swg_builder *b, const char *name, swg_scaled x, sw_dtype t, const swg_blocks *k);

/* A tensor for products in eight bits. Its one scale is the least power of two, or the one above, with which no value
 * is beyond the largest of the type: multiplying by it is exact in any type with bf16's exponents, and does not move
 * when the largest element changes in its last place. */
typedef struct swg_narrow {
  sw_id values;         /* of eight bits, of x's shape */
  sw_id scale, inverse; /* scalars, f32 or f64 */
} swg_narrow;
/* Op NAME, of type `narrow`, as a function of a library, and NAME.scale, NAME.inverse and further ones. */
swg_narrow swg_narrow_down(swg_builder *b, const char *name, sw_id x, sw_dtype narrow);
/* The same by a scale that is there already. */
sw_id swg_narrow_by(swg_builder *b, const char *name, sw_id x, sw_id inverse, sw_dtype narrow);
/* x * scale (and * other, unless -1) as op NAME, of type t. */
sw_id swg_scale_by(swg_builder *b, const char *name, sw_id x, sw_id scale, sw_id other, sw_dtype t);
/* In which elements of type t are scaled: with bf16's exponents or more. */
sw_dtype swg_scaled_in(sw_dtype t);

#endif
