#include "strategy/unit_pins.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/lists.h"
#include "strategy/demands.h"

/* An annotation at one of the ports that it is about. */
typedef struct pin {
  const sw_annotation *a;
  sw_port at;
} pin;

/* Do refs `have` begin with `want`, parts of axes put together as need be? *from: the first of `have` of which
 * something goes on behind that. */
static bool begins_with(const sw_axis_ref *have, int n_have, const sw_axis_ref *want, int n_want, int *from) {
  int h = 0, w = 0;
  sw_axis_ref a = n_have ? have[0] : (sw_axis_ref){0}, b = n_want ? want[0] : (sw_axis_ref){0};
  while (w < n_want) {
    if (h == n_have || a.axis != b.axis || a.pre != b.pre) return false;
    const int32_t both = a.size < b.size ? a.size : b.size;
    if (a.size % both || b.size % both) return false;
    a.pre *= both;
    a.size /= both;
    b = (sw_axis_ref){b.axis, a.pre, b.size / both};
    if (a.size == 1 && ++h < n_have) a = have[h];
    if (b.size == 1 && ++w < n_want) b = want[w];
  }
  *from = h;
  return true;
}

static bool is_kept(const sw_annotation *a, sw_axis_ref ref) {
  for (int32_t i = 0; i < a->n_kept; i++) {
    if (sw_axis_ref_overlaps(a->kept[i], ref)) return true;
  }
  return false;
}

bool sw_annotation_admits(const sw_annotation *a, const sw_sharding *s) {
  const sw_sharding *want = &a->sharding;
  if (!a->open_dims) return sw_sharding_equal(want, s);
  if (want->n_partial && want->partial_kind != s->partial_kind) return false;
  if (!sw_axis_refs_equal(sw_sharding_partial(want), want->n_partial, sw_sharding_partial(s), s->n_partial))
    return false;
  for (int k = 0; k < want->rank; k++) {
    int n, m, from;
    const sw_axis_ref *w = sw_sharding_dim(want, k, &n), *h = sw_sharding_dim(s, k, &m);
    if (!begins_with(h, m, w, n, &from) || (from < m && !(a->open_dims >> k & 1))) return false;
    for (int i = from; i < m; i++) {
      if (is_kept(a, h[i])) return false;
    }
  }
  return true;
}

/* --- strategies that enumeration left out ------------------------------------------------------------------------ */

static sw_rc enumerate_restricted(const sw_pin_target *t, const sw_op *op, const sw_demand *at, size_t n, bool any_size,
                                  sw_arena *arena, sw_enumeration *out, sw_diag *d) {
  const sw_demands_meet meet = {t->job.request, op, at, n};
  sw_enumerate_options o = *t->enumerate;
  o.admits = sw_demands_are_met;
  o.admits_user = &meet;
  o.any_size = any_size;
  o.even = NULL; /* what is required comes first */
  return sw_strategies_enumerate(&t->job, op, &o, arena, out, d);
}

/* Whatever size the shards have, empty ones included. */
static sw_enumerate_options of_any_size(const sw_pin_target *t) {
  sw_enumerate_options o = *t->enumerate;
  o.any_size = true;
  o.even = NULL;
  return o;
}

static sw_rc take_strategies(const sw_pin_target *t, int32_t unit, const sw_enumeration *e, sw_diag *d) {
  sw_option_set *out;
  SW_ARENA_NEW(out, t->arena, 1, d);
  SW_TRY(sw_options_of_op(&t->job, &t->job.graph->ops[sw_unit_at(t->units, unit).id], e, t->prices, t->arena, out, d));
  t->options[unit] = out;
  return SW_OK;
}

/* Of an argument or an output. */
static sw_rc take_shardings(const sw_pin_target *t, int32_t unit, const sw_sharding *all, int32_t n, sw_diag *d) {
  const sw_unit of = sw_unit_at(t->units, unit);
  const bool held = of.kind == SW_UNIT_ARGUMENT;
  sw_option_set *out;
  SW_ARENA_NEW(out, t->arena, 1, d);
  SW_TRY(sw_options_of_value(&t->job, held ? of.makes[0] : of.reads[0], all, n, held, t->prices, t->arena, out, d));
  t->options[unit] = out;
  return SW_OK;
}

/* Enumeration keeps the most promising strategies of an op. When none of these will do, all are looked at, and those
 * that meet whatever is required of the op and met by strategies are its options. Leaves what there was when there are
 * none. */
static sw_rc look_at_all(const sw_pin_target *t, int32_t unit, sw_diag *d) {
  const sw_id id = sw_unit_at(t->units, unit).id;
  const sw_op *op = &t->job.graph->ops[id];
  sw_demands m = {0};
  sw_enumeration e = {0};
  const sw_enumerate_options any_size = of_any_size(t);
  sw_rc rc = sw_demands_of(&t->demands, unit, &m, d);
  sw_demands_drop_flexible(t->job.graph, id, &m);
  if (!rc) rc = enumerate_restricted(t, op, m.at, m.n, false, t->arena, &e, d);
  if (!rc && !e.n) rc = sw_demands_drop_impossible(&t->job, op, &any_size, &m, d);
  if (!rc && !e.n) rc = enumerate_restricted(t, op, m.at, m.n, true, t->arena, &e, d);
  if (!rc && e.n) rc = take_strategies(t, unit, &e, d);
  sw_array_free(&m);
  return rc;
}

/* --- restrictions ------------------------------------------------------------------------------------------------ */

/* As it is. */
static bool admits_directly(const sw_pin_target *t, const pin *p, int32_t i) {
  const sw_option_set *c = t->options[p->at.unit];
  return p->at.port < 0 ? sw_annotation_admits_strategy(t->job.graph, p->a, &c->strategies[i])
                        : sw_annotation_admits(p->a, sw_options_sharding(c, t->prices, p->at.port, i));
}

/* ... or with what stands behind the op. */
static bool admits_option(const sw_pin_target *t, const pin *p, int32_t i) {
  const sw_unit unit = sw_unit_at(t->units, p->at.unit);
  if (admits_directly(t, p, i)) return true;
  return p->a->required && unit.kind == SW_UNIT_OP && p->at.port >= 0 &&
         sw_demand_is_met(t->job.graph->written, &t->job.graph->ops[unit.id], &(sw_demand){p->a, p->at.port},
                          &t->options[p->at.unit]->strategies[i]);
}

static bool admits_any_directly(const sw_pin_target *t, const pin *p) {
  for (int32_t i = 0; i < t->options[p->at.unit]->n; i++) {
    if (admits_directly(t, p, i)) return true;
  }
  return false;
}

static bool admits_any(const sw_pin_target *t, const pin *p) {
  for (int32_t i = 0; i < t->options[p->at.unit]->n; i++) {
    if (admits_option(t, p, i)) return true;
  }
  return false;
}

/* Is there an option that will do? Of an op, at least after a look at all. */
static sw_rc find_any(const sw_pin_target *t, const pin *p, bool *found, sw_diag *d) {
  *found = !p->a->required || admits_any(t, p);
  if (*found || sw_unit_at(t->units, p->at.unit).kind != SW_UNIT_OP) return SW_OK;
  SW_TRY(look_at_all(t, p->at.unit, d));
  *found = admits_any(t, p);
  return SW_OK;
}

static const char *name_of_annotated(const sw_pin_target *t, const sw_annotation *a) {
  return a->op >= 0 ? t->job.graph->ops[a->op].name : t->job.graph->values[a->value].name;
}

/* What it costs not to do as a hint says: all priorities share 2^16 units, in equal steps of its logarithm. That is
 * some nanoseconds, less than any communication. */
static int64_t penalty_of(const sw_pin_target *t, const sw_annotation *hint) {
  enum { MOST_BITS = 16 };
  int64_t later = 0;
  for (int32_t i = 0; i < t->n_priorities; i++) later += t->priorities[i] > hint->priority;
  return later ? INT64_C(1) << MOST_BITS * later / sw_max_i64(1, t->n_priorities - 1) : 1;
}

/* Keep the options that the annotation admits, or add to the cost of the rest. */
static sw_rc restrict_unit(const sw_pin_target *t, const pin *p, sw_diag *d) {
  bool found;
  SW_TRY(find_any(t, p, &found, d));
  if (!found) {
    return SW_FAIL(d, SW_E_INFEASIBLE, p->a->span,
                   "no strategy meets the required sharding of '%s' (together with the other annotations of %s)",
                   name_of_annotated(t, p->a), p->at.port < 0 ? "this op" : "the op that makes or uses it");
  }
  const sw_option_set *c = t->options[p->at.unit];
  const int64_t unmet = p->a->required ? 0 : penalty_of(t, p->a);
  bool *keep;
  int64_t *penalty;
  sw_option_set *out;
  SW_ARENA_NEW_EACH(t->arena, c->n, d, keep, penalty);
  SW_ARENA_NEW(out, t->arena, 1, d);
  for (int32_t i = 0; i < c->n; i++) {
    bool ok = admits_option(t, p, i);
    keep[i] = ok || !p->a->required;
    penalty[i] = ok ? 0 : unmet;
  }
  SW_TRY(sw_options_filter(c, keep, penalty, t->arena, out, d));
  t->options[p->at.unit] = out;
  return SW_OK;
}

/* --- shardings that strategies do not give by themselves ---------------------------------------------------------- */

/* What an op's exchange to its window of an operand costs in all its runs, which a halo that is there saves. */
static double window_s(const sw_pin_target *t, const sw_op *op, const sw_strategy *s, int operand) {
  sw_tiling blocks, window;
  if (!sw_strategy_halo(t->job.graph, op, s, operand, &blocks, &window)) return 0;
  const int bytes = sw_machine_moved_bytes(t->job.machine, sw_operand_type(t->job.graph, op, operand)->dtype);
  return (double)op->repeats * sw_machine_exchange_s(t->job.machine, &blocks, &window, bytes);
}

/* Price and temporary of what a choice wants of an operand, resharded from what is stated. */
static sw_rc add_stated(const sw_pin_target *t, const sw_op *op, int port, const sw_sharding *s, int32_t stated,
                        sw_option_set *c, bool *keep, sw_diag *d) {
  sw_option_port *at = &c->ports[port];
  const sw_id value = op->operands[port];
  const int64_t repeats = sw_value_repeats(t->job.graph, value);
  for (int32_t i = 0; i < c->n; i++) {
    const int32_t wanted = at->id[i];
    int64_t units;
    bool raised = false;
    keep[i] = true;
    at->id[i] = stated;
    if (t->job.graph->values[value].def >= 0 &&
        sw_strategy_halo_is_held(t->job.graph, op, &c->strategies[i], port, s)) {
      c->price[i] =
          sw_max_i64(0, c->price[i] - sw_cost_units(t->job.machine, window_s(t, op, &c->strategies[i], port)));
      continue;
    }
    SW_TRY(sw_prices_settle(t->prices, at->shape_class, stated, wanted, &raised, d));
    SW_TRY(sw_prices_get(t->prices, at->shape_class, stated, wanted, &units, d));
    keep[i] = units < SW_FORBIDDEN;
    c->price[i] = sw_cost_add(c->price[i], sw_cost_times(units, repeats));
    if (stated != wanted) c->temp[i] += at->bytes[i];
  }
  return SW_OK;
}

static sw_rc cannot_be_resharded(const sw_pin_target *t, const pin *p, sw_diag *d) {
  return SW_FAIL(d, SW_E_INFEASIBLE, p->a->span, "'%s' cannot be resharded to what is required of it",
                 name_of_annotated(t, p->a));
}

/* Every option has the required sharding at the operand; those whose strategy wants another pay for resharding it. */
static sw_rc state_operand(const sw_pin_target *t, const pin *p, sw_diag *d) {
  const int port = p->at.port;
  const sw_id id = sw_unit_at(t->units, p->at.unit).id;
  const sw_op *op = &t->job.graph->ops[id];
  const sw_type *type = sw_port_type(t->job.graph, op, port);
  sw_option_set all = *t->options[p->at.unit], *out;
  bool *keep;
  int32_t stated;
  SW_ARENA_NEW(keep, t->arena, all.n, d);
  SW_ARENA_NEW(out, t->arena, 1, d);
  memset(keep, true, (size_t)all.n * sizeof *keep);
  if (!all.temp) SW_ARENA_NEW(all.temp, t->arena, all.n, d);
  SW_TRY(sw_options_filter(&all, keep, NULL, t->arena, out, d)); /* a copy of its own */
  SW_TRY(sw_prices_id(t->prices, out->ports[port].shape_class, &p->a->sharding, &stated, d));
  SW_TRY(add_stated(t, op, port, &p->a->sharding, stated, out, keep, d));
  for (int32_t i = 0; i < out->n; i++) {
    out->ports[port].bytes[i] = sw_sharding_local_bytes(&p->a->sharding, type->dims, type->dtype);
  }
  all = *out;
  SW_TRY(sw_options_filter(&all, keep, NULL, t->arena, out, d));
  if (out->n == 0) return cannot_be_resharded(t, p, d);
  t->options[p->at.unit] = out;
  return sw_stated_put(t->stated, &(sw_stated){id, port, p->a->sharding}, d);
}

/* --- what readers see of a result --------------------------------------------------------------------------------- */

/* Options, each once for every sharding that its result may be brought to behind the op. */
typedef struct brought {
  int32_t n;
  int32_t *which, *to;
  int64_t *units;
  bool any; /* one is brought to another than it is made in */
} brought;

static sw_rc add_brought(const sw_pin_target *t, const pin *p, int32_t i, const sw_sharding *to, brought *b,
                         sw_diag *d) {
  const sw_option_set *c = t->options[p->at.unit];
  const sw_option_port *at = &c->ports[p->at.port];
  const sw_sharding made = *sw_options_sharding(c, t->prices, p->at.port, i);
  int64_t units;
  bool raised = false;
  SW_TRY(sw_prices_id(t->prices, at->shape_class, to, &b->to[b->n], d));
  SW_TRY(sw_prices_settle(t->prices, at->shape_class, at->id[i], b->to[b->n], &raised, d));
  SW_TRY(sw_prices_get(t->prices, at->shape_class, at->id[i], b->to[b->n], &units, d));
  if (units >= SW_FORBIDDEN) return SW_OK;
  if (at->id[i] != b->to[b->n]) {
    units += sw_cost_units(t->job.machine, sw_value_break_s(&t->job, p->a->value, &made, to));
    b->any = true;
  }
  b->which[b->n] = i;
  b->units[b->n++] = sw_cost_times(units, sw_value_repeats(t->job.graph, p->a->value));
  return SW_OK;
}

/* `all`: what no strategy gives by itself, or with a value completed, is resharded from whatever is made. */
static sw_rc list_brought(const sw_pin_target *t, const pin *p, bool all, brought *b, sw_diag *d) {
  const sw_option_set *c = t->options[p->at.unit];
  const sw_op *op = &t->job.graph->ops[sw_unit_at(t->units, p->at.unit).id];
  const size_t most = (size_t)c->n * ((size_t)t->job.graph->values[p->a->value].type.rank + 1);
  SW_ARENA_NEW_EACH(t->arena, most, d, b->which, b->to, b->units);
  for (int32_t i = 0; i < c->n; i++) {
    const sw_sharding made = *sw_options_sharding(c, t->prices, p->at.port, i);
    sw_sharding to[SW_MAX_RANK + 1];
    SW_TRY(sw_prices_in_time(t->prices, d));
    const int n = sw_demand_behind(t->job.graph->written, op, &(sw_demand){p->a, p->at.port}, &made, to);
    for (int k = 0; k < n; k++) SW_TRY(add_brought(t, p, i, &to[k], b, d));
    if (!n && all) SW_TRY(add_brought(t, p, i, &p->a->sharding, b, d));
  }
  return SW_OK;
}

/* What is required of a result is what its readers see: what the op makes is brought to it behind the op. */
static sw_rc state_result(const sw_pin_target *t, const pin *p, bool all, sw_diag *d) {
  const sw_type *type = &t->job.graph->values[p->a->value].type;
  brought b = {0};
  sw_option_set *c;
  SW_TRY(list_brought(t, p, all, &b, d));
  if (b.n == 0) return cannot_be_resharded(t, p, d);
  SW_ARENA_NEW(c, t->arena, 1, d);
  SW_TRY(sw_options_pick(t->options[p->at.unit], b.which, b.n, t->arena, c, d));
  t->options[p->at.unit] = c;
  if (!b.any) return SW_OK;
  sw_option_port *at = &c->ports[p->at.port];
  at->made = at->bytes;
  SW_ARENA_NEW_EACH(t->arena, b.n, d, at->bytes, at->both);
  for (int32_t i = 0; i < b.n; i++) {
    const bool stays = at->id[i] == b.to[i];
    at->id[i] = b.to[i];
    at->bytes[i] = sw_sharding_held_bytes(sw_options_sharding(c, t->prices, p->at.port, i), type->dims, type->dtype);
    at->both[i] = at->made[i] + (stays ? 0 : at->bytes[i]);
    c->price[i] = sw_cost_add(c->price[i], b.units[i]);
  }
  return sw_stated_put(t->stated, &(sw_stated){sw_unit_at(t->units, p->at.unit).id, p->at.port, p->a->sharding}, d);
}

/* The annotation at a port of an op: kept by what its strategies do, or, where none does so by itself, by a reshard.
 * What strategies can do is settled first, for all annotations (`late` false). */
static sw_rc pin_port(const sw_pin_target *t, bool late, const pin *p, sw_diag *d) {
  const sw_id id = sw_unit_at(t->units, p->at.unit).id;
  const sw_demand demand = {p->a, p->at.port};
  const bool flexible = sw_demand_is_flexible(t->job.graph, id, &demand);
  const sw_sharding *stated = sw_stated_find(t->stated, id, p->at.port);
  const sw_enumerate_options any_size = of_any_size(t);
  bool found, resharded;
  if (stated && sw_sharding_equal(stated, &p->a->sharding)) return SW_OK;
  if (stated && p->a->required) {
    return SW_FAIL(d, SW_E_INFEASIBLE, p->a->span, "'%s' is required in two shardings at once",
                   name_of_annotated(t, p->a));
  }
  if (!p->a->required || sw_port_is_border(&t->job.graph->ops[id], p->at.port))
    return late ? SW_OK : restrict_unit(t, p, d);
  if (flexible && !late) return SW_OK;
  if (!late) SW_TRY(find_any(t, p, &found, d));
  found = !(flexible && sw_sharding_is_special(&p->a->sharding)) && admits_any(t, p);
  SW_TRY(sw_demand_is_resharded(&t->job, id, &demand, found, &any_size, &resharded, d));
  if (!resharded) SW_TRY(restrict_unit(t, p, d));
  if (!late) return SW_OK;
  if (p->at.port >= t->job.graph->ops[id].n_operands) return state_result(t, p, resharded, d);
  return resharded ? state_operand(t, p, d) : SW_OK;
}

/* --- what enumeration left out, as an option by itself ------------------------------------------------------------ */

/* Is it cut as arguments and outputs must be? */
static bool is_even_enough(const sw_pin_target *t, const pin *p) {
  return t->even == SW_EVEN_NEVER ||
         sw_sharding_is_even(NULL, &p->a->sharding, t->job.graph->values[p->a->value].type.dims);
}

/* The sharding of a hint, as one option more of an argument or an output. */
static sw_rc offer_hint(const sw_pin_target *t, const pin *p, sw_diag *d) {
  const sw_option_set *c = t->options[p->at.unit];
  sw_sharding *all;
  SW_ARENA_NEW(all, t->arena, c->n + 1, d);
  for (int32_t i = 0; i < c->n; i++) all[i] = *sw_options_sharding(c, t->prices, 0, i);
  all[c->n] = p->a->sharding;
  SW_TRY(take_shardings(t, p->at.unit, all, c->n + 1, d));
  for (int32_t i = 0; i < c->n; i++) t->options[p->at.unit]->price[i] = c->price[i]; /* what other hints have cost */
  return SW_OK;
}

/* What is required of an argument or an output and not among the options: the only one, but for partial values whose
 * open dims are cut further as options are. */
static sw_rc take_required(const sw_pin_target *t, const pin *p, sw_diag *d) {
  const sw_option_set *c = t->options[p->at.unit];
  const sw_sharding *want = &p->a->sharding;
  sw_sharding *all;
  int32_t n = 1;
  SW_ARENA_NEW(all, t->arena, c->n + 1, d);
  all[0] = *want;
  for (int32_t i = 0; i < c->n && p->a->open_dims && want->n_partial; i++) {
    sw_sharding s = *sw_options_sharding(c, t->prices, 0, i);
    bool room = s.n_partial == 0;
    for (int k = 0; room && k < want->n_partial; k++)
      room = sw_sharding_push_partial(&s, (sw_reduction)want->partial_kind, sw_sharding_partial(want)[k]);
    const sw_type *type = &t->job.graph->values[p->a->value].type;
    if (!room || sw_sharding_equal(&s, want) || !sw_annotation_admits(p->a, &s)) continue;
    if (!sw_sharding_verify(sw_machine_mesh(t->job.machine), &s, type->rank, type->dims, NULL)) all[n++] = s;
  }
  return take_shardings(t, p->at.unit, all, n, d);
}

/* A pin on an argument or an output. */
static sw_rc pin_end(const sw_pin_target *t, const pin *p, sw_diag *d) {
  const bool there = admits_any(t, p);
  if (!there && p->a->required) return take_required(t, p, d);
  if (!there && is_even_enough(t, p)) SW_TRY(offer_hint(t, p, d));
  return restrict_unit(t, p, d);
}

/* A strategy as the op's only option. */
static sw_rc take_strategy(const sw_pin_target *t, int32_t unit, const sw_strategy *strategy, sw_diag *d) {
  sw_strategy *s = sw_arena_copy(t->arena, strategy, 1, sizeof *s, d);
  sw_op_cost *cost;
  if (!s) return SW_E_RESOURCE;
  SW_ARENA_NEW(cost, t->arena, 1, d);
  sw_strategy_cost(&t->job, &t->job.graph->ops[sw_unit_at(t->units, unit).id], s, cost);
  return take_strategies(t, unit, &(sw_enumeration){.n = 1, .at = s, .cost = cost}, d);
}

/* Likewise an op's own option: any legal strategy will do. */
static sw_rc pin_op(const sw_pin_target *t, const pin *p, sw_diag *d) {
  const sw_op *op = &t->job.graph->ops[p->a->op];
  if (!p->a->required || admits_any(t, p)) return restrict_unit(t, p, d);
  sw_strategy s = {0};
  for (int i = 0; i < p->a->n_loop_refs; i++) {
    if (!sw_strategy_push(&s, p->a->loop_of[i], p->a->loop_refs[i])) {
      return SW_FAIL(d, SW_E_INFEASIBLE, p->a->span, "the sharding option of '%s' names too many axes", op->name);
    }
  }
  sw_strategy_join(&s);
  if (sw_strategy_check(t->job.graph, op, sw_machine_mesh(t->job.machine), &s, d)) {
    sw_diag_note(d, "in the sharding option of op '%s' at line %d", op->name, p->a->span.line);
    if (d) d->rc = SW_E_INFEASIBLE;
    return SW_E_INFEASIBLE;
  }
  return take_strategy(t, p->at.unit, &s, d);
}

/* The strategy that gives a result in the sharding, where each dim that is cut is one loop. */
static bool strategy_giving(const sw_op *op, int port, const sw_sharding *s, sw_strategy *out) {
  *out = (sw_strategy){0};
  if (s->n_partial || sw_sharding_is_special(s) || !op->nest) return false;
  for (int i = 0; i < s->n_refs; i++) {
    const sw_affine *dim = &op->nest->maps[port].dims[s->dim_of[i]];
    if (dim->n_terms != 1 || dim->terms[0].coef != 1 || dim->constant) return false;
    if (!sw_strategy_push(out, dim->terms[0].loop, s->refs[i])) return false;
  }
  return true;
}

/* A pin on a result may ask for a part of an axis, too. */
static sw_rc pin_result(const sw_pin_target *t, bool late, const pin *p, sw_diag *d) {
  const sw_id id = sw_unit_at(t->units, p->at.unit).id;
  const sw_op *op = &t->job.graph->ops[id];
  sw_strategy made;
  if (late || !p->a->required || sw_demand_is_flexible(t->job.graph, id, &(sw_demand){p->a, p->at.port}))
    return pin_port(t, late, p, d);
  if (!admits_any_directly(t, p)) SW_TRY(look_at_all(t, p->at.unit, d));
  if (admits_any(t, p) || !strategy_giving(op, p->at.port, &p->a->sharding, &made) ||
      !sw_strategy_legal(t->job.graph, op, sw_machine_mesh(t->job.machine), &made))
    return pin_port(t, false, p, d);
  return take_strategy(t, p->at.unit, &made, d);
}

/* --- sharding groups ---------------------------------------------------------------------------------------------- */

/* Strategies that meet what is required of an op and give two of its results in one sharding. */
typedef struct alike {
  sw_demands_meet meet;
  int a, b; /* ports */
} alike;

static bool gives_alike(const void *user, const sw_strategy *s) {
  const alike *of = user;
  sw_sharding x, y;
  if (!sw_demands_are_met(&of->meet, s)) return false;
  sw_strategy_port(of->meet.op, s, of->a, &x);
  sw_strategy_port(of->meet.op, s, of->b, &y);
  return sw_sharding_equal(&x, &y);
}

/* None of the options is such: whatever else meets the requirements. */
static sw_rc look_for_alike(const sw_pin_target *t, const sw_sharding_group *pair, alike *of, int32_t unit,
                            sw_diag *d) {
  const sw_id id = sw_unit_at(t->units, unit).id;
  sw_demands m = {0};
  sw_enumeration e = {0};
  sw_enumerate_options o = of_any_size(t);
  sw_rc rc = sw_demands_of(&t->demands, unit, &m, d);
  sw_demands_drop_flexible(t->job.graph, id, &m);
  of->meet = (sw_demands_meet){t->job.request, &t->job.graph->ops[id], m.at, m.n};
  o.admits = gives_alike;
  o.admits_user = of;
  if (!rc) rc = sw_strategies_enumerate(&t->job, of->meet.op, &o, t->arena, &e, d);
  sw_array_free(&m);
  if (rc || e.n) return rc ? rc : take_strategies(t, unit, &e, d);
  return SW_FAIL(d, SW_E_INFEASIBLE, pair->span,
                 "'%s' and '%s' are in one sharding group; no strategy of '%s' gives both one sharding",
                 t->job.graph->values[pair->a].name, t->job.graph->values[pair->b].name, of->meet.op->name);
}

/* Two results of one op; values of several units are tied by edges (selection.c). */
static sw_rc tie_results(const sw_pin_target *t, const sw_sharding_group *pair, sw_diag *d) {
  const sw_port a = sw_value_made_at(t->units, pair->a), b = sw_value_made_at(t->units, pair->b);
  if (a.unit != b.unit) return SW_OK;
  const sw_option_set *c = t->options[a.unit];
  bool *keep, any = false;
  sw_option_set *out;
  SW_ARENA_NEW(keep, t->arena, c->n, d);
  SW_ARENA_NEW(out, t->arena, 1, d);
  for (int32_t i = 0; i < c->n; i++) {
    keep[i] =
        sw_sharding_equal(sw_options_sharding(c, t->prices, a.port, i), sw_options_sharding(c, t->prices, b.port, i));
    any = any || keep[i];
  }
  alike of = {.a = a.port, .b = b.port};
  if (!any) return look_for_alike(t, pair, &of, a.unit, d);
  SW_TRY(sw_options_filter(c, keep, NULL, t->arena, out, d));
  t->options[a.unit] = out;
  return SW_OK;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

/* Options of ops are the first pass: they may add an option that the rest restricts. What is resharded comes last. */
static sw_rc pin_annotation(const sw_pin_target *t, const sw_annotation *a, int pass, sw_diag *d) {
  for (int32_t i = 0; (pass == 0) == (a->op >= 0) && i < sw_annotation_n_ports(t->job.graph, a); i++) {
    const pin p = {a, sw_annotation_port(t->units, a, i)};
    const bool late = pass == 2;
    if (a->op >= 0) {
      SW_TRY(pin_op(t, &p, d));
    } else if (sw_unit_at(t->units, p.at.unit).kind == SW_UNIT_OP) {
      SW_TRY(a->for_users ? pin_port(t, late, &p, d) : pin_result(t, late, &p, d));
    } else if (!late) {
      SW_TRY(pin_end(t, &p, d));
    }
  }
  return SW_OK;
}

static sw_rc offer_unless_there(const sw_pin_target *t, const pin *p, sw_diag *d) {
  return admits_any(t, p) || !is_even_enough(t, p) ? SW_OK : offer_hint(t, p, d);
}

/* A value that is in a stated sharding may be delivered in it, and an argument arrive as a use of it is stated. */
static sw_rc offer_stated(const sw_pin_target *t, const sw_annotation *a, sw_diag *d) {
  const sw_value *v = a->value >= 0 ? &t->job.graph->values[a->value] : NULL;
  if (!v || a->sharding.n_partial || !sw_sharding_is_special(&a->sharding)) return SW_OK;
  const pin made = {a, sw_value_made_at(t->units, a->value)};
  if (a->for_users) return v->def < 0 ? offer_unless_there(t, &made, d) : SW_OK;
  for (int32_t u = 0; u < v->n_uses; u++) {
    const pin taken = {a, sw_use_taken_at(t->units, v->uses[u])};
    if (sw_unit_at(t->units, taken.at.unit).kind == SW_UNIT_OUTPUT) SW_TRY(offer_unless_there(t, &taken, d));
  }
  return SW_OK;
}

/* Arguments arrive in parts where something in their group must be. */
static sw_rc offer_parts(const sw_pin_target *t, const sw_annotation *a, sw_id *group, sw_diag *d) {
  if (a->value < 0 || a->for_users || !a->required || !a->sharding.n_partial) return SW_OK;
  const sw_id all = sw_value_group(group, a->value);
  for (int32_t i = 0; all >= 0 && i < t->job.graph->n_args; i++) {
    const pin p = {a, sw_value_made_at(t->units, t->job.graph->args[i])};
    if (t->job.graph->args[i] != a->value && sw_value_group(group, t->job.graph->args[i]) == all)
      SW_TRY(offer_unless_there(t, &p, d));
  }
  return SW_OK;
}

/* Options that were made for one annotation may pass over another one. */
static sw_rc confirm(const sw_pin_target *t, const sw_annotation *a, sw_diag *d) {
  for (int32_t k = 0; a->required && k < sw_annotation_n_ports(t->job.graph, a); k++) {
    const pin p = {a, sw_annotation_port(t->units, a, k)};
    bool all = true;
    for (int32_t i = 0; all && i < t->options[p.at.unit]->n; i++) all = admits_option(t, &p, i);
    if (!all) SW_TRY(restrict_unit(t, &p, d));
  }
  return SW_OK;
}

static sw_rc apply(const sw_pin_target *t, sw_diag *d) {
  sw_id *group;
  SW_TRY(sw_value_groups(t->job.request, t->arena, &group, d));
  for (int32_t i = 0; i < t->job.request->n_annotations; i++)
    SW_TRY(offer_stated(t, &t->job.request->annotations[i], d));
  for (int32_t i = 0; i < t->job.request->n_annotations; i++)
    SW_TRY(offer_parts(t, &t->job.request->annotations[i], group, d));
  for (int pass = 0; pass < 3; pass++) {
    for (int32_t i = 0; i < t->job.request->n_annotations; i++)
      SW_TRY(pin_annotation(t, &t->job.request->annotations[i], pass, d));
  }
  for (int32_t i = 0; i < t->job.request->n_sharding_groups; i++)
    SW_TRY(tie_results(t, &t->job.request->sharding_groups[i], d));
  for (int32_t i = 0; i < t->job.request->n_annotations; i++) SW_TRY(confirm(t, &t->job.request->annotations[i], d));
  return SW_OK;
}

static sw_rc find_priorities(sw_pin_target *t, sw_diag *d) {
  int32_t *list, n = 0, kept = 0;
  SW_ARENA_NEW(list, t->arena, t->job.request->n_annotations, d);
  for (int32_t i = 0; i < t->job.request->n_annotations; i++) {
    if (!t->job.request->annotations[i].required) list[n++] = t->job.request->annotations[i].priority;
  }
  if (n) qsort(list, (size_t)n, sizeof *list, sw_compare_i32);
  for (int32_t i = 0; i < n; i++) {
    if (!i || list[i] != list[i - 1]) list[kept++] = list[i];
  }
  t->priorities = list;
  t->n_priorities = kept;
  return SW_OK;
}

sw_rc sw_pins_apply(sw_pin_target *t, sw_diag *d) {
  SW_TRY(find_priorities(t, d));
  SW_TRY(sw_demands_find(&t->job, false, t->arena, &t->demands, d));
  sw_rc rc = apply(t, d);
  if (rc != SW_E_INFEASIBLE) return rc;
  sw_diag both = {0};
  if (sw_requirements_check(&t->job, &both) == SW_E_INFEASIBLE && d) *d = both; /* it names both places */
  return rc;
}
