/* What is kept and what is made again, for the shardings of the best plan so far, or of what is begun with: of an op
 * that a schedule leaves open the problem has the choices in which its values are cut as they are, and all else is
 * free. Small beside the problem with all of its shardings, and near its best where memory has room for some of the
 * values.
 */
#include "plan/choices.h"
#include "plan/search.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 6 };

/* The ways to choose the sources of a value, all of one cut. */
typedef enum source_way {
  WAY_AGAIN,
  WAY_KEPT,
  WAY_AGAIN_AS_MADE,
  WAY_KEPT_AS_MADE,
  WAY_FETCHED_AS_MADE,
  WAY_COUNT
} source_way;

/* A copy that is left out would be cut as its original is. */
static sw_rc run_left_out(sw_plan *p, sw_arena *mem, sw_diag *d) {
  sw_id *original;
  SW_TRY(sw_job_own_ops(&p->job, mem, &original, d));
  for (sw_id i = 0; i < p->job.graph->n_ops; i++) {
    const sw_entry *e = sw_job_entry(&p->job, i);
    if (!sw_entry_is_open(e) || sw_strategy_runs(&p->ops[i])) continue;
    const bool reads = p->job.graph->ops[i].n_operands > 0;
    if (e->source == SW_SOURCE_NONE) p->ops[i] = p->ops[original[e->op]];
    if (e->source && reads) sw_plan_keep_as_made(p, i, 0);
    if (e->source && !reads) p->ops[i] = (sw_strategy){0};
  }
  for (sw_id i = 0; i < p->job.graph->n_ops; i++)
    if (p->job.graph->ops[i].code == SW_OP_OFFLOAD && p->job.graph->ops[i].frame >= 0)
      SW_TRY(sw_plan_cut_on_host(p, i, mem, d));
  return SW_OK;
}

static void take_way(sw_plan *p, const sw_plan *run, source_way way) {
  for (sw_id i = 0; i < p->job.graph->n_ops; i++) {
    const sw_entry *e = sw_job_entry(&p->job, i);
    const bool kept = way == WAY_KEPT || way == WAY_KEPT_AS_MADE, fetched = way == WAY_FETCHED_AS_MADE;
    if (!sw_entry_is_open(e)) continue;
    p->ops[i] = run->ops[i];
    const bool of_host = e->source == SW_SOURCE_OFFLOADED || e->source == SW_SOURCE_FETCHED;
    const bool absent = of_host ? !fetched : kept == (e->instance > 0); /* the program's own are a stack's */
    if (e->optional && absent) p->ops[i] = (sw_strategy){.takes = -1};
    if (!sw_entry_is_keep(e) || (e->source == SW_SOURCE_KEPT && !sw_strategy_runs(&p->ops[i]))) continue;
    int8_t takes = sw_plan_takes_of(&p->job, i, fetched ? SW_WAY_FETCHED : kept ? SW_WAY_KEPT : SW_WAY_AGAIN);
    if (!takes) takes = sw_plan_takes_of(&p->job, i, SW_WAY_KEPT); /* there is no such way */
    if (way >= WAY_AGAIN_AS_MADE) sw_plan_keep_as_made(p, i, takes);
    p->ops[i].takes = takes;
  }
}

static const int32_t *shardings_of(const sw_search *k) {
  return k->best.choice ? k->best.choice : k->missing ? NULL : k->start;
}

/* By node: the choices that stay. */
static sw_rc find_allowed(sw_search *k, bool **allowed, sw_diag *d) {
  const int32_t n = k->problem->n_nodes;
  const int32_t *base = shardings_of(k);
  sw_plan run, tried;
  int32_t *choice;
  bool *missing;
  SW_TRY(sw_plan_build(&k->job, &k->mem, &run, d));
  SW_TRY(sw_plan_build(&k->job, &k->mem, &tried, d));
  SW_ARENA_NEW_EACH(&k->mem, n, d, choice, missing);
  for (int32_t i = 0; i < n; i++) {
    SW_ARENA_NEW(allowed[i], &k->mem, k->problem->nodes[i].n_choices, d);
    allowed[i][base[i]] = true;
  }
  sw_selection_decode(k->selection, base, run.ops, run.args, run.outputs);
  sw_selection_decode(k->selection, base, tried.ops, tried.args, tried.outputs);
  SW_TRY(run_left_out(&run, &k->mem, d));
  for (source_way way = 0; way < WAY_COUNT; way++) {
    take_way(&tried, &run, way);
    sw_selection_encode(k->selection, sw_plan_selected(&tried), choice, missing);
    for (int32_t i = 0; i < n; i++)
      if (!missing[i]) allowed[i][choice[i]] = true;
  }
  return SW_OK;
}

static sw_rc begin_sources(sw_search *k, bool *due, sw_diag *d) {
  int *round;
  *due = false;
  for (sw_id i = 0; i < k->job.graph->n_ops && shardings_of(k) && !*due; i++)
    *due = sw_entry_is_open(sw_job_entry(&k->job, i));
  SW_ARENA_NEW(round, k->arena, 1, d);
  if (*due) k->lives = SW_LIVES_EXACT; /* what is kept is held from one reader to another */
  k->own = round;
  return SW_OK;
}

static sw_rc make_sources(sw_search *k, sw_round *r, sw_diag *d) {
  const int32_t n = k->problem->n_nodes;
  const double kOfGap = 0.2, kLeastGap = 1e-4, kOfTime = 0.5; /* of what is asked for, and may take */
  bool **allowed;
  sw_node *nodes;
  SW_TRY(sw_relaxation_problem(k->relaxed, &r->problem, d));
  r->problem.limit = k->limit;
  SW_ARENA_NEW(allowed, &k->mem, n, d);
  SW_ARENA_NEW(nodes, &k->mem, r->problem.n_nodes, d);
  SW_TRY(find_allowed(k, allowed, d));
  memcpy(nodes, r->problem.nodes, (size_t)r->problem.n_nodes * sizeof *nodes);
  for (int32_t i = 0; i < n; i++) {
    int64_t *cost;
    SW_ARENA_NEW(cost, &k->mem, nodes[i].n_choices, d);
    for (int32_t c = 0; c < nodes[i].n_choices; c++) cost[c] = allowed[i][c] ? nodes[i].cost[c] : SW_FORBIDDEN;
    nodes[i].cost = cost;
  }
  r->problem.nodes = nodes;
  const sw_solve_state kept = {.choice = shardings_of(k)};
  SW_TRY(sw_relaxation_recall(k->relaxed, &kept, k->arena, &r->from, d));
  r->o = k->asked->solve;
  r->o.from = &r->from;
  r->o.gap = fmax(kOfGap * k->gap, kLeastGap);
  r->part = kOfTime;
  return SW_OK;
}

static sw_rc add_sources(sw_search *k, sw_round *r, sw_diag *d) {
  int *round = k->own;
  if (!r->now.choice) return SW_OK;
  SW_TRY(sw_search_refine(k, r->now.choice, &r->added, d));
  r->again = (r->kept || r->added) && ++*round < MOST_ROUNDS;
  return SW_OK;
}

const sw_form sw_form_sources = {
    .name = "sources", .part = 0.25, .begin = begin_sources, .make = make_sources, .add = add_sources};
