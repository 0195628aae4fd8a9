/* Parts for one device in GSPMD's form (gspmd.h) are written out as manual computations are (batching/batch.h). Their
 * text names no mesh and no axes: the axes are those of the given mesh when the tiles are made of whole ones. Otherwise
 * the devices are taken for a mesh of axes of prime size, and nothing is pinned.
 *
 *   8 devices, tiles [2,4]       mesh x=2,y=4: axes x and y         mesh x=8 or x=2: axes of 2, 2 and 2
 *
 * A part that cannot be taken out is opaque, planned replicated, and left alone by the writer.
 */
#include <stdlib.h>

#include "mlir/gspmd/gspmd.h"
#include "mlir/batching/batch.h"
#include "base/lists.h"

/* What @Sharding says of the value that goes in; empty: nothing. */
static sw_ir_span sharding_behind(const sw_importer *m, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t slot = m->names->use[o->first_use];
  for (uint32_t i = op;
       i-- > 0 && m->t->ops.at[i].text.at >= m->t->regions.at[m->t->blocks.at[o->block].region].text.at;) {
    const sw_ir_op *by = &m->t->ops.at[i];
    if (by->n_results != 1 || by->block != o->block || m->names->result[by->first_result] != slot) continue;
    return sw_ir_attr(m->t, by, "mhlo.sharding", NULL);
  }
  return (sw_ir_span){0, 0};
}

static sw_rc make_ports(sw_batch *s, const sw_im_part *part) {
  sw_importer *m = s->m;
  s->n_in = part->n_in + part->n_captured;
  s->n_out = part->n_out;
  SW_ARENA_NEW(s->in, &m->scratch, s->n_in, m->d);
  SW_ARENA_NEW(s->out, &m->scratch, s->n_out, m->d);
  for (uint32_t i = 0; i < s->n_in; i++) {
    uint32_t captured = i - part->n_in, op = i < part->n_in ? part->in[i] : s->op;
    sw_id v = i < part->n_in ? sw_im_operand(m, op, 0) : sw_im_here(m)->slots[part->captured[captured]];
    s->in[i] = (sw_batch_port){.value = v, .op = op, .type = m->g->values[v].type};
    if (i < part->n_in) s->in[i].sharding = sharding_behind(m, op);
    if (i < part->n_in) s->in[i].open = sw_im_unspecified_dims(m, op);
  }
  for (uint32_t i = 0; i < s->n_out; i++) {
    uint32_t op = part->out[i];
    s->out[i] = (sw_batch_port){.value = -1,
                                .op = op,
                                .sharding = sw_ir_attr(m->t, sw_im_op(m, op), "mhlo.sharding", NULL),
                                .open = sw_im_unspecified_dims(m, op)};
    SW_TRY(sw_im_result_type(m, op, 0, &s->out[i].type));
  }
  return SW_OK;
}

/* The axes that a sharding in tiles calls manual, as bits; *ok = false: it has parts of axes. */
static sw_rc manual_of(sw_batch *s, sw_ir_span sharding, int rank, uint32_t *set, bool *ok) {
  sw_sharding tiles, axes;
  const char *text = sw_im_string(s->m, sw_ir_unquoted(s->m->t, sharding));
  *set = 0;
  SW_TRY(sw_im_read_tiles(s->m, s->mesh, text, rank, &tiles, &axes, ok));
  for (int k = 0; k < axes.n_refs; k++) {
    *ok = *ok && axes.refs[k].size == s->mesh->axis[axes.refs[k].axis].size;
    *set |= UINT32_C(1) << axes.refs[k].axis;
  }
  return SW_OK;
}

/* Manual axes of the mesh at hand: those that every value which goes in says, less those that are manual around it. */
static sw_rc read_manual(sw_batch *s, const sw_im_part *part, const char **why) {
  for (uint32_t i = 0; i < part->n_in && !*why; i++) {
    uint32_t inside, around;
    bool ok, fine;
    sw_ir_span v = sw_ir_attr(s->m->t, sw_im_op(s->m, part->in[i]), "mhlo.sharding", NULL);
    SW_TRY(manual_of(s, v, s->in[i].type.rank, &inside, &ok));
    SW_TRY(manual_of(s, s->in[i].sharding, s->in[i].type.rank, &around, &fine));
    if (!ok || !fine || (i && (inside & ~around) != s->manual)) *why = "its devices are no axes of a mesh";
    s->manual = inside & ~around;
  }
  return SW_OK;
}

/* With these axes; `pinned`: they are the given mesh's. */
static sw_rc try_part_mesh(sw_batch *s, const sw_im_part *part, const sw_mesh *own, bool pinned, const char **why) {
  *why = NULL;
  s->mesh = own;
  s->pinned = pinned;
  s->kept = 0;
  SW_TRY(read_manual(s, part, why));
  for (int a = 0; pinned && a < own->n_axes; a++) {
    s->refs[a] = sw_axis_whole(own, a);
    if (!(s->manual >> a & 1) && own->axis[a].size > 1) s->kept = s->manual;
  }
  return *why ? SW_OK : sw_batch_write_all(s, why);
}

static sw_rc try_meshes(sw_batch *s, const sw_im_part *part, const char **why) {
  const sw_importer *m = s->m;
  const sw_mesh *given = &m->g->written->mesh;
  int64_t n = 0;
  (void)sw_im_module_number(m, "mhlo.num_partitions", &n);
  if (!n) n = m->g->written->has_mesh ? sw_mesh_devices(given) : 1;
  sw_mesh all = {.n_axes = 1}, digits;
  bool same = m->g->written->has_mesh && sw_mesh_devices(given) == n;
  if (same) SW_TRY(try_part_mesh(s, part, given, true, why));
  if (same && !*why) return SW_OK;
  all.axis[0].size = n;
  if (sw_im_digits(same ? given : &all, &digits)) return try_part_mesh(s, part, &digits, false, why);
  *why = "its devices are too many for axes of prime size";
  return SW_OK;
}

static sw_rc import_part(sw_importer *m, const sw_im_part *part, const char **why) {
  sw_importer reader;
  sw_graph *body;
  *why = NULL;
  for (uint32_t i = 0; i < part->n_captured; i++) {
    if (sw_im_here(m)->slots[part->captured[i]] < 0) *why = "a tuple comes in";
  }
  if (*why) return SW_OK;
  size_t made = sw_im_told(m);
  sw_im_parts *parts = sw_gspmd_parts_of(m);
  const sw_im_part *around = parts->within;
  parts->within = part; /* for what reads it */
  sw_rc rc = sw_im_read_part(m, part, &reader, &body);
  parts->within = around;
  SW_TRY(rc);
  sw_batch s = {.m = m, .op = part->out[0], .reader = &reader, .body = body};
  rc = make_ports(&s, part);
  if (!rc) rc = try_meshes(&s, part, why);
  sw_im_disown_from(m, made); /* the text says how they are cut */
  sw_im_close_body(&reader, body);
  return rc;
}

/* --- parts that cannot be taken out ------------------------------------------------------------------------------ */

static bool is_local(const sw_importer *m, sw_id value) {
  const sw_im_parts *p = sw_gspmd_parts_of(m);
  return p->local.n && bsearch(&value, p->local.at, p->local.n, sizeof value, sw_compare_i32);
}

sw_rc sw_im_local_part(sw_importer *m, uint32_t op, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  bool enters = sw_im_goes_in(m->t, o), inside = enters, leaves = sw_im_goes_out(m->t, o);
  for (uint32_t i = 0; i < o->n_uses && !inside; i++) inside = is_local(m, sw_im_operand(m, op, i));
  *done = inside && !sw_ir_is_return(m->t, o);
  if (!*done) return SW_OK;
  size_t made = sw_im_told(m);
  sw_id first = m->g->n_values;
  const char *what = enters || leaves ? sw_im_string(m, sw_ir_trimmed(m->t, o->symbol)) : "the part of one device";
  SW_TRY(sw_im_opaque(m, op, what));
  sw_im_disown_from(m, made);
  for (sw_id v = first; v < m->g->n_values && !leaves; v++)
    SW_TRY(sw_array_push(&sw_gspmd_parts_of(m)->local, v, m->d));
  return SW_OK;
}

/* --- both -------------------------------------------------------------------------------------------------------- */

sw_rc sw_im_part_at(sw_importer *m, uint32_t op, bool *done) {
  const sw_im_parts *parts = sw_gspmd_parts_of(m);
  uint32_t which = parts->part_of ? parts->part_of[op] : 0;
  const char *why;
  const sw_im_part *part = which ? &parts->at[which - 1] : NULL;
  *done = part && part != parts->within;
  if (!*done || op != part->out[0]) return SW_OK;
  SW_TRY(import_part(m, part, &why));
  if (why) sw_im_warn(m, sw_im_op(m, op)->text.at, "a part for one device is not looked into: %s", why);
  for (uint32_t i = 0; i < part->n_ops && why; i++) {
    bool kept;
    if (parts->part_of[part->ops[i]]) SW_TRY(sw_im_local_part(m, part->ops[i], &kept));
  }
  return SW_OK;
}
