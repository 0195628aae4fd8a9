/* What one collective costs over one group (docs/cost-model.md).
 *
 * On each level that the group spans, the bytes over the busiest link follow from the class and the topology: one small
 * function per pair, in kBusy. With the profile's constants they fold into seconds = latency + ramp*sqrt(S) + slope*S,
 * so that planning pays one square root per question. Two levels: 8 nodes of 8, all_gather of S bytes:
 *
 *   across nodes  7/8 * S/8 per device and NIC        inside a node  7/8 * S
 *
 * run as a pipeline: the longer of the two, plus a measured part (serial_fraction) of the shorter.
 */
#include <math.h>

#include "hw/knots.h"
#include "hw/machine.h"

/* Bytes over the busiest link of the part's level, per byte of S. */
typedef double (*busy_fn)(const sw_group_part *p, int64_t size);

static double ring_volume(const sw_group_part *p) { return p->lacked; }
/* Of a device's buffer, what goes to peers that part on this level. */
static double direct_volume(const sw_group_part *p, int64_t size) { return (double)p->apart / (double)size; }

static double switch_gather(const sw_group_part *p, int64_t size) { return (void)size, ring_volume(p); }
static double switch_all_reduce(const sw_group_part *p, int64_t size) { return (void)size, 2 * ring_volume(p); }
static double switch_all_to_all(const sw_group_part *p, int64_t size) { return direct_volume(p, size); }
static double switch_permute(const sw_group_part *p, int64_t size) { return (void)p, (void)size, 1; }

static double mesh_gather(const sw_group_part *p, int64_t size) {
  return (void)size, ring_volume(p) / (double)(p->n - 1);
}
static double mesh_all_reduce(const sw_group_part *p, int64_t size) { return 2 * mesh_gather(p, size); }
static double mesh_all_to_all(const sw_group_part *p, int64_t size) {
  return direct_volume(p, size) / (double)(p->n - 1);
}

static double torus_gather(const sw_group_part *p, int64_t size) { return (void)size, ring_volume(p) / p->links; }
static double torus_all_reduce(const sw_group_part *p, int64_t size) { return 2 * torus_gather(p, size); }
static double torus_all_to_all(const sw_group_part *p, int64_t size) {
  return (double)p->under / (double)size * p->spread;
}
static double torus_permute(const sw_group_part *p, int64_t size) { return (void)size, p->stride; }

static const busy_fn kBusy[SW_COST_CLASS_COUNT][SW_TOPOLOGY_COUNT] = {
    [SW_COST_ALL_GATHER] = {switch_gather, mesh_gather, torus_gather},
    [SW_COST_REDUCE_SCATTER] = {switch_gather, mesh_gather, torus_gather},
    [SW_COST_ALL_REDUCE] = {switch_all_reduce, mesh_all_reduce, torus_all_reduce},
    [SW_COST_ALL_TO_ALL] = {switch_all_to_all, mesh_all_to_all, torus_all_to_all},
    [SW_COST_PERMUTE] = {switch_permute, switch_permute, torus_permute},
};

static double slope_of(const sw_cost_line *line, int64_t n) {
  if (line->in_network_min && n >= line->in_network_min) return line->in_network_s_per_byte;
  return line->s_per_byte + line->pair_s_per_byte / (double)(n - 1);
}

static void fold_class(const sw_machine *m, const sw_group_shape *g, sw_cost_class c, sw_curve *out) {
  *out = (sw_curve){.n_parts = g->n_parts};
  /* A permute sends its block once, over the outermost level that it crosses. */
  int first = c == SW_COST_PERMUTE && g->n_parts > 0 ? g->n_parts - 1 : 0;
  for (int i = 0; i < g->n_parts; i++) {
    const sw_group_part *p = &g->part[i];
    const sw_level *level = &m->profile->level[p->level];
    const sw_cost_line *line = &level->line[c];
    out->serial[i] = level->serial_fraction;
    if (i < first) continue;
    double busy = kBusy[c][level->kind](p, g->size);
    sw_curve_add_knots(out, i, line->knots, (double)p->n, busy,
                       (line->base_s + line->peer_s * (c == SW_COST_PERMUTE ? 1 : p->steps)) * m->share);
    out->ramp[i] = line->ramp_s_per_sqrt_byte * sqrt(busy) * m->share;
    out->slope[i] = slope_of(line, p->n) * busy * m->share;
  }
}

static const bool kCombined[SW_COST_CLASS_COUNT] = {
    [SW_COST_ALL_GATHER] = true, [SW_COST_REDUCE_SCATTER] = true, [SW_COST_ALL_REDUCE] = true};

bool sw_coll_is_combined(sw_coll_op op) {
  const sw_cost_class c = sw_coll_cost_class(op);
  return c < SW_COST_CLASS_COUNT && kCombined[c];
}

/* Of a call of so many bytes, a byte's share. */
static void share_call(double bytes, sw_curve *c) {
  if (c->n_parts) *c = (sw_curve){.n_parts = 1, .slope = {sw_curve_s(c, bytes, sqrt(bytes)) / bytes}};
}

double sw_group_weight(const sw_machine *m, const sw_group_shape *g) {
  return g->n_parts ? m->weights.link[g->part[g->n_parts - 1].level] : 1;
}

double sw_machine_least_weight(const sw_machine *m, int level) {
  double least = m->weights.link[level];
  for (int l = level + 1; l < m->profile->n_levels; l++) least = fmin(least, m->weights.link[l]);
  return least;
}

static void weigh_curve(double weight, sw_curve *c) {
  c->latency_s *= weight;
  for (int i = 0; i < c->n_parts; i++) {
    c->ramp[i] *= weight;
    c->slope[i] *= weight;
    c->knots[i].latency_s *= weight;
    c->knots[i].first_s *= weight;
  }
}

void sw_group_fold(const sw_machine *m, sw_group *g) {
  const double weight = sw_group_weight(m, &g->shape);
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    const bool whole = c == SW_COST_REDUCE_SCATTER && m->lowering.whole_scatters;
    fold_class(m, &g->shape, whole ? SW_COST_ALL_REDUCE : (sw_cost_class)c, &g->line[c]);
    if (m->combine_bytes && kCombined[c]) share_call((double)m->combine_bytes, &g->line[c]);
    if (weight != 1) weigh_curve(weight, &g->line[c]);
  }
}

/* A fit may put an all_reduce below the reduce_scatter that is half of it, or above its two halves one after the
 * other; a library never has to do worse than the composition, and cannot do better than the half. */
static double least_s(double whole, double half, double other_half) {
  const double sum = half + other_half, at_least = whole > half ? whole : half;
  return at_least < sum ? at_least : sum;
}

static double price_s(const sw_group *g, sw_cost_class c, double bytes, double root) {
  const double s = sw_curve_s(&g->line[c], bytes, root);
  if (c != SW_COST_ALL_REDUCE) return s;
  return least_s(s, sw_curve_s(&g->line[SW_COST_REDUCE_SCATTER], bytes, root),
                 sw_curve_s(&g->line[SW_COST_ALL_GATHER], bytes, root));
}

double sw_group_price_s(const sw_group *g, sw_cost_class c, double bytes) {
  const double root = sqrt(bytes);
  double worst = price_s(g, c, bytes, root);
  while ((g = g->next)) worst = fmax(worst, price_s(g, c, bytes, root));
  return worst;
}
