/* Groups of a device order that mixes axes, so that groups along one axis do not lie alike. Mesh a=2,b=3 with the ids
 * 0,1,2,3,5,4 on two nodes of four devices:
 *
 *   along b  {0,1,2} in a node, {3,5,4} one in this node and two in the next        along a  {0,3} {1,5} {2,4}
 *
 * Every group is looked at with all its devices: per level its members, and of unequal ones the worst. Groups whose
 * price never passes that of another are dropped; of the few that are left the dearest counts at each size.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hw/knots.h"
#include "hw/machine.h"
#include "base/lists.h"

typedef struct known {
  struct known *next;
  int n_refs;
  sw_axis_ref refs[SW_MAX_REFS];
  sw_group worst[SW_MAX_WORST];
} known;

struct sw_order {
  int64_t unit[SW_MAX_LEVELS + 1]; /* devices of a member of each level; the last: of the network */
  int first_dim[SW_MAX_LEVELS + 1];
  _Atomic(known *) known;
};

/* --- one group --------------------------------------------------------------------------------------------------- */

/* Where along a dimension of a torus the members are: how many places, and the shortest stretch that has all of
 * them. */
typedef struct places {
  int64_t n, stretch;
} places;

static int64_t coordinate_in_dim(const net_dim *dim, int64_t id) { return id / dim->stride % dim->size; }

static places places_along(const net_dim *dim, const int32_t *ids, int64_t n) {
  int64_t first = -1, last = -1, gap = 0;
  places out = {0};
  for (int64_t at = 0; at < dim->size; at++) {
    bool here = false;
    for (int64_t i = 0; i < n && !here; i++) here = coordinate_in_dim(dim, ids[i]) == at;
    if (!here) continue;
    if (first < 0) first = at;
    if (last >= 0 && at - last > gap) gap = at - last;
    last = at;
    out.n++;
  }
  const int64_t around = first + dim->size - last;
  out.stretch = last - first + 1;
  if (dim->wrap && gap > around) out.stretch = dim->size - gap + 1;
  return out;
}

/* On a torus members have the smallest box of places that holds them, and share it with other groups when they do not
 * fill it. */
static void add_torus(const sw_machine *m, int level, const int32_t *ids, int64_t n_ids, int64_t n,
                      sw_group_part *out) {
  sw_group_part box = {.n = n};
  double filled = (double)n;
  for (int j = m->order->first_dim[level]; j < m->order->first_dim[level + 1]; j++) {
    const net_dim *dim = &m->dim[j];
    const places p = places_along(dim, ids, n_ids);
    if (p.n == 1) continue;
    const double stride = (double)(p.stretch - 1) / (double)(p.n - 1);
    sw_group_add_torus_dim(&box, dim, p.n, fmin(stride * (double)p.n, (double)dim->size));
    filled /= (double)p.n;
  }
  out->steps = fmax(out->steps, box.steps);
  out->links = out->links > 0 ? fmin(out->links, box.links * filled) : box.links * filled;
  out->spread = fmax(out->spread, box.spread / filled);
  out->stride = fmax(out->stride, box.stride / filled);
}

/* The devices of a group (ids[0..n), ascending) that are in one unit of the level above. */
static void add_unit(const sw_machine *m, int level, const int32_t *ids, int64_t n, sw_group_part *out) {
  const int64_t unit = m->order->unit[level];
  int64_t members = 0, fewest = n;
  for (int64_t i = 0, first = 0; i < n; i++) {
    if (i + 1 < n && ids[i + 1] / unit == ids[first] / unit) continue;
    members++;
    if (i + 1 - first < fewest) fewest = i + 1 - first;
    first = i + 1;
  }
  if (members == 1) return;
  if (members > out->n) out->n = members;
  if (n > out->under) out->under = n;
  if (n - fewest > out->apart) out->apart = n - fewest;
  out->lacked = fmax(out->lacked, (double)(n - fewest) / (double)n / (double)fewest);
  if (m->profile->level[level].kind == SW_TOPOLOGY_TORUS)
    add_torus(m, level, ids, n, members, out);
  else
    out->steps = (double)(out->n - 1);
}

static void shape_of_ids(const sw_machine *m, const int32_t *ids, int64_t n, sw_group_shape *out) {
  *out = (sw_group_shape){.size = n};
  for (int l = 0; l < m->profile->n_levels; l++) {
    const int64_t above = m->order->unit[l + 1];
    sw_group_part part = {.level = l, .n = 1};
    for (int64_t i = 0, first = 0; i < n; i++) {
      if (i + 1 < n && ids[i + 1] / above == ids[first] / above) continue;
      add_unit(m, l, ids + first, i + 1 - first, &part);
      first = i + 1;
    }
    if (part.n > 1) out->part[out->n_parts++] = part;
  }
}

/* --- the worst of all -------------------------------------------------------------------------------------------- */

/* Is work over levels no less than other work, at any size? Level by level, or one level than all of the other's. */
static bool work_covers(const sw_curve *a, const sw_group_shape *x, const sw_curve *b, const sw_group_shape *y) {
  double ramp = 0, slope = 0;
  int covered = 0;
  for (int j = 0; j < b->n_parts; j++) {
    ramp += b->ramp[j];
    slope += b->slope[j];
    for (int i = 0; i < a->n_parts; i++) {
      covered += x->part[i].level == y->part[j].level && a->ramp[i] >= b->ramp[j] && a->slope[i] >= b->slope[j];
    }
  }
  bool any = covered == b->n_parts;
  for (int i = 0; i < a->n_parts && !any; i++) any = a->ramp[i] >= ramp && a->slope[i] >= slope;
  return any;
}

/* Likewise with knots: of as many members on each level, no fewer bytes, as prices rise with these. */
static bool knots_cover(const sw_curve *a, const sw_group_shape *x, const sw_curve *b, const sw_group_shape *y) {
  bool all = a->n_parts == b->n_parts;
  for (int i = 0; i < b->n_parts && all; i++) {
    const sw_curve_knots *k = &a->knots[i], *l = &b->knots[i];
    all = x->part[i].level == y->part[i].level && k->at == l->at && k->position == l->position &&
          k->latency_s == l->latency_s && k->ln_bytes >= l->ln_bytes && a->ramp[i] >= b->ramp[i] &&
          a->slope[i] >= b->slope[i];
  }
  return all;
}

static bool line_covers(const sw_curve *a, const sw_group_shape *x, const sw_curve *b, const sw_group_shape *y) {
  if (a->has_knots) return a->latency_s >= b->latency_s && knots_cover(a, x, b, y);
  const sw_curve above = sw_curve_above_knots(b);
  return a->latency_s >= above.latency_s && work_covers(a, x, &above, y);
}

/* Does a never cost less than b? */
static bool covers(const sw_group *a, const sw_group *b) {
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++)
    if (!line_covers(&a->line[c], &a->shape, &b->line[c], &b->shape)) return false;
  return true;
}

static sw_group_part worse_part(sw_group_part a, sw_group_part b) {
  a.n = a.n > b.n ? a.n : b.n;
  a.under = a.under > b.under ? a.under : b.under;
  a.apart = a.apart > b.apart ? a.apart : b.apart;
  a.lacked = fmax(a.lacked, b.lacked);
  a.steps = fmax(a.steps, b.steps);
  a.links = fmin(a.links, b.links);
  a.spread = fmax(a.spread, b.spread);
  a.stride = fmax(a.stride, b.stride);
  return a;
}

static void worse_line(const sw_group_shape *to, sw_curve *line, const sw_group_shape *from, const sw_curve *with) {
  const sw_curve above = sw_curve_above_knots(with), *other = &above;
  line->latency_s = fmax(line->latency_s, other->latency_s);
  for (int i = 0; i < to->n_parts; i++) {
    for (int j = 0; j < from->n_parts; j++) {
      if (to->part[i].level != from->part[j].level) continue;
      line->ramp[i] = fmax(line->ramp[i], other->ramp[j]);
      line->slope[i] = fmax(line->slope[i], other->slope[j]);
    }
  }
}

/* One that is as bad as both on every level, without knots. */
static void join_worse(const sw_machine *m, const sw_group *a, const sw_group *b, sw_group *out) {
  sw_group both = {.shape.size = a->shape.size};
  for (int l = 0; l < m->profile->n_levels; l++) {
    const sw_group_part *p = NULL, *q = NULL;
    for (int i = 0; i < a->shape.n_parts; i++) p = a->shape.part[i].level == l ? &a->shape.part[i] : p;
    for (int i = 0; i < b->shape.n_parts; i++) q = b->shape.part[i].level == l ? &b->shape.part[i] : q;
    if (p || q) both.shape.part[both.shape.n_parts++] = p && q ? worse_part(*p, *q) : p ? *p : *q;
  }
  sw_group_fold(m, &both);
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    both.line[c] = sw_curve_above_knots(&both.line[c]);
    worse_line(&both.shape, &both.line[c], &a->shape, &a->line[c]);
    worse_line(&both.shape, &both.line[c], &b->shape, &b->line[c]);
  }
  *out = both;
}

static int add_worst(const sw_machine *m, const sw_group *g, sw_group *worst, int n) {
  int kept = 0;
  for (int i = 0; i < n; i++) {
    if (covers(&worst[i], g)) return n;
  }
  for (int i = 0; i < n; i++) {
    if (!covers(g, &worst[i])) worst[kept++] = worst[i];
  }
  if (kept < SW_MAX_WORST)
    worst[kept++] = *g;
  else
    join_worse(m, &worst[kept - 1], g, &worst[kept - 1]);
  return kept;
}

static int find_worst(const sw_machine *m, const sw_axis_ref *refs, int n, int32_t *ids, sw_group *worst) {
  const int64_t devices = sw_mesh_devices(&m->mesh), size = sw_axis_refs_size(refs, n);
  int k = 0;
  for (int64_t p = 0; p < devices; p++) {
    if (sw_mesh_group_index(&m->mesh, p, refs, n) != 0) continue;
    sw_group g = {0};
    for (int64_t i = 0; i < size; i++) ids[i] = m->mesh.device_ids[sw_mesh_group_peer(&m->mesh, p, refs, n, i)];
    qsort(ids, (size_t)size, sizeof *ids, sw_compare_i32);
    shape_of_ids(m, ids, size, &g.shape);
    sw_group_fold(m, &g);
    k = add_worst(m, &g, worst, k);
  }
  for (int i = 0; i + 1 < k; i++) worst[i].next = &worst[i + 1];
  return k;
}

/* --- what is known ----------------------------------------------------------------------------------------------- */

static int compare_refs(const void *a, const void *b) {
  const sw_axis_ref *x = a, *y = b;
  return x->axis != y->axis ? x->axis - y->axis : x->pre - y->pre;
}

static const known *find_known(const sw_order *o, const sw_axis_ref *refs, int n) {
  for (const known *k = atomic_load(&o->known); k; k = k->next) {
    if (k->n_refs == n && memcmp(k->refs, refs, (size_t)n * sizeof *refs) == 0) return k;
  }
  return NULL;
}

/* Without memory: as if every device were far from every other one. */
static void assume_far(const sw_machine *m, int64_t size, sw_group *out) {
  *out = (sw_group){.shape = {.size = size}};
  for (int l = 0; l < m->profile->n_levels && size > 1; l++) {
    out->shape.part[out->shape.n_parts++] = (sw_group_part){.level = l,
                                                            .n = size,
                                                            .under = size,
                                                            .apart = size - 1,
                                                            .lacked = (double)(size - 1) / (double)size,
                                                            .steps = (double)size,
                                                            .links = 1,
                                                            .spread = (double)size,
                                                            .stride = (double)size};
  }
  sw_group_fold(m, out);
}

void sw_order_group(const sw_machine *m, const sw_axis_ref *refs, int n, sw_group *out) {
  const int64_t size = sw_axis_refs_size(refs, n);
  sw_axis_ref sorted[SW_MAX_REFS];
  memcpy(sorted, refs, (size_t)n * sizeof *refs);
  qsort(sorted, (size_t)n, sizeof *sorted, compare_refs);
  const known *k = find_known(m->order, sorted, n);
  known *made = k ? NULL : sw_mem_alloc(1, sizeof *made, NULL);
  int32_t *ids = made ? sw_mem_alloc((size_t)size, sizeof *ids, NULL) : NULL;
  if (ids) {
    made->n_refs = n;
    memcpy(made->refs, sorted, sizeof sorted);
    (void)find_worst(m, sorted, n, ids, made->worst);
    made->next = atomic_load(&m->order->known);
    while (!atomic_compare_exchange_weak(&m->order->known, &made->next, made)) continue;
    k = made;
  }
  if (!ids) sw_mem_free(made);
  sw_mem_free(ids);
  if (k)
    *out = k->worst[0];
  else
    assume_far(m, size, out);
}

static void forget_known(void *of) {
  for (known *k = atomic_load(&((sw_order *)of)->known); k;) {
    known *next = k->next;
    sw_mem_free(k);
    k = next;
  }
}

sw_rc sw_order_make(const sw_machine *m, sw_arena *arena, sw_order **out, sw_diag *d) {
  sw_order *o;
  SW_ARENA_NEW(o, arena, 1, d);
  o->unit[0] = 1;
  for (int j = 0; j < m->n_dims; j++) {
    const int l = m->dim[j].level;
    o->unit[l + 1] = m->dim[j].stride * m->dim[j].size;
    o->first_dim[l + 1] = j + 1;
  }
  *out = o;
  return sw_arena_at_end(arena, forget_known, o, d);
}
