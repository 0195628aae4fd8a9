/* attention and its gradient as products, a softmax and what lies around it: what the ops mean, for tools that do not
 * have them. Steps are in f32, of f64 in f64. With l the sum of e^(s - m) of a row, m its largest score:
 *
 *   p = e^(s - m) / l    o = p v    lse = m + log l
 *   p = e^(s - lse)      ds = p (do v^T - sum of do o)    dv = p^T do    dq = scale ds k    dk = scale ds^T q
 *
 * With dropout p before v and do, and do v^T, are divided by 1 - dropout where they are kept, and 0 elsewhere.
 */
#include <math.h>
#include <string.h>

#include "graph/attention.h"
#include "graph/fuse.h"
#include "graph/ops/expand.h"

typedef struct writer {
  sw_graph *g;
  sw_attention a;
  sw_dtype wide;
  int64_t batch, heads, kv_heads, queries, keys, width, value_width;
  double scale;
  sw_id in[SW_MAX_RESULTS];
  sw_rc rc;
  sw_diag *d;
} writer;

/* Any number for an id after a failure. */
static sw_id op(writer *w, sw_opcode code, int n, const sw_id *in, int n_attrs, const sw_attr *attrs) {
  sw_id results[SW_MAX_RESULTS] = {0};
  const sw_op_spec spec = {.code = code, .n_operands = n, .operands = in, .n_attrs = n_attrs, .attrs = attrs};
  if (!w->rc) w->rc = sw_graph_add_op(w->g, &spec, results, w->d);
  return results[0];
}
static sw_id one(writer *w, sw_opcode code, sw_id x) { return op(w, code, 1, &x, 0, NULL); }
static sw_id two(writer *w, sw_opcode code, sw_id x, sw_id y) { return op(w, code, 2, (sw_id[]){x, y}, 0, NULL); }
static const sw_type *type(const writer *w, sw_id x) { return &w->g->values[x].type; }
static sw_id convert(writer *w, sw_id x, sw_dtype t) {
  return type(w, x)->dtype == t ? x : op(w, SW_OP_CONVERT, 1, &x, 1, &SW_ATTR_I(DTYPE, t));
}
static sw_id write_reshape(writer *w, sw_id x, int rank, const int64_t *shape) {
  return op(w, SW_OP_RESHAPE, 1, &x, 1, &SW_ATTR_L(SHAPE, shape, rank));
}
static sw_id write_broadcast(writer *w, sw_id x, int rank, const int64_t *shape, int n, const int64_t *dims) {
  return op(w, SW_OP_BROADCAST, 1, &x, 2, (sw_attr[]){SW_ATTR_L(SHAPE, shape, rank), SW_ATTR_L(DIMS, dims, n)});
}
static sw_id number(writer *w, sw_dtype t, double v, int rank, const int64_t *shape) {
  _Alignas(16) unsigned char element[16] = {0};
  sw_element_store(t, v, element);
  const sw_attr at[] = {
      SW_ATTR_I(DTYPE, t), SW_ATTR_L(SHAPE, shape, rank), {.key = SW_ATTR_VALUE, .u.data = {element, true}}};
  return op(w, SW_OP_CONSTANT, 0, NULL, 3, at);
}
static sw_id write_scaled(writer *w, sw_id x, double by) {
  return two(w, SW_OP_MULTIPLY, x, number(w, w->wide, by, type(w, x)->rank, type(w, x)->dims));
}
static sw_id reduce(writer *w, const char *kind, sw_id x, int n, const int64_t *dims) {
  return op(w, SW_OP_REDUCE, 1, &x, 2, (sw_attr[]){SW_ATTR_L(DIMS, dims, n), SW_ATTR_T(KIND, kind)});
}
static sw_id dot(writer *w, sw_id x, int64_t x_dim, sw_id y, int64_t y_dim) {
  static const int64_t kBatch[2] = {0, 1};
  const sw_attr at[] = {SW_ATTR_L(LHS_BATCH, kBatch, 2), SW_ATTR_L(RHS_BATCH, kBatch, 2),
                        SW_ATTR_L(LHS_CONTRACT, &x_dim, 1), SW_ATTR_L(RHS_CONTRACT, &y_dim, 1)};
  return op(w, SW_OP_DOT, 2, (sw_id[]){x, y}, 4, at);
}
static sw_id compare(writer *w, const char *how, sw_id x, sw_id y) {
  return op(w, SW_OP_COMPARE, 2, (sw_id[]){x, y}, 1, &SW_ATTR_T(DIRECTION, how));
}
static const int64_t kDims[4] = {0, 1, 2, 3};
static sw_id along_rows(writer *w, sw_id x, sw_id like) {
  const sw_type t = *type(w, like);
  return write_broadcast(w, x, 4, t.dims, 3, kDims);
}

/* Positions and heads change places, where the layout has it so. */
static sw_id turned(writer *w, sw_id x) {
  static const int64_t kOrder[4] = {0, 2, 1, 3};
  return w->a.heads == 1 ? x : op(w, SW_OP_TRANSPOSE, 1, &x, 1, &SW_ATTR_L(PERMUTATION, kOrder, 4));
}

/* [batch, head, position, width], wide. */
static sw_id of_queries(writer *w, int operand) { return turned(w, convert(w, w->in[operand], w->wide)); }

/* The same of a kv head, once for each of its query heads. */
static sw_id of_keys(writer *w, int operand) {
  static const int64_t kTo[4] = {0, 1, 3, 4};
  const sw_id x = of_queries(w, operand);
  const int64_t width = type(w, x)->rank == 4 ? type(w, x)->dims[3] : 0, group = w->heads / w->kv_heads;
  const int64_t apart[5] = {w->batch, w->kv_heads, group, w->keys, width};
  const int64_t together[4] = {w->batch, w->heads, w->keys, width};
  return group == 1 ? x : write_reshape(w, write_broadcast(w, x, 5, apart, 4, kTo), 4, together);
}

/* Added up over the query heads of a kv head, and as the operand is. */
static sw_id back_to_keys(writer *w, sw_id x, int operand) {
  const int64_t width = type(w, x)->rank == 4 ? type(w, x)->dims[3] : 0, group = w->heads / w->kv_heads, at = 2;
  const int64_t apart[5] = {w->batch, w->kv_heads, group, w->keys, width};
  if (group > 1) x = reduce(w, "sum", write_reshape(w, x, 5, apart), 1, &at);
  return convert(w, turned(w, x), type(w, w->in[operand])->dtype);
}

static sw_id both(writer *w, sw_id x, sw_id y) { return x < 0 ? y : two(w, SW_OP_AND, x, y); }

static sw_id write_positions(writer *w, const int64_t *shape, int dim) {
  return op(w, SW_OP_IOTA, 0, NULL, 3,
            (sw_attr[]){SW_ATTR_I(DTYPE, SW_I64), SW_ATTR_I(DIM, dim), SW_ATTR_L(SHAPE, shape, 4)});
}

/* Which pairs are seen; -1: all. */
static sw_id seen(writer *w, const int64_t *shape) {
  const sw_attention *a = &w->a;
  static const int64_t kFirst = 0;
  sw_id all = -1, key, query;
  if (a->mask >= 0) all = write_broadcast(w, w->in[a->mask], 4, shape, 4, kDims);
  if (a->lengths < 0 && !sw_attention_is_placed(a)) return all;
  key = write_positions(w, shape, 3);
  if (a->lengths >= 0) {
    sw_id n = convert(w, w->in[a->lengths], SW_I64);
    all = both(w, all, compare(w, "lt", key, write_broadcast(w, n, 4, shape, 1, &kFirst)));
  }
  if (!sw_attention_is_placed(a)) return all;
  query = two(w, SW_OP_ADD, write_positions(w, shape, 2), number(w, SW_I64, (double)a->base, 4, shape));
  if (a->start >= 0) {
    sw_id start = convert(w, w->in[a->start], SW_I64);
    query = two(w, SW_OP_ADD, query, write_broadcast(w, start, 4, shape, 0, NULL));
  }
  if (a->right_bound) {
    sw_id last = two(w, SW_OP_ADD, query, number(w, SW_I64, (double)a->right, 4, shape));
    all = both(w, all, compare(w, "le", key, last));
  }
  if (!a->left_bound) return all;
  sw_id first = two(w, SW_OP_SUBTRACT, query, number(w, SW_I64, (double)a->left, 4, shape));
  return both(w, all, compare(w, "ge", key, first));
}

/* Scores, -inf where a pair is not seen; *slope of the softcap, -1: there is none. */
static sw_id scores(writer *w, sw_id q, sw_id k, sw_id *slope) {
  const int64_t shape[4] = {w->batch, w->heads, w->queries, w->keys};
  sw_id s = write_scaled(w, dot(w, q, 3, k, 3), w->scale);
  *slope = -1;
  if (w->a.softcap > 0) {
    sw_id t = one(w, SW_OP_TANH, write_scaled(w, s, 1 / w->a.softcap));
    s = write_scaled(w, t, w->a.softcap);
    *slope = two(w, SW_OP_SUBTRACT, number(w, w->wide, 1, 4, shape), two(w, SW_OP_MULTIPLY, t, t));
  }
  if (w->a.bias >= 0) {
    sw_id bias = convert(w, w->in[w->a.bias], w->wide);
    s = two(w, SW_OP_ADD, s, write_broadcast(w, bias, 4, shape, 4, kDims));
  }
  const sw_id all = seen(w, shape);
  if (all < 0) return s;
  return op(w, SW_OP_SELECT, 3, (sw_id[]){all, s, number(w, w->wide, -INFINITY, 4, shape)}, 0, NULL);
}

/* With dropout. */
static sw_id dropped(writer *w, sw_id x) {
  const sw_type t = *type(w, x);
  if (w->a.keep < 0) return x;
  sw_id keep = write_broadcast(w, w->in[w->a.keep], 4, t.dims, 4, kDims);
  return op(w, SW_OP_SELECT, 3,
            (sw_id[]){keep, write_scaled(w, x, 1 / (1 - w->a.dropout)), number(w, w->wide, 0, 4, t.dims)}, 0, NULL);
}

static void write_forward(writer *w, sw_id out[4]) {
  const int64_t row[3] = {w->batch, w->heads, w->queries}, keys = 3;
  const sw_dtype t = type(w, w->in[0])->dtype;
  sw_id slope, s = scores(w, of_queries(w, SW_ATTENTION_Q), of_keys(w, SW_ATTENTION_K), &slope);
  /* rows without keys: a largest score that is a number, and a sum that is not 0 */
  sw_id m = two(w, SW_OP_MAXIMUM, reduce(w, "max", s, 1, &keys), number(w, w->wide, -1e30, 3, row));
  sw_id e = one(w, SW_OP_EXP, two(w, SW_OP_SUBTRACT, s, along_rows(w, m, s)));
  sw_id l = reduce(w, "sum", e, 1, &keys);
  sw_id p = two(w, SW_OP_DIVIDE, e, along_rows(w, two(w, SW_OP_MAXIMUM, l, number(w, w->wide, 1e-30, 3, row)), s));
  p = dropped(w, p);
  out[0] = convert(w, turned(w, dot(w, p, 3, of_keys(w, SW_ATTENTION_V), 2)), t);
  out[1] = two(w, SW_OP_ADD, m, one(w, SW_OP_LOG, l));
}

/* The gradient of a bias: summed over dims of extent 1. */
static sw_id back_to_bias(writer *w, sw_id ds) {
  const sw_type t = *type(w, w->in[w->a.bias]);
  int64_t gone[4], n = 0;
  for (int i = 0; i < 4; i++) {
    if (t.dims[i] == 1 && type(w, ds)->dims[i] != 1) gone[n++] = i;
  }
  if (n) ds = write_reshape(w, reduce(w, "sum", ds, (int)n, gone), 4, t.dims);
  return convert(w, ds, t.dtype);
}

static void write_gradient(writer *w, sw_id out[4]) {
  const int64_t row[3] = {w->batch, w->heads, w->queries}, width = 3;
  sw_id slope, q = of_queries(w, SW_ATTENTION_Q), k = of_keys(w, SW_ATTENTION_K), v = of_keys(w, SW_ATTENTION_V);
  sw_id d = of_queries(w, SW_ATTENTION_DO), s = scores(w, q, k, &slope);
  sw_id lse = two(w, SW_OP_MAXIMUM, w->in[SW_ATTENTION_LSE], number(w, w->wide, -1e30, 3, row));
  sw_id p = one(w, SW_OP_EXP, two(w, SW_OP_SUBTRACT, s, along_rows(w, lse, s)));
  sw_id delta = reduce(w, "sum", two(w, SW_OP_MULTIPLY, d, of_queries(w, SW_ATTENTION_O)), 1, &width);
  sw_id ds = two(w, SW_OP_MULTIPLY, p, two(w, SW_OP_SUBTRACT, dropped(w, dot(w, d, 3, v, 3)), along_rows(w, delta, s)));
  if (w->a.bias_grad) out[3] = back_to_bias(w, ds);
  ds = write_scaled(w, slope < 0 ? ds : two(w, SW_OP_MULTIPLY, ds, slope), w->scale);
  out[0] = convert(w, turned(w, dot(w, ds, 3, k, 2)), type(w, w->in[SW_ATTENTION_Q])->dtype);
  out[1] = back_to_keys(w, dot(w, ds, 2, q, 2), SW_ATTENTION_K);
  out[2] = back_to_keys(w, dot(w, dropped(w, p), 2, d, 2), SW_ATTENTION_V);
}

static sw_rc add_operands(writer *w, const sw_graph *of, const sw_op *attention) {
  for (int i = 0; i < attention->n_operands; i++) {
    const sw_type *t = sw_operand_type(of, attention, i);
    char name[16];
    (void)snprintf(name, sizeof name, "arg%d", i);
    SW_TRY(sw_graph_add_arg(w->g, name, t->dtype, t->rank, t->dims, SW_VALUE_INPUT, SW_NOWHERE, &w->in[i], w->d));
  }
  return SW_OK;
}

sw_rc sw_attention_written_out(const sw_graph *of, const sw_op *attention, sw_graph **out, sw_diag *d) {
  writer w = {.d = d};
  sw_id results[4] = {0};
  sw_attention_of(of, attention, &w.a);
  const int64_t *q = sw_operand_type(of, attention, SW_ATTENTION_Q)->dims;
  const int64_t *k = sw_operand_type(of, attention, SW_ATTENTION_K)->dims;
  w.wide = sw_attention_sums(sw_operand_type(of, attention, SW_ATTENTION_Q)->dtype);
  w.batch = q[0];
  w.heads = q[w.a.heads];
  w.kv_heads = k[w.a.heads] > 0 ? k[w.a.heads] : 1;
  w.queries = q[w.a.positions];
  w.keys = k[w.a.positions];
  w.scale = w.a.scale != 0 ? w.a.scale : q[3] > 0 ? 1 / sqrt((double)q[3]) : 1;
  SW_TRY(sw_graph_create("attention", &w.g, d));
  w.rc = add_operands(&w, of, attention);
  if (!w.rc && attention->code == SW_OP_ATTENTION) write_forward(&w, results);
  if (!w.rc && attention->code == SW_OP_ATTENTION_GRAD) write_gradient(&w, results);
  for (int i = 0; !w.rc && i < attention->n_results; i++)
    w.rc = sw_graph_add_output(w.g, NULL, results[i], -1, SW_NOWHERE, d);
  if (!w.rc) w.rc = sw_graph_seal(w.g, d);
  if (w.rc) sw_graph_destroy(w.g);
  if (!w.rc) *out = w.g;
  return w.rc;
}
