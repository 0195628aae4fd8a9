/* Shardings in Shardy's text, whole: open dimensions, priorities, replicated and unreduced axes. */
#include <stdlib.h>
#include <string.h>

#include "io/mlir/flow/program_flow.h"

#define FAIL(p, span, ...) SW_FAIL_INPUT((p)->d, sw_ir_place((p)->t, (span).at), __VA_ARGS__)

/* What a check of meshes and shardings found, told at its place in the text. */
static sw_rc at_place(sw_program_flow *p, sw_ir_span text, sw_rc rc, const sw_diag *why) {
  return rc == SW_E_INPUT ? FAIL(p, text, "%s", why->text) : rc;
}

/* "x" or "x":(1)2 */
static sw_rc read_axis(sw_program_flow *p, const sw_mesh *m, sw_ir_span text, sw_axis_ref *out) {
  const char *s = p->t->s + text.at, *end = p->t->s + text.end;
  sw_diag why = {0};
  if (s == end || *s != '"') return FAIL(p, text, "found '%.*s'; expected an axis in quotes", SW_IR_TEXT(p->t, text));
  SW_TRY(at_place(p, text, sw_axis_ref_parse(m, &s, end, out, &why), &why));
  if (s != end) return FAIL(p, text, "found '%.*s' behind an axis", (int)(end - s), s);
  if (end[-1] == '"' || (out->size > 1 && out->size < m->axis[out->axis].size)) return SW_OK;
  return FAIL(p, text, "found '%.*s'; expected a part that is larger than 1 and smaller than the axis, of %lld",
              SW_IR_TEXT(p->t, text), (long long)m->axis[out->axis].size);
}

/* p1 */
static sw_rc read_priority(sw_program_flow *p, sw_ir_span text, int k, sw_open_sharding *out) {
  const char *s = p->t->s + text.at;
  char *end = NULL;
  bool is = s[0] == 'p' && s[1] >= '0' && s[1] <= '9' && !(s[1] == '0' && text.end - text.at > 2);
  int64_t n = is ? strtoll(s + 1, &end, 10) : 0;
  if (!is || end != p->t->s + text.end || n >= INT32_MAX)
    return FAIL(p, text, "found '%.*s'; expected a priority, p0, p1, ...", SW_IR_TEXT(p->t, text));
  out->has_priority |= 1u << k;
  out->priority[k] = (int32_t)n;
  return SW_OK;
}

/* {"x", ?}p1 */
static sw_rc read_dim(sw_program_flow *p, const sw_mesh *m, sw_ir_span text, int k, sw_open_sharding *out) {
  sw_ir_span item, axes = text;
  uint32_t cursor = 0;
  while (axes.end > axes.at && p->t->s[axes.end - 1] != '}') axes.end--;
  if (axes.end < text.end) SW_TRY(read_priority(p, (sw_ir_span){axes.end, text.end}, k, out));
  while (sw_ir_next_item(p->t, axes, &cursor, &item)) {
    sw_axis_ref a;
    if (p->t->s[item.at] == '?') {
      out->open |= 1u << k;
      continue;
    }
    SW_TRY(read_axis(p, m, item, &a));
    if (!sw_sharding_push(&out->cut, k, a)) return FAIL(p, item, "a tensor is cut by more than %d axes", SW_MAX_REFS);
  }
  return SW_OK;
}

/* "={...}", of unreduced axes with the word of a reduction before the brace. */
static sw_rc list_of(sw_program_flow *p, sw_ir_span item, bool unreduced, sw_ir_span *list, sw_reduction *kind) {
  const char *word = unreduced ? "unreduced" : "replicated";
  char name[16] = "";
  *list = sw_ir_trimmed(p->t, (sw_ir_span){item.at + (uint32_t)strlen(word), item.end});
  bool is = list->at < list->end && p->t->s[list->at] == '=';
  if (is) *list = sw_ir_trimmed(p->t, (sw_ir_span){list->at + 1, list->end});
  uint32_t n = 0;
  while (is && unreduced && n + 1 < sizeof name && p->t->s[list->at] >= 'a' && p->t->s[list->at] <= 'z')
    name[n++] = p->t->s[list->at++];
  is = is && (!n || sw_reduction_parse(name, kind)) && p->t->s[list->at] == '{' && p->t->s[list->end - 1] == '}';
  return is ? SW_OK : FAIL(p, item, "expected a list of axes, %s={\"x\"}", word);
}

static sw_rc read_listed(sw_program_flow *p, const sw_mesh *m, sw_ir_span text, bool unreduced, sw_open_sharding *out) {
  sw_ir_span item, list;
  uint32_t cursor = 0;
  sw_axis_ref last = {.axis = -1};
  sw_reduction kind = SW_REDUCE_SUM;
  SW_TRY(list_of(p, text, unreduced, &list, &kind));
  while (sw_ir_next_item(p->t, list, &cursor, &item)) {
    sw_axis_ref a;
    SW_TRY(read_axis(p, m, item, &a));
    if (a.axis < last.axis || (a.axis == last.axis && a.pre < last.pre))
      return FAIL(p, item, "axes of this list are not in the order of the mesh");
    last = a;
    bool ok = unreduced ? sw_sharding_push_partial(&out->cut, kind, a) : out->n_replicated < SW_MAX_REFS;
    if (ok && !unreduced) out->replicated[out->n_replicated++] = a;
    if (!ok) return FAIL(p, item, "more than %d axes", SW_MAX_REFS);
  }
  return SW_OK;
}

/* Device ids that are not the plain order, or the one device of a mesh without axes. */
static sw_rc read_ids(sw_program_flow *p, sw_ir_span text, sw_mesh *m) {
  sw_ir_span list = sw_ir_entry(p->t, sw_ir_inside(p->t, text), "device_ids");
  sw_ir_ints ids = {0};
  bool in_order = m->n_axes > 0;
  int32_t *one = NULL;
  if (!sw_ir_present(list)) return SW_OK;
  sw_rc rc = sw_ir_read_ints(p->t, list, &ids, p->d);
  for (size_t i = 0; i < ids.n; i++) in_order &= ids.at[i] == (int64_t)i;
  if (!rc && in_order) rc = FAIL(p, text, "device ids are 0, 1, 2, ...; expected no list");
  if (!rc && !m->n_axes && (ids.n != 1 || ids.at[0] < 0 || ids.at[0] >= SW_MAX_DEVICES))
    rc = FAIL(p, text, "a mesh without axes is one device; expected its id");
  if (!rc && !m->n_axes && !(one = sw_arena_alloc(&p->arena, 1, sizeof *one, p->d))) rc = SW_E_RESOURCE;
  if (one) *one = (int32_t)ids.at[0];
  if (one) m->device_ids = one;
  sw_array_free(&ids);
  return rc;
}

/* <["x"=2, "y"=4], device_ids=[...]>, from the angle on */
sw_rc sw_text_mesh_read(sw_program_flow *p, sw_ir_span text, sw_mesh *out) {
  sw_text ours = {0};
  sw_diag why = {0};
  *out = (sw_mesh){0};
  sw_ir_mesh_text(p->t, text, &ours);
  sw_rc rc = ours.rc;
  if (!rc && ours.n) rc = at_place(p, text, sw_mesh_parse(sw_text_str(&ours), &p->arena, out, &why), &why);
  if (!rc) rc = at_place(p, text, sw_mesh_verify(out, true, &why), &why);
  sw_text_free(&ours);
  return rc ? rc : read_ids(p, text, out);
}

/* Of one list: neighbours are not parts that make a larger one. */
static sw_rc check_neighbours(sw_program_flow *p, sw_ir_span text, const sw_mesh *m, const sw_axis_ref *a, int n) {
  for (int i = 0; i + 1 < n; i++) {
    if (a[i].axis != a[i + 1].axis || a[i].pre * a[i].size != a[i + 1].pre) continue;
    return FAIL(p, text, "two parts of axis '%s' follow each other; expected them as one", m->axis[a[i].axis].name);
  }
  return SW_OK;
}

static sw_rc check(sw_program_flow *p, sw_ir_span text, const sw_mesh *m, const sw_open_sharding *s) {
  sw_sharding all = s->cut; /* what is replicated shares no axis with what cuts, as what is partial */
  sw_diag why = {0};
  for (int i = 0; i < s->n_replicated; i++) {
    if (!sw_sharding_push_partial(&all, (sw_reduction)s->cut.partial_kind, s->replicated[i]))
      return FAIL(p, text, "more than %d axes", SW_MAX_REFS);
  }
  if (!m->n_axes && m->device_ids && s->cut.rank)
    return FAIL(p, text, "a maximal sharding has %d dimensions; expected none", s->cut.rank);
  SW_TRY(at_place(p, text, sw_sharding_verify(m, &all, s->cut.rank, NULL, &why), &why));
  SW_TRY(check_neighbours(p, text, m, s->replicated, s->n_replicated));
  SW_TRY(check_neighbours(p, text, m, sw_sharding_partial(&s->cut), s->cut.n_partial));
  for (int k = 0; k < s->cut.rank; k++) {
    int of_dim;
    const sw_axis_ref *refs = sw_sharding_dim(&s->cut, k, &of_dim);
    SW_TRY(check_neighbours(p, text, m, refs, of_dim));
    if (!of_dim && !(s->open >> k & 1) && s->has_priority >> k & 1)
      return FAIL(p, text, "dimension %d is empty and closed but has a priority", k);
  }
  return SW_OK;
}

static sw_rc find_mesh(sw_program_flow *p, sw_ir_span item, int32_t *out) {
  if (p->t->s[item.at] == '@') {
    sw_ir_span name = sw_ir_unquoted(p->t, item);
    for (size_t i = 0; i < p->meshes.n; i++) {
      if (!sw_ir_same(p->t, p->meshes.at[i].name, name)) continue;
      *out = (int32_t)i;
      return SW_OK;
    }
    return FAIL(p, item, "there is no mesh '@%.*s'", SW_IR_TEXT(p->t, name));
  }
  sw_text_mesh m = {0};
  sw_ir_span text = item;
  while (text.at < text.end && p->t->s[text.at] != '<') text.at++;
  SW_TRY(sw_text_mesh_read(p, text, &m.mesh));
  m.name = text;
  *out = (int32_t)p->meshes.n;
  return sw_array_push(&p->meshes, m, p->d);
}

sw_rc sw_open_sharding_read(sw_program_flow *p, sw_ir_span text, sw_open_sharding *out) {
  sw_ir_span item, dim;
  uint32_t cursor = 0, at = 0;
  int32_t mesh;
  text = sw_ir_resolved(p->t, text);
  while (text.at < text.end && p->t->s[text.at] != '<') text.at++;
  if (!sw_ir_next_item(p->t, text, &cursor, &item)) return FAIL(p, text, "expected a sharding, <@mesh, [{\"x\"}, {}]>");
  SW_TRY(find_mesh(p, item, &mesh));
  *out = (sw_open_sharding){.mesh = mesh};
  if (!sw_ir_next_item(p->t, text, &cursor, &item)) return FAIL(p, text, "expected dimensions, [{\"x\"}, {}]");
  const sw_mesh m = p->meshes.at[mesh].mesh;
  int rank = 0;
  while (sw_ir_next_item(p->t, item, &at, &dim)) {
    if (rank == SW_MAX_RANK) return FAIL(p, dim, "more than %d dimensions", SW_MAX_RANK);
    SW_TRY(read_dim(p, &m, dim, rank++, out));
  }
  out->cut.rank = (uint8_t)rank;
  bool said[2] = {false, false};
  while (sw_ir_next_item(p->t, text, &cursor, &item)) {
    const bool unreduced = sw_ir_starts(p->t, item, "unreduced");
    if ((!unreduced && !sw_ir_starts(p->t, item, "replicated")) || said[unreduced])
      return FAIL(p, item, "found '%.*s'; expected replicated={...} or unreduced={...}, each once",
                  SW_IR_TEXT(p->t, item));
    said[unreduced] = true;
    SW_TRY(read_listed(p, &m, item, unreduced, out));
  }
  sw_ir_span inside = sw_ir_trimmed(p->t, sw_ir_inside(p->t, text));
  if (p->t->s[inside.end - 1] == ',') return FAIL(p, text, "a sharding ends in a comma");
  return check(p, text, &m, out);
}

static void print_axes(const sw_mesh *m, const sw_axis_ref *a, int n, sw_text *out) {
  for (int i = 0; i < n; i++) {
    sw_text_printf(out, "%s\"%s\"", i ? ", " : "", m->axis[a[i].axis].name);
    if (a[i].size != m->axis[a[i].axis].size) sw_text_printf(out, ":(%d)%d", a[i].pre, a[i].size);
  }
}

sw_rc sw_open_sharding_print(const sw_program_flow *p, const sw_open_sharding *s, sw_text *out) {
  const sw_text_mesh *mesh = &p->meshes.at[s->mesh];
  const sw_mesh *m = &mesh->mesh;
  bool is_inline = p->t->s[mesh->name.at] == '<';
  sw_text_printf(out, is_inline ? "<mesh%.*s, [" : "<@%.*s, [", SW_IR_TEXT(p->t, mesh->name));
  for (int k = 0; k < s->cut.rank; k++) {
    int n;
    const sw_axis_ref *a = sw_sharding_dim(&s->cut, k, &n);
    bool open = s->open >> k & 1;
    sw_text_puts(out, k ? ", {" : "{");
    print_axes(m, a, n, out);
    sw_text_puts(out, open && n ? ", ?}" : open ? "?}" : "}");
    if (s->has_priority >> k & 1) sw_text_printf(out, "p%d", s->priority[k]);
  }
  sw_text_puts(out, "]");
  if (s->n_replicated) {
    sw_text_puts(out, ", replicated={");
    print_axes(m, s->replicated, s->n_replicated, out);
    sw_text_puts(out, "}");
  }
  if (s->cut.n_partial) {
    const bool sum = s->cut.partial_kind == SW_REDUCE_SUM;
    sw_text_printf(out, ", unreduced=%s{", sum ? "" : sw_reduction_text((sw_reduction)s->cut.partial_kind));
    print_axes(m, sw_sharding_partial(&s->cut), s->cut.n_partial, out);
    sw_text_puts(out, "}");
  }
  sw_text_puts(out, ">");
  return out->rc;
}
