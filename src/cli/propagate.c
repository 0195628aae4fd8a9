/* shardwright propagate: complete a model's annotations to a plan, without search. */
#include <string.h>

#include "cli/open_sizes.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "base/file.h"
#include "shardwright/program.h"
#include "propagate/factor_rule.h"
#include "shardwright/plan_json.h"
#include "shardwright/propagate.h"

typedef struct settings {
  sw_model_options from;
  const char *strategy, *output;
  sw_pairs emit;
  sw_words report;
  bool table, show_rules, conservative;
} settings;

static const sw_operand kOperands[] = {
    {.name = "MODEL", .help = SW_MODEL_HELP, .into = SW_INTO_TEXT(settings, from.model)}};

static const sw_option kOptions[] = {
    {"hw", 0, SW_OPTION_FILE, "PROFILE", "uniform", "hardware profile: it prices the resharding between uses",
     SW_INTO_TEXT(settings, from.hw)},
    {"mesh", 0, SW_OPTION_TEXT, "MESH", NULL, "logical mesh; without it the model's own, or the profile's first",
     SW_INTO_TEXT(settings, from.mesh)},
    {"strategy", 0, SW_OPTION_CHOICE, "NAME", "backward-forward",
     "order of the sweeps; sdy: as Shardy does it, up to a layer of its hierarchy", SW_INTO_TEXT(settings, strategy),
     .choices = "backward-forward|forward-backward|forward|backward|sdy|sdy-basic|sdy-aggressive|sdy-op-priority|"
                "sdy-user-priority"},
    SW_PROGRAM_OPTIONS(settings),
    SW_OPTION_OUTPUT_INTO(settings, output),
    {"emit", 0, SW_OPTION_PAIRS, "KIND=FILE", NULL, "write the plan in another form", SW_INTO_PAIRS(settings, emit),
     .choices = SW_EMIT_KINDS, .writes = true},
    {"report", 0, SW_OPTION_WORDS, "FILE", NULL, "write a report: as a page when the name ends in .html, else as JSON",
     SW_INTO_WORDS(settings, report), .writes = true},
    {"table", 0, SW_OPTION_FLAG, NULL, NULL, "print what the plan costs, as plan does, instead of the plan",
     SW_INTO_FLAG(settings, table)},
    {"conservative", 0, SW_OPTION_FLAG, NULL, NULL, "sdy strategies: split no axis, and cut only what axes divide",
     SW_INTO_FLAG(settings, conservative)},
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

/* Shardy's propagation works on the program's text, and asks no machine: what needs a plan is not for it. */
static sw_rc check_text_options(const settings *s, sw_diag *d) {
  const char *not_for = s->table ? "--table" : s->report.n ? "--report" : s->show_rules ? "--show-rules" : NULL;
  for (int i = 0; i < s->emit.n && !not_for; i++) not_for = strcmp(s->emit.at[i].key, "sdy") ? "--emit" : NULL;
  if (!not_for) return SW_OK;
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--strategy %s gives a program and no plan; expected no %s%s", s->strategy,
                 not_for, strcmp(not_for, "--emit") ? "" : " but sdy");
}

static sw_rc propagate_text(const settings *s, const char *text, size_t n, sw_layer layer, sw_diag *d) {
  sw_text out = {0};
  sw_rc rc = sw_program_propagate(s->from.model, text, n, layer, s->conservative, &out, d);
  for (int i = 0; i < s->emit.n && !rc; i++) {
    sw_text copy = {0};
    sw_text_append(&copy, sw_text_str(&out), out.n);
    rc = sw_save_text(s->emit.at[i].value, &copy, d);
  }
  if (rc) sw_text_free(&out);
  return rc ? rc : sw_save_text(s->output, &out, d);
}

static sw_rc rules_of_text(const settings *s, const char *text, size_t n, sw_diag *d) {
  sw_text out = {0};
  sw_rc rc = sw_program_rules(s->from.model, text, n, &out, d);
  if (rc) sw_text_free(&out);
  return rc ? rc : sw_save_text(s->output, &out, d);
}

/* What is asked of a program's text alone; *done = false: it is no program, or a plan is wanted. */
static sw_rc ask_text(const settings *s, bool *done, sw_diag *d) {
  char *text;
  size_t n;
  sw_layer layer;
  const bool sdy = sw_layer_parse(s->strategy, &layer);
  *done = false;
  if (!sdy && !s->show_rules) return SW_OK;
  if (sdy) SW_TRY(check_text_options(s, d));
  SW_TRY(sw_file_read_text(s->from.model, &text, &n, d));
  *done = sw_program_is(s->from.model, text);
  sw_rc rc = *done && sdy ? propagate_text(s, text, n, layer, d) : *done ? rules_of_text(s, text, n, d) : SW_OK;
  sw_mem_free(text);
  if (*done || !sdy) return rc;
  return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: expected an MLIR program for --strategy %s", s->from.model, s->strategy);
}

static sw_rc cmd_propagate(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  bool done;
  SW_TRY(ask_text(s, &done, d));
  if (done) return SW_OK;
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
        "mesh they are shardings alone.\n"
        "The sdy strategies give Shardy's result on every value of an MLIR program, open dimensions included, and "
        "write the program with it: sdy-basic (what nothing contradicts), sdy-aggressive (conflicts resolved), "
        "sdy-op-priority (cheap ops first), sdy-user-priority or sdy (shardings by their priorities).\n",
    .example = "shardwright propagate models/rfc-mlp-1d-tensors.json -o plan.json",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_propagate};
