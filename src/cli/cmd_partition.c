/* shardwright partition: what one device runs under a plan. */
#include <string.h>

#include "cli/output.h"
#include "cli/session.h"
#include "report/passes_report.h"
#include "shardwright/emit.h"

typedef struct settings {
  sw_model_options from;
  const char *plan, *args;
  sw_pairs emit;
  const char *dialect;
  const char *passes;
  int64_t combine_bytes;
  bool collectives, table, json;
} settings;

static const sw_operand kOperands[] = {
    {.name = "MODEL", .help = SW_MODEL_HELP, .into = SW_INTO_TEXT(settings, from.open.model)}};

static const sw_option kOptions[] = {
    {"plan", 0, SW_OPTION_FILE, "FILE", NULL, "the plan; without one MODEL is a program that is partitioned already",
     SW_INTO_TEXT(settings, plan)},
    SW_ADAPT_OPTION(settings),
    {"hw", 0, SW_OPTION_FILE, "PROFILE", NULL,
     "hardware profile: it chooses the routes; without it the plan's, if one of its name is shipped, else uniform",
     SW_INTO_TEXT(settings, from.open.hw)},
    {"mesh", 0, SW_OPTION_TEXT, "MESH", NULL, "logical mesh; without it the plan's, which it must be",
     SW_INTO_TEXT(settings, from.mesh)},
    {"args", 0, SW_OPTION_CHOICE, "HOW", "plan",
     "arguments arrive cut, or whole and each device slices its own; plan: as the plan says",
     SW_INTO_TEXT(settings, args), .choices = "plan|cut|whole"},
    SW_PROGRAM_OPTIONS(settings),
    {"collectives", 0, SW_OPTION_FLAG, NULL, NULL, "print only the collectives, one a line",
     SW_INTO_FLAG(settings, collectives)},
    SW_PASS_OPTIONS(settings),
    {"table", 0, SW_OPTION_FLAG, NULL, NULL, "print what each pass did instead of the program",
     SW_INTO_FLAG(settings, table)},
    SW_OPTION_JSON_INTO(settings, json),
    {"emit", 0, SW_OPTION_PAIRS, "KIND=FILE", NULL, SW_EMIT_HELP, SW_INTO_PAIRS(settings, emit),
     .choices = SW_EMIT_KINDS, .writes = true},
    SW_DIALECT_OPTION(settings),
};

/* The program, as it was partitioned and then rewritten, and what each pass did. */
static sw_rc print_partitioned(const settings *s, const sw_spmd *spmd, const sw_machine *machine,
                               const sw_pass_report *reports, int n, const sw_call *call, sw_diag *d) {
  sw_text out = {0};
  if (s->json) {
    sw_spmd_cost cost;
    SW_TRY(sw_spmd_price(spmd, machine, &cost, d));
    sw_program_json(spmd, &cost, reports, n, &out);
  } else if (s->table) {
    sw_pass_table_print(spmd->program->name, reports, n, &out);
  } else if (s->collectives) {
    sw_spmd_collectives(spmd, &out);
  } else {
    sw_spmd_print(spmd, &out);
    return sw_print_answer(call, &out, d);
  }
  return sw_print_text(&out, d);
}

static sw_rc partition(const settings *s, const sw_opened *session, sw_plan *plan, const sw_call *call, sw_diag *d) {
  if (strcmp(s->args, "plan") != 0) plan->args_whole = strcmp(s->args, "whole") == 0;
  SW_TRY(sw_session_take_passes(s->passes, s->combine_bytes, call->arena, plan, d));
  SW_TRY(sw_emit_all(session, plan, &s->emit, s->dialect, d));
  sw_pass_report *reports;
  int n = 0;
  SW_ARENA_NEW(reports, call->arena, SW_MOST_REPORTS, d);
  sw_spmd spmd;
  sw_plan bare = *plan; /* passes run here, where they are told of */
  bare.passes = NULL;
  SW_TRY(sw_partition(&bare, &spmd, d));
  sw_rc rc = sw_spmd_verify(&spmd, d);
  if (!rc && plan->passes) rc = sw_spmd_run_passes(&spmd, plan->job.machine, plan->passes, reports, &n, d);
  if (!rc) rc = print_partitioned(s, &spmd, plan->job.machine, reports, n, call, d);
  sw_spmd_deinit(&spmd);
  return rc;
}

static sw_rc by_plan(const settings *s, const sw_call *call, sw_diag *d) {
  sw_opened session;
  sw_plan plan;
  SW_TRY(sw_session_open_plan(&s->from, s->plan, call->arena, &session, &plan, d));
  sw_rc rc = partition(s, &session, &plan, call, d);
  if (rc) sw_session_note_source(&session, d);
  sw_close_job(&session);
  return rc;
}

/* --- programs that came partitioned ------------------------------------------------------------------------------- */

static sw_rc emit_local(const settings *s, const sw_spmd *spmd, sw_diag *d) {
  for (int i = 0; i < s->emit.n; i++) {
    const char *kind = s->emit.at[i].key;
    sw_text out = {0};
    if (strcmp(kind, "spmd") != 0 || strcmp(s->dialect, "sdy") == 0) {
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                     "--emit %s writes a plan; expected spmd of shard or stablehlo, as the program has none", kind);
    }
    sw_rc rc = sw_emit_spmd(spmd, strcmp(s->dialect, "shard") == 0 ? SW_SPMD_SHARD : SW_SPMD_STABLEHLO, &out, d);
    SW_TRY(sw_save_made(rc, s->emit.at[i].value, &out, d));
  }
  return SW_OK;
}

static sw_rc rewrite_local(const settings *s, const sw_opened *session, const sw_local_program *local,
                           const sw_call *call, sw_diag *d) {
  sw_pass_report *reports;
  sw_machine *machine;
  sw_spmd spmd;
  int n = 0;
  SW_ARENA_NEW(reports, call->arena, SW_MOST_REPORTS, d);
  SW_TRY(sw_session_rewrite_local(
      session, local, &(sw_local_passes){s->passes, s->combine_bytes, reports, &n, &machine}, call->arena, &spmd, d));
  sw_rc rc = emit_local(s, &spmd, d);
  if (!rc) rc = print_partitioned(s, &spmd, machine, reports, n, call, d);
  sw_spmd_deinit(&spmd);
  return rc;
}

static sw_rc partition_text(const settings *s, const sw_call *call, sw_diag *d) {
  sw_model_options from = s->from;
  sw_opened session;
  sw_plan plan;
  from.open.by_device = true;
  SW_TRY(sw_session_open(&from, call->arena, &session, d));
  const sw_local_program *local = session.program ? sw_program_local(session.program) : NULL;
  sw_rc rc;
  if (local && strcmp(s->args, "plan") == 0) {
    rc = rewrite_local(s, &session, local, call, d);
  } else if (local) {
    rc = SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--args %s needs --plan FILE; the program says how its arguments arrive",
                 s->args);
  } else if (session.program && sw_program_is_resharded(session.program)) {
    rc = sw_session_plan_resharded(&session, call, &plan, d);
    if (!rc) rc = partition(s, &session, &plan, call, d);
  } else {
    rc = SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'%s' is no program that is partitioned already; expected --plan FILE, too",
                 s->from.open.model);
  }
  if (rc) sw_session_note_source(&session, d);
  sw_close_job(&session);
  return rc;
}

static sw_rc cmd_partition(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  if (s->table && !s->passes) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--table says what passes did; expected --passes NAMES, too");
  }
  return (s->plan ? by_plan : partition_text)(s, call, d);
}

const sw_command sw_command_partition = {
    .name = "partition",
    .summary = "print what one device runs under a plan",
    .description =
        "Rewrites the model into the program of one device: local shapes, explicit collectives. --passes rewrites the "
        "collectives of that program further, where the profile's prices say that it is no dearer; all that is printed "
        "and written is then the program behind the passes. Without --plan the model is a program that is partitioned "
        "already, which is rewritten as it is.\n",
    .example = "shardwright partition models/small/gpt2.json --plan plan.json --emit spmd=gpt2.mlir",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_partition};
