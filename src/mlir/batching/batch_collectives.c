/* Collectives of a manual computation as moves of batched values, over axes A of what differs:
 *
 *   all_reduce over A          [A..] [4]    the sum over dim A, partial at first, then [..] [4]
 *   all_gather of dim 0        [A..] [4]    [..] [A 4] cut by A, then not
 *   reduce_scatter of dim 0    [A..] [8]    the sum [..] [8], partial, then cut by A: [..] [A 2], that is [A..] [2]
 *   all_to_all 0 -> 1          [A..] [8] [3]   [A] [..] [B 2] [3] cut by A, then by B: [B..] [2] [A 3]
 *   collective_permute         [A..] [4]    [A] [..] [4], shuffled along dim 0
 */
#include "collective/scalar.h"
#include "mlir/batching/batch.h"
#include "mlir/import/import_collective.h"

/* Devices that work together: the axes that they differ in, major first. */
typedef struct group {
  int n, axis[SW_MAX_AXES];
  uint32_t set;
} group;

static const sw_ir_op *text_of(const sw_batch *s, const sw_op *op, uint32_t *at) {
  bool known = sw_im_collective_of(s->reader, (sw_id)(op - s->body->ops), at);
  return known ? &s->m->t->ops.at[*at] : NULL;
}

bool sw_batch_is_collective(const sw_batch *s, const sw_op *op) {
  uint32_t at;
  return op->code == SW_OP_OPAQUE && text_of(s, op, &at) != NULL;
}

/* --- which devices ----------------------------------------------------------------------------------------------- */

static int64_t position_of(const sw_batch *s, int64_t id) {
  int64_t n = sw_mesh_devices(s->mesh);
  if (id < 0 || id >= n) return -1;
  for (int64_t i = 0; s->mesh->device_ids && i < n; i++) {
    if (s->mesh->device_ids[i] == id) return i;
  }
  return id;
}

static sw_axis_ref own_ref(const sw_batch *s, int axis) { return sw_axis_whole(s->mesh, axis); }

/* Are the groups those along the axes, in this order? */
static bool is_along(const sw_batch *s, const sw_im_rows *rows, const group *g) {
  sw_axis_ref refs[SW_MAX_AXES];
  for (int i = 0; i < g->n; i++) refs[i] = own_ref(s, g->axis[i]);
  for (int64_t i = 0; i < rows->n; i++) {
    int64_t first = i - i % rows->each, at = position_of(s, rows->at[i]), start = position_of(s, rows->at[first]);
    if (at < 0 || start < 0 || at != sw_mesh_group_peer(s->mesh, start, refs, g->n, i - first)) return false;
  }
  return true;
}

/* Every order of every choice of manual axes. */
static bool find_axes_of_group(const sw_batch *s, const sw_im_rows *rows, group *g) {
  int64_t size = 1;
  for (int i = 0; i < g->n; i++) size *= s->mesh->axis[g->axis[i]].size;
  if (size == rows->each) return is_along(s, rows, g);
  for (int a = 0; a < s->mesh->n_axes; a++) {
    if (!((s->manual & ~g->set) >> a & 1) || size * s->mesh->axis[a].size > rows->each) continue;
    g->axis[g->n++] = a;
    g->set |= UINT32_C(1) << a;
    if (find_axes_of_group(s, rows, g)) return true;
    g->set &= ~(UINT32_C(1) << a);
    g->n--;
  }
  return false;
}

/* *ok = false: they are no axes. */
static sw_rc read_group(sw_batch *s, uint32_t at, group *g, bool *ok) {
  sw_im_rows rows;
  *g = (group){.n = 0};
  *ok = false;
  if (!sw_ir_present(sw_ir_attr(s->m->t, sw_im_op(s->m, at), "replica_groups", "replica_groups"))) return SW_OK;
  sw_rc rc = sw_im_read_rows(s->m, at, "replica_groups", &rows);
  if (rc) return rc == SW_E_INPUT ? SW_OK : rc;
  if (!rows.n) { /* all of them */
    for (int a = 0; a < s->mesh->n_axes; a++) {
      if (s->manual >> a & 1) g->axis[g->n++] = a;
    }
    g->set = s->manual;
    *ok = sw_batch_size(s, g->set) == sw_mesh_devices(s->mesh);
    return SW_OK;
  }
  *ok = rows.n == sw_mesh_devices(s->mesh) && find_axes_of_group(s, &rows, g);
  return SW_OK;
}

/* The pairs of a collective_permute as a table over the fewest axes: from[target] is its source, or -1. */
static bool permutes_along_axis(const sw_batch *s, const int64_t *from, int64_t n, int axis) {
  sw_axis_ref ref = own_ref(s, axis);
  for (int64_t i = 0; i < n; i++) {
    int64_t first = sw_mesh_group_peer(s->mesh, i, &ref, 1, 0), j = sw_mesh_coord(s->mesh, i, ref);
    if (from[first] < 0 ? from[i] >= 0 : from[i] != sw_mesh_group_peer(s->mesh, from[first], &ref, 1, j)) return false;
    if (from[i] >= 0 && sw_mesh_coord(s->mesh, from[i], ref) != j) return false;
  }
  return true;
}

static sw_rc read_permute_sources(sw_batch *s, uint32_t at, uint32_t *set, int64_t **from, bool *ok) {
  int64_t n = sw_mesh_devices(s->mesh);
  sw_im_rows rows;
  *ok = false;
  *set = 0;
  SW_ARENA_NEW(*from, &s->m->scratch, n, s->m->d);
  for (int64_t i = 0; i < n; i++) (*from)[i] = -1;
  if (!sw_ir_present(sw_ir_attr(s->m->t, sw_im_op(s->m, at), "source_target_pairs", "source_target_pairs")))
    return SW_OK;
  sw_rc rc = sw_im_read_rows(s->m, at, "source_target_pairs", &rows);
  if (rc) return rc == SW_E_INPUT ? SW_OK : rc;
  *ok = true;
  for (int i = 0; *ok && i + 1 < rows.n; i += 2) {
    int64_t source = position_of(s, rows.at[i]), target = position_of(s, rows.at[i + 1]);
    *ok = source >= 0 && target >= 0 && (*from)[target] < 0;
    if (*ok) (*from)[target] = source;
  }
  for (int a = 0; a < s->mesh->n_axes && *ok; a++) {
    if (s->mesh->axis[a].size > 1 && !permutes_along_axis(s, *from, n, a)) *set |= UINT32_C(1) << a;
  }
  *ok = *ok && !(*set & ~s->manual);
  return SW_OK;
}

/* --- kinds ------------------------------------------------------------------------------------------------------- */

typedef struct call {
  sw_batch *s;
  uint32_t at;                  /* in the text */
  const sw_im_collective *said; /* NULL: the number of a device */
  group g;
} call;

typedef struct kind {
  bool same;                                  /* its results are alike on the devices of a group */
  sw_rc (*write)(call *c, int i, sw_id *out); /* result i; NULL: it cannot be written out */
} kind;

/* A dim of an operand. */
static sw_rc read_operand_dim(call *c, const char *key, const sw_type *local, int64_t *out) {
  return sw_im_read_dim(c->s->m, c->at, key, local->rank, out);
}

static const sw_type *local_type(const call *c, int i) { return &c->s->body->values[c->s->now->operands[i]].type; }
static uint32_t varying_set_of(const call *c, int i) { return c->s->varies[c->s->now->operands[i]] | c->g.set; }

/* The operand over `set` as atoms: the axes, then the dims. */
static sw_batch_form batched_form(const call *c, int i, uint32_t set) {
  return sw_batch_form_over(c->s, set, local_type(c, i));
}

/* Add the group's axes to the last dim, in the group's order: as devices, or as pieces of a dim that devices have. */
static void append_group_atoms(const call *c, sw_batch_form *to, bool pieces) {
  for (int j = 0; j < c->g.n; j++) {
    int axis = c->g.axis[j];
    sw_batch_add_atom(to, pieces ? SW_BATCH_PIECE + axis : axis, pieces ? -1 : axis, c->s->mesh->axis[axis].size);
  }
}

/* The dims that a device has, the group before what is left of dim `dim`, which has been `n` times as large. */
static void add_local_with_group(const call *c, sw_batch_form *to, const sw_type *local, int64_t dim, int64_t n,
                                 bool pieces) {
  for (int k = 0; k < local->rank; k++) {
    sw_batch_add_dim(to);
    if (k == dim) append_group_atoms(c, to, pieces);
    sw_batch_add_atom(to, SW_BATCH_DIM + k, -1, local->dims[k] / (k == dim ? n : 1));
  }
}

/* A region may reduce in a wider type than the operand has: that of the result. */
static sw_rc widen_operand(const call *c, int i, const sw_batch_form *f, sw_id *x) {
  const sw_dtype wide = c->s->body->values[c->s->now->results[i]].type.dtype;
  sw_im_attrs a = {.n = 0};
  sw_sharding cut;
  if (local_type(c, i)->dtype == wide) return SW_OK;
  sw_im_int(&a, SW_ATTR_DTYPE, wide);
  sw_batch_cut(c->s, f, &cut);
  return sw_batch_put(c->s, &(sw_batch_op){.code = SW_OP_CONVERT, .n = 1, .in = x, .attrs = &a, .sharding = &cut}, x);
}

/* The sum (or another reduction) over the group, partial; its form has no axes of the group. */
static sw_rc reduce_over_group(call *c, int i, sw_batch_form *out, sw_id *r) {
  sw_batch *s = c->s;
  uint32_t set = varying_set_of(c, i);
  const sw_batch_form have = batched_form(c, i, set);
  sw_batch_form front = {.n = 0};
  sw_reduction by;
  int64_t dim = 0;
  sw_batch_add_dim(&front);
  append_group_atoms(c, &front, false);
  sw_batch_add_set(s, &front, set & ~c->g.set);
  sw_batch_add_local(&front, local_type(c, i), -1, 1);
  SW_TRY(sw_batch_operand(s, i, set, r));
  SW_TRY(widen_operand(c, i, &have, r));
  SW_TRY(sw_batch_regroup(s, *r, &have, &front, r));
  *out = batched_form(c, i, set & ~c->g.set);
  if (!sw_im_collective_reduction(s->m, c->at, &by)) return SW_BUG(s->m->d, "a reduction was not looked at");
  sw_im_attrs a = {.n = 0};
  sw_sharding partial;
  sw_im_text(&a, SW_ATTR_KIND, sw_reduction_text(by));
  sw_im_numbers(&a, SW_ATTR_DIMS, &dim, 1);
  sw_batch_cut(s, out, &partial);
  for (int j = 0; j < c->g.n; j++) (void)sw_sharding_push_partial(&partial, by, s->refs[c->g.axis[j]]);
  return sw_batch_put(s, &(sw_batch_op){.code = SW_OP_REDUCE, .n = 1, .in = r, .attrs = &a, .sharding = &partial}, r);
}

static sw_rc all_reduce(call *c, int i, sw_id *out) {
  sw_batch_form f;
  SW_TRY(reduce_over_group(c, i, &f, out));
  return sw_batch_moved(c->s, *out, &f, out);
}

static sw_rc check_divides(call *c, const char *what, int64_t size) {
  int64_t n = sw_batch_size(c->s, c->g.set);
  if (size % n == 0) return SW_OK;
  return SW_IM_FAIL(c->s->m, c->at, "%s of size %lld is not divisible by the %lld devices of a group", what,
                    (long long)size, (long long)n);
}

/* [..] [..] with the dim cut into the group's axes and a rest, to [A..] in front. */
static sw_rc reduce_scatter(call *c, int i, sw_id *out) {
  const sw_type *local = local_type(c, i);
  int64_t dim, n = sw_batch_size(c->s, c->g.set);
  uint32_t set = varying_set_of(c, i);
  sw_batch_form f, split = {.n = 0}, front = {.n = 0};
  SW_TRY(read_operand_dim(c, c->said->dim, local, &dim));
  SW_TRY(check_divides(c, "a dim", local->dims[dim]));
  SW_TRY(reduce_over_group(c, i, &f, out));
  sw_batch_add_set(c->s, &split, set & ~c->g.set);
  add_local_with_group(c, &split, local, dim, n, false);
  sw_batch_add_set(c->s, &front, set);
  sw_batch_add_local(&front, local, (int)dim, n);
  SW_TRY(sw_batch_moved(c->s, *out, &split, out)); /* the reduce_scatter */
  return sw_batch_regroup(c->s, *out, &split, &front, out);
}

static sw_rc all_gather(call *c, int i, sw_id *out) {
  const sw_type *local = local_type(c, i);
  uint32_t set = varying_set_of(c, i);
  const sw_batch_form have = batched_form(c, i, set);
  sw_batch_form joined = {.n = 0};
  int64_t dim;
  SW_TRY(read_operand_dim(c, c->said->dim, local, &dim));
  sw_batch_add_set(c->s, &joined, set & ~c->g.set);
  add_local_with_group(c, &joined, local, dim, 1, false);
  SW_TRY(sw_batch_operand(c->s, i, set, out));
  SW_TRY(sw_batch_regroup(c->s, *out, &have, &joined, out));
  for (int k = 0; k < joined.n; k++) {
    if (joined.at[k].axis >= 0 && c->g.set >> joined.at[k].axis & 1) joined.at[k].axis = -1;
  }
  return sw_batch_moved(c->s, *out, &joined, out); /* the all_gather */
}

/* Parts of dim `split` take the place of the group's axes, which go before dim `joined`. */
static sw_rc all_to_all(call *c, int i, sw_id *out) {
  const sw_type *local = local_type(c, i);
  uint32_t set = varying_set_of(c, i);
  sw_batch_form have = {.n = 0}, loose = {.n = 0}, done = {.n = 0};
  int64_t split, joined, n = sw_batch_size(c->s, c->g.set);
  SW_TRY(read_operand_dim(c, c->said->dim, local, &split));
  SW_TRY(read_operand_dim(c, c->said->other, local, &joined));
  SW_TRY(check_divides(c, "a dim", local->dims[split]));
  sw_batch_add_set(c->s, &have, set);
  add_local_with_group(c, &have, local, split, n, true);
  /* [A] [..] ... [B] [rest] ... */
  sw_batch_add_dim(&loose);
  append_group_atoms(c, &loose, false);
  sw_batch_add_set(c->s, &loose, set & ~c->g.set);
  for (int k = 0; k < local->rank; k++) {
    if (k == split) {
      sw_batch_add_dim(&loose);
      append_group_atoms(c, &loose, true);
    }
    sw_batch_add_dim(&loose);
    sw_batch_add_atom(&loose, SW_BATCH_DIM + k, -1, local->dims[k] / (k == split ? n : 1));
  }
  SW_TRY(sw_batch_operand(c->s, i, set, out));
  SW_TRY(sw_batch_regroup(c->s, *out, &have, &loose, out));
  for (int k = 0; k < loose.n; k++) { /* pieces become devices and devices pieces */
    sw_batch_atom *a = &loose.at[k];
    if (a->id >= SW_BATCH_PIECE)
      a->id = a->axis = a->id - SW_BATCH_PIECE;
    else if (a->axis >= 0 && c->g.set >> a->axis & 1)
      *a = (sw_batch_atom){SW_BATCH_PIECE + a->id, -1, a->size};
  }
  SW_TRY(sw_batch_moved(c->s, *out, &loose, out)); /* the all_to_all */
  sw_batch_add_set(c->s, &done, set);
  for (int k = 0; k < local->rank; k++) {
    sw_batch_add_dim(&done);
    if (k == joined) append_group_atoms(c, &done, true);
    sw_batch_add_atom(&done, SW_BATCH_DIM + k, -1, local->dims[k] / (k == split ? n : 1));
  }
  return sw_batch_regroup(c->s, *out, &loose, &done, out);
}

/* --- permutations ------------------------------------------------------------------------------------------------ */

/* Sources by index over the axes of `set`; those that get nothing take what is left, in order. */
static void fill_sources(const call *c, uint32_t set, const int64_t *from, int64_t *sources, bool *gets) {
  sw_axis_ref refs[SW_MAX_AXES];
  int n = 0;
  int64_t size = sw_batch_size(c->s, set), next = 0;
  for (int a = 0; a < c->s->mesh->n_axes; a++) {
    if (set >> a & 1) refs[n++] = own_ref(c->s, a);
  }
  for (int64_t i = 0; i < size; i++) {
    int64_t source = from[sw_mesh_group_peer(c->s->mesh, 0, refs, n, i)];
    gets[i] = source >= 0;
    sources[i] = gets[i] ? sw_mesh_group_index(c->s->mesh, source, refs, n) : -1;
  }
  for (int64_t i = 0; i < size; i++) {
    if (gets[i]) continue;
    for (bool taken = true; taken; next++) {
      taken = false;
      for (int64_t k = 0; k < size; k++) taken = taken || sources[k] == next;
    }
    sources[i] = next - 1;
  }
}

/* Zeros where nothing arrives. */
static sw_rc cleared(call *c, const sw_batch_form *f, const bool *gets, int64_t n, sw_id v, sw_id *out) {
  sw_batch *s = c->s;
  const sw_type t = s->m->g->values[v].type;
  sw_sharding cut, first = sw_sharding_replicated(1);
  sw_im_attrs a = {.n = 0};
  sw_id in[3] = {0, v};
  int64_t dim = 0;
  sw_batch_cut(s, f, &cut);
  for (int i = 0; i < f->count[0]; i++) (void)sw_sharding_push(&first, 0, s->refs[f->at[i].axis]);
  SW_TRY(sw_batch_constant(s, &(sw_type){SW_BOOL, 1, &n}, gets, false, &first, &in[0]));
  sw_im_shape(&a, &t);
  sw_im_numbers(&a, SW_ATTR_DIMS, &dim, 1);
  SW_TRY(sw_batch_one(s, SW_OP_BROADCAST, in[0], &a, f, &in[0]));
  SW_TRY(sw_batch_zeros(s, &t, &cut, &in[2]));
  return sw_batch_put(s, &(sw_batch_op){.code = SW_OP_SELECT, .n = 3, .in = in, .sharding = &cut}, out);
}

static sw_rc collective_permute(call *c, int i, sw_id *out) {
  sw_batch *s = c->s;
  int64_t *from, *sources, n;
  bool ok, *gets, all = true;
  SW_TRY(read_permute_sources(s, c->at, &c->g.set, &from, &ok));
  uint32_t set = varying_set_of(c, i);
  const sw_batch_form have = batched_form(c, i, set);
  sw_batch_form front = {.n = 0};
  SW_TRY(sw_batch_operand(s, i, set, out));
  if (!c->g.set) return SW_OK;
  n = sw_batch_size(s, c->g.set);
  SW_ARENA_NEW_EACH(&s->m->scratch, n, s->m->d, sources, gets);
  fill_sources(c, c->g.set, from, sources, gets);
  for (int64_t k = 0; k < n; k++) all = all && gets[k];
  sw_batch_add_set(s, &front, c->g.set);
  sw_batch_add_set(s, &front, set & ~c->g.set);
  sw_batch_add_local(&front, local_type(c, i), -1, 1);
  SW_TRY(sw_batch_regroup(s, *out, &have, &front, out));
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_SOURCES, sources, (int)n);
  SW_TRY(sw_batch_one(s, SW_OP_SHUFFLE, *out, &a, &front, out));
  if (!all) SW_TRY(cleared(c, &front, gets, n, *out, out));
  return sw_batch_regroup(s, *out, &front, &have, out);
}

/* Every device's number, over all manual axes. */
static sw_rc partition_id(call *c, int i, sw_id *out) {
  sw_batch *s = c->s;
  const sw_type *t = &s->body->values[s->now->results[i]].type;
  int64_t n = sw_batch_size(s, s->manual);
  sw_axis_ref refs[SW_MAX_AXES];
  int n_refs = 0;
  unsigned char *bytes;
  SW_ARENA_NEW(bytes, &s->m->scratch, n * 16, s->m->d);
  for (int a = 0; a < s->mesh->n_axes; a++) {
    if (s->manual >> a & 1) refs[n_refs++] = own_ref(s, a);
  }
  for (int64_t k = 0; k < n; k++) {
    int64_t at = sw_mesh_group_peer(s->mesh, 0, refs, n_refs, k),
            id = s->mesh->device_ids ? s->mesh->device_ids[at] : at;
    sw_scalar_store(t->dtype, sw_scalar_convert(SW_I64, t->dtype, sw_scalar_load(SW_I64, &id)),
                    bytes + k * sw_dtype_bytes(t->dtype));
  }
  sw_sharding cut;
  sw_batch_sharding(s, s->manual, s->manual != 0, &cut);
  return sw_batch_constant(s, &(sw_type){t->dtype, s->manual != 0, &n}, bytes, n == 1, &cut, out);
}

static const kind kNumber = {false, partition_id};
static const kind kKinds[SW_COLL_COUNT] = {
    [SW_COLL_ALL_REDUCE] = {true, all_reduce},     [SW_COLL_REDUCE_SCATTER] = {false, reduce_scatter},
    [SW_COLL_ALL_GATHER] = {true, all_gather},     [SW_COLL_ALL_TO_ALL] = {false, all_to_all},
    [SW_COLL_SHIFT] = {false, collective_permute},
};

/* The op at hand of the text; NULL: it is not known. */
static const kind *open_call(sw_batch *s, const sw_op *op, call *c) {
  *c = (call){.s = s};
  const sw_ir_op *o = text_of(s, op, &c->at);
  c->said = sw_im_collective_named(s->m->t, o);
  if (!c->said) return sw_ir_ends(s->m->t, o->name, "partition_id") ? &kNumber : NULL;
  return kKinds[c->said->op].write ? &kKinds[c->said->op] : NULL;
}

sw_rc sw_batch_collective_set(sw_batch *s, const sw_op *op, uint32_t in, uint32_t *out, const char **why) {
  call c;
  const kind *k = open_call(s, op, &c);
  sw_reduction reduction;
  bool ok = true;
  int64_t *from;
  if (!k) {
    *why = "it has a collective that is not known";
    return SW_OK;
  }
  if (k == &kNumber) {
    *out = s->manual;
    if (sw_batch_size(s, s->manual) != sw_mesh_devices(s->mesh))
      *why = "it asks for the number of a device, which axes that are not manual have a part in";
    return SW_OK;
  }
  SW_TRY(c.said->op == SW_COLL_SHIFT ? read_permute_sources(s, c.at, &c.g.set, &from, &ok)
                                     : read_group(s, c.at, &c.g, &ok));
  if (!ok) *why = "the devices of a collective in it are not those along manual axes";
  if (sw_coll_flags(c.said->op) & SW_COLL_USES_REDUCTION && !sw_im_collective_reduction(s->m, c.at, &reduction)) {
    *why = "a collective in it reduces by a region of its own";
  }
  *out = k->same ? in & ~c.g.set : in | c.g.set;
  return SW_OK;
}

sw_rc sw_batch_collective(sw_batch *s, sw_id *results) {
  call c;
  bool ok;
  const kind *k = open_call(s, s->now, &c);
  if (k != &kNumber && c.said->op != SW_COLL_SHIFT) SW_TRY(read_group(s, c.at, &c.g, &ok));
  group g = c.g;
  for (int i = 0; i < s->now->n_results; i++) {
    c.g = g;
    uint32_t set = s->varies[s->now->results[i]], have;
    SW_TRY(k->write(&c, i, &results[i]));
    const sw_type *local = &s->body->values[s->now->results[i]].type;
    have = k == &kNumber ? s->manual : k->same ? varying_set_of(&c, i) & ~c.g.set : varying_set_of(&c, i);
    SW_TRY(sw_batch_spread(s, results[i], local, have, set, &results[i])); /* others of its results differ more */
  }
  return SW_OK;
}
