/* Atoms of axes, lists of them by dimension, and what parts of routes say of these. */
#include <string.h>

#include "io/mlir/opt/collective_router.h"

/* --- atoms -------------------------------------------------------------------------------------------------------- */

static void split_in(cr_list *l, int atom, int second) {
  const int at = cr_place_in(l, atom);
  if (at < 0 || l->n == CR_MOST_ATOMS) return;
  memmove(&l->at[at + 2], &l->at[at + 1], (size_t)(l->n - at - 1));
  l->at[at + 1] = (uint8_t)second;
  l->n++;
}

/* Cuts the first `size` of an atom off from the rest of it, which is a new atom. */
void cr_split(cr_router *r, int atom, int64_t size) {
  if (r->n_atoms == CR_MOST_ATOMS) {
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

int64_t cr_gcd(int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* The atom, or a first part of it that is cut off, that divides `room`, which becomes what is left of it; false: no
 * part does. */
bool cr_take(cr_router *r, int atom, int64_t *room) {
  const int64_t part = cr_gcd(*room, r->atom[atom].size);
  if ((part == 1 && r->atom[atom].size > 1) || r->full) return false;
  if (part < r->atom[atom].size) cr_split(r, atom, part);
  *room /= part;
  return true;
}

/* Borders of an axis, [n] of them, in order. False where they do not nest: x:(1)2 beside x:(1)3. */
static bool borders_of(const cr_router *r, int axis, int64_t *at, int *n) {
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
      if (*n == CR_MOST_ATOMS) return false;
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

bool cr_make_atoms(cr_router *r) {
  for (int axis = 0; axis < r->ends->mesh->n_axes; axis++) {
    int64_t at[CR_MOST_ATOMS + 1];
    int n;
    if (!borders_of(r, axis, at, &n)) return false;
    if (n && r->ends->mesh->axis[axis].size == 1) at[n++] = 1;
    for (int k = 0; k + 1 < n; k++) {
      if (r->n_atoms == CR_MOST_ATOMS) return false;
      r->atom[r->n_atoms++] = (sw_axis_ref){axis, (int32_t)at[k], (int32_t)(at[k + 1] / at[k])};
    }
  }
  return true;
}

static void append_ref(const cr_router *r, const sw_axis_ref *ref, cr_list *l) {
  for (int i = 0; i < r->n_atoms; i++) {
    const sw_axis_ref *a = &r->atom[i];
    if (a->axis != ref->axis || a->pre < ref->pre) continue;
    if (a->pre == ref->pre || a->pre < (int64_t)ref->pre * ref->size) cr_append(l, i);
  }
}

uint32_t cr_read_sharding(const cr_router *r, const sw_sharding *s, cr_lists *out) {
  cr_list set = {0};
  uint32_t partial = 0;
  for (int i = 0; i < s->n_refs; i++) append_ref(r, &s->refs[i], &out->dim[s->dim_of[i]]);
  for (int i = 0; i < s->n_partial; i++) append_ref(r, &sw_sharding_partial(s)[i], &set);
  for (int i = 0; i < set.n; i++) partial |= 1u << set.at[i];
  return partial;
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

bool cr_push_list(const cr_router *r, sw_sharding *s, int dim, const cr_list *l, int first) {
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
static cr_list in_order(const cr_router *r, uint32_t set) {
  cr_list l = {0};
  for (int i = 0; i < r->n_atoms; i++) {
    int k = l.n;
    if (!(set >> i & 1)) continue;
    const sw_axis_ref *a = &r->atom[i];
    cr_append(&l, i);
    for (; k > 0; k--) {
      const sw_axis_ref *b = &r->atom[l.at[k - 1]];
      if (b->axis < a->axis || (b->axis == a->axis && b->pre < a->pre)) break;
      l.at[k] = l.at[k - 1];
    }
    l.at[k] = (uint8_t)i;
  }
  return l;
}

static bool state_of(const cr_router *r, sw_sharding *s) {
  sw_sharding set = sw_sharding_replicated(1);
  const cr_list partial = in_order(r, r->partial);
  *s = sw_sharding_replicated(r->rank);
  for (int d = 0; d < r->rank; d++) {
    if (!cr_push_list(r, s, d, &r->cur.dim[d], 0)) return false;
  }
  if (!cr_push_list(r, &set, 0, &partial, 0)) return false;
  for (int i = 0; i < set.n_refs; i++) {
    if (!sw_sharding_push_partial(s, r->kind, set.refs[i])) return false;
  }
  return true;
}

sw_rc cr_add_part(cr_router *r, sw_route_part part) {
  part.there = r->there;
  if (r->full || !state_of(r, &part.after))
    return SW_FAIL_INPUT(r->d, SW_NOWHERE, "a reshard between shardings of more than %d axes", SW_MAX_REFS);
  return sw_array_push(r->parts, part, r->d);
}

/* A part over the axes of a set. */
sw_rc cr_add_set(cr_router *r, sw_coll_op op, uint32_t set) {
  sw_route_part p = {.op = op, .axes = sw_sharding_replicated(1)};
  const cr_list l = in_order(r, set);
  r->full |= !cr_push_list(r, &p.axes, 0, &l, 0);
  return cr_add_part(r, p);
}

/* Leading atoms of a dimension that stand as they are wanted. */
int cr_right_of(const cr_router *r, int d) {
  const cr_list *cur = &r->cur.dim[d], *out = &r->out.dim[d];
  int n = 0;
  while (n < cur->n && n < out->n && cur->at[n] == out->at[n]) n++;
  return n;
}

bool cr_same_lists(const cr_router *r, const cr_lists *a, const cr_lists *b) {
  for (int d = 0; d < r->rank; d++) {
    if (a->dim[d].n != b->dim[d].n || memcmp(a->dim[d].at, b->dim[d].at, (size_t)a->dim[d].n) != 0) return false;
  }
  return true;
}

/* --- moves -------------------------------------------------------------------------------------------------------- */

/* How many atoms at the end of dimension d some other one wants next, in this order; which one. */
static int movable(const cr_router *r, int d, int *to) {
  const cr_list *cur = &r->cur.dim[d];
  for (int n = cur->n - cr_right_of(r, d); n > 0; n--) {
    const int t = cr_dim_with(r, &r->out, cur->at[cur->n - n]);
    if (t < 0 || t == d) continue;
    const int next = r->cur.dim[t].n;
    const cr_list *out = &r->out.dim[t];
    if (cr_right_of(r, t) < next || next + n > out->n) continue;
    if (memcmp(&out->at[next], &cur->at[cur->n - n], (size_t)n) != 0) continue;
    *to = t;
    return n;
  }
  return 0;
}

void cr_move(cr_router *r, int from, int to, int n) {
  cr_list *a = &r->cur.dim[from];
  for (int i = a->n - n; i < a->n; i++) cr_append(&r->cur.dim[to], a->at[i]);
  a->n -= n;
}

/* One all_to_all, if there is any to make. */
bool cr_find_move(const cr_router *r, int *from, int *to, int *n) {
  for (*from = 0; *from < r->rank; ++*from) {
    if ((*n = movable(r, *from, to)) > 0) return true;
  }
  return false;
}

/* Would all_to_alls and a gather do? */
bool cr_can_finish(const cr_router *now) {
  cr_router r = *now;
  int from, to, n;
  while (cr_find_move(&r, &from, &to, &n)) cr_move(&r, from, to, n);
  for (int d = 0; d < r.rank; d++) {
    const int right = cr_right_of(&r, d);
    if (r.out.dim[d].n > right) return false;
    for (int i = right; i < r.cur.dim[d].n; i++) {
      if (cr_is_wanted(&r, r.cur.dim[d].at[i])) return false;
    }
  }
  return true;
}
