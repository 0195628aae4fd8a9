/* Moves. All of them change the ends of lists, because blocks nest from the major side:
 *
 *   all_slice       [x]      -> [x,y]     y unused before
 *   reduce_scatter  [x]      -> [x,y]     y partial before
 *   all_gather      [x,y,z]  -> [x]
 *   all_to_all      [x,y],[] -> [x],[y]
 *   all_to_all_dims [x],[y],[] -> [],[],[y,x]     the same for several dimensions or another order, on even blocks
 *   all_reduce      partial  -> unused
 *
 * and only where uneven blocks nest (rs_cuts_nest). While something is still to be reduced nothing is gathered or
 * moved: partial data is the larger.
 *
 * Of all these a cheapest route has few, and only those are offered (docs/resharding.md, "Which moves"):
 *   - what stands where the target wants it, with everything before it right too, stays (unless blocks do not nest:
 *     then a whole dimension may have to be gathered);
 *   - what is moved or sliced goes where the target wants it, or behind its predecessor in a target list, so that both
 *     move on together;
 *   - an axis that the target does not use is sliced only as a helper, where a permute or a reduction follows on
 *     smaller blocks.
 */
#include "reshard/moves.h"

#include <stddef.h>
#include <string.h>

#include "reshard/price.h"
#include "base/checked.h"

typedef struct moving {
  const rs_query *q;
  const rs_lists *from, *target;
  double bytes;
  unsigned to_reduce;
  rs_offer offer;
  void *user;
  int8_t right[SW_MAX_RANK]; /* leading atoms of a dimension that stand as in the target */
  unsigned even;             /* bit set of dimensions that both ends cut evenly */
  bool conflict;             /* some dimension holds other atoms where the target wants its own */
  bool tangled;              /* that, or blocks that do not nest: an exchange may beat what collectives can do */
} moving;

static bool all_right(const moving *v, int dim) { return v->right[dim] == v->from->len[dim]; }

/* Would the target have this atom at the end of this dimension, as it is now? Or behind the atom that is last there,
 * in another dimension? */
static bool belongs(const moving *v, int dim, uint8_t atom) {
  int len = v->from->len[dim];
  uint8_t wanted = v->q->target.at[atom];
  if (wanted >= RS_PARTIAL) return false;
  if (wanted == (uint8_t)(dim << 4 | len) && all_right(v, dim)) return true;
  if (len == 0 || all_right(v, dim)) return false;
  uint8_t before = v->q->target.at[v->from->atom[dim][len - 1]];
  return before < RS_PARTIAL && wanted == before + 1;
}

/* Do the first cuts of this dimension nest in all that it has? */
static bool is_even(const moving *v, int dim) { return v->even >> dim & 1u; }

static bool divides(int64_t k, int64_t shards) { return shards == 1 || k % shards == 0; }

int64_t rs_size_of(const rs_query *q, const uint8_t *atoms, int n) {
  int64_t size = 1;
  for (int i = 0; i < n; i++) size *= q->space.atom[atoms[i]].size;
  return size;
}

void rs_push(const rs_query *q, rs_lists *l, int dim, const uint8_t *atoms, int n) {
  l->shards[dim] *= rs_size_of(q, atoms, n);
  for (int i = 0; i < n; i++) {
    l->atom[dim][l->len[dim]++] = atoms[i];
    l->used |= 1u << atoms[i];
    l->partial &= ~(1u << atoms[i]);
  }
}

void rs_pop(const rs_query *q, rs_lists *l, int dim, int n) {
  l->len[dim] = (uint8_t)(l->len[dim] - n);
  const uint8_t *atoms = &l->atom[dim][l->len[dim]];
  l->shards[dim] /= rs_size_of(q, atoms, n);
  for (int i = 0; i < n; i++) l->used &= ~(1u << atoms[i]);
}

static void copy_from(const moving *v, rs_lists *to) {
  memcpy(to, v->from, offsetof(rs_lists, atom) + (size_t)v->q->space.rank * sizeof to->atom[0]);
}

static void make_offer(const moving *v, const rs_lists *to, rs_move move, double price, double bytes_after) {
  rs_state state = rs_state_of_lists(&v->q->space, to);
  v->offer(v->user, &state, move, price, v->bytes, bytes_after);
}

/* Append atoms to a dimension: all_slice of unused ones, reduce_scatter of partial ones. */
static void append(const moving *v, sw_coll_op op, int dim, const uint8_t *atoms, int n) {
  if (!rs_cuts_nest(v->q->space.dims[dim], v->from->shards[dim], rs_size_of(v->q, atoms, n))) return;
  rs_lists to;
  copy_from(v, &to);
  rs_push(v->q, &to, dim, atoms, n);
  double after = rs_local_bytes(v->q, to.shards), parts = (double)rs_size_of(v->q, atoms, n);
  double price = rs_collective_s(v->q, op, atoms, n, op == SW_COLL_ALL_SLICE ? after : parts * after);
  make_offer(v, &to, (rs_move){(uint8_t)op, (uint8_t)dim, 0, (uint8_t)n, 0}, price, after);
}

/* One atom, then the target's next ones with it, as far as `allowed` has them. */
static void append_run(const moving *v, sw_coll_op op, int dim, uint8_t atom, unsigned allowed) {
  uint8_t run[RS_MAX_ATOMS] = {atom};
  int n = 1;
  append(v, op, dim, run, n);
  uint8_t at = v->q->target.at[atom];
  if (at >= RS_PARTIAL) return;
  const uint8_t *list = v->target->atom[at >> 4];
  for (int i = (at & 15) + 1; i < v->target->len[at >> 4] && (allowed >> list[i] & 1u); i++) {
    run[n++] = list[i];
    append(v, op, dim, run, n);
  }
}

/* Is all here as the target wants it, and do so many more cuts divide the extent? */
static bool is_spare(const moving *v, int dim, int64_t cuts) {
  return all_right(v, dim) && v->from->len[dim] == v->target->len[dim] &&
         v->q->space.dims[dim] % (v->from->shards[dim] * cuts) == 0;
}

/* Size of an atom and the digits of its axis after it that are where it is: unused, or to be reduced. */
static int64_t run_size(const moving *v, uint8_t atom) {
  const rs_space *s = &v->q->space;
  unsigned alike = v->from->used >> atom & 1u ? v->to_reduce : ~v->from->used;
  int64_t size = s->atom[atom].size;
  for (int a = atom + 1; a < s->n && s->atom[a].axis == s->atom[atom].axis && (alike >> a & 1u); a++) {
    size *= s->atom[a].size;
  }
  return size;
}

/* Where an atom goes that does not stay: spare dimensions are all alike, so the first will do that takes its whole run,
 * else the first that takes it; any where there is none. */
static bool may_pass(const moving *v, int dim, uint8_t atom) {
  if (v->q->thorough || v->q->no_exchange || v->q->opaque_target) return true;
  const int64_t sizes[2] = {run_size(v, atom), v->q->space.atom[atom].size};
  for (int k = 0; k < 2; k++) {
    for (int d = 0; d < v->q->space.rank; d++) {
      if (is_spare(v, d, sizes[k])) return d == dim;
    }
  }
  return true;
}

/* Would one more cut bring equal blocks nearer, for a permute? */
static bool balances(const moving *v, int dim, uint8_t atom) {
  return v->conflict && v->target->shards[dim] % (v->from->shards[dim] * v->q->space.atom[atom].size) == 0;
}

/* An axis that neither end uses, cut behind what is to be gathered: each device fetches a part over the slow links, and
 * the gather goes over both. */
static bool spreads(const moving *v, int dim, uint8_t atom) {
  int len = v->from->len[dim];
  if (v->q->target.at[atom] != RS_UNUSED || len == 0) return false;
  uint8_t last = v->from->atom[dim][len - 1];
  return v->q->target.at[last] == RS_UNUSED && (v->q->source.at[last] != RS_UNUSED || last < atom);
}

/* Is the last atom here on its way to where this one is wanted, too? Then both go together. */
static bool rides(const moving *v, int dim, uint8_t atom) {
  int len = v->from->len[dim];
  uint8_t wanted = v->q->target.at[atom];
  if (len <= v->right[dim] || wanted >= RS_PARTIAL) return false;
  uint8_t last = v->q->target.at[v->from->atom[dim][len - 1]];
  return last < RS_PARTIAL && last >> 4 == wanted >> 4;
}

/* Where what is reduced may go: where it is wanted, or behind what has to leave anyway. */
static bool may_scatter(const moving *v, int dim, uint8_t atom) {
  if (may_pass(v, dim, atom) || belongs(v, dim, atom) || rides(v, dim, atom)) return true;
  int len = v->from->len[dim];
  return len > v->right[dim] && v->q->target.at[v->from->atom[dim][len - 1]] == RS_UNUSED;
}

/* A helper is an axis as a whole, or what the source leaves of it: its digits follow each other, major first. */
static bool can_help(const moving *v, int dim, uint8_t atom) {
  if (v->q->no_exchange || spreads(v, dim, atom)) return true; /* or any that makes blocks equal, for a permute */
  if (!v->to_reduce && !(v->conflict && v->q->target.at[atom] == RS_UNUSED)) return false;
  const rs_space *s = &v->q->space;
  int len = v->from->len[dim];
  bool goes_on = atom > 0 && s->atom[atom - 1].axis == s->atom[atom].axis && v->q->source.at[atom - 1] == RS_UNUSED;
  if (goes_on) return len > 0 && v->from->atom[dim][len - 1] == atom - 1;
  return may_pass(v, dim, atom) || balances(v, dim, atom);
}

static void slices(const moving *v, unsigned free_atoms) {
  for (int d = 0; d < v->q->space.rank; d++) {
    for (uint8_t a = 0; a < v->q->space.n; a++) {
      if (!(free_atoms >> a & 1u)) continue;
      if (v->q->thorough || can_help(v, d, a) || belongs(v, d, a) || rides(v, d, a))
        append_run(v, SW_COLL_ALL_SLICE, d, a, free_atoms);
    }
  }
}

static void all_reduce(const moving *v, unsigned atoms) {
  rs_lists to;
  copy_from(v, &to);
  to.partial &= ~atoms;
  to.used &= ~atoms;
  double price = rs_collective_over_s(v->q, SW_COLL_ALL_REDUCE, atoms, v->bytes);
  make_offer(v, &to, (rs_move){SW_COLL_ALL_REDUCE, 0, 0, 0, (uint16_t)atoms}, price, v->bytes);
}

/* All that is left to reduce, on one dimension and in mesh order: for a gather to follow. */
static void scatter_all(const moving *v) {
  uint8_t atoms[RS_MAX_ATOMS];
  int n = 0;
  for (uint8_t a = 0; a < v->q->space.n; a++) {
    if (v->to_reduce >> a & 1u) atoms[n++] = a;
  }
  for (int d = 0; n > 1 && d < v->q->space.rank; d++) {
    if (may_scatter(v, d, atoms[0])) append(v, SW_COLL_REDUCE_SCATTER, d, atoms, n);
  }
}

static void scatters(const moving *v, bool once) {
  for (int d = 0; d < v->q->space.rank; d++) {
    for (uint8_t a = 0; a < v->q->space.n; a++) {
      bool alone = !once || v->to_reduce == 1u << a;
      if ((v->to_reduce >> a & 1u) && alone && may_scatter(v, d, a)) {
        append_run(v, SW_COLL_REDUCE_SCATTER, d, a, once ? 0 : v->to_reduce);
      }
    }
  }
  for (int d = 0; once && d < v->q->space.rank; d++) {
    const uint8_t *list = v->target->atom[d];
    for (int first = 0; first < v->target->len[d]; first++) {
      unsigned taken = 0;
      int n = 0;
      while (first + n < v->target->len[d] && taken != v->to_reduce) taken |= 1u << list[first + n++];
      if (n > 1 && taken == v->to_reduce) append(v, SW_COLL_REDUCE_SCATTER, d, list + first, n);
    }
  }
}

static void reductions(const moving *v) {
  /* an integer average of averages is not the average of all: it truncates */
  bool once = v->q->kind == SW_REDUCE_AVERAGE || v->q->kind == SW_REDUCE_GENERIC;
  all_reduce(v, v->to_reduce);
  unsigned cut_later = 0;
  for (int d = 0; d < v->q->space.rank; d++) {
    for (int i = 0; i < v->target->len[d]; i++) cut_later |= 1u << v->target->atom[d][i];
  }
  unsigned dropped = v->to_reduce & ~cut_later;
  if (!once && dropped && dropped != v->to_reduce) all_reduce(v, dropped);
  scatters(v, once);
  scatter_all(v);
}

static void gather(const moving *v, int dim, int n) {
  const uint8_t *atoms = &v->from->atom[dim][v->from->len[dim] - n];
  rs_lists to;
  copy_from(v, &to);
  rs_pop(v->q, &to, dim, n);
  double after = rs_local_bytes(v->q, to.shards);
  double price = rs_collective_s(v->q, SW_COLL_ALL_GATHER, atoms, n, v->bytes * (double)rs_size_of(v->q, atoms, n));
  make_offer(v, &to, (rs_move){SW_COLL_ALL_GATHER, (uint8_t)dim, 0, (uint8_t)n, 0}, price, after);
}

static void all_to_all(const moving *v, int dim, int to_dim, int n) {
  const uint8_t *atoms = &v->from->atom[dim][v->from->len[dim] - n];
  rs_lists to;
  copy_from(v, &to);
  if (!rs_cuts_nest(v->q->space.dims[to_dim], to.shards[to_dim], rs_size_of(v->q, atoms, n))) return;
  const int64_t moved = rs_size_of(v->q, atoms, n);
  to.shards[to_dim] *= moved;
  double parts = rs_local_bytes(v->q, to.shards) * (double)moved; /* blocks are padded before they are cut */
  double price = rs_collective_s(v->q, SW_COLL_ALL_TO_ALL, atoms, n, parts);
  to.shards[to_dim] /= moved;
  rs_pop(v->q, &to, dim, n);
  rs_push(v->q, &to, to_dim, atoms, n);
  double after = rs_local_bytes(v->q, to.shards);
  make_offer(v, &to, (rs_move){SW_COLL_ALL_TO_ALL, (uint8_t)dim, (uint8_t)to_dim, (uint8_t)n, 0}, price, after);
}

/* Atoms that leave the ends of lists in one all_to_all_dims: all that the target wants at the end of a dimension that
 * is right so far, and, behind them, those in their way that it wants nowhere, to be gathered after. */
typedef struct leaving {
  unsigned atoms;             /* that leave */
  uint8_t count[SW_MAX_RANK]; /* of each list's end */
} leaving;

static void leave_all_wrong(const moving *v, leaving *out) {
  *out = (leaving){0};
  for (int d = 0; d < v->q->space.rank; d++) {
    if (!is_even(v, d)) continue;
    for (int i = v->right[d]; i < v->from->len[d]; i++) out->atoms |= 1u << v->from->atom[d][i];
    out->count[d] = (uint8_t)(v->from->len[d] - v->right[d]);
  }
}

/* Of these, those that a dimension can take now: its next ones in the target, as far as they leave. */
static unsigned taken_of(const moving *v, unsigned allowed) {
  unsigned taken = 0;
  for (int d = 0; d < v->q->space.rank; d++) {
    if (!all_right(v, d) || !is_even(v, d)) continue;
    for (int i = v->right[d]; i < v->target->len[d] && (allowed >> v->target->atom[d][i] & 1u); i++) {
      taken |= 1u << v->target->atom[d][i];
    }
  }
  return taken;
}

/* Keeps of each list's end what `allowed` has; false when that is all. */
static bool cut_to(const moving *v, unsigned allowed, leaving *l) {
  bool changed = false;
  for (int d = 0; d < v->q->space.rank; d++) {
    const uint8_t *end = &v->from->atom[d][v->from->len[d]];
    int n = 0;
    while (n < l->count[d] && (allowed >> *(end - 1 - n) & 1u)) n++;
    for (int i = n; i < l->count[d]; i++) l->atoms &= ~(1u << *(end - 1 - i));
    changed = changed || n != l->count[d];
    l->count[d] = (uint8_t)n;
  }
  return changed;
}

/* Do they leave one dimension for the end of one other, in the same order? That is a plain all_to_all. */
static bool is_plain(const moving *v, const leaving *l, const rs_lists *to) {
  int from = -1, into = -1;
  for (int d = 0; d < v->q->space.rank; d++) {
    if (l->count[d]) from = from < 0 ? d : SW_MAX_RANK;
    if (to->len[d] > v->from->len[d]) into = into < 0 ? d : SW_MAX_RANK;
  }
  if (from == SW_MAX_RANK || into == SW_MAX_RANK) return false;
  int n = l->count[from];
  return memcmp(&v->from->atom[from][v->from->len[from] - n], &to->atom[into][v->from->len[into]], (size_t)n) == 0;
}

/* Puts what left where it is wanted, and its riders behind that: first those that the target wants nowhere, so that the
 * others can leave next. Returns the dimension with the riders. */
static int arrive(const moving *v, unsigned taken, unsigned riders, rs_lists *to) {
  int last = 0;
  for (int d = 0; d < v->q->space.rank; d++) {
    const uint8_t *list = v->target->atom[d];
    for (int i = v->right[d]; all_right(v, d) && i < v->target->len[d] && (taken >> list[i] & 1u); i++) {
      rs_push(v->q, to, d, &list[i], 1);
      last = d;
    }
  }
  for (uint8_t a = 0; a < v->q->space.n; a++) {
    if ((riders >> a & 1u) && v->q->target.at[a] == RS_UNUSED) rs_push(v->q, to, last, &a, 1);
  }
  for (int d = 0; d < v->q->space.rank; d++) {
    for (int i = 0; i < v->target->len[d]; i++) {
      if (riders >> v->target->atom[d][i] & 1u) rs_push(v->q, to, last, &v->target->atom[d][i], 1);
    }
  }
  return last;
}

/* `may_ride`: atoms that may leave though nobody takes them. */
static void together(const moving *v, unsigned may_ride) {
  leaving l;
  rs_lists to;
  copy_from(v, &to);
  unsigned taken;
  leave_all_wrong(v, &l);
  do taken = taken_of(v, l.atoms);
  while (cut_to(v, taken | may_ride, &l));
  unsigned riders = l.atoms & ~taken;
  if (!taken || (may_ride && !riders)) return;
  for (int d = 0; d < v->q->space.rank; d++) rs_pop(v->q, &to, d, l.count[d]);
  int last = arrive(v, taken, riders, &to);
  if (v->q->space.dims[last] % to.shards[last] != 0 || is_plain(v, &l, &to)) return;
  double price = rs_collective_over_s(v->q, SW_COLL_ALL_TO_ALL, l.atoms, v->bytes);
  make_offer(v, &to, (rs_move){SW_COLL_ALL_TO_ALL_DIMS, 0, 0, 0, (uint16_t)l.atoms}, price, v->bytes);
}

static void all_together(const moving *v) {
  unsigned unwanted = 0, wrong = 0, next = 0;
  for (int d = 0; d < v->q->space.rank; d++) {
    for (int i = v->right[d]; i < v->from->len[d]; i++) wrong |= 1u << v->from->atom[d][i];
    if (all_right(v, d) && v->right[d] < v->target->len[d]) next |= 1u << v->target->atom[d][v->right[d]];
  }
  if (!(wrong & next)) return;
  for (int a = 0; a < v->q->space.n; a++) unwanted |= (unsigned)(v->q->target.at[a] == RS_UNUSED) << a;
  together(v, 0);
  if (unwanted) together(v, unwanted);
  if (v->q->thorough) together(v, ~0u);
}

/* How many atoms at the end of a dimension the target wants nowhere. */
static int unwanted_at_end(const moving *v, int dim) {
  int n = 0, len = v->from->len[dim];
  while (n < len && v->q->target.at[v->from->atom[dim][len - 1 - n]] == RS_UNUSED) n++;
  return n;
}

/* What is to be gathered from several dimensions is brought to one of them, for one gather. */
static void merge_into(const moving *v, int dim) {
  unsigned moved = 0;
  rs_lists to;
  copy_from(v, &to);
  int from = -1, sources = 0;
  bool even = true;
  for (int d = 0; d < v->q->space.rank; d++) {
    int n = d == dim ? 0 : unwanted_at_end(v, d);
    const uint8_t *end = &v->from->atom[d][v->from->len[d] - n];
    int64_t size = rs_size_of(v->q, end, n);
    if (n == 0 || !rs_cuts_nest(v->q->space.dims[d], v->from->shards[d] / size, size)) continue;
    from = d;
    sources++;
    even = even && v->q->space.dims[d] % v->from->shards[d] == 0;
    for (int i = 0; i < n; i++) moved |= 1u << end[i];
    rs_pop(v->q, &to, d, n);
    rs_push(v->q, &to, dim, end, n);
  }
  if (sources == 1) all_to_all(v, from, dim, unwanted_at_end(v, from));
  if (sources < 2 || !even || v->q->space.dims[dim] % to.shards[dim] != 0) return;
  double price = rs_collective_over_s(v->q, SW_COLL_ALL_TO_ALL, moved, v->bytes);
  make_offer(v, &to, (rs_move){SW_COLL_ALL_TO_ALL_DIMS, 0, 0, 0, (uint16_t)moved}, price, v->bytes);
}

static void merge_gathers(const moving *v) {
  for (int d = 0; d < v->q->space.rank; d++) {
    if (unwanted_at_end(v, d) > 0) merge_into(v, d);
  }
}

static void leaves(const moving *v) {
  all_together(v);
  merge_gathers(v);
  for (int d = 0; d < v->q->space.rank; d++) {
    bool any = v->q->thorough || !is_even(v, d);
    int most = any ? v->from->len[d] : v->from->len[d] - v->right[d];
    for (int n = 1; n <= most; n++) {
      const uint8_t *first = &v->from->atom[d][v->from->len[d] - n];
      int64_t moved = rs_size_of(v->q, first, n);
      if (!rs_cuts_nest(v->q->space.dims[d], v->from->shards[d] / moved, moved)) continue;
      gather(v, d, n);
      for (int e = 0; e < v->q->space.rank; e++) {
        if (e != d && (v->q->thorough || belongs(v, e, *first))) all_to_all(v, d, e, n);
      }
    }
  }
}

static void compare_lists(moving *v) {
  for (int d = 0; d < v->q->space.rank; d++) {
    int n = 0, len = v->from->len[d], want = v->target->len[d];
    while (n < len && n < want && v->from->atom[d][n] == v->target->atom[d][n]) n++;
    v->right[d] = (int8_t)n;
    int64_t k = v->q->space.dims[d];
    v->even |= (unsigned)(divides(k, v->from->shards[d]) && divides(k, v->target->shards[d])) << d;
    v->conflict = v->conflict || (n < len && n < want);
  }
}

bool rs_moves(const rs_query *q, const rs_lists *from, const rs_lists *target, rs_offer offer, void *user) {
  moving v = {.q = q,
              .from = from,
              .target = target,
              .bytes = rs_local_bytes(q, from->shards),
              .to_reduce = from->partial & ~target->partial,
              .offer = offer,
              .user = user};
  unsigned all = (1u << q->space.n) - 1;
  compare_lists(&v);
  v.tangled = v.conflict;
  for (int d = 0; d < q->space.rank; d++) v.tangled = v.tangled || !is_even(&v, d);
  slices(&v, all & ~from->used);
  if (v.to_reduce) {
    reductions(&v);
  } else {
    leaves(&v);
  }
  return v.tangled;
}
