/* Writing an SPMD program op by op: what the lowering rules use. */
#ifndef SPMD_SPMD_EMIT_H_
#define SPMD_SPMD_EMIT_H_

#include "base/array.h"
#include "base/hash.h"
#include "shardwright/spmd.h"

enum { SW_EMIT_ATTRS = 24 };

/* The state of a partition. One op of the model is lowered at a time. */
typedef struct sw_emit {
  const sw_plan *plan;
  const sw_graph *model;
  const sw_mesh *mesh;
  sw_graph *program;
  SW_ARRAY(sw_layout) layouts; /* by program value */
  SW_ARRAY(sw_origin) origins; /* by program op */
  sw_origin now;
  sw_arena scratch;
  int64_t counter; /* for names */
  /* The op at hand: */
  const sw_op *op;
  const sw_strategy *strategy;
  sw_id *in;                     /* local operands, blocks as the strategy wants them */
  bool wide;                     /* results are held in f32, narrower though they are */
  bool *windowed;                /* per operand: `in` is a window already */
  sw_id results[SW_MAX_RESULTS]; /* filled by the rule */
} sw_emit;

/* Attributes under construction. */
typedef struct sw_attrs {
  int n;
  sw_attr at[SW_EMIT_ATTRS];
} sw_attrs;
void sw_attrs_copy(const sw_op *op, sw_attrs *out); /* those of the op */
void sw_attrs_int(sw_attrs *a, sw_attr_key k, int64_t v);
void sw_attrs_ints(sw_attrs *a, sw_attr_key k, const int64_t *v, int n); /* v borrowed until the op is emitted */

static inline const sw_type *sw_emit_type(const sw_emit *e, sw_id v) { return &e->program->values[v].type; }

/* Append one op with one result and no layout; name is "<op at hand>.<suffix>" made unique. */
sw_rc sw_emit_op(sw_emit *e, sw_opcode code, const sw_id *operands, int n, const sw_attrs *attrs, sw_id *out,
                 sw_diag *d);
/* The same with all results (ids in out[0..n_results)). */
sw_rc sw_emit_op_n(sw_emit *e, sw_opcode code, const sw_id *operands, int n, const sw_attrs *attrs, sw_id *out,
                   sw_diag *d);
/* The op itself on the operands at hand, with other attributes; results into e->results. */
static inline sw_rc sw_emit_with(sw_emit *e, const sw_attrs *attrs, sw_diag *d) {
  return sw_emit_op_n(e, e->op->code, e->in, e->op->n_operands, attrs, e->results, d);
}
/* GENERIC and OPAQUE: the given op's loop nest and result types, on the operands at hand; results into e->results. */
sw_rc sw_emit_typed(sw_emit *e, const sw_op *op, const sw_attrs *attrs, const sw_type *types, sw_diag *d);
/* The op at hand under its own names, on the operands at hand: nothing is cut. */
sw_rc sw_emit_same(sw_emit *e, sw_diag *d);
sw_rc sw_emit_binary(sw_emit *e, sw_opcode code, sw_id a, sw_id b, sw_id *out, sw_diag *d);
sw_rc sw_emit_compare(sw_emit *e, const char *direction, sw_id a, sw_id b, sw_id *out, sw_diag *d);
sw_rc sw_emit_select(sw_emit *e, sw_id pred, sw_id a, sw_id b, sw_id *out, sw_diag *d);
sw_rc sw_emit_convert(sw_emit *e, sw_id x, sw_dtype t, sw_id *out, sw_diag *d);
/* A rank-0 constant. */
sw_rc sw_emit_scalar(sw_emit *e, sw_dtype t, double v, sw_id *out, sw_diag *d);
sw_rc sw_emit_identity(sw_emit *e, sw_dtype t, sw_reduction kind, sw_id *out, sw_diag *d);
/* x spread over `rank` dims: x's dim i becomes dims[i]. */
sw_rc sw_emit_broadcast(sw_emit *e, sw_id x, int rank, const int64_t *shape, const int64_t *dims, sw_id *out,
                        sw_diag *d);
sw_rc sw_emit_iota(sw_emit *e, sw_dtype t, int rank, const int64_t *shape, int dim, sw_id *out, sw_diag *d);
sw_rc sw_emit_reduce(sw_emit *e, sw_id x, sw_reduction kind, int dim, sw_id *out, sw_diag *d); /* dim kept, extent 1 */
/* base + step * index over refs, a scalar. */
sw_rc sw_emit_shard_start(sw_emit *e, sw_dtype t, const sw_axis_ref *refs, int n, int64_t base, int64_t step,
                          sw_id *out, sw_diag *d);

/* Keep positions r of `dim` with start <= base + step * index + r < limit; others from `otherwise`. */
typedef struct sw_mask {
  int dim;
  const sw_axis_ref *refs;
  int n_refs;
  int64_t base, step, start, limit;
} sw_mask;
sw_rc sw_emit_mask(sw_emit *e, sw_id x, sw_id otherwise, const sw_mask *m, sw_id *out, sw_diag *d);

/* A collective on x; `dims` is the local result shape. The descriptor and its tilings are copied. */
sw_rc sw_emit_collective(sw_emit *e, sw_id x, const sw_collective *c, const int64_t *dims, sw_id *out, sw_diag *d);
/* The tilings that a descriptor points to, in the arena. */
sw_rc sw_emit_keep_tilings(sw_collective *c, sw_arena *arena, sw_diag *d);
sw_rc sw_emit_all_gather(sw_emit *e, sw_id x, const sw_axis_ref *axes, int n, int dim, sw_id *out, sw_diag *d);

/* The mesh on which every device of a group over the axes sits where its source does: what an exchange that moves whole
 * blocks between devices arrives on. sources: by index in the group. In the scratch arena. */
sw_rc sw_emit_mesh_of_sources(sw_emit *e, const sw_axis_ref *refs, int n, const int64_t *sources,
                              const sw_other_mesh **out, sw_diag *d);

/* --- the op at hand ---------------------------------------------------------------------------------------------- */

/* Axes that cut one of its loops, and the elements per device. */
static inline const sw_axis_ref *sw_emit_loop(const sw_emit *e, int loop, int *n) {
  return sw_strategy_loop(e->strategy, loop, n);
}
static inline int64_t sw_emit_block(const sw_emit *e, int loop) {
  return sw_strategy_block(e->op->nest, e->strategy, loop);
}
static inline bool sw_emit_is_cut(const sw_emit *e, int loop) {
  int n;
  (void)sw_strategy_loop(e->strategy, loop, &n);
  return n > 0;
}
/* The loop that dimension `dim` of map `map` follows by itself (index = loop), or -1. */
int sw_emit_loop_of_dim(const sw_emit *e, int map, int dim);
/* The loop of the dimension that is cut, or -1; *coef its coefficient. */
int sw_emit_cut_loop_of_dim(const sw_emit *e, int map, int dim);
/* Local extents of result i of the op. */
void sw_emit_result_dims(const sw_emit *e, int i, int64_t *dims);

/* Replace padding along every dimension of operand i that follows a padded loop of the given kinds (bit set of 1 <<
 * sw_loop_kind) by the neutral element of `kind`. */
sw_rc sw_emit_neutralise(sw_emit *e, int operand, unsigned loop_kinds, sw_reduction kind, sw_diag *d);
/* The same by any element, of the operand's dtype. */
sw_rc sw_emit_fill_padding(sw_emit *e, int operand, unsigned loop_kinds, const void *element, sw_diag *d);
/* Bring operand i into its window when the strategy needs one: by an exchange, or from the halo that is there; outside
 * the tensor stands `fill` (NULL: poison). */
sw_rc sw_emit_window(sw_emit *e, int operand, const double *fill, sw_diag *d);

/* --- lowering rules: rules.c has the table ----------------------------------------------------------------------- */

typedef sw_rc (*sw_lower)(sw_emit *e, sw_diag *d);
sw_rc sw_lower_op(sw_emit *e, sw_diag *d); /* by the opcode of e->op */
/* Is the local op the model's, on blocks of whatever size, when a parallel loop is cut? (Of what names its shape the
 * shape changes, too.) */
bool sw_op_runs_on_blocks(sw_opcode c);

#define SW_COLUMN_LOCAL(id, local, blocks) sw_rc sw_lower_##local(sw_emit *e, sw_diag *d);
#include "shardwright/ops.def"

#endif
