/* Collectives of StableHLO, and the number of a device: in a manual computation, in a program that is partitioned
 * already, in one for a single device.
 *
 *   %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1], [2, 3]]>, use_global_device_ids, ...}> ({...})
 *
 * is a reduction among devices 0 and 1 and among 2 and 3. What replica_groups mean depends on channel and
 * use_global_device_ids, as the specification says.
 */
#include <string.h>

#include "mlir/import/import_collective.h"
#include "mlir/import/dialect.h"
#include "mlir/import/import_emit.h"
#include "mlir/import/import_local.h"

/* How numbers in groups and pairs name devices. */
typedef enum naming {
  REPLICAS,   /* of one partition */
  PARTITIONS, /* of one replica */
  REPLICAS_AND_ALL /* replicas, with all of their partitions */,
  DEVICES
} naming;

/* The op at hand. */
typedef struct reader {
  sw_importer *m;
  const sw_im_cut_program *p;
  const sw_ir_op *o;
  uint32_t at; /* in the text */
  sw_collective coll;
  int64_t n_groups;
} reader;

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
  if (!r->p->counted || global) return DEVICES;
  if (channel_of(r) <= 0) return REPLICAS;
  return reduces_or_gathers ? REPLICAS_AND_ALL : PARTITIONS;
}

/* Numbers by the naming, and how often a list of them stands for another list of devices. */
static int64_t names_in(const reader *r, naming by) {
  return by == DEVICES ? r->p->out->devices : by == PARTITIONS ? r->p->partitions : r->p->replicas;
}
static int64_t copies_of(const reader *r, naming by) {
  return by == REPLICAS ? r->p->partitions : by == PARTITIONS ? r->p->replicas : 1;
}

static int64_t device_of_name(const reader *r, naming by, int64_t name, int64_t copy) {
  if (by == DEVICES) return name;
  return by == PARTITIONS ? copy * r->p->partitions + name : name * r->p->partitions + copy;
}

/* No list at all: one of everybody. */
static sw_rc read_groups_said(reader *r, naming by, sw_im_rows *t) {
  int64_t *all, n = names_in(r, by);
  SW_TRY(sw_im_read_rows(r->m, r->at, "replica_groups", t));
  if (t->n) return SW_OK;
  SW_ARENA_NEW(all, &r->m->scratch, n, r->m->d);
  for (int64_t i = 0; i < n; i++) all[i] = i;
  *t = (sw_im_rows){all, (int)n, n};
  return SW_OK;
}

static sw_rc check_name(reader *r, naming by, int64_t name) {
  if (name >= 0 && name < names_in(r, by)) return SW_OK;
  return SW_IM_FAIL(r->m, r->at, "a group has number %lld; expected 0 to %lld", (long long)name,
                    (long long)names_in(r, by) - 1);
}

/* One row as a group, in each of its copies. */
static sw_rc add_row_as_group(reader *r, naming by, const int64_t *row, int64_t each, int64_t *sizes, int64_t *members,
                              int64_t *n_members) {
  int64_t n = 0, inner = by == REPLICAS_AND_ALL ? r->p->partitions : 1;
  while (n < each && row[n] != -1) n++;
  for (int64_t i = 0; i < n; i++) SW_TRY(check_name(r, by, row[i]));
  for (int64_t copy = 0; n && copy < copies_of(r, by); copy++) {
    if (*n_members + n * inner > r->p->out->devices) return SW_IM_FAIL(r->m, r->at, "a device is in two groups");
    for (int64_t p = 0; p < inner; p++) {
      for (int64_t i = 0; i < n; i++) {
        members[(*n_members)++] = device_of_name(r, by, row[i], by == REPLICAS_AND_ALL ? p : copy);
      }
    }
    sizes[r->n_groups++] = n * inner;
  }
  return SW_OK;
}

static sw_rc check_members(reader *r, const int64_t *members, int64_t n, bool all) {
  bool *seen;
  SW_ARENA_NEW(seen, &r->m->scratch, r->p->out->devices, r->m->d);
  for (int64_t i = 0; i < n; i++) {
    if (seen[members[i]]) {
      return SW_IM_FAIL(r->m, r->at, "device %lld is in two groups", (long long)members[i]);
    }
    seen[members[i]] = true;
  }
  for (int64_t i = 0; i < r->p->out->devices && all; i++) {
    if (!seen[i]) return SW_IM_FAIL(r->m, r->at, "device %lld is in no group", (long long)i);
  }
  return SW_OK;
}

/* By device; equal ones are kept once, in the graph. */
static sw_rc keep_lists(reader *r, const int64_t *sizes, const int64_t *members, int64_t n) {
  sw_im_cut_program *p = r->m->cut;
  sw_arena *arena = &r->m->g->arena;
  int64_t *number, *kept;
  bool fresh;
  sw_text key = {0};
  sw_text_append(&key, (const char *)sizes, (size_t)r->n_groups * sizeof *sizes);
  sw_text_append(&key, (const char *)members, (size_t)n * sizeof *members);
  sw_rc rc = key.rc ? SW_E_RESOURCE
                    : sw_dict_put(&p->known, sw_text_str(&key), key.n, (int64_t)p->lists.n, &number, &fresh, r->m->d);
  sw_text_free(&key);
  SW_TRY(rc);
  if (!fresh) {
    r->coll.lists = p->lists.at[*number];
    return SW_OK;
  }
  sw_device_list *lists;
  SW_ARENA_NEW(lists, arena, p->out->devices, r->m->d);
  kept = sw_arena_copy(arena, members, (size_t)n, sizeof *members, r->m->d);
  if (!kept) return SW_E_RESOURCE;
  for (int64_t g = 0; g < r->n_groups; kept += sizes[g++]) {
    for (int64_t i = 0; i < sizes[g]; i++) lists[kept[i]] = (sw_device_list){kept, sizes[g], i};
  }
  r->coll.lists = lists;
  return sw_array_push(&p->lists, r->coll.lists, r->m->d);
}

static sw_rc read_replica_groups(reader *r, naming by) {
  int64_t n = 0, *sizes, *members;
  sw_im_rows t;
  SW_TRY(read_groups_said(r, by, &t));
  SW_ARENA_NEW_EACH(&r->m->scratch, r->p->out->devices, r->m->d, sizes, members);
  for (int64_t i = 0; i < t.n; i += t.each) SW_TRY(add_row_as_group(r, by, t.at + i, t.each, sizes, members, &n));
  SW_TRY(check_members(r, members, n, r->coll.op != SW_COLL_BROADCAST));
  return keep_lists(r, sizes, members, n);
}

static sw_rc read_source_target_pairs(reader *r, naming by) {
  const int64_t devices = r->p->out->devices;
  int64_t *from;
  bool *sends;
  sw_im_rows t;
  SW_TRY(sw_im_read_rows(r->m, r->at, "source_target_pairs", &t));
  SW_ARENA_NEW(from, &r->m->g->arena, devices, r->m->d);
  SW_ARENA_NEW(sends, &r->m->scratch, devices, r->m->d);
  for (int64_t i = 0; i < devices; i++) from[i] = -1;
  for (int i = 0; i + 1 < t.n; i += 2) {
    SW_TRY(check_name(r, by, t.at[i]));
    SW_TRY(check_name(r, by, t.at[i + 1]));
    for (int64_t copy = 0; copy < copies_of(r, by); copy++) {
      int64_t source = device_of_name(r, by, t.at[i], copy), target = device_of_name(r, by, t.at[i + 1], copy);
      if (from[target] >= 0 || sends[source]) {
        return SW_IM_FAIL(r->m, r->at, "device %lld %s twice; expected once at most",
                          (long long)(sends[source] ? source : target), sends[source] ? "sends" : "receives");
      }
      from[target] = source;
      sends[source] = true;
    }
  }
  r->coll.sources = from;
  for (int a = 0; a < r->p->out->grid.n_axes; a++) { /* a device's number is its index among all */
    r->coll.axes[r->coll.n_axes++] = sw_axis_whole(&r->p->out->grid, a);
  }
  return SW_OK;
}

/* --- ops ---------------------------------------------------------------------------------------------------------- */

static sw_rc read_dim_attr(reader *r, const char *key, int *out) {
  int64_t dim;
  SW_TRY(sw_im_read_dim(r->m, r->at, key, r->m->g->values[sw_im_operand(r->m, r->at, 0)].type.rank, &dim));
  *out = (int)dim;
  return SW_OK;
}

/* This device's number among partitions or replicas; all devices of a grid are partitions. */
static sw_rc add_number(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_mesh *grid = &m->cut->out->grid;
  bool partition = strcmp(row->name, "partition_id") == 0;
  sw_axis_ref refs[SW_MAX_AXES] = {sw_axis_whole(grid, partition && !m->cut->n_axes)};
  int n = m->cut->n_axes ? 0 : 1;
  for (int a = 0; m->cut->n_axes && partition && a < grid->n_axes; a++) refs[n++] = sw_axis_whole(grid, a);
  return sw_im_own_number(m, op, 0, refs, n);
}

/* x from all of the group, behind each other in a dim in front, and of these the one at place `root`. */
static sw_rc select_root_value(reader *r, uint32_t i, sw_id x, sw_id root) {
  sw_type t = *sw_im_type(r->m, x);
  int64_t dims[SW_MAX_RANK] = {1}, each[SW_MAX_RANK] = {1};
  sw_id in[SW_MAX_RANK + 1], zero;
  if (t.rank == SW_MAX_RANK) return SW_IM_FAIL(r->m, r->at, "operand %u has too many dims", i);
  for (int k = 0; k < t.rank; k++) dims[k + 1] = each[k + 1] = t.dims[k];
  SW_TRY(sw_im_reshaped(r->m, r->at, x, t.rank + 1, dims, &x));
  dims[0] = r->coll.lists[0].n;
  const sw_type all = {t.dtype, t.rank + 1, dims};
  sw_im_add gather = {.code = SW_OP_COLLECTIVE,
                      .n_operands = 1,
                      .operands = &x,
                      .n_types = 1,
                      .types = &all,
                      .collective = &r->coll,
                      .part = "all"};
  SW_TRY(sw_im_emit_one(r->m, r->at, &gather, i, &in[0]));
  SW_TRY(sw_im_number(r->m, r->at, sw_im_type(r->m, root)->dtype, 0, 0, NULL, &zero));
  for (int k = 0; k < t.rank; k++) in[k + 2] = zero;
  in[1] = root;
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_SIZES, each, t.rank + 1);
  SW_TRY(sw_im_help(r->m, r->at, SW_OP_DYNAMIC_SLICE, t.rank + 2, in, &a, &x));
  SW_TRY(sw_im_reshaped(r->m, r->at, x, t.rank, each + 1, &x));
  return sw_im_result_is(r->m, r->at, i, x);
}

/* has_dynamic_root: behind the n operands stands a vector of places in the group, one for each. */
static sw_rc read_dynamic_root(reader *r, uint32_t n, uint32_t i, sw_id *out) {
  const sw_id roots = sw_im_operand(r->m, r->at, n);
  const sw_type *t = sw_im_type(r->m, roots);
  if (t->rank != 1 || t->dims[0] != (int64_t)n) {
    return SW_IM_FAIL(r->m, r->at, "the last operand is no vector of %u roots; expected one for each result", n);
  }
  SW_TRY(sw_im_cut(r->m, r->at, roots, &(sw_im_range){0, i, (int64_t)i + 1, 1}, out));
  return sw_im_reshaped(r->m, r->at, *out, 0, NULL, out);
}

static sw_rc from_roots(reader *r, uint32_t n) {
  sw_id root;
  r->coll.op = SW_COLL_ALL_GATHER;
  SW_TRY(read_replica_groups(r, naming_of(r, false)));
  for (int64_t i = 0; i < r->p->out->devices; i++) {
    if (r->coll.lists[i].n != r->coll.lists[0].n)
      return SW_IM_FAIL(r->m, r->at, "groups are of different sizes; expected one size where roots are values");
  }
  for (uint32_t i = 0; i < n; i++) {
    SW_TRY(read_dynamic_root(r, n, i, &root));
    SW_TRY(select_root_value(r, i, sw_im_operand(r->m, r->at, i), root));
  }
  return SW_OK;
}

/* Which place of its group this device has, -1 where it is in none. */
static sw_rc own_place(reader *r, sw_id *out) {
  const sw_mesh *grid = &r->p->out->grid;
  const int64_t devices = r->p->out->devices, one = 1;
  const sw_type scalar = {.dtype = SW_I64}, table = {SW_I64, 1, &devices};
  sw_axis_ref refs[SW_MAX_AXES];
  sw_im_attrs number = {.n = 0}, places = {.n = 0}, sizes = {.n = 0};
  sw_id in[2];
  int64_t *place;
  SW_ARENA_NEW(place, &r->m->scratch, devices, r->m->d);
  for (int64_t i = 0; i < devices; i++) place[i] = r->coll.lists[i].n ? r->coll.lists[i].place : -1;
  sw_im_value(&places, &table, place, false);
  SW_TRY(sw_im_help(r->m, r->at, SW_OP_CONSTANT, 0, NULL, &places, &in[0]));
  for (int a = 0; a < grid->n_axes; a++) refs[a] = sw_axis_whole(grid, a);
  sw_im_int(&number, SW_ATTR_BASE, 0);
  sw_im_int(&number, SW_ATTR_STEP, 1);
  sw_im_int(&number, SW_ATTR_DTYPE, SW_I64);
  sw_im_add who = {.code = SW_OP_SHARD_START,
                   .attrs = &number,
                   .n_types = 1,
                   .types = &scalar,
                   .n_refs = grid->n_axes,
                   .refs = refs,
                   .part = "device"};
  SW_TRY(sw_im_emit_one(r->m, r->at, &who, 0, &in[1]));
  sw_im_numbers(&sizes, SW_ATTR_SIZES, &one, 1);
  SW_TRY(sw_im_help(r->m, r->at, SW_OP_DYNAMIC_SLICE, 2, in, &sizes, out));
  return sw_im_reshaped(r->m, r->at, *out, 0, NULL, out);
}

/* collective_reduce: the sum of the group at its root, zeros elsewhere. Roots are the first of each group, or, behind
 * the operands, a vector of places. */
static sw_rc at_roots(reader *r, uint32_t n) {
  const bool said = r->o->n_uses == n + 1;
  sw_id place, here, sum, zero;
  SW_TRY(own_place(r, &place));
  for (uint32_t i = 0; i < n; i++) {
    sw_type t;
    sw_im_add add = {.code = SW_OP_COLLECTIVE, .n_types = 1, .types = &t, .collective = &r->coll, .part = "sum"};
    sw_id x = sw_im_operand(r->m, r->at, i), root;
    SW_TRY(sw_im_result_type(r->m, r->at, (int)i, &t));
    add.n_operands = 1;
    add.operands = &x;
    SW_TRY(sw_im_emit_one(r->m, r->at, &add, i, &sum));
    SW_TRY(sw_im_number(r->m, r->at, SW_I64, 0, 0, NULL, &root));
    if (said) SW_TRY(read_dynamic_root(r, n, i, &root));
    SW_TRY(sw_im_converted(r->m, r->at, root, SW_I64, &root));
    SW_TRY(sw_im_compared(r->m, r->at, "eq", place, root, &here));
    SW_TRY(sw_im_number(r->m, r->at, t.dtype, 0, t.rank, t.dims, &zero));
    SW_TRY(sw_im_choose(r->m, r->at, here, sum, zero, &sum));
    SW_TRY(sw_im_result_is(r->m, r->at, i, sum));
  }
  return SW_OK;
}

static sw_rc listed(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  reader r = {.m = m, .p = m->cut, .o = sw_im_op(m, op), .at = op};
  uint32_t n = sw_ir_result_count(m->t, r.o);
  const sw_im_collective *k = sw_im_collective_named(m->t, r.o);
  if (!k) return add_number(m, row, op);
  const bool roots = n && r.o->n_uses == n + 1 && (k->op == SW_COLL_BROADCAST || k->op == SW_COLL_REDUCE);
  if (roots && k->op == SW_COLL_BROADCAST) return from_roots(&r, n);
  if (!n || (r.o->n_uses != n && !roots)) {
    return SW_IM_FAIL(m, op, "the op has %u operands and %u results; expected as many", r.o->n_uses, n);
  }
  r.coll.op = k->op == SW_COLL_REDUCE ? SW_COLL_ALL_REDUCE : k->op; /* which device has the sum is asked behind it */
  if (k->dim) SW_TRY(read_dim_attr(&r, k->dim, &r.coll.dim));
  if (k->other) SW_TRY(read_dim_attr(&r, k->other, &r.coll.concat_dim));
  if (sw_coll_flags(k->op) & SW_COLL_USES_REDUCTION && !sw_im_collective_reduction(m, op, &r.coll.reduction)) {
    return SW_IM_FAIL(m, op, "a collective reduces by a region of its own; expected add, max or another known one");
  }
  naming by = naming_of(&r, k->wide);
  SW_TRY(k->op == SW_COLL_SHIFT ? read_source_target_pairs(&r, by) : read_replica_groups(&r, by));
  if (k->op == SW_COLL_REDUCE) return at_roots(&r, n);
  for (uint32_t i = 0; i < n; i++) {
    sw_id x = sw_im_operand(m, op, i);
    SW_TRY(sw_im_add_collective(m, op, i, &r.coll, 1, &x));
  }
  return SW_OK;
}

/* --- wherever they stand ------------------------------------------------------------------------------------------ */

static bool gives_device_number(const sw_importer *m, uint32_t op) { return sw_im_op(m, op)->n_uses == 0; }

/* replica_groups of one member each, [[0]]: a row of digits between brackets, no comma inside of inner ones. */
static bool groups_of_one(const sw_importer *m, uint32_t op) {
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "replica_groups", NULL);
  int depth = 0;
  if (!sw_ir_present(v)) return false;
  for (uint32_t i = v.at; i < v.end && m->t->s[i] != ':'; i++) {
    char c = m->t->s[i];
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth >= 2) return false;
  }
  return true;
}

/* In a program for one device, whose number is 0, a collective has nobody to talk to. */
static sw_rc import_lone_collective(sw_importer *m, uint32_t op, bool *done) {
  *done = false;
  if (gives_device_number(m, op)) {
    static const uint32_t kZero = 0;
    sw_im_attrs a = {.n = 0};
    int64_t partitions;
    *done = sw_im_module_number(m, "mhlo.num_partitions", &partitions) && partitions == 1;
    if (!*done) return SW_OK;
    sw_im_value(&a, &(sw_type){.dtype = SW_U32}, &kZero, true);
    return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_CONSTANT, .attrs = &a}, NULL);
  }
  uint32_t n = sw_ir_result_count(m->t, sw_im_op(m, op));
  *done = groups_of_one(m, op) && sw_im_op(m, op)->n_uses == n;
  for (uint32_t i = 0; *done && i < n; i++) { /* (lengths of dims stay) */
    sw_type t;
    SW_TRY(sw_im_result_type(m, op, (int)i, &t));
    *done = sw_type_equal(&t, &m->g->values[sw_im_operand(m, op, i)].type);
  }
  return *done ? sw_im_identity(m, NULL, op) : SW_OK;
}

/* What a device gets from the others. */
static sw_rc import_collective(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t n = sw_ir_result_count(m->t, o);
  sw_type types[SW_MAX_RESULTS];
  sw_id results[SW_MAX_RESULTS];
  sw_im_attrs a = {.n = 0};
  sw_im_add add = {.code = SW_OP_OPAQUE, .attrs = &a, .n_types = (int)n, .types = types};
  if (n < 1 || n > SW_MAX_RESULTS) {
    return SW_IM_FAIL(m, op, "the op has %u results; expected 1 to %d", n, SW_MAX_RESULTS);
  }
  SW_TRY(sw_im_operands(m, op, 0, &add.operands, &add.n_operands));
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_result_type(m, op, (int)i, &types[i]));
  sw_im_text(&a, SW_ATTR_TARGET, row->name);
  SW_TRY(sw_im_emit(m, op, &add, results));
  return sw_im_note_collective(m, m->g->values[results[0]].def, op);
}

/* Collectives outside of manual computations say what each device does: the program is partitioned already. */
static sw_rc local(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  if (m->by_device) return import_collective(m, row, op);
  if (m->cut) return listed(m, row, op);
  sw_ir_span name = sw_im_op(m, op)->name;
  bool done;
  SW_TRY(import_lone_collective(m, op, &done));
  if (done) return SW_OK;
  return SW_IM_FAIL(m, op, "'%.*s' is of a program that is partitioned already; expected the whole program",
                    SW_IR_TEXT(m->t, name));
}

/* clang-format off */
static const sw_ir_row kRows[] = {
    {"all_reduce", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"all_gather", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"all_to_all", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"reduce_scatter", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"collective_permute", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"collective_broadcast", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"collective_reduce", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"cross-replica-sum", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"partition_id", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"replica_id", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
};
/* clang-format on */

const sw_dialect sw_dialect_partitioned = {"partitioned", SW_IR_ROWS(kRows), NULL, 0, NULL};
