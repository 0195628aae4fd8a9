/* Numbers of eight bits with scales (scaled.h). */
#include "gen/scaled.h"

#include <string.h>

enum { WIDEST_BLOCK = 256, WIDE_ENOUGH = 64 };
static const double kLeastAmount = 1e-12; /* so that a block of zeros has a scale, too */
static const double kLargest = 448, kLargestE5m2 = 57344;

static int64_t largest_divisor(int64_t n, int64_t most) {
  for (int64_t k = most < n ? most : n; k > 1; k--)
    if (n % k == 0) return k;
  return 1;
}

swg_blocks swg_blocks_of(swg_shape shape) {
  swg_blocks out = {.split = shape, .outer = shape.n};
  int64_t width = 1;
  while (out.outer > 0 && width < WIDE_ENOUGH) {
    const int64_t n = shape.at[out.outer - 1], inside = largest_divisor(n, WIDEST_BLOCK / width);
    const bool cut = inside < n;
    if (cut && (inside <= 1 || shape.n == SW_MAX_RANK)) break;
    if (cut) {
      swg_shape *s = &out.split;
      memmove(&s->at[out.outer], &s->at[out.outer - 1], (size_t)(s->n - out.outer + 1) * sizeof *s->at);
      s->at[out.outer - 1] = n / inside;
      s->at[out.outer] = inside;
      s->n++;
      break;
    }
    out.outer--;
    width *= inside;
  }
  return out;
}

swg_shape swg_blocks_scales(const swg_blocks *k) {
  swg_shape s = k->split;
  s.n = k->outer;
  return s;
}

/* The scales, where the elements are. */
static sw_id wide_scale(swg_builder *b, sw_id scale, sw_dtype t, const swg_blocks *k) {
  swg_shape dims = {.n = k->outer};
  for (int i = 0; i < dims.n; i++) dims.at[i] = i;
  return swg_broadcast(b, "scale_wide", swg_convert(b, "scale_as_used", scale, t), k->split, dims);
}

/* The largest magnitude over the dims, of type `kept`, and not 0. */
static sw_id amount_of(swg_builder *b, sw_id x, swg_shape dims, sw_dtype kept) {
  sw_id amount = swg_unary(b, SW_OP_ABS, "abs", x);
  if (dims.n) amount = swg_reduce(b, "amax", "max", amount, dims);
  amount = swg_convert(b, "amax_as_kept", amount, kept);
  return swg_binary(b, SW_OP_MAXIMUM, "amax_some", amount, swg_splat_like(b, "least", kLeastAmount, amount));
}

swg_scaled swg_scale_down(swg_builder *b, const char *name, sw_id x, const swg_blocks *k) {
  const swg_shape shape = swg_shape_of(b, x);
  const sw_dtype wide = sw_dtype_bytes(swg_type(b, x)->dtype) < sw_dtype_bytes(SW_F32) ? SW_F32 : swg_type(b, x)->dtype;
  swg_shape inside = {0};
  for (int i = k->outer; i < k->split.n; i++) inside.at[inside.n++] = i;
  swg_enter(b, "%s", name);
  sw_id split = swg_reshape(b, "split", x, k->split);
  sw_id scale = swg_scale(b, "scale", amount_of(b, split, inside, SW_F32), 1 / kLargest);
  sw_id share =
      swg_binary(b, SW_OP_DIVIDE, "share", swg_convert(b, "wide", split, wide), wide_scale(b, scale, wide, k));
  share = swg_reshape(b, "share_joined", share, shape);
  swg_leave(b);
  return (swg_scaled){swg_convert(b, name, share, SW_F8E4M3FN), scale};
}

sw_id swg_scale_up(swg_builder *b, const char *name, swg_scaled x, sw_dtype t, const swg_blocks *k) {
  const swg_shape shape = swg_shape_of(b, x.values);
  swg_enter(b, "%s", name);
  sw_id split = swg_convert(b, "wide", swg_reshape(b, "split", x.values, k->split), t);
  sw_id scale = wide_scale(b, x.scale, t, k);
  swg_leave(b);
  if (shape.n == k->split.n) return swg_binary(b, SW_OP_MULTIPLY, name, split, scale);
  swg_enter(b, "%s", name);
  sw_id product = swg_binary(b, SW_OP_MULTIPLY, "product", split, scale);
  swg_leave(b);
  return swg_reshape(b, name, product, shape);
}

/* --- one scale for a tensor --------------------------------------------------------------------------------------- */

sw_dtype swg_scaled_in(sw_dtype t) { return t == SW_F16 ? SW_F32 : t; }

/* x times a scalar, as op NAME. */
static sw_id multiply_by_scalar(swg_builder *b, const char *name, sw_id x, sw_id scalar) {
  const sw_dtype t = swg_type(b, x)->dtype;
  swg_enter(b, "%s", name);
  sw_id wide = swg_broadcast(b, "by", swg_convert(b, "by_as_used", scalar, t), swg_shape_of(b, x), SWG_SCALAR);
  swg_leave(b);
  return swg_binary(b, SW_OP_MULTIPLY, name, x, wide);
}

/* Rounding half as much again to no digits gives the power of two above; a little more, so that 7 times a power of two,
 * which integers are and the largest of the type is, is not where it jumps. */
static sw_id scale_of(swg_builder *b, sw_id x, sw_dtype narrow) {
  const double kAbove = 1.5 * (1 + 0x1p-10), largest = narrow == SW_F8E5M2 ? kLargestE5m2 : kLargest;
  const sw_dtype t = swg_type(b, x)->dtype == SW_F64 ? SW_F64 : SW_F32;
  swg_shape all = {.n = swg_type(b, x)->rank};
  for (int i = 0; i < all.n; i++) all.at[i] = i;
  sw_id share = swg_scale(b, "share", amount_of(b, x, all, t), kAbove / largest);
  return swg_op(b, SW_OP_REDUCE_PRECISION, "scale", SWG_IDS(share),
                SWG_ATTRS(SWG_INT(EXPONENT_BITS, t == SW_F64 ? 11 : 8), SWG_INT(MANTISSA_BITS, 0)));
}

sw_id swg_narrow_by(swg_builder *b, const char *name, sw_id x, sw_id inverse, sw_dtype narrow) {
  swg_function(b, name);
  swg_enter(b, "%s", name);
  sw_id share =
      multiply_by_scalar(b, "scaled", swg_convert(b, "wide", x, swg_scaled_in(swg_type(b, x)->dtype)), inverse);
  swg_leave(b);
  sw_id values = swg_convert(b, name, share, narrow);
  swg_function(b, NULL);
  return values;
}

swg_narrow swg_narrow_down(swg_builder *b, const char *name, sw_id x, sw_dtype narrow) {
  swg_function(b, name);
  swg_enter(b, "%s", name);
  sw_id scale = scale_of(b, x, narrow);
  sw_id inverse = swg_binary(b, SW_OP_DIVIDE, "inverse", swg_splat_like(b, "one", 1, scale), scale);
  swg_leave(b);
  return (swg_narrow){swg_narrow_by(b, name, x, inverse, narrow), scale, inverse};
}

sw_id swg_scale_by(swg_builder *b, const char *name, sw_id x, sw_id scale, sw_id other, sw_dtype t) {
  const bool last = swg_type(b, x)->dtype == t;
  swg_enter(b, "%s", name);
  if (other >= 0)
    scale = swg_binary(b, SW_OP_MULTIPLY, "scale", scale, swg_convert(b, "other", other, swg_type(b, scale)->dtype));
  sw_id y = last ? -1 : multiply_by_scalar(b, "scaled", x, scale);
  swg_leave(b);
  return last ? multiply_by_scalar(b, name, x, scale) : swg_convert(b, name, y, t);
}
