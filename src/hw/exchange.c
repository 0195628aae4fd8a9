/* The price of a direct exchange between two tilings: every device fetches what it lacks from whoever has it.
 *
 * Level by level the bytes that the busiest device must receive from outside its unit of that level are the traffic
 * from a coarser source: with the minor refs that stay inside a unit dropped, a source block is what the unit's devices
 * hold together. Mesh node=2,dev=4, rows over [node,dev] -> replicated, 1024 rows:
 *
 *   lacked in all  896 rows       source over [node] only: lacked  512 rows, these cross nodes; 384 stay inside
 *
 * The constants are those of all_to_all (permute when each device has one peer), plus a little per peer, so that an
 * exchange is not chosen over the collective that does the same.
 */
#include <math.h>

#include "hw/knots.h"
#include "hw/machine.h"
#include "base/checked.h"

/* Refs of the two tilings along the dimensions that change; overlapping ones are joined, to the whole axis where their
 * digits cut into each other. Between two meshes all axes. */
typedef struct ref_set {
  int n;
  sw_axis_ref ref[2 * SW_MAX_REFS];
} ref_set;

static sw_axis_ref joined(const sw_machine *m, sw_axis_ref x, sw_axis_ref y) {
  const int64_t x_end = (int64_t)x.pre * x.size, y_end = (int64_t)y.pre * y.size;
  int64_t at[4] = {sw_min_i64(x.pre, y.pre), sw_max_i64(x.pre, y.pre), sw_min_i64(x_end, y_end),
                   sw_max_i64(x_end, y_end)};
  if (at[1] % at[0] || at[2] % at[1] || at[3] % at[2]) return sw_axis_whole(&m->mesh, x.axis);
  return (sw_axis_ref){x.axis, (int32_t)at[0], (int32_t)(at[3] / at[0])};
}

static void add_ref(const sw_machine *m, ref_set *s, sw_axis_ref r) {
  for (int i = 0; i < s->n;) {
    if (sw_axis_ref_equal(s->ref[i], r)) return;
    if (!sw_axis_ref_overlaps(s->ref[i], r)) {
      i++;
      continue;
    }
    r = joined(m, s->ref[i], r);
    s->ref[i] = s->ref[--s->n];
    i = 0;
  }
  s->ref[s->n++] = r;
}

static bool tile_dims_equal(const sw_tiling *a, const sw_tiling *b, int d) {
  const sw_tile_dim *x = &a->dim[d], *y = &b->dim[d];
  if (x->base != y->base || x->len != y->len || x->step != y->step || x->starts != y->starts) return false;
  return sw_axis_refs_equal(a->refs + x->first_ref, x->n_refs, b->refs + y->first_ref, y->n_refs);
}

/* Refs of a dimension from some digit on. */
typedef struct ref_rest {
  sw_axis_ref head;
  const sw_axis_ref *next, *end;
} ref_rest;

static ref_rest rest_of(const sw_tiling *t, int d) {
  const sw_axis_ref *refs = t->refs + t->dim[d].first_ref;
  const sw_axis_ref none = {0, 1, 1};
  int n = t->dim[d].n_refs;
  return (ref_rest){n ? refs[0] : none, refs + (n > 0), refs + n};
}

static void drop_digit(ref_rest *r, int32_t size) {
  r->head.pre *= size;
  r->head.size /= size;
  if (r->head.size == 1 && r->next < r->end) r->head = *r->next++;
}

/* Leading digits by which both cut a dimension into the same blocks (ceil within ceil may differ: 6 over 2 x 4 and over
 * 2): devices do not talk across them. */
static void drop_common(const sw_tiling *a, const sw_tiling *b, int d, ref_rest *p, ref_rest *q) {
  const sw_tile_dim *x = &a->dim[d], *y = &b->dim[d];
  if (x->starts || y->starts || x->base || y->base || x->step != x->len || y->step != y->len) return;
  const int64_t shards_x = sw_axis_refs_size(a->refs + x->first_ref, x->n_refs),
                shards_y = sw_axis_refs_size(b->refs + y->first_ref, y->n_refs);
  if (x->len * shards_x != y->len * shards_y) return;
  while (p->head.size > 1 && q->head.size > 1 && p->head.axis == q->head.axis && p->head.pre == q->head.pre) {
    int32_t less = p->head.size < q->head.size ? p->head.size : q->head.size;
    if (p->head.size % less || q->head.size % less) return;
    drop_digit(p, less);
    drop_digit(q, less);
  }
}

static void add_rest(const sw_machine *m, ref_set *s, ref_rest r) {
  if (r.head.size > 1) add_ref(m, s, r.head);
  while (r.next < r.end) add_ref(m, s, *r.next++);
}

/* Do windows show what others own? Then even a tiling that stays as it is must be fetched: its halos are stale. */
static bool has_halos(const sw_tile_dim *t) {
  return !t->starts && t->n_refs > 0 && t->len > (t->step < 0 ? -t->step : t->step);
}

static void changed_refs(const sw_machine *m, const sw_tiling *src, const sw_tiling *dst, ref_set *out) {
  out->n = 0;
  for (int a = 0; dst->other && a < m->mesh.n_axes; a++) add_ref(m, out, sw_axis_whole(&m->mesh, a));
  for (int d = 0; d < src->rank && !dst->other; d++) {
    if (tile_dims_equal(src, dst, d) && !has_halos(&dst->dim[d])) continue;
    ref_rest p = rest_of(src, d), q = rest_of(dst, d);
    drop_common(src, dst, d, &p, &q);
    add_rest(m, out, p);
    add_rest(m, out, q);
  }
}

/* Source blocks that one window of the destination touches along a dimension. */
static double touched(const sw_tile_dim *s, const sw_tile_dim *t, int64_t shards) {
  if (shards == 1) return 1;
  if (s->starts || t->starts || s->step <= 0) return (double)shards;
  bool aligned = (t->base - s->base) % s->step == 0 && (t->step % s->step == 0 || t->n_refs == 0);
  bool inside = t->len <= s->step && s->step % t->len == 0 && (t->base - s->base) % t->len == 0 &&
                (t->step % t->len == 0 || t->n_refs == 0);
  if (inside) return 1;
  int64_t blocks = sw_ceil_div(t->len, s->step) + !aligned;
  return (double)sw_min_i64(blocks, shards);
}

/* Senders that a device has: blocks its window touches, without its own, and no more than the group has members. */
static double peer_count(const sw_tiling *src, const sw_tiling *dst, int64_t group) {
  double blocks = 1;
  for (int d = 0; d < src->rank; d++) {
    const sw_tile_dim *s = &src->dim[d];
    int64_t shards = sw_axis_refs_size(src->refs + s->first_ref, s->n_refs);
    blocks *= touched(s, &dst->dim[d], shards);
  }
  double peers = fmin(blocks > 1 ? blocks - 1 : 1, (double)(group - 1));
  return fmax(peers, 1);
}

/* What the devices of one unit (levels below `level`) hold together. */
static void coarsen(const sw_machine *m, const sw_tiling *t, int level, sw_tiling *out) {
  *out = *t;
  for (int d = 0; d < t->rank; d++) {
    sw_tile_dim *dim = &out->dim[d];
    if (dim->starts || dim->step < 0) continue;
    while (dim->n_refs) {
      sw_axis_ref *r = &out->refs[dim->first_ref + dim->n_refs - 1];
      int64_t inside = sw_axis_ref_inside(m, *r, level);
      dim->len += (inside - 1) * dim->step;
      dim->step *= inside;
      r->size /= (int32_t)inside;
      if (r->size > 1) break;
      dim->n_refs--;
    }
  }
}

/* Bytes that the busiest device must get from outside its unit of `level`; at most `all_bytes`, which is what it must
 * get from any other device. */
static double outside_bytes(const sw_machine *m, const sw_tiling *src, const sw_tiling *dst, int level,
                            double all_bytes, double elem_bytes) {
  sw_tiling unit;
  coarsen(m, src, level, &unit);
  if (sw_tiling_equal(src, &unit)) return all_bytes;
  double max, total;
  sw_tiling_traffic(&m->mesh, &unit, dst, &max, &total);
  return fmin(max * elem_bytes, all_bytes);
}

/* Bytes over the busiest link per byte that a device receives from others on this part's level. */
static double received_share(const sw_machine *m, const sw_group_part *p, double peers) {
  switch (m->profile->level[p->level].kind) {
    case SW_TOPOLOGY_FULL_MESH:
      return 1 / fmin(peers, (double)(p->n - 1));
    case SW_TOPOLOGY_TORUS:
      return p->spread * (double)p->n / (double)(p->n - 1);
    case SW_TOPOLOGY_SWITCH:
    case SW_TOPOLOGY_COUNT:
      break;
  }
  return 1;
}

static double buffer_elems(const sw_tiling *t) {
  double n = 1;
  for (int d = 0; d < t->rank; d++) n *= (double)t->dim[d].len;
  return n;
}

/* Adds to the curve what one part costs that carries so many bytes. */
static void add_part(const sw_machine *m, const sw_group_part *p, double bytes, double peers, bool permutes, int i,
                     sw_curve *out) {
  const sw_profile *profile = m->profile;
  const bool rounds = m->lowering.rounds;
  bool pairs = (permutes || rounds) && profile->level[p->level].kind != SW_TOPOLOGY_TORUS;
  const sw_cost_line *line = &profile->level[p->level].line[pairs ? SW_COST_PERMUTE : SW_COST_ALL_TO_ALL];
  double here = fmin(peers, (double)(p->n - 1));
  double busy = bytes * received_share(m, p, here);
  double steps = profile->level[p->level].kind == SW_TOPOLOGY_TORUS ? p->steps : here;
  double slope = line->s_per_byte + line->pair_s_per_byte / here;
  out->ramp[i] = line->ramp_s_per_sqrt_byte * sqrt(busy) * m->share;
  out->slope[i] = slope * busy * m->share;
  double begins_s = line->base_s + line->peer_s * steps;
  if (rounds) begins_s = fmax(begins_s, line->base_s * here);
  sw_curve_add_knots(out, i, line->knots, here + 1, busy, begins_s * m->share);
}

static double one_exchange_s(const sw_machine *m, const sw_group *group, const sw_exchange_load *load) {
  const sw_group_shape *g = &group->shape;
  bool permutes = load->peers <= 1 && load->bytes >= load->buffer_bytes; /* nobody keeps a part of its own */
  double left = load->bytes;
  sw_curve curve = {.n_parts = g->n_parts, .latency_s = m->profile->exchange_peer_s * load->peers * m->share};
  for (int i = g->n_parts - 1; i >= 0; i--) {
    double outside = i > 0 && !m->order ? fmin(left, load->outside_bytes[g->part[i].level]) : left;
    if (!m->order) left -= outside;
    curve.serial[i] = group->line[0].serial[i];
    if (outside > 0) add_part(m, &g->part[i], outside, load->peers, permutes, i, &curve);
  }
  return sw_group_weight(m, g) * sw_curve_s(&curve, 1, 1);
}

double sw_group_exchange_s(const sw_machine *m, const sw_group *group, const sw_exchange_load *load) {
  double worst = 0;
  for (; group; group = group->next) worst = fmax(worst, one_exchange_s(m, group, load));
  return worst;
}

double sw_machine_exchange_s(const sw_machine *m, const sw_tiling *src, const sw_tiling *dst, int elem_bytes) {
  bool stays = sw_tiling_equal(src, dst);
  for (int d = 0; d < dst->rank && stays; d++) stays = !has_halos(&dst->dim[d]);
  if (stays) return 0;
  double max, total, elem = elem_bytes, buffer = buffer_elems(dst) * elem;
  sw_tiling_traffic(&m->mesh, src, dst, &max, &total);
  ref_set refs;
  sw_group g;
  changed_refs(m, src, dst, &refs);
  sw_machine_group(m, refs.ref, refs.n, &g);
  if (max <= 0 || g.shape.n_parts == 0) return sw_machine_collective_s(m, SW_COLL_ALL_SLICE, NULL, 0, buffer);
  sw_exchange_load load = {.bytes = max * elem, .peers = peer_count(src, dst, g.shape.size), .buffer_bytes = buffer};
  for (int i = 1; i < g.shape.n_parts && !m->order; i++) {
    int level = g.shape.part[i].level;
    load.outside_bytes[level] = outside_bytes(m, src, dst, level, load.bytes, elem);
  }
  return sw_group_exchange_s(m, &g, &load);
}

int sw_machine_exchange_level(const sw_machine *m, const sw_tiling *src, const sw_tiling *dst) {
  ref_set refs;
  changed_refs(m, src, dst, &refs);
  return sw_machine_level(m, refs.ref, refs.n);
}
