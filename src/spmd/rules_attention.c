/* attention and its gradient on a device's block of batches, heads, queries and keys. What is added:
 *
 *   start     with causal or window: where the block's queries stand, less where its keys begin
 *   lengths   less where the block's keys begin; where keys are padded, how many there are
 *
 * and where keys are cut the outputs of all blocks are merged:
 *
 *   all = logsumexp of the gathered lse    o = o * exp(lse - all), a partial sum    lse = all
 */
#include <string.h>

#include "spmd/rules_attention.h"

#define REDUCING ((1u << SW_LOOP_REDUCTION) | (1u << SW_LOOP_MASKED))

/* Far below any score, and a number: exp(-inf - it) is 0. */
static const double kLeast = -1e30;

/* a + b or a - b, as i64 scalars; one of them may be -1, none. */
static sw_rc combine(sw_emit *e, sw_opcode code, sw_id a, sw_id b, sw_id *out, sw_diag *d) {
  *out = b < 0 ? a : b;
  if (b < 0 || (a < 0 && code == SW_OP_ADD)) return SW_OK;
  if (a < 0) SW_TRY(sw_emit_scalar(e, SW_I64, 0, &a, d));
  return sw_emit_binary(e, code, a, b, out, d);
}

/* Where the device's block of a loop begins; -1: it has all of it. */
static sw_rc begin_of(sw_emit *e, int loop, sw_id *out, sw_diag *d) {
  int n;
  const sw_axis_ref *refs = sw_emit_loop(e, loop, &n);
  *out = -1;
  return n ? sw_emit_shard_start(e, SW_I64, refs, n, 0, sw_emit_block(e, loop), out, d) : SW_OK;
}

static sw_rc local_start(sw_emit *e, const sw_attention *a, sw_id *out, sw_diag *d) {
  sw_id given = a->start < 0 ? -1 : e->in[a->start], queries, keys;
  *out = given;
  if (!sw_attention_is_placed(a)) return SW_OK;
  SW_TRY(begin_of(e, SW_ATTENTION_QUERY, &queries, d));
  SW_TRY(begin_of(e, SW_ATTENTION_KEY, &keys, d));
  if (queries < 0 && keys < 0) return SW_OK;
  if (given >= 0) SW_TRY(sw_emit_convert(e, given, SW_I64, &given, d));
  SW_TRY(combine(e, SW_OP_ADD, given, queries, out, d));
  return combine(e, SW_OP_SUBTRACT, *out, keys, out, d);
}

static sw_rc local_lengths(sw_emit *e, const sw_attention *a, sw_id *out, sw_diag *d) {
  int n;
  const sw_axis_ref *refs = sw_emit_loop(e, SW_ATTENTION_KEY, &n);
  const int64_t keys = e->op->nest->loops[SW_ATTENTION_KEY].size, block = sw_emit_block(e, SW_ATTENTION_KEY);
  const int64_t batches = sw_emit_type(e, e->in[SW_ATTENTION_Q])->dims[0];
  const bool padded = n && keys % sw_axis_refs_size(refs, n) != 0;
  sw_id begin;
  *out = a->lengths < 0 ? -1 : e->in[a->lengths];
  if (!n || (*out < 0 && !padded)) return SW_OK;
  if (*out < 0) {
    SW_TRY(sw_emit_shard_start(e, SW_I64, refs, n, keys, -block, out, d));
    return sw_emit_broadcast(e, *out, 1, &batches, NULL, out, d);
  }
  SW_TRY(begin_of(e, SW_ATTENTION_KEY, &begin, d));
  SW_TRY(sw_emit_broadcast(e, begin, 1, &batches, NULL, &begin, d));
  SW_TRY(sw_emit_convert(e, *out, SW_I64, out, d));
  return sw_emit_binary(e, SW_OP_SUBTRACT, *out, begin, out, d);
}

/* The op on the device's blocks. */
static sw_rc emit_blocks(sw_emit *e, const sw_attention *a, sw_diag *d) {
  sw_attrs at;
  sw_id in[SW_MAX_RESULTS], lengths, start;
  int n = 0;
  for (int i = 0; i < e->op->n_operands; i++) SW_TRY(sw_emit_neutralise(e, i, REDUCING, SW_REDUCE_SUM, d));
  SW_TRY(local_lengths(e, a, &lengths, d));
  SW_TRY(local_start(e, a, &start, d));
  for (int i = 0; i < e->op->n_operands; i++) {
    if (i != a->lengths && i != a->start) in[n++] = e->in[i];
  }
  if (lengths >= 0) in[n++] = lengths;
  if (start >= 0) in[n++] = start;
  sw_attrs_copy(e->op, &at);
  return sw_emit_op_n(e, e->op->code, in, n, &at, e->results, d);
}

static sw_rc reshaped(sw_emit *e, sw_id x, int rank, const int64_t *dims, sw_id *out, sw_diag *d) {
  sw_attrs at = {0};
  sw_attrs_ints(&at, SW_ATTR_SHAPE, dims, rank);
  return sw_emit_op(e, SW_OP_RESHAPE, &x, 1, &at, out, d);
}

sw_rc sw_emit_at_least(sw_emit *e, sw_id x, sw_id *out, sw_diag *d) {
  const sw_type t = *sw_emit_type(e, x);
  sw_id least;
  SW_TRY(sw_emit_scalar(e, t.dtype, kLeast, &least, d));
  SW_TRY(sw_emit_broadcast(e, least, t.rank, t.dims, NULL, &least, d));
  return sw_emit_binary(e, SW_OP_MAXIMUM, x, least, out, d);
}

sw_rc sw_emit_weighted_part(sw_emit *e, const sw_attention *a, sw_id lse, sw_id all, sw_id o, sw_id *out, sw_diag *d) {
  const sw_type to = *sw_emit_type(e, o);
  const int64_t in_o[3] = {0, a->heads, a->positions};
  SW_TRY(sw_emit_at_least(e, all, &all, d));
  SW_TRY(sw_emit_binary(e, SW_OP_SUBTRACT, lse, all, out, d));
  SW_TRY(sw_emit_op(e, SW_OP_EXP, out, 1, NULL, out, d));
  if (to.dtype != sw_emit_type(e, *out)->dtype) SW_TRY(sw_emit_convert(e, *out, to.dtype, out, d));
  return sw_emit_broadcast(e, *out, 4, to.dims, in_o, out, d);
}

/* Log-sum-exp along the last of four dims, which stays, of extent 1. */
static sw_rc log_sum_exp(sw_emit *e, sw_id x, sw_id *out, sw_diag *d) {
  static const int64_t kDims[4] = {0, 1, 2, 3};
  sw_id most, spread, shifted, total;
  SW_TRY(sw_emit_reduce(e, x, SW_REDUCE_MAX, 3, &most, d));
  SW_TRY(sw_emit_at_least(e, most, &most, d));
  const sw_type wide = *sw_emit_type(e, x);
  SW_TRY(sw_emit_broadcast(e, most, 4, wide.dims, kDims, &spread, d));
  SW_TRY(sw_emit_binary(e, SW_OP_SUBTRACT, x, spread, &shifted, d));
  SW_TRY(sw_emit_op(e, SW_OP_EXP, &shifted, 1, NULL, &shifted, d));
  SW_TRY(sw_emit_reduce(e, shifted, SW_REDUCE_SUM, 3, &total, d));
  SW_TRY(sw_emit_op(e, SW_OP_LOG, &total, 1, NULL, &total, d));
  return sw_emit_binary(e, SW_OP_ADD, most, total, out, d);
}

static sw_rc merge_over_keys(sw_emit *e, const sw_attention *a, sw_diag *d) {
  int n;
  const sw_axis_ref *refs = sw_emit_loop(e, SW_ATTENTION_KEY, &n);
  const sw_type lse = *sw_emit_type(e, e->results[1]);
  const int64_t dims[4] = {lse.dims[0], lse.dims[1], lse.dims[2], 1};
  const sw_id own = e->results[1];
  sw_id all, share;
  SW_TRY(reshaped(e, own, 4, dims, &all, d));
  SW_TRY(sw_emit_all_gather(e, all, refs, n, 3, &all, d));
  SW_TRY(log_sum_exp(e, all, &all, d));
  SW_TRY(reshaped(e, all, 3, dims, &e->results[1], d));
  SW_TRY(sw_emit_weighted_part(e, a, own, e->results[1], e->results[0], &share, d));
  return sw_emit_binary(e, SW_OP_MULTIPLY, e->results[0], share, &e->results[0], d);
}

sw_rc sw_lower_attention(sw_emit *e, sw_diag *d) {
  sw_attention a;
  sw_attention_of(e->model, e->op, &a);
  if (sw_strategy_is_ring(e->op, e->strategy)) return sw_lower_ring(e, &a, d);
  SW_TRY(emit_blocks(e, &a, d));
  const bool merges = e->op->code == SW_OP_ATTENTION && sw_emit_is_cut(e, SW_ATTENTION_KEY);
  return merges ? merge_over_keys(e, &a, d) : SW_OK;
}
