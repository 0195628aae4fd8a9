/* Steps from or to an end with offsets or halos, which is no state of a net: direct exchanges alone.
 *
 *   [[x],[]] offsets=[0,9,10] -> [[],[x]]   costs no less than [[x],[]] -> [[],[x]]
 *
 * Such a step never costs less than the same step with either end's even blocks instead, or with those of both. So no
 * path over a sharding with offsets costs less than the one over the same lists without them, which the net holds, and
 * the triangle inequality holds for them as it does in the net (docs/resharding.md, "Offsets and halos").
 */
#include <math.h>

#include "reshard/price.h"
#include "reshard/uneven.h"

static double even_s(const rs_far *f, const rs_step *step) {
  sw_curve curve[SW_MAX_CURVES];
  const int n = rs_step_curves(f->net, step, curve);
  return sw_curves_s(curve, n, f->scale, sqrt(f->scale));
}

/* One step; HUGE_VAL where there is none. */
static double state_step_s(const rs_far *f, int from, int to) {
  rs_step step;
  const double even = rs_net_step(f->net, from, to, &step) ? even_s(f, &step) : HUGE_VAL;
  if (!f->uneven) return even;
  const double counted = rs_uneven_step(f->uneven, from, to, &step);
  return isinf(even) || counted > even ? counted : even;
}

/* Where several dimensions are cut, as many slices. */
static double states_s(const rs_far *f, int from, int to) {
  const double step = from == to ? 0 : state_step_s(f, from, to);
  if (!isinf(step)) return step;
  double sum = 0;
  rs_net_state at = f->net->state[from];
  for (int d = 0, last = from; d < f->net->q->space.rank; d++) {
    const rs_net_state *goal = &f->net->state[to];
    if (at.list[d] == goal->list[d]) continue;
    at.used |= f->net->list[goal->list[d]].set;
    at.list[d] = goal->list[d];
    const int next = rs_net_find_state(f->net, &at);
    if (next < 0) return HUGE_VAL;
    sum += state_step_s(f, last, next);
    last = next;
  }
  return sum;
}

static void tiling_of(const rs_far *f, rs_far_end end, sw_tiling *out) {
  const rs_state state = rs_net_state_of(f->net, end.state);
  rs_tiling_of(f->q, &state, end.opaque, out);
}

double rs_far_step_s(const rs_far *f, rs_far_end from, rs_far_end to) {
  if (f->net->state[from.state].partial != f->net->state[to.state].partial) return HUGE_VAL;
  const rs_far_end source[] = {from, {from.state, NULL}}, target[] = {to, {to.state, NULL}};
  double most = states_s(f, from.state, to.state);
  sw_tiling src[2], dst[2];
  const int n = from.opaque ? 2 : 1, m = to.opaque ? 2 : 1;
  for (int i = 0; i < n; i++) tiling_of(f, source[i], &src[i]);
  for (int i = 0; i < m; i++) tiling_of(f, target[i], &dst[i]);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < m; k++) {
      if (!source[i].opaque && !target[k].opaque) continue;
      const double s = sw_machine_exchange_s(f->q->machine, &src[i], &dst[k], sw_dtype_bytes(f->q->dtype));
      most = s > most ? s : most;
    }
  }
  return most;
}
