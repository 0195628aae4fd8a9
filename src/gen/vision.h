/* Convolutions and images in either order of dimensions. */
#ifndef GEN_VISION_H_
#define GEN_VISION_H_

#include "gen/arch.h"

typedef struct swg_images {
  const char *layout; /* "bf01" or "b01f" */
  int channel;        /* dim of the channels */
  int rows, columns;  /* dims of the picture */
} swg_images;

swg_images swg_images_of(const swg_config *c);
/* Input "image" as the parameters say. */
sw_id swg_image_input(swg_builder *b, const swg_config *c, const swg_images *im);

typedef struct swg_conv {
  int64_t filters, size, stride, pad;
} swg_conv;

/* Parameter NAME.w [filters, channels, size, size]; no bias. `out_layout` NULL: as the input. */
sw_id swg_convolution(swg_builder *b, const char *name, const swg_images *im, sw_id x, const swg_conv *conv,
                      const char *out_layout);
/* Mean over the picture: [batch, channels]. */
sw_id swg_mean_pool(swg_builder *b, const char *name, const swg_images *im, sw_id x);
/* Windows of 3x3 with stride 2 and one row of padding. In training it is written as the maximum of nine slices, which
 * has a derivative. */
sw_id swg_max_pool(swg_builder *b, const char *name, const swg_images *im, sw_id x, bool training);
/* x * scale + shift by channel: batch norm with its statistics folded in. parts > 0: x is first normalised by the mean
 * and variance over batch and picture of each of so many equal parts of the batch. Parameters NAME.scale and
 * NAME.shift.
 */
sw_id swg_batch_norm(swg_builder *b, const char *name, const swg_images *im, sw_id x, int64_t parts);
sw_id swg_relu(swg_builder *b, const char *name, sw_id x);

#endif
