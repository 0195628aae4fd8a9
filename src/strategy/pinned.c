/* Pins on a problem that stands. What they do not admit is forbidden by its cost: choices keep their numbers and tables
 * their places, so that layers stay symmetric, and what a search has found (copies that count, parts, prices,
 * messages) goes on being of use. */
#include "graph/find.h"
#include "strategy/selection_data.h"

sw_annotation sw_pin_required(const sw_pin *p, sw_span at) {
  return (sw_annotation){.value = p->value,
                         .op = -1,
                         .sharding = p->sharding,
                         .open_dims = p->open_dims,
                         .required = true,
                         .for_users = p->of_use,
                         .n_users = p->of_use ? 1 : 0,
                         .users = p->of_use ? &p->use : NULL,
                         .span = at};
}

static sw_rc forbid_unpinned(sw_selection *s, const sw_pin *pin, sw_diag *d) {
  const sw_value *v = &s->job.graph->values[pin->value];
  const sw_port at = pin->of_use ? sw_use_taken_at(&s->units, pin->use) : sw_value_made_at(&s->units, pin->value);
  const sw_option_set *c = s->options[at.unit];
  const sw_annotation wanted = sw_pin_required(pin, SW_NOWHERE);
  int64_t *cost = sw_arena_copy(s->arena, s->nodes.at[at.unit].cost, (size_t)c->n, sizeof *cost, d);
  bool any = false;
  if (!cost) return SW_E_RESOURCE;
  for (int32_t k = 0; k < c->n; k++) {
    if (!sw_annotation_admits(&wanted, sw_options_sharding(c, &s->prices, at.port, k))) cost[k] = SW_FORBIDDEN;
    any = any || cost[k] < SW_FORBIDDEN;
  }
  if (!any && pin->of_use) {
    return SW_FAIL(d, SW_E_INFEASIBLE, SW_NOWHERE,
                   "no strategy of the search takes '%s' for '%s' in the sharding asked for", v->name,
                   sw_use_name(s->job.graph, pin->use));
  }
  if (!any) {
    return SW_FAIL(d, SW_E_INFEASIBLE, SW_NOWHERE,
                   "no strategy of the search gives '%s' the sharding asked for; a pin in the model looks at all",
                   v->name);
  }
  SW_TRY(sw_array_push(&s->pinned, at.unit, d));
  s->nodes.at[at.unit].cost = cost;
  s->problem.version++;
  return SW_OK;
}

bool sw_selection_brings(const sw_selection *s, int32_t n, const sw_pin *pins) {
  for (int32_t i = 0; i < n; i++) {
    const sw_id def = s->job.graph->values[pins[i].value].def;
    if (!pins[i].behind || pins[i].of_use || def < 0) continue;
    const sw_port at = sw_value_made_at(&s->units, pins[i].value);
    const sw_annotation wanted = sw_pin_required(&pins[i], SW_NOWHERE);
    const sw_demand demand = {&wanted, at.port};
    const sw_option_set *c = s->options[at.unit];
    for (int32_t k = 0; k < c->n; k++)
      if (!sw_annotation_admits(&wanted, sw_options_sharding(c, &s->prices, at.port, k)) &&
          sw_demand_is_met(s->job.graph->written, &s->job.graph->ops[def], &demand, &c->strategies[k]))
        return true;
  }
  return false;
}

static void free_all(sw_selection *s) {
  for (size_t k = 0; k < s->pinned.n; k++) s->nodes.at[s->pinned.at[k]].cost = s->options[s->pinned.at[k]]->price;
  if (s->pinned.n) s->problem.version++;
  s->pinned.n = 0;
}

sw_rc sw_selection_pin(sw_selection *s, int32_t n, const sw_pin *pins, sw_diag *d) {
  sw_rc rc = SW_OK;
  free_all(s);
  for (int32_t k = 0; k < n && !rc; k++) rc = forbid_unpinned(s, &pins[k], d);
  if (rc) free_all(s);
  return rc;
}
