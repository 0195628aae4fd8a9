/* What a plan completes (plan --complete): which values are as annotations say, which of their open dims it has cut
 * further, and what nothing was said of. */
#ifndef REPORT_COMPLETION_H_
#define REPORT_COMPLETION_H_

#include "io/json_write.h"
#include "shardwright/report.h"

void sw_completion_table(const sw_plan *p, bool colour, sw_text *out);
void sw_completion_json(const sw_plan *p, sw_json_out *o);

#endif
