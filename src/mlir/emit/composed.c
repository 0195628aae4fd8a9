/* Ops with regions, and ops that are composed of several.
 *
 *   reduce, reduce_window, scatter      the region says how two elements combine
 *   cumulative                          a reduce_window over everything before
 *   argmax, argmin                      a reduce of (element, index) pairs
 *   top_k                               chlo.top_k on the last dimension, transposes around it elsewhere
 *   rng, generic, opaque                custom_call with a dictionary
 */
#include <string.h>

#include "mlir/emit/mlir.h"

/* --- regions ----------------------------------------------------------------------------------------------------- */

static const struct {
  const char *kind, *op;
} kCombiners[] = {{"sum", "add"}, {"product", "multiply"}, {"min", "minimum"},   {"max", "maximum"},    {"and", "and"},
                  {"or", "or"},   {"bitwise_and", "and"},  {"bitwise_or", "or"}, {"bitwise_xor", "xor"}};

/* NULL: scatter's "replace", whose region gives its second argument. */
static const char *combiner_op_of(const char *kind) {
  for (size_t i = 0; i < sizeof kCombiners / sizeof kCombiners[0]; i++) {
    if (strcmp(kind, kCombiners[i].kind) == 0) return kCombiners[i].op;
  }
  return NULL;
}

void sw_hlo_region(const char *kind, sw_dtype t, sw_text *out) {
  const char *op = combiner_op_of(kind), *e = sw_dtype_mlir(t);
  sw_text_printf(out, "({\n    ^bb0(%%l$: tensor<%s>, %%r$: tensor<%s>):\n", e, e);
  if (op) {
    sw_text_printf(out, "      %%c$ = \"stablehlo.%s\"(%%l$, %%r$) : (tensor<%s>, tensor<%s>) -> tensor<%s>\n", op, e,
                   e, e);
  }
  sw_text_printf(out, "      \"stablehlo.return\"(%s) : (tensor<%s>) -> ()\n    })", op ? "%c$" : "%r$", e);
}

static sw_reduction reduction_kind_of(const char *text) {
  sw_reduction kind = SW_REDUCE_SUM;
  (void)sw_reduction_parse(text, &kind); /* the registry let no other in */
  return kind;
}

/* The type without dimension `dims`[..], as reduce gives it. */
static sw_type without_dims(sw_mlir *w, const sw_type *t, const int64_t *dims, int n) {
  int64_t left[SW_MAX_RANK];
  int rank = 0;
  for (int i = 0; i < t->rank; i++) {
    bool gone = false;
    for (int k = 0; k < n; k++) gone = gone || dims[k] == i;
    if (!gone) left[rank++] = t->dims[i];
  }
  return sw_mlir_shaped(w, t->dtype, rank, left);
}

void sw_hlo_reduce(const sw_hlo *h) {
  sw_mlir *w = h->w;
  const char *kind = sw_op_text(h->op, SW_ATTR_KIND, "sum");
  int n;
  const int64_t *dims = sw_op_ints(h->op, SW_ATTR_DIMS, &n);
  bool keeps = sw_op_int(h->op, SW_ATTR_KEEP_DIMS, 0) != 0;
  sw_text props = {0}, region = {0};
  sw_ssa in[2] = {h->in[0], sw_mlir_identity(w, reduction_kind_of(kind), h->in[0].type.dtype)};
  sw_ssa out = keeps ? sw_mlir_temp(w, without_dims(w, &in[0].type, dims, n)) : h->out[0];
  sw_prop_ints(&props, "dimensions", dims, n);
  sw_hlo_region(kind, in[0].type.dtype, &region);
  sw_mlir_line_with(h->w, (sw_line){"stablehlo.reduce", 2, 1, in, &out, NULL, NULL}, &props, &region);
  if (keeps) sw_mlir_alias(w, out, h->out[0]);
}

typedef struct window {
  int64_t size[SW_MAX_RANK], strides[SW_MAX_RANK], low[SW_MAX_RANK], high[SW_MAX_RANK], base[SW_MAX_RANK],
      dilation[SW_MAX_RANK];
} window;

/* `region` is freed; windows begin with the neutral element of `kind`. */
static void write_window(const sw_hlo *h, sw_ssa x, sw_ssa out, sw_reduction kind, sw_text *region, const window *v) {
  sw_text props = {0};
  int rank = x.type.rank;
  sw_ssa in[2] = {x, sw_mlir_identity(h->w, kind, x.type.dtype)};
  sw_prop_ints(&props, "base_dilations", v->base, rank);
  sw_prop_pairs(&props, "padding", v->low, v->high, rank);
  sw_prop_ints(&props, "window_dilations", v->dilation, rank);
  sw_prop_ints(&props, "window_dimensions", v->size, rank);
  sw_prop_ints(&props, "window_strides", v->strides, rank);
  sw_mlir_line_with(h->w, (sw_line){"stablehlo.reduce_window", 2, 1, in, &out, NULL, NULL}, &props, region);
}

static void copy_ints(const sw_op *op, sw_attr_key k, int64_t *out) {
  int n;
  const int64_t *v = sw_op_ints(op, k, &n);
  for (int i = 0; i < n && i < SW_MAX_RANK; i++) out[i] = v[i];
}

void sw_hlo_reduce_window(const sw_hlo *h) {
  const char *kind = sw_op_text(h->op, SW_ATTR_KIND, "sum");
  sw_text region = {0};
  window v;
  memset(&v, 0, sizeof v);
  copy_ints(h->op, SW_ATTR_WINDOW, v.size);
  copy_ints(h->op, SW_ATTR_STRIDES, v.strides);
  copy_ints(h->op, SW_ATTR_PAD_LOW, v.low);
  copy_ints(h->op, SW_ATTR_PAD_HIGH, v.high);
  copy_ints(h->op, SW_ATTR_LHS_DILATION, v.base);
  copy_ints(h->op, SW_ATTR_RHS_DILATION, v.dilation);
  sw_hlo_region(kind, h->in[0].type.dtype, &region);
  write_window(h, h->in[0], h->out[0], reduction_kind_of(kind), &region, &v);
}

/* x moved by one along `dim`, the neutral element coming in: what an exclusive scan sees. */
static sw_ssa moved_by_one(const sw_hlo *h, int64_t dim, bool reversed, const char *kind) {
  sw_mlir *w = h->w;
  sw_ssa x = h->in[0], y = sw_mlir_temp(w, x.type);
  int64_t low[SW_MAX_RANK] = {0}, high[SW_MAX_RANK] = {0};
  low[dim] = reversed ? -1 : 1;
  high[dim] = -low[dim];
  sw_mlir_pad(w, x, sw_mlir_identity(w, reduction_kind_of(kind), x.type.dtype), low, high, y);
  return y;
}

/* A scan as a window that begins with the first element, or ends with the last one; `region` is freed. */
static void write_scan(const sw_hlo *h, sw_ssa x, sw_reduction kind, sw_text *region) {
  int64_t dim = sw_op_int(h->op, SW_ATTR_DIM, 0);
  window v;
  memset(&v, 0, sizeof v);
  for (int i = 0; i < x.type.rank; i++) v.size[i] = v.strides[i] = v.base[i] = v.dilation[i] = 1;
  v.size[dim] = x.type.dims[dim];
  *(sw_op_int(h->op, SW_ATTR_REVERSED, 0) ? &v.high[dim] : &v.low[dim]) = v.size[dim] - 1;
  write_window(h, x, h->out[0], kind, region, &v);
}

void sw_hlo_cumulative(const sw_hlo *h) {
  const char *kind = sw_op_text(h->op, SW_ATTR_KIND, "sum");
  int64_t dim = sw_op_int(h->op, SW_ATTR_DIM, 0);
  bool reversed = sw_op_int(h->op, SW_ATTR_REVERSED, 0) != 0;
  sw_ssa x = h->in[0];
  sw_text region = {0};
  if (x.type.dims[dim] == 0) {
    sw_mlir_alias(h->w, x, h->out[0]);
    return;
  }
  if (sw_op_int(h->op, SW_ATTR_EXCLUSIVE, 0)) x = moved_by_one(h, dim, reversed, kind);
  sw_hlo_region(kind, x.type.dtype, &region);
  write_scan(h, x, reduction_kind_of(kind), &region);
}

/* The greater one + log1p(e^-gap), in scalars; of equals the gap is 0 even where they are infinite. */
void sw_hlo_cumulative_logsumexp(const sw_hlo *h) {
  static const struct {
    const char *name, *op, *in;
  } kSteps[] = {{"m", "maximum", "%l$, %r$"},     {"d", "subtract", "%l$, %r$"}, {"a", "abs", "%d$"},
                {"g", "select", "%e$, %z$, %a$"}, {"n", "negate", "%g$"},        {"x", "exponential", "%n$"},
                {"p", "log_plus_one", "%x$"},     {"c", "add", "%m$, %p$"}};
  sw_ssa x = h->in[0];
  const char *e = sw_dtype_mlir(x.type.dtype);
  sw_text region = {0};
  if (x.type.dims[sw_op_int(h->op, SW_ATTR_DIM, 0)] == 0) {
    sw_mlir_alias(h->w, x, h->out[0]);
    return;
  }
  sw_text_printf(&region, "({\n    ^bb0(%%l$: tensor<%s>, %%r$: tensor<%s>):\n", e, e);
  sw_text_printf(
      &region, "      %%z$ = \"stablehlo.constant\"() <{value = dense<0.0> : tensor<%s>}> : () -> tensor<%s>\n", e, e);
  sw_text_printf(&region,
                 "      %%e$ = \"stablehlo.compare\"(%%l$, %%r$) <{comparison_direction = "
                 "#stablehlo<comparison_direction EQ>}> : (tensor<%s>, tensor<%s>) -> tensor<i1>\n",
                 e, e);
  for (size_t i = 0; i < sizeof kSteps / sizeof *kSteps; i++) {
    bool two = strchr(kSteps[i].in, ',') != NULL, three = kSteps[i].in[1] == 'e';
    sw_text_printf(&region, "      %%%s$ = \"stablehlo.%s\"(%s) : (%s%s%s%stensor<%s>) -> tensor<%s>\n", kSteps[i].name,
                   kSteps[i].op, kSteps[i].in, three ? "tensor<i1>, " : "", two ? "tensor<" : "", two ? e : "",
                   two ? ">, " : "", e, e);
  }
  sw_text_printf(&region, "      \"stablehlo.return\"(%%c$) : (tensor<%s>) -> ()\n    })", e);
  write_scan(h, x, SW_REDUCE_MAX, &region);
}

void sw_hlo_scatter(const sw_hlo *h) {
  const sw_op *op = h->op;
  sw_text props = {0}, region = {0};
  sw_prop(&props, "indices_are_sorted", "false");
  sw_text_puts(&props, ", scatter_dimension_numbers = #stablehlo.scatter<");
  sw_hlo_numbers(op, SW_ATTR_UPDATE_WINDOW_DIMS, "update_window_dims", false, &props);
  sw_hlo_numbers(op, SW_ATTR_INSERTED_DIMS, "inserted_window_dims", false, &props);
  sw_hlo_numbers(op, SW_ATTR_OPERAND_BATCH, "input_batching_dims", false, &props);
  sw_hlo_numbers(op, SW_ATTR_INDICES_BATCH, "scatter_indices_batching_dims", false, &props);
  sw_hlo_numbers(op, SW_ATTR_START_INDEX_MAP, "scatter_dims_to_operand_dims", true, &props);
  sw_text_printf(&props, ", index_vector_dim = %lld>", (long long)sw_op_int(op, SW_ATTR_INDEX_VECTOR_DIM, 0));
  sw_prop(&props, "unique_indices", "false");
  sw_hlo_region(sw_op_text(op, SW_ATTR_KIND, "sum"), h->in[0].type.dtype, &region);
  sw_mlir_line_with(h->w, (sw_line){"stablehlo.scatter", 3, 1, h->in, h->out, NULL, NULL}, &props, &region);
}

/* --- argmax, argmin ---------------------------------------------------------------------------------------------- */

/* Of two (element, index) pairs the one that is better: by value, NaN above all, equals by the lower index. */
static void put_arg_region(const char *better, sw_dtype value, sw_dtype index, sw_text *out) {
  char v[32], i[32];
  snprintf(v, sizeof v, "tensor<%s>", sw_dtype_mlir(value));
  snprintf(i, sizeof i, "tensor<%s>", sw_dtype_mlir(index));
  static const struct {
    const char *out, *direction, *a, *b;
    bool on_index;
  } kTests[] = {{"%better$", NULL, "%v$", "%u$", false},
                {"%nan$", "NE", "%v$", "%v$", false},
                {"%unan$", "NE", "%u$", "%u$", false},
                {"%same$", "EQ", "%v$", "%u$", false},
                {"%first$", "LT", "%i$", "%j$", true}};
  static const struct {
    const char *out, *op, *a, *b;
  } kLogic[] = {{"%bothnan$", "and", "%nan$", "%unan$"}, {"%tie$", "or", "%same$", "%bothnan$"},
                {"%early$", "and", "%tie$", "%first$"},  {"%onlyu$", "not", "%unan$", NULL},
                {"%newnan$", "and", "%nan$", "%onlyu$"}, {"%wins$", "or", "%better$", "%newnan$"},
                {"%takes$", "or", "%wins$", "%early$"}};
  sw_text_printf(out, "({\n    ^bb0(%%v$: %s, %%i$: %s, %%u$: %s, %%j$: %s):\n", v, i, v, i);
  for (size_t k = 0; k < sizeof kTests / sizeof kTests[0]; k++) {
    const char *t = kTests[k].on_index ? i : v;
    sw_text_printf(out,
                   "      %s = \"stablehlo.compare\"(%s, %s) <{comparison_direction = "
                   "#stablehlo<comparison_direction %s>}> : (%s, %s) -> tensor<i1>\n",
                   kTests[k].out, kTests[k].a, kTests[k].b, kTests[k].direction ? kTests[k].direction : better, t, t);
  }
  for (size_t k = 0; k < sizeof kLogic / sizeof kLogic[0]; k++) {
    bool two = kLogic[k].b != NULL;
    sw_text_printf(out, "      %s = \"stablehlo.%s\"(%s%s%s) : (%s) -> tensor<i1>\n", kLogic[k].out, kLogic[k].op,
                   kLogic[k].a, two ? ", " : "", two ? kLogic[k].b : "", two ? "tensor<i1>, tensor<i1>" : "tensor<i1>");
  }
  sw_text_printf(out, "      %%rv$ = \"stablehlo.select\"(%%takes$, %%v$, %%u$) : (tensor<i1>, %s, %s) -> %s\n", v, v,
                 v);
  sw_text_printf(out, "      %%ri$ = \"stablehlo.select\"(%%takes$, %%i$, %%j$) : (tensor<i1>, %s, %s) -> %s\n", i, i,
                 i);
  sw_text_printf(out, "      \"stablehlo.return\"(%%rv$, %%ri$) : (%s, %s) -> ()\n    })", v, i);
}

void sw_hlo_arg(const sw_hlo *h) {
  sw_mlir *w = h->w;
  bool max = h->op->code == SW_OP_ARGMAX, keeps = sw_op_int(h->op, SW_ATTR_KEEP_DIMS, 0) != 0;
  int64_t dim = sw_op_int(h->op, SW_ATTR_DIM, 0);
  sw_ssa x = h->in[0];
  sw_type index = h->out[0].type, value = without_dims(w, &x.type, &dim, 1);
  sw_type kept = value;
  kept.dtype = index.dtype;
  sw_ssa in[4] = {x, sw_mlir_iota(w, (sw_type){index.dtype, x.type.rank, x.type.dims}, (int)dim)};
  in[2] = sw_mlir_identity(w, max ? SW_REDUCE_MAX : SW_REDUCE_MIN, x.type.dtype);
  in[3] = sw_mlir_int(w, (sw_type){index.dtype, 0, NULL}, 0);
  sw_ssa out[2] = {sw_mlir_temp(w, value), keeps ? sw_mlir_temp(w, kept) : h->out[0]};
  sw_text props = {0}, region = {0};
  sw_prop_ints(&props, "dimensions", &dim, 1);
  put_arg_region(max ? "GT" : "LT", x.type.dtype, index.dtype, &region);
  sw_mlir_line_with(h->w, (sw_line){"stablehlo.reduce", 4, 2, in, out, NULL, NULL}, &props, &region);
  if (keeps) sw_mlir_alias(w, out[1], h->out[0]);
}

/* --- hypot ------------------------------------------------------------------------------------------------------- */

/* m sqrt(1 + (n/m)^2) of the larger and the smaller size; m itself where it is 0 or infinite, and infinite beside
 * NaN. */
void sw_hlo_hypot(const sw_hlo *h) {
  sw_mlir *w = h->w;
  const sw_type t = h->out[0].type, scalar = {t.dtype, 0, NULL}, truth = {SW_BOOL, t.rank, t.dims};
  double infinity = -sw_reduction_identity(SW_REDUCE_MAX, t.dtype);
  unsigned char bytes[2][16] = {{0}, {0}};
  sw_element_store(t.dtype, infinity, bytes[0]);
  sw_element_store(t.dtype, 1, bytes[1]);
  sw_ssa infinite = sw_mlir_spread(w, sw_mlir_constant(w, scalar, bytes[0]), t);
  sw_ssa one = sw_mlir_spread(w, sw_mlir_constant(w, scalar, bytes[1]), t);
  sw_ssa a = sw_mlir_unary(w, "stablehlo.abs", h->in[0], t, NULL);
  sw_ssa b = sw_mlir_unary(w, "stablehlo.abs", h->in[1], t, NULL);
  sw_ssa m = sw_mlir_binary(w, "stablehlo.maximum", a, b, NULL), n = sw_mlir_binary(w, "stablehlo.minimum", a, b, NULL);
  sw_ssa q = sw_mlir_binary(w, "stablehlo.divide", n, m, NULL);
  sw_ssa sum = sw_mlir_binary(w, "stablehlo.add", one, sw_mlir_binary(w, "stablehlo.multiply", q, q, NULL), NULL);
  sw_ssa root = sw_mlir_unary(w, "stablehlo.sqrt", sum, t, NULL);
  sw_ssa zero = sw_mlir_binary(w, "stablehlo.subtract", one, one, NULL);
  sw_ssa any = sw_mlir_temp(w, truth);
  sw_ssa far[2] = {sw_mlir_compare(w, "EQ", a, infinite), sw_mlir_compare(w, "EQ", b, infinite)};
  sw_mlir_line(w, &(sw_line){"stablehlo.or", 2, 1, far, &any, NULL, NULL});
  sw_ssa of[3] = {sw_mlir_compare(w, "EQ", m, zero), m, sw_mlir_binary(w, "stablehlo.multiply", m, root, NULL)};
  sw_ssa near = sw_mlir_temp(w, t), last[3] = {any, infinite, near};
  sw_mlir_line(w, &(sw_line){"stablehlo.select", 3, 1, of, &near, NULL, NULL});
  sw_mlir_line(w, &(sw_line){"stablehlo.select", 3, 1, last, h->out, NULL, NULL});
}

/* --- top_k ------------------------------------------------------------------------------------------------------- */

/* Exchange dimension `dim` with the last one; out NULL: into a helper. */
static sw_ssa swap_last(const sw_hlo *h, sw_ssa x, int64_t dim, const sw_ssa *out) {
  int64_t permutation[SW_MAX_RANK], dims[SW_MAX_RANK];
  int last = x.type.rank - 1;
  for (int i = 0; i < x.type.rank; i++) permutation[i] = i == dim ? last : i == last ? dim : i;
  for (int i = 0; i < x.type.rank; i++) dims[i] = x.type.dims[permutation[i]];
  sw_ssa y = out ? *out : sw_mlir_temp(h->w, sw_mlir_shaped(h->w, x.type.dtype, x.type.rank, dims));
  sw_mlir_transpose(h->w, x, permutation, y);
  return y;
}

void sw_hlo_top_k(const sw_hlo *h) {
  sw_ssa x = h->in[0], out[2] = {h->out[0], h->out[1]};
  int64_t dim = sw_op_int(h->op, SW_ATTR_DIM, x.type.rank - 1), dims[SW_MAX_RANK];
  bool swapped = dim != x.type.rank - 1;
  sw_text props = {0};
  if (swapped) x = swap_last(h, x, dim, NULL);
  for (int i = 0; i < x.type.rank; i++) dims[i] = x.type.dims[i];
  dims[x.type.rank - 1] = sw_op_int(h->op, SW_ATTR_K, 1);
  for (int i = 0; i < 2 && swapped; i++) {
    out[i] = sw_mlir_temp(h->w, sw_mlir_shaped(h->w, h->out[i].type.dtype, x.type.rank, dims));
  }
  sw_prop_int(&props, "k", sw_op_int(h->op, SW_ATTR_K, 1));
  sw_mlir_line_with(h->w, (sw_line){"chlo.top_k", 1, 2, &x, out, NULL, NULL}, &props, NULL);
  for (int i = 0; i < 2 && swapped; i++) (void)swap_last(h, out[i], dim, &h->out[i]);
}

/* --- custom calls ------------------------------------------------------------------------------------------------ */

static void write_custom_call(const sw_hlo *h, const char *target, sw_text *config) {
  sw_text props = {0};
  sw_text_printf(&props, "api_version = 4 : i32, backend_config = {%s}, call_target_name = ", sw_text_str(config));
  sw_mlir_quote(target, &props);
  sw_hlo_line(h, "stablehlo.custom_call", &props);
  if (config->rc) h->w->out->rc = SW_E_RESOURCE;
  sw_text_free(config);
}

void sw_hlo_rng(const sw_hlo *h) {
  sw_text config = {0};
  int n;
  const int64_t *global = sw_op_ints(h->op, SW_ATTR_GLOBAL, &n);
  const sw_type *t = &h->out[0].type;
  sw_prop_int(&config, "seed", sw_op_int(h->op, SW_ATTR_SEED, 0));
  sw_prop(&config, "distribution", "\"%s\"", sw_op_text(h->op, SW_ATTR_DISTRIBUTION, "uniform"));
  sw_prop(&config, "low_value", "%.17e : f64", sw_op_float(h->op, SW_ATTR_LOW_VALUE, 0));
  sw_prop(&config, "high_value", "%.17e : f64", sw_op_float(h->op, SW_ATTR_HIGH_VALUE, 1));
  sw_prop_ints(&config, "global", n ? global : t->dims, t->rank);
  write_custom_call(h, "shardwright.rng", &config);
}

static void put_loops(const sw_loop_nest *nest, sw_text *out) {
  static const char *const kKinds[] = {
      [SW_LOOP_PARALLEL] = "parallel", [SW_LOOP_REDUCTION] = "reduction", [SW_LOOP_MASKED] = "masked",
      [SW_LOOP_SCAN] = "scan",         [SW_LOOP_PICK] = "pick",           [SW_LOOP_MANUAL] = "manual",
      [SW_LOOP_WHOLE] = "whole"};
  sw_text_puts(out, "loops = [");
  for (int i = 0; i < nest->n_loops; i++) {
    const sw_loop *l = &nest->loops[i];
    bool reduces = l->kind == SW_LOOP_REDUCTION;
    sw_text_printf(out, "%s{kind = \"%s\", size = %lld : i64%s%s%s}", i ? ", " : "", kKinds[l->kind],
                   (long long)l->size, reduces ? ", combiner = \"" : "", reduces ? sw_reduction_text(l->combiner) : "",
                   reduces ? "\"" : "");
  }
  sw_text_puts(out, "], maps = [");
  for (int m = 0; m < nest->n_maps; m++) {
    sw_text_puts(out, m ? ", affine_map<(" : "affine_map<(");
    for (int i = 0; i < nest->n_loops; i++) sw_text_printf(out, "%sd%d", i ? ", " : "", i);
    sw_text_puts(out, ") -> (");
    for (int k = 0; k < nest->maps[m].rank; k++) {
      const sw_affine *a = &nest->maps[m].dims[k];
      if (k) sw_text_puts(out, ", ");
      for (int t = 0; t < a->n_terms; t++) {
        sw_text_printf(out, "%sd%d * %lld", t ? " + " : "", a->terms[t].loop, (long long)a->terms[t].coef);
      }
      if (a->constant || !a->n_terms) sw_text_printf(out, "%s%lld", a->n_terms ? " + " : "", (long long)a->constant);
    }
    sw_text_puts(out, ")>");
  }
  sw_text_puts(out, "]");
}

void sw_hlo_generic(const sw_hlo *h) {
  sw_text config = {0};
  sw_text_puts(&config, "body = ");
  sw_mlir_quote(sw_op_text(h->op, SW_ATTR_BODY, ""), &config);
  sw_text_puts(&config, ", ");
  put_loops(h->op->nest, &config);
  write_custom_call(h, "shardwright.generic", &config);
}

void sw_hlo_opaque(const sw_hlo *h) {
  sw_text config = {0};
  write_custom_call(h, sw_op_text(h->op, SW_ATTR_TARGET, "unknown"), &config);
}

/* As JAX says where a value is to be. */
static void place_in_memory(const sw_hlo *h, const char *memory) {
  sw_text props = {0};
  sw_text_printf(&props,
                 "call_target_name = \"annotate_device_placement\", has_side_effect = true, "
                 "mhlo.frontend_attributes = {_xla_buffer_placement = \"%s\"}",
                 memory);
  sw_hlo_line(h, "stablehlo.custom_call", &props);
}
void sw_hlo_offload(const sw_hlo *h) { place_in_memory(h, "pinned_host"); }
void sw_hlo_fetch(const sw_hlo *h) { place_in_memory(h, "device"); }

/* So that compilers do not take what is made again for what was made before. */
void sw_hlo_barrier(const sw_hlo *h) {
  const sw_line line = {"stablehlo.optimization_barrier", 1, 1, h->in, h->out, NULL, NULL};
  sw_mlir_line(h->w, &line);
}
