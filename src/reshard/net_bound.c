/* What no path between two states can do better than.
 *
 * A device lacks some bytes of its new block; they come over the fastest links at best, and at least one step pays a
 * latency. What a whole unit lacks of what its devices shall have comes over the slower links between units, evenly
 * shared at best. Each step's price holds for what it brings, and a path brings at least what is lacked, so this is a
 * bound on paths, not only on steps (docs/resharding.md, "Search").
 *
 * It holds whatever is partial: what a device has a part of it may be taken to have whole, and what it is to have a
 * part of, the devices that it makes parts with must have together. To reduce an element over p devices takes p-1
 * words on top of those that bring it to devices which had no part of it. Or else: as many words, and every device
 * hears at least its whole block.
 */
#include <math.h>

#include "reshard/net.h"

static inline double larger(double a, double b) { return a > b ? a : b; }

/* The least time for bytes that cross between units of a level. Lines are concave, and so is the least of them: bytes
 * that come in several steps take no less. */
static double least_s(const rs_net *n, int level, double bytes, bool reduces) {
  const struct rs_net_lines *lines = &n->floor.lines[level];
  const double root = sqrt(bytes);
  double least = HUGE_VAL;
  for (int i = 0, k = reduces ? lines->n : lines->n_plain; i < k; i++) {
    const double s = lines->line[i].ramp_s * root + lines->line[i].slope_s * bytes;
    if (s < least) least = s;
  }
  return least;
}

/* Reducing over p units of a level, each element takes p-1 words, in each of the units that hold parts which stay; or
 * those parts are reduced, too, in as many words and more. */
static double reducing_bytes(const rs_net *n, int level, unsigned gone, unsigned kept) {
  return n->whole_bytes / n->devices * (n->units[level][gone] - 1) * n->units[level][kept];
}

/* What a path takes whatever the size, and on top of it. */
typedef struct effort {
  double latency_s, work_s;
} effort;

/* Of a path that reduces all that is partial: what devices must hear of it, by whatever steps. One word more for every
 * further unit that wants an element, where `wanted` is no less than the devices' share of what each is to have. */
static effort reduced(const rs_net *n, const rs_net_gap *g, double scale) {
  const double once = n->whole_bytes / n->devices;
  effort e = {n->floor.latency_s[0], least_s(n, 0, g->wanted[0] * scale, true)};
  for (int l = 0; l < n->n_levels; l++) {
    if (n->units[l][g->gone] <= 1) continue;
    const double bytes = reducing_bytes(n, l, g->gone, 0) + larger(0, g->wanted[l] - once);
    e.latency_s = larger(e.latency_s, n->floor.latency_s[l]);
    e.work_s = larger(e.work_s, least_s(n, l, bytes * scale, true));
  }
  if (g->made) e.latency_s += n->floor.copy_s;
  return e;
}

/* Of one that reduces `gone`, moves what is lacked, and maybe makes parts. Reductions move, too, once pieces were made
 * parts; that alone takes the latency of a move, and may make all parts that there are to be. */
static effort moved(const rs_net *n, unsigned gone, unsigned kept, const double *lacked, bool makes, double scale) {
  const double copy_s = makes ? n->floor.copy_s : 0;
  double reduces = gone ? n->floor.latency_s[0] : 0, moves = 0, work = 0;
  for (int l = 0; l < n->n_levels && (gone || lacked[l] > 0); l++) {
    double bytes = lacked[l];
    if (bytes > 0) moves = larger(moves, n->floor.latency_s[l]);
    if (n->units[l][gone] > 1) {
      reduces = larger(reduces, n->floor.latency_s[l]);
      bytes += reducing_bytes(n, l, gone, kept);
    }
    if (bytes > 0) work = larger(work, least_s(n, l, bytes * scale, n->partial));
  }
  return (effort){gone ? reduces + larger(moves, copy_s) : moves + copy_s, work};
}

/* Of one that makes parts, too, of so many bytes on a device. That moves nothing, so it comes on top of what does; but
 * smaller parts may be made, and the rest be gathered. */
static double made_s(const rs_net *n, double parts, effort e) {
  const rs_net_floor *f = &n->floor;
  const double gathered = e.work_s > 0 ? e.work_s / f->together.slope_s : 0; /* at most, while the rest goes on */
  const double rest = parts - gathered;
  if (rest <= 0) return e.latency_s + e.work_s;
  const double made = e.work_s + rest * f->copied_s, gathered_s = larger(e.work_s, least_s(n, 0, parts, true));
  return e.latency_s + (made < gathered_s ? made : gathered_s);
}

/* Of one that reduces some of what stays partial, too, and makes it partial again. */
static double again_s(const rs_net *n, const rs_net_gap *g, double scale) {
  double least = HUGE_VAL;
  for (unsigned rest = g->kept; rest; rest &= rest - 1) {
    const double s = made_s(n, g->parts * scale, moved(n, g->gone | (rest & -rest), 0, g->again, true, scale));
    if (s < least) least = s;
  }
  return least;
}

static double direct_s(const rs_net *n, const rs_net_gap *g, effort e, double scale) {
  return g->made ? made_s(n, g->parts * scale, e) : e.latency_s + e.work_s;
}

rs_net_bound rs_net_gap_bound(const rs_net *n, const rs_net_gap *g, double scale) {
  const double step_s = n->floor.step_s;
  if (g->same) return (rs_net_bound){0, 2 * step_s};
  double least = direct_s(n, g, moved(n, g->gone, g->kept, g->lacked, g->made != 0, scale), scale);
  if (g->gone && !g->kept) least = larger(least, direct_s(n, g, reduced(n, g, scale), scale));
  least = larger(least, step_s);
  const bool several = (g->gone != 0) + (g->lacked[0] > 0) + (g->made != 0) > 1; /* steps are counted already */
  const rs_net_bound direct = {least, several ? least : least + step_s};
  if (!g->kept) return direct;
  const double again = larger(step_s, again_s(n, g, scale));
  return (rs_net_bound){fmin(direct.any_s, again), fmin(direct.longer_s, again)};
}

/* Times what a dimension adds to what devices had that make parts over `made` together. */
static void add_had(const rs_net *n, int from, int to, unsigned made, double *had, double *both) {
  const rs_net_pair *p = rs_net_pair_of(n, from, to);
  const bool shared = made & n->list[from].set; /* else each had what one device had */
  const int alike = shared ? rs_net_alike(&n->list[from], &n->list[to]) : 0;
  for (int l = 0; l < n->n_levels; l++) {
    had[l] *= shared ? rs_net_had(n, from, to, alike, made, l) : p->had[l];
    if (l) both[l] *= shared ? rs_net_both_had(n, from, to, made, l) : p->both[l];
  }
}

/* Bytes that a device lacks of what crosses between units of each level; in the mean of those that make parts over
 * `made` together. */
static void find_lacked(const rs_net *n, const rs_net_state *a, int to, unsigned made, double *out) {
  const rs_net_state *b = &n->state[to];
  double had[SW_MAX_LEVELS], both[SW_MAX_LEVELS];
  for (int l = 0; l < n->n_levels; l++) had[l] = both[l] = n->elem;
  for (int d = 0; d < n->q->space.rank; d++) add_had(n, a->list[d], b->list[d], made, had, both);
  for (int l = 0; l < n->n_levels; l++) {
    const double lacked = n->bytes[to] - had[l], units = n->floor.unit[l] * n->units[l][made];
    const double bytes = (l ? larger(lacked, n->unit_bytes[l][to] - both[l]) : lacked) / units;
    if (bytes <= 1e-9 * n->bytes[to]) return;
    out[l] = bytes;
  }
}

rs_net_gap rs_net_gap_of(const rs_net *n, int from, int to) {
  const rs_net_state *a = &n->state[from], *b = &n->state[to];
  const unsigned made = b->partial & ~(unsigned)a->partial;
  rs_net_gap g = {.same = from == to,
                  .gone = a->partial & ~(unsigned)b->partial,
                  .kept = a->partial & b->partial,
                  .made = made,
                  .parts = b->partial ? n->bytes[to] : 0};
  if (from != to) find_lacked(n, a, to, made, g.lacked);
  if (from != to && g.kept) find_lacked(n, a, to, b->partial, g.again);
  if (!g.gone) return g;
  g.wanted[0] = n->bytes[to] / n->units[0][made];
  for (int l = 1; l < n->n_levels; l++) g.wanted[l] = n->unit_bytes[l][to] / (n->floor.unit[l] * n->units[l][made]);
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
    const unsigned gone = a->partial & ~(unsigned)b->partial, made = b->partial & ~(unsigned)a->partial;
    const bool may = o.n_longer    ? o.n_longer == 1 && o.appended == gone && !o.n_shorter
                     : o.n_shorter ? o.dropped == made
                                   : true;
    if (o.n_other || !may) return HUGE_VAL;
    return rs_net_bound_of(n, from, to, scale).any_s;
  }
  if (o.level < 0) return n->floor.step_s;
  if (n->floor.latency_s[o.level] >= enough) return n->floor.latency_s[o.level];
  const bool collective = !o.n_other && (o.dropped == o.appended || (o.n_shorter == 1 && !o.n_longer));
  if (collective) return rs_net_bound_of(n, from, to, scale).any_s;
  return exchanged_s(n, a, b, to, &o, scale, enough);
}

double rs_net_bytes_s(const rs_net *n, double bytes) {
  const struct rs_net_line *line = &n->floor.together;
  return bytes > 0 ? n->floor.latency_s[0] + line->ramp_s * sqrt(bytes) + line->slope_s * bytes : 0;
}
