/* Groups that share a value are one, each value is in its group once, and groups are numbered from 0 on. */
#include "base/disjoint.h"
#include "base/hash.h"
#include "mlir/opt/opt_rewrite.h"

#include <string.h>

#include "mlir/import/types.h"

typedef struct grouper {
  sw_opt_work *w;
  sw_dict *by_id; /* group_id to a group */
  int32_t *up;    /* by group: one that it is part of; itself: none */
  uint32_t *ops;  /* that say a group */
  int32_t *group; /* by index of ops */
  int32_t n_groups, n_ops;
  int32_t *of_value; /* a group of each value; -1: none */
} grouper;

/* The op that a value is computed on local sizes by: the manual computation around it. */
static uint32_t manual_around(const grouper *g, uint32_t op) {
  const sw_ir_tree *t = g->w->t;
  while (op != SW_IR_NONE && t->ops.at[op].block) {
    op = t->regions.at[t->blocks.at[t->ops.at[op].block].region].op;
    if (sw_ir_is(t, t->ops.at[op].name, "sdy.manual_computation")) return op;
  }
  return SW_IR_NONE;
}

static sw_rc read_sharding_group(grouper *g, uint32_t op) {
  sw_opt_work *w = g->w;
  const sw_ir_op *o = &w->t->ops.at[op];
  int64_t id, *slot;
  bool fresh;
  if (!sw_ir_read_int(w->t, sw_ir_attr(w->t, o, "group_id", "group_id"), &id))
    return SW_FAIL_INPUT(w->d, sw_ir_place(w->t, o->text.at), "expected group_id = a number");
  SW_TRY(sw_dict_put(g->by_id, &id, sizeof id, g->n_groups, &slot, &fresh, w->d));
  int32_t *of = &g->of_value[sw_ir_operand_value(&w->values, o, 0)], group = (int32_t)*slot;
  if (fresh) g->up[g->n_groups++] = group;
  if (*of >= 0) sw_disjoint_join(g->up, *of, group);
  *of = g->group[g->n_ops] = group;
  g->ops[g->n_ops++] = op;
  return SW_OK;
}

static sw_ir_span first_operand_type(const sw_ir_tree *t, const sw_ir_op *o) {
  sw_ir_types_cursor c = sw_ir_operand_types(t, o->types);
  sw_ir_span type = {0, 0};
  (void)sw_ir_next_type(t, &c, &type);
  return type;
}

/* Of one group all values have one type, and are on one side of every manual computation. */
static sw_rc check_member(grouper *g, uint32_t op, uint32_t first) {
  const sw_ir_tree *t = g->w->t;
  const sw_ir_op *o = &t->ops.at[op], *other = &t->ops.at[first];
  if (!sw_ir_same(t, first_operand_type(t, o), first_operand_type(t, other)))
    return SW_FAIL_INPUT(g->w->d, sw_ir_place(t, o->text.at), "the group has values of type %.*s; expected the same",
                         SW_IR_TEXT(t, first_operand_type(t, other)));
  if (manual_around(g, op) != manual_around(g, first))
    return SW_FAIL_INPUT(g->w->d, sw_ir_place(t, o->text.at),
                         "the group has values in and out of a manual computation; expected all on one side");
  return SW_OK;
}

static sw_rc say_number(grouper *g, uint32_t op, uint32_t number) {
  sw_opt_work *w = g->w;
  const sw_ir_span at = sw_ir_attr(w->t, &w->t->ops.at[op], "group_id", "group_id");
  const char *with_type = memchr(w->t->s + at.at, ':', sw_ir_len(at)) ? " : i64" : "";
  return sw_ir_replace(&w->edits, at.at, at.end, sw_arena_printf(&w->arena, w->d, "%u%s", number, with_type));
}

static sw_rc number_groups(grouper *g) {
  sw_opt_work *w = g->w;
  uint32_t *number, *first, n = 0;
  bool *seen;
  SW_ARENA_NEW_EACH(&w->arena, g->n_groups, w->d, number, first);
  SW_ARENA_NEW(seen, &w->arena, w->values.n, w->d);
  for (int32_t i = 0; i < g->n_groups; i++) number[i] = SW_IR_NONE;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const uint32_t op = g->ops[i];
    const int32_t group = sw_disjoint_find(g->up, g->group[i]);
    bool *is_seen = &seen[sw_ir_operand_value(&w->values, &w->t->ops.at[op], 0)];
    if (number[group] == SW_IR_NONE) number[group] = n++, first[group] = op;
    SW_TRY(check_member(g, op, first[group]));
    SW_TRY(*is_seen ? sw_opt_erase(w, op) : say_number(g, op, number[group]));
    *is_seen = true;
  }
  return SW_OK;
}

sw_rc sw_pass_sharding_group_import(sw_opt_work *w) {
  grouper g = {.w = w};
  SW_TRY(sw_opt_dict(w, &g.by_id));
  SW_ARENA_NEW_EACH(&w->arena, w->t->ops.n, w->d, g.up, g.ops, g.group);
  SW_ARENA_NEW(g.of_value, &w->arena, w->values.n, w->d);
  for (uint32_t i = 0; i < w->values.n; i++) g.of_value[i] = -1;
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    if (sw_ir_is(w->t, w->t->ops.at[i].name, "sdy.sharding_group")) SW_TRY(read_sharding_group(&g, i));
  }
  return number_groups(&g);
}
