/* attention and attention_grad, where they are no calls of cuDNN: composites, whose decomposition, a function behind
 * main, is the plain ops.
 *
 *   %o, %lse = "stablehlo.composite"(%q, %k, %v) <{name = "shardwright.attention", composite_attributes = {...},
 *       decomposition = @shardwright.attention_0, version = 0 : i32}> : (...) -> (...)
 */
#include <string.h>

#include "graph/fuse.h"
#include "mlir/emit/mlir.h"

/* The ops of the decomposition, on names of its own. */
static void write_decomposition(sw_mlir *w, const sw_graph *g) {
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    sw_ssa in[SW_MAX_RESULTS], out[SW_MAX_RESULTS];
    for (int k = 0; k < op->n_operands; k++) in[k] = sw_mlir_value(w, g, op->operands[k]);
    for (int k = 0; k < op->n_results; k++) out[k] = sw_mlir_value(w, g, op->results[k]);
    sw_hlo_write(&(sw_hlo){w, op, in, out});
  }
}

static void write_function(sw_mlir *w, const sw_graph *g, const char *name) {
  sw_text *const main = w->out;
  const sw_source at = w->at;
  sw_ssa outputs[SW_MAX_RESULTS];
  w->out = &w->functions;
  w->at = (sw_source){0};
  sw_text_printf(w->out, "  func.func private @%s(", name);
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_ssa x = sw_mlir_value(w, g, g->args[i]);
    sw_text_printf(w->out, "%s%s: ", i ? ", " : "", x.name);
    sw_mlir_type(&x.type, w->out);
  }
  sw_text_puts(w->out, ") -> (");
  for (int32_t i = 0; i < g->n_outputs; i++) {
    outputs[i] = sw_mlir_value(w, g, g->outputs[i]);
    if (i) sw_text_puts(w->out, ", ");
    sw_mlir_type(&outputs[i].type, w->out);
  }
  sw_text_puts(w->out, ") {\n");
  write_decomposition(w, g);
  sw_mlir_return(w, outputs, g->n_outputs);
  w->out = main;
  w->at = at;
}

/* The number of the function; equal ops share one. */
static int find_decomposition(const sw_hlo *h, const char *kind) {
  sw_mlir *w = h->w;
  const size_t n = w->composites.n / 2;
  sw_graph *plain;
  char name[64];
  for (size_t i = 0; i < n; i++) {
    if (w->composites.at[2 * i] == h->op->nest && w->composites.at[2 * i + 1] == h->op->attrs) return (int)i;
  }
  if (sw_array_push(&w->composites, (const void *)h->op->nest, NULL) ||
      sw_array_push(&w->composites, (const void *)h->op->attrs, NULL) ||
      sw_attention_written_out(w->graph, h->op, &plain, NULL)) {
    w->out->rc = SW_E_RESOURCE;
    return 0;
  }
  (void)snprintf(name, sizeof name, "shardwright.%s_%zu", kind, n);
  write_function(w, plain, name);
  sw_graph_destroy(plain);
  return (int)n;
}

static void put_attribute(const sw_attr *a, sw_text *out) {
  if (out->at[out->n - 1] != '{') sw_text_puts(out, ", ");
  sw_text_printf(out, "%s = ", sw_attr_text(a->key));
  switch (sw_attr_kind_of(a->key)) {
    case SW_ATTR_KIND_FLOAT:
      sw_text_printf(out, "%.17e : f64", a->u.f);
      return;
    case SW_ATTR_KIND_BOOL:
      sw_text_puts(out, a->u.i ? "true" : "false");
      return;
    case SW_ATTR_KIND_TEXT:
      sw_mlir_quote(a->u.text, out);
      return;
    case SW_ATTR_KIND_INTS:
      sw_text_puts(out, a->u.ints.n ? "array<i64: " : "array<i64");
      sw_mlir_list(a->u.ints.at, a->u.ints.n, out);
      sw_text_puts(out, ">");
      return;
    case SW_ATTR_KIND_INT:
    case SW_ATTR_KIND_DTYPE:
    case SW_ATTR_KIND_DATA:
      sw_text_printf(out, "%lld : i64", (long long)a->u.i);
  }
}

void sw_hlo_attention(const sw_hlo *h) {
  if (strcmp(sw_op_text(h->op, SW_ATTR_TARGET, ""), "cudnn") == 0 && sw_hlo_cudnn(h)) return;
  const char *kind = sw_opcode_text(h->op->code);
  sw_text props = {0};
  const int number = find_decomposition(h, kind);
  sw_text_puts(&props, "composite_attributes = {");
  for (int i = 0; i < h->op->n_attrs; i++) put_attribute(&h->op->attrs[i], &props);
  sw_text_printf(&props, "}, decomposition = @shardwright.%s_%d, name = \"shardwright.%s\", version = 0 : i32", kind,
                 number, kind);
  sw_hlo_line(h, "stablehlo.composite", &props);
}
