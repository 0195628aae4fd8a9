/* What one step between two states costs: that of the one collective which does it, else that of an exchange.
 *
 *   from [[x],[y]] to [[],[y,x]]: dimension 0 drops x, dimension 1 appends x: an all_to_all
 *
 * Between even blocks an exchange is priced in closed form, by the definition of sw_machine_exchange_s; else that
 * function counts.
 */
#include <math.h>

#include "reshard/price.h"
#include "reshard/uneven.h"
#include "base/checked.h"

/* All dimensions of a step together. */
typedef struct change {
  int n_appended, n_dropped, appended_dim, dropped_dim;
  unsigned appended, dropped;             /* sets of atoms at the ends of lists */
  unsigned appended_order, dropped_order; /* the last dimension's, as one number */
  unsigned changed;                       /* atoms behind what both ends cut alike */
  bool other;                             /* some list neither appends nor drops */
  bool nests, even;
  double before, after; /* bytes of one device; with the padding of what is appended, or was dropped */
} change;

static void add_dim(const rs_net_diff *p, int dim, change *c) {
  c->changed |= p->changed;
  c->other |= p->other;
  if (p->appended) {
    c->n_appended++;
    c->appended_dim = dim;
    c->appended |= p->appended;
    c->appended_order = p->order;
  }
  if (p->dropped) {
    c->n_dropped++;
    c->dropped_dim = dim;
    c->dropped |= p->dropped;
    c->dropped_order = p->order;
  }
}

static change change_of(const rs_net *n, int from, int to) {
  const uint8_t *a = n->state[from].list, *b = n->state[to].list;
  change c = {.nests = true, .even = true, .before = n->bytes[from], .after = n->bytes[to]};
  for (int d = 0; d < n->q->space.rank; d++) {
    if (a[d] != b[d]) add_dim(rs_net_diff_of(n, a[d], b[d]), d, &c);
  }
  return c;
}

/* A device pads its block so that it can be cut into as many as are appended, or takes as many as are dropped. */
static void add_blocks(const rs_uneven *u, int d, int from, int to, const rs_net_diff *p, change *c) {
  const int64_t was = u->block[d][from], is = u->block[d][to];
  const bool cuts = p->more > 1 && u->net->list[from].n > 0, joins = p->fewer > 1 && u->net->list[to].n > 0;
  c->before *= (double)(p->appended ? is * p->more : was);
  c->after *= (double)(p->dropped ? was * p->fewer : is);
  c->even = c->even && u->even[d][from] && u->even[d][to];
  /* as rs_cuts_nest says: a block that can be cut into so many equal ones gives those of the longer list */
  c->nests =
      c->nests && (u->q->space.dims[d] <= 1 || (!(cuts && was != is * p->more) && !(joins && is != was * p->fewer)));
}

static change uneven_change(const rs_uneven *u, int from, int to) {
  const rs_net *n = u->net;
  const uint8_t *a = n->state[from].list, *b = n->state[to].list;
  change c = {.nests = true, .even = true};
  c.before = c.after = sw_dtype_bytes(u->q->dtype);
  for (int d = 0; d < n->q->space.rank; d++) {
    if (a[d] == b[d]) {
      c.before *= (double)u->block[d][a[d]];
      c.after *= (double)u->block[d][a[d]];
      continue;
    }
    const rs_net_diff *p = rs_net_diff_of(n, a[d], b[d]);
    add_dim(p, d, &c);
    add_blocks(u, d, a[d], b[d], p, &c);
  }
  return c;
}

/* --- exchanges --------------------------------------------------------------------------------------------------- */

/* A copy, where nothing is lacked. */
static void even_exchange(const rs_net *n, int from, int to, unsigned changed, rs_step *out) {
  const uint8_t *a = n->state[from].list, *b = n->state[to].list;
  double had[SW_MAX_LEVELS], blocks = 1;
  *out = (rs_step){.group = (uint8_t)changed, .move = {.op = SW_COLL_EXCHANGE}, .bytes = n->bytes[to]};
  for (int l = 0; l < n->n_levels; l++) had[l] = n->elem;
  for (int d = 0; d < n->q->space.rank; d++) {
    const rs_net_pair *p = rs_net_pair_of(n, a[d], b[d]);
    for (int l = 0; l < n->n_levels; l++) had[l] *= p->kept[l];
    blocks *= p->touched;
  }
  sw_exchange_load *load = &out->load;
  load->buffer_bytes = n->bytes[to];
  load->bytes = n->bytes[to] - had[0];
  out->exchanges = load->bytes > 0;
  if (!out->exchanges) return;
  load->peers = fmax(1, fmin(blocks > 1 ? blocks - 1 : 1, (double)(rs_net_group(n, changed)->shape.size - 1)));
  for (int l = 1; l < n->n_levels; l++) load->outside_bytes[l] = fmin(n->bytes[to] - had[l], load->bytes);
}

/* --- collectives ------------------------------------------------------------------------------------------------- */

static uint8_t count_of(unsigned set) {
  uint8_t n = 0;
  for (; set; set &= set - 1) n++;
  return n;
}

static bool collective(rs_step *out, unsigned group, double bytes, rs_move move) {
  *out = (rs_step){.group = (uint8_t)group, .move = move, .bytes = bytes};
  return true;
}

/* What is partial changes: a reduction, or parts made of a whole value or of its pieces. */
static bool partial_step(const rs_net *n, int from, int to, const change *c, rs_step *out) {
  const rs_net_state *a = &n->state[from], *b = &n->state[to];
  const unsigned gone = a->partial & ~b->partial, made = b->partial & ~a->partial;
  const double bytes = c->before;
  if ((gone && made) || c->other || c->n_appended > 1) return false;
  if (c->n_dropped) {
    if (c->n_appended || c->dropped != made || !c->nests) return false;
    return collective(out, made, c->after, (rs_move){SW_COLL_SHARD_TO_PARTIAL, 0, 0, 0, (uint16_t)made});
  }
  if (c->n_appended == 0) {
    uint8_t op = gone ? SW_COLL_ALL_REDUCE : SW_COLL_TO_PARTIAL;
    return collective(out, gone | made, bytes, (rs_move){op, 0, 0, 0, (uint16_t)(gone | made)});
  }
  if (c->appended != gone || !c->nests) return false;
  return collective(out, gone, bytes,
                    (rs_move){SW_COLL_REDUCE_SCATTER, (uint8_t)c->appended_dim, 0, count_of(gone), 0});
}

/* Cuts of several dimensions are as many slices. */
static bool only_cuts(const change *c) { return !c->other && c->n_dropped == 0 && c->nests; }

/* The one collective that does what the lists say; false if there is none. */
static bool moving_step(const change *c, rs_step *out) {
  const uint8_t in = (uint8_t)c->appended_dim, of = (uint8_t)c->dropped_dim;
  if (c->other || (c->n_dropped == 0 && c->n_appended > 1)) return false;
  if (c->n_dropped == 0 && c->nests) {
    return collective(out, c->appended, c->after, (rs_move){SW_COLL_ALL_SLICE, in, 0, count_of(c->appended), 0});
  }
  if (c->n_dropped == 1 && c->n_appended == 0 && c->nests) {
    return collective(out, c->dropped, c->after, (rs_move){SW_COLL_ALL_GATHER, of, 0, count_of(c->dropped), 0});
  }
  if (c->dropped != c->appended) return false;
  if (c->n_dropped == 1 && c->n_appended == 1 && c->nests && c->appended_order == c->dropped_order) {
    return collective(out, c->dropped, fmax(c->before, c->after),
                      (rs_move){SW_COLL_ALL_TO_ALL, of, in, count_of(c->dropped), 0});
  }
  return c->even &&
         collective(out, c->dropped, c->before, (rs_move){SW_COLL_ALL_TO_ALL_DIMS, 0, 0, 0, (uint16_t)c->dropped});
}

/* --- steps and prices -------------------------------------------------------------------------------------------- */

bool rs_net_step(const rs_net *n, int from, int to, rs_step *out) {
  const change c = change_of(n, from, to);
  if (n->state[from].partial != n->state[to].partial) return partial_step(n, from, to, &c, out);
  if (moving_step(&c, out)) return true;
  if (only_cuts(&c)) return false;
  even_exchange(n, from, to, c.changed, out);
  return true;
}

int rs_step_curves(const rs_net *n, const rs_step *step, sw_curve out[SW_MAX_CURVES]) {
  const sw_machine *m = n->q->machine;
  const sw_group *group = rs_net_group(n, step->group);
  if (!step->exchanges) {
    const bool copy = step->move.op == SW_COLL_EXCHANGE;
    return sw_group_collective_curves(m, group, copy ? SW_COLL_ALL_SLICE : (sw_coll_op)step->move.op, step->bytes, out);
  }
  return sw_group_exchange_curves(m, group, &step->load, out);
}

static double price_s(const rs_net *n, const rs_step *step) {
  sw_curve curve[SW_MAX_CURVES];
  const int k = rs_step_curves(n, step, curve);
  return sw_curves_s(curve, k, 1, 1);
}

/* Where what changes is even, the closed form, on blocks that are larger by the padding of the rest. */
static double exchange_s(const rs_uneven *u, int from, int to, const change *c, double enough) {
  sw_curve curve[SW_MAX_CURVES];
  rs_step step;
  if (!c->even) return rs_uneven_exchange_s(u, &(rs_side){.state = from}, &(rs_side){.state = to}, enough);
  even_exchange(u->net, from, to, c->changed, &step);
  const double scale = c->after / u->net->bytes[to];
  return sw_curves_s(curve, rs_step_curves(u->net, &step, curve), scale, sqrt(scale));
}

/* Does cutting a dimension's blocks further, from a list to a longer one, not give the longer one's blocks? */
static bool breaks(const rs_uneven *u, int d, int from, int to) {
  const rs_net_diff *p = rs_net_diff_of(u->net, from, to);
  return u->q->space.dims[d] > 1 && u->net->list[from].n > 0 && u->block[d][from] != u->block[d][to] * p->more;
}

/* Of all dimensions that may stand for one, how many break, and how many do not? The longer list is `to`. */
static void try_dims(const rs_uneven *u, int d, int from, int to, int count[2]) {
  for (int e = 0; e < u->q->space.rank; e++) {
    if (e == d || (u->spare >> d & u->spare >> e & 1u)) count[breaks(u, e, from, to)]++;
  }
}

bool rs_uneven_cuts(const rs_uneven *u, int from, int to) {
  const rs_net_state *a = &u->net->state[from], *b = &u->net->state[to];
  int count[2] = {0};
  for (int d = 0; d < u->q->space.rank; d++) {
    if (a->list[d] == b->list[d]) continue;
    if (!rs_net_diff_of(u->net, a->list[d], b->list[d])->appended) return false;
    try_dims(u, d, a->list[d], b->list[d], count);
  }
  return count[true] > 0 && a->partial == b->partial;
}

bool rs_uneven_scatters(const rs_uneven *u, int from, int to) {
  const rs_net_state *a = &u->net->state[from], *b = &u->net->state[to];
  const bool joins = b->partial & ~a->partial; /* lists become shorter */
  for (int d = 0; d < u->q->space.rank && a->partial != b->partial; d++) {
    int count[2] = {0};
    if (a->list[d] == b->list[d]) continue;
    try_dims(u, d, joins ? b->list[d] : a->list[d], joins ? a->list[d] : b->list[d], count);
    if (count[false] == 0) return false;
  }
  return true;
}

double rs_uneven_step(const rs_uneven *u, int from, int to, double enough, rs_step *out) {
  const rs_net *n = u->net;
  const change c = uneven_change(u, from, to);
  if (n->state[from].partial != n->state[to].partial) {
    return partial_step(n, from, to, &c, out) ? price_s(n, out) : HUGE_VAL;
  }
  const bool moves = moving_step(&c, out);
  const double collective_s = moves ? price_s(n, out) : HUGE_VAL;
  if (moves ? c.even || out->move.op == SW_COLL_ALL_SLICE : only_cuts(&c)) return collective_s;
  const double exchange = exchange_s(u, from, to, &c, fmin(enough, collective_s));
  if (moves && exchange * 1.1 >= collective_s) return collective_s;
  *out = (rs_step){.move = {.op = SW_COLL_EXCHANGE}};
  return exchange;
}

static bool equal_shards(const rs_net *n, int from, int to) {
  for (int d = 0; d < n->q->space.rank; d++) {
    if (n->list[n->state[from].list[d]].shards != n->list[n->state[to].list[d]].shards) return false;
  }
  return true;
}

double rs_uneven_collective(const rs_uneven *u, int from, int to, rs_step *out) {
  const rs_net *n = u->net;
  const change c = uneven_change(u, from, to);
  if (n->state[from].partial != n->state[to].partial) return HUGE_VAL;
  if (!moving_step(&c, out)) {
    if (!equal_shards(n, from, to)) return HUGE_VAL;
    *out = (rs_step){.move = {.op = SW_COLL_EXCHANGE}};
    return exchange_s(u, from, to, &c, HUGE_VAL);
  }
  const double p = (double)rs_net_group(n, out->group)->shape.size;
  if (out->move.op != SW_COLL_ALL_SLICE && !c.even) {
    const double lacked = rs_uneven_lacked_bytes(u, &(rs_side){.state = from}, &(rs_side){.state = to});
    if (lacked > 0) out->bytes = fmin(out->bytes, lacked * p / (p - 1));
  }
  return price_s(n, out);
}
