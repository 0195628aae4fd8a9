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

/* The same of any ranges: first elements, then what follows the last ones. */
SW_SIMD_CLONES static void overlap(const double *restrict old, const double *restrict new, int n, double *restrict has,
                                   double *restrict had) {
  for (int i = 0; i < n; i++) {
    const double lo = new[i], hi = new[n + i], first = old[i], last = old[n + i];
    const double common = (hi < last ? hi : last) - (lo > first ? lo : first);
    has[i] *= hi - lo;
    had[i] *= common > 0 ? common : 0;
  }
}

/* The ranges of a list's blocks, cut to the tensor. */
static const double *ranges_of(const int32_t *place, double block, double k, int n, double *out) {
  for (int i = 0; i < n; i++) {
    const double start = block * place[i], end = start + block;
    out[i] = start < k ? start : k;
    out[n + i] = end < k ? end : k;
  }
  return out;
}

static const rs_pieces *piece_of(const rs_side *s, int dim) {
  return s->piece && s->piece[dim].dim ? &s->piece[dim] : NULL;
}

/* Along one dimension, the source's unit of a level having shared all. `set`: of the devices that it tells apart. */
static void meet_dim(const rs_uneven *u, const rs_side *from, const rs_side *to, int dim, unsigned set, int level,
                     double *has, double *had) {
  const rs_net *n = u->net;
  const int places = n->part[set].n;
  const rs_pieces *old = piece_of(from, dim), *new = piece_of(to, dim);
  const uint8_t a = n->state[from->state].list[dim], b = n->state[to->state].list[dim];
  const meeting m = {rs_net_place(n, set, level, a), rs_net_place(n, set, 0, b),
                     (double)(u->block[dim][a] * n->list[a].inside[level]), (double)u->block[dim][b],
                     (double)u->q->space.dims[dim]};
  double of_old[2 * RS_NET_PLACES], of_new[2 * RS_NET_PLACES];
  if (!old && !new) {
    meet(&m, places, has, had);
    return;
  }
  overlap(old ? old->owned[level] : ranges_of(m.old, m.wide, m.k, places, of_old),
          new ? new->shown : ranges_of(m.new, m.narrow, m.k, places, of_new), places, has, had);
}

/* Bytes that the busiest device lacks of its new block, its unit of a level having shared all. */
static double lacked_bytes(const rs_uneven *u, const rs_side *from, const rs_side *to, int level) {
  const rs_net *n = u->net;
  const uint8_t *a = n->state[from->state].list, *b = n->state[to->state].list;
  double has[RS_NET_PLACES], had[RS_NET_PLACES], whole = sw_dtype_bytes(u->q->dtype);
  unsigned set = from->opaque || to->opaque ? (1u << u->q->space.n) - 1 : 0;
  for (int d = 0; d < u->q->space.rank; d++) {
    if (a[d] == 0 && b[d] == 0) whole *= (double)u->q->space.dims[d];
    set |= n->list[a[d]].set | n->list[b[d]].set;
  }
  const int rounded = (n->part[set].n + LANES - 1) / LANES * LANES;
  for (int i = 0; i < rounded; i++) has[i] = had[i] = whole;
  for (int d = 0; d < u->q->space.rank; d++) {
    if (a[d] || b[d]) meet_dim(u, from, to, d, set, level, has, had);
  }
  return most_lacked(rounded, has, had);
}

/* Are the places of devices, and what they hold? */
static bool is_known(const rs_uneven *u, const rs_side *from, const rs_side *to) {
  return u->net->n_places && !(from->opaque && *from->is_odd) && !(to->opaque && *to->is_odd);
}

double rs_uneven_lacked_bytes(const rs_uneven *u, const rs_side *from, const rs_side *to) {
  return is_known(u, from, to) ? lacked_bytes(u, from, to, 0) : 0;
}

/* Do the devices of a unit share anything? */
static bool has_units(const rs_uneven *u, const rs_side *from, int level) {
  for (int d = 0; d < u->q->space.rank; d++) {
    const rs_pieces *p = piece_of(from, d);
    const bool alone = p && (p->dim->starts || p->dim->step < 0);
    if (!alone && u->net->list[u->net->state[from->state].list[d]].inside[level] > 1) return true;
  }
  return false;
}

/* What a side makes of a dimension. */
static sw_tile_dim tile_of(const rs_uneven *u, const rs_side *s, int dim) {
  const rs_pieces *p = piece_of(s, dim);
  const int list = u->net->state[s->state].list[dim];
  if (p) return *p->dim;
  const int64_t block = u->block[dim][list];
  return (sw_tile_dim){.n_refs = u->net->list[list].n > 0, .step = block, .len = block};
}

static bool divides(int64_t whole, int64_t part) { return part != 0 && whole % part == 0; }

/* Old blocks that a new one touches. */
static double touched(const sw_tile_dim *s, const sw_tile_dim *t, int64_t shards) {
  if (shards == 1) return 1;
  if (s->starts || t->starts || s->step <= 0) return (double)shards;
  const int64_t shift = t->base - s->base;
  const bool free = t->n_refs == 0;
  if (t->len <= s->step && divides(s->step, t->len) && divides(shift, t->len) && (free || divides(t->step, t->len)))
    return 1;
  const bool aligned = divides(shift, s->step) && (free || divides(t->step, s->step));
  return (double)sw_min_i64(sw_ceil_div(t->len, s->step) + !aligned, shards);
}

/* Do both sides leave the dimension as it is? Halos are to be fetched even then. */
static bool stays(const sw_tile_dim *s, const sw_tile_dim *t) {
  const int64_t step = t->step < 0 ? -t->step : t->step;
  return s->base == t->base && s->len == t->len && s->step == t->step && s->starts == t->starts &&
         (t->starts || t->n_refs == 0 || t->len <= step);
}

/* Atoms behind what both lists cut into the same blocks. */
static unsigned changed(const rs_uneven *u, int dim, int from, int to) {
  const rs_net_list *a = &u->net->list[from], *b = &u->net->list[to];
  if (from == to) return 0;
  if (u->block[dim][from] * a->shards != u->block[dim][to] * b->shards) return a->set | b->set;
  return rs_net_diff_of(u->net, from, to)->changed;
}

/* Adds what one dimension has to do with peers and buffers. */
static unsigned add_dim(const rs_uneven *u, const rs_side *from, const rs_side *to, int dim, double *blocks,
                        double *buffer) {
  const int a = u->net->state[from->state].list[dim], b = u->net->state[to->state].list[dim];
  const sw_tile_dim s = tile_of(u, from, dim), t = tile_of(u, to, dim);
  const bool pieces = piece_of(from, dim) || piece_of(to, dim);
  *buffer *= (double)t.len;
  if (!pieces && a == b) return 0;
  *blocks *= touched(&s, &t, u->net->list[a].shards);
  if (!pieces) return changed(u, dim, a, b);
  return a == b && stays(&s, &t) ? 0 : u->net->list[a].set | u->net->list[b].set;
}

static double counted_one_by_one_s(const rs_uneven *u, const rs_side *from, const rs_side *to) {
  const rs_state old = rs_net_state_of(u->net, from->state), new = rs_net_state_of(u->net, to->state);
  return rs_exchange_s(u->q, from->opaque ? NULL : &old, to->opaque ? NULL : &new);
}

/* What the busiest device gets from outside its units; HUGE_VAL: all that it lacks. Returns the most of that. */
static double count_outside(const rs_uneven *u, const rs_side *from, const rs_side *to, const sw_group_shape *g,
                            double *outside) {
  double most = 0;
  for (int i = 1; i < g->n_parts; i++) {
    const int l = g->part[i].level;
    outside[l] = has_units(u, from, l) ? lacked_bytes(u, from, to, l) : HUGE_VAL;
    most = fmax(most, outside[l]);
  }
  return most;
}

/* Does that alone take `enough`? With one peer it is no matter of that alone whether it sends all there is. */
static bool takes_enough(const rs_uneven *u, const sw_group *g, const sw_exchange_load *load, double enough,
                         double *out) {
  if (isinf(enough) || isinf(load->bytes) || load->bytes <= 0 || load->peers <= 1) return false;
  *out = sw_group_exchange_s(u->q->machine, g, load);
  return *out >= enough;
}

double rs_uneven_exchange_s(const rs_uneven *u, const rs_side *from, const rs_side *to, double enough) {
  unsigned atoms = 0;
  double blocks = 1, least_s;
  sw_exchange_load load = {.buffer_bytes = sw_dtype_bytes(u->q->dtype)};
  if (!is_known(u, from, to)) return counted_one_by_one_s(u, from, to);
  for (int d = 0; d < u->q->space.rank; d++) atoms |= add_dim(u, from, to, d, &blocks, &load.buffer_bytes);
  const sw_group *g = rs_net_group(u->net, atoms);
  load.peers = fmax(1, fmin(blocks > 1 ? blocks - 1 : 1, (double)(g->shape.size - 1)));
  load.bytes = count_outside(u, from, to, &g->shape, load.outside_bytes);
  if (takes_enough(u, g, &load, enough, &least_s)) return least_s;
  load.bytes = lacked_bytes(u, from, to, 0);
  if (load.bytes <= 0 || g->shape.n_parts == 0) {
    return sw_group_collective_s(u->q->machine, rs_net_group(u->net, 0), SW_COLL_ALL_SLICE, load.buffer_bytes);
  }
  for (int l = 1; l < u->net->n_levels; l++) load.outside_bytes[l] = fmin(load.outside_bytes[l], load.bytes);
  return sw_group_exchange_s(u->q->machine, g, &load);
}
