/* Sharding rules as text: letters i, j, ..., z, z_1, z_2, ... in the order in which factors were made. */
#include "propagate/factors.h"

#include "shardwright/arena.h"

int sw_factor(sw_factors *f, int64_t size, sw_factor_kind kind) {
  if (f->n == SW_MOST_FACTORS) {
    f->full = true;
    return 0;
  }
  f->size[f->n] = size;
  f->kind[f->n] = kind;
  return f->n++;
}

int sw_factor_blocked(sw_factors *f, int64_t size, sw_factor_kind kind) {
  int factor = sw_factor(f, size, kind);
  f->blocked[factor] = true;
  return factor;
}

void sw_factor_in(sw_factors *f, int factor, int tensor, int dim) {
  if (tensor >= SW_MOST_TENSORS || f->dim[tensor][dim].n == SW_MOST_OF_DIM) {
    f->full = true;
    return;
  }
  f->dim[tensor][dim].at[f->dim[tensor][dim].n++] = (uint8_t)factor;
}

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

/* A dimension without a factor gets one of size 1: it cannot be cut. */
static void complete(sw_factors *f) {
  for (int t = 0; t < f->op->n_operands + f->op->n_results; t++) {
    for (int k = 0; k < sw_factor_type(f, t)->rank && !f->full; k++) {
      if (f->dim[t][k].n == 0) sw_factor_in(f, sw_factor(f, 1, SW_FACTOR_PASS), t, k);
    }
  }
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
  sw_factors f = {.g = g, .op = op};
  if (op->n_operands + op->n_results > SW_MOST_TENSORS || !sw_factors_of(&f)) return false;
  complete(&f);
  if (f.full) return false;
  sw_text_puts(out, "(");
  for (int i = 0; i < op->n_operands + f.n_implied; i++) {
    if (i) sw_text_puts(out, ", ");
    if (i < op->n_operands) put_tensor(&f, i, out);
    if (i >= op->n_operands) sw_text_puts(out, "[]");
  }
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
