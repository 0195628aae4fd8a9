#include "strategy/least_held.h"

#include "base/checked.h"
#include "strategy/selection_data.h"

/* Steps of the problem end with the last op. */
static sw_use use_of(const sw_selection *s, sw_interval steps, const int64_t *bytes) {
  const int64_t end = sw_min_i64((int64_t)steps.last + 1, s->units.n_ops);
  return (sw_use){steps.first, sw_max_i64(steps.first + 1, end), bytes};
}

static int32_t sooner(int32_t a, int32_t b) { return a < b ? a : b; }
static int32_t later(int32_t a, int32_t b) { return a > b ? a : b; }

static const sw_sharding *stated_at(const sw_selection *s, sw_id op, int32_t port) {
  return sw_stated_at(s->stated, s->n_stated, op, port);
}

/* Is a sharding required of a port? Then what the problem counts at the step of the op may be held later. */
static bool is_stated(const sw_selection *s, const sw_unit *unit) {
  bool any = false;
  for (int32_t p = 0; p < unit->n_reads + unit->n_makes && unit->kind == SW_UNIT_OP; p++)
    any = any || stated_at(s, unit->id, p);
  return any;
}

/* The fewest bytes of the value that an option takes at this use. */
static int64_t least_taken(const sw_selection *s, sw_value_use use, const sw_type *type) {
  const sw_port at = sw_use_taken_at(&s->units, use);
  const sw_sharding *stated = use.op < 0 ? NULL : stated_at(s, use.op, use.index);
  if (stated) return sw_sharding_held_bytes(stated, type->dims, type->dtype);
  const sw_option_set *c = s->options[at.unit];
  int64_t least = INT64_MAX;
  for (int32_t i = 0; i < c->n; i++) least = sw_min_i64(least, c->ports[at.port].bytes[i]);
  return least;
}

/* By option: of a value in the sharding that the op makes and, where another one is stated of it, in the smaller. */
static sw_rc made_bytes(const sw_selection *s, const sw_unit *unit, int32_t k, sw_arena *arena, const int64_t **out,
                        sw_diag *d) {
  const sw_option_set *c = s->options[sw_value_made_at(&s->units, unit->makes[k]).unit];
  const int32_t port = unit->n_reads + k;
  *out = c->ports[port].bytes;
  if (unit->kind != SW_UNIT_OP || !stated_at(s, unit->id, port)) return SW_OK;
  const sw_type *type = &s->g->values[unit->makes[k]].type;
  int64_t *least;
  SW_ARENA_NEW(least, arena, c->n, d);
  for (int32_t i = 0; i < c->n; i++) {
    sw_sharding made = *sw_options_sharding(c, &s->prices, port, i);
    const int64_t stated = sw_sharding_held_bytes(&made, type->dims, type->dtype);
    sw_strategy_result(&s->g->ops[unit->id], &c->strategies[i], k, &made);
    least[i] = sw_min_i64(stated, sw_sharding_held_bytes(&made, type->dims, type->dtype));
  }
  *out = least;
  return SW_OK;
}

/* At every step up to the last need of a value there is the value as it is made, or the copy that this need takes. */
static sw_rc hold_value(const sw_selection *s, const sw_unit *unit, int32_t k, sw_arena *arena, sw_node *node,
                        sw_use *uses, sw_diag *d) {
  const sw_id id = unit->makes[k];
  const sw_value *v = &s->g->values[id];
  const bool stays = v->kind == SW_VALUE_PARAMETER || v->kind == SW_VALUE_STATE;
  const sw_interval life = sw_value_life(&s->units, id, NULL);
  int32_t first = life.last, until = -1;
  int64_t taken = 0, *bytes;
  const int64_t *made;
  SW_TRY(made_bytes(s, unit, k, arena, &made, d));
  for (int32_t u = 0; u < v->n_uses && !stays; u++) {
    const int32_t needed = sw_use_until(&s->units, v->uses[u]);
    const int64_t least = needed >= until ? least_taken(s, v->uses[u], &v->type) : 0;
    first = sooner(first, sw_use_step(&s->units, v->uses[u]));
    if (needed > until || (needed == until && least > taken)) taken = least;
    if (needed > until) until = needed;
  }
  first = later(later(first, life.first), stays ? life.last : sw_value_held_for(s->g, id));
  uses[node->n_uses++] = use_of(s, (sw_interval){life.first, first}, made);
  if (until <= first || taken == 0) return SW_OK;
  const int32_t n = s->options[sw_value_made_at(&s->units, id).unit]->n;
  SW_ARENA_NEW(bytes, arena, n, d);
  for (int32_t i = 0; i < n; i++) bytes[i] = sw_min_i64(made[i], taken);
  if (first + 1 < s->units.n_ops) uses[node->n_uses++] = use_of(s, (sw_interval){first + 1, until}, bytes);
  return SW_OK;
}

static sw_rc hold_unit(const sw_selection *s, int32_t i, sw_arena *arena, sw_node *node, sw_diag *d) {
  const sw_unit unit = sw_unit_at(&s->units, i);
  const int64_t *temp = s->options[i]->temp;
  sw_use *uses;
  SW_ARENA_NEW(uses, arena, 2 * unit.n_makes + 1, d);
  node->uses = uses;
  node->n_uses = 0;
  for (int32_t k = 0; k < unit.n_makes; k++)
    if (sw_value_is_stored(s->g, unit.makes[k])) SW_TRY(hold_value(s, &unit, k, arena, node, uses, d));
  if (temp && !is_stated(s, &unit)) uses[node->n_uses++] = use_of(s, (sw_interval){unit.step, unit.step}, temp);
  return SW_OK;
}

sw_rc sw_selection_least_held(const sw_selection *s, sw_arena *arena, sw_problem *out, sw_diag *d) {
  sw_node *nodes;
  *out = s->problem;
  SW_ARENA_NEW(nodes, arena, out->n_nodes, d);
  for (int32_t i = 0; i < out->n_nodes; i++) {
    nodes[i] = out->nodes[i];
    if (i < s->units.n) SW_TRY(hold_unit(s, i, arena, &nodes[i], d));
  }
  out->nodes = nodes;
  out->n_copies = 0;
  out->copies = NULL;
  out->limit = INT64_MAX;
  return SW_OK;
}
