/* attention and attention_grad. Loops are batch, kv head, group (query heads of one kv head), query, key and the widths
 * of a head, which stay whole:
 *
 *   attention(q[2,6,8,4], k[2,3,16,4], v[2,3,16,5])
 *     d0 (2) d1 (3) d2 (2) d3 (8) d4 (16, reduction sum) d5 (4, whole) d6 (5, whole)
 *     q (d0, 2*d1+d2, d3, d5)   k (d0, d1, d4, d5)   v (d0, d1, d4, d6)
 *     o (d0, 2*d1+d2, d3, d6)   lse (d0, 2*d1+d2, d3)
 *
 * A device that has some of the keys attends to these. Then the log-sum-exps of all are gathered, each scales its
 * output by its share exp(lse - lse of all), and the outputs are partial sums; lse is whole. Given lse, the gradient of
 * q is a sum over keys, and those of k and v are sums over queries and over the heads of a group.
 */
#include "graph/attention.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "graph/ops/op_rules.h"

void sw_attention_read(sw_opcode code, int n_attrs, const sw_attr *attrs, sw_attention *out) {
  *out = (sw_attention){.least = code == SW_OP_ATTENTION_GRAD ? SW_ATTENTION_DO + 1 : SW_ATTENTION_V + 1,
                        .keep = -1,
                        .bias = -1,
                        .mask = -1,
                        .lengths = -1,
                        .start = -1,
                        .heads = 1,
                        .positions = 2};
  for (int i = 0; i < n_attrs; i++) {
    const sw_attr *a = &attrs[i];
    switch ((int)a->key) {
      case SW_ATTR_SCALE:
        out->scale = a->u.f;
        break;
      case SW_ATTR_SOFTCAP:
        out->softcap = a->u.f;
        break;
      case SW_ATTR_DROPOUT:
        out->dropout = a->u.f;
        break;
      case SW_ATTR_BASE:
        out->base = a->u.i;
        break;
      case SW_ATTR_BIAS_GRAD:
        out->bias_grad = a->u.i != 0;
        break;
      case SW_ATTR_LAYOUT:
        out->heads = strcmp(a->u.text, "bshd") == 0 ? 2 : 1;
        out->positions = 3 - out->heads;
        break;
      case SW_ATTR_CAUSAL:
        if (a->u.i) out->right_bound = true, out->right = 0;
        break;
      default:
        break;
    }
  }
  for (int i = 0; i < n_attrs; i++) {
    const sw_attr *a = &attrs[i];
    if (a->key != SW_ATTR_WINDOW || a->u.ints.n != 2) continue;
    const int64_t left = a->u.ints.at[0], right = a->u.ints.at[1];
    if (left >= 0) out->left_bound = true, out->left = left;
    if (right >= 0 && !out->right_bound) out->right_bound = true, out->right = right;
  }
}

bool sw_attention_take(sw_attention *a, int operand, sw_dtype t, int rank) {
  const unsigned class = 1u << sw_dtype_class_of(t);
  const bool drops = a->dropout > 0 && a->keep < 0; /* that one comes first */
  int *slots[] = {&a->keep, &a->bias, &a->mask, &a->lengths, &a->start};
  const bool fits[] = {drops && (class & SW_BOOLS) && rank == 4, (class & SW_FLOATS) && rank == 4,
                       (class & SW_BOOLS) && rank == 4, (class & SW_INTS) && rank == 1, (class & SW_INTS) && rank == 0};
  int last = 4;
  while (last >= 0 && *slots[last] < 0) last--;
  for (int i = drops ? 0 : last + 1; i < 5; i++) {
    if (drops && i > 0) return false;
    if (!fits[i]) continue;
    *slots[i] = operand;
    return true;
  }
  return false;
}

void sw_attention_of(const sw_graph *g, const sw_op *op, sw_attention *out) {
  sw_attention_read(op->code, op->n_attrs, op->attrs, out);
  for (int i = out->least; i < op->n_operands; i++) {
    const sw_type *t = sw_operand_type(g, op, i);
    (void)sw_attention_take(out, i, t->dtype, t->rank); /* checked when the op was made */
  }
}

/* --- how much is seen --------------------------------------------------------------------------------------------- */

/* Sum over x in [x0, x1) of x cut to [0, most]. */
static double sum_of_cut(double x0, double x1, double most) {
  double from = fmax(x0, 0), to = fmin(x1, most + 1);
  double sum = to > from ? (to - from) * (from + to - 1) / 2 : 0;
  from = fmax(x0, most + 1);
  return x1 > from ? sum + (x1 - from) * most : sum;
}

/* A query at p sees cut(p + right + 1 - k0) - cut(p - left - k0) keys, cut to [0, k1 - k0]. */
double sw_attention_pairs(const sw_attention *a, int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
  if (q1 <= q0 || k1 <= k0) return 0;
  const double keys = (double)(k1 - k0), n = (double)(q1 - q0);
  const double first = (double)a->base + (double)q0 - (double)k0;
  double before = 0, until = n * keys;
  if (a->right_bound) {
    const double x = first + (double)a->right + 1;
    until = sum_of_cut(x, x + n, keys);
  }
  if (a->left_bound) {
    const double x = first - (double)a->left;
    before = sum_of_cut(x, x + n, keys);
  }
  return fmax(0, until - before);
}

double sw_attention_seen_part(const sw_graph *g, const sw_op *op, int64_t queries, int64_t keys) {
  sw_attention a;
  sw_attention_of(g, op, &a);
  const int64_t all_q = op->nest->loops[SW_ATTENTION_QUERY].size, all_k = op->nest->loops[SW_ATTENTION_KEY].size;
  if (!sw_attention_is_placed(&a) || queries <= 0 || keys <= 0) return 1;
  /* Without a start, later queries see as many keys or more; the last full block and each block of keys are asked. */
  const int64_t q0 = sw_max_i64(0, (sw_ceil_div(all_q, queries) - 1) * queries - queries * (all_q % queries != 0));
  const int64_t q1 = sw_min_i64(all_q, q0 + queries), blocks = sw_ceil_div(all_k, keys);
  enum { MOST_ASKED = 64 };
  double most = 0;
  for (int64_t i = 0; i < blocks; i += sw_max_i64(1, blocks / MOST_ASKED)) {
    most = fmax(most, sw_attention_pairs(&a, q0, q1, i * keys, sw_min_i64(all_k, (i + 1) * keys)));
  }
  return fmin(1, most / ((double)queries * (double)keys));
}

/* Devices of that many blocks ahead see a key when the last of their queries reaches the block's first key, and the
 * first does not leave all of them behind. `first` and `last`: the least and the most that a device's first query
 * stands behind the first key of the block. */
static bool any_sees(const sw_attention *a, int64_t queries, int64_t keys, int64_t first, int64_t last) {
  const bool reaches = !a->right_bound || last + queries - 1 + a->right >= 0;
  return reaches && (!a->left_bound || first - a->left <= keys - 1);
}

bool sw_attention_ring_sees(const sw_attention *a, int64_t queries, int64_t keys, int64_t n, int64_t step) {
  if (!sw_attention_is_placed(a) || a->start >= 0) return true;
  /* Device c stands at c * queries, and the block at (c - step) * keys, or n blocks later where that is before 0. */
  const int64_t drift = queries - keys, near = a->base + step * keys, far = near - n * keys;
  const int64_t at[2][2] = {{step, n - 1}, {0, step - 1}}, from[2] = {near, far};
  for (int i = 0; i < 2; i++) {
    const int64_t x = from[i] + at[i][0] * drift, y = from[i] + at[i][1] * drift;
    if (at[i][0] <= at[i][1] && any_sees(a, queries, keys, sw_min_i64(x, y), sw_max_i64(x, y))) return true;
  }
  return false;
}

/* --- types -------------------------------------------------------------------------------------------------------- */

/* Extents, by letter. */
typedef struct extents {
  int64_t batch, heads, kv_heads, queries, keys, width, value_width;
} extents;

static extents extents_of(const sw_rule_call *c, const sw_attention *a) {
  const int64_t *q = c->operands[SW_ATTENTION_Q].dims, *k = c->operands[SW_ATTENTION_K].dims;
  return (extents){
      q[0], q[a->heads], k[a->heads], q[a->positions], k[a->positions], q[3], c->operands[SW_ATTENTION_V].dims[3]};
}

static sw_rc expect_dims(const sw_rule_call *c, int operand, int rank, const int64_t *want) {
  const sw_type *t = &c->operands[operand];
  bool fits = t->rank == rank;
  for (int i = 0; fits && i < rank; i++) fits = t->dims[i] == want[i];
  if (fits) return SW_OK;
  sw_text text = {0};
  const sw_type should = {t->dtype, rank, want};
  sw_text_printf(&text, "operand %d is ", operand);
  sw_type_print(t, &text);
  sw_text_puts(&text, "; expected ");
  sw_type_print(&should, &text);
  sw_rc rc = text.rc ? text.rc : SW_RULE_FAIL(c, "%s", sw_text_str(&text));
  sw_text_free(&text);
  return rc;
}

/* An operand of one head each, in the op's layout. */
static sw_rc expect_heads(const sw_rule_call *c, const sw_attention *a, int operand, int64_t heads, int64_t positions,
                          int64_t width) {
  int64_t want[4] = {c->operands[0].dims[0], 0, 0, width};
  want[a->heads] = heads;
  want[a->positions] = positions;
  return expect_dims(c, operand, 4, want);
}

/* Dims of a bias or mask: those of the scores, or 1. */
static sw_rc check_scores(const sw_rule_call *c, const extents *e, int operand) {
  const int64_t want[4] = {e->batch, e->heads, e->queries, e->keys};
  const sw_type *t = &c->operands[operand];
  for (int i = 0; i < 4; i++) {
    if (t->dims[i] == want[i] || t->dims[i] == 1) continue;
    return SW_RULE_FAIL(
        c, "dim %d of operand %d is %lld; expected %lld, as the scores [batch, heads, queries, keys], or 1", i, operand,
        (long long)t->dims[i], (long long)want[i]);
  }
  return SW_OK;
}

static sw_rc check_words(const sw_rule_call *c, const sw_attention *a) {
  int n;
  const int64_t *window = sw_call_ints(c, SW_ATTR_WINDOW, &n);
  const char *layout = sw_call_text(c, SW_ATTR_LAYOUT);
  if (strcmp(layout, "bhsd") != 0 && strcmp(layout, "bshd") != 0) {
    return SW_RULE_FAIL(c, "'layout' is '%s'; expected bhsd or bshd (batch, head, position, width)", layout);
  }
  if (n != 0 && n != 2) {
    return SW_RULE_FAIL(
        c, "'window' has %d numbers; expected 2: keys before a query's own and keys after it, -1 for all", n);
  }
  const char *target = sw_call_text(c, SW_ATTR_TARGET);
  if (*target && strcmp(target, "cudnn") != 0) {
    return SW_RULE_FAIL(c, "'target' is '%s'; expected cudnn, or nothing", target);
  }
  for (int i = 0; i < n; i++) {
    if (window[i] < -1) {
      return SW_RULE_FAIL(c, "'window' holds %lld; expected -1 or more", (long long)window[i]);
    }
  }
  if (!isfinite(a->scale)) return SW_RULE_FAIL(c, "%s", "'scale' is not finite; expected a number");
  if (!(a->softcap >= 0) || !isfinite(a->softcap)) {
    return SW_RULE_FAIL(c, "%s", "'softcap' is less than 0 or not finite; expected 0 or more");
  }
  if (!(a->dropout >= 0) || a->dropout >= 1) {
    return SW_RULE_FAIL(c, "'dropout' is %g; expected 0 or more and less than 1", a->dropout);
  }
  return SW_OK;
}

static sw_rc check_heads(const sw_rule_call *c, const sw_attention *a) {
  for (int i = 0; i < 3; i++) {
    SW_TRY(sw_check_class(c, i, SW_FLOATS));
    SW_TRY(sw_check_same_dtype(c, 0, i));
    if (c->operands[i].rank != 4) {
      return SW_RULE_FAIL(c, "operand %d has %d dims; expected 4: batch, head, position, width", i,
                          c->operands[i].rank);
    }
  }
  const extents e = extents_of(c, a);
  SW_TRY(expect_heads(c, a, SW_ATTENTION_K, e.kv_heads, e.keys, e.width));
  SW_TRY(expect_heads(c, a, SW_ATTENTION_V, e.kv_heads, e.keys, e.value_width));
  if (e.kv_heads > 0 ? e.heads % e.kv_heads == 0 : e.heads == 0) return SW_OK;
  return SW_RULE_FAIL(c, "operand 0 has %lld heads and operand 1 has %lld; expected a multiple of them",
                      (long long)e.heads, (long long)e.kv_heads);
}

/* All of the operands; *a says which is what. */
static sw_rc check_attention_operands(const sw_rule_call *c, sw_attention *a, extents *e) {
  sw_attention_read(c->code, c->n_attrs, c->attrs, a);
  SW_TRY(check_words(c, a));
  SW_TRY(check_heads(c, a));
  *e = extents_of(c, a);
  for (int i = a->least; i < c->n_operands; i++) {
    if (sw_attention_take(a, i, c->operands[i].dtype, c->operands[i].rank)) continue;
    return SW_RULE_FAIL(
        c,
        "operand %d is %s of %d dims; expected, in this order and each at most once, %sa bias (floats, 4 "
        "dims), a mask (bool, 4 dims), lengths (integers, 1 dim) and a start (an integer scalar)",
        i, sw_dtype_text(c->operands[i].dtype), c->operands[i].rank,
        a->dropout > 0 ? "what is kept with 'dropout' (bool, 4 dims), " : "");
  }
  if (a->dropout > 0 && a->keep < 0) {
    return SW_RULE_FAIL(c, "'dropout' is %g and no operand says what is kept; expected operand %d of bool, 4 dims",
                        a->dropout, a->least);
  }
  if (a->keep >= 0) SW_TRY(check_scores(c, e, a->keep));
  if (a->bias >= 0) SW_TRY(check_scores(c, e, a->bias));
  if (a->mask >= 0) SW_TRY(check_scores(c, e, a->mask));
  if (a->lengths >= 0) SW_TRY(expect_dims(c, a->lengths, 1, &e->batch));
  if (a->start < 0 || sw_attention_is_placed(a)) return SW_OK;
  return SW_RULE_FAIL(c, "operand %d says where queries start, which matters with 'causal' or 'window' only", a->start);
}

static sw_dtype lse_type(const sw_rule_call *c) { return sw_attention_sums(c->operands[0].dtype); }

sw_rc sw_infer_attention(sw_rule_call *c) {
  sw_attention a;
  extents e;
  int64_t *dims;
  SW_TRY(check_attention_operands(c, &a, &e));
  SW_TRY(sw_call_result_like(c, c->operands[0].dtype, &c->operands[0]));
  ((int64_t *)c->results[0].dims)[3] = e.value_width;
  SW_TRY(sw_call_result(c, lse_type(c), 3, &dims));
  dims[0] = e.batch;
  dims[1] = e.heads;
  dims[2] = e.queries;
  return SW_OK;
}

sw_rc sw_infer_attention_grad(sw_rule_call *c) {
  sw_attention a;
  extents e;
  SW_TRY(check_attention_operands(c, &a, &e));
  const int64_t lse[3] = {e.batch, e.heads, e.queries};
  SW_TRY(expect_heads(c, &a, SW_ATTENTION_O, e.heads, e.queries, e.value_width));
  SW_TRY(expect_heads(c, &a, SW_ATTENTION_DO, e.heads, e.queries, e.value_width));
  SW_TRY(expect_dims(c, SW_ATTENTION_LSE, 3, lse));
  SW_TRY(sw_check_same_dtype(c, 0, SW_ATTENTION_O));
  SW_TRY(sw_check_same_dtype(c, 0, SW_ATTENTION_DO));
  if (c->operands[SW_ATTENTION_LSE].dtype != lse_type(c)) {
    return SW_RULE_FAIL(c, "operand %d is %s; expected %s", SW_ATTENTION_LSE,
                        sw_dtype_text(c->operands[SW_ATTENTION_LSE].dtype), sw_dtype_text(lse_type(c)));
  }
  for (int i = 0; i < 3; i++) SW_TRY(sw_call_result_like(c, c->operands[i].dtype, &c->operands[i]));
  if (!a.bias_grad) return SW_OK;
  if (a.bias < 0) return SW_RULE_FAIL(c, "%s", "'bias_grad' asks for the gradient of a bias, and there is none");
  return sw_call_result_like(c, c->operands[a.bias].dtype, &c->operands[a.bias]);
}

/* --- loops and maps ----------------------------------------------------------------------------------------------- */

static void map_heads(sw_nest_builder *b, const sw_attention *a, int map, bool of_queries, int width) {
  const int heads[2] = {SW_ATTENTION_KV_HEAD, SW_ATTENTION_GROUP};
  sw_nest_set(b, map, 0, SW_ATTENTION_BATCH);
  sw_nest_digits(b, map, a->heads, of_queries ? 2 : 1, heads, 1);
  sw_nest_set(b, map, a->positions, of_queries ? SW_ATTENTION_QUERY : SW_ATTENTION_KEY);
  sw_nest_set(b, map, 3, width);
}

static void map_lse(sw_nest_builder *b, int map) {
  const int heads[2] = {SW_ATTENTION_KV_HEAD, SW_ATTENTION_GROUP};
  sw_nest_set(b, map, 0, SW_ATTENTION_BATCH);
  sw_nest_digits(b, map, 1, 2, heads, 1);
  sw_nest_set(b, map, 2, SW_ATTENTION_QUERY);
}

/* A bias, mask or gradient of a bias: dims of extent 1 follow no loop. */
static void map_scores(sw_nest_builder *b, int map, const int64_t *dims) {
  const int heads[2] = {SW_ATTENTION_KV_HEAD, SW_ATTENTION_GROUP};
  if (dims[0] != 1) sw_nest_set(b, map, 0, SW_ATTENTION_BATCH);
  if (dims[1] != 1) sw_nest_digits(b, map, 1, 2, heads, 1);
  if (dims[2] != 1) sw_nest_set(b, map, 2, SW_ATTENTION_QUERY);
  if (dims[3] != 1) sw_nest_set(b, map, 3, SW_ATTENTION_KEY);
}

/* The first n loops; those of `reduced` (bits) are reductions. */
static void add_loops(sw_nest_builder *b, const extents *e, int n, unsigned reduced) {
  const int64_t group = e->kv_heads > 0 ? e->heads / e->kv_heads : 1;
  const int64_t sizes[SW_ATTENTION_GRAD_LOOPS] = {e->batch, e->kv_heads,    group,    e->queries,    e->keys,
                                                  e->width, e->value_width, e->width, e->value_width};
  for (int l = 0; l < n; l++) {
    sw_loop_kind kind = reduced >> l & 1 ? SW_LOOP_REDUCTION : SW_LOOP_PARALLEL;
    if (l >= SW_ATTENTION_WIDTH) kind = SW_LOOP_WHOLE;
    (void)sw_nest_combining_loop(b, sizes[l], kind, SW_REDUCE_SUM);
  }
}

static void map_operands(const sw_rule_call *c, sw_nest_builder *b, const sw_attention *a) {
  map_heads(b, a, SW_ATTENTION_Q, true, SW_ATTENTION_WIDTH);
  map_heads(b, a, SW_ATTENTION_K, false, SW_ATTENTION_WIDTH);
  map_heads(b, a, SW_ATTENTION_V, false, SW_ATTENTION_VALUE_WIDTH);
  if (a->keep >= 0) map_scores(b, a->keep, c->operands[a->keep].dims);
  if (a->bias >= 0) map_scores(b, a->bias, c->operands[a->bias].dims);
  if (a->mask >= 0) map_scores(b, a->mask, c->operands[a->mask].dims);
  if (a->lengths >= 0) sw_nest_set(b, a->lengths, 0, SW_ATTENTION_BATCH);
}

/* Multiplications and additions of n products of all queries and keys, each of so many numbers; what is not seen is not
 * counted (sw_op_work). */
static void count_flops(sw_nest_builder *b, const extents *e, double widths, double value_widths) {
  sw_nest_total_flops(b, 2 * (double)e->batch * (double)e->heads * (double)e->queries * (double)e->keys *
                             (widths * (double)e->width + value_widths * (double)e->value_width));
}

void sw_nest_of_attention(const sw_rule_call *c, sw_nest_builder *b) {
  sw_attention a;
  extents e;
  if (check_attention_operands(c, &a, &e)) b->rc = SW_BUG(b->d, "%s", "a checked attention is read differently");
  if (b->rc) return;
  add_loops(b, &e, SW_ATTENTION_LOOPS, 1u << SW_ATTENTION_KEY);
  b->loops[SW_ATTENTION_KEY].whole_results = 1u << 1;
  map_operands(c, b, &a);
  map_heads(b, &a, sw_nest_result(b, 0), true, SW_ATTENTION_VALUE_WIDTH);
  map_lse(b, sw_nest_result(b, 1));
  count_flops(b, &e, 1, 1);
}

/* Queries and keys that a result lacks are summed over, and so are batches and heads that share a bias. Linear in the
 * gradient of the output. */
void sw_nest_of_attention_grad(const sw_rule_call *c, sw_nest_builder *b) {
  sw_attention a;
  extents e;
  if (check_attention_operands(c, &a, &e)) b->rc = SW_BUG(b->d, "%s", "a checked attention_grad is read differently");
  if (b->rc) return;
  unsigned reduced = 1u << SW_ATTENTION_GROUP | 1u << SW_ATTENTION_QUERY | 1u << SW_ATTENTION_KEY;
  if (a.bias_grad && c->operands[a.bias].dims[0] == 1) reduced |= 1u << SW_ATTENTION_BATCH;
  if (a.bias_grad && c->operands[a.bias].dims[1] == 1) reduced |= 1u << SW_ATTENTION_KV_HEAD;
  add_loops(b, &e, SW_ATTENTION_GRAD_LOOPS, reduced);
  map_operands(c, b, &a);
  map_heads(b, &a, SW_ATTENTION_O, true, SW_ATTENTION_VALUE_WIDTH);
  map_lse(b, SW_ATTENTION_LSE);
  map_heads(b, &a, SW_ATTENTION_DO, true, SW_ATTENTION_VALUE_WIDTH);
  map_heads(b, &a, sw_nest_result(b, 0), true, SW_ATTENTION_GRAD_WIDTH);
  map_heads(b, &a, sw_nest_result(b, 1), false, SW_ATTENTION_GRAD_WIDTH);
  map_heads(b, &a, sw_nest_result(b, 2), false, SW_ATTENTION_GRAD_VALUE_WIDTH);
  if (a.bias_grad) map_scores(b, sw_nest_result(b, 3), c->operands[a.bias].dims);
  sw_nest_linear(b, 1u << SW_ATTENTION_DO, SW_REDUCE_SUM);
  count_flops(b, &e, 3, 2);
}
