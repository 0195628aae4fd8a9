/* The states of a net, and what each list of atoms makes of a dimension.
 *
 * Lists are numbered, 0 is empty: of atoms x, y there are [], [x], [x,y], [y], [y,x]. A state is one number per
 * dimension, [[y],[x]] is 3 1, and a set of atoms in whose parts its values are.
 */
#include "reshard/net.h"

#include <math.h>
#include <string.h>

#include "reshard/price.h"

enum { ENDS_STATES = 1240 }; /* of a net of two ends */

/* --- lists ------------------------------------------------------------------------------------------------------- */

/* What units of each level see of a list: its minor atoms, or parts of one, stay inside. */
static void see_units(const rs_net *n, rs_net_list *l) {
  for (int level = 0; level < n->n_levels; level++) {
    bool open = true;
    l->visible[level] = l->n;
    l->inside[level] = l->outer[level] = 1;
    for (int i = l->n - 1; i >= 0; i--) {
      int64_t size = n->q->space.atom[l->atom[i]].size, inside = (int64_t)n->inside[level][l->atom[i]];
      l->outer[level] *= size / inside;
      if (open) l->inside[level] *= inside;
      open = open && inside == size;
      if (open) l->visible[level] = (uint8_t)i;
    }
  }
}

uint8_t rs_net_add_list(rs_net *n, const rs_net_list *list) {
  const int number = n->n_lists++;
  n->list[number] = *list;
  n->list[number].order = 0;
  for (int i = 0; i < list->n; i++) n->list[number].order |= (uint32_t)(list->atom[i] + 1) << 4 * i;
  see_units(n, &n->list[number]);
  const int64_t block = n->q->space.rank ? n->q->space.dims[0] / list->shards : 1;
  n->block[number] = (double)block;
  return (uint8_t)number;
}

rs_net_list rs_net_longer(const rs_net *n, const rs_net_list *list, int atom) {
  rs_net_list l = *list;
  l.atom[l.n++] = (uint8_t)atom;
  l.set |= (uint8_t)(1 << atom);
  l.shards *= n->q->space.atom[atom].size;
  return l;
}

int rs_net_find_list(const rs_net *n, const uint8_t *atom, int len) {
  int i = 0;
  while (i < n->n_lists && (n->list[i].n != len || memcmp(n->list[i].atom, atom, (size_t)len) != 0)) i++;
  return i;
}

static void add_lists(rs_net *n, const rs_net_list *from) {
  const rs_space *s = &n->q->space;
  const int number = rs_net_add_list(n, from);
  for (int a = 0; a < s->n; a++) {
    if (from->set >> a & 1 || s->joined >> a & 1u) continue;
    rs_net_list longer = rs_net_longer(n, from, a);
    for (int next = a + 1; next < s->n && s->joined >> next & 1u; next++) longer = rs_net_longer(n, &longer, next);
    add_lists(n, &longer);
  }
  n->list[number].next = (uint8_t)n->n_lists;
}

static sw_rc make_pairs(rs_net *n, int n_pairs, sw_diag *d) {
  SW_MEM_NEW(n->diff, n_pairs, d);
  SW_MEM_NEW(n->pair, n_pairs, d);
  if (n->ends) SW_MEM_NEW(n->held, n_pairs, d);
  return SW_OK;
}

static sw_rc compare_lists(rs_net *n, sw_diag *d) {
  if (n->held)
    memset(n->held, 0, RS_NET_HELD * sizeof n->held[0]);
  else
    SW_TRY(make_pairs(n, n->ends ? RS_NET_HELD : n->n_lists * n->n_lists, d));
  for (int i = 0; i < n->n_lists && !n->ends && n->q->space.rank > 0; i++) {
    for (int k = 0; k < n->n_lists; k++) rs_net_compare(n, i, k, i * n->n_lists + k);
  }
  return SW_OK;
}

/* --- states ------------------------------------------------------------------------------------------------------ */

/* The slot where a state is, or shall be. */
static int slot_of(const rs_net *n, const rs_net_state *at) {
  uint64_t words[2];
  _Static_assert(sizeof words == sizeof *at, "two words tell states apart");
  memcpy(words, at, sizeof words);
  uint64_t h = words[0] * UINT64_C(0x9e3779b97f4a7c15) ^ words[1] * UINT64_C(0xc2b2ae3d27d4eb4f);
  for (uint64_t i = h >> 40;; i++) {
    const uint16_t state = n->slot[i % RS_NET_SLOTS];
    if (state == 0 || memcmp(&n->state[state - 1], at, sizeof *at) == 0) return (int)(i % RS_NET_SLOTS);
  }
}

void rs_net_add_state(rs_net *n, const rs_net_state *at) {
  const int slot = slot_of(n, at);
  if (n->slot[slot] || n->n_states == (n->ends ? ENDS_STATES : RS_NET_STATES)) return;
  const int rank = n->q->space.rank, i = n->n_states++;
  double bytes = n->elem;
  n->state[i] = *at;
  n->slot[slot] = (uint16_t)n->n_states;
  for (int d = 0; d < rank; d++) bytes *= n->block[at->list[d]];
  n->bytes[i] = bytes;
  for (int l = 1; l < n->n_levels; l++) {
    double units = 1;
    for (int d = 0; d < rank; d++) units *= (double)n->list[at->list[d]].outer[l];
    n->unit_bytes[l][i] = n->whole_bytes / units;
  }
}

static void add_partial(rs_net *n, rs_net_state *at, bool partial) {
  const unsigned spare = ((1u << n->q->space.n) - 1) & ~(unsigned)at->used;
  for (unsigned set = 0;; set = (set - spare) & spare) { /* the subsets of what is spare */
    rs_net_state state = *at;
    state.partial = (uint8_t)set;
    state.used |= (uint8_t)set;
    if (((set ^ set << 1) & n->q->space.joined) == 0) rs_net_add_state(n, &state);
    if (set == spare || !partial) return;
  }
}

static void add_states(rs_net *n, rs_net_state *at, int dim, bool partial) {
  if (dim == n->q->space.rank) {
    add_partial(n, at, partial);
    return;
  }
  for (int i = 0; i < n->n_lists;) {
    uint8_t set = n->list[i].set;
    if (at->used & set) {
      i = n->list[i].next;
      continue;
    }
    at->used |= set;
    at->list[dim] = (uint8_t)i++;
    add_states(n, at, dim + 1, partial);
    at->used &= (uint8_t)~set;
  }
  at->list[dim] = 0;
}

/* --- where devices are -------------------------------------------------------------------------------------------- */

/* The shard that a device of such digits has by a list. */
static int32_t shard_of(const rs_net *n, const rs_net_list *l, const int32_t *digit) {
  int32_t shard = 0;
  for (int k = 0; k < l->n; k++) shard = shard * n->q->space.atom[l->atom[k]].size + digit[l->atom[k]];
  return shard;
}

static int devices_of(const rs_space *s, unsigned set) {
  int n = 1;
  for (int a = 0; a < s->n; a++) n *= set >> a & 1u ? s->atom[a].size : 1;
  return n;
}

static int in_lanes(int n) { return (n + RS_NET_LANES - 1) / RS_NET_LANES * RS_NET_LANES; }

/* Devices are counted through by their digits, the last atom's first. The first one has the first shard of all lists,
 * as what is left at 0 has. */
static void place_part(rs_net *n, unsigned set) {
  const rs_space *s = &n->q->space;
  const struct rs_net_part *p = &n->part[set];
  int32_t digit[RS_NET_ATOMS] = {0};
  for (int device = 0, devices = devices_of(s, set); device < devices; device++) {
    for (int a = s->n - 1, rest = device; a >= 0; a--) {
      if (!(set >> a & 1u)) continue;
      digit[a] = rest % s->atom[a].size;
      rest /= s->atom[a].size;
    }
    for (int i = 0; i < n->n_lists; i++) {
      const int32_t shard = n->list[i].set & ~set ? 0 : shard_of(n, &n->list[i], digit);
      for (int l = 0; l < n->n_levels; l++) {
        n->place[p->first + (ptrdiff_t)(l * n->n_lists + i) * p->n + device] = shard / (int32_t)n->list[i].inside[l];
      }
    }
  }
}

/* Are parts of the devices not worth their place? */
static bool only_all(const rs_net *n) {
  enum { MOST_PLACES = 1024 };
  int64_t all = 1;
  for (int a = 0; a < n->q->space.n; a++) all *= 1 + n->q->space.atom[a].size;
  return n->ends || all > MOST_PLACES;
}

static sw_rc place_devices(rs_net *n, bool counts, sw_diag *d) {
  const rs_space *s = &n->q->space;
  const unsigned all = (1u << s->n) - 1;
  const bool one = only_all(n);
  ptrdiff_t end = 0;
  n->n_places = counts && n->devices <= RS_NET_PLACES ? in_lanes((int)n->devices) : 0;
  if (n->n_places == 0) return SW_OK;
  for (unsigned set = one ? all : 0; set <= all; set++) {
    struct rs_net_part *p = &n->part[set];
    *p = (struct rs_net_part){.n = in_lanes(devices_of(s, set)), .first = end};
    end += (ptrdiff_t)n->n_levels * n->n_lists * p->n;
  }
  sw_mem_free(n->place);
  SW_MEM_NEW(n->place, end, d);
  for (unsigned set = one ? all : 0; set <= all; set++) place_part(n, set);
  for (unsigned set = 0; set < all && one; set++) n->part[set] = n->part[all];
  return SW_OK;
}

/* --- the floor --------------------------------------------------------------------------------------------------- */

/* How many links into a device can carry what it receives on a level. */
static double links_of(const sw_level *level) {
  double n = 1;
  for (int i = 0; i < level->n_dims; i++) n *= (double)level->dims[i];
  if (level->kind == SW_TOPOLOGY_FULL_MESH) return fmax(1, n - 1);
  return level->kind == SW_TOPOLOGY_TORUS ? 2.0 * level->n_dims : 1;
}

static bool is_below(const struct rs_net_line *a, const struct rs_net_line *b) {
  return a->ramp_s <= b->ramp_s && a->slope_s <= b->slope_s;
}

/* Those that reduce come last. */
static void drop_line(struct rs_net_lines *all, int i) {
  if (i < all->n_plain) {
    all->line[i] = all->line[--all->n_plain];
    i = all->n_plain;
  }
  all->line[i] = all->line[--all->n];
}

/* Adds a line, unless it is never the least, in place of those that never are beside it. */
static void add_line(struct rs_net_lines *all, struct rs_net_line line, bool reduces) {
  for (int i = 0; i < (reduces ? all->n : all->n_plain); i++) {
    if (is_below(&all->line[i], &line)) return;
  }
  for (int i = all->n - 1; i >= (reduces ? all->n_plain : 0); i--) {
    if (is_below(&line, &all->line[i])) drop_line(all, i);
  }
  const int at = reduces ? all->n : all->n_plain++;
  all->line[all->n++] = all->line[at];
  all->line[at] = line;
}

/* After those of the level above, which bytes that cross it go over. */
static void floor_of_level(const sw_level *level, int l, rs_net_floor *out) {
  static const bool kReduces[SW_COST_CLASS_COUNT] = {[SW_COST_ALL_REDUCE] = true, [SW_COST_REDUCE_SCATTER] = true};
  const double ways = links_of(level);
  struct rs_net_line *least = &out->least[l];
  *least = (struct rs_net_line){HUGE_VAL, HUGE_VAL};
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    const sw_cost_line *line = &level->line[c];
    double slope = line->in_network_min ? fmin(line->s_per_byte, line->in_network_s_per_byte) : line->s_per_byte;
    const struct rs_net_line here = {line->ramp_s_per_sqrt_byte / sqrt(ways), slope / ways};
    out->latency_s[l] = fmin(out->latency_s[l], line->base_s + line->peer_s);
    least->ramp_s = fmin(least->ramp_s, here.ramp_s);
    least->slope_s = fmin(least->slope_s, here.slope_s);
    add_line(&out->lines[l], here, kReduces[c]);
  }
}

/* Bytes over all levels at once: some level takes its share or more, where shares are as fast as levels are. */
static struct rs_net_line together(const struct rs_net_line *least, int n_levels) {
  struct rs_net_line all = {HUGE_VAL, 0};
  double rate = 0;
  for (int l = 0; l < n_levels; l++) rate += 1 / least[l].slope_s;
  if (isinf(rate)) return (struct rs_net_line){0, 0};
  all.slope_s = 1 / rate;
  for (int l = 0; l < n_levels; l++) {
    all.ramp_s = fmin(all.ramp_s, least[l].ramp_s * sqrt(all.slope_s / least[l].slope_s));
  }
  return all;
}

static void find_floor(rs_net *n) {
  const sw_profile *p = sw_machine_profile(n->q->machine);
  rs_net_floor *f = &n->floor;
  for (int l = n->n_levels - 1; l >= 0; l--) {
    const bool top = l == n->n_levels - 1;
    f->latency_s[l] = top ? HUGE_VAL : f->latency_s[l + 1];
    if (top)
      f->lines[l].n = f->lines[l].n_plain = 0;
    else
      f->lines[l] = f->lines[l + 1];
    floor_of_level(&p->level[l], l, f);
    f->unit[l] = 1;
    for (int a = 0; a < n->q->space.n; a++) f->unit[l] *= n->inside[l][a];
  }
  f->together = together(f->least, n->n_levels);
  sw_curve copy[SW_MAX_CURVES];
  (void)sw_group_collective_curves(n->q->machine, rs_net_group(n, 0), SW_COLL_TO_PARTIAL, 1, copy);
  f->copy_s = copy[0].latency_s;
  f->copied_s = copy[0].slope[0];
  f->step_s = fmin(f->copy_s, f->latency_s[0]);
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static void measure(rs_net *n) {
  const rs_space *s = &n->q->space;
  n->n_levels = sw_machine_profile(n->q->machine)->n_levels;
  n->devices = (double)sw_mesh_devices(s->mesh);
  n->whole_bytes = n->elem = sw_dtype_bytes(n->q->dtype);
  for (int d = 0; d < s->rank; d++) n->whole_bytes *= (double)s->dims[d];
  for (int l = 0; l < n->n_levels; l++) {
    for (int a = 0; a < s->n; a++) {
      n->inside[l][a] = l ? (double)sw_axis_ref_inside(n->q->machine, s->atom[a], l) : 1;
    }
    for (unsigned set = 0; set < 1u << s->n; set++) {
      n->units[l][set] = 1;
      for (int a = 0; a < s->n; a++) {
        if (set >> a & 1u) n->units[l][set] *= s->atom[a].size / n->inside[l][a];
      }
    }
  }
}

void rs_net_make_group(const rs_net *n, unsigned set) {
  sw_axis_ref refs[RS_NET_ATOMS];
  const int k = rs_refs_of_set(&n->q->space, set, refs);
  sw_machine_group(n->q->machine, refs, k, &n->group[set]);
}

sw_rc rs_net_init(rs_net *n, const rs_query *q, sw_diag *d) {
  n->q = q;
  n->held = NULL;
  n->diff = NULL;
  n->pair = NULL;
  n->place = NULL;
  measure(n);
  SW_MEM_NEW(n->group, 1 << q->space.n, d);
  find_floor(n);
  return SW_OK;
}

sw_rc rs_net_fill(rs_net *n, const rs_net_ends *ends, bool partial, bool counts, sw_diag *d) {
  n->ends = ends;
  n->partial = partial;
  n->n_lists = n->n_states = 0;
  memset(n->slot, 0, sizeof n->slot);
  if (ends) {
    rs_net_add_hubs(n);
  } else {
    add_lists(n, &(rs_net_list){.shards = 1});
    add_states(n, &(rs_net_state){0}, 0, partial);
    if (n->q->space.joined) rs_net_add_spread(n);
    for (unsigned set = 0; set < 1u << n->q->space.n; set++) (void)rs_net_group(n, set);
  }
  SW_TRY(compare_lists(n, d));
  return place_devices(n, counts, d);
}

void rs_net_deinit(rs_net *n) {
  sw_mem_free(n->group);
  sw_mem_free(n->held);
  sw_mem_free(n->diff);
  sw_mem_free(n->pair);
  sw_mem_free(n->place);
}

int rs_net_find(const rs_net *n, const rs_state *state) {
  const rs_space *s = &n->q->space;
  rs_net_state at = {0};
  rs_lists lists;
  rs_lists_of(s, state, &lists);
  at.used = (uint8_t)lists.used;
  at.partial = (uint8_t)lists.partial;
  for (int d = 0; d < s->rank; d++) {
    at.list[d] = (uint8_t)rs_net_find_list(n, lists.atom[d], lists.len[d]);
  }
  return rs_net_find_state(n, &at);
}

int rs_net_find_state(const rs_net *n, const rs_net_state *at) { return n->slot[slot_of(n, at)] - 1; }

rs_state rs_net_state_of(const rs_net *n, int state) {
  rs_state out;
  const rs_net_state *at = &n->state[state];
  memset(out.at, RS_UNUSED, sizeof out.at);
  for (int d = 0; d < n->q->space.rank; d++) {
    const rs_net_list *l = &n->list[at->list[d]];
    for (int i = 0; i < l->n; i++) out.at[l->atom[i]] = (uint8_t)(d << 4 | i);
  }
  for (int a = 0; a < n->q->space.n; a++) {
    if (at->partial >> a & 1) out.at[a] = RS_PARTIAL;
  }
  return out;
}
