#include "mlir/write/edits.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/import/types.h"

void sw_ir_edits_free(sw_ir_edits *e) {
  sw_array_free(&e->list);
  sw_arena_deinit(&e->arena);
}

sw_rc sw_ir_replace(sw_ir_edits *e, uint32_t at, uint32_t end, const char *text) {
  sw_ir_edit one = {at, end, (int64_t)e->list.n + 1, text};
  return text ? sw_array_push(&e->list, one, e->d) : SW_E_RESOURCE;
}

sw_rc sw_ir_insert(sw_ir_edits *e, uint32_t at, const char *text) { return sw_ir_replace(e, at, at, text); }

static int compare_edits(const void *a, const void *b) {
  const sw_ir_edit *x = a, *y = b;
  const bool replaces_x = x->end > x->at, replaces_y = y->end > y->at; /* what is put in comes first */
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  if (replaces_x != replaces_y) return replaces_x ? 1 : -1;
  return x->order < y->order ? -1 : x->order > y->order;
}

void sw_ir_edits_sort(sw_ir_edits *e) {
  if (e->list.n) qsort(e->list.at, e->list.n, sizeof *e->list.at, compare_edits);
}

/* The first edit from a place on. */
static size_t first_from(const sw_ir_edits *e, uint32_t at) {
  size_t low = 0, high = e->list.n;
  while (low < high) {
    const size_t mid = low + (high - low) / 2;
    if (e->list.at[mid].at < at)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

sw_rc sw_ir_edits_apply_sorted(const sw_ir_edits *e, sw_ir_span text, sw_text *out) {
  uint32_t at = text.at;
  for (size_t i = first_from(e, text.at); i < e->list.n && e->list.at[i].end <= text.end; i++) {
    const sw_ir_edit *one = &e->list.at[i];
    if (one->at < at) continue; /* in what is replaced as a whole */
    sw_text_append(out, e->t->s + at, one->at - at);
    sw_text_puts(out, one->text);
    at = one->end;
  }
  sw_text_append(out, e->t->s + at, text.end - at);
  return out->rc;
}

sw_rc sw_ir_edits_apply_within(sw_ir_edits *e, sw_ir_span text, sw_text *out) {
  sw_ir_edits_sort(e);
  return sw_ir_edits_apply_sorted(e, text, out);
}

sw_rc sw_ir_edits_apply(sw_ir_edits *e, sw_text *out) {
  return sw_ir_edits_apply_within(e, (sw_ir_span){0, e->t->n}, out);
}

/* --- dictionaries ------------------------------------------------------------------------------------------------ */

static const char *entry_text(sw_ir_edits *e, const char *value, const char *before, const char *behind) {
  return sw_arena_printf(&e->arena, e->d, "%s%s = %s%s", before, e->key, value, behind);
}

/* `key = value`, the key perhaps in quotes, of a dictionary; empty when there is none. */
static sw_ir_span whole_entry(const sw_ir_tree *t, sw_ir_span dict, const char *name) {
  sw_ir_span key, value;
  uint32_t cursor = 0;
  while (name && sw_ir_next_entry(t, dict, &cursor, &key, &value)) {
    if (sw_ir_is(t, key, name)) return (sw_ir_span){key.at - (t->s[key.at - 1] == '"'), value.end};
  }
  return (sw_ir_span){0, 0};
}

/* The entry goes, with a comma and the blanks beside it; the braces stay. */
static sw_rc drop_entry(sw_ir_edits *e, sw_ir_span dict) {
  const char *s = e->t->s;
  sw_ir_span entry = whole_entry(e->t, dict, e->key);
  if (!sw_ir_len(entry)) return SW_OK;
  const uint32_t next = sw_ir_blanks(s, entry.end);
  if (s[next] == ',') return sw_ir_replace(e, entry.at, sw_ir_blanks(s, next + 1), "");
  while (entry.at > dict.at + 1 && isspace((unsigned char)s[entry.at - 1])) entry.at--;
  return sw_ir_replace(e, entry.at - (s[entry.at - 1] == ','), entry.end, "");
}

/* The dictionary without entries of some keys, if it has any. */
sw_rc sw_ir_drop_entries(sw_ir_edits *e, sw_ir_span dict, const char *const *keys, size_t n) {
  sw_text kept = {0};
  sw_ir_span key, value;
  uint32_t cursor = 0;
  bool any = false;
  while (sw_ir_next_entry(e->t, dict, &cursor, &key, &value)) {
    bool drop = false;
    for (size_t i = 0; i < n; i++) drop |= sw_ir_is(e->t, key, keys[i]);
    any |= drop;
    const uint32_t at = key.at - (e->t->s[key.at - 1] == '"');
    if (!drop) sw_text_printf(&kept, "%s%.*s", kept.n ? ", " : "", (int)(value.end - at), e->t->s + at);
  }
  const char *text = any && !kept.rc ? sw_arena_printf(&e->arena, e->d, "{%s}", sw_text_str(&kept)) : NULL;
  const sw_rc rc = kept.rc;
  sw_text_free(&kept);
  return rc || !any ? rc : sw_ir_replace(e, dict.at, dict.end, text);
}

/* Into a dictionary that is there: over an older value of the key, or in front. */
sw_rc sw_ir_set_entry(sw_ir_edits *e, sw_ir_span dict, const char *value) {
  if (value && !*value) return drop_entry(e, dict);
  sw_ir_span old = sw_ir_entry(e->t, dict, e->key);
  if (sw_ir_len(old)) return sw_ir_replace(e, old.at, old.end, value);
  bool empty = e->t->s[sw_ir_blanks(e->t->s, dict.at + 1)] == '}';
  return sw_ir_insert(e, dict.at + 1, entry_text(e, value, "", empty ? "" : ", "));
}

/* Likewise of an argument or result, which may say it in the other form. */
static sw_rc into_attrs(sw_ir_edits *e, sw_ir_span dict, const char *value) {
  sw_ir_span other = whole_entry(e->t, dict, e->other);
  bool replace = sw_ir_len(other) && !sw_ir_len(sw_ir_entry(e->t, dict, e->key));
  return replace ? sw_ir_replace(e, other.at, other.end, entry_text(e, value, "", ""))
                 : sw_ir_set_entry(e, dict, value);
}

static sw_rc new_dictionary(sw_ir_edits *e, uint32_t at, const char *before, const char *value) {
  const char *open = sw_arena_printf(&e->arena, e->d, " %s{", before);
  if (value && !*value) return SW_OK;
  return open ? sw_ir_insert(e, at, entry_text(e, value, open, "}")) : SW_E_RESOURCE;
}

/* --- functions --------------------------------------------------------------------------------------------------- */

/* arg_attrs or res_attrs of a function in generic form, where it has none. */
static sw_rc new_list(sw_ir_edits *e, const sw_ir_op *f, const char *name, const char *const *values, uint32_t n) {
  sw_text t = {0};
  bool any = false;
  sw_text_printf(&t, "%s = [", name);
  for (uint32_t i = 0; i < n; i++) {
    const bool is = values[i] && *values[i];
    any |= is;
    sw_text_puts(&t, i ? ", {" : "{");
    if (is) sw_text_printf(&t, "%s = %s", e->key, values[i]);
    sw_text_puts(&t, "}");
  }
  sw_text_puts(&t, "], ");
  const char *text = any ? sw_arena_strndup(&e->arena, sw_text_str(&t), t.n, e->d) : "";
  sw_text_free(&t);
  return any ? sw_ir_insert(e, f->props.at + 1, text) : SW_OK;
}

static sw_rc set_list(sw_ir_edits *e, const sw_ir_op *f, const char *name, const char *const *values, uint32_t n) {
  sw_ir_span list = sw_ir_entry(e->t, f->props, name), item;
  uint32_t cursor = 0;
  if (!sw_ir_present(list)) return new_list(e, f, name, values, n);
  for (uint32_t i = 0; i < n && sw_ir_next_item(e->t, list, &cursor, &item); i++) {
    if (values[i]) SW_TRY(into_attrs(e, item, values[i]));
  }
  return SW_OK;
}

sw_rc sw_ir_set_args(sw_ir_edits *e, const sw_ir_op *f, const char *const *values, uint32_t n) {
  if (f->generic) return set_list(e, f, "arg_attrs", values, n);
  const uint32_t first = e->t->blocks.at[sw_ir_block_at(e->t, f, 0)].first_arg;
  for (uint32_t i = 0; i < n; i++) {
    const sw_ir_arg *a = &e->t->args.at[first + i];
    if (!values[i]) continue;
    SW_TRY(sw_ir_present(a->attrs) ? into_attrs(e, a->attrs, values[i])
                                   : new_dictionary(e, a->type.end, "", values[i]));
  }
  return SW_OK;
}

sw_rc sw_ir_set_results(sw_ir_edits *e, const sw_ir_op *f, const char *const *values, uint32_t n) {
  if (f->generic) return set_list(e, f, "res_attrs", values, n);
  bool any = false;
  for (uint32_t i = 0; i < n; i++) any |= values[i] != NULL;
  if (!any || !sw_ir_len(f->types)) return SW_OK;
  sw_ir_types_cursor c = {.list = f->types};
  sw_ir_span item;
  bool bare = e->t->s[f->types.at] != '(';
  if (bare) SW_TRY(sw_ir_insert(e, f->types.at, "("));
  for (uint32_t i = 0; i < n && sw_ir_next_type(e->t, &c, &item); i++) {
    sw_ir_span dict = item;
    while (dict.at < dict.end && e->t->s[dict.at] != '{') dict.at++;
    if (!values[i]) continue;
    SW_TRY(dict.at < dict.end ? into_attrs(e, dict, values[i]) : new_dictionary(e, item.end, "", values[i]));
  }
  return bare ? sw_ir_insert(e, f->types.end, ")") : SW_OK;
}

/* --- ops --------------------------------------------------------------------------------------------------------- */

uint32_t sw_ir_body_end(const sw_ir_tree *t, const sw_ir_op *o) {
  uint32_t at = o->body.end;
  while (at > o->body.at && strchr(" \t\r\n", t->s[at - 1])) at--;
  return at;
}

/* The dictionary of a custom form goes before the types, but for ops that have it before what they read. */
sw_rc sw_ir_set_op(sw_ir_edits *e, const sw_ir_op *o, const char *value) {
  static const char kFirst[] =
      "stablehlo.constant mhlo.constant sdy.constant arith.constant stablehlo.optimization_barrier";
  if (sw_ir_len(o->attrs)) return sw_ir_set_entry(e, o->attrs, value);
  if (!o->generic && o->n_bound) return new_dictionary(e, o->types.end, "attributes ", value);
  if (!o->generic && !sw_ir_len(o->props) && sw_ir_is_among(e->t, o->name, kFirst))
    return new_dictionary(e, o->name.end, "", value);
  return new_dictionary(e, sw_ir_body_end(e->t, o), "", value);
}
