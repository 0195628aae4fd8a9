#include <string.h>

#include "mlir/opt/pass.h"
#include "propagate/factors.h"

static sw_rc say_rule(sw_opt_work *w, const sw_ir_op *o, const sw_factor_rule *rule) {
  sw_text t = {0};
  sw_text_puts(&t, "#sdy.op_sharding_rule<");
  sw_factor_rule_put(rule, &t);
  sw_text_puts(&t, ">");
  w->edits.key = "sdy.sharding_rule";
  const char *text = sw_text_keep(&t, &w->arena, w->d);
  return text ? sw_ir_set_op(&w->edits, o, text) : SW_E_RESOURCE;
}

sw_rc sw_opt_say_identity_rule(sw_opt_work *w, uint32_t op, uint32_t slot) {
  sw_type type;
  sw_factors f;
  bool known;
  SW_TRY(sw_opt_slot_type(w, slot, &type, &known));
  if (!known) return SW_OK;
  (void)sw_factors_begin(&f, 1, 1, (const sw_type *[]){&type, &type});
  sw_factors_alike(&f);
  return say_rule(w, &w->t->ops.at[op], &f.rule);
}

/* --- conservative rules ------------------------------------------------------------------------------------------- */

/* Does nothing pass along the dimension: is it resized, or of one element that no other tensor has? */
static bool is_apart(const sw_factor_rule *r, const sw_factor_dim *dim, const uint8_t *holders) {
  bool resized = false, alone = dim->n > 0;
  for (int i = 0; i < dim->n; i++) {
    const int f = dim->at[i];
    resized |= r->resized[f];
    alone &= r->size[f] == 1 && holders[f] == 1 && r->kind[f] != SW_FACTOR_REDUCTION;
  }
  return resized || alone;
}

/* The dimensions that nothing passes along have a factor of size 1 each, behind the factors that stay. */
static void give_own_factors(const sw_factor_rule *r, sw_factors *out) {
  const int n_dims = (r->n_operands + r->n_results) * SW_MAX_RANK;
  uint8_t holders[SW_MOST_FACTORS] = {0}, number[SW_MOST_FACTORS];
  bool kept[SW_MOST_FACTORS] = {false};
  *out = (sw_factors){.rule = {.n_operands = r->n_operands, .n_results = r->n_results}};
  out->rule.dim = out->dim;
  memcpy(out->rule.rank, r->rank, sizeof r->rank);
  for (int i = 0; i < n_dims; i++) {
    for (int k = 0; k < r->dim[i].n; k++) holders[r->dim[i].at[k]]++;
  }
  for (int i = 0; i < n_dims; i++) {
    for (int k = 0; !is_apart(r, &r->dim[i], holders) && k < r->dim[i].n; k++) kept[r->dim[i].at[k]] = true;
  }
  for (int f = 0; f < r->n; f++) {
    if (!kept[f]) continue;
    number[f] = (uint8_t)sw_factor(out, r->size[f], r->kind[f]);
    out->rule.blocked[number[f]] = r->blocked[f];
  }
  for (int i = 0; i < n_dims; i++) {
    const sw_factor_dim *dim = &r->dim[i];
    const bool apart = is_apart(r, dim, holders);
    if (apart) sw_factor_in(out, sw_factor(out, 1, SW_FACTOR_PASS), i / SW_MAX_RANK, i % SW_MAX_RANK);
    for (int k = 0; !apart && k < dim->n; k++) sw_factor_in(out, number[dim->at[k]], i / SW_MAX_RANK, i % SW_MAX_RANK);
  }
}

/* Nothing passes along what is resized. */
static sw_rc say_careful_rule(sw_opt_work *w, const sw_ir_op *o, sw_factor_rule rule) {
  sw_factors apart;
  if (sw_ir_ends(w->t, o->name, ".concatenate") || sw_ir_ends(w->t, o->name, ".convolution")) {
    give_own_factors(&rule, &apart);
    if (!apart.full) return say_rule(w, o, &apart.rule);
    return SW_FAIL(w->d, SW_E_RESOURCE, SW_NOWHERE, "a rule of more than %d factors", SW_MOST_FACTORS);
  }
  for (int f = 0; f < rule.n; f++) rule.blocked[f] |= rule.resized[f];
  return say_rule(w, o, &rule);
}

/* --- all rules ---------------------------------------------------------------------------------------------------- */

static sw_rc say_rules(sw_opt_work *w, const sw_program_flow *flow, bool conservative) {
  uint8_t *n_steps; /* by op: 2 stands for more */
  SW_ARENA_NEW(n_steps, &w->arena, w->t->ops.n, w->d);
  for (size_t i = 0; i < flow->steps.n; i++) {
    uint8_t *n = &n_steps[flow->steps.at[i].source];
    if (flow->steps.at[i].rule && *n < 2) ++*n;
  }
  for (size_t i = 0; i < flow->steps.n; i++) {
    const sw_flow_op *s = &flow->steps.at[i];
    const sw_ir_op *o = &w->t->ops.at[s->source];
    if (!s->rule || n_steps[s->source] != 1 || !o->n_results) continue; /* an op that is several has no one rule */
    if ((uint32_t)s->n_operands != o->n_uses || (uint32_t)s->n_results != sw_ir_result_count(w->t, o)) continue;
    if (sw_ir_present(sw_ir_entry(w->t, o->attrs, "sdy.sharding_rule"))) continue;
    SW_TRY(conservative ? say_careful_rule(w, o, *s->rule) : say_rule(w, o, s->rule));
  }
  return SW_OK;
}

static sw_rc say_rules_of_constraints(sw_opt_work *w) {
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
sw_rc sw_pass_populate_op_sharding_rules(sw_opt_work *w) {
  sw_program_flow flow = {0};
  bool conservative;
  SW_TRY(sw_opt_flag(w, "conservative-propagation", false, &conservative));
  sw_rc rc = sw_program_flow_read(w->t, w->names, SW_READ_SCALARS, &flow, w->d);
  if (!rc) rc = say_rules(w, &flow, conservative);
  if (!rc) rc = say_rules_of_constraints(w);
  sw_program_flow_free(&flow);
  return rc;
}
