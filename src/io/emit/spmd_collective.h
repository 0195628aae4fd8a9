/* Collectives that need more than a line or two in the shard dialect. */
#ifndef IO_EMIT_SPMD_COLLECTIVE_H_
#define IO_EMIT_SPMD_COLLECTIVE_H_

#include "io/emit/spmd.h"

void sw_spmd_all_to_all_dims(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out);

#endif
