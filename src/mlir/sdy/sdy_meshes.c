/* The meshes that a program's shardings are over, and what a sharding is over the graph's.
 *
 *   sdy.mesh @mesh = <["x"=2, "y"=4]>      sdy.mesh @old = <["m"=8]>
 *   <@old, [{"m"}, {}]>                    over @old, which has an axis that the graph's mesh has not: foreign
 *
 * The graph's mesh is the one given, or the first that the program declares.
 */
#include <string.h>

#include "mlir/sdy/sdy.h"

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
  sw_sdy_text *x = sw_sdy_state_of(m)->text;
  if (!strstr(m->t->s, "mesh<[")) return SW_OK;
  for (uint32_t i = next_inline(m->t, 0); i < m->t->n && !m->own_mesh.n_axes; i = next_inline(m->t, i + 1)) {
    const uint32_t angle = i + (uint32_t)strlen("mesh");
    int32_t mesh;
    SW_TRY(sw_sdy_mesh_read(x, (sw_ir_span){i, sw_ir_inside(m->t, (sw_ir_span){angle, m->t->n}).end + 1}, &mesh));
    m->own_mesh = x->meshes.at[mesh].mesh;
  }
  return SW_OK;
}

sw_rc sw_sdy_own_mesh(sw_importer *m, bool *known) {
  sw_sdy_state *s = sw_sdy_state_of(m);
  SW_ARENA_NEW(s->text, &m->keep, 1, m->d);
  s->owns_text = true;
  SW_TRY(sw_sdy_open(s->text, m->t, &m->g->arena, m->d)); /* the graph's mesh has ids of it */
  s->says_priorities = sw_sdy_says_priorities(m->t);
  m->has_named_meshes = s->text->meshes.n > 0;
  if (m->has_named_meshes) m->own_mesh = (sw_mesh){0};
  for (size_t i = 0; i < s->text->meshes.n && !m->own_mesh.n_axes; i++) m->own_mesh = s->text->meshes.at[i].mesh;
  return m->own_mesh.n_axes || *known ? SW_OK : read_inline_mesh(m);
}

sw_rc sw_sdy_said(sw_importer *m, sw_ir_span sharding, sw_sdy_sharding *out) {
  sw_sdy_text *x = sw_sdy_state_of(m)->text;
  if (!x) return SW_IM_FAIL_AT(m, sharding.at, "a sharding stands where meshes are not looked at"); /* an op alone */
  x->d = m->d;
  SW_TRY(sw_open_sharding_read(x, sharding, &out->own));
  out->mesh = x->meshes.at[out->own.mesh].mesh;
  out->foreign = m->g->written->has_mesh && axis_beyond(&out->mesh, &m->g->written->mesh) != NULL;
  return SW_OK;
}

/* The same axis of another mesh, or the same part of it. */
static sw_rc axis_in_other_mesh(const sw_mesh *from, sw_axis_ref a, const sw_mesh *to, sw_axis_ref *out, sw_diag *d) {
  const char *name = from->axis[a.axis].name;
  const int axis = sw_mesh_axis_named(to, name, strlen(name));
  if (axis < 0) return SW_FAIL_INPUT(d, SW_NOWHERE, "axis '%s' is not in the mesh", name);
  *out = sw_axis_whole(to, axis);
  if (a.size == from->axis[a.axis].size) return SW_OK;
  if (to->axis[axis].size % ((int64_t)a.pre * a.size))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "'%s:(%d)%d' is no part of an axis of size %lld", name, a.pre, a.size,
                         (long long)to->axis[axis].size);
  *out = (sw_axis_ref){axis, a.pre, a.size};
  return SW_OK;
}

sw_rc sw_sdy_over(const sw_sdy_sharding *said, const sw_mesh *mesh, int rank, sw_sharding *out, sw_diag *d) {
  const sw_sharding *own = &said->own.cut;
  sw_axis_ref a;
  *out = sw_sharding_replicated(rank);
  for (int i = 0; i < own->n_refs + own->n_partial; i++) {
    SW_TRY(axis_in_other_mesh(&said->mesh, own->refs[i], mesh, &a, d));
    if (i < own->n_refs)
      (void)sw_sharding_push(out, own->dim_of[i], a);
    else
      (void)sw_sharding_push_partial(out, (sw_reduction)own->partial_kind, a);
  }
  return SW_OK;
}

sw_rc sw_sdy_kept(const sw_sdy_sharding *said, const sw_mesh *mesh, sw_axis_ref *out, sw_diag *d) {
  for (int i = 0; i < said->own.n_replicated; i++)
    SW_TRY(axis_in_other_mesh(&said->mesh, said->own.replicated[i], mesh, &out[i], d));
  return SW_OK;
}

void sw_sdy_tell_foreign(sw_importer *m, const sw_sdy_sharding *s, uint32_t at) {
  sw_text_mesh *of = &sw_sdy_state_of(m)->text->meshes.at[s->own.mesh];
  if (!s->foreign || of->told || m->o->keep == SW_KEEP_NONE) return;
  const bool named = m->t->s[of->name.at] != '<';
  of->told = true;
  sw_im_warn(m, at,
             "the program's mesh %s%.*s%shas an axis '%s', which the given mesh has not: its shardings are left out",
             named ? "'@" : "", named ? (int)sw_ir_len(of->name) : 0, m->t->s + of->name.at, named ? "' " : "",
             axis_beyond(&s->mesh, &m->g->written->mesh));
}
