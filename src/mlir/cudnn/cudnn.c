/* Custom calls of cuDNN's attention, which JAX writes for dot_product_attention(implementation="cudnn") and XLA's GPU
 * compiler runs, as attention and attention_grad.
 *
 *   __cudnn$fmhaSoftmax(q, k, v, [bias], [q_seqlen, kv_seqlen])                   o, [lse], work space
 *   __cudnn$fmhaSoftmaxBackward(q, k, v, lse, do, [bias], o, [q_seqlen, ..])      dq, dk, dv, [dbias], work space
 *
 * Operands are [batch, position, head, width] or [batch, head, position, width], as the products in the settings say,
 * and the first results [batch, head, position, width] always. Those with dropout are not known. (Known from JAX's
 * source, jax/_src/cudnn/fused_attention_stablehlo.py, 2024.)
 */
#include <stdlib.h>
#include <string.h>

#include "mlir/import/dialect.h"
#include "mlir/import/import_emit.h"

typedef struct settings {
  double scale;
  bool causal, padded, positions_first, other; /* other: sequences packed into one, or keys in pages */
  int64_t window;                              /* keys that a query sees, itself included; 0: all */
} settings;

/* What stands behind "key": in JSON; NULL: no such key. */
static const char *json_value_behind(const char *json, const char *key) {
  char quoted[64];
  (void)snprintf(quoted, sizeof quoted, "\"%s\"", key);
  const char *at = strstr(json, quoted);
  if (!at) return NULL;
  at += strlen(quoted);
  return at + strspn(at, " :\n");
}

/* The text without MLIR's escapes of quotes. */
static const char *unescaped(sw_importer *m, sw_ir_span s) {
  const char *from = sw_im_string(m, s);
  char *text = sw_arena_alloc(&m->scratch, strlen(from) + 1, 1, m->d), *to = text;
  if (!text) return NULL;
  for (; *from; from++) {
    const bool code = strncmp(from, "\\22", 3) == 0, quote = from[0] == '\\' && from[1] == '"';
    *to++ = code || quote ? '"' : *from;
    from += code ? 2 : quote;
  }
  *to = '\0';
  return text;
}

static sw_rc read_cudnn_settings(sw_importer *m, uint32_t op, bool backward, settings *out) {
  sw_ir_span config = sw_ir_unquoted(m->t, sw_ir_attr(m->t, sw_im_op(m, op), "backend_config", NULL));
  const char *json = sw_ir_present(config) ? unescaped(m, config) : "";
  if (!json) return SW_E_RESOURCE;
  const char *scale = json_value_behind(json, "fmha_scale"), *mask = json_value_behind(json, "mask_type");
  const char *window = json_value_behind(json, "sliding_window_length");
  const char *product =
      json_value_behind(json, backward ? "bmm2_grad_gemm2_dot_dimension_numbers" : "bmm1_dot_dimension_numbers");
  const char *batch = product ? json_value_behind(product, "lhs_batch_dimensions") : NULL;
  const char *second = batch ? strchr(batch, ',') : NULL;
  if (!scale || !mask || !second) {
    return SW_IM_FAIL(m, op,
                      "the call's 'backend_config' lacks %s; expected JSON with fmha_scale, mask_type and the dims of "
                      "its products",
                      !scale  ? "'fmha_scale'"
                      : !mask ? "'mask_type'"
                              : "the batch dims of its first product");
  }
  const char *packed = json_value_behind(json, "max_seg_per_batch"),
             *paged = json_value_behind(json, "is_paged_attention");
  *out = (settings){.scale = strtod(scale, NULL),
                    .window = window ? strtoll(window, NULL, 10) : 0,
                    .other = (packed && strtoll(packed, NULL, 10) > 1) || (paged && *paged == 't')};
  mask += *mask == '"';
  const size_t n = strcspn(mask, "\"");
  out->padded = strncmp(mask, "PADDING", strlen("PADDING")) == 0;
  out->causal = n >= 6 && strncmp(mask + n - 6, "CAUSAL", 6) == 0;
  out->positions_first = second[1 + strspn(second + 1, " \"")] == '2';
  if (out->padded || out->causal || strncmp(mask, "NO_MASK", n) == 0) return SW_OK;
  return SW_IM_FAIL(m, op, "the call's mask is '%.*s'; expected NO_MASK, CAUSAL, PADDING or PADDING_CAUSAL", (int)n,
                    mask);
}

static sw_rc put_settings(sw_importer *m, const settings *s, sw_im_attrs *a) {
  a->at[a->n++] = (sw_attr){.key = SW_ATTR_SCALE, .u.f = s->scale};
  sw_im_int(a, SW_ATTR_CAUSAL, s->causal);
  sw_im_text(a, SW_ATTR_TARGET, "cudnn");
  sw_im_text(a, SW_ATTR_LAYOUT, s->positions_first ? "bshd" : "bhsd");
  if (s->window <= 0) return SW_OK;
  int64_t *window;
  SW_ARENA_NEW(window, &m->scratch, 2, m->d);
  window[0] = s->window - 1;
  window[1] = 0;
  sw_im_numbers(a, SW_ATTR_WINDOW, window, 2);
  return SW_OK;
}

/* The call gives heads first, the op as its operands are. */
static sw_rc heads_first(sw_importer *m, uint32_t op, const settings *s, sw_id *x) {
  static const int64_t kOrder[4] = {0, 2, 1, 3};
  sw_im_attrs a = {.n = 0};
  if (!s->positions_first) return SW_OK;
  sw_im_numbers(&a, SW_ATTR_PERMUTATION, kOrder, 4);
  return sw_im_help(m, op, SW_OP_TRANSPOSE, 1, x, &a, x);
}

/* Zeros of the type of result `i`: work space. */
static sw_rc work_space(sw_importer *m, uint32_t op, uint32_t i, sw_id *out) {
  static const unsigned char kZero[16] = {0};
  sw_im_attrs a = {.n = 0};
  sw_type t;
  SW_TRY(sw_im_result_type(m, op, (int)i, &t));
  sw_im_value(&a, &t, kZero, true);
  return sw_im_help(m, op, SW_OP_CONSTANT, 0, NULL, &a, out);
}

/* q_seqlen and kv_seqlen are the last two operands; rows of queries behind the first are computed all the same. */
static sw_rc add_lengths(sw_importer *m, uint32_t op, const sw_id *x, int n, sw_id *in, int *n_in) {
  in[(*n_in)++] = x[n - 1];
  return sw_im_warn_once(m, op, "cudnn.q_seqlen",
                         "attention computes rows behind 'q_seqlen', too, which cuDNN leaves 0");
}

enum { MOST_OPERANDS = 12, MOST_RESULTS = 5 };

static sw_rc attention(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const uint32_t bias = strstr(row->name, "Bias") != NULL;
  const uint32_t results = sw_ir_result_count(m->t, sw_im_op(m, op));
  settings s;
  const sw_id *x;
  sw_id in[MOST_OPERANDS], made[2], out[3];
  int n, n_in = 3;
  sw_im_attrs a = {.n = 0};
  SW_TRY(read_cudnn_settings(m, op, false, &s));
  if (s.other) return sw_im_opaque(m, op, row->name);
  const uint32_t want = 3 + bias + (s.padded ? 2 : 0);
  SW_TRY(sw_im_operand_count(m, op, want, want));
  SW_TRY(sw_im_operands(m, op, 0, &x, &n));
  if (results < 1 || results > 3) return SW_IM_FAIL(m, op, "the call has %u results; expected 1 to 3", results);
  memcpy(in, x, 3 * sizeof *in);
  if (bias) in[n_in++] = x[3];
  if (s.padded) SW_TRY(add_lengths(m, op, x, n, in, &n_in));
  SW_TRY(put_settings(m, &s, &a));
  SW_TRY(sw_im_help_all(m, op, &(sw_im_add){.code = SW_OP_ATTENTION, .n_operands = n_in, .operands = in, .attrs = &a},
                        2, made));
  SW_TRY(heads_first(m, op, &s, &made[0]));
  out[0] = made[0];
  out[1] = made[1];
  if (results > 1) SW_TRY(work_space(m, op, results - 1, &out[results - 1]));
  return sw_im_results_are(m, op, out, results);
}

static sw_rc gradient(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const int bias = strstr(row->name, "Bias") != NULL;
  const uint32_t results = sw_ir_result_count(m->t, sw_im_op(m, op));
  settings s;
  const sw_id *x;
  sw_id in[MOST_OPERANDS], out[MOST_RESULTS];
  int n, n_in = 6;
  sw_im_attrs a = {.n = 0};
  SW_TRY(read_cudnn_settings(m, op, true, &s));
  if (s.other) return sw_im_opaque(m, op, row->name);
  const uint32_t want = 6 + (uint32_t)bias + (s.padded ? 2 : 0);
  SW_TRY(sw_im_operand_count(m, op, want, want));
  SW_TRY(sw_im_operands(m, op, 0, &x, &n));
  if (results < 3 || results > MOST_RESULTS)
    return SW_IM_FAIL(m, op, "the call has %u results; expected 3 to %d", results, MOST_RESULTS);
  const sw_id first[6] = {x[0], x[1], x[2], x[5 + bias], x[3], x[4]}; /* q, k, v, o, lse, do */
  memcpy(in, first, sizeof first);
  if (bias) in[n_in++] = x[5];
  if (s.padded) SW_TRY(add_lengths(m, op, x, n, in, &n_in));
  SW_TRY(put_settings(m, &s, &a));
  const uint32_t of_bias = bias && results == MOST_RESULTS;
  sw_im_int(&a, SW_ATTR_BIAS_GRAD, of_bias);
  const sw_im_add add = {.code = SW_OP_ATTENTION_GRAD, .n_operands = n_in, .operands = in, .attrs = &a};
  SW_TRY(sw_im_help_all(m, op, &add, 3 + of_bias, out));
  for (int i = 0; i < 3; i++) SW_TRY(heads_first(m, op, &s, &out[i]));
  if (results > 3 + of_bias) SW_TRY(work_space(m, op, results - 1, &out[results - 1]));
  return sw_im_results_are(m, op, out, results);
}

static const sw_ir_row kCalls[] = {{"__cudnn$fmhaSoftmax", attention},
                                   {"__cudnn$fmhaScaleBiasSoftmax", attention},
                                   {"__cudnn$fmhaSoftmaxBackward", gradient},
                                   {"__cudnn$fmhaScaleBiasSoftmaxBackward", gradient}};

const sw_dialect sw_dialect_cudnn = {"cudnn", NULL, 0, SW_IR_ROWS(kCalls), NULL};
