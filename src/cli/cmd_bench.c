/* shardwright bench: figures about the program itself, each by its name. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/session.h"
#include "bench/bench_costs.h"
#include "bench/bench_kernels.h"
#include "bench/bench_plan.h"
#include "bench/bench_reshard.h"
#include "bench/bench_runs.h"
#include "bench/bench_solve.h"
#include "io/json_write.h"
#include "shardwright/profile_json.h"

typedef struct settings {
  const char *what;
  const char *facts;
  sw_words hw, hw_set;
  bool fit, rows, json;
  const char *only, *mesh, *solver, *compiler, *overlap;
  double min_s, time_limit, gap;
  int64_t layers, threads, seeds;
  sw_words instances;
} settings;

static const sw_operand kOperands[] = {
    {"WHAT",
     "costs: predicted against measured times; kernels: how fast ops execute; plan: plans against baselines, and "
     "planning time; reshard: time of routes and tables beside their limits; runs: predicted against measured training "
     "runs; solve: the solver on selection problems",
     SW_INTO_TEXT(settings, what), .choices = "costs|kernels|plan|reshard|runs|solve"},
    {"INSTANCE",
     "solve: problem files, or made-up problems small:SEED, tied:SEED, large:SEED; plan: StableHLO programs instead of "
     "made models, or gpt2:LAYERS for one that is written and read again; runs: CSV files",
     SW_INTO_WORDS(settings, instances), .optional = true, .repeated = true},
};
static const sw_option kOptions[] = {
    {"facts", 0, SW_OPTION_DIR, "DIR", NULL, "folder of the measured tables; by default $SHARDWRIGHT_FACTS_DIR",
     SW_INTO_TEXT(settings, facts)},
    {"hw", 0, SW_OPTION_WORDS, "PROFILE", NULL, "hardware profile to judge; by default all",
     SW_INTO_WORDS(settings, hw)},
    SW_HW_SET_OPTION(settings, hw_set),
    {"fit", 0, SW_OPTION_FLAG, NULL, NULL,
     "fit the constants to the training rows first and print them; runs: also judge them by rows that they are not "
     "fitted to",
     SW_INTO_FLAG(settings, fit)},
    {"rows", 0, SW_OPTION_FLAG, NULL, NULL, "print every measured row beside its prediction",
     SW_INTO_FLAG(settings, rows)},
    {"only", 0, SW_OPTION_TEXT, "PART", NULL, "kernels, plan, runs: kernels or models whose name holds PART",
     SW_INTO_TEXT(settings, only)},
    {"min-time", 0, SW_OPTION_NUMBER, "S", "0.2", "kernels: repeat each for at least S seconds; the best time counts",
     SW_INTO_NUMBER(settings, min_s), .min = 0.001, .max = 60},
    {"mesh", 0, SW_OPTION_TEXT, "MESH", NULL, "plan: the mesh; without it x=2,y=4, or a program's own",
     SW_INTO_TEXT(settings, mesh)},
    SW_COMPILER_OPTION(settings, compiler),
    {"overlap", 0, SW_OPTION_CHOICE, "HOW", NULL,
     "plan, runs: what steps are timed with: kernels and communication one by one, or the timeline; without it as of "
     "plan",
     SW_INTO_TEXT(settings, overlap), .choices = SW_OVERLAPS},
    {"gap", 0, SW_OPTION_PERCENT, "PERCENT", "1", "plan: of programs, how close to the bound is close enough",
     SW_INTO_NUMBER(settings, gap), .min = 0, .max = 100},
    {"time-limit", 0, SW_OPTION_NUMBER, "S", "20", "plan, solve: seconds that one search may take",
     SW_INTO_NUMBER(settings, time_limit), .min = 0.05, .max = 1e6},
    {"layers", 0, SW_OPTION_INT, "N", "128", "plan: most layers of the tables by layers; 0: no such tables",
     SW_INTO_INT(settings, layers), .min = 0, .max = 4096},
    {"threads", 'j', SW_OPTION_INT, "N", "2", "solve: threads to use", SW_INTO_INT(settings, threads), .min = 1,
     .max = 1024},
    {"solver", 0, SW_OPTION_CHOICE, "NAME", "auto", "solve: which solver", SW_INTO_TEXT(settings, solver),
     .choices = "auto|native"},
    {"seeds", 0, SW_OPTION_INT, "N", "1", "solve: runs per instance, with seeds 1 to N", SW_INTO_INT(settings, seeds),
     .min = 1, .max = 1000},
    SW_OPTION_JSON_INTO(settings, json),
};

static sw_rc read_profiles(const settings *s, sw_arena *arena, const sw_profile ***out, int *n, sw_diag *d) {
  const char *const *names = s->hw.at;
  *n = s->hw.n;
  if (*n == 0) SW_TRY(sw_profile_names(arena, &names, n, d));
  SW_ARENA_NEW(*out, arena, *n, d);
  for (int i = 0; i < *n; i++) SW_TRY(sw_read_hw(names[i], &s->hw_set, arena, &(*out)[i], d));
  return SW_OK;
}

static sw_rc bench_costs(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  const char *facts = s->facts ? s->facts : getenv("SHARDWRIGHT_FACTS_DIR");
  if (!facts)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "no measured tables; expected --facts DIR or $SHARDWRIGHT_FACTS_DIR");
  const sw_profile **profiles;
  int n;
  SW_TRY(read_profiles(s, call->arena, &profiles, &n, d));
  sw_bench_costs_options o = {.facts_dir = facts, .fit = s->fit, .rows = s->rows};
  sw_text out = {0};
  bool passed;
  sw_rc rc = sw_bench_costs(profiles, n, &o, s->json ? NULL : &out, s->json ? &out : NULL, &passed, d);
  SW_TRY(sw_print_made(rc, &out, d));
  return passed ? SW_OK : SW_E_MISMATCH;
}

/* Rows as text, or as JSON, printed at the end. */
typedef struct table {
  sw_text text;
  sw_json_out json;
  bool as_json;
  sw_cancel *cancel;
} table;

static void begin_object(const sw_call *call, const char *format, table *t) {
  const settings *s = call->settings;
  *t = (table){.as_json = s->json, .cancel = call->cancel};
  sw_json_out_init(&t->json, &t->text);
  if (t->as_json) sw_jw_format(&t->json, format, 1);
}

static void begin_table(const sw_call *call, const char *format, table *t) {
  begin_object(call, format, t);
  if (t->as_json) sw_jw_array(&t->json, "rows");
}

static sw_rc end_object(table *t, sw_rc rc, sw_diag *d) {
  if (t->as_json) sw_jw_end(&t->json);
  return sw_print_made(rc, &t->text, d);
}

static sw_rc end_bench_table(table *t, sw_rc rc, sw_diag *d) {
  if (t->as_json) sw_jw_end(&t->json);
  return end_object(t, rc, d);
}

/* --- kernels --- */

static sw_rc add_kernel(void *user, const sw_bench_kernel_row *r, sw_diag *d) {
  table *t = user;
  if (sw_cancelled(t->cancel)) return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted");
  if (t->as_json) {
    sw_jw_object(&t->json, NULL);
    sw_jw_string(&t->json, "name", r->name);
    sw_jw_f64(&t->json, "seconds", r->seconds);
    sw_jw_f64(&t->json, "flop_per_s", r->flop_per_s);
    sw_jw_f64(&t->json, "bytes_per_s", r->bytes_per_s);
    sw_jw_f64(&t->json, "share", r->share);
    sw_jw_end(&t->json);
    return SW_OK;
  }
  sw_text_printf(&t->text, "%-55s %10.3f %10.2f %10.2f %6.0f%%\n", r->name, r->seconds * 1e3, r->flop_per_s * 1e-9,
                 r->bytes_per_s * 1e-9, r->share * 100);
  return SW_OK;
}

static sw_rc bench_kernels(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  table t;
  begin_table(call, "bench-kernels", &t);
  if (!s->json) sw_text_printf(&t.text, "%-55s %10s %10s %10s %7s\n", "kernel", "ms", "GFLOP/s", "GB/s", "share");
  return end_bench_table(&t, sw_bench_kernels(&(sw_bench_kernels_options){s->min_s, s->only}, add_kernel, &t, d), d);
}

/* --- plan --- */

static sw_rc print_bench_line(const char *line, sw_diag *d) {
  sw_text t = {0};
  sw_text_printf(&t, "%s\n", line);
  return sw_print_text(&t, d);
}

static sw_rc bench_plan(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  const sw_profile *profile;
  sw_mesh mesh;
  int worse;
  SW_TRY(sw_read_hw(s->hw.n ? s->hw.at[0] : "dgx-h100", &s->hw_set, call->arena, &profile, d));
  SW_TRY(sw_mesh_parse(s->mesh ? s->mesh : "x=2,y=4", call->arena, &mesh, d));
  bool own = s->instances.n && !s->mesh;
  sw_bench_plan_options o = {.profile = profile,
                             .mesh = own ? NULL : &mesh,
                             .fallback = &mesh,
                             .compiler = s->compiler,
                             .overlap = s->overlap,
                             .gap = s->gap / 100,
                             .time_limit_s = s->time_limit,
                             .only = s->only,
                             .most_layers = s->layers,
                             .cancel = call->cancel};
  table t;
  begin_object(call, "bench-plan", &t);
  if (s->json) o.json = &t.json;
  sw_mem_keep_freed();
  if (s->instances.n)
    return end_object(&t, sw_bench_programs(&o, s->instances.at, s->instances.n, print_bench_line, d), d);
  SW_TRY(end_object(&t, sw_bench_plan(&o, print_bench_line, &worse, d), d));
  return worse ? SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "%d plans cost more than a baseline that fits", worse) : SW_OK;
}

/* --- reshard --- */

static sw_rc add_reshard_row(void *user, const sw_bench_reshard_row *r, sw_diag *d) {
  (void)d;
  table *t = user;
  if (t->as_json) {
    sw_jw_object(&t->json, NULL);
    sw_jw_string(&t->json, "mesh", r->mesh);
    sw_jw_string(&t->json, "what", r->what);
    sw_jw_f64(&t->json, "seconds", r->seconds);
    sw_jw_f64(&t->json, "median_s", r->median_s);
    sw_jw_f64(&t->json, "p99_s", r->p99_s);
    sw_jw_f64(&t->json, "worst_s", r->worst_s);
    sw_jw_f64(&t->json, "limit_s", r->limit_s);
    sw_jw_end(&t->json);
    return SW_OK;
  }
  size_t start = t->text.n;
  sw_text_printf(&t->text, "%-12s %-20s ", r->mesh, r->what);
  const double times[] = {r->seconds, r->limit_s, r->median_s, r->p99_s, r->worst_s};
  static const size_t kColumn[] = {34, 44, 63, 74, 85}, kBeyond = 55;
  for (int i = 0; i < 5 && times[i] > 0; i++) {
    sw_text_pad(&t->text, start, kColumn[i]);
    sw_text_seconds(&t->text, times[i]);
    if (i != 1 || r->seconds <= r->limit_s) continue;
    sw_text_pad(&t->text, start, kBeyond);
    sw_text_puts(&t->text, "beyond");
  }
  sw_text_puts(&t->text, "\n");
  return SW_OK;
}

static sw_rc add_reshard_wins(void *user, const sw_bench_reshard_wins *w, sw_diag *d) {
  (void)d;
  table *t = user;
  if (t->as_json) {
    sw_jw_object(&t->json, NULL);
    sw_jw_string(&t->json, "mesh", w->mesh);
    sw_jw_i64(&t->json, "pairs", w->pairs);
    sw_jw_i64(&t->json, "exchange_wins", w->wins);
    sw_jw_f64(&t->json, "mean_saving", w->mean_saving);
    sw_jw_f64(&t->json, "median_ratio", w->median_ratio);
    sw_jw_f64(&t->json, "worst_ratio", w->worst_ratio);
    sw_jw_end(&t->json);
    return SW_OK;
  }
  sw_text_printf(
      &t->text,
      "%-12s exchange wins on %d of %d pairs and saves %.0f %% there; collectives alone: median ratio to the "
      "bound %.3f, worst %.3f\n",
      w->mesh, w->wins, w->pairs, 100 * w->mean_saving, w->median_ratio, w->worst_ratio);
  return SW_OK;
}

static sw_rc bench_reshard(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  table t;
  const sw_bench_reshard_visitor v = {add_reshard_row, add_reshard_wins, &t};
  sw_bench_reshard_options o = {.min_s = s->min_s, .cancel = call->cancel};
  int beyond;
  SW_TRY(sw_read_hw(s->hw.n ? s->hw.at[0] : "h100x64", &s->hw_set, call->arena, &o.profile, d));
  sw_mem_keep_freed(); /* as planning does */
  begin_table(call, "bench-reshard", &t);
  if (!s->json)
    sw_text_printf(&t.text, "%-12s %-20s %-10s %-18s %-10s %-10s worst\n", "mesh", "what", "mean", "limit", "median",
                   "99 %");
  SW_TRY(end_bench_table(&t, sw_bench_reshard(&o, &v, &beyond, d), d));
  return beyond ? SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "%d figures are beyond their limit", beyond) : SW_OK;
}

static sw_rc bench_solve(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  if (s->instances.n == 0)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "no instance; expected problem files, or small:1, tied:1, large:1");
  sw_bench_solve_options o = {.instances = s->instances.at,
                              .n_instances = s->instances.n,
                              .time_limit_s = s->time_limit,
                              .threads = (int)s->threads,
                              .seeds = (int)s->seeds,
                              .cancel = call->cancel};
  (void)sw_solver_parse(s->solver, &o.solver); /* one of the option's choices */
  table t;
  begin_object(call, "bench-solve", &t);
  if (s->json) o.json = &t.json;
  return end_object(&t, sw_bench_solve(&o, print_bench_line, d), d);
}

static sw_rc bench_runs(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  if (s->instances.n < 1) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "no file of measured runs; expected one or more");
  sw_bench_runs_options o = {
      .paths = s->instances.at, .n_paths = s->instances.n, .only = s->only, .fit = s->fit, .cancel = call->cancel};
  o.overlap = SW_OVERLAP_COMPILER;
  SW_TRY(sw_overlap_parse(s->overlap, &o.overlap, d));
  sw_text out = {0};
  sw_mem_keep_freed();
  sw_rc rc = sw_bench_runs(&o, s->json ? NULL : &out, s->json ? &out : NULL, d);
  return sw_print_made(rc, &out, d);
}

static sw_rc cmd_bench(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  if (strcmp(s->what, "solve") == 0) return bench_solve(call, d);
  if (strcmp(s->what, "plan") == 0) return bench_plan(call, d);
  if (strcmp(s->what, "runs") == 0) return bench_runs(call, d);
  if (s->instances.n)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "bench %s takes no instances; '%s' is one too many", s->what,
                   s->instances.at[0]);
  if (strcmp(s->what, "reshard") == 0) return bench_reshard(call, d);
  return strcmp(s->what, "kernels") == 0 ? bench_kernels(call, d) : bench_costs(call, d);
}

const sw_command sw_command_bench = {
    .name = "bench",
    .summary = "print figures about the program: its prices against measured times, its kernels",
    .description =
        "costs: every profile names the measured rows that speak of it. Half of the sizes, on ranks other than 4, are "
        "for fitting; the others judge. The mean absolute log error of a source at 1 MiB and above may be 15 %; exit "
        "status 4 when one is beyond.\n"
        "kernels: ops at sizes beyond the caches, on one thread, beside a matrix product and a copy of the same run; "
        "share is the larger of the two rates over theirs.\n"
        "reshard: how long a route, a cached route and a table of prices take, beside their limits, and how often the "
        "direct exchange wins; exit status 4 when a figure is beyond its limit.\n"
        "runs: each row of the table says model, hardware, strategy and what was measured; the plan is that of the "
        "strategy, made by rule. Rows with stages, or that do not say what they recompute, are printed without a "
        "prediction. ln is the logarithm of predicted over measured; a family is a model on one hardware, in "
        "four rows or more: Kendall's tau of its rates, and what is lost of the best one by following it.\n",
    .example = "shardwright bench costs --facts facts --hw dgx-h100",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_bench};
