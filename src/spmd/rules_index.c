/* Ops that address a cut dimension by run-time indices: each device does what falls into its own block.
 *
 *   gather from a table cut over 4 devices: index - start of my block; inside [0, block): my row, else the neutral
 *   element; the result is partial.
 *   scatter into a cut tensor: index - start of my block; updates that miss the block are dropped by scatter itself.
 *   dynamic_slice / dynamic_update_slice of a cut dimension: likewise, position by position.
 */
#include <string.h>

#include "base/lists.h"
#include "spmd/spmd_emit.h"

static sw_rc broadcast_scalar(sw_emit *e, sw_id scalar, const sw_type *like, sw_id *out, sw_diag *d) {
  return sw_emit_broadcast(e, scalar, like->rank, like->dims, NULL, out, d);
}

static sw_rc start_of_block(sw_emit *e, int loop, sw_dtype t, sw_id *out, sw_diag *d) {
  int n;
  const sw_axis_ref *refs = sw_emit_loop(e, loop, &n);
  return sw_emit_shard_start(e, t, refs, n, 0, sw_emit_block(e, loop), out, d);
}

/* 0 <= x < n, elementwise. */
static sw_rc inside(sw_emit *e, sw_id x, int64_t n, sw_id *out, sw_diag *d) {
  sw_type type = *sw_emit_type(e, x);
  sw_id zero, end, ge, lt;
  SW_TRY(sw_emit_scalar(e, type.dtype, 0, &zero, d));
  SW_TRY(sw_emit_scalar(e, type.dtype, (double)n, &end, d));
  SW_TRY(broadcast_scalar(e, zero, &type, &zero, d));
  SW_TRY(broadcast_scalar(e, end, &type, &end, d));
  SW_TRY(sw_emit_compare(e, "ge", x, zero, &ge, d));
  SW_TRY(sw_emit_compare(e, "lt", x, end, &lt, d));
  return sw_emit_binary(e, SW_OP_AND, ge, lt, out, d);
}

static sw_rc clamped(sw_emit *e, sw_id x, int64_t least, int64_t most, sw_id *out, sw_diag *d) {
  sw_dtype t = sw_emit_type(e, x)->dtype;
  sw_id in[3];
  SW_TRY(sw_emit_scalar(e, t, (double)least, &in[0], d));
  SW_TRY(sw_emit_scalar(e, t, (double)most, &in[2], d));
  in[1] = x;
  return sw_emit_op(e, SW_OP_CLAMP, in, 3, NULL, out, d);
}

/* Signed indices: a block's start may be subtracted from them. */
static sw_rc signed_indices(sw_emit *e, sw_id *x, sw_diag *d) {
  sw_dtype t = sw_emit_type(e, *x)->dtype;
  if (sw_dtype_class_of(t) == SW_CLASS_SIGNED && sw_dtype_bytes(t) >= 4) return SW_OK;
  return sw_emit_convert(e, *x, SW_I64, x, d);
}

/* Component c of `n` of the index vectors along vector_dim, which says a row of a table of `rows`. */
typedef struct row_index {
  int vector_dim, c, n;
  int64_t rows;
} row_index;

/* Change a component of the index vectors: clamp to the table when asked (gather clamps, scatter does not), and
 * subtract the start of the block of `loop`. */
static sw_rc shift_component(sw_emit *e, sw_id indices, const row_index *at, int loop, bool clamp, sw_id *out,
                             sw_diag *d) {
  sw_type type = *sw_emit_type(e, indices);
  sw_id start, moved = indices, which, component;
  SW_TRY(start_of_block(e, loop, type.dtype, &start, d));
  SW_TRY(broadcast_scalar(e, start, &type, &start, d));
  if (clamp) SW_TRY(clamped(e, moved, 0, at->rows - 1, &moved, d));
  SW_TRY(sw_emit_binary(e, SW_OP_SUBTRACT, moved, start, &moved, d));
  if (at->n == 1) {
    *out = moved;
    return SW_OK;
  }
  SW_TRY(sw_emit_iota(e, type.dtype, type.rank, type.dims, at->vector_dim, &which, d));
  SW_TRY(sw_emit_scalar(e, type.dtype, at->c, &component, d));
  SW_TRY(broadcast_scalar(e, component, &type, &component, d));
  SW_TRY(sw_emit_compare(e, "eq", which, component, &which, d));
  return sw_emit_select(e, which, moved, indices, out, d);
}

/* Component c of the index vectors, with the shape of the batch. */
static sw_rc take_component(sw_emit *e, sw_id indices, int vector_dim, int c, sw_id *out, sw_diag *d) {
  const sw_type type = *sw_emit_type(e, indices);
  *out = indices;
  if (vector_dim >= type.rank) return SW_OK;
  int64_t start[SW_MAX_RANK] = {0}, limit[SW_MAX_RANK], strides[SW_MAX_RANK], shape[SW_MAX_RANK];
  int n = 0;
  for (int k = 0; k < type.rank; k++) {
    limit[k] = type.dims[k];
    strides[k] = 1;
    if (k != vector_dim) shape[n++] = type.dims[k];
  }
  start[vector_dim] = c;
  limit[vector_dim] = c + 1;
  sw_attrs slice = {0}, reshape = {0};
  sw_attrs_ints(&slice, SW_ATTR_START, start, type.rank);
  sw_attrs_ints(&slice, SW_ATTR_LIMIT, limit, type.rank);
  sw_attrs_ints(&slice, SW_ATTR_STRIDES, strides, type.rank);
  SW_TRY(sw_emit_op(e, SW_OP_SLICE, &indices, 1, &slice, out, d));
  sw_attrs_ints(&reshape, SW_ATTR_SHAPE, shape, n);
  return sw_emit_op(e, SW_OP_RESHAPE, out, 1, &reshape, out, d);
}

/* A predicate over the batch of a gather, spread over its result (batch dims are those not in offset_dims). */
static sw_rc spread_over_result(sw_emit *e, sw_id pred, const sw_type *result, sw_id *out, sw_diag *d) {
  int n_offset, n = 0;
  const int64_t *offset = sw_op_ints(e->op, SW_ATTR_OFFSET_DIMS, &n_offset);
  int64_t dims[SW_MAX_RANK];
  for (int k = 0; k < result->rank; k++) {
    if (!sw_list_has(offset, n_offset, k)) dims[n++] = k;
  }
  return sw_emit_broadcast(e, pred, result->rank, result->dims, dims, out, d);
}

/* The loop that cuts the operand's dimension, when it is of the given kind; else -1. */
static int cut_of_kind(const sw_emit *e, int map, int dim, sw_loop_kind kind) {
  int loop = sw_emit_cut_loop_of_dim(e, map, dim);
  return loop >= 0 && e->op->nest->loops[loop].kind == kind ? loop : -1;
}

/* Slice extents: the whole block where the operand's dimension is cut with the result. */
static sw_rc local_sizes(sw_emit *e, sw_attrs *at, sw_diag *d) {
  int n;
  const int64_t *sizes = sw_op_ints(e->op, SW_ATTR_SIZES, &n);
  int64_t *local;
  SW_ARENA_NEW(local, &e->scratch, n, d);
  for (int k = 0; k < n; k++) {
    bool together = cut_of_kind(e, 0, k, SW_LOOP_PARALLEL) >= 0 && sizes[k] != 1;
    local[k] = together ? sw_emit_type(e, e->in[0])->dims[k] : sizes[k];
  }
  sw_attrs_ints(at, SW_ATTR_SIZES, local, n);
  return SW_OK;
}

sw_rc sw_lower_gather(sw_emit *e, sw_diag *d) {
  int n_map, vector_dim = (int)sw_op_int(e->op, SW_ATTR_INDEX_VECTOR_DIM, 0);
  const int64_t *map = sw_op_ints(e->op, SW_ATTR_START_INDEX_MAP, &n_map);
  sw_id hit = -1;
  for (int c = 0; c < n_map; c++) {
    int loop = cut_of_kind(e, 0, (int)map[c], SW_LOOP_MASKED);
    if (loop < 0) continue;
    sw_id component, here;
    const row_index at = {vector_dim, c, n_map, e->op->nest->loops[loop].size};
    SW_TRY(signed_indices(e, &e->in[1], d));
    SW_TRY(shift_component(e, e->in[1], &at, loop, true, &e->in[1], d));
    SW_TRY(take_component(e, e->in[1], vector_dim, c, &component, d));
    SW_TRY(inside(e, component, sw_emit_block(e, loop), &here, d));
    if (hit >= 0) SW_TRY(sw_emit_binary(e, SW_OP_AND, hit, here, &here, d));
    hit = here;
  }
  sw_attrs at;
  sw_attrs_copy(e->op, &at);
  SW_TRY(local_sizes(e, &at, d));
  SW_TRY(sw_emit_with(e, &at, d));
  if (hit < 0) return SW_OK;
  sw_type type = *sw_emit_type(e, e->results[0]);
  sw_id zero;
  SW_TRY(spread_over_result(e, hit, &type, &hit, d));
  SW_TRY(sw_emit_identity(e, type.dtype, SW_REDUCE_SUM, &zero, d));
  SW_TRY(broadcast_scalar(e, zero, &type, &zero, d));
  return sw_emit_select(e, hit, e->results[0], zero, &e->results[0], d);
}

sw_rc sw_lower_scatter(sw_emit *e, sw_diag *d) {
  int n_map, vector_dim = (int)sw_op_int(e->op, SW_ATTR_INDEX_VECTOR_DIM, 0);
  const int64_t *map = sw_op_ints(e->op, SW_ATTR_START_INDEX_MAP, &n_map);
  int n_inserted;
  const int64_t *inserted = sw_op_ints(e->op, SW_ATTR_INSERTED_DIMS, &n_inserted);
  sw_reduction kind;
  /* padded updates add nothing; (loops of "replace" are not cut) */
  if (sw_reduction_parse(sw_op_text(e->op, SW_ATTR_KIND, ""), &kind)) {
    SW_TRY(sw_emit_neutralise(e, 2, 1u << SW_LOOP_REDUCTION, kind, d));
  }
  for (int c = 0; c < n_map; c++) {
    int loop = cut_of_kind(e, 0, (int)map[c], SW_LOOP_PARALLEL);
    if (loop < 0 || !sw_list_has(inserted, n_inserted, map[c])) continue;
    SW_TRY(signed_indices(e, &e->in[1], d));
    const row_index at = {vector_dim, c, n_map, e->op->nest->loops[loop].size};
    SW_TRY(shift_component(e, e->in[1], &at, loop, false, &e->in[1], d));
  }
  return sw_lower_same(e, d);
}

/* --- dynamic slices ---------------------------------------------------------------------------------------------- */

/* Start index k of the op, clamped so that a window of `size` fits into `extent`, as i64. */
static sw_rc clamped_start(sw_emit *e, sw_id start, int64_t extent, int64_t size, sw_id *out, sw_diag *d) {
  SW_TRY(sw_emit_convert(e, start, SW_I64, &start, d));
  return clamped(e, start, 0, extent - size, out, d);
}

/* x[.., positions[j], ..] along dim. */
static sw_rc take_positions(sw_emit *e, sw_id x, sw_id positions, int dim, sw_id *out, sw_diag *d) {
  const sw_type *type = sw_emit_type(e, x);
  int64_t offset[SW_MAX_RANK], sizes[SW_MAX_RANK], along[1] = {dim};
  int n = 0;
  for (int k = 0; k < type->rank; k++) {
    sizes[k] = k == dim ? 1 : type->dims[k];
    if (k != dim) offset[n++] = k;
  }
  sw_attrs a = {0};
  sw_attrs_ints(&a, SW_ATTR_OFFSET_DIMS, offset, n);
  sw_attrs_ints(&a, SW_ATTR_COLLAPSED_DIMS, along, 1);
  sw_attrs_ints(&a, SW_ATTR_START_INDEX_MAP, along, 1);
  sw_attrs_int(&a, SW_ATTR_INDEX_VECTOR_DIM, 1);
  sw_attrs_ints(&a, SW_ATTR_SIZES, sizes, type->rank);
  sw_id in[2] = {x, positions};
  return sw_emit_op(e, SW_OP_GATHER, in, 2, &a, out, d);
}

/* 0 .. n-1 plus (sign +1) or minus (sign -1) a scalar, plus another scalar when >= 0; a vector of i64. */
static sw_rc positions(sw_emit *e, int64_t n, sw_id plus, sw_id minus, sw_id *out, sw_diag *d) {
  sw_id spread_plus, spread_minus;
  SW_TRY(sw_emit_iota(e, SW_I64, 1, &n, 0, out, d));
  sw_type type = *sw_emit_type(e, *out);
  SW_TRY(broadcast_scalar(e, plus, &type, &spread_plus, d));
  SW_TRY(broadcast_scalar(e, minus, &type, &spread_minus, d));
  SW_TRY(sw_emit_binary(e, SW_OP_ADD, *out, spread_plus, out, d));
  return sw_emit_binary(e, SW_OP_SUBTRACT, *out, spread_minus, out, d);
}

/* A predicate along `dim` spread over a shape. */
static sw_rc spread_along(sw_emit *e, sw_id pred, const sw_type *like, int dim, sw_id *out, sw_diag *d) {
  int64_t dims[1] = {dim};
  return sw_emit_broadcast(e, pred, like->rank, like->dims, dims, out, d);
}

/* One cut dimension of a dynamic_slice: the wanted positions that lie in this block, neutral elsewhere. */
static sw_rc slice_cut_dim(sw_emit *e, int dim, int loop, int64_t size, sw_id *x, sw_diag *d) {
  sw_id start, block_start, at, here, inside_at, zero;
  SW_TRY(clamped_start(e, e->in[1 + dim], e->op->nest->loops[loop].size, size, &start, d));
  SW_TRY(start_of_block(e, loop, SW_I64, &block_start, d));
  SW_TRY(positions(e, size, start, block_start, &at, d));
  SW_TRY(inside(e, at, sw_emit_block(e, loop), &here, d));
  SW_TRY(clamped(e, at, 0, sw_emit_block(e, loop) - 1, &inside_at, d));
  SW_TRY(take_positions(e, *x, inside_at, dim, x, d));
  sw_type type = *sw_emit_type(e, *x);
  SW_TRY(sw_emit_identity(e, type.dtype, SW_REDUCE_SUM, &zero, d));
  SW_TRY(broadcast_scalar(e, zero, &type, &zero, d));
  SW_TRY(spread_along(e, here, &type, dim, &here, d));
  return sw_emit_select(e, here, *x, zero, x, d);
}

sw_rc sw_lower_dynamic_slice(sw_emit *e, sw_diag *d) {
  int n;
  const int64_t *sizes = sw_op_ints(e->op, SW_ATTR_SIZES, &n);
  int64_t *local;
  SW_ARENA_NEW(local, &e->scratch, n, d);
  sw_id x = e->in[0];
  for (int k = 0; k < n; k++) {
    int loop = sw_emit_cut_loop_of_dim(e, 0, k);
    local[k] = loop >= 0 && e->op->nest->loops[loop].kind == SW_LOOP_PARALLEL ? sw_emit_type(e, x)->dims[k] : sizes[k];
    if (loop < 0 || e->op->nest->loops[loop].kind != SW_LOOP_MASKED) continue;
    SW_TRY(slice_cut_dim(e, k, loop, sizes[k], &x, d));
  }
  e->in[0] = x;
  sw_attrs at;
  sw_attrs_copy(e->op, &at);
  sw_attrs_ints(&at, SW_ATTR_SIZES, local, n);
  return sw_emit_with(e, &at, d); /* dimensions taken above are whole by now: any start is clamped to 0 there */
}

/* Updates of cut dimensions, one after another, reduce to a "where": new = taken update where the position is
 * inside. */
typedef struct update_state {
  sw_id update; /* brought to the block's extents along the dims done so far */
  sw_id where;  /* predicate of the block's shape; -1: everywhere */
} update_state;

static sw_rc update_cut_dim(sw_emit *e, int dim, int loop, const sw_type *block, update_state *u, sw_diag *d) {
  int64_t size = sw_operand_type(e->model, e->op, 1)->dims[dim];
  sw_id start, block_start, at, here, inside_at;
  SW_TRY(clamped_start(e, e->in[2 + dim], e->op->nest->loops[loop].size, size, &start, d));
  SW_TRY(start_of_block(e, loop, SW_I64, &block_start, d));
  SW_TRY(positions(e, sw_emit_block(e, loop), block_start, start, &at, d));
  SW_TRY(inside(e, at, size, &here, d));
  SW_TRY(clamped(e, at, 0, size - 1, &inside_at, d));
  SW_TRY(take_positions(e, u->update, inside_at, dim, &u->update, d));
  SW_TRY(spread_along(e, here, block, dim, &here, d));
  if (u->where >= 0) SW_TRY(sw_emit_binary(e, SW_OP_AND, u->where, here, &here, d));
  u->where = here;
  return SW_OK;
}

sw_rc sw_lower_dynamic_update_slice(sw_emit *e, sw_diag *d) {
  const sw_type block = *sw_emit_type(e, e->in[0]);
  const sw_type *update = sw_operand_type(e->model, e->op, 1), *whole = sw_operand_type(e->model, e->op, 0);
  update_state u = {e->in[1], -1};
  for (int k = 0; k < block.rank; k++) {
    int loop = sw_emit_cut_loop_of_dim(e, 0, k);
    if (loop < 0 || update->dims[k] == whole->dims[k]) continue;
    if (update->dims[k] == 0) { /* nothing to write */
      e->results[0] = e->in[0];
      return SW_OK;
    }
    SW_TRY(update_cut_dim(e, k, loop, &block, &u, d));
  }
  e->in[1] = u.update;
  SW_TRY(sw_lower_same(e, d)); /* along dims done above the update has the block's extent: its start is clamped to 0 */
  if (u.where < 0) return SW_OK;
  return sw_emit_select(e, u.where, e->results[0], e->in[0], &e->results[0], d);
}
