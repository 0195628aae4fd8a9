/* Shardings in Shardy's text, whole: open dimensions, priorities, replicated and unreduced axes. */
#include <stdlib.h>
#include <string.h>

#include "io/mlir/flow/program_flow.h"

#define FAIL(p, span, ...) SW_FAIL_INPUT((p)->d, sw_ir_place((p)->t, (span).at), __VA_ARGS__)

/* "x" or "x":(1)2 */
static sw_rc read_axis(sw_program_flow *p, const sw_mesh *m, sw_ir_span text, sw_axis_ref *out) {
  const char *s = p->t->s + text.at, *end = p->t->s + text.end, *quote;
  if (s == end || *s != '"' || !(quote = memchr(s + 1, '"', (size_t)(end - s - 1))))
    return FAIL(p, text, "found '%.*s'; expected an axis in quotes", SW_IR_TEXT(p->t, text));
  int axis = sw_mesh_axis_named(m, s + 1, (size_t)(quote - s - 1));
  if (axis < 0) return FAIL(p, text, "the mesh has no axis %.*s", (int)(quote - s + 1), s);
  *out = sw_axis_whole(m, axis);
  if (quote + 1 == end) return SW_OK;
  char *at;
  long pre = 0, size = 0;
  if (quote[1] == ':' && quote[2] == '(') {
    pre = strtol(quote + 3, &at, 10);
    if (*at == ')') size = strtol(at + 1, &at, 10);
  }
  if (pre < 1 || size < 2 || m->axis[axis].size % (pre * size))
    return FAIL(p, text, "found '%.*s'; expected \"%s\":(k)m, k * m a part of %lld", SW_IR_TEXT(p->t, text),
                m->axis[axis].name, (long long)m->axis[axis].size);
  out->pre = (int32_t)pre;
  out->size = (int32_t)size;
  return SW_OK;
}

/* {"x", ?}p1 */
static sw_rc read_dim(sw_program_flow *p, const sw_mesh *m, sw_ir_span text, int k, sw_open_sharding *out) {
  sw_ir_span item, axes = text;
  uint32_t cursor = 0;
  while (axes.end > axes.at && p->t->s[axes.end - 1] != '}') axes.end--;
  if (axes.end < text.end && p->t->s[axes.end] == 'p') {
    out->has_priority |= 1u << k;
    out->priority[k] = (int32_t)strtol(p->t->s + axes.end + 1, NULL, 10);
  }
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

static sw_rc read_listed(sw_program_flow *p, const sw_mesh *m, sw_ir_span list, bool unreduced, sw_open_sharding *out) {
  sw_ir_span item;
  uint32_t cursor = 0;
  while (sw_ir_next_item(p->t, list, &cursor, &item)) {
    sw_axis_ref a;
    SW_TRY(read_axis(p, m, item, &a));
    bool ok = unreduced ? sw_sharding_push_partial(&out->cut, SW_REDUCE_SUM, a) : out->n_replicated < SW_MAX_REFS;
    if (ok && !unreduced) out->replicated[out->n_replicated++] = a;
    if (!ok) return FAIL(p, item, "more than %d axes", SW_MAX_REFS);
  }
  return SW_OK;
}

/* <["x"=2, "y"=4], device_ids=[0]> */
sw_rc sw_text_mesh_read(sw_program_flow *p, sw_ir_span text, sw_mesh *out) {
  sw_ir_span item, axis;
  uint32_t cursor = 0, at = 0;
  sw_ir_ints ids = {0};
  *out = (sw_mesh){0};
  if (!sw_ir_next_item(p->t, text, &cursor, &item)) return SW_OK;
  while (sw_ir_next_item(p->t, item, &at, &axis)) {
    const char *s = p->t->s + axis.at, *quote = s + 1;
    while (quote < p->t->s + axis.end && *quote != '"') quote++;
    size_t n = (size_t)(quote - s - 1);
    if (out->n_axes == SW_MAX_AXES || n >= SW_AXIS_NAME_BYTES || quote[1] != '=')
      return FAIL(p, axis, "found '%.*s'; expected an axis, \"x\"=2", SW_IR_TEXT(p->t, axis));
    memcpy(out->axis[out->n_axes].name, s + 1, n);
    out->axis[out->n_axes++].size = strtoll(quote + 2, NULL, 10);
  }
  if (!sw_ir_next_item(p->t, text, &cursor, &item)) return SW_OK;
  sw_ir_span list = item;
  while (list.at < list.end && p->t->s[list.at] != '[') list.at++;
  sw_rc rc = sw_ir_read_ints(p->t, list, &ids, p->d);
  int32_t *copy = rc ? NULL : sw_arena_alloc(&p->arena, ids.n + 1, sizeof *copy, p->d);
  for (size_t i = 0; copy && i < ids.n; i++) copy[i] = (int32_t)ids.at[i];
  sw_array_free(&ids);
  out->device_ids = copy;
  return rc ? rc : copy ? SW_OK : SW_E_RESOURCE;
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
  while (sw_ir_next_item(p->t, text, &cursor, &item)) {
    bool unreduced = sw_ir_starts(p->t, item, "unreduced");
    if (!unreduced && !sw_ir_starts(p->t, item, "replicated"))
      return FAIL(p, item, "found '%.*s'; expected replicated={...} or unreduced={...}", SW_IR_TEXT(p->t, item));
    while (item.at < item.end && p->t->s[item.at] != '{') item.at++;
    SW_TRY(read_listed(p, &m, item, unreduced, out));
  }
  return SW_OK;
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
    sw_text_puts(out, ", unreduced={");
    print_axes(m, sw_sharding_partial(&s->cut), s->cut.n_partial, out);
    sw_text_puts(out, "}");
  }
  sw_text_puts(out, ">");
  return out->rc;
}
