/* The boxes of every collective, one row per op.
 *
 *   all_gather dim=0 of [a b | c]:  to each member: box 2 at 0 of member 0 -> 0;  box 1 at 0 of member 1 -> 2
 *   reduce_scatter dim=0 of 3 rows over 2:  to member 1: box 1 at 2 of all -> 0
 */
#include "comm/comm_moves.h"

#include <string.h>

#include "base/checked.h"

typedef struct walk {
  const sw_view *v;
  const sw_collective *c;
  int64_t to;
  const sw_buffer *in, *out; /* of `to`; NULL where it brings none */
  sw_transfer_visit visit;
  void *user;
} walk;

static const sw_buffer *input(const walk *w, int64_t j) { return sw_view_member(w->v, j)->call.in; }

static int64_t piece_extent(int64_t k, int64_t block, int64_t i) {
  int64_t lo = sw_min_i64(k, i * block);
  return sw_min_i64(k, lo + block) - lo;
}

static sw_rc emit(const walk *w, sw_transfer *m, int rank, sw_diag *d) {
  for (int i = 0; i < rank; i++)
    if (m->extent[i] <= 0) return SW_OK;
  m->to = w->to;
  return w->visit(w->user, m, d);
}

/* Only the first `rank` entries are set: moves are many and small. */
static void whole_of(const sw_buffer *b, int64_t from, sw_transfer *m) {
  m->from = from;
  for (int i = 0; i < b->rank; i++) {
    m->extent[i] = b->valid[i];
    m->src_at[i] = m->dst_at[i] = 0;
  }
}

/* --- ops that take one box --- */

static int64_t block_of(const walk *w) { return w->out->dims[w->c->dim]; }

static sw_rc take_slice_of(const walk *w, const sw_buffer *in, int64_t from, sw_diag *d) {
  sw_transfer m;
  whole_of(in, from, &m);
  m.extent[w->c->dim] = piece_extent(in->valid[w->c->dim], block_of(w), w->to);
  m.src_at[w->c->dim] = w->to * block_of(w);
  return emit(w, &m, in->rank, d);
}

static sw_rc take_whole_of(const walk *w, int64_t from, int64_t shown_as, sw_diag *d) {
  sw_transfer m;
  whole_of(input(w, from), shown_as, &m);
  return emit(w, &m, input(w, from)->rank, d);
}

static sw_rc moves_own_slice(const walk *w, sw_diag *d) { return take_slice_of(w, w->in, w->to, d); }
static sw_rc moves_reduced_slice(const walk *w, sw_diag *d) { return take_slice_of(w, w->in, SW_FROM_ALL, d); }
static sw_rc moves_root_slice(const walk *w, sw_diag *d) {
  int64_t root = sw_collective_root(w->c);
  return take_slice_of(w, input(w, root), root, d);
}
static sw_rc moves_own(const walk *w, sw_diag *d) { return take_whole_of(w, w->to, w->to, d); }
static sw_rc moves_first(const walk *w, sw_diag *d) {
  return w->to == 0 || !sw_collective_is_neutral_beside(w->c) ? moves_own(w, d) : SW_OK;
}
static sw_rc moves_reduced(const walk *w, sw_diag *d) { return take_whole_of(w, w->to, SW_FROM_ALL, d); }
static sw_rc moves_root(const walk *w, sw_diag *d) {
  int64_t root = sw_collective_root(w->c);
  return take_whole_of(w, root, root, d);
}

int64_t sw_moves_shift_source(const sw_collective *c, int64_t to) {
  if (c->sources) return c->sources[to];
  const sw_axis_ref *refs = c->axes;
  int64_t minor = sw_axis_refs_size(refs + c->dim + 1, c->n_axes - c->dim - 1);
  int64_t size = refs[c->dim].size, at = to / minor % size;
  if (!c->rotate && (c->offset <= -size || c->offset >= size)) return -1;
  int64_t from = at - c->offset % size;
  if (c->rotate) from = (from + size) % size;
  return from < 0 || from >= size ? -1 : to + (from - at) * minor;
}

static int64_t find_shift_source(const walk *w) { return sw_moves_shift_source(w->c, w->to); }

static sw_rc moves_shift(const walk *w, sw_diag *d) {
  int64_t from = find_shift_source(w);
  return from < 0 ? SW_OK : take_whole_of(w, from, from, d);
}

/* --- ops that join pieces of all members --- */

/* Block into which the input is cut. */
static int64_t split_block(const walk *w) {
  return w->c->dim == w->c->concat_dim ? sw_ceil_div(w->in->dims[w->c->dim], w->v->n) : block_of(w);
}

/* What member j gives along the joined dimension. */
static int64_t extent_joined_from(const walk *w, int64_t j) {
  const int dim = sw_collective_joined_dim(w->c);
  const int64_t whole = input(w, j)->valid[dim];
  return sw_collective_cut_dim(w->c) == dim ? piece_extent(whole, split_block(w), w->to) : whole;
}

static sw_rc moves_joined(const walk *w, sw_diag *d) {
  const int dim = sw_collective_joined_dim(w->c), cut = sw_collective_cut_dim(w->c);
  int64_t at = 0, end = w->out->dims[dim];
  for (int64_t j = 0; j < w->v->n && at < end; j++) {
    sw_transfer m;
    whole_of(input(w, j), j, &m);
    if (cut >= 0) {
      int64_t block = split_block(w);
      m.extent[cut] = piece_extent(m.extent[cut], block, w->to);
      m.src_at[cut] = w->to * block;
    }
    m.dst_at[dim] = at;
    m.extent[dim] = sw_min_i64(extent_joined_from(w, j), end - at);
    at += m.extent[dim];
    SW_TRY(emit(w, &m, w->out->rank, d));
  }
  return SW_OK;
}

/* --- halos: each dimension's window is cut at the owners' borders --- */

typedef struct halo_dim {
  int64_t block, shards, start, lo, hi, owner; /* window [lo, hi) in global indices; the owner walked to */
} halo_dim;

static void init_halo_dim(const walk *w, int i, halo_dim *h) {
  const sw_tiling *t = w->c->dst;
  int64_t device = sw_view_member(w->v, w->to)->device;
  sw_tiling_window(w->v->mesh, t, i, device, &h->start, &h->lo, &h->hi);
  h->lo += h->start;
  h->hi += h->start;
  h->shards = sw_axis_refs_size(t->refs + t->dim[i].first_ref, t->dim[i].n_refs);
  h->block = h->shards > 1 ? t->dim[i].step : sw_max_i64(t->dim[i].size, 1);
  h->owner = h->block > 0 ? h->lo / h->block : 0;
}

/* The box of the owners walked to, and who that is. */
static sw_transfer halo_piece(const walk *w, const halo_dim *h) {
  sw_transfer m = {.from = 0};
  for (int i = 0; i < w->out->rank; i++) {
    int64_t lo = sw_max_i64(h[i].lo, h[i].owner * h[i].block), hi = sw_min_i64(h[i].hi, (h[i].owner + 1) * h[i].block);
    m.from = m.from * h[i].shards + h[i].owner;
    m.extent[i] = hi - lo;
    m.dst_at[i] = lo - h[i].start;
    m.src_at[i] = lo - h[i].owner * h[i].block - w->c->dst->dim[i].base;
  }
  return m;
}

static sw_rc moves_halo(const walk *w, sw_diag *d) {
  halo_dim h[SW_MAX_RANK];
  for (int i = 0; i < w->out->rank; i++) {
    init_halo_dim(w, i, &h[i]);
    if (h[i].lo >= h[i].hi) return SW_OK;
  }
  for (int i = 0; i >= 0;) {
    sw_transfer m = halo_piece(w, h);
    if (m.from != w->to) SW_TRY(emit(w, &m, w->out->rank, d));
    for (i = w->out->rank - 1; i >= 0; i--) {
      if (++h[i].owner * h[i].block < h[i].hi) break;
      h[i].owner = h[i].lo / h[i].block;
    }
  }
  return SW_OK;
}

/* --- exchanges --- */

typedef struct exchange_walk {
  const walk *w;
  int64_t dst_start[SW_MAX_RANK];
} exchange_walk;

static sw_rc exchange_box(void *user, const sw_tile_move *box, sw_diag *d) {
  const exchange_walk *e = user;
  const walk *w = e->w;
  sw_transfer m = {.from = box->from}; /* the group is the mesh: member = device */
  for (int i = 0; i < w->out->rank; i++) {
    int64_t start, lo, hi;
    sw_tiling_window(w->v->mesh, w->c->src, i, box->from, &start, &lo, &hi);
    m.extent[i] = box->hi[i] - box->lo[i];
    m.src_at[i] = box->lo[i] - start;
    m.dst_at[i] = box->lo[i] - e->dst_start[i];
  }
  return emit(w, &m, w->out->rank, d);
}

static sw_rc moves_exchange(const walk *w, sw_diag *d) {
  exchange_walk e = {.w = w};
  for (int i = 0; i < w->out->rank; i++) {
    int64_t lo, hi;
    sw_tiling_window(w->v->mesh, w->c->dst, i, w->to, &e.dst_start[i], &lo, &hi);
  }
  return sw_tiling_moves_to(w->v->mesh, w->c->src, w->c->dst, w->to, exchange_box, &e, d);
}

/* What the member holds of its own result. */
static sw_rc moves_own_window(const walk *w, sw_diag *d) {
  const int64_t device = sw_view_member(w->v, w->to)->device;
  sw_transfer m = {.from = w->to};
  for (int i = 0; i < w->out->rank; i++) {
    int64_t old, new, lo, hi, first, last;
    sw_tiling_window(w->v->mesh, w->c->src, i, device, &old, &lo, &hi);
    sw_tiling_window(w->v->mesh, w->c->dst, i, device, &new, &first, &last);
    const int64_t from = sw_max_i64(old + lo, new + first), to = sw_min_i64(old + hi, new + last);
    m.extent[i] = to - from;
    m.src_at[i] = from - old;
    m.dst_at[i] = from - new;
  }
  return emit(w, &m, w->out->rank, d);
}

/* --- valid extents --- */

static void valid_as(const sw_buffer *in, int64_t *valid) {
  memcpy(valid, in->valid, (size_t)in->rank * sizeof *valid);
}

static void valid_own(const walk *w, int64_t *valid) { valid_as(w->in, valid); }
static void set_valid_root(const walk *w, int64_t *valid) { valid_as(input(w, sw_collective_root(w->c)), valid); }
static void valid_shift(const walk *w, int64_t *valid) { valid_as(input(w, find_shift_source(w)), valid); }

static void cut_to_piece(const walk *w, int64_t *valid) {
  valid[w->c->dim] = piece_extent(valid[w->c->dim], block_of(w), w->to);
}

static void set_valid_own_slice(const walk *w, int64_t *valid) {
  valid_own(w, valid);
  cut_to_piece(w, valid);
}

static void set_valid_root_slice(const walk *w, int64_t *valid) {
  set_valid_root(w, valid);
  cut_to_piece(w, valid);
}

static void set_valid_joined(const walk *w, int64_t *valid) {
  const int dim = sw_collective_joined_dim(w->c), cut = sw_collective_cut_dim(w->c);
  int64_t total = 0;
  for (int64_t j = 0; j < w->v->n; j++) total += extent_joined_from(w, j);
  valid_own(w, valid);
  if (cut >= 0 && cut != dim) cut_to_piece(w, valid);
  valid[dim] = sw_min_i64(total, w->out->dims[dim]);
}

static void set_valid_window(const walk *w, int64_t *valid) {
  int64_t device = sw_view_member(w->v, w->to)->device;
  for (int i = 0; i < w->out->rank; i++) {
    int64_t start, lo;
    sw_tiling_window(w->v->mesh, w->c->dst, i, device, &start, &lo, &valid[i]);
    if (w->c->fill_outside && w->c->op != SW_COLL_UPDATE_HALO) valid[i] = w->out->dims[i];
  }
}

static bool defined_at_root(const walk *w) { return w->to == sw_collective_root(w->c); }
static bool defined_with_source(const walk *w) { return find_shift_source(w) >= 0; }

static const struct {
  sw_rc (*moves)(const walk *w, sw_diag *d);
  void (*valid)(const walk *w, int64_t *valid);
  bool (*defined)(const walk *w); /* NULL: always */
} kRows[SW_COLL_COUNT] = {
    [SW_COLL_ALL_GATHER] = {moves_joined, set_valid_joined, NULL},
    [SW_COLL_ALL_REDUCE] = {moves_reduced, valid_own, NULL},
    [SW_COLL_ALL_SLICE] = {moves_own_slice, set_valid_own_slice, NULL},
    [SW_COLL_ALL_TO_ALL] = {moves_joined, set_valid_joined, NULL},
    [SW_COLL_REDUCE_SCATTER] = {moves_reduced_slice, set_valid_own_slice, NULL},
    [SW_COLL_BROADCAST] = {moves_root, set_valid_root, NULL},
    [SW_COLL_GATHER] = {moves_joined, set_valid_joined, defined_at_root},
    [SW_COLL_SCATTER] = {moves_root_slice, set_valid_root_slice, NULL},
    [SW_COLL_REDUCE] = {moves_reduced, valid_own, defined_at_root},
    [SW_COLL_SEND] = {NULL, NULL, NULL},
    [SW_COLL_RECV] = {NULL, NULL, NULL},
    [SW_COLL_SHIFT] = {moves_shift, valid_shift, defined_with_source},
    [SW_COLL_UPDATE_HALO] = {moves_halo, set_valid_window, NULL},
    [SW_COLL_BARRIER] = {NULL, NULL, NULL},
    [SW_COLL_PERMUTE] = {moves_exchange, set_valid_window, NULL},
    [SW_COLL_EXCHANGE] = {moves_exchange, set_valid_window, NULL},
    [SW_COLL_ALL_TO_ALL_DIMS] = {moves_exchange, set_valid_window, NULL},
    [SW_COLL_TO_PARTIAL] = {moves_first, valid_own, NULL},
    [SW_COLL_SHARD_TO_PARTIAL] = {moves_own_window, set_valid_window, NULL},
};

static walk walk_to(const sw_view *v, int64_t to) {
  const sw_member *m = sw_view_member(v, to);
  return (walk){.v = v, .c = v->coll, .to = to, .in = m->call.in, .out = m->call.out};
}

bool sw_moves_defined(const sw_view *v, int64_t to) {
  walk w = walk_to(v, to);
  return kRows[w.c->op].moves && (!kRows[w.c->op].defined || kRows[w.c->op].defined(&w));
}

sw_rc sw_moves_to(const sw_view *v, int64_t to, sw_transfer_visit visit, void *user, sw_diag *d) {
  walk w = walk_to(v, to);
  w.visit = visit;
  w.user = user;
  return sw_moves_defined(v, to) ? kRows[w.c->op].moves(&w, d) : SW_OK;
}

void sw_moves_valid(const sw_view *v, int64_t to, int64_t *valid) {
  walk w = walk_to(v, to);
  memset(valid, 0, SW_MAX_RANK * sizeof *valid);
  if (w.out && sw_moves_defined(v, to)) kRows[w.c->op].valid(&w, valid);
}

/* --- groups --- */

static int axes_of_collective(const sw_mesh *m, const sw_collective *c, sw_axis_ref *refs) {
  int n = 0;
  if (sw_coll_flags(c->op) & SW_COLL_USES_TILES) {
    for (int a = 0; a < m->n_axes; a++) refs[n++] = sw_axis_whole(m, a);
  } else if (sw_coll_flags(c->op) & SW_COLL_USES_HALOS) {
    for (int i = 0; i < c->dst->rank; i++)
      for (int r = 0; r < c->dst->dim[i].n_refs; r++) refs[n++] = c->dst->refs[c->dst->dim[i].first_ref + r];
  } else {
    n = c->n_axes;
    memcpy(refs, c->axes, (size_t)n * sizeof *refs);
  }
  return n;
}

void sw_circle_of(const sw_mesh *m, const sw_collective *c, int64_t device, sw_circle *out) {
  out->list = c->lists ? &c->lists[device] : NULL;
  out->n_axes = c->lists ? 0 : axes_of_collective(m, c, out->axes);
}

bool sw_circle_equal(const sw_circle *a, const sw_circle *b) {
  if (a->list || b->list) {
    if (!a->list || !b->list || a->list->n != b->list->n) return false;
    size_t bytes = (size_t)a->list->n * sizeof *a->list->members;
    return a->list->members == b->list->members || memcmp(a->list->members, b->list->members, bytes) == 0;
  }
  return sw_axis_refs_equal(a->axes, a->n_axes, b->axes, b->n_axes);
}

int64_t sw_circle_size(const sw_circle *c) { return c->list ? c->list->n : sw_axis_refs_size(c->axes, c->n_axes); }

int64_t sw_circle_index(const sw_mesh *m, const sw_circle *c, int64_t device) {
  return c->list ? c->list->place : sw_mesh_group_index(m, device, c->axes, c->n_axes);
}

int64_t sw_circle_peer(const sw_mesh *m, const sw_circle *c, int64_t device, int64_t index) {
  return c->list ? c->list->members[index] : sw_mesh_group_peer(m, device, c->axes, c->n_axes, index);
}

bool sw_moves_extent_agrees(const sw_collective *c, int dim) {
  const int joined = sw_collective_joined_dim(c);
  return sw_coll_combines(c->op) || (joined >= 0 && dim != joined);
}
