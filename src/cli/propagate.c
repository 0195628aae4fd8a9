/* shardwright propagate: complete a model's annotations to a plan, without search. */
#include "cli/open_sizes.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "propagate/factor_rule.h"
#include "shardwright/plan_json.h"
#include "shardwright/propagate.h"

typedef struct settings {
  sw_model_options from;
  const char *strategy, *output;
  sw_pairs emit;
  sw_words report;
  bool table, show_rules;
} settings;

static const sw_operand kOperands[] = {
    {.name = "MODEL", .help = SW_MODEL_HELP, .into = SW_INTO_TEXT(settings, from.model)}};

static const sw_option kOptions[] = {
    {"hw", 0, SW_OPTION_FILE, "PROFILE", "dgx-h100", "hardware profile: it prices the resharding between uses",
     SW_INTO_TEXT(settings, from.hw)},
    {"mesh", 0, SW_OPTION_TEXT, "MESH", NULL, "logical mesh; without it the model's own, or the profile's first",
     SW_INTO_TEXT(settings, from.mesh)},
    {"strategy", 0, SW_OPTION_CHOICE, "NAME", "backward-forward", "order of the sweeps",
     SW_INTO_TEXT(settings, strategy), .choices = "backward-forward|forward-backward|forward|backward"},
    SW_PROGRAM_OPTIONS(settings),
    SW_OPTION_OUTPUT_INTO(settings, output),
    {"emit", 0, SW_OPTION_PAIRS, "KIND=FILE", NULL, "write the plan in another form", SW_INTO_PAIRS(settings, emit),
     .choices = SW_EMIT_KINDS, .writes = true},
    {"report", 0, SW_OPTION_WORDS, "FILE", NULL, "write a report: as a page when the name ends in .html, else as JSON",
     SW_INTO_WORDS(settings, report), .writes = true},
    {"table", 0, SW_OPTION_FLAG, NULL, NULL, "print what the plan costs, as plan does, instead of the plan",
     SW_INTO_FLAG(settings, table)},
    {"show-rules", 0, SW_OPTION_FLAG, NULL, NULL, "print each op's rule in Shardy's notation instead of propagating",
     SW_INTO_FLAG(settings, show_rules)},
};

static sw_rc propagate(const settings *s, const sw_session *session, sw_arena *arena, sw_diag *d) {
  sw_traversal t = SW_TRAVERSE_BACKWARD_FORWARD;
  sw_plan plan;
  sw_breakdown breakdown;
  sw_text out = {0};
  (void)sw_traversal_parse(s->strategy, &t); /* one of the option's choices */
  SW_TRY(sw_propagate(session->graph, session->machine, t, arena, &plan, d));
  sw_session_warn_of_hints(&plan);
  SW_TRY(sw_plan_breakdown(&plan, arena, &breakdown, d));
  SW_TRY(sw_emit_all(session, &plan, &s->emit, NULL, d));
  sw_report report = {0};
  if (s->table || s->report.n) SW_TRY(sw_report_build(&plan, &breakdown, NULL, arena, &report, d));
  SW_TRY(sw_save_reports(&report, &s->report, d));
  sw_rc rc = SW_OK;
  if (s->table)
    sw_report_table(&report, sw_terminal_has_colour(stdout), &out);
  else
    rc = sw_plan_write(&plan, &breakdown, &out, d);
  if (rc) sw_text_free(&out);
  return rc ? rc : sw_save_text(s->output, &out, d);
}

/* What needs all sizes says which are missing. */
static sw_rc want_sizes(const settings *s, const sw_session *session, sw_diag *d) {
  SW_TRY(sw_sizes_check(&session->sizes, s->from.model, d));
  return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: sizes of the mesh are unknown; expected --mesh with a size for each",
                       s->from.model);
}

/* Without all sizes: shardings, and what they move as polynomials. */
static sw_rc propagate_open(const settings *s, sw_session *session, sw_arena *arena, sw_diag *d) {
  sw_traversal t = SW_TRAVERSE_BACKWARD_FORWARD;
  sw_plan plan;
  sw_text out = {0};
  (void)sw_traversal_parse(s->strategy, &t);
  if (s->report.n) return want_sizes(s, session, d);
  for (int i = 0; i < s->emit.n; i++) {
    if (session->open_axes || !sw_session_emits_sizes_open(s->emit.at[i].key)) return want_sizes(s, session, d);
  }
  SW_TRY(sw_propagate(session->graph, session->machine, t, arena, &plan, d));
  sw_session_warn_of_hints(&plan);
  SW_TRY(sw_emit_all(session, &plan, &s->emit, NULL, d));
  SW_TRY(sw_open_sizes_print(&s->from, session, &plan, s->table, arena, &out, d));
  SW_TRY(sw_save_text(s->output, &out, d));
  return sw_open_axes_compare(&s->from, session, &plan, t, arena, d);
}

static sw_rc show_rules(const settings *s, const sw_session *session, sw_diag *d) {
  sw_text out = {0};
  sw_factor_rules_print(session->graph, &out);
  return sw_save_text(s->output, &out, d);
}

static sw_rc cmd_propagate(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  sw_session session;
  sw_model_options from = s->from;
  from.open_sizes = true;
  SW_TRY(sw_session_open(&from, call->arena, &session, d));
  const bool open = sw_sizes_open(&session.sizes) > 0 || session.open_axes;
  sw_rc rc = s->show_rules ? show_rules(s, &session, d)
             : open        ? propagate_open(s, &session, call->arena, d)
                           : propagate(s, &session, call->arena, d);
  sw_session_close(&session);
  return rc;
}

const sw_command sw_command_propagate = {
    .name = "propagate",
    .summary = "complete the annotations of a model to a plan, without search",
    .description =
        "Sweeps against and along program order; each op derives its strategy from the annotations around it. Writes "
        "the plan as JSON. A hint that excludes another annotation is left, with a warning. Where the rules miss what "
        "is required a search completes the shardings; requirements that exclude each other are an error that names "
        "both.\n"
        "Sizes that the model leaves open may stay unknown: shardings are those of any large size that the mesh "
        "divides, and what they move and do twice are polynomials in the sizes, without times. Without sizes of the "
        "mesh they are shardings alone.\n",
    .example = "shardwright propagate models/rfc-mlp-1d-tensors.json -o plan.json",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_propagate};
