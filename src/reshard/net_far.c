/* Steps from or to an end with offsets or halos, which is no state of a net: direct exchanges alone.
 *
 *   [[x],[]] offsets=[0,9,10] -> [[],[x]]   costs no less than [[x],[]] -> [[],[x]]
 *
 * Such a step never costs less than the same step with either end's even blocks instead, or with those of both. So no
 * path over a sharding with offsets costs less than the one over the same lists without them, which the net holds, and
 * the triangle inequality holds for them as it does in the net (docs/resharding.md, "Offsets and halos").
 */
#include <math.h>

#include "mesh/tiling.h"
#include "reshard/uneven.h"

/* --- ends -------------------------------------------------------------------------------------------------------- */

static bool is_piece(const sw_tile_dim *t) { return t->starts || t->base != 0 || t->len != t->step; }

/* What all devices of a unit own together: minor axes that stay inside leave one block after the other. */
static void own(const rs_net *n, const sw_tile_dim *dim, int list, int level, double *out) {
  const rs_net_list *l = &n->list[list];
  const bool alone = dim->starts || dim->step < 0;
  const int64_t inside = alone ? 1 : l->inside[level];
  const int32_t *place = rs_net_place(n, alone ? 0 : level, list);
  sw_tile_dim unit = *dim;
  unit.len += (inside - 1) * unit.step;
  unit.step *= inside;
  for (int i = 0; i < n->n_places; i++) {
    int64_t lo, hi;
    sw_tile_owned(&unit, l->shards / inside, place[i], &lo, &hi);
    out[i] = (double)lo;
    out[n->n_places + i] = (double)hi;
  }
}

static void show(const rs_net *n, const sw_tile_dim *dim, int list, double *out) {
  const int32_t *place = rs_net_place(n, 0, list);
  for (int i = 0; i < n->n_places; i++) {
    int64_t lo, hi;
    sw_tile_shown(dim, place[i], &lo, &hi);
    out[i] = (double)lo;
    out[n->n_places + i] = (double)hi;
  }
}

sw_rc rs_far_end_init(rs_far_end *e, const rs_uneven *u, int state, const sw_sharding *opaque, sw_diag *d) {
  const rs_net *n = u->net;
  const int rank = u->q->space.rank, per_piece = 2 * n->n_places * (1 + n->n_levels);
  sw_tiling_of(opaque, rank, u->q->space.dims, &e->tiling);
  SW_MEM_NEW(e->ranges, rank * per_piece + 1, d);
  for (int i = 0; i < rank; i++) {
    const sw_tile_dim *dim = &e->tiling.dim[i];
    const int list = n->state[state].list[i];
    rs_pieces *p = &e->piece[i];
    p->dim = is_piece(dim) && list ? dim : NULL;
    if (!p->dim || n->n_places == 0) continue;
    p->shown = e->ranges + i * per_piece;
    show(n, dim, list, p->shown);
    for (int l = 0; l < n->n_levels; l++) {
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
  const double counted = rs_uneven_step(u, from, to, &step);
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
  double most = rs_uneven_exchange_s(u, from, to);
  if (most >= enough) return most;
  if (from->opaque && to->opaque) {
    most = fmax(most, rs_uneven_exchange_s(u, from, &new));
    most = fmax(most, rs_uneven_exchange_s(u, &old, to));
  }
  return fmax(most, states_s(u, sizes, from->state, to->state));
}
