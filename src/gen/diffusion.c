/* The time of a diffusion step as a vector (diffusion.h). */
#include "gen/diffusion.h"

#include <math.h>

#include "gen/transformer.h"

sw_id swg_time_waves(swg_builder *b, const char *name, sw_id t, int64_t width) {
  int64_t half = width / 2;
  swg_shape shape = SWG_SHAPE(swg_shape_of(b, t).at[0], half);
  swg_enter(b, "%s", name);
  sw_id index = swg_iota(b, "index", SW_F32, shape, 1);
  sw_id frequency = swg_unary(b, SW_OP_EXP, "frequency", swg_scale(b, "exponent", index, -log(10000) / (double)half));
  sw_id wide = swg_broadcast(b, "t", t, shape, SWG_SHAPE(0));
  sw_id angle = swg_binary(b, SW_OP_MULTIPLY, "angle", wide, frequency);
  sw_id cos = swg_unary(b, SW_OP_COS, "cos", angle), sin = swg_unary(b, SW_OP_SIN, "sin", angle);
  sw_id waves = swg_convert(b, "waves", swg_concatenate(b, "both", 1, SWG_IDS(cos, sin)), b->dtype);
  swg_leave(b);
  return waves;
}

sw_id swg_time_embedding(swg_builder *b, const char *name, sw_id waves, int64_t to) {
  swg_enter(b, "%s", name);
  sw_id in = swg_dense(b, "in", waves, to, true);
  sw_id out = swg_dense(b, "out", swg_op(b, SW_OP_SILU, "act", SWG_IDS(in), SWG_NONE), to, true);
  swg_leave(b);
  return out;
}
