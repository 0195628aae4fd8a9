/* Sharding rules as text: letters i, j, ..., z, z_1, z_2, ... in the order in which factors were made. */
#include "propagate/factors.h"

static void put_name(int factor, sw_text *out) {
  enum { LETTERS = 'z' - 'i' + 1 };
  if (factor < LETTERS) sw_text_printf(out, "%c", 'i' + factor);
  if (factor >= LETTERS) sw_text_printf(out, "z_%d", factor - LETTERS + 1);
}

static void put_tensor(const sw_factors *f, int tensor, sw_text *out) {
  int rank = sw_factor_type(f, tensor)->rank;
  sw_text_puts(out, "[");
  for (int k = 0; k < rank; k++) {
    if (k) sw_text_puts(out, ", ");
    for (int i = 0; i < f->dim[tensor][k].n; i++) put_name(f->dim[tensor][k].at[i], out);
  }
  sw_text_puts(out, "]");
}

static void put_sizes(const sw_factors *f, sw_text *out) {
  for (int i = 0; i < f->n; i++) {
    sw_text_puts(out, i ? ", " : " {");
    put_name(i, out);
    sw_text_printf(out, "=%lld", (long long)f->size[i]);
  }
  if (f->n) sw_text_puts(out, "}");
}

/* " reduction={k, m}"; nothing when no factor is listed. kind PASS: the blocked ones. */
static void put_list(const sw_factors *f, const char *name, sw_factor_kind kind, sw_text *out) {
  bool any = false;
  for (int i = 0; i < f->n; i++) {
    if (kind == SW_FACTOR_PASS ? !f->blocked[i] : f->kind[i] != kind) continue;
    if (!any) sw_text_printf(out, " %s={", name);
    if (any) sw_text_puts(out, ", ");
    put_name(i, out);
    any = true;
  }
  if (any) sw_text_puts(out, "}");
}

bool sw_factor_rule_print(const sw_graph *g, const sw_op *op, sw_text *out) {
  sw_factors f;
  if (!sw_factors_build(g, op, &f)) return false;
  sw_text_puts(out, "(");
  for (int i = 0; i < op->n_operands; i++) {
    if (i) sw_text_puts(out, ", ");
    put_tensor(&f, i, out);
  }
  if (f.words & SW_FACTORS_INITIAL) sw_text_puts(out, ", []");
  sw_text_puts(out, ")->(");
  for (int r = 0; r < op->n_results; r++) {
    if (r) sw_text_puts(out, ", ");
    put_tensor(&f, op->n_operands + r, out);
  }
  sw_text_puts(out, ")");
  put_sizes(&f, out);
  put_list(&f, "reduction", SW_FACTOR_REDUCTION, out);
  put_list(&f, "need_replication", SW_FACTOR_REPLICATE, out);
  put_list(&f, "permutation", SW_FACTOR_PERMUTATION, out);
  put_list(&f, "blocked_propagation", SW_FACTOR_PASS, out);
  return true;
}

void sw_factor_rules_print(const sw_graph *g, sw_text *out) {
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    sw_text rule = {0};
    if (sw_factor_rule_print(g, op, &rule)) {
      sw_text_printf(out, "%%%s = %s : %s\n", op->name, sw_opcode_text(op->code), sw_text_str(&rule));
    }
    if (rule.rc) out->rc = rule.rc;
    sw_text_free(&rule);
  }
}
