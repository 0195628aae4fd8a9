/* Steps of routes as functions of StableHLO. */
#ifndef MLIR_EMIT_EMIT_WRITTEN_H_
#define MLIR_EMIT_EMIT_WRITTEN_H_

#include "mlir/emit/mlir.h"
#include "shardwright/collective.h"

/* "(%x: tensor<4x8xf32>) -> tensor<8x4xf32> { ... }": what a function that carries out the collective on a device's
 * block has behind its name. Its channels are *n_channels + 1, .. and *n_channels is the last one then. */
SW_CHECKED sw_rc sw_emit_written_hop(const sw_mesh *mesh, const sw_collective *c, const sw_type *in, const sw_type *out,
                                     int64_t *n_channels, sw_text *text, sw_diag *d);

#endif
