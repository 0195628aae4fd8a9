/* argmax, argmin, top_k: every device candidates from its block, the candidates are gathered, all pick again from
 * those. A scan: every device scans its block, and adds the carry: what the blocks before it reduce to.
 *
 * Blocks are in order of shard index and gathering keeps that order, so "lowest index among equals" survives.
 */
#include <string.h>

#include "base/checked.h"
#include "spmd/spmd_emit.h"

/* The loop of the wanted kind that is cut and the operand's dimension that follows it; -1: none is cut. */
static int cut_loop_of_kind(const sw_emit *e, sw_loop_kind kind, int *dim) {
  for (int k = 0; k < e->op->nest->maps[0].rank; k++) {
    int loop = sw_emit_loop_of_dim(e, 0, k);
    if (loop >= 0 && e->op->nest->loops[loop].kind == kind && sw_emit_is_cut(e, loop)) {
      *dim = k;
      return loop;
    }
  }
  return -1;
}

/* Local indices (along `dim`, which the loop cuts) made global: add the start of the block. */
static sw_rc globalise(sw_emit *e, sw_id *index, int loop, sw_diag *d) {
  int n;
  const sw_axis_ref *refs = sw_emit_loop(e, loop, &n);
  sw_type type = *sw_emit_type(e, *index);
  sw_id start, spread;
  SW_TRY(sw_emit_shard_start(e, type.dtype, refs, n, 0, sw_emit_block(e, loop), &start, d));
  SW_TRY(sw_emit_broadcast(e, start, type.rank, type.dims, NULL, &spread, d));
  return sw_emit_binary(e, SW_OP_ADD, *index, spread, index, d);
}

static sw_rc gather_along(sw_emit *e, sw_id *x, int loop, int dim, sw_diag *d) {
  int n;
  const sw_axis_ref *refs = sw_emit_loop(e, loop, &n);
  return sw_emit_all_gather(e, *x, refs, n, dim, x, d);
}

/* The one element of `index` along `dim` that stands at position `winner`: sum of index where iota == winner. */
static sw_rc index_of_winner(sw_emit *e, sw_id index, sw_id winner, int dim, sw_id *out, sw_diag *d) {
  sw_type type = *sw_emit_type(e, index);
  int64_t dims[SW_MAX_RANK];
  for (int k = 0; k < type.rank; k++) dims[k] = k;
  sw_id at, spread, hit, zero, kept;
  SW_TRY(sw_emit_iota(e, type.dtype, type.rank, type.dims, dim, &at, d));
  SW_TRY(sw_emit_broadcast(e, winner, type.rank, type.dims, dims, &spread, d));
  SW_TRY(sw_emit_compare(e, "eq", at, spread, &hit, d));
  SW_TRY(sw_emit_scalar(e, type.dtype, 0, &zero, d));
  SW_TRY(sw_emit_broadcast(e, zero, type.rank, type.dims, NULL, &zero, d));
  SW_TRY(sw_emit_select(e, hit, index, zero, &kept, d));
  return sw_emit_reduce(e, kept, SW_REDUCE_SUM, dim, out, d);
}

sw_rc sw_lower_arg(sw_emit *e, sw_diag *d) {
  int dim = 0, loop = cut_loop_of_kind(e, SW_LOOP_PICK, &dim);
  if (loop < 0) return sw_lower_same(e, d);
  sw_reduction kind = e->op->code == SW_OP_ARGMAX ? SW_REDUCE_MAX : SW_REDUCE_MIN;
  sw_attrs at;
  sw_id index, value, winner;
  sw_attrs_copy(e->op, &at);
  sw_attrs_int(&at, SW_ATTR_KEEP_DIMS, 1);
  SW_TRY(sw_emit_neutralise(e, 0, 1u << SW_LOOP_PICK, kind, d));
  SW_TRY(sw_emit_op(e, e->op->code, e->in, 1, &at, &index, d));
  SW_TRY(globalise(e, &index, loop, d));
  SW_TRY(sw_emit_reduce(e, e->in[0], kind, dim, &value, d));
  SW_TRY(gather_along(e, &value, loop, dim, d));
  SW_TRY(gather_along(e, &index, loop, dim, d));
  SW_TRY(sw_emit_op(e, e->op->code, &value, 1, &at, &winner, d));
  SW_TRY(index_of_winner(e, index, winner, dim, &index, d));
  int64_t dims[SW_MAX_RANK];
  sw_emit_result_dims(e, 0, dims);
  sw_attrs shape = {0};
  sw_attrs_ints(&shape, SW_ATTR_SHAPE, dims, sw_result_type(e->model, e->op, 0)->rank);
  return sw_emit_op(e, SW_OP_RESHAPE, &index, 1, &shape, &e->results[0], d);
}

/* out[.., j, ..] = x[.., at[.., j, ..], ..] along `dim`: a gather whose other dimensions are batches. */
static sw_rc take_along(sw_emit *e, sw_id x, sw_id at, int dim, sw_id *out, sw_diag *d) {
  int rank = sw_emit_type(e, x)->rank, n = 0;
  int64_t batch[SW_MAX_RANK], sizes[SW_MAX_RANK], along[1] = {dim};
  for (int k = 0; k < rank; k++) {
    sizes[k] = 1;
    if (k != dim) batch[n++] = k;
  }
  sw_attrs a = {0};
  sw_attrs_ints(&a, SW_ATTR_OFFSET_DIMS, NULL, 0);
  sw_attrs_ints(&a, SW_ATTR_COLLAPSED_DIMS, along, 1);
  sw_attrs_ints(&a, SW_ATTR_OPERAND_BATCH, batch, n);
  sw_attrs_ints(&a, SW_ATTR_INDICES_BATCH, batch, n);
  sw_attrs_ints(&a, SW_ATTR_START_INDEX_MAP, along, 1);
  sw_attrs_int(&a, SW_ATTR_INDEX_VECTOR_DIM, rank);
  sw_attrs_ints(&a, SW_ATTR_SIZES, sizes, rank);
  sw_id in[2] = {x, at};
  return sw_emit_op(e, SW_OP_GATHER, in, 2, &a, out, d);
}

/* What is last in the order of top_k: of floats with a sign -NaN with all bits set (where all bits are a number, that
 * is the least one). */
static void last_of_order(sw_dtype t, unsigned char *element) {
  sw_reduction_identity_bytes(SW_REDUCE_MAX, t, element);
  if (sw_dtype_class_of(t) == SW_CLASS_FLOAT && sw_dtype_bits(t) >= 8 && t != SW_F8E8M0FNU)
    memset(element, 0xff, (size_t)sw_dtype_bytes(t));
}

sw_rc sw_lower_top_k(sw_emit *e, sw_diag *d) {
  int dim = 0, loop = cut_loop_of_kind(e, SW_LOOP_PICK, &dim);
  if (loop < 0) return sw_lower_same(e, d);
  sw_attrs at;
  sw_id candidates[SW_MAX_RESULTS], best[SW_MAX_RESULTS];
  sw_attrs_copy(e->op, &at);
  _Alignas(16) unsigned char last[16] = {0};
  last_of_order(sw_emit_type(e, e->in[0])->dtype, last);
  SW_TRY(sw_emit_fill_padding(e, 0, 1u << SW_LOOP_PICK, last, d));
  sw_attrs_int(&at, SW_ATTR_K, sw_min_i64(sw_op_int(e->op, SW_ATTR_K, 1), sw_emit_block(e, loop)));
  SW_TRY(sw_emit_op_n(e, SW_OP_TOP_K, e->in, 1, &at, candidates, d));
  SW_TRY(globalise(e, &candidates[1], loop, d));
  SW_TRY(gather_along(e, &candidates[0], loop, dim, d));
  SW_TRY(gather_along(e, &candidates[1], loop, dim, d));
  sw_attrs_int(&at, SW_ATTR_K, sw_op_int(e->op, SW_ATTR_K, 1));
  SW_TRY(sw_emit_op_n(e, SW_OP_TOP_K, &candidates[0], 1, &at, best, d));
  e->results[0] = best[0];
  return take_along(e, candidates[1], best[1], dim, &e->results[1], d);
}

/* --- scans ------------------------------------------------------------------------------------------------------- */

static sw_opcode combiner_of(sw_reduction kind) {
  static const sw_opcode kOps[SW_REDUCTION_COUNT] = {
      [SW_REDUCE_SUM] = SW_OP_ADD,     [SW_REDUCE_PRODUCT] = SW_OP_MULTIPLY, [SW_REDUCE_MIN] = SW_OP_MINIMUM,
      [SW_REDUCE_MAX] = SW_OP_MAXIMUM, [SW_REDUCE_AND] = SW_OP_AND,          [SW_REDUCE_OR] = SW_OP_OR};
  return kOps[kind];
}

/* What the blocks before this one (after it, when reversed) come to: one element per line. */
static sw_rc carried(sw_emit *e, int loop, int dim, sw_reduction kind, bool reversed, sw_id *out, sw_diag *d) {
  sw_id carries, neutral;
  SW_TRY(sw_emit_reduce(e, e->in[0], kind, dim, &carries, d));
  SW_TRY(gather_along(e, &carries, loop, dim, d));
  int n;
  const sw_axis_ref *refs = sw_emit_loop(e, loop, &n);
  int64_t shards = sw_axis_refs_size(refs, n);
  /* position j of the carries, seen from shard i, is j - i: keep the negative (reversed: positive) ones */
  sw_mask m = {.dim = dim,
               .refs = refs,
               .n_refs = n,
               .step = -1,
               .start = reversed ? 1 : -shards,
               .limit = reversed ? shards : 0};
  SW_TRY(sw_emit_identity(e, sw_emit_type(e, carries)->dtype, kind, &neutral, d));
  SW_TRY(sw_emit_mask(e, carries, neutral, &m, &carries, d));
  return sw_emit_reduce(e, carries, kind, dim, out, d);
}

sw_rc sw_lower_cumulative(sw_emit *e, sw_diag *d) {
  int dim = 0, loop = cut_loop_of_kind(e, SW_LOOP_SCAN, &dim);
  if (loop < 0) return sw_lower_same(e, d);
  sw_reduction kind = SW_REDUCE_SUM;
  if (!sw_reduction_parse(sw_op_text(e->op, SW_ATTR_KIND, ""), &kind)) return SW_BUG(d, "cumulative without a kind");
  bool reversed = sw_op_int(e->op, SW_ATTR_REVERSED, 0) != 0;
  sw_id before;
  SW_TRY(sw_emit_neutralise(e, 0, 1u << SW_LOOP_SCAN, kind, d));
  SW_TRY(carried(e, loop, dim, kind, reversed, &before, d));
  SW_TRY(sw_lower_same(e, d));
  sw_type type = *sw_emit_type(e, e->results[0]);
  int64_t dims[SW_MAX_RANK];
  for (int k = 0; k < type.rank; k++) dims[k] = k;
  SW_TRY(sw_emit_broadcast(e, before, type.rank, type.dims, dims, &before, d));
  return sw_emit_binary(e, combiner_of(kind), before, e->results[0], &e->results[0], d);
}
