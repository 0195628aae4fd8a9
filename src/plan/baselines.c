/* Plans that people write by hand, from the roles of arguments, for comparison with the search.
 *
 * Arguments get their shardings from a rule; every op then takes, in program order, the strategy that is cheapest given
 * what its operands are cut like by then (ties: fewer bytes of results), and a partial result is completed by whoever
 * uses it next. No op looks ahead: that is what the search is for. But constants and broadcasts wait for their first
 * use and are made as it wants them, as nobody would write a plan that communicates a constant.
 *
 * A plan of which parts are given is completed in the same way, except that an op also looks at those that use its
 * results and are given.
 */
#include <math.h>
#include <string.h>

#include "shardwright/plan.h"
#include "base/array.h"
#include "base/checked.h"
#include "base/hash.h"
#include "plan/value_class.h"
#include "reshard/least.h"

enum { MOST_WAITING = 100 }; /* ops that wait for one use, each as often as it is used on the way there */

/* What any plan made by rule asks of a graph on a machine: it is the same for all of them. */
typedef struct known {
  sw_arena mem;
  const uint8_t *class_of; /* by value: sw_memory_class */
  int64_t batch;           /* extent of the first dimension of the first input, 0 when there is none */
  sw_dict classes;
  SW_ARRAY(sw_enumeration) enumerations;
  sw_dict prices;
  SW_ARRAY(double) seconds;
  const sw_route_floors *floors[2]; /* by whether collectives are parts of calls; NULL: not asked for yet */
  sw_dict chosen;                   /* context of an op -> index into its enumeration */
  struct { /* weights that the last plan leaves whole, or cuts elsewhere, where its rule would cut */
    int32_t n;
    sw_id first;
    int dim;
    int64_t shards;
  } uncut;
} known;

typedef struct follower {
  const sw_graph *g;
  const sw_machine *machine;
  const sw_mesh *mesh;
  sw_baseline kind;
  known *known;
  const sw_plan_given *given; /* NULL: nothing is, a rule says how arguments are cut */
  sw_plan *plan;
  bool *fixed;    /* by argument: its sharding is decided */
  uint8_t *waits; /* by op: can_wait, until it is decided */
  bool patient;   /* such ops exist */
  sw_text key;
} follower;

static const char *const kTexts[SW_BASELINE_COUNT] = {"replicated", "data-parallel", "megatron", "fsdp", "zero1"};
const char *sw_baseline_text(sw_baseline b) { return kTexts[b]; }

/* --- rules for arguments ----------------------------------------------------------------------------------------- */

/* Cut dim 0 over the axes in order, as many as divide it, leaving out the last `spare` axes. */
static void cut_batch(const follower *f, const sw_value *v, int spare, sw_sharding *out) {
  int64_t shards = 1;
  for (int a = 0; v->type.rank > 0 && a < f->mesh->n_axes - spare; a++) {
    int64_t more = shards * f->mesh->axis[a].size;
    if (f->mesh->axis[a].size < 2 || v->type.dims[0] % more) continue;
    (void)sw_sharding_push(out, 0, sw_axis_whole(f->mesh, a));
    shards = more;
  }
}

/* Cut the largest dimension that all axes together divide; when none, that as many as possible do. */
static void cut_everywhere(const follower *f, const sw_value *v, sw_sharding *out) {
  int best = -1;
  for (int k = 0; k < v->type.rank; k++) {
    bool divides = v->type.dims[k] > 0 && v->type.dims[k] % sw_mesh_devices(f->mesh) == 0;
    if (divides && (best < 0 || v->type.dims[k] > v->type.dims[best])) best = k;
  }
  int64_t shards = 1;
  for (int k = 0; best < 0 && k < v->type.rank; k++) {
    if (v->type.dims[k] % 2 == 0 && v->type.dims[k] > 1) best = k;
  }
  for (int a = 0; best >= 0 && a < f->mesh->n_axes; a++) {
    int64_t more = shards * f->mesh->axis[a].size;
    if (f->mesh->axis[a].size < 2 || v->type.dims[best] % more) continue;
    (void)sw_sharding_push(out, best, sw_axis_whole(f->mesh, a));
    shards = more;
  }
}

/* Inputs, and state that has the batch in front (a cache), follow the batch. */
static bool follows_batch(const follower *f, sw_id arg) {
  const sw_value *v = &f->g->values[arg];
  if (v->kind == SW_VALUE_INPUT) return true;
  return f->known->class_of[arg] == SW_MEMORY_STATE && v->type.rank >= 3 && f->known->batch > 1 &&
         v->type.dims[0] == f->known->batch;
}

static void place_args(follower *f) {
  const sw_graph *g = f->g;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    bool batch = follows_batch(f, g->args[i]);
    f->fixed[i] = true;
    if (f->kind == SW_BASELINE_REPLICATED) continue;
    if (batch) cut_batch(f, v, f->kind == SW_BASELINE_MEGATRON ? 1 : 0, &f->plan->args[i]);
    if (!batch && f->kind == SW_BASELINE_MEGATRON && v->type.rank >= 2) f->fixed[i] = false;
  }
}

/* --- following --------------------------------------------------------------------------------------------------- */

/* By value: pricing one op may enumerate others, and the array moves. */
static sw_rc strategies_of(follower *f, const sw_op *op, sw_enumeration *out, sw_diag *d) {
  f->key.n = 0;
  sw_op_class_key(f->g, op, &f->key);
  if (f->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  int64_t *slot;
  bool fresh;
  SW_TRY(sw_dict_put(&f->known->classes, f->key.at, f->key.n, (int64_t)f->known->enumerations.n, &slot, &fresh, d));
  if (fresh) {
    sw_enumeration e;
    const sw_enumerate_options o = {.runs = 2}; /* by rule, axes go together, but for the last */
    SW_TRY(sw_strategies_enumerate(f->g, op, f->machine, &o, &f->known->mem, &e, d));
    SW_TRY(sw_array_push(&f->known->enumerations, e, d));
  }
  *out = f->known->enumerations.at[*slot];
  return SW_OK;
}

/* Infinity where it is more than enough, which often is known without a search. */
static sw_rc price(follower *f, sw_id value, const sw_sharding *from, const sw_sharding *to, double enough, double *out,
                   sw_diag *d) {
  const sw_type *type = &f->g->values[value].type;
  const sw_machine *machine = sw_value_machine(f->g, f->machine, value);
  const bool combines = machine != f->machine;
  const sw_route_floors **floors = &f->known->floors[combines];
  *out = 0;
  if (sw_sharding_equal(from, to)) return SW_OK;
  f->key.n = 0;
  sw_text_append(&f->key, (const char *)&combines, sizeof combines);
  sw_text_append(&f->key, (const char *)&type->dtype, sizeof type->dtype);
  sw_text_append(&f->key, (const char *)type->dims, (size_t)type->rank * sizeof *type->dims);
  sw_sharding_key(from, &f->key);
  sw_sharding_key(to, &f->key);
  if (f->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  const int64_t *asked = sw_dict_get(&f->known->prices, f->key.at, f->key.n);
  if (asked) {
    *out = f->known->seconds.at[*asked];
    return SW_OK;
  }
  const double kRounding = 1e-9;
  if (!*floors) SW_TRY(sw_route_floors_make(machine, &f->known->mem, floors, d));
  *out = sw_route_least_between_s(*floors, from, to, type->rank, type->dims, type->dtype);
  if (*out * (1 - kRounding) > enough) {
    *out = INFINITY;
    return SW_OK;
  }
  const sw_dtype moved = sw_sharding_moved_as(from, to, type->dtype);
  *out = sw_route_cost_s(&(sw_reshard){machine, from, to, type->rank, type->dims, moved, {0}});
  SW_TRY(sw_array_push(&f->known->seconds, *out, d));
  return sw_dict_put(&f->known->prices, f->key.at, f->key.n, (int64_t)f->known->seconds.n - 1, NULL, NULL, d);
}

static bool keeps_partials(const sw_op *op, const sw_strategy *s) {
  for (int i = 0; i < s->n_refs; i++) {
    if (s->loop_of[i] >= op->nest->n_loops) return true;
  }
  return false;
}

static sw_rc cost_here(follower *f, const sw_op *op, const sw_strategy *s, const sw_op_cost *own, double enough,
                       double *out, sw_diag *d);

/* The op that makes a value, if it still waits. */
static const sw_op *waiting_maker(const follower *f, sw_id value) {
  sw_id def = f->g->values[value].def;
  return def >= 0 && f->waits[def] ? &f->g->ops[def] : NULL;
}

/* The cheapest strategy that makes the op's result as wanted; *best NULL when there is none. */
static sw_rc make_as(follower *f, const sw_op *op, const sw_sharding *wanted, const sw_strategy **best, double *seconds,
                     sw_diag *d) {
  sw_enumeration e;
  *best = NULL;
  *seconds = INFINITY;
  SW_TRY(strategies_of(f, op, &e, d));
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
static bool is_undecided(const follower *f, sw_id value) {
  const sw_value *v = &f->g->values[value];
  return f->given && v->def < 0 && !f->fixed[v->def_index];
}

static sw_rc cost_of_operand(follower *f, sw_id value, const sw_sharding *to, double enough, double *out, sw_diag *d) {
  const sw_op *maker = waiting_maker(f, value);
  const sw_strategy *best = NULL;
  sw_sharding from;
  *out = 0;
  if (is_undecided(f, value)) return SW_OK;
  if (maker) SW_TRY(make_as(f, maker, to, &best, out, d));
  if (best) return SW_OK;
  sw_plan_value_sharding(f->plan, value, &from);
  return price(f, value, &from, to, enough, out, d);
}

static bool is_given_use(const follower *f, sw_value_use use) {
  return use.op < 0 ? f->given->outputs[use.index] : f->given->ops[use.op];
}

/* What moving the results to the uses that are given costs. */
static sw_rc cost_of_uses(follower *f, const sw_op *op, const sw_strategy *s, double enough, double *out, sw_diag *d) {
  *out = 0;
  for (int i = 0; f->given && i < op->n_results; i++) {
    const sw_value *v = &f->g->values[op->results[i]];
    sw_sharding made;
    sw_strategy_result(op, s, i, &made);
    for (int32_t u = 0; u < v->n_uses && *out < INFINITY; u++) {
      sw_sharding to;
      double more;
      if (!is_given_use(f, v->uses[u])) continue;
      sw_plan_taken_sharding(f->plan, v->uses[u], &to);
      SW_TRY(price(f, op->results[i], &made, &to, enough - *out, &more, d));
      *out += more;
    }
  }
  return SW_OK;
}

/* Infinity where it is more than enough. */
static sw_rc cost_here(follower *f, const sw_op *op, const sw_strategy *s, const sw_op_cost *own, double enough,
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
  if (f->given && *out < INFINITY) {
    double more;
    SW_TRY(cost_of_uses(f, op, s, enough - *out, &more, d));
    *out += more;
  }
  return SW_OK;
}

/* What the operands of a decided op waited for is known now. */
static sw_rc settle_operands(follower *f, const sw_op *op, sw_diag *d) {
  for (int i = 0; i < op->n_operands; i++) {
    const sw_op *maker = waiting_maker(f, op->operands[i]);
    const sw_strategy *best;
    sw_sharding to;
    double seconds;
    if (!maker) continue;
    sw_strategy_operand(op, &f->plan->ops[op - f->g->ops], i, &to);
    SW_TRY(make_as(f, maker, &to, &best, &seconds, d));
    if (best) f->plan->ops[maker - f->g->ops] = *best;
    f->waits[maker - f->g->ops] = 0;
    SW_TRY(settle_operands(f, maker, d));
  }
  return SW_OK;
}

/* How many ops are tried together when this one waits for its use, for constants, broadcasts, and what is computed from
 * constants alone; else 0. What is computed in too many steps does not wait: c + c doubles them with every step. */
static uint8_t can_wait(const follower *f, const sw_op *op) {
  int together = 1;
  if (!f->patient || op->n_results != 1 || sw_op_tied_to(f->g, (sw_id)(op - f->g->ops)) >= 0) return 0;
  for (int i = 0; i < op->n_operands && together <= MOST_WAITING; i++) {
    const sw_op *maker = waiting_maker(f, op->operands[i]);
    if (!maker && op->code != SW_OP_BROADCAST) return 0;
    if (maker) together += f->waits[maker - f->g->ops];
  }
  return together <= MOST_WAITING ? (uint8_t)together : 0;
}

static double result_bytes(const follower *f, const sw_op *op, const sw_strategy *s) {
  double b = 0;
  for (int i = 0; i < op->n_results; i++) {
    sw_sharding sh;
    const sw_type *t = sw_result_type(f->g, op, i);
    sw_strategy_result(op, s, i, &sh);
    b += (double)sw_sharding_held_bytes(&sh, t->dims, t->dtype);
  }
  return b;
}

static sw_rc cheapest(follower *f, const sw_op *op, const sw_enumeration *e, int64_t *out, sw_diag *d) {
  double best = INFINITY, best_bytes = INFINITY;
  *out = -1;
  for (int32_t i = 0; i < e->n; i++) {
    if (keeps_partials(op, &e->at[i])) continue;
    double cost, bytes = result_bytes(f, op, &e->at[i]);
    SW_TRY(cost_here(f, op, &e->at[i], &e->cost[i], best, &cost, d));
    if (cost > best || (cost == best && bytes >= best_bytes)) continue;
    best = cost;
    best_bytes = bytes;
    *out = i;
  }
  return SW_OK;
}

/* All that a choice hangs on: the op, and how its operands are cut or what would make them. */
static void context_key(const follower *f, const sw_op *op, sw_text *key) {
  sw_op_class_key(f->g, op, key);
  for (int i = 0; i < op->n_operands; i++) {
    const sw_op *maker = waiting_maker(f, op->operands[i]);
    sw_sharding s;
    sw_text_puts(key, maker ? "(" : ")");
    if (maker) {
      context_key(f, maker, key);
    } else {
      sw_plan_value_sharding(f->plan, op->operands[i], &s);
      sw_sharding_key(&s, key);
    }
  }
}

static sw_rc follow(follower *f, sw_id id, sw_diag *d) {
  const sw_op *op = &f->g->ops[id];
  sw_id leader = sw_op_tied_to(f->g, id);
  if (leader >= 0) {
    f->plan->ops[id] = f->plan->ops[leader];
    return settle_operands(f, op, d);
  }
  sw_enumeration e;
  int64_t *slot, choice;
  bool fresh;
  SW_TRY(strategies_of(f, op, &e, d));
  f->key.n = 0;
  context_key(f, op, &f->key);
  if (f->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  SW_TRY(sw_dict_put(&f->known->chosen, f->key.at, f->key.n, -1, &slot, &fresh, d));
  choice = *slot;
  if (fresh) {
    SW_TRY(cheapest(f, op, &e, &choice, d));
    *slot = choice;
  }
  if (choice >= 0) f->plan->ops[id] = e.at[choice];
  f->waits[id] = 0;
  return settle_operands(f, op, d);
}

/* --- Megatron: weights by columns, or by rows where the other factor is already cut along what is summed ---------- */

static bool ints_contain(const int64_t *at, int n, int64_t x) {
  for (int i = 0; i < n; i++) {
    if (at[i] == x) return true;
  }
  return false;
}

static bool cut_last_axis_of(const follower *f, sw_id value, const int64_t *dims, int n) {
  sw_sharding s;
  sw_plan_value_sharding(f->plan, value, &s);
  for (int i = 0; i < s.n_refs; i++) {
    if (s.refs[i].axis == f->mesh->n_axes - 1 && ints_contain(dims, n, s.dim_of[i])) return true;
  }
  return false;
}

static void say_uncut(follower *f, sw_id weight, int dim, int64_t shards) {
  if (f->known->uncut.n++) return;
  f->known->uncut.first = weight;
  f->known->uncut.dim = dim;
  f->known->uncut.shards = shards;
}

static void place_weight(follower *f, const sw_op *op, int which) {
  const sw_value *w = &f->g->values[op->operands[which]];
  if (w->def >= 0 || f->fixed[w->def_index]) return;
  int n_mine, n_other, n_batch;
  const int64_t *mine = sw_op_ints(op, which ? SW_ATTR_RHS_CONTRACT : SW_ATTR_LHS_CONTRACT, &n_mine);
  const int64_t *other = sw_op_ints(op, which ? SW_ATTR_LHS_CONTRACT : SW_ATTR_RHS_CONTRACT, &n_other);
  const int64_t *batch = sw_op_ints(op, which ? SW_ATTR_RHS_BATCH : SW_ATTR_LHS_BATCH, &n_batch);
  bool rows = cut_last_axis_of(f, op->operands[1 - which], other, n_other);
  sw_axis_ref last = sw_axis_whole(f->mesh, f->mesh->n_axes - 1);
  f->fixed[w->def_index] = true;
  for (int k = 0; k < w->type.rank; k++) {
    bool wanted =
        rows ? ints_contain(mine, n_mine, k) : !ints_contain(mine, n_mine, k) && !ints_contain(batch, n_batch, k);
    if (!wanted) continue;
    if (w->type.dims[k] % last.size) {
      say_uncut(f, op->operands[which], k, last.size);
      continue;
    }
    (void)sw_sharding_push(&f->plan->args[w->def_index], k, last);
    return;
  }
}

static void place_table(follower *f, const sw_op *op) {
  const sw_value *w = &f->g->values[op->operands[0]];
  if (w->def >= 0 || f->fixed[w->def_index]) return;
  sw_axis_ref last = sw_axis_whole(f->mesh, f->mesh->n_axes - 1);
  f->fixed[w->def_index] = true;
  if (w->type.dims[0] >= last.size) (void)sw_sharding_push(&f->plan->args[w->def_index], 0, last);
}

static sw_rc follow_all(follower *f, sw_diag *d) {
  const sw_graph *g = f->g;
  for (int32_t i = 0; f->kind != SW_BASELINE_REPLICATED && i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    bool megatron = f->kind == SW_BASELINE_MEGATRON && f->mesh->n_axes > 0;
    if (megatron && op->code == SW_OP_DOT) {
      place_weight(f, op, 1);
      place_weight(f, op, 0);
    }
    if (megatron && op->code == SW_OP_GATHER) place_table(f, op);
    f->waits[i] = can_wait(f, op);
    if (!f->waits[i]) SW_TRY(follow(f, i, d));
  }
  for (int32_t i = g->n_ops - 1; i >= 0; i--) { /* those that only outputs use */
    if (f->waits[i]) SW_TRY(follow(f, i, d));
  }
  return SW_OK;
}

static int64_t shards_of(const sw_sharding *s) {
  int64_t n = 1;
  for (int i = 0; i < s->n_refs; i++) n *= s->refs[i].size;
  return n;
}

/* Where a state's new value came out cut as far as the rule asks, along another dimension, it stays where it is. */
static void keep_update(const follower *f, int32_t output) {
  sw_sharding made;
  sw_sharding *of_arg = &f->plan->args[f->g->values[f->g->alias[output]].def_index];
  sw_plan_value_sharding(f->plan, f->g->outputs[output], &made);
  if (made.n_partial == 0 && shards_of(&made) >= shards_of(of_arg)) *of_arg = made;
}

/* Parts are converted, and gathered in the type that is used. */
static sw_rc convert_parts(follower *f, const sw_value *arg, sw_diag *d) {
  for (int32_t i = 0; i < arg->n_uses; i++) {
    const sw_op *op = arg->uses[i].op < 0 ? NULL : &f->g->ops[arg->uses[i].op];
    if (!op || op->code != SW_OP_CONVERT || sw_op_tied_to(f->g, arg->uses[i].op) >= 0) continue;
    sw_enumeration e;
    SW_TRY(strategies_of(f, op, &e, d));
    for (int32_t k = 0; k < e.n; k++) {
      sw_sharding wanted;
      sw_strategy_operand(op, &e.at[k], 0, &wanted);
      if (!sw_sharding_equal(&wanted, &f->plan->args[arg->def_index])) continue;
      f->plan->ops[arg->uses[i].op] = e.at[k];
      break;
    }
  }
  return SW_OK;
}

/* State that ops use in a narrower type alone. */
static bool is_master(const follower *f, const sw_value *v) {
  const sw_graph *g = f->g;
  bool converted = false;
  for (int32_t i = 0; i < v->n_uses; i++) {
    const sw_op *op = v->uses[i].op < 0 ? NULL : &g->ops[v->uses[i].op];
    if (op && op->code == SW_OP_CONVERT)
      converted = converted || sw_dtype_bits(sw_result_type(g, op, 0)->dtype) < sw_dtype_bits(v->type.dtype);
  }
  return v->kind == SW_VALUE_STATE && converted;
}

/* Does the argument live cut over everything, whoever uses it? */
static bool lives_cut(const follower *f, sw_id arg) {
  const sw_value *v = &f->g->values[arg];
  if (f->kind == SW_BASELINE_FSDP) return !follows_batch(f, arg);
  if (f->kind != SW_BASELINE_ZERO1) return false;
  const uint8_t class_of = f->known->class_of[arg];
  return class_of == SW_MEMORY_OPTIMIZER || (class_of == SW_MEMORY_PARAMETERS && is_master(f, v));
}

/* What lives cut is gathered where it is used whole. */
static sw_rc shard_state(follower *f, sw_diag *d) {
  const sw_graph *g = f->g;
  for (int32_t i = 0; i < g->n_args; i++) {
    if (lives_cut(f, g->args[i])) cut_everywhere(f, &g->values[g->args[i]], &f->plan->args[i]);
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    if (g->alias[i] >= 0 && lives_cut(f, g->alias[i])) keep_update(f, i);
  }
  for (int32_t i = 0; i < g->n_args; i++) {
    if (lives_cut(f, g->args[i])) SW_TRY(convert_parts(f, &g->values[g->args[i]], d));
  }
  return SW_OK;
}

static void place_outputs(follower *f) {
  const sw_graph *g = f->g;
  for (int32_t i = 0; i < g->n_outputs; i++) {
    if (g->alias[i] >= 0) {
      f->plan->outputs[i] = f->plan->args[g->values[g->alias[i]].def_index];
    } else {
      sw_plan_value_sharding(f->plan, g->outputs[i], &f->plan->outputs[i]);
      f->plan->outputs[i].n_partial = 0;
    }
  }
}

/* --- completing -------------------------------------------------------------------------------------------------- */

/* Arguments that are not given arrive as they are required to, or as the first given op takes them. */
static void place_open_args(follower *f) {
  const sw_graph *g = f->g;
  for (int32_t i = 0; i < g->n_args; i++) f->fixed[i] = f->given->args[i];
  for (int32_t k = 0; k < g->n_annotations; k++) {
    const sw_annotation *a = &g->annotations[k];
    if (!a->required || a->for_users || a->value < 0 || g->values[a->value].def >= 0) continue;
    const int32_t i = g->values[a->value].def_index;
    if (f->fixed[i]) continue;
    f->plan->args[i] = a->sharding;
    f->fixed[i] = true;
  }
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    for (int32_t u = 0; u < v->n_uses && !f->fixed[i]; u++) {
      if (v->uses[u].op < 0 || !is_given_use(f, v->uses[u])) continue;
      sw_plan_taken_sharding(f->plan, v->uses[u], &f->plan->args[i]);
      f->plan->args[i].n_partial = 0;
      f->fixed[i] = true;
    }
  }
}

static sw_rc choose(follower *f, sw_id id, sw_diag *d) {
  const sw_op *op = &f->g->ops[id];
  sw_enumeration e;
  int64_t choice;
  SW_TRY(strategies_of(f, op, &e, d));
  SW_TRY(cheapest(f, op, &e, &choice, d));
  if (choice >= 0) f->plan->ops[id] = e.at[choice];
  for (int i = 0; i < op->n_operands; i++) {
    if (!is_undecided(f, op->operands[i])) continue;
    const int32_t arg = f->g->values[op->operands[i]].def_index;
    sw_strategy_operand(op, &f->plan->ops[id], i, &f->plan->args[arg]);
    f->plan->args[arg].n_partial = 0;
    f->fixed[arg] = true;
  }
  return SW_OK;
}

static sw_rc choose_all(follower *f, sw_diag *d) {
  const sw_graph *g = f->g;
  place_open_args(f);
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_id leader = sw_op_tied_to(g, i);
    if (leader >= 0)
      f->plan->ops[i] = f->plan->ops[leader];
    else if (!f->given->ops[i])
      SW_TRY(choose(f, i, d));
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    if (g->alias[i] >= 0) {
      f->plan->outputs[i] = f->plan->args[g->values[g->alias[i]].def_index];
    } else if (!f->given->outputs[i]) {
      sw_plan_value_sharding(f->plan, g->outputs[i], &f->plan->outputs[i]);
      f->plan->outputs[i].n_partial = 0;
    }
  }
  return SW_OK;
}

static sw_rc known_init(known *k, const sw_graph *g, sw_diag *d) {
  for (int32_t i = g->n_args - 1; i >= 0; i--) {
    const sw_value *v = &g->values[g->args[i]];
    if (v->kind == SW_VALUE_INPUT && v->type.rank > 0) k->batch = v->type.dims[0];
  }
  return sw_classify_values(g, &k->mem, &k->class_of, d);
}

static void known_deinit(known *k) {
  sw_dict_deinit(&k->classes);
  sw_dict_deinit(&k->prices);
  sw_dict_deinit(&k->chosen);
  sw_array_free(&k->enumerations);
  sw_array_free(&k->seconds);
  sw_arena_deinit(&k->mem);
}

static sw_rc build(const sw_graph *g, const sw_machine *machine, sw_baseline b, bool patient, known *k, sw_arena *arena,
                   sw_plan *out, sw_diag *d) {
  follower f = {.g = g,
                .machine = machine,
                .mesh = sw_machine_mesh(machine),
                .kind = b,
                .patient = patient,
                .known = k,
                .plan = out};
  SW_TRY(sw_plan_build(g, machine, arena, out, d));
  out->origin = kTexts[b];
  k->uncut.n = 0;
  f.fixed = sw_mem_alloc((size_t)g->n_args, sizeof *f.fixed, d);
  f.waits = sw_mem_alloc((size_t)g->n_ops, sizeof *f.waits, d);
  sw_rc rc = f.fixed && f.waits ? SW_OK : SW_E_RESOURCE;
  if (!rc) place_args(&f);
  if (!rc) rc = follow_all(&f, d);
  if (!rc) rc = shard_state(&f, d);
  if (!rc) place_outputs(&f);
  sw_mem_free(f.fixed);
  sw_mem_free(f.waits);
  sw_text_free(&f.key);
  return rc;
}

/* Strategies that were enumerated die with what is known, but for those chosen, which are values; unequal blocks are
 * never among them. */
sw_rc sw_plan_complete(sw_plan *p, const sw_plan_given *given, sw_diag *d) {
  known k = {0};
  follower f = {.g = p->graph,
                .machine = p->machine,
                .mesh = sw_machine_mesh(p->machine),
                .kind = SW_BASELINE_COUNT,
                .known = &k,
                .given = given,
                .plan = p};
  f.fixed = sw_mem_alloc((size_t)p->graph->n_args, sizeof *f.fixed, d);
  f.waits = sw_mem_alloc((size_t)p->graph->n_ops, sizeof *f.waits, d);
  sw_rc rc = f.fixed && f.waits ? choose_all(&f, d) : SW_E_RESOURCE;
  sw_mem_free(f.fixed);
  sw_mem_free(f.waits);
  sw_text_free(&f.key);
  known_deinit(&k);
  return rc;
}

static sw_rc total_of(const sw_plan *p, double *out, sw_diag *d) {
  sw_arena scratch = {0};
  sw_breakdown a;
  sw_rc rc = sw_plan_breakdown(p, &scratch, &a, d);
  if (!rc) *out = a.total_s;
  sw_arena_deinit(&scratch);
  return rc;
}

/* Waiting is mostly better and not always: the cheaper plan is the one to beat. */
static sw_rc build_better(const sw_graph *g, const sw_machine *machine, sw_baseline b, known *k, sw_arena *arena,
                          sw_plan *out, sw_breakdown *breakdown, sw_diag *d) {
  sw_plan hasty;
  double total_s;
  SW_TRY(build(g, machine, b, true, k, arena, out, d));
  SW_TRY(sw_plan_breakdown(out, arena, breakdown, d));
  if (b == SW_BASELINE_REPLICATED) return SW_OK;
  SW_TRY(build(g, machine, b, false, k, arena, &hasty, d));
  SW_TRY(total_of(&hasty, &total_s, d));
  if (total_s >= breakdown->total_s) return SW_OK;
  *out = hasty;
  return sw_plan_breakdown(out, arena, breakdown, d);
}

sw_rc sw_baseline_build(const sw_graph *g, const sw_machine *machine, sw_baseline b, sw_arena *arena, sw_plan *out,
                        sw_diag *d) {
  sw_breakdown breakdown;
  known k = {0};
  sw_rc rc = known_init(&k, g, d);
  if (!rc) rc = build_better(g, machine, b, &k, arena, out, &breakdown, d);
  known_deinit(&k);
  return rc;
}

static sw_rc tell_uncut(const sw_graph *g, const known *k, sw_arena *arena, const char **out, sw_diag *d) {
  const sw_value *w = &g->values[k->uncut.first];
  const char *more = k->uncut.n > 1 ? sw_arena_printf(arena, d, ", nor do %d more", (int)k->uncut.n - 1) : "";
  if (!more) return SW_E_RESOURCE;
  *out = sw_arena_printf(arena, d, "%lld of '%s' do not divide by %lld%s", (long long)w->type.dims[k->uncut.dim],
                         w->name, (long long)k->uncut.shards, more);
  return *out ? SW_OK : SW_E_RESOURCE;
}

static sw_rc build_all(const sw_graph *g, const sw_machine *machine, known *k, sw_arena *arena, sw_comparison *c,
                       sw_diag *d) {
  for (int i = 0; i < SW_BASELINE_COUNT; i++) {
    sw_diag why = {0};
    c[i].name = kTexts[i];
    sw_rc rc = build_better(g, machine, (sw_baseline)i, k, arena, &c[i].plan, &c[i].breakdown, &why);
    if (rc == SW_E_RESOURCE) return SW_FAIL(d, rc, SW_NOWHERE, "%s", why.text);
    c[i].made = rc == SW_OK;
    if (c[i].made && k->uncut.n) SW_TRY(tell_uncut(g, k, arena, &c[i].uncut, d));
    if (!c[i].made || !sw_plan_verify(&c[i].plan, &why)) continue;
    c[i].breaks = sw_arena_copy(arena, why.text, strlen(why.text) + 1, 1, d);
    if (!c[i].breaks) return SW_E_RESOURCE;
  }
  return SW_OK;
}

sw_rc sw_baselines_build(const sw_graph *g, const sw_machine *machine, sw_arena *arena, const sw_comparison **out,
                         sw_diag *d) {
  sw_comparison *c;
  known k = {0};
  SW_ARENA_NEW(c, arena, SW_BASELINE_COUNT, d);
  sw_rc rc = known_init(&k, g, d);
  if (!rc) rc = build_all(g, machine, &k, arena, c, d);
  known_deinit(&k);
  *out = c;
  return rc;
}
