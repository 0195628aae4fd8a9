/* The atoms of a net: how finely axes are cut, so that the states are few enough. What does not depend on the ends is
 * worked out once per machine and rank.
 */
#include "reshard/net.h"

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
enum { PRIME_STATES = 1240, UNIT_STATES = 600, WIDE_STATES = 200 };

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

static bool cut_at_units(const sw_machine *machine, int rank, sw_sharding *out) {
  const sw_sharding none = sw_sharding_replicated(rank);
  rs_space s;
  return add_units(machine, out) && rs_space_init_all(&s, sw_machine_mesh(machine), rank, NULL, &none, 1, out) &&
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
static bool cut_wide(const sw_machine *machine, int rank, sw_sharding *cut) {
  const sw_mesh *m = sw_machine_mesh(machine);
  const sw_sharding none = sw_sharding_replicated(rank);
  rs_space s;
  bool any = false;
  int n_axes = 0;
  for (int a = 0; a < m->n_axes; a++) n_axes += m->axis[a].size > 1;
  if (rs_net_count(n_axes + 1, rank, true) > WIDE_STATES) return false;
  while (rs_space_init_all(&s, m, rank, NULL, &none, 1, cut) && s.n < MOST_ATOMS &&
         rs_net_count(s.n + 1, rank, true) <= WIDE_STATES) {
    sw_sharding primes = sw_sharding_replicated(1);
    const int at = widest(&s);
    if (at < 0 || !add_primes(s.atom[at], &primes) || !sw_sharding_push(cut, 0, primes.refs[0])) break;
    any = true;
  }
  return any;
}

bool rs_crosses_units(const sw_machine *machine, sw_axis_ref atom) {
  return sw_machine_profile(machine)->n_levels > 1 && sw_axis_ref_inside(machine, atom, 1) == 1;
}

/* Does every sharding? */
static bool all_cut_evenly(const sw_mesh *m, int rank, const int64_t *dims) {
  const int64_t devices = sw_mesh_devices(m);
  for (int d = 0; d < rank; d++) {
    if (dims[d] % devices) return false;
  }
  return true;
}

/* The atoms of a net, cut further for states that none of its lists makes (net_spread.c): those that cross between
 * units into prime factors; with `parts` also one that lies across the border of a unit, there. */
static bool cut_for_spread(const rs_space *s, const sw_machine *machine, bool parts, rs_space *out) {
  sw_sharding fine = sw_sharding_replicated(1);
  for (int i = 0; i < s->n; i++) {
    const sw_axis_ref atom = s->atom[i];
    const int32_t inside = (int32_t)sw_axis_ref_inside(machine, atom, 1);
    const sw_axis_ref outer = {atom.axis, atom.pre, atom.size / inside};
    const sw_axis_ref inner = {atom.axis, atom.pre * outer.size, inside};
    const bool cut = parts && inside > 1 && outer.size > 1;
    if (inside > 1 && !cut ? !sw_sharding_push(&fine, 0, atom) : !add_primes(outer, &fine)) return false;
    if (cut && !sw_sharding_push(&fine, 0, inner)) return false;
  }
  if (!rs_space_init_all(out, s->mesh, s->rank, s->dims, &fine, 1, NULL) || out->n > RS_NET_ATOMS) return false;
  for (int i = 0, k = 0; i < out->n; i++) {
    const bool first = k < s->n && out->atom[i].axis == s->atom[k].axis && out->atom[i].pre == s->atom[k].pre;
    out->joined |= (unsigned)!first << i;
    k += first;
  }
  return true;
}

/* Atoms for states that spread, where those are not too many; of dimensions that all cut evenly, as no step is to be
 * counted. */
static void spread(rs_space *s, const sw_machine *machine) {
  const int64_t base = rs_net_count(s->n, s->rank, true);
  if (sw_machine_profile(machine)->n_levels < 2) return;
  for (int parts = base <= PRIME_STATES; parts >= 0; parts--) {
    rs_space with;
    const int64_t more = cut_for_spread(s, machine, parts, &with) ? rs_net_spread_count(&with, machine) : 0;
    if (more == 0 || base + more > RS_NET_STATES) continue;
    *s = with;
    return;
  }
}

/* The prime factors of all axes. */
static bool prime_space(rs_space *s, const sw_machine *machine, int rank) {
  const sw_mesh *m = sw_machine_mesh(machine);
  sw_sharding primes;
  return add_all_primes(m, &primes) && rs_space_init_all(s, m, rank, NULL, &primes, 1, NULL);
}

/* --- of one rank ------------------------------------------------------------------------------------------------- */

typedef struct ways {
  sw_machine_cache note; /* first: the machine holds it by that */
  int rank;
  bool are_primes; /* the atoms of `primes`: they can be written */
  bool has_primes; /* and are few enough; then nothing else counts */
  rs_space primes;
  bool is_wide;          /* `wide` cuts more than `cut` */
  sw_sharding cut, wide; /* what axes are cut by, whoever asks */
  bool has_whole;        /* a net holds whole axes */
  rs_space whole[2];     /* their atoms where dimensions are uneven, and even */
} ways;

static const char kOwner[] = "ways";

static void destroy(sw_machine_cache *note) { sw_mem_free(note); }

/* For ends that name parts of axes, too; without the states that spread. */
static bool space_of(const ways *w, const sw_machine *machine, const sw_sharding *all, int n, rs_space *s) {
  const sw_mesh *m = sw_machine_mesh(machine);
  const bool wide = w->is_wide && rs_space_init_all(s, m, w->rank, NULL, all, n, &w->wide) && fits(s, RS_NET_STATES);
  return wide || (rs_space_init_all(s, m, w->rank, NULL, all, n, &w->cut) && fits(s, RS_NET_STATES));
}

static void find_ways(const sw_machine *machine, int rank, ways *w) {
  const sw_sharding none = sw_sharding_replicated(rank);
  *w = (ways){.note = {.of = kOwner, .destroy = destroy}, .rank = rank};
  w->are_primes = prime_space(&w->primes, machine, rank);
  w->has_primes = w->are_primes && fits(&w->primes, PRIME_STATES);
  if (w->has_primes) return;
  if (!cut_at_units(machine, rank, &w->cut)) w->cut = sw_sharding_replicated(1);
  w->wide = w->cut;
  w->is_wide = cut_wide(machine, rank, &w->wide);
  w->has_whole = space_of(w, machine, &none, 1, &w->whole[false]);
  w->whole[true] = w->whole[false];
  if (w->has_whole) spread(&w->whole[true], machine);
}

/* From the machine's notes, or, where there is no memory for one more, in `room`. */
static const ways *ways_of(const sw_machine *machine, int rank, ways *room) {
  for (sw_machine_cache *n = sw_machine_caches(machine); n; n = n->next) {
    if (n->of == kOwner && ((ways *)n)->rank == rank) return (ways *)n;
  }
  ways *w = sw_mem_alloc(1, sizeof *w, NULL);
  find_ways(machine, rank, w ? w : room);
  if (w) sw_machine_cache_add(machine, &w->note);
  return w ? w : room;
}

static bool only_whole(const sw_mesh *m, const sw_sharding *all, int n) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < all[i].n_refs + all[i].n_partial; k++) {
      if (all[i].refs[k].size != m->axis[all[i].refs[k].axis].size) return false;
    }
  }
  return true;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

void rs_net_ends_space(rs_space *s, const sw_machine *machine, const sw_sharding ends[2]) {
  const int64_t *dims = s->dims;
  ways room;
  const ways *w = ways_of(machine, s->rank, &room);
  rs_space with = w->primes;
  const bool primes = w->are_primes && with.n <= RS_NET_ATOMS;
  if (primes || (w->cut.n_refs > 0 && rs_space_init_all(&with, s->mesh, s->rank, NULL, ends, 2, &w->cut) &&
                 with.n <= RS_NET_ATOMS))
    *s = with;
  s->dims = dims;
}

bool rs_net_space(rs_space *s, const sw_machine *machine, int rank, const int64_t *dims, const sw_sharding *all,
                  int n) {
  const sw_mesh *m = sw_machine_mesh(machine);
  const bool even = all_cut_evenly(m, rank, dims);
  ways room;
  const ways *w = ways_of(machine, rank, &room);
  if (w->has_primes) {
    *s = w->primes;
  } else if (w->has_whole && only_whole(m, all, n)) {
    *s = w->whole[even];
  } else {
    if (!space_of(w, machine, all, n, s)) return false;
    if (even) spread(s, machine);
  }
  s->dims = dims;
  return true;
}
