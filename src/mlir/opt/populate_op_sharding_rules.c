#include "mlir/flow/rule.h"
#include "mlir/opt/rules.h"

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

/* --- conservative rules ------------------------------------------------------------------------------------------- */

typedef struct careful_rule {
  sw_flow_rule rule;
  sw_flow_dim dim[SW_MOST_TENSORS * SW_MAX_RANK];
} careful_rule;

/* Does nothing pass along the dimension: is it resized, or of one element that no other tensor has? */
static bool is_apart(const sw_flow_rule *r, const sw_flow_dim *dim, const uint8_t *holders) {
  bool resized = false, alone = dim->n > 0;
  for (int f = 0; f < dim->n; f++) {
    resized |= r->resized[dim->at[f]];
    alone &= r->size[dim->at[f]] == 1 && holders[dim->at[f]] == 1 && r->kind[dim->at[f]] != SW_FACTOR_REDUCTION;
  }
  return resized || alone;
}

static void count_holders(const sw_flow_rule *r, int n_dims, uint8_t *holders) {
  for (int i = 0; i < n_dims; i++) {
    for (int f = 0; f < r->dim[i].n; f++) holders[r->dim[i].at[f]]++;
  }
}

static void number_kept(const sw_flow_rule *r, const bool *kept, sw_flow_rule *out, uint8_t *number) {
  for (int f = 0; f < r->n; f++) {
    if (!kept[f]) continue;
    number[f] = (uint8_t)out->n;
    out->size[out->n] = r->size[f];
    out->blocked[out->n] = r->blocked[f];
    out->kind[out->n++] = r->kind[f];
  }
}

/* The dimensions that nothing passes along have a factor of size 1 each, behind the factors that stay. */
static sw_rc take_apart(sw_opt_work *w, const sw_flow_rule *r, int n_dims, careful_rule *out) {
  uint8_t holders[SW_MOST_FACTORS] = {0}, number[SW_MOST_FACTORS] = {0};
  bool kept[SW_MOST_FACTORS] = {false};
  count_holders(r, n_dims, holders);
  for (int i = 0; i < n_dims; i++) {
    for (int f = 0; !is_apart(r, &r->dim[i], holders) && f < r->dim[i].n; f++) kept[r->dim[i].at[f]] = true;
  }
  number_kept(r, kept, &out->rule, number);
  for (int i = 0; i < n_dims; i++) {
    sw_flow_dim *dim = &out->dim[i];
    *dim = r->dim[i];
    for (int f = 0; f < dim->n; f++) dim->at[f] = number[dim->at[f]];
    if (!is_apart(r, &r->dim[i], holders)) continue;
    const int f = out->rule.n++;
    if (f == SW_MOST_FACTORS)
      return SW_FAIL(w->d, SW_E_RESOURCE, SW_NOWHERE, "a rule of more than %d factors", SW_MOST_FACTORS);
    *dim = (sw_flow_dim){1, {(uint8_t)f}};
    out->rule.size[f] = 1;
    out->rule.kind[f] = SW_FACTOR_PASS;
  }
  return SW_OK;
}

/* Nothing passes along what is resized. */
static sw_rc make_careful(sw_opt_work *w, const sw_flow_step *s, careful_rule *out) {
  const sw_ir_span name = w->t->ops.at[s->source].name;
  const int n_dims = (s->n_operands + s->n_results) * SW_MAX_RANK;
  out->rule = (sw_flow_rule){.dim = out->dim};
  if (sw_ir_ends(w->t, name, ".concatenate") || sw_ir_ends(w->t, name, ".convolution"))
    return take_apart(w, s->rule, n_dims, out);
  out->rule = *s->rule;
  for (int f = 0; f < s->rule->n; f++) out->rule.blocked[f] |= s->rule->resized[f];
  return SW_OK;
}

/* --- all rules ---------------------------------------------------------------------------------------------------- */

static sw_rc say_rules(sw_opt_work *w, const sw_program_flow *flow, bool conservative) {
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
    careful_rule careful;
    sw_flow_step said = *s;
    if (!s->rule || !o->n_results || sw_ir_present(sw_ir_entry(w->t, o->attrs, "sdy.sharding_rule"))) continue;
    if (conservative) {
      SW_TRY(make_careful(w, s, &careful));
      said.rule = &careful.rule;
    }
    sw_text_puts(&t, "#sdy.op_sharding_rule<");
    sw_flow_rule_print(flow, &said, &t);
    sw_text_puts(&t, ">");
    const char *text = sw_text_keep(&t, &w->arena, w->d);
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
  bool conservative;
  SW_TRY(sw_opt_flag(w, "conservative-propagation", false, &conservative));
  sw_rc rc = sw_program_flow_read(w->t, w->names, SW_READ_SCALARS, &flow, w->d);
  if (!rc) rc = say_rules(w, &flow, conservative);
  if (!rc) rc = say_rules_of_constraints(w);
  sw_program_flow_free(&flow);
  return rc;
}

const sw_opt_pass sw_pass_populate_op_sharding_rules = {
    "populate-op-sharding-rules", "say the sharding rule of every op that has one",
    "conservative-propagation=BOOL: nothing goes along what is longer in one tensor than in another\n", false,
    populate_op_sharding_rules};
