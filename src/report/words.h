/* What a plan does in words, from its shardings and the roles of arguments alone: "FSDP (ZeRO-3) over x; Megatron over
 * y", "mixed: 73 % data-parallel and 27 % heads over x". Each axis of the mesh is measured by itself, a table of
 * patterns has the words, and axes of the same words are said together. Linear in the ops. */
#ifndef REPORT_WORDS_H_
#define REPORT_WORDS_H_

#include "shardwright/plan.h"

SW_CHECKED sw_rc sw_plan_words(const sw_plan *p, sw_text *out, sw_diag *d);

#endif
