/* shardwright plan: search for the best shardings of a model on a machine. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/compared_plans.h"
#include "cli/output.h"
#include "cli/propagated.h"
#include "cli/session.h"
#include "cli/smaller_batch.h"
#include "cli/terminal.h"
#include "cli/questions.h"
#include "shardwright/emit.h"
#include "shardwright/log.h"
#include "shardwright/plan_json.h"
#include "shardwright/propagate.h"
#include "shardwright/report.h"

typedef struct settings {
  sw_model_options from;
  const char *solver, *output, *trace, *args, *start, *plan, *even, *baseline, *batch_dim, *recompute, *certificate;
  int64_t memory, threads, seed, work_limit;
  double time_limit, gap, simplicity;
  sw_words report, what_if, pins, compare, set;
  sw_pairs emit;
  const char *dialect;
  bool lower_memory, json, cut_heavy_ops, complete, kernels, full;
} settings;

static const sw_operand kOperands[] = {
    {.name = "MODEL", .help = SW_MODEL_HELP, .into = SW_INTO_TEXT(settings, from.open.model)}};

static const sw_option kOptions[] = {
    {"hw", 0, SW_OPTION_FILE, "PROFILE", NULL,
     "hardware profile: a name or a file; without it dgx-h100, or that of --plan",
     SW_INTO_TEXT(settings, from.open.hw)},
    {"mesh", 0, SW_OPTION_TEXT, "MESH", NULL,
     "logical mesh, as x=2,y=4; without it the model's own, or the profile's first", SW_INTO_TEXT(settings, from.mesh)},
    SW_PROGRAM_OPTIONS(settings),
    SW_COMPILER_OPTION(settings, from.open.compiler),
    SW_OVERLAP_OPTION(settings, from.open.overlap),
    {"schedule", 0, SW_OPTION_FILE, "FILE", NULL,
     "what runs, in order: ops made again for later readers, micro-batches, stages of which one is planned; a file "
     "with "
     "a schedule, or a plan that has one",
     SW_INTO_TEXT(settings, from.open.schedule)},
    {"recompute", 0, SW_OPTION_CHOICE, "HOW", "as-written",
     "what is made again for what reads it late, instead of being kept: what the program says; nothing, of its own "
     "checkpoints neither; whatever the search "
     "finds best; all of a layer but what enters it, or as Megatron has it with what nobody reads again; attention's "
     "core alone, as Megatron has it, or per op, as "
     "torchtitan has it (selective: megatron)",
     SW_INTO_TEXT(settings, recompute),
     .choices = "as-written|none|search|full|full=megatron|selective|selective=megatron|selective=torchtitan"},
    {"kernels", 0, SW_OPTION_FLAG, NULL, NULL,
     "instead of a plan, say which ops run together under the compiler, what their kernels read and write, and why an "
     "op stands alone",
     SW_INTO_FLAG(settings, kernels)},
    {"memory", 0, SW_OPTION_BYTES, "BYTES", NULL, "capacity per device, as 80GB; without it the profile's",
     SW_INTO_BYTES(settings, memory), .min = 1},
    {"args", 0, SW_OPTION_CHOICE, "HOW", "cut", "arguments arrive cut, or whole and each device slices its own",
     SW_INTO_TEXT(settings, args), .choices = "cut|whole"},
    {"cut-heavy-ops", 0, SW_OPTION_FLAG, NULL, NULL,
     "cut every contraction and convolution over as much of the mesh as possible, even where repeating it is free",
     SW_INTO_FLAG(settings, cut_heavy_ops)},
    {"even", 0, SW_OPTION_CHOICE, "WHAT", NULL,
     "what is cut only by axes that divide its dimensions: every value, arguments and outputs, or nothing; without it "
     "always where --emit writes a form that JAX or XLA reads, arguments for dtensor, else never",
     SW_INTO_TEXT(settings, even), .choices = "always|arguments|never"},
    {"complete", 0, SW_OPTION_FLAG, NULL, NULL,
     "complete the annotations: hints are required where they can be kept together, and it is said what was annotated "
     "and what the search has filled in",
     SW_INTO_FLAG(settings, complete)},
    {"time-limit", 0, SW_OPTION_NUMBER, "S", "60", "seconds that the search may take; 0: no limit",
     SW_INTO_NUMBER(settings, time_limit), .min = 0, .max = 1e9},
    {"work-limit", 0, SW_OPTION_INT, "N", "0",
     "steps that the search may take instead (a billion take some seconds), for the same plan at every run; 0: no "
     "limit",
     SW_INTO_INT(settings, work_limit), .min = 0, .max = 1e15},
    {"gap", 0, SW_OPTION_PERCENT, "PERCENT", "0.1",
     "how close to the proven bound is close enough; 0: search for a proof", SW_INTO_NUMBER(settings, gap), .min = 0,
     .max = 100},
    {"simplicity", 0, SW_OPTION_NUMBER, "PERCENT", "0.3",
     "of the plans that cost at most so much more than the cheapest one found, the simplest: the same roles cut alike "
     "in all layers, few reshards, small arguments whole, near to --start; 0: the cheapest",
     SW_INTO_NUMBER(settings, simplicity), .min = 0, .max = 100},
    {"start", 0, SW_OPTION_FILE, "PLAN", NULL,
     "start from a plan of this mesh, as -o writes it; pins, capacity and the model itself may have changed since",
     SW_INTO_TEXT(settings, start)},
    {"plan", 0, SW_OPTION_FILE, "PLAN", NULL,
     "instead of a search, this plan, as -o writes it: priced, compared, reported, emitted",
     SW_INTO_TEXT(settings, plan)},
    SW_ADAPT_OPTION(settings),
    {"baseline", 0, SW_OPTION_CHOICE, "NAME", NULL,
     "instead of a search, the plan that is made by this rule: to be looked at, run or compared as any other",
     SW_INTO_TEXT(settings, baseline), .choices = "replicated|data-parallel|megatron|fsdp|zero1"},
    SW_COMPARE_OPTION(settings),
    {"pin", 0, SW_OPTION_WORDS, "PINS", NULL,
     "shardings that the plan must have besides those that the model requires, as --what-if has them: "
     "NAME=SHARDING, several with ';' between",
     SW_INTO_WORDS(settings, pins)},
    {"what-if", 0, SW_OPTION_WORDS, "PINS", NULL,
     "after the plan, say what it would be with this pinned, too, and what changes: NAME=SHARDING, several with ';' "
     "between; NAME may be a pattern (h.*.w, **/wq), NAME@used and NAME@OP are about uses; - reads questions from "
     "standard input, a line each; recompute=HOW, before pins or alone, asks for a plan with that made again",
     SW_INTO_WORDS(settings, what_if)},
    {"lower-memory", 0, SW_OPTION_FLAG, NULL, NULL,
     "after the plan, say what it would be with 90, 75 and 50 % of the memory that it takes: what is cut otherwise, "
     "and what that costs",
     SW_INTO_FLAG(settings, lower_memory)},
    {"threads", 'j', SW_OPTION_INT, "N", "1", "threads of the search", SW_INTO_INT(settings, threads), .min = 1,
     .max = 1024},
    {"seed", 0, SW_OPTION_INT, "K", "0", "seed of the search", SW_INTO_INT(settings, seed), .min = 0, .max = 1e15},
    {"solver", 0, SW_OPTION_CHOICE, "NAME", "auto", "which solver", SW_INTO_TEXT(settings, solver),
     .choices = "auto|native|glpk|exhaustive"},
    SW_SET_OPTION(settings, set),
    {"output", 'o', SW_OPTION_FILE, "FILE", NULL, "write the plan as JSON", SW_INTO_TEXT(settings, output),
     .writes = true},
    {"report", 0, SW_OPTION_WORDS, "FILE", NULL, "write a report: as a page when the name ends in .html, else as JSON",
     SW_INTO_WORDS(settings, report), .writes = true},
    {"trace", 0, SW_OPTION_FILE, "FILE", NULL,
     "write the plan's timeline, which it has unless --overlap is none: a track for each stream, for Perfetto or "
     "chrome://tracing",
     SW_INTO_TEXT(settings, trace), .writes = true},
    {"certificate", 0, SW_OPTION_DIR, "DIR", NULL,
     "write why no plan takes less than a bound, for check-solution: a problem, its solution and certificate, and what "
     "they say of a step (solves once more, within the same limits)",
     SW_INTO_TEXT(settings, certificate)},
    {"emit", 0, SW_OPTION_PAIRS, "KIND=FILE", NULL, SW_EMIT_HELP, SW_INTO_PAIRS(settings, emit),
     .choices = SW_EMIT_KINDS, .writes = true},
    SW_DIALECT_OPTION(settings),
    {"batch-dim", 0, SW_OPTION_TEXT, "ARG:DIM", NULL,
     "the dimension that counts samples, by which throughput is told; without it the one along which most inputs are "
     "cut, or the first of most",
     SW_INTO_TEXT(settings, batch_dim)},
    {"full", 0, SW_OPTION_FLAG, NULL, NULL,
     "a row for each argument in the table, not one for all of a role and sharding (layers.{0..31}.wq)",
     SW_INTO_FLAG(settings, full)},
    {"json", 0, SW_OPTION_FLAG, NULL, NULL, "print the report as JSON instead of a table",
     SW_INTO_FLAG(settings, json)},
};

static void show_progress(void *user, const sw_solve_progress *p) {
  const double units_per_s = *(const double *)user;
  if (!p->has_cost) return;
  double gap = p->cost > 0 ? 100.0 * (double)(p->cost - p->bound) / (double)p->cost : 0;
  sw_log(SW_LOG_INFO, "%7.2f s  cost %.6g s  bound %.6g s  gap %.2f %%", p->time_s, (double)p->cost / units_per_s,
         (double)p->bound / units_per_s, gap);
}

static bool is_emitted(const settings *s, const char *kind) {
  for (int i = 0; i < s->emit.n; i++)
    if (strcmp(s->emit.at[i].key, kind) == 0) return true;
  return false;
}

/* By what is asked for, or by the forms that are to be written. */
static sw_even even_of(const settings *s) {
  static const char *const kWhat[] = {"never", "arguments", "always"};
  sw_even most = SW_EVEN_NEVER;
  for (int k = 0; s->even && k < 3; k++)
    if (strcmp(s->even, kWhat[k]) == 0) return (sw_even)k;
  for (int i = 0; i < s->emit.n; i++) {
    const sw_plan_form *form = sw_plan_form_find(s->emit.at[i].key);
    if (form->even > most) most = form->even;
  }
  return most;
}

/* What someone requires may be uneven all the same. */
static sw_rc check_forms(const settings *s, const sw_plan *plan, sw_diag *d) {
  if (even_of(s) == SW_EVEN_NEVER) return SW_OK;
  for (int i = 0; i < s->emit.n; i++) {
    const char *kind = s->emit.at[i].key;
    if (!sw_plan_form_find(kind)->even_alone) continue;
    SW_TRY_NOTE(d, sw_plan_check_even(plan, NULL, d),
                "in --emit %s; with --even never it is written as it is, and XLA pads", kind);
  }
  return SW_OK;
}

static sw_rc refuse_trace(sw_diag *d) {
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--trace writes a timeline; expected --overlap compiler beside it");
}

static sw_rc write_outputs(const settings *s, const sw_opened *session, const sw_report *r, sw_diag *d) {
  sw_text t = {0};
  SW_TRY(check_forms(s, r->plan, d));
  SW_TRY(sw_emit_all(session, r->plan, &s->emit, s->dialect, d));
  if (s->output) SW_TRY(sw_save_made(sw_plan_write(r->plan, r->breakdown, &t, d), s->output, &t, d));
  if (s->trace && !r->breakdown->timeline) return refuse_trace(d);
  if (s->trace) {
    sw_plan_trace_print(r->plan, r->breakdown, &t);
    SW_TRY(sw_save_text(s->trace, &t, d));
  }
  return sw_save_reports(r, &s->report, d);
}

static sw_recompute recompute_of(const settings *s) {
  sw_recompute r;
  if (strcmp(s->recompute, "selective") == 0) return SW_RECOMPUTE_MEGATRON;
  return sw_recompute_parse(s->recompute, SW_NOWHERE, &r, NULL) ? SW_RECOMPUTE_AS_WRITTEN
                                                                : r; /* a choice of the option */
}

/* The plan that --start names. It need not meet the pins: the search takes from it what it can. Where what is made
 * again is searched for, by its own schedule. */
static sw_rc read_start(const settings *s, sw_opened *session, const sw_call *call, const sw_plan **out, sw_diag *d) {
  sw_plan *start;
  sw_job job = session->job;
  sw_schedule *own = &session->of_start;
  int32_t stage = 0;
  bool any = false;
  if (!s->start) return SW_OK;
  sw_plan_transfer t;
  SW_ARENA_NEW(start, call->arena, 1, d);
  *out = start;
  if (recompute_of(s) == SW_RECOMPUTE_SEARCH)
    SW_TRY(sw_schedule_read(s->start, sw_job_written(&job), call->arena, true, own, &stage, &any, d));
  if (any) SW_TRY(sw_job_of_stage(&session->job, own, stage, call->arena, &job, d));
  SW_TRY(sw_plan_read_other(s->start, &job, call->arena, start, &t, d));
  sw_session_warn_of_transfer(s->start, &t, false);
  return SW_OK;
}

/* Seconds that the search may take of the limit, which covers the whole command: less what has passed since it began,
 * and what will be needed to price, check and print the plan, by what the plans made by rule took (eight or so were
 * priced). */
static double left_for_search(double limit_s, double began_s, double baselines_s) {
  const double kOfBaselines = 0.5, kLeast = 1e-3;
  return fmax(kLeast, limit_s - (sw_now_s() - began_s) - kOfBaselines * baselines_s);
}

static sw_plan_options plan_options_of(const settings *s, const sw_call *call) {
  sw_plan_options o = {.solve = {.work_limit = s->work_limit,
                                 .gap = s->gap / 100,
                                 .threads = (int)s->threads,
                                 .seed = (uint64_t)s->seed,
                                 .cancel = call->cancel,
                                 .on_progress = show_progress}};
  (void)sw_solver_parse(s->solver, &o.solve.solver); /* one of the option's choices */
  o.simplicity = s->simplicity / 100;
  o.selection.capacity_bytes = s->memory;
  o.selection.cut_heavy_ops = s->cut_heavy_ops;
  o.selection.even = even_of(s);
  o.selection.args_whole = strcmp(s->args, "whole") == 0;
  return o;
}

/* A person who has just seen a table may ask what a plan is good for. */
static void print_next(const settings *s, const sw_opened *session, sw_text *out) {
  const char *form = session->program ? "sdy" : "jax", *model = s->from.open.model;
  const char *plan = s->output ? s->output : s->plan;
  if (!isatty(STDOUT_FILENO)) return;
  if (plan)
    sw_text_printf(out,
                   "\nnext: `shardwright explain %s --plan %s` says why; `shardwright run %s --plan %s` executes it on "
                   "threads and compares with one device",
                   model, plan, model, plan);
  else
    sw_text_printf(out, "\nnext: -o plan.json keeps the plan, for `shardwright explain|run %s --plan plan.json`",
                   model);
  if (!s->emit.n) sw_text_printf(out, "; --emit %s=FILE writes it for others", form);
  if (!s->report.n) sw_text_puts(out, "; --report FILE.html shows it");
  sw_text_puts(out, "\n");
}

static sw_rc print_report(const settings *s, const sw_opened *session, const sw_call *call, const sw_report *r,
                          sw_diag *d) {
  sw_text out = {0};
  if (s->json) {
    sw_report_json(r, &out);
    return sw_print_text(&out, d);
  }
  sw_report_table(r, sw_terminal_has_colour(stdout), &out);
  if (!call->common->quiet) print_next(s, session, &out);
  return sw_print_answer(call, &out, d);
}

/* Everything about a plan that was found, what a search knows of lower memory included; q NULL: none was made. */
static sw_rc tell_plan(const settings *s, sw_opened *session, const sw_call *call, const sw_questions *q,
                       const sw_plan *plan, const sw_comparison *baselines, sw_breakdown *breakdown, sw_diag *d) {
  sw_report report;
  SW_TRY(sw_plan_verify(plan, d));
  sw_session_warn_of_hints(plan);
  SW_TRY(sw_plan_breakdown(plan, call->arena, breakdown, d));
  SW_TRY(sw_report_build(plan, breakdown, baselines, call->arena, &report, d));
  if (s->batch_dim) {
    sw_batch_dim of;
    SW_TRY_NOTE(d, sw_batch_dim_parse(session->job.graph, s->batch_dim, &of, d), "in --batch-dim %s", s->batch_dim);
    SW_TRY(sw_throughput_measure(plan, breakdown, &of, call->arena, &report.throughput, d));
  }
  SW_TRY(sw_compare_with(&s->compare, session, call->arena, &report, d));
  if (q && s->lower_memory) SW_TRY(sw_ask_lower_memory(q, call->arena, call->cancel, &report, d));
  report.completes = s->complete;
  report.all_arguments = s->full;
  SW_TRY(write_outputs(s, session, &report, d));
  if (is_emitted(s, "jax")) SW_TRY(sw_tell_ends_alone(&s->from, session, plan, breakdown, call->arena, d));
  SW_TRY(print_report(s, session, call, &report, d));
  return q && !s->json ? sw_tell_lower_memory(q, &report, d) : SW_OK;
}

/* What is made again is part of the search, and the session is of the schedule that is found. */
static sw_rc search_sources(const sw_job *j, sw_opened *session, const sw_call *call, const sw_plan_options *o,
                            sw_plan *plan, sw_diag *d) {
  SW_TRY(sw_plan_search_sources(j, session->job.request, o, call->arena, &session->schedule, plan, d));
  session->job = plan->job;
  return sw_plan_verify(plan, d);
}

static sw_rc search_job(const sw_job *j, sw_opened *session, const sw_call *call, const sw_plan_options *o,
                        sw_questions *q, sw_plan *plan, sw_diag *d) {
  return q->how == SW_RECOMPUTE_SEARCH ? search_sources(j, session, call, o, plan, d)
                                       : sw_planner_open(j, o, call->arena, &q->planner, plan, d);
}

/* With --complete hints are required, where that leaves any plan. */
static sw_rc open_planner(const settings *s, const sw_job *j, sw_opened *session, const sw_call *call,
                          const sw_plan_options *o, sw_questions *q, sw_plan *plan, sw_diag *d) {
  sw_request *completed;
  sw_job completing = *j;
  int32_t taken = 0;
  SW_ARENA_NEW(completed, call->arena, 1, d);
  if (s->complete) SW_TRY(sw_hints_require(j, call->arena, completed, &taken, d));
  if (taken) completing.request = completed;
  sw_rc rc = search_job(&completing, session, call, o, q, plan, d);
  if ((rc == SW_E_INFEASIBLE || rc == SW_E_RESOURCE) && taken) {
    sw_log(SW_LOG_WARN, "no plan that fits keeps all hints that exclude nothing; they only break ties");
    rc = search_job(j, session, call, o, q, plan, d);
  }
  if (rc || q->how == SW_RECOMPUTE_SEARCH) return rc;
  plan->job = *j;
  SW_TRY(sw_plan_verify(plan, d));
  plan->job = session->job; /* by whose annotations it is told */
  return SW_OK;
}

/* What the search starts from; and of each rule the best stands in the comparison. */
static sw_rc compare_levers(const sw_job *j, const sw_call *call, sw_ruled_levers *levers, sw_plan_options *o,
                            sw_diag *d) {
  SW_TRY(sw_levers_open(j, sw_plan_capacity(j, o), call->arena, levers, d));
  o->levers = levers;
  return sw_levers_compare(levers, o->baselines, sw_plan_capacity(j, o), call->arena, &o->baselines, d);
}

/* A plan that no search made here: its record is as of one which did not run. */
static sw_rc tell_made(const settings *s, sw_opened *session, const sw_call *call, sw_plan *plan,
                       const sw_comparison *baselines, const char *name, sw_diag *d) {
  sw_breakdown breakdown;
  plan->capacity_bytes = s->memory ? s->memory : sw_profile_memory_bytes(sw_machine_profile(session->job.machine));
  SW_TRY_NOTE(d, tell_plan(s, session, call, NULL, plan, baselines, &breakdown, d), "in %s", name);
  if (breakdown.peak_bytes > plan->capacity_bytes)
    sw_log(SW_LOG_WARN, "the plan %s does not fit into the memory of a device", name);
  sw_diag host = {0};
  if (sw_plan_check_host(plan, &host)) sw_log(SW_LOG_WARN, "%s", host.text);
  return SW_OK;
}

/* The plan made by rule. */
static sw_rc tell_baseline(const settings *s, sw_opened *session, const sw_call *call, const sw_job *j,
                           const sw_comparison *baselines, sw_diag *d) {
  sw_baseline b = 0;
  sw_plan plan;
  char name[40];
  while (strcmp(sw_baseline_text(b), s->baseline) != 0) b++; /* one of the option's choices */
  plan = baselines[b].plan;
  if (!baselines[b].made) SW_TRY(sw_baseline_build(j, b, call->arena, &plan, d));
  snprintf(name, sizeof name, "of --baseline %s", s->baseline);
  SW_TRY_NOTE(d, sw_plan_verify(&plan, d), "in the plan %s", name); /* with what --pin requires */
  plan.job = session->job;
  return tell_made(s, session, call, &plan, baselines, name, d);
}

/* The plan that --plan names. */
static sw_rc tell_given(const settings *s, sw_opened *session, const sw_call *call, sw_plan *plan, sw_diag *d) {
  const sw_comparison *baselines;
  SW_TRY(sw_baselines_build(&session->job, call->arena, &baselines, d));
  plan->origin = "file";
  return tell_made(s, session, call, plan, baselines, "of --plan", d);
}

/* The program as it is, with what --pin says. */
static sw_rc find_program(const settings *s, const sw_opened *session, const sw_call *call, const sw_job *pinned,
                          sw_job *out, sw_diag *d) {
  sw_job job;
  *out = *pinned;
  if (!pinned->schedule) return SW_OK;
  SW_TRY(sw_job_of_program(&session->job, call->arena, &job, d));
  return sw_pins_take(&job, s->pins.n, s->pins.at, SW_PINS_FROM, false, call->arena, out, d);
}

static sw_rc write_proof(const settings *s, const sw_job *j, const sw_plan *plan, const sw_plan_options *o,
                         const sw_call *call, sw_diag *d) {
  sw_plan_proof proof;
  sw_text out = {0};
  SW_TRY(sw_plan_prove(j, plan, o, call->arena, &proof, d));
  SW_TRY(sw_proof_write(&proof, s->certificate, d));
  if (s->json) return SW_OK;
  sw_text_printf(&out, "\nno %s takes less than ", proof.pruned_inexact ? "plan of the strategies enumerated" : "plan");
  sw_text_seconds(&out, proof.bound_s);
  sw_text_printf(&out,
                 ": `shardwright check-solution %s/problem.json %s/solution.txt --certificate %s/certificate.txt`\n",
                 s->certificate, s->certificate, s->certificate);
  return sw_print_answer(call, &out, d);
}

static sw_rc plan_model(const settings *s, const sw_model_options *from, sw_opened *session, const sw_call *call,
                        double began_s, sw_diag *d) {
  sw_plan_options o = plan_options_of(s, call);
  sw_parameters *set = NULL;
  bool none_fits = false;
  double units_per_s = sw_cost_units_per_s(session->job.machine);
  o.solve.user = &units_per_s;
  o.none_fits = &none_fits;
  sw_plan plan;
  sw_breakdown breakdown;
  sw_job pinned, program; /* with further pins; the second by no schedule */
  sw_ruled_levers levers = {0};
  sw_questions q = {
      .how = from->open.recompute, .options = &o, .plan = &plan, .breakdown = &breakdown, .json = s->json};
  double since_s;
  for (int i = 0; i < s->set.n; i++) SW_TRY(sw_parameters_set(&set, s->set.at[i], call->arena, d));
  o.solve.parameters = set;
  SW_TRY(sw_check_questions(session->job.graph, sw_machine_mesh(session->job.machine), &s->what_if, d));
  SW_TRY(read_start(s, session, call, &o.start, d));
  SW_TRY(sw_pins_take(&session->job, s->pins.n, s->pins.at, SW_PINS_FROM, false, call->arena, &pinned, d));
  since_s = sw_now_s();
  SW_TRY(sw_baselines_build(&pinned, call->arena, &o.baselines, d));
  if (s->baseline) return tell_baseline(s, session, call, &pinned, o.baselines, d);
  SW_TRY(sw_propagate_known(&pinned, call->arena, &o, d));
  if (s->work_limit == 0 && s->time_limit > 0) {
    o.solve.time_limit_s = s->time_limit;
    o.solve.deadline_s = sw_now_s() + left_for_search(s->time_limit, began_s, sw_now_s() - since_s);
  }
  if (!from->open.schedule) SW_TRY(find_program(s, session, call, &pinned, &program, d));
  if (!from->open.schedule) q.program = &program;
  sw_rc rc = q.how == SW_RECOMPUTE_SEARCH ? compare_levers(&pinned, call, &levers, &o, d) : SW_OK;
  if (!rc) rc = open_planner(s, &pinned, session, call, &o, &q, &plan, d);
  sw_fit_limits fit = {.asked = &o};
  const bool notes = rc && none_fits && !call->common->quiet;
  if (notes) sw_note_fits(q.program ? q.program : &pinned, &fit, call->arena, d);
  if (notes) sw_note_smaller_batch(from, session, &s->pins, &fit, d);
  if (!rc) rc = tell_plan(s, session, call, &q, &plan, o.baselines, &breakdown, d);
  if (!rc && s->certificate) rc = write_proof(s, &pinned, &plan, &o, call, d);
  if (!rc) rc = sw_answer_all(&q, &s->what_if, call->cancel, d);
  sw_planner_close(q.planner);
  sw_levers_close(&levers);
  if (rc) return rc;
  return sw_cancelled(call->cancel) ? SW_E_CANCELLED : SW_OK;
}

static sw_rc tell_kernels(const settings *s, const sw_opened *session, const sw_call *call, sw_diag *d) {
  sw_text out = {0};
  const sw_kernels *kernels = session->job.kernels;
  if (!kernels) SW_TRY(sw_kernels_find(session->job.graph, "none", call->arena, &kernels, d));
  SW_TRY((s->json ? sw_kernels_json : sw_kernels_table)(session->job.graph, kernels, call->arena, &out, d));
  return sw_print_text(&out, d);
}

static sw_rc check_usage(const settings *s, sw_diag *d) {
  sw_overlap overlap = SW_OVERLAP_COMPILER;
  SW_TRY(sw_overlap_parse(s->from.open.overlap, &overlap, d));
  if (s->trace && !overlap) return refuse_trace(d);
  if (recompute_of(s) == SW_RECOMPUTE_SEARCH) {
    if (s->from.open.schedule || s->plan || s->baseline)
      return SW_FAIL(
          d, SW_E_USAGE, SW_NOWHERE,
          "--recompute search makes its own schedule; expected no --schedule, --plan or --baseline beside it");
  }
  const char *made = s->baseline ? "--baseline" : s->plan ? "--plan" : NULL;
  if (s->certificate && (made || recompute_of(s) == SW_RECOMPUTE_SEARCH))
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--certificate is of one search; expected no %s beside it",
                   made ? made : "--recompute search");
  if (!made) return SW_OK;
  if (s->baseline && s->plan) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--baseline and --plan exclude each other");
  const bool pinned = s->plan && s->pins.n; /* plans made by rule keep pins */
  if (!s->what_if.n && !pinned && !s->lower_memory && !s->start && !s->complete) return SW_OK;
  return SW_FAIL(
      d, SW_E_USAGE, SW_NOWHERE,
      "%s is made without a search; expected no %s--what-if, --lower-memory, --start or --complete beside it%s", made,
      s->plan ? "--pin, " : "", s->plan ? " (--start PLAN searches from a plan)" : "");
}

/* What comes of a plan is priced as it was. */
static sw_rc price_as_start(const settings *s, const sw_call *call, sw_model_options *from, sw_diag *d) {
  sw_plan_head *head;
  SW_ARENA_NEW(head, call->arena, 1, d);
  SW_TRY(sw_plan_read_head(s->start, call->arena, head, d));
  from->open.of_plan = head;
  return SW_OK;
}

/* Of checkpoints around loops that are not what the program does elsewhere. *any: some were folded back. */
static sw_rc warn_of_loop_again(const sw_graph *g, bool *any, sw_diag *d) {
  sw_graph *folded;
  sw_id loop;
  SW_TRY(sw_schedule_fold(g->written, &folded, d));
  const sw_graph *left = folded ? folded : g;
  const sw_rc rc = sw_schedule_loop_again(left, &loop, d);
  const sw_span at = rc || loop < 0 ? SW_NOWHERE : left->ops[loop].span;
  if (!rc && loop >= 0)
    sw_log(SW_LOG_WARN,
           "%s:%d:%d: a checkpoint around this loop stays as written, which --recompute does not fold back",
           at.file ? at.file : "?", at.line, at.col);
  *any = folded != NULL;
  sw_graph_destroy(folded);
  return rc;
}

/* Of a program with loops or choices. */
static sw_rc warn_of_loops(const sw_opened *session, sw_recompute how, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = sw_job_written(&session->job)->graph;
  sw_schedule_spec spec;
  bool any; /* it makes something again by itself, or the schedule does */
  if (how == SW_RECOMPUTE_AS_WRITTEN || !g->n_frames) return SW_OK;
  SW_TRY(warn_of_loop_again(g, &any, d));
  if (how == SW_RECOMPUTE_NONE || any) return SW_OK;
  SW_TRY(sw_recompute_spec(g, how == SW_RECOMPUTE_SEARCH ? SW_RECOMPUTE_FULL : how, false, arena, &spec, d));
  for (int32_t i = 0; i < spec.n_entries; i++) any = any || spec.entries[i].instance;
  if (!any)
    sw_log(SW_LOG_WARN,
           "nothing is made again: the program has loops or choices, across which --recompute does not reach");
  return SW_OK;
}

static sw_rc cmd_plan(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  const double began_s = sw_now_s();
  sw_model_options from = s->from;
  sw_opened session;
  sw_plan plan;
  SW_TRY(check_usage(s, d));
  if (!from.open.hw && !s->plan) from.open.hw = "dgx-h100";
  from.open.recompute = recompute_of(s);
  from.open.memory = s->memory;
  if (s->start) SW_TRY(price_as_start(s, call, &from, d));
  sw_mem_keep_freed();
  SW_TRY(s->plan ? sw_session_open_plan(&from, s->plan, call->arena, &session, &plan, d)
                 : sw_session_open(&from, call->arena, &session, d));
  sw_rc rc = warn_of_loops(&session, from.open.recompute, call->arena, d);
  if (!rc) rc = sw_emit_check(&session, &s->emit, d);
  if (!rc && s->kernels)
    rc = tell_kernels(s, &session, call, d);
  else if (!rc && s->plan)
    rc = tell_given(s, &session, call, &plan, d);
  else if (!rc)
    rc = plan_model(s, &from, &session, call, began_s, d);
  if (rc) sw_session_note_source(&session, d);
  sw_close_job(&session);
  return rc;
}

const sw_command sw_command_plan = {
    .name = "plan",
    .summary = "search for the best shardings of a model on a machine",
    .description =
        "Enumerates the ways to cut every op, prices them and the resharding between them under the hardware profile, "
        "and finds the cheapest combination that fits into memory, with a proven lower bound.\n"
        "Prints a table; -o, --report and --emit write files.\n",
    .example = "shardwright plan models/small/gpt2.json --hw dgx-h100 --mesh x=2,y=4 -o plan.json --report report.html",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_plan};
