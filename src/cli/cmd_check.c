/* shardwright check: does a model still do as well as a plan that was kept? */
#include "cli/output.h"
#include "cli/session.h"
#include "io/json_write.h"
#include "shardwright/log.h"

typedef struct settings {
  sw_model_options from;
  const char *plan;
  double max_slower;
  int64_t max_memory, memory;
  sw_search_limits limits;
  bool search, json;
} settings;

static const sw_operand kOperands[] = {
    {.name = "MODEL", .help = SW_MODEL_HELP, .into = SW_INTO_TEXT(settings, from.open.model)}};

static const sw_option kOptions[] = {
    {"plan", 0, SW_OPTION_FILE, "BASE", NULL,
     "the plan that was kept; required. One for another version of the model is taken as far as it fits",
     SW_INTO_TEXT(settings, plan)},
    {"max-slower", 0, SW_OPTION_PERCENT, "PERCENT", "3", "how much slower than BASE says is well",
     SW_INTO_NUMBER(settings, max_slower), .min = 0, .max = 1e6},
    {"max-memory", 0, SW_OPTION_BYTES, "BYTES", NULL, "how much a device may hold at most; without it its capacity",
     SW_INTO_BYTES(settings, max_memory), .min = 1},
    {"search", 0, SW_OPTION_FLAG, NULL, NULL,
     "judge the best plan that a search from BASE finds for the model, not BASE itself",
     SW_INTO_FLAG(settings, search)},
    {"hw", 0, SW_OPTION_FILE, "PROFILE", NULL,
     "profile that prices the plan; without it the plan's, if one of its name is shipped, else uniform",
     SW_INTO_TEXT(settings, from.open.hw)},
    SW_PROGRAM_OPTIONS(settings),
    SW_COMPILER_OPTION(settings, from.open.compiler),
    SW_OVERLAP_OPTION(settings, from.open.overlap),
    {"memory", 0, SW_OPTION_BYTES, "BYTES", NULL, "capacity per device, as 80GB; without it the profile's",
     SW_INTO_BYTES(settings, memory), .min = 1},
    SW_SEARCH_OPTIONS(settings, "--search", "60"),
    SW_OPTION_JSON_INTO(settings, json),
};

/* What may be wrong, by the word that begins its line. */
typedef enum reason { REASON_PLAN, REASON_TIME, REASON_MEMORY, REASONS } reason;
static const char *const kReasons[REASONS] = {
    [REASON_PLAN] = "plan", [REASON_TIME] = "time", [REASON_MEMORY] = "memory"};

typedef struct judged {
  sw_plan_record base;
  bool made;        /* there is a plan to judge */
  bool interrupted; /* of what a search had found by then */
  double total_s;
  int64_t peak_bytes;
  const char *compiler; /* as whose kernels it is priced */
  sw_dtype dtype;
  sw_text why[REASONS]; /* empty: well */
} judged;

static double relative_change(const judged *j) { return j->base.total_s > 0 ? j->total_s / j->base.total_s - 1 : 0; }

static void judge_time(const settings *s, judged *j) {
  sw_text *why = &j->why[REASON_TIME];
  if (!j->base.priced || 100 * relative_change(j) <= s->max_slower) return;
  sw_text_seconds(why, j->total_s);
  sw_text_printf(why, ", %.2f %% slower than the ", 100 * relative_change(j));
  sw_text_seconds(why, j->base.total_s);
  sw_text_printf(why, " of %s; --max-slower allows %.6g %%", s->plan, s->max_slower);
}

static void judge_memory(const settings *s, int64_t capacity, judged *j) {
  const int64_t most = s->max_memory ? s->max_memory : capacity;
  sw_text *why = &j->why[REASON_MEMORY];
  if (j->peak_bytes <= most) return;
  sw_text_bytes(why, (double)j->peak_bytes);
  sw_text_puts(why, s->max_memory ? " per device; --max-memory allows " : " per device, which has ");
  sw_text_bytes(why, (double)most);
}

/* That no plan is to be had is what was asked. */
static sw_rc judge_none(judged *j, sw_rc rc, sw_diag *d) {
  if (rc != SW_E_INFEASIBLE || !d) return rc;
  sw_text_puts(&j->why[REASON_PLAN], d->text);
  if (d->line) sw_text_printf(&j->why[REASON_PLAN], " (%s:%d:%d)", d->file, d->line, d->col);
  *d = (sw_diag){0};
  return SW_OK;
}

static sw_rc judge_base_plan(const settings *s, const sw_call *call, const sw_plan *base, judged *j, sw_diag *d) {
  const int64_t capacity = s->memory ? s->memory : sw_profile_memory_bytes(sw_machine_profile(base->job.machine));
  sw_breakdown breakdown;
  sw_plan plan = *base;
  if (s->memory) plan.capacity_bytes = s->memory;
  if (s->search) {
    const sw_plan_options o = sw_search_from(&s->limits, base, capacity, call->cancel);
    sw_rc rc = sw_plan_search(&base->job, &o, call->arena, &plan, d);
    if (rc) return judge_none(j, rc, d);
    j->interrupted = sw_cancelled(call->cancel);
    if (j->interrupted) sw_log(SW_LOG_WARN, "interrupted: the best plan so far is judged");
  }
  SW_TRY(sw_plan_breakdown(&plan, call->arena, &breakdown, d));
  if (j->base.priced && j->base.total_s <= 0 && breakdown.total_s > 0)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s says that it takes no time, and the model takes %.3g s; expected its time",
                         s->plan, breakdown.total_s);
  j->made = true;
  j->compiler = sw_compiled_as(&plan.job);
  j->dtype = sw_job_dtype(&plan.job);
  j->total_s = breakdown.total_s;
  j->peak_bytes = breakdown.peak_bytes;
  judge_time(s, j);
  judge_memory(s, capacity, j);
  sw_diag host = {0};
  if (sw_plan_check_host(&plan, &host))
    sw_text_printf(&j->why[REASON_MEMORY], "%s%s", j->why[REASON_MEMORY].n ? "; " : "", host.text);
  return SW_OK;
}

static bool is_well(const judged *j) {
  bool well = true;
  for (int i = 0; i < REASONS; i++) well = well && !j->why[i].n;
  return well;
}

static void print_check_lines(const judged *j, sw_text *out) {
  for (int i = 0; i < REASONS; i++)
    if (j->why[i].n) sw_text_printf(out, "%s: %s\n", kReasons[i], sw_text_str(&j->why[i]));
  if (!is_well(j)) return;
  sw_text_puts(out, "well: ");
  sw_text_seconds(out, j->total_s);
  if (j->base.priced) sw_text_printf(out, " (%+.2f %%)", 100 * relative_change(j));
  sw_text_puts(out, ", ");
  sw_text_bytes(out, (double)j->peak_bytes);
  sw_text_printf(out, " per device; compiler %s, %s\n", j->compiler, sw_dtype_text(j->dtype));
}

static void print_check_json(const settings *s, const judged *j, sw_text *out) {
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "check", 1);
  sw_jw_string(&o, "base", s->plan);
  sw_jw_bool(&o, "searched", s->search);
  if (j->interrupted) sw_jw_bool(&o, "interrupted", true);
  sw_jw_bool(&o, "passes", is_well(j));
  sw_jw_array(&o, "reasons");
  for (int i = 0; i < REASONS; i++) {
    if (!j->why[i].n) continue;
    sw_jw_object_row(&o, NULL);
    sw_jw_string(&o, "about", kReasons[i]);
    sw_jw_string(&o, "why", sw_text_str(&j->why[i]));
    sw_jw_end(&o);
  }
  sw_jw_end(&o);
  if (j->base.priced) {
    sw_jw_f64(&o, "total_s_before", j->base.total_s);
    sw_jw_i64(&o, "peak_bytes_before", j->base.peak_bytes);
  }
  if (j->made) {
    sw_jw_string(&o, "compiler", j->compiler);
    sw_jw_string(&o, "dtype", sw_dtype_text(j->dtype));
    sw_jw_f64(&o, "total_s", j->total_s);
    sw_jw_i64(&o, "peak_bytes", j->peak_bytes);
  }
  if (j->made && j->base.priced) sw_jw_f64(&o, "change", relative_change(j));
  sw_jw_end(&o);
}

static sw_rc tell_judged(const settings *s, const judged *j, sw_diag *d) {
  sw_text out = {0};
  for (int i = 0; i < REASONS; i++)
    if (j->why[i].rc) out.rc = j->why[i].rc;
  if (s->json)
    print_check_json(s, j, &out);
  else
    print_check_lines(j, &out);
  SW_TRY(sw_print_text(&out, d));
  if (j->interrupted) return SW_E_CANCELLED;
  return is_well(j) ? SW_OK : SW_E_MISMATCH;
}

static sw_rc check_plan_file(const settings *s, const sw_call *call, judged *j, sw_diag *d) {
  sw_model_options from = s->from;
  sw_opened session;
  sw_plan base;
  from.open.adapt = from.by_half = true;
  from.open.memory = s->memory;
  sw_rc rc = sw_session_open_plan(&from, s->plan, call->arena, &session, &base, d);
  if (rc) return judge_none(j, rc, d);
  rc = judge_base_plan(s, call, &base, j, d);
  if (rc) sw_session_note_source(&session, d);
  sw_close_job(&session);
  return rc;
}

static sw_rc cmd_check(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  judged j = {0};
  if (!s->plan) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--plan BASE is missing");
  SW_TRY(sw_plan_read_record(s->plan, &j.base, d));
  if (!j.base.priced) sw_log(SW_LOG_WARN, "%s does not say what time it takes; only memory is judged", s->plan);
  sw_rc rc = check_plan_file(s, call, &j, d);
  if (!rc) rc = tell_judged(s, &j, d);
  for (int i = 0; i < REASONS; i++) sw_text_free(&j.why[i]);
  return rc;
}

static bool without_search(const void *of) { return !((const settings *)of)->search; }

const sw_command sw_command_check = {
    .name = "check",
    .summary = "judge a model by a plan that was kept: no slower, no more memory",
    .description =
        "For continuous integration: the plan BASE is priced for the model as it is now, and compared with what BASE "
        "says "
        "that it took when it was made; with --search the best plan of the model as it is now is. Exit status 4 when "
        "it is "
        "slower than --max-slower allows, holds more than --max-memory or a device has, or cannot be had, with a line "
        "for "
        "each reason; else 0.\n",
    .example = "shardwright check models/small/gpt2.json --plan plan.json --max-slower 3% --max-memory 60GB",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .all_or_nothing = without_search,
    .run = cmd_check};
