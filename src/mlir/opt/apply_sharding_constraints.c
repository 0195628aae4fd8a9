/* Constraints that settle how their input is cut say so there.
 *
 * The input has no sharding yet, the constraint leaves nothing open, and no other constraint or manual computation
 * wants the input otherwise. An input that is an edge, or an argument of a loop that has edges, keeps its freedom: what
 * uses it uses the constraint instead. Of a chain of constraints the last one is what later ops of the block use.
 */
#include "mlir/opt/opt_rewrite.h"

#include <string.h>

/* The uses of values as they become: each value has a list of them. */
typedef struct applier {
  sw_opt_work *w;
  uint32_t n_values;      /* with those of constraints that are put in */
  uint32_t *value_of;     /* by use: now */
  uint32_t *first, *next; /* by value, by use */
  const char **name;      /* by value: of those that are put in */
  const char **wanted;    /* by slot: its sharding in one spelling; NULL: not asked for yet */
} applier;

static const sw_ir_op *applier_op_at(const applier *a, uint32_t op) { return &a->w->t->ops.at[op]; }
static bool applier_op_is(const applier *a, uint32_t op, const char *name) {
  return sw_ir_is(a->w->t, applier_op_at(a, op)->name, name);
}
static bool is_constraint(const applier *a, uint32_t op) { return applier_op_is(a, op, "sdy.sharding_constraint"); }
static bool is_manual_computation(const applier *a, uint32_t op) {
  return applier_op_is(a, op, "sdy.manual_computation");
}

static uint32_t sharding_slot_of(const applier *a, uint32_t value) {
  return value < a->w->values.n ? a->w->shardings.of_value[value] : SW_IR_NONE;
}

static uint32_t applier_result_of(const applier *a, uint32_t op) {
  return sw_ir_result_value(&a->w->values, a->w->t, applier_op_at(a, op), 0);
}

/* The one sharding in its spelling; "" for none. */
static sw_rc spelling(applier *a, uint32_t slot, const char **out) {
  if (!a->wanted[slot]) SW_TRY(sw_opt_sharding_text(a->w, slot, &a->wanted[slot]));
  *out = a->wanted[slot];
  return SW_OK;
}

/* The slot of in_shardings that says how use `use` of a manual computation comes in. */
static uint32_t in_slot(const applier *a, uint32_t op, uint32_t use) {
  const uint32_t block = sw_ir_block_at(a->w->t, applier_op_at(a, op), 0);
  return a->w->shardings.of_value[a->w->values.of_block[block] + use - applier_op_at(a, op)->first_use];
}

/* The slot of a sharding that an op wants for what it uses; SW_IR_NONE: it wants none. */
static uint32_t wanted_at(const applier *a, uint32_t use) {
  const uint32_t op = a->w->values.op_of_use[use];
  if (is_constraint(a, op)) return sharding_slot_of(a, applier_result_of(a, op));
  return is_manual_computation(a, op) ? in_slot(a, op, use) : SW_IR_NONE;
}

/* --- inputs ------------------------------------------------------------------------------------------------------- */

/* The value that the sharding of `value` is said of: of an argument of a loop it is the loop's result. SW_IR_NONE: no
 * sharding can be said of it. */
static uint32_t said_of(const applier *a, uint32_t value) {
  const sw_ir_values *v = &a->w->values;
  const sw_ir_tree *t = a->w->t;
  if (value >= v->n || sharding_slot_of(a, value) != SW_IR_NONE) return value;
  if (v->maker[value] != SW_IR_NONE) return SW_IR_NONE;
  const uint32_t block = v->block_of_value[value], op = t->regions.at[t->blocks.at[block].region].op;
  return applier_op_is(a, op, "stablehlo.while")
             ? sw_ir_result_value(v, t, applier_op_at(a, op), value - v->of_block[block])
             : SW_IR_NONE;
}

/* The edge on a value, as an op; SW_IR_NONE: it has none. */
static uint32_t edge_on(const applier *a, uint32_t value) {
  return value < a->w->values.n ? sw_opt_edge_on(a->w, value, "sdy.data_flow_edge") : SW_IR_NONE;
}

typedef struct input {
  uint32_t value;
  uint32_t slot; /* where its sharding is said; SW_IR_NONE: nowhere */
  bool edge;     /* it is an edge, or an argument of a loop with one */
} input;

static input input_of_constraint(const applier *a, uint32_t value) {
  input in = {value, SW_IR_NONE, false};
  const uint32_t owner = said_of(a, value);
  if (owner == SW_IR_NONE || owner >= a->w->values.n) return in;
  const uint32_t maker = a->w->values.maker[value], edge = owner != value ? edge_on(a, owner) : SW_IR_NONE;
  in.slot = sharding_slot_of(a, edge == SW_IR_NONE ? owner : applier_result_of(a, edge));
  in.edge = edge != SW_IR_NONE || (maker != SW_IR_NONE && applier_op_is(a, maker, "sdy.data_flow_edge"));
  return in;
}

/* Does the sharding of a slot settle that of the input? */
static sw_rc settles(applier *a, const input *in, uint32_t slot, sw_open_sharding *s, bool *out) {
  const char *text, *other;
  sw_type type;
  bool any, known;
  *out = false;
  if (in->slot == SW_IR_NONE || sw_opt_says(a->w, in->slot)) return SW_OK;
  SW_TRY(sw_opt_sharding(a->w, slot, s, &any));
  SW_TRY(sw_opt_slot_type(a->w, slot, &type, &known));
  if (!any || !known || s->open) return SW_OK;
  SW_TRY(spelling(a, slot, &text));
  for (uint32_t use = a->first[in->value]; use != SW_IR_NONE; use = a->next[use]) {
    const uint32_t wants = wanted_at(a, use);
    if (wants == SW_IR_NONE) continue;
    SW_TRY(spelling(a, wants, &other));
    if (strcmp(text, other) != 0) return SW_OK;
  }
  *out = true;
  return SW_OK;
}

/* --- uses --------------------------------------------------------------------------------------------------------- */

static void move_use(applier *a, uint32_t *link, uint32_t to) {
  const uint32_t use = *link;
  *link = a->next[use];
  a->value_of[use] = to;
  a->next[use] = a->first[to];
  a->first[to] = use;
}

/* All uses but that of op `but` (SW_IR_NONE: all). */
static void replace_all(applier *a, uint32_t value, uint32_t to, uint32_t but) {
  for (uint32_t *link = &a->first[value]; *link != SW_IR_NONE;) {
    if (a->w->values.op_of_use[*link] == but)
      link = &a->next[*link];
    else
      move_use(a, link, to);
  }
}

static uint32_t count_uses(const applier *a, uint32_t value, uint32_t limit) {
  uint32_t n = 0;
  for (uint32_t use = a->first[value]; use != SW_IR_NONE && n < limit; use = a->next[use]) n++;
  return n;
}

static bool has_wanting_use(const applier *a, uint32_t value, uint32_t but) {
  for (uint32_t use = a->first[value]; use != SW_IR_NONE; use = a->next[use]) {
    if (a->w->values.op_of_use[use] != but && wanted_at(a, use) != SW_IR_NONE) return true;
  }
  return false;
}

/* --- chains ------------------------------------------------------------------------------------------------------- */

/* From the first constraint of a chain to its last one; SW_IR_NONE: it is no chain of two or more, or an inner one has
 * another use. */
static uint32_t last_of_chain(const applier *a, uint32_t first) {
  uint32_t last = first;
  for (uint32_t value = applier_result_of(a, last); value != SW_IR_NONE && count_uses(a, value, 2) == 1;) {
    const uint32_t op = a->w->values.op_of_use[a->first[value]];
    if (!is_constraint(a, op)) break;
    last = op;
    value = applier_result_of(a, op);
  }
  const uint32_t value = applier_result_of(a, last);
  return last == first || value == SW_IR_NONE || has_wanting_use(a, value, SW_IR_NONE) ? SW_IR_NONE : last;
}

/* Ops behind the chain, in its block, use the last of it. */
static void use_chain(applier *a, uint32_t first, uint32_t in) {
  const uint32_t maker = in < a->w->values.n ? a->w->values.maker[in] : SW_IR_NONE;
  if (in >= a->w->values.n || (maker != SW_IR_NONE && is_constraint(a, maker)) || has_wanting_use(a, in, first)) return;
  const uint32_t last = last_of_chain(a, first);
  if (last == SW_IR_NONE) return;
  for (uint32_t *link = &a->first[in]; *link != SW_IR_NONE;) {
    const uint32_t op = a->w->values.op_of_use[*link];
    const bool behind = op > last && applier_op_at(a, op)->block == applier_op_at(a, last)->block;
    if (op != first && behind && !sw_ir_is_among(a->w->t, applier_op_at(a, op)->name, "return func.return"))
      move_use(a, link, applier_result_of(a, last));
    else
      link = &a->next[*link];
  }
}

/* --- application -------------------------------------------------------------------------------------------------- */

/* Behind what makes the value, or first in its block. */
static sw_rc put_at(applier *a, uint32_t value, const char *text) {
  const sw_ir_values *v = &a->w->values;
  if (v->maker[value] != SW_IR_NONE) return sw_opt_put_behind(a->w, v->maker[value], text);
  return sw_opt_put_first_of_all(a->w, v->block_of_value[value], text);
}

/* An edge keeps of the sharding what is unreduced. */
static sw_rc tell_edge(applier *a, const input *in, const sw_open_sharding *s) {
  sw_open_sharding open = {.mesh = s->mesh, .cut = {.rank = s->cut.rank}, .open = (1u << s->cut.rank) - 1};
  if (!s->cut.n_partial) return SW_OK;
  for (int i = 0; i < s->cut.n_partial; i++)
    (void)sw_sharding_push_partial(&open.cut, (sw_reduction)s->cut.partial_kind, sw_sharding_partial(&s->cut)[i]);
  return sw_opt_say(a->w, in->slot, &open);
}

static sw_rc apply_constraint(applier *a, uint32_t op) {
  const sw_ir_op *o = applier_op_at(a, op);
  const uint32_t result = applier_result_of(a, op);
  sw_open_sharding s;
  bool is_settled;
  if (result == SW_IR_NONE) return SW_OK;
  const input in = input_of_constraint(a, a->value_of[o->first_use]);
  if (in.slot != SW_IR_NONE && sw_opt_says(a->w, in.slot)) return SW_OK;
  use_chain(a, op, in.value);
  SW_TRY(settles(a, &in, sharding_slot_of(a, result), &s, &is_settled));
  if (!is_settled) return SW_OK;
  if (!in.edge) {
    SW_TRY(sw_opt_say_identity_rule(a->w, op, sharding_slot_of(a, result)));
    return sw_opt_say(a->w, in.slot, &s);
  }
  SW_TRY(tell_edge(a, &in, &s));
  replace_all(a, in.value, result, op);
  SW_TRY(put_at(a, in.value, sw_arena_strndup(&a->w->arena, a->w->t->s + o->text.at, sw_ir_len(o->text), a->w->d)));
  SW_TRY(sw_opt_erase(a->w, op));
  return SW_OK;
}

/* A constraint on an edge that comes into a manual computation. */
static sw_rc constrain_edge(applier *a, const input *in, const sw_open_sharding *s) {
  const sw_ir_span type = a->w->shardings.slots.at[sharding_slot_of(a, in->value)].type;
  const char *sharding, *name = sw_opt_new_name(a->w), *of = sw_opt_value_text(a->w, in->value);
  SW_TRY(tell_edge(a, in, s));
  SW_TRY(sw_opt_spell(a->w, s, &sharding));
  if (!name || !of) return SW_E_RESOURCE;
  a->name[a->n_values] = name;
  replace_all(a, in->value, a->n_values++, SW_IR_NONE);
  return put_at(a, in->value,
                sw_arena_printf(&a->w->arena, a->w->d, "%s = sdy.sharding_constraint %s %s : %.*s", name, of, sharding,
                                SW_IR_TEXT(a->w->t, type)));
}

static sw_rc apply_manual(applier *a, uint32_t op) {
  const sw_ir_op *o = applier_op_at(a, op);
  const uint32_t block = sw_ir_block_at(a->w->t, o, 0);
  for (uint32_t i = 0; i < o->n_uses && block != SW_IR_NONE && i < a->w->t->blocks.at[block].n_args; i++) {
    const input in = input_of_constraint(a, a->value_of[o->first_use + i]);
    sw_open_sharding s;
    bool is_settled;
    SW_TRY(settles(a, &in, in_slot(a, op, o->first_use + i), &s, &is_settled));
    if (is_settled) SW_TRY(in.edge ? constrain_edge(a, &in, &s) : sw_opt_say(a->w, in.slot, &s));
  }
  return SW_OK;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static sw_rc prepare_applier(applier *a) {
  sw_opt_work *w = a->w;
  uint32_t n = w->values.n;
  for (uint32_t i = 0; i < w->t->ops.n; i++) n += is_manual_computation(a, i) ? applier_op_at(a, i)->n_uses : 0;
  SW_ARENA_NEW_EACH(&w->arena, w->t->uses.n, w->d, a->value_of, a->next);
  SW_ARENA_NEW_EACH(&w->arena, n, w->d, a->first, a->name);
  SW_ARENA_NEW(a->wanted, &w->arena, w->shardings.slots.n, w->d);
  for (uint32_t i = 0; i < n; i++) a->first[i] = i < w->values.n ? w->values.first_use[i] : SW_IR_NONE;
  memcpy(a->value_of, w->values.of_use, w->t->uses.n * sizeof *a->value_of);
  memcpy(a->next, w->values.next_use, w->t->uses.n * sizeof *a->next);
  a->n_values = w->values.n;
  return SW_OK;
}

/* Ops of regions before the op around them. */
static sw_rc visit_ops_inside_out(applier *a) {
  const sw_ir_tree *t = a->w->t;
  uint32_t *open, n = 0;
  SW_ARENA_NEW(open, &a->w->arena, t->ops.n, a->w->d);
  for (uint32_t i = 0; i <= t->ops.n; i++) {
    while (n && (i == t->ops.n || t->ops.at[open[n - 1]].text.end <= t->ops.at[i].text.at))
      SW_TRY(apply_manual(a, open[--n]));
    if (i == t->ops.n || a->w->values.function_of[i] == SW_IR_NONE) continue;
    if (is_constraint(a, i)) SW_TRY(apply_constraint(a, i));
    if (is_manual_computation(a, i)) open[n++] = i;
  }
  return SW_OK;
}

/* Uses that have changed, in ops that stay where they are. */
static sw_rc write_uses(applier *a) {
  for (uint32_t i = 0; i < a->w->t->uses.n; i++) {
    const uint32_t value = a->value_of[i];
    if (value == a->w->values.of_use[i] || a->w->erased[a->w->values.op_of_use[i]]) continue;
    const char *text = value < a->w->values.n ? sw_opt_value_text(a->w, value) : a->name[value];
    SW_TRY(sw_opt_replace_use(a->w, i, text));
  }
  return SW_OK;
}

sw_rc sw_pass_apply_sharding_constraints(sw_opt_work *w) {
  applier a = {.w = w};
  SW_TRY(prepare_applier(&a));
  SW_TRY(visit_ops_inside_out(&a));
  return write_uses(&a);
}
