/* shardwright run of a program that is partitioned already, by itself. */
#include "cli/run_local.h"

#include "cli/arrays.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "shardwright/log.h"
#include "report/trace.h"

static sw_rc print_run(const sw_local_program *p, const sw_local_stats *stats, int64_t torn, bool json,
                       const sw_call *call, sw_diag *d) {
  sw_text out = {0};
  int32_t n = p->graph->n_outputs;
  if (torn && stats->device == 0) {
    sw_log(SW_LOG_WARN, "%lld elements of results are not the same on all devices that should hold them",
           (long long)torn);
  }
  if (stats->device != 0) return SW_OK;
  if (json) {
    sw_report_unjudged_json(&(sw_run_unjudged){p->graph, p->devices, &stats->comm, torn, stats->seconds}, &out);
    return sw_print_text(&out, d);
  }
  sw_text_printf(&out, "%s on %lld devices: %d output%s\n", p->graph->name, (long long)p->devices, (int)n,
                 n == 1 ? "" : "s");
  sw_report_collectives(&stats->comm, &out);
  sw_text_puts(&out, "time: ");
  sw_text_seconds(&out, stats->seconds);
  sw_text_puts(&out, "\n");
  return sw_print_answer(call, &out, d);
}

static sw_rc run_and_join(const sw_local_cli *r, const sw_local_program *p, const sw_tensor *args, const sw_call *call,
                          sw_diag *d) {
  int32_t n = p->graph->n_outputs;
  int64_t torn = 0;
  sw_tensor *blocks, *outputs;
  sw_local_stats stats;
  SW_ARENA_NEW(blocks, call->arena, p->devices * n, d);
  SW_ARENA_NEW(outputs, call->arena, n, d);
  SW_TRY(sw_local_run(p, args, &r->run, blocks, &stats, d));
  sw_rc rc = sw_local_join(p, blocks, outputs, &torn, d);
  for (int64_t i = 0; i < p->devices * n; i++) sw_tensor_deinit(&blocks[i]);
  if (!rc && r->outputs && stats.device == 0) rc = sw_arrays_write(p->graph, r->outputs, outputs, d);
  sw_arrays_free(outputs, n);
  return rc ? rc : print_run(p, &stats, torn, r->json, call, d);
}

static sw_rc run_traced(const sw_local_cli *r, const sw_local_program *p, const sw_call *call, sw_diag *d) {
  int32_t n = p->graph->n_args;
  const sw_type **types;
  sw_tensor *args;
  SW_ARENA_NEW_EACH(call->arena, n, d, types, args);
  for (int32_t i = 0; i < n; i++) types[i] = &p->args[i].whole;
  SW_TRY(sw_arrays_check(p->graph, r->inputs, r->outputs, d));
  SW_TRY(r->inputs ? sw_arrays_read_as(p->graph, types, r->inputs, args, d)
                   : sw_make_arguments_as(p->graph, types, r->seed, r->random_floats, args, d));
  sw_rc rc = run_and_join(r, p, args, call, d);
  sw_arrays_free(args, n);
  return rc;
}

sw_rc sw_run_local(const sw_local_cli *r, const sw_local_program *p, const sw_call *call, sw_diag *d) {
  sw_local_cli traced = *r;
  sw_trace *trace;
  SW_TRY(sw_run_trace_open(r->trace, r->run.mpi, p->devices, NULL, &trace, d));
  if (trace) {
    traced.run.on_op = sw_trace_on_op;
    traced.run.on_call = sw_trace_on_call;
    traced.run.listener = trace;
  }
  return sw_run_trace_close(trace, r->trace, run_traced(&traced, p, call, d), d);
}
