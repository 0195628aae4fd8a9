/* Vision Transformer: patches by a convolution, a class token in front, positions, blocks as GPT-2's without a mask.
 *
 *   image [b,3,224,224] -> patches [b,14,14,d] -> [b,196,d] -> with class token and positions [b,197,d] -> ... -> ln
 *   -> row 0 [b,d] -> head [b,classes]
 */
#include "gen/transformer.h"
#include "gen/vision.h"

static sw_id embed_patches(swg_builder *b, const swg_config *c, int64_t hidden) {
  swg_images images = swg_images_of(c);
  int64_t batch = swg_get(c, SW_GEN_BATCH), patch = swg_get(c, SW_GEN_PATCH);
  int64_t side = swg_get(c, SW_GEN_IMAGE) / patch, patches = side * side;
  sw_id image = swg_image_input(b, c, &images);
  swg_enter(b, "embed");
  const swg_conv conv = {hidden, patch, patch, 0};
  sw_id grid = swg_convolution(b, "patch", &images, image, &conv, "b01f");
  sw_id x = swg_add_rows(b, "patch_biased", grid, swg_param(b, "patch_bias", SWG_SHAPE(hidden)));
  x = swg_reshape(b, "patches", x, SWG_SHAPE(batch, patches, hidden));
  sw_id token = swg_param(b, "class_token", SWG_SHAPE(hidden));
  token = swg_broadcast(b, "class_wide", token, SWG_SHAPE(batch, 1, hidden), SWG_SHAPE(2));
  x = swg_concatenate(b, "tokens", 1, SWG_IDS(token, x));
  x = swg_add_rows(b, "positioned", x, swg_param(b, "position", SWG_SHAPE(patches + 1, hidden)));
  swg_leave(b);
  return x;
}

sw_rc swg_build_vit(const swg_config *c, sw_graph **out, sw_diag *d) {
  swg_attention a;
  SW_TRY(swg_check_divides(c, SW_GEN_IMAGE, SW_GEN_PATCH, d));
  SW_TRY(swg_attention_init(c, &a, d));
  a.bias = true;
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  sw_id x = embed_patches(&b, c, a.hidden);
  for (int i = 0; i < swg_get(c, SW_GEN_LAYERS) && !b.rc; i++) {
    swg_enter(&b, "blocks.%d", i);
    x = swg_pre_norm_block(&b, &a, x, swg_ffn(c), false);
    swg_leave(&b);
  }
  x = swg_slice(&b, "class_row", swg_layer_norm(&b, "ln_f", x, true), 1, 0, 1);
  x = swg_reshape(&b, "class", x, SWG_SHAPE(swg_get(c, SW_GEN_BATCH), a.hidden));
  b.products = NULL; /* as logits of others */
  swg_finish_logits(&b, c, swg_dense(&b, "head", x, swg_get(c, SW_GEN_CLASSES), true));
  return swg_finish(&b, out);
}
