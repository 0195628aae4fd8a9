/* Ops that move elements along dims: reverse, slice, pad, concatenate, dynamic_slice, dynamic_update_slice. One loop
 * per dim of the result; an operand is indexed at an offset, with a stride or backwards:
 *
 *   slice(f32[10]) {start=[2], limit=[9], strides=[3]}   d0 (3)   (d0)->(3*d0+2)
 *   reverse(f32[4]) {dims=[0]}                           d0 (4)   (d0)->(-d0+3)
 *
 * A dim that dynamic_slice cuts is a table: each device contributes what falls into its part (a MASKED loop over the
 * operand's dim), and the result's dim has a WHOLE loop of its own.
 */
#include "graph/ops/op_rules.h"

#include "base/checked.h"

sw_rc sw_infer_reverse(sw_rule_call *c) {
  SW_TRY(sw_check_dims(c, SW_ATTR_DIMS, c->operands[0].rank, "operand 0"));
  return sw_call_result_like(c, c->operands[0].dtype, &c->operands[0]);
}

void sw_nest_of_reverse(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0];
  int n, first = sw_nest_parallel_dims(b, x);
  const int64_t *dims = sw_call_ints(c, SW_ATTR_DIMS, &n);
  for (int i = 0; i < x->rank; i++) {
    bool back = sw_list_has(dims, n, i) && x->dims[i] > 1;
    sw_nest_scaled(b, 0, i, first + i, back ? -1 : 1, back ? x->dims[i] - 1 : 0);
  }
  sw_nest_identity(b, sw_nest_result(b, 0), first);
  sw_nest_moves(b, 1);
}

sw_rc sw_infer_shuffle(sw_rule_call *c) {
  int n;
  const sw_type *x = &c->operands[0];
  const int64_t *sources = sw_call_ints(c, SW_ATTR_SOURCES, &n);
  if (x->rank < 1 || n != x->dims[0]) {
    return SW_RULE_FAIL(c, "'sources' has %d numbers; expected one for each position of dim 0", n);
  }
  SW_TRY(sw_check_list(c, SW_ATTR_SOURCES, n, 0));
  bool *taken;
  SW_ARENA_NEW(taken, c->arena, n, c->d);
  for (int i = 0; i < n; i++) {
    if (sources[i] >= n || taken[sources[i]]) {
      return SW_RULE_FAIL(c, "'sources' holds %lld at position %d; expected each of 0 .. %d once",
                          (long long)sources[i], i, n - 1);
    }
    taken[sources[i]] = true;
  }
  return sw_call_result_like(c, x->dtype, x);
}

/* Dim 0 is cut position by position or not at all; strategies know. */
void sw_nest_of_shuffle(const sw_rule_call *c, sw_nest_builder *b) {
  int first = sw_nest_parallel_dims(b, &c->operands[0]);
  sw_nest_identity(b, 0, first);
  sw_nest_identity(b, sw_nest_result(b, 0), first);
}

sw_rc sw_infer_slice(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  SW_TRY(sw_check_list(c, SW_ATTR_START, x->rank, 0));
  SW_TRY(sw_check_list(c, SW_ATTR_LIMIT, x->rank, 0));
  SW_TRY(sw_check_list(c, SW_ATTR_STRIDES, x->rank, 1));
  int n;
  const int64_t *start = sw_call_ints(c, SW_ATTR_START, &n), *limit = sw_call_ints(c, SW_ATTR_LIMIT, &n);
  const int64_t *strides = sw_call_ints(c, SW_ATTR_STRIDES, &n);
  int64_t *dims;
  SW_TRY(sw_call_result(c, x->dtype, x->rank, &dims));
  for (int i = 0; i < n; i++) {
    if (start[i] > limit[i] || limit[i] > x->dims[i]) {
      return SW_RULE_FAIL(c, "dim %d of size %lld is sliced [%lld, %lld); expected 0 <= start <= limit <= size", i,
                          (long long)x->dims[i], (long long)start[i], (long long)limit[i]);
    }
    dims[i] = sw_ceil_div(limit[i] - start[i], strides[i]);
  }
  return SW_OK;
}

void sw_nest_of_slice(const sw_rule_call *c, sw_nest_builder *b) {
  int n, first = sw_nest_parallel_dims(b, &c->results[0]);
  const int64_t *start = sw_call_ints(c, SW_ATTR_START, &n), *strides = sw_call_ints(c, SW_ATTR_STRIDES, &n);
  for (int i = 0; i < n; i++) {
    bool one = c->results[0].dims[i] == 1;
    sw_nest_scaled(b, 0, i, first + i, one ? 1 : strides[i], start[i]);
  }
  sw_nest_identity(b, sw_nest_result(b, 0), first);
  sw_nest_moves(b, 1);
}

sw_rc sw_infer_pad(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  SW_TRY(sw_check_scalar(c, 1));
  SW_TRY(sw_check_same_dtype(c, 0, 1));
  SW_TRY(sw_check_list(c, SW_ATTR_LOW, x->rank, SW_LEAST_PADDING));
  SW_TRY(sw_check_list(c, SW_ATTR_HIGH, x->rank, SW_LEAST_PADDING));
  SW_TRY(sw_check_list(c, SW_ATTR_INTERIOR, x->rank, 0));
  int n;
  const int64_t *low = sw_call_ints(c, SW_ATTR_LOW, &n), *high = sw_call_ints(c, SW_ATTR_HIGH, &n);
  const int64_t *interior = sw_call_ints(c, SW_ATTR_INTERIOR, &n);
  int64_t *dims;
  SW_TRY(sw_call_result(c, x->dtype, x->rank, &dims));
  for (int i = 0; i < n; i++) {
    int64_t gaps = 0;
    bool fits = x->dims[i] == 0 || sw_mul_i64(x->dims[i] - 1, interior[i], &gaps);
    fits = fits && sw_add_i64(x->dims[i], gaps, &gaps) && sw_add_i64(gaps, low[i], &gaps) &&
           sw_add_i64(gaps, high[i], &dims[i]);
    if (!fits || dims[i] < 0) {
      return SW_RULE_FAIL(c, "dim %d of size %lld is padded by %lld and %lld; expected a size of at least 0", i,
                          (long long)x->dims[i], (long long)low[i], (long long)high[i]);
    }
  }
  return SW_OK;
}

void sw_nest_of_pad(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0], *r = &c->results[0];
  int n, first = b->n_loops;
  const int64_t *low = sw_call_ints(c, SW_ATTR_LOW, &n), *interior = sw_call_ints(c, SW_ATTR_INTERIOR, &n);
  for (int i = 0; i < n; i++) {
    bool spread = interior[i] > 0 && x->dims[i] > 1;
    int loop = sw_nest_loop(b, r->dims[i], spread ? SW_LOOP_WHOLE : SW_LOOP_PARALLEL);
    if (!spread) sw_nest_scaled(b, 0, i, loop, 1, -low[i]);
  }
  sw_nest_identity(b, sw_nest_result(b, 0), first);
  sw_nest_moves(b, 3);
}

sw_rc sw_infer_concatenate(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  SW_TRY(sw_check_dim(c, SW_ATTR_DIM, x->rank));
  int64_t dim = sw_call_int(c, SW_ATTR_DIM), total = 0;
  for (int i = 0; i < c->n_operands; i++) {
    const sw_type *y = &c->operands[i];
    bool fits = y->dtype == x->dtype && y->rank == x->rank;
    for (int k = 0; fits && k < x->rank; k++) fits = k == dim || y->dims[k] == x->dims[k];
    if (!fits) {
      return SW_RULE_FAIL(c,
                          "operand %d differs from operand 0; expected the dtype and, but for dim %lld, the shape of "
                          "operand 0",
                          i, (long long)dim);
    }
    if (!sw_add_i64(total, y->dims[dim], &total)) return SW_RULE_FAIL(c, "dim %lld is too large", (long long)dim);
  }
  SW_TRY(sw_call_result_like(c, x->dtype, x));
  ((int64_t *)c->results[0].dims)[dim] = total;
  return SW_OK;
}

void sw_nest_of_concatenate(const sw_rule_call *c, sw_nest_builder *b) {
  int64_t dim = sw_call_int(c, SW_ATTR_DIM), offset = 0;
  int first = sw_nest_parallel_dims(b, &c->results[0]);
  for (int i = 0; i < c->n_operands; i++) {
    sw_nest_identity(b, i, first);
    sw_nest_scaled(b, i, (int)dim, first + (int)dim, 1, -offset);
    offset += c->operands[i].dims[dim];
  }
  sw_nest_identity(b, sw_nest_result(b, 0), first);
  if (c->n_operands <= 32) sw_nest_moves(b, c->n_operands == 32 ? UINT32_MAX : (1u << c->n_operands) - 1);
}

sw_rc sw_infer_dynamic_slice(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  SW_TRY(sw_check_starts(c, 1, x->rank));
  SW_TRY(sw_check_list(c, SW_ATTR_SIZES, x->rank, 0));
  int n;
  const int64_t *sizes = sw_call_ints(c, SW_ATTR_SIZES, &n);
  for (int i = 0; i < n; i++) {
    if (sizes[i] > x->dims[i]) {
      return SW_RULE_FAIL(c, "'sizes' holds %lld for dim %d of size %lld; expected at most that", (long long)sizes[i],
                          i, (long long)x->dims[i]);
    }
  }
  return sw_call_result_like(c, x->dtype, &(sw_type){x->dtype, n, sizes});
}

void sw_nest_of_dynamic_slice(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0], *r = &c->results[0];
  for (int i = 0; i < x->rank; i++) {
    bool full = r->dims[i] == x->dims[i];
    int loop = sw_nest_loop(b, r->dims[i], full ? SW_LOOP_PARALLEL : SW_LOOP_WHOLE);
    sw_nest_set(b, sw_nest_result(b, 0), i, loop);
    if (full) sw_nest_set(b, 0, i, loop);
  }
  for (int i = 0; i < x->rank; i++) {
    if (r->dims[i] == x->dims[i]) continue;
    sw_nest_set(b, 0, i, sw_nest_combining_loop(b, x->dims[i], SW_LOOP_MASKED, SW_REDUCE_SUM));
  }
  sw_nest_moves(b, 1);
}

sw_rc sw_infer_dynamic_update_slice(sw_rule_call *c) {
  const sw_type *x = &c->operands[0], *u = &c->operands[1];
  SW_TRY(sw_check_same_dtype(c, 0, 1));
  if (u->rank != x->rank) return SW_RULE_FAIL(c, "operand 1 has %d dims; expected %d as operand 0", u->rank, x->rank);
  for (int i = 0; i < x->rank; i++) {
    if (u->dims[i] > x->dims[i]) {
      return SW_RULE_FAIL(c, "dim %d of operand 1 has size %lld; expected at most %lld, that of operand 0", i,
                          (long long)u->dims[i], (long long)x->dims[i]);
    }
  }
  SW_TRY(sw_check_starts(c, 2, x->rank));
  return sw_call_result_like(c, x->dtype, x);
}

void sw_nest_of_dynamic_update_slice(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0], *u = &c->operands[1];
  int first = sw_nest_parallel_dims(b, x);
  sw_nest_identity(b, 0, first);
  sw_nest_identity(b, sw_nest_result(b, 0), first);
  for (int i = 0; i < x->rank; i++) {
    if (u->dims[i] == x->dims[i]) sw_nest_set(b, 1, i, first + i);
  }
  sw_nest_moves(b, 3);
}
