/* The cheapest path through a net, which has a step between almost any two states: Dijkstra's method, and most steps
 * are not even priced.
 *
 * A state counts only if the way to it, and the least that any path costs from there on (rs_net_bound_s), cost less
 * than the best path so far, which is at first the step straight to the goal. So the path found is the cheapest of all,
 * up to one part in 10^9. It is looked for from the target backwards where that is partial by axes which the source may
 * use: there bounds say little.
 */
#include <math.h>

#include "reshard/net.h"

typedef struct seat {
  double cost_s;      /* the cheapest way here so far */
  double last_s;      /* the step straight to the goal, once priced; else negative */
  rs_move move, last; /* that lead here, and straight to the goal */
  int16_t from;
  uint8_t hops;
  bool done;
} seat;

typedef struct walk {
  const rs_query *q;
  bool back; /* from the target to the source */
  int start, goal;
  rs_net net;
  rs_net_view view;           /* from the state that is being left */
  double left[RS_NET_STATES]; /* no path to the goal costs less, ... */
  double over[RS_NET_STATES]; /* ... and none from start to goal over this state */
  seat seat[RS_NET_STATES];
} walk;

static double larger(double a, double b) { return a > b ? a : b; }
static bool cheaper(double cost_s, double than_s) { return cost_s < than_s * (1 - 1e-9); }

/* Bytes that a step needs beside the buffers of both ends. */
static bool fits(const walk *w, int from, int to) {
  if (w->q->max_temp_bytes <= 0) return true;
  double temp = (from == w->start ? 0 : w->net.bytes[from]) + (to == w->goal ? 0 : w->net.bytes[to]);
  return temp <= (double)w->q->max_temp_bytes;
}

static double step_s(const walk *w, int from, int to, rs_move *move) {
  return w->back ? rs_net_step_s(&w->net, to, from, move) : rs_net_step_s(&w->net, from, to, move);
}

static bool reach(walk *w, int from, int to, double price_s, rs_move move) {
  const seat *f = &w->seat[from];
  seat *t = &w->seat[to];
  double cost_s = f->cost_s + price_s;
  if (isinf(cost_s) || f->hops == SW_MAX_ROUTE_STEPS || !fits(w, from, to)) return false;
  if (!isinf(t->cost_s) && !cheaper(cost_s, t->cost_s)) return false;
  t->cost_s = cost_s;
  t->move = move;
  t->from = (int16_t)from;
  t->hops = (uint8_t)(f->hops + 1);
  t->done = false; /* bounds of partial states may fall by more than a step costs */
  return true;
}

/* From a state that has become cheaper straight to the goal. */
static void finish(walk *w, int from) {
  seat *f = &w->seat[from];
  if (f->last_s < 0) f->last_s = step_s(w, from, w->goal, &f->last);
  (void)reach(w, from, w->goal, f->last_s, f->last);
}

static void leave(walk *w, int from) {
  const double so_far = w->seat[from].cost_s, *best = &w->seat[w->goal].cost_s;
  rs_net_look(&w->net, from, w->back, &w->view);
  for (int to = 0; to < w->net.n_states; to++) {
    const seat *t = &w->seat[to];
    double least = so_far + w->net.floor.step_s;
    if (least >= t->cost_s || !cheaper(larger(w->over[to], least + w->left[to]), *best) || to == w->goal) continue;
    least = so_far + rs_net_bound_s(&w->net, &w->view, to);
    if (from == w->start) w->over[to] = least + w->left[to];
    if (least >= t->cost_s || !cheaper(least + w->left[to], *best)) continue;
    rs_move move;
    double price_s = step_s(w, from, to, &move);
    if (cheaper(so_far + price_s + w->left[to], *best) && reach(w, from, to, price_s, move)) finish(w, to);
  }
}

/* The state to leave next: that of the least path that has yet two steps to go; -1 when there is none. */
static int next_of(const walk *w) {
  double least = w->seat[w->goal].cost_s * (1 - 1e-9);
  int next = -1;
  for (int i = 0; i < w->net.n_states; i++) {
    double cost_s = w->seat[i].cost_s + w->left[i] + w->net.floor.step_s;
    if (cost_s >= least || w->seat[i].done || i == w->goal) continue;
    least = cost_s;
    next = i;
  }
  return next;
}

static void read_path(const walk *w, rs_path *out) {
  const seat *g = &w->seat[w->goal];
  out->cost_s = g->cost_s;
  out->n = isinf(g->cost_s) ? 0 : g->hops;
  for (int i = out->n - 1, at = w->goal; i >= 0; i--) {
    const seat *s = &w->seat[at];
    const rs_state after = rs_net_state_of(&w->net, w->back ? s->from : at);
    out->hop[w->back ? out->n - 1 - i : i] = (rs_hop){s->move, after, s->cost_s - w->seat[s->from].cost_s};
    at = s->from;
  }
}

static unsigned partial_of(const rs_query *q, const rs_state *s) {
  unsigned set = 0;
  for (int i = 0; i < q->space.n; i++) set |= (unsigned)(s->at[i] == RS_PARTIAL) << i;
  return set;
}

bool rs_net_has_partial(const rs_query *q) { return partial_of(q, &q->source) || partial_of(q, &q->target); }

void rs_net_search(const rs_query *q, rs_path *out) {
  walk w;
  w.q = q;
  w.back = (partial_of(q, &q->target) & ~partial_of(q, &q->source)) != 0;
  rs_net_init(&w.net, q, (rs_net_scope){.partial = rs_net_has_partial(q)});
  w.start = rs_net_find(&w.net, w.back ? &q->target : &q->source);
  w.goal = rs_net_find(&w.net, w.back ? &q->source : &q->target);
  rs_net_look(&w.net, w.goal, !w.back, &w.view);
  for (int i = 0; i < w.net.n_states; i++) {
    w.left[i] = rs_net_bound_s(&w.net, &w.view, i);
    w.over[i] = w.left[i];
    w.seat[i] = (seat){.cost_s = HUGE_VAL, .last_s = -1, .from = -1};
  }
  w.seat[w.start].cost_s = 0;
  finish(&w, w.start);
  for (int at = w.start; at >= 0; at = next_of(&w)) {
    w.seat[at].done = true;
    leave(&w, at);
  }
  read_path(&w, out);
}
