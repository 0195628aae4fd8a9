/* What a net holds where atoms are too many for all states. A cheapest route goes over few kinds of states: in each
 * dimension there is the beginning of what one of the ends has there, or all of it and then what is partial at that end
 * alone, and behind it a tail of other atoms, which spread the value over devices that would else hold copies, or have
 * left another dimension. Which of several atoms that lie alike on the network a tail has is no matter, nor is their
 * order, but that another order makes an exchange of a collective: so tails take the first atoms that are left, in
 * order or in reverse.
 *
 *   h100x64, x=8,y=2,z=4 (nodes of y and z), [[x],[]] -> [[],[y]]: [[x],[y,z]], [[x:(1)2],[y,z]], [[],[y,z]], ...
 *
 * On 300 random pairs of this mesh the cheapest paths over these states, 380 in the mean, cost 1.0002 times those over
 * all 11743.
 */
#include <string.h>

#include "reshard/net.h"

/* Few tails first: where these give many states, or take all lists, more tails are left out. */
enum { MOST_TAILS = 2, ENOUGH_STATES = 250 };

typedef struct hubs {
  rs_net *n;
  int rank, n_atoms;
  uint8_t child[RS_NET_LISTS][RS_NET_ATOMS]; /* the list with an atom more behind it; 0: none yet */
  struct prefix {
    uint8_t list, set;
  } prefix[SW_MAX_RANK][2 * RS_NET_ATOMS + 3]; /* beginnings of both ends' lists */
  uint8_t n_prefixes[SW_MAX_RANK];
  bool may_tail[SW_MAX_RANK]; /* all dimensions that neither end cuts are alike: the first of them will do */
  int n_kinds;
  uint8_t kind[RS_NET_ATOMS]; /* sets of atoms that lie alike, those which cross between units first */
  int n_crossing;             /* kinds */
  uint8_t inside;             /* atoms of the others */
  int n_tails;                /* that states have now */
  bool spread;                /* only states that use all atoms inside units, if they have tails */
  rs_net_state at;
} hubs;

/* --- lists ------------------------------------------------------------------------------------------------------- */

/* The list with an atom more; 0 where there is no room for it. */
static uint8_t longer(hubs *h, uint8_t list, int atom) {
  uint8_t *child = &h->child[list][atom];
  if (*child == 0 && h->n->n_lists < RS_NET_LISTS) {
    const rs_net_list l = rs_net_longer(h->n, &h->n->list[list], atom);
    *child = rs_net_add_list(h->n, &l);
  }
  return *child;
}

static bool has_prefix(const hubs *h, int d, uint8_t list) {
  for (int i = 0; i < h->n_prefixes[d]; i++) {
    if (h->prefix[d][i].list == list) return true;
  }
  return false;
}

static void add_prefix(hubs *h, int d, uint8_t list) {
  if (!has_prefix(h, d, list)) h->prefix[d][h->n_prefixes[d]++] = (struct prefix){list, h->n->list[list].set};
}

/* `partial`: atoms that are so at this end alone: behind the list they come of a reduction, or are made parts of. */
static void add_prefixes(hubs *h, int d, const rs_lists *end, unsigned partial) {
  uint8_t list = 0;
  for (int i = 0; i <= end->len[d]; i++) {
    if (i > 0) list = longer(h, list, end->atom[d][i - 1]);
    add_prefix(h, d, list);
  }
  for (; partial; partial &= partial - 1) list = longer(h, list, __builtin_ctz(partial));
  add_prefix(h, d, list);
}

/* --- states ------------------------------------------------------------------------------------------------------ */

static void add_tails(hubs *h, int dim, int left);

/* Behind a list the first `count` of the atoms of each kind that are left; 0 where there is no room. */
static uint8_t with_tail(hubs *h, uint8_t list, const uint8_t *count, bool reversed, uint8_t *set) {
  uint8_t inside[RS_NET_ATOMS];
  int n = 0;
  *set = 0;
  for (int k = 0; k < h->n_kinds; k++) {
    unsigned rest = h->kind[k] & ~(unsigned)h->at.used;
    for (int i = 0; i < count[k] && n < RS_NET_ATOMS; i++, rest &= rest - 1) {
      const int atom = __builtin_ctz(rest);
      *set |= (uint8_t)(1 << atom);
      if (k >= h->n_crossing)
        inside[n++] = (uint8_t)atom;
      else if ((list = longer(h, list, atom)) == 0)
        return 0;
    }
  }
  for (int i = 0; i < n; i++) {
    if ((list = longer(h, list, inside[reversed ? n - 1 - i : i])) == 0) return 0;
  }
  return list;
}

static void try_tail(hubs *h, int dim, int left, const uint8_t *count) {
  const uint8_t base = h->at.list[dim];
  int inside = 0;
  for (int k = h->n_crossing; k < h->n_kinds; k++) inside += count[k];
  for (int reversed = 0; reversed <= (inside > 1); reversed++) {
    uint8_t set;
    const uint8_t list = with_tail(h, base, count, reversed, &set);
    if (list == 0) continue;
    h->at.list[dim] = list;
    h->at.used |= set;
    add_tails(h, dim + 1, left - 1);
    h->at.used &= (uint8_t)~set;
    h->at.list[dim] = base;
  }
}

/* Of a kind, not used yet. */
static uint8_t left_of(const hubs *h, int kind) {
  return (uint8_t)__builtin_popcount(h->kind[kind] & ~(unsigned)h->at.used);
}

/* The next of all counts of the first kinds; false after the last. */
static bool next_count(const hubs *h, int n_kinds, uint8_t *count) {
  for (int k = 0; k < n_kinds; k++) {
    if (count[k] < left_of(h, k)) {
      count[k]++;
      return true;
    }
    count[k] = 0;
  }
  return false;
}

/* In one dimension. The last tail of states that spread takes all that is left inside units. */
static void add_tails_of(hubs *h, int dim, int left) {
  uint8_t count[RS_NET_ATOMS] = {0};
  const int n_free = h->spread && left == 1 ? h->n_crossing : h->n_kinds;
  int taken = 0;
  for (int k = n_free; k < h->n_kinds; k++) taken += count[k] = left_of(h, k);
  if (taken) try_tail(h, dim, left, count);
  while (next_count(h, n_free, count)) try_tail(h, dim, left, count);
}

static void add_tails(hubs *h, int dim, int left) {
  if (left == 0 && (!h->spread || (h->inside & ~h->at.used) == 0)) rs_net_add_state(h->n, &h->at);
  for (; left > 0 && dim <= h->rank - left; dim++) {
    if (h->may_tail[dim]) add_tails_of(h, dim, left);
  }
}

static void add_states(hubs *h, int dim) {
  if (dim == h->rank) {
    add_tails(h, 0, h->n_tails);
    return;
  }
  for (int i = 0; i < h->n_prefixes[dim]; i++) {
    const struct prefix p = h->prefix[dim][i];
    if (h->at.used & p.set) continue;
    h->at.used |= p.set;
    h->at.list[dim] = p.list;
    add_states(h, dim + 1);
    h->at.used &= (uint8_t)~p.set;
  }
  h->at.list[dim] = 0;
}

/* Whatever of the ends' partial values is partial there. */
static void add_partial(hubs *h, unsigned blocks) {
  for (unsigned some = blocks;; some = (some - 1) & blocks) {
    unsigned set = 0;
    for (int i = 0; i < h->n->ends->n_blocks; i++) set |= some >> i & 1u ? h->n->ends->block[i] : 0u;
    h->at = (rs_net_state){.used = (uint8_t)set, .partial = (uint8_t)set};
    add_states(h, 0);
    if (some == 0) return;
  }
}

/* --- kinds of atoms ---------------------------------------------------------------------------------------------- */

static bool is_torus(const rs_net *n) {
  const sw_profile *p = sw_machine_profile(n->q->machine);
  for (int l = 0; l < n->n_levels; l++) {
    if (p->level[l].kind == SW_TOPOLOGY_TORUS) return true;
  }
  return false;
}

static int block_of(const rs_net_ends *e, int atom) {
  int i = 0;
  while (i < e->n_blocks && !(e->block[i] >> atom & 1)) i++;
  return i;
}

static bool crosses(const rs_net *n, int atom) {
  for (int l = 1; l < n->n_levels; l++) {
    if (n->inside[l][atom] < n->q->space.atom[atom].size) return true;
  }
  return false;
}

/* Do they lie alike, and are they reduced together? On a torus that is not looked into: each axis has its own links. */
static bool are_alike(const rs_net *n, int a, int b) {
  const sw_axis_ref *atom = n->q->space.atom;
  if (!sw_machine_is_regular(n->q->machine)) return a == b;
  bool alike = atom[a].size == atom[b].size && block_of(n->ends, a) == block_of(n->ends, b);
  for (int l = 1; l < n->n_levels; l++) alike = alike && n->inside[l][a] == n->inside[l][b];
  return alike && (atom[a].axis == atom[b].axis || !is_torus(n));
}

static void find_kinds(hubs *h, bool crossing) {
  for (int a = 0; a < h->n_atoms; a++) {
    if (crosses(h->n, a) != crossing) continue;
    int k = crossing ? 0 : h->n_crossing;
    while (k < h->n_kinds && !are_alike(h->n, __builtin_ctz(h->kind[k]), a)) k++;
    if (k == h->n_kinds) h->kind[h->n_kinds++] = 0;
    h->kind[k] |= (uint8_t)(1 << a);
    if (!crossing) h->inside |= (uint8_t)(1 << a);
  }
  if (crossing) h->n_crossing = h->n_kinds;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static void add_ends(hubs *h) {
  const rs_lists *end = h->n->ends->end;
  const unsigned gone = end[0].partial & ~end[1].partial, made = end[1].partial & ~end[0].partial;
  bool spare = false;
  for (int d = 0; d < h->rank; d++) {
    const bool uncut = end[0].len[d] + end[1].len[d] == 0;
    h->may_tail[d] = !uncut || !spare;
    add_prefixes(h, d, &end[0], h->may_tail[d] ? gone : 0);
    add_prefixes(h, d, &end[1], h->may_tail[d] ? made : 0);
    spare = spare || uncut;
  }
}

void rs_net_add_hubs(rs_net *n) {
  hubs h = {.n = n, .rank = n->q->space.rank, .n_atoms = n->q->space.n};
  (void)rs_net_add_list(n, &(rs_net_list){.shards = 1});
  add_ends(&h);
  find_kinds(&h, true);
  find_kinds(&h, false);
  const unsigned blocks = (1u << n->ends->n_blocks) - 1;
  for (h.n_tails = 0; h.n_tails <= MOST_TAILS && h.n_tails <= h.rank; h.n_tails++) {
    for (int spread = h.n_tails > 0; spread >= 0; spread--) {
      if (n->n_states > ENOUGH_STATES || n->n_lists == RS_NET_LISTS) return;
      h.spread = spread;
      add_partial(&h, blocks);
    }
  }
}

/* Atoms of one axis that both ends have partial alike go together. */
static void find_blocks(const rs_space *s, rs_net_ends *e) {
  int64_t like[RS_NET_ATOMS];
  e->n_blocks = 0;
  for (int a = 0; a < s->n; a++) {
    const unsigned had = e->end[0].partial >> a & 1u, has = e->end[1].partial >> a & 1u;
    const int64_t mine = (int64_t)s->atom[a].axis << 2 | had << 1 | has;
    if (!had && !has) continue;
    int i = 0;
    while (i < e->n_blocks && like[i] != mine) i++;
    if (i == e->n_blocks) e->block[e->n_blocks++] = 0;
    like[i] = mine;
    e->block[i] |= (uint8_t)(1 << a);
  }
}

bool rs_net_ends_of(const rs_query *q, rs_net_ends *out) {
  if (q->space.n > RS_NET_ATOMS) return false;
  rs_lists_of(&q->space, &q->source, &out->end[0]);
  rs_lists_of(&q->space, &q->target, &out->end[1]);
  find_blocks(&q->space, out);
  return true;
}
