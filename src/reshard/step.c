/* The step between two states: the one collective that does it, else an exchange.
 *
 *   from [[x],[y]] to [[],[y,x]]: dimension 0 drops x, dimension 1 appends x: an all_to_all
 *
 * Collectives change the ends of lists, and are right where blocks nest: a dimension of K elements that is cut a times
 * may be cut b times more if b divides ceil(K/a).
 */
#include <math.h>

#include "reshard/bytes.h"
#include "reshard/route_graph.h"

/* All dimensions of a step together. */
typedef struct change {
  int n_gained, n_dropped, gained_dim, dropped_dim;
  uint32_t gained, dropped;          /* sets of atoms at the ends of lists */
  rs_list gained_list, dropped_list; /* of the last such dimension */
  uint32_t changed;
  bool other; /* some list neither gains nor drops */
  bool nests, even;
  double before, after; /* bytes of one device; with the padding that lets a block be cut into equal parts */
} change;

static void add_ends(const rs_graph *g, const rs_dim_leg *s, int d, int from, int to, change *c) {
  c->changed |= s->changed;
  if (s->gained && s->dropped) {
    c->other = true;
  } else if (s->gained) {
    c->n_gained++;
    c->gained_dim = d;
    c->gained |= s->gained;
    c->gained_list = g->dim[to].list >> 4 * s->common;
  } else {
    c->n_dropped++;
    c->dropped_dim = d;
    c->dropped |= s->dropped;
    c->dropped_list = g->dim[from].list >> 4 * s->common;
  }
}

static void find_change(rs_graph *g, const rs_vertex *from, const rs_vertex *to, change *c) {
  *c = (change){.nests = true, .even = true};
  c->before = c->after = g->elem_bytes;
  for (int d = 0; d < g->r->space.rank; d++) {
    const int a = from->dim[d], b = to->dim[d];
    if (a == b) {
      const double block = g->dim[a].block[d];
      c->before *= block;
      c->after *= block;
      continue;
    }
    const rs_dim_leg *s = rs_graph_dim_leg(g, d, a, b);
    add_ends(g, s, d, a, b, c);
    c->before *= s->before;
    c->after *= s->after;
    c->even = c->even && s->even;
    c->nests = c->nests && s->nests;
  }
}

/* --- collectives ------------------------------------------------------------------------------------------------- */

static bool collective(rs_graph *g, rs_move move, uint32_t set, double bytes, rs_leg *out) {
  const double cost_s = sw_group_collective_s(g->r->machine, rs_graph_group(g, set), (sw_coll_op)move.op, bytes);
  *out = (rs_leg){move, cost_s};
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
static bool partial_step(rs_graph *g, const rs_vertex *a, const rs_vertex *b, rs_leg *out) {
  const uint32_t gone = a->state.partial & ~b->state.partial, made = b->state.partial & ~a->state.partial;
  const bool kinds_meet = a->state.partial && b->state.partial && a->state.kind != b->state.kind;
  if (a->cut_by != b->cut_by && (a->cut_by | gone) != (b->cut_by | made)) return false;
  if (kinds_meet || (gone && made) || (gone ? !may_reduce(g, a, gone) : !may_make(g, b, made))) return false;
  change c;
  find_change(g, a, b, &c);
  if (c.other || c.n_gained > 1 || !c.nests) return false;
  if (c.n_dropped) {
    const rs_move move = {.op = SW_COLL_SHARD_TO_PARTIAL, .set = made};
    return c.n_gained == 0 && c.dropped == made && collective(g, move, made, c.after, out);
  }
  if (c.n_gained == 0) {
    const rs_move move = {.op = gone ? SW_COLL_ALL_REDUCE : SW_COLL_TO_PARTIAL, .set = gone | made};
    return collective(g, move, gone, c.before, out);
  }
  const rs_move move = {.op = SW_COLL_REDUCE_SCATTER, .dim = (uint8_t)c.gained_dim, .list = c.gained_list};
  return c.gained == gone && collective(g, move, gone, c.before, out);
}

enum { MAX_SLICES = 6 }; /* that count as one step, so that a route has room for them */

static bool only_cuts(const change *c) {
  return !c->other && c->n_dropped == 0 && c->nests && c->n_gained <= MAX_SLICES;
}

/* Slices of several dimensions, one after the other. */
static bool slices(rs_graph *g, const rs_vertex *from, const rs_vertex *to, const change *c, rs_leg *out) {
  rs_move move = {.op = SW_COLL_ALL_SLICE, .dim = (uint8_t)c->gained_dim, .list = c->gained_list};
  if (c->n_gained == 1) return collective(g, move, 0, c->after, out);
  double bytes = from->bytes, sum_s = 0;
  for (int d = 0; d < g->r->space.rank; d++) {
    if (from->dim[d] == to->dim[d]) continue;
    if (bytes > 0) bytes *= g->dim[to->dim[d]].block[d] / g->dim[from->dim[d]].block[d];
    (void)collective(g, move, 0, bytes, out);
    sum_s += out->cost_s;
  }
  move.n_slices = (uint8_t)c->n_gained;
  *out = (rs_leg){move, sum_s};
  return true;
}

/* Is it to be completed before an exchange? */
static bool is_completed_first(const rs_graph *g, const rs_vertex *from) {
  return from->state.partial && sw_machine_lowering(g->r->machine).rounds;
}

/* The one collective that does what the lists say; false if there is none. */
static bool moving_step(rs_graph *g, const rs_vertex *from, const change *c, rs_leg *out) {
  const uint8_t in = (uint8_t)c->gained_dim, of = (uint8_t)c->dropped_dim;
  if (c->other || c->n_dropped == 0) return false;
  if (c->n_dropped == 1 && c->n_gained == 0 && c->nests) {
    const rs_move gather = {.op = SW_COLL_ALL_GATHER, .dim = of, .list = c->dropped_list};
    return collective(g, gather, c->dropped, c->after, out);
  }
  if (c->dropped != c->gained) return false;
  if (c->n_dropped == 1 && c->n_gained == 1 && c->nests && c->gained_list == c->dropped_list) {
    const rs_move move = {.op = SW_COLL_ALL_TO_ALL, .dim = in, .of_dim = of, .list = c->dropped_list};
    return collective(g, move, c->dropped, fmax(c->before, c->after), out);
  }
  const rs_move move = {.op = SW_COLL_ALL_TO_ALL_DIMS, .set = c->dropped};
  if (is_completed_first(g, from)) return false;
  return c->even && collective(g, move, c->dropped, c->before, out);
}

/* --- all steps ------------------------------------------------------------------------------------------------- */

/* Only where every dimension has as many blocks as before is an exchange a permute. */
static bool may_exchange(const rs_graph *g, const rs_vertex *from, const rs_vertex *to) {
  if (from->state.partial != to->state.partial || (from->state.partial && from->state.kind != to->state.kind))
    return false;
  if (is_completed_first(g, from)) return false;
  if (!g->r->no_exchange) return true;
  for (int d = 0; d < g->r->space.rank; d++) {
    if (g->dim[from->dim[d]].shards != g->dim[to->dim[d]].shards) return false;
  }
  return from->state.form == to->state.form;
}

/* From or to an end that is not plain. All that is partial there is reduced or made at once. */
static bool opaque_step(rs_graph *g, const rs_vertex *a, const rs_vertex *b, rs_leg *out) {
  if (a->state.form == b->state.form) {
    const bool reduces = a->state.form == RS_SOURCE && !b->state.partial;
    const sw_sharding s = rs_request_sharding(g->r, reduces ? &a->state : &b->state);
    const bool there = rs_request_other(g->r, &b->state) != NULL;
    const double bytes = rs_block_bytes(g->r, &s);
    const rs_move move = {.op = reduces ? SW_COLL_ALL_REDUCE : SW_COLL_TO_PARTIAL};
    const sw_reduction kind = g->r->kind[(reduces ? a : b)->state.kind];
    if (reduces ? kind == SW_REDUCE_GENERIC : a->state.partial || !rs_reduces_in_parts(kind)) return false;
    *out = (rs_leg){move, 0};
    out->cost_s = sw_machine_collective_s(g->r->machine, (sw_coll_op)move.op, sw_sharding_partial(&s),
                                          there ? 0 : s.n_partial, bytes);
    return true;
  }
  if (!may_exchange(g, a, b) || a->state.form == RS_TARGET || b->state.form == RS_SOURCE) return false;
  *out = (rs_leg){{.op = SW_COLL_EXCHANGE}, rs_graph_counted_exchange_s(g, a, b)};
  return true;
}

/* An exchange does not stand in for a collective: where blocks are even that is what networks are built for, and a
 * price a little lower is an error of the model. Padding may make it dearer by more. */
bool rs_graph_leg(rs_graph *g, int from, int to, rs_leg *out) {
  const rs_vertex *a = &g->vertex[from], *b = &g->vertex[to];
  if (a->state.form != RS_PLAIN || b->state.form != RS_PLAIN) return opaque_step(g, a, b, out);
  if (a->state.partial != b->state.partial) return partial_step(g, a, b, out);
  if (a->state.kind != b->state.kind) return false;
  change c;
  find_change(g, a, b, &c);
  if (only_cuts(&c)) return slices(g, a, b, &c, out);
  rs_leg move;
  const bool moves = moving_step(g, a, &c, &move);
  if (moves) *out = move;
  if ((moves && c.even) || !may_exchange(g, a, b)) return moves;
  *out = (rs_leg){{.op = SW_COLL_EXCHANGE}, rs_graph_exchange_s(g, a, b, c.changed)};
  if (moves && out->cost_s * 1.1 >= move.cost_s) *out = move;
  return true;
}
