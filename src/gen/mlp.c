/* A stack of square matrices: h = relu(h w + b), without relu after the last. In training the loss is the mean squared
 * difference to a target. */
#include "gen/transformer.h"
#include "gen/vision.h"

sw_rc swg_build_mlp(const swg_config *c, sw_graph **out, sw_diag *d) {
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  int64_t hidden = swg_get(c, SW_GEN_HIDDEN), layers = swg_get(c, SW_GEN_LAYERS);
  sw_id x = swg_arg(&b, "x", SW_VALUE_INPUT, b.dtype, SWG_SHAPE(swg_get(c, SW_GEN_BATCH), hidden));
  for (int i = 0; i < layers && !b.rc; i++) {
    char name[32];
    snprintf(name, sizeof name, "layers.%d", i);
    x = swg_dense(&b, name, x, hidden, swg_get(c, SW_GEN_BIAS));
    if (i + 1 == layers) break;
    swg_enter(&b, "%s", name);
    x = swg_relu(&b, "relu", x);
    swg_leave(&b);
  }
  swg_finish_values(&b, c, x);
  return swg_finish(&b, out);
}
