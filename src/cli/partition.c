/* shardwright partition: what one device runs under a plan. */
#include <string.h>

#include "cli/output.h"
#include "cli/session.h"
#include "shardwright/spmd.h"

typedef struct settings {
  sw_model_options from;
  const char *plan, *args;
  sw_pairs emit;
  const char *dialect;
  bool collectives;
} settings;

static const sw_operand kOperands[] = {
    {.name = "MODEL", .help = SW_MODEL_HELP, .into = SW_INTO_TEXT(settings, from.model)}};

static const sw_option kOptions[] = {
    {"plan", 0, SW_OPTION_FILE, "FILE", NULL, "the plan; required", SW_INTO_TEXT(settings, plan)},
    {"hw", 0, SW_OPTION_FILE, "PROFILE", NULL,
     "hardware profile: it chooses the routes; without it the plan's, if one of its name is shipped, else uniform",
     SW_INTO_TEXT(settings, from.hw)},
    {"mesh", 0, SW_OPTION_TEXT, "MESH", NULL, "logical mesh; without it the plan's, which it must be",
     SW_INTO_TEXT(settings, from.mesh)},
    {"args", 0, SW_OPTION_CHOICE, "HOW", "plan",
     "arguments arrive cut, or whole and each device slices its own; plan: as the plan says",
     SW_INTO_TEXT(settings, args), .choices = "plan|cut|whole"},
    SW_PROGRAM_OPTIONS(settings),
    {"collectives", 0, SW_OPTION_FLAG, NULL, NULL, "print only the collectives, one a line",
     SW_INTO_FLAG(settings, collectives)},
    {"emit", 0, SW_OPTION_PAIRS, "KIND=FILE", NULL, "write the plan in another form", SW_INTO_PAIRS(settings, emit),
     .choices = SW_EMIT_KINDS, .writes = true},
    SW_DIALECT_OPTION(settings),
};

static sw_rc partition(const settings *s, const sw_session *session, sw_plan *plan, const sw_call *call, sw_diag *d) {
  if (strcmp(s->args, "plan") != 0) plan->args_whole = strcmp(s->args, "whole") == 0;
  SW_TRY(sw_emit_all(session, plan, &s->emit, s->dialect, d));
  sw_spmd spmd;
  sw_text out = {0};
  SW_TRY(sw_partition(plan, &spmd, d));
  sw_rc rc = sw_spmd_verify(&spmd, d);
  if (!rc && s->collectives) sw_spmd_collectives(&spmd, &out);
  if (!rc && !s->collectives && !call->common->quiet) sw_spmd_print(&spmd, &out);
  sw_spmd_deinit(&spmd);
  if (rc) sw_text_free(&out);
  return rc ? rc : sw_print_text(&out, d);
}

static sw_rc cmd_partition(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  sw_session session;
  sw_plan plan;
  if (!s->plan) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--plan FILE is missing");
  SW_TRY(sw_session_open_plan(&s->from, s->plan, call->arena, &session, &plan, d));
  sw_rc rc = partition(s, &session, &plan, call, d);
  sw_session_close(&session);
  return rc;
}

const sw_command sw_command_partition = {
    .name = "partition",
    .summary = "print what one device runs under a plan",
    .description = "Rewrites the model into the program of one device: local shapes, explicit collectives.\n",
    .example = "shardwright partition models/small/gpt2.json --plan plan.json --emit spmd=gpt2.mlir",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_partition};
