/* What one step between two states costs: that of the one collective which does it, else that of an exchange.
 *
 *   from [[x],[y]] to [[],[y,x]]: dimension 0 drops x, dimension 1 appends x: an all_to_all
 *
 * Where the dimensions that change are even an exchange is priced in closed form, by the definition of
 * sw_machine_exchange_s; else that function counts.
 */
#include <math.h>

#include "reshard/net.h"
#include "reshard/price.h"
#include "shardwright/checked.h"

/* All dimensions of a step together. */
typedef struct change {
  int n_appended, n_dropped, appended_dim, dropped_dim;
  unsigned appended, dropped;             /* sets of atoms at the ends of lists */
  unsigned appended_order, dropped_order; /* the last dimension's, as one number */
  unsigned changed;                       /* atoms behind what both ends cut alike */
  bool other;                             /* some list neither appends nor drops */
  bool nests, even;
} change;

static unsigned set_from(const rs_net_list *l, int first) {
  unsigned set = 0;
  for (int i = first; i < l->n; i++) set |= 1u << l->atom[i];
  return set;
}

static unsigned order_from(const rs_net_list *l, int first) {
  unsigned order = 0;
  for (int i = first; i < l->n; i++) order = order * (RS_NET_ATOMS + 1) + l->atom[i] + 1;
  return order;
}

static bool nests(const rs_net *n, int dim, const rs_net_list *shorter, const rs_net_list *longer) {
  return rs_cuts_nest(n->q->space.dims[dim], shorter->shards, longer->shards / shorter->shards);
}

static void change_dim(const rs_net *n, int dim, int from, int to, change *c) {
  const rs_net_list *a = &n->list[from], *b = &n->list[to];
  const rs_net_cut *old = &n->cut[dim][from], *new = &n->cut[dim][to];
  const int alike = rs_net_alike(a, b);
  bool even = old->even && new->even;
  int skip = even || old->block * (double)a->shards == new->block *(double)b->shards ? alike : 0;
  c->even &= even;
  c->changed |= set_from(a, skip) | set_from(b, skip);
  if (alike == a->n) {
    c->n_appended++;
    c->appended_dim = dim;
    c->appended |= set_from(b, alike);
    c->appended_order = order_from(b, alike);
    c->nests &= nests(n, dim, a, b);
  } else if (alike == b->n) {
    c->n_dropped++;
    c->dropped_dim = dim;
    c->dropped |= set_from(a, alike);
    c->dropped_order = order_from(a, alike);
    c->nests &= nests(n, dim, b, a);
  } else {
    c->other = true;
  }
}

static change change_of(const rs_net *n, int from, int to) {
  const uint8_t *a = n->state[from].list, *b = n->state[to].list;
  change c = {.nests = true, .even = true};
  for (int d = 0; d < n->q->space.rank; d++) {
    if (a[d] != b[d]) change_dim(n, d, a[d], b[d], &c);
  }
  return c;
}

/* --- exchanges --------------------------------------------------------------------------------------------------- */

/* Old blocks that a new one touches, as sw_machine_exchange_s counts them. */
static double touched(const rs_net *n, int dim, int from, int to) {
  const rs_net_list *a = &n->list[from];
  int64_t step = (int64_t)n->cut[dim][from].block, len = (int64_t)n->cut[dim][to].block;
  if (a->shards == 1 || from == to) return 1;
  if (step <= 0) return (double)a->shards;
  if (len <= step && step % len == 0) return 1;
  bool aligned = len % step == 0 || n->list[to].n == 0;
  return (double)sw_min_i64(sw_ceil_div(len, step) + !aligned, a->shards);
}

static double even_exchange_s(const rs_net *n, int from, int to, unsigned changed) {
  const uint8_t *a = n->state[from].list, *b = n->state[to].list;
  const sw_group *g = &n->group[changed];
  double had[SW_MAX_LEVELS], blocks = 1;
  for (int l = 0; l < n->n_levels; l++) had[l] = n->elem;
  for (int d = 0; d < n->q->space.rank; d++) {
    const int alike = rs_net_alike(&n->list[a[d]], &n->list[b[d]]);
    for (int l = 0; l < n->n_levels; l++) had[l] *= rs_net_overlap(n, d, a[d], b[d], alike, l);
    blocks *= touched(n, d, a[d], b[d]);
  }
  sw_exchange_load load = {.bytes = n->bytes[to] - had[0], .buffer_bytes = n->bytes[to]};
  if (load.bytes <= 0) return sw_group_collective_s(n->q->machine, g, SW_COLL_ALL_SLICE, load.buffer_bytes);
  load.peers = fmax(1, fmin(blocks > 1 ? blocks - 1 : 1, (double)(g->shape.size - 1)));
  for (int l = 1; l < n->n_levels; l++) load.outside_bytes[l] = fmin(n->bytes[to] - had[l], load.bytes);
  return sw_group_exchange_s(n->q->machine, g, &load);
}

static double exchange_s(const rs_net *n, int from, int to, const change *c) {
  if (c->even) return even_exchange_s(n, from, to, c->changed);
  rs_state a = rs_net_state_of(n, from), b = rs_net_state_of(n, to);
  return rs_exchange_s(n->q, &a, &b);
}

/* --- collectives ------------------------------------------------------------------------------------------------- */

static double group_s(const rs_net *n, sw_coll_op op, unsigned atoms, double bytes) {
  return sw_group_collective_s(n->q->machine, &n->group[atoms], op, bytes);
}

static uint8_t count_of(unsigned set) {
  uint8_t n = 0;
  for (; set; set &= set - 1) n++;
  return n;
}

/* What is partial changes: a reduction, or parts made of a whole value. */
static double partial_s(const rs_net *n, int from, int to, const change *c, rs_move *move) {
  const rs_net_state *a = &n->state[from], *b = &n->state[to];
  const unsigned gone = a->partial & ~b->partial, made = b->partial & ~a->partial;
  if ((gone && made) || c->other || c->n_dropped || c->n_appended > 1) return HUGE_VAL;
  if (c->n_appended == 1) {
    if (c->appended != gone || !c->nests) return HUGE_VAL;
    *move = (rs_move){SW_COLL_REDUCE_SCATTER, (uint8_t)c->appended_dim, 0, count_of(gone), 0};
    return group_s(n, SW_COLL_REDUCE_SCATTER, gone, n->bytes[from]);
  }
  *move = (rs_move){gone ? SW_COLL_ALL_REDUCE : SW_COLL_TO_PARTIAL, 0, 0, 0, (uint16_t)(gone | made)};
  return group_s(n, (sw_coll_op)move->op, gone | made, n->bytes[from]);
}

/* The one collective that does what the lists say; HUGE_VAL if there is none. */
static double collective_s(const rs_net *n, int from, int to, const change *c, rs_move *move) {
  const double before = n->bytes[from], after = n->bytes[to];
  if (c->other || (c->n_dropped == 0 && c->n_appended > 1)) return HUGE_VAL;
  if (c->n_dropped == 0 && c->nests) {
    *move = (rs_move){SW_COLL_ALL_SLICE, (uint8_t)c->appended_dim, 0, count_of(c->appended), 0};
    return group_s(n, SW_COLL_ALL_SLICE, c->appended, after);
  }
  if (c->n_dropped == 1 && c->n_appended == 0 && c->nests) {
    *move = (rs_move){SW_COLL_ALL_GATHER, (uint8_t)c->dropped_dim, 0, count_of(c->dropped), 0};
    return group_s(n, SW_COLL_ALL_GATHER, c->dropped, after);
  }
  if (c->dropped != c->appended) return HUGE_VAL;
  if (c->n_dropped == 1 && c->n_appended == 1 && c->nests && c->appended_order == c->dropped_order) {
    *move = (rs_move){SW_COLL_ALL_TO_ALL, (uint8_t)c->dropped_dim, (uint8_t)c->appended_dim, count_of(c->dropped), 0};
    return group_s(n, SW_COLL_ALL_TO_ALL, c->dropped, fmax(before, after));
  }
  if (!c->even) return HUGE_VAL;
  *move = (rs_move){SW_COLL_ALL_TO_ALL_DIMS, 0, 0, 0, (uint16_t)c->dropped};
  return group_s(n, SW_COLL_ALL_TO_ALL_DIMS, c->dropped, before);
}

double rs_net_step_s(const rs_net *n, int from, int to, rs_move *move) {
  static const rs_move kExchange = {.op = SW_COLL_EXCHANGE};
  rs_move ignored;
  if (!move) move = &ignored;
  const change c = change_of(n, from, to);
  if (n->state[from].partial != n->state[to].partial) return partial_s(n, from, to, &c, move);
  double price = collective_s(n, from, to, &c, move);
  if (!isinf(price) && (c.even || move->op == SW_COLL_ALL_SLICE)) return price;
  /* cuts of several dimensions are as many slices */
  if (isinf(price) && !c.other && c.n_dropped == 0 && c.nests) return HUGE_VAL;
  double exchange = exchange_s(n, from, to, &c);
  if (!isinf(price) && exchange * 1.1 >= price) return price;
  *move = kExchange;
  return exchange;
}
