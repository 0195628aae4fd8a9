/* shardwright run: execute a plan on device threads and compare it with one device. */
#include <string.h>

#include "cli/run_judged.h"
#include "cli/run_local.h"
#include "cli/run_whole.h"
#include "cli/session.h"

typedef struct settings {
  sw_model_options from;
  const char *plan, *against, *engine, *inputs, *outputs, *trace, *passes, *delays;
  int64_t combine_bytes;
  int64_t seed, inject_fault, jitter;
  double timeout, delayed_step;
  bool random_floats, outputs_only, fault_alters, audit, json;
} settings;

static const sw_operand kOperands[] = {
    {.name = "MODEL", .help = SW_MODEL_HELP, .into = SW_INTO_TEXT(settings, from.open.model)}};

static const sw_option kOptions[] = {
    {"plan", 0, SW_OPTION_FILE, "FILE", NULL, "the plan to execute; without one the whole model, on one device",
     SW_INTO_TEXT(settings, plan)},
    SW_ADAPT_OPTION(settings),
    {"against", 0, SW_OPTION_FILE, "WHOLE", NULL,
     "MODEL is partitioned already: compare it with this program, which it was made of; with --plan, its arguments and "
     "results are cut as the plan says, and values that bear the plan's names are compared, too",
     SW_INTO_TEXT(settings, against)},
    {"hw", 0, SW_OPTION_FILE, "PROFILE", "local",
     "profile that prices the plan and chooses its routes; that of the search: exactly the program that was priced",
     SW_INTO_TEXT(settings, from.open.hw)},
    {"mesh", 0, SW_OPTION_TEXT, "MESH", NULL,
     "mesh of a program that is partitioned already, or that says its reshards: in place of the sizes of its own; with "
     "a plan, the plan's",
     SW_INTO_TEXT(settings, from.mesh)},
    SW_PROGRAM_OPTIONS(settings),
    SW_COMPILER_OPTION(settings, from.open.compiler),
    SW_OVERLAP_OPTION(settings, from.open.overlap),
    SW_PASS_OPTIONS(settings),
    {"comm", 0, SW_OPTION_CHOICE, "ENGINE", "threads",
     "what devices are: threads of this process, or the processes of mpirun", SW_INTO_TEXT(settings, engine),
     .choices = "threads|mpi"},
    {"inputs", 0, SW_OPTION_DIR, "DIR", NULL, "take every argument from DIR/NAME.npy instead of making it up",
     SW_INTO_TEXT(settings, inputs)},
    {"outputs", 0, SW_OPTION_DIR, "DIR", NULL, "write every output, joined from the devices, to DIR/NAME.npy",
     SW_INTO_TEXT(settings, outputs)},
    {"trace", 0, SW_OPTION_FILE, "FILE", NULL,
     "write a timeline of the devices, with --delays of their streams, for chrome://tracing or Perfetto",
     SW_INTO_TEXT(settings, trace), .writes = true},
    {"seed", 0, SW_OPTION_INT, "K", "1", "seed of the arguments", SW_INTO_INT(settings, seed), .min = 0, .max = 1e15},
    {"random-floats", 0, SW_OPTION_FLAG, NULL, NULL, "random floats as arguments instead of small integers",
     SW_INTO_FLAG(settings, random_floats)},
    {"outputs-only", 0, SW_OPTION_FLAG, NULL, NULL,
     "do not run again to compare every value and name the first op that differs",
     SW_INTO_FLAG(settings, outputs_only)},
    {"delays", 0, SW_OPTION_FILE, "PROFILE", NULL,
     "in place of --hw: on all devices, kernels and collectives are issued as the plan's timeline on this profile has "
     "them, and take as long, each slowed as many times; outputs alone are compared",
     SW_INTO_TEXT(settings, delays)},
    {"delayed-step", 0, SW_OPTION_NUMBER, "S", "1", "with --delays: seconds that the timeline's step is stretched to",
     SW_INTO_NUMBER(settings, delayed_step), .min = 0.001, .max = 3600},
    {"timeout", 0, SW_OPTION_NUMBER, "S", "30", "seconds that a device waits for the others",
     SW_INTO_NUMBER(settings, timeout), .min = 0.001, .max = 86400},
    {"jitter", 0, SW_OPTION_INT, "SEED", "0", "random delays before communication; 0: none",
     SW_INTO_INT(settings, jitter), .min = 0, .max = 1e15},
    {"inject-fault", 0, SW_OPTION_INT, "N", "0",
     "leave out the N-th collective of the program, to see that validation notices; 0: none",
     SW_INTO_INT(settings, inject_fault), .min = 0, .max = 1e9},
    {"fault-alters", 0, SW_OPTION_FLAG, NULL, NULL,
     "--inject-fault does it wrongly instead: with another reduction, or its result moved by one element",
     SW_INTO_FLAG(settings, fault_alters)},
    {"audit", 0, SW_OPTION_FLAG, NULL, NULL,
     "leave out, shift and mis-reduce every collective in turn: which of these faults are noticed, which have no "
     "effect "
     "and why, and which are undecided, as all that changes is within rounding or nothing does",
     SW_INTO_FLAG(settings, audit)},
    SW_OPTION_JSON_INTO(settings, json),
};

static bool is_mpi(const settings *s) { return strcmp(s->engine, "mpi") == 0; }

/* An audit makes faults of its own, in one process, and keeps nothing. */
static sw_rc check_audit(const settings *s, sw_diag *d) {
  const char *other = s->inject_fault ? "--inject-fault" : s->outputs ? "--outputs" : s->trace ? "--trace" : NULL;
  if (is_mpi(s)) other = "--comm mpi";
  if (!s->audit || !other) return SW_OK;
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--audit and %s exclude each other", other);
}

/* MPI has no threads for streams. */
static sw_rc check_delays(const settings *s, sw_diag *d) {
  const char *other = s->audit ? "--audit" : s->passes ? "--passes" : NULL;
  if (is_mpi(s)) other = "--comm mpi";
  if (!s->delays) return SW_OK;
  if (!s->plan || s->against)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--delays needs a --plan FILE, and no --against");
  return other ? SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--delays and %s exclude each other", other) : SW_OK;
}

static sw_rc run_beside(const sw_call *call, const sw_judged *j, const sw_graph *against, sw_diag *d) {
  const settings *s = call->settings;
  sw_judged_options o = {.inputs = s->inputs,
                         .outputs = s->outputs,
                         .trace = s->trace,
                         .outputs_only = s->outputs_only || s->delays,
                         .audit = s->audit,
                         .json = s->json};
  SW_TRY(check_audit(s, d));
  o.o = (sw_validate_options){.seed = (uint64_t)s->seed,
                              .random_floats = s->random_floats,
                              .timeout_s = s->timeout,
                              .inject_fault = (int32_t)s->inject_fault,
                              .fault_alters = s->fault_alters,
                              .jitter_seed = (uint64_t)s->jitter,
                              .mpi = is_mpi(s),
                              .delayed_step_s = s->delays ? s->delayed_step : 0,
                              .against = against,
                              .cancel = call->cancel};
  return sw_run_judged(j, &o, call, d);
}

/* --- whole programs ----------------------------------------------------------------------------------------------- */

static sw_rc run_resharded(const sw_call *call, const sw_opened *session, const sw_graph *against, sw_diag *d) {
  const settings *s = call->settings;
  sw_plan plan;
  SW_TRY(sw_session_plan_resharded(session, call, &plan, d));
  SW_TRY(sw_session_take_passes(s->passes, s->combine_bytes, call->arena, &plan, d));
  return run_beside(call, &(sw_judged){.whole = against ? against : plan.job.graph, .plan = &plan}, against, d);
}

static sw_rc run_whole(const sw_call *call, const sw_opened *session, sw_diag *d) {
  const settings *s = call->settings;
  sw_whole_run r = {.inputs = s->inputs,
                    .outputs = s->outputs,
                    .seed = (uint64_t)s->seed,
                    .random_floats = s->random_floats,
                    .json = s->json,
                    .cancel = call->cancel};
  SW_TRY(sw_requirements_check(&session->job, d)); /* what no plan could keep, nobody runs */
  return sw_run_whole(&r, session->job.graph, call->arena, d);
}

/* --- programs that say what devices do ---------------------------------------------------------------------------- */

/* What is made up, or read, and not compared with anything. */
static sw_rc run_alone(const sw_call *call, const sw_local_program *local, sw_diag *d) {
  const settings *s = call->settings;
  sw_local_cli l = {
      .inputs = s->inputs,
      .outputs = s->outputs,
      .trace = s->trace,
      .seed = (uint64_t)s->seed,
      .random_floats = s->random_floats,
      .json = s->json,
      .run = {.mpi = is_mpi(s), .timeout_s = s->timeout, .jitter_seed = (uint64_t)s->jitter, .cancel = call->cancel}};
  if (s->inject_fault || s->audit) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--%s needs --against WHOLE to notice anything",
                   s->audit ? "audit" : "inject-fault");
  }
  return sw_run_local(&l, local, call, d);
}

/* The same, and beside the whole program if there is one: as the text says it, or behind passes. */
static sw_rc run_local(const sw_call *call, const sw_opened *text, const sw_opened *whole, sw_diag *d) {
  const settings *s = call->settings;
  const sw_local_program *local = sw_program_local(text->program);
  const sw_local_passes how = {.names = s->passes, .combine_bytes = s->combine_bytes};
  sw_local_program behind = *local;
  sw_spmd spmd = {0};
  if (s->passes) {
    SW_TRY(sw_session_rewrite_local(text, local, &how, call->arena, &spmd, d));
    sw_local_of_spmd(local, &spmd, &behind);
  }
  sw_rc rc = whole ? run_beside(call, &(sw_judged){.whole = whole->job.graph, .local = &behind}, NULL, d)
                   : run_alone(call, &behind, d);
  sw_spmd_deinit(&spmd);
  return rc;
}

/* The text beside the whole program; blocks are as the plan of that says, or the text. */
static sw_rc run_text_beside(const sw_call *call, const sw_opened *text, const sw_opened *whole, const sw_plan *plan,
                             sw_diag *d) {
  const sw_local_program *local = sw_program_local(text->program);
  if (!local) return run_resharded(call, text, whole->job.graph, d);
  if (!plan) return run_local(call, text, whole, d);
  sw_local_program cut = *local;
  SW_TRY(sw_program_local_of_plan(text->program, plan, call->arena, &cut, d));
  return run_beside(call, &(sw_judged){.whole = whole->job.graph, .local = &cut}, NULL, d);
}

static sw_rc run_against(const sw_call *call, const sw_opened *text, sw_diag *d) {
  const settings *s = call->settings;
  sw_model_options from = s->from;
  sw_opened whole;
  sw_plan plan;
  from.open.model = s->against;
  from.open.spare_sizes = true;
  SW_TRY(s->plan ? sw_session_open_plan(&from, s->plan, call->arena, &whole, &plan, d)
                 : sw_session_open(&from, call->arena, &whole, d));
  sw_rc rc = s->plan ? sw_session_take_passes(s->passes, s->combine_bytes, call->arena, &plan, d) : SW_OK;
  if (!rc) rc = run_text_beside(call, text, &whole, s->plan ? &plan : NULL, d);
  sw_close_job(&whole);
  return rc;
}

/* Without a plan for the model: on one device, or on all when it says what they do. */
static sw_rc run_by_text(const sw_call *call, const sw_opened *session, sw_diag *d) {
  const settings *s = call->settings;
  const sw_local_program *local = session->program ? sw_program_local(session->program) : NULL;
  bool resharded = session->program && !local && sw_program_is_resharded(session->program);
  if (s->against && (local || resharded)) return run_against(call, session, d);
  if (s->against) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--against: '%s' says nothing of devices; expected a partitioned program",
                   s->from.open.model);
  }
  if (resharded) return run_resharded(call, session, NULL, d);
  if (local) return run_local(call, session, NULL, d);
  if (s->trace || s->inject_fault || s->audit || s->passes || is_mpi(s)) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                   "--trace, --inject-fault, --audit, --passes and --comm mpi need a --plan FILE for a whole MODEL");
  }
  return run_whole(call, session, d);
}

/* A schedule of one stage is compared with the program itself; of several, each stage with its own part. */
static sw_rc run_planned(const sw_call *call, const sw_plan *plan, sw_diag *d) {
  const sw_schedule *schedule = plan->job.schedule;
  const sw_graph *program = schedule && schedule->spec.n_stages == 1 ? schedule->written->graph : NULL;
  return run_beside(call, &(sw_judged){.whole = program ? program : plan->job.graph, .plan = plan}, program, d);
}

static sw_rc cmd_run(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  bool planned = s->plan && !s->against;
  sw_model_options from = s->from;
  sw_opened session;
  sw_plan plan;
  SW_TRY(check_delays(s, d));
  if (s->delays) from.open.hw = s->delays;
  if (s->delays && !from.open.overlap) from.open.overlap = sw_overlap_text(SW_OVERLAP_COMPILER);
  from.open.by_device = !planned;
  from.open.spare_sizes = s->against != NULL;
  SW_TRY(planned ? sw_session_open_plan(&from, s->plan, call->arena, &session, &plan, d)
                 : sw_session_open(&from, call->arena, &session, d));
  sw_rc rc = SW_OK;
  if (planned && !s->delays) rc = sw_session_take_passes(s->passes, s->combine_bytes, call->arena, &plan, d);
  if (!rc) rc = planned ? run_planned(call, &plan, d) : run_by_text(call, &session, d);
  if (rc) sw_session_note_source(&session, d);
  sw_close_job(&session);
  return rc;
}

const sw_command sw_command_run = {
    .name = "run",
    .summary = "execute a plan on device threads and compare it with one device",
    .description =
        "Partitions the model under the plan, runs it with one thread per device, and compares every element of every "
        "output on every device with a run on one device; then runs once more to compare every value in between. Exit "
        "status 4 when they differ. Without a plan it runs the model as it is on one device.\n"
        "A program that is partitioned already, with the collectives of StableHLO or of the shard dialect, runs as it "
        "is on all its devices; --against compares it with the whole program. Arguments are whole arrays in any case: "
        "each device gets the block that the program's annotations say. One in Shardy's dialect with its collectives "
        "runs under the shardings that it says.\n"
        "With --comm mpi, under the mpirun of a library that shardwright-openmpi or shardwright-mpich is built for, "
        "every process is one device; the first one prints and writes.\n",
    .example = "shardwright run models/small/gpt2.json --plan plan.json",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_run};
