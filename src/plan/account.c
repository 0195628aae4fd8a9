/* What a plan costs and holds.
 *
 * Memory follows the program: a value is held from the op that makes it to its last direct use or the last reshard made
 * of it, a resharded copy from its first use to its last, parameters and state throughout, outputs to the end, an op's
 * own temporaries and the inner steps of a route at their step.
 */
#include <string.h>

#include "plan/uses.h"
#include "shardwright/checked.h"

typedef struct ledger {
  const sw_plan *p;
  sw_plan_uses uses;
  int32_t n_steps;
  int64_t *delta; /* change of the bytes held at each step; n_steps + 1 */
  sw_account *out;
  sw_id op;       /* that is accounted now */
  double repeats; /* of what is accounted now */
} ledger;

static void hold(ledger *l, int32_t from, int32_t to, int64_t bytes) { /* steps from .. to, both included */
  l->delta[from] += bytes;
  l->delta[to + 1] -= bytes;
}

static void add_step(ledger *l, sw_coll_op op, const sw_axis_ref *axes, int n_axes, double seconds, double bytes) {
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

static void add_tiling_step(ledger *l, sw_coll_op op, const sw_tiling *src, const sw_tiling *dst, double seconds,
                            double bytes) {
  sw_axis_ref axes[2 * SW_MAX_REFS];
  int n = 0;
  for (int t = 0; t < 2; t++) {
    const sw_tiling *x = t ? dst : src;
    for (int k = 0; k < x->rank; k++) {
      for (int r = 0; r < x->dim[k].n_refs && n < 2 * SW_MAX_REFS; r++) axes[n++] = x->refs[x->dim[k].first_ref + r];
    }
  }
  add_step(l, op, axes, n, seconds, bytes);
}

static sw_rc account_move(void *user, const sw_move *mv, sw_diag *d) {
  (void)d;
  ledger *l = user;
  const sw_machine *machine = l->p->machine;
  if (mv->kind == SW_MOVE_WINDOW && sw_plan_takes_halo(l->p, (sw_value_use){l->op, mv->index})) {
    l->out->move_s -= l->repeats * sw_machine_exchange_s(machine, &mv->blocks, &mv->window, sw_dtype_bytes(mv->dtype));
    return SW_OK;
  }
  if (mv->kind != SW_MOVE_WINDOW) {
    sw_coll_op coll = mv->kind == SW_MOVE_BLOCKS ? SW_COLL_PERMUTE : SW_COLL_ALL_GATHER;
    double s = sw_machine_collective_s(machine, coll, mv->axes, mv->n_axes, mv->bytes);
    double n = (double)sw_axis_refs_size(mv->axes, mv->n_axes),
           devices = (double)sw_mesh_devices(sw_machine_mesh(machine));
    add_step(l, coll, mv->axes, mv->n_axes, s, mv->bytes);
    l->out->moved_bytes += l->repeats * devices * mv->bytes * (coll == SW_COLL_PERMUTE ? 1 : (n - 1) / n);
    return SW_OK;
  }
  double most, total;
  sw_tiling_traffic(sw_machine_mesh(machine), &mv->blocks, &mv->window, &most, &total);
  int bytes = sw_dtype_bytes(mv->dtype);
  double s = sw_machine_exchange_s(machine, &mv->blocks, &mv->window, bytes);
  add_tiling_step(l, SW_COLL_EXCHANGE, &mv->blocks, &mv->window, s, most * bytes);
  l->out->moved_bytes += l->repeats * total * bytes;
  return SW_OK;
}

static sw_rc account_ops(ledger *l, sw_op_cost *cost, sw_diag *d) {
  const sw_plan *p = l->p;
  const sw_block *block = sw_graph_main_block(p->graph);
  for (int32_t i = 0; i < block->n_ops; i++) {
    sw_id id = block->ops[i];
    const sw_op *op = &p->graph->ops[id];
    double flops, bytes;
    sw_strategy_cost(p->graph, op, p->machine, &p->ops[id], &cost[id]);
    l->op = id;
    l->repeats = (double)op->repeats;
    l->out->local_s += cost[id].local_s * l->repeats;
    l->out->move_s += cost[id].move_s * l->repeats;
    l->out->flops += cost[id].flops * l->repeats;
    sw_op_work(p->graph, op, NULL, &flops, &bytes);
    l->out->whole_flops += flops * l->repeats;
    if (cost[id].temp_bytes > 0) hold(l, i, i, (int64_t)cost[id].temp_bytes);
    SW_TRY(sw_strategy_moves(p->graph, op, sw_machine_mesh(p->machine), &p->ops[id], account_move, l, d));
  }
  l->out->op = cost;
  return SW_OK;
}

/* Largest buffer between the ends of a route of several steps. */
static int64_t route_temp_bytes(const sw_route *r, const sw_type *type) {
  int64_t most = 0;
  for (int i = 0; i + 1 < r->n_steps; i++) {
    most = sw_max_i64(most, sw_sharding_held_bytes(&r->step[i].after, type->dims, type->dtype));
  }
  return most;
}

static void account_reshards(ledger *l) {
  for (int32_t i = 0; i < l->out->n_reshards; i++) {
    const sw_plan_reshard *r = &l->out->reshards[i];
    const sw_type *type = &l->p->graph->values[r->value].type;
    l->repeats = (double)sw_value_repeats(l->p->graph, r->value);
    l->out->reshard_s += r->route->cost_s * l->repeats;
    l->out->full_replications += r->route->full_replication;
    l->out->moved_bytes += r->route->total_bytes * l->repeats;
    for (int k = 0; k < r->route->n_steps; k++) {
      const sw_route_step *st = &r->route->step[k];
      if (st->coll.src) {
        add_tiling_step(l, st->coll.op, st->coll.src, st->coll.dst, st->cost_s, st->max_bytes);
      } else {
        add_step(l, st->coll.op, st->coll.axes, st->coll.n_axes, st->cost_s, st->max_bytes);
      }
    }
    hold(l, r->step, r->last_step, sw_sharding_held_bytes(&r->to, type->dims, type->dtype));
    int64_t temp = route_temp_bytes(r->route, type);
    if (temp) hold(l, r->step, r->step, temp);
  }
}

static void hold_value(ledger *l, sw_id value) {
  const sw_value *v = &l->p->graph->values[value];
  const int64_t bytes = l->uses.bytes[value];
  bool stays = v->kind == SW_VALUE_PARAMETER || v->kind == SW_VALUE_STATE;
  int32_t from = v->def < 0 ? 0 : l->uses.step_of[v->def], to = stays ? l->n_steps - 1 : l->uses.last_direct[value];
  hold(l, from, to, bytes);
  if (v->def < 0 && l->p->args_whole && !sw_sharding_is_replicated(&l->p->args[v->def_index]))
    hold(l, from, to, sw_type_bytes(&v->type));
  if (stays) l->out->param_bytes += bytes;
}

static void hold_values(ledger *l) {
  const sw_graph *g = l->p->graph;
  const sw_function *f = &g->functions[g->main];
  const sw_block *block = sw_graph_main_block(g);
  for (int32_t i = 0; i < f->n_args; i++) hold_value(l, f->args[i]);
  for (int32_t i = 0; i < block->n_ops; i++) {
    const sw_op *op = &g->ops[block->ops[i]];
    for (int r = 0; r < op->n_results; r++) hold_value(l, op->results[r]);
  }
}

static void sum_up(ledger *l, int64_t *bytes_at) {
  sw_account *a = l->out;
  int64_t now = 0;
  for (int32_t i = 0; i < l->n_steps; i++) {
    now += l->delta[i];
    bytes_at[i] = now;
    if (now > a->peak_bytes) {
      a->peak_bytes = now;
      a->peak_step = i;
    }
  }
  a->n_steps = l->n_steps;
  a->bytes_at = bytes_at;
  a->total_s = a->local_s + a->move_s + a->reshard_s;
}

sw_rc sw_plan_account(const sw_plan *p, sw_arena *arena, sw_account *out, sw_diag *d) {
  const sw_graph *g = p->graph;
  *out = (sw_account){0};
  ledger l = {.p = p, .out = out, .n_steps = sw_graph_main_block(g)->n_ops + 1};
  sw_op_cost *cost;
  int64_t *bytes_at;
  SW_ARENA_NEW(cost, arena, g->n_ops, d);
  SW_ARENA_NEW(bytes_at, arena, l.n_steps, d);
  SW_ARENA_NEW(l.delta, arena, l.n_steps + 1, d);
  SW_TRY(sw_plan_find_uses(p, arena, &l.uses, d));
  out->n_reshards = l.uses.n_reshards;
  out->reshards = l.uses.reshards;
  SW_TRY(account_ops(&l, cost, d));
  account_reshards(&l);
  hold_values(&l);
  sum_up(&l, bytes_at);
  return SW_OK;
}

double sw_account_redundant_flops(const sw_account *a, const sw_machine *machine) {
  const double all = a->flops * (double)sw_mesh_devices(sw_machine_mesh(machine)) - a->whole_flops;
  return all > 1e-9 * a->whole_flops ? all : 0; /* sums of the same numbers, in another order */
}

/* --- who fills a step -------------------------------------------------------------------------------------------- */

static void keep_largest(sw_holding *out, int32_t *n, int32_t room, sw_holding h) {
  int32_t at = *n < room ? (*n)++ : room;
  if (at == room && (room == 0 || out[room - 1].bytes >= h.bytes)) return;
  if (at == room) at--;
  while (at > 0 && out[at - 1].bytes < h.bytes) {
    out[at] = out[at - 1];
    at--;
  }
  out[at] = h;
}

sw_rc sw_plan_holdings(const sw_plan *p, const sw_account *a, int32_t step, int32_t room, sw_holding *out, int32_t *n,
                       sw_diag *d) {
  const sw_graph *g = p->graph;
  sw_arena scratch = {0};
  sw_plan_uses uses;
  sw_rc rc = sw_plan_find_uses(p, &scratch, &uses, d);
  *n = 0;
  for (int32_t i = 0; !rc && i < a->n_reshards; i++) {
    const sw_plan_reshard *r = &a->reshards[i];
    const sw_type *type = &g->values[r->value].type;
    int64_t bytes = sw_sharding_held_bytes(&r->to, type->dims, type->dtype);
    if (r->step <= step && step <= r->last_step) keep_largest(out, n, room, (sw_holding){r->value, true, bytes});
  }
  for (sw_id v = 0; !rc && v < g->n_values; v++) {
    const sw_value *val = &g->values[v];
    bool stays = val->kind == SW_VALUE_PARAMETER || val->kind == SW_VALUE_STATE;
    int32_t from = val->def < 0 ? 0 : uses.step_of[val->def];
    if (from > step || (!stays && uses.last_direct[v] < step)) continue;
    keep_largest(out, n, room, (sw_holding){v, false, uses.bytes[v]});
  }
  sw_arena_deinit(&scratch);
  return rc;
}
