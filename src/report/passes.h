/* What passes did to a program, as a table and as JSON. */
#ifndef REPORT_PASSES_H_
#define REPORT_PASSES_H_

#include "shardwright/spmd.h"

/* A row per pass: its rewrites, collectives that communicate, bytes that one device receives and predicted time, before
 * and after. `program`: what it was of; a last row sums up. */
SW_API void sw_pass_table_print(const char *program, const sw_pass_report *reports, int n, sw_text *out);
SW_API void sw_pass_table_json(const char *program, const sw_pass_report *reports, int n, sw_text *out);

#endif
