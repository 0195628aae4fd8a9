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
#include "io/mlir/opt/collective_router.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 40 };

/* --- slices ------------------------------------------------------------------------------------------------------- */

typedef struct slicing {
  int64_t room[SW_MAX_RANK]; /* how often a dimension may be cut further */
  bool fed[SW_MAX_RANK];     /* what it lacks is cut where the axes before it are */
} slicing;

/* As many shards more as make a multiple of what is wanted. */
static int64_t room_of(const cr_router *r, int d) {
  const cr_list *cur = &r->cur.dim[d], *out = &r->out.dim[d];
  const int right = cr_right_of(r, d);
  if (out->n == right) return 1;
  const int64_t have = cr_size_of(r, cur, right, cur->n), want = cr_size_of(r, out, right, out->n);
  return want / cr_gcd(have, want);
}

/* Missing atoms that follow one at the end of another dimension: cut there, they move on with it. */
static void slice_behind(cr_router *r, slicing *s, int to) {
  const cr_list *out = &r->out.dim[to];
  if (r->cur.dim[to].n > cr_right_of(r, to)) return;
  for (int i = 1, end; i < out->n; i = end) {
    const int from = cr_dim_with(r, &r->cur, out->at[i - 1]);
    end = i + 1;
    if (!cr_is_missing(r, out->at[i]) || from < 0 || from == to) continue;
    while (end < out->n && cr_is_missing(r, out->at[end])) end++;
    cr_list *cur = &r->cur.dim[from];
    const int64_t all = cr_shards(r, cur) * cr_size_of(r, out, i, end), k = r->ends->dims[from];
    if (cur->at[cur->n - 1] != out->at[i - 1] || r->out.dim[from].n > cr_right_of(r, from) || k < 0 || k % all)
      continue;
    for (int j = i; j < end; j++) cr_append(cur, out->at[j]);
    s->fed[to] = true;
  }
}

static void slice_wanted(cr_router *r, slicing *s, int d) {
  const cr_list *out = &r->out.dim[d];
  for (int i = cr_right_of(r, d); i < out->n; i++) {
    if (cr_is_missing(r, out->at[i]) && cr_take(r, out->at[i], &s->room[d])) cr_append(&r->cur.dim[d], out->at[i]);
  }
}

/* What found no room in its own dimension helps where there is some. */
static void slice_elsewhere(cr_router *r, slicing *s, int of) {
  const cr_list *out = &r->out.dim[of];
  for (int i = 0; i < out->n; i++) {
    for (int d = 0; d < r->rank && cr_is_missing(r, out->at[i]); d++) {
      if (!s->fed[d] && cr_take(r, out->at[i], &s->room[d])) cr_append(&r->cur.dim[d], out->at[i]);
    }
  }
}

/* Of what dimensions have now and had not, what goes on alike: partial before, or not. */
static sw_rc add_slices(cr_router *r, const cr_lists *before, uint32_t partial) {
  cr_lists next = r->cur;
  r->cur = *before;
  for (bool scatter = false, any = true; any; scatter = !scatter) {
    sw_route_part p = {.op = scatter ? SW_COLL_REDUCE_SCATTER : SW_COLL_ALL_SLICE,
                       .axes = sw_sharding_replicated(r->rank)};
    bool left = any = false;
    for (int d = 0; d < r->rank; d++) {
      cr_list *cur = &r->cur.dim[d];
      const int first = cur->n;
      for (int i = first; i < next.dim[d].n && (partial >> next.dim[d].at[i] & 1) == scatter; i++) {
        cr_append(cur, next.dim[d].at[i]);
        r->partial &= ~(1u << next.dim[d].at[i]);
      }
      any |= cur->n > first;
      left |= cur->n < next.dim[d].n;
      r->full |= !cr_push_list(r, &p.axes, d, cur, first);
    }
    if (any) SW_TRY(cr_add_part(r, p));
    any |= left;
  }
  return SW_OK;
}

/* Lists that had atoms which were split since have their parts. */
static sw_rc slice(cr_router *r) {
  slicing s = {0};
  cr_lists before;
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
static sw_rc slice_next(cr_router *r, bool *any) {
  cr_lists before = r->cur;
  *any = false;
  for (int d = 0; d < r->rank; d++) {
    const cr_list *out = &r->out.dim[d];
    if (cr_right_of(r, d) < r->cur.dim[d].n) continue;
    for (int i = r->cur.dim[d].n; i < out->n && cr_is_missing(r, out->at[i]); i++) {
      cr_append(&r->cur.dim[d], out->at[i]);
      *any = true;
    }
  }
  return *any ? add_slices(r, &before, r->partial) : SW_OK;
}
/* --- all_to_all and all_gather ------------------------------------------------------------------------------------ */

static sw_rc add_move(cr_router *r, int from, int to, int n) {
  sw_route_part p = {.op = SW_COLL_ALL_TO_ALL, .from = from, .to = to, .axes = sw_sharding_replicated(r->rank)};
  r->full |= !cr_push_list(r, &p.axes, from, &r->cur.dim[from], r->cur.dim[from].n - n);
  cr_move(r, from, to, n);
  return cr_add_part(r, p);
}

/* Drops what nobody wants from the ends of dimensions, if it is to be partial, or if it is not. */
static sw_rc drop_ends(cr_router *r, bool to_partial, bool *any) {
  sw_route_part p = {.op = to_partial ? SW_COLL_SHARD_TO_PARTIAL : SW_COLL_ALL_GATHER,
                     .axes = sw_sharding_replicated(r->rank)};
  uint32_t made = 0;
  bool some = false;
  for (int d = 0; d < r->rank; d++) {
    cr_list *cur = &r->cur.dim[d];
    int first = cur->n;
    while (first > 0 && !cr_is_wanted(r, cur->at[first - 1]) &&
           (r->out_partial >> cur->at[first - 1] & 1) == to_partial)
      first--;
    r->full |= !cr_push_list(r, &p.axes, d, cur, first);
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
  return cr_add_part(r, p);
}
/* --- permute ------------------------------------------------------------------------------------------------------ */

/* Puts axes where they are of use, and the value on the other devices if it has to get there. */
static sw_rc permute(cr_router *r, bool always, bool *any) {
  cr_lists next = r->cur;
  const bool crosses = r->ends->reordered && !r->there;
  *any = false;
  if (always || !cr_can_finish(r)) cr_find_arrangement(r, &next);
  *any = !cr_same_lists(r, &next, &r->cur);
  if (!*any && !crosses) return SW_OK;
  r->cur = next;
  r->there = r->ends->reordered;
  return cr_add_part(r, (sw_route_part){.op = SW_COLL_PERMUTE, .axes = sw_sharding_replicated(r->rank)});
}
/* --- the route ---------------------------------------------------------------------------------------------------- */

static bool is_done(const cr_router *r) { return cr_same_lists(r, &r->cur, &r->out); }

/* Sizes that do not fit each other: an axis goes where it is wanted though others are in its way. */
static sw_rc move_anyway(cr_router *r, bool *any) {
  *any = false;
  for (int d = 0; d < r->rank; d++) {
    const cr_list *cur = &r->cur.dim[d], *out;
    const int to = cur->n ? cr_dim_with(r, &r->out, cur->at[cur->n - 1]) : -1;
    if (to < 0 || to == d) continue;
    int n = 1, last = cr_place_in(out = &r->out.dim[to], cur->at[cur->n - 1]);
    while (n < cur->n && n <= last && cur->at[cur->n - 1 - n] == out->at[last - n]) n++;
    *any = true;
    return add_move(r, d, to, n);
  }
  return SW_OK;
}

static sw_rc go_on(cr_router *r, bool *any) {
  int from, to, n;
  *any = false;
  while (cr_find_move(r, &from, &to, &n)) {
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
static sw_rc gather_all(cr_router *r) {
  sw_route_part p = {.op = SW_COLL_ALL_GATHER, .axes = sw_sharding_replicated(r->rank)};
  bool any = false;
  for (int d = 0; d < r->rank; d++) {
    const int right = cr_right_of(r, d);
    r->full |= !cr_push_list(r, &p.axes, d, &r->cur.dim[d], right);
    any |= r->cur.dim[d].n > right;
    r->cur.dim[d].n = right;
  }
  if (any) SW_TRY(cr_add_part(r, p));
  return slice_next(r, &any);
}

/* What is reduced and not cut: over buffers that are as small by then as slices make them. */
static sw_rc reduce(cr_router *r) {
  const uint32_t reduced = r->partial & ~r->kept;
  if (!reduced) return SW_OK;
  r->partial = r->kept;
  return cr_add_set(r, SW_COLL_ALL_REDUCE, reduced);
}

static sw_rc make_partial(cr_router *r) {
  const uint32_t made = r->out_partial & ~r->partial;
  if (!made) return SW_OK;
  r->partial = r->out_partial;
  r->kind = r->out_kind;
  return cr_add_set(r, SW_COLL_TO_PARTIAL, made);
}

static sw_rc walk(cr_router *r) {
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
enum { EASY_CHOICES = 4 * CR_LEAVING_COUNT, ALL_CHOICES = 4 * EASY_CHOICES };
static cr_choices choice_at(int i) {
  const int easy = i % EASY_CHOICES, hard = i / EASY_CHOICES;
  return (cr_choices){.apart = easy / (2 * CR_LEAVING_COUNT),
                      .permutes = easy / CR_LEAVING_COUNT % 2,
                      .first = (cr_leaving)(easy % CR_LEAVING_COUNT),
                      .unfinished = hard & 1,
                      .late = hard >> 1};
}

/* Of all choices that which moves least; of such the shortest. */
static sw_rc walk_best(const cr_router *start, sw_route_parts *out) {
  sw_route_parts tried = {0}, best = {0};
  double least = 0;
  sw_rc rc = SW_OK;
  for (int i = 0, n = EASY_CHOICES; i < n && !rc; i++) {
    cr_router r = *start;
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
  cr_router r = {.ends = ends, .rank = ends->rank, .d = d};
  if (!cr_make_atoms(&r)) {
    if (!ends->from->n_refs && !ends->from->n_partial)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "parts of one axis do not nest in each other");
    return walk_over_whole(ends, out, d);
  }
  r.partial = cr_read_sharding(&r, ends->from, &r.cur);
  r.out_partial = cr_read_sharding(&r, ends->to, &r.out);
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
