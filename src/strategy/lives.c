#include "strategy/lives.h"

#include <assert.h>
#include <math.h>

#include "base/checked.h"
#include "base/lists.h"
#include "shardwright/profile.h"

/* Is a sharding required of a port? Then the temporaries counted for the op may be held at other steps. */
static bool is_stated(const sw_selection *s, const sw_unit *unit) {
  bool any = false;
  for (int32_t p = 0; p < unit->n_reads + unit->n_makes && unit->kind == SW_UNIT_OP; p++)
    any = any || sw_stated_at(s->stated, s->n_stated, unit->id, p);
  return any;
}

/* The sharding that the op makes where another one is stated of its result: until it is first read. */
static bool made_otherwise(const sw_selection *s, sw_id value) {
  const sw_value *v = &s->job.graph->values[value];
  return v->def >= 0 && sw_stated_at(s->stated, s->n_stated, v->def, sw_value_made_at(&s->units, value).port);
}

/* Can a plan do without the use: of an op that may be left out, or of one of two that a value comes from? */
static bool is_use_optional(const sw_selection *s, sw_value_use use) {
  return use.op >= 0 && sw_entry_is_open(sw_job_entry(&s->job, use.op));
}

/* When the value is held as it is made, whatever its readers choose: up to the first step at which one takes it so or
 * copies it. NULL: all who take it are readers. */
static sw_interval held_in_any_case(const sw_selection *s, sw_id value, const int32_t *reader, int32_t n) {
  const sw_value *v = &s->job.graph->values[value];
  sw_interval life = sw_value_life(&s->units, value, NULL);
  if (v->kind == SW_VALUE_PARAMETER || v->kind == SW_VALUE_STATE) return life;
  int32_t first = life.last, others = life.first;
  bool any = false;
  for (int32_t u = 0; u < v->n_uses; u++) {
    if (is_use_optional(s, v->uses[u])) continue;
    any = true;
    first = sw_min_i32(first, sw_use_step(&s->units, v->uses[u]));
    /* no reader of the border: a state returned as it came in, a join of what is stated */
    if (!sw_list_has_i32(reader, n, sw_use_taken_at(&s->units, v->uses[u]).unit))
      others = sw_max_i32(others, sw_use_until(&s->units, v->uses[u]));
  }
  if (!any && v->n_uses) first = life.first;
  life.last = sw_max_i32(sw_max_i32(life.first, others), sw_max_i32(first, sw_value_held_for(s->job.graph, value)));
  return life;
}

/* By option: of a value as it is made; an argument that arrives whole is there twice when it is cut. */
static sw_rc made_bytes(const sw_selection *s, sw_id value, const int64_t **out, sw_diag *d) {
  const sw_value *v = &s->job.graph->values[value];
  const sw_port at = sw_value_made_at(&s->units, value);
  const sw_option_set *c = s->options[at.unit];
  int64_t *bytes;
  *out = c->ports[at.port].bytes;
  if (v->def >= 0 || !s->o.args_whole) return SW_OK;
  SW_ARENA_NEW(bytes, s->arena, c->n, d);
  for (int32_t i = 0; i < c->n; i++) {
    const bool whole = sw_sharding_is_replicated(sw_options_sharding(c, &s->prices, at.port, i));
    bytes[i] = (*out)[i] + (whole ? 0 : sw_type_bytes(&v->type));
  }
  *out = bytes;
  return SW_OK;
}

static sw_usage use_of(sw_interval steps, const int64_t *bytes) {
  assert(steps.first >= 0 && steps.first <= steps.last && bytes);
  return (sw_usage){steps.first, (int64_t)steps.last + 1, bytes};
}

/* What is brought to another sharding behind its op is there as it is made until its first use, and so brought from
 * then on. */
static void hold_brought(const sw_selection *s, sw_id value, const sw_option_port *at, sw_interval held, sw_node *node,
                         sw_usage *uses) {
  const int32_t first = sw_use_step(&s->units, s->job.graph->values[value].uses[0]);
  if (first > held.first) uses[node->n_uses++] = use_of((sw_interval){held.first, first - 1}, at->made);
  uses[node->n_uses++] = use_of((sw_interval){first, first}, at->both);
  if (held.last > first) uses[node->n_uses++] = use_of((sw_interval){first + 1, held.last}, at->bytes);
}

/* A value that its kernel would not store is, where a plan keeps or offloads it: from where it is made. */
static sw_rc hold_kept(const sw_selection *s, const sw_unit *unit, sw_node *out, sw_usage *uses, sw_diag *d) {
  const int at = unit->kind == SW_UNIT_OP ? sw_op_stores(&s->job, &s->job.graph->ops[unit->id]) : -1;
  if (at < 0) return SW_OK;
  const sw_option_set *c = s->options[sw_unit_of_op(&s->units, unit->id)];
  int64_t *bytes;
  SW_ARENA_NEW(bytes, s->arena, c->n, d);
  for (int32_t i = 0; i < c->n; i++) bytes[i] = sw_strategy_takes(&c->strategies[i], at) ? c->ports[at].bytes[i] : 0;
  const sw_interval held = {sw_value_step(&s->units, unit->reads[at]),
                            sw_use_until(&s->units, (sw_value_use){unit->id, at})};
  uses[out->n_uses++] = use_of(held, bytes);
  return SW_OK;
}

/* All that is offloaded is in memory of the host together, which is a step behind all others: as much of it as of the
 * device's memory, whatever that is limited to. */
static sw_rc hold_on_host(const sw_selection *s, const sw_unit *unit, sw_node *out, sw_usage *uses, sw_diag *d) {
  const sw_op *op = unit->kind == SW_UNIT_OP ? &s->job.graph->ops[unit->id] : NULL;
  const double host = (double)sw_machine_profile(s->job.machine)->host_memory_bytes;
  if (!op || op->n_results != 1 || !sw_value_is_on_host(s->job.graph, op->results[0])) return SW_OK;
  if (s->o.capacity_bytes == INT64_MAX) return SW_OK;
  const sw_option_set *c = s->options[sw_unit_of_op(&s->units, unit->id)];
  int64_t *bytes;
  bool any = false;
  SW_ARENA_NEW(bytes, s->arena, c->n, d);
  for (int32_t i = 0; i < c->n; i++) {
    const double held = (double)sw_strategy_host_held(s->job.graph, op, &c->strategies[i]);
    bytes[i] = (int64_t)fmin(ceil(held / fmax(host, 1) * (double)s->o.capacity_bytes), 0x1p60);
    any = any || held > 0;
  }
  if (!any) return SW_OK;
  uses[out->n_uses++] = use_of((sw_interval){s->units.n_steps, s->units.n_steps}, bytes);
  return SW_OK;
}

sw_rc sw_hold_unit(const sw_selection *s, int32_t i, sw_node *out, sw_diag *d) {
  const sw_unit unit = sw_unit_at(&s->units, i);
  const int64_t *temp = s->options[i]->temp;
  sw_usage *uses;
  SW_ARENA_NEW(uses, s->arena, 3 * unit.n_makes + 3, d);
  out->uses = uses;
  out->n_uses = 0;
  for (int32_t k = 0; k < unit.n_makes; k++) {
    const sw_id value = unit.makes[k];
    const sw_option_port *at = &s->options[i]->ports[unit.n_reads + k];
    const sw_copies *c = s->copies_at[value] < 0 ? NULL : &s->copies.at[s->copies_at[value]];
    const int64_t *bytes;
    if (!sw_value_is_stored(s->job.kernels, value)) continue; /* until a copy of it is made */
    const sw_interval held = held_in_any_case(s, value, c ? c->reader : NULL, c ? c->table->n_readers : 0);
    SW_TRY(made_bytes(s, value, &bytes, d));
    if (at->made && s->job.graph->values[value].n_uses)
      hold_brought(s, value, at, held, out, uses);
    else
      uses[out->n_uses++] = use_of(held, bytes);
  }
  SW_TRY(hold_kept(s, &unit, out, uses, d));
  SW_TRY(hold_on_host(s, &unit, out, uses, d));
  if (temp && !is_stated(s, &unit)) uses[out->n_uses++] = use_of((sw_interval){unit.step, unit.step}, temp);
  return SW_OK;
}

/* --- lives of copies --------------------------------------------------------------------------------------------- */

/* A reader that takes the value through several ports needs it at least as long as through any. */
static sw_rc put_times(const sw_selection *s, sw_id value, const int32_t *reader, int32_t n, sw_lives *l, sw_diag *d) {
  const sw_value *v = &s->job.graph->values[value];
  const bool stored = sw_value_is_stored(s->job.kernels, value);
  int64_t *taken, *until, *until_made;
  SW_ARENA_NEW_EACH(s->arena, n, d, taken, until, until_made);
  for (int32_t i = 0; i < n; i++) {
    bool any = false;
    for (int32_t u = 0; u < v->n_uses; u++) {
      if (sw_use_taken_at(&s->units, v->uses[u]).unit != reader[i]) continue;
      const int64_t end = (int64_t)sw_use_until(&s->units, v->uses[u]) + 1;
      taken[i] = sw_use_step(&s->units, v->uses[u]);
      until[i] = any ? sw_min_i64(until[i], end) : end;
      assert(end > taken[i] || v->def < 0);
      any = true;
    }
    assert(any && until[i] > 0); /* a reader has a use */
    until_made[i] = stored ? until[i] : l->begin;
  }
  l->taken = taken;
  l->until = until;
  l->until_made = until_made;
  return SW_OK;
}

/* What the value holds by class behind the step up to which it is held in any case: as stated, where that is another
 * sharding. What lies where another value did holds nothing of its own as a rule. */
static sw_rc put_made(const sw_selection *s, sw_id value, const sw_border_table *t, sw_lives *l, sw_diag *d) {
  const sw_value *v = &s->job.graph->values[value];
  const bool whole = v->def < 0 && s->o.args_whole, stored = sw_value_is_stored(s->job.kernels, value),
             none =
                 sw_value_is_on_host(s->job.graph, value) ||
                 (!stored && (made_otherwise(s, value) || sw_value_keeping(s->job.kernels, value) == SW_KEPT_IN_PLACE));
  const sw_shape_class *c = &s->prices.classes.at[t->shape_class];
  int64_t *made;
  SW_ARENA_NEW(made, s->arena, t->copies.n_classes, d);
  for (int32_t f = 0; f < t->copies.n_classes && !none; f++) {
    if (t->given[f] < 0) continue;
    const sw_sharding *given = &c->shardings.at[t->given[f]];
    made[f] = sw_sharding_held_bytes(given, v->type.dims, v->type.dtype);
    if (whole && !sw_sharding_is_replicated(given)) made[f] += sw_type_bytes(&v->type);
  }
  l->made = made;
  return SW_OK;
}

static sw_rc put_layouts(const sw_selection *s, sw_id value, const sw_border_table *t, sw_lives *l, sw_diag *d) {
  const sw_type *type = &s->job.graph->values[value].type;
  const sw_shape_class *c = &s->prices.classes.at[t->shape_class];
  int64_t *amount;
  int32_t *made_as;
  SW_ARENA_NEW_EACH(s->arena, t->copies.n_layouts, d, amount, made_as);
  for (int32_t k = 0; k < t->copies.n_layouts; k++) {
    const int32_t id = t->sharding[k] < 0 ? ~t->sharding[k] : t->sharding[k];
    amount[k] = sw_value_is_on_host(s->job.graph, value)
                    ? 0
                    : sw_sharding_held_bytes(&c->shardings.at[id], type->dims, type->dtype);
    made_as[k] = -1;
    for (int32_t f = 0; f < t->copies.n_classes; f++)
      if (t->given[f] == id) made_as[k] = f;
  }
  l->amount = amount;
  l->made_as = made_as;
  return SW_OK;
}

/* The least that a reader can want; 0: perhaps nothing. */
static int64_t least_wanted(const sw_wants *w, const int64_t *amount) {
  int64_t least = INT64_MAX;
  for (int32_t c = 0; c < w->n_classes; c++)
    if (w->first[c] == w->first[c + 1]) return 0;
  for (int32_t k = 0; k < w->first[w->n_classes]; k++) least = sw_min_i64(least, amount[w->layout[k]]);
  return least;
}

/* At every step up to the last need of a value there is the value as it is made, or the copy that this need takes. */
static sw_rc put_least(const sw_selection *s, const sw_border_table *t, sw_lives *l, sw_diag *d) {
  const sw_copy_table *c = &t->copies;
  int64_t end = l->held, least = 0, *bytes;
  for (int32_t i = 0; i < c->n_readers; i++) {
    const int64_t wanted = least_wanted(&c->wants[i], l->amount);
    if (!wanted) continue;
    if (l->until_made[i] > end || (l->until_made[i] == end && wanted > least)) least = wanted;
    end = sw_max_i64(end, l->until_made[i]);
  }
  SW_ARENA_NEW(bytes, s->arena, c->n_choices, d);
  l->least = (sw_usage){l->held, end, bytes};
  for (int32_t x = 0; x < c->n_choices; x++) bytes[x] = sw_min_i64(l->made[c->class_of[x]], least);
  return SW_OK;
}

sw_rc sw_lives_make(const sw_selection *s, sw_id value, const sw_border_table *t, const int32_t *reader,
                    const sw_lives **out, sw_diag *d) {
  const int32_t n = t->copies.n_readers;
  sw_lives *l;
  SW_ARENA_NEW(l, s->arena, 1, d);
  l->begin = l->held = sw_value_step(&s->units, value);
  if (sw_value_is_stored(s->job.kernels, value)) l->held = (int64_t)held_in_any_case(s, value, reader, n).last + 1;
  SW_TRY(put_times(s, value, reader, n, l, d));
  SW_TRY(put_made(s, value, t, l, d));
  SW_TRY(put_layouts(s, value, t, l, d));
  SW_TRY(put_least(s, t, l, d));
  assert(l->begin <= l->held);
  *out = l;
  return SW_OK;
}
