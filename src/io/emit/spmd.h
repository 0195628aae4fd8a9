/* The state of writing an SPMD program as MLIR. */
#ifndef IO_EMIT_SPMD_H_
#define IO_EMIT_SPMD_H_

#include "io/emit/mlir.h"
#include "shardwright/spmd.h"

typedef struct sw_spmd_writer {
  sw_mlir w;
  const sw_spmd *spmd;
  SW_ARRAY(char *) externals; /* declarations of the functions called, without names: @shardwright.exchange_I is I */
} sw_spmd_writer;

/* Index of the device in its groups over refs, an i64 of the arith dialect; a name. */
const char *sw_spmd_group_index(sw_spmd_writer *s, const sw_axis_ref *refs, int n);

sw_rc sw_spmd_write_collective(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out, sw_diag *d);

#endif
