/* Composites and custom calls that frameworks have for scaled dot-product attention, as attention: those that PyTorch
 * programs come with, on ATen's operands,
 *
 *   aten.scaled_dot_product_attention(query, key, value, [attn_mask]) {is_causal, scale, dropout_p, enable_gqa}
 *
 * of [batch, head, position, width], or without heads, and LiteRT's, of [batch, position, head, width]:
 *
 *   odml.scaled_dot_product_attention(query, key, value, mask) {scale, logit_cap}
 *
 * A mask is added, or as bool says which pairs are seen. What these leave open, or what the op does not have (dropout,
 * keys that are the same for all batches), is what the composite's decomposition says; of a custom call it is opaque.
 * (ATen's schema: aten/src/ATen/native/native_functions.yaml in pytorch/pytorch; the composites: tt_torch in
 * tenstorrent/tt-xla, generative/layers in google-ai-edge/ai-edge-torch.)
 */
#include <string.h>

#include "mlir/import/dialect.h"
#include "mlir/import/import_emit.h"

typedef struct settings {
  bool causal, drops;
  double scale, softcap; /* 0: not said */
  bool clear;            /* all that is said is understood */
} settings;

/* A setting of the composite, or of a custom call that it was made; absent: none. */
static sw_ir_span composite_setting(const sw_importer *m, uint32_t op, const char *key) {
  static const char *const kWhere[] = {"composite_attributes", "tt.composite_attributes", "mhlo.frontend_attributes"};
  sw_ir_span v = {0, 0};
  for (size_t i = 0; i < sizeof kWhere / sizeof *kWhere && !sw_ir_present(v); i++) {
    sw_ir_span all = sw_ir_attr(m->t, sw_im_op(m, op), kWhere[i], NULL);
    if (sw_ir_present(all)) v = sw_ir_unquoted(m->t, sw_ir_entry(m->t, all, key));
  }
  return v;
}

static void read_bool(const sw_importer *m, uint32_t op, const char *key, bool *out, settings *s) {
  sw_ir_span v = composite_setting(m, op, key);
  if (!sw_ir_present(v)) return;
  *out = sw_ir_is(m->t, v, "true") || sw_ir_is(m->t, v, "True");
  s->clear = s->clear && (*out || sw_ir_is(m->t, v, "false") || sw_ir_is(m->t, v, "False"));
}

static void read_number_setting(const sw_importer *m, uint32_t op, const char *key, double *out, settings *s) {
  sw_ir_span v = composite_setting(m, op, key);
  if (!sw_ir_present(v) || sw_ir_is(m->t, v, "None")) return;
  s->clear = s->clear && sw_ir_read_float(m->t, v, out) && *out != 0; /* which the op takes for not said */
}

static settings read_sdpa_settings(const sw_importer *m, uint32_t op) {
  settings s = {.clear = true};
  sw_ir_span dropout = composite_setting(m, op, "dropout_p");
  double rate = 0;
  if (sw_ir_present(dropout)) s.drops = !sw_ir_read_float(m->t, dropout, &rate) || rate != 0;
  read_bool(m, op, "is_causal", &s.causal, &s);
  read_number_setting(m, op, "scale", &s.scale, &s);
  read_number_setting(m, op, "logit_cap", &s.softcap, &s);
  return s;
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

/* Extents of q, k and v as [batch, head, position, width]. */
typedef struct shapes {
  int64_t q[4], k[4], v[4];
} shapes;

static void attention_shape_of(const sw_type *t, bool positions_first, int64_t out[4]) {
  out[0] = t->dims[0];
  out[1] = t->rank == 4 ? t->dims[positions_first ? 2 : 1] : 1;
  out[2] = t->rank == 4 ? t->dims[positions_first ? 1 : 2] : t->dims[1];
  out[3] = t->dims[t->rank - 1];
}

static bool heads_fit(const sw_importer *m, const sw_id *x, bool positions_first, shapes *out) {
  const sw_type *t[3];
  int64_t *const to[3] = {out->q, out->k, out->v};
  for (int i = 0; i < 3; i++) {
    t[i] = sw_im_type(m, x[i]);
    if (sw_dtype_class_of(t[i]->dtype) != SW_CLASS_FLOAT || t[i]->dtype != t[0]->dtype) return false;
    if (t[i]->rank != t[0]->rank || (t[i]->rank != 4 && (t[i]->rank != 3 || positions_first))) return false;
    attention_shape_of(t[i], positions_first, to[i]);
  }
  const int64_t *q = out->q, *k = out->k, *v = out->v;
  return k[0] == q[0] && v[0] == q[0] && k[1] == v[1] && k[2] == v[2] && k[3] == q[3] && k[1] > 0 && q[1] % k[1] == 0;
}

/* A mask of the scores [batch, head, query, key]: what its dims are, of which those in front may be missing. */
static bool mask_fits(const sw_importer *m, sw_id mask, bool has_heads, const shapes *s, int64_t out[4]) {
  const sw_type *t = sw_im_type(m, mask);
  const int64_t scores[4] = {s->q[0], s->q[1], s->q[2], s->k[2]};
  const sw_dtype_class class = sw_dtype_class_of(t->dtype);
  if (t->rank < 2 || t->rank > 4 || (class != SW_CLASS_FLOAT && class != SW_CLASS_BOOL)) return false;
  for (int i = 0; i < 4; i++) out[i] = 1;
  out[2] = t->dims[t->rank - 2];
  out[3] = t->dims[t->rank - 1];
  if (t->rank == 4) out[0] = t->dims[0];
  if (t->rank == 4) out[1] = t->dims[1];
  if (t->rank == 3) out[has_heads ? 1 : 0] = t->dims[0];
  for (int i = 0; i < 4; i++) {
    if (out[i] != 1 && out[i] != scores[i]) return false;
  }
  return has_heads || t->rank < 4;
}

static sw_rc otherwise(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const bool said = sw_ir_present(sw_ir_attr(m->t, sw_im_op(m, op), "decomposition", NULL));
  return said ? sw_im_decompose(m, op) : sw_im_opaque(m, op, row->name);
}

/* `masked`: without a mask it is not said what is seen. */
static sw_rc import_sdpa(sw_importer *m, const sw_ir_row *row, uint32_t op, bool positions_first, bool masked) {
  const settings s = read_sdpa_settings(m, op);
  const uint32_t results = sw_ir_result_count(m->t, sw_im_op(m, op));
  const sw_id *x;
  sw_id in[4], made[2];
  int64_t mask[4];
  shapes shape;
  sw_type t;
  int n;
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_operands(m, op, 0, &x, &n));
  if (!s.clear || s.drops || results != 1 || n < 3 + masked || n > 4) return otherwise(m, row, op);
  if (!heads_fit(m, x, positions_first, &shape)) return otherwise(m, row, op);
  const int rank = sw_im_type(m, x[0])->rank;
  if (n == 4 && !mask_fits(m, x[3], rank == 4, &shape, mask)) return otherwise(m, row, op);
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  if (t.dtype != sw_im_type(m, x[0])->dtype) return otherwise(m, row, op);
  memcpy(in, x, (size_t)n * sizeof *in);
  for (int i = 0; i < 3 && rank == 3; i++) {
    const int64_t *const to[3] = {shape.q, shape.k, shape.v};
    SW_TRY(sw_im_reshaped(m, op, in[i], 4, to[i], &in[i]));
  }
  if (n == 4) SW_TRY(sw_im_reshaped(m, op, in[3], 4, mask, &in[3]));
  a.at[a.n++] = (sw_attr){.key = SW_ATTR_SCALE, .u.f = s.scale};
  a.at[a.n++] = (sw_attr){.key = SW_ATTR_SOFTCAP, .u.f = s.softcap};
  sw_im_int(&a, SW_ATTR_CAUSAL, s.causal);
  sw_im_text(&a, SW_ATTR_LAYOUT, positions_first ? "bshd" : "bhsd");
  SW_TRY(sw_im_help_all(m, op, &(sw_im_add){.code = SW_OP_ATTENTION, .n_operands = n, .operands = in, .attrs = &a}, 2,
                        made));
  return sw_im_results_are(m, op, made, 1);
}

static sw_rc of_torch(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  return import_sdpa(m, row, op, false, false);
}
static sw_rc of_litert(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  return import_sdpa(m, row, op, true, true);
}

static const sw_ir_row kCalls[] = {{"aten.scaled_dot_product_attention", of_torch},
                                   {"aten.scaled_dot_product_attention.default", of_torch},
                                   {"tenstorrent.scaled_dot_product_attention", of_torch},
                                   {"tt.scaled_dot_product_attention", of_torch},
                                   {"odml.scaled_dot_product_attention", of_litert}};

const sw_dialect sw_dialect_sdpa = {"sdpa", NULL, 0, SW_IR_ROWS(kCalls), NULL};
