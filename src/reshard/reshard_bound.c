/* What no path between two states can do better than.
 *
 * A device lacks some bytes of its new block; they come over the fastest links at best, and at least one step pays a
 * latency. What the devices of a unit lack together comes over the slower links between units, evenly shared at best.
 * To reduce an element over p devices takes p-1 words on top. What is to be partial may be made of any pieces, which
 * the devices share: dimensions that such atoms cut count for nothing.
 */
#include <math.h>

#include "hw/knots.h"
#include "reshard/route_graph.h"

/* Members that a group on a level may have; of an open one, as many as there are devices. */
static double members_of(const sw_level *level, double devices) {
  double n = 1;
  for (int i = 0; i < level->n_dims; i++) n *= (double)level->dims[i];
  return level->open ? devices : fmin(n, devices);
}

/* How many links into a device can carry what it receives on a level. */
static double links_of(const sw_level *level, double members) {
  if (level->kind == SW_TOPOLOGY_FULL_MESH) return fmax(1, members - 1);
  return level->kind == SW_TOPOLOGY_TORUS ? 2.0 * level->n_dims : 1;
}

/* The least of all classes. */
static struct rs_level_floor floor_of(int l, const sw_machine *machine, double devices) {
  const sw_level *level = &sw_machine_profile(machine)->level[l];
  const double members = members_of(level, devices), links = links_of(level, members);
  struct rs_level_floor f = {HUGE_VAL, HUGE_VAL, HUGE_VAL, 1};
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    const sw_cost_line *line = &level->line[c];
    double slope = line->s_per_byte + line->pair_s_per_byte / fmax(1, members - 1);
    if (line->in_network_min) slope = fmin(slope, line->in_network_s_per_byte);
    const double least = sw_machine_least_weight(machine, l) * sw_knots_least_factor(line->knots);
    f.latency_s = fmin(f.latency_s, least * (line->base_s + line->peer_s));
    f.ramp_s = fmin(f.ramp_s, least * line->ramp_s_per_sqrt_byte / sqrt(links));
    f.slope_s = fmin(f.slope_s, least * slope / links);
  }
  if (sw_machine_combines(machine)) f.latency_s = f.ramp_s = 0;
  return f;
}

/* Bytes that may come over several levels at once: one of them carries its share or more, where shares are as fast as
 * levels are. */
static struct rs_level_floor together(const struct rs_level_floor *a, const struct rs_level_floor *b) {
  const double rate = 1 / a->slope_s + 1 / b->slope_s;
  struct rs_level_floor f = {fmin(a->latency_s, b->latency_s), 0, isinf(rate) ? 0 : 1 / rate, a->unit};
  if (f.slope_s > 0) {
    f.ramp_s = fmin(a->ramp_s * sqrt(f.slope_s / a->slope_s), b->ramp_s * sqrt(f.slope_s / b->slope_s));
  }
  return f;
}

/* Devices of a unit; 0 where atoms do not fit its border, as 3 of an axis of 6 on nodes of 2. */
static double unit_of(const rs_graph *g, int level) {
  const rs_space *s = &g->r->space;
  double all = 1, by_atoms = 1;
  for (int i = 0; i < s->mesh->n_axes && level > 0; i++)
    all *= (double)sw_axis_ref_inside(g->r->machine, sw_axis_whole(s->mesh, i), level);
  for (int i = 0; i < s->n; i++) by_atoms *= g->inside[level][i];
  return all == by_atoms ? all : 0;
}

void rs_floor_init(rs_graph *g) {
  struct rs_level_floor *f = g->floor.level;
  for (int l = g->n_levels - 1; l >= 0; l--) {
    f[l] = floor_of(l, g->r->machine, g->devices);
    if (l + 1 < g->n_levels) f[l] = together(&f[l], &f[l + 1]);
  }
  g->floor.step_s = fmin(f[0].latency_s, sw_machine_collective_s(g->r->machine, SW_COLL_ALL_SLICE, NULL, 0, 0));
  for (int l = 0; l < g->n_levels; l++) {
    const double unit = unit_of(g, l);
    if (unit == 0) f[l] = (struct rs_level_floor){0};                                /* no bound */
    if (g->whole_bytes <= 0) f[l].latency_s = fmin(f[l].latency_s, g->floor.step_s); /* nothing crosses */
    f[l].unit = fmax(1, unit);
  }
}

/* Bytes that each device of a unit must get from outside of it, at least, and whether there are any: what a device
 * lacks of its new block of all that the unit had, or what the unit lacks of all new blocks of its devices. */
static double lacked(rs_graph *g, const rs_vertex *a, const rs_vertex *b, int level, bool *crosses) {
  double block = 1, had = 1, wanted = 1, both = 1; /* of the tensor, but `had` of the block */
  *crosses = false;
  for (int d = 0; d < g->r->space.rank; d++) {
    const rs_dim_sharding *new = &g->dim[b->dim[d]];
    const double outer = 1 / new->outer[level];
    block /= new->shards;
    wanted *= outer;
    if (a->dim[d] == b->dim[d] || (g->dim[a->dim[d]].set & b->state.partial)) {
      both *= outer;
      continue;
    }
    const rs_dim_leg *s = rs_graph_dim_leg(g, d, a->dim[d], b->dim[d]);
    had *= s->had[level];
    both *= s->both[level];
    *crosses = *crosses || s->crosses[level];
  }
  return g->whole_bytes * fmax(block * (1 - had), wanted - both) / g->floor.level[level].unit;
}

static double size_of(const rs_graph *g, uint32_t set) {
  double size = 1;
  for (; set; set &= set - 1) size *= g->r->space.atom[__builtin_ctz(set)].size;
  return size;
}

/* Words of a reduction over devices of several units, per device. */
static double reduced_words(const rs_graph *g, uint32_t gone, int level) {
  double units = 1;
  for (; gone; gone &= gone - 1) {
    const int atom = __builtin_ctz(gone);
    units *= g->r->space.atom[atom].size / g->inside[level][atom];
  }
  return g->whole_bytes / g->devices * (units - 1);
}

double rs_graph_bound_s(rs_graph *g, int from, int to) {
  const rs_vertex *a = &g->vertex[from], *b = &g->vertex[to];
  if (from == to) return 0;
  double most = g->floor.step_s;
  const uint32_t named = (1u << g->r->space.n) - 1, gone = a->state.partial & ~b->state.partial;
  const double shared = size_of(g, b->state.partial & named);
  if (!g->r->target_written || ((a->state.partial | b->state.partial) & ~named)) return most;
  for (int l = 0; l < g->n_levels; l++) {
    const struct rs_level_floor *f = &g->floor.level[l];
    bool crosses;
    double bytes = lacked(g, a, b, l, &crosses) / shared;
    if (gone) bytes += reduced_words(g, gone, l);
    if (!crosses && bytes <= 0) break;
    most = fmax(most, f->latency_s + f->ramp_s * sqrt(bytes) + f->slope_s * bytes);
  }
  return most;
}
