/* Meshes of a text, declared and written out. */
#include <ctype.h>
#include <string.h>

#include "mlir/shardy/shardy.h"

/* All of the text is one number. */
static bool read_mesh_number(const sw_ir_tree *t, sw_ir_span text, int64_t *out) {
  enum { DIGITS = 18 }; /* fit */
  uint32_t i = text.at + (sw_ir_starts(t, text, "-") ? 1 : 0);
  const bool is = i < text.end && text.end - i <= DIGITS;
  while (i < text.end && isdigit((unsigned char)t->s[i])) i++;
  return is && i == text.end && sw_ir_read_int(t, text, out);
}

/* "x"=2 */
static sw_rc read_mesh_axis(sw_sdy_text *x, sw_ir_span item, sw_mesh *m) {
  int64_t n;
  uint32_t cursor = 0;
  sw_ir_span key = item, size = item;
  if (x->t->s[item.at] != '"' || !sw_ir_next_entry(x->t, item, &cursor, &key, &size))
    return SW_SDY_FAIL(x, item.at, "found '%.*s'; expected an axis with its size, \"x\"=2", SW_IR_TEXT(x->t, item));
  if (m->n_axes == SW_MAX_AXES) return SW_SDY_FAIL(x, key.at, "the mesh has more than %d axes", SW_MAX_AXES);
  if (sw_ir_len(key) >= SW_AXIS_NAME_BYTES)
    return SW_SDY_FAIL(x, key.at, "the name of the axis is longer than %d bytes", SW_AXIS_NAME_BYTES - 1);
  if (!read_mesh_number(x->t, size, &n) || n < 1 || n > SW_MAX_DEVICES)
    return SW_SDY_FAIL(x, size.at, "axis \"%.*s\" has size '%.*s'; expected 1 to %d", SW_IR_TEXT(x->t, key),
                       SW_IR_TEXT(x->t, size), SW_MAX_DEVICES);
  memcpy(m->axis[m->n_axes].name, x->t->s + key.at, sw_ir_len(key));
  m->axis[m->n_axes++].size = n;
  return SW_OK;
}

/* A list that is given is not the plain order; without axes it is the id of the one device. */
static sw_rc check_ids(sw_sdy_text *x, sw_ir_span list, const sw_mesh *m, const sw_ir_ints *ids) {
  const int64_t devices = sw_mesh_devices(m);
  bool in_order = m->n_axes > 0;
  for (size_t i = 0; i < ids->n; i++) {
    in_order &= ids->at[i] == (int64_t)i;
    if (ids->at[i] < 0 || ids->at[i] >= SW_MAX_DEVICES)
      return SW_SDY_FAIL(x, list.at, "device id %lld; expected 0 or more, and less than %d", (long long)ids->at[i],
                         SW_MAX_DEVICES);
  }
  if ((int64_t)ids->n != devices)
    return SW_SDY_FAIL(x, list.at, "there are %zu device ids; expected %lld, one for each device", ids->n,
                       (long long)devices);
  return in_order ? SW_SDY_FAIL(x, list.at, "device ids are 0, 1, 2, ..., as without a list; expected no list") : SW_OK;
}

static sw_rc ends_in_comma(sw_sdy_text *x, sw_ir_span list) {
  const sw_ir_span in = sw_ir_trimmed(x->t, sw_ir_inside(x->t, list));
  return sw_ir_ends(x->t, in, ",") ? SW_SDY_FAIL(x, in.end - 1, "a list ends in a comma") : SW_OK;
}

static sw_rc read_numbers(sw_sdy_text *x, sw_ir_span list, sw_ir_ints *out) {
  uint32_t cursor = 0;
  sw_ir_span item;
  int64_t n;
  while (sw_ir_next_item(x->t, list, &cursor, &item)) {
    if (!read_mesh_number(x->t, item, &n))
      return SW_SDY_FAIL(x, item.at, "found '%.*s'; expected a device id", SW_IR_TEXT(x->t, item));
    SW_TRY(sw_array_push(out, n, x->d));
  }
  return ends_in_comma(x, list);
}

static sw_rc read_device_ids(sw_sdy_text *x, sw_ir_span list, sw_mesh *m) {
  sw_ir_ints ids = {0};
  int32_t *copy = NULL;
  sw_rc rc = read_numbers(x, list, &ids);
  if (!rc) rc = check_ids(x, list, m, &ids);
  if (!rc && !(copy = sw_arena_alloc(x->arena, ids.n, sizeof *copy, x->d))) rc = SW_E_RESOURCE;
  for (size_t i = 0; copy && i < ids.n; i++) copy[i] = (int32_t)ids.at[i];
  m->device_ids = copy;
  sw_array_free(&ids);
  return rc;
}

/* <["x"=2, "y"=4], device_ids=[...]>, from the angle on. */
static sw_rc read_mesh_text(sw_sdy_text *x, sw_ir_span text, sw_mesh *out) {
  sw_ir_span all = {text.at, sw_ir_inside(x->t, text).end + 1}, axes, item, key, value;
  uint32_t cursor = 0, at = 0;
  sw_diag why = {0};
  *out = (sw_mesh){0};
  if (!sw_ir_next_item(x->t, all, &cursor, &axes) || x->t->s[axes.at] != '[')
    return SW_SDY_FAIL(x, text.at, "expected a mesh, <[\"x\"=2, \"y\"=4]>");
  while (sw_ir_next_item(x->t, axes, &at, &item)) SW_TRY(read_mesh_axis(x, item, out));
  SW_TRY(ends_in_comma(x, axes));
  SW_TRY(ends_in_comma(x, all));
  sw_rc rc = sw_mesh_verify(out, true, &why);
  if (rc) return rc == SW_E_INPUT ? SW_SDY_FAIL(x, text.at, "%s", why.text) : rc;
  if (sw_ir_next_entry(x->t, all, &cursor, &key, &value)) {
    if (!sw_ir_is(x->t, key, "device_ids") || value.at == value.end || x->t->s[value.at] != '[')
      return SW_SDY_FAIL(x, key.at, "found '%.*s'; expected device_ids=[...]", SW_IR_TEXT(x->t, key));
    SW_TRY(read_device_ids(x, value, out));
  }
  rc = out->n_axes ? sw_mesh_verify(out, true, &why) : SW_OK;
  return rc == SW_E_INPUT ? SW_SDY_FAIL(x, value.at, "%s", why.text) : rc;
}

/* --- of the whole text -------------------------------------------------------------------------------------------- */

/* Texts of several modules, for tools that split them, are read as one: a name may come again. */
static bool is_split_text(const sw_ir_tree *t) { return strstr(t->s, "\n// -----") != NULL; }

static sw_rc declare_text_mesh(sw_sdy_text *x, const sw_ir_op *o) {
  sw_text_mesh m = {.name = sw_ir_mesh_name(x->t, o)};
  sw_ir_span value = sw_ir_mesh_value(x->t, o);
  bool fresh;
  if (!sw_ir_len(m.name) || !sw_ir_len(value))
    return SW_SDY_FAIL(x, o->text.at, "expected sdy.mesh @name = <[\"x\"=2]>");
  SW_TRY(read_mesh_text(x, value, &m.mesh));
  SW_TRY(sw_dict_put(&x->mesh_of, x->t->s + m.name.at, sw_ir_len(m.name), (int64_t)x->meshes.n, NULL, &fresh, x->d));
  if (!fresh && !is_split_text(x->t))
    return SW_SDY_FAIL(x, m.name.at, "mesh '@%.*s' is declared twice; expected a new name", SW_IR_TEXT(x->t, m.name));
  return sw_array_push(&x->meshes, m, x->d);
}

sw_rc sw_sdy_open(sw_sdy_text *x, const sw_ir_tree *t, sw_arena *arena, sw_diag *d) {
  *x = (sw_sdy_text){.t = t, .arena = arena, .d = d};
  for (uint32_t i = 0; i < t->ops.n; i++) {
    if (sw_ir_is(t, t->ops.at[i].name, "sdy.mesh")) SW_TRY(declare_text_mesh(x, &t->ops.at[i]));
  }
  return SW_OK;
}

void sw_sdy_close(sw_sdy_text *x) {
  sw_array_free(&x->meshes);
  sw_array_free(&x->read);
  sw_dict_deinit(&x->mesh_of);
  sw_dict_deinit(&x->read_of);
}

/* --- one of them -------------------------------------------------------------------------------------------------- */

static sw_rc find_written_out_mesh(sw_sdy_text *x, sw_ir_span text, int32_t *out) {
  sw_text_mesh m = {.name = text};
  int64_t *at = sw_dict_get(&x->mesh_of, x->t->s + text.at, sw_ir_len(text));
  if (!at) {
    SW_TRY(read_mesh_text(x, text, &m.mesh));
    SW_TRY(sw_dict_put(&x->mesh_of, x->t->s + text.at, sw_ir_len(text), (int64_t)x->meshes.n, &at, NULL, x->d));
    SW_TRY(sw_array_push(&x->meshes, m, x->d));
  }
  *out = (int32_t)*at;
  return SW_OK;
}

sw_rc sw_sdy_mesh_read(sw_sdy_text *x, sw_ir_span text, int32_t *out) {
  text = sw_ir_resolved(x->t, text);
  if (sw_ir_starts(x->t, text, "@")) {
    sw_ir_span name = sw_ir_unquoted(x->t, text);
    const int64_t *at = sw_dict_get(&x->mesh_of, x->t->s + name.at, sw_ir_len(name));
    if (!at) return SW_SDY_FAIL(x, text.at, "there is no mesh '@%.*s'", SW_IR_TEXT(x->t, name));
    *out = (int32_t)*at;
    return SW_OK;
  }
  sw_ir_span angle = text;
  while (angle.at < angle.end && x->t->s[angle.at] != '<') angle.at++;
  const sw_ir_span word = {text.at, angle.at};
  if (angle.at < angle.end && (sw_ir_is(x->t, word, "mesh") || sw_ir_is(x->t, word, "#sdy.mesh")))
    return find_written_out_mesh(x, angle, out);
  return SW_SDY_FAIL(x, text.at, "found '%.*s'; expected a mesh, @name or mesh<[\"x\"=2]>", SW_IR_TEXT(x->t, text));
}

bool sw_sdy_same_mesh(const sw_mesh *a, const sw_mesh *b) {
  bool same = a->n_axes == b->n_axes && !a->device_ids == !b->device_ids;
  for (int i = 0; same && i < a->n_axes; i++)
    same = a->axis[i].size == b->axis[i].size && strcmp(a->axis[i].name, b->axis[i].name) == 0;
  const size_t n = same && a->device_ids ? (size_t)sw_mesh_devices(a) : 0;
  return same && (!n || memcmp(a->device_ids, b->device_ids, n * sizeof *a->device_ids) == 0);
}
