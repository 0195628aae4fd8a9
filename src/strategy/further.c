/* Strategies that a problem lacks, near a choice that it has led to.
 *
 * A strategy is judged by what the choice would cost with it in place of what is chosen: its own price, and what it
 * takes at least to bring its operands from what their makers give, and its results to what their readers want. Ops
 * that are alike have the same strategies: the best judgement among them counts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/selection_data.h"

/* A strategy, and what is lost by it. */
typedef struct judged {
  const sw_strategy *strategy;
  double loss_s;
} judged;

enum { MOST_JUDGED = 8 }; /* nodes of a kind: those further on are much the same */

/* Nodes that are alike. */
typedef struct kind {
  int32_t first; /* the node that stands for them */
  int32_t n, *nodes;
} kind;

typedef struct judge {
  const sw_selection *s;
  const int32_t *choice;
  sw_arena mem;
} judge;

/* False: nothing is read or made there. */
static bool chosen_sharding(const judge *j, sw_port at, sw_sharding *out) {
  const sw_option_set *c = j->s->options[at.unit];
  if (c->ports[at.port].id[j->choice[at.unit]] < 0) return false;
  *out = *sw_options_sharding(c, &j->s->prices, at.port, j->choice[at.unit]);
  return true;
}

/* Of a value, at least. */
static double route_s(const judge *j, sw_id value, const sw_sharding *from, const sw_sharding *to) {
  const sw_type *t = &j->s->job.graph->values[value].type;
  return sw_route_least_between_s(
             sw_route_prices_floors(j->s->prices.routes, sw_value_combines(j->s->job.kernels, value)), from, to,
             t->rank, t->dims, t->dtype) *
         (double)sw_value_repeats(j->s->job.graph, value);
}

/* What an op costs with a strategy, among what is chosen. */
static double cost_s(const judge *j, const sw_op *op, const sw_strategy *strategy, const sw_op_cost *own) {
  const sw_graph *g = j->s->job.graph;
  sw_sharding here, there;
  double sum = (own->local_s + own->move_s) * (double)op->repeats;
  for (int i = 0; i < op->n_operands; i++) {
    if (!sw_strategy_takes(strategy, i)) continue;
    sw_strategy_operand(op, strategy, i, &here);
    if (chosen_sharding(j, sw_value_made_at(&j->s->units, op->operands[i]), &there))
      sum += route_s(j, op->operands[i], &there, &here);
  }
  for (int i = 0; i < op->n_results; i++) {
    const sw_value *v = &g->values[op->results[i]];
    sw_strategy_result(op, strategy, i, &here);
    for (int32_t u = 0; u < v->n_uses; u++) {
      if (chosen_sharding(j, sw_use_taken_at(&j->s->units, v->uses[u]), &there))
        sum += route_s(j, op->results[i], &here, &there);
    }
  }
  return sum;
}

static int by_loss(const void *a, const void *b) {
  const judged *x = a, *y = b;
  if (x->loss_s != y->loss_s) return x->loss_s < y->loss_s ? -1 : 1;
  return (x->strategy > y->strategy) - (x->strategy < y->strategy);
}

static bool has_strategy(const sw_option_set *c, const sw_strategy *s) {
  for (int32_t k = 0; k < c->n; k++)
    if (sw_strategy_equal(&c->strategies[k], s)) return true;
  return false;
}

static int32_t n_judged(const kind *k) { return k->n < MOST_JUDGED ? k->n : MOST_JUDGED; }

/* The least loss among nodes of the kind. */
static double loss_of(const judge *j, const kind *k, const sw_strategy *strategy, const sw_op_cost *own,
                      const double *now_s) {
  double least = HUGE_VAL;
  for (int32_t i = 0; i < n_judged(k); i++) {
    const sw_op *op = &j->s->job.graph->ops[sw_unit_at(&j->s->units, k->nodes[i]).id];
    const double loss = cost_s(j, op, strategy, own) - now_s[i];
    if (loss < least) least = loss;
  }
  return least;
}

static sw_rc judge_kind(judge *j, const kind *k, int32_t most, sw_arena *arena, sw_further *out, sw_diag *d) {
  const sw_selection *s = j->s;
  const sw_op *op = &s->job.graph->ops[sw_unit_at(&s->units, k->first).id];
  const sw_option_set *have = s->options[k->first];
  sw_enumerate_options o = {.runs = SW_MAX_REFS, .even = s->o.enumerate.even};
  sw_enumeration all;
  judged *found;
  double now_s[MOST_JUDGED];
  int32_t n = 0;
  sw_strategy *kept;
  SW_TRY(sw_strategies_enumerate(&s->job, op, &o, &j->mem, &all, d));
  SW_ARENA_NEW(found, &j->mem, all.n, d);
  for (int32_t i = 0; i < n_judged(k); i++) {
    const sw_op *at = &s->job.graph->ops[sw_unit_at(&s->units, k->nodes[i]).id];
    sw_op_cost own;
    const sw_strategy *chosen = &have->strategies[j->choice[k->nodes[i]]];
    sw_strategy_cost(&s->job, at, chosen, &own);
    now_s[i] = cost_s(j, at, chosen, &own);
  }
  for (int32_t i = 0; i < all.n; i++) {
    if (all.at[i].takes < 0 || all.at[i].takes > 1 || has_strategy(have, &all.at[i])) continue; /* each way comes */
    found[n++] = (judged){&all.at[i], loss_of(j, k, &all.at[i], &all.cost[i], now_s)};
  }
  if (n) qsort(found, (size_t)n, sizeof *found, by_loss);
  n = n < most ? n : most;
  SW_ARENA_NEW(kept, arena, n, d);
  for (int32_t i = 0; i < n; i++) kept[i] = *found[i].strategy, kept[i].takes = 0;
  *out = (sw_further){.n = n, .strategies = kept};
  return SW_OK;
}

/* What further strategies of its readers want of an argument. */
static sw_rc further_of_argument(const judge *j, int32_t node, const int32_t *first_of, sw_arena *arena,
                                 sw_further *all, sw_diag *d) {
  const sw_unit unit = sw_unit_at(&j->s->units, node);
  const sw_value *v = &j->s->job.graph->values[unit.makes[0]];
  int32_t n = 0;
  sw_sharding *list;
  for (int32_t u = 0; u < v->n_uses; u++)
    if (v->uses[u].op >= 0) n += all[first_of[sw_use_taken_at(&j->s->units, v->uses[u]).unit]].n;
  SW_ARENA_NEW(list, arena, n, d);
  n = 0;
  for (int32_t u = 0; u < v->n_uses; u++) {
    if (v->uses[u].op < 0) continue;
    const sw_further *f = &all[first_of[sw_use_taken_at(&j->s->units, v->uses[u]).unit]];
    for (int32_t i = 0; i < f->n; i++) {
      sw_strategy_operand(&j->s->job.graph->ops[v->uses[u].op], &f->strategies[i], v->uses[u].index, &list[n]);
      n += list[n].n_partial == 0;
    }
  }
  all[node] = (sw_further){.n = n, .shardings = list};
  return SW_OK;
}

static sw_rc list_kinds(judge *j, kind **kinds, int32_t *n_kinds, int32_t *first_of, sw_diag *d) {
  const sw_selection *s = j->s;
  const int32_t n = s->units.n;
  int32_t *kind_of;
  sw_dict seen = {0};
  sw_rc rc = SW_OK;
  SW_ARENA_NEW_EACH(&j->mem, n, d, *kinds, kind_of);
  *n_kinds = 0;
  for (int32_t i = 0; i < n && !rc; i++) {
    int64_t *slot;
    bool fresh;
    rc = sw_dict_put(&seen, &s->options[i], sizeof s->options[i], *n_kinds, &slot, &fresh, d);
    if (rc) break;
    if (fresh) (*kinds)[(*n_kinds)++] = (kind){.first = i};
    kind_of[i] = (int32_t)*slot;
    first_of[i] = (*kinds)[*slot].first;
    (*kinds)[*slot].n++;
  }
  sw_dict_deinit(&seen);
  if (rc) return rc;
  for (int32_t k = 0; k < *n_kinds; k++) {
    SW_ARENA_NEW((*kinds)[k].nodes, &j->mem, (*kinds)[k].n, d);
    (*kinds)[k].n = 0;
  }
  for (int32_t i = 0; i < n; i++) {
    kind *k = &(*kinds)[kind_of[i]];
    k->nodes[k->n++] = i;
  }
  return SW_OK;
}

static sw_rc find_further(judge *j, int32_t most, sw_arena *arena, sw_further *out, sw_diag *d) {
  const sw_units *units = &j->s->units;
  kind *kinds;
  int32_t n, *first_of;
  SW_ARENA_NEW(first_of, &j->mem, units->n, d);
  SW_TRY(list_kinds(j, &kinds, &n, first_of, d));
  for (int32_t k = 0; k < n; k++)
    if (sw_unit_at(units, kinds[k].first).kind == SW_UNIT_OP)
      SW_TRY(judge_kind(j, &kinds[k], most, arena, &out[kinds[k].first], d));
  for (int32_t k = 0; k < n; k++)
    if (sw_unit_at(units, kinds[k].first).kind == SW_UNIT_ARGUMENT)
      SW_TRY(further_of_argument(j, kinds[k].first, first_of, arena, out, d));
  return SW_OK;
}

sw_rc sw_selection_further(const sw_selection *s, const int32_t *choice, int32_t most, sw_arena *arena,
                           const sw_further **out, sw_diag *d) {
  judge j = {.s = s, .choice = choice};
  sw_further *all;
  SW_ARENA_NEW(all, arena, s->units.n, d);
  *out = all;
  sw_rc rc = find_further(&j, most, arena, all, d);
  sw_arena_deinit(&j.mem);
  return rc;
}
