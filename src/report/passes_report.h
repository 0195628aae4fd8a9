/* What passes did to a program, as a table, and the program as JSON. */
#ifndef REPORT_PASSES_REPORT_H_
#define REPORT_PASSES_REPORT_H_

#include "shardwright/spmd.h"

/* A row per pass: its rewrites, collectives that communicate, bytes that one device receives and predicted time, before
 * and after. `program`: what it was of; a last row sums up. */
SW_API void sw_pass_table_print(const char *program, const sw_pass_report *reports, int n, sw_text *out);
/* The program itself, what it costs as it stands, and what passes did to it: docs/partition.schema.json. */
SW_API void sw_program_json(const sw_spmd *s, const sw_spmd_cost *cost, const sw_pass_report *reports, int n,
                            sw_text *out);

#endif
