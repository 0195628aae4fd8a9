/* Shardings that the program has already, as annotations of the graph (annotate.h); in which mesh it is planned. */
#include "mlir/import/import_passes.h"
#include "mlir/import/annotate.h"

#include <string.h>

#include "mlir/import/dialect.h"

/* --- the mesh ----------------------------------------------------------------------------------------------------- */

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
  for (int a = 0; a < m->own_mesh.n_axes && m->o->open_axis; a++) {
    if (m->own_mesh.axis[a].size >= 0) continue;
    m->own_mesh.axis[a].size = m->o->open_axis;
    m->open_axes |= UINT32_C(1) << a;
  }
}

sw_rc sw_im_find_mesh(sw_importer *m) {
  SW_TRY(sw_im_find_own_mesh(m));
  if (!m->o->mesh) close_axes(m);
  const sw_mesh *own = m->own_mesh.n_axes ? &m->own_mesh : NULL;
  const sw_mesh *given = m->o->mesh ? m->o->mesh : own ? NULL : m->o->fallback;
  const sw_mesh *used = given && !(own && resize_own_mesh(&m->own_mesh, given)) ? given : own;
  if (used) sw_graph_set_mesh(m->g, used);
  sw_graph_set_compiler(m->g, "xla");
  return SW_OK;
}

/* --- annotations -------------------------------------------------------------------------------------------------- */

sw_rc sw_im_add_annotation(sw_importer *m, const sw_im_target *of, const sw_sharding *s, uint32_t open, uint32_t at) {
  uint32_t all = s->rank >= 32 ? UINT32_MAX : (UINT32_C(1) << s->rank) - 1;
  if (s->rank > 0 && open == all && !s->n_refs && !s->n_partial && !of->n_kept) return SW_OK; /* says nothing */
  sw_annotation a = {.value = of->value,
                     .op = -1,
                     .sharding = *s,
                     .open_dims = open,
                     .n_kept = of->n_kept,
                     .kept = of->kept,
                     .required = !of->hint,
                     .for_users = of->use != NULL || of->all_uses,
                     .n_users = of->use != NULL,
                     .users = of->use,
                     .span = sw_ir_place(m->t, at)};
  return sw_graph_add_annotation(m->g, &a, m->d);
}

/* Axes on a dim of one element leave it to one device of each group: a step of some routes, which no op gives. */
void sw_im_drop_idle_axes(const sw_type *type, sw_sharding *s) {
  uint8_t n = 0;
  if (s->offsets || s->halos) return; /* lists of each dim that is cut */
  for (int i = 0; i < s->n_refs; i++) {
    if (type->dims[s->dim_of[i]] == 1) continue;
    s->refs[n] = s->refs[i];
    s->dim_of[n++] = s->dim_of[i];
  }
  memmove(s->refs + n, s->refs + s->n_refs, s->n_partial * sizeof *s->refs);
  s->n_refs = n;
}

sw_rc sw_im_annotate_as(sw_importer *m, sw_id value, const sw_sharding *said, bool required, uint32_t at) {
  const sw_type *type = &m->g->values[value].type;
  sw_sharding s = *said;
  bool made = m->g->values[value].def >= 0;
  if (made && sw_type_elements(type) == 0) return SW_OK;
  if (made) sw_im_drop_idle_axes(type, &s);
  return sw_im_add_annotation(m, &(sw_im_target){.value = value, .hint = !required}, &s, 0, at);
}

sw_rc sw_im_annotate_uses_as(sw_importer *m, sw_id value, const sw_sharding *said, const sw_value_use *use,
                             bool required, uint32_t at) {
  const sw_type *type = &m->g->values[value].type;
  sw_sharding s = *said;
  if (sw_type_elements(type) == 0) return SW_OK;
  if (!use) sw_im_drop_idle_axes(type, &s);
  return sw_im_add_annotation(m, &(sw_im_target){.value = value, .use = use, .all_uses = !use, .hint = !required}, &s,
                              0, at);
}

static sw_rc annotate_target(sw_importer *m, const sw_im_target *of, sw_ir_span sharding, uint32_t at) {
  const sw_value *v = &m->g->values[of->value];
  sharding = sw_ir_resolved(m->t, sw_ir_trimmed(m->t, sharding));
  if (!m->g->written->has_mesh || !sw_ir_len(sharding)) return SW_OK;
  bool made = !of->use && v->def >= 0;
  if (made && sw_type_elements(&v->type) == 0) return SW_OK; /* nothing to cut: reshapes of it have no loops */
  return sw_im_annotate_said(m, of, sharding, at);
}

sw_rc sw_im_annotate(sw_importer *m, sw_id value, sw_ir_span sharding, uint32_t open, uint32_t at) {
  return annotate_target(m, &(sw_im_target){.value = value, .open = open}, sharding, at);
}

sw_rc sw_im_same_value(sw_importer *m, uint32_t op, sw_id x, sw_id *y) {
  sw_im_attrs a = {.n = 0};
  sw_im_shape(&a, &m->g->values[x].type);
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_RESHAPE, .n_operands = 1, .operands = &x, .attrs = &a}, y);
}

sw_rc sw_im_constrained(sw_importer *m, uint32_t op, sw_ir_span sharding, uint32_t open) {
  sw_id x = sw_im_operand(m, op, 0), y;
  if (m->o->keep != SW_KEEP_ALL || m->g->values[x].type.dtype == SW_TOKEN) return sw_im_bind(m, op, 0, x, false);
  SW_TRY(sw_im_same_value(m, op, x, &y));
  return sw_im_annotate(m, y, sharding, open, sw_im_op(m, op)->text.at);
}

sw_rc sw_im_annotate_arg(sw_importer *m, uint32_t i, sw_id value) {
  if (m->o->keep == SW_KEEP_NONE) return SW_OK;
  sw_ir_span v = sw_im_sharding_attr(m->t, sw_im_arg_attrs(m->t, sw_im_op(m, m->main), i));
  return sw_ir_present(v) ? sw_im_annotate(m, value, v, 0, v.at) : SW_OK;
}

sw_rc sw_im_annotate_output(sw_importer *m, sw_id value, int32_t index) {
  if (m->o->keep == SW_KEEP_NONE) return SW_OK;
  sw_ir_span v = sw_im_sharding_attr(m->t, m->passes->declared_attrs[index]);
  sw_value_use use = {-1, index};
  return sw_ir_present(v) ? annotate_target(m, &(sw_im_target){value, &use}, v, v.at) : SW_OK;
}
