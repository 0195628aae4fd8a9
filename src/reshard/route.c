/* Routes: a found path written as collectives, with its traffic beside the bound.
 *
 *   [[x]] partial sum[y]  ->  [[x,y]]      one step: reduce_scatter axes=[y] dim=0
 */
#include <math.h>
#include <string.h>

#include "reshard/bytes.h"
#include "reshard/price.h"
#include "reshard/request.h"

static sw_rc copy_list(sw_arena *arena, int64_t n, const int64_t **list, sw_diag *d) {
  if (!*list) return SW_OK;
  *list = sw_arena_copy(arena, *list, (size_t)n, sizeof **list, d);
  return *list ? SW_OK : SW_E_RESOURCE;
}

sw_rc rs_own(sw_arena *arena, const sw_sharding *s, sw_sharding *out, sw_diag *d) {
  *out = *s;
  int64_t offsets = 0, cut = 0;
  for (int dim = 0; dim < s->rank; dim++) {
    int n;
    (void)sw_sharding_dim(s, dim, &n);
    cut += n > 0;
    if (n > 0) offsets += sw_sharding_shards(s, dim) + 1;
  }
  SW_TRY(copy_list(arena, offsets, &out->offsets, d));
  return copy_list(arena, 2 * cut, &out->halos, d);
}

typedef struct building {
  const rs_request *r;
  sw_arena *arena;
  sw_route *route;
  sw_sharding before;
  const sw_other_mesh *there; /* what `before` speaks of; NULL: the machine's mesh */
} building;

static sw_rc add_step(building *b, sw_collective coll, const sw_sharding *after, const sw_mesh *mesh, double cost_s,
                      sw_diag *d) {
  if (b->route->n_steps == SW_MAX_ROUTE_STEPS) return SW_BUG(d, "a route has more than %d steps", SW_MAX_ROUTE_STEPS);
  sw_route_step *step = &b->route->step[b->route->n_steps++];
  *step = (sw_route_step){.coll = coll, .after = *after, .mesh = mesh, .cost_s = cost_s};
  rs_step_bytes(&b->r->query, &b->before, step);
  b->route->cost_s += cost_s;
  b->route->max_bytes += step->max_bytes;
  b->route->total_bytes += step->total_bytes;
  b->before = *after;
  b->there = mesh == b->r->query.space.mesh ? NULL : b->r->query.target_mesh;
  return SW_OK;
}

/* What the target of the search speaks of. */
static const sw_mesh *target_mesh(const building *b) {
  const rs_query *q = &b->r->query;
  return q->target_mesh ? &q->target_mesh->mesh : q->space.mesh;
}

static sw_rc tilings_of(const building *b, const sw_sharding *after, bool last, sw_collective *c, sw_diag *d) {
  const rs_space *s = &b->r->query.space;
  sw_tiling *src, *dst;
  SW_ARENA_NEW(src, b->arena, 1, d);
  SW_ARENA_NEW(dst, b->arena, 1, d);
  sw_tiling_of(&b->before, s->rank, s->dims, src);
  sw_tiling_of(after, s->rank, s->dims, dst);
  src->other = b->there;
  dst->other = last ? b->r->query.target_mesh : NULL;
  c->src = src;
  c->dst = dst;
  return SW_OK;
}

static sw_rc exchange_of(const building *b, const sw_sharding *after, bool last, sw_collective *c, sw_diag *d) {
  SW_TRY(tilings_of(b, after, last, c, d));
  bool permute;
  SW_TRY(rs_is_permute(b->r->query.space.mesh, c->src, c->dst, &permute, d));
  if (permute) c->op = SW_COLL_PERMUTE;
  return SW_OK;
}

/* The collective of a hop from state `before`. */
static sw_rc collective_of(const building *b, const rs_state *before, const rs_hop *hop, const sw_sharding *after,
                           sw_collective *c, sw_diag *d) {
  const rs_space *s = &b->r->query.space;
  rs_move m = hop->move;
  rs_lists old, new;
  *c = (sw_collective){.op = (sw_coll_op)m.op, .dim = m.dim, .reduction = b->r->query.kind};
  rs_lists_of(s, before, &old);
  rs_lists_of(s, &hop->after, &new);
  switch ((int)m.op) {
    case SW_COLL_EXCHANGE:
      return exchange_of(b, after, after == &b->r->target, c, d);
    case SW_COLL_ALL_REDUCE:
    case SW_COLL_TO_PARTIAL:
      c->n_axes = rs_refs_of_set(s, m.atoms, c->axes);
      break;
    case SW_COLL_SHARD_TO_PARTIAL:
    case SW_COLL_ALL_TO_ALL_DIMS:
      c->n_axes = rs_refs_of_set(s, m.atoms, c->axes);
      return tilings_of(b, after, false, c, d);
    case SW_COLL_ALL_TO_ALL:
      c->dim = m.to_dim;
      c->concat_dim = m.dim;
      c->n_axes = rs_refs_of(s, &old.atom[m.dim][old.len[m.dim] - m.count], m.count, c->axes);
      break;
    case SW_COLL_ALL_GATHER:
      c->n_axes = rs_refs_of(s, &old.atom[m.dim][old.len[m.dim] - m.count], m.count, c->axes);
      break;
    default: /* all_slice, reduce_scatter */
      c->n_axes = rs_refs_of(s, &new.atom[m.dim][new.len[m.dim] - m.count], m.count, c->axes);
  }
  return SW_OK;
}

static sw_rc add_reduce_first(building *b, sw_diag *d) {
  const sw_sharding *from = &b->r->from;
  if (!b->r->reduce_first) return SW_OK;
  sw_collective c = {.op = SW_COLL_ALL_REDUCE, .reduction = b->r->query.kind, .n_axes = from->n_partial};
  memcpy(c.axes, sw_sharding_partial(from), from->n_partial * sizeof c.axes[0]);
  return add_step(b, c, &b->r->source, b->r->query.space.mesh, rs_reduce_first_s(b->r), d);
}

static sw_rc add_made(building *b, const sw_sharding *to, sw_diag *d) {
  if (b->r->n_made == 0 || !b->r->makes_last) return SW_OK;
  sw_collective c = {.op = SW_COLL_TO_PARTIAL, .reduction = (sw_reduction)to->partial_kind, .n_axes = b->r->n_made};
  memcpy(c.axes, b->r->made, (size_t)b->r->n_made * sizeof c.axes[0]);
  sw_sharding after = b->r->n_pieces ? b->r->target : *to;
  for (int i = 0; b->r->n_pieces && i < b->r->n_made; i++) {
    if (!sw_sharding_push_partial(&after, (sw_reduction)to->partial_kind, b->r->made[i]))
      return SW_BUG(d, "%s", "a route's sharding has too many axes");
  }
  return add_step(b, c, &after, target_mesh(b), rs_made_s(b->r), d);
}

/* Of another mesh's axes the tilings say all. */
static sw_rc add_pieces(building *b, const sw_sharding *to, sw_diag *d) {
  const rs_request *r = b->r;
  if (r->n_pieces == 0 || !r->makes_last) return SW_OK;
  sw_collective c = {.op = SW_COLL_SHARD_TO_PARTIAL, .reduction = (sw_reduction)to->partial_kind};
  if (!r->query.target_mesh) {
    c.n_axes = r->n_pieces;
    memcpy(c.axes, r->piece, (size_t)r->n_pieces * sizeof c.axes[0]);
  }
  SW_TRY(tilings_of(b, to, true, &c, d));
  return add_step(b, c, to, target_mesh(b), rs_pieces_s(r), d);
}

static sw_rc add_averaged(building *b, const sw_sharding *to, sw_diag *d) {
  if (b->r->n_averaged == 0) return SW_OK;
  sw_collective c = {.op = SW_COLL_TO_PARTIAL, .reduction = SW_REDUCE_AVERAGE, .n_axes = to->n_partial};
  memcpy(c.axes, sw_sharding_partial(to), to->n_partial * sizeof c.axes[0]);
  return add_step(b, c, to, target_mesh(b), 0, d);
}

static sw_rc add_path(building *b, const rs_path *path, sw_diag *d) {
  const rs_query *q = &b->r->query;
  rs_state state = q->source;
  for (int i = 0; i < path->n; i++) {
    const rs_hop *hop = &path->hop[i];
    bool last = i + 1 == path->n;
    sw_sharding between = rs_sharding_of(&q->space, &hop->after, q->kind);
    const sw_sharding *after = last ? &b->r->target : &between;
    sw_collective c;
    SW_TRY(collective_of(b, &state, hop, after, &c, d));
    SW_TRY(add_step(b, c, after, last ? target_mesh(b) : q->space.mesh, hop->cost_s, d));
    state = hop->after;
  }
  return SW_OK;
}

static void note_full_replication(sw_route *route, const sw_sharding *from, const sw_sharding *to) {
  if (from->n_refs == 0 || to->n_refs == 0) return;
  for (int i = 0; i + 1 < route->n_steps; i++) {
    route->full_replication = route->full_replication || route->step[i].after.n_refs == 0;
  }
}

static sw_rc no_route(const rs_request *r, sw_diag *d) {
  return SW_FAIL_INPUT(d, SW_NOWHERE, "no route between the shardings needs at most %lld temporary bytes per device",
                       (long long)r->query.max_temp_bytes);
}

static sw_rc find_path(rs_request *r, rs_path *path, sw_diag *d) {
  SW_TRY(rs_request_search(r, path, d));
  if (path->cost_s == HUGE_VAL && r->query.no_exchange) { /* collectives alone do not get there */
    r->query.no_exchange = false;
    SW_TRY(rs_request_search(r, path, d));
  }
  return path->cost_s == HUGE_VAL ? no_route(r, d) : SW_OK;
}

sw_rc sw_route_find(const sw_reshard *wanted, sw_arena *arena, sw_route *out, sw_diag *d) {
  sw_sharding from, to;
  sw_reshard owned = *wanted;
  rs_request r;
  rs_path path;
  *out = (sw_route){0};
  SW_TRY(rs_own(arena, wanted->from, &from, d));
  SW_TRY(rs_own(arena, wanted->to, &to, d));
  owned.from = &from;
  owned.to = &to;
  SW_TRY(rs_request_init(&r, &owned, d));
  building b = {.r = &r, .arena = arena, .route = out, .before = from};
  if (r.nothing_to_do) return add_averaged(&b, &to, d);
  rs_route_bound(&r, out);
  SW_TRY(find_path(&r, &path, d));
  SW_TRY(add_reduce_first(&b, d));
  SW_TRY(add_path(&b, &path, d));
  SW_TRY(add_made(&b, &r.to, d));
  SW_TRY(add_pieces(&b, &r.to, d));
  SW_TRY(add_averaged(&b, &to, d));
  const bool said_otherwise = wanted->options.to_mesh && !r.query.target_mesh;
  if (out->n_steps > 0) out->step[out->n_steps - 1].after = said_otherwise && !r.n_averaged ? r.to : to;
  note_full_replication(out, &r.from, &r.to);
  return SW_OK;
}

double sw_route_cost_s(const sw_reshard *wanted) {
  rs_request r;
  double cost_s;
  if (rs_request_init(&r, wanted, NULL)) return HUGE_VAL;
  if (r.nothing_to_do) return 0;
  return rs_request_s(&r, &cost_s, NULL) ? HUGE_VAL : cost_s;
}
