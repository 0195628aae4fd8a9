/* separate-sharding-groups: members of a group whose shardings contradict each other cannot have one, so others stand
 * in the group for them, each an open constraint on its member.
 *
 *   before  %a is in ["x"], %b in ["y"]       after  %0 = sharding_constraint %a <@m, [{?}]>; the same %1 of %b
 *           sharding_group %a, %b                    sharding_group %0, %1; what used %a and %b uses these
 *
 * Groups whose members agree, or of which but one says something, stay. Shardy does so as propagation begins, with a
 * warning. Cost: one walk.
 */
#include "mlir/opt/opt_rewrite.h"
#include "shardwright/log.h"

typedef struct member {
  uint32_t op, value; /* the sharding_group, and what it is about */
  int32_t tensor, group;
} member;

typedef struct separator {
  sw_opt_work *w;
  member *members;
  size_t n;
  int32_t *first;  /* by group: a tensor with a sharding; -1: none */
  bool *conflicts; /* by group */
} separator;

static sw_rc find_members(separator *s) {
  const sw_ir_tree *t = s->w->t;
  const sw_program_flow *flow = s->w->flow;
  SW_ARENA_NEW(s->members, &s->w->arena, t->ops.n, s->w->d);
  for (uint32_t i = 0; i < t->ops.n; i++) {
    const sw_ir_op *o = &t->ops.at[i];
    if (!sw_ir_is(t, o->name, "sdy.sharding_group") || !o->n_uses) continue;
    const int32_t tensor = flow->tensors_in[flow->function_of[i]][s->w->names->use[o->first_use]];
    if (tensor < 0) continue;
    member m = {i, sw_ir_operand_value(&s->w->values, o, 0), tensor, flow->group.at[tensor]};
    s->members[s->n++] = m;
  }
  return SW_OK;
}

static sw_rc find_conflicts(separator *s) {
  const sw_open_sharding *said = s->w->flow->said.at;
  int32_t most = 0;
  for (size_t i = 0; i < s->n; i++) most = s->members[i].group > most ? s->members[i].group : most;
  SW_ARENA_NEW_EACH(&s->w->arena, most + 1, s->w->d, s->first, s->conflicts);
  for (int32_t g = 0; g <= most; g++) s->first[g] = -1;
  for (size_t i = 0; i < s->n; i++) {
    const member *m = &s->members[i];
    if (said[m->tensor].mesh < 0) continue;
    if (s->first[m->group] < 0) {
      s->first[m->group] = m->tensor;
    } else if (!s->conflicts[m->group] && !sw_opt_cut_alike(&said[s->first[m->group]], &said[m->tensor])) {
      const sw_span at = sw_ir_place(s->w->t, s->w->t->ops.at[m->op].text.at);
      s->conflicts[m->group] = true;
      sw_log(SW_LOG_WARN,
             "%s:%d:%d: members of the sharding group have different shardings; each is seen through a constraint",
             at.file, at.line, at.col);
    }
  }
  return SW_OK;
}

/* The constraint on a member, behind it or first in its block. */
static sw_rc separate(separator *s, const member *m) {
  sw_opt_work *w = s->w;
  const sw_ir_op *o = &w->t->ops.at[m->op];
  const sw_ir_span type = o->generic ? sw_ir_inside(w->t, o->types) : o->types;
  const char *name = sw_opt_new_name(w), *value = sw_opt_value_text(w, m->value);
  sw_open_sharding open = {.mesh = w->flow->said.at[s->first[m->group]].mesh};
  sw_text t = {0};
  open.cut.rank = (uint8_t)w->flow->type.at[m->tensor].rank;
  open.open = (1u << open.cut.rank) - 1;
  if (!name || !value) return SW_E_RESOURCE;
  sw_text_printf(&t, "%s = sdy.sharding_constraint %s ", name, value);
  sw_rc rc = sw_open_sharding_print(&w->flow->sdy, &open, &t);
  sw_text_printf(&t, " : %.*s", SW_IR_TEXT(w->t, sw_ir_trimmed(w->t, type)));
  const char *text;
  SW_TRY(sw_ir_keep_text(rc, &t, &w->arena, &text, w->d));
  sw_opt_replace(w, m->value, name);
  const uint32_t maker = w->values.maker[m->value];
  if (maker != SW_IR_NONE) return sw_opt_put_behind(w, maker, text);
  for (uint32_t b = 0; b < w->t->blocks.n; b++) { /* of an argument */
    const sw_ir_block *block = &w->t->blocks.at[b];
    const uint32_t first = w->values.of_block[b];
    if (block->n_args && m->value >= first && m->value < first + block->n_args) return sw_opt_put_first(w, b, text);
  }
  return SW_OK;
}

sw_rc sw_pass_separate_sharding_groups(sw_opt_work *w) {
  separator s = {.w = w};
  SW_TRY(find_members(&s));
  SW_TRY(find_conflicts(&s));
  for (size_t i = s.n; i-- > 0;) { /* the last comes first, as in Shardy */
    const member *m = &s.members[i];
    if (s.conflicts[m->group] && !w->instead[m->value]) SW_TRY(separate(&s, m));
  }
  return SW_OK;
}
