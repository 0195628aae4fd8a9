/* What a plan costs and holds.
 *
 * Memory follows the program: a value is held from the op that makes it to its last direct use or the last reshard made
 * of it, a resharded copy from its first use to its last, parameters and state throughout, outputs to the end, an op's
 * own temporaries and the inner steps of a route at their step.
 */
#include <assert.h>
#include <string.h>

#include "plan/timed.h"
#include "base/array.h"
#include "base/checked.h"
#include "hw/group.h"

typedef struct counting {
  const sw_plan *p;
  sw_units units;
  sw_plan_borders borders;
  SW_ARRAY(sw_live) live; /* copies first, each with the buffer of its route behind it */
  int32_t *copies;        /* by reshard: where its copy is among them */
  int32_t *values;        /* by value: where it is */
  sw_breakdown *out;
  sw_id op;               /* that is counted now */
  const sw_op_cost *cost; /* of it */
  sw_op_moves *moves;     /* likewise */
  double repeats;         /* of what is counted now */
} counting;

static void count_step(counting *l, sw_coll_op op, const sw_axis_ref *axes, int n_axes, double seconds, double bytes) {
  sw_collective_sum *sum = &l->out->by_collective[op];
  seconds *= l->repeats;
  sum->calls += (int64_t)l->repeats;
  sum->seconds += seconds;
  sum->bytes += bytes * l->repeats;
  bool seen[SW_MAX_AXES] = {false};
  for (int i = 0; i < n_axes; i++) {
    if (!seen[axes[i].axis]) l->out->axis_s[axes[i].axis] += seconds;
    seen[axes[i].axis] = true;
  }
}

static void add_tiling_step(counting *l, sw_coll_op op, const sw_tiling *src, const sw_tiling *dst, double seconds,
                            double bytes) {
  sw_axis_ref axes[2 * SW_MAX_REFS];
  int n = 0;
  for (int t = 0; t < 2; t++) {
    const sw_tiling *x = t ? dst : src;
    for (int k = 0; k < x->rank; k++) {
      for (int r = 0; r < x->dim[k].n_refs && n < 2 * SW_MAX_REFS; r++) axes[n++] = x->refs[x->dim[k].first_ref + r];
    }
  }
  count_step(l, op, axes, n, seconds, bytes);
}

/* Of one run of the op at hand. A halo that is there is not exchanged. */
static void add_move(void *user, const sw_move *mv) {
  counting *l = user;
  const sw_machine *machine = l->p->job.machine;
  const sw_mesh *mesh = sw_machine_mesh(machine);
  if (mv->kind == SW_MOVE_HALO && sw_plan_takes_halo(l->p, (sw_value_use){l->op, mv->index})) return;
  const double all_s = sw_move_s(machine, mv), times = (double)mv->times, repeats = l->repeats,
               hidden_s = mv->beside > 0 ? all_s - sw_move_exposed_s(machine, mv, l->cost->local_s) : 0;
  double bytes = sw_move_bytes(machine, mv), total; /* received by the busiest device, and by all, at one time */
  l->repeats *= times;
  if (mv->kind == SW_MOVE_HALO) {
    const int width = sw_machine_moved_bytes(machine, mv->dtype);
    sw_tiling_traffic(mesh, &mv->blocks, &mv->window, &bytes, &total);
    bytes *= width;
    total *= width;
    add_tiling_step(l, SW_COLL_EXCHANGE, &mv->blocks, &mv->window, all_s, bytes);
  } else {
    const sw_coll_op coll = sw_move_collective(mv);
    const double n = (double)sw_axis_refs_size(mv->axes, mv->n_axes);
    total = (double)sw_mesh_devices(mesh) * bytes * (coll == SW_COLL_PERMUTE ? 1 : (n - 1) / n);
    count_step(l, coll, mv->axes, mv->n_axes, all_s / times, bytes);
  }
  l->out->moved_bytes += l->repeats * total;
  l->out->hidden_s += repeats * hidden_s;
  l->repeats = repeats;
  l->moves->seconds += all_s;
  l->moves->hidden_s += hidden_s;
  l->moves->bytes += bytes * times;
}

typedef struct spared {
  const sw_plan *p;
  sw_id op;
  sw_op_cost *cost;
} spared;

static void spare_halo(void *user, const sw_move *mv) {
  const spared *s = user;
  if (mv->kind == SW_MOVE_HALO && sw_plan_takes_halo(s->p, (sw_value_use){s->op, mv->index}))
    s->cost->move_s -= sw_move_s(s->p->job.machine, mv);
}

void sw_plan_op_cost(const sw_plan *p, sw_id op, sw_op_cost *out) {
  const sw_op *of = &p->job.graph->ops[op];
  spared s = {p, op, out};
  sw_strategy_cost(&p->job, of, &p->ops[op], out);
  if (p->n_stated) sw_strategy_moves(p->job.graph, of, &p->ops[op], spare_halo, &s);
}

static void add_ops(counting *l, sw_op_cost *cost, sw_op_moves *moves) {
  const sw_plan *p = l->p;
  for (sw_id id = 0; id < p->job.graph->n_ops; id++) {
    const sw_op *op = &p->job.graph->ops[id];
    double flops, bytes;
    sw_plan_op_cost(p, id, &cost[id]);
    l->op = id;
    l->cost = &cost[id];
    l->moves = &moves[id];
    l->repeats = (double)op->repeats;
    l->out->local_s += cost[id].local_s * l->repeats;
    l->out->move_s += cost[id].move_s * l->repeats;
    l->out->flops += cost[id].flops * l->repeats;
    sw_op_work(p->job.graph, op, NULL, &flops, &bytes);
    l->out->whole_flops += flops * l->repeats;
    sw_strategy_moves(p->job.graph, op, &p->ops[id], add_move, l);
  }
  l->out->op = cost;
  l->out->moves = moves;
}

static void sum_reshards(counting *l) {
  for (int32_t i = 0; i < l->out->n_reshards; i++) {
    const sw_plan_reshard *r = &l->out->reshards[i];
    l->repeats = (double)sw_value_repeats(l->p->job.graph, r->value);
    l->out->reshard_s += sw_plan_reshard_s(l->p, r);
    l->out->full_replications += r->route->full_replication;
    l->out->moved_bytes += r->route->total_bytes * l->repeats;
    for (int k = 0; k < r->route->n_steps; k++) {
      const sw_hop *st = &r->route->step[k];
      if (st->coll.src) {
        add_tiling_step(l, st->coll.op, st->coll.src, st->coll.dst, st->cost_s, st->max_bytes);
      } else {
        count_step(l, st->coll.op, st->coll.axes, st->coll.n_axes, st->cost_s, st->max_bytes);
        const bool part = sw_value_combines(l->p->job.kernels, r->value) && sw_coll_is_combined(st->coll.op);
        if (part) l->out->by_collective[st->coll.op].parts += (int64_t)l->repeats;
      }
    }
  }
}

/* --- what is live ------------------------------------------------------------------------------------------------ */

/* Largest buffer between the ends of a route of several steps. */
static int64_t route_temp_bytes(const sw_route *r, const sw_type *type) {
  int64_t most = 0;
  for (int i = 0; i + 1 < r->n_steps; i++) {
    most = sw_max_i64(most, sw_sharding_held_bytes(&r->step[i].after, type->dims, type->dtype));
  }
  return most;
}

static sw_rc hold_copies(counting *l, sw_arena *arena, sw_diag *d) {
  SW_ARENA_NEW(l->copies, arena, l->out->n_reshards + 1, d);
  for (int32_t i = 0; i < l->out->n_reshards; i++) {
    const sw_plan_reshard *r = &l->out->reshards[i];
    const sw_type *type = &l->p->job.graph->values[r->value].type;
    const int64_t bytes = sw_sharding_held_bytes(&r->to, type->dims, type->dtype),
                  temp = route_temp_bytes(r->route, type);
    l->copies[i] = (int32_t)l->live.n;
    SW_TRY(sw_array_push(&l->live, ((sw_live){SW_LIVE_COPY, r->value, r->steps, bytes}), d));
    if (temp)
      SW_TRY(sw_array_push(&l->live, ((sw_live){SW_LIVE_BUFFER, r->value, {r->steps.first, r->steps.first}, temp}), d));
  }
  return SW_OK;
}

static sw_rc hold_value(counting *l, sw_id value, sw_diag *d) {
  const sw_value *v = &l->p->job.graph->values[value];
  const sw_live as_made = {SW_LIVE_VALUE, value, l->borders.life[value], l->borders.bytes[value]};
  if (v->kind == SW_VALUE_PARAMETER || v->kind == SW_VALUE_STATE) l->out->param_bytes += as_made.bytes;
  l->values[value] = (int32_t)l->live.n;
  SW_TRY(sw_array_push(&l->live, as_made, d));
  if (v->def >= 0 || !l->p->args_whole || sw_sharding_is_replicated(&l->p->args[v->def_index])) return SW_OK;
  const sw_live whole = {SW_LIVE_BUFFER, value, as_made.steps, sw_type_bytes(&v->type)};
  return sw_array_push(&l->live, whole, d);
}

/* A value that its kernel would not store is, where the plan keeps or offloads it. */
static sw_rc hold_kept_by_choice(counting *l, sw_id id, sw_diag *d) {
  const sw_op *op = &l->p->job.graph->ops[id];
  const int at = sw_op_stores(&l->p->job, op);
  sw_sharding s;
  if (at < 0 || !sw_strategy_takes(&l->p->ops[id], at)) return SW_OK;
  const sw_type *type = sw_operand_type(l->p->job.graph, op, at);
  sw_strategy_operand(op, &l->p->ops[id], at, &s);
  const sw_live kept = {SW_LIVE_VALUE,
                        op->operands[at],
                        {sw_value_step(&l->units, op->operands[at]), sw_use_until(&l->units, (sw_value_use){id, at})},
                        sw_sharding_held_bytes(&s, type->dims, type->dtype)};
  return sw_array_push(&l->live, kept, d);
}

static sw_rc hold_all(counting *l, sw_arena *arena, sw_diag *d) {
  SW_ARENA_NEW(l->values, arena, l->p->job.graph->n_values + 1, d);
  SW_TRY(hold_copies(l, arena, d));
  for (int32_t i = 0; i < l->units.n; i++) {
    const sw_unit unit = sw_unit_at(&l->units, i);
    const int64_t temp = unit.kind == SW_UNIT_OP ? (int64_t)l->out->op[unit.id].temp_bytes : 0;
    if (unit.kind == SW_UNIT_OP) SW_TRY(hold_kept_by_choice(l, unit.id, d));
    for (int32_t k = 0; k < unit.n_makes; k++) SW_TRY(hold_value(l, unit.makes[k], d));
    if (temp > 0) SW_TRY(sw_array_push(&l->live, ((sw_live){SW_LIVE_BUFFER, -1, {unit.step, unit.step}, temp}), d));
  }
  return SW_OK;
}

static sw_rc sum_up_memory(counting *c, sw_arena *arena, sw_diag *d) {
  sw_breakdown *a = c->out;
  int64_t *at;
  a->n_steps = c->units.n_steps;
  SW_ARENA_NEW(at, arena, a->n_steps + 1, d);
  for (size_t i = 0; i < c->live.n; i++) {
    const sw_live *l = &c->live.at[i];
    assert(l->steps.first >= 0 && l->steps.first <= l->steps.last && l->steps.last < a->n_steps && l->bytes >= 0);
    sw_line_hold(at, l->steps, l->bytes);
  }
  sw_line_sum(at, a->n_steps, &a->peak_step);
  a->peak_bytes = at[a->peak_step];
  a->bytes_at = at;
  a->sum_s = a->total_s = a->local_s + a->move_s + a->reshard_s;
  assert(a->local_s >= 0 && a->reshard_s >= 0 && a->hidden_s >= -1e-12);
  return SW_OK;
}

/* Copies that are issued early are held from then on, and what they are made of until they are there; so is what comes
 * from the host, and goes there. */
static sw_rc time_plan(counting *l, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = l->p->job.graph;
  sw_breakdown *a = l->out;
  sw_timeline *t;
  sw_interval *held;
  SW_ARENA_NEW(t, arena, 1, d);
  SW_ARENA_NEW(held, arena, a->n_reshards + g->n_ops + 1, d);
  SW_TRY(sw_plan_time(l->p, a, &l->borders, arena, held, t, d));
  const int64_t before = a->peak_bytes;
  for (int32_t i = 0; i < a->n_reshards; i++) {
    sw_live *copy = &l->live.at[l->copies[i]], *of = &l->live.at[l->values[a->reshards[i].value]];
    const bool buffer = (size_t)l->copies[i] + 1 < l->live.n && copy[1].kind == SW_LIVE_BUFFER;
    copy->steps.first = sw_min_i32(copy->steps.first, held[i].first);
    if (buffer) copy[1].steps.first = copy->steps.first;
    of->steps.last = sw_max_i32(of->steps.last, held[i].last);
  }
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_interval steps = held[a->n_reshards + i];
    const sw_op *op = &g->ops[i];
    if (steps.last < steps.first) continue;
    const sw_id value = op->code == SW_OP_OFFLOAD ? op->operands[0] : op->results[0];
    const sw_live more = {SW_LIVE_VALUE, value, steps, sw_strategy_host_bytes(g, op, &l->p->ops[i])};
    SW_TRY(sw_array_push(&l->live, more, d));
  }
  SW_TRY(sum_up_memory(l, arena, d));
  t->in_flight_bytes = a->peak_bytes - before;
  a->timeline = t;
  a->total_s = t->sums.total_s;
  return SW_OK;
}

static sw_rc break_down(counting *l, sw_arena *arena, sw_diag *d) {
  sw_op_cost *cost;
  sw_op_moves *moves;
  SW_ARENA_NEW_EACH(arena, l->p->job.graph->n_ops, d, cost, moves);
  SW_TRY(sw_plan_find_borders(l->p, arena, &l->borders, d));
  l->out->n_reshards = l->borders.n_reshards;
  l->out->reshards = l->borders.reshards;
  add_ops(l, cost, moves);
  sum_reshards(l);
  SW_TRY(hold_all(l, arena, d));
  SW_TRY(sum_up_memory(l, arena, d));
  if (l->p->job.overlap) SW_TRY(time_plan(l, arena, d));
  l->out->n_live = (int32_t)l->live.n;
  l->out->live = sw_arena_copy(arena, l->live.at, l->live.n, sizeof *l->out->live, d);
  return l->out->live ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_plan_breakdown(const sw_plan *p, sw_arena *arena, sw_breakdown *out, sw_diag *d) {
  *out = (sw_breakdown){0};
  counting l = {.p = p, .units = sw_units_of(&p->job), .out = out};
  sw_rc rc = break_down(&l, arena, d);
  sw_array_free(&l.live);
  return rc;
}

double sw_breakdown_redundant_flops(const sw_breakdown *a, const sw_machine *machine) {
  const double all = a->flops * (double)sw_mesh_devices(sw_machine_mesh(machine)) - a->whole_flops;
  return all > 1e-9 * a->whole_flops ? all : 0; /* sums of the same numbers, in another order */
}

int32_t sw_breakdown_largest(const sw_breakdown *a, int32_t step, int32_t room, const sw_live **out) {
  int32_t n = 0;
  for (int32_t i = 0; i < a->n_live; i++) {
    const sw_live *l = &a->live[i];
    if (l->kind == SW_LIVE_BUFFER || step < l->steps.first || step > l->steps.last) continue;
    int32_t at = n < room ? n++ : room;
    while (at > 0 && out[at - 1]->bytes < l->bytes) {
      if (at < room) out[at] = out[at - 1];
      at--;
    }
    if (at < room) out[at] = l;
  }
  return n;
}
