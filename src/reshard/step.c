/* The step between two states: the one collective that does it, else an exchange.
 *
 *   from [[x],[y]] to [[],[y,x]]: dimension 0 drops x, dimension 1 appends x: an all_to_all
 *
 * Collectives change the ends of lists, and are right where blocks nest: a dimension of K elements that is cut a times
 * may be cut b times more if b divides ceil(K/a).
 */
#include <math.h>
#include <string.h>

#include "reshard/graph.h"
#include "base/checked.h"

/* All dimensions of a step together. */
typedef struct change {
  int n_appended, n_dropped, appended_dim, dropped_dim;
  rs_list appended, dropped; /* behind what both lists of the last such dimension share */
  uint32_t appended_set, dropped_set, changed;
  bool other; /* some list neither appends nor drops */
  bool nests, even;
  double before, after; /* bytes of one device; with the padding that lets a block be cut into equal parts */
  double even_bytes;    /* after, if the dimensions that change were cut evenly */
} change;

static void add_ends(const rs_cut *a, const rs_cut *b, int alike, int dim, change *c) {
  const uint32_t head = a->head[alike], gained = b->set & ~head, lost = a->set & ~head;
  c->changed |= gained | lost;
  if (gained && lost) {
    c->other = true;
  } else if (gained) {
    c->n_appended++;
    c->appended_dim = dim;
    c->appended = b->list >> 4 * alike;
    c->appended_set |= gained;
  } else {
    c->n_dropped++;
    c->dropped_dim = dim;
    c->dropped = a->list >> 4 * alike;
    c->dropped_set |= lost;
  }
}

static void add_dim(const rs_graph *g, int dim, const rs_cut *a, const rs_cut *b, change *c) {
  const double k = (double)g->r->space.dims[dim], was = a->block[dim], is = b->block[dim];
  const int alike = rs_list_alike(a->list, b->list);
  const bool cuts = alike == a->n, joins = alike == b->n;
  const double before = cuts ? is * b->shards / a->shards : was, after = joins ? was * a->shards / b->shards : is;
  add_ends(a, b, alike, dim, c);
  c->before *= before;
  c->after *= after;
  c->even_bytes *= k / b->shards;
  c->even = c->even && a->even[dim] && b->even[dim];
  const bool breaks = (a->n > 0 && was != before) || (b->n > 0 && is != after);
  c->nests = c->nests && (k <= 1 || !breaks);
}

static change change_of(const rs_graph *g, const rs_vertex *from, const rs_vertex *to) {
  change c = {.nests = true, .even = true};
  c.before = c.after = c.even_bytes = g->elem_bytes;
  for (int d = 0; d < g->r->space.rank; d++) {
    const rs_cut *a = &g->cut[from->cut[d]], *b = &g->cut[to->cut[d]];
    if (a != b) {
      add_dim(g, d, a, b, &c);
      continue;
    }
    const double block = a->block[d];
    c.before *= block;
    c.after *= block;
    c.even_bytes *= block;
  }
  return c;
}

/* --- collectives ------------------------------------------------------------------------------------------------- */

static bool collective(rs_graph *g, rs_move move, uint32_t set, double bytes, rs_step *out) {
  const double cost_s = sw_group_collective_s(g->r->machine, rs_graph_group(g, set), (sw_coll_op)move.op, bytes);
  *out = (rs_step){move, cost_s, true};
  return true;
}

static bool may_reduce(const rs_graph *g, const rs_vertex *a, uint32_t gone) {
  const sw_reduction kind = g->r->kind[a->state.kind];
  return rs_reduces_in_parts(kind) || (kind == SW_REDUCE_AVERAGE && gone == a->state.partial);
}

static bool may_make(const rs_graph *g, const rs_vertex *b, uint32_t made) {
  const rs_state *target = &g->r->target;
  return rs_reduces_in_parts(g->r->kind[b->state.kind]) && b->state.kind == target->kind && !(made & ~target->partial);
}

/* A reduction, or parts made of a whole value or of its pieces. */
static bool partial_step(rs_graph *g, const rs_vertex *a, const rs_vertex *b, rs_step *out) {
  const uint32_t gone = a->state.partial & ~b->state.partial, made = b->state.partial & ~a->state.partial;
  const bool kinds_meet = a->state.partial && b->state.partial && a->state.kind != b->state.kind;
  if (kinds_meet || (gone && made) || (gone ? !may_reduce(g, a, gone) : !may_make(g, b, made))) return false;
  const change c = change_of(g, a, b);
  if (c.other || c.n_appended > 1 || !c.nests) return false;
  if (c.n_dropped) {
    const rs_move move = {.op = SW_COLL_SHARD_TO_PARTIAL, .set = made};
    return c.n_appended == 0 && c.dropped_set == made && collective(g, move, made, c.after, out);
  }
  if (c.n_appended == 0) {
    const rs_move move = {.op = gone ? SW_COLL_ALL_REDUCE : SW_COLL_TO_PARTIAL, .set = gone | made};
    return collective(g, move, gone, c.before, out);
  }
  const rs_move move = {.op = SW_COLL_REDUCE_SCATTER, .dim = (uint8_t)c.appended_dim, .list = c.appended};
  return c.appended_set == gone && collective(g, move, gone, c.before, out);
}

enum { MAX_SLICES = 6 }; /* that count as one step, so that a route has room for them */

static bool only_cuts(const change *c) {
  return !c->other && c->n_dropped == 0 && c->nests && c->n_appended <= MAX_SLICES;
}

/* Slices of several dimensions, one after the other. */
static bool slices(rs_graph *g, const rs_vertex *from, const rs_vertex *to, const change *c, rs_step *out) {
  rs_move move = {.op = SW_COLL_ALL_SLICE, .dim = (uint8_t)c->appended_dim, .list = c->appended};
  if (c->n_appended == 1) return collective(g, move, 0, c->after, out);
  double bytes = from->bytes, sum_s = 0;
  for (int d = 0; d < g->r->space.rank; d++) {
    if (from->cut[d] == to->cut[d]) continue;
    if (bytes > 0) bytes *= g->cut[to->cut[d]].block[d] / g->cut[from->cut[d]].block[d];
    (void)collective(g, move, 0, bytes, out);
    sum_s += out->cost_s;
  }
  move.list = 0;
  *out = (rs_step){move, sum_s, true};
  return true;
}

/* The one collective that does what the lists say; false if there is none. */
static bool moving_step(rs_graph *g, const change *c, rs_step *out) {
  const uint8_t in = (uint8_t)c->appended_dim, of = (uint8_t)c->dropped_dim;
  if (c->other || c->n_dropped == 0) return false;
  if (c->n_dropped == 1 && c->n_appended == 0 && c->nests) {
    const rs_move gather = {.op = SW_COLL_ALL_GATHER, .dim = of, .list = c->dropped};
    return collective(g, gather, c->dropped_set, c->after, out);
  }
  if (c->dropped_set != c->appended_set) return false;
  if (c->n_dropped == 1 && c->n_appended == 1 && c->nests && c->appended == c->dropped) {
    const rs_move move = {.op = SW_COLL_ALL_TO_ALL, .dim = in, .of_dim = of, .list = c->dropped};
    return collective(g, move, c->dropped_set, fmax(c->before, c->after), out);
  }
  const rs_move move = {.op = SW_COLL_ALL_TO_ALL_DIMS, .set = c->dropped_set};
  return c->even && collective(g, move, c->dropped_set, c->before, out);
}

/* --- exchanges --------------------------------------------------------------------------------------------------- */

/* A copy, where nothing is lacked; uneven blocks always lack something. */
static double even_exchange_s(rs_graph *g, const rs_vertex *from, const rs_vertex *to, const change *c) {
  sw_exchange_load load;
  if (!rs_even_load(g, from, to, c->changed, c->even_bytes, &load)) {
    if (!c->even) return 0;
    return sw_group_collective_s(g->r->machine, rs_graph_group(g, 0), SW_COLL_ALL_SLICE, c->even_bytes);
  }
  return sw_group_exchange_s(g->r->machine, rs_graph_group(g, c->changed), &load);
}

static double counted_exchange_s(const rs_graph *g, const rs_vertex *from, const rs_vertex *to) {
  sw_tiling src, dst;
  rs_request_tiling(g->r, &from->state, &src);
  rs_request_tiling(g->r, &to->state, &dst);
  return sw_machine_exchange_s(g->r->machine, &src, &dst, sw_dtype_bytes(g->r->dtype));
}

/* Uneven blocks never cost less than even ones: where the count says less, which small extents can do, the even price
 * is taken. So that is a bound, and few exchanges are counted. */
static void exchange(rs_graph *g, const rs_vertex *from, const rs_vertex *to, const change *c, bool count,
                     rs_step *out) {
  const bool plain = from->state.form == RS_PLAIN && to->state.form == RS_PLAIN;
  const bool unwritten = to->state.form == RS_TARGET && !g->r->target_written;
  *out = (rs_step){{.op = SW_COLL_EXCHANGE}, unwritten ? 0 : even_exchange_s(g, from, to, c), plain && c->even};
  if (out->exact || !count) return;
  out->cost_s = fmax(out->cost_s, counted_exchange_s(g, from, to));
  out->exact = true;
}

/* Only where every dimension has as many blocks as before is an exchange a permute. */
static bool may_exchange(const rs_graph *g, const rs_vertex *from, const rs_vertex *to) {
  if (from->state.partial != to->state.partial || (from->state.partial && from->state.kind != to->state.kind))
    return false;
  if (!g->r->no_exchange) return true;
  for (int d = 0; d < g->r->space.rank; d++) {
    if (g->cut[from->cut[d]].shards != g->cut[to->cut[d]].shards) return false;
  }
  return from->state.form == to->state.form;
}

/* From or to an end that is not plain. All that is partial there is reduced or made at once. */
static bool opaque_step(rs_graph *g, const rs_vertex *a, const rs_vertex *b, bool count, rs_step *out) {
  if (a->state.form == b->state.form) {
    const bool reduces = a->state.form == RS_SOURCE && !b->state.partial;
    const sw_sharding s = rs_request_sharding(g->r, reduces ? &a->state : &b->state);
    const bool there = rs_request_other(g->r, &b->state) != NULL;
    const double bytes = (double)sw_sharding_local_bytes(&s, g->r->space.dims, g->r->dtype);
    const rs_move move = {.op = reduces ? SW_COLL_ALL_REDUCE : SW_COLL_TO_PARTIAL};
    if (!reduces && a->state.partial) return false;
    *out = (rs_step){move, 0, true};
    out->cost_s = sw_machine_collective_s(g->r->machine, (sw_coll_op)move.op, sw_sharding_partial(&s),
                                          there ? 0 : s.n_partial, bytes);
    return true;
  }
  if (!may_exchange(g, a, b) || a->state.form == RS_TARGET || b->state.form == RS_SOURCE) return false;
  const change c = change_of(g, a, b);
  exchange(g, a, b, &c, count, out);
  return true;
}

/* An exchange does not stand in for a collective: where blocks are even that is what networks are built for, and a
 * price a little lower is an error of the model. Padding may make it dearer by more. */
bool rs_graph_step(rs_graph *g, int from, int to, bool count, rs_step *out) {
  const rs_vertex *a = &g->vertex[from], *b = &g->vertex[to];
  if (a->state.form != RS_PLAIN || b->state.form != RS_PLAIN) return opaque_step(g, a, b, count, out);
  if (a->state.partial != b->state.partial) return partial_step(g, a, b, out);
  if (a->state.kind != b->state.kind) return false;
  const change c = change_of(g, a, b);
  if (only_cuts(&c)) return slices(g, a, b, &c, out);
  rs_step move;
  const bool moves = moving_step(g, &c, &move);
  if (moves) *out = move;
  if ((moves && c.even) || !may_exchange(g, a, b)) return moves;
  exchange(g, a, b, &c, count, out);
  if (moves && out->cost_s * 1.1 >= move.cost_s) *out = move;
  return true;
}
