/* The oracle: what a collective means, one element at a time.
 *
 * Every op is two rules. `valid` says how many positions of a device's result mean something; `source` says, for one
 * such position, which device's input position it comes from (for a reduction: the position that all members reduce).
 *
 *   all_gather dim=0 over [a b | c d]: the result's position 2 comes from member 1, position 0
 */
#include <string.h>

#include "base/checked.h"
#include "base/lists.h"
#include "shardwright/collective.h"
#include "collective/scalar.h"

typedef struct oracle {
  const sw_mesh *m;
  const sw_collective *c;
  const sw_buffer *in;
  sw_buffer *out;
  int64_t devices, n;    /* of the mesh, of a group */
  int64_t device, index; /* the device whose result is made, its place in its group */
} oracle;

static int64_t peer(const oracle *o, int64_t index) { return sw_collective_peer(o->m, o->c, o->device, index); }

/* Extent of piece i of K positions in blocks of B. */
static int64_t piece(int64_t k, int64_t block, int64_t i) {
  int64_t lo = sw_min_i64(k, i * block), hi = sw_min_i64(k, lo + block);
  return hi - lo;
}

static void copy_valid(const sw_buffer *from, int64_t *valid) { memcpy(valid, from->valid, sizeof from->valid); }

static void valid_same(const oracle *o, int64_t *valid) { copy_valid(&o->in[o->device], valid); }
static void valid_root(const oracle *o, int64_t *valid) {
  copy_valid(&o->in[peer(o, sw_collective_root(o->c))], valid);
}

static bool at_root(const oracle *o) { return o->index == sw_collective_root(o->c); }

/* What member j gives to this device's result along the dimension that is joined. */
static int64_t joined_extent(const oracle *o, int64_t j) {
  const sw_buffer *in = &o->in[peer(o, j)];
  if (o->c->op != SW_COLL_ALL_TO_ALL) return in->valid[o->c->dim];
  if (o->c->dim != o->c->concat_dim) return in->valid[o->c->concat_dim];
  return piece(in->valid[o->c->dim], sw_ceil_div(in->dims[o->c->dim], o->n), o->index);
}

static void valid_joined(const oracle *o, int64_t *valid) {
  const int dim = sw_collective_joined_dim(o->c);
  int64_t total = 0;
  valid_same(o, valid);
  for (int64_t j = 0; j < o->n; j++) total += joined_extent(o, j);
  valid[dim] = sw_min_i64(total, o->out[o->device].dims[dim]);
}

static void valid_sliced(const oracle *o, int64_t *valid) {
  valid[o->c->dim] = piece(valid[o->c->dim], o->out[o->device].dims[o->c->dim], o->index);
}

static void valid_own_slice(const oracle *o, int64_t *valid) {
  valid_same(o, valid);
  valid_sliced(o, valid);
}

static void valid_root_slice(const oracle *o, int64_t *valid) {
  valid_root(o, valid);
  valid_sliced(o, valid);
}

static void valid_all_to_all(const oracle *o, int64_t *valid) {
  valid_joined(o, valid);
  if (o->c->dim != o->c->concat_dim) valid_sliced(o, valid);
}

/* The member whose input a shift brings here, or -1. */
static int64_t shift_source(const oracle *o) {
  if (o->c->sources) return o->c->sources[o->index];
  const sw_axis_ref *refs = o->c->axes;
  int64_t minor = sw_axis_refs_size(refs + o->c->dim + 1, o->c->n_axes - o->c->dim - 1);
  int64_t size = refs[o->c->dim].size, at = o->index / minor % size;
  int64_t offset = o->c->rotate ? o->c->offset % size : o->c->offset;
  if (offset <= -size || offset >= size) return -1;
  int64_t from = at - offset;
  if (o->c->rotate) from = (from + size) % size;
  return from < 0 || from >= size ? -1 : o->index + (from - at) * minor;
}

static bool has_shift_source(const oracle *o) { return shift_source(o) >= 0; }

static void valid_shifted(const oracle *o, int64_t *valid) { copy_valid(&o->in[peer(o, shift_source(o))], valid); }

static void valid_window(const oracle *o, int64_t *valid) {
  const sw_buffer *out = &o->out[o->device];
  for (int i = 0; i < out->rank; i++) {
    int64_t start, lo;
    sw_tiling_window(o->m, o->c->dst, i, o->device, &start, &lo, &valid[i]);
    if (o->c->fill_outside && o->c->op != SW_COLL_UPDATE_HALO) valid[i] = out->dims[i];
  }
}

/* Where position `at` of the result comes from: *device, and its position in `from`. False: from nowhere. */
static bool from_self(const oracle *o, const int64_t *at, int64_t *device, int64_t *from) {
  *device = o->device;
  memcpy(from, at, sizeof(int64_t) * SW_MAX_RANK);
  return true;
}

/* Of a group only the first device keeps what it has. */
/* Copies are parts of an average as they are. */
static bool from_first(const oracle *o, const int64_t *at, int64_t *device, int64_t *from) {
  return (o->index == 0 || o->c->reduction == SW_REDUCE_AVERAGE) && from_self(o, at, device, from);
}

static bool from_root(const oracle *o, const int64_t *at, int64_t *device, int64_t *from) {
  from_self(o, at, device, from);
  *device = peer(o, sw_collective_root(o->c));
  return true;
}

static bool from_slice(const oracle *o, const int64_t *at, int64_t *device, int64_t *from) {
  from_self(o, at, device, from);
  from[o->c->dim] += o->index * o->out[o->device].dims[o->c->dim];
  return true;
}

static bool from_root_slice(const oracle *o, const int64_t *at, int64_t *device, int64_t *from) {
  from_slice(o, at, device, from);
  *device = peer(o, sw_collective_root(o->c));
  return true;
}

static bool from_joined(const oracle *o, const int64_t *at, int64_t *device, int64_t *from) {
  const int dim = sw_collective_joined_dim(o->c);
  int64_t j = 0;
  from_self(o, at, device, from);
  while (from[dim] >= joined_extent(o, j)) from[dim] -= joined_extent(o, j++);
  *device = peer(o, j);
  return true;
}

static bool from_all_to_all(const oracle *o, const int64_t *at, int64_t *device, int64_t *from) {
  from_joined(o, at, device, from);
  int dim = o->c->dim;
  bool same = dim == o->c->concat_dim;
  from[dim] += o->index * (same ? sw_ceil_div(o->in[*device].dims[dim], o->n) : o->out[o->device].dims[dim]);
  return true;
}

static bool from_shift(const oracle *o, const int64_t *at, int64_t *device, int64_t *from) {
  from_self(o, at, device, from);
  *device = peer(o, shift_source(o));
  return true;
}

/* Does shard i of a dimension own a global index? With halos (len > step) only the core [i*step, (i+1)*step) does: the
 * rest are copies, perhaps stale. */
static bool owns(const oracle *o, const sw_tiling *t, int dim, int64_t device, int64_t global) {
  const sw_tile_dim *td = &t->dim[dim];
  if (td->starts || td->step <= 0 || td->len <= td->step || td->base > 0 || td->base + td->len < td->step) return true;
  int64_t n = sw_axis_refs_size(t->refs + td->first_ref, td->n_refs);
  int64_t i = sw_mesh_group_index(o->m, device, t->refs + td->first_ref, td->n_refs);
  return sw_min_i64(global / td->step, n - 1) == i;
}

/* Does a device's buffer under a tiling have the global index? Where, if so. */
static bool in_window(const oracle *o, const sw_tiling *t, int64_t device, const int64_t *global, int64_t *from) {
  for (int i = 0; i < t->rank; i++) {
    int64_t start, lo, hi;
    sw_tiling_window(o->m, t, i, device, &start, &lo, &hi);
    from[i] = global[i] - start;
    if (from[i] < lo || from[i] >= hi) return false;
  }
  return true;
}

/* The first device, in order, that holds a global index under a tiling, among those that hold the same value. */
static bool find_holder(const oracle *o, const sw_tiling *t, const int64_t *global, int64_t *device, int64_t *from) {
  const sw_axis_ref *apart = t->refs + t->first_apart;
  int64_t place = sw_mesh_group_index(o->m, o->device, apart, t->n_apart);
  for (int64_t v = 0; v < o->devices; v++) {
    bool holds = sw_mesh_group_index(o->m, v, apart, t->n_apart) == place && in_window(o, t, v, global, from);
    for (int i = 0; i < t->rank && holds; i++) holds = owns(o, t, i, v, global[i]);
    if (holds) return *device = v, true;
  }
  return false;
}

/* False when the position stands for no element of the tensor. */
static bool global_of(const oracle *o, const int64_t *at, int64_t *global) {
  for (int i = 0; i < o->c->dst->rank; i++) {
    int64_t start, lo, hi;
    sw_tiling_window(o->m, o->c->dst, i, o->device, &start, &lo, &hi);
    if (at[i] < lo || at[i] >= hi) return false;
    global[i] = start + at[i];
  }
  return true;
}

static bool from_holder(const oracle *o, const int64_t *at, int64_t *device, int64_t *from) {
  int64_t global[SW_MAX_RANK];
  return global_of(o, at, global) && find_holder(o, o->c->src, global, device, from);
}

/* What the device itself holds of it. */
static bool from_own(const oracle *o, const int64_t *at, int64_t *device, int64_t *from) {
  int64_t global[SW_MAX_RANK];
  *device = o->device;
  return global_of(o, at, global) && in_window(o, o->c->src, o->device, global, from);
}

/* The tiling of the cores inside the halos. */
void sw_tiling_core(const sw_tiling *halo, sw_tiling *core) {
  *core = *halo;
  for (int i = 0; i < core->rank; i++) {
    core->dim[i].base = 0;
    if (halo->dim[i].n_refs)
      core->dim[i].len = halo->dim[i].step;
    else
      core->dim[i].len = halo->dim[i].size;
  }
}

static bool same_group(const oracle *o, int64_t device) { /* coordinates outside of the split axes agree */
  const sw_tiling *t = o->c->dst;
  sw_axis_ref refs[SW_MAX_REFS];
  int n = 0;
  for (int i = 0; i < t->rank; i++)
    for (int r = 0; r < t->dim[i].n_refs; r++) refs[n++] = t->refs[t->dim[i].first_ref + r];
  return sw_mesh_group_peer(o->m, o->device, refs, n, 0) == sw_mesh_group_peer(o->m, device, refs, n, 0);
}

/* The owner's core; for the own core that is the destination itself. */
static bool from_core(const oracle *o, const int64_t *at, int64_t *device, int64_t *from) {
  int64_t global[SW_MAX_RANK] = {0};
  if (!global_of(o, at, global)) return from_self(o, at, device, from);
  sw_tiling core;
  sw_tiling_core(o->c->dst, &core);
  for (*device = 0; *device < o->devices; ++*device) {
    if (!same_group(o, *device) || !in_window(o, &core, *device, global, from)) continue;
    for (int i = 0; i < core.rank; i++) from[i] -= o->c->dst->dim[i].base;
    return true;
  }
  return false;
}

/* How one op makes one device's result. */
typedef struct coll_rule {
  bool (*defined)(const oracle *o); /* NULL: on every device */
  void (*valid)(const oracle *o, int64_t *valid);
  bool (*source)(const oracle *o, const int64_t *at, int64_t *device, int64_t *from);
  bool reduces;
  bool whole; /* every position is made, not only the valid ones */
} coll_rule;

static const coll_rule kRules[SW_COLL_COUNT] = {
    [SW_COLL_ALL_GATHER] = {NULL, valid_joined, from_joined, false, false},
    [SW_COLL_ALL_REDUCE] = {NULL, valid_same, from_self, true, false},
    [SW_COLL_ALL_SLICE] = {NULL, valid_own_slice, from_slice, false, false},
    [SW_COLL_ALL_TO_ALL] = {NULL, valid_all_to_all, from_all_to_all, false, false},
    [SW_COLL_REDUCE_SCATTER] = {NULL, valid_own_slice, from_slice, true, false},
    [SW_COLL_BROADCAST] = {NULL, valid_root, from_root, false, false},
    [SW_COLL_GATHER] = {at_root, valid_joined, from_joined, false, false},
    [SW_COLL_SCATTER] = {NULL, valid_root_slice, from_root_slice, false, false},
    [SW_COLL_REDUCE] = {at_root, valid_same, from_self, true, false},
    [SW_COLL_SEND] = {NULL, NULL, NULL, false, false},
    [SW_COLL_RECV] = {NULL, NULL, NULL, false, false},
    [SW_COLL_SHIFT] = {has_shift_source, valid_shifted, from_shift, false, false},
    [SW_COLL_UPDATE_HALO] = {NULL, valid_window, from_core, false, true},
    [SW_COLL_BARRIER] = {NULL, NULL, NULL, false, false},
    [SW_COLL_PERMUTE] = {NULL, valid_window, from_holder, false, true},
    [SW_COLL_EXCHANGE] = {NULL, valid_window, from_holder, false, true},
    [SW_COLL_ALL_TO_ALL_DIMS] = {NULL, valid_window, from_holder, false, true},
    [SW_COLL_TO_PARTIAL] = {NULL, valid_same, from_first, false, false},
    [SW_COLL_SHARD_TO_PARTIAL] = {NULL, valid_window, from_own, false, false},
};

static void reduce_element(const oracle *o, const int64_t *from, void *to) {
  sw_dtype t = o->out[o->device].dtype;
  sw_reduction r = o->c->reduction;
  sw_scalar acc = {0};
  for (int64_t j = 0; j < o->n; j++) {
    const sw_buffer *in = &o->in[peer(o, j)];
    sw_scalar v = sw_scalar_convert(in->dtype, t, sw_scalar_load(in->dtype, sw_buffer_element(in, from)));
    acc = j ? sw_reduction_combine(r, t, acc, v) : v;
  }
  sw_scalar_store(t, sw_reduction_finish(r, t, acc, o->n), to);
}

static void make_element(const oracle *o, const coll_rule *rule, const int64_t *at) {
  sw_buffer *out = &o->out[o->device];
  void *to = sw_buffer_element(out, at);
  int64_t device, from[SW_MAX_RANK];
  if (!rule->source(o, at, &device, from)) {
    if (sw_coll_flags(o->c->op) & SW_COLL_USES_REDUCTION)
      sw_reduction_identity_bytes(o->c->reduction, out->dtype, to);
    else if (o->c->fill_outside)
      sw_element_store(out->dtype, o->c->fill, to);
  } else if (rule->reduces)
    reduce_element(o, from, to);
  else
    memcpy(to, sw_buffer_element(&o->in[device], from), (size_t)sw_dtype_bytes(out->dtype));
}

static void make_result(const oracle *o, const coll_rule *rule) {
  sw_buffer *out = &o->out[o->device];
  int64_t at[SW_MAX_RANK] = {0};
  sw_buffer_poison(out);
  memset(out->valid, 0, sizeof out->valid);
  if (rule->defined && !rule->defined(o)) return;
  rule->valid(o, out->valid);
  const int64_t *limit = rule->whole ? out->dims : out->valid;
  for (int i = 0; i < out->rank; i++)
    if (limit[i] == 0) return;
  do make_element(o, rule, at);
  while (sw_next_position(out->rank, limit, at));
}

sw_rc sw_collective_oracle(const sw_mesh *m, const sw_collective *c, const sw_buffer *in, sw_buffer *out, sw_diag *d) {
  if ((unsigned)c->op >= SW_COLL_COUNT) return SW_FAIL_INPUT(d, SW_NOWHERE, "unknown collective %d", (int)c->op);
  if (c->op == SW_COLL_BARRIER) return SW_OK;
  const coll_rule *rule = &kRules[c->op];
  if (!rule->source)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s has no meaning without the program around it", sw_coll_text(c->op));
  if ((sw_coll_flags(c->op) & SW_COLL_USES_REDUCTION) && c->reduction == SW_REDUCE_GENERIC)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: a generic reduction is known only to its user", sw_coll_text(c->op));
  oracle o = {.m = m, .c = c, .in = in, .out = out, .devices = sw_mesh_devices(m)};
  for (o.device = 0; o.device < o.devices; o.device++) {
    SW_TRY(sw_collective_check_buffers(m, c, true, &in[o.device], &out[o.device], d));
    o.n = sw_collective_members(c, o.device);
    o.index = sw_collective_place(m, c, o.device);
    make_result(&o, rule);
  }
  return SW_OK;
}
