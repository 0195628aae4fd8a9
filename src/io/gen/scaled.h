/* Numbers of eight bits with scales: x is about values * scale, and scale * (largest value of the type) = max |x|. */
#ifndef IO_GEN_SCALED_H_
#define IO_GEN_SCALED_H_

#include "io/gen/build.h"

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

#endif
