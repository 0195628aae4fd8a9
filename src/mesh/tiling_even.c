/* Traffic of a direct exchange in closed form, where both ends cut evenly.
 *
 * Lay the refs of a dimension's two ends beside each other, major first: equal sizes face each other. The blocks of a
 * device overlap in full (by the smaller of the two) when facing coordinates are equal in every dimension, else not at
 * all. Facing refs that are the same always are; others are on one device in `size`:
 *
 *   4x4, x=2,y=2   [[x],[y]] -> [[y],[x]]   x faces y twice, the second time to no effect: equal on half of the devices
 *   8,   x=2,y=2   [[x]] -> [[x,y]]         x faces itself, y nothing: all keep what they need
 */
#include "mesh/tiling_dim.h"

enum { MAX_DIGITS = 32 };

/* Digits that face others, and which of them must have equal coordinates. */
typedef struct facing {
  int n;
  sw_axis_ref digit[MAX_DIGITS];
  uint8_t root[MAX_DIGITS]; /* of digits made equal */
  double choices;           /* on one device in so many all are equal */
} facing;

/* The number of a digit; -1 when it cuts into another one. */
static int number_of(facing *f, sw_axis_ref r) {
  for (int i = 0; i < f->n; i++) {
    if (sw_axis_ref_equal(f->digit[i], r)) return i;
    if (sw_axis_ref_overlaps(f->digit[i], r)) return -1;
  }
  if (f->n == MAX_DIGITS) return -1;
  f->digit[f->n] = r;
  f->root[f->n] = (uint8_t)f->n;
  return f->n++;
}

static bool make_equal(facing *f, sw_axis_ref a, sw_axis_ref b) {
  int i = number_of(f, a), k = number_of(f, b);
  if (i < 0 || k < 0) return false;
  uint8_t from = f->root[i], to = f->root[k];
  if (from == to) return true;
  f->choices *= a.size;
  for (int n = 0; n < f->n; n++) {
    if (f->root[n] == from) f->root[n] = to;
  }
  return true;
}

/* Cuts the major `size` off a ref, which it divides. */
static sw_axis_ref take(sw_axis_ref *r, int32_t size) {
  sw_axis_ref head = {r->axis, r->pre, size};
  r->pre *= size;
  r->size /= size;
  return head;
}

/* Refs of one dimension of one end, read from the major side. */
typedef struct side {
  const sw_axis_ref *at, *end;
  sw_axis_ref rest; /* of the ref before `at`; size 1: nothing */
} side;

static side side_of(const sw_tiling *t, int dim) {
  const sw_axis_ref *first = t->refs + t->dim[dim].first_ref;
  return (side){first, first + t->dim[dim].n_refs, {0, 1, 1}};
}

static bool has_more(side *s) {
  while (s->rest.size == 1 && s->at < s->end) s->rest = *s->at++;
  return s->rest.size > 1;
}

static bool face(facing *f, const sw_tiling *src, const sw_tiling *dst, int dim) {
  side a = side_of(src, dim), b = side_of(dst, dim);
  while (has_more(&a) && has_more(&b)) {
    int32_t size = a.rest.size < b.rest.size ? a.rest.size : b.rest.size;
    if (a.rest.size % size != 0 || b.rest.size % size != 0) return false;
    if (!make_equal(f, take(&a.rest, size), take(&b.rest, size))) return false;
  }
  return true;
}

static bool is_even(const sw_tiling *t, int dim) {
  const sw_tile_dim *d = &t->dim[dim];
  return !d->starts && d->base == 0 && d->step == d->len && d->len * sw_tile_shards(t, dim) == d->size;
}

bool sw_tiling_traffic_even(const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, double *max, double *total) {
  facing f = {.choices = 1};
  double need = 1, keep = 1;
  for (int d = 0; d < src->rank; d++) {
    if (!is_even(src, d) || !is_even(dst, d) || !face(&f, src, dst, d)) return false;
    int64_t s = src->dim[d].len, t = dst->dim[d].len;
    need *= (double)t;
    keep *= (double)(s < t ? s : t);
  }
  double devices = (double)sw_mesh_devices(m);
  *max = f.choices > 1 ? need : need - keep;
  *total = devices * need - devices / f.choices * keep;
  return true;
}
