/* shardwright run of a program that is partitioned already: as it is, or beside the whole program. */
#include "cli/run_local.h"

#include "cli/arrays.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "shardwright/log.h"

static const sw_function *main_of(const sw_graph *g) { return &g->functions[g->main]; }

/* --- alone -------------------------------------------------------------------------------------------------------- */

static sw_rc print_run(const sw_local_program *p, const sw_local_stats *stats, int64_t torn, const sw_call *call,
                       sw_diag *d) {
  sw_text out = {0};
  int32_t n = main_of(p->graph)->n_outputs;
  if (torn) {
    sw_log(SW_LOG_WARN, "%lld elements of results are not the same on all devices that should hold them",
           (long long)torn);
  }
  if (call->common->quiet) return SW_OK;
  sw_text_printf(&out, "%s on %lld devices: %d output%s\n", p->graph->name, (long long)p->devices, (int)n,
                 n == 1 ? "" : "s");
  sw_report_collectives(&stats->comm, &out);
  sw_text_puts(&out, "time: ");
  sw_text_seconds(&out, stats->seconds);
  sw_text_puts(&out, "\n");
  return sw_print_text(&out, d);
}

static sw_rc run_and_join(const sw_local_cli *r, const sw_local_program *p, const sw_tensor *args, const sw_call *call,
                          sw_diag *d) {
  int32_t n = main_of(p->graph)->n_outputs;
  int64_t torn = 0;
  sw_tensor *blocks, *outputs;
  sw_local_stats stats;
  SW_ARENA_NEW(blocks, call->arena, p->devices * n, d);
  SW_ARENA_NEW(outputs, call->arena, n, d);
  SW_TRY(sw_local_run(p, args, &r->run, blocks, &stats, d));
  sw_rc rc = sw_local_join(p, blocks, outputs, &torn, d);
  for (int64_t i = 0; i < p->devices * n; i++) sw_tensor_deinit(&blocks[i]);
  if (!rc && r->outputs) rc = sw_arrays_write(p->graph, r->outputs, outputs, d);
  sw_arrays_free(outputs, n);
  return rc ? rc : print_run(p, &stats, torn, call, d);
}

static sw_rc run_alone(const sw_local_cli *r, const sw_local_program *p, const sw_call *call, sw_diag *d) {
  int32_t n = main_of(p->graph)->n_args;
  const sw_type **types;
  sw_tensor *args;
  SW_ARENA_NEW(types, call->arena, n, d);
  SW_ARENA_NEW(args, call->arena, n, d);
  for (int32_t i = 0; i < n; i++) types[i] = &p->args[i].whole;
  SW_TRY(r->inputs ? sw_arrays_read_as(p->graph, types, r->inputs, args, d)
                   : sw_make_arguments_as(p->graph, types, r->seed, r->random_floats, args, d));
  sw_rc rc = run_and_join(r, p, args, call, d);
  sw_arrays_free(args, n);
  return rc;
}

/* --- beside the whole --------------------------------------------------------------------------------------------- */

static sw_rc print_validation(const sw_local_program *p, const sw_validation *v, const sw_call *call, sw_diag *d) {
  sw_text out = {0};
  sw_text_printf(&out, "%s on %lld devices: %s\n", p->graph->name, (long long)p->devices,
                 v->matches ? "matches the whole program" : "DIFFERS from the whole program");
  for (int32_t i = 0; i < v->n_outputs; i++) sw_report_entry(&v->outputs[i], &out);
  sw_report_collectives(&v->comm, &out);
  sw_text_puts(&out, "time: one device ");
  sw_text_seconds(&out, v->single_s);
  sw_text_puts(&out, ", all devices ");
  sw_text_seconds(&out, v->parallel_s);
  sw_text_puts(&out, "\n");
  if (call->common->quiet) out.n = 0;
  SW_TRY(sw_print_text(&out, d));
  return v->matches ? SW_OK
                    : SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE,
                              "the partitioned program does not compute what the whole one does");
}

static sw_rc validate(const sw_local_cli *r, const sw_local_program *p, const sw_graph *whole, const sw_call *call,
                      sw_validation *v, sw_diag *d) {
  const sw_function *f = main_of(whole);
  sw_validate_options o = {.seed = r->seed,
                           .random_floats = r->random_floats,
                           .intermediates = !r->outputs_only,
                           .timeout_s = r->run.timeout_s,
                           .jitter_seed = r->run.jitter_seed,
                           .cancel = r->run.cancel};
  sw_tensor *inputs, *outputs;
  SW_ARENA_NEW(inputs, call->arena, f->n_args, d);
  SW_ARENA_NEW(outputs, call->arena, f->n_outputs, d);
  if (r->inputs) {
    SW_TRY(sw_arrays_read(whole, r->inputs, inputs, d));
    o.inputs = inputs;
  }
  if (r->outputs) o.outputs = outputs;
  sw_rc rc = sw_local_validate(p, whole, &o, call->arena, v, d);
  if (!rc && r->outputs) rc = sw_arrays_write(whole, r->outputs, outputs, d);
  sw_arrays_free(inputs, f->n_args);
  sw_arrays_free(outputs, f->n_outputs);
  return rc;
}

/* Blocks as a plan of the whole program cuts it. */
static sw_rc cut_as_planned(const sw_plan *plan, sw_local_program *p, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = plan->graph;
  const sw_function *f = main_of(g), *own = main_of(p->graph);
  if (f->n_args != own->n_args || f->n_outputs != own->n_outputs) return SW_OK; /* told when they are compared */
  p->mesh = *sw_machine_mesh(plan->machine);
  p->mesh.device_ids = NULL;
  p->position = NULL;
  SW_ARENA_NEW(p->args, arena, f->n_args, d);
  SW_ARENA_NEW(p->outputs, arena, f->n_outputs, d);
  for (int32_t i = 0; i < f->n_args; i++) {
    sw_sharding s = plan->args_whole ? sw_sharding_replicated(plan->args[i].rank) : plan->args[i];
    p->args[i] = (sw_local_border){g->values[f->args[i]].type, s, true};
  }
  for (int32_t i = 0; i < f->n_outputs; i++) {
    p->outputs[i] = (sw_local_border){g->values[f->outputs[i]].type, plan->outputs[i], true};
  }
  return sw_local_verify(p, d);
}

static sw_rc run_beside(const sw_local_cli *r, const sw_local_program *p, const sw_call *call, sw_diag *d) {
  sw_model_options from = *r->from;
  sw_local_program cut = *p;
  sw_session session;
  sw_validation v;
  sw_plan plan;
  from.model = r->against;
  SW_TRY(r->plan ? sw_session_open_plan(&from, r->plan, call->arena, &session, &plan, d)
                 : sw_session_open(&from, call->arena, &session, d));
  sw_rc rc = r->plan ? cut_as_planned(&plan, &cut, call->arena, d) : SW_OK;
  if (!rc) rc = validate(r, &cut, session.graph, call, &v, d);
  if (!rc) rc = print_validation(p, &v, call, d);
  sw_session_close(&session);
  return rc;
}

sw_rc sw_run_local(const sw_local_cli *r, const sw_local_program *p, const sw_call *call, sw_diag *d) {
  return r->against ? run_beside(r, p, call, d) : run_alone(r, p, call, d);
}
