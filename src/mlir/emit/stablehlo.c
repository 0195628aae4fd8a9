/* Ops in StableHLO's generic form, from one table: the name and what prints its properties. What needs more than one
 * line, or a region, has a writer of its own.
 *
 *   "stablehlo.transpose"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
 */
#include <ctype.h>
#include <string.h>

#include "mlir/emit/mlir.h"

typedef void (*properties)(const sw_op *op, sw_text *props);

/* --- properties -------------------------------------------------------------------------------------------------- */

static void ints_as(const sw_op *op, sw_attr_key k, const char *key, sw_text *props) {
  int n;
  const int64_t *v = sw_op_ints(op, k, &n);
  sw_prop_ints(props, key, v, n);
}

static const char *in_capitals(const char *word, char out[static 16]) {
  int n = 0;
  for (; n < 15 && word[n]; n++) out[n] = (char)toupper((unsigned char)word[n]);
  out[n] = '\0';
  return out;
}

static void props_compare(const sw_op *op, sw_text *props) {
  char text[16];
  sw_prop(props, "comparison_direction", "#stablehlo<comparison_direction %s>",
          in_capitals(sw_op_text(op, SW_ATTR_DIRECTION, "eq"), text));
}

static void props_broadcast(const sw_op *op, sw_text *props) {
  ints_as(op, SW_ATTR_DIMS, "broadcast_dimensions", props);
}
static void props_transpose(const sw_op *op, sw_text *props) { ints_as(op, SW_ATTR_PERMUTATION, "permutation", props); }
static void props_reverse(const sw_op *op, sw_text *props) { ints_as(op, SW_ATTR_DIMS, "dimensions", props); }
static void props_iota(const sw_op *op, sw_text *props) {
  sw_prop_int(props, "iota_dimension", sw_op_int(op, SW_ATTR_DIM, 0));
}
static void props_concatenate(const sw_op *op, sw_text *props) {
  sw_prop_int(props, "dimension", sw_op_int(op, SW_ATTR_DIM, 0));
}
static void props_dynamic_slice(const sw_op *op, sw_text *props) { ints_as(op, SW_ATTR_SIZES, "slice_sizes", props); }

static void props_slice(const sw_op *op, sw_text *props) {
  ints_as(op, SW_ATTR_LIMIT, "limit_indices", props);
  ints_as(op, SW_ATTR_START, "start_indices", props);
  ints_as(op, SW_ATTR_STRIDES, "strides", props);
}

static void props_pad(const sw_op *op, sw_text *props) {
  ints_as(op, SW_ATTR_HIGH, "edge_padding_high", props);
  ints_as(op, SW_ATTR_LOW, "edge_padding_low", props);
  ints_as(op, SW_ATTR_INTERIOR, "interior_padding", props);
}

void sw_hlo_numbers(const sw_op *op, sw_attr_key k, const char *key, bool even_empty, sw_text *out) {
  int n;
  const int64_t *v = sw_op_ints(op, k, &n);
  if (n == 0 && !even_empty) return;
  if (out->n && out->at[out->n - 1] != '<') sw_text_puts(out, ", ");
  sw_text_printf(out, "%s = [", key);
  sw_mlir_list(v, n, out);
  sw_text_puts(out, "]");
}

/* Nothing, where it is what is meant anyway. */
static void put_precision(const sw_op *op, sw_text *props) {
  const sw_precision said = sw_op_precision(op);
  if (said == SW_PRECISION_DEFAULT) return;
  char text[16];
  const char *word = in_capitals(sw_precision_text(said), text);
  sw_prop(props, "precision_config", "[#stablehlo<precision %s>, #stablehlo<precision %s>]", word, word);
}

static void props_dot(const sw_op *op, sw_text *props) {
  sw_text_puts(props, "dot_dimension_numbers = #stablehlo.dot<");
  sw_hlo_numbers(op, SW_ATTR_LHS_BATCH, "lhs_batching_dimensions", false, props);
  sw_hlo_numbers(op, SW_ATTR_RHS_BATCH, "rhs_batching_dimensions", false, props);
  sw_hlo_numbers(op, SW_ATTR_LHS_CONTRACT, "lhs_contracting_dimensions", true, props);
  sw_hlo_numbers(op, SW_ATTR_RHS_CONTRACT, "rhs_contracting_dimensions", true, props);
  sw_text_puts(props, ">");
  put_precision(op, props);
}

static void props_gather(const sw_op *op, sw_text *props) {
  sw_text_puts(props, "dimension_numbers = #stablehlo.gather<");
  sw_hlo_numbers(op, SW_ATTR_OFFSET_DIMS, "offset_dims", false, props);
  sw_hlo_numbers(op, SW_ATTR_COLLAPSED_DIMS, "collapsed_slice_dims", false, props);
  sw_hlo_numbers(op, SW_ATTR_OPERAND_BATCH, "operand_batching_dims", false, props);
  sw_hlo_numbers(op, SW_ATTR_INDICES_BATCH, "start_indices_batching_dims", false, props);
  sw_hlo_numbers(op, SW_ATTR_START_INDEX_MAP, "start_index_map", true, props);
  sw_text_printf(props, ", index_vector_dim = %lld>", (long long)sw_op_int(op, SW_ATTR_INDEX_VECTOR_DIM, 0));
  sw_prop(props, "indices_are_sorted", "false");
  ints_as(op, SW_ATTR_SIZES, "slice_sizes", props);
}

/* "bf01" as [b, f, 0, 1]. */
static void layout(const char *letters, sw_text *out) {
  for (int i = 0; letters[i]; i++) sw_text_printf(out, "%s%c", i ? ", " : "[", letters[i]);
  sw_text_puts(out, "]");
}

static void props_convolution(const sw_op *op, sw_text *props) {
  int n;
  const int64_t *low = sw_op_ints(op, SW_ATTR_PAD_LOW, &n), *high = sw_op_ints(op, SW_ATTR_PAD_HIGH, &n);
  sw_prop_int(props, "batch_group_count", sw_op_int(op, SW_ATTR_BATCH_GROUPS, 1));
  sw_text_puts(props, ", dimension_numbers = #stablehlo.conv<");
  layout(sw_op_text(op, SW_ATTR_LHS_LAYOUT, ""), props);
  sw_text_puts(props, "x");
  layout(sw_op_text(op, SW_ATTR_RHS_LAYOUT, ""), props);
  sw_text_puts(props, "->");
  layout(sw_op_text(op, SW_ATTR_OUT_LAYOUT, ""), props);
  sw_text_puts(props, ">");
  sw_prop_int(props, "feature_group_count", sw_op_int(op, SW_ATTR_FEATURE_GROUPS, 1));
  ints_as(op, SW_ATTR_LHS_DILATION, "lhs_dilation", props);
  sw_prop_pairs(props, "padding", low, high, n);
  put_precision(op, props);
  ints_as(op, SW_ATTR_RHS_DILATION, "rhs_dilation", props);
  ints_as(op, SW_ATTR_STRIDES, "window_strides", props);
}

static void put_constant_props(const sw_op *op, const sw_type *type, sw_text *props) {
  const sw_attr *value = sw_op_attr(op, SW_ATTR_VALUE);
  sw_text_puts(props, "value = ");
  if (value) sw_mlir_dense(type, value->u.data.bytes, value->u.data.splat, props);
  sw_text_puts(props, " : ");
  sw_mlir_type(type, props);
}

/* --- the table --------------------------------------------------------------------------------------------------- */

void sw_hlo_line(const sw_hlo *h, const char *name, sw_text *props) {
  const sw_line line = {name, h->op->n_operands, h->op->n_results, h->in, h->out, NULL, NULL};
  sw_mlir_line_with(h->w, line, props, NULL);
}

static void props_reduce_precision(const sw_op *op, sw_text *out) {
  sw_text_printf(out, "exponent_bits = %lld : i32, mantissa_bits = %lld : i32",
                 (long long)sw_op_int(op, SW_ATTR_EXPONENT_BITS, 0),
                 (long long)sw_op_int(op, SW_ATTR_MANTISSA_BITS, 0));
}

void sw_hlo_constant(const sw_hlo *h) {
  sw_text props = {0};
  put_constant_props(h->op, &h->out[0].type, &props);
  sw_hlo_line(h, "stablehlo.constant", &props);
}

static void props_fft(const sw_op *op, sw_text *props) {
  char text[16];
  ints_as(op, SW_ATTR_FFT_LENGTH, "fft_length", props);
  sw_prop(props, "fft_type", "#stablehlo<fft_type %s>", in_capitals(sw_op_text(op, SW_ATTR_FFT_TYPE, "fft"), text));
}

static const char *truth(const sw_op *op, sw_attr_key k) { return sw_op_int(op, k, 0) ? "true" : "false"; }

static void props_cholesky(const sw_op *op, sw_text *props) { sw_prop(props, "lower", "%s", truth(op, SW_ATTR_LOWER)); }

static void props_triangular_solve(const sw_op *op, sw_text *props) {
  const char *how = sw_op_text(op, SW_ATTR_TRANSPOSE_A, "none");
  sw_prop(props, "left_side", "%s", truth(op, SW_ATTR_LEFT_SIDE));
  sw_prop(props, "lower", "%s", truth(op, SW_ATTR_LOWER));
  sw_prop(props, "transpose_a", "#stablehlo<transpose %s>",
          how[0] == 'n'   ? "NO_TRANSPOSE"
          : how[0] == 'a' ? "ADJOINT"
                          : "TRANSPOSE");
  sw_prop(props, "unit_diagonal", "%s", truth(op, SW_ATTR_UNIT_DIAGONAL));
}

#define props_none NULL
#define FORM_none \
  { 0 }
#define FORM_LINE(of) \
  { .dialect = "stablehlo", .props = props_##of }
/* StableHLO's companion dialect has what it lacks itself. */
#define FORM_CHLO \
  { .dialect = "chlo" }
#define FORM_WRITE(how) \
  { .write = sw_hlo_##how }
static const struct {
  const char *dialect;            /* of the op of this name; NULL: no line */
  properties props;               /* NULL: none */
  void (*write)(const sw_hlo *h); /* not NULL: instead of one line */
} kForms[SW_OP_COUNT] = {
#define SW_COLUMN_OUT(id, out) FORM_##out,
#include "shardwright/ops.def"
};

sw_rc sw_hlo_check(const sw_graph *g, bool with_control, sw_diag *d) {
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    sw_op_class class = sw_op_class_of(op->code);
    /* markers of loops and choices: programs of one device alone are written with them */
    if (class == SW_OPS_DEVICE || (with_control && class == SW_OPS_CONTROL)) continue;
    if (kForms[op->code].dialect || kForms[op->code].write) continue;
    return SW_FAIL_INPUT(d, op->span, "op '%s': this form has no way to say %s", op->name, sw_opcode_text(op->code));
  }
  return SW_OK;
}

void sw_hlo_write(const sw_hlo *h) {
  sw_text props = {0};
  char name[64];
  if (kForms[h->op->code].write) {
    kForms[h->op->code].write(h);
    return;
  }
  if (kForms[h->op->code].props) kForms[h->op->code].props(h->op, &props);
  (void)snprintf(name, sizeof name, "%s.%s", kForms[h->op->code].dialect, sw_opcode_text(h->op->code));
  sw_hlo_line(h, name, &props);
}
