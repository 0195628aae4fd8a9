/* The state of writing an SPMD program as MLIR. */
#ifndef MLIR_EMIT_EMIT_SPMD_H_
#define MLIR_EMIT_EMIT_SPMD_H_

#include "mlir/emit/mlir.h"
#include "shardwright/emit.h"
#include "shardwright/spmd.h"

typedef struct sw_spmd_writer {
  sw_mlir w;
  const sw_spmd *spmd;
  sw_spmd_dialect dialect;
  int64_t n_channels;         /* of StableHLO's collectives */
  SW_ARRAY(char *) externals; /* declarations of the functions called, without names: @shardwright.exchange_I is I */
} sw_spmd_writer;

/* Index of the device in its groups over refs, a tensor<i64>. */
sw_ssa sw_spmd_group_index(sw_spmd_writer *s, const sw_axis_ref *refs, int n);
/* The op at place `at` of the main block, which is a WHILE or CASE, with all that it holds and its joins; *next is what
 * comes behind. */
SW_CHECKED sw_rc sw_spmd_write_control(sw_spmd_writer *s, int32_t at, int32_t *next, sw_diag *d);
/* Ops [from, to) of the main block. */
SW_CHECKED sw_rc sw_spmd_write_ops(sw_spmd_writer *s, int32_t from, int32_t to, sw_diag *d);

/* Cut the grid where axes of a collective begin and end. */
SW_CHECKED sw_rc sw_spmd_use_axes(sw_spmd_writer *s, const sw_collective *c, sw_diag *d);
sw_rc sw_spmd_write_collective(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out, sw_diag *d);

/* In Shardy's dialect: the op that gives result `x` says that it lies as `value` of the program does; in others
 * nothing. Notes last until the next op. */
SW_CHECKED sw_rc sw_spmd_add_result_sharding(sw_spmd_writer *s, sw_ssa x, sw_id value, sw_diag *d);

#endif
