#include "mlir/opt/opt_rewrite.h"

#include <ctype.h>
#include <string.h>

#include "mlir/import/types.h"

/* --- names -------------------------------------------------------------------------------------------------------- */

static uint32_t number_in_name(const sw_ir_tree *t, sw_ir_span name) {
  uint64_t n = 0;
  for (uint32_t i = name.at; i < name.end && n < INT32_MAX; i++) {
    if (!isdigit((unsigned char)t->s[i])) return 0;
    n = n * 10 + (uint64_t)(t->s[i] - '0');
  }
  return n < INT32_MAX ? (uint32_t)n + 1 : 0;
}

/* Names that are numbers count on from the largest in the text. */
const char *sw_opt_new_name(sw_opt_work *w) {
  for (uint32_t i = 0; !w->n_names && i < w->t->results.n; i++) {
    const uint32_t next = number_in_name(w->t, w->t->results.at[i].name);
    if (next > w->first_name) w->first_name = next;
  }
  for (uint32_t i = 0; !w->n_names && i < w->t->args.n; i++) {
    const uint32_t next = number_in_name(w->t, w->t->args.at[i].name);
    if (next > w->first_name) w->first_name = next;
  }
  return sw_arena_printf(&w->arena, w->d, "%%%u", w->first_name + w->n_names++);
}

uint32_t sw_opt_use_end(const sw_ir_tree *t, uint32_t use) {
  uint32_t end = t->uses.at[use].name.end;
  if (t->s[end] != '#' || !isdigit((unsigned char)t->s[end + 1])) return end;
  for (end++; isdigit((unsigned char)t->s[end]);) end++;
  return end;
}

const char *sw_opt_value_text(sw_opt_work *w, uint32_t value) {
  const uint32_t maker = w->values.maker[value], at = w->values.index_of[value];
  if (maker == SW_IR_NONE) {
    return sw_arena_printf(&w->arena, w->d, "%%%.*s", SW_IR_TEXT(w->t, w->t->args.at[at].name));
  }
  const sw_ir_result *r = &w->t->results.at[at];
  return r->count == 1 ? sw_arena_printf(&w->arena, w->d, "%%%.*s", SW_IR_TEXT(w->t, r->name))
                       : sw_arena_printf(&w->arena, w->d, "%%%.*s#%u", SW_IR_TEXT(w->t, r->name),
                                         value - w->values.of_result[at]);
}

uint32_t sw_opt_edge_on(const sw_opt_work *w, uint32_t value, const char *name) {
  const uint32_t use = w->values.first_use[value], op = use == SW_IR_NONE ? use : w->values.op_of_use[use];
  return op != SW_IR_NONE && sw_ir_is(w->t, w->t->ops.at[op].name, name) ? op : SW_IR_NONE;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Where the line of an op begins, if nothing else stands before it there; otherwise the op itself. */
static uint32_t line_begin(const sw_ir_tree *t, const sw_ir_op *o) {
  uint32_t at = o->text.at;
  while (at > 0 && is_blank(t->s[at - 1])) at--;
  return !at || t->s[at - 1] == '\n' ? at : o->text.at;
}

/* Where the line behind an op begins, if but a comment stands between; otherwise the end of the op. */
static uint32_t line_behind(const sw_ir_tree *t, const sw_ir_op *o) {
  uint32_t at = o->text.end;
  while (at < t->n && is_blank(t->s[at])) at++;
  if (t->s[at] == '/' && t->s[at + 1] == '/') at += (uint32_t)strcspn(t->s + at, "\n");
  return at < t->n && t->s[at] == '\n' ? at + 1 : o->text.end;
}

static const char *indent_of(sw_opt_work *w, const sw_ir_op *o) {
  const uint32_t begin = line_begin(w->t, o);
  return sw_arena_strndup(&w->arena, w->t->s + begin, o->text.at - begin, w->d);
}

sw_rc sw_opt_put_before(sw_opt_work *w, uint32_t op, const char *text) {
  const sw_ir_op *o = &w->t->ops.at[op];
  const char *indent = indent_of(w, o);
  if (!indent || !text) return SW_E_RESOURCE;
  return sw_ir_insert(&w->edits, line_begin(w->t, o), sw_arena_printf(&w->arena, w->d, "%s%s\n", indent, text));
}

sw_rc sw_opt_put_behind(sw_opt_work *w, uint32_t op, const char *text) {
  const sw_ir_op *o = &w->t->ops.at[op];
  const char *indent = indent_of(w, o);
  const uint32_t at = line_behind(w->t, o);
  if (!indent || !text) return SW_E_RESOURCE;
  return sw_ir_insert(&w->edits, at,
                      sw_arena_printf(&w->arena, w->d, at > o->text.end ? "%s%s\n" : "\n%s%s", indent, text));
}

sw_rc sw_opt_put_first(sw_opt_work *w, uint32_t block, const char *text) {
  return sw_opt_put_before(w, w->t->blocks.at[block].first_op, text);
}

sw_rc sw_opt_put_first_of_all(sw_opt_work *w, uint32_t block, const char *text) {
  SW_TRY(sw_opt_put_first(w, block, text));
  sw_ir_edit *last = &w->edits.list.at[w->edits.list.n - 1];
  last->order = -last->order;
  return SW_OK;
}

/* --- uses --------------------------------------------------------------------------------------------------------- */

void sw_opt_replace(sw_opt_work *w, uint32_t value, const char *text) { w->instead[value] = text; }
void sw_opt_forward(sw_opt_work *w, uint32_t value, uint32_t to) { w->forward[value] = to; }

sw_rc sw_opt_replace_use(sw_opt_work *w, uint32_t use, const char *text) {
  const sw_ir_use *u = &w->t->uses.at[use];
  w->use_done[use] = true;
  return sw_ir_replace(&w->edits, u->name.at - 1, sw_opt_use_end(w->t, use), text);
}

sw_rc sw_opt_erase(sw_opt_work *w, uint32_t op) {
  const sw_ir_op *o = &w->t->ops.at[op];
  uint32_t begin = line_begin(w->t, o), end = line_behind(w->t, o);
  for (uint32_t i = op; i < w->t->ops.n && w->t->ops.at[i].text.at < o->text.end; i++) w->erased[i] = true;
  if (begin == o->text.at || end == o->text.end) begin = o->text.at, end = o->text.end;
  return sw_ir_replace(&w->edits, begin, end, "");
}

/* What the uses of a value become, or are. */
static const char *text_of_uses(sw_opt_work *w, uint32_t value) {
  uint32_t to = value;
  while (w->forward[to] != SW_IR_NONE) to = w->forward[to];
  return w->instead[to] ? w->instead[to] : sw_opt_value_text(w, to);
}

sw_rc sw_opt_settle(sw_opt_work *w) {
  for (uint32_t i = 0; i < w->t->uses.n; i++) {
    const uint32_t value = w->values.of_use[i];
    if (value == SW_IR_NONE || w->use_done[i] || w->erased[w->values.op_of_use[i]]) continue;
    if (!w->instead[value] && w->forward[value] == SW_IR_NONE) continue;
    SW_TRY(sw_opt_replace_use(w, i, text_of_uses(w, value)));
  }
  return SW_OK;
}

sw_rc sw_opt_drop_attributes(sw_opt_work *w, const char *const *keys, size_t n) {
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    const sw_ir_op *o = &w->t->ops.at[i];
    if (sw_ir_len(o->attrs)) SW_TRY(sw_ir_drop_entries(&w->edits, o->attrs, keys, n));
    if (!sw_ir_is_function(w->t, o)) continue;
    static const char *const kLists[] = {"arg_attrs", "res_attrs"};
    for (int k = 0; k < 2; k++) {
      sw_ir_span list = sw_ir_entry(w->t, o->props, kLists[k]), dict;
      uint32_t cursor = 0;
      while (sw_ir_present(list) && sw_ir_next_item(w->t, list, &cursor, &dict))
        SW_TRY(sw_ir_drop_entries(&w->edits, dict, keys, n));
    }
    sw_ir_types_cursor c = sw_ir_declared_results(w->t, o);
    sw_ir_span item;
    while (!o->generic && sw_ir_next_type(w->t, &c, &item)) {
      const sw_ir_span dict = sw_ir_trimmed(w->t, (sw_ir_span){sw_ir_type_alone(w->t, item).end, item.end});
      if (sw_ir_len(dict)) SW_TRY(sw_ir_drop_entries(&w->edits, dict, keys, n));
    }
  }
  for (uint32_t i = 0; i < w->t->args.n; i++) {
    if (sw_ir_len(w->t->args.at[i].attrs)) SW_TRY(sw_ir_drop_entries(&w->edits, w->t->args.at[i].attrs, keys, n));
  }
  return SW_OK;
}
