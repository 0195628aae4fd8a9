/* The cheapest path through a net, which has a step between almost any two states: Dijkstra's method, and most steps
 * are not even priced.
 *
 * A state counts only if the way to it, and the least that any path costs from there on (rs_net_bound_s), cost less
 * than the best path so far, which is at first the step straight to the goal. So the path found is the cheapest of all,
 * up to one part in 10^9. It is looked for from the target backwards where that is partial by axes which the source may
 * use: there bounds say little.
 */
#include <math.h>
#include <string.h>

#include "reshard/atlas.h"

typedef struct walk {
  const rs_query *q;
  rs_atlas *atlas;
  const rs_net *net;
  bool back; /* from the target to the source */
  int start, goal;
  rs_sized prices;
  const rs_row *last; /* the steps straight to the goal */
  int n_open;
  int16_t open[RS_NET_STATES];    /* to be left */
  double limit_s[RS_NET_STATES];  /* a way there that costs as much is none */
  double cost_s[RS_NET_STATES];   /* the cheapest way there so far; negative: not to be gone to */
  double left_s[RS_NET_STATES];   /* no path to the goal costs less */
  double longer_s[RS_NET_STATES]; /* nor one of more than one step; 0: neither is known yet */
  int16_t from[RS_NET_STATES];
  uint8_t hops[RS_NET_STATES];
  bool is_open[RS_NET_STATES];
} walk;

static bool cheaper(double cost_s, double than_s) { return cost_s < than_s * (1 - 1e-9); }

/* Bytes that a step needs beside the buffers of both ends. */
static bool fits(const walk *w, int from, int to) {
  if (w->q->max_temp_bytes <= 0) return true;
  double temp = (from == w->start ? 0 : w->net->bytes[from]) + (to == w->goal ? 0 : w->net->bytes[to]);
  return temp * w->prices.scale <= (double)w->q->max_temp_bytes;
}

/* From now on what is left from a state is known. */
static void look_ahead(walk *w, int at) {
  const rs_net_bound b = rs_net_bound_of(w->net, w->back ? w->goal : at, w->back ? at : w->goal, w->prices.scale);
  w->left_s[at] = b.any_s;
  w->longer_s[at] = b.longer_s;
}

static double limit_of(const walk *w, int at, double best_s) {
  const double over_s = best_s - w->left_s[at];
  return (over_s < w->cost_s[at] ? over_s : w->cost_s[at]) * (1 - 1e-9);
}

static void set_limits(walk *w) {
  const double best_s = w->cost_s[w->goal];
  for (int i = 0, n = w->net->n_states; i < n; i++) w->limit_s[i] = limit_of(w, i, best_s);
  w->limit_s[w->goal] = 0; /* the steps straight there are taken as states are reached */
}

static bool reach(walk *w, int from, int to, double cost_s) {
  if (isinf(cost_s) || w->hops[from] == SW_MAX_ROUTE_STEPS || !fits(w, from, to)) return false;
  if (!isinf(w->cost_s[to]) && !cheaper(cost_s, w->cost_s[to])) return false;
  w->cost_s[to] = cost_s;
  w->from[to] = (int16_t)from;
  w->hops[to] = (uint8_t)(w->hops[from] + 1);
  return true;
}

/* To a state, to be left once more (bounds of partial states may fall by more than a step costs), and straight on to
 * the goal. */
static void go_to(walk *w, int from, int to, double cost_s) {
  if (!reach(w, from, to, cost_s)) return;
  if (!w->is_open[to]) w->open[w->n_open++] = (int16_t)to;
  w->is_open[to] = true;
  w->limit_s[to] = limit_of(w, to, w->cost_s[w->goal]);
  if (reach(w, to, w->goal, cost_s + rs_sized_s(&w->prices, w->last->number[to]))) set_limits(w);
}

/* A step that may lead on, if its price and what is left say so, too. */
static void consider(walk *w, int from, int to, int number) {
  const double cost_s = w->cost_s[from] + rs_sized_s(&w->prices, number);
  if (cost_s >= w->limit_s[to]) return;
  if (w->longer_s[to] <= 0) {
    look_ahead(w, to);
    w->limit_s[to] = limit_of(w, to, w->cost_s[w->goal]);
  }
  if (cost_s < w->limit_s[to]) go_to(w, from, to, cost_s);
}

static sw_rc leave(walk *w, int from, sw_diag *d) {
  const double so_far = w->cost_s[from], *price_s = w->prices.price_s, *limit_s = w->limit_s;
  const int n = w->net->n_states;
  const rs_row *row;
  SW_TRY(rs_atlas_row(w->atlas, from, w->back, &row, d));
  rs_sized_hold(&w->prices, row);
  for (int to = 0; to < n; to++) {
    if (so_far + price_s[row->number[to]] < limit_s[to]) consider(w, from, to, row->number[to]);
  }
  return SW_OK;
}

static void close_at(walk *w, int i) {
  w->is_open[w->open[i]] = false;
  w->open[i] = w->open[--w->n_open];
}

/* Takes out the state to leave next: that of the least path that has yet two steps to go; -1 when there is none. Those
 * that can lead nowhere any more go, too. */
static int next_of(walk *w) {
  const double best_s = w->cost_s[w->goal] * (1 - 1e-9);
  double least_s = best_s;
  int next = -1;
  for (int i = w->n_open - 1; i >= 0; i--) {
    const int at = w->open[i];
    const double cost_s = w->cost_s[at] + w->longer_s[at];
    if (cost_s >= best_s) {
      close_at(w, i);
    } else if (cost_s < least_s || (cost_s == least_s && at < next)) {
      least_s = cost_s;
      next = at;
    }
  }
  for (int i = 0; i < w->n_open && next >= 0; i++) {
    if (w->open[i] == next) close_at(w, i);
  }
  return next;
}

static void read_path(const walk *w, rs_path *out) {
  out->cost_s = w->cost_s[w->goal];
  out->n = 0;
  if (isinf(out->cost_s)) return;
  for (int at = w->goal; at != w->start; at = w->from[at]) out->n++;
  for (int i = out->n - 1, at = w->goal; i >= 0; i--, at = w->from[at]) {
    const int before = w->from[at], from = w->back ? at : before, to = w->back ? before : at;
    rs_step step = {0};
    (void)rs_net_step(w->net, from, to, &step);
    out->hop[w->back ? out->n - 1 - i : i] =
        (rs_hop){step.move, rs_net_state_of(w->net, to), w->cost_s[at] - w->cost_s[before]};
  }
}

static unsigned partial_of(const rs_query *q, const rs_state *s) {
  unsigned set = 0;
  for (int i = 0; i < q->space.n; i++) set |= (unsigned)(s->at[i] == RS_PARTIAL) << i;
  return set;
}

bool rs_net_has_partial(const rs_query *q) { return partial_of(q, &q->source) || partial_of(q, &q->target); }

static bool all_even(const walk *w) {
  for (int d = 0; d < w->q->space.rank; d++) {
    if (w->q->space.dims[d] % rs_atlas_cuts(w->atlas)) return false;
  }
  return true;
}

static sw_rc begin(walk *w, const rs_query *q, sw_diag *d) {
  const unsigned had = partial_of(q, &q->source), has = partial_of(q, &q->target);
  w->q = q;
  w->back = !(had & ~has) || (has & ~had);
  SW_TRY(rs_atlas_of(q, had || has, &w->atlas, d));
  w->net = rs_atlas_net(w->atlas);
  w->start = rs_net_find(w->net, w->back ? &q->target : &q->source);
  w->goal = rs_net_find(w->net, w->back ? &q->source : &q->target);
  SW_TRY(rs_atlas_row(w->atlas, w->goal, !w->back, &w->last, d));
  rs_sized_init(&w->prices, w->atlas, q);
  rs_sized_hold(&w->prices, w->last);
  const bool even = all_even(w);
  for (int i = 0; i < w->net->n_states; i++) {
    w->left_s[i] = w->net->floor.step_s;
    w->cost_s[i] = even || rs_atlas_cuts_evenly(w->atlas, q, i) ? HUGE_VAL : -1;
    w->longer_s[i] = 0;
    w->is_open[i] = false;
  }
  w->n_open = 0;
  w->cost_s[w->start] = 0;
  w->hops[w->start] = 0;
  look_ahead(w, w->start);
  return SW_OK;
}

sw_rc rs_net_search(const rs_query *q, rs_path *out, sw_diag *d) {
  walk w;
  SW_TRY(begin(&w, q, d));
  if (w.start != w.goal) (void)reach(&w, w.start, w.goal, rs_sized_s(&w.prices, w.last->number[w.start]));
  if (cheaper(w.left_s[w.start], w.cost_s[w.goal])) {
    set_limits(&w);
    for (int at = w.start; at >= 0; at = next_of(&w)) SW_TRY(leave(&w, at, d));
  }
  read_path(&w, out);
  return SW_OK;
}
