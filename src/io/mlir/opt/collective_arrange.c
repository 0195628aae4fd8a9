/* Where a permute puts atoms, so that they can leave for other dimensions or be gathered. */
#include <string.h>

#include "io/mlir/opt/collective_router.h"

/* A new arrangement of as many shards per dimension: first what is to stay there, then what is to be gathered, then
 * what leaves for other dimensions. */
typedef struct arrangement {
  int64_t room[SW_MAX_RANK];
  cr_lists stay, drop, leave;
} arrangement;

static bool is_placed(const cr_router *r, const arrangement *a, int atom) {
  return cr_dim_with(r, &a->stay, atom) >= 0 || cr_dim_with(r, &a->drop, atom) >= 0 ||
         cr_dim_with(r, &a->leave, atom) >= 0;
}

/* Of two atoms of different sizes the larger is cut; false where that is not possible. */
static bool make_equal(cr_router *r, int a, int b) {
  const int64_t x = r->atom[a].size, y = r->atom[b].size;
  if ((x % y && y % x) || (x != y && (x == 1 || y == 1))) return false;
  if (x > y) cr_split(r, a, y);
  if (y > x) cr_split(r, b, x);
  return !r->full;
}

/* Place k of dimension d gets the atom, whose place, if it has one, gets what was there. */
static void swap_in(cr_router *r, int d, int k, int atom) {
  uint8_t *at = &r->likely.dim[d].at[k];
  const int e = cr_dim_with(r, &r->likely, atom);
  if (e >= 0) r->likely.dim[e].at[cr_place_in(&r->likely.dim[e], atom)] = *at;
  *at = (uint8_t)atom;
}

/* Every atom where it is wanted, as far as there are places, by as few changes as that takes. */
static void find_likely(cr_router *r) {
  for (int d = 0; d < r->rank; d++) {
    for (int k = 0; k < r->likely.dim[d].n && k < r->out.dim[d].n; k++) {
      if (r->likely.dim[d].at[k] == r->out.dim[d].at[k]) continue;
      if (!make_equal(r, r->out.dim[d].at[k], r->likely.dim[d].at[k])) break;
      swap_in(r, d, k, r->out.dim[d].at[k]);
    }
  }
}

static void place_wanted(cr_router *r, arrangement *a, int d) {
  const cr_list *out = &r->out.dim[d];
  for (int i = 0; i < out->n; i++) {
    const int64_t size = r->atom[out->at[i]].size;
    if (!cr_take(r, out->at[i], &a->room[d])) return;
    cr_append(&a->stay.dim[d], out->at[i]);
    if (r->atom[out->at[i]].size < size) return;
  }
}

/* Where it likely is, as a whole. */
static void place_there(cr_router *r, arrangement *a, int atom, cr_lists *into) {
  const int d = cr_dim_with(r, &r->likely, atom);
  if (d >= 0 && a->room[d] % r->atom[atom].size == 0 && cr_take(r, atom, &a->room[d])) cr_append(&into->dim[d], atom);
}

/* Or in part, or wherever there is room. */
static void place_anywhere(cr_router *r, arrangement *a, int atom, cr_lists *into) {
  const int there = cr_dim_with(r, &r->likely, atom);
  for (int k = -1; k < r->rank && !is_placed(r, a, atom); k++) {
    const int d = k < 0 ? there : k;
    if (d >= 0 && cr_take(r, atom, &a->room[d])) cr_append(&into->dim[d], atom);
  }
}

static void place_in_turn(cr_router *r, arrangement *a, int atom, cr_lists *into) {
  for (int d = 0; d < r->rank && !is_placed(r, a, atom); d++) {
    if (cr_take(r, atom, &a->room[d])) cr_append(&into->dim[d], atom);
  }
}

static void place_leaving(cr_router *r, arrangement *a, bool anywhere) {
  for (int d = 0; d < r->rank; d++) {
    for (int i = 0; i < r->out.dim[d].n; i++) {
      const int atom = r->out.dim[d].at[i];
      if (cr_is_used(r, atom) && !is_placed(r, a, atom))
        (anywhere ? place_in_turn : place_there)(r, a, atom, &a->leave);
    }
  }
}

static void place_dropped(cr_router *r, arrangement *a, const cr_lists *of, bool anywhere) {
  for (int d = 0; d < r->rank; d++) {
    for (int i = 0; i < of->dim[d].n; i++) {
      const int atom = of->dim[d].at[i];
      if (!cr_is_wanted(r, atom) && !is_placed(r, a, atom))
        (anywhere ? place_anywhere : place_there)(r, a, atom, &a->drop);
    }
  }
}

/* What leaves a dimension in the order of the dimensions and places it leaves for. */
static void sort_leaving(const cr_router *r, cr_list *leave) {
  cr_list sorted = {0};
  for (int d = 0; d < r->rank; d++) {
    for (int i = 0; i < r->out.dim[d].n; i++) {
      if (cr_place_in(leave, r->out.dim[d].at[i]) >= 0) cr_append(&sorted, r->out.dim[d].at[i]);
    }
  }
  *leave = sorted;
}

static cr_lists lists_of(const cr_router *r, arrangement *a) {
  cr_lists next = {0};
  for (int d = 0; d < r->rank; d++) {
    const cr_list *parts[] = {&a->stay.dim[d], &a->drop.dim[d], &a->leave.dim[d]};
    sort_leaving(r, &a->leave.dim[d]);
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < parts[k]->n; i++) cr_append(&next.dim[d], parts[k]->at[i]);
    }
  }
  return next;
}

/* False where sizes do not fit. */
static bool arrange(cr_router *r, cr_leaving way, bool swaps, cr_lists *next) {
  arrangement a = {0};
  r->likely = r->cur;
  if (swaps) find_likely(r);
  for (int d = 0; d < r->rank; d++) a.room[d] = cr_shards(r, &r->cur.dim[d]);
  for (int d = 0; d < r->rank; d++) place_wanted(r, &a, d);
  if (way == CR_LEAVES_IN_TURN) place_dropped(r, &a, &r->likely, false);
  if (way == CR_LEAVES_WHERE_IT_IS) place_leaving(r, &a, false);
  place_leaving(r, &a, true);
  place_dropped(r, &a, &r->likely, false);
  place_dropped(r, &a, &r->likely, true);
  place_dropped(r, &a, &r->cur, true);
  for (int d = 0; d < r->rank; d++) {
    for (int i = 0; i < r->out.dim[d].n; i++) {
      if (cr_is_used(r, r->out.dim[d].at[i]) && !is_placed(r, &a, r->out.dim[d].at[i])) return false;
    }
    if (a.room[d] > 1) return false;
  }
  *next = lists_of(r, &a);
  return !r->full;
}

/* Each dimension for itself. */
static void arrange_within(const cr_router *r, cr_lists *next) {
  arrangement a = {0};
  for (int d = 0; d < r->rank; d++) {
    const cr_list *cur = &r->cur.dim[d], *out = &r->out.dim[d];
    for (int i = 0; i < out->n && cr_place_in(cur, out->at[i]) >= 0; i++) cr_append(&a.stay.dim[d], out->at[i]);
    for (int i = 0; i < cur->n; i++) {
      if (cr_place_in(&a.stay.dim[d], cur->at[i]) >= 0) continue;
      cr_append(cr_is_wanted(r, cur->at[i]) ? &a.leave.dim[d] : &a.drop.dim[d], cur->at[i]);
    }
  }
  *next = lists_of(r, &a);
}

/* By swaps, or by room alone, which parts of axes of odd sizes may ask for. */
void cr_find_arrangement(cr_router *r, cr_lists *next) {
  arrange_within(r, next);
  bool any = false;
  const cr_router start = *r;
  for (int i = 0; i < 2 * CR_LEAVING_COUNT; i++) {
    const cr_leaving way = (cr_leaving)(((int)start.choice.first + i) % CR_LEAVING_COUNT);
    cr_router tried = start, after;
    cr_lists found;
    if (!arrange(&tried, way, i < CR_LEAVING_COUNT, &found)) continue;
    after = tried;
    after.cur = found;
    const bool finishes = cr_can_finish(&after);
    if (!finishes && (any || !start.choice.unfinished)) continue;
    *r = tried;
    *next = found;
    any = true;
    if (finishes) return;
  }
  r->hard = true;
}
