/* A timeline of a run in the Chrome trace format, for chrome://tracing and ui.perfetto.dev: one track per device, or
 * per stream of each.
 *
 *   sw_trace *t;  sw_trace_create(n_devices, NULL, &t, d);
 *   sw_comm_options o = {.on_call = sw_trace_on_call, .on_call_user = t};     every collective becomes a slice
 *   sw_trace_add(t, device, "dot_general", "compute", start_s, end_s, NULL);  and so does whatever else is added
 *   sw_trace_write(t, "trace.json", d);                                       also after a failed run
 */
#ifndef REPORT_TRACE_H_
#define REPORT_TRACE_H_

#include "shardwright/exec.h"

typedef struct sw_trace sw_trace;

/* streams: NULL, or the names of a run's with delays, NULL for those that it has not (SW_MAX_STREAMS; borrowed). */
SW_API SW_CHECKED sw_rc sw_trace_create(int64_t devices, const char *const *streams, sw_trace **out, sw_diag *d);
SW_API void sw_trace_destroy(sw_trace *t); /* NULL allowed */
/* A slice [start_s, end_s] of sw_now_s on a device's track; `detail` (copied, NULL allowed) is shown with it. Slices of
 * one device nest or follow each other. Called by any thread, one at a time per device. What memory does not suffice
 * for is counted and reported in the file. */
SW_API void sw_trace_add(sw_trace *t, int64_t device, const char *name, const char *category, double start_s,
                         double end_s, const char *detail);
/* The listener for sw_comm_options: a slice per call, with its position, its bytes and its group. */
SW_API void sw_trace_on_call(void *trace, const sw_comm_event *event);
/* The listener for sw_exec_options: a slice per op that is no collective, and per item. */
SW_API void sw_trace_on_op(void *trace, const sw_exec_event *event);
/* Times count from the first slice. */
SW_API void sw_trace_print(const sw_trace *t, sw_text *out);
SW_API SW_CHECKED sw_rc sw_trace_write(const sw_trace *t, const char *path, sw_diag *d);

#endif
