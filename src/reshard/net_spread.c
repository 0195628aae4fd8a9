/* States that no list of whole axes makes, but cheap routes between such lists go over.
 *
 * Of an axis that crosses between units, or lies across the border of one, the parts are atoms of a net. Most of its
 * states have them together, as if the axis were one atom (`joined`); those made here part them.
 */
#include "reshard/net.h"

static uint8_t number_of(rs_net *n, const rs_net_list *l) {
  const int number = rs_net_find_list(n, l->atom, l->n);
  return number < n->n_lists ? (uint8_t)number : rs_net_add_list(n, l);
}

/* That of a set's atoms in order, behind those of another, which stand behind those of a third. */
static uint8_t list_of(rs_net *n, unsigned first, unsigned then, unsigned last) {
  rs_net_list l = {.shards = 1};
  for (; first; first &= first - 1) l = rs_net_longer(n, &l, __builtin_ctz(first));
  for (; then; then &= then - 1) l = rs_net_longer(n, &l, __builtin_ctz(then));
  for (; last; last &= last - 1) l = rs_net_longer(n, &l, __builtin_ctz(last));
  return number_of(n, &l);
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
    if ((before ^ before << 1) & n->q->space.joined & others << 1) continue;
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

/* --- axes across the border of units ----------------------------------------------------------------------------- */

/* The parts of such an axis, as of y=4 in x=4, y=4, z=4 on units of 8, in two kinds of states. All that lies inside
 * units is used and the outer part is not, what crosses standing nowhere behind the inner part: so a unit holds a value
 * among its devices. Or the outer part is the last of one list, and all that lies inside is the end of another, in
 * order: so a value moves between units in pieces and is put together inside.
 *
 *   [[y:(2)2,z],[],[x]], [[x,y:(2)2],[z],[]], ...        [[y:(1)2],[x,y:(2)2,z],[]], [[],[y:(2)2,z],[x,y:(1)2]], ...
 */
typedef struct border {
  rs_net *n;
  unsigned outer, inner; /* sets of atoms */
  unsigned inside;       /* all inside units */
  unsigned behind;       /* all that are not the first of their axis, but `inner` */
  int n_lists;
  uint8_t list[RS_NET_LISTS]; /* by which dimensions may be cut */
} border;

static unsigned crossing_atoms(const rs_space *s, const sw_machine *machine) {
  unsigned crossing = 0;
  for (int a = 0; a < s->n; a++) crossing |= (unsigned)rs_crosses_units(machine, s->atom[a]) << a;
  return crossing;
}

/* Where the axis that lies across has its parts together in other states; false where none does. */
static bool find_border(const rs_space *s, const sw_machine *machine, border *b) {
  const unsigned crossing = crossing_atoms(s, machine);
  b->inside = ((1u << s->n) - 1) & ~crossing;
  b->inner = b->inside & s->joined & crossing << 1;
  b->outer = b->behind = 0;
  for (int a = 0; a < s->n; a++) {
    const bool across = b->inner && s->atom[a].axis == s->atom[__builtin_ctz(b->inner)].axis;
    if (across) b->outer |= crossing & 1u << a;
    if (s->atom[a].pre > 1) b->behind |= 1u << a & ~b->inner;
  }
  return b->inner;
}

/* Of whole axes, but for the one that lies across: wherever ends name parts of others, these states are the same. */
static void add_border_lists(border *b, const rs_net_list *from) {
  const rs_space *s = &b->n->q->space;
  b->list[b->n_lists++] = number_of(b->n, from);
  for (int a = 0; a < s->n; a++) {
    const unsigned set = 1u << a;
    const bool crosses = !(b->inside & set);
    if ((from->set | b->behind) & set || (crosses && from->set & b->inner)) continue;
    if (b->outer & set && from->set & b->inside) continue;
    rs_net_list longer = rs_net_longer(b->n, from, a);
    for (int next = a + 1; next < s->n && b->behind >> next & 1u; next++) longer = rs_net_longer(b->n, &longer, next);
    if (b->outer & set)
      b->list[b->n_lists++] = number_of(b->n, &longer); /* it is the last */
    else
      add_border_lists(b, &longer);
  }
}

/* Do all atoms inside units stand at the end of one list, in order? */
static bool ends_inside(const border *b, const rs_net_state *at) {
  for (int d = 0; d < b->n->q->space.rank; d++) {
    const rs_net_list *l = &b->n->list[at->list[d]];
    const int first = l->n - __builtin_popcount(b->inside);
    if (first < 0 || (l->set & b->inside) != b->inside) continue;
    for (int i = first + 1; i < l->n; i++) {
      if (l->atom[i] < l->atom[i - 1]) return false;
    }
    return b->inside >> l->atom[first] & 1u;
  }
  return false;
}

static void add_border_states(border *b, rs_net_state *at, int dim) {
  if (dim == b->n->q->space.rank) {
    const bool apart = at->used & b->outer ? ends_inside(b, at) : (at->used & b->inside) == b->inside;
    if (apart) rs_net_add_state(b->n, at);
    return;
  }
  for (int i = 0; i < b->n_lists; i++) {
    const unsigned set = b->n->list[b->list[i]].set;
    if (at->used & set) continue;
    at->used |= (uint8_t)set;
    at->list[dim] = b->list[i];
    add_border_states(b, at, dim + 1);
    at->used &= (uint8_t)~set;
  }
  at->list[dim] = 0;
}

/* --- all --------------------------------------------------------------------------------------------------------- */

int64_t rs_net_spread_count(const rs_space *s, const sw_machine *machine) {
  const unsigned crossing = crossing_atoms(s, machine);
  const int n_crossing = __builtin_popcount(crossing), n_inside = s->n - n_crossing;
  border b = {0};
  int64_t count = 0;
  if (n_crossing > 1 && n_inside > 0) {
    count = (int64_t)(n_crossing - 1) * s->rank * ((1 << n_inside) - 1 + 3 * (s->rank - 1));
  }
  if (!find_border(s, machine, &b)) return count;
  const int inside = __builtin_popcount(b.inside & ~b.behind),
            others = __builtin_popcount(crossing & ~b.outer & ~b.behind);
  return count + rs_net_count(others + inside, s->rank, false) +
         (int64_t)s->rank * (s->rank - 1) * rs_net_count(others, s->rank, false);
}

void rs_net_add_spread(rs_net *n) {
  const rs_space *s = &n->q->space;
  const unsigned crossing = crossing_atoms(s, n->q->machine), others = ((1u << s->n) - 1) & ~crossing;
  border b = {.n = n};
  if (find_border(s, n->q->machine, &b)) {
    add_border_lists(&b, &(rs_net_list){.shards = 1});
    add_border_states(&b, &(rs_net_state){0}, 0);
  }
  if (!others) return;
  for (unsigned rest = crossing & (crossing - 1); rest; rest &= rest - 1) add_spread(n, crossing & ~rest, rest, others);
}
