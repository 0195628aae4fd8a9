/* What people read of a plan: a table on a terminal, a JSON report, a page for a browser. All from one plan and its
 * cost breakdown; nothing here decides anything. */
#ifndef SHARDWRIGHT_REPORT_H_
#define SHARDWRIGHT_REPORT_H_

#include "shardwright/plan.h"

/* A line of the user's own program that ops come from. */
typedef struct sw_source_line {
  const char *file; /* as in sw_source */
  int32_t line;
  const char *text; /* cut off where it is very long */
} sw_source_line;

/* The dimension of an argument that counts samples. */
typedef struct sw_batch_dim {
  bool given; /* else the one along which most inputs are cut, or the first of most */
  sw_id value;
  int dim;
} sw_batch_dim;
/* "ARG:DIM"; SW_E_USAGE where there is no such argument or dimension. */
SW_API SW_CHECKED sw_rc sw_batch_dim_parse(const sw_graph *g, const char *text, sw_batch_dim *out, sw_diag *d);

/* How fast a step is, by what it works on; rates are of one device. 0: not known, as there is no input, none is whole
 * numbers [batch, seq], or there are no contractions. */
typedef struct sw_throughput {
  int64_t batch, tokens; /* of one run */
  double samples_per_s, tokens_per_s;
  double model_flops; /* of contractions as they are written, each once, copies made again left out */
  double utilisation; /* the part of the devices' peaks, for the dtypes of these, that they are */
} sw_throughput;
/* `of` NULL: no dimension is given. The arena is for work space. */
SW_API SW_CHECKED sw_rc sw_throughput_measure(const sw_plan *p, const sw_breakdown *a, const sw_batch_dim *of,
                                              sw_arena *arena, sw_throughput *out, sw_diag *d);

typedef struct sw_report {
  const sw_plan *plan;
  const sw_breakdown *breakdown;
  sw_throughput throughput;
  int n_comparisons;
  const sw_comparison *comparisons;
  int32_t n_sources;
  const sw_source_line *sources; /* by file, then line: those that could be read */
  int32_t n_lower_memory;
  const struct sw_answer *const *lower_memory; /* what the plan would be within less (what_if.h): in the JSON */
  bool completes;                              /* say which shardings were annotated, and which the plan has added */
  bool all_arguments; /* the table has a row for each, not one for those of a role and sharding */
} sw_report;

/* Does it stay within the capacity of the plan? */
SW_API bool sw_comparison_fits(const sw_report *r, const sw_comparison *c);
/* Every baseline under the plan's own machine; source lines are read from the files that the graph names. `baselines`:
 * NULL, or as sw_baselines_build has them. */
SW_API SW_CHECKED sw_rc sw_report_build(const sw_plan *plan, const sw_breakdown *breakdown,
                                        const sw_comparison *baselines, sw_arena *arena, sw_report *out, sw_diag *d);

/* Summary, which begins with what the plan does in words, arguments (those of one role and sharding in one row),
 * communication by kind, comparisons. `colour`: for a terminal. */
SW_API void sw_report_table(const sw_report *r, bool colour, sw_text *out);
/* docs/report-format.md */
SW_API void sw_report_json(const sw_report *r, sw_text *out);
/* The kernels of a graph (kernel.h): a table, a row for each kind of kernel with how many there are, or JSON with every
 * kernel. */
SW_API SW_CHECKED sw_rc sw_kernels_table(const sw_graph *g, const sw_kernels *k, sw_arena *arena, sw_text *out,
                                         sw_diag *d);
SW_API SW_CHECKED sw_rc sw_kernels_json(const sw_graph *g, const sw_kernels *k, sw_arena *arena, sw_text *out,
                                        sw_diag *d);
/* "work", the name of a level of the network, "to host" or "from host". */
SW_API const char *sw_stream_text(const sw_plan *p, int stream);

/* The timeline of a plan that has one, in the Chrome trace format: a track for each stream. */
SW_API void sw_plan_trace_print(const sw_plan *p, const sw_breakdown *a, sw_text *out);
/* The same figures as one page that draws them; it needs no network. */
SW_API void sw_report_html(const sw_report *r, sw_text *out);

#endif
