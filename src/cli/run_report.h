/* What `run` says, as lines and as JSON. */
#ifndef CLI_RUN_REPORT_H_
#define CLI_RUN_REPORT_H_

#include "exec/audit.h"
#include "report/trace.h"

/* A run that was compared with one device. */
typedef struct sw_run_said {
  const char *model;
  int64_t devices;
  bool of_whole; /* compared with the model itself, not with another program */
  const sw_validation *v;
  const sw_audit *audit; /* NULL: none */
  const sw_plan *plan;   /* NULL, or that of which the time is predicted */
  double predicted_s;
} sw_run_said;

/* A run that was compared with nothing. */
typedef struct sw_run_unjudged {
  const sw_graph *graph;
  int64_t devices;
  const sw_comm_stats *comm; /* NULL: of one device */
  int64_t torn;              /* elements of results that are not the same on all devices that should hold them */
  double seconds;
} sw_run_unjudged;
void sw_report_unjudged_json(const sw_run_unjudged *s, sw_text *out);

void sw_report_run(const sw_run_said *s, sw_text *out);
void sw_report_run_json(const sw_run_said *s, sw_text *out);
void sw_report_collectives(const sw_comm_stats *s, sw_text *out);
/* "partial sums of 'y' leave the range of f16 on device 1, and one device's do not" */
void sw_report_overflow(const sw_validate_overflow *o, sw_text *out);

/* A trace of the devices, or of their streams (sw_trace_create), NULL without a path; written whatever the end of the
 * run is, which is what is returned. */
SW_CHECKED sw_rc sw_run_trace_open(const char *path, bool mpi, int64_t devices, const char *const *streams,
                                   sw_trace **out, sw_diag *d);
SW_CHECKED sw_rc sw_run_trace_close(sw_trace *trace, const char *path, sw_rc rc, sw_diag *d);

#endif
