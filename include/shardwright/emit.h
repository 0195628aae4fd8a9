/* Plans in the forms that compilers and frameworks read. What a form cannot say is written as a documented discardable
 * attribute, or refused by name. */
#ifndef SHARDWRIGHT_EMIT_H_
#define SHARDWRIGHT_EMIT_H_

#include "shardwright/spmd.h"

/* A form, what it is written into, and what its readers want cut into equal blocks. */
typedef struct sw_plan_form {
  const char *kind;
  bool in_program; /* shardings in the text that was read: by sw_program_emit, else by sw_emit_plan */
  sw_even even;
  bool even_alone; /* what is required to be uneven all the same is refused */
} sw_plan_form;
/* NULL: there is no such form. */
SW_API const sw_plan_form *sw_plan_form_find(const char *kind);

/* Whose collectives a device's program is written with. */
typedef enum sw_spmd_dialect {
  SW_SPMD_SHARD,       /* the shard dialect: axes of a grid */
  SW_SPMD_STABLEHLO,   /* StableHLO: lists of partitions; partition i is the device at position i of the mesh */
  SW_SPMD_SDY,         /* Shardy: whole tensors, every reshard an op that changes the sharding (sw_partition_whole) */
  SW_SPMD_CONSTRAINTS, /* likewise, but reshards and results are constraints: what XLA obeys */
} sw_spmd_dialect;

/* `kind`: "shard" (MLIR: the model with annotations of the shard dialect), "spmd" (MLIR: the program of one device with
 * its collectives; docs/emitted-forms.md), "spmd-stablehlo" (the same in StableHLO alone), "spmd-sdy" (in Shardy's
 * dialect), "jax" (Python: a PartitionSpec per value), "dtensor" (Python: placements per value). */
SW_API SW_CHECKED sw_rc sw_emit_plan(const sw_plan *plan, const char *kind, sw_text *out, sw_diag *d);

/* The parts of it. SW_E_INPUT when axes are used in parts that no grid of whole axes can stand for. */
SW_API SW_CHECKED sw_rc sw_emit_shard(const sw_plan *plan, sw_text *out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_emit_spmd(const sw_spmd *spmd, sw_spmd_dialect dialect, sw_text *out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_emit_jax(const sw_plan *plan, sw_text *out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_emit_dtensor(const sw_plan *plan, sw_text *out, sw_diag *d);

/* A route in Shardy's dialect, on whole tensors. SW_E_INPUT for what Shardy cannot say: offsets, halos, values partial
 * by other kinds than sum, two meshes. */
SW_API SW_CHECKED sw_rc sw_emit_route_sdy(const sw_reshard *wanted, const sw_route *route, sw_text *out, sw_diag *d);

#endif
