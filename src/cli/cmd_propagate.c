/* shardwright propagate: complete a model's annotations to a plan, without search. */
#include <string.h>

#include "cli/open_sizes.h"
#include "cli/propagated.h"
#include "cli/session.h"
#include "cli/terminal.h"
#include "base/file.h"
#include "io/foreign.h"
#include "shardwright/log.h"
#include "shardwright/program.h"
#include "propagate/factor_rule.h"
#include "shardwright/plan_json.h"
#include "shardwright/propagate.h"

typedef struct settings {
  sw_model_options from;
  const char *strategy, *output;
  sw_pairs emit;
  sw_words report;
  const char *explain;
  bool table, json, show_rules, conservative, origins, mutate;
  int64_t iterations, seed, memory;
  double time_limit;
  sw_cancel *cancel;
  bool stdout_taken;         /* by another option than --output */
  const sw_text *program;    /* the model with Shardy's shardings, to be written; NULL: it is not */
  const sw_text *propagated; /* the same with the ops of the model alone, which the plan is read from */
} settings;

static const sw_operand kOperands[] = {
    {.name = "MODEL", .help = SW_MODEL_HELP, .into = SW_INTO_TEXT(settings, from.open.model)}};

static const sw_option kOptions[] = {
    {"hw", 0, SW_OPTION_FILE, "PROFILE", "uniform", "hardware profile: it prices the resharding between uses",
     SW_INTO_TEXT(settings, from.open.hw)},
    {"mesh", 0, SW_OPTION_TEXT, "MESH", NULL, "logical mesh; without it the model's own, or the profile's first",
     SW_INTO_TEXT(settings, from.mesh)},
    {"strategy", 0, SW_OPTION_CHOICE, "NAME", NULL,
     "order of the sweeps; sdy: as Shardy does it, up to a layer of its hierarchy (default: sdy for programs with "
     "shardings of Shardy's, else backward-forward)",
     SW_INTO_TEXT(settings, strategy),
     .choices = "backward-forward|forward-backward|forward|backward|sdy|sdy-basic|sdy-aggressive|sdy-op-priority|"
                "sdy-user-priority"},
    SW_PROGRAM_OPTIONS(settings),
    SW_COMPILER_OPTION(settings, from.open.compiler),
    SW_OVERLAP_OPTION(settings, from.open.overlap),
    SW_OPTION_OUTPUT_INTO(settings, output),
    {"emit", 0, SW_OPTION_PAIRS, "KIND=FILE", NULL, SW_EMIT_HELP "; sdy-ops is the propagated program",
     SW_INTO_PAIRS(settings, emit), .choices = SW_EMIT_KINDS, .writes = true},
    {"report", 0, SW_OPTION_WORDS, "FILE", NULL, "write a report: as a page when the name ends in .html, else as JSON",
     SW_INTO_WORDS(settings, report), .writes = true},
    {"table", 0, SW_OPTION_FLAG, NULL, NULL, "print what the plan costs, as plan does, instead of the plan",
     SW_INTO_FLAG(settings, table)},
    {"json", 0, SW_OPTION_FLAG, NULL, NULL, "print the report that --report writes, as JSON, instead of the plan",
     SW_INTO_FLAG(settings, json)},
    {"conservative", 0, SW_OPTION_FLAG, NULL, NULL,
     "sdy strategies: split no axis, and cut nothing whose pieces change in size",
     SW_INTO_FLAG(settings, conservative)},
    {"explain", 0, SW_OPTION_TEXT, "VALUE", NULL,
     "sdy strategies: print how each axis of a value came, %12, %12#1, @f:%12, or @f#0 for a result of a function",
     SW_INTO_TEXT(settings, explain)},
    {"origins", 0, SW_OPTION_FLAG, NULL, NULL,
     "sdy strategies: write sdy.sharding_origins beside shardings, where each axis was annotated",
     SW_INTO_FLAG(settings, origins)},
    {"mutate", 0, SW_OPTION_FLAG, NULL, NULL,
     "go on from there, by the RFC's strategies: give ops other sharding options at random, propagate, and keep what "
     "moves less, computes less twice and holds less",
     SW_INTO_FLAG(settings, mutate)},
    {"iterations", 0, SW_OPTION_INT, "N", "1000", "of --mutate: changes that are tried; 0: until time is up",
     SW_INTO_INT(settings, iterations), .min = 0, .max = 1e15},
    {"time-limit", 0, SW_OPTION_NUMBER, "S", "60", "of --mutate: seconds that it may take; 0: no limit",
     SW_INTO_NUMBER(settings, time_limit), .min = 0, .max = 1e9},
    {"seed", 0, SW_OPTION_INT, "K", "0", "of --mutate: seed of the changes", SW_INTO_INT(settings, seed), .min = 0,
     .max = 1e15},
    {"memory", 0, SW_OPTION_BYTES, "BYTES", NULL, "of --mutate: capacity per device; without it the profile's",
     SW_INTO_BYTES(settings, memory), .min = 1},
    {"show-rules", 0, SW_OPTION_FLAG, NULL, NULL, "print each op's rule in Shardy's notation instead of propagating",
     SW_INTO_FLAG(settings, show_rules)},
};

/* A file of that name is a plan. */
static bool is_plan_path(const char *path) { return path && sw_path_ends_in(path, ".json"); }

static sw_traversal traversal_of(const settings *s) {
  sw_traversal t = SW_TRAVERSE_BACKWARD_FORWARD;
  if (s->strategy) (void)sw_traversal_parse(s->strategy, &t); /* one of the option's choices */
  return t;
}

/* The result, which stays away from a standard output that another one was sent to. */
static sw_rc save(const settings *s, sw_text *t, sw_diag *d) {
  const bool asked = s->table || s->json || s->explain || strcmp(s->output, "-") != 0;
  if (asked || !s->stdout_taken) return sw_save_text(s->output, t, d);
  sw_text_free(t);
  return SW_OK;
}

static sw_rc write(const settings *s, sw_opened *session, const sw_plan *plan, sw_arena *arena, sw_diag *d) {
  sw_breakdown breakdown;
  sw_text out = {0};
  sw_session_warn_of_hints(plan);
  SW_TRY(sw_plan_breakdown(plan, arena, &breakdown, d));
  SW_TRY(sw_emit_all(session, plan, &s->emit, NULL, d));
  sw_report report = {0};
  if (s->table || s->json || s->report.n) SW_TRY(sw_report_build(plan, &breakdown, NULL, arena, &report, d));
  SW_TRY(sw_save_reports(&report, &s->report, d));
  sw_rc rc = SW_OK;
  if (s->json)
    sw_report_json(&report, &out);
  else if (s->table)
    sw_report_table(&report, sw_terminal_has_colour(stdout), &out);
  else if (s->program && !is_plan_path(s->output))
    sw_text_append(&out, sw_text_str(s->program), s->program->n);
  else
    rc = sw_plan_write(plan, &breakdown, &out, d);
  if (rc) sw_text_free(&out);
  return rc ? rc : save(s, &out, d);
}

static sw_rc propagate_as(const settings *s, sw_opened *session, sw_arena *arena, sw_diag *d) {
  sw_opened read;
  sw_plan plan;
  sw_rc rc = sw_plan_of_propagated(&s->from, session, s->propagated, traversal_of(s), arena, &read, &plan, d);
  if (!rc) rc = write(s, session, &plan, arena, d);
  sw_close_job(&read);
  return rc;
}

static void tell_measures(const sw_mutated *m) {
  const struct {
    const char *name;
    const sw_mutate_measures *at;
  } kRows[] = {{"start", &m->start}, {"best", &m->best}};
  sw_log(SW_LOG_INFO, "%lld changes tried, %lld of them better than all before", (long long)m->tried,
         (long long)m->better);
  for (int i = 0; i < 2; i++) {
    const sw_mutate_measures *at = kRows[i].at;
    sw_text t = {0};
    sw_text_bytes(&t, at->moved_bytes);
    sw_text_printf(&t, " moved, %.3g flops done twice, ", at->redundant_flops);
    sw_text_bytes(&t, (double)at->peak_bytes);
    sw_text_printf(&t, " held%s: ", at->fits ? "" : ", too much");
    sw_text_seconds(&t, at->score_s);
    sw_log(SW_LOG_INFO, "%-5s  %s", kRows[i].name, sw_text_str(&t));
    sw_text_free(&t);
  }
}

static sw_rc mutate(const settings *s, sw_opened *session, sw_arena *arena, sw_diag *d) {
  const sw_mutate_options o = {
      .traversal = traversal_of(s),
      .iterations = s->iterations,
      .time_limit_s = s->time_limit,
      .seed = (uint64_t)s->seed,
      .capacity_bytes = s->memory ? s->memory : sw_profile_memory_bytes(sw_machine_profile(session->job.machine)),
      .cancel = s->cancel};
  sw_mutated m;
  SW_TRY(sw_propagate_mutated(&session->job, &o, arena, &m, d));
  tell_measures(&m);
  SW_TRY(write(s, session, &m.plan, arena, d));
  return sw_cancelled(s->cancel) ? SW_E_CANCELLED : SW_OK;
}

static sw_rc propagate_session(const settings *s, sw_opened *session, sw_arena *arena, sw_diag *d) {
  sw_plan plan;
  if (s->mutate) return mutate(s, session, arena, d);
  if (s->propagated) return propagate_as(s, session, arena, d);
  SW_TRY(sw_propagate(&session->job, traversal_of(s), arena, &plan, d));
  return write(s, session, &plan, arena, d);
}

/* What needs all sizes says which are missing. */
static sw_rc want_sizes(const settings *s, const sw_opened *session, sw_diag *d) {
  SW_TRY(sw_sizes_check(&session->sizes, s->from.open.model, d));
  return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: sizes of the mesh are unknown; expected --mesh with a size for each",
                       s->from.open.model);
}

/* Without all sizes: shardings, and what they move as polynomials. */
static sw_rc propagate_open(const settings *s, sw_opened *session, sw_arena *arena, sw_diag *d) {
  const sw_traversal t = traversal_of(s);
  sw_plan plan;
  sw_text out = {0};
  if (s->report.n || s->json || s->mutate) return want_sizes(s, session, d);
  for (int i = 0; i < s->emit.n; i++) {
    if (session->open_axes || !sw_session_emits_sizes_open(s->emit.at[i].key)) return want_sizes(s, session, d);
  }
  SW_TRY(sw_propagate(&session->job, t, arena, &plan, d));
  sw_session_warn_of_hints(&plan);
  SW_TRY(sw_emit_all(session, &plan, &s->emit, NULL, d));
  SW_TRY(sw_open_sizes_print(&s->from, session, &plan, s->table, arena, &out, d));
  SW_TRY(save(s, &out, d));
  return sw_open_axes_compare(&s->from, session, &plan, t, arena, d);
}

static sw_rc show_rules(const settings *s, const sw_opened *session, sw_diag *d) {
  sw_text out = {0};
  sw_factor_rules_print(session->job.graph, &out);
  return save(s, &out, d);
}

/* --- on the text of a program ------------------------------------------------------------------------------------- */

static sw_rc rules_of_text(const settings *s, const char *text, size_t n, sw_diag *d) {
  sw_text out = {0};
  sw_rc rc = sw_program_rules(s->from.open.model, text, n, &out, d);
  if (rc) sw_text_free(&out);
  return rc ? rc : save(s, &out, d);
}

/* Is more than the program asked for? Shardy's propagation works on its text, and asks no machine. */
static bool wants_plan(const settings *s) {
  bool wants = s->table || s->json || s->report.n || is_plan_path(s->output);
  for (int i = 0; i < s->emit.n; i++) wants |= strcmp(s->emit.at[i].key, "sdy-ops") != 0;
  return wants;
}

/* --emit sdy-ops=FILE is the propagated text; the other forms are left for the plan. */
static sw_rc emit_text(settings *s, const sw_text *text, sw_diag *d) {
  int n = 0;
  for (int i = 0; i < s->emit.n; i++) {
    if (strcmp(s->emit.at[i].key, "sdy-ops")) {
      s->emit.at[n++] = s->emit.at[i];
      continue;
    }
    sw_text copy = {0};
    sw_text_append(&copy, sw_text_str(text), text->n);
    SW_TRY(sw_save_text(s->emit.at[i].value, &copy, d));
  }
  s->emit.n = n;
  return SW_OK;
}

static sw_rc plan_of(const settings *s, sw_arena *arena, sw_diag *d) {
  sw_opened session;
  SW_TRY(sw_session_open(&s->from, arena, &session, d));
  if (s->propagated && (sw_sizes_open(&session.sizes) > 0 || session.open_axes)) { /* it is read several times */
    sw_model_options from = s->from;
    from.open.text = sw_text_str(s->propagated);
    from.open.text_bytes = s->propagated->n;
    sw_close_job(&session);
    SW_TRY(sw_session_open(&from, arena, &session, d));
  }
  const bool open = sw_sizes_open(&session.sizes) > 0 || session.open_axes;
  sw_rc rc = s->show_rules ? show_rules(s, &session, d)
             : open        ? propagate_open(s, &session, arena, d)
                           : propagate_session(s, &session, arena, d);
  sw_close_job(&session);
  return rc;
}

/* The text alone, or read again for what needs a plan, as if it had been written to a file. */
static sw_rc propagate_text(settings *s, const sw_text *text, sw_layer layer, sw_arena *arena, sw_diag *d) {
  sw_propagation how = {.layer = layer, .conservative = s->conservative, .origins = s->origins, .explain = s->explain};
  sw_text out = {0}, same = {0};
  const bool plan = !s->explain && wants_plan(s);
  sw_rc rc = sw_program_propagate(s->from.open.model, text->at, text->n, &how, &out, d);
  if (!rc && !s->explain) rc = emit_text(s, &out, d);
  if (!rc && !plan) return save(s, &out, d);
  how.origins = false;
  how.same_ops = true;
  if (!rc) rc = sw_program_propagate(s->from.open.model, text->at, text->n, &how, &same, d);
  s->program = &out;
  s->propagated = &same;
  if (!rc) rc = plan_of(s, arena, d);
  s->program = s->propagated = NULL;
  sw_text_free(&out);
  sw_text_free(&same);
  return rc;
}

/* Has the text shardings in Shardy's words? */
static bool has_shardings(const char *text) { return strstr(text, "#sdy.") || strstr(text, "sdy.sharding"); }

static sw_rc answer_program(settings *s, const sw_text *text, sw_arena *arena, sw_diag *d) {
  sw_layer layer = SW_LAYER_WHOLE;
  const bool sdy = s->strategy && sw_layer_parse(s->strategy, &layer);
  const bool program = sw_program_is(s->from.open.model, text->at);
  if (sdy && !program)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: expected an MLIR program for --strategy %s", s->from.open.model,
                         s->strategy);
  if (sdy && s->mutate)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--mutate goes on by the RFC's strategies; expected no --strategy %s",
                   s->strategy);
  if (program && s->show_rules) return rules_of_text(s, text->at, text->n, d);
  if (sdy || (program && !s->strategy && !s->mutate && has_shardings(text->at)))
    return propagate_text(s, text, layer, arena, d);
  if (s->explain || s->origins || s->conservative)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--%s is for the sdy strategies; expected --strategy sdy",
                   s->explain   ? "explain"
                   : s->origins ? "origins"
                                : "conservative");
  return plan_of(s, arena, d);
}

static sw_rc cmd_propagate(const sw_call *call, sw_diag *d) {
  settings s = *(const settings *)call->settings;
  sw_text text = {0};
  s.from.open.open_sizes = true;
  s.cancel = call->cancel;
  s.stdout_taken = call->stdout_taken;
  SW_TRY(sw_read_model_text(s.from.open.model, &text.at, &text.n, d));
  s.from.open.text = sw_text_str(&text);
  s.from.open.text_bytes = text.n;
  sw_rc rc = answer_program(&s, &text, call->arena, d);
  sw_mem_free(text.at);
  return rc;
}

static bool without_changes(const void *of) { return !((const settings *)of)->mutate; }

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
        "--mutate goes on from the propagated shardings as the RFC proposes: ops are given other sharding options at "
        "random, propagation is repeated, and what is judged better by bytes moved, flops done twice and memory "
        "stays; with -v it says what these were and are.\n"
        "The sdy strategies give Shardy's result on every value of an MLIR program, open dimensions included, and "
        "write the program with it: sdy-basic (what nothing contradicts), sdy-aggressive (conflicts resolved), "
        "sdy-op-priority (cheap ops first), sdy-user-priority (shardings by their priorities), sdy (all of it; the "
        "default where the program has shardings of Shardy's). What needs a plan (--table, --report, a file "
        "NAME.json, other forms of --emit) gets that of the program so written.\n",
    .example = "shardwright propagate models/rfc-mlp-1d-tensors-2.json -o annotated.json",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .all_or_nothing = without_changes,
    .run = cmd_propagate};
