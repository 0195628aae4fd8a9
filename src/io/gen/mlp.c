/* A stack of square matrices: h = relu(h w + b), without relu after the last. In training the loss is the mean squared
 * difference to a target. */
#include "io/gen/transformer.h"
#include "io/gen/vision.h"

static void squared_loss(swg_builder *b, sw_id y) {
  swg_shape shape = swg_shape_of(b, y);
  sw_id target = swg_arg(b, "target", SW_VALUE_INPUT, b->dtype, shape);
  swg_enter(b, "loss");
  sw_id difference = swg_binary(b, SW_OP_SUBTRACT, "difference", y, target);
  sw_id squares = swg_binary(b, SW_OP_MULTIPLY, "squares", difference, difference);
  sw_id total = swg_reduce(b, "total", "sum", squares, SWG_SHAPE(0, 1));
  sw_id mean = swg_scale(b, "mean", total, 1 / ((double)shape.at[0] * (double)shape.at[1]));
  swg_leave(b);
  swg_output(b, "loss", mean, -1);
}

sw_rc swg_build_mlp(const swg_config *c, sw_graph **out, sw_diag *d) {
  swg_builder b;
  SW_TRY(swg_begin(&b, c->name, swg_dtype(c), d));
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
  if (swg_training(c)) {
    squared_loss(&b, x);
  } else {
    swg_output(&b, "y", x, -1);
  }
  return swg_finish(&b, out);
}
