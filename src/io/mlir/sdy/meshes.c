/* The meshes that a program declares, and which of them a sharding speaks of.
 *
 *   sdy.mesh @mesh = <["x"=2, "y"=4]>      sdy.mesh @old = <["m"=8]>
 *   <@old, [{"m"}, {}]>                    of @old, which has an axis that the graph's mesh has not: foreign
 *
 * The graph's mesh is the one given, or the first that the program declares.
 */
#include <string.h>

#include "io/mlir/sdy/sdy.h"

struct sw_sdy_mesh {
  sw_ir_span name;
  sw_mesh mesh;
  bool told; /* that it names axes which the graph's mesh has not */
};

/* <["x"=2]>, from its angle on; no axes: a mesh that says nothing (all on one device). */
static sw_rc read_mesh(sw_importer *m, sw_ir_span in, sw_mesh *out) {
  sw_text text = {0};
  *out = (sw_mesh){0};
  sw_ir_mesh_text(m->t, in, &text);
  sw_rc rc = text.rc;
  if (!rc && text.n) rc = sw_mesh_parse(sw_text_str(&text), &m->g->arena, out, m->d);
  sw_text_free(&text);
  return rc;
}

static sw_rc declare(sw_importer *m, const sw_ir_op *o, sw_sdy_mesh *out) {
  *out = (sw_sdy_mesh){.name = sw_ir_mesh_name(m->t, o)};
  return read_mesh(m, sw_ir_mesh_value(m->t, o), &out->mesh);
}

static sw_rc declare_all(sw_importer *m, sw_sdy_state *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->t->ops.n; i++) n += sw_ir_is(m->t, sw_im_op(m, i)->name, "sdy.mesh");
  SW_ARENA_NEW(s->meshes, &m->keep, n, m->d);
  for (uint32_t i = 0; i < m->t->ops.n && s->n_meshes < n; i++) {
    if (!sw_ir_is(m->t, sw_im_op(m, i)->name, "sdy.mesh")) continue;
    SW_TRY(declare(m, sw_im_op(m, i), &s->meshes[s->n_meshes++]));
  }
  return SW_OK;
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
  for (uint32_t i = next_inline(m->t, 0); i < m->t->n && !m->own_mesh.n_axes; i = next_inline(m->t, i + 1)) {
    SW_TRY(read_mesh(m, (sw_ir_span){i + (uint32_t)strlen("mesh"), m->t->n}, &m->own_mesh));
  }
  return SW_OK;
}

sw_rc sw_sdy_own_mesh(sw_importer *m, bool *known) {
  sw_sdy_state *s = sw_sdy_state_of(m);
  SW_TRY(declare_all(m, s));
  s->says_priorities = sw_sdy_says_priorities(m->t);
  if (s->n_meshes) m->own_mesh = (sw_mesh){0};
  m->has_named_meshes = s->n_meshes > 0;
  for (uint32_t i = 0; i < s->n_meshes && !m->own_mesh.n_axes; i++) m->own_mesh = s->meshes[i].mesh;
  return m->own_mesh.n_axes || *known ? SW_OK : read_inline_mesh(m);
}

static sw_sdy_mesh *named(const sw_importer *m, sw_ir_span name) {
  const sw_sdy_state *s = sw_sdy_state_of(m);
  for (uint32_t i = 0; i < s->n_meshes; i++) {
    if (sw_ir_same(m->t, s->meshes[i].name, name)) return &s->meshes[i];
  }
  return NULL;
}

/* What stands before the list of dims: @mesh, mesh<[...]>, or nothing. */
static sw_ir_span split_sharding(const sw_ir_tree *t, sw_ir_span sharding, sw_ir_span *dims) {
  sw_ir_span in = sw_ir_inside(t, sw_ir_resolved(t, sw_ir_trimmed(t, sharding))), mesh = {0, 0};
  uint32_t cursor = 0;
  *dims = in;
  if (sw_ir_len(in) && t->s[in.at] != '[' && sw_ir_next_item(t, in, &cursor, &mesh)) {
    mesh = sw_ir_trimmed(t, mesh);
    dims->at = mesh.end;
  }
  while (dims->at < dims->end && t->s[dims->at] != '[') dims->at++;
  return mesh;
}

sw_ir_span sw_sdy_dims(const sw_ir_tree *t, sw_ir_span sharding) {
  sw_ir_span dims;
  (void)split_sharding(t, sharding, &dims);
  return dims;
}

sw_rc sw_sdy_said(sw_importer *m, sw_ir_span sharding, sw_sdy_sharding *out) {
  *out = (sw_sdy_sharding){.mesh = m->own_mesh};
  sw_ir_span mesh = split_sharding(m->t, sharding, &out->dims);
  if (sw_ir_present(mesh) && m->t->s[mesh.at] == '@') {
    out->of = named(m, sw_ir_unquoted(m->t, mesh));
    if (!out->of) {
      return SW_IM_FAIL_AT(m, mesh.at, "there is no sdy.mesh '%.*s'", SW_IR_TEXT(m->t, mesh));
    }
    out->mesh = out->of->mesh;
  } else if (sw_ir_present(mesh)) {
    while (mesh.at < mesh.end && m->t->s[mesh.at] != '<') mesh.at++;
    SW_TRY(read_mesh(m, mesh, &out->mesh));
  }
  out->foreign = m->g->has_mesh && axis_beyond(&out->mesh, &m->g->mesh) != NULL;
  return SW_OK;
}

void sw_sdy_tell_foreign(sw_importer *m, const sw_sdy_sharding *s, uint32_t at) {
  if (!s->foreign || (s->of && s->of->told) || m->o->keep == SW_KEEP_NONE) return;
  sw_ir_span name = s->of ? s->of->name : (sw_ir_span){0, 0};
  if (s->of) s->of->told = true;
  sw_im_warn(m, at,
             "the program's mesh %s%.*s%shas an axis '%s', which the given mesh has not: its shardings are left out",
             s->of ? "'@" : "", SW_IR_TEXT(m->t, name), s->of ? "' " : "", axis_beyond(&s->mesh, &m->g->mesh));
}
