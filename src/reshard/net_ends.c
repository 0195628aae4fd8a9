/* What a net holds where atoms are too many for all states: lists of whole axes, those of the two ends and how these
 * begin, and what is reduced; whole axes also in parts where a border of units falls into them; partial are whole axes,
 * and what the ends have so.
 *
 *   mesh x=8,y=2,z=4, rank 2, [[x:(1)2,z],[]] -> [[y],[x:(4)2]]: [x,y,z] and its like, [x:(1)2], [x:(1)2,z], [x:(4)2]
 */
#include <string.h>

#include "reshard/net.h"

static bool has_list(const rs_net_ends *e, const rs_net_list *l) {
  for (int i = 0; i < e->n_lists; i++) {
    if (e->list[i].n == l->n && memcmp(e->list[i].atom, l->atom, l->n) == 0) return true;
  }
  return false;
}

static bool add_list(rs_net_ends *e, const rs_net_list *l) {
  if (has_list(e, l)) return true;
  if (e->n_lists == RS_NET_LISTS) return false;
  e->list[e->n_lists++] = *l;
  return true;
}

static void append(const rs_space *s, rs_net_list *l, int atom) {
  l->atom[l->n++] = (uint8_t)atom;
  l->set |= (uint8_t)(1 << atom);
  l->shards *= s->atom[atom].size;
}

/* First atoms of axes, or (`cuts`) of what these are cut into at the borders of units. */
static unsigned first_atoms(const rs_query *q, bool cuts) {
  const rs_space *s = &q->space;
  sw_sharding cut;
  cuts = cuts && rs_net_units(q->machine, s->rank, s->dims, &cut);
  unsigned first = 0;
  for (int a = 0; a < s->n; a++) {
    bool begins = s->atom[a].pre == 1;
    for (int i = 0; cuts && i < cut.n_refs; i++) {
      begins = begins || (cut.refs[i].axis == s->atom[a].axis &&
                          (cut.refs[i].pre == s->atom[a].pre || cut.refs[i].pre * cut.refs[i].size == s->atom[a].pre));
    }
    first |= (unsigned)begins << a;
  }
  return first;
}

/* Every order of some axes, or what they are cut into, behind what a list has. */
static bool add_axes(const rs_space *s, rs_net_ends *e, unsigned first, const rs_net_list *from) {
  if (!add_list(e, from)) return false;
  for (int a = 0; a < s->n; a++) {
    if (!(first >> a & 1u) || (from->set >> a & 1)) continue;
    rs_net_list longer = *from;
    append(s, &longer, a);
    for (int i = a + 1; i < s->n && !(first >> i & 1u); i++) append(s, &longer, i);
    if (!add_axes(s, e, first, &longer)) return false;
  }
  return true;
}

static bool add_end(const rs_space *s, rs_net_ends *e, const rs_lists *end) {
  for (int d = 0; d < s->rank; d++) {
    rs_net_list l = {.shards = 1};
    for (int i = 0; i < end->len[d]; i++) {
      append(s, &l, end->atom[d][i]);
      if (!add_list(e, &l)) return false;
    }
  }
  return true;
}

/* Atoms of one axis that both ends have partial alike go together. */
static void find_blocks(const rs_space *s, rs_net_ends *e, unsigned had, unsigned has) {
  int64_t like[RS_NET_ATOMS];
  e->n_blocks = 0;
  for (int a = 0; a < s->n; a++) {
    const int64_t mine = (int64_t)s->atom[a].axis << 2 | (had >> a & 1u) << 1 | (has >> a & 1u);
    int i = 0;
    while (i < e->n_blocks && like[i] != mine) i++;
    if (i == e->n_blocks) e->block[e->n_blocks++] = 0;
    like[i] = mine;
    e->block[i] |= (uint8_t)(1 << a);
  }
}

/* Where what is reduced may be scattered to. */
static bool add_reduced(const rs_space *s, rs_net_ends *e, unsigned reduced) {
  for (int i = 0; i < e->n_blocks; i++) {
    rs_net_list l = {.shards = 1};
    for (int a = 0; a < s->n; a++) {
      if (reduced & e->block[i] & 1u << a) append(s, &l, a);
    }
    if (!add_list(e, &l)) return false;
  }
  return true;
}

/* Are the states of whole axes alone too many? */
static bool overflows(const rs_space *s, unsigned first) {
  int n = 0;
  for (; first; first &= first - 1) n++;
  return rs_net_count(n, s->rank, false) > RS_NET_STATES;
}

bool rs_net_ends_space(rs_space *s, const sw_machine *machine, const sw_sharding ends[2]) {
  const sw_mesh *m = sw_machine_mesh(machine);
  sw_sharding cut;
  rs_space with;
  if (!rs_net_units(machine, s->rank, s->dims, &cut) || !rs_space_init_all(&with, m, s->rank, s->dims, ends, 2, &cut) ||
      with.n > RS_NET_ATOMS)
    return false;
  *s = with;
  return true;
}

bool rs_net_ends_of(const rs_query *q, bool cuts, rs_net_ends *out) {
  const rs_space *s = &q->space;
  const rs_net_list empty = {.shards = 1};
  rs_lists from, to;
  out->n_lists = 0;
  if (s->n > RS_NET_ATOMS) return false;
  const unsigned first = first_atoms(q, cuts);
  if (overflows(s, first) || !add_axes(s, out, first, &empty)) return false;
  rs_lists_of(s, &q->source, &from);
  rs_lists_of(s, &q->target, &to);
  find_blocks(s, out, from.partial, to.partial);
  return add_end(s, out, &from) && add_end(s, out, &to) && add_reduced(s, out, from.partial & ~to.partial);
}
