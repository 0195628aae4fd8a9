/* From an op of the text to steps: imported alone, or by a rule of its own. */
#include "mlir/flow/rule.h"

#include <string.h>

#include "mlir/import/types.h"

/* --- from what the op became -------------------------------------------------------------------------------------- */

static sw_rc copy_rule(const sw_factors *f, int n_tensors, sw_arena *arena, sw_flow_rule **out, sw_diag *d) {
  sw_flow_rule *rule;
  sw_flow_dim *dim;
  SW_ARENA_NEW(rule, arena, 1, d);
  SW_ARENA_NEW(dim, arena, n_tensors * SW_MAX_RANK, d);
  rule->n = f->n;
  memcpy(rule->size, f->size, sizeof rule->size);
  memcpy(rule->kind, f->kind, sizeof rule->kind);
  memcpy(rule->blocked, f->blocked, sizeof rule->blocked);
  for (int i = 0; i < n_tensors; i++) {
    for (int k = 0; k < SW_MAX_RANK; k++) {
      dim[i * SW_MAX_RANK + k].n = (uint8_t)f->dim[i][k].n;
      memcpy(dim[i * SW_MAX_RANK + k].at, f->dim[i][k].at, sizeof f->dim[i][k].at);
    }
  }
  rule->dim = dim;
  *out = rule;
  return SW_OK;
}

static sw_step_class class_of(sw_opcode c) {
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

/* Several ops of one rule that stand side by side for an op of the text (a reduce of several operands) are one step:
 * the factors are theirs together. */
static sw_rc merge(sw_program_flow *p, size_t first) {
  size_t n = p->steps.n - first;
  if (n < 2) return SW_OK;
  sw_flow_step *a = &p->steps.at[first];
  int n_operands = 0, n_results = 0;
  for (size_t i = 0; i < n; i++) {
    const sw_flow_rule *x = a->rule, *y = a[i].rule;
    if (x->n != y->n || memcmp(x->size, y->size, sizeof x->size) || memcmp(x->kind, y->kind, sizeof x->kind))
      return SW_OK;
    n_operands += a[i].n_operands;
    n_results += a[i].n_results;
  }
  if (n_operands + n_results > SW_MOST_TENSORS) return SW_OK;
  sw_flow_rule *rule;
  sw_flow_dim *dim;
  int32_t *tensors;
  SW_ARENA_NEW(rule, &p->arena, 1, p->d);
  SW_ARENA_NEW(dim, &p->arena, (n_operands + n_results) * SW_MAX_RANK, p->d);
  SW_ARENA_NEW(tensors, &p->arena, n_operands + n_results, p->d);
  *rule = *a->rule;
  rule->dim = dim;
  int at = 0;
  for (int results = 0; results < 2; results++) {
    for (size_t i = 0; i < n; i++) {
      int from = results ? a[i].n_operands : 0, count = results ? a[i].n_results : a[i].n_operands;
      for (int k = from; k < from + count; k++, at++) {
        tensors[at] = a[i].tensors[k];
        memcpy(&dim[(size_t)at * SW_MAX_RANK], &a[i].rule->dim[(size_t)k * SW_MAX_RANK], SW_MAX_RANK * sizeof *dim);
      }
    }
  }
  a->rule = rule;
  a->tensors = tensors;
  a->n_operands = n_operands;
  a->n_results = n_results;
  p->steps.n = first + 1;
  return SW_OK;
}

/* An op of the graph as a step; tensor_of_value[value]. */
static sw_rc step_of(sw_program_flow *p, const sw_graph *g, const sw_op *op, const int32_t *tensor_of_value,
                     sw_factors *f) {
  const int n = op->n_operands + op->n_results;
  int32_t *tensors;
  sw_flow_rule *rule;
  if (!sw_factors_build(g, op, f) || !(f->n || p->scalars)) return SW_OK;
  SW_TRY(copy_rule(f, n, &p->arena, &rule, p->d));
  SW_ARENA_NEW(tensors, &p->arena, n, p->d);
  for (int i = 0; i < n; i++) tensors[i] = tensor_of_value[sw_port_value(op, i)];
  sw_flow_step s = {.rule = rule,
                    .n_operands = op->n_operands,
                    .n_results = op->n_results,
                    .tensors = tensors,
                    .allowed = SW_DIRECTION_BOTH,
                    .kind = class_of(op->code)};
  return sw_array_push(&p->steps, s, p->d);
}

static sw_rc steps_of(sw_program_flow *p, const sw_graph *g, sw_id first_op, int32_t *tensor_of_value) {
  sw_factors *f = sw_mem_alloc(1, sizeof *f, p->d);
  sw_rc rc = f ? SW_OK : SW_E_RESOURCE;
  const size_t first = p->steps.n;
  bool side_by_side = true;
  for (sw_id v = 0; v < g->n_values && !rc; v++) {
    if (tensor_of_value[v] >= 0) continue;
    side_by_side &= g->values[v].def < 0 || !g->values[v].n_uses;
    sw_type t = g->values[v].type;
    int64_t *dims = sw_arena_copy(&p->arena, t.dims, (size_t)t.rank, sizeof *dims, p->d);
    rc = dims || !t.rank ? SW_OK : SW_E_RESOURCE;
    t.dims = dims;
    if (!rc) rc = sw_program_flow_add(p, &t, SW_IR_NONE, &tensor_of_value[v]);
  }
  for (sw_id i = first_op; i < g->n_ops && !rc; i++) rc = step_of(p, g, &g->ops[i], tensor_of_value, f);
  if (!rc && side_by_side) rc = merge(p, first);
  sw_mem_free(f);
  return rc;
}

/* --- the op alone ------------------------------------------------------------------------------------------------- */

/* The op and what stands in its regions: ops [op, end). */
static uint32_t end_of_op(const sw_im_alone *r, uint32_t op) {
  uint32_t end = op + 1, at = sw_im_op(&r->m, op)->text.end;
  while (end < r->m.t->ops.n && sw_im_op(&r->m, end)->text.at < at) end++;
  return end;
}

/* An argument of the graph for each value that is read and not made inside. */
static sw_rc add_read(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of) {
  const sw_ir_op *o = sw_im_op(&r->m, op);
  for (uint32_t i = 0; i < o->n_uses; i++) {
    uint32_t slot = p->names->use[o->first_use + i];
    char name[32];
    if (r->instance.slots[slot] != -1) continue;
    if (tensor_of[slot] < 0) return SW_E_INPUT;
    const sw_type *t = &p->type.at[tensor_of[slot]];
    snprintf(name, sizeof name, "value%u", slot);
    SW_TRY(sw_graph_add_arg(r->m.g, name, t->dtype, t->rank, t->dims, SW_VALUE_INPUT, SW_NOWHERE,
                            &r->instance.slots[slot], r->m.d));
  }
  return SW_OK;
}

static void set_results(sw_im_alone *r, uint32_t op, sw_id value) {
  for (uint32_t i = 0, n = sw_ir_result_count(r->m.t, sw_im_op(&r->m, op)); i < n; i++) {
    sw_id *slot = sw_im_result(&r->m, op, i);
    if (slot) *slot = value;
  }
}

static void set_region_args(sw_im_alone *r, const sw_ir_op *o, sw_id value) {
  for (uint32_t k = 0; k < sw_ir_region_count(r->m.t, o); k++) {
    uint32_t block = sw_ir_block_at(r->m.t, o, k);
    for (uint32_t i = 0; block != SW_IR_NONE && i < r->m.t->blocks.at[block].n_args; i++)
      r->instance.slots[r->m.names->block[block] + i] = value;
  }
}

static void set_made(sw_im_alone *r, uint32_t op, uint32_t end, sw_id value) {
  for (uint32_t k = op; k < end; k++) {
    set_results(r, k, value);
    set_region_args(r, sw_im_op(&r->m, k), value);
  }
}

/* Operands, and what regions read from around. */
static sw_rc add_operands(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of) {
  enum { MADE_INSIDE = -2 };
  uint32_t end = end_of_op(r, op);
  sw_rc rc = SW_OK;
  set_made(r, op, end, MADE_INSIDE);
  for (uint32_t k = op; k < end && !rc; k++) rc = add_read(r, p, k, tensor_of);
  set_made(r, op, end, -1);
  return rc;
}

static void forget_uses(sw_im_alone *r, uint32_t op) {
  const sw_ir_op *o = sw_im_op(&r->m, op);
  for (uint32_t i = 0; i < o->n_uses; i++) r->instance.slots[r->m.names->use[o->first_use + i]] = -1;
}

/* The graph goes, and nothing of it is left: operands, results, and what its regions made. */
static void forget(sw_im_alone *r, uint32_t op) {
  const uint32_t end = end_of_op(r, op);
  sw_im_alone_end(r);
  for (uint32_t k = op; k < end; k++) forget_uses(r, k);
  set_made(r, op, end, -1);
}

/* Which tensor each value of the graph is: operands, results. */
static void find_tensors(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of, int32_t *out) {
  const sw_ir_op *o = &p->t->ops.at[op];
  for (uint32_t i = 0; i < o->n_uses; i++) {
    uint32_t slot = p->names->use[o->first_use + i];
    out[r->instance.slots[slot]] = tensor_of[slot];
  }
  for (uint32_t i = 0, n = sw_ir_result_count(p->t, o); i < n; i++) {
    sw_id *slot = sw_im_result(&r->m, op, i);
    if (slot && *slot >= 0) out[*slot] = tensor_of[slot - r->instance.slots];
  }
}

/* What the rule of an op asks of its operands: scalars that are constants, slices. They are read with it. */
static sw_rc import_makers(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of) {
  const sw_ir_op *o = sw_im_op(&r->m, op);
  for (uint32_t i = 0; i < o->n_uses; i++) {
    int32_t tensor = tensor_of[p->names->use[o->first_use + i]];
    uint32_t maker = tensor < 0 ? SW_IR_NONE : p->made_by.at[tensor];
    if (maker == SW_IR_NONE || r->instance.slots[p->names->use[o->first_use + i]] != -1) continue;
    sw_ir_span name = sw_im_op(&r->m, maker)->name;
    bool constant = !p->type.at[tensor].rank && sw_ir_last_part_is(p->t, name, "constant");
    if (!constant && !sw_ir_last_part_is(p->t, name, "slice")) continue;
    bool done;
    SW_TRY(add_read(r, p, maker, tensor_of));
    SW_TRY(sw_im_alone_import(r, maker, &done));
  }
  return SW_OK;
}

static bool asks_of_operands(const sw_program_flow *p, const sw_ir_op *o) {
  return sw_ir_last_part_is(p->t, o->name, "concatenate") || sw_ir_last_part_is(p->t, o->name, "dynamic_update_slice");
}

/* What the op becomes, from op `first_op` of the graph on. *done = false: nothing that has a rule. */
static sw_rc import_alone(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of, sw_id *first_op,
                          bool *done, sw_diag *why) {
  *done = false;
  r->m.d = why;
  sw_rc rc = asks_of_operands(p, &p->t->ops.at[op]) ? import_makers(r, p, op, tensor_of) : SW_OK;
  *first_op = r->m.g->n_ops;
  if (!rc) rc = add_operands(r, p, op, tensor_of);
  if (!rc) rc = sw_im_alone_import(r, op, done);
  *done = *done && !rc;
  return rc == SW_E_RESOURCE ? rc : SW_OK;
}

/* The tensors of an op as its rule counts them: operands, initial values behind what they are for, results. */
static sw_rc tensors_of(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of, int32_t **out,
                        sw_flow_step *s) {
  const sw_ir_op *o = &p->t->ops.at[op];
  const uint32_t n = o->n_uses, n_results = sw_ir_result_count(p->t, o);
  const bool in_pairs = !o->generic && sw_ir_last_part_is(p->t, o->name, "reduce"); /* (%x init: %0), (%y init: %1) */
  SW_ARENA_NEW(*out, &p->arena, n + n_results, p->d);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = !in_pairs ? i : i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1;
    (*out)[i] = tensor_of[p->names->use[o->first_use + at]];
  }
  for (uint32_t i = 0; i < n_results; i++) {
    sw_id *slot = sw_im_result(&r->m, op, i);
    (*out)[n + i] = slot ? tensor_of[slot - r->instance.slots] : -1;
  }
  *s = (sw_flow_step){.n_operands = (int32_t)n,
                      .n_results = (int32_t)n_results,
                      .tensors = *out,
                      .allowed = SW_DIRECTION_BOTH,
                      .kind = SW_STEP_OTHER,
                      .source = op};
  return SW_OK;
}

static sw_rc custom_rule(sw_program_flow *p, sw_ir_span text, sw_flow_step *s) {
  sw_sdy_rule rule;
  SW_TRY(sw_sdy_rule_read(&p->sdy, text, &rule));
  if (rule.n_operands == s->n_operands && rule.n_results == s->n_results) s->rule = rule.rule;
  return SW_OK;
}

/* Scalars are not cut, and what has no operand hands nothing on. */
static bool can_have_rule(const sw_program_flow *p, const sw_ir_op *o, const int32_t *tensor_of) {
  for (uint32_t i = 0; i < o->n_uses; i++) {
    int32_t tensor = tensor_of[p->names->use[o->first_use + i]];
    if (tensor >= 0 && (p->scalars || p->type.at[tensor].rank)) return true;
  }
  return false;
}

/* Which of the step's tensors [from, to) is this one and not taken yet; -1: none. */
static int find_tensor(const sw_flow_step *s, int from, int to, int32_t tensor, const bool *taken) {
  for (int i = from; i < to; i++) {
    if (!taken[i] && s->tensors[i] == tensor) return i;
  }
  return -1;
}

/* One op of the graph for the op of the text: its tensors in the order of the text. What the graph has not (initial
 * values) is scalar. */
static sw_rc in_order_of_text(sw_program_flow *p, sw_flow_step *s, const sw_flow_step *text) {
  const int n = text->n_operands + text->n_results;
  bool taken[SW_MOST_TENSORS] = {false};
  sw_flow_rule *rule;
  sw_flow_dim *dim;
  if (n > SW_MOST_TENSORS) return SW_OK;
  SW_ARENA_NEW(rule, &p->arena, 1, p->d);
  SW_ARENA_NEW(dim, &p->arena, (size_t)n * SW_MAX_RANK, p->d);
  *rule = *s->rule;
  rule->dim = dim;
  for (int i = 0; i < n; i++) {
    bool result = i >= text->n_operands;
    int at = find_tensor(s, result ? s->n_operands : 0, result ? s->n_operands + s->n_results : s->n_operands,
                         text->tensors[i], taken);
    bool scalar = text->tensors[i] < 0 || !p->type.at[text->tensors[i]].rank;
    if (at < 0 && !scalar) return SW_OK;
    if (at < 0) continue;
    taken[at] = true;
    memcpy(&dim[(size_t)i * SW_MAX_RANK], &s->rule->dim[(size_t)at * SW_MAX_RANK], SW_MAX_RANK * sizeof *dim);
  }
  for (int i = 0; i < s->n_operands + s->n_results; i++) {
    if (!taken[i]) return SW_OK;
  }
  s->rule = rule;
  s->tensors = text->tensors;
  s->n_operands = text->n_operands;
  s->n_results = text->n_results;
  return SW_OK;
}

static sw_rc imported_steps(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of,
                            const sw_flow_step *text) {
  bool done;
  const size_t first = p->steps.n;
  sw_id first_op = 0;
  sw_diag why = {0}; /* what cannot be read has no rule */
  sw_rc rc = import_alone(r, p, op, tensor_of, &first_op, &done, &why);
  r->m.d = p->d;
  int32_t *tensor_of_value =
      rc || !done ? NULL : sw_mem_alloc((size_t)r->m.g->n_values + 1, sizeof *tensor_of_value, p->d);
  if (done && !tensor_of_value && !rc) rc = SW_E_RESOURCE;
  if (tensor_of_value) {
    for (sw_id v = 0; v < r->m.g->n_values; v++) tensor_of_value[v] = -1;
    find_tensors(r, p, op, tensor_of, tensor_of_value);
    rc = steps_of(p, r->m.g, first_op, tensor_of_value);
  }
  for (uint32_t i = 0; i < p->t->ops.at[op].n_uses && asks_of_operands(p, &p->t->ops.at[op]); i++) {
    int32_t tensor = tensor_of[p->names->use[p->t->ops.at[op].first_use + i]];
    if (tensor >= 0 && p->made_by.at[tensor] != SW_IR_NONE) forget_uses(r, p->made_by.at[tensor]);
  }
  for (size_t i = first; i < p->steps.n; i++) p->steps.at[i].source = op;
  if (!rc && p->steps.n == first + 1) rc = in_order_of_text(p, &p->steps.at[first], text);
  sw_mem_free(tensor_of_value);
  return rc;
}

static sw_rc steps_of_op(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of) {
  const sw_ir_op *o = &p->t->ops.at[op];
  sw_ir_span own = sw_ir_attr(p->t, o, "sdy.sharding_rule", NULL);
  int32_t *tensors;
  sw_flow_step s;
  SW_TRY(tensors_of(r, p, op, tensor_of, &tensors, &s));
  if (sw_ir_present(own))
    SW_TRY(custom_rule(p, own, &s));
  else
    SW_TRY(sw_text_rule(p, o, &s));
  if (s.rule) return sw_array_push(&p->steps, s, p->d);
  return imported_steps(r, p, op, tensor_of, &s);
}

/* The rule of a step, to be changed. */
static sw_rc open_rule(sw_program_flow *p, sw_flow_step *s, sw_flow_rule **out) {
  SW_ARENA_NEW(*out, &p->arena, 1, p->d);
  **out = *s->rule;
  s->rule = *out;
  return SW_OK;
}

/* Random bits want their state whole, and so does the call that puts it together of halves. */
static sw_rc keep_state_whole(sw_program_flow *p, uint32_t op, const int32_t *tensor_of) {
  const sw_ir_op *o = &p->t->ops.at[op];
  if (!sw_ir_last_part_is(p->t, o->name, "rng_bit_generator") || !o->n_uses) return SW_OK;
  const int32_t state = tensor_of[p->names->use[o->first_use]];
  const uint32_t maker = state < 0 ? SW_IR_NONE : p->made_by.at[state];
  if (maker == SW_IR_NONE || !sw_ir_calls(p->t, &p->t->ops.at[maker], "X64Combine")) return SW_OK;
  for (size_t i = p->steps.n; i-- && p->steps.at[i].source >= maker;) {
    sw_flow_rule *rule;
    if (p->steps.at[i].source != maker || !p->steps.at[i].rule) continue;
    SW_TRY(open_rule(p, &p->steps.at[i], &rule));
    for (int f = 0; f < rule->n; f++) {
      rule->kind[f] = SW_FACTOR_REPLICATE;
      rule->blocked[f] = true;
    }
  }
  return SW_OK;
}

/* Factors along which windows, pieces or margins make one tensor longer than another, and those beside them. */
static sw_rc mark_resized(sw_program_flow *p, const sw_ir_op *o, sw_flow_step *s) {
  static const struct {
    const char *name;
    sw_factor_kind kind;
  } kRows[] = {{"concatenate", SW_FACTOR_REPLICATE},     {"concatenate", SW_FACTOR_PERMUTATION},
               {"convolution", SW_FACTOR_PERMUTATION},   {"pad", SW_FACTOR_PERMUTATION},
               {"reduce_window", SW_FACTOR_PERMUTATION}, {"select_and_scatter", SW_FACTOR_PERMUTATION},
               {"slice", SW_FACTOR_PERMUTATION}};
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    sw_flow_rule *rule;
    if (!sw_ir_last_part_is(p->t, o->name, kRows[i].name)) continue;
    SW_TRY(open_rule(p, s, &rule));
    for (int f = 0; f < rule->n; f++) rule->resized[f] |= rule->kind[f] == kRows[i].kind;
    for (int k = 0; k < (s->n_operands + s->n_results) * SW_MAX_RANK; k++) {
      const sw_flow_dim *dim = &rule->dim[k];
      for (int f = 1; f < dim->n; f++) rule->resized[dim->at[f]] |= rule->resized[dim->at[0]];
    }
  }
  return SW_OK;
}

sw_rc sw_rule_steps(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of) {
  if (!can_have_rule(p, &p->t->ops.at[op], tensor_of)) return SW_OK;
  SW_TRY(keep_state_whole(p, op, tensor_of));
  SW_TRY(sw_im_alone_begin(r, op, p->d));
  const size_t first = p->steps.n;
  sw_rc rc = steps_of_op(r, p, op, tensor_of);
  forget(r, op);
  const bool own = sw_ir_present(sw_ir_attr(p->t, &p->t->ops.at[op], "sdy.sharding_rule", NULL));
  for (size_t i = first; i < p->steps.n && !rc && !own; i++) {
    if (p->steps.at[i].rule) rc = mark_resized(p, &p->t->ops.at[op], &p->steps.at[i]);
  }
  return rc;
}
