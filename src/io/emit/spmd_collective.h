/* Collectives that need more than a line or two in the shard dialect. */
#ifndef IO_EMIT_SPMD_COLLECTIVE_H_
#define IO_EMIT_SPMD_COLLECTIVE_H_

#include "io/emit/spmd.h"

void sw_spmd_all_to_all_dims(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out);
/* The body of a function of %x that does an exchange by sends and receives; nothing is written where it would be long,
 * or a tensor has no dimensions. */
SW_CHECKED sw_rc sw_spmd_write_rounds(sw_spmd_writer *s, const sw_collective *c, sw_type in, sw_type out, sw_text *body,
                                      sw_diag *d);

#endif
