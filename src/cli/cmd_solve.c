/* shardwright solve: a selection problem alone, from a file of the contest's format. */
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/session.h"
#include "base/array.h"
#include "gen/gen_problem.h"
#include "shardwright/iopddl.h"
#include "io/json_write.h"
#include "shardwright/log.h"

typedef struct settings {
  const char *problem, *solver, *format, *output;
  double time_limit;
  int64_t threads, seed, work_limit;
  sw_words without, set;
  const char *certificate;
  bool json, parameters;
} settings;

static const sw_operand kOperands[] = {{.name = "PROBLEM",
                                        .help = "problem file (JSON, or gzip of it), or a problem made up: small:SEED, "
                                                "tied:SEED, large:SEED; - reads standard input",
                                        .into = SW_INTO_TEXT(settings, problem),
                                        .optional = true}};

static const sw_option kOptions[] = {
    {"time-limit", 0, SW_OPTION_NUMBER, "S", "60", "seconds from the start, reading included; 0: no limit",
     SW_INTO_NUMBER(settings, time_limit), .min = 0, .max = 1e9},
    {"work-limit", 0, SW_OPTION_INT, "N", "0",
     "stop after so many counted steps instead, with the same result on every machine; 0: no such limit",
     SW_INTO_INT(settings, work_limit), .min = 0, .max = 1e18},
    {"threads", 'j', SW_OPTION_INT, "N", "2", "threads to use", SW_INTO_INT(settings, threads), .min = 1, .max = 1024},
    {"seed", 0, SW_OPTION_INT, "K", "0", "seed of the search", SW_INTO_INT(settings, seed), .min = 0, .max = 1e15},
    {"solver", 0, SW_OPTION_CHOICE, "NAME", "auto", "which solver", SW_INTO_TEXT(settings, solver),
     .choices = "auto|native|glpk|exhaustive"},
    {"format", 0, SW_OPTION_CHOICE, "FORM", "contest", "contest: the line [s0, s1, ...]; json: with all figures",
     SW_INTO_TEXT(settings, format), .choices = "contest|json"},
    {"without", 0, SW_OPTION_WORDS, "RULE", NULL,
     "leave out a reduction: separable, functional, dominated, degree, steps, heavy", SW_INTO_WORDS(settings, without)},
    {"certificate", 0, SW_OPTION_FILE, "FILE", NULL, "write a proof of the bound, for check-solution",
     SW_INTO_TEXT(settings, certificate), .writes = true},
    SW_SET_OPTION(settings, set),
    {"parameters", 0, SW_OPTION_FLAG, NULL, NULL, "print the parameters of --set, and solve nothing",
     SW_INTO_FLAG(settings, parameters)},
    SW_OPTION_OUTPUT_INTO(settings, output),
    {"json", 0, SW_OPTION_FLAG, NULL, NULL, "the same as --format json", SW_INTO_FLAG(settings, json)},
};

static const double kWriting_s = 0.02; /* of the time limit, kept back for the result */

typedef struct history {
  SW_ARRAY(sw_solve_progress) events; /* improvements of the cost; what does not fit into memory is left out */
  double read_s;
} history;

static void note_progress(void *user, const sw_solve_progress *p) {
  history *h = user;
  double time_s = p->time_s + h->read_s;
  if (!p->has_cost) {
    sw_log(SW_LOG_INFO, "%8.2f s  bound %lld", time_s, (long long)p->bound);
    return;
  }
  double gap = p->cost > 0 ? 100.0 * (double)(p->cost - p->bound) / (double)p->cost : 0;
  sw_log(SW_LOG_INFO, "%8.2f s  cost %lld  bound %lld  gap %.4f %%", time_s, (long long)p->cost, (long long)p->bound,
         gap);
  if (h->events.n && h->events.at[h->events.n - 1].cost == p->cost) return;
  sw_solve_progress event = *p;
  event.time_s = time_s;
  if (sw_array_push(&h->events, event, NULL)) return;
}

/* A 128-bit figure that may pass 64 bits is written as text. */
static void write_wide(sw_json_out *o, const char *key, sw_i128 v) {
  if (v <= INT64_MAX) {
    sw_jw_i64(o, key, (int64_t)v);
    return;
  }
  char digits[48];
  size_t n = sizeof digits;
  for (; v > 0; v /= 10) digits[--n] = (char)('0' + (int)(v % 10));
  sw_jw_string_n(o, key, digits + n, sizeof digits - n);
}

static sw_rc write_json(const sw_problem *p, const sw_solution *s, const history *h, sw_text *out, sw_diag *d) {
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "solution", 1);
  sw_jw_string(&o, "problem", p->name);
  sw_jw_string(&o, "status", sw_solve_status_text(s->status));
  sw_jw_string(&o, "solver", s->solver);
  sw_jw_i64(&o, "bound", s->bound);
  sw_jw_f64(&o, "time_s", s->time_s + h->read_s);
  sw_jw_i64(&o, "work", s->work);
  if (s->status == SW_SOLVE_INFEASIBLE && s->least_peak) sw_jw_i64(&o, "least_peak", s->least_peak);
  if (s->presolve.time_s > 0) {
    sw_jw_object_row(&o, "presolve");
    sw_jw_f64(&o, "time_s", s->presolve.time_s + h->read_s);
    sw_jw_i64(&o, "nodes", s->presolve.nodes);
    sw_jw_i64(&o, "edges", s->presolve.edges);
    sw_jw_i64(&o, "choices", s->presolve.choices);
    sw_jw_i64(&o, "steps", s->presolve.steps);
    sw_jw_object_row(&o, "removed");
    for (int k = 0; k < SW_SELECT_RULES; k++) sw_jw_i64(&o, sw_select_rule_text(k), s->presolve.removed[k]);
    sw_jw_end(&o);
    sw_jw_end(&o);
  }
  if (s->choice) {
    sw_score score;
    SW_TRY(sw_problem_score(p, s->choice, &score, d));
    sw_jw_i64(&o, "cost", s->cost);
    sw_jw_f64(&o, "gap", s->cost > 0 ? (double)(s->cost - s->bound) / (double)s->cost : 0);
    write_wide(&o, "peak", score.peak);
    sw_jw_i64(&o, "peak_time", score.peak_time);
    if (p->limit != INT64_MAX) sw_jw_i64(&o, "limit", p->limit);
    sw_jw_array(&o, "improvements");
    for (size_t k = 0; k < h->events.n; k++) {
      sw_jw_object_row(&o, NULL);
      sw_jw_f64(&o, "time_s", h->events.at[k].time_s);
      sw_jw_i64(&o, "cost", h->events.at[k].cost);
      sw_jw_i64(&o, "bound", h->events.at[k].bound);
      sw_jw_end(&o);
    }
    sw_jw_end(&o);
    sw_jw_row(&o, "choice");
    for (int32_t i = 0; i < p->n_nodes; i++) sw_jw_i64(&o, NULL, s->choice[i]);
    sw_jw_end(&o);
  }
  sw_jw_end(&o);
  return SW_OK;
}

static sw_rc exit_of(const sw_problem *p, const sw_solution *s, const sw_call *call, sw_diag *d) {
  if (sw_cancelled(call->cancel)) return SW_E_CANCELLED;
  if (s->status == SW_SOLVE_INFEASIBLE && s->least_peak)
    return SW_FAIL(d, SW_E_INFEASIBLE, SW_NOWHERE, "no choice keeps the usage limit %lld; none is possible below %lld",
                   (long long)p->limit, (long long)s->least_peak);
  if (s->status == SW_SOLVE_INFEASIBLE) return SW_FAIL(d, SW_E_INFEASIBLE, SW_NOWHERE, "the problem has no solution");
  if (s->status == SW_SOLVE_UNKNOWN)
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "the time was up before any solution was found");
  return SW_OK;
}

static sw_rc read_without(const settings *s, unsigned *off, sw_diag *d) {
  for (int w = 0; w < s->without.n; w++) {
    int k = 0;
    while (sw_select_rule_text(k) && strcmp(sw_select_rule_text(k), s->without.at[w]) != 0) k++;
    if (!sw_select_rule_text(k))
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                     "no reduction '%s'; expected separable, functional, dominated, degree, steps or heavy",
                     s->without.at[w]);
    *off |= 1u << k;
  }
  return SW_OK;
}

static sw_rc write_solution(const settings *s, const sw_problem *p, const sw_solution *solution, const history *h,
                            sw_diag *d) {
  sw_text out = {0};
  if (s->json || strcmp(s->format, "json") == 0)
    SW_TRY(write_json(p, solution, h, &out, d));
  else if (solution->choice)
    sw_iopddl_print_solution(solution->choice, p->n_nodes, &out);
  return out.n > 0 ? sw_save_text(s->output, &out, d) : SW_OK;
}

/* The part of the limit that is not for the search: for writing, and, on a machine where others take turns, for waiting
 * for a few of ours. How long such waits are shows in how much longer reading took than it worked. */
static double kept_back(double limit, double read_s, double worked_s) {
  const double kTurn_s = 0.012, kMost = 0.02;
  double slower = worked_s > 1e-3 ? read_s / worked_s - 1 : 0;
  double turns_s = slower > 0 ? kTurn_s * slower : 0;
  return kWriting_s + (turns_s < kMost * limit ? turns_s : kMost * limit);
}

static sw_rc solve_file(const sw_call *call, history *h, sw_diag *d) {
  const settings *s = call->settings;
  double start = sw_now_s(), worked = sw_thread_s();
  sw_problem p;
  sw_solution solution;
  sw_text certificate = {0};
  unsigned off = 0;
  sw_parameters *set = NULL;
  SW_TRY(read_without(s, &off, d));
  for (int i = 0; i < s->set.n; i++) SW_TRY(sw_parameters_set(&set, s->set.at[i], call->arena, d));
  SW_TRY(sw_problem_load(s->problem, call->arena, &p, d));
  h->read_s = sw_now_s() - start;
  sw_log(SW_LOG_INFO, "read %d nodes and %d edges in %.2f s", p.n_nodes, p.n_edges, h->read_s);
  double left = s->time_limit - h->read_s - kept_back(s->time_limit, h->read_s, sw_thread_s() - worked);
  sw_solve_options o = {.threads = (int)s->threads,
                        .seed = (uint64_t)s->seed,
                        .work_limit = s->work_limit,
                        .rules_off = off,
                        .parameters = set,
                        .certificate = s->certificate ? &certificate : NULL,
                        .cancel = call->cancel,
                        .on_progress = note_progress,
                        .user = h};
  if (s->work_limit == 0 && s->time_limit > 0) {
    o.time_limit_s = s->time_limit;
    o.deadline_s = sw_now_s() + (left > 1e-3 ? left : 1e-3);
  }
  (void)sw_solver_parse(s->solver, &o.solver); /* one of the option's choices */
  SW_TRY(sw_solve(&p, &o, call->arena, &solution, d));
  sw_log(SW_LOG_INFO, "%s: cost %lld, bound %lld", sw_solve_status_text(solution.status), (long long)solution.cost,
         (long long)solution.bound);
  SW_TRY(write_solution(s, &p, &solution, h, d));
  if (s->certificate) SW_TRY(sw_save_text(s->certificate, &certificate, d));
  return exit_of(&p, &solution, call, d);
}

static sw_rc print_parameters(const settings *s, sw_diag *d) {
  const sw_parameter *p;
  sw_text out = {0};
  sw_json_out o;
  sw_json_out_init(&o, &out);
  if (s->json) sw_jw_format(&o, "parameters", 1);
  if (s->json) sw_jw_array(&o, "parameters");
  for (int k = 0; (p = sw_parameter_at(k)); k++) {
    const size_t start = out.n;
    if (!s->json) {
      sw_text_puts(&out, p->name);
      sw_text_pad(&out, start, 24);
      sw_text_printf(&out, "%-9g %-10s %6g .. %-6g %s\n", p->by_default, p->unit, p->least, p->most, p->trades);
      continue;
    }
    sw_jw_object_row(&o, NULL);
    sw_jw_string(&o, "name", p->name);
    sw_jw_string(&o, "unit", p->unit);
    sw_jw_f64(&o, "default", p->by_default);
    sw_jw_f64(&o, "least", p->least);
    sw_jw_f64(&o, "most", p->most);
    sw_jw_string(&o, "trades", p->trades);
    sw_jw_end(&o);
  }
  if (s->json) sw_jw_end(&o);
  if (s->json) sw_jw_end(&o);
  return sw_print_text(&out, d);
}

static sw_rc cmd_solve(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  history h = {0};
  if (s->parameters) return print_parameters(s, d);
  if (!s->problem) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "operand PROBLEM is missing");
  if (!call->common->quiet && !call->common->debug && isatty(STDERR_FILENO)) sw_log_set_level(SW_LOG_INFO);
  sw_rc rc = solve_file(call, &h, d);
  sw_array_free(&h.events);
  return rc;
}

const sw_command sw_command_solve = {
    .name = "solve",
    .summary = "solve a selection problem: one choice per node at the least total cost, under a usage limit",
    .description =
        "Reads the file format of the 2025 contest on intra-operator parallelism. The result is the best choice found "
        "when it is proven optimal, the time is up, or on SIGINT or SIGTERM. On a terminal, or with -v, cost, bound "
        "and gap are shown on the way.\n",
    .example = "shardwright solve tests/data/two.iopddl.json --time-limit 20 -o solution.txt --certificate proof.txt",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_solve};
