#include "io/mlir/flow/rule.h"
#include "io/mlir/opt/rules.h"

sw_rc sw_opt_say_identity_rule(sw_opt_work *w, uint32_t op, uint32_t slot) {
  sw_type type;
  sw_text t = {0}, dims = {0};
  const sw_factor_kind kinds[SW_MAX_RANK] = {SW_FACTOR_PASS};
  const bool blocked[SW_MAX_RANK] = {false};
  bool known;
  SW_TRY(sw_opt_slot_type(w, slot, &type, &known));
  if (!known) return SW_OK;
  for (int k = 0; k < type.rank; k++) {
    const uint8_t factor = (uint8_t)k;
    sw_text_puts(&dims, k ? ", " : "");
    sw_factors_put_dim(&factor, 1, &dims);
  }
  sw_text_printf(&t, "#sdy.op_sharding_rule<([%s])->([%s])", sw_text_str(&dims), sw_text_str(&dims));
  sw_factors_put_kinds(type.rank, type.dims, kinds, blocked, &t);
  sw_text_puts(&t, ">");
  const char *value = t.rc || dims.rc ? NULL : sw_arena_strndup(&w->arena, sw_text_str(&t), t.n, w->d);
  sw_text_free(&t);
  sw_text_free(&dims);
  w->edits.key = "sdy.sharding_rule";
  return value ? sw_ir_set_op(&w->edits, &w->t->ops.at[op], value) : SW_E_RESOURCE;
}

static sw_rc say_rules(sw_opt_work *w, const sw_program_flow *flow) {
  uint8_t *n_steps; /* by op: 2 stands for more */
  SW_ARENA_NEW(n_steps, &w->arena, w->t->ops.n, w->d);
  for (size_t i = 0; i < flow->steps.n; i++) {
    uint8_t *n = &n_steps[flow->steps.at[i].source];
    if (flow->steps.at[i].rule && *n < 2) ++*n;
  }
  w->edits.key = "sdy.sharding_rule";
  for (size_t i = 0; i < flow->steps.n; i++) {
    const sw_flow_step *s = &flow->steps.at[i];
    const sw_ir_op *o = &w->t->ops.at[s->source];
    if (n_steps[s->source] != 1) continue; /* an op that is several has no one rule */
    if ((uint32_t)s->n_operands != o->n_uses || (uint32_t)s->n_results != sw_ir_result_count(w->t, o)) continue;
    sw_text t = {0};
    if (!s->rule || !o->n_results || sw_ir_present(sw_ir_entry(w->t, o->attrs, "sdy.sharding_rule"))) continue;
    sw_text_puts(&t, "#sdy.op_sharding_rule<");
    sw_flow_rule_print(flow, s, &t);
    sw_text_puts(&t, ">");
    const char *text = t.rc ? NULL : sw_arena_strndup(&w->arena, sw_text_str(&t), t.n, w->d);
    sw_text_free(&t);
    SW_TRY(sw_ir_set_op(&w->edits, o, text));
  }
  return SW_OK;
}

static sw_rc say_rules_of_constraints(sw_opt_work *w) {
  SW_TRY(sw_opt_read_shardings(w));
  for (size_t i = 0; i < w->shardings.places.n; i++) {
    const sw_sharded_place *p = &w->shardings.places.at[i];
    const sw_ir_op *o = &w->t->ops.at[p->op];
    if (sw_ir_is(w->t, o->name, "sdy.sharding_constraint") &&
        !sw_ir_present(sw_ir_entry(w->t, o->attrs, "sdy.sharding_rule")))
      SW_TRY(sw_opt_say_identity_rule(w, p->op, p->first));
  }
  return SW_OK;
}

/* The rule of every op that has one and says none, of scalars, too. */
static sw_rc populate_op_sharding_rules(sw_opt_work *w) {
  sw_program_flow flow = {0};
  sw_rc rc = sw_program_flow_read(w->t, w->names, true, &flow, w->d);
  if (!rc) rc = say_rules(w, &flow);
  if (!rc) rc = say_rules_of_constraints(w);
  sw_program_flow_free(&flow);
  return rc;
}

const sw_opt_pass sw_pass_populate_op_sharding_rules = {"populate-op-sharding-rules",
                                                        "say the sharding rule of every op that has one", NULL, false,
                                                        populate_op_sharding_rules};
