/* Ops that combine along dims: reduce, argmax and argmin, cumulative, top_k, reduce_window. Loops are the operand's
 * dims in order:
 *
 *   reduce(f32[2,3,4]) {kind=sum, dims=[1]}   d0 (2), d1 (3, reduction sum), d2 (4)
 *                                             (d0,d1,d2)->(d0,d1,d2)   (d0,d1,d2)->(d0,d2)
 */
#include <string.h>

#include "graph/ops/op_rules.h"

/* The operand's shape without `dims`, or with extent 1 there. */
static sw_rc result_without(sw_rule_call *c, sw_dtype t, const int64_t *dims, int n, bool keep) {
  const sw_type *x = &c->operands[0];
  int64_t *out;
  SW_TRY(sw_call_result(c, t, keep ? x->rank : x->rank - n, &out));
  int k = 0;
  for (int i = 0; i < x->rank; i++) {
    bool gone = sw_list_has(dims, n, i);
    if (!gone || keep) out[k++] = gone ? 1 : x->dims[i];
  }
  return SW_OK;
}

/* A loop per dim of the operand, of the given kind on `dims`; results keep the other dims. */
static void loops_without(const sw_rule_call *c, sw_nest_builder *b, const int64_t *dims, int n, sw_loop_kind kind,
                          sw_reduction combiner, bool keep) {
  const sw_type *x = &c->operands[0];
  int k = 0;
  for (int i = 0; i < x->rank; i++) {
    bool gone = sw_list_has(dims, n, i);
    int loop =
        gone ? sw_nest_combining_loop(b, x->dims[i], kind, combiner) : sw_nest_loop(b, x->dims[i], SW_LOOP_PARALLEL);
    sw_nest_set(b, 0, i, loop);
    if (!gone) sw_nest_set(b, sw_nest_result(b, 0), k, loop);
    if (!gone || keep) k++;
  }
}

sw_rc sw_infer_reduce(sw_rule_call *c) {
  sw_reduction kind;
  SW_TRY(sw_check_kind(c, &kind));
  SW_TRY(sw_check_dims(c, SW_ATTR_DIMS, c->operands[0].rank, "operand 0"));
  int n;
  const int64_t *dims = sw_call_ints(c, SW_ATTR_DIMS, &n);
  return result_without(c, c->operands[0].dtype, dims, n, sw_call_int(c, SW_ATTR_KEEP_DIMS) != 0);
}

void sw_nest_of_reduce(const sw_rule_call *c, sw_nest_builder *b) {
  int n;
  const int64_t *dims = sw_call_ints(c, SW_ATTR_DIMS, &n);
  sw_reduction kind = sw_call_kind(c);
  loops_without(c, b, dims, n, SW_LOOP_REDUCTION, kind, sw_call_int(c, SW_ATTR_KEEP_DIMS) != 0);
  sw_nest_linear(b, 1, kind);
}

sw_rc sw_infer_pick(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  SW_TRY(sw_check_class(c, 0, SW_REALS | SW_BOOLS));
  SW_TRY(sw_check_dim(c, SW_ATTR_DIM, x->rank));
  int64_t dim = sw_call_int(c, SW_ATTR_DIM);
  sw_dtype t = sw_call_dtype(c, SW_ATTR_DTYPE);
  if (!((1u << sw_dtype_class_of(t)) & SW_INTS)) {
    return SW_RULE_FAIL(c, "'dtype' is %s; expected an integer dtype", sw_dtype_text(t));
  }
  if (x->dims[dim] == 0) return SW_RULE_FAIL(c, "dim %lld has size 0; expected at least 1", (long long)dim);
  return result_without(c, t, &dim, 1, sw_call_int(c, SW_ATTR_KEEP_DIMS) != 0);
}

void sw_nest_of_pick(const sw_rule_call *c, sw_nest_builder *b) {
  int64_t dim = sw_call_int(c, SW_ATTR_DIM);
  loops_without(c, b, &dim, 1, SW_LOOP_PICK, SW_REDUCE_MAX, sw_call_int(c, SW_ATTR_KEEP_DIMS) != 0);
}

sw_rc sw_infer_along_dim(sw_rule_call *c) {
  SW_TRY(sw_check_class(c, 0, c->rule->classes));
  SW_TRY(sw_check_dim(c, SW_ATTR_DIM, c->operands[0].rank));
  return sw_call_result_like(c, c->operands[0].dtype, &c->operands[0]);
}

sw_rc sw_infer_cumulative(sw_rule_call *c) {
  sw_reduction kind;
  SW_TRY(sw_check_kind(c, &kind));
  SW_TRY(sw_check_dim(c, SW_ATTR_DIM, c->operands[0].rank));
  return sw_call_result_like(c, c->operands[0].dtype, &c->operands[0]);
}

void sw_nest_of_cumulative(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0];
  int64_t dim = sw_call_int(c, SW_ATTR_DIM);
  sw_reduction kind = sw_call_kind(c);
  int first = b->n_loops;
  for (int i = 0; i < x->rank; i++) {
    (void)sw_nest_combining_loop(b, x->dims[i], i == dim ? SW_LOOP_SCAN : SW_LOOP_PARALLEL, kind);
  }
  sw_nest_identity(b, 0, first);
  sw_nest_identity(b, sw_nest_result(b, 0), first);
  sw_nest_linear(b, 1, kind);
}

sw_rc sw_infer_top_k(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  SW_TRY(sw_check_class(c, 0, SW_REALS | SW_BOOLS));
  SW_TRY(sw_check_dim(c, SW_ATTR_DIM, x->rank));
  int64_t dim = sw_call_int(c, SW_ATTR_DIM), k = sw_call_int(c, SW_ATTR_K);
  if (k < 0 || k > x->dims[dim]) {
    return SW_RULE_FAIL(c, "'k' is %lld; expected 0 .. %lld, the size of dim %lld", (long long)k,
                        (long long)x->dims[dim], (long long)dim);
  }
  for (int r = 0; r < 2; r++) {
    SW_TRY(sw_call_result_like(c, r ? SW_I32 : x->dtype, x));
    ((int64_t *)c->results[r].dims)[dim] = k;
  }
  return SW_OK;
}

void sw_nest_of_top_k(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0];
  int64_t dim = sw_call_int(c, SW_ATTR_DIM);
  int first = b->n_loops;
  for (int i = 0; i < x->rank; i++) {
    (void)sw_nest_combining_loop(b, x->dims[i], i == dim ? SW_LOOP_PICK : SW_LOOP_PARALLEL, SW_REDUCE_MAX);
  }
  int n_kept = sw_nest_loop(b, sw_call_int(c, SW_ATTR_K), SW_LOOP_WHOLE);
  sw_nest_identity(b, 0, first);
  for (int r = 0; r < 2; r++) {
    sw_nest_identity(b, sw_nest_result(b, r), first);
    sw_nest_set(b, sw_nest_result(b, r), (int)dim, n_kept);
  }
  sw_nest_total_flops(b, (double)sw_type_elements(x));
}

/* The six lists of a window, one number per dim. */
typedef struct windows {
  const int64_t *size, *stride, *low, *high, *lhs_dilation, *rhs_dilation;
} windows;

static windows windows_of(const sw_rule_call *c) {
  int n;
  return (windows){sw_call_ints(c, SW_ATTR_WINDOW, &n),       sw_call_ints(c, SW_ATTR_STRIDES, &n),
                   sw_call_ints(c, SW_ATTR_PAD_LOW, &n),      sw_call_ints(c, SW_ATTR_PAD_HIGH, &n),
                   sw_call_ints(c, SW_ATTR_LHS_DILATION, &n), sw_call_ints(c, SW_ATTR_RHS_DILATION, &n)};
}

sw_rc sw_infer_reduce_window(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  sw_reduction kind;
  SW_TRY(sw_check_kind(c, &kind));
  SW_TRY(sw_check_list(c, SW_ATTR_WINDOW, x->rank, 1));
  SW_TRY(sw_check_list(c, SW_ATTR_STRIDES, x->rank, 1));
  SW_TRY(sw_check_list(c, SW_ATTR_LHS_DILATION, x->rank, 1));
  SW_TRY(sw_check_list(c, SW_ATTR_RHS_DILATION, x->rank, 1));
  SW_TRY(sw_check_list(c, SW_ATTR_PAD_LOW, x->rank, SW_LEAST_PADDING));
  SW_TRY(sw_check_list(c, SW_ATTR_PAD_HIGH, x->rank, SW_LEAST_PADDING));
  windows w = windows_of(c);
  int64_t *dims;
  SW_TRY(sw_call_result(c, x->dtype, x->rank, &dims));
  for (int i = 0; i < x->rank; i++) {
    dims[i] =
        sw_window_extent(x->dims[i], w.low[i], w.high[i], w.lhs_dilation[i], w.size[i], w.rhs_dilation[i], w.stride[i]);
    if (dims[i] < 0) return SW_RULE_FAIL(c, "dim %d of the result does not fit 64 bits", i);
  }
  return SW_OK;
}

/* Window loops are walked by every device: a cut window would give a partial result at the price of a halo. */
void sw_nest_of_reduce_window(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0];
  windows w = windows_of(c);
  sw_reduction kind = sw_call_kind(c);
  int first = b->n_loops;
  for (int i = 0; i < x->rank; i++) {
    (void)sw_nest_loop(b, c->results[0].dims[i], w.lhs_dilation[i] > 1 ? SW_LOOP_WHOLE : SW_LOOP_PARALLEL);
  }
  sw_nest_identity(b, sw_nest_result(b, 0), first);
  for (int i = 0; i < x->rank; i++) {
    int loops[2] = {first + i, sw_nest_combining_loop(b, w.size[i], SW_LOOP_WHOLE, kind)};
    int64_t coefs[2] = {w.stride[i], w.rhs_dilation[i]};
    if (w.lhs_dilation[i] == 1) sw_nest_window(b, 0, i, loops, coefs, -w.low[i]);
  }
  sw_nest_linear(b, 1, kind);
}

/* --- select_and_scatter ------------------------------------------------------------------------------------------ */

static bool is_plain(const windows *w, int i) {
  return w->size[i] == 1 && w->stride[i] == 1 && w->low[i] == 0 && w->high[i] == 0;
}

static windows windows_of_scatter(const sw_rule_call *c) {
  int n;
  return (windows){.size = sw_call_ints(c, SW_ATTR_WINDOW, &n),
                   .stride = sw_call_ints(c, SW_ATTR_STRIDES, &n),
                   .low = sw_call_ints(c, SW_ATTR_PAD_LOW, &n),
                   .high = sw_call_ints(c, SW_ATTR_PAD_HIGH, &n)};
}

static sw_rc check_select_by(const sw_rule_call *c) {
  static const char *const kWords[] = {"ge", "gt", "le", "lt"};
  const char *word = sw_call_text(c, SW_ATTR_SELECT_BY);
  for (int i = 0; i < 4; i++) {
    if (strcmp(kWords[i], word) == 0) return SW_OK;
  }
  return SW_RULE_FAIL(c, "'select' is '%s'; expected ge, gt, le or lt", word);
}

sw_rc sw_infer_select_and_scatter(sw_rule_call *c) {
  const sw_type *x = &c->operands[0], *source = &c->operands[1];
  sw_reduction kind;
  SW_TRY(sw_check_class(c, 0, SW_REALS | SW_BOOLS));
  SW_TRY(sw_check_kind(c, &kind));
  SW_TRY(check_select_by(c));
  SW_TRY(sw_check_same_dtype(c, 0, 1));
  SW_TRY(sw_check_same_dtype(c, 0, 2));
  SW_TRY(sw_check_scalar(c, 2));
  SW_TRY(sw_check_list(c, SW_ATTR_WINDOW, x->rank, 1));
  SW_TRY(sw_check_list(c, SW_ATTR_STRIDES, x->rank, 1));
  SW_TRY(sw_check_list(c, SW_ATTR_PAD_LOW, x->rank, SW_LEAST_PADDING));
  SW_TRY(sw_check_list(c, SW_ATTR_PAD_HIGH, x->rank, SW_LEAST_PADDING));
  windows w = windows_of_scatter(c);
  if (source->rank != x->rank) {
    return SW_RULE_FAIL(c, "operand 1 has %d dims; expected %d, those of operand 0", source->rank, x->rank);
  }
  for (int i = 0; i < x->rank; i++) {
    int64_t want = sw_window_extent(x->dims[i], w.low[i], w.high[i], 1, w.size[i], 1, w.stride[i]);
    if (source->dims[i] == want) continue;
    return SW_RULE_FAIL(c, "dim %d of operand 1 has size %lld; expected %lld, one per window", i,
                        (long long)source->dims[i], (long long)want);
  }
  return sw_call_result_like(c, x->dtype, x);
}

/* Windows of a cut dim would reach into other blocks on both ways: only dims without windows are cut. */
void sw_nest_of_select_and_scatter(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0];
  windows w = windows_of_scatter(c);
  for (int i = 0; i < x->rank; i++) {
    bool plain = is_plain(&w, i);
    int loop = sw_nest_loop(b, x->dims[i], plain ? SW_LOOP_PARALLEL : SW_LOOP_WHOLE);
    sw_nest_set(b, sw_nest_result(b, 0), i, loop);
    for (int k = 0; plain && k < 2; k++) sw_nest_set(b, k, i, loop);
  }
  double window = 1;
  for (int i = 0; i < x->rank; i++) window *= (double)w.size[i];
  sw_nest_total_flops(b, (double)sw_type_elements(&c->operands[1]) * (window + 1));
}
