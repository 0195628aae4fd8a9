/* shardwright check-solution: cost and peak of a solution, recomputed from the problem alone. */
#include "cli/command.h"
#include "cli/output.h"
#include "shardwright/certificate.h"
#include "base/file.h"
#include "io/json_write.h"
#include "shardwright/iopddl.h"

typedef struct settings {
  const char *problem, *solution, *certificate;
  bool json;
} settings;

static const sw_operand kOperands[] = {
    {.name = "PROBLEM", .help = "problem file (JSON, or gzip of it)", .into = SW_INTO_TEXT(settings, problem)},
    {.name = "SOLUTION",
     .help = "file whose last line [s0, s1, ...] is the solution",
     .into = SW_INTO_TEXT(settings, solution)}};

static const sw_option kOptions[] = {
    {"certificate", 0, SW_OPTION_FILE, "FILE", NULL, "check this proof of a lower bound too",
     SW_INTO_TEXT(settings, certificate)},
    SW_OPTION_JSON_INTO(settings, json),
};

/* What is found out about a solution. */
typedef struct findings {
  const sw_problem *p;
  sw_score score;
  bool has_bound;
  int64_t bound;
} findings;

static void print_wide(sw_text *out, sw_i128 v) {
  char digits[48];
  size_t n = sizeof digits;
  do digits[--n] = (char)('0' + (int)(v % 10));
  while ((v /= 10) > 0);
  sw_text_append(out, digits + n, sizeof digits - n);
}

static void print_solution_lines(const findings *f, sw_text *out) {
  sw_text_puts(out, "cost ");
  print_wide(out, f->score.cost);
  sw_text_puts(out, "\npeak ");
  print_wide(out, f->score.peak);
  sw_text_printf(out, "\npeak_time %lld\n", (long long)f->score.peak_time);
  if (f->p->limit != INT64_MAX) sw_text_printf(out, "limit %lld\n", (long long)f->p->limit);
  if (f->has_bound) sw_text_printf(out, "bound %lld\n", (long long)f->bound);
}

/* Figures of more than 64 bits are texts. */
static void put_wide(sw_json_out *o, const char *key, sw_i128 v) {
  sw_text digits = {0};
  if (v <= INT64_MAX) {
    sw_jw_i64(o, key, (int64_t)v);
    return;
  }
  print_wide(&digits, v);
  sw_jw_text(o, key, &digits);
}

static void print_solution_json(const findings *f, sw_text *out) {
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "check-solution", 1);
  sw_jw_bool(&o, "feasible", f->score.feasible);
  put_wide(&o, "cost", f->score.cost);
  put_wide(&o, "peak", f->score.peak);
  sw_jw_i64(&o, "peak_time", f->score.peak_time);
  if (f->p->limit != INT64_MAX) sw_jw_i64(&o, "limit", f->p->limit);
  if (f->has_bound) sw_jw_i64(&o, "bound", f->bound);
  sw_jw_end(&o);
}

static sw_rc check_certificate(const char *path, const sw_problem *p, int64_t *bound, sw_diag *d) {
  char *bytes;
  size_t n;
  SW_TRY(sw_file_read_text(path, &bytes, &n, d));
  sw_rc rc = sw_certificate_check(p, bytes, n, path, bound, d);
  sw_mem_free(bytes);
  return rc;
}

static sw_rc cmd_check_solution(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  sw_problem p;
  int32_t *choice;
  findings f = {.p = &p, .has_bound = s->certificate != NULL};
  sw_text out = {0};
  SW_TRY(sw_iopddl_read(s->problem, call->arena, &p, d));
  SW_TRY(sw_problem_verify(&p, d));
  SW_TRY(sw_iopddl_read_solution(s->solution, &p, call->arena, &choice, d));
  SW_TRY(sw_problem_score(&p, choice, &f.score, d));
  if (s->certificate) SW_TRY(check_certificate(s->certificate, &p, &f.bound, d));
  if (f.has_bound && f.score.feasible && f.bound > f.score.cost)
    return SW_BUG(d, "the certificate proves more than the solution costs");
  (s->json ? print_solution_json : print_solution_lines)(&f, &out);
  SW_TRY(sw_print_text(&out, d));
  if (f.score.feasible) return SW_OK;
  if (f.score.peak > p.limit)
    return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "the solution passes the usage limit at time %lld",
                   (long long)f.score.peak_time);
  return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "the solution takes a forbidden entry");
}

const sw_command sw_command_check_solution = {
    .name = "check-solution",
    .summary = "recompute cost and peak usage of a solution of a selection problem, and check a proof of its bound",
    .description =
        "Shares no code with the solvers. With --certificate (from solve or plan --certificate) every step of the "
        "proof is checked too and the bound printed. Exit status 4 when the solution passes the limit or takes "
        "a forbidden entry, or a step does not hold.\n",
    .example = "shardwright check-solution tests/data/two.iopddl.json solution.txt --certificate proof.txt",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_check_solution};
