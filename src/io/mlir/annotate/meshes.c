/* The meshes that a program declares, and which of them a sharding speaks of.
 *
 *   sdy.mesh @mesh = <["x"=2, "y"=4]>      sdy.mesh @old = <["m"=8]>
 *   <@old, [{"m"}, {}]>                    of @old, which has an axis that the graph's mesh has not: foreign
 *
 * The graph's mesh is the one given, or the first that the program declares.
 */
#include <string.h>

#include "io/mlir/import/import.h"

struct sw_im_named_mesh {
  sw_ir_span name;
  sw_mesh mesh;
  bool foreign, told; /* names axes that the graph's mesh has not; that was said */
};

/* <["x"=2, "y"=4]> as x=2,y=4. */
static void mesh_text(const sw_ir_tree *t, sw_ir_span in, sw_text *out) {
  uint32_t at = in.at;
  while (at < in.end && t->s[at] != '[') at++;
  sw_ir_span list = sw_ir_inside(t, (sw_ir_span){at, in.end}), key, size;
  uint32_t cursor = 0;
  while (sw_ir_next_entry(t, list, &cursor, &key, &size)) {
    sw_text_printf(out, "%s%.*s=%.*s", out->n ? "," : "", (int)sw_ir_len(key), t->s + key.at, (int)sw_ir_len(size),
                   t->s + size.at);
  }
  sw_ir_span ids = sw_ir_entry(t, in, "device_ids");
  if (!sw_ir_present(ids) || !out->n) return;
  sw_ir_span inside = sw_ir_inside(t, ids);
  sw_text_puts(out, " ids=");
  for (at = inside.at; at < inside.end; at++) {
    if (t->s[at] != ' ') sw_text_append(out, t->s + at, 1);
  }
}

/* <["x"=2]>, from its angle on; no axes: a mesh that says nothing (all on one device). */
static sw_rc read_mesh(sw_importer *m, sw_ir_span in, sw_mesh *out) {
  sw_text text = {0};
  *out = (sw_mesh){0};
  mesh_text(m->t, sw_ir_inside(m->t, in), &text);
  sw_rc rc = text.rc;
  if (!rc && text.n) rc = sw_mesh_parse(sw_text_str(&text), &m->g->arena, out, m->d);
  sw_text_free(&text);
  return rc;
}

static sw_rc declare(sw_importer *m, const sw_ir_op *o, sw_im_named_mesh *out) {
  sw_ir_span in = sw_ir_attr(m->t, o, "mesh", NULL);
  if (!sw_ir_present(in)) in = (sw_ir_span){o->body.at, o->body.end};
  while (in.at < in.end && m->t->s[in.at] != '<') in.at++;
  *out = (sw_im_named_mesh){.name =
                                o->generic ? sw_ir_unquoted(m->t, sw_ir_entry(m->t, o->props, "sym_name")) : o->symbol};
  return read_mesh(m, in, &out->mesh);
}

static sw_rc declare_all(sw_importer *m) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->t->ops.n; i++) n += sw_ir_is(m->t, sw_im_op(m, i)->name, "sdy.mesh");
  SW_ARENA_NEW(m->meshes, &m->keep, n, m->d);
  for (uint32_t i = 0; i < m->t->ops.n && m->n_meshes < n; i++) {
    if (sw_ir_is(m->t, sw_im_op(m, i)->name, "sdy.mesh")) {
      SW_TRY(declare(m, sw_im_op(m, i), &m->meshes[m->n_meshes++]));
    }
  }
  return SW_OK;
}

/* Is the mesh given by its sizes alone (2x4, axes named a0, a1), and these are those of the program's own? Then it is
 * that one. */
static bool is_own_mesh(const sw_mesh *own, const sw_mesh *given) {
  if (own->n_axes != given->n_axes) return false;
  for (int a = 0; a < own->n_axes; a++) {
    char name[16];
    snprintf(name, sizeof name, "a%d", a);
    if (strcmp(given->axis[a].name, name) != 0 || given->axis[a].size != own->axis[a].size) return false;
  }
  return true;
}

/* The first axis of `own` that `mesh` has not; NULL: it has all. */
static const char *axis_beyond(const sw_mesh *own, const sw_mesh *mesh) {
  for (int a = 0; a < own->n_axes; a++) {
    if (sw_mesh_axis_named(mesh, own->axis[a].name, strlen(own->axis[a].name)) < 0) return own->axis[a].name;
  }
  return NULL;
}

sw_rc sw_im_mesh(sw_importer *m) {
  SW_TRY(declare_all(m));
  for (uint32_t i = 0; i < m->n_meshes && !m->own_mesh.n_axes; i++) m->own_mesh = m->meshes[i].mesh;
  if (!m->n_meshes && !m->cut) SW_TRY(sw_im_grid_as_mesh(m, &m->own_mesh));
  const sw_mesh *own = m->own_mesh.n_axes ? &m->own_mesh : NULL;
  const sw_mesh *given = m->o->mesh ? m->o->mesh : own ? NULL : m->o->fallback;
  const sw_mesh *used = given && !(own && is_own_mesh(own, given)) ? given : own;
  m->g->has_mesh = used != NULL;
  if (used) m->g->mesh = *used;
  for (uint32_t i = 0; i < m->n_meshes; i++) {
    m->meshes[i].foreign = axis_beyond(&m->meshes[i].mesh, &m->g->mesh) != NULL;
  }
  sw_ir_span attrs = m->module == SW_IR_NONE ? (sw_ir_span){0, 0} : sw_im_op(m, m->module)->attrs;
  sw_ir_span said = sw_ir_entry(m->t, attrs, "mhlo.num_partitions");
  m->one_device = sw_ir_present(said) && sw_ir_read_int(m->t, said, &m->partitions) && m->partitions == 1;
  return SW_OK;
}

static sw_im_named_mesh *named(const sw_importer *m, sw_ir_span name) {
  for (uint32_t i = 0; i < m->n_meshes; i++) {
    sw_ir_span own = m->meshes[i].name;
    if (sw_ir_len(own) == sw_ir_len(name) && memcmp(m->t->s + own.at, m->t->s + name.at, sw_ir_len(own)) == 0) {
      return &m->meshes[i];
    }
  }
  return NULL;
}

sw_rc sw_im_said(sw_importer *m, sw_ir_span sharding, sw_im_sharding *out) {
  sw_ir_span in = sw_ir_inside(m->t, sw_ir_resolved(m->t, sw_ir_trimmed(m->t, sharding))), item;
  uint32_t cursor = 0;
  *out = (sw_im_sharding){.mesh = m->own_mesh, .dims = in};
  if (sw_ir_len(in) && m->t->s[in.at] != '[' && sw_ir_next_item(m->t, in, &cursor, &item)) {
    item = sw_ir_trimmed(m->t, item);
    out->dims.at = item.end;
    out->of = m->t->s[item.at] == '@' ? named(m, sw_ir_unquoted(m->t, item)) : NULL;
    if (m->t->s[item.at] == '@') {
      if (out->of) out->mesh = out->of->mesh;
    } else {
      while (item.at < item.end && m->t->s[item.at] != '<') item.at++;
      SW_TRY(read_mesh(m, item, &out->mesh));
    }
  }
  while (out->dims.at < out->dims.end && m->t->s[out->dims.at] != '[') out->dims.at++;
  out->foreign = m->g->has_mesh && (out->of ? out->of->foreign : axis_beyond(&out->mesh, &m->g->mesh) != NULL);
  return SW_OK;
}

void sw_im_tell_foreign(sw_importer *m, const sw_im_sharding *s, uint32_t at) {
  if (!s->foreign || (s->of && s->of->told) || m->o->keep == SW_KEEP_NONE) return;
  sw_ir_span name = s->of ? s->of->name : (sw_ir_span){0, 0};
  if (s->of) s->of->told = true;
  sw_im_warn(m, at,
             "the program's mesh %s%.*s%shas an axis '%s', which the given mesh has not: its shardings are left out",
             s->of ? "'@" : "", (int)sw_ir_len(name), m->t->s + name.at, s->of ? "' " : "",
             axis_beyond(&s->mesh, &m->g->mesh));
}
