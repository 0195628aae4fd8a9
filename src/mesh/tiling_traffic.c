/* What a direct exchange moves: for each device, the elements of its target window that it does not own already.
 *
 * A device needs a product over dimensions of window lengths and keeps a product of overlaps; both depend on the
 * device only through its two shard indices per dimension, and these are sums of one term per coordinate. Dimensions
 * that share no axis vary independently, so each such part is walked alone, over its own axes:
 *
 *   [[x],[y],[z]] -> [[y],[x],[z]]     parts {dims 0,1; axes x,y} and {dim 2; axis z}
 *
 * Sums multiply. The largest (needed - kept) comes from pairs that no other pair of the part beats in both.
 */
#include <string.h>

#include "mesh/tiling_dim.h"
#include "base/checked.h"

enum { MAX_PAIRS = 24, MAX_RANGES = 256 };

/* One digit of a coordinate that some ref reads, and what a step of it adds to a shard index. */
typedef struct term {
  int8_t dim;
  bool in_dst;
  int64_t below, size; /* digit = coordinate / below % size */
  int64_t weight;
} term;

typedef struct pair {
  double need, keep;
} pair;

typedef struct range {
  int64_t lo, hi;
} range;

/* Dimensions that vary together, with the axes that they vary over. */
typedef struct part {
  const sw_mesh *m;
  const sw_tiling *src, *dst;
  bool merged; /* all dimensions in one part: the largest difference itself is kept */
  int n_dims, n_axes, n_terms;
  int8_t dim[SW_MAX_RANK];
  int8_t axis[SW_MAX_AXES];
  int first_term[SW_MAX_AXES + 1];
  term term[2 * SW_MAX_REFS];
  int64_t n_src[SW_MAX_RANK], i[SW_MAX_RANK], j[SW_MAX_RANK];
  double need, keep, max; /* sums over the part's devices; the largest difference */
  int n_pairs;
  pair pair[MAX_PAIRS];
  bool overflow;
  int n_ranges;
  const range *shown[SW_MAX_RANK], *owned[SW_MAX_RANK]; /* by shard; NULL: too many to note */
  range range[MAX_RANGES];
} part;

static void add_terms(part *p, const sw_tiling *t, bool in_dst, int axis) {
  for (int k = 0; k < p->n_dims; k++) {
    const sw_tile_dim *td = &t->dim[p->dim[k]];
    int64_t weight = 1;
    for (int r = td->n_refs - 1; r >= 0; r--) {
      sw_axis_ref ref = t->refs[td->first_ref + r];
      if (ref.axis == axis) {
        int64_t below = p->m->axis[axis].size / ((int64_t)ref.pre * ref.size);
        p->term[p->n_terms++] = (term){p->dim[k], in_dst, below, ref.size, weight};
      }
      weight *= ref.size;
    }
  }
}

/* A pair that another of the list beats (needs no less, keeps no more) cannot be the largest of any product. */
static void add_pair(part *p, double need, double keep) {
  int kept = 0;
  for (int i = 0; i < p->n_pairs; i++) {
    if (p->pair[i].need >= need && p->pair[i].keep <= keep) return;
  }
  for (int i = 0; i < p->n_pairs; i++) {
    if (p->pair[i].need > need || p->pair[i].keep < keep) p->pair[kept++] = p->pair[i];
  }
  p->overflow = p->overflow || kept == MAX_PAIRS;
  p->n_pairs = kept < MAX_PAIRS ? kept + 1 : kept;
  p->pair[p->n_pairs - 1] = (pair){need, keep};
}

static range shown_by(const part *p, int dim, int64_t shard) {
  range r;
  sw_tile_shown(&p->dst->dim[dim], shard, &r.lo, &r.hi);
  return r;
}

static range owned_by(const part *p, int dim, int64_t shard) {
  range r;
  sw_tile_owned(&p->src->dim[dim], p->n_src[dim], shard, &r.lo, &r.hi);
  return r;
}

/* Devices are many, shards are few: what each shows or owns is noted first. */
static const range *note_ranges(part *p, range (*of)(const part *p, int dim, int64_t shard), int dim, int64_t n) {
  if (n > MAX_RANGES - p->n_ranges) return NULL;
  range *noted = &p->range[p->n_ranges];
  for (int64_t i = 0; i < n; i++) noted[i] = of(p, dim, i);
  p->n_ranges += (int)n;
  return noted;
}

static void visit(part *p) {
  double need = 1, keep = 1;
  for (int k = 0; k < p->n_dims; k++) {
    const int d = p->dim[k];
    const range w = p->shown[d] ? p->shown[d][p->j[d]] : shown_by(p, d, p->j[d]);
    const range own = p->owned[d] ? p->owned[d][p->i[d]] : owned_by(p, d, p->i[d]);
    need *= (double)(w.hi - w.lo);
    keep *= (double)sw_max_i64(0, sw_min_i64(w.hi, own.hi) - sw_max_i64(w.lo, own.lo));
  }
  p->need += need;
  p->keep += keep;
  if (p->merged && need - keep > p->max) p->max = need - keep;
  if (!p->merged) add_pair(p, need, keep);
}

/* What the coordinate's step from c - 1 to c adds to a term's digit. Axes are mostly whole: no division then. */
static int64_t digit_step(const term *t, int64_t axis_size, int64_t c) {
  if (c == 0) return 0;
  if (t->size == axis_size) return 1;
  return c / t->below % t->size - (c - 1) / t->below % t->size;
}

static void walk(part *p, int level) {
  if (level == p->n_axes) {
    visit(p);
    return;
  }
  int64_t size = p->m->axis[p->axis[level]].size;
  for (int64_t c = 0; c < size; c++) {
    for (int k = p->first_term[level]; k < p->first_term[level + 1]; k++) {
      const term *t = &p->term[k];
      (t->in_dst ? p->j : p->i)[t->dim] += digit_step(t, size, c) * t->weight;
    }
    walk(p, level + 1);
  }
  for (int k = p->first_term[level]; k < p->first_term[level + 1]; k++) {
    const term *t = &p->term[k];
    int64_t last = t->size == size ? size - 1 : (size - 1) / t->below % t->size;
    (t->in_dst ? p->j : p->i)[t->dim] -= last * t->weight;
  }
}

static unsigned axes_of(const sw_tiling *t, int dim) {
  unsigned axes = 0;
  for (int i = 0; i < t->dim[dim].n_refs; i++) axes |= 1u << t->refs[t->dim[dim].first_ref + i].axis;
  return axes;
}

/* Walk the part that a set of dimensions makes. */
static void walk_part(part *p, const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, unsigned dims,
                      unsigned axes, bool merged) {
  p->m = m;
  p->src = src;
  p->dst = dst;
  p->merged = merged;
  p->n_dims = p->n_axes = p->n_terms = p->n_pairs = 0;
  p->need = p->keep = p->max = 0;
  p->overflow = false;
  p->n_ranges = 0;
  for (int d = 0; d < src->rank; d++) {
    if (!(dims >> d & 1u)) continue;
    p->dim[p->n_dims++] = (int8_t)d;
    p->n_src[d] = sw_tile_shards(src, d);
    p->i[d] = p->j[d] = 0;
    p->shown[d] = note_ranges(p, shown_by, d, sw_tile_shards(dst, d));
    p->owned[d] = note_ranges(p, owned_by, d, p->n_src[d]);
  }
  for (int a = 0; a < m->n_axes; a++) {
    if (!(axes >> a & 1u)) continue;
    p->first_term[p->n_axes] = p->n_terms;
    p->axis[p->n_axes++] = (int8_t)a;
    add_terms(p, src, false, a);
    add_terms(p, dst, true, a);
  }
  p->first_term[p->n_axes] = p->n_terms;
  walk(p, 0);
}

typedef struct product {
  double need, keep;
  int n;
  pair pair[MAX_PAIRS * MAX_PAIRS];
} product;

/* Multiply what was found so far by one more part; false when there are too many pairs. */
static bool multiply(product *w, const part *p) {
  pair old[MAX_PAIRS];
  if (p->overflow || w->n > MAX_PAIRS) return false;
  int n = w->n;
  memcpy(old, w->pair, (size_t)n * sizeof old[0]);
  w->need *= p->need;
  w->keep *= p->keep;
  w->n = 0;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < p->n_pairs; k++) {
      w->pair[w->n++] = (pair){old[i].need * p->pair[k].need, old[i].keep * p->pair[k].keep};
    }
  }
  return true;
}

/* The dimensions that share axes with `dim`, directly or through others. */
static unsigned connected(const unsigned *axes, int rank, int dim, unsigned *all_axes) {
  unsigned dims = 1u << dim, grown = axes[dim];
  for (bool more = true; more;) {
    more = false;
    for (int d = 0; d < rank; d++) {
      if ((dims >> d & 1u) || !(axes[d] & grown)) continue;
      dims |= 1u << d;
      grown |= axes[d];
      more = true;
    }
  }
  *all_axes = grown;
  return dims;
}

/* Device by device: refs of two meshes share no digits to walk over. */
static void traffic_between_meshes(const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, double *max,
                                   double *total) {
  part p = {.src = src, .dst = dst, .merged = true, .n_dims = src->rank};
  for (int d = 0; d < src->rank; d++) {
    p.dim[d] = (int8_t)d;
    p.n_src[d] = sw_tile_shards(src, d);
  }
  for (int64_t device = 0; device < sw_mesh_devices(m); device++) {
    for (int d = 0; d < src->rank; d++) {
      p.i[d] = sw_tiling_shard(m, src, d, device);
      p.j[d] = sw_tiling_shard(m, dst, d, device);
    }
    visit(&p);
  }
  *max = p.max;
  *total = p.need - p.keep;
}

void sw_tiling_traffic(const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, double *max, double *total) {
  unsigned axes[SW_MAX_RANK], used = 0, done = 0;
  if (dst->other) {
    traffic_between_meshes(m, src, dst, max, total);
    return;
  }
  if (sw_tiling_traffic_even(m, src, dst, max, total)) return;
  product w;
  w.need = w.keep = w.n = 1;
  w.pair[0] = (pair){1, 1};
  part p;
  bool exact = true;
  for (int d = 0; d < src->rank; d++) used |= axes[d] = axes_of(src, d) | axes_of(dst, d);
  for (int d = 0; d < src->rank && exact; d++) {
    unsigned part_axes;
    if (done >> d & 1u) continue;
    unsigned dims = connected(axes, src->rank, d, &part_axes);
    done |= dims;
    walk_part(&p, m, src, dst, dims, part_axes, false);
    exact = multiply(&w, &p);
  }
  *max = 0;
  for (int i = 0; i < w.n; i++) {
    double receive = w.pair[i].need - w.pair[i].keep;
    if (receive > *max) *max = receive;
  }
  if (!exact) { /* many different shapes: device by device */
    walk_part(&p, m, src, dst, (1u << src->rank) - 1, used, true);
    *max = p.max;
    w.need = p.need;
    w.keep = p.keep;
  }
  double copies = 1;
  for (int a = 0; a < m->n_axes; a++) copies *= used >> a & 1u ? 1 : (double)m->axis[a].size;
  *total = (w.need - w.keep) * copies;
}
