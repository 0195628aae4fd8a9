/* Lines of `run`. */
#ifndef CLI_RUN_REPORT_H_
#define CLI_RUN_REPORT_H_

#include "shardwright/validate.h"

void sw_report_entry(const sw_validate_entry *e, sw_text *out);
void sw_report_collectives(const sw_comm_stats *s, sw_text *out);

#endif
