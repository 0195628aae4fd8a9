/* Further questions to a search: what would the plan be with these shardings pinned, too? */
#ifndef CLI_WHAT_IF_H_
#define CLI_WHAT_IF_H_

#include "cli/command.h"
#include "shardwright/plan.h"

typedef struct sw_questions {
  sw_planner *planner;
  const sw_plan *plan; /* without further pins, and what it takes */
  double total_s;
  bool json;
} sw_questions;

/* Answer, a line each, on standard output as soon as it is known. A question is pins with ';' between them, as
 * "wq=[[],[x]];wk=[[],[x]]"; "-" are those of standard input, a line each until it ends. What a question asks that
 * cannot be is its answer; a question that cannot be read ends it: SW_E_USAGE. */
SW_CHECKED sw_rc sw_answer_all(const sw_questions *q, const sw_words *texts, sw_cancel *cancel, sw_diag *d);

#endif
