/* A plan's shardings as constraints, for compilers that leave the shardings of ops out when they take a program in (XLA
 * does, JAX 0.10): behind each op one for its result, before it one for each operand that it wants in another sharding.
 *
 *   %5 = stablehlo.add %3, %4 : tensor<8x4xf32>        becomes
 *
 *   %sw$0 = sdy.sharding_constraint %4 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
 *   %sw$5 = stablehlo.add %3, %sw$0 : tensor<8x4xf32>
 *   %5 = sdy.sharding_constraint %sw$5 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
 *
 * Partial values have no constraint: a compiler knows from the operands that they are. Ops with several results, or in
 * functions whose calls differ, have none behind.
 */
#include <string.h>

#include "io/mlir/annotate/write.h"

/* <@mesh, [...]> : type */
static sw_rc put_constraint(sw_ir_writer *w, const sw_sharding *s, sw_id value, sw_text *out) {
  sw_text_printf(out, "<@%s, ", w->mesh_name);
  SW_TRY(sw_sharding_print_as(w->mesh, s, SW_FORM_SDY, out, w->d));
  sw_text_puts(out, "> : ");
  sw_mlir_type(&w->p->graph->values[value].type, out);
  return out->rc;
}

static const char *kept(sw_ir_writer *w, sw_text *text) {
  const char *copy = sw_arena_strndup(&w->arena, sw_text_str(text), text->n, w->d);
  sw_text_free(text);
  return copy;
}

static sw_rc behind(sw_ir_writer *w, const sw_ir_op *o, const sw_sharding *s, sw_id value) {
  const sw_ir_result *r = &w->t->results.at[o->first_result];
  sw_text text = {0};
  int name = (int)sw_ir_len(r->name);
  sw_text_printf(&text, "\n    %%%.*s = sdy.sharding_constraint %%sw$%.*s ", name, w->t->s + r->name.at, name,
                 w->t->s + r->name.at);
  SW_TRY(put_constraint(w, s, value, &text));
  SW_TRY(sw_ir_insert(w, r->name.at, "sw$"));
  return sw_ir_insert(w, o->text.end, kept(w, &text));
}

/* Operand `i` as the op wants it. */
static sw_rc before(sw_ir_writer *w, const sw_ir_op *o, uint32_t i, const sw_sharding *s, sw_id value) {
  const sw_ir_use *use = &w->t->uses.at[o->first_use + i];
  uint32_t at = use->name.at - 1, end = use->name.end;
  if (w->t->s[end] == '#') end += 1 + (uint32_t)strspn(w->t->s + end + 1, "0123456789");
  sw_text text = {0};
  long long number = (long long)w->n_helpers++;
  sw_text_printf(&text, "%%sw$.%lld = sdy.sharding_constraint %.*s ", number, (int)(end - at), w->t->s + at);
  SW_TRY(put_constraint(w, s, value, &text));
  sw_text_puts(&text, "\n    ");
  SW_TRY(sw_ir_insert(w, o->text.at, kept(w, &text)));
  const char *name = sw_arena_printf(&w->arena, w->d, "%%sw$.%lld", number);
  return sw_ir_replace(w, at, end, name);
}

/* Operands of the op of the graph that are those of the text one by one. */
static sw_rc before_operands(sw_ir_writer *w, const sw_ir_op *o, const sw_op *op) {
  sw_sharding want, is;
  bool reduces = op->code == SW_OP_REDUCE && op->n_operands == 1 && o->n_uses == 2;
  if (op->n_operands != (int)o->n_uses && !reduces) return SW_OK;
  for (int i = 0; i < op->n_operands; i++) {
    sw_id value = op->operands[i];
    sw_strategy_operand(w->p->graph, op, &w->plan->ops[op - w->p->graph->ops], i, &want);
    sw_plan_value_sharding(w->plan, value, &is);
    if (want.n_partial || sw_sharding_equal(&want, &is)) continue;
    SW_TRY(before(w, o, (uint32_t)i, &want, value));
  }
  return SW_OK;
}

sw_rc sw_ir_write_constraints(sw_ir_writer *w, const sw_ir_made *made, size_t n, const sw_sharding *all) {
  const sw_graph *g = w->p->graph;
  const sw_ir_op *o = &w->t->ops.at[made[0].op];
  sw_id def = g->values[made[0].value].def;
  if (made[n - 1].result != 0 || def < 0 || !o->n_uses) return SW_OK;
  if (n == 1) SW_TRY(before_operands(w, o, &g->ops[def])); /* not of several calls, which may differ in this */
  return all[0].n_partial || g->values[made[0].value].type.rank == 0 ? SW_OK : behind(w, o, &all[0], made[0].value);
}
