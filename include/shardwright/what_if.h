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

/* Append the answer to a question of n pins; `text` is what it is called there. That no plan meets them, or none was
 * found in time, is an answer, too. The arena is for what is needed on the way. */
SW_API SW_CHECKED sw_rc sw_what_if(const sw_questions *q, const char *text, int32_t n, const sw_pin *pins,
                                   sw_arena *arena, sw_text *out, sw_diag *d);
/* The same of what is made again: "recompute=full". */
SW_API SW_CHECKED sw_rc sw_what_if_recompute(const sw_questions *q, const char *text, sw_recompute how, sw_arena *arena,
                                             sw_text *out, sw_diag *d);
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
