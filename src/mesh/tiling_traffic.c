/* What a direct exchange moves: for each device, the elements of its target window that it does not own already.
 *
 * A device needs a product over dimensions of window lengths and keeps a product of overlaps; both depend on the
 * device only through its two shard indices per dimension, and these are sums of one term per coordinate. So the
 * devices are walked axis by axis, carrying the indices along; axes that neither side cuts by only multiply.
 */
#include <string.h>

#include "mesh/refs.h"
#include "mesh/tiling.h"
#include "shardwright/checked.h"

/* One digit of the device number that some ref reads, and what a step of it adds to the shard indices. */
typedef struct sw_walk_term {
  int8_t dim;
  bool in_dst;
  int64_t pre, size; /* coordinate's digit: value / pre % size */
  int64_t weight;    /* of that digit in the shard index */
} sw_walk_term;

typedef struct sw_walk {
  const sw_mesh *m;
  const sw_tiling *src, *dst;
  int n_axes;
  int axis[SW_MAX_AXES];
  int first_term[SW_MAX_AXES + 1];
  sw_walk_term term[2 * SW_MAX_REFS];
  int64_t n_src[SW_MAX_RANK];
  int64_t i[SW_MAX_RANK], j[SW_MAX_RANK];
  double copies; /* devices that each visited one stands for */
  double max, total;
} sw_walk;

static void add_terms(sw_walk *w, const sw_tiling *t, bool is_dst, int axis, int *n) {
  for (int d = 0; d < t->rank; d++) {
    int64_t weight = sw_tile_shards(t, d);
    for (int k = 0; k < t->dim[d].n_refs; k++) {
      sw_axis_ref r = t->refs[t->dim[d].first_ref + k];
      weight /= r.size;
      if (r.axis != axis) continue;
      int64_t below = w->m->axis[axis].size / ((int64_t)r.pre * r.size);
      w->term[(*n)++] = (sw_walk_term){(int8_t)d, is_dst, below, r.size, weight};
    }
  }
}

static void init_walk(sw_walk *w, const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst) {
  *w = (sw_walk){.m = m, .src = src, .dst = dst, .copies = 1};
  int n = 0;
  for (int a = 0; a < m->n_axes; a++) {
    int before = n;
    add_terms(w, src, false, a, &n);
    add_terms(w, dst, true, a, &n);
    if (n == before) {
      w->copies *= (double)m->axis[a].size;
      continue;
    }
    w->axis[w->n_axes] = a;
    w->first_term[w->n_axes++] = before;
  }
  w->first_term[w->n_axes] = n;
  for (int d = 0; d < src->rank; d++) w->n_src[d] = sw_tile_shards(src, d);
}

static void visit_device(sw_walk *w) {
  double need = 1, keep = 1;
  for (int d = 0; d < w->src->rank; d++) {
    int64_t lo, hi, own_lo, own_hi;
    sw_tile_shown(&w->dst->dim[d], w->j[d], &lo, &hi);
    sw_tile_owned(&w->src->dim[d], w->n_src[d], w->i[d], &own_lo, &own_hi);
    need *= (double)(hi - lo);
    keep *= (double)sw_max_i64(0, sw_min_i64(hi, own_hi) - sw_max_i64(lo, own_lo));
  }
  double receive = need - keep;
  w->total += receive * w->copies;
  if (receive > w->max) w->max = receive;
}

static void walk_axis(sw_walk *w, int level) {
  if (level == w->n_axes) {
    visit_device(w);
    return;
  }
  int64_t saved_i[SW_MAX_RANK], saved_j[SW_MAX_RANK];
  size_t bytes = (size_t)w->src->rank * sizeof w->i[0];
  memcpy(saved_i, w->i, bytes);
  memcpy(saved_j, w->j, bytes);
  for (int64_t c = 0; c < w->m->axis[w->axis[level]].size; c++) {
    for (int k = w->first_term[level]; k < w->first_term[level + 1]; k++) {
      const sw_walk_term *t = &w->term[k];
      int64_t digit = c / t->pre % t->size;
      (t->in_dst ? w->j : w->i)[t->dim] += digit * t->weight;
    }
    walk_axis(w, level + 1);
    memcpy(w->i, saved_i, bytes);
    memcpy(w->j, saved_j, bytes);
  }
}

void sw_tiling_traffic(const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, double *max, double *total) {
  sw_walk w;
  init_walk(&w, m, src, dst);
  walk_axis(&w, 0);
  *max = w.max;
  *total = w.total;
}
