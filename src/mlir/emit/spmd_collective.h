/* Collectives that need more than a line or two in the shard dialect. */
#ifndef MLIR_EMIT_SPMD_COLLECTIVE_H_
#define MLIR_EMIT_SPMD_COLLECTIVE_H_

#include "mlir/emit/emit_spmd.h"

void sw_spmd_all_to_all_dims(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out);
/* The body of a function of %x that does an exchange by sends and receives; nothing is written where it would be long,
 * or a tensor has no dimensions. */
SW_CHECKED sw_rc sw_spmd_write_rounds(sw_spmd_writer *s, const sw_collective *c, sw_type in, sw_type out, sw_text *body,
                                      sw_diag *d);

/* StableHLO's form: this device's index over refs, an i64 scalar; the one line of a collective on blocks that divide;
 * an exchange, in rounds. */
sw_ssa sw_spmd_index_by_partition(sw_spmd_writer *s, const sw_axis_ref *refs, int n);
void sw_spmd_stablehlo_line(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out);
SW_CHECKED sw_rc sw_spmd_stablehlo_exchange(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out,
                                            sw_diag *d);

#endif
