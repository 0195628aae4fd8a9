/* The report as JSON: docs/report-format.md. Seconds and bytes of one device throughout. */
#include <string.h>

#include "graph/find.h"
#include "graph/said.h"
#include "report/answer.h"
#include "report/beside.h"
#include "report/completion.h"
#include "report/folded_rows.h"
#include "report/made_again.h"
#include "report/memory.h"
#include "report/places.h"
#include "report/words.h"
#include "io/json_write.h"
#include "shardwright/report.h"

static void put_seconds(sw_json_out *o, const sw_breakdown *a) {
  sw_jw_f64(o, "total_s", a->total_s);
  if (a->timeline) sw_jw_f64(o, "sum_s", a->sum_s);
  sw_jw_f64(o, "local_s", a->local_s);
  sw_jw_f64(o, "reshard_s", a->reshard_s);
  sw_jw_f64(o, "inside_ops_s", a->move_s);
  sw_jw_f64(o, "hidden_s", a->hidden_s);
}

/* Only what is known. */
static void put_throughput(sw_json_out *o, const sw_throughput *t) {
  if (t->batch) {
    sw_jw_i64(o, "batch", t->batch);
    sw_jw_f64(o, "samples_per_s_per_device", t->samples_per_s);
  }
  if (t->tokens) {
    sw_jw_i64(o, "tokens", t->tokens);
    sw_jw_f64(o, "tokens_per_s_per_device", t->tokens_per_s);
  }
  if (t->utilisation > 0) {
    sw_jw_f64(o, "model_flops", t->model_flops);
    sw_jw_f64(o, "model_flops_utilisation", t->utilisation);
  }
}

static void put_summary(sw_json_out *o, const sw_report *r) {
  const sw_plan *p = r->plan;
  const sw_breakdown *a = r->breakdown;
  sw_jw_string(o, "model", p->job.graph->name);
  sw_jw_string(o, "profile", sw_profile_name(sw_machine_profile(p->job.machine)));
  const char *roofline = sw_profile_roofline_text(sw_machine_profile(p->job.machine));
  if (roofline) sw_jw_string(o, "prices", roofline);
  sw_jw_mesh(o, "mesh", sw_machine_mesh(p->job.machine));
  sw_jw_i64(o, "devices", sw_mesh_devices(sw_machine_mesh(p->job.machine)));
  sw_jw_i64(o, "ops", p->job.graph->n_ops);
  sw_jw_string(o, "compiler", sw_compiled_as(&p->job));
  sw_jw_string(o, "dtype", sw_dtype_text(sw_job_dtype(&p->job)));
  sw_jw_string(o, "origin", p->origin);
  if (p->solver && (strcmp(p->origin, "search") == 0 || p->n_nodes > 0)) { /* a file keeps no record of the search */
    sw_jw_string(o, "status", sw_solve_status_text(p->status));
    sw_jw_string(o, "solver", p->solver);
    sw_jw_f64(o, "bound_s", sw_plan_bound_s(p, a));
    sw_jw_f64(o, "gap", sw_plan_gap(p));
    sw_jw_f64(o, "dearer_than_found", sw_plan_dearer(p));
    sw_jw_bool(o, "bound_proven", sw_plan_bound_is_proven(p));
    sw_jw_i64(o, "strategies_dropped_inexactly", p->pruned_inexact);
  }
  put_seconds(o, a);
  sw_jw_f64(o, "flops", a->flops);
  sw_jw_f64(o, "moved_bytes", a->moved_bytes);
  sw_jw_f64(o, "redundant_flops", sw_breakdown_redundant_flops(a, p->job.machine));
  sw_jw_i64(o, "reshards_through_full_replication", a->full_replications);
  put_throughput(o, &r->throughput);
}

static void put_words(sw_json_out *o, const sw_plan *p) {
  sw_text t = {0};
  if (sw_plan_words(p, &t, NULL)) o->text->rc = SW_E_RESOURCE;
  sw_jw_text(o, "in_words", &t);
}

static void put_report_collectives(sw_json_out *o, const sw_report *r) {
  const sw_mesh *m = sw_machine_mesh(r->plan->job.machine);
  sw_jw_array(o, "by_collective");
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    const sw_collective_sum *s = &r->breakdown->by_collective[i];
    if (!s->calls) continue;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "op", sw_coll_text((sw_coll_op)i));
    sw_jw_i64(o, "calls", s->calls);
    if (s->parts) sw_jw_i64(o, "parts", s->parts);
    sw_jw_f64(o, "bytes", s->bytes);
    sw_jw_f64(o, "seconds", s->seconds);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_jw_array(o, "by_axis");
  for (int i = 0; i < m->n_axes; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "axis", m->axis[i].name);
    sw_jw_i64(o, "size", m->axis[i].size);
    sw_jw_f64(o, "seconds", r->breakdown->axis_s[i]);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

/* How often something in loops runs; figures beside it are of once. */
static void put_repeats(sw_json_out *o, int64_t repeats) {
  if (repeats != 1) sw_jw_i64(o, "repeats", repeats);
}

/* What an op exchanges by itself. */
static void put_op_moves(sw_json_out *o, const sw_report *r, sw_id op) {
  const sw_op_moves *t = &r->breakdown->moves[op];
  const double inside_s = r->breakdown->op[op].move_s;
  if (t->bytes <= 0 && inside_s <= 0) return;
  sw_jw_f64(o, "inside_s", inside_s);
  sw_jw_f64(o, "inside_bytes", t->bytes);
  if (t->hidden_s > 0) sw_jw_f64(o, "hidden_s", t->hidden_s);
}

static void put_report_ops(sw_json_out *o, const sw_report *r, sw_places *places) {
  const sw_plan *p = r->plan;
  const sw_mesh *m = sw_machine_mesh(p->job.machine);
  const sw_graph *g = p->job.graph;
  sw_jw_array(o, "ops_in_order");
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    const sw_op_cost *c = &r->breakdown->op[i];
    const bool of_stack = sw_op_is_on_host(g, op) || op->code == SW_OP_CONSTANT; /* that is offloaded */
    const sw_entry *e = sw_job_entry(&p->job, i);
    sw_text t = {0};
    sw_sharding s;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", op->name);
    sw_jw_string(o, "op", sw_opcode_text(op->code));
    sw_strategy_print(m, op->nest, &p->ops[i], &t);
    sw_jw_text(o, "strategy", &t);
    if (op->n_results) { /* control flow has marks without results */
      sw_strategy_result(op, &p->ops[i], 0, &s);
      sw_jw_sharding(o, "result", m, &s);
    }
    sw_jw_f64(o, "local_s", c->local_s);
    put_op_moves(o, r, i);
    sw_jw_f64(o, "flops", c->flops);
    sw_jw_f64(o, "bytes", c->bytes);
    if (p->job.kernels) sw_jw_i64(o, "kernel", p->job.kernels->of[i]);
    put_repeats(o, op->repeats);
    if (e && e->instance) sw_jw_string(o, "again_of", p->job.schedule->program->ops[e->op].name);
    if (e && e->source && of_stack) e = NULL;
    if (e && e->source && e->op >= 0) sw_jw_string(o, "made_by", p->job.schedule->program->ops[e->op].name);
    if (e && e->source) sw_jw_string(o, sw_source_text(e->source), p->job.schedule->program->values[e->value].name);
    sw_places_of_op(places, op, o);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static const char *kind_text(sw_value_kind kind) {
  static const char *const kKinds[] = {
      [SW_VALUE_INPUT] = "input", [SW_VALUE_PARAMETER] = "parameter", [SW_VALUE_STATE] = "state"};
  return kKinds[kind];
}

/* What an argument is, or the first of a group; the shape only where all have it. */
static void put_argument(sw_json_out *o, const sw_plan *p, int32_t i, bool shape) {
  const sw_value *v = &p->job.graph->values[p->job.graph->args[i]];
  sw_jw_string(o, "kind", kind_text(v->kind));
  sw_jw_string(o, "dtype", sw_dtype_text(v->type.dtype));
  if (shape) sw_jw_i64_list(o, "shape", v->type.dims, v->type.rank);
  const sw_sharding said = sw_value_said(p->job.request, p->job.graph->args[i], &p->args[i]);
  sw_jw_sharding(o, "sharding", sw_machine_mesh(p->job.machine), &said);
}

static void put_argument_groups(sw_json_out *o, const sw_plan *p, const sw_arg_rows *groups) {
  sw_jw_array(o, "argument_groups");
  for (int32_t i = 0; i < groups->n; i++) {
    const sw_folded_name *g = &groups->at[i];
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", g->name);
    sw_jw_i64(o, "count", g->n);
    put_argument(o, p, g->items[0], g->uniform);
    sw_jw_i64(o, "bytes", sw_arg_row_bytes(p, g));
    sw_jw_row(o, "arguments");
    for (int32_t k = 0; k < g->n; k++) sw_jw_i64(o, NULL, g->items[k]);
    sw_jw_end(o);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void put_report_arguments(sw_json_out *o, const sw_report *r, const sw_arg_rows *groups, sw_places *places) {
  const sw_plan *p = r->plan;
  sw_jw_array(o, "arguments");
  for (int32_t i = 0; i < p->job.graph->n_args; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", p->job.graph->values[p->job.graph->args[i]].name);
    put_argument(o, p, i, true);
    sw_jw_i64(o, "bytes", sw_arg_bytes(p, i));
    sw_places_of_arg(places, &p->job.graph->values[p->job.graph->args[i]], o);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  put_argument_groups(o, p, groups);
}

static void put_outputs(sw_json_out *o, const sw_plan *p) {
  sw_jw_array(o, "outputs");
  for (int32_t i = 0; i < p->job.graph->n_outputs; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", p->job.graph->output_names[i]);
    sw_jw_sharding(o, "sharding", sw_machine_mesh(p->job.machine), &p->outputs[i]);
    if (p->job.graph->alias[i] >= 0) sw_jw_string(o, "replaces", p->job.graph->values[p->job.graph->alias[i]].name);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

/* Why a reshard is there: what makes the value, and who wants it otherwise. */
static void put_plan_reshard(sw_json_out *o, const sw_plan *p, const sw_plan_reshard *r, sw_places *places) {
  const sw_mesh *m = sw_machine_mesh(p->job.machine);
  const sw_value *v = &p->job.graph->values[r->value];
  sw_jw_object(o, NULL);
  sw_jw_string(o, "value", v->name);
  sw_jw_string(o, "made_by", v->def >= 0 ? p->job.graph->ops[v->def].name : "argument");
  sw_jw_row(o, "wanted_by");
  for (int32_t i = 0; i < r->n_uses; i++) sw_jw_string(o, NULL, sw_use_name(p->job.graph, r->uses[i]));
  sw_jw_end(o);
  if (r->uses[0].op >= 0)
    sw_places_of_op(places, &p->job.graph->ops[r->uses[0].op], o);
  else
    sw_places_of_arg(places, v, o);
  sw_jw_sharding(o, "from", m, &r->from);
  sw_jw_sharding(o, "to", m, &r->to);
  sw_jw_string(o, "cause",
               r->from.n_partial > r->to.n_partial ? "the result is partial and must be completed"
               : v->def < 0                        ? "the argument is held in another sharding than its use wants"
                                                   : "the op that uses it is cut differently");
  put_repeats(o, sw_value_repeats(p->job.graph, r->value));
  sw_jw_i64(o, "step", r->steps.first);
  sw_jw_f64(o, "seconds", r->route->cost_s);
  if (r->break_s > 0) sw_jw_f64(o, "break_s", r->break_s);
  sw_jw_f64(o, "bytes", r->route->max_bytes);
  sw_jw_f64(o, "least_bytes", r->route->bound_max_bytes);
  sw_jw_bool(o, "through_full_replication", r->route->full_replication);
  sw_jw_array(o, "steps");
  for (int k = 0; k < r->route->n_steps; k++) {
    sw_text t = {0};
    sw_collective_print(m, &r->route->step[k].coll, &t);
    sw_jw_object_row(o, NULL);
    sw_jw_text(o, "collective", &t);
    sw_jw_f64(o, "bytes", r->route->step[k].max_bytes);
    sw_jw_f64(o, "seconds", r->route->step[k].cost_s);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_jw_end(o);
}

static void put_reshards(sw_json_out *o, const sw_report *r, sw_places *places) {
  sw_arena scratch = {0};
  const sw_folded_name *groups;
  int32_t n = 0;
  sw_jw_array(o, "reshards");
  for (int32_t i = 0; i < r->breakdown->n_reshards; i++)
    put_plan_reshard(o, r->plan, &r->breakdown->reshards[i], places);
  sw_jw_end(o);
  if (sw_fold_reshards(r->plan, r->breakdown, &scratch, &n, &groups, NULL)) o->text->rc = SW_E_RESOURCE, n = 0;
  sw_jw_array(o, "reshard_groups");
  for (int32_t i = 0; i < n; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", groups[i].name);
    sw_jw_i64(o, "count", groups[i].n);
    sw_jw_row(o, "reshards");
    for (int32_t k = 0; k < groups[i].n; k++) sw_jw_i64(o, NULL, groups[i].items[k]);
    sw_jw_end(o);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_arena_deinit(&scratch);
}

/* All that is ever held: of each row first step, last step and bytes of each thing in it, one after the other. */
static void put_held(sw_json_out *o, const sw_report *r) {
  sw_arena scratch = {0};
  sw_memory m = {0};
  if (sw_memory_at(r->plan, r->breakdown, SW_ALL_STEPS, &scratch, &m, NULL)) o->text->rc = SW_E_RESOURCE, m.n = 0;
  sw_jw_array(o, "held");
  for (int32_t i = 0; i < m.n; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "class", sw_memory_class_text(m.rows[i].class_of));
    sw_jw_string(o, "name", m.rows[i].name);
    sw_jw_row(o, "steps");
    for (int32_t k = 0; k < m.rows[i].count; k++) {
      sw_jw_i64(o, NULL, m.rows[i].lives[k]->steps.first);
      sw_jw_i64(o, NULL, m.rows[i].lives[k]->steps.last);
      sw_jw_i64(o, NULL, m.rows[i].lives[k]->bytes);
    }
    sw_jw_end(o);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_arena_deinit(&scratch);
}

static void put_timed(sw_json_out *o, const sw_report *r, const sw_timed *e) {
  const char *collective = sw_timed_collective(r->breakdown, e);
  sw_jw_object_row(o, NULL);
  if (e->reshard < 0)
    sw_jw_string(o, "op", r->plan->job.graph->ops[e->op].name);
  else
    sw_jw_i64(o, "reshard", e->reshard);
  if (collective) sw_jw_string(o, "collective", collective);
  sw_jw_string(o, "stream", sw_stream_text(r->plan, e->stream));
  sw_jw_f64(o, "start_s", e->start_s);
  sw_jw_f64(o, "end_s", e->end_s);
  put_repeats(o, e->repeats);
  if (sw_timed_is_exchange(e)) sw_jw_f64(o, "exposed_s", e->exposed_s);
  sw_jw_end(o);
}

static void put_timeline(sw_json_out *o, const sw_report *r) {
  const sw_timeline *t = r->breakdown->timeline;
  if (!t) return;
  sw_jw_object(o, "timeline");
  sw_jw_f64(o, "kernels_s", t->sums.work_s);
  sw_jw_f64(o, "slowed_s", t->sums.slowed_s);
  sw_jw_f64(o, "exposed_s", t->sums.exposed_s);
  sw_jw_f64(o, "waiting_s", t->sums.waited_s);
  sw_jw_f64(o, "launches_s", t->launches_s);
  sw_jw_i64(o, "in_flight_bytes", t->in_flight_bytes);
  sw_jw_array(o, "levels");
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++) {
    if (t->busy_s[s] <= 0) continue;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "level", sw_stream_text(r->plan, s));
    sw_jw_f64(o, "seconds", t->busy_s[s]);
    sw_jw_f64(o, "exposed_s", t->exposed_s[s]);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_jw_array(o, "entries");
  for (int32_t i = 0; i < t->n; i++) {
    const sw_timed *e = &t->at[i];
    if (e->end_s > e->start_s) put_timed(o, r, e);
  }
  sw_jw_end(o);
  sw_jw_end(o);
}

static void put_classes(sw_json_out *o, const int64_t *bytes) {
  sw_jw_array(o, "classes_at_peak");
  for (int c = 0; c < SW_MEMORY_CLASSES; c++) {
    if (!bytes[c]) continue;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "class", sw_memory_class_text((sw_memory_class)c));
    sw_jw_i64(o, "bytes", bytes[c]);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

/* All that is held at the peak: bytes by class, and its rows. */
static void put_peak(sw_json_out *o, const sw_report *r) {
  sw_arena scratch = {0};
  sw_memory m = {0};
  if (sw_memory_at(r->plan, r->breakdown, r->breakdown->peak_step, &scratch, &m, NULL)) o->text->rc = SW_E_RESOURCE;
  put_classes(o, m.bytes);
  sw_memory_rows_json(&m, "held_at_peak", o);
  sw_arena_deinit(&scratch);
}

static void put_report_memory(sw_json_out *o, const sw_report *r) {
  enum { SHOWN = 10 };
  const sw_breakdown *a = r->breakdown;
  const sw_live *top[SHOWN];
  const int32_t n = sw_breakdown_largest(a, a->peak_step, SHOWN, top);
  sw_jw_object(o, "memory");
  if (r->plan->capacity_bytes != INT64_MAX) sw_jw_i64(o, "capacity_bytes", r->plan->capacity_bytes);
  sw_jw_i64(o, "peak_bytes", a->peak_bytes);
  sw_jw_i64(o, "peak_step", a->peak_step);
  sw_jw_i64(o, "parameter_and_state_bytes", a->param_bytes);
  sw_jw_array(o, "largest_at_peak");
  for (int32_t i = 0; i < n; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "value", r->plan->job.graph->values[top[i]->value].name);
    sw_jw_bool(o, "resharded_copy", top[i]->kind == SW_LIVE_COPY);
    sw_jw_i64(o, "bytes", top[i]->bytes);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  put_peak(o, r);
  put_held(o, r);
  sw_jw_i64_list(o, "bytes_at_step", a->bytes_at, a->n_steps);
  sw_jw_end(o);
}

/* By argument group, the sharding that all of it have there; null where they differ. */
static void put_group_shardings(sw_json_out *o, const sw_plan *p, const sw_arg_rows *groups) {
  sw_jw_row(o, "shardings");
  for (int32_t i = 0; i < groups->n; i++) {
    const sw_folded_name *g = &groups->at[i];
    bool alike = true;
    for (int32_t k = 1; k < g->n && alike; k++) alike = sw_sharding_equal(&p->args[g->items[0]], &p->args[g->items[k]]);
    if (alike)
      sw_jw_sharding(o, NULL, sw_machine_mesh(p->job.machine), &p->args[g->items[0]]);
    else
      sw_jw_null(o, NULL);
  }
  sw_jw_end(o);
}

static void put_compared_plan(sw_json_out *o, const sw_report *r, const sw_comparison *c, const int64_t *bytes,
                              const sw_arg_rows *groups) {
  put_words(o, &c->plan);
  sw_jw_bool(o, "fits", sw_comparison_fits(r, c));
  if (c->spread) sw_jw_string(o, "spread", c->spread);
  if (c->uncut) sw_jw_string(o, "uncut", c->uncut);
  put_seconds(o, &c->breakdown);
  sw_jw_i64(o, "peak_bytes", c->breakdown.peak_bytes);
  put_classes(o, bytes);
  put_group_shardings(o, &c->plan, groups);
}

static void put_comparisons(sw_json_out *o, const sw_report *r, const sw_arg_rows *groups) {
  sw_arena scratch = {0};
  sw_found_classes found = {0};
  sw_jw_array(o, "comparisons");
  for (int i = 0; i < r->n_comparisons; i++) {
    const sw_comparison *c = &r->comparisons[i];
    int64_t bytes[SW_MEMORY_CLASSES];
    if (c->made && sw_memory_at_peak(&c->plan, &c->breakdown, &found, &scratch, bytes, NULL))
      o->text->rc = SW_E_RESOURCE;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "plan", c->name);
    sw_jw_bool(o, "made", c->made);
    if (c->breaks) sw_jw_string(o, "breaks", c->breaks);
    if (c->made) put_compared_plan(o, r, c, bytes, groups);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_arena_deinit(&scratch);
}

static void put_sources(sw_json_out *o, const sw_report *r) {
  sw_jw_array(o, "source_lines");
  for (int32_t i = 0; i < r->n_sources; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "file", r->sources[i].file);
    sw_jw_i64(o, "line", r->sources[i].line);
    sw_jw_string(o, "text", r->sources[i].text);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void put_lower_memory(sw_json_out *o, const sw_report *r) {
  if (!r->n_lower_memory) return;
  sw_jw_array(o, "lower_memory");
  for (int32_t i = 0; i < r->n_lower_memory; i++) sw_answer_json(r, r->lower_memory[i], o);
  sw_jw_end(o);
}

static void put_made_again(sw_json_out *o, const sw_report *r) {
  sw_arena scratch = {0};
  sw_made_again again;
  if (sw_made_again_find(r->plan, r->breakdown, &scratch, &again, NULL))
    o->text->rc = SW_E_RESOURCE;
  else
    sw_made_again_json(&again, r->breakdown->total_s, o);
  sw_arena_deinit(&scratch);
}

void sw_report_json(const sw_report *r, sw_text *out) {
  sw_json_out o;
  sw_arena scratch = {0};
  sw_arg_rows groups = {0};
  sw_places places = {0};
  if (sw_fold_args(r->plan, &scratch, &groups, NULL)) out->rc = SW_E_RESOURCE, groups.n = 0;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "report", 2);
  put_words(&o, r->plan);
  put_summary(&o, r);
  if (r->completes) sw_completion_json(r->plan, &o);
  put_comparisons(&o, r, &groups);
  put_report_arguments(&o, r, &groups, &places);
  put_outputs(&o, r->plan);
  put_report_collectives(&o, r);
  put_report_memory(&o, r);
  put_made_again(&o, r);
  put_lower_memory(&o, r);
  put_reshards(&o, r, &places);
  put_timeline(&o, r);
  put_report_ops(&o, r, &places);
  sw_places_end(&places, &o);
  put_sources(&o, r);
  sw_jw_end(&o);
  sw_arena_deinit(&scratch);
}
