/* attention and attention_grad as the custom calls that JAX writes for cuDNN (mlir/cudnn/cudnn.c reads them):
 *
 *   %o, %lse, %w = custom_call @__cudnn$fmhaSoftmax(%q, %k, %v, [bias], [q_seqlen, kv_seqlen])
 *   %dq, %dk, %dv, [dbias], %w = custom_call @__cudnn$fmhaSoftmaxBackward(%q, %k, %v, %lse, %do, [bias], %o, [..])
 *
 * Results are [batch, head, position, width] whatever operands are, laid out in memory as operands are.
 */
#include <math.h>
#include <string.h>

#include "graph/attention.h"
#include "mlir/emit/mlir.h"

enum { MOST_IN = 10, MOST_OUT = 5 };

typedef struct call {
  const sw_hlo *h;
  sw_attention a;
  bool backward, positions_first;
  int64_t batch, heads, queries, keys;
} call;

/* It knows no mask, no dropout, no softcap, no place of the queries but 0, and a window of earlier keys alone; row by
 * row, biases are as large as scores. */
static bool can_say(const call *c) {
  const sw_attention *a = &c->a;
  const sw_ssa *in = c->h->in;
  if (a->mask >= 0 || a->keep >= 0 || a->start >= 0 || a->softcap > 0 || a->base != 0) return false;
  if (a->right_bound ? a->right != 0 : a->left_bound) return false;
  if (a->bias >= 0 && (in[a->bias].type.dims[2] != c->queries || in[a->bias].type.dims[3] != c->keys)) return false;
  return in[0].type.dtype != SW_F64 && c->batch * c->heads * c->queries * c->keys > 0;
}

/* --- settings ----------------------------------------------------------------------------------------------------- */

static void put_product(sw_text *out, const char *key, int lhs, int rhs, const int *batch) {
  sw_text_printf(out,
                 ", \"%s_dot_dimension_numbers\": {\"lhs_contracting_dimensions\": [\"%d\"], "
                 "\"rhs_contracting_dimensions\": [\"%d\"], \"lhs_batch_dimensions\": [\"0\", \"%d\"], "
                 "\"rhs_batch_dimensions\": [\"0\", \"%d\"]}",
                 key, lhs, rhs, batch[0], batch[1]);
}

/* What is multiplied with what: scores [0, 1] with one of q, k, v and do, or two of these. */
static void put_products(const call *c, sw_text *out) {
  const int head = c->a.heads, position = c->a.positions, both[2] = {head, head}, scores[2] = {1, head};
  if (!c->backward) {
    put_product(out, "bmm1", 3, 3, both);
    put_product(out, "bmm2", 3, position, scores);
    return;
  }
  put_product(out, "bmm1_grad_gemm1", 2, position, scores);
  put_product(out, "bmm1_grad_gemm2", 3, position, scores);
  put_product(out, "bmm2_grad_gemm1", 2, position, scores);
  put_product(out, "bmm2_grad_gemm2", 3, 3, both);
}

static const char *element_type(sw_dtype t) { return t == SW_BF16 ? "BF16" : t == SW_F16 ? "F16" : "F32"; }

static const char *mask_type(const sw_attention *a) {
  if (a->lengths >= 0) return a->right_bound ? "PADDING_CAUSAL" : "PADDING";
  return a->right_bound ? "CAUSAL" : "NO_MASK";
}

static void put_config(const call *c, sw_text *out) {
  const int64_t width = c->h->in[0].type.dims[3];
  const double scale = c->a.scale != 0 ? c->a.scale : width > 0 ? 1 / sqrt((double)width) : 1;
  sw_text_printf(out,
                 "{\"operation_queue_id\": \"0\", \"cudnn_fmha_backend_config\": {\"algorithm\": {\"algo_id\": \"0\", "
                 "\"math_type\": \"TENSOR_OP_MATH\", \"tuning_knobs\": {\"17\": \"1\", \"24\": \"0\"}, "
                 "\"is_cudnn_frontend\": true, \"workspace_size\": \"0\"}, \"fmha_scale\": %.17g, ",
                 scale);
  sw_text_printf(out,
                 "\"intermediate_tensor_shape\": {\"element_type\": \"%s\", \"dimensions\": [\"%lld\", \"%lld\", "
                 "\"%lld\", \"%lld\"], \"tuple_shapes\": [], \"layout\": {\"dim_level_types\": [], \"dim_unique\": [], "
                 "\"dim_ordered\": [], \"minor_to_major\": [\"3\", \"2\", \"1\", \"0\"], \"tiles\": [], "
                 "\"element_size_in_bits\": \"0\", \"memory_space\": \"0\", "
                 "\"index_primitive_type\": \"PRIMITIVE_TYPE_INVALID\", "
                 "\"pointer_primitive_type\": \"PRIMITIVE_TYPE_INVALID\", "
                 "\"dynamic_shape_metadata_prefix_bytes\": \"0\"}, "
                 "\"is_dynamic_dimension\": [false, false, false, false]}, \"is_flash_attention\": true, ",
                 element_type(c->h->in[0].type.dtype), (long long)c->batch, (long long)c->heads, (long long)c->queries,
                 (long long)c->keys);
  sw_text_printf(out, "\"mask_type\": \"%s\"", mask_type(&c->a));
  put_products(c, out);
  sw_text_printf(out,
                 ", \"dropout_rate\": 0.0, \"seed\": 42, \"sliding_window_length\": %lld, \"max_seg_per_batch\": 1, "
                 "\"is_paged_attention\": false}}",
                 c->a.left_bound ? (long long)c->a.left + 1 : 0LL);
}

/* --- the call ----------------------------------------------------------------------------------------------------- */

/* Dims from the innermost one outwards; `turned`: positions are outside of heads though they come later. */
static void put_layout(const sw_type *t, bool turned, sw_text *out) {
  sw_text_puts(out, "dense<");
  if (t->rank != 1) sw_text_puts(out, "[");
  for (int i = 0; i < t->rank; i++) {
    const int dim = turned && (i == 1 || i == 2) ? i : t->rank - 1 - i;
    sw_text_printf(out, i ? ", %d" : "%d", dim);
  }
  if (t->rank != 1) sw_text_puts(out, "]");
  sw_text_printf(out, "> : tensor<%dxindex>", t->rank);
}

static void put_ssa_layouts(const char *key, const sw_ssa *v, int n, unsigned turned, sw_text *props) {
  sw_text_printf(props, ", %s = [", key);
  for (int i = 0; i < n; i++) {
    if (i) sw_text_puts(props, ", ");
    put_layout(&v[i].type, turned >> i & 1, props);
  }
  sw_text_puts(props, "]");
}

static sw_ssa as_i32(const sw_hlo *h, sw_ssa x) {
  const sw_type t = sw_mlir_shaped(h->w, SW_I32, x.type.rank, x.type.dims);
  return x.type.dtype == SW_I32 ? x : sw_mlir_unary(h->w, "stablehlo.convert", x, t, NULL);
}

static int put_operands(const call *c, sw_ssa *in) {
  const sw_hlo *h = c->h;
  int n = 3;
  memcpy(in, h->in, 3 * sizeof *in);
  if (c->backward) {
    in[n++] = h->in[SW_ATTENTION_LSE];
    in[n++] = h->in[SW_ATTENTION_DO];
  }
  if (c->a.bias >= 0) in[n++] = h->in[c->a.bias];
  if (c->backward) in[n++] = h->in[SW_ATTENTION_O];
  if (c->a.lengths < 0) return n;
  const sw_ssa lengths = as_i32(h, h->in[c->a.lengths]);
  const sw_ssa all = sw_mlir_int(h->w, sw_mlir_shaped(h->w, SW_I32, 0, NULL), c->queries);
  in[n++] = sw_mlir_spread(h->w, all, lengths.type);
  in[n++] = lengths;
  return n;
}

/* Result i of the call: heads before positions. */
static sw_ssa cudnn_result_of(const call *c, int i) {
  const sw_ssa *out = &c->h->out[i];
  if (!c->positions_first || (c->backward ? i > 2 : i > 0)) return *out;
  const int64_t *d = out->type.dims, dims[4] = {d[0], d[2], d[1], d[3]};
  return sw_mlir_temp(c->h->w, sw_mlir_shaped(c->h->w, out->type.dtype, 4, dims));
}

static void turn_back(const call *c, sw_ssa x, sw_ssa out) {
  static const int64_t kOrder[4] = {0, 2, 1, 3};
  sw_mlir_transpose(c->h->w, x, kOrder, out);
}

static void put_call(const call *c) {
  const sw_hlo *h = c->h;
  static const int64_t kNone = 0;
  sw_ssa in[MOST_IN], out[MOST_OUT];
  sw_text props = {0}, config = {0};
  const int n = put_operands(c, in), results = h->op->n_results, turned = c->backward ? 3 : 1;
  for (int i = 0; i < results; i++) out[i] = cudnn_result_of(c, i);
  out[results] = sw_mlir_temp(h->w, sw_mlir_shaped(h->w, SW_U8, 1, &kNone)); /* work space */
  put_config(c, &config);
  sw_text_puts(&props, "api_version = 2 : i32, backend_config = ");
  sw_mlir_quote(sw_text_str(&config), &props);
  sw_text_printf(&props, ", call_target_name = \"__cudnn$fmha%sSoftmax%s\"", c->a.bias >= 0 ? "ScaleBias" : "",
                 c->backward ? "Backward" : "");
  put_ssa_layouts("operand_layouts", in, n, 0, &props);
  put_ssa_layouts("result_layouts", out, results + 1, c->positions_first ? (1U << turned) - 1 : 0, &props);
  sw_mlir_line_with(h->w, (sw_line){"stablehlo.custom_call", n, results + 1, in, out, NULL, NULL}, &props, NULL);
  for (int i = 0; i < turned && c->positions_first; i++) turn_back(c, out[i], h->out[i]);
  if (config.rc) h->w->out->rc = SW_E_RESOURCE;
  sw_text_free(&config);
}

bool sw_hlo_cudnn(const sw_hlo *h) {
  call c = {.h = h, .backward = h->op->code == SW_OP_ATTENTION_GRAD};
  sw_attention_of(h->w->graph, h->op, &c.a);
  c.positions_first = c.a.heads == 2;
  c.batch = h->in[0].type.dims[0];
  c.heads = h->in[0].type.dims[c.a.heads];
  c.queries = h->in[0].type.dims[c.a.positions];
  c.keys = h->in[SW_ATTENTION_K].type.dims[c.a.positions];
  if (!can_say(&c)) return false;
  put_call(&c);
  return true;
}
