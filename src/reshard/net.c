/* The states of a net, and what each list of atoms makes of a dimension.
 *
 * Lists are numbered, 0 is empty: of atoms x, y there are [], [x], [x,y], [y], [y,x]. A state is one number per
 * dimension, [[y],[x]] is 3 1, and a set of atoms in whose parts its values are.
 */
#include "reshard/net.h"

#include <math.h>
#include <string.h>

#include "reshard/price.h"
#include "shardwright/checked.h"

enum { MOST_ATOMS = 4 }; /* of which all lists are made */

int64_t rs_net_count(int n, int rank, bool partial) {
  int64_t ways = 1, sum = 0; /* of placing k atoms: n!/(n-k)! * C(k+rank-1, k) */
  for (int k = 0; k <= n; k++) {
    sum += partial ? ways << (n - k) : ways;
    ways = ways * (n - k) * (rank + k) / (k + 1);
  }
  return sum;
}

/* More states take longer: where whole axes do, parts that nobody names are left out. */
enum { PRIME_STATES = 1240, UNIT_STATES = 600, WIDE_STATES = 200, ENDS_STATES = 1240 };

static bool fits(const rs_space *s, int most) {
  return s->n <= MOST_ATOMS && rs_net_count(s->n, s->rank, true) <= most;
}

/* Refs that cut one into prime factors; false where it has several. */
static bool add_primes(sw_axis_ref ref, sw_sharding *out) {
  int32_t prime = 2;
  if (ref.size > SW_MAX_DEVICES) return false;
  while (ref.size > 1 && ref.size % prime) prime++;
  for (int32_t pre = 1; pre < ref.size; pre *= prime) {
    if (ref.size % (pre * prime)) return false;
    if (!sw_sharding_push(out, 0, (sw_axis_ref){ref.axis, ref.pre * pre, prime})) return false;
  }
  return true;
}

/* The same of all axes. */
static bool add_all_primes(const sw_mesh *m, sw_sharding *out) {
  *out = sw_sharding_replicated(1);
  for (int a = 0; a < m->n_axes; a++) {
    if (!add_primes(sw_axis_whole(m, a), out)) return false;
  }
  return true;
}

/* Refs that cut axes which lie across the border of units, as 4 of 4x4 do on nodes of 8. */
static bool add_units(const sw_machine *machine, sw_sharding *out) {
  const sw_mesh *m = sw_machine_mesh(machine);
  bool any = false;
  *out = sw_sharding_replicated(1);
  for (int a = 0; a < m->n_axes; a++) {
    int32_t pre = 1; /* of what is left behind the cuts so far */
    for (int l = sw_machine_profile(machine)->n_levels - 1; l > 0; l--) {
      const sw_axis_ref rest = {a, pre, (int32_t)(m->axis[a].size / pre)};
      const int32_t inside = (int32_t)sw_axis_ref_inside(machine, rest, l);
      if (inside == 1 || inside == rest.size) continue;
      if (!sw_sharding_push(out, 0, (sw_axis_ref){a, pre, rest.size / inside})) return false;
      pre *= rest.size / inside;
      any = true;
    }
  }
  return any;
}

static bool cut_at_units(const sw_machine *machine, int rank, const int64_t *dims, sw_sharding *out) {
  const sw_sharding none = sw_sharding_replicated(rank);
  rs_space s;
  return add_units(machine, out) && rs_space_init_all(&s, sw_machine_mesh(machine), rank, dims, &none, 1, out) &&
         fits(&s, UNIT_STATES);
}

/* Of atoms of several prime factors the widest, the last of them: -1 where there is none. */
static int widest(const rs_space *s) {
  int at = -1;
  for (int i = 0; i < s->n; i++) {
    sw_sharding primes = sw_sharding_replicated(1);
    const bool cuts = add_primes(s->atom[i], &primes) && primes.n_refs > 1;
    if (cuts && (at < 0 || s->atom[i].size >= s->atom[at].size)) at = i;
  }
  return at;
}

/* Where whole axes, cut as far as they are, leave room for more states, the widest are cut, too; false: none is. */
static bool cut_wide(const sw_machine *machine, int rank, const int64_t *dims, sw_sharding *cut) {
  const sw_mesh *m = sw_machine_mesh(machine);
  const sw_sharding none = sw_sharding_replicated(rank);
  rs_space s;
  bool any = false;
  int n_axes = 0;
  for (int a = 0; a < m->n_axes; a++) n_axes += m->axis[a].size > 1;
  if (rs_net_count(n_axes + 1, rank, true) > WIDE_STATES) return false;
  while (rs_space_init_all(&s, m, rank, dims, &none, 1, cut) && s.n < MOST_ATOMS &&
         rs_net_count(s.n + 1, rank, true) <= WIDE_STATES) {
    sw_sharding primes = sw_sharding_replicated(1);
    const int at = widest(&s);
    if (at < 0 || !add_primes(s.atom[at], &primes) || !sw_sharding_push(cut, 0, primes.refs[0])) break;
    any = true;
  }
  return any;
}

/* States that spread, at most, of so many atoms that cross between units and axes inside. */
static int spread_count(int n_crossing, int n_inside, int rank) {
  return n_crossing < 2 ? 0 : (n_crossing - 1) * rank * ((1 << n_inside) - 1 + 3 * (rank - 1));
}

static bool crosses(const sw_machine *machine, sw_axis_ref atom) {
  return sw_machine_profile(machine)->n_levels > 1 && sw_axis_ref_inside(machine, atom, 1) == 1;
}

/* Can every sharding cut it evenly? */
static bool is_even(const rs_space *s) {
  const int64_t devices = sw_mesh_devices(s->mesh);
  for (int d = 0; d < s->rank; d++) {
    if (s->dims[d] % devices) return false;
  }
  return true;
}

/* Atoms for states that spread (below), where those are not too many and no step is to be counted. */
static void split_crossing(rs_space *s, const sw_machine *machine) {
  sw_sharding fine = sw_sharding_replicated(1);
  rs_space with;
  int n_crossing = 0, n_inside = 0;
  for (int i = 0; i < s->n; i++) {
    if (!(crosses(machine, s->atom[i]) ? add_primes(s->atom[i], &fine) : sw_sharding_push(&fine, 0, s->atom[i])))
      return;
  }
  if (!rs_space_init_all(&with, s->mesh, s->rank, s->dims, &fine, 1, NULL) || with.n > RS_NET_ATOMS) return;
  for (int i = 0, k = 0; i < with.n; i++) {
    const bool first = k < s->n && with.atom[i].axis == s->atom[k].axis && with.atom[i].pre == s->atom[k].pre;
    n_crossing += crosses(machine, with.atom[i]);
    n_inside += !crosses(machine, with.atom[i]);
    with.joined |= (unsigned)!first << i;
    k += first;
  }
  if (n_inside == 0 || !is_even(s)) return;
  if (rs_net_count(s->n, s->rank, true) + spread_count(n_crossing, n_inside, s->rank) <= RS_NET_STATES) *s = with;
}

/* The prime factors of all axes. */
static bool prime_space(rs_space *s, const sw_machine *machine, int rank, const int64_t *dims) {
  const sw_mesh *m = sw_machine_mesh(machine);
  sw_sharding primes;
  return add_all_primes(m, &primes) && rs_space_init_all(s, m, rank, dims, &primes, 1, NULL);
}

void rs_net_ends_space(rs_space *s, const sw_machine *machine, const sw_sharding ends[2]) {
  sw_sharding cut;
  rs_space with;
  const bool finer = (prime_space(&with, machine, s->rank, s->dims) && with.n <= RS_NET_ATOMS) ||
                     (cut_at_units(machine, s->rank, s->dims, &cut) &&
                      rs_space_init_all(&with, s->mesh, s->rank, s->dims, ends, 2, &cut) && with.n <= RS_NET_ATOMS);
  if (finer) *s = with;
}

bool rs_net_space(rs_space *s, const sw_machine *machine, int rank, const int64_t *dims, const sw_sharding *all,
                  int n) {
  sw_sharding cut;
  if (prime_space(s, machine, rank, dims) && fits(s, PRIME_STATES)) return true;
  if (!cut_at_units(machine, rank, dims, &cut)) cut = sw_sharding_replicated(1);
  sw_sharding wide = cut;
  const bool finer = cut_wide(machine, rank, dims, &wide) &&
                     rs_space_init_all(s, sw_machine_mesh(machine), rank, dims, all, n, &wide) &&
                     fits(s, RS_NET_STATES);
  if (!finer && (!rs_space_init_all(s, sw_machine_mesh(machine), rank, dims, all, n, &cut) || !fits(s, RS_NET_STATES)))
    return false;
  split_crossing(s, machine);
  return true;
}

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

static sw_rc compare_lists(rs_net *n, sw_diag *d) {
  const int n_pairs = n->ends ? RS_NET_HELD : n->n_lists * n->n_lists;
  SW_MEM_NEW(n->diff, n_pairs, d);
  SW_MEM_NEW(n->pair, n_pairs, d);
  if (n->ends) SW_MEM_NEW(n->held, n_pairs, d);
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

/* --- states that spread ------------------------------------------------------------------------------------------ */

static int find_list(const rs_net *n, const uint8_t *atom, int len) {
  int i = 0;
  while (i < n->n_lists && (n->list[i].n != len || memcmp(n->list[i].atom, atom, (size_t)len) != 0)) i++;
  return i;
}

/* That of a set's atoms in order, behind those of another, which stand behind those of a third. */
static uint8_t list_of(rs_net *n, unsigned first, unsigned then, unsigned last) {
  rs_net_list l = {.shards = 1};
  for (; first; first &= first - 1) l = rs_net_longer(n, &l, __builtin_ctz(first));
  for (; then; then &= then - 1) l = rs_net_longer(n, &l, __builtin_ctz(then));
  for (; last; last &= last - 1) l = rs_net_longer(n, &l, __builtin_ctz(last));
  const int number = find_list(n, l.atom, l.n);
  return number < n->n_lists ? (uint8_t)number : rs_net_add_list(n, &l);
}

static void add_two_lists(rs_net *n, int d, uint8_t list, int e, uint8_t other) {
  rs_net_state at = {0};
  at.list[d] = list;
  if (other) at.list[e] = other;
  at.used = n->list[list].set | n->list[other].set;
  rs_net_add_state(n, &at);
}

/* The head alone behind some of the others and before the rest of them. */
static void add_between(rs_net *n, unsigned head, unsigned others) {
  unsigned before = others;
  do { /* the subsets but all, which cut no axis */
    before = (before - 1) & others;
    if ((before ^ before << 1) & n->q->space.joined) continue;
    const uint8_t list = list_of(n, before, head, others & ~before);
    for (int d = 0; d < n->q->space.rank; d++) add_two_lists(n, d, list, d, 0);
  } while (before);
}

/* Between units a value pays to move in halves, if all devices of a unit have different pieces of it: all links carry
 * something then, and few peers share each. So what no end of whole axes names is on the way: the crossing atoms cut in
 * two; the head in one dimension, among all other atoms; or the head at the beginning of one and the rest of another,
 * and all other atoms, in order, behind one of the two, or (at rank 2; at others it gains nothing) unused: so they
 * stand before and after a piece moves.
 *
 *   x=8 between nodes of y=2, z=4:   [[],[y,x:(1)2,z]], [[x:(1)2,y,z],[x:(2)4]], [[x:(1)2],[x:(2)4]], ...
 */
static void add_spread(rs_net *n, unsigned head, unsigned rest, unsigned others) {
  const uint8_t short_head = list_of(n, head, 0, 0), long_head = list_of(n, head, others, 0);
  const uint8_t short_rest = list_of(n, rest, 0, 0), long_rest = list_of(n, rest, others, 0);
  const int rank = n->q->space.rank;
  add_between(n, head, others);
  for (int d = 0; d < rank; d++) {
    for (int e = 0; e < rank; e++) {
      if (e == d) continue;
      if (rank == 2) add_two_lists(n, d, short_head, e, short_rest);
      add_two_lists(n, d, short_head, e, long_rest);
      add_two_lists(n, d, long_head, e, short_rest);
    }
  }
}

static void add_spread_states(rs_net *n) {
  const rs_space *s = &n->q->space;
  unsigned crossing = 0;
  for (int a = 0; a < s->n; a++) crossing |= (unsigned)crosses(n->q->machine, s->atom[a]) << a;
  const unsigned others = ((1u << s->n) - 1) & ~crossing;
  for (unsigned rest = crossing & (crossing - 1); rest; rest &= rest - 1) add_spread(n, crossing & ~rest, rest, others);
}

/* The shard that a device of such digits has by a list. */
static int32_t shard_of(const rs_net *n, const rs_net_list *l, const int32_t *digit) {
  int32_t shard = 0;
  for (int k = 0; k < l->n; k++) shard = shard * n->q->space.atom[l->atom[k]].size + digit[l->atom[k]];
  return shard;
}

/* Devices are counted through by their digits, the last atom's first. */
static void place_part(rs_net *n, unsigned set) {
  const rs_space *s = &n->q->space;
  const struct rs_net_part *p = &n->part[set];
  int32_t digit[RS_NET_ATOMS] = {0};
  for (int device = 0; device < p->n; device++) {
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
  n->n_places = counts && n->devices <= RS_NET_PLACES ? (int)n->devices : 0;
  if (n->n_places == 0) return SW_OK;
  for (unsigned set = one ? all : 0; set <= all; set++) {
    struct rs_net_part *p = &n->part[set];
    *p = (struct rs_net_part){.n = 1, .first = end};
    for (int a = 0; a < s->n; a++) p->n *= set >> a & 1u ? s->atom[a].size : 1;
    end += (ptrdiff_t)n->n_levels * n->n_lists * p->n;
  }
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

/* Is the line never the least? */
static bool is_idle(const rs_net_floor *f, int i, int first) {
  const struct rs_net_line *a = &f->line[i];
  for (int k = first; k < f->n_lines; k++) {
    const struct rs_net_line *b = &f->line[k];
    const bool below = b->ramp_s <= a->ramp_s && b->slope_s <= a->slope_s && b->reduces <= a->reduces;
    const bool same = b->ramp_s == a->ramp_s && b->slope_s == a->slope_s && b->reduces == a->reduces;
    if (below && !(same && k >= i)) return true;
  }
  return false;
}

static void drop_idle(rs_net_floor *f, int first) {
  for (int i = f->n_lines - 1; i >= first; i--) {
    if (is_idle(f, i, first)) f->line[i] = f->line[--f->n_lines];
  }
}

static void floor_of_level(const sw_level *level, int l, rs_net_floor *out) {
  static const bool kReduces[SW_COST_CLASS_COUNT] = {[SW_COST_ALL_REDUCE] = true, [SW_COST_REDUCE_SCATTER] = true};
  const double ways = links_of(level);
  out->first_line[l] = (uint8_t)out->n_lines;
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    const sw_cost_line *line = &level->line[c];
    double slope = line->in_network_min ? fmin(line->s_per_byte, line->in_network_s_per_byte) : line->s_per_byte;
    out->latency_s[l] = fmin(out->latency_s[l], line->base_s + line->peer_s);
    out->line[out->n_lines++] =
        (struct rs_net_line){line->ramp_s_per_sqrt_byte / sqrt(ways), slope / ways, kReduces[c]};
  }
  drop_idle(out, out->first_line[l]);
}

static void find_floor(rs_net *n) {
  const sw_profile *p = sw_machine_profile(n->q->machine);
  rs_net_floor *f = &n->floor;
  f->n_lines = 0;
  for (int l = 0; l < n->n_levels; l++) {
    f->latency_s[l] = HUGE_VAL;
    floor_of_level(&p->level[l], l, f);
    f->unit[l] = 1;
    for (int a = 0; a < n->q->space.n; a++) f->unit[l] *= n->inside[l][a];
  }
  for (int l = n->n_levels - 2; l >= 0; l--) f->latency_s[l] = fmin(f->latency_s[l], f->latency_s[l + 1]);
  f->step_s = fmin(sw_group_collective_s(n->q->machine, rs_net_group(n, 0), SW_COLL_ALL_SLICE, 0), f->latency_s[0]);
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

static sw_rc group_atoms(rs_net *n, sw_diag *d) {
  SW_MEM_NEW(n->group, 1 << n->q->space.n, d);
  for (unsigned set = 0; set < 1u << n->q->space.n && !n->ends; set++) rs_net_make_group(n, set);
  return SW_OK;
}

sw_rc rs_net_init(rs_net *n, const rs_query *q, const rs_net_ends *ends, bool partial, bool counts, sw_diag *d) {
  n->q = q;
  n->ends = ends;
  n->n_lists = n->n_states = 0;
  n->held = NULL;
  n->group = NULL;
  n->diff = NULL;
  n->pair = NULL;
  n->place = NULL;
  memset(n->slot, 0, sizeof n->slot);
  measure(n);
  if (ends) {
    rs_net_add_hubs(n);
  } else {
    add_lists(n, &(rs_net_list){.shards = 1});
    add_states(n, &(rs_net_state){0}, 0, partial);
    if (q->space.joined) add_spread_states(n);
  }
  SW_TRY(compare_lists(n, d));
  SW_TRY(place_devices(n, counts, d));
  SW_TRY(group_atoms(n, d));
  find_floor(n);
  return SW_OK;
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
    at.list[d] = (uint8_t)find_list(n, lists.atom[d], lists.len[d]);
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
