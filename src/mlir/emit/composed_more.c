/* More ops with regions, or composed of several: sort, select_and_scatter, random bits.
 *
 *   sort of f32 by operand 0    of its keys in one form each (one NaN, no -0), then by these in total order
 *   rng_bit_generator, a part   all bits, then a slice
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "mlir/emit/mlir.h"

/* --- sort -------------------------------------------------------------------------------------------------------- */

static bool is_float_element(sw_dtype t) { return sw_dtype_class_of(t) == SW_CLASS_FLOAT; }

/* NaN of any kind as one, which comes last, and -0 as 0. */
static sw_ssa canonical(sw_mlir *w, sw_ssa x) {
  _Alignas(16) unsigned char bytes[16] = {0};
  sw_element_store(x.type.dtype, NAN, bytes);
  sw_ssa nan = sw_mlir_spread(w, sw_mlir_constant(w, (sw_type){x.type.dtype, 0, NULL}, bytes), x.type);
  sw_ssa zero = sw_mlir_int(w, x.type, 0), y = sw_mlir_temp(w, x.type), z = sw_mlir_temp(w, x.type);
  sw_ssa first[3] = {sw_mlir_compare(w, "EQ", x, zero), zero, x};
  sw_mlir_line(w, &(sw_line){"stablehlo.select", 3, 1, first, &y, NULL, NULL});
  sw_ssa second[3] = {sw_mlir_compare(w, "NE", x, x), nan, y};
  sw_mlir_line(w, &(sw_line){"stablehlo.select", 3, 1, second, &z, NULL, NULL});
  return z;
}

static void put_compare(sw_text *out, const char *to, const char *direction, int key, sw_dtype t) {
  const char *e = sw_dtype_mlir(t);
  sw_text_printf(out, "      %%%s%d$ = \"stablehlo.compare\"(%%a%d$, %%b%d$) <{", to, key, key, key);
  if (is_float_element(t)) sw_text_puts(out, "compare_type = #stablehlo<comparison_type TOTALORDER>, ");
  sw_text_printf(out,
                 "comparison_direction = #stablehlo<comparison_direction %s>}> : (tensor<%s>, tensor<%s>) -> "
                 "tensor<i1>\n",
                 direction, e, e);
}

/* By the first n_keys of the operands: before by key 0, or alike by that and before by key 1, ... */
static void put_order(const sw_ssa *in, int n, int n_keys, bool descending, sw_text *out) {
  const char *direction = descending ? "GT" : "LT";
  sw_text_puts(out, "({\n    ^bb0(");
  for (int i = 0; i < n; i++) {
    const char *e = sw_dtype_mlir(in[i].type.dtype);
    sw_text_printf(out, "%s%%a%d$: tensor<%s>, %%b%d$: tensor<%s>", i ? ", " : "", i, e, i, e);
  }
  sw_text_puts(out, "):\n");
  for (int k = n_keys - 1; k >= 0; k--) {
    put_compare(out, k == n_keys - 1 ? "r" : "l", direction, k, in[k].type.dtype);
    if (k == n_keys - 1) continue;
    put_compare(out, "e", "EQ", k, in[k].type.dtype);
    sw_text_printf(out,
                   "      %%t%d$ = \"stablehlo.and\"(%%e%d$, %%r%d$) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n"
                   "      %%r%d$ = \"stablehlo.or\"(%%l%d$, %%t%d$) : (tensor<i1>, tensor<i1>) -> tensor<i1>\n",
                   k, k, k + 1, k, k, k);
  }
  sw_text_puts(out, "      \"stablehlo.return\"(%r0$) : (tensor<i1>) -> ()\n    })");
}

void sw_hlo_sort(const sw_hlo *h) {
  sw_ssa in[2 * SW_MAX_RESULTS], out[2 * SW_MAX_RESULTS];
  int n_keys, n = h->op->n_operands;
  const int64_t *keys = sw_op_ints(h->op, SW_ATTR_KEYS, &n_keys);
  bool total = sw_op_int(h->op, SW_ATTR_TOTAL_ORDER, 0) != 0;
  sw_text props = {0}, region = {0};
  if (n_keys > SW_MAX_RESULTS) n_keys = SW_MAX_RESULTS;
  for (int k = 0; k < n_keys; k++) { /* keys stand in front, once more */
    in[k] = h->in[keys[k]];
    if (is_float_element(in[k].type.dtype) && !total) in[k] = canonical(h->w, in[k]);
    out[k] = sw_mlir_temp(h->w, in[k].type);
  }
  memcpy(in + n_keys, h->in, (size_t)n * sizeof *in);
  memcpy(out + n_keys, h->out, (size_t)n * sizeof *out);
  sw_prop_int(&props, "dimension", sw_op_int(h->op, SW_ATTR_DIM, 0));
  sw_prop(&props, "is_stable", "true");
  put_order(in, n_keys + n, n_keys, sw_op_int(h->op, SW_ATTR_DESCENDING, 0) != 0, &region);
  sw_mlir_line_with(h->w, (sw_line){"stablehlo.sort", n_keys + n, n_keys + n, in, out, NULL, NULL}, &props, &region);
}

/* --- select_and_scatter ------------------------------------------------------------------------------------------ */

void sw_hlo_select_and_scatter(const sw_hlo *h) {
  sw_text props = {0}, regions = {0}, combine = {0};
  int n;
  char direction[3] = "";
  const char *by = sw_op_text(h->op, SW_ATTR_SELECT_BY, "ge"), *e = sw_dtype_mlir(h->in[0].type.dtype);
  for (int i = 0; i < 2 && by[i]; i++) direction[i] = (char)toupper((unsigned char)by[i]);
  const int64_t *low = sw_op_ints(h->op, SW_ATTR_PAD_LOW, &n), *high = sw_op_ints(h->op, SW_ATTR_PAD_HIGH, &n);
  sw_prop_pairs(&props, "padding", low, high, n);
  const int64_t *window = sw_op_ints(h->op, SW_ATTR_WINDOW, &n);
  sw_prop_ints(&props, "window_dimensions", window, n);
  const int64_t *strides = sw_op_ints(h->op, SW_ATTR_STRIDES, &n);
  sw_prop_ints(&props, "window_strides", strides, n);
  sw_hlo_region(sw_op_text(h->op, SW_ATTR_KIND, "sum"), h->in[0].type.dtype, &combine);
  sw_text_printf(
      &regions,
      "({\n    ^bb0(%%l$: tensor<%s>, %%r$: tensor<%s>):\n"
      "      %%c$ = \"stablehlo.compare\"(%%l$, %%r$) <{comparison_direction = #stablehlo<comparison_direction "
      "%s>}> : (tensor<%s>, tensor<%s>) -> tensor<i1>\n"
      "      \"stablehlo.return\"(%%c$) : (tensor<i1>) -> ()\n    }, %s",
      e, e, direction, e, e, sw_text_str(&combine) + 1);
  sw_text_free(&combine);
  sw_mlir_line_with(h->w, (sw_line){"stablehlo.select_and_scatter", 3, 1, h->in, h->out, NULL, NULL}, &props, &regions);
}

/* --- shuffle ----------------------------------------------------------------------------------------------------- */

/* A gather of whole positions. */
void sw_hlo_shuffle(const sw_hlo *h) {
  int n;
  const int64_t *sources = sw_op_ints(h->op, SW_ATTR_SOURCES, &n);
  int64_t dims[SW_MAX_RANK];
  memcpy(dims, h->in[0].type.dims, (size_t)h->in[0].type.rank * sizeof *dims);
  const sw_ssa in[2] = {h->in[0], sw_mlir_table(h->w, sw_mlir_shaped(h->w, SW_I64, 2, (int64_t[]){n, 1}), sources)};
  sw_text props = {0};
  sw_text_puts(&props, "dimension_numbers = #stablehlo.gather<offset_dims = [");
  for (int k = 1; k < h->in[0].type.rank; k++) sw_text_printf(&props, k > 1 ? ", %d" : "%d", k);
  sw_text_puts(&props, "], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>");
  sw_prop(&props, "indices_are_sorted", "false");
  dims[0] = 1;
  sw_prop_ints(&props, "slice_sizes", dims, h->in[0].type.rank);
  sw_mlir_line_with(h->w, (sw_line){"stablehlo.gather", 2, 1, in, h->out, NULL, NULL}, &props, NULL);
}

/* --- random bits ------------------------------------------------------------------------------------------------- */

void sw_hlo_rng_bits(const sw_hlo *h) {
  static const char *const kNames[][2] = {{"three_fry", "THREE_FRY"}, {"philox", "PHILOX"}};
  const char *algorithm = sw_op_text(h->op, SW_ATTR_ALGORITHM, "default"), *name = "DEFAULT";
  int n;
  const int64_t *global = sw_op_ints(h->op, SW_ATTR_GLOBAL, &n);
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    if (strcmp(algorithm, kNames[i][0]) == 0) name = kNames[i][1];
  }
  sw_text props = {0};
  sw_prop(&props, "rng_algorithm", "#stablehlo<rng_algorithm %s>", name);
  bool part = h->op->n_operands > 1;
  sw_ssa out[2] = {h->out[0], h->out[1]};
  if (part) out[1] = sw_mlir_temp(h->w, sw_mlir_shaped(h->w, out[1].type.dtype, n, global));
  sw_mlir_line_with(h->w, (sw_line){"stablehlo.rng_bit_generator", 1, 2, h->in, out, NULL, NULL}, &props, NULL);
  if (!part) return;
  int64_t room[SW_MAX_RANK]; /* so that no start is clamped: the last blocks may reach over the end */
  for (int i = 0; i < n; i++) room[i] = global[i] + h->out[1].type.dims[i];
  sw_ssa args[SW_MAX_RANK + 1] = {sw_mlir_fit(h->w, out[1], room)};
  for (int i = 0; i < n; i++) args[i + 1] = h->in[i + 1];
  sw_mlir_dynamic_slice(h->w, args, h->out[1]);
}
