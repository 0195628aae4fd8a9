/* Whole programs annotated in the shard dialect, as `--emit shard` writes them.
 *
 *   shard.grid @g(shape = 2x4) {shardwright.axes = ["x", "y"]}                the mesh, where no sdy.mesh is there
 *   %s = shard.sharding @g split_axes = [[0], [1]] : !shard.sharding
 *   %y = shard.shard %x to %s : tensor<8x8xf32>                               %x is cut so
 *   %u = shard.shard %y to %s annotate_for_users : tensor<8x8xf32>            and so where %u is used: a reshape of
 * nothing
 */
#include <string.h>

#include "io/mlir/import/import.h"

/* The axes' names, in place of a0, a1, ...; parts of axes ("x:(1)2") are axes of their own. */
static void name_axes(sw_importer *m, const sw_ir_op *o, sw_mesh *mesh) {
  sw_ir_span names = sw_ir_attr(m->t, o, "shardwright.axes", NULL), name;
  uint32_t cursor = 0;
  for (int a = 0; a < mesh->n_axes && sw_ir_present(names) && sw_ir_next_item(m->t, names, &cursor, &name); a++) {
    name = sw_ir_unquoted(m->t, name);
    if (memchr(m->t->s + name.at, ':', sw_ir_len(name)) || sw_ir_len(name) >= SW_AXIS_NAME_BYTES) continue;
    snprintf(mesh->axis[a].name, SW_AXIS_NAME_BYTES, "%.*s", (int)sw_ir_len(name), m->t->s + name.at);
  }
}

sw_rc sw_im_grid_as_mesh(sw_importer *m, sw_mesh *out) {
  *out = (sw_mesh){0};
  for (uint32_t i = 0; i < m->t->ops.n && !out->n_axes; i++) {
    const sw_ir_op *o = sw_im_op(m, i);
    sw_diag why = {0};
    if (!sw_ir_is(m->t, o->name, "shard.grid") || o->generic) continue;
    uint32_t end = o->symbol.end; /* (shape = 2x4) */
    while (end < o->text.end && m->t->s[end] != ')') end++;
    const char *text = sw_im_string(m, (sw_ir_span){o->name.at, end < o->text.end ? end + 1 : end});
    sw_rc rc = sw_mesh_parse(text, &m->g->arena, out, &why);
    if (rc && rc != SW_E_INPUT) return rc;
    if (rc) *out = (sw_mesh){0}; /* sizes that are not known: no mesh */
    name_axes(m, o, out);
  }
  return SW_OK;
}

/* The op that gives operand `use`. */
static const sw_ir_op *sharding_of(const sw_importer *m, uint32_t op, uint32_t use) {
  uint32_t slot = m->names->use[sw_im_op(m, op)->first_use + use];
  for (uint32_t i = op; i-- > 0;) {
    const sw_ir_op *o = sw_im_op(m, i);
    if (sw_ir_is(m->t, o->name, "shard.sharding") && o->n_results == 1 && m->names->result[o->first_result] == slot) {
      return o;
    }
  }
  return NULL;
}

/* In the native form, which names axes: what the op says, and sums that are not done yet. */
static sw_rc read_sharding(sw_importer *m, uint32_t op, const sw_ir_op *said, int rank, sw_text *out, sw_diag *why) {
  sw_sharding s;
  sw_ir_span partial = sw_ir_unquoted(m->t, sw_ir_attr(m->t, sw_im_op(m, op), "shardwright.partial", NULL));
  sw_ir_span text = {said->symbol.end, said->body.end};
  SW_TRY(sw_sharding_parse_as(&m->own_mesh, rank, SW_FORM_SHARD, m->t->s + text.at, sw_ir_len(text),
                              sw_ir_place(m->t, text.at), &m->scratch, &s, why));
  if (s.offsets || s.halos) sw_im_warn(m, said->text.at, "offsets and halos of shardings are left out");
  s.offsets = s.halos = NULL;
  sw_sharding_print(&m->own_mesh, &s, out);
  if (sw_ir_len(partial)) sw_text_printf(out, " partial %.*s", (int)sw_ir_len(partial), m->t->s + partial.at);
  return out->rc;
}

static sw_rc annotate(sw_importer *m, uint32_t op, sw_id value) {
  const sw_ir_op *said = sharding_of(m, op, 1);
  const sw_type *t = &m->g->values[value].type;
  uint32_t at = sw_im_op(m, op)->text.at;
  sw_diag why = {0};
  sw_text text = {0};
  sw_sharding s;
  if (!said || said->generic || !m->own_mesh.n_axes) {
    return SW_IM_FAIL(m, op, "expected a shard.sharding and a grid of known sizes, in the custom form");
  }
  sw_rc rc = read_sharding(m, op, said, t->rank, &text, &why);
  if (!rc) {
    rc = sw_sharding_parse(&m->g->mesh, t->rank, sw_text_str(&text), text.n, sw_ir_place(m->t, at), &m->g->arena, &s,
                           &why);
  }
  sw_text_free(&text);
  if (!rc) return sw_im_annotate_as(m, value, &s, at);
  if (rc == SW_E_INPUT) sw_im_warn(m, at, "the sharding of '%s' is left out: %s", m->g->values[value].name, why.text);
  return rc == SW_E_INPUT ? SW_OK : rc;
}

static bool is_for_users(const sw_importer *m, const sw_ir_op *o) {
  static const char kWord[] = "annotate_for_users";
  if (sw_ir_present(sw_ir_attr(m->t, o, kWord, NULL))) return true;
  for (uint32_t i = o->body.at; i + 1 < o->body.end && !o->generic; i++) {
    if (m->t->s[i] == ' ' && sw_ir_word(m->t->s, i + 1, kWord)) return true;
  }
  return false;
}

sw_rc sw_im_shard(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_id x = sw_im_operand(m, op, 0), y = x;
  if (m->cut) return SW_IM_FAIL(m, op, "'%s' is of a whole program; expected the program of one device", row->name);
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  bool shardy = m->n_meshes > 0; /* a text in which Shardy's shardings stand in place of these */
  if (shardy || m->o->keep != SW_KEEP_ALL || !m->g->has_mesh) return sw_im_bind(m, op, 0, x, false);
  if (is_for_users(m, o)) {
    sw_im_attrs a = {.n = 0};
    sw_im_shape(&a, &m->g->values[x].type);
    SW_TRY(sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_RESHAPE, .n_operands = 1, .operands = &x, .attrs = &a}, &y));
  } else {
    SW_TRY(sw_im_bind(m, op, 0, x, false));
  }
  return annotate(m, op, y);
}

/* Read where it is used. */
sw_rc sw_im_shard_sharding(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)m;
  (void)row;
  (void)op;
  return SW_OK;
}
