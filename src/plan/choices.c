/* Plans of schedules that leave something to the plan: what is made again (schedule.h). */
#include "plan/choices.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "plan/levers.h"
#include "plan/timed_search.h"
#include "shardwright/clock.h"
#include "shardwright/profile.h"
#include "shardwright/selection.h"

void sw_plan_keep_all(sw_plan *p) {
  for (sw_id i = 0; i < p->job.graph->n_ops; i++) {
    const sw_entry *e = sw_job_entry(&p->job, i);
    if (sw_entry_is_keep(e)) p->ops[i].takes = sw_plan_takes_of(&p->job, i, SW_WAY_KEPT);
    if (e && e->optional) p->ops[i].takes = -1;
  }
}

int8_t sw_plan_takes_of(const sw_job *j, sw_id keep, sw_keep_way way) {
  const sw_op *op = &j->graph->ops[keep];
  return (int8_t)(op->n_operands > 1 ? sw_keep_operand(j->graph, op, way) + 1 : 0);
}

void sw_plan_keep_as_made(sw_plan *p, sw_id keep, int8_t takes) {
  const sw_op *op = &p->job.graph->ops[keep];
  sw_strategy *s = &p->ops[keep];
  sw_sharding made;
  sw_plan_made_sharding(p, op->operands[takes > 0 ? takes - 1 : 0], &made);
  *s = (sw_strategy){.takes = takes};
  for (int i = 0; i < made.n_refs; i++) (void)sw_strategy_push(s, made.dim_of[i], made.refs[i]);
}

/* Where a schedule has each of the program's ops and copies, and sources of each value; -1: nowhere. */
typedef struct listing {
  sw_id *op, *again;                /* by op of the program */
  sw_id *of[SW_SOURCE_FETCHED + 1]; /* by kind, then value; keeps as SW_SOURCE_KEPT */
} listing;

static sw_rc list_schedule(const sw_job *j, const sw_graph *program, sw_arena *arena, listing *out, sw_diag *d) {
  SW_TRY(sw_job_own_ops(j, arena, &out->op, d));
  SW_ARENA_NEW(out->again, arena, program->n_ops + 1, d);
  for (sw_id i = 0; i < program->n_ops; i++) out->again[i] = -1;
  for (int k = SW_SOURCE_KEPT; k <= SW_SOURCE_FETCHED; k++) {
    SW_ARENA_NEW(out->of[k], arena, program->n_values + 1, d);
    for (sw_id v = 0; v < program->n_values; v++) out->of[k][v] = -1;
  }
  for (sw_id i = 0; i < j->graph->n_ops; i++) {
    const sw_entry *e = sw_job_entry(j, i);
    if (sw_entry_is_copy(e)) out->again[e->op] = i;
    if (e && e->source) out->of[sw_entry_is_keep(e) ? SW_SOURCE_KEPT : e->source][e->value] = i;
  }
  return SW_OK;
}

/* Ops that may be left out are, where no op that runs reads them. */
static void leave_out_unread(sw_plan *p) {
  const sw_graph *g = p->job.graph;
  for (sw_id i = g->n_ops; i-- > 0;) {
    const sw_entry *e = sw_job_entry(&p->job, i);
    bool read = !e || !e->optional;
    for (int k = 0; k < g->ops[i].n_results && !read; k++) {
      const sw_value *v = &g->values[g->ops[i].results[k]];
      for (int32_t u = 0; u < v->n_uses && !read; u++) {
        read = v->uses[u].op < 0 || sw_strategy_takes(&p->ops[v->uses[u].op], v->uses[u].index);
      }
    }
    if (!read) p->ops[i].takes = -1;
  }
}

/* Of the schedule's copies, or by the compiler where it is read. */
static bool makes_again(const sw_plan *given, const listing *has, sw_id op) {
  if (has->again[op] >= 0 || has->op[op] < 0) return has->again[op] >= 0;
  const sw_op *own = &given->job.graph->ops[has->op[op]];
  return own->n_results == 1 && sw_value_keeping(given->job.kernels, own->results[0]) == SW_KEPT_AGAIN;
}

/* Of the ops that are there for the stack of a fetch, the one in the place of `op` of the other job. */
static sw_id same_of_stack(const sw_job *given, sw_id fetch, const sw_job *choices, sw_id op) {
  const int32_t *entry = choices->schedule->stages[0].entry;
  int before = 0;
  if (fetch < 0) return -1;
  for (sw_id i = 0; i < op; i++) before += entry[i] == entry[op];
  entry = given->schedule->stages[0].entry;
  for (sw_id i = 0; i < fetch; i++)
    if (entry[i] == entry[fetch] && before-- == 0) return i;
  return fetch;
}

/* The op of the plan that op `i` of the schedule with choices goes by; -1: none. */
static sw_id op_behind(const sw_plan *given, const listing *has, const sw_job *choices, sw_id i) {
  const sw_entry *e = sw_job_entry(choices, i);
  if (e->source == SW_SOURCE_FETCHED) return same_of_stack(&given->job, has->of[e->source][e->value], choices, i);
  if (e->source) return has->of[sw_entry_is_keep(e) ? SW_SOURCE_KEPT : e->source][e->value];
  if (e->instance && has->again[e->op] >= 0) return has->again[e->op];
  return !e->instance || makes_again(given, has, e->op) ? has->op[e->op] : -1;
}

/* Is the value of a keep made again? In a loop, where the slice of the stack is left out. */
static bool takes_again(const sw_plan *given, const listing *has, const sw_entry *e) {
  if (e->source != SW_SOURCE_EITHER) return false;
  return given->job.schedule && given->job.schedule->program->ops[e->op].frame >= 0 ? has->op[e->op] < 0
                                                                                    : makes_again(given, has, e->op);
}

/* Of a stack all ops are there, or none: what leaves a loop as it came is read by nobody. */
static sw_rc settle_stacks(const sw_plan *p, sw_arena *arena, sw_plan *out, sw_diag *d) {
  const sw_graph *g = p->job.graph;
  *out = *p;
  if (!(out->ops = sw_arena_copy(arena, p->ops, (size_t)g->n_ops, sizeof *out->ops, d))) return SW_E_RESOURCE;
  leave_out_unread(out);
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_id leader = sw_op_tied_to(g, i);
    const bool carried = g->ops[i].code == SW_OP_YIELD || g->ops[i].code == SW_OP_JOIN;
    if (carried && leader >= 0 && !sw_strategy_runs(&out->ops[i])) out->ops[i] = out->ops[leader];
  }
  return SW_OK;
}

/* A plan of a schedule whose copies are among those of the one with choices, as one of that. */
static sw_rc open_choices(const sw_plan *given, const sw_job *choices, sw_arena *arena, sw_plan *out, sw_diag *d) {
  const sw_graph *program = choices->schedule->program;
  const bool alike = given->job.graph->n_ops == choices->graph->n_ops; /* what is of no entry stands in both */
  listing has;
  sw_plan made;
  SW_TRY(sw_plan_build(choices, arena, &made, d));
  SW_TRY(list_schedule(&given->job, program, arena, &has, d));
  *out = *given;
  out->job = *choices;
  out->ops = made.ops;
  out->n_stated = out->n_shared = 0;
  for (sw_id i = 0; i < choices->graph->n_ops; i++) {
    const sw_entry *e = sw_job_entry(choices, i);
    const bool keeps = sw_entry_is_keep(e);
    if (!e && alike) out->ops[i] = given->ops[i];
    if (!e) continue;
    const sw_id from = op_behind(given, &has, choices, i);
    const bool fetched = keeps && e->or_fetched && has.of[SW_SOURCE_FETCHED][e->value] >= 0,
               again = keeps && !fetched && takes_again(given, &has, e);
    const sw_keep_way way = fetched ? SW_WAY_FETCHED : again ? SW_WAY_AGAIN : SW_WAY_KEPT;
    if (from >= 0 && !again && !fetched) {
      out->ops[i] = given->ops[from];
      out->ops[i].takes = keeps ? sw_plan_takes_of(choices, i, way) : 0;
    } else if (keeps) {
      sw_plan_keep_as_made(out, i, sw_plan_takes_of(choices, i, way));
    } else {
      out->ops[i].takes = -1;
    }
  }
  leave_out_unread(out);
  return SW_OK;
}

/* In a part of the limits. */
static sw_plan_options part_of_limits(const sw_plan_options *o, double part) {
  sw_plan_options some = *o;
  const double now_s = sw_now_s();
  some.solve.time_limit_s *= part;
  if (o->solve.work_limit > 0) some.solve.work_limit = sw_max_i64(1, (int64_t)((double)o->solve.work_limit * part));
  if (o->solve.deadline_s > 0) some.solve.deadline_s = now_s + fmax(0, o->solve.deadline_s - now_s) * part;
  return some;
}

/* Those of `o` but for the steps of `some`. */
static sw_plan_options rest_of_limits(const sw_plan_options *o, const sw_plan_options *some) {
  sw_plan_options rest = *o;
  if (o->solve.work_limit > 0) rest.solve.work_limit = sw_max_i64(1, o->solve.work_limit - some->solve.work_limit);
  return rest;
}

/* The best plan by rule of any lever; where none fits, what is found of the nearest in a part of what is left of the
 * limits. *any: it fits. */
static void find_by_lever(sw_plan_options *left, int64_t capacity, sw_arena *arena, sw_plan *out, bool *any) {
  const double kOfLimit = 0.4;
  const sw_ruled_lever *best = sw_levers_best(left->levers, capacity);
  const sw_comparison *made = best ? sw_lever_best(best, capacity) : NULL;
  *any = made && made->breakdown.peak_bytes <= capacity;
  if (*any) {
    *out = made->plan;
    out->capacity_bytes = capacity;
  } else if (made) {
    sw_plan_options some = part_of_limits(left, kOfLimit);
    *left = rest_of_limits(left, &some);
    some.start = &made->plan;
    some.baselines = best->made;
    *any = sw_plan_search(&best->job, &some, arena, out, NULL) == SW_OK;
  }
}

/* What each op takes, in a schedule of which some sources are not carried out: their readers read what was made last.
 */
typedef enum dropped { DROPS_NOTHING, DROPS_VALUES, DROPS_ALL, DROPPED_COUNT } dropped;

static sw_rc list_takes(const sw_plan *p, dropped how, sw_arena *arena, int8_t **out, sw_diag *d) {
  SW_ARENA_NEW(*out, arena, p->job.graph->n_ops + 1, d);
  for (sw_id i = 0; i < p->job.graph->n_ops; i++) {
    const sw_entry *e = sw_job_entry(&p->job, i);
    const int8_t takes = p->ops[i].takes;
    const bool kept = sw_entry_is_keep(e) && (takes <= 0 || takes == sw_plan_takes_of(&p->job, i, SW_WAY_KEPT));
    const bool in_loop = p->job.graph->ops[i].frame >= 0; /* a stack is read as it is */
    (*out)[i] = kept && (in_loop || how == DROPS_ALL || (how == DROPS_VALUES && e->op >= 0)) ? -1 : takes;
  }
  return SW_OK;
}

/* The plan as one of the schedule that it chose, which `j` is a job of. */
static sw_rc take_chosen(const sw_plan *p, const int8_t *takes, const sw_job *j, sw_arena *arena, sw_plan *out,
                         sw_diag *d) {
  sw_plan made;
  sw_id n = 0, *now;
  SW_TRY(sw_plan_build(j, arena, &made, d));
  SW_ARENA_NEW(now, arena, p->job.graph->n_ops + 1, d);
  *out = *p;
  out->job = *j;
  out->ops = made.ops;
  out->args = made.args;
  out->outputs = made.outputs;
  memcpy(out->args, p->args, (size_t)j->graph->n_args * sizeof *out->args);
  memcpy(out->outputs, p->outputs, (size_t)j->graph->n_outputs * sizeof *out->outputs);
  for (sw_id i = 0; i < p->job.graph->n_ops; i++) {
    now[i] = -1;
    if (takes[i] < 0 || (takes[i] && takes[i] != sw_plan_takes_of(&p->job, i, SW_WAY_KEPT))) continue;
    now[i] = n;
    out->ops[n] = p->ops[i];
    out->ops[n++].takes = 0;
  }
  assert(n == j->graph->n_ops && p->job.graph->n_args == j->graph->n_args);
  SW_ARENA_NEW(out->stated, arena, p->n_stated, d);
  out->n_stated = out->n_shared = 0;
  for (int32_t i = 0; i < p->n_stated; i++) {
    sw_stated s = p->stated[i];
    s.op = now[s.op];
    if (s.op >= 0) out->stated[out->n_stated++] = s;
  }
  return SW_OK;
}

static sw_rc carry_out(const sw_plan *p, dropped how, const sw_job *j, sw_arena *arena, sw_schedule *schedule,
                       sw_plan *out, sw_breakdown *a, sw_diag *d) {
  sw_schedule_spec spec;
  sw_job chosen;
  int8_t *takes;
  SW_TRY(list_takes(p, how, arena, &takes, d));
  SW_TRY(sw_schedule_chosen(p->job.schedule, takes, arena, &spec, d));
  SW_TRY(sw_schedule_make(j->request, &spec, arena, schedule, d));
  SW_TRY(sw_job_of_stage(j, schedule, 0, arena, &chosen, d));
  SW_TRY(take_chosen(p, takes, &chosen, arena, out, d));
  return sw_plan_breakdown(out, arena, a, d);
}

/* Ways to carry plans out, of which the fastest that fits is taken. */
typedef struct carried {
  const sw_job *j;
  sw_arena *arena;
  sw_schedule *schedule;
  sw_plan *out;
  double best_s;
  bool any;
} carried;

static sw_rc try_to_carry_out(carried *c, const sw_plan *p, dropped how, sw_diag *d) {
  sw_schedule made = {0};
  sw_plan plan;
  sw_breakdown a;
  const sw_rc rc = carry_out(p, how, c->j, c->arena, &made, &plan, &a, d);
  const bool better = !rc && a.peak_bytes <= p->capacity_bytes && sw_plan_check_host(&plan, NULL) == SW_OK &&
                      (!c->any || a.total_s < c->best_s);
  if (!better) sw_schedule_deinit(&made);
  if (!better) return rc;
  if (c->any) sw_schedule_deinit(c->schedule);
  c->any = true;
  c->best_s = a.total_s;
  *c->schedule = made;
  *c->out = plan;
  c->out->job.schedule = c->schedule;
  return SW_OK;
}

/* The simplest way that costs little more: what is made again is so in all layers, or in the first ones. */
static sw_rc carry_out_alike(carried *c, const sw_plan *p, double simplicity, sw_diag *d) {
  for (sw_unite how = 0; how < SW_UNITE_COUNT && c->any && simplicity > 0; how++) {
    sw_schedule made = {0};
    sw_plan united, plan;
    bool changed;
    carried t = {.j = c->j, .arena = c->arena, .schedule = &made, .out = &plan};
    SW_TRY(sw_plan_unite_layers(p, how, c->arena, &united, &changed, d));
    if (!changed) break;
    leave_out_unread(&united);
    for (dropped k = 0; k < DROPPED_COUNT; k++)
      if (try_to_carry_out(&t, &united, k, NULL)) break; /* they do not go together */
    const bool simple = t.any && t.best_s <= (1 + simplicity) * c->best_s && !sw_plan_verify(&plan, NULL);
    if (!simple && t.any) sw_schedule_deinit(&made);
    if (!simple) continue;
    sw_schedule_deinit(c->schedule);
    *c->schedule = made;
    *c->out = plan;
    c->out->job.schedule = c->schedule;
    c->best_s = t.best_s;
    break;
  }
  return SW_OK;
}

/* A source that is carried out is stored, and what is read early and late shares no copies; so it takes more time than
 * the compiler's own way, and less memory: the fastest way that fits. Of `p`, of a schedule with choices, and `known`,
 * of one without; NULL: there is none. */
static sw_rc carry_out_best(const sw_plan *p, const sw_plan *known, const sw_job *j, double simplicity, sw_arena *arena,
                            sw_schedule *schedule, sw_plan *out, sw_diag *d) {
  carried c = {.j = j, .arena = arena, .schedule = schedule, .out = out};
  const bool loops = j->graph->n_frames > 0; /* there nothing is carried out as a source, and a body is all layers */
  sw_plan settled;
  if (p && loops) SW_TRY(settle_stacks(p, arena, &settled, d));
  if (p && loops) p = &settled;
  for (dropped how = 0; p && how < (loops ? 1 : DROPPED_COUNT); how++) SW_TRY(try_to_carry_out(&c, p, how, d));
  if (p && !loops) SW_TRY(carry_out_alike(&c, p, simplicity, d));
  if (known) SW_TRY(try_to_carry_out(&c, known, DROPS_NOTHING, d));
  if (!c.any)
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                   "the schedule that was found holds more than its choices were counted to; expected a little more "
                   "memory");
  const double found = out->cost_units > 0 ? (double)out->found_units / (double)out->cost_units : 1;
  out->cost_units = sw_cost_units(j->machine, c.best_s);
  out->found_units = (int64_t)(found * (double)out->cost_units);
  out->bound_units = p ? p->bound_units : 0; /* of all choices */
  if (p) out->n_nodes = p->n_nodes, out->n_edges = p->n_edges, out->n_classes = p->n_classes;
  if (p && loops) out->pruned_inexact++; /* kernels are what they are for all stacks: fewer could be fewer kernels */
  if (out->bound_units > out->cost_units) out->bound_units = out->cost_units;
  if (out->bound_units < out->cost_units) out->status = SW_SOLVE_FEASIBLE;
  return SW_OK;
}

/* Does the plan, of a schedule, hold what fits in less time than the other one? */
static sw_rc is_better_start(const sw_plan *p, const sw_plan *other, int64_t capacity, sw_arena *arena, bool *better,
                             sw_diag *d) {
  sw_breakdown a, b;
  SW_TRY(sw_plan_breakdown(p, arena, &a, d));
  *better = a.peak_bytes <= capacity && sw_plan_check_host(p, NULL) == SW_OK;
  if (!*better || !other) return SW_OK;
  SW_TRY(sw_plan_breakdown(other, arena, &b, d));
  *better = a.total_s < b.total_s;
  return SW_OK;
}

/* Unless the host is farther than what an op takes to make its result again, however that is cut. What is nearer to
 * make again is so under overlap, too, which hides copies: offered, it makes problems larger, and plans no faster. */
static sw_rc offer_host(const sw_job *j, sw_arena *arena, sw_schedule_spec *spec, sw_diag *d) {
  const double rate = sw_machine_profile(j->machine)->host_bytes_per_s,
               devices = (double)sw_mesh_devices(sw_machine_mesh(j->machine));
  bool *dear;
  if (rate <= 0) return SW_OK;
  SW_ARENA_NEW(dear, arena, j->graph->n_ops + 1, d);
  for (sw_id i = 0; i < j->graph->n_ops; i++) {
    const sw_op *op = &j->graph->ops[i];
    if (!op->n_results) continue;
    const double there_s = (double)sw_type_bytes(sw_result_type(j->graph, op, 0)) / devices / rate;
    dear[i] = sw_op_least_s(j, op) > 2 * (there_s + sw_machine_launch_s(j->machine));
  }
  return sw_schedule_offer_host(j->graph, dear, arena, spec, d);
}

/* Of the program that the entries are of. */
static sw_rc offer_host_beside(const sw_job *j, sw_arena *arena, sw_schedule_spec *spec, sw_diag *d) {
  sw_schedule plain;
  sw_schedule_spec none;
  sw_job folded;
  if (!spec->folded) return offer_host(j, arena, spec, d);
  SW_TRY(sw_recompute_spec(j->graph, SW_RECOMPUTE_NONE, false, arena, &none, d));
  SW_TRY(sw_schedule_make(j->request, &none, arena, &plain, d));
  sw_rc rc = sw_job_of_stage(j, &plain, 0, arena, &folded, d);
  if (!rc) rc = offer_host(&folded, arena, spec, d);
  sw_schedule_deinit(&plain);
  return rc;
}

/* Is it of the program that the choices are of, so that it has its ops by their numbers? */
static bool can_start(const sw_plan *p, const sw_schedule_spec *choices) {
  return (p->job.schedule && p->job.schedule->spec.folded) == choices->folded;
}

static sw_rc search_choices(const sw_job *j, const sw_request *told, const sw_plan_options *o, sw_arena *arena,
                            sw_schedule *schedule, sw_plan *out, sw_diag *d) {
  sw_schedule choices;
  sw_schedule_spec spec;
  sw_job job, told_by = *j;
  sw_plan plan, known, start;
  sw_plan_options options = *o;
  bool any = false, better = false;
  options.start = NULL;
  SW_TRY(sw_recompute_spec(j->graph, SW_RECOMPUTE_SEARCH, true, arena, &spec, d));
  SW_TRY(offer_host_beside(j, arena, &spec, d));
  SW_TRY(sw_schedule_make(j->request, &spec, arena, &choices, d));
  sw_rc rc = sw_job_of_stage(j, &choices, 0, arena, &job, d);
  if (!rc) find_by_lever(&options, sw_plan_capacity(j, o), arena, &known, &any);
  if (!rc && o->start) rc = is_better_start(o->start, any ? &known : NULL, sw_plan_capacity(j, o), arena, &better, d);
  if (!rc && better && o->start->job.schedule && j->request == told && !sw_plan_verify(o->start, NULL))
    known = *o->start, any = true;
  const sw_plan *from = better && can_start(o->start, &spec) ? o->start : any ? &known : NULL;
  if (from && !can_start(from, &spec)) from = NULL;
  if (!rc && from) rc = open_choices(from, &job, arena, &start, d);
  if (from) options.start = &start;
  const sw_rc found = rc ? rc : sw_plan_search(&job, &options, arena, &plan, any ? NULL : d);
  told_by.request = told;
  if (!any) rc = found;
  if (!rc)
    rc = carry_out_best(found ? NULL : &plan, any ? &known : NULL, &told_by, o->simplicity, arena, schedule, out, d);
  sw_schedule_deinit(&choices);
  if (rc) sw_schedule_deinit(schedule);
  return rc;
}

/* The program as it is may be the best; where it does not fit, that is soon known as a rule. */
static sw_rc search_beside_written(const sw_job *j, const sw_request *told, const sw_plan_options *o, sw_arena *arena,
                                   sw_schedule *schedule, sw_plan *out, sw_diag *d) {
  const double kOfLimit = 0.25;
  sw_plan_options some = part_of_limits(o, kOfLimit);
  sw_plan written;
  sw_breakdown a, b;
  *schedule = (sw_schedule){0};
  if (o->start && o->start->job.schedule) some.start = NULL; /* of the choices */
  const sw_rc fits = sw_plan_search(j, &some, arena, &written, NULL);
  if (fits && fits != SW_E_INFEASIBLE && fits != SW_E_RESOURCE) return SW_FAIL(d, fits, SW_NOWHERE, "no plan is found");
  some = rest_of_limits(o, &some);
  some.start = o->start && o->start->job.schedule ? o->start : fits ? NULL : &written;
  const sw_rc rc = search_choices(j, told, &some, arena, schedule, out, d);
  if (fits) return rc;
  if (d) *d = (sw_diag){0};
  SW_TRY(sw_plan_breakdown(&written, arena, &a, d));
  if (!rc) SW_TRY(sw_plan_breakdown(out, arena, &b, d));
  if (!rc && b.total_s < a.total_s) return SW_OK;
  if (!rc) {
    written.bound_units = out->bound_units < written.bound_units ? out->bound_units : written.bound_units;
    if (written.bound_units < written.cost_units) written.status = SW_SOLVE_FEASIBLE;
    written.pruned_inexact = sw_max_i64(written.pruned_inexact, out->pruned_inexact);
    sw_schedule_deinit(schedule);
  }
  *schedule = (sw_schedule){0};
  *out = written;
  out->job.request = told;
  return SW_OK;
}

sw_rc sw_plan_search_sources(const sw_job *j, const sw_request *told, const sw_plan_options *o, sw_arena *arena,
                             sw_schedule *schedule, sw_plan *out, sw_diag *d) {
  const double since_s = sw_now_s();
  sw_plan_options with = *o;
  sw_ruled_levers levers = {0};
  with.baselines = NULL; /* of the program as it is */
  with.known = NULL;
  with.n_known = 0;
  if (with.levers && with.levers->request != j->request) with.levers = NULL;
  if (!with.levers) SW_TRY(sw_levers_open(j, sw_plan_capacity(j, o), arena, &levers, d));
  if (!with.levers) with.levers = &levers;
  const sw_rc rc = search_beside_written(j, told, &with, arena, schedule, out, d);
  if (!rc) out->time_s = sw_now_s() - since_s;
  sw_levers_close(&levers);
  return rc;
}
