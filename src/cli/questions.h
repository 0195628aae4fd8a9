/* Further questions to a search: what would the plan be with these shardings pinned, too? */
#ifndef CLI_QUESTIONS_H_
#define CLI_QUESTIONS_H_

#include "cli/command.h"
#include "shardwright/report.h"
#include "shardwright/what_if.h"

/* Before the search: can each of the texts be read? "-" is not read yet. */
SW_CHECKED sw_rc sw_check_questions(const sw_graph *g, const sw_mesh *mesh, const sw_words *texts, sw_diag *d);

/* Answer on standard output, each question as soon as its answer is known. A question is pins as pins.h
 * has them, or "recompute=HOW": with that made again, a search of its own.
 *
 * "-" are those of standard input, a line each until it ends; a line that cannot be read is an error that does not keep
 * the others from being answered. What a question asks that cannot be is its answer. */
SW_CHECKED sw_rc sw_answer_all(const sw_questions *q, const sw_words *texts, sw_cancel *cancel, sw_diag *d);
/* What the plan would be with 90, 75 and 50 % of the memory that it takes at its peak, for a report; and that told. */
SW_CHECKED sw_rc sw_ask_lower_memory(const sw_questions *q, sw_arena *arena, sw_cancel *cancel, sw_report *r,
                                     sw_diag *d);
SW_CHECKED sw_rc sw_tell_lower_memory(const sw_questions *q, const sw_report *r, sw_diag *d);

#endif
