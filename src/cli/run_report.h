/* Lines of `run`. */
#ifndef CLI_RUN_REPORT_H_
#define CLI_RUN_REPORT_H_

#include "shardwright/trace.h"
#include "shardwright/validate.h"

void sw_report_entry(const sw_validate_entry *e, sw_text *out);
void sw_report_collectives(const sw_comm_stats *s, sw_text *out);

/* A trace of the devices, NULL without a path; written whatever the end of the run is, which is what is returned. */
SW_CHECKED sw_rc sw_run_trace_open(const char *path, bool mpi, int64_t devices, sw_trace **out, sw_diag *d);
SW_CHECKED sw_rc sw_run_trace_close(sw_trace *trace, const char *path, sw_rc rc, sw_diag *d);

#endif
