/* A plan beside those made without search: where the time of each goes, what it holds, and what is to be known of it.
 */
#ifndef REPORT_COMPARE_H_
#define REPORT_COMPARE_H_

#include "shardwright/report.h"

void sw_comparisons_table(const sw_report *r, sw_text *out);

#endif
