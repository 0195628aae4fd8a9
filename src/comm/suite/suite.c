/* Random programs with known results.
 *
 * A call is drawn in steps: op, axes, dtypes, dims, then every device's valid extents (those that a group must agree
 * on are drawn from the group), then the inputs; the oracle gives the results. Messages are drawn as a shift along one
 * axis, a user's combiner as the reduction that it does.
 */
#include "comm/suite/suite.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "collective/scalar.h"

enum { MAX_EXTENT = 6 };

typedef struct draw {
  const sw_mesh *m;
  sw_rng rng;
  sw_arena *arena;
  int64_t devices;
  sw_suite_case *c;
  int rank;
  sw_dtype from, to;
  int64_t in_dims[SW_MAX_RANK], out_dims[SW_MAX_RANK];
  int64_t total;  /* extent of the tensor along the joined dimension */
  uint64_t salt;  /* of what follows from an index instead of being drawn in turn */
  int64_t series; /* cases to come that differ from the last one in their numbers only */
} draw;

static int64_t below(draw *w, int64_t n) { return sw_rng_below(&w->rng, n); }
static bool one_in(draw *w, int64_t n) { return below(w, n) == 0; }

/* --- what --- */

static bool draws_op(const draw *w, sw_coll_op op) { return w->c->coll.op == op; }
static bool is_message(const draw *w) { return draws_op(w, SW_COLL_SEND) || draws_op(w, SW_COLL_RECV); }
static bool has_tilings(const draw *w) { return sw_coll_flags(w->c->coll.op) & SW_COLL_USES_TILES; }
static bool reduces(const draw *w) { return sw_coll_combines(w->c->coll.op); }

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
           (sw_collective_is_neutral_beside(c) && c->reduction == SW_REDUCE_AVERAGE));
}

/* Everybody sends along one axis and receives: a shift that comes round. */
static void random_messages(draw *w) {
  w->c->coll.op = SW_COLL_SHIFT;
  w->c->coll.n_axes = 1;
  w->c->by_messages = true;
}

/* A user's combiner knows neither wider accumulators nor what follows the last step. */
static bool combines_plainly(const draw *w) {
  static const bool kPlain[SW_REDUCTION_COUNT] = {
      [SW_REDUCE_SUM] = true,     [SW_REDUCE_PRODUCT] = true, [SW_REDUCE_MIN] = true,    [SW_REDUCE_MAX] = true,
      [SW_REDUCE_BIT_AND] = true, [SW_REDUCE_BIT_OR] = true,  [SW_REDUCE_BIT_XOR] = true};
  bool narrow = sw_dtype_class_of(w->to) == SW_CLASS_FLOAT && w->to != SW_F64 && w->to != SW_F32;
  return kPlain[w->c->coll.reduction] && !narrow;
}

/* 0 .. n-1 in random order. */
static sw_rc random_order(draw *w, int64_t n, int64_t **out, sw_diag *d) {
  SW_ARENA_NEW(*out, w->arena, n, d);
  for (int64_t i = 0; i < n; i++) {
    int64_t at = below(w, i + 1);
    (*out)[i] = (*out)[at];
    (*out)[at] = i;
  }
  return SW_OK;
}

/* Groups as large as those along the axes, of any devices. */
static sw_rc random_lists(draw *w, sw_diag *d) {
  sw_collective *c = &w->c->coll;
  sw_device_list *lists;
  int64_t *order, n = sw_axis_refs_size(c->axes, c->n_axes);
  SW_TRY(random_order(w, w->devices, &order, d));
  SW_ARENA_NEW(lists, w->arena, w->devices, d);
  for (int64_t i = 0; i < w->devices; i++) lists[order[i]] = (sw_device_list){order + i / n * n, n, i % n};
  c->lists = lists;
  c->n_axes = c->n_root = 0;
  return SW_OK;
}

/* Somebody's input for most members, no input twice. */
static sw_rc random_sources(draw *w, sw_diag *d) {
  int64_t *order, n = sw_axis_refs_size(w->c->coll.axes, w->c->coll.n_axes);
  SW_TRY(random_order(w, n, &order, d));
  for (int64_t i = 0; i < n; i++) {
    if (one_in(w, 4)) order[i] = -1;
  }
  w->c->coll.sources = order;
  return SW_OK;
}

static sw_rc random_members(draw *w, sw_diag *d) {
  sw_collective *c = &w->c->coll;
  bool tiled = sw_coll_flags(c->op) & SW_COLL_TILED;
  if (tiled || w->c->by_messages || !one_in(w, 4)) return SW_OK;
  return draws_op(w, SW_COLL_SHIFT) ? random_sources(w, d) : random_lists(w, d);
}

static void random_op(draw *w) {
  sw_collective *c = &w->c->coll;
  *c = (sw_collective){.op = (sw_coll_op)below(w, SW_COLL_COUNT)};
  bool tiled = sw_coll_flags(c->op) & SW_COLL_TILED;
  if (!tiled) c->n_axes = random_refs(w, c->axes);
  if ((draws_op(w, SW_COLL_SHIFT) || is_message(w)) && c->n_axes == 0) c->op = SW_COLL_BARRIER;
  if (is_message(w)) random_messages(w);
  random_types(w);
  if (sw_coll_flags(c->op) & SW_COLL_USES_ROOT) {
    c->n_root = c->n_axes;
    for (int i = 0; i < c->n_root; i++) c->root[i] = below(w, c->axes[i].size);
  }
  if (draws_op(w, SW_COLL_SHIFT)) {
    c->dim = (int)below(w, c->n_axes);
    c->offset = below(w, 11) - 5;
    c->rotate = w->c->by_messages || one_in(w, 2);
  }
}

/* --- shapes --- */

static bool needs_dim(const draw *w) {
  return (sw_coll_flags(w->c->coll.op) & SW_COLL_USES_DIM) && !draws_op(w, SW_COLL_SHIFT);
}

static void random_dims(draw *w) {
  sw_collective *c = &w->c->coll;
  int least = needs_dim(w);
  w->rank = least + (int)below(w, 4 - least);
  for (int i = 0; i < w->rank; i++) w->in_dims[i] = one_in(w, 12) ? 0 : 1 + below(w, MAX_EXTENT);
  if (!needs_dim(w)) return;
  c->dim = (int)below(w, w->rank);
  if (sw_coll_flags(c->op) & SW_COLL_USES_CONCAT) c->concat_dim = (int)below(w, w->rank);
}

/* Gathering: the tensor's extent is drawn, and its ceil block is the input's extent. */
static void random_join(draw *w) {
  const sw_collective *c = &w->c->coll;
  const int joined = sw_collective_joined_dim(c);
  if (joined < 0 || joined == sw_collective_cut_dim(c)) return;
  int64_t n = sw_collective_members(c, 0);
  w->total = below(w, n * 3 + 1);
  w->in_dims[joined] = sw_ceil_div(w->total, n);
}

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

/* The same blocks on other devices: the first two axes of each dimension change places. */
static void swap_refs(const sw_tiling *src, sw_tiling *dst) {
  *dst = *src;
  for (int i = 0; i < src->rank; i++) {
    const sw_tile_dim *d = &src->dim[i];
    if (d->n_refs < 2) continue;
    dst->refs[d->first_ref] = src->refs[d->first_ref + 1];
    dst->refs[d->first_ref + 1] = src->refs[d->first_ref];
  }
}

/* An axis of an all_to_all over several dimensions: cuts dimension `from` before and `to` after; the same: it stays. */
typedef struct moved_axis {
  sw_axis_ref ref;
  int from, to;
} moved_axis;

/* Axes that stay are the major ones; every dimension divides before and after. */
static void tiling_of_moves(const moved_axis *moved, int n, int rank, const int64_t *dims, bool after, sw_tiling *t) {
  int at = 0;
  *t = (sw_tiling){.rank = rank};
  for (int i = 0; i < rank; i++) {
    sw_tile_dim *d = &t->dim[i];
    d->first_ref = (uint8_t)at;
    for (int moves = 0; moves < 2; moves++)
      for (int k = 0; k < n; k++)
        if ((after ? moved[k].to : moved[k].from) == i && (moved[k].from != moved[k].to) == moves)
          t->refs[at++] = moved[k].ref;
    d->n_refs = (uint8_t)(at - d->first_ref);
    d->size = dims[i];
    d->step = d->len = dims[i] / sw_axis_refs_size(t->refs + d->first_ref, d->n_refs);
  }
}

/* Some axes go from one dimension to another, all at once. */
static void random_all_to_all_dims(draw *w) {
  sw_suite_case *c = w->c;
  sw_axis_ref refs[SW_MAX_AXES] = {{0}};
  moved_axis moved[SW_MAX_AXES];
  int64_t dims[SW_MAX_RANK] = {0};
  int n = random_refs(w, refs);
  w->rank = 2 + (int)below(w, 2);
  for (int i = 0; i < w->rank; i++) dims[i] = 1 + below(w, 2);
  for (int k = 0; k < n; k++) {
    moved[k] = (moved_axis){refs[k], (int)below(w, w->rank), (int)below(w, w->rank)};
    dims[moved[k].from] *= refs[k].size;
    if (moved[k].from == moved[k].to) continue;
    dims[moved[k].to] *= refs[k].size;
    c->coll.axes[c->coll.n_axes++] = refs[k];
  }
  tiling_of_moves(moved, n, w->rank, dims, false, &c->src);
  tiling_of_moves(moved, n, w->rank, dims, true, &c->dst);
  c->coll.src = &c->src;
  c->coll.dst = &c->dst;
  for (int i = 0; i < w->rank; i++) w->in_dims[i] = c->src.dim[i].len;
}

static sw_rc random_exchange(draw *w, sw_diag *d) {
  sw_suite_case *c = w->c;
  int64_t dims[SW_MAX_RANK] = {0};
  w->rank = (int)below(w, 4);
  for (int i = 0; i < w->rank; i++) dims[i] = 1 + below(w, 9);
  SW_TRY(random_tiling(w, dims, false, &c->src, d));
  SW_TRY(random_tiling(w, dims, one_in(w, 2), &c->dst, d));
  if (draws_op(w, SW_COLL_PERMUTE)) swap_refs(&c->src, &c->dst);
  c->coll.src = &c->src;
  c->coll.dst = &c->dst;
  c->coll.fill_outside = !sw_coll_makes_parts(c->coll.op) && one_in(w, 2);
  c->coll.fill = (double)below(w, 5);
  for (int i = 0; i < w->rank; i++) w->in_dims[i] = c->src.dim[i].len;
  return SW_OK;
}

static sw_rc random_halo(draw *w, sw_diag *diag) {
  sw_suite_case *c = w->c;
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
  if (draws_op(w, SW_COLL_ALL_TO_ALL_DIMS))
    random_all_to_all_dims(w);
  else if (has_tilings(w))
    SW_TRY(random_exchange(w, d));
  else if (draws_op(w, SW_COLL_UPDATE_HALO))
    SW_TRY(random_halo(w, d));
  else
    random_dims(w);
  random_join(w);
  SW_TRY(sw_collective_result_dims(w->m, &w->c->coll, w->rank, w->in_dims, w->out_dims, d));
  const int joined = sw_collective_joined_dim(&w->c->coll);
  if (joined >= 0 && sw_collective_cut_dim(&w->c->coll) < 0 && one_in(w, 2)) w->out_dims[joined] = w->total;
  return SW_OK;
}

/* --- contents --- */

/* Positions that a device's input has along one dimension. */
static int64_t random_valid(draw *w, int64_t device, int dim) {
  const sw_collective *c = &w->c->coll;
  int64_t index = sw_collective_place(w->m, c, device);
  const bool joined = dim == sw_collective_joined_dim(c);
  int64_t block = w->in_dims[dim];
  if (joined && dim != sw_collective_cut_dim(c)) {
    int64_t lo = sw_min_i64(w->total, index * block);
    return sw_min_i64(w->total - lo, block);
  }
  /* The same for a whole group: follows from its first device. */
  int64_t first = joined ? device : sw_collective_peer(w->m, c, device, 0);
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

sw_rc sw_suite_buffer(sw_arena *arena, sw_dtype t, int rank, const int64_t *dims, sw_buffer *b, sw_diag *d) {
  *b = (sw_buffer){.dtype = t, .rank = rank};
  int64_t bytes = 0;
  memcpy(b->dims, dims, (size_t)rank * sizeof *dims);
  memcpy(b->valid, dims, (size_t)rank * sizeof *dims);
  if (!sw_buffer_bytes(b, &bytes)) return SW_BUG(d, "a random tensor overflows");
  b->data = sw_arena_alloc(arena, (size_t)bytes + 1, 1, d);
  if (!b->data) return SW_E_RESOURCE;
  sw_buffer_poison(b);
  return SW_OK;
}

/* Inputs of an exchange are cut from one tensor, so that replicas agree: an element follows from its global index. */
static void exchange_element(draw *w, int64_t device, const int64_t *at, const sw_buffer *b) {
  uint64_t h = w->salt;
  for (int i = 0; i < w->rank; i++) {
    int64_t start, lo, hi;
    sw_tiling_window(w->m, &w->c->src, i, device, &start, &lo, &hi);
    h = sw_hash_u64((uint64_t)(start + at[i]), h);
  }
  sw_element_store(b->dtype, (double)(h % 100), sw_buffer_element(b, at));
}

static sw_rc random_input(draw *w, int64_t device, sw_diag *d) {
  sw_buffer *b = &w->c->in[device];
  SW_TRY(sw_suite_buffer(w->arena, w->from, w->rank, w->in_dims, b, d));
  bool exchange = has_tilings(w);
  for (int i = 0; i < w->rank; i++) {
    int64_t start, lo;
    if (exchange)
      sw_tiling_window(w->m, &w->c->src, i, device, &start, &lo, &b->valid[i]);
    else if (!draws_op(w, SW_COLL_UPDATE_HALO))
      b->valid[i] = random_valid(w, device, i);
  }
  if (sw_has_no_position(w->rank, b->valid)) return SW_OK;
  int64_t at[SW_MAX_RANK] = {0};
  do {
    if (exchange)
      exchange_element(w, device, at, b);
    else
      random_element(w, w->from, sw_buffer_element(b, at));
  } while (sw_next_position(w->rank, b->valid, at));
  return SW_OK;
}

/* Inputs, and what is to come of them, of the case's collective. */
static sw_rc random_contents(draw *w, sw_diag *d) {
  sw_suite_case *c = w->c;
  SW_ARENA_NEW_EACH(w->arena, w->devices, d, c->in, c->want);
  for (int64_t v = 0; v < w->devices; v++) {
    SW_TRY(random_input(w, v, d));
    SW_TRY(sw_suite_buffer(w->arena, w->to, w->rank, w->out_dims, &c->want[v], d));
  }
  return sw_collective_oracle(w->m, &c->coll, c->in, c->want, d);
}

/* The collective of the case before, of other numbers. */
static sw_rc next_of_series(draw *w, sw_diag *d) {
  const sw_suite_case *before = w->c - 1;
  *w->c = *before;
  w->series--;
  return random_contents(w, d);
}

static sw_rc random_case(draw *w, sw_diag *d) {
  sw_suite_case *c = w->c;
  if (w->series > 0) return next_of_series(w, d);
  random_op(w);
  SW_TRY(random_members(w, d));
  SW_TRY(random_shape(w, d));
  w->salt = sw_rng_next(&w->rng);
  bool same = w->from == w->to && memcmp(w->in_dims, w->out_dims, (size_t)w->rank * sizeof *w->in_dims) == 0;
  c->in_place = same && !c->by_messages && one_in(w, 2);
  c->by_user = reduces(w) && combines_plainly(w) && one_in(w, 5);
  c->start_seed = w->salt;
  w->series = one_in(w, 10) ? 2 + below(w, 12) : 0;
  return random_contents(w, d);
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
