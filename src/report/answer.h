/* Answers of a search as a part of reports. */
#ifndef REPORT_ANSWER_H_
#define REPORT_ANSWER_H_

#include "io/json_write.h"
#include "shardwright/report.h"
#include "shardwright/what_if.h"

/* An object: what a device may hold, and what the plan would be; `r` is of the plan that was asked about. */
void sw_answer_json(const sw_report *r, const sw_answer *a, sw_json_out *o);

#endif
