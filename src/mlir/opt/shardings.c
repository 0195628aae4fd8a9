/* Shardings of a text by slots (shardings.h). */
#include "mlir/opt/pass.h"

#include <string.h>

#include "mlir/import/types.h"

static const char kCollectives[] =
    "sdy.all_gather sdy.all_reduce sdy.all_slice sdy.all_to_all sdy.collective_permute sdy.reduce_scatter "
    "sdy.sharded_to_unreduced sdy.replicated_to_unreduced";
static const char kInside[] = "sdy.sharding_constraint sdy.reshard sdy.data_flow_edge";
static const char kRegions[] = "sdy.manual_computation sdy.named_computation";

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* As it stands, aliases and all. */
static sw_ir_span raw_attr(const sw_ir_tree *t, const sw_ir_op *o, const char *key, bool custom) {
  sw_ir_span v = sw_ir_entry(t, o->props, key);
  if (!sw_ir_present(v)) v = sw_ir_entry(t, o->attrs, key);
  if (!sw_ir_present(v) && custom && !o->generic) v = sw_ir_clause(t, o, key);
  return v;
}

/* "<...>" of #sdy.sharding<...>. */
static sw_ir_span from_angle(const sw_ir_tree *t, sw_ir_span v) {
  v = sw_ir_resolved(t, sw_ir_trimmed(t, v));
  while (v.at < v.end && t->s[v.at] != '<') v.at++;
  return v;
}

/* The items of #sdy.sharding_per_value<[...]> or of [...]. */
static sw_ir_span list_inside(const sw_ir_tree *t, sw_ir_span v) {
  v = sw_ir_resolved(t, sw_ir_trimmed(t, v));
  while (v.at < v.end && t->s[v.at] != '[') v.at++;
  v.end -= v.end > v.at && t->s[v.end - 1] == '>';
  return sw_ir_trimmed(t, v);
}

static sw_rc add_slot(sw_opt_work *w, uint32_t value, sw_ir_span type, sw_ir_span said) {
  sw_opt_shardings *s = &w->shardings;
  sw_sharded_slot slot = {(uint32_t)s->places.n - 1, value, type, said, NULL};
  if (value != SW_IR_NONE) s->of_value[value] = (uint32_t)s->slots.n;
  s->places.at[slot.place].n++;
  return sw_array_push(&s->slots, slot, w->d);
}

static sw_rc add_place(sw_opt_work *w, sw_sharded_kind kind, uint32_t op, sw_ir_span text) {
  sw_sharded_place p = {kind, op, (uint32_t)w->shardings.slots.n, 0, text, false};
  if (kind != SW_SHARDED_RESULTS && kind != SW_SHARDED_OUT) w->shardings.of_op[op] = (uint32_t)w->shardings.places.n;
  return sw_array_push(&w->shardings.places, p, w->d);
}

static sw_rc read_signature_slots(sw_opt_work *w, uint32_t op) {
  const sw_ir_tree *t = w->t;
  const sw_ir_op *f = &t->ops.at[op];
  const uint32_t block = sw_ir_block_at(t, f, 0);
  sw_ir_span item, list = sw_ir_entry(t, f->props, "arg_attrs"), dict = {0, 0};
  uint32_t cursor = 0;
  SW_TRY(add_place(w, SW_SHARDED_ARGUMENTS, op, (sw_ir_span){0, 0}));
  for (uint32_t i = 0; block != SW_IR_NONE && i < t->blocks.at[block].n_args; i++) {
    const sw_ir_arg *a = &t->args.at[t->blocks.at[block].first_arg + i];
    dict = a->attrs;
    if (sw_ir_present(list) && !sw_ir_next_item(t, list, &cursor, &dict)) dict = (sw_ir_span){0, 0};
    SW_TRY(add_slot(w, w->values.of_block[block] + i, a->type, from_angle(t, sw_ir_entry(t, dict, "sdy.sharding"))));
  }
  sw_ir_types_cursor c = sw_ir_declared_results(t, f);
  list = sw_ir_entry(t, f->props, "res_attrs");
  cursor = 0;
  SW_TRY(add_place(w, SW_SHARDED_RESULTS, op, (sw_ir_span){0, 0}));
  while (sw_ir_next_type(t, &c, &item)) {
    const sw_ir_span alone = sw_ir_type_alone(t, item);
    dict = sw_ir_trimmed(t, (sw_ir_span){alone.end, item.end});
    if (sw_ir_present(list) && !sw_ir_next_item(t, list, &cursor, &dict)) dict = (sw_ir_span){0, 0};
    if (!sw_ir_len(dict)) dict = (sw_ir_span){0, 0};
    SW_TRY(add_slot(w, SW_IR_NONE, alone, from_angle(t, sw_ir_entry(t, dict, "sdy.sharding"))));
  }
  return SW_OK;
}

/* Slots for all results, with the shardings of a list. */
static sw_rc add_result_slots(sw_opt_work *w, sw_sharded_kind kind, uint32_t op, sw_ir_span text) {
  const sw_ir_tree *t = w->t;
  const sw_ir_op *o = &t->ops.at[op];
  const sw_ir_span list = list_inside(t, text);
  const uint32_t n = sw_ir_result_count(t, o);
  sw_ir_types_cursor types = sw_ir_result_types(t, o);
  sw_ir_span item = {0, 0};
  uint32_t cursor = 0, i = 0;
  SW_TRY(add_place(w, kind, op, text));
  bool more = sw_ir_len(list) && sw_ir_next_item(t, list, &cursor, &item);
  for (; i < n || more; i++) {
    const uint32_t value = i < n ? sw_ir_result_value(&w->values, t, o, i) : SW_IR_NONE;
    sw_ir_span type;
    if (!sw_ir_next_type(t, &types, &type)) type = (sw_ir_span){0, 0};
    SW_TRY(add_slot(w, value, type, more ? from_angle(t, item) : (sw_ir_span){0, 0}));
    if (more) more = sw_ir_next_item(t, list, &cursor, &item);
  }
  return SW_OK;
}

static sw_rc read_region_slots(sw_opt_work *w, uint32_t op) {
  const sw_ir_tree *t = w->t;
  const sw_ir_op *o = &t->ops.at[op];
  const sw_ir_span text = raw_attr(t, o, "in_shardings", true), list = list_inside(t, text);
  const uint32_t block = sw_ir_block_at(t, o, 0), n = block == SW_IR_NONE ? 0 : t->blocks.at[block].n_args;
  uint32_t cursor = 0;
  sw_ir_types_cursor c = sw_ir_operand_types(t, o->types);
  SW_TRY(add_place(w, SW_SHARDED_IN, op, text));
  for (uint32_t i = 0; i < n; i++) {
    sw_ir_span item, type; /* of the whole operand, which the sharding is of */
    if (!sw_ir_len(list) || !sw_ir_next_item(t, list, &cursor, &item)) item = (sw_ir_span){0, 0};
    if (!sw_ir_next_type(t, &c, &type)) type = t->args.at[t->blocks.at[block].first_arg + i].type;
    SW_TRY(add_slot(w, w->values.of_block[block] + i, type, from_angle(t, item)));
  }
  return add_result_slots(w, SW_SHARDED_OUT, op, raw_attr(t, o, "out_shardings", true));
}

static sw_rc read_inside(sw_opt_work *w, uint32_t op, const char *key) {
  const sw_ir_tree *t = w->t;
  const sw_ir_op *o = &t->ops.at[op];
  sw_ir_span text = raw_attr(t, o, key, true);
  if (!sw_ir_present(text) && !o->generic && !sw_ir_is(t, o->name, "sdy.data_flow_edge")) {
    text = sw_sdy_own_sharding(t, o, key);
  }
  SW_TRY(add_place(w, SW_SHARDED_INSIDE, op, text));
  return add_slot(w, sw_ir_result_value(&w->values, t, o, 0), sw_ir_result_type(t, o, 0), from_angle(t, text));
}

static sw_rc read_op_slots(sw_opt_work *w, uint32_t op) {
  const sw_ir_op *o = &w->t->ops.at[op];
  if (sw_ir_is_function(w->t, o)) return read_signature_slots(w, op);
  if (w->values.function_of[op] == SW_IR_NONE) return SW_OK;
  if (sw_ir_starts(w->t, o->name, "sdy.")) {
    if (sw_ir_is_among(w->t, o->name, kInside)) return read_inside(w, op, "sharding");
    if (sw_ir_is_among(w->t, o->name, kCollectives)) return read_inside(w, op, "out_sharding");
    if (sw_ir_is_among(w->t, o->name, kRegions)) return read_region_slots(w, op);
  }
  return add_result_slots(w, SW_SHARDED_OP, op, raw_attr(w->t, o, "sdy.sharding", false));
}

sw_rc sw_opt_read_shardings(sw_opt_work *w) {
  SW_TRY(sw_sdy_open(&w->shardings.words, w->t, &w->arena, w->d));
  SW_ARENA_NEW(w->shardings.of_op, &w->arena, w->t->ops.n, w->d);
  SW_ARENA_NEW(w->shardings.of_value, &w->arena, w->values.n, w->d);
  for (uint32_t i = 0; i < w->values.n; i++) w->shardings.of_value[i] = SW_IR_NONE;
  for (uint32_t i = 0; i < w->t->ops.n; i++) SW_TRY(read_op_slots(w, i));
  return SW_OK;
}

void sw_opt_free_shardings(sw_opt_shardings *s) {
  sw_array_free(&s->places);
  sw_array_free(&s->slots);
  sw_sdy_close(&s->words);
}

/* --- asking and saying -------------------------------------------------------------------------------------------- */

const sw_sharded_place *sw_opt_place(const sw_opt_work *w, uint32_t op) {
  return &w->shardings.places.at[w->shardings.of_op[op]];
}

bool sw_opt_says(const sw_opt_work *w, uint32_t slot) {
  const sw_sharded_slot *s = &w->shardings.slots.at[slot];
  const sw_sharded_place *p = &w->shardings.places.at[s->place];
  const bool one_by_one = p->kind == SW_SHARDED_ARGUMENTS || p->kind == SW_SHARDED_RESULTS;
  if (!one_by_one) return p->changed || sw_ir_len(p->text) > 0;
  return s->now ? *s->now != 0 : sw_ir_len(s->said) > 0;
}

sw_rc sw_opt_sharding(sw_opt_work *w, uint32_t slot, sw_open_sharding *out, bool *any) {
  const sw_sharded_slot *s = &w->shardings.slots.at[slot];
  *any = sw_ir_len(s->said) > 0;
  return *any ? sw_open_sharding_read(&w->shardings.words, s->said, out) : SW_OK;
}

sw_rc sw_opt_spell(sw_opt_work *w, const sw_open_sharding *s, const char **out) {
  sw_text t = {0};
  sw_rc rc = sw_open_sharding_print(&w->shardings.words, s, &t);
  return sw_ir_keep_text(rc, &t, &w->arena, out, w->d);
}

sw_rc sw_opt_sharding_text(sw_opt_work *w, uint32_t slot, const char **out) {
  sw_open_sharding s;
  bool any;
  *out = w->shardings.slots.at[slot].now;
  if (*out) return SW_OK;
  SW_TRY(sw_opt_sharding(w, slot, &s, &any));
  *out = "";
  return any ? sw_opt_spell(w, &s, out) : SW_OK;
}

void sw_opt_say_text(sw_opt_work *w, uint32_t slot, const char *text) {
  sw_sharded_slot *s = &w->shardings.slots.at[slot];
  s->now = text ? text : "";
  w->shardings.places.at[s->place].changed = true;
}

sw_rc sw_opt_say(sw_opt_work *w, uint32_t slot, const sw_open_sharding *s) {
  const char *text;
  SW_TRY(sw_opt_spell(w, s, &text));
  sw_opt_say_text(w, slot, text);
  return SW_OK;
}

sw_rc sw_opt_slot_type(sw_opt_work *w, uint32_t slot, sw_type *out, bool *known) {
  return sw_ir_read_sized_type(w->t, w->shardings.slots.at[slot].type, &w->arena, out, known);
}

uint32_t sw_opt_manual_axes(const sw_opt_work *w, const sw_sharded_place *p, const sw_mesh *m) {
  uint32_t axes = 0;
  if (p->kind != SW_SHARDED_IN && p->kind != SW_SHARDED_OUT) return 0;
  const sw_ir_span list = sw_sdy_manual_axes(w->t, &w->t->ops.at[p->op]);
  for (int a = 0; a < m->n_axes; a++) axes |= (uint32_t)sw_sdy_is_manual_axis(w->t, list, m->axis[a].name) << a;
  return axes;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* What the slot says in the end: by the pass, or as it stands. Empty: nothing. */
static void append_said(const sw_opt_work *w, const sw_sharded_slot *s, sw_text *out) {
  if (s->now)
    sw_text_puts(out, s->now);
  else
    sw_text_append(out, w->t->s + s->said.at, sw_ir_len(s->said));
}

/* "<@mesh", of the first slot of a list that says something: up to its list of dimensions. */
static sw_rc open_sharding_like(sw_opt_work *w, const char *like, uint32_t slot, sw_text *out) {
  sw_type type;
  bool known;
  SW_TRY(sw_opt_slot_type(w, slot, &type, &known));
  const char *dims = like[1] == '@' ? strchr(like, ',') : strstr(like, ">, [");
  if (dims) sw_text_append(out, like, (size_t)(dims - like) + (*dims == '>'));
  sw_text_puts(out, ", [");
  for (int k = 0; known && k < type.rank; k++) sw_text_puts(out, k ? ", {?}" : "{?}");
  sw_text_puts(out, "]>");
  return out->rc;
}

/* [<...>, <...>], or nothing where no slot says anything. */
static sw_rc spell_list(sw_opt_work *w, const sw_sharded_place *p, sw_text *out) {
  const sw_sharded_slot *slots = w->shardings.slots.at;
  sw_text like = {0};
  sw_rc rc = SW_OK;
  for (uint32_t i = p->first; i < p->first + p->n && !like.n; i++) append_said(w, &slots[i], &like);
  if (like.n) sw_text_puts(out, "[");
  for (uint32_t i = p->first; like.n && !rc && i < p->first + p->n; i++) {
    if (i > p->first) sw_text_puts(out, ", ");
    const size_t before = out->n;
    append_said(w, &slots[i], out);
    if (out->n == before) rc = open_sharding_like(w, sw_text_str(&like), i, out);
  }
  if (like.n) sw_text_puts(out, "]");
  sw_text_free(&like);
  return rc ? rc : out->rc;
}

/* Behind the operands of a region's op, or behind in_shardings that stand there. */
static uint32_t place_of_list(const sw_opt_work *w, const sw_sharded_place *p) {
  const sw_ir_op *o = &w->t->ops.at[p->op];
  if (p->kind == SW_SHARDED_OUT) {
    const sw_ir_span in = sw_ir_clause(w->t, o, "in_shardings");
    if (sw_ir_present(in)) return in.end;
  }
  uint32_t at = o->n_uses ? w->t->uses.at[o->first_use + o->n_uses - 1].name.end : o->body.at;
  while (at < o->body.end && w->t->s[at] != ')') at++;
  return at + 1;
}

static sw_rc write_region(sw_opt_work *w, const sw_sharded_place *p, const char *list) {
  const sw_ir_op *o = &w->t->ops.at[p->op];
  const char *key = p->kind == SW_SHARDED_IN ? "in_shardings" : "out_shardings";
  const char *per_value = o->generic ? "#sdy.sharding_per_value<" : "", *end = o->generic ? ">" : "";
  if (sw_ir_len(p->text))
    return sw_ir_replace(&w->edits, p->text.at, p->text.end,
                         sw_arena_printf(&w->arena, w->d, "%s%s%s", per_value, list, end));
  if (o->generic) {
    w->edits.key = key;
    return sw_ir_set_entry(&w->edits, o->props, sw_arena_printf(&w->arena, w->d, "#sdy.sharding_per_value<%s>", list));
  }
  return sw_ir_insert(&w->edits, place_of_list(w, p), sw_arena_printf(&w->arena, w->d, " %s=%s", key, list));
}

sw_rc sw_opt_sharding_list(sw_opt_work *w, const sw_sharded_place *p, const char **out) {
  sw_text t = {0};
  const sw_rc rc = spell_list(w, p, &t);
  return sw_ir_keep_text(rc, &t, &w->arena, out, w->d);
}

static sw_rc write_sharding_list(sw_opt_work *w, const sw_sharded_place *p) {
  const char *list;
  SW_TRY(sw_opt_sharding_list(w, p, &list));
  if (p->kind != SW_SHARDED_OP) return write_region(w, p, list);
  return sw_ir_set_op(&w->edits, &w->t->ops.at[p->op],
                      *list ? sw_arena_printf(&w->arena, w->d, "#sdy.sharding_per_value<%s>", list) : "");
}

static sw_rc write_slot_signature(sw_opt_work *w, const sw_sharded_place *p) {
  const sw_ir_op *f = &w->t->ops.at[p->op];
  const char **values;
  SW_ARENA_NEW(values, &w->arena, p->n, w->d);
  for (uint32_t i = 0; i < p->n; i++) {
    const char *now = w->shardings.slots.at[p->first + i].now;
    if (!now) continue;
    values[i] = *now ? sw_arena_printf(&w->arena, w->d, "#sdy.sharding%s", now) : "";
    if (!values[i]) return SW_E_RESOURCE;
  }
  return p->kind == SW_SHARDED_ARGUMENTS ? sw_ir_set_args(&w->edits, f, values, p->n)
                                         : sw_ir_set_results(&w->edits, f, values, p->n);
}

/* Of a data_flow_edge, it may be new. */
static sw_rc write_own_sharding(sw_opt_work *w, const sw_sharded_place *p) {
  const sw_ir_op *o = &w->t->ops.at[p->op];
  const char *now = w->shardings.slots.at[p->first].now, *word = o->generic ? "#sdy.sharding" : "";
  if (sw_ir_len(p->text))
    return sw_ir_replace(&w->edits, p->text.at, p->text.end, sw_arena_printf(&w->arena, w->d, "%s%s", word, now));
  if (!o->generic)
    return sw_ir_insert(&w->edits, sw_ir_body_end(w->t, o), sw_arena_printf(&w->arena, w->d, " sharding=%s", now));
  const char *value = sw_arena_printf(&w->arena, w->d, "#sdy.sharding%s", now);
  w->edits.key = "sharding";
  return sw_ir_len(o->props) ? sw_ir_set_entry(&w->edits, o->props, value)
                             : sw_ir_insert(&w->edits, sw_ir_body_end(w->t, o),
                                            sw_arena_printf(&w->arena, w->d, " <{sharding = %s}>", value));
}

sw_rc sw_opt_settle_shardings(sw_opt_work *w) {
  for (size_t i = 0; i < w->shardings.places.n; i++) {
    const sw_sharded_place *p = &w->shardings.places.at[i];
    if (!p->changed || w->erased[p->op]) continue;
    w->edits.key = "sdy.sharding";
    if (p->kind == SW_SHARDED_ARGUMENTS || p->kind == SW_SHARDED_RESULTS)
      SW_TRY(write_slot_signature(w, p));
    else
      SW_TRY(p->kind == SW_SHARDED_INSIDE ? write_own_sharding(w, p) : write_sharding_list(w, p));
  }
  return SW_OK;
}
