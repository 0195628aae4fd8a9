#include "strategy/unit_options.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "shardwright/selection.h"

static sw_rc options_init(sw_option_set *c, int32_t n, int32_t n_ports, sw_arena *arena, sw_diag *d) {
  *c = (sw_option_set){.n = n, .n_ports = n_ports};
  SW_ARENA_NEW(c->price, arena, n, d);
  SW_ARENA_NEW(c->ports, arena, n_ports, d);
  for (int32_t p = 0; p < n_ports; p++) {
    SW_ARENA_NEW_EACH(arena, n, d, c->ports[p].id, c->ports[p].bytes);
  }
  return SW_OK;
}

static sw_rc set_port(sw_option_port *port, int32_t choice, const sw_type *type, const sw_sharding *s,
                      sw_prices *prices, sw_diag *d) {
  SW_TRY(sw_prices_id(prices, port->shape_class, s, &port->id[choice], d));
  port->bytes[choice] = sw_sharding_held_bytes(s, type->dims, type->dtype);
  return SW_OK;
}

/* Nothing is resharded where loops and choices end, before what could have been made again, and on the host. */
static bool is_taken_as_made(const sw_graph *g, const sw_op *op, int operand) {
  if (op->code == SW_OP_KEEP) return sw_keep_way_of(g, op, operand) != SW_WAY_KEPT;
  return op->code == SW_OP_JOIN || sw_value_is_on_host(g, op->operands[operand]);
}

sw_rc sw_options_of_op(const sw_job *j, const sw_op *op, const sw_enumeration *e, sw_prices *prices, sw_arena *arena,
                       sw_option_set *out, sw_diag *d) {
  SW_TRY(options_init(out, e->n, op->n_operands + op->n_results, arena, d));
  out->strategies = e->at;
  SW_ARENA_NEW(out->temp, arena, e->n, d);
  bool any_temp = false;
  for (int32_t i = 0; i < e->n; i++) {
    out->price[i] = sw_cost_times(sw_cost_units(prices->machine, e->cost[i].local_s + e->cost[i].move_s), op->repeats);
    out->temp[i] = (int64_t)e->cost[i].temp_bytes;
    any_temp = any_temp || out->temp[i] > 0;
  }
  if (!any_temp) out->temp = NULL;
  for (int32_t p = 0; p < out->n_ports; p++) {
    const sw_type *type = sw_port_type(j->graph, op, p);
    const bool combines = sw_value_combines(j->kernels, sw_port_value(op, p));
    SW_TRY(sw_prices_class(prices, type, combines, &out->ports[p].shape_class, d));
    out->ports[p].tied = p < op->n_operands && is_taken_as_made(j->graph, op, p);
    for (int32_t i = 0; i < e->n; i++) {
      sw_sharding s;
      if (!sw_strategy_runs(&e->at[i]) || (p < op->n_operands && !sw_strategy_takes(&e->at[i], p))) {
        out->ports[p].id[i] = -1;
        continue;
      }
      sw_strategy_port(op, &e->at[i], p, &s);
      SW_TRY(set_port(&out->ports[p], i, type, &s, prices, d));
      if (sw_value_is_on_host(j->graph, sw_port_value(op, p))) out->ports[p].bytes[i] = 0;
    }
  }
  return SW_OK;
}

sw_rc sw_options_of_value(const sw_job *j, sw_id value, const sw_sharding *shardings, int32_t n, bool held,
                          sw_prices *prices, sw_arena *arena, sw_option_set *out, sw_diag *d) {
  const sw_type *type = &j->graph->values[value].type;
  SW_TRY(options_init(out, n, 1, arena, d));
  SW_TRY(sw_prices_class(prices, type, sw_value_combines(j->kernels, value), &out->ports[0].shape_class, d));
  double whole = (double)sw_type_bytes(type);
  for (int32_t i = 0; i < n; i++) {
    SW_TRY(set_port(&out->ports[0], i, type, &shardings[i], prices, d));
    if (held && whole > 0) out->price[i] = (int64_t)ceil(3 * (double)out->ports[0].bytes[i] / whole);
  }
  return SW_OK;
}

static sw_rc pick_bytes(const int64_t *from, const int32_t *which, int32_t n, sw_arena *arena, int64_t **out,
                        sw_diag *d) {
  *out = NULL;
  if (!from) return SW_OK;
  SW_ARENA_NEW(*out, arena, n, d);
  for (int32_t k = 0; k < n; k++) (*out)[k] = from[which[k]];
  return SW_OK;
}

sw_rc sw_options_pick(const sw_option_set *c, const int32_t *which, int32_t n, sw_arena *arena, sw_option_set *out,
                      sw_diag *d) {
  sw_strategy *strategies = NULL;
  *out = (sw_option_set){.n = n, .n_ports = c->n_ports};
  SW_ARENA_NEW(out->ports, arena, c->n_ports, d);
  SW_TRY(pick_bytes(c->price, which, n, arena, &out->price, d));
  SW_TRY(pick_bytes(c->temp, which, n, arena, &out->temp, d));
  if (c->strategies) SW_ARENA_NEW(strategies, arena, n, d);
  for (int32_t k = 0; strategies && k < n; k++) strategies[k] = c->strategies[which[k]];
  out->strategies = strategies;
  for (int32_t p = 0; p < c->n_ports; p++) {
    const sw_option_port *from = &c->ports[p];
    sw_option_port *to = &out->ports[p];
    *to = (sw_option_port){.shape_class = from->shape_class, .tied = from->tied};
    SW_ARENA_NEW(to->id, arena, n, d);
    for (int32_t k = 0; k < n; k++) to->id[k] = from->id[which[k]];
    SW_TRY(pick_bytes(from->bytes, which, n, arena, &to->bytes, d));
    SW_TRY(pick_bytes(from->made, which, n, arena, &to->made, d));
    SW_TRY(pick_bytes(from->both, which, n, arena, &to->both, d));
  }
  return SW_OK;
}

sw_rc sw_options_filter(const sw_option_set *c, const bool *keep, const int64_t *penalty, sw_arena *arena,
                        sw_option_set *out, sw_diag *d) {
  int32_t n = 0, *which;
  SW_ARENA_NEW(which, arena, c->n, d);
  for (int32_t i = 0; i < c->n; i++)
    if (keep[i]) which[n++] = i;
  SW_TRY(sw_options_pick(c, which, n, arena, out, d));
  for (int32_t k = 0; k < n && penalty; k++) out->price[k] = sw_cost_add(out->price[k], penalty[which[k]]);
  return SW_OK;
}

const sw_sharding *sw_options_sharding(const sw_option_set *c, const sw_prices *prices, int port, int32_t choice) {
  const sw_option_port *p = &c->ports[port];
  assert(p->id[choice] >= 0);
  return &prices->classes.at[p->shape_class].shardings.at[p->id[choice]];
}
