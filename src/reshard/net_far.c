/* Steps from or to an end with offsets or halos, which is no state of a net: direct exchanges alone.
 *
 *   [[x],[]] offsets=[0,9,10] -> [[],[x]]   costs no less than [[x],[]] -> [[],[x]]
 *
 * Such a step never costs less than the same step with either end's even blocks instead, or with those of both. So no
 * path over a sharding with offsets costs less than the one over the same lists without them, which the net holds, and
 * the triangle inequality holds for them as it does in the net (docs/resharding.md, "Offsets and halos").
 */
#include <math.h>

#include "reshard/uneven.h"
#include "base/checked.h"

/* --- ends -------------------------------------------------------------------------------------------------------- */

static bool is_piece(const sw_tile_dim *t) { return t->starts || t->base != 0 || t->len != t->step; }

/* Do windows overlap, and is what a shard owns not its block? Then an element is of the first window that shows it. */
static bool is_odd(const sw_tile_dim *t) {
  return !t->starts && (t->step <= 0 || (t->len > t->step && (t->base > 0 || t->base + t->len < t->step)));
}

typedef struct range {
  int64_t lo, hi;
} range;

static int64_t inside_of(const sw_tile_dim *t, int64_t at) { return sw_min_i64(sw_max_i64(at, 0), t->size); }

static range shown(const sw_tile_dim *t, int64_t i) {
  const int64_t start = t->starts ? t->starts[i] : t->base + i * t->step,
                end = t->starts ? t->starts[i + 1] : start + t->len;
  return (range){inside_of(t, start), inside_of(t, end)};
}

/* What others take of a shard: its block, where it shows more. */
static range owned(const sw_tile_dim *t, int64_t shards, int64_t i) {
  range r = shown(t, i);
  if (t->starts || t->len <= t->step) return r;
  r.lo = inside_of(t, i * t->step);
  if (i + 1 < shards) r.hi = inside_of(t, (i + 1) * t->step);
  return r;
}

static void put(double *out, int n, int i, range r) {
  out[i] = (double)r.lo;
  out[n + i] = (double)r.hi;
}

static unsigned all_atoms(const rs_net *n) { return (1u << n->q->space.n) - 1; }

/* What all devices of a unit own together: where minor axes stay inside, several shards that follow each other. */
static void own(const rs_net *n, const sw_tile_dim *dim, int list, int level, double *out) {
  const rs_net_list *l = &n->list[list];
  const int64_t inside = dim->starts ? 1 : l->inside[level];
  const int32_t *place = rs_net_place(n, all_atoms(n), dim->starts ? 0 : level, list);
  for (int i = 0; i < n->n_places; i++) {
    const int64_t first = place[i] * inside;
    const range from = owned(dim, l->shards, first), to = owned(dim, l->shards, first + inside - 1);
    put(out, n->n_places, i, (range){from.lo, to.hi});
  }
}

static void show(const rs_net *n, const sw_tile_dim *dim, int list, double *out) {
  const int32_t *place = rs_net_place(n, all_atoms(n), 0, list);
  for (int i = 0; i < n->n_places; i++) put(out, n->n_places, i, shown(dim, place[i]));
}

/* Of a tiling that speaks of another mesh, whatever the list. Places past the devices are the first one's. */
static void show_there(const rs_net *n, const sw_tiling *t, int dim, double *out) {
  const sw_mesh *m = n->q->space.mesh;
  for (int i = 0; i < n->n_places; i++) {
    const int64_t device = i < (int)n->devices ? i : 0;
    put(out, n->n_places, i, shown(&t->dim[dim], sw_tiling_shard(m, t, dim, device)));
  }
}

sw_rc rs_far_end_init(rs_far_end *e, const rs_uneven *u, int state, const sw_sharding *opaque, const sw_other_mesh *on,
                      sw_diag *d) {
  const rs_net *n = u->net;
  const int rank = u->q->space.rank, per_piece = 2 * n->n_places * (1 + n->n_levels);
  sw_tiling_of(opaque, rank, u->q->space.dims, &e->tiling);
  e->tiling.other = on;
  SW_MEM_NEW(e->ranges, rank * per_piece + 1, d);
  e->is_odd = n->n_places == 0;
  for (int i = 0; i < rank; i++) {
    const sw_tile_dim *dim = &e->tiling.dim[i];
    const int list = n->state[state].list[i];
    rs_pieces *p = &e->piece[i];
    p->dim = (on ? dim->n_refs > 0 : is_piece(dim) && list) ? dim : NULL;
    e->is_odd = e->is_odd || (p->dim && is_odd(dim));
    if (!p->dim || e->is_odd) continue;
    p->shown = e->ranges + (ptrdiff_t)(i * per_piece);
    if (on)
      show_there(n, &e->tiling, i, p->shown);
    else
      show(n, dim, list, p->shown);
    for (int l = 0; l < n->n_levels && !on; l++) {
      p->owned[l] = p->shown + (ptrdiff_t)(2 * n->n_places * (1 + l));
      own(n, dim, list, l, p->owned[l]);
    }
  }
  return SW_OK;
}

void rs_far_end_deinit(rs_far_end *e) { sw_mem_free(e->ranges); }

/* --- steps ------------------------------------------------------------------------------------------------------- */

/* One step; HUGE_VAL where there is none. */
static double state_step_s(const rs_uneven *u, const rs_sizes *sizes, int from, int to) {
  sw_curve curve[SW_MAX_CURVES];
  rs_step step;
  double even = HUGE_VAL;
  if (rs_net_step(u->net, from, to, &step)) {
    even = sw_curves_s(curve, rs_step_curves(u->net, &step, curve), sizes->scale, sizes->root);
  }
  if (sizes->even) return even;
  const double counted = rs_uneven_step(u, from, to, HUGE_VAL, &step);
  return isinf(even) || counted > even ? counted : even;
}

/* Where several dimensions are cut, as many slices. */
static double states_s(const rs_uneven *u, const rs_sizes *sizes, int from, int to) {
  const rs_net *n = u->net;
  const double step = from == to ? 0 : state_step_s(u, sizes, from, to);
  if (!isinf(step)) return step;
  rs_net_state at = n->state[from];
  double sum = 0;
  for (int d = 0, last = from; d < n->q->space.rank; d++) {
    const uint8_t list = n->state[to].list[d];
    if (at.list[d] == list) continue;
    at.used |= n->list[list].set;
    at.list[d] = list;
    const int next = rs_net_find_state(n, &at);
    if (next < 0) return HUGE_VAL;
    sum += state_step_s(u, sizes, last, next);
    last = next;
  }
  return sum;
}

double rs_far_step_s(const rs_uneven *u, const rs_sizes *sizes, const rs_side *from, const rs_side *to, double enough) {
  const rs_net *n = u->net;
  if (n->state[from->state].partial != n->state[to->state].partial) return HUGE_VAL;
  const rs_side old = {.state = from->state}, new = {.state = to->state};
  double most = rs_uneven_exchange_s(u, from, to, enough);
  if (most >= enough) return most;
  if (from->opaque && to->opaque) {
    most = fmax(most, rs_uneven_exchange_s(u, from, &new, enough));
    most = fmax(most, rs_uneven_exchange_s(u, &old, to, enough));
  }
  return fmax(most, states_s(u, sizes, from->state, to->state));
}
