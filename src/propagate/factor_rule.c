/* Sharding rules as text: letters i, j, ..., z, z_1, z_2, ... in the order in which factors were made. */
#include "propagate/factors.h"

static void put_name(int factor, sw_text *out) {
  enum { LETTERS = 'z' - 'i' + 1 };
  if (factor < LETTERS) sw_text_printf(out, "%c", 'i' + factor);
  if (factor >= LETTERS) sw_text_printf(out, "z_%d", factor - LETTERS + 1);
}

void sw_factors_put_dim(const uint8_t *at, int n, sw_text *out) {
  if (!n) sw_text_puts(out, "*"); /* of no factor */
  for (int i = 0; i < n; i++) put_name(at[i], out);
}

static void put_tensor(const sw_factors *f, int tensor, sw_text *out) {
  int rank = sw_factor_type(f, tensor)->rank;
  sw_text_puts(out, "[");
  for (int k = 0; k < rank; k++) {
    sw_text_puts(out, k ? ", " : "");
    sw_factors_put_dim(f->dim[tensor][k].at, f->dim[tensor][k].n, out);
  }
  sw_text_puts(out, "]");
}

/* " reduction={k, m}"; nothing when no factor is listed. */
static void put_list(const char *word, int n, const bool *listed, sw_text *out) {
  bool any = false;
  for (int i = 0; i < n; i++) {
    if (!listed[i]) continue;
    sw_text_printf(out, any ? ", " : " %s={", word);
    put_name(i, out);
    any = true;
  }
  if (any) sw_text_puts(out, "}");
}

void sw_factors_put_kinds(int n, const int64_t *size, const sw_factor_kind *kind, const bool *blocked, sw_text *out) {
  static const char *const kWords[] = {[SW_FACTOR_REDUCTION] = "reduction",
                                       [SW_FACTOR_REPLICATE] = "need_replication",
                                       [SW_FACTOR_PERMUTATION] = "permutation"};
  for (int i = 0; i < n; i++) {
    sw_text_puts(out, i ? ", " : " {");
    put_name(i, out);
    sw_text_printf(out, "=%lld", (long long)size[i]);
  }
  if (n) sw_text_puts(out, "}");
  for (int k = SW_FACTOR_REDUCTION; k <= SW_FACTOR_PERMUTATION; k++) {
    bool listed[SW_MOST_FACTORS];
    for (int i = 0; i < n; i++) listed[i] = (int)kind[i] == k;
    put_list(kWords[k], n, listed, out);
  }
  put_list("blocked_propagation", n, blocked, out);
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
  sw_factors_put_kinds(f.n, f.size, f.kind, f.blocked, out);
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
