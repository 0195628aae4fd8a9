/* Direct exchanges between uneven blocks, priced by the definition of sw_machine_exchange_s, but with what a net knows
 * of its states: the devices' places along each list, and the groups.
 *
 *   10 rows over x=4, y=2, [x,y] to [x]: blocks of 2 to blocks of 3; device (1,1) has rows 6-7, wants 3-5, lacks 3
 */
#include "reshard/uneven.h"

#include <math.h>

#include "reshard/price.h"
#include "base/checked.h"
#include "base/simd.h"

void rs_uneven_init(rs_uneven *u, const rs_net *n, const rs_query *q) {
  u->net = n;
  u->q = q;
  u->spare = 0;
  for (int d = 0; d < q->space.rank; d++) {
    for (int i = 0; i < n->n_lists; i++) {
      u->block[d][i] = sw_ceil_div(q->space.dims[d], n->list[i].shards);
      const int64_t padded = u->block[d][i] * n->list[i].shards;
      u->even[d][i] = padded == q->space.dims[d];
      u->padded[d][i] = u->even[d][i] ? 1 : (double)padded / (double)q->space.dims[d];
    }
  }
}

void rs_uneven_take_alike(rs_uneven *u, unsigned spare) {
  u->spare = spare;
  for (int i = 0; i < u->net->n_lists && spare; i++) u->spare_padded[i] = HUGE_VAL;
  for (; spare; spare &= spare - 1) {
    const double *padded = u->padded[__builtin_ctz(spare)];
    for (int i = 0; i < u->net->n_lists; i++) u->spare_padded[i] = fmin(u->spare_padded[i], padded[i]);
  }
}

static double padding(const rs_uneven *u, int state) {
  const uint8_t *list = u->net->state[state].list;
  double times = 1;
  for (int d = 0; d < u->q->space.rank; d++) {
    times *= u->spare >> d & 1u ? u->spare_padded[list[d]] : u->padded[d][list[d]];
  }
  return times;
}

double rs_uneven_padding(const rs_uneven *u, int from, int to) { return fmax(padding(u, from), padding(u, to)); }

double rs_uneven_bytes(const rs_uneven *u, int state) {
  double bytes = sw_dtype_bytes(u->q->dtype);
  for (int d = 0; d < u->q->space.rank; d++) bytes *= (double)u->block[d][u->net->state[state].list[d]];
  return bytes;
}

enum { LANES = RS_NET_LANES }; /* all loops go over as many at once */

SW_SIMD_CLONES static void fill(double x, int n, double *out) {
  for (int i = 0; i < n; i += LANES) {
    for (int k = i; k < i + LANES; k++) out[k] = x;
  }
}

/* A dimension's blocks before, of one or two kinds of units that have shared all, and after, by the places of devices.
 */
typedef struct meeting {
  struct before {
    const int32_t *place;
    double block;
  } old[2];
  const int32_t *new;
  double block, size;
} meeting;

typedef struct span {
  double lo, hi;
} span;

static inline span block_at(int32_t place, double block) { return (span){block * place, block * place + block}; }

/* The part of it that the tensor has. */
static inline span cut_to(span s, double size) { return (span){s.lo < size ? s.lo : size, s.hi < size ? s.hi : size}; }

static inline double common(span a, span b) {
  const double both = (a.hi < b.hi ? a.hi : b.hi) - (a.lo > b.lo ? a.lo : b.lo);
  return both > 0 ? both : 0;
}

/* Elements of each device's new block along a dimension, and of these what it had. */
SW_SIMD_CLONES static void meet(const meeting *m, int n, double *restrict has, double *restrict had) {
  const int32_t *restrict new = m->new, *restrict old = m->old[0].place;
  const double block = m->block, size = m->size, wide = m->old[0].block;
  for (int i = 0; i < n; i += LANES) {
    for (int k = i; k < i + LANES; k++) {
      const span now = cut_to(block_at(new[k], block), size);
      has[k] *= now.hi - now.lo;
      had[k] *= common(block_at(old[k], wide), now);
    }
  }
}

/* The same of two kinds of units: what the second had stands RS_NET_PLACES behind. */
SW_SIMD_CLONES static void meet_both(const meeting *m, int n, double *restrict has, double *restrict had) {
  const int32_t *restrict new = m->new, *restrict old = m->old[0].place, *restrict older = m->old[1].place;
  const double block = m->block, size = m->size, wide = m->old[0].block, wider = m->old[1].block;
  for (int i = 0; i < n; i += LANES) {
    for (int k = i; k < i + LANES; k++) {
      const span now = cut_to(block_at(new[k], block), size);
      has[k] *= now.hi - now.lo;
      had[k] *= common(block_at(old[k], wide), now);
      had[k + RS_NET_PLACES] *= common(block_at(older[k], wider), now);
    }
  }
}

/* The same of any ranges: first elements, then what follows the last ones. */
SW_SIMD_CLONES static void overlap(const double *restrict old, const double *restrict new, int n, double *restrict has,
                                   double *restrict had) {
  for (int i = 0; i < n; i += LANES) {
    for (int k = i; k < i + LANES; k++) {
      const span now = {new[k], new[n + k]};
      has[k] *= now.hi - now.lo;
      had[k] *= common((span){old[k], old[n + k]}, now);
    }
  }
}

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

/* The ranges of a list's blocks, cut to the tensor. */
static const double *ranges_of(const int32_t *place, double block, double k, int n, double *out) {
  for (int i = 0; i < n; i++) {
    const span s = cut_to(block_at(place[i], block), k);
    out[i] = s.lo;
    out[n + i] = s.hi;
  }
  return out;
}

static const rs_pieces *piece_of(const rs_side *s, int dim) {
  return s->piece && s->piece[dim].dim ? &s->piece[dim] : NULL;
}

static struct before before_of(const rs_uneven *u, int dim, unsigned set, int level, int list) {
  const int64_t block = u->block[dim][list] * u->net->list[list].inside[level];
  return (struct before){rs_net_place(u->net, set, level, list), (double)block};
}

/* The same as overlap of what an end's pieces, or else lists, say; one of the two has pieces. In a frame of its own. */
static __attribute__((noinline)) void meet_pieces(const meeting *m, const double *old, const double *new, int places,
                                                  double *has, double *had) {
  double of_list[2 * RS_NET_PLACES];
  if (!old)
    old = ranges_of(m->old[0].place, m->old[0].block, m->size, places, of_list);
  else if (!new)
    new = ranges_of(m->new, m->block, m->size, places, of_list);
  overlap(old, new, places, has, had);
}

/* Along one dimension, the source's units of one or two levels having shared all. `set`: of the devices that it tells
 * apart. */
static void meet_dim(const rs_uneven *u, const rs_side *from, const rs_side *to, int dim, unsigned set,
                     const int level[2], double *has, double *had) {
  const rs_net *n = u->net;
  const int places = n->part[set].n, a = n->state[from->state].list[dim], b = n->state[to->state].list[dim];
  const rs_pieces *old = piece_of(from, dim), *new = piece_of(to, dim);
  meeting m = {.old[0] = before_of(u, dim, set, level[0], a),
               .new = rs_net_place(n, set, 0, b),
               .block = (double)u->block[dim][b],
               .size = (double)u->q->space.dims[dim]};
  if (level[1] > 0) {
    m.old[1] = before_of(u, dim, set, level[1], a);
    meet_both(&m, places, has, had);
  } else if (old || new) {
    meet_pieces(&m, old ? old->owned[level[0]] : NULL, new ? new->shown : NULL, places, has, had);
  } else {
    meet(&m, places, has, had);
  }
}

/* Does the step leave the dimension alone? */
static bool stays_put(const rs_uneven *u, const rs_side *from, const rs_side *to, int dim) {
  const rs_net *n = u->net;
  return n->state[from->state].list[dim] == n->state[to->state].list[dim] && !piece_of(from, dim) && !piece_of(to, dim);
}

/* Bytes that the busiest device lacks of its new block, its unit of a level having shared all; the same of a second
 * level, unless that is 0, where neither side has offsets or halos. What dimensions that stay are cut by cuts no other
 * one: it is among the devices with their widest blocks. */
static void lacked_bytes(const rs_uneven *u, const rs_side *from, const rs_side *to, const int level[2], double *out) {
  const rs_net *n = u->net;
  const uint8_t *a = n->state[from->state].list, *b = n->state[to->state].list;
  double has[RS_NET_PLACES], had[2 * RS_NET_PLACES], whole = sw_dtype_bytes(u->q->dtype);
  unsigned set = from->opaque || to->opaque ? (1u << u->q->space.n) - 1 : 0, moving = 0;
  for (int d = 0; d < u->q->space.rank; d++) {
    if (stays_put(u, from, to, d)) {
      whole *= (double)u->block[d][a[d]];
    } else {
      set |= n->list[a[d]].set | n->list[b[d]].set;
      moving |= 1u << d;
    }
  }
  const int places = n->part[set].n;
  fill(whole, places, has);
  for (int i = 0; i <= (level[1] > 0); i++) fill(whole, places, had + (ptrdiff_t)i * RS_NET_PLACES);
  for (; moving; moving &= moving - 1) meet_dim(u, from, to, __builtin_ctz(moving), set, level, has, had);
  for (int i = 0; i <= (level[1] > 0); i++) out[i] = most_lacked(places, has, had + (ptrdiff_t)i * RS_NET_PLACES);
}

static double lacked_at(const rs_uneven *u, const rs_side *from, const rs_side *to, int level) {
  double out;
  lacked_bytes(u, from, to, (int[2]){level, 0}, &out);
  return out;
}

/* Are the places of devices, and what they hold? */
static bool is_known(const rs_uneven *u, const rs_side *from, const rs_side *to) {
  return u->net->n_places && !(from->opaque && *from->is_odd) && !(to->opaque && *to->is_odd);
}

double rs_uneven_lacked_bytes(const rs_uneven *u, const rs_side *from, const rs_side *to) {
  return is_known(u, from, to) ? lacked_at(u, from, to, 0) : 0;
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
  if (u->block[dim][from] * a->shards != u->block[dim][to] * b->shards) return a->set | b->set;
  return rs_net_diff_of(u->net, from, to)->changed;
}

/* Adds what one dimension has to do with peers and buffers. */
static unsigned add_dim(const rs_uneven *u, const rs_side *from, const rs_side *to, int dim, double *blocks,
                        double *buffer) {
  const int a = u->net->state[from->state].list[dim], b = u->net->state[to->state].list[dim];
  if (stays_put(u, from, to, dim)) {
    *buffer *= (double)u->block[dim][b];
    return 0;
  }
  const sw_tile_dim s = tile_of(u, from, dim), t = tile_of(u, to, dim);
  *buffer *= (double)t.len;
  *blocks *= touched(&s, &t, u->net->list[a].shards);
  if (!piece_of(from, dim) && !piece_of(to, dim)) return changed(u, dim, a, b);
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
    outside[l] = has_units(u, from, l) ? lacked_at(u, from, to, l) : HUGE_VAL;
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

/* Both at once, where there are two kinds of parts. */
static void count_together(const rs_uneven *u, const rs_side *from, const rs_side *to, int level,
                           sw_exchange_load *load) {
  double lacked[2];
  lacked_bytes(u, from, to, (int[2]){0, level}, lacked);
  load->bytes = lacked[0];
  load->outside_bytes[level] = lacked[1];
}

/* False where what comes from outside units alone takes `enough`. */
static bool count_load(const rs_uneven *u, const rs_side *from, const rs_side *to, const sw_group *g, double enough,
                       sw_exchange_load *load, double *least_s) {
  const int outer = g->shape.n_parts == 2 ? g->shape.part[1].level : 0;
  if (outer && isinf(enough) && !from->opaque && !to->opaque && has_units(u, from, outer)) {
    count_together(u, from, to, outer, load);
    return true;
  }
  load->bytes = count_outside(u, from, to, &g->shape, load->outside_bytes);
  if (takes_enough(u, g, load, enough, least_s)) return false;
  load->bytes = lacked_at(u, from, to, 0);
  return true;
}

double rs_uneven_exchange_s(const rs_uneven *u, const rs_side *from, const rs_side *to, double enough) {
  unsigned atoms = 0;
  double blocks = 1, least_s;
  sw_exchange_load load = {.buffer_bytes = sw_dtype_bytes(u->q->dtype)};
  if (!is_known(u, from, to)) return counted_one_by_one_s(u, from, to);
  for (int d = 0; d < u->q->space.rank; d++) atoms |= add_dim(u, from, to, d, &blocks, &load.buffer_bytes);
  if (to->opaque && u->q->target_mesh) atoms = (1u << u->q->space.n) - 1; /* nothing is known of who stays among whom */
  const sw_group *g = rs_net_group(u->net, atoms);
  load.peers = fmax(1, fmin(blocks > 1 ? blocks - 1 : 1, (double)(g->shape.size - 1)));
  if (!count_load(u, from, to, g, enough, &load, &least_s)) return least_s;
  if (load.bytes <= 0 || g->shape.n_parts == 0) {
    return sw_group_collective_s(u->q->machine, rs_net_group(u->net, 0), SW_COLL_ALL_SLICE, load.buffer_bytes);
  }
  for (int l = 1; l < u->net->n_levels; l++) load.outside_bytes[l] = fmin(load.outside_bytes[l], load.bytes);
  return sw_group_exchange_s(u->q->machine, g, &load);
}
