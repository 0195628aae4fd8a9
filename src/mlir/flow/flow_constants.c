/* Constants that several ops use: each use has a tensor of its own, so that nothing goes from one use to another
 * through what anyone can make for himself. The same holds for what is made of constants alone by ops on elements, and
 * for scalars that are broadcast. What is written is one op: it has a sharding where all uses have found the same.
 *
 *   %c = constant; add %a, %c; add %b, %c         two tensors for %c
 *   %n = negate %c; add %a, %n; add %b, %n        two for %n, and one for %c with each
 */
#include "mlir/flow/rule_steps.h"

enum { MOST_OPS_COPIED = 64 }; /* of one use: larger expressions are shared */

sw_rc sw_constant_note(sw_program_flow *p, uint32_t op, int32_t tensor, const int32_t *operands, size_t first_step) {
  const sw_ir_op *o = &p->t->ops.at[op];
  const bool broadcast = sw_ir_last_part_is(p->t, o->name, "broadcast_in_dim");
  bool is = tensor >= 0 && p->type.at[tensor].rank > 0 && sw_ir_region_count(p->t, o) == 0;
  if (is && !o->n_uses) is = sw_ir_last_part_is(p->t, o->name, "constant") || sw_ir_last_part_is(p->t, o->name, "iota");
  for (size_t i = first_step; i < p->steps.n && is && o->n_uses; i++) {
    const sw_flow_op_class kind = p->steps.at[i].kind;
    is = broadcast || kind == SW_STEP_ELEMENTWISE || sw_ir_last_part_is(p->t, o->name, "slice");
  }
  if (o->n_uses && !broadcast) is &= p->steps.n > first_step;
  for (uint32_t i = 0; i < o->n_uses && is; i++) {
    const int32_t x = operands[i];
    const bool scalar = x >= 0 && !p->type.at[x].rank;
    is = x >= 0 && ((broadcast && scalar) || p->constant_of.at[x] >= 0);
  }
  if (!is) return SW_OK;
  sw_constant c = {.n_steps = p->steps.n - first_step};
  if (c.n_steps) c.steps = sw_arena_copy(&p->arena, p->steps.at + first_step, c.n_steps, sizeof *c.steps, p->d);
  if (!c.steps && c.n_steps) return SW_E_RESOURCE;
  p->steps.n = first_step; /* the copies have them */
  p->constant_of.at[tensor] = (int32_t)p->constants.n;
  return sw_array_push(&p->constants, c, p->d);
}

typedef struct copier {
  sw_program_flow *p;
  int32_t from[MOST_OPS_COPIED], to[MOST_OPS_COPIED];
  int n;
} copier;

static sw_rc copy_constant_tensor(copier *c, int32_t tensor, int32_t *out);

static sw_rc copy_step(copier *c, sw_flow_op s) {
  int32_t *tensors;
  SW_ARENA_NEW(tensors, &c->p->arena, s.n_operands + s.n_results, c->p->d);
  for (int i = 0; i < s.n_operands + s.n_results; i++) SW_TRY(copy_constant_tensor(c, s.tensors[i], &tensors[i]));
  s.tensors = tensors;
  return sw_array_push(&c->p->steps, s, c->p->d);
}

/* The copy of a constant and of all that it is made of, each once. */
static sw_rc copy_constant_tensor(copier *c, int32_t tensor, int32_t *out) {
  sw_program_flow *p = c->p;
  const int32_t at = tensor < 0 ? -1 : p->constant_of.at[tensor];
  *out = tensor;
  for (int i = 0; i < c->n; i++) {
    if (c->from[i] == tensor) *out = c->to[i];
  }
  if (at < 0 || *out != tensor || c->n == MOST_OPS_COPIED) return SW_OK;
  const sw_type type = p->type.at[tensor];
  const sw_constant constant = p->constants.at[at];
  SW_TRY(sw_program_flow_add(p, &type, p->made_by.at[tensor], out));
  p->said.at[*out] = p->said.at[tensor];
  p->said_at.at[*out] = p->said_at.at[tensor];
  p->next_copy.at[*out] = p->next_copy.at[tensor];
  p->next_copy.at[tensor] = *out;
  c->from[c->n] = tensor;
  c->to[c->n++] = *out;
  for (size_t i = 0; i < constant.n_steps; i++) SW_TRY(copy_step(c, constant.steps[i]));
  return SW_OK;
}

sw_rc sw_constant_use(sw_program_flow *p, int32_t tensor, int32_t *out) {
  copier c = {.p = p};
  return copy_constant_tensor(&c, tensor, out);
}
