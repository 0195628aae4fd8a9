/* Ops that people write and that become several primitive ones:
 *
 *   softmax 'p' of x   p.max = reduce max; p.shift = x - max; p.exp; p.sum = reduce sum; p = exp / sum
 *
 * with broadcasts in between. Sums and exponentials of f16, bf16 and f8 values (softmax, the norms) are taken in f32
 * and converted back, as frameworks do.
 */
#include "graph/ops/expand.h"

#include <math.h>

#include "graph/builder.h"
#include "graph/ops/op_rules.h"

static const sw_type *expand_type(const sw_expansion *e, sw_id x) { return &e->g->values[x].type; }

/* Result names belong to the last step. */
sw_id sw_expand_op(sw_expansion *e, const char *part, sw_opcode code, int n_operands, const sw_id *operands,
                   int n_attrs, const sw_attr *attrs) {
  if (e->rc) return 0;
  sw_op_spec s = {.code = code,
                  .n_operands = n_operands,
                  .operands = operands,
                  .n_attrs = n_attrs,
                  .attrs = attrs,
                  .span = e->spec->span,
                  .location = e->spec->location,
                  .function = e->function && !e->spec->function ? e->call->name : e->spec->function};
  sw_id results[SW_MAX_RESULTS] = {0};
  if (part) {
    s.name = sw_arena_printf(e->call->arena, e->d, "%s.%s", e->call->name, part);
    e->rc = s.name ? sw_graph_free_name(e->g, s.name, &s.name, e->d) : SW_E_RESOURCE;
  } else {
    s.name = e->call->name;
    s.n_result_names = e->spec->n_result_names;
    s.result_names = e->spec->result_names;
  }
  if (!e->rc) e->rc = sw_graph_add_op(e->g, &s, part ? results : e->results, e->d);
  e->done = e->done || !part;
  if (e->rc) sw_diag_note(e->d, "while expanding %s '%s'", sw_opcode_text(e->call->code), e->call->name);
  return e->rc ? 0 : part ? results[0] : e->results[0];
}

static sw_id expand_unary(sw_expansion *e, const char *part, sw_opcode code, sw_id x) {
  return sw_expand_op(e, part, code, 1, &x, 0, NULL);
}

static sw_id expand_binary(sw_expansion *e, const char *part, sw_opcode code, sw_id x, sw_id y) {
  return sw_expand_op(e, part, code, 2, (sw_id[]){x, y}, 0, NULL);
}

static sw_id expand_convert(sw_expansion *e, const char *part, sw_id x, sw_dtype t) {
  return sw_expand_op(e, part, SW_OP_CONVERT, 1, &x, 1, &SW_ATTR_I(DTYPE, t));
}

/* x with dim i as dim dims[i] of a result shaped like value `like`. */
static sw_id expand_broadcast(sw_expansion *e, const char *part, sw_id x, sw_id like, int n, const int64_t *dims) {
  if (e->rc) return 0;
  const sw_type *t = expand_type(e, like);
  sw_attr a[] = {SW_ATTR_L(DIMS, dims, n), SW_ATTR_L(SHAPE, t->dims, t->rank)};
  return sw_expand_op(e, part, SW_OP_BROADCAST, 1, &x, 2, a);
}

/* A constant of one value, shaped like value `like`. */
static sw_id expand_fill(sw_expansion *e, const char *part, double value, sw_id like) {
  if (e->rc) return 0;
  const sw_type *t = expand_type(e, like);
  unsigned char bytes[16] = {0};
  sw_element_store(t->dtype, value, bytes);
  sw_attr a[] = {
      SW_ATTR_I(DTYPE, t->dtype), SW_ATTR_L(SHAPE, t->dims, t->rank), {.key = SW_ATTR_VALUE, .u.data = {bytes, true}}};
  return sw_expand_op(e, part, SW_OP_CONSTANT, 0, NULL, 3, a);
}

sw_id sw_expand_reduce(sw_expansion *e, const char *part, const char *kind, sw_id x, int n, const int64_t *dims) {
  sw_attr a[] = {SW_ATTR_L(DIMS, dims, n), SW_ATTR_T(KIND, kind)};
  return sw_expand_op(e, part, SW_OP_REDUCE, 1, &x, 2, a);
}

/* --- what each takes --------------------------------------------------------------------------------------------- */

sw_rc sw_infer_float(sw_rule_call *c) { return sw_check_class(c, 0, SW_FLOATS); }

/* x, then gamma (and beta) shaped like x's last dim. */
sw_rc sw_infer_norm(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  SW_TRY(sw_check_class(c, 0, SW_FLOATS));
  if (x->rank < 1) return SW_RULE_FAIL(c, "operand 0 is a scalar; expected at least %d dim", 1);
  for (int i = 1; i < c->n_operands; i++) {
    const sw_type *y = &c->operands[i];
    SW_TRY(sw_check_same_dtype(c, 0, i));
    if (y->rank != 1 || y->dims[0] != x->dims[x->rank - 1]) {
      return SW_RULE_FAIL(c, "operand %d has another shape than [%lld], the last dim of operand 0", i,
                          (long long)x->dims[x->rank - 1]);
    }
  }
  return SW_OK;
}

sw_rc sw_infer_take(sw_rule_call *c) {
  SW_TRY(sw_check_class(c, 1, SW_INTS));
  return sw_check_dim(c, SW_ATTR_DIM, c->operands[0].rank);
}

sw_rc sw_infer_scatter_add(sw_rule_call *c) {
  SW_TRY(sw_check_class(c, 0, SW_NUMBERS));
  return sw_infer_take(c);
}

/* Rows of x, and the segment of each. */
sw_rc sw_infer_segments(sw_rule_call *c) {
  const sw_type *x = &c->operands[0], *segments = &c->operands[1];
  SW_TRY(sw_check_class(c, 0, c->rule->classes));
  SW_TRY(sw_check_class(c, 1, SW_INTS));
  if (x->rank < 1) return SW_RULE_FAIL(c, "operand 0 is a scalar; expected at least %d dim", 1);
  if (segments->rank != 1 || segments->dims[0] != x->dims[0]) {
    return SW_RULE_FAIL(c, "operand 1 has another shape than [%lld], one segment per row of operand 0",
                        (long long)x->dims[0]);
  }
  int64_t k = sw_call_int(c, SW_ATTR_K);
  return k < 0 ? SW_RULE_FAIL(c, "'k' is %lld; expected at least 0", (long long)k) : SW_OK;
}

sw_rc sw_infer_one_hot(sw_rule_call *c) {
  SW_TRY(sw_check_class(c, 0, SW_INTS));
  int64_t k = sw_call_int(c, SW_ATTR_K);
  if (k < 0) return SW_RULE_FAIL(c, "'k' is %lld; expected at least 0", (long long)k);
  if (c->operands[0].rank == SW_MAX_RANK) return SW_RULE_FAIL(c, "the result has more than %d dims", SW_MAX_RANK);
  return SW_OK;
}

/* --- what each becomes ------------------------------------------------------------------------------------------- */

enum { DIMS = SW_MAX_RANK };

/* 0 .. rank-1 without `skip`. */
static int dims_but(int rank, int64_t skip, int64_t *out) {
  int n = 0;
  for (int i = 0; i < rank; i++) {
    if (i != skip) out[n++] = i;
  }
  return n;
}

static bool is_narrow(sw_dtype t) { return sw_dtype_class_of(t) == SW_CLASS_FLOAT && sw_dtype_bytes(t) < 4; }

/* The operand in the dtype that sums are taken in. */
static sw_id widened(sw_expansion *e, const char *part, sw_id x) {
  return is_narrow(expand_type(e, x)->dtype) ? expand_convert(e, part, x, SW_F32) : x;
}

/* The last step: `code` on x and y, converted back to dtype t. */
static void expand_last_step(sw_expansion *e, sw_opcode code, sw_id x, sw_id y, sw_dtype t) {
  bool narrow = is_narrow(t);
  sw_id r = expand_binary(e, narrow ? "wide" : SW_LAST_STEP, code, x, y);
  if (narrow) (void)expand_convert(e, SW_LAST_STEP, r, t);
}

sw_rc sw_expand_softmax(sw_expansion *e) {
  e->function = true;
  int64_t dim = sw_call_int(e->call, SW_ATTR_DIM), rest[DIMS];
  sw_id x0 = e->spec->operands[0];
  sw_dtype t = expand_type(e, x0)->dtype;
  int n = dims_but(expand_type(e, x0)->rank, dim, rest);
  sw_id x = widened(e, "x", x0);
  sw_id most = sw_expand_reduce(e, "max", "max", x, 1, &dim);
  sw_id shift = expand_binary(e, "shift", SW_OP_SUBTRACT, x, expand_broadcast(e, "max_all", most, x, n, rest));
  sw_id power = expand_unary(e, "exp", SW_OP_EXP, shift);
  sw_id sum = sw_expand_reduce(e, "sum", "sum", power, 1, &dim);
  expand_last_step(e, SW_OP_DIVIDE, power, expand_broadcast(e, "sum_all", sum, x, n, rest), t);
  return e->rc;
}

/* Mean over the last dim, in the shape of the reduced value. */
static sw_id mean(sw_expansion *e, const char *sum_part, const char *count_part, const char *part, sw_id x) {
  if (e->rc) return 0;
  const sw_type *t = expand_type(e, x);
  int64_t last = t->rank - 1;
  double count = (double)t->dims[last];
  sw_id sum = sw_expand_reduce(e, sum_part, "sum", x, 1, &last);
  return expand_binary(e, part, SW_OP_DIVIDE, sum, expand_fill(e, count_part, count, sum));
}

/* x * broadcast(1 / sqrt(mean_square + epsilon)). */
static sw_id normalised(sw_expansion *e, sw_id x, sw_id mean_square) {
  if (e->rc) return 0;
  int64_t rest[DIMS];
  int rank = expand_type(e, x)->rank, n = dims_but(rank, rank - 1, rest);
  double epsilon = sw_call_attr(e->call, SW_ATTR_EPSILON)->u.f;
  sw_id eps = expand_fill(e, "epsilon", epsilon, mean_square);
  sw_id var = expand_binary(e, "var_eps", SW_OP_ADD, mean_square, eps);
  sw_id scale = expand_unary(e, "rsqrt", SW_OP_RSQRT, var);
  return expand_binary(e, "normal", SW_OP_MULTIPLY, x, expand_broadcast(e, "rsqrt_all", scale, x, n, rest));
}

/* Operand i (gamma or beta), widened and along the last dim of x. */
static sw_id along_last(sw_expansion *e, int i, const char *wide_part, const char *part, sw_id x) {
  if (e->rc) return 0;
  int64_t last = expand_type(e, x)->rank - 1;
  return expand_broadcast(e, part, widened(e, wide_part, e->spec->operands[i]), x, 1, &last);
}

sw_rc sw_expand_layer_norm(sw_expansion *e) {
  e->function = true;
  sw_id x0 = e->spec->operands[0];
  sw_dtype t = expand_type(e, x0)->dtype;
  int64_t rest[DIMS];
  int rank = expand_type(e, x0)->rank, n = dims_but(rank, rank - 1, rest);
  sw_id x = widened(e, "x", x0);
  sw_id mid = mean(e, "sum", "count", "mean", x);
  sw_id centred = expand_binary(e, "centred", SW_OP_SUBTRACT, x, expand_broadcast(e, "mean_all", mid, x, n, rest));
  sw_id square = expand_binary(e, "square", SW_OP_MULTIPLY, centred, centred);
  sw_id y = normalised(e, centred, mean(e, "square_sum", "square_count", "var", square));
  sw_id scaled = expand_binary(e, "scaled", SW_OP_MULTIPLY, y, along_last(e, 1, "gamma", "gamma_all", x));
  expand_last_step(e, SW_OP_ADD, scaled, along_last(e, 2, "beta", "beta_all", x), t);
  return e->rc;
}

sw_rc sw_expand_rms_norm(sw_expansion *e) {
  e->function = true;
  sw_id x0 = e->spec->operands[0];
  sw_dtype t = expand_type(e, x0)->dtype;
  sw_id x = widened(e, "x", x0);
  sw_id square = expand_binary(e, "square", SW_OP_MULTIPLY, x, x);
  sw_id y = normalised(e, x, mean(e, "square_sum", "count", "mean_square", square));
  expand_last_step(e, SW_OP_MULTIPLY, y, along_last(e, 1, "gamma", "gamma_all", x), t);
  return e->rc;
}

/* x times a constant. */
static sw_id times(sw_expansion *e, const char *constant_part, const char *part, sw_id x, double factor) {
  return expand_binary(e, part, SW_OP_MULTIPLY, x, expand_fill(e, constant_part, factor, x));
}

/* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), or x/2 (1 + erf(x / sqrt 2)). */
sw_rc sw_expand_gelu(sw_expansion *e) {
  e->function = true;
  sw_id x = e->spec->operands[0], bend;
  if (sw_call_int(e->call, SW_ATTR_APPROXIMATE)) {
    sw_id square = expand_binary(e, "square", SW_OP_MULTIPLY, x, x);
    sw_id cube = expand_binary(e, "cube", SW_OP_MULTIPLY, square, x);
    sw_id inner = expand_binary(e, "inner", SW_OP_ADD, x, times(e, "c3", "cubic", cube, 0.044715));
    bend = expand_unary(e, "tanh", SW_OP_TANH, times(e, "c1", "scaled", inner, sqrt(2 / acos(-1))));
  } else {
    bend = expand_unary(e, "erf", SW_OP_ERF, times(e, "c1", "scaled", x, sqrt(0.5)));
  }
  sw_id cdf2 = expand_binary(e, "plus_one", SW_OP_ADD, bend, expand_fill(e, "one", 1, x));
  (void)expand_binary(e, SW_LAST_STEP, SW_OP_MULTIPLY, times(e, "half", "half_x", x, 0.5), cdf2);
  return e->rc;
}

sw_rc sw_expand_silu(sw_expansion *e) {
  e->function = true;
  sw_id x = e->spec->operands[0];
  (void)expand_binary(e, SW_LAST_STEP, SW_OP_MULTIPLY, x, expand_unary(e, "logistic", SW_OP_LOGISTIC, x));
  return e->rc;
}

/* Window dims of the tensor in which dim `dim` of x gave way to the dims of the indices. */
static int window_dims(const sw_type *x, const sw_type *indices, int64_t dim, int64_t *out) {
  int n = 0;
  for (int i = 0; i < x->rank; i++) {
    if (i != dim) out[n++] = i < dim ? i : i + indices->rank - 1;
  }
  return n;
}

sw_rc sw_expand_take(sw_expansion *e) {
  const sw_type *x = &e->call->operands[0], *indices = &e->call->operands[1];
  int64_t dim = sw_call_int(e->call, SW_ATTR_DIM), window[DIMS], sizes[DIMS];
  int n = window_dims(x, indices, dim, window);
  for (int i = 0; i < x->rank; i++) sizes[i] = i == dim ? 1 : x->dims[i];
  sw_attr a[] = {SW_ATTR_L(OFFSET_DIMS, window, n), SW_ATTR_L(COLLAPSED_DIMS, &dim, 1),
                 SW_ATTR_L(START_INDEX_MAP, &dim, 1), SW_ATTR_I(INDEX_VECTOR_DIM, indices->rank),
                 SW_ATTR_L(SIZES, sizes, x->rank)};
  (void)sw_expand_op(e, SW_LAST_STEP, SW_OP_GATHER, 2, e->spec->operands, 5, a);
  return e->rc;
}

sw_rc sw_expand_scatter_add(sw_expansion *e) {
  const sw_type *x = &e->call->operands[0], *indices = &e->call->operands[1];
  int64_t dim = sw_call_int(e->call, SW_ATTR_DIM), window[DIMS];
  int n = window_dims(x, indices, dim, window);
  sw_attr a[] = {SW_ATTR_T(KIND, "sum"), SW_ATTR_L(UPDATE_WINDOW_DIMS, window, n), SW_ATTR_L(INSERTED_DIMS, &dim, 1),
                 SW_ATTR_L(START_INDEX_MAP, &dim, 1), SW_ATTR_I(INDEX_VECTOR_DIM, indices->rank)};
  (void)sw_expand_op(e, SW_LAST_STEP, SW_OP_SCATTER, 3, e->spec->operands, 5, a);
  return e->rc;
}

sw_rc sw_expand_segment_max(sw_expansion *e) {
  const sw_type *x = &e->call->operands[0];
  int64_t shape[DIMS] = {sw_call_int(e->call, SW_ATTR_K)}, window[DIMS], first = 0;
  unsigned char least[16] = {0};
  int n = dims_but(x->rank, 0, window);
  for (int i = 1; i < x->rank; i++) shape[i] = x->dims[i];
  sw_reduction_identity_bytes(SW_REDUCE_MAX, x->dtype, least);
  sw_attr fill[] = {
      SW_ATTR_I(DTYPE, x->dtype), SW_ATTR_L(SHAPE, shape, x->rank), {.key = SW_ATTR_VALUE, .u.data = {least, true}}};
  sw_attr a[] = {SW_ATTR_T(KIND, "max"), SW_ATTR_L(UPDATE_WINDOW_DIMS, window, n), SW_ATTR_L(INSERTED_DIMS, &first, 1),
                 SW_ATTR_L(START_INDEX_MAP, &first, 1), SW_ATTR_I(INDEX_VECTOR_DIM, 1)};
  sw_id in[] = {sw_expand_op(e, "least", SW_OP_CONSTANT, 0, NULL, 3, fill), e->spec->operands[1], e->spec->operands[0]};
  (void)sw_expand_op(e, SW_LAST_STEP, SW_OP_SCATTER, 3, in, 5, a);
  return e->rc;
}

sw_rc sw_expand_one_hot(sw_expansion *e) {
  const sw_type *x = &e->call->operands[0];
  int64_t shape[DIMS], dims[DIMS];
  int rank = x->rank + 1;
  for (int i = 0; i < x->rank; i++) shape[i] = x->dims[i];
  shape[x->rank] = sw_call_int(e->call, SW_ATTR_K);
  sw_attr a[] = {SW_ATTR_I(DTYPE, x->dtype), SW_ATTR_I(DIM, x->rank), SW_ATTR_L(SHAPE, shape, rank)};
  sw_id classes = sw_expand_op(e, "classes", SW_OP_IOTA, 0, NULL, 3, a);
  sw_id wanted = expand_broadcast(e, "indices", e->spec->operands[0], classes, dims_but(rank, x->rank, dims), dims);
  sw_id same = sw_expand_op(e, "same", SW_OP_COMPARE, 2, (sw_id[]){wanted, classes}, 1, &SW_ATTR_T(DIRECTION, "eq"));
  (void)expand_convert(e, SW_LAST_STEP, same, sw_call_dtype(e->call, SW_ATTR_DTYPE));
  return e->rc;
}

sw_rc sw_expand_cumsum(sw_expansion *e) {
  sw_attr a[] = {SW_ATTR_T(KIND, "sum"), *sw_call_attr(e->call, SW_ATTR_DIM), *sw_call_attr(e->call, SW_ATTR_REVERSED),
                 *sw_call_attr(e->call, SW_ATTR_EXCLUSIVE)};
  (void)sw_expand_op(e, SW_LAST_STEP, SW_OP_CUMULATIVE, 1, e->spec->operands, 4, a);
  return e->rc;
}
