/* shardwright run beside one device: what is compared, and what is said of it. */
#include "cli/run_judged.h"

#include "cli/arrays.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "exec/audit.h"
#include "shardwright/log.h"
#include "shardwright/profile.h"
#include "shardwright/report.h"
#include "report/trace.h"

enum { MOST_COMPARED_BYTES = 1 << 30 };

static int64_t devices_of(const sw_judged *j) {
  return j->plan ? sw_mesh_devices(sw_machine_mesh(j->plan->job.machine)) : j->local->devices;
}

/* --- what is compared --------------------------------------------------------------------------------------------- */

static sw_rc validate_judged(const sw_judged *j, const sw_validate_options *o, sw_arena *arena, sw_validation *v,
                             sw_diag *d) {
  return j->plan ? sw_validate(j->plan, o, arena, v, d) : sw_local_validate(j->local, j->whole, o, arena, v, d);
}

/* Bytes of all values of a model. */
static int64_t sum_value_bytes(const sw_graph *g) {
  int64_t sum = 0;
  for (int32_t i = 0; i < g->n_values; i++) {
    int64_t bytes = sw_type_bytes(&g->values[i].type);
    sum = bytes < 0 || bytes > INT64_MAX - sum ? INT64_MAX : sum + bytes;
  }
  return sum;
}

/* Are values in between to be compared, and is there room to keep them? */
static bool compares_all(const sw_judged *j, const sw_judged_options *o) {
  if (o->outputs_only || o->o.mpi) return false;
  if (sum_value_bytes(j->whole) <= MOST_COMPARED_BYTES) return true;
  sw_log(SW_LOG_WARN, "only outputs are compared: all values together take more than %d MiB",
         (int)(MOST_COMPARED_BYTES >> 20));
  return false;
}

/* The run once more, comparing every value: a run of its own, so that the first one's time is that of the program. It
 * knows what rounding may do, so its word on the outputs counts: the first one takes an f32 for exact to f32's last
 * places, though it may come from sums in f16. */
static sw_rc compare_all(const sw_judged *j, const sw_validate_options *o, sw_arena *arena, sw_validation *v,
                         sw_diag *d) {
  sw_validate_options all = *o;
  sw_validation second;
  all.intermediates = true;
  all.outputs = NULL;
  all.on_op = NULL;
  all.on_call = NULL;
  SW_TRY(validate_judged(j, &all, arena, &second, d));
  v->matches = second.matches;
  v->outputs = second.outputs;
  v->values_compared = second.values_compared;
  v->first_bad_op = second.first_bad_op;
  v->first_bad = second.first_bad;
  v->nearest = second.nearest;
  v->overflow = second.overflow;
  return SW_OK;
}

/* Of a text, what rounding may do is found out at once, as it may have been made by others. */
static sw_rc validate_in_full(const sw_judged *j, const sw_judged_options *jo, sw_validate_options *o, sw_arena *arena,
                              sw_validation *v, sw_diag *d) {
  bool planned = j->plan && !o->against, all = compares_all(j, jo);
  o->intermediates = all && !planned;
  SW_TRY(validate_judged(j, o, arena, v, d));
  return all && planned ? compare_all(j, o, arena, v, d) : SW_OK;
}

/* The right run is what is said of it besides. */
static sw_rc audit_all(const sw_judged *j, const sw_judged_options *jo, sw_validate_options *o, sw_arena *arena,
                       sw_audit *a, sw_validation *v, sw_diag *d) {
  o->intermediates = compares_all(j, jo);
  SW_TRY(j->plan ? sw_audit_plan(j->plan, o, arena, a, d) : sw_audit_local(j->local, j->whole, o, arena, a, d));
  *v = a->right;
  return SW_OK;
}

/* With arrays from and to folders, where asked. */
static sw_rc validate_with_arrays(const sw_judged *j, const sw_judged_options *jo, sw_validate_options *o,
                                  sw_arena *arena, sw_audit *audit, sw_validation *v, sw_diag *d) {
  const sw_graph *g = j->whole;
  sw_tensor *inputs, *outputs;
  SW_ARENA_NEW(inputs, arena, g->n_args, d);
  SW_ARENA_NEW(outputs, arena, g->n_outputs, d);
  SW_TRY(sw_arrays_check(g, jo->inputs, jo->outputs, d));
  if (jo->inputs) {
    SW_TRY(sw_arrays_read(g, jo->inputs, inputs, d));
    o->inputs = inputs;
  }
  if (jo->outputs) o->outputs = outputs;
  sw_rc rc = audit ? audit_all(j, jo, o, arena, audit, v, d) : validate_in_full(j, jo, o, arena, v, d);
  if (!rc && jo->outputs && v->device == 0) rc = sw_arrays_write(g, jo->outputs, outputs, d);
  sw_arrays_free(inputs, g->n_args);
  sw_arrays_free(outputs, g->n_outputs);
  return rc;
}

/* What follows for the exit status. */
static sw_rc exit_verdict(const sw_run_said *s, sw_diag *d) {
  const sw_validation *v = s->v;
  const sw_audit *a = s->audit;
  if (v->matches && a && a->count[SW_AUDIT_MISSED]) {
    return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE,
                   "%d of %d faults change what is compared bit for bit, and are not noticed",
                   a->count[SW_AUDIT_MISSED], a->n_entries);
  }
  if (v->matches) return SW_OK;
  if (v->device != 0) return SW_E_MISMATCH; /* told by device 0's process */
  if (v->overflow.value) {
    sw_text text = {0};
    sw_report_overflow(&v->overflow, &text);
    sw_rc rc = SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "%s", sw_text_str(&text));
    sw_text_free(&text);
    return rc;
  }
  return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "the partitioned program does not compute what the %s does",
                 s->of_whole ? "model" : "whole one");
}

/* The plan's time under its profile. */
static sw_rc predict(const sw_judged *j, sw_run_said *s, sw_arena *arena, sw_diag *d) {
  sw_breakdown a;
  if (!j->plan) return SW_OK;
  SW_TRY(sw_plan_breakdown(j->plan, arena, &a, d));
  s->plan = j->plan;
  s->predicted_s = a.total_s;
  return SW_OK;
}

static sw_rc print_judged_run(const sw_run_said *s, bool json, const sw_call *call, sw_diag *d) {
  sw_text out = {0};
  if (s->v->device == 0) (json ? sw_report_run_json : sw_report_run)(s, &out);
  SW_TRY(json ? sw_print_text(&out, d) : sw_print_answer(call, &out, d));
  return exit_verdict(s, d);
}

static void name_streams(const sw_plan *p, const char **out) {
  const int n_levels = sw_machine_profile(p->job.machine)->n_levels;
  for (int s = SW_STREAM_WORK; s < SW_MAX_STREAMS; s++)
    if (s < SW_STREAM_LEVEL + n_levels || s >= SW_STREAM_TO_HOST) out[s] = sw_stream_text(p, s);
}

sw_rc sw_run_judged(const sw_judged *j, const sw_judged_options *jo, const sw_call *call, sw_diag *d) {
  const sw_graph *g = j->plan ? j->plan->job.graph : j->local->graph;
  sw_validate_options o = jo->o;
  sw_validation v;
  sw_audit audit;
  sw_trace *trace;
  sw_run_said said = {.model = g->name,
                      .of_whole = g == j->whole,
                      .v = &v,
                      .audit = jo->audit ? &audit : NULL,
                      .devices = devices_of(j)};
  const char *streams[SW_MAX_STREAMS] = {NULL};
  const bool delayed = j->plan && o.delayed_step_s > 0;
  if (delayed) name_streams(j->plan, streams);
  SW_TRY(sw_run_trace_open(jo->trace, o.mpi, said.devices, delayed ? streams : NULL, &trace, d));
  if (trace) {
    o.on_op = sw_trace_on_op;
    o.on_call = delayed ? NULL : sw_trace_on_call; /* they are items of streams */
    o.listener = trace;
  }
  sw_rc rc = validate_with_arrays(j, jo, &o, call->arena, jo->audit ? &audit : NULL, &v, d);
  SW_TRY(sw_run_trace_close(trace, jo->trace, rc, d));
  if (o.inject_fault > v.collectives) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--inject-fault %d: the program has %d collectives", o.inject_fault,
                   v.collectives);
  }
  SW_TRY(predict(j, &said, call->arena, d));
  return print_judged_run(&said, jo->json, call, d);
}
