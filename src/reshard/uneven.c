/* Direct exchanges between uneven blocks, priced by the definition of sw_machine_exchange_s, but with what a net knows
 * of its states: the devices' places along each list, and the groups.
 *
 *   10 rows over x=4, y=2, [x,y] to [x]: blocks of 2 to blocks of 3; device (1,1) has rows 6-7, wants 3-5, lacks 3
 */
#include "reshard/uneven.h"

#include <math.h>

#include "reshard/price.h"
#include "shardwright/checked.h"
#include "shardwright/simd.h"

void rs_uneven_init(rs_uneven *u, const rs_net *n, const rs_query *q) {
  u->net = n;
  u->q = q;
  for (int d = 0; d < q->space.rank; d++) {
    for (int i = 0; i < n->n_lists; i++) {
      u->block[d][i] = sw_ceil_div(q->space.dims[d], n->list[i].shards);
      u->even[d][i] = u->block[d][i] * n->list[i].shards == q->space.dims[d];
    }
  }
}

double rs_uneven_bytes(const rs_uneven *u, int state) {
  double bytes = sw_dtype_bytes(u->q->dtype);
  for (int d = 0; d < u->q->space.rank; d++) bytes *= (double)u->block[d][u->net->state[state].list[d]];
  return bytes;
}

/* A dimension's blocks before (of a unit that has shared all) and after, by the places of devices. */
typedef struct meeting {
  const int32_t *old, *new;
  double wide, narrow, k;
} meeting;

/* Elements of each device's new block along a dimension, and of these what it had. */
SW_SIMD_CLONES static void meet(const meeting *m, int n, double *restrict has, double *restrict had) {
  const int32_t *restrict old = m->old, *restrict new = m->new;
  const double wide = m->wide, narrow = m->narrow, k = m->k;
  for (int i = 0; i < n; i++) {
    const double start = narrow * new[i], lo = start < k ? start : k, end = lo + narrow, hi = end < k ? end : k;
    const double first = wide * old[i], last = first + wide;
    const double common = (hi < last ? hi : last) - (lo > first ? lo : first);
    has[i] *= hi - lo;
    had[i] *= common > 0 ? common : 0;
  }
}

enum { LANES = 8 };

SW_SIMD_CLONES static double most_lacked(int n, const double *has, const double *had) {
  double most[LANES] = {0};
  for (int i = 0; i < n; i += LANES) {
    for (int k = 0; k < LANES; k++) {
      const double lacks = has[i + k] - had[i + k];
      most[k] = lacks > most[k] ? lacks : most[k];
    }
  }
  for (int k = 1; k < LANES; k++) most[0] = most[k] > most[0] ? most[k] : most[0];
  return most[0];
}

/* Bytes that the busiest device lacks of its new block, its unit of a level having shared all. */
static double lacked_bytes(const rs_uneven *u, const uint8_t *from, const uint8_t *to, int level) {
  const rs_net *n = u->net;
  double has[RS_NET_PLACES], had[RS_NET_PLACES], whole = sw_dtype_bytes(u->q->dtype);
  for (int d = 0; d < u->q->space.rank; d++) {
    if (from[d] == 0 && to[d] == 0) whole *= (double)u->q->space.dims[d];
  }
  const int rounded = (n->n_places + LANES - 1) / LANES * LANES;
  for (int i = 0; i < rounded; i++) has[i] = had[i] = whole;
  for (int d = 0; d < u->q->space.rank; d++) {
    if (from[d] == 0 && to[d] == 0) continue;
    const meeting m = {rs_net_place(n, level, from[d]), rs_net_place(n, 0, to[d]),
                       (double)(u->block[d][from[d]] * n->list[from[d]].inside[level]), (double)u->block[d][to[d]],
                       (double)u->q->space.dims[d]};
    meet(&m, n->n_places, has, had);
  }
  return most_lacked(rounded, has, had);
}

/* Do the devices of a unit share anything? */
static bool has_units(const rs_uneven *u, const uint8_t *from, int level) {
  for (int d = 0; d < u->q->space.rank; d++) {
    if (u->net->list[from[d]].inside[level] > 1) return true;
  }
  return false;
}

/* Old blocks that a new one touches. */
static double touched(const rs_uneven *u, int dim, int from, int to) {
  const int64_t shards = u->net->list[from].shards, step = u->block[dim][from], len = u->block[dim][to];
  if (shards == 1 || from == to) return 1;
  if (step <= 0) return (double)shards;
  if (len <= step && step % len == 0) return 1;
  const bool aligned = len % step == 0 || u->net->list[to].n == 0;
  return (double)sw_min_i64(sw_ceil_div(len, step) + !aligned, shards);
}

/* Atoms behind what both lists cut into the same blocks. */
static unsigned changed(const rs_uneven *u, int dim, int from, int to) {
  const rs_net_list *a = &u->net->list[from], *b = &u->net->list[to];
  if (from == to) return 0;
  if (u->block[dim][from] * a->shards != u->block[dim][to] * b->shards) return a->set | b->set;
  return rs_net_diff_of(u->net, from, to)->changed;
}

double rs_uneven_exchange_s(const rs_uneven *u, int from, int to) {
  const rs_net *n = u->net;
  const uint8_t *a = n->state[from].list, *b = n->state[to].list;
  unsigned atoms = 0;
  double blocks = 1;
  if (n->n_places == 0) {
    const rs_state old = rs_net_state_of(n, from), new = rs_net_state_of(n, to);
    return rs_exchange_s(u->q, &old, &new);
  }
  sw_exchange_load load = {.bytes = lacked_bytes(u, a, b, 0), .buffer_bytes = rs_uneven_bytes(u, to)};
  for (int d = 0; d < u->q->space.rank; d++) {
    atoms |= changed(u, d, a[d], b[d]);
    blocks *= touched(u, d, a[d], b[d]);
  }
  const sw_group *g = &n->group[atoms];
  if (load.bytes <= 0 || g->shape.n_parts == 0) {
    return sw_group_collective_s(u->q->machine, &n->group[0], SW_COLL_ALL_SLICE, load.buffer_bytes);
  }
  load.peers = fmax(1, fmin(blocks > 1 ? blocks - 1 : 1, (double)(g->shape.size - 1)));
  for (int i = 1; i < g->shape.n_parts; i++) {
    const int l = g->shape.part[i].level;
    load.outside_bytes[l] = has_units(u, a, l) ? fmin(lacked_bytes(u, a, b, l), load.bytes) : load.bytes;
  }
  return sw_group_exchange_s(u->q->machine, g, &load);
}
