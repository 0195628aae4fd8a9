/* The program as data: valid extents, listings, checks. */
#include "shardwright/spmd.h"

#include <string.h>

static const sw_mesh *mesh_of(const sw_spmd *s, const sw_layout *l) { return l->on ? &l->on->mesh : s->mesh; }

void sw_spmd_valid(const sw_spmd *s, sw_id value, int64_t device, int64_t *valid) {
  const sw_type *type = &s->program->values[value].type;
  const sw_layout *l = &s->layout[value];
  memcpy(valid, type->dims, (size_t)type->rank * sizeof *valid);
  if (!l->is_block) return;
  sw_extent at[SW_MAX_RANK];
  int64_t place = l->on ? l->on->position[device] : device;
  sw_sharding_extents(mesh_of(s, l), &l->sharding, s->model->values[l->source].type.dims, place, at);
  for (int k = 0; k < type->rank; k++) valid[k] = at[k].hi;
}

void sw_spmd_collectives(const sw_spmd *s, sw_text *out) {
  const sw_graph *g = s->program;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_collective *c = g->ops[i].collective;
    if (!c) continue;
    sw_text_puts(out, sw_coll_text(c->op));
    if (sw_coll_flags(c->op) & SW_COLL_USES_DIM) sw_text_printf(out, " dim=%d", c->dim);
    if (sw_coll_flags(c->op) & SW_COLL_USES_CONCAT) sw_text_printf(out, " concat=%d", c->concat_dim);
    if (sw_coll_flags(c->op) & SW_COLL_USES_REDUCTION) sw_text_printf(out, " %s", sw_reduction_text(c->reduction));
    if (c->n_axes > 0 || !(sw_coll_flags(c->op) & SW_COLL_USES_TILES)) {
      sw_text_puts(out, " ");
      sw_axis_refs_print(s->mesh, c->axes, c->n_axes, out);
    }
    sw_text_puts(out, "\n");
  }
}

static void print_values(const sw_graph *g, const sw_id *ids, int n, sw_text *out) {
  for (int i = 0; i < n; i++) sw_text_printf(out, "%s%%%s", i ? ", " : "", g->values[ids[i]].name);
}

/* Type of the first result, and how it is cut. */
static void print_layout(const sw_spmd *s, const sw_op *op, sw_text *out) {
  if (!op->n_results) return;
  const sw_layout *l = &s->layout[op->results[0]];
  sw_text_puts(out, " : ");
  sw_type_print(sw_result_type(s->program, op, 0), out);
  if (l->is_block) sw_text_puts(out, "  ");
  if (l->is_block) sw_sharding_print(mesh_of(s, l), &l->sharding, out);
}

void sw_spmd_print(const sw_spmd *s, sw_text *out) {
  const sw_graph *g = s->program;
  for (int32_t i = 0; i < g->n_args; i++) {
    sw_text_printf(out, "arg %%%s : ", g->values[g->args[i]].name);
    sw_type_print(&g->values[g->args[i]].type, out);
    if (s->layout[g->args[i]].is_block) {
      sw_text_puts(out, "  ");
      sw_sharding_print(s->mesh, &s->layout[g->args[i]].sharding, out);
    }
    sw_text_puts(out, "\n");
  }
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    print_values(g, op->results, op->n_results, out);
    if (op->n_results) sw_text_puts(out, " = ");
    if (op->collective) sw_collective_print(s->mesh, op->collective, out);
    if (!op->collective) sw_text_puts(out, sw_opcode_text(op->code));
    sw_text_puts(out, "(");
    print_values(g, op->operands, op->n_operands, out);
    sw_text_puts(out, ")");
    print_layout(s, op, out);
    if (s->origin[i].op >= 0) {
      sw_text_printf(out, "  // %s", s->model->ops[s->origin[i].op].name);
    }
    sw_text_puts(out, "\n");
  }
  sw_text_puts(out, "return ");
  print_values(g, g->outputs, g->n_outputs, out);
  sw_text_puts(out, "\n");
}

/* While it is partial, on the way from there, and as an operand of what then is, a value may be held wider than it is.
 */
static bool is_held_wider(sw_dtype held, sw_dtype t) {
  return held == SW_F32 && sw_dtype_class_of(t) == SW_CLASS_FLOAT && sw_dtype_bits(t) < sw_dtype_bits(held);
}

static sw_rc verify_value(const sw_spmd *s, sw_id id, sw_diag *d) {
  const sw_layout *l = &s->layout[id];
  if (!l->is_block) return SW_OK;
  const sw_type *local = &s->program->values[id].type, *whole = &s->model->values[l->source].type;
  int64_t dims[SW_MAX_RANK];
  const char *name = s->program->values[id].name;
  SW_TRY_NOTE(d, sw_sharding_verify(mesh_of(s, l), &l->sharding, whole->rank, whole->dims, d), "in the layout of '%s'",
              name);
  const bool typed = local->dtype == whole->dtype || is_held_wider(local->dtype, whole->dtype);
  if (local->rank != whole->rank || !typed || !sw_sharding_local_dims(&l->sharding, whole->dims, dims)) {
    return SW_BUG(d, "'%s' is not a block of its tensor", name);
  }
  const int64_t *want = s->whole_tensors ? whole->dims : dims;
  for (int k = 0; k < local->rank; k++) {
    if (want[k] != local->dims[k]) return SW_BUG(d, "'%s' has a wrong local extent of dimension %d", name, k);
  }
  return SW_OK;
}

sw_rc sw_spmd_verify(const sw_spmd *s, sw_diag *d) {
  const sw_graph *g = s->program;
  SW_TRY(sw_graph_verify(g, d));
  for (sw_id v = 0; v < g->n_values; v++) SW_TRY(verify_value(s, v, d));
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    if (!op->collective) continue;
    const sw_type *in = sw_operand_type(g, op, 0);
    sw_collective c = *op->collective;
    for (int k = 0; k < c.n_root; k++) c.root[k] = c.root[k] == SW_ROOT_IS_OPERAND ? 0 : c.root[k];
    SW_TRY_NOTE(d, sw_collective_verify(s->mesh, &c, in->rank, d), "in '%s'", op->name);
  }
  return SW_OK;
}
