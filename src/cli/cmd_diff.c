/* shardwright diff: what differs between two plans or reports. */
#include "base/file.h"
#include "cli/output.h"
#include "cli/session.h"
#include "shardwright/diff.h"

typedef struct settings {
  sw_model_options from;
  const char *was, *now;
  bool json;
} settings;

static const sw_operand kOperands[] = {
    {.name = "BEFORE", .help = "plan file, or report as JSON", .into = SW_INTO_TEXT(settings, was)},
    {.name = "AFTER",
     .help = "another one, of the same model or of a later version of it",
     .into = SW_INTO_TEXT(settings, now)},
};

static const sw_option kOptions[] = {
    {"model", 0, SW_OPTION_FILE, "MODEL", NULL,
     "price the plan files for this model, so that their collectives are compared, too; one for another version of it "
     "is taken as far as it fits",
     SW_INTO_TEXT(settings, from.open.model)},
    {"hw", 0, SW_OPTION_FILE, "PROFILE", NULL,
     "profile that prices both; without it each plan's, if one of its name is shipped, else uniform",
     SW_INTO_TEXT(settings, from.open.hw)},
    SW_PROGRAM_OPTIONS(settings),
    SW_COMPILER_OPTION(settings, from.open.compiler),
    SW_OVERLAP_OPTION(settings, from.open.overlap),
    SW_OPTION_JSON_INTO(settings, json),
};

/* The report of a plan. */
static sw_rc report_plan(const sw_plan *plan, sw_arena *arena, sw_text *out, sw_diag *d) {
  sw_breakdown breakdown;
  SW_TRY(sw_plan_breakdown(plan, arena, &breakdown, d));
  const sw_report report = {.plan = plan, .breakdown = &breakdown};
  sw_report_json(&report, out);
  return out->rc ? SW_FAIL(d, out->rc, SW_NOWHERE, "out of memory") : SW_OK;
}

static sw_rc price_file(const settings *s, const char *path, sw_arena *arena, sw_text *out, sw_diag *d) {
  sw_model_options from = s->from;
  sw_opened session;
  sw_plan plan;
  from.open.adapt = true;
  SW_TRY(sw_session_open_plan(&from, path, arena, &session, &plan, d));
  sw_rc rc = report_plan(&plan, arena, out, d);
  sw_close_job(&session);
  return rc;
}

static bool is_plan(const char *path, sw_arena *arena) {
  sw_plan_head head;
  return sw_plan_read_head(path, arena, &head, NULL) == SW_OK;
}

/* What a file says: a plan's with --model as a report. */
static sw_rc read_side_text(const settings *s, const char *path, sw_arena *arena, sw_text *out, sw_diag *d) {
  char *bytes;
  size_t n;
  if (s->from.open.model && is_plan(path, arena)) return price_file(s, path, arena, out, d);
  SW_TRY(sw_file_read_text(path, &bytes, &n, d));
  sw_text_append(out, bytes, n);
  sw_mem_free(bytes);
  return out->rc ? SW_FAIL(d, out->rc, SW_NOWHERE, "out of memory") : SW_OK;
}

static sw_rc tell_differences(const settings *s, const sw_text *was, const sw_text *now, sw_arena *arena, sw_diag *d) {
  sw_diff diff;
  sw_text out = {0};
  SW_TRY(sw_diff_build(&(sw_diff_text){s->was, sw_text_str(was), was->n},
                       &(sw_diff_text){s->now, sw_text_str(now), now->n}, arena, &diff, d));
  (s->json ? sw_diff_json : sw_diff_table)(&diff, &out);
  return sw_print_text(&out, d);
}

static sw_rc cmd_diff(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  sw_text was = {0}, now = {0};
  sw_rc rc = read_side_text(s, s->was, call->arena, &was, d);
  if (!rc) rc = read_side_text(s, s->now, call->arena, &now, d);
  if (!rc) rc = tell_differences(s, &was, &now, call->arena, d);
  sw_text_free(&was);
  sw_text_free(&now);
  return rc;
}

const sw_command sw_command_diff = {
    .name = "diff",
    .summary = "say what differs between two plans or reports",
    .description =
        "Time, memory, collectives by kind, and what is cut otherwise, grouped over layers. Arguments, ops and outputs "
        "are "
        "matched by name, and where one was renamed, by kind and place. A plan file has the time and memory that it "
        "was "
        "written with and no collectives; with --model plan files are priced. The exit status is 0 whatever differs.\n",
    .example = "shardwright diff before.json plan.json --model models/small/gpt2.json",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_diff};
