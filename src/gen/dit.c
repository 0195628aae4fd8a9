/* Diffusion transformer (Peebles and Xie 2023, arXiv:2212.09748, adaLN-Zero): patches of a latent image; each block's
 * norms are shifted and scaled, and its results gated, by what a dense layer makes of time and class.
 *
 *   x [b,c,32,32] -> patches [b,256,d], plus fixed waves of their places
 *   x + gate_1 attn(norm(x) (1 + scale_1) + shift_1), the same with a gelu block    times layers
 *   y [b,256,patch^2 2c]: noise and variance of each patch, not put together to an image
 *
 * A row of the class table more than there are classes stands for no class.
 */
#include <math.h>

#include "gen/diffusion.h"
#include "gen/transformer.h"
#include "gen/vision.h"

enum { WAVES = 256 }; /* width of the time's, as in the reference */

typedef struct dit {
  swg_attention attention;
  int64_t batch, side, tokens, ffn;
} dit;

static sw_id plain_norm(swg_builder *b, const char *name, sw_id x) {
  swg_shape shape = swg_shape_of(b, x), row = SWG_SHAPE(shape.at[shape.n - 1]);
  swg_enter(b, "%s_by", name);
  sw_id one = swg_splat(b, "one", 1, b->dtype, row), zero = swg_splat(b, "zero", 0, b->dtype, row);
  swg_leave(b);
  return swg_op(b, SW_OP_LAYER_NORM, name, SWG_IDS(x, one, zero), SWG_NONE);
}

/* Part i of n of what a dense layer makes of the condition, [b,d] for all positions of `like`. */
static sw_id condition_part(swg_builder *b, const char *name, sw_id all, int i, sw_id like) {
  swg_shape shape = swg_shape_of(b, like);
  int64_t d = shape.at[shape.n - 1];
  swg_enter(b, "%s", name);
  sw_id part = swg_slice(b, "part", all, 1, i * d, (i + 1) * d);
  swg_leave(b);
  return swg_broadcast(b, name, part, shape, SWG_SHAPE(0, 2));
}

/* norm(x) (1 + scale) + shift with the parts first and first + 1 of `all`. */
static sw_id modulated(swg_builder *b, const char *name, sw_id x, sw_id all, int first) {
  sw_id normed = plain_norm(b, name, x);
  swg_enter(b, "%s_by", name);
  sw_id scale = swg_shift(b, "scale_up", condition_part(b, "scale", all, first + 1, x), 1);
  sw_id scaled = swg_binary(b, SW_OP_MULTIPLY, "scaled", normed, scale);
  sw_id y = swg_binary(b, SW_OP_ADD, "shifted", scaled, condition_part(b, "shift", all, first, x));
  swg_leave(b);
  return y;
}

static sw_id condition(swg_builder *b, const char *name, sw_id c, int parts, int64_t hidden) {
  swg_enter(b, "%s", name);
  sw_id act = swg_op(b, SW_OP_SILU, "act", SWG_IDS(c), SWG_NONE);
  swg_leave(b);
  return swg_dense(b, name, act, parts * hidden, true);
}

static sw_id dit_block(swg_builder *b, const dit *m, sw_id x, sw_id c) {
  sw_id all = condition(b, "condition", c, 6, m->attention.hidden);
  sw_id in = modulated(b, "norm_1", x, all, 0);
  swg_enter(b, "attn");
  sw_id attended = swg_self_attention(b, &m->attention, in);
  swg_leave(b);
  x = swg_binary(b, SW_OP_ADD, "sum_1", x,
                 swg_binary(b, SW_OP_MULTIPLY, "gated_1", attended, condition_part(b, "gate_1", all, 2, x)));
  in = modulated(b, "norm_2", x, all, 3);
  swg_enter(b, "mlp");
  sw_id fed = swg_gelu_block(b, in, &(swg_gelu){m->attention.hidden, m->ffn, .approximate = true, .bias = true});
  swg_leave(b);
  return swg_binary(b, SW_OP_ADD, "sum_2", x,
                    swg_binary(b, SW_OP_MULTIPLY, "gated_2", fed, condition_part(b, "gate_2", all, 5, x)));
}

/* Waves of a patch's row and column, a quarter of the width each for their sines and cosines: [tokens, hidden]. */
static sw_id places(swg_builder *b, const dit *m) {
  int64_t quarter = m->attention.hidden / 4;
  swg_shape shape = SWG_SHAPE(m->side, m->side, quarter);
  sw_id parts[4];
  swg_enter(b, "places");
  sw_id index = swg_iota(b, "index", SW_F32, shape, 2);
  sw_id frequency =
      swg_unary(b, SW_OP_EXP, "frequency", swg_scale(b, "exponent", index, -log(10000) / (double)quarter));
  for (int i = 0; i < 2; i++) {
    sw_id *two = i ? &parts[2] : &parts[0];
    swg_enter(b, i ? "row" : "column");
    sw_id at = swg_iota(b, "at", SW_F32, shape, 1 - i);
    sw_id angle = swg_binary(b, SW_OP_MULTIPLY, "angle", at, frequency);
    two[0] = swg_unary(b, SW_OP_SIN, "sin", angle);
    two[1] = swg_unary(b, SW_OP_COS, "cos", angle);
    swg_leave(b);
  }
  sw_id all = swg_convert(b, "narrow", swg_concatenate(b, "all", 2, 4, parts), b->dtype);
  sw_id rows = swg_reshape(b, "rows", all, SWG_SHAPE(m->tokens, 4 * quarter));
  swg_leave(b);
  return rows;
}

static sw_id embed(swg_builder *b, const swg_config *c, const dit *m) {
  swg_images images = swg_images_of(c);
  int64_t hidden = m->attention.hidden, patch = swg_get(c, SW_GEN_PATCH);
  sw_id image = swg_image_input(b, c, &images);
  swg_enter(b, "embed");
  const swg_conv conv = {hidden, patch, patch, 0};
  sw_id grid = swg_convolution(b, "patch", &images, image, &conv, "b01f");
  sw_id x = swg_add_rows(b, "patch_biased", grid, swg_param(b, "patch_bias", SWG_SHAPE(hidden)));
  x = swg_reshape(b, "patches", x, SWG_SHAPE(m->batch, m->tokens, hidden));
  swg_leave(b);
  return swg_add_rows(b, "placed", x, places(b, m));
}

sw_rc swg_build_dit(const swg_config *c, sw_graph **out, sw_diag *d) {
  dit m = {.batch = swg_get(c, SW_GEN_BATCH), .ffn = swg_ffn(c)};
  SW_TRY(swg_check_divides(c, SW_GEN_IMAGE, SW_GEN_PATCH, d));
  SW_TRY(swg_attention_init(c, &m.attention, d));
  int64_t hidden = m.attention.hidden, patch = swg_get(c, SW_GEN_PATCH);
  if (hidden % 4) return SW_FAIL_INPUT(d, SW_NOWHERE, "hidden %lld is not a multiple of 4", (long long)hidden);
  m.attention.bias = true;
  m.side = swg_get(c, SW_GEN_IMAGE) / patch;
  m.tokens = m.side * m.side;
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  sw_id x = embed(&b, c, &m);
  sw_id t = swg_arg(&b, "t", SW_VALUE_INPUT, SW_F32, SWG_SHAPE(m.batch));
  sw_id classes = swg_tokens(&b, "class", SWG_SHAPE(m.batch));
  sw_id table = swg_param(&b, "class_table", SWG_SHAPE(swg_get(c, SW_GEN_CLASSES) + 1, hidden));
  sw_id time = swg_time_embedding(&b, "time", swg_time_waves(&b, "waves", t, WAVES), hidden);
  sw_id both = swg_binary(&b, SW_OP_ADD, "conditions", time, swg_take(&b, "class_row", table, classes));
  for (int i = 0; i < swg_get(c, SW_GEN_LAYERS) && !b.rc; i++) {
    swg_enter(&b, "blocks.%d", i);
    x = dit_block(&b, &m, x, both);
    swg_leave(&b);
  }
  x = modulated(&b, "norm_f", x, condition(&b, "condition_f", both, 2, hidden), 0);
  b.products = NULL; /* the last layer, as logits of others */
  swg_finish_values(&b, c, swg_dense(&b, "final", x, patch * patch * 2 * swg_get(c, SW_GEN_CHANNELS), true));
  return swg_finish(&b, out);
}
