/* The shard dialect in programs that are partitioned already: groups are axes of a grid.
 *
 *   shard.grid @mesh(shape = 2x4) {shardwright.axes = ["x:(1)2", "x:(2)4"]}        the mesh x=8, in two parts
 *   %1 = shard.all_gather %0 on @mesh grid_axes = [1] gather_axis = 0 : ...        along x:(2)4
 *   %2 = shard.send %1 on @mesh grid_axes = [0] destination = [%i] : ...           to whom %i says
 *
 * Without shardwright.axes the axes of the mesh are those of the grid, a0, a1, ...
 */
#include <string.h>

#include "base/checked.h"
#include "mlir/import/import_emit.h"
#include "mlir/shard/shard.h"

/* --- the grid ----------------------------------------------------------------------------------------------------- */

/* A mesh that is given (--mesh) says the sizes in place of the text. */
sw_rc sw_im_read_grid(sw_importer *m) {
  sw_im_cut_program *p = m->cut;
  const sw_im_grid *g = sw_shard_state_of(m)->grid;
  sw_mesh own;
  SW_TRY(sw_im_grid_as_mesh(m, g, &own, p->axes));
  p->n_axes = g->n_axes;
  p->out->grid = p->given ? *p->given : own;
  p->replicas = 1; /* collectives that list devices name them by their numbers in the grid */
  if (!p->given) return sw_im_grid_is_known(m, g, &own);
  sw_im_grid_on_mesh(g, &own, p->given, p->axes);
  for (int i = 0; i < p->n_axes; i++) {
    if (p->axes[i].axis >= 0) continue;
    return SW_IM_FAIL(m, g->op, "the mesh given has no axis for axis %d of the grid; expected %d axes", i, own.n_axes);
  }
  return sw_mesh_verify(p->given, true, m->d);
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

typedef struct reader {
  sw_importer *m;
  uint32_t at;
  const sw_ir_op *o;
  sw_collective coll;
  sw_id operands[1 + SW_MAX_REFS]; /* the tensor, coordinates of the root */
  int n_operands;
} reader;

/* Axes of the grid as those of the mesh. */
static sw_rc map_axes(reader *r, sw_ir_span list, sw_axis_ref *refs, int *n) {
  const int64_t *axes;
  int named;
  SW_TRY(sw_im_list(r->m, list, &axes, &named));
  for (int i = 0; i < named; i++) {
    if (axes[i] < 0 || axes[i] >= r->m->cut->n_axes || *n == SW_MAX_REFS) {
      return SW_IM_FAIL(r->m, r->at, "there is no axis %lld in the grid, or too many axes are named",
                        (long long)axes[i]);
    }
    refs[(*n)++] = r->m->cut->axes[axes[i]];
  }
  return SW_OK;
}

static sw_rc read_grid_axes(reader *r, const char *key) {
  sw_ir_span v = sw_im_grid_attr(r->m->t, r->o, key);
  return sw_ir_present(v) ? map_axes(r, v, r->coll.axes, &r->coll.n_axes) : SW_OK;
}

static sw_rc read_number_attr(reader *r, const char *key, int64_t *out) {
  sw_ir_span v = sw_ir_attr(r->m->t, r->o, key, key);
  if (sw_ir_present(v) && sw_ir_read_int(r->m->t, v, out)) return SW_OK;
  return SW_IM_FAIL(r->m, r->at, "the op does not say its '%s'", key);
}

static sw_rc read_tensor_dim(reader *r, const char *key, int *out) {
  const int rank = r->m->g->values[r->operands[0]].type.rank;
  int64_t v;
  SW_TRY(read_number_attr(r, key, &v));
  *out = (int)v;
  if (v >= 0 && v < rank) return SW_OK;
  return SW_IM_FAIL(r->m, r->at, "%s %lld is outside [0, %d)", key, (long long)v, rank);
}

/* Coordinates, some of which may be operands; that there is one for each axis is told when the op is checked. */
static sw_rc read_root(reader *r, const char *key) {
  sw_im_mixed at;
  uint32_t use = 1;
  SW_TRY(sw_im_read_mixed(r->m, r->at, sw_ir_attr(r->m->t, r->o, key, key), &use, &at));
  for (int i = 0; i < at.n; i++) {
    if (r->coll.n_root == SW_MAX_REFS || at.operand[i] == SW_IM_OPEN) {
      return SW_IM_FAIL(r->m, r->at, "there are more coordinates than axes or operands");
    }
    bool operand = at.operand[i] >= 0;
    const int32_t size = i < r->coll.n_axes ? r->coll.axes[i].size : INT32_MAX;
    if (!operand && (at.number[i] < 0 || at.number[i] >= size)) {
      return SW_IM_FAIL(r->m, r->at, "coordinate %d of the %s is %lld, outside [0, %d)", i, key,
                        (long long)at.number[i], size);
    }
    r->coll.root[r->coll.n_root++] = operand ? SW_ROOT_IS_OPERAND : at.number[i];
    if (operand) r->operands[r->n_operands++] = at.operand[i];
  }
  return SW_OK;
}

/* --- ops with more to them ---------------------------------------------------------------------------------------- */

/* The axis is one of the grid's; the collective counts along its own. */
static sw_rc read_shift(reader *r) {
  int64_t axis;
  SW_TRY(read_number_attr(r, "shift_axis", &axis));
  SW_TRY(read_number_attr(r, "offset", &r->coll.offset));
  r->coll.rotate = sw_im_has_word(r->m->t, r->o, "rotate");
  for (int i = 0; i < r->coll.n_axes && axis >= 0 && axis < r->m->cut->n_axes; i++) {
    r->coll.dim = i;
    if (sw_axis_ref_equal(r->coll.axes[i], r->m->cut->axes[axis])) return SW_OK;
  }
  return SW_IM_FAIL(r->m, r->at, "shift_axis %lld is not among the grid_axes", (long long)axis);
}

/* Dim k, whose axes are those of the cut from *next on. */
static sw_rc add_halo_dim(reader *r, const sw_im_cuts *c, int k, const int64_t halo[2], int *next, sw_tiling *t) {
  const sw_type *x = &r->m->g->values[r->operands[0]].type;
  sw_tile_dim *dim = &t->dim[k];
  dim->first_ref = (uint8_t)*next;
  while (*next < c->n && c->dim[*next] == k) {
    t->refs[*next] = r->m->cut->axes[c->axis[*next]];
    ++*next;
  }
  dim->n_refs = (uint8_t)(*next - dim->first_ref);
  bool fits = halo[0] >= 0 && halo[1] >= 0 && halo[0] <= x->dims[k] && halo[1] <= x->dims[k] - halo[0];
  if (!fits) {
    return SW_IM_FAIL(r->m, r->at, "halos of %lld and %lld elements do not fit dim %d", (long long)halo[0],
                      (long long)halo[1], k);
  }
  dim->len = x->dims[k];
  dim->step = dim->len - halo[0] - halo[1];
  dim->base = -halo[0];
  bool small = sw_mul_i64(dim->step, sw_axis_refs_size(t->refs + dim->first_ref, dim->n_refs), &dim->size);
  return small ? SW_OK : SW_IM_FAIL(r->m, r->at, "a tensor is too large");
}

static sw_rc read_tiles_of_halo(reader *r, const sw_im_mixed *halos, sw_tiling *t) {
  static const int64_t kNone[2] = {0, 0};
  sw_im_cuts cut;
  int used = 0, next = 0;
  t->rank = r->m->g->values[r->operands[0]].type.rank;
  SW_TRY(sw_im_read_listed_cut(r->m, r->at, sw_ir_attr(r->m->t, r->o, "split_axes", "split_axes"), -1, &cut));
  SW_TRY(sw_im_check_cut(r->m, &cut, t->rank));
  if (cut.n > SW_MAX_REFS) return SW_IM_FAIL(r->m, r->at, "too many axes are named");
  for (int k = 0; k < t->rank; k++) {
    bool cuts = next < cut.n && cut.dim[next] == k, said = cuts && used + 1 < halos->n;
    SW_TRY(add_halo_dim(r, &cut, k, said ? halos->number + used : kNone, &next, t));
    used += cuts ? 2 : 0;
  }
  if (!halos->n || used == halos->n) return SW_OK;
  return SW_IM_FAIL(r->m, r->at, "there are %s halos than dims that are cut", used < halos->n ? "more" : "fewer");
}

/* Blocks of the core's extents divide the tensor. */
static sw_rc read_halo(reader *r) {
  sw_tiling *t;
  sw_ir_span v = sw_ir_attr(r->m->t, r->o, "static_halo_sizes", "halo_sizes");
  sw_im_mixed sizes;
  uint32_t use = 1;
  SW_TRY(sw_im_read_mixed(r->m, r->at, v, &use, &sizes));
  SW_ARENA_NEW(t, &r->m->g->arena, 1, r->m->d);
  for (int i = 0; i < sizes.n; i++) {
    if (sw_im_mixed_is_known(r->m, &sizes, i, &sizes.number[i])) continue;
    return SW_IM_FAIL(r->m, r->at, "halo size %d is not known; expected a number or a constant", i);
  }
  r->coll.dst = t;
  return read_tiles_of_halo(r, &sizes, t);
}

/* --- ops ---------------------------------------------------------------------------------------------------------- */

typedef struct kind {
  const char *name;
  sw_coll_op op;
  const char *dim, *other, *root; /* attributes; NULL: none */
  sw_rc (*more)(reader *r);       /* NULL: that is all */
} kind;

static const kind kKinds[] = {
    {"shard.all_gather", SW_COLL_ALL_GATHER, "gather_axis", NULL, NULL, NULL},
    {"shard.all_reduce", SW_COLL_ALL_REDUCE, NULL, NULL, NULL, NULL},
    {"shard.all_slice", SW_COLL_ALL_SLICE, "slice_axis", NULL, NULL, NULL},
    {"shard.all_to_all", SW_COLL_ALL_TO_ALL, "split_axis", "concat_axis", NULL, NULL},
    {"shard.reduce_scatter", SW_COLL_REDUCE_SCATTER, "scatter_axis", NULL, NULL, NULL},
    {"shard.broadcast", SW_COLL_BROADCAST, NULL, NULL, "root", NULL},
    {"shard.gather", SW_COLL_GATHER, "gather_axis", NULL, "root", NULL},
    {"shard.scatter", SW_COLL_SCATTER, "scatter_axis", NULL, "root", NULL},
    {"shard.reduce", SW_COLL_REDUCE, NULL, NULL, "root", NULL},
    {"shard.send", SW_COLL_SEND, NULL, NULL, "destination", NULL},
    {"shard.recv", SW_COLL_RECV, NULL, NULL, "source", NULL},
    {"shard.shift", SW_COLL_SHIFT, NULL, NULL, NULL, read_shift},
    {"shard.update_halo", SW_COLL_UPDATE_HALO, NULL, NULL, NULL, read_halo},
};

/* A memref is what has been written into it, from here on. */
static void write_back(const reader *r) {
  sw_ir_span type = sw_ir_trimmed(r->m->t, sw_ir_result_type(r->m->t, r->o, 0));
  const sw_id *result = sw_im_result(r->m, r->at, 0);
  if (!result || strncmp(r->m->t->s + type.at, "memref<", 7) != 0) return;
  sw_im_here(r->m)->slots[r->m->names->use[r->o->first_use]] = *result;
}

static sw_rc add_call(reader *r, const kind *k) {
  r->coll.op = k->op;
  SW_TRY(sw_im_operand_count(r->m, r->at, 1, 1 + SW_MAX_REFS));
  r->operands[r->n_operands++] = sw_im_operand(r->m, r->at, 0);
  SW_TRY(read_grid_axes(r, "grid_axes"));
  if (k->dim) SW_TRY(read_tensor_dim(r, k->dim, &r->coll.dim));
  if (k->other) SW_TRY(read_tensor_dim(r, k->other, &r->coll.concat_dim));
  if (k->root) SW_TRY(read_root(r, k->root));
  if (sw_coll_flags(k->op) & SW_COLL_USES_REDUCTION) {
    sw_ir_span v = sw_ir_attr(r->m->t, r->o, "reduction", "reduction");
    SW_TRY(sw_im_read_reduction(r->m, sw_im_place(r->m, r->at), v, &r->coll.reduction));
  }
  if (k->more) SW_TRY(k->more(r));
  SW_TRY(sw_im_add_collective(r->m, r->at, 0, &r->coll, r->n_operands, r->operands));
  if (k->op == SW_COLL_UPDATE_HALO) write_back(r);
  return SW_OK;
}

/* Which numbers an op gives: where a device stands, or how large the grid is; one for each axis, or for all of them. */
typedef struct numbers {
  const char *name;
  bool sizes, linear, one; /* one: of the axis that the RFC's forms name */
} numbers;

static const numbers kNumbers[] = {{"shard.process_linear_index", false, true, false},
                                   {"shard.process_multi_index", false, false, false},
                                   {"shard.grid_shape", true, false, false},
                                   {"mesh.mesh_shape", true, false, false},
                                   {"mesh.idx", false, false, true},
                                   {"mesh.size", true, false, true}};

/* {axis = 0 : index}, or (0) */
static sw_rc read_axis(reader *r) {
  sw_ir_span v = sw_ir_attr(r->m->t, r->o, "axis", NULL);
  uint32_t at = sw_ir_blanks(r->m->t->s, r->o->body.at);
  bool spelled = !sw_ir_present(v) && at < r->o->body.end && r->m->t->s[at] == '(';
  if (spelled) v = sw_ir_inside(r->m->t, (sw_ir_span){at, r->o->body.end});
  if (!sw_ir_present(v)) return SW_IM_FAIL(r->m, r->at, "the op does not say its 'axis'");
  return map_axes(r, v, r->coll.axes, &r->coll.n_axes);
}

static sw_rc give_number(reader *r, const numbers *k, uint32_t i) {
  sw_id size;
  if (!k->sizes) return sw_im_own_number(r->m, r->at, i, &r->coll.axes[i], 1);
  SW_TRY(sw_im_number(r->m, r->at, SW_I64, (double)r->coll.axes[i].size, 0, NULL, &size));
  return sw_im_bind(r->m, r->at, i, size, true);
}

static sw_rc add_numbers(reader *r, const numbers *k) {
  const sw_im_cut_program *p = r->m->cut;
  uint32_t n = sw_ir_result_count(r->m->t, r->o);
  SW_TRY(k->one ? read_axis(r) : read_grid_axes(r, "axes"));
  if (!r->coll.n_axes) {
    memcpy(r->coll.axes, p->axes, (size_t)p->n_axes * sizeof *p->axes);
    r->coll.n_axes = p->n_axes;
  }
  if (k->linear) return sw_im_own_number(r->m, r->at, 0, r->coll.axes, r->coll.n_axes);
  if ((uint32_t)r->coll.n_axes != n) {
    return SW_IM_FAIL(r->m, r->at, "the op has %u results for %d axes; expected as many", n, r->coll.n_axes);
  }
  for (uint32_t i = 0; i < n; i++) SW_TRY(give_number(r, k, i));
  return SW_OK;
}

sw_rc sw_im_on_grid(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  reader r = {.m = m, .at = op, .o = sw_im_op(m, op)};
  const sw_im_grid *grid;
  if (sw_im_is_distributed(m->t, r.o)) return sw_im_distributed(m, row, op);
  if (!m->cut) {
    return SW_IM_FAIL(m, op, "'%s' is of a program that is partitioned already; expected the whole program", row->name);
  }
  if (strcmp(row->name, "shard.shard_shape") == 0) return sw_im_shard_shape(m, op);
  SW_TRY(sw_im_grid_of(m, op, &grid));
  for (size_t i = 0; i < sizeof kKinds / sizeof *kKinds; i++) {
    if (strcmp(kKinds[i].name, row->name) == 0) return add_call(&r, &kKinds[i]);
  }
  for (size_t i = 0; i < sizeof kNumbers / sizeof *kNumbers; i++) {
    if (strcmp(kNumbers[i].name, row->name) == 0) return add_numbers(&r, &kNumbers[i]);
  }
  return sw_im_neighbours(m, op);
}

/* --- exchanges that are declared alone ---------------------------------------------------------------------------- */

/* Axes of the grid as those of a tiling, from its ref `first` on. */
static sw_rc read_tiling_axes(reader *r, sw_ir_span list, sw_tiling *t, uint8_t first, uint8_t *n_refs) {
  sw_axis_ref refs[SW_MAX_REFS];
  int n = 0;
  if (sw_ir_present(list)) SW_TRY(map_axes(r, list, refs, &n));
  if (first + n > SW_MAX_REFS) return SW_IM_FAIL(r->m, r->at, "too many axes are named");
  memcpy(t->refs + first, refs, (size_t)n * sizeof *refs);
  *n_refs = (uint8_t)n;
  return SW_OK;
}

static sw_rc read_tile_dim(reader *r, sw_ir_span in, int k, sw_tiling *t) {
  static const char *const kKeys[] = {"base", "length", "size", "step"};
  const sw_ir_tree *tree = r->m->t;
  sw_tile_dim *dim = &t->dim[k];
  int64_t *const into[] = {&dim->base, &dim->len, &dim->size, &dim->step};
  for (size_t i = 0; i < sizeof kKeys / sizeof *kKeys; i++) {
    sw_ir_span v = sw_ir_entry(tree, in, kKeys[i]);
    if (sw_ir_present(v) && sw_ir_read_int(tree, v, into[i])) continue;
    return SW_IM_FAIL_AT(r->m, in.at, "expected '%s' of a dim of a tiling", kKeys[i]);
  }
  dim->first_ref = k ? (uint8_t)(t->dim[k - 1].first_ref + t->dim[k - 1].n_refs) : 0;
  SW_TRY(read_tiling_axes(r, sw_ir_entry(tree, in, "axes"), t, dim->first_ref, &dim->n_refs));
  sw_ir_span starts = sw_ir_entry(tree, in, "starts");
  if (!sw_ir_present(starts)) return SW_OK;
  const int64_t *all;
  int n_starts;
  SW_TRY(sw_im_list(r->m, starts, &all, &n_starts));
  if (n_starts != sw_axis_refs_size(t->refs + dim->first_ref, dim->n_refs) + 1)
    return SW_IM_FAIL(r->m, r->at, "expected as many starts as there are shards, and the end");
  dim->starts = sw_arena_copy(&r->m->g->arena, all, (size_t)n_starts, sizeof *all, r->m->d);
  return dim->starts ? SW_OK : SW_E_RESOURCE;
}

static sw_rc read_tiling(reader *r, sw_ir_span attrs, const char *key, int rank, const sw_tiling **out) {
  const sw_ir_tree *tree = r->m->t;
  sw_tiling *t;
  sw_ir_span in = sw_ir_entry(tree, attrs, key), dims, item;
  uint32_t cursor = 0;
  SW_ARENA_NEW(t, &r->m->g->arena, 1, r->m->d);
  *out = t;
  if (!sw_ir_present(in)) return SW_IM_FAIL(r->m, r->at, "the function called does not say its '%s'", key);
  if (sw_ir_present(sw_ir_entry(tree, in, "place"))) {
    return SW_IM_FAIL(r->m, r->at, "the exchange is with another mesh and has no body; expected the program's");
  }
  dims = sw_ir_entry(tree, in, "dims");
  while (t->rank < rank && sw_ir_next_item(tree, dims, &cursor, &item)) {
    SW_TRY(read_tile_dim(r, item, t->rank, t));
    t->rank++;
  }
  if (t->rank != rank) return SW_IM_FAIL(r->m, r->at, "the tiling has %d dims; expected %d", t->rank, rank);
  t->first_apart = rank ? (uint8_t)(t->dim[rank - 1].first_ref + t->dim[rank - 1].n_refs) : 0;
  return read_tiling_axes(r, sw_ir_entry(tree, in, "apart"), t, t->first_apart, &t->n_apart);
}

/* dense<0.0> : tensor<f32> */
static sw_rc read_fill(reader *r, sw_ir_span attrs) {
  _Alignas(16) unsigned char element[16] = {0};
  sw_ir_span v = sw_ir_entry(r->m->t, attrs, "shardwright.fill");
  sw_type scalar = {.dtype = r->m->g->values[r->operands[0]].type.dtype};
  sw_data data = {element, true};
  if (!sw_ir_present(v)) return SW_OK;
  SW_TRY(sw_ir_read_dense(r->m->t, v, &scalar, &r->m->scratch, &data, r->m->d));
  r->coll.fill_outside = true;
  r->coll.fill = sw_element_load(scalar.dtype, data.bytes);
  return SW_OK;
}

sw_rc sw_im_declared_exchange(sw_importer *m, uint32_t op, sw_ir_span callee, bool *done) {
  uint32_t f = sw_ir_function_named(m->t, m->names, callee);
  *done = false;
  if (!m->cut || !m->cut->n_axes || f == SW_IR_NONE || sw_ir_block_at(m->t, sw_im_op(m, f), 0) != SW_IR_NONE) {
    return SW_OK;
  }
  sw_ir_span attrs = sw_im_op(m, f)->attrs;
  sw_ir_span said = sw_ir_unquoted(m->t, sw_ir_entry(m->t, attrs, "shardwright.collective"));
  if (!sw_ir_len(said)) return SW_OK;
  reader r = {.m = m, .at = op, .o = sw_im_op(m, op), .coll = {.op = SW_COLL_EXCHANGE}};
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  r.operands[r.n_operands++] = sw_im_operand(m, op, 0);
  int rank = m->g->values[r.operands[0]].type.rank;
  SW_TRY(read_tiling(&r, attrs, "shardwright.source", rank, &r.coll.src));
  SW_TRY(read_tiling(&r, attrs, "shardwright.target", rank, &r.coll.dst));
  SW_TRY(read_fill(&r, attrs));
  *done = true;
  return sw_im_add_collective(m, op, 0, &r.coll, 1, r.operands);
}
