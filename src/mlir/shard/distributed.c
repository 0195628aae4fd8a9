/* Distributed tensors, as the RFC of the mesh dialect has them: types that say how values are cut, collectives between
 * two such types, and ops that say how their loops are cut.
 *
 *   %1 = mesh.all_gather %0 {mesh_axis = [[], [0]]} : tensor<2x4xf32, #mesh.shard<[[], [0]]>> -> tensor<2x4xf32>
 *   %2 = mhlo.add %1, %1 {sharding = [[0], []]} : tensor<2x4xf32>                loop 0 is cut by axis 0
 *
 * Shapes are those of whole tensors, so a collective is the value in another sharding.
 */
#include <string.h>

#include "mlir/import/annotate.h"
#include "mlir/import/types.h"
#include "mlir/shard/shard.h"

/* --- types -------------------------------------------------------------------------------------------------------- */

/* #mesh.shard<...> of tensor<4x8xf32, #mesh.shard<...>>; empty: none. */
static sw_ir_span encoding_of(const sw_ir_tree *t, sw_ir_span type) {
  const sw_ir_span none = {0, 0};
  sw_ir_span item = none;
  uint32_t cursor = 0;
  type = sw_ir_resolved(t, sw_ir_trimmed(t, type));
  if (strncmp(t->s + type.at, "tensor<", 7) != 0 || !memchr(t->s + type.at, '#', sw_ir_len(type))) return none;
  sw_ir_span in = sw_ir_inside(t, type);
  for (int i = 0; i < 2; i++) {
    if (!sw_ir_next_item(t, in, &cursor, &item)) return none;
  }
  item = sw_ir_resolved(t, item);
  bool ours = sw_ir_len(item) > 12 && memcmp(t->s + item.at, "#mesh.shard<", 12) == 0;
  return ours ? item : none;
}

static sw_rc read_encoding(sw_importer *m, uint32_t op, sw_ir_span encoding, int rank, sw_im_cuts *out) {
  sw_ir_span in = sw_ir_trimmed(m->t, sw_ir_inside(m->t, encoding));
  if (!sw_ir_present(encoding)) {
    *out = (sw_im_cuts){.at = sw_im_op(m, op)->text.at};
    return sw_im_grid_of(m, op, &out->grid);
  }
  bool named = sw_ir_len(in) && m->t->s[in.at] == '@';
  return named ? sw_im_read_inline_cut(m, op, encoding, out) : sw_im_read_listed_cut(m, op, in, rank, out);
}

sw_rc sw_im_annotate_typed(sw_importer *m, uint32_t op, sw_id value, const int32_t *output, sw_ir_span type) {
  sw_ir_span encoding = encoding_of(m->t, type);
  sw_im_cuts cut;
  sw_sharding s;
  if (!sw_ir_present(encoding) || m->cut || m->has_named_meshes || m->vectorized) return SW_OK;
  const sw_type *t = &m->g->values[value].type;
  SW_TRY(read_encoding(m, op, encoding, t->rank, &cut));
  SW_TRY(sw_im_check_cut(m, &cut, t->rank));
  if (m->o->keep == SW_KEEP_NONE || !m->g->written->has_mesh) return SW_OK;
  SW_TRY(sw_im_cut_as_sharding(m, &cut, t, &s));
  if (!output) return sw_im_annotate_as(m, value, &s, true, encoding.at);
  return sw_im_annotate_uses_as(m, value, &s, &(sw_value_use){-1, *output}, true, encoding.at);
}

/* --- ops ---------------------------------------------------------------------------------------------------------- */

/* One list of axes for each loop; the op of the graph is `made`. */
static sw_rc annotate_loops(sw_importer *m, uint32_t op, sw_ir_span list, sw_id made) {
  const sw_op *of = &m->g->ops[made];
  int n_loops = of->nest ? of->nest->n_loops : 0;
  int32_t loop_of[SW_IM_GRID_AXES];
  sw_axis_ref refs[SW_IM_GRID_AXES];
  sw_im_cuts cut;
  SW_TRY(sw_im_read_listed_cut(m, op, list, -1, &cut));
  if (cut.n_dims > n_loops) {
    return SW_IM_FAIL_AT(m, list.at, "the op has %d loops; expected at most as many lists of axes, not %d", n_loops,
                         cut.n_dims);
  }
  if (m->o->keep != SW_KEEP_ALL || !m->g->written->has_mesh) return SW_OK;
  for (int i = 0; i < cut.n; i++) {
    loop_of[i] = cut.dim[i];
    SW_TRY(sw_im_ref_of_cut(m, &cut, i, &refs[i]));
  }
  sw_annotation a = {.value = -1,
                     .op = made,
                     .n_loop_refs = cut.n,
                     .loop_of = loop_of,
                     .loop_refs = refs,
                     .required = true,
                     .span = sw_ir_place(m->t, list.at)};
  return sw_graph_add_annotation(m->g, &a, m->d);
}

/* What the types of results and the op itself say; `first` is the first op of the graph that it became. */
sw_rc sw_im_annotate_distributed(sw_importer *m, uint32_t op, sw_id first) {
  const sw_ir_op *o = sw_im_op(m, op);
  bool apart = !sw_shard_state_of(m)->grid || m->cut || m->has_named_meshes || m->vectorized || m->by_device;
  uint32_t n = sw_ir_result_count(m->t, o);
  if (apart || !n || sw_im_is_distributed(m->t, o)) return SW_OK;
  for (uint32_t i = 0; i < n && m->o->keep == SW_KEEP_ALL; i++) {
    sw_id *slot = sw_im_result(m, op, i);
    bool made = slot && *slot >= 0 && m->g->values[*slot].def >= first;
    if (made) SW_TRY(sw_im_annotate_typed(m, op, *slot, NULL, sw_ir_result_type(m->t, o, (int)i)));
  }
  sw_ir_span list = sw_ir_attr(m->t, o, "sharding", NULL);
  sw_id *slot = sw_im_result(m, op, 0);
  bool listed = sw_ir_len(list) && m->t->s[list.at] == '[' && !sw_ir_is(m->t, o->name, "mesh.annotate");
  if (!listed || !slot || *slot < 0 || m->g->values[*slot].def < first) return SW_OK;
  return annotate_loops(m, op, list, m->g->values[*slot].def);
}

/* --- collectives -------------------------------------------------------------------------------------------------- */

static bool has_cut_axis(const sw_im_cuts *c, int from, int n, int16_t axis, int dim) {
  for (int i = from; i < from + n; i++) {
    if (c->axis[i] == axis && (dim < 0 || c->dim[i] == dim)) return true;
  }
  return false;
}

/* `c` without some axes: those of `gone` that cut the same dim (by_dim), or those in its partial list. False: one is
 * not there. */
static bool remove_axes(sw_im_cuts *c, const sw_im_cuts *gone, bool by_dim) {
  sw_im_cuts left = *c;
  left.n = left.n_partial = 0;
  for (int i = 0; i < gone->n; i++) {
    bool there = by_dim ? has_cut_axis(c, 0, c->n, gone->axis[i], gone->dim[i])
                        : has_cut_axis(c, c->n, c->n_partial, gone->axis[i], -1);
    if (!there) return false;
  }
  for (int i = 0; i < c->n + c->n_partial; i++) {
    bool cuts = i < c->n;
    if (cuts == by_dim && has_cut_axis(gone, 0, gone->n, c->axis[i], -1)) continue;
    left.axis[left.n + left.n_partial] = c->axis[i];
    if (cuts) left.dim[left.n] = c->dim[i];
    left.n += cuts;
    left.n_partial += !cuts;
  }
  *c = left;
  return true;
}

/* An axis more on a dim, as the minor one. False: it is in use. */
static bool add_minor_axis(sw_im_cuts *c, int dim, int16_t axis) {
  int at = c->n;
  if (has_cut_axis(c, 0, c->n + c->n_partial, axis, -1) || c->n + c->n_partial == SW_IM_GRID_AXES) return false;
  while (at > 0 && c->dim[at - 1] > dim) at--;
  memmove(c->axis + at + 1, c->axis + at, (size_t)(c->n + c->n_partial - at) * sizeof *c->axis);
  memmove(c->dim + at + 1, c->dim + at, (size_t)(c->n - at) * sizeof *c->dim);
  c->axis[at] = axis;
  c->dim[at] = (int8_t)dim;
  c->n++;
  return true;
}

static bool add_axes(sw_im_cuts *c, const sw_im_cuts *more, int dim) {
  bool ok = true;
  for (int i = 0; i < more->n; i++) ok = ok && add_minor_axis(c, dim < 0 ? more->dim[i] : dim, more->axis[i]);
  return ok;
}

/* Which axes go from where to where. */
typedef struct kind {
  const char *name, *axes;
  bool by_dim;           /* a list for each dim, else one of all */
  bool gathers, reduces; /* they go out of the dims, out of the partial list */
  bool splits, scatters; /* they come to their dims, to tensor_axis */
} kind;

static const kind kKinds[] = {{"mesh.all_gather", "mesh_axis", true, true, false, false, false},
                              {"mesh.all_reduce", "mesh_axis", false, false, true, false, false},
                              {"mesh.reduce_scatter", "mesh_axis", false, false, true, false, true},
                              {"mesh.local_split", "sharding", true, false, false, true, false}};

static const kind *shard_op_kind_of(const sw_importer *m, const sw_ir_op *o) {
  for (size_t i = 0; i < sizeof kKinds / sizeof *kKinds; i++) {
    if (sw_ir_is(m->t, o->name, kKinds[i].name)) return &kKinds[i];
  }
  return NULL;
}

/* [[], [0]] by dim, or [0, 1] as the axes of one. */
static sw_rc read_moved_axes(sw_importer *m, uint32_t op, const kind *k, int rank, sw_im_cuts *out) {
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), k->axes, NULL);
  if (!sw_ir_present(v)) return SW_IM_FAIL(m, op, "the op does not say its '%s'", k->axes);
  if (!k->by_dim) return sw_im_read_axes_cut(m, op, v, out);
  SW_TRY(sw_im_read_listed_cut(m, op, v, -1, out));
  return sw_im_check_cut(m, out, rank);
}

static sw_rc read_tensor_axis(sw_importer *m, uint32_t op, int rank, int *out) {
  int64_t axis;
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "tensor_axis", NULL);
  if (!sw_ir_present(v) || !sw_ir_read_int(m->t, v, &axis) || axis < 0 || axis >= rank) {
    return SW_IM_FAIL(m, op, "expected 'tensor_axis' to be a dim of the tensor");
  }
  *out = (int)axis;
  return SW_OK;
}

static sw_rc check_reduction(sw_importer *m, uint32_t op, sw_im_cuts *c) {
  sw_reduction how;
  SW_TRY(sw_im_read_reduction(m, sw_im_place(m, op), sw_ir_attr(m->t, sw_im_op(m, op), "reduction", NULL), &how));
  if (!c->n_partial || c->kind == how) return SW_OK;
  return SW_IM_FAIL(m, op, "the op reduces its operand in another way than it is partial");
}

/* How the result of the op is cut, whose operand is cut as `c`. */
static sw_rc cut_of_result(sw_importer *m, uint32_t op, const kind *k, int rank, sw_im_cuts *c) {
  sw_im_cuts moved;
  int dim = -1;
  SW_TRY(read_moved_axes(m, op, k, rank, &moved));
  if (k->scatters) SW_TRY(read_tensor_axis(m, op, rank, &dim));
  if (k->reduces) SW_TRY(check_reduction(m, op, c));
  if ((k->gathers || k->reduces) && !remove_axes(c, &moved, k->gathers)) {
    return SW_IM_FAIL_AT(m, moved.at, "the operand is not %s along all of these axes", k->gathers ? "cut" : "partial");
  }
  if ((k->splits || k->scatters) && !add_axes(c, &moved, dim)) {
    return SW_IM_FAIL_AT(m, moved.at, "the operand is cut along one of these axes already");
  }
  return SW_OK;
}

sw_rc sw_im_distributed(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  const kind *k = shard_op_kind_of(m, o);
  sw_im_cuts is, said;
  sw_sharding s;
  sw_id y;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x = sw_im_operand(m, op, 0);
  const sw_type *t = &m->g->values[x].type;
  sw_ir_types_cursor operands = sw_ir_operand_types(m->t, o->types);
  sw_ir_span from = {0, 0}, to = sw_ir_result_type(m->t, o, 0);
  if (!k || !sw_ir_next_type(m->t, &operands, &from)) return SW_IM_FAIL(m, op, "'%s' has no types", row->name);
  SW_TRY(read_encoding(m, op, encoding_of(m->t, from), t->rank, &is));
  SW_TRY(cut_of_result(m, op, k, t->rank, &is));
  SW_TRY(read_encoding(m, op, encoding_of(m->t, to), t->rank, &said));
  if (!sw_im_same_cut(m, &is, &said)) {
    return SW_IM_FAIL(m, op, "the type of the result is not cut as the op leaves its operand");
  }
  if (m->o->keep != SW_KEEP_ALL || !m->g->written->has_mesh || m->has_named_meshes)
    return sw_im_bind(m, op, 0, x, false);
  SW_TRY(sw_im_cut_as_sharding(m, &said, t, &s));
  SW_TRY(sw_im_same_value(m, op, x, &y));
  return sw_im_annotate_as(m, y, &s, true, o->text.at);
}
