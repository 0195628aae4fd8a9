#include "spmd/spmd_emit.h"

#include <string.h>

#include "graph/copy_op.h"

/* --- attributes -------------------------------------------------------------------------------------------------- */

static sw_attr *attr_slot(sw_attrs *a, sw_attr_key k) {
  for (int i = 0; i < a->n; i++) {
    if (a->at[i].key == k) return &a->at[i];
  }
  sw_attr *slot = &a->at[a->n < SW_EMIT_ATTRS ? a->n++ : SW_EMIT_ATTRS - 1]; /* no op has that many */
  slot->key = k;
  return slot;
}

void sw_attrs_copy(const sw_op *op, sw_attrs *out) {
  out->n = 0;
  for (int i = 0; i < op->n_attrs && i < SW_EMIT_ATTRS; i++) out->at[out->n++] = op->attrs[i];
}
void sw_attrs_int(sw_attrs *a, sw_attr_key k, int64_t v) { attr_slot(a, k)->u.i = v; }
static void attrs_text(sw_attrs *a, sw_attr_key k, const char *v) { attr_slot(a, k)->u.text = v; }
void sw_attrs_ints(sw_attrs *a, sw_attr_key k, const int64_t *v, int n) {
  sw_attr *s = attr_slot(a, k);
  s->u.ints.at = v;
  s->u.ints.n = n;
}

/* --- ops --------------------------------------------------------------------------------------------------------- */

/* Appends the op that `spec` says, named and placed, and keeps the side tables in step. */
static sw_rc append_emitted(sw_emit *e, const sw_op_spec *spec, sw_id *out, sw_diag *d) {
  const char *about = e->now.op >= 0 ? e->model->ops[e->now.op].name : "outputs";
  char name[256];
  sw_op_spec named = *spec;
  if (!spec->name) {
    snprintf(name, sizeof name, "%s.%s.%lld", about, sw_opcode_text(spec->code), (long long)e->counter++);
    named.name = name;
  }
  if (e->now.op >= 0) named.span = e->model->ops[e->now.op].span;
  SW_TRY_NOTE(d, sw_graph_add_op(e->program, &named, out, d), "while partitioning '%s'", about);
  while (e->layouts.n < (size_t)e->program->n_values)
    SW_TRY(sw_array_push(&e->layouts, ((sw_layout){.source = -1}), d));
  while (e->origins.n < (size_t)e->program->n_ops) SW_TRY(sw_array_push(&e->origins, e->now, d));
  return SW_OK;
}

sw_rc sw_emit_op_n(sw_emit *e, sw_opcode code, const sw_id *operands, int n, const sw_attrs *attrs, sw_id *out,
                   sw_diag *d) {
  sw_op_spec spec = {.code = code, .n_operands = n, .operands = operands};
  if (attrs) {
    spec.n_attrs = attrs->n;
    spec.attrs = attrs->at;
  }
  return append_emitted(e, &spec, out, d);
}

sw_rc sw_emit_op(sw_emit *e, sw_opcode code, const sw_id *operands, int n, const sw_attrs *attrs, sw_id *out,
                 sw_diag *d) {
  sw_id results[SW_MAX_RESULTS];
  SW_TRY(sw_emit_op_n(e, code, operands, n, attrs, results, d));
  *out = results[0];
  return SW_OK;
}

sw_rc sw_emit_typed(sw_emit *e, const sw_op *op, const sw_attrs *attrs, const sw_type *types, sw_diag *d) {
  sw_op_spec spec = {.code = op->code,
                     .n_operands = op->n_operands,
                     .operands = e->in,
                     .n_attrs = attrs->n,
                     .attrs = attrs->at,
                     .nest = op->nest,
                     .n_result_types = op->n_results,
                     .result_types = types};
  return append_emitted(e, &spec, e->results, d);
}

sw_rc sw_emit_same(sw_emit *e, sw_diag *d) {
  sw_op_spec spec;
  SW_TRY(sw_op_spec_of(e->model, e->op, NULL, &e->scratch, &spec, d));
  spec.operands = e->in;
  return append_emitted(e, &spec, e->results, d);
}

sw_rc sw_emit_binary(sw_emit *e, sw_opcode code, sw_id a, sw_id b, sw_id *out, sw_diag *d) {
  sw_id in[2] = {a, b};
  return sw_emit_op(e, code, in, 2, NULL, out, d);
}

sw_rc sw_emit_compare(sw_emit *e, const char *direction, sw_id a, sw_id b, sw_id *out, sw_diag *d) {
  sw_id in[2] = {a, b};
  sw_attrs at = {0};
  attrs_text(&at, SW_ATTR_DIRECTION, direction);
  return sw_emit_op(e, SW_OP_COMPARE, in, 2, &at, out, d);
}

sw_rc sw_emit_select(sw_emit *e, sw_id pred, sw_id a, sw_id b, sw_id *out, sw_diag *d) {
  sw_id in[3] = {pred, a, b};
  return sw_emit_op(e, SW_OP_SELECT, in, 3, NULL, out, d);
}

sw_rc sw_emit_convert(sw_emit *e, sw_id x, sw_dtype t, sw_id *out, sw_diag *d) {
  sw_attrs at = {0};
  sw_attrs_int(&at, SW_ATTR_DTYPE, t);
  return sw_emit_op(e, SW_OP_CONVERT, &x, 1, &at, out, d);
}

static sw_rc emit_constant(sw_emit *e, sw_dtype t, const void *element, sw_id *out, sw_diag *d) {
  sw_attrs at = {0};
  at.at[at.n++] = (sw_attr){.key = SW_ATTR_VALUE, .u.data = {element, true}};
  sw_attrs_ints(&at, SW_ATTR_SHAPE, NULL, 0);
  sw_attrs_int(&at, SW_ATTR_DTYPE, t);
  return sw_emit_op(e, SW_OP_CONSTANT, NULL, 0, &at, out, d);
}

sw_rc sw_emit_scalar(sw_emit *e, sw_dtype t, double v, sw_id *out, sw_diag *d) {
  _Alignas(16) unsigned char element[16] = {0};
  sw_element_store(t, v, element);
  return emit_constant(e, t, element, out, d);
}

sw_rc sw_emit_identity(sw_emit *e, sw_dtype t, sw_reduction kind, sw_id *out, sw_diag *d) {
  _Alignas(16) unsigned char element[16] = {0};
  sw_reduction_identity_bytes(kind, t, element);
  return emit_constant(e, t, element, out, d);
}

sw_rc sw_emit_broadcast(sw_emit *e, sw_id x, int rank, const int64_t *shape, const int64_t *dims, sw_id *out,
                        sw_diag *d) {
  sw_attrs at = {0};
  sw_attrs_ints(&at, SW_ATTR_SHAPE, shape, rank);
  sw_attrs_ints(&at, SW_ATTR_DIMS, dims, sw_emit_type(e, x)->rank);
  return sw_emit_op(e, SW_OP_BROADCAST, &x, 1, &at, out, d);
}

sw_rc sw_emit_iota(sw_emit *e, sw_dtype t, int rank, const int64_t *shape, int dim, sw_id *out, sw_diag *d) {
  sw_attrs at = {0};
  sw_attrs_ints(&at, SW_ATTR_SHAPE, shape, rank);
  sw_attrs_int(&at, SW_ATTR_DTYPE, t);
  sw_attrs_int(&at, SW_ATTR_DIM, dim);
  return sw_emit_op(e, SW_OP_IOTA, NULL, 0, &at, out, d);
}

sw_rc sw_emit_reduce(sw_emit *e, sw_id x, sw_reduction kind, int dim, sw_id *out, sw_diag *d) {
  sw_attrs at = {0};
  int64_t dims[1] = {dim};
  attrs_text(&at, SW_ATTR_KIND, sw_reduction_text(kind));
  sw_attrs_ints(&at, SW_ATTR_DIMS, dims, 1);
  sw_attrs_int(&at, SW_ATTR_KEEP_DIMS, 1);
  return sw_emit_op(e, SW_OP_REDUCE, &x, 1, &at, out, d);
}

/* --- ops of SPMD programs ---------------------------------------------------------------------------------------- */

sw_rc sw_emit_shard_start(sw_emit *e, sw_dtype t, const sw_axis_ref *refs, int n, int64_t base, int64_t step,
                          sw_id *out, sw_diag *d) {
  sw_attrs at = {0};
  sw_attrs_int(&at, SW_ATTR_BASE, base);
  sw_attrs_int(&at, SW_ATTR_STEP, step);
  sw_attrs_int(&at, SW_ATTR_DTYPE, t);
  sw_type type = {t, 0, NULL};
  sw_op_spec spec = {.code = SW_OP_SHARD_START,
                     .n_attrs = at.n,
                     .attrs = at.at,
                     .n_refs = n,
                     .refs = refs,
                     .n_result_types = 1,
                     .result_types = &type};
  return append_emitted(e, &spec, out, d);
}

sw_rc sw_emit_mask(sw_emit *e, sw_id x, sw_id otherwise, const sw_mask *m, sw_id *out, sw_diag *d) {
  sw_attrs at = {0};
  sw_attrs_int(&at, SW_ATTR_DIM, m->dim);
  sw_attrs_int(&at, SW_ATTR_BASE, m->base);
  sw_attrs_int(&at, SW_ATTR_STEP, m->step);
  sw_attrs_ints(&at, SW_ATTR_START, &m->start, 1);
  sw_attrs_ints(&at, SW_ATTR_LIMIT, &m->limit, 1);
  sw_id in[2] = {x, otherwise};
  sw_type type = *sw_emit_type(e, x);
  sw_op_spec spec = {.code = SW_OP_MASK,
                     .n_operands = 2,
                     .operands = in,
                     .n_attrs = at.n,
                     .attrs = at.at,
                     .n_refs = m->n_refs,
                     .refs = m->refs,
                     .n_result_types = 1,
                     .result_types = &type};
  return append_emitted(e, &spec, out, d);
}

static sw_rc keep_mesh(sw_arena *arena, const sw_other_mesh **other, sw_diag *d) {
  const size_t n = (size_t)sw_mesh_devices(&(*other)->mesh);
  sw_other_mesh *copy = sw_arena_copy(arena, *other, 1, sizeof *copy, d);
  if (!copy) return SW_E_RESOURCE;
  copy->position = sw_arena_copy(arena, copy->position, n, sizeof *copy->position, d);
  copy->device = sw_arena_copy(arena, copy->device, n, sizeof *copy->device, d);
  *other = copy;
  return copy->position && copy->device ? SW_OK : SW_E_RESOURCE;
}

static sw_rc keep_tiling(sw_arena *arena, const sw_tiling **t, sw_diag *d) {
  if (!*t) return SW_OK;
  sw_tiling *copy = sw_arena_copy(arena, *t, 1, sizeof *copy, d);
  if (!copy) return SW_E_RESOURCE;
  *t = copy;
  if (copy->other) SW_TRY(keep_mesh(arena, &copy->other, d));
  for (int k = 0; k < copy->rank; k++) {
    sw_tile_dim *dim = &copy->dim[k];
    if (!dim->starts) continue;
    const int64_t n = sw_axis_refs_size(copy->refs + dim->first_ref, dim->n_refs) + 1;
    dim->starts = sw_arena_copy(arena, dim->starts, (size_t)n, sizeof *dim->starts, d);
    if (!dim->starts) return SW_E_RESOURCE;
  }
  return SW_OK;
}

sw_rc sw_emit_keep_tilings(sw_collective *c, sw_arena *arena, sw_diag *d) {
  SW_TRY(keep_tiling(arena, &c->src, d));
  return keep_tiling(arena, &c->dst, d);
}

sw_rc sw_emit_collective(sw_emit *e, sw_id x, const sw_collective *c, const int64_t *dims, sw_id *out, sw_diag *d) {
  sw_collective copy = *c;
  SW_TRY(sw_emit_keep_tilings(&copy, &e->program->arena, d));
  sw_type type = *sw_emit_type(e, x);
  type.dims = dims;
  sw_op_spec spec = {.code = SW_OP_COLLECTIVE,
                     .n_operands = 1,
                     .operands = &x,
                     .collective = &copy,
                     .n_result_types = 1,
                     .result_types = &type};
  return append_emitted(e, &spec, out, d);
}

sw_rc sw_emit_all_gather(sw_emit *e, sw_id x, const sw_axis_ref *axes, int n, int dim, sw_id *out, sw_diag *d) {
  const sw_type *type = sw_emit_type(e, x);
  int64_t dims[SW_MAX_RANK];
  memcpy(dims, type->dims, (size_t)type->rank * sizeof *dims);
  dims[dim] *= sw_axis_refs_size(axes, n);
  sw_collective c = {.op = SW_COLL_ALL_GATHER, .n_axes = n, .dim = dim};
  memcpy(c.axes, axes, (size_t)n * sizeof *axes);
  return sw_emit_collective(e, x, &c, dims, out, d);
}

sw_rc sw_emit_mesh_of_sources(sw_emit *e, const sw_axis_ref *refs, int n, const int64_t *sources,
                              const sw_other_mesh **out, sw_diag *d) {
  int64_t devices = sw_mesh_devices(e->mesh);
  sw_other_mesh *o;
  int32_t *position, *device;
  SW_ARENA_NEW(o, &e->scratch, 1, d);
  SW_ARENA_NEW_EACH(&e->scratch, devices, d, position, device);
  for (int32_t i = 0; i < devices; i++) {
    position[i] = (int32_t)sw_mesh_group_peer(e->mesh, i, refs, n, sources[sw_mesh_group_index(e->mesh, i, refs, n)]);
    device[position[i]] = i;
  }
  *o = (sw_other_mesh){.mesh = *e->mesh, .position = position, .device = device};
  o->mesh.device_ids = NULL;
  *out = o;
  return SW_OK;
}

/* --- the op at hand ---------------------------------------------------------------------------------------------- */

/* Does a device's block reach past the loop's end somewhere? */
static bool is_padded(const sw_emit *e, int loop) {
  int n;
  const sw_axis_ref *refs = sw_emit_loop(e, loop, &n);
  if (sw_strategy_starts(e->op->nest, e->strategy, loop)) return true;
  return n > 0 && e->op->nest->loops[loop].size % sw_axis_refs_size(refs, n) != 0;
}

int sw_emit_loop_of_dim(const sw_emit *e, int map, int dim) {
  const sw_affine *a = &e->op->nest->maps[map].dims[dim];
  return a->n_terms == 1 && a->terms[0].coef == 1 && a->constant == 0 ? a->terms[0].loop : -1;
}

int sw_emit_cut_loop_of_dim(const sw_emit *e, int map, int dim) {
  const sw_affine *a = &e->op->nest->maps[map].dims[dim];
  for (int t = 0; t < a->n_terms; t++) {
    if (sw_emit_is_cut(e, a->terms[t].loop)) return a->terms[t].loop;
  }
  return -1;
}

void sw_emit_result_dims(const sw_emit *e, int i, int64_t *dims) {
  sw_sharding s;
  sw_strategy_result(e->op, e->strategy, i, &s);
  (void)sw_sharding_local_dims(&s, sw_result_type(e->model, e->op, i)->dims, dims); /* checked when the plan was */
}

/* How many elements of a loop the device at hand does, as an i64 scalar: of unequal blocks, looked up in their list. */
static sw_rc emit_length(sw_emit *e, int loop, const int64_t *starts, sw_id *out, sw_diag *d) {
  int n;
  const sw_axis_ref *refs = sw_emit_loop(e, loop, &n);
  const int64_t shards = sw_axis_refs_size(refs, n), one = 1;
  int64_t *lengths;
  SW_ARENA_NEW(lengths, &e->program->arena, shards, d);
  for (int64_t i = 0; i < shards; i++) lengths[i] = starts[i + 1] - starts[i];
  sw_attrs at = {0};
  sw_id in[2];
  at.at[at.n++] = (sw_attr){.key = SW_ATTR_VALUE, .u.data = {lengths, false}};
  sw_attrs_ints(&at, SW_ATTR_SHAPE, &shards, 1);
  sw_attrs_int(&at, SW_ATTR_DTYPE, SW_I64);
  SW_TRY(sw_emit_op(e, SW_OP_CONSTANT, NULL, 0, &at, &in[0], d));
  SW_TRY(sw_emit_shard_start(e, SW_I64, refs, n, 0, 1, &in[1], d));
  at = (sw_attrs){0};
  sw_attrs_ints(&at, SW_ATTR_SIZES, &one, 1);
  SW_TRY(sw_emit_op(e, SW_OP_DYNAMIC_SLICE, in, 2, &at, out, d));
  at = (sw_attrs){0};
  sw_attrs_ints(&at, SW_ATTR_SHAPE, NULL, 0);
  return sw_emit_op(e, SW_OP_RESHAPE, out, 1, &at, out, d);
}

/* What lies behind the device's own length of a dimension is replaced. */
static sw_rc mask_unequal(sw_emit *e, sw_id x, sw_id neutral, int dim, int loop, const int64_t *starts, sw_id *out,
                          sw_diag *d) {
  const sw_type type = *sw_emit_type(e, x);
  sw_id length, position, inside, other;
  SW_TRY(emit_length(e, loop, starts, &length, d));
  SW_TRY(sw_emit_iota(e, SW_I64, type.rank, type.dims, dim, &position, d));
  SW_TRY(sw_emit_broadcast(e, length, type.rank, type.dims, NULL, &length, d));
  SW_TRY(sw_emit_compare(e, "lt", position, length, &inside, d));
  SW_TRY(sw_emit_broadcast(e, neutral, type.rank, type.dims, NULL, &other, d));
  return sw_emit_select(e, inside, x, other, out, d);
}

sw_rc sw_emit_neutralise(sw_emit *e, int operand, unsigned loop_kinds, sw_reduction kind, sw_diag *d) {
  _Alignas(16) unsigned char element[16] = {0};
  sw_reduction_identity_bytes(kind, sw_emit_type(e, e->in[operand])->dtype, element);
  return sw_emit_fill_padding(e, operand, loop_kinds, element, d);
}

sw_rc sw_emit_fill_padding(sw_emit *e, int operand, unsigned loop_kinds, const void *element, sw_diag *d) {
  const sw_loop_nest *nest = e->op->nest;
  for (int k = 0; k < nest->maps[operand].rank; k++) {
    int loop = sw_emit_loop_of_dim(e, operand, k);
    if (loop < 0 || !(loop_kinds >> nest->loops[loop].kind & 1) || !is_padded(e, loop)) continue;
    if (sw_strategy_is_whole_at(e->op, e->strategy, operand, loop)) continue;
    sw_id neutral;
    SW_TRY(emit_constant(e, sw_emit_type(e, e->in[operand])->dtype, element, &neutral, d));
    const int64_t *starts = sw_strategy_starts(nest, e->strategy, loop);
    if (starts) {
      SW_TRY(mask_unequal(e, e->in[operand], neutral, k, loop, starts, &e->in[operand], d));
      continue;
    }
    sw_mask m = {.dim = k, .step = sw_emit_block(e, loop), .limit = nest->loops[loop].size};
    m.refs = sw_emit_loop(e, loop, &m.n_refs);
    SW_TRY(sw_emit_mask(e, e->in[operand], neutral, &m, &e->in[operand], d));
  }
  return SW_OK;
}

/* The window out of the block and halo that the device holds. What lies outside the tensor is replaced where the op has
 * a word for it. */
static sw_rc window_of_halo(sw_emit *e, int operand, const sw_tiling *held, const sw_tiling *window, const double *fill,
                            sw_diag *d) {
  int64_t start[SW_MAX_RANK], limit[SW_MAX_RANK], one[SW_MAX_RANK];
  const sw_dtype t = sw_emit_type(e, e->in[operand])->dtype;
  for (int k = 0; k < window->rank; k++) {
    start[k] = window->dim[k].base - held->dim[k].base;
    limit[k] = start[k] + window->dim[k].len;
    one[k] = 1;
  }
  sw_attrs at = {0};
  sw_attrs_ints(&at, SW_ATTR_START, start, window->rank);
  sw_attrs_ints(&at, SW_ATTR_LIMIT, limit, window->rank);
  sw_attrs_ints(&at, SW_ATTR_STRIDES, one, window->rank);
  SW_TRY(sw_emit_op(e, SW_OP_SLICE, &e->in[operand], 1, &at, &e->in[operand], d));
  for (int k = 0; fill && k < window->rank; k++) {
    const sw_tile_dim *w = &window->dim[k];
    sw_id outside;
    if (w->n_refs == 0) continue;
    SW_TRY(sw_emit_scalar(e, t, *fill, &outside, d));
    sw_mask m = {.dim = k, .base = w->base, .step = w->step, .limit = w->size};
    m.refs = window->refs + w->first_ref;
    m.n_refs = w->n_refs;
    SW_TRY(sw_emit_mask(e, e->in[operand], outside, &m, &e->in[operand], d));
  }
  return SW_OK;
}

/* Where windows are the blocks themselves, what they reach behind the tensor is padding all the same. */
static sw_rc fill_behind(sw_emit *e, int operand, const double *fill, sw_diag *d) {
  const sw_type *type = sw_operand_type(e->model, e->op, operand);
  for (int k = 0; fill && k < type->rank; k++) {
    const int loop = sw_emit_cut_loop_of_dim(e, operand, k);
    sw_mask m = {.dim = k, .limit = type->dims[k]};
    sw_id outside;
    if (loop < 0 || (sw_emit_loop_of_dim(e, operand, k) == loop && e->op->nest->loops[loop].size == type->dims[k]))
      continue;
    m.refs = sw_emit_loop(e, loop, &m.n_refs);
    m.step = sw_emit_type(e, e->in[operand])->dims[k];
    if (m.step * sw_axis_refs_size(m.refs, m.n_refs) <= type->dims[k]) continue;
    SW_TRY(sw_emit_scalar(e, sw_emit_type(e, e->in[operand])->dtype, *fill, &outside, d));
    SW_TRY(sw_emit_mask(e, e->in[operand], outside, &m, &e->in[operand], d));
  }
  return SW_OK;
}

sw_rc sw_emit_window(sw_emit *e, int operand, const double *fill, sw_diag *d) {
  sw_tiling blocks, window;
  if (!sw_strategy_halo(e->model, e->op, e->strategy, operand, &blocks, &window))
    return fill_behind(e, operand, fill, d);
  const sw_value_use use = {(sw_id)(e->op - e->model->ops), operand};
  if (sw_plan_takes_halo(e->plan, use)) {
    sw_sharding stated;
    sw_tiling held;
    sw_plan_use_sharding(e->plan, use, &stated);
    sw_tiling_of(&stated, window.rank, sw_operand_type(e->model, e->op, operand)->dims, &held);
    e->windowed[operand] = true;
    return window_of_halo(e, operand, &held, &window, fill, d);
  }
  sw_collective c = {.op = SW_COLL_EXCHANGE, .src = &blocks, .dst = &window};
  if (fill) {
    c.fill_outside = true;
    c.fill = *fill;
  }
  int64_t dims[SW_MAX_RANK];
  for (int k = 0; k < window.rank; k++) dims[k] = window.dim[k].len;
  e->windowed[operand] = true;
  return sw_emit_collective(e, e->in[operand], &c, dims, &e->in[operand], d);
}
