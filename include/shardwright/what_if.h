/* Further questions to a search: what would the plan be with these shardings pinned, too, or with other values made
 * again? */
#ifndef SHARDWRIGHT_WHAT_IF_H_
#define SHARDWRIGHT_WHAT_IF_H_

#include "shardwright/pins.h"
#include "shardwright/plan.h"

typedef struct sw_questions {
  sw_planner *planner;   /* NULL where `how` is SW_RECOMPUTE_SEARCH: then each question is a search of its own */
  const sw_job *program; /* that runs as it is, for questions of what is made again; NULL: there are none */
  const sw_plan_options *options; /* likewise: of each search */
  sw_recompute how;
  const sw_plan *plan; /* without further pins, and what it takes */
  const sw_breakdown *breakdown;
  bool json; /* answers are JSON objects on a line each (docs/plan-format.md), else lines to read */
} sw_questions;

/* Whose values pins name. */
static inline const sw_graph *sw_questions_graph(const sw_questions *q) {
  return q->how == SW_RECOMPUTE_SEARCH ? q->program->graph : q->plan->job.graph;
}

/* Pins as pins.h has them, or "recompute=full": with that made again, and pins behind a ';'. */
typedef struct sw_question {
  const char *text; /* borrowed: what it is called in the answer */
  sw_span at;
  bool of_recompute;
  sw_recompute how;
  int32_t n;
  const sw_pin *pins;
} sw_question;
/* In the arena. Pins beside "recompute=" are of values of the program. SW_E_USAGE or SW_E_INPUT, at a place of the
 * text, for what cannot be read. */
SW_API SW_CHECKED sw_rc sw_question_read(const sw_graph *g, const sw_graph *program, const sw_mesh *mesh,
                                         const char *text, sw_span at, sw_arena *arena, sw_question *out, sw_diag *d);
/* Append the answer. That no plan meets the pins, or none was found in time, is one, too. SW_E_USAGE where what is made
 * again cannot be asked for. The arena is for what is needed on the way. */
SW_API SW_CHECKED sw_rc sw_what_if(const sw_questions *q, const sw_question *asked, sw_arena *arena, sw_text *out,
                                   sw_diag *d);
/* An answer that is kept: the plan, what it costs, and what it has otherwise. */
typedef struct sw_answer sw_answer;
/* What the plan would be if a device held no more than that; it is called "memory=5184B". In the arena. */
SW_API SW_CHECKED sw_rc sw_what_if_memory(const sw_questions *q, int64_t capacity_bytes, sw_arena *arena,
                                          const sw_answer **out, sw_diag *d);
/* Append it, in the form that the questions are answered in. */
SW_API void sw_answer_print(const sw_questions *q, const sw_answer *a, sw_text *out);
/* The answer, as JSON, to a question that could not be read or asked. */
SW_API void sw_what_if_unread(const char *text, const sw_diag *why, sw_text *out);

#endif
