/* Routes: a found path written as collectives, with its traffic beside the bound.
 *
 *   [[x]] partial sum[y]  ->  [[x,y]]      one step: reduce_scatter axes=[y] dim=0
 */
#include <math.h>
#include <string.h>

#include "reshard/bytes.h"
#include "reshard/route_search.h"

typedef struct building {
  const rs_request *r;
  sw_arena *arena;
  sw_route *route;
  sw_sharding before;
} building;

static sw_rc add_route_step(building *b, sw_collective coll, const sw_sharding *after, const sw_other_mesh *there,
                            double cost_s, sw_diag *d) {
  if (b->route->n_steps == SW_MAX_ROUTE_STEPS) return SW_BUG(d, "a route has more than %d steps", SW_MAX_ROUTE_STEPS);
  sw_hop *step = &b->route->step[b->route->n_steps++];
  *step = (sw_hop){.coll = coll, .after = *after, .mesh = there ? &there->mesh : b->r->space.mesh, .cost_s = cost_s};
  rs_leg_bytes(b->r, &b->before, step);
  b->route->cost_s += cost_s;
  b->route->max_bytes += step->max_bytes;
  b->route->total_bytes += step->total_bytes;
  b->before = *after;
  return SW_OK;
}

static sw_rc tilings_of(const building *b, const sw_sharding *after, const sw_other_mesh *there, sw_collective *c,
                        sw_diag *d) {
  const rs_space *s = &b->r->space;
  sw_tiling *src, *dst;
  SW_ARENA_NEW_EACH(b->arena, 1, d, src, dst);
  sw_tiling_of(&b->before, s->rank, s->dims, src);
  sw_tiling_of(after, s->rank, s->dims, dst);
  dst->other = there;
  c->src = src;
  c->dst = dst;
  return SW_OK;
}

static sw_rc exchange_of(const building *b, sw_collective *c, sw_diag *d) {
  bool permute;
  SW_TRY(rs_is_permute(b->r->space.mesh, c->src, c->dst, &permute, d));
  if (permute) c->op = SW_COLL_PERMUTE;
  return SW_OK;
}

/* All that is partial at an end which atoms do not write. */
static void partial_axes(const building *b, const sw_sharding *after, sw_collective *c) {
  const sw_sharding *s = c->op == SW_COLL_ALL_REDUCE ? &b->r->from : after;
  c->n_axes = s->n_partial;
  memcpy(c->axes, sw_sharding_partial(s), s->n_partial * sizeof c->axes[0]);
}

static sw_rc collective_of(const building *b, const struct rs_hop *hop, const sw_sharding *after, sw_collective *c,
                           sw_diag *d) {
  const rs_space *s = &b->r->space;
  const rs_move *m = &hop->move;
  const sw_sharding *parts = sw_coll_makes_parts((sw_coll_op)m->op) ? after : &b->before;
  *c = (sw_collective){
      .op = (sw_coll_op)m->op, .dim = m->dim, .concat_dim = m->of_dim, .reduction = (sw_reduction)parts->partial_kind};
  c->n_axes = m->list ? rs_refs_of_list(s, m->list, c->axes) : rs_refs_of_set(s, m->set, c->axes);
  if (hop->after.form != RS_PLAIN && m->op != SW_COLL_EXCHANGE) partial_axes(b, after, c);
  if (!(sw_coll_flags(c->op) & SW_COLL_USES_TILES)) return SW_OK;
  SW_TRY(tilings_of(b, after, rs_request_other(b->r, &hop->after), c, d));
  return c->op == SW_COLL_EXCHANGE ? exchange_of(b, c, d) : SW_OK;
}

/* One slice for each dimension that is cut. */
static sw_rc add_slices(building *b, const rs_state *from, const rs_state *to, sw_diag *d) {
  const rs_space *s = &b->r->space;
  rs_state at = *from;
  for (int dim = 0; dim < s->rank; dim++) {
    if (at.list[dim] == to->list[dim]) continue;
    sw_collective c = {.op = SW_COLL_ALL_SLICE, .dim = dim};
    c.n_axes = rs_refs_of_list(s, to->list[dim] >> 4 * rs_list_len(at.list[dim]), c.axes);
    at.list[dim] = to->list[dim];
    const sw_sharding after = rs_request_sharding(b->r, &at);
    const double bytes = rs_block_bytes(b->r, &after);
    SW_TRY(add_route_step(b, c, &after, NULL, sw_machine_collective_s(b->r->machine, c.op, NULL, 0, bytes), d));
  }
  return SW_OK;
}

static sw_rc add_path(building *b, const rs_path *path, sw_diag *d) {
  const rs_state *state = &b->r->source;
  for (int i = 0; i < path->n; i++) {
    const struct rs_hop *hop = &path->hop[i];
    const sw_sharding after = rs_request_sharding(b->r, &hop->after);
    if (hop->move.n_slices) {
      SW_TRY(add_slices(b, state, &hop->after, d));
    } else {
      sw_collective c;
      SW_TRY(collective_of(b, hop, &after, &c, d));
      SW_TRY(add_route_step(b, c, &after, rs_request_other(b->r, &hop->after), hop->cost_s, d));
    }
    state = &hop->after;
  }
  return SW_OK;
}

static sw_rc add_averaged(building *b, const sw_sharding *to, sw_diag *d) {
  if (b->r->n_averaged == 0) return SW_OK;
  sw_collective c = {.op = SW_COLL_TO_PARTIAL, .reduction = SW_REDUCE_AVERAGE, .n_axes = to->n_partial};
  memcpy(c.axes, sw_sharding_partial(to), to->n_partial * sizeof c.axes[0]);
  return add_route_step(b, c, to, b->r->to_mesh, 0, d);
}

static void note_full_replication(sw_route *route, const sw_sharding *from, const sw_sharding *to) {
  if (from->n_refs == 0 || to->n_refs == 0) return;
  for (int i = 0; i + 1 < route->n_steps; i++) {
    route->full_replication = route->full_replication || route->step[i].after.n_refs == 0;
  }
}

static sw_rc no_route(const rs_request *r, sw_diag *d) {
  return SW_FAIL_INPUT(d, SW_NOWHERE, "no route between the shardings needs at most %lld temporary bytes per device",
                       (long long)r->max_temp_bytes);
}

static sw_rc find_path(rs_request *r, rs_path *path, sw_diag *d) {
  SW_TRY(rs_search(r, path, d));
  if (isinf(path->cost_s) && r->no_exchange) { /* collectives alone do not get there */
    r->no_exchange = false;
    SW_TRY(rs_search(r, path, d));
  }
  return isinf(path->cost_s) ? no_route(r, d) : SW_OK;
}

sw_rc sw_route_find(const sw_reshard *wanted, sw_arena *arena, sw_route *out, sw_diag *d) {
  sw_sharding from = *wanted->from, to = *wanted->to;
  sw_reshard owned = *wanted;
  rs_request r;
  rs_path path;
  *out = (sw_route){0};
  SW_TRY(sw_sharding_keep(&from, arena, d)); /* steps keep them */
  SW_TRY(sw_sharding_keep(&to, arena, d));
  owned.from = &from;
  owned.to = &to;
  SW_TRY(rs_request_init(&r, &owned, d));
  building b = {.r = &r, .arena = arena, .route = out, .before = from};
  if (r.nothing_to_do) return add_averaged(&b, &to, d);
  rs_route_bound(&r, out);
  SW_TRY(find_path(&r, &path, d));
  SW_TRY(add_path(&b, &path, d));
  SW_TRY(add_averaged(&b, &to, d));
  const bool said_otherwise = wanted->options.to_mesh && !r.to_mesh;
  if (out->n_steps > 0) out->step[out->n_steps - 1].after = said_otherwise && !r.n_averaged ? r.to : to;
  note_full_replication(out, &r.from, &r.to);
  return SW_OK;
}

double sw_route_cost_s(const sw_reshard *wanted) {
  rs_request r;
  rs_path path;
  if (rs_request_init(&r, wanted, NULL)) return HUGE_VAL;
  if (r.nothing_to_do) return 0;
  return rs_search(&r, &path, NULL) ? HUGE_VAL : path.cost_s;
}
