#include "cli/questions.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"

enum { LONGEST_LINE = 1 << 16 };

static const sw_span kOfOption = {"--what-if", 1, 1};

sw_rc sw_check_questions(const sw_graph *g, const sw_mesh *mesh, const sw_words *texts, sw_diag *d) {
  sw_rc rc = SW_OK;
  for (int i = 0; i < texts->n && !rc; i++) {
    sw_arena arena = {0};
    sw_question asked;
    if (strcmp(texts->at[i], "-") != 0) rc = sw_question_read(g, g, mesh, texts->at[i], kOfOption, &arena, &asked, d);
    sw_arena_deinit(&arena);
  }
  return rc;
}

/* A question that cannot be read, with `bad` (NULL: it ends the rest): said, counted, and with --json an answer. */
static sw_rc tell_unread(const sw_questions *q, const char *text, const sw_diag *why, int *bad, sw_diag *d) {
  sw_text out = {0};
  ++*bad;
  sw_tell_error(why, false);
  if (q->json) sw_what_if_unread(text, why, &out);
  return sw_print_text(&out, d);
}

static sw_rc answer_one(const sw_questions *q, const char *text, sw_span at, int *bad, sw_diag *d) {
  sw_arena arena = {0};
  sw_diag why = {0};
  sw_text out = {0};
  sw_question asked;
  const sw_graph *g = sw_questions_graph(q);
  sw_rc rc = sw_question_read(g, q->program ? q->program->graph : g, sw_machine_mesh(q->plan->job.machine), text, at,
                              &arena, &asked, &why);
  if (!rc) {
    rc = sw_what_if(q, &asked, &arena, &out, d);
    if (!rc)
      rc = sw_print_text(&out, d);
    else
      sw_text_free(&out);
  } else if (bad && (rc == SW_E_USAGE || rc == SW_E_INPUT)) {
    rc = tell_unread(q, text, &why, bad, d);
  } else if (d) {
    *d = why;
  }
  sw_arena_deinit(&arena);
  return rc;
}

static bool is_blank_line(const char *line) {
  while (isspace((unsigned char)*line)) line++;
  return !*line;
}

static sw_rc answer_lines(const sw_questions *q, char *line, sw_cancel *cancel, sw_diag *d) {
  sw_span at = {"<stdin>", 0, 1};
  int bad = 0, asked = 0;
  while (!sw_cancelled(cancel) && fgets(line, LONGEST_LINE, stdin)) {
    size_t n = strcspn(line, "\r\n");
    at.line++;
    if (n + 1 == LONGEST_LINE)
      return SW_FAIL(d, SW_E_USAGE, at, "a line of standard input has more than %d bytes", LONGEST_LINE - 2);
    line[n] = '\0';
    if (is_blank_line(line)) continue;
    asked++;
    SW_TRY(answer_one(q, line, at, &bad, d));
  }
  if (ferror(stdin)) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "cannot read standard input");
  if (bad) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "%d of %d questions could not be read", bad, asked);
  return SW_OK;
}

static sw_rc answer_stdin(const sw_questions *q, sw_cancel *cancel, sw_diag *d) {
  char *line;
  SW_MEM_ROOM(line, LONGEST_LINE, d);
  sw_rc rc = answer_lines(q, line, cancel, d);
  sw_mem_free(line);
  return rc;
}

sw_rc sw_answer_all(const sw_questions *q, const sw_words *texts, sw_cancel *cancel, sw_diag *d) {
  for (int i = 0; i < texts->n && !sw_cancelled(cancel); i++) {
    const bool lines = strcmp(texts->at[i], "-") == 0;
    SW_TRY(lines ? answer_stdin(q, cancel, d) : answer_one(q, texts->at[i], kOfOption, NULL, d));
  }
  return SW_OK;
}

sw_rc sw_ask_lower_memory(const sw_questions *q, sw_arena *arena, sw_cancel *cancel, sw_report *r, sw_diag *d) {
  static const double kOfPeak[] = {0.9, 0.75, 0.5};
  enum { N = sizeof kOfPeak / sizeof *kOfPeak };
  const sw_answer **answers;
  SW_ARENA_NEW(answers, arena, N, d);
  r->lower_memory = answers;
  for (int i = 0; i < N && !sw_cancelled(cancel); i++) {
    const int64_t capacity = (int64_t)(kOfPeak[i] * (double)q->breakdown->peak_bytes);
    SW_TRY(sw_what_if_memory(q, capacity, arena, &answers[i], d));
    r->n_lower_memory++;
  }
  return SW_OK;
}

sw_rc sw_tell_lower_memory(const sw_questions *q, const sw_report *r, sw_diag *d) {
  sw_text out = {0};
  for (int32_t i = 0; i < r->n_lower_memory; i++) sw_answer_print(q, r->lower_memory[i], &out);
  return sw_print_text(&out, d);
}
