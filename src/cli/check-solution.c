/* shardwright check-solution: cost and peak of a solution, recomputed from the problem alone. */
#include "cli/command.h"
#include "cli/output.h"
#include "shardwright/certificate.h"
#include "base/file.h"
#include "shardwright/iopddl.h"

typedef struct settings {
  const char *problem, *solution, *certificate;
} settings;

static const sw_operand kOperands[] = {
    {.name = "PROBLEM", .help = "problem file (JSON, or gzip of it)", .into = SW_INTO_TEXT(settings, problem)},
    {.name = "SOLUTION",
     .help = "file whose last line [s0, s1, ...] is the solution",
     .into = SW_INTO_TEXT(settings, solution)}};

static const sw_option kOptions[] = {
    {"certificate", 0, SW_OPTION_FILE, "FILE", NULL, "check this proof of a lower bound too",
     SW_INTO_TEXT(settings, certificate)},
};

static void print_wide(sw_text *out, const char *what, sw_i128 v) {
  char digits[48];
  size_t n = sizeof digits;
  do digits[--n] = (char)('0' + (int)(v % 10));
  while ((v /= 10) > 0);
  sw_text_printf(out, "%s %.*s\n", what, (int)(sizeof digits - n), digits + n);
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
  sw_score score;
  SW_TRY(sw_iopddl_read(s->problem, call->arena, &p, d));
  SW_TRY(sw_problem_verify(&p, d));
  SW_TRY(sw_iopddl_read_solution(s->solution, &p, call->arena, &choice, d));
  SW_TRY(sw_problem_score(&p, choice, &score, d));
  sw_text out = {0};
  print_wide(&out, "cost", score.cost);
  print_wide(&out, "peak", score.peak);
  sw_text_printf(&out, "peak_time %lld\n", (long long)score.peak_time);
  if (p.limit != INT64_MAX) sw_text_printf(&out, "limit %lld\n", (long long)p.limit);
  int64_t bound = 0;
  if (s->certificate) {
    sw_rc rc = check_certificate(s->certificate, &p, &bound, d);
    if (rc) {
      sw_text_free(&out);
      return rc;
    }
    sw_text_printf(&out, "bound %lld\n", (long long)bound);
    if (score.feasible && bound > score.cost) {
      sw_text_free(&out);
      return SW_BUG(d, "the certificate proves more than the solution costs");
    }
  }
  SW_TRY(sw_print_text(&out, d));
  if (score.feasible) return SW_OK;
  if (score.peak > p.limit)
    return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "the solution passes the usage limit at time %lld",
                   (long long)score.peak_time);
  return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "the solution takes a forbidden entry");
}

const sw_command sw_command_check_solution = {
    .name = "check-solution",
    .summary = "recompute cost and peak usage of a solution of a selection problem, and check a proof of its bound",
    .description =
        "Shares no code with the solvers. With --certificate (from solve --certificate) every step of the "
        "proof is checked too and the bound printed. Exit status 4 when the solution passes the limit or takes "
        "a forbidden entry, or a step does not hold.\n",
    .example = "shardwright check-solution problem.json.gz solution.txt",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_check_solution};
