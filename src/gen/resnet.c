/* ResNet of bottleneck blocks, and a plain stack of convolutions.
 *
 *   stem      7x7 convolution with stride 2, max pool
 *   block     1x1 to w channels, 3x3 (the stride is here), 1x1 to 4w channels, added to the input or to its projection
 *   stages    w = 64, 128, 256, 512; of depth 3, 4, 6, 3 for ResNet-50
 *   head      mean over the picture, one matrix
 */
#include "gen/transformer.h"
#include "gen/vision.h"

enum { STAGES = 4, EXPANSION = 4 };

/* Depth of the stages by number of layers: 3 per block, the stem and the classifier. */
static const struct {
  int layers;
  int depth[STAGES];
} kDepths[] = {{14, {1, 1, 1, 1}}, {26, {2, 2, 2, 2}}, {50, {3, 4, 6, 3}}, {101, {3, 4, 23, 3}}, {152, {3, 8, 36, 3}}};

static const int *depths_of(int64_t layers) {
  for (size_t i = 0; i < sizeof kDepths / sizeof *kDepths; i++) {
    if (kDepths[i].layers == layers) return kDepths[i].depth;
  }
  return NULL;
}

typedef struct resnet {
  swg_builder b;
  swg_images images;
  bool training;
  int64_t parts; /* of the batch, with statistics of their own; 0: none are taken */
} resnet;

static sw_id conv_norm(resnet *r, const char *conv_name, const char *norm_name, sw_id x, swg_conv conv) {
  x = swg_convolution(&r->b, conv_name, &r->images, x, &conv, NULL);
  return swg_batch_norm(&r->b, norm_name, &r->images, x, r->parts);
}

static sw_id bottleneck(resnet *r, sw_id x, int64_t width, int64_t stride, bool project) {
  swg_builder *b = &r->b;
  sw_id y = swg_relu(b, "relu_1", conv_norm(r, "conv_1", "bn_1", x, (swg_conv){width, 1, 1, 0}));
  y = swg_relu(b, "relu_2", conv_norm(r, "conv_2", "bn_2", y, (swg_conv){width, 3, stride, 1}));
  y = conv_norm(r, "conv_3", "bn_3", y, (swg_conv){EXPANSION * width, 1, 1, 0});
  if (project) x = conv_norm(r, "shortcut", "shortcut_bn", x, (swg_conv){EXPANSION * width, 1, stride, 0});
  return swg_relu(b, "relu_3", swg_binary(b, SW_OP_ADD, "sum", y, x));
}

sw_rc swg_build_resnet(const swg_config *c, sw_graph **out, sw_diag *d) {
  const int *depth = depths_of(swg_get(c, SW_GEN_LAYERS));
  if (!depth) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "layers is %lld; expected 14, 26, 50, 101 or 152",
                         (long long)swg_get(c, SW_GEN_LAYERS));
  }
  resnet r = {.images = swg_images_of(c), .training = swg_training(c)};
  swg_builder *b = &r.b;
  SW_TRY(swg_check_divides(c, SW_GEN_BATCH, SW_GEN_BATCH_GROUPS, d));
  if (r.training) r.parts = swg_get(c, SW_GEN_BATCH_GROUPS);
  SW_TRY(swg_begin(b, c->name, swg_dtype(c), d));
  int64_t width = swg_get(c, SW_GEN_HIDDEN);
  sw_id x = swg_image_input(b, c, &r.images);
  x = swg_relu(b, "stem_relu", conv_norm(&r, "stem", "stem_bn", x, (swg_conv){width, 7, 2, 3}));
  x = swg_max_pool(b, "pool", &r.images, x, r.training);
  for (int s = 0; s < STAGES; s++) {
    for (int i = 0; i < depth[s] && !b->rc; i++) {
      swg_enter(b, "stage.%d.%d", s, i);
      x = bottleneck(&r, x, width << s, s > 0 && i == 0 ? 2 : 1, i == 0);
      swg_leave(b);
    }
  }
  x = swg_mean_pool(b, "mean", &r.images, x);
  swg_finish_logits(b, c, swg_dense(b, "fc", x, swg_get(c, SW_GEN_CLASSES), true));
  return swg_finish(b, out);
}

sw_rc swg_build_conv(const swg_config *c, sw_graph **out, sw_diag *d) {
  swg_images images = swg_images_of(c);
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  const swg_conv conv = {swg_get(c, SW_GEN_HIDDEN), 3, 1, 1};
  sw_id x = swg_image_input(&b, c, &images);
  for (int i = 0; i < swg_get(c, SW_GEN_LAYERS) && !b.rc; i++) {
    swg_enter(&b, "layers.%d", i);
    x = swg_relu(&b, "relu", swg_convolution(&b, "conv", &images, x, &conv, NULL));
    swg_leave(&b);
  }
  x = swg_mean_pool(&b, "mean", &images, x);
  swg_finish_logits(&b, c, swg_dense(&b, "fc", x, swg_get(c, SW_GEN_CLASSES), true));
  return swg_finish(&b, out);
}
