/* attention and its gradient in a ring: queries stay, the blocks of keys and values go from device to device.
 *
 *   n = 4, at device 1        step 0   1   2   3        after each step but the last k, v go on to the next device
 *   keys at hand, of block         1   0   3   2
 *
 * Device c has block b = (c - t) mod n at step t, which begins at key b * B, while its queries begin at c * Q. The op
 * is told so: its base is t * B greater, and `start` says what is left, c * (Q - B), less n * B where b is behind c.
 * Outputs of the steps are merged by their log-sum-exps, in f32 or wider:
 *
 *   all = log(exp(lse) + exp(lse'))    o = o exp(lse - all) + o' exp(lse' - all)
 *
 * The gradient is given lse. That of q is summed where it is; those of k and v are summed in buffers that travel with
 * their block, and at the end go home. Steps in which nobody sees a key (a causal mask with queries before keys, a
 * window) are left out: blocks then go several places at once.
 */
#include <string.h>

#include "base/checked.h"
#include "spmd/rules_attention.h"

#define REDUCING ((1u << SW_LOOP_REDUCTION) | (1u << SW_LOOP_MASKED))

typedef struct ring {
  sw_emit *e;
  const sw_attention *a;
  const sw_axis_ref *refs;
  int n_refs;
  int64_t n;                 /* devices */
  int64_t queries, keys;     /* a device's block */
  int64_t all_keys;          /* without padding */
  sw_dtype sums;             /* what is summed over steps is in this type */
  sw_id in[SW_MAX_RESULTS];  /* by operand of the model: q, then the block at hand of k and v, ...; those of
                                scores of all blocks, padded */
  sw_id begin, behind;       /* of the keys at hand, of this step: where they begin; is their block before the device's
                                own only when counted round? (-1: of step 0) */
  sw_id sum[SW_MAX_RESULTS]; /* by result: of the steps so far */
} ring;

/* Operands with a number for each query and key, in their order; -1: none. */
enum { COUNT_OF_SCORES = 3 };
static void operands_of_scores(const sw_attention *a, int out[COUNT_OF_SCORES]) {
  out[0] = a->keep;
  out[1] = a->bias;
  out[2] = a->mask;
}

/* --- blocks that move --------------------------------------------------------------------------------------------- */

/* A block of a tensor as if it were padded to whole blocks: whatever device it comes from, all of it moves. */
static void padded_tiling(const sw_emit *e, int port, sw_tiling *out) {
  const sw_type *type = sw_port_type(e->model, e->op, port);
  int64_t dims[SW_MAX_RANK];
  sw_sharding s;
  sw_strategy_port(e->op, e->strategy, port, &s);
  s.n_partial = 0;
  for (int k = 0; k < type->rank; k++) dims[k] = sw_sharding_block(&s, k, type->dims[k]) * sw_sharding_shards(&s, k);
  sw_tiling_of(&s, type->rank, dims, out);
}

/* Every device gets what the one `by` places before it has. */
static sw_rc pass_around(ring *r, int port, int64_t by, sw_id *x, sw_diag *d) {
  sw_emit *e = r->e;
  sw_tiling from, to;
  int64_t *sources;
  SW_ARENA_NEW(sources, &e->scratch, r->n, d);
  for (int64_t i = 0; i < r->n; i++) sources[i] = (i - by + r->n) % r->n;
  padded_tiling(e, port, &from);
  to = from;
  SW_TRY(sw_emit_mesh_of_sources(e, r->refs, r->n_refs, sources, &to.other, d));
  sw_collective c = {.op = SW_COLL_PERMUTE, .src = &from, .dst = &to};
  return sw_emit_collective(e, *x, &c, sw_emit_type(e, *x)->dims, x, d);
}

/* --- a step ------------------------------------------------------------------------------------------------------- */

/* As i64 scalars. */
static sw_rc place_keys(ring *r, int64_t step, sw_diag *d) {
  sw_emit *e = r->e;
  sw_id zero, round, later;
  r->behind = -1;
  SW_TRY(sw_emit_shard_start(e, SW_I64, r->refs, r->n_refs, -step * r->keys, r->keys, &r->begin, d));
  if (!step) return SW_OK;
  SW_TRY(sw_emit_scalar(e, SW_I64, 0, &zero, d));
  SW_TRY(sw_emit_scalar(e, SW_I64, (double)(r->n * r->keys), &round, d));
  SW_TRY(sw_emit_compare(e, "lt", r->begin, zero, &r->behind, d));
  SW_TRY(sw_emit_binary(e, SW_OP_ADD, r->begin, round, &later, d));
  return sw_emit_select(e, r->behind, later, r->begin, &r->begin, d);
}

static sw_rc as_i64(sw_emit *e, sw_id x, sw_id *out, sw_diag *d) {
  *out = x;
  return sw_emit_type(e, x)->dtype == SW_I64 ? SW_OK : sw_emit_convert(e, x, SW_I64, out, d);
}

/* What `base` does not say of where the queries stand; -1: nothing. */
static sw_rc step_start(ring *r, sw_id *out, sw_diag *d) {
  sw_emit *e = r->e;
  sw_id zero, round, drift;
  *out = -1;
  if (r->a->start >= 0) SW_TRY(as_i64(e, r->in[r->a->start], out, d));
  if (!sw_attention_is_placed(r->a)) return SW_OK;
  if (r->queries != r->keys) {
    SW_TRY(sw_emit_shard_start(e, SW_I64, r->refs, r->n_refs, 0, r->queries - r->keys, &drift, d));
    if (*out >= 0) SW_TRY(sw_emit_binary(e, SW_OP_ADD, *out, drift, out, d));
    if (*out < 0) *out = drift;
  }
  if (r->behind < 0) return SW_OK;
  SW_TRY(sw_emit_scalar(e, SW_I64, 0, &zero, d));
  SW_TRY(sw_emit_scalar(e, SW_I64, -(double)(r->n * r->keys), &round, d));
  SW_TRY(sw_emit_select(e, r->behind, round, zero, &round, d));
  if (*out >= 0) return sw_emit_binary(e, SW_OP_ADD, *out, round, out, d);
  *out = round;
  return SW_OK;
}

/* Lengths, counted from the first key at hand; -1: all keys at hand are keys. */
static sw_rc step_lengths(ring *r, sw_id *out, sw_diag *d) {
  sw_emit *e = r->e;
  const int64_t batches = sw_emit_type(e, r->in[SW_ATTENTION_Q])->dims[0];
  sw_id begin;
  *out = r->a->lengths < 0 ? -1 : r->in[r->a->lengths];
  if (*out < 0 && r->all_keys == r->n * r->keys) return SW_OK;
  if (*out < 0) {
    SW_TRY(sw_emit_scalar(e, SW_I64, (double)r->all_keys, out, d));
    SW_TRY(sw_emit_broadcast(e, *out, 1, &batches, NULL, out, d));
  }
  SW_TRY(as_i64(e, *out, out, d));
  SW_TRY(sw_emit_broadcast(e, r->begin, 1, &batches, NULL, &begin, d));
  return sw_emit_binary(e, SW_OP_SUBTRACT, *out, begin, out, d);
}

/* A slice begins at 0 of all dims but the last, and there at the keys at hand. */
static sw_rc slice_starts(ring *r, sw_id starts[4], sw_diag *d) {
  SW_TRY(sw_emit_scalar(r->e, SW_I64, 0, &starts[0], d));
  starts[1] = starts[2] = starts[0];
  starts[3] = r->begin;
  return SW_OK;
}

/* The part of an operand of scores that is of the keys at hand. */
static sw_rc columns(ring *r, int operand, sw_id *out, sw_diag *d) {
  sw_emit *e = r->e;
  const sw_type type = *sw_emit_type(e, r->in[operand]);
  int64_t sizes[4] = {type.dims[0], type.dims[1], type.dims[2], r->keys};
  sw_id in[5] = {r->in[operand]};
  sw_attrs at = {0};
  *out = r->in[operand];
  if (sw_operand_type(e->model, e->op, operand)->dims[3] == 1) return SW_OK;
  SW_TRY(slice_starts(r, in + 1, d));
  sw_attrs_ints(&at, SW_ATTR_SIZES, sizes, 4);
  return sw_emit_op(e, SW_OP_DYNAMIC_SLICE, in, 5, &at, out, d);
}

/* The op on the keys at hand. */
static sw_rc emit_step(ring *r, int64_t step, sw_id *results, sw_diag *d) {
  sw_emit *e = r->e;
  sw_id in[SW_MAX_RESULTS], lengths, start;
  int scores[COUNT_OF_SCORES];
  sw_attrs at;
  int n = 0;
  operands_of_scores(r->a, scores);
  SW_TRY(place_keys(r, step, d));
  SW_TRY(step_lengths(r, &lengths, d));
  SW_TRY(step_start(r, &start, d));
  while (n < r->a->least) in[n] = r->in[n], n++;
  for (size_t i = 0; i < COUNT_OF_SCORES; i++)
    if (scores[i] >= 0) SW_TRY(columns(r, scores[i], &in[n++], d));
  if (lengths >= 0) in[n++] = lengths;
  if (start >= 0) in[n++] = start;
  sw_attrs_copy(e->op, &at);
  if (sw_attention_is_placed(r->a)) sw_attrs_int(&at, SW_ATTR_BASE, r->a->base + step * r->keys);
  return sw_emit_op_n(e, e->op->code, in, n, &at, results, d);
}

/* --- sums over steps ---------------------------------------------------------------------------------------------- */

static sw_rc widened_to_sums(ring *r, sw_id *x, sw_diag *d) {
  return sw_emit_type(r->e, *x)->dtype == r->sums ? SW_OK : sw_emit_convert(r->e, *x, r->sums, x, d);
}

/* log(exp(x) + exp(y)) */
static sw_rc log_of_sum(sw_emit *e, sw_id x, sw_id y, sw_id *out, sw_diag *d) {
  sw_id most, part[2] = {x, y};
  SW_TRY(sw_emit_binary(e, SW_OP_MAXIMUM, x, y, &most, d));
  SW_TRY(sw_emit_at_least(e, most, &most, d));
  for (int i = 0; i < 2; i++) {
    SW_TRY(sw_emit_binary(e, SW_OP_SUBTRACT, part[i], most, &part[i], d));
    SW_TRY(sw_emit_op(e, SW_OP_EXP, &part[i], 1, NULL, &part[i], d));
  }
  SW_TRY(sw_emit_binary(e, SW_OP_ADD, part[0], part[1], out, d));
  SW_TRY(sw_emit_op(e, SW_OP_LOG, out, 1, NULL, out, d));
  return sw_emit_binary(e, SW_OP_ADD, *out, most, out, d);
}

static sw_rc merge_step(ring *r, sw_id o, sw_id lse, sw_diag *d) {
  sw_emit *e = r->e;
  sw_id all, share, more;
  SW_TRY(widened_to_sums(r, &o, d));
  if (r->sum[0] < 0) {
    r->sum[0] = o;
    r->sum[1] = lse;
    return SW_OK;
  }
  SW_TRY(log_of_sum(e, r->sum[1], lse, &all, d));
  SW_TRY(sw_emit_weighted_part(e, r->a, r->sum[1], all, o, &share, d));
  SW_TRY(sw_emit_binary(e, SW_OP_MULTIPLY, r->sum[0], share, &r->sum[0], d));
  SW_TRY(sw_emit_weighted_part(e, r->a, lse, all, o, &share, d));
  SW_TRY(sw_emit_binary(e, SW_OP_MULTIPLY, o, share, &more, d));
  r->sum[1] = all;
  return sw_emit_binary(e, SW_OP_ADD, r->sum[0], more, &r->sum[0], d);
}

/* The gradient of a bias is that of each block of keys in turn. */
static sw_rc put_columns(ring *r, sw_id part, sw_diag *d) {
  sw_emit *e = r->e;
  const sw_type type = *sw_emit_type(e, part);
  const int64_t dims[4] = {type.dims[0], type.dims[1], type.dims[2], r->n * r->keys};
  sw_id in[6] = {r->sum[3], part};
  if (in[0] < 0) {
    SW_TRY(sw_emit_scalar(e, type.dtype, 0, &in[0], d));
    SW_TRY(sw_emit_broadcast(e, in[0], 4, dims, NULL, &in[0], d));
  }
  SW_TRY(slice_starts(r, in + 2, d));
  return sw_emit_op(e, SW_OP_DYNAMIC_UPDATE_SLICE, in, 6, NULL, &r->sum[3], d);
}

static sw_rc add_ring_step(ring *r, sw_id *results, sw_diag *d) {
  sw_emit *e = r->e;
  if (e->op->code == SW_OP_ATTENTION) return merge_step(r, results[0], results[1], d);
  for (int i = 0; i < e->op->n_results; i++) {
    const bool by_columns = i == 3 && sw_result_type(e->model, e->op, 3)->dims[3] != 1;
    SW_TRY(widened_to_sums(r, &results[i], d));
    if (by_columns)
      SW_TRY(put_columns(r, results[i], d));
    else if (r->sum[i] < 0)
      r->sum[i] = results[i];
    else
      SW_TRY(sw_emit_binary(e, SW_OP_ADD, r->sum[i], results[i], &r->sum[i], d));
  }
  return SW_OK;
}

/* --- all steps ---------------------------------------------------------------------------------------------------- */

/* An operand of scores, with as many keys as all blocks have. */
static sw_rc pad_columns(ring *r, int operand, sw_diag *d) {
  sw_emit *e = r->e;
  const int64_t none[4] = {0}, high[4] = {0, 0, 0, r->n * r->keys - r->all_keys};
  sw_id in[2];
  sw_attrs at = {0};
  if (operand < 0 || !high[3] || sw_operand_type(e->model, e->op, operand)->dims[3] == 1) return SW_OK;
  in[0] = r->in[operand];
  SW_TRY(sw_emit_scalar(e, sw_emit_type(e, in[0])->dtype, 0, &in[1], d));
  sw_attrs_ints(&at, SW_ATTR_LOW, none, 4);
  sw_attrs_ints(&at, SW_ATTR_HIGH, high, 4);
  sw_attrs_ints(&at, SW_ATTR_INTERIOR, none, 4);
  return sw_emit_op(e, SW_OP_PAD, in, 2, &at, &r->in[operand], d);
}

static sw_rc begin_ring(ring *r, sw_diag *d) {
  sw_emit *e = r->e;
  int scores[COUNT_OF_SCORES];
  for (int i = 0; i < e->op->n_operands; i++) {
    SW_TRY(sw_emit_neutralise(e, i, REDUCING, SW_REDUCE_SUM, d));
    r->in[i] = e->in[i];
  }
  for (int i = 0; i < SW_MAX_RESULTS; i++) r->sum[i] = -1;
  operands_of_scores(r->a, scores);
  for (size_t i = 0; i < COUNT_OF_SCORES; i++) SW_TRY(pad_columns(r, scores[i], d));
  return SW_OK;
}

/* Keys and values, and the sums that travel with them, from a step to a later one. */
static sw_rc pass_all(ring *r, int64_t by, bool with_keys, sw_diag *d) {
  const bool grad = r->e->op->code == SW_OP_ATTENTION_GRAD;
  for (int i = SW_ATTENTION_K; i <= SW_ATTENTION_V; i++) {
    if (with_keys) SW_TRY(pass_around(r, i, by, &r->in[i], d));
    if (grad) SW_TRY(pass_around(r, i, by, &r->sum[i], d));
  }
  return SW_OK;
}

/* The sums in the types of the op's results, those by columns without padding. */
static sw_rc finish_ring(ring *r, sw_diag *d) {
  sw_emit *e = r->e;
  const int64_t none[4] = {0}, one[4] = {1, 1, 1, 1};
  for (int i = 0; i < e->op->n_results; i++) {
    const sw_dtype t = sw_result_type(e->model, e->op, i)->dtype;
    e->results[i] = r->sum[i];
    if (i == 3 && sw_emit_type(e, r->sum[3])->dims[3] > r->all_keys) {
      int64_t limit[4];
      sw_attrs at = {0};
      memcpy(limit, sw_emit_type(e, r->sum[3])->dims, sizeof limit);
      limit[3] = sw_min_i64(limit[3], sw_result_type(e->model, e->op, 3)->dims[3]);
      sw_attrs_ints(&at, SW_ATTR_START, none, 4);
      sw_attrs_ints(&at, SW_ATTR_LIMIT, limit, 4);
      sw_attrs_ints(&at, SW_ATTR_STRIDES, one, 4);
      SW_TRY(sw_emit_op(e, SW_OP_SLICE, &r->sum[3], 1, &at, &e->results[3], d));
    }
    if (!e->wide && sw_emit_type(e, e->results[i])->dtype != t)
      SW_TRY(sw_emit_convert(e, e->results[i], t, &e->results[i], d));
  }
  return SW_OK;
}

sw_rc sw_lower_ring(sw_emit *e, const sw_attention *a, sw_diag *d) {
  const sw_loop *keys = &e->op->nest->loops[SW_ATTENTION_KEY];
  ring r = {.e = e, .a = a, .all_keys = keys->size};
  r.sums = sw_attention_sums(sw_operand_type(e->model, e->op, SW_ATTENTION_Q)->dtype);
  r.refs = sw_emit_loop(e, SW_ATTENTION_KEY, &r.n_refs);
  r.n = sw_axis_refs_size(r.refs, r.n_refs);
  r.queries = sw_emit_block(e, SW_ATTENTION_QUERY);
  r.keys = sw_emit_block(e, SW_ATTENTION_KEY);
  SW_TRY(begin_ring(&r, d));
  int64_t step = 0;
  while (true) {
    sw_id results[SW_MAX_RESULTS];
    SW_TRY(emit_step(&r, step, results, d));
    SW_TRY(add_ring_step(&r, results, d));
    const int64_t next = sw_strategy_ring_next(e->model, e->op, e->strategy, step);
    if (next >= r.n) break;
    SW_TRY(pass_all(&r, next - step, true, d));
    step = next;
  }
  if (step && e->op->code == SW_OP_ATTENTION_GRAD) SW_TRY(pass_all(&r, r.n - step, false, d));
  return finish_ring(&r, d);
}
