/* Diffusion U-Net (Ho et al. 2020, arXiv:2006.11239, appendix B): residual blocks at four sizes, down and up again,
 * with what went down beside what comes up, and attention at half the size. Images are [batch, rows, columns,
 * channels].
 *
 *   block(x, time) = x + conv(silu(norm(conv(silu(norm(x))) + dense(silu(time)))))
 *                    where widths differ x by a 1x1 convolution
 *   down             block, block, halve at widths 1, 2, 2, 2 times hidden
 *   up               block, block, block, double
 *
 * Norms are over groups of channels. A size is halved by a strided convolution, doubled by taking each element twice.
 */
#include <math.h>

#include "gen/diffusion.h"
#include "gen/transformer.h"
#include "gen/vision.h"

enum { LEVELS = 4, BLOCKS = 2, KEPT = LEVELS * (BLOCKS + 1) };

static const int64_t kWidths[LEVELS] = {1, 2, 2, 2};
static const swg_images kImages = {"b01f", 3, 1, 2};

typedef struct unet {
  int64_t batch, width, groups, image;
  sw_id time; /* silu of the time's embedding, [batch, 4 width] */
  sw_id kept[KEPT];
  int n_kept;
} unet;

static int64_t channels_of(const swg_builder *b, sw_id x) {
  swg_shape shape = swg_shape_of(b, x);
  return shape.at[shape.n - 1];
}

static sw_id convolve_with_bias(swg_builder *b, const char *name, sw_id x, int64_t to, int64_t size, int64_t stride) {
  const swg_conv conv = {to, size, stride, size / 2};
  if (b->rc) return -1;
  sw_id y = swg_convolution(b, name, &kImages, x, &conv, NULL);
  swg_enter(b, "%s", name);
  y = swg_add_rows(b, "biased", y, swg_param(b, "bias", SWG_SHAPE(to)));
  swg_leave(b);
  return y;
}

/* (x - mean) / sqrt(variance + 1e-6) over a group's channels and places, times a weight, plus a bias of each channel.
 */
static sw_id group_norm(swg_builder *b, const unet *m, const char *name, sw_id x) {
  swg_shape shape = swg_shape_of(b, x), grouped = shape;
  if (b->rc || shape.n != 4) return -1;
  int64_t channels = shape.at[3];
  grouped.n = 5;
  grouped.at[3] = m->groups;
  grouped.at[4] = channels / m->groups;
  double part = 1 / ((double)shape.at[1] * (double)shape.at[2] * (double)grouped.at[4]);
  const swg_shape summed = SWG_SHAPE(1, 2, 4), left = SWG_SHAPE(0, 3);
  swg_enter(b, "%s", name);
  sw_id in = swg_reshape(b, "groups", x, grouped);
  sw_id mean = swg_scale(b, "mean", swg_reduce(b, "sum", "sum", in, summed), part);
  sw_id centred = swg_binary(b, SW_OP_SUBTRACT, "centred", in, swg_broadcast(b, "mean_wide", mean, grouped, left));
  sw_id squares = swg_binary(b, SW_OP_MULTIPLY, "squares", centred, centred);
  sw_id variance = swg_scale(b, "variance", swg_reduce(b, "squares_sum", "sum", squares, summed), part);
  sw_id inverse = swg_unary(b, SW_OP_RSQRT, "inverse", swg_shift(b, "variance_up", variance, 1e-6));
  sw_id normal =
      swg_binary(b, SW_OP_MULTIPLY, "normal", centred, swg_broadcast(b, "inverse_wide", inverse, grouped, left));
  sw_id back = swg_reshape(b, "back", normal, shape);
  sw_id scale = swg_trailing(b, "weight_wide", swg_param(b, "weight", SWG_SHAPE(channels)), back);
  sw_id scaled = swg_binary(b, SW_OP_MULTIPLY, "scaled", back, scale);
  sw_id y = swg_add_rows(b, "biased", scaled, swg_param(b, "bias", SWG_SHAPE(channels)));
  swg_leave(b);
  return y;
}

static sw_id silu(swg_builder *b, const char *name, sw_id x) {
  return swg_op(b, SW_OP_SILU, name, SWG_IDS(x), SWG_NONE);
}

static sw_id residual_block(swg_builder *b, const unet *m, const char *name, sw_id x, int64_t to) {
  swg_enter(b, "%s", name);
  sw_id y = convolve_with_bias(b, "conv_1", silu(b, "act_1", group_norm(b, m, "norm_1", x)), to, 3, 1);
  sw_id time = swg_dense(b, "time", m->time, to, true);
  y = swg_binary(b, SW_OP_ADD, "timed", y, swg_broadcast(b, "time_wide", time, swg_shape_of(b, y), SWG_SHAPE(0, 3)));
  y = convolve_with_bias(b, "conv_2", silu(b, "act_2", group_norm(b, m, "norm_2", y)), to, 3, 1);
  if (channels_of(b, x) != to) x = swg_dense(b, "short", x, to, true);
  x = swg_binary(b, SW_OP_ADD, "sum", x, y);
  swg_leave(b);
  return x;
}

/* x + attention of one head over all places of norm(x). */
static sw_id attend_places(swg_builder *b, const unet *m, const char *name, sw_id x) {
  swg_shape shape = swg_shape_of(b, x);
  if (b->rc || shape.n != 4) return -1;
  int64_t channels = shape.at[3];
  swg_enter(b, "%s", name);
  sw_id in = swg_reshape(b, "places", group_norm(b, m, "norm", x),
                         SWG_SHAPE(shape.at[0], shape.at[1] * shape.at[2], channels));
  sw_id q = swg_dense(b, "q", in, channels, true), k = swg_dense(b, "k", in, channels, true);
  sw_id v = swg_dense(b, "v", in, channels, true);
  sw_id scores =
      swg_einsum(b, "scores", "bqc,bsc->bqs", SWG_IDS(swg_scale(b, "scaled", q, 1 / sqrt((double)channels)), k));
  sw_id weights = swg_op(b, SW_OP_SOFTMAX, "weights", SWG_IDS(scores), SWG_NONE);
  sw_id mix = swg_dense(b, "o", swg_einsum(b, "mix", "bqs,bsc->bqc", SWG_IDS(weights, v)), channels, true);
  x = swg_binary(b, SW_OP_ADD, "sum", x, swg_reshape(b, "grid", mix, shape));
  swg_leave(b);
  return x;
}

/* Each element four times, in a square. */
static sw_id upsample_twice(swg_builder *b, sw_id x) {
  swg_shape s = swg_shape_of(b, x);
  if (b->rc || s.n != 4) return -1;
  sw_id wide =
      swg_broadcast(b, "twice_wide", x, SWG_SHAPE(s.at[0], s.at[1], 2, s.at[2], 2, s.at[3]), SWG_SHAPE(0, 1, 3, 5));
  return swg_reshape(b, "twice", wide, SWG_SHAPE(s.at[0], 2 * s.at[1], 2 * s.at[2], s.at[3]));
}

static void keep_for_skip(unet *m, sw_id x) { m->kept[m->n_kept++] = x; }

static sw_id go_down(swg_builder *b, unet *m, sw_id x) {
  char name[32];
  keep_for_skip(m, x);
  for (int level = 0; level < LEVELS; level++) {
    swg_enter(b, "down.%d", level);
    for (int i = 0; i < BLOCKS; i++) {
      snprintf(name, sizeof name, "block.%d", i);
      x = residual_block(b, m, name, x, m->width * kWidths[level]);
      snprintf(name, sizeof name, "attn.%d", i);
      if (level == 1) x = attend_places(b, m, name, x);
      keep_for_skip(m, x);
    }
    if (level + 1 < LEVELS) keep_for_skip(m, x = convolve_with_bias(b, "halve", x, channels_of(b, x), 3, 2));
    swg_leave(b);
  }
  return x;
}

static sw_id go_up(swg_builder *b, unet *m, sw_id x) {
  char name[32];
  for (int level = LEVELS; level-- > 0;) {
    swg_enter(b, "up.%d", level);
    for (int i = 0; i <= BLOCKS; i++) {
      snprintf(name, sizeof name, "joined.%d", i);
      sw_id beside = m->kept[--m->n_kept];
      x = swg_concatenate(b, name, 3, SWG_IDS(x, beside));
      snprintf(name, sizeof name, "block.%d", i);
      x = residual_block(b, m, name, x, m->width * kWidths[level]);
      snprintf(name, sizeof name, "attn.%d", i);
      if (level == 1) x = attend_places(b, m, name, x);
    }
    if (level > 0) x = convolve_with_bias(b, "double", upsample_twice(b, x), channels_of(b, x), 3, 1);
    swg_leave(b);
  }
  return x;
}

sw_rc swg_build_unet(const swg_config *c, sw_graph **out, sw_diag *d) {
  enum { HALVES = 1 << (LEVELS - 1) };
  unet m = {.batch = swg_get(c, SW_GEN_BATCH),
            .width = swg_get(c, SW_GEN_HIDDEN),
            .groups = swg_get(c, SW_GEN_GROUPS),
            .image = swg_get(c, SW_GEN_IMAGE)};
  int64_t channels = swg_get(c, SW_GEN_CHANNELS);
  SW_TRY(swg_check_divides(c, SW_GEN_HIDDEN, SW_GEN_GROUPS, d));
  if (m.image % HALVES)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "image %lld is not a multiple of %d", (long long)m.image, (int)HALVES);
  if (m.width % 2) return SW_FAIL_INPUT(d, SW_NOWHERE, "hidden %lld is odd", (long long)m.width);
  swg_builder b;
  SW_TRY(swg_begin_model(&b, c, d));
  sw_id image = swg_arg(&b, "image", SW_VALUE_INPUT, b.dtype, SWG_SHAPE(m.batch, m.image, m.image, channels));
  sw_id t = swg_arg(&b, "t", SW_VALUE_INPUT, SW_F32, SWG_SHAPE(m.batch));
  sw_id waves = swg_time_waves(&b, "waves", t, m.width);
  m.time = silu(&b, "time_act", swg_time_embedding(&b, "time", waves, 4 * m.width));
  sw_id x = go_down(&b, &m, convolve_with_bias(&b, "first", image, m.width, 3, 1));
  x = attend_places(&b, &m, "middle.attn", residual_block(&b, &m, "middle.0", x, channels_of(&b, x)));
  x = go_up(&b, &m, residual_block(&b, &m, "middle.1", x, channels_of(&b, x)));
  x = silu(&b, "last_act", group_norm(&b, &m, "last_norm", x));
  swg_finish_values(&b, c, convolve_with_bias(&b, "last", x, channels, 3, 1));
  return swg_finish(&b, out);
}
