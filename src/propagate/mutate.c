/* The RFC's mutation loop: shardings start from what is annotated, and are changed an op at a time.
 *
 *   1. the annotations are propagated: the first plan
 *   2. it is judged: what is moved, what is computed twice, what a device holds
 *   3. an op, or all ops of its kind (a layer's in every layer), is given another sharding option, at random, or an
 *      option that it was given before is taken away
 *   4. annotations and options are propagated anew, and judged: the new plan stays if it is better, or not much worse
 *   5. again from 3; the answer is the best plan met
 *
 * How much worse a plan may be shrinks with the number of changes tried, not with the limit: a longer run begins as a
 * shorter one, and ends no worse.
 */
#include <math.h>

#include "propagate/by_rule.h"
#include "base/array.h"
#include "base/hash.h"
#include "shardwright/clock.h"

/* What an op had before the round. */
typedef struct undo {
  sw_id op;
  bool given;
  sw_strategy option;
} undo;

/* Ops of one kind have one loop nest (graph.h): they have the same options. */
typedef struct kind {
  const sw_loop_nest *nest;
  int32_t first, n;           /* members[first .. first + n) */
  const sw_strategy *options; /* found when they are first asked for */
  int32_t n_options;
} kind;

typedef struct loop {
  sw_job job;
  const sw_mutate_options *o;
  sw_arena *arena;  /* of kinds and options */
  sw_request trial; /* with the options as hints */
  sw_annotation *annotations;
  int32_t *loop_of; /* SW_MAX_REFS for each op that has an option */
  bool *left;
  kind *kinds;
  sw_id *members;
  int32_t *kind_of; /* by op; -1: its option stays */
  int32_t n_kinds;
  bool *given;          /* by op: it has an option */
  sw_strategy *options; /* by op */
  int32_t n_given;
  SW_ARRAY(undo) undone;
  bool *best_given; /* those of the best plan met */
  sw_strategy *best_options;
  double byte_s, flop_s, held_s; /* of a byte received by one device, of a flop, of a byte read */
  sw_rng rng;
  sw_diag *d;
} loop;

/* --- judging ------------------------------------------------------------------------------------------------------ */

/* What the machine says that bytes and flops are worth: an all_gather over the whole mesh, and the model's heaviest
 * op. */
static void find_rates(loop *l) {
  const double kBytes = 1 << 30, kFlops = 1e15; /* so many that what a call takes to begin is nothing */
  const sw_mesh *m = sw_machine_mesh(l->job.machine);
  const double devices = (double)sw_mesh_devices(m);
  sw_axis_ref all[SW_MAX_AXES];
  double most = -1;
  sw_dtype dtype = SW_F32; /* that most is computed in */
  for (int a = 0; a < m->n_axes; a++) all[a] = sw_axis_whole(m, a);
  for (sw_id id = 0; id < l->job.graph->n_ops; id++) {
    const sw_op *op = &l->job.graph->ops[id];
    double flops = 0, bytes;
    if (op->nest && op->n_results) sw_op_work(l->job.graph, op, NULL, &flops, &bytes);
    if (flops <= most) continue;
    most = flops;
    if (op->n_results) dtype = sw_result_type(l->job.graph, op, 0)->dtype;
  }
  const double received = kBytes * (devices - 1) / devices;
  l->byte_s =
      devices > 1 ? sw_machine_collective_s(l->job.machine, SW_COLL_ALL_GATHER, all, m->n_axes, kBytes) / received : 0;
  l->flop_s = sw_machine_local_s(l->job.machine, dtype, kFlops, 0) / kFlops;
  l->held_s = sw_machine_local_s(l->job.machine, dtype, 0, kFlops) / kFlops;
}

static sw_rc judge_mutated_plan(const loop *l, const sw_plan *plan, sw_mutate_measures *out) {
  const double devices = (double)sw_mesh_devices(sw_machine_mesh(l->job.machine));
  sw_arena scratch = {0};
  sw_breakdown a;
  sw_rc rc = sw_plan_breakdown(plan, &scratch, &a, l->d);
  if (!rc) {
    out->moved_bytes = a.moved_bytes;
    out->redundant_flops = sw_breakdown_redundant_flops(&a, l->job.machine);
    out->peak_bytes = a.peak_bytes;
    out->fits = a.peak_bytes <= l->o->capacity_bytes;
    out->score_s = a.moved_bytes / devices * l->byte_s + out->redundant_flops / devices * l->flop_s +
                   (double)a.peak_bytes * l->held_s;
  }
  sw_arena_deinit(&scratch);
  return rc;
}

static bool is_better(const sw_mutate_measures *a, const sw_mutate_measures *b) {
  if (a->fits != b->fits) return a->fits;
  return a->fits ? a->score_s < b->score_s : a->peak_bytes < b->peak_bytes;
}

/* --- kinds of ops ------------------------------------------------------------------------------------------------- */

/* An op that follows another one, or whose option people require, keeps what it has. */
static bool may_change(const loop *l, const bool *fixed, sw_id id) {
  const sw_op *op = &l->job.graph->ops[id];
  return op->nest && op->nest->n_loops > 0 && op->n_operands > 0 && !fixed[id] && sw_op_tied_to(l->job.graph, id) < 0;
}

static sw_rc find_kinds(loop *l) {
  bool *fixed, fresh;
  sw_dict at = {0};
  sw_rc rc = SW_OK;
  SW_ARENA_NEW_EACH(l->arena, l->job.graph->n_ops, l->d, fixed, l->kind_of, l->kinds, l->members);
  for (int32_t i = 0; i < l->job.request->n_annotations; i++) {
    if (l->job.request->annotations[i].op >= 0) fixed[l->job.request->annotations[i].op] = true;
  }
  for (sw_id id = 0; id < l->job.graph->n_ops && !rc; id++) {
    const sw_loop_nest *nest = l->job.graph->ops[id].nest;
    int64_t *slot;
    l->kind_of[id] = -1;
    if (!may_change(l, fixed, id)) continue;
    rc = sw_dict_put(&at, &nest, sizeof nest, l->n_kinds, &slot, &fresh, l->d);
    if (rc) break;
    l->kind_of[id] = (int32_t)*slot;
    if (fresh) l->kinds[l->n_kinds++].nest = nest;
    l->kinds[l->kind_of[id]].n++;
  }
  sw_dict_deinit(&at);
  for (int32_t k = 1; k < l->n_kinds; k++) l->kinds[k].first = l->kinds[k - 1].first + l->kinds[k - 1].n;
  for (int32_t k = 0; k < l->n_kinds; k++) l->kinds[k].n = 0;
  for (sw_id id = 0; id < l->job.graph->n_ops && !rc; id++) {
    kind *k = l->kind_of[id] < 0 ? NULL : &l->kinds[l->kind_of[id]];
    if (k) l->members[k->first + k->n++] = id;
  }
  return rc;
}

static sw_rc find_options(loop *l, kind *k) {
  sw_enumeration e;
  if (k->options) return SW_OK;
  SW_TRY(sw_strategies_enumerate(&l->job, &l->job.graph->ops[l->members[k->first]], &(sw_enumerate_options){0},
                                 l->arena, &e, l->d));
  k->options = e.at;
  k->n_options = e.n;
  return SW_OK;
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

/* NULL: takes it away. */
static sw_rc give(loop *l, sw_id op, const sw_strategy *option) {
  SW_TRY(sw_array_push(&l->undone, ((undo){op, l->given[op], l->options[op]}), l->d));
  l->n_given += (option != NULL) - l->given[op];
  l->given[op] = option != NULL;
  if (option) l->options[op] = *option;
  return SW_OK;
}

static void undo_mutations(loop *l) {
  while (l->undone.n) {
    const undo *u = &l->undone.at[--l->undone.n];
    l->n_given += u->given - l->given[u->op];
    l->given[u->op] = u->given;
    l->options[u->op] = u->option;
  }
}

/* One of the ops that have an option. */
static sw_id some_given(loop *l) {
  int64_t k = sw_rng_below(&l->rng, l->n_given);
  sw_id op = 0;
  while (!l->given[op] || k-- > 0) op++;
  return op;
}

/* An option of an op's kind for it, or for all of the kind; or that of an op is taken away. */
static sw_rc change(loop *l) {
  const bool all = sw_rng_below(&l->rng, 4) > 0, away = l->n_given && sw_rng_below(&l->rng, 5) == 0;
  kind *k = &l->kinds[away ? l->kind_of[some_given(l)] : (int32_t)sw_rng_below(&l->rng, l->n_kinds)];
  const sw_strategy *option = NULL;
  if (!away) SW_TRY(find_options(l, k));
  if (!away) option = &k->options[sw_rng_below(&l->rng, k->n_options)];
  const int32_t one = (int32_t)sw_rng_below(&l->rng, k->n);
  for (int32_t i = 0; i < k->n; i++) {
    const sw_id op = l->members[k->first + i];
    if ((all || i == one) && (!away || l->given[op])) SW_TRY(give(l, op, option));
  }
  return SW_OK;
}

/* --- one round ---------------------------------------------------------------------------------------------------- */

/* The graph's own annotations, then the options. */
static void say_options(loop *l) {
  int32_t n = l->job.request->n_annotations;
  for (int32_t i = 0; i < n; i++) l->left[i] = l->job.request->annotations[i].derived;
  for (sw_id op = 0; op < l->job.graph->n_ops && l->n_given; op++) {
    const sw_strategy *s = &l->options[op];
    int32_t *loop_of = &l->loop_of[(size_t)op * SW_MAX_REFS];
    if (!l->given[op]) continue;
    for (int k = 0; k < s->n_refs; k++) loop_of[k] = s->loop_of[k];
    l->left[n] = false;
    l->annotations[n++] = (sw_annotation){.value = -1,
                                          .op = op,
                                          .n_loop_refs = s->n_refs,
                                          .loop_of = loop_of,
                                          .loop_refs = s->refs,
                                          .priority = INT32_MAX};
  }
  l->trial.n_annotations = n;
}

/* Is there a plan with these options? */
static sw_rc try_options(loop *l, sw_arena *arena, sw_plan *plan, bool *made) {
  sw_id failed;
  say_options(l);
  sw_job job = l->job;
  job.request = &l->trial;
  const sw_rc rc = sw_propagate_by_rule(&job, l->o->traversal, l->left, &failed, arena, plan, NULL);
  *made = rc == SW_OK;
  return rc == SW_E_INFEASIBLE || rc == SW_E_INPUT ? SW_OK : rc;
}

/* Worse plans stay at first, by up to a tenth, and ever less. */
static bool stays(loop *l, const sw_mutate_measures *next, const sw_mutate_measures *now, int64_t round) {
  const double kWorse = 0.1, kHalfAt = 100;
  const double worse = kWorse / (1 + (double)round / kHalfAt);
  const double toss = sw_rng_unit(&l->rng);
  if (!is_better(now, next)) return true;
  return next->fits && now->fits && next->score_s < now->score_s * (1 + worse * toss);
}

static bool is_mutation_over(const loop *l, int64_t round, double began_s) {
  if (l->o->iterations && round >= l->o->iterations) return true;
  if (l->o->time_limit_s > 0 && sw_now_s() - began_s >= l->o->time_limit_s) return true;
  return sw_cancelled(l->o->cancel);
}

static sw_rc open_loop(loop *l) {
  const sw_graph *g = l->job.graph;
  const sw_request *r = l->job.request;
  const size_t n = (size_t)r->n_annotations + (size_t)g->n_ops;
  find_rates(l);
  l->trial = *r;
  SW_ARENA_NEW_EACH(l->arena, n, l->d, l->annotations, l->left);
  SW_ARENA_NEW_EACH(l->arena, g->n_ops, l->d, l->given, l->options, l->best_given, l->best_options);
  SW_ARENA_NEW(l->loop_of, l->arena, (size_t)g->n_ops * SW_MAX_REFS, l->d);
  for (int32_t i = 0; i < r->n_annotations; i++) l->annotations[i] = r->annotations[i];
  l->trial.annotations = l->annotations;
  return find_kinds(l);
}

static void keep_best_options(loop *l) {
  for (sw_id op = 0; op < l->job.graph->n_ops; op++) {
    l->best_given[op] = l->given[op];
    if (l->given[op]) l->best_options[op] = l->options[op];
  }
}

static sw_rc round_once(loop *l, sw_arena *scratch, sw_mutate_measures *now, sw_mutated *out) {
  sw_plan plan;
  sw_mutate_measures next;
  bool made;
  l->undone.n = 0;
  sw_arena_reset(scratch);
  SW_TRY(change(l));
  SW_TRY(try_options(l, scratch, &plan, &made));
  if (made) SW_TRY(judge_mutated_plan(l, &plan, &next));
  if (!made || !stays(l, &next, now, out->tried)) {
    undo_mutations(l);
    return SW_OK;
  }
  *now = next;
  if (!is_better(&next, &out->best)) return SW_OK;
  out->best = next;
  out->better++;
  keep_best_options(l);
  return SW_OK;
}

/* The plan of the best options. */
static sw_rc make_best(loop *l, sw_arena *arena, sw_plan *out) {
  bool made;
  l->n_given = 0;
  for (sw_id op = 0; op < l->job.graph->n_ops; op++) {
    l->given[op] = l->best_given[op];
    l->options[op] = l->best_options[op];
    l->n_given += l->given[op];
  }
  SW_TRY(try_options(l, arena, out, &made));
  if (!made) return SW_BUG(l->d, "%s", "options that led to a plan lead to none");
  out->job = l->job;
  return SW_OK;
}

static sw_rc run_mutations(loop *l, sw_arena *arena, sw_mutated *out) {
  const double began_s = sw_now_s();
  sw_arena scratch = {0};
  sw_mutate_measures now;
  SW_TRY(open_loop(l));
  SW_TRY(judge_mutated_plan(l, &out->plan, &out->start));
  now = out->best = out->start;
  sw_rc rc = SW_OK;
  for (; l->n_kinds && !rc && !is_mutation_over(l, out->tried, began_s); out->tried++)
    rc = round_once(l, &scratch, &now, out);
  sw_arena_deinit(&scratch);
  if (!rc && out->better) rc = make_best(l, arena, &out->plan);
  return rc;
}

sw_rc sw_propagate_mutated(const sw_job *j, const sw_mutate_options *o, sw_arena *arena, sw_mutated *out, sw_diag *d) {
  sw_arena scratch = {0};
  loop l = {.job = *j, .o = o, .arena = &scratch, .d = d};
  *out = (sw_mutated){0};
  sw_rng_seed(&l.rng, o->seed);
  SW_TRY(sw_propagate(j, o->traversal, arena, &out->plan, d));
  sw_rc rc = run_mutations(&l, arena, out);
  sw_array_free(&l.undone);
  sw_arena_deinit(&scratch);
  out->plan.origin = "mutate";
  return rc;
}
