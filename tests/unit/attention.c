/* attention and attention_grad:
 *
 *   - beside the plain ops (dot, scale, bias, mask, softmax, dot) in f64, run by the same interpreter;
 *   - their gradients beside differences of the op itself, and beside the derivatives of the plain ops;
 *   - on devices, however batches, heads, queries and keys are cut, beside one device;
 *   - how many pairs of queries and keys are counted, beside counting them.
 */
#include <math.h>

#include "check.h"

#include "graph/attention.h"
#include "graph/fuse.h"
#include "shardwright/plan.h"
#include "shardwright/validate.h"
#include "support/building.h"
#include "support/meshes.h"
#include "support/job.h"

/* --- cases -------------------------------------------------------------------------------------------------------- */

enum { Q, K, V, MOST_INPUTS = 8, MOST_ATTRS = 8 };
static const int64_t kScoreDims[4] = {0, 1, 2, 3};

typedef struct attention_case {
  sw_dtype dtype;
  int64_t batch, kv_heads, group, queries, keys, width, value_width;
  bool positions_first; /* layout bshd */
  bool causal, keep, bias, mask, lengths, start;
  int64_t window[2], base, start_at;
  double scale, softcap, dropout;
  int64_t keep_dims[4], bias_dims[4], mask_dims[4];
  int n_in;
  int64_t dims[MOST_INPUTS][4];
  int rank[MOST_INPUTS];
  sw_dtype types[MOST_INPUTS];
  int n_attrs;
  sw_attr attrs[MOST_ATTRS];
} attention_case;

static bool coin(sw_rng *r) { return sw_rng_below(r, 2) != 0; }
static int64_t between(sw_rng *r, int64_t lo, int64_t hi) { return lo + sw_rng_below(r, hi - lo + 1); }

static void add_input(attention_case *c, sw_dtype t, int rank, const int64_t *dims) {
  c->types[c->n_in] = t;
  c->rank[c->n_in] = rank;
  for (int i = 0; i < rank; i++) c->dims[c->n_in][i] = dims[i];
  c->n_in++;
}

static void heads_of(const attention_case *c, int64_t heads, int64_t positions, int64_t width, int64_t *dims) {
  dims[0] = c->batch;
  dims[1] = c->positions_first ? positions : heads;
  dims[2] = c->positions_first ? heads : positions;
  dims[3] = width;
}

static void add_attr(attention_case *c, sw_attr a) { c->attrs[c->n_attrs++] = a; }

/* Dims as of the scores, some of them 1. */
static void shared_dims(sw_rng *r, const attention_case *c, int64_t *dims) {
  const int64_t all[4] = {c->batch, c->kv_heads * c->group, c->queries, c->keys};
  for (int i = 0; i < 4; i++) dims[i] = sw_rng_below(r, 3) ? all[i] : 1;
}

static void choose_sizes(attention_case *c, sw_rng *r) {
  c->batch = between(r, 1, 3);
  c->kv_heads = between(r, 1, 3);
  c->group = between(r, 1, 3);
  c->queries = between(r, 1, 9);
  c->keys = between(r, 1, 12);
  c->width = between(r, 1, 6);
  c->value_width = coin(r) ? c->width : between(r, 1, 6);
  if (sw_rng_below(r, 12) == 0) c->keys = 0;
  if (sw_rng_below(r, 12) == 0) { /* several blocks of the kernel */
    c->batch = 1;
    c->queries = between(r, 60, 140);
    c->keys = between(r, 250, 600);
  }
}

static void choose(attention_case *c, sw_rng *r, sw_dtype t) {
  int64_t dims[4];
  *c = (attention_case){.dtype = t, .positions_first = coin(r), .window = {-1, -1}};
  choose_sizes(c, r);
  c->causal = coin(r);
  c->bias = coin(r);
  c->mask = sw_rng_below(r, 3) == 0;
  c->lengths = sw_rng_below(r, 3) == 0;
  if (sw_rng_below(r, 3) == 0) {
    c->window[0] = between(r, -1, 5);
    c->window[1] = between(r, -1, 5);
  }
  const bool placed = c->causal || c->window[0] >= 0 || c->window[1] >= 0;
  c->start = placed && sw_rng_below(r, 3) == 0;
  c->base = coin(r) ? 0 : between(r, -4, 8);
  c->start_at = c->start ? between(r, -3, 5) : 0;
  c->scale = coin(r) ? 0 : 0.5;
  c->softcap = sw_rng_below(r, 3) ? 0 : 1.5;
  c->keep = sw_rng_below(r, 3) == 0;
  c->dropout = c->keep ? 0.3 : 0;
  heads_of(c, c->kv_heads * c->group, c->queries, c->width, dims);
  add_input(c, t, 4, dims);
  heads_of(c, c->kv_heads, c->keys, c->width, dims);
  add_input(c, t, 4, dims);
  heads_of(c, c->kv_heads, c->keys, c->value_width, dims);
  add_input(c, t, 4, dims);
  shared_dims(r, c, c->keep_dims);
  shared_dims(r, c, c->bias_dims);
  shared_dims(r, c, c->mask_dims);
  if (c->keep) add_input(c, SW_BOOL, 4, c->keep_dims);
  if (c->bias) add_input(c, t, 4, c->bias_dims);
  if (c->mask) add_input(c, SW_BOOL, 4, c->mask_dims);
  if (c->lengths) add_input(c, SW_I32, 1, &c->batch);
  if (c->start) add_input(c, coin(r) ? SW_I32 : SW_I64, 0, NULL);
  add_attr(c, (sw_attr)TEXT(LAYOUT, c->positions_first ? "bshd" : "bhsd"));
  add_attr(c, (sw_attr)INT(CAUSAL, c->causal));
  add_attr(c, (sw_attr)INT(BASE, c->base));
  add_attr(c, (sw_attr)FLOAT(SCALE, c->scale));
  add_attr(c, (sw_attr)FLOAT(SOFTCAP, c->softcap));
  if (c->keep) add_attr(c, (sw_attr)FLOAT(DROPOUT, c->dropout));
  if (c->window[0] >= 0 || c->window[1] >= 0) add_attr(c, (sw_attr){.key = SW_ATTR_WINDOW, .u.ints = {c->window, 2}});
}

static double get(const sw_buffer *t, int64_t i) {
  return sw_element_load(t->dtype, (const char *)t->data + i * sw_dtype_bytes(t->dtype));
}
static void put(sw_buffer *t, int64_t i, double v) {
  sw_element_store(t->dtype, v, (char *)t->data + i * sw_dtype_bytes(t->dtype));
}

static void fill(const attention_case *c, sw_rng *r, sw_tensor *in) {
  for (int i = 0; i < c->n_in; i++) {
    assert_ok(sw_tensor_init(&in[i], c->types[i], c->rank[i], c->dims[i], &diag));
    for (int64_t k = 0; k < sw_buffer_elements(&in[i]); k++) {
      double v = (double)between(r, -200, 200) / 100;
      if (c->types[i] == SW_BOOL) v = sw_rng_below(r, 4) != 0;
      if (c->rank[i] == 1) v = (double)between(r, 0, c->keys);
      if (c->rank[i] == 0) v = (double)c->start_at;
      put(&in[i], k, v);
    }
  }
}

static void free_all(sw_tensor *t, int n) {
  for (int i = 0; i < n; i++) sw_tensor_deinit(&t[i]);
}

static void arguments(sw_graph *g, const attention_case *c, sw_id *ids) {
  static const char *const kNames[MOST_INPUTS] = {"q", "k", "v", "t", "w", "x", "y", "z"};
  for (int i = 0; i < c->n_in; i++) ids[i] = arg(g, kNames[i], c->types[i], c->rank[i], c->dims[i]);
}

static void add_many(sw_graph *g, sw_opcode code, int n, const sw_id *in, int n_attrs, const sw_attr *attrs,
                     sw_id *results) {
  const sw_op_spec spec = {.code = code, .n_operands = n, .operands = in, .n_attrs = n_attrs, .attrs = attrs};
  assert_ok(sw_graph_add_op(g, &spec, results, &diag));
}

static void run(const sw_graph *g, const sw_tensor *in, sw_tensor *out) {
  const sw_buffer *args[MOST_INPUTS + 3];
  for (int i = 0; i < g->n_args; i++) args[i] = &in[i];
  assert_ok(sw_exec_run(g, args, &(sw_exec_options){.poison = true}, out, &diag));
}

/* --- plain ops ---------------------------------------------------------------------------------------------------- */

static sw_id unary(sw_graph *g, sw_opcode code, sw_id x) { return add(g, code, 1, &x, 0, NULL); }
static sw_id binary(sw_graph *g, sw_opcode code, sw_id x, sw_id y) { return add(g, code, 2, (sw_id[]){x, y}, 0, NULL); }
static sw_id converted(sw_graph *g, sw_id x, sw_dtype t) {
  return add(g, SW_OP_CONVERT, 1, &x, 1, &(sw_attr)INT(DTYPE, t));
}
static sw_id spread(sw_graph *g, sw_id x, int rank, const int64_t *shape, const int64_t *dims, int n) {
  const sw_attr a[] = {{.key = SW_ATTR_SHAPE, .u.ints = {shape, rank}}, {.key = SW_ATTR_DIMS, .u.ints = {dims, n}}};
  return add(g, SW_OP_BROADCAST, 1, &x, 2, a);
}
static sw_id reshaped(sw_graph *g, sw_id x, int rank, const int64_t *shape) {
  return add(g, SW_OP_RESHAPE, 1, &x, 1, &(sw_attr){.key = SW_ATTR_SHAPE, .u.ints = {shape, rank}});
}
static sw_id number(sw_graph *g, sw_dtype t, double v, int rank, const int64_t *shape) {
  _Alignas(8) unsigned char element[8] = {0};
  sw_element_store(t, v, element);
  const sw_attr a[] = {INT(DTYPE, t),
                       {.key = SW_ATTR_SHAPE, .u.ints = {shape, rank}},
                       {.key = SW_ATTR_VALUE, .u.data = {element, true}}};
  return add(g, SW_OP_CONSTANT, 0, NULL, 3, a);
}
static sw_id iota(sw_graph *g, int dim, const int64_t *shape) {
  const sw_attr a[] = {INT(DTYPE, SW_I64), INT(DIM, dim), {.key = SW_ATTR_SHAPE, .u.ints = {shape, 4}}};
  return add(g, SW_OP_IOTA, 0, NULL, 3, a);
}
static sw_id compared(sw_graph *g, const char *how, sw_id x, sw_id y) {
  return add(g, SW_OP_COMPARE, 2, (sw_id[]){x, y}, 1, &(sw_attr)TEXT(DIRECTION, how));
}
static sw_id both(sw_graph *g, sw_id x, sw_id y) { return x < 0 ? y : binary(g, SW_OP_AND, x, y); }
static sw_id reduced(sw_graph *g, const char *kind, sw_id x) {
  const sw_attr a[] = {INTS(DIMS, 3), TEXT(KIND, kind)};
  return add(g, SW_OP_REDUCE, 1, &x, 2, a);
}

/* [batch, head, position, width] in f64, kv heads once for each query head. */
static sw_id plain_heads(sw_graph *g, const attention_case *c, sw_id x, int which) {
  const int64_t positions = which == Q ? c->queries : c->keys, width = c->dims[which][3];
  const int64_t heads = c->kv_heads * c->group;
  x = converted(g, x, SW_F64);
  if (c->positions_first) x = add(g, SW_OP_TRANSPOSE, 1, &x, 1, &(sw_attr)INTS(PERMUTATION, 0, 2, 1, 3));
  if (which == Q) return x;
  const int64_t wide[5] = {c->batch, c->kv_heads, c->group, positions, width}, dims[4] = {0, 1, 3, 4};
  const int64_t merged[4] = {c->batch, heads, positions, width};
  return reshaped(g, spread(g, x, 5, wide, dims, 4), 4, merged);
}

/* Which pairs are seen; -1: all. */
static sw_id plain_seen(sw_graph *g, const attention_case *c, const int64_t *shape, sw_id mask, sw_id lengths,
                        sw_id start) {
  const int64_t first = 0;
  sw_id seen = -1, key = iota(g, 3, shape), place = iota(g, 2, shape);
  place = binary(g, SW_OP_ADD, place, number(g, SW_I64, (double)c->base, 4, shape));
  if (start >= 0) place = binary(g, SW_OP_ADD, place, spread(g, converted(g, start, SW_I64), 4, shape, NULL, 0));
  if (mask >= 0) seen = both(g, seen, spread(g, mask, 4, shape, kScoreDims, 4));
  if (lengths >= 0)
    seen = both(g, seen, compared(g, "lt", key, spread(g, converted(g, lengths, SW_I64), 4, shape, &first, 1)));
  if (c->causal) seen = both(g, seen, compared(g, "le", key, place));
  if (c->window[0] >= 0) {
    sw_id low = binary(g, SW_OP_SUBTRACT, place, number(g, SW_I64, (double)c->window[0], 4, shape));
    seen = both(g, seen, compared(g, "ge", key, low));
  }
  if (c->window[1] >= 0) {
    sw_id high = binary(g, SW_OP_ADD, place, number(g, SW_I64, (double)c->window[1], 4, shape));
    seen = both(g, seen, compared(g, "le", key, high));
  }
  return seen;
}

/* o in the case's layout and lse, both f64. */
static void plain_attention(sw_graph *g, const attention_case *c, const sw_id *in, sw_id *o, sw_id *lse) {
  const int64_t shape[4] = {c->batch, c->kv_heads * c->group, c->queries, c->keys};
  const int64_t row[3] = {shape[0], shape[1], shape[2]}, out[4] = {shape[0], shape[1], shape[2], c->value_width};
  sw_id q = plain_heads(g, c, in[Q], Q), k = plain_heads(g, c, in[K], K), v = plain_heads(g, c, in[V], V);
  int next = 3;
  sw_id keep = c->keep ? in[next++] : -1;
  sw_id bias = c->bias ? in[next++] : -1, mask = c->mask ? in[next++] : -1, lengths = c->lengths ? in[next++] : -1;
  sw_id start = c->start ? in[next] : -1;
  const sw_attr scores[] = {INTS(LHS_BATCH, 0, 1), INTS(RHS_BATCH, 0, 1), INTS(LHS_CONTRACT, 3), INTS(RHS_CONTRACT, 3)};
  const sw_attr mix[] = {INTS(LHS_BATCH, 0, 1), INTS(RHS_BATCH, 0, 1), INTS(LHS_CONTRACT, 3), INTS(RHS_CONTRACT, 2)};
  sw_id s = add(g, SW_OP_DOT, 2, (sw_id[]){q, k}, 4, scores);
  const double scale = c->scale != 0 ? c->scale : 1 / sqrt((double)c->width);
  s = binary(g, SW_OP_MULTIPLY, s, number(g, SW_F64, scale, 4, shape));
  if (c->softcap > 0) {
    sw_id cap = number(g, SW_F64, c->softcap, 4, shape);
    s = binary(g, SW_OP_MULTIPLY, cap, unary(g, SW_OP_TANH, binary(g, SW_OP_DIVIDE, s, cap)));
  }
  if (bias >= 0) s = binary(g, SW_OP_ADD, s, spread(g, converted(g, bias, SW_F64), 4, shape, kScoreDims, 4));
  sw_id seen = plain_seen(g, c, shape, mask, lengths, start);
  if (seen >= 0) s = add(g, SW_OP_SELECT, 3, (sw_id[]){seen, s, number(g, SW_F64, -INFINITY, 4, shape)}, 0, NULL);
  sw_id most = binary(g, SW_OP_MAXIMUM, reduced(g, "max", s), number(g, SW_F64, -1e30, 3, row));
  sw_id e = unary(g, SW_OP_EXP, binary(g, SW_OP_SUBTRACT, s, spread(g, most, 4, shape, kScoreDims, 3)));
  sw_id sum = reduced(g, "sum", e), least = number(g, SW_F64, 1e-300, 3, row);
  *lse = binary(g, SW_OP_ADD, most, unary(g, SW_OP_LOG, sum));
  if (keep >= 0) {
    const sw_id wide = spread(g, keep, 4, shape, kScoreDims, 4);
    e = binary(g, SW_OP_DIVIDE, e, number(g, SW_F64, 1 - c->dropout, 4, shape));
    e = add(g, SW_OP_SELECT, 3, (sw_id[]){wide, e, number(g, SW_F64, 0, 4, shape)}, 0, NULL);
  }
  sw_id product = add(g, SW_OP_DOT, 2, (sw_id[]){e, v}, 4, mix);
  *o = binary(g, SW_OP_DIVIDE, product, spread(g, binary(g, SW_OP_MAXIMUM, sum, least), 4, out, kScoreDims, 3));
  if (c->positions_first) *o = add(g, SW_OP_TRANSPOSE, 1, o, 1, &(sw_attr)INTS(PERMUTATION, 0, 2, 1, 3));
}

/* --- forward ------------------------------------------------------------------------------------------------------ */

/* `got` within the roundings of its type and of f32 sums of `want`, which is f64. */
static void expect_near(const char *what, int number_of_case, const sw_tensor *got, const sw_tensor *want,
                        double relative) {
  assert_int_equal(sw_buffer_elements(got), sw_buffer_elements(want));
  for (int64_t i = 0; i < sw_buffer_elements(got); i++) {
    const double x = get(got, i), y = get(want, i);
    if (x == y || fabs(x - y) <= relative * (1 + fabs(y))) continue;
    fail_msg("case %d: element %lld of %s is %.9g, expected %.9g", number_of_case, (long long)i, what, x, y);
  }
}

static const struct {
  sw_dtype type;
  double result, number; /* relative errors of o, and of lse */
} kTypes[] = {{SW_F64, 1e-12, 1e-12}, {SW_F32, 2e-5, 2e-5}, {SW_BF16, 6e-3, 2e-5}, {SW_F16, 1e-3, 2e-5}};

static void forward_is_that_of_plain_ops(void **state) {
  (void)state;
  sw_rng r;
  sw_rng_seed(&r, check_seed(5));
  for (int n = 0; n < check_scale(300); n++) {
    attention_case c;
    sw_id in[MOST_INPUTS], fused[2], o, lse;
    sw_tensor args[MOST_INPUTS], out[4];
    const int t = n % 4;
    choose(&c, &r, kTypes[t].type);
    sw_graph *g = new_graph();
    arguments(g, &c, in);
    add_many(g, SW_OP_ATTENTION, c.n_in, in, c.n_attrs, c.attrs, fused);
    plain_attention(g, &c, in, &o, &lse);
    output(g, "fused_o", fused[0]);
    output(g, "fused_lse", fused[1]);
    output(g, "o", o);
    output(g, "lse", lse);
    seal(g);
    fill(&c, &r, args);
    run(g, args, out);
    expect_near("o", n, &out[0], &out[2], kTypes[t].result);
    expect_near("lse", n, &out[1], &out[3], kTypes[t].number);
    free_all(out, 4);
    free_all(args, c.n_in);
    sw_graph_destroy(g);
  }
}

/* --- gradients ---------------------------------------------------------------------------------------------------- */

/* attention on the first n_in inputs, then its gradient for the last one; outputs o, lse, dq, dk, dv[, dbias]. */
static sw_graph *with_gradient(attention_case *c, sw_dtype t, bool bias_grad) {
  sw_id in[MOST_INPUTS], fused[2], grad[4], operands[MOST_INPUTS + 3];
  int64_t dims[4];
  sw_attr attrs[MOST_ATTRS + 1];
  sw_graph *g = new_graph();
  arguments(g, c, in);
  add_many(g, SW_OP_ATTENTION, c->n_in, in, c->n_attrs, c->attrs, fused);
  heads_of(c, c->kv_heads * c->group, c->queries, c->value_width, dims);
  const sw_id first[6] = {in[Q], in[K], in[V], fused[0], fused[1], arg(g, "d", t, 4, dims)};
  memcpy(operands, first, sizeof first);
  for (int i = 3; i < c->n_in; i++) operands[i + 3] = in[i];
  memcpy(attrs, c->attrs, sizeof c->attrs);
  attrs[c->n_attrs] = (sw_attr)INT(BIAS_GRAD, bias_grad);
  add_many(g, SW_OP_ATTENTION_GRAD, c->n_in + 3, operands, c->n_attrs + 1, attrs, grad);
  static const char *const kNames[] = {"dq", "dk", "dv", "dw"};
  output(g, "o", fused[0]);
  output(g, "lse", fused[1]);
  for (int i = 0; i < 3 + bias_grad; i++) output(g, kNames[i], grad[i]);
  return g;
}

static double weighted(const sw_graph *g, const sw_tensor *args, const sw_tensor *d) {
  sw_tensor out[8];
  double sum = 0;
  run(g, args, out);
  for (int64_t i = 0; i < sw_buffer_elements(d); i++) sum += get(&out[0], i) * get(d, i);
  free_all(out, g->n_outputs);
  return sum;
}

/* The gradient by operand i of sum(o * d) by differences, at a few elements. */
static void expect_differences(const attention_case *c, const sw_graph *g, sw_rng *r, sw_tensor *args, int i,
                               const sw_tensor *got, int number_of_case) {
  const double step = 1e-5;
  const int64_t all = sw_buffer_elements(&args[i]);
  for (int tries = 0; tries < 4 && all > 0; tries++) {
    const int64_t at = sw_rng_below(r, all);
    const double was = get(&args[i], at);
    put(&args[i], at, was + step);
    const double up = weighted(g, args, &args[c->n_in]);
    put(&args[i], at, was - step);
    const double down = weighted(g, args, &args[c->n_in]);
    put(&args[i], at, was);
    const double want = (up - down) / (2 * step);
    if (fabs(get(got, at) - want) <= 1e-6 * (1 + fabs(want))) continue;
    fail_msg("case %d: the gradient of operand %d at %lld is %.9g, differences give %.9g", number_of_case, i,
             (long long)at, get(got, at), want);
  }
}

/* A random case with its gradient, in f64, and what it gives for random operands. */
static sw_graph *run_with_gradient(attention_case *c, sw_rng *r, sw_tensor *args, sw_tensor *out) {
  int64_t dims[4];
  choose(c, r, SW_F64);
  sw_graph *g = seal(with_gradient(c, SW_F64, c->bias));
  fill(c, r, args);
  heads_of(c, c->kv_heads * c->group, c->queries, c->value_width, dims);
  assert_ok(sw_tensor_init(&args[c->n_in], SW_F64, 4, dims, &diag));
  for (int64_t i = 0; i < sw_buffer_elements(&args[c->n_in]); i++)
    put(&args[c->n_in], i, (double)between(r, -100, 100) / 100);
  run(g, args, out);
  return g;
}

static void gradients_are_differences(void **state) {
  (void)state;
  sw_rng r;
  sw_rng_seed(&r, check_seed(6));
  for (int n = 0; n < check_scale(120); n++) {
    attention_case c;
    sw_tensor args[MOST_INPUTS + 1], out[6];
    sw_graph *g = run_with_gradient(&c, &r, args, out);
    for (int i = 0; i < 3 + c.bias; i++) expect_differences(&c, g, &r, args, i < 3 ? i : 3 + c.keep, &out[i + 2], n);
    free_all(out, g->n_outputs);
    free_all(args, c.n_in + 1);
    sw_graph_destroy(g);
  }
}

/* --- written out -------------------------------------------------------------------------------------------------- */

static void expect_written_out(const sw_graph *g, const sw_op *op, const sw_tensor *args, const sw_tensor *made,
                               int number_of_case) {
  sw_graph *plain;
  sw_tensor in[MOST_INPUTS + 3], want[4], got[4];
  sw_buffer *out[4];
  const sw_buffer *ins[MOST_INPUTS + 3];
  const int inputs = g->n_args;
  assert_ok(sw_attention_written_out(g, op, &plain, &diag));
  for (int i = 0; i < op->n_operands; i++) {
    const sw_id v = op->operands[i];
    const int of = g->values[v].def < 0 ? g->values[v].def_index : inputs + g->values[v].def_index;
    in[i] = of < inputs ? args[of] : made[of - inputs];
    ins[i] = &in[i];
  }
  for (int i = 0; i < op->n_results; i++) {
    const sw_type *t = sw_result_type(g, op, i);
    assert_ok(sw_tensor_init(&want[i], t->dtype, t->rank, t->dims, &diag));
    out[i] = &want[i];
  }
  assert_ok(sw_exec_eval(op, ins, out, &(sw_exec_ctx){0}, &diag));
  run(plain, in, got);
  for (int i = 0; i < op->n_results; i++) expect_near("a result", number_of_case, &got[i], &want[i], 1e-10);
  free_all(want, op->n_results);
  free_all(got, op->n_results);
  sw_graph_destroy(plain);
}

/* The ops that tools get which have no attention. */
static void written_out_ops_give_the_same(void **state) {
  (void)state;
  sw_rng r;
  sw_rng_seed(&r, check_seed(9));
  for (int n = 0; n < check_scale(150); n++) {
    attention_case c;
    sw_tensor args[MOST_INPUTS + 1], out[6];
    sw_graph *g = run_with_gradient(&c, &r, args, out);
    for (int i = 0; i < 2; i++) expect_written_out(g, &g->ops[i], args, out, n);
    free_all(out, g->n_outputs);
    free_all(args, c.n_in + 1);
    sw_graph_destroy(g);
  }
}

/* --- on devices --------------------------------------------------------------------------------------------------- */

static const char *const kMeshes[] = {"x=2", "x=3", "x=4", "x=2,y=2", "x=2,y=3"};

/* A strategy of an op; of those that are rings where some are, every second time. */
static sw_strategy some_strategy(const sw_op *op, const sw_enumeration *all, sw_rng *r) {
  int32_t rings = 0, at;
  for (int32_t k = 0; k < all->n; k++) rings += sw_strategy_is_ring(op, &all->at[k]);
  if (!rings || coin(r)) return all->at[sw_rng_below(r, all->n)];
  at = (int32_t)sw_rng_below(r, rings);
  int32_t k = 0;
  while (!sw_strategy_is_ring(op, &all->at[k]) || at-- > 0) k++;
  return all->at[k];
}

static void plan_randomly(const sw_graph *g, const sw_machine *machine, sw_rng *r, sw_arena *arena, sw_plan *p) {
  assert_ok(sw_plan_build(JOB(g, machine), arena, p, &diag));
  for (int32_t i = 0; i < g->n_ops; i++) {
    sw_enumeration all;
    assert_ok(sw_strategies_enumerate(JOB(g, machine), &g->ops[i], NULL, arena, &all, &diag));
    assert_true(all.n > 0);
    for (int32_t k = 0; k < all.n; k++)
      assert_true(sw_op_least_s(JOB(g, machine), &g->ops[i]) <= all.cost[k].local_s + all.cost[k].move_s);
    p->ops[i] = some_strategy(&g->ops[i], &all, r);
  }
  for (int32_t i = 0; i < g->n_args; i++) {
    sw_plan_use_sharding(p, g->values[g->args[i]].uses[0], &p->args[i]);
    p->args[i].n_partial = 0;
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    sw_plan_value_sharding(p, g->outputs[i], &p->outputs[i]);
    p->outputs[i].n_partial = 0;
  }
  assert_ok(sw_plan_verify(p, &diag));
}

static void print_strategies(const sw_plan *p, const sw_graph *g) {
  sw_text t = {0};
  sw_graph_print(g, &t);
  for (int32_t i = 0; i < g->n_ops; i++) {
    sw_text_printf(&t, "%s ", g->ops[i].name);
    sw_strategy_print(sw_machine_mesh(p->job.machine), g->ops[i].nest, &p->ops[i], &t);
    sw_text_puts(&t, "\n");
  }
  print_message("%s", sw_text_str(&t));
  sw_text_free(&t);
}

static void devices_give_what_one_gives(void **state) {
  (void)state;
  static const sw_dtype kDtypes[] = {SW_F32, SW_BF16, SW_F64};
  sw_rng r;
  sw_rng_seed(&r, check_seed(7));
  int key_cuts = 0, rings = 0, gradient_rings = 0;
  for (int n = 0; n < check_scale(250); n++) {
    sw_arena arena = {0};
    attention_case c;
    sw_plan p;
    sw_validation v;
    do choose(&c, &r, kDtypes[n % 3]);
    while (c.keys > 100);
    sw_graph *g = seal(with_gradient(&c, c.dtype, c.bias));
    sw_machine *machine = machine_of("dgx-h100", kMeshes[n % 5], &arena);
    plan_randomly(g, machine, &r, &arena, &p);
    int cut;
    (void)sw_strategy_loop(&p.ops[0], SW_ATTENTION_KEY, &cut);
    key_cuts += cut > 0;
    for (int32_t i = 0; i < g->n_ops; i++) {
      const bool ring = sw_strategy_is_ring(&g->ops[i], &p.ops[i]);
      *(g->ops[i].code == SW_OP_ATTENTION ? &rings : &gradient_rings) += ring;
    }
    const sw_validate_options o = {.seed = (uint64_t)n + 1, .timeout_s = 60, .intermediates = true};
    assert_ok(sw_validate(&p, &o, &arena, &v, &diag));
    if (!v.matches) {
      print_strategies(&p, g);
      fail_msg("case %d on %s: '%s' differs", n, kMeshes[n % 5], v.first_bad_op ? v.first_bad_op : "an output");
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  print_message("keys were cut in %d of the plans, in a ring in %d and for gradients in %d\n", key_cuts, rings,
                gradient_rings);
  assert_true(key_cuts > rings && rings > 0 && gradient_rings > 0);
}

/* --- counting ----------------------------------------------------------------------------------------------------- */

static void pairs_are_counted(void **state) {
  (void)state;
  sw_rng r;
  sw_rng_seed(&r, check_seed(8));
  for (int n = 0; n < check_scale(2000); n++) {
    const sw_attention a = {.left_bound = coin(&r),
                            .right_bound = coin(&r),
                            .left = between(&r, 0, 6),
                            .right = between(&r, 0, 6),
                            .base = between(&r, -8, 8)};
    const int64_t q0 = between(&r, 0, 9), q1 = between(&r, 0, 12), k0 = between(&r, 0, 9), k1 = between(&r, 0, 14);
    double want = 0;
    for (int64_t i = q0; i < q1; i++) {
      for (int64_t j = k0; j < k1; j++) {
        const int64_t p = a.base + i;
        want += !(a.left_bound && j < p - a.left) && !(a.right_bound && j > p + a.right);
      }
    }
    const double got = sw_attention_pairs(&a, q0, q1, k0, k1);
    if (got != want) fail_msg("case %d: %g pairs, expected %g", n, got, want);
  }
}

/* Whether a step of a ring is needed, beside counting the pairs of each device; exact when blocks are as long. */
static void ring_steps_are_those_with_pairs(void **state) {
  (void)state;
  sw_rng r;
  sw_rng_seed(&r, check_seed(10));
  int left_out = 0;
  for (int n = 0; n < check_scale(2000); n++) {
    const sw_attention a = {.start = -1,
                            .left_bound = coin(&r),
                            .right_bound = coin(&r),
                            .left = between(&r, 0, 9),
                            .right = between(&r, 0, 9),
                            .base = between(&r, -20, 20)};
    const int64_t devices = between(&r, 1, 6), keys = between(&r, 1, 5), queries = coin(&r) ? keys : between(&r, 1, 5);
    for (int64_t t = 0; t < devices; t++) {
      double pairs = 0;
      for (int64_t c = 0; c < devices; c++) {
        const int64_t b = (c - t + devices) % devices;
        pairs += sw_attention_pairs(&a, c * queries, (c + 1) * queries, b * keys, (b + 1) * keys);
      }
      const bool sees = sw_attention_ring_sees(&a, queries, keys, devices, t);
      if (pairs > 0 ? !sees : sees && queries == keys) {
        fail_msg("case %d: step %lld of %lld has %g pairs, and is %s", n, (long long)t, (long long)devices, pairs,
                 sees ? "done" : "left out");
      }
      left_out += !sees;
    }
  }
  assert_true(left_out > 0);
}

/* Half of the pairs when causal, and a device with the last queries more than its share of them. */
static void work_counts_what_is_seen(void **state) {
  (void)state;
  const int64_t dims[4] = {1, 1, 64, 8};
  sw_graph *g = new_graph();
  sw_id in[3] = {arg(g, "q", SW_F32, 4, dims), arg(g, "k", SW_F32, 4, dims), arg(g, "v", SW_F32, 4, dims)}, out[2];
  add_many(g, SW_OP_ATTENTION, 3, in, 1, &(sw_attr)INT(CAUSAL, 1), out);
  output(g, "o", out[0]);
  seal(g);
  double flops, bytes;
  int64_t extents[7] = {1, 1, 1, 64, 64, 8, 8};
  sw_op_work(g, &g->ops[0], NULL, &flops, &bytes);
  assert_true(flops == 2.0 * 16 * 64 * 65 / 2);
  assert_true(bytes == 4 * (4 * 64 * 8 + 64));
  extents[SW_ATTENTION_QUERY] = 16; /* queries 48 to 63 see 49 to 64 keys */
  sw_op_work(g, &g->ops[0], extents, &flops, &bytes);
  assert_true(flops == 2.0 * 16 * 16 * (49 + 64) / 2);
  sw_graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forward_is_that_of_plain_ops),
                                     cmocka_unit_test(gradients_are_differences),
                                     cmocka_unit_test(written_out_ops_give_the_same),
                                     cmocka_unit_test(devices_give_what_one_gives),
                                     cmocka_unit_test(pairs_are_counted),
                                     cmocka_unit_test(ring_steps_are_those_with_pairs),
                                     cmocka_unit_test(work_counts_what_is_seen)};
  return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
