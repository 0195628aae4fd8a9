/* What the busiest device of an exchange receives, in closed form where blocks are even. Of each dimension it keeps the
 * part of its new block that its old one holds:
 *
 *   all     where the new list goes on from the old one:    [x] to [x,y]
 *   some    where it ends before:                           [x,y] to [x] keeps 1 part of y
 *   none    where each goes on in its own way:              [x] to [y], on some device
 *
 * The same holds for units of devices, of which only the atoms count that tell units apart. sw_machine_exchange_s
 * counts the same of any two tilings, in far more time.
 */
#include <math.h>

#include "reshard/graph.h"

/* The part of a new block that the device's unit of a level had. */
static double kept(const rs_cut *a, const rs_cut *b, int alike, int level) {
  if (alike >= a->visible[level]) return 1;
  if (alike < b->n) return 0;
  return fmin(1, a->inside[level] * b->shards / a->shards);
}

/* Old blocks that a new one touches, as sw_machine_exchange_s counts them. */
static double touched(const rs_cut *a, const rs_cut *b) {
  if (a->shards == 1 || a == b || fmod(b->shards, a->shards) == 0) return 1;
  const bool aligned = fmod(a->shards, b->shards) == 0 || b->n == 0;
  return fmin(ceil(a->shards / b->shards) + !aligned, a->shards);
}

bool rs_even_load(rs_graph *g, const rs_vertex *a, const rs_vertex *b, uint32_t changed, double bytes,
                  sw_exchange_load *out) {
  double had[SW_MAX_LEVELS], blocks = 1;
  for (int l = 0; l < g->n_levels; l++) had[l] = 1;
  for (int d = 0; d < g->r->space.rank; d++) {
    if (a->cut[d] == b->cut[d]) continue;
    const rs_cut *x = &g->cut[a->cut[d]], *y = &g->cut[b->cut[d]];
    const int alike = rs_list_alike(x->list, y->list);
    for (int l = 0; l < g->n_levels; l++) had[l] *= kept(x, y, alike, l);
    blocks *= touched(x, y);
  }
  *out = (sw_exchange_load){.bytes = bytes * (1 - had[0]), .buffer_bytes = bytes};
  if (out->bytes <= 0) return false;
  const double others = (double)(rs_graph_group(g, changed)->shape.size - 1);
  out->peers = fmax(1, fmin(blocks > 1 ? blocks - 1 : 1, others));
  for (int l = 1; l < g->n_levels; l++) out->outside_bytes[l] = fmin(bytes * (1 - had[l]), out->bytes);
  return true;
}
