/* shardwright run: execute a plan on device threads and compare it with one device. */
#include <string.h>

#include "cli/arrays.h"
#include "cli/output.h"
#include "cli/run_local.h"
#include "cli/run_report.h"
#include "cli/run_whole.h"
#include "cli/session.h"
#include "shardwright/log.h"
#include "shardwright/trace.h"
#include "shardwright/validate.h"

enum { MOST_COMPARED_BYTES = 1 << 30, MOST_SEARCH_S = 10 };

typedef struct settings {
  sw_model_options from;
  const char *plan, *against, *engine, *inputs, *outputs, *trace;
  int64_t seed, sabotage, jitter;
  double timeout;
  bool random_floats, outputs_only, sabotage_alters;
} settings;

static const sw_operand kOperands[] = {
    {.name = "MODEL", .help = SW_MODEL_HELP, .into = SW_INTO_TEXT(settings, from.model)}};

static const sw_option kOptions[] = {
    {"plan", 0, SW_OPTION_FILE, "FILE", NULL, "the plan to execute; without one the whole model, on one device",
     SW_INTO_TEXT(settings, plan)},
    {"against", 0, SW_OPTION_FILE, "WHOLE", NULL,
     "MODEL is partitioned already: compare it with this program, which it was made of; with --plan, its arguments and "
     "results are cut as the plan says",
     SW_INTO_TEXT(settings, against)},
    {"hw", 0, SW_OPTION_FILE, "PROFILE", "local",
     "profile that prices the plan and chooses its routes; that of the search: exactly the program that was priced",
     SW_INTO_TEXT(settings, from.hw)},
    SW_PROGRAM_OPTIONS(settings),
    {"comm", 0, SW_OPTION_CHOICE, "ENGINE", "threads",
     "what devices are: threads of this process, or the processes of mpirun", SW_INTO_TEXT(settings, engine),
     .choices = "threads|mpi"},
    {"inputs", 0, SW_OPTION_DIR, "DIR", NULL, "take every argument from DIR/NAME.npy instead of making it up",
     SW_INTO_TEXT(settings, inputs)},
    {"outputs", 0, SW_OPTION_DIR, "DIR", NULL, "write every output, joined from the devices, to DIR/NAME.npy",
     SW_INTO_TEXT(settings, outputs)},
    {"trace", 0, SW_OPTION_FILE, "FILE", NULL, "write a timeline of the devices, for chrome://tracing or Perfetto",
     SW_INTO_TEXT(settings, trace)},
    {"seed", 0, SW_OPTION_INT, "K", "1", "seed of the arguments", SW_INTO_INT(settings, seed), .min = 0, .max = 1e15},
    {"random-floats", 0, SW_OPTION_FLAG, NULL, NULL, "random floats as arguments instead of small integers",
     SW_INTO_FLAG(settings, random_floats)},
    {"outputs-only", 0, SW_OPTION_FLAG, NULL, NULL,
     "do not run again to compare every value and name the first op that differs",
     SW_INTO_FLAG(settings, outputs_only)},
    {"timeout", 0, SW_OPTION_NUMBER, "S", "30", "seconds that a device waits for the others",
     SW_INTO_NUMBER(settings, timeout), .min = 0.001, .max = 86400},
    {"jitter", 0, SW_OPTION_INT, "SEED", "0", "random delays before communication; 0: none",
     SW_INTO_INT(settings, jitter), .min = 0, .max = 1e15},
    {"sabotage", 0, SW_OPTION_INT, "N", "0",
     "leave out the N-th collective of the program, to see that validation notices; 0: none",
     SW_INTO_INT(settings, sabotage), .min = 0, .max = 1e9},
    {"sabotage-alters", 0, SW_OPTION_FLAG, NULL, NULL,
     "--sabotage does it wrongly instead: with another reduction, or its result moved by one element",
     SW_INTO_FLAG(settings, sabotage_alters)},
};

static sw_rc print_result(const sw_plan *plan, const sw_validation *v, const sw_call *call, sw_diag *d) {
  const sw_graph *g = plan->graph;
  sw_account a;
  SW_TRY(sw_plan_account(plan, call->arena, &a, d));
  sw_text out = {0};
  sw_text_printf(&out, "%s on %lld devices: %s\n", g->name, (long long)sw_mesh_devices(sw_machine_mesh(plan->machine)),
                 v->matches ? "matches one device" : "DIFFERS from one device");
  for (int32_t i = 0; i < v->n_outputs; i++) sw_report_entry(&v->outputs[i], &out);
  if (v->values_compared)
    sw_text_printf(&out, "  %lld blocks of intermediate values compared\n", (long long)v->values_compared);
  if (v->first_bad_op) {
    sw_text_printf(&out, "first op that differs: %s\n", v->first_bad_op);
    sw_report_entry(&v->first_bad, &out);
  }
  sw_report_collectives(&v->comm, &out);
  sw_text_puts(&out, "time: one device ");
  sw_text_seconds(&out, v->single_s);
  sw_text_puts(&out, ", all devices ");
  sw_text_seconds(&out, v->parallel_s);
  sw_text_printf(&out, "; predicted under '%s' ", sw_profile_name(sw_machine_profile(plan->machine)));
  sw_text_seconds(&out, a.total_s);
  sw_text_puts(&out, "\n");
  if (call->common->quiet || v->device != 0) out.n = 0;
  SW_TRY(sw_print_text(&out, d));
  if (v->device != 0) return v->matches ? SW_OK : SW_E_MISMATCH; /* told by device 0's process */
  return v->matches
             ? SW_OK
             : SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "the partitioned program does not compute what the model does");
}

/* Bytes of all values of a model. */
static int64_t value_bytes(const sw_graph *g) {
  int64_t sum = 0;
  for (int32_t i = 0; i < g->n_values; i++) {
    int64_t bytes = sw_type_bytes(&g->values[i].type);
    sum = bytes < 0 || bytes > INT64_MAX - sum ? INT64_MAX : sum + bytes;
  }
  return sum;
}

/* The run once more, comparing every value: a run of its own, so that the first one's time is that of the program. */
static sw_rc compare_all(const sw_plan *plan, const sw_validate_options *o, sw_arena *arena, sw_validation *v,
                         sw_diag *d) {
  sw_validate_options all = *o;
  sw_validation second;
  if (value_bytes(plan->graph) > MOST_COMPARED_BYTES) {
    sw_log(SW_LOG_WARN, "only outputs are compared: all values together take more than %d MiB",
           (int)(MOST_COMPARED_BYTES >> 20));
    return SW_OK;
  }
  all.intermediates = true;
  all.outputs = NULL;
  all.on_op = NULL;
  all.on_call = NULL;
  SW_TRY(sw_validate(plan, &all, arena, &second, d));
  v->matches = v->matches && second.matches;
  v->values_compared = second.values_compared;
  v->first_bad_op = second.first_bad_op;
  v->first_bad = second.first_bad;
  return SW_OK;
}

/* Validate with arrays from and to folders, where asked. */
static sw_rc validate(const sw_call *call, const sw_plan *plan, sw_validate_options *o, sw_validation *v, sw_diag *d) {
  const settings *s = call->settings;
  const sw_function *f = &plan->graph->functions[plan->graph->main];
  sw_tensor *inputs, *outputs;
  SW_ARENA_NEW(inputs, call->arena, f->n_args, d);
  SW_ARENA_NEW(outputs, call->arena, f->n_outputs, d);
  if (s->inputs) {
    SW_TRY(sw_arrays_read(plan->graph, s->inputs, inputs, d));
    o->inputs = inputs;
  }
  if (s->outputs) o->outputs = outputs;
  sw_rc rc = sw_validate(plan, o, call->arena, v, d);
  if (!rc && !s->outputs_only && !o->mpi) rc = compare_all(plan, o, call->arena, v, d);
  if (!rc && s->outputs && v->device == 0) rc = sw_arrays_write(plan->graph, s->outputs, outputs, d);
  sw_arrays_free(inputs, f->n_args);
  sw_arrays_free(outputs, f->n_outputs);
  return rc;
}

/* The trace is written whatever the end of the run is; the run's failure is what is returned then. */
static sw_rc validate_traced(const sw_call *call, const sw_plan *plan, sw_validate_options *o, sw_validation *v,
                             sw_diag *d) {
  const settings *s = call->settings;
  sw_trace *trace;
  if (!s->trace) return validate(call, plan, o, v, d);
  if (o->mpi) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--trace needs all devices in one process: --comm threads");
  SW_TRY(sw_trace_create(sw_mesh_devices(sw_machine_mesh(plan->machine)), &trace, d));
  o->on_op = sw_trace_on_op;
  o->on_call = sw_trace_on_call;
  o->listener = trace;
  sw_rc rc = validate(call, plan, o, v, d);
  sw_rc written = sw_trace_write(trace, s->trace, rc ? NULL : d);
  sw_trace_destroy(trace);
  return rc ? rc : written;
}

static sw_rc run_plan(const sw_call *call, const sw_plan *plan, sw_diag *d) {
  const settings *s = call->settings;
  sw_validation v;
  sw_validate_options o = {.seed = (uint64_t)s->seed,
                           .random_floats = s->random_floats,
                           .timeout_s = s->timeout,
                           .sabotage = (int32_t)s->sabotage,
                           .sabotage_alters = s->sabotage_alters,
                           .jitter_seed = (uint64_t)s->jitter,
                           .mpi = strcmp(s->engine, "mpi") == 0,
                           .cancel = call->cancel};
  SW_TRY(validate_traced(call, plan, &o, &v, d));
  if (s->sabotage > v.collectives) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--sabotage %lld: the program has %d collectives", (long long)s->sabotage,
                   v.collectives);
  }
  return print_result(plan, &v, call, d);
}

/* Every reshard is written out: the annotations leave no choice but between ways that cost the same. */
static sw_rc run_resharded(const sw_call *call, const sw_session *session, sw_diag *d) {
  sw_plan plan;
  sw_plan_options o = {.solve = {.time_limit_s = MOST_SEARCH_S, .gap = 0.01, .threads = 1, .cancel = call->cancel}};
  o.selection.capacity_bytes = INT64_MAX / 2;
  SW_TRY(sw_plan_search(session->graph, session->machine, &o, call->arena, &plan, d));
  return run_plan(call, &plan, d);
}

static sw_rc run_partitioned(const sw_call *call, const sw_local_program *local, sw_diag *d) {
  const settings *s = call->settings;
  sw_local_cli l = {.against = s->against,
                    .plan = s->plan,
                    .from = &s->from,
                    .inputs = s->inputs,
                    .outputs = s->outputs,
                    .seed = (uint64_t)s->seed,
                    .random_floats = s->random_floats,
                    .outputs_only = s->outputs_only,
                    .run = {.timeout_s = s->timeout, .jitter_seed = (uint64_t)s->jitter, .cancel = call->cancel}};
  return sw_run_local(&l, local, call, d);
}

static sw_rc run_whole(const sw_call *call, const sw_session *session, sw_diag *d) {
  const settings *s = call->settings;
  sw_whole_run r = {.inputs = s->inputs,
                    .outputs = s->outputs,
                    .seed = (uint64_t)s->seed,
                    .random_floats = s->random_floats,
                    .quiet = call->common->quiet,
                    .cancel = call->cancel};
  return sw_run_whole(&r, session->graph, call->arena, d);
}

/* Without a plan for the model: on one device, or on all when it says what they do. */
static sw_rc run_by_text(const sw_call *call, const sw_session *session, sw_diag *d) {
  const settings *s = call->settings;
  const sw_local_program *local = session->program ? sw_program_local(session->program) : NULL;
  bool resharded = session->program && !local && sw_program_is_resharded(session->program);
  bool mpi = strcmp(s->engine, "mpi") == 0;
  if (s->against && !local) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--against: '%s' is a program of whole tensors; expected one device's",
                   s->from.model);
  }
  if (resharded) return run_resharded(call, session, d);
  if (s->trace || s->sabotage || mpi) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                   "--trace, --sabotage and --comm mpi need a --plan FILE for a whole MODEL");
  }
  return local ? run_partitioned(call, local, d) : run_whole(call, session, d);
}

static sw_rc run(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  bool planned = s->plan && !s->against;
  sw_model_options from = s->from;
  sw_session session;
  sw_plan plan;
  from.by_device = true;
  SW_TRY(planned ? sw_session_open_plan(&s->from, s->plan, call->arena, &session, &plan, d)
                 : sw_session_open(&from, call->arena, &session, d));
  sw_rc rc = planned ? run_plan(call, &plan, d) : run_by_text(call, &session, d);
  sw_session_close(&session);
  return rc;
}

const sw_command sw_command_run = {
    .name = "run",
    .summary = "execute a plan on device threads and compare it with one device",
    .description =
        "Partitions the model under the plan, runs it with one thread per device, and compares every element of every "
        "output on every device with a run on one device; then runs once more to compare every value in between. Exit "
        "status 4 when they differ. Without a plan it runs the model as it is on one device.\n"
        "A StableHLO program that is partitioned already, with collectives among listed devices, runs as it is with "
        "one thread per device; --against compares it with the whole program. Arguments are whole arrays in any case: "
        "each device gets the block that the program's annotations say. One in Shardy's dialect with its collectives "
        "runs under the shardings that it says.\n"
        "With --comm mpi, under the mpirun of a library that shardwright-openmpi or shardwright-mpich is built for, "
        "every "
        "process is one device; the first one prints and writes.\n",
    .example = "shardwright run models/small/gpt2.json --plan plan.json",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = run};
