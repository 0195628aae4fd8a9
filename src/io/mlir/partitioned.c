/* Programs that are partitioned already: what one device runs, and who talks with whom.
 *
 *   %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1], [2, 3]]>, use_global_device_ids, ...}> ({...})
 *
 * is an opaque op of the graph and a call of kind GROUPS, a reduction among devices 0 and 1 and among 2 and 3. What
 * replica_groups mean depends on channel and use_global_device_ids, as the specification says; device number
 * r * partitions + p is partition p of replica r. An argument is a block of what shardwright.sharding and
 * shardwright.tensor say, or else sdy.sharding, or else mhlo.sharding; of which nothing is said is the same everywhere.
 */
#include "io/mlir/partitioned.h"

#include <string.h>

enum { MOST_DEVICES = 1 << 16 };

/* How numbers in groups and pairs name devices. */
typedef enum naming {
  REPLICAS,   /* of one partition */
  PARTITIONS, /* of one replica */
  REPLICAS_AND_ALL /* replicas, with all of their partitions */,
  DEVICES
} naming;

typedef struct reader {
  sw_importer *m;
  sw_arena *arena; /* of the program */
  sw_local_program *out;
  int64_t replicas, partitions;
  bool counted;       /* the module says how many there are */
  const sw_ir_op *o;  /* the call at hand */
  uint32_t at;        /* in the text */
  sw_local_call *now; /* the same */
} reader;

/* --- is it one? --------------------------------------------------------------------------------------------------- */

static bool is_manual(const sw_ir_tree *t, const sw_ir_op *o) { return sw_ir_is(t, o->name, "sdy.manual_computation"); }

static bool is_collective(const sw_ir_tree *t, const sw_ir_op *o) {
  const sw_ir_row *row = sw_ir_row_of(t, o->name);
  return row && row->import == sw_im_local;
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

/* As this project writes them. */
static bool says_spmd(const sw_ir_tree *t) {
  for (uint32_t i = 0; i < t->ops.n; i++) {
    const sw_ir_op *o = &t->ops.at[i];
    if (!sw_ir_is(t, o->name, "module") && !sw_ir_is(t, o->name, "builtin.module")) continue;
    if (sw_ir_is(t, sw_ir_unquoted(t, sw_ir_entry(t, o->attrs, "shardwright.form")), "spmd")) return true;
  }
  return false;
}

static bool has_op(const sw_ir_tree *t, const char *const *names, size_t n) {
  for (uint32_t i = 0; i < t->ops.n; i++) {
    for (size_t k = 0; k < n; k++) {
      if (sw_ir_is(t, t->ops.at[i].name, names[k])) return true;
    }
  }
  return false;
}

static bool has_mesh(const sw_ir_tree *t) { return has_op(t, (const char *const[]){"sdy.mesh"}, 1); }

bool sw_im_is_resharded(const sw_ir_tree *t) {
  static const char *const kNames[] = {"sdy.all_gather",
                                       "sdy.all_slice",
                                       "sdy.all_to_all",
                                       "sdy.all_reduce",
                                       "sdy.reduce_scatter",
                                       "sdy.collective_permute",
                                       "sdy.replicated_to_unreduced"};
  return has_op(t, kNames, sizeof kNames / sizeof *kNames) || (says_spmd(t) && has_mesh(t));
}

sw_rc sw_im_is_partitioned(const sw_ir_tree *t, bool *out, sw_diag *d) {
  bool *in_manual = sw_mem_alloc(t->ops.n + 1, sizeof *in_manual, d);
  if (!in_manual) return SW_E_RESOURCE;
  *out = (says_spmd(t) && !has_mesh(t)) || has_collectives(t, in_manual);
  sw_mem_free(in_manual);
  return SW_OK;
}

/* --- how many devices, and how they lie --------------------------------------------------------------------------- */

static sw_ir_span module_attrs(const sw_importer *m) {
  return m->module == SW_IR_NONE ? (sw_ir_span){0, 0} : sw_im_op(m, m->module)->attrs;
}

static bool module_number(const sw_importer *m, const char *key, int64_t *out) {
  sw_ir_span v = sw_ir_entry(m->t, module_attrs(m), key);
  return sw_ir_present(v) && sw_ir_read_int(m->t, v, out);
}

/* Where the module does not say it, there are as many as its groups name. */
static sw_rc most_named(reader *r, int64_t *most) {
  static const char *const kLists[] = {"replica_groups", "source_target_pairs"};
  *most = 0;
  for (size_t i = 0; i < r->m->collectives.n; i++) {
    const sw_ir_op *o = sw_im_op(r->m, r->m->collectives.at[i].text);
    for (size_t k = 0; k < sizeof kLists / sizeof *kLists; k++) {
      sw_ir_span list = sw_ir_attr(r->m->t, o, kLists[k], kLists[k]);
      sw_ir_ints ids = {0};
      sw_rc rc = sw_ir_present(list) ? sw_ir_read_ints(r->m->t, list, &ids, r->m->d) : SW_OK;
      for (size_t j = 0; j < ids.n; j++) {
        if (ids.at[j] > *most) *most = ids.at[j];
      }
      sw_array_free(&ids);
      SW_TRY(rc);
    }
  }
  return SW_OK;
}

static sw_rc count_devices(reader *r) {
  sw_importer *m = r->m;
  r->replicas = r->partitions = 1;
  r->counted = module_number(m, "mhlo.num_replicas", &r->replicas);
  r->counted = module_number(m, "mhlo.num_partitions", &r->partitions) || r->counted;
  bool in_range = r->replicas >= 1 && r->partitions >= 1 && r->replicas <= MOST_DEVICES;
  if (!in_range || r->partitions > MOST_DEVICES / r->replicas) {
    return SW_IM_FAIL(m, m->main, "the program is for %lld replicas of %lld partitions; expected 1 to %d devices",
                      (long long)r->replicas, (long long)r->partitions, MOST_DEVICES);
  }
  if (!r->counted && m->own_mesh.n_axes) r->partitions = sw_mesh_devices(&m->own_mesh);
  if (!r->counted && !m->own_mesh.n_axes) {
    SW_TRY(most_named(r, &r->partitions));
    if (++r->partitions > MOST_DEVICES) {
      return SW_IM_FAIL(m, m->main, "a group has device %lld; expected at most %d devices",
                        (long long)r->partitions - 1, MOST_DEVICES);
    }
  }
  r->out->devices = r->replicas * r->partitions;
  return SW_OK;
}

/* Device ids of the mesh are the numbers of devices; shardings speak of positions. */
static sw_rc place_devices(reader *r) {
  const int32_t *ids = r->out->mesh.device_ids;
  int64_t *position;
  if (!ids) return SW_OK;
  SW_ARENA_NEW(position, r->arena, r->out->devices, r->m->d);
  for (int64_t i = 0; i < r->out->devices; i++) position[ids[i]] = i;
  r->out->position = position;
  r->out->mesh.device_ids = NULL;
  return SW_OK;
}

static sw_rc read_mesh(reader *r) {
  sw_importer *m = r->m;
  sw_ir_span said = sw_ir_entry(m->t, module_attrs(m), "shardwright.mesh");
  r->out->mesh = (sw_mesh){.n_axes = 1, .axis = {{.name = "device", .size = r->out->devices}}};
  if (sw_ir_present(said)) {
    const char *text = sw_im_string(m, sw_ir_unquoted(m->t, said));
    SW_TRY(sw_mesh_parse(text, r->arena, &r->out->mesh, m->d));
    SW_TRY(sw_mesh_verify(&r->out->mesh, true, m->d));
  } else if (m->own_mesh.n_axes && sw_mesh_verify(&m->own_mesh, true, NULL) == SW_OK) {
    r->out->mesh = m->own_mesh;
  }
  if (sw_mesh_devices(&r->out->mesh) != r->out->devices) {
    return SW_IM_FAIL(m, m->main, "the mesh has %lld devices, the program %lld; expected as many",
                      (long long)sw_mesh_devices(&r->out->mesh), (long long)r->out->devices);
  }
  return place_devices(r);
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

/* The channel of the call; 0: none. */
static int64_t channel_of(const reader *r) {
  int64_t channel = 0;
  sw_ir_span v = sw_ir_attr(r->m->t, r->o, "channel_handle", "channel_handle");
  if (!sw_ir_present(v)) v = sw_ir_attr(r->m->t, r->o, "channel_id", "channel_id");
  sw_ir_span handle = sw_ir_present(v) ? sw_ir_entry(r->m->t, sw_ir_inside(r->m->t, v), "handle") : v;
  if (sw_ir_present(handle)) v = handle;
  return sw_ir_present(v) && sw_ir_read_int(r->m->t, v, &channel) ? channel : 0;
}

static naming naming_of(const reader *r, bool reduces_or_gathers) {
  bool global = sw_ir_present(sw_ir_attr(r->m->t, r->o, "use_global_device_ids", "use_global_device_ids"));
  if (!r->counted || global) return DEVICES;
  if (channel_of(r) <= 0) return REPLICAS;
  return reduces_or_gathers ? REPLICAS_AND_ALL : PARTITIONS;
}

/* Numbers by the naming, and how often a list of them stands for another list of devices. */
static int64_t names_in(const reader *r, naming by) {
  return by == DEVICES ? r->out->devices : by == PARTITIONS ? r->partitions : r->replicas;
}
static int64_t copies_of(const reader *r, naming by) {
  return by == REPLICAS ? r->partitions : by == PARTITIONS ? r->replicas : 1;
}

static int64_t device_of(const reader *r, naming by, int64_t name, int64_t copy) {
  if (by == DEVICES) return name;
  return by == PARTITIONS ? copy * r->partitions + name : name * r->partitions + copy;
}

/* Lists of numbers: rows of `each`, shorter ones end in -1. */
typedef struct table {
  sw_ir_ints ids;
  int64_t each;
} table;

static sw_rc read_table(reader *r, const char *key, table *out) {
  const sw_ir_tree *t = r->m->t;
  sw_ir_span text = sw_ir_attr(t, r->o, key, key);
  *out = (table){.each = 0};
  if (!sw_ir_present(text)) return SW_OK;
  SW_TRY(sw_ir_read_ints(t, text, &out->ids, r->m->d));
  out->each = (int64_t)out->ids.n;
  for (uint32_t at = text.at; at + 7 < text.end; at++) {
    if (memcmp(t->s + at, "tensor<", 7) != 0) continue;
    sw_type type;
    SW_TRY(sw_ir_read_type(t, (sw_ir_span){at, text.end}, &r->m->scratch, &type, r->m->d));
    bool fits = type.rank == 2 && type.dims[1] > 0 && (int64_t)out->ids.n % type.dims[1] == 0;
    if (fits) out->each = type.dims[1];
    if (fits || !out->ids.n) return SW_OK;
    return SW_IM_FAIL(r->m, r->at, "'%s' has %zu numbers; expected rows of them", key, out->ids.n);
  }
  return SW_OK;
}

/* No list at all: one of everybody. */
static sw_rc fill_table(reader *r, naming by, table *t) {
  if (t->ids.n) return SW_OK;
  t->each = names_in(r, by);
  for (int64_t i = 0; i < t->each; i++) SW_TRY(sw_array_push(&t->ids, i, r->m->d));
  return SW_OK;
}

static sw_rc check_name(reader *r, naming by, int64_t name) {
  if (name >= 0 && name < names_in(r, by)) return SW_OK;
  return SW_IM_FAIL(r->m, r->at, "a group has number %lld; expected 0 to %lld", (long long)name,
                    (long long)names_in(r, by) - 1);
}

/* One row as a group, in each of its copies. */
static sw_rc add_row(reader *r, naming by, const int64_t *row, int64_t each, int64_t *sizes, int64_t *members,
                     int64_t *n_members) {
  int64_t n = 0, inner = by == REPLICAS_AND_ALL ? r->partitions : 1;
  while (n < each && row[n] != -1) n++;
  for (int64_t i = 0; i < n; i++) SW_TRY(check_name(r, by, row[i]));
  for (int64_t copy = 0; n && copy < copies_of(r, by); copy++) {
    if (*n_members + n * inner > r->out->devices) return SW_IM_FAIL(r->m, r->at, "a device is in two groups");
    for (int64_t p = 0; p < inner; p++) {
      for (int64_t i = 0; i < n; i++) {
        members[(*n_members)++] = device_of(r, by, row[i], by == REPLICAS_AND_ALL ? p : copy);
      }
    }
    sizes[r->now->n_groups++] = n * inner;
  }
  return SW_OK;
}

static sw_rc check_members(reader *r, const int64_t *members, int64_t n, bool all) {
  bool *seen;
  SW_ARENA_NEW(seen, &r->m->scratch, r->out->devices, r->m->d);
  for (int64_t i = 0; i < n; i++) {
    if (seen[members[i]]) {
      return SW_IM_FAIL(r->m, r->at, "device %lld is in two groups", (long long)members[i]);
    }
    seen[members[i]] = true;
  }
  for (int64_t i = 0; i < r->out->devices && all; i++) {
    if (!seen[i]) return SW_IM_FAIL(r->m, r->at, "device %lld is in no group", (long long)i);
  }
  return SW_OK;
}

static sw_rc groups_of(reader *r, naming by, table *t) {
  int64_t n = 0, *sizes, *members;
  SW_TRY(read_table(r, "replica_groups", t));
  SW_TRY(fill_table(r, by, t));
  SW_ARENA_NEW(sizes, r->arena, r->out->devices, r->m->d);
  SW_ARENA_NEW(members, r->arena, r->out->devices, r->m->d);
  for (size_t i = 0; i < t->ids.n; i += (size_t)t->each) {
    SW_TRY(add_row(r, by, t->ids.at + i, t->each, sizes, members, &n));
  }
  r->now->sizes = sizes;
  r->now->members = members;
  return check_members(r, members, n, r->now->coll.op != SW_COLL_BROADCAST);
}

static sw_rc read_groups(reader *r, naming by) {
  table t;
  sw_rc rc = groups_of(r, by, &t);
  sw_array_free(&t.ids);
  return rc;
}

static sw_rc pairs_of(reader *r, naming by, table *t) {
  int64_t *from;
  bool *sends;
  SW_TRY(read_table(r, "source_target_pairs", t));
  SW_ARENA_NEW(from, r->arena, r->out->devices, r->m->d);
  SW_ARENA_NEW(sends, &r->m->scratch, r->out->devices, r->m->d);
  for (int64_t i = 0; i < r->out->devices; i++) from[i] = -1;
  for (size_t i = 0; i + 1 < t->ids.n; i += 2) {
    SW_TRY(check_name(r, by, t->ids.at[i]));
    SW_TRY(check_name(r, by, t->ids.at[i + 1]));
    for (int64_t copy = 0; copy < copies_of(r, by); copy++) {
      int64_t source = device_of(r, by, t->ids.at[i], copy), target = device_of(r, by, t->ids.at[i + 1], copy);
      if (from[target] >= 0 || sends[source]) {
        return SW_IM_FAIL(r->m, r->at, "device %lld %s twice; expected once at most",
                          (long long)(sends[source] ? source : target), sends[source] ? "sends" : "receives");
      }
      from[target] = source;
      sends[source] = true;
    }
  }
  r->now->by_device = from;
  return SW_OK;
}

static sw_rc read_pairs(reader *r, naming by) {
  table t;
  sw_rc rc = pairs_of(r, by, &t);
  sw_array_free(&t.ids);
  return rc;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static sw_rc read_dim(reader *r, const char *key, int *out) {
  const sw_graph *g = r->m->g;
  sw_ir_span v = sw_ir_attr(r->m->t, r->o, key, key);
  int64_t dim = -1;
  int rank = sw_operand_type(g, &g->ops[r->now->op], 0)->rank;
  if (!sw_ir_present(v) || !sw_ir_read_int(r->m->t, v, &dim) || dim < 0 || dim >= rank) {
    return SW_IM_FAIL(r->m, r->at, "'%s' is %lld; expected a dim of the operand", key, (long long)dim);
  }
  *out = (int)dim;
  return SW_OK;
}

static sw_rc read_reduction(reader *r) {
  r->now->coll.reduction = SW_REDUCE_SUM;
  if (r->o->first_region == SW_IR_NONE) return SW_OK; /* of mhlo.cross-replica-sum */
  if (sw_im_region_kind(r->m, r->o->first_region, &r->now->coll.reduction)) return SW_OK;
  return SW_IM_FAIL(r->m, r->at, "a collective reduces by a region of its own; expected add, max or another known one");
}

/* A device's own number. */
static sw_rc read_number(reader *r, bool partition) {
  int64_t *number;
  SW_ARENA_NEW(number, r->arena, r->out->devices, r->m->d);
  for (int64_t i = 0; i < r->out->devices; i++) number[i] = partition ? i % r->partitions : i / r->partitions;
  r->now->by_device = number;
  return SW_OK;
}

typedef struct kind {
  const char *name; /* of its row */
  sw_local_kind kind;
  sw_coll_op op;
  const char *dim, *other; /* attributes; NULL: none */
  bool wide;               /* its groups may be those of replicas with all of their partitions */
} kind;

static const kind kKinds[] = {
    {"all_reduce", SW_LOCAL_GROUPS, SW_COLL_ALL_REDUCE, NULL, NULL, true},
    {"cross-replica-sum", SW_LOCAL_GROUPS, SW_COLL_ALL_REDUCE, NULL, NULL, true},
    {"reduce_scatter", SW_LOCAL_GROUPS, SW_COLL_REDUCE_SCATTER, "scatter_dimension", NULL, true},
    {"all_gather", SW_LOCAL_GROUPS, SW_COLL_ALL_GATHER, "all_gather_dim", NULL, true},
    {"all_to_all", SW_LOCAL_GROUPS, SW_COLL_ALL_TO_ALL, "split_dimension", "concat_dimension", false},
    {"collective_broadcast", SW_LOCAL_GROUPS, SW_COLL_BROADCAST, NULL, NULL, false},
    {"collective_permute", SW_LOCAL_PAIRS, SW_COLL_PERMUTE, NULL, NULL, false},
    {"partition_id", SW_LOCAL_NUMBER, SW_COLL_COUNT, NULL, NULL, true},
    {"replica_id", SW_LOCAL_NUMBER, SW_COLL_COUNT, NULL, NULL, false},
};

static const kind *kind_of(const sw_ir_row *row) {
  for (size_t i = 0; row && i < sizeof kKinds / sizeof *kKinds; i++) {
    if (strcmp(kKinds[i].name, row->name) == 0) return &kKinds[i];
  }
  return NULL;
}

/* Operands and results are as many, and what comes out follows from what goes in. */
static sw_rc check_results(reader *r, const kind *k) {
  const sw_graph *g = r->m->g;
  const sw_op *op = &g->ops[r->now->op];
  if (k->kind == SW_LOCAL_NUMBER) {
    return sw_result_type(g, op, 0)->rank == 0 ? SW_OK : SW_IM_FAIL(r->m, r->at, "expected a scalar as result");
  }
  if (op->n_operands != op->n_results) {
    return SW_IM_FAIL(r->m, r->at, "the op has %d operands and %d results; expected as many", op->n_operands,
                      op->n_results);
  }
  for (int i = 0; i < op->n_results; i++) {
    const sw_type *x = sw_operand_type(g, op, i), *y = sw_result_type(g, op, i);
    int64_t dims[SW_MAX_RANK], member = 0;
    memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
    for (int32_t j = 0; j < r->now->n_groups; j++, member += r->now->sizes[j - 1]) {
      sw_collective c = r->now->coll;
      sw_mesh mesh = {.n_axes = 1, .axis = {{.name = "group", .size = r->now->sizes[j]}}};
      c.n_axes = 1;
      c.axes[0] = sw_axis_whole(&mesh, 0);
      SW_TRY_NOTE(r->m->d, sw_collective_result_dims(&mesh, &c, x->rank, x->dims, dims, r->m->d), "in line %d",
                  sw_im_place(r->m, r->at).line);
      bool same = x->dtype == y->dtype && x->rank == y->rank;
      for (int q = 0; same && q < y->rank; q++) same = dims[q] == y->dims[q];
      if (!same) return SW_IM_FAIL(r->m, r->at, "result %d is not what the op makes of its operand", i);
    }
    if (k->kind == SW_LOCAL_PAIRS && !sw_type_equal(x, y)) {
      return SW_IM_FAIL(r->m, r->at, "result %d is of another type than the operand", i);
    }
  }
  return SW_OK;
}

static sw_rc read_call(reader *r, const sw_im_collective_at *at, sw_local_call *out) {
  const kind *k;
  sw_arena_reset(&r->m->scratch);
  r->at = at->text;
  r->o = sw_im_op(r->m, r->at);
  r->now = out;
  k = kind_of(sw_ir_row_of(r->m->t, r->o->name));
  if (!k) return SW_IM_FAIL(r->m, r->at, "the collective is not executed");
  *out = (sw_local_call){.op = at->op, .kind = k->kind, .coll = {.op = k->op}};
  naming by = naming_of(r, k->wide);
  if (k->kind == SW_LOCAL_NUMBER) SW_TRY(read_number(r, k->wide));
  if (k->dim) SW_TRY(read_dim(r, k->dim, &out->coll.dim));
  if (k->other) SW_TRY(read_dim(r, k->other, &out->coll.concat_dim));
  if (k->kind == SW_LOCAL_GROUPS && sw_coll_flags(k->op) & SW_COLL_USES_REDUCTION) SW_TRY(read_reduction(r));
  if (k->op == SW_COLL_BROADCAST) out->coll.n_root = 1; /* the first of the group */
  if (k->kind == SW_LOCAL_GROUPS) SW_TRY(read_groups(r, by));
  if (k->kind == SW_LOCAL_PAIRS) SW_TRY(read_pairs(r, by));
  return check_results(r, k);
}

/* --- arguments and results ---------------------------------------------------------------------------------------- */

/* In our spelling, of a tensor that is named. */
static sw_rc own_border(reader *r, sw_ir_span attrs, sw_ir_span sharding, sw_local_border *out) {
  sw_importer *m = r->m;
  sw_ir_span text = sw_ir_unquoted(m->t, sharding), tensor = sw_ir_entry(m->t, attrs, "shardwright.tensor");
  if (sw_ir_present(sw_ir_entry(m->t, attrs, "shardwright.mesh"))) {
    return SW_FAIL_INPUT(m->d, sw_ir_place(m->t, text.at),
                         "the value lies on a mesh of its own; expected the program's");
  }
  if (sw_ir_present(tensor)) SW_TRY(sw_ir_read_type(m->t, tensor, r->arena, &out->whole, m->d));
  return sw_sharding_parse(&r->out->mesh, out->whole.rank, m->t->s + text.at, sw_ir_len(text),
                           sw_ir_place(m->t, text.at), r->arena, &out->sharding, m->d);
}

/* As many times as large as there are shards. */
static sw_rc grow(reader *r, const sw_type *block, sw_local_border *out) {
  int64_t *dims;
  SW_ARENA_NEW(dims, r->arena, block->rank, r->m->d);
  for (int k = 0; k < block->rank; k++) {
    int64_t shards = sw_sharding_shards(&out->sharding, k);
    if (block->dims[k] > INT64_MAX / shards) return SW_IM_FAIL(r->m, r->m->main, "a tensor is too large");
    dims[k] = block->dims[k] * shards;
  }
  out->whole.dims = dims;
  return SW_OK;
}

/* Shardy's or GSPMD's: the whole is as large as the blocks together. */
static sw_rc other_border(reader *r, sw_ir_span sharding, const sw_type *block, sw_local_border *out) {
  sw_importer *m = r->m;
  bool ok = true;
  sharding = sw_ir_resolved(m->t, sw_ir_trimmed(m->t, sharding));
  if (sw_ir_len(sharding) && m->t->s[sharding.at] == '"') {
    sw_ir_span tiles = sw_ir_unquoted(m->t, sharding);
    SW_TRY(sw_im_read_tiles(m, &r->out->mesh, sw_im_string(m, tiles), block->rank, &out->sharding, NULL, &ok));
  } else {
    sw_ir_span in = sw_ir_inside(m->t, sharding);
    while (in.at < in.end && m->t->s[in.at] != '[') in.at++;
    SW_TRY(sw_sharding_parse_as(&r->out->mesh, block->rank, SW_FORM_SDY, m->t->s + in.at, sw_ir_len(in),
                                sw_ir_place(m->t, in.at), r->arena, &out->sharding, m->d));
  }
  if (!ok) {
    return SW_FAIL_INPUT(m->d, sw_ir_place(m->t, sharding.at), "the sharding is none over the mesh of the program");
  }
  return grow(r, block, out);
}

static sw_rc read_border(reader *r, sw_ir_span attrs, const sw_type *block, sw_local_border *out) {
  static const char *const kOthers[] = {"sdy.sharding", "mhlo.sharding"};
  sw_ir_span own = sw_ir_entry(r->m->t, attrs, "shardwright.sharding");
  *out = (sw_local_border){.whole = *block, .sharding = sw_sharding_replicated(block->rank), .said = true};
  if (sw_ir_present(own)) return own_border(r, attrs, own, out);
  for (size_t i = 0; i < sizeof kOthers / sizeof *kOthers; i++) {
    sw_ir_span v = sw_ir_entry(r->m->t, attrs, kOthers[i]);
    if (sw_ir_present(v)) return other_border(r, v, block, out);
  }
  out->said = false;
  return SW_OK;
}

static sw_rc read_borders(reader *r) {
  sw_importer *m = r->m;
  const sw_function *f = &m->g->functions[m->g->main];
  uint32_t said = m->t->blocks.at[sw_im_block(m->t, sw_im_op(m, m->main), 0)].n_args;
  bool plain = said == (uint32_t)f->n_args; /* no tuples */
  SW_ARENA_NEW(r->out->args, r->arena, f->n_args, m->d);
  SW_ARENA_NEW(r->out->outputs, r->arena, f->n_outputs, m->d);
  for (int32_t i = 0; i < f->n_args; i++) {
    sw_ir_span attrs = plain ? sw_im_arg_attrs(m->t, sw_im_op(m, m->main), (uint32_t)i) : (sw_ir_span){0, 0};
    SW_TRY(read_border(r, attrs, &m->g->values[f->args[i]].type, &r->out->args[i]));
  }
  for (int32_t i = 0; i < f->n_outputs; i++) {
    SW_TRY(read_border(r, m->declared_attrs[i], &m->g->values[f->outputs[i]].type, &r->out->outputs[i]));
  }
  return SW_OK;
}

sw_rc sw_im_local_program(sw_importer *m, sw_arena *arena, sw_local_program *out) {
  reader r = {.m = m, .arena = arena, .out = out};
  sw_local_call *calls;
  *out = (sw_local_program){.graph = m->g, .n_calls = (int32_t)m->collectives.n};
  SW_TRY(count_devices(&r));
  SW_TRY(read_mesh(&r));
  SW_ARENA_NEW(calls, arena, out->n_calls, m->d);
  out->calls = calls;
  for (int32_t i = 0; i < out->n_calls; i++) SW_TRY(read_call(&r, &m->collectives.at[i], &calls[i]));
  SW_TRY(read_borders(&r));
  return sw_local_verify(out, m->d);
}
