/* Random programs with known results.
 *
 * A call is drawn in steps: op, axes, dtypes, dims, then every device's valid extents (those that a group must agree
 * on are drawn from the group), then the inputs; the oracle gives the results. A device fills its result with poison,
 * makes the call and compares every element: whoever writes padding or leaves an element out is found.
 */
#include "shardwright/comm_suite.h"

#include <math.h>
#include <string.h>

#include "shardwright/checked.h"
#include "shardwright/hash.h"
#include "shardwright/scalar.h"

enum { MAX_EXTENT = 6, MAX_ELEMS = 4096 };

typedef struct suite_case {
  sw_collective coll;
  sw_tiling src, dst;
  sw_buffer *in, *want; /* per device */
  bool in_place;
} suite_case;

struct sw_comm_suite {
  sw_mesh mesh;
  int64_t devices;
  int n;
  suite_case *cases;
};

typedef struct draw {
  const sw_mesh *m;
  sw_rng rng;
  sw_arena *arena;
  int64_t devices;
  suite_case *c;
  int rank;
  sw_dtype from, to;
  int64_t in_dims[SW_MAX_RANK], out_dims[SW_MAX_RANK];
  int64_t total; /* extent of the tensor along the joined dimension */
  uint64_t salt; /* of what follows from an index instead of being drawn in turn */
} draw;

static int64_t below(draw *w, int64_t n) { return sw_rng_below(&w->rng, n); }
static bool one_in(draw *w, int64_t n) { return below(w, n) == 0; }

/* --- what --- */

static const sw_coll_op kOps[] = {
    SW_COLL_ALL_GATHER, SW_COLL_ALL_REDUCE, SW_COLL_ALL_SLICE,  SW_COLL_ALL_TO_ALL,  SW_COLL_REDUCE_SCATTER,
    SW_COLL_BROADCAST,  SW_COLL_GATHER,     SW_COLL_SCATTER,    SW_COLL_REDUCE,      SW_COLL_SHIFT,
    SW_COLL_BARRIER,    SW_COLL_EXCHANGE,   SW_COLL_TO_PARTIAL, SW_COLL_UPDATE_HALO, SW_COLL_ALL_REDUCE,
};

static bool is(const draw *w, sw_coll_op op) { return w->c->coll.op == op; }
static bool reduces(const draw *w) {
  return (sw_coll_flags(w->c->coll.op) & SW_COLL_USES_REDUCTION) && !is(w, SW_COLL_TO_PARTIAL);
}

/* A whole axis, or one of its two halves as sub-axes. */
static sw_axis_ref random_ref(draw *w, int axis) {
  sw_axis_ref ref = sw_axis_whole(w->m, axis);
  if (ref.size % 2 || ref.size < 4 || !one_in(w, 2)) return ref;
  int32_t minor = ref.size / 2;
  return one_in(w, 2) ? (sw_axis_ref){axis, 1, 2} : (sw_axis_ref){axis, 2, minor};
}

/* Some axes in random order. */
static int random_refs(draw *w, sw_axis_ref *refs) {
  int n = 0, order[SW_MAX_AXES] = {0};
  for (int a = 0; a < w->m->n_axes; a++) order[a] = a;
  for (int a = w->m->n_axes - 1; a > 0; a--) {
    int64_t b = below(w, a + 1);
    int swap = order[a];
    order[a] = order[b];
    order[b] = swap;
  }
  for (int a = 0; a < w->m->n_axes; a++)
    if (!one_in(w, 3)) refs[n++] = random_ref(w, order[a]);
  return n;
}

static void random_types(draw *w) {
  sw_collective *c = &w->c->coll;
  do {
    w->to = (sw_dtype)below(w, SW_TOKEN);
    w->from = reduces(w) && one_in(w, 3) ? (sw_dtype)below(w, SW_TOKEN) : w->to;
    c->reduction = (sw_reduction)below(w, SW_REDUCE_GENERIC);
  } while (!sw_reduction_applies(c->reduction, w->to) ||
           (is(w, SW_COLL_TO_PARTIAL) && c->reduction == SW_REDUCE_AVERAGE));
}

static void random_op(draw *w) {
  sw_collective *c = &w->c->coll;
  *c = (sw_collective){.op = kOps[below(w, (int64_t)(sizeof kOps / sizeof kOps[0]))]};
  bool tiled = sw_coll_flags(c->op) & (SW_COLL_USES_TILES | SW_COLL_USES_HALOS);
  if (!tiled) c->n_axes = random_refs(w, c->axes);
  if (is(w, SW_COLL_SHIFT) && c->n_axes == 0) c->op = SW_COLL_BARRIER;
  random_types(w);
  if (sw_coll_flags(c->op) & SW_COLL_USES_ROOT) {
    c->n_root = c->n_axes;
    for (int i = 0; i < c->n_root; i++) c->root[i] = below(w, c->axes[i].size);
  }
  if (is(w, SW_COLL_SHIFT)) {
    c->dim = (int)below(w, c->n_axes);
    c->offset = below(w, 11) - 5;
    c->rotate = one_in(w, 2);
  }
}

/* --- shapes --- */

static bool needs_dim(const draw *w) {
  return (sw_coll_flags(w->c->coll.op) & SW_COLL_USES_DIM) && !is(w, SW_COLL_SHIFT);
}

static void random_dims(draw *w) {
  sw_collective *c = &w->c->coll;
  int least = needs_dim(w);
  w->rank = least + (int)below(w, 4 - least);
  for (int i = 0; i < w->rank; i++) w->in_dims[i] = one_in(w, 12) ? 0 : 1 + below(w, MAX_EXTENT);
  if (!needs_dim(w)) return;
  c->dim = (int)below(w, w->rank);
  if (is(w, SW_COLL_ALL_TO_ALL)) c->concat_dim = (int)below(w, w->rank);
}

/* Gathering: the tensor's extent is drawn, and its ceil block is the input's extent. */
static void random_join(draw *w) {
  const sw_collective *c = &w->c->coll;
  bool joins =
      is(w, SW_COLL_ALL_GATHER) || is(w, SW_COLL_GATHER) || (is(w, SW_COLL_ALL_TO_ALL) && c->dim != c->concat_dim);
  if (!joins) return;
  int64_t n = sw_axis_refs_size(c->axes, c->n_axes);
  w->total = below(w, n * 3 + 1);
  w->in_dims[is(w, SW_COLL_ALL_TO_ALL) ? c->concat_dim : c->dim] = sw_ceil_div(w->total, n);
}

static int join_dim(const draw *w) { return is(w, SW_COLL_ALL_TO_ALL) ? w->c->coll.concat_dim : w->c->coll.dim; }

/* Shards of free lengths, as sharded_dims_offsets gives them. */
static sw_rc random_starts(draw *w, const sw_tiling *t, sw_tile_dim *d, sw_diag *diag) {
  int64_t shards = sw_axis_refs_size(t->refs + d->first_ref, d->n_refs), *starts;
  SW_ARENA_NEW(starts, w->arena, shards + 1, diag);
  starts[shards] = d->size;
  d->len = 0;
  for (int64_t i = shards - 1; i >= 0; i--) {
    starts[i] = i ? below(w, starts[i + 1] + 1) : 0;
    d->len = sw_max_i64(d->len, starts[i + 1] - starts[i]);
  }
  d->step = d->len;
  d->starts = starts;
  return SW_OK;
}

/* A sharding's tiling over random axes, perhaps a window of another base, step and length. */
static sw_rc random_tiling(draw *w, const int64_t *dims, bool window, sw_tiling *t, sw_diag *diag) {
  sw_axis_ref refs[SW_MAX_AXES] = {{0}};
  int n = random_refs(w, refs), at = 0;
  *t = (sw_tiling){.rank = w->rank};
  for (int i = 0; i < w->rank; i++) {
    sw_tile_dim *d = &t->dim[i];
    d->first_ref = (uint8_t)at;
    while (at < n && one_in(w, 2)) t->refs[at] = refs[at], at++;
    d->n_refs = (uint8_t)(at - d->first_ref);
    d->size = dims[i];
    d->step = d->len = sw_ceil_div(dims[i], sw_axis_refs_size(t->refs + d->first_ref, d->n_refs));
    if (window && one_in(w, 2)) {
      d->base = below(w, 7) - 3;
      d->step = below(w, 9) - 3;
      d->len = below(w, 6);
    } else if (d->n_refs && one_in(w, 3)) {
      SW_TRY(random_starts(w, t, d, diag));
    }
  }
  return SW_OK;
}

static sw_rc random_exchange(draw *w, sw_diag *d) {
  suite_case *c = w->c;
  int64_t dims[SW_MAX_RANK] = {0};
  w->rank = (int)below(w, 4);
  for (int i = 0; i < w->rank; i++) dims[i] = 1 + below(w, 9);
  SW_TRY(random_tiling(w, dims, false, &c->src, d));
  SW_TRY(random_tiling(w, dims, one_in(w, 2), &c->dst, d));
  c->coll.src = &c->src;
  c->coll.dst = &c->dst;
  c->coll.fill_outside = one_in(w, 2);
  c->coll.fill = (double)below(w, 5);
  for (int i = 0; i < w->rank; i++) w->in_dims[i] = c->src.dim[i].len;
  return SW_OK;
}

static sw_rc random_halo(draw *w, sw_diag *diag) {
  suite_case *c = w->c;
  int64_t dims[SW_MAX_RANK] = {0};
  w->rank = 1 + (int)below(w, 3);
  for (int i = 0; i < w->rank; i++) dims[i] = 1 + below(w, 9);
  SW_TRY(random_tiling(w, dims, false, &c->dst, diag));
  for (int i = 0; i < w->rank; i++) {
    sw_tile_dim *d = &c->dst.dim[i];
    if (d->starts) { /* halos and offsets exclude each other */
      d->starts = NULL;
      d->step = d->len = sw_ceil_div(d->size, sw_axis_refs_size(c->dst.refs + d->first_ref, d->n_refs));
    }
    int64_t lo = d->n_refs ? below(w, 4) : 0, hi = d->n_refs ? below(w, 4) : 0;
    d->base = -lo;
    d->len += lo + hi;
    w->in_dims[i] = d->len;
  }
  c->coll.dst = &c->dst;
  return SW_OK;
}

static sw_rc random_shape(draw *w, sw_diag *d) {
  memset(w->in_dims, 0, sizeof w->in_dims);
  if (is(w, SW_COLL_EXCHANGE))
    SW_TRY(random_exchange(w, d));
  else if (is(w, SW_COLL_UPDATE_HALO))
    SW_TRY(random_halo(w, d));
  else
    random_dims(w);
  random_join(w);
  SW_TRY(sw_collective_result_dims(w->m, &w->c->coll, w->rank, w->in_dims, w->out_dims, d));
  if ((is(w, SW_COLL_ALL_GATHER) || is(w, SW_COLL_GATHER)) && one_in(w, 2)) w->out_dims[join_dim(w)] = w->total;
  return SW_OK;
}

/* --- contents --- */

/* Positions that a device's input has along one dimension. */
static int64_t random_valid(draw *w, int64_t device, int dim) {
  const sw_collective *c = &w->c->coll;
  int64_t index = sw_mesh_group_index(w->m, device, c->axes, c->n_axes);
  bool joined = (is(w, SW_COLL_ALL_GATHER) || is(w, SW_COLL_GATHER) || is(w, SW_COLL_ALL_TO_ALL)) && dim == join_dim(w);
  int64_t block = w->in_dims[dim];
  if (joined && (!is(w, SW_COLL_ALL_TO_ALL) || c->dim != c->concat_dim)) {
    int64_t lo = sw_min_i64(w->total, index * block);
    return sw_min_i64(w->total - lo, block);
  }
  /* The same for a whole group: follows from its first device. */
  int64_t first = joined ? device : sw_mesh_group_peer(w->m, device, c->axes, c->n_axes, 0);
  uint64_t h = sw_hash_u64((uint64_t)first * SW_MAX_RANK + (uint64_t)dim, w->salt);
  return h % 3 ? block : (int64_t)(h / 3 % (uint64_t)(block + 1));
}

static void random_element(draw *w, sw_dtype t, void *at) {
  static const double kSpecial[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e30, 3.5, -1};
  int64_t kind = below(w, 24);
  sw_dtype_class cls = sw_dtype_class_of(t);
  bool real = cls == SW_CLASS_FLOAT || cls == SW_CLASS_COMPLEX;
  if (!real) {
    uint64_t bits = kind < 12 ? (uint64_t)below(w, 7) : sw_rng_next(&w->rng);
    sw_scalar_store(t, (sw_scalar){.bits = bits}, at);
    return;
  }
  double re = kind < 8 ? kSpecial[kind] : (sw_rng_unit(&w->rng) - 0.5) * 16;
  sw_scalar_store(t, (sw_scalar){.re = re, .im = sw_rng_unit(&w->rng)}, at);
}

static sw_rc make_buffer(draw *w, sw_dtype t, const int64_t *dims, sw_buffer *b, sw_diag *d) {
  *b = (sw_buffer){.dtype = t, .rank = w->rank};
  int64_t bytes = 0;
  memcpy(b->dims, dims, (size_t)w->rank * sizeof *dims);
  memcpy(b->valid, dims, (size_t)w->rank * sizeof *dims);
  if (!sw_buffer_bytes(b, &bytes)) return SW_BUG(d, "a random tensor overflows");
  b->data = sw_arena_alloc(w->arena, (size_t)bytes + 1, 1, d);
  if (!b->data) return SW_E_RESOURCE;
  sw_buffer_poison(b);
  return SW_OK;
}

static bool step(int rank, const int64_t *limit, int64_t *at) {
  for (int i = rank - 1; i >= 0; i--) {
    if (++at[i] < limit[i]) return true;
    at[i] = 0;
  }
  return false;
}

static bool is_empty(int rank, const int64_t *extent) {
  for (int i = 0; i < rank; i++)
    if (extent[i] == 0) return true;
  return false;
}

static void *element(const sw_buffer *b, const int64_t *at) {
  int64_t index = 0;
  for (int i = 0; i < b->rank; i++) index = index * b->dims[i] + at[i];
  return (char *)b->data + index * sw_dtype_bytes(b->dtype);
}

/* Inputs of an exchange are cut from one tensor, so that replicas agree: an element follows from its global index. */
static void exchange_element(draw *w, int64_t device, const int64_t *at, const sw_buffer *b) {
  uint64_t h = w->salt;
  for (int i = 0; i < w->rank; i++) {
    int64_t start, lo, hi;
    sw_tiling_window(w->m, &w->c->src, i, device, &start, &lo, &hi);
    h = sw_hash_u64((uint64_t)(start + at[i]), h);
  }
  sw_element_store(b->dtype, (double)(h % 100), element(b, at));
}

static sw_rc random_input(draw *w, int64_t device, sw_diag *d) {
  sw_buffer *b = &w->c->in[device];
  SW_TRY(make_buffer(w, w->from, w->in_dims, b, d));
  bool exchange = is(w, SW_COLL_EXCHANGE);
  for (int i = 0; i < w->rank; i++) {
    int64_t start, lo;
    if (exchange)
      sw_tiling_window(w->m, &w->c->src, i, device, &start, &lo, &b->valid[i]);
    else if (!is(w, SW_COLL_UPDATE_HALO))
      b->valid[i] = random_valid(w, device, i);
  }
  if (is_empty(w->rank, b->valid)) return SW_OK;
  int64_t at[SW_MAX_RANK] = {0};
  do {
    if (exchange)
      exchange_element(w, device, at, b);
    else
      random_element(w, w->from, element(b, at));
  } while (step(w->rank, b->valid, at));
  return SW_OK;
}

static sw_rc random_case(draw *w, sw_diag *d) {
  suite_case *c = w->c;
  random_op(w);
  SW_TRY(random_shape(w, d));
  SW_ARENA_NEW(c->in, w->arena, w->devices, d);
  SW_ARENA_NEW(c->want, w->arena, w->devices, d);
  w->salt = sw_rng_next(&w->rng);
  for (int64_t v = 0; v < w->devices; v++) {
    SW_TRY(random_input(w, v, d));
    SW_TRY(make_buffer(w, w->to, w->out_dims, &c->want[v], d));
  }
  bool same = w->from == w->to && memcmp(w->in_dims, w->out_dims, (size_t)w->rank * sizeof *w->in_dims) == 0;
  c->in_place = same && one_in(w, 2);
  return sw_collective_oracle(w->m, &c->coll, c->in, c->want, d);
}

sw_rc sw_comm_suite_build(const sw_mesh *mesh, uint64_t seed, int n_calls, sw_arena *arena, sw_comm_suite **out,
                          sw_diag *d) {
  sw_comm_suite *s;
  SW_ARENA_NEW(s, arena, 1, d);
  *s = (sw_comm_suite){.mesh = *mesh, .devices = sw_mesh_devices(mesh), .n = n_calls};
  SW_ARENA_NEW(s->cases, arena, n_calls, d);
  draw w = {.m = &s->mesh, .arena = arena, .devices = s->devices};
  sw_rng_seed(&w.rng, seed);
  for (int i = 0; i < n_calls; i++) {
    w.c = &s->cases[i];
    SW_TRY_NOTE(d, random_case(&w, d), "while making call %d of the suite with seed %llu", i, (unsigned long long)seed);
  }
  *out = s;
  return SW_OK;
}

/* --- running --- */

/* NaN is NaN; zeros differ in sign. */
static bool same_real(double a, double b) {
  return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static bool same_element(sw_dtype t, const void *a, const void *b) {
  if (memcmp(a, b, (size_t)sw_dtype_bytes(t)) == 0) return true;
  sw_scalar x = sw_scalar_load(t, a), y = sw_scalar_load(t, b);
  sw_dtype_class c = sw_dtype_class_of(t);
  bool real = c == SW_CLASS_FLOAT || c == SW_CLASS_COMPLEX;
  return real && same_real(x.re, y.re) && same_real(x.im, y.im);
}

static sw_rc different(const sw_comm_suite *s, int call, int64_t device, const char *what, int64_t index, sw_diag *d) {
  sw_text text = {0};
  sw_collective_print(&s->mesh, &s->cases[call].coll, &text);
  (void)SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "call %d (%s) on device %lld: wrong %s %lld", call, sw_text_str(&text),
                (long long)device, what, (long long)index);
  sw_text_free(&text);
  return SW_E_MISMATCH;
}

/* In place, what lies outside of the valid extents is the input's; else it must still be poison. */
static sw_rc compare(const sw_comm_suite *s, int call, int64_t device, const sw_buffer *got, sw_diag *d) {
  const suite_case *c = &s->cases[call];
  const sw_buffer *want = &c->want[device];
  for (int i = 0; i < want->rank; i++)
    if (got->valid[i] != want->valid[i]) return different(s, call, device, "valid extent of dimension", i, d);
  bool whole = !c->in_place || (sw_coll_flags(c->coll.op) & (SW_COLL_USES_TILES | SW_COLL_USES_HALOS));
  const int64_t *limit = whole ? want->dims : want->valid;
  if (is_empty(want->rank, limit)) return SW_OK;
  int64_t at[SW_MAX_RANK] = {0}, size = sw_dtype_bytes(want->dtype);
  do {
    const char *a = element(want, at);
    if (!same_element(want->dtype, a, element(got, at)))
      return different(s, call, device, "element", (a - (const char *)want->data) / size, d);
  } while (step(want->rank, limit, at));
  return SW_OK;
}

static sw_rc run_case(const sw_comm_suite *s, int call, sw_comm *comm, int64_t device, sw_arena *scratch, sw_diag *d) {
  const suite_case *c = &s->cases[call];
  draw w = {.rank = c->want[device].rank, .arena = scratch};
  sw_buffer in, out;
  SW_TRY(make_buffer(&w, c->in[device].dtype, c->in[device].dims, &in, d));
  SW_TRY(make_buffer(&w, c->want[device].dtype, c->want[device].dims, &out, d));
  int64_t bytes = 0;
  if (sw_buffer_bytes(&in, &bytes) && bytes) memcpy(in.data, c->in[device].data, (size_t)bytes);
  memcpy(in.valid, c->in[device].valid, sizeof in.valid);
  if (c->in_place) out.data = in.data;
  sw_comm_call one = {.coll = &c->coll, .in = &in, .out = &out, .where = call};
  if (c->coll.op == SW_COLL_BARRIER) one = (sw_comm_call){.coll = &c->coll, .where = call};
  SW_TRY(sw_comm_run(comm, device, &one, d));
  return one.out ? compare(s, call, device, &out, d) : SW_OK;
}

static const char *const kFaultTexts[SW_FAULT_COUNT] = {
#define SW_X(id, text) [SW_FAULT_##id] = text,
    SW_COMM_FAULTS(SW_X)
#undef SW_X
};

const char *sw_comm_fault_text(sw_comm_fault_kind kind) { return kFaultTexts[kind]; }

/* A call that is not in the program: a sum over the whole mesh, or a recv. */
static sw_rc stray_call(const sw_comm_suite *s, sw_comm *comm, int64_t device, bool receives, sw_diag *d) {
  sw_collective c = {.op = receives ? SW_COLL_RECV : SW_COLL_ALL_REDUCE, .n_axes = s->mesh.n_axes};
  for (int a = 0; a < s->mesh.n_axes; a++) c.axes[a] = sw_axis_whole(&s->mesh, a);
  double x[2] = {0};
  sw_buffer in = {&x[0], SW_F64, 0, {0}, {0}}, out = {&x[1], SW_F64, 0, {0}, {0}};
  return sw_comm_run(comm, device, &(sw_comm_call){.coll = &c, .in = &in, .out = &out, .where = -1}, d);
}

/* What happens instead of, or before, a call. *skips: the call itself is left out; *ends: and so is the rest. */
static sw_rc do_fault(const sw_comm_suite *s, sw_comm *comm, const sw_comm_fault *f, bool *skips, bool *ends,
                      sw_diag *d) {
  *skips = f->kind == SW_FAULT_SKIP || f->kind == SW_FAULT_OTHER || f->kind == SW_FAULT_RECEIVE;
  *ends = f->kind == SW_FAULT_LEAVE;
  if (f->kind == SW_FAULT_FAIL) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "an injected failure");
  if (f->kind == SW_FAULT_MEMORY) sw_mem_fail_after(1);
  bool strays = f->kind == SW_FAULT_OTHER || f->kind == SW_FAULT_RECEIVE;
  return strays ? stray_call(s, comm, f->device, f->kind == SW_FAULT_RECEIVE, d) : SW_OK;
}

sw_rc sw_comm_suite_run_faulty(const sw_comm_suite *s, sw_comm *comm, int64_t device, const sw_comm_fault *f,
                               sw_diag *d) {
  sw_arena scratch = {0};
  sw_rc rc = SW_OK;
  bool skips = false, ends = false;
  for (int i = 0; i < s->n && !rc && !ends; i++) {
    bool faulty = f && f->device == device && f->call == i;
    if (faulty) rc = do_fault(s, comm, f, &skips, &ends, d);
    if (!rc && !(faulty && (skips || ends))) rc = run_case(s, i, comm, device, &scratch, d);
    if (!rc && faulty && f->kind == SW_FAULT_REPEAT) rc = run_case(s, i, comm, device, &scratch, d);
    sw_arena_reset(&scratch);
  }
  sw_arena_deinit(&scratch);
  return rc;
}

sw_rc sw_comm_suite_run(const sw_comm_suite *s, sw_comm *comm, int64_t device, sw_diag *d) {
  return sw_comm_suite_run_faulty(s, comm, device, NULL, d);
}
