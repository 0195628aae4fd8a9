/* What no route between two shardings costs less than, in a time that hangs on their axes alone.
 *
 * A device lacks some bytes of its new block: they come over the fastest links at best. What a whole unit of a level
 * lacks of what its devices shall have comes over the slower links into it, evenly shared at best. To reduce an element
 * over p devices takes p-1 words, and one more for every further device that wants it. Whatever the steps, at least one
 * pays a latency. Blocks may be uneven: bytes are those of a device, or unit, whose block is full.
 *
 *   node=2,dev=4, [[node,dev]] -> [[]], n bytes: a device lacks 7/8 n, a node 1/2 n, which its 4 devices share
 */
#include "reshard/least.h"

#include <math.h>

#include "hw/knots.h"

/* A time by bytes: ramp * sqrt(bytes) + slope * bytes. */
typedef struct line {
  double ramp_s, slope_s;
} line;

/* Of bytes that cross between units of a level; part of them may go over links of further levels at the same time. */
typedef struct crossing {
  double latency_s;
  double devices; /* of a unit of the level */
  int n[2];       /* [0]: lines of steps that move, [1]: of steps that reduce */
  line line[2][SW_COST_CLASS_COUNT];
} crossing;

struct sw_route_floors {
  const sw_machine *machine;
  int n_levels;
  double n_devices;
  double copy_s, copied_s_per_byte; /* of cutting bytes out of what a device has */
  double step_s;                    /* of any step */
  crossing level[SW_MAX_LEVELS];
};

/* --- the machine ------------------------------------------------------------------------------------------------- */

/* How many links into a device can carry what it receives on a level. */
static double links_of_level(const sw_level *level) {
  double n = 1;
  for (int i = 0; i < level->n_dims; i++) n *= (double)level->dims[i];
  if (level->kind == SW_TOPOLOGY_FULL_MESH) return fmax(1, n - 1);
  return level->kind == SW_TOPOLOGY_TORUS ? 2.0 * level->n_dims : 1;
}

static bool is_below(const line *a, const line *b) { return a->ramp_s <= b->ramp_s && a->slope_s <= b->slope_s; }

/* Adds a line, unless another one is below it, in place of those that are above. */
static void add_line(crossing *c, bool reduces, line it) {
  line *all = c->line[reduces];
  int n = 0;
  for (int i = 0; i < c->n[reduces]; i++)
    if (is_below(&all[i], &it)) return;
  for (int i = 0; i < c->n[reduces]; i++)
    if (!is_below(&it, &all[i])) all[n++] = all[i];
  all[n++] = it;
  c->n[reduces] = n;
}

/* Bytes over two sorts of links at once, shared as fast as they are: one of them takes its share or more. */
static line combine_lines(line a, line b) {
  if (a.slope_s <= 0 || b.slope_s <= 0) return (line){0, 0};
  const double slope = 1 / (1 / a.slope_s + 1 / b.slope_s);
  return (line){fmin(a.ramp_s * sqrt(slope / a.slope_s), b.ramp_s * sqrt(slope / b.slope_s)), slope};
}

/* A line that none of a level is below. */
static line below_all(const crossing *c) {
  line least = {HUGE_VAL, HUGE_VAL};
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < c->n[k]; i++)
      least = (line){fmin(least.ramp_s, c->line[k][i].ramp_s), fmin(least.slope_s, c->line[k][i].slope_s)};
  }
  return least;
}

/* `outer`: the next level, NULL for the outermost one. */
static void set_crossing(int l, const sw_machine *machine, const crossing *outer, crossing *c) {
  const sw_level *level = &sw_machine_profile(machine)->level[l];
  static const bool kReduces[SW_COST_CLASS_COUNT] = {[SW_COST_ALL_REDUCE] = true, [SW_COST_REDUCE_SCATTER] = true};
  const double ways = links_of_level(level), weight = sw_machine_least_weight(machine, l);
  const bool combines = sw_machine_combines(machine);
  c->latency_s = outer ? outer->latency_s : HUGE_VAL;
  for (int k = 0; k < SW_COST_CLASS_COUNT; k++) {
    const sw_cost_line *of = &level->line[k];
    const double slope = of->in_network_min ? fmin(of->s_per_byte, of->in_network_s_per_byte) : of->s_per_byte;
    const double least = weight * sw_knots_least_factor(of->knots);
    const line here = {combines ? 0 : least * of->ramp_s_per_sqrt_byte / sqrt(ways), least * slope / ways};
    c->latency_s = fmin(c->latency_s, least * (of->base_s + of->peer_s));
    add_line(c, kReduces[k], outer ? combine_lines(here, below_all(outer)) : here);
  }
  if (combines) c->latency_s = 0;
}

sw_rc sw_route_floors_make(const sw_machine *machine, sw_arena *arena, const sw_route_floors **out, sw_diag *d) {
  const sw_profile *p = sw_machine_profile(machine);
  const sw_mesh *mesh = sw_machine_mesh(machine);
  const double kMany = 1 << 30;
  sw_route_floors *f;
  SW_ARENA_NEW(f, arena, 1, d);
  *f = (sw_route_floors){.machine = machine, .n_levels = p->n_levels, .n_devices = (double)sw_mesh_devices(mesh)};
  for (int l = p->n_levels - 1; l >= 0; l--) {
    crossing *c = &f->level[l];
    set_crossing(l, machine, l + 1 < p->n_levels ? c + 1 : NULL, c);
    c->devices = 1;
    for (int a = 0; l && a < mesh->n_axes; a++)
      c->devices *= (double)sw_axis_ref_inside(machine, sw_axis_whole(mesh, a), l);
  }
  f->copy_s = sw_machine_collective_s(machine, SW_COLL_ALL_SLICE, NULL, 0, 0);
  f->copied_s_per_byte = (sw_machine_collective_s(machine, SW_COLL_ALL_SLICE, NULL, 0, kMany) - f->copy_s) / kMany;
  f->step_s = fmin(f->copy_s, f->level[0].latency_s);
  *out = f;
  return SW_OK;
}

/* --- an end ------------------------------------------------------------------------------------------------------ */

/* Digits of an axis that lie in one level of the network. */
static int split_ref(const sw_route_floors *f, sw_axis_ref ref, sw_route_digit *out, int room) {
  int n = 0;
  for (int l = f->n_levels - 1; l >= 0 && ref.size > 1; l--) {
    const int32_t inside = l ? (int32_t)sw_axis_ref_inside(f->machine, ref, l) : 1;
    if (inside == ref.size) continue;
    if (n == room) return -1;
    out[n++] = (sw_route_digit){(int8_t)ref.axis, (int8_t)l, ref.pre, ref.size / inside};
    ref.pre *= ref.size / inside;
    ref.size = inside;
  }
  return n;
}

static bool split_dim(const sw_route_floors *f, const sw_sharding *s, int dim, sw_route_end *e) {
  int n;
  const sw_axis_ref *refs = sw_sharding_dim(s, dim, &n);
  e->first[dim] = (uint8_t)e->n_digits;
  for (int i = 0; i < n; i++) {
    const int more = split_ref(f, refs[i], e->digit + e->n_digits, SW_MAX_ROUTE_DIGITS - e->n_digits);
    if (more < 0) return false;
    e->n_digits = (uint8_t)(e->n_digits + more);
  }
  e->first[dim + 1] = (uint8_t)e->n_digits;
  return true;
}

/* What a dimension's blocks are to devices, and to units whose far digits are 0. */
static void measure_dim(const sw_route_floors *f, int64_t k, int dim, sw_route_end *e) {
  double shards = 1;
  for (int i = e->first[dim]; i < e->first[dim + 1]; i++) shards *= e->digit[i].size;
  const double block = ceil((double)k / shards);
  e->uneven = e->uneven || block * shards != (double)k;
  for (int l = 0; l < f->n_levels; l++) {
    double near = 1, whole = 1; /* shards of a unit; those at the end of the list, which lie side by side */
    bool ends = true;
    for (int i = e->first[dim + 1] - 1; i >= e->first[dim]; i--) {
      ends = ends && e->digit[i].level < l;
      near *= e->digit[i].level < l ? e->digit[i].size : 1;
      whole *= ends ? e->digit[i].size : 1;
    }
    e->most[l][dim] = fmin((double)k, block * near);
    e->least[l][dim] = fmin((double)k, block * (block * shards == (double)k ? near : whole));
  }
}

void sw_route_end_make(const sw_route_floors *f, const sw_sharding *s, int rank, const int64_t *dims, sw_dtype t,
                       sw_route_end *out) {
  *out = (sw_route_end){.rank = (uint8_t)rank,
                        .elem_bytes = sw_machine_moved_bytes(f->machine, sw_sharding_held_as(s, t))};
  out->unknown = s->offsets || s->halos || (s->n_partial && s->partial_kind == SW_REDUCE_AVERAGE);
  for (int d = 0; d < rank && !out->unknown; d++) {
    if (!split_dim(f, s, d, out)) out->unknown = true;
    if (!out->unknown) measure_dim(f, dims[d], d, out);
    out->empty = out->empty || dims[d] == 0;
  }
  for (int i = 0; i < s->n_partial && !out->unknown; i++) {
    sw_route_digit *to = out->partial + out->n_partial;
    const int n = split_ref(f, sw_sharding_partial(s)[i], to, SW_MAX_ROUTE_DIGITS - out->n_partial);
    if (n < 0) out->unknown = true;
    if (n > 0) out->n_partial = (uint8_t)(out->n_partial + n);
  }
  out->whole = 1;
  for (int d = 0; d < rank; d++) out->whole *= (double)dims[d];
}

/* --- between two ends -------------------------------------------------------------------------------------------- */

static bool is_same(const sw_route_digit *a, const sw_route_digit *b) {
  return a->axis == b->axis && a->pre == b->pre && a->size == b->size;
}

static bool is_among(const sw_route_digit *it, const sw_route_digit *all, int n) {
  for (int i = 0; i < n; i++)
    if (it->axis == all[i].axis && it->pre < all[i].pre * all[i].size && all[i].pre < it->pre * it->size) return true;
  return false;
}

/* The level up to which the blocks of some dimension are apart: a unit of it, or of one below, may have nothing of what
 * it wants; -1: none. */
static int apart_level(const sw_route_end *a, const sw_route_end *b) {
  int level = -1;
  for (int d = 0; d < a->rank; d++) {
    int i = a->first[d], j = b->first[d];
    while (i < a->first[d + 1] && j < b->first[d + 1] && is_same(&a->digit[i], &b->digit[j])) i++, j++;
    if (i == a->first[d + 1] || j == b->first[d + 1]) continue;
    const sw_route_digit *x = &a->digit[i], *y = &b->digit[j];
    if (x->axis == y->axis && x->pre == y->pre) continue;          /* of different sizes: they may begin alike */
    if (b->uneven && is_among(x, b->digit, b->n_digits)) continue; /* where x is last, blocks of b may be short */
    const int here = x->level < y->level ? x->level : y->level;
    level = here > level ? here : level;
  }
  return level;
}

static double product(const sw_route_digit *all, int n, int level) {
  double p = 1;
  for (int i = 0; i < n; i++) p *= all[i].level >= level ? all[i].size : 1;
  return p;
}

/* Units that parts which stay are told apart by. */
static double kept_units(const sw_route_end *a, const sw_route_end *b, int level) {
  double kept = 1;
  for (int i = 0; i < a->n_partial; i++) {
    const sw_route_digit *it = &a->partial[i];
    if (it->level >= level && is_among(it, b->partial, b->n_partial)) kept *= it->size;
  }
  return kept;
}

static double least_crossing_s(const crossing *c, double bytes, bool reduces) {
  const double root = sqrt(bytes);
  double least = HUGE_VAL;
  for (int k = 0; k <= reduces; k++)
    for (int i = 0; i < c->n[k]; i++) least = fmin(least, c->line[k][i].ramp_s * root + c->line[k][i].slope_s * bytes);
  return least;
}

/* Elements of a unit. `apart`: it may have none of those that it wants. Where the value is to be partial, `parts` units
 * make it together. */
static double elements_lacked(const sw_route_end *a, const sw_route_end *b, int level, bool apart, double parts) {
  double wants = 1, has = 1, shares = 1;
  for (int d = 0; d < b->rank; d++) {
    wants *= b->least[level][d];
    has *= a->most[level][d];
    shares *= fmin(b->least[level][d], a->most[level][d]);
  }
  if (b->n_partial) return fmax(0, wants - parts * has) / parts;
  return apart ? wants : fmax(0, wants - shares);
}

/* Elements of a unit that devices of it hear: to reduce each over `gone` units takes words from all but one, in each of
 * the `kept` that hold parts which stay; or every device hears all that it wants. `once`: a word of each element,
 * evenly shared. */
static double heard(const sw_route_end *b, int level, double lacks, double gone, double kept, double once) {
  const double words = once * (gone - 1) * kept;
  double wants = 1;
  if (b->n_partial) return words + lacks;
  for (int d = 0; d < b->rank; d++) wants *= b->least[level][d];
  return fmax(words + lacks, words + fmax(0, wants - once));
}

/* Where nothing is lacked: what is wanted is copied from what there is, or gathered from pieces that were. Uneven
 * blocks may lack a row all the same, and an exchange brings no more than that. */
static double cut_s(const sw_route_floors *f, const sw_route_end *a, const sw_route_end *b, double elem) {
  const double kGathered = 0.5; /* of it, at least, as one of two pieces was there */
  double bytes = elem;
  if (a->uneven || b->uneven || a->n_partial || b->n_partial) return f->step_s;
  for (int d = 0; d < b->rank; d++) bytes *= b->least[0][d];
  const double copied = f->copy_s + f->copied_s_per_byte * bytes,
               gathered = least_crossing_s(&f->level[0], kGathered * bytes, true);
  return fmin(copied, f->copy_s + f->level[0].latency_s + gathered);
}

double sw_route_least_s(const sw_route_floors *f, const sw_route_end *a, const sw_route_end *b) {
  const bool partial = a->n_partial || b->n_partial;
  const double elem = fmax(a->elem_bytes, b->elem_bytes);
  const int apart = apart_level(a, b);
  double latency = 0, work = 0;
  if (a->unknown || b->unknown || a->empty) return 0;
  for (int l = 0; l < f->n_levels; l++) {
    const double devices = f->level[l].devices, parts = product(b->partial, b->n_partial, l),
                 kept = kept_units(a, b, l), gone = product(a->partial, a->n_partial, l) / kept;
    const bool none = apart >= l && (l == 0 || !(a->uneven || b->uneven)); /* long blocks of a unit may meet others */
    double n = elements_lacked(a, b, l, none, parts);
    if (gone > 1) n = heard(b, l, n, gone, kept, a->whole * devices / f->n_devices);
    if (n <= 0) continue;
    latency = fmax(latency, f->level[l].latency_s);
    work = fmax(work, least_crossing_s(&f->level[l], n * elem / devices, partial));
  }
  return work > 0 ? fmax(f->step_s, latency + work) : cut_s(f, a, b, elem);
}

double sw_route_least_between_s(const sw_route_floors *f, const sw_sharding *from, const sw_sharding *to, int rank,
                                const int64_t *dims, sw_dtype t) {
  sw_route_end a, b;
  if (sw_sharding_equal(from, to)) return 0;
  sw_route_end_make(f, from, rank, dims, t, &a);
  sw_route_end_make(f, to, rank, dims, t, &b);
  return sw_route_least_s(f, &a, &b);
}
