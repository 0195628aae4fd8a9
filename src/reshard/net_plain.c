/* The cheapest path of collectives and permutes alone, over all states of a net: Dijkstra's method.
 *
 *   10x7 over x=4, y=2, z=3:   [[x],[y]] -> [[],[x]]   no exchange: all_gather x, all_gather y, all_slice x
 *
 * Such a step is priced by what the busiest device receives, without padding: where blocks do not nest, much is
 * gathered, and which way brings the least is a matter of single rows.
 */
#include <math.h>

#include "reshard/atlas.h"
#include "reshard/uneven.h"

typedef struct dijkstra {
  const rs_net *net;
  rs_uneven uneven;
  int start, goal;
  bool done[RS_NET_STATES];
  int16_t from[RS_NET_STATES];
  uint8_t hops[RS_NET_STATES];
  double cost_s[RS_NET_STATES];
} dijkstra;

/* -1: the goal is as near as any. */
static int nearest(const dijkstra *w) {
  int at = -1;
  for (int i = 0; i < w->net->n_states; i++) {
    if (!w->done[i] && !isinf(w->cost_s[i]) && (at < 0 || w->cost_s[i] < w->cost_s[at])) at = i;
  }
  return at < 0 || w->cost_s[at] >= w->cost_s[w->goal] * (1 - 1e-9) ? -1 : at;
}

static void leave(dijkstra *w, int at) {
  const double so_far = w->cost_s[at], least_s = so_far + w->net->floor.step_s;
  w->done[at] = true;
  for (int to = 0; to < w->net->n_states && w->hops[at] < SW_MAX_ROUTE_STEPS; to++) {
    rs_step step;
    if (w->done[to] || least_s >= w->cost_s[to] || least_s >= w->cost_s[w->goal]) continue;
    const double cost_s = so_far + rs_uneven_collective(&w->uneven, at, to, &step);
    if (isinf(cost_s) || cost_s >= w->cost_s[to] * (1 - 1e-9)) continue;
    w->cost_s[to] = cost_s;
    w->from[to] = (int16_t)at;
    w->hops[to] = (uint8_t)(w->hops[at] + 1);
  }
}

static void read_path(const dijkstra *w, rs_path *out) {
  out->cost_s = w->cost_s[w->goal];
  out->n = isinf(out->cost_s) ? 0 : w->hops[w->goal];
  for (int i = out->n - 1, at = w->goal; i >= 0; i--, at = w->from[at]) {
    rs_step step;
    (void)rs_uneven_collective(&w->uneven, w->from[at], at, &step);
    out->hop[i] = (rs_hop){step.move, rs_net_state_of(w->net, at), w->cost_s[at] - w->cost_s[w->from[at]]};
  }
}

sw_rc rs_net_search_plain(const rs_query *q, rs_path *out, sw_diag *d) {
  dijkstra *w;
  rs_atlas *atlas;
  SW_TRY(rs_atlas_of(q, false, &atlas, d));
  SW_MEM_ROOM(w, 1, d);
  w->net = rs_atlas_net(atlas);
  rs_uneven_init(&w->uneven, w->net, q);
  w->start = rs_net_find(w->net, &q->source);
  w->goal = rs_net_find(w->net, &q->target);
  for (int i = 0; i < w->net->n_states; i++) {
    w->done[i] = false;
    w->cost_s[i] = HUGE_VAL;
  }
  w->cost_s[w->start] = w->hops[w->start] = 0;
  for (int at = nearest(w); at >= 0; at = nearest(w)) leave(w, at);
  out->n_left = 0;
  read_path(w, out);
  sw_mem_free(w);
  return SW_OK;
}
