/* The route in phases, each of which moves no more than the blocks that are left: what is missing is sliced (or
 * scattered, where it is to be reduced), one permute puts axes where they leave from, all_to_alls bring them to their
 * dimensions, and one gather drops the rest.
 *
 *   [{"y", "x", "z"}, {}] -> [{"z"}, {"y"}]
 *     permute      [{"z", "x", "y"}, {}]     z where it stays, y last, as it leaves
 *     all_to_all   [{"z", "x"}, {"y"}]
 *     all_gather   [{"z"}, {"y"}]
 *
 * Axes are cut into atoms at every border that either sharding has, and later where only a part of one finds a place.
 */
#include "io/mlir/opt/collective_route.h"

#include <math.h>
#include <string.h>

enum { MOST_ATOMS = 32, MOST_ROUNDS = 40 };

typedef struct list {
  int n;
  uint8_t at[MOST_ATOMS];
} list;

typedef struct lists {
  list dim[SW_MAX_RANK];
} lists;

/* Where a permute puts what leaves for other dimensions. */
typedef enum leaving {
  LEAVES_WHERE_IT_IS, /* if there is room */
  LEAVES_IN_TURN,     /* dimensions one after the other, so that each has what follows each other where it is wanted */
  LEAVES_TOGETHER,    /* the same before what is dropped has its place */
  LEAVING_COUNT
} leaving;

/* What may be done in more than one way. */
typedef struct choices {
  bool apart;      /* no slice goes where what stands before it is, to move on with it */
  bool permutes;   /* even where all_to_alls and a gather would do */
  leaving first;   /* which is tried first */
  bool unfinished; /* an arrangement from which not all gets where it is wanted is better than none */
  bool late;       /* nothing is gathered as long as anything can be moved */
} choices;

typedef struct router {
  const sw_collective_ends *ends;
  choices choice;
  int rank, n_atoms;
  sw_axis_ref atom[MOST_ATOMS];
  lists cur, out;
  lists likely;                  /* while an arrangement is looked for */
  uint32_t partial, out_partial; /* sets of atoms */
  uint32_t kept;                 /* of those that are partial now, what stays so */
  sw_reduction kind, out_kind;
  bool there;
  bool hard; /* sizes do not fit each other */
  bool full; /* more atoms than there is room for */
  sw_route_parts *parts;
  sw_diag *d;
} router;

/* --- atoms -------------------------------------------------------------------------------------------------------- */

static void append(list *l, int atom) {
  if (l->n < MOST_ATOMS) l->at[l->n++] = (uint8_t)atom;
}

static int place_in(const list *l, int atom) {
  for (int i = 0; i < l->n; i++) {
    if (l->at[i] == atom) return i;
  }
  return -1;
}

/* The dimension that has the atom; -1: none. */
static int dim_with(const router *r, const lists *l, int atom) {
  for (int d = 0; d < r->rank; d++) {
    if (place_in(&l->dim[d], atom) >= 0) return d;
  }
  return -1;
}

static bool is_used(const router *r, int atom) { return dim_with(r, &r->cur, atom) >= 0; }
static bool is_wanted(const router *r, int atom) { return dim_with(r, &r->out, atom) >= 0; }

static int64_t size_of(const router *r, const list *l, int first, int end) {
  int64_t size = 1;
  for (int i = first; i < end; i++) size *= r->atom[l->at[i]].size;
  return size;
}

static int64_t shards(const router *r, const list *l) { return size_of(r, l, 0, l->n); }

static void split_in(list *l, int atom, int second) {
  const int at = place_in(l, atom);
  if (at < 0 || l->n == MOST_ATOMS) return;
  memmove(&l->at[at + 2], &l->at[at + 1], (size_t)(l->n - at - 1));
  l->at[at + 1] = (uint8_t)second;
  l->n++;
}

/* Cuts the first `size` of an atom off from the rest of it, which is a new atom. */
static void split(router *r, int atom, int64_t size) {
  if (r->n_atoms == MOST_ATOMS) {
    r->full = true;
    return;
  }
  const int second = r->n_atoms++;
  sw_axis_ref *a = &r->atom[atom];
  r->atom[second] = (sw_axis_ref){a->axis, (int32_t)(a->pre * size), (int32_t)(a->size / size)};
  a->size = (int32_t)size;
  for (int d = 0; d < r->rank; d++) {
    split_in(&r->cur.dim[d], atom, second);
    split_in(&r->out.dim[d], atom, second);
    split_in(&r->likely.dim[d], atom, second);
  }
  if (r->partial >> atom & 1) r->partial |= 1u << second;
  if (r->out_partial >> atom & 1) r->out_partial |= 1u << second;
  if (r->kept >> atom & 1) r->kept |= 1u << second;
}

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* The atom, or a first part of it that is cut off, that divides `room`, which becomes what is left of it; false: no
 * part does. */
static bool take(router *r, int atom, int64_t *room) {
  const int64_t part = gcd(*room, r->atom[atom].size);
  if ((part == 1 && r->atom[atom].size > 1) || r->full) return false;
  if (part < r->atom[atom].size) split(r, atom, part);
  *room /= part;
  return true;
}

/* Borders of an axis, [n] of them, in order. False where they do not nest: x:(1)2 beside x:(1)3. */
static bool borders_of(const router *r, int axis, int64_t *at, int *n) {
  const sw_sharding *ends[] = {r->ends->from, r->ends->to};
  *n = 0;
  for (int e = 0; e < 2; e++) {
    for (int i = 0; i < 2 * (ends[e]->n_refs + ends[e]->n_partial); i++) {
      const sw_axis_ref *ref = &ends[e]->refs[i / 2];
      const int64_t border = i % 2 ? (int64_t)ref->pre * ref->size : ref->pre;
      int k = 0;
      if (ref->axis != axis) continue;
      while (k < *n && at[k] < border) k++;
      if (k < *n && at[k] == border) continue;
      if (*n == MOST_ATOMS) return false;
      memmove(&at[k + 1], &at[k], (size_t)(*n - k) * sizeof *at);
      at[k] = border;
      ++*n;
    }
  }
  for (int k = 0; k + 1 < *n; k++) {
    if (at[k + 1] % at[k]) return false;
  }
  return true;
}

static bool make_atoms(router *r) {
  for (int axis = 0; axis < r->ends->mesh->n_axes; axis++) {
    int64_t at[MOST_ATOMS + 1];
    int n;
    if (!borders_of(r, axis, at, &n)) return false;
    if (n && r->ends->mesh->axis[axis].size == 1) at[n++] = 1;
    for (int k = 0; k + 1 < n; k++) {
      if (r->n_atoms == MOST_ATOMS) return false;
      r->atom[r->n_atoms++] = (sw_axis_ref){axis, (int32_t)at[k], (int32_t)(at[k + 1] / at[k])};
    }
  }
  return true;
}

static void append_ref(const router *r, const sw_axis_ref *ref, list *l) {
  for (int i = 0; i < r->n_atoms; i++) {
    const sw_axis_ref *a = &r->atom[i];
    if (a->axis != ref->axis || a->pre < ref->pre) continue;
    if (a->pre == ref->pre || a->pre < (int64_t)ref->pre * ref->size) append(l, i);
  }
}

static uint32_t read_sharding(const router *r, const sw_sharding *s, lists *out) {
  list set = {0};
  uint32_t partial = 0;
  for (int i = 0; i < s->n_refs; i++) append_ref(r, &s->refs[i], &out->dim[s->dim_of[i]]);
  for (int i = 0; i < s->n_partial; i++) append_ref(r, &sw_sharding_partial(s)[i], &set);
  for (int i = 0; i < set.n; i++) partial |= 1u << set.at[i];
  return partial;
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

static bool push_list(const router *r, sw_sharding *s, int dim, const list *l, int first) {
  for (int i = first; i < l->n; i++) {
    const sw_axis_ref *a = &r->atom[l->at[i]];
    if (s->n_refs && s->dim_of[s->n_refs - 1] == dim) { /* joined as it goes, as there may be more atoms than refs */
      sw_axis_ref *last = &s->refs[s->n_refs - 1];
      if (last->axis == a->axis && (int64_t)last->pre * last->size == a->pre) {
        last->size *= a->size;
        continue;
      }
    }
    if (!sw_sharding_push(s, dim, *a)) return false;
  }
  return true;
}

/* Atoms of a set in the order of the mesh. */
static list in_order(const router *r, uint32_t set) {
  list l = {0};
  for (int i = 0; i < r->n_atoms; i++) {
    int k = l.n;
    if (!(set >> i & 1)) continue;
    const sw_axis_ref *a = &r->atom[i];
    append(&l, i);
    for (; k > 0; k--) {
      const sw_axis_ref *b = &r->atom[l.at[k - 1]];
      if (b->axis < a->axis || (b->axis == a->axis && b->pre < a->pre)) break;
      l.at[k] = l.at[k - 1];
    }
    l.at[k] = (uint8_t)i;
  }
  return l;
}

static bool state_of(const router *r, sw_sharding *s) {
  sw_sharding set = sw_sharding_replicated(1);
  const list partial = in_order(r, r->partial);
  *s = sw_sharding_replicated(r->rank);
  for (int d = 0; d < r->rank; d++) {
    if (!push_list(r, s, d, &r->cur.dim[d], 0)) return false;
  }
  if (!push_list(r, &set, 0, &partial, 0)) return false;
  for (int i = 0; i < set.n_refs; i++) {
    if (!sw_sharding_push_partial(s, r->kind, set.refs[i])) return false;
  }
  return true;
}

static sw_rc add_part(router *r, sw_route_part part) {
  part.there = r->there;
  if (r->full || !state_of(r, &part.after))
    return SW_FAIL_INPUT(r->d, SW_NOWHERE, "a reshard between shardings of more than %d axes", SW_MAX_REFS);
  return sw_array_push(r->parts, part, r->d);
}

/* A part over the axes of a set. */
static sw_rc add_set(router *r, sw_coll_op op, uint32_t set) {
  sw_route_part p = {.op = op, .axes = sw_sharding_replicated(1)};
  const list l = in_order(r, set);
  r->full |= !push_list(r, &p.axes, 0, &l, 0);
  return add_part(r, p);
}

/* --- slices ------------------------------------------------------------------------------------------------------- */

/* Leading atoms of a dimension that stand as they are wanted. */
static int right_of(const router *r, int d) {
  const list *cur = &r->cur.dim[d], *out = &r->out.dim[d];
  int n = 0;
  while (n < cur->n && n < out->n && cur->at[n] == out->at[n]) n++;
  return n;
}

/* Wanted, and not in use. */
static bool is_missing(const router *r, int atom) { return !is_used(r, atom); }

typedef struct slicing {
  int64_t room[SW_MAX_RANK]; /* how often a dimension may be cut further */
  bool fed[SW_MAX_RANK];     /* what it lacks is cut where the axes before it are */
} slicing;

/* As many shards more as make a multiple of what is wanted. */
static int64_t room_of(const router *r, int d) {
  const list *cur = &r->cur.dim[d], *out = &r->out.dim[d];
  const int right = right_of(r, d);
  if (out->n == right) return 1;
  const int64_t have = size_of(r, cur, right, cur->n), want = size_of(r, out, right, out->n);
  return want / gcd(have, want);
}

/* Missing atoms that follow one at the end of another dimension: cut there, they move on with it. */
static void slice_behind(router *r, slicing *s, int to) {
  const list *out = &r->out.dim[to];
  if (r->cur.dim[to].n > right_of(r, to)) return;
  for (int i = 1, end; i < out->n; i = end) {
    const int from = dim_with(r, &r->cur, out->at[i - 1]);
    end = i + 1;
    if (!is_missing(r, out->at[i]) || from < 0 || from == to) continue;
    while (end < out->n && is_missing(r, out->at[end])) end++;
    list *cur = &r->cur.dim[from];
    const int64_t all = shards(r, cur) * size_of(r, out, i, end), k = r->ends->dims[from];
    if (cur->at[cur->n - 1] != out->at[i - 1] || r->out.dim[from].n > right_of(r, from) || k < 0 || k % all) continue;
    for (int j = i; j < end; j++) append(cur, out->at[j]);
    s->fed[to] = true;
  }
}

static void slice_wanted(router *r, slicing *s, int d) {
  const list *out = &r->out.dim[d];
  for (int i = right_of(r, d); i < out->n; i++) {
    if (is_missing(r, out->at[i]) && take(r, out->at[i], &s->room[d])) append(&r->cur.dim[d], out->at[i]);
  }
}

/* What found no room in its own dimension helps where there is some. */
static void slice_elsewhere(router *r, slicing *s, int of) {
  const list *out = &r->out.dim[of];
  for (int i = 0; i < out->n; i++) {
    for (int d = 0; d < r->rank && is_missing(r, out->at[i]); d++) {
      if (!s->fed[d] && take(r, out->at[i], &s->room[d])) append(&r->cur.dim[d], out->at[i]);
    }
  }
}

/* Of what dimensions have now and had not, what goes on alike: partial before, or not. */
static sw_rc add_slices(router *r, const lists *before, uint32_t partial) {
  lists next = r->cur;
  r->cur = *before;
  for (bool scatter = false, any = true; any; scatter = !scatter) {
    sw_route_part p = {.op = scatter ? SW_COLL_REDUCE_SCATTER : SW_COLL_ALL_SLICE,
                       .axes = sw_sharding_replicated(r->rank)};
    bool left = any = false;
    for (int d = 0; d < r->rank; d++) {
      list *cur = &r->cur.dim[d];
      const int first = cur->n;
      for (int i = first; i < next.dim[d].n && (partial >> next.dim[d].at[i] & 1) == scatter; i++) {
        append(cur, next.dim[d].at[i]);
        r->partial &= ~(1u << next.dim[d].at[i]);
      }
      any |= cur->n > first;
      left |= cur->n < next.dim[d].n;
      r->full |= !push_list(r, &p.axes, d, cur, first);
    }
    if (any) SW_TRY(add_part(r, p));
    any |= left;
  }
  return SW_OK;
}

/* Lists that had atoms which were split since have their parts. */
static sw_rc slice(router *r) {
  slicing s = {0};
  lists before;
  int had[SW_MAX_RANK];
  for (int d = 0; d < r->rank; d++) {
    s.room[d] = room_of(r, d);
    had[d] = r->cur.dim[d].n;
  }
  for (int d = 0; d < r->rank && !r->choice.apart; d++) slice_behind(r, &s, d);
  for (int d = 0; d < r->rank; d++) slice_wanted(r, &s, d);
  for (int d = 0; d < r->rank; d++) slice_elsewhere(r, &s, d);
  before = r->cur;
  for (int d = 0; d < r->rank; d++) before.dim[d].n = had[d];
  return add_slices(r, &before, r->partial);
}

/* The same where it needs no thought: behind what is right. */
static sw_rc slice_next(router *r, bool *any) {
  lists before = r->cur;
  *any = false;
  for (int d = 0; d < r->rank; d++) {
    const list *out = &r->out.dim[d];
    if (right_of(r, d) < r->cur.dim[d].n) continue;
    for (int i = r->cur.dim[d].n; i < out->n && is_missing(r, out->at[i]); i++) {
      append(&r->cur.dim[d], out->at[i]);
      *any = true;
    }
  }
  return *any ? add_slices(r, &before, r->partial) : SW_OK;
}

/* --- all_to_all and all_gather ------------------------------------------------------------------------------------ */

/* How many atoms at the end of dimension d some other one wants next, in this order; which one. */
static int movable(const router *r, int d, int *to) {
  const list *cur = &r->cur.dim[d];
  for (int n = cur->n - right_of(r, d); n > 0; n--) {
    const int t = dim_with(r, &r->out, cur->at[cur->n - n]);
    if (t < 0 || t == d) continue;
    const int next = r->cur.dim[t].n;
    const list *out = &r->out.dim[t];
    if (right_of(r, t) < next || next + n > out->n) continue;
    if (memcmp(&out->at[next], &cur->at[cur->n - n], (size_t)n) != 0) continue;
    *to = t;
    return n;
  }
  return 0;
}

static void move(router *r, int from, int to, int n) {
  list *a = &r->cur.dim[from];
  for (int i = a->n - n; i < a->n; i++) append(&r->cur.dim[to], a->at[i]);
  a->n -= n;
}

static sw_rc add_move(router *r, int from, int to, int n) {
  sw_route_part p = {.op = SW_COLL_ALL_TO_ALL, .from = from, .to = to, .axes = sw_sharding_replicated(r->rank)};
  r->full |= !push_list(r, &p.axes, from, &r->cur.dim[from], r->cur.dim[from].n - n);
  move(r, from, to, n);
  return add_part(r, p);
}

/* One all_to_all, if there is any to make. */
static bool find_move(const router *r, int *from, int *to, int *n) {
  for (*from = 0; *from < r->rank; ++*from) {
    if ((*n = movable(r, *from, to)) > 0) return true;
  }
  return false;
}

/* Drops what nobody wants from the ends of dimensions, if it is to be partial, or if it is not. */
static sw_rc drop_ends(router *r, bool to_partial, bool *any) {
  sw_route_part p = {.op = to_partial ? SW_COLL_SHARD_TO_PARTIAL : SW_COLL_ALL_GATHER,
                     .axes = sw_sharding_replicated(r->rank)};
  uint32_t made = 0;
  bool some = false;
  for (int d = 0; d < r->rank; d++) {
    list *cur = &r->cur.dim[d];
    int first = cur->n;
    while (first > 0 && !is_wanted(r, cur->at[first - 1]) && (r->out_partial >> cur->at[first - 1] & 1) == to_partial)
      first--;
    r->full |= !push_list(r, &p.axes, d, cur, first);
    for (int i = first; i < cur->n; i++) made |= 1u << cur->at[i];
    some |= first < cur->n;
    cur->n = first;
  }
  if (!some) return SW_OK;
  *any = true;
  if (to_partial) {
    r->partial |= made;
    r->kind = r->out_kind;
  }
  return add_part(r, p);
}

/* --- permute ------------------------------------------------------------------------------------------------------ */

/* Would all_to_alls and a gather do? */
static bool can_finish(const router *now) {
  router r = *now;
  int from, to, n;
  while (find_move(&r, &from, &to, &n)) move(&r, from, to, n);
  for (int d = 0; d < r.rank; d++) {
    const int right = right_of(&r, d);
    if (r.out.dim[d].n > right) return false;
    for (int i = right; i < r.cur.dim[d].n; i++) {
      if (is_wanted(&r, r.cur.dim[d].at[i])) return false;
    }
  }
  return true;
}

/* A new arrangement of as many shards per dimension: first what is to stay there, then what is to be gathered, then
 * what leaves for other dimensions. */
typedef struct arrangement {
  int64_t room[SW_MAX_RANK];
  lists stay, drop, leave;
} arrangement;

static bool is_placed(const router *r, const arrangement *a, int atom) {
  return dim_with(r, &a->stay, atom) >= 0 || dim_with(r, &a->drop, atom) >= 0 || dim_with(r, &a->leave, atom) >= 0;
}

/* Of two atoms of different sizes the larger is cut; false where that is not possible. */
static bool make_equal(router *r, int a, int b) {
  const int64_t x = r->atom[a].size, y = r->atom[b].size;
  if ((x % y && y % x) || (x != y && (x == 1 || y == 1))) return false;
  if (x > y) split(r, a, y);
  if (y > x) split(r, b, x);
  return !r->full;
}

/* Place k of dimension d gets the atom, whose place, if it has one, gets what was there. */
static void swap_in(router *r, int d, int k, int atom) {
  uint8_t *at = &r->likely.dim[d].at[k];
  const int e = dim_with(r, &r->likely, atom);
  if (e >= 0) r->likely.dim[e].at[place_in(&r->likely.dim[e], atom)] = *at;
  *at = (uint8_t)atom;
}

/* Every atom where it is wanted, as far as there are places, by as few changes as that takes. */
static void find_likely(router *r) {
  for (int d = 0; d < r->rank; d++) {
    for (int k = 0; k < r->likely.dim[d].n && k < r->out.dim[d].n; k++) {
      if (r->likely.dim[d].at[k] == r->out.dim[d].at[k]) continue;
      if (!make_equal(r, r->out.dim[d].at[k], r->likely.dim[d].at[k])) break;
      swap_in(r, d, k, r->out.dim[d].at[k]);
    }
  }
}

static void place_wanted(router *r, arrangement *a, int d) {
  const list *out = &r->out.dim[d];
  for (int i = 0; i < out->n; i++) {
    const int64_t size = r->atom[out->at[i]].size;
    if (!take(r, out->at[i], &a->room[d])) return;
    append(&a->stay.dim[d], out->at[i]);
    if (r->atom[out->at[i]].size < size) return;
  }
}

/* Where it likely is, as a whole. */
static void place_there(router *r, arrangement *a, int atom, lists *into) {
  const int d = dim_with(r, &r->likely, atom);
  if (d >= 0 && a->room[d] % r->atom[atom].size == 0 && take(r, atom, &a->room[d])) append(&into->dim[d], atom);
}

/* Or in part, or wherever there is room. */
static void place_anywhere(router *r, arrangement *a, int atom, lists *into) {
  const int there = dim_with(r, &r->likely, atom);
  for (int k = -1; k < r->rank && !is_placed(r, a, atom); k++) {
    const int d = k < 0 ? there : k;
    if (d >= 0 && take(r, atom, &a->room[d])) append(&into->dim[d], atom);
  }
}

static void place_in_turn(router *r, arrangement *a, int atom, lists *into) {
  for (int d = 0; d < r->rank && !is_placed(r, a, atom); d++) {
    if (take(r, atom, &a->room[d])) append(&into->dim[d], atom);
  }
}

static void place_leaving(router *r, arrangement *a, bool anywhere) {
  for (int d = 0; d < r->rank; d++) {
    for (int i = 0; i < r->out.dim[d].n; i++) {
      const int atom = r->out.dim[d].at[i];
      if (is_used(r, atom) && !is_placed(r, a, atom)) (anywhere ? place_in_turn : place_there)(r, a, atom, &a->leave);
    }
  }
}

static void place_dropped(router *r, arrangement *a, const lists *of, bool anywhere) {
  for (int d = 0; d < r->rank; d++) {
    for (int i = 0; i < of->dim[d].n; i++) {
      const int atom = of->dim[d].at[i];
      if (!is_wanted(r, atom) && !is_placed(r, a, atom))
        (anywhere ? place_anywhere : place_there)(r, a, atom, &a->drop);
    }
  }
}

/* What leaves a dimension in the order of the dimensions and places it leaves for. */
static void sort_leaving(const router *r, list *leave) {
  list sorted = {0};
  for (int d = 0; d < r->rank; d++) {
    for (int i = 0; i < r->out.dim[d].n; i++) {
      if (place_in(leave, r->out.dim[d].at[i]) >= 0) append(&sorted, r->out.dim[d].at[i]);
    }
  }
  *leave = sorted;
}

static lists lists_of(const router *r, arrangement *a) {
  lists next = {0};
  for (int d = 0; d < r->rank; d++) {
    const list *parts[] = {&a->stay.dim[d], &a->drop.dim[d], &a->leave.dim[d]};
    sort_leaving(r, &a->leave.dim[d]);
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < parts[k]->n; i++) append(&next.dim[d], parts[k]->at[i]);
    }
  }
  return next;
}

/* False where sizes do not fit. */
static bool arrange(router *r, leaving way, bool swaps, lists *next) {
  arrangement a = {0};
  r->likely = r->cur;
  if (swaps) find_likely(r);
  for (int d = 0; d < r->rank; d++) a.room[d] = shards(r, &r->cur.dim[d]);
  for (int d = 0; d < r->rank; d++) place_wanted(r, &a, d);
  if (way == LEAVES_IN_TURN) place_dropped(r, &a, &r->likely, false);
  if (way == LEAVES_WHERE_IT_IS) place_leaving(r, &a, false);
  place_leaving(r, &a, true);
  place_dropped(r, &a, &r->likely, false);
  place_dropped(r, &a, &r->likely, true);
  place_dropped(r, &a, &r->cur, true);
  for (int d = 0; d < r->rank; d++) {
    for (int i = 0; i < r->out.dim[d].n; i++) {
      if (is_used(r, r->out.dim[d].at[i]) && !is_placed(r, &a, r->out.dim[d].at[i])) return false;
    }
    if (a.room[d] > 1) return false;
  }
  *next = lists_of(r, &a);
  return !r->full;
}

/* Each dimension for itself. */
static void arrange_within(const router *r, lists *next) {
  arrangement a = {0};
  for (int d = 0; d < r->rank; d++) {
    const list *cur = &r->cur.dim[d], *out = &r->out.dim[d];
    for (int i = 0; i < out->n && place_in(cur, out->at[i]) >= 0; i++) append(&a.stay.dim[d], out->at[i]);
    for (int i = 0; i < cur->n; i++) {
      if (place_in(&a.stay.dim[d], cur->at[i]) >= 0) continue;
      append(is_wanted(r, cur->at[i]) ? &a.leave.dim[d] : &a.drop.dim[d], cur->at[i]);
    }
  }
  *next = lists_of(r, &a);
}

static bool same_lists(const router *r, const lists *a, const lists *b) {
  for (int d = 0; d < r->rank; d++) {
    if (a->dim[d].n != b->dim[d].n || memcmp(a->dim[d].at, b->dim[d].at, (size_t)a->dim[d].n) != 0) return false;
  }
  return true;
}

/* By swaps, or by room alone, which parts of axes of odd sizes may ask for. */
static void find_arrangement(router *r, lists *next) {
  arrange_within(r, next);
  bool any = false;
  const router start = *r;
  for (int i = 0; i < 2 * LEAVING_COUNT; i++) {
    const leaving way = (leaving)(((int)start.choice.first + i) % LEAVING_COUNT);
    router tried = start, after;
    lists found;
    if (!arrange(&tried, way, i < LEAVING_COUNT, &found)) continue;
    after = tried;
    after.cur = found;
    const bool finishes = can_finish(&after);
    if (!finishes && (any || !start.choice.unfinished)) continue;
    *r = tried;
    *next = found;
    any = true;
    if (finishes) return;
  }
  r->hard = true;
}

/* Puts axes where they are of use, and the value on the other devices if it has to get there. */
static sw_rc permute(router *r, bool always, bool *any) {
  lists next = r->cur;
  const bool crosses = r->ends->reordered && !r->there;
  *any = false;
  if (always || !can_finish(r)) find_arrangement(r, &next);
  *any = !same_lists(r, &next, &r->cur);
  if (!*any && !crosses) return SW_OK;
  r->cur = next;
  r->there = r->ends->reordered;
  return add_part(r, (sw_route_part){.op = SW_COLL_PERMUTE, .axes = sw_sharding_replicated(r->rank)});
}

/* --- the route ---------------------------------------------------------------------------------------------------- */

static bool is_done(const router *r) { return same_lists(r, &r->cur, &r->out); }

/* Sizes that do not fit each other: an axis goes where it is wanted though others are in its way. */
static sw_rc move_anyway(router *r, bool *any) {
  *any = false;
  for (int d = 0; d < r->rank; d++) {
    const list *cur = &r->cur.dim[d], *out;
    const int to = cur->n ? dim_with(r, &r->out, cur->at[cur->n - 1]) : -1;
    if (to < 0 || to == d) continue;
    int n = 1, last = place_in(out = &r->out.dim[to], cur->at[cur->n - 1]);
    while (n < cur->n && n <= last && cur->at[cur->n - 1 - n] == out->at[last - n]) n++;
    *any = true;
    return add_move(r, d, to, n);
  }
  return SW_OK;
}

static sw_rc go_on(router *r, bool *any) {
  int from, to, n;
  *any = false;
  while (find_move(r, &from, &to, &n)) {
    *any = true;
    SW_TRY(add_move(r, from, to, n));
  }
  if (!*any && r->choice.late) SW_TRY(move_anyway(r, any));
  if (*any && r->choice.late) return SW_OK;
  SW_TRY(drop_ends(r, false, any));
  SW_TRY(drop_ends(r, true, any));
  if (!*any) SW_TRY(slice_next(r, any));
  if (!*any) SW_TRY(permute(r, false, any));
  return *any ? SW_OK : move_anyway(r, any);
}

/* All axes of all dimensions go, but for those that are right from the start. */
static sw_rc gather_all(router *r) {
  sw_route_part p = {.op = SW_COLL_ALL_GATHER, .axes = sw_sharding_replicated(r->rank)};
  bool any = false;
  for (int d = 0; d < r->rank; d++) {
    const int right = right_of(r, d);
    r->full |= !push_list(r, &p.axes, d, &r->cur.dim[d], right);
    any |= r->cur.dim[d].n > right;
    r->cur.dim[d].n = right;
  }
  if (any) SW_TRY(add_part(r, p));
  return slice_next(r, &any);
}

/* What is reduced and not cut: over buffers that are as small by then as slices make them. */
static sw_rc reduce(router *r) {
  const uint32_t reduced = r->partial & ~r->kept;
  if (!reduced) return SW_OK;
  r->partial = r->kept;
  return add_set(r, SW_COLL_ALL_REDUCE, reduced);
}

static sw_rc make_partial(router *r) {
  const uint32_t made = r->out_partial & ~r->partial;
  if (!made) return SW_OK;
  r->partial = r->out_partial;
  r->kind = r->out_kind;
  return add_set(r, SW_COLL_TO_PARTIAL, made);
}

static sw_rc walk(router *r) {
  bool any = true;
  SW_TRY(slice(r));
  SW_TRY(reduce(r));
  SW_TRY(permute(r, r->choice.permutes, &any));
  any = true;
  for (int i = 0; i < MOST_ROUNDS && any && !is_done(r); i++) SW_TRY(go_on(r, &any));
  if (!is_done(r)) SW_TRY(gather_all(r));
  return make_partial(r);
}

/* Parts of axes that do not nest cannot stand beside each other: by way of what is whole. */
static sw_rc walk_over_whole(const sw_collective_ends *ends, sw_route_parts *out, sw_diag *d) {
  const sw_sharding whole = sw_sharding_replicated(ends->rank);
  sw_collective_ends leg = *ends;
  leg.to = &whole;
  leg.reordered = false;
  SW_TRY(sw_collective_route(&leg, out, d));
  leg = *ends;
  leg.from = &whole;
  return sw_collective_route(&leg, out, d);
}

/* Elements that a device receives. */
static double received(const sw_collective_ends *ends, const sw_route_part *p) {
  const double g = (double)sw_axis_refs_size(p->axes.refs, p->axes.n_refs);
  double block = 1;
  for (int d = 0; d < ends->rank; d++) {
    const int64_t n = sw_sharding_shards(&p->after, d), k = ends->dims[d] < 0 ? n : ends->dims[d];
    const int64_t rows = k / n + (k % n != 0);
    block *= (double)rows;
  }
  switch ((int)p->op) {
    case SW_COLL_PERMUTE:
      return block;
    case SW_COLL_ALL_GATHER:
    case SW_COLL_ALL_TO_ALL:
      return block * (1 - 1 / g);
    case SW_COLL_ALL_REDUCE:
      return 2 * block * (1 - 1 / g);
    case SW_COLL_REDUCE_SCATTER:
      return block * (g - 1);
    default:
      return 0;
  }
}

static double all_received(const sw_collective_ends *ends, const sw_route_parts *parts) {
  double sum = 0;
  for (size_t i = 0; i < parts->n; i++) sum += received(ends, &parts->at[i]);
  return sum;
}

/* Choice i, in the order in which they are preferred; the latter ones help where sizes do not fit each other. */
enum { EASY_CHOICES = 4 * LEAVING_COUNT, ALL_CHOICES = 4 * EASY_CHOICES };
static choices choice_at(int i) {
  const int easy = i % EASY_CHOICES, hard = i / EASY_CHOICES;
  return (choices){.apart = easy / (2 * LEAVING_COUNT),
                   .permutes = easy / LEAVING_COUNT % 2,
                   .first = (leaving)(easy % LEAVING_COUNT),
                   .unfinished = hard & 1,
                   .late = hard >> 1};
}

/* Of all choices that which moves least; of such the shortest. */
static sw_rc walk_best(const router *start, sw_route_parts *out) {
  sw_route_parts tried = {0}, best = {0};
  double least = 0;
  sw_rc rc = SW_OK;
  for (int i = 0, n = EASY_CHOICES; i < n && !rc; i++) {
    router r = *start;
    r.choice = choice_at(i);
    r.parts = &tried;
    tried.n = 0;
    rc = walk(&r);
    if (r.hard) n = ALL_CHOICES;
    const double sum = all_received(start->ends, &tried), slack = 1e-9 * least;
    if (rc || (i && (sum > least + slack || (sum > least - slack && tried.n >= best.n)))) continue;
    const sw_route_parts other = best;
    best = tried;
    tried = other;
    least = sum;
    if (best.n <= 1) break;
  }
  for (size_t i = 0; i < best.n && !rc; i++) rc = sw_array_push(out, best.at[i], start->d);
  sw_array_free(&tried);
  sw_array_free(&best);
  return rc;
}

sw_rc sw_collective_route(const sw_collective_ends *ends, sw_route_parts *out, sw_diag *d) {
  router r = {.ends = ends, .rank = ends->rank, .d = d};
  if (!make_atoms(&r)) {
    if (!ends->from->n_refs && !ends->from->n_partial)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "parts of one axis do not nest in each other");
    return walk_over_whole(ends, out, d);
  }
  r.partial = read_sharding(&r, ends->from, &r.cur);
  r.out_partial = read_sharding(&r, ends->to, &r.out);
  r.kind = (sw_reduction)(r.partial ? ends->from : ends->to)->partial_kind;
  r.out_kind = (sw_reduction)ends->to->partial_kind;
  r.kept = r.kind == r.out_kind ? r.partial & r.out_partial : 0;
  return walk_best(&r, out);
}

double sw_collective_route_elements(const sw_collective_ends *ends) {
  sw_route_parts parts = {0};
  const sw_rc rc = sw_collective_route(ends, &parts, NULL);
  const double sum = all_received(ends, &parts);
  sw_array_free(&parts);
  return rc ? HUGE_VAL : sum;
}
