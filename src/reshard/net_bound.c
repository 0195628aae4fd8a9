/* What no path between two states can do better than.
 *
 * A device lacks some bytes of its new block; they come over the fastest links at best, and at least one step pays a
 * latency. What a whole unit lacks of what its devices shall have comes over the slower links between units, evenly
 * shared at best. Each step's price holds for what it brings, and a path brings at least what is lacked, so this is a
 * bound on paths, not only on steps (docs/resharding.md, "Search").
 *
 * It holds whatever is partial: take a path's reductions for slices, or for nothing, and its to_partials for nothing,
 * and the steps that are left, at the prices they had, bring whole values to where the path brings them. So what
 * reductions cost comes on top: over p devices (p-1) words per element. Or else, of all steps together: as many words,
 * and every device hears at least its whole block.
 */
#include <math.h>

#include "reshard/net.h"

static inline double larger(double a, double b) { return a > b ? a : b; }

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

/* Reducing over p units of a level, each element takes p-1 words, in each of the units that hold parts which stay; or
 * those parts are reduced, too, in as many words and more. Then one word for every further unit that wants it, where
 * `wanted` is no less than the devices' share of what each unit is to have. */
static double reducing_s(const rs_net *n, unsigned gone, unsigned kept, double scale, const double *wanted,
                         double *latency_s) {
  const double once = n->whole_bytes / n->devices * scale;
  double work = 0;
  for (int l = 0; l < n->n_levels; l++) {
    const double p = n->units[l][gone], words = (p - 1) * n->units[l][kept];
    if (p <= 1) continue;
    *latency_s = larger(*latency_s, n->floor.latency_s[l]);
    work = larger(work, least_s(n, l, once * words + (wanted ? larger(0, wanted[l] * scale - once) : 0), true));
  }
  return work;
}

/* Of a path that reduces all that is partial: what devices must hear of it, by whatever steps. */
static double reduced_s(const rs_net *n, const rs_net_gap *g, double scale) {
  double latency = n->floor.latency_s[0];
  const double work = reducing_s(n, g->gone, 0, scale, g->wanted, &latency);
  return latency + larger(work, least_s(n, 0, g->wanted[0] * scale, true));
}

/* Of the steps that move. */
static double moved_s(const rs_net *n, const rs_net_gap *g, double scale) {
  double latency = 0, work = 0;
  for (int l = 0; l < n->n_levels && g->lacked[l] > 0; l++) {
    latency = larger(latency, n->floor.latency_s[l]);
    work = larger(work, least_s(n, l, g->lacked[l] * scale, false));
  }
  return latency + work;
}

rs_net_bound rs_net_gap_bound(const rs_net *n, const rs_net_gap *g, double scale) {
  const double step_s = n->floor.step_s;
  if (g->same) return (rs_net_bound){0, 2 * step_s};
  const double moved = moved_s(n, g, scale);
  if (!g->gone) return (rs_net_bound){larger(step_s, moved), larger(step_s, moved) + step_s};
  double latency = n->floor.latency_s[0], work = reducing_s(n, g->gone, g->kept, scale, NULL, &latency);
  const double apart = latency + work + moved, together = g->kept ? 0 : reduced_s(n, g, scale);
  const double longer = moved > 0 ? apart : apart + step_s;
  return (rs_net_bound){larger(apart, together), larger(longer, together + step_s)};
}

/* Bytes that a device lacks of what crosses between units of each level. */
static void find_lacked(const rs_net *n, const rs_net_state *a, const rs_net_state *b, int to, double *out) {
  double had[SW_MAX_LEVELS], both[SW_MAX_LEVELS];
  for (int l = 0; l < n->n_levels; l++) had[l] = both[l] = n->elem;
  for (int d = 0; d < n->q->space.rank; d++) {
    const rs_net_pair *p = rs_net_pair_of(n, a->list[d], b->list[d]);
    for (int l = 0; l < n->n_levels; l++) {
      had[l] *= p->had[l];
      both[l] *= p->both[l];
    }
  }
  for (int l = 0; l < n->n_levels; l++) {
    const double lacked = n->bytes[to] - had[l];
    const double bytes = (l ? larger(lacked, n->unit_bytes[l][to] - both[l]) : lacked) / n->floor.unit[l];
    if (bytes <= 1e-9 * n->bytes[to]) return;
    out[l] = bytes;
  }
}

rs_net_gap rs_net_gap_of(const rs_net *n, int from, int to) {
  const rs_net_state *a = &n->state[from], *b = &n->state[to];
  rs_net_gap g = {.same = from == to, .gone = a->partial & ~(unsigned)b->partial};
  if (from != to) find_lacked(n, a, b, to, g.lacked);
  if (!g.gone) return g;
  g.kept = a->partial & b->partial;
  g.wanted[0] = n->bytes[to];
  for (int l = 1; l < n->n_levels; l++) g.wanted[l] = n->unit_bytes[l][to] / n->floor.unit[l];
  return g;
}

/* --- of one step ------------------------------------------------------------------------------------------------- */

/* The lists of a step together. */
typedef struct outline {
  int level; /* highest one between whose units something crosses; -1: each device has what it shall have */
  int n_longer, n_shorter, n_other; /* dimensions */
  unsigned appended, dropped;       /* sets of atoms */
  int alike[SW_MAX_RANK];           /* atoms that the lists of a dimension, if it has two, both begin with */
} outline;

static void outline_dim(const rs_net *n, const rs_net_list *a, const rs_net_list *b, int alike, outline *out) {
  while (out->level + 1 < n->n_levels && a->visible[out->level + 1] > alike) out->level++;
  if (alike == a->n) {
    out->n_longer++;
    out->appended |= b->set & ~(unsigned)a->set;
  } else if (alike == b->n) {
    out->n_shorter++;
    out->dropped |= a->set & ~(unsigned)b->set;
  } else {
    out->n_other++;
  }
}

static void outline_of(const rs_net *n, const rs_net_state *a, const rs_net_state *b, outline *out) {
  out->level = -1;
  out->n_longer = out->n_shorter = out->n_other = 0;
  out->appended = out->dropped = 0;
  for (int d = 0; d < n->q->space.rank; d++) {
    const rs_net_list *was = &n->list[a->list[d]], *is = &n->list[b->list[d]];
    if (was == is) continue;
    out->alike[d] = rs_net_alike(was, is);
    outline_dim(n, was, is, out->alike[d], out);
  }
}

/* Of an exchange, in which every device gets for itself what it lacks. */
static double exchanged_s(const rs_net *n, const rs_net_state *a, const rs_net_state *b, int to, const outline *o,
                          double scale, double enough) {
  const double latency_s = n->floor.latency_s[o->level];
  double most = 0;
  for (int l = o->level; l >= 0 && latency_s + most < enough; l--) {
    double kept = n->elem;
    for (int d = 0; d < n->q->space.rank; d++) {
      const int was = a->list[d], is = b->list[d];
      kept *= was == is ? n->block[is] : rs_net_kept(n, was, is, o->alike[d], l);
    }
    most = larger(most, least_s(n, l, (n->bytes[to] - kept) * scale, false));
  }
  return latency_s + most;
}

double rs_net_step_least_s(const rs_net *n, int from, int to, double scale, double enough) {
  const rs_net_state *a = &n->state[from], *b = &n->state[to];
  outline o;
  outline_of(n, a, b, &o);
  if (a->partial != b->partial) {
    const unsigned gone = a->partial & ~(unsigned)b->partial;
    const bool scatters = o.n_longer == 1 && o.appended == gone;
    if (o.n_other || o.n_shorter || (o.n_longer && !scatters)) return HUGE_VAL;
    return rs_net_bound_of(n, from, to, scale).any_s;
  }
  if (o.level < 0) return n->floor.step_s;
  if (n->floor.latency_s[o.level] >= enough) return n->floor.latency_s[o.level];
  const bool collective = !o.n_other && (o.dropped == o.appended || (o.n_shorter == 1 && !o.n_longer));
  if (collective) return rs_net_bound_of(n, from, to, scale).any_s;
  return exchanged_s(n, a, b, to, &o, scale, enough);
}

double rs_net_bytes_s(const rs_net *n, double bytes, bool reduces) {
  return bytes > 0 ? n->floor.latency_s[0] + least_s(n, 0, bytes, reduces) : 0;
}
