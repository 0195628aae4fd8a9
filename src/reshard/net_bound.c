/* What no path between two states can do better than.
 *
 * A device lacks some bytes of its new block; they come over the fastest links at best, and at least one step pays a
 * latency. What a whole unit lacks of what its devices shall have comes over the slower links between units, evenly
 * shared at best. Each step's price holds for what it brings, and a path brings at least what is lacked, so this is a
 * bound on paths, not only on steps (docs/resharding.md, "Search").
 *
 * Values to be reduced over p devices: (p-1) words per element are spoken in all, and every device hears at least its
 * whole block.
 */
#include <math.h>

#include "reshard/net.h"

static inline double larger(double a, double b) { return a > b ? a : b; }

/* Of a new block, no more than some device's unit had: with the unit's own atoms left out, the old list's rest cuts
 * what both lists begin alike; where both go on in other ways, some device finds nothing. */
static double had_of(const rs_net *n, int dim, int from, int to, int alike, int level) {
  const rs_net_list *a = &n->list[from], *b = &n->list[to];
  const sw_axis_ref *atom = n->q->space.atom;
  const double new = n->cut[dim][to].block, *inside = n->inside[level];
  double rest = 1;
  for (int i = alike; i < a->n; i++) rest *= atom[a->atom[i]].size / inside[a->atom[i]];
  if (rest <= 1 || alike == b->n) return new / rest;
  return inside[a->atom[alike]] < atom[a->atom[alike]].size ? 0 : new;
}

static void compare(const rs_net *n, int dim, int from, int to, rs_net_pair *out) {
  const rs_net_list *a = &n->list[from], *b = &n->list[to];
  const int alike = rs_net_alike(a, b);
  const double k = (double)n->q->space.dims[dim];
  for (int l = 0; l < n->n_levels; l++) {
    out->had[l] = had_of(n, dim, from, to, alike, l);
    out->both[l] = k / (double)(a->outer[l] > b->outer[l] ? a->outer[l] : b->outer[l]);
  }
}

void rs_net_look(const rs_net *n, int state, bool to_it, rs_net_view *out) {
  out->state = state;
  out->to_it = to_it;
  for (int d = 0; d < n->q->space.rank; d++) {
    const int one = n->state[state].list[d];
    for (int i = 0; i < n->n_lists; i++) compare(n, d, to_it ? i : one, to_it ? one : i, &out->pair[d][i]);
  }
}

/* The least time for bytes that cross between units of a level. Lines are concave, and so is the least of them: bytes
 * that come in several steps take no less. */
static double least_s(const rs_net *n, int level, double bytes, bool reduces) {
  const rs_net_floor *f = &n->floor;
  const double root = sqrt(bytes);
  double least = HUGE_VAL;
  for (int i = f->first_line[level]; i < f->n_lines; i++) {
    double s = f->line[i].ramp_s * root + f->line[i].slope_s * bytes;
    if ((reduces || !f->line[i].reduces) && s < least) least = s;
  }
  return least;
}

/* Units of a level that hold other parts of a value partial over atoms. */
static double units_of(const rs_net *n, unsigned atoms, int level) {
  double units = 1;
  for (int a = 0; a < n->q->space.n; a++) {
    if (atoms >> a & 1u) units *= n->q->space.atom[a].size / n->inside[level][a];
  }
  return units;
}

/* Reducing over p units of a level, each element takes p-1 words; then one for every further unit that wants it. Where
 * `wanted` is no less than the devices' share of what each unit is to have. */
static double reducing_s(const rs_net *n, unsigned atoms, const double *wanted, double *latency_s) {
  double work = 0;
  for (int l = 0; l < n->n_levels; l++) {
    const double p = units_of(n, atoms, l), once = n->whole_bytes / n->devices;
    if (p <= 1) continue;
    *latency_s = larger(*latency_s, n->floor.latency_s[l]);
    work = larger(work, least_s(n, l, once * (p - 1) + (wanted ? larger(0, wanted[l] - once) : 0), true));
  }
  return work;
}

/* Devices that a to_partial leaves the value are to have their whole block of it. */
static double reduced_s(const rs_net *n, int from, int to) {
  const unsigned had = n->state[from].partial, has = n->state[to].partial;
  double wanted[SW_MAX_LEVELS] = {n->bytes[to]}, latency = n->floor.latency_s[0];
  for (int l = 1; l < n->n_levels; l++) wanted[l] = n->unit_bytes[l][to] / n->floor.unit[l];
  double work = reducing_s(n, had & ~has, has ? NULL : wanted, &latency);
  if (!(had & has)) work = larger(work, least_s(n, 0, n->bytes[to], true));
  return latency + work;
}

/* Values that stay partial: either their parts are moved, or some are reduced and made again. */
static double kept_s(const rs_net *n, unsigned kept, double moved_s) {
  for (int a = 0; a < n->q->space.n; a++) {
    double ignored = 0, s = kept >> a & 1 ? reducing_s(n, 1u << a, NULL, &ignored) : moved_s;
    moved_s = s < moved_s ? s : moved_s;
  }
  return moved_s;
}

double rs_net_bound_s(const rs_net *n, const rs_net_view *v, int end) {
  const int from = v->to_it ? end : v->state, to = v->to_it ? v->state : end, rank = n->q->space.rank;
  const rs_net_floor *f = &n->floor;
  const rs_net_state *a = &n->state[from], *b = &n->state[to];
  const uint8_t *list = n->state[end].list;
  const unsigned made = b->partial & ~a->partial; /* of these axes' devices the first one keeps the value */
  if (from == to) return 0;
  if (a->partial & ~b->partial) return reduced_s(n, from, to);
  double latency = f->step_s, work = 0;
  for (int l = 0; l < n->n_levels; l++) {
    double had = n->elem, both = n->elem;
    for (int d = 0; d < rank; d++) {
      had *= n->list[a->list[d]].set & made ? n->cut[d][b->list[d]].block : v->pair[d][list[d]].had[l];
    }
    double bytes = n->bytes[to] - had;
    for (int d = 0; d < rank && l > 0 && !made; d++) both *= v->pair[d][list[d]].both[l];
    if (l > 0) bytes = larger(bytes, made ? 0 : n->unit_bytes[l][to] - both) / f->unit[l];
    if (bytes <= 1e-9 * n->bytes[to]) break;
    latency = larger(latency, f->latency_s[l]);
    work = larger(work, least_s(n, l, bytes, false));
  }
  return latency + (b->partial & a->partial ? kept_s(n, b->partial & a->partial, work) : work);
}
