/* Pins on a problem that stands. What they do not admit is forbidden by its cost: choices keep their numbers and tables
 * their places, so that layers stay alike, and what a search has learned (copies that count, parts, prices, messages)
 * goes on being of use. */
#include "strategy/selection_data.h"

static sw_rc forbid(sw_selection *s, const sw_pin *pin, sw_diag *d) {
  const sw_value *v = &s->g->values[pin->value];
  const int32_t node = v->def < 0 ? v->def_index : s->node_of_op[v->def];
  const int port = v->def < 0 ? 0 : s->g->ops[v->def].n_operands + v->def_index;
  const sw_choices *c = s->choices[node];
  const sw_annotation wanted = {.sharding = pin->sharding, .open_dims = pin->open_dims, .required = true};
  int64_t *cost = sw_arena_copy(s->arena, s->nodes.at[node].cost, (size_t)c->n, sizeof *cost, d);
  bool any = false;
  if (!cost) return SW_E_RESOURCE;
  for (int32_t k = 0; k < c->n; k++) {
    if (!sw_annotation_admits(&wanted, sw_choices_sharding(c, &s->prices, port, k))) cost[k] = SW_FORBIDDEN;
    any = any || cost[k] < SW_FORBIDDEN;
  }
  if (!any) {
    return SW_FAIL(d, SW_E_INFEASIBLE, SW_NOWHERE,
                   "no strategy of the search gives '%s' the sharding asked for; a pin in the model looks at all",
                   v->name);
  }
  SW_TRY(sw_array_push(&s->pinned, node, d));
  s->nodes.at[node].cost = cost;
  return SW_OK;
}

static void free_all(sw_selection *s) {
  for (size_t k = 0; k < s->pinned.n; k++) s->nodes.at[s->pinned.at[k]].cost = s->choices[s->pinned.at[k]]->cost;
  s->pinned.n = 0;
}

sw_rc sw_selection_pin(sw_selection *s, int32_t n, const sw_pin *pins, sw_diag *d) {
  sw_rc rc = SW_OK;
  free_all(s);
  for (int32_t k = 0; k < n && !rc; k++) rc = forbid(s, &pins[k], d);
  if (rc) free_all(s);
  return rc;
}
