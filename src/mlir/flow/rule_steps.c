/* From an op of the text to steps: imported alone, or by a rule of its own. */
#include "mlir/flow/rule_steps.h"

#include <string.h>

#include "propagate/factors.h"

/* --- from what the op became -------------------------------------------------------------------------------------- */

static sw_flow_op_class step_class_of(sw_opcode c) {
  static const sw_opcode kElementwise[] = {SW_OP_COMPARE, SW_OP_SELECT,           SW_OP_CLAMP,
                                           SW_OP_CONVERT, SW_OP_REDUCE_PRECISION, SW_OP_COMPLEX};
  if (sw_op_is_pointwise(c)) return SW_STEP_ELEMENTWISE;
  if (c == SW_OP_RESHAPE || c == SW_OP_TRANSPOSE) return SW_STEP_MOVE;
  if (c == SW_OP_DYNAMIC_SLICE || c == SW_OP_DYNAMIC_UPDATE_SLICE) return SW_STEP_SLICE;
  for (size_t i = 0; i < sizeof kElementwise / sizeof *kElementwise; i++) {
    if (c == kElementwise[i]) return SW_STEP_ELEMENTWISE;
  }
  return c == SW_OP_BROADCAST ? SW_STEP_BROADCAST : SW_STEP_OTHER;
}

/* An op of the graph as a step; tensor_of_value[value]. */
static sw_rc step_of_graph_op(sw_program_flow *p, const sw_graph *g, const sw_op *op, const int32_t *tensor_of_value) {
  const int n = op->n_operands + op->n_results;
  int32_t *tensors;
  sw_factors f;
  if (!sw_factors_build(g, op, &f) || !(f.rule.n || p->scalars)) return SW_OK;
  sw_flow_op s = {.n_operands = op->n_operands,
                  .n_results = op->n_results,
                  .allowed = SW_DIRECTION_BOTH,
                  .kind = step_class_of(op->code)};
  SW_TRY(sw_factor_rule_keep(&f.rule, &p->arena, &s.rule, p->d));
  SW_ARENA_NEW(tensors, &p->arena, n, p->d);
  for (int i = 0; i < n; i++) tensors[i] = tensor_of_value[sw_port_value(op, i)];
  s.tensors = tensors;
  return sw_array_push(&p->steps, s, p->d);
}

/* Values that stand in the text are tensors already; others become some. */
static sw_rc steps_of_graph(sw_program_flow *p, const sw_graph *g, sw_id first_op, int32_t *tensor_of_value) {
  for (sw_id v = 0; v < g->n_values; v++) {
    if (tensor_of_value[v] >= 0) continue;
    sw_type t = g->values[v].type;
    t.dims = sw_arena_copy(&p->arena, t.dims, (size_t)t.rank, sizeof *t.dims, p->d);
    if (!t.dims && t.rank) return SW_E_RESOURCE;
    SW_TRY(sw_program_flow_add(p, &t, SW_IR_NONE, &tensor_of_value[v]));
  }
  for (sw_id i = first_op; i < g->n_ops; i++) SW_TRY(step_of_graph_op(p, g, &g->ops[i], tensor_of_value));
  return SW_OK;
}

/* --- the op alone ------------------------------------------------------------------------------------------------- */

/* The op of the text that is read. */
typedef struct op_alone {
  sw_im_alone *r;
  sw_program_flow *p;
  uint32_t op, end; /* with what stands in its regions: ops [op, end) */
  uint32_t inside;  /* the first slot of what its regions make, above those of what stands around; SW_IR_NONE: none */
  const sw_ir_op *o;
  const int32_t *tensor_of; /* by slot */
} op_alone;

static op_alone find_alone(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of) {
  const sw_ir_op *o = &p->t->ops.at[op];
  const uint32_t block = sw_ir_block_at(p->t, o, 0);
  const bool any = block != SW_IR_NONE && p->t->blocks.at[block].first_op != SW_IR_NONE;
  const uint32_t end = sw_ir_op_from(p->t, op + 1, o->text.end);
  return (op_alone){r, p, op, end, any ? p->names->block[block] : SW_IR_NONE, o, tensor_of};
}

static uint32_t slot_of_use(const op_alone *a, const sw_ir_op *o, uint32_t i) {
  return a->p->names->use[o->first_use + i];
}

static int32_t tensor_of_result(const op_alone *a, uint32_t i) {
  const sw_id *slot = sw_im_result(&a->r->m, a->op, i);
  return slot ? a->tensor_of[slot - a->r->instance.slots] : -1;
}

/* The op that makes operand `i`, where the rule asks of it: a scalar that is a constant, a slice; else SW_IR_NONE. */
static uint32_t maker_of(const op_alone *a, uint32_t i) {
  const sw_ir_tree *t = a->p->t;
  const int32_t tensor = a->tensor_of[slot_of_use(a, a->o, i)];
  const bool asks =
      sw_ir_last_part_is(t, a->o->name, "concatenate") || sw_ir_last_part_is(t, a->o->name, "dynamic_update_slice");
  const uint32_t maker = !asks || tensor < 0 ? SW_IR_NONE : a->p->made_by.at[tensor];
  if (maker == SW_IR_NONE) return SW_IR_NONE;
  const sw_ir_span name = t->ops.at[maker].name;
  const bool constant = !a->p->type.at[tensor].rank && sw_ir_last_part_is(t, name, "constant");
  return constant || sw_ir_last_part_is(t, name, "slice") ? maker : SW_IR_NONE;
}

/* An argument of the graph for each value that the op reads and does not make inside. */
static sw_rc add_read(const op_alone *a, uint32_t op) {
  const sw_ir_op *o = &a->p->t->ops.at[op];
  for (uint32_t i = 0; i < o->n_uses; i++) {
    const uint32_t slot = slot_of_use(a, o, i);
    sw_id *value = &a->r->instance.slots[slot];
    char name[32];
    if (slot >= a->inside || *value != -1) continue;
    if (a->tensor_of[slot] < 0) return SW_E_INPUT;
    const sw_type *t = &a->p->type.at[a->tensor_of[slot]];
    snprintf(name, sizeof name, "value%u", slot);
    SW_TRY(sw_graph_add_arg(a->r->m.g, name, t->dtype, t->rank, t->dims, SW_VALUE_INPUT, SW_NOWHERE, value, a->r->m.d));
  }
  return SW_OK;
}

/* What the op becomes, from op `first_op` of the graph on. *done = false: nothing that has a rule. */
static sw_rc import_alone(const op_alone *a, sw_id *first_op, bool *done) {
  for (uint32_t i = 0; i < a->o->n_uses; i++) {
    const uint32_t maker = maker_of(a, i);
    if (maker == SW_IR_NONE || a->r->instance.slots[slot_of_use(a, a->o, i)] != -1) continue;
    SW_TRY(add_read(a, maker));
    SW_TRY(sw_im_alone_import(a->r, maker, done));
  }
  *first_op = a->r->m.g->n_ops;
  for (uint32_t k = a->op; k < a->end; k++) SW_TRY(add_read(a, k));
  return sw_im_alone_import(a->r, a->op, done);
}

static void forget_uses(const op_alone *a, uint32_t op) {
  const sw_ir_op *o = &a->p->t->ops.at[op];
  for (uint32_t i = 0; i < o->n_uses; i++) a->r->instance.slots[slot_of_use(a, o, i)] = -1;
}

/* The graph goes, and nothing of it is left: what is read, and, slot by slot, what is made. */
static void forget_alone(const op_alone *a) {
  sw_im_alone_end(a->r);
  const sw_id *results = sw_im_result(&a->r->m, a->op, 0);
  const uint32_t n = sw_ir_result_count(a->p->t, a->o), all = a->p->names->n_slots[a->r->instance.function];
  const uint32_t end = results ? (uint32_t)(results - a->r->instance.slots) + n : all;
  for (uint32_t i = 0; i < a->o->n_uses; i++) {
    if (maker_of(a, i) != SW_IR_NONE) forget_uses(a, maker_of(a, i));
  }
  for (uint32_t k = a->op; k < a->end; k++) forget_uses(a, k);
  for (uint32_t k = a->inside != SW_IR_NONE ? a->inside : results ? end - n : end; k < end; k++)
    a->r->instance.slots[k] = -1;
}

/* The tensors of an op as its rule counts them: operands, initial values behind what they are for, results. */
static sw_rc tensors_of(const op_alone *a, sw_flow_op *s) {
  const uint32_t n = a->o->n_uses, n_results = sw_ir_result_count(a->p->t, a->o);
  const bool in_pairs = !a->o->generic && sw_ir_last_part_is(a->p->t, a->o->name, "reduce"); /* (%x init: %0), ... */
  int32_t *tensors;
  SW_ARENA_NEW(tensors, &a->p->arena, n + n_results, a->p->d);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t at = !in_pairs ? i : i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1;
    tensors[i] = a->tensor_of[slot_of_use(a, a->o, at)];
  }
  for (uint32_t i = 0; i < n_results; i++) tensors[n + i] = tensor_of_result(a, i);
  *s = (sw_flow_op){.n_operands = (int32_t)n,
                    .n_results = (int32_t)n_results,
                    .tensors = tensors,
                    .allowed = SW_DIRECTION_BOTH,
                    .kind = SW_STEP_OTHER,
                    .source = a->op};
  return SW_OK;
}

/* Scalars are not cut, and what has no operand hands nothing on. */
static bool can_have_rule(const op_alone *a) {
  for (uint32_t i = 0; i < a->o->n_uses; i++) {
    const int32_t tensor = a->tensor_of[slot_of_use(a, a->o, i)];
    if (tensor >= 0 && (a->p->scalars || a->p->type.at[tensor].rank)) return true;
  }
  return false;
}

/* One op of the graph for the op of the text: its tensors in the order of the text. What the graph has not (initial
 * values) is scalar. */
static sw_rc in_order_of_text(sw_program_flow *p, sw_flow_op *s, sw_flow_op text) {
  const int n = text.n_operands + text.n_results, n_graph = s->n_operands + s->n_results;
  sw_factor_rule rule = *s->rule;
  sw_factor_dim dim[SW_MOST_TENSORS * SW_MAX_RANK] = {0};
  uint64_t taken = 0;
  if (n > SW_MOST_TENSORS) return SW_OK;
  rule.dim = dim;
  rule.n_operands = text.n_operands;
  rule.n_results = text.n_results;
  for (int i = 0; i < n; i++) {
    const bool result = i >= text.n_operands;
    const int end = result ? n_graph : s->n_operands;
    int at = result ? s->n_operands : 0;
    while (at < end && (taken >> at & 1 || s->tensors[at] != text.tensors[i])) at++;
    rule.rank[i] = text.tensors[i] < 0 ? 0 : (uint8_t)p->type.at[text.tensors[i]].rank;
    if (at == end && rule.rank[i]) return SW_OK;
    if (at == end) continue;
    taken |= UINT64_C(1) << at;
    memcpy(&dim[(size_t)i * SW_MAX_RANK], &s->rule->dim[(size_t)at * SW_MAX_RANK], SW_MAX_RANK * sizeof *dim);
  }
  if (taken != (UINT64_C(1) << n_graph) - 1) return SW_OK;
  text.kind = s->kind;
  *s = text;
  return sw_factor_rule_keep(&rule, &p->arena, &s->rule, p->d);
}

/* The steps of what the op becomes. What cannot be read has no rule. */
static sw_rc imported_steps(const op_alone *a, const sw_flow_op *text) {
  sw_program_flow *p = a->p;
  const sw_graph *g = a->r->m.g;
  const size_t first = p->steps.n;
  sw_id first_op = 0;
  bool done = false;
  sw_diag why = {0};
  int32_t *tensor_of_value;
  a->r->m.d = &why;
  const sw_rc rc = import_alone(a, &first_op, &done);
  a->r->m.d = p->d;
  if (rc == SW_E_RESOURCE) return SW_FAIL(p->d, rc, SW_NOWHERE, "%s", why.text);
  if (rc || !done) return SW_OK;
  SW_ARENA_NEW(tensor_of_value, &a->r->m.scratch, g->n_values + 1, p->d);
  for (sw_id v = 0; v < g->n_values; v++) tensor_of_value[v] = -1;
  for (uint32_t i = 0; i < a->o->n_uses; i++) {
    const uint32_t slot = slot_of_use(a, a->o, i);
    tensor_of_value[a->r->instance.slots[slot]] = a->tensor_of[slot];
  }
  for (uint32_t i = 0, n = sw_ir_result_count(p->t, a->o); i < n; i++) {
    const sw_id *value = sw_im_result(&a->r->m, a->op, i);
    if (value && *value >= 0) tensor_of_value[*value] = tensor_of_result(a, i);
  }
  SW_TRY(steps_of_graph(p, g, first_op, tensor_of_value));
  for (size_t i = first; i < p->steps.n; i++) p->steps.at[i].source = a->op;
  return p->steps.n == first + 1 ? in_order_of_text(p, &p->steps.at[first], *text) : SW_OK;
}

/* Random bits want their state whole, and so does the call that puts it together of halves. */
static void keep_state_whole(const op_alone *a) {
  const sw_program_flow *p = a->p;
  if (!sw_ir_last_part_is(p->t, a->o->name, "rng_bit_generator") || !a->o->n_uses) return;
  const int32_t state = a->tensor_of[slot_of_use(a, a->o, 0)];
  const uint32_t maker = state < 0 ? SW_IR_NONE : p->made_by.at[state];
  if (maker == SW_IR_NONE || !sw_ir_calls(p->t, &p->t->ops.at[maker], "X64Combine")) return;
  for (size_t i = p->steps.n; i-- && p->steps.at[i].source >= maker;) {
    sw_factor_rule *rule = p->steps.at[i].rule;
    if (p->steps.at[i].source != maker || !rule) continue;
    for (int f = 0; f < rule->n; f++) {
      rule->kind[f] = SW_FACTOR_REPLICATE;
      rule->blocked[f] = true;
    }
  }
}

/* Factors along which windows, pieces or margins make one tensor longer than another, and those beside them. */
static void mark_resized(const sw_ir_tree *t, const sw_ir_op *o, sw_factor_rule *rule) {
  static const struct {
    const char *name;
    sw_factor_kind kind;
  } kResizing[] = {{"concatenate", SW_FACTOR_REPLICATE},     {"concatenate", SW_FACTOR_PERMUTATION},
                   {"convolution", SW_FACTOR_PERMUTATION},   {"pad", SW_FACTOR_PERMUTATION},
                   {"reduce_window", SW_FACTOR_PERMUTATION}, {"select_and_scatter", SW_FACTOR_PERMUTATION},
                   {"slice", SW_FACTOR_PERMUTATION}};
  for (size_t i = 0; i < sizeof kResizing / sizeof *kResizing; i++) {
    if (!sw_ir_last_part_is(t, o->name, kResizing[i].name)) continue;
    for (int f = 0; f < rule->n; f++) rule->resized[f] |= rule->kind[f] == kResizing[i].kind;
    for (int k = 0; k < (rule->n_operands + rule->n_results) * SW_MAX_RANK; k++) {
      const sw_factor_dim *dim = &rule->dim[k];
      for (int f = 1; f < dim->n; f++) rule->resized[dim->at[f]] |= rule->resized[dim->at[0]];
    }
  }
}

/* By its own rule, by one that is known of its name, or by what it becomes. */
static sw_rc steps_by_rule(const op_alone *a) {
  sw_program_flow *p = a->p;
  const sw_ir_span own = sw_ir_attr(p->t, a->o, "sdy.sharding_rule", NULL);
  const size_t first = p->steps.n;
  sw_factor_rule *rule;
  sw_flow_op s;
  SW_TRY(tensors_of(a, &s));
  if (sw_ir_present(own)) {
    SW_TRY(sw_sdy_rule_read(p->t, own, &p->arena, &rule, p->d));
    if (rule->n_operands == s.n_operands && rule->n_results == s.n_results) s.rule = rule;
  } else {
    SW_TRY(sw_text_rule(p, a->o, &s));
  }
  if (s.rule)
    SW_TRY(sw_array_push(&p->steps, s, p->d));
  else
    SW_TRY(imported_steps(a, &s));
  for (size_t i = first; i < p->steps.n && !sw_ir_present(own); i++) mark_resized(p->t, a->o, p->steps.at[i].rule);
  return SW_OK;
}

sw_rc sw_rule_steps(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of) {
  const op_alone a = find_alone(r, p, op, tensor_of);
  if (!can_have_rule(&a)) return SW_OK;
  keep_state_whole(&a);
  SW_TRY(sw_im_alone_begin(r, op, p->d));
  sw_rc rc = steps_by_rule(&a);
  forget_alone(&a);
  return rc;
}
