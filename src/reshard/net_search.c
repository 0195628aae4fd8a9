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
  int16_t open[RS_NET_STATES];      /* to be left */
  double limit_s[RS_NET_STATES];    /* a way there that costs as much is none; negative: not to be gone to */
  double cost_s[RS_NET_STATES];     /* the cheapest way there so far */
  rs_net_bound left[RS_NET_STATES]; /* on paths to the goal; negative: not yet known */
  int16_t from[RS_NET_STATES];
  uint8_t hops[RS_NET_STATES];
  bool is_open[RS_NET_STATES];
} walk;

static double larger(double a, double b) { return a > b ? a : b; }
static bool cheaper(double cost_s, double than_s) { return cost_s < than_s * (1 - 1e-9); }

/* Bytes that a step needs beside the buffers of both ends. */
static bool fits(const walk *w, int from, int to) {
  if (w->q->max_temp_bytes <= 0) return true;
  double temp = (from == w->start ? 0 : w->net->bytes[from]) + (to == w->goal ? 0 : w->net->bytes[to]);
  return temp * w->prices.scale <= (double)w->q->max_temp_bytes;
}

static double left_s(walk *w, int at) {
  if (w->left[at].any_s < 0) {
    w->left[at] = rs_net_bound_of(w->net, w->back ? w->goal : at, w->back ? at : w->goal, w->prices.scale);
  }
  return w->left[at].any_s;
}

static void set_limit(walk *w, int at) {
  const double left = w->left[at].any_s < 0 ? w->net->floor.step_s : w->left[at].any_s;
  const double over = w->cost_s[w->goal] - left;
  if (w->limit_s[at] >= 0) w->limit_s[at] = larger(0, (over < w->cost_s[at] ? over : w->cost_s[at]) * (1 - 1e-9));
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
  if (!reach(w, to, w->goal, cost_s + rs_sized_s(&w->prices, w->last->number[to]))) {
    set_limit(w, to);
    return;
  }
  for (int i = 0; i < w->net->n_states; i++) set_limit(w, i);
}

/* A step that may lead on, if its price and what is left say so, too. */
static void consider(walk *w, int from, int to, int number) {
  const double cost_s = w->cost_s[from] + rs_sized_s(&w->prices, number);
  if (cost_s >= w->limit_s[to]) return;
  if (w->left[to].any_s < 0) {
    (void)left_s(w, to);
    set_limit(w, to);
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

/* Takes out the state to leave next: that of the least path that has yet two steps to go; -1 when there is none. */
static int next_of(walk *w) {
  double least = w->cost_s[w->goal] * (1 - 1e-9);
  int next = -1;
  for (int i = 0; i < w->n_open; i++) {
    const int at = w->open[i];
    const double cost_s = w->cost_s[at] + w->left[at].longer_s;
    if (cost_s > least || (cost_s == least && (next < 0 || at > w->open[next]))) continue;
    least = cost_s;
    next = i;
  }
  if (next < 0) return -1;
  const int at = w->open[next];
  w->open[next] = w->open[--w->n_open];
  w->is_open[at] = false;
  return at;
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
    w->limit_s[i] = even || rs_atlas_cuts_evenly(w->atlas, q, i) ? HUGE_VAL : -1;
    w->cost_s[i] = HUGE_VAL;
    w->left[i].any_s = -1;
    w->is_open[i] = false;
  }
  w->n_open = 0;
  w->limit_s[w->start] = w->limit_s[w->goal] = -1;
  w->cost_s[w->start] = 0;
  w->hops[w->start] = 0;
  return SW_OK;
}

sw_rc rs_net_search(const rs_query *q, rs_path *out, sw_diag *d) {
  walk w;
  SW_TRY(begin(&w, q, d));
  if (w.start != w.goal) (void)reach(&w, w.start, w.goal, rs_sized_s(&w.prices, w.last->number[w.start]));
  if (cheaper(left_s(&w, w.start), w.cost_s[w.goal])) {
    for (int i = 0; i < w.net->n_states; i++) set_limit(&w, i);
    for (int at = w.start; at >= 0; at = next_of(&w)) SW_TRY(leave(&w, at, d));
  }
  read_path(&w, out);
  return SW_OK;
}
