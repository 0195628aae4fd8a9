/* A job: what is planned. A program, what is asked of its plan, the kernels that a compiler makes of it, and the
 * machine that it runs on.
 *
 * It is a plain value that borrows all four, none of which changes under it: several can share each of them, and be
 * planned at once in several threads.
 */
#ifndef SHARDWRIGHT_JOB_H_
#define SHARDWRIGHT_JOB_H_

#include "shardwright/hw.h"
#include "shardwright/schedule.h"

/* What may run beside what: nothing, or what the compiler lets run (timeline.h). */
typedef enum sw_overlap { SW_OVERLAP_NONE, SW_OVERLAP_COMPILER } sw_overlap;
#define SW_OVERLAPS "none|compiler"
SW_API const char *sw_overlap_text(sw_overlap o);
/* NULL: `out` stays. SW_E_USAGE where it is none of SW_OVERLAPS. */
SW_API SW_CHECKED sw_rc sw_overlap_parse(const char *text, sw_overlap *out, sw_diag *d);

typedef struct sw_job {
  const sw_graph *graph;
  const sw_request *request; /* of that graph */
  const sw_kernels *kernels; /* of that graph; NULL: each op is launched by itself */
  const sw_machine *machine;
  const sw_schedule *schedule; /* of which the graph is a stage; NULL: the program runs as it is */
  int32_t stage;
  sw_overlap overlap; /* by which plans are timed */
  int64_t memory;     /* of a device, for what is issued early in plans that do not say it; 0: the profile's */
} sw_job;

/* What an op of the graph is an entry of; NULL: of a program that runs as it is, or of what carries others. */
static inline const sw_entry *sw_job_entry(const sw_job *j, sw_id op) {
  const int32_t entry = j->schedule ? j->schedule->stages[j->stage].entry[op] : -1;
  return entry < 0 ? NULL : &j->schedule->spec.entries[entry];
}

/* What was asked, of the program as it was given: what plans are recorded to be of. */
static inline const sw_request *sw_job_written(const sw_job *j) {
  return j->schedule ? j->schedule->written : j->request;
}

#endif
