/* The cheapest path through a net, which has a step between almost any two states: Dijkstra's method, and most steps
 * are not even priced.
 *
 * A state counts only if the way to it, and the least that any path costs from there on (rs_net_bound_s), cost less
 * than the best path so far, which is at first the step straight to the goal. So the path found is the cheapest of all,
 * up to one part in 10^9. It is looked for from the target backwards where the source is not partial: there bounds say
 * more of what leads to a state than of what leads on.
 *
 * Dimensions that neither end cuts are alike where blocks are even: of states that differ by their order only one is
 * gone to, and that stands for all (rs_alike).
 *
 * A goal on another mesh, whose axes have no digits in common with this one's, is reached by an exchange, and bounded
 * by what devices lack of it.
 *
 * Where all states cut evenly prices are looked up (atlas.h), else counted (uneven.h). Counting takes longer, but no
 * step between uneven blocks costs less than between even ones of as many elements, so that few are counted.
 */
#include <math.h>
#include <string.h>

#include "reshard/atlas.h"
#include "reshard/uneven.h"

/* What may be done next: a step be counted, or (`from` < 0) a state be left. */
typedef struct lead {
  double least_s; /* no path that goes on so costs less */
  int16_t from, to;
  uint16_t number;
} lead;

enum { LEADS = 4 * RS_NET_STATES, PLACES = RS_NET_STATES + 2 };
enum { MOST_HOPS = SW_MAX_ROUTE_STEPS - 2 }; /* before them a reduction, after them a to_partial */

typedef struct walk {
  const rs_query *q;
  rs_atlas *atlas;
  const rs_net *net;
  bool back;       /* from the target to the source */
  bool even;       /* all states cut all dimensions evenly */
  bool counts;     /* or an end has offsets or halos: some steps are counted */
  bool scouts;     /* none is: each is taken at the least that it may cost */
  bool surveys;    /* the way to every state that a path of less than `enough_s` may lead over, not to the goal */
  double enough_s; /* a path that costs as much is none */
  double slack;    /* times the cost of the best path: ways that may lead to one of less are kept */
  int n_states;
  int start, goal; /* states; where they have offsets or halos, places behind all states */
  rs_side side[2]; /* start and goal */
  rs_far_end end[2];
  rs_uneven uneven;   /* where states do not cut evenly */
  rs_sized prices;    /* of even blocks */
  const rs_row *last; /* the steps straight to the goal */
  bool asks;          /* steps are worked out as they are asked for: so states aside are left out */
  sw_rc rc;           /* of asking for steps */
  sw_diag *d;
  const rs_alike *alike;
  int n_near; /* of the states that may still be gone to, where these are few or no row says so; -1: all */
  int16_t near[RS_NET_STATES];
  int n_leads;
  lead lead[LEADS]; /* a heap */
  /* By number of alike states, then of the two ends: */
  bool is_open[PLACES];    /* to be left */
  int16_t state[PLACES];   /* the one that stands for all */
  double limit_s[PLACES];  /* a way there that costs as much is none */
  double cost_s[PLACES];   /* the cheapest way there so far */
  double left_s[PLACES];   /* no path to the goal costs less */
  double longer_s[PLACES]; /* nor one of more than one step; 0: neither is known yet */
  /* By place: */
  int16_t from[PLACES];
  uint8_t hops[PLACES];
  double spent_s[PLACES]; /* on the way there */
  double to_s[PLACES];    /* what leads there, while near states are looked for or a survey is turned round */
  rs_net_bound left[RS_NET_STATES];
} walk;

static bool cheaper(double cost_s, double than_s) { return cost_s < than_s * (1 - 1e-9); }

/* Does the goal speak of another mesh? */
static inline bool is_there(const walk *w) { return w->q->target_mesh != NULL; }
static inline bool is_far(const walk *w, int at) { return at >= w->n_states; }
/* The state itself, or that with an end's lists. */
static int state_of(const walk *w, int at) { return is_far(w, at) ? w->side[at - w->n_states].state : at; }
/* Its number among the alike. */
static inline int kind_of(const walk *w, int at) {
  return is_far(w, at) ? w->alike->n + at - w->n_states : w->alike->of[at];
}

static const rs_side *side_of(const walk *w, int at, rs_side *of_state) {
  *of_state = (rs_side){.state = state_of(w, at)};
  return is_far(w, at) ? &w->side[at - w->n_states] : of_state;
}

static double bytes_of(const walk *w, int state) {
  return w->even ? w->net->bytes[state] * w->prices.scale : rs_uneven_bytes(&w->uneven, state);
}

/* Bytes that a step needs beside the buffers of both ends. */
static bool fits(const walk *w, int from, int to) {
  if (w->q->max_temp_bytes <= 0) return true;
  const double temp = (from == w->start ? 0 : bytes_of(w, from)) + (to == w->goal ? 0 : bytes_of(w, to));
  return temp <= (double)w->q->max_temp_bytes;
}

/* Does the step change what is partial, between uneven blocks? */
static inline bool changes_parts(const walk *w, int from, int to) {
  const rs_net_state *state = w->net->state;
  return !w->even && !is_far(w, from) && !is_far(w, to) && state[from].partial != state[to].partial;
}

/* Is the step's price no matter of looking up? */
static inline bool is_counted(const walk *w, int from, int to) {
  if (!w->counts || w->scouts) return false;
  return is_far(w, from) || is_far(w, to) || !(w->even || changes_parts(w, from, to));
}

/* As time goes: */
static inline int source_of(const walk *w, int from, int to) { return w->back ? to : from; }
static inline int target_of(const walk *w, int from, int to) { return w->back ? from : to; }

static double far_step_s(const walk *w, int from, int to, double enough) {
  const rs_sizes sizes = {w->even, w->prices.scale, w->prices.root};
  rs_side old, new;
  return rs_far_step_s(&w->uneven, &sizes, side_of(w, from, &old), side_of(w, to, &new), enough);
}

/* No less than what a row's step costs. */
static double least_s(walk *w, int from, int to, int number) {
  if (number || !w->counts) return rs_sized_s(&w->prices, number);
  const bool may =
      is_far(w, from) || is_far(w, to) || rs_uneven_cuts(&w->uneven, source_of(w, from, to), target_of(w, from, to));
  return may ? w->net->floor.step_s : HUGE_VAL;
}

/* The price of a step that changes what is partial, if it is one. An all_reduce may cost as much as a reduce_scatter
 * and an all_gather, but is one step: so it is scouted at what even blocks cost, as the all_gather is. */
static double parts_s(walk *w, int from, int to, int number) {
  const rs_net_state *state = w->net->state;
  if (!rs_uneven_scatters(&w->uneven, source_of(w, from, to), target_of(w, from, to))) return HUGE_VAL;
  if (w->scouts && state[from].used != state[to].used) return rs_sized_s(&w->prices, number);
  return rs_sized_padded_s(&w->prices, number, rs_uneven_padding(&w->uneven, from, to));
}

/* The price of a row's step, which leads back where the walk does; or some price of `enough` and more. When scouting,
 * the least that it may be. */
static double step_s(walk *w, int from, int to, int number, double enough) {
  const int source = source_of(w, from, to), target = target_of(w, from, to);
  rs_step step;
  if (number && changes_parts(w, from, to)) return parts_s(w, from, to, number);
  if (!is_counted(w, from, to)) return least_s(w, from, to, number);
  if (is_far(w, from) || is_far(w, to)) return far_step_s(w, source, target, enough);
  const double even_s = rs_sized_s(&w->prices, number);
  const double counted_s = rs_uneven_step(&w->uneven, source, target, enough, &step);
  return number == 0 || counted_s > even_s ? counted_s : even_s;
}

/* Of a goal with offsets or halos devices may lack much more than of even blocks; unless they need not have it, but
 * parts of it. */
static rs_net_bound tighter(const walk *w, int from, int to, rs_net_bound b) {
  const rs_net *n = w->net;
  rs_side old, new;
  const rs_side *had = side_of(w, from, &old), *has = side_of(w, to, &new);
  if (n->state[new.state].partial) return b;
  const double least_s = rs_net_bytes_s(n, rs_uneven_lacked_bytes(&w->uneven, had, has));
  return (rs_net_bound){fmax(b.any_s, least_s), fmax(b.longer_s, least_s + n->floor.step_s)};
}

/* From now on what is left from a state, and from all alike, is known. */
static void look_ahead(walk *w, int at) {
  const int k = kind_of(w, at), from = w->back ? w->goal : at, to = w->back ? at : w->goal;
  const double step_s = w->net->floor.step_s;
  rs_net_bound b = {step_s, 2 * step_s};
  if (!is_there(w)) b = rs_net_bound_of(w->net, state_of(w, from), state_of(w, to), w->prices.scale);
  if (is_far(w, w->goal)) b = tighter(w, from, to, b);
  w->left_s[k] = b.any_s;
  w->longer_s[k] = b.longer_s;
}

static double best_s(const walk *w) {
  const double cost_s = w->cost_s[kind_of(w, w->goal)];
  return cost_s < w->enough_s ? cost_s : w->enough_s;
}

static double limit_of(const walk *w, int k, double best) {
  const double over_s = best * w->slack - w->left_s[k];
  return (over_s < w->cost_s[k] ? over_s : w->cost_s[k]) * (1 - 1e-9);
}

/* When less is known to be enough. */
static void set_limits(walk *w) {
  const double best = best_s(w);
  for (int k = 0, n = w->alike->n; k < n; k++) w->limit_s[k] = limit_of(w, k, best);
  w->limit_s[kind_of(w, w->goal)] = 0; /* the steps straight there are taken as states are reached */
}

static bool reach(walk *w, int from, int to, double cost_s) {
  const int k = kind_of(w, to);
  if (isinf(cost_s) || w->hops[from] == MOST_HOPS || !fits(w, from, to)) return false;
  if (!isinf(w->cost_s[k]) && !cheaper(cost_s, w->cost_s[k])) return false;
  w->cost_s[k] = w->spent_s[to] = cost_s;
  w->state[k] = (int16_t)to;
  w->from[to] = (int16_t)from;
  w->hops[to] = (uint8_t)(w->hops[from] + 1);
  return true;
}

/* --- what to do next --------------------------------------------------------------------------------------------- */

static bool comes_before(const lead *a, const lead *b) {
  if (a->least_s != b->least_s) return a->least_s < b->least_s;
  return a->to != b->to ? a->to < b->to : a->from < b->from;
}

static double to_leave_s(const walk *w, int k) { return w->cost_s[k] + w->longer_s[k]; }

/* Was a shorter way to the state found since? */
static bool is_stale(const walk *w, const lead *l) {
  const int k = kind_of(w, l->to);
  return l->from < 0 && !(w->is_open[k] && w->state[k] == l->to && l->least_s == to_leave_s(w, k));
}

static void sift_up(walk *w, int i, lead l) {
  for (int up; i > 0 && comes_before(&l, &w->lead[up = (i - 1) / 2]); i = up) w->lead[i] = w->lead[up];
  w->lead[i] = l;
}

static void drop_stale(walk *w) {
  const int n = w->n_leads;
  w->n_leads = 0;
  for (int i = 0; i < n; i++) {
    const lead l = w->lead[i];
    if (!is_stale(w, &l)) sift_up(w, w->n_leads++, l);
  }
}

static void push(walk *w, lead l) {
  if (w->n_leads == LEADS) drop_stale(w);
  sift_up(w, w->n_leads++, l);
}

static lead pop(walk *w) {
  const lead top = w->lead[0], last = w->lead[--w->n_leads];
  int i = 0;
  for (int c = 1; c < w->n_leads; c = 2 * i + 1) {
    if (c + 1 < w->n_leads && comes_before(&w->lead[c + 1], &w->lead[c])) c++;
    if (!comes_before(&w->lead[c], &last)) break;
    w->lead[i] = w->lead[c];
    i = c;
  }
  w->lead[i] = last;
  return top;
}

/* Counting is put off, where there is room, until nothing else promises more. */
static bool put_off(walk *w, lead l) {
  if (!is_counted(w, l.from, l.to) || w->n_leads >= LEADS / 2) return false;
  push(w, l);
  return true;
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

/* The number of the price of a step from the row's state, or to it, which is asked for if need be. */
static int number_of(walk *w, const rs_row *row, int state, bool to_it, int other) {
  if (row->number[other] != RS_UNKNOWN) return row->number[other];
  const sw_rc rc = rs_atlas_ask(w->atlas, state, to_it, other, w->d);
  if (rc) w->rc = rc;
  rs_sized_hold(&w->prices, row);
  return row->number[other];
}

/* By the exchange to another mesh. */
static void reach_there(walk *w, int from) {
  rs_side old;
  const double so_far = w->spent_s[from], enough_s = best_s(w) - so_far;
  if (w->net->state[from].partial || enough_s <= w->net->floor.step_s) return;
  const double price_s = rs_uneven_exchange_s(&w->uneven, side_of(w, from, &old), &w->side[1], enough_s);
  if (price_s < enough_s && reach(w, from, w->goal, so_far + price_s)) set_limits(w);
}

static void reach_goal(walk *w, int from) {
  if (w->surveys) return;
  if (is_there(w)) {
    reach_there(w, from);
    return;
  }
  const int number = number_of(w, w->last, state_of(w, w->goal), !w->back, state_of(w, from));
  const double so_far = w->spent_s[from];
  if (from == w->goal || !cheaper(so_far + least_s(w, from, w->goal, number), best_s(w))) return;
  const double enough_s = best_s(w) - so_far, price_s = step_s(w, from, w->goal, number, enough_s);
  if (price_s < enough_s && reach(w, from, w->goal, so_far + price_s)) set_limits(w);
}

/* To a state, to be left once more (bounds of partial states may fall by more than a step costs), and straight on to
 * the goal. */
static void go_to(walk *w, int from, int to, int number) {
  const int k = kind_of(w, to);
  const double so_far = w->spent_s[from];
  if (so_far + least_s(w, from, to, number) >= w->limit_s[k]) return;
  const double enough_s = w->limit_s[k] - so_far, price_s = step_s(w, from, to, number, enough_s);
  if (price_s >= enough_s || !reach(w, from, to, so_far + price_s)) return;
  w->is_open[k] = true;
  w->limit_s[k] = limit_of(w, k, best_s(w));
  if (to_leave_s(w, k) < best_s(w) * w->slack) push(w, (lead){to_leave_s(w, k), -1, (int16_t)to, 0});
  reach_goal(w, to);
}

/* Is no path over the state cheaper than the best, by what leads there at the least? */
static bool is_aside(const walk *w, int at) {
  const int start = state_of(w, w->start), state = state_of(w, at);
  const rs_net_bound b =
      rs_net_bound_of(w->net, source_of(w, start, state), target_of(w, start, state), w->prices.scale);
  return b.any_s + w->left_s[kind_of(w, at)] >= best_s(w) * w->slack * (1 - 1e-9);
}

/* Does a way there that costs as much lead on, if what is left says so, too? */
static bool leads_on(walk *w, int to, double cost_s) {
  const int k = kind_of(w, to);
  if (cost_s >= w->limit_s[k]) return false;
  if (w->longer_s[k] > 0) return true;
  look_ahead(w, to);
  w->limit_s[k] = limit_of(w, k, best_s(w));
  if (cost_s >= w->limit_s[k]) return false;
  if (!w->asks || !is_aside(w, to)) return true;
  w->left_s[k] = HUGE_VAL;
  w->limit_s[k] = limit_of(w, k, best_s(w));
  return false;
}

/* A step that may lead on. */
static void consider(walk *w, int from, int to, int number) {
  const double cost_s = w->spent_s[from] + least_s(w, from, to, number);
  if (!leads_on(w, to, cost_s)) return;
  const double least_s = cost_s + w->left_s[kind_of(w, to)];
  if (!put_off(w, (lead){least_s, (int16_t)from, (int16_t)to, (uint16_t)number})) go_to(w, from, to, number);
}

/* Several cuts at once, which uneven blocks may take for one step. */
static void consider_cuts(walk *w, int from, const rs_row *row) {
  const double least_s = w->spent_s[from] + w->net->floor.step_s;
  for (int i = 0; i < row->n_cuts; i++) {
    const int to = row->cut[i];
    if (least_s < w->limit_s[w->alike->of[to]]) consider(w, from, to, 0);
  }
}

/* A step whose price is not known, before it is asked for. */
static bool may_lead_on(walk *w, int from, int to) {
  const double so_far = w->spent_s[from];
  if (!leads_on(w, to, so_far + w->prices.price_s[RS_UNKNOWN])) return false;
  const int source = state_of(w, source_of(w, from, to)), target = state_of(w, target_of(w, from, to));
  const double enough_s = w->limit_s[kind_of(w, to)] - so_far;
  return leads_on(w, to, so_far + rs_net_step_least_s(w->net, source, target, w->prices.scale, enough_s));
}

static void look_at(walk *w, int from, int to, const rs_row *row) {
  if (row->number[to] != RS_UNKNOWN || may_lead_on(w, from, to))
    consider(w, from, to, number_of(w, row, state_of(w, from), w->back, to));
}

/* By one price after the other: some are too dear whatever is left. */
static void look_at_row(walk *w, int from, const rs_row *row) {
  const double *limit_s = w->limit_s, so_far = w->spent_s[from];
  const uint16_t *alike = w->alike->of, *number = row->steps.number, *end = row->steps.end, *state = row->steps.state;
  double most_s = best_s(w) * w->slack - w->net->floor.step_s;
  for (int i = 0, k = 0, n = row->steps.n; i < n; k = end[i++]) {
    const double cost_s = so_far + rs_sized_s(&w->prices, number[i]);
    if (cost_s >= most_s) continue;
    for (const int last = end[i]; k < last; k++) {
      if (cost_s >= limit_s[alike[state[k]]]) continue;
      look_at(w, from, state[k], row);
      most_s = best_s(w) * w->slack - w->net->floor.step_s;
    }
  }
}

/* The same of few states. Those to which nothing can lead on later are left out from now on. */
static void look_at_near(walk *w, int from, const rs_row *row) {
  const double so_far = w->spent_s[from], *price_s = w->prices.price_s, *limit_s = w->limit_s;
  const double later_s = 2 * w->net->floor.step_s;
  const uint16_t *alike = w->alike->of;
  int n = 0;
  for (int i = 0; i < w->n_near; i++) {
    const int to = w->near[i];
    if (so_far + price_s[row->number[to]] < limit_s[alike[to]]) look_at(w, from, to, row);
    w->near[n] = (int16_t)to;
    n += limit_s[alike[to]] > later_s;
  }
  w->n_near = n;
}

static sw_rc leave(walk *w, int from, sw_diag *d) {
  const rs_row *row;
  SW_TRY(rs_atlas_row(w->atlas, state_of(w, from), w->back, &row, d));
  rs_sized_hold(&w->prices, row);
  if (w->n_near < 0)
    look_at_row(w, from, row);
  else
    look_at_near(w, from, row);
  if (w->counts && (!w->even || is_far(w, from))) consider_cuts(w, from, row);
  if (is_far(w, from)) consider(w, from, state_of(w, from), 0);
  return SW_OK;
}

static sw_rc follow(walk *w, lead l, sw_diag *d) {
  if (l.from < 0) {
    w->is_open[kind_of(w, l.to)] = false;
    return leave(w, l.to, d);
  }
  go_to(w, l.from, l.to, l.number);
  return SW_OK;
}

/* Until nothing promises more; adds how many states were left. */
static sw_rc go_on(walk *w, int *n_left, sw_diag *d) {
  while (w->n_leads > 0 && cheaper(w->lead[0].least_s, best_s(w))) {
    const lead next = pop(w);
    if (is_stale(w, &next)) continue;
    *n_left += next.from < 0;
    SW_TRY(follow(w, next, d));
    if (w->rc) return w->rc;
  }
  return SW_OK;
}

static sw_rc go(walk *w, int *n_left, sw_diag *d) {
  ++*n_left;
  SW_TRY(leave(w, w->start, d));
  return go_on(w, n_left, d);
}

static rs_move move_of(const walk *w, int from, int to) {
  rs_step step = {.move = {.op = SW_COLL_EXCHANGE}};
  if (is_far(w, from) || is_far(w, to)) return step.move;
  if (w->even)
    (void)rs_net_step(w->net, from, to, &step);
  else
    (void)rs_uneven_step(&w->uneven, from, to, HUGE_VAL, &step);
  return step.move;
}

static void read_path(const walk *w, rs_path *out) {
  out->cost_s = best_s(w);
  out->n = 0;
  if (isinf(out->cost_s)) return;
  for (int at = w->goal; at != w->start; at = w->from[at]) out->n++;
  for (int i = out->n - 1, at = w->goal; i >= 0; i--, at = w->from[at]) {
    const int before = w->from[at], from = w->back ? at : before, to = w->back ? before : at;
    out->hop[w->back ? out->n - 1 - i : i] =
        (rs_hop){move_of(w, from, to), rs_net_state_of(w->net, state_of(w, to)), w->spent_s[at] - w->spent_s[before]};
  }
}

static unsigned partial_of(const rs_query *q, const rs_state *s) {
  unsigned set = 0;
  for (int i = 0; i < q->space.n; i++) set |= (unsigned)(s->at[i] == RS_PARTIAL) << i;
  return set;
}

bool rs_net_has_partial(const rs_query *q) { return partial_of(q, &q->source) || partial_of(q, &q->target); }

/* Those that neither end cuts. */
static unsigned spare_dims(const walk *w) {
  const rs_net_state *a = &w->net->state[state_of(w, w->start)], *b = &w->net->state[state_of(w, w->goal)];
  unsigned set = 0;
  for (int d = 0; d < w->q->space.rank; d++) set |= (unsigned)(a->list[d] == 0 && b->list[d] == 0) << d;
  return set;
}

/* The place of an end. */
static int place_end(walk *w, int i, const rs_state *state, const sw_sharding *opaque) {
  w->side[i] = (rs_side){
      .state = rs_net_find(w->net, state), .opaque = opaque, .piece = w->end[i].piece, .is_odd = &w->end[i].is_odd};
  w->end[i].ranges = NULL;
  return opaque ? w->net->n_states + i : w->side[i].state;
}

static void place_ends(walk *w) {
  const rs_query *q = w->q;
  const int source = place_end(w, 0, &q->source, q->opaque_source);
  const int target = place_end(w, 1, &q->target, q->opaque_target);
  w->back = partial_of(q, &q->source) == 0 && !q->target_mesh;
  w->start = w->back ? target : source;
  w->goal = w->back ? source : target;
}

static sw_rc begin(walk *w, sw_diag *d) {
  const bool far = w->q->opaque_source || w->q->opaque_target;
  rs_sized_init(&w->prices, w->atlas, w->q);
  w->even = rs_atlas_cuts_evenly(w->atlas, w->q);
  w->counts = !w->even || far;
  if (w->counts) rs_uneven_init(&w->uneven, w->net, w->q);
  for (int i = 0; i < 2; i++) {
    const rs_side *s = &w->side[i];
    const sw_other_mesh *on = i == 1 ? w->q->target_mesh : NULL;
    if (s->opaque) SW_TRY(rs_far_end_init(&w->end[i], &w->uneven, s->state, s->opaque, on, d));
  }
  return SW_OK;
}

/* Sets out anew, to any state: nothing is known of what is left. */
static sw_rc set_out(walk *w, unsigned spare, sw_diag *d) {
  if (!is_there(w)) {
    SW_TRY(rs_atlas_row(w->atlas, state_of(w, w->goal), !w->back, &w->last, d));
    rs_sized_hold(&w->prices, w->last);
  }
  if (w->counts) rs_uneven_take_alike(&w->uneven, spare);
  SW_TRY(rs_atlas_alike(w->atlas, spare, &w->alike, d));
  for (int k = 0; k < w->alike->n + 2; k++) {
    w->left_s[k] = w->net->floor.step_s;
    w->longer_s[k] = 0;
  }
  w->n_near = -1;
  return SW_OK;
}

/* No way to anywhere is known. */
static void clear(walk *w, double enough_s) {
  const int start = kind_of(w, w->start);
  w->enough_s = enough_s;
  for (int k = 0; k < w->alike->n + 2; k++) {
    w->cost_s[k] = HUGE_VAL;
    w->is_open[k] = false;
    w->limit_s[k] = limit_of(w, k, enough_s);
  }
  w->asks = w->net->ends;
  w->n_leads = 0;
  w->cost_s[start] = w->spent_s[w->start] = 0;
  w->hops[w->start] = 0;
  w->limit_s[start] = w->limit_s[kind_of(w, w->goal)] = 0;
}

/* All states count until what is left from them is known. */
static void take_all(walk *w) {
  w->n_near = w->n_states;
  for (int i = 0; i < w->n_states; i++) w->near[i] = (int16_t)i;
}

/* Those over which a path may cost less than the best; what is left from each is known then. */
static sw_rc find_near(walk *w, sw_diag *d) {
  const int start = state_of(w, w->start), goal = state_of(w, w->goal);
  const double most_s = best_s(w) * w->slack * (1 - 1e-9), scale = w->prices.scale;
  const rs_gaps *before, *behind;
  SW_TRY(rs_atlas_gaps(w->atlas, start, w->back, &before, d));
  SW_TRY(rs_atlas_gaps(w->atlas, goal, !w->back, &behind, d));
  for (int i = 0; i < before->n; i++) w->to_s[i] = rs_net_gap_bound(w->net, &before->gap[i], scale).any_s;
  for (int i = 0; i < behind->n; i++) w->left[i] = rs_net_gap_bound(w->net, &behind->gap[i], scale);
  w->n_near = 0;
  for (int i = 0; i < w->n_states; i++) {
    const rs_net_bound b = w->left[behind->of[i]];
    const int k = w->alike->of[i];
    const bool near = w->to_s[before->of[i]] + b.any_s < most_s;
    w->left_s[k] = near ? b.any_s : HUGE_VAL;
    w->longer_s[k] = is_far(w, w->goal) ? 0 : b.longer_s;
    w->near[w->n_near] = (int16_t)i;
    w->n_near += near;
  }
  if (w->n_near * 4 > w->n_states) w->n_near = -1;
  set_limits(w);
  return SW_OK;
}

/* Only states count from now on over which a path may cost less than the best, as far as what is left is known. */
static sw_rc look_around(walk *w, sw_diag *d) {
  if (!w->asks && !is_there(w)) return find_near(w, d);
  if (w->asks) take_all(w);
  return SW_OK;
}

static sw_rc walk_all(walk *w, unsigned spare, int *n_left, sw_diag *d) {
  SW_TRY(set_out(w, spare, d));
  clear(w, HUGE_VAL);
  look_ahead(w, w->start);
  reach_goal(w, w->start);
  if (!cheaper(w->longer_s[kind_of(w, w->start)], best_s(w))) return SW_OK;
  SW_TRY(look_around(w, d));
  return go(w, n_left, d);
}

/* --- between uneven blocks --------------------------------------------------------------------------------------- */

static rs_hop counted_hop(const walk *w, int before, int at, double scouted_s) {
  const int from = source_of(w, before, at), to = target_of(w, before, at);
  rs_step step;
  const double counted_s = rs_uneven_step(&w->uneven, from, to, HUGE_VAL, &step);
  return (rs_hop){step.move, rs_net_state_of(w->net, to), fmax(counted_s, scouted_s)};
}

/* The path with its steps counted. */
static void count_path(walk *w, rs_path *out) {
  out->cost_s = 0;
  out->n = 0;
  for (int at = w->goal; at != w->start; at = w->from[at]) out->n++;
  for (int i = out->n - 1, at = w->goal; i >= 0; i--, at = w->from[at]) {
    const int before = w->from[at];
    const rs_hop hop = counted_hop(w, before, at, w->spent_s[at] - w->spent_s[before]);
    out->cost_s += hop.cost_s;
    out->hop[w->back ? out->n - 1 - i : i] = hop;
  }
}

/* Several steps that are scouted at less than one may be counted at as much. */
static void prefer_one_step(walk *w, rs_path *out) {
  if (out->n == 1) return;
  const int number = number_of(w, w->last, state_of(w, w->goal), !w->back, state_of(w, w->start));
  const double scouted_s = step_s(w, w->start, w->goal, number, HUGE_VAL);
  if (isinf(scouted_s) || cheaper(out->cost_s, scouted_s)) return;
  const rs_hop hop = counted_hop(w, w->start, w->goal, scouted_s);
  if (cheaper(out->cost_s, hop.cost_s)) return;
  out->cost_s = hop.cost_s;
  out->n = 1;
  out->hop[0] = hop;
}

/* The cheapest path if each step costs the least that it may, and what that path costs. */
static sw_rc scout(walk *w, unsigned spare, rs_path *out, double *least_s, sw_diag *d) {
  w->scouts = true;
  SW_TRY(walk_all(w, spare, &out->n_left, d));
  *least_s = out->cost_s = best_s(w);
  if (!isinf(*least_s)) count_path(w, out);
  return SW_OK;
}

/* The least that leads to every state on a path of less than `most_s`. */
static sw_rc survey(walk *w, double least_s, double most_s, int *n_left, sw_diag *d) {
  const bool walked = *n_left > 0; /* unless no path could cost less than the step straight to the goal */
  const bool kept = walked && most_s <= least_s * w->slack;
  w->surveys = true;
  w->slack = 1;
  if (!kept) {
    SW_TRY(set_out(w, w->uneven.spare, d));
    clear(w, most_s);
    SW_TRY(look_around(w, d));
    return go(w, n_left, d);
  }
  w->enough_s = most_s;
  w->cost_s[kind_of(w, w->goal)] = HUGE_VAL;
  set_limits(w);
  return go_on(w, n_left, d);
}

/* Back to where the survey came from, over the states that it saw. */
static sw_rc turn_round(walk *w, sw_diag *d) {
  const rs_alike *seen = w->alike;
  const int start = w->start;
  memcpy(w->to_s, w->cost_s, (size_t)seen->n * sizeof w->to_s[0]);
  w->scouts = w->surveys = false;
  w->start = w->goal;
  w->goal = start;
  w->back = !w->back;
  SW_TRY(set_out(w, 0, d));
  w->n_near = 0;
  for (int i = 0; i < w->n_states; i++) {
    w->left_s[i] = w->longer_s[i] = w->to_s[seen->of[i]];
    if (!isinf(w->left_s[i])) w->near[w->n_near++] = (int16_t)i;
  }
  return SW_OK;
}

/* What counting says is looked up first at the least that it may say: so is found what leads to each state at the
 * least. By that the path is searched backwards, and few steps are counted. */
static sw_rc walk_uneven(walk *w, rs_path *out, sw_diag *d) {
  const unsigned spare = w->q->max_temp_bytes > 0 || w->net->ends ? 0 : spare_dims(w);
  double least_s;
  w->slack = 1.05; /* counting says more by some percent */
  SW_TRY(scout(w, spare, out, &least_s, d));
  if (isinf(out->cost_s) && spare) SW_TRY(scout(w, 0, out, &least_s, d)); /* of the alike none such may be on the way */
  prefer_one_step(w, out);
  if (!cheaper(least_s, out->cost_s)) return SW_OK;
  SW_TRY(survey(w, least_s, out->cost_s, &out->n_left, d));
  SW_TRY(turn_round(w, d));
  clear(w, out->cost_s);
  SW_TRY(go(w, &out->n_left, d));
  if (cheaper(w->cost_s[w->goal], out->cost_s)) read_path(w, out);
  return SW_OK;
}

static sw_rc walk_to_goal(walk *w, rs_path *out, sw_diag *d) {
  const bool far = is_far(w, w->start) || is_far(w, w->goal);
  out->n_left = 0;
  SW_TRY(begin(w, d));
  if (!w->even && !far) return walk_uneven(w, out, d);
  SW_TRY(walk_all(w, w->even && !w->net->ends && !is_there(w) ? spare_dims(w) : 0, &out->n_left, d));
  read_path(w, out);
  return SW_OK;
}

static sw_rc search_in(rs_atlas *atlas, const rs_query *q, rs_path *out, sw_diag *d) {
  walk *w;
  SW_MEM_ROOM(w, 1, d);
  w->q = q;
  w->atlas = atlas;
  w->rc = SW_OK;
  w->scouts = w->surveys = false;
  w->slack = 1;
  w->d = d;
  w->net = rs_atlas_net(atlas);
  w->n_states = w->net->n_states;
  place_ends(w);
  sw_rc rc = walk_to_goal(w, out, d);
  for (int i = 0; i < 2; i++) rs_far_end_deinit(&w->end[i]);
  if (!rc) rc = w->rc;
  sw_mem_free(w);
  return rc;
}

sw_rc rs_net_search(const rs_query *q, rs_path *out, sw_diag *d) {
  rs_atlas *atlas;
  SW_TRY(rs_atlas_of(q, rs_net_has_partial(q), &atlas, d));
  return search_in(atlas, q, out, d);
}

sw_rc rs_net_search_ends(const rs_query *q, rs_path *out, sw_diag *d) {
  rs_net_ends ends;
  rs_atlas *atlas;
  out->cost_s = HUGE_VAL;
  if (!rs_net_ends_of(q, &ends)) return SW_OK;
  SW_TRY(rs_atlas_make(q, &ends, rs_net_has_partial(q), &atlas, d));
  sw_rc rc = search_in(atlas, q, out, d);
  rs_atlas_give_back(atlas);
  return rc;
}
