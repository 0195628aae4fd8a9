/* What models of diffusion share. */
#ifndef GEN_DIFFUSION_H_
#define GEN_DIFFUSION_H_

#include "gen/arch.h"

/* cos and sin, side by side, of t * 10000^(-i / (width/2)) for i < width/2: [batch, width], of the model's dtype. t:
 * f32 [batch]. Vaswani et al. 2017, section 3.5, with t for the position. */
sw_id swg_time_waves(swg_builder *b, const char *name, sw_id t, int64_t width);
/* dense(silu(dense(waves))), both `to` wide: parameters NAME.in and NAME.out. */
sw_id swg_time_embedding(swg_builder *b, const char *name, sw_id waves, int64_t to);

#endif
