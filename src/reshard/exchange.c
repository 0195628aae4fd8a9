/* What an exchange costs. Where blocks are even, what the busiest device receives is known in closed form from what it
 * keeps of each dimension (dims.c); else sw_machine_exchange_s counts it, in far more time.
 */
#include <math.h>

#include "reshard/graph.h"

/* False: nothing is received. */
static bool even_load(rs_graph *g, const rs_vertex *a, const rs_vertex *b, uint32_t changed, double bytes,
                      sw_exchange_load *out) {
  double kept[SW_MAX_LEVELS], blocks = 1;
  for (int l = 0; l < g->n_levels; l++) kept[l] = 1;
  for (int d = 0; d < g->r->space.rank; d++) {
    if (a->dim[d] == b->dim[d]) continue;
    const rs_dim_step *s = rs_graph_dim_step(g, d, a->dim[d], b->dim[d]);
    for (int l = 0; l < g->n_levels; l++) kept[l] *= s->kept[l];
    blocks *= s->touched;
  }
  *out = (sw_exchange_load){.bytes = bytes * (1 - kept[0]), .buffer_bytes = bytes};
  if (out->bytes <= 0) return false;
  const double others = (double)(rs_graph_group(g, changed)->shape.size - 1);
  out->peers = fmax(1, fmin(blocks > 1 ? blocks - 1 : 1, others));
  for (int l = 1; l < g->n_levels; l++) out->outside_bytes[l] = fmin(bytes * (1 - kept[l]), out->bytes);
  return true;
}

static double counted_s(const rs_graph *g, const rs_vertex *from, const rs_vertex *to) {
  sw_tiling src, dst;
  rs_request_tiling(g->r, &from->state, &src);
  rs_request_tiling(g->r, &to->state, &dst);
  return sw_machine_exchange_s(g->r->machine, &src, &dst, sw_dtype_bytes(g->r->dtype));
}

/* Uneven blocks never cost less than even ones: where the count says less, which small extents can do, the even price
 * is taken. So that is a bound, and few exchanges are counted. A copy, where nothing is received; uneven blocks always
 * lack something. */
rs_step rs_graph_exchange(rs_graph *g, const rs_vertex *from, const rs_vertex *to, uint32_t changed, bool even,
                          double bytes, bool count) {
  const bool unwritten = to->state.form == RS_TARGET && !g->r->target_written;
  sw_exchange_load load;
  rs_step step = {.move = {.op = SW_COLL_EXCHANGE}};
  step.exact = even && from->state.form == RS_PLAIN && to->state.form == RS_PLAIN;
  if (!unwritten && even_load(g, from, to, changed, bytes, &load))
    step.cost_s = sw_group_exchange_s(g->r->machine, rs_graph_group(g, changed), &load);
  else if (step.exact)
    step.cost_s = sw_group_collective_s(g->r->machine, rs_graph_group(g, 0), SW_COLL_ALL_SLICE, bytes);
  if (step.exact || !count) return step;
  step.cost_s = fmax(step.cost_s, counted_s(g, from, to));
  step.exact = true;
  return step;
}
