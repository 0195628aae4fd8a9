/* The meshes that a program declares, and which of them a sharding speaks of.
 *
 *   sdy.mesh @mesh = <["x"=2, "y"=4]>      sdy.mesh @old = <["m"=8]>
 *   <@old, [{"m"}, {}]>                    of @old, which has an axis that the graph's mesh has not: foreign
 *
 * The graph's mesh is the one given, or the first that the program declares.
 */
#include <string.h>

#include "io/mlir/annotate/annotate.h"
#include "io/mlir/annotate/grids.h"

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
  if (!sw_ir_present(in)) { /* @mesh = <["x"=2]>, or an alias of such */
    in = (sw_ir_span){o->body.at, o->body.end};
    while (in.at < in.end && m->t->s[in.at] != '=') in.at++;
    in.at += in.at < in.end;
    in = sw_ir_resolved(m->t, sw_ir_trimmed(m->t, in));
  }
  while (in.at < in.end && m->t->s[in.at] != '<') in.at++;
  *out = (sw_im_named_mesh){.name =
                                o->generic ? sw_ir_unquoted(m->t, sw_ir_entry(m->t, o->props, "sym_name")) : o->symbol};
  return read_mesh(m, in, &out->mesh);
}

static sw_rc declare_all(sw_importer *m) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->t->ops.n; i++) n += sw_ir_is(m->t, sw_im_op(m, i)->name, "sdy.mesh");
  SW_ARENA_NEW(sw_im_annotations_of(m)->meshes, &m->keep, n, m->d);
  for (uint32_t i = 0; i < m->t->ops.n && sw_im_annotations_of(m)->n_meshes < n; i++) {
    if (sw_ir_is(m->t, sw_im_op(m, i)->name, "sdy.mesh")) {
      SW_TRY(declare(m, sw_im_op(m, i), &sw_im_annotations_of(m)->meshes[sw_im_annotations_of(m)->n_meshes++]));
    }
  }
  return SW_OK;
}

/* A mesh that is given by its sizes alone (2x4, axes named a0, a1) is the program's own in these sizes, when that has
 * as many axes. */
static bool resize_own_mesh(sw_mesh *own, const sw_mesh *given) {
  if (own->n_axes != given->n_axes || !sw_mesh_is_unnamed(given)) return false;
  for (int a = 0; a < own->n_axes; a++) {
    if (own->axis[a].size != given->axis[a].size || given->device_ids) own->device_ids = given->device_ids;
    own->axis[a].size = given->axis[a].size;
  }
  return true;
}

/* Sizes that nobody says are taken for another one, if that is asked for. */
static void close_axes(sw_importer *m) {
  for (int a = 0; a < sw_im_annotations_of(m)->own_mesh.n_axes && m->o->open_axis; a++) {
    if (sw_im_annotations_of(m)->own_mesh.axis[a].size >= 0) continue;
    sw_im_annotations_of(m)->own_mesh.axis[a].size = m->o->open_axis;
    m->open_axes |= UINT32_C(1) << a;
  }
}

/* The program's grid in the mesh that it is planned on, which may be another than its own. */
static sw_rc place_grid(sw_importer *m, const sw_mesh *given) {
  sw_mesh own;
  bool counts = sw_im_annotations_of(m)->grid && !sw_im_annotations_of(m)->n_meshes;
  if (!sw_im_annotations_of(m)->grid || m->cut) return SW_OK;
  SW_TRY(sw_im_grid_as_mesh(m, sw_im_annotations_of(m)->grid, &own, sw_im_annotations_of(m)->grid_refs));
  if (m->o->mesh || m->open_axes)
    sw_im_grid_on_mesh(sw_im_annotations_of(m)->grid, &own, given, sw_im_annotations_of(m)->grid_refs);
  return counts ? sw_im_grid_is_known(m, sw_im_annotations_of(m)->grid, given) : SW_OK;
}

/* The first axis of `own` that `mesh` has not; NULL: it has all. */
static const char *axis_beyond(const sw_mesh *own, const sw_mesh *mesh) {
  for (int a = 0; a < own->n_axes; a++) {
    if (sw_mesh_axis_named(mesh, own->axis[a].name, strlen(own->axis[a].name)) < 0) return own->axis[a].name;
  }
  return NULL;
}

/* Behind strings and comments, where the next "mesh<[" begins; the end of the text: nowhere. */
static uint32_t next_inline(const sw_ir_tree *t, uint32_t i) {
  static const char kWord[] = "mesh<[";
  while (i < t->n && strncmp(t->s + i, kWord, sizeof kWord - 1) != 0) {
    sw_ir_flaw ignored;
    uint32_t from = i;
    if (t->s[i] == '/' && t->s[i + 1] == '/') i += (uint32_t)strcspn(t->s + i, "\n");
    if (t->s[i] == '"' && sw_ir_string(t->s, t->n, &i, &ignored)) i = from; /* not closed: a mark */
    if (i == from) i++;
  }
  return i;
}

/* Where none is declared, the first one that a sharding writes out: #sdy.sharding<mesh<["x"=2]>, ...>. */
static sw_rc read_inline_mesh(sw_importer *m) {
  if (!strstr(m->t->s, "mesh<[")) return SW_OK;
  for (uint32_t i = next_inline(m->t, 0); i < m->t->n && !sw_im_annotations_of(m)->own_mesh.n_axes;
       i = next_inline(m->t, i + 1)) {
    SW_TRY(read_mesh(m, (sw_ir_span){i + (uint32_t)strlen("mesh"), m->t->n}, &sw_im_annotations_of(m)->own_mesh));
  }
  return SW_OK;
}

sw_rc sw_im_mesh(sw_importer *m) {
  SW_TRY(declare_all(m));
  SW_TRY(sw_im_read_grids(m));
  for (uint32_t i = 0; i < sw_im_annotations_of(m)->n_meshes && !sw_im_annotations_of(m)->own_mesh.n_axes; i++)
    sw_im_annotations_of(m)->own_mesh = sw_im_annotations_of(m)->meshes[i].mesh;
  if (!sw_im_annotations_of(m)->own_mesh.n_axes && !sw_im_annotations_of(m)->grid) SW_TRY(read_inline_mesh(m));
  if (!sw_im_annotations_of(m)->n_meshes && !m->cut && sw_im_annotations_of(m)->grid)
    SW_TRY(sw_im_grid_as_mesh(m, sw_im_annotations_of(m)->grid, &sw_im_annotations_of(m)->own_mesh,
                              sw_im_annotations_of(m)->grid_refs));
  if (!m->o->mesh) close_axes(m);
  const sw_mesh *own = sw_im_annotations_of(m)->own_mesh.n_axes ? &sw_im_annotations_of(m)->own_mesh : NULL;
  const sw_mesh *given = m->o->mesh ? m->o->mesh : own ? NULL : m->o->fallback;
  const sw_mesh *used = given && !(own && resize_own_mesh(&sw_im_annotations_of(m)->own_mesh, given)) ? given : own;
  m->g->has_mesh = used != NULL;
  if (used) m->g->mesh = *used;
  SW_TRY(place_grid(m, &m->g->mesh));
  for (uint32_t i = 0; i < sw_im_annotations_of(m)->n_meshes; i++) {
    sw_im_annotations_of(m)->meshes[i].foreign =
        axis_beyond(&sw_im_annotations_of(m)->meshes[i].mesh, &m->g->mesh) != NULL;
  }
  sw_ir_span attrs = m->module == SW_IR_NONE ? (sw_ir_span){0, 0} : sw_im_op(m, m->module)->attrs;
  sw_ir_span said = sw_ir_entry(m->t, attrs, "mhlo.num_partitions");
  sw_im_annotations_of(m)->one_device = sw_ir_present(said) &&
                                        sw_ir_read_int(m->t, said, &sw_im_annotations_of(m)->partitions) &&
                                        sw_im_annotations_of(m)->partitions == 1;
  return SW_OK;
}

static sw_im_named_mesh *named(const sw_importer *m, sw_ir_span name) {
  for (uint32_t i = 0; i < sw_im_annotations_of(m)->n_meshes; i++) {
    if (sw_ir_same(m->t, sw_im_annotations_of(m)->meshes[i].name, name)) return &sw_im_annotations_of(m)->meshes[i];
  }
  return NULL;
}

sw_rc sw_im_said(sw_importer *m, sw_ir_span sharding, sw_im_sharding *out) {
  sw_ir_span in = sw_ir_inside(m->t, sw_ir_resolved(m->t, sw_ir_trimmed(m->t, sharding))), item;
  uint32_t cursor = 0;
  *out = (sw_im_sharding){.mesh = sw_im_annotations_of(m)->own_mesh, .dims = in};
  if (sw_ir_len(in) && m->t->s[in.at] != '[' && sw_ir_next_item(m->t, in, &cursor, &item)) {
    item = sw_ir_trimmed(m->t, item);
    out->dims.at = item.end;
    out->of = m->t->s[item.at] == '@' ? named(m, sw_ir_unquoted(m->t, item)) : NULL;
    if (m->t->s[item.at] == '@' && !out->of) {
      return SW_FAIL_INPUT(m->d, sw_ir_place(m->t, item.at), "there is no sdy.mesh '%.*s'", (int)sw_ir_len(item),
                           m->t->s + item.at);
    }
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
