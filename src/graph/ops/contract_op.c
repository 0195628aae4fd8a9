/* Contractions: dot_general and convolution.
 *
 * A convolution is the same as a dot with windows. f32[2,8,8,3] * f32[3,3,3,16], layouts b01f, 01io, b01f, stride 2,
 * padding 1 below: loops b (2), f (16), p0 p1 (4), i (3, sum), q0 q1 (3, sum);
 *   x (b, 2*p0+q0-1, 2*p1+q1-1, i)    w (q0, q1, i, f)    result (b, p0, p1, f)
 * Feature groups add a loop g, of which x's features, w's outputs and the result's features are digits (g, i), (g, f)
 * and (g, f); batch groups one of which x's batch is (g, b).
 */
#include <string.h>

#include "graph/ops/op_rules.h"

#include "base/checked.h"

/* The dims of a contraction. */
typedef struct dot_dims {
  int n_batch, n_contract;
  const int64_t *batch[2], *contract[2];
} dot_dims;

static dot_dims dot_dims_of(const sw_rule_call *c) {
  dot_dims k;
  k.batch[0] = sw_call_ints(c, SW_ATTR_LHS_BATCH, &k.n_batch);
  k.batch[1] = sw_call_ints(c, SW_ATTR_RHS_BATCH, &k.n_batch);
  k.contract[0] = sw_call_ints(c, SW_ATTR_LHS_CONTRACT, &k.n_contract);
  k.contract[1] = sw_call_ints(c, SW_ATTR_RHS_CONTRACT, &k.n_contract);
  return k;
}

static bool is_free_dim(const dot_dims *k, int side, int dim) {
  return !sw_list_has(k->batch[side], k->n_batch, dim) && !sw_list_has(k->contract[side], k->n_contract, dim);
}

static sw_rc check_pairs(const sw_rule_call *c, sw_attr_key lhs, sw_attr_key rhs, const char *what) {
  SW_TRY(sw_check_dims(c, lhs, c->operands[0].rank, "operand 0"));
  SW_TRY(sw_check_dims(c, rhs, c->operands[1].rank, "operand 1"));
  int n, m;
  const int64_t *a = sw_call_ints(c, lhs, &n), *b = sw_call_ints(c, rhs, &m);
  if (n != m) {
    return SW_RULE_FAIL(c, "'%s' has %d dims and '%s' %d; expected as many", sw_attr_text(lhs), n, sw_attr_text(rhs),
                        m);
  }
  for (int i = 0; i < n; i++) {
    int64_t x = c->operands[0].dims[a[i]], y = c->operands[1].dims[b[i]];
    if (x != y) {
      return SW_RULE_FAIL(c,
                          "%s dim %lld of operand 0 has size %lld and dim %lld of operand 1 has size %lld; expected "
                          "equal sizes",
                          what, (long long)a[i], (long long)x, (long long)b[i], (long long)y);
    }
  }
  return SW_OK;
}

static sw_rc check_disjoint(const sw_rule_call *c, sw_attr_key batch, sw_attr_key contract) {
  int n, m;
  const int64_t *a = sw_call_ints(c, batch, &n), *b = sw_call_ints(c, contract, &m);
  for (int i = 0; i < n; i++) {
    if (sw_list_has(b, m, a[i])) {
      return SW_RULE_FAIL(c, "dim %lld is in '%s' and in '%s'; expected one of them", (long long)a[i],
                          sw_attr_text(batch), sw_attr_text(contract));
    }
  }
  return SW_OK;
}

static bool is_float_of_8_bits(sw_dtype t) { return sw_dtype_class_of(t) == SW_CLASS_FLOAT && sw_dtype_bits(t) == 8; }

/* The dtype of the result: of the operands' class. */
static sw_rc check_contraction(const sw_rule_call *c, sw_dtype *out) {
  SW_TRY(sw_check_class(c, 0, SW_NUMBERS));
  sw_dtype t = c->operands[0].dtype;
  const sw_attr *a = sw_call_attr(c, SW_ATTR_DTYPE), *precision = sw_call_attr(c, SW_ATTR_PRECISION);
  sw_precision known;
  if (precision && !sw_precision_parse(precision->u.text, &known))
    return SW_RULE_FAIL(c, "'precision' is '%.40s'; expected default, high or highest", precision->u.text);
  *out = a ? (sw_dtype)a->u.i : t;
  if (sw_dtype_class_of(*out) == sw_dtype_class_of(t)) return SW_OK;
  return SW_RULE_FAIL(c, "'dtype' is %s and the operands are %s; expected a dtype of the same class",
                      sw_dtype_text(*out), sw_dtype_text(t));
}

sw_rc sw_infer_dot(sw_rule_call *c) {
  sw_dtype t;
  /* Floats of eight bits need not be alike: gradients want another range than weights. */
  if (!is_float_of_8_bits(c->operands[0].dtype) || !is_float_of_8_bits(c->operands[1].dtype))
    SW_TRY(sw_check_same_dtype(c, 0, 1));
  SW_TRY(check_contraction(c, &t));
  SW_TRY(check_pairs(c, SW_ATTR_LHS_BATCH, SW_ATTR_RHS_BATCH, "batch"));
  SW_TRY(check_pairs(c, SW_ATTR_LHS_CONTRACT, SW_ATTR_RHS_CONTRACT, "contracting"));
  SW_TRY(check_disjoint(c, SW_ATTR_LHS_BATCH, SW_ATTR_LHS_CONTRACT));
  SW_TRY(check_disjoint(c, SW_ATTR_RHS_BATCH, SW_ATTR_RHS_CONTRACT));
  dot_dims k = dot_dims_of(c);
  int rank = c->operands[0].rank + c->operands[1].rank - k.n_batch - 2 * k.n_contract;
  int64_t *dims;
  SW_TRY(sw_call_result(c, t, rank, &dims));
  int n = 0;
  for (int i = 0; i < k.n_batch; i++) dims[n++] = c->operands[0].dims[k.batch[0][i]];
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < c->operands[side].rank; i++) {
      if (is_free_dim(&k, side, i)) dims[n++] = c->operands[side].dims[i];
    }
  }
  return SW_OK;
}

void sw_nest_of_dot(const sw_rule_call *c, sw_nest_builder *b) {
  dot_dims k = dot_dims_of(c);
  int loop = sw_nest_parallel_dims(b, &c->results[0]);
  sw_nest_identity(b, sw_nest_result(b, 0), loop);
  for (int i = 0; i < k.n_batch; i++, loop++) {
    for (int side = 0; side < 2; side++) sw_nest_set(b, side, (int)k.batch[side][i], loop);
  }
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < c->operands[side].rank; i++) {
      if (is_free_dim(&k, side, i)) sw_nest_set(b, side, i, loop++);
    }
  }
  for (int i = 0; i < k.n_contract; i++) {
    int64_t size = c->operands[0].dims[k.contract[0][i]];
    loop = sw_nest_combining_loop(b, size, SW_LOOP_REDUCTION, SW_REDUCE_SUM);
    for (int side = 0; side < 2; side++) sw_nest_set(b, side, (int)k.contract[side][i], loop);
  }
  sw_nest_linear(b, 1, SW_REDUCE_SUM);
  sw_nest_linear(b, 2, SW_REDUCE_SUM);
}

enum { SPATIAL = SW_MAX_RANK - 2 };

/* Where the dims of one tensor of a convolution are: major is batch or output feature, minor is feature. */
typedef struct layout {
  int major, minor;
  int spatial[SPATIAL];
} layout;

/* "b01f" with letters "bf", or "01io" with letters "oi": each letter and digit below rank - 2 once. */
static sw_rc read_layout(const sw_rule_call *c, sw_attr_key k, const char *letters, int rank, layout *out) {
  const char *text = sw_call_text(c, k);
  bool seen[SW_MAX_RANK] = {false};
  bool right = (int)strlen(text) == rank;
  for (int i = 0; right && i < rank; i++) {
    int slot = text[i] == letters[0] ? 0 : text[i] == letters[1] ? 1 : text[i] - '0' + 2;
    right = slot >= 0 && slot < rank && !seen[slot];
    if (!right) break;
    seen[slot] = true;
    *(slot == 0 ? &out->major : slot == 1 ? &out->minor : &out->spatial[slot - 2]) = i;
  }
  if (right) return SW_OK;
  return SW_RULE_FAIL(c, "'%s' is '%s'; expected '%c', '%c' and the digits 0 to %d, each once", sw_attr_text(k), text,
                      letters[0], letters[1], rank - 3);
}

typedef struct conv {
  int n; /* spatial dims */
  layout x, w, r;
  int64_t feature_groups, batch_groups;
  const int64_t *stride, *low, *high, *lhs_dilation, *rhs_dilation;
} conv;

static sw_rc read_conv(const sw_rule_call *c, conv *k) {
  int rank = c->operands[0].rank, n;
  if (rank < 2 || c->operands[1].rank != rank) {
    return SW_RULE_FAIL(c, "operands have %d and %d dims; expected the same number, at least 2", rank,
                        c->operands[1].rank);
  }
  k->n = rank - 2;
  SW_TRY(read_layout(c, SW_ATTR_LHS_LAYOUT, "bf", rank, &k->x));
  SW_TRY(read_layout(c, SW_ATTR_RHS_LAYOUT, "oi", rank, &k->w));
  SW_TRY(read_layout(c, SW_ATTR_OUT_LAYOUT, "bf", rank, &k->r));
  SW_TRY(sw_check_list(c, SW_ATTR_STRIDES, k->n, 1));
  SW_TRY(sw_check_list(c, SW_ATTR_LHS_DILATION, k->n, 1));
  SW_TRY(sw_check_list(c, SW_ATTR_RHS_DILATION, k->n, 1));
  SW_TRY(sw_check_list(c, SW_ATTR_PAD_LOW, k->n, SW_LEAST_PADDING));
  SW_TRY(sw_check_list(c, SW_ATTR_PAD_HIGH, k->n, SW_LEAST_PADDING));
  k->stride = sw_call_ints(c, SW_ATTR_STRIDES, &n);
  k->low = sw_call_ints(c, SW_ATTR_PAD_LOW, &n);
  k->high = sw_call_ints(c, SW_ATTR_PAD_HIGH, &n);
  k->lhs_dilation = sw_call_ints(c, SW_ATTR_LHS_DILATION, &n);
  k->rhs_dilation = sw_call_ints(c, SW_ATTR_RHS_DILATION, &n);
  k->feature_groups = sw_call_int(c, SW_ATTR_FEATURE_GROUPS);
  k->batch_groups = sw_call_int(c, SW_ATTR_BATCH_GROUPS);
  return SW_OK;
}

static sw_rc check_groups(const sw_rule_call *c, const conv *k) {
  const int64_t *x = c->operands[0].dims, *w = c->operands[1].dims;
  int64_t g = k->feature_groups, bg = k->batch_groups, features;
  if (g < 1 || bg < 1 || (g > 1 && bg > 1)) {
    return SW_RULE_FAIL(c, "'feature_groups' is %lld and 'batch_groups' %lld; expected at least 1, and one of them 1",
                        (long long)g, (long long)bg);
  }
  if (!sw_mul_i64(w[k->w.minor], g, &features) || features != x[k->x.minor]) {
    return SW_RULE_FAIL(c,
                        "operand 0 has %lld features and operand 1 takes %lld in each of %lld groups; expected "
                        "%lld * groups",
                        (long long)x[k->x.minor], (long long)w[k->w.minor], (long long)g, (long long)w[k->w.minor]);
  }
  if (w[k->w.major] % g || w[k->w.major] % bg || x[k->x.major] % bg) {
    return SW_RULE_FAIL(c, "batch %lld and output features %lld do not divide by the groups (%lld)",
                        (long long)x[k->x.major], (long long)w[k->w.major], (long long)(g > 1 ? g : bg));
  }
  return SW_OK;
}

sw_rc sw_infer_convolution(sw_rule_call *c) {
  sw_dtype t;
  conv k = {0};
  SW_TRY(sw_check_same_dtype(c, 0, 1));
  SW_TRY(check_contraction(c, &t));
  SW_TRY(read_conv(c, &k));
  SW_TRY(check_groups(c, &k));
  const int64_t *x = c->operands[0].dims, *w = c->operands[1].dims;
  int64_t *dims;
  SW_TRY(sw_call_result(c, t, k.n + 2, &dims));
  dims[k.r.major] = x[k.x.major] / k.batch_groups;
  dims[k.r.minor] = w[k.w.major];
  for (int i = 0; i < k.n; i++) {
    int64_t n = sw_window_extent(x[k.x.spatial[i]], k.low[i], k.high[i], k.lhs_dilation[i], w[k.w.spatial[i]],
                                 k.rhs_dilation[i], k.stride[i]);
    if (n < 0) return SW_RULE_FAIL(c, "spatial dim %d of the result does not fit 64 bits", i);
    dims[k.r.spatial[i]] = n;
  }
  return SW_OK;
}

/* Batch, group, output and input feature. */
static void feature_loops(const sw_rule_call *c, const conv *k, sw_nest_builder *b) {
  const int64_t *w = c->operands[1].dims, *r = c->results[0].dims;
  int64_t groups = k->feature_groups * k->batch_groups;
  int result = sw_nest_result(b, 0);
  int batch[2] = {0}, output[2] = {0}, input[2] = {0}, n = groups > 1 ? 2 : 1;
  batch[n - 1] = sw_nest_loop(b, r[k->r.major], SW_LOOP_PARALLEL);
  if (n == 2) batch[0] = output[0] = input[0] = sw_nest_loop(b, groups, SW_LOOP_PARALLEL);
  output[n - 1] = sw_nest_loop(b, w[k->w.major] / groups, SW_LOOP_PARALLEL);
  input[n - 1] = sw_nest_combining_loop(b, w[k->w.minor], SW_LOOP_REDUCTION, SW_REDUCE_SUM);
  int skip_batch = k->batch_groups > 1 ? 0 : n - 1, skip_input = k->feature_groups > 1 ? 0 : n - 1;
  sw_nest_digits(b, 0, k->x.major, n - skip_batch, batch + skip_batch, 1);
  sw_nest_digits(b, 0, k->x.minor, n - skip_input, input + skip_input, 1);
  sw_nest_digits(b, 1, k->w.major, n, output, 1);
  sw_nest_set(b, 1, k->w.minor, input[n - 1]);
  sw_nest_set(b, result, k->r.major, batch[n - 1]);
  sw_nest_digits(b, result, k->r.minor, n, output, 1);
}

/* One spatial dim: result element p and window element q meet at p * stride + q * rhs_dilation. */
typedef struct steps {
  int64_t n, each;
} steps;

/* x with x * a = 1 modulo m, where a and m have no common divisor. */
static int64_t inverse(int64_t a, int64_t m) {
  if (m <= 1) return 0;
  int64_t r0 = m, r1 = a % m, x0 = 0, x1 = 1;
  while (r1 > 1) {
    const int64_t q = r0 / r1, r = r0 % r1, x = x0 - q * x1;
    r0 = r1, r1 = r, x0 = x1, x1 = x;
  }
  return (x1 % m + m) % m;
}

/* Pairs of steps that meet at an element: at `low` plus a multiple of `dilation`, of which there are `elements`. */
static double count_meetings(steps a, steps b, int64_t low, int64_t elements, int64_t dilation) {
  const int64_t common = sw_max_i64(1, sw_gcd_i64(b.each, dilation)), period = sw_max_i64(1, dilation / common);
  const int64_t inverse_of_b = inverse(b.each / common, period), last = (elements - 1) * dilation;
  double sum = 0;
  for (int64_t i = 0; i < a.n; i++) {
    const int64_t way = low - i * a.each; /* b goes it, or up to `last` further */
    if (way % common) continue;
    const int64_t turn = ((way / common % period + period) % period * inverse_of_b) % period;
    const int64_t first = sw_max_i64(0, -sw_floor_div(-way, b.each)),
                  end = sw_min_i64(b.n, sw_floor_div(way + last, b.each) + 1);
    if (first < end) sum += (double)(sw_floor_div(end - 1 - turn, period) - sw_floor_div(first - 1 - turn, period));
  }
  return sum;
}

/* The part of the window's products that have an element of x, which is neither padding nor stands between elements
 * that dilation drew apart: no library multiplies by those zeros. Numbers that no memory holds count in full. */
static double share_of_products(const sw_rule_call *c, const conv *k, int dim) {
  const int64_t kMost = INT64_C(1) << 30, kMostSteps = INT64_C(1) << 20;
  const int64_t elements = c->operands[0].dims[k->x.spatial[dim]];
  steps a = {c->results[0].dims[k->r.spatial[dim]], k->stride[dim]},
        b = {c->operands[1].dims[k->w.spatial[dim]], k->rhs_dilation[dim]};
  if (a.n > b.n) {
    const steps longer = a;
    a = b;
    b = longer;
  }
  const int64_t numbers[] = {elements, b.n, a.each, b.each, k->lhs_dilation[dim], k->low[dim], -k->low[dim]};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (numbers[i] > kMost) return 1;
  if (a.n < 1 || a.n > kMostSteps) return 1;
  if (elements < 1) return 0;
  return count_meetings(a, b, k->low[dim], elements, k->lhs_dilation[dim]) / ((double)a.n * (double)b.n);
}

void sw_nest_of_convolution(const sw_rule_call *c, sw_nest_builder *b) {
  conv k = {0};
  if (read_conv(c, &k)) b->rc = SW_BUG(b->d, "%s", "a checked convolution is read differently");
  if (b->rc) return;
  feature_loops(c, &k, b);
  for (int i = 0; i < k.n; i++) {
    bool whole = k.lhs_dilation[i] > 1;
    int64_t window = c->operands[1].dims[k.w.spatial[i]];
    int loops[2];
    loops[0] = sw_nest_loop(b, c->results[0].dims[k.r.spatial[i]], whole ? SW_LOOP_WHOLE : SW_LOOP_PARALLEL);
    loops[1] = sw_nest_combining_loop(b, window, whole ? SW_LOOP_WHOLE : SW_LOOP_REDUCTION, SW_REDUCE_SUM);
    int64_t coefs[2] = {k.stride[i], k.rhs_dilation[i]};
    if (!whole) sw_nest_window(b, 0, k.x.spatial[i], loops, coefs, -k.low[i]);
    sw_nest_set(b, 1, k.w.spatial[i], loops[1]);
    sw_nest_set(b, sw_nest_result(b, 0), k.r.spatial[i], loops[0]);
    b->flops *= share_of_products(c, &k, i);
  }
  sw_nest_linear(b, 1, SW_REDUCE_SUM);
  sw_nest_linear(b, 2, SW_REDUCE_SUM);
}
