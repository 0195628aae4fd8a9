/* Moves. All of them change the ends of lists, because blocks nest from the major side:
 *
 *   all_slice       [x]      -> [x,y]     y unused before
 *   reduce_scatter  [x]      -> [x,y]     y partial before
 *   all_gather      [x,y,z]  -> [x]
 *   all_to_all      [x,y],[] -> [x],[y]
 *   all_reduce      partial  -> unused
 *
 * and only where uneven blocks nest (rs_cuts_nest). While something is still to be reduced nothing is gathered or
 * moved: partial data is the larger.
 */
#include "reshard/moves.h"

#include <string.h>

#include "reshard/price.h"
#include "shardwright/checked.h"

typedef struct moving {
  const rs_query *q;
  const rs_lists *from, *target;
  double bytes;
  unsigned to_reduce;
  rs_offer offer;
  void *user;
} moving;

static int64_t size_of(const rs_query *q, const uint8_t *atoms, int n) {
  int64_t size = 1;
  for (int i = 0; i < n; i++) size *= q->space.atom[atoms[i]].size;
  return size;
}

static void push(const rs_query *q, rs_lists *l, int dim, const uint8_t *atoms, int n) {
  memcpy(&l->atom[dim][l->len[dim]], atoms, (size_t)n);
  l->len[dim] = (uint8_t)(l->len[dim] + n);
  l->shards[dim] *= size_of(q, atoms, n);
  for (int i = 0; i < n; i++) {
    l->used |= 1u << atoms[i];
    l->partial &= ~(1u << atoms[i]);
  }
}

static void pop(const rs_query *q, rs_lists *l, int dim, int n) {
  l->len[dim] = (uint8_t)(l->len[dim] - n);
  const uint8_t *atoms = &l->atom[dim][l->len[dim]];
  l->shards[dim] /= size_of(q, atoms, n);
  for (int i = 0; i < n; i++) l->used &= ~(1u << atoms[i]);
}

static void make_offer(const moving *v, const rs_lists *to, rs_move move, double price, double bytes_after) {
  rs_state state = rs_state_of_lists(&v->q->space, to);
  v->offer(v->user, &state, move, price, v->bytes, bytes_after);
}

/* Append atoms to a dimension: all_slice of unused ones, reduce_scatter of partial ones. */
static void append(const moving *v, sw_coll_op op, int dim, const uint8_t *atoms, int n) {
  if (!rs_cuts_nest(v->q->space.dims[dim], v->from->shards[dim], size_of(v->q, atoms, n))) return;
  rs_lists to = *v->from;
  push(v->q, &to, dim, atoms, n);
  double after = rs_local_bytes(v->q, to.shards);
  double price = rs_collective_s(v->q, op, atoms, n, op == SW_COLL_ALL_SLICE ? after : v->bytes);
  make_offer(v, &to, (rs_move){(uint8_t)op, (uint8_t)dim, 0, (uint8_t)n, 0}, price, after);
}

/* Runs of the target's lists that `allowed` holds, appended where the target has them; then single atoms that the
 * target does not want there, which may free a place or help a permute. */
static void appends(const moving *v, sw_coll_op op, unsigned allowed, bool all_at_once) {
  for (int d = 0; d < v->q->space.rank; d++) {
    const uint8_t *list = v->target->atom[d];
    for (int first = 0; first < v->target->len[d]; first++) {
      unsigned taken = 0;
      for (int end = first; end < v->target->len[d] && (allowed >> list[end] & 1u); end++) {
        taken |= 1u << list[end];
        if (!all_at_once || taken == allowed) append(v, op, d, list + first, end - first + 1);
      }
    }
    for (uint8_t a = 0; a < v->q->space.n; a++) {
      bool wanted_here = false;
      for (int i = 0; i < v->target->len[d]; i++) wanted_here = wanted_here || list[i] == a;
      bool alone = !all_at_once || allowed == 1u << a;
      if ((allowed >> a & 1u) && !wanted_here && alone) append(v, op, d, &a, 1);
    }
  }
}

static void all_reduce(const moving *v, unsigned atoms) {
  rs_lists to = *v->from;
  to.partial &= ~atoms;
  to.used &= ~atoms;
  double price = rs_collective_over_s(v->q, SW_COLL_ALL_REDUCE, atoms, v->bytes);
  make_offer(v, &to, (rs_move){SW_COLL_ALL_REDUCE, 0, 0, 0, (uint16_t)atoms}, price, v->bytes);
}

/* All that is left to reduce, on one dimension and in mesh order: for a gather to follow. */
static void scatter_all(const moving *v) {
  uint8_t atoms[RS_MAX_ATOMS];
  int n = 0;
  for (uint8_t a = 0; a < v->q->space.n; a++) {
    if (v->to_reduce >> a & 1u) atoms[n++] = a;
  }
  for (int d = 0; n > 1 && d < v->q->space.rank; d++) append(v, SW_COLL_REDUCE_SCATTER, d, atoms, n);
}

static void reductions(const moving *v) {
  /* an integer average of averages is not the average of all: it truncates */
  bool once = v->q->kind == SW_REDUCE_AVERAGE || v->q->kind == SW_REDUCE_GENERIC;
  all_reduce(v, v->to_reduce);
  unsigned cut_later = 0;
  for (int d = 0; d < v->q->space.rank; d++) {
    for (int i = 0; i < v->target->len[d]; i++) cut_later |= 1u << v->target->atom[d][i];
  }
  unsigned dropped = v->to_reduce & ~cut_later;
  if (!once && dropped && dropped != v->to_reduce) all_reduce(v, dropped);
  appends(v, SW_COLL_REDUCE_SCATTER, v->to_reduce, once);
  scatter_all(v);
}

static void gather(const moving *v, int dim, int n) {
  const uint8_t *atoms = &v->from->atom[dim][v->from->len[dim] - n];
  rs_lists to = *v->from;
  pop(v->q, &to, dim, n);
  double after = rs_local_bytes(v->q, to.shards);
  double price = rs_collective_s(v->q, SW_COLL_ALL_GATHER, atoms, n, after);
  make_offer(v, &to, (rs_move){SW_COLL_ALL_GATHER, (uint8_t)dim, 0, (uint8_t)n, 0}, price, after);
}

static void all_to_all(const moving *v, int dim, int to_dim, int n) {
  const uint8_t *atoms = &v->from->atom[dim][v->from->len[dim] - n];
  rs_lists to = *v->from;
  if (!rs_cuts_nest(v->q->space.dims[to_dim], to.shards[to_dim], size_of(v->q, atoms, n))) return;
  pop(v->q, &to, dim, n);
  push(v->q, &to, to_dim, atoms, n);
  double price = rs_collective_s(v->q, SW_COLL_ALL_TO_ALL, atoms, n, v->bytes);
  make_offer(v, &to, (rs_move){SW_COLL_ALL_TO_ALL, (uint8_t)dim, (uint8_t)to_dim, (uint8_t)n, 0}, price,
             rs_local_bytes(v->q, to.shards));
}

static void leaves(const moving *v) {
  for (int d = 0; d < v->q->space.rank; d++) {
    for (int n = 1; n <= v->from->len[d]; n++) {
      int64_t moved = size_of(v->q, &v->from->atom[d][v->from->len[d] - n], n);
      if (!rs_cuts_nest(v->q->space.dims[d], v->from->shards[d] / moved, moved)) continue;
      gather(v, d, n);
      for (int e = 0; e < v->q->space.rank; e++) {
        if (e != d) all_to_all(v, d, e, n);
      }
    }
  }
}

static moving moving_of(const rs_query *q, const rs_lists *from, const rs_lists *target, rs_offer offer, void *user) {
  return (moving){q, from, target, rs_local_bytes(q, from->shards), from->partial & ~target->partial, offer, user};
}

void rs_moves(const rs_query *q, const rs_lists *from, const rs_lists *target, rs_offer offer, void *user) {
  moving v = moving_of(q, from, target, offer, user);
  unsigned all = (1u << q->space.n) - 1;
  appends(&v, SW_COLL_ALL_SLICE, all & ~from->used, false);
  if (v.to_reduce) {
    reductions(&v);
  } else {
    leaves(&v);
  }
}

static int gathers_before(const rs_query *q, const rs_lists *t, rs_state *out, int n) {
  for (int d = 0; d < q->space.rank; d++) {
    for (uint8_t a = 0; a < q->space.n && n < RS_MAX_NEAR; a++) {
      if ((t->used >> a & 1u) || !rs_cuts_nest(q->space.dims[d], t->shards[d], q->space.atom[a].size)) continue;
      rs_lists l = *t;
      push(q, &l, d, &a, 1);
      out[n++] = rs_state_of_lists(&q->space, &l);
    }
  }
  return n;
}

static bool moved_back(const rs_query *q, const rs_lists *t, int from, int to, int count, rs_state *out) {
  const uint8_t *atoms = &t->atom[from][t->len[from] - count];
  int64_t size = size_of(q, atoms, count);
  if (!rs_cuts_nest(q->space.dims[from], t->shards[from] / size, size)) return false;
  if (!rs_cuts_nest(q->space.dims[to], t->shards[to], size)) return false;
  rs_lists l = *t;
  pop(q, &l, from, count);
  push(q, &l, to, atoms, count);
  *out = rs_state_of_lists(&q->space, &l);
  return true;
}

int rs_states_before(const rs_query *q, rs_state *out) {
  rs_lists t;
  rs_lists_of(&q->space, &q->target, &t);
  int n = gathers_before(q, &t, out, 0);
  for (int d = 0; d < q->space.rank; d++) {
    for (int count = 1; count <= t.len[d]; count++) {
      for (int e = 0; e < q->space.rank && n < RS_MAX_NEAR; e++) {
        if (e != d) n += moved_back(q, &t, d, e, count, &out[n]);
      }
    }
  }
  return n;
}
