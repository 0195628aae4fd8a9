/* Shardings, whole: open dimensions, priorities, replicated and unreduced axes. */
#include <stdlib.h>
#include <string.h>

#include "mlir/shardy/shardy.h"

sw_rc sw_sdy_rule_read(const sw_ir_tree *t, sw_ir_span text, sw_arena *arena, sw_factor_rule **out, sw_diag *d) {
  const char *at;
  text = sw_ir_resolved(t, sw_ir_trimmed(t, text));
  const sw_ir_span in = sw_ir_inside(t, text);
  if (!sw_ir_starts(t, text, "#sdy.op_sharding_rule") || t->s[in.at - 1] != '<')
    return SW_FAIL_INPUT(d, sw_ir_place(t, text.at), "expected a rule, #sdy.op_sharding_rule<([i])->([i]) {i=8}>");
  sw_diag why = {0};
  sw_rc rc = sw_factor_rule_read(t->s + in.at, t->s + in.end, SW_FACTOR_LETTERS_OF_SHARDY, arena, out, &at, &why);
  return rc ? SW_FAIL(d, rc, sw_ir_place(t, (uint32_t)(at - t->s)), "%s", why.text) : SW_OK;
}

/* p1 */
static sw_rc read_priority(sw_sdy_text *x, sw_ir_span text, int k, sw_open_sharding *out) {
  const char *s = x->t->s + text.at;
  char *end = NULL;
  bool is = s[0] == 'p' && s[1] >= '0' && s[1] <= '9' && !(s[1] == '0' && text.end - text.at > 2);
  int64_t n = is ? strtoll(s + 1, &end, 10) : 0;
  if (!is || end != x->t->s + text.end || n >= INT32_MAX)
    return SW_SDY_FAIL(x, text.at, "found '%.*s'; expected a priority, p0, p1, ...", SW_IR_TEXT(x->t, text));
  out->has_priority |= 1u << k;
  out->priority[k] = (int32_t)n;
  return SW_OK;
}

/* The axes of {"x", ?} without its "?". */
static sw_ir_span without_open(const sw_ir_tree *t, sw_ir_span dim, bool *open) {
  sw_ir_span in = sw_ir_trimmed(t, sw_ir_inside(t, dim));
  *open = sw_ir_ends(t, in, "?");
  if (*open) in = sw_ir_trimmed(t, (sw_ir_span){in.at, in.end - 1});
  if (*open && sw_ir_ends(t, in, ",")) in.end--;
  return in;
}

/* {"x", ?}p1 */
static sw_rc read_sharding_dim(sw_sdy_text *x, const sw_mesh *m, sw_ir_span text, int k, sw_open_sharding *out) {
  sw_ir_span axes = text;
  sw_axes list;
  bool open;
  while (axes.end > axes.at && x->t->s[axes.end - 1] != '}') axes.end--;
  if (axes.end == axes.at || x->t->s[axes.at] != '{')
    return SW_SDY_FAIL(x, text.at, "found '%.*s'; expected a dimension, {\"x\"}", SW_IR_TEXT(x->t, text));
  const sw_ir_span priority = sw_ir_trimmed(x->t, (sw_ir_span){axes.end, text.end});
  if (sw_ir_len(priority)) SW_TRY(read_priority(x, priority, k, out));
  SW_TRY(sw_sdy_axes_read(x, m, without_open(x->t, axes, &open), &list));
  out->open |= (uint32_t)open << k;
  for (int i = 0; i < list.n; i++) {
    if (!sw_sharding_push(&out->cut, k, list.at[i]))
      return SW_SDY_FAIL(x, text.at, "a tensor is cut by more than %d axes", SW_MAX_REFS);
  }
  if (!list.n && !open && out->has_priority >> k & 1)
    return SW_SDY_FAIL(x, text.at, "dimension %d is empty and closed but has a priority", k);
  return SW_OK;
}

static sw_rc read_sharding_dims(sw_sdy_text *x, const sw_mesh *m, sw_ir_span text, sw_open_sharding *out) {
  uint32_t cursor = 0;
  sw_ir_span dim;
  int rank = 0;
  if (x->t->s[text.at] != '[') return SW_SDY_FAIL(x, text.at, "expected dimensions, [{\"x\"}, {}]");
  while (sw_ir_next_item(x->t, text, &cursor, &dim)) {
    if (rank == SW_MAX_RANK) return SW_SDY_FAIL(x, dim.at, "more than %d dimensions", SW_MAX_RANK);
    SW_TRY(read_sharding_dim(x, m, dim, rank++, out));
  }
  out->cut.rank = (uint8_t)rank;
  const sw_ir_span inside = sw_ir_trimmed(x->t, sw_ir_inside(x->t, text));
  return sw_ir_ends(x->t, inside, ",") ? SW_SDY_FAIL(x, inside.end - 1, "the list of dimensions ends in a comma")
                                       : SW_OK;
}

/* "={...}", of unreduced axes with the word of a reduction before the brace. */
static sw_rc list_of(sw_sdy_text *x, sw_ir_span item, bool unreduced, sw_ir_span *list, sw_reduction *kind) {
  static const char *const kKinds[] = {"sum", "max", "min"};
  const char *word = unreduced ? "unreduced" : "replicated";
  const sw_ir_tree *t = x->t;
  *list = sw_ir_trimmed(t, (sw_ir_span){item.at + (uint32_t)strlen(word), item.end});
  bool is = list->at < list->end && t->s[list->at] == '=';
  if (is) *list = sw_ir_trimmed(t, (sw_ir_span){list->at + 1, list->end});
  for (size_t i = 0; is && unreduced && i < sizeof kKinds / sizeof *kKinds; i++) {
    if (!sw_ir_word(t->s, list->at, kKinds[i])) continue;
    is = sw_reduction_parse(kKinds[i], kind);
    *list = sw_ir_trimmed(t, (sw_ir_span){list->at + (uint32_t)strlen(kKinds[i]), list->end});
    break;
  }
  is = is && list->at < list->end && t->s[list->at] == '{' && t->s[list->end - 1] == '}';
  return is ? SW_OK : SW_SDY_FAIL(x, item.at, "expected a list of axes, %s={\"x\"}", word);
}

static sw_rc read_listed(sw_sdy_text *x, const sw_mesh *m, sw_ir_span text, bool unreduced, sw_open_sharding *out) {
  sw_ir_span span;
  sw_reduction kind = SW_REDUCE_SUM;
  sw_axes list;
  SW_TRY(list_of(x, text, unreduced, &span, &kind));
  SW_TRY(sw_sdy_axes_read(x, m, span, &list));
  if (!list.n) return SW_SDY_FAIL(x, span.at, "the list of axes is empty; expected an axis");
  SW_TRY(sw_sdy_axes_are_ordered(x, span, unreduced ? "unreduced" : "replicated", list.at, list.n));
  for (int i = 0; i < list.n; i++) {
    if (!unreduced)
      out->replicated[out->n_replicated++] = list.at[i];
    else if (!sw_sharding_push_partial(&out->cut, kind, list.at[i]))
      return SW_SDY_FAIL(x, text.at, "a sharding has more than %d axes", SW_MAX_REFS);
  }
  return SW_OK;
}

/* Of all dimensions and lists together. */
static sw_rc check_sharding_axes(sw_sdy_text *x, sw_ir_span text, const sw_mesh *m, const sw_open_sharding *s) {
  sw_axis_ref all[2 * SW_MAX_REFS];
  const int cut = s->cut.n_refs, named = cut + s->n_replicated;
  memcpy(all, s->cut.refs, sizeof *all * (size_t)cut);
  memcpy(all + cut, s->replicated, sizeof *all * s->n_replicated);
  memcpy(all + named, sw_sharding_partial(&s->cut), sizeof *all * s->cut.n_partial);
  SW_TRY(sw_sdy_axes_are_distinct(x, m, text, all, named + s->cut.n_partial));
  sw_diag why = {0};
  sw_rc rc = sw_sharding_verify(m, &s->cut, s->cut.rank, NULL, &why);
  return rc == SW_E_INPUT ? SW_SDY_FAIL(x, text.at, "%s", why.text) : rc;
}

/* On one device nothing else is said. */
static sw_rc check_maximal(sw_sdy_text *x, sw_ir_span text, sw_ir_span dims, uint32_t cursor) {
  sw_ir_span item;
  if (!sw_ir_len(sw_ir_trimmed(x->t, sw_ir_inside(x->t, dims))) && !sw_ir_next_item(x->t, text, &cursor, &item))
    return SW_OK;
  return SW_SDY_FAIL(x, text.at,
                     "a maximal sharding, on one device, has dimensions or axes; expected none, <@mesh, []>");
}

/* replicated={"x"}, unreduced={"y"}: behind the dimensions. */
static sw_rc read_named_axis_lists(sw_sdy_text *x, const sw_mesh *m, sw_ir_span text, uint32_t cursor,
                                   sw_open_sharding *out) {
  bool said[2] = {false, false};
  sw_ir_span item;
  while (sw_ir_next_item(x->t, text, &cursor, &item)) {
    const bool unreduced = sw_ir_starts(x->t, item, "unreduced");
    if ((!unreduced && !sw_ir_starts(x->t, item, "replicated")) || said[unreduced])
      return SW_SDY_FAIL(x, item.at, "found '%.*s'; expected replicated={...} or unreduced={...}, each once",
                         SW_IR_TEXT(x->t, item));
    said[unreduced] = true;
    SW_TRY(read_listed(x, m, item, unreduced, out));
  }
  const sw_ir_span inside = sw_ir_trimmed(x->t, sw_ir_inside(x->t, text));
  if (!sw_ir_ends(x->t, inside, ",")) return SW_OK;
  return SW_SDY_FAIL(x, inside.end - 1, "the sharding ends in a comma; expected replicated={...} or unreduced={...}");
}

static sw_rc read_open_sharding(sw_sdy_text *x, sw_ir_span text, sw_open_sharding *out) {
  sw_ir_span item, word;
  uint32_t cursor = 0;
  int32_t mesh;
  word = text;
  while (text.at < text.end && x->t->s[text.at] != '<') text.at++;
  word.end = text.at;
  const bool is = !sw_ir_len(word) || sw_ir_is(x->t, word, "#sdy.sharding");
  if (!is || !sw_ir_next_item(x->t, text, &cursor, &item))
    return SW_SDY_FAIL(x, word.at, "expected a sharding, #sdy.sharding<@mesh, [{\"x\"}, {}]>");
  SW_TRY(sw_sdy_mesh_read(x, item, &mesh));
  *out = (sw_open_sharding){.mesh = mesh};
  const sw_mesh m = x->meshes.at[mesh].mesh;
  if (!sw_ir_next_item(x->t, text, &cursor, &item))
    return SW_SDY_FAIL(x, text.at, "expected dimensions behind the mesh, [{\"x\"}, {}]");
  if (sw_sdy_is_maximal(&m)) SW_TRY(check_maximal(x, text, item, cursor));
  SW_TRY(read_sharding_dims(x, &m, item, out));
  SW_TRY(read_named_axis_lists(x, &m, text, cursor, out));
  return check_sharding_axes(x, text, &m, out);
}

sw_rc sw_open_sharding_read(sw_sdy_text *x, sw_ir_span text, sw_open_sharding *out) {
  enum { MOST_KEPT = 4096 };
  text = sw_ir_resolved(x->t, sw_ir_trimmed(x->t, text));
  const char *s = x->t->s + text.at;
  const int64_t *at = sw_dict_get(&x->read_of, s, sw_ir_len(text));
  if (at) {
    *out = x->read.at[*at];
    return SW_OK;
  }
  SW_TRY(read_open_sharding(x, text, out));
  if (x->read.n == MOST_KEPT) return SW_OK;
  SW_TRY(sw_dict_put(&x->read_of, s, sw_ir_len(text), (int64_t)x->read.n, NULL, NULL, x->d));
  return sw_array_push(&x->read, *out, x->d);
}

sw_rc sw_open_sharding_print(const sw_sdy_text *x, const sw_open_sharding *s, sw_text *out) {
  const sw_text_mesh *mesh = &x->meshes.at[s->mesh];
  const sw_mesh *m = &mesh->mesh;
  bool is_inline = x->t->s[mesh->name.at] == '<';
  sw_text_printf(out, is_inline ? "<mesh%.*s, [" : "<@%.*s, [", SW_IR_TEXT(x->t, mesh->name));
  const int rank = sw_sdy_is_maximal(m) ? 0 : s->cut.rank;
  for (int k = 0; k < rank; k++) {
    int n;
    const sw_axis_ref *a = sw_sharding_dim(&s->cut, k, &n);
    bool open = s->open >> k & 1;
    sw_text_puts(out, k ? ", {" : "{");
    sw_sdy_axes_print(m, a, n, out);
    sw_text_puts(out, open && n ? ", ?}" : open ? "?}" : "}");
    if (s->has_priority >> k & 1) sw_text_printf(out, "p%d", s->priority[k]);
  }
  sw_text_puts(out, "]");
  if (s->n_replicated) {
    sw_text_puts(out, ", replicated={");
    sw_sdy_axes_print(m, s->replicated, s->n_replicated, out);
    sw_text_puts(out, "}");
  }
  if (s->cut.n_partial) {
    const bool sum = s->cut.partial_kind == SW_REDUCE_SUM;
    sw_text_printf(out, ", unreduced=%s{", sum ? "" : sw_reduction_text((sw_reduction)s->cut.partial_kind));
    sw_sdy_axes_print(m, sw_sharding_partial(&s->cut), s->cut.n_partial, out);
    sw_text_puts(out, "}");
  }
  sw_text_puts(out, ">");
  return out->rc;
}

bool sw_sdy_direction(const sw_ir_tree *t, sw_ir_span text, sw_direction *out) {
  static const struct {
    const char *word;
    sw_direction direction;
  } kWords[] = {{"NONE", SW_DIRECTION_NONE}, {"FORWARD", SW_DIRECTION_FORWARD}, {"BACKWARD", SW_DIRECTION_BACKWARD}};
  int64_t number = -1;
  const sw_ir_span word = sw_ir_last_word(t, text);
  if (!sw_ir_present(text)) return false;
  (void)sw_ir_read_int(t, text, &number);
  for (size_t i = 0; i < sizeof kWords / sizeof *kWords; i++) {
    if (number != (int64_t)i && !sw_ir_is(t, word, kWords[i].word)) continue;
    *out = kWords[i].direction;
    return true;
  }
  return false;
}
