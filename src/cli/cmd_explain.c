/* shardwright explain: why a plan is as it is. */
#include <string.h>

#include "cli/output.h"
#include "cli/session.h"
#include "cli/questions.h"
#include "graph/find.h"
#include "shardwright/explain.h"
#include "shardwright/log.h"

typedef struct settings {
  sw_model_options from;
  const char *name, *plan;
  int64_t top, memory;
  sw_search_limits limits;
  sw_words pins;
  bool peak, alone, json;
} settings;

static const sw_operand kOperands[] = {
    {.name = "MODEL", .help = SW_MODEL_HELP, .into = SW_INTO_TEXT(settings, from.open.model)},
    {.name = "NAME",
     .help =
         "a value, or a pattern of values as in --pin of 'plan': why it is cut so, and what is sent of it and for it",
     .into = SW_INTO_TEXT(settings, name),
     .optional = true},
};

static const sw_option kOptions[] = {
    {"plan", 0, SW_OPTION_FILE, "FILE", NULL, "the plan; required", SW_INTO_TEXT(settings, plan)},
    SW_ADAPT_OPTION(settings),
    {"top", 0, SW_OPTION_INT, "N", "0",
     "explain the N dearest kinds of communication; without NAME and --peak it is 10", SW_INTO_INT(settings, top),
     .min = 0, .max = 1e6},
    {"peak", 0, SW_OPTION_FLAG, NULL, NULL,
     "explain the memory: what a device holds at the peak, and the cheapest ways to hold less",
     SW_INTO_FLAG(settings, peak)},
    {"alone", 0, SW_OPTION_FLAG, NULL, NULL,
     "price alternatives with all else as it is, and do not search for the best plan with each",
     SW_INTO_FLAG(settings, alone)},
    {"pin", 0, SW_OPTION_WORDS, "NAME=SHARDING", NULL, "pins that the plan was made with; the search keeps them",
     SW_INTO_WORDS(settings, pins)},
    {"hw", 0, SW_OPTION_FILE, "PROFILE", NULL,
     "profile that prices the plan; without it the plan's, if one of its name is shipped, else uniform",
     SW_INTO_TEXT(settings, from.open.hw)},
    SW_PROGRAM_OPTIONS(settings),
    SW_COMPILER_OPTION(settings, from.open.compiler),
    SW_OVERLAP_OPTION(settings, from.open.overlap),
    {"memory", 0, SW_OPTION_BYTES, "BYTES", NULL,
     "capacity per device, as 80GB; without it the plan's, or the profile's", SW_INTO_BYTES(settings, memory),
     .min = 1},
    SW_SEARCH_OPTIONS(settings, "each search", "10"),
    SW_OPTION_JSON_INTO(settings, json),
};

/* What the search found, by which the plan is judged. */
typedef struct searched {
  sw_planner *planner; /* NULL: there was no search */
  sw_plan best, free_plan;
  sw_breakdown breakdown;
  bool has_free;
} searched;

/* A plan that was edited by hand, or made by rule, may be far from the best: then alternatives are cheaper than it. */
static void warn_of_better(const settings *s, const searched *x, const sw_breakdown *a) {
  const double kMuch = 0.005;
  const double change = a->total_s > 0 ? 1 - x->breakdown.total_s / a->total_s : 0;
  if (change <= kMuch) return;
  sw_log(SW_LOG_WARN, "a plan that is %.2f %% faster is found at once: `shardwright plan %s --start %s`", 100 * change,
         s->from.open.model, s->plan);
}

/* Where the memory is well used, what the limit costs is worth a search of its own. */
static sw_rc search_without_limit(const settings *s, const sw_call *call, const sw_plan *plan, const sw_breakdown *a,
                                  searched *out, sw_diag *d) {
  const double kWell = 0.8;
  sw_plan_options o = sw_search_from(&s->limits, plan, plan->capacity_bytes, call->cancel);
  sw_diag why = {0};
  sw_rc rc = sw_planner_open(&plan->job, &o, call->arena, &out->planner, &out->best, &why);
  if (rc == SW_E_INFEASIBLE || rc == SW_E_RESOURCE) {
    sw_log(SW_LOG_WARN, "alternatives are priced alone, as no search is possible: %s", why.text);
    return SW_OK;
  }
  if (rc && d) *d = why;
  if (rc) return rc;
  SW_TRY(sw_plan_breakdown(&out->best, call->arena, &out->breakdown, d));
  warn_of_better(s, out, a);
  if (plan->capacity_bytes == INT64_MAX || (double)a->peak_bytes < kWell * (double)plan->capacity_bytes) return SW_OK;
  o.selection.capacity_bytes = INT64_MAX;
  rc = sw_plan_search(&plan->job, &o, call->arena, &out->free_plan, NULL);
  out->has_free = !rc;
  return SW_OK;
}

/* Before the search: is there such a value? */
static sw_rc check_value_name(const settings *s, const sw_graph *g, sw_arena *arena, sw_diag *d) {
  sw_found found;
  return s->name ? sw_find_values(g, s->name, strlen(s->name), arena, &found, d) : SW_OK;
}

static sw_rc tell_explanation(const settings *s, const sw_call *call, const sw_plan *plan, const sw_breakdown *a,
                              const sw_explain_options *o, const searched *x, sw_diag *d) {
  sw_explanation e;
  sw_text out = {0};
  SW_TRY(sw_explain_build(plan, a, o, call->arena, &e, d));
  (s->json ? sw_explanation_json : sw_explanation_table)(&e, &out);
  SW_TRY(sw_print_text(&out, d));
  if (!s->peak || !x->planner) return SW_OK;
  const sw_questions q = {.planner = x->planner, .plan = plan, .breakdown = a, .json = s->json};
  sw_report report = {.plan = plan, .breakdown = a};
  SW_TRY(sw_ask_lower_memory(&q, call->arena, call->cancel, &report, d));
  return sw_tell_lower_memory(&q, &report, d);
}

static sw_rc explain_plan(const settings *s, const sw_call *call, const sw_plan *plan, sw_diag *d) {
  const bool nothing = !s->name && !s->peak && !s->top;
  sw_explain_options o = {
      .top = nothing ? 10 : (int32_t)s->top, .peak = s->peak, .name = s->name, .cancel = call->cancel};
  sw_breakdown breakdown;
  searched x = {0};
  SW_TRY(check_value_name(s, plan->job.graph, call->arena, d));
  SW_TRY(sw_plan_breakdown(plan, call->arena, &breakdown, d));
  sw_rc rc = SW_OK;
  if (!s->alone && (s->name || s->peak)) rc = search_without_limit(s, call, plan, &breakdown, &x, d);
  if (!rc) {
    o.planner = x.planner;
    o.free_plan = x.has_free ? &x.free_plan : NULL;
    rc = tell_explanation(s, call, plan, &breakdown, &o, &x, d);
  }
  sw_planner_close(x.planner);
  if (rc) return rc;
  return sw_cancelled(call->cancel) ? SW_E_CANCELLED : SW_OK;
}

static sw_rc cmd_explain(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  sw_opened session;
  sw_job job;
  sw_plan plan;
  if (!s->plan) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--plan FILE is missing");
  sw_mem_keep_freed();
  SW_TRY(sw_session_open_plan(&s->from, s->plan, call->arena, &session, &plan, d));
  sw_rc rc = sw_pins_take(&session.job, s->pins.n, s->pins.at, SW_PINS_FROM, false, call->arena, &job, d);
  if (!rc) {
    plan.job = job;
    if (s->memory) plan.capacity_bytes = s->memory;
    if (plan.capacity_bytes == INT64_MAX)
      plan.capacity_bytes = sw_profile_memory_bytes(sw_machine_profile(session.job.machine));
    rc = sw_plan_verify(&plan, d);
  }
  if (!rc) rc = explain_plan(s, call, &plan, d);
  if (rc) sw_session_note_source(&session, d);
  sw_close_job(&session);
  return rc;
}

const sw_command sw_command_explain = {
    .name = "explain",
    .summary = "say why a plan is as it is, and what else would cost",
    .description =
        "Of communication: who makes the value and how it is cut there, who wants it how, the route, what it takes, "
        "and the two ways without it: the value is made as it is wanted, or taken as it is made. Of a value: how else "
        "it could be cut. Of the memory: what fills it at the peak, and how to hold less. What is alike over all "
        "layers is told once, with the figures of the first for an alternative.\n"
        "Alternatives are priced alone, all else being as it is; and of NAME and --peak anew, by the best plan that a "
        "search finds with the alternative pinned.\n",
    .example = "shardwright explain models/small/gpt2.json --plan plan.json 'h.*.attn.wq'",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_explain};
