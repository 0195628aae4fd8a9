/* Two lists of a dimension: what a step between them appends and drops, and how much of a block stays where it is.
 *
 *   [x,y] and [x,z]: alike by x, then each goes on in its own way, so that some device finds nothing of its new block
 */
#include "reshard/net.h"
#include "base/checked.h"

static uint8_t set_from(const rs_net_list *l, int first) {
  unsigned set = 0;
  for (int i = first; i < l->n; i++) set |= 1u << l->atom[i];
  return (uint8_t)set;
}

static uint32_t order_from(const rs_net_list *l, int first) {
  uint32_t order = 0;
  for (int i = first; i < l->n; i++) order = order * (RS_NET_ATOMS + 1) + l->atom[i] + 1;
  return order;
}

/* Old blocks that a new one touches, as sw_machine_exchange_s counts them. */
static double touched(const rs_net *n, int from, int to) {
  const rs_net_list *a = &n->list[from];
  const int64_t step = (int64_t)n->block[from], len = (int64_t)n->block[to];
  if (a->shards == 1 || from == to || step % len == 0) return 1;
  const bool aligned = len % step == 0 || n->list[to].n == 0;
  return (double)sw_min_i64(sw_ceil_div(len, step) + !aligned, a->shards);
}

/* Where the unit's atoms are a beginning of the new list all, where it is the other way round the unit's blocks, else
 * nothing, on some device. */
double rs_net_kept(const rs_net *n, int from, int to, int alike, int level) {
  const double new = n->block[to], unit = n->block[from] * (double)n->list[from].inside[level];
  if (alike >= n->list[from].visible[level]) return new;
  if (alike < n->list[to].n) return 0;
  return unit < new ? unit : new;
}

double rs_net_had(const rs_net *n, int from, int to, int alike, unsigned made, int level) {
  const rs_net_list *a = &n->list[from], *b = &n->list[to];
  const sw_axis_ref *atom = n->q->space.atom;
  const double new = n->block[to], *inside = n->inside[level];
  double rest = 1;
  for (int i = alike; i < a->n; i++) {
    if (!(made >> a->atom[i] & 1u)) rest *= atom[a->atom[i]].size / inside[a->atom[i]];
  }
  if (rest <= 1 || alike == b->n) return new / rest;
  const int first = a->atom[alike];
  if (!(made >> first & 1u)) return inside[first] < atom[first].size ? 0 : new;
  const double together = (double)n->q->space.dims[0] / (double)a->outer[level] * n->units[level][made & a->set];
  return together < new ? together : new;
}

/* Digits of an atom by which units of a level are told apart, so many values, in a list: they cut each of `before`
 * pieces, which makes `after`. */
typedef struct digits {
  int atom;
  int32_t units, before, after;
} digits;

static int digits_of(const rs_net *n, const rs_net_list *l, unsigned without, int level, digits *out) {
  int k = 0;
  int32_t cuts = 1;
  for (int i = 0; i < l->n; i++) {
    const int32_t size = n->q->space.atom[l->atom[i]].size, units = size / (int32_t)n->inside[level][l->atom[i]];
    if (units > 1 && !(without >> l->atom[i] & 1u)) out[k++] = (digits){l->atom[i], units, cuts, cuts * units};
    cuts *= size;
  }
  return k;
}

/* Do they cut into the same pieces? Then some values of two atoms' digits have nothing in common. */
static bool meet(const digits *a, const digits *b) {
  if (a->before == b->before) return true;
  const digits *outer = a->before < b->before ? a : b, *inner = outer == a ? b : a;
  return inner->before < outer->after && inner->before % outer->before == 0 && outer->after % inner->before == 0;
}

/* Does one cut what the other has cut? Then each piece alike. */
static bool apart(const digits *a, const digits *b) {
  return a->before >= b->after ? a->before % b->after == 0 : b->before >= a->after && b->before % a->after == 0;
}

double rs_net_both_had(const rs_net *n, int from, int to, unsigned made, int level) {
  digits old[RS_NET_ATOMS], new[RS_NET_ATOMS];
  const int n_old = digits_of(n, &n->list[from], made, level, old);
  const int n_new = digits_of(n, &n->list[to], 0, level, new);
  double by_both = 1, by_new = 1; /* pieces that they are one of */
  for (int i = 0; i < n_old; i++) by_both *= old[i].units;
  for (int j = 0; j < n_new; j++) {
    bool alone = true;
    for (int i = 0; i < n_old; i++) {
      if (old[i].atom != new[j].atom && meet(&old[i], &new[j])) return 0;
      alone = alone && apart(&old[i], &new[j]);
    }
    by_both *= alone ? new[j].units : 1;
    by_new *= new[j].units;
  }
  return (double)n->q->space.dims[0] / (by_both > by_new ? by_both : by_new);
}

static void compare_ends(const rs_net_list *a, const rs_net_list *b, int alike, rs_net_diff *out) {
  out->changed = set_from(a, alike) | set_from(b, alike);
  if (alike == a->n) {
    out->appended = set_from(b, alike);
    out->order = order_from(b, alike);
    out->more = (int32_t)(b->shards / a->shards);
  } else if (alike == b->n) {
    out->dropped = set_from(a, alike);
    out->order = order_from(a, alike);
    out->fewer = (int32_t)(a->shards / b->shards);
  } else {
    out->other = true;
  }
}

void rs_net_compare(const rs_net *n, int from, int to, int slot) {
  const rs_net_list *a = &n->list[from], *b = &n->list[to];
  const int alike = rs_net_alike(a, b);
  rs_net_diff *diff = &n->diff[slot];
  rs_net_pair *out = &n->pair[slot];
  if (n->held) n->held[slot] = (uint16_t)(from * n->n_lists + to + 1);
  *out = (rs_net_pair){.touched = touched(n, from, to)};
  *diff = (rs_net_diff){.more = 1, .fewer = 1};
  if (from != to) compare_ends(a, b, alike, diff);
  for (int l = 0; l < n->n_levels; l++) {
    out->kept[l] = rs_net_kept(n, from, to, alike, l);
    out->had[l] = rs_net_had(n, from, to, alike, 0, l);
    if (l) out->both[l] = rs_net_both_had(n, from, to, 0, l);
  }
}
