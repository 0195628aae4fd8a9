/* Parts of image models (vision.h). */
#include "gen/vision.h"

swg_images swg_images_of(const swg_config *c) {
  static const swg_images kImages[] = {[SWG_NCHW] = {"bf01", 1, 2, 3}, [SWG_NHWC] = {"b01f", 3, 1, 2}};
  return kImages[c->v[SW_GEN_LAYOUT]];
}

sw_id swg_image_input(swg_builder *b, const swg_config *c, const swg_images *im) {
  swg_shape shape = {.n = 4};
  shape.at[0] = swg_get(c, SW_GEN_BATCH);
  shape.at[im->channel] = swg_get(c, SW_GEN_CHANNELS);
  shape.at[im->rows] = shape.at[im->columns] = swg_get(c, SW_GEN_IMAGE);
  return swg_arg(b, "image", SW_VALUE_INPUT, b->dtype, shape);
}

sw_id swg_convolution(swg_builder *b, const char *name, const swg_images *im, sw_id x, const swg_conv *conv,
                      const char *out_layout) {
  swg_shape in = swg_shape_of(b, x);
  swg_enter(b, "%s", name);
  sw_id w = swg_param(b, "w", SWG_SHAPE(conv->filters, in.at[im->channel], conv->size, conv->size));
  swg_leave(b);
  return swg_op(b, SW_OP_CONVOLUTION, name, SWG_IDS(x, w),
                SWG_ATTRS(SWG_TEXT(LHS_LAYOUT, im->layout), SWG_TEXT(RHS_LAYOUT, "oi01"),
                          SWG_TEXT(OUT_LAYOUT, out_layout ? out_layout : im->layout),
                          SWG_INTS(STRIDES, conv->stride, conv->stride), SWG_INTS(PAD_LOW, conv->pad, conv->pad),
                          SWG_INTS(PAD_HIGH, conv->pad, conv->pad)));
}

sw_id swg_mean_pool(swg_builder *b, const char *name, const swg_images *im, sw_id x) {
  swg_shape shape = swg_shape_of(b, x);
  double count = (double)shape.at[im->rows] * (double)shape.at[im->columns];
  swg_enter(b, "%s", name);
  sw_id sum = swg_reduce(b, "sum", "sum", x, SWG_SHAPE(im->rows, im->columns));
  swg_leave(b);
  return swg_scale(b, name, sum, 1 / count);
}

/* Every second element of `x` along rows and columns, beginning at (row, column), `out` of them. */
static sw_id every_second(swg_builder *b, const swg_images *im, sw_id x, const int64_t at[2], const int64_t out[2]) {
  swg_shape start = {.n = 4}, limit = swg_shape_of(b, x), strides = SWG_SHAPE(1, 1, 1, 1);
  const int dims[2] = {im->rows, im->columns};
  for (int i = 0; i < 2; i++) {
    start.at[dims[i]] = at[i];
    limit.at[dims[i]] = at[i] + 2 * (out[i] - 1) + 1;
    strides.at[dims[i]] = 2;
  }
  char name[32];
  snprintf(name, sizeof name, "slice_%d%d", (int)at[0], (int)at[1]);
  return swg_op(
      b, SW_OP_SLICE, name, SWG_IDS(x),
      SWG_ATTRS(SWG_INTS_N(START, start.at, 4), SWG_INTS_N(LIMIT, limit.at, 4), SWG_INTS_N(STRIDES, strides.at, 4)));
}

static sw_id max_of_slices(swg_builder *b, const char *name, const swg_images *im, sw_id x) {
  swg_shape shape = swg_shape_of(b, x), ring = {.n = 4};
  if (shape.n != 4) return -1;
  ring.at[im->rows] = ring.at[im->columns] = 1;
  const int64_t out[2] = {(shape.at[im->rows] - 1) / 2 + 1, (shape.at[im->columns] - 1) / 2 + 1};
  swg_enter(b, "%s", name);
  sw_id least = swg_splat(b, "least", sw_reduction_identity(SW_REDUCE_MAX, b->dtype), b->dtype, SWG_SCALAR);
  sw_id padded = swg_op(b, SW_OP_PAD, "padded", SWG_IDS(x, least),
                        SWG_ATTRS(SWG_INTS_N(LOW, ring.at, 4), SWG_INTS_N(HIGH, ring.at, 4)));
  sw_id max = every_second(b, im, padded, (const int64_t[]){0, 0}, out);
  for (int i = 1; i < 9; i++) {
    sw_id next = every_second(b, im, padded, (const int64_t[]){i / 3, i % 3}, out);
    char part[16];
    snprintf(part, sizeof part, "max_%d", i);
    max = swg_binary(b, SW_OP_MAXIMUM, part, max, next);
  }
  swg_leave(b);
  return max;
}

sw_id swg_max_pool(swg_builder *b, const char *name, const swg_images *im, sw_id x, bool training) {
  if (training) return max_of_slices(b, name, im, x);
  swg_shape window = SWG_SHAPE(1, 1, 1, 1), strides = window, ring = {.n = 4};
  window.at[im->rows] = window.at[im->columns] = 3;
  strides.at[im->rows] = strides.at[im->columns] = 2;
  ring.at[im->rows] = ring.at[im->columns] = 1;
  return swg_op(b, SW_OP_REDUCE_WINDOW, name, SWG_IDS(x),
                SWG_ATTRS(SWG_TEXT(KIND, "max"), SWG_INTS_N(WINDOW, window.at, 4), SWG_INTS_N(STRIDES, strides.at, 4),
                          SWG_INTS_N(PAD_LOW, ring.at, 4), SWG_INTS_N(PAD_HIGH, ring.at, 4)));
}

/* (x - mean) / sqrt(variance + 1e-5), by part of the batch and channel. */
static sw_id normalise(swg_builder *b, const swg_images *im, sw_id x, int64_t parts) {
  const swg_shape whole = swg_shape_of(b, x);
  swg_shape shape = whole, others = {0}, left = {0};
  const int at = parts > 1; /* where the batch of a part is; parts are in front of it */
  double share = 1;
  shape.n += at;
  for (int i = shape.n - 1; i > at; i--) shape.at[i] = whole.at[i - at];
  shape.at[0] = at ? parts : whole.at[0];
  if (at) shape.at[1] = whole.at[0] / parts;
  for (int i = 0; i < shape.n; i++) {
    const bool stays = i == im->channel + at || i < at;
    swg_shape *to = stays ? &left : &others;
    to->at[to->n++] = i;
    share /= stays ? 1 : (double)shape.at[i];
  }
  if (at) x = swg_reshape(b, "parts", x, shape);
  sw_id mean = swg_scale(b, "mean", swg_reduce(b, "sum", "sum", x, others), share);
  sw_id centred = swg_binary(b, SW_OP_SUBTRACT, "centred", x, swg_broadcast(b, "mean_wide", mean, shape, left));
  sw_id squares = swg_binary(b, SW_OP_MULTIPLY, "squares", centred, centred);
  sw_id variance = swg_scale(b, "variance", swg_reduce(b, "squares_sum", "sum", squares, others), share);
  sw_id inverse = swg_unary(b, SW_OP_RSQRT, "inverse", swg_shift(b, "variance_up", variance, 1e-5));
  sw_id wide = swg_broadcast(b, "inverse_wide", inverse, shape, left);
  sw_id normal = swg_binary(b, SW_OP_MULTIPLY, at ? "normal_parts" : "normal", centred, wide);
  return at ? swg_reshape(b, "normal", normal, whole) : normal;
}

sw_id swg_batch_norm(swg_builder *b, const char *name, const swg_images *im, sw_id x, int64_t parts) {
  swg_shape shape = swg_shape_of(b, x), channel = SWG_SHAPE(im->channel);
  int64_t n = shape.at[im->channel];
  swg_enter(b, "%s", name);
  sw_id scale = swg_param(b, "scale", SWG_SHAPE(n)), shift = swg_param(b, "shift", SWG_SHAPE(n));
  if (parts) x = normalise(b, im, x, parts);
  sw_id scaled = swg_binary(b, SW_OP_MULTIPLY, "scaled", x, swg_broadcast(b, "scale_wide", scale, shape, channel));
  sw_id wide = swg_broadcast(b, "shift_wide", shift, shape, channel);
  swg_leave(b);
  return swg_binary(b, SW_OP_ADD, name, scaled, wide);
}

sw_id swg_relu(swg_builder *b, const char *name, sw_id x) {
  swg_enter(b, "%s", name);
  sw_id zero = swg_splat_like(b, "zero", 0, x);
  swg_leave(b);
  return swg_binary(b, SW_OP_MAXIMUM, name, x, zero);
}
