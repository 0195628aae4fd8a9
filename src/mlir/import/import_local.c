/* Programs that are partitioned already: is a text one, how many devices it has and how they lie, and of which tensors
 * its arguments and results are blocks. Its collectives are read by the dialects that have them.
 *
 *   module attributes {mhlo.num_partitions = 4 : i32}     devices 0 .. 3, a mesh replica=1,partition=4
 *   shard.grid @mesh(shape = 2x2)                         the mesh a0=2,a1=2
 *
 * An argument is a block of what shardwright.sharding and shardwright.tensor say, or else sdy.sharding, or else
 * mhlo.sharding; of which nothing is said is the same everywhere.
 */
#include "mlir/import/import_passes.h"
#include "mlir/import/import_local.h"

#include <string.h>

#include "mlir/import/dialect.h"
#include "mlir/import/import_program.h"

enum { MOST_DEVICES = 1 << 16 };

/* --- is it one? --------------------------------------------------------------------------------------------------- */

static bool is_manual(const sw_ir_tree *t, const sw_ir_op *o) { return sw_ir_is(t, o->name, "sdy.manual_computation"); }

static bool is_collective(const sw_ir_tree *t, const sw_ir_op *o) {
  const sw_ir_row *row = sw_ir_row_of(t, o->name);
  return row && row->flags & SW_IR_BY_DEVICE && !sw_im_reshards(t, o);
}

static uint32_t parent_of(const sw_ir_tree *t, const sw_ir_op *o) {
  uint32_t region = t->blocks.at[o->block].region;
  return region == SW_IR_NONE ? SW_IR_NONE : t->regions.at[region].op;
}

/* Parents come before what is in their regions. */
static bool has_collectives(const sw_ir_tree *t, bool *in_manual) {
  for (uint32_t i = 0; i < t->ops.n; i++) {
    const sw_ir_op *o = &t->ops.at[i];
    uint32_t parent = parent_of(t, o);
    in_manual[i] = is_manual(t, o) || (parent != SW_IR_NONE && in_manual[parent]);
    if (!in_manual[i] && is_collective(t, o)) return true;
  }
  return false;
}

/* A module that says "spmd" as its form; NULL: none does. */
static const sw_ir_op *spmd_module(const sw_ir_tree *t) {
  for (uint32_t i = 0; i < t->ops.n; i++) {
    const sw_ir_op *o = &t->ops.at[i];
    if (!sw_ir_is(t, o->name, "module") && !sw_ir_is(t, o->name, "builtin.module")) continue;
    if (sw_ir_is(t, sw_ir_unquoted(t, sw_ir_entry(t, o->attrs, "shardwright.form")), "spmd")) return o;
  }
  return NULL;
}

static bool has_mesh(const sw_ir_tree *t) {
  for (uint32_t i = 0; i < t->ops.n; i++) {
    if (sw_ir_is(t, t->ops.at[i].name, "sdy.mesh")) return true;
  }
  return false;
}

/* Of whole tensors: it reshards, or it is what we write of a program that does not have to. Any other with a mesh is of
 * blocks, as its shardings say. */
static bool is_resharded(const sw_ir_tree *t) {
  for (uint32_t i = 0; i < t->ops.n; i++) {
    if (sw_im_reshards(t, &t->ops.at[i])) return true;
  }
  const sw_ir_op *module = spmd_module(t);
  return module && has_mesh(t) && sw_ir_present(sw_ir_entry(t, module->attrs, "shardwright.model"));
}

static sw_rc is_partitioned(const sw_ir_tree *t, bool *out, sw_diag *d) {
  bool *in_manual = sw_mem_alloc(t->ops.n + 1, sizeof *in_manual, d);
  if (!in_manual) return SW_E_RESOURCE;
  *out = (spmd_module(t) && !is_resharded(t)) || has_collectives(t, in_manual);
  sw_mem_free(in_manual);
  return SW_OK;
}

/* --- how many devices, and how they lie --------------------------------------------------------------------------- */

/* Where the module does not say it, there are as many as its groups name. */
static sw_rc most_named(sw_importer *m, int64_t *most) {
  static const char *const kLists[] = {"replica_groups", "source_target_pairs"};
  *most = 0;
  for (uint32_t i = 0; i < m->t->ops.n; i++) {
    const sw_ir_op *o = sw_im_op(m, i);
    for (size_t k = 0; is_collective(m->t, o) && k < sizeof kLists / sizeof *kLists; k++) {
      const int64_t *ids;
      int n;
      SW_TRY(sw_im_list(m, sw_ir_attr(m->t, o, kLists[k], kLists[k]), &ids, &n));
      for (int j = 0; j < n; j++) *most = ids[j] > *most ? ids[j] : *most;
    }
  }
  return SW_OK;
}

static sw_rc count_devices(sw_importer *m) {
  sw_im_cut_program *p = m->cut;
  p->replicas = p->partitions = 1;
  p->counted = sw_im_module_number(m, "mhlo.num_replicas", &p->replicas);
  p->counted = sw_im_module_number(m, "mhlo.num_partitions", &p->partitions) || p->counted;
  bool in_range = p->replicas >= 1 && p->partitions >= 1 && p->replicas <= MOST_DEVICES;
  if (!in_range || p->partitions > MOST_DEVICES / p->replicas) {
    return SW_IM_FAIL(m, m->main, "the program is for %lld replicas of %lld partitions; expected 1 to %d devices",
                      (long long)p->replicas, (long long)p->partitions, MOST_DEVICES);
  }
  if (!p->counted && m->own_mesh.n_axes) p->partitions = sw_mesh_devices(&m->own_mesh);
  if (!p->counted && !m->own_mesh.n_axes) {
    SW_TRY(most_named(m, &p->partitions));
    if (++p->partitions > MOST_DEVICES) {
      return SW_IM_FAIL(m, m->main, "a group has device %lld; expected at most %d devices",
                        (long long)p->partitions - 1, MOST_DEVICES);
    }
  }
  p->out->grid = (sw_mesh){
      .n_axes = 2, .axis = {{.name = "replica", .size = p->replicas}, {.name = "partition", .size = p->partitions}}};
  return SW_OK;
}

/* Device ids of the mesh are the numbers of devices; shardings speak of positions. */
static sw_rc place_devices(sw_im_cut_program *p, sw_diag *d) {
  const int32_t *ids = p->out->mesh.device_ids;
  int64_t *position;
  if (!ids) return SW_OK;
  SW_ARENA_NEW(position, p->arena, p->out->devices, d);
  for (int64_t i = 0; i < p->out->devices; i++) position[ids[i]] = i;
  p->out->position = position;
  p->out->mesh.device_ids = NULL;
  return SW_OK;
}

sw_rc sw_im_open_local(sw_importer *m) {
  if (!m->cut) return SW_OK;
  sw_im_cut_program *p = m->cut;
  sw_local_program *out = p->out;
  const bool by_grid = p->n_axes > 0;
  if (!by_grid) SW_TRY(count_devices(m));
  sw_ir_span said = sw_ir_entry(m->t, sw_im_module_attrs(m), "shardwright.mesh");
  out->devices = sw_mesh_devices(&out->grid);
  if (by_grid) p->partitions = out->devices;
  out->mesh = out->grid;
  if (out->devices > MOST_DEVICES) {
    return SW_IM_FAIL(m, m->main, "the grid has %lld devices; expected at most %d", (long long)out->devices,
                      MOST_DEVICES);
  }
  if (sw_ir_present(said)) {
    const char *text = sw_im_string(m, sw_ir_unquoted(m->t, said));
    SW_TRY(sw_mesh_parse(text, p->arena, &out->mesh, m->d));
    SW_TRY(sw_mesh_verify(&out->mesh, true, m->d));
  } else if (!by_grid && m->own_mesh.n_axes && sw_mesh_verify(&m->own_mesh, true, NULL) == SW_OK) {
    out->mesh = m->own_mesh;
  }
  if (sw_mesh_devices(&out->mesh) != out->devices) {
    return SW_IM_FAIL(m, m->main, "the mesh has %lld devices, the program %lld; expected as many",
                      (long long)sw_mesh_devices(&out->mesh), (long long)out->devices);
  }
  return place_devices(p, m->d);
}

static void close_cut(void *of) {
  sw_im_cut_program *p = of;
  sw_dict_deinit(&p->known);
  sw_array_free(&p->lists);
}

sw_rc sw_im_begin_local(sw_importer *m, sw_program *p, sw_program_options *o) {
  sw_im_cut_program *cut;
  p->is_spmd = spmd_module(m->t) != NULL;
  p->is_resharded = is_resharded(m->t);
  if (o->by_device) SW_TRY(is_partitioned(m->t, &p->is_local, m->d));
  if (!p->is_local) return SW_OK;
  SW_ARENA_NEW(cut, &m->keep, 1, m->d);
  *cut = (sw_im_cut_program){.out = &p->local, .arena = &p->arena, .given = o->mesh};
  m->cut = cut;
  o->keep = SW_KEEP_NONE; /* shardings in it are about other tensors than those that it has */
  o->mesh = o->fallback = NULL;
  return sw_arena_at_end(&m->keep, close_cut, cut, m->d);
}

/* --- what both dialects' collectives are -------------------------------------------------------------------------- */

sw_rc sw_im_own_number(sw_importer *m, uint32_t op, uint32_t i, const sw_axis_ref *refs, int n) {
  sw_type type;
  sw_im_attrs a = {.n = 0};
  bool typed = sw_ir_present(sw_im_op(m, op)->types);
  if (typed) SW_TRY(sw_im_result_type(m, op, (int)i, &type));
  if (!typed) type = (sw_type){.dtype = SW_I64}; /* index */
  if (type.rank) return SW_IM_FAIL(m, op, "expected a scalar as result");
  sw_im_int(&a, SW_ATTR_BASE, 0);
  sw_im_int(&a, SW_ATTR_STEP, 1);
  sw_im_int(&a, SW_ATTR_DTYPE, type.dtype);
  sw_im_add add = {.code = SW_OP_SHARD_START, .attrs = &a, .n_types = 1, .types = &type, .n_refs = n, .refs = refs};
  return sw_im_emit_one(m, op, &add, i, NULL);
}

/* Of a collective whose root is known, in a group along axes of the mesh. */
static sw_rc check_collective_result(sw_importer *m, uint32_t op, const sw_collective *c, const sw_mesh *mesh,
                                     const sw_type *x, const sw_type *y) {
  int64_t dims[SW_MAX_RANK];
  bool reduces = sw_coll_flags(c->op) & SW_COLL_USES_REDUCTION;
  SW_TRY(sw_collective_result_dims(mesh, c, x->rank, x->dims, dims, m->d));
  bool same = (x->dtype == y->dtype || reduces) && x->rank == y->rank;
  for (int k = 0; same && k < y->rank; k++) same = dims[k] == y->dims[k];
  if (same) return SW_OK;
  sw_text is = {0}, said = {0};
  sw_type_print(&(sw_type){reduces ? y->dtype : x->dtype, x->rank, dims}, &is);
  sw_type_print(y, &said);
  sw_rc rc = SW_IM_FAIL(m, op, "the op makes %s of its operand, its result is %s; expected the same", sw_text_str(&is),
                        sw_text_str(&said));
  sw_text_free(&is);
  sw_text_free(&said);
  return rc;
}

/* In lists of every length there is. */
static sw_rc check_listed_groups(sw_importer *m, uint32_t op, const sw_collective *c, const sw_type *x,
                                 const sw_type *y) {
  sw_collective along = *c;
  along.lists = NULL;
  along.n_axes = 1;
  along.n_root = sw_coll_flags(c->op) & SW_COLL_USES_ROOT ? 1 : 0;
  for (int64_t device = 0, seen = 0; device < m->cut->out->devices; device++) {
    sw_mesh mesh = {.n_axes = 1, .axis = {{.name = "group", .size = c->lists[device].n}}};
    if (mesh.axis[0].size == seen || !mesh.axis[0].size) continue;
    seen = mesh.axis[0].size;
    along.axes[0] = sw_axis_whole(&mesh, 0);
    SW_TRY(check_collective_result(m, op, &along, &mesh, x, y));
  }
  return SW_OK;
}

sw_rc sw_im_add_collective(sw_importer *m, uint32_t op, uint32_t i, const sw_collective *c, int n_operands,
                           const sw_id *operands) {
  sw_type type;
  sw_collective rooted = *c;
  SW_TRY(sw_im_result_type(m, op, (int)i, &type));
  for (int k = 0; k < rooted.n_root; k++) {
    if (rooted.root[k] == SW_ROOT_IS_OPERAND) rooted.root[k] = 0;
  }
  const sw_type *x = &m->g->values[operands[0]].type;
  SW_TRY(c->lists ? check_listed_groups(m, op, c, x, &type)
                  : check_collective_result(m, op, &rooted, &m->cut->out->grid, x, &type));
  sw_im_add add = {.code = SW_OP_COLLECTIVE,
                   .n_operands = n_operands,
                   .operands = operands,
                   .n_types = 1,
                   .types = &type,
                   .collective = c};
  return sw_im_emit_one(m, op, &add, i, NULL);
}

/* --- arguments and results ---------------------------------------------------------------------------------------- */

/* In our spelling, of a tensor that is named. */
static sw_rc own_border(sw_importer *m, sw_ir_span attrs, sw_ir_span sharding, sw_local_border *out) {
  sw_ir_span text = sw_ir_unquoted(m->t, sharding), tensor = sw_ir_entry(m->t, attrs, "shardwright.tensor");
  if (sw_ir_present(sw_ir_entry(m->t, attrs, "shardwright.mesh"))) {
    return SW_IM_FAIL_AT(m, text.at, "the value lies on a mesh of its own; expected the program's");
  }
  if (sw_ir_present(tensor)) SW_TRY(sw_ir_read_type(m->t, tensor, m->cut->arena, &out->whole, m->d));
  return sw_sharding_parse(&m->cut->out->mesh, out->whole.rank, m->t->s + text.at, sw_ir_len(text),
                           sw_ir_place(m->t, text.at), m->cut->arena, &out->sharding, m->d);
}

/* As many times as large as there are shards. */
static sw_rc scale_block_to_whole(sw_importer *m, const sw_type *block, sw_local_border *out) {
  int64_t *dims;
  SW_ARENA_NEW(dims, m->cut->arena, block->rank, m->d);
  for (int k = 0; k < block->rank; k++) {
    int64_t shards = sw_sharding_shards(&out->sharding, k);
    if (block->dims[k] > INT64_MAX / shards) return SW_IM_FAIL(m, m->main, "a tensor is too large");
    dims[k] = block->dims[k] * shards;
  }
  out->whole.dims = dims;
  return SW_OK;
}

/* Shardy's or GSPMD's: the whole is as large as the blocks together. */
static sw_rc other_border(sw_importer *m, sw_ir_span sharding, const sw_type *block, sw_local_border *out) {
  const sw_im_said said = {sw_ir_resolved(m->t, sw_ir_trimmed(m->t, sharding)), &m->cut->out->mesh, block->rank};
  SW_TRY(sw_im_read_sharding(m, &said, m->cut->arena, &out->sharding, m->d));
  return scale_block_to_whole(m, block, out);
}

static sw_rc read_block_border(sw_importer *m, sw_ir_span attrs, const sw_type *block, sw_local_border *out) {
  sw_ir_span other = sw_im_sharding_attr(m->t, attrs), own = sw_ir_entry(m->t, attrs, "shardwright.sharding");
  *out = (sw_local_border){.whole = *block, .sharding = sw_sharding_replicated(block->rank), .said = true};
  if (sw_ir_present(own)) return own_border(m, attrs, own, out);
  if (sw_ir_present(other)) return other_border(m, other, block, out);
  out->said = false;
  return SW_OK;
}

static sw_rc read_block_borders(sw_importer *m) {
  const sw_graph *g = m->g;
  uint32_t said = m->t->blocks.at[sw_ir_block_at(m->t, sw_im_op(m, m->main), 0)].n_args;
  bool plain = said == (uint32_t)g->n_args; /* no tuples */
  SW_ARENA_NEW(m->cut->out->args, m->cut->arena, g->n_args, m->d);
  SW_ARENA_NEW(m->cut->out->outputs, m->cut->arena, g->n_outputs, m->d);
  for (int32_t i = 0; i < g->n_args; i++) {
    sw_ir_span attrs = plain ? sw_im_arg_attrs(m->t, sw_im_op(m, m->main), (uint32_t)i) : (sw_ir_span){0, 0};
    SW_TRY(read_block_border(m, attrs, &g->values[g->args[i]].type, &m->cut->out->args[i]));
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    SW_TRY(
        read_block_border(m, m->passes->declared_attrs[i], &g->values[g->outputs[i]].type, &m->cut->out->outputs[i]));
  }
  return SW_OK;
}

sw_rc sw_im_finish_local(sw_importer *m) {
  if (!m->cut) return SW_OK;
  m->cut->out->graph = m->g;
  SW_TRY(read_block_borders(m));
  return sw_local_verify(m->cut->out, m->d);
}
