/* Meshes and axis refs as text.
 *
 *   "x=2,y=4"  "2x4"  "x=2,y=?"  "x=2,y=2 ids=0,2,1,3"      a mesh
 *   x  0  x:(1)2                                            an axis ref
 *
 * and meshes as programs write them:
 *
 *   Mesh('x': 4, 'y': 2, axis_types=(Auto, Auto))  mesh('dp'=2,'tp'=4)
 *   sdy.mesh @mesh = <["x"=2, "y"=2]>  shard.grid @grid(shape = 2x4)
 */
#include <string.h>

#include "mesh/refs.h"

static sw_rc read_size(sw_reader *r, int64_t *size, sw_diag *d) {
  if (sw_reader_accept(r, "?")) {
    *size = -1;
    return SW_OK;
  }
  return sw_reader_int(r, 1, SW_MAX_DEVICES, "the size of an axis", size, d);
}

static sw_rc next_axis(sw_reader *r, sw_mesh *m, sw_diag *d) {
  if (m->n_axes < SW_MAX_AXES) return SW_OK;
  return SW_FAIL_INPUT(d, sw_reader_span(r), "the mesh has more than %d axes", SW_MAX_AXES);
}

/* x, 'x' or "x" */
static bool read_axis_name(sw_reader *r, const char **name, size_t *n, bool *quoted) {
  const char *quote = sw_reader_accept(r, "'") ? "'" : sw_reader_accept(r, "\"") ? "\"" : NULL;
  *quoted = quote;
  return sw_reader_word(r, name, n) && (!quote || sw_reader_accept(r, quote));
}

/* axis_types=(Auto, Auto) */
static bool skip_types(sw_reader *r) {
  if (!sw_reader_accept(r, "axis_types")) return false;
  while (r->p < r->end && *r->p != ')') r->p++;
  return sw_reader_accept(r, ")");
}

static sw_rc read_named(sw_reader *r, sw_mesh *m, sw_diag *d) {
  do {
    if (m->n_axes > 0 && skip_types(r)) return SW_OK;
    SW_TRY(next_axis(r, m, d));
    sw_span at = sw_reader_span(r);
    const char *name;
    size_t n;
    bool quoted;
    if (!read_axis_name(r, &name, &n, &quoted)) return sw_reader_fail(r, "the name of an axis", d);
    if (n >= SW_AXIS_NAME_BYTES || (name[0] >= '0' && name[0] <= '9')) {
      return SW_FAIL_INPUT(d, at, "'%.*s' is no name of an axis; expected a letter and at most %d characters", (int)n,
                           name, SW_AXIS_NAME_BYTES - 1);
    }
    memcpy(m->axis[m->n_axes].name, name, n);
    if (!quoted || !sw_reader_accept(r, ":")) SW_TRY(sw_reader_expect(r, "=", d));
    SW_TRY(read_size(r, &m->axis[m->n_axes].size, d));
    m->n_axes++;
  } while (sw_reader_accept(r, ","));
  return SW_OK;
}

/* 2x4x?: the sizes alone. Words swallow 'x', so the text is cut by hand. */
static sw_rc read_sizes(sw_reader *r, sw_mesh *m, sw_diag *d) {
  const char *all_end = r->end;
  for (;;) {
    SW_TRY(next_axis(r, m, d));
    const char *p = r->p;
    while (p < all_end && *p != 'x' && *p != ' ' && *p != ')') p++;
    r->end = p;
    SW_TRY(read_size(r, &m->axis[m->n_axes].size, d));
    r->end = all_end;
    snprintf(m->axis[m->n_axes].name, SW_AXIS_NAME_BYTES, "a%d", m->n_axes);
    m->n_axes++;
    if (r->p == all_end || *r->p != 'x') return SW_OK;
    r->p++;
  }
}

static sw_rc read_ids(sw_reader *r, sw_arena *arena, sw_mesh *m, sw_diag *d) {
  SW_TRY(sw_mesh_verify(m, true, d));
  int64_t devices = sw_mesh_devices(m);
  int32_t *ids;
  SW_ARENA_NEW(ids, arena, devices, d);
  for (int64_t i = 0; i < devices; i++) {
    int64_t id;
    if (i > 0) SW_TRY(sw_reader_expect(r, ",", d));
    SW_TRY(sw_reader_int(r, 0, devices - 1, "a device id", &id, d));
    ids[i] = (int32_t)id;
  }
  m->device_ids = ids;
  return SW_OK;
}

/* @name and what follows it */
static bool open_named(sw_reader *r, const char *op, const char *const *then) {
  const char *name;
  size_t n;
  sw_reader ahead = *r;
  if (!sw_reader_accept(&ahead, op) || !sw_reader_accept(&ahead, "@") || !sw_reader_word(&ahead, &name, &n))
    return false;
  for (; *then; then++) {
    if (!sw_reader_accept(&ahead, *then)) return false;
  }
  *r = ahead;
  return true;
}

/* Steps over what a program writes before the axes of a mesh; gives what it writes after them. */
static const char *const *open_mesh(sw_reader *r) {
  static const char *const kNone[] = {NULL}, *const kClose[] = {")", NULL}, *const kSdyClose[] = {"]", ">", NULL};
  static const char *const kSdyOpen[] = {"=", "<", "[", NULL}, *const kShape[] = {"(", "shape", "=", NULL};
  sw_reader ahead = *r;
  if (open_named(r, "sdy.mesh", kSdyOpen)) return kSdyClose;
  if (open_named(r, "shard.grid", kShape) || open_named(r, "mesh.mesh", kShape)) return kClose;
  if (!sw_reader_accept(&ahead, "Mesh") && !sw_reader_accept(&ahead, "mesh")) return kNone;
  if (!sw_reader_accept(&ahead, "(")) return kNone;
  *r = ahead;
  return kClose;
}

sw_rc sw_mesh_parse(const char *text, sw_arena *arena, sw_mesh *out, sw_diag *d) {
  sw_mesh m = {0};
  sw_reader r = sw_reader_of(text, strlen(text), SW_NOWHERE);
  const char *const *close = open_mesh(&r);
  bool sizes_only = !sw_reader_at_end(&r) && ((*r.p >= '0' && *r.p <= '9') || *r.p == '?');
  if (sizes_only) {
    SW_TRY(read_sizes(&r, &m, d));
  } else if (!sw_reader_at_end(&r)) {
    SW_TRY(read_named(&r, &m, d));
  }
  for (; *close; close++) SW_TRY(sw_reader_expect(&r, *close, d));
  if (sw_reader_accept(&r, "ids") && m.n_axes > 0) {
    SW_TRY(sw_reader_expect(&r, "=", d));
    SW_TRY(read_ids(&r, arena, &m, d));
  }
  SW_TRY(sw_reader_expect_end(&r, d));
  SW_TRY(sw_mesh_verify(&m, false, d));
  *out = m;
  return SW_OK;
}

void sw_mesh_print(const sw_mesh *m, sw_text *out) {
  for (int i = 0; i < m->n_axes; i++) {
    sw_text_printf(out, "%s%s=", i ? "," : "", m->axis[i].name);
    if (m->axis[i].size < 0) sw_text_puts(out, "?");
    if (m->axis[i].size >= 0) sw_text_printf(out, "%lld", (long long)m->axis[i].size);
  }
  if (!m->device_ids || m->n_axes == 0) return;
  for (int64_t i = 0; i < sw_mesh_devices(m); i++) sw_text_printf(out, "%s%d", i ? "," : " ids=", m->device_ids[i]);
}

void sw_axis_ref_print(const sw_mesh *m, sw_axis_ref ref, sw_text *out) {
  sw_text_puts(out, m->axis[ref.axis].name);
  if (ref.pre == 1 && ref.size == m->axis[ref.axis].size) return;
  sw_text_printf(out, ":(%d)%d", ref.pre, ref.size);
}

void sw_axis_refs_print(const sw_mesh *m, const sw_axis_ref *refs, int n, sw_text *out) {
  sw_text_puts(out, "[");
  for (int i = 0; i < n; i++) {
    if (i) sw_text_puts(out, ",");
    sw_axis_ref_print(m, refs[i], out);
  }
  sw_text_puts(out, "]");
}

static sw_rc unknown_axis(const sw_mesh *m, sw_span at, const char *word, size_t n, sw_diag *d) {
  char names[SW_MAX_AXES * (SW_AXIS_NAME_BYTES + 2) + 1] = "";
  size_t used = 0;
  for (int i = 0; i < m->n_axes; i++) {
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", m->axis[i].name);
  }
  return SW_FAIL_INPUT(d, at, "axis '%.*s' is not in the mesh; expected one of %s", n > 40 ? 40 : (int)n, word, names);
}

sw_rc sw_axis_ref_read(const sw_mesh *m, sw_reader *r, sw_axis_ref *out, sw_diag *d) {
  bool quoted = sw_reader_accept(r, "\"");
  sw_span at = sw_reader_span(r);
  const char *word;
  size_t n;
  if (!sw_reader_word(r, &word, &n)) return sw_reader_fail(r, "an axis", d);
  if (quoted) SW_TRY(sw_reader_expect(r, "\"", d));
  int axis = sw_mesh_axis_named(m, word, n);
  if (axis < 0) return unknown_axis(m, at, word, n, d);
  *out = sw_axis_whole(m, axis);
  if (!sw_reader_accept(r, ":")) return SW_OK;
  int64_t pre, size;
  SW_TRY(sw_reader_expect(r, "(", d));
  SW_TRY(sw_reader_int(r, 1, SW_MAX_DEVICES, "the pre-size of a sub-axis", &pre, d));
  SW_TRY(sw_reader_expect(r, ")", d));
  SW_TRY(sw_reader_int(r, 1, SW_MAX_DEVICES, "the size of a sub-axis", &size, d));
  out->pre = (int32_t)pre;
  out->size = (int32_t)size;
  return sw_axis_refs_check(m, out, 1, at, d);
}

sw_rc sw_axis_ref_parse(const sw_mesh *m, const char **cursor, const char *end, sw_axis_ref *out, sw_diag *d) {
  sw_reader r = sw_reader_of(*cursor, (size_t)(end - *cursor), SW_NOWHERE);
  SW_TRY(sw_axis_ref_read(m, &r, out, d));
  *cursor = r.p;
  return SW_OK;
}

bool sw_mesh_is_unnamed(const sw_mesh *m) {
  for (int a = 0; a < m->n_axes; a++) {
    char name[16];
    snprintf(name, sizeof name, "a%d", a);
    if (strcmp(m->axis[a].name, name) != 0) return false;
  }
  return true;
}
