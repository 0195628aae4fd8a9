#include "plan/follow.h"

#include <math.h>

#include "base/lists.h"
#include "plan/choices.h"
#include "plan/value_class.h"

enum { MOST_WAITING = 100 }; /* ops that wait for one use, each as often as it is used on the way there */

/* --- what is known ------------------------------------------------------------------------------------------------ */

sw_rc sw_follow_known_init(sw_follow_known *k, const sw_job *j, sw_diag *d) {
  SW_TRY(sw_route_prices_make(j->machine, &k->routes, d));
  SW_TRY(sw_demands_find(j, false, &k->mem, &k->demands, d));
  k->most_stated = k->demands.first[sw_units_of(j).n] + 2 * j->request->n_sharding_groups;
  return sw_value_groups(j->request, &k->mem, &k->groups, d);
}

void sw_follow_known_deinit(sw_follow_known *k) {
  sw_dict_deinit(&k->classes);
  sw_dict_deinit(&k->chosen);
  sw_array_free(&k->enumerations);
  sw_route_prices_destroy(k->routes);
  sw_arena_deinit(&k->mem);
}

sw_rc sw_follow_begin(sw_follower *f, sw_arena *arena, sw_diag *d) {
  f->fixed = sw_mem_alloc((size_t)f->job.graph->n_args, sizeof *f->fixed, d);
  f->waits = sw_mem_alloc((size_t)f->job.graph->n_ops, sizeof *f->waits, d);
  if (!f->fixed || !f->waits) return SW_E_RESOURCE;
  if (f->given) return SW_OK;
  SW_ARENA_NEW(f->plan->stated, arena, f->known->most_stated, d);
  if (!f->known->groups) return SW_OK;
  f->first_of = sw_mem_alloc((size_t)f->job.graph->n_values, sizeof *f->first_of, d);
  for (sw_id v = 0; f->first_of && v < f->job.graph->n_values; v++) f->first_of[v] = -1;
  return f->first_of ? SW_OK : SW_E_RESOURCE;
}

void sw_follow_end(sw_follower *f) {
  sw_mem_free(f->fixed);
  sw_mem_free(f->waits);
  sw_mem_free(f->first_of);
  sw_text_free(&f->key);
}

const sw_annotation *sw_follow_required(const sw_follow_known *k, int32_t unit) {
  return sw_demands_count(&k->demands, unit) ? k->demands.at[k->demands.first[unit]].a : NULL;
}

void sw_follow_fix(sw_follower *f, int32_t arg) {
  const sw_annotation *a = sw_follow_required(f->known, arg);
  sw_sharding *held = &f->plan->args[arg];
  f->fixed[arg] = true;
  if (a && !sw_annotation_admits(a, held)) *held = a->sharding;
  const sw_id group = sw_value_group(f->known->groups, f->job.graph->args[arg]);
  if (!f->first_of || group < 0) return;
  if (f->first_of[group] < 0) f->first_of[group] = f->job.graph->args[arg];
  if (f->first_of[group] != f->job.graph->args[arg]) sw_plan_value_sharding(f->plan, f->first_of[group], held);
}

/* --- the price of an op here -------------------------------------------------------------------------------------- */

/* Given by value: pricing one op may enumerate others, and the array moves. */
sw_rc sw_follow_strategies(sw_follower *f, const sw_op *op, sw_enumeration *out, sw_diag *d) {
  f->key.n = 0;
  sw_op_class_key(&f->job, op, &f->key);
  if (f->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  int64_t *slot;
  bool fresh;
  SW_TRY(sw_dict_put(&f->known->classes, f->key.at, f->key.n, (int64_t)f->known->enumerations.n, &slot, &fresh, d));
  if (fresh) {
    sw_enumeration e;
    const sw_enumerate_options o = {.runs = 2}; /* by rule, axes go together, but for the last */
    SW_TRY(sw_strategies_enumerate(&f->job, op, &o, &f->known->mem, &e, d));
    SW_TRY(sw_array_push(&f->known->enumerations, e, d));
  }
  *out = f->known->enumerations.at[*slot];
  return SW_OK;
}

/* Infinity where it is more than enough, which often is known without a search. */
static sw_rc price(sw_follower *f, sw_id value, const sw_sharding *from, const sw_sharding *to, double enough,
                   double *out, sw_diag *d) {
  const sw_type *t = &f->job.graph->values[value].type;
  int32_t shape;
  if (sw_value_is_on_host(f->job.graph, value)) {
    *out = sw_sharding_equal(from, to) ? 0 : INFINITY;
    return SW_OK;
  }
  SW_TRY(sw_route_prices_shape(f->known->routes, sw_value_combines(f->job.kernels, value), t->rank, t->dims, t->dtype,
                               &shape, d));
  return sw_route_prices_get(f->known->routes, shape, from, to, enough, out, d);
}

static bool keeps_partials(const sw_op *op, const sw_strategy *s) {
  for (int i = 0; i < s->n_refs; i++) {
    if (s->loop_of[i] >= op->nest->n_loops) return true;
  }
  return false;
}

static sw_rc cost_here(sw_follower *f, const sw_op *op, const sw_strategy *s, const sw_op_cost *own, double enough,
                       double *out, sw_diag *d);

/* What bringing the results to what is required of them costs. */
static sw_rc cost_behind(sw_follower *f, const sw_op *op, const sw_strategy *s, double enough, double *out,
                         sw_diag *d) {
  const int32_t unit = f->job.graph->n_args + (sw_id)(op - f->job.graph->ops);
  const sw_demand_index *x = &f->known->demands;
  *out = 0;
  for (int32_t i = x->first[unit]; i < x->first[unit + 1] && *out < INFINITY; i++) {
    const sw_demand *m = &x->at[i];
    sw_sharding made, to;
    double more;
    if (m->port < op->n_operands) continue;
    sw_strategy_port(op, s, m->port, &made);
    sw_demand_stated(f->job.graph->written, op, m, s, &to);
    SW_TRY(price(f, m->a->value, &made, &to, enough - *out, &more, d));
    *out += more;
  }
  return SW_OK;
}

/* The op that makes a value, if it still waits. */
static const sw_op *waiting_maker(const sw_follower *f, sw_id value) {
  sw_id def = f->job.graph->values[value].def;
  return def >= 0 && f->waits[def] ? &f->job.graph->ops[def] : NULL;
}

/* The cheapest strategy that makes the op's result as wanted; *best NULL when there is none. */
static sw_rc find_cheapest_maker(sw_follower *f, const sw_op *op, const sw_sharding *wanted, const sw_strategy **best,
                                 double *seconds, sw_diag *d) {
  sw_enumeration e;
  *best = NULL;
  *seconds = INFINITY;
  SW_TRY(sw_follow_strategies(f, op, &e, d));
  for (int32_t i = 0; i < e.n; i++) {
    sw_sharding made;
    double cost;
    sw_strategy_result(op, &e.at[i], 0, &made);
    if (!sw_sharding_equal(&made, wanted) || keeps_partials(op, &e.at[i])) continue;
    SW_TRY(cost_here(f, op, &e.at[i], &e.cost[i], *seconds, &cost, d));
    if (cost >= *seconds) continue;
    *seconds = cost;
    *best = &e.at[i];
  }
  return SW_OK;
}

/* An argument that arrives as its first use wants it. */
static bool is_undecided(const sw_follower *f, sw_id value) {
  const sw_value *v = &f->job.graph->values[value];
  return f->given && v->def < 0 && !f->fixed[v->def_index];
}

static sw_rc cost_of_operand(sw_follower *f, sw_id value, const sw_sharding *to, double enough, double *out,
                             sw_diag *d) {
  const sw_op *maker = waiting_maker(f, value);
  const sw_strategy *best = NULL;
  sw_sharding from;
  *out = 0;
  if (is_undecided(f, value)) return SW_OK;
  if (maker) SW_TRY(find_cheapest_maker(f, maker, to, &best, out, d));
  if (best) return SW_OK;
  sw_plan_value_sharding(f->plan, value, &from);
  return price(f, value, &from, to, enough, out, d);
}

bool sw_follow_is_given(const sw_follower *f, sw_value_use use) {
  return use.op < 0 ? f->given->outputs[use.index] : f->given->ops[use.op];
}

/* What moving the results to the uses that are given costs. */
static sw_rc cost_of_uses(sw_follower *f, const sw_op *op, const sw_strategy *s, double enough, double *out,
                          sw_diag *d) {
  *out = 0;
  for (int i = 0; f->given && i < op->n_results; i++) {
    const sw_value *v = &f->job.graph->values[op->results[i]];
    sw_sharding made;
    sw_strategy_result(op, s, i, &made);
    for (int32_t u = 0; u < v->n_uses && *out < INFINITY; u++) {
      sw_sharding to;
      double more;
      if (!sw_follow_is_given(f, v->uses[u])) continue;
      sw_plan_taken_sharding(f->plan, v->uses[u], &to);
      SW_TRY(price(f, op->results[i], &made, &to, enough - *out, &more, d));
      *out += more;
    }
  }
  return SW_OK;
}

/* Infinity where it is more than enough. */
static sw_rc cost_here(sw_follower *f, const sw_op *op, const sw_strategy *s, const sw_op_cost *own, double enough,
                       double *out, sw_diag *d) {
  *out = own->local_s + own->move_s;
  if (*out > enough) *out = INFINITY;
  for (int i = 0; i < op->n_operands && *out < INFINITY; i++) {
    sw_sharding to;
    double more;
    sw_strategy_operand(op, s, i, &to);
    SW_TRY(cost_of_operand(f, op->operands[i], &to, enough - *out, &more, d));
    *out += more;
  }
  double more = 0;
  if (f->given && *out < INFINITY) SW_TRY(cost_of_uses(f, op, s, enough - *out, &more, d));
  *out += more;
  if (*out < INFINITY) SW_TRY(cost_behind(f, op, s, enough - *out, &more, d));
  *out += *out < INFINITY ? more : 0;
  return SW_OK;
}

/* What the operands of a decided op waited for is known now. */
static sw_rc settle_operands(sw_follower *f, const sw_op *op, sw_diag *d) {
  for (int i = 0; i < op->n_operands; i++) {
    const sw_op *maker = waiting_maker(f, op->operands[i]);
    const sw_strategy *best;
    sw_sharding to;
    double seconds;
    if (!maker) continue;
    sw_strategy_operand(op, &f->plan->ops[op - f->job.graph->ops], i, &to);
    SW_TRY(find_cheapest_maker(f, maker, &to, &best, &seconds, d));
    if (best) f->plan->ops[maker - f->job.graph->ops] = *best;
    f->waits[maker - f->job.graph->ops] = 0;
    SW_TRY(settle_operands(f, maker, d));
  }
  return SW_OK;
}

static double result_bytes(const sw_follower *f, const sw_op *op, const sw_strategy *s) {
  double b = 0;
  for (int i = 0; i < op->n_results; i++) {
    sw_sharding sh;
    const sw_type *t = sw_result_type(f->job.graph, op, i);
    sw_strategy_result(op, s, i, &sh);
    b += (double)sw_sharding_held_bytes(&sh, t->dims, t->dtype);
  }
  return b;
}

static bool uses_axis_of(const sw_strategy *s, uint32_t axes) {
  for (int i = 0; i < s->n_refs; i++) {
    if (axes >> s->refs[i].axis & 1U) return true;
  }
  return false;
}

static sw_follow_work work_of(const sw_follower *f, const sw_op *op) {
  return f->work ? (sw_follow_work)f->work[op - f->job.graph->ops] : FOLLOW_DATA;
}

static bool is_update(const sw_follower *f, const sw_op *op) { return work_of(f, op) == FOLLOW_UPDATES; }

/* Axes that the op is not to be cut by. */
static uint32_t idle_at(const sw_follower *f, const sw_op *op) { return f->idle[work_of(f, op)]; }

static uint32_t axes_mask(const sw_axis_ref *refs, int n) {
  uint32_t axes = 0;
  for (int i = 0; i < n; i++) axes |= 1U << refs[i].axis;
  return axes;
}

/* Along these axes, is each dim cut as in the other sharding? */
static bool cut_alike(const sw_sharding *a, const sw_sharding *b, uint32_t axes) {
  int k = 0;
  for (int i = 0; i < a->n_refs; i++) {
    if (!(axes >> a->refs[i].axis & 1U)) continue;
    while (k < b->n_refs && !(axes >> b->refs[k].axis & 1U)) k++;
    if (k == b->n_refs || a->dim_of[i] != b->dim_of[k] || !sw_axis_ref_equal(a->refs[i], b->refs[k])) return false;
    k++;
  }
  return true;
}

/* Axes along which an operand stays as it is cut. */
static uint32_t stays_along(const sw_follower *f, sw_id value) {
  return f->kept | (f->weight && f->weight[value] ? f->placed : 0);
}

/* Would the gradient of a weight be summed up over axes that cut its weight, as they cut an operand? */
static bool sums_cut_gradient(const sw_follower *f, const sw_op *op, const sw_strategy *s) {
  static const sw_attr_key kContract[] = {SW_ATTR_LHS_CONTRACT, SW_ATTR_RHS_CONTRACT};
  sw_sharding made;
  if (!f->placed || op->code != SW_OP_DOT || f->class_of[op->results[0]] != SW_MEMORY_GRADIENTS) return false;
  sw_strategy_result(op, s, 0, &made);
  const uint32_t summed = axes_mask(sw_sharding_partial(&made), made.n_partial) & f->placed;
  for (int i = 0; i < 2 && summed; i++) {
    int n;
    const int64_t *dims = sw_op_ints(op, kContract[i], &n);
    if (waiting_maker(f, op->operands[i])) continue;
    sw_plan_value_sharding(f->plan, op->operands[i], &made);
    for (int k = 0; k < made.n_refs; k++)
      if (summed >> made.refs[k].axis & 1U && !sw_list_has(dims, n, made.dim_of[k])) return true;
  }
  return false;
}

static bool is_partial(const sw_follower *f, sw_id value) {
  sw_sharding made;
  sw_plan_value_sharding(f->plan, value, &made);
  return made.n_partial > 0;
}

/* Numbers that are sums over devices are added up before they are completed. */
static bool adds_sums(const sw_follower *f, const sw_op *op) {
  return op->code == SW_OP_ADD && sw_result_type(f->job.graph, op, 0)->rank == 0 && is_partial(f, op->operands[0]) &&
         is_partial(f, op->operands[1]);
}

/* Bytes of operands that are not taken as axes that they keep cut them, or whose sums would be completed by parts; one
 * byte where such axes cut none of them and would cut the result: what all devices have, all work on. */
static double moved_bytes(const sw_follower *f, const sw_op *op, const sw_strategy *s) {
  double bytes = 0;
  uint32_t had = 0, used = 0;
  if (!(f->kept | f->placed) || is_update(f, op)) return 0;
  for (int i = 0; i < s->n_refs && !adds_sums(f, op); i++) used |= 1U << s->refs[i].axis & f->kept;
  for (int i = 0; i < op->n_operands; i++) {
    const sw_type *type = sw_operand_type(f->job.graph, op, i);
    sw_sharding made, taken;
    if (waiting_maker(f, op->operands[i])) {
      had = f->kept;
      continue;
    }
    sw_plan_value_sharding(f->plan, op->operands[i], &made);
    sw_strategy_operand(op, s, i, &taken);
    const uint32_t summed = axes_mask(sw_sharding_partial(&made), made.n_partial) & f->kept;
    had |= axes_mask(made.refs, made.n_refs) & f->kept;
    if (cut_alike(&made, &taken, stays_along(f, op->operands[i])) && !(axes_mask(taken.refs, taken.n_refs) & summed))
      continue;
    bytes += (double)sw_sharding_held_bytes(&made, type->dims, type->dtype);
  }
  if (sums_cut_gradient(f, op, s)) bytes += result_bytes(f, op, s);
  return bytes + (used & ~had ? 1 : 0);
}

/* Of those that meet the demands; -1: none does. */
static sw_rc find_cheapest_strategy(sw_follower *f, const sw_op *op, const sw_enumeration *e, const sw_demands *m,
                                    int64_t *out, sw_diag *d) {
  const sw_demands_meet asked = {f->job.request, op, m->at, m->n};
  const uint32_t idle = m->n ? 0 : idle_at(f, op);
  const bool sums = adds_sums(f, op);
  double best = INFINITY, best_bytes = INFINITY, least_moved = INFINITY;
  *out = -1;
  for (int32_t i = 0; i < e->n; i++) {
    if ((keeps_partials(op, &e->at[i]) && !sums) || uses_axis_of(&e->at[i], idle)) continue;
    if (!sw_demands_are_met(&asked, &e->at[i])) continue;
    double cost, bytes = result_bytes(f, op, &e->at[i]), moved = moved_bytes(f, op, &e->at[i]);
    if (moved > least_moved) continue;
    SW_TRY(cost_here(f, op, &e->at[i], &e->cost[i], moved < least_moved ? INFINITY : best, &cost, d));
    const bool worse = cost > best || (cost == best && bytes >= best_bytes);
    if (isinf(cost) || (moved == least_moved && worse)) continue;
    least_moved = moved;
    best = cost;
    best_bytes = bytes;
    *out = i;
  }
  return SW_OK;
}

/* --- what is required --------------------------------------------------------------------------------------------- */

/* Is something required of its strategy or ports, or one of its results in a sharding group? */
bool sw_follow_is_asked(const sw_follower *f, sw_id id) {
  if (sw_demands_count(&f->known->demands, f->job.graph->n_args + id)) return true;
  for (int i = 0; f->first_of && i < f->job.graph->ops[id].n_results; i++) {
    if (sw_value_group(f->known->groups, f->job.graph->ops[id].results[i]) >= 0) return true;
  }
  return false;
}

/* Demands may ask for orders and mixtures of axes that are not looked at otherwise. */
static sw_rc choose_that_meets(sw_follower *f, const sw_op *op, const sw_demands *m, bool *any, sw_diag *d) {
  const sw_demands_meet asked = {f->job.request, op, m->at, m->n};
  const sw_enumerate_options o = {.runs = 2, .admits = sw_demands_are_met, .admits_user = &asked};
  sw_enumeration e;
  int64_t choice;
  SW_TRY(sw_follow_strategies(f, op, &e, d));
  SW_TRY(find_cheapest_strategy(f, op, &e, m, &choice, d));
  if (choice < 0 && m->n) {
    SW_TRY(sw_strategies_enumerate(&f->job, op, &o, &f->known->mem, &e, d));
    SW_TRY(find_cheapest_strategy(f, op, &e, m, &choice, d));
  }
  *any = choice >= 0;
  if (*any) f->plan->ops[op - f->job.graph->ops] = e.at[choice];
  return SW_OK;
}

/* By a strategy that meets what is required; else by one that meets what strategies can; else by any. */
static sw_rc choose_asked(sw_follower *f, const sw_op *op, sw_diag *d) {
  const sw_id id = (sw_id)(op - f->job.graph->ops);
  sw_demands m = {0};
  bool any = false;
  sw_rc rc = sw_demands_of(&f->known->demands, f->job.graph->n_args + id, &m, d);
  if (!rc) rc = choose_that_meets(f, op, &m, &any, d);
  if (!rc && !any) {
    sw_demands_drop_flexible(f->job.graph, id, &m);
    rc = sw_demands_drop_impossible(&f->job, op, &(sw_enumerate_options){.runs = 2}, &m, d);
  }
  if (!rc && !any) rc = choose_that_meets(f, op, &m, &any, d);
  m.n = 0;
  if (!rc && !any) rc = choose_that_meets(f, op, &m, &any, d);
  sw_array_free(&m);
  return rc;
}

/* What is required of a port and not met by the strategy; false: nothing is. */
static bool is_unmet(sw_follower *f, const sw_op *op, int port, sw_sharding *out) {
  const sw_id id = (sw_id)(op - f->job.graph->ops);
  const int32_t unit = f->job.graph->n_args + id;
  const sw_demand_index *x = &f->known->demands;
  sw_sharding made;
  sw_strategy_port(op, &f->plan->ops[id], port, &made);
  for (int32_t i = x->first[unit]; i < x->first[unit + 1]; i++) {
    const sw_demand *m = &x->at[i];
    if (m->port != port) continue;
    sw_demand_stated(f->job.graph->written, op, m, &f->plan->ops[id], out);
    if (!sw_sharding_equal(out, &made)) return true;
  }
  const sw_id value = sw_port_value(op, port), group = sw_value_group(f->known->groups, value);
  if (port < op->n_operands || !f->first_of || group < 0) return false;
  if (f->first_of[group] < 0) f->first_of[group] = value;
  if (f->first_of[group] == value) return false;
  sw_plan_value_sharding(f->plan, f->first_of[group], out);
  return !sw_sharding_equal(out, &made);
}

/* In order of ops and ports, as plans have it: an op of which something is required does not wait. */
static void state_ports(sw_follower *f, const sw_op *op) {
  for (int port = 0; port < op->n_operands + op->n_results; port++) {
    sw_stated one = {.op = (sw_id)(op - f->job.graph->ops), .port = port};
    if (sw_port_is_border(op, port) || !is_unmet(f, op, port, &one.sharding)) continue;
    if (f->plan->n_stated < f->known->most_stated) f->plan->stated[f->plan->n_stated++] = one;
  }
}

/* --- op by op ----------------------------------------------------------------------------------------------------- */

/* For constants, broadcasts, gradients that are not summed up yet, and what is computed from such alone, but for sums.
 * What is computed in too many steps does not wait: c + c doubles them with every step. */
uint8_t sw_follow_can_wait(const sw_follower *f, const sw_op *op) {
  int together = 1;
  if (op->n_results != 1 || sw_op_tied_to(f->job.graph, (sw_id)(op - f->job.graph->ops)) >= 0) return 0;
  if (sw_value_is_on_host(f->job.graph, op->results[0])) return 0;
  for (int i = 0; i < op->nest->n_loops; i++) {
    if (op->nest->loops[i].kind == SW_LOOP_REDUCTION) return 0;
  }
  if (sw_follow_is_asked(f, (sw_id)(op - f->job.graph->ops))) return 0;
  for (int i = 0; i < op->n_operands && together <= MOST_WAITING; i++) {
    const sw_op *maker = waiting_maker(f, op->operands[i]);
    if (!maker && op->code != SW_OP_BROADCAST && !(is_update(f, op) && is_partial(f, op->operands[i]))) return 0;
    if (maker) together += f->waits[maker - f->job.graph->ops];
  }
  return together <= MOST_WAITING ? (uint8_t)together : 0;
}

/* All that a choice hangs on: the op, and how its operands are cut or what would make them. */
static void context_key(const sw_follower *f, const sw_op *op, sw_text *key) {
  const uint32_t rules[] = {idle_at(f, op), is_update(f, op) ? 0 : f->kept, f->placed};
  sw_op_class_key(&f->job, op, key);
  sw_text_append(key, (const char *)rules, sizeof rules);
  for (int i = 0; i < op->n_operands; i++) {
    const sw_op *maker = waiting_maker(f, op->operands[i]);
    sw_sharding s;
    sw_text_puts(key, maker ? "(" : ")");
    if (maker) {
      context_key(f, maker, key);
    } else {
      sw_plan_value_sharding(f->plan, op->operands[i], &s);
      sw_sharding_key(&s, key);
      if (f->placed && stays_along(f, op->operands[i]) != f->kept) sw_text_puts(key, "w");
    }
  }
}

static sw_rc choose_alike(sw_follower *f, const sw_op *op, sw_diag *d) {
  sw_enumeration e;
  int64_t *slot, choice;
  bool fresh;
  SW_TRY(sw_follow_strategies(f, op, &e, d));
  f->key.n = 0;
  context_key(f, op, &f->key);
  if (f->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  SW_TRY(sw_dict_put(&f->known->chosen, f->key.at, f->key.n, -1, &slot, &fresh, d));
  choice = *slot;
  if (fresh) {
    SW_TRY(find_cheapest_strategy(f, op, &e, &(sw_demands){0}, &choice, d));
    *slot = choice;
  }
  if (choice >= 0) f->plan->ops[op - f->job.graph->ops] = e.at[choice];
  return SW_OK;
}

sw_rc sw_follow_settle(sw_follower *f, sw_id id, sw_diag *d) {
  f->waits[id] = 0;
  return settle_operands(f, &f->job.graph->ops[id], d);
}

sw_rc sw_follow_op(sw_follower *f, sw_id id, sw_diag *d) {
  const sw_op *op = &f->job.graph->ops[id];
  const sw_id leader = sw_op_tied_to(f->job.graph, id);
  const bool of_stack = op->code == SW_OP_OFFLOAD && op->frame >= 0;
  if (sw_op_is_on_host(f->job.graph, op)) return sw_follow_settle(f, id, d); /* as what is offloaded decides */
  if (leader >= 0) {
    if (f->waits[leader]) SW_TRY(sw_follow_op(f, leader, d)); /* nothing in the loop reads it */
    f->plan->ops[id] = f->plan->ops[leader];
    return sw_follow_settle(f, id, d);
  }
  if (sw_follow_is_asked(f, id)) {
    SW_TRY(choose_asked(f, op, d));
    state_ports(f, op);
  } else {
    SW_TRY(choose_alike(f, op, d));
  }
  if (of_stack) SW_TRY(sw_plan_cut_on_host(f->plan, id, &f->known->mem, d));
  return sw_follow_settle(f, id, d);
}

sw_rc sw_follow_between(sw_follower *f, sw_id id, sw_diag *d) {
  const sw_op *op = &f->job.graph->ops[id];
  SW_TRY(choose_asked(f, op, d));
  for (int i = 0; i < op->n_operands; i++) {
    if (!is_undecided(f, op->operands[i])) continue;
    const int32_t arg = f->job.graph->values[op->operands[i]].def_index;
    sw_strategy_operand(op, &f->plan->ops[id], i, &f->plan->args[arg]);
    f->plan->args[arg].n_partial = 0;
    f->fixed[arg] = true;
  }
  return SW_OK;
}

void sw_follow_deliver(sw_follower *f) {
  const sw_graph *g = f->job.graph;
  const sw_units units = sw_units_of(&f->job);
  const bool *given = f->given ? f->given->outputs : NULL;
  sw_plan_deliver(f->plan, given);
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_annotation *a = sw_follow_required(f->known, sw_unit_of_output(&units, i));
    const bool open = g->alias[i] < 0 && !(given && given[i]);
    if (open && a && !sw_annotation_admits(a, &f->plan->outputs[i])) f->plan->outputs[i] = a->sharding;
  }
}
