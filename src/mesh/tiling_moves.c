/* Who sends what to whom in an exchange of tilings.
 *
 * It separates per dimension: the window that `to` needs is cut at the borders of the source's shards, which gives a
 * few pieces per dimension; a box is one piece of each. Its holders are the devices with the piece's shard indices,
 * any coordinates elsewhere.
 *
 *   6 rows over 2 -> over 3:  target shard 1 needs rows 2,3: piece [2,3) of source shard 0, piece [3,4) of shard 1
 *
 * Senders: `to` itself if it holds the piece. Else only coordinates that must differ differ, but for the free ones
 * that are inner to the outermost of those: they are turned round, so that replicas next to each other share the load.
 */
#include <string.h>

#include "mesh/refs.h"
#include "mesh/tiling_dim.h"

typedef struct sw_piece {
  int64_t shard, lo, hi;
} sw_piece;

typedef struct sw_moves {
  const sw_mesh *m;
  const sw_tiling *src;
  int64_t to;
  int64_t n_shards[SW_MAX_RANK];
  int64_t own_shard[SW_MAX_RANK]; /* of `to` in the source */
  int64_t lo[SW_MAX_RANK], hi[SW_MAX_RANK];
  int64_t first[SW_MAX_RANK], end[SW_MAX_RANK];
  bool flipped[SW_MAX_RANK];
  int n_used;
  sw_axis_ref used[SW_MAX_REFS]; /* of the source: cutting, or apart */
  int n_free;
  sw_axis_ref free[SW_MAX_REFS + SW_MAX_AXES]; /* digits of the mesh that the source does not cut by, outer first */
} sw_moves;

/* Where the digit that starts at `pre` ends: with the ref of the source that uses it, else where the next used one
 * starts. */
static int64_t next_border(const sw_moves *v, int axis, int64_t pre, bool *used) {
  int64_t next = v->m->axis[axis].size;
  *used = false;
  for (int i = 0; i < v->n_used && !*used; i++) {
    sw_axis_ref r = v->used[i];
    if (r.axis != axis || r.size == 1) continue;
    *used = r.pre == pre;
    if (*used) next = pre * r.size;
    if (r.pre > pre && r.pre < next) next = r.pre;
  }
  return next;
}

/* The parts of one axis that no source ref uses: between the digits that are used, in order. */
static void free_digits_of_axis(sw_moves *v, int axis) {
  for (int64_t pre = 1; pre > 0 && pre < v->m->axis[axis].size;) {
    bool used;
    int64_t next = next_border(v, axis, pre, &used);
    if (!used) v->free[v->n_free++] = (sw_axis_ref){axis, (int32_t)pre, (int32_t)(next / pre)};
    pre = next;
  }
}

static void note_used(sw_moves *v, const sw_axis_ref *refs, int n) {
  memcpy(v->used + v->n_used, refs, (size_t)n * sizeof refs[0]);
  v->n_used += n;
}

static void init_moves(sw_moves *v, const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, int64_t to) {
  *v = (sw_moves){.m = m, .src = src, .to = to};
  for (int d = 0; d < src->rank; d++) {
    const sw_tile_dim *s = &src->dim[d];
    v->n_shards[d] = sw_tile_shards(src, d);
    v->own_shard[d] = sw_mesh_group_index(m, to, src->refs + s->first_ref, s->n_refs);
    sw_tile_shown(&dst->dim[d], sw_tiling_shard(m, dst, d, to), &v->lo[d], &v->hi[d]);
    note_used(v, src->refs + s->first_ref, s->n_refs);
    sw_tile_owners(s, v->n_shards[d], v->lo[d], v->hi[d], &v->first[d], &v->end[d], &v->flipped[d]);
  }
  note_used(v, src->refs + src->first_apart, src->n_apart);
  for (int a = 0; a < m->n_axes; a++) free_digits_of_axis(v, a);
}

/* A device that holds the box whose source shards are `shard`. */
static int64_t sender(const sw_moves *v, const int64_t *shard) {
  int64_t from = v->to, distance = 0, outermost = 0;
  for (int d = 0; d < v->src->rank; d++) {
    if (shard[d] == v->own_shard[d]) continue;
    const sw_tile_dim *s = &v->src->dim[d];
    int64_t other = sw_mesh_group_peer(v->m, from, v->src->refs + s->first_ref, s->n_refs, shard[d]);
    outermost = other > from ? (other - from > outermost ? other - from : outermost)
                             : (from - other > outermost ? from - other : outermost);
    distance += v->own_shard[d] - shard[d];
    from = other;
  }
  if (from == v->to) return from;
  int n = v->n_free, inner = n;
  while (inner > 0 && sw_axis_ref_weight(v->m, v->free[inner - 1]) < outermost) inner--;
  int64_t replicas = sw_axis_refs_size(v->free + inner, n - inner);
  if (replicas == 1) return from;
  int64_t index = sw_mesh_group_index(v->m, from, v->free + inner, n - inner);
  return sw_mesh_group_peer(v->m, from, v->free + inner, n - inner,
                            ((index + distance) % replicas + replicas) % replicas);
}

static sw_piece piece_at(const sw_moves *v, int d, int64_t j) {
  sw_piece p = {.shard = v->flipped[d] ? v->n_shards[d] - 1 - j : j};
  sw_tile_owned(&v->src->dim[d], v->n_shards[d], p.shard, &p.lo, &p.hi);
  if (p.lo < v->lo[d]) p.lo = v->lo[d];
  if (p.hi > v->hi[d]) p.hi = v->hi[d];
  return p;
}

/* Do the pieces of a dimension cover the window without a gap? */
static sw_rc check_cover(const sw_moves *v, int d, sw_diag *diag) {
  int64_t at = v->lo[d];
  for (int64_t j = v->first[d]; j < v->end[d]; j++) {
    sw_piece p = piece_at(v, d, j);
    if (p.lo < p.hi && p.lo == at) at = p.hi;
  }
  if (at >= v->hi[d]) return SW_OK;
  return SW_FAIL_INPUT(diag, SW_NOWHERE, "no device holds element %lld of dimension %d, which device %lld needs",
                       (long long)at, d, (long long)v->to);
}

/* The next combination of pieces, last dimension fastest; false after the last. */
static bool advance(const sw_moves *v, int64_t *j) {
  for (int d = v->src->rank - 1; d >= 0; d--) {
    if (++j[d] < v->end[d]) return true;
    j[d] = v->first[d];
  }
  return false;
}

sw_rc sw_tiling_moves_to(const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, int64_t to, sw_tile_visit visit,
                         void *user, sw_diag *d) {
  sw_moves v;
  init_moves(&v, m, src, dst, to);
  for (int i = 0; i < src->rank; i++) {
    if (v.lo[i] >= v.hi[i]) return SW_OK;
  }
  for (int i = 0; i < src->rank; i++) SW_TRY(check_cover(&v, i, d));
  int64_t j[SW_MAX_RANK], shard[SW_MAX_RANK];
  memcpy(j, v.first, sizeof j);
  do {
    sw_tile_move move = {.to = to};
    bool empty = false;
    for (int i = 0; i < src->rank; i++) {
      sw_piece p = piece_at(&v, i, j[i]);
      shard[i] = p.shard;
      move.lo[i] = p.lo;
      move.hi[i] = p.hi;
      empty = empty || p.lo >= p.hi;
    }
    if (empty) continue;
    move.from = sender(&v, shard);
    SW_TRY(visit(user, &move, d));
  } while (advance(&v, j));
  return SW_OK;
}
