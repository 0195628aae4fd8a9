/* Shardings of one dimension, and steps between two of them, which many states share. */
#include <math.h>

#include "reshard/route_graph.h"
#include "base/checked.h"

/* What units of each level see of a list: its minor atoms, or parts of one, stay inside. */
static void see_units(const rs_graph *g, rs_dim_sharding *s) {
  for (int level = 0; level < g->n_levels; level++) {
    bool open = true;
    s->visible[level] = (uint8_t)s->n;
    s->inside[level] = s->outer[level] = 1;
    for (int i = s->n - 1; i >= 0; i--) {
      const int atom = rs_list_atom(s->list, i);
      const double size = g->r->space.atom[atom].size, inside = g->inside[level][atom];
      s->outer[level] *= size / inside;
      if (open) s->inside[level] *= inside;
      open = open && inside == size;
      if (open) s->visible[level] = (uint8_t)i;
    }
  }
}

static void make_dim(const rs_graph *g, rs_list list, rs_dim_sharding *out) {
  const rs_space *s = &g->r->space;
  int64_t shards = 1;
  out->list = list;
  out->n = rs_list_len(list);
  out->set = rs_list_set(list);
  out->prefix[0] = 0;
  for (int i = 0; i < out->n; i++) {
    const int atom = rs_list_atom(list, i);
    out->prefix[i + 1] = (uint16_t)(out->prefix[i] | 1u << atom);
    shards *= s->atom[atom].size;
  }
  out->shards = (double)shards;
  for (int d = 0; d < s->rank; d++) {
    out->block[d] = (double)(shards == 1 ? s->dims[d] : sw_ceil_div(s->dims[d], shards));
    out->even[d] = out->block[d] * out->shards == (double)s->dims[d];
  }
  see_units(g, out);
}

int rs_graph_dim(rs_graph *g, rs_list list) {
  for (uint64_t i = (list * UINT64_C(0x9e3779b97f4a7c15)) >> 40;; i++) {
    uint16_t *slot = &g->dim_slot[i % RS_DIM_SLOTS];
    if (*slot && g->dim[*slot - 1].list == list) return *slot - 1;
    if (*slot) continue;
    if (g->n_dims == RS_MAX_DIM_SHARDINGS) return -1;
    make_dim(g, list, &g->dim[g->n_dims++]);
    *slot = (uint16_t)g->n_dims;
    return *slot - 1;
  }
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

/* Cutting further, or joining, is right where blocks nest: of K elements that are cut a times already, if K <= 1, or
 * a = 1, or ceil(K/a) is cut into equal parts. */
static void change_blocks(const rs_graph *g, int d, const rs_dim_sharding *a, const rs_dim_sharding *b,
                          rs_dim_leg *out) {
  const double k = (double)g->r->space.dims[d], was = a->block[d], is = b->block[d];
  out->before = out->common == a->n ? is * b->shards / a->shards : was;
  out->after = out->common == b->n ? was * a->shards / b->shards : is;
  out->even = a->even[d] && b->even[d];
  out->nests = k <= 1 || ((a->n == 0 || was == out->before) && (b->n == 0 || is == out->after));
}

/* Old blocks that a new one meets, as sw_machine_exchange_s counts them. */
static double blocks_touched(int d, const rs_dim_sharding *a, const rs_dim_sharding *b) {
  const double old = a->block[d], new = b->block[d];
  if (a->shards == 1 || old <= 0 || (new <= old &&fmod(old, new) == 0)) return 1;
  const bool aligned = b->n == 0 || fmod(new, old) == 0;
  return fmin(ceil(new / old) + !aligned, a->shards);
}

/* Of a new block the part that the device's unit had:
 *
 *   all     where the new list goes on from the old one:    [x] to [x,y]
 *   some    where it ends before:                           [x,y] to [x] keeps 1 part of y
 *   none    where each goes on in its own way:              [x] to [y], on some device
 */
static double part_kept(const rs_dim_sharding *a, const rs_dim_sharding *b, int common, int level) {
  if (common >= a->visible[level]) return 1;
  if (common < b->n) return 0;
  return fmin(1, a->inside[level] * b->shards / a->shards);
}

/* The devices that digits of two lists tell apart, in the order of the blocks of the second one. */
typedef struct walk {
  int n;
  int64_t size[RS_MAX_ATOMS], at[RS_MAX_ATOMS];
  int64_t in_a[RS_MAX_ATOMS], in_b[RS_MAX_ATOMS]; /* what one more of a digit adds to the number of the block */
} walk;

/* From the lists' atoms behind the first `common` ones. */
static void start_walk(const rs_graph *g, const rs_dim_sharding *a, const rs_dim_sharding *b, int common, walk *w) {
  int place[RS_MAX_ATOMS];
  int64_t weight = 1;
  *w = (walk){.n = b->n - common};
  for (int i = b->n - 1; i >= common; i--) {
    const int atom = rs_list_atom(b->list, i);
    place[atom] = i - common;
    w->size[i - common] = g->r->space.atom[atom].size;
    w->in_b[i - common] = weight;
    weight *= w->size[i - common];
  }
  weight = 1;
  for (int i = a->n - 1; i >= common; i--) {
    const int atom = rs_list_atom(a->list, i), at = b->set >> atom & 1u ? place[atom] : w->n++;
    w->size[at] = g->r->space.atom[atom].size;
    w->in_a[at] = weight;
    weight *= w->size[at];
  }
}

static bool next_device(walk *w, int64_t *a, int64_t *b) {
  for (int i = w->n - 1; i >= 0; i--) {
    *a += w->in_a[i];
    *b += w->in_b[i];
    if (++w->at[i] < w->size[i]) return true;
    *a -= w->size[i] * w->in_a[i];
    *b -= w->size[i] * w->in_b[i];
    w->at[i] = 0;
  }
  return false;
}

/* Where blocks are uneven they overlap in one way here and in another there: what is left of a full new block when what
 * the device that lacks most lacks is taken off. Of the blocks of the first
 * `alike` atoms, which are the same, the first is the fullest. */
static void keep_uneven(const rs_graph *g, int d, const rs_dim_sharding *a, const rs_dim_sharding *b, int alike,
                        rs_dim_leg *out) {
  const int64_t k = g->r->space.dims[d], was = (int64_t)a->block[d], is = (int64_t)b->block[d];
  int64_t i = 0, j = 0, lacks[SW_MAX_LEVELS] = {0};
  walk w;
  start_walk(g, a, b, alike, &w);
  do {
    const int64_t lo = j * is, hi = sw_min_i64(k, lo + is);
    if (lo >= k) break;
    for (int l = 0; l < g->n_levels; l++) {
      const int64_t inside = (int64_t)a->inside[l], from = (i - i % inside) * was,
                    to = sw_min_i64(k, from + inside * was),
                    both = sw_max_i64(0, sw_min_i64(hi, to) - sw_max_i64(lo, from));
      lacks[l] = sw_max_i64(lacks[l], hi - lo - both);
    }
  } while (lacks[g->n_levels - 1] < is && next_device(&w, &i, &j));
  for (int l = 0; l < g->n_levels; l++) out->kept[l] = fmin(out->kept[l], 1 - (double)lacks[l] / (double)is);
}

/* No device's unit had more, in whatever order its pieces lie. */
static double had(const rs_graph *g, const rs_dim_sharding *a, const rs_dim_sharding *b, int common, int level) {
  const sw_axis_ref *atom = g->r->space.atom;
  const double *inside = g->inside[level];
  double rest = 1;
  if (common >= a->visible[level]) return 1;
  const int first = rs_list_atom(a->list, common);
  if (common < b->n) return inside[first] < atom[first].size ? 0 : 1;
  for (int i = common; i < a->n; i++) rest *= inside[rs_list_atom(a->list, i)] / atom[rs_list_atom(a->list, i)].size;
  return rest;
}

static void make_step(const rs_graph *g, int d, const rs_dim_sharding *a, const rs_dim_sharding *b, rs_dim_leg *out) {
  const int common = rs_list_common(a->list, b->list);
  out->common = common;
  out->gained = b->set & ~(uint32_t)a->prefix[common];
  out->dropped = a->set & ~(uint32_t)a->prefix[common];
  const bool alike = a->block[d] * a->shards == b->block[d] * b->shards;
  out->changed = alike ? out->gained | out->dropped : a->set | b->set;
  out->touched = blocks_touched(d, a, b);
  change_blocks(g, d, a, b, out);
  for (int l = 0; l < g->n_levels; l++) {
    out->crosses[l] = common < a->visible[l];
    out->kept[l] = part_kept(a, b, common, l);
    out->had[l] = had(g, a, b, common, l);
    out->both[l] = 1 / (out->crosses[l] ? fmax(a->outer[l], b->outer[l]) : b->outer[l]);
  }
  if (!out->even && g->r->space.dims[d] > 0) keep_uneven(g, d, a, b, alike ? common : 0, out);
}

const rs_dim_leg *rs_graph_dim_leg(rs_graph *g, int d, int from, int to) {
  const uint32_t key = (uint32_t)(d * RS_MAX_DIM_SHARDINGS + from) * RS_MAX_DIM_SHARDINGS + (uint32_t)to + 1;
  const uint32_t slot = (key * UINT32_C(0x9e3779b1)) >> 22;
  _Static_assert(RS_DIM_STEPS == 1 << 10, "ten bits of a hash");
  if (g->dim_step_key[slot] != key) {
    make_step(g, d, &g->dim[from], &g->dim[to], &g->dim_step[slot]);
    g->dim_step_key[slot] = key;
  }
  return &g->dim_step[slot];
}
